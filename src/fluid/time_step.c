/* How far the flow goes in a step, and the steps that this allows (docs/numerics.md, section 6). */
#include "fluid_impl.h"

/* The step in which speed u and acceleration f cover `distance`: (u + f dt) dt = distance. */
static PetscReal time_to_cover(PetscReal distance, PetscReal u, PetscReal f)
{
  if (u <= 0. && f <= 0.)
    return PETSC_MAX_REAL;
  return 2. * distance / (u + PetscSqrtReal(u * u + 4. * f * distance));
}

/* What the owned faces of one direction say, those in empty space left out. */
typedef struct {
  PetscReal speed; /* the largest */
  PetscReal step;  /* in which no trajectory is longer than MOST_CELLS_PER_STEP */
} FaceLimits;

/* With `earlier`, a trajectory follows the velocity at the middle of the step as the last one leads to it:
   |u + dt/2 a| dt, where a = (u - earlier)/before. */
static PetscErrorCode VisitFaces(Fluid fluid, PetscInt d, Vec component, Vec earlier, FaceLimits *limits)
{
  const GridBox   *box = grid_box(fluid->grid);
  const PetscReal  farthest = MOST_CELLS_PER_STEP * grid_spacing(fluid->grid);
  const PetscReal  share = earlier ? 0.5 / (fluid->time - fluid->earlier_time) : 0.;
  const PetscReal *u, *before = NULL, *voids = NULL;
  const GridRange  faces = grid_faces(fluid->grid, d);

  PetscFunctionBegin;
  *limits = (FaceLimits){0., PETSC_MAX_REAL};
  if (fluid->mixture)
    PetscCall(VecGetArrayRead(fluid->voids, &voids));
  if (earlier)
    PetscCall(VecGetArrayRead(earlier, &before));
  PetscCall(VecGetArrayRead(component, &u));
  FOR_CELLS(&faces, i, j, k) {
    const PetscInt c = box_index(box, i, j, k);

    if (is_void(voids, box, d, c))
      continue;
    limits->speed = PetscMax(limits->speed, PetscAbsReal(u[c]));
    if (before && u[c] != before[c])
      limits->step = PetscMin(
          limits->step, time_to_cover(farthest, PetscAbsReal(u[c]), share * PetscAbsReal(u[c] - before[c])));
  }
  PetscCall(VecRestoreArrayRead(component, &u));
  if (earlier)
    PetscCall(VecRestoreArrayRead(earlier, &before));
  if (fluid->mixture)
    PetscCall(VecRestoreArrayRead(fluid->voids, &voids));
  PetscFunctionReturn(0);
}

PetscErrorCode FluidGetTravel(Fluid fluid, Vec faces[DIM], PetscReal dt, PetscReal *cells)
{
  const GridBox *box = grid_box(fluid->grid);
  PetscReal      speed = 0.;
  FaceLimits     limits;

  PetscFunctionBegin;
  PetscCall(FluidRefreshMixture(fluid));
  PetscCall(FluidUpdateConfinement(fluid));
  for (PetscInt d = 0; d < box->dimension; d++) {
    PetscCall(VisitFaces(fluid, d, faces[d], NULL, &limits));
    speed = PetscMax(speed, limits.speed);
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &speed, 1, MPIU_REAL, MPI_MAX, box->comm));
  *cells = speed * dt / grid_spacing(fluid->grid);
  PetscFunctionReturn(0);
}

/* The ghosts let a trajectory go MOST_CELLS_PER_STEP along each axis; WENO's upwind differences are stable
   while the sum over the axes stays below one. */
static PetscReal step_within(Fluid fluid, PetscReal cells, const PetscReal speed[DIM],
                             const PetscReal acceleration[DIM])
{
  const PetscReal h = grid_spacing(fluid->grid);
  PetscReal       limit = PETSC_MAX_REAL, speeds = 0., accelerations = 0.;

  for (PetscInt d = 0; d < grid_box(fluid->grid)->dimension; d++) {
    limit = PetscMin(limit, time_to_cover(cells * h, speed[d], acceleration[d]));
    speeds += speed[d];
    accelerations += acceleration[d];
  }
  if (fluid->config->advection == ADVECT_WENO5)
    limit = PetscMin(limit, time_to_cover(PetscMin(cells, 1.) * h, speeds, accelerations));
  return limit;
}

PetscErrorCode FluidGetTimeStepLimit(Fluid fluid, PetscReal cells, PetscReal *limit)
{
  const GridBox  *box = grid_box(fluid->grid);
  const PetscBool has_history = fluid->time > fluid->earlier_time ? PETSC_TRUE : PETSC_FALSE;
  PetscReal       largest[2][DIM] = {{0.}}, longest = PETSC_MAX_REAL;
  FaceLimits      limits;

  PetscFunctionBegin;
  PetscCall(FluidRefreshMixture(fluid));
  for (PetscInt d = 0; d < box->dimension; d++) {
    PetscCall(VisitFaces(fluid, d, fluid->velocity[d], has_history ? fluid->earlier[d] : NULL, &limits));
    largest[0][d] = PetscMax(limits.speed, largest_side_speed(fluid, d, fluid->time));
    longest = PetscMin(longest, limits.step);
    PetscCall(FluidGetLargestForce(fluid, d, fluid->time, &largest[1][d]));
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, largest, 2 * DIM, MPIU_REAL, MPI_MAX, box->comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &longest, 1, MPIU_REAL, MPI_MIN, box->comm));
  *limit = PetscMin(longest, step_within(fluid, cells, largest[0], largest[1]));
  fluid->report.largest_speed = 0.;
  for (PetscInt d = 0; d < box->dimension; d++)
    fluid->report.largest_speed = PetscMax(fluid->report.largest_speed, largest[0][d]);
  PetscFunctionReturn(0);
}

static PetscBool uses_time(Formula formula)
{
  return formula && formula_uses_time(formula) ? PETSC_TRUE : PETSC_FALSE;
}

static PetscBool sides_use_time(const FluidConfig *config)
{
  for (PetscInt axis = 0; axis < DIM; axis++)
    for (PetscInt side = 0; side < 2; side++)
      for (PetscInt d = 0; d < DIM; d++)
        if (uses_time(config->sides[axis][side].velocity[d]))
          return PETSC_TRUE;
  return PETSC_FALSE;
}

PetscErrorCode FluidGetGivenLimit(Fluid fluid, PetscReal cells, PetscReal time, PetscReal *limit)
{
  const PetscBool sides_change = sides_use_time(fluid->config);
  PetscReal       speed[DIM] = {0.}, acceleration[DIM] = {0.};

  PetscFunctionBegin;
  for (PetscInt d = 0; d < grid_box(fluid->grid)->dimension; d++) {
    if (sides_change)
      speed[d] = largest_side_speed(fluid, d, time);
    if (uses_time(fluid->config->body_force[d]))
      PetscCall(FluidGetLargestForce(fluid, d, time, &acceleration[d]));
  }
  *limit = step_within(fluid, cells, speed, acceleration);
  PetscFunctionReturn(0);
}

PetscBool fluid_goes_too_far(Fluid fluid)
{
  return fluid->report.travel > MOST_CELLS_PER_STEP * (1. + 1e-6) ? PETSC_TRUE : PETSC_FALSE;
}
