/* Distances from forms and their gradients; the grid of distances. */
#include "harness.h"
#include "solid/rigid/distance_grid.h"
#include "solids.h"

#include <math.h>

enum { SIMPLE = 6, TRIALS = 2000 };

static Vector3 random_point(uint64_t *seed, PetscReal reach)
{
  Vector3 point;

  for (int d = 0; d < DIM; d++)
    point.at[d] = reach * random_number(seed);
  return point;
}

static Form *make_form(Shape shape, PetscReal thickness, RigidTransform *rest)
{
  char  message[512];
  Form *form;

  assert_success(FormCreate(shape, thickness, &form, rest, message, sizeof message));
  assert_non_null(form);
  return form;
}

static void create_shapes(Shape shapes[SIMPLE + 1])
{
  const Vector3 from = vector3(-0.4, -0.2, 0.1), to = vector3(0.5, 0.6, 0.3);

  assert_success(ShapeCreateSphere(vector3(0.1, 0.2, -0.1), 0.7, &shapes[0]));
  assert_success(ShapeCreateBox(vector3(-0.5, -0.3, -0.8), vector3(0.4, 0.9, 0.2), &shapes[1]));
  assert_success(ShapeCreateCylinder(from, to, 0.4, &shapes[2]));
  assert_success(ShapeCreateCapsule(from, to, 0.3, &shapes[3]));
  assert_success(ShapeCreateCone(from, to, 0.5, &shapes[4]));
  assert_success(ShapeCreateTorus(vector3(0, 0.1, 0), vector3(1, 2, 3), 0.6, 0.25, &shapes[5]));
  assert_success(ShapeCreatePlane(vector3(0, 0.1, 0), vector3(1, 2, 3), &shapes[6]));
}

/* Zero but on a ridge, where there is no gradient. */
static PetscReal gradient_error(const Form *form, Vector3 point)
{
  const PetscReal step = 1e-6;
  Vector3         gradient, slope, unused;

  (void)form_distance(form, point, &gradient);
  for (int d = 0; d < DIM; d++) {
    Vector3 ahead = point, behind = point;

    ahead.at[d] += step;
    behind.at[d] -= step;
    slope.at[d] = (form_distance(form, ahead, &unused) - form_distance(form, behind, &unused)) / (2 * step);
  }
  return vector3_norm(vector3_subtract(gradient, slope));
}

/* The shapes in the world have distances of their own. */
static void simple_forms_have_the_distances_of_their_shapes(void **state)
{
  uint64_t seed = 5;
  Shape    shapes[SIMPLE + 1];

  (void)state;
  create_shapes(shapes);
  for (int n = 0; n <= SIMPLE; n++) {
    RigidTransform rest;
    Form          *form = make_form(shapes[n], 0, &rest);
    int            ridges = 0;

    for (int trial = 0; trial < TRIALS; trial++) {
      const Vector3 point = random_point(&seed, 1.5), local = rigid_apply_inverse(&rest, point);
      Vector3       gradient;

      assert_near(form_distance(form, local, &gradient), shape_distance(shapes[n], point), 1e-13);
      assert_near(vector3_norm(gradient), 1, 1e-13);
      ridges += gradient_error(form, local) > 1e-4;
    }
    assert_true(ridges <= 3);
    assert_success(FormDestroy(&form));
    assert_success(ShapeDestroy(&shapes[n]));
  }
}

static void gradients_are_unit_where_there_is_none(void **state)
{
  const Vector3 points[] = {{{0, 0, 0}}, {{0, 0, 0.7}}, {{0, 0, -0.1}}, {{0.6, 0, 0}}, {{0, 0.2, 0}}};
  Shape         shapes[SIMPLE + 1];

  (void)state;
  create_shapes(shapes);
  for (int n = 0; n <= SIMPLE; n++) {
    RigidTransform rest;
    Form          *form = make_form(shapes[n], 0, &rest);

    for (size_t k = 0; k < sizeof points / sizeof points[0]; k++) {
      Vector3 gradient;

      assert_true(isfinite(form_distance(form, points[k], &gradient)));
      assert_near(vector3_norm(gradient), 1, 1e-13);
    }
    assert_success(FormDestroy(&form));
    assert_success(ShapeDestroy(&shapes[n]));
  }
}

static void hull_distance_is_exact(void **state)
{
  uint64_t       seed = 9;
  Surface        surface = make_icosahedron(1);
  Shape          shape;
  RigidTransform rest;
  Form          *form;
  int            ridges = 0;

  (void)state;
  assert_success(ShapeCreateSurface(&surface, &shape));
  form = make_form(shape, 0, &rest);
  assert_int_equal(form->kind, FORM_HULL);
  for (int trial = 0; trial < TRIALS; trial++) {
    const Vector3 point = random_point(&seed, 1.5), local = rigid_apply_inverse(&rest, point);
    Vector3       gradient;

    assert_near(form_distance(form, local, &gradient), shape_distance(shape, point), 1e-13);
    assert_near(vector3_norm(gradient), 1, 1e-13);
    ridges += gradient_error(form, local) > 1e-4;
  }
  assert_true(ridges <= 3);
  assert_success(FormDestroy(&form));
  assert_success(ShapeDestroy(&shape));
}

typedef struct {
  PetscReal value, gradient; /* largest errors */
} GridErrors;

/* Of the grid of a ring, against the ring's own triangles, near the surface and away from its core. */
static GridErrors grid_errors(Surface ring, PetscInt cells)
{
  const PetscReal major = 1, minor = 0.4;
  DistanceGrid    grid;
  GridErrors      errors = {0, 0};
  uint64_t        seed = 3;

  assert_success(DistanceGridCreate(ring, DISTANCE_SIGNED, cells, &grid));
  assert_near(distance_grid_band(grid), 0, 0);
  for (int trial = 0; trial < TRIALS; trial++) {
    const Vector3   point = random_point(&seed, 1.4);
    const PetscReal away = hypot(point.at[X], point.at[Y]), tube = hypot(away - major, point.at[Z]);
    const PetscReal ring_x = (away - major) / away;
    const Vector3   exact =
        vector3(ring_x * point.at[X] / tube, ring_x * point.at[Y] / tube, point.at[Z] / tube);
    Vector3 gradient;

    if (PetscAbsReal(tube - minor) > 0.1)
      continue;
    errors.value =
        PetscMax(errors.value, PetscAbsReal(distance_grid_value(grid, point, &gradient) - (tube - minor)));
    errors.gradient = PetscMax(errors.gradient, vector3_norm(vector3_subtract(gradient, exact)));
    assert_near(vector3_norm(gradient), 1, 1e-13);
  }
  assert_success(DistanceGridDestroy(&grid));
  return errors;
}

static void grid_converges_as_the_square_of_its_spacing(void **state)
{
  Surface    ring = make_ring(1, 0.4, 400, 200);
  GridErrors coarse, fine;

  (void)state;
  coarse = grid_errors(ring, 24);
  fine = grid_errors(ring, 48);
  assert_true(fine.value < 0.002 && fine.value < 0.3 * coarse.value);
  assert_true(coarse.gradient < 0.04 && fine.gradient < 0.04); /* a facet spans 0.03 rad */
  assert_success(SurfaceDestroy(&ring));
}

/* A cup with a wall thinner than a cell. */
static void thin_walls_are_asked_for_exactly(void **state)
{
  const PetscReal away[] = {0, 1, 1, 0.966, 0.966, 0}, heights[] = {0, 0, 1, 1, 0.034, 0.034};
  uint64_t        seed = 3;
  Surface         surface = make_lathed(6, away, heights, 80);
  Shape           shape;
  RigidTransform  rest;
  Form           *form;
  int             inside = 0;

  (void)state;
  assert_success(ShapeCreateSurface(&surface, &shape));
  form = make_form(shape, 0, &rest);
  assert_int_equal(form->kind, FORM_SURFACE);
  for (int trial = 0; trial < 10 * TRIALS; trial++) {
    const Vector3   point = random_point(&seed, 1.2), local = rigid_apply_inverse(&rest, point);
    const PetscReal exact = shape_distance(shape, point);
    Vector3         gradient;

    if (exact < 0) {
      inside++;
      assert_near(form_distance(form, local, &gradient), exact, 1e-12);
    }
    assert_true(PetscAbsReal(form_distance(form, local, &gradient) - exact) < 0.05);
  }
  assert_true(inside > 50);
  assert_success(FormDestroy(&form));
  assert_success(ShapeDestroy(&shape));
}

/* Two plates thinner than a cell that cross each other: each has faces within the other. */
static void faces_within_another_piece_are_no_boundary(void **state)
{
  const Vector3  halves[] = {{{1, 1, 0.01}}, {{0.01, 1, 1}}};
  uint64_t       seed = 3;
  Vector3        vertices[16];
  PetscInt       triangles[24][3];
  Surface        surface;
  Shape          shape;
  RigidTransform rest;
  Form          *form;

  (void)state;
  for (int n = 0; n < 2; n++) {
    Surface        plate = make_box(halves[n]);
    const Vector3 *corners;
    const PetscInt(*faces)[3];

    assert_success(SurfaceGet(plate, NULL, &corners, NULL, &faces));
    for (int k = 0; k < 8; k++)
      vertices[8 * n + k] = vector3_add(corners[k], vector3(0, 0, n == 0 ? 0.02 : 0));
    for (int k = 0; k < 36; k++)
      triangles[12 * n + k / 3][k % 3] = 8 * n + faces[k / 3][k % 3];
    assert_success(SurfaceDestroy(&plate));
  }
  assert_success(SurfaceCreate(16, vertices, 24, (const PetscInt(*)[3])triangles, &surface));
  assert_success(ShapeCreateSurface(&surface, &shape));
  form = make_form(shape, 0, &rest);
  for (int trial = 0; trial < TRIALS; trial++) {
    const Vector3 point = random_point(&seed, 0.04);
    Vector3       gradient;

    assert_near(form_distance(form, rigid_apply_inverse(&rest, point), &gradient),
                shape_distance(shape, point), 1e-12);
  }
  assert_success(FormDestroy(&form));
  assert_success(ShapeDestroy(&shape));
}

/* The faces of this box go through nodes of the grid: there inside and outside is a matter of round-off. */
static void gradients_lead_outwards_where_nodes_lie_on_the_surface(void **state)
{
  Surface      surface = make_box(vector3(1, 0.5, 0.5));
  DistanceGrid grid;

  (void)state;
  assert_success(DistanceGridCreate(surface, DISTANCE_SIGNED, 48, &grid));
  for (int d = 0; d < DIM; d++)
    for (int side = -1; side <= 1; side += 2)
      for (int k = -8; k <= 8; k++) {
        Vector3 point = vector3(0.01, 0.02, 0.03), gradient;

        point.at[d] = side * ((d == X ? 1 : 0.5) + 0.005 * k);
        assert_near(distance_grid_value(grid, point, &gradient), 0.005 * k, 1e-12);
        assert_near(gradient.at[d], side, 1e-12);
      }
  assert_success(DistanceGridDestroy(&grid));
  assert_success(SurfaceDestroy(&surface));
}

/* A shell much thinner than a cell of its grid. */
static void shell_distance_is_unsigned_less_half_the_thickness(void **state)
{
  uint64_t       seed = 3;
  Surface        surface = make_disc(1, 4, 64);
  Shape          shape;
  RigidTransform rest;
  Form          *form;

  (void)state;
  assert_success(ShapeCreateSurface(&surface, &shape));
  form = make_form(shape, 0.004, &rest);
  for (int trial = 0; trial < TRIALS; trial++) {
    const Vector3   point = random_point(&seed, 0.6);
    const Vector3   local = rigid_apply_inverse(&rest, point);
    const PetscReal sign = local.at[Z] < 0 ? -1 : 1;
    Vector3         gradient, near = local;

    assert_near(form_distance(form, local, &gradient), PetscAbsReal(local.at[Z]) - 0.002, 1e-12);
    near.at[Z] *= 0.003;
    assert_near(form_distance(form, near, &gradient), PetscAbsReal(near.at[Z]) - 0.002, 1e-12);
    assert_near(gradient.at[Z], sign, 1e-9);
  }
  assert_success(FormDestroy(&form));
  assert_success(ShapeDestroy(&shape));
}

static void far_from_the_grid_distances_are_still_near(void **state)
{
  uint64_t       seed = 8;
  Surface        surface = make_ring(1, 0.4, 90, 40);
  Shape          shape;
  RigidTransform rest;
  Form          *form;

  (void)state;
  assert_success(ShapeCreateSurface(&surface, &shape));
  form = make_form(shape, 0, &rest);
  for (int trial = 0; trial < TRIALS; trial++) {
    const Vector3 point =
        vector3_scale(1.7 + 10 * PetscAbsReal(random_number(&seed)), random_direction(&seed));
    const PetscReal exact = shape_distance(shape, point);
    Vector3         gradient;
    const PetscReal value = form_distance(form, rigid_apply_inverse(&rest, point), &gradient);

    assert_true(value > exact - 0.01 && value < 1.15 * exact + 0.01);
    assert_near(vector3_norm(gradient), 1, 1e-13);
  }
  assert_success(FormDestroy(&form));
  assert_success(ShapeDestroy(&shape));
}

TEST_MAIN(cmocka_unit_test(simple_forms_have_the_distances_of_their_shapes),
          cmocka_unit_test(gradients_are_unit_where_there_is_none), cmocka_unit_test(hull_distance_is_exact),
          cmocka_unit_test(grid_converges_as_the_square_of_its_spacing),
          cmocka_unit_test(thin_walls_are_asked_for_exactly),
          cmocka_unit_test(faces_within_another_piece_are_no_boundary),
          cmocka_unit_test(gradients_lead_outwards_where_nodes_lie_on_the_surface),
          cmocka_unit_test(shell_distance_is_unsigned_less_half_the_thickness),
          cmocka_unit_test(far_from_the_grid_distances_are_still_near))
