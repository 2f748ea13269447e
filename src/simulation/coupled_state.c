/* Bodies in a fluid: what a run holds for them, and their part of a checkpoint. */
#include "coupled_impl.h"

PetscBool simulation_is_coupled(const SimulationConfig *config)
{
  return config->grid.dimension && !simulation_has_splash(config) &&
                 config->solids.body_count + config->solids.mesh_count > 0
             ? PETSC_TRUE
             : PETSC_FALSE;
}

PetscBool simulation_stands_still(const SimulationConfig *config)
{
  if (!simulation_is_coupled(config) || config->solids.mesh_count)
    return PETSC_FALSE;
  for (PetscInt b = 0; b < config->solids.body_count; b++)
    if (config->solids.bodies[b].kind != BODY_STATIC || config->solids.bodies[b].thickness > 0.)
      return PETSC_FALSE;
  return PETSC_TRUE;
}

PetscBool simulation_solves_pressure(const SimulationConfig *config)
{
  return !simulation_is_coupled(config) || simulation_stands_still(config) || simulation_has_gas(config)
             ? PETSC_TRUE
             : PETSC_FALSE;
}

static PetscErrorCode CreateFields(Simulation simulation)
{
  struct Coupled    *coupled = simulation->coupled;
  const FluidConfig *fluid = &simulation->config->fluid;
  OuterDensities     outer;

  PetscFunctionBegin;
  for (PetscInt n = 0; n < 2 * DIM; n++)
    outer[n / 2][n % 2] = (OuterDensity){fluid->density, fluid->density};
  PetscCall(MacGridCreateField(simulation->grid, &coupled->covered));
  PetscCall(MacGridCreateField(simulation->grid, &coupled->impulse));
  PetscCall(MacGridCreateFaceField(simulation->grid, coupled->faces));
  PetscCall(MacGridCreateFaceField(simulation->grid, coupled->star));
  if (simulation->config->phases.region_count) {
    PetscCall(MacGridCreateField(simulation->grid, &coupled->parts));
    PetscCall(MacGridCreateField(simulation->grid, &coupled->placed_parts));
    PetscFunctionReturn(0);
  }
  PetscCall(MixtureCreate(simulation->grid, &coupled->uniform));
  PetscCall(MixtureSetUniform(simulation->grid, fluid->density, fluid->viscosity, &coupled->uniform));
  PetscCall(FluidBalanceOpenSides(simulation->fluid, (const OuterDensity(*)[2])outer, INFLOW_IS_FREE,
                                  coupled->uniform.jump));
  PetscCall(FluidSetMixture(simulation->fluid, &coupled->uniform));
  PetscFunctionReturn(0);
}

static PetscErrorCode Create(Simulation simulation, char message[], size_t size)
{
  CouplingConfig  config = simulation->config->coupling;
  struct Coupled *coupled;
  PetscInt        all;

  PetscFunctionBegin;
  (void)message, (void)size;
  PetscCall(PetscNew(&coupled));
  simulation->coupled = coupled;
  coupled->count = TWIST * (solid_body_count(simulation->solid) + solid_deforming_count(simulation->solid));
  coupled->points = solid_point_numbers(simulation->solid);
  coupled->has_free_bodies = solid_deforming_count(simulation->solid) ? PETSC_TRUE : PETSC_FALSE;
  coupled->stands_still = simulation_stands_still(simulation->config);
  if (coupled->stands_still) { /* then it is a pressure as that of a fluid alone */
    config.prefix = "pressure_";
    config.tolerance = simulation->config->fluid.pressure_tolerance;
  }
  for (PetscInt b = 0; b < solid_body_count(simulation->solid); b++)
    if (solid_coupled_body(simulation->solid, b).is_free)
      coupled->has_free_bodies = PETSC_TRUE;
  all = coupled->count + coupled->points;
  PetscCall(PetscCalloc4(all, &coupled->acceleration, coupled->count, &coupled->wanted, coupled->count,
                         &coupled->solved, all, &coupled->dragged));
  PetscCall(PetscCalloc3(all, &coupled->started, coupled->count, &coupled->begun,
                         solid_body_count(simulation->solid), &coupled->momentum.bodies));
  PetscCall(PetscCalloc4(all, &coupled->viscous_impulses, coupled->count, &coupled->loads[LOAD_PRESSURE],
                         coupled->count, &coupled->loads[LOAD_VISCOSITY], coupled->count,
                         &coupled->loads[LOAD_ALL]));
  PetscCall(CouplingCreate(simulation->team, simulation->grid, &config, &coupled->coupling));
  if (simulation->grid)
    PetscCall(CreateFields(simulation));
  PetscCall(SimulationPlaceBodies(simulation, SHELLS_STILL, 0.));
  if (!simulation->grid || !simulation->closed_velocity[X])
    PetscFunctionReturn(0);
  PetscCall(SimulationPlaceObstacles(simulation, 0.)); /* sources stop at bodies, now that these are there */
  PetscCall(SimulationCoverCells(simulation));
  PetscFunctionReturn(0);
}

static PetscErrorCode Destroy(Simulation simulation)
{
  struct Coupled *coupled = simulation->coupled;

  PetscFunctionBegin;
  if (!coupled) /* an earlier part was refused */
    PetscFunctionReturn(0);
  PetscCall(SimulationDestroyWatch(simulation));
  PetscCall(CouplingDestroy(&coupled->coupling));
  PetscCall(VecDestroy(&coupled->covered));
  PetscCall(VecDestroy(&coupled->parts));
  PetscCall(VecDestroy(&coupled->placed_parts));
  PetscCall(VecDestroy(&coupled->impulse));
  PetscCall(MacGridDestroyFaceField(coupled->faces));
  PetscCall(MacGridDestroyFaceField(coupled->star));
  if (coupled->uniform.empty)
    PetscCall(MixtureDestroy(&coupled->uniform));
  PetscCall(PetscFree3(coupled->started, coupled->begun, coupled->momentum.bodies));
  PetscCall(PetscFree4(coupled->viscous_impulses, coupled->loads[LOAD_PRESSURE],
                       coupled->loads[LOAD_VISCOSITY], coupled->loads[LOAD_ALL]));
  PetscCall(PetscFree4(coupled->acceleration, coupled->wanted, coupled->solved, coupled->dragged));
  PetscCall(PetscFree(simulation->coupled));
  PetscFunctionReturn(0);
}

static PetscErrorCode SaveCoupled(Simulation simulation, Archive archive)
{
  const struct Coupled *coupled = simulation->coupled;

  PetscFunctionBegin;
  PetscCall(ArchiveWriteShared(archive, "body_accelerations", solid_body_count(simulation->solid), TWIST,
                               coupled->acceleration));
  if (coupled->points)
    PetscCall(ArchiveWriteShared(archive, "point_accelerations", coupled->points / DIM, DIM,
                                 coupled->acceleration + coupled->count));
  PetscFunctionReturn(0);
}

static PetscErrorCode LoadCoupled(Simulation simulation, Archive archive)
{
  struct Coupled *coupled = simulation->coupled;

  PetscFunctionBegin;
  PetscCall(ArchiveReadShared(archive, "body_accelerations", solid_body_count(simulation->solid), TWIST,
                              coupled->acceleration));
  if (coupled->points)
    PetscCall(ArchiveReadShared(archive, "point_accelerations", coupled->points / DIM, DIM,
                                coupled->acceleration + coupled->count));
  PetscFunctionReturn(0);
}

static PetscErrorCode ShareLoaded(Simulation simulation)
{
  struct Coupled *coupled = simulation->coupled;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Bcast(coupled->acceleration, (PetscMPIInt)(coupled->count + coupled->points), MPIU_REAL, 0,
                         team_world(simulation->team)));
  PetscFunctionReturn(0);
}

static PetscErrorCode RecordTimes(Simulation simulation, Record *record)
{
  PetscFunctionBegin;
  record_put_waiting(simulation, record);
  PetscFunctionReturn(0);
}

/* Nine vectors (velocities on their way, weights, marks, ties) and the coupled solve; one fluid is a mixture
   then. */
static PetscReal count_fields(const SimulationConfig *config)
{
  const PetscInt dimension = config->grid.dimension, edges = dimension == 2 ? 1 : DIM;
  PetscReal      fields = 9 * dimension + 22;

  if (!config->phases.region_count)
    fields += 4 * dimension + edges + 2;
  if (!config->phases.region_count && config->fluid.viscosity > 0.)
    fields += 7 * dimension + edges + 4;
  return fields;
}

static PetscErrorCode Check(Simulation simulation)
{
  PetscFunctionBegin;
  PetscCall(CouplingCheck(simulation->coupled->coupling));
  PetscFunctionReturn(0);
}

static void describe_work(Simulation simulation, PetscReal rate, ProgressLine *line)
{
  if (!simulation->fluid)
    return;
  line_add(line, NEED_ITERATIONS, "%s %" PetscInt_FMT " it",
           simulation->coupled->stands_still ? "pressure" : "coupled", simulation->coupled->iterations);
  line_add(line, NEED_RATE, "%.3g Mcells/s", 1e-6 * (double)rate);
}

/* In cells of the fluid and of bodies that lie side by side. */
static PetscErrorCode AddWork(Simulation simulation, PetscReal work[])
{
  const GridBox  *box = simulation->grid ? grid_box(simulation->grid) : NULL;
  const PetscInt *solid = simulation->grid ? simulation_solid_cells(simulation) : NULL;
  GridRange       owned;

  PetscFunctionBegin;
  if (!solid)
    PetscFunctionReturn(0);
  owned = box_grown(box, 0);
  FOR_CELLS(&owned, i, j, k) {
    const PetscInt c = box_index(box, i, j, k);
    PetscBool      meet = PETSC_FALSE;

    for (PetscInt d = 0; d < box->dimension; d++)
      if (!solid[c] != !solid[c - box->stride[d]] || !solid[c] != !solid[c + box->stride[d]])
        meet = PETSC_TRUE;
    if (meet)
      work[c] += WORK_AT_BODY;
  }
  PetscFunctionReturn(0);
}

const Part CoupledPart = {.name = "bodies in a fluid",
                          .ranks = PART_ON_ALL,
                          .is_in = simulation_is_coupled,
                          .create = Create,
                          .start = SimulationStartCoupled,
                          .save = SaveCoupled,
                          .load = LoadCoupled,
                          .add_work = AddWork,
                          .share = ShareLoaded,
                          .derive = SimulationDeriveCoupled,
                          .record = SimulationRecordCoupled,
                          .record_times = RecordTimes,
                          .describe_work = describe_work,
                          .describe_failure = SimulationDescribeCoupledFailure,
                          .tolerance = "coupling.tolerance",
                          .count_fields = count_fields,
                          .check = Check,
                          .destroy = Destroy};
