/* Implicit damping: (M - a D) w = M v by conjugate gradients with M as preconditioner, in velocities of
   points and bodies. The residual begins as a D v, and every search direction is M^-1 times a combination of
   forces of damping: w - v takes no momentum from the solid, at whatever tolerance (numerics.md). */
#include "points.h"

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

/* `search` is M times the direction `trial`. */
PetscErrorCode PointsDamp(Solid solid, PetscReal factor, SolidMotion *velocity, SolidMotion *impulse)
{
  Points      *points = solid->points;
  SolidMotion *residual = &points->residual, *search = &points->search, *image = &points->image,
              *trial = &points->trial;
  PetscReal square, first;

  PetscFunctionBegin;
  motion_clear(solid, impulse);
  if (!points->is_damped)
    PetscFunctionReturn(0);
  find_damping(solid, velocity, residual);
  motion_combine(solid, factor, 0., residual, residual);
  motion_clear(solid, search);
  motion_yield(solid, residual, trial);
  first = square = motion_product(solid, residual, trial);
  motion_combine(solid, 0., 1., residual, search);
  for (PetscInt k = 0; k < MOST_ITERATIONS && square > PetscSqr(damping_tolerance) * first; k++) {
    PetscReal curvature, step, last = square;

    find_damping(solid, trial, image);
    motion_combine(solid, -factor, 1., search, image);
    curvature = motion_product(solid, image, trial);
    if (!(curvature > 0.))
      break;
    step = square / curvature;
    motion_combine(solid, 1., step, search, impulse);
    motion_combine(solid, 1., -step, image, residual);
    motion_yield(solid, residual, image);
    square = motion_product(solid, residual, image);
    motion_combine(solid, square / last, 1., residual, search);
    motion_combine(solid, square / last, 1., image, trial);
    solid->report.damping_iterations++;
  }
  motion_yield(solid, impulse, trial);
  motion_combine(solid, 1., 1., trial, velocity);
  PetscFunctionReturn(0);
}
