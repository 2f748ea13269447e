/* Surfaces of revolution: a ring of vertices for each point of a profile, and bands of triangles between
   them.

   A ring has a whole number of sixths, 6 round(2 pi r / (6 edge)), so that rings of neighbouring size match
   in six places; rings of the same size are turned by half a segment against each other. A band between rings
   of m and n vertices is m + n triangles: from the two first vertices on, the one of the next two is joined
   that is nearer in angle. */
#include <math.h>
#include "mesh_impl.h"

typedef struct {
  PetscInt  first, count; /* vertices; one at the axis */
  PetscReal phase;        /* of the first, in segments */
} Ring;

typedef struct {
  Vector3   origin, axis, across[2];
  PetscReal edge;
  MeshDraft draft;
  PetscInt  count; /* of points and rings */
  Ring     *rings;
} Revolution;

static PetscReal ring_angle(const Ring *ring, PetscInt n)
{
  return ring->count == 1 ? 0 : ((PetscReal)n + ring->phase) / (PetscReal)ring->count;
}

static PetscErrorCode AddRing(Revolution *turned, const MeshProfilePoint *point)
{
  Ring           *ring = &turned->rings[turned->count];
  const Ring     *last = turned->count ? ring - 1 : NULL;
  const PetscReal sixths = PetscMax(1, round(2 * PETSC_PI * point->radius / (6 * turned->edge)));

  PetscFunctionBegin;
  PetscCheck(sixths < MAX_COUNT / 6, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "A ring of radius %g m cannot have edges of %g m", (double)point->radius, (double)turned->edge);
  *ring = (Ring){turned->draft.vertex_count, point->radius > 0 ? 6 * (PetscInt)sixths : 1, 0};
  if (last && last->count == ring->count && last->phase == 0)
    ring->phase = 0.5;
  for (PetscInt n = 0; n < ring->count; n++) {
    const PetscReal angle = 2 * PETSC_PI * ring_angle(ring, n);
    const Vector3   out = vector3_add(vector3_scale(PetscCosReal(angle), turned->across[0]),
                                      vector3_scale(PetscSinReal(angle), turned->across[1]));

    PetscCall(MeshDraftAddVertex(
        &turned->draft,
        vector3_add(turned->origin, vector3_add(vector3_scale(point->radius, out),
                                                vector3_scale(point->height, turned->axis)))));
  }
  turned->count++;
  PetscFunctionReturn(0);
}

static PetscInt ring_vertex(const Ring *ring, PetscInt n)
{
  return ring->first + n % ring->count;
}

/* Whether the next triangle goes on along the first ring. */
static PetscBool goes_along(const Ring *a, PetscInt i, const Ring *b, PetscInt j)
{
  if (i == a->count || j == b->count)
    return j == b->count ? PETSC_TRUE : PETSC_FALSE;
  return PetscAbsReal(ring_angle(a, i + 1) - ring_angle(b, j)) <=
                 PetscAbsReal(ring_angle(b, j + 1) - ring_angle(a, i))
             ? PETSC_TRUE
             : PETSC_FALSE;
}

static PetscErrorCode AddBand(MeshDraft *draft, const Ring *a, const Ring *b)
{
  PetscInt       i = 0, j = 0;
  const PetscInt around_a = a->count > 1 ? a->count : 0, around_b = b->count > 1 ? b->count : 0;

  PetscFunctionBegin;
  while (i < around_a || j < around_b) {
    const PetscBool along = around_b == 0 || (around_a > 0 && goes_along(a, i, b, j));
    const PetscInt  corners[] = {ring_vertex(a, i), along ? ring_vertex(a, i + 1) : ring_vertex(b, j + 1),
                                 ring_vertex(b, j)};

    PetscCall(MeshDraftAddElement(draft, corners));
    if (along)
      i++;
    else
      j++;
  }
  PetscFunctionReturn(0);
}

/* The pieces of one side of the profile, without its end. */
static PetscErrorCode AddSide(Revolution *turned, const MeshProfilePoint *from, const MeshProfilePoint *to)
{
  const PetscReal length = hypot(to->radius - from->radius, to->height - from->height);
  const PetscReal pieces = pieces_of(length, turned->edge);

  PetscFunctionBegin;
  PetscCheck(length > 0 && pieces < MAX_COUNT, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "A side of a profile from (%g, %g) to (%g, %g) cannot have edges of %g m", (double)from->radius,
             (double)from->height, (double)to->radius, (double)to->height, (double)turned->edge);
  PetscCall(
      PetscRealloc((size_t)(turned->count + (PetscInt)pieces + 1) * sizeof *turned->rings, &turned->rings));
  for (PetscInt n = 0; n < (PetscInt)pieces; n++) {
    const PetscReal        f = (PetscReal)n / pieces;
    const MeshProfilePoint point = {(1 - f) * from->radius + f * to->radius,
                                    (1 - f) * from->height + f * to->height};

    PetscCall(AddRing(turned, &point));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode CheckProfile(MeshProfileKind kind, PetscInt count, const MeshProfilePoint points[])
{
  PetscFunctionBegin;
  PetscCheck(count >= (kind == MESH_PROFILE_RING ? 3 : 2), PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "A profile of %" PetscInt_FMT " points is not a curve", count);
  for (PetscInt n = 0; n < count; n++) {
    const PetscBool is_end =
        kind == MESH_PROFILE_PATH && (n == 0 || n == count - 1) ? PETSC_TRUE : PETSC_FALSE;

    PetscCheck(points[n].radius > 0 || (points[n].radius == 0 && is_end), PETSC_COMM_SELF,
               PETSC_ERR_ARG_OUTOFRANGE,
               "Point %" PetscInt_FMT " of a profile has radius %g; only its ends may touch the axis", n,
               (double)points[n].radius);
  }
  PetscFunctionReturn(0);
}

PetscErrorCode MeshCreateRevolution(Vector3 origin, Vector3 axis, MeshProfileKind kind, PetscInt count,
                                    const MeshProfilePoint points[], PetscReal edge, Mesh *mesh)
{
  const PetscReal length = vector3_norm(axis);
  const PetscInt  sides = kind == MESH_PROFILE_RING ? count : count - 1;
  Revolution      turned = {.origin = origin, .edge = edge, .draft = {.corners = 3}};

  PetscFunctionBegin;
  PetscCheck(length > 0 && edge > 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "A surface of revolution needs an axis and an edge length");
  PetscCall(CheckProfile(kind, count, points));
  turned.axis = vector3_scale(1 / length, axis);
  perpendiculars(turned.axis, &turned.across[0], &turned.across[1]);
  for (PetscInt n = 0; n < sides; n++)
    PetscCall(AddSide(&turned, &points[n], &points[(n + 1) % count]));
  if (kind == MESH_PROFILE_PATH)
    PetscCall(AddRing(&turned, &points[count - 1]));
  for (PetscInt n = 0; n + 1 < turned.count; n++)
    PetscCall(AddBand(&turned.draft, &turned.rings[n], &turned.rings[n + 1]));
  if (kind == MESH_PROFILE_RING)
    PetscCall(AddBand(&turned.draft, &turned.rings[turned.count - 1], &turned.rings[0]));
  PetscCall(PetscFree(turned.rings));
  PetscCall(MeshDraftFinish(&turned.draft, DRAFT_WHOLE, mesh));
  PetscFunctionReturn(0);
}

/* From the rim inwards the normal is along the axis. */
PetscErrorCode MeshCreateDisc(Vector3 centre, Vector3 normal, PetscReal radius, PetscReal edge, Mesh *mesh)
{
  const MeshProfilePoint points[] = {{radius, 0}, {0, 0}};

  PetscFunctionBegin;
  PetscCall(MeshCreateRevolution(centre, normal, MESH_PROFILE_PATH, 2, points, edge, mesh));
  PetscFunctionReturn(0);
}

PetscErrorCode MeshCreateTube(Vector3 from, Vector3 to, PetscReal radius, PetscReal edge, Mesh *mesh)
{
  const Vector3          axis = vector3_subtract(to, from);
  const MeshProfilePoint points[] = {{radius, 0}, {radius, vector3_norm(axis)}};

  PetscFunctionBegin;
  PetscCall(MeshCreateRevolution(from, axis, MESH_PROFILE_PATH, 2, points, edge, mesh));
  PetscFunctionReturn(0);
}

/* Points of an arc about (radius, height), from one angle on by equal steps; the chords are not divided
   again, since none is longer than `edge`. */
static void add_arc(MeshProfilePoint points[], PetscInt count, MeshProfilePoint centre, PetscReal radius,
                    PetscReal start, PetscReal step)
{
  for (PetscInt n = 0; n < count; n++) {
    const PetscReal angle = start + step * (PetscReal)n;

    points[n] = (MeshProfilePoint){centre.radius + radius * PetscCosReal(angle),
                                   centre.height + radius * PetscSinReal(angle)};
  }
}

PetscErrorCode MeshCreateTorus(Vector3 centre, Vector3 axis, PetscReal major, PetscReal minor, PetscReal edge,
                               Mesh *mesh)
{
  const PetscReal   pieces = PetscMax(3, pieces_of(2 * PETSC_PI * minor, edge));
  MeshProfilePoint *points;

  PetscFunctionBegin;
  PetscCheck(minor > 0 && major > minor && edge > 0 && pieces < MAX_COUNT, PETSC_COMM_SELF,
             PETSC_ERR_ARG_OUTOFRANGE, "A torus of radii %g and %g m cannot have edges of %g m",
             (double)major, (double)minor, (double)edge);
  PetscCall(PetscMalloc1((PetscInt)pieces, &points));
  add_arc(points, (PetscInt)pieces, (MeshProfilePoint){major, 0}, minor, 0, 2 * PETSC_PI / pieces);
  PetscCall(MeshCreateRevolution(centre, axis, MESH_PROFILE_RING, (PetscInt)pieces, points, edge, mesh));
  PetscCall(PetscFree(points));
  PetscFunctionReturn(0);
}

PetscErrorCode MeshCreateCapsule(Vector3 from, Vector3 to, PetscReal radius, PetscReal edge, Mesh *mesh)
{
  const Vector3     axis = vector3_subtract(to, from);
  const PetscReal   quarter = pieces_of(PETSC_PI / 2 * radius, edge), step = PETSC_PI / 2 / quarter;
  const PetscInt    count = (PetscInt)PetscMin(quarter, MAX_COUNT) + 1;
  MeshProfilePoint *points;

  PetscFunctionBegin;
  PetscCheck(radius > 0 && edge > 0 && quarter < MAX_COUNT, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "A capsule of radius %g m cannot have edges of %g m", (double)radius, (double)edge);
  PetscCall(PetscMalloc1(2 * count, &points));
  add_arc(points, count, (MeshProfilePoint){0, 0}, radius, -PETSC_PI / 2, step);
  add_arc(points + count, count, (MeshProfilePoint){0, vector3_norm(axis)}, radius, 0, step);
  points[0].radius = points[2 * count - 1].radius = 0; /* round-off apart */
  PetscCall(MeshCreateRevolution(from, axis, MESH_PROFILE_PATH, 2 * count, points, edge, mesh));
  PetscCall(PetscFree(points));
  PetscFunctionReturn(0);
}
