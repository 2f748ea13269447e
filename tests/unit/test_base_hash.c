#include "harness.h"

#include <millrace/base.h>

/* Sums over the first `index` of keys of neighbouring cells: mean, variance, products of neighbours. */
static void random_numbers_are_spread_evenly(void **state)
{
  enum { COUNT = 200000, BINS = 16 };
  const PetscReal scatter = 1. / PetscSqrtReal(COUNT); /* of a mean, times the deviation of one */
  PetscReal       mean = 0., variance = 0., along_cells = 0., along_index = 0.;
  PetscInt        bins[BINS] = {0};
  PetscReal       chi = 0.;

  (void)state;
  for (PetscInt n = 0; n < COUNT; n++) {
    const uint64_t  key = hash_key(1, 2, (uint64_t)n, 3), next = hash_key(1, 2, (uint64_t)n + 1, 3);
    const PetscReal a = hash_real(key, 0) - 0.5, b = hash_real(next, 0) - 0.5, c = hash_real(key, 1) - 0.5;

    assert_true(a >= -0.5 && a < 0.5);
    mean += a / COUNT;
    variance += a * a / COUNT;
    along_cells += a * b / COUNT;
    along_index += a * c / COUNT;
    bins[(PetscInt)((a + 0.5) * BINS)]++;
  }
  assert_near(mean, 0., 4. * PetscSqrtReal(1. / 12.) * scatter);
  assert_near(variance, 1. / 12., 4. * PetscSqrtReal(1. / 180.) * scatter);
  assert_near(along_cells, 0., 4. / 12. * scatter);
  assert_near(along_index, 0., 4. / 12. * scatter);
  for (PetscInt bin = 0; bin < BINS; bin++)
    chi += PetscSqr(bins[bin] - (PetscReal)COUNT / BINS) / ((PetscReal)COUNT / BINS);
  assert_near(chi, BINS - 1., 4. * PetscSqrtReal(2. * (BINS - 1.)));
}

/* A change of one bit in any part of a key changes half the bits of the result. */
static void keys_differ_by_any_part(void **state)
{
  PetscReal flips = 0.;

  (void)state;
  for (PetscInt part = 0; part < 4; part++)
    for (PetscInt bit = 0; bit < 64; bit++) {
      uint64_t words[4] = {11, 22, 33, 44}, change;

      change = hash_key(words[0], words[1], words[2], words[3]);
      words[part] ^= 1ull << bit;
      change ^= hash_key(words[0], words[1], words[2], words[3]);
      assert_true(__builtin_popcountll(change) > 10 && __builtin_popcountll(change) < 54);
      flips += __builtin_popcountll(change) / 256.;
    }
  assert_near(flips, 32., 1.);
  assert_true(hash_key(1, 2, 3, 4) != hash_key(2, 1, 3, 4) && hash_key(0, 0, 0, 1) != hash_key(0, 0, 1, 0));
}

TEST_MAIN(cmocka_unit_test(random_numbers_are_spread_evenly), cmocka_unit_test(keys_differ_by_any_part))
