/* Bones: free bodies that hold points of meshes and lie inside of one, in a fluid (docs/numerics.md, section
   15). The fluid does not meet them; they are unknowns of C behind the points, and so are the joints between
   them, J V = r, as constraints: with the C of all of them

     V = P C^-1 f + Y G^-1 r,      Y = C^-1 J^T,   G = J Y,   P = 1 - Y G^-1 J,

   and the impulses of joints are J^T G^-1 (r - J C^-1 f). P C^-1 is symmetric, and not negative. */
#include "in_fluid.h"

#include "../step.h"

#include <millrace/dense.h>

PetscBool solid_is_bone(Solid solid, PetscInt body)
{
  const Points *points = solid->points;

  for (PetscInt k = 0; k < points->carrying_count && solid->config->in_fluid; k++)
    if (points->bodies[k] == body)
      return PETSC_TRUE;
  return PETSC_FALSE;
}

/* With the box along its principal axes, at rest. */
static PetscErrorCode FindInside(Solid solid, PetscInt body, const DeformableMesh *mesh, PetscBool *inside)
{
  const RigidTransform still = {{{0., 0., 0.}}, {1., {{0., 0., 0.}}}};
  const Bounds         box = form_bounds(solid->bodies[body].form, &still);
  MeshLocator          locator;

  PetscFunctionBegin;
  *inside = mesh->mesh->kind == MESH_TETRAHEDRA ? PETSC_TRUE : PETSC_FALSE;
  if (!*inside)
    PetscFunctionReturn(0);
  PetscCall(MeshLocatorCreate(mesh->mesh, &locator));
  for (PetscInt c = 0; c < 8; c++) {
    const Vector3 corner = vector3((c & 1 ? box.high : box.low).at[X], (c & 2 ? box.high : box.low).at[Y],
                                   (c & 4 ? box.high : box.low).at[Z]);

    if (mesh_locate(locator, rigid_apply(&solid->placements[body], corner)).distance > 0.)
      *inside = PETSC_FALSE;
  }
  PetscCall(MeshLocatorDestroy(&locator));
  PetscFunctionReturn(0);
}

PetscErrorCode SolidFindBones(Solid solid, char message[], size_t size)
{
  const Points *points = solid->points;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < points->carrying_count && solid->config->in_fluid && !message[0]; k++) {
    const PetscInt body = points->bodies[k];
    const char    *name = solid->bodies[body].config->name;
    PetscBool      inside = PETSC_FALSE;

    for (PetscInt m = 0; m < points->mesh_count && !inside; m++)
      if (mesh_is_held_by(&points->meshes[m], body))
        PetscCall(FindInside(solid, body, &points->meshes[m], &inside));
    if (!inside)
      PetscCall(
          MessageAtKey(message, size, "solids.bodies", name,
                       "Body \"%s\" is dynamic, holds points of meshes and is not inside of one that it "
                       "holds: in a fluid only bones, with the whole box along their principal axes "
                       "in the flesh, may do so; make it smaller, static or kinematic",
                       name));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode BonesCreate(Solid solid)
{
  Points               *points = solid->points;
  struct PointsInFluid *fluid = points->in_fluid;
  const PetscInt        unknowns = DIM * points->count + TWIST * points->carrying_count,
                 most = solid->config->joint_count ? joint_set_most_constraints(solid->joints) : 0;
  BoneJoints *joints = &fluid->joints;

  PetscFunctionBegin;
  PetscCall(PetscCalloc3(unknowns, &fluid->velocity, unknowns, &fluid->offset, unknowns, &fluid->right_side));
  PetscCall(PetscCalloc3(solid->body_count, &fluid->is_bone, points->carrying_count, &fluid->bones,
                         points->carrying_count, &fluid->carry));
  for (PetscInt k = 0; k < points->carrying_count; k++)
    fluid->is_bone[points->bodies[k]] = PETSC_TRUE;
  PetscCall(PetscCalloc5(most, &joints->rows, unknowns * most, &joints->reach, most * most, &joints->factor,
                         most, &joints->wanted, most, &joints->impulses));
  PetscFunctionReturn(0);
}

PetscErrorCode BonesDestroy(Points *points)
{
  struct PointsInFluid *fluid = points->in_fluid;
  BoneJoints           *joints = &fluid->joints;

  PetscFunctionBegin;
  PetscCall(PetscFree3(fluid->velocity, fluid->offset, fluid->right_side));
  PetscCall(PetscFree3(fluid->is_bone, fluid->bones, fluid->carry));
  PetscCall(PetscFree5(joints->rows, joints->reach, joints->factor, joints->wanted, joints->impulses));
  PetscFunctionReturn(0);
}

void bones_pack(Solid solid, const Twist bodies[], PetscReal unknowns[])
{
  const Points *points = solid->points;

  for (PetscInt k = 0; k < points->carrying_count; k++)
    memcpy(&unknowns[DIM * points->count + TWIST * k], &bodies[points->bodies[k]], sizeof(Twist));
}

void bones_unpack(Solid solid, const PetscReal unknowns[], Twist bodies[])
{
  const Points *points = solid->points;

  for (PetscInt k = 0; k < points->carrying_count; k++)
    memcpy(&bodies[points->bodies[k]], &unknowns[DIM * points->count + TWIST * k], sizeof(Twist));
}

static Twist momentum_of(Solid solid, PetscInt body, const Twist *twist)
{
  return (Twist){vector3_scale(solid->bodies[body].mass, twist->linear),
                 body_angular_momentum(&solid->bodies[body], &solid->placements[body], twist->angular)};
}

void bone_push(const Twist *push, PetscReal right_side[])
{
  for (PetscInt d = 0; d < DIM; d++) {
    right_side[d] += push->linear.at[d];
    right_side[DIM + d] += push->angular.at[d];
  }
}

/* From the centre of a body to the origin. */
Twist bone_push_about(Solid solid, PetscInt body, Twist push)
{
  push.angular = vector3_add(push.angular, vector3_cross(solid->placements[body].position, push.linear));
  return push;
}

void bones_begin(Solid solid, const FluidSolve *solve, const Twist bodies[])
{
  const Points         *points = solid->points;
  struct PointsInFluid *fluid = points->in_fluid;

  fluid->bones_pushed = (Twist){{{0., 0., 0.}}, {{0., 0., 0.}}};
  for (PetscInt k = 0; k < points->carrying_count; k++) {
    fluid->bones[k] = bodies[points->bodies[k]];
    if (solve->phase == POINTS_MOVE)
      fluid->carry[k] = (Twist){{{0., 0., 0.}}, {{0., 0., 0.}}};
    else
      fluid->bones_pushed =
          twist_add(fluid->bones_pushed, bone_push_about(solid, points->bodies[k], fluid->carry[k]));
  }
}

void bones_fill(Solid solid)
{
  const Points         *points = solid->points;
  struct PointsInFluid *fluid = points->in_fluid;

  for (PetscInt k = 0; k < points->carrying_count; k++) {
    const Twist push = twist_add(momentum_of(solid, points->bodies[k], &fluid->bones[k]), fluid->carry[k]);

    bone_push(&push, fluid->right_side + DIM * points->count + TWIST * k);
  }
}

static Twist momentum_about(Solid solid, PetscInt body, const Twist *twist)
{
  return bone_push_about(solid, body, momentum_of(solid, body, twist));
}

Twist bones_momentum(Solid solid, const Twist bodies[])
{
  const Points *points = solid->points;
  Twist         sum = {{{0., 0., 0.}}, {{0., 0., 0.}}};

  for (PetscInt k = 0; k < points->carrying_count; k++) {
    const PetscInt b = points->bodies[k];

    sum = twist_add(sum, momentum_about(solid, b, &bodies[b]));
  }
  return sum;
}

void bone_joints_begin(Solid solid, const FluidSolve *solve)
{
  struct PointsInFluid *fluid = solid->points->in_fluid;
  BoneJoints           *joints = &fluid->joints;

  joints->count = 0;
  if (!solid->config->joint_count || !solid->points->carrying_count)
    return;
  if (solve->phase == POINTS_MOVE)
    joints->count = joint_set_constrain_motion(solid->joints, solve->time, solve->dt, fluid->is_bone,
                                               solid->twists, fluid->shown.bodies, joints->rows);
  else
    joints->count =
        joint_set_constrain_velocity(solid->joints, fluid->is_bone, fluid->shown.bodies, joints->rows);
}

/* Of the unknowns that begin with those of a body. */
static PetscInt first_of(const Points *points, PetscInt body)
{
  PetscInt k = 0;

  while (points->bodies[k] != body)
    k++;
  return DIM * points->count + TWIST * k;
}

static PetscReal row_rate(const Points *points, const JointConstraint *row, const PetscReal unknowns[])
{
  PetscReal rate = 0.;

  for (PetscInt s = 0; s < 2; s++) {
    const PetscReal *by = (const PetscReal *)&row->row[s];

    for (PetscInt n = 0; n < TWIST && row->body[s] >= 0; n++)
      rate += by[n] * unknowns[first_of(points, row->body[s]) + n];
  }
  return rate;
}

static void add_row(const Points *points, const JointConstraint *row, PetscReal unknowns[])
{
  for (PetscInt s = 0; s < 2; s++) {
    const PetscReal *by = (const PetscReal *)&row->row[s];

    for (PetscInt n = 0; n < TWIST && row->body[s] >= 0; n++)
      unknowns[first_of(points, row->body[s]) + n] += by[n];
  }
}

/* unknowns += Y impulses. */
static void add_reach(const BoneJoints *joints, PetscInt unknown_count, const PetscReal impulses[],
                      PetscReal unknowns[])
{
  for (PetscInt r = 0; r < joints->count; r++)
    for (PetscInt n = 0; n < unknown_count; n++)
      unknowns[n] += impulses[r] * joints->reach[unknown_count * r + n];
}

PetscErrorCode BoneJointsSet(Solid solid)
{
  Points               *points = solid->points;
  struct PointsInFluid *fluid = points->in_fluid;
  BoneJoints           *joints = &fluid->joints;
  const PetscInt        count = joints->count, unknowns = fluid->motion.unknown_count;
  PetscReal            *push;

  PetscFunctionBegin;
  if (!count)
    PetscFunctionReturn(0);
  PetscCall(PetscMalloc1(unknowns, &push));
  for (PetscInt r = 0; r < count; r++) {
    PetscCall(PetscArrayzero(push, unknowns));
    add_row(points, &joints->rows[r], push);
    PetscCall(PointsSolveInFluid(solid, push, &joints->reach[unknowns * r]));
  }
  PetscCall(PetscFree(push));
  for (PetscInt r = 0; r < count; r++) {
    joints->wanted[r] = joints->rows[r].rate;
    for (PetscInt s = 0; s <= r; s++)
      joints->factor[count * r + s] = row_rate(points, &joints->rows[r], &joints->reach[unknowns * s]);
  }
  dense_cholesky(count, count, joints->factor);
  dense_cholesky_solve(count, count, joints->factor, joints->wanted);
  add_reach(joints, unknowns, joints->wanted, fluid->offset);
  PetscFunctionReturn(0);
}

void bone_joints_project(Solid solid, PetscReal unknowns[])
{
  struct PointsInFluid *fluid = solid->points->in_fluid;
  BoneJoints           *joints = &fluid->joints;

  for (PetscInt r = 0; r < joints->count; r++)
    joints->impulses[r] = -row_rate(solid->points, &joints->rows[r], unknowns);
  if (!joints->count)
    return;
  dense_cholesky_solve(joints->count, joints->count, joints->factor, joints->impulses);
  add_reach(joints, fluid->motion.unknown_count, joints->impulses, unknowns);
}

void bone_joints_found(Solid solid)
{
  BoneJoints *joints = &solid->points->in_fluid->joints;

  for (PetscInt r = 0; r < joints->count; r++)
    joints->impulses[r] += joints->wanted[r];
}

/* What the joints gave to a bone. */
static Twist joint_push(Solid solid, PetscInt body)
{
  const BoneJoints *joints = &solid->points->in_fluid->joints;
  Twist             push = {{{0., 0., 0.}}, {{0., 0., 0.}}};

  for (PetscInt r = 0; r < joints->count; r++)
    for (PetscInt s = 0; s < 2; s++)
      if (joints->rows[r].body[s] == body)
        push = twist_add(push, twist_scale(joints->impulses[r], joints->rows[r].row[s]));
  return push;
}

Twist bone_joints_sum(Solid solid)
{
  const Points *points = solid->points;
  Twist         sum = {{{0., 0., 0.}}, {{0., 0., 0.}}};

  for (PetscInt k = 0; k < points->carrying_count && points->in_fluid->joints.count; k++) {
    const Twist push = joint_push(solid, points->bodies[k]);

    sum = twist_add(sum, bone_push_about(solid, points->bodies[k], push));
  }
  return sum;
}

static void take_loads(Solid solid, JointPhase phase)
{
  const BoneJoints *joints = &solid->points->in_fluid->joints;

  joint_set_take_constraints(solid->joints, phase, joints->count, joints->rows, joints->impulses);
}

void bone_joints_carry(Solid solid)
{
  const Points *points = solid->points;

  if (!points->in_fluid || !points->in_fluid->joints.count)
    return;
  for (PetscInt k = 0; k < points->carrying_count; k++)
    points->in_fluid->carry[k] = joint_push(solid, points->bodies[k]);
  take_loads(solid, JOINTS_MOVE);
}

void bone_joints_rest(Solid solid)
{
  if (solid->points->in_fluid && solid->points->in_fluid->joints.count)
    take_loads(solid, JOINTS_REST);
}

void solid_drag_carried(Solid solid, const PetscReal impulses[], PetscReal velocities[], PetscReal twists[])
{
  const Points *points = solid->points;
  SolidMotion   push = points->image, motion = {(Vector3 *)velocities, (Twist *)twists};

  if (!points->carrying_count && !points->bindings.count)
    return;
  motion_clear(solid, &push);
  for (PetscInt n = 0; n < DIM * points->count; n++)
    if (!(points->inverse_mass[n / DIM] > 0.))
      push.points[n / DIM].at[n % DIM] = impulses[n];
  points_collect(solid, &push);
  points_accelerate(solid, 1., &push, &motion);
}

PetscInt solid_bone_count(Solid solid)
{
  return solid->config->in_fluid ? solid->points->carrying_count : 0;
}

PetscErrorCode SolidBeginBones(Solid solid, const PetscReal twists[])
{
  const Points         *points = solid->points;
  struct PointsInFluid *fluid = points->in_fluid;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < points->carrying_count; k++) {
    const PetscInt b = points->bodies[k];
    const Twist    now = ((const Twist *)twists)[b];
    const Twist    change = twist_add(now, twist_scale(-1., fluid->bones[k]));
    const Twist    push = momentum_of(solid, b, &change);

    fluid->bones_pushed = twist_add(fluid->bones_pushed, momentum_about(solid, b, &change));
    bone_push(&push, fluid->right_side + DIM * points->count + TWIST * k);
    fluid->bones[k] = now;
  }
  PetscFunctionReturn(0);
}

PetscErrorCode SolidTakeBones(Solid solid, PetscReal twists[])
{
  PetscFunctionBegin;
  bones_unpack(solid, solid->points->in_fluid->velocity, (Twist *)twists);
  PetscFunctionReturn(0);
}
