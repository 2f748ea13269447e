/* Convex polyhedra, made from triangle surfaces. */
#ifndef MILLRACE_SOLID_HULL_H
#define MILLRACE_SOLID_HULL_H

#include "../../rigid/form.h"

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

#endif
