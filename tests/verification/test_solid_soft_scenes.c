/* Scenes of inputs/solids and inputs/hybrid with deformable solids, from their own files: each caption as a
 * number. */
#include "harness.h"
#include "scene_run.h"

#include "solid/contact/point_contact.h"

#include <string.h>

static Solid start(SceneRun *flow, const char scene[], PetscInt count, const char *const overrides[])
{
  const char *source = getenv("MILLRACE_SOURCE");
  char        path[PETSC_MAX_PATH_LEN];

  *flow = (SceneRun){0};
  assert_success(PetscSNPrintf(path, sizeof(path), "%s/inputs/%s.yaml", source ? source : ".", scene));
  assert_success(SceneRead(PETSC_COMM_WORLD, path, count, overrides, &flow->scene));
  assert_success(SceneReport(flow->scene, stderr));
  assert_success(SceneRunStart(PETSC_COMM_WORLD, flow));
  return simulation_solid(flow->simulation);
}

static RigidTransform placement(Solid solid, const char name[])
{
  const PetscInt body = solid_find_body(solid, name);

  assert_true(body >= 0);
  return solid->placements[body];
}

/* About x, from where it stood at time zero. */
static PetscReal turned(Solid solid, const char name[])
{
  const Vector3 up = quaternion_rotate(placement(solid, name).rotation, vector3(0, 0, 1));

  return PetscAtan2Real(-up.at[Y], up.at[Z]);
}

/* The farthest that a carried point is from its place on the body. */
static PetscReal largest_slip(Solid solid)
{
  const Points *points = solid->points;
  PetscReal     largest = 0;

  for (PetscInt k = 0; k < points->carried_count; k++) {
    const PetscInt p = points->carried[k];
    const Vector3  there = rigid_apply(&solid->placements[points->carrier[p]], points->arm[p]);

    largest = PetscMax(largest, vector3_norm(vector3_subtract(points->position[p], there)));
  }
  return largest;
}

/* Fig. 3.5: the bar hands the turn of one box on to the other, and the free box falls off. */
static void the_bar_turns_the_second_box(void **state)
{
  static const char *const overrides[] = {"solids.meshes.bar.edge=0.05"};
  SceneRun                 flow;
  Solid                    solid = start(&flow, "solids/deformable-bar", 1, overrides);

  (void)state;
  assert_success(SceneRunUntil(&flow, 0.4));
  assert_true(placement(solid, "free").position.at[Z] > 0.55);
  assert_success(SceneRunUntil(&flow, 2.5));
  note("turned %g of %g", (double)turned(solid, "follower"), (double)turned(solid, "driver"));
  assert_near(turned(solid, "driver"), 0.5 * PETSC_PI, 1e-9);
  assert_true(turned(solid, "follower") >= 0.8 * turned(solid, "driver"));
  assert_true(placement(solid, "free").position.at[Z] < 0.4);
  assert_near(largest_slip(solid), 0, 1e-12);
  assert_true(solid_report(solid).largest_joint_error < 1e-6);
  assert_success(SceneRunDestroy(&flow));
}

/* Fig. 2.3: the sphere passes between the vertices; points on the surface stop that, and the ball springs
 * back. */
static void bound_points_meet_what_vertices_miss(void **state)
{
  static const char *const nothing[] = {"solids.meshes.ball.contact_spacing=0"};

  (void)state;
  for (PetscInt bound = 0; bound < 2; bound++) {
    SceneRun  flow;
    Solid     solid = start(&flow, "hybrid/ball-hard-bound", bound ? 0 : 1, nothing);
    PetscReal deepest = 0;

    for (PetscInt k = 1; k <= 20; k++) {
      assert_success(SceneRunUntil(&flow, 0.05 * k));
      deepest = PetscMax(deepest, solid_report(solid).largest_penetration);
    }
    if (bound)
      assert_true(solid_report(solid).elastic_energy > 100 && deepest < 0.02 * 0.5);
    else { /* 0.1 m under the surface, and nothing has moved */
      assert_true(placement(solid, "finger").position.at[Z] < 0.5 + PetscSqrtReal(0.25 - 0.04) - 0.1);
      assert_true(solid_report(solid).elastic_energy < 1e-9);
    }
    assert_success(SceneRunUntil(&flow, 2));
    assert_true(solid_report(solid).elastic_energy < 15 && solid_report(solid).least_ratio > 0.9);
    assert_success(SceneRunDestroy(&flow));
  }
}

TEST_MAIN(cmocka_unit_test(the_bar_turns_the_second_box),
          cmocka_unit_test(bound_points_meet_what_vertices_miss))
