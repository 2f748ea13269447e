/* The tree of a scene. */
#include "scene_impl.h"

#include <string.h>

PetscErrorCode NodeCreate(NodeKind kind, Node **node)
{
  PetscFunctionBegin;
  PetscCall(PetscNew(node));
  (*node)->kind = kind;
  (*node)->override = -1;
  PetscFunctionReturn(0);
}

PetscErrorCode NodeDestroy(Node **node)
{
  PetscFunctionBegin;
  if (!*node)
    PetscFunctionReturn(0);
  for (Node *child = (*node)->first, *next; child; child = next) {
    next = child->next;
    PetscCall(NodeDestroy(&child));
  }
  PetscCall(PetscFree((*node)->key));
  PetscCall(PetscFree((*node)->text));
  PetscCall(PetscFree(*node));
  PetscFunctionReturn(0);
}

PetscErrorCode NodeSetText(Node *node, const char text[], size_t length)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(node->text));
  PetscCall(PetscMalloc1(length + 1, &node->text));
  PetscCall(PetscArraycpy(node->text, text, length));
  node->text[length] = '\0';
  PetscFunctionReturn(0);
}

PetscErrorCode NodeSetKey(Node *node, const char key[])
{
  PetscFunctionBegin;
  PetscCall(PetscFree(node->key));
  PetscCall(PetscStrallocpy(key, &node->key));
  PetscFunctionReturn(0);
}

PetscErrorCode NodeCopy(const Node *node, Node **copy)
{
  PetscFunctionBegin;
  PetscCall(PetscNew(copy));
  **copy = *node;
  (*copy)->copied = PETSC_TRUE;
  (*copy)->count = 0;
  (*copy)->first = (*copy)->last = (*copy)->next = (*copy)->parent = NULL;
  PetscCall(PetscStrallocpy(node->key, &(*copy)->key));
  PetscCall(PetscStrallocpy(node->text, &(*copy)->text));
  for (const Node *child = node->first; child; child = child->next) {
    Node *twin;

    PetscCall(NodeCopy(child, &twin));
    node_append(*copy, twin);
  }
  PetscFunctionReturn(0);
}

void node_append(Node *parent, Node *child)
{
  child->parent = parent;
  child->next = NULL;
  if (parent->last)
    parent->last->next = child;
  else
    parent->first = child;
  parent->last = child;
  parent->count++;
}

/* The link that points at `child`. */
static Node **link_to(Node *child, Node **before)
{
  Node **link = &child->parent->first;

  for (*before = NULL; *link != child; link = &(*link)->next)
    *before = *link;
  return link;
}

void node_detach(Node *child)
{
  Node *parent = child->parent, *before;

  *link_to(child, &before) = child->next;
  if (parent->last == child)
    parent->last = before;
  parent->count--;
  child->parent = child->next = NULL;
}

void node_replace(Node *old, Node *new)
{
  Node *parent = old->parent, *before;

  *link_to(old, &before) = new;
  new->next = old->next;
  new->parent = parent;
  if (parent->last == old)
    parent->last = new;
  old->parent = old->next = NULL;
}

Node *node_find(const Node *map, const char key[])
{
  Node *child = map && map->kind == NODE_MAP ? map->first : NULL;

  while (child && strcmp(child->key, key))
    child = child->next;
  return child;
}

PetscBool is_usable(const Node *node)
{
  return node && !node->bad ? PETSC_TRUE : PETSC_FALSE;
}

Node *node_item(const Node *list, PetscInt index)
{
  Node *child = list->first;

  for (PetscInt i = 0; child && i < index; i++)
    child = child->next;
  return child;
}

void node_path(const Node *node, char path[], size_t size)
{
  size_t used;

  path[0] = '\0';
  if (!node || !node->parent)
    return;
  node_path(node->parent, path, size);
  used = strlen(path);
  if (node->parent->kind == NODE_MAP)
    snprintf(path + used, size - used, "%s%s", used ? "." : "", node->key);
  else {
    int index = 0;

    for (const Node *item = node->parent->first; item != node; item = item->next)
      index++;
    snprintf(path + used, size - used, "[%d]", index);
  }
}

const char *node_kind_name(const Node *node)
{
  static const char *const names[] = {"a single value", "a list", "a block of keys"};

  return names[node->kind];
}
