/* The force on a body that moves among the cells: that of a cylinder which is towed does not jump when faces
   are covered and uncovered, however small the step. tests/validation has more places and more room. */
#include "harness.h"
#include "towed.h"

static void drag_does_not_tell_where_the_cells_are(void **state)
{
  static const PetscReal offsets[] = {0., 0.5}, steps[] = {0.005, 0.0025};
  PetscReal              mean[6];

  (void)state;
  for (PetscInt n = 0; n < 6; n++) {
    const TowedKind kind = n < 4 ? TOWED_OBSTACLE : TOWED_CONTOUR;
    const Tow       tow = {{1.2, 1.}, 0.4, offsets[n / 2 % 2], steps[n % 2], 0.2, 0.4, NULL, kind};
    TowedDrag       drag;

    assert_success(TowCylinder(&tow, &drag));
    note("%s%.1f cells off, dt %.4f: drag %.4f, r.m.s. of its noise %.2f %%, largest %.2f %%",
         kind == TOWED_CONTOUR ? "contour, " : "", (double)tow.offset, (double)tow.dt, (double)drag.mean,
         100. * (double)drag.noise, 100. * (double)drag.largest);
    mean[n] = drag.mean;
    assert_on_all_ranks(drag.noise < 0.015);
    assert_on_all_ranks(drag.largest < 0.04);
    assert_near(mean[n], mean[0], 0.01 * PetscAbsReal(mean[0]));
  }
}

TEST_MAIN(cmocka_unit_test(drag_does_not_tell_where_the_cells_are))
