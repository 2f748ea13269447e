/* Pre- and post-stabilisation with limits (docs/numerics.md, section 9). */
#include "joint_impl.h"

enum { ROUNDS = 200, LAST_ROUNDS = 5, PATIENCE = 4, ITERATIONS = 20, REFINEMENTS = 4 };

typedef enum { ANGLE, SWING, LIMITS } JointLimit;

static Hold *grip_hold(Grip *grip, JointLimit limit)
{
  return limit == ANGLE ? &grip->angle : &grip->swing;
}

static PetscReal upper_of(const JointConfig *config, JointLimit limit)
{
  return limit == ANGLE ? config->upper : config->swing;
}

static PetscReal lower_of(const JointConfig *config, JointLimit limit)
{
  return limit == ANGLE ? config->lower : PETSC_NINFINITY;
}

/* The rows of the angle and the swing come last, if they are held. */
static PetscInt row_of(const Grip *grip, const JointRows *rows, JointLimit limit)
{
  return rows->count - 1 - (limit == ANGLE && grip->swing != HOLD_NOTHING);
}

static PetscReal length_unit(const Joint *joint, JointLimit limit)
{
  return limit == ANGLE && joint->config->kind == JOINT_PRISMATIC ? joint->reach : 1;
}

/* By how much a limit is passed; not positive: it is not. */
typedef struct {
  PetscReal lower, upper;
} Passing;

/* A limit that is passed takes hold; one that pulls by more than round-off lets go. */
static Hold reviewed(Hold hold, Passing passing, PetscReal impulse)
{
  if ((hold == HOLD_LOWER && impulse < 0) || (hold == HOLD_UPPER && impulse > 0))
    return HOLD_NOTHING;
  if (hold == HOLD_NOTHING && passing.lower > 0)
    return HOLD_LOWER;
  if (hold == HOLD_NOTHING && passing.upper > 0)
    return HOLD_UPPER;
  return hold;
}

/* What passes a limit after the move (to `moved`), or, without a move, by its velocity. */
typedef Passing PassingTest(JointSet joints, PetscInt j, JointLimit limit, const Twist twists[]);

/* The fastest of all bodies before the solve, and the largest impulse there could be: what round-off goes by.
 */
static void measure_speed(JointSet joints)
{
  const Solid solid = joints->solid;

  joints->speed = joints->spin = joints->impulse = 0;
  for (PetscInt k = 0; k < joints->body_count; k++) {
    const PetscInt  b = joints->bodies[k];
    const PetscReal speed = vector3_norm(joints->saved[b].linear),
                    spin = vector3_norm(joints->saved[b].angular);

    joints->speed = PetscMax(joints->speed, speed);
    joints->spin = PetscMax(joints->spin, spin);
    if (solid->mobilities[b].inverse_mass > 0)
      joints->impulse = PetscMax(joints->impulse, PetscSqrtReal(solid->bodies[b].mass) *
                                                      (speed + spin * solid->bodies[b].form->reach));
  }
}

/* What each limit should do next, in `holds`; the number of those that should do something else than now. */
static PetscInt propose_holds(JointSet joints, PassingTest *test, const Twist twists[])
{
  PetscReal round_off;
  PetscInt  wrong = 0;

  measure_speed(joints);
  round_off = 1e-13 * joints->impulse;
  for (PetscInt j = 0; j < joints->count; j++)
    for (JointLimit limit = ANGLE; limit < LIMITS; limit++) {
      const JointConfig *config = joints->joints[j].config;
      Grip              *grip = &joints->grips[j];
      const Hold         hold = *grip_hold(grip, limit);
      PetscReal          impulse = 0;

      joints->holds[j][limit] = hold;
      if (hold == HOLD_TARGET ||
          (lower_of(config, limit) <= PETSC_NINFINITY && upper_of(config, limit) >= PETSC_INFINITY))
        continue;
      if (hold != HOLD_NOTHING)
        impulse = joints->impulses[j][row_of(grip, &joints->rows[j], limit)];
      if (PetscAbsReal(impulse) <= round_off)
        impulse = 0;
      joints->holds[j][limit] = reviewed(hold, test(joints, j, limit, twists), impulse);
      wrong += joints->holds[j][limit] != hold;
    }
  return wrong;
}

typedef enum { CHANGE_ALL, CHANGE_LAST, CHANGE_TO_HELD } HoldChange;

static void change_holds(JointSet joints, HoldChange change)
{
  for (PetscInt j = joints->count; j-- > 0;)
    for (JointLimit limit = ANGLE; limit < LIMITS; limit++) {
      const JointConfig *config = joints->joints[j].config;
      Grip              *grip = &joints->grips[j];
      Hold              *hold = grip_hold(grip, limit);
      const Hold         next = joints->holds[j][limit];

      if (next == *hold || (change == CHANGE_TO_HELD && next == HOLD_NOTHING))
        continue;
      *hold = next;
      if (limit == ANGLE && next != HOLD_NOTHING)
        grip->aim = next == HOLD_LOWER ? config->lower : config->upper;
      if (change == CHANGE_LAST)
        return;
    }
}

/* The search for the limits that must hold: block pivoting as long as the number of wrong ones falls now and
   then, else one at a time, which ends for a definite system (Judice and Pires). */
typedef struct {
  PetscInt round, fewest, patience;
} LimitSearch;

/* Whether another solve is needed. */
static PetscBool review_limits(JointSet joints, PassingTest *test, LimitSearch *search, const Twist twists[])
{
  PetscInt wrong;

  if (!joints->has_limits || ++search->round == ROUNDS)
    return PETSC_FALSE;
  wrong = propose_holds(joints, test, twists);
  if (wrong < search->fewest) {
    search->fewest = wrong;
    search->patience = PATIENCE;
  }
  if (search->round >= ROUNDS - LAST_ROUNDS)
    change_holds(joints, CHANGE_TO_HELD);
  else
    change_holds(joints, search->patience-- > 0 ? CHANGE_ALL : CHANGE_LAST);
  return wrong > 0 ? PETSC_TRUE : PETSC_FALSE;
}

static void restore(JointSet joints, Twist twists[])
{
  for (PetscInt k = 0; k < joints->body_count; k++)
    twists[joints->bodies[k]] = joints->saved[joints->bodies[k]];
}

static void save(JointSet joints, const Twist twists[])
{
  for (PetscInt k = 0; k < joints->body_count; k++)
    joints->saved[joints->bodies[k]] = twists[joints->bodies[k]];
}

static void accumulate(JointSet joints, PetscReal factor)
{
  for (PetscInt j = 0; j < joints->count; j++)
    for (PetscInt i = 0; i < joints->rows[j].count; i++)
      joints->impulses[j][i] += factor * joints->step[j][i];
}

static void clear_impulses(JointSet joints)
{
  memset(joints->impulses, 0, (size_t)joints->count * sizeof(joints->impulses[0]));
}

/* What the rates lack, in `step`; the largest. */
static PetscReal missing_rates(JointSet joints, const Twist twists[])
{
  PetscReal largest = 0;

  joint_set_rates(joints, joints->rows, twists, joints->step);
  for (PetscInt j = 0; j < joints->count; j++) {
    const Grip      *grip = &joints->grips[j];
    const JointRows *rows = &joints->rows[j];

    for (PetscInt i = 0; i < rows->count; i++) {
      joints->step[j][i] *= -1;
      if (grip->angle == HOLD_TARGET && i == row_of(grip, rows, ANGLE))
        joints->step[j][i] += joints->scalings[j].scale[i] * grip->due_rate;
      largest = PetscMax(largest, PetscAbsReal(joints->step[j][i]));
    }
  }
  return largest;
}

/* A solve and its refinements, as long as they gain. */
static void solve_velocity(JointSet joints, Twist twists[])
{
  PetscReal first, last, now;

  clear_impulses(joints);
  first = last = now = missing_rates(joints, twists);
  for (PetscInt pass = 0; pass <= REFINEMENTS && now > 0; pass++) {
    block_matrix_solve(joints->matrix, joints->step);
    joint_set_push(joints, 1, joints->step, (const Spins *)joints->spins, twists);
    accumulate(joints, 1);
    last = now;
    now = missing_rates(joints, twists);
    if (now < 1e-13 * first || (pass > 0 && now > 0.5 * last))
      break;
  }
}

/* Joints that geometry at a limit and move beyond it. */
static Passing passing_by_velocity(JointSet joints, PetscInt j, JointLimit limit, const Twist twists[])
{
  const Joint    *joint = &joints->joints[j];
  const Grip     *grip = &joints->grips[j];
  Grip            alone = {.angle_before = grip->angle_before};
  const PetscReal position = limit == ANGLE ? grip->angle_before : grip->swing_before;
  const PetscReal near = 1e-6 * length_unit(joint, limit);
  const PetscBool at_lower = position < lower_of(joint->config, limit) + near;
  const PetscBool at_upper = position > upper_of(joint->config, limit) - near;
  PetscReal       rate = 0, size = 0;
  RigidTransform  at[SIDES];
  JointRows       rows;

  if (!at_lower && !at_upper)
    return (Passing){0, 0};
  *grip_hold(&alone, limit) = HOLD_UPPER;
  joint_placements(joint, joints->solid->placements, at);
  joint_rows(joint, at, &alone, ROWS_AS_IMPULSES, &rows);
  for (JointSide s = PARENT; s < SIDES; s++)
    if (joint->body[s] >= 0) {
      const JointRow *row = &rows.row[rows.count - 1];
      const Twist    *twist = &twists[joint->body[s]];
      const PetscReal term =
          vector3_dot(row->force, twist->linear) + vector3_dot(row->torque[s], twist->angular);

      rate += s == PARENT ? -term : term;
      size += vector3_norm(row->force) * joints->speed + vector3_norm(row->torque[s]) * joints->spin;
    }
  return (Passing){at_lower ? -rate - 1e-13 * size : 0, at_upper ? rate - 1e-13 * size : 0};
}

void joint_set_stabilize_velocity(JointSet joints, Twist twists[])
{
  LimitSearch search = {0, PETSC_MAX_INT, 0};

  if (!joints->count)
    return;
  save(joints, twists);
  do {
    restore(joints, twists);
    joint_set_factorize(joints);
    solve_velocity(joints, twists);
  } while (review_limits(joints, passing_by_velocity, &search, twists));
}

/* The solution of the linearised problem at `ahead`, in `step`. */
static void solve_step(JointSet joints, PetscReal dt)
{
  for (PetscInt j = 0; j < joints->count; j++)
    for (PetscInt i = 0; i < joints->rows[j].count; i++)
      joints->step[j][i] = -joints->scalings[j].scale[i] * joints->ahead[j].residual[i] / dt;
  block_matrix_solve(joints->matrix, joints->step);
}

static void take_step(JointSet joints, PetscReal factor, Twist twists[])
{
  joint_set_push(joints, factor, joints->step, (const Spins *)joints->spins, twists);
  accumulate(joints, factor);
}

/* Newton's iteration with impulses at time n, and the factors of time n, or of an earlier iterate, as long as
   they do. Whether it ended near enough. */
static PetscBool iterate_motion(JointSet joints, PetscReal dt, Twist twists[])
{
  const PetscReal enough = 1e4; /* times what is aimed at */
  PetscReal       last = PETSC_MAX_REAL, length = 1, error;
  PetscBool       fresh = PETSC_FALSE;

  for (PetscInt iteration = 0; iteration < ITERATIONS; iteration++) {
    error = joint_set_predict(joints, dt, twists);
    if (error <= 1)
      return PETSC_TRUE;
    if (error > last && fresh) { /* too far: half-way back */
      length *= 0.5;
      take_step(joints, -length, twists);
      continue;
    }
    if (error > last) { /* the old factors mislead: back, and take new ones */
      take_step(joints, -1, twists);
      error = joint_set_predict(joints, dt, twists);
    }
    fresh = error > 0.1 * last;
    if (fresh) {
      joint_set_differentiate(joints, dt, twists);
      joint_set_factorize_ahead(joints, (const Spins *)joints->spins);
    }
    last = error;
    length = 1;
    solve_step(joints, dt);
    take_step(joints, 1, twists);
  }
  error = joint_set_predict(joints, dt, twists);
  return error < enough ? PETSC_TRUE : PETSC_FALSE;
}

/* What the rows ask of the velocities at time n. */
static void take_linear_step(JointSet joints, PetscReal dt, Twist twists[])
{
  joint_set_rates(joints, joints->rows, twists, joints->step);
  for (PetscInt j = 0; j < joints->count; j++)
    for (PetscInt i = 0; i < joints->rows[j].count; i++) {
      const Scaling  *scaling = &joints->scalings[j];
      const PetscReal mended = joints->rows[j].residual[i] - scaling->lag[i];

      joints->step[j][i] = -scaling->scale[i] * mended / dt - joints->step[j][i];
    }
  block_matrix_solve(joints->matrix, joints->step);
  take_step(joints, 1, twists);
}

static void start_again(JointSet joints, Twist twists[])
{
  restore(joints, twists);
  joint_set_factorize(joints);
  clear_impulses(joints);
}

/* Where there is no solution (a joint would turn by more than about 1 rad), the linear one at time n is left:
   it cannot grow. */
static void solve_motion(JointSet joints, PetscReal dt, Twist twists[])
{
  clear_impulses(joints);
  if (joint_set_predict(joints, dt, twists) <= 1)
    return;
  take_linear_step(joints, dt, twists);
  if (joint_set_predict(joints, dt, twists) <= 1)
    return;
  solve_step(joints, dt); /* now the impulses hold the centripetal ones too */
  take_step(joints, 1, twists);
  if (joint_set_is_stiff(joints, dt)) {
    if (joint_set_solve_stiff(joints, dt, twists))
      return;
    start_again(joints, twists);
  }
  if (iterate_motion(joints, dt, twists))
    return;
  start_again(joints, twists);
  take_linear_step(joints, dt, twists);
  (void)joint_set_predict(joints, dt, twists);
}

static Passing passing_by_motion(JointSet joints, PetscInt j, JointLimit limit, const Twist twists[])
{
  const Joint    *joint = &joints->joints[j];
  const Grip     *grip = &joints->grips[j];
  const PetscReal slack = 1e-10 * length_unit(joint, limit);
  PetscReal       position;
  RigidTransform  at[SIDES];
  JointGeometry   geometry;

  (void)twists;
  joint_placements(joint, joints->moved, at);
  geometry = joint_geometry(joint, at);
  position = limit == ANGLE ? joint_angle(joint, &geometry) : joint_swing(&geometry);
  if (limit == ANGLE && joint->config->kind != JOINT_PRISMATIC)
    position = grip->angle_before + wrapped_angle(position - grip->angle_before);
  return (Passing){lower_of(joint->config, limit) - slack - position,
                   position - slack - upper_of(joint->config, limit)};
}

void joint_set_stabilize_motion(JointSet joints, PetscReal dt, Twist twists[])
{
  LimitSearch search = {0, PETSC_MAX_INT, 0};

  if (!joints->count)
    return;
  save(joints, twists);
  do {
    restore(joints, twists);
    joint_set_factorize(joints);
    solve_motion(joints, dt, twists);
  } while (review_limits(joints, passing_by_motion, &search, twists));
}

PetscErrorCode JointSetPrestabilize(JointSet joints, PetscReal dt, Twist twists[])
{
  PetscFunctionBegin;
  joint_set_measure(joints);
  joint_set_stabilize_motion(joints, dt, twists);
  PetscFunctionReturn(0);
}

/* A joint that has come apart is mended through its neighbours too. */
static PetscBool is_apart(const JointSet joints, PetscInt j)
{
  const PetscReal  part = 1e-6;
  const JointRows *rows = &joints->rows[j];

  for (PetscInt i = 0; i < rows->count - grip_rows(&joints->grips[j]); i++)
    if (PetscAbsReal(rows->residual[i]) > part * PetscMin(1, joints->joints[j].reach))
      return PETSC_TRUE;
  return PETSC_FALSE;
}

PetscErrorCode JointSetCarryImpulses(JointSet joints, Twist velocities[])
{
  PetscFunctionBegin;
  for (PetscInt j = 0; j < joints->count; j++)
    joints->mends[j] = PETSC_FALSE;
  for (PetscInt j = 0; j < joints->count; j++)
    if (is_apart(joints, j))
      joints->mends[joints->joints[j].group] = PETSC_TRUE;
  for (PetscInt j = 0; j < joints->count; j++)
    if (joints->mends[joints->joints[j].group])
      memset(joints->impulses[j], 0, sizeof(joints->impulses[j]));
  joint_set_push(joints, 1, joints->impulses, (const Spins *)joints->spins, velocities);
  joint_set_add_impulses(joints, joints->moving_loads);
  PetscFunctionReturn(0);
}

PetscErrorCode JointSetPoststabilize(JointSet joints, Twist twists[])
{
  PetscFunctionBegin;
  joint_set_measure(joints);
  joint_set_stabilize_velocity(joints, twists);
  joint_set_add_impulses(joints, joints->moving_loads);
  PetscFunctionReturn(0);
}
