/* A breaking dam of particles with mass: what its parts cost, for each particle and beside incompressible
   FLIP, whose pressure is one plain Poisson solve. Its last line on one rank and on two tells what the second
   brings. -size N: cells along the box (64); -flip: only the first way to step and the plain one. */
#include <millrace/splash.h>

#include <string.h>

enum { WARM_UP = 20, STEPS = 10 };

typedef struct {
  GridConfig   grid_config;
  FluidConfig  fluid;
  SplashConfig config;
  SplashLiquid liquid;
  MacGrid      grid;
  Splash       splash;
} Dam;

/* What the measured steps took, and the most that a solve of theirs did. */
typedef struct {
  PetscReal  raster, solve, extrapolate, move; /* s */
  PetscInt   cycles, set_ups;
  PetscInt64 particles;
} DamCost;

/* A way to step. */
typedef struct {
  const char    *name;
  SplashPressure pressure;
  SplashTransfer transfer;
  BoundedSolver  solver;
} Way;
static const Way ways[] = {{"unilateral, FLIP", SPLASH_UNILATERAL, TRANSFER_FLIP, BOUNDED_MPRGP},
                           {"the same, APIC", SPLASH_UNILATERAL, TRANSFER_APIC, BOUNDED_MPRGP},
                           {"FLIP, active-set", SPLASH_UNILATERAL, TRANSFER_FLIP, BOUNDED_ACTIVE_SET},
                           {"FLIP, thesis", SPLASH_UNILATERAL, TRANSFER_FLIP, BOUNDED_THESIS},
                           {"incompressible", SPLASH_BILATERAL, TRANSFER_FLIP, BOUNDED_MPRGP}};
enum { WAYS = sizeof(ways) / sizeof(ways[0]), PLAIN = WAYS - 1 };

/* Across its width, in which it is alike everywhere: as a run divides it that looks where the liquid is. */
static PetscErrorCode CreateGrid(Dam *dam)
{
  PetscInt      cells[DIM], parts[DIM] = {1, 1, 1};
  PetscMPIInt   ranks;
  GridPartition partition;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
  parts[Z] = ranks;
  grid_config_cells(&dam->grid_config, cells);
  PetscCall(GridPartitionCreateEven(cells, parts, &partition));
  PetscCall(MacGridCreateDivided(PETSC_COMM_WORLD, &dam->grid_config, &partition, &dam->grid));
  PetscCall(GridPartitionDestroy(&partition));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateDam(PetscInt size, const Way *way, Dam *dam)
{
  PetscFunctionBegin;
  memset(dam, 0, sizeof(*dam));
  dam->grid_config = (GridConfig){.dimension = 3, .size = vector3(1., 0.75, 0.5), .resolution = size};
  dam->fluid.density = 1000.;
  dam->fluid.gravity = vector3(0., -9.81, 0.);
  PetscCall(ConfigSetDefaults(SplashKeys, &dam->config));
  dam->config.pressure = way->pressure;
  dam->config.transfer = way->transfer;
  dam->config.solver = way->solver;
  dam->config.liquids = &dam->liquid;
  dam->config.liquid_count = 1;
  PetscCall(ShapeCreateBox(vector3(0., 0., 0.), vector3(0.4, 0.5, 0.5), &dam->liquid.shape));
  PetscCall(CreateGrid(dam));
  PetscCall(SplashCreate(dam->grid, &dam->config, &dam->fluid, &dam->splash));
  PetscCall(SplashStart(dam->splash));
  PetscFunctionReturn(0);
}

static PetscErrorCode DestroyDam(Dam *dam)
{
  PetscFunctionBegin;
  PetscCall(SplashDestroy(&dam->splash));
  PetscCall(MacGridDestroy(&dam->grid));
  PetscCall(ShapeDestroy(&dam->liquid.shape));
  PetscFunctionReturn(0);
}

/* A step that would carry liquid too far is halved, as a run does. */
static PetscErrorCode StepDam(Dam *dam, PetscReal *time)
{
  PetscReal dt;
  PetscBool good = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(SplashGetTimeStepLimit(dam->splash, 0.9, &dt));
  for (PetscInt tries = 0; !good; tries++, dt *= 0.5) {
    PetscCheck(tries < 5, PETSC_COMM_WORLD, PETSC_ERR_CONV_FAILED, "A step failed");
    PetscCall(SplashStep(dam->splash, *time, dt, &good));
  }
  *time += dt;
  PetscFunctionReturn(0);
}

static void add_cost(const SplashReport *report, DamCost *cost)
{
  cost->raster += report->wall_raster;
  cost->solve += report->wall_solve;
  cost->extrapolate += report->wall_extrapolate;
  cost->move += report->wall_move;
  cost->cycles = PetscMax(cost->cycles, PetscMax(report->correction.cycles, report->velocity.cycles));
  cost->set_ups = PetscMax(cost->set_ups, PetscMax(report->correction.set_ups, report->velocity.set_ups));
}

static PetscErrorCode MeasureDam(PetscInt size, const Way *way, DamCost *cost)
{
  PetscReal    time = 0.;
  SplashTotals totals;
  Dam          dam;

  PetscFunctionBegin;
  memset(cost, 0, sizeof(*cost));
  PetscCall(CreateDam(size, way, &dam));
  for (PetscInt n = 0; n < WARM_UP; n++)
    PetscCall(StepDam(&dam, &time));
  for (PetscInt n = 0; n < STEPS; n++) {
    PetscCall(StepDam(&dam, &time));
    add_cost(splash_report(dam.splash), cost);
  }
  PetscCall(SplashGetTotals(dam.splash, &totals));
  cost->particles = totals.particles;
  PetscCall(DestroyDam(&dam));
  PetscFunctionReturn(0);
}

static PetscErrorCode Print(const char name[], const DamCost *cost)
{
  const PetscReal each = 1e9 / ((PetscReal)cost->particles * STEPS);

  PetscFunctionBegin;
  PetscCall(PetscPrintf(
      PETSC_COMM_WORLD, "%-18s %9" PetscInt64_FMT " %7.1f %7.1f %7.1f %7.1f %9.1f %6d %6d\n", name,
      cost->particles, each * cost->raster, each * cost->move, each * (cost->raster + cost->move),
      each * cost->extrapolate, 1e3 * cost->solve / STEPS, (int)cost->cycles, (int)cost->set_ups));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  PetscInt    size = 64;
  DamCost     costs[WAYS];
  PetscBool   only_flip = PETSC_FALSE;
  PetscMPIInt ranks;

  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-size", &size, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-flip", &only_flip, NULL));
  for (PetscInt n = 0; n < WAYS; n += only_flip ? PLAIN : 1)
    PetscCall(MeasureDam(size, &ways[n], &costs[n]));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "A dam on %d cells; ns for each particle and step, ms for each solve of a step\n"
                        "%-18s %9s %7s %7s %7s %7s %9s %6s %6s\n",
                        (int)size, "", "particles", "raster", "move", "both", "extend", "solve ms", "cycles",
                        "set-ups"));
  for (PetscInt n = 0; n < WAYS; n += only_flip ? PLAIN : 1)
    PetscCall(Print(ways[n].name, &costs[n]));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "a unilateral solve (two a step) over the plain one: %.2f\n",
                        (double)(0.5 * costs[0].solve / costs[PLAIN].solve)));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
  PetscCall(PetscPrintf(
      PETSC_COMM_WORLD, "a unilateral FLIP step on %d ranks: %.1f ms\n", ranks,
      (double)(1e3 / STEPS * (costs[0].raster + costs[0].solve + costs[0].extrapolate + costs[0].move))));
  PetscCall(PetscFinalize());
  return 0;
}
