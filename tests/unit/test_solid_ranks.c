/* Deformable solids that the ranks share do what they do on one, to the last bit. */
#include "harness.h"
#include "scene_run.h"
#include "solid_case.h"

#include "solid/deformable/distribution.h"

/* The same solids on all ranks together and on each alone. */
typedef struct {
  SolidCase *solids;
  Solid      alone;
  PetscReal  near; /* of places and velocities, where they need not have the same bits */
} Twins;

static Twins twins_start(SolidCase *solids)
{
  Twins twins = {.solids = solids};
  char  message[1024];

  solid_case_start(solids);
  assert_success(SolidCreate(PETSC_COMM_SELF, &solids->config, &twins.alone, message, sizeof(message)));
  assert_non_null(twins.alone);
  return twins;
}

static void twins_free(Twins *twins)
{
  assert_success(SolidDestroy(&twins->alone));
  solid_case_free(twins->solids);
}

static PetscBool same_bits(const void *a, const void *b, size_t bytes)
{
  return memcmp(a, b, bytes) ? PETSC_FALSE : PETSC_TRUE;
}

static PetscReal farthest(const PetscReal a[], const PetscReal b[], PetscInt count)
{
  PetscReal most = 0.;

  for (PetscInt n = 0; n < count; n++)
    most = PetscMax(most, PetscAbsReal(a[n] - b[n]));
  return most;
}

/* Factors of the whole matrix add up in another order. */
static void assert_near_twin(const Twins *twins)
{
  const Solid    shared = twins->solids->solid, alone = twins->alone;
  const PetscInt count = DIM * shared->points->count;

  note("%g m, %g m/s apart",
       (double)farthest(shared->points->position[0].at, alone->points->position[0].at, count),
       (double)farthest(shared->velocity, alone->velocity, count));
  assert_on_all_ranks(farthest(shared->points->position[0].at, alone->points->position[0].at, count) <=
                      twins->near);
  assert_on_all_ranks(farthest(shared->velocity, alone->velocity, count + TWIST * shared->body_count) <=
                      twins->near);
}

static void assert_same(const Twins *twins)
{
  const Solid     shared = twins->solids->solid, alone = twins->alone;
  const PetscInt  count = shared->points->count;
  const PetscReal energy = PetscAbsReal(solid_report(alone).elastic_energy) + 1e-30;

  assert_on_all_ranks(
      same_bits(shared->points->position, alone->points->position, (size_t)count * sizeof(Vector3)));
  assert_on_all_ranks(same_bits(shared->velocity, alone->velocity, (size_t)count * sizeof(Vector3)));
  assert_on_all_ranks(
      same_bits(shared->twists, alone->twists, (size_t)shared->body_count * sizeof(*shared->twists)));
  assert_on_all_ranks(same_bits(shared->placements, alone->placements,
                                (size_t)shared->body_count * sizeof(*shared->placements)));
  assert_on_all_ranks(shared->report.substeps == alone->report.substeps);
  assert_on_all_ranks(shared->report.damping_iterations == alone->report.damping_iterations);
  assert_on_all_ranks(shared->report.linear_iterations == alone->report.linear_iterations);
  assert_on_all_ranks(shared->report.is_unsolved == alone->report.is_unsolved);
  assert_near(solid_report(shared).elastic_energy, solid_report(alone).elastic_energy, 1e-11 * energy);
  assert_near(solid_report(shared).volume, solid_report(alone).volume, 1e-12);
  assert_near(solid_report(shared).least_ratio, solid_report(alone).least_ratio, 0.);
  assert_near(solid_report(shared).point_contacts, solid_report(alone).point_contacts, 0.);
  assert_near(solid_report(shared).mesh_pairs, solid_report(alone).mesh_pairs, 0.);
  assert_near(solid_report(shared).mesh_crossings, solid_report(alone).mesh_crossings, 0.);
}

static void twins_run(Twins *twins, PetscReal dt, PetscInt steps)
{
  const PetscReal time = twins->solids->time;

  solid_case_run(twins->solids, dt, steps);
  for (PetscInt k = 0; k < steps; k++)
    assert_success(SolidStep(twins->alone, time + (PetscReal)k * dt, dt));
  if (twins->near > 0.)
    assert_near_twin(twins);
  else
    assert_same(twins);
}

/* The ranks share the elements, and not everybody has all; or they do not. */
static void assert_shared(const Twins *twins, PetscBool is_shared)
{
  const PetscBool expected = harness_size() > 1 && is_shared ? PETSC_TRUE : PETSC_FALSE;
  SolidWork       work = {0};
  PetscInt        own, all = 0;

  assert_on_all_ranks(solid_work(twins->solids->solid, &work) == expected);
  if (!expected)
    return;
  for (PetscInt p = 0; p < twins->alone->points->count; p++)
    all += twins->alone->points->inverse_mass[p] > 0. ? 1 : 0;
  own = work.points;
  assert_success(MPI_Allreduce(MPI_IN_PLACE, &own, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  assert_on_all_ranks(own == all);
  assert_on_all_ranks(work.points < all);
}

static SolidMaterialConfig *add_bar(SolidCase *solids)
{
  SolidMaterialConfig *material =
      solid_case_add_mesh(solids, vector3(0., 0., 0.), vector3(0.8, 0.2, 0.2), 0.05);

  material->damping = 2e-3;
  return material;
}

static void a_damped_cantilever_has_the_same_bits(void **state)
{
  SolidCase *solids = solid_case_new(9.81);
  Twins      twins;

  (void)state;
  add_bar(solids);
  solid_case_hold(solids, vector3(-1., -1., -1.), vector3(0.01, 1., 1.), -1);
  solids->meshes[0].spin = vector3(1., 2., 3.);
  twins = twins_start(solids);
  assert_shared(&twins, PETSC_TRUE);
  assert_same(&twins);
  twins_run(&twins, 2e-3, 200);
  twins_free(&twins);
}

/* Against a floor, with friction, and a free ball that it hits. */
static void a_block_that_bounces_has_the_same_bits(void **state)
{
  SolidCase *solids = solid_case_new(9.81);
  PetscReal  met = 0.;
  Twins      twins;

  (void)state;
  solid_case_add_plane(solids, vector3(0., 0., -0.01), vector3(0., 0., 1.))->friction = 0.4;
  solid_case_add_sphere(solids, vector3(0.9, 0.1, 0.09), 0.1);
  add_bar(solids);
  solids->meshes[0].friction = 0.4;
  solids->meshes[0].velocity = vector3(1.5, 0., -1.);
  twins = twins_start(solids);
  assert_shared(&twins, PETSC_TRUE);
  for (PetscInt k = 0; k < 6; k++) {
    twins_run(&twins, 2e-3, 10);
    met = PetscMax(met, solid_report(twins.alone).point_contacts);
  }
  assert_on_all_ranks(met > 10);
  assert_on_all_ranks(twins.alone->twists[1].linear.at[X] > 0.1);
  twins_free(&twins);
}

/* Vertices that hang between elements, on seams too. */
static void hanging_vertices_have_the_same_bits(void **state)
{
  SolidCase *solids = solid_case_new(9.81);
  Twins      twins;

  (void)state;
  solid_case_add_plane(solids, vector3(0., 0., -0.01), vector3(0., 0., 1.));
  add_bar(solids);
  solid_case_refine(solids, vector3(0.3, -1., -1.), vector3(0.62, 1., 1.));
  solids->meshes[0].velocity = vector3(0., 0.3, -1.);
  twins = twins_start(solids);
  assert_shared(&twins, PETSC_TRUE);
  assert_on_all_ranks(twins.alone->points->bindings.count > 0);
  twins_run(&twins, 2e-3, 20);
  twins_free(&twins);
}

static void elements_that_remember_have_the_same_bits(void **state)
{
  SolidCase           *solids = solid_case_new(9.81);
  SolidMaterialConfig *material;
  Twins                twins;

  (void)state;
  material = add_bar(solids);
  material->model = MATERIAL_HENCKY;
  material->yield_stress = 500.;
  material->hardening = 1e3;
  solid_case_hold(solids, vector3(-1., -1., -1.), vector3(0.01, 1., 1.), -1);
  solids->meshes[0].velocity = vector3(0., 0., -1.);
  twins = twins_start(solids);
  assert_shared(&twins, PETSC_TRUE);
  twins_run(&twins, 2e-3, 20);
  assert_on_all_ranks(solid_report(twins.solids->solid).plastic_strain > 1e-3);
  assert_near(solid_report(twins.solids->solid).plastic_work, solid_report(twins.alone).plastic_work, 1e-9);
  twins_free(&twins);
}

static void add_cloth(SolidCase *solids, MaterialModel model)
{
  SolidMaterialConfig *material =
      solid_case_add_mesh(solids, vector3(0., 0., 0.), vector3(1., 1., 0.1), 1. / 14.);

  *material = (SolidMaterialConfig){.name = material->name,
                                    .model = model,
                                    .young = 1e5,
                                    .poisson = 0.3,
                                    .density = 300.,
                                    .damping = 1e-3,
                                    .bending = 1e-4,
                                    .altitude = model == MATERIAL_SPRINGS ? 0.2 : 0.};
  assert_success(ShapeDestroy(&solids->meshes[0].mesh.shape));
  solids->meshes[0].thickness = 1e-3;
  solids->meshes[0].mesh.use = MESH_USE_CLOTH;
  solids->meshes[0].mesh.sheet.origin = vector3(0., 0., 0.5);
  solids->meshes[0].mesh.sheet.along = vector3(1., 0., 0.);
  solids->meshes[0].mesh.sheet.across = vector3(0., 1., 0.);
}

/* Hinges join points that no element does. */
static void cloth_over_a_ball_has_the_same_bits(void **state)
{
  const MaterialModel models[] = {MATERIAL_SPRINGS, MATERIAL_NEO_HOOKEAN};

  (void)state;
  for (size_t k = 0; k < 2; k++) {
    SolidCase *solids = solid_case_new(9.81);
    Twins      twins;

    add_cloth(solids, models[k]);
    solid_case_add_sphere(solids, vector3(0.5, 0.5, 0.28), 0.2)->kind = BODY_STATIC;
    twins = twins_start(solids);
    assert_shared(&twins, PETSC_TRUE);
    twins_run(&twins, 5e-3, 20);
    assert_on_all_ranks(solid_report(twins.alone).point_contacts > 0);
    twins_free(&twins);
  }
}

/* A sheet that falls on its edge and folds; and how many contacts it has had with itself. */
static void cloth_that_meets_itself_has_the_same_bits(void **state)
{
  SolidCase *solids = solid_case_new(9.81);
  PetscReal  met = 0.;
  Twins      twins;

  (void)state;
  add_cloth(solids, MATERIAL_NEO_HOOKEAN);
  solids->meshes[0].contact_thickness = 0.02;
  solids->meshes[0].self_contact = PETSC_TRUE;
  solids->meshes[0].friction = 0.3;
  solids->meshes[0].velocity = vector3(0., 0., -2.);
  solids->meshes[0].mesh.sheet.origin = vector3(0., 0., 0.01);
  solids->meshes[0].mesh.sheet.along = vector3(0.8, 0., 0.);
  solids->meshes[0].mesh.sheet.across = vector3(0., 0.2, 1.);
  solid_case_add_plane(solids, vector3(0., 0., 0.), vector3(0., 0., 1.))->friction = 0.3;
  twins = twins_start(solids);
  assert_shared(&twins, PETSC_TRUE);
  for (PetscInt k = 0; k < 10; k++) {
    twins_run(&twins, 1e-2, 4);
    met += solid_report(twins.alone).mesh_pairs;
  }
  assert_on_all_ranks(met > 20);
  twins_free(&twins);
}

/* Divides the points anew, as if there were much to do in a corner, another one each time; returns how many
 * changed their owner. */
static PetscInt divide_anew(Twins *twins, PetscInt time)
{
  const Points *points = twins->solids->solid->points;
  PetscInt     *extra, changed = 0;
  PetscBool    *before;

  assert_success(PetscCalloc2(points->count, &extra, points->count, &before));
  for (PetscInt p = 0; p < points->count; p++) {
    before[p] = points_owns(points, p);
    extra[p] = points->rest[p].at[time % 2] < 0.25 ? 30000 : 0;
  }
  assert_success(PointsDivideAnew(twins->solids->solid, extra));
  for (PetscInt p = 0; p < points->count; p++)
    changed += points_owns(points, p) && !before[p] ? 1 : 0;
  assert_success(MPI_Allreduce(MPI_IN_PLACE, &changed, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  assert_success(PetscFree2(extra, before));
  return changed;
}

/* In the middle, with what elements remember, contact with a floor, and with itself. */
static void points_that_are_divided_anew_have_the_same_bits(void **state)
{
  SolidCase           *solids = solid_case_new(9.81);
  SolidMaterialConfig *material;
  SolidWork            work;
  PetscInt             changed = 0;
  Twins                twins;

  (void)state;
  add_cloth(solids, MATERIAL_NEO_HOOKEAN);
  solids->meshes[0].contact_thickness = 0.01;
  material = solid_case_add_mesh(solids, vector3(0.1, 0.1, 0.27), vector3(0.9, 0.3, 0.47), 0.05);
  material->model = MATERIAL_HENCKY;
  material->yield_stress = 500.;
  material->hardening = 1e3;
  material->damping = 2e-3;
  solids->meshes[1].contact_thickness = 0.01;
  solids->meshes[1].velocity = vector3(0., 0., 1.);
  solid_case_hold(solids, vector3(-1., -1., -1.), vector3(0.11, 1., 1.), -1);
  twins = twins_start(solids);
  for (PetscInt k = 0; k < 3; k++) {
    changed += divide_anew(&twins, k);
    assert_shared(&twins, PETSC_TRUE);
    twins_run(&twins, 4e-3, 5);
  }
  note("%d points changed their owner", (int)changed);
  assert_on_all_ranks(harness_size() == 1 || changed > 100);
  assert_on_all_ranks(solid_report(twins.solids->solid).plastic_strain > 1e-3);
  assert_on_all_ranks(solid_report(twins.alone).mesh_pairs > 0);
  if (solid_work(twins.solids->solid, &work))
    assert_on_all_ranks(work.divisions == 3);
  twins_free(&twins);
}

/* After 50 steps in which one rank had most to do, all have about the same, and the answer is what it was. */
/* Slices, which take the place of both where neither is there, are good from the start. */
static PetscBool divides_a_graph(void)
{
  PetscBool has = PETSC_TRUE;

#ifndef MILLRACE_HAVE_PARMETIS
  assert_success(PetscHasExternalPackage("ptscotch", &has));
#endif
  return has;
}

static void ranks_with_much_to_do_give_some_away(void **state)
{
  SolidCase *solids = solid_case_new(9.81);
  SolidWork  work = {0};
  PetscReal  elements[2];
  Twins      twins;

  (void)state;
  add_bar(solids);
  solid_case_hold(solids, vector3(-1., -1., -1.), vector3(0.01, 1., 1.), -1);
  twins = twins_start(solids);
  (void)divide_anew(&twins, 0);
  twins_run(&twins, 2e-3, 30);
  assert_success(SolidBalance(solids->solid)); /* too early */
  twins_run(&twins, 2e-3, 20);
  assert_success(SolidBalance(solids->solid));
  twins_run(&twins, 2e-3, 5);
  if (solid_work(solids->solid, &work)) {
    elements[0] = elements[1] = (PetscReal)work.elements;
    assert_success(MPI_Allreduce(MPI_IN_PLACE, &elements[0], 1, MPIU_REAL, MPI_SUM, PETSC_COMM_WORLD));
    assert_success(MPI_Allreduce(MPI_IN_PLACE, &elements[1], 1, MPIU_REAL, MPI_MAX, PETSC_COMM_WORLD));
    note("divided %d times, most elements over mean %g", (int)work.divisions,
         (double)(elements[1] * harness_size() / elements[0]));
    assert_on_all_ranks(work.divisions == 2 || (work.divisions == 1 && !divides_a_graph()));
    assert_on_all_ranks(work.waiting > 0.);
    assert_on_all_ranks(elements[1] * harness_size() < 1.25 * elements[0]);
  }
  twins_free(&twins);
}

/* A fast sheet with a hard bound fringe on a block: impulses and zones, and a free body that holds a corner.
 */
static void meshes_that_meet_fast_have_the_same_bits(void **state)
{
  SolidCase *solids = solid_case_new(9.81);
  PetscReal  impulses = 0., zones = 0.;
  Twins      twins;

  (void)state;
  add_cloth(solids, MATERIAL_NEO_HOOKEAN);
  solids->meshes[0].contact_thickness = 2e-3;
  solids->meshes[0].velocity = vector3(0., 3., -40.);
  solid_case_add_box(solids, vector3(1.02, 1.02, 0.5), vector3(0.1, 0.1, 0.1), vector3(0., 3., -40.));
  solid_case_hold(solids, vector3(0.95, 0.95, -1.), vector3(2., 2., 1.), 0);
  solid_case_add_mesh(solids, vector3(0.3, 0.3, 0.2), vector3(0.72, 0.7, 0.4), 0.07)->damping = 2e-3;
  solids->meshes[1].contact_thickness = 2e-3;
  twins = twins_start(solids);
  assert_shared(&twins, PETSC_TRUE);
  for (PetscInt k = 0; k < 10; k++) {
    twins_run(&twins, 1e-3, 2);
    impulses += solid_report(twins.alone).mesh_impulses;
    zones += solid_report(twins.alone).mesh_zones + solid_report(twins.alone).mesh_clamped;
  }
  note("%g impulses, %g zones", (double)impulses, (double)zones);
  assert_on_all_ranks(impulses > 0.);
  twins_free(&twins);
}

/* Sticks of a cut block, whose surfaces are embedded in their elements, spread over a ball that pushes them.
 */
static void sticks_on_a_ball_have_the_same_bits(void **state)
{
  MeshCutConfig cuts[2] = {{.point = {{-1. / 6., 0., 0.}}, .normal = {{1., 0., 0.}}},
                           {.point = {{0., -1. / 6., 0.}}, .normal = {{0., 1., 0.}}}};
  SolidCase    *solids = solid_case_new(9.81);
  Twins         twins;

  (void)state;
  for (PetscInt n = 0; n < 2; n++) {
    cuts[n].count = 2;
    cuts[n].step = 1. / 3.;
    cuts[n].gap = 0.002;
  }
  solid_case_add_mesh(solids, vector3(-0.5, -0.5, 0.51), vector3(0.5, 0.5, 1.51), 0.25)->damping = 0.01;
  solids->meshes[0].mesh.cuts = cuts;
  solids->meshes[0].mesh.cut_count = 2;
  solids->meshes[0].friction = 0.3;
  solids->meshes[0].contact_thickness = 0.0019;
  solids->meshes[0].self_contact = PETSC_TRUE;
  solids->meshes[0].velocity = vector3(0., 0., -1.);
  solid_case_add_sphere(solids, vector3(0.02, 0.01, 0.), 0.5)->kind = BODY_STATIC;
  solids->bodies[0].friction = 0.3;
  twins = twins_start(solids);
  assert_shared(&twins, PETSC_TRUE);
  twins_run(&twins, 5e-3, 30);
  assert_on_all_ranks(solid_report(twins.alone).mesh_pairs > 20 &&
                      solid_report(twins.alone).mesh_crossings == 0);
  twins_free(&twins);
}

/* Between two boxes, one of which is free and turns by a joint, over a small ball that meets what lies
   between the vertices of the bar. */
static void a_bar_between_bodies_has_the_same_bits(void **state)
{
  SolidCase *solids = solid_case_new(9.81);
  PetscReal  met = 0.;
  Twins      twins;

  (void)state;
  solid_case_add_box(solids, vector3(-0.1, 0.1, 0.1), vector3(0.2, 0.1, 0.1), vector3(0., 0., 0.));
  solid_case_add_box(solids, vector3(0.9, 0.1, 0.1), vector3(0.2, 0.1, 0.1), vector3(0., 0., 0.));
  solid_case_add_sphere(solids, vector3(0.37, 0.12, -0.06), 0.05)->kind = BODY_STATIC;
  solid_case_add_joint(solids, JOINT_POINT, -1, 0, vector3(-0.2, 0.1, 0.1), vector3(0., 0., 0.));
  add_bar(solids);
  solids->meshes[0].contact_spacing = 0.02;
  solid_case_hold(solids, vector3(-1., -1., -1.), vector3(0.101, 1., 1.), 0);
  solid_case_hold(solids, vector3(0.699, -1., -1.), vector3(1., 1., 1.), 1);
  twins = twins_start(solids);
  assert_shared(&twins, PETSC_TRUE);
  for (PetscInt k = 0; k < 5; k++) {
    twins_run(&twins, 4e-3, 10);
    met = PetscMax(met, solid_report(twins.alone).point_contacts);
    assert_near(solid_report(twins.solids->solid).near_points, solid_report(twins.alone).near_points, 0.);
  }
  assert_on_all_ranks(met > 0);
  twins_free(&twins);
}

static SolidCase *new_implicit_case(ElasticSolver solver)
{
  SolidCase *solids = solid_case_new(9.81);

  solids->config.elasticity = ELASTIC_NEWMARK;
  solids->config.solver = solver;
  return solids;
}

/* In steps of several explicit ones. */
static void run_implicit_cantilever(PetscInt steps)
{
  SolidCase *solids = new_implicit_case(SOLVER_CG);
  Twins      twins;

  add_bar(solids);
  solid_case_hold(solids, vector3(-1., -1., -1.), vector3(0.01, 1., 1.), -1);
  solids->meshes[0].spin = vector3(1., 2., 3.);
  twins = twins_start(solids);
  assert_shared(&twins, PETSC_TRUE);
  twins_run(&twins, 1e-2, steps);
  assert_on_all_ranks(solid_report(twins.alone).linear_iterations > 0.);
  twins_free(&twins);
}

static void an_implicit_cantilever_has_the_same_bits(void **state)
{
  (void)state;
  run_implicit_cantilever(10);
}

static void it_has_them_after_200_steps(void **state)
{
  (void)state;
  only_in_long_runs();
  run_implicit_cantilever(200);
}

/* Hanging vertices meet a floor with friction, and the end a free ball. */
static void an_implicit_block_in_contact_has_the_same_bits(void **state)
{
  SolidCase *solids = new_implicit_case(SOLVER_CG);
  PetscReal  met = 0.;
  Twins      twins;

  (void)state;
  solids->config.newton = 10;
  solid_case_add_plane(solids, vector3(0., 0., -0.01), vector3(0., 0., 1.))->friction = 0.4;
  solid_case_add_sphere(solids, vector3(0.9, 0.1, 0.09), 0.1);
  add_bar(solids);
  solid_case_refine(solids, vector3(0.3, -1., -1.), vector3(0.62, 1., 1.));
  solids->meshes[0].friction = 0.4;
  solids->meshes[0].velocity = vector3(1.5, 0., -1.);
  twins = twins_start(solids);
  assert_shared(&twins, PETSC_TRUE);
  assert_on_all_ranks(twins.alone->points->bindings.count > 0);
  for (PetscInt k = 0; k < 5; k++) {
    twins_run(&twins, 5e-3, 4);
    met = PetscMax(met, solid_report(twins.alone).point_contacts);
  }
  assert_on_all_ranks(met > 10);
  assert_on_all_ranks(twins.alone->twists[1].linear.at[X] > 0.1);
  twins_free(&twins);
}

/* Two free boxes that elements join, one of them hung; with each way to solve. */
static void implicit_bones_are_the_same(void **state)
{
  const ElasticSolver solvers[] = {SOLVER_CG, SOLVER_CHOLESKY};

  (void)state;
  for (size_t k = 0; k < 2; k++) {
    SolidCase *solids = new_implicit_case(solvers[k]);
    Twins      twins;

    solid_case_add_box(solids, vector3(-0.1, 0.1, 0.1), vector3(0.2, 0.1, 0.1), vector3(0., 0., 0.));
    solid_case_add_box(solids, vector3(0.9, 0.1, 0.1), vector3(0.2, 0.1, 0.1), vector3(0., 0., 0.));
    solid_case_add_joint(solids, JOINT_POINT, -1, 0, vector3(-0.2, 0.1, 0.1), vector3(0., 0., 0.));
    add_bar(solids);
    solid_case_hold(solids, vector3(-1., -1., -1.), vector3(0.41, 0.06, 1.), 0);
    solid_case_hold(solids, vector3(0.41, -1., -1.), vector3(1., 0.06, 1.), 1);
    twins = twins_start(solids);
    assert_shared(&twins, PETSC_TRUE);
    twins.near = solvers[k] == SOLVER_CG ? 0. : 1e-10;
    twins_run(&twins, 1e-2, 10);
    assert_on_all_ranks(solid_report(solids->solid).elastic_solver == 1 + (PetscInt)solvers[k]);
    twins_free(&twins);
  }
}

/* To 1e-8 of the forces with multigrid, whose levels are those of the ranks. */
static void equilibria_are_the_same(void **state)
{
  const ElasticSolver solvers[] = {SOLVER_CG, SOLVER_CHOLESKY, SOLVER_MULTIGRID};

  (void)state;
  for (size_t k = 0; k < 3; k++) {
    SolidCase *solids = new_implicit_case(solvers[k]);
    Twins      twins;

    solids->config.elasticity = ELASTIC_STATIC;
    add_bar(solids)->young = 1e7;
    solid_case_hold(solids, vector3(-1., -1., -1.), vector3(0.01, 1., 1.), -1);
    twins = twins_start(solids);
    assert_shared(&twins, PETSC_TRUE);
    twins.near = (const PetscReal[]){0., 1e-10, 1e-8}[k];
    twins_run(&twins, 1., 1);
    assert_on_all_ranks(!solid_report(twins.alone).is_unsolved);
    assert_on_all_ranks(!solid_report(solids->solid).is_unsolved);
    twins_free(&twins);
  }
}

/* Implicit steps between which points change their owner. */
static void implicit_points_that_are_divided_anew_have_the_same_bits(void **state)
{
  SolidCase *solids = new_implicit_case(SOLVER_CG);
  Twins      twins;

  (void)state;
  add_bar(solids);
  solid_case_hold(solids, vector3(-1., -1., -1.), vector3(0.01, 1., 1.), -1);
  twins = twins_start(solids);
  for (PetscInt k = 0; k < 3; k++) {
    (void)divide_anew(&twins, k);
    twins_run(&twins, 1e-2, 5);
  }
  twins_free(&twins);
}

/* What is not shared is the same on every rank. */
static void kept_volumes_are_found_by_every_rank(void **state)
{
  SolidCase *solids = solid_case_new(9.81);
  Twins      twins;

  (void)state;
  add_bar(solids)->volume = SOLID_VOLUME_KEPT;
  solid_case_add_plane(solids, vector3(0., 0., -0.01), vector3(0., 0., 1.));
  twins = twins_start(solids);
  assert_shared(&twins, PETSC_FALSE);
  twins_run(&twins, 2e-3, 5);
  twins_free(&twins);
}

/* Two tetrahedra have not points enough for every rank. */
static void ranks_without_points_are_no_trouble(void **state)
{
  SolidCase *solids = solid_case_new(9.81);
  Twins      twins;

  (void)state;
  solid_case_add_mesh(solids, vector3(0., 0., 0.), vector3(0.2, 0.1, 0.1), 0.1);
  solid_case_add_plane(solids, vector3(0., 0., -0.01), vector3(0., 0., 1.));
  twins = twins_start(solids);
  twins_run(&twins, 2e-3, 50);
  twins_free(&twins);
}

TEST_MAIN(cmocka_unit_test(a_damped_cantilever_has_the_same_bits),
          cmocka_unit_test(a_block_that_bounces_has_the_same_bits),
          cmocka_unit_test(hanging_vertices_have_the_same_bits),
          cmocka_unit_test(elements_that_remember_have_the_same_bits),
          cmocka_unit_test(cloth_over_a_ball_has_the_same_bits),
          cmocka_unit_test(cloth_that_meets_itself_has_the_same_bits),
          cmocka_unit_test(points_that_are_divided_anew_have_the_same_bits),
          cmocka_unit_test(ranks_with_much_to_do_give_some_away),
          cmocka_unit_test(meshes_that_meet_fast_have_the_same_bits),
          cmocka_unit_test(sticks_on_a_ball_have_the_same_bits),
          cmocka_unit_test(a_bar_between_bodies_has_the_same_bits),
          cmocka_unit_test(an_implicit_cantilever_has_the_same_bits),
          cmocka_unit_test(it_has_them_after_200_steps),
          cmocka_unit_test(an_implicit_block_in_contact_has_the_same_bits),
          cmocka_unit_test(implicit_bones_are_the_same), cmocka_unit_test(equilibria_are_the_same),
          cmocka_unit_test(implicit_points_that_are_divided_anew_have_the_same_bits),
          cmocka_unit_test(kept_volumes_are_found_by_every_rank),
          cmocka_unit_test(ranks_without_points_are_no_trouble))
