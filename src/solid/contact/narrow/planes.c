/* A plane (first) against what is not simple, exact.

   What is round about an axis touches with circles of points in planes across the axis: the deepest point of
   a circle, the two a quarter turn aside and the opposite one. Those beyond `reach` do not count, so that a
   body that tilts lets go of its points one after the other. */
#include "hull.h"
#include "samples.h"
#include "touch_kinds.h"

static Touch touch_at(const PlacedForm *plane, Vector3 point, PetscReal gap, uint32_t feature)
{
  const Vector3 normal = plane->axes[Z];

  return (Touch){vector3_along(point, -0.5 * gap, normal), normal, gap, feature};
}

/* Height of a point of the world above the plane. */
static inline PetscReal height_above(const PlacedForm *plane, Vector3 point)
{
  return vector3_dot(plane->axes[Z], vector3_subtract(point, plane->position));
}

/* Drops what is beyond `reach`, then the highest until four are left. */
static PetscInt keep_lowest(PetscInt count, Touch touches[], PetscReal reach)
{
  PetscInt kept = 0;

  for (PetscInt n = 0; n < count; n++) {
    if (touches[n].gap <= reach)
      touches[kept++] = touches[n];
  }
  while (kept > 4) {
    PetscInt highest = 0;

    for (PetscInt n = 1; n < kept; n++)
      highest = touches[n].gap > touches[highest].gap ? n : highest;
    touches[highest] = touches[--kept];
  }
  return kept;
}

/* The direction across the axis that leads down; along the body's x-axis if the axis stands upright, where
   all points of a circle are equally deep. */
static Vector3 downhill(const PlacedForm *plane, const PlacedForm *body)
{
  const Vector3   axis = body->axes[Z], normal = plane->axes[Z];
  const Vector3   across = vector3_along(normal, -vector3_dot(normal, axis), axis);
  const PetscReal norm = vector3_norm(across);

  return norm > 1e-9 ? vector3_scale(-1 / norm, across) : body->axes[X];
}

/* Four points of a circle about the body's axis at `height`, fattened by `tube`. */
static PetscInt touch_circle(const PlacedForm *plane, const PlacedForm *body, PetscReal height,
                             PetscReal radius, PetscReal tube, Touch touches[])
{
  const Vector3 down = downhill(plane, body), side = vector3_cross(body->axes[Z], down);
  const Vector3 centre = vector3_along(body->position, height, body->axes[Z]);
  const Vector3 directions[4] = {down, side, vector3_scale(-1, down), vector3_scale(-1, side)};

  for (uint32_t k = 0; k < 4; k++) {
    const Vector3 point = vector3_along(vector3_along(centre, radius, directions[k]), -tube, plane->axes[Z]);

    touches[k] = touch_at(plane, point, height_above(plane, point), 1 + k);
  }
  return 4;
}

PetscInt touch_plane_cylinder(const Form *plane, const RigidTransform *at_plane, const Form *cylinder,
                              const RigidTransform *at_cylinder, PetscReal reach,
                              Touch touches[TOUCH_CAPACITY])
{
  const PlacedForm ground = place(plane, at_plane), body = place(cylinder, at_cylinder);
  const PetscReal  lower = vector3_dot(ground.axes[Z], body.axes[Z]) > 0 ? -1 : 1; /* end */
  const PetscReal  half = lower * cylinder->half.at[Z];
  PetscInt         count = touch_circle(&ground, &body, half, cylinder->radius, 0, touches);
  const Vector3    across = vector3_scale(cylinder->radius, downhill(&ground, &body));
  const Vector3    other = vector3_along(vector3_add(body.position, across), -half, body.axes[Z]);

  touches[count++] = touch_at(&ground, other, height_above(&ground, other), 1);
  /* named after the end they are at: for a lying cylinder round-off decides which is the lower one */
  for (PetscInt n = 0; n < count; n++)
    touches[n].feature += (n < 4) == (lower > 0) ? 8 : 0;
  return keep_lowest(count, touches, reach);
}

PetscInt touch_plane_cone(const Form *plane, const RigidTransform *at_plane, const Form *cone,
                          const RigidTransform *at_cone, PetscReal reach, Touch touches[TOUCH_CAPACITY])
{
  const PlacedForm ground = place(plane, at_plane), body = place(cone, at_cone);
  const Vector3    tip = vector3_along(body.position, cone->tip, body.axes[Z]);
  PetscInt         count = touch_circle(&ground, &body, cone->base, cone->radius, 0, touches);

  touches[count++] = touch_at(&ground, tip, height_above(&ground, tip), 5);
  return keep_lowest(count, touches, reach);
}

PetscInt touch_plane_torus(const Form *plane, const RigidTransform *at_plane, const Form *torus,
                           const RigidTransform *at_torus, PetscReal reach, Touch touches[TOUCH_CAPACITY])
{
  const PlacedForm ground = place(plane, at_plane), body = place(torus, at_torus);
  const PetscInt   count = touch_circle(&ground, &body, 0, torus->major, torus->radius, touches);

  return keep_lowest(count, touches, reach);
}

PetscInt touch_plane_hull(const Form *plane, const RigidTransform *at_plane, const Form *hull,
                          const RigidTransform *at_hull, PetscReal reach, Touch touches[TOUCH_CAPACITY])
{
  const PlacedForm ground = place(plane, at_plane), body = place(hull, at_hull);
  const Vector3    normal = placed_turn_in(&body, ground.axes[Z]);
  const PetscReal  shift = height_above(&ground, body.position);
  Touch            found[HULL_CORNERS];
  PetscInt         count = 0;

  for (PetscInt c = 0; c < hull->hull->corner_count; c++) {
    const Vector3   corner = hull->hull->corners[c];
    const PetscReal gap = shift + vector3_dot(normal, corner);

    if (gap <= reach)
      found[count++] = touch_at(&ground, placed_to_world(&body, corner), gap, 1 + (uint32_t)c);
  }
  count = reduce_touches(count, found);
  for (PetscInt n = 0; n < count; n++)
    touches[n] = found[n];
  return count;
}

/* Few are left when there are many, so the points of a flat side need not fit all at once. */
enum { PLANE_CANDIDATES = 256 };

PetscInt touch_plane_samples(const Form *plane, const RigidTransform *at_plane, const Form *form,
                             const RigidTransform *at_form, PetscReal reach, Touch touches[TOUCH_CAPACITY])
{
  const PlacedForm ground = place(plane, at_plane), body = place(form, at_form);
  const Vector3    normal = placed_turn_in(&body, ground.axes[Z]);
  const PetscReal  skin = 0.5 * form->thickness, shift = height_above(&ground, body.position) - skin;
  const Samples    samples = form->samples;
  Touch            found[PLANE_CANDIDATES];
  PetscInt         stack[SAMPLE_DEPTH], height = 0, count = 0;

  stack[height++] = 0;
  while (height > 0) {
    const PetscInt    at = stack[--height];
    const SampleNode *node = &samples->nodes[at];

    if (shift + vector3_dot(normal, node->centre) - node->radius > reach)
      continue;
    if (node->second > 0) {
      stack[height++] = node->second;
      stack[height++] = at + 1;
      continue;
    }
    for (PetscInt n = node->first; n < node->first + node->count; n++) {
      const PetscReal gap = shift + vector3_dot(normal, samples->all[n].point);

      if (gap > reach)
        continue;
      if (count == PLANE_CANDIDATES)
        count = reduce_touches(count, found);
      found[count++] = touch_at(
          &ground, vector3_along(placed_to_world(&body, samples->all[n].point), -skin, ground.axes[Z]), gap,
          1 + (uint32_t)n);
    }
  }
  count = reduce_touches(count, found);
  for (PetscInt n = 0; n < count; n++)
    touches[n] = found[n];
  return count;
}
