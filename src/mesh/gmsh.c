/* Files of Gmsh, versions 2.2 and 4.1, text and binary: what they consist of, and the mesh they give. The
   nodes and elements are read in gmsh_parts.c; all other sections are passed over. Nothing is allocated that
   the file does not hold, and every number is checked before it is used. */
#include <millrace/mesh.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "gmsh.h"

static size_t bytes_left(const GmshFile *file)
{
  return file->source.size - file->source.at;
}

/* Little- or big-endian as the file is; false at its end. */
static PetscBool take_bytes(GmshFile *file, int count, void *value)
{
  unsigned char bytes[8];

  if (bytes_left(file) < (size_t)count) {
    source_fail(&file->source, 0, "the file ends too early: it seems to be cut short");
    return PETSC_FALSE;
  }
  memcpy(bytes, file->source.bytes + file->source.at, (size_t)count);
  file->source.at += (size_t)count;
  for (int n = 0; file->is_swapped && n < count / 2; n++) {
    const unsigned char byte = bytes[n];

    bytes[n] = bytes[count - 1 - n];
    bytes[count - 1 - n] = byte;
  }
  memcpy(value, bytes, (size_t)count);
  return PETSC_TRUE;
}

static PetscBool take_word(GmshFile *file, Word *word)
{
  if (source_word_any_line(&file->source, word))
    return PETSC_TRUE;
  source_fail(&file->source, file->source.line, "the file ends too early: it seems to be cut short");
  return PETSC_FALSE;
}

PetscBool gmsh_integer(GmshFile *file, int bytes, PetscInt *value)
{
  Word    word;
  int32_t small = 0;
  int64_t large = 0;

  if (file->mode == GMSH_TEXT)
    return take_word(file, &word) && source_integer(&file->source, &word, value) ? PETSC_TRUE : PETSC_FALSE;
  if (!(bytes == 4 ? take_bytes(file, 4, &small) : take_bytes(file, 8, &large)))
    return PETSC_FALSE;
  if (bytes == 4)
    large = small;
  if (large > PETSC_MAX_INT || large < -PETSC_MAX_INT) {
    source_fail(&file->source, 0, "byte %zu: the number %lld is too large", file->source.at - (size_t)bytes,
                (long long)large);
    return PETSC_FALSE;
  }
  *value = (PetscInt)large;
  return PETSC_TRUE;
}

PetscBool gmsh_coordinate(GmshFile *file, PetscReal *value)
{
  Word   word;
  double number = 0;

  if (file->mode == GMSH_TEXT)
    return take_word(file, &word) && source_coordinate(&file->source, &word, value) ? PETSC_TRUE
                                                                                    : PETSC_FALSE;
  if (!take_bytes(file, 8, &number))
    return PETSC_FALSE;
  *value = number;
  if (coordinate_is_usable(*value))
    return PETSC_TRUE;
  source_fail(&file->source, 0, "byte %zu: a coordinate is not a finite number, or beyond %g",
              file->source.at - 8, MILLRACE_MAX_COORDINATE);
  return PETSC_FALSE;
}

PetscBool gmsh_count(GmshFile *file, int bytes, size_t each, const char what[], PetscInt *value)
{
  const PetscInt line = file->mode == GMSH_TEXT ? file->source.line : 0;

  if (!gmsh_integer(file, bytes, value))
    return PETSC_FALSE;
  if (*value >= 0 && (size_t)*value <= bytes_left(file) / each + 1)
    return PETSC_TRUE;
  source_fail(&file->source, line, "%" PetscInt_FMT " %s cannot be in the %zu bytes that follow", *value,
              what, bytes_left(file));
  return PETSC_FALSE;
}

/* "$MeshFormat": version, text or binary, size of its large numbers; of a binary file also the number 1. */
static void read_format(GmshFile *file)
{
  Source *source = &file->source;
  Word    version, mode, size;
  int32_t one = 0;

  if (!take_word(file, &version) || !take_word(file, &mode) || !take_word(file, &size))
    return;
  file->version = !strcmp(version.text, "2.2") ? 2 : !strcmp(version.text, "4.1") ? 4 : 0;
  if (!file->version) {
    source_fail(source, source->line,
                "only versions 2.2 and 4.1 of Gmsh's format can be read, not %s; save it with "
                "-format msh41",
                word_is(&version, "") ? "none" : version.text);
    return;
  }
  if ((!word_is(&mode, "0") && !word_is(&mode, "1")) || !word_is(&size, "8")) {
    source_fail(source, source->line, "expected \"0 8\" (text) or \"1 8\" (binary) after the version");
    return;
  }
  source_skip_line(source);
  if (word_is(&mode, "0"))
    return;
  if (!take_bytes(file, 4, &one))
    return;
  file->is_swapped = one == 1 ? PETSC_FALSE : PETSC_TRUE;
  if (one != 1 && one != 0x01000000)
    source_fail(source, 0, "the order of bytes cannot be told: it is damaged");
  file->mode = GMSH_BINARY;
  source->part = "element";
}

/* Behind "$End…" of a section; what stands before it is not looked at. */
static void skip_section(GmshFile *file, const char name[])
{
  Source     *source = &file->source;
  char        end[96];
  const char *from = source->bytes + source->at, *limit = source->bytes + source->size;
  size_t      length;

  (void)PetscSNPrintf(end, sizeof end, "$End%s", name);
  length = strlen(end);
  for (; from < limit; from++) {
    from = memchr(from, '$', (size_t)(limit - from));
    if (!from)
      break;
    if ((size_t)(limit - from) >= length && !memcmp(from, end, length))
      break;
  }
  if (!from || from >= limit) {
    source_fail(source, 0, "the section $%s has no end: it seems to be cut short", name);
    return;
  }
  for (const char *c = source->bytes + source->at; c < from; c++)
    source->line += *c == '\n';
  source->at = (size_t)(from - source->bytes) + length;
}

static PetscErrorCode ReadSection(GmshFile *file, const Word *name)
{
  PetscFunctionBegin;
  if (word_is(name, "$MeshFormat")) {
    read_format(file);
  } else if (!file->version) {
    source_fail(&file->source, file->source.line, "not a file of Gmsh: it does not begin with $MeshFormat");
  } else if (word_is(name, "$Nodes")) {
    source_skip_line(&file->source);
    PetscCall(GmshReadNodes(file));
  } else if (word_is(name, "$Elements")) {
    source_skip_line(&file->source);
    PetscCall(GmshReadElements(file));
  }
  if (!file->source.failed)
    skip_section(file, name->text + 1);
  PetscFunctionReturn(0);
}

static PetscErrorCode ReadSections(GmshFile *file)
{
  Word name;

  PetscFunctionBegin;
  while (!file->source.failed && source_word_any_line(&file->source, &name)) {
    if (name.text[0] != '$' || name.is_odd) {
      source_fail(&file->source, file->mode == GMSH_TEXT ? file->source.line : 0,
                  "expected a section such as $Nodes; is it a file of Gmsh?");
      break;
    }
    PetscCall(ReadSection(file, &name));
  }
  PetscFunctionReturn(0);
}

typedef struct {
  PetscInt tag, node;
} TaggedNode;

static int compare_tags(const void *a, const void *b)
{
  const TaggedNode *left = a, *right = b;

  return left->tag < right->tag ? -1 : left->tag > right->tag;
}

static const TaggedNode *find_tag(const TaggedNode sorted[], PetscInt count, PetscInt tag)
{
  const TaggedNode key = {tag, 0};

  /* they are usually 1, 2, 3, … */
  if (tag >= 1 && tag <= count && sorted[tag - 1].tag == tag)
    return &sorted[tag - 1];
  return count == 0 ? NULL : bsearch(&key, sorted, (size_t)count, sizeof *sorted, compare_tags);
}

static PetscErrorCode SortTags(GmshFile *file, TaggedNode **sorted)
{
  PetscBool in_order = PETSC_TRUE;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(file->node_count, sorted));
  for (PetscInt n = 0; n < file->node_count; n++) {
    (*sorted)[n] = (TaggedNode){file->tags[n], n};
    if (n > 0 && file->tags[n] <= file->tags[n - 1])
      in_order = PETSC_FALSE;
  }
  if (!in_order)
    qsort(*sorted, (size_t)file->node_count, sizeof **sorted, compare_tags);
  for (PetscInt n = 1; n < file->node_count; n++) {
    if ((*sorted)[n].tag == (*sorted)[n - 1].tag)
      source_fail(&file->source, 0, "the node %" PetscInt_FMT " is there twice", (*sorted)[n].tag);
  }
  PetscFunctionReturn(0);
}

/* From tags to numbers; nodes that no element has, such as the centres of circles, are left out. */
static PetscErrorCode ResolveTags(GmshFile *file, const TaggedNode sorted[])
{
  const PetscInt nodes = mesh_nodes(file->kind, file->order);
  PetscInt      *number, kept = 0;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(file->node_count, &number));
  for (PetscInt n = 0; n < file->entry_count && !file->source.failed; n++) {
    const TaggedNode *found = find_tag(sorted, file->node_count, file->entries[n]);

    if (!found) {
      source_fail(&file->source, 0,
                  "element %" PetscInt_FMT " names node %" PetscInt_FMT ", which is not there",
                  file->numbers[n / nodes], file->entries[n]);
      break;
    }
    file->entries[n] = found->node;
    number[found->node] = 1;
  }
  for (PetscInt n = 0; n < file->node_count; n++) {
    if (!number[n])
      continue;
    file->nodes[kept] = file->nodes[n];
    number[n] = kept++;
  }
  for (PetscInt n = 0; n < file->entry_count && !file->source.failed; n++)
    file->entries[n] = number[file->entries[n]];
  file->node_count = kept;
  PetscCall(PetscFree(number));
  PetscFunctionReturn(0);
}

static PetscErrorCode FinishMesh(GmshFile *file, Mesh *mesh)
{
  static const char *const names[] = {"points", "segments", "triangles", "tetrahedra"};
  TaggedNode              *sorted = NULL;

  PetscFunctionBegin;
  if (file->element_count == 0)
    source_fail(&file->source, 0, "holds no %s", names[file->kind]);
  if (!file->source.failed)
    PetscCall(SortTags(file, &sorted));
  if (!file->source.failed)
    PetscCall(ResolveTags(file, sorted));
  PetscCall(PetscFree(sorted));
  if (file->source.failed)
    PetscFunctionReturn(0);
  PetscCall(MeshCreate(file->kind, file->order, file->node_count, file->nodes, file->element_count,
                       file->entries, mesh));
  (*mesh)->numbers = file->numbers;
  file->numbers = NULL;
  PetscFunctionReturn(0);
}

PetscErrorCode MeshReadGmsh(const char path[], MeshKind kind, Mesh *mesh, char message[], size_t message_size)
{
  GmshFile file = {.kind = kind};

  PetscFunctionBegin;
  *mesh = NULL;
  message[0] = '\0';
  PetscCall(SourceOpen(path, message, message_size, &file.source));
  if (!file.source.failed)
    PetscCall(ReadSections(&file));
  if (!file.source.failed)
    PetscCall(FinishMesh(&file, mesh));
  PetscCall(PetscFree(file.nodes));
  PetscCall(PetscFree(file.tags));
  PetscCall(PetscFree(file.entries));
  PetscCall(PetscFree(file.numbers));
  PetscCall(SourceClose(&file.source));
  PetscFunctionReturn(0);
}
