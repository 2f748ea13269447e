/* Contact and friction in implicit steps: Coulomb's law on an incline, stopping, turning, momentum. */
#include "harness.h"
#include "scene_run.h"
#include "solid_case.h"

#include "solid/contact/point_contact.h"

static const PetscReal g = 9.81;

/* A soft block on a plane, which gravity is turned against. */
static SolidCase *new_block(ElasticTime time, PetscReal slope, PetscReal friction)
{
  SolidCase           *solids = solid_case_new(g);
  SolidMaterialConfig *material;

  solids->config.gravity = vector3(g * PetscSinReal(slope), 0, -g * PetscCosReal(slope));
  solids->config.elasticity = time;
  solid_case_add_plane(solids, vector3(0, 0, 0), vector3(0, 0, 1))->friction = friction;
  material = solid_case_add_mesh(solids, vector3(-0.1, -0.1, 0), vector3(0.1, 0.1, 0.2), 0.0667);
  material->young = 1e6;
  material->damping = 2e-3;
  solids->meshes[0].friction = friction;
  return solids;
}

typedef struct {
  ElasticTime   time;
  ElasticSolver solver;
  PetscReal     slope, friction;
} Incline;

/* C1 (3 %): a = g (sin - mu cos), by iterations and by a factor, without friction too. */
static void a_block_slides_as_coulomb_says(void **state)
{
  const Incline cases[] = {{ELASTIC_BACKWARD_EULER, SOLVER_CG, 10, 0.05},
                           {ELASTIC_BACKWARD_EULER, SOLVER_CHOLESKY, 30, 0},
                           {ELASTIC_BACKWARD_EULER, SOLVER_CHOLESKY, 30, 0.3},
                           {ELASTIC_NEWMARK, SOLVER_CG, 30, 0},
                           {ELASTIC_NEWMARK, SOLVER_CG, 30, 0.56},
                           {ELASTIC_NEWMARK, SOLVER_CHOLESKY, 10, 0.05}};

  (void)state;
  for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
    const Incline  *incline = &cases[k];
    const PetscReal slope = incline->slope * PETSC_PI / 180, dt = 0.01;
    const PetscReal expected = g * (PetscSinReal(slope) - incline->friction * PetscCosReal(slope));
    SolidCase      *solids = new_block(incline->time, slope, incline->friction);
    PetscReal       start, speed;

    solids->config.solver = incline->solver;
    solid_case_start(solids);
    solid_case_run(solids, dt, 30);
    start = points_mean_velocity(solids->solid).at[X];
    solid_case_run(solids, dt, 30);
    speed = points_mean_velocity(solids->solid).at[X];
    note("slope %g, friction %g: acceleration %g of %g, %d iterations", (double)incline->slope,
         (double)incline->friction, (double)((speed - start) / (30 * dt)), (double)expected,
         (int)solid_report(solids->solid).newton_iterations);
    assert_near((speed - start) / (30 * dt) / expected, 1, 1e-3);
    assert_false(solid_report(solids->solid).is_unsolved);
    solid_case_free(solids);
  }
}

/* C1: no drift at all just below the angle of friction: tan 30 = 0.577. */
static void a_block_that_sticks_does_not_creep(void **state)
{
  const Incline cases[] = {{ELASTIC_BACKWARD_EULER, SOLVER_CG, 30, 0.6},
                           {ELASTIC_NEWMARK, SOLVER_CG, 30, 0.8},
                           {ELASTIC_BACKWARD_EULER, SOLVER_CHOLESKY, 10, 0.4}};

  (void)state;
  for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
    SolidCase *solids = new_block(cases[k].time, cases[k].slope * PETSC_PI / 180, cases[k].friction);
    PetscReal  drift;
    Vector3    before;

    solids->config.solver = cases[k].solver;
    solid_case_start(solids);
    solid_case_run(solids, 0.01, 140);
    before = solids->solid->points->position[0];
    solid_case_run(solids, 0.01, 40);
    drift = vector3_norm(vector3_subtract(solids->solid->points->position[0], before)) / 0.4;
    note("slope %g, friction %g: drift %g m/s, %d iterations", (double)cases[k].slope,
         (double)cases[k].friction, (double)drift, (int)solid_report(solids->solid).newton_iterations);
    assert_true(drift < 1e-6);
    solid_case_free(solids);
  }
}

/* Thrown across an incline it turns downhill: dv/dt = g sin e_x - mu g cos v/|v|. */
static void friction_follows_a_velocity_that_turns(void **state)
{
  const PetscReal slope = PETSC_PI / 9, mu = 0.3, dt = 0.01;
  const PetscReal down = g * PetscSinReal(slope), brake = mu * g * PetscCosReal(slope);
  const PetscInt  fine = 100;
  SolidCase      *solids = new_block(ELASTIC_BACKWARD_EULER, slope, mu);
  PetscReal       v[2] = {0, 1};
  Vector3         mean;

  (void)state;
  solids->meshes[0].velocity = vector3(0, 1, 0);
  solid_case_start(solids);
  solid_case_run(solids, dt, 40);
  for (PetscInt k = 0; k < 40 * fine; k++) {
    const PetscReal speed = PetscSqrtReal(v[0] * v[0] + v[1] * v[1]), part = dt / fine;

    v[0] += part * (down - brake * v[0] / speed);
    v[1] -= part * brake * v[1] / speed;
  }
  mean = points_mean_velocity(solids->solid);
  note("velocity %g %g of %g %g", (double)mean.at[X], (double)mean.at[Y], (double)v[0], (double)v[1]);
  assert_near(mean.at[X] / v[0], 1, 0.03);
  assert_near(mean.at[Y] / v[1], 1, 0.03);
  solid_case_free(solids);
}

/* Without gravity a free ball of 3 m/s strikes a block, which is lighter. */
static SolidCase *new_strike(ElasticTime time, ElasticSolver solver, PetscReal aside, PetscReal friction)
{
  SolidCase *solids = solid_case_new(0);

  solids->config.elasticity = time;
  solids->config.solver = solver;
  solid_case_add_sphere(solids, vector3(0.261, aside, 0.1), 0.15)->velocity = vector3(-3, 0, 0);
  solids->bodies[0].friction = friction;
  solid_case_add_mesh(solids, vector3(-0.1, -0.1, 0), vector3(0.1, 0.1, 0.2), 0.0667)->damping = 1e-3;
  solids->meshes[0].friction = friction;
  solid_case_start(solids);
  return solids;
}

/* Returns the momentum that the ball has lost until they have parted, over what it had. */
static PetscReal strike(ElasticTime time, ElasticSolver solver, PetscReal dt, PetscReal aside,
                        PetscReal friction)
{
  SolidCase        *solids = new_strike(time, solver, aside, friction);
  const SolidReport start = solid_report(solids->solid);
  Vector3           change;
  PetscReal         passed;

  for (PetscInt k = 0; k < (PetscInt)(0.2 / dt + 0.5); k++) {
    solid_case_run(solids, dt, 1);
    assert_false(solid_report(solids->solid).is_unsolved);
  }
  change = vector3_subtract(solid_report(solids->solid).momentum, start.momentum);
  passed = 1 + solid_case_velocity(solids, 0).at[X] / 3;
  note("%d steps of %g s: the ball has passed %.4f on, momentum to %.1e", (int)(0.2 / dt + 0.5), (double)dt,
       (double)passed, (double)(vector3_norm(change) / vector3_norm(start.momentum)));
  assert_near(vector3_norm(change) / vector3_norm(start.momentum), 0, 1e-12);
  solid_case_free(solids);
  return passed;
}

/* What explicit steps of the limit pass, implicit ones pass that are up to fifty times as long. */
static void a_struck_block_takes_what_explicit_steps_pass(void **state)
{
  (void)state;
  for (PetscInt k = 0; k < 2; k++) {
    const PetscReal aside = k ? 0.05 : 0., mu = k ? 0.3 : 0.;
    const PetscReal passed = strike(ELASTIC_EXPLICIT, SOLVER_CG, 1e-4, aside, mu);

    assert_near(strike(ELASTIC_NEWMARK, SOLVER_CG, 1e-3, aside, mu) / passed, 1, 0.005);
    assert_near(strike(ELASTIC_NEWMARK, SOLVER_CHOLESKY, 5e-3, aside, mu) / passed, 1, 0.02);
    assert_near(strike(ELASTIC_BACKWARD_EULER, SOLVER_CHOLESKY, 1e-3, aside, mu) / passed, 1, 0.05);
    assert_near(strike(ELASTIC_BACKWARD_EULER, SOLVER_CG, 5e-3, aside, mu) / passed, 1, 0.2);
  }
}

/* A box on a soft block on an incline below the angle of friction: nothing creeps. */
static void a_free_box_rests_on_a_soft_block(void **state)
{
  (void)state;
  for (PetscInt k = 0; k < 2; k++) {
    SolidCase *solids = new_block(ELASTIC_BACKWARD_EULER, 0.3, 0.5);
    Vector3    before;
    PetscReal  drift;

    solids->config.solver = k ? SOLVER_CG : SOLVER_CHOLESKY;
    solid_case_add_box(solids, vector3(0.003, 0.002, 0.25), vector3(0.08, 0.08, 0.05), vector3(0, 0, 0.3))
        ->friction = 0.5;
    solid_case_start(solids);
    solid_case_run(solids, 0.01, 120);
    before = solid_case_position(solids, 1);
    solid_case_run(solids, 0.01, 20);
    drift = vector3_norm(vector3_subtract(solid_case_position(solids, 1), before)) / 0.2;
    note("drift %g m/s, %d iterations", (double)drift, (int)solid_report(solids->solid).newton_iterations);
    assert_true(drift < 1e-6);
    assert_true(before.at[Z] > 0.24);
    solid_case_free(solids);
  }
}

/* By one linearisation. */
static void what_cannot_find_friction_is_refused(void **state)
{
  SolidCase *solids = new_block(ELASTIC_NEWMARK, 0, 0.3);

  (void)state;
  solids->config.newton = 1;
  solid_case_refuse(solids, "solids.newton");
}

TEST_MAIN(cmocka_unit_test(a_block_slides_as_coulomb_says),
          cmocka_unit_test(a_block_that_sticks_does_not_creep),
          cmocka_unit_test(friction_follows_a_velocity_that_turns),
          cmocka_unit_test(a_struck_block_takes_what_explicit_steps_pass),
          cmocka_unit_test(a_free_box_rests_on_a_soft_block),
          cmocka_unit_test(what_cannot_find_friction_is_refused))
