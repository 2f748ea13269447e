/* What the fluid adds to C = M_S + W^T M_F W, or with the diagonal lump of the thesis (5.10) instead of the
   second term, scaled like the pressure rows: six by six per free body, and blocks between bodies that share
   tied faces. The system that is then solved belongs to the solids. */
#include "../coupling_impl.h"

/* W^T M_F W, on this rank. */
typedef struct {
  ReproducibleSum *diagonal;
  SummedPairs      pairs;
} AddedFluid;

/* Of rows that count the unknowns of each body from zero. */
static void add_product(PetscReal factor, const SolidRow *a, const SolidRow *b, ReproducibleSum *block)
{
  for (PetscInt i = 0; i < a->count; i++)
    for (PetscInt j = 0; j < b->count; j++)
      sum_add(&block[TWIST * a->dof[i] + b->dof[j]], factor * a->weight[i] * b->weight[j]);
}

void interpolation_lump(const SolidRow *row, const InterpolationEntry *entry,
                        PetscReal diagonal[SOLID_ROW_LENGTH])
{
  for (PetscInt n = 0; n < row->count; n++)
    diagonal[n] = row->weight[n] * (entry->weight > 0. ? row->weight[n] / entry->weight : 0.);
}

/* The fluid of the face is part of each body by its weight, as if spread over it at the places of W: masses
   along the axes and moments of inertia about them, nothing between velocities, spins or bodies. */
static void add_lumped_face(Coupling coupling, const MixedFace *mixed, AddedFluid *added)
{
  PetscReal diagonal[SOLID_ROW_LENGTH];

  for (PetscInt s = mixed->first; s < mixed->first + mixed->count; s++) {
    const PetscInt free = coupling->solids.bodies[coupling->faces.entries[s].body].free;
    const SolidRow row = entry_row(mixed->direction, &coupling->faces.entries[s], 0);

    interpolation_lump(&row, &coupling->faces.entries[s], diagonal);
    for (PetscInt n = 0; n < row.count && free >= 0; n++)
      sum_add(&added->diagonal[TWIST * TWIST * free + (TWIST + 1) * row.dof[n]],
              coupling->scale * mixed->mass * diagonal[n]);
  }
}

static PetscErrorCode AddFace(Coupling coupling, const MixedFace *mixed, AddedFluid *added)
{
  const PetscReal factor = coupling->scale * mixed->mass;

  PetscFunctionBegin;
  if (mixed->mass == 0.)
    PetscFunctionReturn(0);
  if (coupling->config.mass == COUPLING_MASS_DIAGONAL) {
    add_lumped_face(coupling, mixed, added);
    PetscFunctionReturn(0);
  }
  for (PetscInt s = mixed->first; s < mixed->first + mixed->count; s++)
    for (PetscInt t = mixed->first; t < mixed->first + mixed->count; t++) {
      const PetscInt a = coupling->solids.bodies[coupling->faces.entries[s].body].free,
                     b = coupling->solids.bodies[coupling->faces.entries[t].body].free;
      const SolidRow row = entry_row(mixed->direction, &coupling->faces.entries[s], 0),
                     other = entry_row(mixed->direction, &coupling->faces.entries[t], 0);
      ReproducibleSum *block = NULL;

      if (a < 0 || b < 0 || a > b ||
          coupling->faces.entries[s].weight * coupling->faces.entries[t].weight == 0.)
        continue;
      if (a == b)
        block = &added->diagonal[TWIST * TWIST * a];
      else
        PetscCall(SummedPairsFind(&added->pairs, a, b, &block));
      add_product(factor, &row, &other, block);
    }
  PetscFunctionReturn(0);
}

/* The masses M_S of free bodies. */
static PetscErrorCode DescribeMasses(const PlacedSolids *solids, SolidBlock *blocks, PetscReal *masses)
{
  PetscFunctionBegin;
  PetscCall(PetscArrayzero(masses, TWIST * TWIST * solids->free_count));
  for (PetscInt f = 0; f < solids->free_count; f++) {
    const CoupledBody *body = &solids->bodies[solids->by_slot[f]].body;
    PetscReal         *mass = &masses[TWIST * TWIST * f];

    blocks[f] = (SolidBlock){TWIST * f, TWIST, PETSC_TRUE, mass};
    for (PetscInt i = 0; i < DIM; i++) {
      mass[TWIST * i + i] = body->mass;
      for (PetscInt j = 0; j < DIM; j++)
        mass[TWIST * (DIM + i) + DIM + j] = body->inertia.at[i][j];
    }
  }
  PetscFunctionReturn(0);
}

/* Bodies that bring flow into cells of this rank; null `first`: no fluid here. */
static PetscErrorCode ChooseLocal(SolidSystem solid, PetscInt count, const PetscInt *first)
{
  char *is_local;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(count, &is_local));
  for (PetscInt b = 0; b < count && first; b++)
    is_local[b] = first[b + 1] > first[b];
  PetscCall(SolidSystemSetLocal(solid, is_local));
  PetscCall(PetscFree(is_local));
  PetscFunctionReturn(0);
}

PetscErrorCode CouplingSetSolidSystem(Coupling coupling)
{
  const PetscInt   count = coupling->solids.free_count;
  SolidSystemParts parts = {.block_count = count, .scale = coupling->scale};
  AddedFluid       added = {0};
  PetscReal       *masses, *diagonal;
  SolidBlock      *blocks;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(TWIST * TWIST * count, &added.diagonal));
  for (PetscInt m = 0; m < coupling->faces.mixed_count; m++)
    if (coupling->faces.mixed[m].is_owned)
      PetscCall(AddFace(coupling, &coupling->faces.mixed[m], &added));
  PetscCall(PetscMalloc1(TWIST * TWIST * count, &diagonal));
  PetscCall(SumOverRanks(coupling->world, TWIST * TWIST * count, added.diagonal, diagonal));
  PetscCall(SummedPairsGather(&added.pairs, coupling->world, &parts.added_pairs));
  PetscCall(PetscMalloc2(count, &blocks, TWIST * TWIST * count, &masses));
  PetscCall(DescribeMasses(&coupling->solids, blocks, masses));
  parts.blocks = blocks;
  parts.added_diagonal = diagonal;
  PetscCall(SolidSystemSet(coupling->system.solid, &parts));
  PetscCall(ChooseLocal(coupling->system.solid, count, coupling->system.matrix.first));
  PetscCall(PetscFree2(blocks, masses));
  PetscCall(PetscFree(diagonal));
  PetscCall(PetscFree(added.diagonal));
  PetscFunctionReturn(0);
}
