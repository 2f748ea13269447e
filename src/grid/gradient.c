/* u -= factor weight (p - p_back): the gradient of a cell field on the faces between its cells. */
#include <millrace/grid_box.h>

VECTOR_CLONES static void subtract_differences(PetscInt count, PetscInt back, PetscReal factor,
                                               const PetscReal *restrict p, PetscReal *restrict u)
{
  for (PetscInt n = 0; n < count; n++)
    u[n] -= factor * (p[n] - p[n - back]);
}

VECTOR_CLONES static void subtract_weighted(PetscInt count, PetscInt back, PetscReal factor,
                                            const PetscReal *restrict weights, const PetscReal *restrict p,
                                            PetscReal *restrict u)
{
  for (PetscInt n = 0; n < count; n++)
    u[n] -= factor * weights[n] * (p[n] - p[n - back]);
}

void box_subtract_gradient(const GridBox *box, const GridRange *faces, PetscInt direction, PetscReal factor,
                           const PetscReal *weights, const PetscReal *p, PetscReal *u)
{
  const PetscInt count = faces->end[X] - faces->start[X], back = box->stride[direction];

  FOR_ROWS(faces, j, k) {
    const PetscInt row = box_index(box, faces->start[X], j, k);

    if (weights)
      subtract_weighted(count, back, factor, weights + row, p + row, u + row);
    else
      subtract_differences(count, back, factor, p + row, u + row);
  }
}
