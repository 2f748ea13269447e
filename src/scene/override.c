/* --set key=value: a path into the tree, and a value in YAML. */
#include "scene_impl.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* The next part of a path such as obstacles[0].shape or obstacles.0.shape; `*at` moves behind it. */
static PetscBool next_part(const char **at, const char *end, char part[PATH_LENGTH])
{
  size_t length = 0;

  if (*at < end && (**at == '.' || **at == '['))
    (*at)++;
  while (*at < end && **at != '.' && **at != '[' && **at != ']' && length < PATH_LENGTH - 1)
    part[length++] = *(*at)++;
  if (*at < end && **at == ']')
    (*at)++;
  part[length] = '\0';
  return length > 0 && length < PATH_LENGTH - 1 ? PETSC_TRUE : PETSC_FALSE;
}

/* An item by number or by its name; one past the last is new. */
static Node *find_in_list(const Node *list, const char part[], PetscBool *may_append)
{
  if (strspn(part, "0123456789") == strlen(part) && strlen(part) < 8) {
    *may_append = atoi(part) == list->count ? PETSC_TRUE : PETSC_FALSE;
    return node_item(list, atoi(part));
  }
  for (Node *item = list->first; item; item = item->next) {
    const Node *name = node_find(item, "name");

    if (name && name->kind == NODE_VALUE && !strcmp(name->text, part))
      return item;
  }
  return NULL;
}

static Node *child_of(const Node *parent, const char part[], PetscBool *may_append)
{
  *may_append = parent->kind == NODE_MAP ? PETSC_TRUE : PETSC_FALSE;
  return parent->kind == NODE_LIST ? find_in_list(parent, part, may_append) : node_find(parent, part);
}

static PetscErrorCode SetChild(Node *parent, Node *old, const char part[], Node *new)
{
  PetscFunctionBegin;
  if (parent->kind == NODE_MAP)
    PetscCall(NodeSetKey(new, part));
  if (old) {
    node_replace(old, new);
    PetscCall(NodeDestroy(&old));
  } else
    node_append(parent, new);
  PetscFunctionReturn(0);
}

/* The names of the items of a list, or their number where they have none: what may stand in the place of the
   word that none of them is. */
static PetscErrorCode ReportNoItem(Scene scene, const Node *list, const Node *value, int length,
                                   const char path[], const char part[])
{
  enum { SHOWN = 8 };
  const char **names, *near;
  char         said[SHOWN * 44 + 32] = "";
  PetscInt     count = 0;
  size_t       used = 0;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(list->count + 1, &names));
  for (const Node *item = list->first; item; item = item->next) {
    const Node *name = node_find(item, "name");

    if (name && name->kind == NODE_VALUE)
      names[count++] = name->text;
  }
  near = closest_word(part, names);
  if (near)
    snprintf(said, sizeof(said), "; did you mean \"%.40s\"?", near);
  else if (!count)
    snprintf(said, sizeof(said), ": it has %" PetscInt_FMT, list->count);
  for (PetscInt n = 0; !near && n < PetscMin(count, SHOWN); n++)
    used += (size_t)snprintf(said + used, sizeof(said) - used, "%s%.40s", n ? ", " : ": it has ", names[n]);
  if (!near && count > SHOWN)
    snprintf(said + used, sizeof(said) - used, " and %" PetscInt_FMT " more", count - SHOWN);
  PetscCall(ProblemAdd(scene, value, PROBLEM_ERROR, "\"%.*s\" has no such item%s", length, path, said));
  PetscCall(PetscFree(names));
  PetscFunctionReturn(0);
}

/* Takes `value`. */
static PetscErrorCode Descend(Scene scene, const char path[], const char *end, Node *value)
{
  const char *at = path;
  char        part[PATH_LENGTH];
  Node       *parent = scene->root;

  PetscFunctionBegin;
  while (next_part(&at, end, part)) {
    PetscBool may_append;
    Node     *child = child_of(parent, part, &may_append);

    if (!child && !may_append) {
      if (parent->kind == NODE_LIST)
        PetscCall(ReportNoItem(scene, parent, value, (int)(at - path), path, part));
      else
        PetscCall(
            ProblemAdd(scene, value, PROBLEM_ERROR, "\"%.*s\" has nothing below it", (int)(at - path), path));
      break;
    }
    if (at == end) {
      PetscCall(SetChild(parent, child, part, value));
      PetscFunctionReturn(0);
    }
    if (!child || (child->kind == NODE_VALUE && !child->text[0] && !child->quoted)) {
      Node *map;

      PetscCall(NodeCreate(NODE_MAP, &map));
      map->override = value->override;
      PetscCall(SetChild(parent, child, part, map));
      child = map;
    }
    parent = child;
  }
  PetscCall(NodeDestroy(&value));
  PetscFunctionReturn(0);
}

static PetscErrorCode ApplyOverride(Scene scene, PetscInt index)
{
  const char *text = scene->overrides[index], *equals = strchr(text, '='), *at = text;
  char        part[PATH_LENGTH];
  PetscBool   good = equals && equals > text ? PETSC_TRUE : PETSC_FALSE;
  Node       *value = NULL;

  PetscFunctionBegin;
  while (good && at < equals)
    good = next_part(&at, equals, part);
  if (!good) {
    PetscCall(ProblemAddAt(scene, index, 0, 0, "expected key=value, such as grid.resolution=64"));
    PetscFunctionReturn(0);
  }
  PetscCall(YamlParse(scene, equals + 1, index, &value));
  if (!value) {
    if (!equals[1 + strspn(equals + 1, " \t")])
      PetscCall(ProblemAddAt(scene, index, 0, 0, "the value is missing behind \"=\""));
    PetscFunctionReturn(0);
  }
  PetscCall(Descend(scene, text, equals, value));
  PetscFunctionReturn(0);
}

PetscErrorCode SceneApplyOverrides(Scene scene)
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < scene->override_count; i++)
    PetscCall(ApplyOverride(scene, i));
  PetscFunctionReturn(0);
}
