/* Copies of particles around a rank's part. */
#include "particle_set.h"

#include <millrace/halo.h>

typedef struct {
  Set      set;
  Halo     halo;
  HaloView view;
} Haloed;

static void begin(MPI_Comm comm, const GridConfig *config, Haloed *one)
{
  assert_success(SetCreate(comm, config, swirl, &one->set));
  assert_success(Seed(one->set.grid, one->set.particles));
  assert_success(HaloCreate(one->set.particles, &one->halo));
  assert_success(HaloBuild(one->halo));
  assert_success(HaloGetView(one->halo, &one->view));
}

static void end(Haloed *one)
{
  assert_success(HaloDestroy(&one->halo));
  assert_success(SetDestroy(&one->set));
}

/* The cell that a cell of the layer is, or false beyond a side. */
static PetscBool wrap(const GridBox *box, const PetscInt at[DIM], PetscInt cell[DIM])
{
  for (PetscInt d = 0; d < DIM; d++) {
    cell[d] = at[d];
    if (d >= box->dimension || (at[d] >= 0 && at[d] < box->cells[d]))
      continue;
    if (!box->periodic[d])
      return PETSC_FALSE;
    cell[d] = (at[d] + box->cells[d]) % box->cells[d];
  }
  return PETSC_TRUE;
}

/* What Seed put into a cell is known to every rank: numbers, and positions up to periods. */
static PetscBool is_as_seeded(const Haloed *one, const PetscInt at[DIM])
{
  const GridBox  *box = one->view.box;
  const PetscReal h = grid_spacing(one->set.grid);
  const PetscInt  c = box_index(box, at[X], at[Y], at[Z]);
  PetscInt        cell[DIM];
  ParticleView    own;

  PetscCallAbort(PETSC_COMM_SELF, ParticlesGetView(one->set.particles, &own));
  if (!wrap(box, at, cell))
    return one->view.length[c] == 0 ? PETSC_TRUE : PETSC_FALSE;
  if (one->view.length[c] != PER_CELL)
    return PETSC_FALSE;
  for (PetscInt n = 0; n < PER_CELL; n++) {
    const PetscInt   which = one->view.start[c] + n;
    const PetscInt64 number = n + PER_CELL * (cell[X] + 100LL * (cell[Y] + 100LL * cell[Z]));
    const uint64_t   key = hash_key(7, (uint64_t)number, 0, 0);
    const PetscBool  mine = which < one->view.own;
    const Vector3    place = mine ? own.positions[which] : one->view.positions[which - one->view.own];
    const Vector3    centre = grid_cell_centre(one->set.grid, at[X], at[Y], at[Z]);

    if ((mine ? own.numbers[which] : one->view.numbers[which - one->view.own]) != number)
      return PETSC_FALSE;
    for (PetscInt d = 0; d < box->dimension; d++)
      if (PetscAbsReal(place.at[d] - centre.at[d] - (hash_real(key, d) - 0.5) * h) > 1e-13)
        return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

static void every_cell_of_the_layer_has_its_particles(void **state)
{
  (void)state;
  FOR_ALL_CONFIGS(config)
  {
    Haloed    one;
    GridRange range;
    PetscBool good = PETSC_TRUE;

    begin(PETSC_COMM_WORLD, config, &one);
    range = box_grown(one.view.box, 1);
    FOR_PLACES(&range, at)
      good = good && is_as_seeded(&one, at);
    assert_on_all_ranks(good);
    end(&one);
  }
}

static void values_are_those_of_the_owners(void **state)
{
  (void)state;
  FOR_ALL_CONFIGS(config)
  {
    enum { WIDE = 2 };
    Haloed       one;
    ParticleView own;
    PetscReal   *mine, *copies;
    PetscBool    good = PETSC_TRUE;

    begin(PETSC_COMM_WORLD, config, &one);
    assert_success(ParticlesGetView(one.set.particles, &own));
    assert_success(PetscMalloc2(own.count * WIDE, &mine, one.view.count * WIDE, &copies));
    for (PetscInt n = 0; n < own.count; n++) {
      mine[WIDE * n] = (PetscReal)own.numbers[n];
      mine[WIDE * n + 1] = -3. * (PetscReal)own.numbers[n];
    }
    assert_success(HaloExchange(one.halo, WIDE, mine, copies));
    for (PetscInt n = 0; n < one.view.count; n++)
      good = good && copies[WIDE * n] == (PetscReal)one.view.numbers[n] &&
             copies[WIDE * n + 1] == -3. * (PetscReal)one.view.numbers[n];
    assert_on_all_ranks(good);
    assert_success(PetscFree2(mine, copies));
    end(&one);
  }
}

/* A sum over the neighbourhood of every owned cell, as bits that do not depend on who owns it. */
static uint64_t hash_of_sums(const Haloed *one)
{
  const GridBox *box = one->view.box;
  const PetscInt deep = box->dimension == 3 ? 1 : 0;
  uint64_t       sum = 0;
  ParticleView   own;

  PetscCallAbort(PETSC_COMM_SELF, ParticlesGetView(one->set.particles, &own));
  FOR_CELLS(box, i, j, k) {
    PetscReal total = 0.;
    uint64_t  bits;

    for (PetscInt c = k - deep; c <= k + deep; c++)
      for (PetscInt b = j - 1; b <= j + 1; b++)
        for (PetscInt a = i - 1; a <= i + 1; a++) {
          const PetscInt cell = box_index(box, a, b, c), first = one->view.start[cell];

          for (PetscInt n = first; n < first + one->view.length[cell]; n++) {
            const Vector3 *place =
                n < one->view.own ? &own.positions[n] : &one->view.positions[n - one->view.own];

            total += place->at[X] + 3. * place->at[Y];
          }
        }
    memcpy(&bits, &total, sizeof(bits));
    sum += hash_key(bits, (uint64_t)i, (uint64_t)j, (uint64_t)k);
  }
  return sum;
}

/* After some steps of a flow. */
static uint64_t sums_after_a_move(MPI_Comm comm, const GridConfig *config)
{
  Haloed   one;
  uint64_t sum;

  begin(comm, config, &one);
  for (PetscInt n = 0; n < 3; n++)
    assert_success(ParticlesMove(one.set.particles, NULL, one.set.velocity, 0.04));
  assert_success(HaloBuild(one.halo));
  assert_success(HaloGetView(one.halo, &one.view));
  sum = hash_of_sums(&one);
  (void)MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_UINT64_T, MPI_SUM, comm);
  end(&one);
  return sum;
}

static void sums_have_the_same_bits_on_any_ranks(void **state)
{
  (void)state;
  FOR_ALL_CONFIGS(config)
  {
    const uint64_t together = sums_after_a_move(PETSC_COMM_WORLD, config);
    const uint64_t alone = sums_after_a_move(PETSC_COMM_SELF, config);

    assert_on_all_ranks(together == alone);
  }
}

TEST_MAIN(cmocka_unit_test(every_cell_of_the_layer_has_its_particles),
          cmocka_unit_test(values_are_those_of_the_owners),
          cmocka_unit_test(sums_have_the_same_bits_on_any_ranks))
