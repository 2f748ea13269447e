/* Closed shapes in space, triangle surfaces, and rigid motions given over time. No grid, no MPI. */
#ifndef MILLRACE_GEOMETRY_H
#define MILLRACE_GEOMETRY_H

#include <millrace/base.h>

/* A triangle surface read from OBJ, PLY or STL, with a tree for distances and a winding-number sign. */
typedef struct _p_Surface *Surface;

/* On a mistake in the file `*surface` is null and `message` says what and where (file:line). The surface must
   be closed and manifold when `closed` is asked for; equal STL vertices are welded. */
typedef enum { SURFACE_CLOSED, SURFACE_ANY } SurfaceDemand;
PetscErrorCode SurfaceRead(const char path[], SurfaceDemand demand, Surface *surface, char message[],
                           size_t message_size);
PetscErrorCode SurfaceCreate(PetscInt vertex_count, const Vector3 vertices[], PetscInt triangle_count,
                             const PetscInt (*triangles)[3], Surface *surface);
PetscErrorCode SurfaceDestroy(Surface *surface);
PetscErrorCode SurfaceGet(Surface surface, PetscInt *vertex_count, const Vector3 **vertices,
                          PetscInt *triangle_count, const PetscInt (**triangles)[3]);
PetscReal      surface_distance(Surface surface, Vector3 point); /* negative inside */
PetscReal      surface_volume(Surface surface);

/* A solid: sphere, box, cylinder, capsule, torus, plane (half-space), surface, union, difference,
   intersection, or one of these placed by a rotation and a translation. A shape owns its parts. */
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
PetscErrorCode ShapeDestroy(Shape *shape);

/* Signed distance, negative inside; exact for primitives and surfaces, a bound of the right sign for
   combinations. */
PetscReal shape_distance(Shape shape, Vector3 point);
void      shape_bounds(Shape shape, Vector3 *low, Vector3 *high); /* infinite for planes */

/* Where a rigid thing is at a time: constant velocity and spin, or keyframes of position and rotation. */
typedef struct {
  Vector3    translation;
  Quaternion rotation;
  Vector3    velocity; /* of the pivot */
  Vector3    spin;     /* rad/s */
} Pose;

typedef struct {
  PetscReal time;
  Vector3   translation;
  Vector3   rotation; /* axis times angle, rad */
} Keyframe;

typedef struct _p_Motion *Motion; /* a null Motion stands still */

PetscErrorCode MotionCreateSteady(Vector3 pivot, Vector3 velocity, Vector3 spin, Motion *motion);
PetscErrorCode MotionCreateKeyframes(Vector3 pivot, PetscInt count, const Keyframe keyframes[],
                                     Motion *motion);
PetscErrorCode MotionDestroy(Motion *motion);
Pose           motion_pose(Motion motion, PetscReal time);
Vector3   motion_to_rest(Motion motion, PetscReal time, Vector3 point); /* world point -> rest position */
Vector3   motion_velocity(Motion motion, PetscReal time, Vector3 point);
PetscReal motion_speed_bound(Motion motion, PetscReal time, Vector3 low, Vector3 high); /* over a rest box */
PetscBool motion_is_still(Motion motion);

#endif
