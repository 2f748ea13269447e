/* Triangles around any shape, found by asking which nodes of a lattice lie inside, or where values on them
   are negative.

   Cubes are cut into six tetrahedra along a diagonal, squares into two triangles, so that neighbours agree on
   every edge and the surface is closed. A vertex is where an edge leaves the shape, by bisection: on smooth
   parts the volume is of second order in the spacing, corners lose a triangle of the size of a cube. */
#include "geometry_impl.h"

enum { CORNERS = 8, EDGE_KINDS = 7, HALVINGS = 14 };

/* Corner n of a cube is the upper one in the directions whose bits are set in n. */
typedef struct {
  Shape          shape;
  PetscReal     *values[2]; /* in the place of a shape: of the same nodes, negative inside; null: a shape */
  ContourLayer   fill;
  void          *context;    /* of `fill` */
  PetscInt       first[DIM]; /* node 0 of this part among those of the whole lattice */
  Vector3        low, high;  /* nothing counts as inside beyond */
  Vector3        origin;
  PetscReal      spacing;
  PetscInt       nodes[DIM];
  unsigned char *inside[2]; /* of the nodes of two layers, by the lowest bit of the layer */
  PetscInt      *edges[2];  /* vertices on the edges from these nodes upwards, by kind; -1: none yet */
  PetscInt      *own;       /* in the plane: vertices at the nodes */
  TriangleList   mesh;
} Contour;

static Vector3 node_at(const Contour *contour, const PetscInt at[DIM])
{
  Vector3 point = contour->origin;

  for (PetscInt d = 0; d < DIM; d++)
    point.at[d] += contour->spacing * (PetscReal)(contour->first[d] + at[d]);
  return point;
}

static PetscBool is_within(const Contour *contour, Vector3 point)
{
  for (PetscInt d = 0; d < DIM; d++)
    if (!(point.at[d] >= contour->low.at[d] && point.at[d] <= contour->high.at[d]))
      return PETSC_FALSE;
  return shape_is_inside(contour->shape, point);
}

/* Never quite at an end, so that no triangle loses its area. */
static Vector3 find_crossing(const Contour *contour, Vector3 inside, Vector3 outside)
{
  PetscReal in = 1e-3, out = 1. - 1e-3;

  for (PetscInt n = 0; n < HALVINGS; n++) {
    const PetscReal middle = 0.5 * (in + out);

    if (is_within(contour, vector3_add(vector3_scale(1. - middle, inside), vector3_scale(middle, outside))))
      in = middle;
    else
      out = middle;
  }
  in = 0.5 * (in + out);
  return vector3_add(vector3_scale(1. - in, inside), vector3_scale(in, outside));
}

static PetscInt node_index(const Contour *contour, PetscInt i, PetscInt j)
{
  return i + contour->nodes[X] * j;
}

static void corner_at(const PetscInt cell[DIM], PetscInt corner, PetscInt at[DIM])
{
  for (PetscInt d = 0; d < DIM; d++)
    at[d] = cell[d] + (corner >> d & 1);
}

static PetscBool corner_is_inside(const Contour *contour, const PetscInt cell[DIM], PetscInt corner)
{
  PetscInt at[DIM];

  corner_at(cell, corner, at);
  return contour->inside[at[Z] & 1][node_index(contour, at[X], at[Y])] ? PETSC_TRUE : PETSC_FALSE;
}

static PetscReal value_at(const Contour *contour, const PetscInt at[DIM])
{
  return contour->values[at[Z] & 1][node_index(contour, at[X], at[Y])];
}

/* Where the line between the values is zero; never quite at an end either. */
static Vector3 crossing_of_values(const Contour *contour, const PetscInt inside[DIM],
                                  const PetscInt outside[DIM])
{
  const PetscReal least = 1e-3, a = value_at(contour, inside), b = value_at(contour, outside);
  const PetscReal part = PetscMin(PetscMax(a / (a - b), least), 1. - least);

  return vector3_add(vector3_scale(1. - part, node_at(contour, inside)),
                     vector3_scale(part, node_at(contour, outside)));
}

/* In the plane a vertex is a pair, at z = -1/2 and 1/2, and has the number of the first over two. */
static PetscErrorCode AddVertex(Contour *contour, Vector3 point, PetscInt *number)
{
  const PetscBool is_flat = contour->own ? PETSC_TRUE : PETSC_FALSE;

  PetscFunctionBegin;
  *number = is_flat ? contour->mesh.vertex_count / 2 : contour->mesh.vertex_count;
  if (is_flat)
    point.at[Z] = -0.5;
  PetscCall(TriangleListAddVertex(&contour->mesh, point));
  if (is_flat)
    PetscCall(TriangleListAddVertex(&contour->mesh, vector3(point.at[X], point.at[Y], 0.5)));
  PetscFunctionReturn(0);
}

/* The vertex between two corners of a cell, one of which is inside; one has all the bits of the other. */
static PetscErrorCode FindVertex(Contour *contour, const PetscInt cell[DIM], PetscInt inside,
                                 PetscInt outside, PetscInt *vertex)
{
  PetscInt  at[DIM], ends[2][DIM];
  PetscInt *known;

  PetscFunctionBegin;
  corner_at(cell, inside & outside, at);
  known = &contour->edges[at[Z] & 1][EDGE_KINDS * node_index(contour, at[X], at[Y]) + (inside ^ outside) - 1];
  if (*known < 0) {
    corner_at(cell, inside, ends[0]);
    corner_at(cell, outside, ends[1]);
    PetscCall(AddVertex(contour,
                        contour->fill
                            ? crossing_of_values(contour, ends[0], ends[1])
                            : find_crossing(contour, node_at(contour, ends[0]), node_at(contour, ends[1])),
                        known));
  }
  *vertex = *known;
  PetscFunctionReturn(0);
}

static Vector3 place_of(PetscInt corner)
{
  return vector3(corner & 1, corner >> 1 & 1, corner >> 2 & 1);
}

/* An edge of a tetrahedron by its corners, inside and outside. */
typedef struct {
  PetscInt in, out;
} CrossedEdge;

static Vector3 middle_of(CrossedEdge passage)
{
  return vector3_scale(0.5, vector3_add(place_of(passage.in), place_of(passage.out)));
}

/* Turned so that it faces from `inside` to `outside`, as the middles of its edges tell. */
static PetscErrorCode AddFacing(Contour *contour, const PetscInt cell[DIM], const CrossedEdge passages[3])
{
  const Vector3 first = middle_of(passages[0]);
  const Vector3 normal = vector3_cross(vector3_subtract(middle_of(passages[1]), first),
                                       vector3_subtract(middle_of(passages[2]), first));
  const Vector3 outwards = vector3_subtract(place_of(passages[0].out), place_of(passages[0].in));
  PetscInt      vertices[3];

  PetscFunctionBegin;
  for (PetscInt n = 0; n < 3; n++)
    PetscCall(FindVertex(contour, cell, passages[n].in, passages[n].out, &vertices[n]));
  if (vector3_dot(normal, outwards) > 0.)
    PetscCall(TriangleListAddTriangle(&contour->mesh, vertices[0], vertices[1], vertices[2], 0));
  else
    PetscCall(TriangleListAddTriangle(&contour->mesh, vertices[0], vertices[2], vertices[1], 0));
  PetscFunctionReturn(0);
}

static PetscErrorCode CutTetrahedron(Contour *contour, const PetscInt cell[DIM], const PetscInt corners[4])
{
  PetscInt in[4], out[4], count = 0, others = 0;

  PetscFunctionBegin;
  for (PetscInt n = 0; n < 4; n++)
    if (corner_is_inside(contour, cell, corners[n]))
      in[count++] = corners[n];
    else
      out[others++] = corners[n];
  if (count == 1)
    PetscCall(AddFacing(contour, cell, (CrossedEdge[]){{in[0], out[0]}, {in[0], out[1]}, {in[0], out[2]}}));
  if (count == 3)
    PetscCall(AddFacing(contour, cell, (CrossedEdge[]){{in[0], out[0]}, {in[1], out[0]}, {in[2], out[0]}}));
  if (count == 2) {
    PetscCall(AddFacing(contour, cell, (CrossedEdge[]){{in[0], out[0]}, {in[0], out[1]}, {in[1], out[1]}}));
    PetscCall(AddFacing(contour, cell, (CrossedEdge[]){{in[0], out[0]}, {in[1], out[1]}, {in[1], out[0]}}));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode CutCube(Contour *contour, const PetscInt cell[DIM])
{
  PetscInt count = 0;

  PetscFunctionBegin;
  for (PetscInt corner = 0; corner < CORNERS; corner++)
    count += corner_is_inside(contour, cell, corner) ? 1 : 0;
  for (PetscInt first = 0; first < DIM && count > 0 && count < CORNERS; first++)
    for (PetscInt turn = 1; turn < DIM; turn++) {
      const PetscInt second = (first + turn) % DIM;
      const PetscInt corners[4] = {0, 1 << first, 1 << first | 1 << second, CORNERS - 1};

      PetscCall(CutTetrahedron(contour, cell, corners));
    }
  PetscFunctionReturn(0);
}

static PetscErrorCode FillLayer(Contour *contour, PetscInt layer)
{
  const PetscInt length = contour->nodes[X] * contour->nodes[Y];
  PetscInt       at[DIM] = {0, 0, layer};

  PetscFunctionBegin;
  if (contour->fill)
    PetscCall(contour->fill(contour->context, layer, contour->values[layer & 1]));
  for (at[Y] = 0; at[Y] < contour->nodes[Y]; at[Y]++)
    for (at[X] = 0; at[X] < contour->nodes[X]; at[X]++) {
      const PetscBool is_inside =
          contour->fill ? value_at(contour, at) < 0. : is_within(contour, node_at(contour, at));

      contour->inside[layer & 1][node_index(contour, at[X], at[Y])] = is_inside ? 1 : 0;
    }
  for (PetscInt n = 0; n < EDGE_KINDS * length; n++)
    contour->edges[layer & 1][n] = -1;
  PetscFunctionReturn(0);
}

static PetscErrorCode CutSpace(Contour *contour)
{
  PetscInt cell[DIM];

  PetscFunctionBegin;
  PetscCall(FillLayer(contour, 0));
  for (cell[Z] = 0; cell[Z] < contour->nodes[Z] - 1; cell[Z]++) {
    PetscCall(FillLayer(contour, cell[Z] + 1));
    for (cell[Y] = 0; cell[Y] < contour->nodes[Y] - 1; cell[Y]++)
      for (cell[X] = 0; cell[X] < contour->nodes[X] - 1; cell[X]++)
        PetscCall(CutCube(contour, cell));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode FindOwnVertex(Contour *contour, const PetscInt cell[DIM], PetscInt corner,
                                    PetscInt *vertex)
{
  PetscInt  at[DIM];
  PetscInt *known;

  PetscFunctionBegin;
  corner_at(cell, corner, at);
  known = &contour->own[node_index(contour, at[X], at[Y])];
  if (*known < 0)
    PetscCall(AddVertex(contour, node_at(contour, at), known));
  *vertex = *known;
  PetscFunctionReturn(0);
}

/* Bottom and top over the part of a triangle (corners against the clock) that is inside, and a wall where its
   outline is not that of the triangle. */
static PetscErrorCode CutTriangle(Contour *contour, const PetscInt cell[DIM], const PetscInt corners[3])
{
  PetscInt      outline[4], count = 0, leaves = -1;
  TriangleList *mesh = &contour->mesh;

  PetscFunctionBegin;
  for (PetscInt n = 0; n < 3; n++) {
    const PetscInt  here = corners[n], next = corners[(n + 1) % 3];
    const PetscBool in = corner_is_inside(contour, cell, here),
                    goes_on = corner_is_inside(contour, cell, next);

    if (in)
      PetscCall(FindOwnVertex(contour, cell, here, &outline[count++]));
    if (in && !goes_on)
      leaves = count;
    if (in != goes_on)
      PetscCall(FindVertex(contour, cell, in ? here : next, in ? next : here, &outline[count++]));
  }
  for (PetscInt n = 1; n < count - 1; n++) {
    PetscCall(TriangleListAddTriangle(mesh, 2 * outline[0], 2 * outline[n + 1], 2 * outline[n], 0));
    PetscCall(
        TriangleListAddTriangle(mesh, 2 * outline[0] + 1, 2 * outline[n] + 1, 2 * outline[n + 1] + 1, 0));
  }
  if (leaves >= 0) {
    const PetscInt from = 2 * outline[leaves], to = 2 * outline[(leaves + 1) % count];

    PetscCall(TriangleListAddTriangle(mesh, from, to, to + 1, 0));
    PetscCall(TriangleListAddTriangle(mesh, from, to + 1, from + 1, 0));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode CutPlane(Contour *contour)
{
  static const PetscInt halves[2][3] = {{0, 1, 3}, {0, 3, 2}};
  const PetscInt        length = contour->nodes[X] * contour->nodes[Y];
  PetscInt              cell[DIM] = {0, 0, 0};

  PetscFunctionBegin;
  PetscCall(FillLayer(contour, 0));
  PetscCall(PetscMalloc1(length, &contour->own));
  for (PetscInt n = 0; n < length; n++)
    contour->own[n] = -1;
  for (cell[Y] = 0; cell[Y] < contour->nodes[Y] - 1; cell[Y]++)
    for (cell[X] = 0; cell[X] < contour->nodes[X] - 1; cell[X]++)
      for (PetscInt half = 0; half < 2; half++)
        PetscCall(CutTriangle(contour, cell, halves[half]));
  PetscCall(PetscFree(contour->own));
  PetscFunctionReturn(0);
}

static PetscErrorCode BeginLayers(Contour *contour)
{
  const PetscInt length = contour->nodes[X] * contour->nodes[Y];

  PetscFunctionBegin;
  for (PetscInt n = 0; n < 2; n++) {
    PetscCall(PetscMalloc2(length, &contour->inside[n], EDGE_KINDS * length, &contour->edges[n]));
    PetscCall(PetscMalloc1(contour->fill ? length : 0, &contour->values[n]));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode EndLayers(Contour *contour)
{
  PetscFunctionBegin;
  for (PetscInt n = 0; n < 2; n++) {
    PetscCall(PetscFree2(contour->inside[n], contour->edges[n]));
    PetscCall(PetscFree(contour->values[n]));
  }
  PetscCall(TriangleListDestroy(&contour->mesh));
  PetscFunctionReturn(0);
}

PetscErrorCode ContourCreateOfValues(const ContourLattice *lattice, ContourLayer fill, void *context,
                                     ContourMesh *mesh)
{
  Contour contour = {
      .fill = fill, .context = context, .origin = lattice->origin, .spacing = lattice->spacing};

  PetscFunctionBegin;
  *mesh = (ContourMesh){0};
  for (PetscInt d = 0; d < DIM; d++) {
    contour.first[d] = lattice->first[d];
    contour.nodes[d] = lattice->nodes[d];
  }
  PetscCall(BeginLayers(&contour));
  PetscCall(CutSpace(&contour));
  mesh->vertex_count = contour.mesh.vertex_count;
  mesh->triangle_count = contour.mesh.triangle_count;
  PetscCall(PetscMalloc1(mesh->vertex_count, &mesh->vertices));
  PetscCall(PetscMalloc1(mesh->triangle_count, &mesh->triangles));
  PetscCall(PetscArraycpy(mesh->vertices, contour.mesh.vertices, mesh->vertex_count));
  PetscCall(PetscArraycpy(mesh->triangles, contour.mesh.triangles, mesh->triangle_count));
  PetscCall(EndLayers(&contour));
  PetscFunctionReturn(0);
}

PetscErrorCode ContourDestroy(ContourMesh *mesh)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(mesh->vertices));
  PetscCall(PetscFree(mesh->triangles));
  PetscFunctionReturn(0);
}

/* Where its lattice begins and how many nodes it has. */
static void lay_out(Contour *contour)
{
  /* not where shapes like to have their corners */
  const PetscReal margin = 1.2718;

  for (PetscInt d = 0; d < DIM; d++) {
    contour->origin.at[d] = contour->low.at[d] - margin * contour->spacing;
    contour->nodes[d] = 4 + (PetscInt)((contour->high.at[d] - contour->low.at[d]) / contour->spacing);
  }
}

/* A lattice whose even nodes are those of a coarse one; whether each is inside, x first. */
typedef struct {
  PetscInt nodes[DIM];
  char    *inside;
} FineNodes;

static size_t fine_number(const FineNodes *fine, PetscInt i, PetscInt j, PetscInt k)
{
  return ((size_t)k * (size_t)fine->nodes[Y] + (size_t)j) * (size_t)fine->nodes[X] + (size_t)i;
}

/* Whether no node of the coarse lattice within its spacing, along each axis, is on the same side. */
static PetscBool is_missed(const FineNodes *fine, const PetscInt at[DIM])
{
  const char own = fine->inside[fine_number(fine, at[X], at[Y], at[Z])];
  PetscInt   first[DIM], last[DIM];

  for (PetscInt d = 0; d < DIM; d++) {
    const PetscInt reach = at[d] % 2 ? 1 : 2;

    first[d] = PetscMax(at[d] - reach, 0);
    last[d] = PetscMin(at[d] + reach, fine->nodes[d] - 1);
  }
  for (PetscInt k = first[Z]; k <= last[Z]; k += 2)
    for (PetscInt j = first[Y]; j <= last[Y]; j += 2)
      for (PetscInt i = first[X]; i <= last[X]; i += 2)
        if (fine->inside[fine_number(fine, i, j, k)] == own)
          return PETSC_FALSE;
  return PETSC_TRUE;
}

static PetscBool any_missed(const FineNodes *fine)
{
  PetscInt at[DIM];

  for (at[Z] = 0; at[Z] < fine->nodes[Z]; at[Z]++)
    for (at[Y] = 0; at[Y] < fine->nodes[Y]; at[Y]++)
      for (at[X] = 0; at[X] < fine->nodes[X]; at[X]++)
        if (is_missed(fine, at))
          return PETSC_TRUE;
  return PETSC_FALSE;
}

PetscErrorCode ContourMissesPart(Shape shape, Vector3 low, Vector3 high, PetscReal spacing, PetscBool *misses)
{
  Contour   contour = {.shape = shape, .low = low, .high = high, .spacing = spacing};
  FineNodes fine;

  PetscFunctionBegin;
  lay_out(&contour);
  contour.spacing = 0.5 * spacing;
  for (PetscInt d = 0; d < DIM; d++)
    fine.nodes[d] = 2 * contour.nodes[d] - 1;
  PetscCall(PetscMalloc1(fine_number(&fine, 0, 0, fine.nodes[Z]), &fine.inside));
  for (PetscInt k = 0; k < fine.nodes[Z]; k++)
    for (PetscInt j = 0; j < fine.nodes[Y]; j++)
      for (PetscInt i = 0; i < fine.nodes[X]; i++)
        fine.inside[fine_number(&fine, i, j, k)] =
            is_within(&contour, node_at(&contour, (const PetscInt[]){i, j, k})) ? 1 : 0;
  *misses = any_missed(&fine);
  PetscCall(PetscFree(fine.inside));
  PetscFunctionReturn(0);
}

PetscErrorCode SurfaceCreateContour(Shape shape, ContourKind kind, Vector3 low, Vector3 high,
                                    PetscReal spacing, Surface *surface)
{
  Contour contour = {.shape = shape, .low = low, .high = high, .spacing = spacing};

  PetscFunctionBegin;
  *surface = NULL;
  lay_out(&contour);
  if (kind == CONTOUR_PRISM) {
    contour.low.at[Z] = contour.high.at[Z] = contour.origin.at[Z] = 0.;
    contour.nodes[Z] = 1;
  }
  PetscCall(BeginLayers(&contour));
  if (kind == CONTOUR_PRISM)
    PetscCall(CutPlane(&contour));
  else
    PetscCall(CutSpace(&contour));
  if (contour.mesh.triangle_count)
    PetscCall(SurfaceCreate(contour.mesh.vertex_count, contour.mesh.vertices, contour.mesh.triangle_count,
                            (const PetscInt(*)[3])contour.mesh.triangles, surface));
  PetscCall(EndLayers(&contour));
  PetscFunctionReturn(0);
}
