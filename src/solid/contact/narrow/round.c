/* Touches of spheres and capsules: all of them are touches of two balls, one at a point of each body. */
#include "touch_kinds.h"

/* Capsules are taken as parallel below this sine of the angle between them and then touch at both ends. */
#define PARALLEL_SINE 0.1

PetscInt touch_balls(Vector3 centre_a, PetscReal radius_a, Vector3 centre_b, PetscReal radius_b,
                     Vector3 fallback, PetscReal reach, Touch *touch)
{
  const Vector3   apart = vector3_subtract(centre_b, centre_a);
  const PetscReal square = vector3_dot(apart, apart), most = radius_a + radius_b + reach;
  PetscReal       distance;

  if (most < 0 || square > most * most)
    return 0;
  distance = PetscSqrtReal(square);
  touch->gap = distance - radius_a - radius_b;
  /* below this the direction is round-off of the positions */
  touch->normal = distance > 1e-14 * (radius_a + radius_b) ? vector3_scale(1 / distance, apart) : fallback;
  touch->point = vector3_along(centre_a, radius_a + 0.5 * touch->gap, touch->normal);
  touch->feature = 0;
  return 1;
}

PetscInt touch_spheres(const Form *a, const RigidTransform *at_a, const Form *b, const RigidTransform *at_b,
                       PetscReal reach, Touch touches[])
{
  return touch_balls(at_a->position, a->radius, at_b->position, b->radius, vector3(0, 0, 1), reach, touches);
}

static PetscReal clamp(PetscReal value, PetscReal low, PetscReal high)
{
  return PetscMin(PetscMax(value, low), high);
}

static Vector3 capsule_point(const PlacedForm *capsule, PetscReal z)
{
  return vector3_along(capsule->position, z, capsule->axes[Z]);
}

PetscInt touch_sphere_capsule(const Form *a, const RigidTransform *at_a, const Form *b,
                              const RigidTransform *at_b, PetscReal reach, Touch touches[])
{
  const PlacedForm capsule = place(b, at_b);
  const Vector3    apart = vector3_subtract(at_a->position, at_b->position);
  const PetscReal  z = clamp(vector3_dot(apart, capsule.axes[Z]), -b->half.at[Z], b->half.at[Z]);

  return touch_balls(at_a->position, a->radius, capsule_point(&capsule, z), b->radius,
                     vector3_perpendicular(capsule.axes[Z]), reach, touches);
}

/* Outside, towards the nearest point of the box; inside, out of the nearest face. */
PetscInt touch_sphere_box(const Form *a, const RigidTransform *at_a, const Form *b,
                          const RigidTransform *at_b, PetscReal reach, Touch touches[])
{
  const PlacedForm box = place(b, at_b);
  const Vector3    centre = placed_to_local(&box, at_a->position), half = b->half;
  Vector3          outside;
  PetscReal        distance;
  PetscInt         nearest = X;

  for (PetscInt d = X; d < DIM; d++) {
    outside.at[d] = centre.at[d] - clamp(centre.at[d], -half.at[d], half.at[d]);
    if (PetscAbsReal(centre.at[d]) - half.at[d] > PetscAbsReal(centre.at[nearest]) - half.at[nearest])
      nearest = d;
  }
  distance = vector3_norm(outside);
  if (distance > 1e-14 * a->radius) {
    touches->normal = placed_turn_out(&box, vector3_scale(-1 / distance, outside));
  } else {
    distance = PetscAbsReal(centre.at[nearest]) - half.at[nearest];
    touches->normal = vector3_scale(centre.at[nearest] < 0 ? 1 : -1, box.axes[nearest]);
  }
  touches->gap = distance - a->radius;
  touches->point = vector3_along(at_a->position, a->radius + 0.5 * touches->gap, touches->normal);
  touches->feature = 0;
  return touches->gap <= reach;
}

/* A ball against a half-space. */
static PetscInt touch_ball_plane(Vector3 centre, PetscReal radius, const PlacedForm *plane, PetscReal reach,
                                 Touch *touch)
{
  const Vector3   up = plane->axes[Z];
  const PetscReal gap = vector3_dot(vector3_subtract(centre, plane->position), up) - radius;

  if (gap > reach)
    return 0;
  *touch = (Touch){vector3_along(centre, -radius - 0.5 * gap, up), vector3_scale(-1, up), gap, 0};
  return 1;
}

PetscInt touch_sphere_plane(const Form *a, const RigidTransform *at_a, const Form *b,
                            const RigidTransform *at_b, PetscReal reach, Touch touches[])
{
  const PlacedForm plane = place(b, at_b);

  return touch_ball_plane(at_a->position, a->radius, &plane, reach, touches);
}

PetscInt touch_capsule_plane(const Form *a, const RigidTransform *at_a, const Form *b,
                             const RigidTransform *at_b, PetscReal reach, Touch touches[])
{
  const PlacedForm capsule = place(a, at_a), plane = place(b, at_b);
  PetscInt         count = 0;

  for (int side = -1; side <= 1; side += 2) {
    const Vector3 end = capsule_point(&capsule, side * a->half.at[Z]);

    if (touch_ball_plane(end, a->radius, &plane, reach, touches + count))
      touches[count++].feature = side < 0 ? 1 : 2;
  }
  return count;
}

/* The nearest points of two segments -half <= s <= half about the centres, by s on each. */
static void nearest_on_axes(const PlacedForm *a, const PlacedForm *b, PetscReal cosine, PetscReal s[2])
{
  const Vector3   apart = vector3_subtract(b->position, a->position);
  const PetscReal along_a = vector3_dot(apart, a->axes[Z]), along_b = vector3_dot(apart, b->axes[Z]);
  const PetscReal half_a = a->form->half.at[Z], half_b = b->form->half.at[Z];
  const PetscReal sine_square = 1 - cosine * cosine;

  s[0] = sine_square > 1e-12 ? (along_a - cosine * along_b) / sine_square : 0;
  s[0] = clamp(s[0], -half_a, half_a);
  s[1] = clamp(cosine * s[0] - along_b, -half_b, half_b);
  s[0] = clamp(cosine * s[1] + along_a, -half_a, half_a);
}

static PetscInt touch_at(const PlacedForm *a, const PlacedForm *b, const PetscReal s[2], PetscReal reach,
                         Touch *touch)
{
  const Vector3   crossed = vector3_cross(a->axes[Z], b->axes[Z]);
  const PetscReal sine = vector3_norm(crossed);
  const Vector3   across = sine > 1e-6 ? vector3_scale(1 / sine, crossed) : vector3_perpendicular(a->axes[Z]);

  return touch_balls(capsule_point(a, s[0]), a->form->radius, capsule_point(b, s[1]), b->form->radius, across,
                     reach, touch);
}

/* The ends of the stretch where two nearly parallel axes run beside each other: an end of one of the
   capsules each, and its foot on the other. False if they do not overlap. */
static PetscBool stretch_end(const PlacedForm *a, const PlacedForm *b, PetscReal cosine, int side,
                             PetscReal s[2])
{
  const Vector3   apart = vector3_subtract(b->position, a->position);
  const PetscReal along_a = vector3_dot(apart, a->axes[Z]), along_b = vector3_dot(apart, b->axes[Z]);
  const PetscReal half_a = a->form->half.at[Z], half_b = b->form->half.at[Z];
  const PetscReal end_a = side * half_a, end_b = (cosine < 0 ? -side : side) * half_b;
  const PetscReal foot_on_b = cosine * end_a - along_b, foot_on_a = cosine * end_b + along_a;

  if (PetscAbsReal(foot_on_b) <= half_b) {
    s[0] = end_a;
    s[1] = foot_on_b;
    return PETSC_TRUE;
  }
  s[0] = foot_on_a;
  s[1] = end_b;
  return PetscAbsReal(foot_on_a) <= half_a ? PETSC_TRUE : PETSC_FALSE;
}

PetscInt touch_capsules(const Form *a, const RigidTransform *at_a, const Form *b, const RigidTransform *at_b,
                        PetscReal reach, Touch touches[])
{
  const PlacedForm first = place(a, at_a), second = place(b, at_b);
  const PetscReal  cosine = vector3_dot(first.axes[Z], second.axes[Z]);
  PetscReal        s[2], least = PETSC_INFINITY;
  PetscInt         count = 0;
  Touch            nearest;

  nearest_on_axes(&first, &second, cosine, s);
  if (!touch_at(&first, &second, s, reach, &nearest))
    return 0;
  if (1 - cosine * cosine < PARALLEL_SINE * PARALLEL_SINE)
    for (int side = -1; side <= 1; side += 2)
      if (stretch_end(&first, &second, cosine, side, s) &&
          touch_at(&first, &second, s, reach, touches + count)) {
        least = PetscMin(least, touches[count].gap);
        touches[count++].feature = side < 0 ? 1 : 2;
      }
  /* they cross between the ends, or do not run side by side */
  if (nearest.gap < least - 1e-6 * (a->radius + b->radius)) {
    nearest.feature = count ? 3 : 0;
    touches[count++] = nearest;
  }
  return count;
}
