/* The linear field p* that fits the pressures around a place of contact (docs/numerics.md, section 14):
   moving least squares with the basis 1, x over the cells that share a mixed face with the bodies. */
#include "../coupling_impl.h"

#include <millrace/dense.h>

/* The cells that the entries of each body lead to, each once, and how much fluid can leave them:
   first[slot] to first[slot + 1]. */
typedef struct {
  PetscInt  *first;
  int       *cells;
  PetscReal *open;
  CellRows  *list; /* that new entries are added to */
} BodyCells;

/* The mean open part of the faces of an owned cell. What contact moves would leave a cell with slivers only
   at any speed, and hold the body. */
static PetscReal openness(Coupling coupling, PetscInt cell)
{
  const GridBox *box = grid_box(coupling->grid);
  const PetscInt width = box->end[X] - box->start[X], depth = box->end[Y] - box->start[Y];
  const PetscInt c = box_index(box, box->start[X] + cell % width, box->start[Y] + cell / width % depth,
                               box->start[Z] + cell / width / depth);
  PetscReal      sum = 0.;

  for (PetscInt n = 0; n < 2 * box->dimension; n++) {
    const PetscInt kind = coupling->faces.kinds[n / 2][n % 2 ? c + box->stride[n / 2] : c];

    sum += kind == COUPLED_FLUID ? 1. : kind >= 0 ? coupling->faces.mixed[kind].open : 0.;
  }
  return sum / (PetscReal)(2 * box->dimension);
}

/* Keeps the first of equal cells of each body. */
static PetscErrorCode DropRepeated(Coupling coupling, BodyCells *near)
{
  PetscInt kept = 0, *seen;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(coupling->cell_count, &seen));
  for (PetscInt b = 0; b < coupling->solids.count; b++) {
    const PetscInt first = near->first[b];

    near->first[b] = kept;
    for (PetscInt n = first; n < near->first[b + 1]; n++)
      if (seen[near->cells[n]] != b + 1) {
        seen[near->cells[n]] = b + 1;
        near->cells[kept++] = near->cells[n];
      }
  }
  near->first[coupling->solids.count] = kept;
  PetscCall(PetscFree(seen));
  PetscCall(PetscMalloc1(kept, &near->open));
  for (PetscInt n = 0; n < kept; n++)
    near->open[n] = openness(coupling, near->cells[n]);
  PetscFunctionReturn(0);
}

static PetscErrorCode SortCells(Coupling coupling, CellRows *list, BodyCells *near)
{
  PetscFunctionBegin;
  near->list = list;
  PetscCall(PetscCalloc1(coupling->solids.count + 2, &near->first));
  PetscCall(PetscMalloc1(list->count, &near->cells));
  for (PetscInt n = 0; n < list->count; n++)
    near->first[list->rows[n].row.dof[0] / TWIST + 2]++;
  for (PetscInt b = 2; b < coupling->solids.count + 2; b++)
    near->first[b] += near->first[b - 1];
  for (PetscInt n = 0; n < list->count; n++)
    near->cells[near->first[list->rows[n].row.dof[0] / TWIST + 1]++] = list->rows[n].cell;
  PetscCall(DropRepeated(coupling, near));
  PetscFunctionReturn(0);
}

/* From the place of contact to the centre of a cell. */
static Vector3 way_to(Coupling coupling, const ContactFaces *contact, PetscInt cell)
{
  const GridBox *box = grid_box(coupling->grid);
  const PetscInt width = box->end[X] - box->start[X], depth = box->end[Y] - box->start[Y];
  Vector3        way = vector3_subtract(
             grid_cell_centre(coupling->grid, box->start[X] + cell % width, box->start[Y] + cell / width % depth,
                              box->start[Z] + cell / width / depth),
             vector3_add(coupling->solids.bodies[contact->around[0]].body.position, contact->place));

  if (box->dimension == 2)
    way.at[Z] = 0.;
  for (PetscInt d = 0; d < box->dimension; d++)
    if (box->periodic[d])
      way.at[d] = nearest_image(way.at[d], box->cells[d] * coupling->spacing);
  return way;
}

static inline PetscReal kernel_at(Vector3 way, PetscReal reach)
{
  const PetscReal square = vector3_dot(way, way) / PetscSqr(reach);

  return square < 1. ? PetscSqr(1. - square) : 0.;
}

/* Sums of the kernel k, times how open the cell is, over the cells within one of several reaches: k, k x,
   k x x^T. */
enum { REACHES = 5, FIT_SUMS = 1 + DIM + DIM * DIM };

/* p* around one place of contact: p* = sum of k_i/sum (1 + (x_i - mean).G (x - mean)) p_i, with G the inverse
   of the covariance of the x_i under the kernel k. */
typedef struct {
  PetscReal        nearest;          /* distance of a cell */
  ReproducibleSum *terms;            /* of this rank: REACHES x FIT_SUMS, of symmetric ones the lower half */
  const PetscReal (*sums)[FIT_SUMS]; /* of all */
  PetscReal reach, sum;
  Vector3   mean;
  PetscReal table[DIM][TWIST]; /* G (rows of the gradient - mean (x) row of the value) */
} ContactFit;

static inline PetscReal reach_of(Coupling coupling, const ContactFit *fit, PetscInt n)
{
  return fit->nearest + coupling->spacing * (PetscReal)(2 << n);
}

static void add_sums(Coupling coupling, Vector3 way, PetscReal open, ContactFit *fit)
{
  for (PetscInt n = 0; n < REACHES; n++) {
    const PetscReal  kernel = open * kernel_at(way, reach_of(coupling, fit, n));
    ReproducibleSum *sums = &fit->terms[FIT_SUMS * n];

    if (kernel == 0.)
      continue;
    sum_add(&sums[0], kernel);
    for (PetscInt d = 0; d < DIM; d++) {
      sum_add(&sums[1 + d], kernel * way.at[d]);
      for (PetscInt e = 0; e <= d; e++)
        sum_add(&sums[1 + DIM + DIM * d + e], kernel * way.at[d] * way.at[e]);
    }
  }
}

/* The principal axes of the cells within a reach, their mean and their variance along each. */
typedef struct {
  Vector3   mean;
  PetscReal axes[DIM][DIM], variances[DIM];
} Spread;

static Spread spread_of(const PetscReal sums[FIT_SUMS])
{
  PetscReal covariance[DIM][DIM];
  Spread    spread;

  for (PetscInt d = 0; d < DIM; d++)
    spread.mean.at[d] = sums[1 + d] / sums[0];
  for (PetscInt d = 0; d < DIM; d++)
    for (PetscInt e = 0; e < DIM; e++)
      covariance[d][e] = sums[1 + DIM + DIM * PetscMax(d, e) + PetscMin(d, e)] / sums[0] -
                         spread.mean.at[d] * spread.mean.at[e];
  dense_eigenvectors(DIM, &covariance[0][0], &spread.axes[0][0]);
  for (PetscInt d = 0; d < DIM; d++)
    spread.variances[d] = covariance[d][d];
  return spread;
}

/* How far the place lies beyond the cells along an axis, squared, over their variance: the sum of squares of
   the weights grows by that much. */
static PetscReal extrapolation(const Spread *spread, PetscInt axis)
{
  PetscReal along = 0.;

  for (PetscInt d = 0; d < DIM; d++)
    along += spread->axes[axis][d] * spread->mean.at[d];
  return PetscSqr(along) / spread->variances[axis];
}

/* Along which the cells are at all spread: two layers of them have a quarter of h^2. */
static PetscBool is_known(Coupling coupling, const Spread *spread, PetscInt axis)
{
  return spread->variances[axis] > 0.04 * PetscSqr(coupling->spacing) ? PETSC_TRUE : PETSC_FALSE;
}

/* The sum of all, or more than any if the gradient is not known. */
static PetscReal whole_extrapolation(Coupling coupling, const Spread *spread)
{
  PetscReal sum = 0.;

  for (PetscInt axis = 0, known = 0; axis < DIM; axis++) {
    known += is_known(coupling, spread, axis);
    sum += is_known(coupling, spread, axis) ? extrapolation(spread, axis) : 0.;
    if (axis == DIM - 1 && known < grid_box(coupling->grid)->dimension)
      return PETSC_MAX_REAL;
  }
  return sum;
}

/* The shortest reach from whose cells the place is not far, else the best of all. */
static Spread choose_reach(Coupling coupling, ContactFit *fit)
{
  const PetscReal near = 3.;
  PetscReal       best = PETSC_MAX_REAL;
  Spread          chosen = spread_of(fit->sums[REACHES - 1]);

  fit->reach = reach_of(coupling, fit, REACHES - 1);
  fit->sum = fit->sums[REACHES - 1][0];
  for (PetscInt n = 0; n < REACHES && best > near; n++) {
    Spread    spread;
    PetscReal whole;

    if (fit->sums[n][0] <= 0.)
      continue;
    spread = spread_of(fit->sums[n]);
    whole = whole_extrapolation(coupling, &spread);
    if (whole >= best)
      continue;
    best = whole;
    chosen = spread;
    fit->reach = reach_of(coupling, fit, n);
    fit->sum = fit->sums[n][0];
  }
  return chosen;
}

/* Along an axis from whose cells the place is very far only so much of the gradient counts. */
static void find_fit(Coupling coupling, const ContactFaces *contact, ContactFit *fit)
{
  const PetscReal far = 64.;
  const Spread    spread = choose_reach(coupling, fit);

  fit->mean = spread.mean;
  for (PetscInt axis = 0; axis < DIM; axis++) {
    const PetscReal *e = spread.axes[axis];
    PetscReal        factor;

    if (!is_known(coupling, &spread, axis))
      continue;
    factor = PetscMin(1., far / PetscMax(far, extrapolation(&spread, axis))) / spread.variances[axis];
    for (PetscInt n = 0; n < TWIST; n++) {
      PetscReal along = 0.;

      for (PetscInt d = 0; d < DIM; d++)
        along += e[d] * (contact->rows[1 + d][n] - spread.mean.at[d] * contact->rows[0][n]);
      for (PetscInt d = 0; d < DIM; d++)
        fit->table[d][n] += factor * e[d] * along;
    }
  }
}

typedef enum { FIND_NEAREST, SUM_KERNELS, ADD_ROWS } ContactPass;

static PetscErrorCode AddFit(Coupling coupling, const ContactFaces *contact, const ContactFit *fit,
                             PetscInt cell, Vector3 way, PetscReal open, CellRows *list)
{
  const PetscReal kernel = open * kernel_at(way, fit->reach) / fit->sum;
  PetscReal       row[TWIST];

  PetscFunctionBegin;
  if (kernel == 0.)
    PetscFunctionReturn(0);
  for (PetscInt n = 0; n < TWIST; n++) {
    row[n] = contact->rows[0][n];
    for (PetscInt d = 0; d < DIM; d++)
      row[n] += (way.at[d] - fit->mean.at[d]) * fit->table[d][n];
    row[n] *= kernel;
  }
  PetscCall(PlacedSolidsAddRow(&coupling->solids, cell, contact->body, row, list));
  PetscFunctionReturn(0);
}

/* Goes through the cells around one place of contact, those of both bodies. */
static PetscErrorCode VisitCells(Coupling coupling, const ContactFaces *contact, ContactPass pass,
                                 const BodyCells *near, ContactFit *fit)
{
  const PetscInt *bodies = contact->around;

  PetscFunctionBegin;
  for (PetscInt side = 0; side < 2 && bodies[side] >= 0; side++)
    for (PetscInt n = near->first[coupling->solids.bodies[bodies[side]].slot];
         n < near->first[coupling->solids.bodies[bodies[side]].slot + 1]; n++) {
      const Vector3 way = way_to(coupling, contact, near->cells[n]);

      if (pass == FIND_NEAREST)
        fit->nearest = PetscMin(fit->nearest, vector3_norm(way));
      else if (pass == SUM_KERNELS)
        add_sums(coupling, way, near->open[n], fit);
      else
        PetscCall(AddFit(coupling, contact, fit, near->cells[n], way, near->open[n], near->list));
    }
  PetscFunctionReturn(0);
}

/* The nearest cell and the sums of all ranks; `sums` is REACHES x FIT_SUMS for each place of contact. */
static PetscErrorCode SumFits(Coupling coupling, const BodyCells *near, PetscReal *sums, ContactFit fits[])
{
  const PetscInt      count = coupling->system.contact_count, width = REACHES * FIT_SUMS;
  const ContactFaces *contacts = coupling->system.contacts;
  ReproducibleSum    *terms;
  PetscReal          *nearest;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(count, &nearest));
  PetscCall(PetscCalloc1(width * count, &terms));
  for (PetscInt t = 0; t < count; t++) {
    fits[t].nearest = PETSC_MAX_REAL;
    PetscCall(VisitCells(coupling, &contacts[t], FIND_NEAREST, near, &fits[t]));
    nearest[t] = fits[t].nearest;
  }
  PetscCallMPI(
      MPI_Allreduce(MPI_IN_PLACE, nearest, (PetscMPIInt)count, MPIU_REAL, MPIU_MIN, coupling->fluid));
  for (PetscInt t = 0; t < count; t++) {
    fits[t].nearest = nearest[t];
    fits[t].terms = &terms[width * t];
    fits[t].sums = (const PetscReal(*)[FIT_SUMS]) & sums[width * t];
    PetscCall(VisitCells(coupling, &contacts[t], SUM_KERNELS, near, &fits[t]));
  }
  PetscCall(SumOverRanks(coupling->fluid, width * count, terms, sums));
  PetscCall(PetscFree(nearest));
  PetscCall(PetscFree(terms));
  PetscFunctionReturn(0);
}

PetscErrorCode CouplingAddContactFaces(Coupling coupling, CellRows *list)
{
  const PetscInt count = coupling->system.contact_count;
  ContactFit    *fits;
  PetscReal     *sums;
  BodyCells      near;

  PetscFunctionBegin;
  if (!count)
    PetscFunctionReturn(0);
  PetscCall(SortCells(coupling, list, &near));
  PetscCall(PetscCalloc1(count, &fits));
  PetscCall(PetscMalloc1(REACHES * FIT_SUMS * count, &sums));
  PetscCall(CouplingAddWallCells(coupling, list));
  PetscCall(SumFits(coupling, &near, sums, fits));
  for (PetscInt t = 0; t < count; t++) {
    if (fits[t].sums[REACHES - 1][0] <= 0.) /* no cell with a pressure touches the body */
      continue;
    find_fit(coupling, &coupling->system.contacts[t], &fits[t]);
    PetscCall(VisitCells(coupling, &coupling->system.contacts[t], ADD_ROWS, &near, &fits[t]));
  }
  PetscCall(PetscFree(fits));
  PetscCall(PetscFree(sums));
  PetscCall(PetscFree(near.first));
  PetscCall(PetscFree(near.cells));
  PetscCall(PetscFree(near.open));
  PetscFunctionReturn(0);
}
