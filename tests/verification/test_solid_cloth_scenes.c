/* Scenes of inputs/hybrid and inputs/solids with cloth that meets itself, from
   their own files: each caption as a number. */
#include "harness.h"
#include "scene_run.h"

#include "solid/contact/mesh/mesh_contact.h"
#include "solid/rigid/form.h"

#include <math.h>
#include <stdio.h>

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

/* How far points of a mesh are inside of a body, at most. */
static PetscReal deepest_in(Solid solid, PetscInt mesh, const char body[])
{
  const DeformableMesh *own = &solid->points->meshes[mesh];
  const PetscInt        b = solid_find_body(solid, body);
  PetscReal             most = 0;

  for (PetscInt v = 0; v < own->mesh->vertex_count; v++) {
    const Vector3 place = rigid_apply_inverse(&solid->placements[b], solid->points->position[own->first + v]);
    Vector3       gradient;

    most = PetscMax(most, -form_distance(solid->bodies[b].form, place, &gradient));
  }
  return most;
}

/* Of the edges of triangles. */
static PetscReal longest_stretch(Solid solid, PetscInt mesh)
{
  const DeformableMesh *own = &solid->points->meshes[mesh];
  PetscReal             most = 0;

  for (PetscInt k = 0; k < 3 * own->mesh->element_count; k++) {
    const PetscInt a = own->mesh->elements[k], b = own->mesh->elements[k - k % 3 + (k + 1) % 3];
    const Vector3 *now = &solid->points->position[own->first];

    most = PetscMax(most, vector3_norm(vector3_subtract(now[a], now[b])) /
                                  vector3_norm(vector3_subtract(mesh_rest(own, a), mesh_rest(own, b))) -
                              1);
  }
  return most;
}

/* Fig. 2.9: there is no room for the cloth outside of both balls, and it comes to rest: no point goes
   anywhere. (Velocities of the state have what springs will push until the end of the next step, which
   contact takes.) */
static void the_pinched_cloth_comes_to_rest(void **state)
{
  SceneRun  flow;
  Solid     solid;
  Vector3  *before;
  PetscReal speed = 0;

  (void)state;
  assert_success(SceneRunOpen(&flow, "hybrid/cloth-pinch", 0, "let.edge=0.125", NULL));
  solid = simulation_solid(flow.simulation);
  assert_success(PetscMalloc1(solid->points->count, &before));
  assert_success(SceneRunUntil(&flow, 1));
  assert_near(solid->placements[1].position.at[Z], 0.48, 1e-12);
  assert_success(SceneRunUntil(&flow, 2.4));
  assert_success(PetscArraycpy(before, solid->points->position, solid->points->count));
  assert_success(SceneRunUntil(&flow, 2.5));
  for (PetscInt p = 0; p < solid->points->count; p++)
    speed = PetscMax(speed, vector3_norm(vector3_subtract(solid->points->position[p], before[p])) / 0.1);
  note("%g m/s; layers %g and %g m in their balls, the cloth %g and %g; stretched by %g", (double)speed,
       (double)deepest_in(solid, 1, "below"), (double)deepest_in(solid, 2, "above"),
       (double)deepest_in(solid, 0, "below"), (double)deepest_in(solid, 0, "above"),
       (double)longest_stretch(solid, 0));
  assert_true(speed < 1e-3);
  assert_true(deepest_in(solid, 1, "below") < 1e-4 && deepest_in(solid, 2, "above") < 1e-4);
  assert_true(deepest_in(solid, 0, "below") > 0.005 && deepest_in(solid, 0, "above") > 0.005);
  assert_true(longest_stretch(solid, 0) < 0.1);
  assert_int_equal(solid_report(solid).mesh_crossings, 0);
  assert_success(PetscFree(before));
  assert_success(SceneRunDestroy(&flow));
}

enum { MAGGOTS = 5 };

/* Between tail and head of a maggot, from where it was at time zero. */
static PetscReal bend(Solid solid, PetscInt maggot)
{
  Quaternion turns[2];

  for (PetscInt end = 0; end < 2; end++) {
    char     name[16];
    PetscInt b;

    snprintf(name, sizeof(name), "%s.%d", end ? "head" : "tail", (int)maggot);
    b = solid_find_body(solid, name);
    turns[end] = quaternion_multiply(solid->placements[b].rotation,
                                     quaternion_conjugate(solid->bodies[b].rest.rotation));
  }
  turns[0] = quaternion_multiply(quaternion_conjugate(turns[0]), turns[1]);
  return 2 * PetscAtan2Real(vector3_norm(turns[0].vector), PetscAbsReal(turns[0].scalar));
}

/* Each copy of the mesh is the first, turned and moved as its bones are, which hold it. */
static void assert_copies_are_alike(Solid solid)
{
  const Points *points = solid->points;

  for (PetscInt m = 1; m < MAGGOTS; m++) {
    const DeformableMesh *first = &points->meshes[0], *copy = &points->meshes[m];
    const PetscInt        bones[2] = {solid_find_body(solid, "middle.0"), copy->holders[1]};

    assert_int_equal(copy->mesh->vertex_count, first->mesh->vertex_count);
    for (PetscInt v = 0; v < first->mesh->vertex_count; v++) {
      const Vector3 from = rigid_apply_inverse(&solid->placements[bones[0]], points->rest[first->first + v]);
      const Vector3 to = rigid_apply(&solid->placements[bones[1]], from);

      assert_near(vector3_norm(vector3_subtract(to, points->rest[copy->first + v])), 0, 1e-12);
      assert_int_equal(points->carrier[first->first + v] < 0, points->carrier[copy->first + v] < 0);
    }
  }
}

/* All of it within the rim of the bowl, and not under it. */
static PetscBool is_in_bowl(Solid solid, Vector3 place)
{
  const PetscReal rim = 0.41;

  (void)solid;
  return hypot(place.at[X], place.at[Y]) < rim && place.at[Z] > -1e-3 ? PETSC_TRUE : PETSC_FALSE;
}

/* Fig. 3.10: they all bend, none leaves the bowl, enters it or another. */
static void run_bowl(const char scene[], const char edge[], PetscReal until)
{
  PetscReal most[MAGGOTS] = {0}, deepest = 0;
  PetscInt  met = 0, ring;
  SceneRun  flow;
  Solid     solid;

  assert_success(SceneRunOpen(&flow, scene, 0, edge, NULL));
  solid = simulation_solid(flow.simulation);
  ring = solid_find_body(solid, "ring.0");
  assert_copies_are_alike(solid);
  for (PetscInt k = 1; k <= until * 20; k++) {
    assert_success(SceneRunUntil(&flow, k / 20.));
    met += solid_report(solid).mesh_pairs;
    deepest = PetscMax(deepest, solid_report(solid).largest_penetration);
    assert_int_equal(solid_report(solid).mesh_crossings, 0);
    assert_true(solid_report(solid).largest_joint_error < 1e-6);
    assert_true(largest_gap(solid) < 1e-12);
    for (PetscInt m = 0; m < MAGGOTS; m++)
      most[m] = PetscMax(most[m], bend(solid, m));
  }
  for (PetscInt p = 0; p < solid->points->count; p++)
    assert_true(is_in_bowl(solid, solid->points->position[p]));
  for (PetscInt b = ring; b >= 0 && b < ring + MAGGOTS; b++)
    assert_true(is_in_bowl(solid, solid->placements[b].position));
  for (PetscInt m = 0; m < MAGGOTS; m++) {
    note("maggot %d bends by %g degrees; %g m into bodies, %d contacts", (int)m,
         (double)(most[m] * 180 / PETSC_PI), (double)deepest, (int)met);
    assert_true(most[m] > 2 * 15 * PETSC_PI / 180);
  }
  assert_true(deepest < 0.05 * 0.05 && met > 10);
  assert_success(SceneRunDestroy(&flow));
}

static void maggots_and_rings_stay_in_their_bowl(void **state)
{
  (void)state;
  run_bowl("solids/maggot-bowl-rings", "solids.meshes.maggot.edge=0.05", 0.4);
}

static void maggots_stay_in_their_bowl_for_long(void **state)
{
  (void)state;
  only_in_long_runs();
  run_bowl("solids/maggot-bowl", "solids.meshes.maggot.edge=0.025", 5);
  run_bowl("solids/maggot-bowl-rings", "solids.meshes.maggot.edge=0.025", 5);
}

TEST_MAIN(cmocka_unit_test(the_rings_of_the_curtain_slide_on_the_rod),
          cmocka_unit_test(plates_and_cloth_keep_together),
          cmocka_unit_test(the_trampoline_tosses_what_fell_on_it),
          cmocka_unit_test(the_pinched_cloth_comes_to_rest),
          cmocka_unit_test(maggots_and_rings_stay_in_their_bowl),
          cmocka_unit_test(maggots_stay_in_their_bowl_for_long))
