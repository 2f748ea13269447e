/* The nodes and elements of a file of Gmsh.

   Version 2.2: a count in text, then number and place of each node; number, kind, tags and nodes of each
   element, in a binary file after a header for a run of elements of one kind. Version 4.1: blocks, one per
   curve, surface or volume of the geometry, each with all numbers of nodes before all places. */
#include "gmsh.h"

static const GmshType types[] = {
    {1, 1, 2, 1},   {2, 2, 3, 1},   {3, 2, 4, 0},   {4, 3, 4, 1},   {5, 3, 8, 0},   {6, 3, 6, 0},
    {7, 3, 5, 0},   {8, 1, 3, 2},   {9, 2, 6, 2},   {10, 2, 9, 0},  {11, 3, 10, 2}, {12, 3, 27, 0},
    {13, 3, 18, 0}, {14, 3, 14, 0}, {15, 0, 1, 1},  {16, 2, 8, 0},  {17, 3, 20, 0}, {18, 3, 15, 0},
    {19, 3, 13, 0}, {20, 2, 9, 0},  {21, 2, 10, 0}, {22, 2, 12, 0}, {23, 2, 15, 0}, {24, 2, 15, 0},
    {25, 2, 21, 0}, {26, 1, 4, 0},  {27, 1, 5, 0},  {28, 1, 6, 0},  {29, 3, 20, 0}, {30, 3, 35, 0},
    {31, 3, 56, 0}};

enum { MOST_NODES = 56 };

static PetscInt line_of(const GmshFile *file)
{
  return file->mode == GMSH_TEXT ? file->source.line : 0;
}

static PetscErrorCode AddNode(GmshFile *file, PetscInt tag, Vector3 place)
{
  PetscFunctionBegin;
  PetscCheck(file->node_count < MAX_COUNT, PETSC_COMM_SELF, PETSC_ERR_SUP, "A file has too many nodes");
  PetscCall(GrowList(file->node_count, &file->node_room, &file->nodes));
  PetscCall(GrowList(file->node_count, &file->tag_room, &file->tags));
  file->nodes[file->node_count] = place;
  file->tags[file->node_count++] = tag;
  PetscFunctionReturn(0);
}

static PetscBool read_place(GmshFile *file, Vector3 *place)
{
  return gmsh_coordinate(file, &place->at[X]) && gmsh_coordinate(file, &place->at[Y]) &&
                 gmsh_coordinate(file, &place->at[Z])
             ? PETSC_TRUE
             : PETSC_FALSE;
}

/* A count that is text in every file of version 2.2. */
static PetscBool read_text_count(GmshFile *file, size_t each, const char what[], PetscInt *count)
{
  const GmshMode mode = file->mode;
  PetscBool      good;

  file->mode = GMSH_TEXT;
  good = gmsh_count(file, 4, each, what, count);
  file->mode = mode;
  if (mode == GMSH_BINARY)
    source_skip_line(&file->source);
  return good;
}

static PetscErrorCode ReadNodes2(GmshFile *file)
{
  const size_t shortest = file->mode == GMSH_TEXT ? 8 : 28;
  PetscInt     count, tag;
  Vector3      place;

  PetscFunctionBegin;
  if (!read_text_count(file, shortest, "nodes", &count))
    PetscFunctionReturn(0);
  for (PetscInt n = 0; n < count; n++) {
    if (!gmsh_integer(file, 4, &tag) || !read_place(file, &place))
      PetscFunctionReturn(0);
    PetscCall(AddNode(file, tag, place));
  }
  PetscFunctionReturn(0);
}

/* The places of a block; its nodes were added with their tags alone. */
static void read_places(GmshFile *file, PetscInt first, PetscInt parameters)
{
  PetscReal ignored;

  for (PetscInt n = first; n < file->node_count; n++) {
    if (!read_place(file, &file->nodes[n]))
      return;
    for (PetscInt p = 0; p < parameters; p++) {
      if (!gmsh_coordinate(file, &ignored))
        return;
    }
  }
}

static PetscErrorCode ReadNodeBlock(GmshFile *file)
{
  const size_t   shortest = file->mode == GMSH_TEXT ? 8 : 32;
  const PetscInt first = file->node_count;
  PetscInt       dimension, entity, parametric, count, tag;

  PetscFunctionBegin;
  if (!gmsh_integer(file, 4, &dimension) || !gmsh_integer(file, 4, &entity) ||
      !gmsh_integer(file, 4, &parametric) || !gmsh_count(file, 8, shortest, "nodes", &count))
    PetscFunctionReturn(0);
  if (dimension < 0 || dimension > 3 || parametric < 0 || parametric > 1) {
    source_fail(&file->source, line_of(file), "a block of nodes of dimension %" PetscInt_FMT " cannot be",
                dimension);
    PetscFunctionReturn(0);
  }
  for (PetscInt n = 0; n < count; n++) {
    if (!gmsh_integer(file, 8, &tag))
      PetscFunctionReturn(0);
    PetscCall(AddNode(file, tag, vector3(0, 0, 0)));
  }
  read_places(file, first, parametric ? dimension : 0);
  PetscFunctionReturn(0);
}

/* Blocks, things in all, and their lowest and highest number: of nodes and elements alike. */
static PetscBool read_block_count(GmshFile *file, PetscInt *blocks)
{
  const size_t shortest = file->mode == GMSH_TEXT ? 8 : 20;
  PetscInt     ignored;

  if (!gmsh_count(file, 8, shortest, "blocks", blocks))
    return PETSC_FALSE;
  for (int n = 0; n < 3; n++) {
    if (!gmsh_integer(file, 8, &ignored))
      return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

PetscErrorCode GmshReadNodes(GmshFile *file)
{
  PetscInt blocks;

  PetscFunctionBegin;
  if (file->version == 2) {
    PetscCall(ReadNodes2(file));
    PetscFunctionReturn(0);
  }
  if (!read_block_count(file, &blocks))
    PetscFunctionReturn(0);
  for (PetscInt n = 0; n < blocks && !file->source.failed; n++)
    PetscCall(ReadNodeBlock(file));
  PetscFunctionReturn(0);
}

static const GmshType *find_type(GmshFile *file, PetscInt number)
{
  for (size_t n = 0; n < sizeof types / sizeof *types; n++) {
    if (types[n].number == number)
      return &types[n];
  }
  source_fail(&file->source, line_of(file), "elements of kind %" PetscInt_FMT " are not known", number);
  return NULL;
}

/* Whether an element is one of those that are wanted, or passed over; or refused. */
static PetscBool is_wanted(GmshFile *file, const GmshType *type)
{
  if (type->dimension != (PetscInt)file->kind)
    return PETSC_FALSE;
  if (!type->order)
    source_fail(&file->source, line_of(file),
                "an element of kind %" PetscInt_FMT
                " is no triangle or tetrahedron of order 1 or 2: mesh without "
                "recombination",
                type->number);
  else if (file->order && file->order != type->order)
    source_fail(&file->source, line_of(file), "linear and quadratic elements are mixed: mesh with one order");
  return file->source.failed ? PETSC_FALSE : PETSC_TRUE;
}

/* Gmsh has the last two edges of a tetrahedron the other way round. */
static void order_nodes(const GmshType *type, PetscInt nodes[])
{
  const PetscInt last = nodes[9];

  if (type->number != 11)
    return;
  nodes[9] = nodes[8];
  nodes[8] = last;
}

static PetscErrorCode AddElement(GmshFile *file, const GmshType *type, PetscInt tag, PetscInt nodes[])
{
  PetscFunctionBegin;
  PetscCheck(file->element_count < MAX_COUNT, PETSC_COMM_SELF, PETSC_ERR_SUP, "A file has too many elements");
  if (!is_wanted(file, type))
    PetscFunctionReturn(0);
  file->order = type->order;
  order_nodes(type, nodes);
  PetscCall(GrowList(file->element_count, &file->number_room, &file->numbers));
  PetscCall(GrowList(file->entry_count + type->nodes, &file->entry_room, &file->entries));
  for (PetscInt n = 0; n < type->nodes; n++)
    file->entries[file->entry_count++] = nodes[n];
  file->numbers[file->element_count++] = tag;
  PetscFunctionReturn(0);
}

/* Tags of version 2.2, of which the file holds as many as it says, then the nodes. */
static PetscErrorCode ReadElement(GmshFile *file, const GmshType *type, PetscInt tag, PetscInt tags,
                                  int bytes)
{
  PetscInt nodes[MOST_NODES], ignored;

  PetscFunctionBegin;
  for (PetscInt n = 0; n < tags; n++) {
    if (!gmsh_integer(file, 4, &ignored))
      PetscFunctionReturn(0);
  }
  for (PetscInt n = 0; n < type->nodes; n++) {
    if (!gmsh_integer(file, bytes, &nodes[n]))
      PetscFunctionReturn(0);
  }
  PetscCall(AddElement(file, type, tag, nodes));
  PetscFunctionReturn(0);
}

static PetscErrorCode ReadTextElement2(GmshFile *file)
{
  PetscInt        tag, number, tags;
  const GmshType *type;

  PetscFunctionBegin;
  if (!gmsh_integer(file, 4, &tag) || !gmsh_integer(file, 4, &number))
    PetscFunctionReturn(0);
  type = find_type(file, number);
  if (!type || !gmsh_count(file, 4, 2, "tags", &tags))
    PetscFunctionReturn(0);
  PetscCall(ReadElement(file, type, tag, tags, 4));
  PetscFunctionReturn(0);
}

/* A header and a run of elements, of which `left` are to come; returns how many. */
static PetscErrorCode ReadBinaryRun2(GmshFile *file, PetscInt left, PetscInt *run)
{
  PetscInt        number, count, tags, tag;
  const GmshType *type;

  PetscFunctionBegin;
  *run = 0;
  if (!gmsh_integer(file, 4, &number))
    PetscFunctionReturn(0);
  type = find_type(file, number);
  if (!type || !gmsh_count(file, 4, 8, "elements", &count) || !gmsh_count(file, 4, 4, "tags", &tags))
    PetscFunctionReturn(0);
  if (count < 1 || count > left)
    source_fail(&file->source, 0, "a run of %" PetscInt_FMT " elements where %" PetscInt_FMT " are to come",
                count, left);
  for (PetscInt n = 0; n < count && !file->source.failed; n++) {
    if (gmsh_integer(file, 4, &tag))
      PetscCall(ReadElement(file, type, tag, tags, 4));
  }
  *run = count;
  PetscFunctionReturn(0);
}

static PetscErrorCode ReadElements2(GmshFile *file)
{
  const size_t shortest = 6; /* "1 15 0 1" has 8 */
  PetscInt     count, run = 1;

  PetscFunctionBegin;
  if (!read_text_count(file, shortest, "elements", &count))
    PetscFunctionReturn(0);
  for (PetscInt n = 0; n < count && !file->source.failed; n += run) {
    if (file->mode == GMSH_TEXT)
      PetscCall(ReadTextElement2(file));
    else
      PetscCall(ReadBinaryRun2(file, count - n, &run));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode ReadElementBlock(GmshFile *file)
{
  const size_t    shortest = file->mode == GMSH_TEXT ? 4 : 16;
  PetscInt        dimension, entity, number, count, tag;
  const GmshType *type;

  PetscFunctionBegin;
  if (!gmsh_integer(file, 4, &dimension) || !gmsh_integer(file, 4, &entity) ||
      !gmsh_integer(file, 4, &number))
    PetscFunctionReturn(0);
  type = find_type(file, number);
  if (!type || !gmsh_count(file, 8, shortest, "elements", &count))
    PetscFunctionReturn(0);
  for (PetscInt n = 0; n < count && !file->source.failed; n++) {
    if (gmsh_integer(file, 8, &tag))
      PetscCall(ReadElement(file, type, tag, 0, 8));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode GmshReadElements(GmshFile *file)
{
  PetscInt blocks;

  PetscFunctionBegin;
  if (file->version == 2) {
    PetscCall(ReadElements2(file));
    PetscFunctionReturn(0);
  }
  if (!read_block_count(file, &blocks))
    PetscFunctionReturn(0);
  for (PetscInt n = 0; n < blocks && !file->source.failed; n++)
    PetscCall(ReadElementBlock(file));
  PetscFunctionReturn(0);
}
