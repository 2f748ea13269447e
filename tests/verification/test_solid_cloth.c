/* Cloth and other meshes that meet themselves and each other. */
#include "harness.h"
#include "scene_run.h"
#include "solid_case.h"
#include "solids.h"

#include "solid/contact/mesh/mesh_contact.h"

static const PetscReal g = 9.81;

/* A sheet of 0.2 kg/m^2 with a material of its own. */
static SolidMeshConfig *add_sheet(SolidCase *solids, Vector3 origin, Vector3 along, Vector3 across,
                                  PetscReal edge, PetscReal thickness)
{
  const PetscInt       m = solids->config.mesh_count;
  SolidMaterialConfig *material = solid_case_add_mesh(solids, vector3(0, 0, 0), vector3(1, 1, 1), edge);
  SolidMeshConfig     *sheet = &solids->meshes[m];

  *material = (SolidMaterialConfig){
      .name = material->name, .young = 2e4, .poisson = 0.3, .density = 200, .damping = 2e-3, .bending = 1e-5};
  assert_success(ShapeDestroy(&sheet->mesh.shape));
  sheet->mesh.use = MESH_USE_CLOTH;
  sheet->mesh.sheet = (MeshSheetConfig){.origin = origin, .along = along, .across = across};
  sheet->thickness = 1e-3;
  sheet->contact_thickness = thickness;
  sheet->self_contact = PETSC_TRUE;
  return sheet;
}

static PetscInt crossings(Solid solid)
{
  PetscInt count;

  assert_success(MeshSurfaceCountCrossings(solid, solid->points->position, &count));
  return count;
}

/* The same without tree or list. */
static PetscInt crossings_of_all(Solid solid)
{
  const MeshSurface surface = solid->points->surface;
  PetscInt          count = 0;

  for (PetscInt a = 0; a < surface->face_count; a++)
    for (PetscInt b = 0; b < a; b++)
      count += triangles_meet(solid->points->position, surface->faces[a], surface->faces[b]);
  return count;
}

static Vector3 mean_of(const DeformableMesh *mesh, const Vector3 values[])
{
  Vector3 sum = vector3(0, 0, 0);

  for (PetscInt v = 0; v < mesh->mesh->vertex_count; v++)
    sum = vector3_add(sum, values[mesh->first + v]);
  return vector3_scale(1. / (PetscReal)mesh->mesh->vertex_count, sum);
}

/* What the steps of a run had, together; it ends with a step that failed. */
typedef struct {
  PetscInt pairs, impulses, zones, clamped, crossings, tangled;
} Meetings;

static Meetings run_together(SolidCase *solids, PetscReal dt, PetscInt steps)
{
  Meetings all = {0};

  for (PetscInt k = 0; k < steps && !all.tangled; k++) {
    SolidReport report;

    solid_case_run(solids, dt, 1);
    report = solid_report(solids->solid);
    all.pairs += report.mesh_pairs;
    all.impulses += report.mesh_impulses;
    all.zones += report.mesh_zones;
    all.clamped += report.mesh_clamped;
    all.crossings += report.mesh_crossings;
    all.tangled += report.is_tangled;
  }
  return all;
}

static void note_meetings(const char what[], const Meetings *all)
{
  note("%s: %" PetscInt_FMT " contacts, %" PetscInt_FMT " impulses, %" PetscInt_FMT " zones, %" PetscInt_FMT
       " clamped, %" PetscInt_FMT " crossings",
       what, all->pairs, all->impulses, all->zones, all->clamped, all->crossings);
}

/* Two free sheets, askew and turning, thrown at each other without gravity. */
static SolidCase *new_encounter(PetscReal friction, PetscReal speed, PetscReal thickness)
{
  SolidCase       *solids = solid_case_new(0);
  SolidMeshConfig *sheet;

  sheet = add_sheet(solids, vector3(-0.2, -0.2, 0), vector3(0.4, 0, 0), vector3(0, 0.4, 0), 0.04,
                    1.5 * thickness);
  sheet->velocity = vector3(0.2 * speed, 0.1 * speed, 0.8 * speed);
  sheet->friction = friction;
  sheet = add_sheet(solids, vector3(-0.13, -0.16, 0.05), vector3(0.3, 0.1, 0.04), vector3(-0.1, 0.3, -0.03),
                    0.03, thickness);
  sheet->velocity = vector3(-0.4 * speed, 0.3 * speed, -speed);
  sheet->spin = vector3(1, -3, 2);
  sheet->friction = friction;
  solid_case_start(solids);
  return solids;
}

/* Friction acts on two sides of the thickness, and its torque is that of the gap. At 60 m/s they go 8 cm in a
   substep. */
static void momentum_stays_when_sheets_meet(void **state)
{
  const PetscReal frictions[] = {0, 0.5, 0, 0.3}, speeds[] = {1, 1, 60, 60};

  (void)state;
  for (PetscInt k = 0; k < 4; k++) {
    SolidCase        *solids = new_encounter(frictions[k], speeds[k], 0.004);
    const SolidReport start = solid_report(solids->solid);
    const PetscReal   moment = 0.2 * 0.16 * speeds[k], torque = 0.4 * moment;
    const Meetings    all = run_together(solids, 1e-3, speeds[k] > 1 ? 20 : 60);
    const SolidReport end = solid_report(solids->solid);

    note_meetings(speeds[k] > 1 ? "fast" : "slow", &all);
    note("friction %g: momentum changed by %g, angular momentum by %g of what one sheet has",
         (double)frictions[k],
         (double)(vector3_norm(vector3_subtract(end.momentum, start.momentum)) / moment),
         (double)(vector3_norm(vector3_subtract(end.angular_momentum, start.angular_momentum)) / torque));
    assert_true(all.pairs > 100);
    assert_int_equal(all.crossings + all.tangled, 0);
    assert_int_equal(crossings_of_all(solids->solid), 0);
    assert_true(speeds[k] < 2 || all.impulses > 10);
    assert_near(vector3_norm(vector3_subtract(end.momentum, start.momentum)) / moment, 0, 1e-12);
    if (frictions[k] == 0)
      assert_near(vector3_norm(vector3_subtract(end.angular_momentum, start.angular_momentum)) / torque, 0,
                  1e-12);
    assert_true(end.kinetic_energy + end.elastic_energy < start.kinetic_energy);
    assert_true(mean_of(&solids->solid->points->meshes[1], solids->solid->points->velocity).at[Z] >
                -0.9 * speeds[k]);
    solid_case_free(solids);
  }
}

static void sheets_without_a_thickness_pass(void **state)
{
  SolidCase *solids = new_encounter(0, 1, 0);

  (void)state;
  assert_null(solids->solid->points->surface);
  solid_case_run(solids, 1e-3, 60);
  assert_near(mean_of(&solids->solid->points->meshes[1], solids->solid->points->velocity).at[Z], -1, 1e-9);
  solid_case_free(solids);
}

/* The acceleration of a sheet on a held one, turned in its plane, between two moments. */
static PetscReal measure_sliding(PetscReal slope, PetscReal friction, PetscReal *speed)
{
  SolidCase       *solids = solid_case_new(g);
  const PetscReal  h = 0.004, c = PetscCosReal(0.2), s = PetscSinReal(0.2), time = 0.1;
  SolidMeshConfig *sheet;
  PetscReal        start;

  solids->config.gravity = vector3(g * PetscSinReal(slope), 0, -g * PetscCosReal(slope));
  sheet = add_sheet(solids, vector3(-0.5, -0.5, 0), vector3(1, 0, 0), vector3(0, 1, 0), 0.05, h);
  sheet->friction = friction;
  solid_case_hold(solids, vector3(-1, -1, -1), vector3(1, 1, 1), -1);
  sheet = add_sheet(solids, vector3(-0.11 * c, -0.1 - 0.11 * s, 1.01 * h), vector3(0.21 * c, 0.21 * s, 0),
                    vector3(-0.2 * s, 0.2 * c, 0), 0.033, h);
  sheet->friction = friction;
  solid_case_start(solids);
  (void)run_together(solids, 1e-3, 100);
  start = mean_of(&solids->solid->points->meshes[1], solids->solid->points->velocity).at[X];
  (void)run_together(solids, 1e-3, (PetscInt)(time / 1e-3));
  *speed = mean_of(&solids->solid->points->meshes[1], solids->solid->points->velocity).at[X];
  assert_int_equal(crossings(solids->solid), 0);
  solid_case_free(solids);
  return (*speed - start) / time;
}

/* g (sin - mu cos), or none: 2 % of the angle of friction on either side. */
static void a_sheet_sticks_and_slides_at_the_angle_of_friction(void **state)
{
  const PetscReal frictions[] = {0.3, 0.6};

  (void)state;
  for (PetscInt k = 0; k < 2; k++) {
    const PetscReal slope = 1.02 * atan(frictions[k]);
    const PetscReal expected = g * (PetscSinReal(slope) - frictions[k] * PetscCosReal(slope));
    PetscReal       speed, acceleration = measure_sliding(slope, frictions[k], &speed);

    note("friction %g: slides with %g of %g m/s^2", (double)frictions[k], (double)acceleration,
         (double)expected);
    assert_near(acceleration / expected, 1, 0.1);
    acceleration = measure_sliding(0.98 * atan(frictions[k]), frictions[k], &speed);
    note("friction %g: sticks with %g m/s, %g m/s^2", (double)frictions[k], (double)speed,
         (double)acceleration);
    assert_true(PetscAbsReal(speed) < 1e-4);
  }
}

/* Held at its rim, it is hit by a fast one: what cannot be parted goes with what holds it. */
static void a_held_sheet_stops_a_fast_one(void **state)
{
  SolidCase       *solids = solid_case_new(0);
  SolidMeshConfig *sheet;
  Meetings         all;

  (void)state;
  (void)add_sheet(solids, vector3(-0.2, -0.2, 0), vector3(0.4, 0, 0), vector3(0, 0.4, 0), 0.1, 0.002);
  solid_case_hold(solids, vector3(-1, -1, -1), vector3(1, 1, 1), -1);
  sheet = add_sheet(solids, vector3(-0.1, -0.1, 0.1), vector3(0.2, 0.01, 0.05), vector3(0, 0.2, 0.03), 0.03,
                    0.001);
  sheet->velocity = vector3(300, 0, -2000);
  solid_case_start(solids);
  all = run_together(solids, 1e-3, 10);
  note_meetings("2000 m/s", &all);
  assert_int_equal(all.crossings + all.tangled, 0);
  assert_true(all.impulses > 0);
  assert_true(mean_of(&solids->solid->points->meshes[1], solids->solid->points->position).at[Z] > 0);
  solid_case_free(solids);
}

/* Two kinematic plates drive the sheets that they hold through each other. */
static void what_cannot_be_kept_apart_is_told(void **state)
{
  SolidCase *solids = solid_case_new(0);
  char       reason[512] = "";
  Meetings   all;

  (void)state;
  for (PetscInt k = 0; k < 2; k++) {
    BodyConfig *plate =
        solid_case_add_box(solids, vector3(0, 0, k ? 0.1 : -0.1), vector3(0.3, 0.3, 0.02), vector3(0, 0, 0));

    plate->kind = BODY_KINEMATIC;
    assert_success(
        MotionCreateSteady(vector3(0, 0, 0), vector3(0, 0, k ? -1 : 1), vector3(0, 0, 0), &plate->motion));
    (void)add_sheet(solids, vector3(-0.2, -0.2, k ? 0.03 : -0.03), vector3(0.4, 0, 0), vector3(0, 0.4, 0),
                    0.1, 0.01);
    solid_case_hold(solids, vector3(-1, -1, -1), vector3(1, 1, 1), k);
  }
  solid_case_start(solids);
  all = run_together(solids, 1e-3, 40);
  assert_true(all.tangled > 0);
  assert_int_equal(all.crossings, 0);
  assert_success(SolidDescribeFailure(solids->solid, reason, sizeof(reason)));
  assert_non_null(strstr(reason, "pressed into each other"));
  for (PetscInt k = 0; k < 2; k++)
    assert_success(MotionDestroy(&solids->bodies[k].motion));
  solid_case_free(solids);
}

/* A sheet falls on a block with a soft skin and this on one without, on the floor. */
static void volumes_meet_by_their_surfaces(void **state)
{
  SolidCase *solids = solid_case_new(g);
  Meetings   all;

  (void)state;
  solid_case_add_plane(solids, vector3(0, 0, 0), vector3(0, 0, 1))->friction = 0.3;
  for (PetscInt k = 0; k < 2; k++) {
    solid_case_add_mesh(solids, vector3(-0.1 + 0.02 * k, -0.1, 0.02 + 0.23 * k),
                        vector3(0.1 + 0.02 * k, 0.1, 0.22 + 0.23 * k), 0.1)
        ->damping = 5e-3;
    solids->meshes[k].contact_thickness = 0.01;
    solids->meshes[k].friction = 0.3;
  }
  solids->meshes[1].skin.stiffness = 1e4;
  solids->meshes[1].skin.damping = 1;
  (void)add_sheet(solids, vector3(-0.15, -0.15, 0.465), vector3(0.3, 0, 0), vector3(0, 0.3, 0), 0.05, 0.006);
  solid_case_start(solids);
  all = run_together(solids, 0.01, 100);
  note_meetings("blocks", &all);
  note("upper block at %g m",
       (double)mean_of(&solids->solid->points->meshes[1], solids->solid->points->position).at[Z]);
  assert_int_equal(all.crossings + all.tangled, 0);
  assert_near(mean_of(&solids->solid->points->meshes[1], solids->solid->points->position).at[Z], 0.3, 0.015);
  note("upper block with %g m/s",
       (double)vector3_norm(mean_of(&solids->solid->points->meshes[1], solids->solid->points->velocity)));
  assert_true(vector3_norm(mean_of(&solids->solid->points->meshes[1], solids->solid->points->velocity)) <
              0.1);
  solid_case_free(solids);
}

static void what_cannot_meet_is_refused(void **state)
{
  SolidCase *solids = solid_case_new(0);

  (void)state;
  (void)add_sheet(solids, vector3(0, 0, 0), vector3(1, 0, 0), vector3(0, 1, 0), 0.3, 0.01);
  (void)add_sheet(solids, vector3(0.3, 0.4, -0.5), vector3(0, 0, 1), vector3(0.1, 0.2, 0), 0.3, 0.01);
  solid_case_refuse(solids, "intersect at the start");
  solids = solid_case_new(0);
  solid_case_add_mesh(solids, vector3(0, 0, 0), vector3(1, 1, 1), 0.5);
  solid_case_add_mesh(solids, vector3(0.2, 0.3, 1), vector3(1.4, 1.4, 2), 0.5);
  solids->meshes[0].contact_thickness = solids->meshes[1].contact_thickness = 0.01;
  solid_case_refuse(solids, "at the start");
  solids = solid_case_new(0);
  (void)add_sheet(solids, vector3(0, 0, 0), vector3(1, 0, 0), vector3(0, 1, 0), 0.3, 0.01);
  solids->config.elasticity = ELASTIC_NEWMARK;
  solids->config.newton = 50;
  solid_case_refuse(solids, "give solids.elasticity: explicit");
  solids = solid_case_new(0);
  add_sheet(solids, vector3(0, 0, 0), vector3(1, 0, 0), vector3(0, 1, 0), 0.3, 0.01)->mesh.use =
      MESH_USE_PLANAR;
  solid_case_refuse(solids, "contact_thickness");
}

/* A sheet of n x n squares that falls on its edge. */
static SolidCase *new_crumpling_sheet(PetscInt n)
{
  SolidCase       *solids = solid_case_new(g);
  const PetscReal  edge = 0.02, side = edge * (PetscReal)n;
  SolidMeshConfig *sheet;

  solid_case_add_plane(solids, vector3(0, 0, 0), vector3(0, 0, 1))->friction = 0.3;
  sheet =
      add_sheet(solids, vector3(0, 0, 0.01), vector3(side, 0, 0), vector3(0, 0.1 * side, side), edge, 0.004);
  sheet->friction = 0.3;
  sheet->velocity = vector3(0, 0, -1);
  solid_case_start(solids);
  return solids;
}

/* Returns how many contacts there were. */
static PetscInt crumple(PetscInt n, PetscReal dt, PetscInt steps)
{
  SolidCase *solids = new_crumpling_sheet(n);
  PetscReal  energy;
  Meetings   all;

  energy = solid_report(solids->solid).kinetic_energy + solid_report(solids->solid).potential_energy;
  all = run_together(solids, dt, steps);
  note_meetings("crumpling", &all);
  assert_int_equal(all.crossings + all.tangled, 0);
  assert_true(solid_report(solids->solid).kinetic_energy + solid_report(solids->solid).elastic_energy +
                  solid_report(solids->solid).potential_energy <
              energy);
  if (n < 20)
    assert_int_equal(crossings_of_all(solids->solid), 0);
  solid_case_free(solids);
  return all.pairs;
}

/* Two flat sheets, each of which goes towards the other as fast as any point does. */
static SolidCase *new_approach(void)
{
  SolidCase *solids = solid_case_new(0);

  for (PetscInt k = 0; k < 2; k++)
    add_sheet(solids, vector3(0.004 * k, 0.003 * k, 0.02 * k), vector3(0.2, 0, 0), vector3(0, 0.2, 0), 0.02,
              0.004)
        ->velocity = vector3(0, 0, k ? -0.5 : 0.5);
  solid_case_start(solids);
  return solids;
}

/* The same, where pairs are looked for from nothing in every step. */
static void run_forgetting(SolidCase *kept, SolidCase *forgotten, PetscReal dt, PetscInt steps)
{
  PetscInt contacts = 0, differ = 0;

  for (PetscInt k = 0; k < steps; k++) {
    const PetscReal step = k == 3 * steps / 4 ? 20 * dt : dt;

    solid_case_run(kept, step, 1);
    mesh_surface_forget(forgotten->solid->points);
    solid_case_run(forgotten, step, 1);
    contacts += solid_report(kept->solid).mesh_pairs;
    differ += memcmp(kept->solid->points->position, forgotten->solid->points->position,
                     (size_t)kept->solid->points->count * sizeof(Vector3)) != 0;
  }
  note("%" PetscInt_FMT " contacts, %" PetscInt_FMT " steps differ", contacts, differ);
  assert_true(contacts > 1000);
  assert_int_equal(differ, 0);
  solid_case_free(kept);
  solid_case_free(forgotten);
}

/* Lists of pairs are kept over many steps; what acts is found as without them, to the last bit. */
static void contact_does_not_depend_on_what_was_found_before(void **state)
{
  (void)state;
  run_forgetting(new_approach(), new_approach(), 1e-4, 300);
  run_forgetting(new_crumpling_sheet(12), new_crumpling_sheet(12), 1e-3, 200);
}

/* Judged after every step by the test for intersection. */
static void a_crumpling_sheet_never_meets_itself(void **state)
{
  (void)state;
  assert_true(crumple(16, 1e-3, 300) > 1000);
}

static void a_large_crumpling_sheet_never_meets_itself(void **state)
{
  (void)state;
  only_in_long_runs();
  assert_true(crumple(50, 1e-4, 10000) > 1000000);
}

TEST_MAIN(cmocka_unit_test(momentum_stays_when_sheets_meet),
          cmocka_unit_test(sheets_without_a_thickness_pass),
          cmocka_unit_test(a_sheet_sticks_and_slides_at_the_angle_of_friction),
          cmocka_unit_test(a_held_sheet_stops_a_fast_one),
          cmocka_unit_test(what_cannot_be_kept_apart_is_told),
          cmocka_unit_test(volumes_meet_by_their_surfaces), cmocka_unit_test(what_cannot_meet_is_refused),
          cmocka_unit_test(contact_does_not_depend_on_what_was_found_before),
          cmocka_unit_test(a_crumpling_sheet_never_meets_itself),
          cmocka_unit_test(a_large_crumpling_sheet_never_meets_itself))
