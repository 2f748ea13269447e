/* Closed shapes in space, triangle surfaces, and rigid motions given over time (motion.h). No grid, no MPI.
 */
#ifndef MILLRACE_GEOMETRY_H
#define MILLRACE_GEOMETRY_H

#include <millrace/api.h>
#include <millrace/base.h>
#include <millrace/motion.h>

MILLRACE_API_BEGIN

/* A triangle surface read from OBJ, PLY or STL, with a tree for distances and a winding-number sign. */
typedef struct _p_Surface *Surface;

/* On a mistake in the file `*surface` is null and `message` says what and where (file:line, or file and
   facet). SURFACE_CLOSED demands that every edge joins two triangles of the same orientation; what then faces
   inwards without being a cavity is turned round. SURFACE_ANY does so if it can, else takes the surface as it
   is. Equal STL vertices are welded; others too where that may close the surface. */
typedef enum { SURFACE_CLOSED, SURFACE_ANY } SurfaceDemand;
/* Not collective. */
PetscErrorCode SurfaceRead(const char path[], SurfaceDemand demand, Surface *surface, char message[],
                           size_t message_size);
/* Copies its arrays; a bad index or number is an error. Orientation is left as given. Not collective. */
PetscErrorCode SurfaceCreate(PetscInt vertex_count, const Vector3 vertices[], PetscInt triangle_count,
                             const PetscInt (*triangles)[3], Surface *surface);
PetscErrorCode SurfaceDestroy(Surface *surface);
/* The same triangles with all vertices mapped take the place of a surface. Not collective. */
typedef Vector3 (*SurfaceMap)(const void *context, Vector3 vertex);
PetscErrorCode SurfaceTransform(Surface *surface, SurfaceMap map, const void *context);
PetscErrorCode SurfaceGet(Surface surface, PetscInt *vertex_count, const Vector3 **vertices,
                          PetscInt *triangle_count, const PetscInt (**triangles)[3]);
PetscReal      surface_distance(Surface surface, Vector3 point);  /* negative inside */
PetscBool      surface_is_inside(Surface surface, Vector3 point); /* cheaper than the distance */
PetscReal      surface_winding(Surface surface, Vector3 point);   /* 1 inside, 0 outside, if closed */
/* Distance without a sign, and the nearest point; `normal` is that of a triangle there, zero if it has none.
   A `bound` that is not too small makes it faster; PETSC_INFINITY if there is none. */
PetscReal surface_nearest(Surface surface, Vector3 point, PetscReal bound, Vector3 *nearest, Vector3 *normal);
/* The number of the triangle with the nearest point. */
PetscInt  surface_nearest_triangle(Surface surface, Vector3 point, Vector3 *nearest);
PetscReal surface_volume(Surface surface);
void      surface_bounds(Surface surface, Vector3 *low, Vector3 *high);
PetscReal surface_extent(Surface surface); /* the longest side of its bounds */
/* Sound: as SURFACE_CLOSED demands; else one of the faults that keep it from that. */
typedef enum { SURFACE_SOUND, SURFACE_OPEN, SURFACE_BRANCHED, SURFACE_TWISTED } SurfaceFault;
/* Not collective. */
PetscErrorCode SurfaceFindFault(Surface surface, SurfaceFault *fault);

/* Of a solid with density one; inertia about its centre. */
typedef struct {
  PetscReal volume;
  Vector3   centre;
  PetscReal inertia[MILLRACE_DIM][MILLRACE_DIM];
} Moments;
Moments surface_moments(Surface surface);                            /* of what it encloses */
Moments surface_shell_moments(Surface surface, PetscReal thickness); /* exact where it is flat */

/* What SurfaceRead found and mended. */
typedef struct {
  PetscInt components;          /* pieces joined by edges; known when SURFACE_CLOSED was demanded */
  PetscInt turned_components;   /* that faced the wrong way */
  PetscInt collapsed_triangles; /* dropped: two corners were the same point */
  PetscInt thin_triangles;      /* kept: three points on a line, area zero */
} SurfaceReport;
SurfaceReport surface_report(Surface surface);

/* A solid: sphere, box, cylinder, capsule, cone, torus, plane (half-space), surface, formula, union,
   difference, intersection, or one of these placed by a scale, a rotation and a translation. A shape owns its
   parts. */
typedef struct _p_Shape *Shape;

/* Not collective. */
PetscErrorCode ShapeCreateSphere(Vector3 centre, PetscReal radius, Shape *shape);
PetscErrorCode ShapeCreateBox(Vector3 low, Vector3 high, Shape *shape);
PetscErrorCode ShapeCreateCylinder(Vector3 from, Vector3 to, PetscReal radius, Shape *shape);
PetscErrorCode ShapeCreateCapsule(Vector3 from, Vector3 to, PetscReal radius, Shape *shape);
PetscErrorCode ShapeCreateCone(Vector3 base_centre, Vector3 tip, PetscReal radius, Shape *shape);
PetscErrorCode ShapeCreateTorus(Vector3 centre, Vector3 axis, PetscReal major, PetscReal minor, Shape *shape);
PetscErrorCode ShapeCreatePlane(Vector3 point, Vector3 normal, Shape *shape); /* solid below the normal */
PetscErrorCode ShapeCreateSurface(Surface *surface, Shape *shape);            /* takes the surface */
/* Inside where the formula is negative; takes it. Its distance is one to first order. Not collective. */
PetscErrorCode ShapeCreateFormula(Formula *formula, Shape *shape);
typedef enum { SHAPE_UNION, SHAPE_INTERSECTION, SHAPE_DIFFERENCE } ShapeOperation;
/* Takes the parts; a difference is the first less all others. Not collective. */
PetscErrorCode ShapeCreateCombination(ShapeOperation operation, PetscInt count, Shape parts[], Shape *shape);
/* Takes the part; scaled first, then turned by `rotation` (axis times angle, rad) about the origin, then
   moved by `translation`. Not collective. */
PetscErrorCode ShapeCreatePlaced(Shape *part, PetscReal scale, Vector3 rotation, Vector3 translation,
                                 Shape *shape);
PetscErrorCode ShapeDestroy(Shape *shape);
/* The first that a surface in it has. Not collective. */
PetscErrorCode ShapeFindFault(Shape shape, SurfaceFault *fault);
/* Gives the triangles of its surfaces back; nothing may be asked of it then but its primitive. Not
   collective. */
PetscErrorCode ShapeDropSurfaces(Shape shape);

/* Signed distance, negative inside; exact for primitives and surfaces, a bound of the right sign for
   combinations. */
PetscReal shape_distance(Shape shape, Vector3 point);
/* The same as shape_distance(…) <= 0, and faster for surfaces. */
PetscBool shape_is_inside(Shape shape, Vector3 point);
/* ±PETSC_INFINITY where a plane leaves it open; low above high if an intersection is surely empty. */
void shape_bounds(Shape shape, Vector3 *low, Vector3 *high);

/* A shape in its own frame, x -> centre + rotation x, whose z is the axis of symmetry (of a plane: the
   normal, of a cone: to the tip, with z = 0 half-way). */
typedef enum {
  PRIMITIVE_NONE, /* a combination */
  PRIMITIVE_SPHERE,
  PRIMITIVE_BOX,
  PRIMITIVE_CYLINDER,
  PRIMITIVE_CAPSULE,
  PRIMITIVE_CONE,
  PRIMITIVE_TORUS,
  PRIMITIVE_PLANE,
  PRIMITIVE_SURFACE
} PrimitiveKind;
typedef struct {
  PrimitiveKind kind;
  Vector3       centre;
  Quaternion    rotation;
  Vector3       half;    /* of a box */
  PetscReal     radius;  /* of a torus: of the tube */
  PetscReal     reach;   /* half the length of the axis; the major radius of a torus */
  Surface       surface; /* borrowed; to be scaled by `scale` */
  PetscReal     scale;
} Primitive;
Primitive shape_primitive(Shape shape);                  /* looks through placed shapes */
Moments   primitive_moments(const Primitive *primitive); /* in its own frame; zero for a plane or none */
/* In its own frame, closed, with vertices on the true surface; `segments` of a circle, at least 3. Not for a
   plane or none. Not collective. */
PetscErrorCode SurfaceCreatePrimitive(const Primitive *primitive, PetscInt segments, Surface *surface);
/* Around what of any shape lies between `low` and `high`, closed; null if that is nothing. Second order in
   the `spacing` of the lattice on which it is found; corners are cut off by a part of it. A prism stands on
   the cross-section at z = 0 and reaches from z = -1/2 to 1/2. Not collective. */
typedef enum { CONTOUR_SPACE, CONTOUR_PRISM } ContourKind;
PetscErrorCode SurfaceCreateContour(Shape shape, ContourKind kind, Vector3 low, Vector3 high,
                                    PetscReal spacing, Surface *surface);
/* Whether a lattice of half the spacing has nodes in a part of the shape, or of what is around it, that this
   one in space has none in: walls or gaps thinner than the spacing. Not collective. */
PetscErrorCode ContourMissesPart(Shape shape, Vector3 low, Vector3 high, PetscReal spacing,
                                 PetscBool *misses);

/* Where values on the nodes of a lattice change their sign: triangles, from what is negative outwards. `fill`
   gives those of one layer along z, x fastest; node 0 of this part is node `first` of the whole lattice.
   Parts that share a layer of nodes fit together; towards the ends of the lattice the surface is open. Not
   collective. */
typedef PetscErrorCode (*ContourLayer)(void *context, PetscInt layer, PetscReal values[]);
typedef struct {
  Vector3   origin; /* of node 0 of the whole lattice */
  PetscReal spacing;
  PetscInt  first[MILLRACE_DIM], nodes[MILLRACE_DIM];
} ContourLattice;
typedef struct {
  PetscInt vertex_count, triangle_count;
  Vector3 *vertices;
  PetscInt (*triangles)[3];
} ContourMesh;
PetscErrorCode ContourCreateOfValues(const ContourLattice *lattice, ContourLayer fill, void *context,
                                     ContourMesh *mesh);
PetscErrorCode ContourDestroy(ContourMesh *mesh);

MILLRACE_API_END

#endif
