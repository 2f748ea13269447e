/* Distance, sign and integrals of triangle surfaces. */
#include "harness.h"
#include <math.h>
#include <millrace/geometry.h>

static PetscReal random_real(PetscReal low, PetscReal high)
{
  static uint64_t seed = 88172645463325252u;

  seed ^= seed << 13;
  seed ^= seed >> 7;
  seed ^= seed << 17;
  return low + (high - low) * (PetscReal)(seed >> 11) / 9007199254740992.0;
}

static Vector3 random_point(PetscReal reach)
{
  return vector3(random_real(-reach, reach), random_real(-reach, reach), random_real(-reach, reach));
}

/* Point of a closed patch with parameters u, v in [0, 1). */
typedef Vector3 (*Patch)(PetscReal u, PetscReal v);

/* A doubly periodic patch of n x m squares, cut into 2 n m triangles. */
static void create_periodic(Patch patch, PetscInt n, PetscInt m, Surface *surface)
{
  Vector3 *vertices;
  PetscInt(*triangles)[3];

  assert_success(PetscMalloc1(n * m, &vertices));
  assert_success(PetscMalloc1(2 * n * m, &triangles));
  for (PetscInt k = 0; k < n * m; k++) {
    const PetscInt i = k / m, j = k % m, next_i = (i + 1) % n, next_j = (j + 1) % m;
    const PetscInt a = k, b = next_i * m + j, c = next_i * m + next_j, d = i * m + next_j;

    vertices[k] = patch((PetscReal)i / (PetscReal)n, (PetscReal)j / (PetscReal)m);
    triangles[2 * k][0] = a, triangles[2 * k][1] = b, triangles[2 * k][2] = c;
    triangles[2 * k + 1][0] = a, triangles[2 * k + 1][1] = c, triangles[2 * k + 1][2] = d;
  }
  assert_success(SurfaceCreate(n * m, vertices, 2 * n * m, (const PetscInt(*)[3])triangles, surface));
  assert_success(PetscFree(vertices));
  assert_success(PetscFree(triangles));
}

static Vector3 torus_patch(PetscReal u, PetscReal v)
{
  const PetscReal around = 2 * PETSC_PI * u, across = 2 * PETSC_PI * v, radius = 0.7 + 0.3 * cos(across);

  return vector3(radius * cos(around), radius * sin(around), 0.3 * sin(across));
}

/* A tube of radius 0.12 along a trefoil: not convex anywhere, near itself everywhere. */
static Vector3 trefoil_line(PetscReal t)
{
  return vector3(0.3 * (sin(t) + 2 * sin(2 * t)), 0.3 * (cos(t) - 2 * cos(2 * t)), -0.3 * sin(3 * t));
}

static Vector3 trefoil_patch(PetscReal u, PetscReal v)
{
  const PetscReal t = 2 * PETSC_PI * u, across = 2 * PETSC_PI * v;
  const Vector3   centre = trefoil_line(t);
  Vector3         along = vector3_subtract(trefoil_line(t + 1e-4), trefoil_line(t - 1e-4)), side, up;

  side = vector3_cross(along, vector3(0.1, 0.2, 1));
  side = vector3_scale(1 / vector3_norm(side), side);
  up = vector3_cross(side, along);
  up = vector3_scale(1 / vector3_norm(up), up);
  return vector3_add(
      centre, vector3_add(vector3_scale(0.12 * cos(across), side), vector3_scale(0.12 * sin(across), up)));
}

static PetscReal trefoil_distance(Vector3 point)
{
  PetscReal least = PETSC_INFINITY;

  for (int n = 0; n < 3000; n++) {
    const PetscReal away = vector3_norm(vector3_subtract(point, trefoil_line(2 * PETSC_PI * n / 3000)));

    least = PetscMin(least, away);
  }
  return least - 0.12;
}

static void create_box(Vector3 low, Vector3 high, Surface *surface)
{
  static const PetscInt sides[12][3] = {{0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6}, {0, 1, 5}, {0, 5, 4},
                                        {2, 6, 7}, {2, 7, 3}, {0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}};
  Vector3               corners[8];

  for (int n = 0; n < 8; n++) {
    corners[n] = vector3((n & 1 ? high : low).at[X], (n & 2 ? high : low).at[Y], (n & 4 ? high : low).at[Z]);
  }
  assert_success(SurfaceCreate(8, corners, 12, sides, surface));
}

static void a_box_of_triangles_is_the_box(void **state)
{
  const Vector3 low = vector3(-0.3, -0.5, -0.2), high = vector3(0.6, 0.1, 0.7);
  Surface       surface;
  Shape         box, shape;

  (void)state;
  create_box(low, high, &surface);
  assert_success(ShapeCreateSurface(&surface, &shape));
  assert_null(surface); /* taken */
  assert_success(ShapeCreateBox(low, high, &box));
  for (int trial = 0; trial < 20000; trial++) {
    const Vector3 point = random_point(1);

    assert_near(shape_distance(shape, point), shape_distance(box, point), 1e-14);
    assert_int_equal(shape_is_inside(shape, point), shape_is_inside(box, point));
  }
  assert_success(ShapeDestroy(&shape));
  assert_success(ShapeDestroy(&box));
}

/* Plane by plane and edge by edge, with nothing in common with the tree. */
static PetscReal slow_triangle_distance(Vector3 a, Vector3 b, Vector3 c, Vector3 point)
{
  const Vector3   u = vector3_subtract(b, a), v = vector3_subtract(c, a);
  PetscReal       best = PETSC_INFINITY, s = 0.5, t = 0.5;
  const PetscReal uu = vector3_dot(u, u), uv = vector3_dot(u, v), vv = vector3_dot(v, v);
  const Vector3   arm = vector3_subtract(point, a);
  const PetscReal ua = vector3_dot(u, arm), va = vector3_dot(v, arm), det = uu * vv - uv * uv;
  const PetscReal sides[3][2] = {
      {PetscMin(PetscMax(ua / uu, 0), 1), 0}, {0, PetscMin(PetscMax(va / vv, 0), 1)}, {0, 0}};

  for (int n = 0; n < 4; n++) {
    if (n < 2)
      s = sides[n][0], t = sides[n][1];
    if (n == 2) {
      t = PetscMin(PetscMax((va - ua + uu - uv) / (uu - 2 * uv + vv), 0), 1);
      s = 1 - t;
    }
    if (n == 3)
      s = (vv * ua - uv * va) / det, t = (uu * va - uv * ua) / det;
    if (s < 0 || t < 0 || s + t > 1 + 1e-15)
      continue;
    best = PetscMin(
        best, vector3_norm(vector3_subtract(arm, vector3_add(vector3_scale(s, u), vector3_scale(t, v)))));
  }
  return best;
}

static void tree_finds_the_nearest_of_all_triangles(void **state)
{
  const Patch patches[] = {torus_patch, trefoil_patch};

  (void)state;
  for (int n = 0; n < 2; n++) {
    Surface        surface;
    const Vector3 *vertices;
    const PetscInt(*triangles)[3];
    PetscInt triangle_count;

    create_periodic(patches[n], 40, 12, &surface);
    assert_success(SurfaceGet(surface, NULL, &vertices, &triangle_count, &triangles));
    for (int trial = 0; trial < 300; trial++) {
      const Vector3 point = random_point(1.2);
      PetscReal     least = PETSC_INFINITY;

      for (PetscInt k = 0; k < triangle_count; k++) {
        const PetscReal distance = slow_triangle_distance(
            vertices[triangles[k][0]], vertices[triangles[k][1]], vertices[triangles[k][2]], point);

        least = PetscMin(least, distance);
      }
      assert_near(PetscAbsReal(surface_distance(surface, point)), least, 1e-13);
    }
    assert_success(SurfaceDestroy(&surface));
  }
}

static void distance_to_a_fine_torus_is_that_of_the_torus(void **state)
{
  Surface surface;
  Shape   torus;

  (void)state;
  create_periodic(torus_patch, 200, 80, &surface);
  assert_success(ShapeCreateTorus(vector3(0, 0, 0), vector3(0, 0, 1), 0.7, 0.3, &torus));
  for (int trial = 0; trial < 5000; trial++) {
    const Vector3 point = random_point(1.2);

    assert_near(surface_distance(surface, point), shape_distance(torus, point), 4e-4);
  }
  assert_success(ShapeDestroy(&torus));
  assert_success(SurfaceDestroy(&surface));
}

static void sign_is_right_in_a_knot(void **state)
{
  Surface surface;
  int     inside = 0;

  (void)state;
  create_periodic(trefoil_patch, 300, 20, &surface);
  for (int trial = 0; trial < 4000; trial++) {
    const Vector3   point = random_point(1);
    const PetscReal distance = trefoil_distance(point);

    if (PetscAbsReal(distance) < 3e-3)
      continue; /* between the chords and the arcs */
    assert_int_equal(surface_is_inside(surface, point), distance < 0);
    assert_int_equal(surface_distance(surface, point) < 0, distance < 0);
    inside += distance < 0;
  }
  assert_true(inside > 100);
  assert_success(SurfaceDestroy(&surface));
}

/* Just above and below the middle of each face, and beside a corner of it. */
static void sign_is_right_a_hair_off_the_surface(void **state)
{
  Surface        surface;
  const Vector3 *vertices;
  const PetscInt(*triangles)[3];
  PetscInt triangle_count;

  (void)state;
  create_periodic(torus_patch, 60, 30, &surface);
  assert_success(SurfaceGet(surface, NULL, &vertices, &triangle_count, &triangles));
  for (PetscInt n = 0; n < triangle_count; n++) {
    const Vector3 a = vertices[triangles[n][0]], b = vertices[triangles[n][1]], c = vertices[triangles[n][2]];
    const Vector3 normal = vector3_cross(vector3_subtract(b, a), vector3_subtract(c, a));
    const Vector3 hair = vector3_scale(1e-9 / vector3_norm(normal), normal);
    const Vector3 spots[2] = {vector3_scale(1.0 / 3, vector3_add(a, vector3_add(b, c))),
                              vector3_add(vector3_scale(0.999, a), vector3_scale(0.0005, vector3_add(b, c)))};

    for (int spot = 0; spot < 2; spot++) {
      if (spot == 1)
        continue; /* across an edge the normal of one face may lead either way */
      assert_true(surface_distance(surface, vector3_add(spots[spot], hair)) > 0);
      assert_true(surface_distance(surface, vector3_subtract(spots[spot], hair)) < 0);
    }
  }
  assert_success(SurfaceDestroy(&surface));
}

static void winding_is_whole_far_and_near(void **state)
{
  Surface surface;

  (void)state;
  create_periodic(trefoil_patch, 300, 20, &surface);
  for (int trial = 0; trial < 4000; trial++) {
    const PetscReal winding = surface_winding(surface, random_point(2));

    assert_true(PetscAbsReal(winding - round(winding)) < 0.1);
  }
  assert_success(SurfaceDestroy(&surface));
}

static void overlapping_parts_are_their_union(void **state)
{
  Vector3  corners[16] = {{{0}}};
  PetscInt triangles[24][3], count;
  Surface  boxes[2], both;

  (void)state;
  create_box(vector3(-0.6, -0.5, -0.5), vector3(0.2, 0.5, 0.5), &boxes[0]);
  create_box(vector3(-0.2, -0.4, -0.4), vector3(0.6, 0.4, 0.4), &boxes[1]);
  for (int n = 0; n < 2; n++) {
    const Vector3 *vertices;
    const PetscInt(*sides)[3];

    assert_success(SurfaceGet(boxes[n], NULL, &vertices, &count, &sides));
    for (int k = 0; k < 8; k++)
      corners[8 * n + k] = vertices[k];
    for (int k = 0; k < 36; k++)
      triangles[12 * n + k / 3][k % 3] = 8 * n + sides[k / 3][k % 3];
  }
  assert_success(SurfaceCreate(16, corners, 24, (const PetscInt(*)[3])triangles, &both));
  for (int trial = 0; trial < 3000; trial++) {
    const Vector3 point = random_point(0.8);

    assert_int_equal(surface_is_inside(both, point),
                     surface_is_inside(boxes[0], point) || surface_is_inside(boxes[1], point));
  }
  for (int n = 0; n < 2; n++)
    assert_success(SurfaceDestroy(&boxes[n]));
  assert_success(SurfaceDestroy(&both));
}

static void moments_of_a_box_are_exact(void **state)
{
  Surface surface;
  Moments moments;

  (void)state;
  create_box(vector3(10, 20, 30), vector3(11, 22, 33), &surface);
  moments = surface_moments(surface);
  assert_near(surface_volume(surface), 6, 1e-12);
  assert_near(moments.centre.at[X], 10.5, 1e-13);
  assert_near(moments.centre.at[Z], 31.5, 1e-13);
  assert_near(moments.inertia[X][X], 6 * (4 + 9) / 12.0, 1e-12);
  assert_near(moments.inertia[Y][Y], 6 * (1 + 9) / 12.0, 1e-12);
  assert_near(moments.inertia[X][Y], 0, 1e-12);
  assert_success(SurfaceDestroy(&surface));
}

static void volume_of_a_torus_converges(void **state)
{
  const PetscReal exact = 2 * PETSC_PI * PETSC_PI * 0.7 * 0.09;
  PetscReal       errors[2];

  (void)state;
  for (int n = 0; n < 2; n++) {
    Surface surface;

    create_periodic(torus_patch, 40 << n, 20 << n, &surface);
    errors[n] = exact - surface_volume(surface);
    assert_success(SurfaceDestroy(&surface));
  }
  assert_near(errors[0] / errors[1], 4, 0.1); /* second order */
}

static void thousands_of_equal_triangles_still_make_a_tree(void **state)
{
  const Vector3 corners[3] = {{{0, 0, 0}}, {{1, 0, 0}}, {{0, 1, 0}}};
  PetscInt(*triangles)[3];
  Surface surface;

  (void)state;
  assert_success(PetscMalloc1(5000, &triangles));
  for (PetscInt n = 0; n < 15000; n++)
    triangles[n / 3][n % 3] = n % 3;
  assert_success(SurfaceCreate(3, corners, 5000, (const PetscInt(*)[3])triangles, &surface));
  assert_near(surface_distance(surface, vector3(0.2, 0.2, 3)), 3, 1e-14);
  assert_success(SurfaceDestroy(&surface));
  assert_success(PetscFree(triangles));
}

/* Ever smaller towards the origin: each cut takes off a few only, and depth must be limited. */
static void endlessly_crowded_triangles_still_make_a_tree(void **state)
{
  Vector3  corners[900];
  PetscInt triangles[300][3];
  Surface  surface;

  (void)state;
  for (int n = 0; n < 300; n++) {
    const PetscReal size = pow(10, -n);

    corners[3 * n] = vector3(size, 0, 0);
    corners[3 * n + 1] = vector3(size, size, 0);
    corners[3 * n + 2] = vector3(size, 0, size);
    for (int k = 0; k < 3; k++)
      triangles[n][k] = 3 * n + k;
  }
  assert_success(SurfaceCreate(900, corners, 300, (const PetscInt(*)[3])triangles, &surface));
  assert_near(surface_distance(surface, vector3(-1, 0, 0)), 1, 1e-14);
  assert_near(surface_distance(surface, vector3(0.1, -1, 0)), 1, 1e-14);
  assert_success(SurfaceDestroy(&surface));
}

static void thin_triangles_do_no_harm(void **state)
{
  const Vector3  corners[4] = {{{0, 0, 0}}, {{1, 0, 0}}, {{2, 0, 0}}, {{1, 0, 0}}};
  const PetscInt triangles[2][3] = {{0, 1, 2}, {0, 1, 3}};
  Surface        surface;

  (void)state;
  assert_success(SurfaceCreate(4, corners, 2, triangles, &surface));
  assert_near(surface_distance(surface, vector3(1.5, 3, 4)), 5, 1e-14);
  assert_near(surface_distance(surface, vector3(5, 0, 4)), 5, 1e-14);
  assert_near(surface_distance(surface, vector3(0.5, 0, 0)), 0, 0);
  assert_success(SurfaceDestroy(&surface));
}

static void bad_arrays_are_refused(void **state)
{
  const Vector3 good[3] = {{{0, 0, 0}}, {{1, 0, 0}}, {{0, 1, 0}}},
                bad[3] = {{{0, 0, 0}}, {{NAN, 0, 0}}, {{0, 1, 0}}};
  const PetscInt fine[1][3] = {{0, 1, 2}}, high[1][3] = {{0, 1, 3}}, low[1][3] = {{0, 1, -1}};
  Surface        surface = NULL;

  (void)state;
  assert_refused(SurfaceCreate(3, bad, 1, fine, &surface));
  assert_refused(SurfaceCreate(3, good, 1, high, &surface));
  assert_refused(SurfaceCreate(3, good, 1, low, &surface));
  assert_refused(SurfaceCreate(3, good, 0, fine, &surface));
  assert_null(surface);
}

TEST_MAIN(cmocka_unit_test(a_box_of_triangles_is_the_box),
          cmocka_unit_test(tree_finds_the_nearest_of_all_triangles),
          cmocka_unit_test(distance_to_a_fine_torus_is_that_of_the_torus),
          cmocka_unit_test(sign_is_right_in_a_knot), cmocka_unit_test(sign_is_right_a_hair_off_the_surface),
          cmocka_unit_test(winding_is_whole_far_and_near),
          cmocka_unit_test(overlapping_parts_are_their_union), cmocka_unit_test(moments_of_a_box_are_exact),
          cmocka_unit_test(volume_of_a_torus_converges),
          cmocka_unit_test(thousands_of_equal_triangles_still_make_a_tree),
          cmocka_unit_test(endlessly_crowded_triangles_still_make_a_tree),
          cmocka_unit_test(thin_triangles_do_no_harm), cmocka_unit_test(bad_arrays_are_refused))
