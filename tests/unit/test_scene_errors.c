/* Every kind of mistake, by its place: line, column, and a word of the message. */
#include "harness.h"

#include <millrace/scene.h>

#include <stdio.h>
#include <string.h>

#define GRID "grid: {size: [1, 2, 1], resolution: 8}\n"
#define RUN "run: {end_time: 1, frame_interval: 0.1}\n"
#define FLUID "fluid: {density: 1000}\n"

typedef struct {
  int         line, column;
  const char *word;
} Expected;

static Scene read_text(const char text[])
{
  Scene scene;

  assert_success(SceneReadText(PETSC_COMM_WORLD, "test.yaml", text, 0, NULL, &scene));
  return scene;
}

static void check_problems(const char text[], ProblemSeverity severity, int count, const Expected expected[])
{
  Scene scene = read_text(text);
  int   found = 0;

  for (PetscInt i = 0; i < scene_problem_count(scene); i++) {
    const SceneProblem *problem = scene_problem(scene, i);

    if (found >= count || problem->line != expected[found].line ||
        problem->column != expected[found].column || !strstr(problem->message, expected[found].word) ||
        problem->severity != severity)
      fail_msg("unexpected problem at %d:%d: %s", (int)problem->line, (int)problem->column, problem->message);
    found++;
  }
  assert_int_equal(found, count);
  assert_int_equal(scene_is_good(scene), severity == PROBLEM_WARNING);
  assert_success(SceneDestroy(&scene));
}

static void one_error(const char text[], int line, int column, const char word[])
{
  check_problems(text, PROBLEM_ERROR, 1, &(Expected){line, column, word});
}

static void one_warning(const char text[], int line, int column, const char word[])
{
  check_problems(text, PROBLEM_WARNING, 1, &(Expected){line, column, word});
}

static void text_that_is_no_yaml(void **state)
{
  (void)state;
  one_error("", 1, 1, "empty");
  one_error("just words\n", 1, 1, "block of keys");
  one_error("[1, 2]\n", 1, 1, "not a list");
  one_error(GRID RUN "fluid: {density: 1\n", 4, 1, "flow mapping");
  one_error(GRID RUN FLUID "run: {end_time: 1}\n", 4, 1, "given twice (first in line 2)");
  one_error(GRID RUN FLUID "--- {}\n", 4, 5, "one document");
  one_error(GRID RUN "fluid: {density: 1, viscosity: *nu}\n", 3, 32, "anchor");
  one_error(GRID RUN "fluid: &f {density: *f}\n", 3, 21, "anchor");
  one_error(GRID RUN FLUID "? {a: 1}\n: 2\n", 4, 3, "a key must be a word");
  one_error("&a title: t\nother: *a\n" GRID RUN FLUID, 2, 8, "anchor that is not there");
}

static void text_that_libfyaml_must_not_see(void **state)
{
  (void)state;
  one_error(GRID "a: \xff\n", 2, 4, "not UTF-8");
  one_error(GRID "a: \xe4\n", 2, 4, "not UTF-8");
  one_error(GRID "a: \xc0\xaf\n", 2, 4, "not UTF-8");
  one_error(GRID "# \xe4\xbd\xa0 \x07\n", 2, 5, "may not stand");
  one_error("%YAML 1.2\n---\n" GRID RUN FLUID, 1, 1, "directives");
}

static void keys_that_are_unknown(void **state)
{
  (void)state;
  one_error("grid: {size: [1, 2, 1], resolution: 8, orgin: [0, 0, 0]}\n" RUN FLUID, 1, 40, "\"origin\"");
  one_error(GRID RUN FLUID "obstacle: []\n", 4, 1, "\"obstacles\"");
  one_error(GRID RUN FLUID "weather: fine\n", 4, 1, "there are title, grid");
}

static void keys_that_are_missing(void **state)
{
  (void)state;
  one_error("grid: {size: [1, 2, 1]}\n" RUN FLUID, 1, 1, "grid.resolution is missing");
  one_error(GRID "run: {end_time: 1}\n" FLUID, 2, 1, "run.frame_interval is missing");
  one_error(GRID RUN, 1, 1, "fluid.density is missing");
  one_error(GRID RUN FLUID "obstacles:\n  - name: a\n", 5, 5, "obstacles[0].shape is missing");
}

static void values_of_the_wrong_type(void **state)
{
  (void)state;
  one_error(GRID RUN "fluid: {density: 1, viscosity: 1e-3s}\n", 3, 32, "must be a number");
  one_error(GRID RUN "fluid: {density: nan}\n", 3, 18, "must be a number");
  one_error(GRID RUN "fluid: {density: inf}\n", 3, 18, "must be a number");
  one_error(GRID RUN "fluid: {density: x}\n", 3, 18, "cannot depend on x");
  one_error(GRID RUN "fluid: {density: [1]}\n", 3, 18, "not a list");
  one_error(GRID RUN "fluid: {density: }\n", 3, 9, "has no value");
  one_error(GRID RUN "fluid: 7\n", 3, 8, "must be a block of keys");
  one_error("grid: {size: [1, 2, 1], resolution: 8.5}\n" RUN FLUID, 1, 37, "whole number");
  one_error("grid: {size: [1, 2, 1], resolution: 99999999999999999999}\n" RUN FLUID, 1, 37, "too large");
  one_error("grid: {size: [1, 2], resolution: 8}\n" RUN FLUID, 1, 14, "three numbers, not of 2");
  one_error("grid: {size: [1, two, 1], resolution: 8}\n" RUN FLUID, 1, 18, "grid.size[1]");
  one_error(GRID RUN "fluid: {density: 1, body_force: [0, 2*, 0]}\n", 3, 37, "ends");
  one_error(GRID RUN FLUID "obstacles: {name: a}\n", 4, 12, "must be a list");
  one_error(GRID RUN FLUID "petsc: {a: [1]}\n", 4, 12, "single value");
  one_error(GRID RUN FLUID "petsc: {1a: 1}\n", 4, 9, "PETSc option");
}

static void values_out_of_range(void **state)
{
  (void)state;
  one_error(GRID RUN "fluid: {density: -1}\n", 3, 18, "positive, not -1");
  one_error(GRID RUN "fluid: {density: 1, viscosity: -1}\n", 3, 32, "not be negative");
  one_error(GRID RUN "fluid: {density: 1, cfl: 100}\n", 3, 26, "between 0.01 and 2");
  one_error("grid: {size: [1, 2, 0], resolution: 8}\n" RUN FLUID, 1, 21, "grid.size[2] must be positive");
  one_error("grid: {dimension: 4, size: [1, 2, 1], resolution: 8}\n" RUN FLUID, 1, 19, "between 2 and 3");
  one_error("grid: {size: [1, 2, 1], resolution: 0}\n" RUN FLUID, 1, 37, "grid.resolution");
  one_error(GRID RUN "fluid: {density: 1, advection: maccormak}\n", 3, 32, "did you mean \"maccormack\"");
  one_error(GRID RUN "fluid: {density: 1, advection: upwind}\n", 3, 32,
            "semi-lagrangian, maccormack, weno5, central or none");
}

static void cells_that_do_not_fit(void **state)
{
  (void)state;
  one_error("grid: {size: [1, 2.03, 1], resolution: 8}\n" RUN FLUID, 1, 18, "the nearest is 2");
  one_error("grid: {size: [1, 2, 0.01], resolution: 8}\n" RUN FLUID, 1, 21, "the nearest is 0.125");
  one_error("grid: {dimension: 2, size: [1, 2], origin: [0, 0, 1], resolution: 8}\n" RUN FLUID, 1, 51,
            "must be 0");
  one_error("grid: {size: [1, 1e300, 1], resolution: 8}\n" RUN FLUID, 1, 14, "more than");
}

static void sides_that_do_not_fit(void **state)
{
  (void)state;
  one_error(GRID RUN "fluid: {density: 1, sides: {x_low: periodic}}\n", 3, 29, "x_high is not");
  one_error(GRID RUN "fluid: {density: 1, sides: {x_low: inflow, x_high: open}}\n", 3, 29,
            "needs a velocity");
  one_error(GRID RUN "fluid: {density: 1, sides: {x_low: {type: open, velocity: [1, 0, 0]}}}\n", 3, 49,
            "takes no velocity");
  one_error(GRID RUN "fluid: {density: 1, sides: {x_low: {type: inflow, velocity: [1, 0, 0]}}}\n", 3, 29,
            "cannot leave");
  one_error(GRID RUN "fluid: {density: 1, sides: {all: wal}}\n", 3, 34, "did you mean \"wall\"");
  one_error(GRID RUN "fluid: {density: 1, sides: {left: wall}}\n", 3, 29, "x_low");
  one_error("grid: {dimension: 2, size: [1, 2], resolution: 8}\n" RUN
            "fluid: {density: 1, sides: {z_low: open}}\n",
            3, 29, "no such side");
}

static void motion_out_of_the_plane(void **state)
{
  static const char plane[] = "grid: {dimension: 2, size: [1, 2], resolution: 8}\n" RUN;
  char              text[512];

  (void)state;
  snprintf(text, sizeof(text), "%sfluid: {density: 1, gravity: [0, 0, -9.81]}\n", plane);
  one_error(text, 3, 37, "gravity along z");
  snprintf(text, sizeof(text), "%sfluid: {density: 1, body_force: [0, 0, 1]}\n", plane);
  one_error(text, 3, 40, "must be 0 in two dimensions");
  snprintf(text, sizeof(text), "%sfluid: {density: 1, body_force: [z, 0]}\n", plane);
  one_error(text, 3, 34, "uses z");
  snprintf(text, sizeof(text),
           "%sfluid: {density: 1}\nobstacles: [{name: a, shape: {sphere: {center: [0.5, 0.5], radius: 0.1}},"
           " motion: {spin: [1, 0, 0]}}]\n",
           plane);
  one_error(text, 4, 75, "turn about z");
}

static void times_that_do_not_fit(void **state)
{
  (void)state;
  one_warning(GRID "run: {end_time: 1, frame_interval: 2}\n" FLUID, 2, 36, "longer than the run");
  one_error(GRID "run: {end_time: 1, frame_interval: 0}\n" FLUID, 2, 36, "positive");
  one_error(GRID "run: {end_time: 1, frame_interval: 1e-9}\n" FLUID, 2, 36, "million");
  one_error(GRID "run: {end_time: 1, frame_interval: 0.5, time_step: 0.1, largest_time_step: 0.05}\n" FLUID,
            2, 52, "largest_time_step");
}

static void shapes_that_cannot_be(void **state)
{
  static const struct {
    const char *shape;
    int         column;
    const char *word;
  } cases[] = {
      {"sphere", 30, "must be a block such as"},
      {"{}", 23, "must have one key"},
      {"{spere: {radius: 1}}", 31, "did you mean \"sphere\""},
      {"{sphere: {center: [0.5, 0.5, 0.5]}}", 31, "sphere.radius is missing"},
      {"{sphere: {center: [0.5, 0.5, 0.5], radius: 0}}", 73, "positive"},
      {"{sphere: {center: [0, 0, 0], radius: 1}, box: {}}", 23, "union"},
      {"{box: {low: [0, 0, 0], high: [1, 0, 1]}}", 59, "above \"low\""},
      {"{cylinder: {from: [0, 0, 0], to: [0, 0, 0], radius: 1}}", 63, "differ from"},
      {"{cone: {base: [1, 2, 3], tip: [1, 2, 3], radius: 1}}", 60, "differ from"},
      {"{torus: {center: [0, 0, 0], axis: [0, 0, 0], major: 2, minor: 1}}", 64, "not be zero"},
      {"{torus: {center: [0, 0, 0], axis: [0, 0, 1], major: 1, minor: 2}}", 92, "smaller"},
      {"{plane: {point: [0, 0, 0], normal: [0, 0, 0]}}", 65, "not be zero"},
      {"{surface: {file: no-such-file.stl}}", 47, "no-such-file.stl"},
      {"{surface: {file: /dev/null}}", 47, "not a file"},
      {"{union: []}", 38, "not be empty"},
      {"{difference: [{box: 1}]}", 50, "block of keys"},
  };

  (void)state;
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    char text[512];

    snprintf(text, sizeof(text), GRID RUN FLUID "obstacles: [{name: a, shape: %s}]\n", cases[i].shape);
    one_error(text, 4, cases[i].column, cases[i].word);
  }
}

/* Found by fuzzing: the box was taken as checked and then refused as an error of ours. */
static void shapes_in_a_grid_that_is_wrong_itself(void **state)
{
  (void)state;
  check_problems("grid: {dimension: 5, size: [1, 1, 1], resolution: 8}\n" RUN FLUID
                 "obstacles: [{name: a, shape: {box: {low: [0, 5, 0], high: [1, 1, 1]}}}]\n",
                 PROBLEM_ERROR, 2, (const Expected[]){{1, 19, "dimension"}, {4, 59, "above \"low\""}});
  check_problems("grid: {dimension: 2, size: [0, 0], resolution: 8}\n" RUN FLUID
                 "obstacles: [{name: a, shape: {box: {low: [0, 0], high: [1, 1]}}}]\n",
                 PROBLEM_ERROR, 2, (const Expected[]){{1, 29, "positive"}, {1, 32, "positive"}});
}

#define OBSTACLE "shape: {sphere: {center: [0.5, 0.5, 0.5], radius: 0.1}}"

static void obstacles_that_do_not_fit(void **state)
{
  static const Expected late[] = {{7, 16, "must be later than 1"}, {8, 16, "must be later than 1"}};

  (void)state;
  one_error(GRID RUN FLUID "obstacles:\n  - {name: a, " OBSTACLE "}\n  - {name: a, " OBSTACLE "}\n", 6, 12,
            "names must differ");
  one_error(GRID RUN FLUID "obstacles:\n  - {name: a b, " OBSTACLE "}\n", 5, 12, "letters");
  one_error(GRID RUN FLUID "obstacles:\n  - {name: a, " OBSTACLE
                           ", motion: {spin: [0, 0, 1], keyframes: [{time: 0}]}}\n",
            5, 98, "keep one");
  one_error(GRID RUN FLUID "obstacles:\n  - {name: a, " OBSTACLE
                           ", motion: {keyframes: [{time: 0}], translation: [t, 0, 0]}}\n",
            5, 81, "keep one");
  one_error(GRID RUN FLUID "obstacles:\n  - {name: a, " OBSTACLE
                           ", motion: {spin: [0, 0, 1], interpolation: smooth}}\n",
            5, 98, "between keyframes");
  one_error(GRID RUN FLUID "obstacles:\n  - {name: a, " OBSTACLE ", motion: {velocity: [y, 0, 0]}}\n", 5, 92,
            "a formula of t alone");
  one_error(GRID RUN FLUID "obstacles:\n  - {name: a, " OBSTACLE ", motion: {spin: [t, t, 0]}}\n", 5, 87,
            "or give rotation");
  one_error(GRID RUN FLUID "obstacles:\n  - {name: a, " OBSTACLE ", motion: {velocity: [1/t, 0, 0]}}\n", 5,
            80, "no finite place or velocity");
  check_problems(GRID RUN FLUID "obstacles:\n  - {name: a, " OBSTACLE
                                ", motion: {keyframes: [\n      {time: 1},\n"
                                "        {time: 1},\n        {time: 0.5}]}}\n",
                 PROBLEM_ERROR, 2, late);
  one_warning(GRID RUN FLUID
              "obstacles:\n  - {name: a, shape: {sphere: {center: [5, 0.5, 0.5], radius: 0.1}}}\n",
              5, 15, "outside the box");
}

static void inflows_that_do_not_fit(void **state)
{
#define SMOKE GRID RUN "fluid: {density: 1, scalars: [{name: smoke}]}\n"
  (void)state;
  one_error(SMOKE "inflows:\n  - {name: a, " OBSTACLE ", scalars: {smoek: 1}}\n", 5, 82,
            "did you mean \"smoke\"");
  one_error(SMOKE "inflows:\n  - {name: a, " OBSTACLE ", scalars: {dye: 1}}\n", 5, 82,
            "fluid.scalars has no \"dye\"");
  one_error(SMOKE "inflows:\n  - {name: a, " OBSTACLE ", scalars: {smoke: 1}, from: 2, until: 1}\n", 5, 109,
            "later");
  one_error(
      SMOKE
      "inflows:\n  - {name: a, shape: {sphere: {center: [5, 0.5, 0.5], radius: 0.1}}, velocity: [0, 1, 0]}\n",
      5, 15, "outside the box");
  one_warning(SMOKE "inflows:\n  - {name: a, " OBSTACLE "}\n", 5, 5, "no effect");
  one_error(GRID RUN "fluid: {density: 1, scalars: [{name: pressure}]}\n", 3, 38, "field of its own");
  one_warning(GRID RUN "fluid: {density: 1, scalars: [{name: heat, expansion: 1}]}\n", 3, 55,
              "without fluid.gravity");
}

static void materials_that_are_not_known(void **state)
{
  (void)state;
  one_error(GRID RUN "fluid: {material: watre}\n", 3, 19, "did you mean \"water\"");
  one_error(GRID RUN "fluid: {material: steel}\n", 3, 19, "there is no fluid \"steel\"");
  one_error(GRID RUN "fluid: {material: water@120C}\n", 3, 19, "from 0 to 100 degrees");
  one_error(GRID RUN "fluid: {material: water}\nregions:\n  - {name: a, density: 1, shape: {sphere: {center: "
                     "[0.5, 0.5, 0.5], radius: 0.2}}}\n  - {name: b, type: empty}\n",
            3, 9, "beside regions");
  one_error(GRID RUN "fluid: {material: water@20F}\n", 3, 19, "such as water@20C");
  one_error(GRID RUN "fluid: {material: [water]}\n", 3, 19, "a name");
  one_error(GRID RUN FLUID "solids: {bodies: [{name: a, material: water, " OBSTACLE "}]}\n", 4, 39,
            "there is no solid \"water\"");
}

static void all_mistakes_are_told_in_one_run(void **state)
{
  static const char     text[] = "title: many\n"
                                 "grid:\n"
                                 "  size: [1, 2.03, 1]\n"
                                 "  resolution: 8\n"
                                 "  colour: red\n"
                                 "run: {end_time: -1}\n"
                                 "fluid:\n"
                                 "  density: heavy\n"
                                 "  advection: magic\n"
                                 "  sides: {y_low: periodic}\n"
                                 "obstacles:\n"
                                 "  - {name: a, shape: {ball: {}}}\n";
  static const Expected expected[] = {{3, 13, "nearest is 2"}, {5, 3, "colour"},    {6, 1, "frame_interval"},
                                      {6, 17, "positive"},     {8, 12, "density"},  {9, 14, "magic"},
                                      {10, 11, "periodic"},    {12, 23, "\"ball\""}};

  (void)state;
  check_problems(text, PROBLEM_ERROR, 8, expected);
}

TEST_MAIN(cmocka_unit_test(materials_that_are_not_known), cmocka_unit_test(text_that_is_no_yaml),
          cmocka_unit_test(text_that_libfyaml_must_not_see), cmocka_unit_test(keys_that_are_unknown),
          cmocka_unit_test(keys_that_are_missing), cmocka_unit_test(values_of_the_wrong_type),
          cmocka_unit_test(values_out_of_range), cmocka_unit_test(cells_that_do_not_fit),
          cmocka_unit_test(sides_that_do_not_fit), cmocka_unit_test(motion_out_of_the_plane),
          cmocka_unit_test(times_that_do_not_fit), cmocka_unit_test(shapes_that_cannot_be),
          cmocka_unit_test(shapes_in_a_grid_that_is_wrong_itself),
          cmocka_unit_test(obstacles_that_do_not_fit), cmocka_unit_test(inflows_that_do_not_fit),
          cmocka_unit_test(all_mistakes_are_told_in_one_run))
