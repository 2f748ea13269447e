/* Bodies, pairs and joints in scenes: what is read, what is left to be worked out, and every mistake. */
#include "harness.h"

#include <millrace/scene.h>

#include <math.h>
#include <string.h>

#define RUN "run: {end_time: 1, frame_interval: 0.1}\n"
#define BALL "{name: ball, shape: {sphere: {center: [0, 0, 1], radius: 0.5}}"
#define SOLIDS RUN "solids:\n  bodies:\n"
/* two bodies, one of them fourfold, from line 4 on */
#define BODIES                                                                                               \
  SOLIDS "    - " BALL "}\n"                                                                                 \
         "    - {name: link, friction: 0.5, shape: {box: {low: [2, 0, 0], high: [3, 1, 1]}}, "               \
         "copies: {count: [4, 1, 1], step: [2, 0, 0]}}\n"
#define JOINT(keys) BODIES "  joints:\n    - {name: pin, anchor: [0, 0, 0], " keys "}\n"

static Scene read_text(const char text[])
{
  Scene scene;

  assert_success(SceneReadText(PETSC_COMM_WORLD, "test.yaml", text, 0, NULL, &scene));
  return scene;
}

static Scene good_scene(const char text[])
{
  Scene scene = read_text(text);

  if (!scene_is_good(scene))
    fail_msg("%s", scene_problem(scene, 0)->message);
  return scene;
}

static void one_problem(const char text[], ProblemSeverity severity, int line, const char word[])
{
  Scene               scene = read_text(text);
  const SceneProblem *problem = scene_problem_count(scene) ? scene_problem(scene, 0) : NULL;

  if (!problem)
    fail_msg("nothing is wrong with\n%s", text);
  if (problem->severity != severity || problem->line != line || !strstr(problem->message, word))
    fail_msg("unexpected problem in line %d: %s", (int)problem->line, problem->message);
  assert_int_equal(scene_problem_count(scene), 1);
  assert_success(SceneDestroy(&scene));
}

static void one_error(const char text[], int line, const char word[])
{
  one_problem(text, PROBLEM_ERROR, line, word);
}

static void a_scene_of_bodies_needs_no_fluid(void **state)
{
  Scene                   scene = good_scene(BODIES);
  const SimulationConfig *config = scene_config(scene);

  (void)state;
  assert_int_equal(simulation_config_work(config), WORK_SOLIDS);
  assert_int_equal(config->solids.body_count, 2);
  assert_string_equal(config->solids.bodies[1].name, "link");
  assert_int_equal(config->solids.bodies[0].kind, BODY_DYNAMIC);
  assert_true(config->solids.bodies[0].density == 1000.);
  assert_true(config->solids.bodies[1].copies.count.at[X] == 4.);
  assert_success(SceneDestroy(&scene));
}

static void a_scene_with_a_grid_has_a_fluid(void **state)
{
  Scene scene = read_text("grid: {size: [1, 1, 1], resolution: 8}\n" BODIES);

  (void)state;
  assert_false(scene_is_good(scene)); /* the fluid lacks its density */
  assert_success(SceneDestroy(&scene));
  scene = good_scene("grid: {size: [1, 1, 1], resolution: 8}\nfluid: {density: 1}\n" BODIES);
  assert_int_equal(simulation_config_work(scene_config(scene)), WORK_BOTH);
  assert_success(SceneDestroy(&scene));
  one_error(BODIES "obstacles: []\n", 6, "need a fluid");
}

#define PLANE                                                                                                \
  "grid: {dimension: 2, size: [1, 1], resolution: 8}\nfluid: {density: 1}\n" SOLIDS "    - {name: flat, "

/* Volume per metre of depth, and where z ends. */
static void check_prism(const char body[], PetscReal volume)
{
  char              text[1024];
  Scene             scene;
  Shape             shape;
  Moments           moments;
  Primitive         primitive;
  const BodyConfig *config;
  Vector3           low, high;

  snprintf(text, sizeof text, PLANE "%s}\n", body);
  scene = good_scene(text);
  config = &scene_config(scene)->solids.bodies[0];
  shape = config->shape;
  shape_bounds(shape, &low, &high);
  assert_near(low.at[Z], -0.5, 1e-14);
  assert_near(high.at[Z], 0.5, 1e-14);
  primitive = shape_primitive(shape);
  moments = config->thickness > 0. ? surface_shell_moments(primitive.surface, config->thickness)
                                   : primitive_moments(&primitive);
  assert_near(moments.volume, volume, 1e-12);
  assert_near(0.5 * (low.at[X] + high.at[X]), 0.5, 1e-12);
  assert_success(SceneDestroy(&scene));
}

static void bodies_in_two_dimensions_are_a_metre_deep(void **state)
{
  (void)state;
  check_prism("shape: {sphere: {center: [0.5, 0.5], radius: 0.2}}", 0.04 * PETSC_PI);
  check_prism("shape: {cylinder: {from: [0.5, 0.5, 3], to: [0.5, 0.5, 1], radius: 0.2}}", 0.04 * PETSC_PI);
  check_prism("shape: {box: {low: [0.4, 0.4], high: [0.6, 0.7]}}", 0.06);
  check_prism("shape: {placed: {shape: {box: {low: [-0.2, -0.1], high: [0.2, 0.1]}}, rotate: [0, 0, 30], "
              "translate: [0.5, 0.5]}}",
              0.08);
  check_prism("thickness: 0.01, shape: {box: {low: [0.4, 0.4], high: [0.6, 0.7]}}", 0.01);
  one_error(PLANE "shape: {torus: {center: [0.5, 0.5, 0], axis: [0, 0, 1], major: 0.2, minor: 0.1}}}\n", 6,
            "two dimensions");
  one_error(PLANE "shape: {cylinder: {from: [0.2, 0.5, 0], to: [0.8, 0.5, 0], radius: 0.1}}}\n", 6,
            "cylinder along z");
}

static void gravity_is_that_of_the_fluid_unless_told(void **state)
{
  Scene scene = good_scene("grid: {size: [1, 1, 1], resolution: 8}\n"
                           "fluid: {density: 1, gravity: [0, -9, 0]}\n" BODIES);

  (void)state;
  assert_true(scene_config(scene)->solids.gravity.at[Y] == -9.);
  assert_success(SceneDestroy(&scene));
  scene = good_scene(BODIES "  gravity: [0, 0, -3]\n");
  assert_true(scene_config(scene)->solids.gravity.at[Z] == -3.);
  assert_success(SceneDestroy(&scene));
}

#define TANK                                                                                                 \
  "grid: {size: [1, 2, 1], resolution: 8, origin: [1, 0, 0]}\n"                                              \
  "fluid: {density: 1, sides: {y_low: slip, y_high: open, z_low: periodic, z_high: periodic}}\n"

static void walls_of_the_box_hold_bodies(void **state)
{
  Scene scene = good_scene(TANK BODIES "  pairs: [{first: wall_y_low, second: link, restitution: 1}]\n");
  const SolidConfig *solids = &scene_config(scene)->solids;

  (void)state;
  assert_true(solids->walls && solids->held[X][0] && solids->held[X][1] && solids->held[Y][0]);
  assert_false(solids->held[Y][1] || solids->held[Z][0] || solids->held[Z][1]);
  assert_true(solids->box_low.at[X] == 1. && solids->box_high.at[X] == 2. && solids->box_high.at[Y] == 2.);
  assert_true(solids->pairs[0].friction == 0.5 && solids->pairs[0].restitution == 1.);
  assert_success(SceneDestroy(&scene));
  scene = good_scene(TANK BODIES "  walls: false\n");
  for (PetscInt side = 0; side < 2 * DIM; side++)
    assert_false(scene_config(scene)->solids.held[side / 2][side % 2]);
  assert_success(SceneDestroy(&scene));
  scene = good_scene(BODIES); /* no fluid, no box */
  assert_false(scene_config(scene)->solids.held[X][0]);
  assert_success(SceneDestroy(&scene));
#define WALL(name) "    - {name: " name ", shape: {sphere: {center: [0, 0, 9], radius: 0.5}}}\n"
  one_error(TANK BODIES WALL("wall_x_high"), 8, "side of the box");
  assert_success(SceneDestroy((Scene[]){good_scene(TANK BODIES WALL("wall_y_high"))}));
  one_error(TANK BODIES "  pairs: [{first: wall_y_high, second: link}]\n", 8, "no body is called");
}

static void pairs_take_the_mean_of_what_they_do_not_say(void **state)
{
  static const char        text[] = BODIES "  pairs:\n"
                                           "    - {first: ball, second: link, restitution: 0.7}\n"
                                           "    - {first: link, second: link, contact: none}\n";
  Scene                    scene = good_scene(text);
  const ContactPairConfig *pairs = scene_config(scene)->solids.pairs;

  (void)state;
  assert_near(pairs[0].friction, PetscSqrtReal(0.3 * 0.5), 1e-15);
  assert_true(pairs[0].restitution == 0.7 && !pairs[0].none && pairs[1].none);
  assert_success(SceneDestroy(&scene));
}

static void joints_are_read(void **state)
{
  Scene scene = good_scene(JOINT("type: hinge, parent: link.3, child: ball, lower: -1, target: \"sin(t)\""));
  const JointConfig *joint = &scene_config(scene)->solids.joints[0];

  (void)state;
  assert_int_equal(joint->kind, JOINT_HINGE);
  assert_string_equal(joint->parent, "link.3");
  assert_true(joint->lower == -1. && joint->upper == PETSC_INFINITY && joint->axis.at[Z] == 1.);
  assert_near(formula_value(joint->target, vector3(0, 0, 0), 2.), sin(2.), 1e-15);
  assert_success(SceneDestroy(&scene));
}

static void the_resolved_scene_is_the_same_scene(void **state)
{
  Scene scene = good_scene(JOINT("child: ball, lower: -inf") "  pairs: [{first: ball, second: link}]\n");
  Scene again = good_scene(scene_resolved_text(scene));

  (void)state;
  assert_string_equal(scene_resolved_text(scene), scene_resolved_text(again));
  assert_true(scene_config(again)->solids.joints[0].lower == -PETSC_INFINITY);
  assert_success(SceneDestroy(&again));
  assert_success(SceneDestroy(&scene));
}

static void bodies_that_cannot_be(void **state)
{
  (void)state;
  one_error(RUN "solids: {bodies: []}\n", 2, "must not be empty");
  one_error(RUN "solids: {gravity: [0, 0, -9]}\n", 2, "bodies is missing");
  one_error(SOLIDS "    - " BALL "}\n    - " BALL "}\n", 5, "names must differ");
  one_error(SOLIDS "    - " BALL ", type: kinematic}\n", 4, "needs a motion");
  one_error(SOLIDS "    - " BALL ", motion: {velocity: [1, 0, 0]}}\n", 4, "takes no motion");
  one_error(SOLIDS "    - " BALL ", mass: 1, density: 2}\n", 4, "as well as a density");
  one_error(SOLIDS "    - " BALL ", mass: 0}\n", 4, "must be positive");
  one_error(SOLIDS "    - " BALL ", friction: -1}\n", 4, "must not be negative");
  one_error(SOLIDS "    - " BALL ", restitution: 1.5}\n", 4, "between 0 and 1");
  one_error(SOLIDS "    - {name: floor, shape: {plane: {point: [0, 0, 0], normal: [0, 0, 1]}}}\n", 4,
            "cannot be dynamic");
  one_error(SOLIDS "    - " BALL ", copies: {count: [2, 0, 1], step: [1, 1, 1]}}\n", 4, "whole numbers");
  one_error(SOLIDS "    - " BALL ", copies: {count: [2.5, 1, 1], step: [1, 1, 1]}}\n", 4, "whole numbers");
  one_error(SOLIDS "    - " BALL ", copies: {count: [2, 1, 1]}}\n", 4, "at one place");
  one_error(
      SOLIDS
      "    - " BALL ", copies: {count: [1000, 1000, 1], step: [9, 9, 9]}}\n"
      "    - {name: other, shape: {sphere: {center: [0, 0, 5], radius: 0.1}}, copies: {count: [2, 1, 1], "
      "step: [9, 9, 9]}}\n",
      3, "1000002 bodies together");
  one_error(SOLIDS "    - " BALL ", copies: {count: [2000, 2000, 1], step: [9, 9, 9]}}\n", 4,
            "bodies; there");
  one_problem(SOLIDS "    - " BALL ", type: static, velocity: [1, 0, 0]}\n", PROBLEM_WARNING, 4, "no effect");
}

/* A bar of rubber, from line 3 on. */
#define MATERIAL(keys) RUN "solids:\n  materials:\n    - {name: rubber, young: 1e5" keys "}\n"
#define BAR(keys)                                                                                            \
  MATERIAL("") "  meshes:\n    - {name: bar, shape: {box: {low: [0, 0, 0], high: [1, 1, 1]}}, " keys "}\n"
/* The same as a sheet. */
#define PLATE(type, keys)                                                                                    \
  MATERIAL("")                                                                                               \
  "  meshes:\n    - {name: bar, type: " type ", sheet: {along: [1, 0, 0], across: [0, 1, 0]}, edge: 0.5, "   \
  "material: rubber, " keys "}\n"

static void a_deformable_solid_is_read(void **state)
{
  Scene scene = good_scene(BAR("edge: 0.5, material: rubber, held: [{inside: {sphere: {center: [0, 0, 0], "
                               "radius: 0.1}}}]"));
  const SolidConfig *config = &scene_config(scene)->solids;

  (void)state;
  assert_int_equal(config->mesh_count, 1);
  assert_int_equal(config->materials[0].model, MATERIAL_NEO_HOOKEAN);
  assert_near(config->materials[0].density, 1000, 0);
  assert_int_equal(config->meshes[0].held_count, 1);
  assert_string_equal(config->meshes[0].held[0].to, "");
  assert_success(SceneDestroy(&scene));
}

static void deformable_solids_that_cannot_be(void **state)
{
  (void)state;
  one_error(MATERIAL("") "  meshes: []\n", 5, "must not be empty");
  one_error(BAR("edge: 0.5, material: ruber"), 6, "did you mean \"rubber\"");
  one_error(BAR("edge: 0.5, material: rubber, fibres: [{direction: [0, 0, 0], stress: 1}]"), 6, "not zero");
  one_error(BAR("edge: 0.5, material: steal"), 6, "did you mean \"steel\"");
  one_error(
      MATERIAL(
          ", yield_stress: 1e3") "  meshes:\n    - {name: bar, shape: {box: {low: [0, 0, 0], high: [1, 1, "
                                 "1]}}, edge: 0.5, material: rubber}\n",
      4, "does not yield");
  one_error(
      MATERIAL(
          ", model: hencky, hardening: 1e3") "  meshes:\n    - {name: bar, shape: {box: {low: [0, 0, 0], "
                                             "high: [1, 1, 1]}}, edge: 0.5, material: rubber}\n",
      4, "give a yield_stress");
  one_error(BAR("edge: 0, material: rubber"), 6, "must be positive");
  one_error(
      MATERIAL(", poisson: 0.5") "  meshes: [{name: bar, shape: {box: {low: [0, 0, 0], high: [1, 1, 1]}}, "
                                 "edge: 0.5, material: rubber}]\n",
      4, "between 0 and 0.499");
  one_error(
      MATERIAL(
          "") "  meshes:\n    - {name: bar, shape: {plane: {point: [0, 0, 0], normal: [0, 0, 1]}}, edge: "
              "0.5, material: rubber}\n",
      6, "has no end");
  one_error(BAR("material: rubber"), 6, "give \"edge\"");
  one_error(BAR("edge: 0.5, material: rubber, file: bar.msh"), 6, "described more than once");
  one_error(MATERIAL("") "  meshes:\n    - {name: bar, material: rubber}\n", 6, "nothing says what it is");
  one_error(
      BAR("edge: 0.5, material: rubber, order: 2, refine: [{inside: {sphere: {center: [0, 0, 0], radius: "
          "1}}}]"),
      6, "order 2, which cannot be refined");
  one_error(BAR("edge: 1e-4, material: rubber"), 6, "make its edge");
  one_error(RUN "solids:\n  materials:\n    - {name: rubber, young: 0}\n  meshes: [{name: bar, shape: {box: "
                "{low: [0, 0, 0], "
                "high: [1, 1, 1]}}, edge: 0.5, material: rubber}]\n",
            4, "must be positive");
  one_error(BAR("edge: 0.5, material: rubber, skin: {stiffness: -1}"), 6, "must not be negative");
  one_error(BAR("edge: 0.5, material: rubber, skin: {drift: -1}"), 6, "must not be negative");
  one_error(BAR("edge: 0.5, material: rubber") "  bindings: [{name: b, from: bar, neighbours: 3}]\n", 7,
            "between 4 and 32");
  one_error(BAR("edge: 0.5, material: rubber") "  bindings: [{name: b, from: bar, to: bone}]\n", 7,
            "no body is called \"bone\"");
  one_error(BAR("edge: 0.5, material: rubber") "  bindings: [{name: b, from: bar, to: bar}]\n", 7,
            "to itself");
  one_error(BAR("edge: 0.5, material: rubber, cuts: [{point: [0, 0, 0], normal: [0, 0, 0]}]"), 6,
            "normal that is not zero");
  one_error(BAR("edge: 0.5, material: rubber, order: 2, cuts: [{point: [0, 0, 0], normal: [0, 0, 1]}]"), 6,
            "only linear tetrahedra can be cut");
  one_error(BAR("edge: 0.5, material: rubber, held: [{inside: {sphere: {center: [0, 0, 0], radius: 1}}, to: "
                "bone}]"),
            6, "no body is called \"bone\"");
  one_error("grid: {size: [1, 1], dimension: 2, resolution: 8}\nfluid: {density: 1}\n" BAR(
                "edge: 0.5, material: rubber"),
            8, "only planar meshes move");
  one_error("grid: {size: [1, 1], dimension: 2, resolution: 8}\nfluid: {density: 1}\n" PLATE(
                "planar", "thickness: 0.1"),
            8, "leave out thickness");
  one_error("grid: {size: [1, 1, 1], resolution: 8}\nfluid: {density: 1}\n" PLATE("planar", "friction: 0"), 8,
            "only volumes and cloth move");
  one_error("grid: {size: [1, 1, 1], resolution: 8}\nfluid: {density: 1}\n" PLATE("cloth",
                                                                                  "thickness: 0.1, order: 2"),
            8, "elements are linear");
  one_error("grid: {size: [1, 1, 1], resolution: 8}\nfluid: {density: 1}\n" BAR(
                "edge: 0.5, material: rubber, fill: lattice"),
            8, "the boundary of its tetrahedra");
  one_error("grid: {size: [1, 1, 1], resolution: 8}\nfluid: {density: 1}\n" MATERIAL(
                ", volume: kept") "  meshes: [{name: bar, edge: 0.5, material: rubber, shape: {box: {low: "
                                  "[0, 0, 0], "
                                  "high: [1, 1, 1]}}}]\n",
            6, "volumes of deformable solids are not kept");
  one_error("grid: {size: [1, 1, 1], resolution: 8}\nfluid: {density: 1}\n" BAR(
                "edge: 0.5, material: rubber") "  elasticity: static\n",
            9, "steps are explicit, newmark or auto, not static");
}

static void bindings_in_a_fluid(void **state)
{
  (void)state;
  one_error("grid: {size: [1, 1, 1], resolution: 8}\nfluid: {density: 1}\n" BAR(
                "edge: 0.5, material: rubber") "  bindings: [{name: seam, type: hard, from: bar}]\n",
            9, "cloth is bound to meshes");
}

static void deformable_solids_with_a_warning(void **state)
{
  (void)state;
  one_problem("grid: {size: [1, 1, 1], resolution: 8}\nfluid: {density: 1}\n" BAR(
                  "edge: 0.5, material: rubber") "  bodies: [{name: b, density: 1, shape: {sphere: {center: "
                                                 "[0, 0, 5], radius: 1}}}]\n",
              PROBLEM_WARNING, 7, "a run ends where a mesh meets a dynamic body");
  one_problem(
      BAR("edge: 0.5, material: rubber") "  elasticity: newmark\n  bodies: [{name: b, density: 1, shape: "
                                         "{sphere: {center: [0, 0, 5], radius: 1}}}, {name: floor, type: "
                                         "static, shape: {plane: {point: [0, 0, 0], normal: [0, 0, 1]}}}]\n",
      PROBLEM_WARNING, 5, "gives way too easily");
}

static void pairs_that_cannot_be(void **state)
{
  (void)state;
  one_error(BODIES "  pairs:\n    - {first: bal, second: link}\n", 7, "did you mean \"ball\"");
  one_error(BODIES "  pairs:\n    - {first: ball, second: link.2}\n", 7, "all copies");
  one_error(BODIES "  pairs:\n    - {first: ball, second: link, friction: -1}\n", 7, "negative");
}

static void joints_that_cannot_be(void **state)
{
  (void)state;
  one_error(JOINT("child: nobody"), 7, "no body is called");
  one_error(JOINT("child: link"), 7, "say which");
  one_error(JOINT("child: link.4"), 7, "copies 0 to 3");
  one_error(JOINT("child: link.x"), 7, "no body is called");
  one_error(JOINT("parent: ball, child: ball"), 7, "to itself");
  one_error(JOINT("child: ball, axis: [0, 0, 0]"), 7, "must not be zero");
  one_error(JOINT("child: ball, type: hinge, lower: 2, upper: 1"), 7, "never");
  one_error(JOINT("child: ball, type: hinge, lower: 1"), 7, "outside its limits");
  one_error(JOINT("child: ball, swing: 0"), 7, "must be positive");
  one_error(JOINT("child: ball, type: hinge, target: \"x\""), 7, "t alone");
  one_error(JOINT("child: ball, target: 1"), 7, "no angle to drive");
}

/* Two rods, from line 6 on, and a pin between them. */
#define ASSEMBLY(copies, keys, joint)                                                                        \
  RUN "solids:\n  assemblies: [{name: pair, pivot: [1, 0, 0], copies: {" copies                              \
      "}}]\n  bodies:\n    - " BALL "}\n"                                                                    \
      "    - {name: rod, assembly: pair, shape: {box: {low: [2, 0, 0], high: [3, 1, 1]}}}\n"                 \
      "    - {name: bar, assembly: pair, shape: {box: {low: [3, 0, 0], high: [4, 1, 1]}}" keys "}\n"         \
      "  joints:\n    - {name: pin, anchor: [3, 0, 0], " joint "}\n"
#define PAIRS "count: [4, 1, 1], step: [9, 0, 0], turn: 1"

static void an_assembly_is_copied_with_its_joints(void **state)
{
  const char *const  override = "solids.assemblies.pair.copies.count=[2, 3, 1]";
  const char *const  text = ASSEMBLY("step: [9, 9, 0], turn: 1", "", "parent: rod, child: bar");
  Scene              scene, again;
  const SolidConfig *solids;
  char               message[256];
  PetscInt           turned = 0;
  Solid              solid;

  (void)state;
  assert_success(SceneReadText(PETSC_COMM_WORLD, "test.yaml", text, 1, &override, &scene));
  assert_true(scene_is_good(scene));
  solids = &scene_config(scene)->solids;
  assert_true(solids->bodies[2].copies.count.at[Y] == 3. && solids->bodies[0].copies.count.at[Y] == 1.);
  assert_success(SolidCreate(PETSC_COMM_SELF, solids, &solid, message, sizeof(message)));
  assert_non_null(solid);
  assert_int_equal(solid_body_count(solid), 1 + 2 * 6);
  assert_near(solid_report(solid).largest_joint_error, 0, 1e-14);
  for (PetscInt k = 0; k < 6; k++) { /* turned, and as far from each other as they are written */
    const Vector3 way =
        vector3_subtract(solid_body_view(solid, 7 + k).position, solid_body_view(solid, 1 + k).position);

    assert_near(vector3_norm(way), 1, 1e-14);
    turned += way.at[X] < 0.999;
  }
  assert_true(turned > 3);
  assert_success(SolidDestroy(&solid));
  again = good_scene(scene_resolved_text(scene));
  assert_true(scene_config(again)->solids.bodies[1].copies.count.at[Y] == 3.);
  assert_success(SceneDestroy(&again));
  assert_success(SceneDestroy(&scene));
}

static void assemblies_that_cannot_be(void **state)
{
  (void)state;
  assert_success(SceneDestroy((Scene[]){good_scene(ASSEMBLY(PAIRS, "", "child: rod"))}));
  assert_success(SceneDestroy((Scene[]){good_scene(ASSEMBLY(PAIRS, "", "parent: ball, child: rod"))}));
  assert_success(SceneDestroy((Scene[]){good_scene(ASSEMBLY(PAIRS, "", "parent: rod.1, child: bar.2"))}));
  one_error(ASSEMBLY(PAIRS, "", "parent: rod.4, child: ball"), 9, "copies 0 to 3");
  one_error(ASSEMBLY("count: [4, 1, 1]", "", "parent: rod, child: bar"), 3, "at one place");
  one_error(ASSEMBLY("count: [0, 1, 1]", "", "parent: rod, child: bar"), 3, "whole numbers");
  one_error(ASSEMBLY(PAIRS, ", copies: {count: [2, 1, 1], step: [9, 0, 0]}", "child: rod"), 7,
            "takes no copies");
  one_error(ASSEMBLY(PAIRS, "", "child: rod") "  pairs: [{first: rod.1, second: bar}]\n", 10, "all copies");
  one_error(SOLIDS "    - " BALL ", assembly: peir}\n  assemblies: [{name: pair}]\n", 4,
            "did you mean \"pair\"");
  one_error(RUN "solids:\n  assemblies: [{name: a}, {name: b}]\n  bodies:\n    - " BALL ", assembly: a}\n"
                "    - {name: bar, assembly: b, shape: {box: {low: [3, 0, 0], high: [4, 1, 1]}}}\n"
                "  joints: [{name: pin, anchor: [0, 0, 0], parent: ball, child: bar}]\n",
            7, "joins two assemblies");
  one_error(SOLIDS "    - " BALL "}\n  assemblies: [{name: pair}, {name: pair}]\n", 5, "names must differ");
}

#define COPIED(keys)                                                                                         \
  RUN "solids:\n  materials:\n    - {name: rubber, young: 1e5}\n  assemblies: [{name: set, copies: {count: " \
      "[2, "                                                                                                 \
      "1, 1], step: [3, 0, 0]}}]\n  bodies:\n    - " BALL                                                    \
      ", assembly: set}\n    - {name: rock, type: static, "                                                  \
      "shape: {sphere: {center: [0, 9, 0], radius: 1}}}\n  meshes:\n    - {name: bar, assembly: set, "       \
      "material: "                                                                                           \
      "rubber, edge: 0.5, shape: {box: {low: [0, 3, 0], high: [1, 4, 1]}}, held: [{inside: {box: {low: [0, " \
      "3, "                                                                                                  \
      "0], high: [0.1, 4, 1]}}, to: ball}, {inside: {box: {low: [0.9, 3, 0], high: [1, 4, 1]}}, to: "        \
      "rock}]}\n" keys

/* Each copy is held by the body of its own, or by one that is not copied. */
static void meshes_are_copied_with_their_assembly(void **state)
{
  Scene                  scene = good_scene(COPIED("  pairs: [{first: bar, second: rock, contact: none}]\n"));
  const SolidConfig     *config = &scene_config(scene)->solids;
  const SolidMeshConfig *copy = &config->meshes[1];

  (void)state;
  assert_int_equal(config->mesh_count, 2);
  assert_string_equal(config->meshes[0].name, "bar.0");
  assert_string_equal(copy->name, "bar.1");
  assert_string_equal(copy->held[0].to, "ball.1");
  assert_string_equal(copy->held[1].to, "rock");
  assert_near(copy->placed->position.at[X], 3, 0);
  assert_success(SceneDestroy(&scene));
  one_error(COPIED("  bindings: [{name: b, from: bar, to: rock}]\n"), 11, "copies of meshes are not bound");
  one_error(COPIED("  pairs: [{first: bar, second: rock}]\n"), 11, "can only say");
  one_error(COPIED("  pairs: [{first: bar, second: bar, contact: none}]\n"), 11, "a pair of meshes");
  one_error(BAR("edge: 0.5, material: rubber, assembly: sit") "  assemblies: [{name: set}]\n", 6,
            "did you mean \"set\"");
}

static void a_message_stands_at_its_keys(void **state)
{
  Scene scene = good_scene(JOINT("child: ball"));

  (void)state;
  assert_success(SceneAddMessage(scene, "solids.bodies[link.2]: Body \"link.2\" is hollow"));
  assert_int_equal(scene_problem(scene, 0)->line, 5);
  assert_string_equal(scene_problem(scene, 0)->message, "Body \"link.2\" is hollow");
  assert_false(scene_is_good(scene));
  assert_success(SceneAddMessage(scene, "solids.joints[pin]: it is loose"));
  assert_int_equal(scene_problem(scene, 1)->line, 7);
  assert_success(SceneAddMessage(scene, "solids.joints[pun]: something is wrong"));
  assert_int_equal(scene_problem(scene, 2)->line, 7); /* where the list begins */
  assert_success(SceneAddMessage(scene, "no keys: something is wrong"));
  assert_string_equal(scene_problem(scene, 3)->message, "no keys: something is wrong");
  assert_success(SceneDestroy(&scene));
}

TEST_MAIN(cmocka_unit_test(a_scene_of_bodies_needs_no_fluid),
          cmocka_unit_test(a_scene_with_a_grid_has_a_fluid),
          cmocka_unit_test(bodies_in_two_dimensions_are_a_metre_deep),
          cmocka_unit_test(gravity_is_that_of_the_fluid_unless_told),
          cmocka_unit_test(walls_of_the_box_hold_bodies),
          cmocka_unit_test(pairs_take_the_mean_of_what_they_do_not_say), cmocka_unit_test(joints_are_read),
          cmocka_unit_test(the_resolved_scene_is_the_same_scene), cmocka_unit_test(bodies_that_cannot_be),
          cmocka_unit_test(a_deformable_solid_is_read), cmocka_unit_test(deformable_solids_that_cannot_be),
          cmocka_unit_test(bindings_in_a_fluid), cmocka_unit_test(deformable_solids_with_a_warning),
          cmocka_unit_test(pairs_that_cannot_be), cmocka_unit_test(joints_that_cannot_be),
          cmocka_unit_test(an_assembly_is_copied_with_its_joints),
          cmocka_unit_test(assemblies_that_cannot_be),
          cmocka_unit_test(meshes_are_copied_with_their_assembly),
          cmocka_unit_test(a_message_stands_at_its_keys))
