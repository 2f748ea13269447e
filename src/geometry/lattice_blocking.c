/* Segments that a surface is in the way of. Triangles are thickened by a margin, so that a closed surface
   lets nothing through, however a segment meets its edges and corners. */
#include "geometry_impl.h"

#include <millrace/lattice.h>

/* A triangle as seen along a direction: `across` it, in boxes, and `along` it. */
typedef struct {
  PetscReal across[3][2], along[3];
} View;

static inline PetscReal turned(const PetscReal a[2], const PetscReal b[2], const PetscReal p[2])
{
  return (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0]);
}

typedef struct {
  PetscReal low, high;
} TriangleReach;

static inline void reach_add(TriangleReach *reach, PetscReal place)
{
  reach->low = PetscMin(reach->low, place);
  reach->high = PetscMax(reach->high, place);
}

/* Of an edge that passes the line within the margin: where it does so. */
static void add_edge(const View *view, int n, const PetscReal point[2], PetscReal margin,
                     TriangleReach *reach)
{
  const int        m = (n + 1) % 3;
  const PetscReal *a = view->across[n], *b = view->across[m];
  const PetscReal  edge[2] = {b[0] - a[0], b[1] - a[1]}, arm[2] = {point[0] - a[0], point[1] - a[1]};
  const PetscReal  square = edge[0] * edge[0] + edge[1] * edge[1];
  PetscReal        part = square > 0 ? (arm[0] * edge[0] + arm[1] * edge[1]) / square : 0;

  part = PetscMin(PetscMax(part, 0), 1);
  if (PetscSqr(arm[0] - part * edge[0]) + PetscSqr(arm[1] - part * edge[1]) > PetscSqr(margin))
    return;
  reach_add(reach, view->along[n] + part * (view->along[m] - view->along[n]));
  if (square <= PetscSqr(margin)) { /* the edge runs along the line */
    reach_add(reach, view->along[n]);
    reach_add(reach, view->along[m]);
  }
}

/* The part of the line that touches the thickened triangle; low above high if none does. */
static TriangleReach touched(const View *view, const PetscReal point[2], PetscReal margin)
{
  TriangleReach   reach = {PETSC_MAX_REAL, -PETSC_MAX_REAL};
  const PetscReal area = turned(view->across[0], view->across[1], view->across[2]);
  PetscReal       part[3];

  for (int n = 0; n < 3; n++) {
    part[n] = turned(view->across[(n + 1) % 3], view->across[(n + 2) % 3], point);
    add_edge(view, n, point, margin, &reach);
  }
  if ((area > 0 && part[0] >= 0 && part[1] >= 0 && part[2] >= 0) ||
      (area < 0 && part[0] <= 0 && part[1] <= 0 && part[2] <= 0))
    reach_add(&reach,
              (part[0] * view->along[0] + part[1] * view->along[1] + part[2] * view->along[2]) / area);
  return reach;
}

static View view_of(const Lattice *lattice, const Triangles *triangles, PetscInt t, PetscInt direction)
{
  View view;

  for (int c = 0; c < 3; c++)
    for (int d = 0; d < DIM; d++) {
      const Vector3   vertex = triangles->vertices[triangles->triangles[t][c]];
      const PetscReal place = (vertex.at[d] - lattice->origin.at[d]) / lattice->spacing.at[d] - 0.5;

      if (d == direction)
        view.along[c] = place;
      else
        view.across[c][(d - direction + DIM) % DIM - 1] = place;
    }
  return view;
}

/* The lines through centres that may meet the triangle. */
static PetscInt within(const Lattice *lattice, const View *view, int side, PetscInt axis, PetscReal margin,
                       PetscInt *end)
{
  PetscReal low = view->across[0][side], high = low;

  for (int c = 1; c < 3; c++) {
    low = PetscMin(low, view->across[c][side]);
    high = PetscMax(high, view->across[c][side]);
  }
  low = PetscMax(low - margin, (PetscReal)lattice->start[axis]);
  high = PetscMin(high + margin, (PetscReal)lattice->end[axis]);
  *end = PetscMin((PetscInt)floor(high) + 1, lattice->end[axis]);
  return (PetscInt)ceil(low);
}

/* What becomes of a segment that is met: it is marked, or the places are widened to where. */
typedef struct {
  PetscInt   direction;
  PetscReal  margin;
  PetscInt   mark, *marks;
  PetscReal *first, *last;
} Segments;

/* Segment i goes from centre i - 1 to centre i. */
static void meet_segments(const Lattice *lattice, PetscInt at[DIM], TriangleReach reach,
                          const Segments *segments)
{
  const PetscInt  direction = segments->direction;
  const PetscReal low = PetscMax(reach.low - segments->margin, (PetscReal)lattice->start[direction]),
                  high = PetscMin(reach.high + segments->margin + 1, (PetscReal)lattice->end[direction]);

  for (at[direction] = (PetscInt)ceil(low);
       (PetscReal)at[direction] <= high && at[direction] < lattice->end[direction]; at[direction]++) {
    const PetscInt  n = lattice_index(lattice, at[X], at[Y], at[Z]);
    const PetscReal from = (PetscReal)at[direction] - 1;

    if (segments->marks)
      segments->marks[n] = segments->mark;
    if (segments->first)
      segments->first[n] = PetscMin(segments->first[n], PetscMin(PetscMax(reach.low - from, 0), 1));
    if (segments->last)
      segments->last[n] = PetscMax(segments->last[n], PetscMin(PetscMax(reach.high - from, 0), 1));
  }
}

static void look_along(const Lattice *lattice, const Triangles *triangles, const Segments *segments)
{
  const PetscInt direction = segments->direction, first = (direction + 1) % DIM,
                 second = (direction + 2) % DIM;
  const PetscReal margin = segments->margin;
  PetscInt        at[DIM], end[2];

  for (PetscInt t = 0; t < triangles->triangle_count; t++) {
    const View     view = view_of(lattice, triangles, t, direction);
    const PetscInt start[2] = {within(lattice, &view, 0, first, margin, &end[0]),
                               within(lattice, &view, 1, second, margin, &end[1])};

    for (at[second] = start[1]; at[second] < end[1]; at[second]++)
      for (at[first] = start[0]; at[first] < end[0]; at[first]++) {
        const PetscReal     point[2] = {(PetscReal)at[first], (PetscReal)at[second]};
        const TriangleReach reach = touched(&view, point, margin);

        if (reach.low <= reach.high)
          meet_segments(lattice, at, reach, segments);
      }
  }
}

void lattice_block(const Lattice *lattice, const Triangles *triangles, PetscInt direction, PetscReal margin,
                   PetscInt mark, PetscInt marks[])
{
  const Segments segments = {direction, margin, .mark = mark, .marks = marks};

  look_along(lattice, triangles, &segments);
}

void lattice_hit(const Lattice *lattice, const Triangles *triangles, PetscInt direction, PetscReal margin,
                 PetscReal first[], PetscReal last[])
{
  const Segments segments = {direction, margin, .first = first, .last = last};

  look_along(lattice, triangles, &segments);
}

/* Squared distance of two segments, or of a point if one has no length (Ericson 2005, 5.1.9). */
static PetscReal segments_apart(Vector3 p, Vector3 p_end, Vector3 q, Vector3 q_end)
{
  const Vector3   u = vector3_subtract(p_end, p), w = vector3_subtract(q_end, q), r = vector3_subtract(p, q);
  const PetscReal a = vector3_dot(u, u), e = vector3_dot(w, w), b = vector3_dot(u, w), c = vector3_dot(u, r),
                  f = vector3_dot(w, r), below = a * e - b * b;
  PetscReal s = below > 0 ? PetscMin(PetscMax((b * f - c * e) / below, 0), 1) : 0, t;
  Vector3   arm;

  t = e > 0 ? (b * s + f) / e : 0;
  if (t < 0 || t > 1 || e <= 0) {
    t = PetscMin(PetscMax(t, 0), 1);
    s = a > 0 ? PetscMin(PetscMax((b * t - c) / a, 0), 1) : 0;
  }
  arm = vector3_add(r, vector3_subtract(vector3_scale(s, u), vector3_scale(t, w)));
  return vector3_dot(arm, arm);
}

/* Squared distance of a point from the plane of a triangle if its foot lies in it; else infinite. */
static PetscReal foot_distance(const Triangle *triangle, Vector3 normal, Vector3 point)
{
  const PetscReal square = vector3_dot(normal, normal);
  PetscReal       height;

  if (!(square > 0))
    return PETSC_INFINITY;
  for (int n = 0; n < 3; n++) {
    const Vector3 edge = vector3_subtract(triangle->corner[(n + 1) % 3], triangle->corner[n]);

    if (vector3_dot(vector3_cross(edge, vector3_subtract(point, triangle->corner[n])), normal) < 0)
      return PETSC_INFINITY;
  }
  height = vector3_dot(vector3_subtract(point, triangle->corner[0]), normal);
  return height * height / square;
}

/* Most triangles lie on one side of a plane that the segment does not reach: they are answered first. */
static PetscBool triangle_blocks(const Triangle *triangle, Vector3 from, Vector3 to, PetscReal margin)
{
  const Vector3 *corner = triangle->corner;
  const Vector3  normal =
      vector3_cross(vector3_subtract(corner[1], corner[0]), vector3_subtract(corner[2], corner[0]));
  const PetscReal before = vector3_dot(vector3_subtract(from, corner[0]), normal),
                  after = vector3_dot(vector3_subtract(to, corner[0]), normal),
                  nearer = PetscMin(PetscAbsReal(before), PetscAbsReal(after));

  if (before * after > 0 && nearer * nearer > margin * margin * vector3_dot(normal, normal))
    return PETSC_FALSE;
  if (before * after < 0 &&
      foot_distance(triangle, normal,
                    vector3_add(from, vector3_scale(before / (before - after), vector3_subtract(to, from)))) <
          PETSC_INFINITY)
    return PETSC_TRUE;
  for (int n = 0; n < 3; n++)
    if (segments_apart(from, to, corner[n], corner[(n + 1) % 3]) <= margin * margin)
      return PETSC_TRUE;
  return foot_distance(triangle, normal, from) <= margin * margin ||
                 foot_distance(triangle, normal, to) <= margin * margin
             ? PETSC_TRUE
             : PETSC_FALSE;
}

PetscBool surface_blocks(Surface surface, Vector3 from, Vector3 to, PetscReal margin)
{
  const Tree *tree = surface_tree(surface);
  PetscInt    stack[TREE_MAX_DEPTH];
  int         height = 0;
  Box         box;

  for (int d = 0; d < DIM; d++) {
    box.low.at[d] = PetscMin(from.at[d], to.at[d]) - margin;
    box.high.at[d] = PetscMax(from.at[d], to.at[d]) + margin;
  }
  stack[height++] = 0;
  while (height > 0) {
    const PetscInt         number = stack[--height];
    const struct TreeNode *node = &tree->nodes[number];

    if (!boxes_meet(&node->box, &box))
      continue;
    if (node->right) {
      stack[height++] = node->right;
      stack[height++] = number + 1;
      continue;
    }
    for (PetscInt n = node->start; n < node->start + node->count; n++)
      if (triangle_blocks(&tree->triangles[n], from, to, margin))
        return PETSC_TRUE;
  }
  return PETSC_FALSE;
}
