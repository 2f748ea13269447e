/* Private to src/geometry. */
#ifndef MILLRACE_GEOMETRY_IMPL_H
#define MILLRACE_GEOMETRY_IMPL_H

#include <math.h>
#include <millrace/geometry.h>
#include <millrace/source.h>

static inline PetscBool vector3_is_finite(Vector3 a)
{
  return isfinite(a.at[X]) && isfinite(a.at[Y]) && isfinite(a.at[Z]) ? PETSC_TRUE : PETSC_FALSE;
}

static inline PetscBool vertex_is_usable(Vector3 a)
{
  return coordinate_is_usable(a.at[X]) && coordinate_is_usable(a.at[Y]) && coordinate_is_usable(a.at[Z])
             ? PETSC_TRUE
             : PETSC_FALSE;
}

typedef struct {
  Vector3 low, high;
} Box;

static inline Box box_empty(void)
{
  const PetscReal far = PETSC_INFINITY;

  return (Box){vector3(far, far, far), vector3(-far, -far, -far)};
}

static inline Box box_join(Box a, Box b)
{
  for (int d = 0; d < DIM; d++) {
    a.low.at[d] = PetscMin(a.low.at[d], b.low.at[d]);
    a.high.at[d] = PetscMax(a.high.at[d], b.high.at[d]);
  }
  return a;
}

static inline Box box_meet(Box a, Box b)
{
  for (int d = 0; d < DIM; d++) {
    a.low.at[d] = PetscMax(a.low.at[d], b.low.at[d]);
    a.high.at[d] = PetscMin(a.high.at[d], b.high.at[d]);
  }
  return a;
}

/* Half its surface. */
static inline PetscReal box_area(Box box)
{
  const Vector3 side = vector3_subtract(box.high, box.low);

  return side.at[X] * side.at[Y] + side.at[Y] * side.at[Z] + side.at[Z] * side.at[X];
}

static inline PetscBool boxes_meet(const Box *a, const Box *b)
{
  for (int d = 0; d < DIM; d++) {
    if (a->low.at[d] > b->high.at[d] || b->low.at[d] > a->high.at[d])
      return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

static inline PetscBool box_holds(Box box, Vector3 point)
{
  for (int d = 0; d < DIM; d++) {
    if (point.at[d] < box.low.at[d] || point.at[d] > box.high.at[d])
      return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

/* The box around a box that is scaled and turned about the origin; ±PETSC_INFINITY stays so. */
Box box_rotated(Box box, Quaternion rotation, PetscReal scale);

typedef enum {
  KIND_SPHERE,
  KIND_BOX,
  KIND_CYLINDER,
  KIND_CAPSULE,
  KIND_CONE,
  KIND_TORUS,
  KIND_PLANE,
  KIND_SURFACE,
  KIND_FORMULA,
  KIND_COMBINATION,
  KIND_PLACED
} ShapeKind;

struct _p_Shape {
  ShapeKind      kind;
  Vector3        centre; /* of a sphere, box or torus; of the axis of a rod; a point of a plane */
  Vector3        axis; /* unit; of a rod (cylinder, capsule, cone: to its tip) or torus; normal of a plane */
  Vector3        half; /* of a box: half its sides */
  PetscReal      radius;  /* of a torus: the minor one */
  PetscReal      reach;   /* half the length of a rod's axis; the major radius of a torus */
  Surface        surface; /* owned */
  Formula        formula; /* owned; negative inside */
  ShapeOperation operation;
  PetscInt       part_count;
  Shape         *parts; /* owned; of a placed shape: one */
  PetscReal      scale; /* of a placed shape, with rotation and translation */
  Quaternion     rotation;
  Vector3        translation;
};

typedef struct {
  Vector3 corner[3];
} Triangle;

/* A binary tree of boxes over triangles; see tree.c. */
enum { TREE_MAX_DEPTH = 72 };

struct TreeNode {
  Box      box;
  PetscInt start; /* first triangle */
  PetscInt count; /* of triangles below */
  PetscInt right; /* child; 0 in a leaf */
};

typedef struct {
  Box     box;
  Vector3 centre;
} TreeItem;

/* Of at least one item: sorts `order` by leaves; room for twice as many nodes. Returns the number of nodes,
   which are in preorder. */
PetscInt tree_build_nodes(PetscInt count, const TreeItem items[], PetscInt order[], struct TreeNode nodes[]);

typedef struct {
  PetscInt           triangle_count;
  Triangle          *triangles; /* in the order of the leaves */
  PetscInt          *numbers;   /* of these triangles as they were given */
  struct TreeFacet  *facets;    /* the same triangles, made ready for distances */
  PetscInt           node_count;
  struct TreeNode   *nodes;
  struct TreeDipole *dipoles; /* one per node */
} Tree;

/* Takes nothing: the triangles are copied. `triangle_count` must be positive. */
PetscErrorCode TreeCreate(PetscInt triangle_count, const Triangle triangles[], Tree *tree);
PetscErrorCode TreeDestroy(Tree *tree);
Box            tree_box(const Tree *tree);
PetscReal      tree_distance(const Tree *tree, Vector3 point); /* no sign */
/* Also without a sign; the normal is zero if that triangle has no area. */
PetscInt    tree_nearest_triangle(const Tree *tree, Vector3 point, Vector3 *nearest);
PetscReal   tree_nearest(const Tree *tree, Vector3 point, PetscReal bound, Vector3 *nearest, Vector3 *normal);
PetscReal   tree_winding(const Tree *tree, Vector3 point);
const Tree *surface_tree(Surface surface); /* lent */
/* Solid angle under which `point` sees the triangle, positive from behind. */
PetscReal triangle_solid_angle(const Triangle *triangle, Vector3 point);

/* Triangles as they are read, before they are a surface. */
typedef struct {
  PetscInt vertex_count, vertex_capacity;
  Vector3 *vertices;
  PetscInt triangle_count, triangle_capacity;
  PetscInt (*triangles)[3];
  PetscInt *origins; /* of each triangle: line of a text, number of the facet otherwise; from 1 */
} TriangleList;

PetscErrorCode TriangleListAddVertex(TriangleList *mesh, Vector3 vertex);
PetscErrorCode TriangleListAddTriangle(TriangleList *mesh, PetscInt a, PetscInt b, PetscInt c,
                                       PetscInt origin);
PetscErrorCode TriangleListWeld(TriangleList *mesh); /* makes equal vertices one */
PetscErrorCode TriangleListDestroy(TriangleList *mesh);

PetscErrorCode ReadObj(Source *source, TriangleList *mesh);
PetscErrorCode ReadPly(Source *source, TriangleList *mesh);
PetscErrorCode ReadStl(Source *source, TriangleList *mesh);

/* Refuses bad indices and triangles, drops the collapsed ones. */
PetscErrorCode TriangleListClean(TriangleList *mesh, Source *source, SurfaceReport *report);
/* Every edge must join two triangles of the same orientation; then turns what faces the wrong way. */
PetscErrorCode TriangleListCloseAndOrient(TriangleList *mesh, Source *source, SurfaceReport *report);

PetscErrorCode TriangleListFindFault(const TriangleList *mesh,
                                     SurfaceFault       *fault); /* `origins` may be null */

/* Of the solid within the triangles and of the shell they are; `middle` is any point near them. */
Moments triangles_moments(PetscInt count, const Triangle triangles[], Vector3 middle);
Moments triangles_shell_moments(PetscInt count, const Triangle triangles[], Vector3 middle,
                                PetscReal thickness);

static inline Triangle indexed_triangle(const Vector3 vertices[], const PetscInt corners[3])
{
  return (Triangle){{vertices[corners[0]], vertices[corners[1]], vertices[corners[2]]}};
}

#endif
