/* Rigid motions given over time: the second header of the room geometry, included by the first. */
#ifndef MILLRACE_MOTION_H
#define MILLRACE_MOTION_H

#include <millrace/api.h>
#include <millrace/base.h>

MILLRACE_API_BEGIN

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

/* From the rest position at time zero, for ever. Not collective. */
PetscErrorCode MotionCreateSteady(Vector3 pivot, Vector3 velocity, Vector3 spin, Motion *motion);
/* Between two keyframes velocity and spin are constant (linear translation, slerp), so they jump at a
   keyframe, where those of the following interval count; before the first and after the last it is at rest.
   Rotations about one axis may go on beyond half a turn; others take the short way. Times must increase. Not
   collective. */
PetscErrorCode MotionCreateKeyframes(Vector3 pivot, PetscInt count, const Keyframe keyframes[],
                                     Motion *motion);
/* Translation and rotation (axis times angle, as three numbers) are cubic splines through the keyframes, at
   rest before the first and after the last: velocities are continuous, accelerations too between the ends.
   Not collective. */
PetscErrorCode MotionCreateSpline(Vector3 pivot, PetscInt count, const Keyframe keyframes[], Motion *motion);
/* Translation (m) and rotation (axis times angle, rad) as formulas of time, which it takes; a null one is
   zero. Velocity and spin are their exact derivatives. Not collective. */
PetscErrorCode MotionCreateFormulas(Vector3 pivot, Formula translation[MILLRACE_DIM],
                                    Formula rotation[MILLRACE_DIM], Motion *motion);
/* Velocity (m/s) and spin (rad/s), about one axis of the three, as formulas of time, which it takes; a null
   one is zero. Translation and rotation are their integrals from time zero, to round-off where the formulas
   are smooth. Not collective. */
PetscErrorCode MotionCreateSpeeds(Vector3 pivot, Formula velocity[MILLRACE_DIM], Formula spin[MILLRACE_DIM],
                                  Motion *motion);
PetscErrorCode MotionDestroy(Motion *motion);
/* In loops over points take the pose once and use pose_…: the motion_… calls make a pose each time. */
Pose    motion_pose(Motion motion, PetscReal time);
Vector3 motion_to_rest(Motion motion, PetscReal time, Vector3 point); /* world point -> rest position */
Vector3 motion_velocity(Motion motion, PetscReal time, Vector3 point);
/* The greatest speed in a box at rest; infinite (IEEE) if the box is and the motion spins. */
PetscReal motion_speed_bound(Motion motion, PetscReal time, Vector3 low, Vector3 high);
PetscBool motion_is_still(Motion motion);

MILLRACE_API_END

#endif
