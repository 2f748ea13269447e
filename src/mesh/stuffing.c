/* Isosurface stuffing (Labelle & Shewchuk 2007), on a lattice of one size.

   Where an edge of the body-centred cubic lattice leaves the shape, it has a cut point. A lattice vertex with
   a cut point nearer than a fraction of the edge moves there and becomes a vertex of the surface; its other
   cut points are forgotten. What is left of each tetrahedron inside is a tetrahedron, a pyramid or a prism,
   divided by a rule for the quadrilaterals in its faces on which neighbours agree. All dihedral angles are
   between 10.7 and 164.8 degrees whatever the shape, and the surface has its vertices on that of the shape:
   second order. */
#include <math.h>
#include "lattice.h"

static const PetscReal warp_long = 0.24999, warp_short = 0.41189;

enum { LONG_SLOTS = 3, SHORT_SLOTS = 8 };

typedef enum { SIDE_OUT = -1, SIDE_ON, SIDE_IN } VertexSide;

typedef struct {
  const BccLattice *lattice;
  MeshDraft         draft;
  signed char      *side;   /* VertexSide of each vertex */
  Vector3          *place;  /* of each vertex, warped */
  PetscInt         *number; /* of each vertex in the draft; -1: not yet */
  /* Of the long edges upwards from each vertex, and of the short ones from each centre: the cut point as a
     fraction of the edge, and its number in the draft. */
  PetscReal *cut;
  PetscInt  *cut_number;
} Stuffing;

static void vertex_cell(const BccLattice *lattice, PetscInt vertex, PetscInt at[DIM])
{
  const PetscBool is_centre = lattice_is_centre(lattice, vertex);
  const PetscInt  more = is_centre ? 0 : 1, n = vertex - (is_centre ? lattice->corner_count : 0);
  const PetscInt  wide = lattice->cells[X] + more, high = lattice->cells[Y] + more;

  at[X] = n % wide;
  at[Y] = n / wide % high;
  at[Z] = n / wide / high;
}

static PetscInt vertex_stride(const BccLattice *lattice, PetscInt vertex, int d)
{
  const PetscInt more = lattice_is_centre(lattice, vertex) ? 0 : 1;
  const PetscInt strides[DIM] = {1, lattice->cells[X] + more,
                                 (lattice->cells[X] + more) * (lattice->cells[Y] + more)};

  return strides[d];
}

typedef struct {
  PetscInt  owner, other; /* the fraction counts from the owner */
  PetscInt  slot;         /* among all cut points */
  PetscBool is_long;
} LatticeEdge;

static LatticeEdge long_edge(PetscInt owner, PetscInt other, int d)
{
  return (LatticeEdge){owner, other, owner * LONG_SLOTS + d, PETSC_TRUE};
}

static LatticeEdge short_edge(const BccLattice *lattice, PetscInt centre, PetscInt corner, PetscInt bits)
{
  const PetscInt before = LONG_SLOTS * lattice->vertex_count;

  return (LatticeEdge){centre, corner, before + (centre - lattice->corner_count) * SHORT_SLOTS + bits,
                       PETSC_FALSE};
}

/* All edges at a vertex, at most 14. */
static int edges_at(const BccLattice *lattice, PetscInt vertex, LatticeEdge edges[14])
{
  const PetscBool is_centre = lattice_is_centre(lattice, vertex);
  PetscInt        at[DIM], count = 0;

  vertex_cell(lattice, vertex, at);
  for (int d = 0; d < DIM; d++) {
    const PetscInt stride = vertex_stride(lattice, vertex, d), last = lattice->cells[d] - (is_centre ? 1 : 0);

    if (at[d] > 0)
      edges[count++] = long_edge(vertex - stride, vertex, d);
    if (at[d] < last)
      edges[count++] = long_edge(vertex, vertex + stride, d);
  }
  for (PetscInt bits = 0; bits < SHORT_SLOTS; bits++) {
    PetscInt  cell[DIM];
    PetscBool exists = PETSC_TRUE;

    for (int d = 0; d < DIM; d++) {
      cell[d] = at[d] - (is_centre ? 0 : bits >> d & 1);
      if (cell[d] < 0 || cell[d] >= lattice->cells[d])
        exists = PETSC_FALSE;
    }
    if (exists)
      edges[count++] =
          short_edge(lattice, lattice_centre(lattice, cell), lattice_corner(lattice, cell, bits), bits);
  }
  return (int)count;
}

/* The edge between two vertices of a tetrahedron. */
static LatticeEdge edge_between(const BccLattice *lattice, PetscInt a, PetscInt b)
{
  const PetscInt low = PetscMin(a, b), high = PetscMax(a, b);
  PetscInt       from[DIM], to[DIM], bits = 0;

  vertex_cell(lattice, low, from);
  vertex_cell(lattice, high, to);
  if (lattice_is_centre(lattice, low) == lattice_is_centre(lattice, high))
    return long_edge(low, high, from[X] != to[X] ? X : from[Y] != to[Y] ? Y : Z);
  for (int d = 0; d < DIM; d++)
    bits += (from[d] - to[d]) << d;
  return short_edge(lattice, high, low, bits);
}

static Vector3 point_on(Vector3 a, Vector3 b, PetscReal fraction)
{
  return vector3_add(vector3_scale(1 - fraction, a), vector3_scale(fraction, b));
}

static Vector3 cut_place(const Stuffing *stuffing, const LatticeEdge *edge)
{
  return point_on(lattice_place(stuffing->lattice, edge->owner),
                  lattice_place(stuffing->lattice, edge->other), stuffing->cut[edge->slot]);
}

/* Where the distance is zero between a and b, at which it has the signs of f and g: the secant through the
   ends of the bracket, with the value of an end that stays halved (Illinois). */
static PetscReal find_crossing(Shape shape, Vector3 a, Vector3 b, PetscReal f, PetscReal g)
{
  const int       most = 60;
  const PetscReal close = 1e-14;
  PetscReal       low = 0, high = 1, t = 0.5;

  for (int n = 0; n < most && high - low > close; n++) {
    const PetscReal secant = low + (high - low) * f / (f - g);
    PetscReal       value;

    t = n % 8 == 7 || !(secant > low && secant < high) ? (low + high) / 2 : secant;
    value = shape_distance(shape, point_on(a, b, t));
    if (value == 0 || PetscAbsReal(value) < close * vector3_norm(vector3_subtract(b, a)))
      break;
    if ((value > 0) == (g > 0)) {
      high = t;
      g = value;
      f /= 2;
    } else {
      low = t;
      f = value;
      g /= 2;
    }
  }
  return t;
}

static PetscBool is_cut(const Stuffing *stuffing, const LatticeEdge *edge)
{
  return stuffing->side[edge->owner] * stuffing->side[edge->other] < 0 ? PETSC_TRUE : PETSC_FALSE;
}

/* A vertex sees its own upward and short edges; so each edge is asked once. */
static void find_cuts(Stuffing *stuffing)
{
  const BccLattice *lattice = stuffing->lattice;

  for (PetscInt v = 0; v < lattice->vertex_count; v++) {
    LatticeEdge edges[14];
    const int   count = edges_at(lattice, v, edges);

    for (int n = 0; n < count; n++) {
      const LatticeEdge *edge = &edges[n];

      if (edge->owner == v && is_cut(stuffing, edge))
        stuffing->cut[edge->slot] =
            find_crossing(lattice->shape, lattice_place(lattice, v), lattice_place(lattice, edge->other),
                          lattice->distance[v], lattice->distance[edge->other]);
    }
  }
}

/* Moves a vertex to the nearest of the cut points that are too near, if there are any. */
static void warp_vertex(Stuffing *stuffing, PetscInt vertex)
{
  LatticeEdge        edges[14];
  const int          count = edges_at(stuffing->lattice, vertex, edges);
  const LatticeEdge *nearest = NULL;
  PetscReal          least = PETSC_INFINITY;

  for (int n = 0; n < count; n++) {
    const PetscReal cut = is_cut(stuffing, &edges[n]) ? stuffing->cut[edges[n].slot] : 0;
    const PetscReal fraction = edges[n].owner == vertex ? cut : 1 - cut;
    const PetscReal length = fraction * (edges[n].is_long ? 1 : PetscSqrtReal(3) / 2);

    if (!is_cut(stuffing, &edges[n]) || fraction > (edges[n].is_long ? warp_long : warp_short) ||
        length >= least)
      continue;
    least = length;
    nearest = &edges[n];
  }
  if (!nearest)
    return;
  stuffing->place[vertex] = cut_place(stuffing, nearest);
  stuffing->side[vertex] = SIDE_ON;
}

static PetscErrorCode NumberVertex(Stuffing *stuffing, PetscInt vertex, PetscInt *number)
{
  PetscFunctionBegin;
  if (stuffing->number[vertex] < 0) {
    stuffing->number[vertex] = stuffing->draft.vertex_count;
    PetscCall(MeshDraftAddVertex(&stuffing->draft, stuffing->place[vertex]));
  }
  *number = stuffing->number[vertex];
  PetscFunctionReturn(0);
}

static PetscErrorCode NumberCut(Stuffing *stuffing, PetscInt a, PetscInt b, PetscInt *number)
{
  const LatticeEdge edge = edge_between(stuffing->lattice, a, b);

  PetscFunctionBegin;
  if (stuffing->cut_number[edge.slot] < 0) {
    stuffing->cut_number[edge.slot] = stuffing->draft.vertex_count;
    PetscCall(MeshDraftAddVertex(&stuffing->draft, cut_place(stuffing, &edge)));
  }
  *number = stuffing->cut_number[edge.slot];
  PetscFunctionReturn(0);
}

/* A corner of a piece: the tetrahedron's own corner a, or the cut between a and b. */
typedef struct {
  int a, b;
} PieceCorner;

static PieceCorner own(int a)
{
  return (PieceCorner){a, a};
}

static PieceCorner between(int a, int b)
{
  return (PieceCorner){a, b};
}

/* The sign of the volume in units of the whole, with cut points in the middle of edges: what it is wherever
   they are. */
static PetscReal orientation(const PieceCorner corner[4])
{
  PetscReal m[4][4] = {{0}}, rows[DIM][DIM];

  for (int n = 0; n < 4; n++) {
    m[n][corner[n].a] += 1;
    m[n][corner[n].b] += 1;
  }
  for (int n = 0; n < DIM; n++) {
    for (int d = 0; d < DIM; d++)
      rows[n][d] = m[n + 1][d + 1] - m[0][d + 1];
  }
  return vector3_dot(vector3(rows[0][0], rows[0][1], rows[0][2]),
                     vector3_cross(vector3(rows[1][0], rows[1][1], rows[1][2]),
                                   vector3(rows[2][0], rows[2][1], rows[2][2])));
}

static PetscErrorCode AddPiece(Stuffing *stuffing, const PetscInt vertices[4], PieceCorner a, PieceCorner b,
                               PieceCorner c, PieceCorner d)
{
  PieceCorner corner[4] = {a, b, c, d};
  PetscInt    corners[4];

  PetscFunctionBegin;
  if (orientation(corner) < 0) {
    corner[2] = d;
    corner[3] = c;
  }
  for (int n = 0; n < 4; n++) {
    const PetscInt from = vertices[corner[n].a], to = vertices[corner[n].b];

    if (from == to)
      PetscCall(NumberVertex(stuffing, from, &corners[n]));
    else
      PetscCall(NumberCut(stuffing, from, to, &corners[n]));
  }
  PetscCall(MeshDraftAddElement(&stuffing->draft, corners));
  PetscFunctionReturn(0);
}

/* On the face of a and b inside and r outside: whether the diagonal of the quadrilateral starts at a (and
   ends on the edge from b to r) or at b. Both short edges cut: at the lower number. One long edge cut: at the
   end of the short one, so that it ends on the long one. */
static PetscBool starts_at_first(const Stuffing *stuffing, const PetscInt vertices[4], int a, int b, int r)
{
  const BccLattice *lattice = stuffing->lattice;
  const PetscBool   type_a = lattice_is_centre(lattice, vertices[a]);
  const PetscBool   type_b = lattice_is_centre(lattice, vertices[b]);

  if (type_a == type_b)
    return vertices[a] < vertices[b] ? PETSC_TRUE : PETSC_FALSE;
  return type_a != lattice_is_centre(lattice, vertices[r]) ? PETSC_TRUE : PETSC_FALSE;
}

/* Two inside, one on the surface, one outside: a pyramid. */
static PetscErrorCode AddPyramid(Stuffing *stuffing, const PetscInt v[4], int a, int b, int on, int out)
{
  const PetscBool first = starts_at_first(stuffing, v, a, b, out);
  const int       from = first ? a : b, other = first ? b : a;

  PetscFunctionBegin;
  PetscCall(AddPiece(stuffing, v, own(from), own(other), between(other, out), own(on)));
  PetscCall(AddPiece(stuffing, v, own(from), between(other, out), between(from, out), own(on)));
  PetscFunctionReturn(0);
}

/* Three inside: a prism whose diagonals start at x (two) and y (one). */
static PetscErrorCode AddTruncated(Stuffing *stuffing, const PetscInt v[4], const int in[3], int out)
{
  int starts[3] = {0, 0, 0}, order[3];

  PetscFunctionBegin;
  for (int n = 0; n < 3; n++) {
    const int next = (n + 1) % 3;

    starts[starts_at_first(stuffing, v, in[n], in[next], out) ? n : next]++;
  }
  for (int n = 0; n < 3; n++)
    order[2 - starts[n]] = in[n];
  PetscCall(AddPiece(stuffing, v, own(order[0]), own(order[1]), own(order[2]), between(order[2], out)));
  PetscCall(
      AddPiece(stuffing, v, own(order[0]), own(order[1]), between(order[1], out), between(order[2], out)));
  PetscCall(AddPiece(stuffing, v, own(order[0]), between(order[0], out), between(order[1], out),
                     between(order[2], out)));
  PetscFunctionReturn(0);
}

static PetscReal cut_length(const Stuffing *stuffing, const PetscInt v[4], int a, int c, int b, int d)
{
  const LatticeEdge ac = edge_between(stuffing->lattice, v[a], v[c]);
  const LatticeEdge bd = edge_between(stuffing->lattice, v[b], v[d]);

  return vector3_norm(vector3_subtract(cut_place(stuffing, &ac), cut_place(stuffing, &bd)));
}

/* Both diagonals start at a: the quadrilateral in the surface may have either; it gets the shorter, and of
   equal ones that of the lower number outside. */
static PetscErrorCode AddWedgeFromOne(Stuffing *stuffing, const PetscInt v[4], int a, int b, int c, int d)
{
  const PetscReal one = cut_length(stuffing, v, a, c, b, d), other = cut_length(stuffing, v, a, d, b, c);
  const PetscBool swap = other < one || (other == one && v[d] < v[c]) ? PETSC_TRUE : PETSC_FALSE;
  const int       p = swap ? d : c, q = swap ? c : d; /* the diagonal is from ap to bq */

  PetscFunctionBegin;
  PetscCall(AddPiece(stuffing, v, own(a), own(b), between(b, c), between(b, d)));
  PetscCall(AddPiece(stuffing, v, own(a), between(a, p), between(a, q), between(b, q)));
  PetscCall(AddPiece(stuffing, v, own(a), between(a, p), between(b, q), between(b, p)));
  PetscFunctionReturn(0);
}

/* Two inside (a, b), two outside (c, d): a prism with ends at a and b. */
static PetscErrorCode AddWedge(Stuffing *stuffing, const PetscInt v[4], int a, int b, int c, int d)
{
  const PetscBool by_c = starts_at_first(stuffing, v, a, b, c), by_d = starts_at_first(stuffing, v, a, b, d);
  const int       p = by_c ? d : c, q = by_c ? c : d; /* diagonals from b to ap and from a to bq */

  PetscFunctionBegin;
  if (by_c == by_d) {
    PetscCall(AddWedgeFromOne(stuffing, v, by_c ? a : b, by_c ? b : a, c, d));
    PetscFunctionReturn(0);
  }
  PetscCall(AddPiece(stuffing, v, own(a), own(b), between(a, p), between(b, q)));
  PetscCall(AddPiece(stuffing, v, own(a), between(a, p), between(a, q), between(b, q)));
  PetscCall(AddPiece(stuffing, v, own(b), between(a, p), between(b, p), between(b, q)));
  PetscFunctionReturn(0);
}

/* One inside: its cut points, or the vertices that are on the surface, are the other corners. */
static PetscErrorCode AddTip(Stuffing *stuffing, const PetscInt v[4], int in)
{
  PieceCorner corner[4];

  PetscFunctionBegin;
  for (int n = 0; n < 4; n++)
    corner[n] = stuffing->side[v[n]] == SIDE_OUT ? between(in, n) : own(n);
  PetscCall(AddPiece(stuffing, v, corner[0], corner[1], corner[2], corner[3]));
  PetscFunctionReturn(0);
}

static PetscErrorCode StuffTetrahedron(const PetscInt v[4], void *context)
{
  Stuffing *stuffing = context;
  int       in[4], on[4], out[4], ins = 0, ons = 0, outs = 0;

  PetscFunctionBegin;
  for (int n = 0; n < 4; n++) {
    if (stuffing->side[v[n]] == SIDE_IN)
      in[ins++] = n;
    else if (stuffing->side[v[n]] == SIDE_ON)
      on[ons++] = n;
    else
      out[outs++] = n;
  }
  if (ins == 0)
    PetscFunctionReturn(0);
  if (outs == 0)
    PetscCall(AddPiece(stuffing, v, own(0), own(1), own(2), own(3)));
  else if (ins == 1)
    PetscCall(AddTip(stuffing, v, in[0]));
  else if (ins == 3)
    PetscCall(AddTruncated(stuffing, v, in, out[0]));
  else if (outs == 2)
    PetscCall(AddWedge(stuffing, v, in[0], in[1], out[0], out[1]));
  else
    PetscCall(AddPyramid(stuffing, v, in[0], in[1], on[0], out[0]));
  PetscFunctionReturn(0);
}

static PetscErrorCode StartStuffing(const BccLattice *lattice, Stuffing *stuffing)
{
  const PetscInt count = lattice->vertex_count;
  const PetscInt slots = LONG_SLOTS * count + SHORT_SLOTS * (count - lattice->corner_count);

  PetscFunctionBegin;
  *stuffing = (Stuffing){.lattice = lattice, .draft = {.corners = 4}};
  PetscCall(PetscMalloc3(count, &stuffing->side, count, &stuffing->place, count, &stuffing->number));
  PetscCall(PetscMalloc2(slots, &stuffing->cut, slots, &stuffing->cut_number));
  for (PetscInt n = 0; n < count; n++) {
    const PetscReal distance = lattice->distance[n];

    stuffing->side[n] = distance < 0 ? SIDE_IN : distance > 0 ? SIDE_OUT : SIDE_ON;
    stuffing->place[n] = lattice_place(lattice, n);
    stuffing->number[n] = -1;
  }
  for (PetscInt n = 0; n < slots; n++)
    stuffing->cut_number[n] = -1;
  PetscFunctionReturn(0);
}

PetscErrorCode MeshCreateStuffed(Shape shape, PetscReal edge, Mesh *mesh, char message[], size_t message_size)
{
  BccLattice lattice;
  Stuffing   stuffing;

  PetscFunctionBegin;
  *mesh = NULL;
  PetscCall(BccLatticeCreate(shape, edge, &lattice, message, message_size));
  if (message[0])
    PetscFunctionReturn(0);
  PetscCall(StartStuffing(&lattice, &stuffing));
  find_cuts(&stuffing);
  for (PetscInt v = 0; v < lattice.vertex_count; v++) {
    if (stuffing.side[v] != SIDE_ON)
      warp_vertex(&stuffing, v);
  }
  PetscCall(BccLatticeVisit(&lattice, StuffTetrahedron, &stuffing));
  PetscCall(MeshDraftFinish(&stuffing.draft, DRAFT_WHOLE, mesh));
  PetscCall(PetscFree3(stuffing.side, stuffing.place, stuffing.number));
  PetscCall(PetscFree2(stuffing.cut, stuffing.cut_number));
  PetscCall(BccLatticeDestroy(&lattice));
  PetscFunctionReturn(0);
}
