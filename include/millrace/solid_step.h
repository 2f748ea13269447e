/* The step interface of the solids: a body's surface and inertia, and the parts of a step around which a
 * fluid acts. */
#ifndef MILLRACE_SOLID_STEP_H
#define MILLRACE_SOLID_STEP_H

#include <millrace/api.h>
#include <millrace/solid.h>

MILLRACE_API_BEGIN

/* A rigid body or rigid shell as a fluid meets it. In two dimensions: the prism of unit depth over its
   cross-section. */
typedef struct {
  Surface    surface;   /* borrowed; in the body's frame; null: the fluid does not meet it */
  PetscReal  thickness; /* m; > 0: a shell, its surface in the middle */
  Vector3    position;  /* centre of mass */
  Quaternion rotation;  /* from its own frame to the world's */
  PetscBool  slips;     /* viscosity does not act between it and the fluid */
  PetscBool  is_free;   /* else its velocity is given */
  PetscReal
      mass; /* kg; per metre of depth in two dimensions. This and the inertia are zero unless it is free */
  Matrix3 inertia; /* about its position, in the world's axes */
} CoupledBody;
/* Without its surface, which SolidCreateBodySurface makes. */
CoupledBody solid_coupled_body(Solid solid, PetscInt body);

/* In the body's frame, to be placed by its position and rotation; the caller destroys it. Circles are cut
   into edges no longer than about `edge`, and the surface is widened to hold the volume of the body. Copies
   have the same surface. A plane is a block that holds all of the half-space that lies in the box between the
   `bounds`, null if there is nothing of it: it does not last, and has to be made anew where the body has
   moved. */
PetscErrorCode SolidCreateBodySurface(Solid solid, PetscInt body, PetscReal edge, const Vector3 bounds[2],
                                      Surface *surface, PetscBool *lasts);

/* A step in parts (docs/numerics.md, section 15), so that a fluid can act between them. Twists are velocity
   and spin of every body, 6 numbers each, as in the state vector.

   I, on every rank alike: the twists at the middle of the step, of forces alone; lent, to be changed. */
PetscErrorCode SolidPredictHalf(Solid solid, PetscReal time, PetscReal dt, PetscReal **half);
/* II to IV and the push-out, with those twists: where the bodies are at the end of the step. Collective: comm
   of the solid; the others take its word with SolidShare. */
PetscErrorCode SolidMove(Solid solid, PetscReal time, PetscReal dt);
/* The motion of free and other bodies since SolidKeep, over dt. */
PetscErrorCode SolidGetEffective(Solid solid, PetscReal dt, PetscReal twists[]);
/* Forces over dt on the velocities of the state, on every rank alike. */
PetscErrorCode SolidAccelerate(Solid solid, PetscReal dt);
/* Before a first V: the contacts of bodies that rest against each other, and what controls of joints ask for
   in a step of dt. Collective: comm of the solid. */
PetscErrorCode SolidFindResting(Solid solid, PetscReal time, PetscReal dt);
/* V: contact and joints hold the velocities of the state, by impulses on bodies as heavy as they are with
   what is added (null: nothing). Collective: comm of the solid. */
typedef struct {
  PetscReal mass;
  Matrix3   inertia; /* in the world's axes */
} AddedMass;
PetscErrorCode SolidConstrainVelocity(Solid solid, PetscReal time, PetscReal dt, const AddedMass added[]);

/* The surfaces of all bodies and their contacts, with a vector for each body: the first 3 of every 6 values.
   Collective: who writes. */
typedef struct {
  const char      *name;
  const PetscReal *values;
} BodyField;
PetscErrorCode SolidWriteFrame(Solid solid, FrameSeries frames, PetscInt field_count,
                               const BodyField fields[]);

MILLRACE_API_END

#endif
