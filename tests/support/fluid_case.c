#include "fluid_case.h"

PetscReal rough_at(Vector3 point, PetscInt salt)
{
  const PetscReal value = PetscSinReal(127.1 * point.at[X] + 311.7 * point.at[Y] + 74.7 * point.at[Z] +
                                       19.19 * (PetscReal)(salt + 1)) *
                          437.585;

  return 0.01 + 0.98 * (value - PetscFloorReal(value));
}

void fluid_case_set_defaults(FluidCase *fluid_case, PetscInt dimension, PetscInt resolution)
{
  *fluid_case = (FluidCase){0};
  fluid_case->grid_config.dimension = dimension;
  fluid_case->grid_config.size = vector3(1., 1., 1.);
  fluid_case->grid_config.resolution = resolution;
  fluid_case->config.density = 1.;
  fluid_case->config.advection = ADVECT_NONE;
  fluid_case->config.cfl = 1.;
  fluid_case->config.pressure_tolerance = 1e-12;
  fluid_case->config.viscosity_tolerance = 1e-12;
}

void fluid_case_make_periodic(FluidCase *fluid_case, PetscInt direction)
{
  fluid_case->grid_config.periodic[direction] = PETSC_TRUE;
  for (PetscInt side = 0; side < 2; side++)
    fluid_case->config.sides[direction][side].kind = SIDE_PERIODIC;
}

PetscErrorCode FluidCaseFormula(const char text[], Formula *formula)
{
  char message[256];

  PetscFunctionBegin;
  PetscCall(FormulaCreate(text, formula, message, sizeof(message)));
  PetscCheck(*formula, PETSC_COMM_SELF, PETSC_ERR_USER_INPUT, "%s", message);
  PetscFunctionReturn(0);
}

enum { ON_CELL, ON_FACE, ON_EDGE };

static Vector3 place_of(MacGrid grid, PetscInt kind, PetscInt direction, const PetscInt at[DIM])
{
  Vector3 point = grid_cell_centre(grid, at[X], at[Y], at[Z]);

  for (PetscInt d = 0; d < grid_box(grid)->dimension; d++)
    if ((kind == ON_FACE && d == direction) || (kind == ON_EDGE && d != direction))
      point.at[d] -= 0.5 * grid_spacing(grid);
  return point;
}

/* All places that the field has, ghosts too. */
static PetscErrorCode FillField(const FluidCase *fluid_case, PetscInt kind, PetscInt direction,
                                FluidCaseFunction value, Vec field)
{
  const GridBox *box = grid_box(fluid_case->grid);
  PetscInt       at[DIM], low[DIM], high[DIM];
  PetscReal     *values;

  PetscFunctionBegin;
  for (PetscInt d = 0; d < DIM; d++) {
    low[d] = box->start[d] - (d < box->dimension ? box->ghost : 0);
    high[d] = box->end[d] + (d < box->dimension ? box->ghost : 0);
  }
  PetscCall(VecGetArray(field, &values));
  for (at[Z] = low[Z]; at[Z] < high[Z]; at[Z]++)
    for (at[Y] = low[Y]; at[Y] < high[Y]; at[Y]++)
      for (at[X] = low[X]; at[X] < high[X]; at[X]++)
        values[box_index(box, at[X], at[Y], at[Z])] =
            value(fluid_case->functions.context, place_of(fluid_case->grid, kind, direction, at), direction);
  PetscCall(VecRestoreArray(field, &values));
  PetscCall(MacGridExchange(fluid_case->grid, field));
  PetscFunctionReturn(0);
}

static PetscErrorCode FillFaces(const FluidCase *fluid_case, PetscInt d)
{
  const FluidCaseFunctions *functions = &fluid_case->functions;
  const Mixture            *mixture = &fluid_case->mixture;

  PetscFunctionBegin;
  PetscCall(VecSet(mixture->density[d], 1.));
  if (functions->density)
    PetscCall(FillField(fluid_case, ON_FACE, d, functions->density, mixture->density[d]));
  PetscCall(VecCopy(mixture->density[d], mixture->mobility[d]));
  PetscCall(VecReciprocal(mixture->mobility[d]));
  if (functions->mobility)
    PetscCall(FillField(fluid_case, ON_FACE, d, functions->mobility, mixture->mobility[d]));
  if (functions->jump)
    PetscCall(FillField(fluid_case, ON_FACE, d, functions->jump, mixture->jump[d]));
  PetscFunctionReturn(0);
}

/* No less than that of any place. */
static PetscErrorCode BoundDiffusivity(FluidCase *fluid_case)
{
  PetscReal viscosity, mobility;

  PetscFunctionBegin;
  PetscCall(VecNorm(fluid_case->mixture.viscosity, NORM_INFINITY, &viscosity));
  PetscCall(VecNorm(fluid_case->mixture.mobility[X], NORM_INFINITY, &mobility));
  fluid_case->mixture.largest_diffusivity = viscosity * mobility;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &fluid_case->mixture.largest_diffusivity, 1, MPIU_REAL, MPI_MAX,
                             grid_box(fluid_case->grid)->comm));
  PetscFunctionReturn(0);
}

PetscErrorCode FluidCaseFill(FluidCase *fluid_case)
{
  const FluidCaseFunctions *functions = &fluid_case->functions;
  const FluidCaseFunction edge = functions->edge_viscosity ? functions->edge_viscosity : functions->viscosity;

  PetscFunctionBegin;
  for (PetscInt d = 0; d < grid_box(fluid_case->grid)->dimension; d++)
    PetscCall(FillFaces(fluid_case, d));
  if (functions->empty)
    PetscCall(FillField(fluid_case, ON_CELL, -1, functions->empty, fluid_case->mixture.empty));
  if (functions->viscosity)
    PetscCall(FillField(fluid_case, ON_CELL, -1, functions->viscosity, fluid_case->mixture.viscosity));
  for (PetscInt e = 0; e < DIM; e++)
    if (edge && fluid_case->mixture.edge_viscosity[e])
      PetscCall(FillField(fluid_case, ON_EDGE, e, edge, fluid_case->mixture.edge_viscosity[e]));
  PetscCall(BoundDiffusivity(fluid_case));
  PetscCall(FluidSetMixture(fluid_case->fluid, &fluid_case->mixture));
  PetscFunctionReturn(0);
}

PetscErrorCode FluidCaseCreate(MPI_Comm comm, FluidCaseFunction solids, const PetscBool slips[],
                               FluidCase *fluid_case)
{
  Vec solid;

  PetscFunctionBegin;
  PetscCall(MacGridCreate(comm, &fluid_case->grid_config, &fluid_case->grid));
  PetscCall(FluidCreate(fluid_case->grid, &fluid_case->config, &fluid_case->fluid));
  PetscCall(MixtureCreate(fluid_case->grid, &fluid_case->mixture));
  if (solids) {
    PetscCall(MacGridCreateField(fluid_case->grid, &solid));
    PetscCall(FillField(fluid_case, ON_CELL, -1, solids, solid));
    PetscCall(FluidSetSolids(fluid_case->fluid, FLUID_CASE_OBSTACLES, slips, solid, NULL));
    PetscCall(VecDestroy(&solid));
  }
  PetscCall(FluidCaseFill(fluid_case));
  PetscFunctionReturn(0);
}

PetscErrorCode FluidCaseStart(MPI_Comm comm, FluidCaseFunction solids, const PetscBool slips[],
                              FluidCase *fluid_case)
{
  PetscBool good;

  PetscFunctionBegin;
  PetscCall(FluidCaseCreate(comm, solids, slips, fluid_case));
  PetscCall(FluidStart(fluid_case->fluid, &good));
  PetscCheck(good, comm, PETSC_ERR_NOT_CONVERGED, "The start failed");
  PetscFunctionReturn(0);
}

PetscErrorCode FluidCaseStep(FluidCase *fluid_case, PetscInt count, PetscReal dt)
{
  PetscBool good;

  PetscFunctionBegin;
  for (PetscInt n = 0; n < count; n++) {
    PetscCall(FluidPredict(fluid_case->fluid, dt));
    PetscCall(FluidProjectPrediction(fluid_case->fluid, dt, PETSC_MAX_REAL, &good));
    PetscCheck(good, grid_box(fluid_case->grid)->comm, PETSC_ERR_NOT_CONVERGED,
               "Step %" PetscInt_FMT " failed", n);
  }
  PetscFunctionReturn(0);
}

PetscErrorCode FluidCaseDestroy(FluidCase *fluid_case)
{
  PetscFunctionBegin;
  PetscCall(FluidDestroy(&fluid_case->fluid));
  PetscCall(MixtureDestroy(&fluid_case->mixture));
  PetscCall(MacGridDestroy(&fluid_case->grid));
  for (PetscInt d = 0; d < DIM; d++) {
    PetscCall(FormulaDestroy(&fluid_case->config.body_force[d]));
    PetscCall(FormulaDestroy(&fluid_case->config.initial_velocity[d]));
    for (PetscInt axis = 0; axis < DIM; axis++)
      for (PetscInt side = 0; side < 2; side++)
        PetscCall(FormulaDestroy(&fluid_case->config.sides[axis][side].velocity[d]));
  }
  PetscFunctionReturn(0);
}

/* count and sum of differences, their least and largest, on this rank */
static PetscErrorCode Gather(FluidCase *fluid_case, PetscInt component, FluidCaseFunction exact,
                             FluidCaseFunction where, PetscReal sums[2], PetscReal bounds[2])
{
  const GridBox   *box = grid_box(fluid_case->grid);
  const PetscInt   kind = component < DIM ? ON_FACE : ON_CELL;
  const GridRange  owned = component < DIM ? grid_faces(fluid_case->grid, component) : box_grown(box, 0);
  const PetscReal *values;
  Vec              pressure, *faces;

  PetscFunctionBegin;
  PetscCall(FluidGetVelocity(fluid_case->fluid, &faces));
  PetscCall(FluidGetPressure(fluid_case->fluid, &pressure));
  PetscCall(VecGetArrayRead(component < DIM ? faces[component] : pressure, &values));
  FOR_PLACES(&owned, at) {
    const Vector3   point = place_of(fluid_case->grid, kind, component, at);
    const PetscReal difference =
        values[box_index(box, at[X], at[Y], at[Z])] - exact(fluid_case->functions.context, point, component);

    if (where && where(fluid_case->functions.context, point, component) <= 0.)
      continue;
    sums[0] += 1.;
    sums[1] += difference;
    bounds[0] = PetscMax(bounds[0], -difference);
    bounds[1] = PetscMax(bounds[1], difference);
  }
  PetscCall(VecRestoreArrayRead(component < DIM ? faces[component] : pressure, &values));
  PetscFunctionReturn(0);
}

PetscErrorCode FluidCaseCompare(FluidCase *fluid_case, PetscInt component, FluidCaseFunction exact,
                                FluidCaseFunction where, PetscReal *largest)
{
  const MPI_Comm comm = grid_box(fluid_case->grid)->comm;
  PetscReal      sums[2] = {0., 0.}, bounds[2] = {-PETSC_MAX_REAL, -PETSC_MAX_REAL}, mean;

  PetscFunctionBegin;
  PetscCall(Gather(fluid_case, component, exact, where, sums, bounds));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPIU_REAL, MPI_SUM, comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, bounds, 2, MPIU_REAL, MPI_MAX, comm));
  mean = component == DIM ? sums[1] / sums[0] : 0.;
  *largest = PetscMax(bounds[1] - mean, bounds[0] + mean);
  PetscFunctionReturn(0);
}
