/* Several regions that are carried together: L5 of the validation cases, two regions as one level set, the
   same answer on any number of ranks. */
#include "harness.h"
#include "scene_run.h"
#include "regions.h"

static Vector3 turning(Vector3 point)
{
  return vector3(0.5 - point.at[Y], point.at[X] - 0.5, 0.);
}

static Vector3 swirling(Vector3 point)
{
  const PetscReal x = PETSC_PI * point.at[X], y = PETSC_PI * point.at[Y];

  return vector3(-PetscSqr(PetscSinReal(x)) * PetscSinReal(2. * y),
                 PetscSqr(PetscSinReal(y)) * PetscSinReal(2. * x), 0.);
}

static Shape half_plane(PetscReal angle)
{
  Shape shape;

  assert_success(
      ShapeCreatePlane(vector3(0.5, 0.5, 0.), vector3(PetscCosReal(angle), PetscSinReal(angle), 0.), &shape));
  return shape;
}

/* A third of a disk about the middle of the box, from `angle` on. */
static Shape sector(PetscReal radius, PetscReal angle)
{
  Shape parts[3] = {NULL, half_plane(angle - 0.5 * PETSC_PI), half_plane(angle + (2. / 3. + 0.5) * PETSC_PI)},
        shape;

  assert_success(ShapeCreateSphere(vector3(0.5, 0.5, 0.), radius, &parts[0]));
  assert_success(ShapeCreateCombination(SHAPE_INTERSECTION, 3, parts, &shape));
  return shape;
}

static void start(MPI_Comm comm, Regions *regions, VelocityAt velocity)
{
  char message[512];

  assert_success(RegionsStart(comm, regions, message, sizeof(message)));
  assert_on_all_ranks(!message[0]);
  assert_success(RegionsSetVelocity(regions, velocity));
}

/* L5: three sectors of a disk in the fourth region, one revolution: every area within 1 %, no void and no
   overlap anywhere. */
static void sectors_of_a_turning_disk_keep_their_areas(void **state)
{
  const PetscReal radius = 0.3, area = PETSC_PI * radius * radius / 3., dt = 2. * PETSC_PI / 628.;
  Regions         regions;
  PetscReal       breach, worst = 0., begin[3];

  (void)state;
  only_on_one_rank();
  regions_prepare(2, 100, &regions);
  regions.config.interface.particles = 16;
  for (PetscInt n = 0; n < 3; n++) {
    Shape shape = sector(radius, 0.3 + n * 2. / 3. * PETSC_PI);

    regions_add(&regions, &shape);
  }
  regions_add(&regions, NULL);
  start(PETSC_COMM_WORLD, &regions, turning);
  for (PetscInt n = 0; n < 3; n++) {
    begin[n] = phase_report(regions.phase)->volume[n];
    assert_near(begin[n], area, 5e-3 * area);
  }
  for (PetscInt s = 0; s < 628; s++) {
    assert_success(PhaseAdvance(regions.phase, regions.velocity, NULL, dt));
    if (s % 50 == 0 || s == 627) {
      assert_success(RegionsCheckProjection(&regions, &breach));
      worst = PetscMax(worst, breach);
    }
  }
  for (PetscInt n = 0; n < 3; n++) {
    const PetscReal volume = phase_report(regions.phase)->volume[n];

    note("sector %d: area %.5f at the start, %.5f after one revolution, exact %.5f", (int)n, (double)begin[n],
         (double)volume, (double)area);
    assert_near(volume, area, 0.01 * area);
  }
  note("largest void or overlap %.1e", (double)worst);
  assert_near(worst, 0., 1e-14);
  assert_success(RegionsDestroy(&regions));
}

/* One level set with markers on both sides, treated as a phase treats each of its own. */
typedef struct {
  LevelSet  level_set, opposite; /* the opposite only knows where to put markers */
  Particles markers[2];
} Lone;

static PetscErrorCode MirrorLone(Lone *lone)
{
  Vec distance, opposite;

  PetscFunctionBegin;
  PetscCall(LevelSetGetField(lone->level_set, &distance));
  PetscCall(LevelSetGetField(lone->opposite, &opposite));
  PetscCall(VecCopy(distance, opposite));
  PetscCall(VecScale(opposite, -1.));
  PetscCall(LevelSetRefresh(lone->opposite));
  PetscFunctionReturn(0);
}

static PetscErrorCode SeedLone(Lone *lone, PetscInt64 step)
{
  PetscFunctionBegin;
  PetscCall(MirrorLone(lone));
  PetscCall(LevelSetSeed(lone->level_set, lone->markers[0], 0, step));
  PetscCall(LevelSetSeed(lone->opposite, lone->markers[1], 1, step));
  PetscFunctionReturn(0);
}

/* Takes over the field of the first region and is seeded as it was. */
static PetscErrorCode StartLone(Regions *regions, Lone *lone)
{
  Vec distance, field;

  PetscFunctionBegin;
  PetscCall(LevelSetCreate(regions->grid, &regions->config.interface, &lone->level_set));
  PetscCall(LevelSetCreate(regions->grid, &regions->config.interface, &lone->opposite));
  for (PetscInt s = 0; s < 2; s++)
    PetscCall(ParticlesCreate(regions->grid, 1, &lone->markers[s]));
  PetscCall(PhaseGetDistance(regions->phase, 0, &distance));
  PetscCall(LevelSetGetField(lone->level_set, &field));
  PetscCall(VecCopy(distance, field));
  PetscCall(LevelSetRefresh(lone->level_set));
  PetscCall(SeedLone(lone, 0));
  PetscFunctionReturn(0);
}

static PetscErrorCode AdvanceLone(Regions *regions, Lone *lone, PetscReal dt)
{
  PetscFunctionBegin;
  PetscCall(LevelSetAdvect(lone->level_set, regions->velocity, dt));
  for (PetscInt s = 0; s < 2; s++)
    PetscCall(ParticlesMove(lone->markers[s], NULL, regions->velocity, dt));
  PetscCall(LevelSetCorrect(lone->level_set, 2, lone->markers, 0));
  PetscCall(LevelSetRedistance(lone->level_set));
  PetscCall(LevelSetCorrect(lone->level_set, 2, lone->markers, 0));
  PetscCall(MirrorLone(lone));
  PetscCall(LevelSetAdjustRadii(lone->level_set, lone->markers[0]));
  PetscCall(LevelSetAdjustRadii(lone->opposite, lone->markers[1]));
  PetscFunctionReturn(0);
}

static PetscErrorCode DestroyLone(Lone *lone)
{
  PetscFunctionBegin;
  PetscCall(LevelSetDestroy(&lone->level_set));
  PetscCall(LevelSetDestroy(&lone->opposite));
  for (PetscInt s = 0; s < 2; s++)
    PetscCall(ParticlesDestroy(&lone->markers[s]));
  PetscFunctionReturn(0);
}

/* 4.2.1: with two regions nothing is projected, and the first is the level set that a single one would be. */
static void two_regions_are_one_level_set(void **state)
{
  (void)state;
  for (PetscInt dimension = 2; dimension <= 3; dimension++)
    for (PetscInt scheme = INTERFACE_SEMI_LAGRANGIAN; scheme <= INTERFACE_WENO5; scheme++) {
      const PetscInt n = dimension == 2 ? 48 : 24,
                     steps = dimension == 2 ? 19 : 8; /* before the next seeding */
      const PetscReal dt = 0.8 / n;
      Shape           shape;
      Regions         regions;
      Lone            lone;
      Vec             distance[2], field;
      PetscReal       difference;

      regions_prepare(dimension, n, &regions);
      regions.config.interface.particles = 8;
      regions.config.interface.advection = (InterfaceScheme)scheme;
      assert_success(ShapeCreateSphere(vector3(0.503, 0.731, dimension == 3 ? 0.487 : 0.), 0.153, &shape));
      regions_add(&regions, &shape);
      regions_add(&regions, NULL);
      start(PETSC_COMM_WORLD, &regions, swirling);
      assert_success(StartLone(&regions, &lone));
      for (PetscInt s = 0; s < steps; s++) {
        assert_success(PhaseAdvance(regions.phase, regions.velocity, NULL, dt));
        assert_success(AdvanceLone(&regions, &lone, dt));
      }
      for (PetscInt r = 0; r < 2; r++)
        assert_success(PhaseGetDistance(regions.phase, r, &distance[r]));
      assert_success(LevelSetGetField(lone.level_set, &field));
      assert_success(VecAXPY(field, -1., distance[0]));
      assert_success(VecNorm(field, NORM_INFINITY, &difference));
      assert_near(difference, 0., 0.);
      assert_success(VecWAXPY(field, 1., distance[0], distance[1]));
      assert_success(VecNorm(field, NORM_INFINITY, &difference));
      assert_near(difference, 0., 0.);
      assert_success(DestroyLone(&lone));
      assert_success(RegionsDestroy(&regions));
    }
}

static void prepare_four(Regions *regions, PetscInt dimension)
{
  const PetscReal z = dimension == 3 ? 0.5 : 0.;
  Shape           shape;

  regions_prepare(dimension, dimension == 3 ? 24 : 48, regions);
  regions->config.interface.particles = 8;
  for (PetscInt n = 0; n < 3; n++) {
    assert_success(ShapeCreateSphere(vector3(0.3 + 0.2 * n, 0.5, z), 0.1, &shape));
    regions_add(regions, &shape)->viscosity = 1. + n;
  }
  regions_add(regions, NULL)->kind = REGION_EMPTY;
  for (PetscInt n = 0; n < 3; n++)
    regions_add_tension(regions, n, n + 1, 1. + n);
}

/* Every field of the mixture, by number; null when there are no more. */
static Vec mixture_field(const Mixture *mixture, PetscInt dimension, PetscInt number)
{
  const Vec *const faces[] = {mixture->density, mixture->mobility, mixture->jump};

  if (number < 3 * dimension)
    return faces[number / dimension][number % dimension];
  switch (number - 3 * dimension) {
  case 0:
    return mixture->empty;
  case 1:
    return mixture->viscosity;
  case 2:
    return mixture->edge_viscosity[Z];
  default:
    return NULL;
  }
}

/* An obstacle in the way of the regions. */
static void close_corner(MPI_Comm comm, Regions *regions)
{
  Shape shape;

  assert_success(ShapeCreateBox(vector3(0.35, 0.55, -1.), vector3(0.6, 0.75, 2.), &shape));
  assert_success(MacGridCreate(comm, &regions->grid_config, &regions->grid));
  assert_success(RegionsClose(regions, shape));
  assert_success(ShapeDestroy(&shape));
}

static void any_number_of_ranks_gives_the_same(void **state)
{
  (void)state;
  for (PetscInt dimension = 2; dimension <= 3; dimension++) {
    const PetscInt steps = dimension == 2 ? 23 : 6; /* beyond a seeding in two dimensions */
    Regions        shared, alone;
    const Mixture *mixture, *expected;
    PetscReal      largest;
    Vec            field, other;

    prepare_four(&shared, dimension);
    prepare_four(&alone, dimension);
    close_corner(PETSC_COMM_WORLD, &shared);
    close_corner(PETSC_COMM_SELF, &alone);
    start(PETSC_COMM_WORLD, &shared, swirling);
    start(PETSC_COMM_SELF, &alone, swirling);
    for (PetscInt s = 0; s < steps; s++) {
      assert_success(PhaseAdvance(shared.phase, shared.velocity, shared.closed, 0.015));
      assert_success(PhaseAdvance(alone.phase, alone.velocity, alone.closed, 0.015));
    }
    for (PetscInt n = 0; n < 4; n++) {
      assert_success(PhaseGetDistance(shared.phase, n, &field));
      assert_success(PhaseGetDistance(alone.phase, n, &other));
      assert_success(RegionsCompareWithSerial(&shared, field, &alone, other, &largest));
      assert_near(largest, 0., 0.);
      assert_near(phase_report(shared.phase)->volume[n], phase_report(alone.phase)->volume[n], 1e-13);
      assert_on_all_ranks(phase_report(shared.phase)->particles[n] ==
                          phase_report(alone.phase)->particles[n]);
    }
    assert_success(PhaseGetMixture(shared.phase, &mixture));
    assert_success(PhaseGetMixture(alone.phase, &expected));
    for (PetscInt n = 0; mixture_field(mixture, dimension, n); n++) {
      assert_success(RegionsCompareWithSerial(&shared, mixture_field(mixture, dimension, n), &alone,
                                              mixture_field(expected, dimension, n), &largest));
      assert_near(largest, 0., 0.);
    }
    assert_success(RegionsDestroy(&shared));
    assert_success(RegionsDestroy(&alone));
  }
}

TEST_MAIN(cmocka_unit_test(sectors_of_a_turning_disk_keep_their_areas),
          cmocka_unit_test(two_regions_are_one_level_set),
          cmocka_unit_test(any_number_of_ranks_gives_the_same))
