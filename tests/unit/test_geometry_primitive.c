/* Shapes in their own frame: what they are, their moments, their triangles; nearest points and shells. */
#include "harness.h"
#include <math.h>
#include <millrace/geometry.h>

enum { KINDS = 6 };

static void create_shapes(Shape shapes[KINDS])
{
  const Vector3 from = vector3(0.2, -0.4, 0.1), to = vector3(0.8, 0.4, -0.5);

  assert_success(ShapeCreateSphere(vector3(0.1, 0.2, -0.1), 0.7, &shapes[0]));
  assert_success(ShapeCreateBox(vector3(-0.5, -0.3, -0.8), vector3(0.4, 0.9, 0.2), &shapes[1]));
  assert_success(ShapeCreateCylinder(from, to, 0.4, &shapes[2]));
  assert_success(ShapeCreateCapsule(from, to, 0.3, &shapes[3]));
  assert_success(ShapeCreateCone(from, to, 0.5, &shapes[4]));
  assert_success(ShapeCreateTorus(vector3(0, 0.1, 0), vector3(1, 2, -3), 0.6, 0.25, &shapes[5]));
}

static Vector3 to_world(const Primitive *primitive, Vector3 own)
{
  return vector3_add(primitive->centre, quaternion_rotate(primitive->rotation, own));
}

/* Through two placings, which scale by six together. */
static void triangles_of_a_placed_primitive_lie_on_the_shape(void **state)
{
  Shape shapes[KINDS];

  (void)state;
  create_shapes(shapes);
  for (int n = 0; n < KINDS; n++) {
    Primitive      primitive;
    Surface        surface;
    SurfaceFault   fault;
    PetscInt       count;
    const Vector3 *vertices;

    assert_success(ShapeCreatePlaced(&shapes[n], 2, vector3(0.3, -1, 0.5), vector3(0.1, 0, 0.2), &shapes[n]));
    assert_success(ShapeCreatePlaced(&shapes[n], 3, vector3(-2, 0.2, 1), vector3(5, -1, 2), &shapes[n]));
    primitive = shape_primitive(shapes[n]);
    assert_int_equal(primitive.kind, PRIMITIVE_SPHERE + n);
    assert_success(SurfaceCreatePrimitive(&primitive, 24, &surface));
    assert_success(SurfaceFindFault(surface, &fault));
    assert_int_equal(fault, SURFACE_SOUND);
    assert_success(SurfaceGet(surface, &count, &vertices, NULL, NULL));
    for (PetscInt k = 0; k < count; k++)
      assert_near(shape_distance(shapes[n], to_world(&primitive, vertices[k])), 0, 1e-13);
    assert_true(surface_volume(surface) > 0);
    assert_success(SurfaceDestroy(&surface));
    assert_success(ShapeDestroy(&shapes[n]));
  }
}

static PetscReal largest_difference(const Moments *a, const Moments *b)
{
  PetscReal difference = PetscAbsReal(a->volume - b->volume);

  difference = PetscMax(difference, vector3_norm(vector3_subtract(a->centre, b->centre)));
  for (int i = 0; i < DIM; i++) {
    for (int j = 0; j < DIM; j++)
      difference = PetscMax(difference, PetscAbsReal(a->inertia[i][j] - b->inertia[i][j]));
  }
  return difference;
}

/* The closed formulas against the integrals over triangles, whose error falls as the square of their size. */
static void moments_are_the_limit_of_those_of_triangles(void **state)
{
  Shape shapes[KINDS];

  (void)state;
  create_shapes(shapes);
  for (int n = 0; n < KINDS; n++) {
    const Primitive primitive = shape_primitive(shapes[n]);
    const Moments   exact = primitive_moments(&primitive);
    PetscReal       errors[2];

    for (int level = 0; level < 2; level++) {
      Surface surface;
      Moments moments;

      assert_success(SurfaceCreatePrimitive(&primitive, 64 << level, &surface));
      moments = surface_moments(surface);
      errors[level] = largest_difference(&moments, &exact);
      assert_success(SurfaceDestroy(&surface));
    }
    assert_true(errors[1] < 2e-3);
    assert_true(errors[1] < 0.27 * errors[0] || errors[1] < 1e-15);
    assert_success(ShapeDestroy(&shapes[n]));
  }
}

static void moments_of_a_scaled_surface_are_those_of_the_larger_one(void **state)
{
  Shape     box, shape;
  Primitive primitive;
  Surface   surface;
  Moments   exact, moments;

  (void)state;
  assert_success(ShapeCreateBox(vector3(-1, -2, -3), vector3(1, 2, 3), &box));
  primitive = shape_primitive(box);
  assert_success(SurfaceCreatePrimitive(&primitive, 3, &surface));
  assert_success(ShapeCreateSurface(&surface, &shape));
  assert_success(ShapeCreatePlaced(&shape, 1.5, vector3(0, 0, 1), vector3(1, 0, 0), &shape));
  assert_success(ShapeCreatePlaced(&box, 1.5, vector3(0, 0, 1), vector3(1, 0, 0), &box));
  primitive = shape_primitive(box);
  exact = primitive_moments(&primitive);
  primitive = shape_primitive(shape);
  moments = primitive_moments(&primitive);
  assert_int_equal(primitive.kind, PRIMITIVE_SURFACE);
  assert_near(largest_difference(&moments, &exact), 0, 1e-11);
  assert_success(ShapeDestroy(&box));
  assert_success(ShapeDestroy(&shape));
}

static void combinations_are_no_primitive_unless_of_one_part(void **state)
{
  Shape parts[2], shape;

  (void)state;
  assert_success(ShapeCreateSphere(vector3(0, 0, 0), 1, &parts[0]));
  assert_success(ShapeCreateSphere(vector3(1, 0, 0), 1, &parts[1]));
  assert_success(ShapeCreateCombination(SHAPE_UNION, 2, parts, &shape));
  assert_success(ShapeCreatePlaced(&shape, 2, vector3(0, 0, 0), vector3(0, 0, 0), &shape));
  assert_int_equal(shape_primitive(shape).kind, PRIMITIVE_NONE);
  assert_success(ShapeDestroy(&shape));
  assert_success(ShapeCreateSphere(vector3(1, 0, 0), 1, &parts[0]));
  assert_success(ShapeCreateCombination(SHAPE_UNION, 1, parts, &shape));
  assert_int_equal(shape_primitive(shape).kind, PRIMITIVE_SPHERE);
  assert_success(ShapeDestroy(&shape));
}

static void plane_has_its_normal_along_z_and_no_triangles(void **state)
{
  const Vector3 normals[] = {{{0, 0, 1}}, {{0, 0, -1}}, {{1e-9, 0, -1}}, {{0, -1, 0}}, {{1, 2, -3}}};
  Surface       surface;

  (void)state;
  for (size_t n = 0; n < sizeof normals / sizeof normals[0]; n++) {
    Shape     shape;
    Primitive primitive;
    Vector3   above;

    assert_success(ShapeCreatePlane(vector3(0, 0, 2), normals[n], &shape));
    primitive = shape_primitive(shape);
    above = to_world(&primitive, vector3(7, -5, 3));
    assert_near(shape_distance(shape, above), 3, 1e-13);
    assert_near(primitive_moments(&primitive).volume, 0, 0);
    assert_refused(SurfaceCreatePrimitive(&primitive, 24, &surface));
    assert_success(ShapeDestroy(&shape));
  }
}

/* A square plate of side 2 in four triangles about a point off its middle. */
static void create_plate(Surface *surface)
{
  const Vector3  vertices[] = {{{-1, -1, 4}}, {{1, -1, 4}}, {{1, 1, 4}}, {{-1, 1, 4}}, {{0.3, 0.1, 4}}};
  const PetscInt triangles[][3] = {{0, 1, 4}, {1, 2, 4}, {2, 3, 4}, {3, 0, 4}};

  assert_success(SurfaceCreate(5, vertices, 4, triangles, surface));
}

static void moments_of_a_flat_shell_are_those_of_the_plate(void **state)
{
  Surface      surface;
  SurfaceFault fault;
  Shape        box;
  Primitive    primitive;
  Moments      exact, moments;

  (void)state;
  create_plate(&surface);
  moments = surface_shell_moments(surface, 0.5);
  assert_success(SurfaceFindFault(surface, &fault));
  assert_int_equal(fault, SURFACE_OPEN);
  assert_success(ShapeCreateBox(vector3(-1, -1, 3.75), vector3(1, 1, 4.25), &box));
  primitive = shape_primitive(box);
  exact = primitive_moments(&primitive);
  exact.centre = vector3_add(exact.centre, primitive.centre);
  assert_near(largest_difference(&moments, &exact), 0, 1e-14);
  assert_success(SurfaceDestroy(&surface));
  assert_success(ShapeDestroy(&box));
}

static void faults_are_told_apart(void **state)
{
  const Vector3  vertices[] = {{{0, 0, 0}}, {{1, 0, 0}}, {{0, 1, 0}}, {{0, 0, 1}}, {{1, 1, 1}}};
  const PetscInt triangles[][3] = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {0, 3, 2}, {0, 1, 4}, {1, 0, 4}};
  const PetscInt turned[][3] = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {0, 2, 3}};
  SurfaceFault   faults[3];

  (void)state;
  for (int n = 0; n < 3; n++) {
    Surface surface;

    assert_success(SurfaceCreate(5, vertices, n == 1 ? 6 : 4, n == 2 ? turned : triangles, &surface));
    assert_success(SurfaceFindFault(surface, &faults[n]));
    assert_success(SurfaceDestroy(&surface));
  }
  assert_int_equal(faults[0], SURFACE_SOUND);
  assert_int_equal(faults[1], SURFACE_BRANCHED);
  assert_int_equal(faults[2], SURFACE_TWISTED);
}

/* On a face, beyond an edge, beyond a corner, and inside. */
static void nearest_point_is_on_the_face_edge_or_corner(void **state)
{
  const Vector3 points[] = {{{0.3, -0.2, 5}}, {{2, 0.7, -4}}, {{-3, -3, 9}}, {{0.1, 0.9, 0.4}}};
  const Vector3 expected[] = {{{0.3, -0.2, 3}}, {{1, 0.7, -3}}, {{-1, -2, 3}}, {{1, 0.9, 0.4}}};
  const Vector3 half = vector3(1, 2, 3);
  Primitive     box = {.kind = PRIMITIVE_BOX, .half = half, .rotation = {.scalar = 1}};
  Surface       surface;

  (void)state;
  assert_success(SurfaceCreatePrimitive(&box, 3, &surface));
  for (int n = 0; n < 4; n++) {
    const PetscReal exact = vector3_norm(vector3_subtract(points[n], expected[n]));
    const PetscReal bounds[] = {PETSC_INFINITY, 2 * exact, exact, 0};

    for (int k = 0; k < 4; k++) {
      Vector3 nearest, normal;

      assert_near(surface_nearest(surface, points[n], bounds[k], &nearest, &normal), exact, 1e-14);
      assert_near(vector3_norm(vector3_subtract(nearest, expected[n])), 0, 1e-14);
      assert_near(vector3_norm(normal), 1, 1e-14);
    }
  }
  assert_success(SurfaceDestroy(&surface));
}

TEST_MAIN(cmocka_unit_test(triangles_of_a_placed_primitive_lie_on_the_shape),
          cmocka_unit_test(moments_are_the_limit_of_those_of_triangles),
          cmocka_unit_test(moments_of_a_scaled_surface_are_those_of_the_larger_one),
          cmocka_unit_test(combinations_are_no_primitive_unless_of_one_part),
          cmocka_unit_test(plane_has_its_normal_along_z_and_no_triangles),
          cmocka_unit_test(moments_of_a_flat_shell_are_those_of_the_plate),
          cmocka_unit_test(faults_are_told_apart),
          cmocka_unit_test(nearest_point_is_on_the_face_edge_or_corner))
