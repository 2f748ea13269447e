/* Linkages that are hard on the solver: driven, closed, uneven in mass, with a hub, and their order in space.
 */
#include "harness.h"
#include "linkage.h"

#include <math.h>

static const Vector3 down = {{0, -9.81, 0}}, weightless = {{0, 0, 0}};

/* The largest distance of anchors over `count` steps. */
static PetscReal drift_of(Linkage *linkage, PetscInt count, PetscReal dt, Vector3 gravity)
{
  PetscReal drift = 0;

  for (PetscInt step = 0; step < count; step++) {
    assert_success(LinkageStep(linkage, dt * (PetscReal)step, dt, gravity));
    drift = PetscMax(drift, joint_set_error(linkage->joints));
  }
  return drift;
}

/* A bar between two points of a plane, `b`, as long as they are apart. */
static void place_bar(Linkage *linkage, PetscInt b, Vector3 from, Vector3 to)
{
  const Vector3 along = vector3_subtract(to, from);

  linkage_set_body(linkage, b, 1, vector3(0.5 * vector3_norm(along), 0.1, 0.1));
  linkage_place(linkage, b, vector3_scale(0.5, vector3_add(from, to)),
                vector3(0, 0, PetscAtan2Real(along.at[Y], along.at[X])));
}

/* Ground 4, crank 1, coupler and rocker meeting above: the crank can go round. Three rows are redundant. */
static JointConfig *create_four_bar(Linkage *linkage)
{
  const Vector3 corners[] = {{{0, 0, 0}}, {{0, 1, 0}}, {{3.2, 2.9, 0}}, {{4, 0, 0}}};
  JointConfig  *crank;

  assert_success(LinkageCreate(3, 4, linkage));
  for (PetscInt b = 0; b < 3; b++)
    place_bar(linkage, b, corners[b], corners[b + 1]);
  crank = linkage_join(linkage, 0, JOINT_HINGE, -1, 0, corners[0]);
  linkage_join(linkage, 1, JOINT_HINGE, 0, 1, corners[1]);
  linkage_join(linkage, 2, JOINT_HINGE, 1, 2, corners[2]);
  linkage_join(linkage, 3, JOINT_HINGE, -1, 2, corners[3]);
  return crank;
}

/* Two turns by control, against gravity. */
static void a_crank_drives_a_four_bar_round(void **state)
{
  Linkage      linkage;
  char         message[128];
  JointConfig *crank = create_four_bar(&linkage);
  Vector3      pin;

  (void)state;
  assert_success(FormulaCreate("2*pi*t", &crank->target, message, sizeof(message)));
  crank->stiffness = 400;
  crank->damping = 40;
  assert_success(LinkageSetUp(&linkage));
  assert_near(drift_of(&linkage, 400, 0.005, down), 0, 1e-9);
  pin = rigid_apply(&linkage.solid.placements[0], vector3(0.5, 0, 0));
  assert_near(vector3_norm(vector3_subtract(pin, vector3(0, 1, 0))), 0, 1e-4);
  assert_success(LinkageDestroy(&linkage));
}

/* A kinematic disk carries one end of a rod, a prismatic joint guides the other: the piston of an engine. */
static void a_kinematic_body_drives_a_slider_crank(void **state)
{
  const PetscReal length = 1, radius = 0.3, spin = 5, dt = 0.01;
  Linkage         linkage;
  PetscReal       angle;

  (void)state;
  assert_success(LinkageCreate(3, 3, &linkage));
  linkage.config.bodies[0].kind = BODY_KINEMATIC;
  linkage_place(&linkage, 0, vector3(0, 0, 0), vector3(0, 0, 0));
  place_bar(&linkage, 1, vector3(radius, 0, 0), vector3(radius + length, 0, 0));
  linkage_place(&linkage, 2, vector3(radius + length, 0, 0), vector3(0, 0, 0));
  linkage_join(&linkage, 0, JOINT_HINGE, 0, 1, vector3(radius, 0, 0));
  linkage_join(&linkage, 1, JOINT_HINGE, 1, 2, vector3(radius + length, 0, 0));
  linkage_join(&linkage, 2, JOINT_PRISMATIC, -1, 2, vector3(0, 0, 0))->axis = vector3(1, 0, 0);
  assert_success(LinkageSetUp(&linkage));
  linkage.solid.twists[0].angular = vector3(0, 0, spin);
  assert_near(drift_of(&linkage, 200, dt, weightless), 0, 1e-9);
  angle = spin * dt * 200;
  assert_near(linkage.solid.placements[2].position.at[X],
              radius * PetscCosReal(angle) +
                  PetscSqrtReal(length * length - PetscSqr(radius * PetscSinReal(angle))),
              1e-9);
  assert_success(LinkageDestroy(&linkage));
}

/* A ball a million times heavier than each of the twenty links it hangs on. */
static void a_light_chain_carries_a_heavy_ball(void **state)
{
  Linkage linkage;

  (void)state;
  assert_success(LinkageCreate(21, 21, &linkage));
  linkage_set_body(&linkage, 20, 1e6, vector3(0.5, 0.5, 0.5));
  for (PetscInt j = 0; j < 21; j++)
    linkage_join(&linkage, j, JOINT_POINT, j - 1, j, vector3((PetscReal)j - 0.5, 0, 0));
  assert_success(LinkageSetUp(&linkage));
  assert_near(drift_of(&linkage, 200, 0.01, down), 0, 1e-9);
  assert_success(LinkageDestroy(&linkage));
}

/* Short links under the weight of those below swing far faster than the step can follow. */
static void a_hanging_chain_of_small_links_stays_calm(void **state)
{
  const JointKind kinds[] = {JOINT_POINT, JOINT_HINGE};

  (void)state;
  for (PetscInt k = 0; k < 2; k++) {
    Linkage   linkage;
    PetscReal energy;

    assert_success(LinkageCreate(100, 100, &linkage));
    for (PetscInt j = 0; j < 100; j++) {
      linkage_set_body(&linkage, j, 1, vector3(0.05, 0.01, 0.01));
      linkage_place(&linkage, j, vector3(0, -0.1 * (PetscReal)j - 0.05, 0), vector3(0, 0, -PETSC_PI / 2));
      linkage_join(&linkage, j, kinds[k], j - 1, j, vector3(0, -0.1 * (PetscReal)j, 0));
    }
    assert_success(LinkageSetUp(&linkage));
    linkage_shake(&linkage, 0.01);
    assert_success(JointSetPoststabilize(linkage.joints, linkage.solid.twists));
    energy = linkage_sums(&linkage, linkage.solid.twists).energy;
    assert_near(drift_of(&linkage, 400, 0.01, down), 0, 1e-10);
    assert_true(linkage_sums(&linkage, linkage.solid.twists).energy < energy);
    assert_success(LinkageDestroy(&linkage));
  }
}

/* Two heavy balls whirl about each other on ten light links and fly away together. */
static void create_whirl(Vector3 velocity, Linkage *linkage)
{
  assert_success(LinkageCreate(12, 11, linkage));
  for (PetscInt b = 0; b < 12; b++) {
    const Vector3 whirl = vector3(0, (PetscReal)b - 5.5, 0);

    linkage_place(linkage, b, vector3((PetscReal)b - 5.5, 0, 0), vector3(0, 0, 0));
    linkage->solid.twists[b] = (Twist){vector3_add(velocity, whirl), vector3(0, 0.1, 1)};
    if (b > 0)
      linkage_join(linkage, b - 1, JOINT_POINT, b - 1, b, vector3((PetscReal)b - 6, 0, 0));
  }
  linkage_set_body(linkage, 0, 1000, vector3(0.5, 0.5, 0.5));
  linkage_set_body(linkage, 11, 1000, vector3(0.5, 0.5, 0.5));
  assert_success(LinkageSetUp(linkage));
  assert_success(JointSetPoststabilize(linkage->joints, linkage->solid.twists));
}

static void tension_keeps_the_momenta(void **state)
{
  Linkage     linkage;
  LinkageSums before, after;

  (void)state;
  create_whirl(vector3(0, 0.5, 0.2), &linkage);
  before = linkage_sums(&linkage, linkage.solid.twists);
  assert_near(drift_of(&linkage, 100, 0.02, weightless), 0, 1e-9);
  after = linkage_sums(&linkage, linkage.solid.twists);
  assert_near(vector3_norm(vector3_subtract(after.momentum, before.momentum)), 0,
              1e-12 * vector3_norm(before.momentum));
  assert_near(vector3_norm(vector3_subtract(after.angular_momentum, before.angular_momentum)), 0,
              1e-12 * vector3_norm(before.angular_momentum));
  assert_near(after.energy, before.energy, 0.01 * before.energy);
  assert_success(LinkageDestroy(&linkage));
}

static void a_common_velocity_changes_nothing(void **state)
{
  const Vector3 velocity = vector3(80, -50, 30);
  Linkage       here, there;

  (void)state;
  create_whirl(vector3(0, 0, 0), &here);
  create_whirl(velocity, &there);
  (void)drift_of(&here, 20, 0.02, weightless);
  (void)drift_of(&there, 20, 0.02, weightless);
  for (PetscInt b = 0; b < 12; b++) {
    const Vector3 moved = vector3_add(here.solid.placements[b].position, vector3_scale(0.4, velocity));

    assert_near(vector3_norm(vector3_subtract(there.solid.placements[b].position, moved)), 0, 1e-8);
  }
  assert_success(LinkageDestroy(&here));
  assert_success(LinkageDestroy(&there));
}

/* Forty spokes on a free hub, and no two of the rows redundant. */
static void a_hub_holds_many_spokes(void **state)
{
  const PetscInt count = 40;
  Linkage        linkage;
  LinkageSums    before, after;

  (void)state;
  assert_success(LinkageCreate(count + 1, count, &linkage));
  for (PetscInt b = 0; b < count; b++) {
    const PetscReal angle = 2 * PETSC_PI * (PetscReal)b / (PetscReal)count;
    const Vector3   out = vector3(PetscCosReal(angle), PetscSinReal(angle), 0);

    place_bar(&linkage, b, vector3_scale(2, out), vector3_scale(3, out));
    linkage_join(&linkage, b, b % 2 ? JOINT_HINGE : JOINT_POINT, count, b, vector3_scale(2, out));
  }
  linkage_set_body(&linkage, count, 3, vector3(2, 2, 0.1));
  linkage_place(&linkage, count, vector3(0, 0, 0), vector3(0, 0, 0));
  assert_success(LinkageSetUp(&linkage));
  linkage_shake(&linkage, 1);
  assert_success(JointSetPoststabilize(linkage.joints, linkage.solid.twists));
  before = linkage_sums(&linkage, linkage.solid.twists);
  assert_near(drift_of(&linkage, 50, 0.01, weightless), 0, 1e-9);
  after = linkage_sums(&linkage, linkage.solid.twists);
  assert_near(vector3_norm(vector3_subtract(after.momentum, before.momentum)), 0, 1e-11);
  assert_near(vector3_norm(vector3_subtract(after.angular_momentum, before.angular_momentum)), 0, 1e-10);
  assert_near(after.energy, before.energy, 1e-2 * before.energy);
  assert_success(LinkageDestroy(&linkage));
}

/* Where the last of three links is after a second of a motion in space with all kinds of joints. */
static Vector3 position_after(PetscInt steps)
{
  Linkage linkage;
  Vector3 position;

  assert_success(LinkageCreate(3, 3, &linkage));
  linkage_set_body(&linkage, 1, 2, vector3(0.5, 0.3, 0.1));
  linkage_join(&linkage, 0, JOINT_POINT, -1, 0, vector3(-0.5, 0.1, 0));
  linkage_join(&linkage, 1, JOINT_HINGE, 0, 1, vector3(0.5, 0, 0))->axis = vector3(0, 1, 0.5);
  linkage_join(&linkage, 2, JOINT_PRISMATIC, 1, 2, vector3(1.5, 0, 0))->axis = vector3(1, 0.2, 0);
  assert_success(LinkageSetUp(&linkage));
  for (PetscInt b = 0; b < 3; b++)
    linkage.solid.twists[b].angular = vector3(1, 0.5, 0.3);
  assert_success(JointSetPoststabilize(linkage.joints, linkage.solid.twists));
  (void)drift_of(&linkage, steps, 0.5 / (PetscReal)steps, down);
  position = linkage.solid.placements[2].position;
  assert_success(LinkageDestroy(&linkage));
  return position;
}

static void motion_in_space_is_of_second_order(void **state)
{
  Vector3   at[4];
  PetscReal change[3];

  (void)state;
  for (PetscInt k = 0; k < 4; k++)
    at[k] = position_after(25 << k);
  for (PetscInt k = 0; k < 3; k++)
    change[k] = vector3_norm(vector3_subtract(at[k + 1], at[k]));
  print_message("# order in space: %.2f, %.2f (change %.1e)\n", log2(change[0] / change[1]),
                log2(change[1] / change[2]), (double)change[2]);
  assert_near(log2(change[1] / change[2]), 2, 0.2);
}

TEST_MAIN(cmocka_unit_test(a_crank_drives_a_four_bar_round),
          cmocka_unit_test(a_kinematic_body_drives_a_slider_crank),
          cmocka_unit_test(a_light_chain_carries_a_heavy_ball),
          cmocka_unit_test(a_hanging_chain_of_small_links_stays_calm),
          cmocka_unit_test(tension_keeps_the_momenta), cmocka_unit_test(a_common_velocity_changes_nothing),
          cmocka_unit_test(a_hub_holds_many_spokes), cmocka_unit_test(motion_in_space_is_of_second_order))
