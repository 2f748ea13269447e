/* Meshes of deformable solids: points, segments, triangles or tetrahedra, linear or quadratic. No MPI, no
   material.

   A mesh is what a solid is at rest. Its members are read by everybody and written by this room alone. Every
   function gives the same bits for the same arguments. */
#ifndef MILLRACE_MESH_H
#define MILLRACE_MESH_H

#include <millrace/api.h>
#include <millrace/base.h>
#include <millrace/geometry.h>

MILLRACE_API_BEGIN

/* What the elements are; also their dimension. */
typedef enum { MESH_POINTS, MESH_SEGMENTS, MESH_TRIANGLES, MESH_TETRAHEDRA } MeshKind;

/* More than any element has. */
enum { MESH_MAX_NODES = 10, MESH_MAX_CORNERS = 4, MESH_MAX_EDGES = 6 };

/* Where a point is in a mesh: weights of the corners of an element. Of a tetrahedron they give the point,
   also from outside (some are then negative); of other elements its nearest point. Quadratic elements are
   taken by their corners. */
typedef struct {
  PetscInt  element;
  PetscReal weights[MESH_MAX_CORNERS]; /* their sum is 1 */
  PetscReal distance;                  /* from the element; 0 inside a tetrahedron */
} MeshPlace;

typedef struct _p_Mesh *Mesh;
struct _p_Mesh {
  MeshKind  kind;
  PetscInt  order; /* 1, or 2 with a node in the middle of each edge */
  PetscInt  vertex_count;
  Vector3  *vertices; /* m */
  PetscInt  element_count;
  PetscInt  nodes;    /* of an element: mesh_nodes(kind, order) */
  PetscInt *elements; /* `nodes` vertices each: the corners, then the middles of mesh_edge(kind, 0), … */
  PetscInt *numbers;  /* of each element in its file; null: they count from 0 as here */
  /* Of a vertex that refinement has put in the middle of an edge: the ends of that edge, which come before
     it; -1 of others. Null: no vertex was. */
  PetscInt (*parents)[2];
  /* Of tetrahedra that hold their material only in part, since it was cut or is embedded; null of others. */
  PetscReal *filled;  /* that part of each element */
  Mesh       surface; /* of the material: triangles, closed, facing outwards */
  MeshPlace *places;  /* of the surface's vertices */
};

PetscInt mesh_corners(MeshKind kind);               /* of an element */
PetscInt mesh_edges(MeshKind kind);                 /* of an element */
PetscInt mesh_nodes(MeshKind kind, PetscInt order); /* of an element */
/* The two corners, counted in the element, of its edge; VTK's and XDMF's order. */
const PetscInt *mesh_edge(MeshKind kind, PetscInt edge);
/* The corners, counted in the element, of the face (edge, end) opposite a corner; seen from outside a
   positive tetrahedron they turn counter-clockwise, and a triangle lies to the left of its edges. */
const PetscInt *mesh_side(MeshKind kind, PetscInt corner);

/* Copies its arrays; a vertex that is not there is an error, everything else is for MeshCheck. `elements`
   holds mesh_nodes(kind, order) numbers each. Not collective. */
PetscErrorCode MeshCreate(MeshKind kind, PetscInt order, PetscInt vertex_count, const Vector3 vertices[],
                          PetscInt element_count, const PetscInt elements[], Mesh *mesh);
PetscErrorCode MeshCopy(Mesh mesh, Mesh *copy);
PetscErrorCode MeshDestroy(Mesh *mesh);

/* How cubes become tetrahedra. FIVE: one regular in the middle and four at corners, mirrored from cube to
   cube. SIX: around one diagonal, all of the same direction. BCC: between the centres of neighbouring cubes,
   the best angles (60° and 90°) except for the half-pyramids at the sides. */
typedef enum { MESH_BOX_FIVE, MESH_BOX_SIX, MESH_BOX_BCC } MeshBoxPattern;
extern const char *const MeshBoxPatterns[]; /* words for them, null-terminated */
/* A box of cells[0] x cells[1] x cells[2] cubes in tetrahedra. Not collective. */
PetscErrorCode MeshCreateBox(Vector3 low, Vector3 high, const PetscInt cells[MILLRACE_DIM],
                             MeshBoxPattern pattern, Mesh *mesh);

/* Surfaces of triangles with edges of about `edge`, for cloth, skins and plane solids. A sheet is the
   parallelogram at `corner` in cells[0] x cells[1] parallelograms, each halved along diagonals that
   alternate; its normal is along x across. Not collective. */
PetscErrorCode MeshCreateSheet(Vector3 corner, Vector3 along, Vector3 across, const PetscInt cells[2],
                               Mesh *mesh);
/* What a polygon of (radius, height) makes when it turns about the axis: a ring of vertices for each of its
   points, in whole sixths, one vertex where the radius is 0. Its sides are divided until none is longer than
   `edge`. The normal points to the right of the way, outwards where it goes up: (0, -1), (1, 0), (0, 1) is a
   double cone. MESH_PROFILE_RING joins the last point with the first. Not collective. */
typedef struct {
  PetscReal radius, height; /* m; from and along the axis */
} MeshProfilePoint;
typedef enum { MESH_PROFILE_PATH, MESH_PROFILE_RING } MeshProfileKind;
PetscErrorCode MeshCreateRevolution(Vector3 origin, Vector3 axis, MeshProfileKind kind, PetscInt count,
                                    const MeshProfilePoint points[], PetscReal edge, Mesh *mesh);
/* Of these, all vertices lie on the true surface; a disc faces along its normal, a tube is open at both ends,
   the others are closed and face outwards. Not collective. */
PetscErrorCode MeshCreateDisc(Vector3 centre, Vector3 normal, PetscReal radius, PetscReal edge, Mesh *mesh);
PetscErrorCode MeshCreateTube(Vector3 from, Vector3 to, PetscReal radius, PetscReal edge, Mesh *mesh);
PetscErrorCode MeshCreateTorus(Vector3 centre, Vector3 axis, PetscReal major, PetscReal minor, PetscReal edge,
                               Mesh *mesh);
PetscErrorCode MeshCreateCapsule(Vector3 from, Vector3 to, PetscReal radius, PetscReal edge, Mesh *mesh);
/* A geodesic sphere: each triangle of an icosahedron in n^2. Not collective. */
PetscErrorCode MeshCreateBall(Vector3 centre, PetscReal radius, PetscReal edge, Mesh *mesh);
/* A straight line in `count` segments. Not collective. */
PetscErrorCode MeshCreateLine(Vector3 from, Vector3 to, PetscInt count, Mesh *mesh);

/* Tetrahedra that fill a bounded shape, from a body-centred cubic lattice of cubes of
   `edge`. On a mistake `*mesh` is null and `message` says what and what helps; a shape that no vertex of the
   lattice meets gives a mesh without elements.

   Stuffed: the surface is that of the shape, its vertices lie on it, and all dihedral angles are between 10.7
   and 164.8 degrees; corners and edges of the shape are cut off by a part of `edge`. Covering: all tetrahedra
   of the lattice that the shape reaches into, so that every point of the shape lies in one; for embedded
   surfaces. Not collective. */
PetscErrorCode MeshCreateStuffed(Shape shape, PetscReal edge, Mesh *mesh, char message[],
                                 size_t message_size);
PetscErrorCode MeshCreateCovering(Shape shape, PetscReal edge, Mesh *mesh, char message[],
                                  size_t message_size);

/* The elements of one kind in a file of Gmsh: version 2.2 or 4.1, text or binary. Nodes that no such element
   has are left out; mesh->numbers are those of the file. On a mistake `*mesh` is null and `message` says what
   and where (file:line of a text). Memory is bounded by the size of the file. Not collective. */
PetscErrorCode MeshReadGmsh(const char path[], MeshKind kind, Mesh *mesh, char message[],
                            size_t message_size);

/* Every marked element (null: all) becomes 2, 4 or 8 that are half as long; its neighbours stay as they are,
   so that vertices may hang on their sides. Linear meshes only. `origins`, if not null, is the old element of
   each new one, to be freed by PetscFree. Not collective. */
PetscErrorCode MeshRefine(Mesh mesh, const PetscBool marks[], Mesh *refined, PetscInt **origins);

/* The vertices that hang on the side of an element without being its corner: where they are for the mesh to
   have no gap, in terms of vertices that do not hang. */
typedef struct {
  PetscInt   count;
  PetscInt  *vertices; /* ascending */
  PetscInt  *first;    /* parents and weights of the n-th: from first[n] to first[n + 1] - 1 */
  PetscInt  *parents;
  PetscReal *weights; /* positive; their sum is 1 */
} MeshJunctions;
/* By mesh->parents: of a mesh that MeshRefine has made. Not collective. */
PetscErrorCode MeshFindJunctions(Mesh mesh, MeshJunctions *junctions);
PetscErrorCode MeshJunctionsDestroy(MeshJunctions *junctions);

/* The same with a node in the middle of every edge. Not for meshes with junctions. Not collective. */
PetscErrorCode MeshCreateQuadratic(Mesh mesh, Mesh *quadratic);

typedef struct _p_MeshLocator *MeshLocator;
/* Borrows the mesh. Not collective. */
PetscErrorCode MeshLocatorCreate(Mesh mesh, MeshLocator *locator);
PetscErrorCode MeshLocatorDestroy(MeshLocator *locator);
/* The nearest element; of several, the first. */
MeshPlace mesh_locate(MeshLocator locator, Vector3 point);
/* The same for many points, such as the vertices of a surface that is embedded in the mesh. Not collective.
 */
PetscErrorCode MeshFindPlaces(Mesh mesh, PetscInt count, const Vector3 points[], MeshPlace places[]);

/* A mesh of tetrahedra cut by planes, by virtual nodes: each piece has the whole tetrahedron that it was cut
   from, with vertices of its own where material is not joined across a face. */
typedef enum { MESH_KEEP_BOTH, MESH_KEEP_FRONT, MESH_KEEP_BACK } MeshKeep;
extern const char *const MeshKeeps[]; /* words for them, null-terminated */
typedef struct {
  Vector3   point, normal;
  Vector3   end_point, end_normal; /* not zero: it cuts only where this normal points to, a half plane */
  MeshKeep  keep;                  /* FRONT: material to which the normal points; of whole planes */
  PetscReal gap; /* m between the surfaces of its two sides, which stand back while the material stays */
} MeshPlane;
typedef struct {
  PetscInt   component_count;
  Mesh       mesh;    /* one tetrahedron for each piece; only in part filled */
  PetscInt  *origins; /* the old element of each */
  PetscReal *volumes; /* of the material in each, m^3 */
  Mesh       surface; /* triangles around the material, closed, facing outwards */
  MeshPlace *places;  /* of each vertex of the surface in `mesh` */
} MeshCut;
/* Planes go through the whole mesh or up to their ends, also through vertices, edges and faces. A tetrahedron
   in which a half plane ends is not divided by it. Where nothing is kept, the mesh has no element. Linear
   tetrahedra only. Not collective. */
PetscErrorCode MeshCutByPlanes(Mesh mesh, PetscInt count, const MeshPlane planes[], MeshCut *result);
PetscErrorCode MeshCutDestroy(MeshCut *cut);
/* The same as a mesh that is filled in part, in place of `*mesh`. Not collective. */
PetscErrorCode MeshCutApart(Mesh *mesh, PetscInt count, const MeshPlane planes[]);

/* Length, area or volume. Of a tetrahedron, and of a triangle in the plane z = 0 with mesh_planar_area,
   negative if it is inverted. Of quadratic tetrahedra and plane triangles exact, also where edges are curved.
 */
PetscReal mesh_element_measure(Mesh mesh, PetscInt element);
PetscReal mesh_planar_area(Mesh mesh, PetscInt element);
PetscReal mesh_measure(Mesh mesh);                          /* of all */
Vector3   mesh_element_centre(Mesh mesh, PetscInt element); /* mean of the corners */
/* 1 for a regular element, 0 for a flat one, negative for an inverted one; by the corners: 6 sqrt(2) V / l^3,
   4 A / (sqrt(3) l^2) with the root mean square l of the edges. */
PetscReal mesh_element_quality(Mesh mesh, PetscInt element);
/* Smallest and largest angle between two faces of a tetrahedron, by its corners; rad. */
void mesh_dihedral_angles(Mesh mesh, PetscInt element, PetscReal *smallest, PetscReal *largest);
void mesh_bounds(Mesh mesh, Vector3 *low, Vector3 *high);

/* Faces without a second element, as linear ones: triangles of tetrahedra, edges of triangles, ends of
   segments; a quadratic face is four triangles, a quadratic edge two. In the order of elements and sides,
   oriented as mesh_side says: closed surfaces and curves, outwards. */
typedef struct {
  PetscInt  count;
  PetscInt  corners;  /* of a face: 3, 2 or 1 */
  PetscInt *faces;    /* `corners` vertices each */
  PetscInt *elements; /* the one behind each face */
} MeshBoundary;
/* Not collective. */
PetscErrorCode MeshFindBoundary(Mesh mesh, MeshBoundary *boundary);
PetscErrorCode MeshBoundaryDestroy(MeshBoundary *boundary);

/* The element across the side opposite each corner, mesh_corners(kind) per element; -1 at the boundary. Not
   for points. Where more than two meet: the next one. To be freed by PetscFree. Not collective. */
PetscErrorCode MeshFindNeighbours(Mesh mesh, PetscInt **neighbours);
/* Every edge between corners once, lower vertex first, sorted. To be freed by PetscFree. Not collective. */
PetscErrorCode MeshFindEdges(Mesh mesh, PetscInt *count, PetscInt (**edges)[2]);
/* The elements at vertex v: elements[first[v]] to elements[first[v + 1] - 1], ascending. Both to be freed by
   PetscFree. Not collective. */
PetscErrorCode MeshFindElementsOfVertices(Mesh mesh, PetscInt **first, PetscInt **elements);
/* The connected piece, from 0, of each vertex: joined by elements. To be freed by PetscFree. Not collective.
 */
PetscErrorCode MeshFindComponents(Mesh mesh, PetscInt *count, PetscInt **component);

/* What makes a mesh unfit for a solid. */
typedef enum {
  MESH_SOUND,
  MESH_BAD_VERTEX,   /* a coordinate that is not finite */
  MESH_COLLAPSED,    /* an element has a vertex twice */
  MESH_FLAT,         /* quality below 1e-3 */
  MESH_INVERTED,     /* negative volume, or a quadratic element that folds over somewhere */
  MESH_DUPLICATE,    /* two elements have the same corners */
  MESH_DANGLING,     /* a vertex of no element */
  MESH_NOT_MANIFOLD, /* more than two elements at a side */
  MESH_TWISTED       /* two elements run through their side the same way: triangles that face opposite ways,
                        tetrahedra that lie in each other */
} MeshFault;
/* MESH_IN_SPACE, or MESH_IN_PLANE: triangles in the plane z = 0, all counter-clockwise. */
typedef enum { MESH_IN_SPACE, MESH_IN_PLANE } MeshPlacement;
/* The first fault found; `message` names the element and its place and says what helps, or is empty. Not
   collective. */
PetscErrorCode MeshCheck(Mesh mesh, MeshPlacement placement, MeshFault *fault, char message[],
                         size_t message_size);

MILLRACE_API_END

#endif
