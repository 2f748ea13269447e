/* Whether a point that goes straight has passed a surface whose vertices do so, too: the number of triangles
   that it goes through. In the plane of a triangle with the corners a, b, c the point x is where

     (a - x) . ((b - x) x (c - x)) = 0,

   cubic in the part of the way; each root is bracketed by those of the derivative. A point has changed sides
   if it goes through an odd number, which is so whatever way it and the surface take, but around edges: none
   is said to have where one is within reach. Shares nothing with what is looked past. */
#include "geometry_impl.h"

#include <millrace/lattice.h>

typedef struct {
  Vector3 start, way;
} CornerWay;

static Vector3 course_at(const CornerWay *course, PetscReal part)
{
  return vector3_add(course->start, vector3_scale(part, course->way));
}

/* Of the corners, relative to the point. */
static PetscReal volume_at(const CornerWay corners[3], PetscReal part)
{
  return vector3_dot(course_at(&corners[0], part),
                     vector3_cross(course_at(&corners[1], part), course_at(&corners[2], part)));
}

/* By its values at four places. */
static void find_cubic(const CornerWay corners[3], PetscReal coefficients[4])
{
  const PetscReal f0 = volume_at(corners, 0.), f1 = volume_at(corners, 1.), back = volume_at(corners, -1.),
                  f2 = volume_at(corners, 2.);

  coefficients[0] = f0;
  coefficients[2] = 0.5 * (f1 + back) - f0;
  coefficients[3] = (f2 - 2. * f1 + f0 - 2. * coefficients[2]) / 6.;
  coefficients[1] = f1 - f0 - coefficients[2] - coefficients[3];
}

static PetscReal cubic_at(const PetscReal c[4], PetscReal t)
{
  return c[0] + t * (c[1] + t * (c[2] + t * c[3]));
}

/* The places in ascending order that divide 0 to 1 into parts in which the cubic rises or falls; their
 * number.
 */
static int monotonous_parts(const PetscReal c[4], PetscReal ends[4])
{
  const PetscReal root = PetscSqr(c[2]) - 3. * c[3] * c[1];
  int             count = 0;

  ends[count++] = 0.;
  if (root > 0.) { /* 3 c3 t^2 + 2 c2 t + c1 = 0 */
    const PetscReal q = -(c[2] + (c[2] < 0. ? -1. : 1.) * PetscSqrtReal(root));
    const PetscReal one = c[3] != 0. ? q / (3. * c[3]) : -1., other = q != 0. ? c[1] / q : -1.;

    if (PetscMin(one, other) > 0. && PetscMin(one, other) < 1.)
      ends[count++] = PetscMin(one, other);
    if (PetscMax(one, other) > 0. && PetscMax(one, other) < 1.)
      ends[count++] = PetscMax(one, other);
  } else if (c[3] == 0. && c[2] != 0. && -c[1] / (2. * c[2]) > 0. && -c[1] / (2. * c[2]) < 1.)
    ends[count++] = -c[1] / (2. * c[2]);
  ends[count] = 1.;
  return count;
}

/* Where the sign changes. */
static PetscReal find_root(const PetscReal c[4], PetscReal low, PetscReal high)
{
  enum { HALVINGS = 60 };
  const PetscBool rises = cubic_at(c, low) < 0. ? PETSC_TRUE : PETSC_FALSE;

  for (int n = 0; n < HALVINGS; n++) {
    const PetscReal middle = 0.5 * (low + high);

    if ((cubic_at(c, middle) < 0. ? PETSC_TRUE : PETSC_FALSE) == rises)
      low = middle;
    else
      high = middle;
  }
  return 0.5 * (low + high);
}

/* The origin, which is in the plane of the corners. */
static PetscBool holds_origin(const CornerWay courses[3], PetscReal part)
{
  Vector3 corner[3], area;

  for (int n = 0; n < 3; n++)
    corner[n] = course_at(&courses[n], part);
  area = vector3_cross(vector3_subtract(corner[1], corner[0]), vector3_subtract(corner[2], corner[0]));
  for (int n = 0; n < 3; n++)
    if (vector3_dot(vector3_cross(corner[n], corner[(n + 1) % 3]), area) < 0.)
      return PETSC_FALSE;
  return PETSC_TRUE;
}

static PetscInt crossings_of(const Triangle *before, const Triangle *after, Vector3 from, Vector3 to)
{
  CornerWay courses[3];
  PetscReal cubic[4], ends[4];
  PetscInt  count = 0;
  int       parts;

  for (int n = 0; n < 3; n++) {
    courses[n].start = vector3_subtract(before->corner[n], from);
    courses[n].way = vector3_subtract(vector3_subtract(after->corner[n], to), courses[n].start);
  }
  find_cubic(courses, cubic);
  parts = monotonous_parts(cubic, ends);
  for (int n = 0; n < parts; n++)
    if ((cubic_at(cubic, ends[n]) < 0.) != (cubic_at(cubic, ends[n + 1]) < 0.))
      count += holds_origin(courses, find_root(cubic, ends[n], ends[n + 1])) ? 1 : 0;
  return count;
}

/* Triangles of a tree whose boxes meet another; at most as many as there is room for. */
static PetscInt find_triangles(const Tree *tree, const Box *box, PetscInt room, PetscInt found[])
{
  PetscInt stack[TREE_MAX_DEPTH], count = 0;
  int      height = 0;

  stack[height++] = 0;
  while (height > 0) {
    const PetscInt         number = stack[--height];
    const struct TreeNode *node = &tree->nodes[number];

    if (!boxes_meet(&node->box, box))
      continue;
    if (node->right) {
      stack[height++] = node->right;
      stack[height++] = number + 1;
      continue;
    }
    for (PetscInt n = node->start; n < node->start + node->count && count < room; n++)
      found[count++] = n;
  }
  return count;
}

static Box box_around(Vector3 from, Vector3 to, PetscReal reach)
{
  Box box = box_join((Box){from, from}, (Box){to, to});

  for (int d = 0; d < DIM; d++) {
    box.low.at[d] -= reach;
    box.high.at[d] += reach;
  }
  return box;
}

static PetscBool has_edge(const PetscInt triangle[3], PetscInt a, PetscInt b)
{
  PetscInt ends = 0;

  for (int c = 0; c < 3; c++)
    ends += triangle[c] == a || triangle[c] == b;
  return ends == 2 ? PETSC_TRUE : PETSC_FALSE;
}

enum { ROOM = 1024 };

/* An edge of a single triangle: both triangles of another one are found within the same reach. */
static PetscBool is_beside_edge(Surface surface, Vector3 point, PetscReal reach)
{
  const Tree *tree = surface_tree(surface);
  const PetscInt(*triangles)[3] = NULL;
  const Vector3 *places = NULL;
  const Box      box = box_around(point, point, reach);
  PetscInt       found[ROOM], count = find_triangles(tree, &box, ROOM, found);

  PetscCallAbort(PETSC_COMM_SELF, SurfaceGet(surface, NULL, &places, NULL, &triangles));
  for (PetscInt n = 0; n < 3 * count; n++) {
    const PetscInt *corners = triangles[tree->numbers[found[n / 3]]];
    const PetscInt  a = corners[n % 3], b = corners[(n + 1) % 3];
    const Box       edge = box_join((Box){places[a], places[a]}, (Box){places[b], places[b]});
    PetscInt        sharing = 0;

    if (!boxes_meet(&edge, &box))
      continue;
    for (PetscInt m = 0; m < count; m++)
      sharing += has_edge(triangles[tree->numbers[found[m]]], a, b);
    if (sharing == 1)
      return PETSC_TRUE;
  }
  return PETSC_FALSE;
}

PetscBool surface_is_crossed(Surface before, Surface after, PetscReal way, Vector3 from, Vector3 to)
{
  const Tree *tree = surface_tree(before);
  const PetscInt(*triangles)[3] = NULL;
  const Vector3 *places = NULL;
  const Box      box = box_around(from, to, way);
  PetscInt       found[ROOM], count = find_triangles(tree, &box, ROOM, found), crossings = 0;

  PetscCallAbort(PETSC_COMM_SELF, SurfaceGet(after, NULL, &places, NULL, &triangles));
  for (PetscInt n = 0; n < count; n++) {
    const Triangle then = indexed_triangle(places, triangles[tree->numbers[found[n]]]);

    crossings += crossings_of(&tree->triangles[found[n]], &then, from, to);
  }
  return crossings % 2 && !is_beside_edge(before, from, 2. * way + vector3_norm(vector3_subtract(to, from)))
             ? PETSC_TRUE
             : PETSC_FALSE;
}
