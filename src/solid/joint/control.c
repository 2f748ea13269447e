/* Control by the exact solution of the PD law [86] (docs/numerics.md, section 9). */
#include "joint_impl.h"

/* exp(-damping/2 dt) times (the co)sine or hyperbolic (co)sine of dt sqrt(|d|), d = (damping/2)^2 -
   stiffness; the sines over sqrt(|d|). Near d = 0 by their series, which both share. */
static void damped_waves(PetscReal stiffness, PetscReal damping, PetscReal dt, PetscReal *cosine,
                         PetscReal *sine)
{
  const PetscReal half = 0.5 * damping, d = half * half - stiffness, x = d * dt * dt;
  const PetscReal decay = PetscExpReal(-half * dt), root = PetscSqrtReal(PetscAbsReal(d));

  if (PetscAbsReal(x) < 1e-4) {
    *cosine = decay * (1 + x / 2 * (1 + x / 12 * (1 + x / 30)));
    *sine = decay * dt * (1 + x / 6 * (1 + x / 20 * (1 + x / 42)));
  } else if (d > 0) {
    const PetscReal slow = PetscExpReal(-stiffness / (half + root) * dt);
    const PetscReal fast = PetscExpReal(-(half + root) * dt);

    *cosine = 0.5 * (slow + fast);
    *sine = 0.5 * (slow - fast) / root;
  } else {
    *cosine = decay * PetscCosReal(root * dt);
    *sine = decay * PetscSinReal(root * dt) / root;
  }
}

void damped_oscillation(PetscReal stiffness, PetscReal damping, PetscReal dt, PetscReal *deviation,
                        PetscReal *rate)
{
  const PetscReal start = *deviation, speed = *rate;
  PetscReal       cosine, sine;

  damped_waves(stiffness, damping, dt, &cosine, &sine);
  *deviation = start * cosine + (speed + 0.5 * damping * start) * sine;
  *rate = speed * cosine - (stiffness * start + 0.5 * damping * speed) * sine;
}

typedef struct {
  PetscReal start, end;           /* of the step */
  PetscReal start_rate, end_rate; /* of the parabola through start, middle and end */
} Target;

/* A target that jumps within the step is a new one rather than one that moves fast. */
static Target target_within(Formula formula, PetscReal time, PetscReal dt)
{
  const Vector3   origin = {{0, 0, 0}};
  const PetscReal start = formula_value(formula, origin, time);
  const PetscReal middle = formula_value(formula, origin, time + 0.5 * dt);
  const PetscReal end = formula_value(formula, origin, time + dt);
  const PetscReal first = middle - start, second = end - middle;

  if (PetscAbsReal(second - first) > 0.6 * (PetscAbsReal(first) + PetscAbsReal(second)))
    return (Target){end, end, 0, 0};
  return (Target){start, end, (3 * first - second) / dt, (3 * second - first) / dt};
}

static PetscBool is_controlled(const Joint *joint)
{
  return joint->config->target ? PETSC_TRUE : PETSC_FALSE;
}

static PetscReal within_limits(const JointConfig *config, PetscReal angle)
{
  return PetscMin(PetscMax(angle, config->lower), config->upper);
}

/* What the law makes of one joint within the step. `rate` is that of time n. */
static void plan_joint(const Joint *joint, PetscReal time, PetscReal dt, PetscReal rate, Grip *grip)
{
  const JointConfig *config = joint->config;
  const Target       target = target_within(config->target, time, dt);
  PetscReal          deviation = grip->angle_before - target.start, change;

  if (config->kind != JOINT_PRISMATIC)
    deviation = wrapped_angle(deviation);
  change = target.end - target.start - deviation;
  rate -= target.start_rate;
  damped_oscillation(config->stiffness, config->damping, dt, &deviation, &rate);
  change += deviation;
  grip->aim = within_limits(config, grip->angle_before + change);
  grip->due_rate = rate + target.end_rate;
  if ((grip->aim <= config->lower && grip->due_rate < 0) ||
      (grip->aim >= config->upper && grip->due_rate > 0))
    grip->due_rate = 0;
}

void joint_set_hold_targets(JointSet joints)
{
  for (PetscInt j = 0; j < joints->count; j++)
    if (is_controlled(&joints->joints[j]))
      joints->grips[j].angle = HOLD_TARGET;
}

void joint_set_plan(JointSet joints, PetscReal time, PetscReal dt, const Twist before[])
{
  joint_set_hold_targets(joints);
  joint_set_factorize(joints);
  joint_set_rates(joints, joints->rows, before, joints->step);
  for (PetscInt j = 0; j < joints->count; j++)
    if (is_controlled(&joints->joints[j])) {
      const PetscInt row = joints->rows[j].count - 1;

      plan_joint(&joints->joints[j], time, dt, joints->step[j][row] / joints->scalings[j].scale[row],
                 &joints->grips[j]);
    }
  joints->control_is_due = PETSC_TRUE;
}

PetscErrorCode JointSetControlMotion(JointSet joints, PetscReal time, PetscReal dt, const Twist before[],
                                     Twist twists[])
{
  PetscFunctionBegin;
  joint_set_measure(joints);
  if (joints->has_control)
    joint_set_plan(joints, time, dt, before);
  joint_set_stabilize_motion(joints, dt, twists);
  PetscFunctionReturn(0);
}

PetscErrorCode JointSetControlVelocity(JointSet joints, Twist twists[])
{
  PetscFunctionBegin;
  PetscCheck(joints->control_is_due || !joints->has_control, joints->solid->comm, PETSC_ERR_ORDER,
             "JointSetControlMotion comes before JointSetControlVelocity");
  joint_set_measure(joints);
  joint_set_hold_targets(joints);
  joint_set_stabilize_velocity(joints, twists);
  joint_set_add_impulses(joints, joints->resting_loads);
  PetscFunctionReturn(0);
}

/* A controlled joint where it stands and how it moves. */
typedef struct {
  Vector3   axis, anchor;
  PetscReal angle, rate; /* of the child against the parent */
  PetscBool slides;
} Drive;

static Drive drive_of(JointSet joints, const Joint *joint)
{
  const Twist     still = {{{0, 0, 0}}, {{0, 0, 0}}};
  const PetscReal sign[SIDES] = {[PARENT] = -1, [CHILD] = 1};
  RigidTransform  at[SIDES];
  JointGeometry   geometry;
  Drive           drive;

  joint_placements(joint, joints->solid->placements, at);
  geometry = joint_geometry(joint, at);
  drive = (Drive){geometry.axis, geometry.anchor[CHILD], joint_angle(joint, &geometry), 0,
                  joint->config->kind == JOINT_PRISMATIC ? PETSC_TRUE : PETSC_FALSE};
  for (JointSide s = PARENT; s < SIDES; s++) {
    const Twist  *twist = joint->body[s] < 0 ? &still : &joints->solid->twists[joint->body[s]];
    const Vector3 arm = vector3_subtract(drive.anchor, at[s].position);
    const Vector3 moves = drive.slides ? twist_at(twist, arm) : twist->angular;

    drive.rate += sign[s] * vector3_dot(drive.axis, moves);
  }
  return drive;
}

/* What a body opposes to a drive: its mass, or its moment about the axis; and how far its points are from
   that. */
static PetscReal resistance(JointSet joints, PetscInt b, const Drive *drive, PetscReal *arm)
{
  const Solid solid = joints->solid;
  const Body *body = b < 0 ? NULL : &solid->bodies[b];
  Vector3     offset;
  PetscReal   away;

  *arm = 0;
  if (!body || !body_is_free(body))
    return PETSC_INFINITY;
  *arm = 1;
  if (drive->slides)
    return body->mass;
  offset = vector3_subtract(solid->placements[b].position, drive->anchor);
  away = vector3_norm(vector3_cross(drive->axis, offset));
  *arm = away + body->form->reach;
  return vector3_dot(drive->axis, body_angular_momentum(body, &solid->placements[b], drive->axis)) +
         body->mass * away * away;
}

/* Of the fastest point at a rate of the joint: the two sides share it by what they oppose to it. */
static PetscReal speed_at_rate(JointSet joints, const Joint *joint, const Drive *drive, PetscReal rate)
{
  PetscReal arm[SIDES], opposes[SIDES], speed = 0;

  for (JointSide s = PARENT; s < SIDES; s++)
    opposes[s] = resistance(joints, joint->body[s], drive, &arm[s]);
  for (JointSide s = PARENT; s < SIDES; s++)
    if (arm[s] > 0)
      speed = PetscMax(speed, rate * arm[s] / (1 + opposes[s] / opposes[SIDES - 1 - s]));
  return speed;
}

PetscReal joint_set_driven_speed(JointSet joints, PetscReal time, PetscReal dt)
{
  PetscReal speed = 0;

  for (PetscInt j = 0; j < joints->count && dt > 0; j++)
    if (is_controlled(&joints->joints[j])) {
      const Joint *joint = &joints->joints[j];
      const Drive  drive = drive_of(joints, joint);
      Grip         grip = {.angle_before = drive.angle};
      PetscReal    mean;

      plan_joint(joint, time, dt, drive.rate, &grip);
      mean = PetscAbsReal(grip.aim - drive.angle) / dt;
      speed =
          PetscMax(speed, speed_at_rate(joints, joint, &drive, PetscMax(mean, PetscAbsReal(grip.due_rate))));
    }
  return speed;
}

PetscReal joint_set_target_speed(JointSet joints, PetscReal time)
{
  const PetscReal instant = 1e-4;
  const Vector3   origin = {{0, 0, 0}};
  PetscReal       speed = 0;

  for (PetscInt j = 0; j < joints->count; j++)
    if (is_controlled(&joints->joints[j])) {
      const Joint    *joint = &joints->joints[j];
      const Drive     drive = drive_of(joints, joint);
      const PetscReal change = formula_value(joint->config->target, origin, time + instant) -
                               formula_value(joint->config->target, origin, time);

      speed = PetscMax(speed, speed_at_rate(joints, joint, &drive, PetscAbsReal(change) / instant));
    }
  return speed;
}
