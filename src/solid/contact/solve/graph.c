/* Levels of the contact graph (Guendelman, Bridson, Fedkiw 2003; thesis, 3.5).

   Tarjan's search for strongly connected components walks from a body to what it rests on and closes a
   component only after everything below it. Levels are therefore known when a component is closed: one above
   the highest body outside that one of its members rests on. The search keeps its own stacks, since the
   height of a pile must not be limited by the program's. See docs/numerics.md. */
#include "graph.h"

enum { NO_LEVEL = -1 };

struct _p_ContactGraph {
  PetscInt  body_count, level_count;
  PetscBool sorted, ordered; /* whether levels, and starts, are valid */
  PetscInt *levels;          /* per body; NO_LEVEL until its component is closed */
  PetscInt *visited;         /* per body: 1, 2, ... as the search meets them, 0 before */
  PetscInt *lowest;          /* per body: first visited one on the stack that can be reached from it */
  PetscInt *cursor;          /* per body: next of its supports to look at */
  PetscInt *path;            /* from where the search began to where it is */
  PetscInt *stack;           /* met, but in no closed component yet */
  PetscInt  path_size, stack_size, visit_count;
  PetscInt *first_support; /* per body and one more: where its supports begin */
  PetscInt *supports;      /* of all bodies, body by body */
  PetscInt  support_capacity;
  PetscInt *order, *starts; /* of pairs; starts has room for any number of levels */
  PetscInt  order_capacity;
};

PetscErrorCode ContactGraphCreate(PetscInt body_count, ContactGraph *graph)
{
  ContactGraph g;

  PetscFunctionBegin;
  PetscCheck(body_count >= 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "The number of bodies must not be negative, as %" PetscInt_FMT " is", body_count);
  PetscCall(PetscNew(&g));
  g->body_count = body_count;
  PetscCall(PetscMalloc6(body_count, &g->levels, body_count, &g->visited, body_count, &g->lowest, body_count,
                         &g->cursor, body_count, &g->path, body_count, &g->stack));
  PetscCall(PetscMalloc2(body_count + 1, &g->first_support, body_count + 2, &g->starts));
  *graph = g;
  PetscFunctionReturn(0);
}

PetscErrorCode ContactGraphDestroy(ContactGraph *graph)
{
  ContactGraph g = *graph;

  PetscFunctionBegin;
  if (!g)
    PetscFunctionReturn(0);
  PetscCall(PetscFree6(g->levels, g->visited, g->lowest, g->cursor, g->path, g->stack));
  PetscCall(PetscFree2(g->first_support, g->starts));
  PetscCall(PetscFree(g->supports));
  PetscCall(PetscFree(g->order));
  PetscCall(PetscFree(*graph));
  PetscFunctionReturn(0);
}

static PetscErrorCode CheckPairs(ContactGraph graph, PetscInt count, const PetscInt (*pairs)[2])
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < count; k++)
    for (PetscInt end = 0; end < 2; end++)
      PetscCheck(pairs[k][end] >= 0 && pairs[k][end] < graph->body_count, PETSC_COMM_SELF,
                 PETSC_ERR_ARG_OUTOFRANGE,
                 "Pair %" PetscInt_FMT " names body %" PetscInt_FMT " of %" PetscInt_FMT, k, pairs[k][end],
                 graph->body_count);
  PetscFunctionReturn(0);
}

/* Room for `needed` entries; the old ones are lost. Doubling keeps the number of calls small. */
static PetscErrorCode Reserve(PetscInt needed, PetscInt *capacity, PetscInt **entries)
{
  PetscFunctionBegin;
  if (needed <= *capacity)
    PetscFunctionReturn(0);
  *capacity = PetscMax(needed, 2 * *capacity);
  PetscCall(PetscFree(*entries));
  PetscCall(PetscMalloc1(*capacity, entries));
  PetscFunctionReturn(0);
}

/* The edges, collected by the body that rests; `cursor` then stands at the first support of each. */
static void collect_supports(ContactGraph graph, PetscInt edge_count, const PetscInt (*edges)[2])
{
  PetscInt *first = graph->first_support, *cursor = graph->cursor, sum = 0;

  for (PetscInt body = 0; body <= graph->body_count; body++)
    first[body] = 0;
  for (PetscInt e = 0; e < edge_count; e++)
    first[edges[e][1]]++;
  for (PetscInt body = 0; body <= graph->body_count; body++) {
    const PetscInt count = first[body];

    first[body] = sum;
    sum += count;
  }
  for (PetscInt body = 0; body < graph->body_count; body++)
    cursor[body] = first[body];
  for (PetscInt e = 0; e < edge_count; e++)
    graph->supports[cursor[edges[e][1]]++] = edges[e][0];
  for (PetscInt body = 0; body < graph->body_count; body++)
    cursor[body] = first[body];
}

static void enter(ContactGraph graph, PetscInt body)
{
  graph->visited[body] = graph->lowest[body] = ++graph->visit_count;
  graph->path[graph->path_size++] = body;
  graph->stack[graph->stack_size++] = body;
}

/* The component from `body` to the top of the stack. What it rests on outside has a level, its own members
   have none yet. */
static void close_component(ContactGraph graph, PetscInt body)
{
  PetscInt begin = graph->stack_size, level = 1;

  do {
    const PetscInt member = graph->stack[--begin];

    for (PetscInt k = graph->first_support[member]; k < graph->first_support[member + 1]; k++)
      level = PetscMax(level, graph->levels[graph->supports[k]] + 1);
  } while (graph->stack[begin] != body);
  for (PetscInt k = begin; k < graph->stack_size; k++)
    graph->levels[graph->stack[k]] = level;
  graph->stack_size = begin;
  graph->level_count = PetscMax(graph->level_count, level + 1);
}

/* Everything below `root`, and itself. */
static void search_from(ContactGraph graph, PetscInt root)
{
  PetscInt *lowest = graph->lowest;

  enter(graph, root);
  while (graph->path_size > 0) {
    const PetscInt body = graph->path[graph->path_size - 1];

    if (graph->cursor[body] < graph->first_support[body + 1]) {
      const PetscInt below = graph->supports[graph->cursor[body]++];

      if (graph->levels[below] != NO_LEVEL)
        continue;
      if (!graph->visited[below])
        enter(graph, below);
      else
        lowest[body] = PetscMin(lowest[body], graph->visited[below]);
    } else {
      if (lowest[body] == graph->visited[body])
        close_component(graph, body);
      graph->path_size--;
      if (graph->path_size > 0) {
        const PetscInt above = graph->path[graph->path_size - 1];

        lowest[above] = PetscMin(lowest[above], lowest[body]);
      }
    }
  }
}

PetscErrorCode ContactGraphSort(ContactGraph graph, const PetscBool fixed[], PetscInt edge_count,
                                const PetscInt (*edges)[2], PetscInt *level_count, const PetscInt **levels)
{
  PetscFunctionBegin;
  PetscCall(CheckPairs(graph, edge_count, edges));
  PetscCall(Reserve(edge_count, &graph->support_capacity, &graph->supports));
  collect_supports(graph, edge_count, edges);
  graph->visit_count = 0;
  graph->level_count = graph->body_count > 0 ? 1 : 0;
  for (PetscInt body = 0; body < graph->body_count; body++) {
    graph->visited[body] = 0;
    graph->levels[body] = fixed[body] ? 0 : NO_LEVEL;
  }
  for (PetscInt body = 0; body < graph->body_count; body++)
    if (graph->levels[body] == NO_LEVEL)
      search_from(graph, body);
  graph->sorted = PETSC_TRUE;
  graph->ordered = PETSC_FALSE;
  *level_count = graph->level_count;
  *levels = graph->levels;
  PetscFunctionReturn(0);
}

PetscErrorCode ContactGraphOrder(ContactGraph graph, PetscInt pair_count, const PetscInt (*pairs)[2],
                                 const PetscInt **order)
{
  const PetscInt *levels = graph->levels;
  PetscInt       *starts = graph->starts;

  PetscFunctionBegin;
  PetscCheck(graph->sorted, PETSC_COMM_SELF, PETSC_ERR_ORDER, "The graph must be sorted before its contacts");
  PetscCall(CheckPairs(graph, pair_count, pairs));
  PetscCall(Reserve(pair_count, &graph->order_capacity, &graph->order));
  for (PetscInt level = 0; level <= graph->level_count; level++)
    starts[level] = 0;
  for (PetscInt k = 0; k < pair_count; k++)
    starts[PetscMax(levels[pairs[k][0]], levels[pairs[k][1]]) + 1]++;
  for (PetscInt level = 0; level < graph->level_count; level++)
    starts[level + 1] += starts[level];
  /* every start moves to the end of its level, which is where the next one begins */
  for (PetscInt k = 0; k < pair_count; k++)
    graph->order[starts[PetscMax(levels[pairs[k][0]], levels[pairs[k][1]])]++] = k;
  for (PetscInt level = graph->level_count; level > 0; level--)
    starts[level] = starts[level - 1];
  starts[0] = 0;
  graph->ordered = PETSC_TRUE;
  *order = graph->order;
  PetscFunctionReturn(0);
}

PetscErrorCode ContactGraphGetStarts(ContactGraph graph, const PetscInt **starts)
{
  PetscFunctionBegin;
  PetscCheck(graph->ordered, PETSC_COMM_SELF, PETSC_ERR_ORDER, "Nothing was ordered since the last sort");
  *starts = graph->starts;
  PetscFunctionReturn(0);
}
