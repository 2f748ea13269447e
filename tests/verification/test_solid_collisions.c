/* Bodies that hit each other: central impacts, the cradle, and what every impact keeps. */
#include "harness.h"
#include "solid_case.h"

/* Two balls on a line that meet once; C3 of the validation cases (collisions_1d.csv: the formulas of central
   impact, evaluated). */
static void central_impacts_follow_their_formula(void **state)
{
  const PetscReal cases[5][7] = {{1, 1, 1, 0, 1, 0, 1},
                                 {1, 1, 1, 0, 0.5, 0.25, 0.75},
                                 {2, 1, 1, -1, 1, -0.33333333, 1.6666667},
                                 {1, 5, 1, 0, 0.8, -0.5, 0.3},
                                 {1, 1000, 1, 0, 0.7, -0.6983017, 0.0016983017}};

  (void)state;
  for (PetscInt c = 0; c < 5; c++) {
    SolidCase  *solids = solid_case_new(0);
    BodyConfig *left = solid_case_add_sphere(solids, vector3(0, 0, 0), 0.1);
    BodyConfig *right = solid_case_add_sphere(solids, vector3(0.25, 0, 0), 0.1);

    left->mass = cases[c][0];
    right->mass = cases[c][1];
    left->velocity.at[X] = cases[c][2];
    right->velocity.at[X] = cases[c][3];
    left->restitution = right->restitution = cases[c][4];
    solid_case_start(solids);
    solid_case_run(solids, 0.003, 100);
    assert_near(solid_case_velocity(solids, 0).at[X], cases[c][5], 1e-6);
    assert_near(solid_case_velocity(solids, 1).at[X], cases[c][6], 1e-6);
    solid_case_free(solids);
  }
}

/* Five balls in a row and one that comes: the last one leaves with its speed, the others stay. The impulse
   runs against the order of the bodies too. */
static void a_cradle_passes_the_speed_on(void **state)
{
  (void)state;
  for (PetscInt direction = -1; direction <= 1; direction += 2) {
    SolidCase *solids = solid_case_new(0);

    for (PetscInt b = 0; b < 6; b++) {
      BodyConfig *ball = solid_case_add_sphere(
          solids, vector3((PetscReal)direction * (0.2 * (PetscReal)b + (b ? 0.1 : 0)), 0, 0), 0.1);

      ball->restitution = 1;
      ball->velocity.at[X] = b ? 0 : (PetscReal)direction;
    }
    solid_case_start(solids);
    solid_case_run(solids, 0.01, 50);
    for (PetscInt b = 0; b < 6; b++)
      assert_near(solid_case_velocity(solids, b).at[X], b == 5 ? (PetscReal)direction : 0, 1e-6);
    solid_case_free(solids);
  }
}

static void a_ball_bounces_to_the_height_of_its_restitution(void **state)
{
  SolidCase *solids = solid_case_new(10);
  PetscReal  highest = 0, height, last = 1;

  (void)state;
  solid_case_add_plane(solids, vector3(0, 0, 0), vector3(0, 0, 1))->restitution = 0.64;
  solid_case_add_sphere(solids, vector3(0, 0, 0.1 + 1), 0.1)->restitution = 1;
  solid_case_start(solids);
  for (PetscInt bounce = 1; bounce <= 3; bounce++) {
    while (solid_case_velocity(solids, 1).at[Z] <= 0)
      solid_case_run(solids, 1e-4, 1);
    for (highest = 0; solid_case_velocity(solids, 1).at[Z] > 0; highest = PetscMax(highest, height)) {
      solid_case_run(solids, 1e-4, 1);
      height = solid_case_position(solids, 1).at[Z] - 0.1;
    }
    /* the pair's restitution is the mean 0.8; the moment of impact is known to a step */
    assert_near(highest / last, 0.64, 2e-3);
    last = highest;
  }
  solid_case_free(solids);
}

/* A cloud of spheres and boxes flying into each other without gravity. */
static SolidCase *new_cloud(PetscReal friction, PetscReal restitution)
{
  SolidCase *solids = solid_case_new(0);

  for (PetscInt b = 0; b < 60; b++) {
    const PetscReal x = (PetscReal)(b % 4) - 1.5, y = (PetscReal)(b / 4 % 4) - 1.5,
                    z = (PetscReal)(b / 16) - 1.5;
    const Vector3 centre = vector3(x, y, z);
    BodyConfig   *body = b % 2
                             ? solid_case_add_sphere(solids, centre, 0.3)
                             : solid_case_add_box(solids, centre, vector3(0.2, 0.3, 0.25), vector3(x, z, 0.4));

    body->velocity = vector3(-2 * x + 0.3 * y, -2 * y, -2 * z + 0.2 * x);
    body->spin = vector3(y, -3 * z, x);
    body->friction = friction;
    body->restitution = restitution;
    body->density = b % 3 ? 1000 : 100;
  }
  solid_case_start(solids);
  return solids;
}

static void free_impacts_keep_momentum_and_lose_energy(void **state)
{
  const PetscReal kinds[4][2] = {{0, 1}, {0.5, 1}, {0.5, 0.4}, {0.3, 0}};

  (void)state;
  for (PetscInt k = 0; k < 4; k++) {
    SolidCase        *solids = new_cloud(kinds[k][0], kinds[k][1]);
    const SolidReport start = solid_report(solids->solid);
    SolidReport       before = start, now;
    PetscInt          touched = 0;

    for (PetscInt step = 0; step < 800; step++) {
      solid_case_run(solids, 0.001, 1);
      now = solid_report(solids->solid);
      touched += now.collisions + (now.velocity_iterations > 0);
      /* in flight the energy of a spinning box varies at second order in the step; a push-out keeps the
         angular momentum, at the cost of a little energy of either sign */
      assert_true(now.kinetic_energy <= before.kinetic_energy * (1 + (now.push_outs ? 1e-5 : 1e-7)));
      before = now;
    }
    assert_true(touched > 20);
    assert_near(vector3_norm(vector3_subtract(now.momentum, start.momentum)) / (1000 * 60 * 0.1), 0, 1e-12);
    assert_near(vector3_norm(vector3_subtract(now.angular_momentum, start.angular_momentum)) /
                    (1000 * 60 * 0.1),
                0, 1e-12);
    solid_case_free(solids);
  }
}

TEST_MAIN(cmocka_unit_test(central_impacts_follow_their_formula),
          cmocka_unit_test(a_cradle_passes_the_speed_on),
          cmocka_unit_test(a_ball_bounces_to_the_height_of_its_restitution),
          cmocka_unit_test(free_impacts_keep_momentum_and_lose_energy))
