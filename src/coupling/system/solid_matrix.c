/* C = M_S + W^T M_F W, or with the diagonal lump of the thesis (5.10) instead of the second term, scaled like
   the pressure rows: six by six per free body, and blocks between bodies that share tied faces. Every rank
   holds all of it; the inverse is dense in small groups of such bodies and a sparse factor in large ones. */
#include "../coupling_impl.h"

#include <millrace/dense.h>

enum { MOST_DENSE = 12 }; /* bodies */

/* Of rows that count the unknowns of each body from zero. */
static void add_product(PetscReal factor, const SolidRow *a, const SolidRow *b, PetscReal *block)
{
  for (PetscInt i = 0; i < a->count; i++)
    for (PetscInt j = 0; j < b->count; j++)
      block[TWIST * a->dof[i] + b->dof[j]] += factor * a->weight[i] * b->weight[j];
}

PetscErrorCode PairListFind(PairList *list, PetscInt a, PetscInt b, BodyPair **pair)
{
  PetscFunctionBegin;
  for (PetscInt p = list->count - 1; p >= 0 && p >= list->count - 8; p--) /* faces follow each other */
    if (list->pairs[p].a == a && list->pairs[p].b == b) {
      *pair = &list->pairs[p];
      PetscFunctionReturn(0);
    }
  PetscCall(GrowList(list->count, &list->room, &list->pairs));
  *pair = &list->pairs[list->count++];
  PetscCall(PetscMemzero(*pair, sizeof(**pair)));
  (*pair)->a = a;
  (*pair)->b = b;
  PetscFunctionReturn(0);
}

void interpolation_lump(const SolidRow *row, const BodyShare *share, PetscReal diagonal[SOLID_ROW_LENGTH])
{
  for (PetscInt n = 0; n < row->count; n++)
    diagonal[n] = row->weight[n] * (share->weight > 0. ? row->weight[n] / share->weight : 0.);
}

/* The fluid of the face is part of each body by its weight, as if spread over it at the places of W: masses
   along the axes and moments of inertia about them, nothing between velocities, spins or bodies. */
static void add_lumped_face(Coupling coupling, const MixedFace *mixed)
{
  PetscReal diagonal[SOLID_ROW_LENGTH];

  for (PetscInt s = mixed->first; s < mixed->first + mixed->count; s++) {
    const PetscInt free = coupling->solids.bodies[coupling->faces.shares[s].body].free;
    const SolidRow row = share_row(mixed->direction, &coupling->faces.shares[s], 0);

    interpolation_lump(&row, &coupling->faces.shares[s], diagonal);
    for (PetscInt n = 0; n < row.count && free >= 0; n++)
      coupling->system.solid_matrix.diagonal[TWIST * TWIST * free + (TWIST + 1) * row.dof[n]] +=
          coupling->scale * mixed->mass * diagonal[n];
  }
}

static PetscErrorCode AddFace(Coupling coupling, const MixedFace *mixed)
{
  const PetscReal factor = coupling->scale * mixed->mass;

  PetscFunctionBegin;
  if (mixed->mass == 0.)
    PetscFunctionReturn(0);
  if (coupling->config.mass == COUPLING_MASS_DIAGONAL) {
    add_lumped_face(coupling, mixed);
    PetscFunctionReturn(0);
  }
  for (PetscInt s = mixed->first; s < mixed->first + mixed->count; s++)
    for (PetscInt t = mixed->first; t < mixed->first + mixed->count; t++) {
      const PetscInt a = coupling->solids.bodies[coupling->faces.shares[s].body].free,
                     b = coupling->solids.bodies[coupling->faces.shares[t].body].free;
      const SolidRow row = share_row(mixed->direction, &coupling->faces.shares[s], 0),
                     other = share_row(mixed->direction, &coupling->faces.shares[t], 0);
      BodyPair *pair = NULL;

      if (a < 0 || b < 0 || a > b ||
          coupling->faces.shares[s].weight * coupling->faces.shares[t].weight == 0.)
        continue;
      if (a == b) {
        add_product(factor, &row, &other, &coupling->system.solid_matrix.diagonal[TWIST * TWIST * a]);
      } else {
        PetscCall(PairListFind(&coupling->system.solid_matrix.pairs, a, b, &pair));
        add_product(factor, &row, &other, pair->block);
      }
    }
  PetscFunctionReturn(0);
}

static int compare_pairs(const void *x, const void *y)
{
  const BodyPair *a = x, *b = y;

  if (a->a != b->a)
    return a->a < b->a ? -1 : 1;
  return (a->b > b->b) - (a->b < b->b);
}

PetscErrorCode PairListGather(PairList *list, MPI_Comm comm)
{
  PetscMPIInt size, *counts, *offsets, mine = (PetscMPIInt)(list->count * sizeof(BodyPair)), sum = 0;
  BodyPair   *all;
  PetscInt    total, kept = 0;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(PetscMalloc2(size, &counts, size, &offsets));
  PetscCallMPI(MPI_Allgather(&mine, 1, MPI_INT, counts, 1, MPI_INT, comm));
  for (PetscMPIInt r = 0; r < size; r++) {
    offsets[r] = sum;
    sum += counts[r];
  }
  total = (PetscInt)(sum / sizeof(BodyPair));
  PetscCall(PetscMalloc1(total, &all));
  PetscCallMPI(MPI_Allgatherv(list->pairs, mine, MPI_BYTE, all, counts, offsets, MPI_BYTE, comm));
  if (total)
    qsort(all, total, sizeof(BodyPair), compare_pairs);
  for (PetscInt p = 0; p < total; p++)
    if (kept && compare_pairs(&all[kept - 1], &all[p]) == 0)
      for (PetscInt n = 0; n < TWIST * TWIST; n++)
        all[kept - 1].block[n] += all[p].block[n];
    else
      all[kept++] = all[p];
  PetscCall(PetscFree(list->pairs));
  PetscCall(PetscFree2(counts, offsets));
  *list = (PairList){kept, total, all};
  PetscFunctionReturn(0);
}

/* Adds M_S, and leaves a block that is symmetric to the last bit. */
static void add_own_mass(Coupling coupling, PetscInt free)
{
  const CoupledBody *body = &coupling->solids.bodies[coupling->solids.by_slot[free]].body;
  PetscReal         *block = &coupling->system.solid_matrix.diagonal[TWIST * TWIST * free];

  for (PetscInt i = 0; i < DIM; i++) {
    block[TWIST * i + i] += coupling->scale * body->mass;
    for (PetscInt j = 0; j < DIM; j++)
      block[TWIST * (DIM + i) + DIM + j] += coupling->scale * body->inertia.at[i][j];
  }
  for (PetscInt i = 0; i < TWIST; i++)
    for (PetscInt j = 0; j < i; j++)
      block[TWIST * i + j] = block[TWIST * j + i];
}

static PetscInt find_root(PetscInt *parent, PetscInt one)
{
  while (parent[one] != one)
    one = parent[one] = parent[parent[one]];
  return one;
}

/* For the members of groups, and the inverses of small ones. */
static PetscErrorCode GiveRoom(SolidMatrix *matrix)
{
  PetscInt numbers = 0, members = 0;

  PetscFunctionBegin;
  for (PetscInt g = 0; g < matrix->group_count; g++)
    numbers += matrix->groups[g].count <= MOST_DENSE ? PetscSqr(TWIST * matrix->groups[g].count) : 0;
  PetscCall(PetscMalloc1(matrix->free_count, &matrix->members));
  PetscCall(PetscCalloc1(numbers, &matrix->inverses));
  numbers = 0;
  for (PetscInt g = 0; g < matrix->group_count; g++) {
    BodyGroup *group = &matrix->groups[g];

    group->bodies = matrix->members + members;
    members += group->count;
    if (group->count > MOST_DENSE)
      continue;
    group->inverse = matrix->inverses + numbers;
    numbers += PetscSqr(TWIST * group->count);
  }
  PetscFunctionReturn(0);
}

/* Groups in the order of their first bodies; `place` of each body in its group. */
static PetscErrorCode FormGroups(SolidMatrix *matrix, PetscInt *group, PetscInt *place)
{
  PetscInt *parent;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(matrix->free_count, &parent));
  for (PetscInt b = 0; b < matrix->free_count; b++)
    parent[b] = b;
  for (PetscInt p = 0; p < matrix->pairs.count; p++) {
    const PetscInt a = find_root(parent, matrix->pairs.pairs[p].a),
                   b = find_root(parent, matrix->pairs.pairs[p].b);

    parent[PetscMax(a, b)] = PetscMin(a, b);
  }
  PetscCall(PetscCalloc1(matrix->free_count, &matrix->groups));
  matrix->group_count = 0;
  for (PetscInt b = 0; b < matrix->free_count; b++) {
    const PetscInt root = find_root(parent, b);

    group[b] = root == b ? matrix->group_count++ : group[root];
    place[b] = matrix->groups[group[b]].count++;
  }
  PetscCall(GiveRoom(matrix));
  for (PetscInt b = 0; b < matrix->free_count; b++)
    matrix->groups[group[b]].bodies[place[b]] = b;
  PetscCall(PetscFree(parent));
  PetscFunctionReturn(0);
}

static void put_block(BodyGroup *group, const BodyPair *pair)
{
  const PetscInt n = TWIST * group->count;

  for (PetscInt i = 0; i < TWIST; i++)
    for (PetscInt j = 0; j < TWIST; j++) {
      group->inverse[n * (TWIST * pair->a + i) + TWIST * pair->b + j] = pair->block[TWIST * i + j];
      group->inverse[n * (TWIST * pair->b + j) + TWIST * pair->a + i] = pair->block[TWIST * i + j];
    }
}

/* `pairs` count bodies within the group; a body alone needs none. */
static PetscErrorCode Invert(const SolidMatrix *matrix, BodyGroup *group, const PairList *pairs)
{
  PetscBool is_positive;

  PetscFunctionBegin;
  if (group->count == 1) {
    PetscCall(
        PetscArraycpy(group->inverse, &matrix->diagonal[TWIST * TWIST * group->bodies[0]], TWIST * TWIST));
    PetscCall(DenseInvert(TWIST, group->inverse, &is_positive));
  } else if (group->inverse) {
    for (PetscInt p = 0; p < pairs->count; p++)
      put_block(group, &pairs->pairs[p]);
    PetscCall(DenseInvert(TWIST * group->count, group->inverse, &is_positive));
  } else
    PetscCall(BlockFactorCreate(group->count, pairs->count, pairs->pairs, &group->factor, &is_positive));
  PetscCheck(is_positive, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "The solid matrix C of %" PetscInt_FMT " bodies is not positive", group->count);
  PetscFunctionReturn(0);
}

/* All blocks of each group, then its inverse. */
static PetscErrorCode InvertGroups(SolidMatrix *matrix, const PetscInt *group, const PetscInt *place)
{
  PairList *lists;
  BodyPair *pair;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(matrix->group_count, &lists));
  for (PetscInt b = 0; b < matrix->free_count; b++)
    if (matrix->groups[group[b]].count > 1) {
      PetscCall(PairListFind(&lists[group[b]], place[b], place[b], &pair));
      PetscCall(PetscArraycpy(pair->block, &matrix->diagonal[TWIST * TWIST * b], TWIST * TWIST));
    }
  for (PetscInt p = 0; p < matrix->pairs.count; p++) {
    const BodyPair *from = &matrix->pairs.pairs[p];

    PetscCall(PairListFind(&lists[group[from->a]], place[from->a], place[from->b], &pair));
    PetscCall(PetscArraycpy(pair->block, from->block, TWIST * TWIST));
  }
  for (PetscInt g = 0; g < matrix->group_count; g++) {
    PetscCall(Invert(matrix, &matrix->groups[g], &lists[g]));
    PetscCall(PetscFree(lists[g].pairs));
  }
  PetscCall(PetscFree(lists));
  PetscFunctionReturn(0);
}

PetscErrorCode CouplingDropSolidMatrix(Coupling coupling)
{
  SolidMatrix *matrix = &coupling->system.solid_matrix;

  PetscFunctionBegin;
  for (PetscInt g = 0; g < matrix->group_count; g++)
    PetscCall(BlockFactorDestroy(&matrix->groups[g].factor));
  PetscCall(PetscFree(matrix->groups));
  PetscCall(PetscFree(matrix->members));
  PetscCall(PetscFree(matrix->inverses));
  PetscCall(PetscFree(matrix->local));
  PetscCall(PetscFree(matrix->diagonal));
  PetscCall(PetscFree(matrix->pairs.pairs));
  *matrix = (SolidMatrix){0};
  PetscFunctionReturn(0);
}

/* `first` rows of B of each body; null: no fluid here. */
static PetscErrorCode FindLocalGroups(SolidMatrix *matrix, const PetscInt *group, const PetscInt *first)
{
  char *is_local;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(matrix->group_count, &is_local));
  for (PetscInt b = 0; b < matrix->free_count && first; b++)
    if (first[b + 1] > first[b])
      is_local[group[b]] = 1;
  PetscCall(PetscMalloc1(matrix->group_count, &matrix->local));
  for (PetscInt g = 0; g < matrix->group_count; g++)
    if (is_local[g])
      matrix->local[matrix->local_count++] = g;
  PetscCall(PetscFree(is_local));
  PetscFunctionReturn(0);
}

PetscErrorCode CouplingBuildSolidMatrix(Coupling coupling)
{
  SolidMatrix *matrix = &coupling->system.solid_matrix;
  PetscInt    *group, *place;

  PetscFunctionBegin;
  PetscCall(CouplingDropSolidMatrix(coupling));
  matrix->free_count = coupling->solids.free_count;
  PetscCall(PetscCalloc1(TWIST * TWIST * matrix->free_count, &matrix->diagonal));
  for (PetscInt m = 0; m < coupling->faces.mixed_count && coupling->grid; m++)
    if (coupling->faces.mixed[m].is_owned)
      PetscCall(AddFace(coupling, &coupling->faces.mixed[m]));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, matrix->diagonal,
                             (PetscMPIInt)(TWIST * TWIST * matrix->free_count), MPIU_REAL, MPI_SUM,
                             coupling->world));
  PetscCall(PairListGather(&matrix->pairs, coupling->world));
  PetscCall(PetscMalloc2(matrix->free_count, &group, matrix->free_count, &place));
  PetscCall(FormGroups(matrix, group, place));
  for (PetscInt b = 0; b < matrix->free_count; b++)
    add_own_mass(coupling, b);
  PetscCall(InvertGroups(matrix, group, place));
  PetscCall(FindLocalGroups(matrix, group, coupling->system.matrix.first));
  PetscCall(PetscFree2(group, place));
  PetscFunctionReturn(0);
}

static void apply_group(const BodyGroup *group, const PetscReal *from, PetscReal *to)
{
  const PetscInt n = TWIST * group->count;

  for (PetscInt i = 0; i < n; i++) {
    PetscReal sum = 0.;

    for (PetscInt j = 0; j < n; j++)
      sum += group->inverse[n * i + j] * from[TWIST * group->bodies[j / TWIST] + j % TWIST];
    to[TWIST * group->bodies[i / TWIST] + i % TWIST] = sum;
  }
}

static PetscErrorCode SolveGroup(const BodyGroup *group, const PetscReal *from, PetscReal *to)
{
  const PetscInt n = TWIST * group->count;
  PetscReal     *part;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n, &part));
  for (PetscInt i = 0; i < n; i++)
    part[i] = from[TWIST * group->bodies[i / TWIST] + i % TWIST];
  PetscCall(BlockFactorSolve(group->factor, part, part));
  for (PetscInt i = 0; i < n; i++)
    to[TWIST * group->bodies[i / TWIST] + i % TWIST] = part[i];
  PetscCall(PetscFree(part));
  PetscFunctionReturn(0);
}

static PetscErrorCode ApplyInverse(const BodyGroup *group, const PetscReal *from, PetscReal *to)
{
  PetscFunctionBegin;
  if (group->inverse)
    apply_group(group, from, to);
  else
    PetscCall(SolveGroup(group, from, to));
  PetscFunctionReturn(0);
}

PetscErrorCode SolidMatrixSolve(const SolidMatrix *matrix, const PetscReal *from, PetscReal *to)
{
  PetscFunctionBegin;
  for (PetscInt g = 0; g < matrix->group_count; g++)
    PetscCall(ApplyInverse(&matrix->groups[g], from, to));
  PetscFunctionReturn(0);
}

PetscErrorCode SolidMatrixSolveLocal(const SolidMatrix *matrix, const PetscReal *from, PetscReal *to)
{
  PetscFunctionBegin;
  for (PetscInt n = 0; n < matrix->local_count; n++)
    PetscCall(ApplyInverse(&matrix->groups[matrix->local[n]], from, to));
  PetscFunctionReturn(0);
}
