/* Files of Gmsh: what is read, and what is refused with its place. */
#include <petscdmplex.h>
#include "gmsh_file.h"
#include "mesh.h"
#include "scratch.h"

static char message[512];

static const GmshFileKind kinds[] = {{2, GMSH_FILE_TEXT, 1},     {2, GMSH_FILE_BINARY, 1},
                                     {2, GMSH_FILE_SWAPPED, 50}, {4, GMSH_FILE_TEXT, 7},
                                     {4, GMSH_FILE_BINARY, 1},   {4, GMSH_FILE_SWAPPED, 1}};
enum { KINDS = sizeof kinds / sizeof *kinds };

static Mesh new_mesh(int n)
{
  const PetscInt cells[] = {2, 1, 2};
  Mesh           mesh, linear;

  if (n == 0 || n == 1)
    assert_success(MeshCreateBox(vector3(0, 0.1, 0), vector3(1, 1, 1. / 3), cells, MESH_BOX_SIX, &linear));
  else if (n == 2 || n == 3)
    assert_success(MeshCreateSheet(vector3(0, 0.1, 0), vector3(1, 0, 0), vector3(0, 0.7, 0), cells, &linear));
  else
    assert_success(MeshCreateLine(vector3(0, 0, 0), vector3(0.3, 1, 2), 4, &linear));
  if (n % 2 == 0)
    return linear;
  assert_success(MeshCreateQuadratic(linear, &mesh));
  assert_success(MeshDestroy(&linear));
  return mesh;
}

static void what_is_written_is_read_bit_for_bit(void **state)
{
  (void)state;
  for (int k = 0; k < KINDS; k++) {
    for (int n = 0; n < 6; n++) {
      Mesh mesh = new_mesh(n), read;

      write_gmsh_file(scratch_path("mesh.msh"), &kinds[k], mesh);
      assert_success(MeshReadGmsh(scratch.path, mesh->kind, &read, message, sizeof message));
      assert_string_equal(message, "");
      assert_non_null(read);
      assert_true(are_equal_meshes(mesh, read));
      assert_int_equal(read->numbers[1], 101);
      assert_is_sound(read, MESH_IN_SPACE);
      assert_success(MeshDestroy(&mesh));
      assert_success(MeshDestroy(&read));
    }
  }
}

/* PETSc's own reader sees the same cells and the same volume. */
static void petsc_reads_the_same(void **state)
{
  (void)state;
  for (int k = 0; k < KINDS; k++) {
    Mesh      mesh = new_mesh(0);
    DM        dm;
    PetscInt  from, to;
    PetscReal sum = 0;

    if (kinds[k].mode == GMSH_FILE_SWAPPED)
      continue;
    write_gmsh_file(scratch_path("mesh.msh"), &kinds[k], mesh);
    assert_success(DMPlexCreateGmshFromFile(PETSC_COMM_SELF, scratch.path, PETSC_TRUE, &dm));
    assert_success(DMPlexGetHeightStratum(dm, 0, &from, &to));
    assert_int_equal(to - from, mesh->element_count);
    for (PetscInt c = from; c < to; c++) {
      PetscReal volume;

      assert_success(DMPlexComputeCellGeometryFVM(dm, c, &volume, NULL, NULL));
      sum += volume;
    }
    assert_near(sum, mesh_measure(mesh), 1e-13);
    assert_success(DMDestroy(&dm));
    assert_success(MeshDestroy(&mesh));
  }
}

static Mesh read_text(MeshKind kind, const char text[])
{
  FILE *file = fopen(scratch_path("mesh.msh"), "wb");
  Mesh  mesh;

  assert_non_null(file);
  fputs(text, file);
  fclose(file);
  assert_success(MeshReadGmsh(scratch.path, kind, &mesh, message, sizeof message));
  return mesh;
}

static void refused(MeshKind kind, const char text[], const char why[])
{
  assert_null(read_text(kind, text));
  if (!strstr(message, why))
    fail_msg("\"%s\" does not say \"%s\"", message, why);
}

#define FORMAT2 "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n"
#define FORMAT4 "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n"
#define NODES2 "$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n9 0 0 1\n$EndNodes\n"

/* As Gmsh itself writes it. */
static void a_plain_file_is_read(void **state)
{
  Mesh mesh =
      read_text(MESH_TETRAHEDRA, FORMAT2 "$PhysicalNames\n1\n3 1 \"all\"\n$EndPhysicalNames\n" NODES2
                                         "$Elements\n2\n1 2 2 0 1 1 3 2\n2 4 2 1 1 1 2 3 9\n$EndElements\n");

  (void)state;
  assert_string_equal(message, "");
  assert_int_equal(mesh->element_count, 1);
  assert_near(mesh_measure(mesh), 1. / 6, 0);
  assert_success(MeshDestroy(&mesh));
  mesh =
      read_text(MESH_TRIANGLES, FORMAT4 "$Entities\n0 0 1 0\n1 0 0 0 1 1 0 0 0\n$EndEntities\n"
                                        "$Nodes\n1 3 1 3\n2 1 0 3\n1\n2\n3\n0 0 0\n1 0 0\n0 1 0\n$EndNodes\n"
                                        "$Elements\n1 1 1 1\n2 1 2 1\n1 1 2 3\n$EndElements\n");
  assert_string_equal(message, "");
  assert_near(mesh_measure(mesh), 0.5, 0);
  assert_success(MeshDestroy(&mesh));
}

static void mistakes_are_told_with_their_place(void **state)
{
  (void)state;
  refused(MESH_TETRAHEDRA, "", "holds no tetrahedra");
  refused(MESH_TETRAHEDRA, "hello\n", "mesh.msh:1: expected a section");
  refused(MESH_TETRAHEDRA, "$Nodes\n0\n$EndNodes\n", "does not begin with $MeshFormat");
  refused(MESH_TETRAHEDRA, "$MeshFormat\n3.0 0 8\n$EndMeshFormat\n", "mesh.msh:2: only versions 2.2 and 4.1");
  refused(MESH_TETRAHEDRA, "$MeshFormat\n2.2 0 4\n$EndMeshFormat\n", "expected \"0 8\"");
  refused(MESH_TETRAHEDRA, FORMAT2 "$Nodes\n1000000000\n1 0 0 0\n$EndNodes\n",
          "mesh.msh:5: 1000000000 nodes cannot be in the");
  refused(MESH_TETRAHEDRA, FORMAT2 "$Nodes\n-1\n$EndNodes\n", "-1 nodes cannot be");
  refused(MESH_TETRAHEDRA, FORMAT2 "$Nodes\n2\n1 0 0 0\n2 0 nan 0\n$EndNodes\n",
          "mesh.msh:7: expected a finite number");
  refused(MESH_TETRAHEDRA, FORMAT2 NODES2 "$Elements\n1\n1 4 0 1 2 3 4\n$EndElements\n",
          "element 1 names node 4, which is not there");
  refused(MESH_TETRAHEDRA, FORMAT2 "$Elements\n1\n1 4 0 1 2 3 4\n$EndElements\n",
          "names node 1, which is not there");
  refused(MESH_TETRAHEDRA, FORMAT2 NODES2 "$Elements\n1\n1 99 0 1 2 3 9\n$EndElements\n",
          "mesh.msh:13: elements of kind 99 are not known");
  refused(MESH_TETRAHEDRA, FORMAT2 NODES2 "$Elements\n1\n1 4 2 0 0 1 2\n", "the file ends too early");
  refused(MESH_TETRAHEDRA, FORMAT2 NODES2 "$Elements\n1\n1 4 0 1 2 3 9\n",
          "the section $Elements has no end");
  refused(MESH_TRIANGLES, FORMAT2 NODES2 "$Elements\n1\n1 3 0 1 2 3 9\n$EndElements\n",
          "without recombination");
  refused(MESH_SEGMENTS, FORMAT2 NODES2 "$Elements\n2\n1 1 0 1 2\n2 8 0 1 2 3\n$EndElements\n",
          "linear and quadratic elements are mixed");
  refused(MESH_SEGMENTS,
          FORMAT2 "$Nodes\n2\n1 0 0 0\n1 1 0 0\n$EndNodes\n$Elements\n1\n1 1 0 1 1\n$EndElements\n",
          "the node 1 is there twice");
  refused(MESH_TRIANGLES, FORMAT4 "$Nodes\n1 1 1 1\n9 1 0 1\n1\n0 0 0\n$EndNodes\n", "of dimension 9");
}

static void a_missing_file_is_told(void **state)
{
  Mesh mesh;

  (void)state;
  assert_success(MeshReadGmsh(scratch_path("none.msh"), MESH_TETRAHEDRA, &mesh, message, sizeof message));
  assert_null(mesh);
  assert_non_null(strstr(message, "cannot be opened"));
}

/* Cut short anywhere or with a byte changed it is read or refused, never more. */
static void damaged_files_are_read_or_refused(void **state)
{
  PetscInt read_count = 0, refused_count = 0;

  (void)state;
  for (int k = 0; k < KINDS; k++) {
    Mesh mesh = new_mesh(1), read;
    long size;

    write_gmsh_file(scratch_path("mesh.msh"), &kinds[k], mesh);
    size = file_size(scratch.path);
    for (long at = 0; at < size; at += 1 + size / 97) {
      flip_byte(scratch.path, at, 0x91);
      assert_success(MeshReadGmsh(scratch.path, MESH_TETRAHEDRA, &read, message, sizeof message));
      assert_true((read == NULL) == (message[0] != '\0'));
      read_count += read != NULL;
      refused_count += read == NULL;
      assert_success(MeshDestroy(&read));
      flip_byte(scratch.path, at, 0x91);
    }
    for (long at = size - 1; at > 0; at -= 1 + size / 61) {
      assert_int_equal(truncate(scratch.path, at), 0);
      assert_success(MeshReadGmsh(scratch.path, MESH_TETRAHEDRA, &read, message, sizeof message));
      assert_true((read == NULL) == (message[0] != '\0'));
      assert_success(MeshDestroy(&read));
    }
    assert_success(MeshDestroy(&mesh));
  }
  assert_true(read_count > 20 && refused_count > 100);
}

/* Of a binary file of version 2.2: the number of elements in its first run becomes `count`. */
static void set_first_run(const char path[], int count)
{
  FILE *file = fopen(path, "r+b");
  char  line[256];

  assert_non_null(file);
  do
    assert_non_null(fgets(line, sizeof line, file));
  while (strcmp(line, "$Elements\n"));
  assert_non_null(fgets(line, sizeof line, file));
  assert_int_equal(fseek(file, 4, SEEK_CUR), 0); /* the kind of the elements */
  assert_int_equal(fwrite(&count, sizeof count, 1, file), 1);
  fclose(file);
}

static void a_run_of_elements_is_no_longer_than_what_is_to_come(void **state)
{
  const int runs[] = {0, -1, 12, 0x7fffffff};
  Mesh      mesh = new_mesh(2), read;

  (void)state;
  for (int n = 0; n < 4; n++) {
    write_gmsh_file(scratch_path("mesh.msh"), &kinds[1], mesh);
    set_first_run(scratch.path, runs[n]);
    assert_success(MeshReadGmsh(scratch.path, MESH_TETRAHEDRA, &read, message, sizeof message));
    assert_null(read);
    if (!strstr(message, runs[n] == 0 || runs[n] == 12 ? "are to come" : "cannot be in the"))
      fail_msg("\"%s\"", message);
  }
  assert_success(MeshDestroy(&mesh));
}

TEST_MAIN(in_scratch(what_is_written_is_read_bit_for_bit), in_scratch(petsc_reads_the_same),
          in_scratch(a_plain_file_is_read), in_scratch(mistakes_are_told_with_their_place),
          in_scratch(a_missing_file_is_told), in_scratch(damaged_files_are_read_or_refused),
          in_scratch(a_run_of_elements_is_no_longer_than_what_is_to_come))
