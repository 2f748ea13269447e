#include "interface.h"

GridConfig cube_grid(PetscInt dimension, PetscInt n, PetscReal size)
{
  return (GridConfig){
      .dimension = dimension, .size = vector3(size, size, dimension == 3 ? size : 0.), .resolution = n};
}

PetscErrorCode InterfaceCreate(MPI_Comm comm, const GridConfig *grid, const InterfaceConfig *config,
                               Interface *interface)
{
  PetscFunctionBegin;
  interface->grid_config = *grid;
  interface->config = *config;
  PetscCall(MacGridCreate(comm, &interface->grid_config, &interface->grid));
  PetscCall(LevelSetCreate(interface->grid, &interface->config, &interface->level_set));
  PetscCall(LevelSetCreate(interface->grid, &interface->config, &interface->complement));
  PetscCall(MacGridCreateFaceField(interface->grid, interface->velocity));
  for (PetscInt s = 0; s < 2; s++)
    PetscCall(ParticlesCreate(interface->grid, 1, &interface->markers[s]));
  interface->step = 0;
  PetscFunctionReturn(0);
}

PetscErrorCode InterfaceDestroy(Interface *interface)
{
  PetscFunctionBegin;
  PetscCall(MacGridDestroyFaceField(interface->velocity));
  PetscCall(LevelSetDestroy(&interface->level_set));
  PetscCall(LevelSetDestroy(&interface->complement));
  for (PetscInt s = 0; s < 2; s++)
    PetscCall(ParticlesDestroy(&interface->markers[s]));
  PetscCall(MacGridDestroy(&interface->grid));
  PetscFunctionReturn(0);
}

PetscErrorCode InterfaceFill(MacGrid grid, DistanceFunction function, Vec field)
{
  const GridBox *box = grid_box(grid);
  PetscReal     *value;

  PetscFunctionBegin;
  PetscCall(VecGetArray(field, &value));
  FOR_CELLS(box, i, j, k)
    value[box_index(box, i, j, k)] = function(grid_cell_centre(grid, i, j, k));
  PetscCall(VecRestoreArray(field, &value));
  PetscFunctionReturn(0);
}

PetscErrorCode InterfaceSet(Interface *interface, DistanceFunction distance)
{
  Vec field;

  PetscFunctionBegin;
  PetscCall(LevelSetGetField(interface->level_set, &field));
  PetscCall(InterfaceFill(interface->grid, distance, field));
  PetscCall(LevelSetRefresh(interface->level_set));
  PetscFunctionReturn(0);
}

/* Everywhere, so that what lies beyond the sides is smooth. */
PetscErrorCode InterfaceSetVelocity(Interface *interface, VelocityFunction velocity, PetscReal time)
{
  const GridBox *box = grid_box(interface->grid);
  const PetscInt depth = box->dimension == 3 ? box->ghost : 0;
  PetscReal     *faces[DIM];

  PetscFunctionBegin;
  PetscCall(MacGridGetFaces(interface->grid, interface->velocity, faces));
  for (PetscInt d = 0; d < box->dimension; d++)
    for (PetscInt k = box->start[Z] - depth; k < box->end[Z] + depth; k++)
      for (PetscInt j = box->start[Y] - box->ghost; j < box->end[Y] + box->ghost; j++)
        for (PetscInt i = box->start[X] - box->ghost; i < box->end[X] + box->ghost; i++)
          faces[d][box_index(box, i, j, k)] =
              velocity(grid_face_centre(interface->grid, d, i, j, k), time).at[d];
  PetscCall(MacGridRestoreFaces(interface->grid, interface->velocity, faces));
  PetscFunctionReturn(0);
}

PetscErrorCode InterfaceSeed(Interface *interface)
{
  Vec field, opposite;

  PetscFunctionBegin;
  PetscCall(LevelSetGetField(interface->level_set, &field));
  PetscCall(LevelSetGetField(interface->complement, &opposite));
  PetscCall(VecCopy(field, opposite));
  PetscCall(VecScale(opposite, -1.));
  PetscCall(LevelSetRefresh(interface->complement));
  PetscCall(LevelSetSeed(interface->level_set, interface->markers[0], 0, interface->step));
  PetscCall(LevelSetSeed(interface->complement, interface->markers[1], 1, interface->step));
  PetscFunctionReturn(0);
}

/* The complement's markers have the field with its sign turned. */
static PetscErrorCode AdjustRadii(Interface *interface)
{
  Vec field, opposite;

  PetscFunctionBegin;
  PetscCall(LevelSetGetField(interface->level_set, &field));
  PetscCall(LevelSetGetField(interface->complement, &opposite));
  PetscCall(VecCopy(field, opposite));
  PetscCall(VecScale(opposite, -1.));
  PetscCall(LevelSetAdjustRadii(interface->level_set, interface->markers[0]));
  PetscCall(LevelSetAdjustRadii(interface->complement, interface->markers[1]));
  PetscFunctionReturn(0);
}

PetscErrorCode InterfaceStep(Interface *interface, VelocityFunction velocity, PetscReal time, PetscReal dt,
                             PetscInt seeding)
{
  const PetscBool marked = interface->config.particles > 0 ? PETSC_TRUE : PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(InterfaceSetVelocity(interface, velocity, time + 0.5 * dt));
  PetscCall(LevelSetAdvect(interface->level_set, interface->velocity, dt));
  if (marked) {
    for (PetscInt s = 0; s < 2; s++)
      PetscCall(ParticlesMove(interface->markers[s], NULL, interface->velocity, dt));
    PetscCall(LevelSetCorrect(interface->level_set, 2, interface->markers, 0));
  }
  PetscCall(LevelSetRedistance(interface->level_set));
  if (marked) {
    PetscCall(LevelSetCorrect(interface->level_set, 2, interface->markers, 0));
    PetscCall(AdjustRadii(interface));
  }
  interface->step++;
  if (marked && seeding && interface->step % seeding == 0)
    PetscCall(InterfaceSeed(interface));
  PetscFunctionReturn(0);
}

PetscErrorCode InterfaceCompare(MacGrid grid, Vec field, DistanceFunction exact, DistanceFunction distance,
                                PetscReal width, FieldError *error)
{
  const GridBox   *box = grid_box(grid);
  const PetscReal *value;
  PetscReal        largest = 0., sum[2] = {0., 0.};

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(field, &value));
  FOR_CELLS(box, i, j, k) {
    const Vector3   point = grid_cell_centre(grid, i, j, k);
    const PetscReal off = PetscAbsReal(value[box_index(box, i, j, k)] - exact(point));

    if (PetscAbsReal(distance(point)) > width)
      continue;
    largest = PetscMax(largest, off);
    sum[0] += off;
    sum[1] += 1.;
  }
  PetscCall(VecRestoreArrayRead(field, &value));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPIU_REAL, MPIU_MAX, box->comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sum, 2, MPIU_REAL, MPIU_SUM, box->comm));
  *error = (FieldError){largest, sum[0] / PetscMax(sum[1], 1.)};
  PetscFunctionReturn(0);
}

/* Linear between the cell centres around the lower corner. */
static PetscReal between_centres(const GridBox *box, const PetscReal *value, const PetscReal f[DIM])
{
  PetscReal sum = 0.;

  for (PetscInt n = 0; n < 1 << box->dimension; n++) {
    PetscReal weight = 1.;
    PetscInt  c = 0;

    for (PetscInt a = 0; a < box->dimension; a++) {
      weight *= n >> a & 1 ? f[a] : 1. - f[a];
      c += (n >> a & 1) * box->stride[a];
    }
    sum += weight * value[c];
  }
  return sum;
}

/* Part of the cube above a cell's centre where the two disagree. */
static PetscReal disagreement(MacGrid grid, const PetscReal *value, Vector3 corner, DistanceFunction exact)
{
  enum { SAMPLES = 10 };
  const GridBox *box = grid_box(grid);
  const PetscInt count[DIM] = {SAMPLES, SAMPLES, box->dimension == 3 ? SAMPLES : 1};
  PetscReal      wrong = 0.;

  for (PetscInt k = 0; k < count[Z]; k++)
    for (PetscInt j = 0; j < count[Y]; j++)
      for (PetscInt i = 0; i < count[X]; i++) {
        const PetscReal f[DIM] = {(i + 0.5) / SAMPLES, (j + 0.5) / SAMPLES,
                                  box->dimension == 3 ? (k + 0.5) / SAMPLES : 0.};
        const Vector3   point =
            vector3_add(corner, vector3_scale(grid_spacing(grid), vector3(f[X], f[Y], f[Z])));

        wrong += (between_centres(box, value, f) < 0.) != (exact(point) < 0.);
      }
  return wrong / (count[X] * count[Y] * count[Z]);
}

PetscErrorCode InterfaceMismatch(Interface *interface, DistanceFunction exact, PetscReal *volume)
{
  const GridBox  *box = grid_box(interface->grid);
  const PetscReal h = grid_spacing(interface->grid), *value;
  PetscReal       sum = 0.;
  Vec             field;

  PetscFunctionBegin;
  PetscCall(LevelSetGetField(interface->level_set, &field));
  PetscCall(VecGetArrayRead(field, &value));
  FOR_CELLS(box, i, j, k) {
    const PetscInt  c = box_index(box, i, j, k);
    const Vector3   point = grid_cell_centre(interface->grid, i, j, k);
    const PetscReal near = PetscMin(PetscAbsReal(value[c]), PetscAbsReal(exact(point)));

    if (near < 3. * h || (value[c] < 0.) != (exact(point) < 0.))
      sum += disagreement(interface->grid, value + c, point, exact);
  }
  PetscCall(VecRestoreArrayRead(field, &value));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPIU_REAL, MPIU_SUM, box->comm));
  *volume = sum * PetscPowRealInt(h, box->dimension);
  PetscFunctionReturn(0);
}

PetscErrorCode InterfaceChecksum(MacGrid grid, Vec field, PetscReal *sum)
{
  const GridBox   *box = grid_box(grid);
  const PetscReal *value;

  PetscFunctionBegin;
  *sum = 0.;
  PetscCall(VecGetArrayRead(field, &value));
  FOR_CELLS(box, i, j, k)
    *sum += value[box_index(box, i, j, k)] * (1. + 0.1 * ((7 * i + 11 * j + 13 * k) % 17));
  PetscCall(VecRestoreArrayRead(field, &value));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sum, 1, MPIU_REAL, MPIU_SUM, box->comm));
  PetscFunctionReturn(0);
}
