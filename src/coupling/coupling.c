/* The life of a coupling, and its set-up for bodies and fluid as they are. */
#include "coupling_impl.h"

#include <millrace/solid_step.h>

static PetscErrorCode CreateFluidPart(Coupling coupling)
{
  const GridBox  *box = grid_box(coupling->grid);
  const PetscReal h = grid_spacing(coupling->grid);

  PetscFunctionBegin;
  coupling->spacing = h;
  coupling->area = box->dimension == 3 ? h * h : h;
  coupling->volume = coupling->area * h;
  coupling->cell_count = 1;
  for (PetscInt d = 0; d < DIM; d++)
    coupling->cell_count *= box->end[d] - box->start[d];
  PetscCall(PetscCalloc2(box->length, &coupling->faces.solid, box->length, &coupling->faces.active));
  PetscCall(PetscMalloc1(coupling->cell_count, &coupling->system.labels));
  for (PetscInt d = 0; d < box->dimension; d++) {
    PetscCall(
        PetscCalloc2(2 * box->length, &coupling->faces.marks[d], box->length, &coupling->faces.kinds[d]));
    coupling->faces.seconds[d] = coupling->faces.marks[d] + box->length;
  }
  PetscCall(MacGridCreateFaceField(coupling->grid, coupling->faces.weights));
  PetscCall(DMCreateGlobalVector(grid_cell_dm(coupling->grid), &coupling->system.flow));
  PetscCall(VecSumReproducibly(coupling->system.flow));
  PetscCall(VecDuplicate(coupling->system.flow, &coupling->system.right_side));
  PetscCall(VecDuplicate(coupling->system.flow, &coupling->system.solution));
  PetscCall(PoissonCreate(coupling->grid, coupling->config.prefix ? coupling->config.prefix : "coupled_",
                          &coupling->system.poisson));
  PetscCall(PoissonSetTolerance(coupling->system.poisson, coupling->config.tolerance));
  PetscFunctionReturn(0);
}

extern const Discretisation        CutDiscretisation, TiedDiscretisation, ThesisDiscretisation;
static const Discretisation *const discretisations[] = {[COUPLING_CUT] = &CutDiscretisation,
                                                        [COUPLING_TIED] = &TiedDiscretisation,
                                                        [COUPLING_FACES_THESIS] = &ThesisDiscretisation};

PetscErrorCode CouplingCreate(Team team, MacGrid grid, const CouplingConfig *config, Coupling *coupling)
{
  PetscFunctionBegin;
  PetscCheck(config->mass == COUPLING_MASS_FULL || config->faces != COUPLING_CUT, team_world(team),
             PETSC_ERR_USER_INPUT,
             "A diagonal mass needs faces that move with bodies: tied or thesis, not cut");
  PetscCall(PetscNew(coupling));
  (*coupling)->team = team;
  (*coupling)->grid = grid;
  (*coupling)->config = *config;
  (*coupling)->discretisation = discretisations[config->faces];
  (*coupling)->world = team_world(team);
  (*coupling)->fluid = team_fluid(team);
  PetscCall(SolidSystemCreate(&(*coupling)->system.solid));
  if (team_has_fluid(team))
    PetscCall(CreateFluidPart(*coupling));
  if (config->solver != COUPLING_SCHUR)
    PetscCall(CouplingCreateBlocks(*coupling));
  PetscFunctionReturn(0);
}

static PetscErrorCode DestroyFluidPart(Coupling coupling)
{
  PetscFunctionBegin;
  PetscCall(CoupledSystemDropDeflation(&coupling->system));
  PetscCall(CouplingMatrixClear(&coupling->system.matrix));
  PetscCall(KSPDestroy(&coupling->system.schur));
  PetscCall(MatDestroy(&coupling->system.schur_operator));
  PetscCall(PoissonDestroy(&coupling->system.poisson));
  PetscCall(VecDestroy(&coupling->system.flow));
  PetscCall(VecDestroy(&coupling->system.right_side));
  PetscCall(VecDestroy(&coupling->system.solution));
  PetscCall(VecDestroy(&coupling->system.fixed));
  PetscCall(MacGridDestroyFaceField(coupling->faces.weights));
  for (PetscInt d = 0; d < DIM; d++)
    PetscCall(PetscFree2(coupling->faces.marks[d], coupling->faces.kinds[d]));
  PetscCall(PetscFree2(coupling->faces.solid, coupling->faces.active));
  PetscCall(PetscFree(coupling->system.labels));
  PetscCall(CouplingDropConstraints(coupling));
  PetscCall(PetscFree(coupling->faces.mixed));
  PetscCall(PetscFree(coupling->faces.entries));
  PetscCall(PetscFree(coupling->faces.covered));
  PetscCall(PetscFree(coupling->system.contacts));
  PetscCall(PetscFree3(coupling->system.singular, coupling->system.modes, coupling->system.stiffness));
  PetscFunctionReturn(0);
}

PetscErrorCode CouplingDestroy(Coupling *coupling)
{
  PetscFunctionBegin;
  if (!*coupling)
    PetscFunctionReturn(0);
  PetscCall(CoupledSystemDropBlocks(&(*coupling)->system));
  if (has_fluid(*coupling))
    PetscCall(DestroyFluidPart(*coupling));
  PetscCall(DeformingClear(&(*coupling)->deforming));
  PetscCall(PlacedSolidsDropVisibility(&(*coupling)->solids));
  PetscCall(PetscFree((*coupling)->solids.before));
  PetscCall(PlacedSolidsDropSurfaces(&(*coupling)->solids));
  PetscCall(PlacedSolidsDropBodies(&(*coupling)->solids));
  PetscCall(SolidSystemDestroy(&(*coupling)->system.solid));
  PetscCall(PetscFree((*coupling)->system.push));
  PetscCall(PetscFree(*coupling));
  PetscFunctionReturn(0);
}

PetscErrorCode CouplingPlaceBodies(Coupling coupling, PetscInt count, const CoupledBody bodies[])
{
  const PetscInt all = count + coupling->deforming.total;
  CoupledBody   *placed;

  PetscFunctionBegin;
  coupling->is_ready = PETSC_FALSE;
  PetscCall(PetscCalloc1(all, &placed));
  PetscCall(PetscArraycpy(placed, bodies, count));
  for (PetscInt b = count; b < all; b++)
    placed[b] = (CoupledBody){.rotation = {.scalar = 1.},
                              .slips = PETSC_TRUE,
                              .thickness = coupling->deforming.thickness[b - count]};
  coupling->solids.is_still = PETSC_FALSE;
  PetscCall(CouplingTakeBodies(coupling, all, placed));
  PetscCall(PetscFree(placed));
  if (has_fluid(coupling))
    PetscCall(CouplingPlaceDeforming(coupling));
  PetscCall(PetscFree(coupling->system.push));
  PetscCall(PetscMalloc1(TWIST * coupling->solids.free_count, &coupling->system.push));
  if (has_fluid(coupling))
    PetscCall(CouplingFindCells(coupling));
  PetscFunctionReturn(0);
}

PetscErrorCode CouplingPlace(Coupling coupling, PetscInt count, const CoupledBody bodies[])
{
  PetscFunctionBegin;
  PetscCall(PlacedSolidsRemember(&coupling->solids));
  PetscCall(CouplingPlaceBodies(coupling, count, bodies));
  PetscFunctionReturn(0);
}

static PetscErrorCode TakeFixed(CoupledSystem *system, Vec fixed)
{
  PetscFunctionBegin;
  if (fixed && !system->fixed)
    PetscCall(VecDuplicate(fixed, &system->fixed));
  if (fixed)
    PetscCall(VecCopy(fixed, system->fixed));
  else
    PetscCall(VecDestroy(&system->fixed));
  PetscFunctionReturn(0);
}

static PetscErrorCode SetUpFluidPart(Coupling coupling, const FluidSystem *fluid, PetscReal displaced[])
{
  PetscReal *densities[DIM];

  PetscFunctionBegin;
  PetscCall(TakeFixed(&coupling->system, fluid->fixed));
  PetscCall(CouplingFindFaces(coupling, fluid));
  if (fluid->densities)
    PetscCall(MacGridGetFaces(coupling->grid, (Vec *)fluid->densities, densities));
  PetscCall(CouplingInterpolate(coupling, fluid->densities ? densities : NULL, displaced));
  if (fluid->densities)
    PetscCall(MacGridRestoreFaces(coupling->grid, (Vec *)fluid->densities, densities));
  PetscCall(PoissonSetWeights(coupling->system.poisson, coupling->faces.weights, fluid->fixed));
  PetscCall(CouplingBuildMatrix(coupling, fluid->fixed));
  if (coupling->deforming.patches)
    PetscCall(CouplingBuildDeforming(coupling));
  PetscFunctionReturn(0);
}

/* On the fluid team. */
static PetscErrorCode Count(Coupling coupling)
{
  CouplingReport *found = &coupling->found;
  PetscInt        counts[2] = {0, 0};

  PetscFunctionBegin;
  for (PetscInt m = 0; m < coupling->faces.mixed_count; m++)
    if (coupling->faces.mixed[m].is_owned) {
      counts[0]++;
      counts[1] += coupling->faces.mixed[m].owners[1] >= 0;
    }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, counts, 2, MPIU_INT, MPI_SUM, coupling->fluid));
  found->mixed_faces = counts[0];
  found->shared_faces = counts[1];
  found->contact_faces = coupling->system.contact_count;
  found->components = poisson_components(coupling->system.poisson).count;
  found->null_vectors = coupling->system.null_count;
  found->moved = coupling->system.singular_count - coupling->system.null_count;
  found->worst_body = found->worst_component = -1;
  PetscFunctionReturn(0);
}

PetscErrorCode CouplingSetFluid(Coupling coupling, const FluidSystem *fluid)
{
  PetscReal *displaced;

  PetscFunctionBegin;
  PetscCheck(fluid->density > 0., coupling->world, PETSC_ERR_ARG_OUTOFRANGE,
             "The reference density must be positive, not %g", (double)fluid->density);
  coupling->density = fluid->density;
  coupling->expansion = fluid->expansion;
  PetscCall(PetscCalloc1(coupling->solids.count, &displaced));
  if (has_fluid(coupling)) {
    coupling->scale = (grid_box(coupling->grid)->dimension == 3 ? coupling->spacing : 1.) / fluid->density;
    PetscCall(SetUpFluidPart(coupling, fluid, displaced));
  }
  PetscCall(TeamAwaitFluid(coupling->team));
  PetscCallMPI(MPI_Bcast(&coupling->scale, 1, MPIU_REAL, 0, coupling->world)); /* its first rank has fluid */
  PetscCall(CouplingFindAdded(coupling, has_fluid(coupling) ? displaced : NULL));
  PetscCall(PetscFree(displaced));
  PetscCall(CouplingSetSolidSystem(coupling));
  PetscCall(CouplingPrepareDeforming(coupling));
  if (has_fluid(coupling)) {
    PetscCall(CouplingFindNullSpace(coupling));
    PetscCall(Count(coupling));
  }
  PetscCall(CouplingAnswer(coupling));
  PetscCall(CoupledSystemDropDeflation(&coupling->system));
  coupled_system_outdate_blocks(&coupling->system);
  coupling->is_ready = PETSC_TRUE;
  PetscFunctionReturn(0);
}

const PetscInt *coupling_faces(Coupling coupling, PetscInt direction)
{
  return coupling->faces.kinds[direction];
}

const PetscInt *coupling_solid_cells(Coupling coupling)
{
  return coupling->faces.solid;
}
