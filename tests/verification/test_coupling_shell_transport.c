/* Smoke in and around moving shells: none passes through, and nobody feels what is beyond. */
#include "scene_run.h"
#include "harness.h"
#include "solids.h"
#include "transport.h"

enum { MANY_STEPS = 500 };

static const CouplingSetup plane = {.dimension = 2,
                                    .cells = {24, 22, 1},
                                    .length = 2.4,
                                    .periodic = {PETSC_TRUE, PETSC_TRUE},
                                    .density = 1.,
                                    .tolerance = 1e-8};
static const CouplingSetup cube = {.dimension = 3,
                                   .cells = {14, 13, 12},
                                   .length = 1.4,
                                   .periodic = {PETSC_TRUE, PETSC_TRUE, PETSC_TRUE},
                                   .density = 1.,
                                   .tolerance = 1e-8};
static const CouplingSetup space = {.dimension = 3,
                                    .cells = {20, 18, 16},
                                    .length = 2.,
                                    .periodic = {PETSC_TRUE, PETSC_TRUE, PETSC_TRUE},
                                    .density = 1.,
                                    .tolerance = 1e-8};

typedef struct {
  const CouplingSetup *setup;
  AdvectionScheme      scheme;
  FlowFunction         flow;
  PetscInt             steps;
  Vector3              offset;
} Trial;

/* To the last bit. */
static void check_smoke(const Trial *trial, Surface surface)
{
  Transport transport = {.config = {.advection = trial->scheme}, .offset = trial->offset};
  PetscReal largest = 0.;

  transport_start(&transport, PETSC_COMM_WORLD, trial->setup, surface);
  transport_set_motion(&transport, 0.6);
  transport.scalars[0].diffusivity = 1e-3;
  if (transport.fluid)
    transport_fill(&transport, 0, transport_smoke);
  for (PetscInt n = 0; n < trial->steps; n++) {
    transport_go(&transport, trial->flow);
    largest = PetscMax(largest, transport_difference(&transport, 0, transport_smoke));
  }
  assert_near(largest, 0., 0.);
  transport_finish(&transport);
}

static const Vector3 aside = {{0.017, 0.023, 0.}}; /* no centre of a cell is on the shell */

static void smoke_moves_with_its_shell_in_the_plane(void **state)
{
  const Vector3 half = vector3(0.5, 0.33, 0.5);

  (void)state;
  check_smoke(&(Trial){&plane, ADVECT_MACCORMACK, transport_rigid, MANY_STEPS, aside}, make_box(half));
  check_smoke(&(Trial){&plane, ADVECT_MACCORMACK, transport_swirl, MANY_STEPS, aside}, make_box(half));
  check_smoke(&(Trial){&plane, ADVECT_SEMI_LAGRANGIAN, transport_swirl, 100, aside}, make_box(half));
  check_smoke(&(Trial){&plane, ADVECT_WENO5, transport_swirl, 100, aside}, make_box(half));
}

static void smoke_moves_with_its_shell_in_space(void **state)
{
  const Vector3 offset = vector3(0.017, 0.023, 0.011);

  (void)state;
  check_smoke(&(Trial){&cube, ADVECT_MACCORMACK, transport_rigid, 60, offset}, make_icosahedron(0.5));
  check_smoke(&(Trial){&space, ADVECT_MACCORMACK, transport_swirl, 10, offset},
              make_box(vector3(0.5, 0.33, 0.25)));
}

static void smoke_moves_with_its_shell_in_space_for_long(void **state)
{
  (void)state;
  only_in_long_runs();
  check_smoke(&(Trial){&cube, ADVECT_MACCORMACK, transport_rigid, MANY_STEPS, vector3(0.017, 0.023, 0.011)},
              make_icosahedron(0.5));
}

/* Half of the shell is beyond the wall along which it moves. */
static void smoke_stays_in_a_shell_at_a_wall(void **state)
{
  CouplingSetup walled = plane;
  const Vector3 offset = vector3(0.017, -1.083, 0.);

  (void)state;
  walled.periodic[Y] = PETSC_FALSE;
  check_smoke(&(Trial){&walled, ADVECT_MACCORMACK, transport_swirl, 20, offset},
              make_box(vector3(0.5, 0.33, 0.5)));
}

/* The sum of the dye inside (side 1) and outside (side 0), and the mean square of its deviation. */
static void add_up(Transport *transport, PetscReal sums[2], PetscReal *squares)
{
  const GridBox   *box;
  const PetscReal *values;
  PetscReal        totals[3] = {0., 0., 0.};
  Vec             *fields;

  if (transport->fluid) {
    box = grid_box(transport->coupled->grid);
    PetscCallAbort(PETSC_COMM_SELF, FluidGetScalars(transport->fluid, &fields));
    PetscCallAbort(PETSC_COMM_SELF, VecGetArrayRead(fields[1], &values));
    FOR_CELLS(box, i, j, k) {
      const PetscReal value = values[box_index(box, i, j, k)];

      totals[transport_smoke(transport, grid_cell_centre(transport->coupled->grid, i, j, k)) > 0.5] += value;
      totals[2] += value * value;
    }
    PetscCallAbort(PETSC_COMM_SELF, VecRestoreArrayRead(fields[1], &values));
  }
  (void)MPI_Allreduce(MPI_IN_PLACE, totals, 3, MPIU_REAL, MPI_SUM, PETSC_COMM_WORLD);
  sums[0] = totals[0];
  sums[1] = totals[1];
  *squares = totals[2];
}

/* Both halves of the diffusion: the first steps have no explicit one. */
static void dye_does_not_diffuse_through_a_shell(void **state)
{
  Transport         transport = {.config = {.advection = ADVECT_MACCORMACK}, .offset = aside};
  PetscReal         before[2], after[2], squares[2];
  PetscBool         good = PETSC_TRUE;
  const Visibility *visibility;

  (void)state;
  transport.scalars[1].diffusivity = 0.05;
  transport_start(&transport, PETSC_COMM_WORLD, &plane, make_box(vector3(0.5, 0.33, 0.5)));
  assert_success(CouplingGetVisibility(transport.coupled->coupling, SHELLS_MOVED, step, &visibility));
  if (transport.fluid) {
    transport_fill(&transport, 0, transport_smoke);
    transport_fill(&transport, 1, transport_dye);
    PetscCallAbort(PETSC_COMM_SELF, FluidSetVisibility(transport.fluid, visibility));
  }
  add_up(&transport, before, &squares[0]);
  for (int n = 0; n < 10 && transport.fluid; n++) {
    PetscCallAbort(PETSC_COMM_SELF, FluidPredict(transport.fluid, step));
    PetscCallAbort(PETSC_COMM_SELF, FluidProjectPrediction(transport.fluid, step, PETSC_MAX_REAL, &good));
  }
  add_up(&transport, after, &squares[1]);
  assert_on_all_ranks(good && squares[1] < 0.7 * squares[0]);
  for (int side = 0; side < 2; side++)
    assert_near(after[side], before[side], 1e-9);
  assert_near(transport_difference(&transport, 0, transport_smoke), 0., 0.);
  transport_finish(&transport);
}

/* The flow of the shell where it has a say: inside, and on faces that lead there; else that of the swirl. */
static PetscReal rigid_inside(const Transport *transport, PetscInt d, Vector3 place)
{
  Vector3   low = place, high = place;
  PetscBool is_inside;

  low.at[d] -= 0.5 * h;
  high.at[d] += 0.5 * h;
  is_inside = transport_smoke(transport, place) > 0. || transport_smoke(transport, low) > 0. ||
              transport_smoke(transport, high) > 0.;
  return is_inside ? transport_rigid(transport, d, place) : transport_swirl(transport, d, place);
}

/* The largest difference between two runs, inside the shell. */
static PetscReal difference_inside(Transport transports[2], PetscInt direction)
{
  const GridBox   *box = grid_box(transports[0].coupled->grid);
  const MacGrid    grid = transports[0].coupled->grid;
  const PetscReal *values[2];
  PetscReal        largest = 0.;
  Vec             *faces, *scalars, field[2];

  for (int n = 0; n < 2; n++) {
    PetscCallAbort(PETSC_COMM_SELF, FluidGetPrediction(transports[n].fluid, &faces, &scalars));
    field[n] = direction < 0 ? scalars[1] : faces[direction];
    PetscCallAbort(PETSC_COMM_SELF, VecGetArrayRead(field[n], &values[n]));
  }
  FOR_CELLS(box, i, j, k) {
    const PetscInt c = box_index(box, i, j, k);
    const Vector3  place =
        direction < 0 ? grid_cell_centre(grid, i, j, k) : grid_face_centre(grid, direction, i, j, k);

    if (transport_smoke(&transports[0], place) > 0.)
      largest = PetscMax(largest, PetscAbsReal(values[0][c] - values[1][c]));
  }
  for (int n = 0; n < 2; n++)
    PetscCallAbort(PETSC_COMM_SELF, VecRestoreArrayRead(field[n], &values[n]));
  return largest;
}

static void check_privacy(const CouplingSetup *setup, AdvectionScheme scheme, Vector3 offset)
{
  Transport transports[2] = {{.config = {.advection = scheme}, .offset = offset},
                             {.config = {.advection = scheme}, .offset = offset}};
  PetscReal largest = 0.;

  for (int n = 0; n < 2; n++) {
    transport_start(&transports[n], PETSC_COMM_WORLD, setup, make_box(vector3(0.5, 0.43, 0.5)));
    transport_set_motion(&transports[n], 0.66);
    if (transports[n].fluid)
      transport_fill(&transports[n], 1, transport_dye);
  }
  for (int steps = 0; steps < 5; steps++) {
    for (int n = 0; n < 2; n++)
      transport_go(&transports[n], n ? rigid_inside : transport_rigid);
    for (PetscInt d = -1; d < setup->dimension && transports[0].fluid; d++)
      largest = PetscMax(largest, difference_inside(transports, d));
  }
  assert_near(largest, 0., 1e-13);
  for (int n = 0; n < 2; n++)
    transport_finish(&transports[n]);
}

static void the_inside_does_not_feel_the_flow_outside(void **state)
{
  (void)state;
  for (AdvectionScheme scheme = ADVECT_SEMI_LAGRANGIAN; scheme <= ADVECT_WENO5; scheme++)
    check_privacy(&plane, scheme, aside);
  check_privacy(&space, ADVECT_MACCORMACK, vector3(0.017, 0.023, 0.011));
}

/* A field of constant slope, in the frame of the shell, keeps it: by less than a cell where nodes are hidden,
   on average far less. */
static PetscReal slope(const Transport *transport, Vector3 place)
{
  const Vector3 own = transport_place_in_body(transport, place);

  return own.at[X] + 0.5 * own.at[Y] - 0.7 * own.at[Z];
}

static void check_slope(const CouplingSetup *setup, Vector3 offset)
{
  Transport        transport = {.config = {.advection = ADVECT_SEMI_LAGRANGIAN}, .offset = offset};
  PetscReal        sums[2] = {0., 0.}, largest = 0.;
  const GridBox   *box;
  const PetscReal *values;
  Vec             *fields;

  transport_start(&transport, PETSC_COMM_WORLD, setup, make_box(vector3(0.5, 0.43, 0.5)));
  transport_set_motion(&transport, 0.66);
  if (transport.fluid)
    transport_fill(&transport, 1, slope);
  transport_go(&transport, transport_rigid);
  if (transport.fluid) {
    box = grid_box(transport.coupled->grid);
    PetscCallAbort(PETSC_COMM_SELF, FluidGetScalars(transport.fluid, &fields));
    PetscCallAbort(PETSC_COMM_SELF, VecGetArrayRead(fields[1], &values));
    FOR_CELLS(box, i, j, k) {
      const Vector3   place = grid_cell_centre(transport.coupled->grid, i, j, k);
      const PetscReal error = PetscAbsReal(values[box_index(box, i, j, k)] - slope(&transport, place)) / h;

      if (transport_smoke(&transport, place) == 0.)
        continue;
      largest = PetscMax(largest, error);
      sums[0] += error;
      sums[1] += 1.;
    }
    PetscCallAbort(PETSC_COMM_SELF, VecRestoreArrayRead(fields[1], &values));
  }
  (void)MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPIU_REAL, MPI_SUM, PETSC_COMM_WORLD);
  note("error %g cells at most, %g on average", (double)largest, (double)(sums[0] / sums[1]));
  assert_on_all_ranks(largest < 1. && sums[0] < 0.15 * sums[1]);
  transport_finish(&transport);
}

static void what_is_inside_moves_with_the_shell(void **state)
{
  (void)state;
  check_slope(&plane, aside);
  check_slope(&space, vector3(0.017, 0.023, 0.011));
}

/* The largest difference between two fields, of which one belongs to this rank alone. */
static PetscReal disagreement(Transport *transport, Transport *alone, Vec shared, Vec own)
{
  const GridBox   *box = grid_box(transport->coupled->grid), *whole = grid_box(alone->coupled->grid);
  const PetscReal *a, *b;
  PetscReal        largest = 0.;

  PetscCallAbort(PETSC_COMM_SELF, VecGetArrayRead(shared, &a));
  PetscCallAbort(PETSC_COMM_SELF, VecGetArrayRead(own, &b));
  FOR_CELLS(box, i, j, k)
    largest = PetscMax(largest, PetscAbsReal(a[box_index(box, i, j, k)] - b[box_index(whole, i, j, k)]));
  PetscCallAbort(PETSC_COMM_SELF, VecRestoreArrayRead(own, &b));
  PetscCallAbort(PETSC_COMM_SELF, VecRestoreArrayRead(shared, &a));
  return largest;
}

static void check_ranks(const CouplingSetup *setup, AdvectionScheme scheme)
{
  Transport transports[2] = {{.config = {.advection = scheme}}, {.config = {.advection = scheme}}};
  PetscReal largest = 0.;
  Vec      *scalars[2], *faces[2], *carried[2];

  for (int n = 0; n < 2; n++) {
    transport_start(&transports[n], n ? PETSC_COMM_SELF : PETSC_COMM_WORLD, setup, make_ball(0.55, 8, 16));
    transport_set_motion(&transports[n], 0.6);
    transports[n].scalars[1].diffusivity = 1e-2;
    if (transports[n].fluid)
      transport_fill(&transports[n], 1, transport_dye);
    for (int steps = 0; steps < 3; steps++)
      transport_go(&transports[n], transport_swirl);
    if (!transports[n].fluid)
      continue;
    assert_int_equal(FluidGetScalars(transports[n].fluid, &scalars[n]), 0);
    assert_int_equal(FluidGetPrediction(transports[n].fluid, &faces[n], &carried[n]), 0);
  }
  if (transports[0].fluid) {
    largest = disagreement(&transports[0], &transports[1], scalars[0][1], scalars[1][1]);
    for (PetscInt d = 0; d < setup->dimension; d++)
      largest = PetscMax(largest, disagreement(&transports[0], &transports[1], faces[0][d], faces[1][d]));
  }
  assert_near(largest, 0., 1e-10); /* diffusion is solved to 1e-10 */
  for (int n = 0; n < 2; n++)
    transport_finish(&transports[n]);
}

static void any_number_of_ranks_sees_the_same(void **state)
{
  (void)state;
  check_ranks(&plane, ADVECT_MACCORMACK);
  check_ranks(&plane, ADVECT_WENO5);
  check_ranks(&space, ADVECT_MACCORMACK);
}

/* What moves with its shell keeps its velocity, on both sides. */
static void a_translation_carries_itself(void **state)
{
  const CouplingSetup *setups[2] = {&plane, &space};

  (void)state;
  for (int n = 0; n < 2; n++) {
    Transport        transport = {.config = {.advection = ADVECT_MACCORMACK}};
    const GridBox   *box;
    const PetscReal *u;
    PetscReal        largest = 0.;
    Vec             *faces, *scalars;

    transport_start(&transport, PETSC_COMM_WORLD, setups[n], make_ball(0.55, 8, 16));
    transport_set_motion(&transport, 0.6);
    transport.spin = vector3(0., 0., 0.);
    transport_go(&transport, transport_rigid);
    if (transport.fluid) {
      box = grid_box(transport.coupled->grid);
      assert_int_equal(FluidGetPrediction(transport.fluid, &faces, &scalars), 0);
      for (PetscInt d = 0; d < box->dimension; d++) {
        assert_int_equal(VecGetArrayRead(faces[d], &u), 0);
        FOR_CELLS(box, i, j, k)
          largest = PetscMax(largest, PetscAbsReal(u[box_index(box, i, j, k)] - transport.velocity.at[d]));
        assert_int_equal(VecRestoreArrayRead(faces[d], &u), 0);
      }
    }
    assert_near(largest, 0., 1e-12);
    transport_finish(&transport);
  }
}

TEST_MAIN(cmocka_unit_test(smoke_moves_with_its_shell_in_the_plane),
          cmocka_unit_test(smoke_moves_with_its_shell_in_space),
          cmocka_unit_test(smoke_moves_with_its_shell_in_space_for_long),
          cmocka_unit_test(smoke_stays_in_a_shell_at_a_wall),
          cmocka_unit_test(dye_does_not_diffuse_through_a_shell),
          cmocka_unit_test(the_inside_does_not_feel_the_flow_outside),
          cmocka_unit_test(what_is_inside_moves_with_the_shell),
          cmocka_unit_test(any_number_of_ranks_sees_the_same), cmocka_unit_test(a_translation_carries_itself))
