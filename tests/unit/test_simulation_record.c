/* What programs ask of a simulation: the quantities of the ledger by name, on all ranks. */
#include "scene_run.h"
#include "harness.h"

#include <math.h>

static void the_ledger_answers_by_name_on_all_ranks(void **state)
{
  PetscReal mass, time, energy, position, all[2];
  SceneRun  flow;

  (void)state;
  assert_success(SceneRunCreate(
      PETSC_COMM_WORLD, &flow,
      "grid: {dimension: 2, size: [1, 1], resolution: 16}\n"
      "fluid: {density: 3, gravity: [0, -9.81], sides: {y_high: {type: wall, velocity: [1, 0]}}}\n"
      "solids:\n  bodies:\n"
      "    - {name: ball, density: 2, shape: {sphere: {center: [0.5, 0.5], radius: 0.2}}}\n"));
  assert_success(SceneRunStep(&flow, 2, 0.005));
  assert_success(SimulationGetRecord(flow.simulation, "time", &time));
  assert_near(time, simulation_time(flow.simulation), 0.);
  assert_success(SimulationGetRecord(flow.simulation, "mass", &mass));
  assert_on_all_ranks(mass > 2.5 && mass < 3.5);
  assert_success(SimulationGetRecord(flow.simulation, "kinetic_energy", &energy));
  all[0] = energy, all[1] = -energy;
  assert_success(MPI_Allreduce(MPI_IN_PLACE, all, 2, MPIU_REAL, MPI_MAX, PETSC_COMM_WORLD));
  assert_on_all_ranks(energy > 0. && all[0] == -all[1]);
  assert_success(SimulationGetRecord(flow.simulation, "position_ball_y", &position));
  assert_near(position, solid_body_view(simulation_solid(flow.simulation), 0).position.at[Y], 0.);
  assert_success(SceneRunDestroy(&flow));
}

static void an_unknown_quantity_is_refused(void **state)
{
  PetscReal value;
  SceneRun  flow;

  (void)state;
  assert_success(SceneRunCreate(PETSC_COMM_WORLD, &flow,
                                "grid: {dimension: 2, size: [1, 1], resolution: 16}\n"
                                "fluid: {density: 1}\n"));
  assert_refused(SimulationGetRecord(flow.simulation, "kinetic", &value));
  assert_success(SceneRunDestroy(&flow));
}

static void a_step_checks_invariants_if_asked_to(void **state)
{
  PetscReal *twists, dt = 0.005;
  PetscInt   count;
  PetscBool  good;
  SceneRun   flow;

  (void)state;
  assert_success(PetscOptionsSetValue(NULL, "-check_invariants", "true"));
  assert_success(
      SceneRunCreate(PETSC_COMM_WORLD, &flow,
                     "solids:\n  bodies:\n"
                     "    - {name: ball, density: 2, shape: {sphere: {center: [0, 0, 0], radius: 0.2}}}\n"));
  assert_success(SimulationTryStep(flow.simulation, &dt, &good));
  assert_success(SimulationCheckInvariants(flow.simulation));
  assert_success(SolidGetState(simulation_solid(flow.simulation), &count, &twists));
  twists[0] = (PetscReal)NAN;
  assert_refused(SimulationCheckInvariants(flow.simulation));
  assert_success(SceneRunDestroy(&flow));
  assert_success(PetscOptionsClearValue(NULL, "-check_invariants"));
}

/* Balls that rest on the floor of a tank, so that all parts have something to check. */
static const char tank[] =
    "grid: {dimension: 2, size: [1, 1], resolution: 16}\nrun: {end_time: 1, frame_interval: 1}\n"
    "fluid: {density: 1, viscosity: 0.01, gravity: [0, -10], scalars: [{name: dye}]}\n"
    "solids:\n  bodies:\n"
    "    - {name: left, density: 2, shape: {cylinder: {from: [0.3, 0.2, -0.5], to: [0.3, 0.2, 0.5], radius: "
    "0.2}}}\n"
    "    - {name: right, density: 2, shape: {cylinder: {from: [0.7, 0.2, -0.5], to: [0.7, 0.2, 0.5], radius: "
    "0.2}}}\n";

static PetscErrorCode SpoilVelocity(Simulation simulation)
{
  const GridBox *box = grid_box(simulation_grid(simulation));
  PetscReal     *values;
  Vec           *velocity;

  PetscFunctionBegin;
  PetscCall(FluidGetVelocity(simulation_fluid(simulation), &velocity));
  PetscCall(VecGetArray(velocity[MILLRACE_X], &values));
  values[box_index(box, box->start[MILLRACE_X] + 1, box->start[MILLRACE_Y] + 1, 0)] = (PetscReal)INFINITY;
  PetscCall(VecRestoreArray(velocity[MILLRACE_X], &values));
  PetscFunctionReturn(0);
}

static void a_coupled_step_keeps_all_invariants(void **state)
{
  SceneRun flow;
  Fluid    fluid;

  (void)state;
  assert_success(PetscOptionsSetValue(NULL, "-check_invariants", "true"));
  assert_success(SceneRunCreate(PETSC_COMM_WORLD, &flow, tank));
  assert_success(SceneRunStep(&flow, 3, 0.005));
  fluid = simulation_fluid(flow.simulation);
  assert_success(fluid ? SpoilVelocity(flow.simulation) : 0);
  assert_refused(fluid ? FluidCheck(fluid) : PETSC_ERR_PLIB); /* not all ranks have one */
  assert_success(SceneRunDestroy(&flow));
  assert_success(PetscOptionsClearValue(NULL, "-check_invariants"));
}

TEST_MAIN(cmocka_unit_test(a_coupled_step_keeps_all_invariants),
          cmocka_unit_test(a_step_checks_invariants_if_asked_to),
          cmocka_unit_test(the_ledger_answers_by_name_on_all_ranks),
          cmocka_unit_test(an_unknown_quantity_is_refused))
