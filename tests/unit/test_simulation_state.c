/* A state that is saved and loaded from C, without a run around it. */
#include "scene_run.h"
#include "scratch.h"

#define WATER                                                                                                \
  "grid: {size: [1.2, 0.8, 0.8], resolution: 12}\n"                                                          \
  "run: {end_time: 1, frame_interval: 1}\n"                                                                  \
  "fluid: {density: 1000, viscosity: 1, gravity: [0, -10, 0], sides: {y_high: {type: open}}}\n"
#define BODIES                                                                                               \
  "solids:\n"                                                                                                \
  "  gravity: [0, -10, 0]\n"                                                                                 \
  "  bodies:\n"                                                                                              \
  "    - {name: ball, density: 400, spin: [1, 2, 3], shape: {sphere: {center: [0.3, 0.41, 0.39], radius: "   \
  "0.13}}}\n"                                                                                                \
  "    - {name: box, density: 2000, shape: {box: {low: [0.6, 0.0, 0.3], high: [0.8, 0.2, 0.5]}}}\n"

static PetscErrorCode SaveState(Simulation simulation, const char path[])
{
  Archive archive;

  PetscFunctionBegin;
  if (simulation_writes(simulation)) {
    PetscCall(ArchiveCreate(simulation_writers(simulation), path, &archive));
    PetscCall(SimulationSave(simulation, archive));
    PetscCall(ArchiveCommit(&archive));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode LoadState(Simulation simulation, const char path[], char message[], size_t size)
{
  Archive archive = NULL;

  PetscFunctionBegin;
  if (simulation_writes(simulation))
    PetscCall(ArchiveOpen(simulation_writers(simulation), path, &archive, message, size));
  PetscCall(SimulationLoad(simulation, archive, message, size));
  PetscCall(ArchiveDestroy(&archive));
  PetscFunctionReturn(0);
}

/* Of the fluid on this rank and of all bodies, to the last bit. */
static PetscBool is_same_state(SceneRun *run, SceneRun *other)
{
  PetscBool same = PETSC_TRUE;

  for (PetscInt field = X; field <= FIELD_PRESSURE && run->fluid; field++) {
    PetscBool equal;
    Vec       values, others;

    assert_int_equal(SceneRunGetField(run, field, &values), 0);
    assert_int_equal(SceneRunGetField(other, field, &others), 0);
    assert_int_equal(VecEqual(values, others, &equal), 0);
    same = same && equal;
  }
  for (PetscInt b = 0; b < solid_body_count(simulation_solid(run->simulation)); b++) {
    const BodyView body = solid_body_view(simulation_solid(run->simulation), b);
    const BodyView twin = solid_body_view(simulation_solid(other->simulation), b);

    same = same && !memcmp(&body.position, &twin.position, sizeof(Vector3)) &&
           !memcmp(&body.velocity, &twin.velocity, sizeof(Vector3));
  }
  return same;
}

static void a_loaded_state_goes_on_like_the_one_that_was_saved(void **state)
{
  char     message[1024] = "";
  SceneRun run, twin;

  (void)state;
  assert_success(SceneRunCreate(PETSC_COMM_WORLD, &run, "%s", WATER BODIES));
  assert_success(SceneRunStep(&run, 3, 0.01));
  assert_success(SaveState(run.simulation, scratch_path("state.h5")));
  assert_success(SceneRunCreate(PETSC_COMM_WORLD, &twin, "%s", WATER BODIES));
  assert_success(LoadState(twin.simulation, scratch.path, message, sizeof(message)));
  assert_string_equal(message, "");
  assert_on_all_ranks(simulation_time(twin.simulation) == simulation_time(run.simulation));
  assert_on_all_ranks(is_same_state(&run, &twin));
  assert_success(SceneRunStep(&run, 2, 0.01));
  assert_success(SceneRunStep(&twin, 2, 0.01));
  assert_on_all_ranks(is_same_state(&run, &twin));
  assert_success(SceneRunDestroy(&twin));
  assert_success(SceneRunDestroy(&run));
}

static void a_state_of_another_scene_is_refused(void **state)
{
  char     message[1024] = "";
  SceneRun run, other;

  (void)state;
  assert_success(SceneRunCreate(PETSC_COMM_WORLD, &run, "%s", WATER BODIES));
  assert_success(SaveState(run.simulation, scratch_path("state.h5")));
  assert_success(SceneRunCreate(PETSC_COMM_WORLD, &other, "%s",
                                WATER BODIES
                                "    - {name: third, density: 2000, shape: {sphere: {center: [0.5, 0.6, "
                                "0.2], radius: 0.1}}}\n"));
  assert_success(LoadState(other.simulation, scratch.path, message, sizeof(message)));
  assert_on_all_ranks(strstr(message, "2 bodies: ball, box") && strstr(message, "third"));
  assert_success(SceneRunDestroy(&other));
  assert_success(SceneRunDestroy(&run));
}

TEST_MAIN(in_scratch(a_loaded_state_goes_on_like_the_one_that_was_saved),
          in_scratch(a_state_of_another_scene_is_refused))
