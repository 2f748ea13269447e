/* Spheres and capsules against hulls, in the hull's frame.

   A centre or axis outside has a nearest point on the hull, whose direction is the normal. One inside is
   pushed out through the face, or for an axis the edge, of least depth. An axis that lies along a face
   touches with both ends of the part above it. */
#include "hull_impl.h"

/* Beyond this angle to a face (8 degrees) a capsule does not lie on it. */
#define LYING_COSINE 0.99

PetscInt touch_sphere_hull(const Form *sphere, const RigidTransform *at_sphere, const Form *hull,
                           const RigidTransform *at_hull, PetscReal reach, Touch touches[TOUCH_CAPACITY])
{
  Vector3         outward;
  const PetscReal distance =
      hull_distance(hull->hull, rigid_apply_inverse(at_hull, at_sphere->position), &outward);

  if (distance - sphere->radius > reach)
    return 0;
  outward = quaternion_rotate(at_hull->rotation, outward);
  touches[0] = (Touch){.point = vector3_subtract(at_sphere->position,
                                                 vector3_scale(0.5 * (distance + sphere->radius), outward)),
                       .normal = vector3_scale(-1, outward),
                       .gap = distance - sphere->radius};
  return 1;
}

/* How a segment lies to a hull. */
typedef struct {
  PetscReal distance; /* of its nearest point; negative: depth */
  Vector3   outward;  /* from the hull */
  Vector3   point;    /* of the segment */
  PetscInt  face;     /* with the segment farthest above it */
} SegmentContact;

static PetscReal highest_face(Hull hull, const Vector3 ends[2], PetscInt *highest)
{
  PetscReal best = -PETSC_INFINITY;

  for (PetscInt f = 0; f < hull->face_count; f++) {
    const HullFace *face = &hull->faces[f];
    const PetscReal height =
        PetscMin(vector3_dot(face->normal, ends[0]), vector3_dot(face->normal, ends[1])) - face->offset;

    if (height > best) {
      best = height;
      *highest = f;
    }
  }
  return best;
}

/* The edge with the segment farthest above it along their common normal, if that is one of the hull there.
   Returns -infinity if there is none. */
static PetscReal highest_edge(Hull hull, const Vector3 ends[2], Vector3 *normal, PetscInt *highest)
{
  const Vector3 along = vector3_subtract(ends[1], ends[0]);
  PetscReal     best = -PETSC_INFINITY;

  for (PetscInt e = 0; e < hull->edge_count; e++) {
    const HullEdge *edge = &hull->edges[e];
    const Vector3   sides[2] = {hull->faces[edge->faces[0]].normal, hull->faces[edge->faces[1]].normal};
    Vector3         axis = vector3_cross(edge->direction, along);
    const PetscReal norm = vector3_norm(axis);
    PetscReal       height;

    if (norm <= 1e-6 * vector3_norm(along))
      continue;
    axis = vector3_scale((vector3_dot(axis, vector3_add(sides[0], sides[1])) < 0 ? -1 : 1) / norm, axis);
    height = vector3_dot(axis, vector3_subtract(ends[0], hull->corners[edge->corners[0]]));
    if (height > best && vector3_dot(edge->direction, vector3_cross(sides[0], axis)) >= 0 &&
        vector3_dot(edge->direction, vector3_cross(axis, sides[1])) >= 0) {
      best = height;
      *normal = axis;
      *highest = e;
    }
  }
  return best;
}

/* Among the edges and the two ends. */
static void find_nearest(Hull hull, const Vector3 ends[2], SegmentContact *contact)
{
  contact->distance = PETSC_INFINITY;
  for (int k = 0; k < 2; k++) {
    Vector3         outward;
    const PetscReal distance = hull_distance(hull, ends[k], &outward);

    if (distance < contact->distance) {
      contact->distance = distance;
      contact->outward = outward;
      contact->point = ends[k];
    }
  }
  for (PetscInt e = 0; e < hull->edge_count; e++) {
    const PetscInt *corners = hull->edges[e].corners;
    const Vector3   edge[2] = {hull->corners[corners[0]], hull->corners[corners[1]]};
    Vector3         away, point;
    PetscReal       parts[2], distance;

    nearest_on_segments(ends, edge, parts);
    point = point_between(ends[0], ends[1], parts[0]);
    away = vector3_subtract(point, point_between(edge[0], edge[1], parts[1]));
    distance = vector3_norm(away);
    if (distance < contact->distance && distance > 0) {
      contact->distance = distance;
      contact->outward = vector3_scale(1 / distance, away);
      contact->point = point;
    }
  }
}

static SegmentContact meet_segment(Hull hull, const Vector3 ends[2])
{
  SegmentContact  contact = {.face = 0};
  Vector3         normal = {{0}};
  PetscInt        edge = 0;
  const PetscReal face_height = highest_face(hull, ends, &contact.face);
  const PetscReal edge_height = highest_edge(hull, ends, &normal, &edge);

  if (PetscMax(face_height, edge_height) > 0) {
    find_nearest(hull, ends, &contact);
  } else if (edge_height > face_height) {
    const PetscInt *corners = hull->edges[edge].corners;
    PetscReal       parts[2];

    nearest_on_segments(ends, (const Vector3[2]){hull->corners[corners[0]], hull->corners[corners[1]]},
                        parts);
    contact.distance = edge_height;
    contact.outward = normal;
    contact.point = point_between(ends[0], ends[1], parts[0]);
  } else {
    contact.distance = face_height;
    contact.outward = hull->faces[contact.face].normal;
    contact.point = vector3_dot(contact.outward, vector3_subtract(ends[1], ends[0])) > 0 ? ends[0] : ends[1];
  }
  return contact;
}

/* Cuts the segment to what is above the face; false if nothing is. */
static PetscBool cut_segment(Hull hull, const HullFace *face, Vector3 ends[2])
{
  const PetscInt *ring = hull->rings + face->first;

  for (PetscInt k = 0; k < face->count; k++) {
    const Vector3   from = hull->corners[ring[k]], to = hull->corners[ring[(k + 1) % face->count]];
    const Vector3   outward = vector3_cross(vector3_subtract(to, from), face->normal);
    const PetscReal first = vector3_dot(outward, vector3_subtract(ends[0], from));
    const PetscReal second = vector3_dot(outward, vector3_subtract(ends[1], from));

    if (first > 0 && second > 0)
      return PETSC_FALSE;
    if (first > 0)
      ends[0] = point_between(ends[0], ends[1], first / (first - second));
    else if (second > 0)
      ends[1] = point_between(ends[0], ends[1], first / (first - second));
  }
  return PETSC_TRUE;
}

static Touch local_touch(Vector3 point, Vector3 outward, PetscReal distance, PetscReal radius)
{
  return (Touch){.point = vector3_subtract(point, vector3_scale(0.5 * (distance + radius), outward)),
                 .normal = vector3_scale(-1, outward),
                 .gap = distance - radius};
}

/* Both ends of the part above the face; none if the capsule does not lie on it. */
static PetscInt touch_lying(const Form *capsule, Hull hull, const SegmentContact *contact,
                            const Vector3 ends[2], Touch touches[])
{
  const HullFace *face = &hull->faces[contact->face];
  Vector3         above[2] = {ends[0], ends[1]};

  if (vector3_dot(contact->outward, face->normal) < LYING_COSINE || !cut_segment(hull, face, above))
    return 0;
  for (uint32_t k = 0; k < 2; k++) {
    const PetscReal height = vector3_dot(face->normal, above[k]) - face->offset;

    touches[k] = local_touch(above[k], face->normal, height, capsule->radius);
    touches[k].feature = 1 + 2 * (uint32_t)contact->face + k;
  }
  return 2;
}

PetscInt touch_capsule_hull(const Form *capsule, const RigidTransform *at_capsule, const Form *hull,
                            const RigidTransform *at_hull, PetscReal reach, Touch touches[TOUCH_CAPACITY])
{
  const Vector3  half = quaternion_rotate(at_capsule->rotation, vector3(0, 0, capsule->half.at[Z]));
  const Vector3  ends[2] = {rigid_apply_inverse(at_hull, vector3_subtract(at_capsule->position, half)),
                            rigid_apply_inverse(at_hull, vector3_add(at_capsule->position, half))};
  SegmentContact contact = meet_segment(hull->hull, ends);
  PetscInt       count, kept = 0;

  if (contact.distance - capsule->radius > reach)
    return 0;
  count = touch_lying(capsule, hull->hull, &contact, ends, touches);
  /* the nearest point may be beyond the face, on an edge */
  if (count == 0 || PetscMin(touches[0].gap, touches[1].gap) > contact.distance - 0.999 * capsule->radius)
    touches[count++] = local_touch(contact.point, contact.outward, contact.distance, capsule->radius);
  for (PetscInt n = 0; n < count; n++) {
    if (touches[n].gap > reach)
      continue;
    touches[kept] = touches[n];
    touches[kept].point = rigid_apply(at_hull, touches[n].point);
    touches[kept++].normal = quaternion_rotate(at_hull->rotation, touches[n].normal);
  }
  return kept;
}
