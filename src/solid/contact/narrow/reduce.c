/* Few touches that hold a body as well as many. */
#include "touch_kinds.h"

/* Twice the area of a triangle seen along the normal, positive if counter-clockwise. */
static PetscReal signed_area(Vector3 a, Vector3 b, Vector3 c, Vector3 normal)
{
  return vector3_dot(normal, vector3_cross(vector3_subtract(b, a), vector3_subtract(c, a)));
}

static PetscReal square_distance(Vector3 a, Vector3 b)
{
  const Vector3 difference = vector3_subtract(a, b);

  return vector3_dot(difference, difference);
}

static void swap_touches(Touch *a, Touch *b)
{
  const Touch kept = *a;

  *a = *b;
  *b = kept;
}

/* Of those as deep as any, up to a ten-thousandth of the spread, the outermost in a fixed direction: on a
   flat side a corner, and the same one when a resting body trembles or slides. */
static PetscInt deepest(PetscInt count, const Touch touches[])
{
  const Vector3 odd = vector3(0.31, 0.47, 0.83); /* along no likely edge */
  PetscReal     lowest = PETSC_INFINITY, spread = 0, farthest = -PETSC_INFINITY;
  PetscInt      best = 0;

  for (PetscInt n = 0; n < count; n++) {
    lowest = PetscMin(lowest, touches[n].gap);
    spread = PetscMax(spread, square_distance(touches[n].point, touches[0].point));
  }
  for (PetscInt n = 0; n < count; n++) {
    const PetscReal along = vector3_dot(odd, touches[n].point);

    if (touches[n].gap <= lowest + 1e-4 * PetscSqrtReal(spread) && along > farthest) {
      farthest = along;
      best = n;
    }
  }
  return best;
}

/* What the touches in front have yet to gain from one more: distance, area, or area outside the triangle. */
static PetscReal gain(PetscInt chosen, const Touch touches[], Vector3 point)
{
  const Vector3 normal = touches[0].normal;
  PetscReal     outside = 0, turn;

  if (chosen == 1)
    return square_distance(point, touches[0].point);
  if (chosen == 2)
    return PetscAbsReal(signed_area(touches[0].point, touches[1].point, point, normal));
  turn = signed_area(touches[0].point, touches[1].point, touches[2].point, normal) > 0 ? 1 : -1;
  for (int k = 0; k < 3; k++) {
    outside =
        PetscMax(outside, -turn * signed_area(touches[k].point, touches[(k + 1) % 3].point, point, normal));
  }
  return outside;
}

PetscInt reduce_touches(PetscInt count, Touch touches[])
{
  PetscReal spread = 0;

  if (count <= 4)
    return count;
  swap_touches(&touches[0], &touches[deepest(count, touches)]);
  for (PetscInt chosen = 1; chosen < 4; chosen++) {
    PetscInt  best = chosen;
    PetscReal most = -1;

    for (PetscInt n = chosen; n < count; n++) {
      const PetscReal its = gain(chosen, touches, touches[n].point);

      if (its > most * (1 + 1e-6)) {
        most = its;
        best = n;
      }
    }
    if (chosen == 1)
      spread = most;
    /* the rest is on one line, or within the triangle */
    if (most <= 1e-6 * spread)
      return chosen;
    swap_touches(&touches[chosen], &touches[best]);
  }
  return 4;
}
