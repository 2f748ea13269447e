/* One joint: where it stands and the rows of its constraints (docs/numerics.md, section 9). */
#include "joint_impl.h"

#include <math.h>

PetscReal wrapped_angle(PetscReal angle)
{
  return angle - 2 * PETSC_PI * PetscFloorReal(0.5 * angle / PETSC_PI + 0.5);
}

static Vector3 unit(PetscInt d)
{
  return vector3(d == X, d == Y, d == Z);
}

JointGeometry joint_geometry(const Joint *joint, const RigidTransform at[SIDES])
{
  const Quaternion child = quaternion_multiply(at[CHILD].rotation, joint->frame[CHILD]);
  JointGeometry    geometry;

  for (JointSide s = PARENT; s < SIDES; s++)
    geometry.anchor[s] = rigid_apply(&at[s], joint->anchor[s]);
  geometry.frame = quaternion_multiply(at[PARENT].rotation, joint->frame[PARENT]);
  geometry.rotation = quaternion_multiply(quaternion_conjugate(geometry.frame), child);
  if (geometry.rotation.scalar < 0) /* the same rotation */
    geometry.rotation = (Quaternion){-geometry.rotation.scalar, vector3_scale(-1, geometry.rotation.vector)};
  geometry.axis = quaternion_rotate(geometry.frame, unit(Z));
  geometry.child_axis = quaternion_rotate(child, unit(Z));
  return geometry;
}

PetscReal joint_angle(const Joint *joint, const JointGeometry *geometry)
{
  if (joint->config->kind == JOINT_PRISMATIC)
    return vector3_dot(geometry->axis, vector3_subtract(geometry->anchor[CHILD], geometry->anchor[PARENT]));
  return wrapped_angle(2 * PetscAtan2Real(geometry->rotation.vector.at[Z], geometry->rotation.scalar));
}

PetscReal joint_swing(const JointGeometry *geometry)
{
  return PetscAtan2Real(vector3_norm(vector3_cross(geometry->axis, geometry->child_axis)),
                        vector3_dot(geometry->axis, geometry->child_axis));
}

/* Both sides at their points. */
static void add_linear(JointRows *rows, const RigidTransform at[SIDES], const Vector3 points[SIDES],
                       Vector3 direction, PetscReal residual)
{
  JointRow *row = &rows->row[rows->count];

  row->force = direction;
  for (JointSide s = PARENT; s < SIDES; s++)
    row->torque[s] = vector3_cross(vector3_subtract(points[s], at[s].position), direction);
  rows->residual[rows->count++] = residual;
}

static void add_angular(JointRows *rows, Vector3 direction, PetscReal residual)
{
  JointRow *row = &rows->row[rows->count];

  row->force = vector3(0, 0, 0);
  row->torque[PARENT] = row->torque[CHILD] = direction;
  rows->residual[rows->count++] = residual;
}

static void add_anchors(const Joint *joint, const RigidTransform at[SIDES], const JointGeometry *geometry,
                        RowUse use, JointRows *rows)
{
  const Vector3   apart = vector3_subtract(geometry->anchor[CHILD], geometry->anchor[PARENT]);
  const PetscBool slides = joint->config->kind == JOINT_PRISMATIC;
  Vector3         points[SIDES] = {geometry->anchor[PARENT], geometry->anchor[CHILD]};

  if (slides) /* the directions turn with the parent, hence as seen at the child */
    points[PARENT] = points[CHILD];
  else if (use == ROWS_AS_IMPULSES && vector3_norm(apart) < 0.1 * joint->reach)
    points[PARENT] = points[CHILD] = vector3_add(points[PARENT], vector3_scale(0.5, apart));
  for (PetscInt d = 0; d < (slides ? Z : DIM); d++) {
    const Vector3 direction = slides ? quaternion_rotate(geometry->frame, unit(d)) : unit(d);

    add_linear(rows, at, points, direction, vector3_dot(direction, apart));
  }
}

/* The first `count` components of twice the vector part of the relative rotation. */
static void add_orientation(PetscInt count, const JointGeometry *geometry, JointRows *rows)
{
  const Quaternion q = geometry->rotation;

  for (PetscInt d = 0; d < count; d++) {
    const Vector3 local = vector3_add(vector3_scale(q.scalar, unit(d)), vector3_cross(q.vector, unit(d)));

    add_angular(rows, quaternion_rotate(geometry->frame, local), 2 * q.vector.at[d]);
  }
}

/* How the twist of swing and twist follows the relative spin, in the joint's axes. */
static Vector3 angle_gradient(Quaternion q)
{
  const PetscReal x = q.vector.at[X], y = q.vector.at[Y], z = q.vector.at[Z];
  const PetscReal square = q.scalar * q.scalar + z * z;

  if (square < 1e-20) /* turned over: the twist is not defined, nor is its rate */
    return unit(Z);
  return vector3((q.scalar * y + z * x) / square, (z * y - q.scalar * x) / square, 1);
}

static void add_angle(const Joint *joint, const RigidTransform at[SIDES], const JointGeometry *geometry,
                      const Grip *grip, JointRows *rows)
{
  const PetscReal angle = joint_angle(joint, geometry);
  const Vector3   points[SIDES] = {geometry->anchor[CHILD], geometry->anchor[CHILD]};

  if (joint->config->kind == JOINT_PRISMATIC)
    add_linear(rows, at, points, geometry->axis, angle - grip->aim);
  else
    add_angular(rows, quaternion_rotate(geometry->frame, angle_gradient(geometry->rotation)),
                grip->angle_before + wrapped_angle(angle - grip->angle_before) - grip->aim);
}

static void add_swing(const Joint *joint, const JointGeometry *geometry, JointRows *rows)
{
  Vector3         normal = vector3_cross(geometry->axis, geometry->child_axis);
  const PetscReal sine = vector3_norm(normal);

  /* with parallel axes every direction across them is as good */
  normal = sine > 1e-12 ? vector3_scale(1 / sine, normal) : quaternion_rotate(geometry->frame, unit(X));
  add_angular(rows, normal, joint_swing(geometry) - joint->config->swing);
}

void joint_rows(const Joint *joint, const RigidTransform at[SIDES], const Grip *grip, RowUse use,
                JointRows *rows)
{
  static const PetscInt orientations[] = {
      [JOINT_POINT] = 0, [JOINT_RIGID] = 3, [JOINT_HINGE] = 2, [JOINT_TWIST] = 2, [JOINT_PRISMATIC] = 3};
  const JointGeometry geometry = joint_geometry(joint, at);

  rows->count = 0;
  add_anchors(joint, at, &geometry, use, rows);
  add_orientation(orientations[joint->config->kind], &geometry, rows);
  if (grip->angle != HOLD_NOTHING)
    add_angle(joint, at, &geometry, grip, rows);
  if (grip->swing != HOLD_NOTHING)
    add_swing(joint, &geometry, rows);
}
