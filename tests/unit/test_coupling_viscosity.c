/* Viscosity that is tied to bodies: laws of the operator, and flows with known drag. */
#include "scene_run.h"
#include "harness.h"
#include "solids.h"
#include "viscous_case.h"

#include "fluid/stress_impl.h"

static const CouplingSetup sheet = {.dimension = 2,
                                    .cells = {32, 24, 1},
                                    .length = 1.,
                                    .density = 1.,
                                    .solver = COUPLING_SCHUR,
                                    .tolerance = 1e-10};
static const CouplingSetup ring = {.dimension = 3,
                                   .cells = {20, 18, 16},
                                   .length = 2.,
                                   .periodic = {PETSC_TRUE, PETSC_TRUE, PETSC_TRUE},
                                   .density = 3.,
                                   .solver = COUPLING_SCHUR,
                                   .tolerance = 1e-10};

static CouplingSetup periodic_sheet(PetscBool along_y)
{
  CouplingSetup setup = sheet;

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
static ViscousCase *crowded_tank(MPI_Comm comm, const CouplingSetup *setup, PetscReal viscosity)
{
  ViscousCase  *tank = viscous_case_new(comm, setup, viscosity);
  CouplingCase *coupled = tank->coupled;

  if (setup->dimension == 3) {
    coupling_case_add(coupled, make_box(vector3(0.21, 0.33, 0.17)), 0., 2., vector3(0.52, 0.61, 0.73),
                      vector3(0.3, 0.5, 0.2));
    coupling_case_add_ball(coupled, 0.27, 0.5, vector3(1.93, 1.12, 0.79));
    coupling_case_add_ball(coupled, 0.2, 0., vector3(1.4, 1.12, 0.79));
    coupling_case_add(coupled, make_plate(0.35, 0.3), 0.01, 5., vector3(1.1, 0.43, 1.3),
                      vector3(0.7, 0.3, 0.2));
  } else {
    coupling_case_add(coupled, make_box(vector3(0.13, 0.08, 0.5)), 0., 2., vector3(0.27, 0.31, 0.),
                      vector3(0., 0., 0.4));
    coupling_case_add_ball(coupled, 0.11, 0.5, vector3(0.97, 0.42, 0.));
    coupling_case_add_ball(coupled, 0.07, 0., vector3(0.52, 0.35, 0.));
    coupling_case_add(coupled, make_plate(0.15, 0.5), 0.004, 5., vector3(0.6, 0.6, 0.), vector3(0., 0., 0.5));
  }
  for (PetscInt n = 0; n < 6 * coupled->count; n++)
    coupled->twists[n] = rough_at(vector3(0.37 * (PetscReal)n, 0.2, 0.1), 5) - 0.5;
  for (PetscInt b = 0; b < coupled->count && setup->dimension == 2; b++)
    coupled->twists[6 * b + Z] = coupled->twists[6 * b + DIM + X] = coupled->twists[6 * b + DIM + Y] = 0.;
  viscous_case_start(tank, NULL);
  viscous_case_fill(tank, rough);
  return tank;
}

/* y A x over faces and bodies; x and y from their salts. */
static PetscErrorCode MeetThroughOperator(ViscousCase *tank, PetscInt salt, PetscInt with, PetscReal *product)
{
  const Fluid     fluid = tank->fluid_case.fluid;
  const GridBox  *box = grid_box(fluid->grid);
  const StressMix mix = {1., 1.};
  StressLevel     level = fluid->stress->levels[0];
  SolidUnknowns  *unknowns = &fluid->stress->unknowns;
  ReproducibleSum power = {0};
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
            p[box_index(box, i, j, k)] = rough_at(grid_face_centre(fluid->grid, d, i, j, k), salt + d) - 0.5;
    PetscCall(VecRestoreArray(level.inverse[d], &inverse));
    PetscCall(VecRestoreArray(fluid->stress->search[d], &p));
  }
  for (PetscInt b = 0; b < unknowns->block_count; b++)
    for (PetscInt n = 0; n < 6; n++)
      unknowns->search[6 * b + n] =
          unknowns->blocks[b].is_free ? rough_at(vector3((PetscReal)n, (PetscReal)b, 0.3), salt) - 0.5 : 0.;
  PetscCall(FluidConstrainFaces(fluid, unknowns->search, fluid->stress->search, &level));
  PetscCall(MacGridExchangeFaces(fluid->grid, fluid->stress->search));
  PetscCall(StressLevelApply(&level, &mix, fluid->stress->search, level.image, &power));
  PetscCall(FluidApplyConstraints(fluid, &power, &curvature));
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
                        (rough_at(grid_face_centre(fluid->grid, d, i, j, k), with + d) - 0.5);
    PetscCall(VecRestoreArray(level.inverse[d], &inverse));
    PetscCall(VecRestoreArray(level.image[d], &image));
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, product, 1, MPIU_REAL, MPI_SUM, box->comm));
  for (PetscInt b = 0; b < unknowns->block_count; b++)
    for (PetscInt n = 0; n < 6 && unknowns->blocks[b].is_free; n++)
      *product +=
          unknowns->image[6 * b + n] * (rough_at(vector3((PetscReal)n, (PetscReal)b, 0.3), with) - 0.5);
  if (salt == with) /* the search direction knows its own curvature */
    PetscCheck(PetscAbsReal(*product - curvature) <= 1e-12 * curvature, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "Curvature %g, not %g", (double)curvature, (double)*product);
  PetscFunctionReturn(0);
}

static void operator_is_symmetric_and_positive(void **state)
{
  const CouplingSetup setups[3] = {sheet, periodic_sheet(PETSC_TRUE), ring};

  (void)state;
  for (PetscInt n = 0; n < 3; n++) {
    ViscousCase *tank = crowded_tank(PETSC_COMM_WORLD, &setups[n], 0.7);
    PetscReal    left = 1., right = 1., own[2] = {1., 1.};

    if (tank->coupled->grid) {
      PetscCallAbort(PETSC_COMM_SELF, FluidSetUpStress(tank->fluid_case.fluid, 1e-1));
      PetscCallAbort(PETSC_COMM_SELF, FluidCloseStress(tank->fluid_case.fluid));
      PetscCallAbort(PETSC_COMM_SELF, MeetThroughOperator(tank, 3, 11, &left));
      PetscCallAbort(PETSC_COMM_SELF, MeetThroughOperator(tank, 11, 3, &right));
      PetscCallAbort(PETSC_COMM_SELF, MeetThroughOperator(tank, 3, 3, &own[0]));
      PetscCallAbort(PETSC_COMM_SELF, MeetThroughOperator(tank, 11, 11, &own[1]));
    }
    note("%d: %.15g %.15g of %g %g", (int)n, (double)left, (double)right, (double)own[0], (double)own[1]);
    assert_on_all_ranks(own[0] > 0. && own[1] > 0. && PetscAbsReal(left) > 1e-4 * own[0]);
    assert_near(left / own[0], right / own[0], 1e-12);
    viscous_case_free(tank);
  }
}

/* Momentum and its moment of fluid and bodies stay what they are where no wall is; what a given body takes is
   its impulse. */
static void momentum_is_kept(void **state)
{
  const CouplingSetup setups[2] = {periodic_sheet(PETSC_TRUE), ring};

  (void)state;
  for (PetscInt n = 0; n < 2; n++) {
    ViscousCase *tank = crowded_tank(PETSC_COMM_WORLD, &setups[n], 0.7);
    PetscReal    fluid[2][6], bodies[2][6], before[6 * COUPLING_CASE_BODIES];
    PetscInt     iterations;

    PetscCallAbort(PETSC_COMM_SELF, PetscArraycpy(before, tank->coupled->twists, 6 * tank->coupled->count));
    viscous_case_get_momentum(tank, fluid[0], bodies[0]);
    tank->fluid_case.config.viscosity_tolerance = 1e-13; /* what is left of the residual is no momentum */
    iterations = viscous_case_diffuse(tank, 1e-1);
    viscous_case_get_momentum(tank, fluid[1], bodies[1]);
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
    viscous_case_free(tank);
  }
}

/* Plates between walls: the upper one moves with velocity 1. */
static ViscousCase *plate_between_walls(PetscReal lower_gap, PetscReal upper_gap, PetscReal density,
                                        PetscReal thickness)
{
  const CouplingSetup setup = periodic_sheet(PETSC_FALSE);
  ViscousCase        *tank = viscous_case_new(PETSC_COMM_WORLD, &setup, 0.3);
  const PetscReal     height = 24. / 32., half = 0.5 * (height - lower_gap - upper_gap);

  viscous_case_set_wall(tank, Y, 1, X, "1");
  coupling_case_add(tank->coupled, thickness > 0. ? make_plate(0.5, 0.5) : make_box(vector3(0.5, half, 0.5)),
                    thickness, density, vector3(0.5, lower_gap + half, 0.), vector3(0., 0., 0.));
  tank->coupled->bodies[0].inertia =
      (Matrix3){{{1e30, 0., 0.}, {0., 1e30, 0.}, {0., 0., 1e30}}}; /* no pressure keeps it level */
  viscous_case_start(tank, NULL);
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
        ViscousCase    *tank = plate_between_walls(lower, upper, is_free ? 7. : 0., thin ? 1e-3 * h : 0.);
        const PetscReal velocity = is_free ? lower / (lower + upper) : 0.25;
        const PetscReal drag = 0.3 * ((1. - velocity) / upper - velocity / lower);
        PetscInt        iterations;

        tank->coupled->twists[X] = is_free ? 0. : velocity;
        iterations = viscous_case_diffuse(tank, 1e12);
        assert_near(tank->coupled->twists[X], velocity, 1e-9);
        if (!is_free)
          assert_near(tank->impulses[X] / 1e12, drag, 1e-9);
        assert_on_all_ranks(iterations <= 23);
        viscous_case_free(tank);
      }
}

/* A cylinder that turns within a ring at rest. */
typedef struct {
  PetscReal torque, other; /* on the cylinder and on the ring, over the exact one less one */
} TorqueError;

static TorqueError torque_error(PetscInt resolution, Vector3 centre, PetscReal thickness)
{
  const CouplingSetup setup = {.dimension = 2,
                               .cells = {resolution, resolution, 1},
                               .length = 1.,
                               .density = 1.,
                               .solver = COUPLING_SCHUR,
                               .tolerance = 1e-10};
  const PetscReal     inner = 0.2, outer = 0.4,
                  exact = 4. * PETSC_PI * 0.3 / (1. / PetscSqr(inner) - 1. / PetscSqr(outer));
  ViscousCase *tank = viscous_case_new(PETSC_COMM_WORLD, &setup, 0.3);
  TorqueError  error;

  coupling_case_add(tank->coupled, make_prism(inner, 0.5, 800), thickness, 0., centre, vector3(0., 0., 0.));
  coupling_case_add(tank->coupled, make_ring(0.445, 0.045, 800, 8), 0., 0., centre, vector3(0., 0., 0.));
  tank->coupled->twists[DIM + Z] = 1.;
  viscous_case_start(tank, NULL);
  (void)viscous_case_diffuse(tank, 1e12);
  error.torque = -tank->impulses[DIM + Z] / 1e12 / exact - 1.;
  error.other = tank->impulses[TWIST + DIM + Z] / 1e12 / exact - 1.;
  note("%d cells, %s: torque off by %g", (int)resolution, thickness > 0. ? "shell" : "solid",
       (double)error.torque);
  viscous_case_free(tank);
  return error;
}

/* Second order where volumes are cut, first for shells. */
static void torque_converges(void **state)
{
  const Vector3     centre = vector3(0.503, 0.489, 0.);
  const TorqueError coarse = torque_error(32, centre, 0.), fine = torque_error(64, centre, 0.),
                    shell = torque_error(64, centre, 1e-6);

  (void)state;
  assert_on_all_ranks(PetscAbsReal(fine.torque) < 0.0015);
  assert_on_all_ranks(order_between(PetscAbsReal(coarse.torque), PetscAbsReal(fine.torque)) > 1.5);
  assert_near(fine.torque, fine.other, 1e-4); /* the corners of the box are no part of that */
  assert_on_all_ranks(PetscAbsReal(shell.torque) < 0.015);
}

/* A ball that turns about a skew axis within a spherical shell at rest: 8 pi mu w / (1/a^3 - 1/b^3). */
static PetscReal ball_torque_error(PetscInt resolution)
{
  const CouplingSetup setup = {.dimension = 3,
                               .cells = {resolution, resolution, resolution},
                               .length = 1.,
                               .density = 1.,
                               .solver = COUPLING_SCHUR,
                               .tolerance = 1e-6};
  const PetscReal     inner = 0.2, outer = 0.45,
                  exact = 8. * PETSC_PI * 0.3 / (PetscPowReal(inner, -3.) - PetscPowReal(outer, -3.));
  const Vector3 axis = vector3(1. / 3., -2. / 3., 2. / 3.), centre = vector3(0.503, 0.489, 0.506);
  ViscousCase  *tank = viscous_case_new(PETSC_COMM_WORLD, &setup, 0.3);
  PetscReal     torque = 0.;

  coupling_case_add(tank->coupled, make_ball(inner, 40, 80), 0., 0., centre, vector3(0.3, 0.2, 0.));
  coupling_case_add(tank->coupled, make_ball(outer, 60, 120), 1e-6, 0., centre, vector3(0., 0., 0.));
  for (PetscInt d = 0; d < DIM; d++)
    tank->coupled->twists[DIM + d] = axis.at[d];
  tank->fluid_case.config.viscosity_tolerance = 1e-6;
  viscous_case_start(tank, NULL);
  (void)viscous_case_diffuse(tank, 1e12);
  for (PetscInt d = 0; d < DIM; d++)
    torque -= axis.at[d] * tank->impulses[DIM + d] / 1e12;
  viscous_case_free(tank);
  note("%d cells: torque on the ball off by %g", (int)resolution, (double)(torque / exact - 1.));
  return PetscAbsReal(torque / exact - 1.);
}

static void torque_on_a_ball_converges(void **state)
{
  const PetscReal coarse = ball_torque_error(16), fine = ball_torque_error(32);

  (void)state;
  assert_on_all_ranks(fine < 0.02 && order_between(coarse, fine) > 1.5);
}

static PetscReal one_along_x(PetscInt d, Vector3 x)
{
  (void)x;
  return d == X ? 1. : 0.;
}

/* The first problem of Stokes on both sides of a shell that is held: the fluid loses 2 rho U (4 nu t/pi)^1/2
   while it does not feel the walls. */
static PetscReal stokes_layer_error(PetscInt resolution, PetscReal offset)
{
  const PetscReal viscosity = 0.01, until = 0.2,
                  exact = 2. * 0.5 * 2. * PetscSqrtReal(viscosity * until / PETSC_PI);
  const PetscInt steps = resolution * resolution / 32;
  CouplingSetup  setup = periodic_sheet(PETSC_FALSE);
  PetscReal      taken = 0.;
  ViscousCase   *tank;

  setup.length = 0.5;
  setup.cells[X] = resolution / 2;
  setup.cells[Y] = resolution;
  tank = viscous_case_new(PETSC_COMM_WORLD, &setup, viscosity);
  viscous_case_set_wall(tank, Y, 0, X, "1");
  viscous_case_set_wall(tank, Y, 1, X, "1");
  coupling_case_add(tank->coupled, make_plate(0.25, 0.5), 1e-6, 0.,
                    vector3(0.25, 0.5 + offset / (PetscReal)resolution, 0.), vector3(0., 0., 0.));
  viscous_case_start(tank, NULL);
  viscous_case_fill(tank, one_along_x);
  for (PetscInt n = 0; n < steps; n++) {
    (void)viscous_case_diffuse(tank, until / (PetscReal)steps);
    taken += tank->impulses[X];
  }
  viscous_case_free(tank);
  note("%d cells: impulse on the shell off by %g", (int)resolution, (double)(taken / exact - 1.));
  return taken / exact - 1.;
}

static void a_shell_has_a_layer_on_both_sides(void **state)
{
  const PetscReal coarse = stokes_layer_error(32, 0.2), fine = stokes_layer_error(64, 0.2);

  (void)state;
  assert_on_all_ranks(PetscAbsReal(fine) < 0.01);
  assert_on_all_ranks(order_between(PetscAbsReal(coarse), PetscAbsReal(fine)) > 1.8);
}

static PetscReal two_blocks(const void *context, Vector3 point, PetscInt direction)
{
  const PetscReal h = 1. / 32.;

  (void)context;
  (void)direction;
  if (point.at[X] > 6. * h && point.at[X] < 13. * h && point.at[Y] > 5. * h && point.at[Y] < 14. * h)
    return 1.;
  return point.at[X] > 20. * h && point.at[X] < 25. * h && point.at[Y] > 14. * h && point.at[Y] < 18. * h
             ? 2.
             : 0.;
}

/* What fills cells is the same as an obstacle of these cells. */
static void voxels_agree_with_obstacles(void **state)
{
  const PetscReal h = 1. / 32.;
  CouplingSetup   held = sheet;
  ViscousCase    *tied, *closed = viscous_case_new(PETSC_COMM_WORLD, &sheet, 0.3);

  (void)state;
  held.faces =
      COUPLING_TIED; /* the fluid half of a face on the surface moves with the body, as with obstacles */
  tied = viscous_case_new(PETSC_COMM_WORLD, &held, 0.3);
  coupling_case_add(tied->coupled, make_box(vector3(3.5 * h, 4.5 * h, 0.5)), 0., 0.,
                    vector3(9.5 * h, 9.5 * h, 0.), vector3(0., 0., 0.));
  coupling_case_add(tied->coupled, make_box(vector3(2.5 * h, 2. * h, 0.5)), 0., 0.,
                    vector3(22.5 * h, 16. * h, 0.), vector3(0., 0., 0.));
  viscous_case_set_wall(tied, Y, 1, X, "1");
  viscous_case_set_wall(closed, Y, 1, X, "1");
  viscous_case_start(tied, NULL);
  viscous_case_start(closed, two_blocks);
  viscous_case_fill(tied, rough);
  viscous_case_fill(closed, rough);
  (void)viscous_case_diffuse(tied, 1e-2);
  (void)viscous_case_diffuse(closed, 1e-2);
  assert_near(viscous_case_largest_difference(tied, closed), 0., 1e-10);
  viscous_case_free(tied);
  viscous_case_free(closed);
}

/* Light and heavy bodies, shells and walls, nu dt/h^2 of 0.07 to 700; the same on one rank as on all. */
static void ranks_do_not_show(void **state)
{
  const CouplingSetup setups[2] = {sheet, ring};

  (void)state;
  for (PetscInt n = 0; n < 2; n++)
    for (PetscInt much = 0; much < 2; much++) {
      ViscousCase    *tank = crowded_tank(PETSC_COMM_WORLD, &setups[n], 0.7);
      ViscousCase    *alone = crowded_tank(PETSC_COMM_SELF, &setups[n], 0.7);
      const PetscReal dt = much ? 1. : 1e-3;
      const PetscInt  iterations = viscous_case_diffuse(tank, dt);

      (void)viscous_case_diffuse(alone, dt);
      note("%d iterations", (int)iterations);
      for (PetscInt m = 0; m < TWIST * tank->coupled->count; m++) {
        assert_near(tank->coupled->twists[m], alone->coupled->twists[m], 1e-9);
        assert_near(tank->impulses[m], alone->impulses[m], 1e-9);
      }
      viscous_case_free(tank);
      viscous_case_free(alone);
    }
}

/* Balls of six cells across, given or free, nu dt / h^2 of 100. */
static void bodies_take_few_iterations(void **state)
{
  const PetscReal     densities[3] = {0., 0.1, 10.};
  const PetscInt      most[3] = {18, 48, 42};
  const CouplingSetup setup = {.dimension = 3,
                               .cells = {32, 32, 32},
                               .length = 1.,
                               .density = 1.,
                               .solver = COUPLING_SCHUR,
                               .tolerance = 1e-10};

  (void)state;
  for (PetscInt n = 0; n < 3; n++) {
    ViscousCase *tank = viscous_case_new(PETSC_COMM_WORLD, &setup, 1.);
    PetscInt     iterations;

    tank->fluid_case.config.viscosity_tolerance = 1e-6;
    for (PetscInt b = 0; b < 27; b++)
      coupling_case_add_ball(tank->coupled, 0.1, densities[n],
                             vector3(0.19 + 0.31 * (PetscReal)(b % 3), 0.18 + 0.31 * (PetscReal)(b / 3 % 3),
                                     0.185 + 0.315 * (PetscReal)(b / 9)));
    for (PetscInt m = 0; m < TWIST * tank->coupled->count; m++)
      tank->coupled->twists[m] = rough_at(vector3(0.37 * (PetscReal)m, 0.2, 0.1), 5) - 0.5;
    viscous_case_start(tank, NULL);
    viscous_case_fill(tank, rough);
    iterations = viscous_case_diffuse(tank, 100. / (32. * 32.));
    note("density %g: %d iterations", (double)densities[n], (int)iterations);
    assert_on_all_ranks(iterations <= most[n]);
    viscous_case_free(tank);
  }
}

TEST_MAIN(cmocka_unit_test(bodies_take_few_iterations), cmocka_unit_test(operator_is_symmetric_and_positive),
          cmocka_unit_test(momentum_is_kept), cmocka_unit_test(couette_drag_is_exact),
          cmocka_unit_test(torque_converges), cmocka_unit_test(torque_on_a_ball_converges),
          cmocka_unit_test(a_shell_has_a_layer_on_both_sides), cmocka_unit_test(voxels_agree_with_obstacles),
          cmocka_unit_test(ranks_do_not_show))
