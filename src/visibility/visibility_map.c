/* Which neighbours have a shell between them: asked once per step for every pair of cells near a shell, by
   the owner of the upper one, and told to all who hold it as a ghost. So all ranks agree. */
#include <millrace/visibility_map.h>

enum { NEAR_SHELL_BIT = 1 << 2 * DIM };
static const PetscInt reach = 3; /* of the widest stencils, in cells */

PetscErrorCode VisibilityMapCreate(MacGrid grid, VisibilityMap **map)
{
  const PetscInt length = grid_box(grid)->length;

  PetscFunctionBegin;
  PetscCall(PetscNew(map));
  (*map)->grid = grid;
  PetscCall(PetscCalloc3(length, &(*map)->blocked[STEP_START], length, &(*map)->blocked[STEP_END], length,
                         &(*map)->near_shell));
  PetscCall(PetscMalloc1(length, &(*map)->cells));
  PetscCall(MacGridCreateField(grid, &(*map)->marks));
  PetscFunctionReturn(0);
}

PetscErrorCode VisibilityMapDestroy(VisibilityMap **map)
{
  PetscFunctionBegin;
  if (!*map)
    PetscFunctionReturn(0);
  PetscCall(VecDestroy(&(*map)->marks));
  PetscCall(PetscFree3((*map)->blocked[STEP_START], (*map)->blocked[STEP_END], (*map)->near_shell));
  PetscCall(PetscFree((*map)->cells));
  PetscCall(PetscFree(*map));
  PetscFunctionReturn(0);
}

/* Bits of both moments: those of the end stand DIM places higher. */
static PetscInt bits_at(const VisibilityMap *map, const PetscInt at[DIM])
{
  const GridBox *box = grid_box(map->grid);
  const Vector3  own = grid_cell_centre(map->grid, at[X], at[Y], at[Z]);
  PetscInt       bits = 0;

  for (PetscInt d = 0; d < box->dimension; d++) {
    Vector3 other = own;

    if (at[d] == 0 && !box->periodic[d])
      continue;
    other.at[d] -= grid_spacing(map->grid);
    for (StepMoment moment = STEP_START; moment <= STEP_END; moment++)
      if (map->visibility->blocks(map->visibility->context, moment, other, own))
        bits |= 1 << (d + DIM * (PetscInt)moment);
  }
  return bits;
}

static PetscErrorCode MarkBlockedFaces(const VisibilityMap *map, PetscReal *marks)
{
  const GridBox   *box = grid_box(map->grid);
  const PetscReal *near;

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(map->visibility->near, &near));
  FOR_PLACES(box, at) {
    const PetscInt c = box_index(box, at[X], at[Y], at[Z]);

    marks[c] = near[c] > 0. ? (PetscReal)bits_at(map, at) : 0.;
  }
  PetscCall(VecRestoreArrayRead(map->visibility->near, &near));
  PetscFunctionReturn(0);
}

/* Beyond a side lies the mirror image. Its face n + 1 from the side is the face n + 1 on this side of it; the
   side itself is open. */
static PetscReal mirrored_mark(const PetscReal *mark, PetscInt n, PetscInt inwards, PetscInt direction)
{
  const PetscInt normal = (1 | 1 << DIM) << direction;
  const PetscInt knows = inwards > 0 ? n + 1 : n - 1; /* cells from the side to the one that knows the face */
  const PetscInt across = knows < 0 ? 0 : (PetscInt)mark[knows * inwards];

  return (PetscReal)(((PetscInt)mark[n * inwards] & ~normal) | (across & normal));
}

static void mirror(const GridBox *box, PetscReal *marks, PetscInt direction, PetscInt side)
{
  const GridRange layer = box_side_layer(box, direction, side);
  const PetscInt  inwards = (side ? -1 : 1) * box->stride[direction];

  FOR_CELLS(&layer, i, j, k) {
    const PetscInt c = box_index(box, i, j, k);

    for (PetscInt n = 0; n < box->ghost; n++)
      marks[c - (n + 1) * inwards] = mirrored_mark(marks + c, n, inwards, direction);
  }
}

static PetscErrorCode FillGhosts(const VisibilityMap *map, PetscReal *marks)
{
  const GridBox *box = grid_box(map->grid);

  PetscFunctionBegin;
  PetscCall(MacGridExchange(map->grid, map->marks));
  for (PetscInt d = 0; d < box->dimension; d++)
    for (PetscInt side = 0; side < 2; side++)
      if (box->neighbour[d][side] == MPI_PROC_NULL)
        mirror(box, marks, d, side);
  PetscCall(MacGridExchange(map->grid, map->marks));
  PetscFunctionReturn(0);
}

/* Spreads the marks of blocked faces in every direction; right in owned cells. `work` is as long. */
static void spread(const GridBox *box, unsigned char *near_shell, unsigned char *work)
{
  for (PetscInt d = 0; d < box->dimension; d++)
    for (PetscInt layer = 0; layer < reach; layer++) {
      const PetscInt stride = box->stride[d];

      memcpy(work, near_shell, (size_t)box->length);
      for (PetscInt c = stride; c < box->length - stride; c++)
        near_shell[c] = work[c - stride] | work[c] | work[c + stride];
    }
}

static PetscErrorCode FindCellsNearShells(VisibilityMap *map, PetscReal *marks)
{
  const GridBox *box = grid_box(map->grid);

  PetscFunctionBegin;
  for (PetscInt c = 0; c < box->length; c++)
    map->near_shell[c] = marks[c] > 0.;
  spread(box, map->near_shell, map->blocked[STEP_START]);
  map->count = 0;
  FOR_CELLS(box, i, j, k) {
    const PetscInt c = box_index(box, i, j, k);

    if (!map->near_shell[c])
      continue;
    map->cells[map->count++] = c;
    marks[c] += NEAR_SHELL_BIT;
  }
  PetscCall(FillGhosts(map, marks));
  PetscFunctionReturn(0);
}

PetscErrorCode VisibilityMapUpdate(VisibilityMap *map, const Visibility *visibility)
{
  const GridBox *box = grid_box(map->grid);
  PetscReal     *marks;

  PetscFunctionBegin;
  map->visibility = visibility;
  PetscCall(VecSet(map->marks, 0.));
  PetscCall(VecGetArray(map->marks, &marks));
  if (visibility)
    PetscCall(MarkBlockedFaces(map, marks));
  PetscCall(FillGhosts(map, marks));
  PetscCall(FindCellsNearShells(map, marks));
  for (PetscInt c = 0; c < box->length; c++) {
    const PetscInt bits = (PetscInt)marks[c];

    map->blocked[STEP_START][c] = (unsigned char)(bits & 7);
    map->blocked[STEP_END][c] = (unsigned char)(bits >> DIM & 7);
    map->near_shell[c] = bits & NEAR_SHELL_BIT ? 1 : 0;
  }
  PetscCall(VecRestoreArray(map->marks, &marks));
  PetscFunctionReturn(0);
}
