/* Rolling friction, and how two bodies touch where a table of pairs says so. */
#include "harness.h"
#include "solid_case.h"

#define G 9.81

/* A ball of radius 0.5 that rolls along x. */
static SolidCase *new_ball(PetscReal speed, PetscReal lever)
{
  SolidCase  *solids = solid_case_new(G);
  BodyConfig *floor = solid_case_add_plane(solids, vector3(0, 0, 0), vector3(0, 0, 1));
  BodyConfig *ball = solid_case_add_sphere(solids, vector3(0, 0, 0.5), 0.5);

  floor->friction = ball->friction = 0.5;
  floor->rolling_friction = ball->rolling_friction = lever;
  ball->velocity = vector3(speed, 0, 0);
  ball->spin = vector3(0, speed / 0.5, 0);
  return solids;
}

/* The torque l N about the centre and the friction that keeps it rolling: (I + m R^2) a / R = l m g. */
static void a_ball_is_slowed_by_the_lever_of_its_pressure(void **state)
{
  const PetscReal lever = 0.02, braking = 5. / 7 * G * lever / 0.5, start = 0.2, dt = 1. / 200;
  SolidCase      *solids = new_ball(start, lever);
  const PetscInt  steps = (PetscInt)(0.5 * start / braking / dt);
  Vector3         rest;

  (void)state;
  solid_case_start(solids);
  solid_case_run(solids, dt, steps);
  assert_near((start - solid_case_velocity(solids, 1).at[X]) / (braking * dt * (PetscReal)steps), 1, 1e-6);
  assert_near(solid_case_spin(solids, 1).at[Y] * 0.5, solid_case_velocity(solids, 1).at[X], 1e-9);
  solid_case_run(solids, dt, 2 * steps);
  rest = solid_case_position(solids, 1);
  assert_near(rest.at[X] / (0.5 * start * start / braking), 1, 1e-2);
  solid_case_run(solids, dt, 200);
  assert_near(vector3_norm(vector3_subtract(solid_case_position(solids, 1), rest)), 0, 1e-9);
  assert_near(vector3_norm(solid_case_spin(solids, 1)), 0, 1e-9);
  solid_case_free(solids);
}

/* tan(slope) = l / R is the angle of rolling friction. */
static PetscReal rolled_down(PetscReal slope, PetscReal lever)
{
  const Vector3 normal = vector3(PetscSinReal(slope), 0, PetscCosReal(slope));
  SolidCase    *solids = solid_case_new(G);
  BodyConfig   *floor = solid_case_add_plane(solids, vector3(0, 0, 0), normal);
  BodyConfig   *ball = solid_case_add_sphere(solids, vector3_scale(0.5, normal), 0.5);
  PetscReal     speed;

  floor->friction = ball->friction = 0.8;
  floor->rolling_friction = ball->rolling_friction = lever;
  solid_case_start(solids);
  solid_case_run(solids, 1. / 200, 200);
  speed = vector3_norm(solid_case_velocity(solids, 1));
  solid_case_free(solids);
  return speed;
}

static void a_ball_starts_to_roll_at_its_angle(void **state)
{
  const PetscReal lever = 0.05, critical = PetscAtanReal(lever / 0.5), slope = 2 * critical;

  (void)state;
  assert_true(rolled_down(0.98 * critical, lever) < 1e-9);
  assert_near(rolled_down(slope, lever) / (5. / 7 * G * (PetscSinReal(slope) - 0.1 * PetscCosReal(slope))), 1,
              1e-3);
}

static SolidCase *new_slider(ContactPairConfig *pair)
{
  SolidCase  *solids = solid_case_new(G);
  BodyConfig *floor = solid_case_add_plane(solids, vector3(0, 0, 0), vector3(0, 0, 1));
  BodyConfig *box = solid_case_add_box(solids, vector3(0, 0, 0.5), vector3(0.5, 0.5, 0.5), vector3(0, 0, 0));

  floor->friction = box->friction = 0.9;
  box->velocity = vector3(3, 0, 0);
  pair->first = box->name;
  pair->second = floor->name;
  solids->config.pair_count = 1;
  solids->config.pairs = pair;
  return solids;
}

static void the_table_of_pairs_comes_before_the_bodies(void **state)
{
  ContactPairConfig pair = {.friction = 0.1};
  SolidCase        *solids = new_slider(&pair);

  (void)state;
  solid_case_start(solids);
  solid_case_run(solids, 1. / 200, 200);
  assert_near(solid_case_velocity(solids, 1).at[X], 3 - 0.1 * G, 1e-6);
  solid_case_free(solids);
}

static void a_pair_may_bounce_where_its_bodies_do_not(void **state)
{
  ContactPairConfig pair = {.restitution = 1};
  SolidCase        *solids = new_slider(&pair);

  (void)state;
  solids->bodies[1].velocity = vector3(0, 0, 2);
  solid_case_start(solids);
  solid_case_run(solids, 1. / 1000, (PetscInt)(1000 * 3 * 2 / G)); /* one and a half flights */
  assert_near(solid_case_position(solids, 1).at[Z], 0.5 + 2 * 2 / (2 * G), 2e-3);
  solid_case_free(solids);
}

static void a_pair_without_contact_passes(void **state)
{
  ContactPairConfig pair = {.none = PETSC_TRUE};
  SolidCase        *solids = new_slider(&pair);

  (void)state;
  solid_case_start(solids);
  solid_case_run(solids, 1. / 200, 200);
  assert_near(solid_case_position(solids, 1).at[Z], 0.5 - 0.5 * G, 1e-9);
  assert_near(solid_case_velocity(solids, 1).at[X], 3, 1e-12);
  solid_case_free(solids);
}

TEST_MAIN(cmocka_unit_test(a_ball_is_slowed_by_the_lever_of_its_pressure),
          cmocka_unit_test(a_ball_starts_to_roll_at_its_angle),
          cmocka_unit_test(the_table_of_pairs_comes_before_the_bodies),
          cmocka_unit_test(a_pair_may_bounce_where_its_bodies_do_not),
          cmocka_unit_test(a_pair_without_contact_passes))
