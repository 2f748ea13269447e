/* 3x3 matrices, mostly symmetric ones: inertia and what an impulse does. */
#include <millrace/tensor.h>

Matrix3 matrix3_from_quaternion(Quaternion q)
{
  Matrix3 m;

  for (PetscInt column = 0; column < DIM; column++) {
    Vector3 unit = vector3(column == X, column == Y, column == Z);

    unit = quaternion_rotate(q, unit);
    for (PetscInt row = 0; row < DIM; row++)
      m.at[row][column] = unit.at[row];
  }
  return m;
}

Matrix3 matrix3_multiply(const Matrix3 *a, const Matrix3 *b)
{
  Matrix3 product;

  for (PetscInt i = 0; i < DIM; i++)
    for (PetscInt j = 0; j < DIM; j++)
      product.at[i][j] = a->at[i][X] * b->at[X][j] + a->at[i][Y] * b->at[Y][j] + a->at[i][Z] * b->at[Z][j];
  return product;
}

Matrix3 matrix3_transpose(const Matrix3 *m)
{
  Matrix3 transposed;

  for (PetscInt i = 0; i < DIM; i++)
    for (PetscInt j = 0; j < DIM; j++)
      transposed.at[i][j] = m->at[j][i];
  return transposed;
}

/* The adjugate over the determinant. */
Matrix3 matrix3_inverse(const Matrix3 *m)
{
  const Vector3   row[DIM] = {vector3(m->at[X][X], m->at[X][Y], m->at[X][Z]),
                              vector3(m->at[Y][X], m->at[Y][Y], m->at[Y][Z]),
                              vector3(m->at[Z][X], m->at[Z][Y], m->at[Z][Z])};
  const Vector3   crossed[DIM] = {vector3_cross(row[Y], row[Z]), vector3_cross(row[Z], row[X]),
                                  vector3_cross(row[X], row[Y])};
  const PetscReal scale = 1 / vector3_dot(row[X], crossed[X]);
  Matrix3         inverse;

  for (PetscInt i = 0; i < DIM; i++)
    for (PetscInt j = 0; j < DIM; j++)
      inverse.at[i][j] = scale * crossed[j].at[i];
  return inverse;
}

Matrix3 matrix3_turned_diagonal(Quaternion rotation, Vector3 diagonal)
{
  const Matrix3 r = matrix3_from_quaternion(rotation);
  Matrix3       product;

  for (PetscInt i = 0; i < DIM; i++)
    for (PetscInt j = 0; j < DIM; j++)
      product.at[i][j] = r.at[i][X] * diagonal.at[X] * r.at[j][X] + r.at[i][Y] * diagonal.at[Y] * r.at[j][Y] +
                         r.at[i][Z] * diagonal.at[Z] * r.at[j][Z];
  return product;
}

/* Of a matrix with determinant one; the largest component is computed first, for accuracy. */
Quaternion quaternion_from_matrix(const Matrix3 *m)
{
  const PetscReal squares[4] = {
      1 + m->at[X][X] + m->at[Y][Y] + m->at[Z][Z], 1 + m->at[X][X] - m->at[Y][Y] - m->at[Z][Z],
      1 - m->at[X][X] + m->at[Y][Y] - m->at[Z][Z], 1 - m->at[X][X] - m->at[Y][Y] + m->at[Z][Z]};
  const PetscReal odd[DIM] = {m->at[Z][Y] - m->at[Y][Z], m->at[X][Z] - m->at[Z][X],
                              m->at[Y][X] - m->at[X][Y]};
  PetscInt        largest = 0;
  PetscReal       root;
  Quaternion      q;

  for (PetscInt k = 1; k < 4; k++)
    if (squares[k] > squares[largest])
      largest = k;
  root = PetscSqrtReal(squares[largest]);
  if (largest == 0)
    return (Quaternion){0.5 * root, vector3(0.5 * odd[X] / root, 0.5 * odd[Y] / root, 0.5 * odd[Z] / root)};
  for (PetscInt d = 0; d < DIM; d++)
    q.vector.at[d] = 0.5 * (m->at[largest - 1][d] + m->at[d][largest - 1]) / root;
  q.vector.at[largest - 1] = 0.5 * root;
  q.scalar = 0.5 * odd[largest - 1] / root;
  return q;
}

void matrix3_principal_axes(const Matrix3 *m, Quaternion *rotation, Vector3 *values)
{
  const PrincipalAxes parts = symmetric3_eigen(m);

  *values = parts.values;
  *rotation = quaternion_from_matrix(&parts.axes);
}
