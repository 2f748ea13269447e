/* Red refinement, hanging vertices and quadratic elements. */
#include <math.h>
#include "mesh.h"

static Mesh new_box(MeshBoxPattern pattern)
{
  const PetscInt cells[] = {2, 2, 2};
  Mesh           mesh;

  assert_success(MeshCreateBox(vector3(0, 0, 0), vector3(1, 1, 1), cells, pattern, &mesh));
  return mesh;
}

static Mesh new_sheet(void)
{
  const PetscInt cells[] = {3, 3};
  Mesh           mesh;

  assert_success(MeshCreateSheet(vector3(0, 0, 0), vector3(1, 0, 0), vector3(0, 1, 0), cells, &mesh));
  return mesh;
}

/* Elements with their centre within `reach` of the corner (1, 1, 1); takes the mesh. */
static Mesh refine_near_corner(Mesh mesh, PetscReal reach)
{
  PetscBool *marks;
  Mesh       refined;

  assert_success(PetscMalloc1(mesh->element_count, &marks));
  for (PetscInt n = 0; n < mesh->element_count; n++) {
    Vector3 from = vector3_subtract(mesh_element_centre(mesh, n), vector3(1, 1, 0));

    from.at[Z] -= mesh->kind == MESH_TETRAHEDRA ? 1 : 0;
    marks[n] = vector3_norm(from) < reach ? PETSC_TRUE : PETSC_FALSE;
  }
  assert_success(MeshRefine(mesh, marks, &refined, NULL));
  assert_success(PetscFree(marks));
  assert_success(MeshDestroy(&mesh));
  return refined;
}

/* Three levels that jump: an element of the coarsest may touch one of the finest. */
static Mesh refine_thrice(Mesh mesh)
{
  mesh = refine_near_corner(mesh, 0.75);
  mesh = refine_near_corner(mesh, 0.6);
  return refine_near_corner(mesh, 0.5);
}

static void all_of_a_mesh_refined_is_conforming(void **state)
{
  (void)state;
  for (int pattern = MESH_BOX_FIVE; pattern <= MESH_BOX_BCC; pattern++) {
    Mesh          mesh = new_box((MeshBoxPattern)pattern), refined;
    MeshJunctions junctions;
    PetscInt     *origins;

    assert_success(MeshRefine(mesh, NULL, &refined, &origins));
    assert_int_equal(refined->element_count, 8 * mesh->element_count);
    for (PetscInt n = 0; n < refined->element_count; n++) {
      assert_int_equal(origins[n], n / 8);
      assert_near(8 * mesh_element_measure(refined, n), mesh_element_measure(mesh, n / 8), 1e-15);
    }
    assert_is_sound(refined, MESH_IN_SPACE);
    assert_boundary_is_closed(refined);
    assert_int_equal(euler_characteristic(refined), 1);
    assert_success(MeshFindJunctions(refined, &junctions));
    assert_int_equal(junctions.count, 0);
    assert_success(MeshJunctionsDestroy(&junctions));
    assert_success(PetscFree(origins));
    assert_success(MeshDestroy(&mesh));
    assert_success(MeshDestroy(&refined));
  }
}

static void tetrahedra_of_a_bcc_lattice_stay_similar(void **state)
{
  Shape     shape;
  Mesh      mesh, once, twice;
  PetscReal smallest, largest;
  char      message[256];

  (void)state;
  assert_success(ShapeCreateSphere(vector3(0, 0, 0), 0.4, &shape));
  assert_success(MeshCreateCovering(shape, 0.3, &mesh, message, sizeof message));
  assert_success(MeshRefine(mesh, NULL, &once, NULL));
  assert_success(MeshRefine(once, NULL, &twice, NULL));
  extreme_dihedral_angles(twice, &smallest, &largest);
  assert_near(smallest, 60, 1e-6);
  assert_near(largest, 90, 1e-6);
  assert_success(MeshDestroy(&mesh));
  assert_success(MeshDestroy(&once));
  assert_success(MeshDestroy(&twice));
  assert_success(ShapeDestroy(&shape));
}

static PetscBool is_corner(Mesh mesh, PetscInt element, PetscInt vertex)
{
  for (PetscInt n = 0; n < mesh->nodes; n++) {
    if (mesh->elements[element * mesh->nodes + n] == vertex)
      return PETSC_TRUE;
  }
  return PETSC_FALSE;
}

static MeshPlace place_in(Mesh mesh, PetscInt element, Vector3 point)
{
  MeshLocator locator;
  MeshPlace   place;
  Mesh        single;

  assert_success(MeshCreate(mesh->kind, 1, mesh->vertex_count, mesh->vertices, 1,
                            mesh->elements + element * mesh->nodes, &single));
  assert_success(MeshLocatorCreate(single, &locator));
  place = mesh_locate(locator, point);
  assert_success(MeshLocatorDestroy(&locator));
  assert_success(MeshDestroy(&single));
  return place;
}

/* Any values at vertices that do not hang; those that hang follow. */
static void give_values(Mesh mesh, const MeshJunctions *junctions, PetscReal values[])
{
  for (PetscInt v = 0; v < mesh->vertex_count; v++)
    values[v] = sin((PetscReal)(v * v));
  for (PetscInt n = 0; n < junctions->count; n++) {
    PetscReal sum = 0, weights = 0;

    for (PetscInt m = junctions->first[n]; m < junctions->first[n + 1]; m++) {
      assert_true(junctions->weights[m] > 0);
      weights += junctions->weights[m];
      sum += junctions->weights[m] * values[junctions->parents[m]];
    }
    assert_near(weights, 1, 1e-15);
    values[junctions->vertices[n]] = sum;
  }
}

/* Wherever a vertex lies on an element that does not have it, the element has the value of the vertex there.
 */
static void assert_has_no_gap(Mesh mesh)
{
  MeshJunctions junctions;
  PetscReal    *values, untouched = 0;
  PetscInt      met = 0;

  assert_success(MeshFindJunctions(mesh, &junctions));
  assert_success(PetscMalloc1(mesh->vertex_count, &values));
  give_values(mesh, &junctions, values);
  for (PetscInt e = 0; e < mesh->element_count; e++) {
    for (PetscInt v = 0; v < mesh->vertex_count; v++) {
      MeshPlace place;
      PetscReal value = 0;

      if (is_corner(mesh, e, v) ||
          vector3_norm(vector3_subtract(mesh->vertices[v], mesh_element_centre(mesh, e))) > 0.6)
        continue;
      place = place_in(mesh, e, mesh->vertices[v]);
      if (place.distance > 1e-12)
        continue;
      met++;
      for (PetscInt c = 0; c < mesh->nodes; c++)
        value += place.weights[c] * values[mesh->elements[e * mesh->nodes + c]];
      assert_near(value, values[v], 1e-12);
      untouched = PetscMax(untouched, PetscAbsReal(value - sin((PetscReal)(v * v))));
    }
  }
  assert_true(met > 0 && met >= junctions.count && untouched > 0.01);
  assert_success(PetscFree(values));
  assert_success(MeshJunctionsDestroy(&junctions));
}

static void junctions_close_the_gaps_of_triangles(void **state)
{
  Mesh mesh = refine_thrice(new_sheet());

  (void)state;
  assert_near(mesh_measure(mesh), 1, 1e-14);
  assert_has_no_gap(mesh);
  assert_success(MeshDestroy(&mesh));
}

static void junctions_close_the_gaps_of_tetrahedra(void **state)
{
  (void)state;
  for (int pattern = MESH_BOX_FIVE; pattern <= MESH_BOX_BCC; pattern += 2) {
    Mesh mesh = refine_near_corner(refine_near_corner(new_box((MeshBoxPattern)pattern), 0.7), 0.45);

    assert_near(mesh_measure(mesh), 1, 1e-14);
    assert_has_no_gap(mesh);
    assert_success(MeshDestroy(&mesh));
  }
}

/* No parent hangs itself, and the mean of the parents is where the vertex is. */
static void junctions_are_flat_and_in_place(void **state)
{
  Mesh          mesh = refine_thrice(new_box(MESH_BOX_BCC));
  MeshJunctions junctions;
  PetscBool    *hangs;

  (void)state;
  assert_success(MeshFindJunctions(mesh, &junctions));
  assert_true(junctions.count > 20);
  assert_success(PetscCalloc1(mesh->vertex_count, &hangs));
  for (PetscInt n = 0; n < junctions.count; n++)
    hangs[junctions.vertices[n]] = PETSC_TRUE;
  for (PetscInt n = 0; n < junctions.count; n++) {
    Vector3 sum = vector3(0, 0, 0);

    for (PetscInt m = junctions.first[n]; m < junctions.first[n + 1]; m++) {
      assert_false(hangs[junctions.parents[m]]);
      sum = vector3_add(sum, vector3_scale(junctions.weights[m], mesh->vertices[junctions.parents[m]]));
    }
    assert_near(vector3_norm(vector3_subtract(sum, mesh->vertices[junctions.vertices[n]])), 0, 1e-14);
  }
  assert_success(PetscFree(hangs));
  assert_success(MeshJunctionsDestroy(&junctions));
  assert_success(MeshDestroy(&mesh));
}

static void assert_is_quadratic_twin(Mesh mesh)
{
  Mesh     quadratic;
  PetscInt edges;
  PetscInt(*ends)[2];

  assert_success(MeshCreateQuadratic(mesh, &quadratic));
  assert_success(MeshFindEdges(mesh, &edges, &ends));
  assert_int_equal(quadratic->vertex_count, mesh->vertex_count + edges);
  assert_is_sound(quadratic, MESH_IN_SPACE);
  assert_boundary_is_closed(quadratic);
  assert_near(mesh_measure(quadratic), mesh_measure(mesh), 1e-13);
  for (PetscInt n = 0; n < mesh->element_count; n++) {
    const PetscInt *nodes = quadratic->elements + n * quadratic->nodes;

    for (PetscInt e = 0; e < mesh_edges(mesh->kind); e++) {
      const PetscInt *corner = mesh_edge(mesh->kind, e);
      const Vector3   sum = vector3_add(mesh->vertices[nodes[corner[0]]], mesh->vertices[nodes[corner[1]]]);
      const Vector3   middle = quadratic->vertices[nodes[mesh_corners(mesh->kind) + e]];

      assert_near(vector3_norm(vector3_subtract(vector3_scale(0.5, sum), middle)), 0, 0);
    }
  }
  assert_success(PetscFree(ends));
  assert_success(MeshDestroy(&quadratic));
}

static void quadratic_meshes_share_the_middles_of_edges(void **state)
{
  Mesh box = new_box(MESH_BOX_SIX), sheet = new_sheet(), line;

  (void)state;
  assert_success(MeshCreateLine(vector3(0, 0, 0), vector3(1, 2, 3), 5, &line));
  assert_is_quadratic_twin(box);
  assert_is_quadratic_twin(sheet);
  assert_is_quadratic_twin(line);
  assert_success(MeshDestroy(&box));
  assert_success(MeshDestroy(&sheet));
  assert_success(MeshDestroy(&line));
}

static void what_hangs_cannot_be_quadratic(void **state)
{
  Mesh mesh = refine_near_corner(new_sheet(), 0.5), quadratic;

  (void)state;
  assert_refused(MeshCreateQuadratic(mesh, &quadratic));
  assert_success(MeshDestroy(&mesh));
}

TEST_MAIN(cmocka_unit_test(all_of_a_mesh_refined_is_conforming),
          cmocka_unit_test(tetrahedra_of_a_bcc_lattice_stay_similar),
          cmocka_unit_test(junctions_close_the_gaps_of_triangles),
          cmocka_unit_test(junctions_close_the_gaps_of_tetrahedra),
          cmocka_unit_test(junctions_are_flat_and_in_place),
          cmocka_unit_test(quadratic_meshes_share_the_middles_of_edges),
          cmocka_unit_test(what_hangs_cannot_be_quadratic))
