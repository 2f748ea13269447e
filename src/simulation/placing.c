/* Where coupled bodies are: what they cover, the system that follows, and their velocities in the fields. */
#include "coupled_impl.h"

Vec simulation_covered(Simulation simulation)
{
  return simulation->coupled ? simulation->coupled->covered : simulation->closed;
}

Vec simulation_free_parts(Simulation simulation, PartsTime time)
{
  if (!simulation->coupled)
    return NULL;
  return time == PARTS_OF_BODIES ? simulation->coupled->placed_parts : simulation->coupled->parts;
}

const PetscInt *simulation_solid_cells(Simulation simulation)
{
  return simulation->coupled ? coupling_solid_cells(simulation->coupled->coupling) : NULL;
}

PetscBool simulation_has_shells(Simulation simulation)
{
  return simulation->coupled && simulation->coupled->has_shells ? PETSC_TRUE : PETSC_FALSE;
}

const PetscReal *simulation_accelerations(Simulation simulation)
{
  return simulation->coupled ? simulation->coupled->acceleration : NULL;
}

PetscErrorCode SimulationGetTwists(Simulation simulation, PetscReal **twists)
{
  PetscInt   count;
  PetscReal *state;

  PetscFunctionBegin;
  PetscCall(SolidGetState(simulation->solid, &count, &state));
  *twists = state + count - TWIST * solid_body_count(simulation->solid);
  PetscFunctionReturn(0);
}

PetscErrorCode SimulationGetPointVelocities(Simulation simulation, PetscReal **velocities)
{
  PetscInt count;

  PetscFunctionBegin;
  PetscCall(SolidGetState(simulation->solid, &count, velocities));
  PetscFunctionReturn(0);
}

PetscErrorCode SimulationGetVelocities(Simulation simulation, PetscReal velocities[])
{
  const struct Coupled *coupled = simulation->coupled;
  PetscReal            *twists, *points;

  PetscFunctionBegin;
  PetscCall(SimulationGetTwists(simulation, &twists));
  PetscCall(SimulationGetPointVelocities(simulation, &points));
  PetscCall(PetscArraycpy(velocities, twists, coupled->count));
  PetscCall(PetscArraycpy(velocities + coupled->count, points, coupled->points));
  PetscFunctionReturn(0);
}

PetscErrorCode SimulationTakeAccelerations(Simulation simulation, PetscReal dt, const PetscReal before[])
{
  struct Coupled *coupled = simulation->coupled;

  PetscFunctionBegin;
  PetscCall(SimulationGetVelocities(simulation, coupled->acceleration));
  for (PetscInt n = 0; n < coupled->count + coupled->points; n++)
    coupled->acceleration[n] = (coupled->acceleration[n] - before[n]) / dt;
  PetscFunctionReturn(0);
}

/* Cells that obstacles, sources and bodies cover, as in obstacles.c. */
PetscErrorCode SimulationCoverCells(Simulation simulation)
{
  struct Coupled  *coupled = simulation->coupled;
  const GridBox   *box = grid_box(simulation->grid);
  const PetscInt   obstacles = simulation->config->obstacle_count;
  const PetscInt  *bodies = coupling_solid_cells(coupled->coupling);
  const PetscReal *closed = NULL;
  PetscReal       *covered;
  PetscBool       *slips;

  PetscFunctionBegin;
  if (simulation->closed)
    PetscCall(VecGetArrayRead(simulation->closed, &closed));
  PetscCall(VecGetArray(coupled->covered, &covered));
  FOR_CELLS(box, i, j, k) {
    const PetscInt c = box_index(box, i, j, k);

    if (closed && closed[c] > 0.)
      covered[c] = closed[c];
    else
      covered[c] = bodies[c] ? cell_mark(CELL_WALL, obstacles + bodies[c] - 1) : 0.;
  }
  PetscCall(VecRestoreArray(coupled->covered, &covered));
  if (simulation->closed)
    PetscCall(VecRestoreArrayRead(simulation->closed, &closed));
  PetscCall(MacGridExchange(simulation->grid, coupled->covered));
  PetscCall(SimulationGetSlips(simulation, simulation->wall_count, &slips));
  PetscCall(FluidSetCovered(simulation->fluid, coupled->covered, simulation->wall_count, slips));
  PetscCall(PetscFree(slips));
  PetscFunctionReturn(0);
}

PetscErrorCode SimulationShowShells(Simulation simulation, ShellPlacing motion, PetscReal dt)
{
  const Visibility *visibility;

  PetscFunctionBegin;
  if (!simulation->coupled)
    PetscFunctionReturn(0);
  PetscCall(CouplingGetVisibility(simulation->coupled->coupling, motion, dt, &visibility));
  simulation->coupled->has_shells = visibility ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(FluidSetVisibility(simulation->fluid, visibility));
  if (simulation->gas)
    PetscCall(FluidSetVisibility(simulation->gas, visibility));
  if (simulation->phase)
    PetscCall(PhaseSetVisibility(simulation->phase, visibility));
  PetscFunctionReturn(0);
}

PetscBool simulation_moves_meshes(Simulation simulation)
{
  return solid_deforming_count(simulation->solid) && team_has_solids(simulation->team) ? PETSC_TRUE
                                                                                       : PETSC_FALSE;
}

/* The surfaces of deformable solids where they are. All of the solid team move them, its first rank has them
   for the fluid. */
static PetscErrorCode PlaceMeshes(Simulation simulation)
{
  const PetscInt       total = solid_deforming_count(simulation->solid);
  const SolidPatch    *surfaces = NULL;
  const SolidOperator *motion = NULL;
  PetscMPIInt          rank;

  PetscFunctionBegin;
  if (!total)
    PetscFunctionReturn(0);
  if (simulation_moves_meshes(simulation))
    PetscCall(SolidGetDeforming(simulation->solid, &surfaces, &motion));
  PetscCallMPI(MPI_Comm_rank(team_world(simulation->team), &rank));
  if (rank != team_first_solid_rank(simulation->team))
    motion = NULL;
  PetscCall(CouplingSetDeforming(simulation->coupled->coupling, total, motion ? total : 0, surfaces, motion));
  PetscFunctionReturn(0);
}

/* What bodies and obstacles, the latter whole cells, leave free of cells where they are now. */
static PetscErrorCode FindPlacedParts(Simulation simulation, Vec parts)
{
  const PetscInt   length = grid_box(simulation->grid)->length;
  const PetscReal *closed;
  PetscReal       *part;

  PetscFunctionBegin;
  PetscCall(CouplingGetFreeParts(simulation->coupled->coupling, parts));
  if (!simulation->closed)
    PetscFunctionReturn(0);
  PetscCall(VecGetArrayRead(simulation->closed, &closed));
  PetscCall(VecGetArray(parts, &part));
  for (PetscInt c = 0; c < length; c++)
    if (cell_cover(closed[c]).kind == CELL_WALL)
      part[c] = 0.;
  PetscCall(VecRestoreArray(parts, &part));
  PetscCall(VecRestoreArrayRead(simulation->closed, &closed));
  PetscFunctionReturn(0);
}

/* Regions are in the middle of the step that bodies are at the end of: what these leave free then is the mean
   of both ends. With shells regions are at its end too. */
static PetscErrorCode FindFreeParts(Simulation simulation, ShellPlacing motion)
{
  struct Coupled *coupled = simulation->coupled;
  const PetscBool halfway = motion == SHELLS_MOVED && !coupled->has_shells ? PETSC_TRUE : PETSC_FALSE;

  PetscFunctionBegin;
  if (!coupled->parts)
    PetscFunctionReturn(0);
  PetscCall(VecCopy(coupled->placed_parts, coupled->parts));
  PetscCall(FindPlacedParts(simulation, coupled->placed_parts));
  PetscCall(VecAXPBY(coupled->parts, halfway ? 0.5 : 1., halfway ? 0.5 : 0., coupled->placed_parts));
  PetscFunctionReturn(0);
}

PetscErrorCode SimulationPlaceBodies(Simulation simulation, ShellPlacing motion, PetscReal dt)
{
  PetscFunctionBegin;
  PetscCall(PlaceMeshes(simulation));
  PetscCall(CouplingPlaceSolid(simulation->coupled->coupling, simulation->solid));
  if (!simulation->grid)
    PetscFunctionReturn(0);
  PetscCall(SimulationCoverCells(simulation));
  PetscCall(SimulationShowShells(simulation, motion, dt));
  PetscCall(FindFreeParts(simulation, motion));
  PetscFunctionReturn(0);
}

/* What the velocity in bodies of next to no weight gains is nothing that fluid in their place should take
   along. */
static PetscErrorCode ForgetGains(Simulation simulation)
{
  Vec *velocity, *advected;

  PetscFunctionBegin;
  for (PetscInt g = 0; g < PetscMax(1, fluid_group_count(simulation->fluid)); g++) {
    PetscCall(FluidGetAdvected(simulation->fluid, g, &velocity, &advected));
    if (advected)
      PetscCall(CouplingCopyInFeathers(simulation->coupled->coupling, velocity, advected));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode SimulationFillBodies(Simulation simulation)
{
  struct Coupled *coupled = simulation->coupled;
  PetscReal      *twists;
  Vec            *velocity, *acceleration;

  PetscFunctionBegin;
  PetscCall(SimulationGetTwists(simulation, &twists));
  PetscCall(FluidGetVelocity(simulation->fluid, &velocity));
  PetscCall(CouplingFillFaces(coupled->coupling, twists, NULL, FILL_LIMITED, velocity));
  for (PetscInt g = 0; g < fluid_group_count(simulation->fluid); g++) {
    PetscCall(FluidGetGroupVelocity(simulation->fluid, g, &velocity));
    PetscCall(CouplingFillFaces(coupled->coupling, twists, NULL, FILL_LIMITED, velocity));
  }
  PetscCall(FluidRefreshVelocity(simulation->fluid));
  PetscCall(ForgetGains(simulation));
  PetscCall(FluidGetAcceleration(simulation->fluid, &acceleration));
  if (acceleration)
    PetscCall(CouplingFillFaces(coupled->coupling, coupled->acceleration,
                                coupled->acceleration + coupled->count, FILL_LIMITED, acceleration));
  PetscFunctionReturn(0);
}

/* Bodies are filled before the liquid's velocity is extrapolated, since a resumed run finds them filled, and
   after, since it is extrapolated into them. */
PetscErrorCode SimulationCarryVelocityOn(Simulation simulation)
{
  PetscFunctionBegin;
  if (simulation->phase)
    PetscCall(SimulationFillBodies(simulation));
  PetscCall(SimulationExtendVelocity(simulation));
  PetscCall(SimulationFillBodies(simulation));
  PetscFunctionReturn(0);
}
