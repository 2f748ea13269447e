/* What makes a scene shorter and is gone once it is resolved: merge keys (<<), blocks whose names begin with
   x-, and named values (let), which numbers and formulas may use. */
#include "scene_impl.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

enum { LONGEST_FORMULA = 8192, LONGEST_NAME = 31 };

/* Keys of `from` that the map does not have itself. */
static PetscErrorCode AddMissing(Node *map, const Node *from)
{
  PetscFunctionBegin;
  for (const Node *child = from->first; child; child = child->next) {
    Node *copy;

    if (node_find(map, child->key))
      continue;
    PetscCall(NodeCopy(child, &copy));
    node_append(map, copy);
  }
  PetscFunctionReturn(0);
}

/* `<<: *block` or `<<: [*first, *second]`, of which the first counts more. */
static PetscErrorCode MergeInto(Scene scene, Node *map, Node *merged)
{
  const Node *item = merged->kind == NODE_LIST ? merged->first : merged;

  PetscFunctionBegin;
  node_detach(merged);
  for (; item; item = merged->kind == NODE_LIST ? item->next : NULL)
    if (item->kind == NODE_MAP)
      PetscCall(AddMissing(map, item));
    else
      PetscCall(ProblemAddAtKey(scene, merged, PROBLEM_ERROR,
                                "<< takes the keys of a block, such as <<: *name, or of a list of blocks"));
  PetscCall(NodeDestroy(&merged));
  PetscFunctionReturn(0);
}

PetscErrorCode SceneMergeKeys(Scene scene, Node *node)
{
  Node *merged = node_find(node, "<<");

  PetscFunctionBegin;
  for (Node *child = node->first; child; child = child->next)
    PetscCall(SceneMergeKeys(scene, child));
  if (merged)
    PetscCall(MergeInto(scene, node, merged));
  PetscFunctionReturn(0);
}

static PetscErrorCode DropExtras(Scene scene)
{
  PetscFunctionBegin;
  for (Node *child = scene->root->first, *next; child; child = next) {
    next = child->next;
    if (strncmp(child->key, "x-", 2))
      continue;
    node_detach(child);
    PetscCall(NodeDestroy(&child));
  }
  PetscFunctionReturn(0);
}

static PetscBool is_word_start(char c)
{
  return isalpha((unsigned char)c) || c == '_' ? PETSC_TRUE : PETSC_FALSE;
}

/* How many characters of `text` are one word, or one number with its exponent, or one sign. */
static size_t token_length(const char text[])
{
  size_t length = 0;

  if (is_word_start(text[0])) {
    while (isalnum((unsigned char)text[length]) || text[length] == '_')
      length++;
    return length;
  }
  while (isdigit((unsigned char)text[length]) || text[length] == '.')
    length++;
  if (length && (text[length] == 'e' || text[length] == 'E')) {
    const size_t sign = text[length + 1] == '+' || text[length + 1] == '-' ? 2 : 1;

    if (isdigit((unsigned char)text[length + sign]))
      length += sign;
    while (isdigit((unsigned char)text[length]))
      length++;
  }
  return PetscMax(length, 1);
}

static const char *value_called(Scene scene, const char word[], size_t length)
{
  for (PetscInt n = 0; n < scene->named_count; n++)
    if (strlen(scene->named[n].name) == length && !strncmp(scene->named[n].name, word, length))
      return scene->named[n].text;
  return NULL;
}

PetscErrorCode ExpandNames(Scene scene, Node *node)
{
  char   expanded[LONGEST_FORMULA + 1];
  size_t used = 0;

  PetscFunctionBegin;
  if (!scene->named_count || node->kind != NODE_VALUE)
    PetscFunctionReturn(0);
  for (const char *at = node->text; *at;) {
    const size_t length = token_length(at);
    const char  *value = is_word_start(*at) ? value_called(scene, at, length) : NULL;

    used += value ? (size_t)snprintf(expanded + used, sizeof(expanded) - used, "(%s)", value)
                  : (size_t)snprintf(expanded + used, sizeof(expanded) - used, "%.*s", (int)length, at);
    at += length;
    if (used >= sizeof(expanded)) {
      PetscCall(ProblemAdd(scene, node, PROBLEM_ERROR,
                           "with the values of its names this is longer than %d characters",
                           (int)LONGEST_FORMULA));
      PetscFunctionReturn(0);
    }
  }
  if (used && strcmp(expanded, node->text))
    PetscCall(NodeSetText(node, expanded, used));
  PetscFunctionReturn(0);
}

PetscErrorCode ExpandWhole(Scene scene, Node *node)
{
  char      message[MESSAGE_LENGTH], text[32];
  Formula   formula = NULL;
  PetscReal value;

  PetscFunctionBegin;
  if (!scene->named_count || node->kind != NODE_VALUE ||
      !strpbrk(node->text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"))
    PetscFunctionReturn(0);
  PetscCall(ExpandNames(scene, node));
  PetscCall(FormulaCreate(node->text, &formula, message, sizeof(message)));
  value = formula && formula_is_constant(formula) ? formula_value(formula, vector3(0, 0, 0), 0) : 0.5;
  PetscCall(FormulaDestroy(&formula));
  if (value != PetscFloorReal(value) || PetscAbsReal(value) > 1e15)
    PetscFunctionReturn(0); /* told as what it is */
  snprintf(text, sizeof(text), "%.0f", (double)value);
  PetscCall(NodeSetText(node, text, strlen(text)));
  PetscFunctionReturn(0);
}

static PetscErrorCode CheckName(Scene scene, const Node *item, PetscBool *good)
{
  const size_t length = strlen(item->key);

  PetscFunctionBegin;
  *good = PETSC_FALSE;
  if (!is_word_start(item->key[0]) || token_length(item->key) != length || length > LONGEST_NAME)
    PetscCall(ProblemAddAtKey(scene, item, PROBLEM_ERROR,
                              "a name in let is 1 to %d letters, digits and _, and begins with a letter",
                              (int)LONGEST_NAME));
  else if (formula_word_is_taken(item->key) || !strcmp(item->key, "inf"))
    PetscCall(ProblemAddAtKey(scene, item, PROBLEM_ERROR,
                              "\"%s\" has a meaning in formulas; choose another name", item->key));
  else
    *good = PETSC_TRUE;
  PetscFunctionReturn(0);
}

/* A value may use those before it. */
static PetscErrorCode AddNamed(Scene scene, Node *item)
{
  char      message[MESSAGE_LENGTH];
  Formula   formula = NULL;
  PetscBool good;

  PetscFunctionBegin;
  PetscCall(CheckName(scene, item, &good));
  if (good)
    PetscCall(ExpectKind(scene, item, NODE_VALUE, "a number or a formula", &good));
  if (!good)
    PetscFunctionReturn(0);
  PetscCall(ExpandNames(scene, item));
  PetscCall(FormulaCreate(item->text, &formula, message, sizeof(message)));
  if (!formula)
    PetscCall(ProblemAdd(scene, item, PROBLEM_ERROR, "let.%s is not a formula: %s", item->key, message));
  PetscCall(FormulaDestroy(&formula));
  PetscCall(PetscStrallocpy(item->key, &scene->named[scene->named_count].name));
  PetscCall(PetscStrallocpy(item->text, &scene->named[scene->named_count].text));
  scene->named_count++;
  PetscFunctionReturn(0);
}

static PetscErrorCode TakeNamed(Scene scene)
{
  Node     *let = node_find(scene->root, "let");
  PetscBool good;

  PetscFunctionBegin;
  if (!let)
    PetscFunctionReturn(0);
  PetscCall(ExpectKind(scene, let, NODE_MAP, "a block of names with their values", &good));
  if (good) {
    PetscCall(PetscCalloc1(let->count + 1, &scene->named));
    for (Node *item = let->first; item; item = item->next)
      PetscCall(AddNamed(scene, item));
  }
  node_detach(let);
  PetscCall(NodeDestroy(&let));
  PetscFunctionReturn(0);
}

/* Files are joined before keys are overridden. */
static PetscErrorCode RefuseInclude(Scene scene)
{
  Node *include = node_find(scene->root, "include");

  PetscFunctionBegin;
  if (!include)
    PetscFunctionReturn(0);
  PetscCall(ProblemAdd(scene, include, PROBLEM_ERROR,
                       "include stands in a scene; override its keys one by one instead"));
  node_detach(include);
  PetscCall(NodeDestroy(&include));
  PetscFunctionReturn(0);
}

PetscErrorCode SceneExpand(Scene scene)
{
  PetscFunctionBegin;
  PetscCall(RefuseInclude(scene));
  PetscCall(DropExtras(scene));
  PetscCall(TakeNamed(scene));
  PetscFunctionReturn(0);
}
