/* The block matrix (5.13) and PETSc's options for it: what they ask for is done, and the matrix that is
   written is the one that is solved. */
#include "coupling_case.h"
#include "harness.h"
#include "scratch.h"
#include "solids.h"

#include <petscksp.h>

enum { BODIES = 3, VELOCITIES = 6 * BODIES };

static PetscReal swirl(PetscInt d, Vector3 x)
{
  return PetscSinReal(3.1 * x.at[(d + 1) % 3] + d) +
         0.5 * PetscCosReal(2.3 * x.at[d] - 1.7 * x.at[(d + 2) % 3]);
}

/* Two bodies that share faces, a light one, in a sheet with an open side. */
static CouplingCase *make_solved(CouplingFaces faces, PetscReal tolerance)
{
  const CouplingSetup setup = {.dimension = 2,
                               .cells = {24, 16, 1},
                               .length = 2.4,
                               .is_open = PETSC_TRUE,
                               .density = 3.,
                               .solver = COUPLING_MINRES,
                               .faces = faces,
                               .tolerance = tolerance};
  CouplingCase       *coupled = coupling_case_new(PETSC_COMM_WORLD, &setup);

  coupling_case_add_ball(coupled, 0.31, 1., vector3(0.52, 0.61, 0.));
  coupling_case_add_ball(coupled, 0.31, 9., vector3(1.14, 0.69, 0.));
  coupling_case_add_ball(coupled, 0.22, 0.1, vector3(1.93, 0.87, 0.));
  coupling_case_start(coupled);
  coupling_case_fill(coupled, swirl);
  coupled->twists[0] = 1.;
  coupled->twists[11] = 2.;
  coupling_case_solve(coupled);
  return coupled;
}

static void set(const char name[], const char value[])
{
  assert_success(PetscOptionsSetValue(NULL, name, value));
}

static void clear(const char name[])
{
  assert_success(PetscOptionsClearValue(NULL, name));
}

static void assert_same_motion(const CouplingCase *a, const CouplingCase *b, PetscReal tolerance)
{
  for (PetscInt n = 0; n < VELOCITIES; n++)
    assert_near(a->twists[n], b->twists[n], tolerance);
}

static void minres_and_fieldsplit_of_petsc_do_the_same(void **state)
{
  (void)state;
  for (CouplingFaces faces = COUPLING_CUT; faces <= COUPLING_TIED; faces++) {
    CouplingCase *ours = make_solved(faces, 1e-6), *theirs;

    set("-coupled_blocks_ksp_type", "minres");
    theirs = make_solved(faces, 1e-6);
    clear("-coupled_blocks_ksp_type");
    assert_on_all_ranks(theirs->report.iterations == ours->report.iterations);
    assert_near(theirs->report.residual / ours->report.residual, 1., 1e-4);
    assert_same_motion(theirs, ours, 1e-10);
    coupling_case_free(theirs);
    coupling_case_free(ours);
  }
}

/* Without a preconditioner of A there are many more iterations to the same answer; with the exact one, fewer.
 */
static void the_fluids_block_takes_the_preconditioner_of_the_options(void **state)
{
  CouplingCase *usual = make_solved(COUPLING_CUT, 1e-12), *other;

  (void)state;
  set("-coupled_blocks_fieldsplit_fluid_pc_type", "none");
  other = make_solved(COUPLING_CUT, 1e-12);
  assert_on_all_ranks(other->report.iterations > 2 * usual->report.iterations);
  assert_same_motion(other, usual, 1e-9);
  coupling_case_free(other);
  set("-coupled_blocks_fieldsplit_fluid_pc_type", "redundant");
  set("-coupled_blocks_fieldsplit_fluid_redundant_pc_type", "lu");
  other = make_solved(COUPLING_CUT, 1e-12);
  assert_on_all_ranks(other->report.iterations < usual->report.iterations);
  assert_same_motion(other, usual, 1e-9);
  coupling_case_free(other);
  clear("-coupled_blocks_fieldsplit_fluid_pc_type");
  clear("-coupled_blocks_fieldsplit_fluid_redundant_pc_type");
  coupling_case_free(usual);
}

static void the_whole_may_be_solved_directly(void **state)
{
  CouplingCase *usual = make_solved(COUPLING_CUT, 1e-12), *direct;

  (void)state;
  set("-coupled_blocks_ksp_type", "preonly");
  set("-coupled_blocks_pc_type", "redundant");
  set("-coupled_blocks_redundant_pc_type", "lu");
  direct = make_solved(COUPLING_CUT, 1e-12);
  assert_same_motion(direct, usual, 1e-9);
  coupling_case_free(direct);
  clear("-coupled_blocks_ksp_type");
  clear("-coupled_blocks_pc_type");
  clear("-coupled_blocks_redundant_pc_type");
  coupling_case_free(usual);
}

/* Reads the system on every rank and solves it by elimination. */
static PetscErrorCode SolveWritten(const char matrix_file[], const char side_file[], PetscReal *motion,
                                   PetscBool *is_symmetric)
{
  PetscViewer        viewer;
  Mat                matrix;
  Vec                side, solution;
  KSP                ksp;
  PC                 pc;
  PetscInt           count;
  const PetscScalar *values;

  PetscFunctionBegin;
  PetscCall(PetscViewerBinaryOpen(PETSC_COMM_SELF, matrix_file, FILE_MODE_READ, &viewer));
  PetscCall(MatCreate(PETSC_COMM_SELF, &matrix));
  PetscCall(MatSetType(matrix, MATSEQAIJ));
  PetscCall(MatLoad(matrix, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCall(PetscViewerBinaryOpen(PETSC_COMM_SELF, side_file, FILE_MODE_READ, &viewer));
  PetscCall(MatCreateVecs(matrix, &solution, &side));
  PetscCall(VecLoad(side, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCall(MatIsSymmetric(matrix, 1e-14, is_symmetric));
  PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
  PetscCall(KSPSetType(ksp, KSPPREONLY));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCLU));
  PetscCall(KSPSetOperators(ksp, matrix, matrix));
  PetscCall(KSPSolve(ksp, side, solution));
  PetscCall(VecGetSize(solution, &count));
  PetscCall(VecGetArrayRead(solution, &values));
  PetscCall(PetscArraycpy(motion, values + count - VELOCITIES, VELOCITIES));
  PetscCall(VecRestoreArrayRead(solution, &values));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&side));
  PetscCall(VecDestroy(&solution));
  PetscCall(MatDestroy(&matrix));
  PetscFunctionReturn(0);
}

/* The rows of the bodies are the last ones, on any number of ranks. */
static void the_written_system_has_the_same_answer(void **state)
{
  char matrix_file[PETSC_MAX_PATH_LEN], side_file[PETSC_MAX_PATH_LEN], option[PETSC_MAX_PATH_LEN + 8];

  (void)state;
  snprintf(matrix_file, sizeof(matrix_file), "%s", scratch_path("system"));
  snprintf(side_file, sizeof(side_file), "%s", scratch_path("side"));
  for (CouplingFaces faces = COUPLING_CUT; faces <= COUPLING_TIED; faces++) {
    CouplingCase *usual = make_solved(faces, 1e-12), *written;
    PetscReal     motion[VELOCITIES];
    PetscBool     is_symmetric = PETSC_FALSE;

    snprintf(option, sizeof(option), "binary:%s", matrix_file);
    set("-coupled_blocks_ksp_view_mat", option);
    snprintf(option, sizeof(option), "binary:%s", side_file);
    set("-coupled_blocks_ksp_view_rhs", option);
    written = make_solved(faces, 1e-12);
    coupling_case_free(written); /* closes the files */
    clear("-coupled_blocks_ksp_view_mat");
    clear("-coupled_blocks_ksp_view_rhs");
    assert_success(SolveWritten(matrix_file, side_file, motion, &is_symmetric));
    assert_on_all_ranks(is_symmetric);
    for (PetscInt n = 0; n < VELOCITIES; n++)
      assert_near(motion[n], usual->twists[n], 1e-9);
    coupling_case_free(usual);
  }
}

TEST_MAIN(cmocka_unit_test(minres_and_fieldsplit_of_petsc_do_the_same),
          cmocka_unit_test(the_fluids_block_takes_the_preconditioner_of_the_options),
          cmocka_unit_test(the_whole_may_be_solved_directly),
          in_scratch(the_written_system_has_the_same_answer))
