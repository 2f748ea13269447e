#include "world.h"

#include "harness.h"
#include "solid/solid_impl.h"

World *world_new(PetscReal gravity)
{
  World *world;

  assert_success(PetscNew(&world));
  world->config = (SolidConfig){.gravity = vector3(0, 0, -gravity),
                                .cfl = 0.5,
                                .iterations = 6,
                                .tolerance = 1e-4,
                                .bodies = world->bodies,
                                .joints = world->joints};
  return world;
}

void world_free(World *world)
{
  assert_success(SolidDestroy(&world->solid));
  for (PetscInt b = 0; b < world->config.body_count; b++) {
    assert_success(ShapeDestroy(&world->bodies[b].shape));
    assert_success(MotionDestroy(&world->bodies[b].motion));
  }
  for (PetscInt j = 0; j < world->config.joint_count; j++)
    assert_success(FormulaDestroy(&world->joints[j].target));
  assert_success(PetscFree(world));
}

BodyConfig *world_add(World *world, Shape shape)
{
  const PetscInt b = world->config.body_count++;

  assert_true(b < WORLD_BODIES);
  assert_success(PetscSNPrintf(world->names[b], sizeof(world->names[b]), "body%" PetscInt_FMT, b));
  world->bodies[b] = (BodyConfig){
      .name = world->names[b], .shape = shape, .density = 1000, .copies = {.count = vector3(1, 1, 1)}};
  return &world->bodies[b];
}

BodyConfig *world_add_sphere(World *world, Vector3 center, PetscReal radius)
{
  Shape shape;

  assert_success(ShapeCreateSphere(center, radius, &shape));
  return world_add(world, shape);
}

BodyConfig *world_add_box(World *world, Vector3 center, Vector3 half, Vector3 rotation)
{
  Shape box, placed;

  assert_success(ShapeCreateBox(vector3_scale(-1, half), half, &box));
  assert_success(ShapeCreatePlaced(&box, 1, rotation, center, &placed));
  return world_add(world, placed);
}

BodyConfig *world_add_plane(World *world, Vector3 point, Vector3 normal)
{
  Shape       shape;
  BodyConfig *body;

  assert_success(ShapeCreatePlane(point, normal, &shape));
  body = world_add(world, shape);
  body->kind = BODY_STATIC;
  return body;
}

JointConfig *world_add_joint(World *world, JointKind kind, PetscInt parent, PetscInt child, Vector3 anchor,
                             Vector3 axis)
{
  const PetscInt j = world->config.joint_count++;

  assert_true(j < WORLD_BODIES);
  world->joints[j] = (JointConfig){.name = "joint",
                                   .kind = kind,
                                   .parent = parent < 0 ? "" : world->names[parent],
                                   .child = world->names[child],
                                   .anchor = anchor,
                                   .axis = axis,
                                   .lower = -PETSC_INFINITY,
                                   .upper = PETSC_INFINITY,
                                   .swing = PETSC_INFINITY};
  return &world->joints[j];
}

void world_start(World *world)
{
  char message[1024];

  assert_success(SolidCreate(PETSC_COMM_WORLD, &world->config, &world->solid, message, sizeof(message)));
  if (message[0])
    print_error("%s\n", message);
  assert_non_null(world->solid);
}

void world_run(World *world, PetscReal dt, PetscInt steps)
{
  for (PetscInt k = 0; k < steps; k++) {
    assert_success(SolidStep(world->solid, world->time, dt));
    world->time += dt;
  }
}

Vector3 world_position(World *world, PetscInt body)
{
  return world->solid->placements[body].position;
}

Vector3 world_velocity(World *world, PetscInt body)
{
  return world->solid->twists[body].linear;
}

Vector3 world_spin(World *world, PetscInt body)
{
  return world->solid->twists[body].angular;
}

Quaternion world_rotation(World *world, PetscInt body)
{
  return world->solid->placements[body].rotation;
}
