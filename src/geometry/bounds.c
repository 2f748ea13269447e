/* Boxes along the axes. */
#include "geometry_impl.h"

Box box_rotated(Box box, Quaternion rotation, PetscReal scale)
{
  Box turned = {{{0}}, {{0}}};

  /* an interval through each entry of the matrix: no difference of infinities can arise */
  for (int column = 0; column < DIM; column++) {
    Vector3 unit = {{0}};

    unit.at[column] = scale;
    unit = quaternion_rotate(rotation, unit);
    for (int row = 0; row < DIM; row++) {
      const PetscReal a = unit.at[row] * box.low.at[column], b = unit.at[row] * box.high.at[column];

      turned.low.at[row] += PetscMin(a, b);
      turned.high.at[row] += PetscMax(a, b);
    }
  }
  for (int d = 0; d < DIM; d++) {
    turned.low.at[d] = PetscMax(turned.low.at[d], -PETSC_INFINITY);
    turned.high.at[d] = PetscMin(turned.high.at[d], PETSC_INFINITY);
  }
  return turned;
}
