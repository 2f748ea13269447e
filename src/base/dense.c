/* Small dense matrices, row by row: the inverse of a positive definite one and the eigenvectors of a
   symmetric one. */
#include <millrace/dense.h>

VECTOR_CLONES static PetscReal dot(PetscInt count, const PetscReal *restrict a, const PetscReal *restrict b)
{
  PetscReal sums[8] = {0.};
  PetscInt  i = 0;

  for (; i + 8 <= count; i += 8)
    for (PetscInt s = 0; s < 8; s++)
      sums[s] += a[i + s] * b[i + s];
  for (; i < count; i++)
    sums[0] += a[i] * b[i];
  return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

/* a = L L^T, with the inverses of the diagonal on the diagonal of L; false if it is not positive. */
static PetscBool factor(PetscInt n, PetscReal *a)
{
  for (PetscInt i = 0; i < n; i++)
    for (PetscInt j = 0; j <= i; j++) {
      const PetscReal rest = a[n * i + j] - dot(j, &a[n * i], &a[n * j]);

      if (j < i)
        a[n * i + j] = rest * a[n * j + j];
      else if (rest > 0.)
        a[n * i + i] = 1. / PetscSqrtReal(rest);
      else
        return PETSC_FALSE;
    }
  return PETSC_TRUE;
}

/* The columns of L^-1 become the rows above the diagonal; row j of them starts at j. */
static void invert_factor(PetscInt n, PetscReal *a)
{
  for (PetscInt j = 0; j < n; j++)
    for (PetscInt i = j + 1; i < n; i++) {
      const PetscReal first = a[n * i + j] * a[n * j + j];

      a[n * j + i] = -(first + dot(i - j - 1, &a[n * i + j + 1], &a[n * j + j + 1])) * a[n * i + i];
    }
}

PetscErrorCode DenseInvert(PetscInt n, PetscReal *a, PetscBool *is_positive)
{
  PetscReal *scale;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n, &scale));
  for (PetscInt i = 0; i < n; i++) /* to a unit diagonal, so that units of length do not matter */
    scale[i] = 1. / PetscSqrtReal(a[n * i + i]);
  for (PetscInt i = 0; i < n; i++)
    for (PetscInt j = 0; j < n; j++)
      a[n * i + j] *= scale[i] * scale[j];
  *is_positive = factor(n, a);
  if (*is_positive)
    invert_factor(n, a);
  for (PetscInt i = 0; i < n && *is_positive; i++) /* L^-T L^-1, row i is needed by rows before it only */
    for (PetscInt j = 0; j <= i; j++)
      a[n * i + j] = dot(n - i, &a[n * i + i], &a[n * j + i]) * scale[i] * scale[j];
  for (PetscInt i = 0; i < n; i++)
    for (PetscInt j = 0; j < i; j++)
      a[n * j + i] = a[n * i + j];
  PetscCall(PetscFree(scale));
  PetscFunctionReturn(0);
}

/* Turns rows and columns p and q so that a_pq vanishes, and the vectors with them. */
static void rotate(PetscInt n, PetscReal *a, PetscReal *vectors, PetscInt p, PetscInt q)
{
  const PetscReal half = 0.5 * (a[n * q + q] - a[n * p + p]) / a[n * p + q],
                  t = (half >= 0. ? 1. : -1.) / (PetscAbsReal(half) + PetscSqrtReal(1. + half * half)),
                  c = 1. / PetscSqrtReal(1. + t * t), s = t * c;

  for (PetscInt k = 0; k < n; k++) {
    const PetscReal x = a[n * k + p], y = a[n * k + q];

    a[n * k + p] = c * x - s * y;
    a[n * k + q] = s * x + c * y;
  }
  for (PetscInt k = 0; k < n; k++) {
    const PetscReal x = a[n * p + k], y = a[n * q + k], v = vectors[n * p + k], w = vectors[n * q + k];

    a[n * p + k] = c * x - s * y;
    a[n * q + k] = s * x + c * y;
    vectors[n * p + k] = c * v - s * w;
    vectors[n * q + k] = s * v + c * w;
  }
}

/* By cyclic Jacobi rotations: the vectors are the rows. */
void dense_eigenvectors(PetscInt n, PetscReal *a, PetscReal *vectors)
{
  enum { SWEEPS = 30 };

  for (PetscInt i = 0; i < n * n; i++)
    vectors[i] = i / n == i % n ? 1. : 0.;
  for (PetscInt sweep = 0; sweep < SWEEPS; sweep++)
    for (PetscInt p = 0; p < n; p++)
      for (PetscInt q = p + 1; q < n; q++)
        if (PetscAbsReal(a[n * p + q]) > 1e-17 * PetscSqrtReal(PetscAbsReal(a[n * p + p] * a[n * q + q])))
          rotate(n, a, vectors, p, q);
}
