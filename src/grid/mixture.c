/* The fields of a mixture. */
#include <millrace/mixture.h>

PetscErrorCode MixtureCreate(MacGrid grid, Mixture *mixture)
{
  PetscFunctionBegin;
  PetscCall(MacGridCreateFaceField(grid, mixture->density));
  PetscCall(MacGridCreateFaceField(grid, mixture->mobility));
  PetscCall(MacGridCreateFaceField(grid, mixture->jump));
  PetscCall(MacGridCreateField(grid, &mixture->empty));
  PetscCall(MacGridCreateField(grid, &mixture->viscosity));
  mixture->groups = (VelocityGroups){0};
  mixture->uniform = PETSC_FALSE;
  mixture->becomes_viscous = PETSC_FALSE;
  mixture->largest_diffusivity = 0.;
  mixture->expansion = NULL;
  for (PetscInt n = 0; n < MIXTURE_STRESSES; n++)
    mixture->stress[n] = NULL;
  for (PetscInt d = 0; d < DIM; d++)
    mixture->edge_viscosity[d] = NULL;
  for (PetscInt d = grid_box(grid)->dimension == 2 ? Z : X; d < DIM; d++)
    PetscCall(MacGridCreateField(grid, &mixture->edge_viscosity[d]));
  PetscFunctionReturn(0);
}

PetscErrorCode MixtureCreateStress(MacGrid grid, Mixture *mixture)
{
  const PetscInt dimension = grid_box(grid)->dimension;

  PetscFunctionBegin;
  for (PetscInt n = 0; n < MIXTURE_STRESSES; n++)
    if (n < dimension || (n >= DIM && (dimension == 3 || n == DIM + Z)))
      PetscCall(MacGridCreateField(grid, &mixture->stress[n]));
  PetscFunctionReturn(0);
}

PetscErrorCode MixtureDestroy(Mixture *mixture)
{
  PetscFunctionBegin;
  PetscCall(MacGridDestroyFaceField(mixture->density));
  PetscCall(MacGridDestroyFaceField(mixture->mobility));
  PetscCall(MacGridDestroyFaceField(mixture->jump));
  PetscCall(VecDestroy(&mixture->empty));
  PetscCall(VecDestroy(&mixture->viscosity));
  PetscCall(VecDestroy(&mixture->expansion));
  for (PetscInt d = 0; d < DIM; d++)
    PetscCall(VecDestroy(&mixture->edge_viscosity[d]));
  for (PetscInt n = 0; n < MIXTURE_STRESSES; n++)
    PetscCall(VecDestroy(&mixture->stress[n]));
  PetscFunctionReturn(0);
}

PetscErrorCode MixtureSetUniform(MacGrid grid, PetscReal density, PetscReal viscosity, Mixture *mixture)
{
  PetscFunctionBegin;
  mixture->uniform = PETSC_TRUE;
  mixture->largest_diffusivity = viscosity / density;
  for (PetscInt d = 0; d < grid_box(grid)->dimension; d++) {
    PetscCall(VecSet(mixture->density[d], density));
    PetscCall(VecSet(mixture->mobility[d], 1. / density));
    PetscCall(VecSet(mixture->jump[d], 0.));
  }
  PetscCall(VecSet(mixture->empty, 0.));
  PetscCall(VecSet(mixture->viscosity, viscosity));
  for (PetscInt d = 0; d < DIM; d++)
    if (mixture->edge_viscosity[d])
      PetscCall(VecSet(mixture->edge_viscosity[d], viscosity));
  PetscFunctionReturn(0);
}
