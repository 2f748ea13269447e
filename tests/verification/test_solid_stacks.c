/* Bodies that rest on each other: C9 of the validation cases. */
#include "harness.h"
#include "solid_case.h"

#include "solid/contact/solve/contact_set.h"

#define G 9.81

static SolidCase *new_floor(void)
{
  SolidCase *solids = solid_case_new(G);

  solid_case_add_plane(solids, vector3(0, 0, 0), vector3(0, 0, 1))->friction = 0.5;
  return solids;
}

static void add_brick(SolidCase *solids, Vector3 centre, Vector3 half)
{
  solid_case_add_box(solids, centre, half, vector3(0, 0, 0))->friction = 0.5;
}

/* The force that holds up body `b` from body `a`, upwards. */
static PetscReal force_between(SolidCase *solids, PetscInt a, PetscInt b, PetscReal dt)
{
  const ContactList *list = &solids->solid->contacts->now;
  PetscReal          force = 0;

  for (PetscInt c = 0; c < list->count; c++)
    if (list->contacts[c].bodies[0] == a && list->contacts[c].bodies[1] == b)
      for (PetscInt k = 0; k < list->contacts[c].count; k++)
        force += list->places[list->contacts[c].first + k].impulses[PHASE_VELOCITY].at[Z] / dt;
  return force;
}

static void assert_at_rest(SolidCase *solids, PetscReal size)
{
  const SolidReport report = solid_report(solids->solid);

  assert_true(report.largest_speed < 1e-4);
  assert_true(report.largest_penetration < 1e-3 * size);
}

static void ten_boxes_stand_and_bear_their_weight(void **state)
{
  SolidCase      *solids = new_floor();
  const PetscReal dt = 1. / 120, weight = 1000 * G;

  (void)state;
  for (PetscInt b = 0; b < 10; b++)
    add_brick(solids, vector3(0, 0, 0.5 + (PetscReal)b), vector3(0.5, 0.5, 0.5));
  solid_case_start(solids);
  solid_case_run(solids, dt, 1200);
  assert_at_rest(solids, 1);
  for (PetscInt k = 1; k <= 10; k++)
    assert_near(force_between(solids, k - 1, k, dt) / ((PetscReal)(11 - k) * weight), 1, 1e-3);
  assert_near(vector3_norm(vector3_subtract(solid_case_position(solids, 10), vector3(0, 0, 9.5))), 0, 1e-2);
  solid_case_free(solids);
}

static void a_wall_of_25_bricks_stands(void **state)
{
  SolidCase *solids = new_floor();

  (void)state;
  for (PetscInt row = 0; row < 5; row++)
    for (PetscInt k = 0; k < 5; k++)
      add_brick(solids, vector3((PetscReal)k + (row % 2 ? 0.5 : 0), 0, 0.2 + 0.4 * (PetscReal)row),
                vector3(0.5, 0.25, 0.2));
  solid_case_start(solids);
  solid_case_run(solids, 1. / 120, 1200);
  assert_at_rest(solids, 0.4);
  solid_case_free(solids);
}

/* A block on a slope tips over as soon as the vertical through its centre leaves its base: tan = width /
 * height. */
static PetscReal tilt_after(PetscReal slope)
{
  const Vector3 normal = vector3(PetscSinReal(slope), 0, PetscCosReal(slope));
  SolidCase    *solids = solid_case_new(G);
  Vector3       axis;

  solid_case_add_plane(solids, vector3(0, 0, 0), normal)->friction = 2;
  solid_case_add_box(solids, vector3_scale(1, normal), vector3(0.25, 0.25, 1), vector3(0, slope, 0))
      ->friction = 2;
  solid_case_start(solids);
  solid_case_run(solids, 1. / 240, 720);
  axis = quaternion_rotate(solid_case_rotation(solids, 1), vector3(0, 0, 1));
  solid_case_free(solids);
  return PetscAcosReal(PetscMin(1, vector3_dot(axis, normal)));
}

static void a_tall_block_tips_at_its_angle(void **state)
{
  const PetscReal critical = PetscAtanReal(0.25);

  (void)state;
  assert_true(tilt_after(0.97 * critical) < 1e-3);
  assert_true(tilt_after(1.03 * critical) > 0.5);
}

TEST_MAIN(cmocka_unit_test(ten_boxes_stand_and_bear_their_weight),
          cmocka_unit_test(a_wall_of_25_bricks_stands), cmocka_unit_test(a_tall_block_tips_at_its_angle))
