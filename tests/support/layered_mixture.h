/* Materials in layers across y, as a mixture that knows exactly where they meet. */
#ifndef MILLRACE_TESTS_LAYERED_MIXTURE_H
#define MILLRACE_TESTS_LAYERED_MIXTURE_H

#include "fluid_case.h"

/* Layer i ends at height[i]; the last one goes on. */
enum { LAYERS_MAX = 4 };
typedef struct {
  PetscInt  count;
  PetscReal height[LAYERS_MAX], density[LAYERS_MAX], viscosity[LAYERS_MAX];
  PetscReal h; /* set by use_layers */
} LayeredMixture;

/* Makes them the mixture of a fluid_case whose grid is configured. */
void use_layers(FluidCase *fluid_case, LayeredMixture *layers);

#endif
