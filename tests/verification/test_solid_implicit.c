/* Implicit and static elasticity: the assembled matrix, equilibria, order in time, contact in long steps. */
#include "harness.h"
#include "scene_run.h"
#include "solid_case.h"
#include "solids.h"

#include "solid/deformable/point_matrix.h"

static void disturb(Solid solid, PetscReal size)
{
  uint64_t seed = 7;

  for (PetscInt p = 0; p < solid->points->count; p++)
    for (PetscInt d = 0; d < DIM; d++)
      solid->points->position[p].at[d] += size * random_number(&seed);
  points_follow_position(solid);
  solid->points->has_forces = PETSC_FALSE;
}

/* -K u - 0.3 D u by elements, as points and bodies have it. */
static void apply_by_elements(Solid solid, SolidMotion *u, SolidMotion *image)
{
  const Force *force = &solid->points->meshes[0].forces[0];

  motion_clear(solid, image);
  force->kind->add_damping(force->data, u->points, image->points);
  for (PetscInt p = 0; p < solid->points->count; p++)
    image->points[p] = vector3_scale(0.3, image->points[p]);
  force->kind->add_stiffness(force->data, DIFFERENTIAL_DEFINITE, u->points, image->points);
  points_collect(solid, image);
  motion_combine(solid, -1., 0., image, image);
}

/* A bar with hanging vertices, quadratic elements or a body at its end. */
static SolidCase *new_mixed_bar(PetscInt kind)
{
  SolidCase *solids = solid_case_new(0);

  if (kind == 1)
    solid_case_add_box(solids, vector3(0.6, 0.05, 0.05), vector3(0.1, 0.1, 0.1), vector3(0, 0, 0));
  solid_case_add_mesh(solids, vector3(0, 0, 0), vector3(0.5, 0.1, 0.1), 0.1)->damping = 0.01;
  if (kind == 0)
    solid_case_refine(solids, vector3(0.2, -1, -1), vector3(1, 1, 1));
  if (kind == 2)
    solids->meshes[0].mesh.order = 2;
  solid_case_hold(solids, vector3(-0.1, -1, -1), vector3(0.01, 1, 1), -1);
  if (kind == 1)
    solid_case_hold(solids, vector3(0.49, -1, -1), vector3(1, 1, 1), 0);
  solid_case_start(solids);
  disturb(solids->solid, 0.01);
  points_find_forces(solids->solid);
  return solids;
}

static void the_matrix_is_that_of_elements(void **state)
{
  (void)state;
  for (PetscInt kind = 0; kind < 3; kind++) {
    SolidCase          *solids = new_mixed_bar(kind);
    Solid               solid = solids->solid;
    Points             *points = solid->points;
    const MatrixWeights weights = {0., 1., 0.3, DIFFERENTIAL_DEFINITE};
    PointMatrix         matrix;
    uint64_t            seed = 3;
    PetscReal           size;

    assert_success(PointMatrixCreate(solid, MATRIX_OF_CARRYING, &matrix));
    assert_success(PointMatrixSet(matrix, solid, &weights));
    motion_clear(solid, &points->search);
    for (PetscInt p = 0; p < points->count; p++)
      points->search.points[p] = random_direction(&seed);
    for (PetscInt k = 0; k < points->body_count; k++)
      points->search.bodies[points->bodies[k]] = (Twist){random_direction(&seed), random_direction(&seed)};
    points_follow_change(solid, &points->search);
    apply_by_elements(solid, &points->search, &points->image);
    assert_success(PointMatrixApply(matrix, solid, &points->search, &points->residual));
    size = PetscSqrtReal(motion_product(solid, &points->image, &points->image));
    motion_combine(solid, 1., -1., &points->image, &points->residual);
    assert_near(PetscSqrtReal(motion_product(solid, &points->residual, &points->residual)) / size, 0, 1e-12);
    assert_success(PointMatrixDestroy(&matrix));
    solid_case_free(solids);
  }
}

/* Hanging from its end, of a linear material without Poisson's ratio: rho g L^2 / 2 E, by any solver. */
static void a_bar_hangs_in_equilibrium(void **state)
{
  (void)state;
  for (PetscInt solver = SOLVER_AUTO; solver <= SOLVER_MULTIGRID; solver++) {
    SolidCase           *solids = solid_case_new(9.81);
    SolidMaterialConfig *material = solid_case_add_mesh(solids, vector3(0, 0, 0), vector3(0.1, 0.1, 1), 0.05);
    PetscReal            low = 0;

    material->model = MATERIAL_LINEAR;
    material->poisson = 0;
    solids->config.elasticity = ELASTIC_STATIC;
    solids->config.solver = (ElasticSolver)solver;
    solid_case_hold(solids, vector3(-1, -1, 0.99), vector3(1, 1, 2), -1);
    solid_case_start(solids);
    solid_case_run(solids, 1, 1);
    for (PetscInt p = 0; p < solids->solid->points->count; p++)
      low = PetscMin(low, solids->solid->points->position[p].at[Z]);
    assert_near(low / (-1000 * 9.81 / 2 / 1e5), 1, 0.01); /* the mass of the held end hangs below it */
    assert_false(solid_report(solids->solid).is_unsolved);
    assert_int_equal(solid_report(solids->solid).elastic_solver, 1 + (solver ? solver : SOLVER_CHOLESKY));
    assert_true(solid_report(solids->solid).newton_iterations <= 2);
    solid_case_free(solids);
  }
}

/* A clamped bar of 2400 elements sags: the mean height of its points, and the iterations of its equilibrium.
 */
static PetscReal sag_by(ElasticSolver solver, PetscInt *iterations)
{
  SolidCase           *solids = solid_case_new(9.81);
  SolidMaterialConfig *material = solid_case_add_mesh(solids, vector3(0, 0, 0), vector3(1, 0.2, 0.2), 0.0455);
  PetscReal            sum = 0;

  material->model = MATERIAL_LINEAR;
  material->young = 1e6;
  solids->config.elasticity = ELASTIC_STATIC;
  solids->config.solver = solver;
  solid_case_hold(solids, vector3(-1, -1, -1), vector3(0.01, 1, 1), -1);
  solid_case_start(solids);
  solid_case_run(solids, 1, 1);
  assert_false(solid_report(solids->solid).is_unsolved);
  *iterations = solid_report(solids->solid).linear_iterations;
  for (PetscInt p = 0; p < solids->solid->points->count; p++)
    sum += solids->solid->points->position[p].at[Z];
  sum /= (PetscReal)solids->solid->points->count;
  solid_case_free(solids);
  return sum;
}

/* CHOLMOD or MUMPS, an incomplete factor, and aggregates of rigid motions. */
static void every_solver_finds_the_same_equilibrium(void **state)
{
  PetscInt        iterations[4];
  const PetscReal sag = sag_by(SOLVER_CHOLESKY, &iterations[0]);
  PetscReal       mumps;

  (void)state;
  assert_success(PetscOptionsSetValue(NULL, "-elastic_pc_factor_mat_solver_type", MATSOLVERMUMPS));
  mumps = sag_by(SOLVER_CHOLESKY, &iterations[1]);
  assert_success(PetscOptionsClearValue(NULL, "-elastic_pc_factor_mat_solver_type"));
  assert_near(mumps / sag, 1, 1e-10);
  assert_near(sag_by(SOLVER_CG, &iterations[2]) / sag, 1, 1e-6);
  assert_near(sag_by(SOLVER_MULTIGRID, &iterations[3]) / sag, 1, 1e-6);
  note("iterations: %d with factors, %d with incomplete ones, %d with aggregates", (int)iterations[0],
       (int)iterations[2], (int)iterations[3]);
  assert_true(iterations[0] == 1 && iterations[1] == 1 && iterations[3] < 40); /* 79 without rigid motions */
}

/* The tip of a cantilever that swings, after a quarter of a second; steps / second. */
static PetscReal tip_after(ElasticTime time, PetscReal steps)
{
  SolidCase *solids = solid_case_new(9.81);
  PetscReal  tip = 0;

  solid_case_add_mesh(solids, vector3(0, 0, 0), vector3(1, 0.2, 0.2), 0.2)->young = 1e6;
  solids->config.elasticity = time;
  solid_case_hold(solids, vector3(-1, -1, -1), vector3(0.01, 1, 1), -1);
  solid_case_start(solids);
  solid_case_run(solids, 0.25 / steps, (PetscInt)steps);
  assert_false(solid_report(solids->solid).is_unsolved);
  for (PetscInt p = 0; p < solids->solid->points->count; p++)
    tip = PetscMin(tip, solids->solid->points->position[p].at[Z]);
  solid_case_free(solids);
  return tip;
}

static void newmark_is_of_second_order_and_backward_euler_of_first(void **state)
{
  const PetscReal exact = tip_after(ELASTIC_EXPLICIT, 200);
  const PetscReal coarse = tip_after(ELASTIC_NEWMARK, 20) - exact,
                  fine = tip_after(ELASTIC_NEWMARK, 40) - exact;
  const PetscReal first = tip_after(ELASTIC_BACKWARD_EULER, 20) - exact,
                  second = tip_after(ELASTIC_BACKWARD_EULER, 40) - exact;

  (void)state;
  note("tip %g m; errors of newmark %g, %g, of backward euler %g, %g", (double)exact, (double)coarse,
       (double)fine, (double)first, (double)second);
  assert_true(PetscAbsReal(fine / exact) < 0.02);
  assert_near(coarse / fine, 4, 1.2);
  assert_near(first / second, 2, 0.5);
}

/* Undamped, of a linear material, in steps of twenty times what is stable: the trapezoidal rule keeps the
   energy. */
static void newmark_keeps_the_energy_of_linear_solids(void **state)
{
  SolidCase           *solids = solid_case_new(0);
  SolidMaterialConfig *material = solid_case_add_mesh(solids, vector3(0, 0, 0), vector3(1, 0.2, 0.2), 0.1);
  SolidReport          before, after;

  (void)state;
  material->model = MATERIAL_LINEAR;
  solids->config.elasticity = ELASTIC_NEWMARK;
  solid_case_hold(solids, vector3(-1, -1, -1), vector3(0.01, 1, 1), -1);
  solid_case_start(solids);
  for (PetscInt p = 0; p < solids->solid->points->count; p++)
    solids->solid->points->velocity[p] = vector3(0, 0, 0.1 * solids->solid->points->rest[p].at[X]);
  points_follow_velocity(solids->solid, solids->solid->twists, solids->solid->points->velocity);
  before = solid_report(solids->solid);
  solid_case_run(solids, 20 * solid_longest_substep(solids->solid), 100);
  after = solid_report(solids->solid);
  assert_near((after.kinetic_energy + after.elastic_energy) / before.kinetic_energy, 1, 1e-5);
  assert_true(after.newton_iterations >= 1 && after.linear_iterations >= 1);
  solid_case_free(solids);
}

/* A free bar in flight: linear momentum to the tolerance of the solves. */
static void implicit_steps_keep_momentum(void **state)
{
  (void)state;
  for (PetscInt time = ELASTIC_NEWMARK; time <= ELASTIC_BACKWARD_EULER; time++) {
    SolidCase  *solids = solid_case_new(0);
    SolidReport before, after;

    solid_case_add_mesh(solids, vector3(-0.5, -0.1, -0.1), vector3(0.5, 0.1, 0.1), 0.1)->damping = 0.01;
    solids->meshes[0].velocity = vector3(1, 2, 3);
    solids->meshes[0].spin = vector3(2, 1, 4);
    solids->config.elasticity = (ElasticTime)time;
    solid_case_start(solids);
    before = solid_report(solids->solid);
    solid_case_run(solids, 0.01, 10);
    after = solid_report(solids->solid);
    assert_false(after.is_unsolved);
    assert_near(vector3_norm(vector3_subtract(after.momentum, before.momentum)) /
                    vector3_norm(before.momentum),
                0, 1e-9);
    assert_near(vector3_norm(vector3_subtract(after.angular_momentum, before.angular_momentum)) /
                    vector3_norm(before.angular_momentum),
                0, 2e-2);
    solid_case_free(solids);
  }
}

/* Steel on the floor, in steps of hundreds of what is stable: it stands, and its weight presses it by
   rho g h^2 / 2 E. */
static void a_stiff_block_stands_in_long_steps(void **state)
{
  SolidCase           *solids = solid_case_new(9.81);
  SolidMaterialConfig *material;
  PetscReal            low = 1, high = 0;

  (void)state;
  solid_case_add_plane(solids, vector3(0, 0, 0), vector3(0, 0, 1));
  material = solid_case_add_mesh(solids, vector3(0, 0, 0), vector3(0.4, 0.4, 0.4), 0.1);
  material->young = 1e8;
  material->poisson = 0;
  material->damping = 1e-3;
  solids->config.elasticity = ELASTIC_BACKWARD_EULER;
  solid_case_start(solids);
  solid_case_run(solids, 0.02, 50);
  assert_true(solid_longest_substep(solids->solid) < 0.02 / 30);
  for (PetscInt p = 0; p < solids->solid->points->count; p++) {
    low = PetscMin(low, solids->solid->points->position[p].at[Z]);
    high = PetscMax(high, solids->solid->points->position[p].at[Z]);
  }
  assert_true(low > -1e-6);
  assert_near((0.4 - high) / (1000 * 9.81 * 0.16 / 2 / 1e8), 1, 0.3);
  assert_true(solid_report(solids->solid).largest_speed < 1e-6);
  solid_case_free(solids);
}

/* Nothing holds it: refused before anything is solved. */
static void equilibrium_needs_holds(void **state)
{
  SolidCase *solids = solid_case_new(9.81);
  char       message[1024];

  (void)state;
  solid_case_add_mesh(solids, vector3(0, 0, 0), vector3(0.4, 0.4, 0.4), 0.2);
  solids->config.elasticity = ELASTIC_STATIC;
  assert_success(SolidCreate(PETSC_COMM_WORLD, &solids->config, &solids->solid, message, sizeof(message)));
  assert_null(solids->solid);
  assert_non_null(strstr(message, "hold it"));
  solid_case_free(solids);
}

TEST_MAIN(cmocka_unit_test(the_matrix_is_that_of_elements), cmocka_unit_test(a_bar_hangs_in_equilibrium),
          cmocka_unit_test(every_solver_finds_the_same_equilibrium),
          cmocka_unit_test(newmark_is_of_second_order_and_backward_euler_of_first),
          cmocka_unit_test(newmark_keeps_the_energy_of_linear_solids),
          cmocka_unit_test(implicit_steps_keep_momentum),
          cmocka_unit_test(a_stiff_block_stands_in_long_steps), cmocka_unit_test(equilibrium_needs_holds))
