/* YAML text -> tree, with the place of everything. */
#include "scene_impl.h"

#include <libfyaml.h>
#include <string.h>

enum { DEEPEST = 48, MOST_NODES = 100000, MOST_KEYS = 1000 };

typedef struct {
  Scene     scene;
  PetscInt  override;
  Node     *root;
  Node     *open; /* the list or map that is being filled */
  Node     *key;  /* read, and waiting for its value */
  PetscInt  depth, nodes;
  PetscBool failed;
  PetscInt  anchor_count;
  struct {
    char *name;
    Node *node;
  } anchors[64];
} Builder;

static PetscErrorCode Refuse(Builder *builder, const Node *at, const char message[])
{
  PetscFunctionBegin;
  PetscCall(ProblemAdd(builder->scene, at, PROBLEM_ERROR, "%s", message));
  builder->failed = PETSC_TRUE;
  PetscFunctionReturn(0);
}

static PetscErrorCode CreatePlaced(Builder *builder, NodeKind kind, struct fy_event *event, Node **node)
{
  const struct fy_mark *mark = fy_event_start_mark(event);

  PetscFunctionBegin;
  PetscCall(NodeCreate(kind, node));
  (*node)->override = builder->override;
  (*node)->file = builder->override < 0 ? builder->scene->parsed : 0;
  if (mark && builder->override < 0) {
    (*node)->line = mark->line + 1;
    (*node)->column = mark->column + 1;
  }
  PetscFunctionReturn(0);
}

static PetscInt node_count(const Node *parent)
{
  PetscInt count = 0;

  for (const Node *child = parent->first; child; child = child->next)
    count++;
  return count;
}

/* Puts a finished key or value where it belongs; takes the node. */
static PetscErrorCode Place(Builder *builder, Node *node)
{
  Node *const open = builder->open;

  PetscFunctionBegin;
  if (++builder->nodes > MOST_NODES && !builder->failed)
    PetscCall(Refuse(builder, node, "the scene is too large"));
  if (!open) {
    if (builder->root)
      PetscCall(Refuse(builder, node, "a scene is one document; remove the second"));
    if (builder->root)
      PetscCall(NodeDestroy(&node));
    else
      builder->root = node;
    PetscFunctionReturn(0);
  }
  if (open->kind == NODE_LIST) {
    node_append(open, node);
    PetscFunctionReturn(0);
  }
  if (!builder->key) {
    if (node->kind != NODE_VALUE)
      PetscCall(Refuse(builder, node, "a key must be a word"));
    builder->key = node;
    PetscFunctionReturn(0);
  }
  PetscCall(NodeSetKey(node, builder->key->text ? builder->key->text : ""));
  node->key_line = builder->key->line;
  node->key_column = builder->key->column;
  if (node_count(open) == MOST_KEYS)
    PetscCall(Refuse(builder, node, "a block has more than 1000 keys"));
  if (node_find(open, node->key))
    PetscCall(ProblemAdd(builder->scene, builder->key, PROBLEM_ERROR,
                         "the key \"%s\" is given twice (first in line %d); remove one", node->key,
                         (int)node_find(open, node->key)->key_line));
  /* a key is not kept, so that no alias can stand for it */
  for (PetscInt i = 0; i < builder->anchor_count; i++)
    if (builder->anchors[i].node == builder->key)
      builder->anchors[i].node = NULL;
  PetscCall(NodeDestroy(&builder->key));
  node_append(open, node);
  PetscFunctionReturn(0);
}

static PetscErrorCode Remember(Builder *builder, struct fy_token *anchor, Node *node)
{
  size_t      length;
  const char *text = anchor ? fy_token_get_text(anchor, &length) : NULL;

  PetscFunctionBegin;
  if (!text)
    PetscFunctionReturn(0);
  if (builder->anchor_count == (PetscInt)(sizeof(builder->anchors) / sizeof(builder->anchors[0]))) {
    PetscCall(Refuse(builder, node, "too many anchors"));
    PetscFunctionReturn(0);
  }
  PetscCall(PetscMalloc1(length + 1, &builder->anchors[builder->anchor_count].name));
  PetscCall(PetscArraycpy(builder->anchors[builder->anchor_count].name, text, length));
  builder->anchors[builder->anchor_count].name[length] = '\0';
  builder->anchors[builder->anchor_count++].node = node;
  PetscFunctionReturn(0);
}

static PetscInt node_total(const Node *node)
{
  PetscInt total = 1;

  for (const Node *child = node->first; child; child = child->next)
    total += node_total(child);
  return total;
}

static PetscInt node_depth(const Node *node)
{
  PetscInt deepest = 0;

  for (const Node *child = node->first; child; child = child->next)
    deepest = PetscMax(deepest, node_depth(child));
  return deepest + 1;
}

static PetscBool is_open(const Builder *builder, const Node *node)
{
  for (const Node *open = builder->open; open; open = open->parent)
    if (open == node)
      return PETSC_TRUE;
  return PETSC_FALSE;
}

static PetscErrorCode AddAlias(Builder *builder, struct fy_event *event)
{
  size_t      length = 0;
  const char *text = fy_token_get_text(event->alias.anchor, &length);
  Node       *node = NULL, *target = NULL;

  PetscFunctionBegin;
  for (PetscInt i = 0; text && i < builder->anchor_count; i++)
    if (strlen(builder->anchors[i].name) == length && !strncmp(builder->anchors[i].name, text, length))
      target = builder->anchors[i].node;
  PetscCall(CreatePlaced(builder, NODE_VALUE, event, &node));
  if (node->column > 1)
    node->column--; /* libfyaml marks what follows the star */
  if (!target || is_open(builder, target)) {
    PetscCall(
        Refuse(builder, node,
               "this stands for an anchor that is not there; put a formula that begins with * in quotes"));
  } else if (builder->depth + node_depth(target) > DEEPEST) {
    PetscCall(Refuse(builder, node, "nested too deeply"));
  } else {
    PetscCall(NodeDestroy(&node));
    builder->nodes += node_total(target);
    PetscCall(NodeCopy(target, &node));
    PetscCall(PetscFree(node->key));
  }
  PetscCall(Place(builder, node));
  PetscFunctionReturn(0);
}

static PetscErrorCode AddValue(Builder *builder, struct fy_event *event)
{
  size_t      length = 0;
  const char *text = event->scalar.value ? fy_token_get_text(event->scalar.value, &length) : NULL;
  Node       *node;

  PetscFunctionBegin;
  PetscCall(CreatePlaced(builder, NODE_VALUE, event, &node));
  PetscCall(NodeSetText(node, text ? text : "", text ? length : 0));
  if (text)
    node->quoted = fy_token_scalar_style(event->scalar.value) == FYSS_PLAIN ? PETSC_FALSE : PETSC_TRUE;
  if (strlen(node->text) != (text ? length : 0))
    PetscCall(Refuse(builder, node, "a value may not hold the character zero"));
  PetscCall(Remember(builder, event->scalar.anchor, node));
  PetscCall(Place(builder, node));
  PetscFunctionReturn(0);
}

static PetscErrorCode Open(Builder *builder, NodeKind kind, struct fy_token *anchor, struct fy_event *event)
{
  Node *node;

  PetscFunctionBegin;
  PetscCall(CreatePlaced(builder, kind, event, &node));
  PetscCall(Place(builder, node));
  if (builder->failed)
    PetscFunctionReturn(0);
  PetscCall(Remember(builder, anchor, node));
  if (++builder->depth > DEEPEST)
    PetscCall(Refuse(builder, node, "nested too deeply"));
  builder->open = node;
  PetscFunctionReturn(0);
}

static PetscErrorCode HandleEvent(Builder *builder, struct fy_event *event)
{
  PetscFunctionBegin;
  switch (event->type) {
  case FYET_SCALAR:
    PetscCall(AddValue(builder, event));
    break;
  case FYET_ALIAS:
    PetscCall(AddAlias(builder, event));
    break;
  case FYET_MAPPING_START:
    PetscCall(Open(builder, NODE_MAP, event->mapping_start.anchor, event));
    break;
  case FYET_SEQUENCE_START:
    PetscCall(Open(builder, NODE_LIST, event->sequence_start.anchor, event));
    break;
  case FYET_MAPPING_END:
  case FYET_SEQUENCE_END:
    builder->open = builder->open->parent;
    builder->depth--;
    break;
  default:
    break;
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode ReportSyntax(Builder *builder, struct fy_diag *diagnosis)
{
  struct fy_diag_error *error;
  void                 *previous = NULL;
  PetscInt              count = 0;

  PetscFunctionBegin;
  while ((error = fy_diag_errors_iterate(diagnosis, &previous)) && ++count)
    PetscCall(ProblemAddAt(builder->scene, builder->override, error->line, error->column, error->msg));
  builder->failed = PETSC_TRUE;
  if (!count)
    PetscCall(ProblemAddAt(builder->scene, builder->override, 1, 1, "this is not YAML"));
  PetscFunctionReturn(0);
}

static void keep_silent(struct fy_diag *diagnosis, void *context, const char *text, size_t length)
{
  (void)diagnosis;
  (void)context;
  (void)text;
  (void)length;
}

/* Keeps libfyaml's complaints for ReportSyntax instead of printing them. */
static struct fy_diag *create_diagnosis(void)
{
  struct fy_diag_cfg config;
  struct fy_diag    *diagnosis;

  fy_diag_cfg_default(&config);
  config.fp = NULL;
  config.output_fn = keep_silent;
  diagnosis = fy_diag_create(&config);
  if (diagnosis)
    fy_diag_set_collect_errors(diagnosis, true);
  return diagnosis;
}

static PetscErrorCode Build(Builder *builder, const char text[])
{
  struct fy_diag           *diagnosis = create_diagnosis();
  const struct fy_parse_cfg config = {.flags = FYPCF_JSON_NONE, .diag = diagnosis};
  struct fy_parser         *parser = fy_parser_create(&config);
  struct fy_event          *event;

  PetscFunctionBegin;
  PetscCheck(diagnosis && parser && !fy_parser_set_string(parser, text, strlen(text)), PETSC_COMM_SELF,
             PETSC_ERR_LIB, "libfyaml does not start");
  while (!builder->failed && (event = fy_parser_parse(parser))) {
    PetscCall(HandleEvent(builder, event));
    fy_parser_event_free(parser, event);
  }
  if (!builder->failed && fy_parser_get_stream_error(parser))
    PetscCall(ReportSyntax(builder, diagnosis));
  fy_parser_destroy(parser);
  /* fy_diag_unref would leak what was collected */
  fy_diag_destroy(diagnosis);
  PetscFunctionReturn(0);
}

PetscErrorCode YamlParse(Scene scene, const char text[], PetscInt override, Node **root)
{
  Builder   builder = {.scene = scene, .override = override};
  PetscBool good;

  PetscFunctionBegin;
  *root = NULL;
  PetscCall(CheckText(scene, text, override, &good));
  if (!good)
    PetscFunctionReturn(0);
  PetscCall(Build(&builder, text));
  for (PetscInt i = 0; i < builder.anchor_count; i++)
    PetscCall(PetscFree(builder.anchors[i].name));
  PetscCall(NodeDestroy(&builder.key));
  if (builder.failed)
    PetscCall(NodeDestroy(&builder.root));
  *root = builder.root;
  PetscFunctionReturn(0);
}
