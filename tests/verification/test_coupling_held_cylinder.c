/* SceneRun around a cylinder in a channel, Re 20 (F5), at ten cells per diameter: the cylinder as a static
   body, and free but held by a joint, whose forces come out of the coupled solve. tests/validation has more
   cells.
 */
#include "cylinder.h"
#include "harness.h"

static void a_cylinder_is_held_by_the_coupling_as_by_nothing(void **state)
{
  const PetscReal bound[CYLINDER_QUANTITIES] = {0.03, 0.1, 0.04};
  PetscReal       still[CYLINDER_QUANTITIES], joined[CYLINDER_QUANTITIES];

  (void)state;
  assert_success(CylinderRun(CYLINDER_STATIC, 10, 0.9, still));
  assert_success(CylinderRun(CYLINDER_JOINED, 10, 0.9, joined));
  for (PetscInt q = 0; q < CYLINDER_QUANTITIES; q++) {
    note("%s: static %.5f (%+.2f %%), held by a joint %.5f", CylinderNames[q], (double)still[q],
         100. * (double)(still[q] / CylinderReference[q] - 1.), (double)joined[q]);
    assert_near(still[q], CylinderReference[q], bound[q] * CylinderReference[q]);
    assert_near(joined[q], still[q], (q == CYLINDER_LIFT ? 0.005 : 0.0005) * CylinderReference[q]);
  }
}

TEST_MAIN(cmocka_unit_test(a_cylinder_is_held_by_the_coupling_as_by_nothing))
