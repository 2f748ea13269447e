/* Contact of shapes that are not simple: convex polyhedra, round things with rims, surfaces, shells. */
#ifndef MILLRACE_SOLID_GENERAL_H
#define MILLRACE_SOLID_GENERAL_H

#include "touch.h"

enum { HULL_FACES = 64, HULL_EDGES = 3 * HULL_FACES, HULL_CORNERS = 2 * HULL_FACES };

typedef struct {
  Vector3   normal; /* unit, outwards */
  PetscReal offset; /* the plane is normal . x = offset */
  PetscInt  first;  /* of its corners in `rings` */
  PetscInt  count;
} HullFace;

typedef struct {
  PetscInt corners[2]; /* counter-clockwise about faces[0] */
  PetscInt faces[2];
  Vector3  direction; /* unit, from the first corner to the second: along normal 0 x normal 1 */
} HullEdge;

/* A convex polyhedron. Triangles in one plane are one face; a corner joins at least three faces. */
struct _p_Hull {
  PetscInt  corner_count, face_count, edge_count, ring_count;
  PetscReal extent; /* of the largest side of its box */
  Vector3  *corners;
  HullFace *faces;
  HullEdge *edges;
  PetscInt *rings; /* the corners of one face after the other, counter-clockwise from outside */
};

/* `*hull` is null unless the surface is closed, faces outwards, is convex and has at most HULL_FACES faces:
   that is no error, such a surface needs a grid of distances. */
PetscErrorCode HullCreate(Surface surface, Hull *hull);
PetscErrorCode HullDestroy(Hull *hull);
/* No vertex lies above the plane of any triangle, up to a millionth of the size. Closed or not. */
PetscBool surface_is_convex(Surface surface);

/* Signed distance from a point in the hull's frame, exact, and its gradient. */
PetscReal hull_distance(Hull hull, Vector3 point, Vector3 *gradient);

TouchFunction touch_hulls;        /* boxes and hulls */
TouchFunction touch_sphere_hull;  /* a sphere and a box or hull */
TouchFunction touch_capsule_hull; /* a capsule and a box or hull */

/* A plane, first, and ...; planes.c. */
TouchFunction touch_plane_cylinder, touch_plane_cone, touch_plane_torus, touch_plane_hull;
TouchFunction touch_plane_samples; /* a surface or a shell */

/* Any two forms with samples and distances, at most four touches for each direction of normals. */
TouchFunction touch_sampled;

/* The deepest, then what spans the largest area; at most four are left, in front. A resting body
   keeps its points while it trembles. Returns their number. */
PetscInt reduce_touches(PetscInt count, Touch touches[]);

#endif
