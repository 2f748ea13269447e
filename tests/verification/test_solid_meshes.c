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

/* Nothing holds the two parts together, and both momenta stay. */
static void a_cut_block_comes_apart_with_its_momentum(void **state)
{
  MeshCutConfig cut = {.point = {{0.2, 0, 0}}, .normal = {{1, 0.2, 0}}, .count = 1};
  SolidCase    *solids = solid_case_new(0);
  SolidReport   before, after;
  const Points *points;
  PetscReal     mass = 0;

  (void)state;
  solid_case_add_mesh(solids, vector3(0, 0, 0), vector3(0.4, 0.1, 0.1), 0.1)->damping = 0.002;
  solids->meshes[0].mesh.cuts = &cut;
  solids->meshes[0].mesh.cut_count = 1;
  solids->meshes[0].spin = vector3(2, 3, 20);
  solid_case_start(solids);
  points = solids->solid->points;
  for (PetscInt p = 0; p < points->count; p++)
    mass += points->mass[p];
  assert_near(mass / (1000 * 0.4 * 0.1 * 0.1), 1, 0.02); /* slivers weigh more than they are */
  before = solid_report(solids->solid);
  solid_case_run(solids, 0.002, 50);
  after = solid_report(solids->solid);
  assert_near(vector3_norm(vector3_subtract(after.momentum, before.momentum)), 0, 1e-12);
  assert_near(vector3_norm(vector3_subtract(after.angular_momentum, before.angular_momentum)), 0,
              1e-12 * vector3_norm(before.angular_momentum));
  {
    Vector3 low = vector3(1, 1, 1), high = vector3(-1, -1, -1);

    for (PetscInt k = 0; k < points->meshes[0].skin_count; k++)
      for (int d = 0; d < DIM; d++) {
        low.at[d] = PetscMin(low.at[d], points->position[points->meshes[0].skin[k]].at[d]);
        high.at[d] = PetscMax(high.at[d], points->position[points->meshes[0].skin[k]].at[d]);
      }
    assert_true(vector3_norm(vector3_subtract(high, low)) > 0.6); /* 0.42 m long before */
  }
  solid_case_free(solids);
}

/* The ball weighs what the shape does and lies on its own surface, not on the lattice around it. */
static void an_embedded_ball_rests_on_its_surface(void **state)
{
  SolidCase    *solids = solid_case_new(9.81);
  const Points *points;
  PetscReal     mass = 0, lowest = 1;

  (void)state;
  solid_case_add_plane(solids, vector3(0, 0, 0), vector3(0, 0, 1));
  solid_case_add_mesh(solids, vector3(0, 0, 0), vector3(1, 1, 1), 0.08)->damping = 0.01;
  assert_success(ShapeDestroy(&solids->meshes[0].mesh.shape));
  assert_success(ShapeCreateSphere(vector3(0, 0, 0.105), 0.1, &solids->meshes[0].mesh.shape));
  solids->meshes[0].mesh.fill = MESH_FILL_LATTICE;
  solid_case_start(solids);
  points = solids->solid->points;
  for (PetscInt p = 0; p < points->count; p++)
    mass += points->mass[p];
  assert_near(mass / (1000 * 4. / 3 * PETSC_PI * 1e-3), 1, 0.03);
  solid_case_run(solids, 0.005, 100);
  for (PetscInt k = 0; k < points->meshes[0].skin_count; k++)
    lowest = PetscMin(lowest, points->position[points->meshes[0].skin[k]].at[Z]);
  assert_near(lowest, 0, 1e-4);
  assert_true(solid_report(solids->solid).largest_speed < 0.05);
  solid_case_free(solids);
}

TEST_MAIN(cmocka_unit_test(a_cut_block_comes_apart_with_its_momentum),
          cmocka_unit_test(an_embedded_ball_rests_on_its_surface),
          in_scratch(a_file_moves_as_the_shape_that_it_was_written_from))
