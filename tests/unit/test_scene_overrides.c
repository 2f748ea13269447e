/* --set, and the resolved scene that can be read again. */
#include "harness.h"

#include <millrace/scene.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char base[] = "title: \"a: \\\"b\\\" #c\"\n"
                           "grid: {dimension: 2, size: [1, 2], resolution: 8}\n"
                           "run: {end_time: 1, frame_interval: 0.1}\n"
                           "fluid:\n"
                           "  density: 1000\n"
                           "  viscosity: &nu 1e-3\n"
                           "  body_force: [\"max(x, 0.1)\", 0]\n"
                           "  sides: {all: wall, x_high: open}\n"
                           "  scalars:\n"
                           "    - {name: smoke, diffusivity: *nu, initial: \"if(x<0.5, 1, 0)\"}\n"
                           "    - {name: heat}\n"
                           "obstacles:\n"
                           "  - {name: ball, shape: {sphere: {center: [0.5, 0.5], radius: 0.1}}}\n"
                           "  - name: arm\n"
                           "    shape: {union: [{sphere: {center: [0.2, 0.2], radius: 0.1}},"
                           " {capsule: {from: [0.2, 0.2], to: [0.4, 0.4], radius: 0.02}}]}\n"
                           "    motion: {keyframes: [{time: 0}, {time: 1, rotation: [0, 0, pi]}]}\n"
                           "inflows:\n"
                           "  - {name: jet, shape: {box: {low: [0, 0], high: [0.1, 0.1]}}, velocity: [1, 0], "
                           "scalars: {heat: \"-y\"}}\n"
                           "petsc: {pressure_ksp_rtol: 1e-9, pressure_ksp_monitor: }\n";

static Scene read_with(const char text[], PetscInt count, const char *const overrides[])
{
  Scene scene;

  assert_success(SceneReadText(PETSC_COMM_WORLD, "test.yaml", text, count, overrides, &scene));
  return scene;
}

static Scene read_good(const char text[], PetscInt count, const char *const overrides[])
{
  Scene scene = read_with(text, count, overrides);

  if (!scene_is_good(scene)) {
    assert_success(SceneReport(scene, stderr));
    fail();
  }
  return scene;
}

static void any_key_can_be_set(void **state)
{
  static const char *const overrides[] = {"grid.resolution=16",
                                          "fluid.sides.y_low=slip",
                                          "fluid.sides.y_high={type: wall, velocity: [t, 0]}",
                                          "fluid.scalars.smoke.decay=3",
                                          "fluid.scalars[1].diffusivity=4",
                                          "obstacles.0.shape.sphere.radius=0.25",
                                          "obstacles.arm.surface=slip",
                                          "fluid.initial.velocity=[x, y]",
                                          "title=new one"};
  Scene                    scene = read_good(base, sizeof(overrides) / sizeof(overrides[0]), overrides);
  const SimulationConfig  *config = scene_config(scene);

  (void)state;
  assert_int_equal(config->grid.resolution, 16);
  assert_int_equal(config->fluid.sides[Y][0].kind, SIDE_SLIP);
  assert_true(formula_uses_time(config->fluid.sides[Y][1].velocity[X]));
  assert_near(config->fluid.scalars[0].decay, 3, 0);
  assert_near(config->fluid.scalars[1].diffusivity, 4, 0);
  assert_near(shape_distance(config->obstacles[0].shape, vector3(0.5, 0.5, 0)), -0.25, 1e-15);
  assert_int_equal(config->obstacles[1].surface, OBSTACLE_SLIP);
  assert_near(formula_value(config->fluid.initial_velocity[Y], vector3(0, 7, 0), 0), 7, 0);
  assert_string_equal(config->title, "new one");
  assert_success(SceneDestroy(&scene));
}

static void an_item_can_be_added(void **state)
{
  static const char *const overrides[] = {
      "obstacles.2={name: new, shape: {sphere: {center: [0.5, 1.5], radius: 0.1}}}"};
  Scene scene = read_good(base, 1, overrides);

  (void)state;
  assert_int_equal(scene_config(scene)->obstacle_count, 2); /* one of three moves: it is a body */
  assert_string_equal(scene_config(scene)->obstacles[1].name, "new");
  assert_success(SceneDestroy(&scene));
}

static void all_sides_can_be_set_at_once(void **state)
{
  static const char *const overrides[] = {"fluid.sides.all=slip", "fluid.sides.y_low=wall"};
  Scene                    first = read_good(base, 0, NULL);
  Scene                    scene = read_good(scene_resolved_text(first), 2, overrides);

  (void)state;
  assert_int_equal(scene_config(scene)->fluid.sides[X][1].kind, SIDE_SLIP);
  assert_int_equal(scene_config(scene)->fluid.sides[Y][0].kind, SIDE_WALL);
  assert_int_equal(scene_config(scene)->fluid.sides[Y][1].kind, SIDE_SLIP);
  assert_success(SceneDestroy(&scene));
  assert_success(SceneDestroy(&first));
}

static void wrong_override(const char override[], const char word[])
{
  Scene               scene = read_with(base, 1, &override);
  const SceneProblem *problem;

  assert_int_equal(scene_problem_count(scene), 1);
  problem = scene_problem(scene, 0);
  if (problem->override != 0 || !strstr(problem->message, word))
    fail_msg("--set %s: override %d: %s", override, (int)problem->override, problem->message);
  assert_success(SceneDestroy(&scene));
}

static void the_message_names_a_wrong_override(void **state)
{
  (void)state;
  wrong_override("grid.resolutoin=16", "\"resolution\"");
  wrong_override("grid.resolution=many", "whole number");
  wrong_override("grid.resolution", "key=value");
  wrong_override("=3", "key=value");
  wrong_override("a..b=3", "key=value");
  wrong_override("grid.resolution=", "missing");
  wrong_override("grid.resolution=[1", "flow sequence");
  wrong_override("obstacles.7.name=x", "no such item");
  wrong_override("obstacles.disc.name=x", "no such item");
  wrong_override("grid.resolution.fine=3", "nothing below");
  wrong_override("obstacles.0.shape.sphere.radius=-1", "positive");
  wrong_override("fluid.scalars.0.name=heat", "names must differ");
}

static void same_formula(Formula a, Formula b)
{
  assert_string_equal(formula_text(a), formula_text(b));
  assert_int_equal(!a, !b);
}

static void same_fluid(const FluidConfig *a, const FluidConfig *b)
{
  assert_near(a->density, b->density, 0);
  assert_near(a->viscosity, b->viscosity, 0);
  for (PetscInt d = 0; d < DIM; d++) {
    same_formula(a->body_force[d], b->body_force[d]);
    same_formula(a->initial_velocity[d], b->initial_velocity[d]);
    for (PetscInt end = 0; end < 2; end++) {
      assert_int_equal(a->sides[d][end].kind, b->sides[d][end].kind);
      for (PetscInt e = 0; e < DIM; e++)
        same_formula(a->sides[d][end].velocity[e], b->sides[d][end].velocity[e]);
    }
  }
  assert_int_equal(a->scalar_count, b->scalar_count);
  for (PetscInt i = 0; i < a->scalar_count; i++) {
    assert_string_equal(a->scalars[i].name, b->scalars[i].name);
    assert_near(a->scalars[i].diffusivity, b->scalars[i].diffusivity, 0);
    same_formula(a->scalars[i].initial, b->scalars[i].initial);
    same_formula(a->scalars[i].inflow, b->scalars[i].inflow);
  }
}

static void same_config(const SimulationConfig *a, const SimulationConfig *b)
{
  assert_string_equal(a->title, b->title);
  assert_memory_equal(&a->grid, &b->grid, sizeof(a->grid));
  assert_memory_equal(&a->parallel, &b->parallel, sizeof(a->parallel));
  assert_memory_equal(&a->run, &b->run, sizeof(a->run));
  same_fluid(&a->fluid, &b->fluid);
  assert_int_equal(a->obstacle_count, b->obstacle_count);
  for (PetscInt i = 0; i < a->obstacle_count; i++) {
    const Vector3 point = vector3(0.31, 0.27, 0);

    assert_string_equal(a->obstacles[i].name, b->obstacles[i].name);
    assert_near(shape_distance(a->obstacles[i].shape, point), shape_distance(b->obstacles[i].shape, point),
                0);
  }
  assert_int_equal(a->solids.body_count, b->solids.body_count);
  for (PetscInt i = 0; i < a->solids.body_count; i++) {
    const Vector3 point = vector3(0.31, 0.27, 0);

    assert_near(shape_distance(a->solids.bodies[i].shape, point),
                shape_distance(b->solids.bodies[i].shape, point), 0);
    assert_near(motion_velocity(a->solids.bodies[i].motion, 0.4, point).at[X],
                motion_velocity(b->solids.bodies[i].motion, 0.4, point).at[X], 0);
  }
  assert_int_equal(a->inflow_count, b->inflow_count);
  for (PetscInt i = 0; i < a->inflow_count; i++) {
    assert_near(a->inflows[i].from, b->inflows[i].from, 0);
    assert_true(a->inflows[i].until == b->inflows[i].until);
    for (PetscInt j = 0; j < a->fluid.scalar_count; j++)
      same_formula(a->inflows[i].scalars[j], b->inflows[i].scalars[j]);
  }
}

static void the_resolved_text_reads_as_the_same_scene(void **state)
{
  static const char *const overrides[] = {"fluid.sides.y_high={type: wall, velocity: [t, 0]}",
                                          "grid.resolution=16"};
  Scene                    scene = read_good(base, 2, overrides);
  Scene                    again = read_good(scene_resolved_text(scene), 0, NULL);

  (void)state;
  same_config(scene_config(scene), scene_config(again));
  assert_string_equal(scene_resolved_text(scene), scene_resolved_text(again));
  assert_non_null(strstr(scene_resolved_text(scene), "pressure_ksp_rtol: 1e-9"));
  assert_non_null(strstr(scene_resolved_text(scene), "pressure_tolerance: 1e-8"));
  assert_non_null(strstr(scene_resolved_text(scene), "resolution: 16"));
  assert_success(SceneDestroy(&scene));
  assert_success(SceneDestroy(&again));
}

static void options_reach_petsc_and_unknown_ones_are_told(void **state)
{
  Scene     scene = read_good(base, 0, NULL);
  PetscReal tolerance = 0;
  PetscBool good;

  (void)state;
  assert_success(SceneSetPetscOptions(scene));
  assert_success(PetscOptionsGetReal(NULL, "pressure_", "-ksp_rtol", &tolerance, NULL));
  assert_near(tolerance, 1e-9, 0);
  assert_success(PetscOptionsSetValue(NULL, "-log_view_memory", NULL));
  assert_success(PetscOptionsSetValue(NULL, "-pressure_mg_levels_ksp_max_it", "3"));
  assert_success(SceneCheckPetscOptions(scene, &good));
  assert_false(good);
  assert_int_equal(scene_problem_count(scene), 1);
  assert_int_equal(scene_problem(scene, 0)->line, 19);
  assert_int_equal(scene_problem(scene, 0)->column, 34);
  assert_non_null(strstr(scene_problem(scene, 0)->message, "-pressure_ksp_monitor"));
  assert_success(PetscOptionsClearValue(NULL, "-pressure_ksp_monitor"));
  assert_success(SceneCheckPetscOptions(scene, &good));
  assert_true(good);
  assert_success(PetscOptionsClearValue(NULL, "-pressure_ksp_rtol"));
  assert_success(SceneDestroy(&scene));
}

TEST_MAIN(cmocka_unit_test(any_key_can_be_set), cmocka_unit_test(an_item_can_be_added),
          cmocka_unit_test(all_sides_can_be_set_at_once),
          cmocka_unit_test(the_message_names_a_wrong_override),
          cmocka_unit_test(the_resolved_text_reads_as_the_same_scene),
          cmocka_unit_test(options_reach_petsc_and_unknown_ones_are_told))
