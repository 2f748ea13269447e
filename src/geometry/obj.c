/* Wavefront OBJ: `v` and `f` statements; a polygon becomes a fan of triangles, so that its outline, and with
   it the sign and the volume, is kept even where it is not convex. Normals, textures, materials, groups,
   points and lines are passed over; free-form surfaces are refused. */
#include <string.h>
#include "geometry_impl.h"

static PetscBool is_passed_over(const Word *word)
{
  static const char *const names[] = {
      "vn",     "vt", "vp", "g",     "o",        "s",        "mg",  "usemtl",     "mtllib",   "usemap",
      "maplib", "l",  "p",  "bevel", "c_interp", "d_interp", "lod", "shadow_obj", "trace_obj"};

  for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
    if (word_is(word, names[n]))
      return PETSC_TRUE;
  }
  return PETSC_FALSE;
}

static PetscErrorCode ReadVertex(Source *source, TriangleList *mesh)
{
  Vector3 vertex;
  Word    word;

  PetscFunctionBegin;
  for (int d = 0; d < DIM; d++) {
    if (!source_word(source, &word))
      source_fail(source, source->line, "a vertex needs three numbers, not %d", d);
    if (source->failed || !source_coordinate(source, &word, &vertex.at[d]))
      PetscFunctionReturn(0);
  }
  PetscCall(TriangleListAddVertex(mesh, vertex));
  PetscFunctionReturn(0);
}

/* `word` is v, v/t, v//n or v/t/n; v counts from 1, or backwards from the last vertex read. */
static PetscBool read_corner(Source *source, const TriangleList *mesh, Word *word, PetscInt *vertex)
{
  PetscInt number;

  word->text[strcspn(word->text, "/")] = '\0';
  if (!source_integer(source, word, &number))
    return PETSC_FALSE;
  *vertex = number > 0 ? number - 1 : mesh->vertex_count + number;
  if (number == 0 || *vertex < 0) {
    source_fail(source, source->line,
                "a face names vertex %" PetscInt_FMT " after %" PetscInt_FMT
                " vertices: they count from 1, or backwards from -1",
                number, mesh->vertex_count);
    return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

static PetscErrorCode ReadFace(Source *source, TriangleList *mesh)
{
  const PetscInt line = source->line;
  PetscInt       corners = 0, first = 0, last = 0, vertex;
  Word           word;

  PetscFunctionBegin;
  while (source_word(source, &word) && word.text[0] != '#') {
    if (!read_corner(source, mesh, &word, &vertex))
      PetscFunctionReturn(0);
    if (corners == 0)
      first = vertex;
    if (corners >= 2)
      PetscCall(TriangleListAddTriangle(mesh, first, last, vertex, line));
    last = vertex;
    corners++;
  }
  if (corners < 3)
    source_fail(source, line, "a face needs at least three vertices, not %" PetscInt_FMT, corners);
  PetscFunctionReturn(0);
}

PetscErrorCode ReadObj(Source *source, TriangleList *mesh)
{
  PetscFunctionBegin;
  source->first_index = 1;
  while (source->at < source->size && !source->failed) {
    Word word;

    if (source_word(source, &word) && word.text[0] != '#') {
      if (word_is(&word, "v"))
        PetscCall(ReadVertex(source, mesh));
      else if (word_is(&word, "f"))
        PetscCall(ReadFace(source, mesh));
      else if (!is_passed_over(&word)) {
        source_fail(
            source, source->line,
            "not a statement of a polygon OBJ file; export the surface as plain triangles or polygons");
      }
      /* by words, because a statement may go on in the next line */
      while (word.text[0] != '#' && source_word(source, &word))
        continue;
    }
    source_skip_line(source);
  }
  PetscFunctionReturn(0);
}
