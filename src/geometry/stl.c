/* STL, as text or binary. The word "solid" in front proves nothing: many binary files start with it, so a
   file is binary first of all if its size is the one that its count of facets asks for. Normals are not used.
 */
#include <string.h>
#include <strings.h>
#include "geometry_impl.h"

enum { HEADER_SIZE = 84, COUNT_AT = 80, FACET_SIZE = 50, NORMAL_SIZE = 12, PROBE_SIZE = 2048 };

static uint32_t little_endian(const char bytes[4])
{
  uint32_t value = 0;

  for (int n = 3; n >= 0; n--)
    value = value << 8 | (unsigned char)bytes[n];
  return value;
}

static PetscReal float_at(const char bytes[4])
{
  const uint32_t bits = little_endian(bytes);
  float          value;

  memcpy(&value, &bits, sizeof value);
  return (PetscReal)value;
}

static PetscErrorCode AddFacet(TriangleList *mesh, const Vector3 corners[3], PetscInt origin)
{
  const PetscInt first = mesh->vertex_count;

  PetscFunctionBegin;
  for (int n = 0; n < 3; n++)
    PetscCall(TriangleListAddVertex(mesh, corners[n]));
  PetscCall(TriangleListAddTriangle(mesh, first, first + 1, first + 2, origin));
  PetscFunctionReturn(0);
}

static PetscErrorCode ReadBinary(Source *source, TriangleList *mesh)
{
  uint64_t count;

  PetscFunctionBegin;
  source->part = "facet";
  if (source->size < HEADER_SIZE) {
    source_fail(source, 0, "%zu bytes are too few for an STL file", source->size);
    PetscFunctionReturn(0);
  }
  count = little_endian(source->bytes + COUNT_AT);
  if (source->size < HEADER_SIZE + FACET_SIZE * count) {
    source_fail(source, 0,
                "a binary STL file of %" PRIu64 " facets has %" PRIu64
                " bytes, this one has %zu: it is cut short or damaged; export it again",
                count, HEADER_SIZE + FACET_SIZE * count, source->size);
    PetscFunctionReturn(0);
  }
  for (uint64_t n = 0; n < count; n++) {
    const char *facet = source->bytes + HEADER_SIZE + FACET_SIZE * n + NORMAL_SIZE;
    Vector3     corners[3];

    for (int k = 0; k < 9; k++)
      corners[k / 3].at[k % 3] = float_at(facet + 4 * k);
    for (int k = 0; k < 3; k++) {
      if (!vertex_is_usable(corners[k])) {
        source_fail(source, (PetscInt)n + 1, "corner %d is not finite or beyond %g (byte %zu)", k + 1,
                    MILLRACE_MAX_COORDINATE, (size_t)(facet + 12 * k - source->bytes));
        PetscFunctionReturn(0);
      }
    }
    PetscCall(AddFacet(mesh, corners, (PetscInt)n + 1));
  }
  PetscFunctionReturn(0);
}

static PetscBool expect(Source *source, const char text[])
{
  Word word;

  if (!source_word_any_line(source, &word)) {
    source_fail(source, source->line, "the file ends where \"%s\" should come: it seems to be cut short",
                text);
    return PETSC_FALSE;
  }
  if (word_is(&word, text))
    return PETSC_TRUE;
  source_fail(source, source->line, "expected \"%s\"", text);
  return PETSC_FALSE;
}

/* After the word "facet". */
static PetscErrorCode ReadFacet(Source *source, TriangleList *mesh)
{
  const PetscInt line = source->line;
  Vector3        corners[3];
  Word           unused;

  PetscFunctionBegin;
  if (!expect(source, "normal"))
    PetscFunctionReturn(0);
  for (int d = 0; d < DIM; d++) {
    if (!source_word_any_line(source, &unused))
      source_fail(source, source->line, "the file ends inside a facet");
  }
  if (!expect(source, "outer") || !expect(source, "loop"))
    PetscFunctionReturn(0);
  for (int n = 0; n < 3; n++) {
    if (!expect(source, "vertex") || !source_point(source, &corners[n]))
      PetscFunctionReturn(0);
  }
  if (!expect(source, "endloop") || !expect(source, "endfacet"))
    PetscFunctionReturn(0);
  PetscCall(AddFacet(mesh, corners, line));
  PetscFunctionReturn(0);
}

static PetscErrorCode ReadText(Source *source, TriangleList *mesh)
{
  PetscBool in_solid = PETSC_FALSE;
  Word      word;

  PetscFunctionBegin;
  while (!source->failed && source_word_any_line(source, &word)) {
    const PetscBool starts = word_is(&word, "solid"), ends = word_is(&word, "endsolid");

    if (starts || ends) {
      in_solid = starts;
      source_skip_line(source); /* its name */
    } else if (in_solid && word_is(&word, "facet")) {
      PetscCall(ReadFacet(source, mesh));
    } else {
      source_fail(source, source->line, "expected \"%s\"", in_solid ? "facet\" or \"endsolid" : "solid");
    }
  }
  if (in_solid)
    source_fail(source, source->line, "\"endsolid\" is missing: the file seems to be cut short");
  PetscFunctionReturn(0);
}

PetscErrorCode ReadStl(Source *source, TriangleList *mesh)
{
  const PetscBool says_solid = strncasecmp(source->bytes, "solid", 5) == 0 ? PETSC_TRUE : PETSC_FALSE;

  PetscFunctionBegin;
  if (says_solid && !memchr(source->bytes, '\0', PetscMin(source->size, (size_t)PROBE_SIZE))) {
    PetscCall(ReadText(source, mesh));
  } else {
    PetscCall(ReadBinary(source, mesh));
  }
  PetscFunctionReturn(0);
}
