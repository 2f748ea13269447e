/* The body-centred cubic lattice, and the solid that is made of all its tetrahedra that touch a shape. */
#include <math.h>
#include <stdio.h>
#include "lattice.h"

static PetscInt count_corners(const PetscInt cells[DIM])
{
  return (cells[X] + 1) * (cells[Y] + 1) * (cells[Z] + 1);
}

PetscInt lattice_corner(const BccLattice *lattice, const PetscInt cell[DIM], PetscInt bits)
{
  const PetscInt *n = lattice->cells;
  const PetscInt  x = cell[X] + (bits & 1), y = cell[Y] + (bits >> 1 & 1), z = cell[Z] + (bits >> 2 & 1);

  return (z * (n[Y] + 1) + y) * (n[X] + 1) + x;
}

PetscInt lattice_centre(const BccLattice *lattice, const PetscInt cell[DIM])
{
  const PetscInt *n = lattice->cells;

  return lattice->corner_count + (cell[Z] * n[Y] + cell[Y]) * n[X] + cell[X];
}

Vector3 lattice_place(const BccLattice *lattice, PetscInt vertex)
{
  const PetscBool is_centre = lattice_is_centre(lattice, vertex);
  const PetscInt  more = is_centre ? 0 : 1;
  const PetscInt  wide = lattice->cells[X] + more, high = lattice->cells[Y] + more;
  const PetscInt  n = vertex - (is_centre ? lattice->corner_count : 0);
  const PetscInt  at[DIM] = {n % wide, n / wide % high, n / wide / high};
  Vector3         place;

  for (int d = 0; d < DIM; d++)
    place.at[d] = lattice->low.at[d] + lattice->spacing * ((PetscReal)at[d] + (is_centre ? 0.5 : 0));
  return place;
}

/* The four tetrahedra around the line from a cube's centre to the next one's in direction d. */
static PetscErrorCode VisitFace(const BccLattice *lattice, const PetscInt cell[DIM], int d,
                                VisitTetrahedron visit, void *context)
{
  const PetscInt u = 1 << (d + 1) % DIM, v = 1 << (d + 2) % DIM, w = 1 << d;
  const PetscInt around[4] = {w, w + u, w + u + v, w + v};
  PetscInt       next[DIM] = {cell[X], cell[Y], cell[Z]};

  PetscFunctionBegin;
  next[d]++;
  for (int n = 0; n < 4; n++) {
    const PetscInt vertices[4] = {lattice_centre(lattice, cell), lattice_corner(lattice, cell, around[n]),
                                  lattice_corner(lattice, cell, around[(n + 1) % 4]),
                                  lattice_centre(lattice, next)};

    PetscCall(visit(vertices, context));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode BccLatticeVisit(const BccLattice *lattice, VisitTetrahedron visit, void *context)
{
  PetscInt cell[DIM];

  PetscFunctionBegin;
  for (cell[Z] = 0; cell[Z] < lattice->cells[Z]; cell[Z]++)
    for (cell[Y] = 0; cell[Y] < lattice->cells[Y]; cell[Y]++)
      for (cell[X] = 0; cell[X] < lattice->cells[X]; cell[X]++)
        for (int d = 0; d < DIM; d++) {
          if (cell[d] + 1 < lattice->cells[d])
            PetscCall(VisitFace(lattice, cell, d, visit, context));
        }
  PetscFunctionReturn(0);
}

/* An even number of cubes about the middle of the shape, with two to spare at each end. */
static PetscReal plan_lattice(BccLattice *lattice, Vector3 low, Vector3 high)
{
  PetscReal cubes = 1;

  for (int d = 0; d < DIM; d++) {
    const PetscReal half = ceil((high.at[d] - low.at[d]) / (2 * lattice->spacing)) + 2;

    cubes *= 2 * half + 1;
    lattice->cells[d] = (PetscInt)PetscMin(2 * half, PETSC_MAX_INT / 4);
    lattice->low.at[d] = (low.at[d] + high.at[d]) / 2 - half * lattice->spacing;
  }
  return cubes;
}

/* What keeps a surface from having an inside. */
static PetscErrorCode CheckInside(Shape shape, char message[], size_t message_size)
{
  static const char *const faults[] = {
      [SURFACE_OPEN] = "has a hole, so it cannot be filled: close it in a mesh editor, or make a mesh of "
                       "\"type: cloth\" of it",
      [SURFACE_BRANCHED] = "has an edge with more than two triangles, so it cannot be filled: separate its "
                           "parts in a mesh editor",
      [SURFACE_TWISTED] = "has neighbours that face opposite sides, so it cannot be filled: recalculate the "
                          "normals in a mesh editor"};
  SurfaceFault fault;

  PetscFunctionBegin;
  PetscCall(ShapeFindFault(shape, &fault));
  if (fault != SURFACE_SOUND)
    snprintf(message, message_size, "the surface %s", faults[fault]);
  PetscFunctionReturn(0);
}

PetscErrorCode BccLatticeCreate(Shape shape, PetscReal spacing, BccLattice *lattice, char message[],
                                size_t message_size)
{
  Vector3   low, high;
  PetscReal cubes, widest = 0;

  PetscFunctionBegin;
  PetscCheck(spacing > 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "A lattice needs a positive spacing");
  *lattice = (BccLattice){.shape = shape, .spacing = spacing};
  message[0] = '\0';
  shape_bounds(shape, &low, &high);
  for (int d = 0; d < DIM; d++)
    widest = PetscMax(widest, PetscMax(PetscAbsReal(low.at[d]), PetscAbsReal(high.at[d])));
  if (widest >= PETSC_INFINITY || !(high.at[X] > low.at[X])) {
    snprintf(message, message_size, "%s",
             widest >= PETSC_INFINITY
                 ? "the shape has no end, so it cannot be filled: intersect it with a box"
                 : "the shape is empty");
    PetscFunctionReturn(0);
  }
  PetscCall(CheckInside(shape, message, message_size));
  if (message[0])
    PetscFunctionReturn(0);
  cubes = plan_lattice(lattice, low, high);
  if (cubes * 12 >= MAX_COUNT) {
    snprintf(
        message, message_size,
        "the shape is %g x %g x %g m and would be filled with a lattice of %.2g cubes: make the edge of %g "
        "m longer",
        (double)(high.at[X] - low.at[X]), (double)(high.at[Y] - low.at[Y]), (double)(high.at[Z] - low.at[Z]),
        (double)cubes, (double)spacing);
    PetscFunctionReturn(0);
  }
  lattice->corner_count = count_corners(lattice->cells);
  lattice->vertex_count = lattice->corner_count + lattice->cells[X] * lattice->cells[Y] * lattice->cells[Z];
  PetscCall(PetscMalloc1(lattice->vertex_count, &lattice->distance));
  for (PetscInt n = 0; n < lattice->vertex_count; n++)
    lattice->distance[n] = shape_distance(shape, lattice_place(lattice, n));
  PetscFunctionReturn(0);
}

PetscErrorCode BccLatticeDestroy(BccLattice *lattice)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(lattice->distance));
  PetscFunctionReturn(0);
}

typedef struct {
  const BccLattice *lattice;
  MeshDraft         draft;
  PetscInt         *number; /* of each vertex in the draft; -1: not yet */
} Covering;

/* If it is nearer to the middle than the corners are; the eight smaller ones are asked so often, `depth`,
   then it is taken to reach. */
static PetscBool may_touch(Shape shape, const Vector3 corner[4], int depth)
{
  const PetscInt(*children)[4] = red_children(1);
  Vector3   points[10], centre = vector3(0, 0, 0);
  PetscReal radius = 0;

  for (int n = 0; n < 4; n++)
    centre = vector3_add(centre, vector3_scale(0.25, corner[n]));
  for (int n = 0; n < 4; n++)
    radius = PetscMax(radius, vector3_norm(vector3_subtract(corner[n], centre)));
  if (shape_distance(shape, centre) > radius)
    return PETSC_FALSE;
  if (depth == 0)
    return PETSC_TRUE;
  for (int n = 0; n < 4; n++)
    points[n] = corner[n];
  for (int n = 0; n < 6; n++)
    points[4 + n] =
        middle_of(corner[mesh_edge(MESH_TETRAHEDRA, n)[0]], corner[mesh_edge(MESH_TETRAHEDRA, n)[1]]);
  for (int n = 0; n < 8; n++) {
    const Vector3 child[4] = {points[children[n][0]], points[children[n][1]], points[children[n][2]],
                              points[children[n][3]]};

    if (may_touch(shape, child, depth - 1))
      return PETSC_TRUE;
  }
  return PETSC_FALSE;
}

PetscBool shape_may_reach(Shape shape, const Vector3 corner[4])
{
  const int depth = 3;

  return may_touch(shape, corner, depth);
}

static PetscBool is_covering(const BccLattice *lattice, const PetscInt vertices[4])
{
  PetscReal lowest = PETSC_INFINITY;
  Vector3   corner[4];

  for (int n = 0; n < 4; n++) {
    lowest = PetscMin(lowest, lattice->distance[vertices[n]]);
    corner[n] = lattice_place(lattice, vertices[n]);
  }
  if (lowest <= 0 || lowest > lattice->spacing) /* no point is farther from the nearest corner */
    return lowest <= 0 ? PETSC_TRUE : PETSC_FALSE;
  return shape_may_reach(lattice->shape, corner);
}

static PetscErrorCode AddCovering(const PetscInt vertices[4], void *context)
{
  Covering *covering = context;
  PetscInt  corners[4];

  PetscFunctionBegin;
  if (!is_covering(covering->lattice, vertices))
    PetscFunctionReturn(0);
  for (int n = 0; n < 4; n++) {
    PetscInt *number = &covering->number[vertices[n]];

    if (*number < 0) {
      *number = covering->draft.vertex_count;
      PetscCall(MeshDraftAddVertex(&covering->draft, lattice_place(covering->lattice, vertices[n])));
    }
    corners[n] = *number;
  }
  PetscCall(MeshDraftAddElement(&covering->draft, corners));
  PetscFunctionReturn(0);
}

PetscErrorCode MeshCreateCovering(Shape shape, PetscReal edge, Mesh *mesh, char message[],
                                  size_t message_size)
{
  BccLattice lattice;
  Covering   covering = {.lattice = &lattice, .draft = {.corners = 4}};

  PetscFunctionBegin;
  *mesh = NULL;
  PetscCall(BccLatticeCreate(shape, edge, &lattice, message, message_size));
  if (message[0])
    PetscFunctionReturn(0);
  PetscCall(PetscMalloc1(lattice.vertex_count, &covering.number));
  for (PetscInt n = 0; n < lattice.vertex_count; n++)
    covering.number[n] = -1;
  PetscCall(BccLatticeVisit(&lattice, AddCovering, &covering));
  PetscCall(MeshDraftFinish(&covering.draft, DRAFT_WHOLE, mesh));
  PetscCall(PetscFree(covering.number));
  PetscCall(BccLatticeDestroy(&lattice));
  PetscFunctionReturn(0);
}
