/* Where a face of one hull lies on a face of another: the incident face, cut by the planes through the sides
   of the reference face (Sutherland and Hodgman). Each corner of the cut polygon is named by the two sides it
   lies between, so a name stays while the bodies slide. */
#include "hull_impl.h"

enum { POLYGON_CORNERS = 2 * HULL_FACES };

typedef struct {
  PetscInt count;
  Vector3  corners[POLYGON_CORNERS];
  uint8_t sides[POLYGON_CORNERS]; /* the one from this corner to the next: of the incident face, or cutting */
} ClippedFace;

/* Of the faces at the corner farthest against `normal`, the one that looks most that way. */
static PetscInt most_opposed_face(const PlacedHull *placed, Vector3 normal)
{
  const Hull hull = placed->hull;
  PetscReal  heights[HULL_CORNERS], lowest = PETSC_INFINITY, least = PETSC_INFINITY;
  PetscInt   best = 0;

  for (PetscInt c = 0; c < hull->corner_count; c++) {
    heights[c] = vector3_dot(normal, placed->corners[c]);
    lowest = PetscMin(lowest, heights[c]);
  }
  for (PetscInt f = 0; f < hull->face_count; f++) {
    const PetscReal cosine = vector3_dot(placed->normals[f], normal);
    const PetscInt *ring = hull->rings + hull->faces[f].first;

    for (PetscInt k = 0; k < hull->faces[f].count && cosine < least; k++) {
      if (heights[ring[k]] <= lowest) {
        least = cosine;
        best = f;
      }
    }
  }
  return best;
}

static void load_face(const PlacedHull *placed, PetscInt f, ClippedFace *polygon)
{
  const HullFace *face = &placed->hull->faces[f];

  polygon->count = face->count;
  for (PetscInt k = 0; k < face->count; k++) {
    polygon->corners[k] = placed->corners[placed->hull->rings[face->first + k]];
    polygon->sides[k] = (uint8_t)k;
  }
}

static inline void polygon_add(ClippedFace *polygon, Vector3 corner, uint8_t side)
{
  if (polygon->count == POLYGON_CORNERS)
    return;
  polygon->corners[polygon->count] = corner;
  polygon->sides[polygon->count++] = side;
}

/* Keeps what is below the plane outward . x = offset. */
static void cut_polygon(const ClippedFace *whole, Vector3 outward, PetscReal offset, uint8_t side,
                        ClippedFace *kept)
{
  PetscReal height, first;

  kept->count = 0;
  if (whole->count == 0)
    return;
  first = height = vector3_dot(outward, whole->corners[0]) - offset;
  for (PetscInt k = 0; k < whole->count; k++) {
    const PetscInt  next = k + 1 < whole->count ? k + 1 : 0;
    const PetscReal next_height = next > 0 ? vector3_dot(outward, whole->corners[next]) - offset : first;
    const PetscBool enters = height > 0 && next_height <= 0, leaves = height <= 0 && next_height > 0;

    if (height <= 0)
      polygon_add(kept, whole->corners[k], whole->sides[k]);
    if (enters || leaves) {
      const PetscReal part = height / (height - next_height);

      polygon_add(kept, point_between(whole->corners[k], whole->corners[next], part),
                  leaves ? side : whole->sides[k]);
    }
    height = next_height;
  }
}

/* The part of the incident face above or below the reference face; returns which of the two it is in. */
static const ClippedFace *cut_by_sides(const FaceContact *contact, PetscInt incident_face,
                                       ClippedFace work[2])
{
  const PlacedHull *reference = contact->reference;
  const HullFace   *face = &reference->hull->faces[contact->face];
  const PetscInt   *ring = reference->hull->rings + face->first;
  const PetscInt    incident_sides = contact->incident->hull->faces[incident_face].count;

  load_face(contact->incident, incident_face, &work[0]);
  for (PetscInt k = 0; k < face->count; k++) {
    const Vector3 from = reference->corners[ring[k]];
    const Vector3 to = reference->corners[ring[k + 1 < face->count ? k + 1 : 0]];
    const Vector3 outward = vector3_cross(vector3_subtract(to, from), reference->normals[contact->face]);

    cut_polygon(&work[k % 2], outward, vector3_dot(outward, from), (uint8_t)(incident_sides + k),
                &work[(k + 1) % 2]);
  }
  return &work[face->count % 2];
}

PetscInt clip_faces(const FaceContact *contact, PetscReal reach, Touch touches[])
{
  const Vector3  normal = contact->reference->normals[contact->face];
  const PetscInt incident_face = most_opposed_face(contact->incident, normal);
  const uint32_t faces = 1u << 30 | (contact->sense > 0 ? 1u << 29 : 0) | (uint32_t)contact->face << 20 |
                         (uint32_t)incident_face << 14;
  ClippedFace        work[2];
  const ClippedFace *cut = cut_by_sides(contact, incident_face, work);
  Touch              found[POLYGON_CORNERS];
  PetscInt           count = 0;

  for (PetscInt k = 0; k < cut->count; k++) {
    const PetscReal gap = vector3_dot(normal, cut->corners[k]) - contact->reference->offsets[contact->face];
    const uint32_t  before = cut->sides[k > 0 ? k - 1 : cut->count - 1], after = cut->sides[k];

    if (gap > reach)
      continue;
    found[count++] = (Touch){.point = vector3_subtract(cut->corners[k], vector3_scale(0.5 * gap, normal)),
                             .normal = vector3_scale(contact->sense, normal),
                             .gap = gap,
                             .feature = faces | before << 7 | after};
  }
  count = reduce_touches(count, found);
  for (PetscInt n = 0; n < count; n++)
    touches[n] = found[n];
  return count;
}
