/* Inflows: what lies in a shape becomes part of a region, phi = min(phi, d), and is taken from all others,
   phi = max(phi, -d). The next step redistances. */
#include "phase_impl.h"

#include <millrace/sampling.h>

static PetscErrorCode Fill(Phase phase, PetscInt region, Vec shape_distance)
{
  const PetscInt   length = grid_box(phase->grid)->length;
  const PetscReal *shape;
  PetscReal       *distances[REGIONS_MAX];

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(shape_distance, &shape));
  PetscCall(PhaseGetDistances(phase, distances));
  for (PetscInt n = 0; n < phase->count; n++)
    for (PetscInt c = 0; c < length; c++)
      distances[n][c] =
          n == region ? PetscMin(distances[n][c], shape[c]) : PetscMax(distances[n][c], -shape[c]);
  PetscCall(PhaseRestoreDistances(phase, distances));
  PetscCall(VecRestoreArrayRead(shape_distance, &shape));
  PetscFunctionReturn(0);
}

/* The distance from what is poured. */
typedef struct {
  const GridBox   *box;
  PetscReal        h;
  Vector3          origin;
  const PetscReal *distance;
} PouredShape;

/* Else no point of the cell is inside. */
static PetscBool comes_near(const void *context, const PetscInt at[DIM])
{
  const PouredShape *shape = context;

  return shape->distance[box_index(shape->box, at[X], at[Y], at[Z])] < shape->h ? PETSC_TRUE : PETSC_FALSE;
}

static PetscBool is_inside(const void *context, Vector3 position)
{
  const PouredShape *shape = context;

  return sample_cells(shape->box, shape->origin, shape->h, shape->distance, position) < 0. ? PETSC_TRUE
                                                                                           : PETSC_FALSE;
}

/* Markers of another region that are now in what was poured. */
static PetscErrorCode DropInside(Phase phase, PetscInt region, Vec shape_distance)
{
  PouredShape shape = {
      .box = grid_box(phase->grid), .h = grid_spacing(phase->grid), .origin = grid_origin(phase->grid)};
  const ParticleTest test = {.cell = comes_near, .place = is_inside, .context = &shape};
  PetscInt           dropped = 0;

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(shape_distance, &shape.distance));
  PetscCall(ParticlesDropWhere(phase->markers[region], &test, &dropped));
  PetscCall(VecRestoreArrayRead(shape_distance, &shape.distance));
  PetscFunctionReturn(0);
}

PetscErrorCode PhaseFill(Phase phase, PetscInt region, Vec distance)
{
  PetscFunctionBegin;
  PetscCall(MacGridMirrorGhosts(phase->grid, distance));
  PetscCall(Fill(phase, region, distance));
  for (PetscInt n = 0; n < phase->count && phase->config->interface.particles; n++)
    if (n != region)
      PetscCall(DropInside(phase, n, distance));
  PetscCall(PhaseProject(phase, ALL_REGIONS));
  PetscFunctionReturn(0);
}

PetscErrorCode PhasePour(Phase phase, PetscInt region, Shape shape, Vec closed)
{
  const Vec distance = phase->scratch[0];
  PetscReal before[REGIONS_MAX];

  PetscFunctionBegin;
  PetscCheck(region >= 0 && region < phase->count, grid_box(phase->grid)->comm, PETSC_ERR_ARG_OUTOFRANGE,
             "There is no region %" PetscInt_FMT, region);
  PetscCall(PetscArraycpy(before, phase->report.volume, REGIONS_MAX));
  PetscCall(PhaseFillFromShape(phase, shape, distance));
  PetscCall(PhaseFill(phase, region, distance));
  PetscCall(PhaseSeedRegion(phase, region, closed));
  phase->seedings++;
  PetscCall(PhaseUpdate(phase, closed));
  for (PetscInt n = 0; n < phase->count; n++)
    phase->targets[n] += phase->report.volume[n] - before[n];
  PetscFunctionReturn(0);
}
