/* Places among points without elements (2.2, Fig. 2.5): of the k nearest points x_i the weights w_i of a
   place x with

     sum w_i = 1,   sum w_i x_i = x,   sum w_i^2 / f_i least,   f_i = 1 / |x_i - x|^2,

   so w_i = f_i (a + b . (x_i - x)) with four numbers a, b (moving least squares of first order). Weights that
   would be negative leave the sums, the most negative one first: masses stay positive, and no step becomes
   shorter. */
#include "points.h"

#include <millrace/dense.h>

/* The nearest come first. */
static void find_nearest(const Mesh cloud, Vector3 place, PetscInt most, PetscInt *count, PetscInt found[])
{
  PetscReal squares[CLOUD_MOST];

  *count = 0;
  for (PetscInt v = 0; v < cloud->vertex_count; v++) {
    const Vector3   arm = vector3_subtract(cloud->vertices[v], place);
    const PetscReal square = vector3_dot(arm, arm);
    PetscInt        n = *count < most ? (*count)++ : most - 1;

    if (n == most - 1 && *count == most && v >= most && square >= squares[n])
      continue;
    for (; n > 0 && squares[n - 1] > square; n--) {
      squares[n] = squares[n - 1];
      found[n] = found[n - 1];
    }
    squares[n] = square;
    found[n] = v;
  }
}

/* Of the points at `arms` from the place, in parts of `size`, that are `used`. */
static void solve_weights(PetscInt count, const Vector3 arms[], PetscReal size, const PetscBool used[],
                          PetscReal weights[])
{
  PetscReal matrix[16] = {0}, numbers[4] = {1., 0., 0., 0.};

  for (PetscInt n = 0; n < count; n++) {
    const PetscReal near = 1. / (1e-6 + vector3_dot(arms[n], arms[n]) / (size * size));
    const PetscReal row[4] = {1., arms[n].at[X] / size, arms[n].at[Y] / size, arms[n].at[Z] / size};

    for (PetscInt k = 0; k < 16 && used[n]; k++)
      matrix[k] += near * row[k / 4] * row[k % 4];
  }
  for (PetscInt k = 0; k < 4; k++)
    matrix[5 * k] += 1e-12 * matrix[0]; /* points in a plane leave a direction open */
  dense_cholesky(4, 4, matrix);
  dense_cholesky_solve(4, 4, matrix, numbers);
  for (PetscInt n = 0; n < count; n++) {
    const PetscReal near = 1. / (1e-6 + vector3_dot(arms[n], arms[n]) / (size * size));

    weights[n] = used[n] ? near * (numbers[0] + (numbers[1] * arms[n].at[X] + numbers[2] * arms[n].at[Y] +
                                                 numbers[3] * arms[n].at[Z]) /
                                                    size)
                         : 0.;
  }
}

/* The most negative one; -1: none. */
static PetscInt most_negative(PetscInt count, const PetscReal weights[])
{
  PetscInt worst = -1;

  for (PetscInt n = 0; n < count; n++)
    if (weights[n] < 0. && (worst < 0 || weights[n] < weights[worst]))
      worst = n;
  return worst;
}

/* How far the mean is from the place, in parts of `size`. */
static PetscReal miss(PetscInt count, const Vector3 arms[], PetscReal size, const PetscReal weights[])
{
  Vector3 sum = vector3(0, 0, 0);

  for (PetscInt n = 0; n < count; n++)
    sum = vector3_add(sum, vector3_scale(weights[n], arms[n]));
  return vector3_norm(sum) / size;
}

PetscBool cloud_find_place(const Mesh cloud, Vector3 place, PetscInt most, CloudPlace *found)
{
  Vector3   arms[CLOUD_MOST];
  PetscBool used[CLOUD_MOST];
  PetscReal size;

  find_nearest(cloud, place, most, &found->count, found->points);
  for (PetscInt n = 0; n < found->count; n++) {
    arms[n] = vector3_subtract(cloud->vertices[found->points[n]], place);
    used[n] = PETSC_TRUE;
  }
  size = vector3_norm(arms[found->count - 1]);
  if (!(size > 0.))
    return PETSC_FALSE;
  for (PetscInt left = found->count, worst = 0; left > 0 && worst >= 0; left--) {
    solve_weights(found->count, arms, size, used, found->weights);
    worst = most_negative(found->count, found->weights);
    if (worst >= 0)
      used[worst] = PETSC_FALSE;
  }
  return most_negative(found->count, found->weights) < 0 &&
                 miss(found->count, arms, size, found->weights) < 1e-6
             ? PETSC_TRUE
             : PETSC_FALSE;
}
