/* Triangles around combinations of shapes: closed, and of second order in the spacing of their lattice. */
#include "scene_run.h"
#include "harness.h"
#include <math.h>
#include <millrace/geometry.h>

/* A ball of radius 1/2 with a tube of radius 0.2 drilled through it along a slanted axis. */
static Shape create_bead(void)
{
  Shape parts[2], bead;

  assert_success(ShapeCreateSphere(vector3(0.1, 0.2, -0.1), 0.5, &parts[0]));
  assert_success(ShapeCreateCylinder(vector3(-0.9, 0.2, -1.1), vector3(1.1, 0.2, 0.9), 0.2, &parts[1]));
  assert_success(ShapeCreateCombination(SHAPE_DIFFERENCE, 2, parts, &bead));
  return bead;
}

static PetscReal volume_of(Shape shape, ContourKind kind, PetscReal spacing)
{
  Vector3      low, high;
  Surface      surface;
  SurfaceFault fault;
  PetscReal    volume;

  shape_bounds(shape, &low, &high);
  assert_success(SurfaceCreateContour(shape, kind, low, high, spacing, &surface));
  assert_non_null(surface);
  assert_success(SurfaceFindFault(surface, &fault));
  assert_int_equal(fault, SURFACE_SOUND);
  volume = surface_volume(surface);
  assert_success(SurfaceDestroy(&surface));
  return volume;
}

/* What is left of a ball around a tube of radius r is a ball whose diameter is the length of the tube. */
static void a_drilled_ball_has_its_volume(void **state)
{
  const PetscReal exact = 4. / 3. * PETSC_PI * pow(0.5 * 0.5 - 0.2 * 0.2, 1.5);
  Shape           bead = create_bead();
  PetscReal       errors[3];

  (void)state;
  for (PetscInt n = 0; n < 3; n++) {
    errors[n] = volume_of(bead, CONTOUR_SPACE, 0.1 / (1 << n)) / exact - 1.;
    note("spacing %.3f: volume %+.3f %%", 0.1 / (1 << n), 100. * (double)errors[n]);
  }
  assert_near(errors[2], 0., 0.005);
  assert_true(log2(PetscAbsReal(errors[0] / errors[2])) / 2. > 1.7);
  assert_success(ShapeDestroy(&bead));
}

/* Two discs that do not touch, in the plane: prisms one metre deep. */
static void discs_in_the_plane_have_their_area(void **state)
{
  const PetscReal exact = PETSC_PI * (0.5 * 0.5 + 0.2 * 0.2);
  Shape           parts[2], discs;
  PetscReal       errors[3];

  (void)state;
  assert_success(ShapeCreateSphere(vector3(0, 0, 0), 0.5, &parts[0]));
  assert_success(ShapeCreateSphere(vector3(0.83, 0.05, 0), 0.2, &parts[1]));
  assert_success(ShapeCreateCombination(SHAPE_UNION, 2, parts, &discs));
  for (PetscInt n = 0; n < 3; n++)
    errors[n] = volume_of(discs, CONTOUR_PRISM, 0.1 / (1 << n)) / exact - 1.;
  note("areas %+.3f, %+.3f, %+.3f %%", 100. * (double)errors[0], 100. * (double)errors[1],
       100. * (double)errors[2]);
  assert_near(errors[2], 0., 0.002);
  assert_true(log2(PetscAbsReal(errors[0] / errors[2])) / 2. > 1.7);
  assert_success(ShapeDestroy(&discs));
}

/* Flat sides are exact but for the corners, whatever lies beyond the bounds is left out. */
static void a_half_space_is_cut_at_the_bounds(void **state)
{
  const Vector3 low = vector3(-1, -1, -1), high = vector3(1, 1, 1);
  Shape         below, ball;
  Surface       surface;

  (void)state;
  assert_success(ShapeCreatePlane(vector3(0, 0.25, 0), vector3(0, 1, 0), &below));
  assert_success(SurfaceCreateContour(below, CONTOUR_SPACE, low, high, 0.02, &surface));
  assert_near(surface_volume(surface), 5., 0.005);
  assert_near(surface_distance(surface, vector3(0.1, 0, 0.1)), -0.25, 1e-5);
  assert_success(SurfaceDestroy(&surface));
  assert_success(ShapeDestroy(&below));
  assert_success(ShapeCreateSphere(vector3(3, 0, 0), 1, &ball));
  assert_success(SurfaceCreateContour(ball, CONTOUR_SPACE, low, high, 0.1, &surface));
  assert_null(surface);
  assert_success(ShapeDestroy(&ball));
}

static PetscBool wall_is_missed(PetscReal low, PetscReal high)
{
  const PetscReal far = 1.;
  PetscBool       misses;
  Shape           wall;

  assert_success(ShapeCreateBox(vector3(low, -2., -2.), vector3(high, 2., 2.), &wall));
  assert_success(ContourMissesPart(wall, vector3(-far, -far, -far), vector3(far, far, far), 0.1, &misses));
  assert_success(ShapeDestroy(&wall));
  return misses;
}

/* The lattice has planes at x = -1.12718 + 0.1 n, between which a thin wall or gap may lie. */
static void a_lattice_misses_what_is_thinner(void **state)
{
  const Vector3 low = vector3(-1, -1, -1), high = vector3(1, 1, 1);
  Shape         bead = create_bead(), parts[2], gap;
  PetscBool     misses;

  (void)state;
  assert_true(wall_is_missed(-0.02, 0.05));
  assert_false(wall_is_missed(-0.04, 0.03));
  assert_false(wall_is_missed(-0.02, 0.09));
  assert_success(ContourMissesPart(bead, low, high, 0.1, &misses));
  assert_false(misses);
  assert_success(ShapeDestroy(&bead));
  assert_success(ShapeCreateBox(vector3(-2, -2, -2), vector3(-0.02, 2, 2), &parts[0]));
  assert_success(ShapeCreateBox(vector3(0.05, -2, -2), vector3(2, 2, 2), &parts[1]));
  assert_success(ShapeCreateCombination(SHAPE_UNION, 2, parts, &gap));
  assert_success(ContourMissesPart(gap, low, high, 0.1, &misses));
  assert_true(misses);
  assert_success(ShapeDestroy(&gap));
}

TEST_MAIN(cmocka_unit_test(a_drilled_ball_has_its_volume),
          cmocka_unit_test(discs_in_the_plane_have_their_area),
          cmocka_unit_test(a_half_space_is_cut_at_the_bounds),
          cmocka_unit_test(a_lattice_misses_what_is_thinner))
