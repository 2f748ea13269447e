/* C = M_S + W^T M_F W, scaled like the pressure rows: six by six per free body, and dense where bodies share
   dual cells. Every rank holds all of it. */
#include "coupling_impl.h"

typedef struct MassPair MassPair;

void share_row(PetscInt direction, const Share *share, PetscReal row[TWIST])
{
  const PetscInt first = (direction + 1) % DIM, second = (direction + 2) % DIM;

  for (PetscInt n = 0; n < TWIST; n++)
    row[n] = 0.;
  row[direction] = share->weight;
  row[DIM + first] = share->weight * share->arm.at[second];
  row[DIM + second] = -share->weight * share->arm.at[first];
}

static void add_product(PetscReal factor, const PetscReal a[TWIST], const PetscReal b[TWIST],
                        PetscReal *block)
{
  for (PetscInt i = 0; i < TWIST; i++)
    for (PetscInt j = 0; j < TWIST; j++)
      block[TWIST * i + j] += factor * a[i] * b[j];
}

static PetscErrorCode AddPair(MassMatrix *mass, PetscInt a, PetscInt b, MassPair **pair)
{
  PetscFunctionBegin;
  for (PetscInt p = mass->pair_count - 1; p >= 0 && p >= mass->pair_count - 8;
       p--) /* faces follow each other */
    if (mass->pairs[p].a == a && mass->pairs[p].b == b) {
      *pair = &mass->pairs[p];
      PetscFunctionReturn(0);
    }
  if (mass->pair_count == mass->pair_room) {
    mass->pair_room = 2 * mass->pair_room + 16;
    PetscCall(PetscRealloc(mass->pair_room * sizeof(MassPair), &mass->pairs));
  }
  *pair = &mass->pairs[mass->pair_count++];
  PetscCall(PetscMemzero(*pair, sizeof(**pair)));
  (*pair)->a = a;
  (*pair)->b = b;
  PetscFunctionReturn(0);
}

static PetscErrorCode AddFace(Coupling coupling, const MixedFace *mixed)
{
  const PetscReal factor = coupling->scale * mixed->mass;
  PetscReal       row[TWIST], other[TWIST];

  PetscFunctionBegin;
  for (PetscInt s = mixed->first; s < mixed->first + mixed->count; s++)
    for (PetscInt t = mixed->first; t < mixed->first + mixed->count; t++) {
      const PetscInt a = coupling->bodies[coupling->shares[s].body].free,
                     b = coupling->bodies[coupling->shares[t].body].free;
      MassPair *pair = NULL;

      if (a < 0 || b < 0 || a > b || coupling->shares[s].weight * coupling->shares[t].weight == 0.)
        continue;
      share_row(mixed->direction, &coupling->shares[s], row);
      share_row(mixed->direction, &coupling->shares[t], other);
      if (a == b) {
        add_product(factor, row, other, &coupling->mass.diagonal[TWIST * TWIST * a]);
      } else {
        PetscCall(AddPair(&coupling->mass, a, b, &pair));
        add_product(factor, row, other, pair->block);
      }
    }
  PetscFunctionReturn(0);
}

static int compare_pairs(const void *x, const void *y)
{
  const MassPair *a = x, *b = y;

  if (a->a != b->a)
    return a->a < b->a ? -1 : 1;
  return (a->b > b->b) - (a->b < b->b);
}

/* The pairs of all ranks on all ranks, each once; equal ones are summed in the order of ranks. */
static PetscErrorCode GatherPairs(MassMatrix *mass, MPI_Comm world)
{
  PetscMPIInt size, *counts, *offsets, mine = (PetscMPIInt)(mass->pair_count * sizeof(MassPair)), sum = 0;
  MassPair   *all;
  PetscInt    total, kept = 0;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(world, &size));
  PetscCall(PetscMalloc2(size, &counts, size, &offsets));
  PetscCallMPI(MPI_Allgather(&mine, 1, MPI_INT, counts, 1, MPI_INT, world));
  for (PetscMPIInt r = 0; r < size; r++) {
    offsets[r] = sum;
    sum += counts[r];
  }
  total = (PetscInt)(sum / sizeof(MassPair));
  PetscCall(PetscMalloc1(total, &all));
  PetscCallMPI(MPI_Allgatherv(mass->pairs, mine, MPI_BYTE, all, counts, offsets, MPI_BYTE, world));
  if (total)
    qsort(all, total, sizeof(MassPair), compare_pairs);
  for (PetscInt p = 0; p < total; p++)
    if (kept && compare_pairs(&all[kept - 1], &all[p]) == 0)
      for (PetscInt n = 0; n < TWIST * TWIST; n++)
        all[kept - 1].block[n] += all[p].block[n];
    else
      all[kept++] = all[p];
  PetscCall(PetscFree(mass->pairs));
  PetscCall(PetscFree2(counts, offsets));
  mass->pairs = all;
  mass->pair_count = kept;
  mass->pair_room = total;
  PetscFunctionReturn(0);
}

static void add_own_mass(Coupling coupling, PetscInt free)
{
  const CoupledBody *body = &coupling->bodies[coupling->free_bodies[free]].body;
  PetscReal         *block = &coupling->mass.diagonal[TWIST * TWIST * free];

  for (PetscInt i = 0; i < DIM; i++) {
    block[TWIST * i + i] += coupling->scale * body->mass;
    for (PetscInt j = 0; j < DIM; j++)
      block[TWIST * (DIM + i) + DIM + j] += coupling->scale * body->inertia.at[i][j];
  }
}

static PetscInt find_root(PetscInt *parent, PetscInt one)
{
  while (parent[one] != one)
    one = parent[one] = parent[parent[one]];
  return one;
}

/* Groups in the order of their first bodies; `place` of each body in its group. */
static PetscErrorCode FormGroups(MassMatrix *mass, PetscInt *group, PetscInt *place)
{
  PetscInt *parent;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(mass->free_count, &parent));
  for (PetscInt b = 0; b < mass->free_count; b++)
    parent[b] = b;
  for (PetscInt p = 0; p < mass->pair_count; p++) {
    const PetscInt a = find_root(parent, mass->pairs[p].a), b = find_root(parent, mass->pairs[p].b);

    parent[PetscMax(a, b)] = PetscMin(a, b);
  }
  PetscCall(PetscCalloc1(mass->free_count, &mass->groups));
  mass->group_count = 0;
  for (PetscInt b = 0; b < mass->free_count; b++) {
    const PetscInt root = find_root(parent, b);

    group[b] = root == b ? mass->group_count++ : group[root];
    place[b] = mass->groups[group[b]].count++;
  }
  for (PetscInt g = 0; g < mass->group_count; g++) {
    const PetscInt n = TWIST * mass->groups[g].count;

    PetscCall(PetscMalloc1(mass->groups[g].count, &mass->groups[g].bodies));
    PetscCall(PetscCalloc3(n * n, &mass->groups[g].matrix, n * n, &mass->groups[g].inverse, n * n,
                           &mass->groups[g].softened));
  }
  for (PetscInt b = 0; b < mass->free_count; b++)
    mass->groups[group[b]].bodies[place[b]] = b;
  PetscCall(PetscFree(parent));
  PetscFunctionReturn(0);
}

static void put_block(MassGroup *group, PetscInt a, PetscInt b, const PetscReal *block)
{
  const PetscInt n = TWIST * group->count;

  for (PetscInt i = 0; i < TWIST; i++)
    for (PetscInt j = 0; j < TWIST; j++) {
      group->matrix[n * (TWIST * a + i) + TWIST * b + j] = block[TWIST * i + j];
      group->matrix[n * (TWIST * b + j) + TWIST * a + i] = block[TWIST * i + j];
    }
}

static PetscErrorCode Invert(MassGroup *group)
{
  const PetscInt n = TWIST * group->count;
  PetscBool      is_positive;

  PetscFunctionBegin;
  PetscCall(PetscArraycpy(group->inverse, group->matrix, n * n));
  PetscCall(DenseInvert(n, group->inverse, &is_positive));
  PetscCheck(is_positive, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "The mass matrix of %" PetscInt_FMT " bodies is not positive", group->count);
  PetscFunctionReturn(0);
}

PetscErrorCode CouplingDropMass(Coupling coupling)
{
  MassMatrix *mass = &coupling->mass;

  PetscFunctionBegin;
  for (PetscInt g = 0; g < mass->group_count; g++) {
    PetscCall(PetscFree(mass->groups[g].bodies));
    PetscCall(PetscFree3(mass->groups[g].matrix, mass->groups[g].inverse, mass->groups[g].softened));
  }
  PetscCall(PetscFree(mass->groups));
  PetscCall(PetscFree(mass->diagonal));
  PetscCall(PetscFree(mass->pairs));
  *mass = (MassMatrix){0};
  PetscFunctionReturn(0);
}

PetscErrorCode CouplingFindMass(Coupling coupling)
{
  MassMatrix *mass = &coupling->mass;
  PetscInt   *group, *place;

  PetscFunctionBegin;
  PetscCall(CouplingDropMass(coupling));
  mass->free_count = coupling->free_count;
  PetscCall(PetscCalloc1(TWIST * TWIST * mass->free_count, &mass->diagonal));
  for (PetscInt m = 0; m < coupling->mixed_count && coupling->grid; m++)
    if (coupling->mixed[m].is_owned)
      PetscCall(AddFace(coupling, &coupling->mixed[m]));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, mass->diagonal, (PetscMPIInt)(TWIST * TWIST * mass->free_count),
                             MPIU_REAL, MPI_SUM, coupling->world));
  PetscCall(GatherPairs(mass, coupling->world));
  PetscCall(PetscMalloc2(mass->free_count, &group, mass->free_count, &place));
  PetscCall(FormGroups(mass, group, place));
  for (PetscInt b = 0; b < mass->free_count; b++) {
    add_own_mass(coupling, b);
    put_block(&mass->groups[group[b]], place[b], place[b], &mass->diagonal[TWIST * TWIST * b]);
  }
  for (PetscInt p = 0; p < mass->pair_count; p++)
    put_block(&mass->groups[group[mass->pairs[p].a]], place[mass->pairs[p].a], place[mass->pairs[p].b],
              mass->pairs[p].block);
  for (PetscInt g = 0; g < mass->group_count; g++)
    PetscCall(Invert(&mass->groups[g]));
  PetscCall(PetscFree2(group, place));
  PetscFunctionReturn(0);
}

static void apply_group(const MassGroup *group, const PetscReal *matrix, const PetscReal *from, PetscReal *to)
{
  const PetscInt n = TWIST * group->count;

  for (PetscInt i = 0; i < n; i++) {
    PetscReal sum = 0.;

    for (PetscInt j = 0; j < n; j++)
      sum += matrix[n * i + j] * from[TWIST * group->bodies[j / TWIST] + j % TWIST];
    to[TWIST * group->bodies[i / TWIST] + i % TWIST] = sum;
  }
}

void mass_apply_inverse(const MassMatrix *mass, const PetscReal *from, PetscReal *to)
{
  for (PetscInt g = 0; g < mass->group_count; g++)
    apply_group(&mass->groups[g], mass->groups[g].inverse, from, to);
}

void mass_apply_softened(const MassMatrix *mass, const PetscReal *from, PetscReal *to)
{
  for (PetscInt g = 0; g < mass->group_count; g++)
    apply_group(&mass->groups[g], mass->groups[g].softened, from, to);
}
