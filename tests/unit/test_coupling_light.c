/* Many bodies, heavy and light: the iterations of each solver, and the parts of the preconditioner. */
#include "coupling_case.h"
#include "harness.h"
#include "solids.h"

#include "coupling/coupling_impl.h"

static PetscReal swirl(PetscInt d, Vector3 x)
{
  return PetscSinReal(31. * x.at[(d + 1) % 3] + d) +
         0.5 * PetscCosReal(23. * x.at[d] - 17. * x.at[(d + 2) % 3]);
}

/* 24 balls of a tenth of the box, jumbled, some within a cell of each other. */
static CouplingCase *make_crowd(MPI_Comm comm, CouplingSolver solver, PetscReal ratio, PetscReal tolerance)
{
  const CouplingSetup setup = {.dimension = 3,
                               .cells = {32, 32, 32},
                               .length = 1.,
                               .is_open = PETSC_TRUE,
                               .density = 1.,
                               .solver = solver,
                               .tolerance = tolerance};
  CouplingCase       *coupled = coupling_case_new(comm, &setup);

  for (PetscInt n = 0; n < 24; n++) {
    const PetscInt  i = n % 3, j = n / 3 % 3, k = n / 9;
    const PetscReal jumble = 0.045 * PetscSinReal(5. * n), odd = n % 2 ? 0.03 : -0.03;

    coupling_case_add_ball(
        coupled, 0.107, ratio,
        vector3(0.2 + 0.3 * i + jumble, 0.2 + 0.3 * j - odd, 0.19 + 0.3 * k + 0.5 * jumble));
  }
  coupling_case_start(coupled);
  coupling_case_fill(coupled, swirl);
  return coupled;
}

static void check_iterations(CouplingSolver solver, PetscReal ratio, PetscInt most)
{
  CouplingCase *coupled = make_crowd(PETSC_COMM_WORLD, solver, ratio, 1e-8);

  coupling_case_solve(coupled);
  assert_on_all_ranks(coupled->report.iterations <= most);
  assert_on_all_ranks(coupled->report.residual <= 1e-8);
  coupling_case_free(coupled);
}

static void heavy_bodies_take_few_iterations(void **state)
{
  (void)state;
  check_iterations(COUPLING_SCHUR, 1., 14);
  check_iterations(COUPLING_MINRES, 1., 14);
}

static void light_bodies_take_few_iterations(void **state)
{
  (void)state;
  check_iterations(COUPLING_SCHUR, 1e-3, 18);
  check_iterations(COUPLING_MINRES, 1e-3, 18);
  check_iterations(COUPLING_SCHUR, 1e-6, 18);
}

static void light_bodies_move_alike_on_any_ranks(void **state)
{
  CouplingCase *coupled[2];

  (void)state;
  for (int alone = 0; alone < 2; alone++) {
    coupled[alone] = make_crowd(alone ? PETSC_COMM_SELF : PETSC_COMM_WORLD, COUPLING_SCHUR, 1e-3, 1e-12);
    coupling_case_solve(coupled[alone]);
  }
  assert_on_all_ranks(PetscAbsInt(coupled[0]->report.iterations - coupled[1]->report.iterations) <= 1);
  for (PetscInt n = 0; n < 6 * coupled[0]->count; n++)
    assert_near(coupled[0]->twists[n], coupled[1]->twists[n], 1e-8);
  for (int alone = 0; alone < 2; alone++)
    coupling_case_free(coupled[alone]);
}

/* Blocks along and beside the diagonal of a chain of bodies, every second one negative. */
static PetscInt fill_chain(PetscInt blocks, BlockPair *pairs)
{
  PetscInt count = 0;

  for (PetscInt b = 0; b < blocks; b++)
    for (PetscInt a = PetscMax(b - 1, 0); a <= b; a++, count++) {
      pairs[count] = (BlockPair){.a = a, .b = b};
      for (PetscInt n = 0; n < 36; n++)
        pairs[count].block[n] = a == b ? (b % 2 ? -1e-6 : 1.) * (n % 7 == 0 ? 4. : 0.3 / (1. + n / 6 + n % 6))
                                       : 1e-3 * PetscSinReal(n + 3. * b);
    }
  return count;
}

static void sparse_factors_solve(void **state)
{
  enum { BLOCKS = 40 };
  BlockPair  *pairs;
  PetscReal   right[6 * BLOCKS], answer[6 * BLOCKS];
  PetscInt    count;
  BlockFactor factor;
  PetscBool   is_regular;

  (void)state;
  assert_success(PetscMalloc1(2 * BLOCKS, &pairs));
  count = fill_chain(BLOCKS, pairs);
  for (PetscInt n = 0; n < 6 * BLOCKS; n++)
    right[n] = PetscCosReal(2. * n);
  assert_success(BlockFactorCreate(BLOCKS, count, pairs, &factor, &is_regular));
  assert_on_all_ranks(is_regular);
  assert_success(BlockFactorSolve(factor, right, answer));
  for (PetscInt p = 0; p < count; p++)
    for (PetscInt n = 0; n < 36; n++) {
      right[6 * pairs[p].a + n / 6] -= pairs[p].block[n] * answer[6 * pairs[p].b + n % 6];
      if (pairs[p].a != pairs[p].b)
        right[6 * pairs[p].b + n % 6] -= pairs[p].block[n] * answer[6 * pairs[p].a + n / 6];
    }
  for (PetscInt n = 0; n < 6 * BLOCKS; n++)
    assert_near(right[n], 0., 1e-9);
  assert_success(BlockFactorDestroy(&factor));
  assert_success(PetscFree(pairs));
}

TEST_MAIN(cmocka_unit_test(heavy_bodies_take_few_iterations),
          cmocka_unit_test(light_bodies_take_few_iterations),
          cmocka_unit_test(light_bodies_move_alike_on_any_ranks), cmocka_unit_test(sparse_factors_solve))
