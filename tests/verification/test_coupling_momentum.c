/* The budget of momentum of a coupled run: fluid and free bodies together. */
#include "scene_run.h"
#include "harness.h"

#include "simulation/coupled_impl.h"

/* A ball, a block, two blocks on a hinge and a sealed shell full of fluid; their volumes. */
#define CROWD                                                                                                \
  "  bodies:\n"                                                                                              \
  "    - {name: ball, density: 600, velocity: [0.5, 0, 0],\n"                                                \
  "       shape: {sphere: {center: [0.3, 0.3, 0.3], radius: 0.15}}}\n"                                       \
  "    - {name: block, density: 2000, spin: [1, 0, 2],\n"                                                    \
  "       shape: {box: {low: [0.55, 0.1, 0.2], high: [0.9, 0.35, 0.45]}}}\n"                                 \
  "    - {name: left, density: 1000, shape: {box: {low: [0.1, 0.6, 0.6], high: [0.35, 0.75, 0.75]}}}\n"      \
  "    - {name: right, density: 1500, shape: {box: {low: [0.4, 0.6, 0.6], high: [0.65, 0.75, 0.75]}}}\n"     \
  "    - {name: tank, density: 3000, thickness: 0.01, shape: {box: {low: [0.7, 0.55, 0.5], high: [0.95, "    \
  "0.9, 0.8]}}}\n"                                                                                           \
  "  joints: [{name: hinge, type: hinge, parent: left, child: right, anchor: [0.375, 0.675, 0.675],\n"       \
  "            axis: [0, 0, 1]}]\n"
#define FLOW                                                                                                 \
  "grid: {size: [1, 1, 1], resolution: 16}\n"                                                                \
  "run: {end_time: 4, frame_interval: 4}\n"                                                                  \
  "coupling: {solver: schur}\n"                                                                              \
  "fluid: {density: 1000, viscosity: 0.5, sides: {all: periodic}, gravity: [%g, %g, %g],\n"                  \
  "        initial: {velocity: [1 + 0.3*sin(6.283185307179586*y), 0.5*sin(6.283185307179586*x), 0.2]}}\n"    \
  "solids:\n"                                                                                                \
  "  gravity: [%g, %g, %g]\n"

/* What the fluid ranks know, on all. */
static void share_momentum(SceneRun *flow, Momentum *momentum)
{
  *momentum = flow->simulation->coupled->momentum;
  assert_success(MPI_Bcast(momentum, (int)sizeof(*momentum), MPI_BYTE, 0, PETSC_COMM_WORLD));
}

/* The largest difference between a change of the total and its parts. */
static PetscReal left_over(const Momentum *before, const Momentum *after)
{
  PetscReal largest = 0.;

  for (PetscInt n = 0; n < 2 * DIM; n++) {
    PetscReal rest = after->total[n] - before->total[n];

    for (PetscInt c = 0; c < CHANGE_COUNT; c++)
      rest -= after->changes[c][n];
    largest = PetscMax(largest, PetscAbsReal(rest));
  }
  return largest;
}

static PetscReal largest_linear(const Momentum *momentum, MomentumChange change)
{
  PetscReal largest = 0.;

  for (PetscInt d = 0; d < DIM; d++)
    largest = PetscMax(largest, PetscAbsReal(momentum->changes[change][d]));
  return largest;
}

typedef struct {
  PetscReal left_over, changes[CHANGE_COUNT]; /* largest of all steps; linear ones */
} Budget;

static Budget run_crowd(PetscInt steps)
{
  Budget   budget = {0., {0.}};
  Momentum before, after;
  SceneRun flow;

  assert_success(SceneRunCreate(PETSC_COMM_WORLD, &flow, FLOW CROWD, 0., 0., 0., 0., 0., 0.));
  share_momentum(&flow, &before);
  for (PetscInt step = 0; step < steps; step++) {
    assert_success(SceneRunStep(&flow, 1, 0.01));
    share_momentum(&flow, &after);
    budget.left_over = PetscMax(budget.left_over, left_over(&before, &after));
    for (MomentumChange c = 0; c < CHANGE_COUNT; c++)
      budget.changes[c] = PetscMax(budget.changes[c], largest_linear(&after, c));
    before = after;
  }
  assert_success(SceneRunDestroy(&flow));
  note("left over %.2g, advection %.2g, viscosity %.2g, pressure %.2g, contact %.2g kg m/s",
       (double)budget.left_over, (double)budget.changes[CHANGE_ADVECTION],
       (double)budget.changes[CHANGE_VISCOSITY], (double)budget.changes[CHANGE_PRESSURE],
       (double)budget.changes[CHANGE_CONTACT]);
  return budget;
}

static const PetscReal scale = 1000.; /* of fluid and bodies at 1 m/s */

static void a_periodic_box_keeps_its_momentum(void **state)
{
  const Budget budget = run_crowd(harness_size() > 1 ? 20 : 100);

  (void)state;
  assert_on_all_ranks(budget.left_over <= 1e-12 * scale);
  assert_on_all_ranks(budget.changes[CHANGE_PRESSURE] <= 1e-12 * scale);
  assert_on_all_ranks(budget.changes[CHANGE_FORCES] <= 1e-12 * scale);
  assert_on_all_ranks(budget.changes[CHANGE_VISCOSITY] <= 1e-8 * scale); /* its tolerance */
  assert_on_all_ranks(budget.changes[CHANGE_ADVECTION] > 1e-6 * scale);  /* that scheme does not keep it */
}

/* But for the fluid that moves with bodies, which follows what they do to each other after the last solve of
   a step: the rounds end when velocities stay within one part in a million. */
static void contact_and_joints_of_free_bodies_change_nothing(void **state)
{
  const Budget budget = run_crowd(20);

  (void)state;
  assert_on_all_ranks(budget.changes[CHANGE_CONTACT] <= 1e-6 * scale);
}

/* What is counted weighs what is there: fluid without the bodies' volumes, and the bodies. */
static void forces_act_on_all_mass_once(void **state)
{
  const PetscReal dt = 0.01, gravity[DIM] = {1., -2., 3.};
  PetscReal       mass = 1000.,
            volumes[] = {0.0141371669411541, 0.35 * 0.25 * 0.25, 0.25 * 0.15 * 0.15, 0.25 * 0.15 * 0.15,
                         0.01 * 2. * (0.25 * 0.35 + 0.25 * 0.3 + 0.35 * 0.3)};
  Momentum momentum;
  SceneRun flow;

  (void)state;
  assert_success(SceneRunCreate(PETSC_COMM_WORLD, &flow, FLOW CROWD, gravity[X], gravity[Y], gravity[Z],
                                gravity[X], gravity[Y], gravity[Z]));
  for (PetscInt b = 0; b < 5; b++)
    mass += solid_coupled_body(simulation_solid(flow.simulation), b).mass - 1000. * volumes[b];
  for (PetscInt step = 0; step < 3; step++) {
    assert_success(SceneRunStep(&flow, 1, dt));
    share_momentum(&flow, &momentum);
    for (PetscInt d = 0; d < DIM; d++)
      assert_near(momentum.changes[CHANGE_FORCES][d], mass * gravity[d] * dt, 1e-6 * mass * dt);
  }
  assert_success(SceneRunDestroy(&flow));
}

/* A heavy ball on the floor: what gravity gives, the floor and the walls take. */
static void what_rests_on_a_floor_gives_its_weight_to_it(void **state)
{
  Momentum momentum;
  SceneRun flow;

  (void)state;
  assert_success(SceneRunCreate(
      PETSC_COMM_WORLD, &flow, "%s",
      "grid: {size: [1, 1, 1], resolution: 16}\n"
      "run: {end_time: 4, frame_interval: 4}\n"
      "fluid: {density: 1000, gravity: [0, 0, -10], sides: {z_high: {type: open}}}\n"
      "solids:\n"
      "  gravity: [0, 0, -10]\n"
      "  bodies:\n"
      "    - {name: ball, density: 3000, shape: {sphere: {center: [0.5, 0.5, 0.4], radius: 0.2}}}\n"
      "    - {name: floor, type: static, shape: {box: {low: [0, 0, 0], high: [1, 1, 0.2]}}}\n"));
  assert_success(SceneRunStep(&flow, 5, 0.01));
  share_momentum(&flow, &momentum);
  note("forces %g, pressure %g, contact %g kg m/s", (double)momentum.changes[CHANGE_FORCES][Z],
       (double)momentum.changes[CHANGE_PRESSURE][Z], (double)momentum.changes[CHANGE_CONTACT][Z]);
  assert_near(momentum.changes[CHANGE_CONTACT][Z], 2000. * 4. / 3. * PETSC_PI * 0.008 * 10. * 0.01,
              0.05 * 6.7);
  assert_near(momentum.total[Z], 0., 0.1);
  assert_success(SceneRunDestroy(&flow));
}

TEST_MAIN(cmocka_unit_test(a_periodic_box_keeps_its_momentum),
          cmocka_unit_test(contact_and_joints_of_free_bodies_change_nothing),
          cmocka_unit_test(forces_act_on_all_mass_once),
          cmocka_unit_test(what_rests_on_a_floor_gives_its_weight_to_it))
