/* Materials that scenes may name without giving them: usual values at small strains (docs/numerics.md, 17). A
   scene's own material of the same name goes before. */
#include <millrace/solid.h>

#include <string.h>

static const SolidMaterialConfig named[] = {
    {.name = "rubber", .young = 2e6, .poisson = 0.48, .density = 1100., .damping = 1e-4},
    {.name = "jelly", .young = 1e4, .poisson = 0.45, .density = 1000., .damping = 5e-3},
    {.name = "flesh", .young = 2e4, .poisson = 0.45, .density = 1050., .damping = 5e-3},
    {.name = "skin", .young = 2e5, .poisson = 0.45, .density = 1100., .damping = 1e-3},
    {.name = "foam", .young = 5e4, .poisson = 0.1, .density = 50., .damping = 2e-3},
    {.name = "cotton", .young = 1e7, .poisson = 0.3, .density = 500., .damping = 1e-4},
    {.name = "clay",
     .model = MATERIAL_HENCKY,
     .young = 1e6,
     .poisson = 0.4,
     .density = 1800.,
     .damping = 1e-3,
     .yield_stress = 2e4,
     .hardening = 1e4},
    {.name = "wood", .young = 1.1e10, .poisson = 0.35, .density = 420.},
    {.name = "aluminium", .young = 7e10, .poisson = 0.3, .density = 2700.},
    {.name = "steel", .young = 2.1e11, .poisson = 0.3, .density = 7850.}};
enum { NAMED = sizeof(named) / sizeof(named[0]) };

const SolidMaterialConfig *solid_named_material(PetscInt number)
{
  return number < NAMED ? &named[number] : NULL;
}

const SolidMaterialConfig *solid_find_material(const SolidConfig *config, const char name[])
{
  for (PetscInt m = 0; m < config->material_count; m++)
    if (!strcmp(config->materials[m].name, name))
      return &config->materials[m];
  for (PetscInt n = 0; n < NAMED; n++)
    if (!strcmp(named[n].name, name))
      return &named[n];
  return NULL;
}
