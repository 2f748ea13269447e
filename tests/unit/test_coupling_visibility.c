/* What shells hide, before and after a step. */
#include "coupling_case.h"
#include "harness.h"
#include "solids.h"

static const CouplingSetup tank = {
    .dimension = 3, .cells = {20, 18, 16}, .length = 2., .density = 1., .tolerance = 1e-8};
static const CouplingSetup ring = {.dimension = 3,
                                   .cells = {20, 18, 16},
                                   .length = 2.,
                                   .periodic = {PETSC_TRUE, PETSC_TRUE, PETSC_TRUE},
                                   .density = 1.,
                                   .tolerance = 1e-8};
static const CouplingSetup sheet = {
    .dimension = 2, .cells = {30, 24, 1}, .length = 3., .density = 1., .tolerance = 1e-8};
static const PetscReal h = 0.1, step = 0.25; /* cell and time step of all */

static void place(CouplingCase *coupled)
{
  assert_success(CouplingPlace(coupled->coupling, coupled->count, coupled->bodies));
}

static const Visibility *look(CouplingCase *coupled)
{
  const Visibility *visibility;

  assert_success(CouplingGetVisibility(coupled->coupling, SHELLS_MOVED, step, &visibility));
  return visibility;
}

static CoupledBody *add_shell(CouplingCase *coupled, Surface surface, Vector3 position, Vector3 rotation)
{
  return coupling_case_add(coupled, surface, 0.01, 1., position, rotation);
}

/* Of a body that is a plain surface, at its place. */
static PetscBool is_inside(const CoupledBody *body, Vector3 point)
{
  const Vector3 arm = vector3_subtract(point, body->position);

  return surface_is_inside(body->surface, quaternion_rotate(quaternion_conjugate(body->rotation), arm));
}

static PetscReal distance_of(const CoupledBody *body, Vector3 point)
{
  const Vector3 arm = vector3_subtract(point, body->position);
  Vector3       nearest, normal;

  return surface_nearest(body->surface, quaternion_rotate(quaternion_conjugate(body->rotation), arm),
                         PETSC_INFINITY, &nearest, &normal);
}

static Vector3 random_point(uint64_t *seed, Vector3 middle, PetscReal reach, PetscInt dimension)
{
  Vector3 point = middle;

  for (PetscInt d = 0; d < dimension; d++)
    point.at[d] += reach * random_number(seed);
  return point;
}

/* A way with a known parity: it joins inside and outside, or not. The inside of a convex body sees itself. */
static void check_parity(const CouplingSetup *setup, Surface surface, Vector3 rotation)
{
  CouplingCase     *coupled = coupling_case_new(PETSC_COMM_WORLD, setup);
  const Vector3     middle = setup->dimension == 2 ? vector3(1.3, 1.1, 0.) : vector3(1.03, 0.91, 0.79);
  CoupledBody      *body = add_shell(coupled, surface, middle, rotation);
  uint64_t          seed = 5;
  PetscInt          leaks = 0, walls = 0, crossed = 0;
  const Visibility *visibility;

  place(coupled);
  visibility = look(coupled);
  for (PetscInt n = 0; n < 20000 && visibility; n++) {
    const Vector3   from = random_point(&seed, middle, 0.6, setup->dimension);
    const Vector3   to = random_point(&seed, from, 2. * h, setup->dimension);
    const PetscBool is_blocked = visibility->blocks(visibility->context, STEP_END, from, to);
    const PetscBool starts_inside = is_inside(body, from), ends_inside = is_inside(body, to);

    crossed += starts_inside != ends_inside;
    leaks += starts_inside != ends_inside && !is_blocked;
    walls += starts_inside && ends_inside && is_blocked;
  }
  assert_on_all_ranks(!visibility || (leaks == 0 && walls == 0 && crossed > 1000));
  coupling_case_free(coupled);
}

static void closed_shells_part_inside_from_outside(void **state)
{
  (void)state;
  check_parity(&tank, make_ball(0.4, 12, 24), vector3(0.1, 0.2, 0.3));
  check_parity(&tank, make_box(vector3(0.4, 0.3, 0.2)), vector3(0.4, -0.3, 0.8));
  check_parity(&tank, make_icosahedron(0.4), vector3(0., 0., 0.));
  check_parity(&ring, make_ball(0.4, 12, 24), vector3(0.1, 0.2, 0.3));
  check_parity(&sheet, make_box(vector3(0.4, 0.3, 0.5)), vector3(0., 0., 0.7));
  check_parity(&sheet, make_prism(0.4, 0.5, 32), vector3(0., 0., 0.1));
}

/* A point on a corner, an edge or a face, or off it by less than can be told, and one on either side. */
static void check_side(const Visibility *visibility, Vector3 on, Vector3 normal, PetscInt *wrong)
{
  const PetscReal offsets[] = {0., 1e-17, 1e-13, 3e-9, 5e-8, -1e-13, -3e-9, -5e-8};
  const Vector3   inside = vector3_subtract(on, vector3_scale(0.3 * h, normal)),
                outside = vector3_add(on, vector3_scale(0.3 * h, normal));

  *wrong += !visibility->blocks(visibility->context, STEP_END, inside, outside);
  for (size_t n = 0; n < sizeof(offsets) / sizeof(offsets[0]); n++) {
    const Vector3   point = vector3_add(on, vector3_scale(offsets[n], normal));
    const PetscBool hides_inside = visibility->blocks(visibility->context, STEP_END, point, inside),
                    hides_outside = visibility->blocks(visibility->context, STEP_END, outside, point);

    *wrong += hides_inside == hides_outside;
    *wrong += offsets[n] > 1e-9 && hides_outside;
    *wrong += offsets[n] < -1e-9 && hides_inside;
    *wrong += visibility->blocks(visibility->context, STEP_END, point, point);
  }
}

static void points_on_a_shell_see_one_side(void **state)
{
  CouplingCase  *coupled = coupling_case_new(PETSC_COMM_WORLD, &tank);
  const Vector3  middle = vector3(1., 0.9, 0.8), half = vector3(0.4, 0.3, 0.2);
  const Surface  surface = make_box(half);
  const Vector3 *vertices;
  const PetscInt(*triangles)[3];
  PetscInt          count, wrong = 0;
  const Visibility *visibility;

  (void)state;
  add_shell(coupled, surface, middle, vector3(0., 0., 0.));
  place(coupled);
  visibility = look(coupled);
  assert_success(SurfaceGet(surface, NULL, &vertices, &count, &triangles));
  for (PetscInt t = 0; t < count && visibility; t++)
    for (int part = 0; part < 7; part++) { /* corners, middles of edges, the face */
      const Vector3 a = vertices[triangles[t][part % 3]], b = vertices[triangles[t][(part + 1) % 3]],
                    c = vertices[triangles[t][(part + 2) % 3]];
      const Vector3 on = part < 3   ? a
                         : part < 6 ? vector3_scale(0.5, vector3_add(a, b))
                                    : vector3_scale(1. / 3., vector3_add(a, vector3_add(b, c)));
      Vector3       normal;

      for (PetscInt d = 0; d < DIM; d++) /* away from all the planes it lies on */
        normal.at[d] = PetscAbsReal(on.at[d]) < half.at[d] - 1e-12 ? 0. : on.at[d] > 0. ? 1. : -1.;
      check_side(visibility, vector3_add(middle, on), vector3_scale(1. / vector3_norm(normal), normal),
                 &wrong);
    }
  assert_on_all_ranks(wrong == 0);
  coupling_case_free(coupled);
}

/* Through corners, along edges and diagonals: no way between two triangles. */
static void segments_do_not_slip_between_triangles(void **state)
{
  CouplingCase  *coupled = coupling_case_new(PETSC_COMM_WORLD, &tank);
  const Vector3  middle = vector3(1.03, 0.91, 0.79);
  const Surface  surface = make_ball(0.4, 8, 16);
  const Vector3 *vertices;
  const PetscInt(*triangles)[3];
  PetscInt          count, leaks = 0;
  uint64_t          seed = 11;
  const Visibility *visibility;

  (void)state;
  add_shell(coupled, surface, middle, vector3(0.3, 0.2, 0.5));
  place(coupled);
  visibility = look(coupled);
  assert_success(SurfaceGet(surface, NULL, &vertices, &count, &triangles));
  for (PetscInt t = 0; t < count && visibility; t++)
    for (int n = 0; n < 12; n++) {
      const Vector3   a = vertices[triangles[t][n % 3]], b = vertices[triangles[t][(n + 1) % 3]];
      const PetscReal part = n < 3 ? 0. : 0.5 + 0.5 * random_number(&seed);
      const Vector3   on = vector3_add(a, vector3_scale(part, vector3_subtract(b, a)));
      const Vector3   across =
          vector3_add(vector3_scale(0.5 / vector3_norm(on), on), vector3_scale(0.3, random_direction(&seed)));
      const Vector3 from = vector3_subtract(on, vector3_scale(0.1, across)),
                    to = vector3_add(on, vector3_scale(0.1, across));
      const Quaternion turn = coupled->bodies[0].rotation;

      leaks += !visibility->blocks(visibility->context, STEP_END,
                                   vector3_add(middle, quaternion_rotate(turn, from)),
                                   vector3_add(middle, quaternion_rotate(turn, to)));
      leaks += !visibility->blocks(visibility->context, STEP_START,
                                   vector3_add(middle, quaternion_rotate(turn, a)),
                                   vector3_add(middle, quaternion_rotate(turn, vector3_scale(-1., a))));
    }
  assert_on_all_ranks(leaks == 0);
  coupling_case_free(coupled);
}

static void one_can_look_past_the_rim_of_a_disc(void **state)
{
  CouplingCase     *coupled = coupling_case_new(PETSC_COMM_WORLD, &tank);
  const Visibility *visibility;

  (void)state;
  add_shell(coupled, make_disc(0.3, 3, 12), vector3(1., 0.9, 0.8), vector3(0., 0., 0.));
  place(coupled);
  visibility = look(coupled);
  if (visibility) {
    assert_true(
        visibility->blocks(visibility->context, STEP_END, vector3(1.1, 0.9, 0.75), vector3(1.2, 0.95, 0.85)));
    assert_false(visibility->blocks(visibility->context, STEP_END, vector3(1.29, 0.9, 0.75),
                                    vector3(1.35, 0.9, 0.85)));
    assert_false(
        visibility->blocks(visibility->context, STEP_END, vector3(1.1, 0.9, 0.85), vector3(1.2, 0.95, 0.81)));
    assert_true(visibility->distance(visibility->context, STEP_END, vector3(1., 0.9, 1.3)) == PETSC_INFINITY);
    assert_float_equal(visibility->distance(visibility->context, STEP_END, vector3(1.1, 0.9, 0.95)), 0.15,
                       1e-12);
  }
  coupling_case_free(coupled);
}

/* The whole box is full of the images of one shell at its corner. */
static void images_hide_as_the_shell_does(void **state)
{
  CouplingCase     *coupled = coupling_case_new(PETSC_COMM_WORLD, &ring);
  uint64_t          seed = 3;
  PetscInt          different = 0, blocked = 0;
  const Visibility *visibility;

  (void)state;
  add_shell(coupled, make_ball(0.4, 12, 24), vector3(0.05, 1.77, 0.), vector3(0., 0., 0.));
  place(coupled);
  coupled->bodies[0].position = vector3(1.99, 0.01, 0.05); /* moved across two seams, and put back */
  place(coupled);
  visibility = look(coupled);
  for (PetscInt n = 0; n < 2000 && visibility; n++) {
    const Vector3   from = random_point(&seed, vector3(0.05, 1.77, 0.), 0.6, 3);
    const Vector3   to = random_point(&seed, from, 2. * h, 3), moved = vector3(2., -1.8, 1.6);
    const PetscBool answer = visibility->blocks(visibility->context, STEP_START, from, to);
    Vector3         carried = visibility->carry(visibility->context, STEP_END, from);

    carried = vector3_subtract(vector3_subtract(carried, from), vector3(-0.06, 0.04, 0.05));
    blocked += answer;
    different += answer != visibility->blocks(visibility->context, STEP_START, vector3_add(from, moved),
                                              vector3_add(to, moved));
    different += vector3_norm(carried) > 1e-12 &&
                 visibility->distance(visibility->context, STEP_START, from) < PETSC_INFINITY;
  }
  assert_on_all_ranks(!visibility || (different == 0 && blocked > 100 && visibility->way < 0.09));
  coupling_case_free(coupled);
}

/* A shell that moves and turns takes points along, on their side of it, there and back. */
static void check_carrying(const CouplingSetup *setup, Surface surface, Vector3 turn)
{
  CouplingCase     *coupled = coupling_case_new(PETSC_COMM_WORLD, setup);
  const Vector3     middle = setup->dimension == 2 ? vector3(1.3, 1.1, 0.) : vector3(1.03, 0.91, 0.79);
  const Vector3     way = vector3(0.07, -0.04, setup->dimension == 2 ? 0. : 0.03);
  const Quaternion  turned = quaternion_from_rotation(turn);
  CoupledBody      *body = add_shell(coupled, surface, middle, vector3(0., 0., 0.3)), before = *body;
  uint64_t          seed = 7;
  PetscReal         error = 0.;
  PetscInt          wrong = 0;
  const Visibility *visibility;

  place(coupled);
  body->position = vector3_add(middle, way);
  body->rotation = quaternion_multiply(turned, body->rotation);
  place(coupled);
  visibility = look(coupled);
  for (PetscInt n = 0; n < 2000 && visibility; n++) {
    const Vector3 from = random_point(&seed, middle, 0.6, setup->dimension);
    const Vector3 to = visibility->carry(visibility->context, STEP_END, from);
    const Vector3 back = visibility->carry(visibility->context, STEP_START, to);
    const Vector3 wanted =
        vector3_add(vector3_add(middle, way), quaternion_rotate(turned, vector3_subtract(from, middle)));
    const Vector3 velocity = visibility->velocity(visibility->context, from);

    if (distance_of(&before, from) >= VISIBILITY_REACH * h) {
      error = PetscMax(error, vector3_norm(vector3_subtract(to, from)) + vector3_norm(velocity));
      continue;
    }
    error = PetscMax(error, vector3_norm(vector3_subtract(to, wanted)));
    error = PetscMax(error, vector3_norm(vector3_subtract(back, from)));
    error = PetscMax(
        error, vector3_norm(vector3_subtract(vector3_scale(step, velocity), vector3_subtract(to, from))));
    wrong += is_inside(&before, from) != is_inside(body, to);
    wrong += vector3_norm(vector3_subtract(to, from)) > visibility->way;
  }
  assert_near(error, 0., 1e-13);
  assert_on_all_ranks(wrong == 0);
  coupling_case_free(coupled);
}

static void points_are_carried_with_the_nearest_shell(void **state)
{
  (void)state;
  check_carrying(&tank, make_ball(0.3, 12, 24), vector3(0.1, 0.05, -0.08));
  check_carrying(&tank, make_box(vector3(0.4, 0.3, 0.2)), vector3(0., 0.1, 0.));
  check_carrying(&sheet, make_box(vector3(0.4, 0.3, 0.5)), vector3(0., 0., 0.15));
}

/* Two plates part; what is between them was between them before, in a narrower gap. */
static void points_between_two_shells_stay_between(void **state)
{
  CouplingCase     *coupled = coupling_case_new(PETSC_COMM_WORLD, &tank);
  PetscInt          wrong = 0;
  const Visibility *visibility;

  (void)state;
  add_shell(coupled, make_box(vector3(0.5, 0.5, 0.1)), vector3(1., 0.9, 0.6), vector3(0., 0., 0.));
  add_shell(coupled, make_box(vector3(0.5, 0.5, 0.1)), vector3(1., 0.9, 0.83), vector3(0., 0., 0.));
  place(coupled);
  coupled->bodies[0].position.at[Z] -= 0.05;
  coupled->bodies[1].position.at[Z] += 0.04;
  place(coupled);
  visibility = look(coupled);
  for (PetscInt n = 0; n < 100 && visibility; n++) {
    const Vector3 point =
        vector3(1.1, 1., 0.65 + 0.12 * (n + 0.5) / 100.); /* the gap is 0.12 wide, then 0.03 */
    const PetscReal height = visibility->carry(visibility->context, STEP_START, point).at[Z];

    wrong += !(height > 0.7 && height < 0.73);
  }
  assert_on_all_ranks(wrong == 0);
  coupling_case_free(coupled);
}

/* To the last bit, so that what rests stays. */
static void a_still_shell_leaves_points_alone(void **state)
{
  const CouplingSetup *setups[2] = {&tank, &sheet};

  (void)state;
  for (int n = 0; n < 2; n++) {
    CouplingCase     *coupled = coupling_case_new(PETSC_COMM_WORLD, setups[n]);
    uint64_t          seed = 7;
    PetscInt          moved = 0;
    const Visibility *visibility;

    add_shell(coupled, make_box(vector3(0.4, 0.3, 0.5)), vector3(1.03, 0.91, 0.),
              vector3(0.1 * (1 - n), 0., 0.3));
    place(coupled);
    place(coupled);
    visibility = look(coupled);
    for (PetscInt i = 0; i < 1000 && visibility; i++) {
      const Vector3 from = random_point(&seed, vector3(1., 0.9, 0.), 0.6, setups[n]->dimension);
      const Vector3 to = visibility->carry(visibility->context, STEP_START, from);

      moved += from.at[X] != to.at[X] || from.at[Y] != to.at[Y] || from.at[Z] != to.at[Z];
    }
    assert_on_all_ranks(moved == 0 && (!visibility || visibility->way == 0.));
    coupling_case_free(coupled);
  }
}

/* All cells within reach are marked, and none far beyond: also in ghosts and through seams. */
static void check_near(const CouplingSetup *setup, Surface surface, Vector3 position, Vector3 rotation)
{
  CouplingCase     *coupled = coupling_case_new(PETSC_COMM_WORLD, setup);
  CoupledBody      *body = add_shell(coupled, surface, position, rotation), before = *body;
  PetscInt          missing = 0, far = 0;
  const GridBox    *box;
  const PetscReal  *near;
  const Visibility *visibility;

  place(coupled);
  body->position.at[X] += 0.08;
  place(coupled);
  visibility = look(coupled);
  if (visibility) {
    box = grid_box(coupled->grid);
    assert_int_equal(VecGetArrayRead(visibility->near, &near), 0);
    for (PetscInt k = box->start[Z] - (setup->dimension == 3 ? 3 : 0);
         k < box->end[Z] + (setup->dimension == 3 ? 3 : 0); k++)
      for (PetscInt j = box->start[Y] - 3; j < box->end[Y] + 3; j++)
        for (PetscInt i = box->start[X] - 3; i < box->end[X] + 3; i++) {
          Vector3   centre = grid_cell_centre(coupled->grid, i, j, k);
          PetscReal distance;

          for (PetscInt d = 0; d < setup->dimension; d++)
            if (setup->periodic[d])
              centre.at[d] -=
                  setup->cells[d] * h *
                  PetscFloorReal((centre.at[d] - body->position.at[d]) / (setup->cells[d] * h) + 0.5);
          distance = PetscMin(distance_of(&before, centre), distance_of(body, centre));
          missing += distance < (VISIBILITY_REACH - 1e-9) * h && near[box_index(box, i, j, k)] != 1.;
          far += distance > 1.8 * VISIBILITY_REACH * h && near[box_index(box, i, j, k)] != 0.;
        }
    assert_int_equal(VecRestoreArrayRead(visibility->near, &near), 0);
  }
  assert_on_all_ranks(missing == 0 && far == 0);
  coupling_case_free(coupled);
}

static void cells_near_shells_are_marked(void **state)
{
  CouplingSetup wide = ring;

  (void)state;
  wide.cells[X] = 30;
  wide.cells[Y] = 32;
  wide.cells[Z] = 34;
  wide.length = 3.;
  check_near(&tank, make_ball(0.3, 12, 24), vector3(0.3, 0.5, 0.8), vector3(0., 0., 0.));
  check_near(&tank, make_box(vector3(0.6, 0.01, 0.5)), vector3(1., 0.9, 0.8), vector3(0., 0.3, 0.6));
  check_near(&wide, make_ball(0.3, 12, 24), vector3(0.1, 3.1, 0.), vector3(0., 0., 0.));
  check_near(&sheet, make_prism(0.4, 0.5, 32), vector3(1., 1., 0.), vector3(0., 0., 0.));
}

static void without_shells_there_is_nothing_to_look_at(void **state)
{
  CouplingCase *coupled = coupling_case_new(PETSC_COMM_WORLD, &tank);

  (void)state;
  place(coupled);
  assert_on_all_ranks(look(coupled) == NULL);
  coupling_case_add_ball(coupled, 0.3, 1., vector3(1., 0.9, 0.8));
  place(coupled);
  assert_on_all_ranks(look(coupled) == NULL);
  coupling_case_free(coupled);
}

TEST_MAIN(cmocka_unit_test(closed_shells_part_inside_from_outside),
          cmocka_unit_test(points_on_a_shell_see_one_side),
          cmocka_unit_test(segments_do_not_slip_between_triangles),
          cmocka_unit_test(one_can_look_past_the_rim_of_a_disc),
          cmocka_unit_test(images_hide_as_the_shell_does),
          cmocka_unit_test(points_are_carried_with_the_nearest_shell),
          cmocka_unit_test(points_between_two_shells_stay_between),
          cmocka_unit_test(a_still_shell_leaves_points_alone), cmocka_unit_test(cells_near_shells_are_marked),
          cmocka_unit_test(without_shells_there_is_nothing_to_look_at))
