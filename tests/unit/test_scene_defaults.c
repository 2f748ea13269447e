/* A config that is filled in C is the config of a scene that leaves everything out. */
#include "harness.h"

#include <millrace/scene.h>

#include <string.h>

static PetscBool same_formula(Formula a, Formula b)
{
  return !a == !b && (!a || !strcmp(formula_text(a), formula_text(b)));
}

static PetscBool same_value(const SchemaKey *key, const char *a, const char *b)
{
  switch (key->kind) {
  case SCHEMA_REAL:
    return !memcmp(a, b, sizeof(PetscReal));
  case SCHEMA_INTEGER:
    return !memcmp(a, b, sizeof(PetscInt));
  case SCHEMA_CHOICE:
    return !memcmp(a, b, sizeof(int));
  case SCHEMA_VECTOR:
    return !memcmp(a, b, sizeof(Vector3));
  case SCHEMA_TEXT:
    return !strcmp(*(char *const *)a, *(char *const *)b);
  case SCHEMA_FORMULA:
    return same_formula(*(const Formula *)a, *(const Formula *)b);
  case SCHEMA_FORMULAS:
    for (PetscInt d = 0; d < DIM; d++)
      if (!same_formula(((const Formula *)a)[d], ((const Formula *)b)[d]))
        return PETSC_FALSE;
    return PETSC_TRUE;
  default:
    return PETSC_FALSE;
  }
}

/* Compares what has a default, and counts it. */
static PetscInt compare(const SchemaKey keys[], const void *filled, const void *read)
{
  PetscInt count = 0;

  for (const SchemaKey *key = keys; key->name; key++) {
    const char *a = (const char *)filled + key->offset, *b = (const char *)read + key->offset;

    if ((key->kind == SCHEMA_BLOCK && !key->fallback) || (key->kind == SCHEMA_BRIEF && key->fallback))
      count += compare(key->keys, a, b);
    else if (key->fallback && key->fallback[0]) {
      if (!same_value(key, a, b))
        fail_msg("%s is not the default of a scene", key->name);
      count++;
    }
  }
  return count;
}

static Scene read_scene(const char text[])
{
  Scene scene;

  assert_success(SceneReadText(PETSC_COMM_WORLD, "test", text, 0, NULL, &scene));
  assert_success(SceneReport(scene, stderr));
  assert_true(scene_is_good(scene));
  return scene;
}

static void defaults_are_those_of_a_scene(void **state)
{
  Scene scene = read_scene("grid: {size: [1, 1, 1], resolution: 8}\nrun: {end_time: 1, frame_interval: 1}\n"
                           "fluid: {density: 1}\n");
  const SimulationConfig *config = scene_config(scene);
  SimulationConfig        filled = {0};

  (void)state;
  assert_success(ConfigSetDefaults(TeamKeys, &filled.parallel));
  assert_success(ConfigSetDefaults(GridKeys, &filled.grid));
  assert_success(ConfigSetDefaults(RunKeys, &filled.run));
  assert_success(ConfigSetDefaults(FluidKeys, &filled.fluid));
  assert_success(ConfigSetDefaults(CouplingKeys, &filled.coupling));
  assert_int_equal(filled.parallel.solid_ranks, -1);
  assert_true(compare(TeamKeys, &filled.parallel, &config->parallel) == 2);
  assert_true(compare(GridKeys, &filled.grid, &config->grid) >= 1);
  assert_true(compare(RunKeys, &filled.run, &config->run) >= 4);
  assert_true(compare(FluidKeys, &filled.fluid, &config->fluid) >= 12);
  assert_true(compare(CouplingKeys, &filled.coupling, &config->coupling) >= 4);
  assert_success(ConfigDestroyDefaults(FluidKeys, &filled.fluid));
  assert_success(SceneDestroy(&scene));
}

static void defaults_of_a_body_are_those_of_a_scene(void **state)
{
  Scene scene =
      read_scene("run: {end_time: 1, frame_interval: 1}\nsolids:\n  bodies:\n"
                 "    - {name: ball, shape: {sphere: {center: [0, 0, 0], radius: 1}}, density: 1}\n");
  const SolidConfig *config = &scene_config(scene)->solids;
  SolidConfig        filled = {0};
  BodyConfig         body = {0};
  const SchemaKey   *bodies = SolidKeys;

  (void)state;
  while (strcmp(bodies->name, "bodies"))
    bodies++;
  assert_success(ConfigSetDefaults(SolidKeys, &filled));
  assert_success(ConfigSetDefaults(bodies->keys, &body));
  assert_true(compare(SolidKeys, &filled, config) >= 4);
  assert_true(compare(bodies->keys, &body, &config->bodies[0]) >= 6);
  assert_success(ConfigDestroyDefaults(bodies->keys, &body));
  assert_success(ConfigDestroyDefaults(SolidKeys, &filled));
  assert_success(SceneDestroy(&scene));
}

TEST_MAIN(cmocka_unit_test(defaults_are_those_of_a_scene),
          cmocka_unit_test(defaults_of_a_body_are_those_of_a_scene))
