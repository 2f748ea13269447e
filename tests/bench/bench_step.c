/* What a time step costs beside its projection, and how much memory a cell takes. */
#include <millrace/scene.h>
#include <petsctime.h>
#include <sys/resource.h>

static const char scene_text[] =
    "title: bench\n"
    "grid: {size: [1, 1, 1], resolution: %d}\n"
    "run: {end_time: 100, frame_interval: 100}\n"
    "fluid:\n"
    "  density: 1\n"
    "  viscosity: 1.0e-4\n"
    "  initial: {velocity: [sin(6.28*x)*cos(6.28*y), -cos(6.28*x)*sin(6.28*y), 0.3*sin(6.28*x)]}\n"
    "  sides: {all: wall, y_high: open}\n"
    "obstacles:\n"
    "  - {name: ball, shape: {sphere: {center: [0.5, 0.4, 0.5], radius: 0.15}}}\n";

static PetscReal peak_bytes(void)
{
  struct rusage usage;

  getrusage(RUSAGE_SELF, &usage);
  return 1024. * usage.ru_maxrss;
}

/* Sums over the steps of one run, in seconds. */
typedef struct {
  PetscReal advection, viscosity, projection, all;
} Costs;

static PetscErrorCode Measure(Simulation simulation, PetscInt steps, Costs *costs)
{
  PetscLogDouble began, ended;
  PetscReal      dt;
  PetscBool      good;

  PetscFunctionBegin;
  *costs = (Costs){0., 0., 0., 0.};
  for (PetscInt n = 0; n <= steps; n++) {
    const FluidReport *report = fluid_report(simulation_fluid(simulation));

    PetscCall(PetscTime(&began));
    PetscCall(SimulationGetTimeStep(simulation, 100., &dt));
    PetscCall(SimulationStep(simulation, dt, &good));
    PetscCall(PetscTime(&ended));
    PetscCheck(good, PETSC_COMM_WORLD, PETSC_ERR_NOT_CONVERGED, "Step %" PetscInt_FMT " failed", n);
    if (n == 0)
      continue; /* first touches of memory */
    costs->advection += report->wall_advection;
    costs->viscosity += report->wall_viscosity;
    costs->projection += report->wall_projection;
    costs->all += ended - began;
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode BenchSize(PetscInt resolution, PetscReal fixed_bytes)
{
  char       text[2048];
  Scene      scene;
  Simulation simulation;
  Costs      costs;
  PetscReal  bytes;

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(text, sizeof(text), scene_text, (int)resolution));
  PetscCall(SceneReadText(PETSC_COMM_WORLD, "bench", text, 0, NULL, &scene));
  PetscCheck(scene_is_good(scene), PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "The bench's scene is bad");
  PetscCall(SimulationCreate(PETSC_COMM_WORLD, scene_config(scene), &simulation, text, sizeof(text)));
  PetscCall(SimulationStart(simulation));
  PetscCall(Measure(simulation, 6, &costs));
  bytes = peak_bytes() - fixed_bytes;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPIU_REAL, MPI_SUM, PETSC_COMM_WORLD));
  PetscCall(PetscPrintf(
      PETSC_COMM_WORLD,
      "%4d^3  iterations %2d  advection %.2f  viscosity %.2f  other %.2f  all but the projection %.2f "
      "(target <= 1)  memory %.0f bytes per cell (target <= 500)\n",
      (int)resolution, (int)fluid_report(simulation_fluid(simulation))->pressure.iterations,
      (double)(costs.advection / costs.projection), (double)(costs.viscosity / costs.projection),
      (double)(costs.all / costs.projection - 1. - (costs.advection + costs.viscosity) / costs.projection),
      (double)(costs.all / costs.projection - 1.),
      (double)(bytes / ((PetscReal)resolution * resolution * resolution))));
  PetscCall(SimulationDestroy(&simulation));
  PetscCall(SceneDestroy(&scene));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  PetscReal fixed_bytes;

  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscFunctionBeginUser;
  fixed_bytes = peak_bytes();
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "A step, in units of its projection:\n"));
  PetscCall(BenchSize(32, fixed_bytes));
  PetscCall(BenchSize(64, fixed_bytes));
  PetscCall(BenchSize(96, fixed_bytes));
  PetscCall(PetscFinalize());
  return 0;
}
