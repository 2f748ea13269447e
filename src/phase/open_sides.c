/* Sides that fluid passes (docs/numerics.md, section 12). What leaves is carried out as it flows. Where
   something flows in, it is one region r, whatever lies inside: at the depth x below the side

     phi_r <= x,   phi_j >= -x for all others,

   so that the interface lies at the side at the latest, and from there goes in with the flow. */
#include "phase_impl.h"
#include "crossing.h"

enum {
  LAYERS_BESIDE = GHOST_WIDTH
}; /* cells that learn of an interface at the side; every rank has as many */

static BeyondSide beyond_side(PetscInt outer, PetscInt region)
{
  if (outer == NO_OUTER_REGION)
    return BEYOND_SIDE_MIRROR;
  return outer == region ? BEYOND_SIDE_INSIDE : BEYOND_SIDE_OUTSIDE;
}

/* The owned cells beside a side. */
static GridRange cells_beside(const GridBox *box, PetscInt d, PetscInt side)
{
  GridRange range = box_grown(box, 0);

  range.start[d] = side ? box->end[d] - 1 : box->start[d];
  range.end[d] = range.start[d] + 1;
  return range;
}

static void mark_above(Phase phase, PetscInt d, PetscInt side, PetscReal *marks)
{
  const GridBox  *box = grid_box(phase->grid);
  const GridRange range = cells_beside(box, d, side);

  FOR_CELLS(&range, i, j, k)
    if (vector3_dot(phase->up, grid_cell_centre(phase->grid, i, j, k)) > phase->outer[d][side].level)
      marks[box_index(box, i, j, k)] += side_bit(SIDE_MARK_ABOVE, d, side);
}

/* Forgets where something flows in. */
static PetscErrorCode ResetMarks(Phase phase)
{
  PetscReal *marks;

  PetscFunctionBegin;
  PetscCall(VecSet(phase->side_marks, 0.));
  PetscCall(VecGetArray(phase->side_marks, &marks));
  for (PetscInt n = 0; n < 2 * grid_box(phase->grid)->dimension; n++)
    if (side_is_open(phase, n / 2, n % 2))
      mark_above(phase, n / 2, n % 2, marks);
  PetscCall(VecRestoreArray(phase->side_marks, &marks));
  PetscFunctionReturn(0);
}

PetscErrorCode PhaseSetSides(Phase phase, const OuterRegions outer, Vector3 up)
{
  PetscFunctionBegin;
  phase->up = up;
  for (PetscInt n = 0; n < 2 * DIM; n++) {
    phase->outer[n / 2][n % 2] = outer[n / 2][n % 2];
    if (outer[n / 2][n % 2].region != NO_OUTER_REGION && !phase->side_marks)
      PetscCall(MacGridCreateField(phase->grid, &phase->side_marks));
  }
  for (PetscInt r = 0; r < phase->count; r++) {
    phase->level_sides[r].marks = phase->side_marks;
    for (PetscInt n = 0; n < 2 * DIM; n++) {
      phase->level_sides[r].beyond[n / 2][n % 2] = beyond_side(outer[n / 2][n % 2].region, r);
      phase->level_sides[r].above[n / 2][n % 2] = beyond_side(outer[n / 2][n % 2].above, r);
    }
    PetscCall(LevelSetSetSides(phase->level_sets[r], &phase->level_sides[r]));
  }
  if (!phase->side_marks)
    PetscFunctionReturn(0);
  PetscCall(ResetMarks(phase));
  PetscCall(MacGridMirrorGhosts(phase->grid, phase->side_marks));
  PetscFunctionReturn(0);
}

/* Marks the cells beside which a region flows in that is not their own. */
static void mark_entering(Phase phase, PetscInt d, PetscInt side, const PetscReal *u, PetscReal dt,
                          PetscReal *const distances[], PetscReal *marks)
{
  const GridBox  *box = grid_box(phase->grid);
  const GridRange range = cells_beside(box, d, side);
  const PetscReal equal = MILLRACE_ROUND_OFF * grid_spacing(phase->grid);

  FOR_CELLS(&range, i, j, k) {
    const PetscInt  c = box_index(box, i, j, k);
    const PetscReal into = side ? -u[c + box->stride[d]] : u[c];

    if (into * dt > equal && distances[outer_region(phase, marks[c], d, side)][c] > equal)
      marks[c] += side_bit(SIDE_MARK_ENTERING, d, side);
  }
}

/* The interface lies at the side at the latest. Whether anything has changed. */
static PetscBool cut_at_side(Phase phase, PetscInt d, PetscInt side, const PetscReal *marks,
                             PetscReal *const distances[])
{
  const GridBox  *box = grid_box(phase->grid);
  const GridRange range = cells_beside(box, d, side);
  const PetscInt  inwards = (side ? -1 : 1) * box->stride[d];
  PetscBool       changed = PETSC_FALSE;

  FOR_CELLS(&range, i, j, k) {
    const PetscInt c = box_index(box, i, j, k), outer = outer_region(phase, marks[c], d, side);

    if (!has_side_mark(marks[c], SIDE_MARK_ENTERING, d, side))
      continue;
    for (PetscInt n = 0; n < phase->count; n++)
      for (PetscInt layer = 0; layer < LAYERS_BESIDE; layer++) {
        const PetscReal depth = (layer + 0.5) * grid_spacing(phase->grid);
        PetscReal      *distance = distances[n] + c + layer * inwards;
        const PetscReal value = n == outer ? PetscMin(*distance, depth) : PetscMax(*distance, -depth);

        changed = changed || value != *distance ? PETSC_TRUE : PETSC_FALSE;
        *distance = value;
      }
  }
  return changed;
}

/* `changed`: unlike in the last step. */
static PetscErrorCode FindEntering(Phase phase, Vec velocity[DIM], PetscReal dt, PetscReal *const distances[],
                                   PetscBool *changed)
{
  const Vec  before = phase->scratch[0];
  PetscReal *u[DIM], *marks;
  PetscBool  same;

  PetscFunctionBegin;
  PetscCall(VecCopy(phase->side_marks, before));
  PetscCall(ResetMarks(phase));
  PetscCall(MacGridGetFaces(phase->grid, velocity, u));
  PetscCall(VecGetArray(phase->side_marks, &marks));
  for (PetscInt n = 0; n < 2 * grid_box(phase->grid)->dimension; n++)
    if (side_is_open(phase, n / 2, n % 2))
      mark_entering(phase, n / 2, n % 2, u[n / 2], dt, distances, marks);
  PetscCall(VecRestoreArray(phase->side_marks, &marks));
  PetscCall(MacGridRestoreFaces(phase->grid, velocity, u));
  PetscCall(MacGridMirrorGhosts(phase->grid, phase->side_marks));
  PetscCall(VecEqual(phase->side_marks, before, &same));
  *changed = !same;
  PetscFunctionReturn(0);
}

PetscErrorCode PhaseLetIn(Phase phase, Vec velocity[DIM], PetscReal dt)
{
  const GridBox   *box = grid_box(phase->grid);
  const PetscReal *marks;
  PetscReal       *distances[REGIONS_MAX];
  PetscBool        changed;

  PetscFunctionBegin;
  if (!phase->side_marks)
    PetscFunctionReturn(0);
  PetscCall(PhaseGetDistances(phase, distances));
  PetscCall(FindEntering(phase, velocity, dt, distances, &changed));
  PetscCall(VecGetArrayRead(phase->side_marks, &marks));
  for (PetscInt n = 0; n < 2 * box->dimension; n++)
    if (side_is_open(phase, n / 2, n % 2) && cut_at_side(phase, n / 2, n % 2, marks, distances))
      changed = PETSC_TRUE;
  PetscCall(VecRestoreArrayRead(phase->side_marks, &marks));
  PetscCall(PhaseRestoreDistances(phase, distances));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &changed, 1, MPIU_BOOL, MPI_LOR, box->comm));
  if (changed)
    PetscCall(PhaseRefresh(phase));
  PetscFunctionReturn(0);
}

void empty_ghosts_of_sides(Phase phase, PetscReal *regions)
{
  const GridBox *box = grid_box(phase->grid);

  for (PetscInt d = 0; d < box->dimension; d++)
    for (PetscInt side = 0; side < 2; side++) {
      const PetscInt inwards = (side ? -1 : 1) * box->stride[d];
      GridRange      range = box_grown(box, box->ghost);

      range.start[d] = side ? box->end[d] - 1 : box->start[d];
      range.end[d] = range.start[d] + 1;
      if (!side_is_open(phase, d, side))
        continue;
      FOR_CELLS(&range, i, j, k) {
        const PetscInt c = box_index(box, i, j, k);

        for (PetscInt m = 1; region_is_empty(phase, (PetscInt)regions[c] - 1) && m <= box->ghost; m++)
          regions[c - m * inwards] = regions[c];
      }
    }
}

/* One over the mean density of the half cell between the centre and the side; the fluid takes it twice. An
   interface beyond the side is none. */
static PetscReal side_mobility(Phase phase, const Crossing *crossing, PetscInt side)
{
  const PetscReal least = 1e-3; /* of a cell, as in mixture.c */
  const PetscInt  inner = side ? crossing->lower : crossing->upper,
                 outer = side ? crossing->upper : crossing->lower;
  const PetscReal way = PetscMax(least, PetscMin(0.5, side ? crossing->theta : 1. - crossing->theta));
  const PetscReal mass = way * region_density(phase, inner) + (0.5 - way) * region_density(phase, outer);

  return mass > 0. ? 0.5 / mass : 0.;
}

PetscErrorCode PhaseUpdateSideMobility(Phase phase, Vec mobility[DIM])
{
  const GridBox *box = grid_box(phase->grid);
  PetscReal     *faces[DIM];
  Crossings      crossings;

  PetscFunctionBegin;
  PetscCall(PhaseGetCrossings(phase, &crossings));
  PetscCall(MacGridGetFaces(phase->grid, mobility, faces));
  for (PetscInt d = 0; d < box->dimension; d++)
    for (PetscInt side = 0; side < 2; side++) {
      GridRange range = box_grown(box, MIXTURE_GHOSTS);

      range.start[d] = side ? box->end[d] : box->start[d];
      range.end[d] = range.start[d] + 1;
      if (!side_is_open(phase, d, side))
        continue;
      FOR_CELLS(&range, i, j, k) {
        const PetscInt c = box_index(box, i, j, k);
        const Crossing crossing = crossing_below(&crossings, c, d);

        if (crossing.lower != crossing.upper && !crossing.blocked)
          faces[d][c] = side_mobility(phase, &crossing, side);
      }
    }
  PetscCall(MacGridRestoreFaces(phase->grid, mobility, faces));
  PetscCall(PhaseRestoreCrossings(phase, &crossings));
  PetscFunctionReturn(0);
}
