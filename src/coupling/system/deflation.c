/* The preconditioner of S = A + B C^-1 B^T where bodies are light, that is B C^-1 B^T far above A.

   Z holds six pressures for each light body, those that its six velocities call forth in the fluid around it:
   Z ~ A^-1 B, kept near the body. With D = B^T Z and F the part of Z^T A Z that is each body's own,

     E = F + D^T C^-1 D,   Pi = I - Z E^-1 D^T C^-1 B^T,   P = Pi M Pi^T + Z E^-1 Z^T

   is positive definite for any positive definite M ~ A^-1 (a multigrid cycle), and for C -> 0 all iterates
   have B^T p = 0, where S is A: the eigenvalues of P S are bounded however light a body is, by the angle
   between Z and A^-1 B. Nothing is divided by C: with the quasi-definite matrix

     [ F  D^T ] [ x ]   [ t ]
     [ D  -C  ] [ l ] = [ u ]       u = 0: x = E^-1 t, l = C^-1 D x;   t = 0: x = E^-1 D^T C^-1 u

   an application takes two solves with its sparse factor: bodies meet in it where their mixed faces do.

   Z comes from one cycle per velocity for all light bodies of one colour at once. */
#include "../coupling_impl.h"

/* Light bodies for which it pays: conjugate gradients find the six stiff directions of one by themselves, in
   half a dozen iterations more. */
enum { FEWEST = 2 };

struct Deflation {
  PetscInt    count;           /* of light bodies */
  PetscInt   *bodies, *number; /* their free numbers; the light number of a free body, or -1 */
  PetscInt    cell_count;
  int        *cells, *owners; /* owned cells, one colour after the other, and their light bodies */
  float      *fields;         /* Z: six for each of these cells; any Z will do, and half the bytes */
  BlockFactor factor;
  PetscReal  *from, *to, *inner; /* scratch: twelve for each light body; six */
  Vec         rest;
};

typedef struct Deflation Deflation;

/* Light bodies of one colour. */
typedef struct {
  char            *members; /* of the free bodies */
  DeflationSupport support;
  PetscInt         first, *places; /* their cells among those of `Deflation`, and on the grid's box */
  Vec              fields[TWIST];  /* Z, with ghosts */
} ColourGroup;

/* Lighter than half of the fluid in a ball around it: then the fluid that follows it, which is no more than
   half of that, may outweigh it. */
static PetscBool is_light(Coupling coupling, PetscInt free)
{
  const Placed  *placed = &coupling->solids.bodies[coupling->solids.by_slot[free]];
  const PetscInt dimension = grid_box(coupling->grid)->dimension;
  PetscReal      radius = 0.;

  for (PetscInt d = 0; d < dimension; d++)
    radius = PetscMax(radius, 0.5 * (placed->body.high.at[d] - placed->body.low.at[d]));
  return placed->body.mass < 0.5 * coupling->density * PETSC_PI * PetscSqr(radius) *
                                 (dimension == 3 ? 4. / 3. * radius : 1.)
             ? PETSC_TRUE
             : PETSC_FALSE;
}

/* Neighbours push each other in all combinations of directions. */
static PetscReal sign_of(PetscInt body)
{
  return ((uint32_t)body * 2654435761u) >> 31 ? -1. : 1.;
}

/* One cycle for a velocity of all members at once. */
static PetscErrorCode Respond(Coupling coupling, const ColourGroup *group, PetscInt velocity, Vec pushed,
                              Vec response)
{
  PetscReal *values, *motion;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(TWIST * coupling->solids.free_count, &motion));
  for (PetscInt f = 0; f < coupling->solids.free_count; f++)
    motion[TWIST * f + velocity] = group->members[f] ? sign_of(f) : 0.;
  PetscCall(VecSet(pushed, 0.));
  PetscCall(VecGetArray(pushed, &values));
  coupling_matrix_multiply(&coupling->system.matrix, coupling->solids.free_count, motion, values);
  PetscCall(VecRestoreArray(pushed, &values));
  PetscCall(PetscFree(motion));
  PetscCall(PoissonCycle(coupling->system.poisson, pushed, response));
  PetscFunctionReturn(0);
}

/* The mean beside each body: what its neighbours add to all of its cells exerts no force. */
static PetscErrorCode FindMeans(Coupling coupling, const ColourGroup *group, const PetscReal *response,
                                PetscReal *means)
{
  const Deflation *deflation = coupling->system.deflation;
  const PetscInt   count = deflation->count;
  ReproducibleSum *sums;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(2 * count, &sums));
  for (PetscInt n = group->first; n < deflation->cell_count; n++)
    if (group->support.is_mixed[deflation->cells[n]]) {
      sum_add(&sums[deflation->owners[n]], response[deflation->cells[n]]);
      sum_add(&sums[count + deflation->owners[n]], 1.);
    }
  PetscCall(SumOverRanks(coupling->fluid, 2 * count, sums, means));
  PetscCall(PetscFree(sums));
  for (PetscInt l = 0; l < count; l++)
    means[l] /= PetscMax(means[count + l], 1.);
  PetscFunctionReturn(0);
}

/* The cells of a support, in the order of solver vectors and on the grid's box. */
static PetscErrorCode ListCells(Coupling coupling, ColourGroup *group)
{
  const GridBox *box = grid_box(coupling->grid);
  Deflation     *deflation = coupling->system.deflation;
  PetscInt       count = deflation->cell_count;

  PetscFunctionBegin;
  group->first = count;
  PetscCall(PetscMalloc1(coupling->cell_count, &group->places));
  PetscCall(PetscRealloc((count + coupling->cell_count) * sizeof(int), &deflation->cells));
  PetscCall(PetscRealloc((count + coupling->cell_count) * sizeof(int), &deflation->owners));
  FOR_NUMBERED_CELLS(box, number, i, j, k) {
    const PetscInt c = box_index(box, i, j, k), owner = group->support.owner[c];

    if (owner < 0)
      continue;
    deflation->cells[count] = (int)number;
    deflation->owners[count] = (int)deflation->number[owner];
    group->places[count++ - group->first] = c;
  }
  deflation->cell_count = count;
  PetscCall(PetscRealloc(TWIST * count * sizeof(float), &deflation->fields));
  PetscCall(PetscArrayzero(deflation->fields + TWIST * group->first, TWIST * (count - group->first)));
  PetscFunctionReturn(0);
}

static PetscErrorCode FindFields(Coupling coupling, ColourGroup *group)
{
  Deflation       *deflation = coupling->system.deflation;
  const PetscReal *values, *part = group->support.part;
  PetscReal       *field, *means;
  Vec              response;

  PetscFunctionBegin;
  PetscCall(VecDuplicate(coupling->system.flow, &response));
  PetscCall(PetscMalloc1(2 * deflation->count, &means));
  for (PetscInt n = 0; n < TWIST; n++) {
    PetscCall(VecSet(group->fields[n], 0.));
    if (grid_box(coupling->grid)->dimension == 2 && n != X && n != Y && n != DIM + Z)
      continue;
    PetscCall(Respond(coupling, group, n, deflation->rest, response));
    PetscCall(VecGetArrayRead(response, &values));
    PetscCall(VecGetArray(group->fields[n], &field));
    PetscCall(FindMeans(coupling, group, values, means));
    for (PetscInt i = group->first; i < deflation->cell_count; i++) {
      const PetscInt place = group->places[i - group->first], owner = deflation->owners[i];

      deflation->fields[TWIST * i + n] = (float)(part[place] * sign_of(deflation->bodies[owner]) *
                                                 (values[deflation->cells[i]] - means[owner]));
      field[place] = (PetscReal)deflation->fields[TWIST * i + n];
    }
    PetscCall(VecRestoreArray(group->fields[n], &field));
    PetscCall(VecRestoreArrayRead(response, &values));
    PetscCall(MacGridExchange(coupling->grid, group->fields[n]));
  }
  PetscCall(PetscFree(means));
  PetscCall(VecDestroy(&response));
  PetscFunctionReturn(0);
}

/* A z of one cell, with what belongs to other bodies left out. */
static void cell_flow(Coupling coupling, PetscReal *const weights[DIM], const PetscInt *owner,
                      const PetscReal *const z[TWIST], PetscInt c, PetscReal flow[TWIST])
{
  const GridBox *box = grid_box(coupling->grid);

  for (PetscInt n = 0; n < TWIST; n++)
    flow[n] = 0.;
  for (PetscInt d = 0; d < box->dimension; d++)
    for (PetscInt side = 0; side < 2; side++) {
      const PetscInt  beyond = side ? c + box->stride[d] : c - box->stride[d];
      const PetscReal weight = weights[d][side ? beyond : c], kept = owner[beyond] == owner[c] ? 1. : 0.;

      for (PetscInt n = 0; n < TWIST; n++)
        flow[n] += weight * (z[n][c] - kept * z[n][beyond]);
    }
}

/* F of the members, on each rank its part: a block for each light body. */
static PetscErrorCode AddGroupEnergies(Coupling coupling, const ColourGroup *group, ReproducibleSum *energies)
{
  const Deflation *deflation = coupling->system.deflation;
  const PetscReal *z[TWIST];
  PetscReal       *weights[DIM], flow[TWIST];

  PetscFunctionBegin;
  PetscCall(MacGridGetFaces(coupling->grid, coupling->faces.weights, weights));
  for (PetscInt n = 0; n < TWIST; n++)
    PetscCall(VecGetArrayRead(group->fields[n], &z[n]));
  for (PetscInt c = group->first; c < deflation->cell_count; c++) {
    ReproducibleSum *block = &energies[TWIST * TWIST * deflation->owners[c]];

    cell_flow(coupling, weights, group->support.owner, z, group->places[c - group->first], flow);
    for (PetscInt n = 0; n < TWIST * TWIST; n++)
      sum_add(&block[n], (PetscReal)deflation->fields[TWIST * c + n / TWIST] * flow[n % TWIST]);
  }
  for (PetscInt n = 0; n < TWIST; n++)
    PetscCall(VecRestoreArrayRead(group->fields[n], &z[n]));
  PetscCall(MacGridRestoreFaces(coupling->grid, coupling->faces.weights, weights));
  PetscFunctionReturn(0);
}

/* D of the members, on each rank its part: rows of l below, columns of x above, as in the matrix. */
static PetscErrorCode AddGroupForces(Coupling coupling, const ColourGroup *group, SummedPairs *list)
{
  const Deflation      *deflation = coupling->system.deflation;
  const CouplingMatrix *rows = &coupling->system.matrix;
  ReproducibleSum      *block;
  int                  *place;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(coupling->cell_count, &place));
  for (PetscInt c = 0; c < coupling->cell_count; c++)
    place[c] = -1;
  for (PetscInt n = group->first; n < deflation->cell_count; n++)
    place[deflation->cells[n]] = (int)n;
  for (PetscInt l = 0; l < deflation->count; l++)
    for (PetscInt r = rows->first[deflation->bodies[l]]; r < rows->first[deflation->bodies[l] + 1]; r++) {
      const PetscInt n = place[rows->cells[r]];

      if (n < 0)
        continue;
      PetscCall(SummedPairsFind(list, 2 * l + 1, 2 * deflation->owners[n], &block));
      for (PetscInt i = 0; i < TWIST; i++)
        for (PetscInt j = 0; j < TWIST; j++)
          sum_add(&block[TWIST * i + j],
                  rows->values[TWIST * r + i] * (PetscReal)deflation->fields[TWIST * n + j]);
    }
  PetscCall(PetscFree(place));
  PetscFunctionReturn(0);
}

/* Adds -C, with what light bodies have in common: it may be all that one of them has. */
static PetscErrorCode AddMass(const CoupledSystem *system, BlockPairs *list)
{
  const Deflation        *deflation = system->deflation;
  const SolidSystemBlocks mass = solid_system_blocks(system->solid);
  BlockPair              *pair;

  PetscFunctionBegin;
  for (PetscInt l = 0; l < deflation->count; l++) {
    PetscCall(BlockPairsFind(list, 2 * l + 1, 2 * l + 1, &pair));
    for (PetscInt n = 0; n < TWIST * TWIST; n++)
      pair->block[n] = -mass.diagonal[TWIST * TWIST * deflation->bodies[l] + n];
  }
  for (PetscInt p = 0; p < mass.pair_count; p++) {
    const PetscInt a = deflation->number[mass.pairs[p].a], b = deflation->number[mass.pairs[p].b];

    if (a < 0 || b < 0)
      continue;
    PetscCall(BlockPairsFind(list, 2 * a + 1, 2 * b + 1, &pair));
    for (PetscInt n = 0; n < TWIST * TWIST; n++)
      pair->block[n] = -mass.pairs[p].block[n];
  }
  PetscFunctionReturn(0);
}

/* Adds F. */
static PetscErrorCode AddEnergies(const CoupledSystem *system, const PetscReal *energies, BlockPairs *list)
{
  const Deflation *deflation = system->deflation;
  const PetscReal  least = 1e-9; /* of the diagonal: fields that depend on each other */
  BlockPair       *pair;

  PetscFunctionBegin;
  for (PetscInt l = 0; l < deflation->count; l++) {
    PetscCall(BlockPairsFind(list, 2 * l, 2 * l, &pair));
    PetscCall(PetscArraycpy(pair->block, &energies[TWIST * TWIST * l], TWIST * TWIST));
    for (PetscInt i = 0; i < TWIST; i++) {
      PetscReal *entry = &pair->block[TWIST * i + i];

      *entry = *entry > 0. ? (1. + least) * *entry : 1.; /* no such velocity, or no cells */
    }
  }
  PetscFunctionReturn(0);
}

/* Z of every colour, and what it makes of F and D. */
static PetscErrorCode BuildGroups(Coupling coupling, const char *colours, ReproducibleSum *energies,
                                  SummedPairs *list)
{
  const PetscInt length = grid_box(coupling->grid)->length;
  ColourGroup    group;

  PetscFunctionBegin;
  PetscCall(PetscMalloc4(length, &group.support.owner, length, &group.support.part, coupling->cell_count,
                         &group.support.is_mixed, coupling->solids.free_count, &group.members));
  for (PetscInt n = 0; n < TWIST; n++)
    PetscCall(MacGridCreateField(coupling->grid, &group.fields[n]));
  for (PetscInt colour = 1; colour <= COLOURS; colour++) {
    PetscInt count = 0;

    for (PetscInt f = 0; f < coupling->solids.free_count; f++) {
      group.members[f] = colours[f] == colour;
      count += group.members[f];
    }
    if (!count)
      continue;
    PetscCall(CouplingFindDeflationSupport(coupling, group.members, &group.support));
    PetscCall(ListCells(coupling, &group));
    PetscCall(FindFields(coupling, &group));
    PetscCall(AddGroupEnergies(coupling, &group, energies));
    PetscCall(AddGroupForces(coupling, &group, list));
    PetscCall(PetscFree(group.places));
  }
  for (PetscInt n = 0; n < TWIST; n++)
    PetscCall(VecDestroy(&group.fields[n]));
  PetscCall(PetscFree4(group.support.owner, group.support.part, group.support.is_mixed, group.members));
  PetscFunctionReturn(0);
}

static PetscErrorCode Build(Coupling coupling, const char *colours)
{
  Deflation       *deflation = coupling->system.deflation;
  const PetscInt   size = TWIST * TWIST * deflation->count;
  SummedPairs      summed = {0};
  BlockPairs       list = {0};
  ReproducibleSum *sums;
  PetscReal       *energies;
  PetscBool        is_regular;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(size, &sums));
  PetscCall(PetscMalloc1(size, &energies));
  PetscCall(BuildGroups(coupling, colours, sums, &summed));
  PetscCall(SumOverRanks(coupling->fluid, size, sums, energies));
  PetscCall(SummedPairsGather(&summed, coupling->fluid, &list));
  PetscCall(AddEnergies(&coupling->system, energies, &list));
  PetscCall(AddMass(&coupling->system, &list));
  PetscCall(BlockFactorCreate(2 * deflation->count, list.count, list.pairs, &deflation->factor, &is_regular));
  if (!is_regular) /* do without */
    deflation->count = 0;
  PetscCall(PetscFree(list.pairs));
  PetscCall(PetscFree(energies));
  PetscCall(PetscFree(sums));
  PetscFunctionReturn(0);
}

PetscErrorCode CouplingBuildDeflation(Coupling coupling)
{
  const PetscInt count = coupling->solids.free_count;
  Deflation     *deflation;
  char          *colours;

  PetscFunctionBegin;
  PetscCall(PetscNew(&deflation));
  coupling->system.deflation = deflation;
  PetscCall(PetscMalloc2(count, &deflation->bodies, count, &deflation->number));
  PetscCall(PetscCalloc1(count, &colours));
  for (PetscInt f = 0; f < count; f++) {
    deflation->number[f] = is_light(coupling, f) ? deflation->count : -1;
    if (deflation->number[f] >= 0)
      deflation->bodies[deflation->count++] = f;
  }
  PetscCall(PetscMalloc3(2 * TWIST * deflation->count, &deflation->from, 2 * TWIST * deflation->count,
                         &deflation->to, TWIST * deflation->count, &deflation->inner));
  PetscCall(VecDuplicate(coupling->system.flow, &deflation->rest));
  if (deflation->count < FEWEST)
    deflation->count = 0;
  else {
    PetscCall(CouplingColour(coupling, deflation->count, deflation->bodies, colours));
    PetscCall(Build(coupling, colours));
  }
  PetscCall(PetscFree(colours));
  PetscFunctionReturn(0);
}

PetscErrorCode CoupledSystemDropDeflation(CoupledSystem *system)
{
  Deflation *deflation = system->deflation;

  PetscFunctionBegin;
  if (!deflation)
    PetscFunctionReturn(0);
  PetscCall(PetscFree2(deflation->bodies, deflation->number));
  PetscCall(PetscFree(deflation->cells));
  PetscCall(PetscFree(deflation->owners));
  PetscCall(PetscFree(deflation->fields));
  PetscCall(PetscFree3(deflation->from, deflation->to, deflation->inner));
  PetscCall(BlockFactorDestroy(&deflation->factor));
  PetscCall(VecDestroy(&deflation->rest));
  PetscCall(PetscFree(system->deflation));
  PetscFunctionReturn(0);
}

static void gather_fields(const Deflation *deflation, const PetscReal *restrict values,
                          ReproducibleSum *restrict sums)
{
  for (PetscInt c = 0; c < deflation->cell_count; c++) {
    const PetscReal  value = values[deflation->cells[c]];
    const float     *z = &deflation->fields[TWIST * c];
    ReproducibleSum *sum = &sums[TWIST * deflation->owners[c]];

    for (PetscInt n = 0; n < TWIST; n++)
      sum_add(&sum[n], (PetscReal)z[n] * value);
  }
}

VECTOR_CLONES static void add_fields(const Deflation *deflation, const PetscReal *restrict parts,
                                     PetscReal *restrict values)
{
  for (PetscInt c = 0; c < deflation->cell_count; c++) {
    const PetscReal *part = &parts[2 * TWIST * deflation->owners[c]];
    const float     *z = &deflation->fields[TWIST * c];
    PetscReal        sum = 0.;

    for (PetscInt n = 0; n < TWIST; n++)
      sum += (PetscReal)z[n] * part[n];
    values[deflation->cells[c]] += sum;
  }
}

/* t = Z^T x into the upper rows, zero into the lower ones. */
static PetscErrorCode TakeInner(Coupling coupling, Vec x)
{
  Deflation       *deflation = coupling->system.deflation;
  const PetscInt   count = TWIST * deflation->count;
  const PetscReal *values;
  ReproducibleSum *sums;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(count, &sums));
  PetscCall(VecGetArrayRead(x, &values));
  gather_fields(deflation, values, sums);
  PetscCall(VecRestoreArrayRead(x, &values));
  PetscCall(SumOverRanks(coupling->fluid, count, sums, deflation->inner));
  PetscCall(PetscFree(sums));
  for (PetscInt n = 0; n < count; n++) {
    deflation->from[2 * TWIST * (n / TWIST) + n % TWIST] = deflation->inner[n];
    deflation->from[2 * TWIST * (n / TWIST) + TWIST + n % TWIST] = 0.;
  }
  PetscFunctionReturn(0);
}

/* rest = x - B l */
static PetscErrorCode TakeRest(Coupling coupling, Vec x)
{
  const Deflation *deflation = coupling->system.deflation;
  PetscReal       *values, *motion;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(TWIST * coupling->solids.free_count, &motion));
  for (PetscInt n = 0; n < TWIST * deflation->count; n++)
    motion[TWIST * deflation->bodies[n / TWIST] + n % TWIST] =
        -deflation->to[2 * TWIST * (n / TWIST) + TWIST + n % TWIST];
  PetscCall(VecCopy(x, deflation->rest));
  PetscCall(VecGetArray(deflation->rest, &values));
  coupling_matrix_multiply(&coupling->system.matrix, coupling->solids.free_count, motion, values);
  PetscCall(VecRestoreArray(deflation->rest, &values));
  PetscCall(PetscFree(motion));
  PetscFunctionReturn(0);
}

PetscErrorCode CouplingPrecondition(Coupling coupling, Vec x, Vec y)
{
  Deflation *deflation;
  PetscReal *values, *pull;

  PetscFunctionBegin;
  if (!coupling->system.deflation)
    PetscCall(CouplingBuildDeflation(coupling));
  deflation = coupling->system.deflation;
  if (!deflation->count) {
    PetscCall(CouplingCycleWithSurfaces(coupling, x, y));
    PetscFunctionReturn(0);
  }
  PetscCall(TakeInner(coupling, x));
  PetscCall(BlockFactorSolve(deflation->factor, deflation->from, deflation->to));
  PetscCall(TakeRest(coupling, x));
  PetscCall(CouplingCycleWithSurfaces(coupling, deflation->rest, y));
  PetscCall(PetscMalloc1(TWIST * coupling->solids.free_count, &pull));
  PetscCall(CouplingGather(coupling, y, pull));
  for (PetscInt n = 0; n < TWIST * deflation->count; n++)
    deflation->from[2 * TWIST * (n / TWIST) + TWIST + n % TWIST] =
        -pull[TWIST * deflation->bodies[n / TWIST] + n % TWIST];
  PetscCall(PetscFree(pull));
  PetscCall(BlockFactorSolve(deflation->factor, deflation->from, deflation->to));
  PetscCall(VecGetArray(y, &values));
  add_fields(deflation, deflation->to, values);
  PetscCall(VecRestoreArray(y, &values));
  PetscFunctionReturn(0);
}
