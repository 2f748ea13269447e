/* The parts of a fluid's step, each by itself: what lies beyond the sides, trajectories, diffusion, forces.
 */
#include "fluid/fluid_impl.h"
#include "fluid_case.h"
#include "harness.h"
#include "scene_run.h"

typedef PetscReal (*PlaceFunction)(Vector3 place);

/* A fluid of one material in a unit square or cube; the sides are walls at rest until told otherwise. */
typedef struct {
  GridConfig   grid_config;
  FluidConfig  config;
  ScalarConfig scalar;
  MacGrid      grid;
  Fluid        fluid;
  Vec          work;
} Part;

static Part part_of(PetscInt dimension, PetscInt cells)
{
  FluidCase defaults;

  fluid_case_set_defaults(&defaults, dimension, cells);
  return (Part){.grid_config = defaults.grid_config, .config = defaults.config};
}

static void make_periodic(Part *part)
{
  for (PetscInt d = 0; d < part->grid_config.dimension; d++) {
    part->grid_config.periodic[d] = PETSC_TRUE;
    part->config.sides[d][0].kind = part->config.sides[d][1].kind = SIDE_PERIODIC;
  }
}

static void start(Part *part)
{
  assert_success(MacGridCreate(PETSC_COMM_WORLD, &part->grid_config, &part->grid));
  assert_success(FluidCreate(part->grid, &part->config, &part->fluid));
  assert_success(MacGridCreateField(part->grid, &part->work));
}

static void finish(Part *part)
{
  assert_success(VecDestroy(&part->work));
  assert_success(FluidDestroy(&part->fluid));
  assert_success(MacGridDestroy(&part->grid));
}

/* Unknown faces of direction d, `margin` cells away from the sides of the box. */
static GridRange faces_inside(Part *part, PetscInt d, PetscInt margin)
{
  const GridBox *box = grid_box(part->grid);
  GridRange      range = free_faces(part->fluid, d);

  for (PetscInt a = 0; a < box->dimension; a++) {
    range.start[a] = PetscMax(range.start[a], margin);
    range.end[a] = PetscMin(range.end[a], box->cells[a] - margin);
  }
  return range;
}

static void fill(Part *part, PetscInt d, PlaceFunction value, Vec faces)
{
  const GridBox  *box = grid_box(part->grid);
  const GridRange range = faces_inside(part, d, 0);
  PetscReal      *u;

  PetscCallAbort(PETSC_COMM_SELF, VecSet(faces, 0.));
  PetscCallAbort(PETSC_COMM_SELF, VecGetArray(faces, &u));
  FOR_CELLS(&range, i, j, k)
    u[box_index(box, i, j, k)] = value(grid_face_centre(part->grid, d, i, j, k));
  PetscCallAbort(PETSC_COMM_SELF, VecRestoreArray(faces, &u));
}

/* The difference from a function over the ranks. */
static FieldDifference difference_of(Part *part, PetscInt d, PetscInt margin, PlaceFunction exact, Vec faces)
{
  const GridBox   *box = grid_box(part->grid);
  const GridRange  range = faces_inside(part, d, margin);
  const PetscReal *u;
  PetscReal        largest = 0., sums[2] = {0., 0.};

  PetscCallAbort(PETSC_COMM_SELF, VecGetArrayRead(faces, &u));
  FOR_CELLS(&range, i, j, k) {
    const PetscReal error = u[box_index(box, i, j, k)] - exact(grid_face_centre(part->grid, d, i, j, k));

    largest = PetscMax(largest, PetscAbsReal(error));
    sums[0] += error * error;
    sums[1] += 1.;
  }
  PetscCallAbort(PETSC_COMM_SELF, VecRestoreArrayRead(faces, &u));
  (void)MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD);
  (void)MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPIU_REAL, MPI_SUM, PETSC_COMM_WORLD);
  return (FieldDifference){PetscSqrtReal(sums[0] / sums[1]), largest};
}

static PetscReal error_of(Part *part, PetscInt d, PetscInt margin, PlaceFunction exact, Vec faces)
{
  return difference_of(part, d, margin, exact, faces).largest;
}

/* Sides: the largest difference of the ghosts below y = 0 from a function, for a component along x. */
static PetscReal error_below(Part *part, PlaceFunction exact, Vec faces)
{
  const GridBox   *box = grid_box(part->grid);
  const GridRange  range = faces_inside(part, X, 1);
  const PetscReal *u;
  PetscReal        largest = 0.;

  PetscCallAbort(PETSC_COMM_SELF, VecGetArrayRead(faces, &u));
  for (PetscInt j = -GHOST_WIDTH; j < 0 && box->start[Y] == 0; j++)
    for (PetscInt i = range.start[X]; i < range.end[X]; i++)
      largest = PetscMax(largest, PetscAbsReal(u[box_index(box, i, j, 0)] -
                                               exact(grid_face_centre(part->grid, X, i, j, 0))));
  PetscCallAbort(PETSC_COMM_SELF, VecRestoreArrayRead(faces, &u));
  (void)MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD);
  return largest;
}

static PetscReal shear_past_a_wall(Vector3 place)
{
  return 0.5 + 3. * place.at[Y];
}

static PetscReal even_in_y(Vector3 place)
{
  return 1. + place.at[X] - 2. * place.at[Y] * place.at[Y];
}

static void a_linear_shear_goes_on_beyond_a_moving_wall(void **state)
{
  Part part = part_of(2, 12);

  (void)state;
  assert_success(FluidCaseFormula("0.5", &part.config.sides[Y][0].velocity[X]));
  start(&part);
  fill(&part, X, shear_past_a_wall, part.work);
  assert_success(FluidFillComponentGhosts(part.fluid, X, part.work, 0., SIDE_VALUES_GIVEN));
  assert_near(error_below(&part, shear_past_a_wall, part.work), 0., 1e-14);
  finish(&part);
  assert_success(FormulaDestroy(&part.config.sides[Y][0].velocity[X]));
}

static void a_side_that_slips_mirrors(void **state)
{
  Part part = part_of(2, 12);

  (void)state;
  part.config.sides[Y][0].kind = SIDE_SLIP;
  start(&part);
  fill(&part, X, even_in_y, part.work);
  assert_success(FluidFillComponentGhosts(part.fluid, X, part.work, 0., SIDE_VALUES_GIVEN));
  assert_near(error_below(&part, even_in_y, part.work), 0., 1e-14);
  finish(&part);
}

/* Diffusion. */
static PetscReal quadratic(Vector3 place)
{
  return place.at[X] * place.at[X] + 3. * place.at[Y] * place.at[Y] - 2. * place.at[Z] * place.at[Z] +
         place.at[X] * place.at[Y];
}

static PetscReal quadratic_diffused(Vector3 place)
{
  return quadratic(place) + 0.01 * (2. + 6. - 4.);
}

static void the_laplacian_is_exact_for_a_quadratic(void **state)
{
  Part part = part_of(3, 8);
  Vec  to;

  (void)state;
  start(&part);
  assert_success(VecDuplicate(part.work, &to));
  for (PetscInt d = 0; d < DIM; d++) {
    const AdvectedField carried = {.direction = d};

    fill(&part, d, quadratic, part.work);
    assert_success(FluidFillComponentGhosts(part.fluid, d, part.work, 0., SIDE_VALUES_GIVEN));
    assert_success(FluidDiffuseExplicitly(part.fluid, &carried, 0.01, part.work, to));
    assert_near(error_of(&part, d, 2, quadratic_diffused, to), 0., 1e-13);
  }
  assert_success(VecDestroy(&to));
  finish(&part);
}

static PetscReal rough(Vector3 place)
{
  return rough_at(place, 1) - 0.5;
}

static PetscReal rough_too(Vector3 place)
{
  return rough_at(place, 5) - 0.5;
}

static PetscReal dot(Part *part, PetscInt d, Vec a, Vec b)
{
  const GridBox   *box = grid_box(part->grid);
  const GridRange  range = faces_inside(part, d, 0);
  const PetscReal *u, *v;
  PetscReal        sum = 0.;

  PetscCallAbort(PETSC_COMM_SELF, VecGetArrayRead(a, &u));
  PetscCallAbort(PETSC_COMM_SELF, VecGetArrayRead(b, &v));
  FOR_CELLS(&range, i, j, k)
    sum += u[box_index(box, i, j, k)] * v[box_index(box, i, j, k)];
  PetscCallAbort(PETSC_COMM_SELF, VecRestoreArrayRead(b, &v));
  PetscCallAbort(PETSC_COMM_SELF, VecRestoreArrayRead(a, &u));
  (void)MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPIU_REAL, MPI_SUM, PETSC_COMM_WORLD);
  return sum;
}

/* S = (1 - amount L)^-1 between walls at rest: <S a, b> = <a, S b>, and (1 - amount L) S a = a. */
static void implicit_diffusion_is_symmetric_and_solves(void **state)
{
  const PetscReal     amount = 0.02;
  const AdvectedField carried = {.direction = Y};
  Part                part = part_of(3, 9);
  PetscInt            iterations;
  Vec                 a, b, solved_a, solved_b;

  (void)state;
  start(&part);
  assert_success(VecDuplicate(part.work, &a));
  assert_success(VecDuplicate(part.work, &b));
  assert_success(VecDuplicate(part.work, &solved_a));
  assert_success(VecDuplicate(part.work, &solved_b));
  fill(&part, Y, rough, a);
  fill(&part, Y, rough_too, b);
  fill(&part, Y, rough, solved_a);
  fill(&part, Y, rough_too, solved_b);
  assert_success(FluidDiffuse(part.fluid, &carried, amount, 0., solved_a, &iterations));
  assert_success(FluidDiffuse(part.fluid, &carried, amount, 0., solved_b, &iterations));
  assert_on_all_ranks(iterations > 2);
  assert_near(dot(&part, Y, solved_a, b), dot(&part, Y, a, solved_b), 1e-10);
  assert_on_all_ranks(dot(&part, Y, solved_a, a) > 0.);
  assert_success(FluidFillComponentGhosts(part.fluid, Y, solved_a, 0., SIDE_VALUES_GIVEN));
  assert_success(FluidDiffuseExplicitly(part.fluid, &carried, -amount, solved_a, part.work));
  assert_near(error_of(&part, Y, 0, rough, part.work), 0., 1e-10);
  assert_success(VecDestroy(&solved_b));
  assert_success(VecDestroy(&solved_a));
  assert_success(VecDestroy(&b));
  assert_success(VecDestroy(&a));
  finish(&part);
}

/* Advection by a uniform flow through a periodic box. */
static const Vector3 stream = {{1., -1., 0.5}};
static Vector3       carried_by; /* the step whose result is asked for */

static PetscReal waves(Vector3 place)
{
  return PetscSinReal(2. * PETSC_PI * place.at[X]) * PetscCosReal(2. * PETSC_PI * place.at[Y]) +
         PetscSinReal(2. * PETSC_PI * place.at[Z]);
}

static PetscReal waves_carried(Vector3 place)
{
  return waves(vector3_subtract(place, carried_by));
}

/* The error of one step in which the flow goes `cells` cells along x. */
static FieldDifference advection_error(AdvectionScheme scheme, PetscInt dimension, PetscInt resolution,
                                       PetscReal cells)
{
  const PetscInt  d = Y;
  Part            part = part_of(dimension, resolution);
  const PetscReal dt = cells / (stream.at[X] * resolution);
  FieldDifference error;

  part.config.advection = scheme;
  make_periodic(&part);
  start(&part);
  carried_by = vector3(0., 0., 0.);
  for (PetscInt a = 0; a < dimension; a++) {
    carried_by.at[a] = dt * stream.at[a];
    assert_success(VecSet(part.fluid->earlier[a], stream.at[a]));
  }
  fill(&part, d, waves, part.fluid->next[d]);
  assert_success(FluidTraceTrajectories(part.fluid, dt, NULL));
  assert_success(FluidAdvect(part.fluid, &(AdvectedField){.direction = d, .dt = dt}, &part.fluid->next[d]));
  error = difference_of(&part, d, 0, waves_carried, part.fluid->next[d]);
  finish(&part);
  return error;
}

/* One along x, one back along y. */
static void a_flow_by_whole_cells_carries_exactly(void **state)
{
  (void)state;
  assert_near(advection_error(ADVECT_SEMI_LAGRANGIAN, 2, 16, 1.).largest, 0., 1e-13);
  assert_near(advection_error(ADVECT_MACCORMACK, 2, 16, 1.).largest, 0., 1e-13);
}

/* In the mean square: at extrema MacCormack is limited to the lower scheme. */
static void one_step_of_advection_has_its_order(void **state)
{
  static const struct {
    AdvectionScheme scheme;
    PetscReal       least;
  } schemes[] = {
      {ADVECT_SEMI_LAGRANGIAN, 1.8}, {ADVECT_MACCORMACK, 2.7}, {ADVECT_WENO5, 3.7}, {ADVECT_CENTRAL, 2.7}};

  (void)state;
  for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(schemes); s++)
    for (PetscInt dimension = 2; dimension <= DIM; dimension++) {
      const PetscReal coarse = advection_error(schemes[s].scheme, dimension, 12, 0.37).mean_square,
                      fine = advection_error(schemes[s].scheme, dimension, 24, 0.37).mean_square;

      note("%s, %d-D: %.2e and %.2e, order %.2f", AdvectionSchemes[schemes[s].scheme], (int)dimension,
           (double)coarse, (double)fine, (double)order_between(coarse, fine));
      assert_on_all_ranks(order_between(coarse, fine) > schemes[s].least);
    }
}

/* Forces. */
static PetscReal pushed(Vector3 place)
{
  return rough(place) + 0.1 * (2. * place.at[X] - place.at[Y] + 0.5);
}

static void a_body_force_is_that_of_its_place_and_time(void **state)
{
  Part part = part_of(2, 10);

  (void)state;
  assert_success(FluidCaseFormula("2*x - y + t", &part.config.body_force[X]));
  start(&part);
  fill(&part, X, rough, part.work);
  assert_success(FluidAddForces(part.fluid, X, NULL, part.work, 0.5, 0.1));
  assert_near(error_of(&part, X, 0, pushed, part.work), 0., 1e-14);
  finish(&part);
  assert_success(FormulaDestroy(&part.config.body_force[X]));
}

/* Gravity -10 along y, expansion 0.2 about 1: a linear temperature is exact on faces between its cells. */
static PetscReal buoyed(Vector3 place)
{
  return rough(place) + 0.1 * 10. * 0.2 * (3. * place.at[Y] - place.at[X] - 1.);
}

static void buoyancy_of_a_linear_scalar_is_exact(void **state)
{
  Part      part = part_of(2, 10);
  PetscBool good;
  Vec      *scalars;

  (void)state;
  part.scalar = (ScalarConfig){.name = "heat", .expansion = 0.2, .reference = 1.};
  assert_success(FluidCaseFormula("3*y - x", &part.scalar.initial));
  part.config.gravity = vector3(0., -10., 0.);
  part.config.scalar_count = 1;
  part.config.scalars = &part.scalar;
  start(&part);
  assert_success(FluidStart(part.fluid, &good));
  assert_success(FluidGetScalars(part.fluid, &scalars));
  fill(&part, Y, rough, part.work);
  assert_success(FluidAddForces(part.fluid, Y, scalars, part.work, 0., 0.1));
  assert_near(error_of(&part, Y, 0, buoyed, part.work), 0., 1e-13);
  finish(&part);
  assert_success(FormulaDestroy(&part.scalar.initial));
}

TEST_MAIN(cmocka_unit_test(a_linear_shear_goes_on_beyond_a_moving_wall),
          cmocka_unit_test(a_side_that_slips_mirrors),
          cmocka_unit_test(the_laplacian_is_exact_for_a_quadratic),
          cmocka_unit_test(implicit_diffusion_is_symmetric_and_solves),
          cmocka_unit_test(a_flow_by_whole_cells_carries_exactly),
          cmocka_unit_test(one_step_of_advection_has_its_order),
          cmocka_unit_test(a_body_force_is_that_of_its_place_and_time),
          cmocka_unit_test(buoyancy_of_a_linear_scalar_is_exact))
