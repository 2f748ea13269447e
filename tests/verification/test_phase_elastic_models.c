/* The models of elasticity, each against what is known of it exactly (docs/numerics.md, 13a). */
#include "harness.h"
#include "scene_run.h"

#include <millrace/elastic.h>
#include <millrace/fluid_step.h>
#include <millrace/tensor.h>

/* A region that fills the box, beside one that is nowhere in it. */
#define FILLS(elasticity)                                                                                    \
  "regions:\n"                                                                                               \
  "  - {name: gel, density: 1, " elasticity "}\n"                                                            \
  "  - {name: nothing, type: empty, shape: {sphere: {center: [50, 50], radius: 1}}}\n"                       \
  "interfaces: {particles: 0}\n"

typedef enum { XX, YY, XY, PLANE_COMPONENTS } PlaneComponent;

/* What is kept at the cell of each rank that is nearest to a point. */
static void StrainAt(SceneRun *flow, Vector3 point, PetscReal strain[PLANE_COMPONENTS])
{
  const GridBox  *box = grid_box(flow->grid);
  const PetscReal h = grid_spacing(flow->grid);
  PetscInt        at[DIM] = {0, 0, 0}, count;
  Vec            *fields;

  for (PetscInt d = 0; d < 2; d++)
    at[d] = (PetscInt)PetscFloorReal((point.at[d] - grid_origin(flow->grid).at[d]) / h);
  assert_success(PhaseGetStrains(simulation_phase(flow->simulation), &count, &fields));
  assert_int_equal(count, PLANE_COMPONENTS);
  for (PetscInt n = 0; n < PLANE_COMPONENTS; n++) {
    const PetscReal *values;

    assert_success(VecGetArrayRead(fields[n], &values));
    strain[n] = values[box_index(box, at[X], at[Y], 0)];
    assert_success(VecRestoreArrayRead(fields[n], &values));
  }
}

/* C at a cell. */
static Matrix3 ConformationAt(SceneRun *flow, Vector3 point)
{
  Matrix3   logarithm = {{{0.}}};
  PetscReal at[PLANE_COMPONENTS];

  StrainAt(flow, point, at);
  logarithm.at[X][X] = at[XX];
  logarithm.at[Y][Y] = at[YY];
  logarithm.at[X][Y] = logarithm.at[Y][X] = at[XY];
  return symmetric3_exp(&logarithm);
}

/* In shear at the rate 2 from rest, relaxation time 1: shear stress and first normal stress difference over
   the modulus. */
enum { RATE = 2 };
typedef void (*Stresses)(SceneRun *flow, PetscReal stresses[2]);
typedef void (*Exact)(PetscReal time, PetscReal stresses[2]);

static void stresses_of_rotated_strain(SceneRun *flow, PetscReal stresses[2])
{
  PetscReal strain[PLANE_COMPONENTS];

  StrainAt(flow, vector3(0.4, 0.4, 0.), strain);
  stresses[0] = 2. * strain[XY];
  stresses[1] = 2. * (strain[XX] - strain[YY]);
}

static void exact_rotated_strain(PetscReal t, PetscReal stresses[2])
{
  const PetscReal w = RATE, left = PetscExpReal(-t), c = PetscCosReal(w * t), s = PetscSinReal(w * t);

  stresses[0] = w / (1. + w * w) * (1. - left * (c - w * s));
  stresses[1] = 2. * w * w / (1. + w * w) * (1. - left * (c + s / w));
}

static const PetscReal mobility = 0.3, extensibility = 3.;

static void stresses_of_giesekus(SceneRun *flow, PetscReal stresses[2])
{
  const Matrix3 c = ConformationAt(flow, vector3(0.4, 0.4, 0.));

  stresses[0] = c.at[X][Y];
  stresses[1] = c.at[X][X] - c.at[Y][Y];
}

static PetscReal spring(const PetscReal c[PLANE_COMPONENTS])
{
  return (PetscSqr(extensibility) - 2.) / (PetscSqr(extensibility) - c[XX] - c[YY]);
}

static void stresses_of_fene_p(SceneRun *flow, PetscReal stresses[2])
{
  const Matrix3   c = ConformationAt(flow, vector3(0.4, 0.4, 0.));
  const PetscReal at[PLANE_COMPONENTS] = {c.at[X][X], c.at[Y][Y], c.at[X][Y]};

  stresses[0] = spring(at) * at[XY];
  stresses[1] = spring(at) * (at[XX] - at[YY]);
}

static void giesekus_rate(const PetscReal c[], PetscReal rate[])
{
  const PetscReal x = c[XX] - 1., y = c[YY] - 1., s = c[XY];

  rate[XX] = 2. * RATE * s - x - mobility * (x * x + s * s);
  rate[YY] = -y - mobility * (y * y + s * s);
  rate[XY] = RATE * c[YY] - s - mobility * s * (x + y);
}

static void fene_p_rate(const PetscReal c[], PetscReal rate[])
{
  rate[XX] = 2. * RATE * c[XY] - spring(c) * c[XX] + 1.;
  rate[YY] = -spring(c) * c[YY] + 1.;
  rate[XY] = RATE * c[YY] - spring(c) * c[XY];
}

/* C after `time` by Runge's and Kutta's method in small steps. */
static void integrate(void (*find_rate)(const PetscReal[], PetscReal[]), PetscReal time,
                      PetscReal c[PLANE_COMPONENTS])
{
  const PetscInt  steps = (PetscInt)(400. * time) + 1;
  const PetscReal dt = time / (PetscReal)steps, parts[] = {0., 0.5, 0.5, 1.}, weights[] = {1., 2., 2., 1.};

  c[XX] = c[YY] = 1.;
  c[XY] = 0.;
  for (PetscInt n = 0; n < steps; n++) {
    PetscReal rate[PLANE_COMPONENTS] = {0.}, sum[PLANE_COMPONENTS] = {0.}, at[PLANE_COMPONENTS];

    for (PetscInt part = 0; part < 4; part++) {
      for (PetscInt m = 0; m < PLANE_COMPONENTS; m++)
        at[m] = c[m] + parts[part] * dt * rate[m];
      find_rate(at, rate);
      for (PetscInt m = 0; m < PLANE_COMPONENTS; m++)
        sum[m] += weights[part] / 6. * rate[m];
    }
    for (PetscInt m = 0; m < PLANE_COMPONENTS; m++)
      c[m] += dt * sum[m];
  }
}

static void exact_giesekus(PetscReal time, PetscReal stresses[2])
{
  PetscReal c[PLANE_COMPONENTS];

  integrate(giesekus_rate, time, c);
  stresses[0] = c[XY];
  stresses[1] = c[XX] - c[YY];
}

static void exact_fene_p(PetscReal time, PetscReal stresses[2])
{
  PetscReal c[PLANE_COMPONENTS];

  integrate(fene_p_rate, time, c);
  stresses[0] = spring(c) * c[XY];
  stresses[1] = spring(c) * (c[XX] - c[YY]);
}

/* The largest errors of all steps over the largest exact values. */
static void StartShear(const char elasticity[], Stresses measure, Exact find_exact, PetscReal dt,
                       PetscReal errors[2])
{
  const PetscReal end = 3.;
  PetscReal       largest[2] = {0., 0.};
  SceneRun        flow;

  assert_success(SceneRunCreate(
      PETSC_COMM_WORLD, &flow,
      "grid: {dimension: 2, size: [1, 1], resolution: 8}\n"
      "run: {end_time: 3, frame_interval: 3}\n"
      "fluid: {initial: {velocity: [2*y - 1, 0]}, sides: {x_low: periodic, x_high: periodic,\n"
      "  y_low: {type: wall, velocity: [-1, 0]}, y_high: {type: wall, velocity: [1, 0]}}}\n" FILLS(
          "elasticity: {modulus: 3, relaxation: 1, %s}"),
      elasticity));
  errors[0] = errors[1] = 0.;
  for (PetscInt n = 1; n <= PetscFloorReal(end / dt + 0.5); n++) {
    PetscReal exact[2], found[2];

    assert_success(SceneRunStep(&flow, 1, dt));
    measure(&flow, found);
    find_exact(n * dt, exact);
    for (PetscInt m = 0; m < 2; m++) {
      errors[m] = PetscMax(errors[m], PetscAbsReal(found[m] - exact[m]));
      largest[m] = PetscMax(largest[m], PetscAbsReal(exact[m]));
    }
  }
  for (PetscInt m = 0; m < 2; m++)
    errors[m] /= largest[m];
  assert_success(SceneRunDestroy(&flow));
}

static void CheckShear(const char elasticity[], Stresses measure, Exact find_exact)
{
  PetscReal coarse[2], fine[2], proof[2];

  StartShear(elasticity, measure, find_exact, 0.1, coarse);
  StartShear(elasticity, measure, find_exact, 0.05, fine);
  StartShear(elasticity, measure, find_exact, 0.01, proof);
  note("at lambda/100: shear %.2e, first normal difference %.2e; order %.2f and %.2f", (double)proof[0],
       (double)proof[1], (double)order_between(coarse[0], fine[0]),
       (double)order_between(coarse[1], fine[1]));
  for (PetscInt n = 0; n < 2; n++) {
    assert_on_all_ranks(proof[n] <= 5e-3);
    assert_on_all_ranks(order_between(coarse[n], fine[n]) >= 1.9);
  }
}

static void shear_from_rest_has_the_stresses_of_rotated_strain(void **state)
{
  (void)state;
  CheckShear("model: rotated-strain", stresses_of_rotated_strain, exact_rotated_strain);
}

/* Steady viscosity over that without shear, and N1, in closed form. */
static void shear_from_rest_has_the_stresses_of_giesekus(void **state)
{
  const PetscReal w = RATE, a = mobility, s = PetscSqrtReal(1. + 16. * a * (1. - a) * w * w) - 1.;
  const PetscReal chi = PetscSqrtReal(s / (8. * a * (1. - a) * w * w));
  const PetscReal f = (1. - chi) / (1. + (1. - 2. * a) * chi);
  PetscReal       steady[2];

  (void)state;
  exact_giesekus(40., steady);
  assert_near(steady[0], w * PetscSqr(1. - f) / (1. + (1. - 2. * a) * f), 1e-8);
  assert_near(steady[1], 2. * f * (1. - a * f) / (a * (1. - f)), 1e-8);
  CheckShear("model: giesekus, mobility: 0.3", stresses_of_giesekus, exact_giesekus);
}

/* Steady, the spring's factor f solves f^2 (f - 1) = 2 W^2 / L^2, and the stress is W / f. */
static void shear_from_rest_has_the_stresses_of_fene_p(void **state)
{
  const PetscReal w = RATE, right = 2. * w * w / PetscSqr(extensibility);
  PetscReal       steady[2], f = 1.;

  (void)state;
  for (PetscInt n = 0; n < 60; n++)
    f -= (f * f * (f - 1.) - right) / (3. * f * f - 2. * f);
  exact_fene_p(40., steady);
  assert_near(steady[0], w / f, 1e-8);
  assert_near(steady[1], 2. * w * w / (f * f), 1e-8);
  CheckShear("model: fene-p, extensibility: 3", stresses_of_fene_p, exact_fene_p);
}

/* Sheared ten times as fast, C stays below L^2 with steps of any length. */
static void fene_p_is_not_drawn_out_beyond_its_length(void **state)
{
  static const PetscReal steps[] = {0.005, 0.02};

  (void)state;
  for (PetscInt n = 0; n < 2; n++) {
    SceneRun flow;
    Matrix3  c;

    assert_success(SceneRunCreate(
        PETSC_COMM_WORLD, &flow,
        "grid: {dimension: 2, size: [1, 1], resolution: 8}\n"
        "run: {end_time: 3, frame_interval: 3}\n"
        "fluid: {initial: {velocity: [20*y - 10, 0]}, sides: {x_low: periodic, x_high: periodic,\n"
        "  y_low: {type: wall, velocity: [-10, 0]}, y_high: {type: wall, velocity: [10, 0]}}}\n" FILLS(
            "elasticity: {modulus: 1e-3, relaxation: 1, model: fene-p, extensibility: 3}")));
    assert_success(SceneRunStep(&flow, (PetscInt)PetscFloorReal(1. / steps[n] + 0.5), steps[n]));
    c = ConformationAt(&flow, vector3(0.4, 0.4, 0.));
    note("in steps of %g s: tr C %.4f of less than 9", (double)steps[n], (double)(c.at[X][X] + c.at[Y][Y]));
    assert_on_all_ranks(c.at[X][X] + c.at[Y][Y] < 9. && c.at[X][X] + c.at[Y][Y] > 7.);
    assert_success(SceneRunDestroy(&flow));
  }
}

/* A channel of half height 1/2 is driven by the force 1: a plug of half width 1/5 moves as one, and the rest
   flows with the viscosity G lambda. */
static void CheckPlug(const char model[], PetscInt cells)
{
  const PetscReal yield_stress = 0.2, viscosity = 0.1, h = 1. / (PetscReal)cells;
  const PetscReal exact = PetscSqr(0.5 - yield_stress) / (2. * viscosity);
  PetscReal       speed, width;
  ElasticReport   reports[REGIONS_MAX];
  SceneRun        flow;

  assert_success(
      SceneRunCreate(PETSC_COMM_WORLD, &flow,
                     "grid: {dimension: 2, size: [0.125, 1], resolution: %d}\n"
                     "run: {end_time: 4, frame_interval: 4}\n"
                     "fluid: {body_force: [10, 0], viscosity_tolerance: 1e-8,\n"
                     "  sides: {all: wall, x_low: periodic, x_high: periodic}}\n"
                     "regions:\n"
                     "  - {name: gel, density: 0.1, elasticity: {model: %s, modulus: 10, relaxation: 0.01,\n"
                     "     yield: 0.0141421356}}\n"
                     "  - {name: nothing, type: empty, shape: {sphere: {center: [50, 50], radius: 1}}}\n"
                     "interfaces: {particles: 0}\n",
                     (int)cells / 8, model));
  assert_success(SceneRunStep(&flow, 400, 0.005));
  assert_success(SceneRunSample(&flow, X, vector3(0.0625, 0.5, 0.), &speed));
  assert_success(PhaseMeasureElastic(simulation_phase(flow.simulation), reports));
  width = 0.5 * (1. - reports[0].yielded / 0.125);
  note("%s: plug of half width %.4f of %.1f, %.4f m/s of %.4f", model, (double)width, (double)yield_stress,
       (double)speed, (double)exact);
  assert_near(width, yield_stress, h);
  assert_near(speed / exact, 1., 0.02);
  assert_success(SceneRunDestroy(&flow));
}

static void below_the_yield_point_a_plug_moves_as_one(void **state)
{
  (void)state;
  CheckPlug("rotated-strain", 32);
  CheckPlug("oldroyd-b", 32);
}

/* Strain that grows linearly away from the middle of the box, which lies in this direction. */
static PetscReal strain_of(Vector3 direction, Vector3 point)
{
  return 0.1 * (1. + direction.at[X] * (point.at[X] - 0.5) + direction.at[Y] * (point.at[Y] - 0.5));
}

static void PutStrain(SceneRun *flow, Vector3 direction)
{
  const GridBox *box = grid_box(flow->grid);
  PetscInt       count;
  Vec           *fields;

  assert_success(PhaseGetStrains(simulation_phase(flow->simulation), &count, &fields));
  for (PetscInt n = XX; n <= YY; n++) {
    PetscReal *values;

    assert_success(VecGetArray(fields[n], &values));
    FOR_CELLS(box, i, j, k) {
      values[box_index(box, i, j, k)] =
          (n == XX ? 1. : -1.) * strain_of(direction, grid_cell_centre(flow->grid, i, j, k));
    }
    assert_success(VecRestoreArray(fields[n], &values));
    assert_success(MacGridMirrorGhosts(flow->grid, fields[n]));
  }
}

/* The largest difference to that, drawn along `sign` x, over the strain in the middle, in a disk that
   turns as a solid does; what the shear around it makes of strain comes in as far as cells do. */
static PetscReal StrainError(SceneRun *flow, Vector3 direction, PetscReal sign)
{
  const GridBox *box = grid_box(flow->grid);
  PetscReal      strain[PLANE_COMPONENTS], worst = 0.;

  FOR_CELLS(box, i, j, k) {
    const Vector3   point = grid_cell_centre(flow->grid, i, j, k);
    const PetscReal exact = sign * strain_of(direction, point);

    if (PetscSqr(point.at[X] - 0.5) + PetscSqr(point.at[Y] - 0.5) > PetscSqr(0.18))
      continue;
    StrainAt(flow, point, strain);
    worst = PetscMax(worst, PetscAbsReal(strain[XX] - exact));
    worst = PetscMax(worst, PetscAbsReal(strain[YY] + exact));
    worst = PetscMax(worst, PetscAbsReal(strain[XY]));
  }
  return worst / 0.1;
}

/* Twice the stream function: r^2 out to r^2 = 0.1, from there on flatter, and constant from 0.24 on. */
static PetscReal turning_stream(PetscReal x, PetscReal y)
{
  const PetscReal square = PetscSqr(x - 0.5) + PetscSqr(y - 0.5), inner = 0.1, width = 0.14;
  const PetscReal part = PetscMax(0., PetscMin(1., (square - inner) / width));

  return PetscMin(square, inner) + width * part * (1. - part * part * (1. - 0.5 * part));
}

/* Once round in 2 pi seconds, without divergence on the grid. */
static void SetTurning(SceneRun *flow)
{
  const GridBox  *box = grid_box(flow->grid);
  const PetscReal h = grid_spacing(flow->grid);
  Vec            *velocity;

  assert_success(FluidGetVelocity(flow->fluid, &velocity));
  for (PetscInt d = 0; d < 2; d++) {
    const GridRange faces = grid_faces(flow->grid, d);
    PetscReal      *u;

    assert_success(VecGetArray(velocity[d], &u));
    FOR_CELLS(&faces, i, j, k) {
      const Vector3   at = grid_face_centre(flow->grid, d, i, j, k);
      const PetscReal x = at.at[X], y = at.at[Y], half = 0.5 * h;

      u[box_index(box, i, j, k)] =
          d == X ? -0.5 * (turning_stream(x, y + half) - turning_stream(x, y - half)) / h
                 : 0.5 * (turning_stream(x + half, y) - turning_stream(x - half, y)) / h;
    }
    assert_success(VecRestoreArray(velocity[d], &u));
  }
  assert_success(FluidRefreshVelocity(flow->fluid));
}

/* Strain alone: the flow itself stays what it is. */
static void Turn(SceneRun *flow, PetscInt steps)
{
  const PetscReal dt = PETSC_PI / 80.;
  const Phase     phase = simulation_phase(flow->simulation);
  PetscInt        count;
  Vec            *velocity, *fields;

  assert_success(FluidGetVelocity(flow->fluid, &velocity));
  for (PetscInt n = 0; n < steps; n++) {
    assert_success(FluidPredictAdvection(flow->fluid, dt));
    assert_success(PhaseGetStrains(phase, &count, &fields));
    assert_success(FluidCarryCells(flow->fluid, dt, NULL, count, fields));
    assert_success(PhaseStretch(phase, velocity, NULL, dt));
  }
}

static void a_strained_disk_turns_with_the_flow(void **state)
{
  static const char *const models[] = {"rotated-strain", "oldroyd-b"};
  const Vector3            right = vector3(1., 0., 0.), top = vector3(0., 1., 0.);

  (void)state;
  for (PetscInt n = 0; n < 2; n++) {
    PetscReal quarter, whole, unturned;
    SceneRun  flow;

    assert_success(
        SceneRunCreate(PETSC_COMM_WORLD, &flow,
                       "grid: {dimension: 2, size: [1, 1], resolution: 64}\n"
                       "run: {end_time: 8, frame_interval: 8}\n"
                       "fluid: {sides: {all: slip}}\n" FILLS("elasticity: {model: %s, modulus: 1e-9}"),
                       models[n]));
    SetTurning(&flow);
    PutStrain(&flow, right);
    Turn(&flow, 40);
    quarter = StrainError(&flow, top, -1.);
    unturned = StrainError(&flow, top, 1.);
    Turn(&flow, 120);
    whole = StrainError(&flow, right, 1.);
    note("%s: a quarter %.4f, a whole turn %.4f of its strain; carried without being turned %.2f", models[n],
         (double)quarter, (double)whole, (double)unturned);
    assert_near(quarter, 0., 0.02);
    assert_near(whole, 0., 0.02);
    assert_on_all_ranks(unturned > 1.9);
    assert_success(SceneRunDestroy(&flow));
  }
}

/* Stretched fourteen times, waves go through several cells in a step; they were not damped but grew. */
static void what_is_stretched_far_stays_calm(void **state)
{
  const PetscReal rate = 2., relaxation = 3., dt = 0.02, end = 2.4;
  Matrix3         c;
  FluidTotals     totals;
  SceneRun        flow;

  (void)state;
  assert_success(
      SceneRunCreate(PETSC_COMM_WORLD, &flow,
                     "grid: {dimension: 2, size: [1, 1], resolution: 32}\n"
                     "run: {end_time: 3, frame_interval: 3}\n"
                     "fluid: {initial: {velocity: [2*y - 1, 0.01*sin(2*pi*x)]}, sides: {x_low: periodic,\n"
                     "  x_high: periodic, y_low: {type: wall, velocity: [-1, 0]}, y_high: {type: wall, "
                     "velocity: [1, 0]}}}\n" FILLS("elasticity: {modulus: 1, relaxation: 3}")));
  assert_success(SceneRunStep(&flow, (PetscInt)PetscFloorReal(end / dt + 0.5), dt));
  assert_success(FluidGetTotals(flow.fluid, &totals));
  c = ConformationAt(&flow, vector3(0.4, 0.4, 0.));
  note("C_xx %.2f, C_xy %.4f of %.4f, %.4f m/s", (double)c.at[X][X], (double)c.at[X][Y],
       (double)(rate * relaxation * (1. - PetscExpReal(-end / relaxation))), (double)totals.largest_speed);
  assert_near(c.at[X][Y] / (rate * relaxation * (1. - PetscExpReal(-end / relaxation))), 1., 0.01);
  assert_on_all_ranks(totals.largest_speed < 1.);
  assert_success(SceneRunDestroy(&flow));
}

/* The strain of one model is none of another's. */
static void elasticity_that_comes_back_starts_anew(void **state)
{
  PetscReal exact[2], found[2];
  PetscInt  count;
  Vec      *fields;
  SceneRun  flow;

  (void)state;
  assert_success(SceneRunCreate(
      PETSC_COMM_WORLD, &flow,
      "grid: {dimension: 2, size: [1, 1], resolution: 8}\n"
      "run: {end_time: 3, frame_interval: 3}\n"
      "fluid: {initial: {velocity: [2*y - 1, 0]}, sides: {x_low: periodic, x_high: periodic,\n"
      "  y_low: {type: wall, velocity: [-1, 0]}, y_high: {type: wall, velocity: [1, 0]}}}\n" FILLS(
          "elasticity: {modulus: 3, relaxation: 1}, changes: [{time: 0.5, elasticity: {model: none}},\n"
          "     {time: 1, elasticity: {model: rotated-strain, modulus: 3, relaxation: 1}}]")));
  assert_success(SceneRunStep(&flow, 80, 0.01));
  assert_success(PhaseGetStrains(simulation_phase(flow.simulation), &count, &fields));
  assert_int_equal(count, 0);
  assert_success(SceneRunStep(&flow, 120, 0.01));
  stresses_of_rotated_strain(&flow, found);
  exact_rotated_strain(1., exact);
  note("shear %.6f of %.6f, first normal difference %.6f of %.6f", (double)found[0], (double)exact[0],
       (double)found[1], (double)exact[1]);
  for (PetscInt n = 0; n < 2; n++)
    assert_near(found[n], exact[n], 1e-4);
  assert_success(SceneRunDestroy(&flow));
}

TEST_MAIN(cmocka_unit_test(shear_from_rest_has_the_stresses_of_rotated_strain),
          cmocka_unit_test(shear_from_rest_has_the_stresses_of_giesekus),
          cmocka_unit_test(shear_from_rest_has_the_stresses_of_fene_p),
          cmocka_unit_test(fene_p_is_not_drawn_out_beyond_its_length),
          cmocka_unit_test(below_the_yield_point_a_plug_moves_as_one),
          cmocka_unit_test(a_strained_disk_turns_with_the_flow),
          cmocka_unit_test(elasticity_that_comes_back_starts_anew),
          cmocka_unit_test(what_is_stretched_far_stays_calm))
