/* Closed shapes in space, triangle surfaces, and rigid motions given over time. No grid, no MPI. */
#ifndef MILLRACE_GEOMETRY_H
#define MILLRACE_GEOMETRY_H

#include <millrace/base.h>

/* A triangle surface read from OBJ, PLY or STL, with a tree for distances and a winding-number sign. */
typedef struct _p_Surface *Surface;

/* On a mistake in the file `*surface` is null and `message` says what and where (file:line, or file and
   facet). SURFACE_CLOSED demands that every edge joins two triangles of the same orientation; what then faces
   inwards without being a cavity is turned round. Equal STL vertices are welded. */
typedef enum { SURFACE_CLOSED, SURFACE_ANY } SurfaceDemand;
PetscErrorCode SurfaceRead(const char path[], SurfaceDemand demand, Surface *surface, char message[],
                           size_t message_size);
/* Copies its arrays; a bad index or number is an error. Orientation is left as given. */
PetscErrorCode SurfaceCreate(PetscInt vertex_count, const Vector3 vertices[], PetscInt triangle_count,
                             const PetscInt (*triangles)[3], Surface *surface);
PetscErrorCode SurfaceDestroy(Surface *surface);
PetscErrorCode SurfaceGet(Surface surface, PetscInt *vertex_count, const Vector3 **vertices,
                          PetscInt *triangle_count, const PetscInt (**triangles)[3]);
PetscReal      surface_distance(Surface surface, Vector3 point);  /* negative inside */
PetscBool      surface_is_inside(Surface surface, Vector3 point); /* cheaper than the distance */
PetscReal      surface_winding(Surface surface, Vector3 point);   /* 1 inside, 0 outside, if closed */
PetscReal      surface_volume(Surface surface);
void           surface_bounds(Surface surface, Vector3 *low, Vector3 *high);

/* Of the enclosed solid with density one; inertia about its center. */
typedef struct {
  PetscReal volume;
  Vector3   center;
  PetscReal inertia[DIM][DIM];
} Moments;
Moments surface_moments(Surface surface);

/* What SurfaceRead found and mended. */
typedef struct {
  PetscInt components;          /* pieces joined by edges; known when SURFACE_CLOSED was demanded */
  PetscInt turned_components;   /* that faced the wrong way */
  PetscInt collapsed_triangles; /* dropped: two corners were the same point */
  PetscInt thin_triangles;      /* kept: three points on a line, area zero */
} SurfaceReport;
SurfaceReport surface_report(Surface surface);

/* A solid: sphere, box, cylinder, capsule, torus, plane (half-space), surface, union, difference,
   intersection, or one of these placed by a scale, a rotation and a translation. A shape owns its parts. */
typedef struct _p_Shape *Shape;

PetscErrorCode ShapeCreateSphere(Vector3 center, PetscReal radius, Shape *shape);
PetscErrorCode ShapeCreateBox(Vector3 low, Vector3 high, Shape *shape);
PetscErrorCode ShapeCreateCylinder(Vector3 from, Vector3 to, PetscReal radius, Shape *shape);
PetscErrorCode ShapeCreateCapsule(Vector3 from, Vector3 to, PetscReal radius, Shape *shape);
PetscErrorCode ShapeCreateTorus(Vector3 center, Vector3 axis, PetscReal major, PetscReal minor, Shape *shape);
PetscErrorCode ShapeCreatePlane(Vector3 point, Vector3 normal, Shape *shape); /* solid below the normal */
PetscErrorCode ShapeCreateSurface(Surface *surface, Shape *shape);            /* takes the surface */
typedef enum { SHAPE_UNION, SHAPE_INTERSECTION, SHAPE_DIFFERENCE } ShapeOperation;
/* Takes the parts; a difference is the first less all others. */
PetscErrorCode ShapeCreateCombination(ShapeOperation operation, PetscInt count, Shape parts[], Shape *shape);
/* Takes the part; scaled first, then turned by `rotation` (axis times angle, rad) about the origin, then
   moved by `translation`. */
PetscErrorCode ShapeCreatePlaced(Shape *part, PetscReal scale, Vector3 rotation, Vector3 translation,
                                 Shape *shape);
PetscErrorCode ShapeDestroy(Shape *shape);

/* Signed distance, negative inside; exact for primitives and surfaces, a bound of the right sign for
   combinations. */
PetscReal shape_distance(Shape shape, Vector3 point);
/* The same as shape_distance(…) <= 0, and faster for surfaces. */
PetscBool shape_is_inside(Shape shape, Vector3 point);
/* ±PETSC_INFINITY where a plane leaves it open; low above high if an intersection is surely empty. */
void shape_bounds(Shape shape, Vector3 *low, Vector3 *high);

/* Where a rigid thing is at a time: a point that rests at x is at pivot + translation + R (x - pivot). */
typedef struct {
  Vector3    pivot; /* at rest */
  Vector3    translation;
  Quaternion rotation;
  Vector3    velocity; /* of the pivot */
  Vector3    spin;     /* rad/s */
} Pose;

Vector3 pose_to_rest(const Pose *pose, Vector3 point);
Vector3 pose_to_world(const Pose *pose, Vector3 rest_point);
Vector3 pose_velocity(const Pose *pose, Vector3 point);          /* of the body at a world point */
void pose_bounds(const Pose *pose, Vector3 *low, Vector3 *high); /* a box at rest -> its box in the world */

typedef struct {
  PetscReal time;
  Vector3   translation;
  Vector3   rotation; /* axis times angle, rad */
} Keyframe;

typedef struct _p_Motion *Motion; /* a null Motion stands still */

/* From the rest position at time zero, for ever. */
PetscErrorCode MotionCreateSteady(Vector3 pivot, Vector3 velocity, Vector3 spin, Motion *motion);
/* Between two keyframes velocity and spin are constant (linear translation, slerp), so they jump at a
   keyframe, where those of the following interval count; before the first and after the last it is at rest.
   Rotations about one axis may go on beyond half a turn; others take the short way. Times must increase. */
PetscErrorCode MotionCreateKeyframes(Vector3 pivot, PetscInt count, const Keyframe keyframes[],
                                     Motion *motion);
PetscErrorCode MotionDestroy(Motion *motion);
/* In loops over points take the pose once and use pose_…: the motion_… calls make a pose each time. */
Pose    motion_pose(Motion motion, PetscReal time);
Vector3 motion_to_rest(Motion motion, PetscReal time, Vector3 point); /* world point -> rest position */
Vector3 motion_velocity(Motion motion, PetscReal time, Vector3 point);
/* The greatest speed in a box at rest; infinite (IEEE) if the box is and the motion spins. */
PetscReal motion_speed_bound(Motion motion, PetscReal time, Vector3 low, Vector3 high);
PetscBool motion_is_still(Motion motion);

#endif
