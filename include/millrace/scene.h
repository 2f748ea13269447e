/* A scene in YAML -> the configuration of a Simulation: reading, overriding, checking, writing it back. */
#ifndef MILLRACE_SCENE_H
#define MILLRACE_SCENE_H

#include <millrace/api.h>
#include <millrace/simulation.h>

#include <stdio.h>

MILLRACE_API_BEGIN

typedef struct _p_Scene *Scene;

/* Reads the file on the first rank and shares it. Overrides are "grid.resolution=64", "obstacles.0.name=ball"
   and the like; file names in the scene, also of scenes that it includes, are relative to it. Mistakes of the
   user are no error codes: all of them are collected, and the configuration must not be used unless
   scene_is_good(). Collective: comm. */
PetscErrorCode SceneRead(MPI_Comm comm, const char path[], PetscInt override_count,
                         const char *const overrides[], Scene *scene);
/* The same from a text, such as the resolved one of a checkpoint; `name` stands for it in messages. Only the
   first rank's text counts. Collective: comm. */
PetscErrorCode SceneReadText(MPI_Comm comm, const char name[], const char text[], PetscInt override_count,
                             const char *const overrides[], Scene *scene);
/* The same from the scene that a checkpoint or frame holds. A file that cannot be read leaves `*scene` null
   and the reason in `message`, which is "" otherwise. Collective: comm. */
PetscErrorCode SceneReadCheckpoint(MPI_Comm comm, const char path[], PetscInt override_count,
                                   const char *const overrides[], Scene *scene, char message[],
                                   size_t message_size);
/* Accepts a null scene. Simulations made of its configuration must be destroyed before. Collective: the
   scene's communicator. */
PetscErrorCode SceneDestroy(Scene *scene);

/* The simulation that the scene describes, on the scene's communicator, which must be that of all ranks:
   hands `petsc:` to PETSc, creates the simulation, and checks bodies, solver options and inflows. When one of
   them is wrong, `*simulation` is null, and either `message` or a new problem of the scene (SceneReport)
   tells which; the `message` is "" otherwise. The caller destroys the simulation, before the scene. Ranks
   outside the solid team give the triangles of bodies' shapes back. Collective: the scene's communicator. */
PetscErrorCode SceneCreateSimulation(Scene scene, Simulation *simulation, char message[],
                                     size_t message_size);

PetscBool scene_is_good(Scene scene);

/* Lends what the scene says; null unless it is good. */
const SimulationConfig *scene_config(Scene scene);
/* The whole scene with defaults and overrides, as YAML; reading it gives the same configuration. */
const char *scene_resolved_text(Scene scene);
/* A run that goes on from a checkpoint needs no frame to begin with. */
void scene_forget_start(Scene scene);

typedef enum { PROBLEM_ERROR, PROBLEM_WARNING } ProblemSeverity;

typedef struct {
  ProblemSeverity severity;
  PetscInt        file;         /* 0: the scene itself; n: the n-th file that it includes */
  PetscInt        line, column; /* in the file, from 1; 0: no place in it */
  PetscInt        override;     /* the one that is wrong, or -1 */
  char           *message;      /* what is wrong and what would be right */
  PetscBool       is_told;      /* SceneReport has printed it */
} SceneProblem;

PetscInt            scene_problem_count(Scene scene);
const SceneProblem *scene_problem(Scene scene, PetscInt index);
/* file:line:column: error: ..., the line and a caret, for every problem that it has not told yet; nothing but
   on the first rank. Collective: the scene's communicator. */
PetscErrorCode SceneReport(Scene scene, FILE *file);

/* Adds what a room says of a scene that had been good as an error, at the keys that the message begins with
   (MessageAtKey). Collective: the scene's communicator. */
PetscErrorCode SceneAddMessage(Scene scene, const char message[]);

/* Adds a problem for every option of `petsc:` that may write files or run programs, unless they are allowed
   to, and for values, also of the command line, that PETSc does not understand. Before solvers are created.
 */
typedef enum { OPTIONS_STAY_INSIDE, OPTIONS_MAY_REACH_OUT } OptionReach;
/* Collective: the scene's communicator. */
PetscErrorCode SceneCheckOptionValues(Scene scene, OptionReach reach);
/* Hands `petsc:` to PETSc's database; the command line wins. Call before solvers are created. Collective: the
   scene's communicator. */
PetscErrorCode SceneSetPetscOptions(Scene scene);
/* Adds a problem for every option that no solver has asked for on any rank, PETSc's late ones exempt; call
   when the solvers are set up. Collective: the scene's communicator. */
PetscErrorCode SceneCheckPetscOptions(Scene scene, PetscBool *good);

/* Every key whose path, or if there is none whose meaning, holds `pattern` (null: all) with type, unit,
   default and meaning. Not collective. */
PetscErrorCode SceneKeysPrint(const char pattern[], FILE *file);
/* docs/inputs.md. Not collective. */
PetscErrorCode SceneInputsMarkdown(FILE *file);

MILLRACE_API_END

#endif
