/* Implicit diffusion of a velocity component or a scalar:  (1 - amount L) value = right side.

   L is the five- or seven-point Laplacian (docs/numerics.md, section 4). Values on sides and closed faces are
   known; the solver sees the linear part, in which they are zero, and their contribution moves to the right
   side. Solver vectors have the shape of a field, zero outside the unknowns. */
#include "fluid_impl.h"

typedef struct {
  Fluid          fluid;
  const Carried *carried;
  PetscReal      amount; /* over h^2 */
} Diffusion;

/* Whether place c is an unknown: fluid cells, faces that no obstacle closes. */
static inline PetscBool is_free(const PetscReal *solid, const GridBox *box, PetscInt direction, PetscInt c)
{
  if (!solid)
    return PETSC_TRUE;
  return direction == CELL_VALUES ? solid[c] <= 0. : !is_closed(solid, box, direction, c);
}

/* Whether diffusion passes between c and its neighbour along axis a: not into solids for scalars, and not
   tangentially into one that lets the fluid slip. */
static inline PetscBool passes(Fluid fluid, const PetscReal *solid, PetscInt direction, PetscInt a,
                               PetscInt neighbour)
{
  const GridBox *box = grid_box(fluid->grid);
  PetscInt       number;

  if (is_free(solid, box, direction, neighbour))
    return PETSC_TRUE;
  if (direction == CELL_VALUES)
    return PETSC_FALSE;
  if (a == direction)
    return PETSC_TRUE;
  number = (PetscInt)PetscMax(solid[neighbour], solid[neighbour - box->stride[direction]]) - 1;
  return number >= fluid->obstacle_count || !fluid->obstacle_slips[number];
}

static inline PetscReal plain_laplacian(const GridBox *box, const PetscReal *u, PetscInt c,
                                        const PetscInt dimension)
{
  const PetscInt y = box->stride[Y], z = box->stride[Z];
  PetscReal      sum = u[c + 1] + u[c - 1] + u[c + y] + u[c - y] - 2. * dimension * u[c];

  if (dimension == 3)
    sum += u[c + z] + u[c - z];
  return sum;
}

/* Next to solids that pass no flux. */
static inline PetscReal selective_laplacian(Fluid fluid, const PetscReal *solid, PetscInt direction,
                                            const PetscReal *u, PetscInt c)
{
  const GridBox *box = grid_box(fluid->grid);
  PetscReal      sum = 0.;

  for (PetscInt a = 0; a < box->dimension; a++)
    for (PetscInt side = -1; side <= 1; side += 2) {
      const PetscInt neighbour = c + side * box->stride[a];

      if (passes(fluid, solid, direction, a, neighbour))
        sum += u[neighbour] - u[c];
    }
  return sum;
}

/* For every unknown, to = keep * to + take * from + factor * L from. */
typedef struct {
  PetscReal keep, take, factor;
} Combination;

static inline void combine_plainly(const GridBox *box, const FaceRange *range, const PetscReal *solid,
                                   PetscInt back, const Combination *mix, const PetscReal *restrict u,
                                   PetscReal *restrict result, const PetscInt dimension)
{
  for (PetscInt k = range->start[Z]; k < range->end[Z]; k++)
    for (PetscInt j = range->start[Y]; j < range->end[Y]; j++) {
      const PetscInt row = box_index(box, 0, j, k);

      for (PetscInt c = row + range->start[X]; c < row + range->end[X]; c++) {
        const PetscReal value =
            mix->keep * result[c] + mix->take * u[c] + mix->factor * plain_laplacian(box, u, c, dimension);

        result[c] = solid && (solid[c] > 0. || solid[c - back] > 0.) ? result[c] : value;
      }
    }
}

static void combine_selectively(Fluid fluid, const FaceRange *range, const PetscReal *solid,
                                PetscInt direction, const Combination *mix, const PetscReal *u,
                                PetscReal *result)
{
  const GridBox *box = grid_box(fluid->grid);

  for (PetscInt k = range->start[Z]; k < range->end[Z]; k++)
    for (PetscInt j = range->start[Y]; j < range->end[Y]; j++)
      for (PetscInt i = range->start[X]; i < range->end[X]; i++) {
        const PetscInt c = box_index(box, i, j, k);

        if (is_free(solid, box, direction, c))
          result[c] = mix->keep * result[c] + mix->take * u[c] +
                      mix->factor * selective_laplacian(fluid, solid, direction, u, c);
      }
}

/* Known values on closed faces need no special care unless a solid passes no flux. */
static PetscErrorCode Combine(Fluid fluid, const Carried *carried, const Combination *mix, Vec from, Vec to)
{
  const GridBox   *box = grid_box(fluid->grid);
  const FaceRange  range = carried_range(fluid, carried);
  const PetscBool  selective = fluid->solid && (carried->direction == CELL_VALUES || fluid->any_slips);
  const PetscInt   back = carried->direction == CELL_VALUES ? 0 : box->stride[carried->direction];
  const PetscReal *u, *solid = NULL;
  PetscReal       *result;

  PetscFunctionBegin;
  if (fluid->solid)
    PetscCall(VecGetArrayRead(fluid->solid, &solid));
  PetscCall(VecGetArrayRead(from, &u));
  PetscCall(VecGetArray(to, &result));
  if (selective)
    combine_selectively(fluid, &range, solid, carried->direction, mix, u, result);
  else if (box->dimension == 2)
    combine_plainly(box, &range, solid, back, mix, u, result, 2);
  else
    combine_plainly(box, &range, solid, back, mix, u, result, 3);
  PetscCall(VecRestoreArray(to, &result));
  PetscCall(VecRestoreArrayRead(from, &u));
  if (fluid->solid)
    PetscCall(VecRestoreArrayRead(fluid->solid, &solid));
  PetscFunctionReturn(0);
}

PetscErrorCode FluidAddLaplacian(Fluid fluid, const Carried *carried, PetscReal amount, Vec from, Vec to)
{
  const PetscReal   h = grid_spacing(fluid->grid);
  const Combination mix = {1., 0., amount / (h * h)};

  PetscFunctionBegin;
  PetscCall(Combine(fluid, carried, &mix, from, to));
  PetscFunctionReturn(0);
}

static PetscErrorCode FillGhosts(Fluid fluid, const Carried *carried, Vec field, PetscReal time,
                                 SideValues values)
{
  PetscFunctionBegin;
  if (carried->direction == CELL_VALUES)
    PetscCall(FluidFillScalarGhosts(fluid, carried->scalar, field, time, values));
  else
    PetscCall(FluidFillComponentGhosts(fluid, carried->direction, field, time, values));
  PetscFunctionReturn(0);
}

static PetscErrorCode CopyToField(Fluid fluid, Vec solver, Vec field)
{
  const PetscReal *from;
  PetscReal       *to;

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(solver, &from));
  PetscCall(VecGetArrayWrite(field, &to));
  PetscCall(PetscArraycpy(to, from, grid_box(fluid->grid)->length));
  PetscCall(VecRestoreArrayWrite(field, &to));
  PetscCall(VecRestoreArrayRead(solver, &from));
  PetscFunctionReturn(0);
}

static PetscErrorCode MultiplyDiffusion(Mat matrix, Vec x, Vec y)
{
  Diffusion  *diffusion;
  Fluid       fluid;
  Combination mix = {0., 1., 0.};

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(matrix, &diffusion));
  fluid = diffusion->fluid;
  PetscCall(CopyToField(fluid, x, fluid->scratch[0]));
  PetscCall(FillGhosts(fluid, diffusion->carried, fluid->scratch[0], 0., SIDE_VALUES_ZERO));
  PetscCall(VecSet(y, 0.));
  mix.factor = -diffusion->amount;
  PetscCall(Combine(fluid, diffusion->carried, &mix, fluid->scratch[0], y));
  PetscFunctionReturn(0);
}

/* Solver vectors have the shape of a field, but live on the team's communicator. */
static PetscErrorCode AddIncrement(Fluid fluid, Vec value)
{
  const PetscReal *increment;
  PetscReal       *sum;

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(fluid->increment, &increment));
  PetscCall(VecGetArray(value, &sum));
  for (PetscInt c = 0; c < grid_box(fluid->grid)->length; c++)
    sum[c] += increment[c];
  PetscCall(VecRestoreArray(value, &sum));
  PetscCall(VecRestoreArrayRead(fluid->increment, &increment));
  PetscFunctionReturn(0);
}

/* The value before the solve is the right side and the first guess at once: what remains is  A increment =
   amount L value, with the values on sides and closed faces in L and zeros in their place in the increment.
 */
PetscErrorCode FluidDiffuse(Fluid fluid, const Carried *carried, PetscReal amount, PetscReal time, Vec value,
                            PetscInt *iterations)
{
  const PetscReal    h = grid_spacing(fluid->grid);
  Diffusion          diffusion = {fluid, carried, amount / (h * h)};
  const Combination  rest = {0., 0., diffusion.amount};
  Mat                matrix;
  KSPConvergedReason reason;

  PetscFunctionBegin;
  PetscCall(KSPGetOperators(fluid->diffusion_solver, &matrix, NULL));
  PetscCall(MatShellSetContext(matrix, &diffusion));
  PetscCall(MatShellSetOperation(matrix, MATOP_MULT, (void (*)(void))MultiplyDiffusion));
  if (!fluid->increment)
    PetscCall(MatCreateVecs(matrix, &fluid->increment, &fluid->imbalance));
  if (carried->direction != CELL_VALUES) {
    PetscCall(FluidSetSideFaces(fluid, carried->direction, value, time));
    PetscCall(FluidSetClosedFaces(fluid, carried->direction, value));
  }
  PetscCall(FillGhosts(fluid, carried, value, time, SIDE_VALUES_GIVEN));
  PetscCall(VecSet(fluid->imbalance, 0.));
  PetscCall(Combine(fluid, carried, &rest, value, fluid->imbalance));
  PetscCall(KSPSolve(fluid->diffusion_solver, fluid->imbalance, fluid->increment));
  PetscCall(KSPGetConvergedReason(fluid->diffusion_solver, &reason));
  PetscCall(KSPGetIterationNumber(fluid->diffusion_solver, iterations));
  if (reason < 0)
    fluid->report.diffusion_reason = reason;
  PetscCall(AddIncrement(fluid, value));
  PetscFunctionReturn(0);
}
