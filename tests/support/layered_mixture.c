#include "layered_mixture.h"

/* The mean of a property over y - h/2 ... y + h/2, or the mean of its inverse. */
static PetscReal layers_mean(const LayeredMixture *layers, const PetscReal values[], PetscReal y,
                             PetscBool inverse)
{
  const PetscReal low = y - 0.5 * layers->h, high = y + 0.5 * layers->h;
  PetscReal       sum = 0., from = -PETSC_MAX_REAL;

  for (PetscInt i = 0; i < layers->count; i++) {
    const PetscReal to = i + 1 < layers->count ? layers->height[i] : PETSC_MAX_REAL;
    const PetscReal width = PetscMin(high, to) - PetscMax(low, from);

    if (width > 0.)
      sum += width * (inverse ? 1. / values[i] : values[i]);
    from = to;
  }
  return sum / layers->h;
}

static PetscReal layers_density(const void *context, Vector3 point, PetscInt direction)
{
  const LayeredMixture *layers = context;

  (void)direction;
  return layers_mean(layers, layers->density, point.at[Y], PETSC_FALSE);
}

/* Along x, what lies at the height of the cell centre. */
static PetscReal layers_mobility(const void *context, Vector3 point, PetscInt direction)
{
  const LayeredMixture *layers = context;
  PetscInt              i = 0;

  if (direction == Y)
    return 1. / layers_density(context, point, Y);
  while (i + 1 < layers->count && point.at[Y] > layers->height[i])
    i++;
  return 1. / layers->density[i];
}

static PetscReal layers_viscosity(const void *context, Vector3 point, PetscInt direction)
{
  const LayeredMixture *layers = context;

  (void)direction;
  return layers_mean(layers, layers->viscosity, point.at[Y], PETSC_FALSE);
}

static PetscReal layers_edge_viscosity(const void *context, Vector3 point, PetscInt direction)
{
  const LayeredMixture *layers = context;

  (void)direction;
  return 1. / layers_mean(layers, layers->viscosity, point.at[Y], PETSC_TRUE);
}

void use_layers(FluidCase *fluid_case, LayeredMixture *layers)
{
  layers->h = fluid_case->grid_config.size.at[X] / fluid_case->grid_config.resolution;
  fluid_case->functions = (FluidCaseFunctions){.context = layers,
                                               .density = layers_density,
                                               .mobility = layers_mobility,
                                               .viscosity = layers_viscosity,
                                               .edge_viscosity = layers_edge_viscosity};
}
