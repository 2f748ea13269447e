/* Convex polyhedra: their faces, edges and corners, and where they touch. */
#include "harness.h"
#include "solids.h"
#include "solid/contact/general.h"

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

TEST_MAIN(cmocka_unit_test(triangles_in_a_plane_are_one_face),
          cmocka_unit_test(edges_lie_between_their_faces),
          cmocka_unit_test(only_closed_convex_surfaces_are_hulls))
