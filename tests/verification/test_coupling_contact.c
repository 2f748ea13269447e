/* Bodies in contact within the coupled step: what contact holds and what the fluid answers agree, or the run
   knows that they do not. And bodies that weigh next to nothing, which fluid cannot hold by its mass. */
#include "scene_run.h"
#include "harness.h"

#include "simulation/coupled_impl.h"

#define HEAVY                                                                                                \
  "grid: {dimension: 2, size: [1, 1], resolution: 16}\n"                                                     \
  "run: {end_time: 1, frame_interval: 1}\n"                                                                  \
  "fluid: {gravity: [0, -9.81]}\n"                                                                           \
  "coupling: {solver: %s}\n"                                                                                 \
  "regions:\n"                                                                                               \
  "  - {name: water, density: 1000, viscosity: 0.001, shape: {box: {low: [-1, -1], high: [2, 0.5]}}}\n"      \
  "  - {name: air, type: empty}\n"                                                                           \
  "solids:\n"                                                                                                \
  "  bodies:\n"                                                                                              \
  "    - {name: body, density: %g, shape: {box: {low: [%g, 0], high: [%g, %g]}}}\n"                          \
  "    - {name: floor, type: static, shape: {plane: {point: [0, 0, 0], normal: [0, 1, 0]}}}\n"

#define LIGHT                                                                                                \
  "grid: {dimension: 2, size: [1, 1], resolution: 16}\n"                                                     \
  "run: {end_time: 1, frame_interval: 1}\n"                                                                  \
  "fluid: {density: 1000, viscosity: 0.001, gravity: [0, -9.81], sides: {all: slip}}\n"                      \
  "coupling: {solver: %s, rounds: %d}\n"                                                                     \
  "solids: {bodies: [{name: body, density: %g, shape: {box: {low: [0.3, %g], high: [0.7, 1]}}}]}\n"

#define CORNER                                                                                               \
  "grid: {dimension: 2, size: [1, 1], resolution: 32}\n"                                                     \
  "run: {end_time: 1, frame_interval: 1}\n"                                                                  \
  "fluid: {density: 1000, viscosity: 0.001, gravity: [0, -9.81], sides: {all: slip}}\n"                      \
  "solids: {bodies: [{name: body, density: %g, shape: {box: {low: [%g, %g], high: [%g, %g]}}}]}\n"

/* Discs between floor and lid: two rows rest on the floor, two under the lid, pressed against each other. */
#define CROWD                                                                                                \
  "grid: {dimension: 2, size: [1, 1], resolution: 24}\n"                                                     \
  "run: {end_time: 1, frame_interval: 1}\n"                                                                  \
  "fluid: {density: 1000, viscosity: 0.001, gravity: [0, -9.81], sides: {all: slip}}\n"                      \
  "coupling: {solver: schur}\n"                                                                              \
  "solids:\n"                                                                                                \
  "  bodies:\n"                                                                                              \
  "    - {name: stone, density: 2500, shape: {cylinder: {from: [0.2, 0.12, -0.5], to: [0.2, 0.12, 0.5], "    \
  "radius: 0.088}}, copies: {count: [4, 2, 1], step: [0.2, 0.2, 1], shift: 0.01, seed: 1}}\n"                \
  "    - {name: cork, density: 100, shape: {cylinder: {from: [0.2, 0.66, -0.5], to: [0.2, 0.66, 0.5], "      \
  "radius: 0.088}}, copies: {count: [4, 2, 1], step: [0.2, 0.2, 1], shift: 0.01, seed: 2}}\n"

/* A disc of a millionth of the density of water that comes out of it. */
#define FEATHER                                                                                              \
  "grid: {dimension: 2, size: [1, 1], resolution: %d}\n"                                                     \
  "run: {end_time: 1, frame_interval: 1}\n"                                                                  \
  "fluid: {gravity: [0, -9.81]}\n"                                                                           \
  "coupling: {solver: %s}\n"                                                                                 \
  "regions:\n"                                                                                               \
  "  - {name: water, density: 1000, viscosity: 0.001, shape: {box: {low: [-1, -1], high: [2, 0.5]}}}\n"      \
  "  - {name: air, type: empty}\n"                                                                           \
  "solids:\n"                                                                                                \
  "  bodies:\n"                                                                                              \
  "    - {name: disc, density: %g, shape: {cylinder: {from: [0.5, %g, -0.5], to: [0.5, %g, 0.5], "           \
  "radius: 0.15}}}\n"

static PetscReal largest_speed(SceneRun *flow)
{
  FluidTotals    totals = {.mass = 0.};
  PetscErrorCode error = flow->fluid ? FluidGetTotals(flow->fluid, &totals) : 0;

  assert_success(error);
  assert_success(MPI_Bcast(&totals.largest_speed, 1, MPIU_REAL, 0, PETSC_COMM_WORLD));
  return totals.largest_speed;
}

/* Nothing moves but by what round-off and the tolerances leave. */
static void check_rest(SceneRun *flow, const char name[], PetscReal dt)
{
  PetscReal fastest;
  PetscInt  rounds = 0;

  for (PetscInt step = 0; step < 5; step++) {
    assert_success(SceneRunStep(flow, 1, dt));
    rounds = PetscMax(rounds, flow->simulation->coupled->rounds);
  }
  fastest = largest_speed(flow);
  note("%s: fastest fluid %.1e m/s, at most %d rounds", name, (double)fastest, (int)rounds);
  assert_on_all_ranks(fastest <= 1e-3);
  assert_on_all_ranks(rounds > 1 && rounds < 20);
  assert_success(SceneRunDestroy(flow));
}

/* Two steps, a small one on the grid and a large one off it. */
static const PetscReal rest_steps[] = {0.01, 0.05}, rest_shifts[] = {0., 0.0144};

static void fluid_rests_beside_a_heavy_box_on_the_floor(void **state)
{
  const PetscReal densities[] = {1050., 1500., 10000.};
  SceneRun        flow;

  (void)state;
  for (PetscInt n = 0; n < 6; n++) {
    const PetscReal shift = rest_shifts[n % 2];

    assert_success(SceneRunCreate(PETSC_COMM_WORLD, &flow, HEAVY, n / 2 ? "schur" : "minres",
                                  (double)densities[n / 2], 0.3 + (double)shift, 0.7 + 1.3 * (double)shift,
                                  0.2 + 0.7 * (double)shift));
    check_rest(&flow, "heavy", rest_steps[n % 2]);
  }
}

static void fluid_rests_below_a_light_body_under_a_lid(void **state)
{
  const PetscReal densities[] = {1., 10., 100.};
  SceneRun        flow;

  (void)state;
  for (PetscInt n = 0; n < 6; n++) {
    assert_success(SceneRunCreate(PETSC_COMM_WORLD, &flow, LIGHT, n / 2 ? "schur" : "minres", 40,
                                  (double)densities[n / 2], 0.75 + 0.7 * (double)rest_shifts[n % 2]));
    check_rest(&flow, "light", rest_steps[n % 2]);
  }
}

/* The force of the fluid under a lid is that of Archimedes: what is hardly lighter stays there, too. */
static void a_body_under_a_lid_feels_archimedes(void **state)
{
  const PetscReal densities[] = {10., 900., 999.}, lows[] = {0.75, 0.76, 0.967};
  SceneRun        flow;

  (void)state;
  for (PetscInt n = 0; n < 9; n++) {
    const PetscReal lift = 9810. * 0.4 * (1. - lows[n % 3]);

    assert_success(SceneRunCreate(PETSC_COMM_WORLD, &flow, LIGHT, "schur", 40, (double)densities[n / 3],
                                  (double)lows[n % 3]));
    assert_success(SceneRunStep(&flow, 5, 0.01));
    note("ratio %g from %g m up: %.6f N of %.6f N", (double)(densities[n / 3] / 1000.), (double)lows[n % 3],
         (double)flow.simulation->coupled->loads[LOAD_PRESSURE][1], (double)lift);
    assert_near(flow.simulation->coupled->loads[LOAD_PRESSURE][1], lift, 1e-4 * lift);
    assert_on_all_ranks(largest_speed(&flow) <= 1e-4);
    assert_success(SceneRunDestroy(&flow));
  }
}

/* Pressed into a corner, where the fluid would turn it off the wall, and where contact alone would not end
   that. */
static void a_light_body_stays_in_a_corner(void **state)
{
  const PetscReal places[][4] = {{0., 0.77, 0.7, 1.}, {0.63, 0.62, 1., 1.}};
  SceneRun        flow;

  (void)state;
  for (PetscInt n = 0; n < 4; n++) {
    const PetscReal *place = places[n % 2], density = n < 2 ? 10. : 100.;
    const PetscReal  lift = 9810. * (place[2] - place[0]) * (place[3] - place[1]);

    assert_success(SceneRunCreate(PETSC_COMM_WORLD, &flow, CORNER, (double)density, (double)place[0],
                                  (double)place[1], (double)place[2], (double)place[3]));
    assert_success(SceneRunStep(&flow, 10, 0.01));
    note("corner: fastest fluid %.1e m/s, %.4f N of %.4f N", (double)largest_speed(&flow),
         (double)flow.simulation->coupled->loads[LOAD_PRESSURE][1], (double)lift);
    assert_near(flow.simulation->coupled->loads[LOAD_PRESSURE][1], lift, 1e-4 * lift);
    assert_on_all_ranks(largest_speed(&flow) <= 1e-4);
    assert_success(SceneRunDestroy(&flow));
  }
}

/* What rests on the floor or under a lid is held from the start. */
static void forces_of_the_start_know_contact(void **state)
{
  PetscReal largest = 0.;
  SceneRun  flow;

  (void)state;
  for (PetscInt light = 0; light < 2; light++) {
    if (light)
      assert_success(SceneRunCreate(PETSC_COMM_WORLD, &flow, LIGHT, "schur", 40, 10., 0.76));
    else
      assert_success(SceneRunCreate(PETSC_COMM_WORLD, &flow, HEAVY, "schur", 1500., 0.31, 0.72, 0.21));
    for (PetscInt d = 0; d < 6; d++)
      largest = PetscMax(largest, PetscAbsReal(flow.simulation->coupled->acceleration[d]));
    assert_success(SceneRunDestroy(&flow));
  }
  note("accelerations at most %.1e m/s^2", (double)largest);
  assert_on_all_ranks(largest <= 1e-3);
}

/* Heavy ones fall onto each other and the floor, light ones rise against the lid, all at once. */
static void many_contacts_agree_with_the_fluid(void **state)
{
  PetscReal divergence = 0.;
  PetscInt  rounds = 0, repeated = 0;
  SceneRun  flow;

  (void)state;
  assert_success(SceneRunCreate(PETSC_COMM_WORLD, &flow, "%s", CROWD));
  for (PetscInt step = 0; step < 40; step++) {
    assert_success(SceneRunStep(&flow, 1, 0.01));
    rounds = PetscMax(rounds, flow.simulation->coupled->rounds);
    divergence = PetscMax(divergence, flow.simulation->coupled->divergence);
    assert_on_all_ranks(flow.simulation->coupled->unsettled <= 1); /* agreed at last */
    repeated += flow.simulation->coupled->unsettled;
  }
  assert_success(MPI_Bcast(&divergence, 1, MPIU_REAL, 0, PETSC_COMM_WORLD));
  note("at most %d rounds, %d steps repeated, divergence at most %.1e 1/s", (int)rounds, (int)repeated,
       (double)divergence);
  assert_on_all_ranks(repeated <= 1);
  assert_on_all_ranks(rounds > 3);
  assert_on_all_ranks(divergence <= 1e-3);
  assert_success(SceneRunDestroy(&flow));
}

/* One round leaves what contact did to the body to the next step, and the fluid flows through it. */
static void a_step_without_agreement_is_no_step(void **state)
{
  const PetscReal dt = 0.01;
  PetscBool       good;
  SceneRun        flow;
  char            reason[512];

  (void)state;
  assert_success(SceneRunCreate(PETSC_COMM_WORLD, &flow, LIGHT, "schur", 1, 10., 0.75));
  for (PetscInt attempt = 1; attempt <= 2; attempt++) {
    assert_success(SimulationStep(flow.simulation, dt / (PetscReal)attempt, &good));
    assert_on_all_ranks(!good);
    assert_on_all_ranks(flow.simulation->coupled->unsettled == attempt);
  }
  assert_success(SimulationDescribeCoupledFailure(flow.simulation, reason, sizeof(reason)));
  note("%s", reason);
  assert_on_all_ranks(strstr(reason, "after 1 rounds contact and joints still change velocities") != NULL);
  assert_on_all_ranks(simulation_step(flow.simulation) == 0);
  assert_success(SceneRunDestroy(&flow));
}

/* In a step that is small enough what is left does no harm: it counts, and is known. */
static void what_is_left_is_known(void **state)
{
  PetscBool good;
  SceneRun  flow;

  (void)state;
  assert_success(SceneRunCreate(PETSC_COMM_WORLD, &flow, LIGHT, "schur", 2, 10., 0.75));
  assert_success(SimulationStep(flow.simulation, 1e-3, &good));
  assert_on_all_ranks(!good);
  assert_success(SimulationStep(flow.simulation, 5e-4, &good));
  note("%.1e m/s left", (double)flow.simulation->coupled->disagreement);
  assert_on_all_ranks(good && flow.simulation->coupled->unsettled == 2);
  assert_success(SimulationStep(flow.simulation, 1e-3, &good));
  assert_on_all_ranks(!good && flow.simulation->coupled->unsettled == 1);
  assert_success(SceneRunDestroy(&flow));
}

static PetscReal energy(SceneRun *flow)
{
  FluidTotals    totals = {.mass = 0.};
  PetscErrorCode error = flow->fluid ? FluidGetTotals(flow->fluid, &totals) : 0;

  assert_success(error);
  assert_success(MPI_Bcast(&totals.kinetic_energy, 1, MPIU_REAL, 0, PETSC_COMM_WORLD));
  return totals.kinetic_energy + solid_report(simulation_solid(flow->simulation)).kinetic_energy;
}

typedef struct {
  const char *solver;
  int         cells;
  double      density, height, end;
} Release;

/* The largest energy until its end, or until the run would have ended because of it or of a step that fails.
 */
static PetscReal release(Release disc, PetscBool *refused)
{
  PetscReal most = 0., dt;
  PetscBool good = PETSC_TRUE;
  char      message[512] = "";
  SceneRun  flow;

  assert_success(SceneRunCreate(PETSC_COMM_WORLD, &flow, FEATHER, disc.cells, disc.solver, disc.density,
                                disc.height, disc.height));
  while (simulation_time(flow.simulation) < disc.end * (1. - 1e-12) && good && !message[0]) {
    assert_success(SimulationGetTimeStep(flow.simulation, disc.end, &dt));
    assert_success(SimulationTryStep(flow.simulation, &dt, &good));
    assert_success(SimulationCheckEnergy(flow.simulation, message, sizeof(message)));
    assert_success(MPI_Bcast(message, sizeof(message), MPI_CHAR, 0, PETSC_COMM_WORLD));
    most = PetscMax(most, energy(&flow));
  }
  note("density %g, %d cells: at most %.3g J in %d steps%s", disc.density, disc.cells, (double)most,
       (int)simulation_step(flow.simulation), good && !message[0] ? "" : ", refused");
  *refused = good && !message[0] ? PETSC_FALSE : PETSC_TRUE;
  assert_success(SceneRunDestroy(&flow));
  return most;
}

/* Water that falls into the place of the disc, up to its own surface, is all that there is. */
static void a_light_disc_has_no_energy_but_that_of_the_water(void **state)
{
  const PetscReal height = 0.4, there = 1000. * PETSC_PI * 0.15 * 0.15 * 9.81 * (0.5 - height + 0.15);
  const PetscReal densities[] = {0.001, 0.1, 1.};
  PetscBool       refused;

  (void)state;
  for (PetscInt n = 0; n < 3; n++) {
    const PetscReal most = release((Release){"schur", 16, densities[n], height, 0.35}, &refused);

    assert_on_all_ranks(refused || most <= there);
  }
}

/* Round-off ends MINRES above the tolerance at some places of the disc, unless it starts again. */
static void minres_solves_for_a_very_light_disc(void **state)
{
  PetscBool refused;

  (void)state;
  release((Release){"minres", 18, 0.001, 0.45, 1.3}, &refused);
  assert_on_all_ranks(!refused);
}

/* The flow of F2 is so fast that regions would follow it for hours: the step ends before they are moved. */
static void a_flow_that_nothing_can_follow_ends_the_step(void **state)
{
  PetscBool good;
  Vec      *velocity;
  SceneRun  flow;

  (void)state;
  assert_success(SceneRunCreate(PETSC_COMM_WORLD, &flow, FEATHER, 16, "schur", 500., 0.4, 0.4));
  if (flow.fluid) {
    PetscCallAbort(PETSC_COMM_SELF, FluidGetVelocity(flow.fluid, &velocity));
    PetscCallAbort(PETSC_COMM_SELF, VecSet(velocity[X], 1e9));
  }
  assert_success(SimulationStep(flow.simulation, 0.01, &good));
  assert_on_all_ranks(!good && flow.simulation->too_fast);
  assert_success(SceneRunDestroy(&flow));
}

/* Its edge leaves corners of the grid that no region claims: their viscosity is a number all the same. */
static void a_dam_without_viscosity_pushes_a_box(void **state)
{
  SceneRun flow;

  (void)state;
  assert_success(
      SceneRunCreate(PETSC_COMM_WORLD, &flow, "%s",
                     "grid: {dimension: 2, size: [1, 0.5], resolution: 64}\n"
                     "fluid: {gravity: [0, -9.81], sides: {all: slip}}\n"
                     "regions:\n"
                     "  - {name: water, density: 1000, shape: {box: {low: [-1, -1], high: [0.3, 0.3]}}}\n"
                     "  - {name: air, type: empty}\n"
                     "solids:\n"
                     "  bodies:\n"
                     "    - {name: box, density: 400, shape: {box: {low: [0.6, 0.02], high: [0.75, 0.12]}}}\n"
                     "coupling: {tolerance: 1e-6}\n"));
  assert_success(SceneRunUntil(&flow, 0.36));
  assert_success(SceneRunDestroy(&flow));
}

static void more_energy_than_gravity_gives_is_refused(void **state)
{
  char     message[512] = "";
  Vec     *velocity;
  SceneRun flow;

  (void)state;
  assert_success(SceneRunCreate(PETSC_COMM_WORLD, &flow, FEATHER, 16, "schur", 500., 0.4, 0.4));
  assert_success(SimulationCheckEnergy(flow.simulation, message, sizeof(message)));
  assert_on_all_ranks(!message[0]);
  if (flow.fluid) {
    PetscCallAbort(PETSC_COMM_SELF, FluidGetVelocity(flow.fluid, &velocity));
    PetscCallAbort(PETSC_COMM_SELF, VecSet(velocity[X], 1.));
  }
  assert_success(SimulationCheckEnergy(flow.simulation, message, sizeof(message)));
  assert_on_all_ranks(message[0] || !flow.fluid);
  assert_success(SceneRunDestroy(&flow));
}

TEST_MAIN(cmocka_unit_test(fluid_rests_beside_a_heavy_box_on_the_floor),
          cmocka_unit_test(fluid_rests_below_a_light_body_under_a_lid),
          cmocka_unit_test(a_body_under_a_lid_feels_archimedes),
          cmocka_unit_test(a_light_body_stays_in_a_corner),
          cmocka_unit_test(forces_of_the_start_know_contact),
          cmocka_unit_test(many_contacts_agree_with_the_fluid),
          cmocka_unit_test(a_step_without_agreement_is_no_step), cmocka_unit_test(what_is_left_is_known),
          cmocka_unit_test(a_light_disc_has_no_energy_but_that_of_the_water),
          cmocka_unit_test(minres_solves_for_a_very_light_disc),
          cmocka_unit_test(a_flow_that_nothing_can_follow_ends_the_step),
          cmocka_unit_test(a_dam_without_viscosity_pushes_a_box),
          cmocka_unit_test(more_energy_than_gravity_gives_is_refused))
