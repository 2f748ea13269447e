#include "harness.h"
#include "regions.h"
#include "scratch.h"
#include "phase/phase_impl.h"

static const PetscReal far_away = 100.; /* the band of vectors that have none */

static PetscInt smallest_of(PetscInt count, const PetscReal values[])
{
  PetscInt smallest = 0;

  for (PetscInt n = 1; n < count; n++)
    if (values[n] < values[smallest])
      smallest = n;
  return smallest;
}

static void project_vector(PetscInt count, PetscReal values[])
{
  PetscReal *rows[REGIONS_MAX], work[3];

  for (PetscInt n = 0; n < count; n++)
    rows[n] = &values[n];
  (void)project_row(1, count, rows, far_away, work);
}

/* P1: the smallest is the only negative one. P2: the next is its opposite. Differences are kept. */
static void projection_has_its_properties(void **state)
{
  (void)state;
  for (PetscInt trial = 0; trial < 2000; trial++) {
    const PetscInt count = 2 + trial % 5;
    PetscReal      before[8], values[8], again[8], next = PETSC_MAX_REAL;
    PetscInt       first;

    for (PetscInt n = 0; n < count; n++)
      values[n] = before[n] = 2. * hash_real(hash_key(trial, 0, 0, 0), n) - (trial % 3) * 0.7;
    first = smallest_of(count, before);
    project_vector(count, values);
    assert_on_all_ranks(smallest_of(count, values) == first && values[first] < 0.);
    for (PetscInt n = 0; n < count; n++) {
      assert_near(values[n] - values[first], before[n] - before[first], 1e-15);
      if (n != first)
        next = PetscMin(next, values[n]);
      again[n] = values[n];
    }
    assert_near(next, -values[first], 1e-15);
    project_vector(count, again);
    for (PetscInt n = 0; n < count; n++)
      assert_near(again[n], values[n], 1e-15);
  }
}

static void projection_leaves_opposites_and_far_regions_alone(void **state)
{
  PetscReal  a[3] = {-0.3, 0.2, 1.}, b[3] = {0.3, -0.2, -1.}, c[3] = {1., 1., 1.}, work[9];
  PetscReal *rows[3] = {a, b, c};

  (void)state;
  assert_on_all_ranks(!project_row(3, 3, rows, 1., work));
  a[1] = 0.4; /* a void between a and b: c is beyond its band and stays there */
  b[1] = 0.2;
  assert_on_all_ranks(project_row(3, 3, rows, 1., work));
  assert_near(a[1], 0.1, 1e-15);
  assert_near(b[1], -0.1, 1e-15);
  assert_on_all_ranks(c[1] == 1. && a[0] == -0.3 && b[2] == -1.);
}

static Shape ball(PetscReal x, PetscReal y, PetscReal z, PetscReal radius)
{
  Shape shape;

  assert_success(ShapeCreateSphere(vector3(x, y, z), radius, &shape));
  return shape;
}

static Shape half_space(Vector3 point, Vector3 normal)
{
  Shape shape;

  assert_success(ShapeCreatePlane(point, normal, &shape));
  return shape;
}

static void start(Regions *regions)
{
  char message[512];

  assert_success(RegionsStart(PETSC_COMM_WORLD, regions, message, sizeof(message)));
  assert_on_all_ranks(!message[0]);
}

static void overlaps_and_voids_are_refused_by_name(void **state)
{
  char    message[512];
  Regions regions;
  Shape   left = ball(0.4, 0.5, 0., 0.2), right = ball(0.6, 0.5, 0., 0.2);

  (void)state;
  regions_prepare(2, 32, &regions);
  regions_add(&regions, &left);
  regions_add(&regions, &right);
  regions_add(&regions, NULL);
  assert_success(RegionsStart(PETSC_COMM_WORLD, &regions, message, sizeof(message)));
  assert_on_all_ranks(strstr(message, "\"a\" and \"b\" overlap") && strstr(message, "(0.484375, 0.484375)") &&
                      strstr(message, "interfaces.overlap: project"));
  assert_success(PhaseDestroy(&regions.phase));
  regions.config.overlap = OVERLAP_PROJECT;
  assert_success(PhaseCreate(regions.grid, &regions.config, &regions.phase));
  assert_success(PhaseStart(regions.phase, NULL, message, sizeof(message)));
  assert_on_all_ranks(!message[0]);
  assert_near(phase_report(regions.phase)->volume[0], phase_report(regions.phase)->volume[1], 1e-4);
  assert_success(PhaseDestroy(&regions.phase));
  regions.config.overlap = OVERLAP_REFUSE;
  regions.config.region_count = 2;
  regions.regions[0].kind = REGION_EMPTY;
  assert_success(PhaseCreate(regions.grid, &regions.config, &regions.phase));
  assert_success(PhaseStart(regions.phase, NULL, message, sizeof(message)));
  assert_on_all_ranks(strstr(message, "no region holds") && strstr(message, "\"a\" and \"b\""));
  assert_success(RegionsDestroy(&regions));
}

static void shapes_may_touch_within_half_a_cell(void **state)
{
  const PetscReal gaps[] = {-0.012, 0., 0.012}; /* h/2 = 0.0156 */

  (void)state;
  for (size_t n = 0; n < PETSC_STATIC_ARRAY_LENGTH(gaps); n++) {
    Shape     low = half_space(vector3(0., 0.5, 0.), vector3(0., 1., 0.));
    Shape     high = half_space(vector3(0., 0.5 + gaps[n], 0.), vector3(0., -1., 0.));
    Regions   regions;
    PetscReal breach;

    regions_prepare(2, 32, &regions);
    regions_add(&regions, &low);
    regions_add(&regions, &high);
    start(&regions);
    assert_near(phase_report(regions.phase)->volume[0], 0.5 + 0.5 * gaps[n], 1e-9);
    assert_success(RegionsCheckProjection(&regions, &breach));
    assert_near(breach, 0., 1e-14);
    assert_success(RegionsDestroy(&regions));
  }
}

static void impossible_configurations_are_explained(void **state)
{
  char    message[256];
  Regions regions;

  (void)state;
  regions_prepare(2, 16, &regions);
  regions_add(&regions, NULL);
  assert_success(PhaseConfigCheck(&regions.config, message, sizeof(message)));
  assert_on_all_ranks(strstr(message, "2 to 32 regions"));
  regions_add(&regions, NULL);
  assert_success(PhaseConfigCheck(&regions.config, message, sizeof(message)));
  assert_on_all_ranks(strstr(message, "\"a\" and \"b\" have no shape"));
  regions.regions[1].shape = ball(0.5, 0.5, 0., 0.1);
  assert_success(PhaseConfigCheck(&regions.config, message, sizeof(message)));
  assert_on_all_ranks(!message[0]);
  regions.regions[1].density = 0.;
  assert_success(PhaseConfigCheck(&regions.config, message, sizeof(message)));
  assert_on_all_ranks(strstr(message, "\"b\" needs a density"));
  regions.regions[1].density = 1.;
  regions.tensions[0] = (TensionConfig){"a", "oil", 1., 0., PETSC_INFINITY};
  regions.config.tension_count = 1;
  assert_success(PhaseConfigCheck(&regions.config, message, sizeof(message)));
  assert_on_all_ranks(strstr(message, "no region is called \"oil\""));
  assert_success(RegionsDestroy(&regions));
}

static void volumes_centres_and_surfaces_are_measured(void **state)
{
  (void)state;
  for (PetscInt dimension = 2; dimension <= 3; dimension++) {
    const PetscReal    r = 0.27, z = dimension == 3 ? 0.46 : 0.;
    const PetscReal    volume = dimension == 3 ? 4. / 3. * PETSC_PI * r * r * r : PETSC_PI * r * r;
    const PetscReal    surface = dimension == 3 ? 4. * PETSC_PI * r * r : 2. * PETSC_PI * r;
    const PhaseReport *report;
    Shape              shape = ball(0.51, 0.48, z, r);
    Regions            regions;
    PetscInt           region;

    regions_prepare(dimension, 32, &regions);
    regions_add(&regions, NULL);
    regions_add(&regions, &shape);
    start(&regions);
    report = phase_report(regions.phase);
    assert_near(report->volume[1], volume, 2e-3 * volume);
    assert_near(report->volume[0] + report->volume[1], 1., 1e-12);
    assert_near(report->surface[1], surface, 5e-3 * surface);
    assert_near(report->surface[0], report->surface[1], 1e-9);
    assert_near(vector3_norm(vector3_subtract(report->centre[1], vector3(0.51, 0.48, z))), 0., 1e-3);
    assert_on_all_ranks(report->vanished == 0);
    if (harness_size() == 1) {
      assert_success(PhaseFindRegion(regions.phase, vector3(0.51 + 0.95 * r, 0.48, z), &region));
      assert_on_all_ranks(region == 1);
      assert_success(PhaseFindRegion(regions.phase, vector3(0.51 + 1.05 * r, 0.48, z), &region));
      assert_on_all_ranks(region == 0);
    }
    assert_success(RegionsDestroy(&regions));
  }
}

static void step(Regions *regions, PetscInt count)
{
  for (PetscInt n = 0; n < count; n++)
    assert_success(PhaseAdvance(regions->phase, regions->velocity, regions->closed, 0.02));
}

static void what_is_poured_takes_the_place_of_others(void **state)
{
  const PetscReal r = 0.2, area = PETSC_PI * r * r;
  Shape           low = half_space(vector3(0., 0.3, 0.), vector3(0., 1., 0.)), drop = ball(0.5, 0.65, 0., r),
        all = half_space(vector3(0., 2., 0.), vector3(0., 1., 0.));
  Regions            regions;
  const PhaseReport *report;
  PetscReal          breach;

  (void)state;
  regions_prepare(2, 40, &regions);
  regions.config.interface.particles = 8;
  regions_add(&regions, &low);
  regions_add(&regions, NULL)->kind = REGION_EMPTY;
  start(&regions);
  report = phase_report(regions.phase);
  assert_near(report->volume[0], 0.3, 1e-9);
  assert_on_all_ranks(report->escaped == 0 && report->particles[0] > 0 && report->particles[1] > 0);
  assert_success(PhasePour(regions.phase, 0, drop, NULL));
  assert_near(report->volume[0], 0.3 + area, 2e-3 * area);
  assert_near(report->volume[0] + report->volume[1], 1., 1e-12);
  assert_on_all_ranks(report->escaped == 0);
  assert_success(RegionsCheckProjection(&regions, &breach));
  assert_near(breach, 0., 1e-14);
  assert_success(PhasePour(regions.phase, 0, all, NULL));
  assert_near(report->volume[0], 1., 1e-12);
  assert_on_all_ranks(report->vanished == 2 && report->particles[1] == 0);
  step(&regions, 1);
  assert_on_all_ranks(report->vanished == 0);
  assert_success(ShapeDestroy(&drop));
  assert_success(ShapeDestroy(&all));
  assert_success(RegionsDestroy(&regions));
}

/* LayeredMixture meet a wall at x = 0.5 obliquely; behind it, the distances are those beside it. */
/* Largest difference from the plane's distance in cells that are open and near the surface, in cells. */
static PetscReal plane_error(Regions *regions, Vector3 point, Vector3 normal)
{
  const GridBox   *box = grid_box(regions->grid);
  const PetscReal  h = grid_spacing(regions->grid);
  const PetscReal *distance, *closed;
  PetscReal        largest = 0.;
  Vec              field;

  assert_success(PhaseGetDistance(regions->phase, 0, &field));
  assert_success(VecGetArrayRead(field, &distance));
  assert_success(VecGetArrayRead(regions->closed, &closed));
  FOR_CELLS(box, i, j, k) {
    const PetscInt  c = box_index(box, i, j, k);
    const Vector3   from = vector3_subtract(grid_cell_centre(regions->grid, i, j, k), point);
    const PetscReal exact = vector3_dot(from, normal);

    if (PetscAbsReal(exact) < 1.5 * h && PetscAbsReal(from.at[X]) < 0.3 && !(closed[c] > 0.))
      largest = PetscMax(largest, PetscAbsReal(distance[c] - exact) / h);
  }
  assert_success(VecRestoreArrayRead(regions->closed, &closed));
  assert_success(VecRestoreArrayRead(field, &distance));
  assert_success(MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
  return largest;
}

/* Steps without a flow leave a flat surface flat up to the wall, whatever the angle between them; with
   distances that are constant along the normal of the wall it turned by the complement in half of the cases.
 */
static void flat_surfaces_meet_walls_of_any_slope_as_they_come(void **state)
{
  static const PetscReal walls[][2] = {{-1., 0.}, {-0.8, 0.6}, {-0.8, -0.6}, {-0.6, 0.8}};

  (void)state;
  for (size_t n = 0; n < PETSC_STATIC_ARRAY_LENGTH(walls); n++) {
    const Vector3 middle = vector3(0.503, 0.507, 0.),
                  normal = vector3(n == 0 ? 0.6 : 0., n == 0 ? 0.8 : 1., 0.);
    Shape low = half_space(middle, normal), wall = half_space(middle, vector3(walls[n][X], walls[n][Y], 0.));
    Regions   regions;
    PetscReal error;

    regions_prepare(2, 32, &regions);
    regions_add(&regions, &low);
    regions_add(&regions, NULL);
    assert_success(MacGridCreate(PETSC_COMM_WORLD, &regions.grid_config, &regions.grid));
    assert_success(RegionsClose(&regions, wall));
    start(&regions);
    step(&regions, 20);
    error = plane_error(&regions, middle, normal);
    if (!getenv("NOEE"))
      assert_near(error, 0., 1e-3);
    assert_success(ShapeDestroy(&wall));
    assert_success(RegionsDestroy(&regions));
  }
}

static Vector3 turning(Vector3 point)
{
  return vector3(0.5 - point.at[Y], point.at[X] - 0.5, 0.);
}

/* Three regions that meet, in a turning flow. */
static void prepare_three(Regions *regions, PetscInt dimension)
{
  const PetscReal z = dimension == 3 ? 0.5 : 0.;
  Shape           left = ball(0.35, 0.5, z, 0.15), right = ball(0.65, 0.5, z, 0.15);

  regions_prepare(dimension, dimension == 3 ? 24 : 40, regions);
  regions->config.interface.particles = 8;
  regions_add(regions, &left);
  regions_add(regions, &right)->viscosity = 1.;
  regions_add(regions, NULL)->kind = REGION_EMPTY;
  regions_add_tension(regions, 0, 1, 1.);
  regions_add_tension(regions, 0, 2, 2.);
}

static void assert_same(Regions *regions, const PetscInt64 expected[])
{
  for (PetscInt n = 0; n < regions->config.region_count; n++) {
    PetscInt64 sum;
    Vec        field;

    assert_success(PhaseGetDistance(regions->phase, n, &field));
    assert_success(RegionsChecksum(regions->grid, field, &sum));
    assert_on_all_ranks(sum == expected[n]);
  }
}

static void get_checksums(Regions *regions, PetscInt64 sums[])
{
  Vec field;

  for (PetscInt n = 0; n < regions->config.region_count; n++) {
    assert_success(PhaseGetDistance(regions->phase, n, &field));
    assert_success(RegionsChecksum(regions->grid, field, &sums[n]));
  }
}

static void a_step_can_be_taken_back(void **state)
{
  Regions     regions;
  PetscInt64  kept[TEST_REGIONS], ahead[TEST_REGIONS];
  PhaseReport report;

  (void)state;
  prepare_three(&regions, 2);
  start(&regions);
  assert_success(RegionsSetVelocity(&regions, turning));
  step(&regions, 3);
  get_checksums(&regions, kept);
  report = *phase_report(regions.phase);
  assert_success(PhaseKeep(regions.phase));
  step(&regions, 2);
  get_checksums(&regions, ahead);
  assert_on_all_ranks(ahead[0] != kept[0]);
  assert_success(PhaseReturn(regions.phase));
  assert_same(&regions, kept);
  assert_on_all_ranks(!memcmp(&report, phase_report(regions.phase), sizeof(report)));
  step(&regions, 2);
  assert_same(&regions, ahead);
  assert_success(RegionsDestroy(&regions));
}

static void load(MPI_Comm comm, Regions *regions)
{
  char    message[512];
  Archive archive;

  assert_success(ArchiveOpen(comm, scratch_path("regions.h5"), &archive, message, sizeof(message)));
  assert_success(PhaseLoad(regions->phase, archive));
  assert_success(ArchiveDestroy(&archive));
  assert_success(RegionsSetVelocity(regions, turning));
}

static void a_saved_state_goes_on_as_it_would_have(void **state)
{
  char       message[512];
  Regions    regions, loaded;
  PetscInt64 sums[TEST_REGIONS];
  Archive    archive;
  Vec        fields[2];
  PetscReal  largest;

  (void)state;
  prepare_three(&regions, 2);
  regions.config.volume = VOLUME_KEPT;
  start(&regions);
  assert_success(RegionsSetVelocity(&regions, turning));
  step(&regions, 17); /* the next seeding is yet to come */
  assert_success(ArchiveCreate(PETSC_COMM_WORLD, scratch_path("regions.h5"), &archive));
  assert_success(PhaseSave(regions.phase, archive));
  assert_success(ArchiveCommit(&archive));
  step(&regions, 6);
  get_checksums(&regions, sums);
  prepare_three(&loaded, 2);
  loaded.config.volume = VOLUME_KEPT;
  start(&loaded);
  assert_success(RegionsSetVelocity(&loaded, turning));
  assert_success(
      ArchiveOpen(PETSC_COMM_WORLD, scratch_path("regions.h5"), &archive, message, sizeof(message)));
  assert_success(PhaseLoad(loaded.phase, archive));
  assert_success(ArchiveDestroy(&archive));
  step(&loaded, 6);
  assert_same(&loaded, sums);
  assert_on_all_ranks(!memcmp(phase_report(regions.phase), phase_report(loaded.phase), sizeof(PhaseReport)));
  assert_success(RegionsDestroy(&loaded));
  prepare_three(&loaded, 2); /* once more, every rank by itself */
  loaded.config.volume = VOLUME_KEPT;
  assert_success(RegionsStart(PETSC_COMM_SELF, &loaded, message, sizeof(message)));
  load(PETSC_COMM_SELF, &loaded);
  step(&loaded, 6);
  for (PetscInt n = 0; n < 3; n++) {
    assert_success(PhaseGetDistance(regions.phase, n, &fields[0]));
    assert_success(PhaseGetDistance(loaded.phase, n, &fields[1]));
    assert_success(RegionsCompareWithSerial(&regions, fields[0], &loaded, fields[1], &largest));
    assert_near(largest, 0., 1e-12); /* volumes are sums, and shift the regions */
  }
  assert_success(RegionsDestroy(&regions));
  assert_success(RegionsDestroy(&loaded));
}

/* Whether the first frame holds a dataset. */
static PetscBool frame_holds(const char name[])
{
  char      message[512];
  Archive   archive;
  PetscBool has = PETSC_FALSE;

  assert_success(ArchiveOpen(PETSC_COMM_WORLD, scratch_path("frames/frame-000000.h5"), &archive, message,
                             sizeof(message)));
  assert_success(ArchiveHas(archive, name, &has));
  assert_success(ArchiveDestroy(&archive));
  return has;
}

static void frames_show_markers_on_demand(void **state)
{
  const char *const points = "meshes/markers_a/vertices";
  const FrameConfig config = {
      .directory = scratch.directory, .dimension = 2, .cells = {40, 40, 1}, .spacing = 1. / 40};

  (void)state;
  for (PetscInt markers = MARKERS_HIDDEN; markers <= MARKERS_WRITTEN; markers++) {
    char        message[512];
    Regions     regions;
    FrameSeries frames;

    prepare_three(&regions, 2);
    regions.config.markers = (MarkerOutput)markers;
    start(&regions);
    assert_success(FrameSeriesCreate(PETSC_COMM_WORLD, &config, &frames, message, sizeof(message)));
    assert_success(FrameBegin(frames, 0, 0.));
    assert_success(PhaseWriteFrame(regions.phase, frames));
    assert_success(FrameEnd(frames, message, sizeof(message)));
    assert_on_all_ranks(!message[0]);
    assert_success(FrameSeriesDestroy(&frames));
    assert_on_all_ranks(frame_holds("grid/fields/region") && frame_holds("grid/fields/distance_c"));
    assert_on_all_ranks(frame_holds(points) == (markers == MARKERS_WRITTEN ? PETSC_TRUE : PETSC_FALSE));
    assert_success(RegionsDestroy(&regions));
  }
}

TEST_MAIN(cmocka_unit_test(projection_has_its_properties),
          cmocka_unit_test(projection_leaves_opposites_and_far_regions_alone),
          cmocka_unit_test(overlaps_and_voids_are_refused_by_name),
          cmocka_unit_test(shapes_may_touch_within_half_a_cell),
          cmocka_unit_test(impossible_configurations_are_explained),
          cmocka_unit_test(volumes_centres_and_surfaces_are_measured),
          cmocka_unit_test(what_is_poured_takes_the_place_of_others),
          cmocka_unit_test(flat_surfaces_meet_walls_of_any_slope_as_they_come),
          cmocka_unit_test(a_step_can_be_taken_back),
          cmocka_unit_test_setup_teardown(a_saved_state_goes_on_as_it_would_have, scratch_make,
                                          scratch_remove),
          cmocka_unit_test_setup_teardown(frames_show_markers_on_demand, scratch_make, scratch_remove))
