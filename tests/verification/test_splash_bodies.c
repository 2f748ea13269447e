/* Rigid bodies in liquid whose pressure only pushes: what goes from one to the other. */
#include "harness.h"
#include "splash_case.h"

/* A free ball of a density (of water: 1) with its first velocity. */
static SplashBody make_ball(Vector3 centre, PetscReal radius, PetscReal density, Shape *shape)
{
  const PetscReal mass = 1000. * density * 4. / 3. * PETSC_PI * radius * radius * radius;
  SplashBody      ball = {.centre = centre, .inverse_mass = 1. / mass, .place.rotation.scalar = 1.};

  assert_success(ShapeCreateSphere(centre, radius, shape));
  ball.shape = *shape;
  for (PetscInt d = 0; d < DIM; d++) {
    ball.inverse_inertia.at[d][d] = 2.5 / (mass * radius * radius);
    ball.low.at[d] = centre.at[d] - radius;
    ball.high.at[d] = centre.at[d] + radius;
  }
  return ball;
}

static void shift_body(SplashBody *body, Vector3 way)
{
  body->place.position = vector3_add(body->place.position, way);
  body->centre = vector3_add(body->centre, way);
  body->low = vector3_add(body->low, way);
  body->high = vector3_add(body->high, way);
}

/* With no side near and no gravity: in every solve what the bodies get the liquid loses. */
static void bodies_and_liquid_exchange_momentum(void **state)
{
  const PetscReal densities[] = {0.1, 1., 8.};

  (void)state;
  for (PetscInt n = 0; n < 3; n++) {
    PetscReal  exchanged = 0., before, momentum, kept;
    SplashCase one;
    SplashBody ball;
    Shape      shape;
    Formula    speed;
    char       message[64];

    splash_case_prepare(3, 24, vector3(2.4, 1.6, 1.6), &one);
    one.fluid.gravity = vector3(0., 0., 0.);
    assert_success(FormulaCreate("2", &speed, message, sizeof(message)));
    one.liquids[0].velocity[X] = speed;
    splash_case_add_block(&one, vector3(0.4, 0.4, 0.4), vector3(1., 1.2, 1.2));
    splash_case_begin(PETSC_COMM_WORLD, &one);
    ball = make_ball(vector3(1.26, 0.85, 0.8), 0.25 + 0.01 * n, densities[n], &shape);
    assert_success(SplashSetBodies(one.splash, 1, &ball));
    before = splash_case_totals(&one).momentum[X];
    for (PetscInt step = 0; step < 12; step++) {
      const PetscReal dt = splash_case_step_by(&one, 0.5);

      ball = *splash_bodies(one.splash);
      exchanged = PetscMax(exchanged, ball.impulse.linear.at[X]);
      for (PetscInt d = 0; d < DIM; d++)
        assert_near(ball.impulse.linear.at[d] + splash_report(one.splash)->impulse[d], 0., 1e-9 * before);
      shift_body(&ball, vector3_scale(dt, ball.velocity.linear));
      assert_success(SplashSetBodies(one.splash, 1, &ball));
      ball = *splash_bodies(one.splash);
    }
    momentum = splash_case_totals(&one).momentum[X] + ball.velocity.linear.at[X] / ball.inverse_mass;
    kept = momentum / before;
    print_message("# density %g: largest impulse %.2e of the momentum; kept in all %.5f\n",
                  (double)densities[n], (double)(exchanged / before), (double)kept);
    assert_on_all_ranks(exchanged > 1e-3 * before);
    assert_near(kept, 1., 0.005);
    splash_case_end(&one);
    assert_success(FormulaDestroy(&speed));
    assert_success(ShapeDestroy(&shape));
  }
}

TEST_MAIN(cmocka_unit_test(bodies_and_liquid_exchange_momentum))
