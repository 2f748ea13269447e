/* Bindings between meshes, bodies and the world. */
#include "solid_case.h"

#include "harness.h"
#include "scene_run.h"
#include "solid/deformable/points.h"

/* Two bars that overlap by a little, the end of the first in the second, turning and flying apart. */
static SolidCase *two_bars(PetscReal damping)
{
  SolidCase *solids = solid_case_new(0);

  solid_case_add_mesh(solids, vector3(0, 0, 0), vector3(0.4, 0.1, 0.1), 0.1)->damping = damping;
  solid_case_add_mesh(solids, vector3(0.37, -0.03, -0.03), vector3(0.8, 0.15, 0.15), 0.11)->damping = damping;
  solids->meshes[0].velocity = vector3(-0.5, 0.2, 0);
  solids->meshes[0].spin = vector3(2, 3, 5);
  solids->meshes[1].spin = vector3(-3, 0, 1);
  return solids;
}

static BindingConfig *bind_ends(SolidCase *solids)
{
  return solid_case_bind(solids, 0, vector3(0.39, -1, -1), vector3(0.41, 1, 1), 1);
}

/* The largest change of either momentum in one step, as part of what there is. */
static PetscReal largest_change(SolidCase *solids, PetscReal dt, PetscInt steps)
{
  PetscReal largest = 0;

  for (PetscInt k = 0; k < steps; k++) {
    const SolidReport before = solid_report(solids->solid);
    SolidReport       after;

    solid_case_run(solids, dt, 1);
    after = solid_report(solids->solid);
    largest = PetscMax(largest, vector3_norm(vector3_subtract(after.momentum, before.momentum)) /
                                    vector3_norm(before.momentum));
    largest =
        PetscMax(largest, vector3_norm(vector3_subtract(after.angular_momentum, before.angular_momentum)) /
                              vector3_norm(before.angular_momentum));
  }
  return largest;
}

static void bindings_keep_both_momenta(void **state)
{
  (void)state;
  for (PetscInt k = 0; k < 4; k++) {
    SolidCase     *solids = two_bars(k % 2 ? 0.002 : 0);
    BindingConfig *binding = bind_ends(solids);
    PetscReal      change;

    binding->kind = k < 2 ? BINDING_SOFT : BINDING_HARD;
    binding->stiffness = 2e3;
    solid_case_start(solids);
    change = largest_change(solids, 0.001, 100);
    note("%s bindings: momenta change by %g in a step; the longest spring has %g m",
         BindingKinds[binding->kind], (double)change, (double)solid_report(solids->solid).longest_binding);
    assert_true(change < 1e-12);
    assert_true((k < 2) == (solid_report(solids->solid).longest_binding > 1e-4));
    solid_case_free(solids);
  }
}

/* Energy neither grows nor is lost without damping. */
static void springs_keep_energy(void **state)
{
  SolidCase     *solids = two_bars(0);
  BindingConfig *binding = bind_ends(solids);
  SolidReport    report;
  PetscReal      begun;

  (void)state;
  binding->stiffness = 1e4;
  binding->damping = 0;
  solid_case_start(solids);
  report = solid_report(solids->solid);
  begun = report.kinetic_energy + report.elastic_energy;
  for (PetscInt k = 0; k < 10; k++) {
    solid_case_run(solids, 0.0005, 40);
    report = solid_report(solids->solid);
    assert_near((report.kinetic_energy + report.elastic_energy) / begun, 1, 0.01);
  }
  solid_case_free(solids);
}

/* However stiff, springs have the same steps and about as many iterations, and no length. */
static void stiffness_costs_nothing(void **state)
{
  PetscReal iterations[6], step = 0;

  (void)state;
  for (PetscInt k = 0; k < 6; k++) {
    SolidCase     *solids = two_bars(0.005);
    BindingConfig *binding = bind_ends(solids);
    PetscInt       sum = 0;

    binding->stiffness = PetscPowReal(10, 2 + 2 * (PetscReal)k);
    solid_case_start(solids);
    if (!k)
      step = solid_longest_substep(solids->solid);
    assert_near(solid_longest_substep(solids->solid) / step, 1, 1e-12);
    for (PetscInt n = 0; n < 50; n++) {
      solid_case_run(solids, 0.001, 1);
      sum += solid_report(solids->solid).damping_iterations;
    }
    iterations[k] = (PetscReal)sum;
    note("%g N/m: %d iterations, springs of %g m", (double)binding->stiffness, (int)sum,
         (double)solid_report(solids->solid).longest_binding);
    assert_true(k < 3 || solid_report(solids->solid).longest_binding < 1e-4 * PetscPowReal(0.01, k - 3));
    solid_case_free(solids);
  }
  for (PetscInt k = 1; k < 6; k++)
    assert_near(iterations[k] / iterations[0], 1, 0.2);
}

/* The farthest that a hard bound point is from where its parents take it. */
static PetscReal widest_slip(const Points *points)
{
  PetscReal widest = 0;

  for (PetscInt k = 0; k < points->bindings.count; k++) {
    const PetscInt p = points->bindings.points[k];

    widest = PetscMax(widest, vector3_norm(vector3_subtract(points->position[p],
                                                            points_mean(points, p, points->position))));
  }
  return widest;
}

/* Hard bound vertices are where the elements of the other mesh are, and no step is shorter. */
static void hard_bindings_leave_no_gap(void **state)
{
  PetscReal steps[2];

  (void)state;
  for (PetscInt bound = 0; bound < 2; bound++) {
    SolidCase    *solids = two_bars(0);
    const Points *points;

    if (bound)
      bind_ends(solids)->kind = BINDING_HARD;
    solid_case_start(solids);
    points = solids->solid->points;
    steps[bound] = solid_longest_substep(solids->solid);
    solid_case_run(solids, 0.002, 20);
    assert_true(widest_slip(points) <= 1e-12);
    assert_int_equal(points->bindings.count, bound ? 4 : 0);
    solid_case_free(solids);
  }
  note("longest steps %g s without and %g s with bindings", (double)steps[0], (double)steps[1]);
  assert_true(steps[1] >= steps[0] * (1 - 2e-3)); /* both are found by iteration */
}

/* Cloth that is sewn to a rope along its rim, and a rope that hangs from the inside of a triangle of it. */
static SolidCase *cloth_between_ropes(BindingKind kind)
{
  static const Vector3 origins[] = {{{0, 0, 0}}, {{0.37, 0.22, 0}}, {{-0.05, 0, 0}}};
  static const Vector3 sides[] = {{{1, 0, 0}}, {{0.1, 0, -0.6}}, {{1.1, 0, 0}}};
  SolidCase           *solids = solid_case_new(0);

  for (PetscInt m = 0; m < 3; m++) {
    SolidMeshConfig     *mesh = &solids->meshes[m];
    SolidMaterialConfig *material =
        solid_case_add_mesh(solids, vector3(0, 0, 0), vector3(1, 1, 1), m ? 0.13 : 0.2);

    assert_success(ShapeDestroy(&mesh->mesh.shape));
    mesh->mesh.use = m ? MESH_USE_ROPE : MESH_USE_CLOTH;
    mesh->mesh.sheet =
        (MeshSheetConfig){.origin = origins[m], .along = sides[m], .across = vector3(0, m ? 0 : 0.5, 0)};
    mesh->thickness = m ? 0.02 : 0.002;
    mesh->velocity = vector3(0.3, 0.2, 0.1 * (PetscReal)m);
    mesh->spin = vector3(1, 2, 3);
    material->model = m ? MATERIAL_SPRINGS : MATERIAL_NEO_HOOKEAN;
    material->damping = 1e-3;
  }
  solid_case_bind(solids, 1, vector3(0.36, 0.21, -0.01), vector3(0.38, 0.23, 0.01), 0)->kind = kind;
  solid_case_bind(solids, 0, vector3(-1, -0.01, -1), vector3(2, 0.01, 1), 2)->kind = kind;
  return solids;
}

static void triangles_and_segments_are_targets(void **state)
{
  PetscReal free_step, change;

  (void)state;
  for (BindingKind kind = BINDING_SOFT; kind <= BINDING_HARD; kind++) {
    SolidCase    *solids = cloth_between_ropes(kind);
    const Points *points;
    PetscReal     gap;

    solids->config.binding_count = 0;
    solid_case_start(solids);
    free_step = solid_longest_substep(solids->solid);
    assert_success(SolidDestroy(&solids->solid));
    solids->config.binding_count = 2;
    solid_case_start(solids);
    points = solids->solid->points;
    assert_int_equal(points->bindings.count, 7); /* one in a triangle, six on segments */
    assert_true(solid_longest_substep(solids->solid) >= free_step * (1 - 2e-3));
    change = largest_change(solids, 0.0005, 100);
    gap = kind == BINDING_SOFT ? solid_report(solids->solid).longest_binding : widest_slip(points);
    note("%s: momenta change by %g in a step, the widest gap is %g m", BindingKinds[kind], (double)change,
         (double)gap);
    assert_true(change < 1e-12 && gap < (kind == BINDING_SOFT ? 1e-4 : 1e-12));
    solid_case_free(solids);
  }
}

/* A bar that turns with a skin of copies on springs, a few of which begin aside. */
static SolidCase *bar_with_skin(SkinMass mass)
{
  SolidCase *solids = solid_case_new(0);

  solid_case_add_mesh(solids, vector3(0, 0, 0), vector3(0.4, 0.1, 0.1), 0.1);
  solids->meshes[0].spin = vector3(2, 3, 9);
  solids->meshes[0].velocity = vector3(0.3, 0, 0);
  solids->meshes[0].contact_spacing = 0.06;
  solids->meshes[0].skin = (SkinConfig){.stiffness = 1e3, .damping = 1, .mass = mass};
  return solids;
}

static void shared_skins_keep_both_momenta(void **state)
{
  (void)state;
  for (PetscInt k = 0; k < 2; k++) {
    SolidCase    *solids = bar_with_skin(SKIN_SHARE);
    SolidCase    *plain = bar_with_skin(SKIN_SHARE);
    const Points *points;
    PetscReal     mass = 0, change;

    solids->materials[0].damping = k ? 0.003 : 0;
    plain->meshes[0].skin.stiffness = 0;
    solid_case_start(solids);
    solid_case_start(plain);
    points = solids->solid->points;
    assert_true(points->soft.count > 100);
    assert_near(solid_longest_substep(solids->solid) / solid_longest_substep(plain->solid), 1, 1e-12);
    for (PetscInt p = 0; p < points->count; p++)
      mass += points->inverse_mass[p] > 0 ? points->mass[p] : 0;
    assert_near(mass, 4, 1e-12);
    for (PetscInt s = 0; s < points->soft.count; s += 7) /* aside */
      points->position[points->soft.list[s].copy].at[Z] += 0.01;
    change = largest_change(solids, 0.001, 50);
    note("copies that share masses: momenta change by %g in a step, springs of %g m", (double)change,
         (double)solid_report(solids->solid).longest_binding);
    assert_true(change < 1e-12);
    solid_case_free(plain);
    solid_case_free(solids);
  }
}

/* Under no influence copies follow their targets, by either mapping of forces. */
static void copies_follow_their_targets(void **state)
{
  (void)state;
  for (SkinMass mass = SKIN_SHARE; mass <= SKIN_DUPLICATE; mass++) {
    SolidCase *solids = bar_with_skin(mass);

    solid_case_start(solids);
    solid_case_run(solids, 0.001, 100);
    note("%s: springs of %g m", SkinMasses[mass], (double)solid_report(solids->solid).longest_binding);
    assert_true(solid_report(solids->solid).longest_binding < 1e-4);
    assert_true(solid_report(solids->solid).elastic_energy > 1e-3);
    solid_case_free(solids);
  }
}

/* A mesh that is bound to a mesh that is bound to a third moves with that. */
static void chains_have_one_link(void **state)
{
  SolidCase    *solids = solid_case_new(0);
  const Points *points;

  (void)state;
  solid_case_add_mesh(solids, vector3(0.09, 0.02, 0.02), vector3(0.2, 0.08, 0.08), 0.1);
  solid_case_add_mesh(solids, vector3(0.16, 0, 0), vector3(0.35, 0.1, 0.1), 0.1);
  solid_case_add_mesh(solids, vector3(0.3, -0.02, -0.02), vector3(0.6, 0.12, 0.12), 0.1);
  solids->meshes[2].spin = vector3(3, 2, 4);
  solids->meshes[1].spin = solids->meshes[0].spin = solids->meshes[2].spin;
  solid_case_bind(solids, 0, vector3(0.19, -1, -1), vector3(0.21, 1, 1), 1)->kind = BINDING_HARD;
  solid_case_bind(solids, 1, vector3(0.34, -1, -1), vector3(0.36, 1, 1), 2)->kind = BINDING_HARD;
  solid_case_start(solids);
  points = solids->solid->points;
  for (PetscInt k = 0; k < points->bindings.parent_count; k++)
    assert_int_equal(points->bindings.index[points->bindings.parents[k]], -1);
  assert_true(largest_change(solids, 0.001, 20) < 1e-12);
  solid_case_free(solids);
}

static void refused(SolidCase *solids, const char why[])
{
  char message[1024];

  assert_success(SolidCreate(PETSC_COMM_WORLD, &solids->config, &solids->solid, message, sizeof(message)));
  assert_null(solids->solid);
  if (!strstr(message, why))
    print_error("%s\n", message);
  assert_non_null(strstr(message, why));
  solid_case_free(solids);
}

/* The farthest of the points that contact meets from its target, of copies at the surface. */
static PetscReal farthest_copy(Solid solid)
{
  const Points         *points = solid->points;
  const DeformableMesh *mesh = &points->meshes[0];
  PetscReal             farthest = 0;

  for (PetscInt k = 0; k < mesh->skin_count; k++) {
    const Vector3 target = points_mean(points, mesh->skin[k], points->position);
    const Vector3 apart = vector3_subtract(points->position[mesh->skin[k]], target);

    assert_int_equal(mesh->skin[k], mesh->first_copy + k);
    farthest = PetscMax(farthest, vector3_norm(apart));
  }
  return farthest;
}

/* A block meets a ball with copies of its vertices and of points between them, many to each parent. */
static SolidCase *block_meets_ball(SkinCoupling coupling)
{
  SolidCase *solids = solid_case_new(0);

  solid_case_add_sphere(solids, vector3(0.27, 0.02, 0.1), 0.15)->friction = 0.4;
  solid_case_add_mesh(solids, vector3(-0.1, -0.1, 0), vector3(0.1, 0.1, 0.2), 0.1)->damping = 1e-3;
  solids->meshes[0].velocity = vector3(2, 0.3, 0);
  solids->meshes[0].friction = 0.4;
  solids->meshes[0].contact_spacing = 0.03;
  solids->meshes[0].skin.coupling = coupling;
  solid_case_start(solids);
  return solids;
}

/* Copies that drift in contact and are synchronised with their targets give them what they get. */
static void synchronised_skins_pass_on_what_they_meet(void **state)
{
  SolidCase *solids = block_meets_ball(SKIN_SYNCHRONISED), *bound = block_meets_ball(SKIN_SPRINGS);
  PetscReal  deepest = 0, change = 0, faster;
  Vector3    start;

  (void)state;
  assert_true(solid_longest_substep(solids->solid) == solid_longest_substep(bound->solid));
  start = solid_report(solids->solid).momentum;
  for (PetscInt k = 0; k < 60; k++) {
    solid_case_run(solids, 0.002, 1);
    solid_case_run(bound, 0.002, 1);
    change = PetscMax(change, vector3_norm(vector3_subtract(solid_report(solids->solid).momentum, start)) /
                                  vector3_norm(start));
    deepest = PetscMax(deepest, solid_report(solids->solid).largest_penetration);
    assert_near(farthest_copy(solids->solid), 0, 1e-15);
  }
  faster = vector3_norm(vector3_subtract(solid_case_velocity(solids, 0), solid_case_velocity(bound, 0)));
  note(
      "the ball goes off with %g m/s, %g from that with bound points; the momentum changes by %g, depth %g m",
      (double)solid_case_velocity(solids, 0).at[X], (double)faster, (double)change, (double)deepest);
  assert_true(change < 1e-12);
  assert_true(solid_case_velocity(solids, 0).at[X] > 0.5);
  assert_true(faster < 0.02 * solid_case_velocity(solids, 0).at[X]);
  assert_true(deepest < 1e-3);
  solid_case_free(solids);
  solid_case_free(bound);
}

static void bindings_that_cannot_be_are_told(void **state)
{
  SolidCase *solids = two_bars(0);

  (void)state;
  solid_case_bind(solids, 0, vector3(-1, -1, -1), vector3(0.01, 1, 1), 1);
  refused(solids, "m outside of mesh \"m1\"");
  solids = two_bars(0);
  solid_case_bind(solids, 0, vector3(2, 2, 2), vector3(3, 3, 3), 1);
  refused(solids, "binds nothing");
  solids = two_bars(0);
  solid_case_bind(solids, 0, vector3(-1, -1, -1), vector3(1, 1, 1), 0);
  refused(solids, "binds a mesh to itself");
  solids = two_bars(0);
  bind_ends(solids)->kind = BINDING_HARD;
  solid_case_bind(solids, 1, vector3(-1, -1, -1), vector3(1, 1, 1), 0)->kind = BINDING_HARD;
  refused(solids, "closes a circle");
  solids = two_bars(0);
  bind_ends(solids)->to = "nobody";
  refused(solids, "no mesh and no body");
  solids = two_bars(0); /* the other one is too far away to be a cloud around it */
  solids->meshes[1].mesh.use = MESH_USE_CLOUD;
  solid_case_bind(solids, 0, vector3(-1, -1, -1), vector3(1, 1, 1), 1)->kind = BINDING_HARD;
  solids->bindings[0].neighbours = 8;
  refused(solids, "is not between its 8 nearest points of cloud \"m1\": make the cloud larger or finer");
  solids = bar_with_skin(SKIN_SHARE); /* its surface is that of its elements */
  solids->meshes[0].skin.drift = 0.001;
  refused(solids, "give skin.refine");
  solids = two_bars(0);
  solids->meshes[1].mesh.order = 2;
  bind_ends(solids);
  refused(solids, "is to a mesh of order 2");
  solids = bar_with_skin(SKIN_SHARE);
  solids->meshes[0].skin.coupling = SKIN_SYNCHRONISED;
  refused(solids, "leave out skin.stiffness");
}

static PetscReal total_energy(Solid solid)
{
  const SolidReport report = solid_report(solid);

  return report.potential_energy + report.kinetic_energy + report.elastic_energy;
}

/* Two rods on binding springs, released: the largest change of their energy in 0.5 s. */
static PetscReal double_pendulum(PetscReal stiffness, PetscReal damping, PetscReal dt)
{
  SceneRun  flow;
  Solid     solid;
  PetscReal begun, largest = 0, longest = 0;

  assert_success(SceneRunCreate(
      PETSC_COMM_WORLD, &flow,
      "run: {end_time: 1, frame_interval: 1, time_step: %g}\n"
      "solids:\n  gravity: [0, 0, -9.81]\n  bodies:\n"
      "    - {name: upper, shape: {capsule: {from: [0, 0, 0], to: [0.4, 0, 0], radius: 0.02}}}\n"
      "    - {name: lower, shape: {capsule: {from: [0.45, 0, 0], to: [0.8, 0, 0], radius: 0.02}}}\n"
      "  pairs: [{first: upper, second: lower, contact: none}]\n"
      "  bindings:\n"
      "    - {name: nail, from: upper, at: [0, 0, 0], stiffness: %g, damping: %g}\n"
      "    - {name: pin, from: upper, at: [0.425, 0, 0], to: lower, stiffness: %g, damping: %g}\n",
      (double)dt, (double)stiffness, (double)damping, (double)stiffness, (double)damping));
  solid = simulation_solid(flow.simulation);
  begun = total_energy(solid);
  for (PetscReal time = dt; time < 0.5; time += dt) {
    assert_success(SceneRunStep(&flow, 1, dt));
    largest = PetscMax(largest, PetscAbsReal(total_energy(solid) - begun));
    longest = PetscMax(longest, solid_report(solid).longest_binding);
  }
  assert_true(solid_report(solid).kinetic_energy > 0.3);
  note("%g N/m, damping %g, steps of %g s: energy changes by %g J, springs of %g m", (double)stiffness,
       (double)damping, (double)dt, (double)largest, (double)longest);
  assert_true(longest < 60 / stiffness); /* twice what joints carry: loads are sudden */
  assert_success(SceneRunDestroy(&flow));
  return largest;
}

/* Two bodies on a binding spring: a point joint, of second order however stiff the spring is. */
static void springs_join_bodies(void **state)
{
  (void)state;
  assert_true(order_between(double_pendulum(1e8, 1, 0.004), double_pendulum(1e8, 1, 0.002)) > 1.9);
  assert_true(order_between(double_pendulum(1e8, 0, 0.004), double_pendulum(1e8, 0, 0.002)) > 1.9);
  assert_true(order_between(double_pendulum(1e3, 0, 0.004), double_pendulum(1e3, 0, 0.002)) > 1.9);
}

/* Two bodies that turn about each other on springs without damping. */
static void springs_of_bodies_keep_both_momenta(void **state)
{
  (void)state;
  for (PetscReal stiffness = 1e3; stiffness < 2e7; stiffness *= 100) {
    SceneRun    flow;
    Solid       solid;
    SolidReport begun, ended;

    assert_success(SceneRunCreate(
        PETSC_COMM_WORLD, &flow,
        "run: {end_time: 1, frame_interval: 1, time_step: 0.002}\n"
        "solids:\n  bodies:\n"
        "    - {name: one, shape: {box: {low: [0, 0, 0], high: [0.4, 0.1, 0.2]}}, spin: [1, 5, 3]}\n"
        "    - {name: two, shape: {box: {low: [0.5, 0, 0], high: [0.8, 0.2, 0.1]}}, velocity: [0, 1, 0]}\n"
        "  pairs: [{first: one, second: two, contact: none}]\n"
        "  bindings:\n    - {name: pin, from: one, at: [0.45, 0, 0], to: two, stiffness: %g, damping: 0}\n",
        (double)stiffness));
    solid = simulation_solid(flow.simulation);
    begun = solid_report(solid);
    assert_success(SceneRunStep(&flow, 100, 0.002));
    ended = solid_report(solid);
    note("%g N/m: the spring has %g m, momenta change by %g and %g", (double)stiffness,
         (double)ended.longest_binding,
         (double)vector3_norm(vector3_subtract(ended.momentum, begun.momentum)),
         (double)vector3_norm(vector3_subtract(ended.angular_momentum, begun.angular_momentum)));
    assert_near(vector3_norm(vector3_subtract(ended.momentum, begun.momentum)), 0, 1e-12);
    assert_near(vector3_norm(vector3_subtract(ended.angular_momentum, begun.angular_momentum)) /
                    vector3_norm(begun.angular_momentum),
                0, 1e-12);
    assert_success(SceneRunDestroy(&flow));
  }
}

/* A ball strikes the first of two balls that a spring holds together: all three go on with a third of its
   speed, at once, and the spring stays closed. */
static void contact_meets_all_that_springs_hold(void **state)
{
  static const char *const names[] = {"striker", "first", "second"};
  SceneRun                 flow;
  Solid                    solid;

  (void)state;
  assert_success(SceneRunCreate(
      PETSC_COMM_WORLD, &flow,
      "run: {end_time: 1, frame_interval: 1, time_step: 0.002}\n"
      "solids:\n  bodies:\n"
      "    - {name: striker, shape: {sphere: {center: [-0.25, 0, 0], radius: 0.1}}, velocity: [1, 0, 0]}\n"
      "    - {name: first, shape: {sphere: {center: [0, 0, 0], radius: 0.1}}}\n"
      "    - {name: second, shape: {sphere: {center: [0.25, 0, 0], radius: 0.1}}}\n"
      "  bindings:\n    - {name: pin, from: first, at: [0.125, 0, 0], to: second, stiffness: 1e8}\n"));
  solid = simulation_solid(flow.simulation);
  assert_success(SceneRunStep(&flow, 27, 0.002));
  for (PetscInt k = 0; k < 3; k++) {
    const Twist *twist = &solid->twists[solid_find_body(solid, names[k])];

    note("%s: %g m/s", names[k], (double)twist->linear.at[X]);
    assert_near(twist->linear.at[X], 1. / 3, 1e-3);
  }
  note("the spring has %g m", (double)solid_report(solid).longest_binding);
  assert_true(solid_report(solid).longest_binding < 1e-5);
  assert_success(SceneRunDestroy(&flow));
}

TEST_MAIN(cmocka_unit_test(bindings_keep_both_momenta), cmocka_unit_test(springs_keep_energy),
          cmocka_unit_test(stiffness_costs_nothing), cmocka_unit_test(hard_bindings_leave_no_gap),
          cmocka_unit_test(triangles_and_segments_are_targets), cmocka_unit_test(chains_have_one_link),
          cmocka_unit_test(shared_skins_keep_both_momenta), cmocka_unit_test(copies_follow_their_targets),
          cmocka_unit_test(synchronised_skins_pass_on_what_they_meet),
          cmocka_unit_test(bindings_that_cannot_be_are_told), cmocka_unit_test(springs_join_bodies),
          cmocka_unit_test(springs_of_bodies_keep_both_momenta),
          cmocka_unit_test(contact_meets_all_that_springs_hold))
