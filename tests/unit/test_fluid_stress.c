/* The viscous operator of a mixture: symmetric, positive, without effect on what moves rigidly, and without
   any on the whole momentum where nothing holds the fluid. */
#include "fluid_case.h"
#include "scene_run.h"
#include "fluid/stress_impl.h"
#include "harness.h"

static PetscReal rough_density(const void *context, Vector3 point, PetscInt direction)
{
  (void)context;
  return 0.5 + 100. * rough_at(point, direction);
}

/* Over six orders of magnitude. */
static PetscReal rough_viscosity(const void *context, Vector3 point, PetscInt direction)
{
  (void)context;
  return PetscPowReal(10., 6. * rough_at(point, 7 + direction) - 3.);
}

static PetscReal a_sphere(Vector3 point, Vector3 centre, PetscReal radius)
{
  return vector3_norm(vector3_subtract(point, centre)) < radius ? 1. : 0.;
}

static PetscReal an_empty_place(const void *context, Vector3 point, PetscInt direction)
{
  (void)context;
  (void)direction;
  point.at[Z] = 0.3;
  return a_sphere(point, vector3(0.7, 0.7, 0.3), 0.22);
}

/* Two obstacles beside each other, one of which touches the empty place. */
static PetscReal two_obstacles(const void *context, Vector3 point, PetscInt direction)
{
  (void)context;
  (void)direction;
  point.at[Z] = 0.;
  if (a_sphere(point, vector3(0.3, 0.4, 0.), 0.2) > 0.)
    return 1.;
  return point.at[X] > 0.45 && point.at[X] < 0.6 && point.at[Y] > 0.4 && point.at[Y] < 0.6 ? 2. : 0.;
}

static const SideKind places[][DIM][2] = {
    {{SIDE_WALL, SIDE_WALL}, {SIDE_WALL, SIDE_WALL}, {SIDE_WALL, SIDE_WALL}},
    {{SIDE_OPEN, SIDE_SLIP}, {SIDE_INFLOW, SIDE_OPEN}, {SIDE_OPEN, SIDE_OPEN}},
    {{SIDE_PERIODIC, SIDE_PERIODIC}, {SIDE_SLIP, SIDE_WALL}, {SIDE_PERIODIC, SIDE_PERIODIC}},
    {{SIDE_PERIODIC, SIDE_PERIODIC}, {SIDE_PERIODIC, SIDE_PERIODIC}, {SIDE_PERIODIC, SIDE_PERIODIC}}};

static PetscErrorCode PrepareAt(MPI_Comm comm, size_t place, PetscInt dimension, PetscInt resolution,
                                PetscBool solids, FluidCase *fluid_case)
{
  const PetscBool slips[FLUID_CASE_OBSTACLES] = {PETSC_FALSE, PETSC_TRUE};

  PetscFunctionBegin;
  fluid_case_set_defaults(fluid_case, dimension, resolution);
  for (PetscInt d = 0; d < dimension; d++)
    for (PetscInt side = 0; side < 2; side++) {
      fluid_case->config.sides[d][side].kind = places[place][d][side];
      fluid_case->grid_config.periodic[d] = places[place][d][0] == SIDE_PERIODIC;
    }
  fluid_case->functions =
      (FluidCaseFunctions){.density = rough_density, .viscosity = rough_viscosity, .empty = an_empty_place};
  if (!solids)
    fluid_case->functions.empty = NULL;
  PetscCall(FluidCaseCreate(comm, solids ? two_obstacles : NULL, slips, fluid_case));
  PetscCall(FluidSetUpStress(fluid_case->fluid, 1e-2));
  PetscFunctionReturn(0);
}

static PetscErrorCode Prepare(MPI_Comm comm, size_t place, PetscInt dimension, PetscBool solids,
                              FluidCase *fluid_case)
{
  PetscFunctionBegin;
  PetscCall(PrepareAt(comm, place, dimension, 16, solids, fluid_case));
  PetscFunctionReturn(0);
}

/* Values on unknown faces, zero elsewhere. */
static PetscErrorCode SetRough(FluidCase *fluid_case, PetscInt salt, Vec faces[DIM])
{
  const GridBox *box = grid_box(fluid_case->grid);
  PetscReal     *u, *mass;

  PetscFunctionBegin;
  for (PetscInt d = 0; d < box->dimension; d++) {

    const GridRange owned = grid_faces(fluid_case->grid, d);

    PetscCall(VecSet(faces[d], 0.));
    PetscCall(VecGetArray(faces[d], &u));
    PetscCall(VecGetArray(fluid_case->fluid->stress->levels[0].mass[d], &mass));
    FOR_CELLS(&owned, i, j, k) {
      const PetscInt c = box_index(box, i, j, k);

      if (mass[c] > 0.)
        u[c] = rough_at(grid_face_centre(fluid_case->grid, d, i, j, k), salt + d) - 0.5;
    }
    PetscCall(VecRestoreArray(fluid_case->fluid->stress->levels[0].mass[d], &mass));
    PetscCall(VecRestoreArray(faces[d], &u));
  }
  PetscFunctionReturn(0);
}

/* With the ghosts that the linear operator wants. */
static PetscErrorCode SetRoughWithGhosts(FluidCase *fluid_case, PetscInt salt, Vec faces[DIM])
{
  PetscFunctionBegin;
  PetscCall(SetRough(fluid_case, salt, faces));
  for (PetscInt d = 0; d < grid_box(fluid_case->grid)->dimension; d++)
    PetscCall(FluidFillComponentGhosts(fluid_case->fluid, d, faces[d], 0., SIDE_VALUES_ZERO));
  PetscFunctionReturn(0);
}

/* Sum over owned places of a b, over all ranks of the grid. */
static PetscErrorCode Dot(FluidCase *fluid_case, Vec a[DIM], Vec b[DIM], PetscReal *product)
{
  const GridBox *box = grid_box(fluid_case->grid);
  PetscReal     *u, *v;

  PetscFunctionBegin;
  *product = 0.;
  for (PetscInt d = 0; d < box->dimension; d++) {

    const GridRange faces = grid_faces(fluid_case->grid, d);

    PetscCall(VecGetArray(a[d], &u));
    PetscCall(VecGetArray(b[d], &v));
    FOR_CELLS(&faces, i, j, k)
      *product += u[box_index(box, i, j, k)] * v[box_index(box, i, j, k)];
    PetscCall(VecRestoreArray(b[d], &v));
    PetscCall(VecRestoreArray(a[d], &u));
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, product, 1, MPIU_REAL, MPI_SUM, box->comm));
  PetscFunctionReturn(0);
}

enum { FIRST_SECOND, SECOND_FIRST, FIRST_FIRST, MASS, PRODUCTS };

/* <A a, b>, <a, A b>, <A a, a> and <M a, a> for rough a and b. */
static PetscErrorCode GetProducts(FluidCase *fluid_case, PetscReal products[PRODUCTS])
{
  const StressMix whole = {1., 1.}, mass = {1., 0.};
  Vec             a[DIM], b[DIM], image[DIM];

  PetscFunctionBegin;
  PetscCall(MacGridCreateFaceField(fluid_case->grid, a));
  PetscCall(MacGridCreateFaceField(fluid_case->grid, b));
  PetscCall(MacGridCreateFaceField(fluid_case->grid, image));
  PetscCall(SetRoughWithGhosts(fluid_case, 3, a));
  PetscCall(SetRoughWithGhosts(fluid_case, 11, b));
  PetscCall(FluidApplyStress(fluid_case->fluid, &whole, a, image));
  PetscCall(Dot(fluid_case, image, b, &products[FIRST_SECOND]));
  PetscCall(Dot(fluid_case, image, a, &products[FIRST_FIRST]));
  PetscCall(FluidApplyStress(fluid_case->fluid, &whole, b, image));
  PetscCall(Dot(fluid_case, image, a, &products[SECOND_FIRST]));
  PetscCall(FluidApplyStress(fluid_case->fluid, &mass, a, image));
  PetscCall(Dot(fluid_case, image, a, &products[MASS]));
  PetscCall(MacGridDestroyFaceField(a));
  PetscCall(MacGridDestroyFaceField(b));
  PetscCall(MacGridDestroyFaceField(image));
  PetscFunctionReturn(0);
}

static void operator_is_symmetric_and_positive(void **state)
{
  (void)state;
  for (size_t place = 0; place < PETSC_STATIC_ARRAY_LENGTH(places); place++)
    for (PetscInt dimension = 2; dimension <= 3; dimension++) {
      PetscReal products[PRODUCTS], alone[PRODUCTS];
      FluidCase fluid_case;

      assert_success(Prepare(PETSC_COMM_WORLD, place, dimension, PETSC_TRUE, &fluid_case));
      assert_success(GetProducts(&fluid_case, products));
      assert_success(FluidCaseDestroy(&fluid_case));
      assert_near(products[FIRST_SECOND] / products[FIRST_FIRST],
                  products[SECOND_FIRST] / products[FIRST_FIRST], 1e-13);
      assert_on_all_ranks(products[MASS] > 0. && products[FIRST_FIRST] > 2. * products[MASS]);
      assert_success(Prepare(PETSC_COMM_SELF, place, dimension, PETSC_TRUE, &fluid_case));
      assert_success(GetProducts(&fluid_case, alone));
      assert_success(FluidCaseDestroy(&fluid_case));
      for (PetscInt n = 0; n < PRODUCTS; n++)
        assert_near(products[n] / alone[n], 1., 1e-11);
    }
}

/* <M a, b> for the V-cycle M. */
static PetscErrorCode MeetThroughCycle(FluidCase *fluid_case, PetscInt from, PetscInt with,
                                       PetscReal *product)
{
  StressLevel *level = &fluid_case->fluid->stress->levels[0];
  Vec          b[DIM];

  PetscFunctionBegin;
  PetscCall(MacGridCreateFaceField(fluid_case->grid, b));
  PetscCall(SetRough(fluid_case, from, level->residual));
  PetscCall(SetRough(fluid_case, with, b));
  PetscCall(FluidCycleStress(fluid_case->fluid));
  PetscCall(Dot(fluid_case, level->solution, b, product));
  PetscCall(MacGridDestroyFaceField(b));
  PetscFunctionReturn(0);
}

static void cycle_is_symmetric_and_positive(void **state)
{
  (void)state;
  for (size_t place = 0; place < PETSC_STATIC_ARRAY_LENGTH(places); place++)
    for (PetscInt dimension = 2; dimension <= 3; dimension++) {
      PetscReal left, right, own;
      FluidCase fluid_case;

      assert_success(Prepare(PETSC_COMM_WORLD, place, dimension, PETSC_TRUE, &fluid_case));
      assert_success(FluidCloseStress(fluid_case.fluid));
      assert_success(FluidSetUpStressLevels(fluid_case.fluid));
      assert_success(MeetThroughCycle(&fluid_case, 3, 11, &left));
      assert_success(MeetThroughCycle(&fluid_case, 11, 3, &right));
      assert_success(MeetThroughCycle(&fluid_case, 3, 3, &own));
      assert_success(FluidCaseDestroy(&fluid_case));
      assert_on_all_ranks(own > 0. && PetscAbsReal(left) > 1e-6 * own);
      assert_near(left / own, right / own, 1e-12);
    }
}

/* One V-cycle from a rough residual. */
static PetscErrorCode CycleAt(MPI_Comm comm, size_t place, PetscInt dimension, PetscInt resolution,
                              FluidCase *fluid_case)
{
  PetscFunctionBegin;
  PetscCall(PrepareAt(comm, place, dimension, resolution, PETSC_TRUE, fluid_case));
  PetscCall(FluidCloseStress(fluid_case->fluid));
  PetscCall(FluidSetUpStressLevels(fluid_case->fluid));
  PetscCall(SetRough(fluid_case, 3, fluid_case->fluid->stress->levels[0].residual));
  PetscCall(FluidCycleStress(fluid_case->fluid));
  PetscFunctionReturn(0);
}

/* How many of the faces of this rank differ in any bit. */
static PetscErrorCode CountDifferent(FluidCase *shared, FluidCase *alone, PetscInt *count)
{
  const GridBox *box = grid_box(shared->grid), *whole = grid_box(alone->grid);

  PetscFunctionBegin;
  *count = 0;
  for (PetscInt d = 0; d < box->dimension; d++) {
    const GridRange  faces = grid_faces(shared->grid, d);
    const PetscReal *a, *b;

    PetscCall(VecGetArrayRead(shared->fluid->stress->levels[0].solution[d], &a));
    PetscCall(VecGetArrayRead(alone->fluid->stress->levels[0].solution[d], &b));
    FOR_CELLS(&faces, i, j, k)
      *count += a[box_index(box, i, j, k)] != b[box_index(whole, i, j, k)];
    PetscCall(VecRestoreArrayRead(alone->fluid->stress->levels[0].solution[d], &b));
    PetscCall(VecRestoreArrayRead(shared->fluid->stress->levels[0].solution[d], &a));
  }
  PetscFunctionReturn(0);
}

/* Also on levels that the ranks cannot share: with parts of 5, 7 and 10 cells and of less than 4. */
static void cycle_has_the_same_bits_on_all_ranks(void **state)
{
  (void)state;
  for (size_t place = 0; place < PETSC_STATIC_ARRAY_LENGTH(places); place++)
    for (PetscInt dimension = 2; dimension <= 3; dimension++)
      for (PetscInt resolution = 16; resolution <= 20; resolution += 4) {
        PetscInt  different;
        FluidCase shared, alone;

        assert_success(CycleAt(PETSC_COMM_WORLD, place, dimension, resolution, &shared));
        assert_success(CycleAt(PETSC_COMM_SELF, place, dimension, resolution, &alone));
        assert_success(CountDifferent(&shared, &alone, &different));
        assert_on_all_ranks(different == 0);
        assert_success(FluidCaseDestroy(&alone));
        assert_success(FluidCaseDestroy(&shared));
      }
}

static PetscReal a_thick_ball(const void *context, Vector3 point, PetscInt direction)
{
  (void)direction;
  point.at[Z] = 0.;
  return *(const PetscReal *)context * (a_sphere(point, vector3(0.5, 0.4, 0.), 0.25) > 0. ? 1. : 1e-3);
}

/* A viscosity ratio of 1000 and steps of 10^4 h^2: iterations do not grow with the grid. */
static void much_viscosity_takes_few_iterations(void **state)
{
  (void)state;
  for (PetscInt resolution = 32; resolution <= 128; resolution *= 2) {
    PetscReal viscosity = 1.;
    FluidCase fluid_case;

    fluid_case_set_defaults(&fluid_case, 2, resolution);
    fluid_case.config.viscosity_tolerance = 1e-6;
    fluid_case.functions = (FluidCaseFunctions){.context = &viscosity, .viscosity = a_thick_ball};
    assert_success(
        FluidCaseFormula("sin(7*x)*cos(5*y) + 0.3*sin(61*x*y)", &fluid_case.config.initial_velocity[X]));
    assert_success(
        FluidCaseFormula("cos(3*x + 4*y) + 0.3*cos(77*x + 33*y*y)", &fluid_case.config.initial_velocity[Y]));
    assert_success(FluidCaseStart(PETSC_COMM_WORLD, NULL, NULL, &fluid_case));
    assert_success(FluidPredict(fluid_case.fluid, 1e4 / PetscSqr((PetscReal)resolution)));
    note("%d cells: %d iterations", (int)resolution,
         (int)fluid_report(fluid_case.fluid)->viscosity_iterations);
    assert_on_all_ranks(fluid_report(fluid_case.fluid)->diffusion_converged);
    assert_on_all_ranks(fluid_report(fluid_case.fluid)->viscosity_iterations <= 40);
    assert_success(FluidCaseDestroy(&fluid_case));
  }
}

/* In a periodic box of any material. */
static void stress_keeps_momentum(void **state)
{
  (void)state;
  for (PetscInt dimension = 2; dimension <= 3; dimension++)
    for (PetscInt d = 0; d < dimension; d++) {
      const StressMix stress = {0., 1.};
      PetscReal       sum, size;
      Vec             a[DIM], one[DIM], image[DIM];
      FluidCase       fluid_case;

      assert_success(Prepare(PETSC_COMM_WORLD, 3, dimension, PETSC_FALSE, &fluid_case));
      assert_success(MacGridCreateFaceField(fluid_case.grid, a));
      assert_success(MacGridCreateFaceField(fluid_case.grid, one));
      assert_success(MacGridCreateFaceField(fluid_case.grid, image));
      assert_success(SetRoughWithGhosts(&fluid_case, 3, a));
      assert_success(VecSet(one[d], 1.));
      assert_success(FluidApplyStress(fluid_case.fluid, &stress, a, image));
      assert_success(Dot(&fluid_case, image, one, &sum));
      assert_success(Dot(&fluid_case, image, image, &size));
      assert_on_all_ranks(size > 1.);
      assert_near(sum / PetscSqrtReal(size), 0., 1e-13);
      assert_success(MacGridDestroyFaceField(a));
      assert_success(MacGridDestroyFaceField(one));
      assert_success(MacGridDestroyFaceField(image));
      assert_success(FluidCaseDestroy(&fluid_case));
    }
}

/* Away from the sides, which do not turn. */
static PetscErrorCode LargestInside(FluidCase *fluid_case, Vec faces[DIM], PetscReal *largest)
{
  const GridBox *box = grid_box(fluid_case->grid);
  PetscReal     *values;

  PetscFunctionBegin;
  *largest = 0.;
  for (PetscInt d = 0; d < box->dimension; d++) {
    PetscCall(VecGetArray(faces[d], &values));
    FOR_CELLS(box, i, j, k) {
      const PetscInt at[DIM] = {i, j, k};
      PetscBool      inside = PETSC_TRUE;

      for (PetscInt a = 0; a < box->dimension; a++)
        if (at[a] < 2 || at[a] > box->cells[a] - 2)
          inside = PETSC_FALSE;
      if (inside)
        *largest = PetscMax(*largest, PetscAbsReal(values[box_index(box, i, j, k)]));
    }
    PetscCall(VecRestoreArray(faces[d], &values));
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, largest, 1, MPIU_REAL, MPI_MAX, box->comm));
  PetscFunctionReturn(0);
}

/* u = spin x r, and for the second measure the same with a sign turned, which is shear. */
static void rigid_rotation_feels_no_stress(void **state)
{
  const char *const turns[2][DIM] = {{"0.4*z - 0.7*y", "0.7*x - 0.2*z", "0.2*y - 0.4*x"},
                                     {"0.4*z - 0.7*y", "0.7*x - 0.2*z", "0.2*y + 0.4*x"}};
  const StressMix   stress = {0., 1.};

  (void)state;
  for (PetscInt which = 0; which < 2; which++) {
    PetscReal largest;
    Vec       turning[DIM], image[DIM];
    FluidCase fluid_case;

    assert_success(Prepare(PETSC_COMM_WORLD, 0, 3, PETSC_FALSE, &fluid_case));
    assert_success(MacGridCreateFaceField(fluid_case.grid, turning));
    assert_success(MacGridCreateFaceField(fluid_case.grid, image));
    for (PetscInt d = 0; d < DIM; d++) {
      const GridBox *box = grid_box(fluid_case.grid);
      Formula        formula;
      PetscReal     *u;

      assert_success(FluidCaseFormula(turns[which][d], &formula));
      assert_success(VecGetArray(turning[d], &u));
      FOR_CELLS(box, i, j, k)
        u[box_index(box, i, j, k)] =
            formula_value(formula, grid_face_centre(fluid_case.grid, d, i, j, k), 0.);
      assert_success(VecRestoreArray(turning[d], &u));
      assert_success(FormulaDestroy(&formula));
    }
    assert_success(MacGridExchangeFaces(fluid_case.grid, turning));
    assert_success(FluidApplyStress(fluid_case.fluid, &stress, turning, image));
    assert_success(LargestInside(&fluid_case, image, &largest));
    if (which == 0)
      assert_near(largest, 0., 1e-10);
    else
      assert_on_all_ranks(largest > 1.);
    assert_success(MacGridDestroyFaceField(turning));
    assert_success(MacGridDestroyFaceField(image));
    assert_success(FluidCaseDestroy(&fluid_case));
  }
}

TEST_MAIN(cmocka_unit_test(operator_is_symmetric_and_positive),
          cmocka_unit_test(cycle_is_symmetric_and_positive),
          cmocka_unit_test(cycle_has_the_same_bits_on_all_ranks),
          cmocka_unit_test(much_viscosity_takes_few_iterations), cmocka_unit_test(stress_keeps_momentum),
          cmocka_unit_test(rigid_rotation_feels_no_stress))
