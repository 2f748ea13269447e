/* What joints do to the bodies that they hold: the impulses of a step over its length (docs/numerics.md,
   section 9).

   What the moves have given to the velocities stays; what the solves of step V have given counts only as
   found last, since the rounds with a fluid take back what they found before. */
#include "joint_impl.h"

static void add_load(JointLoad *sum, const JointLoad *load)
{
  sum->force = vector3_add(sum->force, load->force);
  sum->torque = vector3_add(sum->torque, load->torque);
  sum->drive += load->drive;
}

void joint_set_add_impulses(JointSet joints, JointLoad loads[])
{
  for (PetscInt j = 0; j < joints->count; j++) {
    const JointRows *rows = &joints->rows[j];
    const Grip      *grip = &joints->grips[j];
    JointLoad        load = {{{0., 0., 0.}}, {{0., 0., 0.}}, 0.};

    for (PetscInt i = 0; i < rows->count; i++) {
      const PetscReal impulse = joints->impulses[j][i];

      load.force = vector3_add(load.force, vector3_scale(impulse, rows->row[i].force));
      if (vector3_dot(rows->row[i].force, rows->row[i].force) == 0.) /* else it acts at the anchor */
        load.torque = vector3_add(load.torque, vector3_scale(impulse, rows->row[i].torque[CHILD]));
    }
    if (grip->angle != HOLD_NOTHING) {
      const PetscInt i = rows->count - grip_rows(grip);

      load.drive = joints->impulses[j][i] * joints->scalings[j].scale[i];
    }
    add_load(&loads[j], &load);
  }
}

void joint_set_begin_loads(JointSet joints)
{
  memset(joints->moving_loads, 0, (size_t)joints->count * sizeof(JointLoad));
  joint_set_clear_resting(joints);
  joints->load_span = 0.;
}

void joint_set_clear_resting(JointSet joints)
{
  memset(joints->resting_loads, 0, (size_t)joints->count * sizeof(JointLoad));
}

void joint_set_begin_part(JointSet joints, PetscReal dt)
{
  for (PetscInt j = 0; j < joints->count; j++)
    add_load(&joints->moving_loads[j], &joints->resting_loads[j]);
  joint_set_clear_resting(joints);
  joints->load_span += dt;
}

/* Of the first step there is none before it. */
JointLoad joint_set_load(JointSet joints, PetscInt joint)
{
  const PetscReal per = joints->load_span > 0. ? 1. / joints->load_span : NAN;
  JointLoad       load = joints->moving_loads[joint];

  add_load(&load, &joints->resting_loads[joint]);
  load.force = vector3_scale(per, load.force);
  load.torque = vector3_scale(per, load.torque);
  load.drive *= per;
  return load;
}

JointPlace joint_set_place(JointSet joints, PetscInt joint)
{
  const Joint    *of = &joints->joints[joint];
  const PetscReal length = vector3_norm(of->config->axis);
  const Vector3   axis = vector3_scale(length > 0. ? 1. / length : 0., of->config->axis);

  return (JointPlace){of->body[PARENT], of->body[CHILD], rigid_apply(&of->moved, of->config->anchor),
                      quaternion_rotate(of->moved.rotation, axis)};
}

PetscInt joint_set_find(JointSet joints, const JointConfig *config)
{
  PetscInt j = 0;

  while (j < joints->count && joints->joints[j].config != config)
    j++;
  return j;
}

PetscErrorCode JointSetBroadcastLoads(JointSet joints, MPI_Comm world, PetscMPIInt root)
{
  const PetscMPIInt numbers =
      (PetscMPIInt)(joints->count * (PetscInt)(sizeof(JointLoad) / sizeof(PetscReal)));

  PetscFunctionBegin;
  PetscCallMPI(MPI_Bcast(joints->moving_loads, numbers, MPIU_REAL, root, world));
  PetscCallMPI(MPI_Bcast(joints->resting_loads, numbers, MPIU_REAL, root, world));
  PetscCallMPI(MPI_Bcast(&joints->load_span, 1, MPIU_REAL, root, world));
  PetscFunctionReturn(0);
}
