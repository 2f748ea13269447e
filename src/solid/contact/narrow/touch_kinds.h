/* Private to the narrow phase: one function for each pair of kinds. */
#ifndef MILLRACE_SOLID_TOUCH_KINDS_H
#define MILLRACE_SOLID_TOUCH_KINDS_H

#include "../placed_form.h"
#include "touch.h"

/* The contract of find_touches, for forms whose kinds are in the order of FormKind: that of `a` is not after
   that of `b`. */
typedef PetscInt TouchFunction(const Form *a, const RigidTransform *at_a, const Form *b,
                               const RigidTransform *at_b, PetscReal reach, Touch touches[TOUCH_CAPACITY]);

TouchFunction touch_spheres, touch_sphere_capsule, touch_sphere_box, touch_sphere_plane; /* round.c */
TouchFunction touch_capsules, touch_capsule_plane;
TouchFunction touch_capsule_box;            /* capsule.c */
TouchFunction touch_boxes, touch_box_plane; /* boxes.c */
TouchFunction touch_hulls;                  /* boxes and hulls */
TouchFunction touch_sphere_hull;            /* a sphere and a box or hull */
TouchFunction touch_capsule_hull;           /* a capsule and a box or hull */

/* A plane, first, and ...; planes.c. */
TouchFunction touch_plane_cylinder, touch_plane_cone, touch_plane_torus, touch_plane_hull;
TouchFunction touch_plane_samples; /* a surface or a shell */

/* Any two forms with samples and distances, at most four touches for each direction of normals. */
TouchFunction touch_sampled;

/* Two balls: their centres, the sum of the radii less the distance is the depth. `fallback` is the normal of
   concentric ones. Nothing is written beyond `reach`. */
PetscInt touch_balls(Vector3 centre_a, PetscReal radius_a, Vector3 centre_b, PetscReal radius_b,
                     Vector3 fallback, PetscReal reach, Touch *touch);
/* The segment from `from` along `direction`, both in the frame of a box: returns the parameter from 0 to 1 of
   the point nearest to the box, and how that lies outside of it (zero if inside). */
PetscReal segment_nearest_to_box(Vector3 from, Vector3 direction, Vector3 half, Vector3 *outside);

/* The deepest, then what spans the largest area; at most four are left, in front. A resting body
   keeps its points while it trembles. Returns their number. */
PetscInt reduce_touches(PetscInt count, Touch touches[]);

#endif
