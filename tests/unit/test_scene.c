#include "harness.h"

#include <millrace/scene.h>

#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MINIMAL                                                                                              \
  "grid: {size: [1, 2, 1], resolution: 8}\n"                                                                 \
  "run: {end_time: 1, frame_interval: 0.1}\n"                                                                \
  "fluid: {density: 1000}\n"

static Scene read_text(const char text[], const char override[])
{
  Scene scene;

  assert_success(SceneReadText(PETSC_COMM_WORLD, "test.yaml", text, override ? 1 : 0, &override, &scene));
  if (!scene_is_good(scene))
    PetscCallAbort(PETSC_COMM_WORLD, SceneReport(scene, stderr));
  assert_on_all_ranks(scene_is_good(scene));
  return scene;
}

static PetscReal value_at(Formula formula, PetscReal x, PetscReal y)
{
  return formula_value(formula, vector3(x, y, 0), 0);
}

static void what_is_left_out_takes_its_default(void **state)
{
  Scene                   scene = read_text(MINIMAL, NULL);
  const SimulationConfig *config = scene_config(scene);

  (void)state;
  assert_on_all_ranks(config->grid.dimension == 3 && config->grid.resolution == 8);
  assert_near(config->grid.size.at[Y], 2, 0);
  assert_on_all_ranks(config->parallel.solid_ranks == -1);
  assert_on_all_ranks(config->fluid.advection == ADVECT_MACCORMACK);
  assert_on_all_ranks(config->fluid.sides[Z][1].kind == SIDE_WALL && !config->grid.periodic[Z]);
  assert_near(config->fluid.pressure_tolerance, 1e-8, 0);
  assert_near(config->run.time_step, 0, 0);
  assert_on_all_ranks(!config->obstacle_count && !config->inflow_count && !config->fluid.scalar_count);
  assert_on_all_ranks(!strcmp(config->title, ""));
  assert_success(SceneDestroy(&scene));
  assert_on_all_ranks(!scene);
}

static void a_plane_scene_takes_vectors_of_two(void **state)
{
  static const char       text[] = "grid: {dimension: 2, size: [2*pi, 2*pi], resolution: 16}\n"
                                   "run: {end_time: 1, frame_interval: 0.1}\n"
                                   "fluid:\n"
                                   "  density: 1\n"
                                   "  initial: {velocity: [sin(x)*cos(y), -cos(x)*sin(y)]}\n"
                                   "  sides: {all: periodic, y_low: slip, y_high: {type: wall, velocity: [x, 0]}}\n"
                                   "obstacles:\n"
                                   "  - {name: disc, shape: {sphere: {center: [1, 1], radius: 0.5}}}\n"
                                   "  - {name: slab, shape: {box: {low: [3, 3], high: [4, 5]}}, surface: slip}\n";
  Scene                   scene = read_text(text, NULL);
  const SimulationConfig *config = scene_config(scene);

  (void)state;
  assert_near(config->grid.size.at[X], 2 * PETSC_PI, 1e-15);
  assert_on_all_ranks(config->grid.periodic[X] && !config->grid.periodic[Y] && !config->grid.periodic[Z]);
  assert_on_all_ranks(config->fluid.sides[Y][0].kind == SIDE_SLIP);
  assert_near(value_at(config->fluid.initial_velocity[X], 1, 2), sin(1.) * cos(2.), 1e-15);
  assert_near(value_at(config->fluid.sides[Y][1].velocity[X], 3, 0), 3, 0);
  assert_near(shape_distance(config->solids.bodies[0].shape, vector3(1, 2, 0)), 0.5, 1e-14);
  assert_near(shape_distance(config->solids.bodies[1].shape, vector3(3.5, 4, 0)), -0.5, 1e-14);
  assert_on_all_ranks(config->solids.bodies[1].surface == BODY_SLIP);
  assert_on_all_ranks(config->solids.bodies[1].kind == BODY_STATIC);
  assert_success(SceneDestroy(&scene));
}

static void scalars_and_inflows_meet_by_name(void **state)
{
  static const char text[] =
      "grid: {size: [1, 2, 1], resolution: 8}\n"
      "run: {end_time: 1, frame_interval: 0.1}\n"
      "fluid:\n"
      "  density: 1\n"
      "  gravity: [0, -9.81, 0]\n"
      "  scalars:\n"
      "    - {name: smoke, initial: y}\n"
      "    - {name: heat, expansion: 0.01, reference: 20, decay: 1e-3, diffusivity: 2e-5}\n"
      "inflows:\n"
      "  - name: vent\n"
      "    shape: {cylinder: {from: [0.5, 0, 0.5], to: [0.5, 0.2, 0.5], radius: 0.1}}\n"
      "    scalars: {heat: 60+x}\n"
      "    until: 3\n";
  Scene                   scene = read_text(text, NULL);
  const SimulationConfig *config = scene_config(scene);
  const InflowConfig     *inflow = &config->inflows[0];

  (void)state;
  assert_on_all_ranks(config->fluid.scalar_count == 2 && config->inflow_count == 1);
  assert_near(value_at(config->fluid.scalars[0].initial, 0, 5), 5, 0);
  assert_near(config->fluid.scalars[1].expansion, 0.01, 0);
  assert_near(config->fluid.scalars[1].diffusivity, 2e-5, 0);
  assert_on_all_ranks(!inflow->scalars[0] && inflow->scalars[1] && !inflow->velocity[X]);
  assert_near(value_at(inflow->scalars[1], 2, 0), 62, 0);
  assert_near(inflow->from, 0, 0);
  assert_near(inflow->until, 3, 0);
  assert_success(SceneDestroy(&scene));
}

static void shapes_combine_and_move(void **state)
{
  static const char text[] = MINIMAL
      "obstacles:\n"
      "  - name: bowl\n"
      "    shape:\n"
      "      difference:\n"
      "        - sphere: {center: [0.5, 1, 0.5], radius: 0.4}\n"
      "        - union:\n"
      "            - plane: {point: [0, 1, 0], normal: [0, -1, 0]}\n"
      "            - sphere: {center: [0.5, 1, 0.5], radius: 0.3}\n"
      "    motion: {pivot: [0.5, 1, 0.5], velocity: [0, 0.1, 0], spin: [0, 2, 0]}\n"
      "  - name: ring\n"
      "    shape: {torus: {center: [0.5, 0.5, 0.5], axis: [0, 1, 0], major: 0.3, minor: 0.1}}\n"
      "    motion:\n"
      "      keyframes:\n"
      "        - {time: 0}\n"
      "        - {time: 2, translation: [0, 1, 0]}\n"
      "  - name: lift\n"
      "    shape: {sphere: {center: [0.5, 0.5, 0.5], radius: 0.1}}\n"
      "    motion: {keyframes: [{time: 0}, {time: 2, translation: [0, 1, 0]}], interpolation: smooth}\n"
      "  - {name: hat, shape: {cone: {base: [0, 0, 0], tip: [0, 0, 1], radius: 1}}}\n";
  Scene                   scene = read_text(text, NULL);
  const SimulationConfig *config = scene_config(scene);
  const BodyConfig       *bodies;

  (void)state;
  assert_int_equal(config->obstacle_count, 0); /* they are bodies */
  assert_int_equal(config->solids.body_count, 4);
  bodies = config->solids.bodies;
  assert_on_all_ranks(bodies[0].kind == BODY_KINEMATIC && bodies[1].kind == BODY_KINEMATIC);
  assert_on_all_ranks(shape_distance(bodies[0].shape, vector3(0.5, 0.65, 0.5)) < 0);
  assert_on_all_ranks(shape_distance(bodies[0].shape, vector3(0.5, 0.8, 0.5)) > 0);
  assert_on_all_ranks(shape_distance(bodies[0].shape, vector3(0.5, 1.35, 0.5)) > 0);
  assert_on_all_ranks(bodies[3].kind == BODY_STATIC);
  assert_near(shape_distance(bodies[3].shape, vector3(1, 0, 1)), PetscSqrtReal(0.5), 1e-14);
  assert_near(motion_velocity(bodies[0].motion, 0, vector3(1.5, 1, 0.5)).at[Z], -2, 1e-14);
  assert_near(motion_velocity(bodies[0].motion, 0, vector3(1.5, 1, 0.5)).at[Y], 0.1, 1e-14);
  assert_near(motion_pose(bodies[1].motion, 2).translation.at[Y], 1, 1e-14);
  assert_near(motion_pose(bodies[1].motion, 0.5).translation.at[Y], 0.25, 1e-14);
  assert_near(motion_pose(bodies[2].motion, 0.5).translation.at[Y], 0.15625, 1e-14); /* s^2 (3 - 2 s) */
  assert_success(SceneDestroy(&scene));
}

/* Their faces are cut only where the scene says so. */
static void stand_as_voxels(const char text[])
{
  Scene scene = read_text(text, NULL);

  assert_int_equal(scene_config(scene)->obstacle_count, 1);
  assert_success(SceneDestroy(&scene));
  scene = read_text(text, "fluid.obstacles=cut");
  assert_int_equal(scene_config(scene)->obstacle_count, 0);
  assert_int_equal(scene_config(scene)->solids.body_count, 1);
  assert_success(SceneDestroy(&scene));
}

static void obstacles_are_voxels_beside_regions_and_scalars(void **state)
{
  (void)state;
  stand_as_voxels("grid: {size: [1, 2, 1], resolution: 8}\n"
                  "run: {end_time: 1, frame_interval: 0.1}\n"
                  "regions: [{name: water, density: 1000, shape: {box: {low: [0, 0, 0], high: [1, 1, 1]}}},\n"
                  "  {name: air, type: empty}]\n"
                  "obstacles: [{name: ball, shape: {sphere: {center: [0.5, 0.5, 0.5], radius: 0.2}}}]\n");
  stand_as_voxels("grid: {size: [1, 2, 1], resolution: 8}\n"
                  "run: {end_time: 1, frame_interval: 0.1}\n"
                  "fluid: {density: 1, scalars: [{name: smoke}]}\n"
                  "obstacles: [{name: ball, shape: {sphere: {center: [0.5, 0.5, 0.5], radius: 0.2}}}]\n");
}

/* The same one-triangle-pyramid as ASCII STL, next to a scene that names it without a directory. */
static void write_file(const char name[], const char text[])
{
  FILE *file = harness_rank() ? NULL : fopen(name, "w");

  if (file) {
    fputs(text, file);
    fclose(file);
  }
  (void)MPI_Barrier(PETSC_COMM_WORLD);
}

static void file_names_are_relative_to_the_scene(void **state)
{
  static const char pyramid[] = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n";
  static const char text[] =
      MINIMAL "obstacles: [{name: rock, shape: {surface: {file: pyramid.obj, scale: 0.5, "
              "translate: [0.2, 0.3, 0.4]}}}]\n";
  Scene   scene, again;
  Vector3 low, high;

  (void)state;
  if (!harness_rank())
    assert_int_equal(system("mkdir -p test_scene.dir"), 0);
  write_file("test_scene.dir/pyramid.obj", pyramid);
  write_file("test_scene.dir/scene.yaml", text);
  assert_success(SceneRead(PETSC_COMM_WORLD, "test_scene.dir/scene.yaml", 0, NULL, &scene));
  assert_on_all_ranks(scene_is_good(scene));
  shape_bounds(scene_config(scene)->obstacles[0].shape, &low, &high);
  assert_near(low.at[Y], 0.3, 1e-14);
  assert_near(high.at[Z], 0.9, 1e-14);
  /* the resolved text knows the place, wherever it is read */
  again = read_text(scene_resolved_text(scene), NULL);
  assert_success(SceneDestroy(&again));
  assert_success(SceneDestroy(&scene));
  (void)MPI_Barrier(PETSC_COMM_WORLD);
  if (!harness_rank())
    assert_int_equal(system("rm -r test_scene.dir"), 0);
}

/* A box of 1 x 1.03 x 0.65 m in cells of 0.125 m. */
static void sides_are_fitted_to_whole_cells(void **state)
{
  static const char        text[] = "grid: {size: [1, 1.03, 0.65], resolution: 8, fit: grow}\n"
                                    "run: {end_time: 1, frame_interval: 0.1}\n"
                                    "fluid: {density: 1000}\n";
  static const char *const shrink = "grid.fit=shrink";
  Scene                    scene = read_text(text, NULL), again = read_text(scene_resolved_text(scene), NULL);

  (void)state;
  assert_near(scene_config(scene)->grid.size.at[Y], 1.125, 1e-15);
  assert_near(scene_config(scene)->grid.size.at[Z], 0.75, 1e-15);
  assert_near(scene_config(again)->grid.size.at[Y], 1.125, 0);
  assert_success(SceneDestroy(&again));
  assert_success(SceneDestroy(&scene));
  scene = read_text(text, shrink);
  assert_near(scene_config(scene)->grid.size.at[Y], 1, 1e-15);
  assert_near(scene_config(scene)->grid.size.at[Z], 0.625, 1e-15);
  assert_success(SceneDestroy(&scene));
}

static void materials_have_their_usual_properties(void **state)
{
  static const char text[] =
      "grid: {size: [1, 1, 1], resolution: 8}\n"
      "run: {end_time: 1, frame_interval: 0.1}\n"
      "fluid: {material: water@25C}\n"
      "solids: {bodies: [{name: a, material: steel, shape: {sphere: {center: [0.5, 0.5, 0.5], radius: "
      "0.1}}},\n"
      "  {name: b, material: ice, density: 900, shape: {sphere: {center: [0.2, 0.2, 0.2], radius: 0.1}}}]}\n";
  static const char *const air = "fluid.material=air@0C";
  Scene                    scene = read_text(text, NULL), again = read_text(scene_resolved_text(scene), air);

  (void)state;
  /* of the tables of IAPWS: 997.05 kg/m^3 and 0.8900 mPa s at 25 degrees */
  assert_near(scene_config(scene)->fluid.density, 997.05, 0.2);
  assert_near(scene_config(scene)->fluid.viscosity, 0.8900e-3, 0.006e-3);
  assert_near(scene_config(scene)->solids.bodies[0].density, 7850, 0);
  assert_near(scene_config(scene)->solids.bodies[1].density, 900, 0);
  assert_near(scene_config(again)->fluid.density, 1.2925,
              1e-3); /* what is overridden counts, also in a resolved scene */
  assert_near(scene_config(again)->fluid.viscosity, 1.716e-5, 1e-8);
  assert_success(SceneDestroy(&again));
  assert_success(SceneDestroy(&scene));
}

/* In the plane what turns, turns about z. */
static void a_plane_scene_turns_about_z(void **state)
{
  static const char text[] =
      "grid: {dimension: 2, size: [1, 1], resolution: 8}\n"
      "run: {end_time: 1, frame_interval: 0.1}\n"
      "fluid: {density: 1}\n"
      "obstacles: [{name: flap, shape: {box: {low: [0.2, 0.4], high: [0.4, 0.6]}},\n"
      "  motion: {pivot: [0.3, 0.5], rotation: [0, 0, \"0.5*sin(t)\"]}},\n"
      "  {name: wheel, shape: {sphere: {center: [0.5, 0.8], radius: 0.1}}, motion: {spin: [0, 0, 2]}}]\n"
      "solids: {bodies: [{name: rotor, shape: {sphere: {center: [0.7, 0.5], radius: 0.1}}, load_axes: body,\n"
      "  force: [\"2*t\", 0], torque: [0, 0, \"sin(t)\"]}]}\n";
  Scene             scene = read_text(text, NULL);
  const BodyConfig *bodies = scene_config(scene)->solids.bodies;

  (void)state;
  assert_near(motion_pose(bodies[1].motion, 0).spin.at[Z], 0.5, 1e-14);
  assert_near(motion_pose(bodies[2].motion, 0).spin.at[Z], 2, 0);
  assert_near(formula_value(bodies[0].torque[Z], vector3(0, 0, 0), 1), PetscSinReal(1), 1e-15);
  assert_on_all_ranks(bodies[0].load_axes == LOAD_AXES_BODY);
  assert_success(SceneDestroy(&scene));
}

static void windows_text_is_text(void **state)
{
  Scene scene = read_text("\xef\xbb\xbfgrid: {size: [1, 2, 1], resolution: 8}\r\nrun:\r\n  end_time: 1\r\n"
                          "  frame_interval: 0.1\r\nfluid: {density: 1000}\r\n",
                          NULL);

  (void)state;
  assert_near(scene_config(scene)->run.frame_interval, 0.1, 0);
  assert_success(SceneDestroy(&scene));
}

static void a_missing_file_is_an_error_on_all_ranks(void **state)
{
  Scene scene;

  (void)state;
  assert_success(SceneRead(PETSC_COMM_WORLD, "no-such-scene.yaml", 0, NULL, &scene));
  assert_on_all_ranks(!scene_is_good(scene) && scene_problem_count(scene) == 1 && !scene_config(scene));
  assert_success(SceneDestroy(&scene));
}

static void only_the_first_rank_needs_the_text(void **state)
{
  Scene scene;

  (void)state;
  assert_success(SceneReadText(PETSC_COMM_WORLD, "test", harness_rank() ? NULL : MINIMAL, 0, NULL, &scene));
  assert_on_all_ranks(scene_is_good(scene) && scene_config(scene)->grid.resolution == 8);
  assert_success(SceneDestroy(&scene));
}

/* Good, and what a checkpoint keeps of it reads as the same scene. */
static void is_good_and_resolved(const char path[])
{
  Scene scene, again;

  assert_success(SceneRead(PETSC_COMM_WORLD, path, 0, NULL, &scene));
  PetscCallAbort(PETSC_COMM_WORLD, SceneReport(scene, stderr));
  assert_on_all_ranks(scene_is_good(scene));
  assert_success(SceneReadText(PETSC_COMM_WORLD, path, scene_resolved_text(scene), 0, NULL, &again));
  PetscCallAbort(PETSC_COMM_WORLD, SceneReport(again, stderr));
  assert_on_all_ranks(scene_is_good(again) &&
                      !strcmp(scene_resolved_text(scene), scene_resolved_text(again)));
  assert_success(SceneDestroy(&again));
  assert_success(SceneDestroy(&scene));
}

static void every_scene_of_the_tree_is_good(void **state)
{
  const char *source = getenv("MILLRACE_SOURCE");
  char        pattern[PETSC_MAX_PATH_LEN];
  glob_t      found;

  (void)state;
  snprintf(pattern, sizeof(pattern), "%s/inputs/*/*.yaml", source ? source : ".");
  assert_int_equal(glob(pattern, 0, NULL, &found), 0);
  for (size_t i = 0; i < found.gl_pathc; i++)
    is_good_and_resolved(found.gl_pathv[i]);
  globfree(&found);
}

TEST_MAIN(cmocka_unit_test(what_is_left_out_takes_its_default),
          cmocka_unit_test(a_plane_scene_takes_vectors_of_two),
          cmocka_unit_test(scalars_and_inflows_meet_by_name),
          cmocka_unit_test(obstacles_are_voxels_beside_regions_and_scalars),
          cmocka_unit_test(shapes_combine_and_move), cmocka_unit_test(file_names_are_relative_to_the_scene),
          cmocka_unit_test(sides_are_fitted_to_whole_cells),
          cmocka_unit_test(materials_have_their_usual_properties),
          cmocka_unit_test(a_plane_scene_turns_about_z), cmocka_unit_test(windows_text_is_text),
          cmocka_unit_test(a_missing_file_is_an_error_on_all_ranks),
          cmocka_unit_test(only_the_first_rank_needs_the_text),
          cmocka_unit_test(every_scene_of_the_tree_is_good))
