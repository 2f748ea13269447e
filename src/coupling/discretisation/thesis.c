/* The thesis's own choice (5.3-5.6): every dual cell that holds fluid and solid is mixed, also along a
   surface, and all of its fluid moves with the bodies, u = W V. Weights of W are the areas of the bodies'
   surfaces in the dual cell, each at its centroid, which is the mean of the surface's velocity; M_F is the
   fluid mass in the dual cell. Mixed and solid dual cells hold every body whole, so Archimedes' force needs
   no correction. For comparison: docs/numerics.md, section 14, has what it costs and misses. */
#include "../coupling_impl.h"

/* The first two bodies with a part in the velocity. */
static void set_owners(MixedFace *mixed, const BodyShare shares[])
{
  PetscInt count = 0;

  mixed->owners[0] = mixed->owners[1] = -1;
  for (PetscInt s = 0; s < mixed->count && count < 2; s++)
    if (shares[s].weight > 0. && (!count || shares[s].body != mixed->owners[0]))
      mixed->owners[count++] = shares[s].body;
}

static void interpolate(Coupling coupling, PetscReal solid, MixedFace *mixed, BodyShare shares[])
{
  PetscReal area = 0.;

  mixed->open = 0.;
  mixed->mass = mixed->density * PetscMax(coupling->volume - solid, 0.);
  for (PetscInt s = 0; s < mixed->count; s++)
    area += shares[s].area;
  if (area <= 0.) { /* the surface touches the dual cell from outside */
    weigh_by_owners(mixed, solid, shares);
    return;
  }
  for (PetscInt s = 0; s < mixed->count; s++) {
    shares[s].weight = shares[s].area / area;
    if (shares[s].area > 0.)
      shares[s].arm = shares[s].surface;
  }
  set_owners(mixed, shares);
}

const Discretisation ThesisDiscretisation = {
    .mixed = MIXED_BY_VOLUME, .needs_centroids = PETSC_TRUE, .interpolate = interpolate};
