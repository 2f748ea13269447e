/* Light beside heavy: where densities differ much, the flow of the heavy parts is advected along itself,
   carried on into the light ones, and does not see theirs. One field for both would hand the speed of a gas
   to a liquid with a thousand times its momentum. Pressure and viscosity act on both together. */
#include "fluid_impl.h"

PetscBool fluid_is_contrasted(Fluid fluid)
{
  return fluid->mixture && fluid->mixture->light ? PETSC_TRUE : PETSC_FALSE;
}

PetscErrorCode FluidGetHeavyVelocity(Fluid fluid, Vec **faces)
{
  PetscFunctionBegin;
  *faces = fluid->velocity;
  if (!fluid_is_contrasted(fluid))
    PetscFunctionReturn(0);
  if (!fluid->heavy.velocity[X]) {
    PetscCall(MacGridCreateFaceField(fluid->grid, fluid->heavy.velocity));
    PetscCall(MacGridCreateFaceField(fluid->grid, fluid->heavy.earlier));
    PetscCall(MacGridCreateFaceField(fluid->grid, fluid->heavy.next));
  }
  *faces = fluid->heavy.velocity;
  PetscFunctionReturn(0);
}

PetscErrorCode FluidDestroyHeavy(Fluid fluid)
{
  PetscFunctionBegin;
  PetscCall(MacGridDestroyFaceField(fluid->heavy.velocity));
  PetscCall(MacGridDestroyFaceField(fluid->heavy.earlier));
  PetscCall(MacGridDestroyFaceField(fluid->heavy.next));
  PetscFunctionReturn(0);
}

static void swap_fields(Vec a[DIM], Vec b[DIM])
{
  for (PetscInt d = 0; d < DIM; d++) {
    const Vec spare = a[d];

    a[d] = b[d];
    b[d] = spare;
  }
}

void fluid_swap_heavy(Fluid fluid)
{
  swap_fields(fluid->velocity, fluid->heavy.velocity);
  swap_fields(fluid->earlier, fluid->heavy.earlier);
  swap_fields(fluid->next, fluid->heavy.next);
}

/* What was the heavy flow is now the earlier one. */
PetscErrorCode FluidCommitHeavy(Fluid fluid)
{
  PetscFunctionBegin;
  if (fluid->heavy.velocity[X])
    swap_fields(fluid->heavy.velocity, fluid->heavy.earlier);
  PetscFunctionReturn(0);
}

/* Faces that no heavy cell has keep what the light flow brings. */
PetscErrorCode FluidMergeHeavy(Fluid fluid)
{
  const GridBox   *box = grid_box(fluid->grid);
  const PetscReal *light, *heavy;
  PetscReal       *u;

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(fluid->mixture->light, &light));
  for (PetscInt d = 0; d < box->dimension; d++) {
    const GridRange range = free_faces(fluid, d);

    PetscCall(VecGetArrayRead(fluid->heavy.next[d], &heavy));
    PetscCall(VecGetArray(fluid->next[d], &u));
    FOR_CELLS(&range, i, j, k) {
      const PetscInt c = box_index(box, i, j, k);

      if (light[c] <= 0. || light[c - box->stride[d]] <= 0.)
        u[c] = heavy[c];
    }
    PetscCall(VecRestoreArray(fluid->next[d], &u));
    PetscCall(VecRestoreArrayRead(fluid->heavy.next[d], &heavy));
  }
  PetscCall(VecRestoreArrayRead(fluid->mixture->light, &light));
  PetscFunctionReturn(0);
}
