/* A gas that the liquids move and do not feel (thesis 4.4): a fluid of its own, to which the cells of the
   liquids are an obstacle with the liquids' velocity, along which it slips. The liquids' fluid sees the gas
   as empty. What is carried along, smoke and the like, is carried by the gas. */
#include "simulation_impl.h"

/* Its number, or -1. */
static PetscInt one_way_region(const PhaseConfig *config)
{
  for (PetscInt r = 0; r < config->region_count; r++)
    if (config->regions[r].kind == REGION_ONE_WAY)
      return r;
  return -1;
}

PetscBool simulation_has_gas(const SimulationConfig *config)
{
  return one_way_region(&config->phases) >= 0 ? PETSC_TRUE : PETSC_FALSE;
}

Fluid simulation_carrier(Simulation simulation)
{
  return simulation->gas ? simulation->gas : simulation->fluid;
}

/* 0 in cells of the gas; obstacles and bodies keep their numbers, the liquids come after them, then the
   sources. */
static PetscErrorCode MarkCells(Simulation simulation)
{
  const GridBox   *box = grid_box(simulation->grid);
  const PetscInt   gas = one_way_region(&simulation->config->phases);
  const PetscReal *region, *closed = NULL;
  PetscReal       *mark;
  Vec              regions;

  PetscFunctionBegin;
  PetscCall(PhaseGetRegions(simulation->phase, &regions));
  PetscCall(VecGetArrayRead(regions, &region));
  if (simulation_covered(simulation))
    PetscCall(VecGetArrayRead(simulation_covered(simulation), &closed));
  PetscCall(VecGetArray(simulation->gas_closed, &mark));
  FOR_CELLS(box, i, j, k) {
    const PetscInt c = box_index(box, i, j, k);

    if (closed && closed[c] > 0.)
      mark[c] = closed[c];
    else
      mark[c] = (PetscInt)region[c] == gas + 1 ? 0. : cell_mark(CELL_WALL, simulation->wall_count);
  }
  PetscCall(VecRestoreArray(simulation->gas_closed, &mark));
  if (simulation_covered(simulation))
    PetscCall(VecRestoreArrayRead(simulation_covered(simulation), &closed));
  PetscCall(VecRestoreArrayRead(regions, &region));
  PetscCall(MacGridExchange(simulation->grid, simulation->gas_closed));
  PetscFunctionReturn(0);
}

/* Faces of liquids move with them; the others, where anything closes them, as the liquids see them too. */
static PetscErrorCode TakeVelocity(Simulation simulation)
{
  Vec *velocity;

  PetscFunctionBegin;
  PetscCall(FluidGetVelocity(simulation->fluid, &velocity));
  for (PetscInt d = 0; d < grid_box(simulation->grid)->dimension; d++)
    PetscCall(VecCopy(velocity[d], simulation->gas_velocity[d]));
  PetscFunctionReturn(0);
}

static PetscErrorCode PlaceLiquids(Simulation simulation)
{
  PetscBool *slips;

  PetscFunctionBegin;
  PetscCall(MarkCells(simulation));
  PetscCall(TakeVelocity(simulation));
  PetscCall(SimulationGetSlips(simulation, simulation->wall_count + 1, &slips));
  slips[simulation->wall_count] = PETSC_TRUE;
  PetscCall(FluidSetSolids(simulation->gas, simulation->wall_count + 1, slips, simulation->gas_closed,
                           simulation->gas_velocity));
  PetscCall(PetscFree(slips));
  PetscFunctionReturn(0);
}

static PetscErrorCode Create(Simulation simulation, char message[], size_t size)
{
  const PhaseConfig  *phases = &simulation->config->phases;
  const RegionConfig *region = &phases->regions[one_way_region(phases)];

  PetscFunctionBegin;
  (void)message, (void)size;
  simulation->gas_config = simulation->config->fluid;
  simulation->gas_config.density = region->density;
  simulation->gas_config.viscosity = region->viscosity;
  PetscCall(FluidCreate(simulation->grid, &simulation->gas_config, &simulation->gas));
  PetscCall(SimulationSetInitialValues(simulation, simulation->gas));
  PetscCall(MacGridCreateField(simulation->grid, &simulation->gas_closed));
  PetscCall(MacGridCreateFaceField(simulation->grid, simulation->gas_velocity));
  PetscCall(PlaceLiquids(simulation));
  PetscFunctionReturn(0);
}

static PetscErrorCode Start(Simulation simulation, PetscBool *good)
{
  PetscFunctionBegin;
  PetscCall(PlaceLiquids(simulation));
  PetscCall(FluidStart(simulation->gas, good));
  PetscFunctionReturn(0);
}

static PetscErrorCode GetLimit(Simulation simulation, const StepBounds *bounds, PetscReal *limit)
{
  PetscFunctionBegin;
  if (bounds->carries)
    PetscCall(FluidGetTimeStepLimit(simulation->gas, bounds->cells, limit));
  PetscFunctionReturn(0);
}

PetscErrorCode SimulationStepGas(Simulation simulation, PetscReal dt)
{
  Vec      *velocity, *scalars;
  PetscBool good;

  PetscFunctionBegin;
  if (!simulation->gas)
    PetscFunctionReturn(0);
  PetscCall(PlaceLiquids(simulation));
  PetscCall(FluidPredict(simulation->gas, dt));
  PetscCall(FluidGetPrediction(simulation->gas, &velocity, &scalars));
  PetscCall(SimulationHoldScalars(simulation, simulation->time + dt, scalars));
  PetscCall(FluidProjectPrediction(simulation->gas, dt, PETSC_MAX_REAL, &good));
  if (!good) {
    PetscCall(FluidForgetPrediction(simulation->gas));
    simulation->gas_failures++;
  }
  PetscFunctionReturn(0);
}

/* Each face as it flows there: that of the gas where no cell of the face is a liquid's. */
PetscErrorCode SimulationJoinVelocities(Simulation simulation, Vec faces[DIM])
{
  const GridBox   *box = grid_box(simulation->grid);
  const PetscReal *mark, *gas;
  PetscReal       *u;
  Vec             *liquid, *blown;

  PetscFunctionBegin;
  PetscCall(FluidGetVelocity(simulation->fluid, &liquid));
  PetscCall(FluidGetVelocity(simulation->gas, &blown));
  PetscCall(VecGetArrayRead(simulation->gas_closed, &mark));
  for (PetscInt d = 0; d < box->dimension; d++) {
    PetscCall(VecCopy(liquid[d], faces[d]));
    PetscCall(VecGetArrayRead(blown[d], &gas));
    PetscCall(VecGetArray(faces[d], &u));
    for (PetscInt c = box->stride[d]; c < box->length; c++)
      if (mark[c] == 0. && mark[c - box->stride[d]] == 0.)
        u[c] = gas[c];
    PetscCall(VecRestoreArray(faces[d], &u));
    PetscCall(VecRestoreArrayRead(blown[d], &gas));
  }
  PetscCall(VecRestoreArrayRead(simulation->gas_closed, &mark));
  PetscFunctionReturn(0);
}

static PetscErrorCode Save(Simulation simulation, Archive archive)
{
  PetscFunctionBegin;
  PetscCall(ArchiveEnter(archive, "gas"));
  PetscCall(FluidSave(simulation->gas, archive));
  PetscCall(ArchiveLeave(archive));
  PetscFunctionReturn(0);
}

static PetscErrorCode Load(Simulation simulation, Archive archive)
{
  PetscFunctionBegin;
  PetscCall(ArchiveEnter(archive, "gas"));
  PetscCall(FluidLoad(simulation->gas, archive));
  PetscCall(ArchiveLeave(archive));
  PetscFunctionReturn(0);
}

static PetscErrorCode RecordFailures(Simulation simulation, Record *record)
{
  PetscFunctionBegin;
  record_put(record, simulation->gas_failures, "1", "gas_failures");
  PetscFunctionReturn(0);
}

static PetscErrorCode Destroy(Simulation simulation)
{
  PetscFunctionBegin;
  PetscCall(VecDestroy(&simulation->gas_closed));
  PetscCall(MacGridDestroyFaceField(simulation->gas_velocity));
  PetscCall(FluidDestroy(&simulation->gas));
  PetscFunctionReturn(0);
}

const Part OneWayPart = {.name = "one-way gas",
                         .ranks = PART_ON_FLUID,
                         .is_in = simulation_has_gas,
                         .create = Create,
                         .start = Start,
                         .get_limit = GetLimit,
                         .save = Save,
                         .load = Load,
                         .derive = PlaceLiquids,
                         .record = RecordFailures,
                         .destroy = Destroy};
