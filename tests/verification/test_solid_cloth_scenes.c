/* Scenes of inputs/hybrid and inputs/solids with cloth that meets itself, from
   their own files: each caption as a number. */
#include "harness.h"
#include "scene_run.h"

#include "solid/contact/mesh/mesh_contact.h"

/* Of points that a body carries, from where they belong on it. */
static PetscReal largest_gap(Solid solid)
{
  const Points *points = solid->points;
  PetscReal     most = 0;

  for (PetscInt k = 0; k < points->carried_count; k++) {
    const PetscInt p = points->carried[k];
    const Vector3  there = rigid_apply(&solid->placements[points->carrier[p]], points->arm[p]);

    most = PetscMax(most, vector3_norm(vector3_subtract(there, points->position[p])));
  }
  return most;
}

/* Of all rings; the rod runs along x through (0, 2). */
static PetscReal farthest_from_rod(Solid solid)
{
  PetscReal most = 0;

  for (PetscInt b = 1; b <= 10; b++) {
    const Vector3 at = solid->placements[b].position;

    most = PetscMax(most, PetscSqrtReal(PetscSqr(at.at[Y]) + PetscSqr(at.at[Z] - 2)));
  }
  return most;
}

/* Fig. 2.13: the rings stay on the rod and all slide; finer cloth folds without passing through itself. */
static void the_rings_of_the_curtain_slide_on_the_rod(void **state)
{
  const char *const edges[] = {"let.edge=0.2", "let.edge=0.1"};
  const PetscReal   inner = 0.024, rod = 0.015;

  (void)state;
  for (PetscInt fine = 0; fine < 2; fine++) {
    SceneRun  flow;
    Solid     solid;
    PetscReal least = PETSC_MAX_REAL, farthest = 0;
    PetscInt  contacts = 0;

    assert_success(SceneRunOpen(&flow, "hybrid/curtain", 0, edges[fine], NULL));
    solid = simulation_solid(flow.simulation);
    for (PetscInt k = 1; k <= (fine ? 11 : 24); k++) {
      assert_success(SceneRunUntil(&flow, 0.1 * k));
      contacts += solid_report(solid).mesh_pairs;
      farthest = PetscMax(farthest, farthest_from_rod(solid));
      assert_int_equal(solid_report(solid).mesh_crossings, 0);
      assert_true(largest_gap(solid) < 1e-12);
    }
    for (PetscInt b = 1; b <= 10; b++)
      least = PetscMin(least, vector3_norm(vector3_subtract(solid->placements[b].position,
                                                            solid->bodies[b].rest.position)));
    note("%s: the ring that slid least: %g m; %g m from the rod at most; %d contacts", edges[fine],
         (double)least, (double)farthest, (int)contacts);
    assert_true(farthest < inner - rod + 1e-3);
    assert_true(fine ? contacts > 50 : least >= 0.01);
    assert_success(SceneRunDestroy(&flow));
  }
}

/* Fig. 2.12: cloth stays on its plates; without gravity, once the fixed plate
 * is free, momentum too. */
static void plates_and_cloth_keep_together(void **state)
{
  SceneRun    flow;
  Solid       solid;
  SolidReport start, end;
  PetscReal   scale;

  (void)state;
  assert_success(SceneRunOpen(&flow, "hybrid/plates-and-cloth", 0, "let.edge=0.1", NULL));
  solid = simulation_solid(flow.simulation);
  for (PetscInt k = 1; k <= 8; k++) {
    assert_success(SceneRunUntil(&flow, 0.1 * k));
    assert_true(largest_gap(solid) < 1e-12);
    assert_int_equal(solid_report(solid).mesh_crossings, 0);
  }
  assert_success(SceneRunDestroy(&flow));
  assert_success(SceneRunOpen(&flow, "hybrid/plates-and-cloth", 0, "let.edge=0.1", "solids.gravity=[0, 0, 0]",
                              "solids.bodies.fixed.type=dynamic", "solids.bodies.last.velocity=[-1, 0, 0.4]",
                              NULL));
  solid = simulation_solid(flow.simulation);
  start = solid_report(solid);
  assert_success(SceneRunStep(&flow, 500, 1e-3));
  end = solid_report(solid);
  scale = vector3_norm(start.momentum);
  note("momentum changed by %g, angular momentum by %g of %g and %g",
       (double)vector3_norm(vector3_subtract(end.momentum, start.momentum)),
       (double)vector3_norm(vector3_subtract(end.angular_momentum, start.angular_momentum)), (double)scale,
       (double)vector3_norm(start.angular_momentum));
  assert_near(vector3_norm(vector3_subtract(end.momentum, start.momentum)) / scale, 0, 1e-12);
  assert_near(vector3_norm(vector3_subtract(end.angular_momentum, start.angular_momentum)) /
                  vector3_norm(start.angular_momentum),
              0, 1e-12);
  assert_success(SceneRunDestroy(&flow));
}

/* Fig. 3.4: what falls on the cloth stays above it, and the rim tosses it. The
   cloth hangs within the rim, less than its radius below it. */
static void the_trampoline_tosses_what_fell_on_it(void **state)
{
  SceneRun  flow;
  Solid     solid;
  PetscReal lowest = PETSC_MAX_REAL, before[4], tossed = PETSC_MAX_REAL;

  (void)state;
  assert_success(SceneRunOpen(&flow, "solids/trampoline", 0, NULL));
  solid = simulation_solid(flow.simulation);
  for (PetscInt k = 1; k <= 19; k++) {
    const Points         *points = solid->points;
    const DeformableMesh *cloth = &points->meshes[0];

    assert_success(SceneRunUntil(&flow, 0.1 * k));
    assert_int_equal(solid_report(solid).mesh_crossings, 0);
    for (PetscInt b = 1; b <= 4; b++) {
      const Vector3 at = solid->placements[b].position;
      PetscReal     nearest = PETSC_MAX_REAL, above = 0;

      for (PetscInt v = 0; v < cloth->mesh->vertex_count; v++) {
        const Vector3   vertex = points->position[cloth->first + v];
        const PetscReal apart = PetscSqr(vertex.at[X] - at.at[X]) + PetscSqr(vertex.at[Y] - at.at[Y]);

        if (apart < nearest) {
          nearest = apart;
          above = at.at[Z] - vertex.at[Z];
        }
      }
      lowest = PetscMin(lowest, above);
      if (k == 13)
        before[b - 1] = at.at[Z];
      if (k == 19)
        tossed = PetscMin(tossed, at.at[Z] - before[b - 1]);
    }
  }
  note("balls at least %g m above the nearest vertex, tossed by %g m at least", (double)lowest,
       (double)tossed);
  assert_true(lowest > 0.05);
  assert_true(tossed >= 0.5);
  assert_success(SceneRunDestroy(&flow));
}

TEST_MAIN(cmocka_unit_test(the_rings_of_the_curtain_slide_on_the_rod),
          cmocka_unit_test(plates_and_cloth_keep_together),
          cmocka_unit_test(the_trampoline_tosses_what_fell_on_it))
