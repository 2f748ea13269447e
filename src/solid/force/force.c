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

ForceReport sums_report(const ForceSums *sums)
{
  return (ForceReport){.energy = sum_value(&sums->energy),
                       .plastic = sum_value(&sums->plastic),
                       .volume = sum_value(&sums->volume),
                       .strain = sums->strain,
                       .least_ratio = sums->least_ratio};
}

ForceReport force_report(const Force *force)
{
  const ForceSums sums = force->kind->sum_up(force->data);

  return sums_report(&sums);
}
