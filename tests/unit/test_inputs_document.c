/* docs/inputs.md says what the tables say. `make inputs-doc` runs this program to write it anew. */
#include "harness.h"

#include <millrace/scene.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *read_all(FILE *file)
{
  char  *text = calloc(1, 1 << 20);
  size_t length;

  assert_non_null(text);
  rewind(file);
  length = fread(text, 1, (1 << 20) - 1, file);
  assert_true(length > 0);
  fclose(file);
  return text;
}

static char *written_now(void)
{
  FILE *file = tmpfile();

  assert_non_null(file);
  assert_success(SceneInputsMarkdown(file));
  return read_all(file);
}

static void the_document_is_current(void **state)
{
  const char *source = getenv("MILLRACE_SOURCE");
  char        path[PETSC_MAX_PATH_LEN], *now = written_now(), *stored;
  FILE       *file;

  (void)state;
  snprintf(path, sizeof(path), "%s/docs/inputs.md", source ? source : ".");
  file = fopen(path, getenv("MILLRACE_WRITE_INPUTS") ? "w+" : "r");
  if (!file)
    fail_msg("%s cannot be opened", path);
  if (getenv("MILLRACE_WRITE_INPUTS"))
    fputs(now, file);
  stored = read_all(file);
  if (strcmp(now, stored))
    fail_msg("%s is out of date: run `make inputs-doc` and commit it", path);
  free(now);
  free(stored);
}

static void keys_are_found_by_a_part_of_their_path(void **state)
{
  FILE *file = tmpfile();
  char *text;

  (void)state;
  assert_non_null(file);
  assert_success(SceneKeysPrint("resolution", file));
  text = read_all(file);
  assert_non_null(strstr(text, "grid.resolution\n"));
  assert_null(strstr(text, "grid.size"));
  free(text);
  file = tmpfile();
  assert_success(SceneKeysPrint(NULL, file));
  text = read_all(file);
  assert_non_null(strstr(text, "fluid.sides.x_low.type\n"));
  assert_non_null(strstr(text, "obstacles[].name\n"));
  assert_non_null(strstr(text, "shape.torus.minor\n"));
  assert_non_null(strstr(text, "motion.keyframes[].rotation\n"));
  free(text);
}

TEST_MAIN(cmocka_unit_test(the_document_is_current), cmocka_unit_test(keys_are_found_by_a_part_of_their_path))
