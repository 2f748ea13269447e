/* Particles with mass as a part of a run: they take the place of the fluid. */
#include "simulation_impl.h"

PetscBool simulation_has_splash(const SimulationConfig *config)
{
  return config->grid.dimension > 0 && config->splash.particles > 0 ? PETSC_TRUE : PETSC_FALSE;
}

static PetscErrorCode Create(Simulation simulation, char message[], size_t size)
{
  const SimulationConfig *config = simulation->config;
  Shape                  *shapes;

  PetscFunctionBegin;
  (void)message, (void)size;
  PetscCall(SplashCreate(simulation->grid, &config->splash, &simulation->fluid_config, &simulation->splash));
  if (!config->obstacle_count)
    PetscFunctionReturn(0);
  PetscCall(PetscMalloc1(config->obstacle_count, &shapes));
  for (PetscInt n = 0; n < config->obstacle_count; n++)
    shapes[n] = config->obstacles[n].shape;
  PetscCall(SplashSetObstacles(simulation->splash, config->obstacle_count, shapes));
  PetscCall(PetscFree(shapes));
  PetscFunctionReturn(0);
}

static PetscErrorCode Start(Simulation simulation, PetscBool *good)
{
  PetscFunctionBegin;
  (void)good;
  PetscCall(SplashStart(simulation->splash));
  PetscFunctionReturn(0);
}

static PetscErrorCode GetLimit(Simulation simulation, const StepBounds *bounds, PetscReal *limit)
{
  PetscFunctionBegin;
  PetscCall(SplashGetTimeStepLimit(simulation->splash, bounds->cells, limit));
  PetscFunctionReturn(0);
}

static PetscErrorCode Describe(Simulation simulation, Text *layout)
{
  const SplashConfig *splash = &simulation->config->splash;

  PetscFunctionBegin;
  PetscCall(SimulationDescribeGrid(simulation, layout));
  PetscCall(TextAppend(layout, ", with a splash of %" PetscInt_FMT " particles along a cell%s",
                       splash->particles, splash->transfer == TRANSFER_APIC ? " and their gradients" : ""));
  PetscFunctionReturn(0);
}

static PetscErrorCode Save(Simulation simulation, Archive archive)
{
  PetscFunctionBegin;
  PetscCall(SplashSave(simulation->splash, archive));
  PetscFunctionReturn(0);
}

static PetscErrorCode Load(Simulation simulation, Archive archive)
{
  PetscFunctionBegin;
  PetscCall(SplashLoad(simulation->splash, archive));
  PetscFunctionReturn(0);
}

static PetscErrorCode WriteFrame(Simulation simulation, FrameSeries frames)
{
  PetscFunctionBegin;
  PetscCall(SplashWriteFrame(simulation->splash, frames));
  PetscFunctionReturn(0);
}

static void record_solve(Record *record, const BoundedReport *report, const char name[])
{
  record_put(record, report->cycles, "1", "%s_cycles", name);
  record_put(record, report->set_ups, "1", "%s_set_ups", name);
  record_put(record, report->residual, "1", "%s_complementarity", name);
  record_put(record, report->overfull, "1", "%s_overfull", name);
}

static PetscErrorCode RecordSplash(Simulation simulation, Record *record)
{
  const PetscInt      dimension = grid_box(simulation->grid)->dimension;
  const SplashReport *report = splash_report(simulation->splash);
  SplashTotals        totals;

  PetscFunctionBegin;
  PetscCall(SplashGetTotals(simulation->splash, &totals));
  record_put(record, (PetscReal)totals.particles, "1", "particles");
  record_put(record, (PetscReal)report->left, "1", "particles_left");
  record_put(record, totals.mass, "kg", "mass");
  record_put_vector(record, totals.momentum, dimension, "kg m/s", "momentum");
  record_put(record, totals.kinetic_energy, "J", "kinetic_energy");
  record_put(record, totals.largest_speed, "m/s", "speed_max");
  for (PetscInt d = 0; d < dimension; d++)
    record_put(record, totals.moment[d] / PetscMax(totals.mass, PETSC_MACHINE_EPSILON), "m", "centre_%c",
               "xyz"[d]);
  record_put_vector(record, totals.highest, dimension, "m", "highest");
  record_put(record, report->smallest_pressure, "Pa", "pressure_min");
  record_put(record, report->travel, "1", "cfl");
  if (simulation->config->splash.pressure == SPLASH_BILATERAL) {
    record_put(record, report->poisson.iterations, "1", "pressure_iterations");
    PetscFunctionReturn(0);
  }
  record_put(record, report->largest_density, "1", "density_max");
  record_put(record, report->corrected_density, "1", "density_corrected");
  record_solve(record, &report->correction, "correction");
  record_solve(record, &report->velocity, "pressure");
  PetscFunctionReturn(0);
}

static PetscErrorCode RecordTimes(Simulation simulation, Record *record)
{
  const SplashReport *report = splash_report(simulation->splash);

  PetscFunctionBegin;
  record_put(record, report->wall_raster, "s", "wall_raster");
  record_put(record, report->wall_solve, "s", "wall_solve");
  record_put(record, report->wall_extrapolate, "s", "wall_extrapolate");
  record_put(record, report->wall_move, "s", "wall_move");
  PetscFunctionReturn(0);
}

/* 9 fields in cells and 7 on faces; the arrays of the complementarity problem count as solver vectors. */
static PetscReal count_fields(const SimulationConfig *config)
{
  return 9 + 7 * config->grid.dimension + 10;
}

static PetscErrorCode Destroy(Simulation simulation)
{
  PetscFunctionBegin;
  PetscCall(SplashDestroy(&simulation->splash));
  PetscFunctionReturn(0);
}

PetscErrorCode SimulationStepSplash(Simulation simulation, PetscReal dt, PetscBool *good)
{
  PetscFunctionBegin;
  if (simulation->splash_bodies)
    PetscCall(SimulationStepSplashBodies(simulation, dt, good));
  else if (simulation->splash)
    PetscCall(SplashStep(simulation->splash, simulation->time, dt, good));
  if (simulation->splash)
    simulation->too_fast = !*good && splash_has_converged(simulation->splash);
  PetscFunctionReturn(0);
}

static PetscErrorCode DescribeFailure(Simulation simulation, char reason[], size_t size)
{
  const SplashReport *report = splash_report(simulation->splash);

  PetscFunctionBegin;
  if (simulation->config->splash.pressure == SPLASH_BILATERAL)
    PetscCall(PetscSNPrintf(reason, size, "the pressure solve ended with %s",
                            KSPConvergedReasons[report->poisson.reason]));
  else
    PetscCall(PetscSNPrintf(reason, size, "the solve for the %s ended after too many iterations",
                            report->correction.converged ? "pressure" : "correction of the density"));
  PetscFunctionReturn(0);
}

static PetscErrorCode Check(Simulation simulation)
{
  Particles particles;

  PetscFunctionBegin;
  PetscCall(SplashGetParticles(simulation->splash, &particles));
  PetscCall(ParticlesCheck(particles));
  PetscFunctionReturn(0);
}

static void describe_work(Simulation simulation, PetscReal rate, ProgressLine *line)
{
  const SplashReport *report = splash_report(simulation->splash);

  line_add(line, NEED_ITERATIONS, "pressure %" PetscInt_FMT " it",
           report->correction.cycles + report->velocity.cycles + report->poisson.iterations);
  if (report->correction.overfull + report->velocity.overfull)
    line_add(line, NEED_ITERATIONS, "sealed parts are overfull");
  line_add(line, NEED_RATE, "%.3g Mcells/s", 1e-6 * (double)rate);
}

/* Whether a particle may stand at a point at the start. */
static PetscBool is_seeded(const SimulationConfig *config, Vector3 point)
{
  for (PetscInt n = 0; n < config->obstacle_count; n++)
    if (shape_is_inside(config->obstacles[n].shape, point))
      return PETSC_FALSE;
  for (PetscInt n = 0; n < config->splash.liquid_count; n++)
    if (shape_is_inside(config->splash.liquids[n].shape, point))
      return PETSC_TRUE;
  return PETSC_FALSE;
}

/* The fraction of the box that particles fill at the start, from samples. */
static PetscReal filled_fraction(const SimulationConfig *config)
{
  enum { SAMPLES = 40 }; /* along each direction */
  const PetscInt layers = config->grid.dimension == 3 ? SAMPLES : 1;
  PetscInt       inside = 0;

  for (PetscInt n = 0; n < SAMPLES * SAMPLES * layers; n++) {
    const PetscInt place[DIM] = {n % SAMPLES, n / SAMPLES % SAMPLES, n / (SAMPLES * SAMPLES)};
    Vector3        point = config->grid.origin;

    for (PetscInt d = 0; d < config->grid.dimension; d++)
      point.at[d] += (place[d] + 0.5) / SAMPLES * config->grid.size.at[d];
    inside += is_seeded(config, point);
  }
  return (PetscReal)inside / (SAMPLES * SAMPLES * layers);
}

/* While a checkpoint is written each is there three times: on its rank, on the one that writes it, and there
   in order, with its place in the order, which qsort keeps twice. */
static PetscReal bytes_of_particles(const SimulationConfig *config, PetscReal particles)
{
  const PetscInt  values = config->splash.transfer == TRANSFER_APIC ? DIM + DIM * DIM : DIM;
  const PetscReal one = sizeof(Vector3) + sizeof(PetscInt64) + values * sizeof(PetscReal);

  return particles * (3. * one + 6. * sizeof(PetscInt64));
}

static void estimate_particles(const SimulationConfig *config, SimulationEstimate *estimate)
{
  estimate->particles = filled_fraction(config) * (PetscReal)estimate->cell_count *
                        PetscPowRealInt(config->splash.particles, config->grid.dimension);
  estimate->bytes += bytes_of_particles(config, estimate->particles);
}

/* It falls from the top of its liquid to the floor, or begins with a speed. */
static PetscReal expect_speed(const SimulationConfig *config)
{
  const Vector3 gravity = config->fluid.gravity;
  PetscReal     square = 0., fastest = 0.;

  for (PetscInt n = 0; n < config->splash.liquid_count; n++) {
    Vector3   low, high;
    PetscReal fall = 0.;

    shape_bounds(config->splash.liquids[n].shape, &low, &high);
    for (PetscInt d = 0; d < config->grid.dimension; d++) {
      const PetscReal bottom = config->grid.origin.at[d], top = bottom + config->grid.size.at[d];

      fall += gravity.at[d] < 0. ? -gravity.at[d] * (PetscMin(high.at[d], top) - bottom)
                                 : gravity.at[d] * (top - PetscMax(low.at[d], bottom));
    }
    square = PetscMax(square, 2. * fall);
    fastest = PetscMax(fastest, largest_component(&config->grid, config->splash.liquids[n].velocity, 0.));
  }
  for (PetscInt n = 0; n < config->splash.source_count; n++)
    for (PetscInt d = 0; d < config->grid.dimension; d++)
      fastest = PetscMax(fastest, PetscAbsReal(config->splash.sources[n].velocity.at[d]));
  return PetscSqrtReal(square + fastest * fastest);
}

/* Those of cells are counted already. */
static PetscErrorCode AddWork(Simulation simulation, PetscReal work[])
{
  const GridBox  *box = grid_box(simulation->grid);
  const GridRange owned = box_grown(box, 0);
  Particles       particles;
  ParticleView    view;

  PetscFunctionBegin;
  PetscCall(SplashGetParticles(simulation->splash, &particles));
  PetscCall(ParticlesGetView(particles, &view));
  FOR_CELLS(&owned, i, j, k) {
    const PetscInt n = box_owned_number(box, i, j, k);

    work[box_index(box, i, j, k)] += WORK_ON_PARTICLE * (view.first[n + 1] - view.first[n]);
  }
  PetscFunctionReturn(0);
}

const Part SplashPart = {.name = "splash",
                         .ranks = PART_ON_FLUID,
                         .is_in = simulation_has_splash,
                         .create = Create,
                         .start = Start,
                         .get_limit = GetLimit,
                         .describe = Describe,
                         .save = Save,
                         .load = Load,
                         .add_work = AddWork,
                         .write_frame = WriteFrame,
                         .record = RecordSplash,
                         .record_times = RecordTimes,
                         .describe_work = describe_work,
                         .describe_failure = DescribeFailure,
                         .tolerance = "splash.tolerance",
                         .estimate = estimate_particles,
                         .expect_speed = expect_speed,
                         .count_fields = count_fields,
                         .check = Check,
                         .destroy = Destroy};
