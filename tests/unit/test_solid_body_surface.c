/* The surfaces that the fluid meets. */
#include "harness.h"
#include "solid_case.h"

#include <millrace/solid_step.h>

static const Vector3 bounds[2] = {{{0, 0, 0}}, {{4, 3, 2}}};

/* A body of each simple kind, and a box. */
enum { BODIES = 6 };

static SolidCase *make_bodies(void)
{
  SolidCase  *solids = solid_case_new(9.81);
  BodyConfig *turned;
  Shape       shapes[5];

  assert_success(ShapeCreateCylinder(vector3(1, 0, 0), vector3(2, 1, 0), 0.4, &shapes[0]));
  assert_success(ShapeCreateCapsule(vector3(1, 0, 3), vector3(2, 1, 4), 0.4, &shapes[1]));
  assert_success(ShapeCreateCone(vector3(1, 0, 6), vector3(2, 1, 7), 0.4, &shapes[2]));
  assert_success(ShapeCreateTorus(vector3(1, 0, 9), vector3(1, 1, 1), 0.4, 0.1, &shapes[3]));
  assert_success(ShapeCreateSphere(vector3(1, 0, 12), 0.7, &shapes[4]));
  for (int s = 0; s < 5; s++)
    solid_case_add(solids, shapes[s]);
  turned = solid_case_add_box(solids, vector3(5, 5, 5), vector3(0.5, 0.2, 0.3), vector3(0.3, 0.2, 0.1));
  turned->density = 500;
  solid_case_start(solids);
  return solids;
}

static void surfaces_hold_the_volume_of_their_bodies(void **state)
{
  SolidCase *solids = make_bodies();

  (void)state;
  for (PetscInt b = 0; b < BODIES; b++) {
    const CoupledBody resistance = solid_coupled_body(solids->solid, b);
    const PetscReal   volume = resistance.mass / solids->bodies[b].density;
    Surface           surface;
    PetscBool         lasts;
    Moments           moments;
    PetscReal         trace = 0, wanted = 0;

    assert_success(SolidCreateBodySurface(solids->solid, b, 0.05, bounds, &surface, &lasts));
    moments = surface_moments(surface);
    assert_true(lasts && resistance.is_free);
    assert_near(moments.volume, volume, 1e-12);
    assert_near(vector3_norm(moments.centre), 0., 2e-3);
    for (int d = 0; d < DIM; d++) { /* the trace does not feel the rotation */
      trace += moments.inertia[d][d];
      wanted += resistance.inertia.at[d][d] / solids->bodies[b].density;
    }
    assert_near(trace, wanted, 1e-2 * wanted);
    assert_success(SurfaceDestroy(&surface));
  }
  solid_case_free(solids);
}

/* However coarse they are: a rank far from the bounds of a body need not make its surface. */
static void surfaces_stay_within_bounds_widened_by_a_tenth(void **state)
{
  SolidCase *solids = make_bodies();

  (void)state;
  for (PetscInt b = 0; b < BODIES; b++)
    for (PetscReal edge = 0.01; edge < 10.; edge *= 2.) {
      const CoupledBody body = solid_coupled_body(solids->solid, b);
      const Vector3     slack = vector3_scale(0.1, vector3_subtract(body.high, body.low)), *vertices;
      Surface           surface;
      PetscBool         lasts;
      PetscInt          count;

      assert_success(SolidCreateBodySurface(solids->solid, b, edge, bounds, &surface, &lasts));
      assert_success(SurfaceGet(surface, &count, &vertices, NULL, NULL));
      for (PetscInt v = 0; v < count; v++) {
        const Vector3 place = vector3_add(body.position, quaternion_rotate(body.rotation, vertices[v]));

        for (int d = 0; d < DIM; d++)
          assert_true(place.at[d] > body.low.at[d] - slack.at[d] &&
                      place.at[d] < body.high.at[d] + slack.at[d]);
      }
      assert_success(SurfaceDestroy(&surface));
    }
  solid_case_free(solids);
}

static void a_plane_fills_its_half_of_the_box(void **state)
{
  SolidCase *solids = solid_case_new(9.81);
  Surface    surface;
  PetscBool  lasts;

  (void)state;
  solid_case_add_plane(solids, vector3(1, 1, 1), vector3(0.2, 0.1, 1));
  solid_case_start(solids);
  assert_success(SolidCreateBodySurface(solids->solid, 0, 0.05, bounds, &surface, &lasts));
  assert_false(lasts || solid_coupled_body(solids->solid, 0).is_free);
  for (int n = 0; n < 8 * 8 * 8; n++) {
    const Vector3 point = vector3(n % 8 / 7. * 4, n / 8 % 8 / 7. * 3, n / 64 / 7. * 2);
    const Vector3 from = vector3_subtract(point, solid_case_position(solids, 0));
    const Vector3 local = quaternion_rotate(quaternion_conjugate(solid_case_rotation(solids, 0)), from);

    if (PetscAbsReal(local.at[Z]) > 1e-9)
      assert_int_equal(surface_is_inside(surface, local), solid_body_holds(solids->solid, 0, point));
  }
  assert_success(SurfaceDestroy(&surface));
  solid_case_free(solids);
}

TEST_MAIN(cmocka_unit_test(surfaces_hold_the_volume_of_their_bodies),
          cmocka_unit_test(surfaces_stay_within_bounds_widened_by_a_tenth),
          cmocka_unit_test(a_plane_fills_its_half_of_the_box))
