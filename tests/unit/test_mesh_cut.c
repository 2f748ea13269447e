/* Meshes cut by planes: components, volumes, surfaces. */
#include <math.h>
#include "mesh.h"

static Mesh new_cube(PetscInt cells, MeshBoxPattern pattern)
{
  const PetscInt count[] = {cells, cells, cells};
  Mesh           mesh;

  assert_success(MeshCreateBox(vector3(0, 0, 0), vector3(1, 1, 1), count, pattern, &mesh));
  return mesh;
}

static PetscReal volume_of(const MeshCut *cut)
{
  PetscReal sum = 0;

  for (PetscInt n = 0; n < cut->mesh->element_count; n++) {
    assert_true(cut->volumes[n] > 0);
    sum += cut->volumes[n];
  }
  return sum;
}

static PetscReal volume_in_surface(Mesh surface)
{
  PetscReal sum = 0;

  for (PetscInt n = 0; n < surface->element_count; n++) {
    const PetscInt *corner = surface->elements + 3 * n;

    sum += vector3_dot(surface->vertices[corner[0]],
                       vector3_cross(surface->vertices[corner[1]], surface->vertices[corner[2]])) /
           6;
  }
  return sum;
}

static void assert_places_are_true(const MeshCut *cut, PetscReal least)
{
  for (PetscInt v = 0; v < cut->surface->vertex_count; v++) {
    const MeshPlace *place = &cut->places[v];
    Vector3          sum = vector3(0, 0, 0);

    for (int c = 0; c < 4; c++) {
      assert_true(place->weights[c] > least);
      sum = vector3_add(sum, vector3_scale(place->weights[c],
                                           cut->mesh->vertices[cut->mesh->elements[4 * place->element + c]]));
    }
    assert_near(vector3_norm(vector3_subtract(sum, cut->surface->vertices[v])), 0, 1e-13);
  }
}

/* What holds of every cut: no volume is lost, the surface is closed around the same volume and lies where its
   places say, the pieces are those of their elements. */
static void assert_is_good(Mesh mesh, const MeshCut *cut)
{
  PetscReal *filled;

  assert_near(volume_of(cut), mesh_measure(mesh), 1e-12 * mesh_measure(mesh));
  assert_near(volume_in_surface(cut->surface), mesh_measure(mesh), 1e-12 * mesh_measure(mesh));
  assert_boundary_is_closed(cut->surface);
  assert_success(PetscCalloc1(mesh->element_count, &filled));
  for (PetscInt n = 0; n < cut->mesh->element_count; n++) {
    filled[cut->origins[n]] += cut->volumes[n];
    assert_near(mesh_element_measure(cut->mesh, n), mesh_element_measure(mesh, cut->origins[n]), 0);
  }
  for (PetscInt n = 0; n < mesh->element_count; n++)
    assert_near(filled[n], mesh_element_measure(mesh, n), 1e-12 * mesh_element_measure(mesh, n));
  assert_places_are_true(cut, -1e-11);
  assert_success(PetscFree(filled));
}

/* Also the surface has that many pieces, each closed. */
static void assert_surface_components(const MeshCut *cut)
{
  PetscInt count, *component;

  assert_success(MeshFindComponents(cut->surface, &count, &component));
  assert_int_equal(count, cut->component_count);
  assert_success(PetscFree(component));
}

/* Figure 2.10 of the thesis: 16 and 16 planes. */
static void the_cube_of_320_tetrahedra_becomes_289_sticks(void **state)
{
  Mesh      mesh = new_cube(4, MESH_BOX_FIVE);
  MeshPlane planes[32];
  MeshCut   cut;
  PetscInt *component, count;
  PetscReal volumes[289] = {0};

  (void)state;
  assert_int_equal(mesh->element_count, 320);
  for (int n = 0; n < 32; n++) {
    const PetscReal at = (PetscReal)(n % 16 + 1) / 17;

    planes[n] =
        (MeshPlane){.point = vector3(at, at, 0), .normal = n < 16 ? vector3(1, 0, 0) : vector3(0, -2, 0)};
  }
  assert_success(MeshCutByPlanes(mesh, 32, planes, &cut));
  assert_int_equal(cut.component_count, 289);
  assert_is_good(mesh, &cut);
  assert_surface_components(&cut);
  assert_int_equal(euler_characteristic(cut.surface), 2 * 289);
  assert_success(MeshFindComponents(cut.mesh, &count, &component));
  for (PetscInt n = 0; n < cut.mesh->element_count; n++)
    volumes[component[cut.mesh->elements[4 * n]]] += cut.volumes[n];
  for (int n = 0; n < 289; n++)
    assert_near(volumes[n], 1. / 289, 1e-15);
  print_message("# %d virtual tetrahedra, %d vertices, %d triangles; volume - 1 = %g\n",
                (int)cut.mesh->element_count, (int)cut.mesh->vertex_count, (int)cut.surface->element_count,
                (double)(volume_of(&cut) - 1));
  assert_success(PetscFree(component));
  assert_success(MeshCutDestroy(&cut));
  assert_success(MeshDestroy(&mesh));
}

/* Between planes both ways, and beside a slanted one, the surface leaves slits as wide as the gap, while the
   material is what it was. */
static void surfaces_stand_back_from_cuts_with_a_gap(void **state)
{
  const PetscReal gap = 0.01;
  Mesh            mesh = new_cube(4, MESH_BOX_FIVE);
  MeshPlane       planes[3] = {{.point = {{0.3, 0, 0}}, .normal = {{2, 0, 0}}},
                               {.point = {{0, 0.62, 0}}, .normal = {{0, -1, 0}}},
                               {.point = {{0.5, 0.5, 0.45}}, .normal = {{0.2, 0.1, 1}}}};
  MeshCut         cut;

  (void)state;
  for (PetscInt n = 0; n < 3; n++)
    planes[n].gap = gap * (PetscReal)(n + 1);
  for (PetscInt count = 2; count <= 3; count++) {
    assert_success(MeshCutByPlanes(mesh, count, planes, &cut));
    assert_int_equal(cut.component_count, 1 << count);
    assert_surface_components(&cut);
    assert_boundary_is_closed(cut.surface);
    assert_places_are_true(&cut, count == 2 ? -1e-11 : -0.15); /* a slanted one leads out of the faces */
    assert_near(volume_of(&cut), 1, 1e-12);
    if (count == 2)
      assert_near(volume_in_surface(cut.surface), (1 - gap) * (1 - 2 * gap), 1e-12);
    for (PetscInt v = 0; v < cut.surface->vertex_count; v++)
      for (PetscInt n = 0; n < count; n++)
        assert_true(PetscAbsReal(vector3_dot(planes[n].normal,
                                             vector3_subtract(cut.surface->vertices[v], planes[n].point))) /
                        vector3_norm(planes[n].normal) >
                    0.5 * planes[n].gap - 1e-12);
    assert_success(MeshCutDestroy(&cut));
  }
  assert_success(MeshDestroy(&mesh));
}

/* Up to where a half plane ends. */
static void a_crack_with_a_gap_is_closed_at_its_end(void **state)
{
  Mesh            mesh = new_cube(4, MESH_BOX_FIVE);
  const MeshPlane plane = {.point = {{0.4, 0, 0}},
                           .normal = {{1, 0, 0}},
                           .end_point = {{0, 0, 0.5}},
                           .end_normal = {{0, 0, 1}},
                           .gap = 0.01};
  MeshCut         cut;

  (void)state;
  assert_success(MeshCutByPlanes(mesh, 1, &plane, &cut));
  assert_int_equal(cut.component_count, 1);
  assert_boundary_is_closed(cut.surface);
  assert_places_are_true(&cut, -1e-11);
  assert_true(volume_in_surface(cut.surface) > 1 - 0.01 * 0.5 - 1e-12 &&
              volume_in_surface(cut.surface) < 1 - 0.01 * 0.25);
  assert_success(MeshCutDestroy(&cut));
  assert_success(MeshDestroy(&mesh));
}

/* The edges that tetrahedra share need no copies: a plane beside the mesh leaves everything as it is. */
static void a_plane_beside_the_mesh_cuts_nothing(void **state)
{
  Mesh            mesh = new_cube(2, MESH_BOX_BCC);
  const MeshPlane plane = {.point = {{2, 0, 0}}, .normal = {{1, 0, 0}}};
  MeshCut         cut;

  (void)state;
  assert_success(MeshCutByPlanes(mesh, 1, &plane, &cut));
  assert_int_equal(cut.component_count, 1);
  assert_int_equal(cut.mesh->element_count, mesh->element_count);
  assert_int_equal(cut.mesh->vertex_count, mesh->vertex_count);
  assert_is_good(mesh, &cut);
  assert_success(MeshCutDestroy(&cut));
  assert_success(MeshDestroy(&mesh));
}

/* How many combinations of sides of the planes points of a shape have, by trying many. */
static PetscInt count_regions(Shape shape, PetscInt count, const MeshPlane planes[])
{
  PetscBool found[64] = {PETSC_FALSE};
  PetscInt  sum = 0;

  for (int n = 0; n < 64000; n++) {
    const Vector3 point =
        vector3(-1 + 0.0501 * (n % 40), -1 + 0.0502 * (n / 40 % 40), -1 + 0.0503 * (n / 1600));
    int sides = 0;

    if (!shape_is_inside(shape, point))
      continue;
    for (PetscInt p = 0; p < count; p++)
      sides += vector3_dot(planes[p].normal, vector3_subtract(point, planes[p].point)) > 0 ? 1 << p : 0;
    found[sides] = PETSC_TRUE;
  }
  for (int n = 0; n < 64; n++)
    sum += found[n] ? 1 : 0;
  return sum;
}

/* Through faces of cubes, and through edges and vertices of tetrahedra. */
static void planes_may_go_through_vertices_edges_and_faces(void **state)
{
  const MeshPlane planes[] = {{.point = {{0.5, 0.5, 0.5}}, .normal = {{1, 0, 0}}},
                              {.point = {{0.5, 0.5, 0.5}}, .normal = {{0, 1, 1}}},
                              {.point = {{0.5, 0.5, 0.5}}, .normal = {{1, 1, 1}}},
                              {.point = {{0.5, 0.5, 0.5}}, .normal = {{1, -1, 0}}},
                              {.point = {{0.5, 0.5, 0.5}}, .normal = {{0, 0, 1}}}};

  (void)state;
  for (int pattern = MESH_BOX_FIVE; pattern <= MESH_BOX_BCC; pattern++) {
    for (int count = 1; count <= 5; count++) {
      Mesh    mesh = new_cube(4, (MeshBoxPattern)pattern);
      MeshCut cut;
      Shape   cube;

      assert_success(ShapeCreateBox(vector3(0, 0, 0), vector3(1, 1, 1), &cube));
      assert_success(MeshCutByPlanes(mesh, count, planes, &cut));
      assert_is_good(mesh, &cut);
      assert_surface_components(&cut);
      assert_int_equal(cut.component_count, count_regions(cube, count, planes));
      assert_success(ShapeDestroy(&cube));
      assert_success(MeshCutDestroy(&cut));
      assert_success(MeshDestroy(&mesh));
    }
  }
}

/* A half plane up to the middle, where faces of tetrahedra lie: a crack with two sides, still one piece. */
static void a_half_plane_opens_a_crack(void **state)
{
  const MeshPlane plane = {
      .point = {{0, 0, 0.55}}, .normal = {{0, 0, 1}}, .end_point = {{0.5, 0, 0}}, .end_normal = {{1, 0, 0}}};

  (void)state;
  for (int pattern = MESH_BOX_FIVE; pattern <= MESH_BOX_SIX; pattern++) {
    Mesh     mesh = new_cube(4, (MeshBoxPattern)pattern);
    MeshCut  cut;
    PetscInt twice = 0;

    assert_success(MeshCutByPlanes(mesh, 1, &plane, &cut));
    assert_is_good(mesh, &cut);
    assert_int_equal(cut.component_count, 1);
    assert_surface_components(&cut);
    assert_int_equal(euler_characteristic(cut.surface), 2);
    assert_near(mesh_measure(cut.surface), 6 + 2 * 0.5, 1e-12);
    for (PetscInt v = 0; v < cut.surface->vertex_count; v++) {
      for (PetscInt w = 0; w < v; w++) {
        const Vector3 apart = vector3_subtract(cut.surface->vertices[v], cut.surface->vertices[w]);

        twice += vector3_norm(apart) < 1e-12 ? 1 : 0;
        assert_true(vector3_norm(apart) > 1e-12 || cut.surface->vertices[v].at[X] > 0.5);
      }
    }
    assert_true(twice > 10); /* both sides of the crack, but for its end */
    assert_success(MeshCutDestroy(&cut));
    assert_success(MeshDestroy(&mesh));
  }
}

/* Where it ends inside of tetrahedra these stay whole, and still nothing is lost. */
static void a_half_plane_may_end_anywhere(void **state)
{
  const MeshPlane planes[] = {{.point = {{0, 0, 0.55}},
                               .normal = {{0, 0, 1}},
                               .end_point = {{0.4, 0, 0}},
                               .end_normal = {{1, 0.3, 0}}},
                              {.point = {{0.3, 0, 0}},
                               .normal = {{1, 0, 0.1}},
                               .end_point = {{0, 0.6, 0}},
                               .end_normal = {{0, -1, 0.2}}}};

  (void)state;
  for (int count = 1; count <= 2; count++) {
    Mesh    mesh = new_cube(3, MESH_BOX_BCC);
    MeshCut cut;

    assert_success(MeshCutByPlanes(mesh, count, planes, &cut));
    assert_is_good(mesh, &cut);
    assert_int_equal(cut.component_count, 1);
    assert_true(mesh_measure(cut.surface) > 6.5);
    assert_success(MeshCutDestroy(&cut));
    assert_success(MeshDestroy(&mesh));
  }
}

/* What is on the wrong side goes; both sides of nothing is refused by whoever asked. */
static void one_side_is_kept(void **state)
{
  Mesh            mesh = new_cube(3, MESH_BOX_FIVE);
  const MeshPlane planes[] = {{.point = {{0, 0, 0.3}}, .normal = {{0, 0, 1}}, .keep = MESH_KEEP_FRONT},
                              {.point = {{0.6, 0, 0}}, .normal = {{2, 0, 0}}, .keep = MESH_KEEP_BACK}};
  const MeshPlane above = {.point = {{0, 0, 2}}, .normal = {{0, 0, 1}}, .keep = MESH_KEEP_FRONT};
  MeshCut         cut;

  (void)state;
  assert_success(MeshCutByPlanes(mesh, 2, planes, &cut));
  assert_near(volume_of(&cut), 0.7 * 0.6, 1e-12);
  assert_near(volume_in_surface(cut.surface), 0.7 * 0.6, 1e-12);
  assert_success(MeshCutDestroy(&cut));
  assert_success(MeshCutByPlanes(mesh, 1, &above, &cut));
  assert_int_equal(cut.mesh->element_count, 0);
  assert_success(MeshCutDestroy(&cut));
  assert_success(MeshDestroy(&mesh));
}

static void planes_in_general_position_cut_a_ball(void **state)
{
  Shape     shape;
  Mesh      mesh;
  MeshCut   cut, again;
  MeshPlane planes[5];
  char      message[256];

  (void)state;
  assert_success(ShapeCreateSphere(vector3(0, 0, 0), 1, &shape));
  assert_success(MeshCreateStuffed(shape, 0.3, &mesh, message, sizeof message));
  for (int n = 0; n < 5; n++) {
    const Vector3 normal = vector3(sin(1 + 2 * n), cos(3 * n), sin(5 + 7 * n));

    planes[n] = (MeshPlane){.point = vector3_scale(0.07 * (1 + sin(n)), normal), .normal = normal};
  }
  assert_success(MeshCutByPlanes(mesh, 5, planes, &cut));
  assert_is_good(mesh, &cut);
  assert_surface_components(&cut);
  assert_int_equal(cut.component_count, count_regions(shape, 5, planes));
  assert_in_range(cut.component_count, 20, 26);
  assert_success(MeshCutByPlanes(mesh, 5, planes, &again));
  assert_true(are_equal_meshes(cut.mesh, again.mesh) && are_equal_meshes(cut.surface, again.surface));
  assert_success(MeshCutDestroy(&cut));
  assert_success(MeshCutDestroy(&again));
  assert_success(MeshDestroy(&mesh));
  assert_success(ShapeDestroy(&shape));
}

/* The two arms of a U lie on the same side of the plane that cuts its bow away. */
static void parts_on_the_same_side_fall_apart_where_nothing_joins_them(void **state)
{
  const MeshPlane plane = {.point = {{0, 0.3, 0}}, .normal = {{0, 1, 0}}};
  Shape           parts[2], shape;
  Mesh            mesh;
  MeshCut         cut;
  char            message[256];

  (void)state;
  assert_success(ShapeCreateBox(vector3(-1, 0, -0.3), vector3(1, 2, 0.3), &parts[0]));
  assert_success(ShapeCreateBox(vector3(-0.5, 0.6, -1), vector3(0.5, 3, 1), &parts[1]));
  assert_success(ShapeCreateCombination(SHAPE_DIFFERENCE, 2, parts, &shape));
  assert_success(MeshCreateStuffed(shape, 0.15, &mesh, message, sizeof message));
  assert_success(MeshCutByPlanes(mesh, 1, &plane, &cut));
  assert_int_equal(cut.component_count, 2);
  assert_success(MeshCutDestroy(&cut));
  assert_success(MeshCutByPlanes(mesh, 1, &(MeshPlane){.point = {{0, 0.8, 0}}, .normal = {{0, 1, 0}}}, &cut));
  assert_int_equal(cut.component_count, 3);
  assert_is_good(mesh, &cut);
  assert_success(MeshCutDestroy(&cut));
  assert_success(MeshDestroy(&mesh));
  assert_success(ShapeDestroy(&shape));
}

static void other_elements_are_refused(void **state)
{
  Mesh    mesh;
  MeshCut cut;

  (void)state;
  assert_success(MeshCreateLine(vector3(0, 0, 0), vector3(1, 0, 0), 2, &mesh));
  assert_refused(MeshCutByPlanes(mesh, 0, NULL, &cut));
  assert_success(MeshDestroy(&mesh));
}

TEST_MAIN(cmocka_unit_test(a_half_plane_opens_a_crack), cmocka_unit_test(a_half_plane_may_end_anywhere),
          cmocka_unit_test(one_side_is_kept), cmocka_unit_test(the_cube_of_320_tetrahedra_becomes_289_sticks),
          cmocka_unit_test(surfaces_stand_back_from_cuts_with_a_gap),
          cmocka_unit_test(a_crack_with_a_gap_is_closed_at_its_end),
          cmocka_unit_test(a_plane_beside_the_mesh_cuts_nothing),
          cmocka_unit_test(planes_may_go_through_vertices_edges_and_faces),
          cmocka_unit_test(planes_in_general_position_cut_a_ball),
          cmocka_unit_test(parts_on_the_same_side_fall_apart_where_nothing_joins_them),
          cmocka_unit_test(other_elements_are_refused))
