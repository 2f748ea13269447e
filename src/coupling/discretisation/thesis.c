/* The thesis's own choice (5.3-5.6): every dual cell that holds fluid and solid is mixed, also along a
   surface, and all of its fluid moves with the bodies, u = W V. Weights of W are the areas of the bodies'
   surfaces in the dual cell, each at its centroid, which is the mean of the surface's velocity; M_F is the
   fluid mass in the dual cell. Mixed and solid dual cells hold every body whole, so Archimedes' force needs
   no correction. For comparison: docs/numerics.md, section 14, has what it costs and misses. */
#include "../coupling_impl.h"

/* The first two bodies with a part in the velocity. */
static void set_owners(MixedFace *mixed, const InterpolationEntry entries[])
{
  PetscInt count = 0;

  mixed->owners[0] = mixed->owners[1] = -1;
  for (PetscInt s = 0; s < mixed->count && count < 2; s++)
    if (entries[s].weight > 0. && (!count || entries[s].body != mixed->owners[0]))
      mixed->owners[count++] = entries[s].body;
}

static void interpolate(Coupling coupling, PetscReal solid, MixedFace *mixed, InterpolationEntry entries[])
{
  PetscReal area = 0.;

  mixed->open = 0.;
  mixed->mass = mixed->density * PetscMax(coupling->volume - solid, 0.);
  for (PetscInt s = 0; s < mixed->count; s++)
    area += entries[s].area;
  if (area <= 0.) { /* the surface touches the dual cell from outside */
    weigh_by_owners(mixed, solid, entries);
    return;
  }
  for (PetscInt s = 0; s < mixed->count; s++) {
    entries[s].weight = entries[s].area / area;
    if (entries[s].area > 0.)
      entries[s].arm = entries[s].surface;
  }
  set_owners(mixed, entries);
}

const Discretisation ThesisDiscretisation = {
    .mixed = MIXED_BY_VOLUME, .needs_centroids = PETSC_TRUE, .interpolate = interpolate};
