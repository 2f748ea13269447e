/* The table of forces. */
#include "element_set.h"

#include <string.h>

extern const ForceKind NeoHookeanForce, CorotationalForce, StVenantKirchhoffForce, LinearForce, HenckyForce,
    EdgeSpringForce, BendingForce, AltitudeForce, FibreForce, InvertibleForce;
static const ForceKind *const rows[] = {
    &NeoHookeanForce, &CorotationalForce, &StVenantKirchhoffForce, &LinearForce, &HenckyForce,
    &EdgeSpringForce, &BendingForce,      &AltitudeForce,          &FibreForce,  &InvertibleForce};

const ForceKind *force_kind(const char name[])
{
  for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]); r++)
    if (!strcmp(rows[r]->name, name))
      return rows[r];
  return NULL;
}
