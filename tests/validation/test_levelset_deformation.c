/* A ball drawn out to a sheet of less than a cell and back (LeVeque 1996; Enright et al. 2002 lose 2.6 % with
   markers and 80 % without, on 100 x 100 x 100 cells). */
#include "scene_run.h"
#include "harness.h"
#include "interface_flows.h"

static void deformed_ball_comes_back(void **state)
{
  const InterfaceConfig marked = {.advection = INTERFACE_WENO5, .particles = 16};
  const char           *wish = getenv("DEFORMATION_CELLS"); /* 100 takes ten minutes */
  const PetscInt        cells = wish ? atoi(wish) : 64;
  FlowResult            result;

  (void)state;
  assert_success(InterfaceFlowRun(&deformation, &marked, cells, 1., &result));
  note("%d cells, %d steps, %d markers: volume %.6g, lost %.3f %% (at half time %.3f %%), mismatch %.3e "
       "(%.2f %%)",
       (int)cells, (int)result.steps, (int)result.markers, result.volume, 100. * result.loss,
       100. * result.middle, result.mismatch, 100. * result.mismatch / result.volume);
  assert_on_all_ranks(PetscAbsReal(result.loss) < (cells < 100 ? 0.1 : 0.04));
}

TEST_MAIN(cmocka_unit_test(deformed_ball_comes_back))
