/* The values of keys: numbers, words, vectors, formulas. */
#include "scene_impl.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

PetscErrorCode ExpectKind(Scene scene, Node *node, NodeKind kind, const char what[], PetscBool *good)
{
  char path[PATH_LENGTH];

  PetscFunctionBegin;
  node_path(node, path, sizeof(path));
  *good = node->kind == kind ? PETSC_TRUE : PETSC_FALSE;
  if (*good && kind == NODE_VALUE && !node->text[0] && !node->quoted) {
    *good = PETSC_FALSE;
    PetscCall(ProblemAddAtKey(scene, node, PROBLEM_ERROR, "%s has no value; give %s", path, what));
  } else if (!*good) {
    const PetscBool empty = node->kind == NODE_VALUE && !node->text[0] && !node->quoted;

    PetscCall(ProblemAdd(scene, node, PROBLEM_ERROR, "%s must be %s, not %s", path[0] ? path : "the scene",
                         what, empty ? "empty" : node_kind_name(node)));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode CheckRange(Scene scene, Node *node, const SchemaKey *key, PetscReal value,
                                 PetscBool *good)
{
  const PetscInt errors = scene->error_count;
  char           path[PATH_LENGTH];

  PetscFunctionBegin;
  node_path(node, path, sizeof(path));
  if (key->range == SCHEMA_POSITIVE && !(value > 0))
    PetscCall(ProblemAdd(scene, node, PROBLEM_ERROR, "%s must be positive, not %g", path, (double)value));
  if (key->range == SCHEMA_NOT_NEGATIVE && !(value >= 0))
    PetscCall(
        ProblemAdd(scene, node, PROBLEM_ERROR, "%s must not be negative, but is %g", path, (double)value));
  if (key->range == SCHEMA_BETWEEN && !(value >= key->lowest && value <= key->highest))
    PetscCall(ProblemAdd(scene, node, PROBLEM_ERROR, "%s must lie between %g and %g, not at %g", path,
                         (double)key->lowest, (double)key->highest, (double)value));
  *good = scene->error_count == errors ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(0);
}

/* 1 or -1 for an infinity, otherwise 0. */
static int infinity_sign(const char text[])
{
  const char *word = text + (text[0] == '-' ? 1 : 0);

  if (strcmp(word, "inf") && strcmp(word, ".inf"))
    return 0;
  return text[0] == '-' ? -1 : 1;
}

/* A number, or arithmetic that gives one, such as 2*pi. */
PetscErrorCode ReadReal(Scene scene, Node *node, const SchemaKey *key, PetscReal *value)
{
  Formula   formula;
  PetscBool good;
  char      message[MESSAGE_LENGTH], path[PATH_LENGTH];

  PetscFunctionBegin;
  PetscCall(ExpectKind(scene, node, NODE_VALUE, "a number", &good));
  if (!good)
    PetscFunctionReturn(0);
  PetscCall(ExpandNames(scene, node));
  if (key->range == SCHEMA_ENDLESS && infinity_sign(node->text)) {
    *value = infinity_sign(node->text) * PETSC_INFINITY;
    PetscFunctionReturn(0);
  }
  node_path(node, path, sizeof(path));
  PetscCall(FormulaCreate(node->text, &formula, message, sizeof(message)));
  if (!formula && !strpbrk(node->text, "0123456789"))
    PetscCall(ProblemAdd(scene, node, PROBLEM_ERROR, "%s must be a number, not \"%.40s\"", path, node->text));
  else if (!formula)
    PetscCall(ProblemAdd(scene, node, PROBLEM_ERROR, "%s must be a number, not \"%.40s\" (%s)", path,
                         node->text, message));
  else if (!formula_is_constant(formula))
    PetscCall(ProblemAdd(scene, node, PROBLEM_ERROR, "%s must be a number and cannot depend on x, y, z or t",
                         path));
  else {
    *value = formula_value(formula, vector3(0, 0, 0), 0);
    PetscCall(CheckRange(scene, node, key, *value, &good));
  }
  PetscCall(FormulaDestroy(&formula));
  PetscFunctionReturn(0);
}

PetscErrorCode ReadInteger(Scene scene, Node *node, const SchemaKey *key, PetscInt *value)
{
  PetscBool good;
  char      path[PATH_LENGTH], *end;
  long      number;

  PetscFunctionBegin;
  PetscCall(ExpectKind(scene, node, NODE_VALUE, "a whole number", &good));
  if (!good)
    PetscFunctionReturn(0);
  if (key->automatic && !strcmp(node->text, key->automatic)) {
    *value = -1;
    PetscFunctionReturn(0);
  }
  PetscCall(ExpandWhole(scene, node));
  node_path(node, path, sizeof(path));
  errno = 0;
  number = strtol(node->text, &end, 10);
  if (end == node->text || *end || strspn(node->text, "+-0123456789") != strlen(node->text))
    PetscCall(ProblemAdd(scene, node, PROBLEM_ERROR, "%s must be a whole number%s%s, not \"%.40s\"", path,
                         key->automatic ? " or " : "", key->automatic ? key->automatic : "", node->text));
  else if (errno || number > PETSC_MAX_INT || number < PETSC_MIN_INT)
    PetscCall(ProblemAdd(scene, node, PROBLEM_ERROR, "%s is too large: %.40s", path, node->text));
  else {
    PetscCall(CheckRange(scene, node, key, (PetscReal)number, &good));
    if (good)
      *value = (PetscInt)number;
  }
  PetscFunctionReturn(0);
}

static void list_words(const char *const words[], char text[], size_t size)
{
  size_t used = 0;

  text[0] = '\0';
  for (PetscInt i = 0; words[i] && used < size; i++)
    used += snprintf(text + used, size - used, "%s%s", !i ? "" : words[i + 1] ? ", " : " or ", words[i]);
}

PetscErrorCode ReadChoice(Scene scene, Node *node, const SchemaKey *key, int *value)
{
  PetscBool   good;
  const char *near;
  char        path[PATH_LENGTH], choices[MESSAGE_LENGTH];

  PetscFunctionBegin;
  list_words(key->choices, choices, sizeof(choices));
  PetscCall(ExpectKind(scene, node, NODE_VALUE, choices, &good));
  if (!good)
    PetscFunctionReturn(0);
  for (int i = 0; key->choices[i]; i++)
    if (!strcmp(node->text, key->choices[i])) {
      *value = i;
      PetscFunctionReturn(0);
    }
  node_path(node, path, sizeof(path));
  near = closest_word(node->text, key->choices);
  if (near)
    PetscCall(ProblemAdd(scene, node, PROBLEM_ERROR,
                         "%s cannot be \"%.40s\"; did you mean \"%s\"? There are %s", path, node->text, near,
                         choices));
  else
    PetscCall(ProblemAdd(scene, node, PROBLEM_ERROR, "%s cannot be \"%.40s\"; it is one of %s", path,
                         node->text, choices));
  PetscFunctionReturn(0);
}

PetscErrorCode ReadText(Scene scene, Node *node, const SchemaKey *key, char **value)
{
  PetscBool good;

  PetscFunctionBegin;
  (void)key;
  PetscCall(ExpectKind(scene, node, NODE_VALUE, "a text", &good));
  if (good)
    PetscCall(PetscStrallocpy(node->text, value));
  PetscFunctionReturn(0);
}

/* Three components; in two dimensions, or where the dimension is still in doubt, the third may be left out.
 */
static PetscErrorCode ExpectComponents(Scene scene, Node *node, const char what[], PetscBool *good)
{
  const PetscInt dimension = scene_dimension(scene);
  char           path[PATH_LENGTH], message[MESSAGE_LENGTH];

  PetscFunctionBegin;
  snprintf(message, sizeof(message), "a list of %s %s", dimension == 3 ? "three" : "two or three", what);
  PetscCall(ExpectKind(scene, node, NODE_LIST, message, good));
  if (!*good || node->count == DIM || (node->count == 2 && dimension != 3))
    PetscFunctionReturn(0);
  node_path(node, path, sizeof(path));
  *good = PETSC_FALSE;
  PetscCall(
      ProblemAdd(scene, node, PROBLEM_ERROR, "%s must be %s, not of %d", path, message, (int)node->count));
  PetscFunctionReturn(0);
}

PetscErrorCode ReadVector(Scene scene, Node *node, const SchemaKey *key, Vector3 *value)
{
  PetscBool good;

  PetscFunctionBegin;
  *value = vector3(0, 0, 0);
  PetscCall(ExpectComponents(scene, node, "numbers", &good));
  for (PetscInt d = 0; good && d < node->count; d++)
    PetscCall(ReadReal(scene, node_item(node, d), key, &value->at[d]));
  PetscFunctionReturn(0);
}

PetscErrorCode ReadFormula(Scene scene, Node *node, const SchemaKey *key, Formula *value)
{
  PetscBool good;
  char      path[PATH_LENGTH], message[MESSAGE_LENGTH];

  PetscFunctionBegin;
  (void)key;
  PetscCall(ExpectKind(scene, node, NODE_VALUE, "a number or a formula", &good));
  if (!good)
    PetscFunctionReturn(0);
  PetscCall(ExpandNames(scene, node));
  node_path(node, path, sizeof(path));
  PetscCall(FormulaCreate(node->text, value, message, sizeof(message)));
  if (!*value)
    PetscCall(ProblemAdd(scene, node, PROBLEM_ERROR, "%s is not a formula: %s", path, message));
  else if (scene->config.grid.dimension == 2 && formula_uses_direction(*value, Z))
    PetscCall(ProblemAdd(scene, node, PROBLEM_ERROR,
                         "%s uses z, which a scene of two dimensions does not have", path));
  PetscFunctionReturn(0);
}

/* Whether the values turn something, in the plane about z; told by their unit. */
static PetscBool turns(const SchemaKey *key)
{
  static const char *const units[] = {"rad", "rad/s", "N m"};

  for (size_t n = 0; key && key->unit && n < PETSC_STATIC_ARRAY_LENGTH(units); n++)
    if (!strcmp(key->unit, units[n]))
      return PETSC_TRUE;
  return PETSC_FALSE;
}

PetscErrorCode ReadFormulas(Scene scene, Node *node, const SchemaKey *key, Formula value[DIM])
{
  PetscBool good;
  char      path[PATH_LENGTH];

  PetscFunctionBegin;
  PetscCall(ExpectComponents(scene, node, "numbers or formulas", &good));
  for (PetscInt d = 0; good && d < node->count; d++)
    PetscCall(ReadFormula(scene, node_item(node, d), key, &value[d]));
  if (good && !turns(key) && scene->config.grid.dimension == 2 && node->count == DIM && value[Z] &&
      (!formula_is_constant(value[Z]) || formula_value(value[Z], vector3(0, 0, 0), 0) != 0)) {
    node_path(node_item(node, Z), path, sizeof(path));
    PetscCall(ProblemAdd(scene, node_item(node, Z), PROBLEM_ERROR,
                         "%s must be 0 in two dimensions: nothing moves along z", path));
  }
  PetscFunctionReturn(0);
}
