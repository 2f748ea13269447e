/* The viscous operator of a mixture: symmetric, positive, without effect on what moves rigidly, and without
   any on the whole momentum where nothing holds the fluid. */
#include "blend.h"
#include "flow.h"
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

static PetscReal a_sphere(Vector3 point, Vector3 center, PetscReal radius)
{
  return vector3_norm(vector3_subtract(point, center)) < radius ? 1. : 0.;
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

static PetscErrorCode Prepare(MPI_Comm comm, size_t place, PetscInt dimension, PetscBool solids, Blend *blend)
{
  const PetscBool slips[BLEND_OBSTACLES] = {PETSC_FALSE, PETSC_TRUE};

  PetscFunctionBegin;
  blend_set_defaults(blend, dimension, 16);
  for (PetscInt d = 0; d < dimension; d++)
    for (PetscInt side = 0; side < 2; side++) {
      blend->config.sides[d][side].kind = places[place][d][side];
      blend->grid_config.periodic[d] = places[place][d][0] == SIDE_PERIODIC;
    }
  blend->functions =
      (BlendFunctions){.density = rough_density, .viscosity = rough_viscosity, .empty = an_empty_place};
  if (!solids)
    blend->functions.empty = NULL;
  PetscCall(BlendCreate(comm, solids ? two_obstacles : NULL, slips, blend));
  PetscCall(FluidSetUpStress(blend->fluid, 1e-2));
  PetscFunctionReturn(0);
}

/* Values on unknown faces, zero elsewhere. */
static PetscErrorCode SetRough(Blend *blend, PetscInt salt, Vec faces[DIM])
{
  const GridBox *box = grid_box(blend->grid);
  PetscReal     *u, *mass;

  PetscFunctionBegin;
  for (PetscInt d = 0; d < box->dimension; d++) {
    PetscInt end[DIM];

    grid_face_end(blend->grid, d, end);
    PetscCall(VecSet(faces[d], 0.));
    PetscCall(VecGetArray(faces[d], &u));
    PetscCall(VecGetArray(blend->fluid->stress->levels[0].mass[d], &mass));
    for (PetscInt k = box->start[Z]; k < end[Z]; k++)
      for (PetscInt j = box->start[Y]; j < end[Y]; j++)
        for (PetscInt i = box->start[X]; i < end[X]; i++) {
          const PetscInt c = box_index(box, i, j, k);

          if (mass[c] > 0.)
            u[c] = rough_at(grid_face_center(blend->grid, d, i, j, k), salt + d) - 0.5;
        }
    PetscCall(VecRestoreArray(blend->fluid->stress->levels[0].mass[d], &mass));
    PetscCall(VecRestoreArray(faces[d], &u));
  }
  PetscFunctionReturn(0);
}

/* With the ghosts that the linear operator wants. */
static PetscErrorCode SetRoughWithGhosts(Blend *blend, PetscInt salt, Vec faces[DIM])
{
  PetscFunctionBegin;
  PetscCall(SetRough(blend, salt, faces));
  for (PetscInt d = 0; d < grid_box(blend->grid)->dimension; d++)
    PetscCall(FluidFillComponentGhosts(blend->fluid, d, faces[d], 0., SIDE_VALUES_ZERO));
  PetscFunctionReturn(0);
}

/* Sum over owned places of a b, over all ranks of the grid. */
static PetscErrorCode Dot(Blend *blend, Vec a[DIM], Vec b[DIM], PetscReal *product)
{
  const GridBox *box = grid_box(blend->grid);
  PetscReal     *u, *v;

  PetscFunctionBegin;
  *product = 0.;
  for (PetscInt d = 0; d < box->dimension; d++) {
    PetscInt end[DIM];

    grid_face_end(blend->grid, d, end);
    PetscCall(VecGetArray(a[d], &u));
    PetscCall(VecGetArray(b[d], &v));
    for (PetscInt k = box->start[Z]; k < end[Z]; k++)
      for (PetscInt j = box->start[Y]; j < end[Y]; j++)
        for (PetscInt i = box->start[X]; i < end[X]; i++)
          *product += u[box_index(box, i, j, k)] * v[box_index(box, i, j, k)];
    PetscCall(VecRestoreArray(b[d], &v));
    PetscCall(VecRestoreArray(a[d], &u));
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, product, 1, MPIU_REAL, MPI_SUM, box->comm));
  PetscFunctionReturn(0);
}

enum { FIRST_SECOND, SECOND_FIRST, FIRST_FIRST, MASS, PRODUCTS };

/* <A a, b>, <a, A b>, <A a, a> and <M a, a> for rough a and b. */
static PetscErrorCode GetProducts(Blend *blend, PetscReal products[PRODUCTS])
{
  const StressMix whole = {1., 1.}, mass = {1., 0.};
  Vec             a[DIM], b[DIM], image[DIM];

  PetscFunctionBegin;
  PetscCall(MacGridCreateFaceField(blend->grid, a));
  PetscCall(MacGridCreateFaceField(blend->grid, b));
  PetscCall(MacGridCreateFaceField(blend->grid, image));
  PetscCall(SetRoughWithGhosts(blend, 3, a));
  PetscCall(SetRoughWithGhosts(blend, 11, b));
  PetscCall(FluidApplyStress(blend->fluid, &whole, a, image));
  PetscCall(Dot(blend, image, b, &products[FIRST_SECOND]));
  PetscCall(Dot(blend, image, a, &products[FIRST_FIRST]));
  PetscCall(FluidApplyStress(blend->fluid, &whole, b, image));
  PetscCall(Dot(blend, image, a, &products[SECOND_FIRST]));
  PetscCall(FluidApplyStress(blend->fluid, &mass, a, image));
  PetscCall(Dot(blend, image, a, &products[MASS]));
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
      Blend     blend;

      assert_success(Prepare(PETSC_COMM_WORLD, place, dimension, PETSC_TRUE, &blend));
      assert_success(GetProducts(&blend, products));
      assert_success(BlendDestroy(&blend));
      assert_near(products[FIRST_SECOND] / products[FIRST_FIRST],
                  products[SECOND_FIRST] / products[FIRST_FIRST], 1e-13);
      assert_on_all_ranks(products[MASS] > 0. && products[FIRST_FIRST] > 2. * products[MASS]);
      assert_success(Prepare(PETSC_COMM_SELF, place, dimension, PETSC_TRUE, &blend));
      assert_success(GetProducts(&blend, alone));
      assert_success(BlendDestroy(&blend));
      for (PetscInt n = 0; n < PRODUCTS; n++)
        assert_near(products[n] / alone[n], 1., 1e-11);
    }
}

/* <M a, b> for the V-cycle M. */
static PetscErrorCode MeetThroughCycle(Blend *blend, PetscInt from, PetscInt with, PetscReal *product)
{
  StressLevel *level = &blend->fluid->stress->levels[0];
  Vec          b[DIM];

  PetscFunctionBegin;
  PetscCall(MacGridCreateFaceField(blend->grid, b));
  PetscCall(SetRough(blend, from, level->residual));
  PetscCall(SetRough(blend, with, b));
  PetscCall(FluidCycleStress(blend->fluid));
  PetscCall(Dot(blend, level->solution, b, product));
  PetscCall(MacGridDestroyFaceField(b));
  PetscFunctionReturn(0);
}

static void cycle_is_symmetric_and_positive(void **state)
{
  (void)state;
  for (size_t place = 0; place < PETSC_STATIC_ARRAY_LENGTH(places); place++)
    for (PetscInt dimension = 2; dimension <= 3; dimension++) {
      PetscReal left, right, own;
      Blend     blend;

      assert_success(Prepare(PETSC_COMM_WORLD, place, dimension, PETSC_TRUE, &blend));
      assert_success(FluidCloseStress(blend.fluid));
      assert_success(FluidSetUpStressLevels(blend.fluid));
      assert_success(MeetThroughCycle(&blend, 3, 11, &left));
      assert_success(MeetThroughCycle(&blend, 11, 3, &right));
      assert_success(MeetThroughCycle(&blend, 3, 3, &own));
      assert_success(BlendDestroy(&blend));
      assert_on_all_ranks(own > 0. && PetscAbsReal(left) > 1e-6 * own);
      assert_near(left / own, right / own, 1e-12);
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
    Blend     blend;

    blend_set_defaults(&blend, 2, resolution);
    blend.config.viscosity_tolerance = 1e-6;
    blend.functions = (BlendFunctions){.context = &viscosity, .viscosity = a_thick_ball};
    assert_success(BlendFormula("sin(7*x)*cos(5*y) + 0.3*sin(61*x*y)", &blend.config.initial_velocity[X]));
    assert_success(
        BlendFormula("cos(3*x + 4*y) + 0.3*cos(77*x + 33*y*y)", &blend.config.initial_velocity[Y]));
    assert_success(BlendStart(PETSC_COMM_WORLD, NULL, NULL, &blend));
    assert_success(FluidPredict(blend.fluid, 1e4 / PetscSqr((PetscReal)resolution)));
    note("%d cells: %d iterations", (int)resolution, (int)fluid_report(blend.fluid)->viscosity_iterations);
    assert_on_all_ranks(fluid_report(blend.fluid)->diffusion_converged);
    assert_on_all_ranks(fluid_report(blend.fluid)->viscosity_iterations <= 40);
    assert_success(BlendDestroy(&blend));
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
      Blend           blend;

      assert_success(Prepare(PETSC_COMM_WORLD, 3, dimension, PETSC_FALSE, &blend));
      assert_success(MacGridCreateFaceField(blend.grid, a));
      assert_success(MacGridCreateFaceField(blend.grid, one));
      assert_success(MacGridCreateFaceField(blend.grid, image));
      assert_success(SetRoughWithGhosts(&blend, 3, a));
      assert_success(VecSet(one[d], 1.));
      assert_success(FluidApplyStress(blend.fluid, &stress, a, image));
      assert_success(Dot(&blend, image, one, &sum));
      assert_success(Dot(&blend, image, image, &size));
      assert_on_all_ranks(size > 1.);
      assert_near(sum / PetscSqrtReal(size), 0., 1e-13);
      assert_success(MacGridDestroyFaceField(a));
      assert_success(MacGridDestroyFaceField(one));
      assert_success(MacGridDestroyFaceField(image));
      assert_success(BlendDestroy(&blend));
    }
}

/* Away from the sides, which do not turn. */
static PetscErrorCode LargestInside(Blend *blend, Vec faces[DIM], PetscReal *largest)
{
  const GridBox *box = grid_box(blend->grid);
  PetscReal     *values;

  PetscFunctionBegin;
  *largest = 0.;
  for (PetscInt d = 0; d < box->dimension; d++) {
    PetscCall(VecGetArray(faces[d], &values));
    for (PetscInt k = box->start[Z]; k < box->end[Z]; k++)
      for (PetscInt j = box->start[Y]; j < box->end[Y]; j++)
        for (PetscInt i = box->start[X]; i < box->end[X]; i++) {
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
    Blend     blend;

    assert_success(Prepare(PETSC_COMM_WORLD, 0, 3, PETSC_FALSE, &blend));
    assert_success(MacGridCreateFaceField(blend.grid, turning));
    assert_success(MacGridCreateFaceField(blend.grid, image));
    for (PetscInt d = 0; d < DIM; d++) {
      const GridBox *box = grid_box(blend.grid);
      Formula        formula;
      PetscReal     *u;

      assert_success(BlendFormula(turns[which][d], &formula));
      assert_success(VecGetArray(turning[d], &u));
      for (PetscInt k = box->start[Z]; k < box->end[Z]; k++)
        for (PetscInt j = box->start[Y]; j < box->end[Y]; j++)
          for (PetscInt i = box->start[X]; i < box->end[X]; i++)
            u[box_index(box, i, j, k)] = formula_value(formula, grid_face_center(blend.grid, d, i, j, k), 0.);
      assert_success(VecRestoreArray(turning[d], &u));
      assert_success(FormulaDestroy(&formula));
    }
    assert_success(MacGridExchangeFaces(blend.grid, turning));
    assert_success(FluidApplyStress(blend.fluid, &stress, turning, image));
    assert_success(LargestInside(&blend, image, &largest));
    if (which == 0)
      assert_near(largest, 0., 1e-10);
    else
      assert_on_all_ranks(largest > 1.);
    assert_success(MacGridDestroyFaceField(turning));
    assert_success(MacGridDestroyFaceField(image));
    assert_success(BlendDestroy(&blend));
  }
}

TEST_MAIN(cmocka_unit_test(operator_is_symmetric_and_positive),
          cmocka_unit_test(cycle_is_symmetric_and_positive),
          cmocka_unit_test(much_viscosity_takes_few_iterations), cmocka_unit_test(stress_keeps_momentum),
          cmocka_unit_test(rigid_rotation_feels_no_stress))
