/* Distance to and winding number of many triangles, by a binary tree of boxes.

   Built once, top down, at the cheapest of 16 cuts across the widest direction (surface area heuristic), and
   laid out in preorder: the left child follows its parent. Beyond a depth of MAX_HEURISTIC_DEPTH ranges are
   halved blindly, so a query needs a stack of fixed size.

   The winding number is the sum of the solid angles of the triangles over 4 pi; a node seen from beyond
   FAR times its radius counts as one dipole, N.(c - x)/|c - x|^3, with N its summed area vectors and c its
   area-weighted centre (Barill et al. 2018, Fast winding numbers for soups and clouds). */
#include "geometry_impl.h"

enum { LEAF_SIZE = 4, BIN_COUNT = 16, MAX_HEURISTIC_DEPTH = 40, MAX_DEPTH = TREE_MAX_DEPTH };

#define FAR 2.5

/* A triangle in its own plane: the longest edge along the first axis, the tip above it. */
struct TreeFacet {
  Vector3   corner;                /* where the longest edge starts */
  Vector3   along, across, normal; /* unit */
  PetscReal length;                /* of the longest edge */
  PetscReal tip[2];                /* third corner, along and across */
  PetscReal left_inverse,
      right_inverse; /* of the squared lengths of the edges to the tip; 0 if they have none */
};

struct TreeDipole {
  Vector3   centre;
  Vector3   area;       /* vector: along the normal */
  PetscReal far_square; /* beyond this squared distance from the centre the dipole is good enough */
};

typedef struct {
  PetscInt start, end, depth;
  PetscInt parent; /* whose right child this is; -1 otherwise */
} Range;

static Box triangle_box(const Triangle *triangle)
{
  Box box = {triangle->corner[0], triangle->corner[0]};

  for (int n = 1; n < 3; n++)
    box = box_join(box, (Box){triangle->corner[n], triangle->corner[n]});
  return box;
}

static int bin_of(PetscReal value, PetscReal low, PetscReal high)
{
  const int bin = (int)(BIN_COUNT * (value - low) / (high - low));

  return PetscMin(bin, BIN_COUNT - 1);
}

/* The bin before which the cut costs least. */
static int cheapest_cut(const Box boxes[BIN_COUNT], const PetscInt counts[BIN_COUNT])
{
  PetscReal cost_left[BIN_COUNT], least = PETSC_INFINITY;
  Box       box = box_empty();
  PetscInt  count = 0;
  int       best = BIN_COUNT / 2;

  for (int bin = 0; bin < BIN_COUNT; bin++) {
    cost_left[bin] = count ? (PetscReal)count * box_area(box) : 0;
    box = box_join(box, boxes[bin]);
    count += counts[bin];
  }
  box = box_empty();
  count = 0;
  for (int bin = BIN_COUNT - 1; bin > 0; bin--) {
    PetscReal cost;

    box = box_join(box, boxes[bin]);
    count += counts[bin];
    cost = cost_left[bin] + (count ? (PetscReal)count * box_area(box) : 0);
    if (cost < least) {
      least = cost;
      best = bin;
    }
  }
  return best;
}

/* Reorders the range so that what comes before the returned place is left of the cut. */
static PetscInt split_range(const TreeItem items[], PetscInt order[], Range range)
{
  Box       centres = box_empty(), boxes[BIN_COUNT];
  PetscInt  counts[BIN_COUNT] = {0}, left = range.start, right = range.end;
  PetscReal low, high;
  int       axis = 0, cut;

  for (PetscInt n = range.start; n < range.end; n++) {
    centres = box_join(centres, (Box){items[order[n]].centre, items[order[n]].centre});
  }
  for (int d = 1; d < DIM; d++) {
    if (centres.high.at[d] - centres.low.at[d] > centres.high.at[axis] - centres.low.at[axis])
      axis = d;
  }
  low = centres.low.at[axis];
  high = centres.high.at[axis];
  if (!(high - low > 0) || range.depth >= MAX_HEURISTIC_DEPTH)
    return range.start + (range.end - range.start) / 2;
  for (int bin = 0; bin < BIN_COUNT; bin++)
    boxes[bin] = box_empty();
  for (PetscInt n = range.start; n < range.end; n++) {
    const int bin = bin_of(items[order[n]].centre.at[axis], low, high);

    boxes[bin] = box_join(boxes[bin], items[order[n]].box);
    counts[bin]++;
  }
  cut = cheapest_cut(boxes, counts);
  while (left < right) {
    if (bin_of(items[order[left]].centre.at[axis], low, high) < cut) {
      left++;
    } else {
      const PetscInt swap = order[left];

      order[left] = order[--right];
      order[right] = swap;
    }
  }
  return left; /* the outermost centres are in the outermost bins: neither side is empty */
}

PetscInt tree_build_nodes(PetscInt count, const TreeItem items[], PetscInt order[], struct TreeNode nodes[])
{
  Range    stack[MAX_DEPTH];
  int      height = 0;
  PetscInt middle, node_count = 0;

  stack[height++] = (Range){0, count, 0, -1};
  while (height > 0) {
    const Range      range = stack[--height];
    const PetscInt   number = node_count++;
    struct TreeNode *node = &nodes[number];

    *node = (struct TreeNode){box_empty(), range.start, range.end - range.start, 0};
    for (PetscInt n = range.start; n < range.end; n++)
      node->box = box_join(node->box, items[order[n]].box);
    if (range.parent >= 0)
      nodes[range.parent].right = number;
    if (node->count <= LEAF_SIZE)
      continue;
    middle = split_range(items, order, range);
    stack[height++] = (Range){middle, range.end, range.depth + 1, number};
    stack[height++] = (Range){range.start, middle, range.depth + 1, -1};
  }
  return node_count;
}

static Vector3 unit_or(Vector3 a, Vector3 otherwise)
{
  const PetscReal norm = vector3_norm(a);

  return norm > 0 ? vector3_scale(1 / norm, a) : otherwise;
}

static PetscReal inverse_or_zero(PetscReal value)
{
  return value > 0 ? 1 / value : 0;
}

static Vector3 any_normal(Vector3 along)
{
  const PetscBool is_along_x = PetscAbsReal(along.at[X]) > 0.5 ? PETSC_TRUE : PETSC_FALSE;

  return unit_or(vector3_cross(along, is_along_x ? vector3(0, 1, 0) : vector3(1, 0, 0)), vector3(0, 0, 1));
}

static struct TreeFacet facet_of(const Triangle *triangle)
{
  struct TreeFacet facet = {.length = 0};
  Vector3          base = {{0}}, side;
  int              first = 0;

  for (int n = 0; n < 3; n++) {
    const Vector3 edge = vector3_subtract(triangle->corner[(n + 1) % 3], triangle->corner[n]);

    if (vector3_norm(edge) <= facet.length)
      continue;
    facet.length = vector3_norm(edge);
    base = edge;
    first = n;
  }
  facet.corner = triangle->corner[first];
  facet.along = unit_or(base, vector3(1, 0, 0));
  side = vector3_subtract(triangle->corner[(first + 2) % 3], facet.corner);
  facet.tip[0] = vector3_dot(side, facet.along);
  facet.across =
      unit_or(vector3_subtract(side, vector3_scale(facet.tip[0], facet.along)), any_normal(facet.along));
  facet.tip[1] = vector3_dot(side, facet.across);
  facet.normal = vector3_cross(facet.along, facet.across);
  facet.left_inverse = inverse_or_zero(PetscSqr(facet.tip[0]) + PetscSqr(facet.tip[1]));
  facet.right_inverse = inverse_or_zero(PetscSqr(facet.length - facet.tip[0]) + PetscSqr(facet.tip[1]));
  return facet;
}

static struct TreeDipole dipole_of(const Tree *tree, const struct TreeNode *node)
{
  struct TreeDipole dipole = {.centre = {{0}}};
  PetscReal         total = 0, radius = 0;

  for (PetscInt n = node->start; n < node->start + node->count; n++) {
    const Vector3 *corner = tree->triangles[n].corner;
    const Vector3  area = vector3_scale(
         0.5, vector3_cross(vector3_subtract(corner[1], corner[0]), vector3_subtract(corner[2], corner[0])));
    const Vector3   sum = vector3_add(corner[0], vector3_add(corner[1], corner[2]));
    const PetscReal size = vector3_norm(area);

    dipole.area = vector3_add(dipole.area, area);
    dipole.centre = vector3_add(dipole.centre, vector3_scale(size / 3, sum));
    total += size;
  }
  if (total > 0)
    dipole.centre = vector3_scale(1 / total, dipole.centre);
  else
    dipole.centre = vector3_scale(0.5, vector3_add(node->box.low, node->box.high));
  for (PetscInt n = node->start; n < node->start + node->count; n++) {
    for (int c = 0; c < 3; c++) {
      radius = PetscMax(radius, vector3_norm(vector3_subtract(tree->triangles[n].corner[c], dipole.centre)));
    }
  }
  dipole.far_square = PetscSqr(FAR * radius);
  return dipole;
}

PetscErrorCode TreeCreate(PetscInt triangle_count, const Triangle triangles[], Tree *tree)
{
  TreeItem *items;
  PetscInt *order;

  PetscFunctionBegin;
  *tree = (Tree){.triangle_count = triangle_count};
  PetscCall(PetscMalloc2(triangle_count, &items, triangle_count, &order));
  PetscCall(PetscMalloc3(triangle_count, &tree->triangles, triangle_count, &tree->facets, triangle_count,
                         &tree->numbers));
  PetscCall(PetscMalloc1(2 * (size_t)triangle_count, &tree->nodes));
  for (PetscInt n = 0; n < triangle_count; n++) {
    items[n].box = triangle_box(&triangles[n]);
    items[n].centre = vector3_scale(0.5, vector3_add(items[n].box.low, items[n].box.high));
    order[n] = n;
  }
  tree->node_count = tree_build_nodes(triangle_count, items, order, tree->nodes);
  for (PetscInt n = 0; n < triangle_count; n++) {
    tree->numbers[n] = order[n];
    tree->triangles[n] = triangles[order[n]];
  }
  for (PetscInt n = 0; n < triangle_count; n++)
    tree->facets[n] = facet_of(&tree->triangles[n]);
  PetscCall(PetscMalloc1(tree->node_count, &tree->dipoles));
  for (PetscInt n = 0; n < tree->node_count; n++)
    tree->dipoles[n] = dipole_of(tree, &tree->nodes[n]);
  PetscCall(PetscFree2(items, order));
  PetscFunctionReturn(0);
}

PetscErrorCode TreeDestroy(Tree *tree)
{
  PetscFunctionBegin;
  PetscCall(PetscFree3(tree->triangles, tree->facets, tree->numbers));
  PetscCall(PetscFree(tree->nodes));
  PetscCall(PetscFree(tree->dipoles));
  *tree = (Tree){0};
  PetscFunctionReturn(0);
}

Box tree_box(const Tree *tree)
{
  return tree->nodes[0].box;
}

static inline PetscReal box_distance_square(const Box *box, Vector3 point)
{
  PetscReal square = 0;

  for (int d = 0; d < DIM; d++) {
    const PetscReal below = box->low.at[d] - point.at[d], above = point.at[d] - box->high.at[d];
    PetscReal       away = below > above ? below : above; /* as maxima, without branches */

    away = away > 0 ? away : 0;
    square += away * away;
  }
  return square;
}

/* Squared distance in the plane to the edge from the origin to (x, y), if the point is left of it. */
static inline PetscReal edge_distance_square(PetscReal x, PetscReal y, PetscReal inverse,
                                             const PetscReal point[2])
{
  PetscReal place, away[2];

  if (x * point[1] - y * point[0] < 0)
    return PETSC_MAX_REAL;
  place = (x * point[0] + y * point[1]) * inverse;
  place = place < 0 ? 0 : place > 1 ? 1 : place;
  away[0] = point[0] - place * x;
  away[1] = point[1] - place * y;
  return away[0] * away[0] + away[1] * away[1];
}

/* No more than `least`. The nearest point is on an edge that has the point on its outer side, or in the face
   if none has; below the base, the base's, because the angles beside the longest edge are acute. */
static inline PetscReal facet_distance_square(const struct TreeFacet *facet, Vector3 point, PetscReal least)
{
  const Vector3   arm = vector3_subtract(point, facet->corner);
  const PetscReal height = vector3_dot(arm, facet->normal), height_square = height * height;
  PetscReal       flat[2], mirrored[2], beyond, left, right;

  if (height_square >= least)
    return least;
  flat[0] = vector3_dot(arm, facet->along);
  flat[1] = vector3_dot(arm, facet->across);
  if (flat[1] <= 0) {
    beyond = flat[0] < 0 ? flat[0] : flat[0] > facet->length ? flat[0] - facet->length : 0;
    left = beyond * beyond + flat[1] * flat[1];
  } else {
    mirrored[0] = facet->length - flat[0];
    mirrored[1] = flat[1];
    left = edge_distance_square(facet->tip[0], facet->tip[1], facet->left_inverse, flat);
    right =
        edge_distance_square(facet->length - facet->tip[0], facet->tip[1], facet->right_inverse, mirrored);
    left = left < right ? left : right;
    if (left == PETSC_MAX_REAL)
      left = 0;
  }
  return left + height_square < least ? left + height_square : least;
}

/* The squared distance if it is below `least`, and the triangle that it leads to. */
static inline PetscReal find_nearest(const Tree *tree, Vector3 point, PetscReal least, PetscInt *triangle)
{
  PetscInt  stack[MAX_DEPTH];
  PetscReal squares[MAX_DEPTH];
  int       height = 0;

  stack[height] = 0;
  squares[height++] = 0;
  while (height > 0) {
    PetscInt near = stack[--height], far;

    if (squares[height] >= least)
      continue;
    while (tree->nodes[near].right) {
      PetscReal near_square = box_distance_square(&tree->nodes[near + 1].box, point);
      PetscReal far_square = box_distance_square(&tree->nodes[tree->nodes[near].right].box, point);

      far = tree->nodes[near].right;
      near = near + 1;
      if (far_square < near_square) {
        const PetscInt  node = near;
        const PetscReal square = near_square;

        near = far, near_square = far_square;
        far = node, far_square = square;
      }
      if (far_square < least) {
        stack[height] = far;
        squares[height++] = far_square;
      }
      if (near_square >= least)
        break;
    }
    if (tree->nodes[near].right)
      continue;
    for (PetscInt n = tree->nodes[near].start; n < tree->nodes[near].start + tree->nodes[near].count; n++) {
      const PetscReal square = facet_distance_square(&tree->facets[n], point, least);

      *triangle = square < least ? n : *triangle;
      least = square;
    }
  }
  return least;
}

PetscReal tree_distance(const Tree *tree, Vector3 point)
{
  PetscInt triangle = 0;

  return PetscSqrtReal(find_nearest(tree, point, PETSC_MAX_REAL, &triangle));
}

static Vector3 segment_nearest(Vector3 from, Vector3 to, Vector3 point)
{
  const Vector3   edge = vector3_subtract(to, from);
  const PetscReal place = vector3_dot(vector3_subtract(point, from), edge);
  const PetscReal fraction = place * inverse_or_zero(vector3_dot(edge, edge));

  return vector3_add(from, vector3_scale(PetscMin(PetscMax(fraction, 0), 1), edge));
}

/* The foot of the point if it is in the triangle, else the nearest of the three on the edges. */
static Vector3 triangle_nearest(const Triangle *triangle, Vector3 normal, Vector3 point)
{
  const PetscReal height = vector3_dot(vector3_subtract(point, triangle->corner[0]), normal);
  Vector3         nearest = vector3_subtract(point, vector3_scale(height, normal));
  PetscBool       is_in_face = vector3_dot(normal, normal) > 0 ? PETSC_TRUE : PETSC_FALSE;
  PetscReal       least = PETSC_MAX_REAL;

  for (int n = 0; n < 3; n++) {
    const Vector3 from = triangle->corner[n], to = triangle->corner[(n + 1) % 3];
    const Vector3 turned = vector3_cross(vector3_subtract(to, from), vector3_subtract(point, from));

    if (vector3_dot(turned, normal) < 0)
      is_in_face = PETSC_FALSE;
  }
  for (int n = 0; n < 3 && !is_in_face; n++) {
    const Vector3 candidate = segment_nearest(triangle->corner[n], triangle->corner[(n + 1) % 3], point);
    const Vector3 arm = vector3_subtract(point, candidate);

    if (vector3_dot(arm, arm) >= least)
      continue;
    least = vector3_dot(arm, arm);
    nearest = candidate;
  }
  return nearest;
}

PetscReal tree_nearest(const Tree *tree, Vector3 point, PetscReal bound, Vector3 *nearest, Vector3 *normal)
{
  const PetscReal least = bound < PETSC_INFINITY ? PetscSqr(1.000001 * bound) : PETSC_MAX_REAL;
  PetscInt        number = -1;
  PetscReal       square = find_nearest(tree, point, least, &number);
  const Triangle *triangle;
  Vector3         area;

  if (number < 0) /* the bound was too small */
    square = find_nearest(tree, point, PETSC_MAX_REAL, &number);
  triangle = &tree->triangles[PetscMax(number, 0)];
  area = vector3_cross(vector3_subtract(triangle->corner[1], triangle->corner[0]),
                       vector3_subtract(triangle->corner[2], triangle->corner[0]));
  *normal = unit_or(area, vector3(0, 0, 0));
  *nearest = triangle_nearest(triangle, *normal, point);
  return PetscSqrtReal(square);
}

PetscInt tree_nearest_triangle(const Tree *tree, Vector3 point, Vector3 *nearest)
{
  PetscInt        number = 0;
  const Triangle *triangle;
  Vector3         area;

  (void)find_nearest(tree, point, PETSC_MAX_REAL, &number);
  triangle = &tree->triangles[number];
  area = vector3_cross(vector3_subtract(triangle->corner[1], triangle->corner[0]),
                       vector3_subtract(triangle->corner[2], triangle->corner[0]));
  *nearest = triangle_nearest(triangle, unit_or(area, vector3(0, 0, 0)), point);
  return tree->numbers[number];
}

/* van Oosterom and Strackee 1983 */
PetscReal triangle_solid_angle(const Triangle *triangle, Vector3 point)
{
  const Vector3   a = vector3_subtract(triangle->corner[0], point);
  const Vector3   b = vector3_subtract(triangle->corner[1], point);
  const Vector3   c = vector3_subtract(triangle->corner[2], point);
  const PetscReal a_norm = vector3_norm(a), b_norm = vector3_norm(b), c_norm = vector3_norm(c);
  const PetscReal below = a_norm * b_norm * c_norm + vector3_dot(a, b) * c_norm + vector3_dot(b, c) * a_norm +
                          vector3_dot(c, a) * b_norm;

  return 2 * atan2(vector3_dot(a, vector3_cross(b, c)), below);
}

PetscReal tree_winding(const Tree *tree, Vector3 point)
{
  PetscInt  stack[MAX_DEPTH];
  PetscReal sum = 0;
  int       height = 0;

  stack[height++] = 0;
  while (height > 0) {
    const PetscInt           number = stack[--height];
    const struct TreeNode   *node = &tree->nodes[number];
    const struct TreeDipole *dipole = &tree->dipoles[number];
    const Vector3            arm = vector3_subtract(dipole->centre, point);
    const PetscReal          square = vector3_dot(arm, arm);

    if (square > dipole->far_square) {
      sum += vector3_dot(dipole->area, arm) / (square * PetscSqrtReal(square));
    } else if (node->right) {
      stack[height++] = node->right;
      stack[height++] = number + 1;
    } else {
      for (PetscInt n = 0; n < node->count; n++)
        sum += triangle_solid_angle(&tree->triangles[node->start + n], point);
    }
  }
  return sum / (4 * PETSC_PI);
}
