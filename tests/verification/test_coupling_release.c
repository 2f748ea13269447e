/* Bodies that are let go in still water (B5): their first acceleration is (1 - r) / (r + c) g, with the ratio
   of densities r and the coefficient of added mass c; and a body of a thousandth of the water's density rises
   without ever having more energy than its way up has given it. */
#include "scene_run.h"
#include "harness.h"

/* In a round vessel of the same size: a sphere of radius a in one of radius R has c = (1 + 2 q) / (1 - q) / 2
   with q = (a/R)^3, a cylinder c = (1 + q) / (1 - q) with q = (a/R)^2. */
static PetscReal added_mass(PetscInt dimension, PetscReal part)
{
  return dimension == 3 ? 0.5 * (1. + 2. * part) / (1. - part) : (1. + part) / (1. - part);
}

typedef struct {
  PetscInt    dimension;
  int         width;  /* of the box, in diameters */
  int         cells;  /* per diameter */
  Vector3     centre; /* of the body, whose radius is 1/2 */
  PetscReal   part;   /* of the box that it fills */
  const char *solver;
} Vessel;

static void let_go(const Vessel *vessel, PetscReal ratio, SceneRun *flow)
{
  const int   w = vessel->width;
  const char *gravity = vessel->dimension == 3 ? "[0, 0, -1]" : "[0, -1]";

  assert_success(
      SceneRunCreate(PETSC_COMM_WORLD, flow,
                     "grid: {dimension: %d, size: [%d, %d, %d], resolution: %d}\n"
                     "run: {end_time: 100, frame_interval: 100}\n"
                     "fluid: {density: 1000, gravity: %s}\n"
                     "coupling: {solver: %s}\n"
                     "solids: {bodies: [{name: body, density: %g, shape: {sphere: {center: [%g, %g, "
                     "%g], radius: 0.5}}}]}\n",
                     (int)vessel->dimension, w, w, vessel->dimension == 3 ? w : 1, w * vessel->cells, gravity,
                     vessel->solver, 1000. * (double)ratio, (double)vessel->centre.at[X],
                     (double)vessel->centre.at[Y], (double)vessel->centre.at[Z]));
}

static void check_release(const Vessel *vessel, PetscReal ratio)
{
  const PetscReal dt = 0.01, c = added_mass(vessel->dimension, vessel->part),
                  wanted = (1. - ratio) / (ratio + c),
                  endless = (1. - ratio) / (ratio + added_mass(vessel->dimension, 0.));
  const PetscInt up = vessel->dimension - 1;
  SceneRun       flow;

  let_go(vessel, ratio, &flow);
  for (PetscInt step = 1; step <= 3; step++) {
    BodyView body;

    assert_success(SceneRunStep(&flow, 1, dt));
    body = solid_body_view(simulation_solid(flow.simulation), 0);
    note("%d-D, ratio %g, step %d: a/g = %.4f, wanted %.4f: %+.2f %% (endless water %+.2f %%)",
         (int)vessel->dimension, (double)ratio, (int)step, (double)(body.velocity.at[up] / (step * dt)),
         (double)wanted, 100. * (double)(body.velocity.at[up] / (step * dt) / wanted - 1.),
         100. * (double)(body.velocity.at[up] / (step * dt) / endless - 1.));
    assert_near(body.velocity.at[up], step * dt * wanted, 0.03 * step * dt * PetscAbsReal(wanted));
    assert_near(body.velocity.at[X], 0., 0.01 * step * dt * PetscAbsReal(wanted));
  }
  assert_success(SceneRunDestroy(&flow));
}

static void check_ratios(const Vessel *vessel)
{
  static const PetscReal ratios[] = {1e-3, 0.1, 0.5, 2.};

  for (size_t n = 0; n < PETSC_STATIC_ARRAY_LENGTH(ratios); n++)
    check_release(vessel, ratios[n]);
}

static void a_cylinder_starts_with_its_added_mass(void **state)
{
  const Vessel vessel = {2, 10, 16, {{5.02, 5.01, 0.}}, PETSC_PI / 4. / 100., "schur"};

  (void)state;
  check_ratios(&vessel);
}

static void a_sphere_starts_with_its_added_mass(void **state)
{
  const Vessel vessel = {3, 5, 10, {{2.53, 2.51, 2.5}}, PETSC_PI / 6. / 125., "schur"};

  (void)state;
  check_ratios(&vessel);
}

/* Energy of fluid and body over what buoyancy has done. */
static PetscReal energy_share(SceneRun *flow, PetscReal volume, PetscReal start)
{
  const PetscReal mass = volume; /* of density 1 */
  const PetscInt  up = grid_box(flow->grid)->dimension - 1;
  const BodyView  body = solid_body_view(simulation_solid(flow->simulation), 0);
  FluidTotals     totals;

  PetscCallAbort(PETSC_COMM_SELF, FluidGetTotals(flow->fluid, &totals));
  return (totals.kinetic_energy + 0.5 * mass * vector3_dot(body.velocity, body.velocity)) /
         ((1000. * volume - mass) * 9.81 * (body.position.at[up] - start));
}

static void check_rise(const char grid[], const char gravity[], const char centre[], PetscReal volume,
                       PetscReal end)
{
  PetscReal first = 0., later = 0., fastest = 0., dt;
  PetscInt  steps = 0;
  BodyView  body = {0};
  SceneRun  flow;

  assert_success(SceneRunCreate(
      PETSC_COMM_WORLD, &flow,
      "grid: {%s}\n"
      "run: {end_time: 100, frame_interval: 100}\n"
      "fluid: {density: 1000, gravity: %s, cfl: 0.9}\n"
      "solids: {bodies: [{name: body, density: 1, shape: {sphere: {center: %s, radius: 0.5}}}]}\n",
      grid, gravity, centre));
  while (simulation_time(flow.simulation) < end * (1. - 1e-12)) {
    PetscReal share = 0.;

    assert_success(SimulationGetTimeStep(flow.simulation, end, &dt));
    assert_success(SceneRunStep(&flow, 1, dt));
    if (flow.fluid)
      share = energy_share(&flow, volume, 1.2);
    assert_success(MPI_Bcast(&share, 1, MPIU_REAL, 0, PETSC_COMM_WORLD));
    body = solid_body_view(simulation_solid(flow.simulation), 0);
    fastest = PetscMax(fastest, vector3_norm(body.velocity));
    first = PetscMax(first, share);
    if (PetscMax(body.position.at[Y], body.position.at[Z]) > 1.7)
      later = PetscMax(later, share);
    steps++;
  }
  note("%d steps up to (%.2f, %.2f, %.2f), at most %.2f m/s; share of the energy at most %.3f, after half a "
       "diameter %.3f",
       (int)steps, (double)body.position.at[X], (double)body.position.at[Y], (double)body.position.at[Z],
       (double)fastest, (double)first, (double)later);
  assert_on_all_ranks(first < 1.02 && later < 1. && later > 0.3);
  assert_on_all_ranks(fastest < 6.); /* a body without drag would have 2 sqrt(g y): 16 and 13 m/s */
  assert_success(SceneRunDestroy(&flow));
}

static void a_light_cylinder_rises_at_full_steps(void **state)
{
  (void)state;
  check_rise("dimension: 2, size: [4, 10], resolution: 32", "[0, -9.81]", "[2.03, 1.2]", PETSC_PI / 4., 2.2);
}

static void a_light_sphere_rises_at_full_steps(void **state)
{
  (void)state;
  check_rise("size: [3, 3, 5], resolution: 18", "[0, 0, -9.81]", "[1.53, 1.48, 1.2]", PETSC_PI / 6., 0.6);
}

TEST_MAIN(cmocka_unit_test(a_cylinder_starts_with_its_added_mass),
          cmocka_unit_test(a_sphere_starts_with_its_added_mass),
          cmocka_unit_test(a_light_cylinder_rises_at_full_steps),
          cmocka_unit_test(a_light_sphere_rises_at_full_steps))
