/* From the bodies of a solid to bodies in the fluid; copies share a surface. A rank makes and keeps the
   surfaces of bodies that come near it. */
#include "coupling_impl.h"

#include <millrace/solid_step.h>

/* Circles are cut into edges of this part of a cell. */
#define EDGE 1.5

PetscErrorCode PlacedSolidsDropSurfaces(PlacedSolids *solids)
{
  PetscFunctionBegin;
  for (PetscInt s = 0; s < solids->surface_count; s++)
    PetscCall(SurfaceDestroy(&solids->surfaces[s].surface));
  PetscCall(PetscFree(solids->surfaces));
  solids->surface_count = solids->surface_room = 0;
  PetscFunctionReturn(0);
}

static PetscErrorCode KeepSurface(PlacedSolids *solids, KeptSurface kept)
{
  PetscFunctionBegin;
  PetscCall(GrowList(solids->surface_count, &solids->surface_room, &solids->surfaces));
  solids->surfaces[solids->surface_count++] = kept;
  PetscFunctionReturn(0);
}

/* What does not last is made anew at every placing. */
static PetscErrorCode DropFleeting(PlacedSolids *solids)
{
  PetscInt kept = 0;

  PetscFunctionBegin;
  for (PetscInt s = 0; s < solids->surface_count; s++)
    if (solids->surfaces[s].form)
      solids->surfaces[kept++] = solids->surfaces[s];
    else
      PetscCall(SurfaceDestroy(&solids->surfaces[s].surface));
  solids->surface_count = kept;
  PetscFunctionReturn(0);
}

static PetscErrorCode FindSurface(Coupling coupling, Solid solid, PetscInt body, Surface *surface)
{
  const void *form = solid_body_view(solid, body).config;
  Vector3     bounds[2];
  PetscBool   lasts;

  PetscFunctionBegin;
  for (PetscInt s = coupling->solids.surface_count - 1; s >= 0; s--) /* copies follow each other */
    if (coupling->solids.surfaces[s].form == form) {
      *surface = coupling->solids.surfaces[s].surface;
      PetscFunctionReturn(0);
    }
  bounds[0] = bounds[1] = grid_origin(coupling->grid);
  for (PetscInt d = 0; d < DIM; d++)
    bounds[1].at[d] += grid_box(coupling->grid)->cells[d] * coupling->spacing;
  PetscCall(SolidCreateBodySurface(solid, body, EDGE * coupling->spacing, bounds, surface, &lasts));
  if (*surface)
    PetscCall(KeepSurface(&coupling->solids, (KeptSurface){lasts ? form : NULL, *surface}));
  PetscFunctionReturn(0);
}

PetscErrorCode CouplingPlaceSolid(Coupling coupling, Solid solid)
{
  const PetscInt count = solid_body_count(solid);
  CoupledBody   *bodies;

  PetscFunctionBegin;
  PetscCall(PlacedSolidsRemember(&coupling->solids));
  PetscCall(DropFleeting(&coupling->solids));
  PetscCall(PetscMalloc1(count, &bodies));
  for (PetscInt b = 0; b < count; b++) {
    bodies[b] = solid_coupled_body(solid, b);
    if (has_fluid(coupling) &&
        coupling_is_near(coupling, &bodies[b], place_before(&coupling->solids, count, b)))
      PetscCall(FindSurface(coupling, solid, b, &bodies[b].surface));
  }
  PetscCall(CouplingPlaceBodies(coupling, count, bodies));
  PetscCall(PetscFree(bodies));
  PetscFunctionReturn(0);
}
