/* Meshes of scenes: files, and what was embedded or cut. */
#include "gmsh_file.h"
#include "scratch.h"
#include "solid_case.h"

#include "solid/deformable/points.h"

/* A bar that turns, from a file or from its shape: the same motion. */
static void a_file_moves_as_the_shape_that_it_was_written_from(void **state)
{
  static const PetscInt     cells[] = {4, 1, 1};
  static const GmshFileKind kind = {.version = 4, .mode = GMSH_FILE_BINARY, .first_tag = 7};
  PetscReal                 energy[2];

  (void)state;
  for (PetscInt from_file = 0; from_file < 2; from_file++) {
    SolidCase *solids = solid_case_new(0);
    Mesh       mesh;

    solid_case_add_mesh(solids, vector3(0, 0, 0), vector3(0.4, 0.1, 0.1), 0.1);
    solids->meshes[0].spin = vector3(0, 3, 20);
    if (from_file) {
      assert_success(MeshCreateBox(vector3(0, 0, 0), vector3(0.4, 0.1, 0.1), cells, MESH_BOX_FIVE, &mesh));
      write_gmsh_file(scratch_path("bar.msh"), &kind, mesh);
      assert_success(MeshDestroy(&mesh));
      assert_success(ShapeDestroy(&solids->meshes[0].mesh.shape));
      solids->meshes[0].mesh.file = scratch.path;
      solids->meshes[0].mesh.edge = 0;
    }
    solid_case_start(solids);
    solid_case_run(solids, 0.001, 20);
    energy[from_file] = solid_report(solids->solid).elastic_energy;
    assert_true(energy[from_file] > 0.01);
    assert_near(solids->solid->points->meshes[0].edge, 0.1, from_file ? 0.03 : 0);
    solid_case_free(solids);
  }
  assert_near(energy[1] / energy[0], 1, 1e-12);
}

TEST_MAIN(in_scratch(a_file_moves_as_the_shape_that_it_was_written_from))
