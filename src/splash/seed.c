/* Liquid at the start: a lattice of particles in every cell, where a shape has it and no obstacle. */
#include "splash_impl.h"

/* The liquid at a point, or -1. */
static PetscInt liquid_at(const Splash splash, Vector3 point)
{
  const SplashConfig *config = splash->config;
  PetscInt            body;

  if (!(solid_distance(splash, point, &body) > 0.))
    return -1;
  for (PetscInt n = 0; n < config->liquid_count; n++)
    if (shape_is_inside(config->liquids[n].shape, point))
      return n;
  return -1;
}

/* One for each point of the lattice of the whole box. */
static PetscInt64 number_of(const Splash splash, const PetscInt at[DIM], PetscInt n)
{
  const GridBox *box = grid_box(splash->grid);

  return n + (PetscInt64)lattice_size(splash->config, box->dimension) *
                 (at[X] + box->cells[X] * (at[Y] + box->cells[Y] * (PetscInt64)at[Z]));
}

static PetscErrorCode SeedPoint(Splash splash, const PetscInt at[DIM], PetscInt n)
{
  const Vector3    point = lattice_point(splash, at, n);
  const PetscInt   liquid = liquid_at(splash, point), dimension = grid_box(splash->grid)->dimension;
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

PetscErrorCode SplashStart(Splash splash)
{
  const GridBox *box = grid_box(splash->grid);

  PetscFunctionBegin;
  FOR_PLACES(box, at)
    for (PetscInt n = 0; n < lattice_size(splash->config, box->dimension); n++)
      PetscCall(SeedPoint(splash, at, n));
  PetscCall(ParticlesArrange(splash->particles));
  PetscCall(SplashAddSources(splash, 0., 0.));
  PetscCall(SplashBurstBetween(splash, -1., 0.));
  PetscCall(SplashRasterise(splash));
  PetscFunctionReturn(0);
}
