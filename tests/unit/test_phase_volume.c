/* Volumes that are kept, and what they follow; air that vanishes; velocities where there is nothing. */
#include "harness.h"
#include "scene_run.h"
#include "regions.h"

static Vector3 drifting(Vector3 point)
{
  (void)point;
  return vector3(1., 0., 0.);
}

static Vector3 swirling(Vector3 point)
{
  const PetscReal x = PETSC_PI * point.at[X], y = PETSC_PI * point.at[Y];

  return vector3(-PetscSqr(PetscSinReal(x)) * PetscSinReal(2. * y),
                 PetscSqr(PetscSinReal(y)) * PetscSinReal(2. * x), 0.);
}

static Vector3 still(Vector3 point)
{
  (void)point;
  return vector3(0., 0., 0.);
}

static Shape ball(PetscReal x, PetscReal y, PetscReal radius)
{
  Shape shape;

  assert_success(ShapeCreateSphere(vector3(x, y, 0.), radius, &shape));
  return shape;
}

static void start(Regions *regions, VelocityAt velocity)
{
  char message[512];

  assert_success(RegionsStart(PETSC_COMM_WORLD, regions, message, sizeof(message)));
  assert_on_all_ranks(!message[0]);
  assert_success(RegionsSetVelocity(regions, velocity));
}

/* Part of its area that a small disk of liquid in air gains in a vortex, without markers. */
static PetscReal area_gained(VolumeCorrection volume)
{
  Shape     shape = ball(0.5, 0.75, 0.1);
  Regions   regions;
  PetscReal begin, end;

  regions_prepare(2, 40, &regions);
  regions.config.volume = volume;
  regions_add(&regions, &shape);
  regions_add(&regions, NULL)->kind = REGION_EMPTY;
  start(&regions, swirling);
  begin = phase_report(regions.phase)->volume[0];
  for (PetscInt s = 0; s < 60; s++)
    assert_success(PhaseAdvance(regions.phase, regions.velocity, NULL, 0.02));
  end = phase_report(regions.phase)->volume[0];
  assert_success(RegionsDestroy(&regions));
  return end / begin - 1.;
}

static void volumes_are_kept_on_demand(void **state)
{
  const PetscReal open = area_gained(VOLUME_FREE), kept = area_gained(VOLUME_KEPT);

  (void)state;
  note("a disk of four cells in a vortex gains %.2e of its area, %.2e if volumes are kept", (double)open,
       (double)kept);
  assert_on_all_ranks(PetscAbsReal(open) > 0.01);
  assert_near(kept, 0., 0.1 * PetscAbsReal(open));
}

/* A disk that is to have a tenth more, with markers on both sides of its surface. */
static void markers_go_along_where_a_volume_is_restored(void **state)
{
  Shape     shape = ball(0.5, 0.5, 0.2);
  Regions   regions;
  PetscReal target;

  (void)state;
  regions_prepare(2, 40, &regions);
  regions.config.volume = VOLUME_KEPT;
  regions.config.interface.particles = 16;
  regions_add(&regions, &shape);
  regions_add(&regions, NULL);
  start(&regions, still);
  target = 1.1 * phase_report(regions.phase)->volume[0];
  phase_take_in(regions.phase, 0, target / 11.);
  phase_take_in(regions.phase, 1, -target / 11.);
  for (PetscInt s = 0; s < 15; s++)
    assert_success(PhaseAdvance(regions.phase, regions.velocity, NULL, 0.01));
  note("area over what it is to be: %.5f", (double)(phase_report(regions.phase)->volume[0] / target));
  assert_near(phase_report(regions.phase)->volume[0] / target, 1., 2e-3);
  assert_success(RegionsDestroy(&regions));
}

/* A strip that leaves through a side: its target follows, so that nothing draws it back. */
static void targets_follow_what_leaves_the_box(void **state)
{
  const PetscReal time = 0.35;
  Shape           strip;
  Regions         regions;

  (void)state;
  regions_prepare(2, 40, &regions);
  regions.config.volume = VOLUME_KEPT;
  regions.outer = 2;
  assert_success(ShapeCreateBox(vector3(0.4, -1., -1.), vector3(0.8, 2., 1.), &strip));
  regions_add(&regions, &strip);
  regions_add(&regions, NULL);
  start(&regions, drifting);
  assert_near(phase_report(regions.phase)->volume[0], 0.4, 1e-9);
  for (PetscInt s = 0; s < 35; s++)
    assert_success(PhaseAdvance(regions.phase, regions.velocity, NULL, time / 35.));
  assert_near(phase_report(regions.phase)->volume[0], 1. - 0.4 - time, 1e-3);
  assert_success(RegionsDestroy(&regions));
}

/* A place that is poured into lets liquid out on one side and takes air in on the other. */
static PetscReal area_from_source(VolumeCorrection volume)
{
  Shape     pool, source;
  Regions   regions;
  PetscReal begin, end;

  assert_success(ShapeCreateBox(vector3(0.7, 0.3, -1.), vector3(0.85, 0.7, 1.), &pool));
  assert_success(ShapeCreateBox(vector3(0.2, 0.4, -1.), vector3(0.3, 0.6, 1.), &source));
  regions_prepare(2, 40, &regions);
  regions.config.volume = volume;
  regions_add(&regions, &pool);
  regions_add(&regions, NULL);
  start(&regions, drifting);
  assert_success(PhasePour(regions.phase, 0, source, NULL));
  begin = phase_report(regions.phase)->volume[0];
  for (PetscInt s = 0; s < 10; s++) {
    assert_success(PhaseAdvance(regions.phase, regions.velocity, NULL, 0.01));
    assert_success(PhasePour(regions.phase, 0, source, NULL));
  }
  end = phase_report(regions.phase)->volume[0];
  assert_success(ShapeDestroy(&source));
  assert_success(RegionsDestroy(&regions));
  return end - begin;
}

static void targets_follow_what_sources_let_out(void **state)
{
  const PetscReal open = area_from_source(VOLUME_FREE), kept = area_from_source(VOLUME_KEPT),
                  expected = 0.2 * 0.1;

  (void)state;
  note("a source of area rate 0.2 over 0.1 s gives %.5f, %.5f if volumes are kept", (double)open,
       (double)kept);
  assert_near(open, expected, 0.15 * expected);
  assert_near(kept, expected, 0.05 * expected);
}

/* A pocket of less than two cells: of air its markers go, of a simulated gas they stay. */
static void trapped_markers_go_where_air_may_vanish(void **state)
{
  (void)state;
  for (PetscInt kind = REGION_SIMULATED; kind <= REGION_ONE_WAY; kind++) {
    const PetscReal    h = 1. / 32;
    Shape              shape = ball(16.5 * h, 12.5 * h, 0.95 * h);
    const PhaseReport *report;
    Regions            regions;

    regions_prepare(2, 32, &regions);
    regions.config.interface.particles = 32;
    regions_add(&regions, &shape)->kind = (RegionKind)kind;
    regions_add(&regions, NULL);
    start(&regions, still);
    report = phase_report(regions.phase);
    assert_on_all_ranks(report->particles[0] > 16);
    assert_success(PhaseAdvance(regions.phase, regions.velocity, NULL, 0.01));
    if (kind != REGION_SIMULATED)
      assert_on_all_ranks(report->dropped > 16 && report->particles[0] > 0);
    else
      assert_on_all_ranks(report->dropped == 0 && report->particles[0] > 16);
    assert_success(RegionsDestroy(&regions));
  }
}

/* Velocity (2, -1) in the liquid and rubbish elsewhere becomes (2, -1) around it. */
static Vector3 half_rubbish(Vector3 point)
{
  return point.at[Y] <= 0.5 ? vector3(2., -1., 0.) : vector3(100. * point.at[X], -70., 0.);
}

static void velocity_goes_on_where_there_is_nothing(void **state)
{
  const PetscInt   n = 32, surface = 16;
  Shape            shape;
  Regions          regions;
  const GridBox   *box;
  const PetscReal *u;
  PetscReal        largest = 0.;

  (void)state;
  assert_success(ShapeCreatePlane(vector3(0., 0.5, 0.), vector3(0., 1., 0.), &shape));
  regions_prepare(2, n, &regions);
  regions_add(&regions, &shape);
  regions_add(&regions, NULL)->kind = REGION_ONE_WAY;
  start(&regions, half_rubbish);
  assert_success(PhaseExtendVelocity(regions.phase, regions.velocity));
  box = grid_box(regions.grid);
  for (PetscInt d = 0; d < 2; d++) {
    assert_success(VecGetArrayRead(regions.velocity[d], &u));
    for (PetscInt j = box->start[Y]; j < PetscMin(box->end[Y], surface + BAND_CELLS - 1); j++)
      for (PetscInt i = box->start[X]; i < box->end[X]; i++)
        if (d == X || j != surface) /* that face is part of the liquid and had rubbish */
          largest = PetscMax(largest, PetscAbsReal(u[box_index(box, i, j, 0)] - (d == X ? 2. : -1.)));
    assert_success(VecRestoreArrayRead(regions.velocity[d], &u));
  }
  assert_success(MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
  assert_near(largest, 0., 1e-12);
  assert_success(RegionsDestroy(&regions));
}

TEST_MAIN(cmocka_unit_test(volumes_are_kept_on_demand),
          cmocka_unit_test(markers_go_along_where_a_volume_is_restored),
          cmocka_unit_test(targets_follow_what_leaves_the_box),
          cmocka_unit_test(targets_follow_what_sources_let_out),
          cmocka_unit_test(trapped_markers_go_where_air_may_vanish),
          cmocka_unit_test(velocity_goes_on_where_there_is_nothing))
