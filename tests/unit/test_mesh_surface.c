/* Generated sheets, discs, tubes, tori, balls, capsules and surfaces of revolution. */
#include <math.h>
#include "mesh.h"

static const PetscReal radius = 0.5;

typedef struct {
  Mesh      mesh;
  PetscInt  euler;  /* characteristic */
  PetscReal area;   /* of the true surface */
  PetscReal volume; /* within it; 0 if open */
} SurfaceCase;

enum { SURFACES = 6 };

static SurfaceCase new_surface(int n, PetscReal edge)
{
  const Vector3          from = vector3(1, 2, 3), to = vector3(2, 3, 2), axis = vector3(1, 1, -1);
  const PetscReal        length = PetscSqrtReal(3), pi = PETSC_PI;
  const MeshProfilePoint cone[] = {{0, -radius}, {radius, 0}, {0, radius}};
  SurfaceCase            made = {0};

  switch (n) {
  case 0:
    assert_success(MeshCreateDisc(from, axis, radius, edge, &made.mesh));
    made = (SurfaceCase){made.mesh, 1, pi * radius * radius, 0};
    break;
  case 1:
    assert_success(MeshCreateTube(from, to, radius, edge, &made.mesh));
    made = (SurfaceCase){made.mesh, 0, 2 * pi * radius * length, 0};
    break;
  case 2:
    assert_success(MeshCreateTorus(from, axis, 1, radius, edge, &made.mesh));
    made = (SurfaceCase){made.mesh, 0, 4 * pi * pi * radius, 2 * pi * pi * radius * radius};
    break;
  case 3:
    assert_success(MeshCreateBall(from, radius, edge, &made.mesh));
    made = (SurfaceCase){made.mesh, 2, 4 * pi * radius * radius, 4 * pi / 3 * pow(radius, 3)};
    break;
  case 4:
    assert_success(MeshCreateCapsule(from, to, radius, edge, &made.mesh));
    made = (SurfaceCase){made.mesh, 2, 2 * pi * radius * (length + 2 * radius),
                         pi * radius * radius * (length + 4 * radius / 3)};
    break;
  default:
    assert_success(MeshCreateRevolution(from, axis, MESH_PROFILE_PATH, 3, cone, edge, &made.mesh));
    made =
        (SurfaceCase){made.mesh, 2, 2 * pi * radius * radius * PetscSqrtReal(2), 2 * pi / 3 * pow(radius, 3)};
  }
  return made;
}

/* About the first vertex, so that round-off is that of the size. */
static PetscReal enclosed_volume(Mesh mesh)
{
  PetscReal sum = 0;

  for (PetscInt n = 0; n < mesh->element_count; n++) {
    Vector3 arm[3];

    for (int c = 0; c < 3; c++)
      arm[c] = vector3_subtract(mesh->vertices[mesh->elements[3 * n + c]], mesh->vertices[0]);
    sum += vector3_dot(arm[0], vector3_cross(arm[1], arm[2])) / 6;
  }
  return sum;
}

static void surfaces_are_sound_and_have_their_topology(void **state)
{
  (void)state;
  for (int n = 0; n < SURFACES; n++) {
    for (int finer = 1; finer <= 16; finer *= 4) {
      SurfaceCase made = new_surface(n, 0.4 / finer);

      assert_is_sound(made.mesh, MESH_IN_SPACE);
      assert_boundary_is_closed(made.mesh);
      assert_int_equal(euler_characteristic(made.mesh), made.euler);
      assert_success(MeshDestroy(&made.mesh));
    }
  }
}

static void areas_and_volumes_converge_at_second_order(void **state)
{
  (void)state;
  for (int n = 0; n < SURFACES; n++) {
    PetscReal area[2], volume[2];

    for (int finer = 0; finer < 2; finer++) {
      SurfaceCase made = new_surface(n, 0.05 / (1 + 3 * finer));

      area[finer] = PetscAbsReal(mesh_measure(made.mesh) / made.area - 1);
      volume[finer] = made.volume > 0 ? PetscAbsReal(enclosed_volume(made.mesh) / made.volume - 1) : 0;
      assert_success(MeshDestroy(&made.mesh));
    }
    assert_true(log(area[0] / area[1]) / log(4) > 1.7);
    assert_true(volume[0] == 0 || log(volume[0] / volume[1]) / log(4) > 1.7);
    assert_true(area[0] < 0.02 && volume[0] < 0.02);
  }
}

static void edges_have_about_the_length_that_was_asked_for(void **state)
{
  (void)state;
  for (int n = 0; n < SURFACES; n++) {
    SurfaceCase made = new_surface(n, 0.05);
    PetscReal   worst = 1;
    PetscInt    count;
    PetscInt(*edges)[2];

    for (PetscInt t = 0; t < made.mesh->element_count; t++)
      worst = PetscMin(worst, mesh_element_quality(made.mesh, t));
    assert_true(worst > 0.25);
    assert_success(MeshFindEdges(made.mesh, &count, &edges));
    for (PetscInt e = 0; e < count; e++) {
      const PetscReal length =
          vector3_norm(vector3_subtract(made.mesh->vertices[edges[e][0]], made.mesh->vertices[edges[e][1]]));

      assert_true(length > 0.3 * 0.05 && length < 1.6 * 0.05);
    }
    assert_success(PetscFree(edges));
    assert_success(MeshDestroy(&made.mesh));
  }
}

static void a_geodesic_sphere_has_its_numbers(void **state)
{
  Mesh mesh;

  (void)state;
  assert_success(MeshCreateBall(vector3(0, 0, 0), 1, 0.3, &mesh));
  assert_int_equal(mesh->element_count, 20 * 16);
  assert_int_equal(mesh->vertex_count, 10 * 16 + 2);
  for (PetscInt n = 0; n < mesh->vertex_count; n++)
    assert_near(vector3_norm(mesh->vertices[n]), 1, 1e-15);
  assert_success(MeshDestroy(&mesh));
}

static void a_disc_of_22_rings_has_1500_vertices_and_faces_up(void **state)
{
  Mesh mesh;

  (void)state;
  assert_success(MeshCreateDisc(vector3(0, 0, 0), vector3(0, 0, 1), 1, 1. / 22, &mesh));
  assert_in_range(mesh->vertex_count, 1400, 1700);
  assert_is_sound(mesh, MESH_IN_PLANE);
  assert_near(measure_within_boundary(mesh), mesh_measure(mesh), 1e-12);
  assert_success(MeshDestroy(&mesh));
}

static void a_sheet_has_its_area_and_faces_along_cross_across(void **state)
{
  const PetscInt cells[] = {8, 5};
  Mesh           mesh;

  (void)state;
  assert_success(MeshCreateSheet(vector3(1, 1, 0), vector3(2, 0, 0), vector3(0.5, 1, 0), cells, &mesh));
  assert_int_equal(mesh->element_count, 80);
  assert_is_sound(mesh, MESH_IN_PLANE);
  assert_boundary_is_closed(mesh);
  assert_int_equal(euler_characteristic(mesh), 1);
  assert_near(mesh_measure(mesh), 2, 1e-14);
  assert_near(measure_within_boundary(mesh), 2, 1e-13);
  assert_success(MeshDestroy(&mesh));
}

static void a_line_has_its_length(void **state)
{
  Mesh mesh;

  (void)state;
  assert_success(MeshCreateLine(vector3(0, 0, 0), vector3(3, 4, 0), 7, &mesh));
  assert_is_sound(mesh, MESH_IN_SPACE);
  assert_near(mesh_measure(mesh), 5, 1e-14);
  assert_int_equal(euler_characteristic(mesh), 1);
  assert_success(MeshDestroy(&mesh));
}

static void profiles_that_cross_the_axis_are_refused(void **state)
{
  const MeshProfilePoint through[] = {{1, 0}, {0, 1}, {1, 2}}, twice[] = {{1, 0}, {1, 0}};
  Mesh                   mesh;

  (void)state;
  assert_refused(
      MeshCreateRevolution(vector3(0, 0, 0), vector3(0, 0, 1), MESH_PROFILE_PATH, 3, through, 0.1, &mesh));
  assert_refused(
      MeshCreateRevolution(vector3(0, 0, 0), vector3(0, 0, 1), MESH_PROFILE_PATH, 2, twice, 0.1, &mesh));
}

TEST_MAIN(cmocka_unit_test(surfaces_are_sound_and_have_their_topology),
          cmocka_unit_test(areas_and_volumes_converge_at_second_order),
          cmocka_unit_test(edges_have_about_the_length_that_was_asked_for),
          cmocka_unit_test(a_geodesic_sphere_has_its_numbers),
          cmocka_unit_test(a_disc_of_22_rings_has_1500_vertices_and_faces_up),
          cmocka_unit_test(a_sheet_has_its_area_and_faces_along_cross_across),
          cmocka_unit_test(a_line_has_its_length), cmocka_unit_test(profiles_that_cross_the_axis_are_refused))
