/* From a scene to a simulation. */
#include "scene_impl.h"

static PetscErrorCode ReadSceneText(Archive archive, void *context)
{
  PetscFunctionBegin;
  PetscCall(ArchiveReadText(archive, "scene", context));
  PetscFunctionReturn(0);
}

PetscErrorCode SceneReadCheckpoint(MPI_Comm comm, const char path[], PetscInt override_count,
                                   const char *const overrides[], Scene *scene, char message[],
                                   size_t message_size)
{
  Archive archive;
  char   *text;

  PetscFunctionBegin;
  *scene = NULL;
  PetscCall(ArchiveOpen(comm, path, &archive, message, message_size));
  if (!archive)
    PetscFunctionReturn(0);
  PetscCall(ArchiveTry(archive, ReadSceneText, &text, message, message_size));
  PetscCall(ArchiveDestroy(&archive));
  if (message[0])
    PetscFunctionReturn(0);
  PetscCall(SceneReadText(comm, path, text, override_count, overrides, scene));
  PetscCall(PetscFree(text));
  PetscFunctionReturn(0);
}

/* The solid team has made the forms of bodies; the other ranks fetch the surfaces that they meet. Splashing
   liquid asks for distances from them. */
static PetscErrorCode DropBodySurfaces(Scene scene, Simulation simulation)
{
  PetscFunctionBegin;
  if (team_has_solids(simulation_team(simulation)) || scene->config.splash.particles)
    PetscFunctionReturn(0);
  for (PetscInt b = 0; b < scene->config.solids.body_count; b++)
    PetscCall(ShapeDropSurfaces(scene->config.solids.bodies[b].shape));
  PetscFunctionReturn(0);
}

/* What is wrong with bodies, joints and regions is found when they are made, and becomes a problem of the
 * scene. */
static PetscErrorCode CreateChecked(Scene scene, Simulation *simulation, char message[], size_t size)
{
  PetscBool good;

  PetscFunctionBegin;
  PetscCall(SceneSetPetscOptions(scene));
  PetscCall(SimulationCreate(scene->comm, scene_config(scene), simulation, message, size));
  if (!*simulation) {
    PetscCall(SceneAddMessage(scene, message));
    message[0] = '\0';
    PetscFunctionReturn(0);
  }
  PetscCall(DropBodySurfaces(scene, *simulation));
  PetscCall(SceneCheckPetscOptions(scene, &good));
  if (good)
    PetscCall(SimulationCheckBalance(*simulation, message, size));
  if (message[0])
    PetscCall(SceneAddMessage(scene, message));
  if (!good || message[0])
    PetscCall(SimulationDestroy(simulation));
  message[0] = '\0';
  PetscFunctionReturn(0);
}

PetscErrorCode SceneCreateSimulation(Scene scene, Simulation *simulation, char message[], size_t size)
{
  PetscMPIInt ranks;

  PetscFunctionBegin;
  *simulation = NULL;
  message[0] = '\0';
  if (!scene_is_good(scene))
    PetscFunctionReturn(0);
  PetscCallMPI(MPI_Comm_size(scene->comm, &ranks));
  PetscCall(SimulationConfigCheckRanks(scene_config(scene), ranks, message, size));
  if (!message[0])
    PetscCall(CreateChecked(scene, simulation, message, size));
  PetscFunctionReturn(0);
}
