/* Which elements share what: edges, sides and corners are sorted by their vertices, first into one bucket per
   lowest vertex, then within it; so the time is that of the number of elements. */
#include "mesh_impl.h"

static PetscInt part_count(MeshKind mesh_kind, PartKind kind)
{
  switch (kind) {
  case PARTS_EDGES:
    return mesh_edges(mesh_kind);
  case PARTS_SIDES:
    return mesh_kind == MESH_POINTS ? 0 : mesh_corners(mesh_kind);
  default:
    return 1;
  }
}

static PetscInt part_width(MeshKind mesh_kind, PartKind kind)
{
  switch (kind) {
  case PARTS_EDGES:
    return 2;
  case PARTS_SIDES:
    return mesh_corners(mesh_kind) - 1;
  default:
    return mesh_corners(mesh_kind);
  }
}

static PetscInt part_vertex(Mesh mesh, PartKind kind, PetscInt element, PetscInt part, PetscInt n)
{
  const PetscInt *nodes = mesh_element(mesh, element);

  switch (kind) {
  case PARTS_EDGES:
    return nodes[mesh_edge(mesh->kind, part)[n]];
  case PARTS_SIDES:
    return nodes[mesh_side(mesh->kind, part)[n]];
  default:
    return nodes[n];
  }
}

static KeyedPart keyed_part(Mesh mesh, PartKind kind, PetscInt element, PetscInt part)
{
  const PetscInt width = part_width(mesh->kind, kind);
  KeyedPart      keyed = {{-1, -1, -1, -1}, element, part};

  for (PetscInt n = 0; n < width; n++) {
    const PetscInt vertex = part_vertex(mesh, kind, element, part, n);
    PetscInt       at = n;

    for (; at > 0 && keyed.key[at - 1] > vertex; at--)
      keyed.key[at] = keyed.key[at - 1];
    keyed.key[at] = vertex;
  }
  return keyed;
}

/* By key, then by element and part. */
static PetscBool comes_before(const KeyedPart *a, const KeyedPart *b)
{
  for (PetscInt n = 1; n < MESH_MAX_CORNERS; n++) { /* the first is that of the bucket */
    if (a->key[n] != b->key[n])
      return a->key[n] < b->key[n] ? PETSC_TRUE : PETSC_FALSE;
  }
  if (a->element != b->element)
    return a->element < b->element ? PETSC_TRUE : PETSC_FALSE;
  return a->part < b->part ? PETSC_TRUE : PETSC_FALSE;
}

static int compare_parts(const void *a, const void *b)
{
  return comes_before(a, b) ? -1 : 1; /* no two are equal */
}

/* A bucket has some tens of parts as a rule; of a fan around one vertex, all. */
static void sort_bucket(KeyedPart parts[], PetscInt count)
{
  const PetscInt many = 128;

  if (count > many) {
    qsort(parts, (size_t)count, sizeof *parts, compare_parts);
    return;
  }
  for (PetscInt n = 1; n < count; n++) {
    const KeyedPart part = parts[n];
    PetscInt        at = n;

    for (; at > 0 && comes_before(&part, &parts[at - 1]); at--)
      parts[at] = parts[at - 1];
    parts[at] = part;
  }
}

PetscErrorCode MeshSortParts(Mesh mesh, PartKind kind, PetscInt *count, KeyedPart **parts)
{
  const PetscInt each = part_count(mesh->kind, kind);
  PetscInt      *first;

  PetscFunctionBegin;
  *count = each * mesh->element_count;
  PetscCall(PetscMalloc1(*count, parts));
  PetscCall(PetscCalloc1(mesh->vertex_count + 2, &first));
  for (PetscInt n = 0; n < *count; n++)
    first[keyed_part(mesh, kind, n / each, n % each).key[0] + 2]++;
  for (PetscInt v = 0; v < mesh->vertex_count; v++)
    first[v + 2] += first[v + 1];
  for (PetscInt n = 0; n < *count; n++) {
    const KeyedPart part = keyed_part(mesh, kind, n / each, n % each);

    (*parts)[first[part.key[0] + 1]++] = part;
  }
  for (PetscInt v = 0; v < mesh->vertex_count; v++)
    sort_bucket(*parts + first[v], first[v + 1] - first[v]);
  PetscCall(PetscFree(first));
  PetscFunctionReturn(0);
}

PetscErrorCode MeshFindNeighbours(Mesh mesh, PetscInt **neighbours)
{
  const PetscInt corners = mesh_corners(mesh->kind);
  PetscInt       count;
  KeyedPart     *sides;

  PetscFunctionBegin;
  PetscCheck(mesh->kind != MESH_POINTS, PETSC_COMM_SELF, PETSC_ERR_SUP, "Points have no neighbours");
  PetscCall(MeshSortParts(mesh, PARTS_SIDES, &count, &sides));
  PetscCall(PetscMalloc1(corners * mesh->element_count, neighbours));
  for (PetscInt n = 0, end; n < count; n = end) {
    for (end = n + 1; end < count && same_key(&sides[n], &sides[end]);)
      end++;
    for (PetscInt m = n; m < end; m++) {
      const PetscInt next = m + 1 < end ? m + 1 : n;

      (*neighbours)[sides[m].element * corners + sides[m].part] = next == m ? -1 : sides[next].element;
    }
  }
  PetscCall(PetscFree(sides));
  PetscFunctionReturn(0);
}

PetscErrorCode MeshFindEdges(Mesh mesh, PetscInt *count, PetscInt (**edges)[2])
{
  PetscInt   all, found = 0;
  KeyedPart *parts;

  PetscFunctionBegin;
  PetscCall(MeshSortParts(mesh, PARTS_EDGES, &all, &parts));
  for (PetscInt n = 0; n < all; n++)
    found += n == 0 || !same_key(&parts[n - 1], &parts[n]);
  PetscCall(PetscMalloc1(found, edges));
  *count = 0;
  for (PetscInt n = 0; n < all; n++) {
    if (n > 0 && same_key(&parts[n - 1], &parts[n]))
      continue;
    (*edges)[*count][0] = parts[n].key[0];
    (*edges)[(*count)++][1] = parts[n].key[1];
  }
  PetscCall(PetscFree(parts));
  PetscFunctionReturn(0);
}

PetscErrorCode MeshFindElementsOfVertices(Mesh mesh, PetscInt **first, PetscInt **elements)
{
  const PetscInt count = mesh->nodes * mesh->element_count;
  PetscInt      *at;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(mesh->vertex_count + 1, first));
  PetscCall(PetscMalloc1(count, elements));
  PetscCall(PetscMalloc1(mesh->vertex_count, &at));
  for (PetscInt n = 0; n < count; n++)
    (*first)[mesh->elements[n] + 1]++;
  for (PetscInt v = 0; v < mesh->vertex_count; v++) {
    at[v] = (*first)[v];
    (*first)[v + 1] += (*first)[v];
  }
  for (PetscInt n = 0; n < count; n++)
    (*elements)[at[mesh->elements[n]]++] = n / mesh->nodes;
  PetscCall(PetscFree(at));
  PetscFunctionReturn(0);
}

static PetscInt root_of(PetscInt parents[], PetscInt n)
{
  while (parents[n] != n) {
    parents[n] = parents[parents[n]];
    n = parents[n];
  }
  return n;
}

PetscErrorCode MeshFindComponents(Mesh mesh, PetscInt *count, PetscInt **component)
{
  PetscInt *parents;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(mesh->vertex_count, component));
  PetscCall(PetscMalloc1(mesh->vertex_count, &parents));
  for (PetscInt v = 0; v < mesh->vertex_count; v++)
    parents[v] = v;
  for (PetscInt n = 0; n < mesh->nodes * mesh->element_count; n++) {
    const PetscInt a = root_of(parents, mesh->elements[n]);
    const PetscInt b = root_of(parents, mesh->elements[n - n % mesh->nodes]);

    parents[PetscMax(a, b)] = PetscMin(a, b);
  }
  *count = 0;
  for (PetscInt v = 0; v < mesh->vertex_count; v++) /* a root comes before the others of its piece */
    (*component)[v] = root_of(parents, v) == v ? (*count)++ : (*component)[root_of(parents, v)];
  PetscCall(PetscFree(parents));
  PetscFunctionReturn(0);
}
