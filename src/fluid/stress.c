/* Implicit viscosity of a mixture, all components together (docs/numerics.md, section 13):

     rho u - dt div mu (grad u + grad u^T) = rho u*

   Normal stresses live in cells and shear stresses on edges, each between the faces whose differences it is
   made of, so that the operator is symmetric positive definite; what is given on sides and closed faces
   enters through the first residual. Conjugate gradients with the diagonal as preconditioner. */
#include "stress_impl.h"

enum { STRESS_ITERATIONS_MAX = 2000 };

/* Rows of one component with what acts on them; pointers to the start of fields. */
typedef struct {
  PetscInt         d, along; /* stride of the component's own direction */
  PetscInt         across[2];
  const PetscReal *u, *other[2]; /* the component, and those of the directions across */
  const PetscReal *mass, *normal, *shear[2];
  PetscReal       *result;
} Rows;

/* Flux of momentum through the two edges across one direction; v is that direction's component. */
KERNEL PetscReal shear_balance(const PetscReal *restrict shear, const PetscReal *restrict u,
                               const PetscReal *restrict v, PetscInt c, PetscInt along, PetscInt across)
{
  const PetscInt  up = c + across;
  const PetscReal above = shear[up] * (u[up] - u[c] + v[up] - v[up - along]);
  const PetscReal below = shear[c] * (u[c] - u[c - across] + v[c] - v[c - along]);

  return above - below;
}

KERNEL void apply_row(const Rows *rows, const StressMix *mix, PetscInt first, PetscInt last,
                      const PetscInt dimension)
{
  const PetscReal *restrict u = rows->u, *restrict mass = rows->mass, *restrict normal = rows->normal;
  PetscReal *restrict result = rows->result;
  const PetscReal take = mix->take, share = mix->share;
  const PetscInt  along = rows->along;

  for (PetscInt c = first; c < last; c++) {
    PetscReal sum = normal[c] * (u[c + along] - u[c]) - normal[c - along] * (u[c] - u[c - along]);

    sum += shear_balance(rows->shear[0], u, rows->other[0], c, along, rows->across[0]);
    if (dimension == 3)
      sum += shear_balance(rows->shear[1], u, rows->other[1], c, along, rows->across[1]);
    result[c] = mass[c] > 0. ? take * mass[c] * u[c] - share * sum : 0.;
  }
}

VECTOR_CLONES static void apply_row_2d(const Rows *rows, const StressMix *mix, PetscInt first, PetscInt last)
{
  apply_row(rows, mix, first, last, 2);
}

VECTOR_CLONES static void apply_row_3d(const Rows *rows, const StressMix *mix, PetscInt first, PetscInt last)
{
  apply_row(rows, mix, first, last, 3);
}

VECTOR_CLONES static PetscReal dot_row(const PetscReal *a, const PetscReal *b, PetscInt count)
{
  PetscReal sum[4] = {0., 0., 0., 0.};
  PetscInt  n;

  for (n = 0; n + 4 <= count; n += 4)
    for (PetscInt lane = 0; lane < 4; lane++)
      sum[lane] += a[n + lane] * b[n + lane];
  for (; n < count; n++)
    sum[0] += a[n] * b[n];
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* The surface of an obstacle lies half-way to a place inside it: the difference of u counts twice. */
static PetscErrorCode AddRubbing(Fluid fluid, const Rows *rows, const StressMix *mix)
{
  const GridBox *box = grid_box(fluid->grid);

  PetscFunctionBegin;
  for (PetscInt n = 0; n < fluid->rubbing_count[rows->d]; n++) {
    const Rubbing  pair = fluid->rubbing[rows->d][n];
    PetscInt       edge;
    const PetscInt e = rubbing_edge(box, rows->d, pair, &edge);
    const PetscInt which = box->stride[X + Y + Z - e - rows->d] == rows->across[0] ? 0 : 1;

    if (rows->mass[pair.face] > 0.)
      rows->result[pair.face] +=
          mix->share * rows->shear[which][edge] * (rows->u[pair.face] - rows->u[pair.inside]);
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode ApplyRows(Fluid fluid, const Rows *rows, const StressMix *mix, PetscReal *product)
{
  const GridBox  *box = grid_box(fluid->grid);
  const FaceRange range = free_faces(fluid, rows->d);

  PetscFunctionBegin;
  for (PetscInt k = range.start[Z]; k < range.end[Z]; k++)
    for (PetscInt j = range.start[Y]; j < range.end[Y]; j++) {
      const PetscInt first = box_index(box, range.start[X], j, k);
      const PetscInt last = first + range.end[X] - range.start[X];

      if (box->dimension == 2)
        apply_row_2d(rows, mix, first, last);
      else
        apply_row_3d(rows, mix, first, last);
    }
  PetscCall(AddRubbing(fluid, rows, mix));
  for (PetscInt k = range.start[Z]; k < range.end[Z]; k++)
    for (PetscInt j = range.start[Y]; j < range.end[Y]; j++) {
      const PetscInt first = box_index(box, range.start[X], j, k);

      *product += dot_row(rows->u + first, rows->result + first, range.end[X] - range.start[X]);
    }
  PetscFunctionReturn(0);
}

PetscErrorCode FluidApplyStress(Fluid fluid, const StressMix *mix, Vec from[DIM], Vec result[DIM],
                                PetscReal *product)
{
  const GridBox *box = grid_box(fluid->grid);
  const Stress   stress = fluid->stress;
  PetscReal     *u[DIM], *image[DIM], *mass[DIM], *normal, *shear[DIM] = {NULL};

  PetscFunctionBegin;
  *product = 0.;
  PetscCall(MacGridGetFaces(fluid->grid, from, u));
  PetscCall(MacGridGetFaces(fluid->grid, result, image));
  PetscCall(MacGridGetFaces(fluid->grid, stress->mass, mass));
  PetscCall(VecGetArray(stress->normal, &normal));
  for (PetscInt e = box->dimension == 2 ? Z : X; e < DIM; e++)
    PetscCall(VecGetArray(stress->shear[e], &shear[e]));
  for (PetscInt d = 0; d < box->dimension; d++) {
    Rows rows = {d, box->stride[d], {0, 0}, u[d], {NULL}, mass[d], normal, {NULL}, image[d]};

    for (PetscInt a = 0, n = 0; a < box->dimension; a++)
      if (a != d) {
        rows.across[n] = box->stride[a];
        rows.other[n] = u[a];
        rows.shear[n++] = shear[X + Y + Z - a - d];
      }
    PetscCall(ApplyRows(fluid, &rows, mix, product));
  }
  for (PetscInt e = box->dimension == 2 ? Z : X; e < DIM; e++)
    PetscCall(VecRestoreArray(stress->shear[e], &shear[e]));
  PetscCall(VecRestoreArray(stress->normal, &normal));
  PetscCall(MacGridRestoreFaces(fluid->grid, stress->mass, mass));
  PetscCall(MacGridRestoreFaces(fluid->grid, result, image));
  PetscCall(MacGridRestoreFaces(fluid->grid, from, u));
  PetscFunctionReturn(0);
}

/* value += a p, r -= a q, and the sum of r^2 / diagonal. */
VECTOR_CLONES static PetscReal advance_row(PetscReal *const at[5], PetscInt first, PetscReal a,
                                           PetscInt count)
{
  PetscReal *restrict value = at[0] + first, *restrict r = at[1] + first;
  const PetscReal *restrict p = at[2] + first, *restrict q = at[3] + first, *restrict w = at[4] + first;
  PetscReal sum[4] = {0., 0., 0., 0.};
  PetscInt  n;

  for (n = 0; n + 4 <= count; n += 4)
    for (PetscInt lane = 0; lane < 4; lane++) {
      const PetscReal left = r[n + lane] - a * q[n + lane];

      value[n + lane] += a * p[n + lane];
      r[n + lane] = left;
      sum[lane] += left * left * w[n + lane];
    }
  for (; n < count; n++) {
    value[n] += a * p[n];
    r[n] -= a * q[n];
    sum[0] += r[n] * r[n] * w[n];
  }
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* p = r / diagonal + b p. */
VECTOR_CLONES static void turn_row(PetscReal *const at[5], PetscInt first, PetscReal b, PetscInt count)
{
  PetscReal *restrict p = at[2] + first;
  const PetscReal *restrict r = at[1] + first, *restrict w = at[4] + first;

  for (PetscInt n = 0; n < count; n++)
    p[n] = w[n] * r[n] + b * p[n];
}

/* The sum of (r + q)^2 / diagonal. */
VECTOR_CLONES static PetscReal measure_row(PetscReal *const at[5], PetscInt first, PetscInt count)
{
  const PetscReal *restrict r = at[1] + first, *restrict q = at[3] + first, *restrict w = at[4] + first;
  PetscReal sum = 0.;

  for (PetscInt n = 0; n < count; n++)
    sum += (r[n] + q[n]) * (r[n] + q[n]) * w[n];
  return sum;
}

/* p = value where it is unknown, else 0. */
VECTOR_CLONES static void take_row(PetscReal *const at[5], PetscInt first, PetscInt count)
{
  PetscReal *restrict p = at[2] + first;
  const PetscReal *restrict value = at[0] + first, *restrict w = at[4] + first;

  for (PetscInt n = 0; n < count; n++)
    p[n] = w[n] > 0. ? value[n] : 0.;
}

typedef enum { TAKE, MEASURE, ADVANCE, TURN } RowWork;

/* One pass over the unknowns of all components; MEASURE and ADVANCE give a sum over all ranks. */
static PetscErrorCode WorkOnRows(Fluid fluid, RowWork work, Vec faces[DIM], PetscReal coefficient,
                                 PetscReal *sum)
{
  const GridBox *box = grid_box(fluid->grid);
  const Stress   stress = fluid->stress;
  PetscReal      total = 0.;

  PetscFunctionBegin;
  for (PetscInt d = 0; d < box->dimension; d++) {
    const FaceRange range = free_faces(fluid, d);
    const Vec       fields[5] = {faces[d], stress->residual[d], stress->search[d], stress->image[d],
                                 stress->inverse[d]};
    const PetscInt  count = range.end[X] - range.start[X];
    PetscReal      *at[5];

    for (PetscInt f = 0; f < 5; f++)
      PetscCall(VecGetArray(fields[f], &at[f]));
    for (PetscInt k = range.start[Z]; k < range.end[Z]; k++)
      for (PetscInt j = range.start[Y]; j < range.end[Y]; j++) {
        const PetscInt first = box_index(box, range.start[X], j, k);

        if (work == TAKE)
          take_row(at, first, count);
        else if (work == MEASURE)
          total += measure_row(at, first, count);
        else if (work == ADVANCE)
          total += advance_row(at, first, coefficient, count);
        else
          turn_row(at, first, coefficient, count);
      }
    for (PetscInt f = 0; f < 5; f++)
      PetscCall(VecRestoreArray(fields[f], &at[f]));
  }
  if (sum) {
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &total, 1, MPIU_REAL, MPI_SUM, box->comm));
    *sum = total;
  }
  PetscFunctionReturn(0);
}

/* image = A search, with zero on the sides; `curvature` over all ranks. */
static PetscErrorCode ApplyToSearch(Fluid fluid, PetscReal *curvature)
{
  const StressMix mix = {1., 1.};

  PetscFunctionBegin;
  for (PetscInt d = 0; d < grid_box(fluid->grid)->dimension; d++)
    PetscCall(FluidFillComponentGhosts(fluid, d, fluid->stress->search[d], 0., SIDE_VALUES_ZERO));
  PetscCall(FluidApplyStress(fluid, &mix, fluid->stress->search, fluid->stress->image, curvature));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, curvature, 1, MPIU_REAL, MPI_SUM, grid_box(fluid->grid)->comm));
  PetscFunctionReturn(0);
}

/* The first residual, that of the velocity before the solve, and the square to be reached. The tolerance is
   relative to it or to the right side of the whole problem, whichever is less: with much viscosity rough
   velocities leave a residual that is many times larger than all that remains of them. */
static PetscErrorCode Begin(Fluid fluid, Vec faces[DIM], PetscReal *square, PetscReal *goal)
{
  const StressMix rest = {0., -1.};
  PetscReal       unused, right_side;

  PetscFunctionBegin;
  for (PetscInt d = 0; d < grid_box(fluid->grid)->dimension; d++) {
    PetscCall(VecSet(fluid->stress->residual[d], 0.));
    PetscCall(VecSet(fluid->stress->search[d], 0.));
    PetscCall(VecSet(fluid->stress->image[d], 0.));
  }
  PetscCall(FluidApplyStress(fluid, &rest, faces, fluid->stress->residual, &unused));
  PetscCall(WorkOnRows(fluid, TAKE, faces, 0., NULL));
  PetscCall(ApplyToSearch(fluid, &unused));
  PetscCall(WorkOnRows(fluid, MEASURE, faces, 0., &right_side));
  PetscCall(WorkOnRows(fluid, ADVANCE, faces, 0., square));
  PetscCall(WorkOnRows(fluid, TURN, faces, 0., NULL));
  *goal = PetscSqr(fluid->config->viscosity_tolerance) * PetscMin(*square, right_side);
  PetscFunctionReturn(0);
}

PetscErrorCode FluidDiffuseMixture(Fluid fluid, PetscReal dt, PetscReal time, Vec faces[DIM])
{
  PetscReal square = 0., goal = 0., curvature, next;
  PetscInt  iterations;

  PetscFunctionBegin;
  PetscCall(FluidSetUpStress(fluid, dt));
  for (PetscInt d = 0; d < grid_box(fluid->grid)->dimension; d++) {
    PetscCall(FluidSetSideFaces(fluid, d, faces[d], time));
    PetscCall(FluidSetClosedFaces(fluid, d, faces[d]));
    PetscCall(FluidFillComponentGhosts(fluid, d, faces[d], time, SIDE_VALUES_GIVEN));
  }
  PetscCall(Begin(fluid, faces, &square, &goal));
  for (iterations = 0; square > goal && iterations < STRESS_ITERATIONS_MAX; iterations++) {
    PetscCall(ApplyToSearch(fluid, &curvature));
    PetscCall(WorkOnRows(fluid, ADVANCE, faces, square / curvature, &next));
    if (next > goal)
      PetscCall(WorkOnRows(fluid, TURN, faces, next / square, NULL));
    square = next;
  }
  fluid->report.viscosity_iterations = iterations;
  if (!(square <= goal)) /* not-a-number too */
    fluid->report.diffusion_converged = PETSC_FALSE;
  PetscFunctionReturn(0);
}
