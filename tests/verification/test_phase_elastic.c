/* Elastic regions against solutions in closed form (docs/numerics.md, 13a). */
#include "harness.h"
#include "scene_run.h"

#include <millrace/elastic.h>
#include <millrace/tensor.h>

/* A region that fills the box, beside one that is nowhere in it. */
#define FILLS(elasticity)                                                                                    \
  "regions:\n"                                                                                               \
  "  - {name: gel, density: 1, " elasticity "}\n"                                                            \
  "  - {name: nothing, type: empty, shape: {sphere: {center: [50, 50], radius: 1}}}\n"                       \
  "interfaces: {particles: 0}\n"

/* C at the first cell of each rank. */
static Matrix3 ConformationAtFirstCell(SceneRun *flow)
{
  const GridBox *box = grid_box(flow->grid);
  const PetscInt c = box_index(box, box->start[X], box->start[Y], box->start[Z]);
  PetscReal      at[3];
  Matrix3        logarithm = {{{0.}}};
  PetscInt       count;
  Vec           *fields;

  assert_success(PhaseGetStrains(simulation_phase(flow->simulation), &count, &fields));
  assert_int_equal(count, 3);
  for (PetscInt n = 0; n < 3; n++) {
    const PetscReal *values;

    assert_success(VecGetArrayRead(fields[n], &values));
    at[n] = values[c];
    assert_success(VecRestoreArrayRead(fields[n], &values));
  }
  logarithm.at[X][X] = at[0];
  logarithm.at[Y][Y] = at[1];
  logarithm.at[X][Y] = logarithm.at[Y][X] = at[2];
  return symmetric3_exp(&logarithm);
}

/* V1: shear at the rate 2 from rest, relaxation time 1, to t = 2; errors of the shear stress and of the first
   normal stress difference over their steady values, the largest of all steps. */
static void StartShear(PetscReal dt, PetscReal errors[2])
{
  const PetscReal rate = 2., end = 2.;
  SceneRun        flow;

  assert_success(SceneRunCreate(
      PETSC_COMM_WORLD, &flow,
      "grid: {dimension: 2, size: [1, 1], resolution: 8}\n"
      "run: {end_time: 2, frame_interval: 2}\n"
      "fluid: {initial: {velocity: [2*y - 1, 0]}, sides: {x_low: periodic, x_high: periodic,\n"
      "  y_low: {type: wall, velocity: [-1, 0]}, y_high: {type: wall, velocity: [1, 0]}}}\n" FILLS(
          "elasticity: {modulus: 3, relaxation: 1}")));
  errors[0] = errors[1] = 0.;
  for (PetscInt n = 1; n <= PetscFloorReal(end / dt + 0.5); n++) {
    const PetscReal t = n * dt, shear = rate * (1. - PetscExpReal(-t));
    const PetscReal difference = 2. * rate * rate * (1. - PetscExpReal(-t) * (1. + t));
    Matrix3         c;

    assert_success(SceneRunStep(&flow, 1, dt));
    c = ConformationAtFirstCell(&flow);
    errors[0] = PetscMax(errors[0], PetscAbsReal(c.at[X][Y] - shear) / rate);
    errors[1] = PetscMax(errors[1], PetscAbsReal(c.at[X][X] - c.at[Y][Y] - difference) / (2. * rate * rate));
  }
  assert_success(SceneRunDestroy(&flow));
}

static void shear_from_rest_has_the_stresses_of_oldroyd_b(void **state)
{
  PetscReal coarse[2], fine[2], proof[2];

  (void)state;
  StartShear(0.1, coarse);
  StartShear(0.05, fine);
  StartShear(0.01, proof);
  note("V1 at lambda/100: shear %.2e, first normal difference %.2e; order %.2f and %.2f", (double)proof[0],
       (double)proof[1], (double)order_between(coarse[0], fine[0]),
       (double)order_between(coarse[1], fine[1]));
  for (PetscInt n = 0; n < 2; n++) {
    assert_on_all_ranks(proof[n] <= 5e-3);
    assert_on_all_ranks(order_between(coarse[n], fine[n]) >= 1.9);
  }
}

/* V2: a channel of height 2 is driven by a constant force from t = 0; the steady velocity in the middle is
   1/2. Each sine of the profile is a pair of linear equations in time, taken here in small steps: rho u' = f
   - k^2 (mu u + s), lambda s' = G lambda u - s.
 */
static PetscReal exact_centre(PetscReal time)
{
  const PetscReal solvent = 0.5, modulus = 0.5, lambda = 1., force = 1.;
  PetscReal       sum = 0.;

  for (PetscInt mode = 1; mode < 60; mode += 2) {
    const PetscReal k = 0.5 * PETSC_PI * mode, f = force * 2. / k;
    const PetscInt  steps = 4000;
    const PetscReal dt = time / steps;
    PetscReal       u = 0., s = 0.;

    for (PetscInt n = 0; n < steps; n++) { /* trapezoidal */
      const PetscReal a = 0.5 * dt * k * k, b = 0.5 * dt;
      const PetscReal u_part = u + dt * f - a * (solvent * u + s);
      const PetscReal s_part = s + b * (modulus * u - s / lambda);

      u = (u_part - a * s_part / (1. + b / lambda)) /
          (1. + a * solvent + a * b * modulus / (1. + b / lambda));
      s = (s_part + b * modulus * u) / (1. + b / lambda);
    }
    sum += u * (mode % 4 == 1 ? 1. : -1.);
  }
  return sum;
}

static void StartChannel(PetscInt cells, PetscReal dt, PetscReal *error)
{
  SceneRun flow;

  assert_success(SceneRunCreate(PETSC_COMM_WORLD, &flow,
                                "grid: {dimension: 2, size: [0.25, 2], resolution: %d}\n"
                                "run: {end_time: 4, frame_interval: 4}\n"
                                "fluid: {body_force: [1, 0], viscosity_tolerance: 1e-10,\n"
                                "  sides: {all: wall, x_low: periodic, x_high: periodic}}\n" FILLS(
                                    "viscosity: 0.5, elasticity: {modulus: 0.5, relaxation: 1}"),
                                (int)cells / 8));
  *error = 0.;
  for (PetscInt n = 1; n <= 16; n++) {
    PetscReal u[2] = {0., 0.};

    assert_success(SceneRunStep(&flow, (PetscInt)PetscFloorReal(0.25 / dt + 0.5), dt));
    for (PetscInt side = 0; side < 2; side++)
      assert_success(SceneRunSample(&flow, X, vector3(0.125, 1. + 2. * (side - 0.5) / cells, 0.), &u[side]));
    *error = PetscMax(*error, PetscAbsReal(0.5 * (u[0] + u[1]) - exact_centre(0.25 * n)) / 0.5);
  }
  assert_success(SceneRunDestroy(&flow));
}

static void a_channel_starts_as_oldroyd_b_does(void **state)
{
  PetscReal coarse, fine, proof;

  (void)state;
  assert_near(exact_centre(1.3), 0.62871694, 1e-5);
  StartChannel(32, 0.05, &coarse);
  StartChannel(32, 0.025, &proof);
  StartChannel(32, 0.0125, &fine);
  note("V2, 32 cells, lambda/20, /40, /80: %.3f %.3f %.3f %% of the steady velocity, order %.2f",
       100. * (double)coarse, 100. * (double)proof, 100. * (double)fine,
       (double)order_between(coarse, proof));
  assert_on_all_ranks(proof <= 0.02);
  assert_on_all_ranks(order_between(coarse, proof) >= 0.9);
}

/* The amplitude of sin(2 pi y) in u_x. */
static PetscReal SineAmplitude(SceneRun *flow)
{
  const GridBox   *box = grid_box(flow->grid);
  const GridRange  faces = grid_faces(flow->grid, X);
  PetscReal        sums[2] = {0., 0.};
  const PetscReal *u;
  Vec              values;

  assert_success(SceneRunGetField(flow, X, &values));
  assert_success(VecGetArrayRead(values, &u));
  FOR_CELLS(&faces, i, j, k) {
    const PetscReal wave = PetscSinReal(2. * PETSC_PI * grid_face_centre(flow->grid, X, i, j, k).at[Y]);

    sums[0] += wave * u[box_index(box, i, j, k)];
    sums[1] += wave * wave;
  }
  assert_success(VecRestoreArrayRead(values, &u));
  assert_success(MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPIU_REAL, MPIU_SUM, box->comm));
  return sums[0] / sums[1];
}

/* omega = k sqrt(G / rho) = 2 pi, damped by the implicit step at the rate omega^2 dt / 2. */
static void a_shear_wave_swings_as_a_solid_does(void **state)
{
  enum { STEPS = 160 };
  const PetscReal dt = 0.01, omega = 2. * PETSC_PI;
  PetscReal       amplitude[STEPS + 1], crossing[3], peak[2], period, damping;
  PetscInt        crossings = 0, peaks = 0;
  SceneRun        flow;

  (void)state;
  assert_success(
      SceneRunCreate(PETSC_COMM_WORLD, &flow,
                     "grid: {dimension: 2, size: [0.25, 1], resolution: 8}\n"
                     "run: {end_time: 2, frame_interval: 2}\n"
                     "fluid: {initial: {velocity: [0.001*sin(2*pi*y), 0]}, viscosity_tolerance: 1e-10,\n"
                     "  sides: {all: periodic}}\n" FILLS("elasticity: {modulus: 1}")));
  amplitude[0] = SineAmplitude(&flow);
  for (PetscInt n = 1; n <= STEPS; n++) {
    assert_success(SceneRunStep(&flow, 1, dt));
    amplitude[n] = SineAmplitude(&flow);
    if (amplitude[n] * amplitude[n - 1] < 0. && crossings < 3)
      crossing[crossings++] = dt * (n - 1 + amplitude[n - 1] / (amplitude[n - 1] - amplitude[n]));
    if (n > 1 && (amplitude[n - 1] - amplitude[n - 2]) * (amplitude[n] - amplitude[n - 1]) < 0. && peaks < 2)
      peak[peaks++] = PetscAbsReal(amplitude[n - 1]) +
                      PetscSqr(amplitude[n] - amplitude[n - 2]) /
                          (8. * PetscAbsReal(2. * amplitude[n - 1] - amplitude[n] - amplitude[n - 2]));
  }
  assert_success(SceneRunDestroy(&flow));
  assert_on_all_ranks(crossings == 3 && peaks == 2);
  period = crossing[2] - crossing[0];
  damping = PetscLogReal(peak[0] / peak[1]) / (0.5 * period);
  note("period %.4f of 1, damping %.4f/s of %.4f/s", (double)period, (double)damping,
       (double)(0.5 * omega * omega * dt));
  assert_near(period, 1., 0.01);
  assert_near(damping / (0.5 * omega * omega * dt), 1., 0.1);
}

/* Pulled by a force until its own stress bears it; then nothing creeps, and the shear is force / (G k). */
static void what_is_strained_comes_to_rest(void **state)
{
  PetscReal     largest = 0., strain;
  ElasticReport reports[REGIONS_MAX];
  FluidTotals   totals;
  SceneRun      flow;

  (void)state;
  assert_success(SceneRunCreate(PETSC_COMM_WORLD, &flow,
                                "grid: {dimension: 2, size: [0.25, 1], resolution: 8}\n"
                                "run: {end_time: 4, frame_interval: 4}\n"
                                "fluid: {body_force: [1000*sin(2*pi*y), 0], viscosity_tolerance: 1e-10,\n"
                                "  pressure_tolerance: 1e-10, sides: {all: periodic}}\n" FILLS(
                                    "viscosity: 500, elasticity: {modulus: 4000, relaxation: inf}")));
  assert_success(SceneRunStep(&flow, 100, 0.04));
  assert_success(FluidGetTotals(flow.fluid, &totals));
  assert_success(PhaseMeasureElastic(simulation_phase(flow.simulation), reports));
  largest = totals.largest_speed;
  strain = reports[0].largest_strain;
  note("speed %.2e m/s, largest strain %.5f of %.5f, energy %.6f J", (double)largest, (double)strain,
       (double)(PetscAsinhReal(0.5 / (8. * PETSC_PI)) * PetscSqrtReal(2.)), (double)reports[0].energy);
  assert_near(largest, 0., 1e-8);
  /* log C of a shear g has the values +- 2 asinh(g/2); in cells g is what the grid makes of 1/(2 pi G) */
  assert_near(strain / (PetscAsinhReal(0.5 / (8. * PETSC_PI)) * PetscSqrtReal(2.)), 1., 0.01);
  assert_success(SceneRunDestroy(&flow));
}

TEST_MAIN(cmocka_unit_test(shear_from_rest_has_the_stresses_of_oldroyd_b),
          cmocka_unit_test(a_channel_starts_as_oldroyd_b_does),
          cmocka_unit_test(a_shear_wave_swings_as_a_solid_does),
          cmocka_unit_test(what_is_strained_comes_to_rest))
