/* What must hold of the faces between bodies and fluid. */
#include "coupling_impl.h"

static PetscErrorCode CheckFace(const FaceMap *faces, PetscInt body_count, const MixedFace *mixed)
{
  PetscReal sum = 0.;

  PetscFunctionBegin;
  PetscCheck(mixed->first >= 0 && mixed->first + mixed->count <= faces->entry_count, PETSC_COMM_SELF,
             PETSC_ERR_PLIB,
             "A mixed face has bodies %" PetscInt_FMT " to %" PetscInt_FMT " of %" PetscInt_FMT, mixed->first,
             mixed->first + mixed->count, faces->entry_count);
  PetscCheck(mixed->mass >= 0. && !PetscIsInfOrNanReal(mixed->mass), PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "A mixed face has the mass %g", (double)mixed->mass);
  PetscCheck(mixed->open >= 0. && mixed->open <= 1., PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "A mixed face is open by %g", (double)mixed->open);
  for (PetscInt s = mixed->first; s < mixed->first + mixed->count; s++) {
    PetscCheck(faces->entries[s].body >= 0 && faces->entries[s].body < body_count, PETSC_COMM_SELF,
               PETSC_ERR_PLIB, "A mixed face has the body %" PetscInt_FMT, faces->entries[s].body);
    PetscCheck(faces->entries[s].weight >= 0., PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "A body has the weight %g in a mixed face", (double)faces->entries[s].weight);
    sum += faces->entries[s].weight;
  }
  PetscCheck(sum <= 1. + 1e-6, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The weights of a mixed face add up to %g",
             (double)sum);
  PetscFunctionReturn(0);
}

PetscErrorCode CouplingCheck(Coupling coupling)
{
  PetscFunctionBegin;
  for (PetscInt m = 0; m < coupling->faces.mixed_count; m++)
    PetscCall(CheckFace(&coupling->faces, coupling->solids.count, &coupling->faces.mixed[m]));
  PetscFunctionReturn(0);
}
