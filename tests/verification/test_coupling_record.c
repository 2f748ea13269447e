/* What a coupled run tells of itself: the forces on bodies in ledger and frames, and its columns. */
#include "scene_run.h"
#include "scratch.h"

#include "simulation/coupled_impl.h"

#define WATER                                                                                                \
  "grid: {size: [1, 0.8, 0.8], resolution: 20}\n"                                                            \
  "run: {end_time: 0.02, frame_interval: 0.01, time_step: 0.01}\n"                                           \
  "fluid: {density: 1000, gravity: [0, -10, 0], sides: {y_high: {type: open}}}\n"
#define BODIES                                                                                               \
  "solids:\n"                                                                                                \
  "  gravity: [0, -10, 0]\n"                                                                                 \
  "  bodies:\n"                                                                                              \
  "    - {name: ball, density: 400, velocity: [0.2, 0.1, 0], spin: [1, 2, 3], force: [1, 2, 3],\n"           \
  "       shape: {sphere: {center: [0.3, 0.41, 0.39], radius: 0.13}}}\n"                                     \
  "    - {name: block, type: static, shape: {box: {low: [0.61, 0.23, 0.27], high: [0.87, 0.52, 0.49]}}}\n"

static const PetscReal *loads_of(SceneRun *flow, Load load, PetscInt body)
{
  return &flow->simulation->coupled->loads[load][6 * body];
}

/* At the start, where all is at rest. */
static void water_lifts_a_held_block_by_the_weight_of_what_it_displaces(void **state)
{
  const PetscReal lift = 1000. * 10. * 0.26 * 0.29 * 0.22, *loads;
  SceneRun        flow;

  (void)state;
  assert_success(SceneRunCreate(PETSC_COMM_WORLD, &flow, "%s",
                                WATER
                                "solids: {bodies: [{name: block, type: static, shape: {box: {low: [0.61, "
                                "0.23, 0.27], high: [0.87, 0.52, 0.49]}}}]}\n"));
  loads = loads_of(&flow, LOAD_ALL, 0);
  for (PetscInt n = 0; n < 6; n++)
    assert_near(loads[n], n == Y ? lift : 0., 1e-6 * lift);
  assert_success(SceneRunDestroy(&flow));
}

/* Newton: mass times acceleration is what fluid, gravity and the scene's force do. */
static void forces_are_what_moves_a_free_body(void **state)
{
  const PetscReal weight[DIM] = {1., 2., 3.};
  BodyView        before, after;
  PetscReal       mass;
  SceneRun        flow;

  (void)state;
  assert_success(SceneRunCreate(PETSC_COMM_WORLD, &flow, "%s", WATER BODIES));
  mass = solid_coupled_body(simulation_solid(flow.simulation), 0).mass;
  for (PetscInt step = 0; step < 5; step++) {
    before = solid_body_view(simulation_solid(flow.simulation), 0);
    assert_success(SceneRunStep(&flow, 1, 0.01));
    after = solid_body_view(simulation_solid(flow.simulation), 0);
    for (PetscInt d = 0; d < DIM; d++)
      assert_near(mass * (after.velocity.at[d] - before.velocity.at[d]) / 0.01,
                  loads_of(&flow, LOAD_ALL, 0)[d] + weight[d] - (d == Y ? 10. * mass : 0.),
                  1e-9 * 10. * mass);
    assert_on_all_ranks(PetscAbsReal(loads_of(&flow, LOAD_PRESSURE, 1)[X]) > 1e-3);
  }
  assert_success(SceneRunDestroy(&flow));
}

/* Bodies displace fluid; what flows between them has no divergence. */
static void totals_are_those_of_the_fluid_alone(void **state)
{
  const PetscReal water = 1000. * (0.64 - 4. / 3. * PETSC_PI * 0.13 * 0.13 * 0.13 - 0.26 * 0.29 * 0.22);
  PetscReal       numbers[2] = {0., 0.};
  FluidTotals     totals;
  SceneRun        flow;

  (void)state;
  assert_success(SceneRunCreate(PETSC_COMM_WORLD, &flow, "%s", WATER BODIES));
  for (PetscInt step = 0; step < 3; step++) {
    if (flow.fluid) {
      assert_int_equal(FluidGetTotals(flow.fluid, &totals), 0);
      numbers[0] = totals.mass;
      numbers[1] = flow.simulation->coupled->divergence;
    }
    assert_success(MPI_Bcast(numbers, 2, MPIU_REAL, 0, PETSC_COMM_WORLD));
    assert_near(numbers[0], water, 1e-9 * water);
    assert_near(numbers[1], 0., 1e-6);
    assert_success(SceneRunStep(&flow, 1, 0.01));
  }
  assert_success(SceneRunDestroy(&flow));
}

/* The number of a column in a ledger, or -1; on the first rank. */
static int column_of(const char path[], const char name[])
{
  FILE *file = fopen(path, "r");
  char  line[16384], *word, *rest = line;
  int   n = 0;

  if (!file || !fgets(line, sizeof(line), file))
    n = -1;
  if (file)
    (void)fclose(file);
  for (; n >= 0 && (word = strsep(&rest, ",\n")); n++)
    if (!strcmp(word, name))
      return n;
  return -1;
}

static void assert_columns(const char path[])
{
  static const char *const present[] = {"coupled_iterations",
                                        "half_iterations",
                                        "advecting_iterations",
                                        "coupled_residual",
                                        "coupled_rounds",
                                        "imbalance",
                                        "pressure_force_block_y",
                                        "viscous_force_ball_z",
                                        "pressure_torque_ball_x",
                                        "viscous_torque_block_z",
                                        "total_momentum_x",
                                        "contact_angular_momentum_z",
                                        "wall_half",
                                        "wall_fluid_waits",
                                        "wall_solids_wait"};
  static const char *const absent[] = {"pressure_iterations", "pressure_residual", "wall_projection"};

  for (size_t n = 0; n < sizeof(present) / sizeof(present[0]); n++)
    assert_on_all_ranks(harness_rank() || column_of(path, present[n]) >= 0);
  for (size_t n = 0; n < sizeof(absent) / sizeof(absent[0]); n++)
    assert_on_all_ranks(harness_rank() || column_of(path, absent[n]) < 0);
}

/* The first triangle of the last frame belongs to the ball. */
static void assert_frame(SceneRun *flow, const char path[])
{
  ArchivePart part;
  PetscReal  *values;
  Archive     archive;
  char        message[512];

  assert_success(ArchiveOpen(PETSC_COMM_WORLD, path, &archive, message, sizeof(message)));
  assert_on_all_ranks(archive);
  assert_success(ArchiveEnter(archive, "meshes/bodies/cell_fields"));
  assert_success(ArchiveGetShape(archive, "pressure_force", &part));
  assert_int_equal(part.global[1], DIM);
  assert_success(PetscMalloc1(part.global[0] * DIM, &values));
  assert_success(ArchiveReadShared(archive, "pressure_force", part.global[0], DIM, values));
  for (PetscInt d = 0; d < DIM; d++) {
    assert_near(values[d], loads_of(flow, LOAD_PRESSURE, 0)[d], 1e-6 * 100.);
    assert_near(values[DIM * (part.global[0] - 1) + d], loads_of(flow, LOAD_PRESSURE, 1)[d], 1e-6 * 1000.);
  }
  assert_success(ArchiveReadShared(archive, "torque", part.global[0], DIM, values));
  assert_near(values[Z], loads_of(flow, LOAD_ALL, 0)[DIM + Z], 1e-6);
  assert_success(PetscFree(values));
  assert_success(ArchiveDestroy(&archive));
}

/* A rank is always at something, and waits only for what another team does. */
static void assert_watched(SceneRun *flow, PetscReal elapsed)
{
  const Watch    *watch = &flow->simulation->coupled->watch;
  const PetscBool has_both = flow->fluid && team_has_solids(flow->simulation->team);
  PetscReal       all = 0., waits = 0.;

  for (PetscInt p = 0; p < PART_COUNT; p++) {
    waits += watch->seconds[p][WAITS];
    for (Activity a = 0; a < ACTIVITY_COUNT; a++)
      all += watch->seconds[p][a];
  }
  assert_on_all_ranks(all > 0.5 * elapsed && all <= elapsed);
  assert_on_all_ranks(has_both ? waits == 0. : waits > 0.);
  assert_on_all_ranks(flow->fluid || waits > 0.5 * all);
}

static void parts_and_waiting_fill_the_time_of_a_step(void **state)
{
  PetscReal began;
  SceneRun  flow;

  (void)state;
  assert_success(SceneRunCreate(PETSC_COMM_WORLD, &flow, "%s", WATER BODIES));
  began = MPI_Wtime();
  assert_success(SceneRunStep(&flow, 5, 0.01));
  assert_success(SimulationPrintWaiting(flow.simulation));
  assert_watched(&flow, MPI_Wtime() - began);
  assert_success(SceneRunDestroy(&flow));
}

static void ledger_and_frames_show_the_forces(void **state)
{
  RunOptions options = {.directory = scratch.directory, .scene_text = ""};
  RunEnding  ending;
  char       message[1024];
  SceneRun   flow;

  (void)state;
  assert_success(SceneRunCreate(PETSC_COMM_WORLD, &flow, "%s", WATER BODIES));
  assert_success(SimulationRun(flow.simulation, &options, &ending, message, sizeof(message)));
  assert_on_all_ranks(ending.outcome == RUN_DONE);
  assert_columns(scratch_path("ledger.csv"));
  assert_frame(&flow, scratch_path("frames/frame-000002.h5"));
  assert_success(SceneRunDestroy(&flow));
}

TEST_MAIN(cmocka_unit_test(water_lifts_a_held_block_by_the_weight_of_what_it_displaces),
          cmocka_unit_test(forces_are_what_moves_a_free_body),
          cmocka_unit_test(totals_are_those_of_the_fluid_alone),
          cmocka_unit_test(parts_and_waiting_fill_the_time_of_a_step),
          in_scratch(ledger_and_frames_show_the_forces))
