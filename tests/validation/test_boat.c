/* The boat of inputs/coupling (thesis, Fig. 5.4), a thin shell denser than water, on half of its grid: it
   floats, a light ball falls in and rocks it, a heavy one sinks it, and the light ball comes back to the
   surface. */
#include "flow.h"
#include "harness.h"
#include "liquid.h"

enum { BOAT, LIGHT, HEAVY, BODIES };

static void start(Flow *flow)
{
  const char *source = getenv("MILLRACE_SOURCE"), *overrides[] = {"grid.resolution=24"};
  char        path[PETSC_MAX_PATH_LEN];

  *flow = (Flow){0};
  assert_success(PetscSNPrintf(path, sizeof(path), "%s/inputs/coupling/boat.yaml", source ? source : "."));
  assert_success(SceneRead(PETSC_COMM_WORLD, path, 1, overrides, &flow->scene));
  assert_success(FlowStart(PETSC_COMM_WORLD, flow));
}

/* Runs on; afterwards the bodies. */
static void look_at(Flow *flow, PetscReal time, BodyView bodies[BODIES])
{
  assert_success(FlowRunUntil(flow, time));
  for (PetscInt b = 0; b < BODIES; b++)
    bodies[b] = solid_body_view(simulation_solid(flow->simulation), b);
  note("at %.2f s the boat is at %.3f m, the light ball at %.3f m, the heavy one at %.3f m", (double)time,
       (double)bodies[BOAT].position.at[Y], (double)bodies[LIGHT].position.at[Y],
       (double)bodies[HEAVY].position.at[Y]);
}

static void a_heavy_ball_sinks_the_boat_that_a_light_one_rocks(void **state)
{
  const PetscReal surface = 0.4, floor_of_hull = 0.07; /* below its center */
  PetscReal       before, after;
  BodyView        bodies[BODIES];
  Flow            flow;

  (void)state;
  start(&flow);
  assert_success(RegionVolume(&flow, 0, &before));
  look_at(&flow, 0.4, bodies);
  assert_on_all_ranks(vector3_norm(bodies[BOAT].spin) > 0.05); /* rocks */
  look_at(&flow, 0.9, bodies);
  assert_near(bodies[BOAT].position.at[Y], surface, 0.06);
  assert_on_all_ranks(bodies[LIGHT].position.at[Y] > bodies[BOAT].position.at[Y] - floor_of_hull);
  look_at(&flow, 1.25, bodies);
  assert_on_all_ranks(bodies[BOAT].position.at[Y] < 0.25);
  look_at(&flow, 2.2, bodies);
  assert_on_all_ranks(bodies[BOAT].position.at[Y] < 0.25);
  assert_near(bodies[HEAVY].position.at[Y], 0.08, 0.01);              /* its radius */
  assert_on_all_ranks(bodies[LIGHT].position.at[Y] > surface - 0.06); /* its radius */
  assert_success(RegionVolume(&flow, 0, &after));
  note("water %+.2f %%", 100. * (double)(after / before - 1.));
  assert_near(after / before, 1., 0.01);
  assert_success(FlowDestroy(&flow));
}

TEST_MAIN(cmocka_unit_test(a_heavy_ball_sinks_the_boat_that_a_light_one_rocks))
