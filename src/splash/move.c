/* From the grid back to particles (Gerszewski 2014, 3.2.3 and 3.2.4): with u after and u' before forces and
   pressure,

     FLIP and PIC:  u_p <- a (u_p + (u - u')(x_p)) + (1 - a) u(x_p) = a u_p + (u - a u')(x_p)
     APIC:          u_p <- u(x_p),  C_p = sum u_f grad T(x_p - x_f)

   then x <- x + offset(x) and the trapezoidal rule, x' = x + dt/2 (u(x) + u(x + dt u(x))). A particle that
   ends in an obstacle is put on its surface along the gradient of the distance or, if that fails, back along
   its way. One that a body has come to is put on its surface too; what it loses of its velocity towards that
   the body gets. */
#include "splash_impl.h"

static const PetscReal margin = 1e-6; /* cells that a particle stays away from sides and obstacles */

typedef struct {
  const Splash     splash;
  PointFrame       frame;
  PetscInt         dimension;
  PetscReal        spacing, dt, share; /* of FLIP */
  PetscReal       *u[DIM], *offset[DIM];
  PetscReal       *change[DIM]; /* u less the share of u' */
  const PetscReal *near;
  Vector3          low, high; /* of the box, less the margin; infinite where particles may leave */
} Mover;

/* The particles of a run: component by component. */
typedef PetscReal RunVector[DIM][POINT_RUN];

KERNEL void sample_run(const Mover *mover, PetscReal *const faces[DIM], const PointRun *run, RunVector value,
                       const PetscInt dimension)
{
  const PetscReal *const fields[DIM] = {faces[X], faces[Y], faces[Z]};

  run_sample_faces(&mover->frame, fields, run, value, dimension);
}

KERNEL void blend_run(const Mover *mover, const PointRun *run, RunVector velocity, const PetscInt dimension)
{
  RunVector change;

  sample_run(mover, mover->change, run, change, dimension);
  for (PetscInt d = 0; d < dimension; d++)
    for (PetscInt n = 0; n < POINT_RUN; n++)
      velocity[d][n] = mover->share * velocity[d][n] + change[d][n];
}

/* Component e and its gradient (by places) of a particle of the run: u_f and its differences along each
   direction, linear along the others. */
KERNEL PetscReal sample_slope(const Mover *mover, PetscInt e, const PointRun *run, PetscInt n,
                              PetscReal *gradient, const PetscInt dimension)
{
  const PointFrame *frame = &mover->frame;
  const PetscReal  *low = mover->u[e] + frame->base, *back, *high;
  PetscReal         f[DIM] = {0.}, value[2], along_y[2], along_z[2] = {0.};

  for (PetscInt d = 0; d < dimension; d++) {
    const RunPlaces *places = d == e ? &run->on_face[d] : &run->on_centre[d];

    low += places->corner[n];
    f[d] = places->fraction[n];
  }
  back = low + frame->stride[Y];
  high = low + (dimension == 3 ? frame->stride[Z] : 0);
  for (PetscInt side = 0; side < 2; side++) {
    value[side] = linear_between(low[side], back[side], f[Y]);
    along_y[side] = back[side] - low[side];
    if (dimension == 3) {
      const PetscReal *far = high + frame->stride[Y];
      const PetscReal  upper = linear_between(high[side], far[side], f[Y]);

      along_y[side] = linear_between(along_y[side], far[side] - high[side], f[Z]);
      along_z[side] = upper - value[side];
      value[side] = linear_between(value[side], upper, f[Z]);
    }
  }
  gradient[X] = frame->inverse * (value[1] - value[0]);
  gradient[Y] = frame->inverse * linear_between(along_y[0], along_y[1], f[X]);
  gradient[Z] = frame->inverse * linear_between(along_z[0], along_z[1], f[X]);
  return linear_between(value[0], value[1], f[X]);
}

KERNEL void gather_affine(const Mover *mover, const PointRun *run, PetscInt count, PetscReal *values,
                          const PetscInt dimension)
{
  for (PetscInt n = 0; n < count; n++, values += DIM + AFFINE)
    for (PetscInt e = 0; e < dimension; e++)
      values[e] = sample_slope(mover, e, run, n, values + DIM * (e + 1), dimension);
}

KERNEL void clip_run(const Mover *mover, RunVector at, const PetscInt dimension)
{
  for (PetscInt d = 0; d < dimension; d++)
    for (PetscInt n = 0; n < POINT_RUN; n++)
      at[d][n] = PetscMin(PetscMax(at[d][n], mover->low.at[d]), mover->high.at[d]);
}

/* `end` = `start` + way u + other way v, in the box. */
KERNEL void advance_run(const Mover *mover, RunVector start, PetscReal way, RunVector u, PetscReal other,
                        RunVector v, RunVector end, const PetscInt dimension)
{
  for (PetscInt d = 0; d < dimension; d++)
    for (PetscInt n = 0; n < POINT_RUN; n++)
      end[d][n] = start[d][n] + (way * u[d][n] + other * v[d][n]);
  clip_run(mover, end, dimension);
}

/* From `at`, where `run` is, to the end of the step. */
KERNEL void carry_run(const Mover *mover, PointRun *run, RunVector at, const PetscInt dimension)
{
  const PetscReal dt = mover->dt;
  RunVector       start, u, later, end;

  sample_run(mover, mover->offset, run, u, dimension);
  advance_run(mover, at, 1., u, 0., u, start, dimension);
  run_locate(&mover->frame, start, run, dimension);
  sample_run(mover, mover->u, run, u, dimension);
  advance_run(mover, start, dt, u, 0., u, end, dimension);
  if (mover->splash->config->integration == INTEGRATE_TRAPEZOID) {
    run_locate(&mover->frame, end, run, dimension);
    sample_run(mover, mover->u, run, later, dimension);
    advance_run(mover, start, 0.5 * dt, u, 0.5 * dt, later, end, dimension);
  }
  for (PetscInt d = 0; d < dimension; d++)
    for (PetscInt n = 0; n < POINT_RUN; n++)
      at[d][n] = end[d][n];
}

/* Takes away what leads out of the box at sides that a particle touches. */
KERNEL void stop_at_sides(const Mover *mover, RunVector at, RunVector velocity, const PetscInt dimension)
{
  for (PetscInt d = 0; d < dimension; d++)
    for (PetscInt n = 0; n < POINT_RUN; n++) {
      const PetscReal u = velocity[d][n];

      velocity[d][n] = at[d][n] <= mover->low.at[d] && u < 0. ? 0. : u;
      velocity[d][n] = at[d][n] >= mover->high.at[d] && u > 0. ? 0. : velocity[d][n];
    }
}

KERNEL void move_run(const Mover *mover, PetscInt count, Vector3 *positions, PetscReal *values,
                     const PetscInt width, const PetscInt dimension)
{
  RunVector at, velocity;
  PointRun  run;

  for (PetscInt n = 0; n < POINT_RUN; n++)
    for (PetscInt d = 0; d < dimension; d++)
      at[d][n] = positions[n < count ? n : count - 1].at[d];
  run_locate(&mover->frame, at, &run, dimension);
  if (width > DIM)
    gather_affine(mover, &run, count, values, dimension);
  for (PetscInt n = 0; n < POINT_RUN; n++)
    for (PetscInt d = 0; d < dimension; d++)
      velocity[d][n] = values[(n < count ? n : count - 1) * width + d];
  if (width == DIM)
    blend_run(mover, &run, velocity, dimension);
  carry_run(mover, &run, at, dimension);
  stop_at_sides(mover, at, velocity, dimension);
  for (PetscInt n = 0; n < count; n++)
    for (PetscInt d = 0; d < dimension; d++) {
      positions[n].at[d] = at[d][n];
      values[n * width + d] = velocity[d][n];
    }
}

#define MOVE(name, width, dimension)                                                                         \
  VECTOR_CLONES static void name(const Mover *mover, PetscInt count, Vector3 *positions, PetscReal *values)  \
  {                                                                                                          \
    move_run(mover, count, positions, values, width, dimension);                                             \
  }
MOVE(move_plane, DIM, 2)
MOVE(move_space, DIM, 3)
MOVE(move_affine_plane, DIM + AFFINE, 2)
MOVE(move_affine_space, DIM + AFFINE, 3)

static PetscErrorCode MoverBegin(Splash splash, Mover *mover)
{
  const GridBox  *box = grid_box(splash->grid);
  const PetscReal h = grid_spacing(splash->grid);

  PetscFunctionBegin;
  mover->frame = point_frame(splash->grid);
  mover->dimension = box->dimension;
  mover->spacing = h;
  mover->low = mover->high = mover->frame.origin;
  for (PetscInt d = 0; d < box->dimension; d++) {
    mover->high.at[d] += h * (PetscReal)box->cells[d];
    mover->low.at[d] = side_is_closed(splash, d, 0) ? mover->low.at[d] + margin * h : -PETSC_MAX_REAL;
    mover->high.at[d] = side_is_closed(splash, d, 1) ? mover->high.at[d] - margin * h : PETSC_MAX_REAL;
  }
  PetscCall(MacGridGetFaces(splash->grid, splash->velocity, mover->u));
  PetscCall(MacGridGetFaces(splash->grid, splash->old, mover->change));
  PetscCall(MacGridGetFaces(splash->grid, splash->offset, mover->offset));
  PetscCall(VecGetArrayRead(splash->near, &mover->near));
  PetscFunctionReturn(0);
}

static PetscErrorCode MoverEnd(Splash splash, Mover *mover)
{
  PetscFunctionBegin;
  PetscCall(VecRestoreArrayRead(splash->near, &mover->near));
  PetscCall(MacGridRestoreFaces(splash->grid, splash->offset, mover->offset));
  PetscCall(MacGridRestoreFaces(splash->grid, splash->old, mover->change));
  PetscCall(MacGridRestoreFaces(splash->grid, splash->velocity, mover->u));
  PetscFunctionReturn(0);
}

static Vector3 clip(const Mover *mover, Vector3 point)
{
  for (PetscInt d = 0; d < mover->dimension; d++)
    point.at[d] = PetscMin(PetscMax(point.at[d], mover->low.at[d]), mover->high.at[d]);
  return point;
}

static PetscBool is_near(const Mover *mover, Vector3 point)
{
  PetscInt c = mover->frame.base;

  for (PetscInt d = 0; d < mover->dimension; d++)
    c += mover->frame.stride[d] *
         whole_below((point.at[d] - mover->frame.origin.at[d]) * mover->frame.inverse);
  return mover->near[c] > 0. ? PETSC_TRUE : PETSC_FALSE;
}

/* Of the distance from obstacles and bodies. */
static PetscReal distance_at(const Mover *mover, Vector3 point)
{
  PetscInt body;

  return solid_distance(mover->splash, point, &body);
}

static Vector3 distance_slope(const Mover *mover, Vector3 point)
{
  const PetscReal small = 1e-4 * mover->spacing;
  Vector3         slope = vector3(0., 0., 0.);

  for (PetscInt d = 0; d < mover->dimension; d++) {
    Vector3 up = point, down = point;

    up.at[d] += small;
    down.at[d] -= small;
    slope.at[d] = (distance_at(mover, up) - distance_at(mover, down)) / (2. * small);
  }
  return slope;
}

/* Onto the surface and a little out, along the gradient of the distance. */
static Vector3 step_out(const Mover *mover, Vector3 point, PetscReal distance)
{
  const Vector3   slope = distance_slope(mover, point);
  const PetscReal length = PetscMax(vector3_norm(slope), 1e-3);

  return vector3_add(point, vector3_scale((margin * mover->spacing - distance) / length, slope));
}

/* Along the gradient, until it is outside. */
static PetscBool find_way_out(const Mover *mover, Vector3 *point)
{
  enum { TRIES = 4 };

  for (PetscInt n = 0; n < TRIES; n++) {
    *point = clip(mover, step_out(mover, *point, distance_at(mover, *point)));
    if (distance_at(mover, *point) > 0.)
      return PETSC_TRUE;
  }
  return PETSC_FALSE;
}

static Vector3 keep_outside(const Mover *mover, Vector3 from, Vector3 to)
{
  enum { HALVINGS = 12 };
  Vector3   out = to;
  PetscReal free_part = 0., part = 0.5;

  if (find_way_out(mover, &out))
    return out;
  for (PetscInt n = 0; n < HALVINGS; n++, part *= 0.5) {
    out = vector3_add(from, vector3_scale(free_part + part, vector3_subtract(to, from)));
    if (!is_in_obstacle(mover->splash, out))
      free_part += part;
  }
  return vector3_add(from, vector3_scale(free_part, vector3_subtract(to, from)));
}

/* Takes away what leads into an obstacle or body, on whose surface the particle is, that moves with `wall`;
   returns that. */
static Vector3 stop_at_solid(const Mover *mover, Vector3 at, Vector3 wall, PetscReal *velocity)
{
  const Vector3   slope = distance_slope(mover, at);
  const PetscReal square = vector3_dot(slope, slope);
  PetscReal       into = 0.;

  for (PetscInt d = 0; d < mover->dimension; d++)
    into += slope.at[d] * (velocity[d] - wall.at[d]);
  if (!(into < 0. && square > 0.))
    return vector3(0., 0., 0.);
  for (PetscInt d = 0; d < mover->dimension; d++)
    velocity[d] -= into / square * slope.at[d];
  return vector3_scale(into / square, slope);
}

/* Out of obstacles, from where particles were to where they are. */
static void leave_obstacles(const Mover *mover, PetscInt count, const Vector3 from[], Vector3 positions[],
                            PetscReal *values)
{
  for (PetscInt n = 0; n < count; n++)
    if (is_near(mover, positions[n]) && is_in_obstacle(mover->splash, positions[n])) {
      positions[n] = keep_outside(mover, from[n], positions[n]);
      stop_at_solid(mover, positions[n], vector3(0., 0., 0.), values + n * mover->splash->width);
    }
}

static void move_all(const Mover *mover, const ParticleView *view)
{
  void (*const kernels[2][2])(const Mover *, PetscInt, Vector3 *, PetscReal *) = {
      {move_plane, move_space}, {move_affine_plane, move_affine_space}};
  const PetscInt width = mover->splash->width;
  Vector3        from[POINT_RUN];

  for (PetscInt n = 0; n < view->count; n += POINT_RUN) {
    const PetscInt count = PetscMin(POINT_RUN, view->count - n);

    for (PetscInt i = 0; i < count; i++)
      from[i] = view->positions[n + i];
    kernels[width > DIM][mover->dimension - 2](mover, count, view->positions + n, view->values + n * width);
    if (mover->splash->obstacle_count)
      leave_obstacles(mover, count, from, view->positions + n, view->values + n * width);
  }
}

/* Those beyond an open side are put so far out that they are dropped. */
static void leave_box(const Mover *mover, const ParticleView *view)
{
  const GridBox *box = grid_box(mover->splash->grid);
  const Vector3  low = mover->frame.origin;

  for (PetscInt d = 0; d < mover->dimension; d++)
    for (PetscInt side = 0; side < 2; side++) {
      const PetscReal end = low.at[d] + (side ? mover->spacing * (PetscReal)box->cells[d] : 0.),
                      out = side ? 1. : -1.;

      for (PetscInt n = 0;
           n < view->count && face_place(mover->splash, d, side ? box->cells[d] : 0) == FACE_OPEN; n++)
        if ((view->positions[n].at[d] - end) * out >= 0.)
          view->positions[n].at[d] = end + out * mover->spacing;
    }
}

/* To their ranks; how many have left the box. */
static PetscErrorCode ArrangeParticles(Splash splash)
{
  PetscInt64 before, after;

  PetscFunctionBegin;
  PetscCall(ParticlesGetTotal(splash->particles, &before));
  PetscCall(ParticlesArrange(splash->particles));
  PetscCall(ParticlesGetTotal(splash->particles, &after));
  splash->report.left += before - after;
  PetscFunctionReturn(0);
}

/* `old` becomes what a particle gets beside its share of its own velocity. */
PetscErrorCode SplashMoveParticles(Splash splash, PetscReal dt)
{
  const SplashConfig *config = splash->config;
  Mover mover = {.splash = splash, .dt = dt, .share = config->transfer == TRANSFER_PIC ? 0. : config->flip};
  ParticleView view;

  PetscFunctionBegin;
  PetscCall(SplashFillSides(splash, SIDES_AS_THEY_ARE, splash->old));
  for (PetscInt d = 0; d < grid_box(splash->grid)->dimension; d++)
    PetscCall(VecAYPX(splash->old[d], -mover.share, splash->velocity[d]));
  PetscCall(MoverBegin(splash, &mover));
  PetscCall(ParticlesGetView(splash->particles, &view));
  move_all(&mover, &view);
  leave_box(&mover, &view);
  PetscCall(MoverEnd(splash, &mover));
  splash->report.left = 0;
  PetscCall(ArrangeParticles(splash));
  PetscFunctionReturn(0);
}

/* Out of a body that has come to where the particle is. */
static void leave_body(const Mover *mover, PetscInt b, Vector3 *position, PetscReal *values)
{
  const Splash splash = mover->splash;
  const Twist  velocity = splash->bodies[b].velocity;
  Vector3      out = *position, wall, lost;

  if (!find_way_out(mover, &out)) {
    splash->report.caught++;
    return;
  }
  *position = out;
  wall = twist_at(&velocity, vector3_subtract(out, splash->bodies[b].centre));
  lost = stop_at_solid(mover, out, wall, values);
  splash_hit_body(splash, b, out, vector3_scale(splash_particle_mass(splash), lost));
}

PetscErrorCode SplashClearBodies(Splash splash)
{
  Mover        mover = {.splash = splash};
  ParticleView view;
  PetscInt     body;

  PetscFunctionBegin;
  splash->report.caught = 0;
  PetscCall(MoverBegin(splash, &mover));
  PetscCall(ParticlesGetView(splash->particles, &view));
  for (PetscInt n = 0; n < view.count; n++)
    if (is_near(&mover, view.positions[n]) && !(solid_distance(splash, view.positions[n], &body) > 0.) &&
        body >= 0)
      leave_body(&mover, body, &view.positions[n], view.values + n * splash->width);
  PetscCall(MoverEnd(splash, &mover));
  PetscCall(SplashSumHits(splash));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &splash->report.caught, 1, MPIU_INT, MPI_SUM,
                             grid_box(splash->grid)->comm));
  PetscCall(ArrangeParticles(splash));
  PetscFunctionReturn(0);
}
