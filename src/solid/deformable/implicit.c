/* Implicit elasticity and static equilibrium (docs/numerics.md, 17). The step looks for u with

     M u = M v^n + g dt M a + s dt f^n + e dt f(x^n + dt u) + d dt D^n u + contact

   in points and in the bodies that carry or touch points: Newmark's trapezoidal rule with g = d = 1/2, s = e
   = 1/4, backward Euler with g = d = e = 1, s = 0. In equilibrium M and D do not count, and u is the
   displacement. Newton's method on the definite stiffness, with a line search on the potential whose slope
   the residual is:

     1/2 |u - v|_M^2 + e W(x^n + dt u) - d dt/2 u.D u,    v = v^n + g dt a + s dt M^-1 f^n

   Contact with what is not free is a part of it (implicit_contact.c), with friction as it is between two
   iterations. */
#include "distribution.h"
#include "implicit_contact.h"

#include <petsctime.h>

static const PetscReal newton_tolerance = 1e-8, rounded_tolerance = 1e-5;

typedef struct {
  Solid           solid;
  PetscReal       time, dt;
  ImplicitScheme  scheme;
  PetscBool       is_static;
  Vector3        *position;  /* x^n */
  RigidTransform *placement; /* of bodies then */
  SolidMotion    *target;    /* v, of M (u - v) */
  SolidMotion     given;     /* v without elastic forces, of bodies */
  SolidMotion     motion;    /* u, and its last change */
  SolidMotion    *change, *residual, *drag;
  ReproducibleSum inertial; /* J: of the potential, what is not elastic, of own points */
  PetscReal       inertial_of_bodies;
  PetscReal       noise;   /* J: round-off of the potential */
  PetscReal       moduli;  /* J: moduli times volumes, of which elastic energies are differences */
  PetscBool       is_free; /* contacts do not count */
  PetscReal       enough;  /* residual at which friction may change */
} Newton;

ImplicitScheme implicit_scheme(ElasticTime time)
{
  if (time == ELASTIC_BACKWARD_EULER)
    return (ImplicitScheme){.start = 0., .end = 1., .gravity = 1., .damping = 1.};
  if (time == ELASTIC_STATIC)
    return (ImplicitScheme){.start = 0., .end = 1., .gravity = 0., .damping = 0.};
  return (ImplicitScheme){.start = 0.25, .end = 0.25, .gravity = 0.5, .damping = 0.5};
}

/* Where points and bodies are at the end of the step if they move with u. */
static PetscErrorCode PlaceTrial(Newton *newton)
{
  Solid   solid = newton->solid;
  Points *points = solid->points;

  PetscFunctionBegin;
  FOR_POINTS(&points->here, p)
  if (points->inverse_mass[p] > 0.)
    points->position[p] =
        vector3_add(newton->position[p], vector3_scale(newton->dt, newton->motion.points[p]));
  for (PetscInt b = 0; b < solid->body_count; b++)
    if (solid->bodies[b].config->kind == BODY_KINEMATIC)
      solid->placements[b] = body_prescribed(&solid->bodies[b], newton->time);
  for (PetscInt k = 0; k < points->carrying_count; k++) {
    const PetscInt b = points->bodies[k];

    solid->placements[b] =
        body_moved(&solid->bodies[b], &newton->placement[b], &newton->motion.bodies[b], newton->dt);
  }
  points_follow_position(solid);
  points_set_time(solid, newton->time);
  points->has_forces = PETSC_FALSE;
  PetscCall(PointsFindForces(solid));
  PetscCall(PointsGatherTouched(solid, newton->motion.points));
  PetscFunctionReturn(0);
}

static PetscErrorCode ReturnToStart(Newton *newton)
{
  Solid solid = newton->solid;

  PetscFunctionBegin;
  PetscCall(PetscArraycpy(solid->points->position, newton->position, solid->points->count));
  PetscCall(PetscArraycpy(solid->placements, newton->placement, solid->body_count));
  solid->points->has_forces = PETSC_FALSE;
  PetscFunctionReturn(0);
}

static ContactTrial contact_trial(const Newton *newton)
{
  return (ContactTrial){newton->solid, newton->dt, &newton->motion};
}

/* Adds M (u - v), or minus the weight in equilibrium. */
static void find_inertia(Newton *newton)
{
  Solid         solid = newton->solid;
  const Points *points = solid->points;
  const Vector3 lift = vector3_scale(-1., solid->config->gravity);

  newton->inertial = (ReproducibleSum){0};
  newton->inertial_of_bodies = 0.;
  FOR_POINTS(&points->own, p)
  {
    const Vector3 gap = vector3_subtract(newton->motion.points[p], newton->target->points[p]);

    newton->residual->points[p] = vector3_add(newton->residual->points[p],
                                              vector3_scale(points->mass[p], newton->is_static ? lift : gap));
    sum_add(&newton->inertial, points->mass[p] * (newton->is_static ? vector3_dot(lift, points->position[p])
                                                                    : 0.5 * vector3_dot(gap, gap)));
  }
  for (PetscInt k = 0; k < points->body_count; k++) {
    const PetscInt  b = points->bodies[k];
    const Mobility *mobility = &solid->mobilities[b];
    const Matrix3   inertia = matrix3_inverse(&mobility->inverse_inertia);
    const Twist     gap = twist_add(newton->motion.bodies[b], twist_scale(-1., newton->target->bodies[b]));
    const Twist     impulse = {vector3_scale(1. / mobility->inverse_mass, gap.linear),
                               matrix3_apply(&inertia, gap.angular)};

    newton->residual->bodies[b] = twist_add(newton->residual->bodies[b], impulse);
    newton->inertial_of_bodies +=
        0.5 * (vector3_dot(impulse.linear, gap.linear) + vector3_dot(impulse.angular, gap.angular));
  }
}

/* With points where u takes them. */
static PetscErrorCode FindResidual(Newton *newton)
{
  Solid              solid = newton->solid;
  const Points      *points = solid->points;
  const ContactTrial trial = contact_trial(newton);

  PetscFunctionBegin;
  motion_clear(solid, newton->residual);
  if (!newton->is_free)
    implicit_contacts_push(&trial, newton->residual);
  motion_combine(solid, -1., 0., newton->residual, newton->residual);
  find_inertia(newton);
  points_collect_bound(points, newton->residual->points);
  motion_combine(solid, 1., -newton->scheme.end * newton->dt, &points->forces, newton->residual);
  if (points->drag_matrix) { /* -D u, which is positive */
    PetscCall(PointMatrixApply(points->drag_matrix, solid, &newton->motion, newton->drag));
    motion_combine(solid, 1., newton->scheme.damping * newton->dt, newton->drag, newton->residual);
  }
  PetscFunctionReturn(0);
}

/* Energies of own elements and points are summed over ranks, with what loads have done. */
static PetscErrorCode SumEnergies(Newton *newton, PetscReal *energy, PetscReal *work, PetscReal *inertial)
{
  Solid           solid = newton->solid;
  const Points   *points = solid->points;
  const ForceSums own = points_own_sums(solid);
  ReproducibleSum sums[] = {own.energy, own.plastic, newton->inertial, {0}};
  PetscReal       values[4];

  PetscFunctionBegin;
  FOR_POINTS(&points->own, p)
  sum_add(&sums[3], vector3_dot(points->load[p], points->position[p]));
  PetscCall(PointsSums(solid, 4, sums, values));
  *energy = values[0] + values[1];
  *inertial = values[2] + newton->inertial_of_bodies;
  *work = values[3];
  PetscFunctionReturn(0);
}

/* After FindResidual at the same place. */
static PetscErrorCode FindPotential(Newton *newton, PetscReal *potential)
{
  Solid              solid = newton->solid;
  const ContactTrial trial = contact_trial(newton);
  PetscReal          energy = 0., work = 0., inertial = 0., drag = 0.;

  PetscFunctionBegin;
  PetscCall(SumEnergies(newton, &energy, &work, &inertial));
  if (solid->points->drag_matrix)
    PetscCall(MotionProduct(solid, newton->drag, &newton->motion, &drag));
  *potential = inertial + newton->scheme.end * (energy - work) +
               0.5 * newton->scheme.damping * newton->dt * drag + implicit_contacts_potential(&trial);
  newton->noise = 1e-13 * (PetscAbsReal(*potential) + PetscAbsReal(inertial) +
                           newton->scheme.end * (PetscAbsReal(energy) + PetscAbsReal(work))) +
                  PETSC_MACHINE_EPSILON * newton->scheme.end * newton->moduli;
  PetscFunctionReturn(0);
}

/* Without mass the norm is that of forces; with it that of the velocities they make. */
static PetscErrorCode FindNorm(const Newton *newton, PetscReal *norm)
{
  Solid solid = newton->solid;

  PetscFunctionBegin;
  if (!newton->is_static)
    motion_yield(solid, newton->residual, newton->change);
  PetscCall(
      MotionProduct(solid, newton->residual, newton->is_static ? newton->residual : newton->change, norm));
  *norm = PetscSqrtReal(*norm);
  PetscFunctionReturn(0);
}

static PetscErrorCode SetMatrix(Newton *newton, PetscInt iteration, DifferentialPart part)
{
  Solid               solid = newton->solid;
  Points             *points = solid->points;
  const MatrixWeights weights = {.mass = newton->is_static ? 0. : 1.,
                                 .stiffness = newton->scheme.end * PetscSqr(newton->dt),
                                 .damping = newton->scheme.damping * newton->dt,
                                 .part = part};
  const ContactTrial  trial = contact_trial(newton);

  PetscFunctionBegin;
  PetscCall(PointMatrixSet(points->matrix, solid, &weights));
  PetscCall(ImplicitContactsAddTo(&trial, iteration == 0, points->matrix));
  PetscFunctionReturn(0);
}

/* u += part change, points placed, residual and potential there. */
static PetscErrorCode Advance(Newton *newton, PetscReal part, PetscReal *value)
{
  PetscFunctionBegin;
  motion_combine(newton->solid, 1., part, newton->change, &newton->motion);
  PetscCall(PlaceTrial(newton));
  PetscCall(FindResidual(newton));
  PetscCall(FindPotential(newton, value));
  PetscFunctionReturn(0);
}

/* Halves the change until the potential falls as its slope promises a part of (Armijo). */
static PetscErrorCode SearchLine(Newton *newton, PetscReal start, PetscReal slope, PetscBool *falls)
{
  enum { MOST_HALVES = 30 };
  PetscReal part = 1., value;

  PetscFunctionBegin;
  PetscCall(Advance(newton, part, &value));
  for (PetscInt k = 0; k < MOST_HALVES && !(value <= start + 1e-4 * part * slope + newton->noise); k++) {
    part *= 0.5;
    PetscCall(Advance(newton, -part, &value));
  }
  *falls = value <= start + 1e-4 * part * slope + newton->noise ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(0);
}

/* Of velocities without elastic forces, of what gravity makes of them in the step, and of what pushes; in
   equilibrium of given forces. */
static PetscErrorCode FindGivenNorm(const Newton *newton, PetscReal *norm)
{
  Solid              solid = newton->solid;
  const Points      *points = solid->points;
  const ContactTrial trial = contact_trial(newton);
  const PetscReal    g = vector3_norm(solid->config->gravity), fall = newton->dt * g;
  ReproducibleSum    sum = {0};

  PetscFunctionBegin;
  FOR_POINTS(&points->own, p)
  if (newton->is_static)
    sum_add(&sum, PetscSqr(vector3_norm(points->load[p]) + points->mass[p] * g));
  else
    sum_add(&sum, points->mass[p] *
                      (fall * fall + vector3_dot(newton->target->points[p], newton->target->points[p])));
  PetscCall(PointsSums(solid, 1, &sum, norm));
  if (!newton->is_static)
    *norm += implicit_contacts_square(&trial);
  *norm = PetscSqrtReal(*norm);
  PetscFunctionReturn(0);
}

/* The scale of what residuals are compared with: what forces without contact leave at the start, and given
   ones in equilibrium. */
static PetscErrorCode FindScale(Newton *newton, PetscReal *scale)
{
  PetscReal given;

  PetscFunctionBegin;
  newton->is_free = PETSC_TRUE;
  PetscCall(FindResidual(newton));
  newton->is_free = PETSC_FALSE;
  PetscCall(FindNorm(newton, scale));
  PetscCall(FindGivenNorm(newton, &given));
  *scale += given;
  PetscFunctionReturn(0);
}

/* The change of u by a matrix, and the slope of the potential along it; 0: there is none. */
static PetscErrorCode SolveDirection(Newton *newton, ElasticSolver solver, PetscReal *slope)
{
  Solid     solid = newton->solid;
  PetscInt  iterations;
  PetscBool solved;

  PetscFunctionBegin;
  PetscCall(FindResidual(newton));
  motion_combine(solid, -1., 0., newton->residual, newton->residual);
  PetscCall(PointMatrixSolve(solid->points->matrix, solid, solver, newton->residual, newton->change,
                             &iterations, &solved));
  solid->report.linear_iterations += iterations;
  *slope = 0.;
  if (solved)
    PetscCall(MotionProduct(solid, newton->residual, newton->change, slope));
  *slope = -*slope;
  PetscFunctionReturn(0);
}

/* A factor takes the exact differential where that leads down, which is faster in slender solids; iterations
   need a definite one. */
static PetscErrorCode FindDirection(Newton *newton, ElasticSolver solver, PetscInt iteration,
                                    PetscReal *slope)
{
  PetscFunctionBegin;
  *slope = 0.;
  if (solver == SOLVER_CHOLESKY) {
    PetscCall(SetMatrix(newton, iteration, DIFFERENTIAL_EXACT));
    PetscCall(SolveDirection(newton, solver, slope));
  }
  if (!(*slope < 0.)) {
    PetscCall(SetMatrix(newton, iteration, DIFFERENTIAL_DEFINITE));
    PetscCall(SolveDirection(newton, solver, slope));
  }
  PetscFunctionReturn(0);
}

/* Friction follows the pressing impulses, when these are known for the friction that there was: penalties of
   contacts that have just closed would make it anything. The residual follows. */
static PetscErrorCode UpdateFriction(Newton *newton, PetscReal scale, PetscReal *residual)
{
  const PetscReal    part = 0.1, first = 1e-2;
  const ContactTrial trial = contact_trial(newton);

  PetscFunctionBegin;
  implicit_contacts_update(&trial);
  PetscCall(FindResidual(newton));
  PetscCall(FindNorm(newton, residual));
  newton->enough = PetscMax(PetscMin(part * *residual, first * scale), 0.5 * newton_tolerance * scale);
  PetscFunctionReturn(0);
}

/* After a step of the method. Beside round-off, or where the velocities are within 1e-10 of the least
   potential, a larger residual is enough; and any, where the change is round-off of what is at rest. */
static PetscErrorCode Judge(Newton *newton, PetscReal slope, PetscReal scale, PetscBool *good)
{
  const PetscBool is_rounded = -slope <= 1e-7 * newton->noise ? PETSC_TRUE : PETSC_FALSE;
  const PetscBool rubs = implicit_contacts_rub(newton->solid);
  PetscReal       residual;

  PetscFunctionBegin;
  PetscCall(FindNorm(newton, &residual));
  *good = PETSC_FALSE;
  if (rubs && residual > newton->enough && !is_rounded)
    PetscFunctionReturn(0);
  if (rubs)
    PetscCall(UpdateFriction(newton, scale, &residual));
  *good = residual <= (is_rounded ? rounded_tolerance : newton_tolerance) * scale ||
                  (slope < 0. && -slope <= PETSC_MACHINE_EPSILON * newton->noise)
              ? PETSC_TRUE
              : PETSC_FALSE;
  PetscFunctionReturn(0);
}

static PetscErrorCode Iterate(Newton *newton, PetscBool *good)
{
  Solid         solid = newton->solid;
  SolidReport  *report = &solid->report;
  PetscReal     value, residual, scale = 0., slope = 0.;
  ElasticSolver solver =
      points_choose_solver(newton->solid, newton->dt, point_matrix_unknowns(newton->solid->points->matrix));
  PetscBool falls = PETSC_TRUE;

  PetscFunctionBegin;
  motion_clear(solid, newton->change);
  PetscCall(Advance(newton, 0., &value));
  PetscCall(FindScale(newton, &scale));
  newton->enough = 1e-2 * scale;
  *good = scale > 0. ? PETSC_FALSE : PETSC_TRUE;
  for (PetscInt k = 0; k < solid->config->newton && !*good; k++) {
    PetscCall(FindDirection(newton, solver, k, &slope));
    PetscCall(FindPotential(newton, &value)); /* with the penalties of the first matrix */
    report->newton_iterations++;
    if (!(slope < 0.)) {
      PetscCall(FindNorm(newton, &residual));
      *good = residual <= rounded_tolerance * scale ? PETSC_TRUE : PETSC_FALSE;
      break;
    }
    PetscCall(SearchLine(newton, value, slope, &falls));
    PetscCall(Judge(newton, falls ? slope : 0., scale, good));
    if (!falls || (-slope <= 1e-7 * newton->noise && !implicit_contacts_rub(solid)))
      break;
  }
  report->elastic_solver = (PetscInt)solver + 1;
  if (solid->config->newton == 1 && slope < 0. && falls) /* one linearisation was asked for */
    *good = PETSC_TRUE;
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateMatrices(Solid solid, PetscBool is_static)
{
  Points             *points = solid->points;
  const MatrixWeights drag = {.mass = 0., .stiffness = 0., .damping = 1.};

  PetscFunctionBegin;
  if (points->matrix && !point_matrix_fits(points->matrix, solid))
    PetscCall(PointMatrixDestroy(&points->matrix));
  if (!points->matrix)
    PetscCall(PointMatrixCreate(solid, MATRIX_WITH_TOUCHED, &points->matrix));
  if (is_static || !points->is_damped)
    PetscFunctionReturn(0);
  if (!points->drag_matrix)
    PetscCall(PointMatrixCreate(solid, MATRIX_OF_CARRYING, &points->drag_matrix));
  PetscCall(PointMatrixSet(points->drag_matrix, solid, &drag));
  PetscFunctionReturn(0);
}

static PetscErrorCode SumModuli(Solid solid, PetscReal *sum)
{
  const Points    *points = solid->points;
  ReproducibleSum *volumes;
  PetscReal       *values;

  PetscFunctionBegin;
  *sum = 0.;
  PetscCall(PetscCalloc2(points->mesh_count, &volumes, points->mesh_count, &values));
  for (PetscInt m = 0; m < points->mesh_count; m++)
    if (points->meshes[m].force_count)
      volumes[m] = points->meshes[m].forces[0].kind->sum_up(points->meshes[m].forces[0].data).volume;
  PetscCall(PointsSums(solid, points->mesh_count, volumes, values));
  for (PetscInt m = 0; m < points->mesh_count; m++) {
    const SolidMaterialConfig *material = points->meshes[m].material;

    if (points->meshes[m].force_count)
      *sum += material->young / (1. - 2. * material->poisson) * PetscAbsReal(values[m]);
  }
  PetscCall(PetscFree2(volumes, values));
  PetscFunctionReturn(0);
}

static PetscErrorCode NewtonCreate(Solid solid, PetscReal time, PetscReal dt, Newton *newton)
{
  Points *points = solid->points;

  PetscFunctionBegin;
  *newton = (Newton){.solid = solid,
                     .time = time,
                     .dt = dt,
                     .scheme = implicit_scheme(solid->config->elasticity),
                     .is_static = solid->config->elasticity == ELASTIC_STATIC,
                     .target = &points->damped,
                     .change = &points->trial,
                     .residual = &points->residual,
                     .drag = &points->image};
  PetscCall(SumModuli(solid, &newton->moduli));
  PetscCall(PetscMalloc2(points->count, &newton->position, solid->body_count, &newton->placement));
  PetscCall(PetscArraycpy(newton->position, points->position, points->count));
  PetscCall(PetscArraycpy(newton->placement, solid->placements, solid->body_count));
  PetscFunctionReturn(0);
}

/* The end of a step from its start and what moves it, `factor` 2: its middle, 1: its end. */
static Twist lead_on(PetscReal factor, Twist start, Twist moving)
{
  return twist_add(twist_scale(factor, moving), twist_scale(1. - factor, start));
}

/* What velocities will be at the end of the step: u, or twice it less those at the start, or what contact
   makes of them. Of bodies, what elasticity and points that touch add to what gravity, joints and contact
   make of them. */
static PetscErrorCode FindEnd(Newton *newton)
{
  Solid              solid = newton->solid;
  Points            *points = solid->points;
  const ContactTrial trial = contact_trial(newton);
  const PetscReal    factor = newton->scheme.gravity > 0.5 ? 1. : 2.;
  SolidMotion       *end = &points->drag;

  PetscFunctionBegin;
  memcpy(end->bodies, newton->motion.bodies, (size_t)solid->body_count * sizeof(*end->bodies));
  motion_clear(solid, end);
  FOR_POINTS(&points->here, p)
  if (points->inverse_mass[p] > 0.)
    end->points[p] = vector3_subtract(vector3_scale(factor, newton->motion.points[p]),
                                      vector3_scale(factor - 1., points->velocity[p]));
  for (PetscInt k = 0; k < points->body_count; k++) {
    const PetscInt b = points->bodies[k];

    end->bodies[b] = lead_on(factor, solid->twists[b], newton->motion.bodies[b]);
  }
  PetscCall(PointsGatherTouched(solid, end->points));
  implicit_contacts_end(&trial, end);
  for (PetscInt k = 0; k < points->body_count; k++) {
    const PetscInt b = points->bodies[k];
    const Twist    given = lead_on(factor, solid->twists[b], newton->given.bodies[b]);

    end->bodies[b] = twist_add(end->bodies[b], twist_scale(-1., given));
  }
  PetscFunctionReturn(0);
}

/* From `motion`, which is v without elastic forces and becomes u; points and bodies stand where they stood.
 */
PetscErrorCode PointsSolveStep(Solid solid, PetscReal time, PetscReal dt, SolidMotion *motion)
{
  Points      *points = solid->points;
  ContactTrial trial;
  PetscBool    good;
  Newton       newton;

  PetscFunctionBegin;
  PetscCall(CreateMatrices(solid, PETSC_FALSE));
  PetscCall(NewtonCreate(solid, time + dt, dt, &newton));
  newton.motion = *motion;
  newton.given = points->search;
  PetscCall(PetscArraycpy(newton.given.bodies, motion->bodies, solid->body_count));
  PetscCall(PetscArraycpy(newton.target->points, motion->points, points->count));
  PetscCall(PetscArraycpy(newton.target->bodies, motion->bodies, solid->body_count));
  points_accelerate(solid, newton.scheme.start * dt, &points->forces, newton.target);
  trial = contact_trial(&newton);
  implicit_contacts_start(&trial);
  PetscCall(Iterate(&newton, &good));
  implicit_contacts_keep(&trial);
  PetscCall(FindEnd(&newton));
  PetscCall(ReturnToStart(&newton));
  points_follow_velocity(solid, motion->bodies, motion->points);
  solid->report.is_unsolved = good ? PETSC_FALSE : PETSC_TRUE;
  PetscCall(PetscFree2(newton.position, newton.placement));
  PetscFunctionReturn(0);
}

/* The equilibrium at `time`, from where the points are. */
PetscErrorCode PointsSolveStatic(Solid solid, PetscReal time)
{
  Points   *points = solid->points;
  PetscBool good;
  Newton    newton;

  PetscFunctionBegin;
  points->contact_count = 0;
  points->body_count = points->carrying_count;
  PetscCall(PointsFindForces(solid));
  points_settle(solid);
  PetscCall(CreateMatrices(solid, PETSC_TRUE));
  PetscCall(NewtonCreate(solid, time, 1., &newton));
  newton.motion = points->half;
  motion_clear(solid, &newton.motion);
  motion_clear(solid, newton.target);
  PetscCall(Iterate(&newton, &good));
  PetscCall(PetscArrayzero(points->velocity, points->count));
  solid->report.is_unsolved = good ? PETSC_FALSE : PETSC_TRUE;
  PetscCall(PetscFree2(newton.position, newton.placement));
  PetscFunctionReturn(0);
}
