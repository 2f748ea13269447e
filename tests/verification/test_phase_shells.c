/* Regions and markers at thin shells that move: nothing passes. */
#include "harness.h"
#include "regions.h"
#include "analytic_shell.h"
#include "phase/phase_impl.h"

enum { WATER, AIR };
static const PetscReal radius = 0.2,
                       level = -0.05; /* of the shell, and of the water in it above the middle */
typedef enum { SHELL_THERE, SHELL_AWAY } Presence;

typedef struct {
  Regions       regions;
  AnalyticShell shell;
  Presence      presence;
} Case;

/* The step being made: velocities are plain functions of a point. */
static struct {
  Vector3   middle, way; /* of the centre: half-way and the whole way */
  PetscReal turn, dt;    /* rad, s */
  Vector3   wind;        /* m/s, that blows through the shell */
} ride;

static Vector3 ride_velocity(Vector3 point)
{
  const Vector3 arm = vector3_subtract(point, ride.middle);

  return vector3_add(ride.wind, vector3_scale(1. / ride.dt, vector3(ride.way.at[X] - ride.turn * arm.at[Y],
                                                                    ride.way.at[Y] + ride.turn * arm.at[X],
                                                                    ride.way.at[Z])));
}

static Vector3 shaken_centre(PetscReal time, PetscInt dimension)
{
  return vector3(0.5 + 0.13 * PetscSinReal(time), 0.5 + 0.1 * PetscSinReal(1.7 * time),
                 dimension == 3 ? 0.5 + 0.1 * PetscSinReal(1.3 * time) : 0.);
}

static PetscReal shaken_angle(PetscReal time)
{
  return 1.5 * PetscSinReal(0.6 * time);
}

/* A shell at time zero, filled up to the level, in air. */
static void start_case(MPI_Comm comm, PetscInt dimension, PetscInt cells, Presence presence, Case *made)
{
  const Vector3 centre = shaken_centre(0., dimension), up = vector3(0., 1., 0.);
  char          message[256];
  Shape         parts[2], filling;

  assert_success(ShapeCreateSphere(centre, radius, &parts[0]));
  assert_success(ShapeCreatePlane(vector3_add(centre, vector3_scale(level, up)), up, &parts[1]));
  assert_success(ShapeCreateCombination(SHAPE_INTERSECTION, 2, parts, &filling));
  regions_prepare(dimension, cells, &made->regions);
  made->regions.config.interface.particles = dimension == 2 ? 16 : 32;
  regions_add(&made->regions, &filling);
  regions_add(&made->regions, NULL);
  assert_success(RegionsStart(comm, &made->regions, message, sizeof(message)));
  made->presence = presence;
  made->shell = (AnalyticShell){.form = ANALYTIC_SHELL_BALL, .size = radius, .centre = {[STEP_END] = centre}};
  assert_success(AnalyticShellStart(&made->shell, made->regions.grid));
  if (presence == SHELL_AWAY)
    return;
  assert_success(PhaseSetVisibility(made->regions.phase, &made->shell.visibility));
  assert_success(PhaseStart(made->regions.phase, NULL, message, sizeof(message)));
}

static void end_case(Case *made)
{
  assert_success(AnalyticShellDestroy(&made->shell));
  assert_success(RegionsDestroy(&made->regions));
}

/* The whole box moves with the shell; `dt` is such that nothing in it goes further than 0.9 cells. */
static void shake(Case *made, PetscInt step)
{
  const PetscInt  dimension = made->regions.grid_config.dimension;
  const PetscReal dt = 0.9 * grid_spacing(made->regions.grid) / 0.36, time = step * dt;
  const Vector3   before = made->shell.centre[STEP_END], after = shaken_centre(time, dimension);

  ride.middle = vector3_scale(0.5, vector3_add(before, after));
  ride.way = vector3_subtract(after, before);
  ride.turn = shaken_angle(time) - made->shell.angle[STEP_END];
  ride.dt = dt;
  assert_success(AnalyticShellMove(&made->shell, after, shaken_angle(time), dt));
  assert_success(RegionsSetVelocity(&made->regions, ride_velocity));
  if (made->presence == SHELL_THERE)
    assert_success(PhaseSetVisibility(made->regions.phase, &made->shell.visibility));
  assert_success(PhaseAdvance(made->regions.phase, made->regions.velocity, NULL, dt));
}

/* What water at rest in the shell would have, in the same way of counting: cells with their centre in the
 * shell. */
static PetscReal resting_volume(const Case *made)
{
  const GridBox  *box = grid_box(made->regions.grid);
  const PetscReal h = grid_spacing(made->regions.grid), angle = made->shell.angle[STEP_END];
  const Vector3   up = vector3(-PetscSinReal(angle), PetscCosReal(angle), 0.);
  PetscReal       sum = 0.;

  FOR_CELLS(box, i, j, k) {
    const Vector3   centre = grid_cell_centre(made->regions.grid, i, j, k);
    const PetscReal height = vector3_dot(up, vector3_subtract(centre, made->shell.centre[STEP_END]));

    if (analytic_shell_distance(&made->shell, STEP_END, centre) < 0.)
      sum += inside_fraction(box->dimension, height - level, up, h);
  }
  assert_success(MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPIU_REAL, MPI_SUM, PETSC_COMM_WORLD));
  return sum * h * h * (box->dimension == 3 ? h : 1.);
}

/* Markers of each region on either side of the shell. */
typedef struct {
  PetscInt64 of[2][2];
} Census;

static Census count_markers(const Case *made)
{
  ParticleView view;
  Census       census = {{{0, 0}, {0, 0}}};

  for (PetscInt n = WATER; n <= AIR; n++) {
    assert_success(ParticlesGetView(made->regions.phase->markers[n], &view));
    for (PetscInt m = 0; m < view.count; m++)
      census.of[n][analytic_shell_distance(&made->shell, STEP_END, view.positions[m]) > 0.]++;
  }
  assert_success(MPI_Allreduce(MPI_IN_PLACE, &census, 4, MPIU_INT64, MPI_SUM, PETSC_COMM_WORLD));
  return census;
}

/* Shakes a shell, and looks that no marker changes sides or gets lost but where markers are seeded anew.
   Returns the largest change of the volume, relative. */
static PetscReal shake_and_look(Case *made, PetscInt steps)
{
  const PetscReal before = phase_report(made->regions.phase)->volume[WATER] / resting_volume(made);
  Census          last = count_markers(made);
  PetscReal       largest = 0.;

  for (PetscInt step = 1; step <= steps; step++) {
    Census census;

    shake(made, step);
    census = count_markers(made);
    assert_on_all_ranks(census.of[WATER][1] == 0 && census.of[WATER][0] > 0);
    if (step % 20)
      assert_on_all_ranks(!memcmp(&census, &last, sizeof(last)));
    last = census;
    largest = PetscMax(
        largest,
        PetscAbsReal(phase_report(made->regions.phase)->volume[WATER] / resting_volume(made) - before));
  }
  return largest;
}

/* Over 500 steps, or a few in three dimensions. */
static void a_shaken_shell_keeps_its_water(void **state)
{
  (void)state;
  only_on_one_rank();
  for (PetscInt dimension = 2; dimension <= 3; dimension++) {
    const PetscInt steps = dimension == 2 ? 500 : 25, cells = dimension == 2 ? 40 : 20;
    PetscReal      with, without = 0., before;
    Case           made;

    start_case(PETSC_COMM_WORLD, dimension, cells, SHELL_AWAY, &made);
    before = phase_report(made.regions.phase)->volume[WATER];
    for (PetscInt step = 1; step <= steps; step++) {
      shake(&made, step);
      without =
          PetscMax(without, PetscAbsReal(phase_report(made.regions.phase)->volume[WATER] / before - 1.));
    }
    end_case(&made);
    start_case(PETSC_COMM_WORLD, dimension, cells, SHELL_THERE, &made);
    with = shake_and_look(&made, steps);
    print_message("# volume: %.2e with the shell, %.2e without\n", (double)with, (double)without);
    assert_on_all_ranks(with < without);
    end_case(&made);
  }
}

/* A flow that goes through the shell, as none should, at half a cell per step, until markers are seeded anew.
 */
static void no_marker_passes_whatever_blows(void **state)
{
  Case      made;
  PetscReal change;

  (void)state;
  start_case(PETSC_COMM_WORLD, 2, 40, SHELL_THERE, &made);
  ride.wind = vector3(0.2, -0.1, 0.);
  change = shake_and_look(&made, 19);
  ride.wind = vector3(0., 0., 0.);
  assert_on_all_ranks(change < 1.);
  end_case(&made);
}

static void carry_on(Case *made, PetscInt step)
{
  const PetscReal dt = 0.9 * grid_spacing(made->regions.grid);

  ride.way = vector3(dt * PetscCosReal(0.1 * step), 0.3 * dt * PetscSinReal(0.13 * step), 0.);
  ride.turn = 0.;
  ride.dt = dt;
  assert_success(
      AnalyticShellMove(&made->shell, vector3_add(made->shell.centre[STEP_END], ride.way), 0., dt));
  assert_success(RegionsSetVelocity(&made->regions, ride_velocity));
  assert_success(PhaseSetVisibility(made->regions.phase, &made->shell.visibility));
  assert_success(PhaseAdvance(made->regions.phase, made->regions.velocity, NULL, dt));
}

/* The rim is the edge of a shell: around it one side sees the other. */
static void a_bowl_of_water_is_carried_through_air(void **state)
{
  PetscReal before, largest = 0.;
  Case      made;
  char      message[256];

  (void)state;
  start_case(PETSC_COMM_WORLD, 2, 40, SHELL_THERE, &made);
  made.shell.form = ANALYTIC_SHELL_BOWL;
  assert_success(AnalyticShellMove(&made.shell, made.shell.centre[STEP_END], 0., 1.));
  assert_success(PhaseSetVisibility(made.regions.phase, &made.shell.visibility));
  assert_success(PhaseStart(made.regions.phase, NULL, message, sizeof(message)));
  before = phase_report(made.regions.phase)->volume[WATER] / resting_volume(&made);
  for (PetscInt step = 0; step < 200; step++) {
    PetscReal now;

    carry_on(&made, step);
    assert_on_all_ranks(count_markers(&made).of[WATER][1] == 0);
    now = phase_report(made.regions.phase)->volume[WATER] / resting_volume(&made);
    largest = PetscMax(largest, PetscAbsReal(now - before));
  }
  print_message("# volume: %.2e\n", (double)largest);
  assert_near(largest, 0., 0.03);
  end_case(&made);
}

static void ranks_agree_about_shells(void **state)
{
  (void)state;
  for (PetscInt dimension = 2; dimension <= 3; dimension++) {
    const PetscInt cells = dimension == 2 ? 32 : 16;
    Case           together, alone;
    PetscReal      difference;

    start_case(PETSC_COMM_WORLD, dimension, cells, SHELL_THERE, &together);
    start_case(PETSC_COMM_SELF, dimension, cells, SHELL_THERE, &alone);
    for (PetscInt step = 1; step <= 22; step++) {
      shake(&together, step);
      shake(&alone, step);
    }
    for (PetscInt n = WATER; n <= AIR; n++) {
      assert_success(RegionsCompareWithSerial(&together.regions, together.regions.phase->distances[n],
                                              &alone.regions, alone.regions.phase->distances[n],
                                              &difference));
      assert_near(difference, 0., 1e-12);
      assert_on_all_ranks(phase_report(together.regions.phase)->particles[n] ==
                          phase_report(alone.regions.phase)->particles[n]);
    }
    end_case(&together);
    end_case(&alone);
  }
}

/* A sheet that divides the box, with water below and air above: there is no interface but the sheet. */
static const PetscReal slope = 0.3;

static Vector3 blow_through(Vector3 point)
{
  const PetscReal across =
      PetscCosReal(slope) * (point.at[Y] - 0.5) - PetscSinReal(slope) * (point.at[X] - 0.5);
  const PetscReal along = across < 0. ? 1. : -1.;

  return vector3(along * PetscCosReal(slope) - 0.3 * PetscSinReal(slope),
                 along * PetscSinReal(slope) + 0.3 * PetscCosReal(slope), 0.);
}

static Vector3 stand_still(Vector3 point)
{
  (void)point;
  return vector3(0., 0., 0.);
}

static void start_sheet(Shape *below, PetscReal half_length, PetscReal angle, Vector3 centre, Case *made)
{
  char message[256];

  regions_prepare(2, 32, &made->regions);
  made->regions.config.interface.particles = 16;
  regions_add(&made->regions, below);
  regions_add(&made->regions, NULL);
  assert_success(RegionsStart(PETSC_COMM_WORLD, &made->regions, message, sizeof(message)));
  made->presence = SHELL_THERE;
  made->shell = (AnalyticShell){.form = ANALYTIC_SHELL_SHEET,
                                .size = half_length,
                                .centre = {[STEP_END] = centre},
                                .angle = {[STEP_END] = angle}};
  assert_success(AnalyticShellStart(&made->shell, made->regions.grid));
  assert_success(PhaseSetVisibility(made->regions.phase, &made->shell.visibility));
  assert_success(PhaseStart(made->regions.phase, NULL, message, sizeof(message)));
}

static void start_divided(RegionKind above, Case *made)
{
  const Vector3 centre = vector3(0.5, 0.5, 0.);
  Shape         below;

  assert_success(ShapeCreatePlane(centre, vector3(-PetscSinReal(slope), PetscCosReal(slope), 0.), &below));
  start_sheet(&below, 0.8, slope, centre, made);
  made->regions.regions[AIR].kind = above;
  assert_success(PhaseSetTime(made->regions.phase, 0.));
  assert_success(PhaseUpdate(made->regions.phase, NULL));
}

static void nothing_passes_a_sheet(void **state)
{
  (void)state;
  for (PetscInt blows = 0; blows < 2; blows++) {
    const PhaseReport *report;
    Case               made;
    PetscReal          before;

    start_divided(REGION_SIMULATED, &made);
    report = phase_report(made.regions.phase);
    before = report->volume[WATER];
    assert_near(before, 0.5, 0.01);
    assert_on_all_ranks(report->surface[WATER] == 0. && report->particles[WATER] == 0);
    assert_success(RegionsSetVelocity(&made.regions, blows ? blow_through : stand_still));
    for (PetscInt step = 0; step < 100; step++)
      assert_success(PhaseAdvance(made.regions.phase, made.regions.velocity, NULL, 0.7 / 32));
    assert_on_all_ranks(report->volume[WATER] == before && report->surface[WATER] == 0.);
    end_case(&made);
  }
}

/* Densities are 1 below and 2 above; an empty region above counts as a hundredth of the one below. */
static void a_shell_is_no_surface_of_the_mixture(void **state)
{
  const RegionKind kinds[] = {REGION_SIMULATED, REGION_EMPTY};

  (void)state;
  for (PetscInt n = 0; n < 2; n++) {
    const PetscReal      density = n ? 0.5 * (1. + 0.01) : 1.5, mobility = n ? 1. : 1. / 1.5;
    PetscReal           *densities[DIM], *mobilities[DIM], *jumps[DIM], largest = 0.;
    Case                 made;
    const Mixture       *mixture;
    const unsigned char *blocked;

    start_divided(kinds[n], &made);
    blocked = made.regions.phase->visibility_map->blocked[STEP_END];
    assert_success(PhaseGetMixture(made.regions.phase, &mixture));
    assert_success(MacGridGetFaces(made.regions.grid, (Vec *)mixture->density, densities));
    assert_success(MacGridGetFaces(made.regions.grid, (Vec *)mixture->mobility, mobilities));
    assert_success(MacGridGetFaces(made.regions.grid, (Vec *)mixture->jump, jumps));
    for (PetscInt m = 0; m < made.regions.phase->visibility_map->count; m++)
      for (PetscInt d = 0; d < 2; d++) {
        const PetscInt c = made.regions.phase->visibility_map->cells[m];

        if (!(blocked[c] >> d & 1))
          continue;
        largest = PetscMax(largest, PetscAbsReal(densities[d][c] - density));
        largest = PetscMax(largest, PetscAbsReal(mobilities[d][c] - mobility));
        largest = PetscMax(largest, PetscAbsReal(jumps[d][c]));
      }
    assert_near(largest, 0., 1e-14);
    assert_success(MacGridRestoreFaces(made.regions.grid, (Vec *)mixture->density, densities));
    assert_success(MacGridRestoreFaces(made.regions.grid, (Vec *)mixture->mobility, mobilities));
    assert_success(MacGridRestoreFaces(made.regions.grid, (Vec *)mixture->jump, jumps));
    end_case(&made);
  }
}

static Vector3 differ_across(Vector3 point)
{
  const PetscReal across =
      PetscCosReal(slope) * (point.at[Y] - 0.5) - PetscSinReal(slope) * (point.at[X] - 0.5);

  return across < 0. ? vector3(1., 2., 0.) : vector3(-7., -8., 0.);
}

/* Faces of which both cells lie beyond the sheet keep what they have, and all others too. */
static void velocity_does_not_go_on_through_a_sheet(void **state)
{
  Case           made;
  const GridBox *box;
  PetscReal     *u[DIM], largest = 0.;

  (void)state;
  start_divided(REGION_EMPTY, &made);
  box = grid_box(made.regions.grid);
  assert_success(RegionsSetVelocity(&made.regions, differ_across));
  assert_success(PhaseExtendVelocity(made.regions.phase, made.regions.velocity));
  assert_success(MacGridGetFaces(made.regions.grid, made.regions.velocity, u));
  for (PetscInt d = 0; d < 2; d++)
    for (PetscInt j = box->start[Y]; j < box->end[Y]; j++)
      for (PetscInt i = box->start[X]; i < box->end[X]; i++)
        largest = PetscMax(
            largest, PetscAbsReal(u[d][box_index(box, i, j, 0)] -
                                  differ_across(grid_face_centre(made.regions.grid, d, i, j, 0)).at[d]));
  assert_near(largest, 0., 1e-14);
  assert_success(MacGridRestoreFaces(made.regions.grid, made.regions.velocity, u));
  end_case(&made);
}

/* A gate from the floor up, with water to different heights on its two sides, which moves up on the left and
   down on the right. */
static const PetscReal gate = 0.483, left = 0.55, right = 0.25, speed = 0.1;

static Vector3 up_and_down(Vector3 point)
{
  return vector3(0., point.at[X] < gate ? speed : -speed, 0.);
}

static PetscReal above_water(Vector3 point, PetscReal time)
{
  return point.at[Y] - (point.at[X] < gate ? left + speed * time : right - speed * time);
}

/* Exact distances in place of those of shapes, which know of no gate. */
static void start_gate(Case *made)
{
  const GridBox *box;
  Shape          below;
  PetscReal     *distances[REGIONS_MAX];

  assert_success(ShapeCreatePlane(vector3(0., right, 0.), vector3(0., 1., 0.), &below));
  start_sheet(&below, 0.8, 0.5 * PETSC_PI, vector3(gate, 0., 0.), made);
  box = grid_box(made->regions.grid);
  assert_success(PhaseGetDistances(made->regions.phase, distances));
  for (PetscInt j = box->start[Y]; j < box->end[Y]; j++)
    for (PetscInt i = box->start[X]; i < box->end[X]; i++) {
      const PetscReal height = above_water(grid_cell_centre(made->regions.grid, i, j, 0), 0.);
      const PetscInt  c = box_index(box, i, j, 0);

      distances[WATER][c] = PetscMax(-made->regions.phase->band, PetscMin(height, made->regions.phase->band));
      distances[AIR][c] = -distances[WATER][c];
    }
  assert_success(PhaseRestoreDistances(made->regions.phase, distances));
  assert_success(PhaseRefresh(made->regions.phase));
  assert_success(PhaseSeed(made->regions.phase, NULL));
  assert_success(PhaseUpdate(made->regions.phase, NULL));
}

/* Largest distance of a height from the exact one over the columns, by linear interpolation in the columns.
 */
static PetscReal height_error(const Case *made, PetscReal time)
{
  const GridBox  *box = grid_box(made->regions.grid);
  const PetscReal h = grid_spacing(made->regions.grid), *distance;
  PetscReal       largest = 0.;

  assert_success(VecGetArrayRead(made->regions.phase->distances[WATER], &distance));
  for (PetscInt j = box->start[Y]; j < box->end[Y]; j++)
    for (PetscInt i = box->start[X]; i < box->end[X]; i++) {
      const Vector3   centre = grid_cell_centre(made->regions.grid, i, j, 0);
      const PetscReal exact =
          centre.at[Y] - (centre.at[X] < gate ? left + speed * time : right - speed * time);

      if (PetscAbsReal(exact) < 3. * h)
        largest = PetscMax(largest, PetscAbsReal(distance[box_index(box, i, j, 0)] - exact));
    }
  assert_success(VecRestoreArrayRead(made->regions.phase->distances[WATER], &distance));
  assert_success(MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
  return largest;
}

static void water_beside_a_gate_keeps_its_heights(void **state)
{
  const PetscReal dt = 0.9 / 32. / speed / 10.;
  Census          before, after;
  Case            made;

  (void)state;
  start_gate(&made);
  assert_near(height_error(&made, 0.), 0., 1e-12);
  assert_near(phase_report(made.regions.phase)->surface[WATER], 1., 1e-12);
  assert_success(RegionsSetVelocity(&made.regions, stand_still));
  before = count_markers(&made);
  for (PetscInt step = 0; step < 19; step++)
    assert_success(PhaseAdvance(made.regions.phase, made.regions.velocity, NULL, dt));
  assert_near(height_error(&made, 0.), 0., 1e-12);
  assert_success(RegionsSetVelocity(&made.regions, up_and_down));
  for (PetscInt step = 0; step < 40; step++)
    assert_success(PhaseAdvance(made.regions.phase, made.regions.velocity, NULL, dt));
  after = count_markers(&made);
  assert_near(height_error(&made, 40. * dt), 0., 1e-5 / 32.);
  assert_on_all_ranks(before.of[WATER][0] > 0 && after.of[WATER][0] > 0);
  end_case(&made);
}

TEST_MAIN(cmocka_unit_test(a_shaken_shell_keeps_its_water), cmocka_unit_test(no_marker_passes_whatever_blows),
          cmocka_unit_test(a_bowl_of_water_is_carried_through_air),
          cmocka_unit_test(ranks_agree_about_shells), cmocka_unit_test(nothing_passes_a_sheet),
          cmocka_unit_test(a_shell_is_no_surface_of_the_mixture),
          cmocka_unit_test(velocity_does_not_go_on_through_a_sheet),
          cmocka_unit_test(water_beside_a_gate_keeps_its_heights))
