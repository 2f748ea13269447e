/* millrace check: what a scene needs, without running it. */
#include "commands.h"

/* Bodies and joints that cannot be become problems of the scene. */
static PetscErrorCode Estimate(Scene scene, PetscMPIInt ranks, SimulationEstimate *estimate)
{
  char message[1024];

  PetscFunctionBegin;
  PetscCall(SimulationConfigEstimate(scene_config(scene), ranks, estimate, message, sizeof(message)));
  if (message[0])
    PetscCall(SceneAddMessage(scene, message));
  PetscFunctionReturn(0);
}

/* One step on the ranks that are there. */
static PetscErrorCode TimeStep(Scene scene, const SimulationEstimate *estimate, int *code)
{
  Simulation  simulation = NULL;
  PetscReal   seconds = 0.;
  PetscMPIInt size;
  char        message[1024] = "";

  PetscFunctionBegin;
  *code = EXIT_BAD_INPUT;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(SceneCreateSimulation(scene, &simulation, message, sizeof(message)));
  if (!simulation && !message[0])
    PetscCall(SceneReport(scene, stderr));
  if (simulation) {
    *code = EXIT_NUMERICS;
    PetscCall(SimulationMeasureStep(simulation, &seconds, message, sizeof(message)));
  }
  if (message[0])
    (void)refuse("%s", message);
  else if (simulation) {
    *code = EXIT_DONE;
    PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                          "wall time  %.3g s for the first step on %d rank%s: about %.3g s for the run\n",
                          (double)seconds, size, size == 1 ? "" : "s", (double)(seconds * estimate->steps)));
  }
  PetscCall(SimulationDestroy(&simulation));
  PetscFunctionReturn(0);
}

PetscErrorCode CommandCheck(const Arguments *arguments, int *code)
{
  SimulationEstimate estimate;
  PetscMPIInt        rank, size;
  char               message[1024] = "";
  Scene              scene;

  PetscFunctionBegin;
  if (!arguments->target) {
    *code = refuse_with_usage("check needs a scene");
    PetscFunctionReturn(0);
  }
  if (arguments->step && arguments->ranks) {
    *code =
        refuse("%s", "check --step measures on the ranks that it is given (mpiexec -n N): leave --ranks out");
    PetscFunctionReturn(0);
  }
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  if (arguments->ranks)
    size = (PetscMPIInt)arguments->ranks;
  PetscCall(SceneRead(PETSC_COMM_WORLD, arguments->target, arguments->set_count, arguments->sets, &scene));
  *code = EXIT_BAD_INPUT;
  if (scene_is_good(scene))
    PetscCall(SceneCheckOptionValues(scene, arguments->reach));
  if (scene_is_good(scene)) {
    PetscCall(SimulationConfigCheckRanks(scene_config(scene), size, message, sizeof(message)));
    if (message[0])
      (void)refuse("%s", message);
    else
      PetscCall(Estimate(scene, size, &estimate));
  }
  PetscCall(SceneReport(scene, stderr));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  if (scene_is_good(scene) && !message[0]) {
    if (rank == 0)
      print_estimate(scene_config(scene), &estimate, stdout);
    *code = EXIT_DONE;
    if (arguments->step)
      PetscCall(TimeStep(scene, &estimate, code));
  }
  PetscCall(SceneDestroy(&scene));
  PetscFunctionReturn(0);
}
