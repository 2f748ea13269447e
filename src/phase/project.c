/* The projection of 4.2.1: at every point the mean of the two smallest distances is subtracted from all, so
   that exactly one is negative and the next one its opposite. Where a region is alone within its band nothing
   is done, and what lies beyond its band stays there: the work of a level set follows its own surface. */
#include "phase_impl.h"

VECTOR_CLONES static void find_two_smallest(PetscInt width, PetscInt count, PetscReal *const rows[],
                                            PetscReal *restrict first, PetscReal *restrict second)
{
  for (PetscInt x = 0; x < width; x++)
    first[x] = second[x] = PETSC_MAX_REAL;
  for (PetscInt n = 0; n < count; n++) {
    const PetscReal *restrict row = rows[n];

    for (PetscInt x = 0; x < width; x++) {
      const PetscReal value = row[x], larger = value < first[x] ? first[x] : value;

      second[x] = larger < second[x] ? larger : second[x];
      first[x] = value < first[x] ? value : first[x];
    }
  }
}

/* What is to be subtracted; true if that is not nothing. */
VECTOR_CLONES static PetscBool find_mean(PetscInt width, const PetscReal *restrict first,
                                         const PetscReal *restrict second, PetscReal band,
                                         PetscReal *restrict mean)
{
  PetscReal largest = 0.;

  for (PetscInt x = 0; x < width; x++) {
    const PetscReal half = 0.5 * (first[x] + second[x]);

    mean[x] = ((first[x] < 0.) & (second[x] >= band)) ? 0. : half;
  }
  for (PetscInt x = 0; x < width; x++)
    largest = PetscMax(largest, PetscAbsReal(mean[x]));
  return largest > 0. ? PETSC_TRUE : PETSC_FALSE;
}

unsigned project_row(PetscInt width, PetscInt count, PetscReal *const rows[], PetscReal band,
                     PetscReal work[])
{
  PetscReal *first = work, *second = work + width, *mean = work + 2 * width;
  unsigned   changed = 0;

  find_two_smallest(width, count, rows, first, second);
  if (!find_mean(width, first, second, band, mean))
    return 0;
  for (PetscInt n = 0; n < count; n++)
    for (PetscInt x = 0; x < width; x++) {
      const PetscReal value = rows[n][x];

      if (mean[x] == 0. || (value >= band && value != second[x]))
        continue;
      rows[n][x] = PetscMin(value - mean[x], band);
      changed |= 1u << n;
    }
  return changed;
}

PetscErrorCode PhaseProject(Phase phase, unsigned changed)
{
  const GridBox *box = grid_box(phase->grid);
  const PetscInt width = box->end[X] - box->start[X];
  PetscReal     *distances[REGIONS_MAX], *rows[REGIONS_MAX], *work;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(3 * width, &work));
  PetscCall(PhaseGetDistances(phase, distances));
  FOR_ROWS(box, j, k) {
    for (PetscInt n = 0; n < phase->count; n++)
      rows[n] = distances[n] + box_index(box, box->start[X], j, k);
    changed |= project_row(width, phase->count, rows, phase->band, work);
  }
  PetscCall(PhaseRestoreDistances(phase, distances));
  PetscCall(PetscFree(work));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &changed, 1, MPI_UNSIGNED, MPI_BOR, box->comm));
  for (PetscInt n = 0; n < phase->count; n++)
    if (changed & 1u << n)
      PetscCall(LevelSetRefresh(phase->level_sets[n]));
  PetscFunctionReturn(0);
}

/* 1 + the region of the smallest distance, the lower one of those that are equal but for round-off, which
   must not decide where an interface passes through the centres of cells. */
VECTOR_CLONES static void find_smallest(PetscInt length, PetscInt count, PetscReal *const distances[],
                                        PetscReal equal, PetscReal *restrict smallest,
                                        PetscReal *restrict regions)
{
  for (PetscInt c = 0; c < length; c++) {
    smallest[c] = distances[0][c];
    regions[c] = 1.;
  }
  for (PetscInt n = 1; n < count; n++) {
    const PetscReal *restrict distance = distances[n];

    for (PetscInt c = 0; c < length; c++) {
      regions[c] = distance[c] < smallest[c] - equal ? 1. + n : regions[c];
      smallest[c] = distance[c] < smallest[c] - equal ? distance[c] : smallest[c];
    }
  }
}

enum { CHUNK = 1024 }; /* of cells whose smallest distance stays in the cache */

static PetscErrorCode FindRegionMap(Phase phase)
{
  const PetscInt  length = grid_box(phase->grid)->length;
  const PetscReal equal = MILLRACE_ROUND_OFF * grid_spacing(phase->grid);
  PetscReal      *distances[REGIONS_MAX], *rows[REGIONS_MAX], *regions, smallest[CHUNK];

  PetscFunctionBegin;
  PetscCall(PhaseGetDistances(phase, distances));
  PetscCall(VecGetArray(phase->regions, &regions));
  for (PetscInt c = 0; c < length; c += CHUNK) {
    const PetscInt width = PetscMin(CHUNK, length - c);

    for (PetscInt n = 0; n < phase->count; n++)
      rows[n] = distances[n] + c;
    find_smallest(width, phase->count, rows, equal, smallest, regions + c);
  }
  empty_ghosts_of_sides(phase, regions);
  for (PetscInt c = 0; c < length; c++)
    phase->region[c] = (unsigned char)(regions[c] - 1.);
  PetscCall(VecRestoreArray(phase->regions, &regions));
  PetscCall(PhaseRestoreDistances(phase, distances));
  PetscFunctionReturn(0);
}

/* Marks the cells of a row that have another region in one of the three rows around `other`. */
VECTOR_CLONES static void mark_row(PetscInt width, const unsigned char *restrict own,
                                   const unsigned char *restrict other, unsigned char *restrict mixed)
{
  for (PetscInt x = 0; x < width; x++)
    mixed[x] |= (own[x] ^ other[x - 1]) | (own[x] ^ other[x]) | (own[x] ^ other[x + 1]);
}

PetscErrorCode PhaseFindRegions(Phase phase)
{
  const GridBox  *box = grid_box(phase->grid);
  const GridRange range = box_grown(box, MIXTURE_GHOSTS);
  const PetscInt  deep = box->dimension == 3, width = range.end[X] - range.start[X];

  PetscFunctionBegin;
  PetscCall(FindRegionMap(phase));
  phase->mixed_count = 0;
  FOR_ROWS(&range, j, k) {
    const PetscInt c = box_index(box, range.start[X], j, k);

    memset(phase->mixed + c, 0, width);
    for (PetscInt z = -deep; z <= deep; z++)
      for (PetscInt y = -1; y <= 1; y++)
        mark_row(width, phase->region + c,
                 phase->region + c + y * box->stride[Y] + (deep ? z * box->stride[Z] : 0), phase->mixed + c);
    for (PetscInt x = c; x < c + width; x++)
      if (phase->mixed[x]) {
        phase->mixed[x] = 1;
        phase->mixed_cells[phase->mixed_count++] = x;
      }
  }
  PetscFunctionReturn(0);
}
