/* The tree as YAML. */
#define _POSIX_C_SOURCE 200809L
#include "scene_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Words, numbers and simple formulas need no quotes; what looks special in any way gets them. */
static PetscBool is_plain(const char text[])
{
  static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+-*/^().";
  const size_t      length = strlen(text);

  return length && strspn(text, safe) == length && strchr("-*", text[0]) == NULL && text[length - 1] != '-'
             ? PETSC_TRUE
         : length > 1 && text[0] == '-' && strspn(text + 1, "0123456789.e-+") == length - 1 ? PETSC_TRUE
                                                                                            : PETSC_FALSE;
}

static void emit_text(const char text[], PetscBool quoted, FILE *file)
{
  if (!quoted && (is_plain(text) || !text[0])) {
    fputs(text, file);
    return;
  }
  fputc('"', file);
  for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
    if (*at == '"' || *at == '\\')
      fprintf(file, "\\%c", *at);
    else if (*at < ' ' || *at == 0x7f)
      fprintf(file, "\\x%02x", *at);
    else
      fputc(*at, file);
  }
  fputc('"', file);
}

static void emit_key(const Node *node, FILE *file)
{
  emit_text(node->key, node->key[0] ? PETSC_FALSE : PETSC_TRUE, file);
  fputs(":", file);
}

static PetscBool holds_only_values(const Node *list)
{
  for (const Node *child = list->first; child; child = child->next)
    if (child->kind != NODE_VALUE)
      return PETSC_FALSE;
  return PETSC_TRUE;
}

static void emit_list_of_values(const Node *list, FILE *file)
{
  fputc('[', file);
  for (const Node *child = list->first; child; child = child->next) {
    emit_text(child->text, child->text[0] ? child->quoted : PETSC_TRUE, file);
    if (child->next)
      fputs(", ", file);
  }
  fputs("]\n", file);
}

/* `indent` is where the children of `node` begin; the line before it is already begun by a key or a dash. */
static void emit_node(const Node *node, PetscInt indent, FILE *file)
{
  if (node->kind == NODE_VALUE) {
    fputc(' ', file);
    emit_text(node->text, node->quoted, file);
    fputc('\n', file);
  } else if (!node->first)
    fputs(node->kind == NODE_MAP ? " {}\n" : " []\n", file);
  else if (node->kind == NODE_LIST && holds_only_values(node)) {
    fputc(' ', file);
    emit_list_of_values(node, file);
  } else {
    fputc('\n', file);
    for (const Node *child = node->first; child; child = child->next) {
      fprintf(file, "%*s", (int)indent, "");
      if (node->kind == NODE_LIST)
        fputc('-', file);
      else
        emit_key(child, file);
      emit_node(child, indent + 2, file);
    }
  }
}

PetscErrorCode NodeEmit(const Node *root, char **text)
{
  char  *buffer = NULL;
  size_t size;
  FILE  *file = open_memstream(&buffer, &size);

  PetscFunctionBegin;
  PetscCheck(file, PETSC_COMM_SELF, PETSC_ERR_MEM, "No memory for the text of the scene");
  emit_node(root, 0, file);
  PetscCheck(!fclose(file), PETSC_COMM_SELF, PETSC_ERR_MEM, "No memory for the text of the scene");
  PetscCall(PetscStrallocpy(buffer[0] == '\n' ? buffer + 1 : buffer, text));
  free(buffer);
  PetscFunctionReturn(0);
}
