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

/* Points between vertices are there where the finger is, a few of all; those that rest are far from it. */
static PetscBool contact_misses_nothing(Solid solid)
{
  const Points         *points = solid->points;
  const DeformableMesh *mesh = &points->meshes[0];
  const PetscInt        finger = solid_find_body(solid, "finger"), first = mesh->first + mesh_vertices(mesh);
  const PetscInt        count = mesh->face_points[mesh->face_count];
  PetscReal             nearest = PETSC_MAX_REAL;

  for (PetscInt p = first; p < first + count; p++) {
    const Vector3 place = points_mean(points, p, points->position);
    Vector3       gradient;

    if (points->bindings.rests[p])
      nearest =
          PetscMin(nearest, form_distance(solid->bodies[finger].form,
                                          rigid_apply_inverse(&solid->placements[finger], place), &gradient));
  }
  note("%d of %d points are there, the others %g m away", (int)solid_report(solid).near_points, (int)count,
       (double)nearest);
  return nearest > 1.9 * mesh->config->contact_spacing && solid_report(solid).near_points > 20 &&
                 4 * solid_report(solid).near_points < count
             ? PETSC_TRUE
             : PETSC_FALSE;
}

enum { POINTS_NONE, POINTS_NEAR, POINTS_ALL };

/* The deepest that the finger is below points of the surface, where it has some. */
static PetscReal push_finger(SceneRun *flow, Solid solid)
{
  PetscReal deepest = 0;

  for (PetscInt k = 1; k <= 20; k++) {
    assert_success(SceneRunUntil(flow, 0.05 * k));
    deepest = PetscMax(deepest, solid_report(solid).largest_penetration);
  }
  return deepest;
}

/* Fig. 2.3: the sphere passes between the vertices; points on the surface stop that, those near it as all of
   them do, and the ball springs back. */
static void bound_points_meet_what_vertices_miss(void **state)
{
  static const char *const nothing[] = {"solids.meshes.ball.contact_spacing=0"};
  PetscReal                energy[3], depth[3];

  (void)state;
  for (PetscInt bound = POINTS_NONE; bound <= POINTS_ALL; bound++) {
    SceneRun flow;
    Solid    solid = start(&flow, "hybrid/ball-hard-bound", bound ? 0 : 1, nothing);

    if (bound == POINTS_ALL) /* the points are there: now all of them are near */
      ((SolidMeshConfig *)solid->points->meshes[0].config)->contact_spacing = 10;
    depth[bound] = push_finger(&flow, solid);
    energy[bound] = solid_report(solid).elastic_energy;
    if (bound == POINTS_NEAR)
      assert_true(contact_misses_nothing(solid));
    if (bound == POINTS_NONE) /* 0.1 m under the surface, and nothing has moved */
      assert_true(placement(solid, "finger").position.at[Z] < 0.5 + PetscSqrtReal(0.25 - 0.04) - 0.1);
    assert_success(SceneRunUntil(&flow, 2));
    assert_true(solid_report(solid).elastic_energy < 15 && solid_report(solid).least_ratio > 0.9);
    assert_true((solid_report(solid).near_points > 5000) == (bound == POINTS_ALL));
    assert_true(bound == POINTS_ALL || solid_report(solid).near_points == 0);
    assert_success(SceneRunDestroy(&flow));
  }
  note("depth %g m with points near the finger, %g m with all; energy %g J, %g J, without any %g J",
       (double)depth[POINTS_NEAR], (double)depth[POINTS_ALL], (double)energy[POINTS_NEAR],
       (double)energy[POINTS_ALL], (double)energy[POINTS_NONE]);
  assert_true(energy[POINTS_NONE] < 1e-9 && energy[POINTS_NEAR] > 100 && depth[POINTS_ALL] < 0.02 * 0.5);
  assert_true(depth[POINTS_NEAR] < 0.02 * 0.5);
  assert_near(energy[POINTS_NEAR] / energy[POINTS_ALL], 1, 1e-6); /* of the same dent */
}

static PetscReal mesh_volume(Solid solid, PetscInt mesh)
{
  const Force *force = &solid->points->meshes[mesh].forces[0];

  points_find_forces(solid);
  return force_report(force).volume;
}

static Vector3 velocity(Solid solid, const char name[])
{
  return solid->twists[solid_find_body(solid, name)].linear;
}

/* Fig. 3.3: momentum passes from the first ball to the last, and each soft one keeps its volume. */
static void the_row_hands_momentum_on(void **state)
{
  static const char *const overrides[] = {"run.largest_time_step=0.0002"};
  PetscReal                speed[2];

  (void)state;
  for (PetscInt finer = 0; finer < 2; finer++) {
    SceneRun        flow;
    Solid           solid = start(&flow, "solids/row-of-spheres", finer, overrides);
    const PetscReal volumes[2] = {mesh_volume(solid, 0), mesh_volume(solid, 1)};
    const Vector3   begun = solid_report(solid).momentum;

    for (PetscInt k = 1; k <= 25; k++) {
      assert_success(SceneRunUntil(&flow, 0.02 * k));
      for (PetscInt m = 0; m < 2; m++)
        assert_near(mesh_volume(solid, m) / volumes[m], 1, 0.01);
    }
    assert_near(vector3_norm(vector3_subtract(solid_report(solid).momentum, begun)) / vector3_norm(begun), 0,
                1e-10);
    speed[finer] = velocity(solid, "last").at[X];
    note("the last ball leaves with %g m/s", (double)speed[finer]);
    assert_true(velocity(solid, "striker").at[X] < 0.1 && speed[finer] > 0.5);
    assert_success(SceneRunDestroy(&flow));
  }
  assert_near(speed[0] / speed[1], 1, 0.05);
}

/* Fig. 3.2: rigid and soft boxes by turns stand, until the ball comes. */
static void the_mixed_stack_stands_until_it_is_struck(void **state)
{
  static const char *const overrides[] = {"let.edge=0.1"};
  SceneRun                 flow;
  Solid                    solid = start(&flow, "solids/mixed-stack", 1, overrides);

  (void)state;
  assert_success(SceneRunUntil(&flow, 3));
  for (PetscInt b = solid_find_body(solid, "box.0"); b <= solid_find_body(solid, "box.3"); b++) {
    const Vector3 moved = vector3_subtract(solid->placements[b].position, solid->bodies[b].rest.position);

    assert_true(PetscMax(PetscAbsReal(moved.at[X]), PetscAbsReal(moved.at[Y])) < 5e-3);
  }
  note("speed %g m/s, overlap %g m", (double)solid_report(solid).largest_speed,
       (double)solid_report(solid).largest_penetration);
  assert_true(solid_report(solid).largest_speed < 1e-2);
  assert_success(SceneRunUntil(&flow, 4.5));
  assert_true(placement(solid, "box.3").position.at[Z] < 0.7);
  assert_success(SceneRunDestroy(&flow));
}

/* About y, of a bone. */
static PetscReal pitch(Solid solid, const char name[])
{
  const Quaternion turn =
      quaternion_multiply(placement(solid, name).rotation,
                          quaternion_conjugate(solid->bodies[solid_find_body(solid, name)].rest.rotation));

  return 2 * PetscAtan2Real(turn.vector.at[Y], turn.scalar);
}

/* Fig. 3.10: bones bend the flesh both ways, and it stays on the floor. */
static void the_maggot_bends_both_ways(void **state)
{
  SceneRun  flow;
  Solid     solid = start(&flow, "solids/maggot", 0, NULL);
  PetscReal most = 0, least = 0;

  (void)state;
  for (PetscInt k = 1; k <= 24; k++) {
    SolidReport report;
    PetscReal   bend;

    assert_success(SceneRunUntil(&flow, k / 24.));
    report = solid_report(solid);
    bend = pitch(solid, "tail") - pitch(solid, "head");
    most = PetscMax(most, bend);
    least = PetscMin(least, bend);
    assert_true(report.largest_joint_error < 1e-6 && report.largest_penetration < 0.05 * 0.05);
    assert_near(largest_slip(solid), 0, 1e-12);
  }
  note("bends from %g to %g degrees", (double)(least * 180 / PETSC_PI), (double)(most * 180 / PETSC_PI));
  assert_true(most > 2 * 30 * PETSC_PI / 180 && least < -2 * 30 * PETSC_PI / 180);
  assert_success(SceneRunDestroy(&flow));
}

static PetscReal mean_speed(Solid solid, PetscInt mesh)
{
  const Points         *points = solid->points;
  const DeformableMesh *one = &points->meshes[mesh];
  PetscReal             sum = 0, mass = 0;

  for (PetscInt p = one->first; p < one->first + one->mesh->vertex_count; p++) {
    sum += points->mass[p] * points->velocity[p].at[X];
    mass += points->mass[p];
  }
  return sum / mass;
}

enum { KINDS = 3, FRICTIONS = 3 };

/* Down the slope: of the boxes, the soft blocks and the particles, with each friction. */
static void find_speeds(Solid solid, PetscReal speeds[KINDS][FRICTIONS])
{
  static const char *const boxes[FRICTIONS] = {"box-little", "box-some", "box-enough"};

  for (PetscInt f = 0; f < FRICTIONS; f++) {
    speeds[0][f] = velocity(solid, boxes[f]).at[X];
    speeds[1][f] = mean_speed(solid, f);
    speeds[2][f] = mean_speed(solid, FRICTIONS + f);
  }
}

/* Fig. 3.9: rigid boxes, soft blocks and particles slide as Coulomb's law says, or stay. */
static void boxes_blocks_and_particles_slide_or_stay(void **state)
{
  static const char *const overrides[] = {"let.edge=0.1"};
  static const PetscReal   within[KINDS] = {0.01, 0.03, 0.01};
  const PetscReal          slope = PETSC_PI / 9, frictions[] = {0.1, 0.3}, from = 0.2, until = 0.4;
  SceneRun                 flow;
  Solid                    solid = start(&flow, "solids/friction-soft", 1, overrides);
  PetscReal                begun[KINDS][FRICTIONS], ended[KINDS][FRICTIONS];

  (void)state;
  assert_success(SceneRunUntil(&flow, from));
  find_speeds(solid, begun);
  assert_success(SceneRunUntil(&flow, until));
  find_speeds(solid, ended);
  for (PetscInt k = 0; k < KINDS; k++) {
    for (PetscInt f = 0; f < 2; f++) {
      const PetscReal expected = 9.81 * (PetscSinReal(slope) - frictions[f] * PetscCosReal(slope));
      const PetscReal found = (ended[k][f] - begun[k][f]) / (until - from);

      note("friction %g: acceleration %.9g of %.9g", (double)frictions[f], (double)found, (double)expected);
      assert_near(found / expected, 1, within[k]);
    }
  }
  assert_success(SceneRunUntil(&flow, 0.8)); /* until then the blocks ring */
  find_speeds(solid, ended);
  note("a box, a block and a particle that stick move with %g, %g, %g m/s", (double)ended[0][2],
       (double)ended[1][2], (double)ended[2][2]);
  for (PetscInt k = 0; k < KINDS; k++)
    assert_near(ended[k][2], 0, 1e-6);
  assert_success(SceneRunDestroy(&flow));
}

TEST_MAIN(cmocka_unit_test(boxes_blocks_and_particles_slide_or_stay),
          cmocka_unit_test(the_bar_turns_the_second_box),
          cmocka_unit_test(bound_points_meet_what_vertices_miss), cmocka_unit_test(the_row_hands_momentum_on),
          cmocka_unit_test(the_mixed_stack_stands_until_it_is_struck),
          cmocka_unit_test(the_maggot_bends_both_ways))
