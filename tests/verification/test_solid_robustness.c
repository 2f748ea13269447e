/* What scenes should not do but will: nothing may become infinite or gain energy from nowhere. */
#include "harness.h"
#include "solids.h"
#include "solid_case.h"

#define G 9.81

static SolidCase *new_floor(PetscReal friction)
{
  SolidCase *solids = solid_case_new(G);

  solid_case_add_plane(solids, vector3(0, 0, 0), vector3(0, 0, 1))->friction = friction;
  return solids;
}

static BodyConfig *add_cube(SolidCase *solids, Vector3 centre, PetscReal side)
{
  BodyConfig *cube =
      solid_case_add_box(solids, centre, vector3(0.5 * side, 0.5 * side, 0.5 * side), vector3(0, 0, 0));

  cube->friction = 0.5;
  return cube;
}

static PetscReal energy_of(SolidCase *solids)
{
  const SolidReport report = solid_report(solids->solid);

  return report.kinetic_energy + report.potential_energy;
}

/* After every step everything is a number and the energy is not above that of the start, but for `gain` of
   it. */
static void run_bounded(SolidCase *solids, PetscReal dt, PetscInt steps, PetscReal gain)
{
  PetscReal bound, energy;

  if (!solids->solid)
    solid_case_start(solids);
  bound = energy_of(solids);
  bound += gain * PetscAbsReal(bound);
  for (PetscInt k = 0; k < steps; k++) {
    solid_case_run(solids, dt, 1);
    energy = energy_of(solids);
    if (!(energy <= bound))
      fail_msg("energy %g above %g after %d steps", (double)energy, (double)bound, (int)k + 1);
    for (PetscInt b = 0; b < solids->config.body_count; b++)
      assert_false(PetscIsInfOrNanReal(vector3_norm(solid_case_position(solids, b))) ||
                   PetscIsInfOrNanReal(vector3_norm(solid_case_spin(solids, b))));
  }
}

/* Friction goes on slowly through the light body: 3e-4 m/s were seen. */
static void a_heavy_body_stands_on_a_light_one(void **state)
{
  SolidCase *solids = new_floor(0.5);

  (void)state;
  add_cube(solids, vector3(0, 0, 0.5), 1)->mass = 1;
  add_cube(solids, vector3(0, 0, 1.5), 1)->mass = 1e4;
  run_bounded(solids, 1. / 120, 600, 1e-4);
  assert_near(vector3_norm(vector3_subtract(solid_case_position(solids, 2), vector3(0, 0, 1.5))), 0, 2e-3);
  assert_near(solid_report(solids->solid).largest_speed, 0, 1e-2);
  solid_case_free(solids);
}

/* Light, heavy, light, heavy: the hardest order. */
static void masses_may_alternate_in_a_stack(void **state)
{
  SolidCase *solids = new_floor(0.5);

  (void)state;
  for (PetscInt k = 0; k < 4; k++)
    add_cube(solids, vector3(0, 0, 0.5 + (PetscReal)k), 1)->mass = k % 2 ? 1e4 : 1;
  run_bounded(solids, 1. / 120, 600, 1e-4);
  assert_near(solid_case_position(solids, 4).at[Z], 3.5, 1e-2);
  assert_near(solid_report(solids->solid).largest_penetration, 0, 1e-2);
  solid_case_free(solids);
}

static void a_heavy_body_falls_on_a_light_one(void **state)
{
  SolidCase *solids = new_floor(0.5);

  (void)state;
  add_cube(solids, vector3(0, 0, 0.5), 1)->mass = 1;
  add_cube(solids, vector3(0.2, 0, 4), 1)->mass = 1e4;
  run_bounded(solids, 1. / 120, 600, 1e-4);
  assert_true(solid_case_position(solids, 1).at[Z] > 0.49 && solid_case_position(solids, 2).at[Z] > 0.49);
  assert_near(solid_report(solids->solid).largest_penetration, 0, 1e-2);
  solid_case_free(solids);
}

static void large_and_small_bodies_meet(void **state)
{
  SolidCase *solids = new_floor(0.5);
  uint64_t   seed = 3;

  (void)state;
  add_cube(solids, vector3(0, 0, 5), 10);
  for (PetscInt k = 0; k < 10; k++)
    add_cube(solids, vector3(random_number(&seed), random_number(&seed), 10.02 + 0.02 * (PetscReal)k), 0.01);
  solid_case_add_sphere(solids, vector3(8, 0, 1), 1)->velocity = vector3(-3, 0, 0);
  run_bounded(solids, 1. / 240, 480, 1e-4);
  for (PetscInt k = 0; k < 10; k++)
    assert_near(solid_case_position(solids, 2 + k).at[Z], 10.005, 1e-2);
  solid_case_free(solids);
}

static void a_step_ten_times_too_long_does_no_harm(void **state)
{
  SolidCase *solids = new_floor(0.5);
  uint64_t   seed = 5;
  PetscInt   n = 0;

  (void)state;
  for (PetscInt k = 0; k < 20; k++, n++) {
    const Vector3 centre = vector3(random_number(&seed), random_number(&seed), 1 + 1.5 * (PetscReal)k);
    const Vector3 turn = vector3_scale(3, random_direction(&seed));

    if (k % 3)
      solid_case_add_box(solids, centre, vector3(0.4, 0.3, 0.2), turn)->friction = 0.5;
    else
      solid_case_add_sphere(solids, centre, 0.4)->friction = 0.5;
  }
  run_bounded(solids, 1. / 12, 120, 1e-3);
  for (PetscInt k = 1; k <= n; k++)
    assert_true(solid_case_position(solids, k).at[Z] > 0.15);
  solid_case_free(solids);
}

static void a_body_that_spins_fast_lands(void **state)
{
  SolidCase  *solids = new_floor(0.5);
  BodyConfig *box =
      solid_case_add_box(solids, vector3(0, 0, 1.2), vector3(0.5, 0.3, 0.2), vector3(0.2, 0.1, 0));
  BodyConfig *ball = solid_case_add_sphere(solids, vector3(300, 0, 2), 0.5);

  (void)state;
  box->friction = ball->friction = 0.5;
  box->spin = vector3(300, 900, 300);
  ball->spin = vector3(0, 1000, 0);
  run_bounded(solids, 1. / 1000, 2000, 1e-3);
  assert_true(solid_case_position(solids, 1).at[Z] > 0.15);
  assert_near(solid_case_position(solids, 2).at[Z], 0.5, 1e-3);
  solid_case_free(solids);
}

/* Two slopes of 80 degrees: the wedge between them is pressed by three times its weight on either side. */
static void two_walls_wedge_a_body(void **state)
{
  const PetscReal angle = 80 * PETSC_PI / 180, c = PetscCosReal(angle), s = PetscSinReal(angle);
  SolidCase      *solids = solid_case_new(G);

  (void)state;
  solid_case_add_plane(solids, vector3(0, 0, 0), vector3(s, 0, c));
  solid_case_add_plane(solids, vector3(0, 0, 0), vector3(-s, 0, c));
  solid_case_add_sphere(solids, vector3(0, 0, 1 / c + 0.5), 1);
  run_bounded(solids, 1. / 240, 720, 1e-4);
  assert_near(solid_case_position(solids, 2).at[Z], 1 / c, 2e-3);
  assert_near(vector3_norm(solid_case_velocity(solids, 2)), 0, 1e-4);
  solid_case_free(solids);
}

/* Nothing presses it against the walls that it fits between, so friction has nothing to say. */
static void a_body_falls_through_a_gap_that_just_fits(void **state)
{
  SolidCase *solids = solid_case_new(G);

  (void)state;
  solid_case_add_plane(solids, vector3(-0.5, 0, 0), vector3(1, 0, 0))->friction = 0.5;
  solid_case_add_plane(solids, vector3(0.5, 0, 0), vector3(-1, 0, 0))->friction = 0.5;
  add_cube(solids, vector3(0, 0, 0), 1);
  solid_case_start(solids);
  solid_case_run(solids, 1. / 120, 120);
  assert_near(solid_case_position(solids, 2).at[Z], -0.5 * G, 1e-6);
  assert_near(vector3_norm(solid_case_spin(solids, 2)), 0, 1e-9);
  solid_case_free(solids);
}

/* At 0.9 % of its size, just below what is refused: it comes out without jumping. */
static void a_body_that_starts_in_another_leaves_calmly(void **state)
{
  SolidCase *solids = new_floor(0.5);

  (void)state;
  add_cube(solids, vector3(0, 0, 0.491), 1);
  add_cube(solids, vector3(0, 0, 1.482), 1);
  run_bounded(solids, 1. / 120, 240, 0.02);
  assert_near(solid_report(solids->solid).largest_penetration, 0, 1e-3);
  assert_near(solid_case_position(solids, 2).at[Z], 1.5, 2e-3);
  assert_near(solid_report(solids->solid).largest_speed, 0, 1e-4);
  solid_case_free(solids);
}

/* Walls that are nearer to each other than a light body is wide hold it: it neither creeps nor hoards speed.
 */
static void walls_that_are_too_near_hold_a_body(void **state)
{
  SolidCase *solids = solid_case_new(G);

  (void)state;
  for (PetscInt side = -1; side <= 1; side += 2) {
    BodyConfig *wall = add_cube(solids, vector3((PetscReal)side * 1.496, 0, 0), 2);

    wall->kind = BODY_STATIC;
  }
  add_cube(solids, vector3(0.001, 0, 0), 1)->density = 1;
  solid_case_start(solids);
  solid_case_run(solids, 1. / 240, 240);
  assert_near(vector3_norm(solid_case_position(solids, 2)), 0, 1e-3);
  assert_near(solid_report(solids->solid).largest_speed, 0, 1e-4);
  solid_case_free(solids);
}

TEST_MAIN(cmocka_unit_test(a_heavy_body_stands_on_a_light_one),
          cmocka_unit_test(masses_may_alternate_in_a_stack),
          cmocka_unit_test(a_heavy_body_falls_on_a_light_one), cmocka_unit_test(large_and_small_bodies_meet),
          cmocka_unit_test(a_step_ten_times_too_long_does_no_harm),
          cmocka_unit_test(a_body_that_spins_fast_lands), cmocka_unit_test(two_walls_wedge_a_body),
          cmocka_unit_test(a_body_falls_through_a_gap_that_just_fits),
          cmocka_unit_test(a_body_that_starts_in_another_leaves_calmly),
          cmocka_unit_test(walls_that_are_too_near_hold_a_body))
