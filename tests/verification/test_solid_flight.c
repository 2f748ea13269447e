/* Bodies that nothing touches: parabolas and tops. */
#include "harness.h"
#include "solid_case.h"

#include "solid/solid_impl.h"

static void a_thrown_ball_follows_its_parabola(void **state)
{
  SolidCase *solids = solid_case_new(9.81);
  const int  steps = 100;
  Vector3    position;

  (void)state;
  solid_case_add_sphere(solids, vector3(0, 0, 1), 0.1)->velocity = vector3(3, 0, 4);
  solid_case_start(solids);
  solid_case_run(solids, 0.01, steps);
  position = solid_case_position(solids, 0);
  assert_near(position.at[X], 3, 1e-12);
  assert_near(position.at[Z], 1 + 4 - 0.5 * 9.81, 1e-12);
  assert_near(solid_case_velocity(solids, 0).at[Z], 4 - 9.81, 1e-12);
  solid_case_free(solids);
}

static Formula formula_of(const char text[])
{
  char    message[256];
  Formula formula;

  assert_success(FormulaCreate(text, &formula, message, sizeof(message)));
  assert_non_null(formula);
  return formula;
}

/* The error of x = cos(2t) at t = 3, for a mass on a spring. */
static PetscReal spring_error(int steps)
{
  SolidCase  *solids = solid_case_new(0);
  BodyConfig *ball = solid_case_add_sphere(solids, vector3(1, 0, 0), 0.1);
  Formula     spring = formula_of("-8*x");
  PetscReal   error;
  SolidReport report;

  ball->mass = 2;
  ball->force[X] = spring;
  solid_case_start(solids);
  solid_case_run(solids, 3. / steps, steps);
  error = solid_case_position(solids, 0).at[X] - PetscCosReal(6.);
  report = solid_report(solids->solid);
  /* Verlet's energy neither grows nor falls */
  assert_near(report.kinetic_energy + 4 * PetscSqr(solid_case_position(solids, 0).at[X]), 4,
              4 * 9. / (steps * steps) * 4);
  solid_case_free(solids);
  assert_success(FormulaDestroy(&spring));
  return PetscAbsReal(error);
}

static void a_force_of_place_is_a_spring_to_second_order(void **state)
{
  const PetscReal coarse = spring_error(60), fine = spring_error(120);

  (void)state;
  assert_near(fine, 0, 2e-3);
  assert_near(PetscLog2Real(coarse / fine), 2, 0.1);
}

/* A push that turns with the body: v = F/(m w) (sin w t, 1 - cos w t). */
static PetscReal rocket_error(int steps)
{
  SolidCase  *solids = solid_case_new(0);
  BodyConfig *rocket = solid_case_add_sphere(solids, vector3(0, 0, 0), 0.1);
  Formula     push = formula_of("6");
  Vector3     error;

  rocket->mass = 2;
  rocket->spin = vector3(0, 0, 1.5);
  rocket->force[X] = push;
  rocket->load_axes = LOAD_AXES_BODY;
  solid_case_start(solids);
  solid_case_run(solids, 2. / steps, steps);
  error = vector3_subtract(solid_case_velocity(solids, 0),
                           vector3(2 * PetscSinReal(3.), 2 * (1 - PetscCosReal(3.)), 0));
  solid_case_free(solids);
  assert_success(FormulaDestroy(&push));
  return vector3_norm(error);
}

static void a_push_in_the_axes_of_a_body_turns_with_it(void **state)
{
  const PetscReal coarse = rocket_error(50), fine = rocket_error(100);

  (void)state;
  assert_near(fine, 0, 1e-3);
  assert_near(PetscLog2Real(coarse / fine), 2, 0.1);
}

/* A torque of 4 t N m: w = 2 t^2 / I, which the mean of two ends finds but for round-off. */
static void a_torque_over_time_spins_a_ball_up(void **state)
{
  SolidCase  *solids = solid_case_new(0);
  BodyConfig *ball = solid_case_add_sphere(solids, vector3(0, 0, 0), 0.5);
  Formula     torque = formula_of("4*t");
  PetscReal  *velocity;
  PetscInt    count;

  (void)state;
  ball->mass = 10;
  ball->torque[Z] = torque;
  solid_case_start(solids);
  solid_case_run(solids, 0.05, 40);
  assert_success(SolidGetState(solids->solid, &count, &velocity));
  assert_near(velocity[5], 2 * 4. / solids->solid->bodies[0].inertia.at[Z], 1e-10);
  solid_case_free(solids);
  assert_success(FormulaDestroy(&torque));
}

/* Particles come first in the state vector, three numbers each, then bodies with six. */
static void particles_and_bodies_share_a_state(void **state)
{
  SolidCase      *solids = solid_case_new(9.81);
  ParticleConfig  particles[2] = {{2, {{0, 0, 1}}, {{1, 0, 0}}}, {3, {{0, 1, 0}}, {{0, 0, 5}}}};
  PetscReal      *velocity;
  PetscInt        count;
  SolidReport     report;
  const PetscReal time = 0.5;

  (void)state;
  solids->config.particle_count = 2;
  solids->config.particles = particles;
  solid_case_add_sphere(solids, vector3(5, 0, 0), 0.1)->velocity = vector3(0, 7, 0);
  solid_case_start(solids);
  solid_case_run(solids, time / 50, 50);
  assert_success(SolidGetState(solids->solid, &count, &velocity));
  report = solid_report(solids->solid);
  assert_int_equal(count, 2 * 3 + 6);
  assert_near(velocity[0], 1, 1e-12);
  assert_near(velocity[5], 5 - 9.81 * time, 1e-12);
  assert_near(velocity[7], 7, 1e-12);
  assert_near(report.momentum.at[X], 2, 1e-12);
  /* what falls exactly keeps its energy exactly */
  assert_near(report.kinetic_energy + report.potential_energy,
              0.5 * 2 + 0.5 * 3 * 25 + 2 * 9.81 + 0.5 * solids->solid->bodies[0].mass * 49, 1e-9);
  solid_case_free(solids);
}

/* Half sides that give the principal moments 0.02, 0.02, 0.01 at mass 1 are those of a prism; C5. */
static SolidCase *new_top(Vector3 spin)
{
  SolidCase    *solids = solid_case_new(0);
  const Vector3 half =
      vector3(PetscSqrtReal(1.5 * 0.01), PetscSqrtReal(1.5 * 0.01), PetscSqrtReal(3 * 0.015));
  BodyConfig *top = solid_case_add_box(solids, vector3(0, 0, 0), half, vector3(0, 0, 0));

  top->mass = 1;
  top->spin = spin;
  solid_case_start(solids);
  return solids;
}

static Vector3 axis_of(SolidCase *solids)
{
  return quaternion_rotate(solid_case_rotation(solids, 0), vector3(0, 0, 1));
}

/* The axis goes round the fixed angular momentum at |L| / I1; C5 of the validation cases, without its torque.
 */
static void a_free_top_keeps_momentum_and_energy(void **state)
{
  const Vector3     spin = vector3(40, 0, 200);
  SolidCase        *top = new_top(spin);
  const PetscReal   turn = 2 * PETSC_PI / vector3_norm(spin), dt = turn / 4000;
  const SolidReport start = solid_report(top->solid);
  SolidReport       end;

  (void)state;
  solid_case_run(top, dt, 100 * 4000);
  end = solid_report(top->solid);
  assert_near(vector3_norm(vector3_subtract(end.angular_momentum, start.angular_momentum)) /
                  vector3_norm(start.angular_momentum),
              0, 1e-10);
  assert_near(end.kinetic_energy / start.kinetic_energy, 1, 1e-4);
  solid_case_free(top);
}

static void a_free_top_precesses_about_its_momentum(void **state)
{
  const Vector3   spin = vector3(20, 0, 100), momentum = vector3(0.02 * 20, 0, 0.01 * 100);
  SolidCase      *top = new_top(spin);
  const PetscReal time = 0.1, angle = vector3_norm(momentum) / 0.02 * time;
  const Vector3   rotation = vector3_scale(angle / vector3_norm(momentum), momentum);
  const Vector3   expected = quaternion_rotate(quaternion_from_rotation(rotation), vector3(0, 0, 1));

  (void)state;
  solid_case_run(top, time / 400, 400);
  assert_near(vector3_norm(vector3_subtract(axis_of(top), expected)), 0, 1e-3);
  solid_case_free(top);
}

/* A brick turning about no axis of its own. */
static Quaternion tumbled(PetscInt steps)
{
  SolidCase  *solids = solid_case_new(0);
  BodyConfig *brick = solid_case_add_box(solids, vector3(0, 0, 0), vector3(0.1, 0.2, 0.35), vector3(0, 0, 0));
  Quaternion  rotation;

  brick->spin = vector3(5, 3, 4);
  solid_case_start(solids);
  solid_case_run(solids, 1. / (PetscReal)steps, steps);
  rotation = solid_case_rotation(solids, 0);
  solid_case_free(solids);
  return rotation;
}

static PetscReal angle_between(Quaternion a, Quaternion b)
{
  return 2 * vector3_norm(quaternion_multiply(a, quaternion_conjugate(b)).vector);
}

static void a_tumbling_brick_converges_at_second_order(void **state)
{
  const Quaternion reference = tumbled(12800);
  const PetscReal  coarse = angle_between(tumbled(200), reference),
                  fine = angle_between(tumbled(400), reference);

  (void)state;
  assert_near(PetscLog2Real(coarse / fine), 2, 0.1);
}

/* One radian in a step is far beyond what the second-order update can follow. */
static void a_brick_that_turns_far_in_a_step_keeps_its_energy(void **state)
{
  SolidCase  *solids = solid_case_new(0);
  BodyConfig *brick = solid_case_add_box(solids, vector3(0, 0, 0), vector3(0.5, 0.3, 0.2), vector3(0, 0, 0));
  SolidReport start, end;

  (void)state;
  brick->spin = vector3(300, 900, 300);
  solid_case_start(solids);
  start = solid_report(solids->solid);
  solid_case_run(solids, 1e-3, 200);
  end = solid_report(solids->solid);
  assert_near(end.kinetic_energy / start.kinetic_energy, 1, 1e-3);
  assert_near(vector3_norm(vector3_subtract(end.angular_momentum, start.angular_momentum)) /
                  vector3_norm(start.angular_momentum),
              0, 1e-12);
  solid_case_free(solids);
}

TEST_MAIN(cmocka_unit_test(a_thrown_ball_follows_its_parabola),
          cmocka_unit_test(a_force_of_place_is_a_spring_to_second_order),
          cmocka_unit_test(a_push_in_the_axes_of_a_body_turns_with_it),
          cmocka_unit_test(a_torque_over_time_spins_a_ball_up),
          cmocka_unit_test(particles_and_bodies_share_a_state),
          cmocka_unit_test(a_free_top_keeps_momentum_and_energy),
          cmocka_unit_test(a_free_top_precesses_about_its_momentum),
          cmocka_unit_test(a_tumbling_brick_converges_at_second_order),
          cmocka_unit_test(a_brick_that_turns_far_in_a_step_keeps_its_energy))
