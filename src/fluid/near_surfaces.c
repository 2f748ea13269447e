/* Where central advection gives way to trajectories (docs/numerics.md, section
   3): on faces of cells within two cells of a surface, where the flow that
   carries is continued and not free of divergence and values may jump: between
   fluid and nothing, between two densities, beside bodies and obstacles.
   Without surfaces nothing happens. */
#include "fluid_impl.h"

/* Cells from a surface: to a face that is carried along its trajectory; from
   there to what its correction looks at; to feet of faces beside that. */
enum { CELLS_NEAR = 3, CELLS_LOOKED_AT = 3, CELLS_TRACED = 1 };

VECTOR_CLONES static void spread_marks(const unsigned char *restrict from, PetscInt length, PetscInt stride,
                                       unsigned char *restrict to)
{
  for (PetscInt c = stride; c < length - stride; c++)
    to[c] = from[c - stride] | from[c] | from[c + stride];
}

/* The outermost places along a direction, whose neighbours in memory are none
 * of theirs. */
static void spread_at_ends(const GridBox *box, PetscInt d, const unsigned char *from, unsigned char *to)
{
  const GridRange whole = box_grown(box, box->ghost);

  for (PetscInt side = 0; side < 2; side++) {
    const PetscInt inward = side ? -box->stride[d] : box->stride[d];
    GridRange      end = whole;

    end.start[d] = side ? whole.end[d] - 1 : whole.start[d];
    end.end[d] = end.start[d] + 1;
    FOR_CELLS(&end, i, j, k) {
      const PetscInt c = box_index(box, i, j, k);

      to[c] = from[c] | from[c + inward];
    }
  }
}

/* Marks what lies within so many cells; `scratch` is another array as long. */
static void widen(const GridBox *box, PetscInt layers, unsigned char *marks, unsigned char *scratch)
{
  for (PetscInt layer = 0; layer < layers; layer++)
    for (PetscInt d = 0; d < box->dimension; d++) {
      memcpy(scratch, marks, box->length);
      spread_marks(scratch, box->length, box->stride[d], marks);
      spread_at_ends(box, d, scratch, marks);
    }
}

static PetscErrorCode ExchangeMarks(const GridBox *box, unsigned char *marks)
{
  void *const values[1] = {marks};

  PetscFunctionBegin;
  PetscCall(GridBoxExchangeBytes(box, 1, values, 1));
  PetscFunctionReturn(0);
}

/* Adds owned cells beside which a field of cells is another. */
static PetscErrorCode MarkChanges(Fluid fluid, Vec field, unsigned char *marks)
{
  const GridBox   *box = grid_box(fluid->grid);
  const PetscReal *value;

  PetscFunctionBegin;
  if (!field)
    PetscFunctionReturn(0);
  PetscCall(VecGetArrayRead(field, &value));
  FOR_CELLS(box, i, j, k) {
    const PetscInt c = box_index(box, i, j, k);

    for (PetscInt d = 0; d < box->dimension; d++)
      marks[c] |= (value[c] > 0.) != (value[c - box->stride[d]] > 0.) ||
                  (value[c] > 0.) != (value[c + box->stride[d]] > 0.);
  }
  PetscCall(VecRestoreArrayRead(field, &value));
  PetscFunctionReturn(0);
}

/* The same for the density on faces. */
static PetscErrorCode MarkDensities(Fluid fluid, unsigned char *marks)
{
  const GridBox *box = grid_box(fluid->grid);
  PetscReal     *density[DIM];

  PetscFunctionBegin;
  if (!fluid->mixture || fluid->mixture->uniform)
    PetscFunctionReturn(0);
  PetscCall(MacGridGetFaces(fluid->grid, (Vec *)fluid->mixture->density, density));
  FOR_CELLS(box, i, j, k) {
    const PetscInt c = box_index(box, i, j, k);

    for (PetscInt d = 0; d < box->dimension; d++)
      marks[c] |= density[d][c] != density[X][c] || density[d][c + box->stride[d]] != density[X][c];
  }
  PetscCall(MacGridRestoreFaces(fluid->grid, (Vec *)fluid->mixture->density, density));
  PetscFunctionReturn(0);
}

static PetscErrorCode MarkSurfaces(Fluid fluid, unsigned char *marks)
{
  PetscFunctionBegin;
  PetscCall(PetscArrayzero(marks, grid_box(fluid->grid)->length));
  PetscCall(MarkChanges(fluid, fluid->solid, marks));
  PetscCall(MarkChanges(fluid, fluid->covered, marks));
  PetscCall(MarkDensities(fluid, marks));
  if (fluid->mixture)
    PetscCall(MarkChanges(fluid, fluid->voids, marks));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateMarks(Fluid fluid)
{
  const PetscInt length = grid_box(fluid->grid)->length;

  PetscFunctionBegin;
  if (fluid->near.faces)
    PetscFunctionReturn(0);
  PetscCall(PetscCalloc4(length, &fluid->near.faces, length, &fluid->near.looked_at, length,
                         &fluid->near.traced, length, &fluid->near.scratch));
  PetscFunctionReturn(0);
}

PetscErrorCode FluidDestroyNearSurfaces(Fluid fluid)
{
  PetscFunctionBegin;
  PetscCall(VecDestroy(&fluid->near.carried));
  PetscCall(PetscFree4(fluid->near.faces, fluid->near.looked_at, fluid->near.traced, fluid->near.scratch));
  PetscFunctionReturn(0);
}

PetscErrorCode FluidFindNearSurfaces(Fluid fluid)
{
  const GridBox *box = grid_box(fluid->grid);
  NearSurfaces  *near = &fluid->near;
  PetscBool      any;

  PetscFunctionBegin;
  near->any = PETSC_FALSE;
  if (!fluid->solid && !fluid->covered && !(fluid->mixture && !fluid->mixture->uniform))
    PetscFunctionReturn(0);
  PetscCall(CreateMarks(fluid));
  PetscCall(MarkSurfaces(fluid, near->faces));
  any = memchr(near->faces, 1, box->length) ? PETSC_TRUE : PETSC_FALSE;
  PetscCallMPI(MPI_Allreduce(&any, &near->any, 1, MPIU_BOOL, MPI_LOR, box->comm));
  if (!near->any)
    PetscFunctionReturn(0);
  PetscCall(ExchangeMarks(box, near->faces));
  widen(box, CELLS_NEAR, near->faces, near->scratch);
  PetscCall(ExchangeMarks(box, near->faces));
  PetscCall(PetscArraycpy(near->looked_at, near->faces, box->length));
  widen(box, CELLS_LOOKED_AT, near->looked_at, near->scratch);
  PetscCall(ExchangeMarks(box, near->looked_at));
  PetscCall(PetscArraycpy(near->traced, near->looked_at, box->length));
  widen(box, CELLS_TRACED, near->traced, near->scratch);
  PetscFunctionReturn(0);
}
