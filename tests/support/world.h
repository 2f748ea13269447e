/* Small worlds of bodies for tests. */
#ifndef MILLRACE_TESTS_WORLD_H
#define MILLRACE_TESTS_WORLD_H

#include <millrace/solid.h>

enum { WORLD_BODIES = 512 };

typedef struct {
  SolidConfig config;
  BodyConfig  bodies[WORLD_BODIES];
  JointConfig joints[WORLD_BODIES];
  char        names[WORLD_BODIES][16];
  PetscReal   time;
  Solid       solid;
} World;

/* Empty, gravity downwards along z; aborts the test on trouble, as everything here. */
World *world_new(PetscReal gravity);
void   world_free(World *world);

/* Dynamic with density 1000, no friction, no restitution; takes the shape. */
BodyConfig *world_add(World *world, Shape shape);
BodyConfig *world_add_sphere(World *world, Vector3 center, PetscReal radius);
BodyConfig *world_add_box(World *world, Vector3 center, Vector3 half, Vector3 rotation);
BodyConfig *world_add_plane(World *world, Vector3 point, Vector3 normal); /* static */
/* `child` to `parent`, or to the world if that is -1. */
JointConfig *world_add_joint(World *world, JointKind kind, PetscInt parent, PetscInt child, Vector3 anchor,
                             Vector3 axis);

/* After the last addition. */
void world_start(World *world);
void world_run(World *world, PetscReal dt, PetscInt steps);

Vector3    world_position(World *world, PetscInt body);
Vector3    world_velocity(World *world, PetscInt body);
Vector3    world_spin(World *world, PetscInt body);
Quaternion world_rotation(World *world, PetscInt body);

#endif
