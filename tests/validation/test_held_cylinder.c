/* Flow around a cylinder in a channel, Re 20 (F5), with the cylinder as a static body at 10 and 20 cells per
   diameter and half the default step: what cut cells are asked for is 2, 15 and 3 per cent. */
#include "cylinder.h"
#include "harness.h"

static void a_static_cylinder_meets_the_benchmark(void **state)
{
  const PetscReal bound[CYLINDER_QUANTITIES] = {0.02, 0.15, 0.03};
  PetscReal       results[2][CYLINDER_QUANTITIES];

  (void)state;
  for (PetscInt level = 0; level < 2; level++) {
    assert_success(CylinderRun(CYLINDER_STATIC, 10 << level, 0.45, results[level]));
    for (PetscInt q = 0; q < CYLINDER_QUANTITIES; q++)
      note("%d cells per diameter: %s %.5f (%.5f), %+.2f %%", 10 << level, CylinderNames[q],
           (double)results[level][q], (double)CylinderReference[q],
           100. * (double)(results[level][q] / CylinderReference[q] - 1.));
  }
  for (PetscInt q = 0; q < CYLINDER_QUANTITIES; q++)
    assert_near(results[1][q], CylinderReference[q], bound[q] * CylinderReference[q]);
}

TEST_MAIN(cmocka_unit_test(a_static_cylinder_meets_the_benchmark))
