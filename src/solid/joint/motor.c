/* Motors of joints: a torque about the axis of a joint, or a force along it, on the child, and its opposite
   on the parent (docs/numerics.md, section 9).

   T(t, q, r) is a formula of time, of the angle or distance q and of its rate r. Where it falls with the
   rate, it is that of the rate at the end of the step, T = T(t, q, r + dt m T), with m what a unit torque
   does to the rate of two free bodies: at least what it does with the joint. So neither damping nor friction
   can turn a rate round, however large they are; first order in what depends on the rate. */
#include "joint_impl.h"

static const PetscReal sign[SIDES] = {[PARENT] = -1, [CHILD] = 1};

/* The axis in the world, and where a force along it acts. */
typedef struct {
  Vector3   axis, point;
  PetscReal place, rate;
} MotorState;

static MotorState motor_state(const Joint *joint, const RigidTransform at[SIDES], const Twist twists[])
{
  const JointGeometry geometry = joint_geometry(joint, at);
  const PetscBool     slides = joint->config->kind == JOINT_PRISMATIC ? PETSC_TRUE : PETSC_FALSE;
  MotorState          state = {geometry.axis, geometry.anchor[CHILD], joint_angle(joint, &geometry), 0.};

  for (JointSide s = PARENT; s < SIDES; s++)
    if (joint->body[s] >= 0) {
      const Twist  *twist = &twists[joint->body[s]];
      const Vector3 arm = vector3_subtract(state.point, at[s].position);

      state.rate += sign[s] * vector3_dot(slides ? twist_at(twist, arm) : twist->angular, state.axis);
    }
  return state;
}

/* What a unit torque about the axis, or force along it, does to the rate of the two bodies without the joint.
 */
static PetscReal motor_mobility(Solid solid, const Joint *joint, const RigidTransform at[SIDES],
                                const MotorState *state)
{
  PetscReal sum = 0.;

  for (JointSide s = PARENT; s < SIDES; s++)
    if (joint->body[s] >= 0) {
      const Mobility *mobility = &solid->mobilities[joint->body[s]];
      const Vector3   lever = joint->config->kind == JOINT_PRISMATIC
                                  ? vector3_cross(vector3_subtract(state->point, at[s].position), state->axis)
                                  : state->axis;

      sum += vector3_dot(lever, matrix3_apply(&mobility->inverse_inertia, lever));
      if (joint->config->kind == JOINT_PRISMATIC)
        sum += mobility->inverse_mass;
    }
  return sum;
}

static PetscReal motor_value(const Joint *joint, const MotorState *state, PetscReal rate, PetscReal time)
{
  return formula_value(joint->config->motor, vector3(state->place, rate, 0.), time);
}

/* The root of T = T(r + step T) between none of it and all of what it is now, by bisection of the rate. */
static PetscReal motor_torque(const Joint *joint, const MotorState *state, PetscReal time, PetscReal step)
{
  const PetscReal now = motor_value(joint, state, state->rate, time);
  PetscReal       near = state->rate, far = state->rate + step * now;

  if (!(step > 0.) || !((motor_value(joint, state, far, time) - now) * now < 0.))
    return now; /* it does not fall */
  for (PetscInt n = 0; n < 60; n++) {
    const PetscReal middle = 0.5 * (near + far);

    if ((middle - state->rate - step * motor_value(joint, state, middle, time)) * now < 0.)
      near = middle;
    else
      far = middle;
  }
  return (0.5 * (near + far) - state->rate) / step;
}

static void add_motor(Solid solid, const Joint *joint, const PetscReal interval[2], BodyLoad loads[])
{
  RigidTransform at[SIDES];
  MotorState     state;
  Vector3        push;

  joint_placements(joint, solid->placements, at);
  state = motor_state(joint, at, solid->twists);
  push = vector3_scale(
      motor_torque(joint, &state, interval[0], interval[1] * motor_mobility(solid, joint, at, &state)),
      state.axis);
  for (JointSide s = PARENT; s < SIDES; s++)
    if (joint->body[s] >= 0) {
      BodyLoad     *load = &loads[joint->body[s]];
      const Vector3 own = vector3_scale(sign[s], push);

      if (joint->config->kind == JOINT_PRISMATIC) {
        load->force = vector3_add(load->force, own);
        load->torque =
            vector3_add(load->torque, vector3_cross(vector3_subtract(state.point, at[s].position), own));
      } else
        load->torque = vector3_add(load->torque, own);
    }
}

void joint_set_add_motors(JointSet joints, PetscReal time, PetscReal dt, BodyLoad loads[])
{
  const PetscReal interval[2] = {time, dt};

  for (PetscInt j = 0; j < joints->count; j++)
    if (joints->joints[j].config->motor)
      add_motor(joints->solid, &joints->joints[j], interval, loads);
}

PetscBool joint_set_has_motor(JointSet joints)
{
  for (PetscInt j = 0; j < joints->count; j++)
    if (joints->joints[j].config->motor)
      return PETSC_TRUE;
  return PETSC_FALSE;
}
