#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include "gmsh_file.h"
#include "harness.h"

typedef struct {
  FILE        *file;
  GmshFileKind kind;
  Mesh         mesh;
} GmshWriter;

static void put_bytes(GmshWriter *writer, const void *value, int count)
{
  unsigned char bytes[8];

  memcpy(bytes, value, (size_t)count);
  for (int n = 0; n < count; n++)
    fputc(bytes[writer->kind.mode == GMSH_FILE_SWAPPED ? count - 1 - n : n], writer->file);
}

/* `bytes` of a binary file; `end` follows in a text. */
static void put_integer(GmshWriter *writer, PetscInt value, int bytes, const char end[])
{
  const int32_t small = (int32_t)value;
  const int64_t large = (int64_t)value;

  if (writer->kind.mode == GMSH_FILE_TEXT)
    fprintf(writer->file, "%" PetscInt_FMT "%s", value, end);
  else if (bytes == 4)
    put_bytes(writer, &small, 4);
  else
    put_bytes(writer, &large, 8);
}

static void put_place(GmshWriter *writer, Vector3 place)
{
  for (int d = 0; d < 3; d++) {
    const double value = place.at[d];

    if (writer->kind.mode == GMSH_FILE_TEXT)
      fprintf(writer->file, "%.17g%s", value, d < 2 ? " " : "\n");
    else
      put_bytes(writer, &value, 8);
  }
}

static PetscInt tag_of(const GmshWriter *writer, PetscInt vertex)
{
  return writer->kind.first_tag + 3 * vertex;
}

static PetscInt type_of(Mesh mesh)
{
  const PetscInt types[2][4] = {{15, 1, 2, 4}, {15, 8, 9, 11}};

  return types[mesh->order - 1][mesh->kind];
}

static void put_element_nodes(GmshWriter *writer, PetscInt element, int bytes)
{
  const Mesh mesh = writer->mesh;

  for (PetscInt n = 0; n < mesh->nodes; n++) {
    const PetscInt from = mesh->nodes == 10 && n >= 8 ? 17 - n : n; /* Gmsh's order of edges */

    put_integer(writer, tag_of(writer, mesh->elements[element * mesh->nodes + from]), bytes,
                n + 1 < mesh->nodes ? " " : "\n");
  }
}

static void write_version_2(GmshWriter *writer)
{
  const Mesh mesh = writer->mesh;

  fprintf(writer->file, "$Nodes\n%" PetscInt_FMT "\n", mesh->vertex_count + 1);
  for (PetscInt v = 0; v <= mesh->vertex_count; v++) {
    put_integer(writer, tag_of(writer, v), 4, " ");
    put_place(writer, v < mesh->vertex_count ? mesh->vertices[v] : vector3(77, 77, 77));
  }
  fprintf(writer->file, "\n$EndNodes\n$Elements\n%" PetscInt_FMT "\n", mesh->element_count + 1);
  for (PetscInt n = -1; n < mesh->element_count; n++) {
    const PetscInt type = n < 0 ? 15 : type_of(mesh);

    if (writer->kind.mode == GMSH_FILE_TEXT) {
      fprintf(writer->file, "%" PetscInt_FMT " %" PetscInt_FMT " 2 7 1 ", 100 + n, type);
    } else { /* one header each for the point and for all others */
      if (n <= 0) {
        put_integer(writer, type, 4, "");
        put_integer(writer, n < 0 ? 1 : mesh->element_count, 4, "");
        put_integer(writer, 2, 4, "");
      }
      put_integer(writer, 100 + n, 4, "");
      put_integer(writer, 7, 4, "");
      put_integer(writer, 1, 4, "");
    }
    if (n < 0)
      put_integer(writer, tag_of(writer, 0), 4, "\n");
    else
      put_element_nodes(writer, n, 4);
  }
  fprintf(writer->file, "\n$EndElements\n");
}

static void put_block(GmshWriter *writer, PetscInt a, PetscInt b, PetscInt c, PetscInt count)
{
  put_integer(writer, a, 4, " ");
  put_integer(writer, b, 4, " ");
  put_integer(writer, c, 4, " ");
  put_integer(writer, count, 8, "\n");
}

static void put_totals(GmshWriter *writer, PetscInt blocks, PetscInt count, PetscInt low, PetscInt high)
{
  put_integer(writer, blocks, 8, " ");
  put_integer(writer, count, 8, " ");
  put_integer(writer, low, 8, " ");
  put_integer(writer, high, 8, "\n");
}

/* One point, and one curve, surface or volume without bounds. */
static void put_entities(GmshWriter *writer)
{
  fprintf(writer->file, "$Comments\nanything, $Nodes too\n$EndComments\n$Entities\n");
  for (PetscInt d = 0; d <= 3; d++)
    put_integer(writer, d == 0 || d == (PetscInt)writer->mesh->kind, 8, d < 3 ? " " : "\n");
  for (int entity = 0; entity < 2; entity++) {
    put_integer(writer, 1, 4, " ");
    for (int corner = 0; corner <= entity; corner++)
      put_place(writer, vector3(0, 0, 0));
    put_integer(writer, 0, 8, " ");
    if (entity)
      put_integer(writer, 0, 8, "\n");
  }
  fprintf(writer->file, "\n$EndEntities\n");
}

/* The first vertex has a block of its own. */
static void write_version_4(GmshWriter *writer)
{
  const Mesh     mesh = writer->mesh;
  const PetscInt count = mesh->vertex_count + 1;

  put_entities(writer);
  fprintf(writer->file, "$Nodes\n");
  put_totals(writer, 2, count, tag_of(writer, 0), tag_of(writer, count - 1));
  for (PetscInt block = 0; block < 2; block++) {
    const PetscInt from = block, to = block ? count : 1;

    put_block(writer, block ? mesh->kind : 0, 1, 0, to - from);
    for (PetscInt v = from; v < to; v++)
      put_integer(writer, tag_of(writer, v), 8, "\n");
    for (PetscInt v = from; v < to; v++)
      put_place(writer, v < mesh->vertex_count ? mesh->vertices[v] : vector3(77, 77, 77));
  }
  fprintf(writer->file, "\n$EndNodes\n$Elements\n");
  put_totals(writer, 2, mesh->element_count + 1, 99, 99 + mesh->element_count);
  put_block(writer, 0, 1, 15, 1);
  put_integer(writer, 99, 8, " ");
  put_integer(writer, tag_of(writer, 0), 8, "\n");
  put_block(writer, mesh->kind, 1, type_of(mesh), mesh->element_count);
  for (PetscInt n = 0; n < mesh->element_count; n++) {
    put_integer(writer, 100 + n, 8, " ");
    put_element_nodes(writer, n, 8);
  }
  fprintf(writer->file, "\n$EndElements\n");
}

void write_gmsh_file(const char path[], const GmshFileKind *kind, Mesh mesh)
{
  GmshWriter writer = {fopen(path, "wb"), *kind, mesh};

  assert_non_null(writer.file);
  fprintf(writer.file, "$MeshFormat\n%s %d 8\n", kind->version == 2 ? "2.2" : "4.1",
          kind->mode != GMSH_FILE_TEXT);
  if (kind->mode != GMSH_FILE_TEXT) {
    put_integer(&writer, 1, 4, "");
    fputc('\n', writer.file);
  }
  fprintf(writer.file, "$EndMeshFormat\n");
  if (kind->version == 2)
    write_version_2(&writer);
  else
    write_version_4(&writer);
  assert_int_equal(fclose(writer.file), 0);
}
