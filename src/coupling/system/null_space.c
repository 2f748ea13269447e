/* Singular components of the fluid. With z_c = 1_c / root of the cells of c, A z_c = 0 and
   z_c^T S z_d = g_c^T C^-1 g_d with g_c = B^T z_c. The eigenvectors of this small matrix with the value zero
   are the null vectors of S: a component that no free body moves is one by itself, two chambers on either
   side of a piston make one together. The others are lifted out of the preconditioner's blind spot. */
#include "../coupling_impl.h"

#include <millrace/dense.h>

#define NEGLIGIBLE 1e-10

/* B^T 1_c of all singular components, and the sums of absolute entries; what is round-off becomes zero. */
static PetscErrorCode GatherRows(Coupling coupling, const PetscInt *place, PetscReal *rows)
{
  const PetscInt width = TWIST * coupling->solids.free_count, size = coupling->system.singular_count * width;
  const CouplingMatrix *matrix = &coupling->system.matrix;
  PetscReal            *sums = rows + size;
  ReproducibleSum      *terms;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(2 * size, &terms));
  for (PetscInt b = 0; b < coupling->solids.free_count; b++)
    for (PetscInt r = matrix->first[b]; r < matrix->first[b + 1]; r++) {
      const PetscInt   c = place[coupling->system.labels[matrix->cells[r]]];
      const PetscReal *by = &matrix->values[TWIST * r];

      for (PetscInt i = 0; i < TWIST && c >= 0; i++) {
        sum_add(&terms[c * width + TWIST * b + i], by[i]);
        sum_add(&terms[size + c * width + TWIST * b + i], PetscAbsReal(by[i]));
      }
    }
  PetscCall(SumOverRanks(coupling->fluid, 2 * size, terms, rows));
  PetscCall(PetscFree(terms));
  for (PetscInt n = 0; n < size; n++) {
    const PetscInt twist = n - n % TWIST;
    PetscReal      whole = sums[n];

    for (PetscInt d = 0; d < DIM && n % TWIST >= DIM; d++) /* arms may vanish */
      whole = PetscMax(whole, coupling->spacing * sums[twist + d]);
    if (PetscAbsReal(rows[n]) <= NEGLIGIBLE * whole)
      rows[n] = 0.;
  }
  PetscFunctionReturn(0);
}

static void swap(PetscReal *a, PetscReal *b)
{
  const PetscReal kept = *a;

  *a = *b;
  *b = kept;
}

/* Null vectors to the front. */
static void sort_modes(CoupledSystem *system, const PetscReal *matrix)
{
  const PetscInt count = system->singular_count;
  PetscReal      largest = 0.;

  for (PetscInt m = 0; m < count; m++) {
    system->stiffness[m] = matrix[count * m + m];
    largest = PetscMax(largest, system->stiffness[m]);
  }
  for (PetscInt m = 0; m < count; m++) {
    const PetscInt front = system->null_count;

    if (system->stiffness[m] > 1e-13 * largest)
      continue;
    swap(&system->stiffness[m], &system->stiffness[front]);
    for (PetscInt i = 0; i < count && m != front; i++)
      swap(&system->modes[count * m + i], &system->modes[count * front + i]);
    system->null_count++;
  }
}

/* What deforming solids add to one column: z_c^T B_d C^-1 B_d^T z_d. */
static PetscErrorCode AddDeforming(Coupling coupling, PetscInt column, PetscReal *matrix)
{
  const PoissonComponents components = poisson_components(coupling->system.poisson);
  const PetscInt          count = coupling->system.singular_count, *singular = coupling->system.singular;
  PetscReal              *sums, *values;
  Vec                     inside, flow;

  PetscFunctionBegin;
  if (!coupling->deforming.patches)
    PetscFunctionReturn(0);
  PetscCall(VecDuplicate(coupling->system.flow, &inside));
  PetscCall(VecDuplicate(coupling->system.flow, &flow));
  PetscCall(VecSet(flow, 0.));
  PetscCall(VecGetArray(inside, &values));
  for (PetscInt c = 0; c < coupling->cell_count; c++)
    values[c] = coupling->system.labels[c] == singular[column] ? 1. : 0.;
  PetscCall(VecRestoreArray(inside, &values));
  PetscCall(CouplingAddDeformingCleanly(coupling, inside, flow));
  PetscCall(PetscMalloc1(components.count, &sums));
  PetscCall(PoissonSumComponents(coupling->system.poisson, flow, sums));
  for (PetscInt i = 0; i < count; i++)
    matrix[i * count + column] +=
        sums[singular[i]] / PetscSqrtReal(components.cells[singular[i]] * components.cells[singular[column]]);
  PetscCall(PetscFree(sums));
  PetscCall(VecDestroy(&inside));
  PetscCall(VecDestroy(&flow));
  PetscFunctionReturn(0);
}

static PetscErrorCode FindModes(Coupling coupling, const PetscReal *rows)
{
  const PetscInt   count = coupling->system.singular_count, width = TWIST * coupling->solids.free_count;
  const PetscReal *cells = poisson_components(coupling->system.poisson).cells;
  PetscReal       *half, *matrix;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(width, &half, count * count, &matrix));
  for (PetscInt i = 0; i < count; i++) {
    PetscCall(SolidSystemSolve(coupling->system.solid, &rows[i * width], half));
    for (PetscInt j = 0; j < count; j++) {
      PetscReal sum = 0.;

      for (PetscInt n = 0; n < width; n++)
        sum += half[n] * rows[j * width + n];
      matrix[i * count + j] =
          sum / PetscSqrtReal(cells[coupling->system.singular[i]] * cells[coupling->system.singular[j]]);
    }
  }
  for (PetscInt i = 0; i < count; i++)
    PetscCall(AddDeforming(coupling, i, matrix));
  dense_eigenvectors(count, matrix, coupling->system.modes);
  sort_modes(&coupling->system, matrix);
  PetscCall(PetscFree2(half, matrix));
  PetscFunctionReturn(0);
}

PetscErrorCode CouplingFindNullSpace(Coupling coupling)
{
  const PoissonComponents components = poisson_components(coupling->system.poisson);
  PetscReal              *rows;
  PetscInt               *place;

  PetscFunctionBegin;
  PetscCall(PetscFree3(coupling->system.singular, coupling->system.modes, coupling->system.stiffness));
  PetscCall(PetscMalloc1(components.count, &place));
  coupling->system.singular_count = coupling->system.null_count = 0;
  for (PetscInt c = 0; c < components.count; c++)
    place[c] = components.is_singular[c] ? coupling->system.singular_count++ : -1;
  PetscCall(PetscCalloc3(coupling->system.singular_count, &coupling->system.singular,
                         coupling->system.singular_count * coupling->system.singular_count,
                         &coupling->system.modes, coupling->system.singular_count,
                         &coupling->system.stiffness));
  for (PetscInt c = 0; c < components.count; c++)
    if (place[c] >= 0)
      coupling->system.singular[place[c]] = c;
  if (coupling->system.singular_count) {
    PetscCall(PetscMalloc1(2 * coupling->system.singular_count * TWIST * coupling->solids.free_count, &rows));
    PetscCall(GatherRows(coupling, place, rows));
    PetscCall(FindModes(coupling, rows));
    PetscCall(PetscFree(rows));
  }
  PetscCall(PetscFree(place));
  PetscFunctionReturn(0);
}

PetscErrorCode CoupledSystemUseNullSpace(const CoupledSystem *system, NullSpaceUse use, Vec from, Vec to)
{
  const PoissonComponents components = poisson_components(system->poisson);
  const PetscInt          count = system->singular_count;
  const PetscInt          first = use == NULL_SPACE_REMOVE ? 0 : system->null_count,
                 last = use == NULL_SPACE_REMOVE ? system->null_count : count;
  PetscReal *sums, *shifts;

  PetscFunctionBegin;
  if (first == last)
    PetscFunctionReturn(0);
  PetscCall(PetscMalloc1(components.count, &sums));
  PetscCall(PetscCalloc1(components.count, &shifts));
  PetscCall(PoissonSumComponents(system->poisson, from, sums));
  for (PetscInt m = first; m < last; m++) {
    const PetscReal *mode = &system->modes[m * count];
    PetscReal        part = 0.;

    for (PetscInt i = 0; i < count; i++)
      part += mode[i] * sums[system->singular[i]] / PetscSqrtReal(components.cells[system->singular[i]]);
    part *= use == NULL_SPACE_REMOVE ? -1. : 1. / system->stiffness[m];
    for (PetscInt i = 0; i < count; i++)
      shifts[system->singular[i]] += part * mode[i] / PetscSqrtReal(components.cells[system->singular[i]]);
  }
  PetscCall(PoissonShiftComponents(system->poisson, shifts, to));
  PetscCall(PetscFree(sums));
  PetscCall(PetscFree(shifts));
  PetscFunctionReturn(0);
}
