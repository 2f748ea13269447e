/* The coupled system: laws that every solve keeps, to round-off or to its tolerance. */
#include "coupling_case.h"
#include "harness.h"
#include "solids.h"

#include "coupling/coupling_impl.h"

static const CouplingSetup tank = {.dimension = 3,
                                   .cells = {20, 18, 16},
                                   .length = 2.,
                                   .density = 1000.,
                                   .solver = COUPLING_SCHUR,
                                   .tolerance = 1e-13};
static const CouplingSetup ring = {.dimension = 3,
                                   .cells = {20, 18, 16},
                                   .length = 2.,
                                   .periodic = {PETSC_TRUE, PETSC_TRUE, PETSC_TRUE},
                                   .density = 1000.,
                                   .solver = COUPLING_SCHUR,
                                   .tolerance = 1e-12};
static const CouplingSetup sheet = {.dimension = 2,
                                    .cells = {30, 24, 1},
                                    .length = 3.,
                                    .density = 2.,
                                    .solver = COUPLING_SCHUR,
                                    .tolerance = 1e-13};

/* Every law holds for cut and tied faces; those of the thesis keep what W does not spoil
   (test_coupling_thesis.c has the rest). */
static CouplingFaces faces;
static CouplingMass  mass_kind;

static int with_cut_faces(void **state)
{
  (void)state;
  faces = COUPLING_CUT;
  mass_kind = COUPLING_MASS_FULL;
  return 0;
}

static int with_tied_faces(void **state)
{
  (void)state;
  faces = COUPLING_TIED;
  mass_kind = COUPLING_MASS_FULL;
  return 0;
}

static int with_thesis_faces(void **state)
{
  (void)state;
  faces = COUPLING_FACES_THESIS;
  mass_kind = COUPLING_MASS_FULL;
  return 0;
}

static int with_lumped_mass(void **state)
{
  (void)state;
  faces = COUPLING_FACES_THESIS;
  mass_kind = COUPLING_MASS_DIAGONAL;
  return 0;
}

static CouplingCase *make(MPI_Comm comm, const CouplingSetup *setup)
{
  CouplingSetup chosen = *setup;

  chosen.faces = faces;
  chosen.mass = mass_kind;
  return coupling_case_new(comm, &chosen);
}

static PetscReal swirl(PetscInt d, Vector3 x)
{
  return PetscSinReal(3.1 * x.at[(d + 1) % 3] + d) +
         0.5 * PetscCosReal(2.3 * x.at[d] - 1.7 * x.at[(d + 2) % 3]);
}

static PetscReal one(Vector3 x)
{
  (void)x;
  return 1.;
}

/* Bodies of the fluid's density, wherever and however they stand, stay at rest under gravity. */
static void check_archimedes(const CouplingSetup *setup, Vector3 gravity)
{
  CouplingCase *coupled = make(PETSC_COMM_WORLD, setup);

  if (setup->dimension == 3) {
    coupling_case_add(coupled, make_box(vector3(0.21, 0.33, 0.17)), 0., setup->density,
                      vector3(0.52, 0.61, 0.73), vector3(0.3, 0.5, 0.2));
    coupling_case_add_ball(coupled, 0.27, setup->density, vector3(1.43, 1.12, 0.79));
    coupling_case_add(coupled, make_ring(0.3, 0.12, 24, 12), 0., setup->density, vector3(1.37, 0.43, 0.77),
                      vector3(1.1, 0.2, 0.));
  } else {
    coupling_case_add(coupled, make_box(vector3(0.41, 0.23, 0.5)), 0., setup->density,
                      vector3(0.73, 0.81, 0.), vector3(0., 0., 0.4));
    coupling_case_add_ball(coupled, 0.37, setup->density, vector3(2.03, 1.42, 0.));
  }
  coupling_case_start(coupled);
  coupling_case_accelerate(coupled, gravity);
  coupling_case_solve(coupled);
  assert_int_equal(coupled->report.inexact_bodies, 0);
  assert_int_equal(coupled->report.null_vectors, setup->is_open ? 0 : 1);
  for (PetscInt n = 0; n < 6 * coupled->count; n++)
    assert_near(coupled->twists[n], 0., 1e-10);
  assert_near(coupling_case_largest_speed(coupled), 0., 1e-10);
  coupling_case_free(coupled);
}

static void submerged_bodies_feel_archimedes(void **state)
{
  CouplingSetup open = tank, flat = sheet;

  (void)state;
  check_archimedes(&tank, vector3(0., 0., -9.81));
  check_archimedes(&tank, vector3(3., -2., -9.81));
  check_archimedes(&sheet, vector3(1., -9.81, 0.));
  open.is_open = PETSC_TRUE;
  check_archimedes(&open, vector3(0., 0., -9.81));
  flat.is_open = PETSC_TRUE;
  check_archimedes(&flat, vector3(0., -9.81, 0.));
}

/* What bodies take of the owned cells, and the least that they leave of one. */
static PetscErrorCode MeasureFreeParts(CouplingCase *coupled, PetscReal *taken, PetscReal *least)
{
  const PetscReal *part;
  PetscReal        h;
  Vec              parts;

  PetscFunctionBegin;
  if (!coupled->grid)
    PetscFunctionReturn(0);
  h = grid_spacing(coupled->grid);
  PetscCall(MacGridCreateField(coupled->grid, &parts));
  PetscCall(CouplingGetFreeParts(coupled->coupling, parts));
  PetscCall(VecGetArrayRead(parts, &part));
  FOR_CELLS(grid_box(coupled->grid), i, j, k) {
    const PetscReal here = part[box_index(grid_box(coupled->grid), i, j, k)];

    *taken += h * h * h * (1. - here);
    *least = PetscMin(*least, here);
  }
  PetscCall(VecRestoreArrayRead(parts, &part));
  PetscCall(VecDestroy(&parts));
  PetscFunctionReturn(0);
}

static void free_parts_of_cells_add_up(void **state)
{
  CouplingCase *coupled = make(PETSC_COMM_WORLD, &tank);
  PetscReal     taken = 0., least = 1., volume;

  (void)state;
  coupling_case_add_ball(coupled, 0.25, 1., vector3(0.52, 0.61, 0.73));
  coupling_case_add(coupled, make_box(vector3(0.21, 0.33, 0.17)), 0., 1., vector3(1.43, 1.12, 0.79),
                    vector3(0.3, 0.5, 0.2));
  coupling_case_add(coupled, make_disc(0.3, 3, 12), 0.01, 1., vector3(1.43, 0.5, 1.5), vector3(0.4, 0.1, 0));
  volume = coupled->bodies[0].mass + coupled->bodies[1].mass; /* their density is one; a shell takes none */
  coupling_case_start(coupled);
  assert_success(MeasureFreeParts(coupled, &taken, &least));
  assert_success(MPI_Allreduce(MPI_IN_PLACE, &taken, 1, MPIU_REAL, MPI_SUM, PETSC_COMM_WORLD));
  assert_success(MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPIU_REAL, MPI_MIN, PETSC_COMM_WORLD));
  assert_near(taken, volume, 1e-8 * volume);
  assert_near(least, 0., 0.);
  coupling_case_free(coupled);
}

/* Lifted by the weight of the water less its own, whatever moves: M V + what the pressure gave = M V*. */
static void add_crowd(CouplingCase *coupled)
{
  const PetscReal rho = coupled->setup.density;

  coupling_case_add_ball(coupled, 0.31, 0.4 * rho, vector3(0.52, 0.61, 0.73));
  coupling_case_add(coupled, make_box(vector3(0.21, 0.33, 0.17)), 0., 2.5 * rho, vector3(0.82, 0.85, 1.03),
                    vector3(0.3, 0.5, 0.2));
  coupling_case_add(coupled, make_ball(0.28, 8, 16), 0.004, 3. * rho, vector3(1.43, 1.12, 0.79),
                    vector3(0, 0, 0)); /* a sealed shell */
  coupling_case_add(coupled, make_disc(0.3, 3, 12), 0.01, rho, vector3(1.43, 0.5, 1.5),
                    vector3(0.4, 0.1, 0)); /* across the seam */
  coupling_case_add(coupled, make_disc(0.3, 3, 12), 0.01, 2. * rho, vector3(1.43, 0.5, 1.53),
                    vector3(0.4, 0.1, 0));                                   /* close to it */
  coupling_case_add_ball(coupled, 0.2, 1e-3 * rho, vector3(0.02, 1.2, 0.4)); /* across another seam */
}

static void momentum_is_kept(void **state)
{
  (void)state;
  for (CouplingSolver solver = COUPLING_MINRES; solver <= COUPLING_SCHUR; solver++) {
    CouplingSetup setup = ring;
    CouplingCase *coupled;
    PetscReal     before[6], after[6], scale;

    setup.solver = solver;
    setup.tolerance = 1e-6; /* it does not depend on it */
    coupled = make(PETSC_COMM_WORLD, &setup);
    add_crowd(coupled);
    coupling_case_start(coupled);
    coupling_case_fill(coupled, swirl);
    for (PetscInt n = 0; n < 6 * coupled->count; n++)
      coupled->twists[n] = PetscSinReal(1. + 3. * n);
    assert_success(CouplingGetMomentum(coupled->coupling, coupled->velocity, coupled->twists, before));
    coupling_case_solve(coupled);
    assert_on_all_ranks(coupled->report.shared_faces > 0);
    if (faces != COUPLING_FACES_THESIS)
      assert_int_equal(coupled->report.null_vectors, 2);
    assert_success(CouplingGetMomentum(coupled->coupling, coupled->velocity, coupled->twists, after));
    scale = setup.density * 2. * 1.8 * 1.6;
    for (PetscInt d = 0; d < DIM; d++)
      assert_near(after[d], before[d], 1e-12 * scale);
    coupling_case_free(coupled);
  }
}

static void a_neutral_body_does_not_disturb_a_uniform_flow(void **state)
{
  const Vector3 flow = vector3(1., -0.5, 0.3);

  (void)state;
  for (CouplingSolver solver = COUPLING_MINRES; solver <= COUPLING_SCHUR; solver++) {
    CouplingSetup setup = ring;
    CouplingCase *coupled;

    setup.solver = solver;
    coupled = make(PETSC_COMM_WORLD, &setup);
    coupling_case_add_ball(coupled, 0.31, setup.density, vector3(0.52, 0.61, 0.73));
    coupling_case_add(coupled, make_box(vector3(0.21, 0.33, 0.17)), 0., setup.density,
                      vector3(1.5, 1.2, 1.03), vector3(0.3, 0.5, 0.2));
    coupling_case_start(coupled);
    coupling_case_accelerate(coupled, flow);
    coupling_case_solve(coupled);
    for (PetscInt n = 0; n < 6 * coupled->count; n++)
      assert_near(coupled->twists[n], n % 6 < 3 ? flow.at[n % 6] : 0., 1e-9);
    coupling_case_accelerate(coupled, vector3_scale(-1., flow));
    assert_near(coupling_case_largest_speed(coupled), 0., 1e-9);
    coupling_case_free(coupled);
  }
}

static void minres_schur_and_thesis_agree(void **state)
{
  CouplingCase *coupled[3];

  (void)state;
  for (int flat = 0; flat < 2; flat++) {
    for (CouplingSolver solver = COUPLING_MINRES; solver <= COUPLING_THESIS; solver++) {
      CouplingSetup setup = flat ? sheet : tank;

      setup.solver = solver;
      setup.tolerance = 1e-12;
      setup.is_open = PETSC_TRUE;
      coupled[solver] = make(PETSC_COMM_WORLD, &setup);
      coupling_case_add_ball(coupled[solver], 0.31, 0.3 * setup.density,
                             vector3(0.52, 0.61, flat ? 0. : 0.73));
      coupling_case_add_ball(coupled[solver], 0.31, 3. * setup.density,
                             vector3(1.14, 0.69, flat ? 0. : 0.73)); /* touches it */
      coupling_case_start(coupled[solver]);
      coupling_case_fill(coupled[solver], swirl);
      coupling_case_accelerate(coupled[solver], vector3(0, 0, -9.81));
      coupling_case_solve(coupled[solver]);
    }
    for (int s = 0; s < 3; s += 2) {
      PetscReal difference = 0.;

      for (PetscInt n = 0; n < 12; n++)
        assert_near(coupled[s]->twists[n], coupled[COUPLING_SCHUR]->twists[n], 1e-9);
      if (coupled[s]->grid) {
        PetscCallAbort(PETSC_COMM_SELF, VecAXPY(coupled[s]->impulse, -1., coupled[COUPLING_SCHUR]->impulse));
        PetscCallAbort(PETSC_COMM_SELF, VecNorm(coupled[s]->impulse, NORM_INFINITY, &difference));
      }
      assert_near(difference, 0., 1e-8 * coupled[s]->setup.density);
    }
    for (int s = 0; s < 3; s++)
      coupling_case_free(coupled[s]);
  }
}

static PetscErrorCode RandomVectors(Coupling coupling, Vec vectors[4])
{
  uint64_t seed = 17;

  PetscFunctionBegin;
  for (int v = 0; v < 4; v++)
    PetscCall(VecDuplicate(coupling->system.flow, &vectors[v]));
  for (int v = 0; v < 2; v++) {
    PetscReal *values;

    PetscCall(VecGetArray(vectors[v], &values));
    for (PetscInt c = 0; c < coupling->cell_count; c++)
      values[c] = random_number(&seed);
    PetscCall(VecRestoreArray(vectors[v], &values));
    PetscCall(PoissonClearOutside(coupling->system.poisson, vectors[v]));
  }
  PetscFunctionReturn(0);
}

static void operator_and_preconditioner_are_symmetric(void **state)
{
  CouplingCase *coupled = make(PETSC_COMM_WORLD, &ring);
  PetscReal     left[2] = {0}, right[2] = {0}, self[2] = {1., 1.};
  Vec           v[4];

  (void)state;
  add_crowd(coupled);
  coupling_case_start(coupled);
  if (coupled->grid) {
    PetscCallAbort(PETSC_COMM_SELF, RandomVectors(coupled->coupling, v));
    for (int which = 0; which < 2; which++) {
      PetscErrorCode (*apply)(Coupling, Vec, Vec) = which ? CouplingPrecondition : CouplingApplySchur;

      PetscCallAbort(PETSC_COMM_SELF, apply(coupled->coupling, v[0], v[2]));
      PetscCallAbort(PETSC_COMM_SELF, apply(coupled->coupling, v[1], v[3]));
      PetscCallAbort(PETSC_COMM_SELF, VecDot(v[2], v[1], &left[which]));
      PetscCallAbort(PETSC_COMM_SELF, VecDot(v[3], v[0], &right[which]));
      PetscCallAbort(PETSC_COMM_SELF, VecDot(v[2], v[0], &self[which]));
    }
    for (int n = 0; n < 4; n++)
      PetscCallAbort(PETSC_COMM_SELF, VecDestroy(&v[n]));
  }
  for (int which = 0; which < 2; which++) {
    assert_on_all_ranks(self[which] > 0.);
    assert_near(left[which], right[which], 1e-12 * self[which]);
  }
  coupling_case_free(coupled);
}

/* With bodies that share faces, in small groups. */
static void the_mass_matrix_is_symmetric_and_inverted(void **state)
{
  CouplingCase     *coupled = make(PETSC_COMM_WORLD, &ring);
  const SolidSystem solid = coupled->coupling->system.solid;
  PetscReal unit[6 * COUPLING_CASE_BODIES], answer[6 * COUPLING_CASE_BODIES], back[6 * COUPLING_CASE_BODIES];
  SolidSystemBlocks mass;

  (void)state;
  add_crowd(coupled);
  coupling_case_start(coupled);
  mass = solid_system_blocks(solid);
  for (PetscInt n = 0; n < 6 * mass.block_count; n++) {
    for (PetscInt m = 0; m < 6 * mass.block_count; m++)
      unit[m] = m == n ? 1. : 0.;
    PetscCallAbort(PETSC_COMM_SELF, SolidSystemSolve(solid, unit, answer));
    PetscCallAbort(PETSC_COMM_SELF, SolidSystemMultiply(solid, answer, back));
    for (PetscInt m = 0; m < 6 * mass.block_count; m++)
      assert_near(back[m], unit[m], 1e-9);
  }
  for (PetscInt i = 0; i < 36 * mass.block_count; i++)
    assert_near(mass.diagonal[i], mass.diagonal[36 * (i / 36) + 6 * (i % 6) + i % 36 / 6], 0.);
  coupling_case_free(coupled);
}

/* On any number of ranks what one rank gives. */
static void ranks_do_not_show(void **state)
{
  (void)state;
  for (CouplingSolver solver = COUPLING_MINRES; solver <= COUPLING_SCHUR; solver++) {
    CouplingSetup setup = ring;
    CouplingCase *coupled[2];

    setup.solver = solver;
    for (int alone = 0; alone < 2; alone++) {
      coupled[alone] = make(alone ? PETSC_COMM_SELF : PETSC_COMM_WORLD, &setup);
      add_crowd(coupled[alone]);
      coupling_case_start(coupled[alone]);
      coupling_case_fill(coupled[alone], swirl);
      PetscCallAbort(PETSC_COMM_SELF,
                     CouplingSolve(coupled[alone]->coupling, coupled[alone]->velocity,
                                   coupled[alone]->impulse, coupled[alone]->twists, &coupled[alone]->report));
      assert_on_all_ranks(coupled[alone]->report.reason > 0);
    }
    for (PetscInt n = 0; n < 6 * coupled[0]->count; n++)
      assert_near(coupled[0]->twists[n], coupled[1]->twists[n], 1e-10);
    assert_on_all_ranks(coupled[0]->report.mixed_faces == coupled[1]->report.mixed_faces);
    assert_on_all_ranks(coupled[0]->report.shared_faces == coupled[1]->report.shared_faces);
    for (int alone = 0; alone < 2; alone++)
      coupling_case_free(coupled[alone]);
  }
}

/* Wherever bodies touch walls or each other, a constant pressure moves nothing. */
static void a_constant_pressure_pushes_nobody(void **state)
{
  CouplingCase *coupled = make(PETSC_COMM_WORLD, &tank);
  PetscReal     impulses[6 * COUPLING_CASE_BODIES];

  (void)state;
  coupling_case_add_ball(coupled, 0.31, 1000., vector3(0.52, 0.61, 0.29)); /* on the floor */
  coupling_case_add_ball(coupled, 0.31, 500., vector3(0.53, 0.63, 0.88));  /* on the first */
  coupling_case_add(coupled, make_box(vector3(0.3, 0.33, 0.17)), 0., 2000., vector3(1.75, 1.5, 0.19),
                    vector3(0, 0, 0)); /* in a corner */
  coupling_case_add(coupled, make_disc(0.3, 3, 12), 0.01, 1000., vector3(1.3, 0.6, 0.9),
                    vector3(0.4, 0.1, 0));
  coupling_case_start(coupled);
  coupling_case_fill_impulse(coupled, one);
  assert_success(CouplingGetImpulses(coupled->coupling, coupled->impulse, NULL, impulses));
  for (PetscInt n = 0; n < 6 * coupled->count; n++)
    assert_near(impulses[n], 0., 1e-14);
  coupling_case_accelerate(coupled, vector3(0., 0., -9.81));
  coupling_case_solve(coupled);
  assert_on_all_ranks(coupled->report.contact_faces > 4);
  assert_int_equal(coupled->report.null_vectors, 1);
  assert_on_all_ranks(coupled->twists[6 + 2] > -3. && coupled->twists[6 + 2] < 9.); /* lighter than water */
  coupling_case_free(coupled);
}

/* Water inside a closed shell goes with it, and none passes through. */
static void a_sealed_shell_keeps_its_water(void **state)
{
  CouplingCase *coupled = make(PETSC_COMM_WORLD, &tank);

  (void)state;
  coupling_case_add(coupled, make_ball(0.52, 16, 24), 0.005, 8000., vector3(1.02, 0.91, 0.83),
                    vector3(0.1, 0.2, 0.3));
  coupling_case_start(coupled);
  coupling_case_accelerate(coupled, vector3(0., 0., -9.81));
  coupling_case_solve(coupled);
  assert_int_equal(coupled->report.components, 2);
  assert_int_equal(coupled->report.null_vectors, 2);
  assert_near(coupling_case_largest_divergence(coupled), 0., 1e-9);
  /* with 4.0 m^2 x 5 mm of steel around 0.57 m^3 of water it hardly sinks */
  assert_on_all_ranks(coupled->twists[2] < -0.2 && coupled->twists[2] > -3.);
  coupling_case_free(coupled);
}

/* A piston between two sealed chambers: each is moved, both together are a null vector. */
static void pistons_are_held_by_sealed_water(void **state)
{
  (void)state;
  for (CouplingSolver solver = COUPLING_MINRES; solver <= COUPLING_SCHUR; solver++)
    for (int open = 0; open < 2; open++) {
      CouplingSetup setup = tank;
      CouplingCase *coupled;

      setup.solver = solver;
      setup.is_open = open ? PETSC_TRUE : PETSC_FALSE;
      setup.tolerance = 1e-11;
      coupled = make(PETSC_COMM_WORLD, &setup);
      coupling_case_add(coupled, make_box(vector3(1.1, 1., 0.2)), 0., 3000., vector3(1., 0.9, 0.8),
                        vector3(0, 0, 0));
      coupling_case_start(coupled);
      coupling_case_accelerate(coupled, vector3(0., 0., -9.81));
      coupling_case_solve(coupled);
      assert_int_equal(coupled->report.components, 2);
      assert_int_equal(coupled->report.null_vectors, open ? 0 : 1);
      assert_int_equal(coupled->report.moved, 1);
      assert_near(coupled->twists[2], 0., 1e-8);
      coupling_case_free(coupled);
    }
}

/* Given velocities: of a kinematic body, and of all in the projection of F2. */
static void given_velocities_are_met(void **state)
{
  CouplingCase *coupled = make(PETSC_COMM_WORLD, &tank);

  (void)state;
  coupling_case_add_ball(coupled, 0.31, 0., vector3(0.52, 0.61, 0.73));
  coupling_case_add_ball(coupled, 0.31, 500., vector3(1.32, 0.95, 0.7));
  coupling_case_start(coupled);
  coupling_case_fill(coupled, swirl);
  coupled->twists[0] = 1.;
  coupled->twists[5] = 2.;
  coupling_case_solve(coupled);
  assert_near(coupled->twists[0], 1., 0.);
  assert_near(coupled->twists[5], 2., 0.);
  assert_near(coupling_case_largest_divergence(coupled), 0., 1e-9);
  coupling_case_fill(coupled, swirl);
  coupled->twists[6] = -1.;
  coupled->twists[10] = 3.;
  assert_success(CouplingProject(coupled->coupling, coupled->velocity, coupled->impulse, coupled->twists,
                                 &coupled->report));
  assert_on_all_ranks(coupled->report.reason > 0);
  assert_near(coupled->twists[6], -1., 0.);
  assert_near(coupling_case_largest_divergence(coupled), 0., 1e-9);
  coupling_case_free(coupled);
}

static void a_failed_solve_says_why(void **state)
{
  (void)state;
  for (CouplingSolver solver = COUPLING_MINRES; solver <= COUPLING_THESIS; solver++) {
    CouplingSetup setup = tank;
    CouplingCase *coupled;
    PetscReal     speed;

    setup.solver = solver;
    coupled = make(PETSC_COMM_WORLD, &setup);
    coupled->coupling->config.iterations = 2;
    coupling_case_add_ball(coupled, 0.31, 10., vector3(0.52, 0.61, 0.73));
    coupling_case_start(coupled);
    coupling_case_fill(coupled, swirl);
    speed = coupling_case_largest_speed(coupled);
    coupled->twists[0] = 1.;
    assert_success(CouplingSolve(coupled->coupling, coupled->velocity, coupled->impulse, coupled->twists,
                                 &coupled->report));
    assert_on_all_ranks(coupled->report.reason < 0);
    assert_on_all_ranks(coupled->report.worst_body == 0 && coupled->report.worst_component == 0);
    assert_on_all_ranks(strstr(coupled->report.message, "component 0") &&
                        strstr(coupled->report.message, "coupling."));
    assert_near(coupled->twists[0], 1., 0.);
    assert_near(coupling_case_largest_speed(coupled), speed, 0.);
    coupling_case_free(coupled);
  }
}

/* A box of 0.3 of the density of the fluid, with its faces on planes of cell centres or a part of a cell
   aside. */
static PetscReal rise_of_box(const CouplingSetup *setup, PetscReal aside)
{
  const PetscBool is_plane = setup->dimension == 2 ? PETSC_TRUE : PETSC_FALSE;
  CouplingCase   *coupled = make(PETSC_COMM_WORLD, setup);
  const PetscReal by = aside * setup->length / setup->cells[X];
  PetscReal       rise;

  coupling_case_add(coupled, make_box(vector3(0.3, 0.2, is_plane ? 0.5 : 0.3)), 0., 0.3 * setup->density,
                    vector3(1.05 + by, 0.85 + by, is_plane ? 0. : 0.75 + by), vector3(0, 0, 0));
  coupling_case_start(coupled);
  coupling_case_accelerate(coupled, is_plane ? vector3(0., -9.81, 0.) : vector3(0., 0., -9.81));
  coupling_case_solve(coupled);
  rise = coupled->twists[setup->dimension - 1];
  coupling_case_free(coupled);
  return rise;
}

/* Centres that a surface comes near, or lies on, are closed by nothing. Cut faces only: those of tied ones
   are closed or open as centres are inside or outside. */
static void what_a_box_does_is_continuous_in_its_place(void **state)
{
  const CouplingSetup *setups[] = {&sheet, &tank};
  const PetscReal      aside[] = {1e-7, -1e-7, -1e-6, 3e-6, 1e-5, -1e-4};

  (void)state;
  for (int s = 0; s < 2; s++) {
    const PetscReal rise = rise_of_box(setups[s], 0.);

    for (int n = 0; n < 6; n++)
      assert_near(rise_of_box(setups[s], aside[n]), rise, 2. * PetscAbsReal(aside[n]));
  }
}

/* A plate thinner than a cell between two walls, also with one of its sides on centres of cells. */
static void a_thin_plate_divides_the_water(void **state)
{
  const PetscReal half = 0.02, places[] = {0.8, 0.75 + half, 0.75 - half, 0.75 + half + 1e-8, 0.75};

  (void)state;
  for (int n = 0; n < 5; n++) {
    CouplingCase *coupled = make(PETSC_COMM_WORLD, &tank);

    coupling_case_add(coupled, make_box(vector3(1.1, 1., half)), 0., 3000., vector3(1., 0.9, places[n]),
                      vector3(0, 0, 0));
    coupling_case_start(coupled);
    coupling_case_accelerate(coupled, vector3(0., 0., -9.81));
    coupling_case_solve(coupled);
    assert_int_equal(coupled->report.components, 2);
    assert_near(coupled->twists[2], 0., 1e-8);
    coupling_case_free(coupled);
  }
}

#define BOTH(test)                                                                                           \
  {#test " (cut)", test, with_cut_faces, NULL, NULL},                                                        \
  {                                                                                                          \
#test " (tied)", test, with_tied_faces, NULL, NULL                                                       \
  }

#define THREE(test)                                                                                          \
  BOTH(test),                                                                                                \
  {                                                                                                          \
#test " (thesis)", test, with_thesis_faces, NULL, NULL                                                   \
  }
#define FOUR(test)                                                                                           \
  THREE(test),                                                                                               \
  {                                                                                                          \
#test " (lumped)", test, with_lumped_mass, NULL, NULL                                                    \
  }

TEST_MAIN(BOTH(submerged_bodies_feel_archimedes), THREE(momentum_is_kept),
          THREE(a_neutral_body_does_not_disturb_a_uniform_flow), FOUR(minres_schur_and_thesis_agree),
          FOUR(operator_and_preconditioner_are_symmetric), FOUR(the_mass_matrix_is_symmetric_and_inverted),
          FOUR(ranks_do_not_show), BOTH(a_constant_pressure_pushes_nobody),
          BOTH(a_sealed_shell_keeps_its_water), BOTH(pistons_are_held_by_sealed_water),
          BOTH(a_thin_plate_divides_the_water), BOTH(given_velocities_are_met), FOUR(a_failed_solve_says_why),
          cmocka_unit_test_setup(what_a_box_does_is_continuous_in_its_place, with_cut_faces),
          cmocka_unit_test_setup(free_parts_of_cells_add_up, with_cut_faces))
