/* Rigid maps, and the motions that lead from one to another. */
#include <millrace/base.h>

RigidTransform rigid_moved(const RigidTransform *from, Vector3 translation, Vector3 rotation)
{
  const Quaternion turned = quaternion_multiply(quaternion_from_rotation(rotation), from->rotation);

  return (RigidTransform){vector3_add(from->position, translation), quaternion_normalized(turned)};
}

/* The rotation that takes one orientation to another, as axis times angle, the short way. */
static Vector3 rotation_between(Quaternion from, Quaternion to)
{
  Quaternion      q = quaternion_multiply(to, quaternion_conjugate(from));
  const PetscReal sine = vector3_norm(q.vector);
  const PetscReal sign = q.scalar < 0 ? -1 : 1;

  if (sine < 1e-12)
    return vector3_scale(2 * sign, q.vector);
  return vector3_scale(2 * sign * PetscAtan2Real(sine, sign * q.scalar) / sine, q.vector);
}

Twist twist_between(const RigidTransform *from, const RigidTransform *to, PetscReal dt)
{
  return (Twist){vector3_scale(1 / dt, vector3_subtract(to->position, from->position)),
                 vector3_scale(1 / dt, rotation_between(from->rotation, to->rotation))};
}
