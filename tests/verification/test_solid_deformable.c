/* Deformable solids in time: momenta, energy, periods, and bodies that they are fixed to. */
#include "harness.h"
#include "scene_run.h"
#include "solid_case.h"
#include "solids.h"

#include "solid/deformable/points.h"

static PetscReal total_energy(Solid solid)
{
  const SolidReport report = solid_report(solid);

  return report.kinetic_energy + report.potential_energy + report.elastic_energy;
}

/* Velocities of a rigid motion and some of none. */
static void disturb(Solid solid, PetscReal size)
{
  uint64_t seed = 5;

  for (PetscInt p = 0; p < solid->points->count; p++)
    for (PetscInt d = 0; d < DIM; d++)
      solid->points->velocity[p].at[d] += size * random_number(&seed);
  points_follow_velocity(solid, solid->twists, solid->points->velocity);
}

static PetscReal speed_sum(Solid solid)
{
  PetscReal sum = 0;

  for (PetscInt p = 0; p < solid->points->count; p++)
    sum += solid->points->mass[p] * vector3_norm(solid->points->velocity[p]);
  return sum;
}

/* Steps, each of which changes linear and angular momentum by no more than round-off. */
static void run_with_momenta_kept(SolidCase *solids, PetscReal dt, PetscInt steps, PetscReal scale)
{
  for (PetscInt k = 0; k < steps; k++) {
    const SolidReport before = solid_report(solids->solid);
    SolidReport       after;

    solid_case_run(solids, dt, 1);
    after = solid_report(solids->solid);
    assert_near(vector3_norm(vector3_subtract(after.momentum, before.momentum)) / scale, 0, 1e-12);
    assert_near(vector3_norm(vector3_subtract(after.angular_momentum, before.angular_momentum)) / scale, 0,
                1e-12);
  }
}

static void free_bars_keep_both_momenta(void **state)
{
  const MaterialModel models[] = {MATERIAL_NEO_HOOKEAN, MATERIAL_COROTATIONAL, MATERIAL_ST_VENANT_KIRCHHOFF};

  (void)state;
  for (PetscInt m = 0; m < 3; m++)
    for (PetscInt damped = 0; damped < 2; damped++) {
      SolidCase           *solids = solid_case_new(0);
      SolidMaterialConfig *material =
          solid_case_add_mesh(solids, vector3(-0.5, -0.1, -0.1), vector3(0.5, 0.1, 0.1), 0.1);

      material->model = models[m];
      material->damping = damped ? 0.01 : 0;
      solids->meshes[0].velocity = vector3(1, 2, 3);
      solids->meshes[0].spin = vector3(2, 1, 4);
      solid_case_start(solids);
      disturb(solids->solid, 0.5);
      run_with_momenta_kept(solids, solid_longest_substep(solids->solid), 50, speed_sum(solids->solid));
      solid_case_free(solids);
    }
}

/* Two rigid boxes, joined by a soft bar, turn about each other in free flight. */
static void bodies_and_a_bar_between_them_keep_both_momenta(void **state)
{
  (void)state;
  for (PetscInt damped = 0; damped < 2; damped++) {
    SolidCase *solids = solid_case_new(0);

    solid_case_add_box(solids, vector3(-0.6, 0, 0), vector3(0.15, 0.2, 0.1), vector3(0, 0, 0));
    solid_case_add_box(solids, vector3(0.6, 0, 0), vector3(0.15, 0.1, 0.2), vector3(0, 0, 0));
    solids->bodies[0].velocity = vector3(0, 1, 0.3);
    solids->bodies[1].velocity = vector3(0, -1, 0.2);
    solids->bodies[1].spin = vector3(3, 0, 1);
    solid_case_add_mesh(solids, vector3(-0.5, -0.05, -0.05), vector3(0.5, 0.05, 0.05), 0.05)->damping =
        damped ? 0.01 : 0;
    solid_case_hold(solids, vector3(-0.75, -0.2, -0.1), vector3(-0.44, 0.2, 0.1), 0);
    solid_case_hold(solids, vector3(0.44, -0.2, -0.2), vector3(0.75, 0.2, 0.2), 1);
    solid_case_start(solids);
    disturb(solids->solid, 0.1);
    run_with_momenta_kept(solids, solid_longest_substep(solids->solid), 100,
                          speed_sum(solids->solid) + 2 * solids->solid->bodies[0].mass);
    for (PetscInt k = 0; k < solids->solid->points->carried_count; k++) {
      const Points  *points = solids->solid->points;
      const PetscInt p = points->carried[k];
      const Vector3  there = rigid_apply(&solids->solid->placements[points->carrier[p]], points->arm[p]);

      assert_near(vector3_norm(vector3_subtract(points->position[p], there)), 0, 1e-12);
    }
    solid_case_free(solids);
  }
}

/* A bar whose middle is refined twice without grading, with points for contact on it. */
static SolidCase *new_bound_bar(void)
{
  SolidCase *solids = solid_case_new(0);

  solid_case_add_mesh(solids, vector3(-0.5, -0.1, -0.1), vector3(0.5, 0.1, 0.1), 0.1)->damping = 0.005;
  solid_case_refine(solids, vector3(-0.2, -0.2, -0.2), vector3(0.2, 0.2, 0.2));
  solid_case_refine(solids, vector3(-0.1, -0.2, -0.2), vector3(0.1, 0.2, 0.2));
  solids->meshes[0].contact_spacing = 0.05;
  solids->meshes[0].spin = vector3(2, 1, 4);
  solid_case_start(solids);
  return solids;
}

static void bound_points_keep_both_momenta_and_leave_no_gap(void **state)
{
  SolidCase    *solids = new_bound_bar();
  const Points *points = solids->solid->points;
  PetscReal     mass = 0;

  (void)state;
  for (PetscInt p = 0; p < points->count; p++)
    mass += points->mass[p];
  assert_near(mass, 40, 1e-12 * 40);
  assert_true(points->bindings.count > 100);
  disturb(solids->solid, 0.5);
  run_with_momenta_kept(solids, solid_longest_substep(solids->solid), 50, speed_sum(solids->solid));
  for (PetscInt k = 0; k < points->bindings.count; k++) {
    const PetscInt p = points->bindings.points[k];

    assert_near(vector3_norm(vector3_subtract(points->position[p], points_mean(points, p, points->position))),
                0, 1e-12);
  }
  solid_case_free(solids);
}

/* Across hanging vertices a uniform strain leaves no force inside: with bindings the mesh conforms. */
static void bound_meshes_pass_the_patch_test(void **state)
{
  SolidCase *solids = new_bound_bar();
  Points    *points = solids->solid->points;

  (void)state;
  for (PetscInt p = 0; p < points->count; p++) {
    const Vector3 x = points->rest[p];

    points->position[p] =
        vector3(1.2 * x.at[X] + 0.1 * x.at[Y], 0.9 * x.at[Y], 1.1 * x.at[Z] - 0.05 * x.at[X]);
  }
  points->has_forces = PETSC_FALSE;
  points_find_forces(solids->solid);
  for (PetscInt p = 0; p < points->count; p++) {
    const Vector3 x = points->rest[p];

    if (PetscAbsReal(x.at[X]) < 0.49 && PetscAbsReal(x.at[Y]) < 0.09 && PetscAbsReal(x.at[Z]) < 0.09)
      assert_near(vector3_norm(points->forces.points[p]) / 1e5, 0, 1e-12);
  }
  solid_case_free(solids);
}

/* Points for contact have no mass and no force of their own. */
static void points_for_contact_cost_no_time_step(void **state)
{
  PetscReal steps[2];

  (void)state;
  for (PetscInt k = 0; k < 2; k++) {
    SolidCase *solids = solid_case_new(0);

    solid_case_add_mesh(solids, vector3(0, 0, 0), vector3(0.5, 0.2, 0.2), 0.1);
    solids->meshes[0].contact_spacing = k ? 0.02 : 0;
    solid_case_start(solids);
    steps[k] = solid_longest_substep(solids->solid);
    solid_case_free(solids);
  }
  assert_near(steps[1] / steps[0], 1, 1e-12);
}

/* One vertex is pushed through its element: materials that can bring it back, others name the element. */
static void inverted_elements_come_back_or_are_named(void **state)
{
  const MaterialModel models[] = {MATERIAL_NEO_HOOKEAN, MATERIAL_COROTATIONAL, MATERIAL_INVERTIBLE,
                                  MATERIAL_ST_VENANT_KIRCHHOFF};

  (void)state;
  for (PetscInt m = 0; m < 4; m++) {
    SolidCase           *solids = solid_case_new(0);
    SolidMaterialConfig *material =
        solid_case_add_mesh(solids, vector3(0, 0, 0), vector3(0.2, 0.2, 0.2), 0.1);
    char reason[512] = "";

    material->model = models[m];
    material->damping = 0.05;
    solid_case_start(solids);
    solids->solid->points->position[0] = vector3(0.15, 0.15, 0.15);
    solids->solid->points->has_forces = PETSC_FALSE;
    assert_true(solid_report(solids->solid).least_ratio < 0);
    solid_case_run(solids, 1e-4, 1);
    assert_success(SolidDescribeFailure(solids->solid, reason, sizeof(reason)));
    assert_true((m == 3) == (strstr(reason, "of mesh \"m0\"") != NULL));
    if (m < 3) {
      solid_case_run(solids, 0.1, 30);
      assert_true(solid_report(solids->solid).least_ratio > 0.9);
    }
    solid_case_free(solids);
  }
}

/* Stretched by a fifth and let go, undamped. */
static SolidCase *new_stretched_bar(void)
{
  SolidCase *solids = solid_case_new(0);

  solid_case_add_mesh(solids, vector3(-0.5, -0.1, -0.1), vector3(0.5, 0.1, 0.1), 0.1);
  solid_case_start(solids);
  for (PetscInt p = 0; p < solids->solid->points->count; p++)
    solids->solid->points->position[p].at[X] *= 1.2;
  solids->solid->points->has_forces = PETSC_FALSE;
  return solids;
}

/* In steps that are divided as usual: the parts stay as long as they are, or the bar would gain energy
   without end. */
static void assert_energy_stays(PetscInt substeps)
{
  SolidCase      *solids = new_stretched_bar();
  const PetscReal start = total_energy(solids->solid), dt = 20 * solid_usual_substep(solids->solid);
  PetscReal       worst = 0;
  PetscInt        taken = 0;

  while (taken < substeps) {
    solid_case_run(solids, dt, 1);
    taken += solid_report(solids->solid).substeps;
    worst = PetscMax(worst, PetscAbsReal(total_energy(solids->solid) / start - 1));
    assert_true(worst < 0.01);
  }
  note("the energy strays by %.2f %% in %d substeps", 100 * (double)worst, (int)taken);
  solid_case_free(solids);
}

static void an_undamped_bar_keeps_its_energy(void **state)
{
  (void)state;
  assert_energy_stays(4000);
}

static void an_undamped_bar_keeps_its_energy_for_long(void **state)
{
  (void)state;
  only_in_long_runs();
  assert_energy_stays(100000);
}

/* The thesis takes the forces of step V at the middle of the step: x' = x + dt/2 v with v at the middle, v +=
   dt f(x') / m. For forces that are not linear that is not reversible. The energy after so many steps over
   that at the start. */
static PetscReal energy_of_the_thesis(PetscInt steps)
{
  SolidCase      *solids = new_stretched_bar();
  Points         *points = solids->solid->points;
  const PetscReal start = total_energy(solids->solid), dt = solid_usual_substep(solids->solid);
  PetscReal       last;

  for (PetscInt k = 0; k < 2 * steps;
       k++) { /* forces at the start lead to the middle, those there to the end */
    points->has_forces = PETSC_FALSE;
    points_find_forces(solids->solid);
    for (PetscInt p = 0; p < points->count; p++) {
      const Vector3 pull = vector3_scale(0.5 * dt * points->inverse_mass[p], points->forces.points[p]);
      const Vector3 half = k % 2 ? vector3(0, 0, 0) : vector3_add(points->velocity[p], pull);

      if (k % 2) { /* drag holds the velocity at the start */
        points->position[p] = vector3_add(points->position[p], vector3_scale(0.5 * dt, points->velocity[p]));
        points->velocity[p] = vector3_add(points->drag.points[p], vector3_scale(2, pull));
      } else {
        points->drag.points[p] = points->velocity[p];
        points->velocity[p] = half;
        points->position[p] = vector3_add(points->position[p], vector3_scale(0.5 * dt, half));
      }
    }
  }
  points->has_forces = PETSC_FALSE;
  last = total_energy(solids->solid);
  solid_case_free(solids);
  return last / start;
}

static void forces_in_the_middle_of_the_step_lose_energy(void **state)
{
  PetscReal left;

  (void)state;
  only_in_long_runs();
  left = energy_of_the_thesis(100000);
  note("forces in the middle of the step leave %.4f of the energy", (double)left);
  assert_true(PetscAbsReal(left - 1) > 0.02);
}

static void damping_takes_all_but_rigid_motion(void **state)
{
  SolidCase      *solids = solid_case_new(0);
  PetscReal       last;
  SolidReport     report;
  const PetscReal spin = 5;

  (void)state;
  solid_case_add_mesh(solids, vector3(-0.5, -0.1, -0.1), vector3(0.5, 0.1, 0.1), 0.1)->damping = 0.02;
  solids->meshes[0].spin = vector3(0, 0, spin);
  solid_case_start(solids);
  disturb(solids->solid, 0.3);
  last = total_energy(solids->solid);
  for (PetscInt k = 0; k < 20; k++) {
    solid_case_run(solids, 0.1, 1);
    assert_true(total_energy(solids->solid) <= last * (1 + 1e-9));
    last = total_energy(solids->solid);
  }
  report = solid_report(solids->solid);
  /* what is left turns as one, and the spin stretches it: s = rho w^2 (L^2/4 - x^2)/2, of which s^2/2E stays
   */
  assert_near(report.kinetic_energy / (0.5 * PetscSqr(spin) * 40 * (1 + 0.04) / 12), 1, 0.05);
  assert_near(report.elastic_energy / (0.04 * PetscSqr(1000 * spin * spin) / (8 * 1e5 * 30)), 1, 0.15);
  solid_case_free(solids);
}

/* Without Poisson's ratio a bar is a string of springs: half a wave in its length, T = 2 L / c. */
static void a_bar_rings_at_its_period(void **state)
{
  SolidCase      *solids = solid_case_new(0);
  const PetscReal period = 2 * 1. / PetscSqrtReal(1e5 / 1000.), dt = period / 400;
  PetscReal       length[2] = {0, 0};
  PetscInt        steps = 0;

  (void)state;
  solid_case_add_mesh(solids, vector3(0, 0, 0), vector3(1, 0.1, 0.1), 0.05)->poisson = 0;
  solid_case_start(solids);
  for (PetscInt p = 0; p < solids->solid->points->count; p++)
    solids->solid->points->velocity[p].at[X] =
        0.01 * PetscCosReal(PETSC_PI * solids->solid->points->rest[p].at[X]);
  do { /* its end comes back after half a period */
    solid_case_run(solids, dt, 1);
    length[0] = length[1];
    length[1] = solids->solid->points->position[0].at[X];
    steps++;
  } while (!(steps > 10 && length[0] > 0 && length[1] <= 0) && steps < 1000);
  assert_near((steps - length[1] / (length[1] - length[0])) * dt / (0.5 * period), 1, 0.005);
  solid_case_free(solids);
}

/* E1: a cantilever swings with beta L = 1.87510, where linear elements are too stiff; returns its period over
 * that. */
static PetscReal cantilever_period(PetscInt order)
{
  SolidCase      *solids = solid_case_new(0);
  const PetscReal period = 2 * PETSC_PI / (PetscSqr(1.87510) * PetscSqrtReal(1e6 * 0.01 / 12 / 1000));
  PetscReal       end[2] = {0, 0};
  PetscInt        steps = 0, tip = 0;
  const PetscReal dt = period / 200;

  solid_case_add_mesh(solids, vector3(0, 0, 0), vector3(1, 0.1, 0.1), 0.1)->young = 1e6;
  solids->meshes[0].mesh.order = order;
  solid_case_hold(solids, vector3(-0.1, -0.1, -0.1), vector3(0.001, 0.2, 0.2), -1);
  solid_case_start(solids);
  for (PetscInt p = 0; p < solids->solid->points->count; p++) {
    const PetscReal x = solids->solid->points->rest[p].at[X], b = 1.87510;
    const PetscReal shape =
        PetscCoshReal(b * x) - PetscCosReal(b * x) - 0.734096 * (PetscSinhReal(b * x) - PetscSinReal(b * x));

    solids->solid->points->velocity[p].at[Z] += 0.005 * shape;
    if (solids->solid->points->rest[p].at[X] > 0.999)
      tip = p;
  }
  do { /* it comes back after half a period */
    solid_case_run(solids, dt, 1);
    end[0] = end[1];
    end[1] = solids->solid->points->position[tip].at[Z] - solids->solid->points->rest[tip].at[Z];
    steps++;
  } while (!(steps > 10 && end[0] > 0 && end[1] <= 0) && steps < 400);
  solid_case_free(solids);
  return (steps - end[1] / (end[1] - end[0])) * dt / (0.5 * period);
}

static void a_cantilever_of_quadratic_elements_has_its_period(void **state)
{
  const PetscReal linear = cantilever_period(1), quadratic = cantilever_period(2);

  (void)state;
  note("period over that of a beam: %g with linear, %g with quadratic elements", (double)linear,
       (double)quadratic);
  assert_near(quadratic, 1, 0.03);
  assert_true(linear < 0.9);
}

static void a_free_bar_falls_as_a_body_does(void **state)
{
  SolidCase *solids = solid_case_new(9.81);

  (void)state;
  solid_case_add_mesh(solids, vector3(0, 0, 0), vector3(0.4, 0.2, 0.2), 0.1)->damping = 0.01;
  solids->meshes[0].velocity = vector3(1, 0, 3);
  solid_case_start(solids);
  solid_case_run(solids, 0.05, 10);
  for (PetscInt p = 0; p < solids->solid->points->count; p++) {
    const Vector3 moved =
        vector3_subtract(solids->solid->points->position[p], solids->solid->points->rest[p]);

    assert_near(moved.at[X], 0.5, 1e-10);
    assert_near(moved.at[Z], 1.5 - 0.5 * 9.81 * 0.25, 1e-10);
  }
  solid_case_free(solids);
}

/* Steps of what is stable, and of a quarter more, which is not. */
static void the_time_step_limit_is_sharp(void **state)
{
  (void)state;
  for (PetscInt beyond = 0; beyond < 2; beyond++) {
    SolidCase *solids = solid_case_new(0);
    PetscReal  dt, start;

    solid_case_add_mesh(solids, vector3(0, 0, 0), vector3(0.4, 0.3, 0.3), 0.1)->model = MATERIAL_LINEAR;
    solids->materials[0].damping = 1e-12; /* or smaller steps are usual */
    solid_case_start(solids);
    disturb(solids->solid, 1e-3);
    dt = solid_longest_substep(solids->solid);
    start = total_energy(solids->solid);
    if (beyond) /* the step itself would divide it */
      solids->solid->points->meshes[0].frequency /= 1.25;
    solid_case_run(solids, beyond ? 1.25 * dt : dt, 300);
    assert_true(beyond ? !(total_energy(solids->solid) < 100 * start)
                       : total_energy(solids->solid) < 2 * start);
    solid_case_free(solids);
  }
}

TEST_MAIN(cmocka_unit_test(free_bars_keep_both_momenta),
          cmocka_unit_test(bodies_and_a_bar_between_them_keep_both_momenta),
          cmocka_unit_test(bound_points_keep_both_momenta_and_leave_no_gap),
          cmocka_unit_test(bound_meshes_pass_the_patch_test),
          cmocka_unit_test(points_for_contact_cost_no_time_step),
          cmocka_unit_test(inverted_elements_come_back_or_are_named),
          cmocka_unit_test(an_undamped_bar_keeps_its_energy),
          cmocka_unit_test(an_undamped_bar_keeps_its_energy_for_long),
          cmocka_unit_test(forces_in_the_middle_of_the_step_lose_energy),
          cmocka_unit_test(damping_takes_all_but_rigid_motion), cmocka_unit_test(a_bar_rings_at_its_period),
          cmocka_unit_test(a_cantilever_of_quadratic_elements_has_its_period),
          cmocka_unit_test(a_free_bar_falls_as_a_body_does), cmocka_unit_test(the_time_step_limit_is_sharp))
