/* Triangles against boxes, lines and segments. */
#include "harness.h"
#include "solids.h"

#include <millrace/lattice.h>
#include <millrace/periodic.h>

typedef struct {
  Vector3  *vertices;
  Triangles triangles;
} Placed;

/* A surface turned and moved. */
static Placed place(Surface surface, Vector3 rotation, Vector3 shift)
{
  const Quaternion turn = quaternion_from_rotation(rotation);
  const Vector3   *vertices;
  Placed           placed = {0};

  assert_success(SurfaceGet(surface, &placed.triangles.vertex_count, &vertices,
                            &placed.triangles.triangle_count, &placed.triangles.triangles));
  assert_success(PetscMalloc1(placed.triangles.vertex_count, &placed.vertices));
  for (PetscInt v = 0; v < placed.triangles.vertex_count; v++)
    placed.vertices[v] = vector3_add(shift, quaternion_rotate(turn, vertices[v]));
  placed.triangles.vertices = placed.vertices;
  return placed;
}

static PetscReal total_area(const Triangles *triangles)
{
  PetscReal area = 0;

  for (PetscInt t = 0; t < triangles->triangle_count; t++) {
    const Vector3  *v = triangles->vertices;
    const PetscInt *c = triangles->triangles[t];

    area += 0.5 * vector3_norm(
                      vector3_cross(vector3_subtract(v[c[1]], v[c[0]]), vector3_subtract(v[c[2]], v[c[0]])));
  }
  return area;
}

/* The sum of areas times centroids. */
static Vector3 total_moment(const Triangles *triangles)
{
  Vector3 moment = vector3(0, 0, 0);

  for (PetscInt t = 0; t < triangles->triangle_count; t++) {
    const Vector3  *v = triangles->vertices;
    const PetscInt *c = triangles->triangles[t];
    const PetscReal area = 0.5 * vector3_norm(vector3_cross(vector3_subtract(v[c[1]], v[c[0]]),
                                                            vector3_subtract(v[c[2]], v[c[0]])));

    moment =
        vector3_add(moment, vector3_scale(area / 3., vector3_add(v[c[0]], vector3_add(v[c[1]], v[c[2]]))));
  }
  return moment;
}

typedef struct {
  Lattice    lattice;
  PetscReal *area, *volume, *passing;
  Vector3   *moment;
} Cut;

static Cut cut(const Lattice *lattice, const Triangles *triangles)
{
  Cut            cut = {.lattice = *lattice};
  const PetscInt size = lattice_size(lattice);

  assert_success(PetscCalloc4(size, &cut.area, size, &cut.volume, size, &cut.passing, size, &cut.moment));
  lattice_cut(lattice, triangles, cut.area, cut.moment, cut.volume, cut.passing);
  lattice_fill(lattice, cut.volume, cut.passing);
  return cut;
}

static void cut_free(Cut *c)
{
  assert_success(PetscFree4(c->area, c->volume, c->passing, c->moment));
}

static const Lattice lattice = {.origin = {{-1.03, -1.01, -1.02}},
                                .spacing = {{0.1, 0.13, 0.17}},
                                .start = {-2, -3, -1},
                                .end = {24, 20, 15}};

/* Box n of the lattice. */
static PetscBool is_in_box(PetscInt n, Vector3 point)
{
  const PetscInt width = lattice.end[X] - lattice.start[X], depth = lattice.end[Y] - lattice.start[Y],
                 at[DIM] = {n % width, n / width % depth, n / width / depth};

  for (PetscInt d = 0; d < DIM; d++) {
    const PetscReal place =
        (point.at[d] - lattice.origin.at[d]) / lattice.spacing.at[d] - lattice.start[d] - at[d];

    if (place < -1e-9 || place > 1. + 1e-9)
      return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

static void check_sums(Surface surface, uint64_t *seed)
{
  const Vector3 rotation = vector3_scale(3, random_direction(seed)),
                shift = vector3_scale(0.2, random_direction(seed));
  Placed    placed = place(surface, rotation, shift);
  Cut       c = cut(&lattice, &placed.triangles);
  PetscReal area = 0, volume = 0, least = 0, most = 0;
  Vector3   moment = vector3(0, 0, 0);

  for (PetscInt n = 0; n < lattice_size(&lattice); n++) {
    area += c.area[n];
    moment = vector3_add(moment, c.moment[n]);
    volume += c.volume[n];
    assert_on_all_ranks(c.area[n] < 1e-12 || is_in_box(n, vector3_scale(1. / c.area[n], c.moment[n])));
    least = PetscMin(least, c.volume[n]);
    most = PetscMax(most, c.volume[n]);
  }
  assert_near(area, total_area(&placed.triangles), 1e-12);
  assert_near(vector3_norm(vector3_subtract(moment, total_moment(&placed.triangles))), 0., 1e-12);
  assert_near(volume, surface_volume(surface), 1e-12);
  assert_on_all_ranks(least > -1e-15 && most < 0.1 * 0.13 * 0.17 * (1 + 1e-12));
  cut_free(&c);
  assert_success(PetscFree(placed.vertices));
  assert_success(SurfaceDestroy(&surface));
}

static void parts_add_up_to_the_whole(void **state)
{
  uint64_t seed = 5;

  (void)state;
  for (int n = 0; n < 20; n++) {
    check_sums(make_tetrahedron(0.8), &seed);
    check_sums(make_box(vector3(0.5, 0.3, 0.4)), &seed);
    check_sums(make_ball(0.7, 12, 24), &seed);
    check_sums(make_ring(0.5, 0.2, 20, 12), &seed);
  }
}

/* Planes of the lattice lie in faces of the box. */
static void an_aligned_box_fills_its_boxes(void **state)
{
  const Lattice unit = {.spacing = {{0.25, 0.25, 0.25}}, .start = {-3, -3, -3}, .end = {3, 3, 3}};
  Surface       surface = make_box(vector3(0.5, 0.25, 0.375));
  Placed        placed = place(surface, vector3(0, 0, 0), vector3(0, 0, 0));
  Cut           c = cut(&unit, &placed.triangles);

  (void)state;
  for (PetscInt k = -3; k < 3; k++)
    for (PetscInt j = -3; j < 3; j++)
      for (PetscInt i = -3; i < 3; i++) {
        const PetscBool within = i >= -2 && i < 2 && j >= -1 && j < 1 && k >= -2 && k < 2;
        const PetscReal part = within ? (k == -2 || k == 1 ? 0.5 : 1) : 0;

        assert_near(c.volume[lattice_index(&unit, i, j, k)], part / 64, 1e-16);
      }
  cut_free(&c);
  assert_success(PetscFree(placed.vertices));
  assert_success(SurfaceDestroy(&surface));
}

/* Any part of the lattice alone gives what the whole gives there, the volumes of whole rows to the bit. */
static void a_part_of_the_lattice_sees_the_same(void **state)
{
  const Lattice part = {lattice.origin, lattice.spacing, {9, 5, 3}, {20, 16, 13}, {0}};
  const Lattice rows = {lattice.origin, lattice.spacing, {0, 5, 3}, {20, 16, 13}, {0}};
  Surface       surface = make_ball(0.7, 4, 7);
  Placed        placed = place(surface, vector3(0.3, 0.2, 0.1), vector3(0.05, 0.02, 0.01));
  Cut           whole = cut(&lattice, &placed.triangles), c = cut(&part, &placed.triangles);
  Cut           same = cut(&rows, &placed.triangles);
  PetscInt      used = 0;

  (void)state;
  for (PetscInt k = 3; k < 13; k++)
    for (PetscInt j = 5; j < 16; j++)
      for (PetscInt i = 9; i < 20; i++) {
        const PetscInt a = lattice_index(&part, i, j, k), b = lattice_index(&lattice, i, j, k);

        assert_near(c.volume[a], whole.volume[b], 1e-15);
        assert_on_all_ranks(c.area[a] == whole.area[b]);
        assert_on_all_ranks(same.volume[lattice_index(&rows, i, j, k)] == whole.volume[b]);
        used += c.area[a] > 0 ? 1 : 0;
      }
  assert_on_all_ranks(used > 20);
  cut_free(&whole);
  cut_free(&same);
  cut_free(&c);
  assert_success(PetscFree(placed.vertices));
  assert_success(SurfaceDestroy(&surface));
}

static void one_box_is_cut_alike(void **state)
{
  Surface   surface = make_ball(0.7, 24, 48);
  Placed    placed = place(surface, vector3(0, 0, 0), vector3(0, 0, 0));
  PetscReal area, volume;

  (void)state;
  box_cut(vector3(0, 0, 0), vector3(1, 1, 1), &placed.triangles, &area, &volume);
  assert_near(volume, surface_volume(surface) / 8, 1e-12);
  assert_near(area, total_area(&placed.triangles) / 8, 1e-12);
  box_cut(vector3(-1, -1, -0.1), vector3(1, 1, 0.1), &placed.triangles, &area, &volume);
  assert_near(volume, PETSC_PI * (0.49 * 0.2 - 2e-3 / 3), 0.02 * volume);
  assert_success(PetscFree(placed.vertices));
  assert_success(SurfaceDestroy(&surface));
}

static void centres_are_inside_or_not(void **state)
{
  uint64_t  seed = 9;
  PetscInt *winding, inside = 0;

  (void)state;
  assert_success(PetscMalloc1(lattice_size(&lattice), &winding));
  for (int trial = 0; trial < 10; trial++) {
    Surface surface = trial % 2 ? make_ring(0.5, 0.2, 20, 12) : make_ball(0.7, 6, 8), moved;
    Placed  placed = place(surface, vector3_scale(3, random_direction(&seed)), vector3(0.1, 0, 0));

    assert_success(SurfaceCreate(placed.triangles.vertex_count, placed.vertices,
                                 placed.triangles.triangle_count, placed.triangles.triangles, &moved));
    assert_success(PetscArrayzero(winding, lattice_size(&lattice)));
    lattice_wind(&lattice, &placed.triangles, winding);
    FOR_CELLS(&lattice, i, j, k) {
      const Vector3 point =
          vector3_add(lattice.origin, vector3((i + 0.5) * 0.1, (j + 0.5) * 0.13, (k + 0.5) * 0.17));
      const PetscInt n = winding[lattice_index(&lattice, i, j, k)];

      inside += n;
      if (PetscAbsReal(surface_distance(moved, point)) > 1e-4)
        assert_int_equal(n, surface_is_inside(moved, point) ? 1 : 0);
    }
    assert_success(PetscFree(placed.vertices));
    assert_success(SurfaceDestroy(&moved));
    assert_success(SurfaceDestroy(&surface));
  }
  assert_true(inside > 1000);
  assert_success(PetscFree(winding));
}

/* Lines run exactly through corners and along edges. */
static void no_line_slips_through_an_edge(void **state)
{
  const Lattice unit = {.spacing = {{1, 1, 1}}, .start = {-4, -4, -4}, .end = {4, 4, 4}};
  const Vector3 half = vector3(0.5, 0.5, 0.5), tip = vector3(3, 3, 3);
  Surface       surfaces[2] = {make_box(tip), make_icosahedron(3)};
  PetscInt      winding[8 * 8 * 8];

  (void)state;
  for (int s = 0; s < 2; s++) {
    Placed placed = place(surfaces[s], vector3(0, 0, 0), half);

    assert_success(PetscArrayzero(winding, 512));
    lattice_wind(&unit, &placed.triangles, winding);
    for (PetscInt k = -4; k < 4; k++)
      for (PetscInt j = -4; j < 4; j++) {
        assert_int_equal(winding[lattice_index(&unit, -4, j, k)], 0);
        assert_int_equal(winding[lattice_index(&unit, 3, j, k)] * (s == 0 ? 0 : 1), 0);
        for (PetscInt i = -4; i < 4; i++)
          assert_in_range(winding[lattice_index(&unit, i, j, k)], 0, 1);
      }
    assert_int_equal(winding[lattice_index(&unit, 0, 0, 0)], 1);
    assert_success(PetscFree(placed.vertices));
    assert_success(SurfaceDestroy(&surfaces[s]));
  }
}

/* Lines along any axis, through corners and along edges and faces too: a centre lies inside if and only if
   the one before does not, or the segment between them crosses an even number of times. */
static void every_crossing_changes_sides(void **state)
{
  const Lattice  unit = {.spacing = {{1, 1, 1}}, .start = {-4, -4, -4}, .end = {4, 4, 4}};
  const PetscInt stride[DIM] = {1, 8, 64};
  const Vector3  offsets[] = {vector3(0.5, 0.5, 0.5), vector3(0.5 + 1e-7, 0.5, 0.5 - 1e-7),
                              vector3(0.1, 0.2, 0.3)};
  PetscInt       winding[512], counts[512];

  (void)state;
  for (int trial = 0; trial < 12; trial++) {
    Surface surface = trial % 4 == 0   ? make_box(vector3(2, 3, 2))
                      : trial % 4 == 1 ? make_icosahedron(2.5)
                      : trial % 4 == 2 ? make_box(vector3(3, 0.1, 3))
                                       : make_ball(2.6, 6, 8);
    Placed  placed = place(surface, vector3(0, 0, 0), offsets[trial / 4]);

    assert_success(PetscArrayzero(winding, 512));
    lattice_wind(&unit, &placed.triangles, winding);
    for (PetscInt d = 0; d < DIM; d++) {
      assert_success(PetscArrayzero(counts, 512));
      lattice_count_crossings(&unit, &placed.triangles, d, counts);
      for (PetscInt n = 0; n < 512; n++)
        if (n / stride[d] % 8 > 0)
          assert_int_equal(counts[n] % 2, PetscAbsInt(winding[n] - winding[n - stride[d]]));
    }
    assert_success(PetscFree(placed.vertices));
    assert_success(SurfaceDestroy(&surface));
  }
}

/* From inside to outside every path of centres meets a blocked segment: flood and see. */
static void closed_shells_are_tight(void **state)
{
  enum { N = 20 };
  const Lattice   box = {.origin = {{-1, -1, -1}}, .spacing = {{0.1, 0.1, 0.1}}, .end = {N, N, N}};
  uint64_t        seed = 3;
  static PetscInt blocked[DIM][N * N * N], stack[N * N * N];
  static char     seen[N * N * N];

  (void)state;
  for (int trial = 0; trial < 12; trial++) {
    Surface surface = trial % 3 == 0 ? make_box(vector3(0.55, 0.55, 0.55)) : make_ball(0.62, 6, 9);
    Placed  placed = place(surface, trial < 6 ? vector3(0, 0, 0) : vector3_scale(2, random_direction(&seed)),
                          trial < 3 ? vector3(0.05, 0.05, 0.05) : vector3(0, 0, 0));
    const PetscInt stride[DIM] = {1, N, N * N};
    PetscInt       height = 0, count = 0;

    assert_success(PetscMemzero(blocked, sizeof(blocked)));
    assert_success(PetscMemzero(seen, sizeof(seen)));
    for (PetscInt d = 0; d < DIM; d++)
      lattice_block(&box, &placed.triangles, d, 1e-6, 1, blocked[d]);
    stack[height++] = lattice_index(&box, 10, 10, 10);
    seen[stack[0]] = 1;
    while (height > 0) {
      const PetscInt c = stack[--height];

      count++;
      for (PetscInt d = 0; d < DIM; d++)
        for (PetscInt side = 0; side < 2; side++) {
          const PetscInt at = c / stride[d] % N, next = side ? c + stride[d] : c - stride[d];

          assert_in_range(at, 1, N - 2);
          if (seen[next] || blocked[d][side ? next : c])
            continue;
          seen[next] = 1;
          stack[height++] = next;
        }
    }
    assert_in_range(count, 300, 1500);
    assert_success(PetscFree(placed.vertices));
    assert_success(SurfaceDestroy(&surface));
  }
}

static void segments_are_blocked_by_surfaces(void **state)
{
  Surface  surface = make_ball(0.7, 8, 12);
  uint64_t seed = 11;
  PetscInt blocked = 0;

  (void)state;
  for (int n = 0; n < 2000; n++) {
    const Vector3   from = vector3_scale(0.9 + 0.5 * random_number(&seed), random_direction(&seed));
    const Vector3   to = vector3_add(from, vector3_scale(0.3, random_direction(&seed)));
    const PetscBool blocks = surface_blocks(surface, from, to, 1e-6);

    if (surface_is_inside(surface, from) != surface_is_inside(surface, to))
      assert_true(blocks);
    if (surface_distance(surface, from) > 0.31 || surface_distance(surface, from) < -0.31)
      assert_false(blocks);
    blocked += blocks;
  }
  assert_in_range(blocked, 100, 1900);
  assert_true(surface_blocks(surface, vector3(0, 0, 0.7), vector3(0, 0, 1), 1e-6)); /* begins at the pole */
  assert_false(surface_blocks(surface, vector3(0, 0, 0.7001), vector3(0, 0, 1), 1e-6));
  assert_true(surface_blocks(surface, vector3(0, 0, 0.7001), vector3(0, 0, 1), 1e-3));
  assert_success(SurfaceDestroy(&surface));
}

/* A ball that moves, turns and is sheared: a point that was within and is not has crossed it, and none else.
 */
static void points_cross_surfaces_that_move(void **state)
{
  const PetscReal far = 0.6;
  Surface         before = make_ball(0.7, 8, 12), after;
  Placed          placed = place(before, vector3(0.1, 0.2, -0.1), vector3(0.1, 0.15, -0.2));
  uint64_t        seed = 12;
  PetscInt        crossed = 0;

  (void)state;
  for (PetscInt v = 0; v < placed.triangles.vertex_count; v++)
    placed.vertices[v].at[X] += 0.3 * placed.vertices[v].at[Y];
  assert_success(SurfaceCreate(placed.triangles.vertex_count, placed.vertices,
                               placed.triangles.triangle_count, placed.triangles.triangles, &after));
  for (int n = 0; n < 5000; n++) {
    const Vector3 from = vector3_scale(1.2 * random_number(&seed), random_direction(&seed));
    const Vector3 to = vector3_add(from, vector3_scale(0.5 * random_number(&seed), random_direction(&seed)));
    const PetscBool crosses = surface_is_crossed(before, after, far, from, to);

    assert_true(crosses == (surface_is_inside(before, from) != surface_is_inside(after, to)));
    crossed += crosses;
  }
  assert_in_range(crossed, 500, 4500);
  assert_success(PetscFree(placed.vertices));
  assert_success(SurfaceDestroy(&after));
  assert_success(SurfaceDestroy(&before));
}

/* A box between -0.33 and 0.21, met from both sides by lines along each direction. */
static void segments_are_hit_where_the_surface_is(void **state)
{
  const Lattice blocks = {.origin = {{-1, -1, -1}}, .spacing = {{0.1, 0.1, 0.1}}, .end = {20, 20, 20}};
  Surface       surface = make_box(vector3(0.27, 0.27, 0.27));
  Placed        placed = place(surface, vector3(0, 0, 0), vector3(-0.06, -0.06, -0.06));
  PetscReal     first[20 * 20 * 20], last[20 * 20 * 20];

  (void)state;
  for (PetscInt direction = 0; direction < DIM; direction++) {
    PetscInt hits = 0;

    for (PetscInt n = 0; n < 20 * 20 * 20; n++) {
      first[n] = 2;
      last[n] = -1;
    }
    lattice_hit(&blocks, &placed.triangles, direction, 1e-6, first, last);
    for (PetscInt k = 0; k < 20; k++)
      for (PetscInt j = 0; j < 20; j++)
        for (PetscInt i = 0; i < 20; i++) {
          const PetscInt at[DIM] = {i, j, k}, n = lattice_index(&blocks, i, j, k);

          if (first[n] > 1)
            continue;
          hits++;
          assert_near(first[n], at[direction] == 7 ? 0.2 : 0.6, 1e-9); /* after the centres -0.35 and 0.15 */
          assert_near(last[n], first[n], 1e-9);
        }
    assert_int_equal(hits, 2 * 5 * 5); /* lines from -0.25 to 0.15 */
  }
  assert_success(PetscFree(placed.vertices));
  assert_success(SurfaceDestroy(&surface));
}

static void a_slice_is_a_prism(void **state)
{
  const Lattice flat = {.origin = {{-1, -1, -0.5}}, .spacing = {{0.1, 0.1, 1}}, .end = {20, 20, 1}};
  Surface       surface = make_ball(0.7, 7, 12);
  Placed placed = place(surface, vector3(0, 0, 0), vector3(0.01, 0.02, 0.)); /* a ring of corners at z = 0 */
  const PetscReal area = 6 * 0.49 * PetscSinReal(PETSC_PI / 6);
  PetscReal       volume = 0;
  Prism           prism;
  Triangles       walls;
  Cut             c;

  (void)state;
  assert_success(TrianglesSlice(&placed.triangles, 0., &prism));
  walls = (Triangles){prism.vertex_count, prism.triangle_count, prism.vertices,
                      (const PetscInt(*)[3])prism.triangles};
  c = cut(&flat, &walls);
  for (PetscInt n = 0; n < 400; n++)
    volume += c.volume[n];
  assert_near(volume, area, 1e-12);
  cut_free(&c);
  assert_success(PetscFree2(prism.vertices, prism.triangles));
  assert_success(PetscFree(placed.vertices));
  assert_success(SurfaceDestroy(&surface));
}

/* Every image that meets the space is between the first and the last, and those two do. */
static void images_are_those_that_meet(void **state)
{
  (void)state;
  for (PetscInt n = 0; n < 200; n++) {
    const PetscReal low = 7. * PetscSinReal(1.3 * n), high = low + 0.4 * (n % 7),
                    start = PetscCosReal(2.1 * n), end = start + 0.5 * (n % 5), period = n % 3;
    PetscInt        first, last;
    const PetscBool any = images_between(period, start, end, low, high, &first, &last);

    assert_on_all_ranks(any || period > 0. || high < start || low > end);
    for (PetscInt image = -12; image <= 12 && period > 0.; image++)
      assert_on_all_ranks((image >= first && image <= last) ==
                          (low + image * period <= end && high + image * period >= start));
    assert_on_all_ranks(period == 0. ? nearest_image(low, period) == low
                                     : PetscAbsReal(nearest_image(low, period)) <= 0.5 * period + 1e-12);
  }
}

TEST_MAIN(cmocka_unit_test(images_are_those_that_meet), cmocka_unit_test(parts_add_up_to_the_whole),
          cmocka_unit_test(an_aligned_box_fills_its_boxes),
          cmocka_unit_test(a_part_of_the_lattice_sees_the_same), cmocka_unit_test(one_box_is_cut_alike),
          cmocka_unit_test(centres_are_inside_or_not), cmocka_unit_test(no_line_slips_through_an_edge),
          cmocka_unit_test(every_crossing_changes_sides), cmocka_unit_test(closed_shells_are_tight),
          cmocka_unit_test(segments_are_blocked_by_surfaces),
          cmocka_unit_test(points_cross_surfaces_that_move),
          cmocka_unit_test(segments_are_hit_where_the_surface_is), cmocka_unit_test(a_slice_is_a_prism))
