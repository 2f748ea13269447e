/* Liquid that comes in, and explosions.

   A lattice with the spacing of the particles in a full cell moves with the velocity v of the source. Between
   two times those of its points become particles that are in the shape at the later and were not at the
   earlier one: exactly area times v times density comes in, at any time step, and it comes full. Where the
   shape is, particles have the velocity v. */
#include "splash_impl.h"

enum { LATTICE_BITS = 19 }; /* of each index in the number of a particle */

static PetscBool is_on(const SplashSource *source, PetscReal time)
{
  return time >= source->from && time < source->until ? PETSC_TRUE : PETSC_FALSE;
}

PetscReal splash_source_speed(const Splash splash)
{
  PetscReal speed = 0.;

  for (PetscInt n = 0; n < splash->config->source_count; n++)
    for (PetscInt d = 0; d < grid_box(splash->grid)->dimension; d++)
      speed = PetscMax(speed, PetscAbsReal(splash->config->sources[n].velocity.at[d]));
  return speed;
}

/* Where the velocity of liquid that has no room to expand is given. */
static PetscErrorCode MarkSources(Splash splash, PetscReal time)
{
  const GridBox  *box = grid_box(splash->grid);
  const GridRange range = box_grown(box, box->ghost);
  PetscReal      *held;

  PetscFunctionBegin;
  PetscCall(VecGetArray(splash->held, &held));
  FOR_CELLS(&range, i, j, k) {
    PetscReal *mark = &held[box_index(box, i, j, k)];

    *mark = 0.;
    for (PetscInt s = 0; s < splash->config->source_count && *mark == 0.; s++)
      if (is_on(&splash->config->sources[s], time) &&
          shape_is_inside(splash->config->sources[s].shape, grid_cell_centre(splash->grid, i, j, k)))
        *mark = 1. + s;
  }
  PetscCall(VecRestoreArray(splash->held, &held));
  PetscFunctionReturn(0);
}

PetscErrorCode SplashHoldSources(Splash splash, PetscReal time)
{
  const PetscInt width = splash->width;
  ParticleView   view;

  PetscFunctionBegin;
  if (splash->held)
    PetscCall(MarkSources(splash, time));
  PetscCall(ParticlesGetView(splash->particles, &view));
  for (PetscInt s = 0; s < splash->config->source_count; s++) {
    const SplashSource *source = &splash->config->sources[s];

    for (PetscInt n = 0; n < view.count && is_on(source, time); n++)
      if (shape_is_inside(source->shape, view.positions[n]))
        for (PetscInt v = 0; v < width; v++)
          view.values[n * width + v] = v < DIM ? source->velocity.at[v] : 0.;
  }
  PetscFunctionReturn(0);
}

/* Unlike those of the start, and of all points of all lattices for as long as these move by some 10^5 points.
 */
static PetscInt64 number_of(PetscInt source, const PetscInt64 at[DIM])
{
  PetscInt64 number = (PetscInt64)1 << (62 - LATTICE_BITS * DIM) | source;

  for (PetscInt d = 0; d < DIM; d++)
    number = number << LATTICE_BITS | (at[d] & (((PetscInt64)1 << LATTICE_BITS) - 1));
  return number;
}

/* The moving lattice of a source at one time. */
typedef struct {
  const SplashSource *source;
  PetscInt            number;
  Vector3             first;   /* point (0, 0, 0) */
  PetscReal           spacing; /* m */
  Vector3             way;     /* since the time before */
  PetscBool           begins;  /* there was no time before */
} MovingLattice;

static PetscBool is_ours(const Splash splash, Vector3 point)
{
  const GridBox *box = grid_box(splash->grid);
  const Vector3  origin = grid_origin(splash->grid);
  PetscInt       body;

  for (PetscInt d = 0; d < box->dimension; d++) {
    const PetscReal at = (point.at[d] - origin.at[d]) / grid_spacing(splash->grid);

    if (!(at >= (PetscReal)box->start[d] && at < (PetscReal)box->end[d]))
      return PETSC_FALSE;
  }
  return solid_distance(splash, point, &body) > 0. ? PETSC_TRUE : PETSC_FALSE;
}

static PetscErrorCode AddPoint(Splash splash, const MovingLattice *lattice, const PetscInt64 at[DIM])
{
  const PetscInt64 number = number_of(lattice->number, at);
  PetscReal        values[DIM + AFFINE] = {0.};
  Vector3          point = lattice->first;

  PetscFunctionBegin;
  for (PetscInt d = 0; d < grid_box(splash->grid)->dimension; d++) {
    point.at[d] += lattice->spacing * (PetscReal)at[d];
    values[d] = lattice->source->velocity.at[d];
  }
  if (!shape_is_inside(lattice->source->shape, point) || !is_ours(splash, point))
    PetscFunctionReturn(0);
  if (!lattice->begins && shape_is_inside(lattice->source->shape, vector3_subtract(point, lattice->way)))
    PetscFunctionReturn(0);
  PetscCall(ParticlesAdd(splash->particles, 1, &point, values, &number));
  PetscFunctionReturn(0);
}

/* Points of the lattice that may be in the shape and on this rank. */
static PetscBool find_range(const Splash splash, const MovingLattice *lattice, PetscInt64 low[DIM],
                            PetscInt64 high[DIM])
{
  const GridBox  *box = grid_box(splash->grid);
  const PetscReal h = grid_spacing(splash->grid);
  const Vector3   origin = grid_origin(splash->grid);
  Vector3         from, to;

  shape_bounds(lattice->source->shape, &from, &to);
  for (PetscInt d = 0; d < DIM; d++) {
    low[d] = high[d] = 0;
    if (d >= box->dimension)
      continue;
    from.at[d] = PetscMax(from.at[d], origin.at[d] + h * (PetscReal)box->start[d]);
    to.at[d] = PetscMin(to.at[d], origin.at[d] + h * (PetscReal)box->end[d]);
    if (to.at[d] < from.at[d])
      return PETSC_FALSE;
    low[d] = (PetscInt64)PetscFloorReal((from.at[d] - lattice->first.at[d]) / lattice->spacing);
    high[d] = (PetscInt64)PetscCeilReal((to.at[d] - lattice->first.at[d]) / lattice->spacing);
  }
  return PETSC_TRUE;
}

static PetscErrorCode AddEntered(Splash splash, const MovingLattice *lattice)
{
  PetscInt64 low[DIM], high[DIM], at[DIM];

  PetscFunctionBegin;
  if (!find_range(splash, lattice, low, high))
    PetscFunctionReturn(0);
  for (at[Z] = low[Z]; at[Z] <= high[Z]; at[Z]++)
    for (at[Y] = low[Y]; at[Y] <= high[Y]; at[Y]++)
      for (at[X] = low[X]; at[X] <= high[X]; at[X]++)
        PetscCall(AddPoint(splash, lattice, at));
  PetscFunctionReturn(0);
}

PetscErrorCode SplashAddSources(Splash splash, PetscReal before, PetscReal now)
{
  const SplashConfig *config = splash->config;

  PetscFunctionBegin;
  for (PetscInt n = 0; n < config->source_count; n++) {
    const SplashSource *source = &config->sources[n];
    MovingLattice       lattice = {.source = source,
                                   .number = n,
                                   .first = lattice_point(splash, (PetscInt[]){0, 0, 0}, 0),
                                   .spacing = grid_spacing(splash->grid) / config->particles};

    if (!is_on(source, now))
      continue;
    lattice.begins = before >= now || before < source->from ? PETSC_TRUE : PETSC_FALSE;
    lattice.way = vector3_scale(now - before, source->velocity);
    lattice.first = vector3_add(lattice.first, vector3_scale(now - source->from, source->velocity));
    PetscCall(AddEntered(splash, &lattice));
  }
  if (config->source_count)
    PetscCall(ParticlesArrange(splash->particles));
  PetscFunctionReturn(0);
}

static void burst_one(const SplashBurst *burst, PetscInt dimension, Vector3 point, PetscReal *velocity)
{
  Vector3   away = vector3_subtract(point, burst->centre);
  PetscReal distance, speed;

  if (dimension == 2)
    away.at[Z] = 0.;
  distance = vector3_norm(away);
  speed = burst->speed * (1. - distance / burst->radius);
  for (PetscInt d = 0; d < dimension && speed > 0. && distance > 0.; d++)
    velocity[d] += speed / distance * away.at[d];
}

PetscErrorCode SplashBurstBetween(Splash splash, PetscReal before, PetscReal now)
{
  const PetscInt dimension = grid_box(splash->grid)->dimension;
  ParticleView   view;

  PetscFunctionBegin;
  PetscCall(ParticlesGetView(splash->particles, &view));
  for (PetscInt b = 0; b < splash->config->burst_count; b++) {
    const SplashBurst *burst = &splash->config->bursts[b];

    if (burst->time <= before || burst->time > now)
      continue;
    for (PetscInt n = 0; n < view.count; n++)
      burst_one(burst, dimension, view.positions[n], view.values + n * splash->width);
  }
  PetscFunctionReturn(0);
}
