/* Contact of two convex polyhedra by the separating axis theorem.

   The axis of the largest separation is a normal of a face, or the cross product of two edges whose arcs on
   the sphere of normals cross: only such a pair spans a face of the Minkowski difference. A face gives the
   cut polygon of the two opposite faces, a pair of edges one point. Where the hulls are apart and the axis
   belongs to features that are not the nearest ones, the nearest points are sought among corners and edges.
 */
#include "hull_impl.h"

typedef struct {
  PetscReal separation;
  PetscInt  first, second; /* face, or edges */
  Vector3   normal;        /* from the first hull to the second */
} SeparatingAxis;

static void place_hull(Hull hull, const RigidTransform *placement, Vector3 origin, PlacedHull *placed)
{
  const Matrix3 turn = matrix3_from_quaternion(placement->rotation);
  const Vector3 shift = vector3_subtract(placement->position, origin);

  placed->hull = hull;
  for (PetscInt c = 0; c < hull->corner_count; c++)
    placed->corners[c] = vector3_add(shift, matrix3_apply(&turn, hull->corners[c]));
  for (PetscInt f = 0; f < hull->face_count; f++) {
    placed->normals[f] = matrix3_apply(&turn, hull->faces[f].normal);
    placed->offsets[f] = hull->faces[f].offset + vector3_dot(placed->normals[f], shift);
  }
}

static void place_directions(const RigidTransform *placement, PlacedHull *placed)
{
  const Matrix3 turn = matrix3_from_quaternion(placement->rotation);

  for (PetscInt e = 0; e < placed->hull->edge_count; e++)
    placed->directions[e] = matrix3_apply(&turn, placed->hull->edges[e].direction);
}

/* The face of `a` with all of `b` farthest above it. Stops at one that is farther than `reach`. */
static SeparatingAxis best_face(const PlacedHull *a, const PlacedHull *b, PetscReal reach)
{
  SeparatingAxis best = {.separation = -PETSC_INFINITY};

  for (PetscInt f = 0; f < a->hull->face_count && best.separation <= reach; f++) {
    PetscReal lowest = PETSC_INFINITY;

    for (PetscInt c = 0; c < b->hull->corner_count; c++)
      lowest = PetscMin(lowest, vector3_dot(a->normals[f], b->corners[c]));
    if (lowest - a->offsets[f] > best.separation)
      best = (SeparatingAxis){.separation = lowest - a->offsets[f], .first = f, .normal = a->normals[f]};
  }
  return best;
}

/* The normal of the Minkowski face that two edges span; false if their arcs do not cross or they are
   parallel. `cosine[k]` is that of edge j's face k with edge i. */
static PetscBool edges_span_a_face(const PlacedHull *a, PetscInt i, const PlacedHull *b, PetscInt j,
                                   const PetscReal cosine[2], Vector3 *normal)
{
  const PetscInt *faces = a->hull->edges[i].faces;
  const PetscReal first = -vector3_dot(a->normals[faces[0]], b->directions[j]);
  const PetscReal second = -vector3_dot(a->normals[faces[1]], b->directions[j]);
  PetscReal       square;

  if (first * second >= 0 || cosine[0] * second <= 0)
    return PETSC_FALSE;
  *normal = vector3_cross(a->directions[i], b->directions[j]);
  square = vector3_dot(*normal, *normal);
  if (square < 1e-8)
    return PETSC_FALSE;
  if (vector3_dot(*normal, vector3_add(a->normals[faces[0]], a->normals[faces[1]])) < 0)
    square = -square;
  *normal = vector3_scale((square < 0 ? -1 : 1) / PetscSqrtReal(PetscAbsReal(square)), *normal);
  return PETSC_TRUE;
}

static SeparatingAxis best_edges(const PlacedHull *a, const PlacedHull *b, PetscReal reach)
{
  SeparatingAxis best = {.separation = -PETSC_INFINITY};
  PetscReal      cosines[HULL_FACES];
  Vector3        normal;

  for (PetscInt i = 0; i < a->hull->edge_count && best.separation <= reach; i++) {
    const Vector3 start = a->corners[a->hull->edges[i].corners[0]];

    for (PetscInt f = 0; f < b->hull->face_count; f++)
      cosines[f] = vector3_dot(b->normals[f], a->directions[i]);
    for (PetscInt j = 0; j < b->hull->edge_count; j++) {
      const HullEdge *edge = &b->hull->edges[j];
      const PetscReal two[2] = {cosines[edge->faces[0]], cosines[edge->faces[1]]};
      PetscReal       separation;

      if (two[0] * two[1] >= 0 || !edges_span_a_face(a, i, b, j, two, &normal))
        continue;
      separation = vector3_dot(normal, vector3_subtract(b->corners[edge->corners[0]], start));
      if (separation > best.separation)
        best = (SeparatingAxis){separation, i, j, normal};
    }
  }
  return best;
}

static void load_edge(const PlacedHull *placed, PetscInt e, Vector3 ends[2])
{
  for (int k = 0; k < 2; k++)
    ends[k] = placed->corners[placed->hull->edges[e].corners[k]];
}

/* Nothing if the nearest points of the lines are beyond the ends of the edges. */
static PetscInt touch_edges(const PlacedHull *a, const PlacedHull *b, const SeparatingAxis *axis,
                            Touch *touch)
{
  Vector3   first[2], second[2], on_first, on_second;
  PetscReal parts[2];

  load_edge(a, axis->first, first);
  load_edge(b, axis->second, second);
  nearest_on_segments(first, second, parts);
  if (parts[0] <= 0 || parts[0] >= 1 || parts[1] <= 0 || parts[1] >= 1)
    return 0;
  on_first = point_between(first[0], first[1], parts[0]);
  on_second = point_between(second[0], second[1], parts[1]);
  *touch = (Touch){.point = point_between(on_first, on_second, 0.5),
                   .normal = axis->normal,
                   .gap = axis->separation,
                   .feature = 1u << 31 | (uint32_t)axis->first << 8 | (uint32_t)axis->second};
  return 1;
}

/* Hulls that are apart may be nearest where the axis does not lead to; then that place comes first. */
static PetscInt add_nearest(const PlacedHull *a, const PlacedHull *b, const SeparatingAxis *axis,
                            PetscReal reach, PetscInt count, Touch touches[])
{
  const PetscReal slack = 1e-5 * PetscMin(a->hull->extent, b->hull->extent);
  PetscReal       least = PETSC_INFINITY;
  Touch           nearest;

  for (PetscInt n = 0; n < count; n++)
    least = PetscMin(least, touches[n].gap);
  if (least <= axis->separation + slack ||
      !touch_nearest(a, b, axis->normal, axis->separation, reach, &nearest) || nearest.gap > least - slack)
    return count;
  for (PetscInt n = PetscMin(count, 3); n > 0; n--)
    touches[n] = touches[n - 1];
  touches[0] = nearest;
  return PetscMin(count + 1, 4);
}

/* Faces of both hulls often tie; then the same one must be chosen whichever hull comes first, and also when a
   resting body trembles. */
static const SeparatingAxis *better_face(const PlacedHull *a, const PlacedHull *b,
                                         const SeparatingAxis axes[2])
{
  const PetscReal slack = 1e-5 * PetscMin(a->hull->extent, b->hull->extent);
  const PetscReal lead = axes[1].separation - axes[0].separation;
  const Vector3   odd = vector3(0.31, 0.47, 0.83); /* across no likely normal */

  if (PetscAbsReal(lead) > slack)
    return lead > 0 ? &axes[1] : &axes[0];
  return vector3_dot(odd, vector3_subtract(axes[0].normal, axes[1].normal)) > 0 ? &axes[0] : &axes[1];
}

static PetscInt touch_placed(const PlacedHull *a, const PlacedHull *b, const SeparatingAxis axes[3],
                             PetscReal reach, Touch touches[])
{
  const PetscReal       slack = 1e-5 * PetscMin(a->hull->extent, b->hull->extent);
  const SeparatingAxis *face = better_face(a, b, axes);
  const SeparatingAxis *best = axes[2].separation > face->separation + slack ? &axes[2] : face;
  PetscInt              count = 0;

  if (best == &axes[2])
    count = touch_edges(a, b, best, touches);
  /* edges that overlap but cross beyond their ends are a tie with a face, up to round-off */
  if (count == 0 && (best == face || best->separation <= 0))
    count = face == &axes[1] ? clip_faces(&(FaceContact){b, a, face->first, -1}, reach, touches)
                             : clip_faces(&(FaceContact){a, b, face->first, 1}, reach, touches);
  if (best->separation > 0)
    count = add_nearest(a, b,
                        &(SeparatingAxis){.separation = best->separation,
                                          .normal = vector3_scale(best == &axes[1] ? -1 : 1, best->normal)},
                        reach, count, touches);
  return count;
}

PetscInt touch_hulls(const Form *a, const RigidTransform *at_a, const Form *b, const RigidTransform *at_b,
                     PetscReal reach, Touch touches[TOUCH_CAPACITY])
{
  const Vector3  origin = point_between(at_a->position, at_b->position, 0.5);
  PlacedHull     first, second;
  SeparatingAxis axes[3]; /* faces of the first, of the second, edges */
  PetscInt       count;

  place_hull(a->hull, at_a, origin, &first);
  place_hull(b->hull, at_b, origin, &second);
  axes[0] = best_face(&first, &second, reach);
  if (axes[0].separation > reach)
    return 0;
  axes[1] = best_face(&second, &first, reach);
  if (axes[1].separation > reach)
    return 0;
  place_directions(at_a, &first);
  place_directions(at_b, &second);
  axes[2] = best_edges(&first, &second, reach);
  if (axes[2].separation > reach)
    return 0;
  count = touch_placed(&first, &second, axes, reach, touches);
  for (PetscInt n = 0; n < count; n++)
    touches[n].point = vector3_add(touches[n].point, origin);
  return count;
}
