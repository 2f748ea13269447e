/* libFuzzer's target: any text must be read or refused, never crash, and a good scene must survive its own
   resolved text. What follows a line "@@" is a list of overrides, one a line. Run by `make fuzz`. */
#include <millrace/scene.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_OVERRIDES = 8 };

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(PetscErrorCode error)
{
  if (error)
    abort();
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
  (void)argc;
  (void)argv;
  require(PetscInitializeNoArguments());
  return 0;
}

static PetscInt split_overrides(char text[], const char *overrides[MOST_OVERRIDES])
{
  char    *at = strstr(text, "\n@@\n");
  PetscInt count = 0;

  if (!at)
    return 0;
  at[1] = '\0';
  for (at = strtok(at + 4, "\n"); at && count < MOST_OVERRIDES; at = strtok(NULL, "\n"))
    overrides[count++] = at;
  return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  const char *overrides[MOST_OVERRIDES];
  char       *text = calloc(1, size + 1);
  PetscInt    count;
  Scene       scene, again;

  if (!text)
    return 0;
  memcpy(text, data, size);
  count = split_overrides(text, overrides);
  require(SceneReadText(PETSC_COMM_SELF, "fuzz", text, count, overrides, &scene));
  if (scene_is_good(scene)) {
    require(SceneReadText(PETSC_COMM_SELF, "again", scene_resolved_text(scene), 0, NULL, &again));
    if (!scene_is_good(again) || strcmp(scene_resolved_text(scene), scene_resolved_text(again)))
      abort();
    require(SceneDestroy(&again));
  }
  require(SceneDestroy(&scene));
  free(text);
  return 0;
}
