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

static void hold_targets(JointSet joints)
{
  for (PetscInt j = 0; j < joints->count; j++)
    if (is_controlled(&joints->joints[j]))
      joints->grips[j].angle = HOLD_TARGET;
}

/* The angles and rates that the laws ask for; needs the measured grips. */
static void plan_joints(JointSet joints, PetscReal time, PetscReal dt, const Twist before[])
{
  hold_targets(joints);
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
    plan_joints(joints, time, dt, before);
  joint_set_stabilize_motion(joints, dt, twists);
  PetscFunctionReturn(0);
}

PetscErrorCode JointSetControlVelocity(JointSet joints, Twist twists[])
{
  PetscFunctionBegin;
  PetscCheck(joints->control_is_due || !joints->has_control, joints->solid->comm, PETSC_ERR_ORDER,
             "JointSetControlMotion comes before JointSetControlVelocity");
  joint_set_measure(joints);
  hold_targets(joints);
  joint_set_stabilize_velocity(joints, twists);
  PetscFunctionReturn(0);
}
