/* Rotations as unit quaternions: q = (cos(angle/2), axis sin(angle/2)) turns v into q v q*. */
#include <millrace/base.h>

Quaternion quaternion_from_rotation(Vector3 rotation)
{
  const PetscReal angle = vector3_norm(rotation);
  /* sin(angle/2)/angle, whose limit at zero is 1/2; below 1e-4 the next term is under round-off */
  const PetscReal ratio = angle > 1e-4 ? PetscSinReal(0.5 * angle) / angle : 0.5 - angle * angle / 48;

  return (Quaternion){PetscCosReal(0.5 * angle), vector3_scale(ratio, rotation)};
}

Quaternion quaternion_multiply(Quaternion a, Quaternion b)
{
  const Vector3 crossed = vector3_cross(a.vector, b.vector);
  const Vector3 scaled = vector3_add(vector3_scale(a.scalar, b.vector), vector3_scale(b.scalar, a.vector));

  return (Quaternion){a.scalar * b.scalar - vector3_dot(a.vector, b.vector), vector3_add(crossed, scaled)};
}

Quaternion quaternion_conjugate(Quaternion q)
{
  return (Quaternion){q.scalar, vector3_scale(-1, q.vector)};
}

static Quaternion combine(PetscReal s, Quaternion a, PetscReal t, Quaternion b)
{
  return (Quaternion){s * a.scalar + t * b.scalar,
                      vector3_add(vector3_scale(s, a.vector), vector3_scale(t, b.vector))};
}

Quaternion quaternion_normalized(Quaternion q)
{
  const PetscReal norm = PetscSqrtReal(q.scalar * q.scalar + vector3_dot(q.vector, q.vector));

  return combine(1 / norm, q, 0, q);
}

/* Along the shorter of the two arcs: q and -q are the same rotation. */
Quaternion quaternion_slerp(Quaternion a, Quaternion b, PetscReal fraction)
{
  const PetscReal cosine = a.scalar * b.scalar + vector3_dot(a.vector, b.vector);
  const PetscReal sign = cosine < 0 ? -1 : 1;
  const PetscReal angle = PetscAcosReal(PetscMin(sign * cosine, 1));

  /* nearly equal: the chord is the arc, and the sine below would be a division by zero */
  if (angle < 1e-6)
    return quaternion_normalized(combine(1 - fraction, a, sign * fraction, b));
  return quaternion_normalized(combine(PetscSinReal((1 - fraction) * angle) / PetscSinReal(angle), a,
                                       sign * PetscSinReal(fraction * angle) / PetscSinReal(angle), b));
}

/* v + 2 s (w x v) + 2 w x (w x v) for q = (s, w): fewer products than q v q*. */
Vector3 quaternion_rotate(Quaternion q, Vector3 v)
{
  const Vector3 twice = vector3_scale(2, vector3_cross(q.vector, v));

  return vector3_add(vector3_add(v, vector3_scale(q.scalar, twice)), vector3_cross(q.vector, twice));
}
