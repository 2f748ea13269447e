/* The bodies of a solid in the fluid. */
#include "coupling_case.h"
#include "harness.h"
#include "solid_case.h"

#include "coupling/coupling_impl.h"

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

TEST_MAIN(cmocka_unit_test(ranks_hold_the_surfaces_of_bodies_near_them),
          cmocka_unit_test(planes_beyond_the_box_do_not_meet_the_fluid),
          cmocka_unit_test(bodies_of_a_solid_float_where_they_are),
          cmocka_unit_test(shells_stay_tight_while_they_move))
