/* Mistakes in a scene: collected, then told together, each at its place. */
#include "scene_impl.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static PetscErrorCode Append(Scene scene, SceneProblem problem, const char message[])
{
  PetscFunctionBegin;
  PetscCall(GrowList(scene->problem_count, &scene->problem_capacity, &scene->problems));
  PetscCall(PetscStrallocpy(message, &problem.message));
  scene->problems[scene->problem_count++] = problem;
  if (problem.severity == PROBLEM_ERROR)
    scene->error_count++;
  PetscFunctionReturn(0);
}

/* A copy's mistakes are those of its original, which stands at the same place. */
static PetscBool is_told(Scene scene, const Node *node, const SceneProblem *problem)
{
  if (!node || !node->copied)
    return PETSC_FALSE;
  for (PetscInt i = 0; i < scene->problem_count; i++) {
    const SceneProblem *other = &scene->problems[i];

    if (other->severity == problem->severity && other->line == problem->line &&
        other->column == problem->column && other->file == problem->file &&
        other->override == problem->override)
      return PETSC_TRUE;
  }
  return PETSC_FALSE;
}

/* The nearest node around this one that the user has written. */
static const Node *written(const Node *node)
{
  while (node && !node->line && !node->key_line && node->override < 0)
    node = node->parent;
  return node;
}

typedef enum { AT_VALUE, AT_KEY } ProblemPlace;

static PetscErrorCode AddAt(Scene scene, const Node *node, ProblemPlace place, SceneProblem problem,
                            const char format[], va_list arguments)
{
  char message[MESSAGE_LENGTH];

  PetscFunctionBegin;
  node = written(node);
  if (node) {
    const PetscBool at_key = place == AT_KEY && node->key_line;

    problem.file = node->file;
    problem.override = node->override;
    problem.line = at_key ? node->key_line : node->line;
    problem.column = at_key ? node->key_column : node->column;
  }
  if (is_told(scene, node, &problem)) {
    if (problem.severity == PROBLEM_ERROR)
      scene->error_count++; /* nothing is made of the copy either */
    PetscFunctionReturn(0);
  }
  vsnprintf(message, sizeof(message), format, arguments);
  PetscCall(Append(scene, problem, message));
  PetscFunctionReturn(0);
}

PetscErrorCode ProblemAdd(Scene scene, const Node *node, ProblemSeverity severity, const char format[], ...)
{
  const SceneProblem problem = {.severity = severity, .override = -1};
  va_list            arguments;

  PetscFunctionBegin;
  va_start(arguments, format);
  PetscCall(AddAt(scene, node, AT_VALUE, problem, format, arguments));
  va_end(arguments);
  PetscFunctionReturn(0);
}

PetscErrorCode ProblemAddAtKey(Scene scene, const Node *node, ProblemSeverity severity, const char format[],
                               ...)
{
  const SceneProblem problem = {.severity = severity, .override = -1};
  va_list            arguments;

  PetscFunctionBegin;
  va_start(arguments, format);
  PetscCall(AddAt(scene, node, AT_KEY, problem, format, arguments));
  va_end(arguments);
  PetscFunctionReturn(0);
}

PetscErrorCode ProblemAddAt(Scene scene, PetscInt override, PetscInt line, PetscInt column,
                            const char message[])
{
  SceneProblem problem = {
      .severity = PROBLEM_ERROR, .file = scene->parsed, .line = line, .column = column, .override = override};

  PetscFunctionBegin;
  PetscCall(Append(scene, problem, message));
  PetscFunctionReturn(0);
}

PetscInt scene_problem_count(Scene scene)
{
  return scene->problem_count;
}

const SceneProblem *scene_problem(Scene scene, PetscInt index)
{
  return &scene->problems[index];
}

static void print_line(const char text[], PetscInt line, PetscInt column, FILE *file)
{
  const char *start = text;
  int         length;

  for (PetscInt i = 1; i < line && start; i++) {
    start = strchr(start, '\n');
    if (start)
      start++;
  }
  if (!start)
    return;
  length = (int)strcspn(start, "\r\n");
  fprintf(file, "  %.*s\n  ", length, start);
  /* tabs stay tabs, so that the caret stands below its column */
  for (PetscInt i = 1; i < column; i++)
    fputc(i <= length && start[i - 1] == '\t' ? '\t' : ' ', file);
  fprintf(file, "^\n");
}

PetscErrorCode SceneReport(Scene scene, FILE *file)
{
  static const char *const severities[] = {"error", "warning"};
  PetscMPIInt              rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(scene->comm, &rank));
  if (rank)
    PetscFunctionReturn(0);
  for (PetscInt i = 0; i < scene->problem_count; i++) {
    SceneProblem *problem = &scene->problems[i];
    const char   *severity = severities[problem->severity];

    if (problem->is_told)
      continue;
    problem->is_told = PETSC_TRUE;
    if (problem->override >= 0)
      fprintf(file, "--set %s: %s: %s\n", scene->overrides[problem->override], severity, problem->message);
    else if (!problem->line)
      fprintf(file, "%s: %s: %s\n", scene->name, severity, problem->message);
    else {
      const SceneFile *place = &scene->files[problem->file];

      fprintf(file, "%s:%d:%d: %s: %s\n", place->name, (int)problem->line, (int)problem->column, severity,
              problem->message);
      print_line(place->text, problem->line, problem->column, file);
    }
  }
  fflush(file);
  PetscFunctionReturn(0);
}

/* The item of that name, or of the entry that it is a copy of (name.number). */
static Node *named_item(const Node *list, const char name[], size_t length)
{
  Node *entry = NULL;

  for (Node *item = list ? list->first : NULL; item; item = item->next) {
    const Node  *found = node_find(item, "name");
    const size_t most = found && found->text ? strlen(found->text) : 0;

    if (!most || most > length || strncmp(found->text, name, most))
      continue;
    if (most == length)
      return item;
    if (name[most] == '.')
      entry = item;
  }
  return entry;
}

/* The node at the keys that a message begins with, or the deepest on the way there; an obstacle that moves is
   a body. */
static Node *message_node(Scene scene, const char message[])
{
  const char *at = message, *end = message_text(message);
  Node       *node = scene->root, *next = node;

  while (at < end && next) {
    const size_t length = strcspn(at, ".[:");
    char         key[64];

    snprintf(key, sizeof(key), "%.*s", (int)length, at);
    next = node_find(node, key);
    node = next ? next : node;
    at += length + 1;
    if (at[-1] != '.')
      break;
  }
  if (next && at > message && at[-1] == '[') {
    const size_t length = strcspn(at, "]");

    next = named_item(node, at, length);
    if (!next)
      next = named_item(node_find(scene->root, "obstacles"), at, length);
  }
  return next ? next : node;
}

PetscErrorCode SceneAddMessage(Scene scene, const char message[])
{
  PetscFunctionBegin;
  PetscCall(ProblemAdd(scene, message_node(scene, message), PROBLEM_ERROR, "%s", message_text(message)));
  PetscFunctionReturn(0);
}
