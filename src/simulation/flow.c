/* The fluid that fills the box: its grid, its step where no bodies move in it, and what it shows of itself.
 */
#include "simulation_impl.h"

#include <millrace/elastic.h>
#include <millrace/fluid_step.h>

static PetscErrorCode CreateBox(Simulation simulation, char message[], size_t size)
{
  const SimulationConfig *config = simulation->config;

  PetscFunctionBegin;
  PetscCall(MacGridCreateDivided(team_fluid(simulation->team), &config->grid,
                                 simulation->partition.parts[X] ? &simulation->partition : NULL,
                                 &simulation->grid));
  simulation->fluid_config = config->fluid;
  if (simulation_has_splash(config))
    PetscFunctionReturn(0);
  if (simulation_has_gas(config))
    simulation->fluid_config.scalar_count = 0;
  PetscCall(FluidCreate(simulation->grid, &simulation->fluid_config, &simulation->fluid));
  PetscCall(SimulationReadInitialFrame(simulation, message, size));
  PetscCall(SimulationSetInitialValues(simulation, simulation->fluid));
  PetscFunctionReturn(0);
}

static PetscErrorCode DestroyBox(Simulation simulation)
{
  PetscFunctionBegin;
  PetscCall(FluidDestroy(&simulation->fluid));
  PetscCall(SimulationDropInitialFrame(simulation));
  PetscCall(MacGridDestroy(&simulation->grid));
  PetscFunctionReturn(0);
}

/* With bodies, these start it. */
static PetscErrorCode Start(Simulation simulation, PetscBool *good)
{
  PetscFunctionBegin;
  if (simulation->coupled)
    PetscFunctionReturn(0);
  PetscCall(FluidStart(simulation->fluid, good));
  if (*good)
    PetscCall(SimulationExtendVelocity(simulation));
  PetscFunctionReturn(0);
}

static PetscErrorCode GetLimit(Simulation simulation, const StepBounds *bounds, PetscReal *limit)
{
  PetscFunctionBegin;
  if (bounds->carries)
    PetscCall(FluidGetTimeStepLimit(simulation->fluid, bounds->cells, limit));
  PetscFunctionReturn(0);
}

/* At the middle and at the end of the step. */
static PetscErrorCode GetGivenLimit(Simulation simulation, const StepBounds *bounds, PetscReal dt,
                                    PetscReal *limit)
{
  PetscFunctionBegin;
  for (PetscInt half = 1; half <= 2; half++) {
    PetscReal other;

    PetscCall(
        FluidGetGivenLimit(simulation->fluid, bounds->cells, simulation->time + 0.5 * half * dt, &other));
    *limit = PetscMin(*limit, other);
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode Restore(Simulation simulation)
{
  PetscFunctionBegin;
  PetscCall(FluidForgetPrediction(simulation->fluid));
  PetscFunctionReturn(0);
}

PetscErrorCode SimulationDescribeGrid(Simulation simulation, Text *layout)
{
  const GridBox *box = grid_box(simulation->grid);
  const Vector3  origin = grid_origin(simulation->grid);

  PetscFunctionBegin;
  PetscCall(TextAppend(layout,
                       "%s%" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT " cells (%" PetscInt_FMT
                       "-D) of %.10g m from [%.10g, %.10g, %.10g]",
                       layout->length ? ", in " : "", box->cells[X], box->cells[Y], box->cells[Z],
                       box->dimension, (double)grid_spacing(simulation->grid), (double)origin.at[X],
                       (double)origin.at[Y], (double)origin.at[Z]));
  for (PetscInt d = 0; d < box->dimension; d++)
    if (box->periodic[d])
      PetscCall(TextAppend(layout, ", periodic along %c", "xyz"[d]));
  PetscFunctionReturn(0);
}

static PetscErrorCode Describe(Simulation simulation, Text *layout)
{
  const FluidConfig *fluid = &simulation->config->fluid;

  PetscFunctionBegin;
  PetscCall(SimulationDescribeGrid(simulation, layout));
  for (PetscInt s = 0; s < fluid->scalar_count; s++)
    PetscCall(TextAppend(layout, "%s%s", s ? ", " : " with ", fluid->scalars[s].name));
  PetscFunctionReturn(0);
}

static PetscErrorCode Save(Simulation simulation, Archive archive)
{
  PetscFunctionBegin;
  PetscCall(FluidSave(simulation->fluid, archive));
  PetscFunctionReturn(0);
}

static PetscErrorCode Load(Simulation simulation, Archive archive)
{
  PetscReal time;

  PetscFunctionBegin;
  PetscCall(FluidLoad(simulation->fluid, archive));
  time = fluid_time(simulation->fluid);
  if (!(PetscAbsReal(time - simulation->time) <= 1e-9 * simulation->time))
    PetscCall(ArchiveRefuse(archive, "fluid/time", "is %.17g, not the %.17g of the run", (double)time,
                            (double)simulation->time));
  PetscFunctionReturn(0);
}

/* With bodies, these do it once they are placed. */
static PetscErrorCode Derive(Simulation simulation)
{
  PetscFunctionBegin;
  if (!simulation->coupled)
    PetscCall(SimulationExtendVelocity(simulation));
  PetscFunctionReturn(0);
}

/* Of the whole flow, and of each region into its row of `each`, which is null without regions. */
static PetscErrorCode GetRates(Simulation simulation, RegionTotals *all, RegionTotals each[])
{
  const PhaseConfig *phases = &simulation->config->phases;
  PetscReal          density[REGIONS_MAX];
  Vec                regions = NULL;

  PetscFunctionBegin;
  if (!simulation->phase) {
    density[0] = simulation->config->fluid.density;
    PetscCall(FluidGetRegionTotals(simulation->fluid, 1, NULL, density, all));
    PetscFunctionReturn(0);
  }
  for (PetscInt r = 0; r < phases->region_count; r++)
    density[r] = phase_material(simulation->phase, r).kind == REGION_SIMULATED
                     ? phase_material(simulation->phase, r).density
                     : 0.;
  PetscCall(PhaseGetRegions(simulation->phase, &regions));
  PetscCall(FluidGetRegionTotals(simulation->fluid, phases->region_count, regions, density, each));
  *all = (RegionTotals){0};
  for (PetscInt r = 0; r < phases->region_count; r++) {
    all->dissipation += each[r].dissipation;
    all->enstrophy += each[r].enstrophy;
  }
  PetscFunctionReturn(0);
}

static void record_put_rates(Record *record, PetscInt dimension, const RegionTotals *totals, const char of[])
{
  record_put(record, totals->dissipation, "W", "dissipation%s", of);
  record_put(record, totals->enstrophy, dimension == 3 ? "m^3/s^2" : "m^2/s^2", "enstrophy%s", of);
}

static void record_put_region(Simulation simulation, Record *record, PetscInt r, const RegionTotals *totals)
{
  const PhaseConfig *phases = &simulation->config->phases;
  char               of[RECORD_NAME_LENGTH - 20];

  if (!region_is_ever(&phases->regions[r], REGION_SIMULATED))
    return;
  snprintf(of, sizeof(of), "_%s", phases->regions[r].name);
  record_put(record, totals->kinetic_energy, "J", "kinetic_energy%s", of);
  record_put_rates(record, simulation->config->grid.dimension, totals, of);
  record_put(record, totals->largest_speed, "m/s", "speed_max%s", of);
}

static PetscErrorCode RecordTotals(Simulation simulation, Record *record)
{
  const GridBox *box = grid_box(simulation->grid);
  RegionTotals   all, each[REGIONS_MAX];
  FluidTotals    totals;

  PetscFunctionBegin;
  PetscCall(FluidGetTotals(simulation->fluid, &totals));
  PetscCall(GetRates(simulation, &all, each));
  record_put(record, totals.mass, "kg", "mass");
  record_put_vector(record, totals.momentum, box->dimension, "kg m/s", "momentum");
  record_put(record, totals.kinetic_energy, "J", "kinetic_energy");
  record_put_rates(record, box->dimension, &all, "");
  record_put(record, totals.largest_speed, "m/s", "speed_max");
  if (!simulation->coupled)
    record_put(record, totals.largest_divergence, "1/s", "divergence_max");
  for (PetscInt axis = 0; axis < box->dimension; axis++)
    for (PetscInt side = 0; side < 2; side++)
      if (!box->periodic[axis])
        record_put(record, totals.outflow[axis][side], "m^3/s", "outflow_%c_%s", "xyz"[axis],
                   side ? "high" : "low");
  for (PetscInt r = 0; r < simulation->config->phases.region_count; r++)
    record_put_region(simulation, record, r, &each[r]);
  PetscFunctionReturn(0);
}

static PetscErrorCode RecordScalars(Simulation simulation, Record *record)
{
  const FluidConfig *config = &simulation->config->fluid;

  PetscFunctionBegin;
  for (PetscInt s = 0; s < config->scalar_count; s++) {
    PetscReal total;

    PetscCall(FluidGetScalarTotal(simulation_carrier(simulation), s, &total));
    record_put(record, total, "m^3", "total_%s", config->scalars[s].name);
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode RecordFlow(Simulation simulation, Record *record)
{
  const FluidReport *report = fluid_report(simulation->fluid);

  PetscFunctionBegin;
  record_put(record, simulation_travel(simulation), "1", "cfl");
  PetscCall(RecordTotals(simulation, record));
  PetscCall(RecordScalars(simulation, record));
  if (!simulation->coupled) {
    record_put(record, report->pressure.iterations, "1", "pressure_iterations");
    record_put(record, report->pressure.residual, "1", "pressure_residual");
    record_put(record, report->pressure.null_vectors, "1", "null_vectors");
  }
  record_put(record, report->viscosity_iterations, "1", "viscosity_iterations");
  PetscFunctionReturn(0);
}

static PetscErrorCode RecordTimes(Simulation simulation, Record *record)
{
  const FluidReport *report = fluid_report(simulation->fluid);

  PetscFunctionBegin;
  record_put(record, report->wall_advection, "s", "wall_advection");
  record_put(record, report->wall_viscosity, "s", "wall_viscosity");
  if (!simulation->coupled)
    record_put(record, report->wall_projection, "s", "wall_projection");
  PetscFunctionReturn(0);
}

static PetscReal count_fields(const SimulationConfig *config)
{
  const PetscInt dimension = config->grid.dimension;
  PetscBool      diffuses = config->fluid.viscosity > 0.;
  PetscReal      fields = 3 * dimension + 1 + 2; /* velocities, pressure, scratch */

  if (config->fluid.advection == ADVECT_MACCORMACK || config->fluid.advection == ADVECT_SEMI_LAGRANGIAN)
    fields += dimension; /* the feet of trajectories */
  if (config->fluid.advection == ADVECT_MACCORMACK)
    fields += dimension; /* their heads */
  if (config->fluid.advection == ADVECT_CENTRAL &&
      (config->phases.region_count || config->obstacle_count || config->solids.body_count))
    fields += 2 * dimension + 1.5; /* both near surfaces, what they carry, marks */
  if (config->fluid.confinement > 0.)
    fields += dimension + DIM + 1; /* it; vorticity and its size on the way */
  fields += 2 * config->fluid.scalar_count;
  for (PetscInt s = 0; s < config->fluid.scalar_count; s++)
    if (config->fluid.scalars[s].diffusivity > 0.)
      diffuses = PETSC_TRUE;
  return fields + (diffuses ? 1 : 0); /* the residual */
}

PetscErrorCode SimulationStepFlow(Simulation simulation, PetscReal dt, PetscBool *good)
{
  const PetscReal end = simulation->time + dt;
  Vec            *velocity, *scalars;

  PetscFunctionBegin;
  if (simulation_sources_change(simulation->config))
    PetscCall(SimulationPlaceObstacles(simulation, end)); /* S1 */
  PetscCall(SimulationMoveRegions(simulation, dt));       /* F3 */
  if (phase_is_elastic(&simulation->config->phases)) {
    PetscCall(FluidPredictAdvection(simulation->fluid, dt));
    PetscCall(SimulationPullElastically(simulation, dt));
    PetscCall(FluidPredictViscosity(simulation->fluid, dt));
    PetscCall(FluidPredictForces(simulation->fluid, dt));
  } else
    PetscCall(FluidPredict(simulation->fluid, dt)); /* F1, F3 */
  PetscCall(FluidGetPrediction(simulation->fluid, &velocity, &scalars));
  PetscCall(SimulationHoldPrediction(simulation, dt, scalars));
  *good = !fluid_goes_too_far(simulation->fluid);
  if (*good) /* F4 */
    PetscCall(FluidProjectPrediction(simulation->fluid, dt, simulation_farthest(simulation->config), good));
  simulation->too_fast = !*good && fluid_has_converged(simulation->fluid);
  if (*good) {
    PetscCall(SimulationExtendVelocity(simulation));
    PetscCall(SimulationStretchRegions(simulation, dt));
    PetscCall(SimulationStepGas(simulation, dt));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode Check(Simulation simulation)
{
  PetscFunctionBegin;
  PetscCall(FluidCheck(simulation->fluid));
  PetscFunctionReturn(0);
}

static PetscBool has_flow(const SimulationConfig *config)
{
  return config->grid.dimension > 0 && !simulation_has_splash(config) ? PETSC_TRUE : PETSC_FALSE;
}

/* "pressure 12 it  3.1 Mcells/s"; with bodies their part tells. */
static void describe_work(Simulation simulation, PetscReal rate, ProgressLine *line)
{
  if (simulation->coupled)
    return;
  line_add(line, NEED_ITERATIONS, "pressure %" PetscInt_FMT " it",
           fluid_report(simulation->fluid)->pressure.iterations);
  line_add(line, NEED_RATE, "%.3g Mcells/s", 1e-6 * (double)rate);
}

static PetscErrorCode DescribeFailure(Simulation simulation, char reason[], size_t size)
{
  const FluidReport *report = fluid_report(simulation->fluid);

  PetscFunctionBegin;
  if (!report->diffusion_converged)
    PetscCall(PetscSNPrintf(reason, size, "the diffusion solve ended with too many iterations"));
  else
    PetscCall(PetscSNPrintf(reason, size, "the pressure solve ended with %s",
                            KSPConvergedReasons[report->pressure.reason]));
  PetscFunctionReturn(0);
}

/* Fields and solves take about as long in a gas, or where nothing flows, as in a liquid. */
static PetscErrorCode AddWork(Simulation simulation, PetscReal work[])
{
  const GridRange owned = box_grown(grid_box(simulation->grid), 0);

  PetscFunctionBegin;
  FOR_CELLS(&owned, i, j, k)
    work[box_index(grid_box(simulation->grid), i, j, k)] += WORK_IN_CELL;
  PetscFunctionReturn(0);
}

const Part BoxPart = {
    .name = "box", .ranks = PART_ON_FLUID, .create = CreateBox, .add_work = AddWork, .destroy = DestroyBox};

const Part FlowPart = {.name = "flow",
                       .ranks = PART_ON_FLUID,
                       .is_in = has_flow,
                       .start = Start,
                       .get_limit = GetLimit,
                       .get_given_limit = GetGivenLimit,
                       .restore = Restore,
                       .describe = Describe,
                       .check = Check,
                       .save = Save,
                       .load = Load,
                       .derive = Derive,
                       .write_frame = SimulationWriteFields,
                       .record = RecordFlow,
                       .record_times = RecordTimes,
                       .describe_work = describe_work,
                       .describe_failure = DescribeFailure,
                       .tolerance = "fluid.pressure_tolerance or another -pressure_pc_type",
                       .count_fields = count_fields};
