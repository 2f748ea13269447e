/* Solids that yield, in time and in equilibrium; E8 of the validation cases. */
#include "harness.h"
#include "scene_run.h"
#include "solid_case.h"
#include "solids.h"

#include "solid/deformable/points.h"

static SolidMaterialConfig *add_yielding(SolidCase *solids, Vector3 low, Vector3 high, PetscReal edge)
{
  SolidMaterialConfig *material = solid_case_add_mesh(solids, low, high, edge);

  material->model = MATERIAL_HENCKY;
  material->yield_stress = 2e3;
  material->hardening = 1e4;
  return material;
}

static void stretch(Solid solid, PetscReal factor)
{
  for (PetscInt p = 0; p < solid->points->count; p++)
    solid->points->position[p].at[X] = factor * solid->points->rest[p].at[X];
  solid->points->has_forces = PETSC_FALSE;
}

static PetscReal energy_and_work(const SolidReport *report)
{
  return report->kinetic_energy + report->elastic_energy + report->plastic_work;
}

/* A turning bar, stretched beyond its yield stress and let go: the plastic work grows, is what the other
   energies lose, and ends; both momenta stay. */
static void plastic_work_is_what_motion_loses(void **state)
{
  (void)state;
  for (PetscInt implicit = 0; implicit < 2; implicit++) {
    SolidCase  *solids = solid_case_new(0);
    SolidReport first, last, now;
    PetscReal   scale;

    add_yielding(solids, vector3(-0.5, -0.1, -0.1), vector3(0.5, 0.1, 0.1), 0.1);
    solids->config.elasticity = implicit ? ELASTIC_NEWMARK : ELASTIC_EXPLICIT;
    solids->config.newton = 20;
    solids->meshes[0].spin = vector3(0, 3, 2);
    solid_case_start(solids);
    for (PetscInt p = 0; p < solids->solid->points->count; p++)
      solids->solid->points->velocity[p].at[X] += 2 * solids->solid->points->rest[p].at[X];
    first = last = solid_report(solids->solid);
    scale = 40 * vector3_norm(vector3(0.5, 1, 1));
    for (PetscInt k = 0; k < (implicit ? 60 : 400); k++) {
      solid_case_run(solids, implicit ? 5e-3 : 2e-3, 1);
      assert_false(solid_report(solids->solid).is_unsolved);
      now = solid_report(solids->solid);
      assert_true(now.plastic_work >= last.plastic_work && now.plastic_strain >= last.plastic_strain);
      assert_near(energy_and_work(&now) / energy_and_work(&first), 1, implicit ? 0.03 : 0.01);
      if (!implicit)
        assert_near(vector3_norm(vector3_subtract(now.angular_momentum, last.angular_momentum)) / scale, 0,
                    1e-12);
      last = now;
    }
    note("%s: plastic work %.3f of the energy at the start, largest plastic strain %.3f",
         implicit ? "newmark" : "explicit", (double)(last.plastic_work / energy_and_work(&first)),
         (double)last.plastic_strain);
    assert_true(last.plastic_work > 0.2 * energy_and_work(&first));
    solid_case_free(solids);
  }
}

/* A step that is given up leaves nothing behind: the same bits after it as without it. */
static void returning_takes_the_plastic_state_back(void **state)
{
  PetscReal length[2] = {0, 0};

  (void)state;
  for (PetscInt tries = 0; tries < 2; tries++) {
    SolidCase *solids = solid_case_new(0);

    add_yielding(solids, vector3(-0.5, -0.1, -0.1), vector3(0.5, 0.1, 0.1), 0.1);
    solid_case_start(solids);
    stretch(solids->solid, 1.1);
    solid_case_run(solids, 0.01, 2);
    assert_true(solid_report(solids->solid).plastic_strain > 0.01);
    if (tries) {
      assert_success(SolidKeep(solids->solid));
      assert_success(SolidStep(solids->solid, solids->time, 0.05));
      assert_success(SolidReturn(solids->solid));
    }
    solid_case_run(solids, 0.01, 5);
    length[tries] = solids->solid->points->position[0].at[X];
    solid_case_free(solids);
  }
  assert_true(length[0] == length[1]);
}

/* A square of 10 x 10 cells of E8's material. */
static SolidCase *new_square(PlaneKind stress)
{
  SolidCase           *solids = solid_case_new(0);
  SolidMaterialConfig *material = solid_case_add_mesh(solids, vector3(0, 0, 0), vector3(1, 1, 1), 0.1);
  SolidMeshConfig     *mesh = &solids->meshes[0];

  assert_success(ShapeDestroy(&mesh->mesh.shape));
  mesh->mesh.use = MESH_USE_PLANAR;
  mesh->mesh.sheet = (MeshSheetConfig){.along = vector3(1, 0, 0), .across = vector3(0, 1, 0)};
  mesh->stress = stress;
  *material = (SolidMaterialConfig){.name = material->name,
                                    .model = MATERIAL_HENCKY,
                                    .young = 1e6,
                                    .poisson = 0.3,
                                    .density = 1000,
                                    .yield_stress = 2e4};
  return solids;
}

/* What the rim is moved to, by x += gradient X; the inside finds its equilibrium. Returns the force along
   `direction` on the upper side, whose length is 1. */
static PetscReal stress_above(SolidCase *solids, const Matrix3 *gradient, PetscInt direction)
{
  Points   *points = solids->solid->points;
  Vector3  *f;
  PetscReal sum = 0;

  for (PetscInt k = 0; k < points->carried_count; k++) {
    const PetscInt p = points->carried[k];

    points->arm[p] = vector3_add(points->rest[p], matrix3_apply(gradient, points->rest[p]));
  }
  solid_case_run(solids, 1, 1);
  assert_false(solid_report(solids->solid).is_unsolved);
  assert_success(PetscCalloc1(points->count, &f));
  points->meshes[0].forces[0].kind->add_elastic(points->meshes[0].forces[0].data, points->position, f);
  for (PetscInt p = 0; p < points->count; p++)
    sum -= points->rest[p].at[Y] > 0.999 ? f[p].at[direction] : 0;
  assert_success(PetscFree(f));
  return sum;
}

static SolidCase *new_held_square(void)
{
  SolidCase *solids = new_square(PLANE_STRAIN);

  solid_case_hold(solids, vector3(-1, -1, -1), vector3(1e-6, 2, 1), -1);
  solid_case_hold(solids, vector3(1 - 1e-6, -1, -1), vector3(2, 2, 1), -1);
  solid_case_hold(solids, vector3(-1, -1, -1), vector3(2, 1e-6, 1), -1);
  solid_case_hold(solids, vector3(-1, 1 - 1e-6, -1), vector3(2, 2, 1), -1);
  solids->config.elasticity = ELASTIC_STATIC;
  solids->config.newton = 50;
  solid_case_start(solids);
  return solids;
}

static PetscReal squeeze(SolidCase *solids, PetscReal strain)
{
  const Matrix3 gradient = {{{0, 0, 0}, {0, -strain, 0}, {0, 0, 0}}};

  return -stress_above(solids, &gradient, Y);
}

/* E8: confined compression: the modulus 1.34615e6 Pa, then 8.3333e5 Pa from 3.5e4 Pa on. Those are of small
   strains; Kirchhoff's stress over the logarithmic strain has the slope exactly. */
static void confined_squares_yield_as_theory_says(void **state)
{
  SolidCase      *solids = new_held_square();
  const PetscReal modulus = squeeze(solids, 0.001) / 0.001;
  PetscReal       yield = 0, late[2], slope;

  (void)state;
  for (PetscReal strain = 0.02; !(solid_report(solids->solid).plastic_strain > 0); strain += 0.0005)
    yield = squeeze(solids, strain);
  late[0] = squeeze(solids, 0.035);
  late[1] = squeeze(solids, 0.045);
  slope = (0.955 * late[1] - 0.965 * late[0]) / PetscLogReal(0.965 / 0.955);
  note("E8: confined modulus %.4g (%.2f %%), yield %.4g (%.2f %%), slope %.4g (%.2f %%)", (double)modulus,
       (double)(100 * (modulus / 1346153.8 - 1)), (double)yield, (double)(100 * (yield / 35000 - 1)),
       (double)slope, (double)(100 * (slope / 833333.33 - 1)));
  assert_near(modulus / 1346153.8, 1, 0.03);
  assert_near(yield / 35000, 1, 0.05);
  assert_near(slope / 833333.33, 1, 1e-6);
  solid_case_free(solids);
}

/* E8: simple shear: the modulus 3.84615e5 Pa up to 1.1547e4 Pa. */
static void sheared_squares_yield_as_theory_says(void **state)
{
  SolidCase *solids = new_held_square();
  Matrix3    gradient = {{{0, 0.001, 0}, {0, 0, 0}, {0, 0, 0}}};
  PetscReal  modulus, yield;

  (void)state;
  modulus = stress_above(solids, &gradient, X) / 0.001;
  gradient.at[X][Y] = 0.06;
  yield = stress_above(solids, &gradient, X);
  note("E8: shear modulus %.4g (%.2f %%), yield %.5g (%.2f %%)", (double)modulus,
       (double)(100 * (modulus / 384615.38 - 1)), (double)yield, (double)(100 * (yield / 11547.005 - 1)));
  assert_near(modulus / 384615.38, 1, 0.03);
  assert_near(yield / 11547.005, 1, 0.05);
  solid_case_free(solids);
}

/* E8: between two plates without friction, of which the upper one comes down by 5 % and goes back: 3 % stay.
 */
static void squeezed_blocks_keep_their_set(void **state)
{
  SolidCase     *solids = new_square(PLANE_STRESS);
  const PetscInt steps = 50;
  BodyConfig    *plate;
  PetscReal      above = 0, below = 1, set, modulus = 0;

  const Keyframe keyframes[] = {{.time = 0, .translation = {{0, 0, 0}}},
                                {.time = 10, .translation = {{0, -0.05, 0}}},
                                {.time = 20, .translation = {{0, 0, 0}}}};

  (void)state;
  solid_case_add_plane(solids, vector3(0, 0, 0), vector3(0, 1, 0));
  plate = solid_case_add_box(solids, vector3(0.5, 1.1, 0), vector3(2, 0.1, 1), vector3(0, 0, 0));
  plate->kind = BODY_KINEMATIC;
  assert_success(MotionCreateKeyframes(vector3(0, 0, 0), 3, keyframes, &plate->motion));
  solids->config.elasticity = ELASTIC_BACKWARD_EULER;
  solids->config.newton = 50;
  solids->config.tolerance = 1e-3;
  solid_case_start(solids);
  for (PetscInt k = 0; k < 2 * steps; k++) {
    solid_case_run(solids, 10. / (PetscReal)steps, 1);
    assert_false(solid_report(solids->solid).is_unsolved);
    if (k == 14)
      modulus = 2 * solid_report(solids->solid).elastic_energy / PetscSqr(0.015);
  }
  for (PetscInt p = 0; p < solids->solid->points->count; p++) {
    above = PetscMax(above, solids->solid->points->position[p].at[Y]);
    below = PetscMin(below, solids->solid->points->position[p].at[Y]);
  }
  set = 1 - (above - below);
  note("E8: Young's modulus %.4g (%.2f %%), set %.4f (%.2f %%)", (double)modulus,
       (double)(100 * (modulus / 1e6 - 1)), (double)set, (double)(100 * (set / 0.03 - 1)));
  assert_near(modulus / 1e6, 1, 0.03);
  assert_near(set / 0.03, 1, 0.05);
  solid_case_free(solids);
}

/* Steel needs shorter steps than jelly by the ratio of the speeds of sound; a scene's own material goes
   first; clay yields. */
static void usual_materials_have_names(void **state)
{
  static const char *const names[] = {"steel", "jelly", "jelly"};
  PetscReal                steps[3];

  (void)state;
  for (PetscInt k = 0; k < 3; k++) {
    SolidCase *solids = solid_case_new(0);

    solid_case_add_mesh(solids, vector3(0, 0, 0), vector3(0.4, 0.2, 0.2), 0.1);
    solids->meshes[0].material = (char *)names[k];
    solids->materials[0] = *solid_find_material(&solids->config, names[k]);
    solids->materials[0].name = k == 2 ? "jelly" : "m0";
    solids->materials[0].young *= k == 2 ? 4 : 1;
    solid_case_start(solids);
    steps[k] = solid_longest_substep(solids->solid);
    assert_false(solid_can_yield(solids->solid));
    solid_case_free(solids);
  }
  assert_true(steps[1] / steps[0] > 800 && steps[1] / steps[0] < 1200);
  assert_near(steps[2] / steps[1], 0.5, 1e-12);
  assert_true(solid_find_material(&(SolidConfig){0}, "clay")->yield_stress > 0);
  assert_null(solid_find_material(&(SolidConfig){0}, "unobtainium"));
}

TEST_MAIN(cmocka_unit_test(usual_materials_have_names), cmocka_unit_test(plastic_work_is_what_motion_loses),
          cmocka_unit_test(returning_takes_the_plastic_state_back),
          cmocka_unit_test(confined_squares_yield_as_theory_says),
          cmocka_unit_test(sheared_squares_yield_as_theory_says),
          cmocka_unit_test(squeezed_blocks_keep_their_set))
