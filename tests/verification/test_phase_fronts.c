/* Fronts: jumps, speeds and growth of what burns (docs/numerics.md, 13b), and that nothing is lost. */
#include "harness.h"
#include "scene_run.h"

#include <millrace/phase.h>

/* A row of premixed_flame_jumps.csv: what burns, at which speed, and what it turns into. */
typedef struct {
  PetscReal unburnt, burnt, speed;
} Flame;
static const Flame flames[] = {{1., 0.2, 0.5}, {1., 0.1, 0.5}, {1., 0.5, 0.3}, {1.16, 0.17, 0.4}};

typedef enum { FUEL_AT_REST, GAS_AT_REST } ClosedEnd;

/* A channel of 64 cells, open at one end. */
static void StartChannel(const Flame *flame, ClosedEnd end, SceneRun *flow)
{
  assert_success(SceneRunCreate(
      PETSC_COMM_WORLD, flow,
      "grid: {dimension: 2, size: [1, 0.0625], resolution: 64}\n"
      "run: {end_time: 1, frame_interval: 1}\n"
      "fluid: {pressure_tolerance: 1e-12, sides: {all: slip, x_low: %s, x_high: %s}}\n"
      "regions:\n"
      "  - {name: fuel, density: %g, shape: {box: {low: [-1, -1], high: [%g, 2]}}}\n"
      "  - {name: gas, density: %g}\n"
      "interfaces: {reactions: [{first: fuel, product: gas, speed: %g}]}\n",
      end == FUEL_AT_REST ? "wall" : "open", end == FUEL_AT_REST ? "open" : "wall", (double)flame->unburnt,
      end == FUEL_AT_REST ? 0.507 : 0.907, (double)flame->burnt, (double)flame->speed));
}

/* Of the region, whatever rank this is. */
static PetscReal volume_of(SceneRun *flow, PetscInt region)
{
  PetscReal volume = flow->fluid ? phase_report(simulation_phase(flow->simulation))->volume[region] : 0.;

  assert_success(MPI_Allreduce(MPI_IN_PLACE, &volume, 1, MPIU_REAL, MPI_MAX, PETSC_COMM_WORLD));
  return volume;
}

static PetscReal value_at(SceneRun *flow, PetscInt field, PetscReal x)
{
  PetscReal value = 0.;

  if (flow->fluid)
    assert_success(SceneRunSample(flow, field, vector3(x, 0.03, 0.), &value));
  assert_success(MPI_Bcast(&value, 1, MPIU_REAL, 0, PETSC_COMM_WORLD));
  return value;
}

/* All of it within 1e-6, where 1e-2 is asked for. */
static void check_row(const Flame *flame, ClosedEnd end)
{
  const PetscReal ratio = flame->unburnt / flame->burnt, mass = flame->unburnt * flame->speed;
  const PetscReal moves = end == FUEL_AT_REST ? flame->speed : ratio * flame->speed;
  const PetscReal first = 0.01 / moves, last = 0.25 / moves;
  SceneRun        flow;
  PetscReal       volume, leap, jump, speed;

  StartChannel(flame, end, &flow);
  assert_success(SceneRunUntil(&flow, first));
  volume = volume_of(&flow, 0);
  assert_success(SceneRunUntil(&flow, last));
  leap = value_at(&flow, X, 0.96) - value_at(&flow, X, 0.1);
  jump = value_at(&flow, FIELD_PRESSURE, 0.96) - value_at(&flow, FIELD_PRESSURE, 0.1);
  speed = (volume - volume_of(&flow, 0)) / 0.0625 / (last - first); /* steps are all alike */
  note("leap %.6f of %.6f m/s, jump %.6f of %.6f Pa, speed %.6f of %.6f m/s", (double)leap,
       (double)((ratio - 1.) * flame->speed), (double)jump,
       (double)(-mass * mass * (1. / flame->burnt - 1. / flame->unburnt)), (double)speed, (double)moves);
  assert_near(leap / ((ratio - 1.) * flame->speed), 1., 1e-6);
  assert_near(jump / (-mass * mass * (1. / flame->burnt - 1. / flame->unburnt)), 1., 1e-6);
  assert_near(speed / moves, 1., 1e-2);
  assert_success(SceneRunDestroy(&flow));
}

static void a_flame_in_a_channel_has_its_jumps_and_its_speed(void **state)
{
  (void)state;
  for (size_t n = 0; n < PETSC_STATIC_ARRAY_LENGTH(flames); n++) {
    check_row(&flames[n], FUEL_AT_REST);
    check_row(&flames[n], GAS_AT_REST);
  }
}

static PetscReal radius_of(SceneRun *flow)
{
  return PetscSqrtReal(volume_of(flow, 0) / PETSC_PI);
}

/* What has burnt rests, and pushes the front: it grows at s S. Mass is that of the start less what has left.
 */
static void a_ring_of_fire_grows_and_keeps_mass(void **state)
{
  const PetscReal from = 0.15, until = 0.3;
  SceneRun        flow;
  PetscReal       radius, speed, imbalance = 0.;

  (void)state;
  assert_success(
      SceneRunCreate(PETSC_COMM_WORLD, &flow,
                     "grid: {dimension: 2, size: [1, 1], origin: [-0.5, -0.5], resolution: 64}\n"
                     "run: {end_time: 1, frame_interval: 1}\n"
                     "fluid: {sides: {all: open}}\n"
                     "regions:\n"
                     "  - {name: gas, density: 0.2, shape: {sphere: {center: [0, 0], radius: 0.125}}}\n"
                     "  - {name: fuel, density: 1}\n"
                     "interfaces: {reactions: [{first: fuel, product: gas, speed: 0.1}]}\n"));
  assert_success(SceneRunUntil(&flow, from));
  radius = radius_of(&flow);
  assert_success(SceneRunUntil(&flow, until));
  speed = (radius_of(&flow) - radius) / (until - from);
  if (flow.fluid)
    imbalance = phase_report(simulation_phase(flow.simulation))->imbalance;
  note("%.2f cells: %.5f of 0.5 m/s, imbalance %.1e of 1 kg", (double)(64. * radius_of(&flow)), (double)speed,
       (double)imbalance);
  assert_near(speed / 0.5, 1., 0.02);
  assert_near(imbalance, 0., 1e-3);
  assert_success(SceneRunDestroy(&flow));
}

/* Half the distance between the crests of the front and its troughs. */
static PetscReal height_of(SceneRun *flow, PetscReal time)
{
  PetscReal          height = 0.;
  const PhaseReport *report;

  assert_success(SceneRunUntil(flow, time));
  if (flow->fluid) {
    report = phase_report(simulation_phase(flow->simulation));
    height = 0.5 * (report->highest[0].at[X] - report->lowest[1].at[X]);
  }
  assert_success(MPI_Allreduce(MPI_IN_PLACE, &height, 1, MPIU_REAL, MPI_MAX, PETSC_COMM_WORLD));
  return height;
}

/* Darrieus and Landau: a bent front that stands in a flow bends further at the rate
   k S s/(s+1) (sqrt(1 + s - 1/s) - 1), once what does not grow has gone. */
static void a_bent_front_bends_further_as_it_should(void **state)
{
  const PetscReal s = 5., k = 2. * PETSC_PI, from = 0.3, until = 0.7;
  const PetscReal expected = k * 0.5 * s / (s + 1.) * (PetscSqrtReal(1. + s - 1. / s) - 1.);
  SceneRun        flow;
  PetscReal       rate;

  (void)state;
  assert_success(SceneRunCreate(PETSC_COMM_WORLD, &flow,
                                "grid: {dimension: 2, size: [1.5, 1], resolution: 48}\n"
                                "run: {end_time: 1, frame_interval: 1}\n"
                                "fluid:\n"
                                "  initial: {velocity: [0.5, 0]}\n"
                                "  sides: {y_low: periodic, y_high: periodic, x_high: open,\n"
                                "          x_low: {type: inflow, velocity: [0.5, 0]}}\n"
                                "regions:\n"
                                "  - {name: fuel, density: 1,\n"
                                "     shape: {formula: {value: x - 0.75 - 0.004*cos(2*pi*y)}}}\n"
                                "  - {name: gas, density: 0.2}\n"
                                "interfaces: {reactions: [{first: fuel, product: gas, speed: 0.5}]}\n"));
  rate = -PetscLogReal(height_of(&flow, from));
  rate = (rate + PetscLogReal(height_of(&flow, until))) / (until - from);
  note("rate %.4f of %.4f 1/s", (double)rate, (double)expected);
  assert_near(rate / expected, 1., 0.1);
  assert_success(SceneRunDestroy(&flow));
}

/* A step of heat diffuses; at a distance d from it the part 1/5 of its height arrives at d^2/(4 kappa z^2),
   with erfc(z) = 2/5. From then on the front burns, and what has burnt is hot. */
static void a_front_ignites_when_heat_arrives(void **state)
{
  const PetscReal expected = PetscSqr(0.25) / (4. * 0.05 * PetscSqr(0.59511608));
  PetscReal       dt = 0., hot, cold;
  SceneRun        flow;

  (void)state;
  assert_success(
      SceneRunCreate(PETSC_COMM_WORLD, &flow,
                     "grid: {dimension: 2, size: [2, 0.0625], resolution: 128}\n"
                     "run: {end_time: 2, frame_interval: 2, largest_time_step: 0.004}\n"
                     "fluid: {sides: {all: slip, x_low: open},\n"
                     "  scalars: [{name: heat, initial: step(1 - x), diffusivity: 0.05}]}\n"
                     "regions:\n"
                     "  - {name: fuel, density: 1, shape: {box: {low: [1.253, -1], high: [3, 2]}}}\n"
                     "  - {name: gas, density: 0.5}\n"
                     "interfaces: {reactions: [{first: fuel, product: gas, speed: 0.5, scalar: heat,\n"
                     "  ignition: 0.2, ramp: 0.01, temperature: 3}]}\n"));
  while (phase_report(simulation_phase(flow.simulation))->burning[0] == 0. &&
         simulation_time(flow.simulation) < 1.5) {
    assert_success(SimulationGetTimeStep(flow.simulation, 1.5, &dt));
    assert_success(SceneRunStep(&flow, 1, dt));
  }
  note("ignited at %.4f s, heat arrives at %.4f s", (double)(simulation_time(flow.simulation) - dt),
       (double)(expected * PetscSqr(0.253 / 0.25)));
  assert_near((simulation_time(flow.simulation) - dt) / (expected * PetscSqr(0.253 / 0.25)), 1., 0.02);
  assert_success(SceneRunUntil(&flow, simulation_time(flow.simulation) + 0.3));
  hot = value_at(&flow, FIELD_SCALAR,
                 2. - volume_of(&flow, 0) / 0.0625 - 0.75 * grid_spacing(flow.grid)); /* beside the front */
  cold = value_at(&flow, FIELD_SCALAR, 1.9);
  note("beside the front %.3f, ahead of it %.3f", (double)hot, (double)cold);
  assert_on_all_ranks(hot > 2.5 && cold < 0.1);
  assert_success(SceneRunDestroy(&flow));
}

/* The expansion is in (5.13) as well: a disk in the stream of what has burnt changes neither the front's
   speed nor what leaves the channel, and is taken along. */
static void a_flame_burns_on_behind_a_free_body(void **state)
{
  const PetscReal first = 0.02, last = 0.08;
  PetscReal       volume, speed, place;
  FluidTotals     totals;
  SceneRun        flow;

  (void)state;
  assert_success(
      SceneRunCreate(PETSC_COMM_WORLD, &flow,
                     "grid: {dimension: 2, size: [1, 0.25], resolution: 48}\n"
                     "run: {end_time: 1, frame_interval: 1}\n"
                     "fluid: {sides: {all: slip, x_high: open}}\n"
                     "regions:\n"
                     "  - {name: fuel, density: 1, shape: {box: {low: [-1, -1], high: [0.403, 2]}}}\n"
                     "  - {name: gas, density: 0.2}\n"
                     "interfaces: {reactions: [{first: fuel, product: gas, speed: 0.5}]}\n"
                     "solids: {bodies: [{name: disk, density: 1,\n"
                     "  shape: {sphere: {center: [0.7, 0.125], radius: 0.05}}}]}\n"));
  assert_success(SceneRunUntil(&flow, first));
  volume = volume_of(&flow, 0);
  assert_success(SceneRunUntil(&flow, last));
  speed = (volume - volume_of(&flow, 0)) / 0.25 / (last - first);
  assert_success(FluidGetTotals(flow.fluid, &totals));
  place = solid_body_view(simulation_solid(flow.simulation), 0).position.at[X];
  note("speed %.5f of 0.5 m/s, outflow %.6f of 0.5 m^2/s, the disk is at %.4f m", (double)speed,
       (double)totals.outflow[X][1], (double)place);
  assert_near(speed / 0.5, 1., 0.01);
  assert_near(totals.outflow[X][1] / 0.5, 1., 0.01);
  assert_on_all_ranks(place > 0.705);
  assert_success(SceneRunDestroy(&flow));
}

/* Two liquids that fill a channel half each, open at both ends, and react with each other. */
static void StartPair(PetscReal second, PetscReal gas, const char *reaction, SceneRun *flow)
{
  assert_success(
      SceneRunCreate(PETSC_COMM_WORLD, flow,
                     "grid: {dimension: 2, size: [1, 0.125], resolution: 64}\n"
                     "run: {end_time: 1, frame_interval: 1}\n"
                     "fluid: {sides: {all: slip, x_low: {type: open, region: a},\n"
                     "  x_high: {type: open, region: b}}}\n"
                     "regions:\n"
                     "  - {name: a, density: 3, shape: {box: {low: [-1, -1], high: [0.503, 2]}}}\n"
                     "  - {name: b, density: %g, shape: {box: {low: [0.503, -1], high: [2, 2]}}}\n"
                     "  - {name: gas, density: %g, shape: {box: {low: [-9, -9], high: [-8, -8]}}}\n"
                     "interfaces: {reactions: [{first: a, second: b, product: gas, layer: 4, %s}]}\n",
                     (double)second, (double)gas, reaction));
}

/* Of what the layer takes, two cells' width of each, nothing is lost: what the layer does not hold becomes
   gas in the course of the time of release. */
static void what_two_liquids_lose_becomes_gas(void **state)
{
  const PetscReal    h = 1. / 64., taken = 0.125 * 2. * h * (3. + 3.), held = 0.125 * 4. * h * 0.5;
  const PhaseReport *report;
  SceneRun           flow;
  PetscReal          pending, burnt;

  (void)state;
  StartPair(3., 0.5, "speed: 0, release: 0.05", &flow);
  report = phase_report(simulation_phase(flow.simulation));
  assert_success(SceneRunStep(&flow, 1, 1e-3));
  pending = report->pending[0];
  note("the layer took %.5f and %.5f of %.5f and %.5f kg, %.5f of %.5f are pending", (double)report->burnt[0],
       (double)report->burnt[REACTIONS_MAX], (double)(0.5 * taken), (double)(0.5 * taken), (double)pending,
       (double)(taken - held));
  assert_near(report->burnt[0] / (0.5 * taken), 1., 0.01);
  assert_near(report->burnt[REACTIONS_MAX] / (0.5 * taken), 1., 0.01);
  assert_near(pending / (taken - held), 1., 0.01);
  assert_success(SceneRunStep(&flow, 50, 1e-3));
  note("then %.5f of %.5f", (double)report->pending[0], (double)(pending * PetscExpReal(-1.)));
  assert_near(report->pending[0] / (pending * PetscExpReal(-1.)), 1., 0.02);
  assert_success(SceneRunStep(&flow, 350, 1e-3));
  burnt = report->burnt[0] + report->burnt[REACTIONS_MAX];
  note("gas: %.5f of %.5f kg, imbalance %.1e kg", (double)(0.5 * report->volume[2]), (double)burnt,
       (double)report->imbalance);
  assert_true(report->pending[0] < 1e-3 * taken);
  assert_near(0.5 * report->volume[2] / burnt, 1., 0.01);
  assert_near(report->imbalance / taken, 0., 0.01);
  assert_success(SceneRunDestroy(&flow));
}

/* The distance g between the two grows from four cells to five: g' = (S + S_2) (5 - g/h), of which each front
   has its part. */
static void fronts_into_both_burn_until_they_are_apart(void **state)
{
  const PetscReal    h = 1. / 64., way = h * (1. - PetscExpReal(-0.2 * 0.1 / h));
  const PhaseReport *report;
  SceneRun           flow;
  PetscReal          first, second;

  (void)state;
  StartPair(2., 2.5, "speed: 0.05, second_speed: 0.15, release: 1e3", &flow);
  report = phase_report(simulation_phase(flow.simulation));
  assert_success(SceneRunStep(&flow, 1, 1e-3));
  first = report->burnt[0];
  second = report->burnt[REACTIONS_MAX];
  assert_success(SceneRunStep(&flow, 100, 1e-3));
  first = (report->burnt[0] - first) / (3. * 0.125);
  second = (report->burnt[REACTIONS_MAX] - second) / (2. * 0.125);
  note("fronts went %.3f and %.3f of %.3f and %.3f cells", (double)(first / h), (double)(second / h),
       (double)(0.25 * way / h), (double)(0.75 * way / h));
  assert_near(first / (0.25 * way), 1., 0.1);
  assert_near(second / (0.75 * way), 1., 0.1);
  assert_success(SceneRunDestroy(&flow));
}

TEST_MAIN(cmocka_unit_test(what_two_liquids_lose_becomes_gas),
          cmocka_unit_test(fronts_into_both_burn_until_they_are_apart),
          cmocka_unit_test(a_front_ignites_when_heat_arrives),
          cmocka_unit_test(a_flame_burns_on_behind_a_free_body),
          cmocka_unit_test(a_flame_in_a_channel_has_its_jumps_and_its_speed),
          cmocka_unit_test(a_ring_of_fire_grows_and_keeps_mass),
          cmocka_unit_test(a_bent_front_bends_further_as_it_should))
