#include "surface.h"

char surface_message[512];

void write_surface(const char suffix[], const void *bytes, size_t size)
{
  char  name[32];
  FILE *file;

  snprintf(name, sizeof name, "surface.%s", suffix);
  file = fopen(scratch_path(name), "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, size, file), size);
  assert_int_equal(fclose(file), 0);
}

Surface read_bytes(const char suffix[], const void *bytes, size_t size)
{
  Surface surface;

  write_surface(suffix, bytes, size);
  assert_success(
      SurfaceRead(scratch.path, SURFACE_CLOSED, &surface, surface_message, sizeof surface_message));
  return surface;
}

Surface read_text(const char suffix[], const char text[])
{
  return read_bytes(suffix, text, strlen(text));
}

void assert_refused_at(const char suffix[], const char text[], int line)
{
  char expected[600];

  assert_null(read_text(suffix, text));
  if (line > 0)
    snprintf(expected, sizeof expected, "%s:%d: ", scratch.path, line);
  else
    snprintf(expected, sizeof expected, "%s: ", scratch.path);
  if (strncmp(surface_message, expected, strlen(expected)) != 0)
    fail_msg("expected %s, got %s", expected, surface_message);
}

void assert_is_unit_cube(Surface surface)
{
  PetscInt vertex_count, triangle_count;

  if (!surface)
    fail_msg("%s", surface_message);
  assert_success(SurfaceGet(surface, &vertex_count, NULL, &triangle_count, NULL));
  assert_int_equal(vertex_count, 8);
  assert_int_equal(triangle_count, 12);
  assert_near(surface_volume(surface), 1, 1e-12);
  assert_near(surface_distance(surface, vector3(0.5, 0.5, 0.25)), -0.25, 1e-12);
  assert_near(surface_distance(surface, vector3(0.5, 0.5, 3)), 2, 1e-12);
  assert_success(SurfaceDestroy(&surface));
}
