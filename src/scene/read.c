/* From the tree to the config structs, by the tables of keys.

   What the user left out is added to the tree from the tables, so that the tree ends as the resolved scene:
   it is read by the same functions, written by NodeEmit, and read again with the same result. */
#include "scene_impl.h"

#include <string.h>

enum { MOST_KEYS = 32 };

static PetscErrorCode ReadBlock(Scene scene, Node *node, const SchemaKey *key, void *base)
{
  PetscBool good;

  PetscFunctionBegin;
  PetscCall(ExpectKind(scene, node, NODE_MAP, "a block of keys", &good));
  if (good)
    PetscCall(ReadKeys(scene, node, key->keys, base));
  PetscFunctionReturn(0);
}

/* A bare value stands for {first key: value}. */
static PetscErrorCode ReadBrief(Scene scene, Node *node, const SchemaKey *key, void *base)
{
  PetscFunctionBegin;
  if (node->kind == NODE_VALUE && (node->text[0] || node->quoted)) {
    Node *inner;

    PetscCall(NodeCopy(node, &inner));
    inner->copied = node->copied;
    PetscCall(NodeSetKey(inner, key->keys[0].name));
    PetscCall(PetscFree(node->text));
    node->kind = NODE_MAP;
    node_append(node, inner);
  }
  PetscCall(ReadBlock(scene, node, key, base));
  PetscFunctionReturn(0);
}

static PetscErrorCode ReadList(Scene scene, Node *node, const SchemaKey *key, char *base)
{
  PetscInt *count = (PetscInt *)(base + key->count);
  char    **items = (char **)(base + key->offset);
  PetscBool good;
  PetscInt  i = 0;

  PetscFunctionBegin;
  PetscCall(ExpectKind(scene, node, NODE_LIST, "a list: one \"- ...\" for each", &good));
  if (!good || !node->count)
    PetscFunctionReturn(0);
  PetscCall(PetscCalloc1(node->count * key->size, items));
  *count = node->count;
  for (Node *child = node->first; child; child = child->next, i++)
    PetscCall(ReadBlock(scene, child, key, *items + i * key->size));
  PetscFunctionReturn(0);
}

static PetscErrorCode ReadValue(Scene scene, Node *node, const SchemaKey *key, char *base)
{
  void *const value = base + key->offset;

  PetscFunctionBegin;
  switch (key->kind) {
  case SCHEMA_REAL:
    PetscCall(ReadReal(scene, node, key, value));
    break;
  case SCHEMA_INTEGER:
    PetscCall(ReadInteger(scene, node, key, value));
    break;
  case SCHEMA_TEXT:
    PetscCall(ReadText(scene, node, key, value));
    break;
  case SCHEMA_CHOICE:
    PetscCall(ReadChoice(scene, node, key, value));
    break;
  case SCHEMA_VECTOR:
    PetscCall(ReadVector(scene, node, key, value));
    break;
  case SCHEMA_FORMULA:
    PetscCall(ReadFormula(scene, node, key, value));
    break;
  case SCHEMA_FORMULAS:
    PetscCall(ReadFormulas(scene, node, key, value));
    break;
  case SCHEMA_BLOCK:
    PetscCall(ReadBlock(scene, node, key, value));
    break;
  case SCHEMA_BRIEF:
    PetscCall(ReadBrief(scene, node, key, value));
    break;
  case SCHEMA_LIST:
    PetscCall(ReadList(scene, node, key, base));
    break;
  case SCHEMA_SHAPE:
    PetscCall(ReadShape(scene, node, SURFACE_CLOSED, value));
    break;
  case SCHEMA_FORM:
    PetscCall(ReadShape(scene, node, SURFACE_ANY, value));
    break;
  case SCHEMA_MOTION:
    PetscCall(ReadMotion(scene, node, value));
    break;
  case SCHEMA_NAMED:
    PetscCall(ReadNamed(scene, node, value));
    break;
  case SCHEMA_OPTIONS:
    PetscCall(ReadOptions(scene, node));
    break;
  }
  PetscFunctionReturn(0);
}

/* The node of a key of `within`: the user's, from `given`, or a new one with the default; null if there is
 * nothing to read. */
static PetscErrorCode TakeNode(Scene scene, const Node *within, const Node *given, const SchemaKey *key,
                               Node **node)
{
  char path[PATH_LENGTH];

  PetscFunctionBegin;
  *node = node_find(given, key->name);
  if (*node) {
    node_detach(*node);
    PetscFunctionReturn(0);
  }
  if (key->kind == SCHEMA_BLOCK && !key->fallback)
    PetscCall(NodeCreate(NODE_MAP, node));
  else if (!key->fallback) {
    node_path(within, path, sizeof(path));
    PetscCall(ProblemAddAtKey(scene, within, PROBLEM_ERROR, "%s%s%s is missing (%s)", path,
                              path[0] ? "." : "", key->name, key->help));
  } else if (key->fallback[0])
    PetscCall(YamlParse(scene, key->fallback, -1, node));
  if (!*node)
    PetscFunctionReturn(0);
  (*node)->line = (*node)->column = 0;
  for (Node *child = (*node)->first; child; child = child->next)
    child->line = child->column = 0;
  PetscCall(NodeSetKey(*node, key->name));
  PetscFunctionReturn(0);
}

static PetscErrorCode ReportUnknown(Scene scene, const Node *map, const Node *node, const SchemaKey keys[])
{
  const char *names[MOST_KEYS], *near;
  char        list[MESSAGE_LENGTH] = "", path[PATH_LENGTH];
  size_t      used = 0;
  PetscInt    count = 0;

  PetscFunctionBegin;
  for (; keys[count].name && count < MOST_KEYS - 1; count++) {
    names[count] = keys[count].name;
    if (used < sizeof(list))
      used += snprintf(list + used, sizeof(list) - used, "%s%s", count ? ", " : "", names[count]);
  }
  names[count] = NULL;
  near = closest_word(node->key, names);
  node_path(map, path, sizeof(path));
  if (near)
    PetscCall(ProblemAddAtKey(scene, node, PROBLEM_ERROR, "%s has no key \"%.40s\"; did you mean \"%s\"?",
                              path[0] ? path : "a scene", node->key, near));
  else
    PetscCall(ProblemAddAtKey(scene, node, PROBLEM_ERROR, "%s has no key \"%.40s\"; there are %s",
                              path[0] ? path : "a scene", node->key, list));
  PetscFunctionReturn(0);
}

PetscErrorCode ReadKeys(Scene scene, Node *map, const SchemaKey keys[], void *base)
{
  Node     rest = {.kind = NODE_MAP};
  PetscInt errors;

  PetscFunctionBegin;
  /* the map is rebuilt in the order of the table */
  rest.first = map->first;
  rest.last = map->last;
  rest.count = map->count;
  map->first = map->last = NULL;
  map->count = 0;
  for (Node *child = rest.first; child; child = child->next)
    child->parent = &rest;
  for (PetscInt i = 0; keys[i].name; i++) {
    Node *node;

    PetscCall(TakeNode(scene, map, &rest, &keys[i], &node));
    if (!node)
      continue;
    node_append(map, node);
    errors = scene->error_count;
    PetscCall(ReadValue(scene, node, &keys[i], base));
    if (scene->error_count > errors)
      node->bad = PETSC_TRUE;
  }
  while (rest.first) {
    Node *node = rest.first;

    node_detach(node);
    node_append(map, node);
    /* a key that is given twice has been told of by the parser */
    if (node_find(map, node->key) == node)
      PetscCall(ReportUnknown(scene, map, node, keys));
  }
  PetscFunctionReturn(0);
}

/* One formula for each scalar of the fluid that is named. */
PetscErrorCode ReadNamed(Scene scene, Node *node, Formula **values)
{
  const FluidConfig *fluid = &scene->config.fluid;
  const char       **names;
  PetscBool          good;

  PetscFunctionBegin;
  PetscCall(ExpectKind(scene, node, NODE_MAP, "a block of keys that are names of scalars", &good));
  if (!good)
    PetscFunctionReturn(0);
  PetscCall(PetscCalloc1(fluid->scalar_count + 1, &names));
  PetscCall(PetscCalloc1(fluid->scalar_count + 1, values));
  for (PetscInt i = 0; i < fluid->scalar_count; i++)
    names[i] = fluid->scalars[i].name ? fluid->scalars[i].name : "";
  for (Node *child = node->first; child; child = child->next) {
    PetscInt    i = 0;
    const char *near = closest_word(child->key, names);

    while (names[i] && strcmp(names[i], child->key))
      i++;
    if (names[i] && !(*values)[i])
      PetscCall(ReadFormula(scene, child, NULL, &(*values)[i]));
    else if (!names[i])
      PetscCall(ProblemAddAtKey(scene, child, PROBLEM_ERROR, "fluid.scalars has no \"%.40s\"%s%s%s",
                                child->key, near ? "; did you mean \"" : "; add it there", near ? near : "",
                                near ? "\"?" : ""));
  }
  PetscCall(PetscFree(names));
  PetscFunctionReturn(0);
}

static PetscErrorCode DestroyFormulas(PetscInt count, Formula formulas[])
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < count; i++)
    PetscCall(FormulaDestroy(&formulas[i]));
  PetscFunctionReturn(0);
}

static PetscErrorCode DestroyList(const SchemaKey *key, PetscInt scalar_count, char *base)
{
  PetscInt *count = (PetscInt *)(base + key->count);
  char    **items = (char **)(base + key->offset);

  PetscFunctionBegin;
  for (PetscInt i = 0; i < *count; i++)
    PetscCall(DestroyKeys(key->keys, scalar_count, *items + i * key->size));
  PetscCall(PetscFree(*items));
  *count = 0;
  PetscFunctionReturn(0);
}

PetscErrorCode DestroyKeys(const SchemaKey keys[], PetscInt scalar_count, void *base)
{
  PetscFunctionBegin;
  for (const SchemaKey *key = keys; key->name; key++) {
    char *const value = (char *)base + key->offset;

    if (key->kind == SCHEMA_TEXT)
      PetscCall(PetscFree(*(char **)value));
    if (key->kind == SCHEMA_FORMULA)
      PetscCall(DestroyFormulas(1, (Formula *)value));
    if (key->kind == SCHEMA_FORMULAS)
      PetscCall(DestroyFormulas(DIM, (Formula *)value));
    if (key->kind == SCHEMA_BLOCK || key->kind == SCHEMA_BRIEF)
      PetscCall(DestroyKeys(key->keys, scalar_count, value));
    if (key->kind == SCHEMA_LIST)
      PetscCall(DestroyList(key, scalar_count, base));
    if (key->kind == SCHEMA_SHAPE || key->kind == SCHEMA_FORM)
      PetscCall(ShapeDestroy((Shape *)value));
    if (key->kind == SCHEMA_MOTION)
      PetscCall(MotionDestroy((Motion *)value));
    if (key->kind == SCHEMA_NAMED && *(Formula **)value) {
      PetscCall(DestroyFormulas(scalar_count, *(Formula **)value));
      PetscCall(PetscFree(*(Formula **)value));
    }
  }
  PetscFunctionReturn(0);
}
