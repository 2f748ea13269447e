#include "linkage.h"

static const char *const no_name = "";

PetscErrorCode LinkageCreate(PetscInt bodies, PetscInt joints, Linkage *linkage)
{
  Solid solid = &linkage->solid;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(linkage, sizeof(*linkage)));
  PetscCall(PetscCalloc2(bodies, &linkage->config.bodies, joints, &linkage->config.joints));
  PetscCall(PetscCalloc3(bodies, &linkage->names, bodies, &linkage->forms, 6 * bodies, &solid->velocity));
  PetscCall(PetscCalloc4(bodies, &solid->bodies, bodies, &solid->placements, bodies, &solid->mobilities,
                         bodies, &linkage->half));
  linkage->config.body_count = solid->body_count = bodies;
  linkage->config.joint_count = joints;
  solid->comm = PETSC_COMM_WORLD;
  solid->config = &linkage->config;
  solid->twists = (Twist *)solid->velocity;
  for (PetscInt b = 0; b < bodies; b++) {
    PetscCall(PetscSNPrintf(linkage->names[b], LINKAGE_NAME, "%d", (int)b));
    linkage->config.bodies[b].name = linkage->names[b];
    solid->bodies[b].config = &linkage->config.bodies[b];
    solid->bodies[b].form = &linkage->forms[b];
    linkage_set_body(linkage, b, 1, vector3(0.5, 0.1, 0.1));
    linkage_place(linkage, b, vector3((PetscReal)b, 0, 0), vector3(0, 0, 0));
  }
  PetscFunctionReturn(0);
}

void linkage_set_body(Linkage *linkage, PetscInt b, PetscReal mass, Vector3 half)
{
  const Vector3 square = vector3(half.at[X] * half.at[X], half.at[Y] * half.at[Y], half.at[Z] * half.at[Z]);
  Body         *body = &linkage->solid.bodies[b];

  body->mass = mass;
  for (PetscInt d = 0; d < DIM; d++)
    body->inertia.at[d] = mass / 3 * (square.at[X] + square.at[Y] + square.at[Z] - square.at[d]);
  linkage->forms[b].half = half;
  linkage->forms[b].reach = vector3_norm(half);
}

static void refresh(Linkage *linkage)
{
  Solid solid = &linkage->solid;

  for (PetscInt b = 0; b < solid->body_count; b++)
    solid->mobilities[b] = body_mobility(&solid->bodies[b], &solid->placements[b]);
}

void linkage_place(Linkage *linkage, PetscInt b, Vector3 position, Vector3 rotation)
{
  linkage->solid.placements[b] = (RigidTransform){position, quaternion_from_rotation(rotation)};
}

JointConfig *linkage_join(Linkage *linkage, PetscInt j, JointKind kind, PetscInt parent, PetscInt child,
                          Vector3 anchor)
{
  JointConfig *config = &linkage->config.joints[j];

  *config = (JointConfig){.name = (char *)"joint",
                          .kind = kind,
                          .parent = parent < 0 ? (char *)no_name : linkage->names[parent],
                          .child = linkage->names[child],
                          .anchor = anchor,
                          .axis = vector3(0, 0, 1),
                          .lower = PETSC_NINFINITY,
                          .upper = PETSC_INFINITY,
                          .swing = PETSC_INFINITY};
  return config;
}

PetscErrorCode LinkageSetUp(Linkage *linkage)
{
  char message[256];

  PetscFunctionBegin;
  refresh(linkage);
  PetscCall(JointSetCreate(&linkage->solid, &linkage->joints, message, sizeof(message)));
  PetscCheck(linkage->joints, PETSC_COMM_SELF, PETSC_ERR_USER_INPUT, "%s", message);
  PetscFunctionReturn(0);
}

PetscErrorCode LinkageDestroy(Linkage *linkage)
{
  Solid solid = &linkage->solid;

  PetscFunctionBegin;
  for (PetscInt j = 0; j < linkage->config.joint_count; j++)
    PetscCall(FormulaDestroy(&linkage->config.joints[j].target));
  PetscCall(JointSetDestroy(&linkage->joints));
  PetscCall(PetscFree2(linkage->config.bodies, linkage->config.joints));
  PetscCall(PetscFree3(linkage->names, linkage->forms, solid->velocity));
  PetscCall(PetscFree4(solid->bodies, solid->placements, solid->mobilities, linkage->half));
  PetscFunctionReturn(0);
}

void linkage_shake(Linkage *linkage, PetscReal size)
{
  unsigned state = 12345;

  for (PetscInt k = 0; k < 6 * linkage->solid.body_count; k++) {
    state = state * 1103515245u + 12345u;
    linkage->solid.velocity[k] = size * ((PetscReal)((state >> 8) & 0xffff) / 0x8000 - 1);
  }
  for (PetscInt b = 0; b < linkage->solid.body_count; b++)
    if (linkage->config.bodies[b].kind != BODY_DYNAMIC)
      linkage->solid.twists[b] = (Twist){0};
}

/* Positions by the half-step velocities; spins follow from the angular momenta, which stay. */
static void move(Linkage *linkage, PetscReal dt)
{
  Solid solid = &linkage->solid;

  for (PetscInt b = 0; b < solid->body_count; b++) {
    const Body   *body = &solid->bodies[b];
    const Vector3 spin = solid->twists[b].angular;
    const Vector3 angular_momentum = body_angular_momentum(body, &solid->placements[b], spin);

    solid->placements[b] = body_moved(body, &solid->placements[b], &linkage->half[b], dt);
    solid->mobilities[b] = body_mobility(body, &solid->placements[b]);
    if (body->config->kind == BODY_DYNAMIC)
      solid->twists[b].angular = matrix3_apply(&solid->mobilities[b].inverse_inertia, angular_momentum);
  }
}

static void accelerate(const Linkage *linkage, Vector3 change, Twist twists[])
{
  for (PetscInt b = 0; b < linkage->solid.body_count; b++)
    if (linkage->config.bodies[b].kind == BODY_DYNAMIC)
      twists[b].linear = vector3_add(twists[b].linear, change);
}

PetscErrorCode LinkageStep(Linkage *linkage, PetscReal time, PetscReal dt, Vector3 gravity)
{
  Solid        solid = &linkage->solid;
  Twist       *half = linkage->half;
  const size_t size = (size_t)solid->body_count * sizeof(Twist);

  PetscFunctionBegin;
  PetscCall(PetscMemcpy(half, solid->twists, size));
  accelerate(linkage, vector3_scale(0.5 * dt, gravity), half);
  PetscCall(JointSetControlMotion(linkage->joints, time, dt, solid->twists, half));
  PetscCall(JointSetCarryImpulses(linkage->joints, solid->twists));
  move(linkage, dt);
  accelerate(linkage, vector3_scale(dt, gravity), solid->twists);
  PetscCall(JointSetControlVelocity(linkage->joints, solid->twists));
  PetscCall(JointSetPoststabilize(linkage->joints, solid->twists));
  PetscFunctionReturn(0);
}

LinkageSums linkage_sums(const Linkage *linkage, const Twist twists[])
{
  LinkageSums sums = {0};

  for (PetscInt b = 0; b < linkage->solid.body_count; b++) {
    const Body           *body = &linkage->solid.bodies[b];
    const RigidTransform *at = &linkage->solid.placements[b];
    const Vector3         momentum = vector3_scale(body->mass, twists[b].linear);
    const Vector3         turning = body_angular_momentum(body, at, twists[b].angular);

    sums.momentum = vector3_add(sums.momentum, momentum);
    sums.angular_momentum = vector3_add(sums.angular_momentum, vector3_cross(at->position, momentum));
    sums.angular_momentum = vector3_add(sums.angular_momentum, turning);
  }
  sums.energy = 0.5 * linkage_product(linkage, twists, twists);
  return sums;
}

PetscReal linkage_product(const Linkage *linkage, const Twist a[], const Twist b[])
{
  PetscReal sum = 0;

  for (PetscInt k = 0; k < linkage->solid.body_count; k++) {
    const Body   *body = &linkage->solid.bodies[k];
    const Vector3 turning = body_angular_momentum(body, &linkage->solid.placements[k], b[k].angular);

    sum += body->mass * vector3_dot(a[k].linear, b[k].linear) + vector3_dot(a[k].angular, turning);
  }
  return sum;
}
