/* Joints: the projection onto what they allow, and the impulses that keep them together. */
#include "harness.h"
#include "linkage.h"
#include "solid/joint/joint_impl.h"

#include <math.h>
#include <string.h>

static void assert_vectors_near(Vector3 a, Vector3 b, PetscReal tolerance)
{
  assert_near(vector3_norm(vector3_subtract(a, b)), 0, tolerance);
}

/* Five free boxes with one joint of every kind between neighbours, placed askew. */
static void create_mixture(Linkage *linkage)
{
  const JointKind kinds[] = {JOINT_POINT, JOINT_HINGE, JOINT_PRISMATIC, JOINT_RIGID, JOINT_TWIST};

  assert_success(LinkageCreate(6, 5, linkage));
  for (PetscInt b = 0; b < 6; b++) {
    linkage_set_body(linkage, b, 0.5 + (PetscReal)b, vector3(0.5, 0.1 + 0.05 * (PetscReal)b, 0.2));
    linkage_place(linkage, b, vector3((PetscReal)b, 0.1 * (PetscReal)(b * b), -0.2 * (PetscReal)b),
                  vector3(0.3 * (PetscReal)b, 1, -0.2));
  }
  for (PetscInt j = 0; j < 5; j++)
    linkage_join(linkage, j, kinds[j], j, j + 1, vector3((PetscReal)j + 0.5, 0.2, -0.1))->axis =
        vector3(1, -(PetscReal)j, 0.3);
  assert_success(LinkageSetUp(linkage));
}

static void projection_is_idempotent(void **state)
{
  Linkage linkage;
  Twist   once[6];

  (void)state;
  create_mixture(&linkage);
  linkage_shake(&linkage, 1);
  assert_success(JointSetPoststabilize(linkage.joints, linkage.solid.twists));
  memcpy(once, linkage.solid.twists, sizeof(once));
  assert_success(JointSetPoststabilize(linkage.joints, linkage.solid.twists));
  for (PetscInt b = 0; b < 6; b++) {
    assert_vectors_near(linkage.solid.twists[b].linear, once[b].linear, 1e-14);
    assert_vectors_near(linkage.solid.twists[b].angular, once[b].angular, 1e-13);
  }
  assert_success(LinkageDestroy(&linkage));
}

/* (Pa, b) = (a, Pb) with the inner product of the masses, hence the nearest velocities. */
static void projection_is_symmetric_by_the_masses(void **state)
{
  Linkage linkage;
  Twist   a[6], b[6], projected_a[6], projected_b[6];

  (void)state;
  create_mixture(&linkage);
  linkage_shake(&linkage, 1);
  memcpy(a, linkage.solid.twists, sizeof(a));
  for (PetscInt k = 0; k < 6; k++)
    b[k] = (Twist){a[5 - k].angular, a[(k + 2) % 6].linear};
  memcpy(projected_a, a, sizeof(a));
  memcpy(projected_b, b, sizeof(b));
  assert_success(JointSetPoststabilize(linkage.joints, projected_a));
  assert_success(JointSetPoststabilize(linkage.joints, projected_b));
  assert_near(linkage_product(&linkage, projected_a, b), linkage_product(&linkage, a, projected_b), 1e-13);
  assert_true(linkage_sums(&linkage, projected_a).energy < linkage_sums(&linkage, a).energy);
  assert_success(LinkageDestroy(&linkage));
}

static void assert_momenta_kept(const Linkage *linkage, LinkageSums before, const Twist twists[])
{
  const LinkageSums after = linkage_sums(linkage, twists);

  assert_vectors_near(after.momentum, before.momentum, 1e-12);
  assert_vectors_near(after.angular_momentum, before.angular_momentum, 1e-12);
}

static void both_stabilisations_keep_the_momenta(void **state)
{
  Linkage     linkage;
  LinkageSums before;

  (void)state;
  create_mixture(&linkage);
  linkage_shake(&linkage, 1);
  before = linkage_sums(&linkage, linkage.solid.twists);
  assert_success(JointSetPrestabilize(linkage.joints, 0.1, linkage.solid.twists));
  assert_momenta_kept(&linkage, before, linkage.solid.twists);
  assert_success(JointSetPoststabilize(linkage.joints, linkage.solid.twists));
  assert_momenta_kept(&linkage, before, linkage.solid.twists);
  assert_success(LinkageDestroy(&linkage));
}

/* Also when the anchors have come apart: both impulses act at the same point. */
static void momenta_are_kept_with_drift(void **state)
{
  Linkage     linkage;
  LinkageSums before;

  (void)state;
  create_mixture(&linkage);
  for (PetscInt b = 0; b < 6; b++)
    linkage.solid.placements[b].position.at[Y] += 0.01 * (PetscReal)(b % 3);
  linkage_shake(&linkage, 1);
  before = linkage_sums(&linkage, linkage.solid.twists);
  assert_true(joint_set_error(linkage.joints) > 0.005);
  assert_success(JointSetPrestabilize(linkage.joints, 0.1, linkage.solid.twists));
  assert_momenta_kept(&linkage, before, linkage.solid.twists);
  for (PetscInt b = 0; b < 6; b++)
    linkage.solid.placements[b] =
        body_moved(&linkage.solid.bodies[b], &linkage.solid.placements[b], &linkage.solid.twists[b], 0.1);
  assert_near(joint_set_error(linkage.joints), 0, 1e-10);
  assert_success(LinkageDestroy(&linkage));
}

/* The number of velocities of one hanging body that the projection leaves as they are. */
static PetscReal freedoms(JointKind kind)
{
  Linkage   linkage;
  PetscReal trace = 0;

  assert_success(LinkageCreate(1, 1, &linkage));
  linkage_place(&linkage, 0, vector3(1, 2, 3), vector3(0.1, 0.2, 0.3));
  linkage_join(&linkage, 0, kind, -1, 0, vector3(1.5, 2, 2))->axis = vector3(1, 2, 3);
  assert_success(LinkageSetUp(&linkage));
  for (PetscInt k = 0; k < 6; k++) {
    PetscReal unit[6] = {0};

    unit[k] = 1;
    assert_success(JointSetPoststabilize(linkage.joints, (Twist *)unit));
    trace += unit[k];
  }
  assert_success(LinkageDestroy(&linkage));
  return trace;
}

static void every_kind_leaves_its_freedoms(void **state)
{
  (void)state;
  assert_near(freedoms(JOINT_POINT), 3, 1e-13);
  assert_near(freedoms(JOINT_RIGID), 0, 1e-13);
  assert_near(freedoms(JOINT_HINGE), 1, 1e-13);
  assert_near(freedoms(JOINT_TWIST), 1, 1e-13);
  assert_near(freedoms(JOINT_PRISMATIC), 1, 1e-13);
}

/* A hinge lets a body turn about its axis, a prismatic joint lets it slide along it. */
static void the_freedoms_are_those_of_the_axis(void **state)
{
  const Vector3 axis = vector3(0.6, 0, 0.8), anchor = vector3(0.5, 0, 0.1);
  Linkage       linkage;
  Twist         twist = {vector3_cross(axis, vector3_scale(-1, anchor)), axis};
  const Twist   turning = twist, sliding = {axis, {{0, 0, 0}}};

  (void)state;
  assert_success(LinkageCreate(1, 1, &linkage));
  linkage_join(&linkage, 0, JOINT_HINGE, -1, 0, anchor)->axis = axis;
  assert_success(LinkageSetUp(&linkage));
  assert_success(JointSetPoststabilize(linkage.joints, &twist));
  assert_vectors_near(twist.linear, turning.linear, 1e-14);
  assert_vectors_near(twist.angular, turning.angular, 1e-14);
  assert_success(JointSetDestroy(&linkage.joints));
  linkage_join(&linkage, 0, JOINT_PRISMATIC, -1, 0, anchor)->axis = axis;
  assert_success(LinkageSetUp(&linkage));
  twist = sliding;
  assert_success(JointSetPoststabilize(linkage.joints, &twist));
  assert_vectors_near(twist.linear, sliding.linear, 1e-14);
  assert_vectors_near(twist.angular, sliding.angular, 1e-14);
  assert_success(LinkageDestroy(&linkage));
}

/* The largest rate of any row at the present velocities. */
static PetscReal largest_rate(JointSet joints, const Twist twists[])
{
  PetscReal rates[128][ROWS], largest = 0;

  assert_true(joints->count <= 128);
  joint_set_rates(joints, joints->rows, twists, rates);
  for (PetscInt j = 0; j < joints->count; j++)
    for (PetscInt i = 0; i < joints->rows[j].count; i++)
      largest = PetscMax(largest, PetscAbsReal(rates[j][i]));
  return largest;
}

static void a_chain_of_a_hundred_links_is_exact_in_one_solve(void **state)
{
  Linkage linkage;

  (void)state;
  assert_success(LinkageCreate(100, 100, &linkage));
  for (PetscInt j = 0; j < 100; j++)
    linkage_join(&linkage, j, j % 2 ? JOINT_POINT : JOINT_HINGE, j - 1, j, vector3((PetscReal)j - 0.5, 0, 0));
  assert_success(LinkageSetUp(&linkage));
  linkage_shake(&linkage, 1);
  assert_success(JointSetPoststabilize(linkage.joints, linkage.solid.twists));
  assert_near(largest_rate(linkage.joints, linkage.solid.twists), 0, 1e-12);
  assert_success(LinkageDestroy(&linkage));
}

/* A ring of n boxes with parallel hinges: 5 rows for every 6 unknowns, of which three are redundant. */
static void create_ring(PetscInt count, Linkage *linkage)
{
  const PetscReal radius = 0.5 / PetscTanReal(PETSC_PI / (PetscReal)count);

  assert_success(LinkageCreate(count, count, linkage));
  for (PetscInt b = 0; b < count; b++) {
    const PetscReal angle = 2 * PETSC_PI * (PetscReal)b / (PetscReal)count;
    const Vector3   outward = vector3(PetscCosReal(angle), PetscSinReal(angle), 0);
    const Vector3   along = vector3(-outward.at[Y], outward.at[X], 0);

    linkage_place(linkage, b, vector3_scale(radius, outward), vector3(0, 0, angle + PETSC_PI / 2));
    linkage_join(linkage, b, JOINT_HINGE, b, (b + 1) % count,
                 vector3_add(vector3_scale(radius, outward), vector3_scale(0.5, along)));
  }
}

static void assert_loop_holds(Linkage *linkage)
{
  LinkageSums before;

  linkage_shake(linkage, 1);
  before = linkage_sums(linkage, linkage->solid.twists);
  assert_success(JointSetPoststabilize(linkage->joints, linkage->solid.twists));
  assert_near(largest_rate(linkage->joints, linkage->solid.twists), 0, 1e-10);
  for (PetscInt step = 0; step < 50; step++)
    assert_success(LinkageStep(linkage, 0.02 * (PetscReal)step, 0.02, vector3(0, 0, 0)));
  assert_near(joint_set_error(linkage->joints), 0, 1e-10);
  assert_near(largest_rate(linkage->joints, linkage->solid.twists), 0, 1e-10);
  assert_vectors_near(linkage_sums(linkage, linkage->solid.twists).momentum, before.momentum, 1e-11);
}

static void closed_loops_hold_in_spite_of_redundant_rows(void **state)
{
  const PetscInt counts[] = {4, 6};

  (void)state;
  for (PetscInt k = 0; k < 2; k++) {
    Linkage linkage;

    create_ring(counts[k], &linkage);
    assert_success(LinkageSetUp(&linkage));
    assert_loop_holds(&linkage);
    assert_success(LinkageDestroy(&linkage));
  }
}

/* Two hinges on one line between the same bodies, and a rigid joint twice: redundant without a loop of
 * bodies. */
static void doubled_joints_hold(void **state)
{
  Linkage linkage;

  (void)state;
  assert_success(LinkageCreate(3, 4, &linkage));
  linkage_join(&linkage, 0, JOINT_HINGE, 0, 1, vector3(0.5, 0, 0));
  linkage_join(&linkage, 1, JOINT_HINGE, 0, 1, vector3(0.5, 0, 0.4));
  linkage_join(&linkage, 2, JOINT_RIGID, 1, 2, vector3(1.5, 0, 0));
  linkage_join(&linkage, 3, JOINT_RIGID, 1, 2, vector3(1.5, 0.1, 0));
  assert_success(LinkageSetUp(&linkage));
  assert_loop_holds(&linkage);
  assert_success(LinkageDestroy(&linkage));
}

/* A chain of ten that turns as a whole, `spin` in a step of one second. */
static void create_turning_chain(PetscReal spin, Linkage *linkage)
{
  assert_success(LinkageCreate(10, 10, linkage));
  for (PetscInt j = 0; j < 10; j++) {
    linkage_join(linkage, j, JOINT_POINT, j - 1, j, vector3((PetscReal)j - 0.5, 0, 0));
    linkage->solid.twists[j] =
        (Twist){vector3(0, spin * ((PetscReal)j + 0.5), 0), vector3(0.3 * spin, 0, spin)};
  }
  assert_success(LinkageSetUp(linkage));
}

static void motion_converges_for_large_rotations(void **state)
{
  const PetscReal spins[] = {0.1, 0.5, 0.9};

  (void)state;
  for (PetscInt k = 0; k < 3; k++) {
    Linkage linkage;

    create_turning_chain(spins[k], &linkage);
    assert_success(LinkageStep(&linkage, 0, 1, vector3(0, 0, 0)));
    assert_near(joint_set_error(linkage.joints), 0, 1e-9);
    assert_success(LinkageDestroy(&linkage));
  }
}

/* Beyond about 1 rad no impulses at the old anchors make the new ones meet. */
static void too_large_a_step_does_not_add_energy(void **state)
{
  Linkage   linkage;
  PetscReal energy;

  (void)state;
  create_turning_chain(1.5, &linkage);
  energy = linkage_sums(&linkage, linkage.solid.twists).energy;
  assert_success(LinkageStep(&linkage, 0, 1, vector3(0, 0, 0)));
  assert_true(joint_set_error(linkage.joints) > 1e-3);
  assert_true(linkage_sums(&linkage, linkage.solid.twists).energy < energy);
  assert_success(LinkageDestroy(&linkage));
}

static void what_is_torn_apart_comes_together_again(void **state)
{
  Linkage linkage;

  (void)state;
  create_turning_chain(0, &linkage);
  for (PetscInt b = 0; b < 10; b++)
    linkage.solid.placements[b].position.at[b % 3] += b % 2 ? 0.2 : -0.2;
  assert_true(joint_set_error(linkage.joints) > 0.2);
  for (PetscInt step = 0; step < 10; step++)
    assert_success(LinkageStep(&linkage, 0, 0.01, vector3(0, 0, 0)));
  assert_near(joint_set_error(linkage.joints), 0, 1e-9);
  assert_true(linkage_sums(&linkage, linkage.solid.twists).energy < 1e-3);
  assert_success(LinkageDestroy(&linkage));
}

static void assert_refusal(Linkage *linkage, const char part[])
{
  char message[256];

  assert_success(JointSetCreate(&linkage->solid, &linkage->joints, message, sizeof(message)));
  assert_null(linkage->joints);
  assert_non_null(strstr(message, "\"joint\""));
  if (!strstr(message, part))
    fail_msg("\"%s\" does not say \"%s\"", message, part);
}

static void mistakes_in_the_bodies_are_told(void **state)
{
  Linkage      linkage;
  JointConfig *config;

  (void)state;
  assert_success(LinkageCreate(2, 1, &linkage));
  linkage_join(&linkage, 0, JOINT_POINT, 1, 1, vector3(0, 0, 0));
  assert_refusal(&linkage, "itself");
  config = linkage_join(&linkage, 0, JOINT_POINT, 0, 1, vector3(0, 0, 0));
  linkage.config.bodies[0].kind = BODY_STATIC;
  linkage.config.bodies[1].kind = BODY_KINEMATIC;
  assert_refusal(&linkage, "dynamic");
  linkage.config.bodies[1].kind = BODY_DYNAMIC;
  linkage.config.bodies[0].name = (char *)"crank";
  config->parent = (char *)"cranc";
  assert_refusal(&linkage, "did you mean \"crank\"?");
  config->parent = (char *)"crank.7";
  assert_refusal(&linkage, "copies of \"crank\"");
  assert_success(LinkageDestroy(&linkage));
}

static void mistakes_in_the_freedoms_are_told(void **state)
{
  char         message[128];
  Linkage      linkage;
  JointConfig *config;

  (void)state;
  assert_success(LinkageCreate(2, 1, &linkage));
  config = linkage_join(&linkage, 0, JOINT_HINGE, 0, 1, vector3(0, 0, 0));
  config->lower = 0.2;
  config->upper = 0.1;
  assert_refusal(&linkage, "lower limit above");
  config->upper = 0.3;
  assert_refusal(&linkage, "exclude where it stands");
  config->lower = -4;
  assert_refusal(&linkage, "half a turn");
  config->lower = -1;
  config->swing = 0.5;
  assert_refusal(&linkage, "swing");
  config->swing = PETSC_INFINITY;
  config->axis = vector3(0, 0, 0);
  assert_refusal(&linkage, "axis");
  config->kind = JOINT_RIGID;
  assert_refusal(&linkage, "rigid");
  config->kind = JOINT_HINGE;
  config->axis = vector3(0, 0, 1);
  assert_success(FormulaCreate("0.1", &config->target, message, sizeof(message)));
  assert_refusal(&linkage, "nothing that drives it");
  assert_success(LinkageDestroy(&linkage));
}

/* Eight hinges that all geometry at their lower limit: none moves beyond, and those that are held are pushed.
   Some are passed at first and let go when others hold. */
static void limits_push_only_where_they_must(void **state)
{
  Linkage linkage;

  (void)state;
  assert_success(LinkageCreate(8, 8, &linkage));
  for (PetscInt j = 0; j < 8; j++)
    linkage_join(&linkage, j, JOINT_HINGE, j - 1, j, vector3((PetscReal)j - 0.5, 0, 0))->lower = 0;
  assert_success(LinkageSetUp(&linkage));
  for (PetscInt turn = 0; turn < 8; turn++) {
    Twist twists[8];

    linkage_shake(&linkage, 1);
    for (PetscInt b = 0; b < 8; b++)
      twists[b] = linkage.solid.twists[(b + turn) % 8];
    assert_success(JointSetPoststabilize(linkage.joints, twists));
    for (PetscInt j = 0; j < 8; j++) {
      const PetscReal rate = twists[j].angular.at[Z] - (j ? twists[j - 1].angular.at[Z] : 0);

      assert_true(rate > -1e-11);
      assert_true(linkage.joints->grips[j].angle == HOLD_NOTHING || linkage.joints->impulses[j][5] >= 0);
    }
  }
  assert_success(LinkageDestroy(&linkage));
}

static void no_joints_change_nothing(void **state)
{
  Linkage linkage;

  (void)state;
  assert_success(LinkageCreate(2, 0, &linkage));
  assert_success(LinkageSetUp(&linkage));
  linkage.solid.twists[1].linear = vector3(1, 2, 3);
  assert_success(LinkageStep(&linkage, 0, 0.5, vector3(0, 0, 0)));
  assert_vectors_near(linkage.solid.placements[1].position, vector3(1.5, 1, 1.5), 1e-15);
  assert_near(joint_set_error(linkage.joints), 0, 0);
  assert_success(LinkageDestroy(&linkage));
}

/* "link" with three copies is called link.0, link.1 and link.2. */
static void copies_are_called_by_number(void **state)
{
  Linkage      linkage;
  JointConfig *config;

  (void)state;
  assert_success(LinkageCreate(3, 1, &linkage));
  linkage.config.bodies[0].name = (char *)"link";
  for (PetscInt b = 0; b < 3; b++) {
    linkage.solid.bodies[b].config = &linkage.config.bodies[0];
    linkage.solid.bodies[b].copy = b;
  }
  config = linkage_join(&linkage, 0, JOINT_POINT, 0, 1, vector3(0, 0, 0));
  config->parent = (char *)"link.2";
  config->child = (char *)"link";
  assert_refusal(&linkage, "\"link.0\" to \"link.2\"");
  config->child = (char *)"link.3";
  assert_refusal(&linkage, "\"link.0\" to \"link.2\"");
  config->child = (char *)"link.1";
  assert_success(LinkageSetUp(&linkage));
  assert_int_equal(linkage.joints->joints[0].body[PARENT], 2);
  assert_int_equal(linkage.joints->joints[0].body[CHILD], 1);
  assert_success(LinkageDestroy(&linkage));
}

static void pairs_are_sorted_and_the_world_comes_first(void **state)
{
  Linkage  linkage;
  PetscInt count;
  const PetscInt(*pairs)[2];

  (void)state;
  assert_success(LinkageCreate(3, 4, &linkage));
  linkage_join(&linkage, 0, JOINT_POINT, 2, 1, vector3(1.5, 0, 0));
  linkage_join(&linkage, 1, JOINT_POINT, -1, 0, vector3(0, 0, 0));
  linkage_join(&linkage, 2, JOINT_POINT, 0, 1, vector3(0.5, 0, 0));
  linkage_join(&linkage, 3, JOINT_POINT, 1, 2, vector3(1.5, 0, 0.1));
  assert_success(LinkageSetUp(&linkage));
  assert_success(JointSetGetPairs(linkage.joints, &count, &pairs));
  assert_int_equal(count, 3);
  assert_true(pairs[0][0] == -1 && pairs[0][1] == 0);
  assert_true(pairs[1][0] == 0 && pairs[1][1] == 1);
  assert_true(pairs[2][0] == 1 && pairs[2][1] == 2);
  assert_success(LinkageDestroy(&linkage));
}

TEST_MAIN(cmocka_unit_test(projection_is_idempotent), cmocka_unit_test(projection_is_symmetric_by_the_masses),
          cmocka_unit_test(both_stabilisations_keep_the_momenta),
          cmocka_unit_test(momenta_are_kept_with_drift), cmocka_unit_test(every_kind_leaves_its_freedoms),
          cmocka_unit_test(the_freedoms_are_those_of_the_axis),
          cmocka_unit_test(a_chain_of_a_hundred_links_is_exact_in_one_solve),
          cmocka_unit_test(closed_loops_hold_in_spite_of_redundant_rows),
          cmocka_unit_test(doubled_joints_hold), cmocka_unit_test(motion_converges_for_large_rotations),
          cmocka_unit_test(too_large_a_step_does_not_add_energy),
          cmocka_unit_test(what_is_torn_apart_comes_together_again),
          cmocka_unit_test(mistakes_in_the_bodies_are_told),
          cmocka_unit_test(mistakes_in_the_freedoms_are_told),
          cmocka_unit_test(limits_push_only_where_they_must), cmocka_unit_test(no_joints_change_nothing),
          cmocka_unit_test(copies_are_called_by_number),
          cmocka_unit_test(pairs_are_sorted_and_the_world_comes_first))
