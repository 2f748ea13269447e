/* The sides of a box hold bodies in it, and nobody else sees them; what bodies must be in two dimensions. */
#include "harness.h"
#include "solid_case.h"

#include <string.h>

/* The unit box, of which all sides hold. */
static SolidCase *box_new(PetscReal gravity)
{
  SolidCase *solids = solid_case_new(gravity);

  solids->config.walls = PETSC_TRUE;
  solids->config.box_high = vector3(1, 1, 1);
  for (PetscInt side = 0; side < 2 * DIM; side++)
    solids->config.held[side / 2][side % 2] = PETSC_TRUE;
  return solids;
}

static void a_body_bounces_between_all_sides(void **state)
{
  SolidCase      *solids = box_new(0);
  BodyConfig     *ball = solid_case_add_sphere(solids, vector3(0.5, 0.5, 0.5), 0.1);
  const Vector3   velocity = vector3(1, -1.7, 2.3);
  const PetscReal closest = 0.1 - 1e-3;

  (void)state;
  ball->restitution = 1.;
  ball->velocity = velocity;
  solid_case_start(solids);
  for (PetscInt step = 0; step < 500; step++) {
    solid_case_run(solids, 0.01, 1);
    for (PetscInt d = 0; d < DIM; d++)
      assert_true(solid_case_position(solids, 0).at[d] > closest &&
                  solid_case_position(solids, 0).at[d] < 1. - closest);
  }
  for (PetscInt d = 0; d < DIM; d++)
    assert_near(PetscAbsReal(solid_case_velocity(solids, 0).at[d]), PetscAbsReal(velocity.at[d]), 1e-9);
  solid_case_free(solids);
}

static void walls_are_no_bodies_to_others(void **state)
{
  SolidCase *solids = box_new(9.81);
  PetscInt   count;
  PetscReal *velocity;

  (void)state;
  solid_case_add_sphere(solids, vector3(0.5, 0.5, 0.1), 0.1);
  solid_case_start(solids);
  solid_case_run(solids, 0.01, 20);
  assert_int_equal(solid_body_count(solids->solid), 1);
  assert_success(SolidGetState(solids->solid, &count, &velocity));
  assert_int_equal(count, 6);
  assert_int_equal(solid_report(solids->solid).contacts, 1);
  assert_near(solid_case_position(solids, 0).at[Z], 0.1, 1e-5);
  solid_case_free(solids);
}

static void a_side_that_does_not_hold_lets_pass(void **state)
{
  for (int kind = 0; kind < 2; kind++) {
    SolidCase *solids = box_new(0);

    (void)state;
    solid_case_add_sphere(solids, vector3(0.5, 0.5, 0.5), 0.1)->velocity = vector3(0, 1, 0);
    if (kind)
      solids->config.walls = PETSC_FALSE;
    else
      solids->config.held[Y][1] = PETSC_FALSE;
    solid_case_start(solids);
    solid_case_run(solids, 0.02, 50);
    assert_near(solid_case_position(solids, 0).at[Y], 1.5, 1e-12);
    solid_case_free(solids);
  }
}

static void walls_rub_and_bounce_as_the_body_does(void **state)
{
  SolidCase  *solids = box_new(10.);
  BodyConfig *slider =
      solid_case_add_box(solids, vector3(0.2, 0.3, 0.05), vector3(0.1, 0.1, 0.05), vector3(0, 0, 0));
  BodyConfig *ball = solid_case_add_sphere(solids, vector3(0.5, 0.7, 0.5), 0.1);

  (void)state;
  slider->friction = 0.25;
  slider->velocity = vector3(1, 0, 0); /* 0.2 m to the end at 2.5 m/s^2 */
  ball->restitution = 0.5;
  ball->velocity = vector3(0, 1, 3);
  solid_case_start(solids);
  solid_case_run(solids, 0.0025, 160);
  assert_near(solid_case_position(solids, 0).at[X], 0.4, 2e-3);
  assert_near(solid_case_velocity(solids, 0).at[X], 0., 1e-6);
  assert_near(solid_case_velocity(solids, 1).at[Y], -0.5, 1e-9);
  solid_case_free(solids);
}

static void assert_told(SolidCase *solids, const char word[])
{
  char message[1024];

  assert_success(SolidCreate(PETSC_COMM_WORLD, &solids->config, &solids->solid, message, sizeof(message)));
  assert_null(solids->solid);
  if (!strstr(message, word))
    fail_msg("unexpected: %s", message);
  solid_case_free(solids);
}

static void a_body_in_a_wall_is_told(void **state)
{
  SolidCase *solids = box_new(0);

  (void)state;
  solid_case_add_sphere(solids, vector3(0.5, 0.95, 0.5), 0.1);
  assert_told(solids, "side y_high of the box");
}

static SolidCase *flat_new(Shape shape, Vector3 turn)
{
  SolidCase *solids = box_new(0);
  Shape      placed;

  solids->config.planar = PETSC_TRUE;
  solids->config.held[Z][0] = solids->config.held[Z][1] = PETSC_FALSE;
  assert_success(ShapeCreatePlaced(&shape, 1., turn, vector3(0.5, 0.5, 0), &placed));
  solid_case_add(solids, placed);
  return solids;
}

static void bodies_of_two_dimensions_are_prisms(void **state)
{
  const Vector3 upright = vector3(0, 0, 0), turned = vector3(0, 0, 0.4), tilted = vector3(0.2, 0, 0);
  const Vector3 low = vector3(0, 0, -0.5), high = vector3(0, 0, 0.5);
  Shape         shape;
  SolidCase    *solids;

  (void)state;
  assert_success(ShapeCreateCylinder(low, high, 0.2, &shape));
  solids = flat_new(shape, upright);
  solid_case_start(solids);
  solid_case_free(solids);
  assert_success(ShapeCreateBox(vector3(-0.1, -0.2, -0.5), vector3(0.1, 0.2, 0.5), &shape));
  solids = flat_new(shape, turned);
  solid_case_start(solids);
  solid_case_free(solids);
  assert_success(ShapeCreateSphere(vector3(0, 0, 0), 0.2, &shape));
  assert_told(flat_new(shape, upright), "prism one metre deep");
  assert_success(ShapeCreateCylinder(low, vector3(0, 0, 0.4), 0.2, &shape));
  assert_told(flat_new(shape, upright), "prism one metre deep");
  assert_success(ShapeCreateCylinder(vector3(0, 0, 0.1), vector3(0, 0, 1.1), 0.2, &shape)); /* beside z = 0 */
  assert_told(flat_new(shape, upright), "prism one metre deep");
  assert_success(ShapeCreateBox(vector3(-0.1, -0.2, -0.5), vector3(0.1, 0.2, 0.5), &shape));
  assert_told(flat_new(shape, tilted), "prism one metre deep");
}

static void disorder_stays_in_the_plane(void **state)
{
  Shape      shape;
  SolidCase *solids;

  (void)state;
  assert_success(ShapeCreateBox(vector3(-0.1, -0.1, -0.5), vector3(0.1, 0.1, 0.5), &shape));
  solids = flat_new(shape, vector3(0, 0, 0));
  solids->bodies[0].copies = (CopiesConfig){
      .count = vector3(2, 1, 1), .step = vector3(-0.3, 0, 0), .shift = 0.02, .turn = 0.5, .seed = 1};
  solid_case_start(solids);
  for (PetscInt b = 0; b < 2; b++) {
    const Vector3 axis = quaternion_rotate(solid_case_rotation(solids, b), vector3(0, 0, 1));

    assert_near(solid_case_position(solids, b).at[Z], 0., 1e-15);
    assert_near(axis.at[Z], 1., 1e-15);
  }
  assert_true(PetscAbsReal(quaternion_rotate(solid_case_rotation(solids, 1), vector3(1, 0, 0)).at[Y]) > 0.01);
  solid_case_free(solids);
}

TEST_MAIN(cmocka_unit_test(a_body_bounces_between_all_sides), cmocka_unit_test(walls_are_no_bodies_to_others),
          cmocka_unit_test(a_side_that_does_not_hold_lets_pass),
          cmocka_unit_test(walls_rub_and_bounce_as_the_body_does), cmocka_unit_test(a_body_in_a_wall_is_told),
          cmocka_unit_test(bodies_of_two_dimensions_are_prisms),
          cmocka_unit_test(disorder_stays_in_the_plane))
