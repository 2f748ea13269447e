/* SceneRun around a cylinder in a channel, Re 20: benchmark 2D-1 of Schaefer and Turek (1996) (F5), with the
   scene inputs/flow/channel-cylinder.yaml and central advection at 10, 20 and 40 cells per diameter.

   Reference: cD 5.57953523384, cL 0.010618948146, pressure difference 0.11752016697 (Nabh 1998, as FeatFlow
   gives them); length of the recirculation 0.0842 to 0.0852 (Schaefer and Turek), here the middle of it. */
#include "cylinder.h"
#include "harness.h"

#include "simulation/coupled_impl.h"

enum { DRAG, LIFT, PRESSURE_DIFFERENCE, RECIRCULATION, QUANTITIES };

static const char *const names[QUANTITIES] = {"cD", "cL", "pressure difference", "recirculation length"};
static const PetscReal   reference[QUANTITIES] = {5.57953523384, 0.010618948146, 0.11752016697, 0.0847};

/* From the rear of the cylinder to where the flow on its axis turns forward. */
static PetscErrorCode RecirculationLength(SceneRun *flow, PetscReal *length)
{
  const PetscReal step = grid_spacing(flow->grid), rear = 0.25;
  PetscReal       before = 0., u = 0., x = rear;

  PetscFunctionBegin;
  while (u <= 0. && x < 1.) {
    x += step;
    before = u;
    PetscCall(SceneRunSample(flow, X, vector3(x, 0.2, 0.), &u));
  }
  *length = x - step * u / (u - before) - rear;
  PetscFunctionReturn(0);
}

static PetscErrorCode RunCylinder(PetscInt per_diameter, PetscReal results[QUANTITIES])
{
  const PetscReal  scale = 2. / (0.2 * 0.2 * 0.1); /* mean velocity 0.2, diameter 0.1, density 1 */
  const PetscReal *force;
  PetscReal        front, rear;
  SceneRun         flow;

  PetscFunctionBegin;
  PetscCall(SceneRunOpen(&flow, "flow/channel-cylinder", 22 * per_diameter, "fluid.advection=central", NULL));
  PetscCall(SceneRunUntil(&flow, 8.));
  force = flow.simulation->coupled->loads[LOAD_ALL];
  results[DRAG] = scale * force[X];
  results[LIFT] = scale * force[Y];
  PetscCall(CylinderSurfacePressure(&flow, 0.15, -1., &front));
  PetscCall(CylinderSurfacePressure(&flow, 0.25, 1., &rear));
  results[PRESSURE_DIFFERENCE] = front - rear;
  PetscCall(RecirculationLength(&flow, &results[RECIRCULATION]));
  PetscCall(SceneRunDestroy(&flow));
  PetscFunctionReturn(0);
}

static void cylinder_at_reynolds_20_converges_to_the_benchmark(void **state)
{
  /* what cut cells are asked for at 20 cells per diameter: 2, 15 and 3 per cent */
  const PetscReal bound[QUANTITIES] = {0.02, 0.15, 0.03, 0.03};
  PetscReal       results[3][QUANTITIES], error[3][QUANTITIES];

  (void)state;
  for (PetscInt level = 0; level < 3; level++) {
    assert_success(RunCylinder(10 << level, results[level]));
    for (PetscInt q = 0; q < QUANTITIES; q++) {
      error[level][q] = PetscAbsReal(results[level][q] / reference[q] - 1.);
      note("%d cells per diameter: %s %.5f (%.5f), %+.2f %%", 10 << level, names[q],
           (double)results[level][q], (double)reference[q],
           100. * (double)(results[level][q] / reference[q] - 1.));
    }
  }
  for (PetscInt q = 0; q < QUANTITIES; q++)
    assert_on_all_ranks(error[1][q] <= bound[q] && error[2][q] <= bound[q]);
  note("order of the drag %.2f", (double)(0.5 * order_between(error[0][DRAG], error[2][DRAG])));
  assert_on_all_ranks(0.5 * order_between(error[0][DRAG], error[2][DRAG]) > 1.8);
  assert_on_all_ranks(error[2][PRESSURE_DIFFERENCE] < 0.6 * error[1][PRESSURE_DIFFERENCE]);
}

TEST_MAIN(cmocka_unit_test(cylinder_at_reynolds_20_converges_to_the_benchmark))
