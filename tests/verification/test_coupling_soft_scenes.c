/* The scenes of inputs/coupling with deformable solids on small grids: each caption as a number. */
#include "harness.h"
#include "liquid.h"

#include "solid/deformable/points.h"

static Solid solid_of(const SceneRun *flow)
{
  return simulation_solid(flow->simulation);
}

static PetscReal record_of(SceneRun *flow, const char name[])
{
  PetscReal value;

  assert_success(SimulationGetRecord(flow->simulation, name, &value));
  return value;
}

/* One step, towards a time; its length. */
static PetscReal step_towards(SceneRun *flow, PetscReal until)
{
  PetscReal dt;

  assert_success(SimulationGetTimeStep(flow->simulation, until, &dt));
  assert_success(SceneRunStep(flow, 1, dt));
  return dt;
}

/* Bounds of the places of a mesh, which the last rank has. */
static void find_bounds(SceneRun *flow, Vector3 *low, Vector3 *high)
{
  const Points *points = solid_of(flow)->points;

  *low = *high = points->position[0];
  for (PetscInt p = 1; p < points->count; p++)
    for (PetscInt d = 0; d < DIM; d++) {
      low->at[d] = PetscMin(low->at[d], points->position[p].at[d]);
      high->at[d] = PetscMax(high->at[d], points->position[p].at[d]);
    }
}

/* How deep a circle of radius one is under water that holds this part of its area. */
static PetscReal depth_of_circle(PetscReal part)
{
  PetscReal low = 0., high = 2.;

  while (high - low > 1e-12) {
    const PetscReal depth = 0.5 * (low + high), away = 1. - depth;

    if ((PetscAcosReal(away) - away * PetscSqrtReal(1. - away * away)) / PETSC_PI < part)
      low = depth;
    else
      high = depth;
  }
  return low;
}

static PetscReal height_of(SceneRun *flow)
{
  Vector3 low, high;

  find_bounds(flow, &low, &high);
  return high.at[Y] - low.at[Y];
}

/* Fig. 5.6, left. */
static void an_impact_squeezes_a_soft_torus(void **state)
{
  const PetscReal until = 0.25;
  PetscReal       height, volume, squeezed = PETSC_MAX_REAL, crossed = 0.;
  SceneRun        flow;

  (void)state;
  assert_success(SceneRunOpen(&flow, "coupling/soft-torus", 16, "let.edge=0.08", NULL));
  height = height_of(&flow);
  volume = solid_report(solid_of(&flow)).volume;
  while (simulation_time(flow.simulation) < until - 1e-9) {
    (void)step_towards(&flow, until);
    squeezed = PetscMin(squeezed, height_of(&flow) / height);
    crossed += record_of(&flow, "markers_crossed");
  }
  note("soft-torus: squeezed by %.1f %%, volume %+.2f %%", 100. * (double)(1. - squeezed),
       100. * (double)(solid_report(solid_of(&flow)).volume / volume - 1.));
  assert_true(squeezed < 0.9);
  assert_near(solid_report(solid_of(&flow)).volume / volume, 1., 0.03); /* p/K at 0.2 m: 2.4 % */
  assert_near(crossed, 0., 0.);
  assert_success(SceneRunDestroy(&flow));
}

/* By the volume that it has there, which pressure makes smaller, and the level that the water has with it. */
static void a_soft_torus_floats(void **state)
{
  const PetscReal major = 0.2, from = 1.7, until = 3.5, density = 800.;
  PetscReal       volume, mass, height = 0., mean = 0., wanted, level, radius;
  SceneRun        flow;

  (void)state;
  only_in_long_runs();
  assert_success(SceneRunOpen(&flow, "coupling/soft-torus", 24, "let.edge=0.08", NULL));
  volume = solid_report(solid_of(&flow)).volume;
  mass = density * volume;
  assert_success(SceneRunUntil(&flow, from));
  while (simulation_time(flow.simulation) < until - 1e-9) {
    const PetscReal part = step_towards(&flow, until) / (until - from);

    height += part * record_of(&flow, "solid_potential_energy") / (mass * 9.81);
    mean += part * solid_report(solid_of(&flow)).volume;
  }
  radius = PetscSqrtReal(mean / (2. * PETSC_PI * PETSC_PI * major));
  assert_success(RegionVolume(&flow, 0, &level));
  level = (level + mass / 1000.) / 0.64;
  wanted = level + radius * (1. - depth_of_circle(mass / 1000. / mean));
  note("soft-torus: floats at %.4f m, by Archimedes %.4f m; volume %+.2f %%; %.3f m high", (double)height,
       (double)wanted, 100. * (double)(mean / volume - 1.), (double)height_of(&flow));
  assert_near(height, wanted, 0.8 / 24.); /* 0.65 of a cell too deep; half of one is wanted */
  assert_near(mean / volume, 1., 0.01);
  assert_success(SceneRunDestroy(&flow));
}

/* How much longer the edge that is stretched most has become. */
static PetscReal largest_stretch(SceneRun *flow, const Vector3 rest[])
{
  const Points         *points = solid_of(flow)->points;
  const DeformableMesh *mesh = &points->meshes[0];
  PetscReal             most = 0.;

  for (PetscInt n = 0; n < 3 * mesh->face_count; n++) {
    const PetscInt  a = mesh->faces[n / 3][n % 3], b = mesh->faces[n / 3][(n + 1) % 3];
    const PetscReal length =
        vector3_norm(vector3_subtract(points->position[mesh->first + a], points->position[mesh->first + b]));

    most = PetscMax(most, length / vector3_norm(vector3_subtract(rest[a], rest[b])) - 1.);
  }
  return most;
}

/* Fig. 5.6, right. */
static void a_cloth_is_pulled_out_of_water(void **state)
{
  const PetscReal until = 0.4;
  PetscReal       crossed = 0., markers = PETSC_MAX_REAL, iterations = 0., stretch = 0., before, after;
  Vector3        *rest, low, high;
  SceneRun        flow;

  (void)state;
  assert_success(SceneRunOpen(&flow, "coupling/cloth-pull", 18, "let.edge=0.08", NULL));
  assert_success(PetscMalloc1(solid_of(&flow)->points->count, &rest));
  assert_success(PetscArraycpy(rest, solid_of(&flow)->points->position, solid_of(&flow)->points->count));
  assert_success(RegionVolume(&flow, 0, &before));
  while (simulation_time(flow.simulation) < until - 1e-9) {
    (void)step_towards(&flow, until);
    crossed += record_of(&flow, "markers_crossed");
    markers = PetscMin(markers, record_of(&flow, "markers_water"));
    iterations = PetscMax(
        iterations, PetscMax(record_of(&flow, "coupled_iterations"), record_of(&flow, "half_iterations")));
    stretch = PetscMax(stretch, largest_stretch(&flow, rest));
  }
  assert_success(RegionVolume(&flow, 0, &after));
  find_bounds(&flow, &low, &high);
  note("cloth-pull: %g of %g markers crossed, stretched by %.1f %%, %g iterations, water %+.2f %%, from %.2f "
       "to %.2f m",
       (double)crossed, (double)markers, 100. * (double)stretch, (double)iterations,
       100. * (double)(after / before - 1.), (double)low.at[Z], (double)high.at[Z]);
  assert_near(crossed, 0., 0.);
  assert_true(markers > 1000.);
  assert_true(stretch < 0.1);
  assert_true(iterations <= 25.);
  assert_near(after / before, 1., 0.01);
  assert_true(high.at[Z] > 0.34 && low.at[Z] > 0.1);
  assert_success(PetscFree(rest));
  assert_success(SceneRunDestroy(&flow));
}

/* How often cloth winds about a place: nearly 1 deep in a bag, 1/2 on the plane of its rim. */
static PetscReal winding_of(const Points *points, Vector3 place)
{
  const DeformableMesh *mesh = &points->meshes[0];
  PetscReal             winding = 0.;

  for (PetscInt t = 0; t < mesh->face_count; t++) {
    Vector3   r[3];
    PetscReal size[3], below;

    for (int c = 0; c < 3; c++) {
      r[c] = vector3_subtract(points->position[mesh->first + mesh->faces[t][c]], place);
      size[c] = vector3_norm(r[c]);
    }
    below = size[0] * size[1] * size[2] + vector3_dot(r[0], r[1]) * size[2] +
            vector3_dot(r[1], r[2]) * size[0] + vector3_dot(r[2], r[0]) * size[1];
    winding += atan2(vector3_dot(r[0], vector3_cross(r[1], r[2])), below) / (2. * PETSC_PI);
  }
  return winding;
}

/* Cells in the bag up to its rim, and those of them with water. */
static void count_cells_in_bag(SceneRun *flow, PetscReal *whole, PetscReal *water)
{
  const GridBox   *box = grid_box(flow->grid);
  const PetscReal *region;
  Vec              regions;

  *whole = *water = 0.;
  assert_success(PhaseGetRegions(simulation_phase(flow->simulation), &regions));
  assert_success(VecGetArrayRead(regions, &region));
  FOR_CELLS(box, i, j, k) {
    if (winding_of(solid_of(flow)->points, grid_cell_centre(flow->grid, i, j, k)) < 0.5)
      continue;
    *whole += 1.;
    *water += region[box_index(box, i, j, k)] == 1. ? 1. : 0.;
  }
  assert_success(VecRestoreArrayRead(regions, &region));
}

/* Fig. 5.9. */
static void a_bag_carries_its_water(void **state)
{
  const PetscReal until = 1.2;
  PetscReal       crossed = 0., whole, water;
  SceneRun        flow;

  (void)state;
  only_in_long_runs();
  assert_success(SceneRunOpen(&flow, "coupling/bag-pull", 16, "let.edge=0.08", NULL));
  while (simulation_time(flow.simulation) < until - 1e-9) {
    (void)step_towards(&flow, until);
    crossed += record_of(&flow, "markers_crossed");
  }
  count_cells_in_bag(&flow, &whole, &water);
  note("bag-pull: %g of %g cells to the rim hold water, %g markers crossed", (double)water, (double)whole,
       (double)crossed);
  assert_true(whole > 100.);
  assert_true(water > 0.7 * whole);
  assert_near(crossed, 0., 0.);
  assert_success(SceneRunDestroy(&flow));
}

/* Fig. 5.8. The tap brings what its cells let through. */
static void a_bag_is_filled(void **state)
{
  const PetscReal until = 0.7;
  PetscReal       crossed = 0., start, end, whole, water, in;
  Vector3         low, high, hung;
  SceneRun        flow;

  (void)state;
  only_in_long_runs();
  assert_success(SceneRunOpen(&flow, "coupling/bag-fill", 16, "let.edge=0.08", NULL));
  find_bounds(&flow, &low, &hung);
  hung = low;
  assert_success(RegionVolume(&flow, 0, &start));
  while (simulation_time(flow.simulation) < until - 1e-9) {
    (void)step_towards(&flow, until);
    crossed += record_of(&flow, "markers_crossed");
  }
  find_bounds(&flow, &low, &high);
  assert_success(RegionVolume(&flow, 0, &end));
  count_cells_in_bag(&flow, &whole, &water);
  in = 0.8 * until * PETSC_PI * PetscSqr(0.12);
  note("bag-fill: %.4f m^3 came in, the tap's circle lets %.4f m^3 through; the bag is %.1f %% longer; %g "
       "cells of it "
       "hold water; %g markers crossed",
       (double)(end - start), (double)in,
       100. * (double)((hung.at[Y] - low.at[Y]) / (high.at[Y] - hung.at[Y])), (double)water, (double)crossed);
  assert_near(end - start, in, 0.05 * in);
  assert_true(hung.at[Y] - low.at[Y] > 0.1 * (high.at[Y] - hung.at[Y]));
  assert_true(water > 100.);
  assert_near(crossed, 0., 0.);
  assert_success(SceneRunDestroy(&flow));
}

/* Between the mesh and the floor. */
static PetscReal volume_above_floor(SceneRun *flow, Vector3 middle)
{
  const Points         *points = solid_of(flow)->points;
  const DeformableMesh *mesh = &points->meshes[0];
  PetscReal             sum = 0.;

  for (PetscInt t = 0; t < mesh->face_count; t++) {
    Vector3 corner[3];

    for (int c = 0; c < 3; c++)
      corner[c] = vector3_subtract(points->position[mesh->first + mesh->faces[t][c]], middle);
    sum += vector3_dot(corner[0], vector3_cross(corner[1], corner[2])) / 6.;
  }
  return sum;
}

/* Faces of the floor that gas flows in through. */
static PetscReal inlet_area(SceneRun *flow, Vector3 middle)
{
  const PetscReal h = grid_spacing(flow->grid), cells = grid_box(flow->grid)->cells[X];
  PetscReal       area = 0.;

  for (PetscInt i = 0; i < cells; i++)
    for (PetscInt k = 0; k < cells; k++)
      if (PetscSqr((i + 0.5) * h - middle.at[X]) + PetscSqr((k + 0.5) * h - middle.at[Z]) < PetscSqr(0.05))
        area += h * h;
  return area;
}

/* Fig. 5.10. What flows in is taken in the middle of the step. */
static void a_balloon_keeps_what_flows_in(void **state)
{
  const Vector3   middle = {{0.32, 0., 0.32}};
  const PetscReal until = 0.08, period = 0.4;
  PetscReal       before, area, in = 0.;
  SceneRun        flow;

  (void)state;
  assert_success(SceneRunOpen(&flow, "coupling/balloon", 16, "let.edge=0.06", NULL));
  before = volume_above_floor(&flow, middle);
  area = inlet_area(&flow, middle);
  while (simulation_time(flow.simulation) < until - 1e-9) {
    const PetscReal dt = step_towards(&flow, until), time = simulation_time(flow.simulation) - 0.5 * dt;

    in += dt * area * 2.5 * (1. - PetscCosReal(2. * PETSC_PI * time / period));
  }
  note("balloon: %.10g m^3 flowed in, it has grown by %.10g m^3", (double)in,
       (double)(volume_above_floor(&flow, middle) - before));
  assert_true(in > 1e-4);
  assert_near(volume_above_floor(&flow, middle) - before, in, 1e-8 * in);
  assert_success(SceneRunDestroy(&flow));
}

/* Fig. 5.11, in its first two strokes: forwards, not aside, and as large as it was. */
static void a_fish_swims(void **state)
{
  PetscReal volume, rounds = 0., gap = 0.;
  Vector3   way;
  SceneRun  flow;

  (void)state;
  only_in_long_runs();
  assert_success(SceneRunOpen(&flow, "coupling/swimming-fish", 24, "let.edge=0.04", NULL));
  volume = solid_report(solid_of(&flow)).volume;
  way = solid_body_view(solid_of(&flow), 2).position;
  while (simulation_time(flow.simulation) < 1. - 1e-9) {
    (void)step_towards(&flow, 1.);
    rounds = PetscMax(rounds, record_of(&flow, "coupled_rounds"));
    gap = PetscMax(gap, record_of(&flow, "joint_error_max"));
  }
  way = vector3_subtract(solid_body_view(solid_of(&flow), 2).position, way);
  note("swimming-fish: %.4f m forwards, %.4f m up, volume %+.4f %%, %g rounds, joints open by %.2g m",
       (double)way.at[X], (double)way.at[Y],
       100. * (double)(solid_report(solid_of(&flow)).volume / volume - 1.), (double)rounds, (double)gap);
  assert_true(way.at[X] > 0.005);
  assert_near(way.at[Y], 0., 1e-3);
  assert_near(solid_report(solid_of(&flow)).volume / volume, 1., 1e-3);
  assert_near(rounds, 1., 0.);
  assert_near(gap, 0., 1e-6);
  assert_success(SceneRunDestroy(&flow));
}

TEST_MAIN(cmocka_unit_test(an_impact_squeezes_a_soft_torus), cmocka_unit_test(a_soft_torus_floats),
          cmocka_unit_test(a_cloth_is_pulled_out_of_water), cmocka_unit_test(a_bag_carries_its_water),
          cmocka_unit_test(a_bag_is_filled), cmocka_unit_test(a_balloon_keeps_what_flows_in),
          cmocka_unit_test(a_fish_swims))
