#include "harness.h"
#include "regions.h"

/* Value of a field at a cell that one rank owns, on all ranks. */
static PetscReal value_at(Regions *regions, Vec field, PetscInt i, PetscInt j, PetscInt k)
{
  const GridBox   *box = grid_box(regions->grid);
  const PetscInt   at[DIM] = {i, j, k};
  const PetscReal *values;
  PetscReal        value = -PETSC_MAX_REAL;
  PetscBool        here = PETSC_TRUE;

  for (PetscInt d = 0; d < DIM; d++)
    if (at[d] < box->start[d] || at[d] >= box->end[d])
      here = PETSC_FALSE;
  assert_success(VecGetArrayRead(field, &values));
  if (here)
    value = values[box_index(box, i, j, k)];
  assert_success(VecRestoreArrayRead(field, &values));
  assert_success(MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPIU_REAL, MPIU_MAX, box->comm));
  return value;
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

static const Mixture *mixture_of(Regions *regions)
{
  const Mixture *mixture;

  assert_success(PhaseGetMixture(regions->phase, &mixture));
  return mixture;
}

/* Region a (density 1, viscosity 3) below y = (row + offset) h, b (density 2, viscosity 7) above. */
static void check_layers(PetscInt dimension, PetscReal offset)
{
  const PetscInt  n = 16, row = 7, mid = n / 2, k = dimension == 3 ? mid : 0;
  const PetscReal h = 1. / n, height = (row + offset) * h;
  Shape           shape = half_space(vector3(0., height, 0.), vector3(0., 1., 0.));
  Regions         regions;
  const Mixture  *mixture;

  regions_prepare(dimension, n, &regions);
  regions_add(&regions, &shape)->viscosity = 3.;
  regions_add(&regions, NULL)->viscosity = 7.;
  start(&regions);
  mixture = mixture_of(&regions);
  for (PetscInt j = row - 1; j <= row + 1; j++) {
    const PetscReal below = PetscMax(0., PetscMin(height / h - j, 1.));         /* part of cell j in a */
    const PetscReal between = PetscMax(0., PetscMin(height / h - j + 0.5, 1.)); /* from centre to centre */

    assert_near(value_at(&regions, mixture->viscosity, mid, j, k), 3. * below + 7. * (1. - below), 1e-12);
    assert_near(value_at(&regions, mixture->density[X], mid, j, k), below + 2. * (1. - below), 1e-12);
    assert_near(value_at(&regions, mixture->density[Y], mid, j, k), between + 2. * (1. - between), 1e-12);
    assert_near(value_at(&regions, mixture->mobility[Y], mid, j, k), 1. / (between + 2. * (1. - between)),
                1e-12);
    assert_near(value_at(&regions, mixture->mobility[X], mid, j, k), height >= (j + 0.5) * h ? 1. : 0.5,
                1e-12);
    assert_near(value_at(&regions, mixture->edge_viscosity[Z], mid, j, k),
                1. / (between / 3. + (1. - between) / 7.), 1e-12);
    if (dimension == 3) { /* shear in planes along the layers: side by side */
      assert_near(value_at(&regions, mixture->edge_viscosity[Y], mid, j, k), 3. * below + 7. * (1. - below),
                  1e-12);
      assert_near(value_at(&regions, mixture->edge_viscosity[X], mid, j, k),
                  1. / (between / 3. + (1. - between) / 7.), 1e-12);
    }
    assert_near(value_at(&regions, mixture->empty, mid, j, k), 0., 0.);
  }
  assert_near(phase_report(regions.phase)->volume[0], height, 1e-12);
  assert_near(phase_report(regions.phase)->volume[1], 1. - height, 1e-12);
  assert_near(phase_report(regions.phase)->surface[0], 1., 1e-12);
  assert_near(phase_report(regions.phase)->surface[1], 1., 1e-12);
  assert_success(RegionsDestroy(&regions));
}

static void layers_between_grid_lines_are_exact(void **state)
{
  static const PetscReal offsets[] = {0., 0.13, 0.37, 0.5, 0.62, 0.91};

  (void)state;
  for (size_t n = 0; n < PETSC_STATIC_ARRAY_LENGTH(offsets); n++) {
    check_layers(2, offsets[n]);
    check_layers(3, offsets[n]);
  }
}

/* Largest error of the density in dual cells that lie `margin` cells away from the sides, beyond which planes
   are mirrored. */
static PetscReal density_error(Regions *regions, PetscInt direction, Vector3 point, Vector3 normal)
{
  const GridBox   *box = grid_box(regions->grid);
  const PetscInt   margin = 7, deep = box->dimension == 3 ? margin : 0;
  const PetscReal  h = grid_spacing(regions->grid);
  const PetscReal *density;
  PetscReal        largest = 0.;

  assert_success(VecGetArrayRead(mixture_of(regions)->density[direction], &density));
  for (PetscInt k = PetscMax(box->start[Z], deep); k < PetscMin(box->end[Z], box->cells[Z] - deep); k++)
    for (PetscInt j = PetscMax(box->start[Y], margin); j < PetscMin(box->end[Y], box->cells[Y] - margin); j++)
      for (PetscInt i = PetscMax(box->start[X], margin); i < PetscMin(box->end[X], box->cells[X] - margin);
           i++) {
        const Vector3   way = vector3_subtract(grid_face_centre(regions->grid, direction, i, j, k), point);
        const PetscReal part = inside_fraction(box->dimension, vector3_dot(way, normal), normal, h);

        largest = PetscMax(largest, PetscAbsReal(density[box_index(box, i, j, k)] - (2. - part)));
      }
  assert_success(VecRestoreArrayRead(mixture_of(regions)->density[direction], &density));
  assert_success(MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPIU_REAL, MPIU_MAX, box->comm));
  return largest;
}

static void dual_cells_hold_the_mass_of_oblique_layers(void **state)
{
  (void)state;
  for (PetscInt dimension = 2; dimension <= 3; dimension++) {
    const Vector3 normal = dimension == 3 ? vector3(0.48, 0.6, 0.64) : vector3(0.6, 0.8, 0.);
    const Vector3 point = vector3(0.51, 0.47, dimension == 3 ? 0.52 : 0.);
    Shape         shape = half_space(point, normal);
    Regions       regions;

    regions_prepare(dimension, 24, &regions);
    regions_add(&regions, &shape);
    regions_add(&regions, NULL);
    start(&regions);
    for (PetscInt d = 0; d < dimension; d++)
      assert_near(density_error(&regions, d, point, normal), 0., 1e-9);
    assert_near(phase_report(regions.phase)->volume[0] + phase_report(regions.phase)->volume[1], 1., 1e-12);
    assert_success(RegionsDestroy(&regions));
  }
}

static void a_surface_to_nothing_is_where_the_pressure_ends(void **state)
{
  static const PetscReal offsets[] = {0.2, 0.4999, 0.5001, 0.75};
  const PetscInt         n = 16, row = 7, mid = n / 2;

  (void)state;
  for (size_t m = 0; m < PETSC_STATIC_ARRAY_LENGTH(offsets); m++) {
    Shape           shape = half_space(vector3(0., (row + offsets[m]) / n, 0.), vector3(0., 1., 0.));
    const PetscBool wet = offsets[m] > 0.5 ? PETSC_TRUE : PETSC_FALSE; /* the centre of cell `row` */
    const PetscReal way = offsets[m] + (wet ? -0.5 : 0.5);
    const PetscInt  face = wet ? row + 1 : row; /* that the surface crosses from below */
    Regions         regions;
    const Mixture  *mixture;

    regions_prepare(2, n, &regions);
    regions_add(&regions, &shape)->density = 4.;
    regions_add(&regions, NULL)->kind = m % 2 ? REGION_EMPTY : REGION_ONE_WAY;
    start(&regions);
    mixture = mixture_of(&regions);
    assert_near(value_at(&regions, mixture->empty, mid, row, 0), wet ? 0. : 1., 0.);
    assert_near(value_at(&regions, mixture->empty, mid, row + 1, 0), 1., 0.);
    assert_near(value_at(&regions, mixture->mobility[Y], mid, face, 0), 1. / (PetscMax(way, 1e-3) * 4.),
                1e-9 / PetscMax(way, 1e-3));
    assert_near(value_at(&regions, mixture->mobility[Y], mid, face + 1, 0), 0., 0.);
    assert_near(value_at(&regions, mixture->mobility[X], mid, row + 1, 0), 0., 0.);
    assert_near(value_at(&regions, mixture->mobility[X], mid, row - 1, 0), 0.25, 0.);
    assert_near(value_at(&regions, mixture->density[X], mid, row, 0), 4. * offsets[m], 1e-12);
    assert_on_all_ranks(value_at(&regions, mixture->density[X], mid, row + 3, 0) > 0.);
    assert_success(RegionsDestroy(&regions));
  }
}

/* Along any line through a drop the jumps are those of the Laplace pressure and cancel out. */
static void a_drop_has_the_higher_pressure_inside(void **state)
{
  (void)state;
  for (PetscInt dimension = 2; dimension <= 3; dimension++) {
    const PetscInt  n = 40, mid = n / 2 + 1, k = dimension == 3 ? mid : 0;
    const PetscReal radius = 0.3, sigma = 5., expected = (dimension - 1) * sigma / radius;
    PetscReal       sum = 0., low = 0.;
    Shape           shape;
    Regions         regions;
    const Mixture  *mixture;

    regions_prepare(dimension, n, &regions);
    assert_success(ShapeCreateSphere(vector3(0.5, 0.5, dimension == 3 ? 0.5 : 0.), radius, &shape));
    regions_add(&regions, NULL);
    regions_add(&regions, &shape);
    regions_add_tension(&regions, 1, 0, sigma);
    start(&regions);
    mixture = mixture_of(&regions);
    for (PetscInt i = 1; i < n; i++) {
      const PetscReal jump = value_at(&regions, mixture->jump[X], i, mid, k);

      sum += jump;
      if (i < mid)
        low += jump;
    }
    assert_near(low, expected, 0.01 * expected);
    assert_near(sum, 0., 1e-3 * expected);
    assert_success(RegionsDestroy(&regions));
  }
}

static void tension_limits_the_time_step(void **state)
{
  Shape     shapes[2];
  Regions   regions;
  PetscReal limit;

  (void)state;
  regions_prepare(2, 20, &regions);
  assert_success(ShapeCreateSphere(vector3(0.3, 0.5, 0.), 0.15, &shapes[0]));
  assert_success(ShapeCreateSphere(vector3(0.7, 0.5, 0.), 0.15, &shapes[1]));
  regions_add(&regions, &shapes[0]);
  regions_add(&regions, &shapes[1]);
  regions_add(&regions, NULL)->kind = REGION_EMPTY;
  start(&regions);
  limit = phase_wave_limit(regions.phase, vector3(0., 0., 0.), grid_spacing(regions.grid));
  assert_on_all_ranks(limit > 1e30);
  assert_success(PhaseDestroy(&regions.phase));
  regions_add_tension(&regions, 0, 2, 0.5);
  regions_add_tension(&regions, 0, 1, 0.5);
  assert_success(PhaseCreate(regions.grid, &regions.config, &regions.phase));
  limit = phase_wave_limit(regions.phase, vector3(0., 0., 0.), grid_spacing(regions.grid));
  assert_near(limit, PetscSqrtReal(1. * 0.05 * 0.05 * 0.05 / (4. * PETSC_PI * 0.5)),
              1e-12); /* the empty side has no mass */
  assert_success(RegionsDestroy(&regions));
}

TEST_MAIN(cmocka_unit_test(layers_between_grid_lines_are_exact),
          cmocka_unit_test(dual_cells_hold_the_mass_of_oblique_layers),
          cmocka_unit_test(a_surface_to_nothing_is_where_the_pressure_ends),
          cmocka_unit_test(a_drop_has_the_higher_pressure_inside),
          cmocka_unit_test(tension_limits_the_time_step))
