/* Joints: constraints between two bodies that hold from both sides, limits that hold from one, and control.
   They have no state beyond that of the bodies: nothing to save. */
#ifndef MILLRACE_SOLID_JOINT_H
#define MILLRACE_SOLID_JOINT_H

#include "../solid_impl.h"

typedef struct JointSet *JointSet;

/* From the configuration, with the bodies at rest. Mistakes (unknown or equal bodies, limits that exclude
   where the joint stands, two static bodies) are told in `message`. */
PetscErrorCode JointSetCreate(Solid solid, JointSet *joints, char message[], size_t message_size);
PetscErrorCode JointSetDestroy(JointSet *joints);
/* Pairs of bodies (sorted; the world is -1) that a joint holds together: they do not collide. */
PetscErrorCode JointSetGetPairs(JointSet joints, PetscInt *count, const PetscInt (**pairs)[2]);

/* Pre-stabilisation (3.5.1): impulses on `twists` such that after moving by `dt` from solid->placements the
   joints hold and limits are kept. Linear and angular momentum of the two bodies is kept. */
PetscErrorCode JointSetPrestabilize(JointSet joints, PetscReal dt, Twist twists[]);
/* The impulses of the last pre-stabilisation act on the velocities of time n as well: second order. Not
   where joints that hang together had come apart: mending is no part of the velocity. */
PetscErrorCode JointSetCarryImpulses(JointSet joints, Twist velocities[]);
/* Post-stabilisation (3.7.3): the nearest velocities, in the norm of the masses, that the joints allow at
   solid->placements; joints at a limit do not move beyond it. */
PetscErrorCode JointSetPoststabilize(JointSet joints, Twist twists[]);
/* Both with control [86], exact for any `dt`; without controlled joints they are the same as the above.
   Before the move the controlled angles are made to end where the PD law takes them within `dt` from
   solid->placements and the velocities `before` (those of time n, without the forces of this step), after it
   to have the rates that the law then gives. */
PetscErrorCode JointSetControlMotion(JointSet joints, PetscReal time, PetscReal dt, const Twist before[],
                                     Twist twists[]);
PetscErrorCode JointSetControlVelocity(JointSet joints, Twist twists[]);

/* A row of a joint: sum of row[s] . twist of body[s] = rate, where bodies that do not move freely are -1 and
   on the right side. Its impulse is lambda row[s]. */
typedef struct {
  PetscInt  body[2]; /* parent, child */
  Twist     row[2];
  PetscReal rate;
  PetscInt  joint;
  PetscReal scale; /* of the row against that of the joint's angle, m or rad */
  PetscBool is_drive, is_angular;
} JointConstraint;
PetscInt joint_set_most_constraints(JointSet joints);
/* Rows of joints all of whose free bodies are `inside`, at solid->placements, and their number: for
   velocities that lead in `dt` to where joints and control want them, as JointSetControlMotion; or for
   velocities there, as JointSetControlVelocity after that. `given` are the velocities of what does not move
   freely. */
PetscInt joint_set_constrain_motion(JointSet joints, PetscReal time, PetscReal dt, const PetscBool inside[],
                                    const Twist before[], const Twist given[], JointConstraint list[]);
PetscInt joint_set_constrain_velocity(JointSet joints, const PetscBool inside[], const Twist given[],
                                      JointConstraint list[]);
/* Their impulses count for what joints do. */
typedef enum { JOINTS_MOVE, JOINTS_REST } JointPhase;
void joint_set_take_constraints(JointSet joints, JointPhase phase, PetscInt count,
                                const JointConstraint list[], const PetscReal impulses[]);

/* The fastest point of bodies on controlled joints within a step of `dt`, by the laws of their targets. */
PetscReal joint_set_driven_speed(JointSet joints, PetscReal time, PetscReal dt);
/* The same at `time` where every target is met. */
PetscReal joint_set_target_speed(JointSet joints, PetscReal time);
/* Adds the motors at `time`, with the bodies at solid->placements and solid->twists, for a step of `dt`. */
void      joint_set_add_motors(JointSet joints, PetscReal time, PetscReal dt, BodyLoad loads[]);
PetscBool joint_set_has_motor(JointSet joints);

/* What joints do (solid.h). A step begins with the first of these, each part of it of length `dt` with the
   second; a velocity that is constrained anew, instead of what was found before, with the third. */
void           joint_set_begin_loads(JointSet joints);
void           joint_set_begin_part(JointSet joints, PetscReal dt);
void           joint_set_clear_resting(JointSet joints);
JointLoad      joint_set_load(JointSet joints, PetscInt joint);
JointPlace     joint_set_place(JointSet joints, PetscInt joint);
PetscInt       joint_set_find(JointSet joints, const JointConfig *config); /* its first copy */
PetscErrorCode JointSetBroadcastLoads(JointSet joints, MPI_Comm world, PetscMPIInt root);
/* How far the anchors of a joint are apart at solid->placements: the largest. */
PetscReal joint_set_error(JointSet joints);

#endif
