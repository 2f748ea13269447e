/* Bodies in a flow: the fluid sees them as obstacles that move as they do. */
#include "flow.h"
#include "harness.h"

#define BOX                                                                                                  \
  "grid: {size: [1, 0.75, 0.75], resolution: 16}\n"                                                          \
  "run: {end_time: 1, frame_interval: 1}\n"                                                                  \
  "fluid: {density: 1, viscosity: 0.01}\n"
#define BALL "shape: {sphere: {center: [0.3, 0.375, 0.375], radius: 0.15}}"

static void assert_same_velocity(Flow *flow, Flow *other)
{
  for (PetscInt d = 0; d < DIM; d++) {
    Vec            ours, theirs;
    PetscReal      largest = 0.;
    PetscErrorCode error = 0;

    if (flow->fluid) {
      error = FlowGetField(flow, d, &ours);
      if (!error)
        error = FlowGetField(other, d, &theirs);
      if (!error)
        error = VecAXPY(ours, -1., theirs);
      if (!error)
        error = VecNorm(ours, NORM_INFINITY, &largest);
    }
    assert_success(error);
    assert_near(largest, 0., 1e-12);
  }
}

/* With solid_ranks 0 both flows lie on the ranks in the same way. */
static void a_kinematic_body_is_an_obstacle_with_its_motion(void **state)
{
  Flow body, obstacle;

  (void)state;
  assert_success(FlowCreate(PETSC_COMM_WORLD, &body, "%s",
                            BOX "parallel: {solid_ranks: 0}\n"
                                "solids: {bodies: [{name: ball, type: kinematic, " BALL
                                ", motion: {pivot: [0.3, 0.375, 0.375], velocity: [0.5, 0, 0], spin: [0, 0, "
                                "2]}}]}\n"));
  assert_success(FlowCreate(PETSC_COMM_WORLD, &obstacle, "%s",
                            BOX "obstacles: [{name: ball, " BALL ", motion: {pivot: [0.3, 0.375, 0.375], "
                                "velocity: [0.5, 0, 0], spin: [0, 0, 2]}}]\n"));
  assert_success(FlowStep(&body, 12, 0.05));
  assert_success(FlowStep(&obstacle, 12, 0.05));
  assert_same_velocity(&body, &obstacle);
  assert_success(FlowDestroy(&body));
  assert_success(FlowDestroy(&obstacle));
}

static void a_body_falls_as_if_there_were_no_fluid_and_drags_it_along(void **state)
{
  PetscReal below = 0.;
  BodyView  ball;
  Flow      flow;

  (void)state;
  assert_success(FlowCreate(PETSC_COMM_WORLD, &flow, "%s",
                            BOX "solids: {gravity: [1, 0, 0], bodies: [{name: ball, " BALL "}]}\n"));
  assert_success(FlowStep(&flow, 10, 0.05));
  ball = solid_body_view(simulation_solid(flow.simulation), 0);
  assert_near(ball.position.at[X], 0.3 + 0.5 * 0.25, 1e-12);
  assert_near(ball.velocity.at[X], 0.5, 1e-12);
  if (flow.fluid) {
    assert_int_equal(FlowSample(&flow, X, vector3(0.6, 0.375, 0.375), &below), 0);
    below = PetscMin(below, 1.);
  }
  assert_success(MPI_Bcast(&below, 1, MPIU_REAL, 0, PETSC_COMM_WORLD));
  assert_on_all_ranks(below > 0.1);
  assert_success(FlowDestroy(&flow));
}

TEST_MAIN(cmocka_unit_test(a_kinematic_body_is_an_obstacle_with_its_motion),
          cmocka_unit_test(a_body_falls_as_if_there_were_no_fluid_and_drags_it_along))
