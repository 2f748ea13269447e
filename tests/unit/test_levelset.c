#include "harness.h"
#include "interface.h"
#include "scratch.h"

static const InterfaceConfig marked = {.advection = INTERFACE_WENO5, .particles = 8};

/* Numbers between 0 and 1 that are the same on all ranks. */
static PetscReal noise(PetscInt n)
{
  const PetscReal x = PetscSinReal(12.9898 * (n + 1)) * 43758.5453;

  return x - PetscFloorReal(x);
}

/* Part of a square or cube below a plane, from columns: exact along x, midpoints across. */
static PetscReal fraction_by_columns(PetscInt dimension, PetscReal distance, Vector3 gradient)
{
  enum { COLUMNS = 400 };
  const PetscInt deep = dimension == 3 ? COLUMNS : 1;
  PetscReal      sum = 0.;

  for (PetscInt k = 0; k < deep; k++)
    for (PetscInt j = 0; j < COLUMNS; j++) {
      const PetscReal y = (j + 0.5) / COLUMNS - 0.5, z = dimension == 3 ? (k + 0.5) / COLUMNS - 0.5 : 0.;
      const PetscReal cut =
          -(distance + gradient.at[Y] * y + gradient.at[Z] * z) / PetscAbsReal(gradient.at[X]);

      sum += PetscMin(PetscMax(cut + 0.5, 0.), 1.);
    }
  return sum / (COLUMNS * deep);
}

static void fractions_are_those_of_planes(void **state)
{
  (void)state;
  for (PetscInt dimension = 2; dimension <= 3; dimension++)
    for (PetscInt n = 0; n < 40; n++) {
      const Vector3 gradient =
          vector3(noise(4 * n) - 0.5, noise(4 * n + 1) - 0.5, dimension == 3 ? noise(4 * n + 2) - 0.5 : 0.);
      const PetscReal distance = 0.7 * (noise(4 * n + 3) - 0.5);
      const PetscReal part = inside_fraction(dimension, 3. * distance, gradient, 3.);

      assert_near(part, fraction_by_columns(dimension, distance, gradient), 1e-4);
      assert_near(part, 1. - inside_fraction(dimension, -3. * distance, gradient, 3.), 1e-14);
      assert_near(inside_fraction(2, distance, gradient, 1.),
                  inside_fraction(3, distance, vector3(gradient.at[X], 0., gradient.at[Y]), 1.), 1e-13);
    }
}

static void fractions_of_edge_cases(void **state)
{
  (void)state;
  assert_near(inside_fraction(3, 0.125, vector3(0., 1., 0.), 0.5), 0.25, 1e-15);
  assert_near(inside_fraction(3, 0.125, vector3(1e-13, 1., -1e-9), 0.5), 0.25, 1e-12);
  assert_near(inside_fraction(3, 0., vector3(1e-13, 1e-13, 1e-13), 0.5), 0.5, 1e-12);
  assert_near(inside_fraction(2, -1., vector3(0., 0., 0.), 0.5), 1., 0.);
  assert_near(inside_fraction(2, 1., vector3(0., 0., 0.), 0.5), 0., 0.);
  /* a corner: tetrahedron of legs 0.3 */
  assert_near(inside_fraction(3, 1.5 - 0.3, vector3(1., 1., 1.), 1.), 0.3 * 0.3 * 0.3 / 6., 1e-15);
  assert_near(inside_fraction(2, 1. - 0.3, vector3(-1., 1., 0.), 1.), 0.3 * 0.3 / 2., 1e-15);
}

static PetscReal label(Vector3 point)
{
  return point.at[X] + 10. * point.at[Y] + 100. * point.at[Z];
}

static PetscInt mirrored(PetscInt index, PetscInt cells)
{
  return index < 0 ? -1 - index : index >= cells ? 2 * cells - 1 - index : index;
}

static PetscReal largest_ghost_error(MacGrid grid, const PetscReal *value)
{
  const GridBox *box = grid_box(grid);
  const PetscInt depth = box->dimension == 3 ? box->ghost : 0;
  PetscReal      error = 0.;

  for (PetscInt k = box->start[Z] - depth; k < box->end[Z] + depth; k++)
    for (PetscInt j = box->start[Y] - box->ghost; j < box->end[Y] + box->ghost; j++)
      for (PetscInt i = box->start[X] - box->ghost; i < box->end[X] + box->ghost; i++) {
        const Vector3 point = grid_cell_centre(grid, mirrored(i, box->cells[X]), mirrored(j, box->cells[Y]),
                                               mirrored(k, box->cells[Z]));

        error = PetscMax(error, PetscAbsReal(value[box_index(box, i, j, k)] - label(point)));
      }
  return error;
}

static void ghosts_beyond_sides_are_mirrored(void **state)
{
  (void)state;
  for (PetscInt dimension = 2; dimension <= 3; dimension++) {
    const GridConfig config = cube_grid(dimension, 13, 1.);
    MacGrid          grid;
    Vec              field;
    PetscReal       *value;

    assert_success(MacGridCreate(PETSC_COMM_WORLD, &config, &grid));
    assert_success(MacGridCreateField(grid, &field));
    assert_success(InterfaceFill(grid, label, field));
    assert_success(MacGridMirrorGhosts(grid, field));
    assert_success(VecGetArray(field, &value));
    assert_near(largest_ghost_error(grid, value), 0., 1e-12);
    assert_success(VecRestoreArray(field, &value));
    assert_success(VecDestroy(&field));
    assert_success(MacGridDestroy(&grid));
  }
}

static PetscReal left_part(Vector3 point)
{
  return point.at[X] - 0.37;
}

static PetscReal right_wall(Vector3 point)
{
  return point.at[Y] - 0.5;
}

static void volume_leaves_closed_cells_out(void **state)
{
  (void)state;
  for (PetscInt dimension = 2; dimension <= 3; dimension++) {
    const GridConfig grid = cube_grid(dimension, 16, 1.);
    Interface        interface;
    Vec              closed;
    PetscReal        volume;

    assert_success(InterfaceCreate(PETSC_COMM_WORLD, &grid, &marked, &interface));
    assert_success(InterfaceSet(&interface, left_part));
    assert_success(LevelSetGetVolume(interface.level_set, NULL, &volume));
    assert_near(volume, 0.37, 1e-13);
    assert_success(MacGridCreateField(interface.grid, &closed));
    assert_success(InterfaceFill(interface.grid, right_wall, closed));
    assert_success(LevelSetGetVolume(interface.level_set, closed, &volume));
    assert_near(volume, 0.185, 1e-13);
    assert_success(VecDestroy(&closed));
    assert_success(InterfaceDestroy(&interface));
  }
}

static void interface_at_a_wall_stays_there(void **state)
{
  const GridConfig grid = cube_grid(2, 32, 1.);
  Interface        interface;
  Vec              field;
  FieldError       error;

  (void)state;
  assert_success(InterfaceCreate(PETSC_COMM_WORLD, &grid, &marked, &interface));
  assert_success(InterfaceSet(&interface, left_part));
  assert_success(LevelSetRedistance(interface.level_set));
  assert_success(LevelSetGetField(interface.level_set, &field));
  assert_success(InterfaceCompare(interface.grid, field, left_part, left_part, 5.5 / 32., &error));
  assert_near(error.largest, 0., 1e-12);
  assert_success(InterfaceDestroy(&interface));
}

/* A ball, or in two dimensions, where z is zero, a disk. */
static PetscReal ball(Vector3 point)
{
  const Vector3 centre = vector3(0.45, 0.52, point.at[Z] == 0. ? 0. : 0.48);

  return vector3_norm(vector3_subtract(point, centre)) - 0.25;
}

static Vector3 drift(Vector3 point, PetscReal time)
{
  (void)time;
  return vector3(1. + 0.3 * PetscSinReal(2. * PETSC_PI * point.at[Y]),
                 -0.7 + 0.2 * PetscSinReal(2. * PETSC_PI * point.at[X]),
                 0.5 + 0.1 * PetscSinReal(2. * PETSC_PI * point.at[X]));
}

/* Twenty steps of a ball through periodic sides and along walls. */
static PetscErrorCode Drift(MPI_Comm comm, PetscInt dimension, const InterfaceConfig *config,
                            Interface *interface)
{
  GridConfig grid = cube_grid(dimension, dimension == 2 ? 40 : 24, 1.);

  PetscFunctionBegin;
  grid.periodic[X] = PETSC_TRUE;
  PetscCall(InterfaceCreate(comm, &grid, config, interface));
  PetscCall(InterfaceSet(interface, ball));
  PetscCall(LevelSetRedistance(interface->level_set));
  PetscCall(InterfaceSeed(interface));
  for (PetscInt step = 0; step < 20; step++)
    PetscCall(InterfaceStep(interface, drift, 0., 0.8 * grid.size.at[X] / grid.resolution, 3));
  PetscFunctionReturn(0);
}

static void any_number_of_ranks_gives_the_same(void **state)
{
  const InterfaceConfig configs[] = {marked, {.advection = INTERFACE_SEMI_LAGRANGIAN, .particles = 8}};

  (void)state;
  for (PetscInt dimension = 2; dimension <= 3; dimension++)
    for (PetscInt c = 0; c < 2; c++) {
      Interface  together, alone;
      PetscReal  sum[2], volume[2];
      PetscInt64 markers[2];
      Vec        field;

      assert_success(Drift(PETSC_COMM_WORLD, dimension, &configs[c], &together));
      assert_success(Drift(PETSC_COMM_SELF, dimension, &configs[c], &alone));
      assert_success(LevelSetGetField(together.level_set, &field));
      assert_success(InterfaceChecksum(together.grid, field, &sum[0]));
      assert_success(LevelSetGetField(alone.level_set, &field));
      assert_success(InterfaceChecksum(alone.grid, field, &sum[1]));
      assert_near(sum[0] / sum[1], 1., 1e-12);
      assert_success(LevelSetGetVolume(together.level_set, NULL, &volume[0]));
      assert_success(LevelSetGetVolume(alone.level_set, NULL, &volume[1]));
      assert_near(volume[0] / volume[1], 1., 1e-12);
      assert_success(ParticlesGetTotal(together.markers[1], &markers[0]));
      assert_success(ParticlesGetTotal(alone.markers[1], &markers[1]));
      assert_on_all_ranks(markers[0] == markers[1] && markers[0] > 0);
      assert_success(InterfaceDestroy(&together));
      assert_success(InterfaceDestroy(&alone));
    }
}

static PetscReal all_outside(Vector3 point)
{
  (void)point;
  return 0.2;
}

static PetscReal all_inside(Vector3 point)
{
  (void)point;
  return -0.2;
}

enum { STRAYED = 300 };

static Vector3 strayed_place(PetscInt n, PetscInt dimension)
{
  return vector3(noise(3 * n), noise(3 * n + 1), dimension == 3 ? noise(3 * n + 2) : 0.);
}

static PetscReal strayed_radius(PetscInt n, PetscReal h)
{
  return h * (0.1 + 0.4 * noise(1000 + n));
}

/* What the markers of the inside say about a cell's centre; x is periodic. */
static PetscReal told(Vector3 centre, PetscReal h, PetscInt dimension)
{
  PetscReal least = 0.2;

  for (PetscInt n = 0; n < STRAYED; n++) {
    Vector3 away = vector3_subtract(strayed_place(n, dimension), centre);

    away.at[X] -= PetscFloorReal(away.at[X] + 0.5);
    if (PetscAbsReal(away.at[X]) < h && PetscAbsReal(away.at[Y]) < h && PetscAbsReal(away.at[Z]) < h)
      least = PetscMin(least, vector3_norm(away) - strayed_radius(n, h));
  }
  return least;
}

static PetscReal largest_untold(Interface *interface, const PetscReal *value, PetscReal sign)
{
  const GridBox *box = grid_box(interface->grid);
  PetscReal      error = 0.;

  FOR_CELLS(box, i, j, k) {
    const PetscReal expected = sign * told(grid_cell_centre(interface->grid, i, j, k),
                                           grid_spacing(interface->grid), box->dimension);

    error = PetscMax(error, PetscAbsReal(value[box_index(box, i, j, k)] - expected));
  }
  return error;
}

/* All from rank 0, to be sent where they belong. */
static PetscErrorCode AddStrayed(Interface *interface, PetscInt side)
{
  PetscFunctionBegin;
  for (PetscInt n = 0; n < STRAYED && harness_rank() == 0; n++) {
    const Vector3    place = strayed_place(n, interface->grid_config.dimension);
    const PetscReal  radius = strayed_radius(n, grid_spacing(interface->grid));
    const PetscInt64 number = n;

    PetscCall(ParticlesAdd(interface->markers[side], 1, &place, &radius, &number));
  }
  PetscCall(ParticlesArrange(interface->markers[side]));
  PetscFunctionReturn(0);
}

/* Also where the centres around a marker belong to other ranks or lie beyond a periodic side. */
static void strayed_markers_pull_the_field_back(void **state)
{
  (void)state;
  for (PetscInt dimension = 2; dimension <= 3; dimension++)
    for (PetscInt side = 0; side < 2; side++) {
      GridConfig grid = cube_grid(dimension, 12, 1.);
      Interface  interface;
      PetscReal *value;
      Vec        field;

      grid.periodic[X] = PETSC_TRUE;
      assert_success(InterfaceCreate(PETSC_COMM_WORLD, &grid, &marked, &interface));
      assert_success(InterfaceSet(&interface, side == 0 ? all_outside : all_inside));
      assert_success(AddStrayed(&interface, side));
      assert_success(LevelSetCorrect(interface.level_set, 2, interface.markers, 0));
      assert_success(LevelSetGetField(interface.level_set, &field));
      assert_success(VecGetArray(field, &value));
      assert_near(largest_untold(&interface, value, side == 0 ? 1. : -1.), 0., 1e-14);
      assert_success(VecRestoreArray(field, &value));
      assert_success(InterfaceDestroy(&interface));
    }
}

/* Writes the interface, reads it into a new one. */
static PetscErrorCode SaveAndLoad(Interface *from, Interface *to)
{
  const char *names[2] = {"inside", "outside"};
  Archive     archive;
  char        message[256];

  PetscFunctionBegin;
  PetscCall(ArchiveCreate(PETSC_COMM_WORLD, scratch_path("state.h5"), &archive));
  PetscCall(LevelSetSave(from->level_set, "surface", archive));
  for (PetscInt s = 0; s < 2; s++)
    PetscCall(ParticlesSave(from->markers[s], names[s], archive));
  PetscCall(ArchiveCommit(&archive));
  PetscCall(InterfaceCreate(PETSC_COMM_WORLD, &from->grid_config, &from->config, to));
  PetscCall(ArchiveOpen(PETSC_COMM_WORLD, scratch_path("state.h5"), &archive, message, sizeof(message)));
  PetscCall(LevelSetLoad(to->level_set, "surface", archive));
  for (PetscInt s = 0; s < 2; s++)
    PetscCall(ParticlesLoad(to->markers[s], names[s], archive));
  PetscCall(ArchiveDestroy(&archive));
  to->step = from->step;
  PetscFunctionReturn(0);
}

static void what_was_saved_goes_on_the_same(void **state)
{
  Interface interface, resumed;
  Vec       field[2];
  PetscReal sum[2];

  (void)state;
  assert_success(Drift(PETSC_COMM_WORLD, 2, &marked, &interface));
  assert_success(SaveAndLoad(&interface, &resumed));
  assert_success(LevelSetGetField(interface.level_set, &field[0]));
  assert_success(LevelSetGetField(resumed.level_set, &field[1]));
  for (PetscInt step = 0; step < 5; step++) {
    for (PetscInt n = 0; n < 2; n++) {
      assert_success(InterfaceChecksum(interface.grid, field[n], &sum[n]));
      assert_success(InterfaceStep(n == 0 ? &interface : &resumed, drift, 0., 0.02, 3));
    }
    assert_near(sum[0], sum[1], 0.);
  }
  assert_success(InterfaceDestroy(&resumed));
  assert_success(InterfaceDestroy(&interface));
}

/* Through faces or through centres of cells, by the number of these: distances are multiples of h/2. */
static PetscReal half(Vector3 point)
{
  return point.at[Y] - 0.5;
}

static PetscReal layer(Vector3 point)
{
  return PetscAbsReal(point.at[Y] - 0.5) - 0.25;
}

static PetscReal tremble(Vector3 point)
{
  return 1e-14 * PetscSinReal(1e4 * (point.at[X] + 3. * point.at[Y]));
}

static PetscReal half_trembling(Vector3 point)
{
  return half(point) + tremble(point);
}

static PetscReal layer_trembling(Vector3 point)
{
  return layer(point) + tremble(point);
}

static Vector3 sideways(Vector3 point, PetscReal time)
{
  (void)time;
  return vector3(1. + 0.1 * PetscSinReal(2. * PETSC_PI * point.at[Y]), 0., 0.);
}

/* The field and the number of markers after some steps. */
static PetscErrorCode Follow(PetscInt n, DistanceFunction distance, Interface *interface, PetscInt counts[2])
{
  GridConfig   grid = cube_grid(2, n, 1.);
  ParticleView view;

  PetscFunctionBegin;
  grid.periodic[X] = PETSC_TRUE;
  PetscCall(InterfaceCreate(PETSC_COMM_WORLD, &grid, &marked, interface));
  PetscCall(InterfaceSet(interface, distance));
  PetscCall(LevelSetRedistance(interface->level_set));
  PetscCall(InterfaceSeed(interface));
  for (PetscInt step = 0; step < 4; step++)
    PetscCall(InterfaceStep(interface, sideways, 0., 0.5 / n, 2));
  for (PetscInt s = 0; s < 2; s++) {
    PetscCall(ParticlesGetView(interface->markers[s], &view));
    counts[s] = view.count;
  }
  PetscFunctionReturn(0);
}

/* No cell is at a threshold, although all that lie in rows along the grid seem to be. */
static void round_off_stays_round_off(void **state)
{
  const DistanceFunction pairs[][2] = {{half, half_trembling}, {layer, layer_trembling}};

  (void)state;
  for (PetscInt n = 24; n <= 34; n += 5)
    for (PetscInt p = 0; p < 2; p++) {
      Interface interfaces[2];
      PetscInt  counts[2][2];
      PetscReal largest;
      Vec       field[2];

      for (PetscInt m = 0; m < 2; m++) {
        assert_success(Follow(n, pairs[p][m], &interfaces[m], counts[m]));
        assert_success(LevelSetGetField(interfaces[m].level_set, &field[m]));
      }
      assert_success(VecAXPY(field[0], -1., field[1]));
      assert_success(VecNorm(field[0], NORM_INFINITY, &largest));
      assert_on_all_ranks(largest < 1e-11);
      assert_on_all_ranks(counts[0][0] == counts[1][0] && counts[0][1] == counts[1][1]);
      for (PetscInt m = 0; m < 2; m++)
        assert_success(InterfaceDestroy(&interfaces[m]));
    }
}

static PetscReal nearly_the_end(Vector3 point)
{
  return (point.at[X] < 0.5 ? -1. : 1.) * BAND_CELLS / 16. + 10. * tremble(point);
}

static void the_end_of_the_band_is_exact(void **state)
{
  const GridConfig grid = cube_grid(2, 16, 1.);
  Interface        interface;
  Vec              field;
  PetscReal        low, high, size;

  (void)state;
  assert_success(InterfaceCreate(PETSC_COMM_WORLD, &grid, &marked, &interface));
  assert_success(InterfaceSet(&interface, nearly_the_end));
  assert_success(LevelSetGetField(interface.level_set, &field));
  assert_success(VecMin(field, NULL, &low));
  assert_success(VecMax(field, NULL, &high));
  assert_success(VecAbs(field));
  assert_success(VecMin(field, NULL, &size));
  assert_on_all_ranks(low >= -BAND_CELLS / 16. && high <= BAND_CELLS / 16. && size == BAND_CELLS / 16.);
  assert_success(InterfaceDestroy(&interface));
}

TEST_MAIN(cmocka_unit_test(fractions_are_those_of_planes), cmocka_unit_test(fractions_of_edge_cases),
          cmocka_unit_test(ghosts_beyond_sides_are_mirrored),
          cmocka_unit_test(volume_leaves_closed_cells_out), cmocka_unit_test(interface_at_a_wall_stays_there),
          cmocka_unit_test(strayed_markers_pull_the_field_back),
          cmocka_unit_test(any_number_of_ranks_gives_the_same), cmocka_unit_test(round_off_stays_round_off),
          cmocka_unit_test(the_end_of_the_band_is_exact), in_scratch(what_was_saved_goes_on_the_same))
