/* The scenes of inputs/solids, from their own files: each caption as a number. */
#include "scene_run.h"
#include "harness.h"
#include "solid/deformable/points.h"

#include <string.h>

static const PetscReal g = 9.81;

static Solid start(SceneRun *flow, const char scene[], PetscInt count, const char *const overrides[])
{
  const char *source = getenv("MILLRACE_SOURCE");
  char        path[PETSC_MAX_PATH_LEN];

  *flow = (SceneRun){0};
  assert_success(PetscSNPrintf(path, sizeof(path), "%s/inputs/solids/%s.yaml", source ? source : ".", scene));
  assert_success(SceneRead(PETSC_COMM_WORLD, path, count, overrides, &flow->scene));
  assert_success(SceneReport(flow->scene, stderr));
  assert_success(SceneRunStart(PETSC_COMM_WORLD, flow));
  return simulation_solid(flow->simulation);
}

/* The first of the bodies of that name. */
static PetscInt find(Solid solid, const char name[])
{
  for (PetscInt b = 0; b < solid->body_count; b++)
    if (!strcmp(solid->bodies[b].config->name, name))
      return b;
  fail_msg("no body is called %s", name);
  return -1;
}

static Vector3 position(Solid solid, PetscInt b)
{
  return solid->placements[b].position;
}

/* How far a direction of the body's frame has turned away from where it was at time zero. */
static PetscReal tilt(Solid solid, PetscInt b, Vector3 axis)
{
  const Vector3 now = quaternion_rotate(solid->placements[b].rotation, axis);
  const Vector3 then = quaternion_rotate(solid->bodies[b].rest.rotation, axis);

  return PetscAtan2Real(vector3_norm(vector3_cross(then, now)), vector3_dot(then, now));
}

/* The farthest any free body is from where it was at time zero. */
static PetscReal largest_shift(Solid solid)
{
  PetscReal largest = 0;

  for (PetscInt b = 0; b < solid->body_count; b++)
    if (body_is_free(&solid->bodies[b]))
      largest = PetscMax(largest,
                         vector3_norm(vector3_subtract(position(solid, b), solid->bodies[b].rest.position)));
  return largest;
}

/* Fig. 3.2, rigid part: nothing moves until the ball comes; then the boxes above it come down. */
static void the_stack_stands_until_it_is_struck(void **state)
{
  enum { BOXES = 10 };
  PetscReal shift = 0;
  PetscInt  first, struck;
  SceneRun  flow;
  Solid     solid = start(&flow, "stack", 0, NULL);

  (void)state;
  first = find(solid, "box");
  for (PetscReal time = 0.1; time < 3.35; time += 0.1) {
    assert_success(SceneRunUntil(&flow, time));
    shift = PetscMax(shift, largest_shift(solid));
  }
  note("stack: %.1e m from its place after 3.3 s, at %.1e m/s", (double)shift,
       (double)vector3_norm(solid->twists[first + BOXES - 1].linear));
  assert_near(shift, 0, 1e-5);
  assert_near(vector3_norm(solid->twists[first + BOXES - 1].linear), 0, 1e-5);
  assert_success(SceneRunUntil(&flow, 4.6));
  struck = first + 3; /* from 0.6 m to 0.8 m: where the ball goes through */
  note("stack: struck, the box in its way is %.2f m farther, the top at %.2f m",
       (double)(position(solid, struck).at[X]), (double)position(solid, first + BOXES - 1).at[Z]);
  assert_true(position(solid, struck).at[X] > 0.3);
  for (PetscInt b = first + 4; b < first + BOXES; b++)
    assert_true(position(solid, b).at[Z] < 0.2 * (PetscReal)(b - first));
  for (PetscInt b = first; b < first + BOXES; b++)
    assert_true(position(solid, b).at[Z] > 0.099);
  assert_success(SceneRunDestroy(&flow));
}

/* The largest distance from the analytic solution at 1 s. */
static PetscReal sliding_error(const char time_step[])
{
  const char *const names[] = {"none", "little", "some", "nearly", "enough"};
  const PetscReal   friction[] = {0, 0.1, 0.2, 0.35, 0.4}, slope = PETSC_PI / 9;
  PetscReal         error = 0;
  SceneRun          flow;
  Solid             solid = start(&flow, "friction", 1, &time_step);

  assert_success(SceneRunUntil(&flow, 1));
  for (PetscInt k = 0; k < 5; k++) {
    const PetscReal slides = PetscMax(0, PetscSinReal(slope) - friction[k] * PetscCosReal(slope)) * g / 2;
    const PetscInt  b = find(solid, names[k]);

    error = PetscMax(error, PetscAbsReal(position(solid, b).at[X] - slides));
  }
  assert_success(SceneRunDestroy(&flow));
  return error;
}

/* Fig. 3.9, rigid part. */
static void boxes_slide_as_far_as_friction_lets_them(void **state)
{
  const PetscReal coarse = sliding_error("run.time_step=0.02"), fine = sliding_error("run.time_step=0.005");

  (void)state;
  note("friction: %.1e m from the analytic solution with steps of 0.02 s, %.1e m with 0.005 s",
       (double)coarse, (double)fine);
  assert_true(fine < 0.3 * coarse);
  assert_near(fine, 0, 1e-6);
}

enum { LINKS = 13, LINE_POINTS = 720, RODS = 6, SECTORS = 12 };

/* Left, upright, soft, upright, loop of rods, upright, soft ... right. */
static PetscBool is_loop(PetscInt k)
{
  return k && k < LINKS - 1 && k % 4 == 0 ? PETSC_TRUE : PETSC_FALSE;
}

static PetscInt chain_ring(Solid solid, PetscInt k)
{
  if (k == 0 || k == LINKS - 1)
    return find(solid, k ? "right" : "left");
  return find(solid, "upright") + k / 2;
}

static Vector3 to_world(Solid solid, PetscInt b, Vector3 local)
{
  return vector3_add(position(solid, b), quaternion_rotate(solid->placements[b].rotation, local));
}

/* From joint to joint of a loop. */
static Vector3 loop_point(Solid solid, PetscInt k, PetscInt n)
{
  const PetscInt  each = LINE_POINTS / RODS;
  const PetscReal along = 2 * (PetscReal)(n % each) / (PetscReal)each - 1;
  char            name[16];
  PetscInt        rod;

  snprintf(name, sizeof(name), "rod-%d", (int)(n / each));
  rod = find(solid, name) + k / 4 - 1;
  return to_world(solid, rod, vector3(0, 0, along * solid->bodies[rod].form->half.at[Z]));
}

/* The middle of what was in a sector of a soft ring at rest. */
static Vector3 soft_point(Solid solid, PetscInt k, PetscInt n)
{
  const DeformableMesh *ring = &solid->points->meshes[k / 4];
  const PetscInt        sector = n * SECTORS / LINE_POINTS;
  Vector3               sum = vector3(0, 0, 0);
  PetscInt              count = 0;

  for (PetscInt v = 0; v < ring->mesh->vertex_count; v++) {
    const Vector3   rest = ring->mesh->vertices[v];
    const PetscReal angle = PetscAtan2Real(rest.at[Y], rest.at[X] - 0.14 * k) + PETSC_PI;

    if ((PetscInt)(angle / (2 * PETSC_PI) * SECTORS) % SECTORS != sector)
      continue;
    sum = vector3_add(sum, solid->points->position[ring->first + v]);
    count++;
  }
  assert_true(count > 0);
  return vector3_scale(1. / count, sum);
}

/* A point of the middle line of a link. */
static Vector3 line_point(Solid solid, PetscInt k, PetscInt n)
{
  const PetscReal angle = 2 * PETSC_PI * (PetscReal)n / LINE_POINTS;
  PetscInt        ring;

  if (is_loop(k))
    return loop_point(solid, k, n);
  if (k % 4 == 2)
    return soft_point(solid, k, n);
  ring = chain_ring(solid, k);
  return to_world(solid, ring,
                  vector3(solid->bodies[ring].form->major * PetscCosReal(angle),
                          solid->bodies[ring].form->major * PetscSinReal(angle), 0));
}

/* Whether the middle line of a link goes through the hole of a ring: an odd number of times through the disc
   that the ring's own middle line bounds. */
static PetscBool are_linked(Solid solid, PetscInt ring, PetscInt link)
{
  const PetscInt  a = chain_ring(solid, ring);
  const PetscReal major = solid->bodies[a].form->major;
  PetscReal       last = 0;
  PetscInt        passes = 0;

  for (PetscInt n = 0; n <= LINE_POINTS; n += LINE_POINTS / (4 * SECTORS)) {
    const Vector3 point = line_point(solid, link, n % LINE_POINTS);
    const Vector3 seen = quaternion_rotate(quaternion_conjugate(solid->placements[a].rotation),
                                           vector3_subtract(point, position(solid, a)));

    if (n > 0 && (seen.at[Z] > 0) != (last > 0) &&
        PetscSqr(seen.at[X]) + PetscSqr(seen.at[Y]) < major * major)
      passes++;
    last = seen.at[Z];
  }
  return passes % 2 ? PETSC_TRUE : PETSC_FALSE;
}

/* Fig. 3.1: rings, soft ones and loops by turns hang in each other; returns how far a ring turns. */
static PetscReal hold_chain(const char edge[], PetscReal until)
{
  PetscReal deepest = 0, turned = 0, gap = 0;
  SceneRun  flow;
  Solid     solid = start(&flow, "twisting-chain", 1, &edge);

  for (PetscReal time = 0.25; time < until + 0.1; time += 0.25) {
    assert_success(SceneRunUntil(&flow, time));
    deepest = PetscMax(deepest, solid_report(solid).largest_penetration);
    gap = PetscMax(gap, solid_report(solid).largest_joint_error);
    for (PetscInt k = 0; k + 1 < LINKS; k++)
      assert_true(are_linked(solid, k % 2 ? k : k + 1, k % 2 ? k + 1 : k));
    if (time < 4.6)
      turned = PetscMax(turned, tilt(solid, chain_ring(solid, 5), vector3(0, 0, 1)));
  }
  note("twisting-chain: a ring in the middle turns by %.2f rad; links overlap by %.1e m at most, the "
       "loops' joints open by %.1e m",
       (double)turned, (double)deepest, (double)gap);
  assert_near(deepest, 0, 0.1 * 0.02);
  assert_near(gap, 0, 1e-9);
  assert_success(SceneRunDestroy(&flow));
  return turned;
}

static void the_chain_holds(void **state)
{
  (void)state;
  (void)hold_chain("solids.meshes.soft.edge=0.03", 0.5);
}

/* Wound by a turn and unwound. */
static void the_chain_holds_while_it_is_twisted(void **state)
{
  (void)state;
  only_in_long_runs();
  assert_true(hold_chain("solids.meshes.soft.edge=0.03", 8) > 0.5);
}

/* The ball at one end comes with the speed of its fall, that at the other leaves with it, and back. */
static void the_cradle_passes_the_speed_on(void **state)
{
  const PetscReal lift = 1 - PetscCosReal(5 * PETSC_PI / 18);
  const PetscReal speed =
      PetscSqrtReal(2 * g * lift / (1 + 0.4 * 0.05 * 0.05)); /* with the ball's own spin */
  PetscReal fastest = 0, middle = 0, high = 0, back = 0;
  PetscInt  first, last;
  SceneRun  flow;
  Solid     solid = start(&flow, "newtons-cradle", 0, NULL);

  (void)state;
  first = find(solid, "first");
  last = find(solid, "last");
  for (PetscReal time = 0.01; time < 2.2; time += 0.01) {
    assert_success(SceneRunUntil(&flow, time));
    fastest = PetscMax(fastest, solid->twists[last].linear.at[X]);
    high = PetscMax(high, position(solid, last).at[Z]);
    if (time > 1.5)
      back = PetscMax(back, position(solid, first).at[Z]);
    for (PetscInt b = find(solid, "middle"); b < last; b++)
      middle = PetscMax(middle, vector3_norm(solid->twists[b].linear));
  }
  note("newtons-cradle: the last ball leaves with %.4f m/s, %.4f m/s came; it rises by %.4f m, then the "
       "first by %.4f m, of %.4f m; the others reach %.1e m/s",
       (double)fastest, (double)speed, (double)high, (double)back, (double)lift, (double)middle);
  assert_near(fastest, speed, 0.005 * speed);
  assert_near(high, lift, 0.01 * lift);
  assert_near(back, lift, 0.01 * lift);
  assert_near(middle, 0, 0.01 * speed);
  assert_success(SceneRunDestroy(&flow));
}

static void dominoes_fall_one_after_the_other(void **state)
{
  enum { DOMINOES = 30 };
  PetscReal times[DOMINOES] = {0};
  PetscInt  first;
  SceneRun  flow;
  Solid     solid = start(&flow, "dominoes", 0, NULL);

  (void)state;
  first = find(solid, "domino");
  for (PetscReal time = 0.01; time < 2; time += 0.01) {
    assert_success(SceneRunUntil(&flow, time));
    for (PetscInt k = 0; k < DOMINOES; k++)
      if (times[k] == 0 && tilt(solid, first + k, vector3(0, 0, 1)) > 0.2)
        times[k] = time;
  }
  note("dominoes: the first falls at %.2f s, the last at %.2f s", (double)times[0],
       (double)times[DOMINOES - 1]);
  for (PetscInt k = 0; k < DOMINOES; k++) {
    assert_true(times[k] > (k ? times[k - 1] : 0.));
    assert_true(tilt(solid, first + k, vector3(0, 0, 1)) > 1.);
  }
  assert_near(tilt(solid, first + DOMINOES - 1, vector3(0, 0, 1)), PETSC_PI / 2, 0.01);
  assert_success(SceneRunDestroy(&flow));
}

static void the_house_of_cards_stands(void **state)
{
  PetscReal shift = 0;
  SceneRun  flow;
  Solid     solid = start(&flow, "card-house", 0, NULL);

  (void)state;
  assert_success(SceneRunUntil(&flow, 0.5));
  shift = largest_shift(solid);
  note("card-house: after 0.5 s cards have moved by %.1e m at most, with %.1e m/s", (double)shift,
       (double)solid_report(solid).largest_speed);
  assert_near(shift, 0, 1e-4);
  assert_near(solid_report(solid).largest_speed, 0, 1e-6);
  assert_success(SceneRunDestroy(&flow));
}

/* The angle between two rods, of which the hinge at the bottom is driven. */
static PetscReal rod_angle(Solid solid, PetscInt a, PetscInt b, PetscReal time_zero)
{
  const Vector3 along = vector3(0, 0, 1);
  const Vector3 first = quaternion_rotate(solid->placements[a].rotation, along);
  const Vector3 second = quaternion_rotate(solid->placements[b].rotation, along);
  const Vector3 cross = vector3_cross(first, second);

  return PetscAtan2Real(cross.at[Y], vector3_dot(first, second)) - time_zero;
}

static void the_loop_stays_closed_and_its_hinge_is_driven(void **state)
{
  PetscReal gap = 0, off = 0, moved = 0, zero;
  PetscInt  rod;
  SceneRun  flow;
  Solid     solid = start(&flow, "articulated-loop", 0, NULL);

  (void)state;
  rod = find(solid, "rod-3");
  zero = rod_angle(solid, rod, rod + 1, 0);
  for (PetscReal time = 0.05; time < 5; time += 0.05) {
    assert_success(SceneRunUntil(&flow, time));
    gap = PetscMax(gap, solid_report(solid).largest_joint_error);
    moved = PetscMax(moved, largest_shift(solid));
    if (time > 1)
      off = PetscMax(off, PetscAbsReal(rod_angle(solid, rod, rod + 1, zero) - 0.8 * PetscSinReal(2 * time)));
  }
  note("articulated-loop: joints open by %.1e m, the driven angle is %.1e rad off, rods move by %.2f m",
       (double)gap, (double)off, (double)moved);
  assert_near(gap, 0, 1e-9);
  assert_near(off, 0, 0.02); /* rods that hit each other disturb it for a moment */
  assert_true(moved > 0.1);
  assert_success(SceneRunDestroy(&flow));
}

/* Fig. 3.6 with two of its sets: what falls lies between and on the pegs in the end, loops stay closed. */
static void the_pile_comes_down_between_the_pegs(void **state)
{
  const char *const two[] = {"solids.assemblies.set.copies.count=[2,1,1]", "solids.meshes.soft-ball.edge=0.1",
                             "solids.meshes.soft-ring.edge=0.08"};
  PetscReal         deepest = 0, gap = 0, energy = PETSC_MAX_REAL;
  SceneRun          flow;
  Solid             solid = start(&flow, "pile", 3, two);

  (void)state;
  for (PetscReal time = 0.02; time < 1.01; time += 0.02) {
    SolidReport now;

    assert_success(SceneRunUntil(&flow, time));
    now = solid_report(solid);
    deepest = PetscMax(deepest, now.largest_penetration);
    gap = PetscMax(gap, now.largest_joint_error);
    assert_true(now.kinetic_energy + now.potential_energy + now.elastic_energy <= energy * (1 + 1e-4));
    energy = now.kinetic_energy + now.potential_energy + now.elastic_energy;
    assert_int_equal(now.mesh_crossings, 0);
  }
  note("pile: overlaps of %.1e m at most, loops open by %.1e m", (double)deepest, (double)gap);
  assert_near(deepest, 0, 0.01);
  assert_near(gap, 0, 1e-9);
  for (PetscInt b = 0; b < solid->body_count; b++)
    if (body_is_free(&solid->bodies[b]))
      assert_true(position(solid, b).at[Z] > 0.025 && position(solid, b).at[Z] < 1.2);
  for (PetscInt p = 0; p < solid->points->count; p++)
    assert_true(solid->points->position[p].at[Z] > -1e-4 && solid->points->position[p].at[Z] < 1.3);
  assert_success(SceneRunDestroy(&flow));
}

/* As many as in the thesis, none inside another, begin to fall. */
static void the_pile_is_made_of_1600_bodies_by_one_key(void **state)
{
  const char *const all[] = {"solids.assemblies.set.copies.count=[4,4,10]",
                             "solids.meshes.soft-ball.edge=0.15", "solids.meshes.soft-ring.edge=0.12"};
  PetscInt          count = 0;
  SceneRun          flow;
  Solid             solid = start(&flow, "pile", 3, all);

  (void)state;
  for (PetscInt b = 0; b < solid->body_count; b++)
    count += body_is_free(&solid->bodies[b]);
  assert_int_equal(count + solid->points->mesh_count, 1600);
  assert_int_equal(solid->points->mesh_count, 320);
  assert_near(solid_report(solid).largest_penetration, 0, 1e-12);
  assert_success(SceneRunStep(&flow, 2, 1e-3));
  assert_near(solid->twists[find(solid, "ring")].linear.at[Z], -0.002 * g, 1e-9);
  assert_near(solid->points->velocity[0].at[Z], -0.002 * g, 1e-9);
  assert_near(solid_report(solid).largest_joint_error, 0, 1e-12);
  assert_success(SceneRunDestroy(&flow));
}

TEST_MAIN(cmocka_unit_test(the_stack_stands_until_it_is_struck),
          cmocka_unit_test(boxes_slide_as_far_as_friction_lets_them), cmocka_unit_test(the_chain_holds),
          cmocka_unit_test(the_chain_holds_while_it_is_twisted),
          cmocka_unit_test(the_cradle_passes_the_speed_on),
          cmocka_unit_test(dominoes_fall_one_after_the_other), cmocka_unit_test(the_house_of_cards_stands),
          cmocka_unit_test(the_loop_stays_closed_and_its_hinge_is_driven),
          cmocka_unit_test(the_pile_comes_down_between_the_pegs),
          cmocka_unit_test(the_pile_is_made_of_1600_bodies_by_one_key))
