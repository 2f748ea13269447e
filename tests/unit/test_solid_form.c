/* Mass properties, frames, kinds and refusals of forms. */
#include "harness.h"
#include "solid/rigid/form.h"
#include "solids.h"

#include <math.h>
#include <string.h>

static char message[512];

/* Takes the shape. */
static Form *make_form(Shape shape, PetscReal thickness, RigidTransform *rest)
{
  Form *form;

  assert_success(FormCreate(shape, thickness, &form, rest, message, sizeof message));
  assert_success(ShapeDestroy(&shape));
  assert_int_equal(form == NULL, message[0] != '\0');
  return form;
}

static Form *make_surface_form(Surface surface, PetscReal thickness, RigidTransform *rest)
{
  Shape shape;

  assert_success(ShapeCreateSurface(&surface, &shape));
  return make_form(shape, thickness, rest);
}

static void assert_vector(Vector3 a, Vector3 b, PetscReal tolerance)
{
  for (int d = 0; d < DIM; d++)
    assert_near(a.at[d], b.at[d], tolerance);
}

static void assert_mass(const Form *form, PetscReal volume, Vector3 inertia)
{
  assert_near(form->volume, volume, 1e-13);
  assert_vector(form->inertia, inertia, 1e-13);
}

static void assert_extent(const Form *form, Vector3 low, Vector3 high, PetscReal reach, PetscReal size)
{
  assert_vector(form->low, low, 1e-14);
  assert_vector(form->high, high, 1e-14);
  assert_near(form->reach, reach, 1e-14);
  assert_near(form->size, size, 1e-14);
}

static void sphere_has_two_fifths(void **state)
{
  Shape          shape;
  RigidTransform rest;
  Form          *form;

  (void)state;
  assert_success(ShapeCreateSphere(vector3(1, 2, 3), 0.5, &shape));
  form = make_form(shape, 0, &rest);
  assert_int_equal(form->kind, FORM_SPHERE);
  assert_mass(form, PETSC_PI / 6, vector3(PETSC_PI / 60, PETSC_PI / 60, PETSC_PI / 60));
  assert_extent(form, vector3(-0.5, -0.5, -0.5), vector3(0.5, 0.5, 0.5), 0.5, 1);
  assert_vector(rest.position, vector3(1, 2, 3), 0);
  assert_non_null(form->surface);
  assert_success(FormDestroy(&form));
  assert_null(form);
}

static void box_keeps_its_axes(void **state)
{
  Shape          shape;
  RigidTransform rest;
  Form          *form;

  (void)state;
  assert_success(ShapeCreateBox(vector3(1, 1, 1), vector3(7, 3, 5), &shape));
  assert_success(ShapeCreatePlaced(&shape, 1, vector3(0, 0, PETSC_PI / 2), vector3(0, 0, 1), &shape));
  form = make_form(shape, 0, &rest);
  assert_int_equal(form->kind, FORM_BOX);
  assert_non_null(form->hull);
  assert_vector(form->half, vector3(3, 1, 2), 1e-14);
  assert_near(form->volume, 48, 1e-12);
  assert_vector(form->inertia, vector3(16 * 5, 16 * 13, 16 * 10), 1e-12);
  assert_extent(form, vector3(-3, -1, -2), vector3(3, 1, 2), sqrt(14), 2);
  assert_vector(rest.position, vector3(-2, 4, 4), 1e-14);
  assert_vector(rigid_apply(&rest, vector3(3, 0, 0)), vector3(-2, 7, 4), 1e-14);
  assert_success(FormDestroy(&form));
}

/* Radius 1/2, half length 2, lying along x: its z is the world's x. */
static void cylinder_has_z_for_its_axis(void **state)
{
  const PetscReal volume = PETSC_PI, across = volume * (0.25 / 4 + 4. / 3);
  Shape           shape;
  RigidTransform  rest;
  Form           *form;

  (void)state;
  assert_success(ShapeCreateCylinder(vector3(0, 1, 0), vector3(4, 1, 0), 0.5, &shape));
  form = make_form(shape, 0, &rest);
  assert_int_equal(form->kind, FORM_CYLINDER);
  assert_mass(form, volume, vector3(across, across, volume / 8));
  assert_extent(form, vector3(-0.5, -0.5, -2), vector3(0.5, 0.5, 2), sqrt(4.25), 1);
  assert_vector(rigid_apply(&rest, vector3(0, 0, 2)), vector3(4, 1, 0), 1e-14);
  assert_success(FormDestroy(&form));
}

/* As the sum of its slices: discs of radius r(z). */
static void capsule_is_the_sum_of_its_slices(void **state)
{
  enum { SLICES = 20000 };
  const PetscReal radius = 0.5, half = 0.75, step = 2 * (radius + half) / SLICES;
  PetscReal       volume = 0, along = 0, across = 0;
  Shape           shape;
  RigidTransform  rest;
  Form           *form;

  (void)state;
  assert_success(ShapeCreateCapsule(vector3(0, 0, 0), vector3(0, 1.5, 0), radius, &shape));
  form = make_form(shape, 0, &rest);
  for (int n = 0; n < SLICES; n++) {
    const PetscReal z = -radius - half + (n + 0.5) * step, beyond = PetscMax(PetscAbsReal(z) - half, 0);
    const PetscReal square = radius * radius - beyond * beyond, mass = PETSC_PI * square * step;

    volume += mass;
    along += mass * square / 2;
    across += mass * (square / 4 + z * z);
  }
  assert_int_equal(form->kind, FORM_CAPSULE);
  assert_near(form->volume, volume, 1e-8);
  assert_vector(form->inertia, vector3(across, across, along), 1e-8);
  assert_near(form->half.at[Z], 0.75, 1e-14);
  assert_extent(form, vector3(-0.5, -0.5, -1.25), vector3(0.5, 0.5, 1.25), 1.25, 1);
  assert_success(FormDestroy(&form));
}

static void cone_has_its_centre_at_a_quarter(void **state)
{
  const PetscReal volume = PETSC_PI / 3 * 4 * 8;
  Shape           shape;
  RigidTransform  rest;
  Form           *form;

  (void)state;
  assert_success(ShapeCreateCone(vector3(0, 0, 10), vector3(0, 0, 2), 2, &shape));
  form = make_form(shape, 0, &rest);
  assert_int_equal(form->kind, FORM_CONE);
  assert_vector(rest.position, vector3(0, 0, 8), 1e-14);
  assert_near(form->volume, volume, 1e-12);
  assert_near(form->inertia.at[X], volume * (3. / 20 * 4 + 3. / 80 * 64), 1e-11);
  assert_near(form->inertia.at[Z], volume * 3. / 10 * 4, 1e-11);
  assert_near(form->base, -2, 1e-14);
  assert_near(form->tip, 6, 1e-14);
  assert_extent(form, vector3(-2, -2, -2), vector3(2, 2, 6), 6, 4);
  assert_vector(rigid_apply(&rest, vector3(0, 0, 6)), vector3(0, 0, 2), 1e-14);
  surface_bounds(form->surface, &form->low, &form->high); /* its triangles have moved along */
  assert_near(form->low.at[Z], -2, 1e-14);
  assert_success(FormDestroy(&form));
}

static void torus_turns_about_z(void **state)
{
  const PetscReal volume = 2 * PETSC_PI * PETSC_PI * 2 * 0.25;
  Shape           shape;
  RigidTransform  rest;
  Form           *form;

  (void)state;
  assert_success(ShapeCreateTorus(vector3(0, 0, 0), vector3(1, 1, 0), 2, 0.5, &shape));
  form = make_form(shape, 0, &rest);
  assert_int_equal(form->kind, FORM_TORUS);
  assert_mass(form, volume, vector3(volume * (2 + 5. / 32), volume * (2 + 5. / 32), volume * (4 + 3. / 16)));
  assert_near(form->major, 2, 1e-14);
  assert_near(form->radius, 0.5, 1e-14);
  assert_extent(form, vector3(-2.5, -2.5, -0.5), vector3(2.5, 2.5, 0.5), 2.5, 1);
  assert_vector(quaternion_rotate(rest.rotation, vector3(0, 0, 1)), vector3(sqrt(0.5), sqrt(0.5), 0), 1e-14);
  assert_success(FormDestroy(&form));
}

static void plane_is_endless(void **state)
{
  Shape          shape;
  RigidTransform rest;
  Form          *form;

  (void)state;
  assert_success(ShapeCreatePlane(vector3(0, 2, 0), vector3(0, 1, 0), &shape));
  form = make_form(shape, 0, &rest);
  assert_int_equal(form->kind, FORM_PLANE);
  assert_null(form->surface);
  assert_true(form->reach == PETSC_INFINITY && form->low.at[X] == -PETSC_INFINITY && form->high.at[Z] == 0);
  assert_vector(rigid_apply_inverse(&rest, vector3(5, 3, 7)), vector3(5, -7, 1), 1e-14);
  assert_success(FormDestroy(&form));
}

static Matrix3 inertia_in_the_world(const Form *form, const RigidTransform *rest)
{
  return matrix3_turned_diagonal(rest->rotation, form->inertia);
}

/* The vertices themselves turned, so that the surface does not know its axes. */
static Surface make_turned_box(Vector3 half, Vector3 rotation, Vector3 move)
{
  const Quaternion turn = quaternion_from_rotation(rotation);
  Surface          box = make_box(half), turned;
  PetscInt         vertex_count, triangle_count;
  const Vector3   *vertices;
  const PetscInt(*triangles)[3];
  Vector3 moved[8];

  assert_success(SurfaceGet(box, &vertex_count, &vertices, &triangle_count, &triangles));
  for (PetscInt n = 0; n < vertex_count; n++)
    moved[n] = vector3_add(move, quaternion_rotate(turn, vertices[n]));
  assert_success(SurfaceCreate(vertex_count, moved, triangle_count, triangles, &turned));
  assert_success(SurfaceDestroy(&box));
  return turned;
}

static void box_of_triangles_is_the_box(void **state)
{
  const Vector3  half = vector3(0.5, 0.2, 0.9), turn = vector3(0.4, -1, 0.3), move = vector3(3, -1, 2);
  const Vector3  spin = vector3(1, 0.2, -2), shift = vector3(0.3, 0.1, 0.5);
  Surface        surface = make_turned_box(half, turn, move);
  Shape          shape, box;
  RigidTransform rest, box_rest;
  Form          *form, *box_form;
  Matrix3        inertia, exact;

  (void)state;
  assert_success(ShapeCreateSurface(&surface, &shape));
  assert_success(ShapeCreatePlaced(&shape, 2.5, spin, shift, &shape));
  assert_success(ShapeCreateBox(vector3_scale(-1, half), half, &box));
  assert_success(ShapeCreatePlaced(&box, 1, turn, move, &box));
  assert_success(ShapeCreatePlaced(&box, 2.5, spin, shift, &box));
  form = make_form(shape, 0, &rest);
  box_form = make_form(box, 0, &box_rest);
  assert_int_equal(form->kind, FORM_HULL);
  assert_non_null(form->hull);
  assert_near(form->volume, box_form->volume, 1e-12);
  assert_vector(rest.position, box_rest.position, 1e-13);
  inertia = inertia_in_the_world(form, &rest);
  exact = inertia_in_the_world(box_form, &box_rest);
  for (int n = 0; n < DIM * DIM; n++)
    assert_near(inertia.at[n / DIM][n % DIM], exact.at[n / DIM][n % DIM], 1e-12);
  assert_near(form->reach, box_form->reach, 1e-13);
  assert_near(form->size, box_form->size, 1e-13); /* so the frame is along the sides */
  assert_success(FormDestroy(&form));
  assert_success(FormDestroy(&box_form));
}

static void a_cube_from_a_file_is_not_turned(void **state)
{
  RigidTransform rest;
  Form          *form =
      make_surface_form(make_turned_box(vector3(1, 1, 1), vector3(0, 0, 0), vector3(4, 5, 6)), 0, &rest);

  (void)state;
  assert_vector(rest.position, vector3(4, 5, 6), 1e-14);
  assert_near(rest.rotation.scalar, 1, 0);
  assert_extent(form, vector3(-1, -1, -1), vector3(1, 1, 1), sqrt(3), 2);
  assert_success(FormDestroy(&form));
}

static void a_ring_of_triangles_has_a_grid(void **state)
{
  RigidTransform rest;
  Form          *form = make_surface_form(make_ring(1, 0.4, 60, 30), 0, &rest);

  (void)state;
  assert_int_equal(form->kind, FORM_SURFACE);
  assert_null(form->hull);
  assert_non_null(form->distances);
  assert_success(FormDestroy(&form));
}

/* A disc of 400 sides: area and inertia are those of the polygon. */
static void shell_of_a_disc_is_a_thin_cylinder(void **state)
{
  const PetscReal thickness = 0.02, angle = 2 * PETSC_PI / 400;
  const PetscReal volume = thickness * 200 * sin(angle),
                  square = (2 + cos(angle)) / 3; /* mean radius^2 * 2 */
  RigidTransform rest;
  Form          *form = make_surface_form(make_disc(1, 3, 400), thickness, &rest);

  (void)state;
  assert_int_equal(form->kind, FORM_SHELL);
  assert_near(form->volume, volume, 1e-13);
  assert_near(form->inertia.at[Z], volume * square / 2, 1e-13);
  assert_near(form->inertia.at[X], volume * (square / 4 + thickness * thickness / 12), 1e-13);
  assert_near(form->high.at[Z], thickness / 2, 1e-14);
  assert_near(form->size, thickness, 0);
  assert_near(form->reach, 1 + thickness / 2, 1e-14);
  assert_success(FormDestroy(&form));
}

static void a_sphere_with_a_thickness_is_hollow(void **state)
{
  Shape          shape;
  RigidTransform rest;
  Form          *form;

  (void)state;
  assert_success(ShapeCreateSphere(vector3(0, 0, 0), 2, &shape));
  form = make_form(shape, 0.1, &rest);
  assert_int_equal(form->kind, FORM_SHELL);
  assert_near(form->size, 0.1, 0);
  assert_near(form->volume / (16 * PETSC_PI * 0.1), 1, 0.005);
  assert_near(form->inertia.at[Y] / (16 * PETSC_PI * 0.1 * 4 * 2 / 3), 1, 0.01);
  assert_success(FormDestroy(&form));
}

static void assert_form_refused(Form *form, const char word[])
{
  assert_null(form);
  assert_non_null(strstr(message, word));
}

static Surface make_triangles(PetscInt count, const PetscInt (*triangles)[3])
{
  const Vector3 vertices[] = {{{0, 0, 0}}, {{1, 0, 0}}, {{0, 1, 0}}, {{0, 0, 1}}, {{2, 0, 0}}, {{1, 1, 1}}};
  Surface       surface;

  assert_success(SurfaceCreate(6, vertices, count, triangles, &surface));
  return surface;
}

static void surfaces_that_are_no_solid_are_refused(void **state)
{
  const PetscInt open[][3] = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}};
  const PetscInt branched[][3] = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {0, 3, 2}, {0, 1, 5}, {1, 0, 5}};
  const PetscInt twisted[][3] = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {0, 2, 3}};
  const PetscInt inward[][3] = {{0, 1, 2}, {0, 3, 1}, {1, 3, 2}, {0, 2, 3}};
  const PetscInt flat[][3] = {{0, 1, 2}, {0, 2, 1}};
  const PetscInt line[][3] = {{0, 1, 4}, {0, 4, 1}};
  RigidTransform rest;
  Form          *form;

  (void)state;
  assert_form_refused(make_surface_form(make_triangles(3, open), 0, &rest), "\"thickness\"");
  assert_form_refused(make_surface_form(make_triangles(6, branched), 0, &rest), "more than two triangles");
  assert_form_refused(make_surface_form(make_triangles(4, twisted), 0, &rest), "opposite sides");
  assert_form_refused(make_surface_form(make_triangles(4, inward), 0, &rest), "inside out");
  assert_form_refused(make_surface_form(make_triangles(2, flat), 0, &rest), "no volume");
  assert_form_refused(make_surface_form(make_triangles(2, line), 0, &rest), "no volume");
  assert_form_refused(make_surface_form(make_triangles(2, line), 0.1, &rest), "no area");
  form = make_surface_form(make_triangles(6, branched), 0.1, &rest); /* but a shell may branch */
  assert_non_null(form);
  assert_success(FormDestroy(&form));
}

static void shapes_that_are_no_body_are_refused(void **state)
{
  RigidTransform rest;
  Shape          parts[2], shape;

  (void)state;
  assert_success(ShapeCreateSphere(vector3(0, 0, 0), 1, &parts[0]));
  assert_success(ShapeCreateSphere(vector3(1, 0, 0), 1, &parts[1]));
  assert_success(ShapeCreateCombination(SHAPE_DIFFERENCE, 2, parts, &shape));
  assert_form_refused(make_form(shape, 0, &rest), "SurfaceCreateContour");
  assert_success(ShapeCreatePlane(vector3(0, 0, 0), vector3(0, 0, 1), &shape));
  assert_form_refused(make_form(shape, 0.1, &rest), "plane");
  assert_success(ShapeCreateSphere(vector3(0, 0, 0), 1, &shape));
  assert_form_refused(make_form(shape, -1, &rest), "thickness");
  assert_success(ShapeCreateSphere(vector3(0, 0, 0), 1, &shape));
  assert_form_refused(make_form(shape, NAN, &rest), "thickness");
  assert_success(ShapeCreateSphere(vector3(0, 0, 0), 1e200, &shape));
  assert_form_refused(make_form(shape, 0, &rest), "longest side");
}

TEST_MAIN(cmocka_unit_test(sphere_has_two_fifths), cmocka_unit_test(box_keeps_its_axes),
          cmocka_unit_test(cylinder_has_z_for_its_axis), cmocka_unit_test(capsule_is_the_sum_of_its_slices),
          cmocka_unit_test(cone_has_its_centre_at_a_quarter), cmocka_unit_test(torus_turns_about_z),
          cmocka_unit_test(plane_is_endless), cmocka_unit_test(box_of_triangles_is_the_box),
          cmocka_unit_test(a_cube_from_a_file_is_not_turned),
          cmocka_unit_test(a_ring_of_triangles_has_a_grid),
          cmocka_unit_test(shell_of_a_disc_is_a_thin_cylinder),
          cmocka_unit_test(a_sphere_with_a_thickness_is_hollow),
          cmocka_unit_test(surfaces_that_are_no_solid_are_refused),
          cmocka_unit_test(shapes_that_are_no_body_are_refused))
