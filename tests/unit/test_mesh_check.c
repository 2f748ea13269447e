/* Each fault of a mesh is found and named with its element and place. */
#include <math.h>
#include <string.h>
#include "mesh.h"

/* Two unit corner tetrahedra on the same triangle, one above and one below, and a vertex beside them. */
static const Vector3 places[] = {{{0, 0, 0}}, {{1, 0, 0}},  {{0, 1, 0}},
                                 {{0, 0, 1}}, {{0, 0, -1}}, {{9, 9, 9}}};

static char message[512];

static MeshFault fault_of(MeshKind kind, MeshPlacement placement, PetscInt vertices, PetscInt count,
                          const PetscInt elements[])
{
  Mesh      mesh;
  MeshFault fault;

  assert_success(MeshCreate(kind, 1, vertices, places, count, elements, &mesh));
  assert_success(MeshCheck(mesh, placement, &fault, message, sizeof message));
  assert_success(MeshDestroy(&mesh));
  return fault;
}

#define FAULT_OF(kind, placement, vertices, ...)                                                             \
  fault_of(kind, placement, vertices,                                                                        \
           (PetscInt)(sizeof((PetscInt[]){__VA_ARGS__}) / sizeof(PetscInt) / ((size_t)(kind) + 1)),          \
           (PetscInt[]){__VA_ARGS__})

#define assert_says(text) assert_non_null(strstr(message, text))

static void two_tetrahedra_are_sound(void **state)
{
  (void)state;
  assert_int_equal(FAULT_OF(MESH_TETRAHEDRA, MESH_IN_SPACE, 5, 0, 1, 2, 3, 0, 2, 1, 4), MESH_SOUND);
}

static void an_inverted_tetrahedron_is_named(void **state)
{
  (void)state;
  assert_int_equal(FAULT_OF(MESH_TETRAHEDRA, MESH_IN_SPACE, 5, 0, 1, 2, 3, 0, 1, 2, 4), MESH_INVERTED);
  assert_says("tetrahedron 1 at (0.25, 0.25, -0.25) is inverted: swap two of its corners");
}

static void a_duplicate_is_named(void **state)
{
  (void)state;
  assert_int_equal(FAULT_OF(MESH_TETRAHEDRA, MESH_IN_SPACE, 5, 0, 1, 2, 3, 0, 2, 1, 4, 1, 2, 0, 3),
                   MESH_DUPLICATE);
  assert_says("tetrahedron 2 at (0.25, 0.25, 0.25) has the same corners as element 0");
}

static void a_dangling_vertex_is_named(void **state)
{
  (void)state;
  assert_int_equal(FAULT_OF(MESH_TETRAHEDRA, MESH_IN_SPACE, 6, 0, 1, 2, 3, 0, 2, 1, 4), MESH_DANGLING);
  assert_says("vertex 5 at (9, 9, 9) dangles");
}

static void a_flat_element_is_named(void **state)
{
  const PetscInt nodes[] = {0, 1, 2, 3};
  const Vector3  vertices[] = {{{0, 0, 0}}, {{1, 0, 0}}, {{0, 1, 0}}, {{0.3, 0.3, 1e-4}}};
  Mesh           mesh;
  MeshFault      fault;

  (void)state;
  assert_success(MeshCreate(MESH_TETRAHEDRA, 1, 4, vertices, 1, nodes, &mesh));
  assert_success(MeshCheck(mesh, MESH_IN_SPACE, &fault, message, sizeof message));
  assert_int_equal(fault, MESH_FLAT);
  assert_says("tetrahedron 0 at (0.325, 0.325, 2.5e-05) is flat");
  assert_success(MeshDestroy(&mesh));
}

static void an_element_with_a_vertex_twice_is_named(void **state)
{
  (void)state;
  assert_int_equal(FAULT_OF(MESH_TRIANGLES, MESH_IN_SPACE, 3, 0, 1, 2, 0, 1, 1), MESH_COLLAPSED);
  assert_says("triangle 1 at");
}

static void three_triangles_at_an_edge_are_named(void **state)
{
  (void)state;
  assert_int_equal(FAULT_OF(MESH_TRIANGLES, MESH_IN_SPACE, 5, 0, 1, 2, 1, 0, 3, 0, 1, 4), MESH_NOT_MANIFOLD);
  assert_says("shares a side with elements 0 and 1");
}

static void a_triangle_that_faces_the_wrong_way_is_named(void **state)
{
  (void)state;
  assert_int_equal(FAULT_OF(MESH_TRIANGLES, MESH_IN_SPACE, 4, 0, 1, 2, 0, 1, 3), MESH_TWISTED);
  assert_says(
      "triangle 1 at (0.333333, 0, 0.333333) is wrongly oriented: it faces the opposite way of element "
      "0");
}

static void tetrahedra_in_each_other_are_named(void **state)
{
  const PetscInt nodes[] = {0, 1, 2, 3, 0, 1, 2, 4};
  const Vector3  vertices[] = {{{0, 0, 0}}, {{1, 0, 0}}, {{0, 1, 0}}, {{0, 0, 1}}, {{0, 0, 0.5}}};
  Mesh           mesh;
  MeshFault      fault;

  (void)state;
  assert_success(MeshCreate(MESH_TETRAHEDRA, 1, 5, vertices, 2, nodes, &mesh));
  assert_success(MeshCheck(mesh, MESH_IN_SPACE, &fault, message, sizeof message));
  assert_int_equal(fault, MESH_TWISTED);
  assert_says("they overlap");
  assert_success(MeshDestroy(&mesh));
}

static void a_clockwise_triangle_in_the_plane_is_inverted(void **state)
{
  (void)state;
  assert_int_equal(FAULT_OF(MESH_TRIANGLES, MESH_IN_PLANE, 3, 0, 2, 1), MESH_INVERTED);
  assert_int_equal(FAULT_OF(MESH_TRIANGLES, MESH_IN_SPACE, 3, 0, 2, 1), MESH_SOUND);
  assert_int_equal(FAULT_OF(MESH_TRIANGLES, MESH_IN_PLANE, 4, 0, 1, 3), MESH_BAD_VERTEX);
  assert_says("vertex 3 at (0, 0, 1) is not in the plane");
}

static void a_coordinate_that_is_no_number_is_named(void **state)
{
  const PetscInt nodes[] = {0};
  const Vector3  vertices[] = {{{0, INFINITY, 0}}};
  Mesh           mesh;
  MeshFault      fault;

  (void)state;
  assert_success(MeshCreate(MESH_POINTS, 1, 1, vertices, 1, nodes, &mesh));
  assert_success(MeshCheck(mesh, MESH_IN_SPACE, &fault, message, sizeof message));
  assert_int_equal(fault, MESH_BAD_VERTEX);
  assert_success(MeshDestroy(&mesh));
}

static void a_vertex_that_is_not_there_is_an_error(void **state)
{
  const PetscInt nodes[] = {0, 1, 6};
  Mesh           mesh;

  (void)state;
  assert_refused(MeshCreate(MESH_TRIANGLES, 1, 6, places, 1, nodes, &mesh));
}

TEST_MAIN(cmocka_unit_test(two_tetrahedra_are_sound), cmocka_unit_test(an_inverted_tetrahedron_is_named),
          cmocka_unit_test(a_duplicate_is_named), cmocka_unit_test(a_dangling_vertex_is_named),
          cmocka_unit_test(a_flat_element_is_named),
          cmocka_unit_test(an_element_with_a_vertex_twice_is_named),
          cmocka_unit_test(three_triangles_at_an_edge_are_named),
          cmocka_unit_test(a_triangle_that_faces_the_wrong_way_is_named),
          cmocka_unit_test(tetrahedra_in_each_other_are_named),
          cmocka_unit_test(a_clockwise_triangle_in_the_plane_is_inverted),
          cmocka_unit_test(a_coordinate_that_is_no_number_is_named),
          cmocka_unit_test(a_vertex_that_is_not_there_is_an_error))
