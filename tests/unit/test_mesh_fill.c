/* Shapes filled with tetrahedra of the body-centred cubic lattice, stuffed and covered. */
#include <math.h>
#include <millrace/mesh_config.h>
#include <string.h>
#include "mesh.h"

static char message[512];

/* The same for the same number: in [0, 1). */
static PetscReal random_number(PetscInt n)
{
  const PetscReal x = sin((PetscReal)n * 12.9898 + 4.1414) * 43758.5453;

  return x - floor(x);
}

static Shape new_sphere(Vector3 centre, PetscReal radius)
{
  Shape shape;

  assert_success(ShapeCreateSphere(centre, radius, &shape));
  return shape;
}

enum { SHAPES = 8 };

static Vector3 mapped(Vector3 x)
{
  return vector3(1 + 2 * x.at[X] - x.at[Y], 3 * x.at[Y] + x.at[Z], 0.5 * x.at[Z] - x.at[X]);
}

static Shape new_shape(int n)
{
  const Vector3 from = vector3(0.1, -0.2, 0.05), to = vector3(0.9, 0.5, -0.3);
  Shape         shape, parts[3];

  switch (n) {
  case 0:
    return new_sphere(from, 0.5);
  case 1:
    assert_success(ShapeCreateTorus(from, vector3(1, 2, 3), 0.6, 0.25, &shape));
    return shape;
  case 2:
    assert_success(ShapeCreateCapsule(from, to, 0.3, &shape));
    return shape;
  case 3:
    assert_success(ShapeCreateBox(vector3(-0.5, -0.3, -0.4), vector3(0.4, 0.5, 0.6), &parts[0]));
    assert_success(ShapeCreatePlaced(&parts[0], 1, vector3(0.3, 0.7, -0.2), from, &shape));
    return shape;
  case 4:
    assert_success(ShapeCreateCylinder(from, to, 0.4, &shape));
    return shape;
  case 5:
    assert_success(ShapeCreateCone(from, to, 0.5, &shape));
    return shape;
  case 6: /* exactly on vertices of the lattice */
    assert_success(ShapeCreateBox(vector3(-0.5, -0.5, -0.5), vector3(0.5, 0.5, 0.5), &shape));
    return shape;
  default:
    parts[0] = new_sphere(from, 0.5);
    parts[1] = new_sphere(to, 0.45);
    parts[2] = new_sphere(vector3(0.3, 0.1, 0.3), 0.35);
    assert_success(ShapeCreateCombination(SHAPE_DIFFERENCE, 3, parts, &shape));
    return shape;
  }
}

static Mesh new_stuffed(Shape shape, PetscReal edge)
{
  Mesh mesh;

  assert_success(MeshCreateStuffed(shape, edge, &mesh, message, sizeof message));
  assert_string_equal(message, "");
  return mesh;
}

static void stuffed_shapes_are_sound_and_their_angles_bounded(void **state)
{
  PetscReal smallest = 180, largest = 0;

  (void)state;
  for (int n = 0; n < SHAPES; n++) {
    for (int size = 0; size < 4; size++) {
      Shape     shape = new_shape(n);
      Mesh      mesh = new_stuffed(shape, 0.3 / (1 + 0.7 * size));
      PetscReal low, high;

      assert_is_sound(mesh, MESH_IN_SPACE);
      assert_boundary_is_closed(mesh);
      assert_near(mesh_measure(mesh), measure_within_boundary(mesh), 1e-12);
      extreme_dihedral_angles(mesh, &low, &high);
      smallest = PetscMin(smallest, low);
      largest = PetscMax(largest, high);
      assert_success(MeshDestroy(&mesh));
      assert_success(ShapeDestroy(&shape));
    }
  }
  print_message("# dihedral angles from %g to %g degrees\n", (double)smallest, (double)largest);
  assert_true(smallest > 10.7 && largest < 164.8);
}

/* Thin gaps, points and slivers of random spheres: the signs at the lattice are as they come. */
static void angles_are_bounded_whatever_the_shape(void **state)
{
  PetscReal smallest = 180, largest = 0;

  (void)state;
  for (int n = 0; n < 12; n++) {
    Shape parts[24], shape;
    Mesh  mesh;

    for (int p = 0; p < 24; p++) {
      const int k = 4 * (24 * n + p);

      parts[p] = new_sphere(vector3(random_number(k), random_number(k + 1), random_number(k + 2)),
                            0.05 + 0.25 * random_number(k + 3));
    }
    if (n % 2) { /* a solid with many holes */
      assert_success(ShapeDestroy(&parts[0]));
      assert_success(ShapeCreateBox(vector3(0, 0, 0), vector3(1, 1, 1), &parts[0]));
    }
    assert_success(
        ShapeCreateCombination(n % 2 ? SHAPE_DIFFERENCE : SHAPE_UNION, n % 2 ? 24 : 24, parts, &shape));
    mesh = new_stuffed(shape, 0.09);
    for (PetscInt e = 0; e < mesh->element_count; e++) {
      PetscReal low, high;

      assert_true(mesh_element_measure(mesh, e) > 0);
      mesh_dihedral_angles(mesh, e, &low, &high);
      smallest = PetscMin(smallest, low * 180 / PETSC_PI);
      largest = PetscMax(largest, high * 180 / PETSC_PI);
    }
    assert_success(MeshDestroy(&mesh));
    assert_success(ShapeDestroy(&shape));
  }
  print_message("# dihedral angles from %g to %g degrees\n", (double)smallest, (double)largest);
  assert_true(smallest > 10.7 && largest < 164.8);
}

static void surfaces_of_stuffed_shapes_lie_on_the_shape(void **state)
{
  (void)state;
  for (int n = 0; n < SHAPES; n++) {
    Shape        shape = new_shape(n);
    Mesh         mesh = new_stuffed(shape, 0.1);
    MeshBoundary boundary;

    assert_success(MeshFindBoundary(mesh, &boundary));
    for (PetscInt v = 0; v < 3 * boundary.count; v++)
      assert_near(shape_distance(shape, mesh->vertices[boundary.faces[v]]), 0, 1e-12);
    assert_success(MeshBoundaryDestroy(&boundary));
    assert_success(MeshDestroy(&mesh));
    assert_success(ShapeDestroy(&shape));
  }
}

static void volumes_of_stuffed_shapes_converge_at_second_order(void **state)
{
  const PetscReal volumes[] = {4 * PETSC_PI / 3 * 0.125, 2 * PETSC_PI * PETSC_PI * 0.6 * 0.0625,
                               PETSC_PI * 0.09 * (PetscSqrtReal(0.64 + 0.49 + 0.1225) + 0.4)};

  (void)state;
  for (int n = 0; n < 3; n++) {
    Shape     shape = new_shape(n);
    PetscReal error[2];

    for (int finer = 0; finer < 2; finer++) {
      Mesh mesh = new_stuffed(shape, 0.1 / (1 + 2 * finer));

      error[finer] = PetscAbsReal(mesh_measure(mesh) / volumes[n] - 1);
      assert_success(MeshDestroy(&mesh));
    }
    print_message("# volume is %.2g, then %.2g off: order %.2f\n", (double)error[0], (double)error[1],
                  log(error[0] / error[1]) / log(3));
    assert_true(log(error[0] / error[1]) / log(3) > 1.8);
    assert_success(ShapeDestroy(&shape));
  }
}

static void stuffed_shapes_have_their_topology(void **state)
{
  const PetscInt euler[] = {1, 0, 1, 1, 1, 1};

  (void)state;
  for (int n = 0; n < 6; n++) {
    Shape    shape = new_shape(n);
    Mesh     mesh = new_stuffed(shape, 0.08);
    PetscInt count, *component;

    assert_int_equal(euler_characteristic(mesh), euler[n]);
    assert_int_equal(boundary_euler_characteristic(mesh), 2 * euler[n]);
    assert_success(MeshFindComponents(mesh, &count, &component));
    assert_int_equal(count, 1);
    assert_success(PetscFree(component));
    assert_success(MeshDestroy(&mesh));
    assert_success(ShapeDestroy(&shape));
  }
}

static void the_same_shape_gives_the_same_bits(void **state)
{
  Shape shape = new_shape(2);
  Mesh  a = new_stuffed(shape, 0.1), b = new_stuffed(shape, 0.1);

  (void)state;
  assert_true(are_equal_meshes(a, b));
  assert_success(MeshDestroy(&a));
  assert_success(MeshDestroy(&b));
  assert_success(ShapeDestroy(&shape));
}

/* Every point of the shape is in a tetrahedron, and weights give it back. */
static void a_covering_covers_the_shape(void **state)
{
  (void)state;
  for (int n = 0; n < SHAPES; n++) {
    Shape       shape = new_shape(n);
    Mesh        mesh;
    MeshLocator locator;
    PetscInt    inside = 0;

    assert_success(MeshCreateCovering(shape, 0.15, &mesh, message, sizeof message));
    assert_is_sound(mesh, MESH_IN_SPACE);
    assert_boundary_is_closed(mesh);
    assert_success(MeshLocatorCreate(mesh, &locator));
    for (int k = 0; k < 6000; k += 3) {
      const Vector3 point = vector3(2.4 * random_number(k) - 1.2, 2.4 * random_number(k + 1) - 1.2,
                                    2.4 * random_number(k + 2) - 1.2);
      MeshPlace     place;
      Vector3       back = vector3(0, 0, 0);

      if (!shape_is_inside(shape, point))
        continue;
      inside++;
      place = mesh_locate(locator, point);
      assert_near(place.distance, 0, 1e-12);
      for (int c = 0; c < 4; c++)
        back = vector3_add(
            back, vector3_scale(place.weights[c], mesh->vertices[mesh->elements[4 * place.element + c]]));
      assert_near(vector3_norm(vector3_subtract(back, point)), 0, 1e-13);
    }
    assert_true(inside > 10);
    assert_success(MeshLocatorDestroy(&locator));
    assert_success(MeshDestroy(&mesh));
    assert_success(ShapeDestroy(&shape));
  }
}

/* So do its triangles move with the tetrahedra: after any affine map the weights give the mapped surface. */
static void a_surface_is_embedded_in_a_covering(void **state)
{
  (void)state;
  for (int n = 0; n < SHAPES; n++) {
    Shape      shape = new_shape(n);
    Mesh       mesh, skin;
    MeshPlace *places;

    assert_success(MeshCreateCovering(shape, 0.2, &mesh, message, sizeof message));
    assert_success(MeshCreateSkin(shape, 0.07, &skin, message, sizeof message));
    assert_success(PetscMalloc1(skin->vertex_count, &places));
    assert_success(MeshFindPlaces(mesh, skin->vertex_count, skin->vertices, places));
    for (PetscInt v = 0; v < skin->vertex_count; v++) {
      const Vector3 wanted = mapped(skin->vertices[v]);
      Vector3       sum = vector3(0, 0, 0);

      assert_true(places[v].distance < 1e-12);
      for (int c = 0; c < 4; c++)
        sum = vector3_add(sum,
                          vector3_scale(places[v].weights[c],
                                        mapped(mesh->vertices[mesh->elements[4 * places[v].element + c]])));
      assert_near(vector3_norm(vector3_subtract(sum, wanted)), 0, 1e-12);
    }
    assert_success(PetscFree(places));
    assert_success(MeshDestroy(&skin));
    assert_success(MeshDestroy(&mesh));
    assert_success(ShapeDestroy(&shape));
  }
}

/* A covering has no tetrahedron that the shape is clearly away from. */
static void a_covering_is_tight(void **state)
{
  Shape shape = new_shape(0);
  Mesh  mesh;

  (void)state;
  assert_success(MeshCreateCovering(shape, 0.1, &mesh, message, sizeof message));
  for (PetscInt n = 0; n < mesh->element_count; n++) {
    PetscReal nearest = PETSC_INFINITY;

    for (int c = 0; c < 4; c++)
      nearest = PetscMin(nearest, shape_distance(shape, mesh->vertices[mesh->elements[4 * n + c]]));
    assert_true(nearest < 0.05);
  }
  assert_success(MeshDestroy(&mesh));
  assert_success(ShapeDestroy(&shape));
}

/* Against all elements one by one. */
static void the_nearest_element_is_found(void **state)
{
  Mesh        mesh;
  MeshLocator locator;

  (void)state;
  assert_success(MeshCreateTorus(vector3(0, 0, 0), vector3(0, 0, 1), 1, 0.3, 0.2, &mesh));
  assert_success(MeshLocatorCreate(mesh, &locator));
  for (int k = 0; k < 300; k += 3) {
    const Vector3 point =
        vector3(6 * random_number(k) - 3, 6 * random_number(k + 1) - 3, 2 * random_number(k + 2));
    const MeshPlace place = mesh_locate(locator, point);
    PetscReal       least = PETSC_INFINITY;

    for (PetscInt n = 0; n < mesh->element_count; n++) {
      MeshLocator    one;
      Mesh           single;
      const PetscInt corners[] = {0, 1, 2};
      const Vector3  vertices[] = {mesh->vertices[mesh->elements[3 * n]],
                                   mesh->vertices[mesh->elements[3 * n + 1]],
                                   mesh->vertices[mesh->elements[3 * n + 2]]};

      if (k % 30)
        continue; /* some will do */
      assert_success(MeshCreate(MESH_TRIANGLES, 1, 3, vertices, 1, corners, &single));
      assert_success(MeshLocatorCreate(single, &one));
      least = PetscMin(least, mesh_locate(one, point).distance);
      assert_success(MeshLocatorDestroy(&one));
      assert_success(MeshDestroy(&single));
    }
    if (k % 30 == 0)
      assert_near(place.distance, least, 1e-14);
    assert_near(place.weights[0] + place.weights[1] + place.weights[2], 1, 1e-14);
  }
  assert_success(MeshLocatorDestroy(&locator));
  assert_success(MeshDestroy(&mesh));
}

/* Two sides of a tetrahedron, in a union with a ball. */
static void open_surfaces_are_not_filled(void **state)
{
  const Vector3  vertices[] = {vector3(0, 0, 0), vector3(1, 0, 0), vector3(0, 1, 0), vector3(0, 0, 1)};
  const PetscInt triangles[][3] = {{0, 2, 1}, {0, 1, 3}};
  Surface        surface;
  Shape          parts[2], shape;
  Mesh           mesh;

  (void)state;
  assert_success(SurfaceCreate(4, vertices, 2, triangles, &surface));
  assert_success(ShapeCreateSurface(&surface, &parts[0]));
  parts[1] = new_sphere(vector3(0, 0, 0), 1);
  assert_success(ShapeCreateCombination(SHAPE_UNION, 2, parts, &shape));
  assert_success(MeshCreateCovering(shape, 0.2, &mesh, message, sizeof message));
  assert_null(mesh);
  assert_non_null(strstr(message, "has a hole"));
  assert_success(MeshCreateStuffed(shape, 0.2, &mesh, message, sizeof message));
  assert_null(mesh);
  assert_success(ShapeDestroy(&shape));
}

static void shapes_that_cannot_be_filled_are_told(void **state)
{
  Shape shape;
  Mesh  mesh;

  (void)state;
  assert_success(ShapeCreatePlane(vector3(0, 0, 0), vector3(0, 0, 1), &shape));
  assert_success(MeshCreateStuffed(shape, 0.1, &mesh, message, sizeof message));
  assert_null(mesh);
  assert_non_null(strstr(message, "intersect it with a box"));
  assert_success(ShapeDestroy(&shape));
  shape = new_sphere(vector3(0, 0, 0), 1);
  assert_success(MeshCreateCovering(shape, 1e-5, &mesh, message, sizeof message));
  assert_null(mesh);
  assert_non_null(strstr(message, "make the edge of 1e-05 m longer"));
  assert_success(ShapeDestroy(&shape));
}

TEST_MAIN(cmocka_unit_test(stuffed_shapes_are_sound_and_their_angles_bounded),
          cmocka_unit_test(angles_are_bounded_whatever_the_shape),
          cmocka_unit_test(surfaces_of_stuffed_shapes_lie_on_the_shape),
          cmocka_unit_test(volumes_of_stuffed_shapes_converge_at_second_order),
          cmocka_unit_test(stuffed_shapes_have_their_topology),
          cmocka_unit_test(the_same_shape_gives_the_same_bits), cmocka_unit_test(a_covering_covers_the_shape),
          cmocka_unit_test(a_covering_is_tight), cmocka_unit_test(a_surface_is_embedded_in_a_covering),
          cmocka_unit_test(the_nearest_element_is_found), cmocka_unit_test(open_surfaces_are_not_filled),
          cmocka_unit_test(shapes_that_cannot_be_filled_are_told))
