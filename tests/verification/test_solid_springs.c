/* Ropes, cloth with bending and solids of springs, in time and in equilibrium. */
#include "harness.h"
#include "scene_run.h"
#include "solid_case.h"
#include "solids.h"

#include "solid/deformable/points.h"

/* From one place to another, of `count` segments, 2 cm thick: 1e6 Pa, 1000 kg/m^3. */
static SolidMaterialConfig *add_rope(SolidCase *solids, Vector3 from, Vector3 to, PetscInt count)
{
  const Vector3        along = vector3_subtract(to, from);
  SolidMaterialConfig *material =
      solid_case_add_mesh(solids, vector3(0, 0, 0), vector3(1, 1, 1), vector3_norm(along) / (PetscReal)count);
  SolidMeshConfig *mesh = &solids->meshes[solids->config.mesh_count - 1];

  assert_success(ShapeDestroy(&mesh->mesh.shape));
  mesh->mesh.use = MESH_USE_ROPE;
  mesh->mesh.sheet = (MeshSheetConfig){.origin = from, .along = along};
  mesh->thickness = 0.02;
  material->model = MATERIAL_SPRINGS;
  material->young = 1e6;
  return material;
}

static void hold_near(SolidCase *solids, Vector3 place, PetscInt body)
{
  const Vector3 half = vector3(0.01, 0.01, 0.01);

  solid_case_hold(solids, vector3_subtract(place, half), vector3_add(place, half), body);
}

/* Under its own weight a rope is longer by rho g L^2 / 2 E: lumped masses have that exactly, but that the
   half of the first segment whose end is held hangs at the other. */
static void a_hanging_rope_has_its_length(void **state)
{
  const PetscReal length = 2, sag = 1000 * 9.81 * length * length / (2 * 1e6);
  SolidCase      *solids = solid_case_new(9.81);

  (void)state;
  add_rope(solids, vector3(0, 0, 0), vector3(0, 0, -length), 20)->damping = 0.05;
  hold_near(solids, vector3(0, 0, 0), -1);
  solids->config.elasticity = ELASTIC_BACKWARD_EULER;
  solids->config.newton = 20;
  solid_case_start(solids);
  solid_case_run(solids, 0.5, 20);
  assert_near((-length - solids->solid->points->position[20].at[Z]) / sag, 1 + 1. / 400, 1e-6);
  assert_near(solids->solid->points->mass[10] / (1000 * 0.25 * PETSC_PI * 4e-4 * 0.1), 1, 1e-12);
  solid_case_free(solids);
}

/* a with 2 a sinh(span / 2 a) = length. */
static PetscReal catenary(PetscReal span, PetscReal length)
{
  PetscReal low = 0.01, high = 100;

  for (PetscInt k = 0; k < 200; k++) {
    const PetscReal a = 0.5 * (low + high);

    if (2 * a * PetscSinhReal(span / (2 * a)) > length)
      low = a;
    else
      high = a;
  }
  return low;
}

/* One end is brought nearer to the other: what hangs between them is a catenary. */
static void a_slack_rope_is_a_catenary(void **state)
{
  const PetscReal a = catenary(0.7, 1);
  const Keyframe  keyframes[] = {{.time = 0, .translation = {{0, 0, 0}}},
                                 {.time = 2, .translation = {{-0.3, 0, 0}}}};
  SolidCase      *solids = solid_case_new(9.81);
  BodyConfig     *hand;
  PetscReal       lowest = 0;

  (void)state;
  hand = solid_case_add_box(solids, vector3(1.05, 0, 0), vector3(0.05, 0.05, 0.05), vector3(0, 0, 0));
  hand->kind = BODY_KINEMATIC;
  assert_success(MotionCreateKeyframes(vector3(0, 0, 0), 2, keyframes, &hand->motion));
  add_rope(solids, vector3(0, 0, 0), vector3(1, 0, 0), 40)->young = 1e8;
  solids->materials[0].damping = 0.01;
  hold_near(solids, vector3(0, 0, 0), -1);
  hold_near(solids, vector3(1, 0, 0), 0);
  solids->config.elasticity = ELASTIC_BACKWARD_EULER;
  solids->config.newton = 100;
  solid_case_start(solids);
  solid_case_run(solids, 0.02, 300);
  assert_false(solid_report(solids->solid).is_unsolved);
  for (PetscInt p = 0; p < solids->solid->points->count; p++)
    lowest = PetscMin(lowest, solids->solid->points->position[p].at[Z]);
  note("a catenary hangs by %.5f, of the curve %.5f", (double)-lowest,
       (double)(a * (PetscCoshReal(0.35 / a) - 1)));
  assert_near(-lowest / (a * (PetscCoshReal(0.35 / a) - 1)), 1, 0.01);
  solid_case_free(solids);
}

/* Free ropes, cloth with bending and volumes of springs with altitudes keep both momenta in every step. */
static void what_is_made_of_springs_keeps_both_momenta(void **state)
{
  (void)state;
  for (PetscInt k = 0; k < 3; k++) {
    SolidCase           *solids = solid_case_new(0);
    SolidMaterialConfig *material;
    SolidMeshConfig     *mesh = &solids->meshes[0];
    PetscReal            scale = 0;
    uint64_t             seed = 5;

    if (k == 0)
      material = add_rope(solids, vector3(0, 0, 0), vector3(1, 0.2, 0), 12);
    else
      material = solid_case_add_mesh(solids, vector3(0, 0, 0), vector3(0.4, 0.2, 0.2), 0.1);
    if (k == 1) {
      assert_success(ShapeDestroy(&mesh->mesh.shape));
      mesh->mesh.use = MESH_USE_CLOTH;
      mesh->mesh.sheet = (MeshSheetConfig){.along = vector3(1, 0, 0), .across = vector3(0, 0.5, 0)};
      mesh->thickness = 0.002;
      material->bending = 1e-3;
    }
    material->model = MATERIAL_SPRINGS;
    material->altitude = k == 2 ? 0.5 : 0;
    material->damping = 0.002;
    mesh->velocity = vector3(1, 2, 3);
    mesh->spin = vector3(1, 2, 2);
    solid_case_start(solids);
    for (PetscInt p = 0; p < solids->solid->points->count; p++) {
      solids->solid->points->velocity[p] =
          vector3_add(solids->solid->points->velocity[p], vector3_scale(0.3, random_direction(&seed)));
      scale += solids->solid->points->mass[p] * vector3_norm(solids->solid->points->velocity[p]);
    }
    for (PetscInt n = 0; n < 50; n++) {
      const SolidReport before = solid_report(solids->solid);
      SolidReport       after;

      solid_case_run(solids, solid_longest_substep(solids->solid), 1);
      after = solid_report(solids->solid);
      assert_near(vector3_norm(vector3_subtract(after.momentum, before.momentum)) / scale, 0, 1e-12);
      assert_near(vector3_norm(vector3_subtract(after.angular_momentum, before.angular_momentum)) / scale, 0,
                  1e-12);
      assert_true(after.kinetic_energy + after.elastic_energy <=
                  (before.kinetic_energy + before.elastic_energy) * 1.05);
    }
    solid_case_free(solids);
  }
}

/* A strip of cloth that is clamped at one end hangs by q L^4 / 8 D (1 + 1/n)^2, of n hinges one behind the
   other. Without bending it would hang down. */
static void a_strip_of_cloth_bends_as_a_plate(void **state)
{
  const PetscReal  length = 1, rigidity = 2;
  SolidCase       *solids = solid_case_new(0.1);
  SolidMeshConfig *mesh = &solids->meshes[0];
  PetscReal        sag = 0, weight, plate;

  (void)state;
  solid_case_add_mesh(solids, vector3(0, 0, 0), vector3(1, 1, 1), 0.05);
  assert_success(ShapeDestroy(&mesh->mesh.shape));
  mesh->mesh.use = MESH_USE_CLOTH;
  mesh->mesh.sheet = (MeshSheetConfig){
      .origin = vector3(-0.05, 0, 0), .along = vector3(1.05, 0, 0), .across = vector3(0, 0.2, 0)};
  mesh->thickness = 0.01;
  solids->materials[0].young = 1e7;
  solids->materials[0].poisson = 0;
  solids->materials[0].bending = 2;
  solid_case_hold(solids, vector3(-1, -1, -1), vector3(0.01, 1, 1), -1);
  solids->config.elasticity = ELASTIC_STATIC;
  solids->config.newton = 100;
  solid_case_start(solids);
  solid_case_run(solids, 1, 1);
  assert_false(solid_report(solids->solid).is_unsolved);
  for (PetscInt p = 0; p < solids->solid->points->count; p++)
    sag = PetscMax(sag, -solids->solid->points->position[p].at[Z]);
  weight = 1000 * 0.01 * 0.1;
  plate = PetscSqr(1 + 1. / 20) * weight * PetscPowRealInt(length, 4) / (8 * rigidity);
  note("a strip sags by %.5f, straight hinges by %.5f", (double)sag, (double)plate);
  assert_near(sag / plate, 1, 0.005);
  solid_case_free(solids);
}

/* Held at its rim a disc sags by q R^4 (5 + nu) / 64 (1 + nu) D. */
static void a_disc_sags_as_a_plate(void **state)
{
  (void)state;
  for (PetscInt k = 0; k < 2; k++) {
    const PetscReal  poisson = 0.4 * (PetscReal)k, weight = 1000 * 0.01 * 0.01;
    const PetscReal  plate = weight * (5 + poisson) / (64 * (1 + poisson) * 2);
    SolidCase       *solids = solid_case_new(0.01);
    SolidMeshConfig *mesh = &solids->meshes[0];
    PetscReal        sag = 0;

    solid_case_add_mesh(solids, vector3(0, 0, 0), vector3(1, 1, 1), 0.1);
    assert_success(ShapeDestroy(&mesh->mesh.shape));
    mesh->mesh.use = MESH_USE_CLOTH;
    mesh->mesh.sheet = (MeshSheetConfig){.normal = vector3(0, 0, 1), .radius = 1};
    mesh->thickness = 0.01;
    solids->materials[0].young = 1e4;
    solids->materials[0].poisson = poisson;
    solids->materials[0].bending = 2;
    solid_case_hold(solids, vector3(0, 0, 0), vector3(1, 1, 1), -1);
    assert_success(ShapeDestroy(&mesh->held[0].inside));
    assert_success(ShapeCreateTorus(vector3(0, 0, 0), vector3(0, 0, 1), 1, 0.01, &mesh->held[0].inside));
    solids->config.elasticity = ELASTIC_STATIC;
    solids->config.newton = 100;
    solid_case_start(solids);
    solid_case_run(solids, 1, 1);
    assert_false(solid_report(solids->solid).is_unsolved);
    for (PetscInt p = 0; p < solids->solid->points->count; p++)
      sag = PetscMax(sag, -solids->solid->points->position[p].at[Z]);
    note("a disc sags by %.6f, a plate by %.6f", (double)sag, (double)plate);
    assert_near(sag / plate, 1, 0.04);
    solid_case_free(solids);
  }
}

/* A bar whose ends fly apart slowly, damped in either way; the sum of squared velocities after some swings.
 */
static PetscReal ring_damped(ElasticTime elasticity, PetscReal viscous, PetscReal rayleigh, PetscReal drag)
{
  SolidCase           *solids = solid_case_new(0);
  SolidMaterialConfig *material = solid_case_add_mesh(solids, vector3(0, 0, 0), vector3(1, 0.2, 0.2), 0.1);
  PetscReal            sum = 0;
  Points              *points;

  material->damping = viscous;
  material->stiffness_damping = rayleigh;
  material->mass_damping = drag;
  solids->config.elasticity = elasticity;
  solid_case_start(solids);
  points = solids->solid->points;
  for (PetscInt p = 0; p < points->count; p++)
    points->velocity[p] = vector3(1e-4 * (points->rest[p].at[X] - 0.5), 0, 0);
  solid_case_run(solids, 2e-3, 200);
  for (PetscInt p = 0; p < points->count; p++)
    sum += points->mass[p] * vector3_dot(points->velocity[p], points->velocity[p]);
  sum += 2 * solid_report(solids->solid).elastic_energy;
  solid_case_free(solids);
  return sum;
}

/* Where strains are small viscous stress is that of the stiffness; a drag takes half of the energy of a mode
   as fast as that of what moves. */
static void rayleigh_damps_as_its_coefficients_say(void **state)
{
  const ElasticTime times[] = {ELASTIC_EXPLICIT, ELASTIC_NEWMARK, ELASTIC_BACKWARD_EULER};

  (void)state;
  for (PetscInt k = 0; k < 3; k++) {
    const PetscReal free = ring_damped(times[k], 0, 0, 0), viscous = ring_damped(times[k], 2e-3, 0, 0);
    const PetscReal rayleigh = ring_damped(times[k], 0, 2e-3, 0), drag = ring_damped(times[k], 0, 0, 2.5);

    note("energy over that without damping: %g viscous, %g of stiffness, %g of drag",
         (double)(viscous / free), (double)(rayleigh / free), (double)(drag / free));
    assert_true(viscous < 0.9 * free);
    assert_near(rayleigh / viscous, 1, 1e-3);
    assert_near(drag / free, PetscExpReal(-1), 0.05);
  }
}

/* Drawn out along x, of tetrahedra and cloth; turned besides. */
static void strains_are_those_of_the_stretch(void **state)
{
  (void)state;
  for (PetscInt k = 0; k < 2; k++) {
    SolidCase       *solids = solid_case_new(0);
    SolidMeshConfig *mesh = &solids->meshes[0];
    Points          *points;
    PetscReal       *strains;

    solid_case_add_mesh(solids, vector3(0, 0, 0), vector3(1, 0.5, 0.5), 0.25);
    if (k) {
      assert_success(ShapeDestroy(&mesh->mesh.shape));
      mesh->mesh.use = MESH_USE_CLOTH;
      mesh->mesh.sheet = (MeshSheetConfig){.along = vector3(1, 0, 0), .across = vector3(0, 0.5, 0)};
      mesh->thickness = 0.01;
    }
    solid_case_start(solids);
    points = solids->solid->points;
    for (PetscInt p = 0; p < points->count; p++) {
      const Vector3 x = points->rest[p];

      points->position[p] = vector3(-x.at[Y], 1.25 * x.at[X], x.at[Z]);
    }
    assert_success(PetscMalloc1(points->meshes[0].mesh->element_count, &strains));
    mesh_strains(points, &points->meshes[0], strains);
    for (PetscInt e = 0; e < points->meshes[0].mesh->element_count; e++)
      assert_near(strains[e], PetscLogReal(1.25), 1e-12);
    assert_success(PetscFree(strains));
    solid_case_free(solids);
  }
}

static void add_fibres(SolidCase *solids, FibreConfig *fibres, const char stress[])
{
  char message[256] = "";

  *fibres = (FibreConfig){.direction = vector3(2, 0, 0)};
  assert_success(FormulaCreate(stress, &fibres->stress, message, sizeof(message)));
  assert_string_equal(message, "");
  solids->meshes[0].fibres = fibres;
  solids->meshes[0].fibre_count = 1;
}

/* Without Poisson's ratio a corotational bar is shorter by s / E. */
static void fibres_shorten_a_bar_by_their_stress(void **state)
{
  (void)state;
  for (PetscInt order = 1; order <= 2; order++) {
    SolidCase           *solids = solid_case_new(0);
    SolidMaterialConfig *material = solid_case_add_mesh(solids, vector3(0, 0, 0), vector3(1, 0.2, 0.2), 0.1);
    FibreConfig          fibres;
    PetscReal            end = 0;

    material->model = MATERIAL_COROTATIONAL;
    material->poisson = 0;
    solids->meshes[0].mesh.order = order;
    add_fibres(solids, &fibres, "2e4 * t");
    solid_case_hold(solids, vector3(-1, -1, -1), vector3(0.001, 1, 1), -1);
    solids->config.elasticity = ELASTIC_STATIC;
    solids->config.newton = 30;
    solid_case_start(solids);
    for (PetscInt k = 1; k <= 2; k++) { /* 0.5 and 1 s */
      solid_case_run(solids, 0.5, 1);
      assert_false(solid_report(solids->solid).is_unsolved);
      end = 0;
      for (PetscInt p = 0; p < solids->solid->points->count; p++)
        end = PetscMax(end, solids->solid->points->position[p].at[X]);
      assert_near(end, 1 - 0.1 * (PetscReal)k, 1e-8);
    }
    assert_success(FormulaDestroy(&fibres.stress));
    solid_case_free(solids);
  }
}

/* A free bar with fibres that wake after a while: nothing moves before, both momenta stay, and explicit and
   implicit steps agree. */
static void fibres_wake_and_keep_momenta(void **state)
{
  PetscReal length[2];

  (void)state;
  for (PetscInt implicit = 0; implicit < 2; implicit++) {
    SolidCase           *solids = solid_case_new(0);
    SolidMaterialConfig *material =
        solid_case_add_mesh(solids, vector3(0, 0, 0), vector3(0.6, 0.2, 0.2), 0.1);
    FibreConfig fibres;
    PetscReal   low = 1, high = 0;
    SolidReport report;

    material->damping = 0.01;
    add_fibres(solids, &fibres, "2e4 * (t > 0.1) * (1 - cos(20 * (t - 0.1)))");
    assert_success(ShapeCreateBox(vector3(-1, -1, 0.1), vector3(1, 1, 1),
                                  &fibres.inside)); /* the upper half: it bends */
    solids->config.elasticity = implicit ? ELASTIC_NEWMARK : ELASTIC_EXPLICIT;
    solids->config.newton = 20;
    solid_case_start(solids);
    solid_case_run(solids, 2e-3, 50);
    assert_near(solid_report(solids->solid).kinetic_energy, 0, 1e-20);
    solid_case_run(solids, 2e-3, 50);
    report = solid_report(solids->solid);
    assert_true(report.kinetic_energy > 1e-2);
    assert_near(vector3_norm(report.momentum), 0, implicit ? 1e-7 : 1e-12);
    assert_near(vector3_norm(report.angular_momentum), 0, implicit ? 1e-3 : 1e-12);
    for (PetscInt p = 0; p < solids->solid->points->count; p++) {
      low = PetscMin(low, solids->solid->points->position[p].at[X]);
      high = PetscMax(high, solids->solid->points->position[p].at[X]);
    }
    length[implicit] = high - low;
    assert_success(ShapeDestroy(&fibres.inside));
    assert_success(FormulaDestroy(&fibres.stress));
    solid_case_free(solids);
  }
  note("with fibres %.5f long by explicit and %.5f by implicit steps", (double)length[0], (double)length[1]);
  assert_true(length[0] < 0.59);
  assert_near(length[1] / length[0], 1, 2e-3);
}

/* A rope falls on a floor and lies there. */
static void a_rope_lies_on_the_floor(void **state)
{
  SolidCase *solids = solid_case_new(9.81);

  (void)state;
  solid_case_add_plane(solids, vector3(0, 0, 0), vector3(0, 0, 1));
  add_rope(solids, vector3(0, 0, 0.1), vector3(1, 0, 0.3), 10)->damping = 0.005;
  solid_case_start(solids);
  solid_case_run(solids, 0.02, 50);
  for (PetscInt p = 0; p < solids->solid->points->count; p++)
    assert_near(solids->solid->points->position[p].at[Z], 0, 2e-3);
  solid_case_free(solids);
}

static void what_springs_cannot_be_is_refused(void **state)
{
  static const char *const words[] = {"a rope is made of springs", "order: 1", "is for cloth",
                                      "model: springs", "needs a \"thickness\""};

  (void)state;
  for (PetscInt k = 0; k < 5; k++) {
    SolidCase           *solids = solid_case_new(0);
    SolidMaterialConfig *material =
        k == 0 || k == 4 ? add_rope(solids, vector3(0, 0, 0), vector3(1, 0, 0), 5)
                         : solid_case_add_mesh(solids, vector3(0, 0, 0), vector3(1, 1, 1), 0.5);
    char message[512] = "";

    if (k == 0)
      material->model = MATERIAL_NEO_HOOKEAN;
    if (k == 1) {
      material->model = MATERIAL_SPRINGS;
      solids->meshes[0].mesh.order = 2;
    }
    material->bending = k == 2 ? 1 : 0;
    material->altitude = k == 3 ? 1 : 0;
    if (k == 4)
      solids->meshes[0].thickness = 0;
    assert_success(SolidCreate(PETSC_COMM_WORLD, &solids->config, &solids->solid, message, sizeof(message)));
    assert_null(solids->solid);
    assert_non_null(strstr(message, words[k]));
    solid_case_free(solids);
  }
}

TEST_MAIN(cmocka_unit_test(a_hanging_rope_has_its_length), cmocka_unit_test(a_slack_rope_is_a_catenary),
          cmocka_unit_test(what_is_made_of_springs_keeps_both_momenta),
          cmocka_unit_test(a_strip_of_cloth_bends_as_a_plate), cmocka_unit_test(a_disc_sags_as_a_plate),
          cmocka_unit_test(rayleigh_damps_as_its_coefficients_say),
          cmocka_unit_test(strains_are_those_of_the_stretch), cmocka_unit_test(a_rope_lies_on_the_floor),
          cmocka_unit_test(fibres_shorten_a_bar_by_their_stress),
          cmocka_unit_test(fibres_wake_and_keep_momenta), cmocka_unit_test(what_springs_cannot_be_is_refused))
