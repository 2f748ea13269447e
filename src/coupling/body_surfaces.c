/* From the bodies of a solid to bodies in the fluid; copies share a surface. A rank makes or fetches the
   surfaces of bodies that come near it, and keeps each until no such body has been near for a while. */
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

/* A body that comes and goes is not fetched every time. */
enum { KEPT_PLACINGS = 64 };

/* What does not last is made anew at every placing. */
static PetscErrorCode DropUnused(PlacedSolids *solids)
{
  PetscInt kept = 0;

  PetscFunctionBegin;
  for (PetscInt s = 0; s < solids->surface_count; s++)
    if (solids->surfaces[s].form && solids->surfaces[s].unused++ < KEPT_PLACINGS)
      solids->surfaces[kept++] = solids->surfaces[s];
    else
      PetscCall(SurfaceDestroy(&solids->surfaces[s].surface));
  solids->surface_count = kept;
  PetscFunctionReturn(0);
}

/* Copies follow each other. */
static KeptSurface *find_kept(const PlacedSolids *solids, const void *form)
{
  for (PetscInt s = solids->surface_count - 1; s >= 0; s--)
    if (solids->surfaces[s].form == form)
      return &solids->surfaces[s];
  return NULL;
}

static PetscErrorCode FindSurface(Coupling coupling, Solid solid, PetscInt body, Surface *surface)
{
  const void  *form = solid_body_view(solid, body).config;
  KeptSurface *kept = find_kept(&coupling->solids, form);
  Vector3      bounds[2];
  PetscBool    lasts;

  PetscFunctionBegin;
  if (kept) {
    kept->unused = 0;
    *surface = kept->surface;
    PetscFunctionReturn(0);
  }
  bounds[0] = bounds[1] = grid_origin(coupling->grid);
  for (PetscInt d = 0; d < DIM; d++)
    bounds[1].at[d] += grid_box(coupling->grid)->cells[d] * coupling->spacing;
  PetscCall(SolidCreateBodySurface(solid, body, EDGE * coupling->spacing, bounds, surface, &lasts));
  if (*surface)
    PetscCall(KeepSurface(&coupling->solids, (KeptSurface){lasts ? form : NULL, *surface, 0}));
  PetscFunctionReturn(0);
}

/* Of the near bodies whose surfaces this rank has neither kept nor can make; on the fluid team. */
static PetscErrorCode FetchMissing(PlacedSolids *solids, Solid solid, PetscInt count, const PetscInt near[])
{
  PetscInt wanted_count = 0, *wanted;
  Surface *surfaces;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(count, &wanted, count, &surfaces));
  for (PetscInt n = 0; n < count; n++) {
    const void *form = solid_body_view(solid, near[n]).config;

    if (!solid_has_surface(solid, near[n]) && !find_kept(solids, form) &&
        (!wanted_count || solid_body_view(solid, wanted[wanted_count - 1]).config != form))
      wanted[wanted_count++] = near[n];
  }
  PetscCall(SolidFetchSurfaces(solid, wanted_count, wanted, surfaces));
  for (PetscInt n = 0; n < wanted_count; n++)
    PetscCall(KeepSurface(solids, (KeptSurface){solid_body_view(solid, wanted[n]).config, surfaces[n], 0}));
  PetscCall(PetscFree2(wanted, surfaces));
  PetscFunctionReturn(0);
}

/* Gives the near bodies their surfaces; on the fluid team. */
static PetscErrorCode FindSurfaces(Coupling coupling, Solid solid, PetscInt count, CoupledBody bodies[])
{
  PetscInt near_count = 0, *near;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(count, &near));
  for (PetscInt b = 0; b < count; b++)
    if (!bodies[b].is_enclosed &&
        coupling_is_near(coupling, &bodies[b],
                         place_before(&coupling->solids, count + coupling->deforming.total, b)))
      near[near_count++] = b;
  PetscCall(FetchMissing(&coupling->solids, solid, near_count, near));
  for (PetscInt n = 0; n < near_count; n++)
    PetscCall(FindSurface(coupling, solid, near[n], &bodies[near[n]].surface));
  PetscCall(PetscFree(near));
  PetscFunctionReturn(0);
}

PetscErrorCode CouplingPlaceSolid(Coupling coupling, Solid solid)
{
  const PetscInt count = solid_body_count(solid);
  CoupledBody   *bodies;

  PetscFunctionBegin;
  PetscCall(PlacedSolidsRemember(&coupling->solids));
  PetscCall(DropUnused(&coupling->solids));
  PetscCall(PetscMalloc1(count, &bodies));
  for (PetscInt b = 0; b < count; b++)
    bodies[b] = solid_coupled_body(solid, b);
  if (has_fluid(coupling))
    PetscCall(FindSurfaces(coupling, solid, count, bodies));
  PetscCall(CouplingPlaceBodies(coupling, count, bodies));
  PetscCall(PetscFree(bodies));
  PetscFunctionReturn(0);
}

PetscInt coupling_surfaces_held(Coupling coupling)
{
  return coupling->solids.surface_count;
}
