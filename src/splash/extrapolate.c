/* Velocity beyond the liquid (Gerszewski 2014, 3.2.2): in every sweep a face without velocity, but with
   neighbours that have one, takes their mean, all at once. Particles move two cells at most and look one
   farther. */
#include "splash_impl.h"

enum { SWEEPS = 3, KNOWN_NEXT = 2 };

/* The mean of the known neighbours in `from`; false without any. */
static PetscBool mean_around(const GridBox *box, const PetscReal *marks, const PetscReal *from, PetscInt c,
                             PetscReal *mean)
{
  PetscReal sum = 0.;
  PetscInt  count = 0;

  for (PetscInt d = 0; d < box->dimension; d++)
    for (PetscInt way = -1; way <= 1; way += 2) {
      const PetscInt n = c + way * box->stride[d];

      if (marks[n] == 1.) {
        sum += from[n];
        count++;
      }
    }
  *mean = count ? sum / count : 0.;
  return count ? PETSC_TRUE : PETSC_FALSE;
}

/* Marks 2 are those of this sweep. */
static void sweep(MacGrid grid, PetscInt direction, PetscReal *marks, PetscReal *values)
{
  const GridBox  *box = grid_box(grid);
  const GridRange faces = grid_faces(grid, direction);

  FOR_CELLS(&faces, i, j, k) {
    const PetscInt c = box_index(box, i, j, k);
    PetscReal      mean;

    if (marks[c] == 0. && mean_around(box, marks, values, c, &mean)) {
      values[c] = mean;
      marks[c] = KNOWN_NEXT;
    }
  }
  for (PetscInt c = 0; c < box->length; c++)
    if (marks[c] == KNOWN_NEXT)
      marks[c] = 1.;
}

PetscErrorCode SplashExtrapolate(Splash splash)
{
  const PetscInt dimension = grid_box(splash->grid)->dimension;
  PetscReal     *marks, *values;

  PetscFunctionBegin;
  for (PetscInt n = 0; n < SWEEPS; n++)
    for (PetscInt d = 0; d < dimension; d++) {
      PetscCall(MacGridExchange(splash->grid, splash->marks[d]));
      PetscCall(MacGridExchange(splash->grid, splash->velocity[d]));
      PetscCall(VecGetArray(splash->marks[d], &marks));
      PetscCall(VecGetArray(splash->velocity[d], &values));
      sweep(splash->grid, d, marks, values);
      PetscCall(VecRestoreArray(splash->velocity[d], &values));
      PetscCall(VecRestoreArray(splash->marks[d], &marks));
    }
  PetscFunctionReturn(0);
}
