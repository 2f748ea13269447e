/* Implicit damping: (M - a D) w = M v by conjugate gradients with M as preconditioner, in velocities of
   points and bodies. The residual begins as a D v, and every search direction is M^-1 times a combination of
   forces of damping: w - v takes no momentum from the solid, at whatever tolerance (numerics.md). */
#include "../contact/point_contact.h"
#include "distribution.h"

static const PetscReal damping_tolerance = 1e-4; /* of what damping does in the step */
static const PetscReal spring_tolerance = 1e-11; /* springs are along their force where they are in the end */
enum { MOST_ITERATIONS = 1000 };

/* -(a M - b K) v, the definite K of all forces of the mesh. */
static void add_rayleigh(const Points *points, const DeformableMesh *mesh, const Vector3 v[], Vector3 f[])
{
  const PetscReal drag = mesh->material->mass_damping, factor = mesh->material->stiffness_damping;
  const PetscInt  end = mesh->first + mesh_vertices(mesh);

  for (PetscInt p = mesh->first; p < end && drag > 0.; p++)
    f[p] = vector3_subtract(f[p], vector3_scale(drag * points->mass[p], v[p]));
  if (!(factor > 0.))
    return;
  for (PetscInt p = mesh->first; p < end; p++)
    points->stretched[p] = vector3_scale(factor, v[p]);
  for (PetscInt k = 0; k < mesh->force_count; k++)
    mesh->forces[k].kind->add_stiffness(mesh->forces[k].data, DIFFERENTIAL_DEFINITE, points->stretched, f);
}

/* Forces of damping at a motion of points and bodies, collected. */
static PetscErrorCode FindDamping(Solid solid, SolidMotion *motion, SolidMotion *forces)
{
  const Points *points = solid->points;

  PetscFunctionBegin;
  PetscCall(PointsExchange(solid, motion->points));
  points_follow_parents(points, motion->points);
  motion_clear(solid, forces);
  for (PetscInt m = 0; m < points->mesh_count; m++) {
    const DeformableMesh *mesh = &points->meshes[m];

    for (PetscInt k = 0; k < mesh->force_count; k++)
      mesh->forces[k].kind->add_damping(mesh->forces[k].data, motion->points, forces->points);
    add_rayleigh(points, mesh, motion->points, forces->points);
  }
  PetscCall(PointsCollect(solid, forces));
  PetscFunctionReturn(0);
}

static PetscErrorCode Project(Solid solid, PetscInt held, SolidMotion *motion)
{
  PetscFunctionBegin;
  if (held) {
    PetscCall(PointsGatherTouched(solid, motion->points));
    point_contacts_project(solid, motion);
    points_follow_change(solid, motion);
  }
  PetscFunctionReturn(0);
}

/* A system: what it has beside M and the factor of D. */
typedef struct {
  PetscReal factor;
  PetscInt  held;        /* contacts */
  PetscReal spring_step; /* s: of which binding springs are implicit; 0: they are not in it */
  PetscReal first;       /* that the squares of residuals are measured by */
} DampingSystem;

/* M^-1, with springs in it, times impulses, without normal velocities at held contacts. `given` are the
   impulses that lead to the motion by M^-1 alone. */
static PetscErrorCode Precondition(Solid solid, const DampingSystem *system, const SolidMotion *impulse,
                                   SolidMotion *given, SolidMotion *motion)
{
  PetscFunctionBegin;
  motion_combine(solid, 0., 1., impulse, given);
  if (system->spring_step > 0. && solid->points->soft.count) {
    motion_yield(solid, given, motion);
    PetscCall(Project(solid, system->held, motion));
    soft_points_eliminate(solid, system->spring_step, motion, given);
  }
  motion_yield(solid, given, motion);
  PetscCall(Project(solid, system->held, motion));
  if (!(system->spring_step > 0.))
    PetscFunctionReturn(0);
  PetscCall(SpringsRelease(solid, given, motion));
  soft_points_recover(solid, system->spring_step, given, motion);
  PetscCall(Project(solid, system->held, motion));
  PetscFunctionReturn(0);
}

/* From `residual`, which is that of `motion`; `sum` is the sum of the impulses `search`, whose motions are
   `trial`. Impulses of contact, which `search` may lack beside M `trial`, do no work on any trial. */
static PetscErrorCode Iterate(Solid solid, DampingSystem *system, SolidMotion *motion, SolidMotion *sum)
{
  Points      *points = solid->points;
  SolidMotion *residual = &points->residual, *search = &points->search, *image = &points->image,
              *trial = &points->trial, *given = &points->given;
  const PetscReal tolerance = system->spring_step > 0. ? spring_tolerance : damping_tolerance;
  PetscReal       square;

  PetscFunctionBegin;
  motion_clear(solid, search);
  PetscCall(Precondition(solid, system, residual, search, trial));
  PetscCall(MotionProduct(solid, residual, trial, &square));
  system->first = PetscMax(system->first, square);
  for (PetscInt k = 0; k < MOST_ITERATIONS && square > PetscSqr(tolerance) * system->first; k++) {
    PetscReal curvature, step, last = square;

    PetscCall(FindDamping(solid, trial, image));
    motion_combine(solid, -system->factor, 1., search, image);
    if (system->spring_step > 0.) {
      motion_combine(solid, -1., 0., image, image);
      springs_pull(solid, system->spring_step, SPRINGS_OF_MOTION, trial, image);
      motion_combine(solid, -1., 0., image, image);
    }
    PetscCall(MotionProduct(solid, image, trial, &curvature));
    if (!(curvature > 0.))
      break;
    step = square / curvature;
    motion_combine(solid, 1., step, search, sum);
    motion_combine(solid, 1., step, trial, motion);
    motion_combine(solid, 1., -step, image, residual);
    PetscCall(Precondition(solid, system, residual, given, image));
    PetscCall(MotionProduct(solid, residual, image, &square));
    motion_combine(solid, square / last, 1., given, search);
    motion_combine(solid, square / last, 1., image, trial);
    solid->report.damping_iterations++;
  }
  PetscFunctionReturn(0);
}

/* Impulses of the springs at the velocities that were found; `sum` keeps those of damping. */
static void take_pull(Solid solid, PetscReal dt, const SolidMotion *motion, SolidMotion *sum)
{
  SolidMotion *pull = &solid->points->springs.pull;

  motion_clear(solid, pull);
  springs_pull(solid, dt, SPRINGS_WHOLE, motion, pull);
  motion_combine(solid, 1., -1., pull, sum);
}

PetscErrorCode PointsDamp(Solid solid, PetscReal factor, PetscReal spring_step, SolidMotion *velocity,
                          SolidMotion *impulse)
{
  Points         *points = solid->points;
  SolidMotion    *damped = &points->damped;
  const PetscBool springs = spring_step > 0. && points->springs.count > 0 ? PETSC_TRUE : PETSC_FALSE;
  DampingSystem   system = {.factor = factor, .spring_step = springs ? spring_step : 0.};

  PetscFunctionBegin;
  motion_clear(solid, impulse);
  if (!points->is_damped && !springs)
    PetscFunctionReturn(0);
  PetscCall(PointsGatherTouched(solid, velocity->points));
  system.held = point_contacts_hold(solid, velocity);
  if (springs)
    PetscCall(SpringsStiffen(solid, spring_step));
  points_copy(points, velocity->points, damped->points);
  PetscCall(PetscArraycpy(damped->bodies, velocity->bodies, solid->body_count));
  if (system.held) {
    PetscCall(PointsGatherTouched(solid, damped->points));
    point_contacts_project(solid, damped);
  }
  PetscCall(FindDamping(solid, damped, &points->residual));
  motion_combine(solid, factor, 0., &points->residual, &points->residual);
  if (springs)
    springs_pull(solid, spring_step, SPRINGS_WHOLE, damped, &points->residual);
  PetscCall(Iterate(solid, &system, damped, impulse));
  for (PetscInt k = 0;
       springs && k < MOST_TURNS && springs_turn(solid, spring_step, damped, &points->residual); k++)
    PetscCall(Iterate(solid, &system, damped, impulse));
  if (system.held) { /* the sum holds impulses of contact */
    PetscCall(FindDamping(solid, damped, impulse));
    motion_combine(solid, factor, 0., impulse, impulse);
    if (springs)
      springs_pull(solid, spring_step, SPRINGS_WHOLE, damped, impulse);
  }
  motion_yield(solid, impulse, &points->trial);
  motion_combine(solid, 1., 1., &points->trial, velocity);
  if (springs)
    take_pull(solid, spring_step, damped, impulse);
  PetscFunctionReturn(0);
}
