/* The sides of a box hold bodies in it, and nobody else sees them; what bodies must be in two dimensions. */
#include "harness.h"
#include "world.h"

#include <string.h>

/* The unit box, of which all sides hold. */
static World *box_new(PetscReal gravity)
{
  World *world = world_new(gravity);

  world->config.walls = PETSC_TRUE;
  world->config.box_high = vector3(1, 1, 1);
  for (PetscInt side = 0; side < 2 * DIM; side++)
    world->config.held[side / 2][side % 2] = PETSC_TRUE;
  return world;
}

static void a_body_bounces_between_all_sides(void **state)
{
  World          *world = box_new(0);
  BodyConfig     *ball = world_add_sphere(world, vector3(0.5, 0.5, 0.5), 0.1);
  const Vector3   velocity = vector3(1, -1.7, 2.3);
  const PetscReal closest = 0.1 - 1e-3;

  (void)state;
  ball->restitution = 1.;
  ball->velocity = velocity;
  world_start(world);
  for (PetscInt step = 0; step < 500; step++) {
    world_run(world, 0.01, 1);
    for (PetscInt d = 0; d < DIM; d++)
      assert_true(world_position(world, 0).at[d] > closest && world_position(world, 0).at[d] < 1. - closest);
  }
  for (PetscInt d = 0; d < DIM; d++)
    assert_near(PetscAbsReal(world_velocity(world, 0).at[d]), PetscAbsReal(velocity.at[d]), 1e-9);
  world_free(world);
}

static void walls_are_no_bodies_to_others(void **state)
{
  World     *world = box_new(9.81);
  PetscInt   count;
  PetscReal *velocity;

  (void)state;
  world_add_sphere(world, vector3(0.5, 0.5, 0.1), 0.1);
  world_start(world);
  world_run(world, 0.01, 20);
  assert_int_equal(solid_body_count(world->solid), 1);
  assert_success(SolidGetState(world->solid, &count, &velocity));
  assert_int_equal(count, 6);
  assert_int_equal(solid_report(world->solid).contacts, 1);
  assert_near(world_position(world, 0).at[Z], 0.1, 1e-5);
  world_free(world);
}

static void a_side_that_does_not_hold_lets_pass(void **state)
{
  for (int kind = 0; kind < 2; kind++) {
    World *world = box_new(0);

    (void)state;
    world_add_sphere(world, vector3(0.5, 0.5, 0.5), 0.1)->velocity = vector3(0, 1, 0);
    if (kind)
      world->config.walls = PETSC_FALSE;
    else
      world->config.held[Y][1] = PETSC_FALSE;
    world_start(world);
    world_run(world, 0.02, 50);
    assert_near(world_position(world, 0).at[Y], 1.5, 1e-12);
    world_free(world);
  }
}

static void walls_rub_and_bounce_as_the_body_does(void **state)
{
  World      *world = box_new(10.);
  BodyConfig *slider =
      world_add_box(world, vector3(0.2, 0.3, 0.05), vector3(0.1, 0.1, 0.05), vector3(0, 0, 0));
  BodyConfig *ball = world_add_sphere(world, vector3(0.5, 0.7, 0.5), 0.1);

  (void)state;
  slider->friction = 0.25;
  slider->velocity = vector3(1, 0, 0); /* 0.2 m to the end at 2.5 m/s^2 */
  ball->restitution = 0.5;
  ball->velocity = vector3(0, 1, 3);
  world_start(world);
  world_run(world, 0.0025, 160);
  assert_near(world_position(world, 0).at[X], 0.4, 2e-3);
  assert_near(world_velocity(world, 0).at[X], 0., 1e-6);
  assert_near(world_velocity(world, 1).at[Y], -0.5, 1e-9);
  world_free(world);
}

static void assert_told(World *world, const char word[])
{
  char message[1024];

  assert_success(SolidCreate(PETSC_COMM_WORLD, &world->config, &world->solid, message, sizeof(message)));
  assert_null(world->solid);
  if (!strstr(message, word))
    fail_msg("unexpected: %s", message);
  world_free(world);
}

static void a_body_in_a_wall_is_told(void **state)
{
  World *world = box_new(0);

  (void)state;
  world_add_sphere(world, vector3(0.5, 0.95, 0.5), 0.1);
  assert_told(world, "side y_high of the box");
}

static World *flat_new(Shape shape, Vector3 turn)
{
  World *world = box_new(0);
  Shape  placed;

  world->config.planar = PETSC_TRUE;
  world->config.held[Z][0] = world->config.held[Z][1] = PETSC_FALSE;
  assert_success(ShapeCreatePlaced(&shape, 1., turn, vector3(0.5, 0.5, 0), &placed));
  world_add(world, placed);
  return world;
}

static void bodies_of_two_dimensions_are_prisms(void **state)
{
  const Vector3 upright = vector3(0, 0, 0), turned = vector3(0, 0, 0.4), tilted = vector3(0.2, 0, 0);
  const Vector3 low = vector3(0, 0, -0.5), high = vector3(0, 0, 0.5);
  Shape         shape;
  World        *world;

  (void)state;
  assert_success(ShapeCreateCylinder(low, high, 0.2, &shape));
  world = flat_new(shape, upright);
  world_start(world);
  world_free(world);
  assert_success(ShapeCreateBox(vector3(-0.1, -0.2, -0.5), vector3(0.1, 0.2, 0.5), &shape));
  world = flat_new(shape, turned);
  world_start(world);
  world_free(world);
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
  Shape  shape;
  World *world;

  (void)state;
  assert_success(ShapeCreateBox(vector3(-0.1, -0.1, -0.5), vector3(0.1, 0.1, 0.5), &shape));
  world = flat_new(shape, vector3(0, 0, 0));
  world->bodies[0].copies = (CopiesConfig){
      .count = vector3(2, 1, 1), .step = vector3(-0.3, 0, 0), .shift = 0.02, .turn = 0.5, .seed = 1};
  world_start(world);
  for (PetscInt b = 0; b < 2; b++) {
    const Vector3 axis = quaternion_rotate(world_rotation(world, b), vector3(0, 0, 1));

    assert_near(world_position(world, b).at[Z], 0., 1e-15);
    assert_near(axis.at[Z], 1., 1e-15);
  }
  assert_true(PetscAbsReal(quaternion_rotate(world_rotation(world, 1), vector3(1, 0, 0)).at[Y]) > 0.01);
  world_free(world);
}

TEST_MAIN(cmocka_unit_test(a_body_bounces_between_all_sides), cmocka_unit_test(walls_are_no_bodies_to_others),
          cmocka_unit_test(a_side_that_does_not_hold_lets_pass),
          cmocka_unit_test(walls_rub_and_bounce_as_the_body_does), cmocka_unit_test(a_body_in_a_wall_is_told),
          cmocka_unit_test(bodies_of_two_dimensions_are_prisms),
          cmocka_unit_test(disorder_stays_in_the_plane))
