/* Whether as much enters a closed box as leaves it: an incompressible fluid has nowhere else to go. Whether
   bodies leave inflow sides free. And whether the fields begin with numbers. */
#include "simulation_impl.h"

#include <millrace/fluid_step.h>
#include <millrace/reaction.h>

enum { TIMES = 5 }; /* at which the formulas are looked at, from the start to the end of the run */

static const PetscReal allowed = 0.01; /* share of the flow; a profile on a grid is not exact */

typedef struct {
  PetscReal in, out; /* through faces of the fluid, in face areas times m/s */
} Flux;

/* Through an open side, or into nothing. */
static PetscBool can_give_way(const SimulationConfig *config)
{
  for (PetscInt r = 0; r < config->phases.region_count; r++)
    if (!region_is_ever(&config->phases.regions[r], REGION_SIMULATED))
      return PETSC_TRUE;
  for (PetscInt axis = 0; axis < config->grid.dimension; axis++)
    for (PetscInt side = 0; side < 2; side++)
      if (config->fluid.sides[axis][side].kind == SIDE_OPEN)
        return PETSC_TRUE;
  return PETSC_FALSE;
}

static PetscBool has_sources(const SimulationConfig *config)
{
  for (PetscInt n = 0; n < config->inflow_count; n++)
    if (inflow_gives_velocity(&config->inflows[n]))
      return PETSC_TRUE;
  return PETSC_FALSE;
}

/* The formula that gives the flow through a face of a fluid cell, null if none does. Obstacles that move do
   not count: what they push away on one side they leave room for on the other. */
static Formula face_formula(Simulation simulation, const PetscReal *closed, const PetscInt at[DIM],
                            PetscInt axis, PetscInt side)
{
  const SimulationConfig *config = simulation->config;
  const GridBox          *box = grid_box(simulation->grid);
  const PetscInt          end = side ? box->cells[axis] - 1 : 0;
  CellCover               cover;

  if (!box->periodic[axis] && at[axis] == end)
    return config->fluid.sides[axis][side].velocity[axis];
  if (!closed)
    return NULL;
  cover = cell_cover(closed[box_index(box, at[X], at[Y], at[Z]) + (2 * side - 1) * box->stride[axis]]);
  return cover.kind == CELL_SOURCE ? config->inflows[cover.index].velocity[axis] : NULL;
}

static void add_cell(Simulation simulation, const PetscReal *closed, const PetscInt at[DIM], PetscReal time,
                     Flux *flux)
{
  const GridBox *box = grid_box(simulation->grid);

  for (PetscInt axis = 0; axis < box->dimension; axis++)
    for (PetscInt side = 0; side < 2; side++) {
      const Formula formula = face_formula(simulation, closed, at, axis, side);
      PetscInt      face[DIM] = {at[X], at[Y], at[Z]};
      PetscReal     outward;

      if (!formula)
        continue;
      face[axis] += side;
      outward =
          (2 * side - 1) *
          formula_value(formula, grid_face_centre(simulation->grid, axis, face[X], face[Y], face[Z]), time);
      flux->out += PetscMax(outward, 0.);
      flux->in += PetscMax(-outward, 0.);
    }
}

static PetscErrorCode GetFlux(Simulation simulation, PetscReal time, Flux *flux)
{
  const GridBox   *box = grid_box(simulation->grid);
  const PetscInt  *bodies = simulation_solid_cells(simulation);
  const PetscReal *closed = NULL;

  PetscFunctionBegin;
  *flux = (Flux){0., 0.};
  if (simulation->closed)
    PetscCall(VecGetArrayRead(simulation->closed, &closed));
  FOR_PLACES(box, at) {
    const PetscInt c = box_index(box, at[X], at[Y], at[Z]);

    if ((!closed || closed[c] == 0.) && !(bodies && bodies[c]))
      add_cell(simulation, closed, at, time, flux);
  }
  if (simulation->closed)
    PetscCall(VecRestoreArrayRead(simulation->closed, &closed));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, flux, 2, MPIU_REAL, MPI_SUM, box->comm));
  PetscFunctionReturn(0);
}

static PetscErrorCode CheckTimes(Simulation simulation, char message[], size_t message_size)
{
  const PetscReal area =
      PetscPowRealInt(grid_spacing(simulation->grid), grid_box(simulation->grid)->dimension - 1);
  const PetscBool moves = simulation_sources_change(simulation->config) && has_sources(simulation->config);
  Flux            flux;

  PetscFunctionBegin;
  for (PetscInt n = 0; n < TIMES && !message[0]; n++) {
    const PetscReal time = n * simulation->config->run.end_time / (TIMES - 1);

    if (moves)
      PetscCall(SimulationPlaceObstacles(simulation, time));
    PetscCall(GetFlux(simulation, time, &flux));
    if (PetscAbsReal(flux.in - flux.out) > allowed * PetscMax(flux.in, flux.out))
      PetscCall(MessageAtKey(message, message_size, "fluid.sides", NULL,
                             "no side is open, but at t = %g s inflows bring %.4g %s/s into the box and take "
                             "%.4g out: make a side open, or let as much out as in",
                             (double)time, (double)(flux.in * area),
                             grid_box(simulation->grid)->dimension == 3 ? "m^3" : "m^2",
                             (double)(flux.out * area)));
  }
  if (moves)
    PetscCall(SimulationPlaceObstacles(simulation, 0.));
  PetscFunctionReturn(0);
}

/* What burns in a closed box has nowhere to expand to. */
static PetscErrorCode CheckExpansion(const PhaseConfig *phases, char message[], size_t size)
{
  PetscFunctionBegin;
  for (PetscInt r = 0; r < phases->reaction_count && !message[0]; r++)
    if (reaction_expands(phases, &phases->reactions[r]))
      PetscCall(
          MessageAtKey(message, size, "interfaces.reactions", NULL,
                       "\"%.40s\" and its product \"%.40s\" differ in density, and the box is closed: what "
                       "burns there has no room to expand; make a side open, or give both one density",
                       phases->reactions[r].first, phases->reactions[r].product));
  PetscFunctionReturn(0);
}

static PetscErrorCode IsFinite(MPI_Comm comm, Vec field, PetscBool *finite)
{
  PetscReal sum;

  PetscFunctionBegin;
  PetscCall(VecNorm(field, NORM_1, &sum));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPIU_REAL, MPI_SUM, comm));
  *finite = PetscIsInfOrNanReal(sum) ? PETSC_FALSE : PETSC_TRUE;
  PetscFunctionReturn(0);
}

/* What of the fluid does not begin with finite values; nothing is said of what does. */
static PetscErrorCode CheckInitialFields(MacGrid grid, Fluid fluid, const FluidConfig *config, char message[],
                                         size_t size)
{
  const MPI_Comm comm = grid_box(grid)->comm;
  Vec           *velocity, *scalars;
  PetscBool      finite;

  PetscFunctionBegin;
  PetscCall(FluidBegin(fluid));
  PetscCall(FluidGetVelocity(fluid, &velocity));
  PetscCall(FluidGetScalars(fluid, &scalars));
  for (PetscInt d = 0; d < grid_box(grid)->dimension; d++) {
    PetscCall(IsFinite(comm, velocity[d], &finite));
    if (!finite)
      PetscCall(MessageAtKey(message, size, "fluid.initial.velocity", NULL,
                             "fluid.initial.velocity along %c is not a finite number everywhere in the box",
                             "xyz"[d]));
  }
  for (PetscInt s = 0; s < config->scalar_count; s++) {
    PetscCall(IsFinite(comm, scalars[s], &finite));
    if (!finite)
      PetscCall(MessageAtKey(message, size, "fluid.scalars", config->scalars[s].name,
                             "the scalar \"%.40s\" does not begin with a finite number everywhere in the box",
                             config->scalars[s].name));
  }
  PetscFunctionReturn(0);
}

/* Before anything else is asked of the fields. */
static PetscErrorCode CheckBegin(Simulation simulation, char message[], size_t size)
{
  PetscFunctionBegin;
  if (simulation->fluid)
    PetscCall(
        CheckInitialFields(simulation->grid, simulation->fluid, &simulation->fluid_config, message, size));
  if (simulation->gas)
    PetscCall(CheckInitialFields(simulation->grid, simulation->gas, &simulation->gas_config, message, size));
  PetscFunctionReturn(0);
}

/* Whether the bounds of a body reach into the box and into or through a side of it. */
static PetscBool covers_side(const GridConfig *grid, Vector3 low, Vector3 high, PetscInt axis, PetscInt side)
{
  const PetscReal small = 1e-9 * grid->size.at[axis];

  for (PetscInt d = 0; d < grid->dimension; d++)
    if (high.at[d] <= grid->origin.at[d] + small ||
        low.at[d] >= grid->origin.at[d] + grid->size.at[d] - small)
      return PETSC_FALSE;
  return side ? high.at[axis] >= grid->origin.at[axis] + grid->size.at[axis] - small
              : low.at[axis] <= grid->origin.at[axis] + small;
}

/* A body that moves away from an inflow side leaves a part of it that fluid has not entered through before.
 */
static PetscErrorCode CheckInflowSides(Simulation simulation, char message[], size_t size)
{
  const SimulationConfig *config = simulation->config;
  Vector3                 low, high;

  PetscFunctionBegin;
  for (PetscInt b = 0; simulation->coupled && b < solid_body_count(simulation->solid); b++) {
    if (solid_body_view(simulation->solid, b).config->kind == BODY_STATIC)
      continue;
    solid_body_bounds(simulation->solid, b, &low, &high);
    for (PetscInt n = 0; n < 2 * config->grid.dimension && !message[0]; n++)
      if (config->fluid.sides[n / 2][n % 2].kind == SIDE_INFLOW && vector3_norm(low) < PETSC_INFINITY &&
          covers_side(&config->grid, low, high, n / 2, n % 2))
        PetscCall(MessageAtKey(
            message, size, "solids.bodies", solid_body_view(simulation->solid, b).config->name,
            "the body \"%.40s\" covers a part of the inflow side %c_%s: leave it inside the "
            "box, or make it static: then it closes the side where it stands",
            solid_body_view(simulation->solid, b).config->name, "xyz"[n / 2], n % 2 ? "high" : "low"));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode SimulationCheckBalance(Simulation simulation, char message[], size_t message_size)
{
  PetscFunctionBegin;
  message[0] = '\0';
  if (simulation->fluid && !can_give_way(simulation->config))
    PetscCall(CheckTimes(simulation, message, message_size));
  if (!message[0] && simulation->fluid && !can_give_way(simulation->config))
    PetscCall(CheckExpansion(&simulation->config->phases, message, message_size));
  if (!message[0])
    PetscCall(CheckInflowSides(simulation, message, message_size));
  if (!message[0])
    PetscCall(CheckBegin(simulation, message, message_size));
  PetscCallMPI(MPI_Bcast(message, (PetscMPIInt)message_size, MPI_CHAR, 0, team_world(simulation->team)));
  PetscFunctionReturn(0);
}
