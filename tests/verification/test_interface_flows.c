/* Interfaces that are carried around and come back (docs/validation.md, L1 and L2). */
#include "flow.h"
#include "harness.h"
#include "interface_flows.h"

static const InterfaceConfig plain = {.advection = INTERFACE_WENO5};
static const InterfaceConfig marked = {.advection = INTERFACE_WENO5, .particles = 16};
static const InterfaceConfig marked_semi_lagrangian = {.advection = INTERFACE_SEMI_LAGRANGIAN,
                                                       .particles = 16};

static void run(const char *what, const InterfaceFlow *flow, const InterfaceConfig *config, PetscInt cells,
                PetscReal courant, FlowResult *result)
{
  assert_success(InterfaceFlowRun(flow, config, cells, courant, result));
  note("%s, %s, %d markers a cell, %d cells, %d steps: volume %.6g, lost %.3f %% (at half time %.3f %%), "
       "mismatch %.3e (%.2f %%)",
       what, InterfaceSchemes[config->advection], (int)config->particles, (int)cells, (int)result->steps,
       result->volume, 100. * result->loss, 100. * result->middle, result->mismatch,
       100. * result->mismatch / result->volume);
}

/* Enright et al. (2002) lose 0.31 % with markers and 5.3 % without; the exact area is 582.207. */
static void zalesak_disk_keeps_its_area(void **state)
{
  FlowResult result, bare;

  (void)state;
  run("Zalesak", &zalesak_disk, &plain, 100, 0.5, &bare);
  assert_on_all_ranks(PetscAbsReal(bare.loss) < 0.02);
  assert_near(bare.volume, 582.207, 0.005 * 582.207);
  run("Zalesak", &zalesak_disk, &marked, 100, 0.5, &result);
  assert_on_all_ranks(PetscAbsReal(result.loss) < 0.005);
  assert_on_all_ranks(result.mismatch < 0.016 * 582.207);
  assert_on_all_ranks(result.mismatch < bare.mismatch);
  run("Zalesak", &zalesak_disk, &marked_semi_lagrangian, 100, 1.9, &result);
  assert_on_all_ranks(PetscAbsReal(result.loss) < 0.005);
}

/* They lose 0.71 % with markers and 39.8 % without, on 128 x 128 cells. */
static void vortex_gives_the_disk_back(void **state)
{
  FlowResult coarse, fine, bare;
  PetscReal  order;

  (void)state;
  run("vortex", &single_vortex, &plain, 64, 1., &bare);
  run("vortex", &single_vortex, &marked, 64, 1., &coarse);
  run("vortex", &single_vortex, &marked, 128, 1., &fine);
  order = order_between(coarse.mismatch, fine.mismatch);
  note("order of the mismatch: %.2f", order);
  assert_on_all_ranks(PetscAbsReal(fine.loss) < 0.015);
  assert_on_all_ranks(order > 1.);
  assert_on_all_ranks(coarse.mismatch < bare.mismatch);
}

TEST_MAIN(cmocka_unit_test(zalesak_disk_keeps_its_area), cmocka_unit_test(vortex_gives_the_disk_back))
