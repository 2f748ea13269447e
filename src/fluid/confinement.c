/* Vorticity confinement (docs/numerics.md, 3; Fedkiw, Stam, Jensen 2001): what a grid takes from small
   vortices is given back to them, by an acceleration around places where the vorticity is largest. Leaps of
   the velocity at walls and between regions are no vortices. */
#include "fluid_impl.h"

#include <millrace/sampling.h>

static const PetscReal flat = 1e-4; /* slope of the vorticity over it and a cell that has no direction */

/* What tells whether cells have one flow; null where all have. */
typedef struct {
  const PetscReal     *covered, *empty;
  const unsigned char *group;
} FlowMarks;

static PetscBool is_within_flow(const GridBox *box, const FlowMarks *marks, PetscInt c)
{
  const PetscReal walls = marks->covered ? marks->covered[c] : 0.,
                  voids = marks->empty ? marks->empty[c] : 0.;

  if (walls > 0. || voids > 0.)
    return PETSC_FALSE;
  for (PetscInt d = 0; d < box->dimension; d++)
    for (PetscInt side = -1; side <= 1; side += 2) {
      const PetscInt next = c + side * box->stride[d];

      if ((marks->covered && marks->covered[next] > 0.) || (marks->empty && marks->empty[next] > 0.) ||
          (marks->group && marks->group[next] != marks->group[c]))
        return PETSC_FALSE;
    }
  return PETSC_TRUE;
}

/* In the owned cells, and its size. */
static void find_vorticity(Fluid fluid, const FlowMarks *marks, PetscReal *const u[DIM],
                           PetscReal *const vorticity[DIM], PetscReal *size)
{
  const GridBox  *box = grid_box(fluid->grid);
  const PetscReal factor = 0.5 / grid_spacing(fluid->grid);

  FOR_CELLS(box, i, j, k) {
    const PetscInt  c = box_index(box, i, j, k);
    const PetscReal here = is_within_flow(box, marks, c) ? factor : 0.;
    PetscReal       square = 0.;

    for (PetscInt d = 0; d < DIM; d++) {
      vorticity[d][c] = here * centred_vorticity(box, u, d, c);
      square += PetscSqr(vorticity[d][c]);
    }
    size[c] = PetscSqrtReal(square);
  }
}

/* The vorticity of owned cells becomes the acceleration. */
static void turn_into_force(Fluid fluid, const PetscReal *size, PetscReal *const vorticity[DIM])
{
  const GridBox  *box = grid_box(fluid->grid);
  const PetscReal h = grid_spacing(fluid->grid);

  FOR_CELLS(box, i, j, k) {
    const PetscInt c = box_index(box, i, j, k);
    Vector3        slope = {{0., 0., 0.}}, spin, force;
    PetscReal      steepness;

    for (PetscInt d = 0; d < DIM; d++) {
      if (d < box->dimension)
        slope.at[d] = 0.5 * (size[c + box->stride[d]] - size[c - box->stride[d]]);
      spin.at[d] = vorticity[d][c];
    }
    steepness = vector3_norm(slope) + flat * size[c];
    force = vector3_cross(slope, spin);
    for (PetscInt d = 0; d < DIM; d++)
      vorticity[d][c] = steepness > 0. ? fluid->config->confinement * h / steepness * force.at[d] : 0.;
  }
}

static PetscErrorCode TakeMeans(Fluid fluid, Vec cells[DIM])
{
  const GridBox *box = grid_box(fluid->grid);

  PetscFunctionBegin;
  for (PetscInt d = 0; d < box->dimension; d++) {
    const GridRange  range = free_faces(fluid, d);
    const PetscReal *value;
    PetscReal       *face;

    PetscCall(MacGridMirrorGhosts(fluid->grid, cells[d]));
    PetscCall(VecSet(fluid->confinement[d], 0.));
    PetscCall(VecGetArrayRead(cells[d], &value));
    PetscCall(VecGetArray(fluid->confinement[d], &face));
    FOR_CELLS(&range, i, j, k) {
      const PetscInt c = box_index(box, i, j, k);

      face[c] = 0.5 * (value[c] + value[c - box->stride[d]]);
    }
    PetscCall(VecRestoreArray(fluid->confinement[d], &face));
    PetscCall(VecRestoreArrayRead(cells[d], &value));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode GetMarks(Fluid fluid, FlowMarks *marks)
{
  const Vec covered = fluid->covered ? fluid->covered : fluid->solid;

  PetscFunctionBegin;
  *marks = (FlowMarks){NULL, NULL, NULL};
  if (covered)
    PetscCall(VecGetArrayRead(covered, &marks->covered));
  if (fluid->mixture) {
    PetscCall(VecGetArrayRead(fluid->mixture->empty, &marks->empty));
    marks->group = fluid->mixture->groups.count > 1 ? fluid->mixture->groups.of_cell : NULL;
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode RestoreMarks(Fluid fluid, FlowMarks *marks)
{
  PetscFunctionBegin;
  if (marks->covered)
    PetscCall(VecRestoreArrayRead(fluid->covered ? fluid->covered : fluid->solid, &marks->covered));
  if (marks->empty)
    PetscCall(VecRestoreArrayRead(fluid->mixture->empty, &marks->empty));
  PetscFunctionReturn(0);
}

PetscErrorCode FluidUpdateConfinement(Fluid fluid)
{
  PetscReal *u[DIM], *vorticity[DIM], *size;
  Vec        fields[DIM + 1]; /* vorticity, then acceleration; size of the vorticity */
  FlowMarks  marks;

  PetscFunctionBegin;
  if (fluid->config->confinement == 0.)
    PetscFunctionReturn(0);
  if (!fluid->confinement[X])
    PetscCall(MacGridCreateFaceField(fluid->grid, fluid->confinement));
  for (PetscInt n = 0; n <= DIM; n++)
    PetscCall(MacGridCreateField(fluid->grid, &fields[n]));
  for (PetscInt d = 0; d < DIM; d++)
    PetscCall(VecGetArray(fields[d], &vorticity[d]));
  PetscCall(VecGetArray(fields[DIM], &size));
  PetscCall(GetMarks(fluid, &marks));
  PetscCall(MacGridGetFaces(fluid->grid, fluid->velocity, u));
  find_vorticity(fluid, &marks, u, vorticity, size);
  PetscCall(MacGridRestoreFaces(fluid->grid, fluid->velocity, u));
  PetscCall(RestoreMarks(fluid, &marks));
  PetscCall(VecRestoreArray(fields[DIM], &size));
  PetscCall(MacGridMirrorGhosts(fluid->grid, fields[DIM]));
  PetscCall(VecGetArray(fields[DIM], &size));
  turn_into_force(fluid, size, vorticity);
  PetscCall(VecRestoreArray(fields[DIM], &size));
  for (PetscInt d = 0; d < DIM; d++)
    PetscCall(VecRestoreArray(fields[d], &vorticity[d]));
  PetscCall(TakeMeans(fluid, fields));
  for (PetscInt n = 0; n <= DIM; n++)
    PetscCall(VecDestroy(&fields[n]));
  PetscFunctionReturn(0);
}
