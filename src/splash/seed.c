/* Liquid at the start: a lattice of particles in every cell, where a shape has it and no obstacle. */
#include "splash_impl.h"

/* Beyond this distance from its centre, in cells, no point of a cell is on the other side of a surface. */
static const PetscReal reach = 2.;

/* The liquid at a point, or -1; where solids are near, outside of them. */
static PetscInt liquid_at(const Splash splash, Vector3 point, PetscBool near_solids)
{
  const SplashConfig *config = splash->config;
  PetscInt            body;

  for (PetscInt n = 0; n < config->liquid_count; n++)
    if (shape_is_inside(config->liquids[n].shape, point))
      return near_solids && !(solid_distance(splash, point, &body) > 0.) ? -1 : n;
  return -1;
}

/* The cells of this rank that the bounds of some liquid reach into. */
static GridRange cells_with_liquid(const Splash splash)
{
  const GridBox  *box = grid_box(splash->grid);
  const PetscReal h = grid_spacing(splash->grid);
  const Vector3   origin = grid_origin(splash->grid);
  GridRange       range = box_grown(box, 0);

  for (PetscInt d = 0; d < box->dimension; d++) {
    PetscReal first = PETSC_MAX_REAL, last = PETSC_MIN_REAL;

    for (PetscInt n = 0; n < splash->config->liquid_count; n++) {
      Vector3 low, high;

      shape_bounds(splash->config->liquids[n].shape, &low, &high);
      first = PetscMin(first, low.at[d]);
      last = PetscMax(last, high.at[d]);
    }
    while (range.start[d] < range.end[d] && origin.at[d] + h * (PetscReal)(range.start[d] + 1) < first)
      range.start[d]++;
    while (range.start[d] < range.end[d] && origin.at[d] + h * (PetscReal)(range.end[d] - 1) > last)
      range.end[d]--;
  }
  return range;
}

/* One for each point of the lattice of the whole box. */
static PetscInt64 number_of(const Splash splash, const PetscInt at[DIM], PetscInt n)
{
  const GridBox *box = grid_box(splash->grid);

  return n + (PetscInt64)lattice_size(splash->config, box->dimension) *
                 (at[X] + box->cells[X] * (at[Y] + box->cells[Y] * (PetscInt64)at[Z]));
}

static PetscErrorCode SeedPoint(Splash splash, const PetscInt at[DIM], PetscInt n, PetscBool near_solids)
{
  const Vector3  point = lattice_point(splash, at, n);
  const PetscInt liquid = liquid_at(splash, point, near_solids),
                 dimension = grid_box(splash->grid)->dimension;
  const PetscInt64 number = number_of(splash, at, n);
  PetscReal        values[DIM + AFFINE] = {0.};

  PetscFunctionBegin;
  if (liquid < 0)
    PetscFunctionReturn(0);
  for (PetscInt d = 0; d < dimension; d++)
    if (splash->config->liquids[liquid].velocity[d])
      values[d] = formula_value(splash->config->liquids[liquid].velocity[d], point, 0.);
  PetscCall(ParticlesAdd(splash->particles, 1, &point, values, &number));
  PetscFunctionReturn(0);
}

static PetscErrorCode SeedCell(Splash splash, const PetscInt at[DIM])
{
  const Vector3   centre = grid_cell_centre(splash->grid, at[X], at[Y], at[Z]);
  const PetscReal far = reach * grid_spacing(splash->grid);
  PetscInt        body;
  const PetscReal distance = solid_distance(splash, centre, &body);

  PetscFunctionBegin;
  for (PetscInt n = 0; n < lattice_size(splash->config, grid_box(splash->grid)->dimension); n++)
    if (distance > -far)
      PetscCall(SeedPoint(splash, at, n, distance < far ? PETSC_TRUE : PETSC_FALSE));
  PetscFunctionReturn(0);
}

PetscErrorCode SplashStart(Splash splash)
{
  const GridRange range = cells_with_liquid(splash);

  PetscFunctionBegin;
  FOR_PLACES(&range, at)
    PetscCall(SeedCell(splash, at));
  PetscCall(ParticlesArrange(splash->particles));
  PetscCall(SplashAddSources(splash, 0., 0.));
  PetscCall(SplashBurstBetween(splash, -1., 0.));
  PetscCall(SplashRasterise(splash));
  PetscFunctionReturn(0);
}
