#include "particle_set.h"

#include <millrace/sampling.h>
#include "particles/particles_impl.h"

/* Walls let nothing through, what comes through periodic sides comes from the other one. */
static Vector3 closed_swirl(Vector3 p)
{
  const GridConfig *box = &configs[2];
  Vector3           u = swirl(p);

  for (PetscInt d = 0; d < DIM; d++)
    u.at[d] *= PetscSinReal(PETSC_PI * (p.at[d] - box->origin.at[d]) / box->size.at[d]);
  return u;
}

static void the_set_is_the_same_on_any_number_of_ranks(void **state)
{
  (void)state;
  FOR_ALL_CONFIGS(config)
  {
    Set          all, alone;
    ParticleView view;
    uint64_t     sum, expected;
    PetscInt64   total, total_alone;

    assert_success(SetCreate(PETSC_COMM_WORLD, config, swirl, &all));
    assert_success(SetCreate(PETSC_COMM_SELF, config, swirl, &alone));
    assert_success(Seed(all.grid, all.particles));
    assert_success(Seed(alone.grid, alone.particles));
    for (PetscInt step = 0; step < 12; step++) {
      assert_success(ParticlesMove(all.particles, NULL, all.velocity, 0.11));
      assert_success(ParticlesMove(alone.particles, NULL, alone.velocity, 0.11));
      assert_success(ParticlesGetView(all.particles, &view));
      assert_on_all_ranks(is_in_order(all.grid, &view));
    }
    assert_success(Checksum(all.particles, PETSC_COMM_WORLD, &sum));
    assert_success(Checksum(alone.particles, PETSC_COMM_SELF, &expected));
    assert_on_all_ranks(sum == expected);
    assert_success(ParticlesGetTotal(all.particles, &total));
    assert_success(ParticlesGetTotal(alone.particles, &total_alone));
    assert_on_all_ranks(total == total_alone && total > 0);
    assert_success(SetDestroy(&alone));
    assert_success(SetDestroy(&all));
  }
}

static void walls_keep_every_particle(void **state)
{
  Set        set;
  PetscInt64 before, after;

  (void)state;
  assert_success(SetCreate(PETSC_COMM_WORLD, &configs[2], closed_swirl, &set));
  assert_success(Seed(set.grid, set.particles));
  assert_success(ParticlesGetTotal(set.particles, &before));
  for (PetscInt step = 0; step < 50; step++)
    assert_success(ParticlesMove(set.particles, NULL, set.velocity, 0.1));
  assert_success(ParticlesGetTotal(set.particles, &after));
  assert_on_all_ranks(before == PER_CELL * 9 * 11 * 13 && after == before);
  assert_success(SetDestroy(&set));
}

static Vector3 wind(Vector3 p)
{
  (void)p;
  return vector3(1., 0.5, -0.25);
}

/* Every component of `wind` times the time is a whole number of periods: all come home. */
/* The two arrays that take turns must not outgrow each other, whatever room they began with. */
static void memory_follows_the_number_of_particles(void **state)
{
  ParticleArrays *spare;
  PetscInt        count;
  Set             set;

  (void)state;
  assert_success(SetCreate(PETSC_COMM_WORLD, &configs[2], closed_swirl, &set));
  assert_success(Seed(set.grid, set.particles));
  spare = &set.particles->spare;
  assert_success(ArraysDestroy(spare));
  assert_success(ArraysReserve(spare, set.particles->now.capacity - 1));
  count = set.particles->now.capacity;
  for (PetscInt step = 0; step < 20; step++) {
    assert_success(ParticlesMove(set.particles, NULL, set.velocity, 0.1));
    count = PetscMax(count, set.particles->now.count);
  }
  assert_on_all_ranks(set.particles->now.capacity <= 2 * count && spare->capacity <= 2 * count);
  assert_success(SetDestroy(&set));
}

static void periods_bring_particles_back(void **state)
{
  const GridConfig config = {.dimension = 3,
                             .size = {{1., 1., 1.}},
                             .resolution = 10,
                             .origin = {{0.3, -2., 0.}},
                             .periodic = {PETSC_TRUE, PETSC_TRUE, PETSC_TRUE}};
  Set              set;
  ParticleView     view;
  PetscReal        error = 0.;
  PetscInt64       total;

  (void)state;
  assert_success(SetCreate(PETSC_COMM_WORLD, &config, wind, &set));
  assert_success(Seed(set.grid, set.particles));
  for (PetscInt step = 0; step < 40; step++)
    assert_success(ParticlesMove(set.particles, NULL, set.velocity, 0.1));
  assert_success(ParticlesGetTotal(set.particles, &total));
  assert_on_all_ranks(total == PER_CELL * 1000);
  assert_success(ParticlesGetView(set.particles, &view));
  for (PetscInt n = 0; n < view.count; n++)
    for (PetscInt d = 0; d < WIDTH; d++) {
      const PetscReal apart = PetscAbsReal(view.positions[n].at[d] - view.values[n * WIDTH + d]);

      error = PetscMax(error, PetscMin(apart, 1. - apart));
    }
  assert_near(error, 0., 1e-13);
  assert_success(SetDestroy(&set));
}

/* Through open sides a steady wind carries exactly those out that it reaches, however small the steps. */
static void an_open_side_lets_particles_out(void **state)
{
  const GridConfig config = {.dimension = 2, .size = {{2., 1., 0.}}, .resolution = 20};
  Set              set;
  ParticleView     view;
  PetscInt64       total;
  PetscInt         remaining = 0, wrong = 0, sum;

  (void)state;
  assert_success(SetCreate(PETSC_COMM_WORLD, &config, wind, &set));
  assert_success(Seed(set.grid, set.particles));
  assert_success(ParticlesGetView(set.particles, &view));
  for (PetscInt n = 0; n < view.count; n++)
    remaining += view.positions[n].at[X] < 2. - 0.5 && view.positions[n].at[Y] < 1. - 0.25;
  for (PetscInt step = 0; step < 50; step++)
    assert_success(ParticlesMove(set.particles, NULL, set.velocity, 0.01));
  assert_success(MPI_Allreduce(&remaining, &sum, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  assert_success(ParticlesGetTotal(set.particles, &total));
  assert_on_all_ranks(total == sum);
  assert_success(ParticlesGetView(set.particles, &view));
  for (PetscInt n = 0; n < view.count; n++)
    wrong += PetscAbsReal(view.positions[n].at[X] - view.values[n * WIDTH] - 0.5) > 1e-13;
  assert_on_all_ranks(wrong == 0);
  assert_success(SetDestroy(&set));
}

static Vector3 broken(Vector3 p)
{
  return vector3(NAN, p.at[X] > 0.5 ? 1e30 : -1e30, NAN);
}

/* A step that went wrong will be repeated: until then nobody may reach beyond the ghosts. */
static void a_bad_velocity_does_no_harm(void **state)
{
  (void)state;
  FOR_ALL_CONFIGS(config)
  {
    Set          set;
    ParticleView view;

    assert_success(SetCreate(PETSC_COMM_WORLD, config, broken, &set));
    assert_success(Seed(set.grid, set.particles));
    for (PetscInt step = 0; step < 3; step++) {
      assert_success(ParticlesMove(set.particles, NULL, set.velocity, 0.1));
      assert_success(ParticlesGetView(set.particles, &view));
      assert_on_all_ranks(is_in_order(set.grid, &view));
    }
    assert_success(SetDestroy(&set));
  }
}

static Vector3 turn(Vector3 p)
{
  return vector3(0.8 - p.at[Y], p.at[X] - 0.8, 0.);
}

/* Largest distance from where they were, after one turn about (0.8, 0.8). */
static PetscReal turning_error(PetscInt dimension, PetscInt steps)
{
  const GridConfig config = {.dimension = dimension, .size = {{1.6, 1.6, 0.4}}, .resolution = 16};
  Set              set;
  ParticleView     view;
  PetscReal        error = 0.;
  PetscBool        drop[16 * 16 * 4 * PER_CELL];

  assert_success(SetCreate(PETSC_COMM_WORLD, &config, turn, &set));
  assert_success(Seed(set.grid, set.particles));
  assert_success(ParticlesGetView(set.particles, &view));
  for (PetscInt n = 0; n < view.count; n++)
    drop[n] = hypot(view.positions[n].at[X] - 0.8, view.positions[n].at[Y] - 0.8) > 0.7;
  assert_success(ParticlesDrop(set.particles, drop));
  assert_success(ParticlesArrange(set.particles));
  for (PetscInt step = 0; step < steps; step++)
    assert_success(ParticlesMove(set.particles, NULL, set.velocity, 2. * PETSC_PI / steps));
  assert_success(ParticlesGetView(set.particles, &view));
  for (PetscInt n = 0; n < view.count; n++)
    error = PetscMax(error, hypot(view.positions[n].at[X] - view.values[n * WIDTH],
                                  view.positions[n].at[Y] - view.values[n * WIDTH + 1]));
  assert_success(MPI_Allreduce(MPI_IN_PLACE, &error, 1, MPIU_REAL, MPI_MAX, PETSC_COMM_WORLD));
  assert_success(SetDestroy(&set));
  return error;
}

static void a_turn_brings_particles_back_to_second_order(void **state)
{
  (void)state;
  for (PetscInt dimension = 2; dimension <= 3; dimension++) {
    const PetscReal coarse = turning_error(dimension, 64), fine = turning_error(dimension, 128);

    assert_near(PetscLog2Real(coarse / fine), 2., 0.05);
    assert_near(fine, 0.7 * PetscSqr(2. * PETSC_PI) * 2. * PETSC_PI / (6. * 128 * 128), 2e-4);
  }
}

/* Once kept, a set comes back after others have been added, dropped and moved. */
static void copies_are_whole(void **state)
{
  Set          set;
  Particles    kept;
  ParticleView view;
  uint64_t     sum, expected;
  PetscBool   *drop;
  PetscInt64   total;
  PetscInt     odd = 0;

  (void)state;
  assert_success(SetCreate(PETSC_COMM_WORLD, &configs[3], swirl, &set));
  assert_success(Seed(set.grid, set.particles));
  assert_success(ParticlesCreate(set.grid, WIDTH, &kept));
  assert_success(ParticlesCopy(set.particles, kept));
  assert_success(Checksum(set.particles, PETSC_COMM_WORLD, &expected));
  assert_success(ParticlesGetView(set.particles, &view));
  assert_success(PetscMalloc1(view.count, &drop));
  for (PetscInt n = 0; n < view.count; n++)
    drop[n] = view.numbers[n] % 2 ? PETSC_TRUE : PETSC_FALSE;
  assert_success(ParticlesDrop(set.particles, drop));
  assert_success(PetscFree(drop));
  assert_success(ParticlesGetView(set.particles, &view));
  assert_on_all_ranks(view.first == NULL);
  assert_success(ParticlesArrange(set.particles));
  assert_success(ParticlesMove(set.particles, NULL, set.velocity, 0.1));
  assert_success(ParticlesGetTotal(set.particles, &total));
  assert_on_all_ranks(total <= PER_CELL * 12 * 9 * 8 / 2 && total > PER_CELL * 12 * 9 * 8 / 3);
  assert_success(ParticlesGetView(set.particles, &view));
  for (PetscInt n = 0; n < view.count; n++)
    odd += view.numbers[n] % 2 != 0;
  assert_on_all_ranks(odd == 0);
  assert_success(ParticlesCopy(kept, set.particles));
  assert_success(Checksum(set.particles, PETSC_COMM_WORLD, &sum));
  assert_on_all_ranks(sum == expected);
  assert_success(ParticlesGetView(set.particles, &view));
  assert_on_all_ranks(is_in_order(set.grid, &view));
  assert_success(ParticlesDestroy(&kept));
  assert_success(SetDestroy(&set));
}

/* The rule of ParticlesArrange, side by side: where a lone particle ends, or that it is dropped. */
static PetscErrorCode Settle(MacGrid grid, Vector3 *point, PetscInt64 *total)
{
  const PetscInt64 number = 5;
  PetscMPIInt      rank;
  Particles        particles;
  ParticleView     view;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCall(ParticlesCreate(grid, 0, &particles));
  if (rank == 0)
    PetscCall(ParticlesAdd(particles, 1, point, NULL, &number));
  PetscCall(ParticlesArrange(particles));
  PetscCall(ParticlesGetTotal(particles, total));
  PetscCall(ParticlesGetView(particles, &view));
  *point = view.count ? view.positions[0] : vector3(-1e9, -1e9, -1e9);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, point->at, DIM, MPIU_REAL, MPI_MAX, PETSC_COMM_WORLD));
  PetscCall(ParticlesDestroy(&particles));
  PetscFunctionReturn(0);
}

static void particles_beyond_sides_come_back_or_go(void **state)
{
  const GridConfig config = {
      .dimension = 2, .size = {{1., 1., 0.}}, .resolution = 10, .periodic = {PETSC_TRUE, PETSC_FALSE}};
  const PetscReal nothing = -1., /* dropped */
      cases[][4] = {{1.25, 0.5, 0.25, 0.5},    {-0.125, 0.5, 0.875, 0.5}, {-1e-18, 0.5, 0., 0.5},
                    {1., 0.5, 0., 0.5},        {0.5, -0.03, 0.5, 0.03},   {0.5, 1.04, 0.5, 0.96},
                    {0.5, 1., 0.5, 1.},        {0.5, -0.06, nothing, 0.}, {0.5, 1.06, nothing, 0.},
                    {0.5, 1e300, nothing, 0.}, {-0.25, 1.02, 0.75, 0.98}, {0.5, NAN, nothing, 0.}};
  MacGrid grid;

  (void)state;
  assert_success(MacGridCreate(PETSC_COMM_WORLD, &config, &grid));
  for (size_t c = 0; c < PETSC_STATIC_ARRAY_LENGTH(cases); c++) {
    Vector3    point = vector3(cases[c][0], cases[c][1], 0.);
    PetscInt64 total;

    assert_success(Settle(grid, &point, &total));
    assert_on_all_ranks(total == (cases[c][2] != nothing));
    if (!total)
      continue;
    assert_near(point.at[X], cases[c][2], 1e-15);
    assert_near(point.at[Y], cases[c][3], 1.1e-10);
    assert_on_all_ranks(point.at[Y] < 1.);
  }
  assert_success(MacGridDestroy(&grid));
}

static Vector3 linear(Vector3 p)
{
  return vector3(1. + 2. * p.at[X] - p.at[Y] + 3. * p.at[Z], p.at[X] + p.at[Y] - p.at[Z],
                 0.5 - p.at[X] + 0.25 * p.at[Z]);
}

/* Within one cell of a rank's part, each rank by itself. */
static void sampling_is_exact_for_linear_fields(void **state)
{
  (void)state;
  FOR_ALL_CONFIGS(config)
  {
    GridConfig     walls = *config;
    MacGrid        grid;
    const GridBox *box;
    Vec            faces[DIM];
    PetscReal     *values[DIM], error = 0.;

    for (PetscInt d = 0; d < DIM; d++)
      walls.periodic[d] = PETSC_FALSE;
    assert_success(MacGridCreate(PETSC_COMM_WORLD, &walls, &grid));
    box = grid_box(grid);
    assert_success(MacGridCreateFaceField(grid, faces));
    assert_success(FillFaces(grid, linear, faces));
    assert_success(MacGridGetFaces(grid, faces, values));
    for (PetscInt n = 0; n < 500; n++) {
      Vector3 point = grid_origin(grid), found, expected;

      for (PetscInt d = 0; d < box->dimension; d++)
        point.at[d] += grid_spacing(grid) *
                       (box->start[d] - 1. + (box->end[d] - box->start[d] + 2.) * hash_real((uint64_t)n, d));
      found = sample_faces(box, grid_origin(grid), grid_spacing(grid), values, point);
      expected = linear(point);
      if (box->dimension == 2)
        expected.at[Z] = 0.;
      error = PetscMax(error, vector3_norm(vector3_subtract(found, expected)));
      /* the same array as a cell field lies half a cell higher along x */
      point.at[X] += 0.5 * grid_spacing(grid);
      error = PetscMax(
          error, PetscAbsReal(sample_cells(box, grid_origin(grid), grid_spacing(grid), values[X], point) -
                              found.at[X]));
    }
    assert_near(error, 0., 1e-13);
    assert_success(MacGridRestoreFaces(grid, faces, values));
    assert_success(MacGridDestroyFaceField(faces));
    assert_success(MacGridDestroy(&grid));
  }
}

static void the_check_sees_particles_out_of_order(void **state)
{
  ParticleView view;
  Set          set;
  PetscInt64   number;

  (void)state;
  assert_success(SetCreate(PETSC_COMM_WORLD, &configs[2], closed_swirl, &set));
  assert_success(Seed(set.grid, set.particles));
  assert_success(ParticlesArrange(set.particles));
  assert_success(ParticlesCheck(set.particles));
  assert_success(ParticlesGetView(set.particles, &view));
  assert_on_all_ranks(view.count > 2 && view.first && view.first[1] > 1);
  number = view.numbers[0];
  view.numbers[0] = view.numbers[1];
  view.numbers[1] = number;
  assert_refused(ParticlesCheck(set.particles));
  view.numbers[1] = view.numbers[0];
  view.numbers[0] = number;
  assert_success(ParticlesCheck(set.particles));
  view.positions[0].at[X] += 100.;
  assert_refused(ParticlesCheck(set.particles));
  assert_success(SetDestroy(&set));
}

TEST_MAIN(cmocka_unit_test(the_check_sees_particles_out_of_order),
          cmocka_unit_test(the_set_is_the_same_on_any_number_of_ranks),
          cmocka_unit_test(walls_keep_every_particle),
          cmocka_unit_test(memory_follows_the_number_of_particles),
          cmocka_unit_test(periods_bring_particles_back), cmocka_unit_test(an_open_side_lets_particles_out),
          cmocka_unit_test(a_bad_velocity_does_no_harm),
          cmocka_unit_test(a_turn_brings_particles_back_to_second_order), cmocka_unit_test(copies_are_whole),
          cmocka_unit_test(particles_beyond_sides_come_back_or_go),
          cmocka_unit_test(sampling_is_exact_for_linear_fields))
