/* The five steps I to V of a time step of solids (3.2; docs/numerics.md, 8). */
#include "contact/mesh/mesh_contact.h"
#include "contact/point_contact.h"
#include "deformable/distribution.h"
#include "step.h"

#include <millrace/solid_step.h>

/* Of gravity and what the scene gives. */
static Twist body_acceleration(Solid solid, PetscInt b, const BodyLoad *load)
{
  const Mobility *mobility = &solid->mobilities[b];
  Twist           acceleration = {{{0}}, {{0}}};

  if (!body_is_free(&solid->bodies[b]))
    return acceleration;
  acceleration.linear =
      vector3_add(solid->config->gravity, vector3_scale(mobility->inverse_mass, load->force));
  acceleration.angular = matrix3_apply(&mobility->inverse_inertia, load->torque);
  return acceleration;
}

void solid_fill_loads(Solid solid, PetscReal time, PetscReal dt, BodyLoad loads[])
{
  for (PetscInt b = 0; b < solid->body_count; b++)
    loads[b] = body_load(&solid->bodies[b], &solid->placements[b], time);
  if (solid->config->joint_count)
    joint_set_add_motors(solid->joints, time, dt, loads);
}

static void begin_loads(Solid solid, PetscReal time, PetscReal dt)
{
  solid_fill_loads(solid, time, dt, solid->step->begun);
  solid->step->begun_is_known = PETSC_TRUE;
}

/* I: v + dt/2 a; kinematic bodies take the velocity that leads them exactly to where they shall be. */
static void predict(Solid solid, PetscReal time, PetscReal dt, Twist half[])
{
  begin_loads(solid, time, dt);
  if (solid->config->joint_count)
    joint_set_begin_part(solid->joints, dt);
  for (PetscInt b = 0; b < solid->body_count; b++) {
    const Twist acceleration = body_acceleration(solid, b, &solid->step->begun[b]);

    half[b] = twist_add(solid->twists[b], twist_scale(0.5 * dt, acceleration));
    if (solid->bodies[b].config->kind == BODY_KINEMATIC) {
      const RigidTransform there = body_prescribed(&solid->bodies[b], time + dt);

      half[b] = twist_between(&solid->placements[b], &there, dt);
    }
  }
}

/* Contacts and levels for a motion by `falling`, which forces have made of `still`. */
static PetscErrorCode FindContacts(Solid solid, PetscReal dt, const Twist still[], const Twist falling[])
{
  PetscFunctionBegin;
  PetscCall(ContactSetFind(solid->contacts, solid, dt, falling));
  PetscCall(ContactSetLevel(solid->contacts, solid, dt, still, falling));
  PetscFunctionReturn(0);
}

/* II: vⁿ -> v̂ⁿ by impacts; `half` follows. */
static PetscErrorCode Collide(Solid solid, PetscReal dt, Twist half[])
{
  Step       *step = solid->step;
  SolidMotion motion = {solid->points->velocity, solid->twists};

  PetscFunctionBegin;
  for (PetscInt b = 0; b < solid->body_count; b++)
    step->change[b] = twist_add(half[b], twist_scale(-1, solid->twists[b]));
  springs_remember(solid, &motion);
  PetscCall(ContactSetCollide(solid->contacts, solid, dt, step->change, half, &solid->report.collisions));
  if (!solid->report.collisions)
    PetscFunctionReturn(0);
  PetscCall(JointSetPoststabilize(solid->joints, solid->twists));
  PetscCall(SpringsAnswer(solid, &motion));
  for (PetscInt b = 0; b < solid->body_count; b++)
    half[b] = twist_add(solid->twists[b], step->change[b]);
  for (PetscInt p = 0; p < solid->points->count && solid->points->springs.is_joining; p++)
    solid->points->half.points[p] =
        vector3_add(solid->points->half.points[p], solid->points->springs.yielded.points[p]);
  PetscFunctionReturn(0);
}

/* In a fluid C has these contacts. */
static void solve_points(Solid solid, PointContactPhase phase, PetscReal dt, SolidMotion *motion)
{
  if (!solid->points->in_fluid)
    point_contacts_solve(solid, phase, dt, motion);
}

static PetscErrorCode JoinMotion(Solid solid, const ContactSolve *solve, Twist twists[])
{
  SolidMotion motion = {solid->points->half.points, twists};

  PetscFunctionBegin;
  if (solid->config->joint_count)
    PetscCall(JointSetControlMotion(solid->joints, solve->time, solve->dt, solid->step->before, twists));
  PetscCall(SpringsAnswer(solid, &motion));
  PetscCall(SpringsFollowTurns(solid, solve->dt, &motion));
  solve_points(solid, POINTS_MOVE, solve->dt, &motion);
  PetscFunctionReturn(0);
}

static PetscErrorCode JoinVelocity(Solid solid, const ContactSolve *solve, Twist twists[])
{
  SolidMotion motion = {solid->points->velocity, twists};

  PetscFunctionBegin;
  if (solid->config->joint_count)
    PetscCall(JointSetControlVelocity(solid->joints, twists));
  PetscCall(SpringsAnswer(solid, &motion));
  solve_points(solid, POINTS_REST, solve->dt, &motion);
  PetscFunctionReturn(0);
}

/* Whether contact of bodies takes turns with joints, binding springs or points. */
static PetscBool is_joined(Solid solid)
{
  return solid->config->joint_count || solid->points->springs.is_joining || point_contacts_push(solid)
             ? PETSC_TRUE
             : PETSC_FALSE;
}

/* III: the velocity that moves the bodies. How joints answer to forces belongs to the velocity too
   (numerics.md, 9); contact, and how joints answer to it, holds corrections of the position and does not. */
static PetscErrorCode ConstrainMotion(Solid solid, PetscReal time, PetscReal dt, Twist half[])
{
  const ContactSolve solve = {PHASE_POSITION, time, dt, is_joined(solid) ? JoinMotion : NULL};
  SolidMotion        motion = {solid->points->half.points, half};

  PetscFunctionBegin;
  springs_remember(solid, &motion);
  if (solid->config->joint_count) {
    PetscCall(PetscArraycpy(solid->step->before, solid->twists, solid->body_count));
    PetscCall(JointSetControlMotion(solid->joints, time, dt, solid->step->before, half));
    PetscCall(JointSetCarryImpulses(solid->joints, solid->twists));
    bone_joints_carry(solid);
  }
  solve_points(solid, POINTS_MOVE, dt, &motion);
  PetscCall(ContactSetSolve(solid->contacts, solid, &solve, half, &solid->report.position_iterations));
  solve_points(solid, POINTS_MOVE, dt, &motion);
  PetscFunctionReturn(0);
}

/* Of a body's momentum about its centre after it moves. Contact in III carries it aside by dt times d,
   without its velocity v knowing; that alone would change the momentum about a fixed point by dt m d x v.
   Where nothing fixed could take that up, the spin gives it back. */
static Vector3 kept_spin_momentum(Solid solid, PetscInt b, PetscReal dt, const Twist *half)
{
  const Body   *body = &solid->bodies[b];
  const Vector3 velocity = solid->twists[b].linear;
  const Vector3 momentum = body_angular_momentum(body, &solid->placements[b], solid->twists[b].angular);
  const Vector3 aside =
      vector3_subtract(vector3_subtract(half->linear, velocity), solid->step->change[b].linear);

  if (solid->contacts->grounded[b])
    return momentum;
  return vector3_subtract(momentum, vector3_scale(dt * body->mass, vector3_cross(aside, velocity)));
}

/* In two dimensions round-off must not lead out of the plane. */
static void flatten(Solid solid)
{
  for (PetscInt b = 0; b < solid->body_count && solid->config->planar; b++)
    solid->twists[b].linear.at[Z] = solid->twists[b].angular.at[X] = solid->twists[b].angular.at[Y] = 0.;
}

/* IV: positions; the angular momentum of v̂ⁿ stays, so its spin changes with the inertia. */
static void move(Solid solid, PetscReal time, PetscReal dt, const Twist half[])
{
  for (PetscInt b = 0; b < solid->body_count; b++) {
    const Body *body = &solid->bodies[b];
    Twist      *twist = &solid->twists[b];

    if (body_is_free(body)) {
      const Vector3 momentum = kept_spin_momentum(solid, b, dt, &half[b]);

      solid->placements[b] = body_moved(body, &solid->placements[b], &half[b], dt);
      twist->angular = body_spin(body, &solid->placements[b], momentum);
    } else if (body->config->kind == BODY_KINEMATIC) {
      solid->placements[b] = body_prescribed(body, time + dt);
      *twist = body_prescribed_twist(body, time + dt);
    }
  }
  solid_refresh_mobilities(solid);
  flatten(solid);
}

PetscErrorCode SolidPredictHalf(Solid solid, PetscReal time, PetscReal dt, PetscReal **half)
{
  PetscFunctionBegin;
  if (solid->config->joint_count)
    joint_set_begin_loads(solid->joints);
  predict(solid, time, dt, solid->step->half);
  *half = (PetscReal *)solid->step->half;
  PetscFunctionReturn(0);
}

/* II to IV: impacts, contact, positions. */
static PetscErrorCode MoveBodies(Solid solid, PetscReal time, PetscReal dt)
{
  Twist *half = solid->step->half;

  PetscFunctionBegin;
  if (!contact_set_covers(solid->contacts, solid, dt, half))
    PetscCall(FindContacts(solid, dt, solid->twists, half));
  PetscCall(Collide(solid, dt, half));
  PetscCall(ConstrainMotion(solid, time, dt, half));
  move(solid, time, dt, half);
  PetscFunctionReturn(0);
}

/* What forces will add by the end of the step is twice what they did by its middle. */
PetscErrorCode SolidMove(Solid solid, PetscReal time, PetscReal dt)
{
  Twist *falling = solid->step->half;

  PetscFunctionBegin;
  PetscCall(MoveBodies(solid, time, dt));
  for (PetscInt b = 0; b < solid->body_count; b++)
    falling[b] = body_is_free(&solid->bodies[b])
                     ? twist_add(solid->twists[b], twist_scale(2., solid->step->change[b]))
                     : solid->twists[b];
  PetscCall(FindContacts(solid, dt, solid->twists, falling));
  PetscCall(ContactSetSeparate(solid->contacts, solid, &solid->report.push_outs));
  PetscFunctionReturn(0);
}

PetscErrorCode SolidGetEffective(Solid solid, PetscReal dt, PetscReal twists[])
{
  PetscFunctionBegin;
  for (PetscInt b = 0; b < solid_body_count(solid); b++)
    ((Twist *)twists)[b] = twist_between(&solid->kept_placements[b], &solid->placements[b], dt);
  PetscFunctionReturn(0);
}

PetscErrorCode SolidAccelerate(Solid solid, PetscReal time, PetscReal dt)
{
  PetscFunctionBegin;
  if (!solid->step->begun_is_known) /* this rank has not predicted, and nothing has moved since */
    begin_loads(solid, time, dt);
  solid_fill_loads(solid, time + dt, dt, solid->step->ended);
  for (PetscInt b = 0; b < solid->body_count; b++) {
    const BodyLoad load = body_load_mean(&solid->step->begun[b], &solid->step->ended[b]);

    solid->twists[b] = twist_add(solid->twists[b], twist_scale(dt, body_acceleration(solid, b, &load)));
  }
  solid->step->begun_is_known = PETSC_FALSE;
  PetscFunctionReturn(0);
}

PetscErrorCode SolidFindResting(Solid solid, PetscReal time, PetscReal dt)
{
  Step *step = solid->step;

  PetscFunctionBegin;
  predict(solid, time, dt, step->half);
  PetscCall(ContactSetFind(solid->contacts, solid, dt, solid->twists));
  PetscCall(ContactSetKeepResting(solid->contacts, solid, dt));
  PetscCall(ContactSetLevel(solid->contacts, solid, dt, solid->twists, step->half));
  if (solid->config->joint_count) {
    PetscCall(PetscArraycpy(step->before, solid->twists, solid->body_count));
    PetscCall(JointSetControlMotion(solid->joints, time, dt, step->before, step->half));
  }
  PetscFunctionReturn(0);
}

/* (M + M_a)^-1 = (1 + M^-1 M_a)^-1 M^-1, where M^-1 may be singular. */
static void weigh_down(Mobility *mobility, const AddedMass *added)
{
  Matrix3 ratio = matrix3_multiply(&mobility->inverse_inertia, &added->inertia);

  for (PetscInt d = 0; d < DIM; d++)
    ratio.at[d][d] += 1.;
  ratio = matrix3_inverse(&ratio);
  mobility->inverse_mass /= 1. + mobility->inverse_mass * added->mass;
  mobility->inverse_inertia = matrix3_multiply(&ratio, &mobility->inverse_inertia);
}

PetscErrorCode SolidConstrainVelocity(Solid solid, PetscReal time, PetscReal dt, const AddedMass added[])
{
  const ContactSolve solve = {PHASE_VELOCITY, time, dt, is_joined(solid) ? JoinVelocity : NULL};
  SolidMotion        motion = {solid->points->velocity, solid->twists};

  PetscFunctionBegin;
  for (PetscInt b = 0; b < solid_body_count(solid) && added; b++)
    weigh_down(&solid->mobilities[b], &added[b]);
  PetscCall(PointsGatherTouched(solid, motion.points));
  springs_remember(solid, &motion);
  if (solid->config->joint_count) {
    joint_set_clear_resting(solid->joints);
    PetscCall(JointSetControlVelocity(solid->joints, solid->twists));
    bone_joints_rest(solid);
  }
  solve_points(solid, POINTS_REST, dt, &motion);
  PetscCall(
      ContactSetSolve(solid->contacts, solid, &solve, solid->twists, &solid->report.velocity_iterations));
  solve_points(solid, POINTS_REST, dt, &motion);
  if (added)
    solid_refresh_mobilities(solid);
  flatten(solid);
  PetscFunctionReturn(0);
}

/* Steps I to V of bodies alone. */
static PetscErrorCode StepBodies(Solid solid, PetscReal time, PetscReal dt)
{
  Twist *still = solid->step->half;

  PetscFunctionBegin;
  predict(solid, time, dt, solid->step->half);
  PetscCall(MoveBodies(solid, time, dt));
  PetscCall(PetscArraycpy(still, solid->twists, solid->body_count));
  PetscCall(SolidAccelerate(solid, time, dt));
  PetscCall(FindContacts(solid, dt, still, solid->twists));
  PetscCall(ContactSetSeparate(solid->contacts, solid, &solid->report.push_outs));
  PetscCall(SolidConstrainVelocity(solid, time, dt, NULL));
  PetscFunctionReturn(0);
}

/* I to IV of bodies and points together. */
static PetscErrorCode MoveTogether(Solid solid, PetscReal time, PetscReal dt)
{
  SolidMotion half = {solid->points->half.points, solid->step->half};

  PetscFunctionBegin;
  predict(solid, time, dt, solid->step->half);
  points_set_time(solid, time);
  PetscCall(PointsPredict(solid, time, dt, half.bodies));
  if (!contact_set_covers(solid->contacts, solid, dt, half.bodies))
    PetscCall(FindContacts(solid, dt, solid->twists, half.bodies));
  PetscCall(Collide(solid, dt, half.bodies));
  if (!elastic_time_is_implicit(solid->config->elasticity)) { /* else the solve has done it */
    PetscCall(PointsGatherTouched(solid, solid->points->velocity));
    PetscCall(PointsGatherTouched(solid, half.points));
    point_contacts_collide(solid, dt, &half);
  }
  PetscCall(ConstrainMotion(solid, time, dt, half.bodies));
  if (solid->points->surface) {
    PetscCall(MeshContactsPress(solid, dt, &half));
    point_contacts_solve(solid, POINTS_MOVE, dt, &half);
  }
  move(solid, time, dt, half.bodies);
  PetscCall(PointsMove(solid, dt));
  if (solid->points->surface)
    PetscCall(MeshContactsSweep(solid, dt, &half));
  points_set_time(solid, time + dt);
  PetscFunctionReturn(0);
}

/* The end of IV: bodies leave each other and points the bodies. */
static PetscErrorCode SeparateTogether(Solid solid)
{
  PetscFunctionBegin;
  if (solid->points->surface)
    mesh_surface_remember(solid);
  PetscCall(ContactSetSeparate(solid->contacts, solid, &solid->report.push_outs));
  points_follow_position(solid);
  PetscCall(PointsGatherTouched(solid, solid->points->position));
  point_contacts_update(solid);
  point_contacts_separate(solid);
  if (solid->points->surface)
    PetscCall(MeshContactsKeepApart(solid));
  PetscFunctionReturn(0);
}

/* The same with V: forces are those at the final places. */
static PetscErrorCode StepTogether(Solid solid, PetscReal time, PetscReal dt)
{
  Twist *still = solid->step->half;

  PetscFunctionBegin;
  PetscCall(MoveTogether(solid, time, dt));
  PetscCall(PetscArraycpy(still, solid->twists, solid->body_count));
  PetscCall(SolidAccelerate(solid, time, dt));
  PetscCall(FindContacts(solid, dt, still, solid->twists));
  PetscCall(SeparateTogether(solid));
  PetscCall(PointsAccelerate(solid, dt, still));
  point_contacts_forget(solid);
  if (solid->points->surface)
    PetscCall(MeshContactsRest(solid, dt));
  PetscCall(SolidConstrainVelocity(solid, time, dt, NULL));
  points_follow_velocity(solid, solid->twists, solid->points->velocity);
  soft_points_drift(solid);
  PetscFunctionReturn(0);
}

PetscReal solid_longest_substep(Solid solid)
{
  return points_longest_step(solid);
}

PetscReal solid_usual_substep(Solid solid)
{
  return points_usual_step(solid);
}

/* The first element that its material cannot bring back. */
void solid_find_inverted(Solid solid)
{
  const Points *points = solid->points;

  solid->report.inverted_mesh = 0;
  if (!points->distribution)
    points_find_forces(solid);
  for (PetscInt m = 0; m < points->mesh_count && !solid->report.inverted_mesh; m++) {
    const Force *force = &points->meshes[m].forces[0];
    PetscInt     element;

    if (!points->meshes[m].force_count || force->kind->survives_inversion)
      continue;
    if (mesh_least_ratio(points, m, &element) <= 0.) {
      solid->report.inverted_mesh = m + 1;
      solid->report.inverted_element = element;
    }
  }
}

void solid_clear_mesh_report(SolidReport *report)
{
  report->is_tangled = PETSC_FALSE;
  report->mesh_pairs = report->mesh_passes = report->mesh_impulses = report->mesh_zones =
      report->mesh_clamped = 0;
}

static void clear_report(SolidReport *report)
{
  report->substeps = report->damping_iterations = report->newton_iterations = report->linear_iterations = 0;
  report->is_unstable = report->is_unsolved = PETSC_FALSE;
  solid_clear_mesh_report(report);
}

/* As many parts as the last step had, where they are enough and not twice what is needed: every change of
   their length feeds solids that nothing damps. */
static PetscReal choose_parts(PetscReal needed, PetscInt last)
{
  return (PetscReal)last >= needed && (PetscReal)last <= 2. * needed ? (PetscReal)last : needed;
}

/* Elasticity is explicit: a step is divided into as many equal ones as it needs, which are counted anew as
   elements stiffen. A step that would need more than anybody waits for has failed. */
static PetscErrorCode StepInParts(Solid solid, PetscReal time, PetscReal dt)
{
  enum { PARTS_BETWEEN = 16 };
  const PetscReal most_parts = 1e6;
  const PetscInt  last = solid->report.substeps;
  PetscReal       longest = 0., left = dt, planned = 0.;

  PetscFunctionBegin;
  clear_report(&solid->report);
  while (left > 0. && !solid->report.is_tangled) {
    PetscReal parts, part;

    if (solid->report.substeps % PARTS_BETWEEN == 0)
      PetscCall(PointsFindUsualStep(solid, &longest));
    parts = PetscMax(1., PetscCeilReal(left / longest * (1. - 1e-12)));
    if (!solid->report.substeps)
      planned = choose_parts(parts, last);
    parts = PetscMax(parts, planned - (PetscReal)solid->report.substeps);
    if (!(parts < most_parts)) {
      solid->report.is_unstable = PETSC_TRUE;
      PetscFunctionReturn(0);
    }
    part = left / parts;
    PetscCall(StepTogether(solid, time + dt - left, part));
    left = parts > 1. ? left - part : 0.;
    solid->report.substeps++;
  }
  if (solid->points->surface)
    PetscCall(MeshSurfaceCountCrossings(solid, solid->points->position, &solid->report.mesh_crossings));
  PetscCall(PointsComplete(solid));
  solid_find_inverted(solid);
  PetscFunctionReturn(0);
}

static PetscErrorCode StepWhole(Solid solid, PetscReal time, PetscReal dt)
{
  PetscFunctionBegin;
  clear_report(&solid->report);
  PetscCall(StepTogether(solid, time, dt));
  solid->report.substeps = 1;
  PetscCall(PointsComplete(solid));
  solid_find_inverted(solid);
  PetscFunctionReturn(0);
}

/* Kinematic bodies go on, the others stand still. */
static PetscErrorCode StepToEquilibrium(Solid solid, PetscReal time, PetscReal dt)
{
  PetscFunctionBegin;
  clear_report(&solid->report);
  PetscCall(PointsSolveStatic(solid, time + dt));
  for (PetscInt b = 0; b < solid->body_count; b++)
    if (solid->bodies[b].config->kind == BODY_KINEMATIC)
      solid->twists[b] = body_prescribed_twist(&solid->bodies[b], time + dt);
  solid->report.substeps = 1;
  solid->contacts->level_count = 0; /* bodies do not meet; a file has levels */
  PetscCall(PointsComplete(solid));
  solid_find_inverted(solid);
  PetscFunctionReturn(0);
}

PetscErrorCode SolidStep(Solid solid, PetscReal time, PetscReal dt)
{
  PetscFunctionBegin;
  distribution_begin(solid->points);
  if (solid->config->joint_count)
    joint_set_begin_loads(solid->joints);
  if (solid->points->mesh_count && solid->config->elasticity == ELASTIC_STATIC)
    PetscCall(StepToEquilibrium(solid, time, dt));
  else if (solid->points->mesh_count && elastic_time_is_implicit(solid->config->elasticity))
    PetscCall(StepWhole(solid, time, dt));
  else if (solid->points->mesh_count)
    PetscCall(StepInParts(solid, time, dt));
  else if (solid->points->count)
    PetscCall(StepTogether(solid, time, dt));
  else
    PetscCall(StepBodies(solid, time, dt));
  distribution_end(solid->points);
  PetscFunctionReturn(0);
}
