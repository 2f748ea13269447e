/* Interfaces at obstacles. A closed cell takes the mean of the distances in the face neighbours that are one
   layer nearer to the fluid: constant along the normal of a wall, which is a contact angle of 90 degrees, and
   a region for every cell that may be uncovered. Deeper cells are carried along with the obstacle. */
#include "phase_impl.h"

enum { OPEN = 0, DEEP = 100, OUTSIDE = 101 }; /* depths; those of layers are between */

static PetscBool is_inside(const GridBox *box, PetscInt d, PetscInt index)
{
  return d >= box->dimension || box->periodic[d] || (index >= 0 && index < box->cells[d]) ? PETSC_TRUE
                                                                                          : PETSC_FALSE;
}

/* Open, closed or beyond a side, for a row of cells, ghosts included. */
static void mark_row(const GridBox *box, PetscInt width, const PetscReal *closed, unsigned char *depth)
{
  for (PetscInt x = 0; x < width; x++)
    depth[x] = closed[x] > 0. ? DEEP : OPEN;
  for (PetscInt x = 0; x < box->ghost; x++) {
    if (!is_inside(box, X, box->start[X] - 1 - x))
      depth[box->ghost - 1 - x] = OUTSIDE;
    if (!is_inside(box, X, box->end[X] + x))
      depth[width - box->ghost + x] = OUTSIDE;
  }
}

/* Lists the closed cells; not those of the outermost ghosts, whose neighbours are not here. */
static PetscErrorCode ListClosed(Phase phase, const PetscReal *closed)
{
  const GridBox  *box = grid_box(phase->grid);
  const GridRange range = box_grown(box, box->ghost);
  const PetscInt  width = range.end[X] - range.start[X];
  PetscInt        room = phase->closed_room;

  PetscFunctionBegin;
  phase->closed_count = 0;
  FOR_ROWS(&range, j, k) {
    const PetscInt  row = box_index(box, range.start[X], j, k);
    const PetscBool edge = j == range.start[Y] || j == range.end[Y] - 1 ||
                           (box->dimension == 3 && (k == range.start[Z] || k == range.end[Z] - 1));

    if (!is_inside(box, Y, j) || !is_inside(box, Z, k)) {
      memset(phase->depth + row, OUTSIDE, width);
      continue;
    }
    mark_row(box, width, closed + row, phase->depth + row);
    if (phase->closed_count + width > room) {
      room = 2 * (phase->closed_count + width);
      PetscCall(PetscRealloc(room * sizeof(PetscInt), &phase->closed_cells));
    }
    for (PetscInt c = row + 1; c < row + width - 1 && !edge; c++)
      if (phase->depth[c] == DEEP)
        phase->closed_cells[phase->closed_count++] = c;
  }
  phase->closed_room = room;
  PetscFunctionReturn(0);
}

/* Whether the neighbour of a cell along d lies at a depth, and no shell between them. */
static PetscBool neighbour_has_depth(Phase phase, PetscInt c, PetscInt d, PetscInt side, PetscInt wanted)
{
  if (phase->depth[c + side * grid_box(phase->grid)->stride[d]] != wanted)
    return PETSC_FALSE;
  return phase->visibility_map && face_is_blocked(phase->visibility_map, STEP_END, c, d, side) ? PETSC_FALSE
                                                                                               : PETSC_TRUE;
}

static PetscBool has_neighbour_of_depth(Phase phase, PetscInt c, PetscInt wanted)
{
  for (PetscInt d = 0; d < grid_box(phase->grid)->dimension; d++)
    if (neighbour_has_depth(phase, c, d, -1, wanted) || neighbour_has_depth(phase, c, d, 1, wanted))
      return PETSC_TRUE;
  return PETSC_FALSE;
}

PetscErrorCode PhaseFindLayers(Phase phase, Vec closed)
{
  const GridBox   *box = grid_box(phase->grid);
  const PetscReal *marks;
  PetscInt         found = 0;

  PetscFunctionBegin;
  phase->closed_count = 0;
  for (PetscInt layer = 0; layer <= CLOSED_LAYERS; layer++)
    phase->layer_end[layer] = 0;
  if (!closed)
    PetscFunctionReturn(0);
  if (!phase->depth)
    PetscCall(PetscMalloc1(box->length, &phase->depth));
  PetscCall(VecGetArrayRead(closed, &marks));
  PetscCall(ListClosed(phase, marks));
  PetscCall(VecRestoreArrayRead(closed, &marks));
  /* moves the cells of each layer to the front of the list */
  for (PetscInt layer = 1; layer <= CLOSED_LAYERS; layer++) {
    for (PetscInt m = found; m < phase->closed_count; m++) {
      const PetscInt c = phase->closed_cells[m];

      if (!has_neighbour_of_depth(phase, c, layer - 1))
        continue;
      phase->depth[c] = (unsigned char)layer;
      phase->closed_cells[m] = phase->closed_cells[found];
      phase->closed_cells[found++] = c;
    }
    phase->layer_end[layer] = found;
  }
  PetscFunctionReturn(0);
}

/* The mean over the neighbours of the layer before. */
static PetscReal mean_from(Phase phase, const PetscReal *distance, PetscInt c)
{
  const GridBox *box = grid_box(phase->grid);
  const PetscInt before = phase->depth[c] - 1;
  PetscReal      sum = 0.;
  PetscInt       count = 0;

  for (PetscInt d = 0; d < box->dimension; d++)
    for (PetscInt side = -1; side <= 1; side += 2) {
      if (!neighbour_has_depth(phase, c, d, side, before))
        continue;
      sum += distance[c + side * box->stride[d]];
      count++;
    }
  return sum / count;
}

PetscErrorCode PhaseExtendIntoClosed(Phase phase)
{
  PetscReal *distances[REGIONS_MAX];

  PetscFunctionBegin;
  if (!phase->closed_count)
    PetscFunctionReturn(0);
  PetscCall(PhaseGetDistances(phase, distances));
  for (PetscInt n = 0; n < phase->count; n++)
    for (PetscInt m = 0; m < phase->layer_end[CLOSED_LAYERS]; m++) {
      const PetscInt  c = phase->closed_cells[m];
      const PetscReal mean = mean_from(phase, distances[n], c);

      distances[n][c] = PetscMax(-phase->band, PetscMin(mean, phase->band));
    }
  PetscCall(PhaseRestoreDistances(phase, distances));
  PetscFunctionReturn(0);
}
