/* Archimedes' force beside the sides of the box: a body of the fluid's density stays at rest, with the fluid,
   under gravity of any direction, wherever and however near to a wall, an edge or a corner it stands. No
   rigid contact takes part, so what is missing of the force shows. */
#include "coupling_case.h"
#include "harness.h"
#include "solids.h"

#include "coupling/coupling_impl.h"

static const CouplingSetup tank = {.dimension = 3,
                                   .cells = {18, 16, 14},
                                   .length = 1.8,
                                   .density = 1000.,
                                   .solver = COUPLING_SCHUR,
                                   .tolerance = 1e-13};
static const CouplingSetup sheet = {.dimension = 2,
                                    .cells = {28, 24, 1},
                                    .length = 2.8,
                                    .density = 1000.,
                                    .solver = COUPLING_SCHUR,
                                    .tolerance = 1e-13};

enum { GAPS = 6, FORMS = 3 };
static const PetscReal gaps[GAPS] = {0.,  1e-12, 0.1,
                                     0.5, 1.,    1.5}; /* in cells; not at a wall: off the grid */
static const Vector3   oblique = {{3., -7., 5.}};

/* Half the extents of a body; `form` 0: a box, 1: a ball, 2: a box turned by an eighth about z. */
static Vector3 half_extents(PetscInt dimension, PetscInt form)
{
  const Vector3 half = vector3(0.43, 0.31, dimension == 3 ? 0.27 : 0.5);

  if (form == 0)
    return half;
  if (form == 1)
    return vector3(0.33, 0.33, dimension == 3 ? 0.33 : 0.5);
  return vector3((half.at[X] + half.at[Y]) * PetscSqrtReal(0.5),
                 (half.at[X] + half.at[Y]) * PetscSqrtReal(0.5), half.at[Z]);
}

static void add_body(CouplingCase *coupled, PetscInt form, Vector3 place)
{
  const PetscInt  dimension = coupled->setup.dimension;
  const PetscReal density = coupled->setup.density;

  if (form != 1)
    coupling_case_add(coupled, make_box(vector3(0.43, 0.31, dimension == 3 ? 0.27 : 0.5)), 0., density, place,
                      vector3(0., 0., form == 2 ? PETSC_PI / 4. : 0.));
  else
    coupling_case_add(coupled,
                      dimension == 3 ? make_lathed(5, (PetscReal[]){0., 0.25, 0.33, 0.25, 0.},
                                                   (PetscReal[]){-0.33, -0.2, 0., 0.2, 0.33}, 12)
                                     : make_prism(0.33, 0.5, 16),
                      0., density, place, vector3(0., 0., 0.));
}

/* What moves: the largest of the body's velocities (spins at half a metre) and the fluid's. */
static PetscReal motion_at(const CouplingSetup *setup, CouplingFaces faces, PetscInt form, Vector3 place)
{
  CouplingSetup chosen = *setup;
  CouplingCase *coupled;
  PetscReal     largest;

  chosen.faces = faces;
  coupled = coupling_case_new(PETSC_COMM_WORLD, &chosen);
  add_body(coupled, form, place);
  coupling_case_start(coupled);
  coupling_case_accelerate(coupled,
                           setup->dimension == 3 ? oblique : vector3(oblique.at[X], oblique.at[Y], 0.));
  coupling_case_solve(coupled);
  largest = coupling_case_largest_speed(coupled);
  for (PetscInt n = 0; n < 6; n++)
    largest = PetscMax(largest, PetscAbsReal(coupled->twists[n]) * (n < 3 ? 1. : 0.5));
  coupling_case_free(coupled);
  return largest;
}

/* `sides`: -1, 0, 1 for each direction: at the lower wall, off the grid in the middle, at the upper one. */
static Vector3 place_at(const CouplingSetup *setup, PetscInt form, const PetscInt sides[DIM], PetscReal gap)
{
  const PetscReal h = setup->length / setup->cells[X];
  const Vector3   half = half_extents(setup->dimension, form);
  Vector3         place = vector3(0., 0., 0.);

  for (PetscInt d = 0; d < setup->dimension; d++) {
    const PetscReal size = h * setup->cells[d], from_wall = half.at[d] + gap * h;

    place.at[d] = sides[d] < 0   ? from_wall
                  : sides[d] > 0 ? size - from_wall
                                 : 0.5 * size + (0.23 + 0.11 * d) * h;
  }
  return place;
}

static void check_sides(const CouplingSetup *setup, CouplingFaces faces, PetscInt form,
                        const PetscInt sides[DIM], PetscReal gap)
{
  const PetscReal moves = motion_at(setup, faces, form, place_at(setup, form, sides, gap));

  if (moves > 1e-9 && harness_rank() == 0)
    printf("# %d-D, form %d, sides %d %d %d, gap %g cells: %g m/s\n", (int)setup->dimension, (int)form,
           (int)sides[X], (int)sides[Y], (int)sides[Z], (double)gap, (double)moves);
  assert_near(moves, 0., 1e-9);
}

static void a_neutral_body_rests_beside_every_side(void **state)
{
  (void)state;
  for (PetscInt dimension = 2; dimension <= 3; dimension++)
    for (PetscInt form = 0; form < FORMS; form++)
      for (PetscInt n = 0; n < 2 * dimension; n++)
        for (PetscInt g = 0; g < GAPS; g++) {
          PetscInt sides[DIM] = {0, 0, 0};

          sides[n / 2] = n % 2 ? 1 : -1;
          check_sides(dimension == 3 ? &tank : &sheet, COUPLING_CUT, form, sides, gaps[g]);
        }
}

static void a_neutral_body_rests_in_edges_and_corners(void **state)
{
  const PetscInt places[][DIM] = {{-1, -1, 0}, {1, -1, 0}, {-1, 1, 0}, {1, 1, 0}, {0, 1, -1}, {-1, 1, 1}};

  (void)state;
  for (PetscInt dimension = 2; dimension <= 3; dimension++)
    for (PetscInt form = 0; form < FORMS; form++)
      for (PetscInt n = 0; n < (dimension == 3 ? 6 : 4); n++)
        for (PetscInt g = 0; g < GAPS; g += 2)
          check_sides(dimension == 3 ? &tank : &sheet, COUPLING_CUT, form, places[n], gaps[g]);
}

static void check_rest(CouplingCase *coupled)
{
  coupling_case_start(coupled);
  coupling_case_accelerate(coupled, coupled->setup.dimension == 3 ? oblique : vector3(3., -9.81, 0.));
  coupling_case_solve(coupled);
  for (PetscInt n = 0; n < 6 * coupled->count; n++)
    assert_near(coupled->twists[n], 0., 1e-9);
  assert_near(coupling_case_largest_speed(coupled), 0., 1e-9);
  coupling_case_free(coupled);
}

static void add_box(CouplingCase *coupled, Vector3 half, Vector3 place)
{
  coupling_case_add(coupled, make_box(half), 0., coupled->setup.density, place, vector3(0., 0., 0.));
}

/* Boxes on each other and on a wall, and a slab under the lid with one cell of fluid beside it. */
static void neutral_bodies_rest_on_each_other(void **state)
{
  CouplingCase *coupled = coupling_case_new(PETSC_COMM_WORLD, &sheet);

  (void)state;
  add_box(coupled, vector3(0.43, 0.31, 0.5), vector3(0.83, 0.31, 0.));
  add_box(coupled, vector3(0.33, 0.31, 0.5), vector3(0.97, 0.93, 0.));
  add_box(coupled, vector3(1.345, 0.42, 0.5), vector3(1.345, 1.98, 0.));
  check_rest(coupled);
  coupled = coupling_case_new(PETSC_COMM_WORLD, &tank);
  add_box(coupled, vector3(0.43, 0.31, 0.27), vector3(0.83, 0.61, 0.27));
  add_box(coupled, vector3(0.33, 0.28, 0.23), vector3(0.91, 0.69, 0.77));
  check_rest(coupled);
}

/* Two boxes on the floor, a turned one on both, a ball in a corner; the seams of the ranks cut them. */
static CouplingCase *solve_heap(MPI_Comm comm, CouplingFaces faces, CouplingSolver solver)
{
  CouplingSetup setup = tank;
  CouplingCase *coupled;

  setup.faces = faces;
  setup.solver = solver;
  coupled = coupling_case_new(comm, &setup);
  add_body(coupled, 0, vector3(0.47, 0.31, 0.71));
  add_body(coupled, 0, vector3(1.33, 0.31, 0.67));
  add_body(coupled, 2, vector3(0.87, 1.14, 0.7));
  add_body(coupled, 1, vector3(0.33, 1.27, 1.07));
  coupling_case_start(coupled);
  coupling_case_accelerate(coupled, oblique);
  for (PetscInt b = 0; b < coupled->count; b++)
    coupled->twists[6 * b] += 0.1 * (PetscReal)(b + 1);
  coupling_case_solve(coupled);
  return coupled;
}

/* Cut volumes, contact faces, the fluid that moves with bodies, both solvers. */
static void ranks_leave_no_bit(void **state)
{
  (void)state;
  for (CouplingFaces faces = COUPLING_CUT; faces <= COUPLING_TIED; faces++)
    for (CouplingSolver solver = COUPLING_MINRES; solver <= COUPLING_SCHUR; solver++) {
      CouplingCase *shared = solve_heap(PETSC_COMM_WORLD, faces, solver),
                   *alone = solve_heap(PETSC_COMM_SELF, faces, solver);

      assert_on_all_ranks(alone->report.contact_faces > 0);
      for (PetscInt n = 0; n < 6 * alone->count; n++)
        assert_near(shared->twists[n], alone->twists[n], 0.);
      coupling_case_free(shared);
      coupling_case_free(alone);
    }
}

TEST_MAIN(cmocka_unit_test(a_neutral_body_rests_beside_every_side),
          cmocka_unit_test(a_neutral_body_rests_in_edges_and_corners),
          cmocka_unit_test(neutral_bodies_rest_on_each_other), cmocka_unit_test(ranks_leave_no_bit))
