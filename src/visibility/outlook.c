/* Which neighbours have a shell between them: asked once per step for every pair of cells near a shell, by
   the owner of the upper one, and told to all who hold it as a ghost. So all ranks agree. */
#include <millrace/outlook.h>

enum { SCREENED_BIT = 1 << 2 * DIM };
static const PetscInt reach = 3; /* of the widest stencils, in cells */

PetscErrorCode OutlookCreate(MacGrid grid, Outlook **outlook)
{
  const PetscInt length = grid_box(grid)->length;

  PetscFunctionBegin;
  PetscCall(PetscNew(outlook));
  (*outlook)->grid = grid;
  PetscCall(PetscCalloc3(length, &(*outlook)->shut[STEP_START], length, &(*outlook)->shut[STEP_END], length,
                         &(*outlook)->screened));
  PetscCall(PetscMalloc1(length, &(*outlook)->cells));
  PetscCall(MacGridCreateField(grid, &(*outlook)->marks));
  PetscFunctionReturn(0);
}

PetscErrorCode OutlookDestroy(Outlook **outlook)
{
  PetscFunctionBegin;
  if (!*outlook)
    PetscFunctionReturn(0);
  PetscCall(VecDestroy(&(*outlook)->marks));
  PetscCall(PetscFree3((*outlook)->shut[STEP_START], (*outlook)->shut[STEP_END], (*outlook)->screened));
  PetscCall(PetscFree((*outlook)->cells));
  PetscCall(PetscFree(*outlook));
  PetscFunctionReturn(0);
}

/* Bits of both moments: those of the end stand DIM places higher. */
static PetscInt bits_at(const Outlook *outlook, const PetscInt at[DIM])
{
  const GridBox *box = grid_box(outlook->grid);
  const Vector3  own = grid_cell_center(outlook->grid, at[X], at[Y], at[Z]);
  PetscInt       bits = 0;

  for (PetscInt d = 0; d < box->dimension; d++) {
    Vector3 other = own;

    if (at[d] == 0 && !box->periodic[d])
      continue;
    other.at[d] -= grid_spacing(outlook->grid);
    for (StepMoment moment = STEP_START; moment <= STEP_END; moment++)
      if (outlook->visibility->blocks(outlook->visibility->context, moment, other, own))
        bits |= 1 << (d + DIM * (PetscInt)moment);
  }
  return bits;
}

static PetscErrorCode Ask(const Outlook *outlook, PetscReal *marks)
{
  const GridBox   *box = grid_box(outlook->grid);
  const PetscReal *near;
  PetscInt         at[DIM];

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(outlook->visibility->near, &near));
  for (at[Z] = box->start[Z]; at[Z] < box->end[Z]; at[Z]++)
    for (at[Y] = box->start[Y]; at[Y] < box->end[Y]; at[Y]++)
      for (at[X] = box->start[X]; at[X] < box->end[X]; at[X]++) {
        const PetscInt c = box_index(box, at[X], at[Y], at[Z]);

        marks[c] = near[c] > 0. ? (PetscReal)bits_at(outlook, at) : 0.;
      }
  PetscCall(VecRestoreArrayRead(outlook->visibility->near, &near));
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
  const PetscInt inwards = (side ? -1 : 1) * box->stride[direction];
  PetscInt       low[DIM], high[DIM], at[DIM];

  for (PetscInt d = 0; d < DIM; d++) {
    const PetscInt ghost = d < direction && d < box->dimension ? box->ghost : 0;

    low[d] = box->start[d] - ghost;
    high[d] = box->end[d] + ghost;
  }
  low[direction] = side ? box->end[direction] - 1 : box->start[direction];
  high[direction] = low[direction] + 1;
  for (at[Z] = low[Z]; at[Z] < high[Z]; at[Z]++)
    for (at[Y] = low[Y]; at[Y] < high[Y]; at[Y]++)
      for (at[X] = low[X]; at[X] < high[X]; at[X]++) {
        const PetscInt c = box_index(box, at[X], at[Y], at[Z]);

        for (PetscInt n = 0; n < box->ghost; n++)
          marks[c - (n + 1) * inwards] = mirrored_mark(marks + c, n, inwards, direction);
      }
}

static PetscErrorCode FillGhosts(const Outlook *outlook, PetscReal *marks)
{
  const GridBox *box = grid_box(outlook->grid);

  PetscFunctionBegin;
  PetscCall(MacGridExchange(outlook->grid, outlook->marks));
  for (PetscInt d = 0; d < box->dimension; d++)
    for (PetscInt side = 0; side < 2; side++)
      if (box->neighbour[d][side] == MPI_PROC_NULL)
        mirror(box, marks, d, side);
  PetscCall(MacGridExchange(outlook->grid, outlook->marks));
  PetscFunctionReturn(0);
}

/* Spreads the marks of shut faces in every direction; right in owned cells. `work` is as long. */
static void spread(const GridBox *box, unsigned char *screened, unsigned char *work)
{
  for (PetscInt d = 0; d < box->dimension; d++)
    for (PetscInt layer = 0; layer < reach; layer++) {
      const PetscInt stride = box->stride[d];

      memcpy(work, screened, (size_t)box->length);
      for (PetscInt c = stride; c < box->length - stride; c++)
        screened[c] = work[c - stride] | work[c] | work[c + stride];
    }
}

static PetscErrorCode FindScreened(Outlook *outlook, PetscReal *marks)
{
  const GridBox *box = grid_box(outlook->grid);

  PetscFunctionBegin;
  for (PetscInt c = 0; c < box->length; c++)
    outlook->screened[c] = marks[c] > 0.;
  spread(box, outlook->screened, outlook->shut[STEP_START]);
  outlook->count = 0;
  for (PetscInt k = box->start[Z]; k < box->end[Z]; k++)
    for (PetscInt j = box->start[Y]; j < box->end[Y]; j++)
      for (PetscInt i = box->start[X]; i < box->end[X]; i++) {
        const PetscInt c = box_index(box, i, j, k);

        if (!outlook->screened[c])
          continue;
        outlook->cells[outlook->count++] = c;
        marks[c] += SCREENED_BIT;
      }
  PetscCall(FillGhosts(outlook, marks));
  PetscFunctionReturn(0);
}

PetscErrorCode OutlookUpdate(Outlook *outlook, const Visibility *visibility)
{
  const GridBox *box = grid_box(outlook->grid);
  PetscReal     *marks;

  PetscFunctionBegin;
  outlook->visibility = visibility;
  PetscCall(VecSet(outlook->marks, 0.));
  PetscCall(VecGetArray(outlook->marks, &marks));
  if (visibility)
    PetscCall(Ask(outlook, marks));
  PetscCall(FillGhosts(outlook, marks));
  PetscCall(FindScreened(outlook, marks));
  for (PetscInt c = 0; c < box->length; c++) {
    const PetscInt bits = (PetscInt)marks[c];

    outlook->shut[STEP_START][c] = (unsigned char)(bits & 7);
    outlook->shut[STEP_END][c] = (unsigned char)(bits >> DIM & 7);
    outlook->screened[c] = bits & SCREENED_BIT ? 1 : 0;
  }
  PetscCall(VecRestoreArray(outlook->marks, &marks));
  PetscFunctionReturn(0);
}
