/* A ball sinks through a tank of water: a program that uses libmillrace.

       mpicc falling_ball.c $(pkg-config --cflags --libs millrace) -o falling_ball
       mpiexec -n 2 ./falling_ball falling_ball.yaml [KEY=VALUE]...

   It makes a simulation of the scene, takes its steps and prints how deep the ball is and how fast, which
   the program `millrace` would write to its ledger. */
#include <millrace/millrace.h>

#include <stdio.h>

#if !MILLRACE_VERSION_AT_LEAST(0, 1)
#error "this program needs Millrace 0.1"
#endif

/* Steps until the scene's end; every rank takes part. */
static PetscErrorCode Run(Simulation simulation, PetscReal end)
{
  PetscFunctionBegin;
  PetscCall(SimulationStart(simulation));
  while (simulation_time(simulation) < end * (1. - 1e-12)) {
    PetscReal height, speed, dt;
    PetscBool good;

    PetscCall(SimulationGetTimeStep(simulation, end, &dt));
    PetscCall(SimulationTryStep(simulation, &dt, &good));
    PetscCheck(good, PETSC_COMM_WORLD, PETSC_ERR_NOT_CONVERGED, "The step after t = %g s failed",
               (double)simulation_time(simulation));
    PetscCall(SimulationGetRecord(simulation, "position_ball_y", &height));
    PetscCall(SimulationGetRecord(simulation, "velocity_ball_y", &speed));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "t %.4f s  height %.6f m  velocity %.6f m/s\n",
                          (double)simulation_time(simulation), (double)height, (double)speed));
  }
  PetscFunctionReturn(0);
}

/* `code` is 2 if the scene is refused, with the reasons on stderr. */
static PetscErrorCode RunScene(const char path[], PetscInt override_count, char *overrides[], int *code)
{
  Simulation simulation = NULL;
  char       message[1024];
  Scene      scene;

  PetscFunctionBegin;
  PetscCall(SceneRead(PETSC_COMM_WORLD, path, override_count, (const char *const *)overrides, &scene));
  PetscCall(SceneCreateSimulation(scene, &simulation, message, sizeof(message)));
  PetscCall(SceneReport(scene, stderr));
  if (message[0])
    PetscCall(PetscFPrintf(PETSC_COMM_WORLD, stderr, "%s\n", message));
  *code = simulation ? 0 : 2;
  if (simulation)
    PetscCall(Run(simulation, scene_config(scene)->run.end_time));
  PetscCall(SimulationDestroy(&simulation));
  PetscCall(SceneDestroy(&scene));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  int code = 2;

  PetscCall(PetscInitialize(NULL, NULL, NULL, NULL));
  if (argc > 1)
    PetscCall(RunScene(argv[1], argc - 2, argv + 2, &code));
  else
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "falling_ball SCENE [KEY=VALUE]... with millrace %s\n",
                          millrace_version()));
  PetscCall(PetscFinalize());
  return code;
}
