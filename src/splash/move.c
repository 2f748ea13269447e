/* From the grid back to particles (Gerszewski 2014, 3.2.3 and 3.2.4): with u after and u' before forces and
   pressure,

     FLIP and PIC:  u_p <- a (u_p + (u - u')(x_p)) + (1 - a) u(x_p)
     APIC:          u_p <- u(x_p),  C_p = sum u_f grad T(x_p - x_f)

   then x <- x + offset(x) and the trapezoidal rule, x' = x + dt/2 (u(x) + u(x + dt u(x))). A particle that
   ends in an obstacle is put on its surface along the gradient of the distance or, if that fails, back along
   its way. */
#include "splash_impl.h"

static const PetscReal margin = 1e-6; /* cells that a particle stays away from sides and obstacles */

typedef struct {
  const Splash     splash;
  HatFrame         frame;
  PetscReal       *u[DIM], *change[DIM], *offset[DIM];
  const PetscReal *near;
  Vector3          low, high; /* of the box, less the margin; infinite where particles may leave */
} Mover;

static Vector3 sample(const Mover *mover, PetscReal *const faces[DIM], Vector3 point)
{
  Vector3    value = vector3(0., 0., 0.);
  HatPlace   place;
  HatStencil stencil;

  hat_place(&mover->frame, &point, &place);
  for (PetscInt d = 0; d < mover->frame.dimension; d++) {
    hat_stencil(&mover->frame, &place, d, &stencil);
    value.at[d] = hat_sample(&mover->frame, &stencil, faces[d]);
  }
  return value;
}

/* sum u_f grad T, by rows. */
static void sample_gradient(const Mover *mover, const HatPlace *place, PetscInt component,
                            PetscReal gradient[DIM])
{
  const HatFrame *frame = &mover->frame;
  HatStencil      stencil;

  for (PetscInt d = 0; d < DIM; d++)
    gradient[d] = 0.;
  hat_stencil(frame, place, component, &stencil);
  for (PetscInt d = 0; d < frame->dimension; d++) {
    HatPlace slope = *place;
    PetscInt kind = d == component ? ON_FACES : ON_CENTRES;

    for (PetscInt upper = 0; upper < 2; upper++) { /* all of the weight on one side, then on the other */
      slope.fraction[kind][d] = (PetscReal)upper;
      hat_stencil(frame, &slope, component, &stencil);
      gradient[d] += (upper ? 1. : -1.) * frame->inverse * hat_sample(frame, &stencil, mover->u[component]);
    }
  }
}

static void gather_affine(const Mover *mover, Vector3 point, PetscReal *values)
{
  const Vector3 u = sample(mover, mover->u, point);
  HatPlace      place;

  hat_place(&mover->frame, &point, &place);
  for (PetscInt d = 0; d < mover->frame.dimension; d++) {
    values[d] = u.at[d];
    sample_gradient(mover, &place, d, values + DIM * (d + 1));
  }
}

static void gather_blended(const Mover *mover, PetscReal share, Vector3 point, PetscReal *values)
{
  const Vector3 u = sample(mover, mover->u, point), change = sample(mover, mover->change, point);

  for (PetscInt d = 0; d < mover->frame.dimension; d++)
    values[d] = share * (values[d] + change.at[d]) + (1. - share) * u.at[d];
}

static PetscErrorCode MoverBegin(Splash splash, Mover *mover)
{
  const GridBox  *box = grid_box(splash->grid);
  const PetscReal h = grid_spacing(splash->grid);

  PetscFunctionBegin;
  mover->frame = hat_frame(splash->grid);
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

/* `old` becomes the change. */
PetscErrorCode SplashGatherVelocity(Splash splash)
{
  const SplashConfig *config = splash->config;
  const PetscReal     share = config->transfer == TRANSFER_PIC ? 0. : config->flip;
  Mover               mover = {.splash = splash};
  ParticleView        view;

  PetscFunctionBegin;
  PetscCall(SplashFillSides(splash, SIDES_AS_THEY_ARE, splash->old));
  for (PetscInt d = 0; d < grid_box(splash->grid)->dimension; d++)
    PetscCall(VecAYPX(splash->old[d], -1., splash->velocity[d]));
  PetscCall(MoverBegin(splash, &mover));
  PetscCall(ParticlesGetView(splash->particles, &view));
  for (PetscInt n = 0; n < view.count; n++)
    if (config->transfer == TRANSFER_APIC)
      gather_affine(&mover, view.positions[n], view.values + n * splash->width);
    else
      gather_blended(&mover, share, view.positions[n], view.values + n * splash->width);
  PetscCall(MoverEnd(splash, &mover));
  PetscFunctionReturn(0);
}

static Vector3 clip(const Mover *mover, Vector3 point)
{
  for (PetscInt d = 0; d < mover->frame.dimension; d++)
    point.at[d] = PetscMin(PetscMax(point.at[d], mover->low.at[d]), mover->high.at[d]);
  return point;
}

static Vector3 advance(const Mover *mover, Vector3 from, PetscReal dt, SplashIntegration integration)
{
  const PetscInt dimension = mover->frame.dimension;
  const Vector3  start = clip(mover, vector3_add(from, sample(mover, mover->offset, from)));
  const Vector3  u = sample(mover, mover->u, start);
  Vector3        end = start, later = u;

  for (PetscInt d = 0; d < dimension; d++)
    end.at[d] += dt * u.at[d];
  end = clip(mover, end);
  if (integration == INTEGRATE_EULER)
    return end;
  later = sample(mover, mover->u, end);
  end = start;
  for (PetscInt d = 0; d < dimension; d++)
    end.at[d] += 0.5 * dt * (u.at[d] + later.at[d]);
  return clip(mover, end);
}

static PetscBool is_near(const Mover *mover, Vector3 point)
{
  HatPlace place;
  PetscInt c = mover->frame.base;

  hat_place(&mover->frame, &point, &place);
  for (PetscInt d = 0; d < mover->frame.dimension; d++)
    c += place.whole[ON_FACES][d] * mover->frame.stride[d];
  return mover->near[c] > 0. ? PETSC_TRUE : PETSC_FALSE;
}

static Vector3 distance_slope(const Mover *mover, Vector3 point)
{
  const PetscReal small = 1e-4 * mover->frame.spacing;
  Vector3         slope = vector3(0., 0., 0.);

  for (PetscInt d = 0; d < mover->frame.dimension; d++) {
    Vector3 up = point, down = point;

    up.at[d] += small;
    down.at[d] -= small;
    slope.at[d] =
        (obstacle_distance(mover->splash, up) - obstacle_distance(mover->splash, down)) / (2. * small);
  }
  return slope;
}

/* Onto the surface and a little out, along the gradient of the distance. */
static Vector3 step_out(const Mover *mover, Vector3 point, PetscReal distance)
{
  const Vector3   slope = distance_slope(mover, point);
  const PetscReal length = PetscMax(vector3_norm(slope), 1e-3);

  return vector3_add(point, vector3_scale((margin * mover->frame.spacing - distance) / length, slope));
}

static Vector3 keep_outside(const Mover *mover, Vector3 from, Vector3 to)
{
  enum { TRIES = 4, HALVINGS = 12 };
  const Splash splash = mover->splash;
  Vector3      out = to;
  PetscReal    free_part = 0., part = 0.5, distance = obstacle_distance(splash, to);

  for (PetscInt n = 0; n < TRIES; n++) {
    out = clip(mover, step_out(mover, out, distance));
    distance = obstacle_distance(splash, out);
    if (distance > 0.)
      return out;
  }
  for (PetscInt n = 0; n < HALVINGS; n++, part *= 0.5) {
    out = vector3_add(from, vector3_scale(free_part + part, vector3_subtract(to, from)));
    if (obstacle_distance(splash, out) > 0.)
      free_part += part;
  }
  return vector3_add(from, vector3_scale(free_part, vector3_subtract(to, from)));
}

/* Takes away what leads out of the box at sides that the particle touches. */
static void stop_at_sides(const Mover *mover, Vector3 at, PetscReal *velocity)
{
  for (PetscInt d = 0; d < mover->frame.dimension; d++) {
    if (at.at[d] <= mover->low.at[d])
      velocity[d] = PetscMax(velocity[d], 0.);
    if (at.at[d] >= mover->high.at[d])
      velocity[d] = PetscMin(velocity[d], 0.);
  }
}

/* Likewise what leads into an obstacle, whose surface the particle was put on. */
static void stop_at_obstacle(const Mover *mover, Vector3 at, PetscReal *velocity)
{
  const Vector3   slope = distance_slope(mover, at);
  const PetscReal square = vector3_dot(slope, slope);
  PetscReal       into = 0.;

  for (PetscInt d = 0; d < mover->frame.dimension; d++)
    into += slope.at[d] * velocity[d];
  for (PetscInt d = 0; d < mover->frame.dimension && into < 0. && square > 0.; d++)
    velocity[d] -= into / square * slope.at[d];
}

static void move_particle(const Mover *mover, PetscReal dt, Vector3 *position, PetscReal *velocity)
{
  const Vector3 from = *position, to = advance(mover, from, dt, mover->splash->config->integration);

  *position = to;
  stop_at_sides(mover, to, velocity);
  if (!mover->splash->obstacle_count || !is_near(mover, to) || obstacle_distance(mover->splash, to) > 0.)
    return;
  *position = keep_outside(mover, from, to);
  stop_at_obstacle(mover, *position, velocity);
}

PetscErrorCode SplashMoveParticles(Splash splash, PetscReal dt)
{
  Mover        mover = {.splash = splash};
  ParticleView view;

  PetscFunctionBegin;
  PetscCall(MoverBegin(splash, &mover));
  PetscCall(ParticlesGetView(splash->particles, &view));
  for (PetscInt n = 0; n < view.count; n++)
    move_particle(&mover, dt, &view.positions[n], view.values + n * splash->width);
  PetscCall(MoverEnd(splash, &mover));
  PetscCall(ParticlesArrange(splash->particles));
  PetscFunctionReturn(0);
}
