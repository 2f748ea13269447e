/* Decompositions of 3x3 matrices: singular values, polar, principal axes, exponential and logarithm.

   The same input gives the same bits on every rank, machine and level of optimisation: the functions are made
   of +, -, *, / and square roots alone, which IEEE 754 rounds in one way, they are compiled without fused
   multiply-adds, and the number of iterations depends on the input alone. Inputs are taken at any scale, from
   the smallest normal number to the largest; those that are not finite give results that are not. */
#ifndef MILLRACE_TENSOR_H
#define MILLRACE_TENSOR_H

#include <millrace/api.h>
#include <millrace/base.h>

MILLRACE_API_BEGIN

/* m = u diag(values) v^T with rotations u and v. Values fall in magnitude; the last one alone may be
   negative, and is where m turns space inside out: determinant and last value have one sign. What a matrix of
   lower rank leaves open in u and v is filled up to rotations. */
typedef struct {
  Matrix3 u, v;
  Vector3 values;
} SignedSvd;

SignedSvd matrix3_svd(const Matrix3 *m);

/* m = rotation stretch with a symmetric stretch. Its smallest eigenvalue is negative where m turns space
   inside out: the rotation stays one, as invertible elements need it. */
typedef struct {
  Matrix3 rotation, stretch;
} PolarParts;

PolarParts matrix3_polar(const Matrix3 *m);

/* The parts of a singular value decomposition that is known. */
PolarParts svd_polar(const SignedSvd *svd);

/* A symmetric matrix is axes diag(values) axes^T with a rotation `axes` (columns) and values that rise. */
typedef struct {
  Matrix3 axes;
  Vector3 values;
} PrincipalAxes;

PrincipalAxes symmetric3_eigen(const Matrix3 *m);

/* axes diag(values) axes^T, symmetric to the last bit. */
Matrix3 symmetric3_compose(const PrincipalAxes *parts);

/* Exponential of a symmetric matrix, and logarithm of a positive definite one: not finite where an eigenvalue
   is zero or less. */
Matrix3 symmetric3_exp(const Matrix3 *m);
Matrix3 symmetric3_log(const Matrix3 *m);

/* Exponential and natural logarithm, to two units in the last place and with the same bits everywhere, as
   those of the C library are not. */
PetscReal portable_exp(PetscReal x);
PetscReal portable_log(PetscReal x);

PetscReal matrix3_determinant(const Matrix3 *m);

MILLRACE_API_END

#endif
