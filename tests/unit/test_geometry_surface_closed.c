/* Surfaces that must be closed: what is mended, what is refused, and which edge is named. */
#include "surface.h"

#define SMALL_VERTICES                                                                                       \
  "v .25 .25 .25\nv .75 .25 .25\nv .25 .75 .25\nv .75 .75 .25\nv .25 .25 .75\nv .75 .25 .75\nv .25 .75 "     \
  ".75\n"                                                                                                    \
  "v .75 .75 .75\n"
#define AWAY_VERTICES "v 2 0 0\nv 3 0 0\nv 2 1 0\nv 3 1 0\nv 2 0 1\nv 3 0 1\nv 2 1 1\nv 3 1 1\n"
#define SECOND_INWARD                                                                                        \
  "f 10 12 11 9\nf 15 16 14 13\nf 13 14 10 9\nf 12 16 15 11\nf 11 15 13 9\nf 14 16 12 10\n"

static void seams_are_welded(void **state)
{
  Surface surface =
      read_text("obj", CUBE_VERTICES "v 1 0 0\nv 0 0 0\n"
                                     "f 10 3 4 9\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6\n");

  (void)state;
  assert_string_equal(surface_message, "");
  assert_is_unit_cube(surface);
}

static void a_hole_is_refused_at_its_edge(void **state)
{
  Surface surface;

  (void)state;
  assert_refused_at("obj", CUBE_VERTICES "f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\n", 9);
  assert_non_null(strstr(surface_message, "(1, 0, 0) to (1, 1, 0)"));
  assert_success(SurfaceRead(scratch.path, SURFACE_ANY, &surface, surface_message, sizeof surface_message));
  assert_non_null(surface);
  assert_int_equal(surface_message[0], 0);
  assert_success(SurfaceDestroy(&surface));
}

/* Seams welded and faces turned outwards, as where a closed surface is demanded. */
static void any_surface_is_closed_if_it_can_be(void **state)
{
  static const char text[] =
      CUBE_VERTICES "v 1 0 0\nv 0 0 0\n"
                    "f 9 4 3 10\nf 7 8 6 5\nf 5 6 2 1\nf 4 8 7 3\nf 3 7 5 1\nf 6 8 4 2\n";
  Surface surface;

  (void)state;
  write_surface("obj", text, sizeof text - 1);
  assert_success(SurfaceRead(scratch.path, SURFACE_ANY, &surface, surface_message, sizeof surface_message));
  assert_is_unit_cube(surface);
}

static void three_triangles_at_an_edge_are_refused(void **state)
{
  (void)state;
  assert_refused_at("obj", CUBE_VERTICES CUBE_FACES "v 2 2 0.5\nf 2 9 4\nf 4 9 2\n", 9);
  assert_non_null(strstr(surface_message, "not manifold"));
}

static void a_face_that_faces_the_wrong_way_is_refused(void **state)
{
  (void)state;
  assert_refused_at("obj", CUBE_VERTICES "f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 6 8 4 2\n",
                    9);
  assert_non_null(strstr(surface_message, "orientation"));
}

static void a_cube_inside_out_is_turned(void **state)
{
  Surface surface =
      read_text("obj", CUBE_VERTICES "f 2 4 3 1\nf 7 8 6 5\nf 5 6 2 1\nf 4 8 7 3\nf 3 7 5 1\nf 6 8 4 2\n");

  (void)state;
  assert_non_null(surface);
  assert_int_equal(surface_report(surface).turned_components, 1);
  assert_is_unit_cube(surface);
}

static void a_cavity_stays_a_cavity(void **state)
{
  Surface surface = read_text("obj", CUBE_VERTICES SMALL_VERTICES CUBE_FACES SECOND_INWARD);

  (void)state;
  if (!surface)
    fail_msg("%s", surface_message);
  assert_int_equal(surface_report(surface).components, 2);
  assert_int_equal(surface_report(surface).turned_components, 0);
  assert_near(surface_volume(surface), 1 - 0.125, 1e-12);
  assert_near(surface_distance(surface, vector3(0.5, 0.5, 0.5)), 0.25, 1e-12);
  assert_success(SurfaceDestroy(&surface));
}

static void a_hollow_cube_inside_out_is_turned_as_a_whole(void **state)
{
  Surface surface = read_text("obj", SMALL_VERTICES CUBE_VERTICES CUBE_FACES SECOND_INWARD);

  (void)state;
  if (!surface)
    fail_msg("%s", surface_message);
  assert_int_equal(surface_report(surface).turned_components, 2);
  assert_near(surface_volume(surface), 1 - 0.125, 1e-12);
  assert_success(SurfaceDestroy(&surface));
}

static void an_inward_part_that_is_no_cavity_is_turned(void **state)
{
  Surface surface = read_text("obj", CUBE_VERTICES AWAY_VERTICES CUBE_FACES SECOND_INWARD);

  (void)state;
  if (!surface)
    fail_msg("%s", surface_message);
  assert_int_equal(surface_report(surface).turned_components, 1);
  assert_near(surface_volume(surface), 2, 1e-12);
  assert_near(surface_distance(surface, vector3(2.5, 0.5, 0.5)), -0.5, 1e-12);
  assert_success(SurfaceDestroy(&surface));
}

static void collapsed_facets_are_dropped_and_counted(void **state)
{
  Surface surface = read_text("obj", CUBE_VERTICES CUBE_FACES "f 1 2 2\n");

  (void)state;
  assert_non_null(surface);
  assert_int_equal(surface_report(surface).collapsed_triangles, 1);
  assert_is_unit_cube(surface);
}

TEST_MAIN(in_scratch(seams_are_welded), in_scratch(a_hole_is_refused_at_its_edge),
          in_scratch(any_surface_is_closed_if_it_can_be), in_scratch(three_triangles_at_an_edge_are_refused),
          in_scratch(a_face_that_faces_the_wrong_way_is_refused), in_scratch(a_cube_inside_out_is_turned),
          in_scratch(a_cavity_stays_a_cavity), in_scratch(a_hollow_cube_inside_out_is_turned_as_a_whole),
          in_scratch(an_inward_part_that_is_no_cavity_is_turned),
          in_scratch(collapsed_facets_are_dropped_and_counted))
