/* Quantities carried by the fluid: advection, diffusion, decay, and their values inside obstacles. */
#include "fluid_impl.h"

PetscErrorCode FluidClearSolids(Fluid fluid, Vec field)
{
  const PetscReal *solid;
  PetscReal       *value;

  PetscFunctionBegin;
  if (!fluid_covered(fluid))
    PetscFunctionReturn(0);
  PetscCall(VecGetArrayRead(fluid_covered(fluid), &solid));
  PetscCall(VecGetArray(field, &value));
  for (PetscInt c = 0; c < grid_box(fluid->grid)->length; c++)
    if (solid[c] > 0.)
      value[c] = 0.;
  PetscCall(VecRestoreArray(field, &value));
  PetscCall(VecRestoreArrayRead(fluid_covered(fluid), &solid));
  PetscFunctionReturn(0);
}

static inline PetscBool is_in_box(const GridBox *box, PetscInt axis, PetscInt index)
{
  return box->periodic[axis] || (index >= 0 && index < box->cells[axis]) ? PETSC_TRUE : PETSC_FALSE;
}

/* Whether a shell stands between two cells, at either end of the step. */
static PetscBool are_parted(Fluid fluid, const PetscInt a[DIM], const PetscInt b[DIM])
{
  const Vector3 from = grid_cell_centre(fluid->grid, a[X], a[Y], a[Z]),
                to = grid_cell_centre(fluid->grid, b[X], b[Y], b[Z]);
  const Visibility *visibility = fluid->visibility;

  return visibility->blocks(visibility->context, STEP_START, from, to) ||
                 visibility->blocks(visibility->context, STEP_END, from, to)
             ? PETSC_TRUE
             : PETSC_FALSE;
}

/* Mean of the fluid cells among the cells that touch one and are not hidden; keeps the value where there are
   none. What lies beyond a side is left out: it follows from the values inside and may not be up to date. */
static inline PetscReal mean_of_fluid_around(Fluid fluid, const PetscReal *solid, const PetscReal *value,
                                             const PetscInt at[DIM])
{
  const GridBox *box = grid_box(fluid->grid);
  const PetscInt depth = box->dimension == 3 ? 1 : 0;
  const PetscInt c = box_index(box, at[X], at[Y], at[Z]);
  PetscReal      sum = 0.;
  PetscInt       count = 0;

  for (PetscInt k = -depth; k <= depth; k++)
    for (PetscInt j = -1; j <= 1; j++)
      for (PetscInt i = -1; i <= 1; i++) {
        const PetscInt neighbour = c + i + j * box->stride[Y] + k * box->stride[Z];

        if (solid[neighbour] != 0. || !is_in_box(box, X, at[X] + i) || !is_in_box(box, Y, at[Y] + j) ||
            !is_in_box(box, Z, at[Z] + k))
          continue;
        if (fluid->visibility &&
            are_parted(fluid, at, (const PetscInt[DIM]){at[X] + i, at[Y] + j, at[Z] + k}))
          continue;
        sum += value[neighbour];
        count++;
      }
  return count ? sum / count : value[c];
}

/* Interpolation next to an obstacle must not see what is inside it. */
PetscErrorCode FluidExtendIntoSolids(Fluid fluid, Vec kept, Vec field)
{
  const GridBox   *box = grid_box(fluid->grid);
  const PetscReal *solid, *held = NULL;
  PetscReal       *value;

  PetscFunctionBegin;
  if (!fluid_covered(fluid))
    PetscFunctionReturn(0);
  if (kept == field)
    kept = NULL; /* they are there already */
  if (kept)
    PetscCall(VecGetArrayRead(kept, &held));
  PetscCall(MacGridExchange(fluid->grid, field));
  PetscCall(VecGetArrayRead(fluid_covered(fluid), &solid));
  PetscCall(VecGetArray(field, &value));
  FOR_CELLS(box, i, j, k) {
    const PetscInt at[DIM] = {i, j, k}, c = box_index(box, i, j, k);
    const CellKind kind = cell_cover(solid[c]).kind;

    if (kind == CELL_SOURCE)
      value[c] = held ? held[c] : value[c];
    else if (kind == CELL_WALL)
      value[c] = mean_of_fluid_around(fluid, solid, value, at);
  }
  PetscCall(VecRestoreArray(field, &value));
  PetscCall(VecRestoreArrayRead(fluid_covered(fluid), &solid));
  if (kept)
    PetscCall(VecRestoreArrayRead(kept, &held));
  PetscFunctionReturn(0);
}

/* s' = -decay (s - reference), exactly. */
static PetscErrorCode Decay(Fluid fluid, PetscInt scalar, PetscReal dt, Vec field)
{
  const ScalarConfig *config = &fluid->config->scalars[scalar];
  const PetscReal     kept = PetscExpReal(-config->decay * dt);

  PetscFunctionBegin;
  if (config->decay == 0.)
    PetscFunctionReturn(0);
  PetscCall(VecScale(field, kept));
  PetscCall(VecShift(field, (1. - kept) * config->reference));
  PetscFunctionReturn(0);
}

/* y' = -k y^4 with y = (s - reference) / (hottest - reference), exactly. */
static PetscErrorCode Cool(Fluid fluid, PetscInt scalar, PetscReal dt, Vec field)
{
  const ScalarConfig *config = &fluid->config->scalars[scalar];
  const GridBox      *box = grid_box(fluid->grid);
  const PetscReal     span = config->hottest - config->reference;
  PetscReal          *value;

  PetscFunctionBegin;
  if (config->cooling == 0.)
    PetscFunctionReturn(0);
  PetscCall(VecGetArray(field, &value));
  FOR_CELLS(box, i, j, k) {
    const PetscInt  c = box_index(box, i, j, k);
    const PetscReal y = (value[c] - config->reference) / span;

    if (y > 0.)
      value[c] = config->reference +
                 span * y / PetscPowReal(1. + 3. * config->cooling / span * y * y * y * dt, 1. / 3.);
  }
  PetscCall(VecRestoreArray(field, &value));
  PetscFunctionReturn(0);
}

PetscErrorCode FluidAdvanceScalar(Fluid fluid, PetscInt scalar, PetscReal dt, PetscReal implicitness)
{
  const AdvectedField carried = {.direction = CELL_VALUES, .scalar = scalar, .dt = dt};
  const PetscReal     amount = fluid->config->scalars[scalar].diffusivity * dt;
  Vec                 field = fluid->next_scalars[scalar];
  PetscInt            iterations;

  PetscFunctionBegin;
  PetscCall(VecCopy(fluid->scalars[scalar], field));
  PetscCall(Decay(fluid, scalar, dt, field));
  PetscCall(Cool(fluid, scalar, dt, field));
  if (amount > 0. && implicitness < 1.) {
    PetscCall(VecCopy(field, fluid->scratch[0]));
    PetscCall(FluidFillScalarGhosts(fluid, scalar, fluid->scratch[0], fluid->time, SIDE_VALUES_GIVEN));
    PetscCall(
        FluidDiffuseExplicitly(fluid, &carried, (1. - implicitness) * amount, fluid->scratch[0], field));
  }
  PetscCall(FluidAdvect(fluid, &carried, &fluid->next_scalars[scalar]));
  field = fluid->next_scalars[scalar];
  if (amount > 0.)
    PetscCall(FluidDiffuse(fluid, &carried, implicitness * amount, fluid->time + dt, field, &iterations));
  PetscCall(FluidFillCarriedGhosts(fluid, &carried, field, fluid->time + dt));
  PetscFunctionReturn(0);
}

PetscErrorCode FluidRefreshPredictedScalars(Fluid fluid, PetscReal dt)
{
  PetscFunctionBegin;
  for (PetscInt s = 0; s < fluid->config->scalar_count; s++) {
    const AdvectedField carried = {.direction = CELL_VALUES, .scalar = s, .dt = dt};

    PetscCall(FluidFillCarriedGhosts(fluid, &carried, fluid->next_scalars[s], fluid->time + dt));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode FluidRefreshScalars(Fluid fluid)
{
  PetscFunctionBegin;
  for (PetscInt s = 0; s < fluid->config->scalar_count; s++)
    PetscCall(FluidFillScalarGhosts(fluid, s, fluid->scalars[s], fluid->time, SIDE_VALUES_GIVEN));
  PetscFunctionReturn(0);
}
