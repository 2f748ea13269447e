/* Particles with mass and a pressure that only pushes: exact solutions and laws (S10 and others). */
#include "harness.h"
#include "splash_case.h"

#include <string.h>

/* The farthest that the velocity of any particle along y is from `expected`. */
static PetscReal velocity_error(SplashCase *one, PetscReal expected)
{
  const ParticleView view = splash_case_view(one);
  const PetscInt     width = one->config.transfer == TRANSFER_APIC ? 12 : 3;
  PetscReal          error = 0.;

  for (PetscInt n = 0; n < view.count; n++)
    error = PetscMax(error, PetscAbsReal(view.values[n * width + 1] - expected));
  MPI_Allreduce(MPI_IN_PLACE, &error, 1, MPIU_REAL, MPI_MAX, PETSC_COMM_WORLD);
  return error;
}

/* A block that drifts out of the box is held back by nothing: its mass leaves at its speed. */
static void a_block_leaves_through_an_open_side(void **state)
{
  const PetscReal dt = 0.02;

  (void)state;
  for (PetscInt side = 0; side < 2; side++) {
    const PetscReal u = side ? 1. : -1.;
    char            message[64], text[2][8] = {"-1", "1"};
    SplashTotals    totals;
    SplashCase      one;
    PetscInt64      before, left = 0;

    splash_case_prepare(2, 16, vector3(1., 1., 0.), &one);
    one.fluid.gravity = vector3(0., 0., 0.);
    one.fluid.sides[X][side].kind = SIDE_OPEN;
    assert_success(FormulaCreate(text[side], &one.liquids[0].velocity[X], message, sizeof(message)));
    splash_case_add_block(&one, vector3(0.25, 0.25, -1.), vector3(0.75, 0.75, 1.));
    splash_case_begin(PETSC_COMM_WORLD, &one);
    before = splash_case_totals(&one).particles;
    for (PetscInt n = 1; n <= 40; n++) {
      const PetscReal out = PetscMin(PetscMax(n * dt - 0.25, 0.), 0.5) / 0.5;

      splash_case_step(&one, dt);
      totals = splash_case_totals(&one);
      left += splash_report(one.splash)->left;
      assert_on_all_ranks(totals.particles + left == before);
      assert_near((PetscReal)totals.particles, (1. - out) * (PetscReal)before,
                  17.); /* a layer of its lattice */
      assert_near(totals.momentum[X], u * totals.mass, 0.02 * 0.25 * one.fluid.density);
    }
    assert_on_all_ranks(totals.particles == 0);
    assert_success(FormulaDestroy(&one.liquids[0].velocity[X]));
    splash_case_end(&one);
  }
}

/* S10: a block that hangs under the lid, the sides apart from it. */
static void hang_block(SplashTransfer transfer, SplashPressure pressure, SplashCase *one)
{
  splash_case_prepare(2, 16, vector3(1., 1., 0.), one);
  one->config.transfer = transfer;
  one->config.pressure = pressure;
  splash_case_add_block(one, vector3(0.25, 0.5, -1.), vector3(0.75, 1., 1.));
  splash_case_begin(PETSC_COMM_WORLD, one);
}

static void a_block_leaves_the_lid_at_once(void **state)
{
  (void)state;
  for (PetscInt transfer = TRANSFER_FLIP; transfer <= TRANSFER_APIC; transfer++) {
    const PetscReal dt = 0.004;
    SplashCase      one;

    hang_block((SplashTransfer)transfer, SPLASH_UNILATERAL, &one);
    splash_case_step(&one, dt);
    assert_near(velocity_error(&one, -splash_case_gravity * dt), 0., 1e-12);
    splash_case_end(&one);
  }
}

/* Its centre falls freely. Where its lower edge has just filled a cell, the flux of the hats foretells more
   than comes, so that single layers are slowed down for a moment: the velocities spread. */
static void a_block_falls_freely(void **state)
{
  const PetscReal dt = 0.004, fall = splash_case_gravity * 0.2;
  SplashCase      one;
  ParticleView    view;
  PetscReal       sums[3] = {0., 0., 0.};

  (void)state;
  hang_block(TRANSFER_FLIP, SPLASH_UNILATERAL, &one);
  for (PetscInt n = 0; n < 50; n++)
    splash_case_step(&one, dt);
  view = splash_case_view(&one);
  for (PetscInt n = 0; n < view.count; n++) {
    sums[0] += 1.;
    sums[1] += view.values[3 * n + 1] + fall;
    sums[2] += PetscSqr(view.values[3 * n + 1] + fall);
  }
  MPI_Allreduce(MPI_IN_PLACE, sums, 3, MPIU_REAL, MPI_SUM, PETSC_COMM_WORLD);
  assert_near(sums[1] / sums[0], 0., 1e-4 * fall);
  assert_near(PetscSqrtReal(sums[2] / sums[0]), 0., 0.01 * fall);
  splash_case_end(&one);
}

/* The negative control: a layer from side to side cannot leave. */
static void incompressible_flip_sticks_to_the_lid(void **state)
{
  const PetscReal dt = 0.004;

  (void)state;
  for (PetscInt pressure = SPLASH_UNILATERAL; pressure <= SPLASH_BILATERAL; pressure++) {
    SplashCase one;
    PetscReal  velocity;

    splash_case_prepare(2, 16, vector3(1., 1., 0.), &one);
    one.config.pressure = (SplashPressure)pressure;
    splash_case_set_periodic(&one, X);
    splash_case_add_block(&one, vector3(-1., 0.5, -1.), vector3(2., 1., 1.));
    splash_case_begin(PETSC_COMM_WORLD, &one);
    splash_case_step(&one, dt);
    velocity = splash_case_totals(&one).momentum[Y] / splash_case_totals(&one).mass;
    if (pressure == SPLASH_UNILATERAL)
      assert_near(velocity, -splash_case_gravity * dt, 1e-12);
    else {
      assert_near(velocity, 0., 1e-8);
      assert_on_all_ranks(splash_report(one.splash)->smallest_pressure < -1000. * splash_case_gravity * 0.4);
    }
    splash_case_end(&one);
  }
}

/* One rests on the floor, the other leaves the lid: nothing but splash_case_gravity is between them. */
static void of_two_blocks_one_falls_and_one_rests(void **state)
{
  const PetscReal dt = 0.004;
  SplashCase      one;
  ParticleView    view;
  PetscReal       errors[2] = {0., 0.};

  (void)state;
  splash_case_prepare(2, 16, vector3(1., 2., 0.), &one);
  one.config.tolerance = 1e-14;
  splash_case_set_periodic(&one, X);
  splash_case_add_block(&one, vector3(-1., 0., -1.), vector3(2., 0.5, 1.));
  splash_case_add_block(&one, vector3(-1., 1.5, -1.), vector3(2., 2., 1.));
  splash_case_begin(PETSC_COMM_WORLD, &one);
  splash_case_step(&one, dt);
  view = splash_case_view(&one);
  for (PetscInt n = 0; n < view.count; n++) {
    const PetscBool hangs = view.positions[n].at[Y] > 1.;

    if (!hangs && view.positions[n].at[Y] > 0.4) /* the uppermost cells are not full and settle */
      continue;
    errors[hangs] = PetscMax(errors[hangs],
                             PetscAbsReal(view.values[3 * n + 1] + (hangs ? splash_case_gravity * dt : 0.)));
  }
  MPI_Allreduce(MPI_IN_PLACE, errors, 2, MPIU_REAL, MPI_MAX, PETSC_COMM_WORLD);
  assert_near(errors[1], 0., 1e-12);
  assert_near(errors[0], 0., 1e-10);
  splash_case_end(&one);
}

/* Mean velocity of the lower and the upper block, and the farthest that a particle is from that of its own.
 */
static PetscReal measure_parting(SplashCase *one, PetscReal mean[2])
{
  const ParticleView view = splash_case_view(one);
  PetscReal          sums[4] = {0., 0., 0., 0.}, apart = 0.;
  const PetscInt64   first_above = 8 * 16 * 4; /* of a lattice of 16 cells by 4 particles in a row */

  for (PetscInt n = 0; n < view.count; n++) {
    const PetscBool above = view.numbers[n] >= first_above;

    sums[above] += view.values[3 * n + 1];
    sums[2 + above] += 1.;
    apart = PetscMax(apart, PetscAbsReal(view.values[3 * n + 1] - (above ? 1. : -1.)));
  }
  MPI_Allreduce(MPI_IN_PLACE, sums, 4, MPIU_REAL, MPI_SUM, PETSC_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &apart, 1, MPIU_REAL, MPI_MAX, PETSC_COMM_WORLD);
  mean[0] = sums[0] / sums[2];
  mean[1] = sums[1] / sums[3];
  return apart;
}

/* Nothing holds them together; pressures that may pull do. */
static void blocks_that_touch_part(void **state)
{
  (void)state;
  for (PetscInt pressure = SPLASH_UNILATERAL; pressure <= SPLASH_BILATERAL; pressure++) {
    PetscReal  mean[2], apart;
    char       message[64];
    SplashCase one;

    splash_case_prepare(2, 16, vector3(1., 1., 0.), &one);
    one.config.pressure = (SplashPressure)pressure;
    one.config.flip = 1.;
    one.fluid.gravity = vector3(0., 0., 0.);
    splash_case_set_periodic(&one, X);
    splash_case_add_block(&one, vector3(-1., 0.25, -1.), vector3(2., 0.5, 1.));
    splash_case_add_block(&one, vector3(-1., 0.5, -1.), vector3(2., 0.75, 1.));
    for (PetscInt n = 0; n < 2; n++)
      assert_success(FormulaCreate(n ? "1" : "-1", &one.liquids[n].velocity[Y], message, sizeof(message)));
    splash_case_begin(PETSC_COMM_WORLD, &one);
    splash_case_step(&one, 0.01);
    apart = measure_parting(&one, mean);
    if (pressure == SPLASH_UNILATERAL) {
      assert_near(apart, 0., 1e-12);
      for (PetscInt n = 0; n < 9; n++)
        splash_case_step(&one, 0.01);
      measure_parting(&one, mean);
      assert_near(mean[1] - mean[0], 2., 0.02);
    } else
      assert_near(mean[1] - mean[0], 0., 0.5);
    for (PetscInt n = 0; n < 2; n++)
      assert_success(FormulaDestroy(&one.liquids[n].velocity[Y]));
    splash_case_end(&one);
  }
}

/* Its uppermost cells are not full: they settle by a part of a cell, and then all is still. */
static void a_pool_comes_to_rest(void **state)
{
  (void)state;
  only_on_one_rank();
  for (PetscInt dimension = 2; dimension <= 3; dimension++)
    for (PetscInt particles = 2; particles <= 3; particles++) {
      SplashCase one;
      PetscReal  depth;

      if (dimension == 3 && particles == 3)
        continue;
      splash_case_prepare(dimension, 12, vector3(1.2, 1., 0.4), &one);
      one.config.particles = particles;
      one.config.tolerance = 1e-12;
      splash_case_add_block(&one, vector3(-1., -1., -1.), vector3(2., 0.6, 2.));
      splash_case_begin(PETSC_COMM_WORLD, &one);
      for (PetscInt n = 0; n < 340; n++)
        splash_case_step(&one, 0.01);
      depth = 2. * splash_case_totals(&one).moment[Y] / splash_case_totals(&one).mass;
      assert_on_all_ranks(splash_case_totals(&one).largest_speed < 1e-8);
      assert_near(depth, 0.6, 0.1 / 8.);
      splash_case_end(&one);
    }
}

/* A block that falls into a corner: as rough as it gets, in few steps. */
static void prepare_dam(PetscInt dimension, SplashCase *one)
{
  splash_case_prepare(dimension, 24, vector3(1.2, 0.8, 0.4), one);
  splash_case_add_block(one, vector3(-1., -1., -1.), vector3(0.5, 0.6, 2.));
}

static void density_is_held_after_the_correction(void **state)
{
  (void)state;
  only_on_one_rank();
  for (PetscInt dimension = 2; dimension <= 3; dimension++)
    for (PetscInt solver = BOUNDED_MPRGP; solver <= BOUNDED_THESIS; solver++) {
      const PetscReal tolerance = 1e-6;
      PetscInt64      particles;
      PetscReal       largest = 0.;
      SplashCase      one;

      if (dimension == 3 && solver > BOUNDED_MPRGP)
        break;
      prepare_dam(dimension, &one);
      one.config.solver = (BoundedSolver)solver;
      one.config.tolerance = tolerance;
      splash_case_begin(PETSC_COMM_WORLD, &one);
      particles = splash_case_totals(&one).particles;
      for (PetscInt n = 0; n < 60; n++) {
        const SplashReport *report = splash_report(one.splash);

        splash_case_step(&one, 0.004);
        largest = PetscMax(largest, report->largest_density);
        assert_on_all_ranks(report->corrected_density <= 1. + tolerance);
        assert_on_all_ranks(report->velocity.residual <= tolerance);
        assert_on_all_ranks(report->smallest_pressure >= 0.);
      }
      assert_on_all_ranks(largest > 1.001); /* there was something to correct */
      assert_on_all_ranks(splash_case_totals(&one).particles == particles);
      splash_case_end(&one);
    }
}

/* In every step, the first included, which has no solve before it. */
static void solves_take_few_cycles(void **state)
{
  SplashCase one;

  (void)state;
  only_on_one_rank();
  splash_case_prepare(3, 64, vector3(1., 0.75, 0.5), &one);
  one.config.tolerance = 1e-4;
  splash_case_add_block(&one, vector3(-1., -1., -1.), vector3(0.4, 0.5, 2.));
  splash_case_begin(PETSC_COMM_WORLD, &one);
  for (PetscInt n = 0; n < 30; n++) {
    const SplashReport *report = splash_report(one.splash);

    splash_case_step_by(&one, 0.9);
    assert_on_all_ranks(report->correction.cycles <= 20 && report->correction.set_ups <= 10);
    assert_on_all_ranks(report->velocity.cycles <= 20 && report->velocity.set_ups <= 10);
  }
  splash_case_end(&one);
}

static uint64_t bits_of_fields(SplashCase *one)
{
  const GridBox *box = grid_box(one->box);
  Vec            fields[3], *velocity;
  uint64_t       sum = 0;

  PetscCallAbort(PETSC_COMM_SELF,
                 SplashGetFields(one->splash, &fields[0], &fields[1], &fields[2], &velocity));
  fields[2] = velocity[X];
  for (PetscInt f = 0; f < 2; f++) {
    const PetscReal *values;

    PetscCallAbort(PETSC_COMM_SELF, VecGetArrayRead(fields[f], &values));
    FOR_CELLS(box, i, j, k) {
      uint64_t bits;

      memcpy(&bits, &values[box_index(box, i, j, k)], sizeof(bits));
      sum += hash_key(bits, (uint64_t)i, (uint64_t)j, (uint64_t)(k + 1000 * f));
    }
    PetscCallAbort(PETSC_COMM_SELF, VecRestoreArrayRead(fields[f], &values));
  }
  return sum;
}

/* The raster of the same rough set of particles. */
static uint64_t raster_bits(MPI_Comm comm, PetscInt dimension)
{
  SplashCase   one;
  ParticleView view;
  Particles    particles;
  uint64_t     sum;

  prepare_dam(dimension, &one);
  splash_case_set_periodic(&one, Y);
  splash_case_begin(comm, &one);
  view = splash_case_view(&one);
  for (PetscInt n = 0; n < view.count; n++)
    for (PetscInt d = 0; d < dimension; d++) {
      const uint64_t key = hash_key(3, (uint64_t)view.numbers[n], (uint64_t)d, 0);

      view.positions[n].at[d] += 0.03 * (hash_real(key, 0) - 0.5);
      view.values[3 * n + d] = hash_real(key, 1);
    }
  assert_success(SplashGetParticles(one.splash, &particles));
  assert_success(ParticlesArrange(particles));
  assert_success(SplashRasterise(one.splash));
  sum = bits_of_fields(&one);
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_UINT64_T, MPI_SUM, comm);
  splash_case_end(&one);
  return sum;
}

static void raster_has_the_same_bits_on_any_ranks(void **state)
{
  (void)state;
  for (PetscInt dimension = 2; dimension <= 3; dimension++) {
    const uint64_t together = raster_bits(PETSC_COMM_WORLD, dimension);
    const uint64_t alone = raster_bits(PETSC_COMM_SELF, dimension);

    assert_on_all_ranks(together == alone);
  }
}

/* Moment of the momentum about the origin, and the moment of the mass as it was rasterised: after 20 steps.
 */
static SplashTotals run_dam(MPI_Comm comm, PetscInt steps)
{
  SplashCase   one;
  SplashTotals totals;

  prepare_dam(3, &one);
  one.config.tolerance = 1e-13;
  splash_case_begin(comm, &one);
  for (PetscInt n = 0; n < steps; n++)
    splash_case_step(&one, 0.008);
  totals = splash_case_totals(&one);
  splash_case_end(&one);
  return totals;
}

static void twenty_steps_agree_on_any_ranks(void **state)
{
  const SplashTotals together = run_dam(PETSC_COMM_WORLD, 20), alone = run_dam(PETSC_COMM_SELF, 20);

  (void)state;
  assert_on_all_ranks(together.particles == alone.particles);
  assert_near(together.kinetic_energy, alone.kinetic_energy, 1e-10 * alone.kinetic_energy);
  for (PetscInt d = 0; d < DIM; d++) {
    assert_near(together.momentum[d], alone.momentum[d], 1e-10 * alone.mass);
    assert_near(together.moment[d], alone.moment[d], 1e-10 * alone.mass);
  }
}

/* With suction from the surface on, liquid sticks as if it were incompressible. */
static void suction_holds_a_layer_at_the_lid(void **state)
{
  const PetscReal dt = 0.004;
  SplashCase      one;

  (void)state;
  splash_case_prepare(2, 16, vector3(1., 1., 0.), &one);
  one.config.suction_depth = 0.;
  splash_case_set_periodic(&one, X);
  splash_case_add_block(&one, vector3(-1., 0.5, -1.), vector3(2., 1., 1.));
  splash_case_begin(PETSC_COMM_WORLD, &one);
  splash_case_step(&one, dt);
  assert_on_all_ranks(PetscAbsReal(splash_case_totals(&one).momentum[Y]) <
                      0.1 * splash_case_totals(&one).mass * splash_case_gravity * dt);
  assert_on_all_ranks(splash_report(one.splash)->smallest_pressure < 0.);
  splash_case_end(&one);
}

/* Wherever an obstacle stands, a full lattice around it has the largest density. */
static void a_full_lattice_fits_beside_an_obstacle(void **state)
{
  (void)state;
  for (PetscInt n = 0; n < 6; n++) {
    SplashCase one;
    Shape      ball;
    Vec        density, room, pressure, *velocity;
    PetscReal  apart;

    splash_case_prepare(3, 12, vector3(1.2, 1., 0.8), &one);
    splash_case_add_block(&one, vector3(-1., -1., -1.), vector3(2., 2., 2.));
    assert_success(ShapeCreateSphere(vector3(0.6 + 0.013 * n, 0.5 - 0.021 * n, 0.4), 0.2 + 0.011 * n, &ball));
    assert_success(MacGridCreate(PETSC_COMM_WORLD, &one.grid, &one.box));
    assert_success(SplashCreate(one.box, &one.config, &one.fluid, &one.splash));
    assert_success(SplashSetObstacles(one.splash, 1, &ball));
    assert_success(SplashStart(one.splash));
    assert_success(SplashGetFields(one.splash, &density, &room, &pressure, &velocity));
    assert_success(VecAXPY(density, -1., room));
    assert_success(VecNorm(density, NORM_INFINITY, &apart));
    assert_near(apart, 0., 1e-12);
    splash_case_end(&one);
    assert_success(ShapeDestroy(&ball));
  }
}

/* Of the surface on all ranks: volume, and the sum of its areas, which vanishes if it is closed. */
typedef struct {
  PetscReal volume, open;
  PetscInt  triangles;
} Skin;

static Skin measure_surface(MPI_Comm comm, SplashCase *one, PetscInt nodes)
{
  PetscReal   sums[4] = {0., 0., 0., 0.};
  Skin        skin;
  ContourMesh mesh;

  assert_success(SplashFindSurface(one->splash, nodes, &mesh));
  for (PetscInt n = 0; n < mesh.triangle_count; n++) {
    const PetscInt *corner = mesh.triangles[n];
    const Vector3   a = mesh.vertices[corner[0]];
    const Vector3   area = vector3_scale(0.5, vector3_cross(vector3_subtract(mesh.vertices[corner[1]], a),
                                                            vector3_subtract(mesh.vertices[corner[2]], a)));

    sums[3] += vector3_dot(a, area) / 3.;
    for (PetscInt d = 0; d < DIM; d++)
      sums[d] += area.at[d];
  }
  MPI_Allreduce(MPI_IN_PLACE, sums, 4, MPIU_REAL, MPI_SUM, comm);
  MPI_Allreduce(&mesh.triangle_count, &skin.triangles, 1, MPIU_INT, MPI_SUM, comm);
  skin.volume = sums[3];
  skin.open = vector3_norm(vector3(sums[0], sums[1], sums[2]));
  assert_success(ContourDestroy(&mesh));
  return skin;
}

static void surface_of_a_ball_holds_its_volume(void **state)
{
  const Vector3 centre = vector3(0.53, 0.41, 0.47);

  (void)state;
  for (PetscInt nodes = 2; nodes <= 4; nodes += 2) {
    SplashCase one;
    PetscReal  mass;
    Skin       skin;

    splash_case_prepare(3, 16, vector3(1., 0.75, 1.), &one);
    assert_success(ShapeCreateSphere(centre, 0.3, &one.liquids[one.config.liquid_count++].shape));
    splash_case_begin(PETSC_COMM_WORLD, &one);
    mass = splash_case_totals(&one).mass;
    skin = measure_surface(PETSC_COMM_WORLD, &one, nodes);
    print_message("# a ball, %d nodes along a cell: volume %.4f of that of the particles\n", (int)nodes,
                  (double)(1000. * skin.volume / mass));
    assert_near(1000. * skin.volume / mass, 1., 0.015);
    assert_near(skin.open, 0., 1e-12);
    splash_case_end(&one);
  }
}

/* A pool at rest round a ball that stands in it, once it has settled. */
static Skin surface_of_a_pool(MPI_Comm comm, PetscReal *mass)
{
  SplashCase one;
  Shape      ball;
  Skin       skin;

  splash_case_prepare(3, 16, vector3(1.2, 0.9, 0.6), &one);
  one.config.tolerance = 1e-12;
  splash_case_add_block(&one, vector3(-1., -1., -1.), vector3(2., 0.5, 2.));
  assert_success(MacGridCreate(comm, &one.grid, &one.box));
  assert_success(SplashCreate(one.box, &one.config, &one.fluid, &one.splash));
  assert_success(ShapeCreateSphere(vector3(0.6, 0.2, 0.3), 0.15, &ball));
  assert_success(SplashSetObstacles(one.splash, 1, &ball));
  assert_success(SplashStart(one.splash));
  for (PetscInt n = 0; n < 12; n++)
    splash_case_step(&one, 0.01);
  *mass = splash_case_totals(&one).mass;
  skin = measure_surface(comm, &one, 2);
  splash_case_end(&one);
  assert_success(ShapeDestroy(&ball));
  return skin;
}

static void surface_of_a_pool_is_the_same_on_any_ranks(void **state)
{
  PetscReal  mass;
  const Skin alone = surface_of_a_pool(PETSC_COMM_SELF, &mass),
             together = surface_of_a_pool(PETSC_COMM_WORLD, &mass);

  (void)state;
  print_message("# a pool: volume %.4f of that of the particles\n", (double)(1000. * together.volume / mass));
  assert_near(1000. * together.volume / mass, 1., 0.015);
  assert_near(together.open, 0., 1e-12);
  assert_near(together.volume, alone.volume, 1e-9);
  assert_on_all_ranks(together.triangles == alone.triangles);
}

TEST_MAIN(cmocka_unit_test(a_block_leaves_through_an_open_side),
          cmocka_unit_test(a_block_leaves_the_lid_at_once), cmocka_unit_test(a_block_falls_freely),
          cmocka_unit_test(incompressible_flip_sticks_to_the_lid),
          cmocka_unit_test(of_two_blocks_one_falls_and_one_rests), cmocka_unit_test(blocks_that_touch_part),
          cmocka_unit_test(a_pool_comes_to_rest), cmocka_unit_test(density_is_held_after_the_correction),
          cmocka_unit_test(solves_take_few_cycles), cmocka_unit_test(raster_has_the_same_bits_on_any_ranks),
          cmocka_unit_test(twenty_steps_agree_on_any_ranks),
          cmocka_unit_test(suction_holds_a_layer_at_the_lid),
          cmocka_unit_test(a_full_lattice_fits_beside_an_obstacle),
          cmocka_unit_test(surface_of_a_ball_holds_its_volume),
          cmocka_unit_test(surface_of_a_pool_is_the_same_on_any_ranks))
