/* Where three regions meet. The energy of the interfaces is that of the surfaces of all regions,

     sum over pairs sigma_ij |Gamma_ij| = sum_i sigma_i |Gamma_i|,  sigma_i = (sigma_ij + sigma_ik -
   sigma_jk)/2,

   so that between i and j the pressure jumps by sigma_i kappa_i - sigma_j kappa_j, with the curvature of each
   region's own surface. Along smooth parts kappa_j = -kappa_i, and this is sigma_ij kappa. At a junction the
   surface of each region turns by its angle, and the three turnings pull at it by the sum of the tensions:
   at rest they form Neumann's triangle. sigma_i < 0 is allowed: that region spreads between the others. */
#include "phase_impl.h"
#include "crossing.h"

static const PetscReal junction_near = 2., junction_far = 4.; /* cells from the third region */
enum { JUNCTION_PASSES = 2 };

/* A face between two regions with a third one near by. */
typedef struct {
  PetscInt  cell, direction; /* the face below the cell */
  PetscInt  third;           /* region */
  PetscReal share;           /* 1 at the junction, 0 far from it */
  PetscReal jump;
} JunctionFace;

typedef struct {
  JunctionFace *faces;
  PetscInt      count, room;
  unsigned      regions; /* bits of those whose curvature is asked for, of all ranks */
} Junctions;

/* The nearest of the other regions, at a crossing. */
static PetscInt third_region(const Crossings *crossings, const Crossing *crossing, PetscInt above,
                             PetscInt below, PetscReal *distance)
{
  PetscInt third = -1;

  *distance = PETSC_MAX_REAL;
  for (PetscInt n = 0; n < crossings->phase->count; n++) {
    const PetscReal at_crossing = (1. - crossing->theta) * crossings->distances[n][below] +
                                  crossing->theta * crossings->distances[n][above];

    if (n == crossing->lower || n == crossing->upper || at_crossing >= *distance)
      continue;
    third = n;
    *distance = at_crossing;
  }
  return third;
}

static PetscErrorCode AddFace(Junctions *junctions, const Crossings *crossings, PetscInt c, PetscInt d)
{
  const Phase     phase = crossings->phase;
  const PetscReal h = grid_spacing(phase->grid);
  const PetscInt  below = c - grid_box(phase->grid)->stride[d];
  const Crossing  crossing = crossing_below(crossings, c, d);
  JunctionFace    face = {c, d, -1, 0., 0.};
  PetscReal       distance;

  PetscFunctionBegin;
  if (crossing.lower == crossing.upper || crossing.blocked)
    PetscFunctionReturn(0);
  face.third = third_region(crossings, &crossing, c, below, &distance);
  face.share = PetscMin(1., (junction_far - distance / h) / (junction_far - junction_near));
  if (face.third < 0 || face.share <= 0.)
    PetscFunctionReturn(0);
  PetscCall(AppendItem(&junctions->count, &junctions->room, &junctions->faces, face));
  junctions->regions |= 1u << crossing.lower | 1u << crossing.upper;
  PetscFunctionReturn(0);
}

static PetscErrorCode FindFaces(Phase phase, Junctions *junctions)
{
  const GridBox *box = grid_box(phase->grid);
  Crossings      crossings;

  PetscFunctionBegin;
  PetscCall(PhaseGetCrossings(phase, &crossings));
  for (PetscInt m = 0; m < phase->mixed_count; m++)
    for (PetscInt d = 0; d < box->dimension; d++)
      PetscCall(AddFace(junctions, &crossings, phase->mixed_cells[m], d));
  PetscCall(PhaseRestoreCrossings(phase, &crossings));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &junctions->regions, 1, MPI_UNSIGNED, MPI_BOR, box->comm));
  PetscFunctionReturn(0);
}

/* sigma_i of region i beside j and k. */
static PetscReal region_tension(Phase phase, PetscInt i, PetscInt j, PetscInt k)
{
  return 0.5 * (phase->tension[i][j] + phase->tension[i][k] - phase->tension[j][k]);
}

/* The part of one region in the jumps between it and others. */
static PetscErrorCode AddRegion(Phase phase, PetscInt region, Vec curvature, Junctions *junctions)
{
  const GridBox   *box = grid_box(phase->grid);
  const PetscReal *kappa;
  Crossings        crossings;

  PetscFunctionBegin;
  PetscCall(PhaseGetCrossings(phase, &crossings));
  PetscCall(VecGetArrayRead(curvature, &kappa));
  for (PetscInt n = 0; n < junctions->count; n++) {
    JunctionFace   *face = &junctions->faces[n];
    const PetscInt  below = face->cell - box->stride[face->direction];
    const Crossing  crossing = crossing_below(&crossings, face->cell, face->direction);
    const PetscReal at_crossing = (1. - crossing.theta) * kappa[below] + crossing.theta * kappa[face->cell];

    if (crossing.lower == region)
      face->jump -= region_tension(phase, region, crossing.upper, face->third) * at_crossing;
    if (crossing.upper == region)
      face->jump += region_tension(phase, region, crossing.lower, face->third) * at_crossing;
  }
  PetscCall(VecRestoreArrayRead(curvature, &kappa));
  PetscCall(PhaseRestoreCrossings(phase, &crossings));
  PetscFunctionReturn(0);
}

static PetscErrorCode SetJumps(Phase phase, const Junctions *junctions)
{
  PetscReal *jump[DIM];

  PetscFunctionBegin;
  PetscCall(MacGridGetFaces(phase->grid, phase->mixture.jump, jump));
  for (PetscInt n = 0; n < junctions->count; n++) {
    const JunctionFace *face = &junctions->faces[n];
    PetscReal          *own = &jump[face->direction][face->cell];

    *own = (1. - face->share) * *own + face->share * face->jump;
  }
  PetscCall(MacGridRestoreFaces(phase->grid, phase->mixture.jump, jump));
  PetscFunctionReturn(0);
}

PetscErrorCode PhaseUpdateJunctions(Phase phase)
{
  const PetscReal width = 3. * grid_spacing(phase->grid);
  Junctions       junctions = {0};

  PetscFunctionBegin;
  if (phase->count < 3)
    PetscFunctionReturn(0);
  PetscCall(FindFaces(phase, &junctions));
  for (PetscInt n = 0; n < phase->count; n++)
    if (junctions.regions & 1u << n) {
      PetscCall(LevelSetGetSmoothCurvature(phase->level_sets[n], JUNCTION_PASSES, width, phase->scratch[0]));
      PetscCall(AddRegion(phase, n, phase->scratch[0], &junctions));
    }
  PetscCall(SetJumps(phase, &junctions));
  PetscCall(PetscFree(junctions.faces));
  PetscFunctionReturn(0);
}
