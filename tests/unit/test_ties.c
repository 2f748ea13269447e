/* Viscosity that is tied to bodies: laws of the operator, and flows with known drag. */
#include "flow.h"
#include "harness.h"
#include "solids.h"
#include "tank.h"

#include "fluid/stress_impl.h"

static const CoupledSetup sheet = {.dimension = 2,
                                   .cells = {32, 24, 1},
                                   .length = 1.,
                                   .density = 1.,
                                   .solver = COUPLING_SCHUR,
                                   .tolerance = 1e-10};
static const CoupledSetup ring = {.dimension = 3,
                                  .cells = {20, 16, 18},
                                  .length = 2.,
                                  .periodic = {PETSC_TRUE, PETSC_TRUE, PETSC_TRUE},
                                  .density = 3.,
                                  .solver = COUPLING_SCHUR,
                                  .tolerance = 1e-10};

static CoupledSetup periodic_sheet(PetscBool along_y)
{
  CoupledSetup setup = sheet;

  setup.periodic[X] = PETSC_TRUE;
  setup.periodic[Y] = along_y;
  return setup;
}

static PetscReal rough(PetscInt d, Vector3 x)
{
  return rough_at(x, d) - 0.5;
}

/* A rectangle about the origin, across y; y is its normal. */
static Surface make_plate(PetscReal half_x, PetscReal half_z)
{
  const Vector3 corners[4] = {
      {{-half_x, 0., -half_z}}, {{half_x, 0., -half_z}}, {{half_x, 0., half_z}}, {{-half_x, 0., half_z}}};
  const PetscInt triangles[2][3] = {{0, 2, 1}, {0, 3, 2}};
  Surface        surface;

  assert_success(SurfaceCreate(4, corners, 2, triangles, &surface));
  return surface;
}

/* Free and given bodies, a shell, two of them beside each other, one across the seams of a periodic box. */
static Tank *crowded_tank(const CoupledSetup *setup, PetscReal viscosity)
{
  Tank    *tank = tank_new(PETSC_COMM_WORLD, setup, viscosity);
  Coupled *coupled = tank->coupled;

  if (setup->dimension == 3) {
    coupled_add(coupled, make_box(vector3(0.21, 0.33, 0.17)), 0., 2., vector3(0.52, 0.61, 0.73),
                vector3(0.3, 0.5, 0.2));
    coupled_add_ball(coupled, 0.27, 0.5, vector3(1.93, 1.12, 0.79));
    coupled_add_ball(coupled, 0.2, 0., vector3(1.4, 1.12, 0.79));
    coupled_add(coupled, make_plate(0.35, 0.3), 0.01, 5., vector3(1.1, 0.43, 1.3), vector3(0.7, 0.3, 0.2));
  } else {
    coupled_add(coupled, make_box(vector3(0.13, 0.08, 0.5)), 0., 2., vector3(0.27, 0.31, 0.),
                vector3(0., 0., 0.4));
    coupled_add_ball(coupled, 0.11, 0.5, vector3(0.97, 0.42, 0.));
    coupled_add_ball(coupled, 0.07, 0., vector3(0.52, 0.35, 0.));
    coupled_add(coupled, make_plate(0.15, 0.5), 0.004, 5., vector3(0.6, 0.6, 0.), vector3(0., 0., 0.5));
  }
  for (PetscInt n = 0; n < 6 * coupled->count; n++)
    coupled->twists[n] = rough_at(vector3(0.37 * (PetscReal)n, 0.2, 0.1), 5) - 0.5;
  for (PetscInt b = 0; b < coupled->count && setup->dimension == 2; b++)
    coupled->twists[6 * b + Z] = coupled->twists[6 * b + DIM + X] = coupled->twists[6 * b + DIM + Y] = 0.;
  tank_start(tank, NULL);
  tank_fill(tank, rough);
  return tank;
}

/* y A x over faces and bodies; x and y from their salts. */
static PetscErrorCode MeetThroughOperator(Tank *tank, PetscInt salt, PetscInt with, PetscReal *product)
{
  const Fluid     fluid = tank->blend.fluid;
  const GridBox  *box = grid_box(fluid->grid);
  const StressMix mix = {1., 1.};
  StressLevel     level = fluid->stress->levels[0];
  Tied           *tied = &fluid->stress->tied;
  PetscReal       curvature = 0.;

  PetscFunctionBegin;
  for (PetscInt d = 0; d < box->dimension; d++) {
    PetscReal *p, *inverse;

    PetscCall(VecSet(fluid->stress->search[d], 0.));
    PetscCall(VecGetArray(fluid->stress->search[d], &p));
    PetscCall(VecGetArray(level.inverse[d], &inverse));
    for (PetscInt k = level.range[d].start[Z]; k < level.range[d].end[Z]; k++)
      for (PetscInt j = level.range[d].start[Y]; j < level.range[d].end[Y]; j++)
        for (PetscInt i = level.range[d].start[X]; i < level.range[d].end[X]; i++)
          if (inverse[box_index(box, i, j, k)] > 0.)
            p[box_index(box, i, j, k)] = rough_at(grid_face_center(fluid->grid, d, i, j, k), salt + d) - 0.5;
    PetscCall(VecRestoreArray(level.inverse[d], &inverse));
    PetscCall(VecRestoreArray(fluid->stress->search[d], &p));
  }
  for (PetscInt b = 0; b < tied->count; b++)
    for (PetscInt n = 0; n < 6; n++)
      tied->search[6 * b + n] =
          tank->ties->is_free[b] ? rough_at(vector3((PetscReal)n, (PetscReal)b, 0.3), salt) - 0.5 : 0.;
  PetscCall(FluidTieSearch(fluid, &level));
  PetscCall(MacGridExchangeFaces(fluid->grid, fluid->stress->search));
  PetscCall(StressLevelApply(&level, &mix, fluid->stress->search, level.image, &curvature));
  PetscCall(FluidApplyTies(fluid, &curvature));
  *product = 0.;
  for (PetscInt d = 0; d < box->dimension; d++) {
    PetscReal *image, *inverse;

    PetscCall(VecGetArray(level.image[d], &image));
    PetscCall(VecGetArray(level.inverse[d], &inverse));
    for (PetscInt k = level.range[d].start[Z]; k < level.range[d].end[Z]; k++)
      for (PetscInt j = level.range[d].start[Y]; j < level.range[d].end[Y]; j++)
        for (PetscInt i = level.range[d].start[X]; i < level.range[d].end[X]; i++)
          if (inverse[box_index(box, i, j, k)] > 0.)
            *product += image[box_index(box, i, j, k)] *
                        (rough_at(grid_face_center(fluid->grid, d, i, j, k), with + d) - 0.5);
    PetscCall(VecRestoreArray(level.inverse[d], &inverse));
    PetscCall(VecRestoreArray(level.image[d], &image));
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, product, 1, MPIU_REAL, MPI_SUM, box->comm));
  for (PetscInt b = 0; b < tied->count; b++)
    for (PetscInt n = 0; n < 6 && tank->ties->is_free[b]; n++)
      *product += tied->image[6 * b + n] * (rough_at(vector3((PetscReal)n, (PetscReal)b, 0.3), with) - 0.5);
  if (salt == with) /* the search direction knows its own curvature */
    PetscCheck(PetscAbsReal(*product - curvature) <= 1e-12 * curvature, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "Curvature %g, not %g", (double)curvature, (double)*product);
  PetscFunctionReturn(0);
}

static void operator_is_symmetric_and_positive(void **state)
{
  const CoupledSetup setups[3] = {sheet, periodic_sheet(PETSC_TRUE), ring};

  (void)state;
  for (PetscInt n = 0; n < 3; n++) {
    Tank     *tank = crowded_tank(&setups[n], 0.7);
    PetscReal left = 1., right = 1., own[2] = {1., 1.};

    if (tank->coupled->grid) {
      PetscCallAbort(PETSC_COMM_SELF, FluidSetUpStress(tank->blend.fluid, 1e-1));
      PetscCallAbort(PETSC_COMM_SELF, FluidCloseStress(tank->blend.fluid));
      PetscCallAbort(PETSC_COMM_SELF, MeetThroughOperator(tank, 3, 11, &left));
      PetscCallAbort(PETSC_COMM_SELF, MeetThroughOperator(tank, 11, 3, &right));
      PetscCallAbort(PETSC_COMM_SELF, MeetThroughOperator(tank, 3, 3, &own[0]));
      PetscCallAbort(PETSC_COMM_SELF, MeetThroughOperator(tank, 11, 11, &own[1]));
    }
    note("%d: %.15g %.15g of %g %g", (int)n, (double)left, (double)right, (double)own[0], (double)own[1]);
    assert_on_all_ranks(own[0] > 0. && own[1] > 0. && PetscAbsReal(left) > 1e-4 * own[0]);
    assert_near(left / own[0], right / own[0], 1e-12);
    tank_free(tank);
  }
}

/* Momentum and its moment of fluid and bodies stay what they are where no wall is; what a given body takes is
   its impulse. */
static void momentum_is_kept(void **state)
{
  const CoupledSetup setups[2] = {periodic_sheet(PETSC_TRUE), ring};

  (void)state;
  for (PetscInt n = 0; n < 2; n++) {
    Tank     *tank = crowded_tank(&setups[n], 0.7);
    PetscReal fluid[2][6], bodies[2][6], before[6 * COUPLED_BODIES];
    PetscInt  iterations;

    PetscCallAbort(PETSC_COMM_SELF, PetscArraycpy(before, tank->coupled->twists, 6 * tank->coupled->count));
    tank_get_momentum(tank, fluid[0], bodies[0]);
    iterations = tank_diffuse(tank, 1e-1);
    tank_get_momentum(tank, fluid[1], bodies[1]);
    for (PetscInt d = 0; d < setups[n].dimension; d++) {
      PetscReal taken = 0., given = tank->impulses[6 * 2 + d];

      for (PetscInt b = 0; b < tank->coupled->count; b++) {
        if (tank->coupled->bodies[b].is_free)
          assert_near(tank->impulses[6 * b + d],
                      tank->coupled->bodies[b].mass * (tank->coupled->twists[6 * b + d] - before[6 * b + d]),
                      1e-14);
        taken += tank->impulses[6 * b + d];
      }
      note("%d iterations: fluid %g, bodies %g, given %g, rest %g", (int)iterations,
           (double)(fluid[1][d] - fluid[0][d]), (double)(bodies[1][d] - bodies[0][d]), (double)given,
           (double)(fluid[1][d] - fluid[0][d] + taken));
      assert_on_all_ranks(PetscAbsReal(given) > 1e-4);
      assert_near(fluid[1][d] - fluid[0][d], -taken, 1e-12);
      assert_near(bodies[1][d] - bodies[0][d], taken - given, 1e-12);
    }
    tank_free(tank);
  }
}

/* Plates between walls: the upper one moves with velocity 1. */
static Tank *plate_between_walls(PetscReal lower_gap, PetscReal upper_gap, PetscReal density,
                                 PetscReal thickness)
{
  const CoupledSetup setup = periodic_sheet(PETSC_FALSE);
  Tank              *tank = tank_new(PETSC_COMM_WORLD, &setup, 0.3);
  const PetscReal    height = 24. / 32., half = 0.5 * (height - lower_gap - upper_gap);

  tank_set_wall(tank, Y, 1, X, "1");
  coupled_add(tank->coupled, thickness > 0. ? make_plate(0.5, 0.5) : make_box(vector3(0.5, half, 0.5)),
              thickness, density, vector3(0.5, lower_gap + half, 0.), vector3(0., 0., 0.));
  tank->coupled->bodies[0].inertia =
      (Matrix3){{{1e30, 0., 0.}, {0., 1e30, 0.}, {0., 0., 1e30}}}; /* no pressure keeps it level */
  tank_start(tank, NULL);
  return tank;
}

/* Steady, held or free, thick or a shell, wherever the surface lies between the faces. */
static void couette_drag_is_exact(void **state)
{
  const PetscReal h = 1. / 32., offsets[6] = {0., 0.3, 0.5, 0.51, 0.7, 0.95};

  (void)state;
  for (PetscInt n = 0; n < 6; n++)
    for (PetscInt thin = 0; thin < 2; thin++)
      for (PetscInt is_free = 0; is_free < 2; is_free++) {
        const PetscReal lower = (6. + offsets[n]) * h, upper = thin ? 0.75 - lower : 0.75 - lower - 5.4 * h;
        Tank           *tank = plate_between_walls(lower, upper, is_free ? 7. : 0., thin ? 1e-3 * h : 0.);
        const PetscReal velocity = is_free ? lower / (lower + upper) : 0.25;
        const PetscReal drag = 0.3 * ((1. - velocity) / upper - velocity / lower);
        PetscInt        iterations;

        tank->coupled->twists[X] = is_free ? 0. : velocity;
        iterations = tank_diffuse(tank, 1e12);
        assert_near(tank->coupled->twists[X], velocity, 1e-9);
        if (!is_free)
          assert_near(tank->impulses[X] / 1e12, drag, 1e-9);
        assert_on_all_ranks(iterations <= 35);
        tank_free(tank);
      }
}

TEST_MAIN(cmocka_unit_test(operator_is_symmetric_and_positive), cmocka_unit_test(momentum_is_kept),
          cmocka_unit_test(couette_drag_is_exact))
