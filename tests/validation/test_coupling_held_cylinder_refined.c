/* SceneRun around a cylinder in a channel, Re 20 (F5), with the cylinder as a static body at 10 and 20 cells
   per diameter: what cut cells are asked for is 2, 15 and 3 per cent. A steady flow does not depend on the
   step.
 */
#include "cylinder.h"
#include "harness.h"

static void run(PetscInt cells, PetscReal cfl, PetscReal results[CYLINDER_QUANTITIES])
{
  assert_success(CylinderRun(CYLINDER_STATIC, cells, cfl, results));
  for (PetscInt q = 0; q < CYLINDER_QUANTITIES; q++)
    note("%d cells per diameter, cfl %g: %s %.5f (%.5f), %+.2f %%", (int)cells, (double)cfl, CylinderNames[q],
         (double)results[q], (double)CylinderReference[q],
         100. * (double)(results[q] / CylinderReference[q] - 1.));
}

static void a_static_cylinder_meets_the_benchmark(void **state)
{
  const PetscReal bound[CYLINDER_QUANTITIES] = {0.02, 0.15, 0.03};
  PetscReal       coarse[CYLINDER_QUANTITIES], shorter[CYLINDER_QUANTITIES], fine[CYLINDER_QUANTITIES];

  (void)state;
  run(10, 0.9, coarse);
  run(10, 0.45, shorter);
  run(20, 0.9, fine);
  assert_near(shorter[CYLINDER_DRAG], coarse[CYLINDER_DRAG], 0.002 * CylinderReference[CYLINDER_DRAG]);
  for (PetscInt q = 0; q < CYLINDER_QUANTITIES; q++)
    assert_near(fine[q], CylinderReference[q], bound[q] * CylinderReference[q]);
}

TEST_MAIN(cmocka_unit_test(a_static_cylinder_meets_the_benchmark))
