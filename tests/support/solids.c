#include "harness.h"
#include "solids.h"

static Surface make(PetscInt vertex_count, const Vector3 vertices[], PetscInt triangle_count,
                    const PetscInt (*triangles)[3])
{
  Surface surface;

  assert_success(SurfaceCreate(vertex_count, vertices, triangle_count, triangles, &surface));
  return surface;
}

Surface make_box(Vector3 half)
{
  static const PetscInt triangles[12][3] = {{0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6}, {0, 1, 5}, {0, 5, 4},
                                            {2, 6, 7}, {2, 7, 3}, {0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}};
  Vector3               vertices[8];

  for (int n = 0; n < 8; n++) {
    for (int d = 0; d < DIM; d++)
      vertices[n].at[d] = n >> d & 1 ? half.at[d] : -half.at[d];
  }
  return make(8, vertices, 12, triangles);
}

Surface make_tetrahedron(PetscReal radius)
{
  static const PetscInt triangles[4][3] = {{0, 1, 2}, {0, 3, 1}, {0, 2, 3}, {1, 3, 2}};
  const PetscReal       a = radius / PetscSqrtReal(3);
  const Vector3         vertices[4] = {{{a, a, a}}, {{-a, -a, a}}, {{a, -a, -a}}, {{-a, a, -a}}};
  const PetscInt(*turned)[3] = triangles;
  Surface surface = make(4, vertices, 4, turned);

  assert_true(surface_volume(surface) > 0);
  return surface;
}

Surface make_icosahedron(PetscReal radius)
{
  static const PetscInt triangles[20][3] = {{0, 11, 5}, {0, 5, 1},  {0, 1, 7},   {0, 7, 10}, {0, 10, 11},
                                            {1, 5, 9},  {5, 11, 4}, {11, 10, 2}, {10, 7, 6}, {7, 1, 8},
                                            {3, 9, 4},  {3, 4, 2},  {3, 2, 6},   {3, 6, 8},  {3, 8, 9},
                                            {4, 9, 5},  {2, 4, 11}, {6, 2, 10},  {8, 6, 7},  {9, 8, 1}};
  const PetscReal       golden = 0.5 * (1 + PetscSqrtReal(5));
  const PetscReal       a = radius / PetscSqrtReal(1 + golden * golden), b = golden * a;
  const Vector3         vertices[12] = {{{-a, b, 0}}, {{a, b, 0}}, {{-a, -b, 0}}, {{a, -b, 0}},
                                        {{0, -a, b}}, {{0, a, b}}, {{0, -a, -b}}, {{0, a, -b}},
                                        {{b, 0, -a}}, {{b, 0, a}}, {{-b, 0, -a}}, {{-b, 0, a}}};
  Surface               surface = make(12, vertices, 20, triangles);

  assert_true(surface_volume(surface) > 0);
  return surface;
}

Surface make_lathed(PetscInt ring_count, const PetscReal radii[], const PetscReal heights[], PetscInt sides)
{
  Vector3 *vertices;
  PetscInt(*triangles)[3], vertex_count = 0, triangle_count = 0, *first;
  Surface surface;

  assert_success(
      PetscMalloc3(ring_count * sides, &vertices, 2 * ring_count * sides, &triangles, ring_count, &first));
  for (PetscInt r = 0; r < ring_count; r++) {
    first[r] = vertex_count;
    for (PetscInt s = 0; s < (radii[r] > 0 ? sides : 1); s++) {
      const PetscReal angle = 2 * PETSC_PI * s / sides;

      vertices[vertex_count++] =
          vector3(radii[r] * PetscCosReal(angle), radii[r] * PetscSinReal(angle), heights[r]);
    }
  }
  for (PetscInt r = 0; r + 1 < ring_count; r++) {
    for (PetscInt s = 0; s < sides; s++) {
      const PetscInt next = (s + 1) % sides;
      const PetscInt low[2] = {first[r] + (radii[r] > 0 ? s : 0), first[r] + (radii[r] > 0 ? next : 0)};
      const PetscInt high[2] = {first[r + 1] + (radii[r + 1] > 0 ? s : 0),
                                first[r + 1] + (radii[r + 1] > 0 ? next : 0)};

      if (radii[r] > 0) {
        triangles[triangle_count][0] = low[0];
        triangles[triangle_count][1] = low[1];
        triangles[triangle_count++][2] = high[1];
      }
      if (radii[r + 1] > 0) {
        triangles[triangle_count][0] = low[0];
        triangles[triangle_count][1] = high[1];
        triangles[triangle_count++][2] = high[0];
      }
    }
  }
  surface = make(vertex_count, vertices, triangle_count, (const PetscInt(*)[3])triangles);
  assert_success(PetscFree3(vertices, triangles, first));
  return surface;
}

Surface make_prism(PetscReal radius, PetscReal half_height, PetscInt sides)
{
  const PetscReal radii[4] = {0, radius, radius, 0};
  const PetscReal heights[4] = {-half_height, -half_height, half_height, half_height};

  return make_lathed(4, radii, heights, sides);
}

Surface make_ball(PetscReal radius, PetscInt rings, PetscInt sides)
{
  PetscReal radii[64], heights[64];

  assert_true(rings + 2 <= 64);
  for (PetscInt r = 0; r < rings + 2; r++) {
    const PetscReal angle = PETSC_PI * r / (rings + 1);

    radii[r] = r == 0 || r == rings + 1 ? 0 : radius * PetscSinReal(angle);
    heights[r] = -radius * PetscCosReal(angle);
  }
  return make_lathed(rings + 2, radii, heights, sides);
}

Surface make_disc(PetscReal radius, PetscInt rings, PetscInt sides)
{
  PetscReal radii[64], heights[64];

  assert_true(rings + 1 <= 64);
  for (PetscInt r = 0; r <= rings; r++) {
    radii[r] = radius * (rings - r) / rings;
    heights[r] = 0;
  }
  return make_lathed(rings + 1, radii, heights, sides);
}

Surface make_ring(PetscReal major, PetscReal minor, PetscInt around, PetscInt sides)
{
  Vector3 *vertices;
  PetscInt(*triangles)[3];
  Surface surface;

  assert_success(PetscMalloc2(around * sides, &vertices, 2 * around * sides, &triangles));
  for (PetscInt n = 0; n < around * sides; n++) {
    const PetscInt  i = n / sides, j = n % sides, k = (i + 1) % around * sides, l = (j + 1) % sides;
    const PetscReal phi = 2 * PETSC_PI * i / around, psi = 2 * PETSC_PI * j / sides;
    const PetscReal r = major + minor * PetscCosReal(psi);
    const PetscInt  quad[4] = {i * sides + j, k + j, k + l, i * sides + l};

    vertices[n] = vector3(r * PetscCosReal(phi), r * PetscSinReal(phi), minor * PetscSinReal(psi));
    for (int c = 0; c < 3; c++) {
      triangles[2 * n][c] = quad[c];
      triangles[2 * n + 1][c] = quad[(c + 2) % 4];
    }
  }
  surface = make(around * sides, vertices, 2 * around * sides, (const PetscInt(*)[3])triangles);
  assert_success(PetscFree2(vertices, triangles));
  assert_true(surface_volume(surface) > 0);
  return surface;
}

/* Knuth's MMIX sequence. */
PetscReal random_number(uint64_t *seed)
{
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  return (PetscReal)(*seed >> 11) / (PetscReal)(1ull << 52) - 1;
}

Vector3 random_direction(uint64_t *seed)
{
  for (;;) {
    const Vector3   v = {{random_number(seed), random_number(seed), random_number(seed)}};
    const PetscReal norm = vector3_norm(v);

    if (norm > 0.1 && norm < 1)
      return vector3_scale(1 / norm, v);
  }
}
