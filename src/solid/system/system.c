/* C of blocks of unknowns: six by six of each, and blocks between those that share something. The inverse is
   dense in small groups of such blocks and a sparse factor in large ones. A block of fewer than six unknowns
   is filled up with ones on the diagonal. */
#include <millrace/dense.h>
#include <millrace/solid_system.h>

enum { MOST_DENSE = 12, BLOCK_SIZE = SOLID_BLOCK_LENGTH * SOLID_BLOCK_LENGTH }; /* blocks; numbers */

/* Blocks that hang together by pairs. */
typedef struct {
  PetscInt    count;
  PetscInt   *members; /* lent by the system */
  PetscReal  *inverse; /* dense, lent by the system; null in large groups */
  BlockFactor factor;  /* of those */
} BlockGroup;

struct _p_SolidSystem {
  PetscInt    block_count;
  PetscInt   *first, *length; /* of the unknowns of each block */
  PetscReal  *diagonal;
  BlockPairs  pairs; /* a < b */
  PetscInt    group_count;
  PetscInt   *group, *place; /* of each block, and its place there */
  BlockGroup *groups;
  PetscInt   *members;             /* of all groups */
  PetscReal  *inverses;            /* of all small groups */
  PetscInt    local_count, *local; /* groups */
};

PetscErrorCode SolidSystemCreate(SolidSystem *system)
{
  PetscFunctionBegin;
  PetscCall(PetscNew(system));
  PetscFunctionReturn(0);
}

static PetscErrorCode Clear(SolidSystem system)
{
  PetscFunctionBegin;
  for (PetscInt g = 0; g < system->group_count; g++)
    PetscCall(BlockFactorDestroy(&system->groups[g].factor));
  PetscCall(PetscFree(system->groups));
  PetscCall(PetscFree(system->members));
  PetscCall(PetscFree(system->inverses));
  PetscCall(PetscFree(system->local));
  PetscCall(PetscFree5(system->first, system->length, system->group, system->place, system->diagonal));
  PetscCall(PetscFree(system->pairs.pairs));
  PetscCall(PetscMemzero(system, sizeof(*system)));
  PetscFunctionReturn(0);
}

PetscErrorCode SolidSystemDestroy(SolidSystem *system)
{
  PetscFunctionBegin;
  if (!*system)
    PetscFunctionReturn(0);
  PetscCall(Clear(*system));
  PetscCall(PetscFree(*system));
  PetscFunctionReturn(0);
}

static void add_block(PetscReal factor, const PetscReal from[BLOCK_SIZE], PetscReal to[BLOCK_SIZE])
{
  for (PetscInt n = 0; n < BLOCK_SIZE; n++)
    to[n] += factor * from[n];
}

/* Pairs count with a < b. */
static PetscErrorCode AddTerm(SolidSystem system, PetscReal scale, const SolidTerm *term)
{
  PetscFunctionBegin;
  for (PetscInt p = 0; p < term->count; p++) {
    const BlockPair *from = &term->pairs[p];
    BlockPair       *pair;

    if (from->a == from->b) {
      add_block(scale * term->factor, from->block, &system->diagonal[BLOCK_SIZE * from->a]);
      continue;
    }
    PetscCall(BlockPairsFind(&system->pairs, PetscMin(from->a, from->b), PetscMax(from->a, from->b), &pair));
    for (PetscInt n = 0; n < BLOCK_SIZE; n++) {
      const PetscInt i = n / SOLID_BLOCK_LENGTH, j = n % SOLID_BLOCK_LENGTH;

      pair->block[from->a < from->b ? n : SOLID_BLOCK_LENGTH * j + i] +=
          scale * term->factor * from->block[n];
    }
  }
  PetscFunctionReturn(0);
}

/* Adds the mass, and leaves a block that is symmetric to the last bit and regular. */
static void add_mass(const SolidBlock *block, PetscReal scale, PetscReal diagonal[BLOCK_SIZE])
{
  for (PetscInt i = 0; i < SOLID_BLOCK_LENGTH; i++)
    for (PetscInt j = 0; j < SOLID_BLOCK_LENGTH; j++)
      if (i < block->count && j < block->count)
        diagonal[SOLID_BLOCK_LENGTH * i + j] += scale * block->mass[block->count * i + j];
      else
        diagonal[SOLID_BLOCK_LENGTH * i + j] = i == j ? 1. : 0.;
  for (PetscInt i = 0; i < SOLID_BLOCK_LENGTH; i++)
    for (PetscInt j = 0; j < i; j++)
      diagonal[SOLID_BLOCK_LENGTH * i + j] = diagonal[SOLID_BLOCK_LENGTH * j + i];
}

static PetscErrorCode TakeParts(SolidSystem system, const SolidSystemParts *parts)
{
  const PetscInt count = parts->block_count;

  PetscFunctionBegin;
  system->block_count = count;
  PetscCall(PetscMalloc5(count, &system->first, count, &system->length, count, &system->group, count,
                         &system->place, BLOCK_SIZE * count, &system->diagonal));
  PetscCall(PetscArraycpy(system->diagonal, parts->added_diagonal, BLOCK_SIZE * count));
  system->pairs = parts->added_pairs;
  for (PetscInt t = 0; t < parts->term_count; t++)
    PetscCall(AddTerm(system, parts->scale, &parts->terms[t]));
  for (PetscInt b = 0; b < count; b++) {
    system->first[b] = parts->blocks[b].first;
    system->length[b] = parts->blocks[b].count;
    add_mass(&parts->blocks[b], parts->scale, &system->diagonal[BLOCK_SIZE * b]);
  }
  PetscFunctionReturn(0);
}

static PetscInt find_root(PetscInt *parent, PetscInt one)
{
  while (parent[one] != one)
    one = parent[one] = parent[parent[one]];
  return one;
}

/* For the members of groups, and the inverses of small ones. */
static PetscErrorCode GiveRoom(SolidSystem system)
{
  PetscInt numbers = 0, members = 0;

  PetscFunctionBegin;
  for (PetscInt g = 0; g < system->group_count; g++)
    numbers +=
        system->groups[g].count <= MOST_DENSE ? PetscSqr(SOLID_BLOCK_LENGTH * system->groups[g].count) : 0;
  PetscCall(PetscMalloc1(system->block_count, &system->members));
  PetscCall(PetscCalloc1(numbers, &system->inverses));
  numbers = 0;
  for (PetscInt g = 0; g < system->group_count; g++) {
    BlockGroup *group = &system->groups[g];

    group->members = system->members + members;
    members += group->count;
    if (group->count > MOST_DENSE)
      continue;
    group->inverse = system->inverses + numbers;
    numbers += PetscSqr(SOLID_BLOCK_LENGTH * group->count);
  }
  PetscFunctionReturn(0);
}

/* In the order of their first blocks. */
static PetscErrorCode FormGroups(SolidSystem system)
{
  PetscInt *parent;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(system->block_count, &parent));
  for (PetscInt b = 0; b < system->block_count; b++)
    parent[b] = b;
  for (PetscInt p = 0; p < system->pairs.count; p++) {
    const PetscInt a = find_root(parent, system->pairs.pairs[p].a),
                   b = find_root(parent, system->pairs.pairs[p].b);

    parent[PetscMax(a, b)] = PetscMin(a, b);
  }
  PetscCall(PetscCalloc1(system->block_count, &system->groups));
  for (PetscInt b = 0; b < system->block_count; b++) {
    const PetscInt root = find_root(parent, b);

    system->group[b] = root == b ? system->group_count++ : system->group[root];
    system->place[b] = system->groups[system->group[b]].count++;
  }
  PetscCall(GiveRoom(system));
  for (PetscInt b = 0; b < system->block_count; b++)
    system->groups[system->group[b]].members[system->place[b]] = b;
  PetscCall(PetscFree(parent));
  PetscFunctionReturn(0);
}

static void put_block(BlockGroup *group, const BlockPair *pair)
{
  const PetscInt n = SOLID_BLOCK_LENGTH * group->count;

  for (PetscInt i = 0; i < SOLID_BLOCK_LENGTH; i++)
    for (PetscInt j = 0; j < SOLID_BLOCK_LENGTH; j++) {
      const PetscInt  a = SOLID_BLOCK_LENGTH * pair->a + i, b = SOLID_BLOCK_LENGTH * pair->b + j;
      const PetscReal value = pair->block[SOLID_BLOCK_LENGTH * i + j];

      group->inverse[n * a + b] = group->inverse[n * b + a] = value;
    }
}

/* `pairs` count blocks within the group; a block alone needs none. */
static PetscErrorCode Invert(SolidSystem system, BlockGroup *group, const BlockPairs *pairs)
{
  PetscBool is_positive;

  PetscFunctionBegin;
  if (group->count == 1) {
    PetscCall(PetscArraycpy(group->inverse, &system->diagonal[BLOCK_SIZE * group->members[0]], BLOCK_SIZE));
    PetscCall(DenseInvert(SOLID_BLOCK_LENGTH, group->inverse, &is_positive));
  } else if (group->inverse) {
    for (PetscInt p = 0; p < pairs->count; p++)
      put_block(group, &pairs->pairs[p]);
    PetscCall(DenseInvert(SOLID_BLOCK_LENGTH * group->count, group->inverse, &is_positive));
  } else
    PetscCall(BlockFactorCreate(group->count, pairs->count, pairs->pairs, &group->factor, &is_positive));
  PetscCheck(is_positive, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "The solid matrix C of %" PetscInt_FMT " blocks of unknowns is not positive", group->count);
  PetscFunctionReturn(0);
}

/* All blocks of each group, then its inverse. */
static PetscErrorCode InvertGroups(SolidSystem system)
{
  BlockPairs *lists;
  BlockPair  *pair;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(system->group_count, &lists));
  for (PetscInt b = 0; b < system->block_count; b++)
    if (system->groups[system->group[b]].count > 1) {
      PetscCall(BlockPairsFind(&lists[system->group[b]], system->place[b], system->place[b], &pair));
      PetscCall(PetscArraycpy(pair->block, &system->diagonal[BLOCK_SIZE * b], BLOCK_SIZE));
    }
  for (PetscInt p = 0; p < system->pairs.count; p++) {
    const BlockPair *from = &system->pairs.pairs[p];

    PetscCall(BlockPairsFind(&lists[system->group[from->a]], system->place[from->a], system->place[from->b],
                             &pair));
    add_block(1., from->block, pair->block); /* a term may come after what was added */
  }
  for (PetscInt g = 0; g < system->group_count; g++) {
    PetscCall(Invert(system, &system->groups[g], &lists[g]));
    PetscCall(PetscFree(lists[g].pairs));
  }
  PetscCall(PetscFree(lists));
  PetscFunctionReturn(0);
}

PetscErrorCode SolidSystemSet(SolidSystem system, const SolidSystemParts *parts)
{
  PetscFunctionBegin;
  PetscCall(Clear(system));
  PetscCall(TakeParts(system, parts));
  if (parts->term_count)
    PetscCall(BlockPairsGather(&system->pairs, PETSC_COMM_SELF)); /* each once */
  PetscCall(FormGroups(system));
  PetscCall(InvertGroups(system));
  PetscFunctionReturn(0);
}

PetscErrorCode SolidSystemSetLocal(SolidSystem system, const char is_local[])
{
  char *is_chosen;

  PetscFunctionBegin;
  PetscCall(PetscFree(system->local));
  system->local_count = 0;
  PetscCall(PetscCalloc1(system->group_count, &is_chosen));
  for (PetscInt b = 0; b < system->block_count; b++)
    if (is_local[b])
      is_chosen[system->group[b]] = 1;
  PetscCall(PetscMalloc1(system->group_count, &system->local));
  for (PetscInt g = 0; g < system->group_count; g++)
    if (is_chosen[g])
      system->local[system->local_count++] = g;
  PetscCall(PetscFree(is_chosen));
  PetscFunctionReturn(0);
}

/* to += block from, and the transpose the other way round. */
static void multiply_block(SolidSystem system, const BlockPair *pair, const PetscReal *x, PetscReal *y)
{
  const PetscReal *from = &x[system->first[pair->b]], *back = &x[system->first[pair->a]];
  PetscReal       *to = &y[system->first[pair->a]], *other = &y[system->first[pair->b]];

  for (PetscInt i = 0; i < system->length[pair->a]; i++)
    for (PetscInt j = 0; j < system->length[pair->b]; j++) {
      to[i] += pair->block[SOLID_BLOCK_LENGTH * i + j] * from[j];
      other[j] += pair->block[SOLID_BLOCK_LENGTH * i + j] * back[i];
    }
}

PetscErrorCode SolidSystemMultiply(SolidSystem system, const PetscReal x[], PetscReal y[])
{
  PetscFunctionBegin;
  for (PetscInt b = 0; b < system->block_count; b++)
    for (PetscInt i = 0; i < system->length[b]; i++) {
      y[system->first[b] + i] = 0.;
      for (PetscInt j = 0; j < system->length[b]; j++)
        y[system->first[b] + i] +=
            system->diagonal[BLOCK_SIZE * b + SOLID_BLOCK_LENGTH * i + j] * x[system->first[b] + j];
    }
  for (PetscInt p = 0; p < system->pairs.count; p++)
    multiply_block(system, &system->pairs.pairs[p], x, y);
  PetscFunctionReturn(0);
}

/* The unknowns of a group, filled up. */
static void gather(SolidSystem system, const BlockGroup *group, const PetscReal *from, PetscReal *part)
{
  for (PetscInt m = 0; m < group->count; m++) {
    const PetscInt b = group->members[m];

    for (PetscInt i = 0; i < SOLID_BLOCK_LENGTH; i++)
      part[SOLID_BLOCK_LENGTH * m + i] = i < system->length[b] ? from[system->first[b] + i] : 0.;
  }
}

static void scatter(SolidSystem system, const BlockGroup *group, const PetscReal *part, PetscReal *to)
{
  for (PetscInt m = 0; m < group->count; m++) {
    const PetscInt b = group->members[m];

    for (PetscInt i = 0; i < system->length[b]; i++)
      to[system->first[b] + i] = part[SOLID_BLOCK_LENGTH * m + i];
  }
}

static void apply_inverse(SolidSystem system, const BlockGroup *group, const PetscReal *from, PetscReal *to)
{
  const PetscInt n = SOLID_BLOCK_LENGTH * group->count;
  PetscReal      part[SOLID_BLOCK_LENGTH * MOST_DENSE], answer[SOLID_BLOCK_LENGTH * MOST_DENSE];

  gather(system, group, from, part);
  for (PetscInt i = 0; i < n; i++) {
    PetscReal sum = 0.;

    for (PetscInt j = 0; j < n; j++)
      sum += group->inverse[n * i + j] * part[j];
    answer[i] = sum;
  }
  scatter(system, group, answer, to);
}

static PetscErrorCode SolveGroup(SolidSystem system, const BlockGroup *group, const PetscReal *from,
                                 PetscReal *to)
{
  PetscReal *part;

  PetscFunctionBegin;
  if (group->inverse) {
    apply_inverse(system, group, from, to);
    PetscFunctionReturn(0);
  }
  PetscCall(PetscMalloc1(SOLID_BLOCK_LENGTH * group->count, &part));
  gather(system, group, from, part);
  PetscCall(BlockFactorSolve(group->factor, part, part));
  scatter(system, group, part, to);
  PetscCall(PetscFree(part));
  PetscFunctionReturn(0);
}

PetscErrorCode SolidSystemSolve(SolidSystem system, const PetscReal from[], PetscReal to[])
{
  PetscFunctionBegin;
  for (PetscInt g = 0; g < system->group_count; g++)
    PetscCall(SolveGroup(system, &system->groups[g], from, to));
  PetscFunctionReturn(0);
}

PetscErrorCode SolidSystemSolveLocal(SolidSystem system, const PetscReal from[], PetscReal to[])
{
  PetscFunctionBegin;
  for (PetscInt n = 0; n < system->local_count; n++)
    PetscCall(SolveGroup(system, &system->groups[system->local[n]], from, to));
  PetscFunctionReturn(0);
}

PetscErrorCode SolidSystemPrecondition(SolidSystem system, const PetscReal from[], PetscReal to[])
{
  PetscFunctionBegin;
  PetscCall(SolidSystemSolve(system, from, to));
  PetscFunctionReturn(0);
}

SolidSystemBlocks solid_system_blocks(SolidSystem system)
{
  return (SolidSystemBlocks){system->block_count, system->diagonal, system->pairs.count, system->pairs.pairs};
}
