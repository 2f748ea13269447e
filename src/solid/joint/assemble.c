/* The system of all joints, K = J M^-1 J^T, and its action on velocities (docs/numerics.md, section 9). */
#include "joint_impl.h"

static const PetscReal sign[SIDES] = {[PARENT] = -1, [CHILD] = 1};
static const PetscReal smallest = 1e-12; /* pivot, of a unit diagonal: redundant rows leave 1e-15 or so */

void joint_placements(const Joint *joint, const RigidTransform placements[], RigidTransform at[SIDES])
{
  for (JointSide s = PARENT; s < SIDES; s++)
    at[s] = joint->body[s] < 0 ? (RigidTransform){{{0, 0, 0}}, {1, {{0, 0, 0}}}} : placements[joint->body[s]];
}

void joint_set_measure(JointSet joints)
{
  for (PetscInt j = 0; j < joints->count; j++) {
    Grip          *grip = &joints->grips[j];
    RigidTransform at[SIDES];
    JointGeometry  geometry;

    grip->angle = grip->swing = HOLD_NOTHING;
    if (!joints->has_limits && !joints->has_control)
      continue;
    joint_placements(&joints->joints[j], joints->solid->placements, at);
    geometry = joint_geometry(&joints->joints[j], at);
    grip->angle_before = joint_angle(&joints->joints[j], &geometry);
    grip->swing_before = joint_swing(&geometry);
  }
}

static PetscReal limited(PetscReal value, PetscReal largest)
{
  return PetscMin(PetscMax(value, -largest), largest);
}

static PetscReal row_unit(const Joint *joint, const JointRow *row)
{
  return vector3_dot(row->force, row->force) > 0 ? joint->reach : 1;
}

/* What an impulse along a row does, and the rows scaled such that it changes its own rate by one. */
static void respond(JointSet joints, PetscInt j)
{
  const Mobility still = {0};
  const Joint   *joint = &joints->joints[j];
  JointRows     *rows = &joints->rows[j];
  Scaling       *scaling = &joints->scalings[j];
  Vector3(*spin)[SIDES] = joints->spins[j];
  const Mobility *mobility[SIDES];

  for (JointSide s = PARENT; s < SIDES; s++)
    mobility[s] = joint->body[s] < 0 ? &still : &joints->solid->mobilities[joint->body[s]];
  for (PetscInt i = 0; i < rows->count; i++) {
    JointRow *row = &rows->row[i];
    PetscReal diagonal = 0, scale;

    for (JointSide s = PARENT; s < SIDES; s++) {
      spin[i][s] = matrix3_apply(&mobility[s]->inverse_inertia, row->torque[s]);
      diagonal += mobility[s]->inverse_mass * vector3_dot(row->force, row->force) +
                  vector3_dot(row->torque[s], spin[i][s]);
    }
    scaling->lag[i] = 0;
    if (i < rows->count - grip_rows(&joints->grips[j]))
      scaling->lag[i] = rows->residual[i] - limited(rows->residual[i], 0.1 * row_unit(joint, row));
    scale = diagonal > 0 ? 1 / PetscSqrtReal(diagonal) : 0;
    scaling->scale[i] = scale;
    row->force = vector3_scale(scale, row->force);
    for (JointSide s = PARENT; s < SIDES; s++) {
      row->torque[s] = vector3_scale(scale, row->torque[s]);
      spin[i][s] = vector3_scale(scale, spin[i][s]);
    }
  }
}

/* block += left M^-1 right^T by way of one body. */
VECTOR_CLONES static void add_block(PetscReal inverse_mass, const JointRows *left, JointSide left_side,
                                    const JointRows *right, const Vector3 (*spin)[SIDES],
                                    JointSide right_side, Block block)
{
  const PetscReal both = sign[left_side] * sign[right_side];

  for (PetscInt k = 0; k < right->count; k++) {
    const Vector3 push = vector3_scale(both * inverse_mass, right->row[k].force);
    const Vector3 turn = vector3_scale(both, spin[k][right_side]);

    for (PetscInt i = 0; i < left->count; i++)
      block[i][k] +=
          vector3_dot(left->row[i].force, push) + vector3_dot(left->row[i].torque[left_side], turn);
  }
}

/* With the rows of `left` for what is measured and those of time n, which cause `spins`, for the impulses. If
   both are the same, the lower blocks are left to the factorisation. */
static void assemble(JointSet joints, const JointRows left[], const Spins spins[])
{
  const Mobility *mobilities = joints->solid->mobilities;

  block_matrix_clear(joints->matrix, joints->sizes);
  for (PetscInt j = 0; j < joints->count; j++)
    for (JointSide s = PARENT; s < SIDES; s++) {
      const PetscInt body = joints->joints[j].body[s];

      if (body >= 0 && mobilities[body].inverse_mass > 0)
        add_block(mobilities[body].inverse_mass, &left[j], s, &joints->rows[j], spins[j], s,
                  block_matrix_at(joints->matrix, j, j));
    }
  for (PetscInt c = 0; c < joints->joint_pair_count; c++) {
    const JointPair *joint_pair = &joints->joint_pairs[c];

    for (PetscInt end = 0; end < (left == joints->rows ? 1 : 2); end++) {
      const PetscInt j = joint_pair->joint[end], k = joint_pair->joint[1 - end];

      add_block(mobilities[joint_pair->body].inverse_mass, &left[j], joint_pair->side[end], &joints->rows[k],
                spins[k], joint_pair->side[1 - end], *joint_pair->block[end]);
    }
  }
}

/* Contact asks again and again within a step. */
static PetscBool is_factored(JointSet joints)
{
  if (!joints->is_factored)
    return PETSC_FALSE;
  for (PetscInt k = 0; k < joints->body_count; k++) {
    const PetscInt b = joints->bodies[k];

    if (memcmp(&joints->factored_at[b], &joints->solid->placements[b], sizeof(RigidTransform)) != 0 ||
        memcmp(&joints->factored_with[b], &joints->solid->mobilities[b], sizeof(Mobility)) != 0)
      return PETSC_FALSE;
  }
  for (PetscInt j = 0; j < joints->count; j++) {
    const Grip *was = &joints->factored_for[j], *is = &joints->grips[j];

    if (was->angle != is->angle || was->swing != is->swing || was->aim != is->aim)
      return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

static void remember_factored(JointSet joints)
{
  joints->is_factored = PETSC_TRUE;
  for (PetscInt k = 0; k < joints->body_count; k++) {
    joints->factored_at[joints->bodies[k]] = joints->solid->placements[joints->bodies[k]];
    joints->factored_with[joints->bodies[k]] = joints->solid->mobilities[joints->bodies[k]];
  }
  memcpy(joints->factored_for, joints->grips, (size_t)joints->count * sizeof(Grip));
}

void joint_set_factorize(JointSet joints)
{
  if (is_factored(joints))
    return;
  for (PetscInt j = 0; j < joints->count; j++) {
    RigidTransform at[SIDES];

    joint_placements(&joints->joints[j], joints->solid->placements, at);
    joint_rows(&joints->joints[j], at, &joints->grips[j], ROWS_AS_IMPULSES, &joints->rows[j]);
    joints->sizes[j] = joints->rows[j].count;
    respond(joints, j);
    for (PetscInt i = 0; i < ROWS; i++)
      joints->kept[j][i] = PETSC_TRUE;
  }
  assemble(joints, joints->rows, (const Spins *)joints->spins);
  block_matrix_factor(joints->matrix, BLOCKS_SYMMETRIC, smallest, joints->kept);
  remember_factored(joints);
}

/* The derivative of the rotation over dt by the spin, over dt, by differences. */
static Matrix3 turning_of(const Body *body, const RigidTransform *from, const Twist *twist, PetscReal dt)
{
  const PetscReal      change = 1e-6 / dt; /* rad/s: half of the digits */
  const RigidTransform there = body_moved(body, from, twist, dt);
  Matrix3              turning;

  for (PetscInt d = 0; d < DIM; d++) {
    Twist          other = *twist;
    RigidTransform moved;
    Quaternion     turn;

    other.angular.at[d] += change;
    moved = body_moved(body, from, &other, dt);
    turn = quaternion_multiply(moved.rotation, quaternion_conjugate(there.rotation));
    for (PetscInt i = 0; i < DIM; i++)
      turning.at[i][d] = 2 * (turn.scalar < 0 ? -1 : 1) * turn.vector.at[i] / (dt * change);
  }
  return turning;
}

void joint_set_differentiate(JointSet joints, PetscReal dt, const Twist twists[])
{
  Solid solid = joints->solid;

  for (PetscInt k = 0; k < joints->body_count; k++) {
    const PetscInt b = joints->bodies[k];
    const Matrix3  turning = turning_of(&solid->bodies[b], &solid->placements[b], &twists[b], dt);

    joints->turning[b] = matrix3_transpose(&turning);
  }
  for (PetscInt j = 0; j < joints->count; j++)
    for (PetscInt i = 0; i < joints->rows[j].count; i++) {
      JointRow       *row = &joints->ahead[j].row[i];
      const PetscReal scale = joints->scalings[j].scale[i];

      row->force = vector3_scale(scale, row->force);
      for (JointSide s = PARENT; s < SIDES; s++)
        if (joints->joints[j].body[s] >= 0)
          row->torque[s] = vector3_scale(
              scale, matrix3_apply(&joints->turning[joints->joints[j].body[s]], row->torque[s]));
    }
}

void joint_set_factorize_ahead(JointSet joints, const Spins spins[])
{
  joints->is_factored = PETSC_FALSE;
  assemble(joints, joints->ahead, spins);
  block_matrix_factor(joints->matrix, BLOCKS_GENERAL, smallest, joints->kept);
}

void joint_set_rates(JointSet joints, const JointRows rows[], const Twist twists[], PetscReal rates[][ROWS])
{
  for (PetscInt j = 0; j < joints->count; j++)
    for (PetscInt i = 0; i < rows[j].count; i++) {
      const JointRow *row = &rows[j].row[i];

      rates[j][i] = 0;
      for (JointSide s = PARENT; s < SIDES; s++) {
        const PetscInt body = joints->joints[j].body[s];

        if (body >= 0)
          rates[j][i] += sign[s] * (vector3_dot(row->force, twists[body].linear) +
                                    vector3_dot(row->torque[s], twists[body].angular));
      }
    }
}

void joint_set_push(JointSet joints, PetscReal factor, PetscReal impulses[][ROWS], const Spins spins[],
                    Twist twists[])
{
  for (PetscInt j = 0; j < joints->count; j++)
    for (JointSide s = PARENT; s < SIDES; s++) {
      const PetscInt body = joints->joints[j].body[s];
      Vector3        force = vector3(0, 0, 0), spin = force;

      if (body < 0)
        continue;
      for (PetscInt i = 0; i < joints->rows[j].count; i++) {
        const PetscReal impulse = sign[s] * factor * impulses[j][i];

        force = vector3_add(force, vector3_scale(impulse, joints->rows[j].row[i].force));
        spin = vector3_add(spin, vector3_scale(impulse, spins[j][i][s]));
      }
      force = vector3_scale(joints->solid->mobilities[body].inverse_mass, force);
      twists[body].linear = vector3_add(twists[body].linear, force);
      twists[body].angular = vector3_add(twists[body].angular, spin);
    }
}

PetscReal joint_set_predict(JointSet joints, PetscReal dt, const Twist twists[])
{
  const PetscReal part = 1e-10;
  Solid           solid = joints->solid;
  PetscReal       largest = 0;

  for (PetscInt k = 0; k < joints->body_count; k++) {
    const PetscInt b = joints->bodies[k];

    joints->moved[b] = body_moved(&solid->bodies[b], &solid->placements[b], &twists[b], dt);
  }
  for (PetscInt j = 0; j < joints->count; j++) {
    const Joint   *joint = &joints->joints[j];
    JointRows     *ahead = &joints->ahead[j];
    RigidTransform at[SIDES];

    joint_placements(joint, joints->moved, at);
    joint_rows(joint, at, &joints->grips[j], ROWS_AS_DERIVATIVES, ahead);
    for (PetscInt i = 0; i < ahead->count; i++) {
      ahead->residual[i] -= joints->scalings[j].lag[i];
      largest =
          PetscMax(largest, PetscAbsReal(ahead->residual[i]) / (part * row_unit(joint, &ahead->row[i])));
    }
  }
  return largest;
}
