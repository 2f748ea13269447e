/* Scenes of inputs/hybrid and inputs/solids with bindings, cuts and skeletons, from their own files: each
   caption as a number. */
#include "harness.h"
#include "scene_run.h"

#include <millrace/moving_triangles.h>

#include "solid/contact/point_contact.h"

#include <math.h>

static PetscReal total_energy(Solid solid)
{
  const SolidReport report = solid_report(solid);

  return report.kinetic_energy + report.potential_energy + report.elastic_energy;
}

/* Fig. 2.7: stiff springs keep their ends together at the step that soft ones have, which let go. */
static void stitched_balls_stay_together(void **state)
{
  PetscReal step[2], iterations[2];

  (void)state;
  for (PetscInt soft = 0; soft < 2; soft++) {
    SceneRun  flow;
    Solid     solid;
    PetscReal energy, longest = 0;

    iterations[soft] = 0;
    assert_success(SceneRunOpen(&flow, "hybrid/stitched-spheres", 0, NULL));
    solid = simulation_solid(flow.simulation);
    for (PetscInt s = 0; s < solid->points->springs.count && soft; s++) {
      BindingSpring *spring = &solid->points->springs.list[s];

      spring->damping *= PetscSqrtReal(1e2 / spring->stiffness);
      spring->stiffness = 1e2;
    }
    step[soft] = solid_longest_substep(solid);
    energy = total_energy(solid);
    for (PetscInt k = 1; k <= 15; k++) {
      assert_success(SceneRunUntil(&flow, 0.03 * k));
      longest = PetscMax(longest, solid_report(solid).longest_binding);
      iterations[soft] += (PetscReal)solid_report(solid).damping_iterations;
      assert_true(total_energy(solid) <= energy * (1 + 1e-3));
      energy = total_energy(solid);
    }
    note("%d springs, at most %g m long, %g iterations", (int)solid->points->springs.count, (double)longest,
         (double)iterations[soft]);
    assert_true(soft ? longest > 0.01 : longest <= 1e-8);
    assert_success(SceneRunDestroy(&flow));
  }
  assert_near(step[1] / step[0], 1, 1e-12);
  assert_near(iterations[1] / iterations[0], 1, 0.2);
}

static PetscReal volume_in_surface(Mesh surface)
{
  PetscReal sum = 0;

  for (PetscInt n = 0; n < surface->element_count; n++) {
    const PetscInt *corner = surface->elements + 3 * n;

    sum += vector3_dot(surface->vertices[corner[0]],
                       vector3_cross(surface->vertices[corner[1]], surface->vertices[corner[2]])) /
           6;
  }
  return sum;
}

/* Fig. 2.10: 289 sticks, with the volume of the cube; their surfaces stand back from cuts with a gap. */
static void the_cube_becomes_289_sticks(void **state)
{
  (void)state;
  for (PetscInt k = 0; k < 2; k++) {
    SceneRun flow;
    Mesh     mesh;
    PetscInt count, *component;

    assert_success(k ? SceneRunOpen(&flow, "hybrid/cube-cut", 0, NULL)
                     : SceneRunOpen(&flow, "hybrid/cube-cut", 0, "solids.meshes.cube.cuts.0.gap=0",
                                    "solids.meshes.cube.cuts.1.gap=0",
                                    "solids.meshes.cube.contact_thickness=0",
                                    "solids.meshes.cube.self_contact=false", NULL));
    mesh = simulation_solid(flow.simulation)->points->meshes[0].mesh;
    assert_success(MeshFindComponents(mesh, &count, &component));
    assert_int_equal(count, 289);
    assert_near(volume_in_surface(mesh->surface), k ? PetscSqr(1 - 16 * 0.002) : 1, 1e-12);
    assert_success(PetscFree(component));
    assert_success(SceneRunDestroy(&flow));
  }
}

/* Pairs of triangles of the surface that intersect, without tree or list; and how wide the top is, which was
   1 m. */
static PetscInt crossings_of_sticks(Solid solid, PetscReal *top)
{
  const DeformableMesh *cube = &solid->points->meshes[0];
  const Vector3        *at = &solid->points->position[cube->first], *rest = &solid->points->rest[cube->first];
  PetscReal             low = PETSC_MAX_REAL, high = -PETSC_MAX_REAL;
  PetscInt              count = 0;

  for (PetscInt f = 0; f < cube->face_count; f++) {
    for (PetscInt e = 0; e < f; e++) {
      PetscBool is_apart = PETSC_FALSE;

      for (PetscInt d = 0; d < DIM && !is_apart; d++) {
        const PetscReal a[3] = {at[cube->faces[f][0]].at[d], at[cube->faces[f][1]].at[d],
                                at[cube->faces[f][2]].at[d]};
        const PetscReal b[3] = {at[cube->faces[e][0]].at[d], at[cube->faces[e][1]].at[d],
                                at[cube->faces[e][2]].at[d]};

        is_apart = PetscMin(a[0], PetscMin(a[1], a[2])) > PetscMax(b[0], PetscMax(b[1], b[2])) ||
                           PetscMin(b[0], PetscMin(b[1], b[2])) > PetscMax(a[0], PetscMax(a[1], a[2]))
                       ? PETSC_TRUE
                       : PETSC_FALSE;
      }
      count += !is_apart && triangles_meet(at, cube->faces[f], cube->faces[e]);
    }
    for (PetscInt c = 0; c < 3; c++)
      if (rest[cube->faces[f][c]].at[Z] > 1.549) {
        low = PetscMin(low, at[cube->faces[f][c]].at[X]);
        high = PetscMax(high, at[cube->faces[f][c]].at[X]);
      }
  }
  *top = high - low;
  return count;
}

/* 25 of them spread over the ball and pass through neither it nor each other; without contact they do. Where
   surfaces do not cross, material overlaps by less than the gap of 2 mm. */
static void the_sticks_collide(void **state)
{
  SceneRun  flow;
  Solid     solid;
  PetscReal top = 0, deepest = 0, energy, start;
  PetscInt  crossings = 0, contacts = 0, found;

  (void)state;
  assert_success(SceneRunOpen(&flow, "hybrid/cube-cut", 0, "let.sticks=5", NULL));
  solid = simulation_solid(flow.simulation);
  start = energy = solid_report(solid).potential_energy;
  for (PetscInt k = 1; k <= 20; k++) {
    SolidReport report;

    assert_success(SceneRunUntil(&flow, 0.05 * k));
    report = solid_report(solid);
    crossings += report.mesh_crossings;
    contacts += report.mesh_pairs;
    deepest = PetscMax(deepest, report.largest_penetration);
    energy = report.kinetic_energy + report.elastic_energy + report.potential_energy;
  }
  found = crossings_of_sticks(solid, &top);
  note("%" PetscInt_FMT " contacts, %" PetscInt_FMT " crossings; %g m into the ball, the top is %g m wide",
       contacts, crossings + found, (double)deepest, (double)top);
  assert_int_equal(crossings + found, 0);
  assert_true(contacts > 1000 && deepest < 2e-3 && top > 1.2 && energy < start);
  assert_success(SceneRunDestroy(&flow));
  assert_success(SceneRunOpen(&flow, "hybrid/cube-cut", 0, "let.sticks=5",
                              "solids.meshes.cube.contact_thickness=0",
                              "solids.meshes.cube.self_contact=false", NULL));
  assert_success(SceneRunUntil(&flow, 0.5));
  found = crossings_of_sticks(simulation_solid(flow.simulation), &top);
  note("without contact %" PetscInt_FMT " crossings", found);
  assert_true(found > 10);
  assert_success(SceneRunDestroy(&flow));
}

static PetscReal body_height(Solid solid, const char name[])
{
  return solid->placements[solid_find_body(solid, name)].position.at[Z];
}

/* Fig. 3.10: the ring comes to rest on the maggot and is lifted by it. */
static void the_maggot_lifts_the_ring(void **state)
{
  SceneRun  flow;
  Solid     solid;
  PetscReal least = 1, most = 0;

  (void)state;
  assert_success(SceneRunOpen(&flow, "solids/maggot-ring", 0, NULL));
  solid = simulation_solid(flow.simulation);
  for (PetscInt k = 1; k <= 20; k++) {
    const PetscInt ring = solid_find_body(solid, "ring"), middle = solid_find_body(solid, "middle");
    Vector3        offset;

    assert_success(SceneRunUntil(&flow, 0.035 * k));
    if (body_height(solid, "ring") < least)
      most = least = body_height(solid, "ring");
    most = PetscMax(most, body_height(solid, "ring"));
    offset = vector3_subtract(solid->placements[ring].position, solid->placements[middle].position);
    assert_true(hypot(offset.at[X], offset.at[Y]) < 0.1);
    assert_true(solid_report(solid).largest_joint_error < 1e-6);
  }
  note("the ring goes from %g m up to %g m", (double)least, (double)most);
  assert_true(most > least + 0.01);
  assert_success(SceneRunDestroy(&flow));
}

static PetscReal lowest_point(Solid solid)
{
  const DeformableMesh *mesh = &solid->points->meshes[0];
  PetscReal             lowest = PETSC_MAX_REAL;

  for (PetscInt k = 0; k < mesh->skin_count; k++)
    lowest = PetscMin(lowest, solid->points->position[mesh->skin[k]].at[Z]);
  return lowest;
}

/* Fig. 3.11: the fish throws itself off the floor, and again. */
static void the_fish_flops(void **state)
{
  SceneRun  flow;
  Solid     solid;
  PetscInt  flights = 0;
  PetscBool is_down = PETSC_TRUE;

  (void)state;
  assert_success(SceneRunOpen(&flow, "solids/fish", 0, "solids.meshes.fish.edge=0.04", NULL));
  solid = simulation_solid(flow.simulation);
  for (PetscInt k = 1; k <= 48; k++) {
    PetscReal lowest;

    assert_success(SceneRunUntil(&flow, k / 48.));
    lowest = lowest_point(solid);
    flights += is_down && lowest > 0.02 ? 1 : 0;
    is_down = lowest > 0.02 ? PETSC_FALSE : lowest < 0.005 ? PETSC_TRUE : is_down;
    assert_true(solid_report(solid).largest_joint_error < 1e-6);
  }
  note("%d flights", (int)flights);
  assert_true(flights >= 2);
  assert_success(SceneRunDestroy(&flow));
}

/* Fig. 3.7: waves along its bones take the snake up the first stair, upright. */
static void the_snake_climbs_a_stair(void **state)
{
  const PetscReal edge = 0.1, height = 0.05; /* of the first stair: where it begins */
  SceneRun        flow;
  Solid           solid;
  PetscInt        head;

  (void)state;
  assert_success(SceneRunOpen(&flow, "solids/snake", 0, "solids.meshes.snake.edge=0.08", NULL));
  solid = simulation_solid(flow.simulation);
  head = solid_find_body(solid, "bone-13");
  for (PetscInt k = 1; k <= 8; k++) {
    assert_success(SceneRunUntil(&flow, 0.5 * k));
    assert_true(solid_report(solid).largest_joint_error < 1e-6);
    assert_true(solid_report(solid).largest_penetration < 0.02 * height);
  }
  note("head at x %g, height %g", (double)solid->placements[head].position.at[X],
       (double)solid->placements[head].position.at[Z]);
  assert_true(solid->placements[head].position.at[X] > edge + 0.035); /* the whole bone */
  assert_true(solid->placements[head].position.at[Z] > height);
  assert_true(vector3_dot(quaternion_rotate(solid->placements[head].rotation, vector3(0, 1, 0)),
                          vector3(0, 1, 0)) > 0.99);
  assert_success(SceneRunDestroy(&flow));
}

/* The farthest that a vertex is from the middle of the side of the larger element on which it hangs. */
static PetscReal widest_gap(Solid solid)
{
  const DeformableMesh *mesh = &solid->points->meshes[0];
  const Vector3        *position = solid->points->position;
  MeshJunctions         junctions;
  PetscReal             widest = 0;

  assert_success(MeshFindJunctions(mesh->mesh, &junctions));
  assert_true(junctions.count > 30);
  for (PetscInt n = 0; n < junctions.count; n++) {
    Vector3 gap = position[mesh->first + junctions.vertices[n]];

    for (PetscInt k = junctions.first[n]; k < junctions.first[n + 1]; k++)
      gap = vector3_subtract(
          gap, vector3_scale(junctions.weights[k], position[mesh->first + junctions.parents[k]]));
    widest = PetscMax(widest, vector3_norm(gap));
  }
  assert_success(MeshJunctionsDestroy(&junctions));
  return widest;
}

/* Of the elements on the vertices that the clamp holds, in N along x. */
static PetscReal pull_on_clamp(Solid solid)
{
  const DeformableMesh *mesh = &solid->points->meshes[0];
  Vector3              *forces;
  PetscReal             sum = 0;

  assert_success(PetscCalloc1(solid->points->count, &forces));
  mesh->forces[0].kind->add_elastic(mesh->forces[0].data, solid->points->position, forces);
  for (PetscInt p = 0; p < solid->points->count; p++)
    sum += solid->points->carrier[p] >= 0 ? forces[p].at[X] : 0;
  assert_success(PetscFree(forces));
  return sum;
}

/* Of the elements, beside those of a lattice that has the smallest of them everywhere. */
static PetscReal part_of_uniform(const Mesh mesh)
{
  PetscReal sum = 0, least = PETSC_MAX_REAL;

  for (PetscInt e = 0; e < mesh->element_count; e++) {
    const PetscReal volume = mesh_element_measure(mesh, e);

    sum += volume;
    least = PetscMin(least, volume);
  }
  return mesh->element_count * least / sum;
}

/* The farthest that the surface in a box at rest is from where a body has taken it. */
static PetscReal widest_detachment(Solid solid, Vector3 low, Vector3 high, const char name[])
{
  const DeformableMesh *mesh = &solid->points->meshes[0];
  const PetscInt        body = solid_find_body(solid, name);
  const RigidTransform  rest = solid->bodies[body].rest, now = solid->placements[body];
  PetscReal             widest = 0;
  PetscInt              count = 0;

  for (PetscInt v = mesh->mesh->vertex_count; v < mesh_vertices(mesh); v++) {
    const Vector3 from = mesh_rest(mesh, v);
    PetscBool     is_inside = PETSC_TRUE;
    Vector3       there;

    for (PetscInt d = 0; d < DIM; d++)
      is_inside = is_inside && from.at[d] >= low.at[d] && from.at[d] <= high.at[d] ? PETSC_TRUE : PETSC_FALSE;
    if (!is_inside)
      continue;
    count++;
    there = rigid_apply(&now, rigid_apply_inverse(&rest, from));
    widest =
        PetscMax(widest, vector3_norm(vector3_subtract(solid->points->position[mesh->first + v], there)));
  }
  assert_true(count > 50);
  return widest;
}

/* How far the corner of the mouth has moved. */
static PetscReal lip_motion(Solid solid)
{
  const DeformableMesh *mesh = &solid->points->meshes[0];
  const Vector3         corner = vector3(0.045, -0.07, -0.015);
  PetscReal             nearest = PETSC_MAX_REAL, motion = 0;

  for (PetscInt v = mesh->mesh->vertex_count; v < mesh_vertices(mesh); v++) {
    const Vector3   rest = mesh_rest(mesh, v);
    const PetscReal away = vector3_norm(vector3_subtract(rest, corner));

    if (away >= nearest)
      continue;
    nearest = away;
    motion = vector3_norm(vector3_subtract(solid->points->position[mesh->first + v], rest));
  }
  return motion;
}

/* Fig. 2.11: lips of small elements in a head of large ones, with nothing in between, without a gap. */
static void the_mouth_smiles_and_opens(void **state)
{
  SceneRun  flow;
  Solid     solid;
  PetscReal before, after;
  Vector3   low = vector3(-1, -1, 0.075), high = vector3(1, 1, 1);

  (void)state;
  assert_success(SceneRunOpen(&flow, "hybrid/adaptive-flesh", 0, "solids.meshes.face.edge=0.05",
                              "run.time_step=0.01", NULL));
  solid = simulation_solid(flow.simulation);
  assert_true(part_of_uniform(solid->points->meshes[0].mesh) < 0.25);
  assert_success(SceneRunUntil(&flow, 0.1));
  before = lip_motion(solid);
  assert_success(SceneRunUntil(&flow, 0.3));
  after = lip_motion(solid);
  assert_true(widest_gap(solid) < 1e-12);
  assert_success(SceneRunUntil(&flow, 0.4));
  note("%g of the elements; the lip moves by %g, with its muscle by %g mm; off the skull %g, the jaw %g mm",
       (double)part_of_uniform(solid->points->meshes[0].mesh), (double)(1e3 * before), (double)(1e3 * after),
       (double)(1e3 * widest_detachment(solid, low, high, "skull")),
       (double)(1e3 * widest_detachment(solid, vector3(-1, -1, -1), vector3(1, 1, -0.085), "jaw")));
  assert_true(before < 1e-4 && after > 5e-3);
  assert_true(widest_gap(solid) < 1e-12);
  assert_true(widest_detachment(solid, low, high, "skull") < 2e-3);
  assert_true(widest_detachment(solid, vector3(-1, -1, -1), vector3(1, 1, -0.085), "jaw") < 2e-3);
  assert_success(SceneRunDestroy(&flow));
}

/* Fig. 2.4: bound to the ends of edges, what hangs on them leaves no gap, and the sheet pulls as one without
   T-junctions. */
static void the_sheet_has_no_gaps(void **state)
{
  static const char *const meshes[] = {"solids.meshes.sheet.junctions=bound",
                                       "solids.meshes.sheet.junctions=free", "solids.meshes.sheet.refine=[]"};
  PetscReal                pull[3], gap[3] = {0};

  (void)state;
  for (PetscInt k = 0; k < 3; k++) {
    SceneRun flow;

    assert_success(SceneRunOpen(&flow, "hybrid/t-junction-sheet", 0, meshes[k],
                                k < 2 ? NULL : "solids.meshes.sheet.edge=0.0625", NULL));
    assert_success(SceneRunUntil(&flow, 1));
    pull[k] = pull_on_clamp(simulation_solid(flow.simulation));
    gap[k] = k < 2 ? widest_gap(simulation_solid(flow.simulation)) : 0;
    assert_success(SceneRunDestroy(&flow));
  }
  note("gaps of %g m bound, %g m free; pull %g N, conforming %g N", (double)gap[0], (double)gap[1],
       (double)pull[0], (double)pull[2]);
  assert_true(gap[0] <= 1e-12 && gap[1] > 1e-2);
  assert_near(pull[0] / pull[2], 1, 0.01);
}

/* How far points have come from where they were at rest: vertices of elements near the finger, copies. */
static PetscReal farthest(Solid solid, PetscInt first, PetscInt count)
{
  const Points *points = solid->points;
  PetscReal     most = 0;

  for (PetscInt p = first; p < first + count; p++)
    most = PetscMax(most, vector3_norm(vector3_subtract(points->position[p], points->rest[p])));
  return most;
}

/* Of copies that the finger has pressed in by more than half its radius, the farthest from its surface. */
static PetscReal worst_fit(Solid solid)
{
  const Points        *points = solid->points;
  const PetscInt       finger = solid_find_body(solid, "finger");
  const RigidTransform there = solid->placements[finger];
  PetscReal            worst = 0;

  for (PetscInt s = 0; s < points->soft.count; s++) {
    const PetscInt copy = points->soft.list[s].copy;
    Vector3        gradient;

    if (vector3_norm(
            vector3_subtract(points->position[copy], points->position[points->soft.list[s].target])) > 0.05)
      worst = PetscMax(
          worst, PetscAbsReal(form_distance(solid->bodies[finger].form,
                                            rigid_apply_inverse(&there, points->position[copy]), &gradient)));
  }
  return worst;
}

/* Fig. 2.6: the copies take the shape of the finger where the elements behind are far larger and hardly move,
   in the steps that the ball has without them, and go back. */
static void the_soft_surface_takes_the_shape_of_the_finger(void **state)
{
  SceneRun              flow, plain;
  Solid                 solid;
  const DeformableMesh *mesh;
  PetscReal             dent, behind;

  (void)state;
  assert_success(SceneRunOpen(&flow, "hybrid/ball-soft-bound", 0, NULL));
  assert_success(
      SceneRunOpen(&plain, "hybrid/ball-soft-bound", 0, "solids.meshes.ball.skin.stiffness=0", NULL));
  solid = simulation_solid(flow.simulation);
  mesh = &solid->points->meshes[0];
  assert_near(solid_longest_substep(solid) / solid_longest_substep(simulation_solid(plain.simulation)), 1,
              1e-12);
  assert_success(SceneRunUntil(&flow, 1));
  behind = farthest(solid, mesh->first, mesh->mesh->vertex_count);
  dent = farthest(solid, mesh->first_copy, mesh->skin_count);
  note("dent %g m, vertices behind it %g m, copies within %g m of the finger", (double)dent, (double)behind,
       (double)worst_fit(solid));
  assert_true(dent > 0.08 && behind < 0.3 * dent);
  assert_true(worst_fit(solid) < 1e-3);
  assert_success(SceneRunUntil(&flow, 3));
  note("back to %g m", (double)farthest(solid, mesh->first_copy, mesh->skin_count));
  assert_true(farthest(solid, mesh->first_copy, mesh->skin_count) < 1e-3 * 0.5);
  assert_success(SceneRunDestroy(&plain));
  assert_success(SceneRunDestroy(&flow));
}

/* Along the ribbon, from end to end, over that at rest. */
static PetscReal stretched(Solid solid)
{
  const DeformableMesh *ribbon = &solid->points->meshes[0];
  const PetscInt        lines = 5; /* of vertices across */
  const PetscInt        rows = ribbon->mesh->vertex_count / lines;
  PetscReal             sum = 0;

  for (PetscInt k = 1; k < rows; k++) { /* the middle one */
    const Vector3 *here = &solid->points->position[ribbon->first];

    sum += vector3_norm(vector3_subtract(here[rows * (lines / 2) + k], here[rows * (lines / 2) + k - 1]));
  }
  return sum / 2;
}

static PetscReal end_of_ribbon(Solid solid)
{
  const DeformableMesh *ribbon = &solid->points->meshes[0];
  PetscReal             lowest = 0;

  for (PetscInt v = 0; v < ribbon->mesh->vertex_count; v++)
    lowest = PetscMin(lowest, solid->points->position[ribbon->first + v].at[Z]);
  return lowest;
}

static Vector3 sum_of_forces(Solid solid, const Vector3 forces[], PetscInt first, PetscInt count)
{
  Vector3 sum = vector3(0, 0, 0);

  (void)solid;
  for (PetscInt p = first; p < first + count; p++)
    sum = vector3_add(sum, forces[p]);
  return sum;
}

/* The cloud's own discretisation instead: its lattice as tetrahedra, which bend as the ribbon (E I of its
   section, 0.26 x 0.16 m, for that of 0.1 x 0.005 m) and carry it without forces of its own. It falls alike,
   but knows nothing of the ribbon's length. */
static PetscReal stretched_by_the_cloud(PetscReal time, PetscReal *end)
{
  SceneRun  flow;
  Solid     solid;
  PetscReal result;

  assert_success(SceneRunOpen(&flow, "hybrid/ribbon-point-cloud", 0, "solids.meshes.cloud.type=volume",
                              "solids.meshes.cloud.fill=bcc", "solids.materials.air.young=23.5",
                              "solids.materials.rubber.young=1", NULL));
  assert_success(SceneRunUntil(&flow, time));
  solid = simulation_solid(flow.simulation);
  result = stretched(solid);
  *end = end_of_ribbon(solid);
  assert_success(SceneRunDestroy(&flow));
  return result;
}

/* Fig. 2.5: the forces of the ribbon are those of the points, and keep it from stretching. */
static void the_ribbon_hangs_in_the_cloud(void **state)
{
  SceneRun              flow;
  Solid                 solid;
  const DeformableMesh *ribbon, *cloud;
  Vector3              *own, *mapped;
  PetscReal             most = 0, largest = 0, end = 0, other_end = 0, other;

  (void)state;
  assert_success(SceneRunOpen(&flow, "hybrid/ribbon-point-cloud", 0, NULL));
  solid = simulation_solid(flow.simulation);
  ribbon = &solid->points->meshes[0];
  cloud = &solid->points->meshes[1];
  assert_int_equal(ribbon->mesh->element_count, 640);
  assert_success(PetscMalloc2(solid->points->count, &own, solid->points->count, &mapped));
  for (PetscInt k = 1; k <= 20; k++) {
    assert_success(SceneRunUntil(&flow, 0.05 * k));
    most = PetscMax(most, stretched(solid));
    end = k == 10 ? end_of_ribbon(solid) : end;
  }
  assert_success(PetscArrayzero(own, solid->points->count));
  ribbon->forces[0].kind->add_elastic(ribbon->forces[0].data, solid->points->position, own);
  assert_success(PetscArraycpy(mapped, own, solid->points->count));
  points_collect_bound(solid->points, mapped);
  for (PetscInt p = ribbon->first; p < ribbon->first + ribbon->mesh->vertex_count; p++)
    largest += vector3_norm(own[p]);
  note("%d points, the ribbon is at most %g times as long", (int)cloud->mesh->vertex_count, (double)most);
  assert_near(
      vector3_norm(vector3_subtract(sum_of_forces(solid, mapped, cloud->first, cloud->mesh->vertex_count),
                                    sum_of_forces(solid, own, ribbon->first, ribbon->mesh->vertex_count))) /
          largest,
      0, 1e-12);
  assert_near(vector3_norm(sum_of_forces(solid, mapped, ribbon->first, ribbon->mesh->vertex_count)), 0, 0);
  other = stretched_by_the_cloud(0.5, &other_end);
  note("after 0.5 s its end is at %g m; with the cloud's own forces at %g m, %g times as long", (double)end,
       (double)other_end, (double)other);
  assert_true(most < 1.05 && other > 1.2);
  assert_near(other_end / end, 1, 0.05);
  assert_success(PetscFree2(own, mapped));
  assert_success(SceneRunDestroy(&flow));
}

/* How far below the top a copy is that was there at rest: the deepest where the stamp was or where it was
 * not. */
static PetscReal imprint(Solid solid, PetscBool under)
{
  const Points *points = solid->points;
  PetscReal     deepest = 0;

  for (PetscInt s = 0; s < points->soft.count; s++) {
    const PetscInt  copy = points->soft.list[s].copy;
    const Vector3   rest = points->rest[copy];
    const PetscReal x = rest.at[X], y = rest.at[Y];
    const PetscBool in_box = x > 0.27 && x < 0.29 && y > 0.3 && y < 0.5 ? PETSC_TRUE : PETSC_FALSE;
    const PetscBool away = x < 0.1 || x > 0.9 || y < 0.1 || y > 0.9 ? PETSC_TRUE : PETSC_FALSE;

    if (under ? in_box : away)
      deepest = PetscMax(deepest, rest.at[Z] - points->position[copy].at[Z]);
  }
  return deepest;
}

static PetscReal least_weight(Solid solid)
{
  const PointBindings *bindings = &solid->points->bindings;
  PetscReal            least = 1;

  for (PetscInt k = 0; k < bindings->parent_count; k++)
    least = PetscMin(least, bindings->weights[k]);
  return least;
}

/* Fig. 2.8: targets drift, and the imprint of the stamp stays; without that it does not. */
static void the_stamp_leaves_an_imprint(void **state)
{
  static const char *const drift[] = {"solids.meshes.block.skin.drift=0.005",
                                      "solids.meshes.block.skin.drift=0"};

  (void)state;
  for (PetscInt k = 0; k < 2; k++) {
    SceneRun  flow;
    Solid     solid;
    PetscReal pressed;

    assert_success(SceneRunOpen(&flow, "hybrid/stamp", 0, drift[k],
                                "solids.meshes.block.skin.refine.0.levels=3",
                                "solids.meshes.block.skin.stiffness=400", NULL));
    solid = simulation_solid(flow.simulation);
    assert_success(SceneRunUntil(&flow, 0.4));
    pressed = imprint(solid, PETSC_TRUE);
    assert_success(SceneRunUntil(&flow, 1.5));
    note("%s: %g m deep under the stamp, %g m after it, %g m beside; least weight %g", drift[k],
         (double)pressed, (double)imprint(solid, PETSC_TRUE), (double)imprint(solid, PETSC_FALSE),
         (double)least_weight(solid));
    assert_near(pressed, 0.05, 0.002);
    if (k)
      assert_true(imprint(solid, PETSC_TRUE) < 1e-3);
    else
      assert_true(imprint(solid, PETSC_TRUE) >= 0.6 * (pressed - 0.005));
    assert_true(imprint(solid, PETSC_FALSE) < 1e-3);
    assert_true(least_weight(solid) >= 0);
    assert_success(SceneRunDestroy(&flow));
  }
}

/* Of springs that join rods; the cords are softer. */
static PetscReal widest_joint(Solid solid)
{
  const Springs *springs = &solid->points->springs;
  const Vector3 *position = solid->points->position;
  PetscReal      widest = 0;

  for (PetscInt s = 0; s < springs->count; s++)
    if (springs->list[s].stiffness > 1e6)
      widest = PetscMax(widest, vector3_norm(vector3_subtract(position[springs->list[s].point],
                                                              position[springs->list[s].target])));
  return widest;
}

/* Fig. 2.14: the ball falls into the net and turns back; the nodes of rods of 0.2 m stay together. Stiffer
   cords stop it sooner. */
static void the_net_holds_the_ball(void **state)
{
  SceneRun  flow;
  Solid     solid;
  PetscInt  ball;
  PetscReal widest = 0, calm = 0, fastest = 0;

  (void)state;
  assert_success(SceneRunOpen(&flow, "hybrid/net", 0, "solids.bindings.corner-0-0.stiffness=3e3",
                              "solids.bindings.corner-9-0.stiffness=3e3",
                              "solids.bindings.corner-0-9.stiffness=3e3",
                              "solids.bindings.corner-9-9.stiffness=3e3",
                              "solids.bodies.ball.shape.sphere.center=[0.9, 0.9, 1.2]", NULL));
  solid = simulation_solid(flow.simulation);
  ball = solid_find_body(solid, "ball");
  for (PetscInt k = 1; k <= 170 && (k < 20 || solid->twists[ball].linear.at[Z] < 0); k++) {
    assert_success(SceneRunStep(&flow, 1, 0.004));
    widest = PetscMax(widest, widest_joint(solid));
    calm = calm == 0 && solid_report(solid).contacts ? widest : calm; /* before they meet */
    fastest = PetscMin(fastest, solid->twists[ball].linear.at[Z]);
  }
  note("nodes of %g m, %g m in the impact; the ball at %g m/s down to %g m", (double)calm, (double)widest,
       (double)fastest, (double)body_height(solid, "ball"));
  assert_true(calm > 0 && widest <= 1e-4 * 0.2);
  assert_true(fastest < -1 && solid->twists[ball].linear.at[Z] >= 0 && body_height(solid, "ball") > -0.5);
  assert_success(SceneRunDestroy(&flow));
}

TEST_MAIN(cmocka_unit_test(the_ribbon_hangs_in_the_cloud), cmocka_unit_test(the_stamp_leaves_an_imprint),
          cmocka_unit_test(the_sheet_has_no_gaps),
          cmocka_unit_test(the_soft_surface_takes_the_shape_of_the_finger),
          cmocka_unit_test(stitched_balls_stay_together), cmocka_unit_test(the_cube_becomes_289_sticks),
          cmocka_unit_test(the_sticks_collide), cmocka_unit_test(the_maggot_lifts_the_ring),
          cmocka_unit_test(the_fish_flops), cmocka_unit_test(the_net_holds_the_ball),
          cmocka_unit_test(the_mouth_smiles_and_opens), cmocka_unit_test(the_snake_climbs_a_stair))
