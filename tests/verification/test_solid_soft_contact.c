/* Deformable solids against bodies: rest, friction, momentum, bodies that stand on them. */
#include "harness.h"
#include "scene_run.h"
#include "solid_case.h"

#include "solid/contact/point_contact.h"

static const PetscReal g = 9.81;

static PetscReal lowest(Solid solid)
{
  PetscReal low = PETSC_MAX_REAL;

  for (PetscInt p = 0; p < solid->points->count; p++)
    low = PetscMin(low, solid->points->position[p].at[Z]);
  return low;
}

/* A block on a plane, which gravity is turned against. */
static SolidCase *new_block(PetscReal slope, PetscReal friction, PetscReal young, PetscReal damping)
{
  SolidCase           *solids = solid_case_new(g);
  SolidMaterialConfig *material;

  solids->config.gravity = vector3(g * PetscSinReal(slope), 0, -g * PetscCosReal(slope));
  solid_case_add_plane(solids, vector3(0, 0, 0), vector3(0, 0, 1))->friction = friction;
  material = solid_case_add_mesh(solids, vector3(-0.1, -0.1, 0), vector3(0.1, 0.1, 0.2), 0.04);
  material->young = young;
  material->damping = damping;
  solids->meshes[0].friction = friction;
  return solids;
}

static void a_soft_block_comes_to_rest_on_the_floor(void **state)
{
  SolidCase  *solids = new_block(0, 0, 1e5, 5e-3);
  SolidReport report;

  (void)state;
  solids->meshes[0].velocity = vector3(0, 0, -2);
  solid_case_start(solids);
  for (PetscInt k = 0; k < 20; k++) {
    solid_case_run(solids, 0.1, 1);
    assert_true(lowest(solids->solid) >= -1e-6);
  }
  report = solid_report(solids->solid);
  assert_true(report.largest_speed < 1e-3);
  /* a column under its own weight: rho^2 g^2 A h^3 / 6E, where the floor lets it widen */
  note("elastic energy over that of a column %g",
       (double)(report.elastic_energy / (PetscSqr(1000 * g) * 0.04 * 0.008 / (6 * 1e5))));
  assert_near(report.elastic_energy / (PetscSqr(1000 * g) * 0.04 * 0.008 / (6 * 1e5)), 1, 0.05);
  solid_case_free(solids);
}

/* C1: a = g (sin - mu cos) where that is positive, or none. */
static void a_soft_block_slides_as_coulomb_says(void **state)
{
  const PetscReal slopes[] = {10, 30, 30, 30}, frictions[] = {0.05, 0.05, 0.3, 0.5}, from = 0.1, time = 0.3;

  (void)state;
  for (PetscInt k = 0; k < 4; k++) {
    const PetscReal slope = slopes[k] * PETSC_PI / 180;
    const PetscReal expected = g * (PetscSinReal(slope) - frictions[k] * PetscCosReal(slope));
    SolidCase      *solids = new_block(slope, frictions[k], 1e6, 1e-3);
    PetscReal       start, speed;

    solid_case_start(solids);
    solid_case_run(solids, from, 1);
    start = points_mean_velocity(solids->solid).at[X];
    solid_case_run(solids, time, 1);
    speed = points_mean_velocity(solids->solid).at[X];
    note("slope %g, friction %g: acceleration %g of %g", (double)slopes[k], (double)frictions[k],
         (double)((speed - start) / time), (double)expected);
    assert_near((speed - start) / time / expected, 1, 0.03);
    solid_case_free(solids);
  }
}

static void a_soft_block_that_sticks_does_not_creep(void **state)
{
  const PetscReal slopes[] = {10, 30}, frictions[] = {0.4, 0.8};

  (void)state;
  for (PetscInt k = 0; k < 2; k++) {
    SolidCase *solids = new_block(slopes[k] * PETSC_PI / 180, frictions[k], 1e6, 5e-3);
    Vector3    before;

    solid_case_start(solids);
    solid_case_run(solids, 1, 1);
    before = solids->solid->points->position[0];
    solid_case_run(solids, 1, 1);
    note("slope %g: drift %g m/s", (double)slopes[k],
         (double)vector3_norm(vector3_subtract(solids->solid->points->position[0], before)));
    assert_true(vector3_norm(vector3_subtract(solids->solid->points->position[0], before)) < 1e-6);
    solid_case_free(solids);
  }
}

/* Without gravity a soft block meets a rigid ball: what one loses the other takes. */
static void momentum_passes_between_soft_and_rigid(void **state)
{
  SolidCase  *solids = solid_case_new(0);
  SolidReport start, end;

  (void)state;
  solid_case_add_sphere(solids, vector3(0.5, 0.02, 0.1), 0.15)->friction = 0.4;
  solid_case_add_mesh(solids, vector3(-0.1, -0.1, 0), vector3(0.1, 0.1, 0.2), 0.04)->damping = 1e-3;
  solids->meshes[0].velocity = vector3(3, 0, 0);
  solids->meshes[0].friction = 0.4;
  solid_case_start(solids);
  start = solid_report(solids->solid);
  solid_case_run(solids, 0.05, 8);
  end = solid_report(solids->solid);
  assert_true(solid_case_velocity(solids, 0).at[X] > 0.2);
  assert_true(points_mean_velocity(solids->solid).at[X] < 2.8);
  assert_near(vector3_norm(vector3_subtract(end.momentum, start.momentum)) / vector3_norm(start.momentum), 0,
              1e-11);
  assert_true(end.kinetic_energy + end.elastic_energy < start.kinetic_energy);
  solid_case_free(solids);
}

/* A rigid box stands on a soft one: its weight goes through, and both are at rest. */
static void a_rigid_box_stands_on_a_soft_one(void **state)
{
  SolidCase *solids = new_block(0, 0, 2e5, 1e-2);
  PetscReal  sunk;

  (void)state;
  solid_case_add_box(solids, vector3(0, 0, 0.3001), vector3(0.2, 0.2, 0.1), vector3(0, 0, 0))->density = 250;
  solid_case_start(solids);
  solid_case_run(solids, 0.1, 25);
  sunk = 0.3 - solid_case_position(solids, 1).at[Z];
  note("sunk %g m, speed %g m/s, aside %g m", (double)sunk,
       (double)vector3_norm(solid_case_velocity(solids, 1)), (double)solid_case_position(solids, 1).at[X]);
  assert_true(vector3_norm(solid_case_velocity(solids, 1)) < 1e-3);
  assert_true(PetscAbsReal(solid_case_position(solids, 1).at[X]) < 1e-3);
  /* the pressure of the box and half the weight of the block: (rho g h + rho g h / 2) h / E */
  assert_near(sunk / (1.5 * 1000 * g * 0.2 * 0.2 / 2e5), 1, 0.03);
  solid_case_free(solids);
}

TEST_MAIN(cmocka_unit_test(a_soft_block_comes_to_rest_on_the_floor),
          cmocka_unit_test(a_soft_block_slides_as_coulomb_says),
          cmocka_unit_test(a_soft_block_that_sticks_does_not_creep),
          cmocka_unit_test(momentum_passes_between_soft_and_rigid),
          cmocka_unit_test(a_rigid_box_stands_on_a_soft_one))
