#include "blend.h"

PetscReal rough_at(Vector3 point, PetscInt salt)
{
  const PetscReal value = PetscSinReal(127.1 * point.at[X] + 311.7 * point.at[Y] + 74.7 * point.at[Z] +
                                       19.19 * (PetscReal)(salt + 1)) *
                          437.585;

  return 0.01 + 0.98 * (value - PetscFloorReal(value));
}

void blend_set_defaults(Blend *blend, PetscInt dimension, PetscInt resolution)
{
  *blend = (Blend){0};
  blend->grid_config.dimension = dimension;
  blend->grid_config.size = vector3(1., 1., 1.);
  blend->grid_config.resolution = resolution;
  blend->config.density = 1.;
  blend->config.advection = ADVECT_NONE;
  blend->config.cfl = 1.;
  blend->config.pressure_tolerance = 1e-12;
  blend->config.viscosity_tolerance = 1e-12;
}

void blend_make_periodic(Blend *blend, PetscInt direction)
{
  blend->grid_config.periodic[direction] = PETSC_TRUE;
  for (PetscInt side = 0; side < 2; side++)
    blend->config.sides[direction][side].kind = SIDE_PERIODIC;
}

PetscErrorCode BlendFormula(const char text[], Formula *formula)
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
  Vector3 point = grid_cell_center(grid, at[X], at[Y], at[Z]);

  for (PetscInt d = 0; d < grid_box(grid)->dimension; d++)
    if ((kind == ON_FACE && d == direction) || (kind == ON_EDGE && d != direction))
      point.at[d] -= 0.5 * grid_spacing(grid);
  return point;
}

/* All places that the field has, ghosts too. */
static PetscErrorCode FillField(const Blend *blend, PetscInt kind, PetscInt direction, BlendValue value,
                                Vec field)
{
  const GridBox *box = grid_box(blend->grid);
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
            value(blend->functions.context, place_of(blend->grid, kind, direction, at), direction);
  PetscCall(VecRestoreArray(field, &values));
  PetscCall(MacGridExchange(blend->grid, field));
  PetscFunctionReturn(0);
}

static PetscErrorCode FillFaces(const Blend *blend, PetscInt d)
{
  const BlendFunctions *functions = &blend->functions;
  const Mixture        *mixture = &blend->mixture;

  PetscFunctionBegin;
  PetscCall(VecSet(mixture->density[d], 1.));
  if (functions->density)
    PetscCall(FillField(blend, ON_FACE, d, functions->density, mixture->density[d]));
  PetscCall(VecCopy(mixture->density[d], mixture->mobility[d]));
  PetscCall(VecReciprocal(mixture->mobility[d]));
  if (functions->mobility)
    PetscCall(FillField(blend, ON_FACE, d, functions->mobility, mixture->mobility[d]));
  if (functions->jump)
    PetscCall(FillField(blend, ON_FACE, d, functions->jump, mixture->jump[d]));
  PetscFunctionReturn(0);
}

PetscErrorCode BlendFill(Blend *blend)
{
  const BlendFunctions *functions = &blend->functions;
  const BlendValue      edge = functions->edge_viscosity ? functions->edge_viscosity : functions->viscosity;

  PetscFunctionBegin;
  for (PetscInt d = 0; d < grid_box(blend->grid)->dimension; d++)
    PetscCall(FillFaces(blend, d));
  if (functions->empty)
    PetscCall(FillField(blend, ON_CELL, -1, functions->empty, blend->mixture.empty));
  if (functions->viscosity)
    PetscCall(FillField(blend, ON_CELL, -1, functions->viscosity, blend->mixture.viscosity));
  for (PetscInt e = 0; e < DIM; e++)
    if (edge && blend->mixture.edge_viscosity[e])
      PetscCall(FillField(blend, ON_EDGE, e, edge, blend->mixture.edge_viscosity[e]));
  PetscCall(FluidSetMixture(blend->fluid, &blend->mixture));
  PetscFunctionReturn(0);
}

PetscErrorCode BlendCreate(MPI_Comm comm, BlendValue solids, const PetscBool slips[], Blend *blend)
{
  Vec solid;

  PetscFunctionBegin;
  PetscCall(MacGridCreate(comm, &blend->grid_config, &blend->grid));
  PetscCall(FluidCreate(blend->grid, &blend->config, &blend->fluid));
  PetscCall(MixtureCreate(blend->grid, &blend->mixture));
  if (solids) {
    PetscCall(MacGridCreateField(blend->grid, &solid));
    PetscCall(FillField(blend, ON_CELL, -1, solids, solid));
    PetscCall(FluidSetSolids(blend->fluid, BLEND_OBSTACLES, slips, solid, NULL));
    PetscCall(VecDestroy(&solid));
  }
  PetscCall(BlendFill(blend));
  PetscFunctionReturn(0);
}

PetscErrorCode BlendStart(MPI_Comm comm, BlendValue solids, const PetscBool slips[], Blend *blend)
{
  PetscBool good;

  PetscFunctionBegin;
  PetscCall(BlendCreate(comm, solids, slips, blend));
  PetscCall(FluidStart(blend->fluid, &good));
  PetscCheck(good, comm, PETSC_ERR_NOT_CONVERGED, "The start failed");
  PetscFunctionReturn(0);
}

PetscErrorCode BlendStep(Blend *blend, PetscInt count, PetscReal dt)
{
  PetscBool good;

  PetscFunctionBegin;
  for (PetscInt n = 0; n < count; n++) {
    PetscCall(FluidPredict(blend->fluid, dt));
    PetscCall(FluidProjectPrediction(blend->fluid, dt, PETSC_MAX_REAL, &good));
    PetscCheck(good, grid_box(blend->grid)->comm, PETSC_ERR_NOT_CONVERGED, "Step %" PetscInt_FMT " failed",
               n);
  }
  PetscFunctionReturn(0);
}

PetscErrorCode BlendDestroy(Blend *blend)
{
  PetscFunctionBegin;
  PetscCall(FluidDestroy(&blend->fluid));
  PetscCall(MixtureDestroy(&blend->mixture));
  PetscCall(MacGridDestroy(&blend->grid));
  for (PetscInt d = 0; d < DIM; d++) {
    PetscCall(FormulaDestroy(&blend->config.body_force[d]));
    PetscCall(FormulaDestroy(&blend->config.initial_velocity[d]));
    for (PetscInt axis = 0; axis < DIM; axis++)
      for (PetscInt side = 0; side < 2; side++)
        PetscCall(FormulaDestroy(&blend->config.sides[axis][side].velocity[d]));
  }
  PetscFunctionReturn(0);
}

/* count and sum of differences, their least and largest, on this rank */
static PetscErrorCode Gather(Blend *blend, PetscInt component, BlendValue exact, BlendValue where,
                             PetscReal sums[2], PetscReal bounds[2])
{
  const GridBox   *box = grid_box(blend->grid);
  const PetscInt   kind = component < DIM ? ON_FACE : ON_CELL;
  PetscInt         at[DIM], end[DIM] = {box->end[X], box->end[Y], box->end[Z]};
  const PetscReal *values;
  Vec              pressure, *faces;

  PetscFunctionBegin;
  PetscCall(FluidGetVelocity(blend->fluid, &faces));
  PetscCall(FluidGetPressure(blend->fluid, &pressure));
  if (component < DIM)
    grid_face_end(blend->grid, component, end);
  PetscCall(VecGetArrayRead(component < DIM ? faces[component] : pressure, &values));
  for (at[Z] = box->start[Z]; at[Z] < end[Z]; at[Z]++)
    for (at[Y] = box->start[Y]; at[Y] < end[Y]; at[Y]++)
      for (at[X] = box->start[X]; at[X] < end[X]; at[X]++) {
        const Vector3   point = place_of(blend->grid, kind, component, at);
        const PetscReal difference =
            values[box_index(box, at[X], at[Y], at[Z])] - exact(blend->functions.context, point, component);

        if (where && where(blend->functions.context, point, component) <= 0.)
          continue;
        sums[0] += 1.;
        sums[1] += difference;
        bounds[0] = PetscMax(bounds[0], -difference);
        bounds[1] = PetscMax(bounds[1], difference);
      }
  PetscCall(VecRestoreArrayRead(component < DIM ? faces[component] : pressure, &values));
  PetscFunctionReturn(0);
}

PetscErrorCode BlendCompare(Blend *blend, PetscInt component, BlendValue exact, BlendValue where,
                            PetscReal *largest)
{
  const MPI_Comm comm = grid_box(blend->grid)->comm;
  PetscReal      sums[2] = {0., 0.}, bounds[2] = {-PETSC_MAX_REAL, -PETSC_MAX_REAL}, mean;

  PetscFunctionBegin;
  PetscCall(Gather(blend, component, exact, where, sums, bounds));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPIU_REAL, MPI_SUM, comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, bounds, 2, MPIU_REAL, MPI_MAX, comm));
  mean = component == DIM ? sums[1] / sums[0] : 0.;
  *largest = PetscMax(bounds[1] - mean, bounds[0] + mean);
  PetscFunctionReturn(0);
}
