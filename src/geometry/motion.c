/* Rigid motions given over time.

   Steady: translation v t, rotation exp(w t). Keyframes: between t0 and t1, with f = (t - t0)/(t1 - t0),
   translation x0 + f (x1 - x0) and rotation exp(f w) q0, where exp(w) q0 = q1. That is slerp, and its spin
   w/(t1 - t0) is constant, so the velocity is the exact derivative of the pose. Two rotations about the same
   axis give w as the plain difference of the angles: a keyframe of 2 pi is a full turn, not none. Formulas:
   translation x(t) and rotation exp(r(t)), whose spin is r' + (1 - cos a)/a^2 r x r' + (a - sin a)/a^3 r x (r
   x r') with a = |r|, which is r' while the axis stays. Speeds: velocity v(t) and spin w(t) e about one axis;
   translation and angle are their integrals from time zero, second by second in this order, each by Lobatto's
   rule of eight points on halves of halves until these agree: functions of t alone, whoever asked before.
   Spline: x(t) and r(t) are cubic splines through the
   keyframes, at rest at both ends. With h = t1 - t0 and the slopes m, between two of them (Hermite)
     x = (1 + 2f)(1 - f)^2 x0 + f^2 (3 - 2f) x1 + h f (1 - f)^2 m0 - h f^2 (1 - f) m1,
   and second derivatives are the same on either side of a keyframe with h0 before and h1 behind it if
     m0/h0 + 2 (1/h0 + 1/h1) m1 + m2/h1 = 3 (x1 - x0)/h0^2 + 3 (x2 - x1)/h1^2. */
#include "geometry_impl.h"

typedef struct {
  PetscReal  time;
  Vector3    translation;
  Quaternion rotation;
  Vector3    velocity; /* until the next stop; of a spline, at the stop */
  Vector3    spin;     /* of a spline: the rate of `turn` */
  Vector3    turn;     /* the rotation as axis times angle */
} Stop;

typedef enum { COURSE_STEADY, COURSE_LINEAR, COURSE_SPLINE, COURSE_FORMULAS, COURSE_SPEEDS } Course;

/* Integrals of velocity and spin from time zero to a whole second. */
typedef struct {
  PetscReal second;
  Vector3   translation, rotation;
} Milestone;

struct _p_Motion {
  Course    course;
  Vector3   pivot;
  PetscInt  count; /* of keyframes */
  Stop     *stops; /* by increasing time; the last has no velocity */
  Vector3   velocity, spin;
  Formula   translation[DIM], rotation[DIM]; /* owned; null: zero. Of speeds: velocity and spin */
  Milestone passed[2];                       /* of speeds: the last two on the way to what was asked for */
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

static PetscErrorCode CreateStops(Vector3 pivot, PetscInt count, const Keyframe keyframes[], Motion *motion)
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
    stop->turn = keyframes[n].rotation;
    stop->rotation = quaternion_from_rotation(stop->turn);
  }
  PetscFunctionReturn(0);
}

PetscErrorCode MotionCreateKeyframes(Vector3 pivot, PetscInt count, const Keyframe keyframes[],
                                     Motion *motion)
{
  PetscFunctionBegin;
  PetscCall(CreateStops(pivot, count, keyframes, motion));
  (*motion)->course = COURSE_LINEAR;
  for (PetscInt n = 0; n + 1 < count; n++) {
    Stop           *stop = &(*motion)->stops[n], *next = stop + 1;
    const PetscReal rate = 1 / (next->time - stop->time);

    stop->velocity = vector3_scale(rate, vector3_subtract(next->translation, stop->translation));
    stop->spin = vector3_scale(rate, rotation_between(stop->turn, next->turn));
  }
  PetscFunctionReturn(0);
}

/* The right side of the equation of a slope: three times the changes on either side, over their times
 * squared. */
static Vector3 slope_source(Vector3 before, Vector3 at, Vector3 behind, PetscReal h0, PetscReal h1)
{
  return vector3_add(vector3_scale(3 / (h0 * h0), vector3_subtract(at, before)),
                     vector3_scale(3 / (h1 * h1), vector3_subtract(behind, at)));
}

/* The slopes of the splines, by elimination from the first to the last; those of the ends are zero. */
static PetscErrorCode SolveSlopes(PetscInt count, Stop stops[])
{
  PetscReal *upper;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(count, &upper));
  for (PetscInt n = 1; n + 1 < count; n++) {
    Stop           *a = &stops[n - 1], *b = &stops[n], *c = &stops[n + 1];
    const PetscReal h0 = b->time - a->time, h1 = c->time - b->time;
    const PetscReal pivot = 2 * (1 / h0 + 1 / h1) - upper[n - 1] / h0;
    const Vector3   moved = slope_source(a->translation, b->translation, c->translation, h0, h1);
    const Vector3   turned = slope_source(a->turn, b->turn, c->turn, h0, h1);

    upper[n] = 1 / (h1 * pivot);
    b->velocity = vector3_scale(1 / pivot, vector3_subtract(moved, vector3_scale(1 / h0, a->velocity)));
    b->spin = vector3_scale(1 / pivot, vector3_subtract(turned, vector3_scale(1 / h0, a->spin)));
  }
  for (PetscInt n = count - 2; n > 0; n--) {
    stops[n].velocity = vector3_subtract(stops[n].velocity, vector3_scale(upper[n], stops[n + 1].velocity));
    stops[n].spin = vector3_subtract(stops[n].spin, vector3_scale(upper[n], stops[n + 1].spin));
  }
  PetscCall(PetscFree(upper));
  PetscFunctionReturn(0);
}

PetscErrorCode MotionCreateSpline(Vector3 pivot, PetscInt count, const Keyframe keyframes[], Motion *motion)
{
  PetscFunctionBegin;
  PetscCall(CreateStops(pivot, count, keyframes, motion));
  (*motion)->course = COURSE_SPLINE;
  PetscCall(SolveSlopes(count, (*motion)->stops));
  PetscFunctionReturn(0);
}

PetscErrorCode MotionCreateFormulas(Vector3 pivot, Formula translation[DIM], Formula rotation[DIM],
                                    Motion *motion)
{
  PetscFunctionBegin;
  PetscCall(MotionCreateSteady(pivot, vector3(0, 0, 0), vector3(0, 0, 0), motion));
  (*motion)->course = COURSE_FORMULAS;
  for (PetscInt d = 0; d < DIM; d++) {
    (*motion)->translation[d] = translation[d];
    (*motion)->rotation[d] = rotation[d];
    translation[d] = rotation[d] = NULL;
  }
  PetscFunctionReturn(0);
}

PetscErrorCode MotionCreateSpeeds(Vector3 pivot, Formula velocity[DIM], Formula spin[DIM], Motion *motion)
{
  PetscFunctionBegin;
  PetscCall(MotionCreateFormulas(pivot, velocity, spin, motion));
  (*motion)->course = COURSE_SPEEDS;
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

static PetscReal speed_at(Formula speed, PetscReal time)
{
  return formula_value(speed, vector3(0, 0, 0), time);
}

/* An integral and that of the absolute value. */
typedef struct {
  PetscReal value, size;
} Integral;

/* Lobatto's rule of eight points, exact for polynomials of degree 13: with both ends, between which no jump
   is missed. */
static Integral lobatto(Formula speed, PetscReal from, PetscReal to)
{
  static const PetscReal places[] = {1., 0.8717401485096066, 0.5917001814331423, 0.2092992179024789};
  static const PetscReal weights[] = {1. / 28., 0.2107042271435061, 0.3411226924835044, 0.4124587946587038};
  const PetscReal        middle = 0.5 * (from + to), half = 0.5 * (to - from);
  Integral               sum = {0, 0};

  for (int n = 0; n < 4; n++) {
    const PetscReal before = speed_at(speed, middle - half * places[n]),
                    behind = speed_at(speed, middle + half * places[n]);

    sum.value += half * weights[n] * (before + behind);
    sum.size += PetscAbsReal(half) * weights[n] * (PetscAbsReal(before) + PetscAbsReal(behind));
  }
  return sum;
}

/* Halved until two halves make what the whole does to 1e-10, when they are wrong by 2^-14 of that, or down to
   where a jump is; `parts` bounds what a formula without an end to its detail costs. */
static PetscReal integral_of(Formula speed, PetscReal from, PetscReal to, Integral whole, PetscInt halvings,
                             PetscInt *parts)
{
  const PetscReal middle = 0.5 * (from + to);
  const Integral  first = lobatto(speed, from, middle), second = lobatto(speed, middle, to);
  const PetscReal value = first.value + second.value;

  if (halvings == 0 || --*parts < 0 ||
      !(PetscAbsReal(value - whole.value) > 1e-10 * (first.size + second.size)))
    return value;
  return integral_of(speed, from, middle, first, halvings - 1, parts) +
         integral_of(speed, middle, to, second, halvings - 1, parts);
}

static PetscReal integral(Formula speed, PetscReal from, PetscReal to)
{
  enum { HALVINGS = 40, PARTS = 4096 };
  PetscInt parts = PARTS;

  return speed ? integral_of(speed, from, to, lobatto(speed, from, to), HALVINGS, &parts) : 0;
}

static Milestone milestone_after(Motion motion, Milestone before, PetscReal time)
{
  Milestone after = {.second = time};

  for (PetscInt d = 0; d < DIM; d++) {
    after.translation.at[d] =
        before.translation.at[d] + integral(motion->translation[d], before.second, time);
    after.rotation.at[d] = before.rotation.at[d] + integral(motion->rotation[d], before.second, time);
  }
  return after;
}

/* One that was passed on the way from time zero to a whole second. */
static Milestone milestone_before(Motion motion, PetscReal whole)
{
  for (int n = 0; n < 2; n++) {
    const PetscReal second = motion->passed[n].second;

    if (second * whole >= 0 && PetscAbsReal(second) <= PetscAbsReal(whole))
      return motion->passed[n];
  }
  return (Milestone){0};
}

static Pose pose_by_speeds(Motion motion, PetscReal time)
{
  const PetscReal whole = trunc(time);
  Milestone       now = milestone_before(motion, whole);
  Pose            pose = {.pivot = motion->pivot};

  while (now.second != whole) {
    now = milestone_after(motion, now, now.second + (whole > now.second ? 1 : -1));
    motion->passed[1] = motion->passed[0];
    motion->passed[0] = now;
  }
  now = milestone_after(motion, now, time);
  pose.translation = now.translation;
  pose.rotation = quaternion_from_rotation(now.rotation);
  for (PetscInt d = 0; d < DIM; d++) {
    pose.velocity.at[d] = motion->translation[d] ? speed_at(motion->translation[d], time) : 0;
    pose.spin.at[d] = motion->rotation[d] ? speed_at(motion->rotation[d], time) : 0;
  }
  return pose;
}

/* The cubic between two values with given slopes, h apart, at the part f of the way; and its slope. */
static Vector3 cubic(const Vector3 x[2], const Vector3 slope[2], PetscReal h, PetscReal f, Vector3 *rate)
{
  const PetscReal rest = 1 - f;
  Vector3         value;

  for (PetscInt d = 0; d < DIM; d++) {
    const PetscReal a = x[0].at[d], b = x[1].at[d], m = slope[0].at[d], n = slope[1].at[d];

    value.at[d] = (1 + 2 * f) * rest * rest * a + f * f * (3 - 2 * f) * b + h * f * rest * (rest * m - f * n);
    rate->at[d] = 6 * f * rest * (b - a) / h + rest * (1 - 3 * f) * m + f * (3 * f - 2) * n;
  }
  return value;
}

static Pose pose_between(Motion motion, const Stop *from, PetscReal time)
{
  const Stop   *to = from + 1;
  const Vector3 places[] = {from->translation, to->translation},
                velocities[] = {from->velocity, to->velocity};
  const Vector3   turns[] = {from->turn, to->turn}, rates[] = {from->spin, to->spin};
  const PetscReal h = to->time - from->time, f = (time - from->time) / h;
  Pose            pose = {.pivot = motion->pivot};
  Vector3         turn, rate;

  pose.translation = cubic(places, velocities, h, f, &pose.velocity);
  turn = cubic(turns, rates, h, f, &rate);
  pose.rotation = quaternion_from_rotation(turn);
  pose.spin = spin_of(turn, rate);
  return pose;
}

static Pose pose_by_keyframes(Motion motion, PetscReal time)
{
  const PetscInt  n = find_stop(motion, time);
  const Stop     *stop = &motion->stops[PetscMax(n, 0)];
  const PetscReal since = time - stop->time;
  Pose pose = {.pivot = motion->pivot, .translation = stop->translation, .rotation = stop->rotation};

  if (n < 0 || n == motion->count - 1)
    return pose;
  if (motion->course == COURSE_SPLINE)
    return pose_between(motion, stop, time);
  pose.velocity = stop->velocity;
  pose.spin = stop->spin;
  pose.translation = vector3_add(pose.translation, vector3_scale(since, pose.velocity));
  pose.rotation =
      quaternion_multiply(quaternion_from_rotation(vector3_scale(since, pose.spin)), pose.rotation);
  return pose;
}

static Pose pose_of_steady(Motion motion, PetscReal time)
{
  return (Pose){.pivot = motion->pivot,
                .translation = vector3_scale(time, motion->velocity),
                .rotation = quaternion_from_rotation(vector3_scale(time, motion->spin)),
                .velocity = motion->velocity,
                .spin = motion->spin};
}

Pose motion_pose(Motion motion, PetscReal time)
{
  if (!motion)
    return (Pose){.rotation = {.scalar = 1}};
  if (motion->course == COURSE_FORMULAS)
    return pose_by_formulas(motion, time);
  if (motion->course == COURSE_SPEEDS)
    return pose_by_speeds(motion, time);
  return motion->count ? pose_by_keyframes(motion, time) : pose_of_steady(motion, time);
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
  if (motion->course == COURSE_FORMULAS || motion->course == COURSE_SPEEDS ||
      vector3_norm(motion->velocity) > 0 || vector3_norm(motion->spin) > 0)
    return PETSC_FALSE;
  for (PetscInt n = 1; n < motion->count; n++) {
    const Stop *stop = &motion->stops[n];

    if (vector3_norm(vector3_subtract(stop->translation, stop[-1].translation)) > 0 ||
        vector3_norm(vector3_subtract(stop->turn, stop[-1].turn)) > 0)
      return PETSC_FALSE;
  }
  return PETSC_TRUE;
}
