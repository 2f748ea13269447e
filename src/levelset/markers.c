/* Markers on both sides of the interface (particle level set method, Enright et al. 2002): where the field
   has the wrong sign at a marker by more than its radius r, the marker has strayed, and the field at the cell
   centres y around it becomes

     phi <= |y - x| - r  for a marker of the inside,   phi >= r - |y - x|  for one of the outside;

   of the two fields that follow, the smaller in size counts. Nobody speaks through a shell. */
#include "levelset_impl.h"

#include <millrace/sampling.h>

static const PetscReal least_radius = 0.1, largest_radius = 0.5; /* cells */

/* Where the field is sampled. */
typedef struct {
  const GridBox       *box;
  Vector3              origin;
  PetscReal            h;
  const PetscReal     *value;
  const VisibilityMap *map; /* null: there are no shells */
} Sampler;

static Sampler sampler_of(LevelSet level_set, const PetscReal *value)
{
  return (Sampler){grid_box(level_set->grid), grid_origin(level_set->grid), grid_spacing(level_set->grid),
                   value, level_set->visibility_map};
}

/* The field as seen from a point in cell c; `blind` if nothing is. */
static PetscReal sampled(const Sampler *sampler, PetscInt c, Vector3 point, PetscReal blind)
{
  PetscReal value;

  if (is_near_shell(sampler->map, c))
    return sample_visible_cells(sampler->map, sampler->value, point, &value) ? value : blind;
  return sample_cells(sampler->box, sampler->origin, sampler->h, sampler->value, point);
}

typedef enum { INSIDE = -1, OUTSIDE = 1 } Side;

static PetscBool is_heard(const Sampler *sampler, Vector3 point, const PetscInt at[DIM])
{
  const Visibility *visibility = sampler->map->visibility;
  const Vector3     centre = grid_cell_centre(sampler->map->grid, at[X], at[Y], at[Z]);

  point.at[Z] = sampler->box->dimension == 2 ? centre.at[Z] : point.at[Z];
  return visibility->blocks(visibility->context, STEP_END, point, centre) ? PETSC_FALSE : PETSC_TRUE;
}

/* What a strayed marker of a cell that may be near a shell says, at the cell centres around it. */
static void speak(const Sampler *sampler, Side side, PetscBool near_shell, Vector3 point, PetscReal radius,
                  PetscReal *field)
{
  const GridBox *box = sampler->box;
  PetscInt       low[DIM] = {0, 0, 0};
  PetscReal      part[DIM] = {0., 0., 0.};

  for (PetscInt a = 0; a < box->dimension; a++) {
    const PetscReal place = (point.at[a] - sampler->origin.at[a]) / sampler->h - 0.5;

    low[a] = (PetscInt)PetscFloorReal(place);
    part[a] = place - low[a];
  }
  for (PetscInt n = 0; n < 1 << box->dimension; n++) {
    PetscInt  at[DIM] = {low[X], low[Y], low[Z]}, c;
    PetscReal square = 0., says;

    for (PetscInt a = 0; a < box->dimension; a++) {
      at[a] += n >> a & 1;
      square += PetscSqr(part[a] - (n >> a & 1));
    }
    if (near_shell && !is_heard(sampler, point, at))
      continue;
    c = box_index(box, at[X], at[Y], at[Z]);
    says = sampler->h * PetscSqrtReal(square) - radius;
    field[c] = side == INSIDE ? PetscMin(field[c], says) : PetscMax(field[c], -says);
  }
}

static PetscInt owned_number(const GridBox *box, PetscInt c)
{
  PetscInt at[DIM];

  box_at(box, c, at);
  return box_owned_number(box, at[X], at[Y], at[Z]);
}

/* Lets the strayed markers of a set speak; counts them. Only those within the band are asked: what a set far
   from this interface costs is nothing. */
static PetscErrorCode AskMarkers(LevelSet level_set, const Sampler *sampler, Side side, Particles markers,
                                 PetscReal *field, PetscInt64 *strayed)
{
  const PetscReal  surely_right = 1.5 * sampler->h; /* the field at a centre, for all places in its cell */
  const Vec        partners = level_set->sides ? level_set->sides->partners : NULL;
  const PetscReal *contact =
      NULL; /* more than 0 near a line of contact, which leaves markers of the wall behind */
  ParticleView view;

  PetscFunctionBegin;
  if (partners)
    PetscCall(VecGetArrayRead(partners, &contact));
  PetscCall(ParticlesGetView(markers, &view));
  PetscCheck(view.first, sampler->box->comm, PETSC_ERR_ORDER, "Markers must be arranged to correct");
  for (PetscInt r = 0; r < level_set->band.count; r++) {
    const BandRun   run = level_set->band.runs[r];
    const PetscInt *first = view.first + owned_number(sampler->box, run.first);

    for (PetscInt c = 0; c < run.count; c++) {
      const PetscBool near_shell = is_near_shell(sampler->map, run.first + c);

      if ((!near_shell && side * sampler->value[run.first + c] > surely_right) ||
          (contact && contact[run.first + c] > 0.))
        continue;
      for (PetscInt n = first[c]; n < first[c + 1]; n++) {
        const PetscReal radius = view.values[n];

        if (side * sampled(sampler, run.first + c, view.positions[n], side * sampler->h) >= -radius)
          continue;
        speak(sampler, side, near_shell, view.positions[n], radius, field);
        (*strayed)++;
      }
    }
  }
  if (partners)
    PetscCall(VecRestoreArrayRead(partners, &contact));
  PetscFunctionReturn(0);
}

/* The smaller in size of what both sides say, in the owned cells. */
VECTOR_CLONES static void agree(const GridBox *box, const PetscReal *inside, const PetscReal *outside,
                                PetscReal *value)
{
  const PetscInt width = box->end[X] - box->start[X];

  FOR_ROWS(box, j, k) {
    const PetscInt first = box_index(box, box->start[X], j, k);

    for (PetscInt c = first; c < first + width; c++)
      value[c] = PetscAbsReal(inside[c]) <= PetscAbsReal(outside[c]) ? inside[c] : outside[c];
  }
}

PetscErrorCode LevelSetCorrect(LevelSet level_set, PetscInt count, const Particles sets[], PetscInt own)
{
  const GridBox *box = grid_box(level_set->grid);
  Sampler        sampler = sampler_of(level_set, NULL);
  PetscReal     *value, *inside, *outside;
  PetscInt64     strayed = 0;

  PetscFunctionBegin;
  PetscCall(VecCopy(level_set->distance, level_set->stage));
  PetscCall(VecCopy(level_set->distance, level_set->start));
  PetscCall(VecGetArray(level_set->distance, &value));
  PetscCall(VecGetArray(level_set->stage, &inside));
  PetscCall(VecGetArray(level_set->start, &outside));
  sampler.value = value;
  for (PetscInt s = 0; s < count; s++)
    PetscCall(AskMarkers(level_set, &sampler, s == own ? INSIDE : OUTSIDE, sets[s],
                         s == own ? inside : outside, &strayed));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &strayed, 1, MPIU_INT64, MPI_SUM, box->comm));
  if (strayed) {
    PetscCall(MacGridReduceGhosts(level_set->grid, level_set->stage, MPI_MIN));
    PetscCall(MacGridReduceGhosts(level_set->grid, level_set->start, MPI_MAX));
    agree(box, inside, outside, value);
  }
  PetscCall(VecRestoreArray(level_set->start, &outside));
  PetscCall(VecRestoreArray(level_set->stage, &inside));
  PetscCall(VecRestoreArray(level_set->distance, &value));
  if (strayed)
    PetscCall(LevelSetRefresh(level_set));
  PetscFunctionReturn(0);
}

/* Touches the interface where that is possible. */
static PetscReal marker_radius(PetscReal distance, PetscReal h)
{
  return PetscMin(PetscMax(-distance, least_radius * h), largest_radius * h);
}

PetscErrorCode LevelSetAdjustRadii(LevelSet level_set, Particles inside)
{
  Sampler          sampler = sampler_of(level_set, NULL);
  const PetscReal *value;
  ParticleView     view;

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(level_set->distance, &value));
  sampler.value = value;
  PetscCall(ParticlesGetView(inside, &view));
  for (PetscInt n = 0; n < view.count; n++) {
    const PetscInt c = sampler.map ? visibility_map_cell(sampler.map, view.positions[n]) : 0;

    view.values[n] = marker_radius(sampled(&sampler, c, view.positions[n], -sampler.h), sampler.h);
  }
  PetscCall(VecRestoreArrayRead(level_set->distance, &value));
  PetscFunctionReturn(0);
}
