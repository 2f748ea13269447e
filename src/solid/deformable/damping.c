/* Implicit damping: (M - a D) w = M v by conjugate gradients with M as preconditioner, in velocities of
   points and bodies. The residual begins as a D v, and every search direction is M^-1 times a combination of
   forces of damping: w - v takes no momentum from the solid, at whatever tolerance (numerics.md). */
#include "../contact/point_contact.h"

static const PetscReal damping_tolerance = 1e-4; /* of what damping does in the step */
enum { MOST_ITERATIONS = 1000 };

/* Forces of damping at a motion of points and bodies, collected. */
static void find_damping(Solid solid, const SolidMotion *motion, SolidMotion *forces)
{
  const Points *points = solid->points;

  motion_clear(solid, forces);
  for (PetscInt m = 0; m < points->mesh_count; m++) {
    const Force *force = &points->meshes[m].force;

    force->kind->add_damping(force->data, motion->points, forces->points);
  }
  points_collect(solid, forces);
}

/* M^-1 times impulses, without normal velocities at held contacts. */
static void yield_held(Solid solid, PetscInt held, const SolidMotion *impulse, SolidMotion *motion)
{
  motion_yield(solid, impulse, motion);
  if (held) {
    point_contacts_project(solid, motion);
    points_follow_change(solid, motion);
  }
}

/* From `residual`, which is factor D w at the start, in `motion`; `sum` is the sum of the impulses `search`,
   whose motions are `trial`. Impulses of contact, which `search` may lack beside M `trial`, do no work on any
   trial. */
static void iterate(Solid solid, PetscReal factor, PetscInt held, SolidMotion *motion, SolidMotion *sum)
{
  Points      *points = solid->points;
  SolidMotion *residual = &points->residual, *search = &points->search, *image = &points->image,
              *trial = &points->trial;
  PetscReal square, first;

  yield_held(solid, held, residual, trial);
  first = square = motion_product(solid, residual, trial);
  motion_clear(solid, search);
  motion_combine(solid, 0., 1., residual, search);
  for (PetscInt k = 0; k < MOST_ITERATIONS && square > PetscSqr(damping_tolerance) * first; k++) {
    PetscReal curvature, step, last = square;

    find_damping(solid, trial, image);
    motion_combine(solid, -factor, 1., search, image);
    curvature = motion_product(solid, image, trial);
    if (!(curvature > 0.))
      break;
    step = square / curvature;
    motion_combine(solid, 1., step, search, sum);
    motion_combine(solid, 1., step, trial, motion);
    motion_combine(solid, 1., -step, image, residual);
    yield_held(solid, held, residual, image);
    square = motion_product(solid, residual, image);
    motion_combine(solid, square / last, 1., residual, search);
    motion_combine(solid, square / last, 1., image, trial);
    solid->report.damping_iterations++;
  }
}

PetscErrorCode PointsDamp(Solid solid, PetscReal factor, SolidMotion *velocity, SolidMotion *impulse)
{
  Points        *points = solid->points;
  SolidMotion   *damped = &points->damped;
  const PetscInt held = points->is_damped ? point_contacts_hold(solid, velocity) : 0;

  PetscFunctionBegin;
  motion_clear(solid, impulse);
  if (!points->is_damped)
    PetscFunctionReturn(0);
  PetscCall(PetscArraycpy(damped->points, velocity->points, points->count));
  PetscCall(PetscArraycpy(damped->bodies, velocity->bodies, solid->body_count));
  if (held)
    point_contacts_project(solid, damped);
  find_damping(solid, damped, &points->residual);
  motion_combine(solid, factor, 0., &points->residual, &points->residual);
  iterate(solid, factor, held, damped, impulse);
  if (held) { /* the sum holds impulses of contact */
    find_damping(solid, damped, impulse);
    motion_combine(solid, factor, 0., impulse, impulse);
  }
  motion_yield(solid, impulse, &points->trial);
  motion_combine(solid, 1., 1., &points->trial, velocity);
  PetscFunctionReturn(0);
}
