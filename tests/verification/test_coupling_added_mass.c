/* A body that is let go in still water (B5): the first coupled solve gives its acceleration,
   a/g = (1 - r) / (r + c) with the ratio of densities r and the coefficient of added mass c, 1/2 for a sphere
   and 1 for a cylinder, at any ratio. */
#include "coupling_case.h"
#include "scene_run.h"
#include "harness.h"

/* Box and body are ten to one; `shift` moves the body off the middle, in cells. */
static PetscReal acceleration(PetscInt dimension, PetscInt cells, PetscReal ratio, Vector3 shift)
{
  const CouplingSetup setup = {.dimension = dimension,
                               .cells = {cells, cells, dimension == 3 ? cells : 1},
                               .length = 10.,
                               .density = 1000.,
                               .solver = COUPLING_SCHUR,
                               .tolerance = 1e-9};
  CouplingCase       *coupled = coupling_case_new(PETSC_COMM_WORLD, &setup);
  const PetscInt      up = dimension - 1;
  Vector3             centre = vector3_scale(10. / cells, shift), gravity = vector3(0., 0., 0.);
  PetscReal           result;

  for (PetscInt d = 0; d < dimension; d++)
    centre.at[d] += 5.;
  gravity.at[up] = -1.;
  coupling_case_add_ball(coupled, 0.5, ratio * 1000., centre);
  coupling_case_start(coupled);
  coupling_case_accelerate(coupled, gravity);
  coupling_case_solve(coupled);
  result = coupled->twists[up];
  for (PetscInt n = 0; n < DIM; n++)
    if (n != up)
      assert_near(coupled->twists[n], 0., 5e-3 * PetscAbsReal(result)); /* straight up */
  for (PetscInt n = DIM; n < 6 && ratio >= 0.1; n++)
    assert_near(0.5 * coupled->twists[n], 0., 2e-2 * PetscAbsReal(result)); /* and hardly spinning */
  coupling_case_free(coupled);
  return result;
}

/* All positions of the body in its cell, not only those that turn out well. */
static void check(PetscInt dimension, PetscInt cells, PetscReal added)
{
  static const PetscReal ratios[] = {1e-3, 0.1, 0.5, 2.};
  static const Vector3   shifts[] = {{{0., 0., 0.}}, {{0.31, 0.17, 0.43}}, {{0.5, 0.25, 0.1}}};

  for (size_t r = 0; r < PETSC_STATIC_ARRAY_LENGTH(ratios); r++)
    for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(shifts); s++) {
      const PetscReal found = acceleration(dimension, cells, ratios[r], shifts[s]),
                      wanted = (1. - ratios[r]) / (ratios[r] + added);

      note("%" PetscInt_FMT "-D, ratio %g, place %d: a/g = %.4f, wanted %.4f: %+.2f %%", dimension,
           (double)ratios[r], (int)s, (double)found, (double)wanted, (double)(100. * (found / wanted - 1.)));
      assert_near(found, wanted, 0.03 * PetscAbsReal(wanted));
    }
}

static void a_cylinder_starts_with_its_added_mass(void **state)
{
  (void)state;
  check(2, 320, 1.);
}

static void a_sphere_starts_with_its_added_mass(void **state)
{
  (void)state;
  check(3, 112, 0.5);
}

TEST_MAIN(cmocka_unit_test(a_cylinder_starts_with_its_added_mass),
          cmocka_unit_test(a_sphere_starts_with_its_added_mass))
