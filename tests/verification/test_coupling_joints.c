/* Joints within the coupled solve: a disc on a hinge moves all the fluid that it would move alone. */
#include "scene_run.h"
#include "harness.h"

#define SCENE                                                                                                \
  "grid: {size: [2, 2, 1], dimension: 2, resolution: 64}\n"                                                  \
  "run: {end_time: 1, frame_interval: 1}\n"                                                                  \
  "fluid: {density: 1000, viscosity: 0, gravity: [0, -9.81, 0], sides: {y_high: {type: open}}}\n"            \
  "coupling: {solver: %s, tolerance: 1e-10}\n"                                                               \
  "solids:\n"                                                                                                \
  "  gravity: [0, -9.81, 0]\n"                                                                               \
  "  bodies: [{name: disc, density: %g, shape: {cylinder: {from: [1, 1, -0.5], to: [1, 1, 0.5], "            \
  "radius: 0.2}}}]\n"                                                                                        \
  "  joints: [%s]\n"

static const char hinge[] =
    "{name: pin, type: hinge, parent: \"\", child: disc, anchor: [0.5, 1, 0], axis: [0, 0, 1]}";

/* Upwards, over the first hundredth of a second. */
static PetscReal acceleration(const char solver[], PetscReal density, const char joint[])
{
  const PetscReal dt = 0.002;
  const PetscInt  steps = 5;
  PetscReal       speed;
  SceneRun        flow;

  assert_success(SceneRunCreate(PETSC_COMM_WORLD, &flow, SCENE, solver, (double)density, joint));
  assert_success(SceneRunStep(&flow, steps, dt));
  speed = solid_body_view(simulation_solid(flow.simulation), 0).velocity.at[Y];
  assert_success(SceneRunDestroy(&flow));
  return speed / (steps * dt);
}

/* F L = ((m + m_a) L^2 + m R^2/2) a/L, with m + m_a = F/a of the disc that is free. */
static void check_density(const char solver[], PetscReal density)
{
  const PetscReal radius = 0.2, arm = 0.5, area = PETSC_PI * radius * radius, mass = density * area,
                  force = (1000. - density) * area * 9.81, alone = acceleration(solver, density, ""),
                  expected = force / (force / alone + 0.5 * mass * PetscSqr(radius / arm)),
                  hinged = acceleration(solver, density, hinge);

  note("%s, density %g: alone %g, on the hinge %g, expected %g m/s^2", solver, (double)density, (double)alone,
       (double)hinged, (double)expected);
  assert_near(hinged / expected, 1., 1e-3);
}

static void a_hinged_disc_has_its_added_mass(void **state)
{
  (void)state;
  check_density("minres", 10.);
  check_density("minres", 500.);
  check_density("schur", 2000.);
}

TEST_MAIN(cmocka_unit_test(a_hinged_disc_has_its_added_mass))
