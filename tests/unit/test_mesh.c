/* Boxes of tetrahedra, measures, boundaries and neighbours. */
#include <string.h>
#include "mesh.h"

static Mesh new_box(PetscInt x, PetscInt y, PetscInt z, MeshBoxPattern pattern)
{
  const PetscInt cells[] = {x, y, z};
  Mesh           mesh;

  assert_success(MeshCreateBox(vector3(-1, 0.5, 2), vector3(2, 1.5, 4), cells, pattern, &mesh));
  return mesh;
}

static void boxes_are_sound_and_have_their_volume(void **state)
{
  (void)state;
  for (int pattern = MESH_BOX_FIVE; pattern <= MESH_BOX_BCC; pattern++) {
    Mesh mesh = new_box(3, 2, 4, (MeshBoxPattern)pattern);

    assert_is_sound(mesh, MESH_IN_SPACE);
    assert_near(mesh_measure(mesh), 6, 1e-13);
    assert_near(measure_within_boundary(mesh), 6, 1e-13);
    assert_boundary_is_closed(mesh);
    assert_int_equal(euler_characteristic(mesh), 1);
    assert_int_equal(boundary_euler_characteristic(mesh), 2);
    assert_success(MeshDestroy(&mesh));
  }
}

static void boxes_have_the_tetrahedra_of_their_pattern(void **state)
{
  const PetscInt counts[] = {5 * 64, 6 * 64, 4 * 3 * 3 * 16 + 2 * 6 * 16};

  (void)state;
  for (int pattern = MESH_BOX_FIVE; pattern <= MESH_BOX_BCC; pattern++) {
    Mesh mesh = new_box(4, 4, 4, (MeshBoxPattern)pattern);

    assert_int_equal(mesh->element_count, counts[pattern]);
    assert_success(MeshDestroy(&mesh));
  }
}

static void a_single_cube_is_a_box(void **state)
{
  (void)state;
  for (int pattern = MESH_BOX_FIVE; pattern <= MESH_BOX_BCC; pattern++) {
    Mesh mesh = new_box(1, 1, 1, (MeshBoxPattern)pattern);

    assert_is_sound(mesh, MESH_IN_SPACE);
    assert_near(mesh_measure(mesh), 6, 1e-14);
    assert_success(MeshDestroy(&mesh));
  }
}

static void inner_tetrahedra_of_a_bcc_lattice_have_angles_of_60_and_90_degrees(void **state)
{
  const PetscInt cells[] = {4, 4, 4};
  Mesh           mesh;
  PetscReal      smallest, largest;

  (void)state;
  assert_success(MeshCreateBox(vector3(0, 0, 0), vector3(1, 1, 1), cells, MESH_BOX_BCC, &mesh));
  for (PetscInt n = 0; n < mesh->element_count; n++) {
    if (mesh->elements[4 * n + 3] < 125) /* between two centres */
      continue;
    mesh_dihedral_angles(mesh, n, &smallest, &largest);
    assert_near(smallest, PETSC_PI / 3, 1e-12);
    assert_near(largest, PETSC_PI / 2, 1e-12);
  }
  extreme_dihedral_angles(mesh, &smallest, &largest);
  assert_true(smallest > 44.9 && largest < 120.1);
  assert_success(MeshDestroy(&mesh));
}

static void the_same_box_has_the_same_bits(void **state)
{
  Mesh a = new_box(3, 3, 2, MESH_BOX_BCC), b = new_box(3, 3, 2, MESH_BOX_BCC), c;

  (void)state;
  assert_true(are_equal_meshes(a, b));
  assert_success(MeshCopy(a, &c));
  assert_true(are_equal_meshes(a, c));
  assert_success(MeshDestroy(&a));
  assert_success(MeshDestroy(&b));
  assert_success(MeshDestroy(&c));
}

static PetscBool are_neighbours(const PetscInt a[4], const PetscInt b[4])
{
  int shared = 0;

  for (int n = 0; n < 16; n++)
    shared += a[n / 4] == b[n % 4];
  return shared == 3 ? PETSC_TRUE : PETSC_FALSE;
}

static void neighbours_share_the_side_opposite_the_corner(void **state)
{
  Mesh      mesh = new_box(2, 2, 2, MESH_BOX_FIVE);
  PetscInt *neighbours;

  (void)state;
  assert_success(MeshFindNeighbours(mesh, &neighbours));
  for (PetscInt n = 0; n < 4 * mesh->element_count; n++) {
    const PetscInt *here = mesh->elements + n / 4 * 4, *there = mesh->elements + 4 * neighbours[n];

    if (neighbours[n] < 0)
      continue;
    assert_true(are_neighbours(here, there));
    for (int c = 0; c < 4; c++)
      assert_int_not_equal(there[c], here[n % 4]);
  }
  assert_success(PetscFree(neighbours));
  assert_success(MeshDestroy(&mesh));
}

static void components_are_told_apart(void **state)
{
  const Vector3  vertices[] = {{{0, 0, 0}}, {{9, 0, 0}}, {{1, 0, 0}}, {{8, 0, 0}}, {{7, 0, 0}}};
  const PetscInt elements[] = {0, 2, 4, 3, 3, 1};
  PetscInt       count, *component;
  Mesh           mesh;

  (void)state;
  assert_success(MeshCreate(MESH_SEGMENTS, 1, 5, vertices, 3, elements, &mesh));
  assert_success(MeshFindComponents(mesh, &count, &component));
  assert_int_equal(count, 2);
  assert_int_equal(component[0], component[2]);
  assert_int_equal(component[1], component[4]);
  assert_int_equal(component[1], 1);
  assert_near(mesh_measure(mesh), 3, 0);
  assert_success(PetscFree(component));
  assert_success(MeshDestroy(&mesh));
}

/* x -> x + 0.2 x^2 e_y on the unit tetrahedron keeps the volume; x -> 1.3 x scales it. */
static void a_curved_tetrahedron_has_its_exact_volume(void **state)
{
  const PetscInt nodes[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  Vector3        vertices[10] = {{{0, 0, 0}}, {{1, 0, 0}}, {{0, 1, 0}}, {{0, 0, 1}}};
  Mesh           mesh;
  MeshFault      fault;
  char           message[256];

  (void)state;
  for (PetscInt e = 0; e < 6; e++) {
    const PetscInt *ends = mesh_edge(MESH_TETRAHEDRA, e);

    vertices[4 + e] = vector3_scale(0.5, vector3_add(vertices[ends[0]], vertices[ends[1]]));
  }
  for (int n = 0; n < 10; n++) {
    const PetscReal x = vertices[n].at[X];

    vertices[n] = vector3_scale(1.3, vector3_add(vertices[n], vector3(0, 0.2 * x * x, 0)));
  }
  assert_success(MeshCreate(MESH_TETRAHEDRA, 2, 10, vertices, 1, nodes, &mesh));
  assert_near(mesh_measure(mesh), 1.3 * 1.3 * 1.3 / 6, 1e-15);
  assert_is_sound(mesh, MESH_IN_SPACE);
  assert_boundary_is_closed(mesh);
  mesh->vertices[4] = vector3(0.2, 0, 0); /* beyond a quarter of the edge the map folds over */
  assert_success(MeshCheck(mesh, MESH_IN_SPACE, &fault, message, sizeof message));
  assert_int_equal(fault, MESH_INVERTED);
  assert_success(MeshDestroy(&mesh));
}

TEST_MAIN(cmocka_unit_test(boxes_are_sound_and_have_their_volume),
          cmocka_unit_test(boxes_have_the_tetrahedra_of_their_pattern),
          cmocka_unit_test(a_single_cube_is_a_box),
          cmocka_unit_test(inner_tetrahedra_of_a_bcc_lattice_have_angles_of_60_and_90_degrees),
          cmocka_unit_test(the_same_box_has_the_same_bits),
          cmocka_unit_test(neighbours_share_the_side_opposite_the_corner),
          cmocka_unit_test(components_are_told_apart),
          cmocka_unit_test(a_curved_tetrahedron_has_its_exact_volume))
