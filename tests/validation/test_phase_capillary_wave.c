/* Capillary waves at 64 cells per wavelength (M5), for equal densities and a ratio of ten. */
#include "harness.h"
#include "waves.h"

static void fine_capillary_waves_follow_prosperettis_solution(void **state)
{
  const PetscReal densities[] = {1., 0.1};

  (void)state;
  for (PetscInt n = 0; n < 2; n++) {
    PetscReal error;

    assert_success(CapillaryWaveDeviation(64, densities[n], &error));
    note("M5, density %g above, 64 cells per wavelength: deviation %.4f", (double)densities[n],
         (double)error);
    assert_on_all_ranks(error <= 0.02);
  }
}

TEST_MAIN(cmocka_unit_test(fine_capillary_waves_follow_prosperettis_solution))
