/* Meshes from their description, and what is wrong with a description. */
#include <millrace/mesh_config.h>
#include <string.h>
#include "mesh.h"

static char message[512];

static const SchemaKey keys[] = {MILLRACE_MESH_KEYS(0), {0}};

/* With the defaults of the table. */
static MeshConfig new_config(MeshUse use)
{
  MeshConfig config = {0};

  assert_success(ConfigSetDefaults(keys, &config));
  config.use = use;
  return config;
}

static void destroy_config(MeshConfig *config)
{
  assert_success(ConfigDestroyDefaults(keys, config));
  assert_success(ShapeDestroy(&config->shape));
}

static Mesh create(const MeshConfig *config)
{
  Mesh mesh;

  assert_success(MeshCreateFromConfig(config, &mesh, message, sizeof message));
  assert_string_equal(message, "");
  return mesh;
}

static void refused(const MeshConfig *config, const char why[])
{
  Mesh mesh;

  assert_success(MeshCreateFromConfig(config, &mesh, message, sizeof message));
  assert_null(mesh);
  if (!strstr(message, why))
    fail_msg("\"%s\" does not say \"%s\"", message, why);
}

static void defaults_are_those_of_the_table(void **state)
{
  MeshConfig config = new_config(MESH_USE_VOLUME);

  (void)state;
  assert_int_equal(config.order, 1);
  assert_int_equal(config.fill, MESH_FILL_AUTO);
  assert_string_equal(config.file, "");
  destroy_config(&config);
}

static void a_box_is_made_of_cubes_where_it_is(void **state)
{
  MeshConfig config = new_config(MESH_USE_VOLUME);
  Shape      box;
  Vector3    low, high;
  Mesh       mesh;

  (void)state;
  assert_success(ShapeCreateBox(vector3(0, 0, 0), vector3(1, 2, 1), &box));
  assert_success(ShapeCreatePlaced(&box, 1, vector3(0, 0, PETSC_PI / 2), vector3(5, 0, 0), &config.shape));
  config.edge = 0.24;
  mesh = create(&config);
  assert_int_equal(mesh->element_count, 4 * 8 * 4 * 5);
  assert_near(mesh_config_elements(&config), 5 * 2 / (0.24 * 0.24 * 0.24), 1e-9);
  mesh_bounds(mesh, &low, &high);
  assert_near(low.at[X], 3, 1e-14);
  assert_near(high.at[Y], 1, 1e-14);
  assert_success(MeshDestroy(&mesh));
  config.fill = MESH_FILL_BCC;
  config.order = 2;
  mesh = create(&config);
  assert_int_equal(mesh->order, 2);
  assert_near(mesh_measure(mesh), 2, 1e-12);
  assert_success(MeshDestroy(&mesh));
  destroy_config(&config);
}

static void a_ball_is_stuffed_covered_skinned_or_a_cloud(void **state)
{
  MeshConfig      config = new_config(MESH_USE_VOLUME);
  const PetscReal volume = 4 * PETSC_PI / 3;
  Mesh            mesh;

  (void)state;
  assert_success(ShapeCreateSphere(vector3(1, 0, 0), 1, &config.shape));
  config.edge = 0.2;
  mesh = create(&config);
  assert_near(mesh_measure(mesh), volume, 0.02 * volume);
  assert_success(MeshDestroy(&mesh));
  config.fill = MESH_FILL_LATTICE;
  mesh = create(&config);
  assert_true(mesh_measure(mesh) > volume);
  assert_success(MeshDestroy(&mesh));
  config.use = MESH_USE_CLOUD;
  mesh = create(&config);
  assert_near((PetscReal)mesh->element_count, 2 * volume / 0.008, 40);
  assert_success(MeshDestroy(&mesh));
  config.use = MESH_USE_CLOTH;
  mesh = create(&config);
  assert_int_equal(mesh->kind, MESH_TRIANGLES);
  assert_near(mesh_measure(mesh), 4 * PETSC_PI, 0.2);
  assert_success(MeshDestroy(&mesh));
  destroy_config(&config);
}

/* What is left covers the shape as before, with less around it, and hangs together. */
static void a_refined_lattice_leaves_out_what_is_empty(void **state)
{
  MeshConfig       config = new_config(MESH_USE_VOLUME);
  MeshRefineConfig refine = {.levels = 2};
  MeshJunctions    junctions;
  Mesh             mesh;
  PetscReal        filled = 0, farthest = 0;

  (void)state;
  assert_success(ShapeCreateSphere(vector3(0, 0, 0), 0.5, &config.shape));
  assert_success(ShapeCreateBox(vector3(0, -2, -2), vector3(2, 2, 2), &refine.inside));
  config.fill = MESH_FILL_LATTICE;
  config.edge = 0.4;
  config.surface_edge = 0.05;
  config.refine_count = 1;
  config.refine = &refine;
  mesh = create(&config);
  for (PetscInt e = 0; e < mesh->element_count; e++) {
    filled += mesh->filled[e] * mesh_element_measure(mesh, e);
    if (mesh_element_centre(mesh, e).at[X] > 0.2)
      farthest = PetscMax(farthest, vector3_norm(mesh_element_centre(mesh, e)));
  }
  assert_near(filled, PETSC_PI / 6, 0.01 * PETSC_PI / 6);
  assert_true(farthest < 0.5 + 0.1); /* a smaller cube's edge from the surface */
  assert_true(mesh->surface->element_count > 20 * 4 * 4);
  for (PetscInt v = 0; v < mesh->surface->vertex_count; v++)
    assert_near(mesh->places[v].distance, 0, 1e-9);
  assert_success(MeshFindJunctions(mesh, &junctions));
  assert_true(junctions.count > 0);
  for (PetscInt k = 0; k < junctions.first[junctions.count]; k++)
    assert_true(junctions.parents[k] < mesh->vertex_count);
  assert_success(MeshJunctionsDestroy(&junctions));
  assert_success(MeshDestroy(&mesh));
  config.fill = MESH_FILL_STUFFED;
  refused(&config, "\"surface_edge\" is for an embedded surface");
  config.refine_count = 0;
  config.refine = NULL;
  assert_success(ShapeDestroy(&refine.inside));
  destroy_config(&config);
}

/* Skins are closed, face outwards, and have the volume of their shape. */
static void every_shape_has_a_skin(void **state)
{
  Shape           shapes[7], parts[2];
  const PetscReal volumes[] = {4 * PETSC_PI / 3,
                               1,
                               PETSC_PI * 0.25,
                               PETSC_PI * 0.25 * (1 + 2. / 3),
                               PETSC_PI / 12,
                               2 * PETSC_PI * PETSC_PI * 0.09,
                               0.5};
  const Vector3   zero = vector3(0, 0, 0), one = vector3(1, 1, 1), up = vector3(0, 0, 1);

  (void)state;
  assert_success(ShapeCreateSphere(zero, 1, &shapes[0]));
  assert_success(ShapeCreateBox(zero, one, &shapes[1]));
  assert_success(ShapeCreateCylinder(zero, up, 0.5, &shapes[2]));
  assert_success(ShapeCreateCapsule(zero, up, 0.5, &shapes[3]));
  assert_success(ShapeCreateCone(zero, up, 0.5, &shapes[4]));
  assert_success(ShapeCreateTorus(one, one, 1, 0.3, &shapes[5]));
  assert_success(ShapeCreateBox(zero, one, &parts[0]));
  assert_success(ShapeCreatePlane(vector3(0, 0, 0.5), up, &parts[1]));
  assert_success(ShapeCreateCombination(SHAPE_INTERSECTION, 2, parts, &shapes[6]));
  for (int n = 0; n < 7; n++) {
    Mesh      mesh;
    PetscReal sum = 0;

    assert_success(MeshCreateSkin(shapes[n], 0.05, &mesh, message, sizeof message));
    assert_string_equal(message, "");
    assert_boundary_is_closed(mesh);
    for (PetscInt t = 0; t < mesh->element_count; t++) {
      const PetscInt *corner = mesh->elements + 3 * t;

      sum += vector3_dot(mesh->vertices[corner[0]],
                         vector3_cross(mesh->vertices[corner[1]], mesh->vertices[corner[2]])) /
             6;
    }
    assert_near(sum, volumes[n], 0.02 * volumes[n]);
    assert_success(MeshDestroy(&mesh));
    assert_success(ShapeDestroy(&shapes[n]));
  }
}

static void sheets_ropes_and_profiles_are_made(void **state)
{
  MeshProfilePoint bag[] = {{0, -0.2}, {0.2, 0}, {0.2, 1}};
  MeshConfig       config = new_config(MESH_USE_PLANAR);
  Mesh             mesh;

  (void)state;
  config.edge = 0.1;
  config.sheet = (MeshSheetConfig){.along = vector3(1, 0, 0), .across = vector3(0, 0.5, 0)};
  mesh = create(&config);
  assert_int_equal(mesh->element_count, 100);
  assert_success(MeshDestroy(&mesh));
  config.use = MESH_USE_ROPE;
  mesh = create(&config);
  assert_int_equal(mesh->element_count, 10);
  assert_success(MeshDestroy(&mesh));
  config.use = MESH_USE_CLOTH;
  config.sheet = (MeshSheetConfig){.radius = 1, .normal = vector3(0, 0, 1)};
  mesh = create(&config);
  assert_near(mesh_measure(mesh), PETSC_PI, 0.02);
  assert_success(MeshDestroy(&mesh));
  config.sheet = (MeshSheetConfig){.radius = 1, .along = vector3(0, 0, 1)};
  mesh = create(&config);
  assert_near(mesh_measure(mesh), 2 * PETSC_PI, 0.02);
  assert_success(MeshDestroy(&mesh));
  config.sheet = (MeshSheetConfig){0};
  config.profile = (MeshProfileConfig){.axis = vector3(0, 0, 1), .point_count = 3, .points = bag};
  mesh = create(&config);
  assert_int_equal(euler_characteristic(mesh), 1);
  assert_success(MeshDestroy(&mesh));
  bag[1].radius = 0;
  refused(&config, "point 1 of the profile lies on the axis");
  config.profile = (MeshProfileConfig){0};
  destroy_config(&config);
}

static void parts_are_refined(void **state)
{
  MeshConfig       config = new_config(MESH_USE_PLANAR);
  MeshRefineConfig refine = {.levels = 2};
  MeshJunctions    junctions;
  Mesh             mesh;

  (void)state;
  config.edge = 0.25;
  config.sheet = (MeshSheetConfig){.along = vector3(1, 0, 0), .across = vector3(0, 1, 0)};
  assert_success(ShapeCreateBox(vector3(0, 0, -1), vector3(0.5, 0.5, 1), &refine.inside));
  config.refine_count = 1;
  config.refine = &refine;
  mesh = create(&config);
  assert_int_equal(mesh->element_count, 24 + 8 * 16);
  assert_success(MeshFindJunctions(mesh, &junctions));
  assert_int_equal(junctions.count, 2 * 2 * 3);
  assert_success(MeshJunctionsDestroy(&junctions));
  assert_success(MeshDestroy(&mesh));
  config.order = 2;
  refused(&config, "a shorter edge or \"order: 1\"");
  assert_success(ShapeDestroy(&refine.inside));
  config.refine_count = 0;
  config.refine = NULL;
  destroy_config(&config);
}

static void cuts_that_miss_or_leave_nothing_are_told(void **state)
{
  MeshConfig    config = new_config(MESH_USE_VOLUME);
  MeshCutConfig cut = {.point = {{0, 0, 0.4}}, .normal = {{0, 0, 3}}, .count = 1};
  Mesh          mesh;

  (void)state;
  assert_success(ShapeCreateBox(vector3(0, 0, 0), vector3(1, 1, 1), &config.shape));
  config.edge = 0.5;
  config.cuts = &cut;
  config.cut_count = 1;
  mesh = create(&config);
  assert_true(mesh->filled && mesh->surface && mesh->places);
  assert_success(MeshDestroy(&mesh));
  cut.point.at[Z] = 2;
  refused(&config, "cut 0 passes beside it");
  cut.keep = MESH_KEEP_FRONT;
  refused(&config, "its cuts leave nothing of it");
  cut.gap = 0.01;
  refused(&config, "to a side that is left out");
  cut = (MeshCutConfig){.normal = {{0, 0, 1}}, .count = 3, .step = 0.1, .gap = 0.1};
  refused(&config, "as wide as its \"step\"");
  config.cut_count = 0;
  config.cuts = NULL;
  destroy_config(&config);
}

static void descriptions_that_cannot_be_are_told(void **state)
{
  MeshConfig config = new_config(MESH_USE_VOLUME);
  char       none[] = "none.msh";
  char      *empty = config.file;

  (void)state;
  refused(&config, "nothing says what it is");
  assert_success(ShapeCreateSphere(vector3(0, 0, 0), 1, &config.shape));
  refused(&config, "give \"edge\"");
  config.edge = 0.1;
  config.fill = MESH_FILL_FIVE;
  refused(&config, "\"fill: five\" is for boxes");
  config.fill = MESH_FILL_AUTO;
  config.edge = 1e-4;
  refused(&config, "make its edge of 0.0001 m longer");
  config.edge = 100;
  refused(&config, "make its edge of 100 m shorter");
  config.file = none;
  refused(&config, "described more than once");
  assert_success(ShapeDestroy(&config.shape));
  refused(&config, "cannot be opened");
  config.file = empty;
  config.sheet.along = vector3(1, 0, 0);
  refused(&config, "give \"type: cloth\"");
  config.use = MESH_USE_CLOUD;
  refused(&config, "needs a shape or a file");
  config.use = MESH_USE_CLOTH;
  config.edge = 0.1;
  refused(&config, "is flat"); /* across is missing */
  destroy_config(&config);
}

TEST_MAIN(cmocka_unit_test(defaults_are_those_of_the_table),
          cmocka_unit_test(a_box_is_made_of_cubes_where_it_is),
          cmocka_unit_test(a_ball_is_stuffed_covered_skinned_or_a_cloud),
          cmocka_unit_test(a_refined_lattice_leaves_out_what_is_empty),
          cmocka_unit_test(every_shape_has_a_skin), cmocka_unit_test(sheets_ropes_and_profiles_are_made),
          cmocka_unit_test(parts_are_refined), cmocka_unit_test(cuts_that_miss_or_leave_nothing_are_told),
          cmocka_unit_test(descriptions_that_cannot_be_are_told))
