/* The bodies of a solid in the fluid. */
#include "coupling_case.h"
#include "harness.h"
#include "scene_run.h"
#include "solid_case.h"
#include "solids.h"

#include "coupling/coupling_impl.h"
#include "solid/solid_impl.h"

#include <string.h>

static const CouplingSetup tank = {.dimension = 3,
                                   .cells = {20, 18, 16},
                                   .length = 2.,
                                   .density = 1000.,
                                   .solver = COUPLING_SCHUR,
                                   .tolerance = 1e-12};

/* A ball, a turned box and a capsule of the water's density over a tilted ground, and a shell. */
static SolidCase *make_bodies(void)
{
  SolidCase *solids = solid_case_new(9.81);
  Shape      capsule, hull;

  solid_case_add_plane(solids, vector3(1, 0.9, 0.3), vector3(0.1, 0.2, 1));
  solid_case_add_sphere(solids, vector3(0.55, 0.61, 1.03), 0.27);
  solid_case_add_box(solids, vector3(1.47, 0.52, 0.95), vector3(0.21, 0.28, 0.17), vector3(0.3, 0.5, 0.2));
  assert_success(ShapeCreateCapsule(vector3(0.4, 1.3, 0.8), vector3(0.8, 1.4, 0.9), 0.15, &capsule));
  solid_case_add(solids, capsule);
  assert_success(ShapeCreateSphere(vector3(1.4, 1.3, 1.), 0.3, &hull));
  solid_case_add(solids, hull)->thickness = 0.01;
  solid_case_start(solids);
  return solids;
}

static void start(CouplingCase *coupled, Solid solid)
{
  const FluidSystem fluid = {.density = 1000., .weights = coupled->weights};

  coupled->count = 0;
  assert_success(CouplingPlaceSolid(coupled->coupling, solid));
  assert_success(CouplingSetFluid(coupled->coupling, &fluid));
}

static void bodies_of_a_solid_float_where_they_are(void **state)
{
  for (CouplingFaces faces = COUPLING_CUT; faces <= COUPLING_TIED; faces++) {
    CouplingSetup setup = tank;
    SolidCase    *solids = make_bodies();
    CouplingCase *coupled;

    (void)state;
    setup.faces = faces;
    coupled = coupling_case_new(PETSC_COMM_WORLD, &setup);
    for (int again = 0; again < 2; again++) /* surfaces are kept, but for that of the plane */
      start(coupled, solids->solid);
    coupling_case_accelerate(coupled, vector3(0., 0., -9.81));
    for (PetscInt b = 1; b < 5; b++)
      coupled->twists[6 * b + 2] = -9.81;
    coupling_case_solve(coupled);
    assert_on_all_ranks(coupled->report.unseen_bodies == 0 && coupled->report.components == 2);
    assert_int_equal(coupled->report.null_vectors, 2); /* inside the shell, and outside */
    for (PetscInt n = 0; n < 6 * 4; n++)
      assert_near(coupled->twists[n], 0., 1e-8);
    coupling_case_free(coupled);
    solid_case_free(solids);
  }
}

/* No water passes the shell of a body, at any of its places. */
static void shells_stay_tight_while_they_move(void **state)
{
  CouplingCase *coupled = coupling_case_new(PETSC_COMM_WORLD, &tank);
  SolidCase    *solids = make_bodies();

  (void)state;
  for (int step = 0; step < 20; step++) {
    start(coupled, solids->solid);
    assert_int_equal(coupled->coupling->grid ? coupled->coupling->found.components : 2, 2);
    solid_case_run(solids, 0.005, 1);
  }
  coupling_case_free(coupled);
  solid_case_free(solids);
}

/* Floor and walls at the sides of the box, or tilted ones beyond it. */
static void planes_beyond_the_box_do_not_meet_the_fluid(void **state)
{
  PetscInt faces[2];

  (void)state;
  for (int planes = 0; planes < 2; planes++) {
    CouplingCase *coupled = coupling_case_new(PETSC_COMM_WORLD, &tank);
    SolidCase    *solids = solid_case_new(9.81);

    solid_case_add_sphere(solids, vector3(0.55, 0.61, 1.03), 0.27);
    if (planes) {
      solid_case_add_plane(solids, vector3(1, 1, 0), vector3(0, 0, 1));
      solid_case_add_plane(solids, vector3(2, 1, 1), vector3(-1, 0, 0));
      solid_case_add_plane(solids, vector3(-0.5, 0, 0), vector3(1, 0.2, 0.2));
    }
    solid_case_start(solids);
    start(coupled, solids->solid);
    faces[planes] = coupled->coupling->found.mixed_faces;
    coupling_case_accelerate(coupled, vector3(0., 0., -9.81));
    coupled->twists[2] = -9.81;
    coupling_case_solve(coupled);
    for (PetscInt n = 0; n < 6; n++)
      assert_near(coupled->twists[n], 0., 1e-8);
    coupling_case_free(coupled);
    solid_case_free(solids);
  }
  assert_on_all_ranks(faces[0] == faces[1]);
}

/* Six balls in a row, the last one behind the end of the box: each is of triangles on ranks near it only,
   and a seventh, of another size and far away, nowhere has a surface. */
static void ranks_hold_the_surfaces_of_bodies_near_them(void **state)
{
  CouplingCase  *coupled;
  CouplingSetup  setup = tank;
  SolidCase     *solids = solid_case_new(9.81);
  PlacedSolids  *placed;
  PetscBool      is_good = PETSC_TRUE;
  PetscInt       held = 0;
  const GridBox *box = NULL;

  (void)state;
  setup.cells[X] = 60;
  setup.length = 6.;
  coupled = coupling_case_new(PETSC_COMM_WORLD, &setup);
  placed = &coupled->coupling->solids;
  for (int b = 0; b < 6; b++)
    solid_case_add_sphere(solids, vector3(0.5 + 1.4 * b, 0.9, 0.8), 0.3);
  solid_case_add_sphere(solids, vector3(20., 0.9, 0.8), 0.4);
  solid_case_start(solids);
  start(coupled, solids->solid);
  if (coupled->grid)
    box = grid_box(coupled->grid);
  for (PetscInt b = 0; b < 7 && box; b++) {
    const PetscReal x = solid_case_position(solids, b).at[X] / 0.1, reach = 3. + 1.2 * 3. + 0.01;
    const PetscBool is_near = x + reach > box->start[X] && x - reach < box->end[X];

    held += is_near;
    is_good = is_good && is_near == (placed->bodies[b].triangles.triangle_count > 0);
  }
  assert_on_all_ranks(is_good && placed->near_count == held && placed->surface_count == held);
  assert_on_all_ranks(!box || held <= (box->end[X] - box->start[X] == 60 ? 5 : 3));
  coupling_case_free(coupled);
  solid_case_free(solids);
}

enum { RINGS = 12, LONG_BOX = 80 };

/* Rings, all different, in a long row, which move along it; the first ones are balls in hollow shells. */
static SolidCase *make_rings(void)
{
  SolidCase *solids = solid_case_new(0.);

  for (int b = 0; b < RINGS; b++) {
    Surface ring = b < 2 ? make_ball(0.2 + 0.01 * b, 8, 12) : make_ring(0.2 + 0.005 * b, 0.07, 12 + b, 8);
    Shape   shape, placed;

    assert_success(ShapeCreateSurface(&ring, &shape));
    assert_success(ShapeCreatePlaced(&shape, 1., vector3(0.3 * b, 0.4, 0.1),
                                     vector3(0.4 + 0.65 * b, 0.9, 0.8), &placed));
    *solid_case_add(solids, placed) = (BodyConfig){.name = solids->names[b],
                                                   .shape = placed,
                                                   .density = 1000,
                                                   .thickness = b < 2 ? 0.01 : 0.,
                                                   .copies = {.count = vector3(1, 1, 1)},
                                                   .velocity = vector3(1., 0., 0.)};
  }
  solid_case_start(solids);
  return solids;
}

/* The cells that bodies cover and the mixed faces, the same with a solid whose forms are shared out as with
   one that is whole on every rank. */
static PetscBool is_alike(CouplingCase *shared, CouplingCase *whole)
{
  PetscBool good = shared->coupling->found.mixed_faces == whole->coupling->found.mixed_faces;

  for (PetscInt c = 0; shared->grid && c < grid_box(shared->grid)->length; c++)
    good = good && coupling_solid_cells(shared->coupling)[c] == coupling_solid_cells(whole->coupling)[c];
  for (PetscInt m = 0; good && m < whole->coupling->faces.mixed_count; m++)
    good = shared->coupling->faces.mixed[m].open == whole->coupling->faces.mixed[m].open;
  return good;
}

static PetscInt count_near(CouplingCase *coupled)
{
  PetscInt count = 0;

  for (PetscInt b = 0; b < RINGS; b++)
    count += coupled->coupling->solids.bodies[b].triangles.triangle_count > 0;
  return count;
}

/* A rank outside the solid team makes no form: it holds the surfaces near it, and its part of all. */
static PetscBool holds_little(CouplingCase *coupled, Solid solid)
{
  PetscMPIInt ranks = 1;
  PetscInt    part;

  if (!coupled->grid || team_has_solids(coupled->team))
    return solid_surfaces_held(solid) == RINGS;
  (void)MPI_Comm_size(team_fluid(coupled->team), &ranks);
  part = (RINGS + ranks - 1) / ranks;
  for (PetscInt e = 0; e < RINGS; e++)
    if (solid->forms[e]->distances || solid->forms[e]->samples || solid->forms[e]->hull)
      return PETSC_FALSE;
  return solid_surfaces_held(solid) <= part && count_near(coupled) < RINGS;
}

static void surfaces_are_fetched_by_ranks_that_meet_them(void **state)
{
  CouplingSetup setup = tank;
  SolidCase    *solids = make_rings();
  CouplingCase *coupled[2];
  PetscBool     good = PETSC_TRUE;
  char          message[256];
  Solid         solid;

  (void)state;
  setup.cells[X] = LONG_BOX;
  setup.length = 0.1 * LONG_BOX;
  for (int c = 0; c < 2; c++)
    coupled[c] = coupling_case_new(PETSC_COMM_WORLD, &setup);
  assert_success(SolidCreateOnTeam(coupled[0]->team, &solids->config, &solid, message, sizeof(message)));
  assert_string_equal(message, "");
  for (int step = 0; step < 5; step++) {
    start(coupled[0], solid);
    start(coupled[1], solids->solid);
    good = good && is_alike(coupled[0], coupled[1]) && holds_little(coupled[0], solid);
    good = good && coupling_surfaces_held(coupled[0]->coupling) >= count_near(coupled[0]);
    solid_case_run(solids, 0.25, 1);
    if (team_has_solids(coupled[0]->team))
      PetscCallAbort(PETSC_COMM_SELF, SolidStep(solid, 0.25 * step, 0.25));
    assert_success(
        SolidBroadcast(solid, team_world(coupled[0]->team), team_first_solid_rank(coupled[0]->team)));
  }
  note("%d near, %d kept, %d held", (int)count_near(coupled[0]),
       (int)coupling_surfaces_held(coupled[0]->coupling), (int)solid_surfaces_held(solid));
  assert_on_all_ranks(good);
  for (int again = 0; again < 70; again++)
    assert_success(CouplingPlaceSolid(coupled[0]->coupling, solid));
  assert_on_all_ranks(coupling_surfaces_held(coupled[0]->coupling) == count_near(coupled[0]));
  assert_success(SolidDestroy(&solid));
  for (int c = 0; c < 2; c++)
    coupling_case_free(coupled[c]);
  solid_case_free(solids);
}

/* What is wrong with a body is found by the solid team and told to all. */
static void all_ranks_learn_what_is_wrong_with_a_body(void **state)
{
  const TeamConfig config = {.solid_ranks = -1};
  SolidCase       *solids = solid_case_new(9.81);
  char             message[256];
  Solid            solid;
  Team             team;

  (void)state;
  for (int b = 0; b < 2; b++)
    solid_case_add_sphere(solids, vector3(0.1 * b, 0., 0.), 0.3);
  assert_success(TeamCreate(PETSC_COMM_WORLD, &config, WORK_BOTH, &team));
  assert_success(SolidCreateOnTeam(team, &solids->config, &solid, message, sizeof(message)));
  assert_on_all_ranks(!solid && strstr(message, "overlap") != NULL);
  assert_success(TeamDestroy(&team));
  solid_case_free(solids);
}

/* Of a scene the solid team keeps the triangles of files; the run does not need them elsewhere. */
static void scenes_leave_triangles_of_bodies_to_the_solid_team(void **state)
{
  const char *const coarse[] = {"grid.resolution=12"};
  SceneRun          flow = {0};
  char              path[PETSC_MAX_PATH_LEN], message[256];
  PetscBool         good, is_whole;
  Primitive         hull;

  (void)state;
  assert_success(
      PetscSNPrintf(path, sizeof(path), "%s/inputs/coupling/boat.yaml", getenv("MILLRACE_SOURCE")));
  assert_success(SceneRead(PETSC_COMM_WORLD, path, 1, coarse, &flow.scene));
  assert_success(SceneCreateSimulation(flow.scene, &flow.simulation, message, sizeof(message)));
  assert_on_all_ranks(flow.simulation != NULL);
  hull = shape_primitive(solid_body_view(simulation_solid(flow.simulation), 0).config->shape);
  is_whole = hull.surface ? PETSC_TRUE : PETSC_FALSE;
  assert_on_all_ranks(hull.kind == PRIMITIVE_SURFACE &&
                      is_whole == team_has_solids(simulation_team(flow.simulation)));
  assert_success(SimulationStart(flow.simulation));
  assert_success(SimulationStep(flow.simulation, 0.001, &good));
  assert_on_all_ranks(good);
  assert_success(SceneRunDestroy(&flow));
}

TEST_MAIN(cmocka_unit_test(scenes_leave_triangles_of_bodies_to_the_solid_team),
          cmocka_unit_test(surfaces_are_fetched_by_ranks_that_meet_them),
          cmocka_unit_test(all_ranks_learn_what_is_wrong_with_a_body),
          cmocka_unit_test(ranks_hold_the_surfaces_of_bodies_near_them),
          cmocka_unit_test(planes_beyond_the_box_do_not_meet_the_fluid),
          cmocka_unit_test(bodies_of_a_solid_float_where_they_are),
          cmocka_unit_test(shells_stay_tight_while_they_move))
