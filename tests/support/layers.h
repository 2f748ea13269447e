/* Materials in layers across y, as a mixture that knows exactly where they meet. */
#ifndef MILLRACE_TESTS_LAYERS_H
#define MILLRACE_TESTS_LAYERS_H

#include "blend.h"

/* Layer i ends at height[i]; the last one goes on. */
enum { LAYERS_MAX = 4 };
typedef struct {
  PetscInt  count;
  PetscReal height[LAYERS_MAX], density[LAYERS_MAX], viscosity[LAYERS_MAX];
  PetscReal h; /* set by use_layers */
} Layers;

/* Makes them the mixture of a blend whose grid is configured. */
void use_layers(Blend *blend, Layers *layers);

#endif
