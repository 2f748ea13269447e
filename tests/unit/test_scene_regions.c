/* Scenes with regions: what is read, and what is refused, with its place. */
#include "harness.h"
#include <millrace/scene.h>

#define TOP                                                                                                  \
  "grid: {size: [1, 1, 1], resolution: 8}\n"                                                                 \
  "run: {end_time: 1, frame_interval: 1}\n"
#define WATER "- {name: water, density: 1000, shape: {box: {low: [0, 0, 0], high: [1, 0.5, 1]}}}\n"
#define AIR "- {name: air, type: empty}\n"

static Scene read_scene(const char text[])
{
  Scene scene;

  assert_int_equal(SceneReadText(PETSC_COMM_SELF, "test", text, 0, NULL, &scene), 0);
  return scene;
}

static void one_error(const char text[], PetscInt line, const char words[])
{
  Scene scene = read_scene(text);

  assert_int_equal(scene_problem_count(scene), 1);
  assert_int_equal(scene_problem(scene, 0)->line, line);
  if (!strstr(scene_problem(scene, 0)->message, words))
    fail_msg("\"%s\" does not say \"%s\"", scene_problem(scene, 0)->message, words);
  assert_int_equal(SceneDestroy(&scene), 0);
}

static void regions_and_tensions_are_read(void **state)
{
  const SimulationConfig *config;
  Scene                   scene;

  (void)state;
  scene = read_scene(TOP "regions:\n" WATER AIR
                         "interfaces: {tensions: [{first: water, second: air, tension: 0.07}]}\n"
                         "inflows: [{name: tap, region: water, velocity: [0, -1, 0],\n"
                         "  shape: {sphere: {center: [0.5, 0.9, 0.5], radius: 0.2}}}]\n");
  config = scene_config(scene);
  assert_non_null(config);
  assert_int_equal(config->phases.region_count, 2);
  assert_string_equal(config->phases.regions[1].name, "air");
  assert_true(config->phases.regions[1].kind == REGION_EMPTY && !config->phases.regions[1].shape);
  assert_true(config->phases.regions[0].density == 1000.);
  assert_int_equal(config->phases.tension_count, 1);
  assert_true(config->phases.tensions[0].tension == 0.07);
  assert_true(config->phases.interface.particles > 0);
  assert_string_equal(config->inflows[0].region, "water");
  assert_int_equal(SceneDestroy(&scene), 0);
}

static void the_resolved_scene_is_the_same(void **state)
{
  Scene scene = read_scene(TOP "regions:\n" WATER AIR), again = read_scene(scene_resolved_text(scene));

  (void)state;
  assert_true(scene_is_good(again));
  assert_string_equal(scene_resolved_text(scene), scene_resolved_text(again));
  assert_int_equal(SceneDestroy(&scene), 0);
  assert_int_equal(SceneDestroy(&again), 0);
}

static void a_bad_set_of_regions_is_refused(void **state)
{
  (void)state;
  one_error(TOP "regions:\n" WATER, 4, "2 to 32, not 1");
  one_error(TOP "regions:\n" AIR
                "- {name: nothing, type: empty, shape: {sphere: {center: [0, 0, 0], radius: 1}}}\n",
            4, "one of them must be simulated");
  one_error(TOP "regions:\n" WATER WATER AIR, 5, "names must differ");
  one_error(TOP "regions:\n" AIR WATER "- {name: oil, density: 900}\n", 6, "has no shape, as regions[0]");
  one_error(TOP "regions:\n" AIR "- {name: water, shape: {sphere: {center: [0, 0, 0], radius: 1}}}\n", 5,
            "density is missing");
  one_error(TOP "regions:\n" WATER
                "- {name: a, type: one-way, density: 1, shape: {sphere: {center: [0, 0, 0], radius: 1}}}\n"
                "- {name: b, type: one-way, density: 1}\n",
            6, "there may be one such gas");
}

static void names_of_regions_that_are_not_are_refused(void **state)
{
  (void)state;
  one_error(TOP "regions:\n" WATER AIR "interfaces: {tensions: [{first: watr, second: air, tension: 1}]}\n",
            6, "did you mean \"water\"");
  one_error(TOP "regions:\n" WATER AIR "interfaces: {tensions: [{first: air, second: air, tension: 1}]}\n", 6,
            "and itself");
  one_error(TOP "regions:\n" WATER AIR
                "inflows: [{name: tap, region: oil, shape: {sphere: {center: [0, 0, 0], radius: 1}}}]\n",
            6, "no region is called \"oil\"");
}

#define CONTACT(keys) TOP "regions:\n" WATER AIR "interfaces: {contact_angles: [{" keys "}]}\n"

static void contact_angles_are_read_and_bad_ones_refused(void **state)
{
  Scene                scene = read_scene(CONTACT("first: air, second: water, angle: 120, on: x_low"));
  const ContactConfig *contact;

  (void)state;
  assert_true(scene_is_good(scene));
  assert_int_equal(scene_config(scene)->phases.contact_count, 1);
  contact = &scene_config(scene)->phases.contacts[0];
  assert_true(contact->angle == 120.);
  assert_string_equal(contact->on, "x_low");
  assert_int_equal(contact_place(scene_config(scene), contact->on), 0);
  assert_int_equal(SceneDestroy(&scene), 0);
  one_error(CONTACT("first: air, second: water, angle: 181"), 6, "between 0 and 180");
  one_error(CONTACT("first: air, second: watr, angle: 60"), 6, "did you mean \"water\"");
  one_error(CONTACT("first: air, second: air, angle: 60"), 6, "and itself");
  one_error(CONTACT("first: air, second: water, angle: 60, on: deck"), 6, "sides are x_low");
}

static void keys_that_contradict_regions_are_refused(void **state)
{
  (void)state;
  one_error(TOP "fluid: {density: 1}\nregions:\n" WATER AIR, 3, "beside regions");
  one_error(TOP "fluid: {viscosity: 1}\nregions:\n" WATER AIR, 3, "beside regions");
  one_error(TOP "fluid: {density: 1}\ninterfaces: {particles: 8}\n", 4, "without regions");
  one_error(TOP "fluid: {density: 1}\nobstacles: [{name: a, shape: {formula: {value: x - t}}}]\n", 4,
            "must not depend on t");
}

#define OPEN(side) TOP "fluid: {gravity: [0, -1, 0], sides: {y_high: " side "}}\nregions:\n"

static void what_lies_beyond_open_sides_is_read(void **state)
{
  Scene             scene = read_scene(OPEN("{type: open, region: water, level: 0.5}") WATER AIR);
  const SideConfig *sides;

  (void)state;
  assert_true(scene_is_good(scene));
  sides = scene_config(scene)->fluid.sides[Y];
  assert_string_equal(sides[1].region, "water");
  assert_true(sides[1].level == 0.5 && !side_has_level(&sides[0]) && !sides[0].region);
  assert_int_equal(SceneDestroy(&scene), 0);
}

static void what_cannot_lie_beyond_a_side_is_refused(void **state)
{
  (void)state;
  one_error(OPEN("{type: open, region: watr}") WATER AIR, 3, "did you mean \"water\"");
  one_error(OPEN("{type: wall, region: water}") WATER AIR, 3, "fluid.sides.y_high.region: this side is wall");
  one_error(OPEN("{type: slip, level: 1}") WATER AIR, 3, "make the side open");
  one_error(OPEN("{type: open, level: 1}") WATER AIR, 3, "a region with a weight");
  one_error(OPEN("{type: open, region: air, level: 1}") WATER AIR, 3, "a region with a weight");
  one_error(TOP "fluid: {sides: {y_high: {type: open, region: water, level: 1}}}\nregions:\n" WATER AIR, 3,
            "needs gravity");
  one_error(TOP "fluid: {density: 1, sides: {y_high: {type: open, region: water}}}\n", 3, "without regions");
}

#define OIL(changes) TOP "regions:\n" WATER "- {name: oil, type: empty, changes: [" changes "]}\n"

static void what_a_change_leaves_out_is_as_before(void **state)
{
  Scene               scene = read_scene(OIL("{time: 0.1, type: simulated, density: 8},\n"
                                                           "   {time: 0.2, viscosity: 3}, {time: 0.3, type: empty}"));
  const RegionConfig *oil;

  (void)state;
  assert_true(scene_is_good(scene));
  oil = &scene_config(scene)->phases.regions[1];
  assert_int_equal(oil->change_count, 3);
  assert_int_equal(region_material(oil, 0.05).kind, REGION_EMPTY);
  assert_true(region_material(oil, 0.1).density == 8. && region_material(oil, 0.1).viscosity == 0.);
  assert_true(region_material(oil, 0.25).density == 8. && region_material(oil, 0.25).viscosity == 3.);
  assert_int_equal(region_material(oil, 0.3).kind, REGION_EMPTY);
  assert_true(phase_next_change(&scene_config(scene)->phases, 0.1) == 0.2);
  assert_int_equal(SceneDestroy(&scene), 0);
}

static void changes_that_cannot_be_are_refused(void **state)
{
  (void)state;
  one_error(OIL("{time: 0.1, type: simulated}"), 5, "regions[1].changes[0].density is missing");
  one_error(OIL("{time: 0.1, type: simulated, density: 8},\n  {time: 0.1, density: 9}"), 6,
            "put the changes in the order");
  one_error(OIL("{time: 0, type: simulated, density: 8}"), 5, "must be positive");
  one_error(TOP "regions:\n" WATER
                "- {name: gas, type: one-way, density: 1,\n   changes: [{time: 0.1, density: 2}]}\n",
            6, "a one-way gas stays what it is");
  one_error(TOP "regions:\n" AIR
                "- {name: water, density: 1000, shape: {sphere: {center: [0, 0, 0], radius: 1}},\n"
                "   changes: [{time: 0.5, type: empty}]}\n",
            4, "from 0.5 s on all are empty");
  one_error(TOP "regions:\n" WATER AIR "interfaces: {tensions: [{first: water, second: air, tension: 1,\n"
                "  from: 0.5, until: 0.5}]}\n",
            7, "not later than its `from`");
}

#define GEL(rest)                                                                                            \
  TOP "regions:\n" AIR "- {name: gel, density: 8, shape: {sphere: {center: [0, 0, 0], radius: 1}},\n  " rest \
      "}\n"

static void elasticity_is_read(void **state)
{
  Scene                   scene = read_scene(GEL("elasticity: {modulus: 3}"));
  const RegionElasticity *elasticity;

  (void)state;
  assert_true(scene_is_good(scene));
  elasticity = &scene_config(scene)->phases.regions[1].elasticity;
  assert_int_equal(elasticity->model, ELASTICITY_OLDROYD_B);
  assert_true(elasticity->modulus == 3. && elasticity->relaxation >= PETSC_INFINITY);
  assert_int_equal(scene_config(scene)->phases.regions[0].elasticity.model, ELASTICITY_NONE);
  assert_int_equal(SceneDestroy(&scene), 0);
}

static void elasticity_changes_as_a_whole_or_not_at_all(void **state)
{
  Scene scene =
      read_scene(GEL("elasticity: {modulus: 3, relaxation: 2}, changes: [{time: 0.1, viscosity: 1},\n"
                     "  {time: 0.2, elasticity: {model: none}},\n"
                     "  {time: 0.3, elasticity: {model: rotated-strain, modulus: 4, yield: 0.1,\n"
                     "    relaxation: 5}}]"));
  const RegionConfig *gel;

  (void)state;
  assert_true(scene_is_good(scene));
  gel = &scene_config(scene)->phases.regions[1];
  assert_true(region_material(gel, 0.15).elasticity.relaxation == 2.);
  assert_int_equal(region_material(gel, 0.25).elasticity.model, ELASTICITY_NONE);
  assert_int_equal(region_material(gel, 0.35).elasticity.model, ELASTICITY_ROTATED_STRAIN);
  assert_true(region_material(gel, 0.35).elasticity.yield == 0.1);
  assert_int_equal(SceneDestroy(&scene), 0);
}

static void elasticity_that_cannot_be_is_refused(void **state)
{
  (void)state;
  one_error(GEL("elasticity: {relaxation: 2}"), 6, "elasticity.modulus is missing");
  one_error(GEL("elasticity: {modulus: 3, relaxation: 0}"), 6, "relaxation must be positive");
  one_error(GEL("elasticity: {model: giesekus, modulus: 3, yield: 0.1}"), 6,
            "yield belongs to oldroyd-b and");
  one_error(GEL("elasticity: {modulus: 3, mobility: 0.1}"), 6, "mobility belongs to giesekus");
  one_error(GEL("elasticity: {modulus: 3, extensibility: 5}"), 6, "extensibility belongs to fene-p");
  one_error(GEL("elasticity: {model: fene-p, modulus: 3}"), 6, "extensibility must be more than 2");
  one_error(GEL("changes: [{time: 0.1, elasticity: {relaxation: 3}}]"), 6,
            "changes[0].elasticity.modulus is missing");
  one_error(TOP "regions:\n" WATER "- {name: air, type: empty, elasticity: {modulus: 3}}\n", 5,
            "this region is empty");
  one_error(GEL("elasticity: {modulus: 3}") "solids: {bodies: [{name: a, density: 1, thickness: 0.01,\n"
                                            "  shape: {sphere: {center: [0.5, 0.5, 0.5], radius: 0.2}}}]}\n",
            6, "do not act on meshes or on shells");
}

static void a_bad_copy_is_told_once_and_not_made(void **state)
{
  (void)state;
  one_error("grid: {size: [1, 1, 1], resolution: 8}\nrun: {end_time: 1, frame_interval: 1}\n"
            "fluid: {density: 1}\nobstacles:\n"
            "- {name: a, shape: &bad {union: [{sphere: {center: [0.5, 0.5, 0.5], radius: -1}}]}}\n"
            "- {name: b, shape: {union: [*bad, *bad]}}\n",
            5, "radius");
}

#define BURNING(keys)                                                                                        \
  TOP "fluid: {sides: {y_high: open}}\nregions:\n" WATER                                                     \
      "- {name: oil, density: 800, shape: {sphere: {center: [0.5, 0.8, 0.5], radius: 0.1}}}\n"               \
      "- {name: gas, density: 1}\ninterfaces: {reactions: [{" keys "}]}\n"

static void reactions_are_read(void **state)
{
  Scene scene = read_scene(BURNING("first: oil, product: gas, speed: 0.1, curvature_speed: 1e-3"));
  const ReactionConfig *reaction;

  (void)state;
  assert_true(scene_is_good(scene));
  assert_int_equal(scene_config(scene)->phases.reaction_count, 1);
  reaction = &scene_config(scene)->phases.reactions[0];
  assert_string_equal(reaction->first, "oil");
  assert_string_equal(reaction->product, "gas");
  assert_true(reaction->speed == 0.1 && reaction->curvature_speed == 1e-3 && reaction->from == 0.);
  assert_true(reaction->until >= PETSC_INFINITY);
  assert_int_equal(SceneDestroy(&scene), 0);
}

static void reactions_that_cannot_be_are_refused(void **state)
{
  (void)state;
  one_error(BURNING("first: oil, product: gsa, speed: 1"), 8, "did you mean \"gas\"");
  one_error(BURNING("first: oil, product: oil, speed: 1"), 8, "cannot be its own product");
  one_error(BURNING("first: oil, product: gas, speed: -1"), 8, "must not be negative");
  one_error(BURNING("first: oil, product: gas, speed: 1, from: 2, until: 1"), 8, "not later than its `from`");
  one_error(BURNING("first: oil, product: gas, speed: 1, ignition: 900"), 8, "scalar is missing");
  one_error(BURNING("first: oil, product: gas, speed: 1, scalar: heat"), 8, "add it to fluid.scalars");
  one_error(BURNING("first: oil, product: gas, speed: 1}, {first: gas, product: oil, speed: 1"), 8,
            "between the same regions");
  one_error(TOP "regions:\n" WATER AIR "interfaces: {reactions: [{first: water, product: air, speed: 1}]}\n",
            6, "\"air\" is not simulated");
  one_error("grid: {size: [1, 1, 1], resolution: 8}\nrun: {end_time: 1, frame_interval: 1, time_step: 0.1}\n"
            "regions:\n" WATER "- {name: ice, density: 1000}\n"
            "interfaces: {reactions: [{first: water, product: ice, speed: 2}]}\n",
            6, "more than a cell");
  one_error(
      TOP "regions:\n- {density: 1, shape: {sphere: {center: [0.5, 0.2, 0.5], radius: 0.1}}}\n" WATER
          "- {name: gas, density: 1}\ninterfaces: {reactions: [{first: water, product: gas, speed: 0.1}]}\n",
      4, "name");
}

#define MEETING(keys) BURNING("first: oil, second: water, product: gas, " keys)

static void two_that_react_are_read_and_bad_ones_refused(void **state)
{
  Scene                 scene = read_scene(MEETING("speed: 0.1, second_speed: 0.2"));
  const ReactionConfig *reaction;

  (void)state;
  assert_true(scene_is_good(scene));
  reaction = &scene_config(scene)->phases.reactions[0];
  assert_string_equal(reaction->second, "water");
  assert_true(reaction->second_speed == 0.2 && reaction->layer == 3. && reaction->release == 0.);
  assert_int_equal(SceneDestroy(&scene), 0);
  one_error(BURNING("first: oil, second: watr, product: gas, speed: 1"), 8, "did you mean \"water\"");
  one_error(BURNING("first: oil, second: oil, product: gas, speed: 1"), 8, "another region than itself");
  one_error(BURNING("first: oil, product: gas, speed: 1, second_speed: 1"), 8, "second is missing");
  one_error(MEETING("speed: 0"), 8, "release must be positive");
  one_error(MEETING("speed: 1, layer: 5"), 8, "layer");
  one_error(MEETING("speed: 1}, {first: water, product: gas, speed: 1"), 8, "between the same regions");
  one_error(MEETING("speed: 1}, {first: water, product: oil, speed: 1"), 8, "between the same regions");
}

TEST_MAIN(cmocka_unit_test(two_that_react_are_read_and_bad_ones_refused),
          cmocka_unit_test(a_bad_copy_is_told_once_and_not_made), cmocka_unit_test(reactions_are_read),
          cmocka_unit_test(reactions_that_cannot_be_are_refused), cmocka_unit_test(elasticity_is_read),
          cmocka_unit_test(elasticity_that_cannot_be_is_refused),
          cmocka_unit_test(elasticity_changes_as_a_whole_or_not_at_all),
          cmocka_unit_test(what_a_change_leaves_out_is_as_before),
          cmocka_unit_test(changes_that_cannot_be_are_refused),
          cmocka_unit_test(contact_angles_are_read_and_bad_ones_refused),
          cmocka_unit_test(regions_and_tensions_are_read), cmocka_unit_test(the_resolved_scene_is_the_same),
          cmocka_unit_test(a_bad_set_of_regions_is_refused),
          cmocka_unit_test(names_of_regions_that_are_not_are_refused),
          cmocka_unit_test(keys_that_contradict_regions_are_refused),
          cmocka_unit_test(what_lies_beyond_open_sides_is_read),
          cmocka_unit_test(what_cannot_lie_beyond_a_side_is_refused))
