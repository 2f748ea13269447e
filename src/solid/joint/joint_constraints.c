/* Joints as rows of the velocities, for whoever solves for these with more than the masses of the bodies
   (deformable/fluid_bones.c): J V = rate, with impulses J^T lambda. Redundant rows are left out. */
#include "joint_impl.h"

static const PetscReal sign[SIDES] = {[PARENT] = -1, [CHILD] = 1};

PetscInt joint_set_most_constraints(JointSet joints)
{
  return ROWS * joints->count;
}

/* All of its bodies that can move are `inside`, and there is one. */
static PetscBool is_inside(const Joint *joint, Solid solid, const PetscBool inside[])
{
  PetscBool any = PETSC_FALSE;

  for (JointSide s = PARENT; s < SIDES; s++) {
    const PetscInt b = joint->body[s];

    if (b < 0 || !body_is_free(&solid->bodies[b]))
      continue;
    if (!inside[b])
      return PETSC_FALSE;
    any = PETSC_TRUE;
  }
  return any;
}

/* Row i of joint j; what does not move freely is on the right side. */
static JointConstraint constraint_of(JointSet joints, PetscInt j, PetscInt i, const Twist given[])
{
  const JointRow *row = &joints->rows[j].row[i];
  JointConstraint one = {.joint = j, .scale = joints->scalings[j].scale[i]};

  one.is_drive = i >= joints->rows[j].count - grip_rows(&joints->grips[j]) ? PETSC_TRUE : PETSC_FALSE;
  one.is_angular = vector3_dot(row->force, row->force) == 0. ? PETSC_TRUE : PETSC_FALSE;
  for (JointSide s = PARENT; s < SIDES; s++) {
    const PetscInt b = joints->joints[j].body[s];
    const Twist    by = {vector3_scale(sign[s], row->force), vector3_scale(sign[s], row->torque[s])};

    one.body[s] = -1;
    if (b >= 0 && body_is_free(&joints->solid->bodies[b])) {
      one.body[s] = b;
      one.row[s] = by;
    } else if (b >= 0)
      one.rate -= vector3_dot(by.linear, given[b].linear) + vector3_dot(by.angular, given[b].angular);
  }
  return one;
}

typedef enum { BY_MOTION, BY_VELOCITY } RateKind;

static PetscInt collect(JointSet joints, RateKind kind, PetscReal dt, const PetscBool inside[],
                        const Twist given[], JointConstraint list[])
{
  PetscInt count = 0;

  joint_set_factorize(joints);
  for (PetscInt j = 0; j < joints->count; j++)
    for (PetscInt i = 0; i < joints->rows[j].count && is_inside(&joints->joints[j], joints->solid, inside);
         i++) {
      const PetscReal  scale = joints->scalings[j].scale[i];
      JointConstraint *one = &list[count];

      if (!joints->kept[j][i] || !(scale > 0.))
        continue;
      *one = constraint_of(joints, j, i, given);
      if (kind == BY_MOTION)
        one->rate -= scale * (joints->rows[j].residual[i] - joints->scalings[j].lag[i]) / dt;
      else if (one->is_drive)
        one->rate += scale * joints->grips[j].due_rate;
      count++;
    }
  return count;
}

PetscInt joint_set_constrain_motion(JointSet joints, PetscReal time, PetscReal dt, const PetscBool inside[],
                                    const Twist before[], const Twist given[], JointConstraint list[])
{
  joint_set_measure(joints);
  if (joints->has_control)
    joint_set_plan(joints, time, dt, before);
  return collect(joints, BY_MOTION, dt, inside, given, list);
}

PetscInt joint_set_constrain_velocity(JointSet joints, const PetscBool inside[], const Twist given[],
                                      JointConstraint list[])
{
  joint_set_measure(joints);
  joint_set_hold_targets(joints);
  return collect(joints, BY_VELOCITY, 0., inside, given, list);
}

void joint_set_take_constraints(JointSet joints, JointPhase phase, PetscInt count,
                                const JointConstraint list[], const PetscReal impulses[])
{
  JointLoad *loads = phase == JOINTS_MOVE ? joints->moving_loads : joints->resting_loads;

  for (PetscInt n = 0; n < count; n++) {
    const JointConstraint *one = &list[n];
    const JointSide        side = one->body[CHILD] >= 0 ? CHILD : PARENT;
    const PetscReal        impulse = sign[side] * impulses[n];
    JointLoad             *load = &loads[one->joint];

    if (!one->is_angular)
      load->force = vector3_add(load->force, vector3_scale(impulse, one->row[side].linear));
    else
      load->torque = vector3_add(load->torque, vector3_scale(impulse, one->row[side].angular));
    if (one->is_drive)
      load->drive += impulses[n] * one->scale;
  }
}
