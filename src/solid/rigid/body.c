/* One rigid body: its mass in the world's axes and its free flight.

   q^{n+1} = exp(dt w + dt^2/2 I^-1 (L x w)) q^n, second order in time (3.4.1): the correction is half a step
   of Euler's equations. A body that turns far in a step takes it in parts, or its energy would grow. */
#include "../solid_impl.h"

PetscBool body_is_free(const Body *body)
{
  return body->config->kind == BODY_DYNAMIC ? PETSC_TRUE : PETSC_FALSE;
}

Mobility body_mobility(const Body *body, const RigidTransform *placement)
{
  Mobility mobility = {0};
  Vector3  inverse;

  if (!body_is_free(body))
    return mobility;
  for (PetscInt d = 0; d < DIM; d++)
    inverse.at[d] = 1 / body->inertia.at[d];
  mobility.inverse_mass = 1 / body->mass;
  mobility.inverse_inertia = matrix3_turned_diagonal(placement->rotation, inverse);
  return mobility;
}

/* R diag(d) R^T v without the matrix. */
static Vector3 apply_principal(Quaternion rotation, Vector3 diagonal, Vector3 v)
{
  Vector3 local = quaternion_rotate(quaternion_conjugate(rotation), v);

  for (PetscInt d = 0; d < DIM; d++)
    local.at[d] *= diagonal.at[d];
  return quaternion_rotate(rotation, local);
}

Vector3 body_angular_momentum(const Body *body, const RigidTransform *placement, Vector3 spin)
{
  return apply_principal(placement->rotation, body->inertia, spin);
}

Vector3 body_spin(const Body *body, const RigidTransform *placement, Vector3 angular_momentum)
{
  const Vector3 inverse = vector3(1 / body->inertia.at[X], 1 / body->inertia.at[Y], 1 / body->inertia.at[Z]);

  return apply_principal(placement->rotation, inverse, angular_momentum);
}

/* The energy drifts by the third power of how much of itself the spin changes in a step. Beyond a twentieth a
   step goes in parts, a power of two, of an eightieth each. Beyond 256 parts nothing follows the turn. */
static PetscInt turn_parts(Vector3 spin, Vector3 change, PetscReal dt)
{
  const PetscReal far = dt * vector3_norm(change), size = vector3_norm(spin);
  PetscInt        parts = 1;

  if (far <= size / 20 || !(far <= size / 80 * 256))
    return 1;
  while (parts < 256 && far > size / 80 * (PetscReal)parts)
    parts *= 2;
  return parts;
}

/* Turned by the spin, which the angular momentum it comes from leads on. */
static RigidTransform turned_freely(const Body *body, const RigidTransform *from, Vector3 spin, PetscReal dt)
{
  const Vector3   momentum = body_angular_momentum(body, from, spin);
  Vector3         change = body_spin(body, from, vector3_cross(momentum, spin));
  const PetscInt  parts = turn_parts(spin, change, dt);
  const PetscReal part = dt / (PetscReal)parts;
  RigidTransform  there = *from;

  for (PetscInt k = 0; k < parts; k++) {
    if (k > 0) {
      spin = body_spin(body, &there, momentum);
      change = body_spin(body, &there, vector3_cross(momentum, spin));
    }
    there = rigid_moved(&there, vector3(0, 0, 0),
                        vector3_add(vector3_scale(part, spin), vector3_scale(0.5 * part * part, change)));
  }
  return there;
}

RigidTransform body_moved(const Body *body, const RigidTransform *from, const Twist *twist, PetscReal dt)
{
  RigidTransform there;

  if (!body_is_free(body))
    return rigid_moved(from, vector3_scale(dt, twist->linear), vector3_scale(dt, twist->angular));
  there = turned_freely(body, from, twist->angular, dt);
  there.position = vector3_add(from->position, vector3_scale(dt, twist->linear));
  return there;
}

RigidTransform body_prescribed(const Body *body, PetscReal time)
{
  const Pose pose = motion_pose(body->config->motion, time);

  return (RigidTransform){pose_to_world(&pose, body->rest.position),
                          quaternion_normalized(quaternion_multiply(pose.rotation, body->rest.rotation))};
}

Twist body_prescribed_twist(const Body *body, PetscReal time)
{
  const Pose pose = motion_pose(body->config->motion, time);

  return (Twist){pose_velocity(&pose, pose_to_world(&pose, body->rest.position)), pose.spin};
}
