/* C of solids: bodies of six unknowns and particles of three, with what a step takes implicitly. */
#include "harness.h"
#include "solids.h"

#include <millrace/solid_system.h>

enum { MOST_BLOCKS = 40, MOST_UNKNOWNS = 6 * MOST_BLOCKS };

typedef struct {
  PetscInt   count, unknowns, links;
  SolidBlock blocks[MOST_BLOCKS];
  PetscReal  mass[MOST_BLOCKS][36], added[36 * MOST_BLOCKS];
  BlockPair  damping[3 * MOST_BLOCKS];
  PetscReal  dense[MOST_UNKNOWNS][MOST_UNKNOWNS]; /* C, entry by entry */
} Chain;

static const PetscReal scale = 0.3;

/* Positive definite, of any kind. */
static void fill_mass(PetscInt count, PetscReal mass[36], uint64_t *seed)
{
  PetscReal root[6][6];

  for (PetscInt n = 0; n < count * count; n++)
    root[n / count][n % count] = random_number(seed) + (n / count == n % count ? 3. : 0.);
  for (PetscInt i = 0; i < count; i++)
    for (PetscInt j = 0; j < count; j++) {
      mass[count * i + j] = 0.;
      for (PetscInt k = 0; k < count; k++)
        mass[count * i + j] += root[i][k] * root[j][k];
    }
}

/* A damper along the three velocities of two neighbours: D (v_a - v_b) on both, with opposite signs. */
static void link_blocks(Chain *chain, PetscInt a, PetscInt b, PetscReal strength)
{
  const PetscInt  ends[3][2] = {{a, a}, {b, b}, {b, a}}; /* the last one above the diagonal */
  const PetscReal signs[3] = {1., 1., -1.};

  for (PetscInt n = 0; n < 3; n++) {
    BlockPair *pair = &chain->damping[chain->links++];

    *pair = (BlockPair){.a = ends[n][0], .b = ends[n][1]};
    for (PetscInt d = 0; d < DIM; d++)
      pair->block[7 * d] = signs[n] * strength;
  }
}

/* Every third block is a body; `linked` of them hang together, one after the other. */
static Chain *chain_new(PetscInt count, PetscInt linked)
{
  uint64_t seed = 7;
  Chain   *chain;

  PetscCallAbort(PETSC_COMM_SELF, PetscNew(&chain));
  chain->count = count;
  for (PetscInt b = 0; b < count; b++) {
    const PetscInt length = b % 3 ? 3 : 6;

    chain->blocks[b] = (SolidBlock){chain->unknowns, length, PETSC_TRUE, chain->mass[b]};
    fill_mass(length, chain->mass[b], &seed);
    for (PetscInt n = 0; n < length; n++)
      chain->added[36 * b + 7 * n] = 0.5;
    chain->unknowns += length;
  }
  for (PetscInt b = 1; b < linked; b++)
    link_blocks(chain, b - 1, b, 2. + random_number(&seed));
  return chain;
}

static void fill_dense(Chain *chain, PetscReal dt)
{
  for (PetscInt b = 0; b < chain->count; b++) {
    const SolidBlock *block = &chain->blocks[b];

    for (PetscInt n = 0; n < block->count * block->count; n++)
      chain->dense[block->first + n / block->count][block->first + n % block->count] =
          scale * block->mass[n] + (n / block->count == n % block->count ? 0.5 : 0.);
  }
  for (PetscInt p = 0; p < chain->links; p++)
    for (PetscInt d = 0; d < DIM; d++) {
      const PetscInt a = chain->blocks[chain->damping[p].a].first + d,
                     b = chain->blocks[chain->damping[p].b].first + d;

      chain->dense[a][b] += scale * dt * chain->damping[p].block[7 * d];
      if (a != b)
        chain->dense[b][a] += scale * dt * chain->damping[p].block[7 * d];
    }
}

static void set(Chain *chain, PetscReal dt, SolidSystem system)
{
  const SolidTerm        term = {dt, chain->links, chain->damping};
  const SolidSystemParts parts = {.block_count = chain->count,
                                  .blocks = chain->blocks,
                                  .scale = scale,
                                  .added_diagonal = chain->added,
                                  .term_count = 1,
                                  .terms = &term};

  assert_success(SolidSystemSet(system, &parts));
  for (PetscInt n = 0; n < chain->unknowns; n++)
    for (PetscInt m = 0; m < chain->unknowns; m++)
      chain->dense[n][m] = 0.;
  fill_dense(chain, dt);
}

/* In groups with a dense inverse and with a factor, for two lengths of the step. */
static void the_system_multiplies_and_solves(void **state)
{
  const PetscInt linked[2] = {7, MOST_BLOCKS};

  (void)state;
  for (PetscInt n = 0; n < 4; n++) {
    Chain      *chain = chain_new(MOST_BLOCKS, linked[n % 2]);
    uint64_t    seed = 5;
    PetscReal   x[MOST_UNKNOWNS], y[MOST_UNKNOWNS], back[MOST_UNKNOWNS];
    SolidSystem system;

    assert_success(SolidSystemCreate(&system));
    set(chain, n / 2 ? 10. : 0.1, system);
    for (PetscInt i = 0; i < chain->unknowns; i++)
      x[i] = random_number(&seed);
    assert_success(SolidSystemMultiply(system, x, y));
    for (PetscInt i = 0; i < chain->unknowns; i++) {
      PetscReal sum = 0.;

      for (PetscInt j = 0; j < chain->unknowns; j++)
        sum += chain->dense[i][j] * x[j];
      assert_near(y[i], sum, 1e-12);
    }
    assert_success(SolidSystemSolve(system, y, back));
    for (PetscInt i = 0; i < chain->unknowns; i++)
      assert_near(back[i], x[i], 1e-12);
    assert_success(SolidSystemPrecondition(system, y, back));
    for (PetscInt i = 0; i < chain->unknowns; i++)
      assert_near(back[i], x[i], 1e-12);
    assert_success(SolidSystemDestroy(&system));
    assert_success(PetscFree(chain));
  }
}

/* Blocks 0 to 6 hang together, the others are alone: of 5 and 9 come the first group and 9. */
static void a_local_solve_leaves_others_alone(void **state)
{
  Chain      *chain = chain_new(12, 7);
  PetscReal   from[MOST_UNKNOWNS], whole[MOST_UNKNOWNS], part[MOST_UNKNOWNS];
  char        is_local[12] = {0};
  uint64_t    seed = 3;
  SolidSystem system;

  (void)state;
  assert_success(SolidSystemCreate(&system));
  set(chain, 1., system);
  is_local[5] = is_local[9] = 1;
  for (PetscInt i = 0; i < chain->unknowns; i++) {
    from[i] = random_number(&seed);
    part[i] = 77.;
  }
  assert_success(SolidSystemSetLocal(system, is_local));
  assert_success(SolidSystemSolve(system, from, whole));
  assert_success(SolidSystemSolveLocal(system, from, part));
  for (PetscInt b = 0; b < chain->count; b++)
    for (PetscInt i = chain->blocks[b].first; i < chain->blocks[b].first + chain->blocks[b].count; i++)
      assert_true(part[i] == (b < 7 || b == 9 ? whole[i] : 77.));
  assert_success(SolidSystemDestroy(&system));
  assert_success(PetscFree(chain));
}

/* Dampers are equal and opposite: of C x only masses are left in the sums along an axis. */
static void damping_keeps_the_momentum(void **state)
{
  Chain      *chain = chain_new(MOST_BLOCKS, MOST_BLOCKS);
  PetscReal   x[MOST_UNKNOWNS], with[MOST_UNKNOWNS], without[MOST_UNKNOWNS], sums[DIM] = {0., 0., 0.};
  uint64_t    seed = 3;
  SolidSystem system;

  (void)state;
  for (PetscInt i = 0; i < chain->unknowns; i++)
    x[i] = random_number(&seed);
  assert_success(SolidSystemCreate(&system));
  set(chain, 10., system);
  assert_success(SolidSystemMultiply(system, x, with));
  set(chain, 0., system);
  assert_success(SolidSystemMultiply(system, x, without));
  for (PetscInt b = 0; b < chain->count; b++)
    for (PetscInt d = 0; d < DIM; d++)
      sums[d] += with[chain->blocks[b].first + d] - without[chain->blocks[b].first + d];
  for (PetscInt d = 0; d < DIM; d++)
    assert_near(sums[d], 0., 1e-12);
  assert_success(SolidSystemDestroy(&system));
  assert_success(PetscFree(chain));
}

TEST_MAIN(cmocka_unit_test(the_system_multiplies_and_solves),
          cmocka_unit_test(a_local_solve_leaves_others_alone), cmocka_unit_test(damping_keeps_the_momentum))
