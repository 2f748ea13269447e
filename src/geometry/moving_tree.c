/* A tree of boxes around moving triangles, built as that of tree.c. Boxes are fitted anew wherever the
   triangles are; the tree is built anew when its boxes have twice the surface that they had then. */
#include "geometry_impl.h"

#include <millrace/moving_triangles.h>

struct _p_MovingTree {
  PetscInt count;
  const PetscInt (*triangles)[3]; /* borrowed */
  TreeItem        *items;
  PetscInt        *order;
  PetscInt         node_count; /* 0: not yet built */
  struct TreeNode *nodes;
  PetscReal        built_area; /* of all boxes together, when it was built */
  const PetscBool *wanted; /* of triangles: pairs with these as their lower numbers; borrowed; null: all */
  PetscBool       *has_wanted; /* of nodes; null with that */
};

PetscErrorCode MovingTreeCreate(PetscInt count, const PetscInt (*triangles)[3], MovingTree *tree)
{
  MovingTree t;

  PetscFunctionBegin;
  PetscCall(PetscNew(&t));
  t->count = count;
  t->triangles = triangles;
  PetscCall(PetscMalloc3(count, &t->items, count, &t->order, 2 * (size_t)count, &t->nodes));
  *tree = t;
  PetscFunctionReturn(0);
}

PetscErrorCode MovingTreeDestroy(MovingTree *tree)
{
  PetscFunctionBegin;
  if (!*tree)
    PetscFunctionReturn(0);
  PetscCall(PetscFree3((*tree)->items, (*tree)->order, (*tree)->nodes));
  PetscCall(PetscFree((*tree)->has_wanted));
  PetscCall(PetscFree(*tree));
  PetscFunctionReturn(0);
}

static Box swept_box(const PetscInt corners[3], const Vector3 from[], const Vector3 to[], PetscReal margin)
{
  Box box = box_empty();

  for (int c = 0; c < 3; c++) {
    box = box_join(box, (Box){from[corners[c]], from[corners[c]]});
    box = box_join(box, (Box){to[corners[c]], to[corners[c]]});
  }
  for (int d = 0; d < DIM; d++) {
    box.low.at[d] -= margin;
    box.high.at[d] += margin;
  }
  return box;
}

/* Children follow their parents, so that they are known before them from the end on. */
static PetscReal refit(MovingTree tree)
{
  PetscReal area = 0.;

  for (PetscInt n = tree->node_count - 1; n >= 0; n--) {
    struct TreeNode *node = &tree->nodes[n];

    if (node->right) {
      node->box = box_join(tree->nodes[n + 1].box, tree->nodes[node->right].box);
    } else {
      node->box = box_empty();
      for (PetscInt k = node->start; k < node->start + node->count; k++)
        node->box = box_join(node->box, tree->items[tree->order[k]].box);
    }
    area += box_area(node->box);
  }
  return area;
}

PetscErrorCode MovingTreeWant(MovingTree tree, const PetscBool marks[])
{
  PetscFunctionBegin;
  tree->wanted = marks;
  tree->node_count = 0;
  PetscCall(PetscFree(tree->has_wanted));
  if (marks)
    PetscCall(PetscMalloc1(2 * tree->count, &tree->has_wanted));
  PetscFunctionReturn(0);
}

/* As refit. */
static void mark_nodes(MovingTree tree)
{
  for (PetscInt n = tree->node_count - 1; n >= 0 && tree->wanted; n--) {
    const struct TreeNode *node = &tree->nodes[n];

    tree->has_wanted[n] = PETSC_FALSE;
    if (node->right)
      tree->has_wanted[n] =
          tree->has_wanted[n + 1] || tree->has_wanted[node->right] ? PETSC_TRUE : PETSC_FALSE;
    for (PetscInt k = node->start; k < node->start + node->count && !node->right && !tree->has_wanted[n]; k++)
      tree->has_wanted[n] = tree->wanted[tree->order[k]];
  }
}

PetscErrorCode MovingTreePlace(MovingTree tree, const Vector3 from[], const Vector3 to[],
                               const PetscReal margins[])
{
  PetscFunctionBegin;
  for (PetscInt n = 0; n < tree->count; n++)
    tree->items[n].box = swept_box(tree->triangles[n], from, to, margins[n]);
  if (tree->node_count && refit(tree) <= 2. * tree->built_area)
    PetscFunctionReturn(0);
  for (PetscInt n = 0; n < tree->count; n++) {
    tree->items[n].centre = vector3_scale(0.5, vector3_add(tree->items[n].box.low, tree->items[n].box.high));
    tree->order[n] = n;
  }
  tree->node_count = tree_build_nodes(tree->count, tree->items, tree->order, tree->nodes);
  tree->built_area = refit(tree);
  mark_nodes(tree);
  PetscFunctionReturn(0);
}

static inline PetscBool boxes_overlap(const Box *a, const Box *b)
{
  for (int d = 0; d < DIM; d++)
    if (a->low.at[d] > b->high.at[d] || b->low.at[d] > a->high.at[d])
      return PETSC_FALSE;
  return PETSC_TRUE;
}

typedef struct {
  PetscInt count, room;
  PetscInt (*pairs)[2];
} PairsFound;

static PetscErrorCode AddPair(const MovingTree tree, PetscInt a, PetscInt b, PairsFound *found)
{
  PetscFunctionBegin;
  if (!boxes_overlap(&tree->items[a].box, &tree->items[b].box) ||
      (tree->wanted && !tree->wanted[PetscMin(a, b)]))
    PetscFunctionReturn(0);
  PetscCall(GrowList(found->count, &found->room, &found->pairs));
  found->pairs[found->count][0] = PetscMin(a, b);
  found->pairs[found->count++][1] = PetscMax(a, b);
  PetscFunctionReturn(0);
}

/* Two leaves, or one with itself. */
static PetscErrorCode AddLeaves(const MovingTree tree, PetscInt first, PetscInt second, PairsFound *found)
{
  const struct TreeNode *a = &tree->nodes[first], *b = &tree->nodes[second];

  PetscFunctionBegin;
  for (PetscInt i = a->start; i < a->start + a->count; i++)
    for (PetscInt j = first == second ? i + 1 : b->start; j < b->start + b->count; j++)
      PetscCall(AddPair(tree, tree->order[i], tree->order[j], found));
  PetscFunctionReturn(0);
}

/* Of two nodes the one with more triangles is divided; a node with itself becomes three pairs. */
static int divide(const MovingTree tree, const PetscInt pair[2], PetscInt into[3][2])
{
  const PetscInt         a = pair[0], b = pair[1];
  const struct TreeNode *first = &tree->nodes[a], *second = &tree->nodes[b];
  const PetscBool        of_first =
      !second->right || (first->right && first->count > second->count) ? PETSC_TRUE : PETSC_FALSE;
  const PetscInt divided = of_first ? a : b, other = of_first ? b : a;
  const PetscInt left = divided + 1, right = tree->nodes[divided].right;

  if (a == b) {
    into[0][0] = into[0][1] = into[2][0] = left;
    into[1][0] = into[1][1] = into[2][1] = right;
    return 3;
  }
  into[0][0] = left;
  into[1][0] = right;
  into[0][1] = into[1][1] = other;
  return 2;
}

PetscErrorCode MovingTreeFindPairs(MovingTree tree, PetscInt *count, PetscInt (**pairs)[2])
{
  PairsFound found = {0};
  PetscInt   stack[6 * TREE_MAX_DEPTH][2];
  int        height = 0;

  PetscFunctionBegin;
  stack[height][0] = stack[height][1] = 0;
  height++;
  while (height > 0) {
    const PetscInt pair[2] = {stack[height - 1][0], stack[height - 1][1]};

    height--;
    if (tree->wanted && !tree->has_wanted[pair[0]] && !tree->has_wanted[pair[1]])
      continue;
    if (pair[0] != pair[1] && !boxes_overlap(&tree->nodes[pair[0]].box, &tree->nodes[pair[1]].box))
      continue;
    if (!tree->nodes[pair[0]].right && !tree->nodes[pair[1]].right)
      PetscCall(AddLeaves(tree, pair[0], pair[1], &found));
    else
      height += divide(tree, pair, &stack[height]);
  }
  *count = found.count;
  *pairs = found.pairs;
  PetscFunctionReturn(0);
}
