/* A cylinder falls in a closed channel onto its floor (B3): d = 0.25, 1.25 times as heavy as the fluid, nu =
   0.1, g = 981, channel 8 d x 24 d, from 16 d. Reference: Koblitz et al. 2017, fig. 6, as digitised for
   basilisk-C: fastest 0.5697 of u_ref = sqrt(pi d / 2 (r - 1) g), heights below; wanted 3 % at 16 cells per
   d. */
#include "scene_run.h"
#include "harness.h"

static const PetscReal diameter = 0.25, unit_speed = 9.814;

/* Time and height, in units of d / u_ref and d. */
static const PetscReal places[][2] = {
    {9.7188679, 12.095675}, {14.674468, 9.338499}, {19.630068, 6.5285651}, {24.493898, 3.7622138}};

static void a_cylinder_falls_as_published(void **state)
{
  const PetscInt count = PETSC_STATIC_ARRAY_LENGTH(places), per_diameter = 16;
  PetscReal      fastest = 0., dt;
  SceneRun       flow;

  (void)state;
  assert_success(
      SceneRunCreate(PETSC_COMM_WORLD, &flow,
                     "grid: {dimension: 2, size: [2, 6], resolution: %d}\n"
                     "fluid: {density: 1, viscosity: 0.1, gravity: [0, -981]}\n"
                     "solids: {bodies: [{name: cylinder, density: 1.25, shape: {sphere: {center: [1, 4], "
                     "radius: 0.125}}}]}\n",
                     (int)(8 * per_diameter)));
  for (PetscInt n = 0; n < count; n++) {
    const PetscReal until = places[n][0] * diameter / unit_speed;
    PetscReal       height;

    while (simulation_time(flow.simulation) < until * (1. - 1e-12)) {
      assert_success(SimulationGetTimeStep(flow.simulation, until, &dt));
      assert_success(SceneRunStep(&flow, 1, dt));
      fastest = PetscMax(fastest, -solid_body_view(simulation_solid(flow.simulation), 0).velocity.at[Y]);
    }
    height = solid_body_view(simulation_solid(flow.simulation), 0).position.at[Y] / diameter;
    note("t = %.2f: height %.3f d, published %.3f", (double)places[n][0], (double)height,
         (double)places[n][1]);
    assert_near(height, places[n][1], 0.3);
  }
  note("fastest %.4f u_ref, published 0.5697: %+.2f %%", (double)(fastest / unit_speed),
       100. * (double)(fastest / unit_speed / 0.5697 - 1.));
  assert_near(fastest / unit_speed, 0.5697, 0.03 * 0.5697);
  assert_success(SceneRunDestroy(&flow));
}

TEST_MAIN(cmocka_unit_test(a_cylinder_falls_as_published))
