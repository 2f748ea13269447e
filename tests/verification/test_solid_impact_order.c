/* Several impacts in one step: balls at the step that the solver chooses, beside a reference that goes from
   impact to impact. */
#include "harness.h"
#include "solids.h"
#include "solid_case.h"

enum { BALLS = 5 };

typedef struct {
  PetscReal mass, radius;
  Vector3   position, velocity;
} Ball;

/* When two balls that fly on as they do now meet; infinite if never. */
static PetscReal meeting_time(const Ball *a, const Ball *b)
{
  const Vector3   x = vector3_subtract(b->position, a->position);
  const Vector3   v = vector3_subtract(b->velocity, a->velocity);
  const PetscReal reach = a->radius + b->radius, half = vector3_dot(x, v), square = vector3_dot(v, v);
  const PetscReal rest = half * half - square * (vector3_dot(x, x) - reach * reach);

  if (half >= 0 || rest <= 0)
    return PETSC_INFINITY;
  return PetscMax(0, (-half - PetscSqrtReal(rest)) / square);
}

static void rebound(Ball *a, Ball *b, PetscReal restitution)
{
  const Vector3   x = vector3_subtract(b->position, a->position), n = vector3_scale(1 / vector3_norm(x), x);
  const PetscReal speed = vector3_dot(n, vector3_subtract(b->velocity, a->velocity));
  const PetscReal impulse = -(1 + restitution) * speed / (1 / a->mass + 1 / b->mass);

  a->velocity = vector3_subtract(a->velocity, vector3_scale(impulse / a->mass, n));
  b->velocity = vector3_add(b->velocity, vector3_scale(impulse / b->mass, n));
}

/* Returns the number of impacts until `end`. */
static PetscInt fly(Ball balls[], PetscReal restitution, PetscReal end)
{
  PetscReal time = 0;

  for (PetscInt impacts = 0;; impacts++) {
    PetscReal next = PETSC_INFINITY;
    PetscInt  first = 0, second = 0;

    for (PetscInt a = 0; a < BALLS; a++)
      for (PetscInt b = a + 1; b < BALLS; b++)
        if (meeting_time(&balls[a], &balls[b]) < next) {
          next = meeting_time(&balls[a], &balls[b]);
          first = a;
          second = b;
        }
    next = PetscMin(next, end - time);
    for (PetscInt b = 0; b < BALLS; b++)
      balls[b].position = vector3_add(balls[b].position, vector3_scale(next, balls[b].velocity));
    time += next;
    if (time >= end)
      return impacts;
    rebound(&balls[first], &balls[second], restitution);
  }
}

/* Until `end`, by the solver's own steps. */
static void run_balls(SolidCase *solids, const Ball balls[], PetscReal restitution, PetscReal end)
{
  for (PetscInt b = 0; b < BALLS; b++) {
    BodyConfig *body = solid_case_add_sphere(solids, balls[b].position, balls[b].radius);

    body->mass = balls[b].mass;
    body->velocity = balls[b].velocity;
    body->restitution = restitution;
  }
  solid_case_start(solids);
  while (solids->time < end) {
    PetscReal dt;

    assert_success(SolidGetTimeStepLimit(solids->solid, solid_longest_path(solids->solid), NULL, &dt));
    solid_case_run(solids, PetscMin(dt, end - solids->time), 1);
  }
}

/* Velocities to 1e-6 of the fastest at the start, positions to 1e-6 of the way it would go. */
static void check_balls(const Ball start[], PetscReal restitution, PetscReal end)
{
  SolidCase *solids = solid_case_new(0);
  PetscReal  fastest = 0;
  PetscInt   impacts;
  Ball       balls[BALLS];

  memcpy(balls, start, sizeof(balls));
  for (PetscInt b = 0; b < BALLS; b++)
    fastest = PetscMax(fastest, vector3_norm(balls[b].velocity));
  run_balls(solids, balls, restitution, end);
  impacts = fly(balls, restitution, end);
  assert_true(impacts >= 3);
  for (PetscInt b = 0; b < BALLS; b++) {
    const Vector3 off = vector3_subtract(solid_case_velocity(solids, b), balls[b].velocity);
    const Vector3 away = vector3_subtract(solid_case_position(solids, b), balls[b].position);

    assert_near(vector3_norm(off) / fastest, 0, 1e-6);
    assert_near(vector3_norm(away) / (fastest * end), 0, 1e-6);
  }
  solid_case_free(solids);
}

/* Masses m, m q, m q^2 ...; gaps in parts of the first radius; the others move as `speeds` say. */
static void check_row(PetscReal ratio, PetscReal gap, PetscReal restitution, const PetscReal speeds[BALLS])
{
  Ball      balls[BALLS];
  PetscReal at = 0;

  for (PetscInt b = 0; b < BALLS; b++) {
    const PetscReal radius = 0.1 * (1 + 0.3 * (PetscReal)(b * b % 4));

    at += b ? radius + 0.1 * gap * (1 + 0.37 * (PetscReal)b) : 0;
    balls[b] = (Ball){PetscPowReal(ratio, (PetscReal)b), radius, vector3(at, 0, 0), vector3(speeds[b], 0, 0)};
    at += radius;
  }
  check_balls(balls, restitution, ratio < 1 ? 3 : 40); /* heavier ones are slower */
}

static const PetscReal ratios[] = {0.1, 0.3, 0.5, 2, 3, 7}, gaps[] = {1e-9, 0.01, 0.1, 0.4, 1.5};

static void check_rows(PetscReal restitution, const PetscReal speeds[BALLS])
{
  for (size_t r = 0; r < sizeof(ratios) / sizeof(*ratios); r++)
    for (size_t g = 0; g < sizeof(gaps) / sizeof(*gaps); g++)
      check_row(ratios[r], gaps[g], restitution, speeds);
}

static void a_ball_runs_into_a_row_at_rest(void **state)
{
  const PetscReal speeds[BALLS] = {1};

  (void)state;
  check_rows(1, speeds);
}

static void a_row_that_is_not_elastic_is_hit(void **state)
{
  const PetscReal speeds[BALLS] = {1};

  (void)state;
  check_rows(0.8, speeds);
  check_rows(0.5, speeds);
}

static void a_row_whose_balls_move_is_hit(void **state)
{
  const PetscReal towards[BALLS] = {1, 0.3, -0.2, 0.1, -0.7}, away[BALLS] = {1, 0.6, 0.35, 0.2, 0.1};

  (void)state;
  check_rows(1, towards);
  check_rows(1, away);
  check_rows(0.8, towards);
}

/* Balls beside the line of the first: oblique impacts in space, and some that just miss. */
static void balls_hit_each_other_aside(void **state)
{
  uint64_t seed = 7;

  (void)state;
  for (PetscInt trial = 0, hits = 0; hits < 40; trial++) {
    Ball balls[BALLS], flown[BALLS];

    assert_true(trial < 4000);
    for (PetscInt b = 0; b < BALLS; b++) {
      const PetscReal aside = b ? 0.06 : 0;

      balls[b].mass = PetscPowReal(10, 0.7 * random_number(&seed));
      balls[b].radius = 0.1 * (1 + 0.4 * random_number(&seed));
      balls[b].position =
          vector3(0.33 * (PetscReal)b, aside * random_number(&seed), aside * random_number(&seed));
      balls[b].velocity = vector3_scale(b ? 0.2 : 0, random_direction(&seed));
    }
    balls[0].velocity = vector3(2, 0.1 * random_number(&seed), 0.1 * random_number(&seed));
    memcpy(flown, balls, sizeof(flown));
    if (fly(flown, 0.9, 1) < BALLS - 1)
      continue;
    hits++;
    check_balls(balls, 0.9, 1);
  }
}

/* Bounces off the floor, whatever part of a step they come at: energy, and where the ball is. */
static void a_ball_on_the_floor_bounces_when_it_gets_there(void **state)
{
  const PetscReal height = 0.7, g = 10, fall = PetscSqrtReal(2 * height / g), end = 8.3 * fall;
  const PetscReal since = 0.3 * fall, radius = 0.1; /* the fifth time it comes down */
  SolidCase      *solids = solid_case_new(g);
  PetscReal       dt;

  (void)state;
  solid_case_add_plane(solids, vector3(0, 0, 0), vector3(0, 0, 1))->restitution = 1;
  solid_case_add_sphere(solids, vector3(0, 0, radius + height), radius)->restitution = 1;
  solid_case_start(solids);
  while (solids->time < end) {
    assert_success(SolidGetTimeStepLimit(solids->solid, solid_longest_path(solids->solid), NULL, &dt));
    solid_case_run(solids, PetscMin(dt, end - solids->time), 1);
  }
  assert_near(solid_case_position(solids, 1).at[Z] - radius, height - 0.5 * g * since * since, 1e-6 * height);
  assert_near(solid_case_velocity(solids, 1).at[Z], -g * since, 1e-6 * g * fall);
  solid_case_free(solids);
}

TEST_MAIN(cmocka_unit_test(a_ball_on_the_floor_bounces_when_it_gets_there),
          cmocka_unit_test(a_ball_runs_into_a_row_at_rest),
          cmocka_unit_test(a_row_that_is_not_elastic_is_hit), cmocka_unit_test(a_row_whose_balls_move_is_hit),
          cmocka_unit_test(balls_hit_each_other_aside))
