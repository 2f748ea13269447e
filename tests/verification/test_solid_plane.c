/* Plane solids of triangles against published results: E1, E2, E4 and E6 of the validation cases. */
#include "gmsh_file.h"
#include "scene_run.h"
#include "scratch.h"
#include "solid_case.h"

#include "solid/deformable/points.h"

/* The last mesh as a plane one of cells[0] x cells[1] rectangles, halved. */
static SolidMaterialConfig *add_rectangle(SolidCase *solids, PetscReal length, PetscReal height,
                                          PetscReal edge, PetscInt order)
{
  SolidMaterialConfig *material =
      solid_case_add_mesh(solids, vector3(0, 0, 0), vector3(length, height, 1), edge);
  SolidMeshConfig *mesh = &solids->meshes[0];

  assert_success(ShapeDestroy(&mesh->mesh.shape));
  mesh->mesh.use = MESH_USE_PLANAR;
  mesh->mesh.order = order;
  mesh->mesh.sheet = (MeshSheetConfig){.along = vector3(length, 0, 0), .across = vector3(0, height, 0)};
  return material;
}

/* The point nearest to a place at rest. */
static PetscInt point_at(Solid solid, PetscReal x, PetscReal y)
{
  PetscReal least = PETSC_MAX_REAL;
  PetscInt  found = 0;

  for (PetscInt p = 0; p < solid->points->count; p++) {
    const PetscReal far = vector3_norm(vector3_subtract(solid->points->rest[p], vector3(x, y, 0)));

    if (far < least) {
      least = far;
      found = p;
    }
  }
  return found;
}

static Vector3 moved(Solid solid, PetscReal x, PetscReal y)
{
  const PetscInt p = point_at(solid, x, y);

  return vector3_subtract(solid->points->position[p], solid->points->rest[p]);
}

static void hold_left(SolidCase *solids)
{
  solid_case_hold(solids, vector3(-1, -1e3, -1), vector3(1e-6, 1e3, 1), -1);
}

static void solve(SolidCase *solids)
{
  solids->config.elasticity = ELASTIC_STATIC;
  solid_case_start(solids);
  solid_case_run(solids, 1, 1);
  assert_false(solid_report(solids->solid).is_unsolved);
}

static Vector3 in_trapezoid(PetscReal u, PetscReal w)
{
  return vector3(48 * u, 44 * u * (1 - w) + w * (44 + 16 * u), 0);
}

/* From the cylinder of radius 0.05 to its end. */
static Vector3 in_flag(PetscReal u, PetscReal w)
{
  const PetscReal y = 0.02 * w, left = PetscSqrtReal(0.0025 - PetscSqr(y - 0.01)) - 0.05;

  return vector3(left + u * (0.35 - left), y, 0);
}

/* A square of cells that a map takes elsewhere becomes the mesh of a file. */
static void take_mapped(SolidCase *solids, const PetscInt cells[2], Vector3 (*map)(PetscReal u, PetscReal w))
{
  static char        path[512];
  const GmshFileKind kind = {2, GMSH_FILE_TEXT, 1};
  SolidMeshConfig   *config = &solids->meshes[0];
  Mesh               mesh;

  assert_success(MeshCreateSheet(vector3(0, 0, 0), vector3(1, 0, 0), vector3(0, 1, 0), cells, &mesh));
  for (PetscInt v = 0; v < mesh->vertex_count; v++)
    mesh->vertices[v] = map(mesh->vertices[v].at[X], mesh->vertices[v].at[Y]);
  snprintf(path, sizeof(path), "%s", scratch_path("mesh.msh"));
  write_gmsh_file(path, &kind, mesh);
  assert_success(MeshDestroy(&mesh));
  config->mesh.sheet = (MeshSheetConfig){.radius = 0};
  config->mesh.edge = 0;
  config->mesh.file = path;
}

/* Cook's membrane: sag at a height of its right edge. */
static PetscReal cook(PetscInt n, PetscInt order, PlaneKind stress, PetscReal y)
{
  SolidCase           *solids = solid_case_new(0);
  SolidMaterialConfig *material = add_rectangle(solids, 48, 44, 1, order);
  SolidMeshConfig     *mesh = &solids->meshes[0];
  const PetscInt       cells[] = {n, n};
  PetscReal            sag;

  take_mapped(solids, cells, in_trapezoid);
  mesh->stress = stress;
  material->model = MATERIAL_LINEAR;
  material->young = stress == PLANE_STRESS ? 1 : 70;
  material->poisson = 1. / 3.;
  hold_left(solids);
  solid_case_load(solids, vector3(47.99, 40, -1), vector3(49, 70, 1),
                  vector3(0, stress == PLANE_STRESS ? 1 : 100, 0));
  solve(solids);
  sag = moved(solids->solid, 48, y).at[Y];
  solid_case_free(solids);
  return sag;
}

/* E6: 23.965 in plane stress at (48, 52), 32.263 in plane strain at the corner (own Q9 elements, 64 x 64). */
static void cooks_membrane_sags_as_published(void **state)
{
  const PetscReal fine = cook(32, 2, PLANE_STRESS, 52), strain = cook(32, 2, PLANE_STRAIN, 60);
  const PetscReal exact = 23.965;
  const PetscReal errors[] = {cook(4, 2, PLANE_STRESS, 52) / exact - 1,
                              cook(8, 2, PLANE_STRESS, 52) / exact - 1,
                              cook(16, 2, PLANE_STRESS, 52) / exact - 1};
  const PetscReal linear = cook(32, 1, PLANE_STRESS, 52) / exact - 1;

  (void)state;
  note("E6: %.4f (%.2f %%) and %.4f (%.2f %%); at 4, 8, 16 cells %.2f, %.2f, %.2f %%, linear at 32 %.2f %%",
       (double)fine, (double)(100 * (fine / exact - 1)), (double)strain,
       (double)(100 * (strain / 32.2628 - 1)), (double)(100 * errors[0]), (double)(100 * errors[1]),
       (double)(100 * errors[2]), (double)(100 * linear));
  assert_near(fine / exact, 1, 0.01);
  assert_near(strain / 32.2628, 1, 0.01);
  assert_true(PetscAbsReal(errors[0]) > 1.5 * PetscAbsReal(errors[1]));
  assert_true(PetscAbsReal(errors[1]) > 1.5 * PetscAbsReal(errors[2]));
}

/* E2: a cantilever bent by a force of fixed direction at its end (Bisshopp and Drucker). */
static void the_elastica_bends_as_published(void **state)
{
  const PetscReal cases[][3] = {{0.5, 0.16214358, 0.015918962},
                                {1, 0.30172077, 0.056433236},
                                {2, 0.49345748, 0.16064172},
                                {5, 0.71379152, 0.38762836}};

  (void)state;
  for (PetscInt k = 0; k < 4; k++) {
    const PetscReal      height = 0.02, young = 1e6;
    SolidCase           *solids = solid_case_new(0);
    SolidMaterialConfig *material = add_rectangle(solids, 1, height, height, 2);
    Vector3              tip;

    material->young = young;
    material->poisson = 0;
    solids->meshes[0].stress = PLANE_STRESS;
    hold_left(solids);
    solid_case_load(solids, vector3(0.9999, -1, -1), vector3(1.1, 1, 1),
                    vector3(0, cases[k][0] * young * PetscPowReal(height, 3) / 12, 0));
    solve(solids);
    tip = moved(solids->solid, 1, height / 2);
    note("E2: alpha %g: w %.5f (%.2f %%), u %.5f (%.2f %%), %d iterations", (double)cases[k][0],
         (double)tip.at[Y], (double)(100 * (tip.at[Y] / cases[k][1] - 1)), (double)-tip.at[X],
         (double)(100 * (-tip.at[X] / cases[k][2] - 1)), (int)solid_report(solids->solid).newton_iterations);
    assert_near(tip.at[Y] / cases[k][1], 1, 0.02);
    assert_near(-tip.at[X] / cases[k][2], 1, 0.02);
    solid_case_free(solids);
  }
}

/* The flag of Turek and Hron under gravity alone. */
static SolidCase *new_flag(void)
{
  SolidCase           *solids = solid_case_new(0);
  SolidMaterialConfig *material = add_rectangle(solids, 0.35, 0.02, 0.01, 2);
  const PetscInt       cells[] = {35, 2};

  take_mapped(solids, cells, in_flag);
  solids->config.gravity = vector3(0, -2, 0);
  material->model = MATERIAL_ST_VENANT_KIRCHHOFF;
  material->young = 1.4e6;
  material->poisson = 0.4;
  hold_left(solids);
  return solids;
}

/* E4, CSM1: the end sags by (-7.187, -66.10) mm. */
static void a_flag_sags_as_published(void **state)
{
  SolidCase *solids = new_flag();
  Vector3    end;

  (void)state;
  solve(solids);
  end = moved(solids->solid, 0.35, 0.01);
  note("E4, CSM1: %.3f, %.2f mm (%.2f, %.2f %%), %d iterations", (double)(1e3 * end.at[X]),
       (double)(1e3 * end.at[Y]), (double)(100 * (end.at[X] / -7.187e-3 - 1)),
       (double)(100 * (end.at[Y] / -66.1e-3 - 1)), (int)solid_report(solids->solid).newton_iterations);
  assert_near(end.at[X] / -7.187e-3, 1, 0.025);
  assert_near(end.at[Y] / -66.10e-3, 1, 0.025);
  solid_case_free(solids);
}

/* E4, CSM3: it swings with 1.0995 Hz, -14.305 +- 14.305 and -63.607 +- 65.160 mm. */
static void a_flag_swings_as_published(void **state)
{
  SolidCase      *solids = new_flag();
  const PetscReal dt = 0.01;
  PetscReal       low = 0, high = 0, left = 0, first = 0, before = 0, y = 0;

  (void)state;
  solids->config.elasticity = ELASTIC_NEWMARK;
  solid_case_start(solids);
  for (PetscInt k = 1; k <= 110; k++) {
    Vector3 end;

    solid_case_run(solids, dt, 1);
    end = moved(solids->solid, 0.35, 0.01);
    before = y;
    y = end.at[Y];
    low = PetscMin(low, y);
    left = PetscMin(left, end.at[X]);
    if (k > 50 && y > before) /* on its way back */
      high = PetscMax(high, y);
    if (!(first > 0) && before > -63.607e-3 && y <= -63.607e-3)
      first = dt * ((PetscReal)k - (y + 63.607e-3) / (y - before));
    else if (before < -63.607e-3 && y >= -63.607e-3) { /* half a period after it went down */
      first = dt * ((PetscReal)k - (y + 63.607e-3) / (y - before)) - first;
    }
  }
  note("E4, CSM3: %.3f, %.2f to %.2f mm, %.4f Hz", (double)(1e3 * left), (double)(1e3 * low),
       (double)(1e3 * high), (double)(0.5 / first));
  assert_near(left / -28.61e-3, 1, 0.025);
  assert_near((high - low) / (2 * 65.160e-3), 1, 0.025);
  assert_near(0.5 * (high + low) / -63.607e-3, 1, 0.025);
  assert_near(0.5 / first / 1.0995, 1, 0.025);
  solid_case_free(solids);
}

/* E1: P L^3 / 3 E I, L = 10 h, of quadratic and of linear triangles. */
static void a_cantilever_sags_as_a_beam(void **state)
{
  PetscReal sags[2];

  (void)state;
  for (PetscInt order = 1; order <= 2; order++) {
    SolidCase           *solids = solid_case_new(0);
    SolidMaterialConfig *material = add_rectangle(solids, 1, 0.1, 0.1 / 3, order);

    material->model = MATERIAL_LINEAR;
    material->young = 1e6;
    material->poisson = 0;
    solids->meshes[0].stress = PLANE_STRESS;
    hold_left(solids);
    solid_case_load(solids, vector3(0.9999, -1, -1), vector3(1.1, 1, 1), vector3(0, 1, 0));
    solve(solids);
    sags[order - 1] = moved(solids->solid, 1, 0.05).at[Y] / (1 / (3 * 1e6 * 1e-3 / 12));
    solid_case_free(solids);
  }
  note("E1: sag over that of a beam %.4f with quadratic, %.4f with linear elements", (double)sags[1],
       (double)sags[0]);
  assert_near(sags[1], 1, 0.02); /* of which shear is 0.6 % */
}

/* E1: the first three modes of a slender cantilever, L = 30 h, beta L = 1.87510, 4.69409, 7.85476: half a
   period after a push in the shape of the mode its part in the displacement is zero. Returns the period over
   that of a beam. */
static PetscReal mode_period(PetscInt mode)
{
  const PetscReal      wave[] = {1.8751041, 4.6940911, 7.8547574}, ratio[] = {0.734096, 1.018467, 0.999224};
  const PetscReal      b = wave[mode], young = 2e6, h = 1. / 30;
  const PetscReal      period = 2 * PETSC_PI / (b * b * PetscSqrtReal(young * h * h / 12 / 1000));
  SolidCase           *solids = solid_case_new(0);
  SolidMaterialConfig *material = add_rectangle(solids, 1, h, h, 2);
  PetscReal            part[2] = {0, 0}, *shape;
  PetscInt             steps = 0;
  Points              *points;

  material->young = young;
  solids->meshes[0].stress = PLANE_STRESS;
  solids->config.elasticity = ELASTIC_NEWMARK;
  solids->config.newton = 10;
  hold_left(solids);
  solid_case_start(solids);
  points = solids->solid->points;
  assert_success(PetscMalloc1(points->count, &shape));
  for (PetscInt p = 0; p < points->count; p++) {
    const PetscReal x = b * points->rest[p].at[X];

    shape[p] = PetscCoshReal(x) - PetscCosReal(x) - ratio[mode] * (PetscSinhReal(x) - PetscSinReal(x));
    points->velocity[p].at[Y] = points->inverse_mass[p] > 0 ? 1e-3 * h / period * shape[p] : 0;
  }
  do {
    solid_case_run(solids, period / 100, 1);
    part[0] = part[1];
    part[1] = 0;
    for (PetscInt p = 0; p < points->count; p++)
      part[1] += points->mass[p] * shape[p] * (points->position[p].at[Y] - points->rest[p].at[Y]);
    steps++;
  } while (!(steps > 10 && part[1] <= 0) && steps < 100);
  assert_success(PetscFree(shape));
  solid_case_free(solids);
  return 2 * ((PetscReal)steps - part[1] / (part[1] - part[0])) / 100;
}

static void cantilevers_swing_in_their_modes(void **state)
{
  (void)state;
  for (PetscInt mode = 0; mode < 3; mode++) {
    const PetscReal period = mode_period(mode);

    note("E1: mode %d: period over that of a beam %.4f", (int)mode + 1, (double)period);
    assert_near(period, 1, 0.03);
  }
}

TEST_MAIN(cmocka_unit_test(cantilevers_swing_in_their_modes), in_scratch(cooks_membrane_sags_as_published),
          cmocka_unit_test(the_elastica_bends_as_published), in_scratch(a_flag_sags_as_published),
          in_scratch(a_flag_swings_as_published), cmocka_unit_test(a_cantilever_sags_as_a_beam))
