/* The step interface of the solids: a body's surface and inertia, and the parts of a step around which a
   fluid acts. */
#ifndef MILLRACE_SOLID_STEP_H
#define MILLRACE_SOLID_STEP_H

#include <millrace/api.h>
#include <millrace/base.h>
#include <millrace/geometry.h>
#include <millrace/io.h>
#include <millrace/solid.h>
#include <millrace/solid_patch.h>
#include <millrace/solid_system.h>

MILLRACE_API_BEGIN

/* A rigid body or rigid shell as a fluid meets it. In two dimensions: the prism of unit depth over its
   cross-section. */
typedef struct {
  Surface    surface;     /* borrowed; in the body's frame; null: the fluid does not meet it */
  PetscReal  thickness;   /* m; > 0: a shell, its surface in the middle */
  Vector3    position;    /* centre of mass */
  Quaternion rotation;    /* from its own frame to the world's */
  PetscBool  slips;       /* viscosity does not act between it and the fluid */
  PetscBool  is_free;     /* else its velocity is given */
  PetscBool  is_enclosed; /* a bone in flesh: the fluid does not meet it, C of the flesh has its velocity */
  PetscReal
      mass; /* kg; per metre of depth in two dimensions. This and the inertia are zero unless it is free */
  Matrix3 inertia;   /* about its position, in the world's axes */
  Vector3 low, high; /* around it in the world, perhaps infinite; its surface may be wider by a tenth of its
                        size on each side. Both the same: to be found from the surface */
} CoupledBody;
/* Without its surface, which SolidCreateBodySurface makes. */
CoupledBody solid_coupled_body(Solid solid, PetscInt body);

/* What takes the shape of its configuration from where it is written to where the body is now. */
RigidTransform solid_shape_place(Solid solid, PetscInt body);

/* The surface of a body in the body's frame, to be placed by position and rotation; the caller destroys it.
   Circles are divided into edges no longer than about `edge`, and the surface is widened to enclose the
   volume of the body. Copies of a body have the same surface. A plane becomes a block that holds the part of
   its half-space between the corners `bounds` of a box, null if there is none; `lasts` is then false, and the
   surface has to be made again when the body has moved. Not collective. */
PetscErrorCode SolidCreateBodySurface(Solid solid, PetscInt body, PetscReal edge, const Vector3 bounds[2],
                                      Surface *surface, PetscBool *lasts);

/* Whether this rank has what SolidCreateBodySurface needs; else the surface is to be fetched. */
PetscBool solid_has_surface(Solid solid, PetscInt body);
/* How many surfaces of forms this rank holds. */
PetscInt solid_surfaces_held(Solid solid);
/* The surfaces of bodies that this rank has not, each in the body's frame; the caller destroys them. A rank
   may ask for none. Nothing happens to a solid that is whole on every rank. Collective: the ranks with fluid.
 */
PetscErrorCode SolidFetchSurfaces(Solid solid, PetscInt count, const PetscInt bodies[], Surface surfaces[]);

/* A step in parts (docs/numerics.md, section 15), between which a fluid acts. Twists are velocity and spin of
   every body, 6 numbers each, as in the state vector.

   Step I, the same on every rank: the twists at the middle of the step, by forces alone. Lent, to be changed.
   Not collective. */
PetscErrorCode SolidPredictHalf(Solid solid, PetscReal time, PetscReal dt, PetscReal **half);

/* Steps II to IV and the push-out, with those twists: the bodies move to their places at the end of the step.
   The other ranks receive them by SolidBroadcast. Collective: the solid's comm. */
PetscErrorCode SolidMove(Solid solid, PetscReal time, PetscReal dt);

/* The displacements of all bodies since SolidKeep, divided by `dt`, as twists. Not collective. */
PetscErrorCode SolidGetEffective(Solid solid, PetscReal dt, PetscReal twists[]);

/* Adds forces over the step of `dt` from `time`, at whose end the bodies are, to the velocities of the state,
   the same on every rank. Not collective. */
PetscErrorCode SolidAccelerate(Solid solid, PetscReal time, PetscReal dt);

/* Before a first step V: finds the contacts of bodies that rest against each other, and what controls of
   joints ask for in a step of `dt`. Collective: the solid's comm. */
PetscErrorCode SolidFindResting(Solid solid, PetscReal time, PetscReal dt);

/* Mass and inertia of the fluid that moves with a body. */
typedef struct {
  PetscReal mass;
  Matrix3   inertia; /* in the world's axes */
} AddedMass;

/* Step V: contact and joints constrain the velocities of the state by impulses on bodies whose mass includes
   what is `added`, one for each body; null: nothing. Collective: the solid's comm. */
PetscErrorCode SolidConstrainVelocity(Solid solid, PetscReal time, PetscReal dt, const AddedMass added[]);

/* Deformable solids in a fluid (docs/numerics.md, section 15). Each mesh is a closed surface of its own, or a
   shell, with its number; they and C are lent until the next call. Not collective. */
PetscInt               solid_deforming_count(Solid solid);
const SolidMeshConfig *solid_deforming_config(Solid solid, PetscInt mesh); /* of a copy its own */
PetscErrorCode SolidGetDeforming(Solid solid, const SolidPatch **surfaces, const SolidOperator **motion);
/* The velocity of C becomes that of the state, of which contact and joints may have changed the last digits.
 */
void solid_show_points(Solid solid);
/* S1: velocities at the middle of the step by forces and by what `dragged` their points, which C is to go on
   from. Collective: the solid's comm. */
PetscErrorCode SolidPredictPoints(Solid solid, PetscReal time, PetscReal dt, const PetscReal dragged[]);
/* After a solve: contacts of points with bodies begin or cease to hold as its velocities show, and C and the
   right side follow; `changed`: another solve is due. On the rank with the operator. Collective: the ranks
   that share the points, which in a fluid is that one. */
PetscErrorCode SolidSwitchContacts(Solid solid, PetscBool *changed);
/* Adds what impulses on points, three numbers each, are for the velocities of the points and bodies that
   carry some of them. Not collective. */
void solid_drag_carried(Solid solid, const PetscReal impulses[], PetscReal velocities[], PetscReal twists[]);
/* Bones: free bodies in the flesh, whose velocities are unknowns of C. Before a solve C takes those that it
   is to go on from, after it tells what it has found; six numbers for each body. On the rank with the
   operator. Not collective. */
PetscInt       solid_bone_count(Solid solid);
PetscErrorCode SolidBeginBones(Solid solid, const PetscReal twists[]);
PetscErrorCode SolidTakeBones(Solid solid, PetscReal twists[]);
/* The move with what C has found. Collective: the solid's comm. */
PetscErrorCode SolidMovePoints(Solid solid, PetscReal time, PetscReal dt);
/* S2: velocities of the state at the end of the step, which C is to go on from. Collective: the solid's comm.
 */
PetscErrorCode SolidAcceleratePoints(Solid solid, PetscReal dt);
/* The same at a start, from forces where they are. Collective: the solid's comm. */
PetscErrorCode SolidAccelerateRestingPoints(Solid solid, PetscReal time, PetscReal dt);
/* The longest step in which no point goes farther than `path`, and explicit elasticity is stable. */
PetscReal solid_points_step(Solid solid, PetscReal path);
PetscReal solid_points_mass(Solid solid);
/* How many velocities points have: the first numbers of the state. */
PetscInt solid_point_numbers(Solid solid);
/* Of forces on all points: those on a mesh, and their torque about the origin. */
void solid_sum_forces(Solid solid, PetscInt mesh, const PetscReal forces[], PetscReal sum[2 * MILLRACE_DIM]);
/* Momentum, and angular momentum about the origin, of points that move by themselves. */
void solid_points_momentum(Solid solid, PetscReal momentum[2 * MILLRACE_DIM]);

/* A vector for each body: the first 3 of every 6 `values`. */
typedef struct {
  const char      *name;
  const PetscReal *values;
} BodyField;

/* Writes the surfaces of all bodies, with these fields, and their contacts. Collective: the comm of `frames`.
 */
PetscErrorCode SolidWriteFrame(Solid solid, FrameSeries frames, PetscInt field_count,
                               const BodyField fields[]);

MILLRACE_API_END

#endif
