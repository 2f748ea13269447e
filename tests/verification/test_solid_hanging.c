/* Joints and contact in the whole step: the heavy top (C5 of the validation cases), chains, loops. */
#include "harness.h"
#include "solid_case.h"

#define G 9.81

/* I1 = 0.02 and I3 = 0.01 about the tip, M g l = 1.5, spin 200 about the axis, 30 degrees from the vertical:
   steady precession at 0.75493572 rad/s (spinning_top.csv). A brick with its centre at l has I1 - M l^2 about
   itself. */
static void a_heavy_top_precesses_slowly(void **state)
{
  const PetscReal tilt = PETSC_PI / 6, precession = 0.75493572, spin = 200, mass = 3,
                  lever = 1.5 / (mass * G);
  const PetscReal along = 0.02 - mass * lever * lever; /* about the centre, across the axis */
  const PetscReal h = PetscSqrtReal(1.5 * 0.01 / mass), k = PetscSqrtReal(3 * along / mass - h * h);
  const Vector3   axis = vector3(PetscSinReal(tilt), 0, PetscCosReal(tilt));
  SolidCase      *solids = solid_case_new(G);
  BodyConfig     *top =
      solid_case_add_box(solids, vector3_scale(lever, axis), vector3(h, h, k), vector3(0, tilt, 0));
  Vector3   centre;
  PetscReal turned;

  (void)state;
  top->mass = mass;
  /* the component of the spin along the axis is 200, the rest is the precession */
  top->spin =
      vector3_add(vector3_scale(spin - precession * PetscCosReal(tilt), axis), vector3(0, 0, precession));
  top->velocity = vector3_cross(vector3(0, 0, precession), vector3_scale(lever, axis));
  solid_case_add_joint(solids, JOINT_POINT, -1, 0, vector3(0, 0, 0), vector3(0, 0, 1));
  solid_case_start(solids);
  solid_case_run(solids, 1e-4, 10000);
  centre = solid_case_position(solids, 0);
  turned = PetscAtan2Real(centre.at[Y], centre.at[X]);
  assert_near(turned / precession, 1, 0.01);
  assert_near(centre.at[Z] / lever, PetscCosReal(tilt), 0.01);
  assert_true(solid_report(solids->solid).largest_joint_error < 1e-6);
  solid_case_free(solids);
}

static void a_chain_of_100_links_hangs_together(void **state)
{
  SolidCase   *solids = solid_case_new(G);
  SolidReport  report;
  const double length = 0.2;

  (void)state;
  for (PetscInt k = 0; k < 100; k++) {
    solid_case_add_box(solids, vector3(((PetscReal)k + 0.5) * length, 0, 0), vector3(0.1, 0.03, 0.03),
                       vector3(0, 0, 0));
    solid_case_add_joint(solids, JOINT_POINT, k - 1, k, vector3((PetscReal)k * length, 0, 0),
                         vector3(0, 0, 1));
  }
  solid_case_start(solids);
  for (PetscInt k = 0; k < 10; k++) {
    solid_case_run(solids, 1. / 240, 48);
    report = solid_report(solids->solid);
    assert_true(report.largest_joint_error < 1e-8);
  }
  solid_case_free(solids);
}

/* Six rods in a hexagon, joined by hinges, dropped upright onto the floor: joints and contact at once. */
static void a_loop_of_hinges_survives_its_fall(void **state)
{
  const PetscReal side = 1, inner = 0.5 * PetscSqrtReal(3);
  SolidCase      *solids = solid_case_new(G);
  SolidReport     report;

  (void)state;
  for (PetscInt k = 0; k < 6; k++) {
    const PetscReal angle = PETSC_PI / 3 * (PetscReal)k;
    const Vector3   centre = vector3(inner * PetscCosReal(angle), 0, 1.3 + inner * PetscSinReal(angle));

    /* long along the tangent */
    solid_case_add_box(solids, centre, vector3(0.05, 0.1, 0.42 * side), vector3(0, -angle, 0))->friction =
        0.5;
  }
  for (PetscInt k = 0; k < 6; k++) {
    const PetscReal angle = PETSC_PI / 3 * ((PetscReal)k + 0.5);

    solid_case_add_joint(solids, JOINT_HINGE, k, (k + 1) % 6,
                         vector3(side * PetscCosReal(angle), 0, 1.3 + side * PetscSinReal(angle)),
                         vector3(0, 1, 0));
  }
  solid_case_add_plane(solids, vector3(0, 0, 0), vector3(0, 0, 1))->friction = 0.5;
  solid_case_start(solids);
  for (PetscInt k = 0; k < 20; k++) {
    solid_case_run(solids, 1. / 240, 24);
    report = solid_report(solids->solid);
    assert_true(report.largest_joint_error < 1e-6);
    assert_true(report.largest_penetration < 0.01);
  }
  solid_case_free(solids);
}

/* Push-outs leave it where its joint holds it, and push the balls alone. */
static void a_gate_that_balls_fall_on_stays_on_its_hinge(void **state)
{
  SolidCase *solids = solid_case_new(G);
  PetscReal  largest = 0;

  (void)state;
  solid_case_add_box(solids, vector3(0.5, 0, 0), vector3(0.5, 0.5, 0.02), vector3(0, 0, 0))->friction = 0.5;
  solid_case_add_joint(solids, JOINT_HINGE, -1, 0, vector3(0, 0, 0), vector3(0, 1, 0))->upper = 0.3;
  for (PetscInt k = 0; k < 6; k++)
    solid_case_add_sphere(
        solids, vector3(0.3 + 0.1 * (PetscReal)(k % 3), 0.1 * (PetscReal)(k % 2), 0.5 + 0.5 * (PetscReal)k),
        0.2)
        ->velocity = vector3(0, 0, -5);
  solid_case_start(solids);
  for (PetscInt k = 0; k < 200; k++) {
    solid_case_run(solids, 1. / 120, 1);
    largest = PetscMax(largest, solid_report(solids->solid).largest_joint_error);
  }
  assert_near(largest, 0, 1e-6);
  solid_case_free(solids);
}

TEST_MAIN(cmocka_unit_test(a_heavy_top_precesses_slowly),
          cmocka_unit_test(a_chain_of_100_links_hangs_together),
          cmocka_unit_test(a_loop_of_hinges_survives_its_fall),
          cmocka_unit_test(a_gate_that_balls_fall_on_stays_on_its_hinge))
