/* Readers of OBJ, PLY and STL: what they take, what they refuse and where they say the mistake is. */
#include "surface.h"
#include <math.h>

typedef struct {
  char   bytes[8192];
  size_t size;
} Buffer;

static const int cube_quads[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4},
                                     {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};

static void obj_with_quads_is_a_cube(void **state)
{
  (void)state;
  assert_is_unit_cube(read_text("obj", CUBE_VERTICES CUBE_FACES));
}

static void obj_with_all_its_freedoms_is_a_cube(void **state)
{
  (void)state;
  assert_is_unit_cube(read_text("OBJ",
                                "# a comment \\\nmtllib none.mtl\r\no cube\r\nv 0 0 0\r\nv 1 0 0 1.0\r\nv 0 "
                                "1 0 # end\r\nv 1 1 0 0.5 0.5 0.5\n"
                                "v 0 0 1\nv 1 0 1\nv 0 1 1\nv 1 \\\n 1 1\nvt 0 0\nvn 0 0 1\ns off\nf 1/1/1 "
                                "3//1 4/1 2\nf -4 -3 -1 -2\nf 1 2 6 5\n"
                                "f 3 7 \\\r\n8 4\nl 1 2\nf 1 5 7 3 # quad\nf 2 4 8 6"));
}

static void append(Buffer *buffer, const void *bytes, size_t size)
{
  assert_true(buffer->size + size <= sizeof buffer->bytes);
  memcpy(buffer->bytes + buffer->size, bytes, size);
  buffer->size += size;
}

static void append_text(Buffer *buffer, const char text[])
{
  append(buffer, text, strlen(text));
}

/* `bits` as `size` bytes, least first or most first. */
static void append_number(Buffer *buffer, uint64_t bits, size_t size, PetscBool big_endian)
{
  for (size_t n = 0; n < size; n++) {
    const unsigned char byte = (unsigned char)(bits >> 8 * (big_endian ? size - 1 - n : n));

    append(buffer, &byte, 1);
  }
}

static uint64_t float_bits(float value)
{
  uint32_t bits;

  memcpy(&bits, &value, sizeof bits);
  return bits;
}

/* Vertices of floats with a colour in between, an element of no use, quads with a flag behind. */
static Buffer binary_ply(PetscBool big_endian)
{
  Buffer buffer = {.size = 0};

  append_text(&buffer,
              big_endian ? "ply\nformat binary_big_endian 1.0\n" : "ply\nformat binary_little_endian 1.0\n");
  append_text(&buffer,
              "comment made by a test\nelement vertex 8\nproperty float x\nproperty uchar red\n"
              "property float y\nproperty float32 z\nelement extra 1\nproperty list ushort double odds\n"
              "element face 6\nproperty list uchar int vertex_indices\nproperty short flag\nend_header\n");
  for (int n = 0; n < 8; n++) {
    append_number(&buffer, float_bits((float)(n & 1)), 4, big_endian);
    append_number(&buffer, 200, 1, big_endian);
    append_number(&buffer, float_bits((float)(n >> 1 & 1)), 4, big_endian);
    append_number(&buffer, float_bits((float)(n >> 2 & 1)), 4, big_endian);
  }
  append_number(&buffer, 3, 2, big_endian);
  for (int n = 0; n < 3; n++)
    append_number(&buffer, UINT64_MAX, 8, big_endian); /* nan, where it does no harm */
  for (int n = 0; n < 6; n++) {
    append_number(&buffer, 4, 1, big_endian);
    for (int k = 0; k < 4; k++)
      append_number(&buffer, (uint64_t)cube_quads[n][k], 4, big_endian);
    append_number(&buffer, 65535, 2, big_endian);
  }
  return buffer;
}

static void ply_of_both_byte_orders_is_a_cube(void **state)
{
  (void)state;
  for (int big_endian = 0; big_endian < 2; big_endian++) {
    const Buffer buffer = binary_ply(big_endian ? PETSC_TRUE : PETSC_FALSE);

    assert_is_unit_cube(read_bytes("ply", buffer.bytes, buffer.size));
  }
}

static void ply_of_signed_bytes_is_a_tetrahedron(void **state)
{
  const signed char corners[4][3] = {{-1, -1, -1}, {2, -1, -1}, {-1, 2, -1}, {-1, -1, 2}};
  const signed char faces[4][4] = {{3, 0, 2, 1}, {3, 0, 1, 3}, {3, 0, 3, 2}, {3, 1, 2, 3}};
  Buffer            buffer = {.size = 0};
  Surface           surface;

  (void)state;
  append_text(&buffer,
              "ply\nformat binary_big_endian 1.0\nelement vertex 4\nproperty char x\nproperty int8 y\n"
              "property char z\nelement face 4\nproperty list char char vertex_index\nend_header\n");
  append(&buffer, corners, sizeof corners);
  append(&buffer, faces, sizeof faces);
  surface = read_bytes("ply", buffer.bytes, buffer.size);
  assert_non_null(surface);
  assert_near(surface_volume(surface), 4.5, 1e-14);
  assert_success(SurfaceDestroy(&surface));
}

#define PLY_HEADER                                                                                           \
  "ply\nformat ascii 1.0\nelement vertex 8\nproperty double x\nproperty double y\nproperty double z\n"       \
  "element face 6\nproperty list uchar uint vertex_index\nend_header\n"
#define PLY_VERTICES "0 0 0\n1 0 0\n0 1 0\n1 1 0\n0 0 1\n1 0 1\n0 1 1\n1 1 1\n"
#define PLY_FACES "4 0 2 3 1\n4 4 5 7 6\n4 0 1 5 4\n4 2 6 7 3\n4 0 4 6 2\n4 1 3 7 5\n"

static void ply_of_text_is_a_cube(void **state)
{
  (void)state;
  assert_is_unit_cube(read_text("ply", PLY_HEADER PLY_VERTICES PLY_FACES));
}

/* Corner k of triangle n of the cube. */
static int cube_corner(int n, int k)
{
  const int places[2][3] = {{0, 1, 2}, {0, 2, 3}};

  return cube_quads[n / 2][places[n % 2][k]];
}

static Buffer binary_stl(const char header[])
{
  Buffer buffer = {.size = 80};

  memset(buffer.bytes, 'x', 80);
  memcpy(buffer.bytes, header, strlen(header));
  append_number(&buffer, 12, 4, PETSC_FALSE);
  for (int n = 0; n < 12; n++) {
    for (int k = 0; k < 3; k++)
      append_number(&buffer, float_bits(NAN), 4, PETSC_FALSE); /* the normal is not used */
    for (int k = 0; k < 9; k++) {
      append_number(&buffer, float_bits((float)(cube_corner(n, k / 3) >> k % 3 & 1)), 4, PETSC_FALSE);
    }
    append_number(&buffer, 0, 2, PETSC_FALSE);
  }
  return buffer;
}

static void binary_stl_is_a_cube_even_if_it_says_solid(void **state)
{
  const char *const headers[] = {"made by a test", "solid made by a test"};

  (void)state;
  for (int n = 0; n < 2; n++) {
    const Buffer buffer = binary_stl(headers[n]);

    assert_is_unit_cube(read_bytes("stl", buffer.bytes, buffer.size));
  }
}

static Buffer text_stl(void)
{
  Buffer buffer = {.size = 0};
  char   line[128];

  append_text(&buffer, "solid a cube\n");
  for (int n = 0; n < 12; n++) {
    append_text(&buffer,
                n % 2 ? " facet normal 0 0 0\n  outer loop\n" : " FACET NORMAL 0 0 0\r\n  OUTER LOOP\r\n");
    for (int k = 0; k < 3; k++) {
      const int corner = cube_corner(n, k);

      snprintf(line, sizeof line, "   vertex %d.0e0 %d -%d\n", corner & 1, 1 - (corner >> 1 & 1),
               corner >> 2 & 1);
      append_text(&buffer, line);
    }
    append_text(&buffer, "  endloop\n endfacet\n");
    if (n == 5)
      append_text(&buffer, "endsolid a cube\nsolid the rest\n");
  }
  append_text(&buffer, "endsolid\n");
  return buffer;
}

/* Mirrored in y and z, with -0 beside 0. */
static void stl_of_text_is_a_cube(void **state)
{
  const Buffer buffer = text_stl();
  Surface      surface = read_bytes("stl", buffer.bytes, buffer.size);
  PetscInt     vertex_count;

  (void)state;
  if (!surface)
    fail_msg("%s", surface_message);
  assert_success(SurfaceGet(surface, &vertex_count, NULL, NULL, NULL));
  assert_int_equal(vertex_count, 8);
  assert_near(surface_distance(surface, vector3(0.5, 0.5, -0.75)), -0.25, 1e-12);
  assert_success(SurfaceDestroy(&surface));
}

static void obj_mistakes_are_located(void **state)
{
  (void)state;
  assert_refused_at("obj", "v 0 0 0\nv 0 0\n", 2);
  assert_refused_at("obj", "v 0 0 0\nv 0 0 zero\n", 2);
  assert_refused_at("obj", "v 0 0 nan\n", 1);
  assert_refused_at("obj", "\n\nv 0 inf 0\n", 3);
  assert_refused_at("obj", "v 0 1e99 0\n", 1);
  assert_refused_at("obj", CUBE_VERTICES "f 1 2\n", 9);
  assert_refused_at("obj", CUBE_VERTICES "f 1 2 0\nv 5 5 5\n", 9);
  assert_non_null(strstr(surface_message, "vertex 0"));
  assert_refused_at("obj", "v 0 \\\n 0 0\nv 0 0 zero\n", 3);
  assert_refused_at("obj", CUBE_VERTICES "f 1 2 -9\n", 9);
  assert_refused_at("obj", CUBE_VERTICES "f 1 2 3\nf 1 2 9\n", 10);
  assert_refused_at("obj", CUBE_VERTICES "f 1 2 99999999999\n", 9);
  assert_refused_at("obj", CUBE_VERTICES "f 1 2 3x\n", 9);
  assert_refused_at("obj", CUBE_VERTICES "surf 0 1 0 1 1 2\n", 9);
  assert_refused_at("obj", CUBE_VERTICES, 0);
  assert_refused_at("obj", "", 0);
}

static void ply_mistakes_are_located(void **state)
{
  const char *const start = "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\n";
  char              text[512];

  (void)state;
  snprintf(text, sizeof text, "%sproperty float y\nend_header\n0 0\n", start);
  assert_refused_at("ply", text, 6);
  snprintf(text, sizeof text, "%sproperty real y\n", start);
  assert_refused_at("ply", text, 5);
  snprintf(text, sizeof text, "%sproperty list float int y\n", start);
  assert_refused_at("ply", text, 5);
  assert_refused_at("ply", "plu\n", 1);
  assert_refused_at("ply", "ply\nformat utf8 1.0\n", 2);
  assert_refused_at("ply", "ply\nformat ascii 1.0\nelement vertex -3\n", 3);
  assert_refused_at("ply", "ply\nformat ascii 1.0\nproperty float x\n", 3);
  assert_refused_at("ply", PLY_HEADER "0 0 0\n1 0 nan\n", 11);
  assert_refused_at(
      "ply", PLY_HEADER PLY_VERTICES "4 0 2 3 1\n4 4 5 8 6\n4 0 1 5 4\n4 2 6 7 3\n4 0 4 6 2\n4 1 3 7 5\n",
      19);
  assert_refused_at("ply", PLY_HEADER PLY_VERTICES "4 0 2 3 1\n2 4 5\n", 19);
  assert_refused_at("ply", PLY_HEADER PLY_VERTICES "4 0 2 3 1\n4 4 5 -7 6\n", 19);
  assert_refused_at("ply", PLY_HEADER PLY_VERTICES "4 0 2 3 1\n", 19);
}

static void stl_mistakes_are_located(void **state)
{
  const char *const start = "solid x\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\n";
  char              text[512];
  Buffer            buffer = binary_stl("solid");

  (void)state;
  snprintf(text, sizeof text, "%svertex 1 1 nan\nendloop\nendfacet\nendsolid\n", start);
  assert_refused_at("stl", text, 6);
  snprintf(text, sizeof text, "%sendloop\nendfacet\nendsolid\n", start);
  assert_refused_at("stl", text, 6);
  snprintf(text, sizeof text, "%svertex 1 1 0\nendloop\nendfacet\n", start);
  assert_refused_at("stl", text, 9);
  assert_refused_at("stl", "solid x\nfacet normal 0 0\n", 3);
  assert_refused_at("stl", "liquid", 0);
  assert_refused_at("stl", "solid x\nendsolid\n", 0);
  buffer.size -= 17;
  buffer.bytes[40] = '\0';
  assert_null(read_bytes("stl", buffer.bytes, buffer.size));
  assert_non_null(strstr(surface_message, "667")); /* bytes that are there */
  buffer.size += 17;
  memset(buffer.bytes + 84 + 50 * 3 + 12, 0xff, 4);
  assert_null(read_bytes("stl", buffer.bytes, buffer.size));
  assert_non_null(strstr(surface_message, "facet 4"));
}

static void files_that_are_none_are_refused(void **state)
{
  Surface surface;

  (void)state;
  assert_success(
      SurfaceRead("no-such-file.stl", SURFACE_ANY, &surface, surface_message, sizeof surface_message));
  assert_null(surface);
  assert_non_null(strstr(surface_message, "no-such-file.stl"));
  assert_int_equal(mkdir(scratch_path("folder.obj"), 0700), 0);
  assert_success(SurfaceRead(scratch.path, SURFACE_ANY, &surface, surface_message, sizeof surface_message));
  assert_null(surface);
  assert_refused_at("off", "OFF\n", 0);
}

static uint32_t random_bits(void)
{
  static uint64_t seed = 88172645463325252u;

  seed ^= seed << 13;
  seed ^= seed >> 7;
  seed ^= seed << 17;
  return (uint32_t)(seed >> 16);
}

/* A few bytes changed, a piece taken out or doubled, the end cut off. */
static void damage(Buffer *buffer)
{
  static const char spice[] = "0123456789-+.enaxif/\\ \n\r\t#\0\377\177\200";
  const int         changes = 1 + (int)(random_bits() % 4);

  for (int n = 0; n < changes; n++)
    buffer->bytes[random_bits() % buffer->size] = spice[random_bits() % sizeof spice];
  if (random_bits() % 4 == 0)
    buffer->bytes[random_bits() % buffer->size] ^= (char)(1 << random_bits() % 8);
  if (random_bits() % 4 == 0) {
    const size_t length = random_bits() % 64, from = random_bits() % buffer->size,
                 to = random_bits() % buffer->size;

    if (PetscMax(from, to) + length < buffer->size)
      memmove(buffer->bytes + to, buffer->bytes + from, length);
  }
  if (random_bits() % 4 == 0)
    buffer->size = 1 + random_bits() % buffer->size;
}

static void damaged_files_never_crash(void **state)
{
  static const char *const suffixes[] = {"obj", "ply", "ply", "ply", "stl", "stl"};
  Buffer                   good[6] = {{.size = 0}};
  int                      refused = 0;

  (void)state;
  append_text(&good[0], CUBE_VERTICES CUBE_FACES);
  append_text(&good[1], PLY_HEADER PLY_VERTICES PLY_FACES);
  good[2] = binary_ply(PETSC_FALSE);
  good[3] = binary_ply(PETSC_TRUE);
  good[4] = text_stl();
  good[5] = binary_stl("solid");
  for (int trial = 0; trial < 3000; trial++) {
    Buffer  buffer = good[trial % 6];
    Surface surface;

    damage(&buffer);
    write_surface(suffixes[trial % 6], buffer.bytes, buffer.size);
    assert_success(SurfaceRead(scratch.path, trial % 12 < 6 ? SURFACE_ANY : SURFACE_CLOSED, &surface,
                               surface_message, sizeof surface_message));
    assert_int_equal(surface == NULL, surface_message[0] != '\0');
    if (surface)
      assert_true(isfinite(surface_distance(surface, vector3(0.4, 0.3, 0.2))));
    else
      refused++;
    assert_success(SurfaceDestroy(&surface));
  }
  assert_true(refused > 500 && refused < 2900);
}

TEST_MAIN(in_scratch(obj_with_quads_is_a_cube), in_scratch(obj_with_all_its_freedoms_is_a_cube),
          in_scratch(ply_of_both_byte_orders_is_a_cube), in_scratch(ply_of_signed_bytes_is_a_tetrahedron),
          in_scratch(ply_of_text_is_a_cube), in_scratch(binary_stl_is_a_cube_even_if_it_says_solid),
          in_scratch(stl_of_text_is_a_cube), in_scratch(obj_mistakes_are_located),
          in_scratch(ply_mistakes_are_located), in_scratch(stl_mistakes_are_located),
          in_scratch(files_that_are_none_are_refused), in_scratch(damaged_files_never_crash))
