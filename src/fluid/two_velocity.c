/* Light beside dense: where densities differ much, the flow of the dense parts is advected along itself,
   carried on into the light ones, and does not see theirs. One field for both would hand the speed of a gas
   to a liquid with a thousand times its momentum. Pressure and viscosity act on both together. */
#include "fluid_impl.h"

PetscBool fluid_is_contrasted(Fluid fluid)
{
  return fluid->mixture && fluid->mixture->light ? PETSC_TRUE : PETSC_FALSE;
}

PetscErrorCode FluidGetDenseVelocity(Fluid fluid, Vec **faces)
{
  PetscFunctionBegin;
  *faces = fluid->velocity;
  if (!fluid_is_contrasted(fluid))
    PetscFunctionReturn(0);
  if (!fluid->dense.velocity[X]) {
    PetscCall(MacGridCreateFaceField(fluid->grid, fluid->dense.velocity));
    PetscCall(MacGridCreateFaceField(fluid->grid, fluid->dense.earlier));
    PetscCall(MacGridCreateFaceField(fluid->grid, fluid->dense.next));
  }
  *faces = fluid->dense.velocity;
  PetscFunctionReturn(0);
}

PetscErrorCode FluidDestroyDense(Fluid fluid)
{
  PetscFunctionBegin;
  PetscCall(MacGridDestroyFaceField(fluid->dense.velocity));
  PetscCall(MacGridDestroyFaceField(fluid->dense.earlier));
  PetscCall(MacGridDestroyFaceField(fluid->dense.next));
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

void fluid_swap_dense(Fluid fluid)
{
  swap_fields(fluid->velocity, fluid->dense.velocity);
  swap_fields(fluid->earlier, fluid->dense.earlier);
  swap_fields(fluid->next, fluid->dense.next);
}

/* What was the dense flow is now the earlier one. */
PetscErrorCode FluidCommitDense(Fluid fluid)
{
  PetscFunctionBegin;
  if (fluid->dense.velocity[X])
    swap_fields(fluid->dense.velocity, fluid->dense.earlier);
  PetscFunctionReturn(0);
}

/* Faces that no dense cell has keep what the light flow brings. */
PetscErrorCode FluidMergeDense(Fluid fluid)
{
  const GridBox   *box = grid_box(fluid->grid);
  const PetscReal *light, *dense;
  PetscReal       *u;

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(fluid->mixture->light, &light));
  for (PetscInt d = 0; d < box->dimension; d++) {
    const GridRange range = free_faces(fluid, d);

    PetscCall(VecGetArrayRead(fluid->dense.next[d], &dense));
    PetscCall(VecGetArray(fluid->next[d], &u));
    FOR_CELLS(&range, i, j, k) {
      const PetscInt c = box_index(box, i, j, k);

      if (light[c] <= 0. || light[c - box->stride[d]] <= 0.)
        u[c] = dense[c];
    }
    PetscCall(VecRestoreArray(fluid->next[d], &u));
    PetscCall(VecRestoreArrayRead(fluid->dense.next[d], &dense));
  }
  PetscCall(VecRestoreArrayRead(fluid->mixture->light, &light));
  PetscFunctionReturn(0);
}
