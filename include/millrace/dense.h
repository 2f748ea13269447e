/* Small dense algebra: matrices in plain arrays, row by row, `stride` numbers from row to row.

   The factorisations are compiled into their callers, where most sizes are constants. They take semidefinite
   matrices: a pivot that vanishes beside its diagonal entry is left out, together with its unknown, which the
   solves return as zero. */
#ifndef MILLRACE_DENSE_H
#define MILLRACE_DENSE_H

#include <millrace/api.h>
#include <millrace/base.h>

MILLRACE_API_BEGIN

/* The lower triangle of a symmetric matrix becomes L of L L^T; a pivot of round-off leaves a column of zeros.
   What is above the diagonal is neither read nor written. */
MILLRACE_KERNEL void dense_cholesky(PetscInt n, PetscInt stride, PetscReal a[])
{
  for (PetscInt j = 0; j < n; j++) {
    const PetscReal whole = a[stride * j + j];
    PetscReal       pivot = whole;

    for (PetscInt k = 0; k < j; k++)
      pivot -= a[stride * j + k] * a[stride * j + k];
    pivot = pivot > PETSC_MACHINE_EPSILON * whole ? PetscSqrtReal(pivot) : 0;
    a[stride * j + j] = pivot;
    for (PetscInt i = j + 1; i < n; i++) {
      PetscReal rest = a[stride * i + j];

      for (PetscInt k = 0; k < j; k++)
        rest -= a[stride * i + k] * a[stride * j + k];
      a[stride * i + j] = pivot > 0 ? rest / pivot : 0;
    }
  }
}

/* L y = x in the place of x. */
MILLRACE_KERNEL void dense_solve_lower(PetscInt n, PetscInt stride, const PetscReal factor[], PetscReal x[])
{
  for (PetscInt i = 0; i < n; i++) {
    PetscReal sum = 0;

    for (PetscInt k = 0; k < i; k++)
      sum += factor[stride * i + k] * x[k];
    x[i] = factor[stride * i + i] > 0 ? (x[i] - sum) / factor[stride * i + i] : 0;
  }
}

/* L L^T y = x in the place of x. */
MILLRACE_KERNEL void dense_cholesky_solve(PetscInt n, PetscInt stride, const PetscReal factor[],
                                          PetscReal x[])
{
  dense_solve_lower(n, stride, factor, x);
  for (PetscInt i = n - 1; i >= 0; i--) {
    for (PetscInt k = i + 1; k < n; k++)
      x[i] -= factor[stride * k + i] * x[k];
    x[i] = factor[stride * i + i] > 0 ? x[i] / factor[stride * i + i] : 0;
  }
}

/* The lower triangle of a symmetric matrix becomes L of L D L^T below its diagonal and D^-1 on it; zero for
   pivots of at most `negligible` of their diagonal entries. `work`: n numbers. */
MILLRACE_KERNEL void dense_ldl(PetscInt n, PetscInt stride, PetscReal a[], const PetscReal negligible,
                               PetscReal work[])
{
  for (PetscInt k = 0; k < n; k++)
    work[k] = a[stride * k + k];
  for (PetscInt k = 0; k < n; k++) {
    const PetscReal inverse = a[stride * k + k] > negligible * work[k] ? 1. / a[stride * k + k] : 0.;

    for (PetscInt i = k + 1; i < n; i++)
      for (PetscInt j = k + 1; j <= i; j++)
        a[stride * i + j] -= a[stride * i + k] * inverse * a[stride * j + k];
    for (PetscInt i = k + 1; i < n; i++)
      a[stride * i + k] *= inverse;
    a[stride * k + k] = inverse;
  }
}

/* L D L^T y = x in the place of x. */
MILLRACE_KERNEL void dense_ldl_solve(PetscInt n, PetscInt stride, const PetscReal factor[], PetscReal x[])
{
  for (PetscInt i = 0; i < n; i++)
    for (PetscInt k = 0; k < i; k++)
      x[i] -= factor[stride * i + k] * x[k];
  for (PetscInt i = n - 1; i >= 0; i--) {
    x[i] *= factor[stride * i + i];
    for (PetscInt k = i + 1; k < n; k++)
      x[i] -= factor[stride * k + i] * x[k];
  }
}

/* The inverse of a positive definite matrix of n rows, without a stride, in its place; what is left of one
   that is not positive is of no use. Not collective. */
PetscErrorCode DenseInvert(PetscInt n, PetscReal a[], PetscBool *is_positive);

/* Eigenvectors of a symmetric matrix, the rows of `vectors`; the eigenvalues are left on the diagonal of `a`,
   in the same order. */
void dense_eigenvectors(PetscInt n, PetscReal a[], PetscReal vectors[]);

MILLRACE_API_END

#endif
