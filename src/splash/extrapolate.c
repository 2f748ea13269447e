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

/* Of a row of the local array: whether any face is known. */
static PetscBool has_known(const PetscReal *marks, PetscInt width)
{
  PetscReal sum = 0.;

  for (PetscInt i = 0; i < width; i++)
    sum = marks[i] > sum ? marks[i] : sum;
  return sum > 0. ? PETSC_TRUE : PETSC_FALSE;
}

/* `known` of each row of the local array, ghosts included. */
static void find_known_rows(const GridBox *box, const PetscReal *marks, PetscBool known[])
{
  for (PetscInt row = 0; row < box->length / box->stride[Y]; row++)
    known[row] = has_known(marks + row * box->stride[Y], box->stride[Y]);
}

static void sweep_row(const GridBox *box, PetscInt c, PetscInt width, PetscReal *marks, PetscReal *values)
{
  for (PetscInt end = c + width; c < end; c++) {
    PetscReal mean;

    if (marks[c] == 0. && mean_around(box, marks, values, c, &mean)) {
      values[c] = mean;
      marks[c] = KNOWN_NEXT;
    }
  }
}

/* Marks 2 are those of this sweep. Rows far from the liquid are passed by. */
static PetscErrorCode Sweep(MacGrid grid, PetscInt direction, PetscReal *marks, PetscReal *values)
{
  const GridBox  *box = grid_box(grid);
  const GridRange faces = grid_faces(grid, direction);
  const PetscInt  layer = box->dimension == 3 ? box->stride[Z] / box->stride[Y] : 0;
  PetscBool      *known;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(box->length / box->stride[Y], &known));
  find_known_rows(box, marks, known);
  for (PetscInt k = faces.start[Z]; k < faces.end[Z]; k++)
    for (PetscInt j = faces.start[Y]; j < faces.end[Y]; j++) {
      const PetscInt c = box_index(box, faces.start[X], j, k), row = c / box->stride[Y];

      if (known[row] || known[row - 1] || known[row + 1] || known[row - layer] || known[row + layer])
        sweep_row(box, c, faces.end[X] - faces.start[X], marks, values);
    }
  PetscCall(PetscFree(known));
  for (PetscInt c = 0; c < box->length; c++)
    marks[c] = PetscMin(marks[c], 1.);
  PetscFunctionReturn(0);
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
      PetscCall(Sweep(splash->grid, d, marks, values));
      PetscCall(VecRestoreArray(splash->velocity[d], &values));
      PetscCall(VecRestoreArray(splash->marks[d], &marks));
    }
  PetscFunctionReturn(0);
}
