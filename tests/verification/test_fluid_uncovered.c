/* Cells that a moving obstacle leaves behind. Around a disc of radius R that moves along x with the speed U
   flows

     u = U R^2 (x^2 - y^2, 2 x y) / r^4,

   which has no y on the x axis: a surface on that axis stays where it is, and the disc moves along it. */
#include "harness.h"
#include "regions.h"

enum { WATER, AIR, CELLS = 64, STEPS = 60 };
static const PetscReal radius = 0.1, speed = 1., dt = 0.6 / CELLS;
static Vector3         centre; /* of the disc; velocities are plain functions of a point */

static Vector3 flow_around(Vector3 point)
{
  const PetscReal x = point.at[X] - centre.at[X], y = point.at[Y] - centre.at[Y], square = x * x + y * y;
  const PetscReal scale = speed * radius * radius / PetscMax(square * square, 1e-30);

  if (square < radius * radius)
    return vector3(speed, 0., 0.);
  return vector3(scale * (x * x - y * y), 2. * scale * x * y, 0.);
}

static void close_disc(Regions *regions)
{
  Shape disc;

  assert_success(VecDestroy(&regions->closed));
  assert_success(ShapeCreateSphere(centre, radius, &disc));
  assert_success(RegionsClose(regions, disc));
  assert_success(ShapeDestroy(&disc));
}

/* Water up to y = 1/2, and a disc that starts on the left at this height, full of air as if it had come from
 * there. */
static void start(PetscReal height, Regions *regions)
{
  char  message[256];
  Shape parts[2], below;

  centre = vector3(0.25, height, 0.);
  assert_success(ShapeCreatePlane(vector3(0., 0.5, 0.), vector3(0., 1., 0.), &parts[0]));
  assert_success(ShapeCreateSphere(centre, radius, &parts[1]));
  assert_success(ShapeCreateCombination(height > 0.5 ? SHAPE_UNION : SHAPE_DIFFERENCE, 2, parts, &below));
  regions_prepare(2, CELLS, regions);
  regions->config.interface.particles = 16;
  regions_add(regions, &below);
  regions_add(regions, NULL);
  assert_success(MacGridCreate(PETSC_COMM_WORLD, &regions->grid_config, &regions->grid));
  close_disc(regions);
  assert_success(RegionsStart(PETSC_COMM_WORLD, regions, message, sizeof(message)));
}

/* Each step is a disc that is already where it will be, as in a run. */
static void move_disc(Regions *regions)
{
  for (PetscInt step = 0; step < STEPS; step++) {
    assert_success(RegionsSetVelocity(regions, flow_around));
    centre.at[X] += dt * speed;
    close_disc(regions);
    assert_success(PhaseAdvance(regions->phase, regions->velocity, regions->closed, dt));
  }
}

/* Largest difference of a distance from y - 1/2 within two cells of the surface, in open cells, in cells. */
static PetscReal surface_error(Regions *regions)
{
  const GridBox   *box = grid_box(regions->grid);
  const PetscReal *closed, *distance;
  PetscReal        largest = 0.;
  Vec              field;

  assert_success(PhaseGetDistance(regions->phase, WATER, &field));
  assert_success(VecGetArrayRead(field, &distance));
  assert_success(VecGetArrayRead(regions->closed, &closed));
  for (PetscInt j = box->start[Y]; j < box->end[Y]; j++)
    for (PetscInt i = box->start[X]; i < box->end[X]; i++) {
      const PetscInt  c = box_index(box, i, j, 0);
      const PetscReal exact = grid_cell_centre(regions->grid, i, j, 0).at[Y] - 0.5;

      if (PetscAbsReal(exact) < 2. / CELLS && !(closed[c] > 0.))
        largest = PetscMax(largest, PetscAbsReal(distance[c] - exact) * CELLS);
    }
  assert_success(VecRestoreArrayRead(regions->closed, &closed));
  assert_success(VecRestoreArrayRead(field, &distance));
  assert_success(MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
  return largest;
}

/* Open cells of a region that lie deeper than this in the other. */
static PetscInt strangers(Regions *regions, PetscReal depth)
{
  const GridBox   *box = grid_box(regions->grid);
  const PetscReal *region, *closed;
  PetscInt         count = 0;
  Vec              map;

  assert_success(PhaseGetRegions(regions->phase, &map));
  assert_success(VecGetArrayRead(map, &region));
  assert_success(VecGetArrayRead(regions->closed, &closed));
  for (PetscInt j = box->start[Y]; j < box->end[Y]; j++)
    for (PetscInt i = box->start[X]; i < box->end[X]; i++) {
      const PetscReal height = grid_cell_centre(regions->grid, i, j, 0).at[Y] - 0.5;

      const PetscInt c = box_index(box, i, j, 0);

      count +=
          PetscAbsReal(height) > depth && !(closed[c] > 0.) && region[c] != 1. + (height < 0. ? WATER : AIR);
    }
  assert_success(VecRestoreArrayRead(regions->closed, &closed));
  assert_success(VecRestoreArrayRead(map, &region));
  assert_success(MPI_Allreduce(MPI_IN_PLACE, &count, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  return count;
}

static void a_disc_leaves_the_surface_behind_as_it_was(void **state)
{
  Regions   regions;
  PetscReal breach;

  (void)state;
  start(0.5, &regions);
  move_disc(&regions);
  assert_near(surface_error(&regions), 0., 0.1);
  assert_on_all_ranks(strangers(&regions, 2. / CELLS) == 0);
  assert_success(RegionsCheckProjection(&regions, &breach));
  assert_near(breach, 0., 1e-12);
  assert_success(RegionsDestroy(&regions));
}

/* Near enough for the band to reach the disc, but not for the disc to touch the surface. */
static void a_disc_brings_no_air_into_water_nor_water_into_air(void **state)
{
  const PetscReal heights[] = {0.5 - 0.2, 0.5 + 0.2};

  (void)state;
  for (PetscInt n = 0; n < 2; n++) {
    Regions   regions;
    PetscReal before;

    start(heights[n], &regions);
    before = phase_report(regions.phase)->volume[n];
    move_disc(&regions);
    assert_on_all_ranks(strangers(&regions, 0.06) == 0);
    assert_near(phase_report(regions.phase)->volume[n], before, 0.005);
    assert_success(RegionsDestroy(&regions));
  }
}

TEST_MAIN(cmocka_unit_test(a_disc_leaves_the_surface_behind_as_it_was),
          cmocka_unit_test(a_disc_brings_no_air_into_water_nor_water_into_air))
