#include "regions.h"

void regions_prepare(PetscInt dimension, PetscInt n, Regions *regions)
{
  *regions = (Regions){.grid_config = {.dimension = dimension, .size = {{1., 1., 1.}}, .resolution = n},
                       .config = {.interface = {.advection = INTERFACE_WENO5}}};
  regions->config.regions = regions->regions;
  regions->config.tensions = regions->tensions;
}

RegionConfig *regions_add(Regions *regions, Shape *shape)
{
  static char    names[TEST_REGIONS][2] = {"a", "b", "c", "d", "e", "f"};
  const PetscInt n = regions->config.region_count++;

  regions->regions[n] = (RegionConfig){.name = names[n], .density = n + 1.};
  if (shape)
    regions->regions[n].shape = *shape;
  return &regions->regions[n];
}

void regions_add_tension(Regions *regions, PetscInt first, PetscInt second, PetscReal tension)
{
  regions->tensions[regions->config.tension_count++] = (TensionConfig){
      regions->regions[first].name, regions->regions[second].name, tension, 0., PETSC_INFINITY};
}

static PetscErrorCode OpenSides(Regions *regions)
{
  const PetscInt outer = regions->outer - 1;
  OuterRegions   sides;

  PetscFunctionBegin;
  for (PetscInt n = 0; n < 2 * DIM; n++)
    sides[n / 2][n % 2] = (OuterRegion){n / 2 == X ? outer : NO_OUTER_REGION, outer, PETSC_INFINITY};
  PetscCall(PhaseSetSides(regions->phase, (const OuterRegion(*)[2])sides, vector3(0., 1., 0.)));
  PetscFunctionReturn(0);
}

PetscErrorCode RegionsStart(MPI_Comm comm, Regions *regions, char message[], size_t size)
{
  PetscFunctionBegin;
  if (!regions->grid)
    PetscCall(MacGridCreate(comm, &regions->grid_config, &regions->grid));
  PetscCall(MacGridCreateFaceField(regions->grid, regions->velocity));
  PetscCall(PhaseCreate(regions->grid, &regions->config, &regions->phase));
  if (regions->outer)
    PetscCall(OpenSides(regions));
  PetscCall(PhaseStart(regions->phase, regions->closed, message, size));
  PetscFunctionReturn(0);
}

PetscErrorCode RegionsDestroy(Regions *regions)
{
  PetscFunctionBegin;
  PetscCall(PhaseDestroy(&regions->phase));
  PetscCall(VecDestroy(&regions->closed));
  if (regions->grid)
    PetscCall(MacGridDestroyFaceField(regions->velocity));
  PetscCall(MacGridDestroy(&regions->grid));
  for (PetscInt n = 0; n < TEST_REGIONS; n++)
    PetscCall(ShapeDestroy(&regions->regions[n].shape));
  PetscFunctionReturn(0);
}

PetscErrorCode RegionsSetVelocity(Regions *regions, VelocityAt velocity)
{
  const GridBox  *box = grid_box(regions->grid);
  const GridRange range = box_grown(box, box->ghost);
  PetscReal      *u;

  PetscFunctionBegin;
  for (PetscInt d = 0; d < box->dimension; d++) {
    PetscCall(VecGetArray(regions->velocity[d], &u));
    FOR_CELLS(&range, i, j, k)
      u[box_index(box, i, j, k)] = velocity(grid_face_centre(regions->grid, d, i, j, k)).at[d];
    PetscCall(VecRestoreArray(regions->velocity[d], &u));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode RegionsClose(Regions *regions, Shape shape)
{
  const GridBox *box = grid_box(regions->grid);
  PetscReal     *closed;

  PetscFunctionBegin;
  PetscCall(MacGridCreateField(regions->grid, &regions->closed));
  PetscCall(VecGetArray(regions->closed, &closed));
  FOR_CELLS(box, i, j, k)
    closed[box_index(box, i, j, k)] =
        shape_is_inside(shape, grid_cell_centre(regions->grid, i, j, k)) ? 1. : 0.;
  PetscCall(VecRestoreArray(regions->closed, &closed));
  PetscCall(MacGridExchange(regions->grid, regions->closed));
  PetscFunctionReturn(0);
}

PetscErrorCode RegionsChecksum(MacGrid grid, Vec field, PetscInt64 *sum)
{
  const GridBox   *box = grid_box(grid);
  const PetscReal *value;

  PetscFunctionBegin;
  *sum = 0;
  PetscCall(VecGetArrayRead(field, &value));
  FOR_CELLS(box, i, j, k)
    *sum += (PetscInt64)(value[box_index(box, i, j, k)] * 1.0995e12) * (1 + i % 7 + 3 * (j % 5) + k % 3);
  PetscCall(VecRestoreArrayRead(field, &value));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sum, 1, MPIU_INT64, MPI_SUM, box->comm));
  PetscFunctionReturn(0);
}

PetscErrorCode RegionsCompareWithSerial(Regions *regions, Vec field, Regions *serial, Vec other,
                                        PetscReal *largest)
{
  const GridBox   *box = grid_box(regions->grid), *whole = grid_box(serial->grid);
  const PetscReal *value, *expected;

  PetscFunctionBegin;
  *largest = 0.;
  PetscCall(VecGetArrayRead(field, &value));
  PetscCall(VecGetArrayRead(other, &expected));
  FOR_CELLS(box, i, j, k)
    *largest = PetscMax(*largest,
                        PetscAbsReal(value[box_index(box, i, j, k)] - expected[box_index(whole, i, j, k)]));
  PetscCall(VecRestoreArrayRead(other, &expected));
  PetscCall(VecRestoreArrayRead(field, &value));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, largest, 1, MPIU_REAL, MPIU_MAX, box->comm));
  PetscFunctionReturn(0);
}

static PetscReal breach(PetscInt count, const PetscReal *const distances[], PetscInt c, PetscReal band)
{
  PetscReal first = PETSC_MAX_REAL, second = PETSC_MAX_REAL;

  for (PetscInt n = 0; n < count; n++) {
    second = PetscMin(second, PetscMax(first, distances[n][c]));
    first = PetscMin(first, distances[n][c]);
  }
  return PetscMax(first, second < band ? PetscAbsReal(first + second) : 0.);
}

PetscErrorCode RegionsCheckProjection(Regions *regions, PetscReal *largest)
{
  const GridBox   *box = grid_box(regions->grid);
  const PetscInt   count = regions->config.region_count;
  const PetscReal *distances[TEST_REGIONS];
  Vec              field;

  PetscFunctionBegin;
  *largest = 0.;
  for (PetscInt n = 0; n < count; n++) {
    PetscCall(PhaseGetDistance(regions->phase, n, &field));
    PetscCall(VecGetArrayRead(field, &distances[n]));
  }
  FOR_CELLS(box, i, j, k)
    *largest = PetscMax(*largest, breach(count, distances, box_index(box, i, j, k),
                                         BAND_CELLS * grid_spacing(regions->grid)));
  for (PetscInt n = 0; n < count; n++) {
    PetscCall(PhaseGetDistance(regions->phase, n, &field));
    PetscCall(VecRestoreArrayRead(field, &distances[n]));
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, largest, 1, MPIU_REAL, MPIU_MAX, box->comm));
  PetscFunctionReturn(0);
}
