/* Rigid motions given over time.

   Steady: translation v t, rotation exp(w t). Keyframes: between t0 and t1, with f = (t - t0)/(t1 - t0),
   translation x0 + f (x1 - x0) and rotation exp(f w) q0, where exp(w) q0 = q1. That is slerp, and its spin
   w/(t1 - t0) is constant, so the velocity is the exact derivative of the pose. Two rotations about the same
   axis give w as the plain difference of the angles: a keyframe of 2 pi is a full turn, not none. Formulas:
   translation x(t) and rotation exp(r(t)), whose spin is r' + (1 - cos a)/a^2 r x r' + (a - sin a)/a^3 r x (r
   x r') with a = |r|, which is r' while the axis stays. */
#include "geometry_impl.h"

typedef struct {
  PetscReal  time;
  Vector3    translation;
  Quaternion rotation;
  Vector3    velocity; /* until the next stop */
  Vector3    spin;
} Stop;

struct _p_Motion {
  Vector3   pivot;
  PetscInt  count; /* 0: steady */
  Stop     *stops; /* by increasing time; the last has no velocity */
  Vector3   velocity, spin;
  Formula   translation[DIM], rotation[DIM]; /* owned; null: zero */
  PetscBool by_formulas;
};

static Vector3 rotation_from_quaternion(Quaternion q)
{
  const PetscReal sine = vector3_norm(q.vector);
  /* q and -q are the same rotation: take the one below half a turn */
  const PetscReal sign = q.scalar < 0 ? -1 : 1;
  const PetscReal angle = 2 * atan2(sine, sign * q.scalar);

  return vector3_scale(sine > 0 ? sign * angle / sine : 0, q.vector);
}

static Vector3 rotation_between(Vector3 from, Vector3 to)
{
  const PetscReal off_axis = vector3_norm(vector3_cross(from, to));
  Quaternion      turn;

  /* zero when one of them is no rotation at all */
  if (off_axis <= 1e-12 * vector3_norm(from) * vector3_norm(to))
    return vector3_subtract(to, from);
  turn =
      quaternion_multiply(quaternion_from_rotation(to), quaternion_conjugate(quaternion_from_rotation(from)));
  return rotation_from_quaternion(turn);
}

PetscErrorCode MotionCreateSteady(Vector3 pivot, Vector3 velocity, Vector3 spin, Motion *motion)
{
  PetscFunctionBegin;
  *motion = NULL;
  PetscCheck(vector3_is_finite(pivot) && vector3_is_finite(velocity) && vector3_is_finite(spin),
             PETSC_COMM_SELF, PETSC_ERR_USER_INPUT,
             "The pivot, velocity and spin of a motion must be finite numbers");
  PetscCall(PetscNew(motion));
  (*motion)->pivot = pivot;
  (*motion)->velocity = velocity;
  (*motion)->spin = spin;
  PetscFunctionReturn(0);
}

static PetscErrorCode CheckKeyframes(PetscInt count, const Keyframe keyframes[])
{
  PetscFunctionBegin;
  PetscCheck(count >= 1, PETSC_COMM_SELF, PETSC_ERR_USER_INPUT, "A motion needs at least one keyframe");
  for (PetscInt n = 0; n < count; n++) {
    PetscCheck(isfinite(keyframes[n].time) && vector3_is_finite(keyframes[n].translation) &&
                   vector3_is_finite(keyframes[n].rotation),
               PETSC_COMM_SELF, PETSC_ERR_USER_INPUT,
               "Keyframe %" PetscInt_FMT " has a number that is not finite", n + 1);
    if (n == 0)
      continue;
    PetscCheck(keyframes[n].time > keyframes[n - 1].time, PETSC_COMM_SELF, PETSC_ERR_USER_INPUT,
               "Keyframe times must increase: %g of keyframe %" PetscInt_FMT " does not come after %g",
               (double)keyframes[n].time, n + 1, (double)keyframes[n - 1].time);
  }
  PetscFunctionReturn(0);
}

PetscErrorCode MotionCreateKeyframes(Vector3 pivot, PetscInt count, const Keyframe keyframes[],
                                     Motion *motion)
{
  PetscFunctionBegin;
  *motion = NULL;
  PetscCheck(vector3_is_finite(pivot), PETSC_COMM_SELF, PETSC_ERR_USER_INPUT,
             "The pivot of a motion must be finite numbers");
  PetscCall(CheckKeyframes(count, keyframes));
  PetscCall(PetscNew(motion));
  (*motion)->pivot = pivot;
  (*motion)->count = count;
  PetscCall(PetscCalloc1(count, &(*motion)->stops));
  for (PetscInt n = 0; n < count; n++) {
    Stop *stop = &(*motion)->stops[n];

    stop->time = keyframes[n].time;
    stop->translation = keyframes[n].translation;
    stop->rotation = quaternion_from_rotation(keyframes[n].rotation);
    if (n + 1 < count) {
      const PetscReal rate = 1 / (keyframes[n + 1].time - keyframes[n].time);
      const Vector3   turn = rotation_between(keyframes[n].rotation, keyframes[n + 1].rotation);

      stop->velocity = vector3_scale(rate, vector3_subtract(keyframes[n + 1].translation, stop->translation));
      stop->spin = vector3_scale(rate, turn);
    }
  }
  PetscFunctionReturn(0);
}

PetscErrorCode MotionCreateFormulas(Vector3 pivot, Formula translation[DIM], Formula rotation[DIM],
                                    Motion *motion)
{
  PetscFunctionBegin;
  PetscCall(MotionCreateSteady(pivot, vector3(0, 0, 0), vector3(0, 0, 0), motion));
  (*motion)->by_formulas = PETSC_TRUE;
  for (PetscInt d = 0; d < DIM; d++) {
    (*motion)->translation[d] = translation[d];
    (*motion)->rotation[d] = rotation[d];
    translation[d] = rotation[d] = NULL;
  }
  PetscFunctionReturn(0);
}

PetscErrorCode MotionDestroy(Motion *motion)
{
  PetscFunctionBegin;
  if (!*motion)
    PetscFunctionReturn(0);
  for (PetscInt d = 0; d < DIM; d++) {
    PetscCall(FormulaDestroy(&(*motion)->translation[d]));
    PetscCall(FormulaDestroy(&(*motion)->rotation[d]));
  }
  PetscCall(PetscFree((*motion)->stops));
  PetscCall(PetscFree(*motion));
  PetscFunctionReturn(0);
}

/* The last stop at or before `time`; -1 before the first. */
static PetscInt find_stop(Motion motion, PetscReal time)
{
  PetscInt below = -1, above = motion->count;

  while (above - below > 1) {
    const PetscInt middle = below + (above - below) / 2;

    if (motion->stops[middle].time <= time)
      below = middle;
    else
      above = middle;
  }
  return below;
}

/* The spin of exp(r) while r changes at `rate`. */
static Vector3 spin_of(Vector3 r, Vector3 rate)
{
  const PetscReal angle = vector3_norm(r), square = angle * angle;
  /* by their series where the quotients lose digits */
  const PetscReal first = angle < 1e-4 ? 0.5 - square / 24 : (1 - cos(angle)) / square;
  const PetscReal second = angle < 1e-3 ? 1. / 6 - square / 120 : (angle - sin(angle)) / (square * angle);
  const Vector3   once = vector3_cross(r, rate), twice = vector3_cross(r, once);

  return vector3_add(rate, vector3_add(vector3_scale(first, once), vector3_scale(second, twice)));
}

static Pose pose_by_formulas(Motion motion, PetscReal time)
{
  const Vector3 anywhere = vector3(0, 0, 0);
  Pose          pose = {.pivot = motion->pivot};
  Vector3       turn, rate;

  for (PetscInt d = 0; d < DIM; d++) {
    pose.translation.at[d] = formula_value(motion->translation[d], anywhere, time);
    pose.velocity.at[d] = formula_slope(motion->translation[d], anywhere, time);
    turn.at[d] = formula_value(motion->rotation[d], anywhere, time);
    rate.at[d] = formula_slope(motion->rotation[d], anywhere, time);
  }
  pose.rotation = quaternion_from_rotation(turn);
  pose.spin = spin_of(turn, rate);
  return pose;
}

Pose motion_pose(Motion motion, PetscReal time)
{
  Pose      pose = {.rotation = {.scalar = 1}};
  PetscReal since = time;

  if (!motion)
    return pose;
  if (motion->by_formulas)
    return pose_by_formulas(motion, time);
  pose.pivot = motion->pivot;
  pose.velocity = motion->velocity;
  pose.spin = motion->spin;
  if (motion->count > 0) {
    const PetscInt n = find_stop(motion, time);
    const Stop    *stop = &motion->stops[PetscMax(n, 0)];

    pose.translation = stop->translation;
    pose.rotation = stop->rotation;
    if (n < 0)
      return pose;
    pose.velocity = stop->velocity;
    pose.spin = stop->spin;
    since = time - stop->time;
  }
  pose.translation = vector3_add(pose.translation, vector3_scale(since, pose.velocity));
  pose.rotation =
      quaternion_multiply(quaternion_from_rotation(vector3_scale(since, pose.spin)), pose.rotation);
  return pose;
}

Vector3 pose_to_rest(const Pose *pose, Vector3 point)
{
  const Vector3 arm = vector3_subtract(vector3_subtract(point, pose->pivot), pose->translation);

  return vector3_add(pose->pivot, quaternion_rotate(quaternion_conjugate(pose->rotation), arm));
}

Vector3 pose_to_world(const Pose *pose, Vector3 rest_point)
{
  const Vector3 arm = quaternion_rotate(pose->rotation, vector3_subtract(rest_point, pose->pivot));

  return vector3_add(vector3_add(pose->pivot, pose->translation), arm);
}

Vector3 pose_velocity(const Pose *pose, Vector3 point)
{
  const Vector3 arm = vector3_subtract(vector3_subtract(point, pose->pivot), pose->translation);

  return vector3_add(pose->velocity, vector3_cross(pose->spin, arm));
}

void pose_bounds(const Pose *pose, Vector3 *low, Vector3 *high)
{
  Box box = {vector3_subtract(*low, pose->pivot), vector3_subtract(*high, pose->pivot)};

  box = box_rotated(box, pose->rotation, 1);
  *low = vector3_add(vector3_add(box.low, pose->pivot), pose->translation);
  *high = vector3_add(vector3_add(box.high, pose->pivot), pose->translation);
}

Vector3 motion_to_rest(Motion motion, PetscReal time, Vector3 point)
{
  const Pose pose = motion_pose(motion, time);

  return pose_to_rest(&pose, point);
}

Vector3 motion_velocity(Motion motion, PetscReal time, Vector3 point)
{
  const Pose pose = motion_pose(motion, time);

  return pose_velocity(&pose, point);
}

PetscReal motion_speed_bound(Motion motion, PetscReal time, Vector3 low, Vector3 high)
{
  const Pose pose = motion_pose(motion, time);
  PetscReal  bound = vector3_norm(pose.velocity);

  if (vector3_norm(pose.spin) == 0)
    return bound;
  /* the speed is a convex function of the point: greatest at a corner */
  for (int corner = 0; corner < 8; corner++) {
    const Vector3   at_rest = vector3((corner & 1 ? high : low).at[X], (corner & 2 ? high : low).at[Y],
                                      (corner & 4 ? high : low).at[Z]);
    const PetscReal speed = vector3_norm(pose_velocity(&pose, pose_to_world(&pose, at_rest)));

    if (!(speed < PETSC_INFINITY))
      return (PetscReal)INFINITY; /* a plane has no last corner */
    bound = PetscMax(bound, speed);
  }
  return bound;
}

PetscBool motion_is_still(Motion motion)
{
  if (!motion)
    return PETSC_TRUE;
  if (motion->by_formulas || vector3_norm(motion->velocity) > 0 || vector3_norm(motion->spin) > 0)
    return PETSC_FALSE;
  for (PetscInt n = 0; n < motion->count; n++) {
    if (vector3_norm(motion->stops[n].velocity) > 0 || vector3_norm(motion->stops[n].spin) > 0)
      return PETSC_FALSE;
  }
  return PETSC_TRUE;
}
