/* Sets of particles that any number of ranks can make and compare. */
#ifndef MILLRACE_TESTS_PARTICLE_SET_H
#define MILLRACE_TESTS_PARTICLE_SET_H

#include "harness.h"
#include "scratch.h"

#include <math.h>
#include <millrace/particles.h>
#include <string.h>

enum { PER_CELL = 3, WIDTH = 2 };

static const GridConfig configs[] = {
    {.dimension = 2, .size = {{1.6, 1.2, 0.}}, .resolution = 16},
    {.dimension = 2, .size = {{1.2, 1.6, 0.}}, .resolution = 12, .periodic = {PETSC_TRUE, PETSC_TRUE}},
    {.dimension = 3, .size = {{0.9, 1.1, 1.3}}, .resolution = 9, .origin = {{-1., 2., 0.5}}},
    {.dimension = 3,
     .size = {{1.2, 0.9, 0.8}},
     .resolution = 12,
     .periodic = {PETSC_TRUE, PETSC_FALSE, PETSC_TRUE}}};
#define FOR_ALL_CONFIGS(c)                                                                                   \
  for (const GridConfig *c = configs; c < configs + PETSC_STATIC_ARRAY_LENGTH(configs); c++)

typedef struct {
  MacGrid   grid;
  Vec       velocity[DIM];
  Particles particles;
} Set;

/* PER_CELL in every cell, from keys alone; the values repeat where they began. */
static inline PetscErrorCode Seed(MacGrid grid, Particles particles)
{
  const GridBox *box = grid_box(grid);

  PetscFunctionBegin;
  FOR_PLACES(box, at)
    for (PetscInt n = 0; n < PER_CELL; n++) {
      const PetscInt64 number = n + PER_CELL * (at[X] + 100LL * (at[Y] + 100LL * at[Z]));
      const uint64_t   key = hash_key(7, (uint64_t)number, 0, 0);
      Vector3          point = grid_cell_centre(grid, at[X], at[Y], at[Z]);

      for (PetscInt d = 0; d < box->dimension; d++)
        point.at[d] += (hash_real(key, d) - 0.5) * grid_spacing(grid);
      PetscCall(ParticlesAdd(particles, 1, &point, point.at, &number));
    }
  PetscCall(ParticlesArrange(particles));
  PetscFunctionReturn(0);
}

typedef Vector3 (*SteadyVelocity)(Vector3 point);

/* Every place of the local arrays gets the value of the formula, beyond the sides too. */
static inline PetscErrorCode FillFaces(MacGrid grid, SteadyVelocity flow, Vec faces[DIM])
{
  const GridBox  *box = grid_box(grid);
  const GridRange range = box_grown(box, box->ghost);
  PetscReal      *values[DIM];

  PetscFunctionBegin;
  PetscCall(MacGridGetFaces(grid, faces, values));
  for (PetscInt d = 0; d < box->dimension; d++)
    FOR_CELLS(&range, i, j, k)
      values[d][box_index(box, i, j, k)] = flow(grid_face_centre(grid, d, i, j, k)).at[d];
  PetscCall(MacGridRestoreFaces(grid, faces, values));
  PetscCall(MacGridExchangeFaces(grid, faces)); /* periodic images */
  PetscFunctionReturn(0);
}

static inline PetscErrorCode SetCreate(MPI_Comm comm, const GridConfig *config, SteadyVelocity flow, Set *set)
{
  PetscFunctionBegin;
  PetscCall(MacGridCreate(comm, config, &set->grid));
  PetscCall(MacGridCreateFaceField(set->grid, set->velocity));
  PetscCall(FillFaces(set->grid, flow, set->velocity));
  PetscCall(ParticlesCreate(set->grid, WIDTH, &set->particles));
  PetscFunctionReturn(0);
}

static inline PetscErrorCode SetDestroy(Set *set)
{
  PetscFunctionBegin;
  PetscCall(ParticlesDestroy(&set->particles));
  PetscCall(MacGridDestroyFaceField(set->velocity));
  PetscCall(MacGridDestroy(&set->grid));
  PetscFunctionReturn(0);
}

/* Of numbers, bits of positions and values; does not depend on the order, and the same for the same set. */
static inline PetscErrorCode Checksum(Particles particles, MPI_Comm comm, uint64_t *sum)
{
  ParticleView view;

  PetscFunctionBegin;
  PetscCall(ParticlesGetView(particles, &view));
  *sum = 0;
  for (PetscInt n = 0; n < view.count; n++) {
    uint64_t bits[DIM + WIDTH];

    memcpy(bits, view.positions[n].at, DIM * sizeof(*bits));
    memcpy(bits + DIM, view.values + n * WIDTH, WIDTH * sizeof(*bits));
    *sum += hash_key(hash_key((uint64_t)view.numbers[n], bits[0], bits[1], bits[2]), bits[3], bits[4], 0);
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sum, 1, MPI_UINT64_T, MPI_SUM, comm));
  PetscFunctionReturn(0);
}

/* By their cells, then by their numbers, each in the cell that the table says and this rank owns. */
static inline PetscBool is_in_order(MacGrid grid, const ParticleView *view)
{
  const GridBox *box = grid_box(grid);
  PetscInt       count = 0;

  if (!view->first || view->first[0] != 0)
    return PETSC_FALSE;
  FOR_NUMBERED_CELLS(box, cell, i, j, k) {
    count += view->first[cell + 1] - view->first[cell];
    for (PetscInt n = view->first[cell]; n < view->first[cell + 1]; n++) {
      const Vector3 apart =
          vector3_subtract(view->positions[n], grid_cell_centre(grid, i, j, box->dimension == 3 ? k : 0));

      for (PetscInt d = 0; d < box->dimension; d++)
        if (PetscAbsReal(apart.at[d]) > (0.5 + 1e-9) * grid_spacing(grid))
          return PETSC_FALSE;
      if (n > view->first[cell] && view->numbers[n - 1] >= view->numbers[n])
        return PETSC_FALSE;
    }
  }
  return count == view->count ? PETSC_TRUE : PETSC_FALSE;
}

static inline Vector3 swirl(Vector3 p)
{
  return vector3(0.7 + PetscSinReal(5. * p.at[Y]), PetscCosReal(4. * p.at[X]) - 0.3,
                 0.4 * PetscSinReal(6. * p.at[X] + p.at[Y]));
}

#endif
