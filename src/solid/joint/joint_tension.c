/* Joints under tension (docs/numerics.md, section 9).

   A body of inertia I that is pulled at an arm r by a force F swings about the line of the pull, I w^2 = F r.
   If impulses act at the arms of time n that is an explicit step, stable up to w dt = 2: a light link in a
   heavy chain is beyond. Impulses that act later, at r(t + lead dt), are stable up to (w dt)^2 (1 - lead) = 4
   and damp the faster swings; lead = 0 as long as w dt <= 1, so that the order stays. Both bodies still take
   the impulse at one point. */
#include "joint_impl.h"

static const PetscReal sign[SIDES] = {[PARENT] = -1, [CHILD] = 1};

/* The impulse on the child, without torques. */
static Vector3 force_of(JointSet joints, PetscInt j)
{
  Vector3 force = vector3(0, 0, 0);

  for (PetscInt i = 0; i < joints->rows[j].count; i++)
    force = vector3_add(force, vector3_scale(joints->impulses[j][i], joints->rows[j].row[i].force));
  return force;
}

/* Where the impulse acts with the bodies at `at`. */
static Vector3 point_of(const Joint *joint, const RigidTransform at[SIDES])
{
  const Vector3 child = rigid_apply(&at[CHILD], joint->anchor[CHILD]);

  if (joint->config->kind == JOINT_PRISMATIC)
    return child;
  return vector3_scale(0.5, vector3_add(child, rigid_apply(&at[PARENT], joint->anchor[PARENT])));
}

/* dt w^2 dt from all joints of a body: the trace of I^-1 dt ((f.r) 1 - r f^T), f = F dt/2 acting twice. */
static void measure_stiffness(JointSet joints, PetscReal dt)
{
  Solid solid = joints->solid;

  for (PetscInt k = 0; k < joints->body_count; k++)
    joints->stiffness[joints->bodies[k]] = 0;
  for (PetscInt j = 0; j < joints->count; j++) {
    const Joint  *joint = &joints->joints[j];
    const Vector3 force = force_of(joints, j);

    for (JointSide s = PARENT; s < SIDES; s++) {
      const PetscInt body = joint->body[s];
      const Matrix3 *inverse;
      Vector3        arm;

      if (body < 0)
        continue;
      inverse = &solid->mobilities[body].inverse_inertia;
      arm = quaternion_rotate(solid->placements[body].rotation, joint->anchor[s]);
      joints->stiffness[body] +=
          sign[s] * dt *
          (vector3_dot(force, arm) * (inverse->at[X][X] + inverse->at[Y][Y] + inverse->at[Z][Z]) -
           vector3_dot(force, matrix3_apply(inverse, arm)));
    }
  }
}

PetscBool joint_set_is_stiff(JointSet joints, PetscReal dt)
{
  PetscBool stiff = PETSC_FALSE;

  measure_stiffness(joints, dt);
  for (PetscInt j = 0; j < joints->count; j++) {
    const PetscInt *body = joints->joints[j].body;
    PetscReal       largest = 1;

    for (JointSide s = PARENT; s < SIDES; s++)
      if (body[s] >= 0)
        largest = PetscMax(largest, joints->stiffness[body[s]]);
    joints->leads[j] = 1 - 1 / largest;
    if (largest > 1)
      stiff = PETSC_TRUE;
  }
  return stiff;
}

/* How what hangs together travels as a whole, `travels` by its first joint. The points move relative to that:
   a common velocity changes nothing. What hangs on something that is not free travels with it. */
static void measure_travel(JointSet joints)
{
  Solid solid = joints->solid;

  for (PetscInt j = 0; j < joints->count; j++)
    joints->travels[j] = (Travel){{{0, 0, 0}}, 0};
  for (PetscInt j = 0; j < joints->count; j++)
    for (JointSide s = PARENT; s < SIDES; s++) {
      const PetscInt body = joints->joints[j].body[s];
      Travel        *travel = &joints->travels[joints->joints[j].group];
      const Vector3  velocity = body < 0 ? vector3(0, 0, 0) : joints->saved[body].linear;

      if (body < 0 || solid->mobilities[body].inverse_mass == 0)
        *travel = (Travel){velocity, PETSC_INFINITY};
      else if (travel->mass < PETSC_INFINITY) {
        const PetscReal mass = travel->mass + solid->bodies[body].mass;

        /* bodies with several joints count as often: any mean does */
        travel->velocity = vector3_add(vector3_scale(travel->mass / mass, travel->velocity),
                                       vector3_scale(solid->bodies[body].mass / mass, velocity));
        travel->mass = mass;
      }
    }
}

/* The rows at the points where the impulses now act, and what they do. */
static void move_points(JointSet joints, PetscReal dt)
{
  Solid solid = joints->solid;

  for (PetscInt j = 0; j < joints->count; j++) {
    const Joint   *joint = &joints->joints[j];
    RigidTransform now[SIDES], then[SIDES];
    Vector3        from, way, point;

    if (joints->leads[j] == 0)
      continue;
    joint_placements(joint, solid->placements, now);
    joint_placements(joint, joints->moved, then);
    from = point_of(joint, now);
    way = vector3_subtract(vector3_subtract(point_of(joint, then), from),
                           vector3_scale(dt, joints->travels[joint->group].velocity));
    point = vector3_add(from, vector3_scale(joints->leads[j], way));
    for (PetscInt i = 0; i < joints->rows[j].count; i++) {
      JointRow *row = &joints->rows[j].row[i];

      for (JointSide s = PARENT; s < SIDES && vector3_dot(row->force, row->force) > 0; s++) {
        row->torque[s] = vector3_cross(vector3_subtract(point, now[s].position), row->force);
        if (joint->body[s] >= 0)
          joints->spins[j][i][s] =
              matrix3_apply(&solid->mobilities[joint->body[s]].inverse_inertia, row->torque[s]);
      }
    }
  }
}

/* matrix -= I^-1 lead dt (r f^T - (f.r) 1) T, with r the arm ahead and f the impulse on the body. */
static void add_tension(JointSet joints, PetscInt j, JointSide side, PetscReal dt, Matrix3 *matrix)
{
  const Joint   *joint = &joints->joints[j];
  const PetscInt body = joint->body[side];
  const Vector3  f = vector3_scale(sign[side] * joints->leads[j] * dt, force_of(joints, j));
  const Vector3  r = quaternion_rotate(joints->moved[body].rotation, joint->anchor[side]);
  const Matrix3  turning = matrix3_transpose(&joints->turning[body]);
  Matrix3        change;

  for (PetscInt a = 0; a < DIM; a++)
    for (PetscInt b = 0; b < DIM; b++)
      change.at[a][b] = r.at[a] * f.at[b] - (a == b) * vector3_dot(f, r);
  change = matrix3_multiply(&change, &turning);
  change = matrix3_multiply(&joints->solid->mobilities[body].inverse_inertia, &change);
  for (PetscInt a = 0; a < DIM; a++)
    for (PetscInt b = 0; b < DIM; b++)
      matrix->at[a][b] -= change.at[a][b];
}

static void soften(JointSet joints, PetscReal dt)
{
  for (PetscInt k = 0; k < joints->body_count; k++)
    joints->softening[joints->bodies[k]] = (Matrix3){{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
  for (PetscInt j = 0; j < joints->count; j++)
    for (JointSide s = PARENT; s < SIDES; s++)
      if (joints->joints[j].body[s] >= 0 && joints->leads[j] > 0)
        add_tension(joints, j, s, dt, &joints->softening[joints->joints[j].body[s]]);
  for (PetscInt k = 0; k < joints->body_count; k++)
    joints->softening[joints->bodies[k]] = matrix3_inverse(&joints->softening[joints->bodies[k]]);
  for (PetscInt j = 0; j < joints->count; j++)
    for (JointSide s = PARENT; s < SIDES; s++)
      for (PetscInt i = 0; i < joints->rows[j].count && joints->joints[j].body[s] >= 0; i++)
        joints->soft_spins[j][i][s] =
            matrix3_apply(&joints->softening[joints->joints[j].body[s]], joints->spins[j][i][s]);
}

/* What the impulses make of the velocities before, with the present points. */
static void follow_impulses(JointSet joints, Twist twists[])
{
  for (PetscInt k = 0; k < joints->body_count; k++)
    twists[joints->bodies[k]] = joints->saved[joints->bodies[k]];
  joint_set_push(joints, 1, joints->impulses, (const Spins *)joints->spins, twists);
}

/* `lacking` is by how much the velocities fall short of what the impulses make of them; the largest rotation
   that this leaves out. */
static PetscReal find_lack(JointSet joints, PetscReal dt, const Twist twists[], Twist lacking[])
{
  PetscReal largest = 0;

  follow_impulses(joints, lacking);
  for (PetscInt k = 0; k < joints->body_count; k++) {
    const PetscInt b = joints->bodies[k];

    lacking[b].linear = vector3_subtract(lacking[b].linear, twists[b].linear);
    lacking[b].angular = vector3_subtract(lacking[b].angular, twists[b].angular);
    largest = PetscMax(largest, dt * vector3_norm(lacking[b].angular));
  }
  return largest;
}

/* One Newton step in velocities and impulses together. */
static void improve(JointSet joints, PetscReal dt, Twist lacking[], Twist twists[])
{
  joint_set_differentiate(joints, dt, twists);
  soften(joints, dt);
  joint_set_factorize_ahead(joints, (const Spins *)joints->soft_spins);
  for (PetscInt k = 0; k < joints->body_count; k++) {
    Twist *twist = &lacking[joints->bodies[k]];

    twist->angular = matrix3_apply(&joints->softening[joints->bodies[k]], twist->angular);
  }
  joint_set_rates(joints, joints->ahead, lacking, joints->step);
  for (PetscInt j = 0; j < joints->count; j++)
    for (PetscInt i = 0; i < joints->rows[j].count; i++)
      joints->step[j][i] =
          -joints->scalings[j].scale[i] * joints->ahead[j].residual[i] / dt - joints->step[j][i];
  block_matrix_solve(joints->matrix, joints->step);
  joint_set_push(joints, 1, joints->step, (const Spins *)joints->soft_spins, lacking);
  for (PetscInt k = 0; k < joints->body_count; k++) {
    const PetscInt b = joints->bodies[k];

    twists[b].linear = vector3_add(twists[b].linear, lacking[b].linear);
    twists[b].angular = vector3_add(twists[b].angular, lacking[b].angular);
  }
  for (PetscInt j = 0; j < joints->count; j++)
    for (PetscInt i = 0; i < joints->rows[j].count; i++)
      joints->impulses[j][i] += joints->step[j][i];
}

PetscBool joint_set_solve_stiff(JointSet joints, PetscReal dt, Twist twists[])
{
  enum { ITERATIONS = 20 };
  const PetscReal enough = 1e-10;
  Twist          *lacking = joints->lacking;

  joints->is_factored = PETSC_FALSE; /* the rows will move */
  measure_travel(joints);
  for (PetscInt iteration = 0; iteration < ITERATIONS; iteration++) {
    const PetscReal error = joint_set_predict(joints, dt, twists);
    PetscReal       lack;

    move_points(joints, dt);
    lack = find_lack(joints, dt, twists, lacking);
    if (error <= 1 && lack <= enough) {
      follow_impulses(joints, twists);
      return PETSC_TRUE;
    }
    improve(joints, dt, lacking, twists);
  }
  return PETSC_FALSE;
}
