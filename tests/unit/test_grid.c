#include "harness.h"
#include "scratch.h"

#include <millrace/grid.h>

/* Odd sizes, boxes that several ranks divide unevenly, all kinds of periods. */
static const GridConfig configs[] = {
    {.dimension = 2, .size = {{1.7, 1.3, 0.}}, .resolution = 17},
    {.dimension = 2, .size = {{1., 1.9, 0.}}, .resolution = 10, .periodic = {PETSC_TRUE, PETSC_FALSE}},
    {.dimension = 2, .size = {{1.2, 1.2, 0.}}, .resolution = 12, .periodic = {PETSC_TRUE, PETSC_TRUE}},
    {.dimension = 3, .size = {{0.9, 1.1, 1.3}}, .resolution = 9, .origin = {{-1., 2., 0.5}}},
    {.dimension = 3,
     .size = {{1.3, 0.9, 0.8}},
     .resolution = 13,
     .periodic = {PETSC_TRUE, PETSC_FALSE, PETSC_TRUE}}};
#define FOR_ALL_CONFIGS(c)                                                                                   \
  for (const GridConfig *c = configs; c < configs + PETSC_STATIC_ARRAY_LENGTH(configs); c++)

/* A number for each place that tells it from all others near it. */
static PetscReal label(PetscInt i, PetscInt j, PetscInt k)
{
  return i + 100. * j + 10000. * k;
}

/* Index of the cell that owns what lies at `index`, or -1 beyond a side. */
static PetscInt owner_index(const GridBox *box, PetscInt d, PetscInt index)
{
  if (box->periodic[d])
    return (index + box->cells[d]) % box->cells[d];
  return index < 0 || index >= box->cells[d] ? -1 : index;
}

typedef PetscErrorCode (*Visit)(MacGrid grid, const PetscInt at[DIM], PetscReal *value, PetscReal *result);

/* Calls `visit` for every place of the local array, ghosts included, or for the owned ones. */
typedef enum { OWNED, WITH_GHOSTS } Places;
static PetscErrorCode ForAll(MacGrid grid, Vec field, Places places, Visit visit, PetscReal *result)
{
  const GridBox *box = grid_box(grid);
  PetscInt       at[DIM], low[DIM], high[DIM];
  PetscReal     *values;

  PetscFunctionBegin;
  for (PetscInt d = 0; d < DIM; d++) {
    const PetscInt ghost = places == WITH_GHOSTS && d < box->dimension ? box->ghost : 0;

    low[d] = box->start[d] - ghost;
    high[d] = box->end[d] + ghost;
  }
  PetscCall(VecGetArray(field, &values));
  for (at[Z] = low[Z]; at[Z] < high[Z]; at[Z]++)
    for (at[Y] = low[Y]; at[Y] < high[Y]; at[Y]++)
      for (at[X] = low[X]; at[X] < high[X]; at[X]++)
        PetscCall(visit(grid, at, &values[box_index(box, at[X], at[Y], at[Z])], result));
  PetscCall(VecRestoreArray(field, &values));
  PetscFunctionReturn(0);
}

static PetscErrorCode SetLabel(MacGrid grid, const PetscInt at[DIM], PetscReal *value, PetscReal *result)
{
  (void)grid;
  (void)result;
  *value = label(at[X], at[Y], at[Z]);
  return 0;
}

static PetscErrorCode CountWrongLabels(MacGrid grid, const PetscInt at[DIM], PetscReal *value,
                                       PetscReal *result)
{
  const GridBox *box = grid_box(grid);
  PetscInt       owner[DIM];

  for (PetscInt d = 0; d < DIM; d++)
    owner[d] = owner_index(box, d, at[d]);
  if (owner[X] < 0 || owner[Y] < 0 || owner[Z] < 0)
    *result += *value != -7.; /* beyond a side nothing is touched */
  else
    *result += *value != label(owner[X], owner[Y], owner[Z]);
  return 0;
}

static void every_cell_has_one_owner(void **state)
{
  (void)state;
  FOR_ALL_CONFIGS(config)
  {
    MacGrid        grid;
    const GridBox *box;
    PetscInt       count = 1, cells[DIM], total;

    assert_success(MacGridCreate(PETSC_COMM_WORLD, config, &grid));
    box = grid_box(grid);
    grid_config_cells(config, cells);
    for (PetscInt d = 0; d < DIM; d++)
      count *= box->end[d] - box->start[d];
    assert_success(MPI_Allreduce(&count, &total, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
    assert_on_all_ranks(total == cells[X] * cells[Y] * cells[Z]);
    assert_on_all_ranks(box->ranks[X] * box->ranks[Y] * box->ranks[Z] == harness_size());
    assert_near(grid_spacing(grid), 0.1, 1e-15);
    assert_near(vector3_norm(vector3_subtract(
                    grid_face_centre(grid, Y, 2, 3, 1),
                    vector3_add(config->origin, vector3(0.25, 0.3, config->dimension == 3 ? 0.15 : 0.)))),
                0., 1e-14);
    assert_success(MacGridDestroy(&grid));
  }
}

static void ghosts_are_copies_corners_included(void **state)
{
  (void)state;
  FOR_ALL_CONFIGS(config)
  {
    MacGrid   grid;
    Vec       field;
    PetscReal wrong = 0.;

    assert_success(MacGridCreate(PETSC_COMM_WORLD, config, &grid));
    assert_success(MacGridCreateField(grid, &field));
    assert_success(VecSet(field, -7.));
    assert_success(ForAll(grid, field, OWNED, SetLabel, NULL));
    assert_success(MacGridExchange(grid, field));
    assert_success(ForAll(grid, field, WITH_GHOSTS, CountWrongLabels, &wrong));
    assert_near(wrong, 0., 0.);
    assert_success(VecDestroy(&field));
    assert_success(MacGridDestroy(&grid));
  }
}

/* A number between -1 and 1 for every place of every rank's array. */
static PetscErrorCode SetNoise(MacGrid grid, const PetscInt at[DIM], PetscReal *value, PetscReal *result)
{
  const PetscReal phase = label(at[X], at[Y], at[Z]) + 0.37 * harness_rank();

  (void)grid;
  (void)result;
  *value = PetscSinReal(phase * phase);
  return 0;
}

static PetscReal product(Vec a, Vec b)
{
  PetscReal sum;

  assert_success(VecDot(a, b, &sum));
  assert_success(MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPIU_REAL, MPI_SUM, PETSC_COMM_WORLD));
  return sum;
}

/* <E x, y> over all places = <x, E^T y> over the owned ones. */
static void sums_of_ghosts_are_the_transpose_of_the_exchange(void **state)
{
  (void)state;
  FOR_ALL_CONFIGS(config)
  {
    MacGrid   grid;
    Vec       x, copied, y;
    PetscReal left;

    assert_success(MacGridCreate(PETSC_COMM_WORLD, config, &grid));
    assert_success(MacGridCreateField(grid, &x));
    assert_success(VecDuplicate(x, &copied));
    assert_success(VecDuplicate(x, &y));
    assert_success(VecSet(x, 0.));
    assert_success(ForAll(grid, x, OWNED, SetNoise, NULL));
    assert_success(VecCopy(x, copied));
    assert_success(MacGridExchange(grid, copied));
    assert_success(ForAll(grid, y, WITH_GHOSTS, SetNoise, NULL));
    left = product(copied, y);
    assert_success(MacGridReduceGhosts(grid, y, MPI_SUM));
    assert_near(product(x, y), left, 1e-10);
    assert_on_all_ranks(PetscAbsReal(left) > 1e-3);
    assert_success(VecDestroy(&y));
    assert_success(VecDestroy(&copied));
    assert_success(VecDestroy(&x));
    assert_success(MacGridDestroy(&grid));
  }
}

/* Ones in the ghosts that somebody owns, zeros elsewhere; `result` counts the ones. */
static PetscErrorCode MarkGhosts(MacGrid grid, const PetscInt at[DIM], PetscReal *value, PetscReal *result)
{
  const GridBox *box = grid_box(grid);
  PetscBool      owned = PETSC_TRUE, inside = PETSC_TRUE;

  for (PetscInt d = 0; d < box->dimension; d++) {
    if (at[d] < box->start[d] || at[d] >= box->end[d])
      owned = PETSC_FALSE;
    if (owner_index(box, d, at[d]) < 0)
      inside = PETSC_FALSE;
  }
  *value = !owned && inside ? 1. : 0.;
  *result += *value;
  return 0;
}

static PetscErrorCode AddUp(MacGrid grid, const PetscInt at[DIM], PetscReal *value, PetscReal *result)
{
  (void)grid;
  (void)at;
  *result += *value;
  return 0;
}

/* A one in any ghost is more than the owner's zero, and its negative less. */
static void one_ghost_decides_the_extremes(void **state)
{
  (void)state;
  FOR_ALL_CONFIGS(config)
  {
    MacGrid    grid;
    Vec        copies, most, least;
    PetscReal  sums[2] = {0., 0.}, unlike = 0., touched = 0.;
    PetscReal *values[3];

    assert_success(MacGridCreate(PETSC_COMM_WORLD, config, &grid));
    assert_success(MacGridCreateField(grid, &copies));
    assert_success(ForAll(grid, copies, WITH_GHOSTS, MarkGhosts, &sums[0]));
    assert_success(VecDuplicate(copies, &most));
    assert_success(VecDuplicate(copies, &least));
    assert_success(VecCopy(copies, most));
    assert_success(VecCopy(copies, least));
    assert_success(VecScale(least, -1.));
    assert_success(MacGridReduceGhosts(grid, copies, MPI_SUM));
    assert_success(MacGridReduceGhosts(grid, most, MPI_MAX));
    assert_success(MacGridReduceGhosts(grid, least, MPI_MIN));
    assert_success(ForAll(grid, copies, OWNED, AddUp, &sums[1]));
    assert_success(MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPIU_REAL, MPI_SUM, PETSC_COMM_WORLD));
    assert_near(sums[0], sums[1], 0.);
    assert_success(VecGetArray(copies, &values[0]));
    assert_success(VecGetArray(most, &values[1]));
    assert_success(VecGetArray(least, &values[2]));
    for (PetscInt c = 0; c < grid_box(grid)->length; c++) {
      unlike += values[1][c] != -values[2][c] || (values[0][c] > 0.) != (values[1][c] == 1.);
      touched += values[1][c];
    }
    assert_near(unlike, 0., 0.);
    assert_on_all_ranks((touched > 0.) == (sums[0] > 0.));
    assert_success(VecRestoreArray(least, &values[2]));
    assert_success(VecRestoreArray(most, &values[1]));
    assert_success(VecRestoreArray(copies, &values[0]));
    assert_success(VecDestroy(&least));
    assert_success(VecDestroy(&most));
    assert_success(VecDestroy(&copies));
    assert_success(MacGridDestroy(&grid));
  }
}

/* a . x + b in direction d, at the face's centre. */
static PetscErrorCode FillLinearFaces(MacGrid grid, const PetscReal slope[DIM], Vec faces[DIM])
{
  const GridBox *box = grid_box(grid);
  PetscReal     *u[DIM];

  PetscFunctionBegin;
  PetscCall(MacGridGetFaces(grid, faces, u));
  for (PetscInt d = 0; d < box->dimension; d++) {
    const GridRange owned = grid_faces(grid, d);

    FOR_CELLS(&owned, i, j, k) {
      const Vector3 point = grid_face_centre(grid, d, i, j, k);

      u[d][box_index(box, i, j, k)] = slope[d] * point.at[d] + point.at[(d + 1) % DIM] + 0.3;
    }
  }
  PetscCall(MacGridRestoreFaces(grid, faces, u));
  PetscCall(MacGridExchangeFaces(grid, faces));
  PetscFunctionReturn(0);
}

/* u . G p and - h p . D u over all ranks, u zero on the sides. */
static PetscErrorCode MultiplyBoth(MacGrid grid, Vec pressure, Vec faces[DIM], PetscReal products[2])
{
  const GridBox *box = grid_box(grid);
  PetscReal     *u[DIM], *p, *divergence, *gradient;
  Vec            outflow;

  PetscFunctionBegin;
  PetscCall(MacGridCreateField(grid, &outflow));
  PetscCall(MacGridDivergence(grid, faces, outflow));
  PetscCall(PetscMalloc1(box->length, &gradient));
  PetscCall(MacGridGetFaces(grid, faces, u));
  PetscCall(VecGetArray(pressure, &p));
  PetscCall(VecGetArray(outflow, &divergence));
  FOR_CELLS(box, i, j, k) {
    const PetscInt c = box_index(box, i, j, k);

    products[1] -= grid_spacing(grid) * p[c] * divergence[c];
  }
  for (PetscInt d = 0; d < box->dimension; d++) {
    const GridRange owned = grid_faces(grid, d);

    PetscCall(PetscArrayzero(gradient, box->length));
    box_subtract_gradient(box, &owned, d, -1., d == X ? u[d] : NULL, p, gradient);
    FOR_CELLS(&owned, i, j, k) {
      const PetscInt c = box_index(box, i, j, k);

      products[0] += (d == X ? 1. : u[d][c]) * gradient[c];
    }
  }
  PetscCall(VecRestoreArray(outflow, &divergence));
  PetscCall(VecRestoreArray(pressure, &p));
  PetscCall(MacGridRestoreFaces(grid, faces, u));
  PetscCall(PetscFree(gradient));
  PetscCall(VecDestroy(&outflow));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, products, 2, MPIU_REAL, MPI_SUM, PETSC_COMM_WORLD));
  PetscFunctionReturn(0);
}

static PetscErrorCode SetWave(MacGrid grid, const PetscInt at[DIM], PetscReal *value, PetscReal *phase)
{
  (void)grid;
  *value = PetscSinReal(*phase + 0.7 * at[X] - 1.1 * at[Y] + 0.3 * at[Z] * at[X]);
  return 0;
}

static PetscErrorCode ClearSides(MacGrid grid, Vec faces[DIM])
{
  const GridBox *box = grid_box(grid);
  PetscReal     *u[DIM];

  PetscFunctionBegin;
  PetscCall(MacGridGetFaces(grid, faces, u));
  for (PetscInt d = 0; d < box->dimension; d++) {
    const GridRange all = box_grown(box, 1);

    FOR_PLACES(&all, at)
      if (!box->periodic[d] && (at[d] <= 0 || at[d] >= box->cells[d]))
        u[d][box_index(box, at[X], at[Y], at[Z])] = 0.;
  }
  PetscCall(MacGridRestoreFaces(grid, faces, u));
  PetscFunctionReturn(0);
}

static void the_gradient_is_minus_the_divergence_transposed(void **state)
{
  (void)state;
  FOR_ALL_CONFIGS(config)
  {
    PetscReal products[2] = {0., 0.}, phase = 0.4;
    MacGrid   grid;
    Vec       faces[DIM], pressure;

    assert_success(MacGridCreate(PETSC_COMM_WORLD, config, &grid));
    assert_success(MacGridCreateFaceField(grid, faces));
    assert_success(MacGridCreateField(grid, &pressure));
    assert_success(ForAll(grid, pressure, OWNED, SetWave, &phase));
    assert_success(MacGridMirrorGhosts(grid, pressure));
    for (PetscInt d = 0; d < config->dimension; d++) {
      phase = 1. + d;
      assert_success(ForAll(grid, faces[d], OWNED, SetWave, &phase));
    }
    assert_success(MacGridExchangeFaces(grid, faces));
    assert_success(ClearSides(grid, faces));
    assert_success(MultiplyBoth(grid, pressure, faces, products));
    assert_on_all_ranks(PetscAbsReal(products[0]) > 0.1);
    assert_near(products[1], products[0], 1e-11);
    assert_success(VecDestroy(&pressure));
    assert_success(MacGridDestroyFaceField(faces));
    assert_success(MacGridDestroy(&grid));
  }
}

/* Index on this side of the one beyond a side. */
static PetscInt mirrored(const GridBox *box, PetscInt d, PetscInt index)
{
  if (box->periodic[d])
    return (index + box->cells[d]) % box->cells[d];
  return index < 0 ? -1 - index : index >= box->cells[d] ? 2 * box->cells[d] - 1 - index : index;
}

static PetscErrorCode CountNotMirrored(MacGrid grid, const PetscInt at[DIM], PetscReal *value,
                                       PetscReal *result)
{
  const GridBox *box = grid_box(grid);

  *result += *value != label(mirrored(box, X, at[X]), mirrored(box, Y, at[Y]), mirrored(box, Z, at[Z]));
  return 0;
}

static void beyond_sides_lies_the_mirror_image(void **state)
{
  (void)state;
  FOR_ALL_CONFIGS(config)
  {
    PetscReal wrong = 0.;
    MacGrid   grid;
    Vec       field;

    assert_success(MacGridCreate(PETSC_COMM_WORLD, config, &grid));
    assert_success(MacGridCreateField(grid, &field));
    assert_success(ForAll(grid, field, OWNED, SetLabel, NULL));
    assert_success(MacGridMirrorGhosts(grid, field));
    assert_success(ForAll(grid, field, WITH_GHOSTS, CountNotMirrored, &wrong));
    assert_near(wrong, 0., 0.);
    assert_success(VecDestroy(&field));
    assert_success(MacGridDestroy(&grid));
  }
}

static PetscErrorCode LargestValue(MacGrid grid, const PetscInt at[DIM], PetscReal *value, PetscReal *result)
{
  (void)grid;
  (void)at;
  *result = PetscMax(*result, PetscAbsReal(*value));
  return 0;
}

static void divergence_is_exact_for_a_linear_velocity(void **state)
{
  const PetscReal slope[DIM] = {2., -0.5, 3.};

  (void)state;
  FOR_ALL_CONFIGS(config)
  {
    MacGrid   grid;
    Vec       faces[DIM], divergence;
    PetscReal error = 0.;

    if (config->periodic[X] || config->periodic[Y] || config->periodic[Z])
      continue; /* a linear field does not close */
    assert_success(MacGridCreate(PETSC_COMM_WORLD, config, &grid));
    assert_success(MacGridCreateFaceField(grid, faces));
    assert_success(MacGridCreateField(grid, &divergence));
    assert_success(FillLinearFaces(grid, slope, faces));
    assert_success(MacGridDivergence(grid, faces, divergence));
    assert_success(VecShift(divergence, -(slope[X] + slope[Y] + (config->dimension == 3 ? slope[Z] : 0.))));
    assert_success(ForAll(grid, divergence, OWNED, LargestValue, &error));
    assert_near(error, 0., 1e-12);
    assert_success(VecDestroy(&divergence));
    assert_success(MacGridDestroyFaceField(faces));
    assert_success(MacGridDestroy(&grid));
  }
}

/* All that leaves through the sides has come from the cells. */
static void upper_faces_belong_to_the_rank_at_the_side(void **state)
{
  const PetscReal slope[DIM] = {2., -0.5, 3.};

  (void)state;
  FOR_ALL_CONFIGS(config)
  {
    MacGrid  grid;
    PetscInt cells[DIM], owned = 0, total, expected = 0;
    Vec      faces[DIM];

    assert_success(MacGridCreate(PETSC_COMM_WORLD, config, &grid));
    assert_success(MacGridCreateFaceField(grid, faces));
    assert_success(FillLinearFaces(grid, slope, faces));
    grid_config_cells(config, cells);
    for (PetscInt d = 0; d < config->dimension; d++) {
      const GridRange range = grid_faces(grid, d);

      FOR_PLACES(&range, at)
        owned++;
      expected += cells[X] * cells[Y] * cells[Z];
      if (!config->periodic[d])
        expected += cells[X] * cells[Y] * cells[Z] / cells[d];
    }
    assert_success(MPI_Allreduce(&owned, &total, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
    assert_on_all_ranks(total == expected);
    assert_success(MacGridDestroyFaceField(faces));
    assert_success(MacGridDestroy(&grid));
  }
}

static void fields_go_to_solver_vectors_and_back(void **state)
{
  (void)state;
  FOR_ALL_CONFIGS(config)
  {
    MacGrid   grid;
    Vec       field, solver;
    PetscReal wrong = 0.;
    PetscInt  cells[DIM], size;

    assert_success(MacGridCreate(PETSC_COMM_WORLD, config, &grid));
    assert_success(MacGridCreateField(grid, &field));
    assert_success(DMCreateGlobalVector(grid_cell_dm(grid), &solver));
    assert_success(VecGetSize(solver, &size));
    grid_config_cells(config, cells);
    assert_on_all_ranks(size == cells[X] * cells[Y] * cells[Z]);
    assert_success(ForAll(grid, field, OWNED, SetLabel, NULL));
    assert_success(MacGridToSolver(grid, field, solver));
    assert_success(VecSet(field, -7.));
    assert_success(MacGridFromSolver(grid, solver, field));
    assert_success(ForAll(grid, field, OWNED, CountWrongLabels, &wrong));
    assert_near(wrong, 0., 0.);
    assert_success(VecDestroy(&solver));
    assert_success(VecDestroy(&field));
    assert_success(MacGridDestroy(&grid));
  }
}

/* Saved by all ranks, loaded by each alone: the upper side faces are there too. */
static void fields_are_saved_and_loaded_on_any_number_of_ranks(void **state)
{
  const PetscReal slope[DIM] = {2., -0.5, 3.};

  (void)state;
  FOR_ALL_CONFIGS(config)
  {
    MacGrid   grid, alone;
    Archive   archive;
    Vec       faces[DIM], loaded[DIM], expected[DIM], cells, cells_alone;
    PetscReal wrong = 0., norm;
    char      message[256];

    assert_success(MacGridCreate(PETSC_COMM_WORLD, config, &grid));
    assert_success(MacGridCreateFaceField(grid, faces));
    assert_success(MacGridCreateField(grid, &cells));
    assert_success(FillLinearFaces(grid, slope, faces));
    assert_success(ForAll(grid, cells, OWNED, SetLabel, NULL));
    assert_success(ArchiveCreate(PETSC_COMM_WORLD, scratch_path("fields.h5"), &archive));
    assert_success(MacGridSaveFaces(grid, "velocity", faces, archive));
    assert_success(MacGridSaveField(grid, "pressure", cells, archive));
    assert_success(ArchiveCommit(&archive));

    assert_success(MacGridCreate(PETSC_COMM_SELF, config, &alone));
    assert_success(MacGridCreateFaceField(alone, loaded));
    assert_success(MacGridCreateFaceField(alone, expected));
    assert_success(MacGridCreateField(alone, &cells_alone));
    assert_success(
        ArchiveOpen(PETSC_COMM_SELF, scratch_path("fields.h5"), &archive, message, sizeof(message)));
    assert_on_all_ranks(archive != NULL);
    assert_success(MacGridLoadFaces(alone, "velocity", loaded, archive));
    assert_success(MacGridLoadField(alone, "pressure", cells_alone, archive));
    assert_success(ArchiveDestroy(&archive));
    assert_success(MacGridExchangeFaces(alone, loaded));
    assert_success(FillLinearFaces(alone, slope, expected));
    for (PetscInt d = 0; d < config->dimension; d++) {
      assert_success(VecAXPY(loaded[d], -1., expected[d]));
      assert_success(VecNorm(loaded[d], NORM_INFINITY, &norm));
      assert_near(norm, 0., 0.);
    }
    assert_success(ForAll(alone, cells_alone, OWNED, CountWrongLabels, &wrong));
    assert_near(wrong, 0., 0.);
    assert_success(VecDestroy(&cells_alone));
    assert_success(VecDestroy(&cells));
    assert_success(MacGridDestroyFaceField(expected));
    assert_success(MacGridDestroyFaceField(loaded));
    assert_success(MacGridDestroyFaceField(faces));
    assert_success(MacGridDestroy(&alone));
    assert_success(MacGridDestroy(&grid));
  }
}

static void boxes_that_do_not_fit_are_refused(void **state)
{
  GridConfig config = {.dimension = 2, .size = {{1., 0.95, 0.}}, .resolution = 10};
  MacGrid    grid;
  char       message[256];

  (void)state;
  assert_success(GridConfigCheck(&config, 1, message, sizeof(message)));
  assert_on_all_ranks(strstr(message, "0.95") != NULL);
  assert_refused(MacGridCreate(PETSC_COMM_WORLD, &config, &grid));
  config.size.at[Y] = 1.;
  assert_success(GridConfigCheck(&config, 1000, message, sizeof(message)));
  assert_on_all_ranks(strstr(message, "1000 fluid ranks") != NULL);
  assert_success(GridConfigCheck(&config, harness_size(), message, sizeof(message)));
  assert_on_all_ranks(message[0] == '\0');
  config.origin.at[Y] = 1e9;
  assert_success(GridConfigCheck(&config, 1, message, sizeof(message)));
  assert_on_all_ranks(strstr(message, "grid.origin along y is 1e+09") != NULL);
  config.origin.at[Y] = 0.;
  config.resolution = 65536;
  assert_success(GridConfigCheck(&config, 1, message, sizeof(message)));
  assert_on_all_ranks(!message[0] == (sizeof(PetscInt) > 4));
}

/* All work near one corner, and a little everywhere. */
static PetscReal corner_work(const GridConfig *config, const PetscInt at[DIM])
{
  PetscInt  cells[DIM];
  PetscReal work = 10.;

  grid_config_cells(config, cells);
  for (PetscInt d = 0; d < config->dimension; d++)
    if (3 * at[d] > cells[d])
      return work;
  return 20. * work;
}

static void parts_have_about_as_much_to_do(void **state)
{
  const GridConfig config = {.dimension = 3, .size = {{4.8, 4., 3.2}}, .resolution = 48};
  MacGrid          grid, divided;
  GridPartition    partition, same;
  GridBalance      balance, again;
  Vec              work;
  PetscReal       *values;
  PetscInt         at[DIM];

  (void)state;
  for (PetscInt turn = 0; turn < 2; turn++) {
    const GridBox *box;

    assert_success(MacGridCreateDivided(PETSC_COMM_WORLD, &config, turn ? &partition : NULL, &grid));
    box = grid_box(grid);
    assert_success(MacGridCreateField(grid, &work));
    assert_success(VecGetArray(work, &values));
    for (at[Z] = box->start[Z]; at[Z] < box->end[Z]; at[Z]++)
      for (at[Y] = box->start[Y]; at[Y] < box->end[Y]; at[Y]++)
        for (at[X] = box->start[X]; at[X] < box->end[X]; at[X]++)
          values[box_index(box, at[X], at[Y], at[Z])] = corner_work(&config, at);
    assert_success(GridPartitionBalance(box, values, turn ? &same : &partition, turn ? &again : &balance));
    assert_success(VecRestoreArray(work, &values));
    assert_success(VecDestroy(&work));
    assert_success(MacGridDestroy(&grid));
  }
  assert_on_all_ranks(harness_size() == 1 || balance.most > 1.3 * balance.mean);
  assert_on_all_ranks(balance.most_then <= 1.1 * balance.mean * (harness_size() > 1 ? 1.05 : 1.));
  assert_near(again.most, balance.most_then, 1e-9 * balance.most); /* it is what it was said to be */
  assert_on_all_ranks(again.most_then >= again.most * (1. - 1e-9));
  for (PetscInt d = 0; d < DIM; d++)
    for (PetscInt part = 0; part <= partition.parts[d]; part++)
      assert_on_all_ranks(same.parts[d] == partition.parts[d] &&
                          same.start[d][part] == partition.start[d][part]);
  assert_success(MacGridCreateDivided(PETSC_COMM_WORLD, &config, &partition, &divided));
  assert_success(MacGridDestroy(&divided));
  assert_success(GridPartitionDestroy(&partition));
  assert_success(GridPartitionDestroy(&same));
}

/* First cells of parts that are as unequal as they can be; they fit the ranks of the harness. */
static PetscErrorCode CreateUnequal(const GridConfig *config, GridPartition *partition)
{
  PetscInt  cells[DIM], parts[DIM];
  PetscBool fits;

  PetscFunctionBegin;
  grid_config_cells(config, cells);
  box_process_grid(cells, config->dimension, harness_size(), parts, &fits);
  PetscCall(GridPartitionCreateEven(cells, parts, partition));
  for (PetscInt d = 0; d < config->dimension; d++)
    for (PetscInt part = 1; part < parts[d]; part++)
      partition->start[d][part] = 4 * part;
  PetscFunctionReturn(0);
}

static void fields_go_through_memory_to_other_parts(void **state)
{
  const PetscReal slope[DIM] = {1., -2., 3.};

  (void)state;
  FOR_ALL_CONFIGS(config)
  {
    MacGrid       grid, divided;
    Archive       archive;
    GridPartition partition;
    Vec           cells, cells_there, faces[DIM], there[DIM], expected[DIM];
    PetscReal     wrong = 0., norm;

    assert_success(CreateUnequal(config, &partition));
    assert_success(MacGridCreate(PETSC_COMM_WORLD, config, &grid));
    assert_success(MacGridCreateDivided(PETSC_COMM_WORLD, config, &partition, &divided));
    assert_success(MacGridCreateField(grid, &cells));
    assert_success(MacGridCreateField(divided, &cells_there));
    assert_success(MacGridCreateFaceField(grid, faces));
    assert_success(MacGridCreateFaceField(divided, there));
    assert_success(MacGridCreateFaceField(divided, expected));
    assert_success(ForAll(grid, cells, OWNED, SetLabel, NULL));
    assert_success(FillLinearFaces(grid, slope, faces));
    assert_success(FillLinearFaces(divided, slope, expected));
    assert_success(ArchiveCreateInMemory(PETSC_COMM_WORLD, &archive));
    assert_success(MacGridSaveField(grid, "pressure", cells, archive));
    assert_success(MacGridSaveFaces(grid, "velocity", faces, archive));
    assert_success(ArchiveTurn(archive));
    assert_success(VecSet(cells_there, -7.));
    assert_success(MacGridLoadField(divided, "pressure", cells_there, archive));
    assert_success(MacGridLoadFaces(divided, "velocity", there, archive));
    assert_success(ArchiveDestroy(&archive));
    assert_success(MacGridExchange(divided, cells_there));
    assert_success(ForAll(divided, cells_there, WITH_GHOSTS, CountWrongLabels, &wrong));
    assert_near(wrong, 0., 0.);
    assert_success(MacGridExchangeFaces(divided, there));
    for (PetscInt d = 0; d < config->dimension; d++) {
      assert_success(VecAXPY(there[d], -1., expected[d]));
      assert_success(VecNorm(there[d], NORM_INFINITY, &norm));
      assert_near(norm, 0., 0.);
    }
    assert_success(MacGridDestroyFaceField(expected));
    assert_success(MacGridDestroyFaceField(there));
    assert_success(MacGridDestroyFaceField(faces));
    assert_success(VecDestroy(&cells_there));
    assert_success(VecDestroy(&cells));
    assert_success(MacGridDestroy(&divided));
    assert_success(MacGridDestroy(&grid));
    assert_success(GridPartitionDestroy(&partition));
  }
}

TEST_MAIN(cmocka_unit_test(every_cell_has_one_owner), cmocka_unit_test(ghosts_are_copies_corners_included),
          cmocka_unit_test(sums_of_ghosts_are_the_transpose_of_the_exchange),
          cmocka_unit_test(one_ghost_decides_the_extremes),
          cmocka_unit_test(divergence_is_exact_for_a_linear_velocity),
          cmocka_unit_test(the_gradient_is_minus_the_divergence_transposed),
          cmocka_unit_test(beyond_sides_lies_the_mirror_image),
          cmocka_unit_test(upper_faces_belong_to_the_rank_at_the_side),
          cmocka_unit_test(fields_go_to_solver_vectors_and_back),
          in_scratch(fields_are_saved_and_loaded_on_any_number_of_ranks),
          cmocka_unit_test(parts_have_about_as_much_to_do),
          cmocka_unit_test(fields_go_through_memory_to_other_parts),
          cmocka_unit_test(boxes_that_do_not_fit_are_refused))
