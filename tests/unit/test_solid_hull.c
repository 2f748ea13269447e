/* Convex polyhedra: their faces, edges and corners, and where they touch. */
#include "harness.h"
#include "solids.h"
#include "solid/contact/narrow/hull.h"
#include "solid/contact/narrow/touch_kinds.h"

static Hull hull_of(Surface surface)
{
  Hull hull;

  assert_success(HullCreate(surface, &hull));
  assert_success(SurfaceDestroy(&surface));
  return hull;
}

static void assert_counts(Surface surface, PetscInt corners, PetscInt edges, PetscInt faces)
{
  Hull hull = hull_of(surface);

  assert_non_null(hull);
  assert_int_equal(hull->corner_count, corners);
  assert_int_equal(hull->edge_count, edges);
  assert_int_equal(hull->face_count, faces);
  assert_success(HullDestroy(&hull));
  assert_null(hull);
}

static void triangles_in_a_plane_are_one_face(void **state)
{
  const PetscReal radii[5] = {0, 1, 1, 1, 0}, heights[5] = {-1, -1, 0.25, 1, 1};

  (void)state;
  assert_counts(make_box(vector3(1, 2, 3)), 8, 12, 6);
  assert_counts(make_tetrahedron(1), 4, 6, 4);
  assert_counts(make_icosahedron(2), 12, 30, 20);
  assert_counts(make_prism(1, 0.5, 6), 12, 18, 8);
  assert_counts(make_ball(1, 1, 4), 6, 12, 8);
  assert_counts(make_lathed(5, radii, heights, 5), 10, 15, 7);
}

static void edges_lie_between_their_faces(void **state)
{
  Hull hull = hull_of(make_icosahedron(1));

  (void)state;
  for (PetscInt e = 0; e < hull->edge_count; e++) {
    const HullEdge *edge = &hull->edges[e];
    const Vector3   crossed =
        vector3_cross(hull->faces[edge->faces[0]].normal, hull->faces[edge->faces[1]].normal);

    assert_near(vector3_dot(crossed, edge->direction), vector3_norm(crossed), 1e-12);
    for (int k = 0; k < 4; k++) {
      const HullFace *face = &hull->faces[edge->faces[k / 2]];

      assert_near(vector3_dot(face->normal, hull->corners[edge->corners[k % 2]]), face->offset, 1e-12);
    }
  }
  assert_success(HullDestroy(&hull));
}

static void only_closed_convex_surfaces_are_hulls(void **state)
{
  const PetscReal radii[5] = {0, 1, 0.9, 1, 0}, heights[5] = {-1, -1, 0, 1, 1};
  Surface waist = make_lathed(5, radii, heights, 5), disc = make_disc(1, 2, 6), ball = make_ball(1, 20, 40);

  (void)state;
  assert_false(surface_is_convex(waist));
  assert_true(surface_is_convex(ball));
  assert_null(hull_of(waist));
  assert_null(hull_of(disc));
  assert_null(hull_of(ball)); /* has too many faces */
  assert_null(hull_of(make_ring(1, 0.3, 6, 4)));
}

static Form form_of(Surface surface)
{
  return (Form){.kind = FORM_HULL, .hull = hull_of(surface)};
}

static RigidTransform placed_at(Vector3 position, Vector3 rotation)
{
  return (RigidTransform){position, quaternion_from_rotation(rotation)};
}

static PetscReal smallest_gap(PetscInt count, const Touch touches[])
{
  PetscReal smallest = PETSC_INFINITY;

  for (PetscInt n = 0; n < count; n++)
    smallest = PetscMin(smallest, touches[n].gap);
  return smallest;
}

static void a_box_on_a_box_touches_at_four_corners(void **state)
{
  Form low = form_of(make_box(vector3(2, 2, 0.5))), high = form_of(make_box(vector3(1, 0.5, 0.25)));
  const RigidTransform at_low = placed_at(vector3(5, 6, 7), vector3(0, 0, 0));
  Touch                touches[TOUCH_CAPACITY];

  (void)state;
  for (int turn = 0; turn < 8; turn++) {
    for (int side = -1; side <= 1; side++) {
      const PetscReal      gap = 0.01 * side;
      const RigidTransform at_high = placed_at(vector3(5.1, 5.9, 7.75 + gap), vector3(0, 0, 0.1 * turn));
      const PetscInt       count = touch_hulls(&low, &at_low, &high, &at_high, 0.02, touches);
      PetscInt             corners = 0;

      assert_int_equal(count, 4);
      for (PetscInt n = 0; n < 4; n++) {
        const Vector3 local = rigid_apply_inverse(&at_high, touches[n].point);

        assert_near(touches[n].gap, gap, 1e-12);
        assert_near(touches[n].normal.at[Z], 1, 1e-12);
        assert_near(touches[n].point.at[Z], 7.5 + 0.5 * gap, 1e-12);
        assert_near(PetscAbsReal(local.at[X]), 1, 1e-12);
        assert_near(PetscAbsReal(local.at[Y]), 0.5, 1e-12);
        corners |= 1 << ((local.at[X] > 0) + 2 * (local.at[Y] > 0));
      }
      assert_int_equal(corners, 15);
    }
  }
  assert_success(HullDestroy(&low.hull));
  assert_success(HullDestroy(&high.hull));
}

static void crossed_edges_touch_in_one_point(void **state)
{
  Form                 box = form_of(make_box(vector3(1, 1, 1)));
  const RigidTransform low = placed_at(vector3(0, 0, 0), vector3(PETSC_PI / 4, 0, 0));
  Touch                touches[TOUCH_CAPACITY];

  (void)state;
  for (int side = -1; side <= 1; side += 2) {
    const PetscReal      gap = 0.05 * side;
    const RigidTransform high =
        placed_at(vector3(0.2, 0.3, 2 * PetscSqrtReal(2) + gap), vector3(0, PETSC_PI / 4, 0));

    assert_int_equal(touch_hulls(&box, &low, &box, &high, 0.1, touches), 1);
    assert_near(touches[0].gap, gap, 1e-12);
    assert_near(touches[0].normal.at[Z], 1, 1e-12);
    assert_near(touches[0].point.at[X], 0.2, 1e-12);
    assert_near(touches[0].point.at[Y], 0, 1e-12);
    assert_near(touches[0].point.at[Z], PetscSqrtReal(2) + 0.5 * gap, 1e-12);
  }
  assert_success(HullDestroy(&box.hull));
}

/* How far the second is above the first along a unit vector. */
static PetscReal separation(const Form forms[2], const RigidTransform at[2], Vector3 normal)
{
  PetscReal top = -PETSC_INFINITY, bottom = PETSC_INFINITY;

  for (PetscInt c = 0; c < forms[0].hull->corner_count; c++)
    top = PetscMax(top, vector3_dot(normal, rigid_apply(&at[0], forms[0].hull->corners[c])));
  for (PetscInt c = 0; c < forms[1].hull->corner_count; c++)
    bottom = PetscMin(bottom, vector3_dot(normal, rigid_apply(&at[1], forms[1].hull->corners[c])));
  return bottom - top;
}

/* The largest over all directions, or a little less: the distance, or less the depth. Search with shrinking
 * random steps. */
static PetscReal largest_separation(const Form forms[2], const RigidTransform at[2], uint64_t *seed)
{
  PetscReal best = -PETSC_INFINITY;

  for (int start = 0; start < 12; start++) {
    Vector3   normal = random_direction(seed);
    PetscReal here = separation(forms, at, normal);

    for (PetscReal step = 1; step > 1e-9;) {
      PetscInt failures = 0;

      while (failures < 24) {
        const Vector3   try = vector3_add(normal, vector3_scale(step, random_direction(seed)));
        const Vector3   unit = vector3_scale(1 / vector3_norm(try), try);
        const PetscReal there = separation(forms, at, unit);

        failures = there > here ? 0 : failures + 1;
        normal = there > here ? unit : normal;
        here = PetscMax(here, there);
      }
      step *= 0.3;
    }
    best = PetscMax(best, here);
  }
  return best;
}

enum { POLYHEDRA = 5 };

static void make_polyhedra(Form forms[POLYHEDRA])
{
  forms[0] = form_of(make_box(vector3(0.5, 0.7, 0.9)));
  forms[1] = form_of(make_tetrahedron(1));
  forms[2] = form_of(make_prism(0.7, 0.6, 7));
  forms[3] = form_of(make_ball(0.8, 1, 4));
  forms[4] = form_of(make_icosahedron(0.9));
}

static void destroy_polyhedra(Form forms[POLYHEDRA])
{
  for (int n = 0; n < POLYHEDRA; n++)
    assert_success(HullDestroy(&forms[n].hull));
}

/* Near each other: the boxes of 1.0 and 0.9 about two centres overlap or nearly so. */
static void place_pair(uint64_t *seed, RigidTransform at[2])
{
  for (int k = 0; k < 2; k++)
    at[k] = placed_at(vector3(3, 4, 5), vector3_scale(PETSC_PI, random_direction(seed)));
  at[1].position =
      vector3_add(at[1].position, vector3_scale(1.4 + 0.35 * random_number(seed), random_direction(seed)));
}

static void the_deepest_touch_is_the_distance_of_any_two_hulls(void **state)
{
  Form     forms[POLYHEDRA];
  uint64_t seed = 1;
  int      apart = 0, overlapping = 0;

  (void)state;
  make_polyhedra(forms);
  for (int n = 0; n < 150; n++) {
    const Form      pair[2] = {forms[n % POLYHEDRA], forms[n / POLYHEDRA % POLYHEDRA]};
    const PetscReal reach = 0.3;
    RigidTransform  at[2];
    Touch           touches[TOUCH_CAPACITY];
    PetscReal       expected;
    PetscInt        count;

    place_pair(&seed, at);
    expected = largest_separation(pair, at, &seed);
    count = touch_hulls(&pair[0], &at[0], &pair[1], &at[1], reach, touches);
    assert_true(count >= 0 && count <= 4);
    if (expected > reach + 1e-4) {
      assert_int_equal(count, 0);
      continue;
    }
    assert_true(smallest_gap(count, touches) > expected - 2e-5);
    for (PetscInt k = 0; k < count; k++) {
      if (touches[k].gap == smallest_gap(count, touches))
        assert_near(separation(pair, at, touches[k].normal), touches[k].gap, 2e-5);
    }
    apart += expected > 0;
    overlapping += expected < 0;
  }
  assert_true(apart > 20 && overlapping > 20);
  destroy_polyhedra(forms);
}

static void swapped_hulls_touch_at_the_same_places(void **state)
{
  Form     forms[POLYHEDRA];
  uint64_t seed = 2;
  int      compared = 0;

  (void)state;
  make_polyhedra(forms);
  for (int n = 0; n < 500; n++) {
    const Form    *a = &forms[n % POLYHEDRA], *b = &forms[n / POLYHEDRA % POLYHEDRA];
    RigidTransform at[2];
    Touch          one[TOUCH_CAPACITY], other[TOUCH_CAPACITY];
    PetscInt       count;

    place_pair(&seed, at);
    count = touch_hulls(a, &at[0], b, &at[1], 0.1, one);
    assert_int_equal(touch_hulls(b, &at[1], a, &at[0], 0.1, other), count);
    for (PetscInt k = 0; k < count; k++, compared++) {
      PetscReal nearest = PETSC_INFINITY;

      for (PetscInt l = 0; l < count; l++)
        nearest = PetscMin(nearest, vector3_norm(vector3_subtract(one[k].point, other[l].point)) +
                                        vector3_norm(vector3_add(one[k].normal, other[l].normal)) +
                                        PetscAbsReal(one[k].gap - other[l].gap));
      assert_near(nearest, 0, 1e-9);
    }
  }
  assert_true(compared > 200);
  destroy_polyhedra(forms);
}

static void touches_keep_their_names_while_sliding(void **state)
{
  Form           box = form_of(make_box(vector3(1, 1, 1)));
  RigidTransform low = placed_at(vector3(0, 0, 0), vector3(0, 0, 0)),
                 high = placed_at(vector3(0, 0, 2), vector3(0, 0, 0.2));
  Touch before[TOUCH_CAPACITY], after[TOUCH_CAPACITY];

  (void)state;
  assert_int_equal(touch_hulls(&box, &low, &box, &high, 0.01, before), 4);
  high.position.at[X] += 0.01;
  assert_int_equal(touch_hulls(&box, &low, &box, &high, 0.01, after), 4);
  for (int n = 0; n < 4; n++) {
    assert_true(before[n].feature != 0);
    assert_int_equal(before[n].feature, after[n].feature);
    assert_true(vector3_norm(vector3_subtract(before[n].point, after[n].point)) < 0.05);
    for (int m = 0; m < n; m++)
      assert_true(before[n].feature != before[m].feature);
  }
  assert_success(HullDestroy(&box.hull));
}

static void many_touches_become_four_that_span_the_most(void **state)
{
  Touch     touches[24];
  PetscReal sum = 0, odd = 0;

  (void)state;
  for (int n = 0; n < 24; n++) {
    const PetscReal radius = n < 16 ? 0.5 : 1, angle = PETSC_PI * n / 4;

    touches[n] = (Touch){vector3(radius * PetscCosReal(angle), radius * PetscSinReal(angle), 0),
                         vector3(0, 0, 1), n == 18 ? -0.1 : 0, (uint32_t)n};
  }
  assert_int_equal(reduce_touches(24, touches), 4);
  assert_int_equal(touches[0].feature, 18);
  for (int n = 0; n < 4; n++) {
    assert_true(touches[n].feature >= 16);
    sum += touches[n].feature; /* every second corner of the octagon */
    odd += touches[n].feature % 2;
  }
  assert_near(sum, 16 + 18 + 20 + 22, 0);
  assert_near(odd, 0, 0);
}

static void touches_on_a_line_become_its_ends(void **state)
{
  Touch touches[9];

  (void)state;
  for (int n = 0; n < 9; n++)
    touches[n] = (Touch){vector3(n, 2 * n, 0), vector3(0, 0, 1), 0, (uint32_t)n};
  assert_int_equal(reduce_touches(9, touches), 2);
  assert_int_equal(touches[0].feature + touches[1].feature, 8);
}

/* Exact for a box: outside by components, inside the nearest face. */
static PetscReal box_distance(Vector3 half, Vector3 point)
{
  PetscReal square = 0, inside = -PETSC_INFINITY;

  for (int d = 0; d < DIM; d++) {
    const PetscReal out = PetscAbsReal(point.at[d]) - half.at[d];

    square += out > 0 ? out * out : 0;
    inside = PetscMax(inside, out);
  }
  return inside > 0 ? PetscSqrtReal(square) : inside;
}

static void a_sphere_touches_a_hull_as_it_touches_the_box(void **state)
{
  const Vector3 half = vector3(0.5, 0.7, 0.9);
  Form          box = form_of(make_box(half)), sphere = {.kind = FORM_SPHERE, .radius = 0.4};
  uint64_t      seed = 3;

  (void)state;
  for (int n = 0; n < 300; n++) {
    const RigidTransform at_box = placed_at(vector3(1, 2, 3), random_direction(&seed));
    const RigidTransform at = placed_at(
        vector3_add(at_box.position, vector3_scale(1 + 0.9 * random_number(&seed), random_direction(&seed))),
        random_direction(&seed));
    const PetscReal gap = box_distance(half, rigid_apply_inverse(&at_box, at.position)) - sphere.radius;
    Touch           touch[TOUCH_CAPACITY];

    assert_int_equal(touch_sphere_hull(&sphere, &at, &box, &at_box, 0.2, touch), gap <= 0.2);
    if (gap > 0.2)
      continue;
    assert_near(touch->gap, gap, 1e-12);
    /* moved on along the normal, it is that much deeper */
    assert_near(
        box_distance(
            half, rigid_apply_inverse(&at_box, vector3_add(at.position, vector3_scale(1e-5, touch->normal)))),
        gap + sphere.radius - 1e-5, 1e-9);
    if (gap > 0)
      assert_near(box_distance(half, rigid_apply_inverse(&at_box, touch->point)), 0.5 * gap, 1e-9);
  }
  assert_success(HullDestroy(&box.hull));
}

static void a_capsule_touches_a_hull_at_its_distance(void **state)
{
  const Vector3 half = vector3(0.5, 0.7, 0.9);
  Form          box = form_of(make_box(half));
  const Form    capsule = {.kind = FORM_CAPSULE, .radius = 0.3, .half = {{0, 0, 0.8}}};
  uint64_t      seed = 4;
  int           touching = 0;

  (void)state;
  for (int n = 0; n < 200; n++) {
    const RigidTransform at_box = placed_at(vector3(1, 2, 3), random_direction(&seed));
    const RigidTransform at =
        placed_at(vector3_add(at_box.position, vector3_scale(1.4, random_direction(&seed))),
                  vector3_scale(3, random_direction(&seed)));
    PetscReal nearest = PETSC_INFINITY;
    Touch     touches[TOUCH_CAPACITY];
    PetscInt  count;

    for (int k = -2000; k <= 2000; k++)
      nearest = PetscMin(
          nearest,
          box_distance(half, rigid_apply_inverse(&at_box, rigid_apply(&at, vector3(0, 0, 0.8 * k / 2000)))));
    count = touch_capsule_hull(&capsule, &at, &box, &at_box, 0.1, touches);
    if (nearest <= 1e-3 || nearest - capsule.radius > 0.1 - 1e-3)
      continue;
    assert_true(count >= 1 && count <= 3);
    assert_near(smallest_gap(count, touches), nearest - capsule.radius, 1e-3);
    touching++;
  }
  assert_true(touching > 30);
  assert_success(HullDestroy(&box.hull));
}

static void a_capsule_lies_on_a_hull_with_both_ends(void **state)
{
  Form                 box = form_of(make_box(vector3(1, 1, 1)));
  const Form           capsule = {.kind = FORM_CAPSULE, .radius = 0.25, .half = {{0, 0, 0.5}}};
  const RigidTransform at_box = placed_at(vector3(0, 0, 0), vector3(0, 0, 0));
  const RigidTransform at = placed_at(vector3(0.75, 0, 1.2), vector3(0, PETSC_PI / 2, 0));
  Touch                touches[TOUCH_CAPACITY];

  (void)state;
  assert_int_equal(touch_capsule_hull(&capsule, &at, &box, &at_box, 0, touches), 2);
  for (int n = 0; n < 2; n++) {
    assert_near(touches[n].gap, -0.05, 1e-12);
    assert_near(touches[n].normal.at[Z], -1, 1e-12);
    assert_near(touches[n].point.at[Z], 0.975, 1e-12);
  }
  assert_near(PetscMin(touches[0].point.at[X], touches[1].point.at[X]), 0.25, 1e-12);
  assert_near(PetscMax(touches[0].point.at[X], touches[1].point.at[X]), 1, 1e-12);
  assert_success(HullDestroy(&box.hull));
}

TEST_MAIN(cmocka_unit_test(triangles_in_a_plane_are_one_face),
          cmocka_unit_test(edges_lie_between_their_faces),
          cmocka_unit_test(only_closed_convex_surfaces_are_hulls),
          cmocka_unit_test(a_box_on_a_box_touches_at_four_corners),
          cmocka_unit_test(crossed_edges_touch_in_one_point),
          cmocka_unit_test(the_deepest_touch_is_the_distance_of_any_two_hulls),
          cmocka_unit_test(swapped_hulls_touch_at_the_same_places),
          cmocka_unit_test(touches_keep_their_names_while_sliding),
          cmocka_unit_test(many_touches_become_four_that_span_the_most),
          cmocka_unit_test(touches_on_a_line_become_its_ends),
          cmocka_unit_test(a_sphere_touches_a_hull_as_it_touches_the_box),
          cmocka_unit_test(a_capsule_touches_a_hull_at_its_distance),
          cmocka_unit_test(a_capsule_lies_on_a_hull_with_both_ends))
