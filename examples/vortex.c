/* A simulation without a scene: its configuration is filled in C, with defaults from the tables that scenes
   are read by. Prints the kinetic energy of a decaying vortex after some steps. */
#include <millrace/millrace.h>

#include <stdio.h>

static PetscErrorCode SetConfig(SimulationConfig *config)
{
  char message[256];

  PetscFunctionBegin;
  PetscCall(ConfigSetDefaults(GridKeys, &config->grid));
  PetscCall(ConfigSetDefaults(FluidKeys, &config->fluid));
  PetscCall(ConfigSetDefaults(RunKeys, &config->run));
  PetscCall(ConfigSetDefaults(TeamKeys, &config->parallel));
  PetscCall(ConfigSetDefaults(CouplingKeys, &config->coupling));
  config->grid.dimension = 2;
  config->grid.size = vector3(1., 1., 1.);
  config->grid.resolution = 32;
  config->run.end_time = config->run.frame_interval = 1.;
  config->fluid.density = 1.;
  config->fluid.viscosity = 0.01;
  for (int d = 0; d < 2; d++)
    PetscCall(FormulaDestroy(&config->fluid.initial_velocity[d]));
  PetscCall(
      FormulaCreate("sin(pi*x)^2*sin(2*pi*y)", &config->fluid.initial_velocity[0], message, sizeof(message)));
  PetscCall(FormulaCreate("-sin(2*pi*x)*sin(pi*y)^2", &config->fluid.initial_velocity[1], message,
                          sizeof(message)));
  PetscFunctionReturn(0);
}

static PetscErrorCode Run(Simulation simulation, PetscInt steps)
{
  PetscReal energy, dt;
  PetscBool good;

  PetscFunctionBegin;
  PetscCall(SimulationStart(simulation));
  for (PetscInt step = 0; step <= steps; step++) {
    PetscCall(SimulationGetRecord(simulation, "kinetic_energy", &energy));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "t %.4f s  kinetic energy %.6e J\n",
                          (double)simulation_time(simulation), (double)energy));
    PetscCall(SimulationGetTimeStep(simulation, 1., &dt));
    PetscCall(SimulationTryStep(simulation, &dt, &good));
    PetscCheck(good, PETSC_COMM_WORLD, PETSC_ERR_NOT_CONVERGED, "A step failed");
  }
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  static SimulationConfig config;
  Simulation              simulation;
  char                    message[1024];

  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(SetConfig(&config));
  PetscCall(SimulationCreate(PETSC_COMM_WORLD, &config, &simulation, message, sizeof(message)));
  PetscCheck(simulation, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "%s", message);
  PetscCall(Run(simulation, 3));
  PetscCall(SimulationDestroy(&simulation));
  PetscCall(ConfigDestroyDefaults(FluidKeys, &config.fluid));
  PetscCall(PetscFinalize());
  return 0;
}
