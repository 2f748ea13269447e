/* Systems that nothing from outside acts on: linear and angular momentum through joints, impacts, contact and
   push-outs. All impulses act in pairs at one point, and what moves a body aside without its velocity leaves
   the momentum about a fixed point to its spin: both are kept to round-off. */
#include "harness.h"
#include "solids.h"
#include "solid_case.h"

#include "solid/solid_impl.h"

typedef struct {
  PetscReal friction, restitution, gravity;
} Kind;

/* An arm of five bricks, joined by hinges and points in turn. */
static void add_arm(SolidCase *solids)
{
  for (PetscInt k = 0; k < 5; k++) {
    const PetscReal x = 0.5 * (PetscReal)(k - 2);

    solid_case_add_box(solids, vector3(x, 0, 0), vector3(0.22, 0.1, 0.1), vector3(0, 0, 0));
    if (k)
      solid_case_add_joint(solids, k % 2 ? JOINT_HINGE : JOINT_POINT, k - 1, k, vector3(x - 0.25, 0, 0),
                           vector3(0, 1, 0));
  }
}

/* Bodies from all sides that fly towards the arm, one after the other. */
static void add_crowd(SolidCase *solids)
{
  uint64_t seed = 11;

  for (PetscInt k = 0; k < 20; k++) {
    const Vector3 out = random_direction(&seed), centre = vector3_scale(1.6 + 0.12 * (PetscReal)k, out);
    const Vector3 aside = vector3(0.3 * random_number(&seed), 0.2, 0.1 * random_number(&seed));
    BodyConfig   *body =
        k % 2 ? solid_case_add_sphere(solids, centre, 0.15)
                : solid_case_add_box(solids, centre, vector3(0.15, 0.1, 0.12), vector3(k, 0.1 * k, 0));

    body->velocity = vector3_add(vector3_scale(-3, out), aside);
    body->spin = vector3(random_number(&seed), random_number(&seed), 1);
  }
}

static SolidCase *new_crowd(const Kind *kind)
{
  SolidCase *solids = solid_case_new(kind->gravity);

  add_arm(solids);
  add_crowd(solids);
  for (PetscInt b = 0; b < solids->config.body_count; b++) {
    solids->bodies[b].friction = kind->friction;
    solids->bodies[b].restitution = kind->restitution;
  }
  solid_case_start(solids);
  return solids;
}

static PetscReal sum_of_speeds(SolidCase *solids)
{
  PetscReal sum = 0;

  for (PetscInt b = 0; b < solids->config.body_count; b++)
    sum += solids->solid->bodies[b].mass * vector3_norm(solid_case_velocity(solids, b));
  return sum;
}

static void articulated_bodies_that_collide_keep_their_momenta(void **state)
{
  const Kind kinds[4] = {{0, 0, 0}, {0.5, 0, 0}, {0, 0.5, 0}, {0.5, 0.5, 0}};

  (void)state;
  for (PetscInt k = 0; k < 4; k++) {
    SolidCase        *solids = new_crowd(&kinds[k]);
    const SolidReport start = solid_report(solids->solid);
    const PetscReal   scale = sum_of_speeds(solids); /* times an arm of 1 m */
    SolidReport       now = start, before;
    PetscInt          impacts = 0;

    for (PetscInt step = 0; step < 500; step++) {
      before = now;
      solid_case_run(solids, 0.0025, 1);
      now = solid_report(solids->solid);
      impacts += now.collisions;
      /* keeping the angular momentum takes or gives a little energy */
      assert_true(now.kinetic_energy < before.kinetic_energy + 1e-4 * start.kinetic_energy);
      assert_true(now.largest_joint_error < 1e-6);
    }
    assert_true(impacts > 50);
    assert_true(now.kinetic_energy < start.kinetic_energy);
    assert_near(vector3_norm(vector3_subtract(now.momentum, start.momentum)) / scale, 0, 1e-12);
    assert_near(vector3_norm(vector3_subtract(now.angular_momentum, start.angular_momentum)) / scale, 0,
                1e-12);
    solid_case_free(solids);
  }
}

/* Falling freely is the same but for the momentum that the weight adds: m g t, and about the origin its
   torque with the centre of mass, c0 x m g t + v0 x m g t^2 / 2. */
static void a_falling_crowd_takes_up_its_weight_alone(void **state)
{
  const Kind        kind = {0.5, 0, 9.81};
  SolidCase        *solids = new_crowd(&kind);
  const SolidReport start = solid_report(solids->solid);
  const PetscReal   scale = sum_of_speeds(solids), time = 500 * 0.0025;
  const Vector3     fall = vector3(0, 0, -9.81 * time);
  Vector3           moment = vector3_scale(0.5 * time, start.momentum), torque;
  SolidReport       now;

  (void)state;
  for (PetscInt b = 0; b < solids->config.body_count; b++)
    moment =
        vector3_add(moment, vector3_scale(solids->solid->bodies[b].mass, solid_case_position(solids, b)));
  torque = vector3_cross(moment, fall);
  solid_case_run(solids, 0.0025, 500);
  now = solid_report(solids->solid);
  assert_near(
      vector3_norm(vector3_subtract(vector3_subtract(now.angular_momentum, start.angular_momentum), torque)) /
          scale,
      0, 1e-12);
  solid_case_free(solids);
}

TEST_MAIN(cmocka_unit_test(articulated_bodies_that_collide_keep_their_momenta),
          cmocka_unit_test(a_falling_crowd_takes_up_its_weight_alone))
