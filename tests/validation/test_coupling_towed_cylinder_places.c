/* The force on a body that moves among the cells: a cylinder of 16 cells is towed at Re 100 through a box of
   10 by 5 diameters, at five places between two lines of the grid, at CFL 0.2 and 0.1. Wanted: noise of at
   most 1.5 % r.m.s. that does not grow with 1/dt. */
#include "harness.h"
#include "towed.h"

static void drag_does_not_tell_where_the_cells_are(void **state)
{
  static const PetscReal offsets[] = {0., 0.1, 0.25, 0.33, 0.5};
  PetscReal              first = 0.;

  (void)state;
  for (PetscInt n = 0; n < 10; n++) {
    const Tow tow = {{4., 2.}, 0.8, offsets[n / 2], n % 2 ? 0.0025 : 0.005,
                     0.4,      1.6, NULL,           n < 2 ? TOWED_BODY : TOWED_OBSTACLE};
    TowedDrag drag;

    assert_success(TowCylinder(&tow, &drag));
    note("%.2f cells off, dt %.4f: drag %.4f, r.m.s. of its noise %.2f %%, largest %.2f %%",
         (double)tow.offset, (double)tow.dt, (double)drag.mean, 100. * (double)drag.noise,
         100. * (double)drag.largest);
    first = n ? first : drag.mean;
    assert_on_all_ranks(drag.noise <= 0.015);
    assert_near(drag.mean, first, 0.01 * PetscAbsReal(first));
  }
}

TEST_MAIN(cmocka_unit_test(drag_does_not_tell_where_the_cells_are))
