/* Cloth, whose vertices are unknowns, in the coupled solve: pressures on both sides of it, what it divides,
   and what it weighs in the fluid. */
#include "scene_run.h"
#include "harness.h"
#include "coupling_case.h"

#include "coupling/coupling_impl.h"

static const CouplingSetup tank = {.dimension = 3,
                                   .cells = {16, 14, 12},
                                   .length = 2.,
                                   .density = 1000.,
                                   .solver = COUPLING_SCHUR,
                                   .tolerance = 1e-12};

/* A sheet of squares, two triangles each. Known to all ranks of the test; the first of the solid team holds
   it for the code. */
typedef struct {
  PetscInt      vertex_count, triangle_count;
  Vector3      *places, *still;
  PetscInt     *unknown, (*triangles)[3];
  PetscReal     mass; /* of a vertex; those on walls have none to move */
  PetscReal    *right_side, *velocity, *added, *areas;
  SolidPatch    whole;
  SolidOperator operator;
} Sheet;

static PetscErrorCode Copy(void *context, const PetscReal from[], PetscReal to[])
{
  const Sheet *sheet = context;

  PetscFunctionBegin;
  PetscCall(PetscArraycpy(to, from, 3 * sheet->vertex_count));
  PetscFunctionReturn(0);
}

static PetscErrorCode Prepare(void *context, const PetscReal added[])
{
  Sheet *sheet = context;

  PetscFunctionBegin;
  PetscCall(PetscArraycpy(sheet->added, added, 3 * sheet->vertex_count));
  PetscFunctionReturn(0);
}

static PetscErrorCode TakeAreas(void *context, const PetscReal areas[])
{
  Sheet *sheet = context;

  PetscFunctionBegin;
  PetscCall(PetscArraycpy(sheet->areas, areas, 3 * sheet->vertex_count));
  PetscFunctionReturn(0);
}

static PetscErrorCode Solve(void *context, const PetscReal from[], PetscReal to[])
{
  const Sheet *sheet = context;

  PetscFunctionBegin;
  for (PetscInt n = 0; n < 3 * sheet->vertex_count; n++)
    to[n] = from[n] / (sheet->mass + sheet->added[n]);
  PetscFunctionReturn(0);
}

static PetscBool holds(CouplingCase *coupled)
{
  PetscMPIInt rank;

  (void)MPI_Comm_rank(team_world(coupled->team), &rank);
  return rank == team_first_solid_rank(coupled->team) ? PETSC_TRUE : PETSC_FALSE;
}

/* Where a sheet is: places by two numbers from 0 to 1. */
typedef Vector3 (*SheetForm)(PetscReal a, PetscReal b);

/* Across the tank, with a hill. */
static Vector3 across_tank(PetscReal a, PetscReal b)
{
  return vector3(2. * a, 1.75 * b,
                 0.71 + 0.2 * PetscSinReal(PETSC_PI * a) * PetscSinReal(PETSC_PI * b) + 0.04 * a * (1. - a));
}

/* Free on all sides, and bent. */
static Vector3 in_the_middle(PetscReal a, PetscReal b)
{
  return vector3(0.53 + 0.9 * a, 0.41 + 0.8 * b, 0.63 + 0.3 * PetscSinReal(2.5 * a + b) - 0.2 * a);
}

/* Over a seam of a periodic box. */
static Vector3 over_the_seam(PetscReal a, PetscReal b)
{
  return vector3(-0.33 + 0.9 * a, 0.41 + 0.8 * b, 1.2 + 0.3 * PetscSinReal(2.5 * a + b) - 0.2 * a);
}

static Sheet *sheet_new(CouplingCase *coupled, SheetForm form, PetscReal thickness, PetscReal mass)
{
  enum { PARTS = 13 };
  Sheet  *sheet;
  Vector3 sum = {{0., 0., 0.}};

  PetscCallAbort(PETSC_COMM_SELF, PetscNew(&sheet));
  sheet->vertex_count = (PARTS + 1) * (PARTS + 1);
  sheet->triangle_count = 2 * PARTS * PARTS;
  sheet->mass = mass / (PetscReal)sheet->vertex_count;
  PetscCallAbort(PETSC_COMM_SELF,
                 PetscCalloc7(sheet->vertex_count, &sheet->places, sheet->vertex_count, &sheet->still,
                              sheet->vertex_count, &sheet->unknown, sheet->triangle_count, &sheet->triangles,
                              3 * sheet->vertex_count, &sheet->right_side, 3 * sheet->vertex_count,
                              &sheet->velocity, 3 * sheet->vertex_count, &sheet->added));
  PetscCallAbort(PETSC_COMM_SELF, PetscCalloc1(3 * sheet->vertex_count, &sheet->areas));
  for (PetscInt v = 0; v < sheet->vertex_count; v++) {
    sheet->places[v] = form((PetscReal)(v % (PARTS + 1)) / PARTS, (PetscReal)(v / (PARTS + 1)) / PARTS);
    sheet->unknown[v] = 3 * v;
  }
  for (PetscInt t = 0; t < sheet->triangle_count; t++) {
    const PetscInt corner = t / 2 % PARTS + (PARTS + 1) * (t / 2 / PARTS), beside = corner + PARTS + 1;

    sheet->triangles[t][0] = corner;
    sheet->triangles[t][1] = t % 2 ? beside + 1 : corner + 1;
    sheet->triangles[t][2] = t % 2 ? beside : beside + 1;
  }
  sheet->whole = (SolidPatch){.thickness = thickness,
                              .vertex_count = sheet->vertex_count,
                              .triangle_count = sheet->triangle_count,
                              .before = sheet->places,
                              .now = sheet->places,
                              .velocity = sheet->still,
                              .triangles = (const PetscInt(*)[3])sheet->triangles,
                              .unknown = sheet->unknown};
  for (PetscInt t = 0; t < sheet->triangle_count; t++) {
    const Vector3 a = sheet->places[sheet->triangles[t][0]], b = sheet->places[sheet->triangles[t][1]],
                  c = sheet->places[sheet->triangles[t][2]];
    const PetscReal part =
        0.5 * thickness * vector3_norm(vector3_cross(vector3_subtract(b, a), vector3_subtract(c, a)));

    sheet->whole.volume += part;
    sum = vector3_add(sum, vector3_scale(part / 3., vector3_add(a, vector3_add(b, c))));
  }
  sheet->whole.centre = vector3_scale(1. / sheet->whole.volume, sum);
  sheet->operator=(SolidOperator){.unknown_count = 3 * sheet->vertex_count,
                                  .surface_count = 3 * sheet->vertex_count,
                                  .context = sheet,
                                  .Spread = Copy,
                                  .Collect = Copy,
                                  .Prepare = Prepare,
                                  .Solve = Solve,
                                  .TakeAreas = TakeAreas,
                                  .right_side = sheet->right_side,
                                  .velocity = sheet->velocity};
  assert_success(CouplingSetDeforming(coupled->coupling, 1, holds(coupled) ? 1 : 0, &sheet->whole,
                                      holds(coupled) ? &sheet->operator : NULL));
  return sheet;
}

static void sheet_free(Sheet *sheet)
{
  PetscCallAbort(PETSC_COMM_SELF, PetscFree7(sheet->places, sheet->still, sheet->unknown, sheet->triangles,
                                             sheet->right_side, sheet->velocity, sheet->added));
  PetscCallAbort(PETSC_COMM_SELF, PetscFree(sheet->areas));
  PetscCallAbort(PETSC_COMM_SELF, PetscFree(sheet));
}

/* A second of the acceleration. */
static void sheet_accelerate(Sheet *sheet, Vector3 by)
{
  for (PetscInt n = 0; n < 3 * sheet->vertex_count; n++)
    sheet->right_side[n] += sheet->mass * by.at[n % 3];
}

/* What the solid team has, on all ranks. */
static void sheet_share(CouplingCase *coupled, Sheet *sheet)
{
  PetscReal *const numbers[3] = {sheet->velocity, sheet->added, sheet->areas};

  for (int n = 0; n < 3; n++)
    (void)MPI_Bcast(numbers[n], (PetscMPIInt)(3 * sheet->vertex_count), MPIU_REAL,
                    team_first_solid_rank(coupled->team), team_world(coupled->team));
}

/* What the fluid gave it, in all. */
static Vector3 impulse_of(const Sheet *sheet)
{
  Vector3 sum = {{0., 0., 0.}};

  for (PetscInt n = 0; n < 3 * sheet->vertex_count; n++)
    sum.at[n % 3] += sheet->mass * sheet->velocity[n] - sheet->right_side[n];
  return sum;
}

static PetscReal swirl(PetscInt d, Vector3 x)
{
  return PetscSinReal(3.1 * x.at[(d + 1) % 3] + d) + 0.5 * PetscCosReal(2.3 * x.at[d]);
}

/* Points that hardly move: the water stays at rest, and lifts them by the weight of what they displace. */
static void heavy_cloth_feels_archimedes(void **state)
{
  const Vector3 gravity = vector3(1., -2., -9.81);
  CouplingCase *coupled = coupling_case_new(PETSC_COMM_WORLD, &tank);
  Sheet        *sheet = sheet_new(coupled, in_the_middle, 0.01, 1e16);
  Vector3       impulse;

  (void)state;
  coupling_case_start(coupled);
  coupling_case_accelerate(coupled, gravity);
  coupling_case_solve(coupled);
  sheet_share(coupled, sheet);
  impulse = impulse_of(sheet);
  for (PetscInt d = 0; d < DIM; d++) {
    const PetscReal weight = tank.density * sheet->whole.volume * gravity.at[d];

    note("%.12g of %.12g", (double)impulse.at[d], (double)-weight);
    assert_near(impulse.at[d], -weight, 1e-10 * tank.density * sheet->whole.volume * 9.81);
  }
  assert_near(coupling_case_largest_speed(coupled), 0., 1e-10);
  sheet_free(sheet);
  coupling_case_free(coupled);
}

/* x . S y = y . S x, x . S x > 0, over all ranks, with a rigid body beside the sheet. */
static void the_operator_is_symmetric(void **state)
{
  CouplingCase *coupled = coupling_case_new(PETSC_COMM_WORLD, &tank);
  Sheet        *sheet = sheet_new(coupled, in_the_middle, 0.003, 1.);
  PetscReal     products[3] = {0., 0., 0.};

  (void)state;
  coupling_case_add_ball(coupled, 0.2, 800., vector3(1.6, 1.12, 0.79));
  coupling_case_start(coupled);
  if (coupled->grid) {
    const Coupling coupling = coupled->coupling;
    Vec            x[2], y;

    PetscCallAbort(PETSC_COMM_SELF, VecDuplicate(coupling->system.flow, &y));
    for (int n = 0; n < 2; n++) {
      PetscReal *values;

      PetscCallAbort(PETSC_COMM_SELF, VecDuplicate(y, &x[n]));
      PetscCallAbort(PETSC_COMM_SELF, VecGetArray(x[n], &values));
      for (PetscInt c = 0; c < coupling->cell_count; c++)
        values[c] = coupling->system.labels[c] >= 0 ? PetscSinReal(1. + 7.3 * c + n * c * c) : 0.;
      PetscCallAbort(PETSC_COMM_SELF, VecRestoreArray(x[n], &values));
    }
    PetscCallAbort(PETSC_COMM_SELF, CouplingApplySchur(coupling, x[0], y));
    PetscCallAbort(PETSC_COMM_SELF, VecDot(x[0], y, &products[0]));
    PetscCallAbort(PETSC_COMM_SELF, VecDot(x[1], y, &products[1]));
    PetscCallAbort(PETSC_COMM_SELF, CouplingApplySchur(coupling, x[1], y));
    PetscCallAbort(PETSC_COMM_SELF, VecDot(x[0], y, &products[2]));
    for (int n = 0; n < 2; n++)
      PetscCallAbort(PETSC_COMM_SELF, VecDestroy(&x[n]));
    PetscCallAbort(PETSC_COMM_SELF, VecDestroy(&y));
  }
  PetscCallAbort(PETSC_COMM_SELF, CouplingAnswer(coupled->coupling));
  (void)MPI_Bcast(products, 3, MPIU_REAL, 0, PETSC_COMM_WORLD);
  note("x.Sx %g, x.Sy %.15g, y.Sx %.15g", (double)products[0], (double)products[1], (double)products[2]);
  assert_on_all_ranks(products[0] > 0.);
  assert_near(products[1], products[2], 1e-13 * products[0]);
  sheet_free(sheet);
  coupling_case_free(coupled);
}

/* Two chambers: together they keep their volume, which is one null vector of a closed box, and one gives what
   the other takes. Areas across the box add up to its section, along it to nothing. */
static void a_sheet_that_divides_a_box_gives_and_takes_nothing(void **state)
{
  PetscReal first = 0.;

  (void)state;
  for (CouplingSolver solver = COUPLING_MINRES; solver <= COUPLING_SCHUR; solver++)
    for (int is_open = 0; is_open < 2; is_open++) {
      CouplingSetup setup = tank;
      CouplingCase *coupled;
      Sheet        *sheet;
      PetscReal     growth = 0., sums[DIM] = {0.};

      setup.solver = solver;
      setup.is_open = is_open ? PETSC_TRUE : PETSC_FALSE;
      coupled = coupling_case_new(PETSC_COMM_WORLD, &setup);
      sheet = sheet_new(coupled, across_tank, 0.001, 3.5);
      coupling_case_start(coupled);
      coupling_case_fill(coupled, swirl);
      sheet_accelerate(sheet, vector3(0., 0., -9.81));
      coupling_case_solve(coupled);
      sheet_share(coupled, sheet);
      for (PetscInt n = 0; n < 3 * sheet->vertex_count; n++) {
        growth += sheet->areas[n] * sheet->velocity[n];
        sums[n % 3] += sheet->areas[n];
      }
      note("%s, %s: %d iterations, %d null vectors, %d moved, %d components; growth %.2g m^3/s",
           CouplingSolvers[solver], is_open ? "open" : "closed", (int)coupled->report.iterations,
           (int)coupled->report.null_vectors, (int)coupled->report.moved, (int)coupled->report.components,
           (double)growth);
      assert_near(growth, 0., 1e-10);
      for (PetscInt d = 0; d < DIM; d++)
        assert_near(sums[d], d == Z ? 2. * 1.75 : 0., 1e-12);
      assert_int_equal(coupled->report.components, 2);
      assert_int_equal(coupled->report.null_vectors, is_open ? 0 : 1);
      assert_int_equal(coupled->report.moved, 1);
      if (solver == COUPLING_MINRES && !is_open)
        first = sheet->velocity[3 * 90 + 2];
      else if (!is_open)
        assert_near(sheet->velocity[3 * 90 + 2], first, 1e-8 * PetscAbsReal(first));
      sheet_free(sheet);
      coupling_case_free(coupled);
    }
}

/* Fluid and cloth in a box without walls, across a seam of it. */
static void momentum_is_kept(void **state)
{
  CouplingSetup setup = tank;
  PetscReal     before[6], after[6], scale = 0.;
  CouplingCase *coupled;
  Sheet        *sheet;

  (void)state;
  for (PetscInt d = 0; d < DIM; d++)
    setup.periodic[d] = PETSC_TRUE;
  coupled = coupling_case_new(PETSC_COMM_WORLD, &setup);
  sheet = sheet_new(coupled, over_the_seam, 0.002, 0.7);
  coupling_case_add_ball(coupled, 0.2, 800., vector3(1.13, 1.12, 0.4));
  coupling_case_start(coupled);
  coupling_case_fill(coupled, swirl);
  sheet_accelerate(sheet, vector3(1., 2., 3.));
  assert_success(CouplingGetMomentum(coupled->coupling, coupled->velocity, coupled->twists, before));
  for (PetscInt n = 0; n < 3 * sheet->vertex_count; n++)
    before[n % 3] += sheet->right_side[n];
  coupling_case_solve(coupled);
  sheet_share(coupled, sheet);
  assert_success(CouplingGetMomentum(coupled->coupling, coupled->velocity, coupled->twists, after));
  for (PetscInt n = 0; n < 3 * sheet->vertex_count; n++) {
    after[n % 3] += sheet->mass * sheet->velocity[n];
    scale += (sheet->mass + sheet->added[n]) * PetscAbsReal(sheet->velocity[n]);
  }
  for (PetscInt d = 0; d < DIM; d++) {
    note("%.12g becomes %.12g kg m/s", (double)before[d], (double)after[d]);
    assert_near(after[d], before[d], 1e-11 * PetscAbsReal(before[d]) + 1e-11 * scale);
  }
  sheet_free(sheet);
  coupling_case_free(coupled);
}

/* The same on all ranks as on one. */
static void ranks_do_not_matter(void **state)
{
  const MPI_Comm comms[2] = {PETSC_COMM_SELF, PETSC_COMM_WORLD};
  CouplingCase  *coupled[2];
  Sheet         *sheets[2];
  PetscReal      largest = 0., fastest = 0.;

  (void)state;
  for (int n = 0; n < 2; n++) {
    coupled[n] = coupling_case_new(comms[n], &tank);
    sheets[n] = sheet_new(coupled[n], in_the_middle, 0.002, 0.7);
    coupling_case_start(coupled[n]);
    coupling_case_fill(coupled[n], swirl);
    sheet_accelerate(sheets[n], vector3(0., 0., -9.81));
    coupling_case_solve(coupled[n]);
    sheet_share(coupled[n], sheets[n]);
    note("%d iterations", (int)coupled[n]->report.iterations);
    assert_int_equal(coupled[n]->report.null_vectors, 1);
  }
  for (PetscInt n = 0; n < 3 * sheets[0]->vertex_count; n++) {
    largest = PetscMax(largest, PetscAbsReal(sheets[0]->velocity[n] - sheets[1]->velocity[n]));
    fastest = PetscMax(fastest, PetscAbsReal(sheets[0]->velocity[n]));
  }
  note("differs by %g of %g from one rank", (double)largest, (double)fastest);
  assert_near(largest, 0., 1e-9 * fastest);
  for (int n = 0; n < 2; n++) {
    sheet_free(sheets[n]);
    coupling_case_free(coupled[n]);
  }
}

TEST_MAIN(cmocka_unit_test(the_operator_is_symmetric), cmocka_unit_test(heavy_cloth_feels_archimedes),
          cmocka_unit_test(a_sheet_that_divides_a_box_gives_and_takes_nothing),
          cmocka_unit_test(momentum_is_kept), cmocka_unit_test(ranks_do_not_matter))
