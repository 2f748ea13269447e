/* Between a level of the multigrid and the next coarser one, one direction after the other.

   Along a direction a cell takes shares of its parent and of the parent's neighbour on its side. Which shares
   comes from the weights (halving.c); among equal ones 3/4 and 1/4. Interpolation goes along z, then y, then
   x, each time with the shares of a level that is halved in the directions to come. Restriction is the exact
   transpose, summed in an order that does not depend on the ranks. */
#include "multigrid_impl.h"

/* From every second cell of a row, `row` at the lower child of the first parent, `step` towards the other
   parent. */
ROUNDED_CLONES static void halve_lower(PetscInt count, const Share *restrict share,
                                       const PetscReal *restrict row, PetscReal *restrict half)
{
  for (PetscInt i = 0; i < count; i++)
    half[i] = SHARE_UNIT * (share_own(share[i]) * row[2 * i] + share_other(share[i + 1]) * row[2 * i + 2]);
}

ROUNDED_CLONES static void halve_upper(PetscInt count, const Share *restrict share,
                                       const PetscReal *restrict row, PetscReal *restrict half)
{
  for (PetscInt i = 0; i < count; i++)
    half[i] =
        SHARE_UNIT * (share_own(share[i]) * row[2 * i + 1] + share_other(share[i - 1]) * row[2 * i - 1]);
}

ROUNDED_CLONES static void add_upper(PetscInt count, const Share *restrict share,
                                     const PetscReal *restrict row, PetscReal *restrict half)
{
  for (PetscInt i = 0; i < count; i++)
    half[i] +=
        SHARE_UNIT * (share_own(share[i]) * row[2 * i + 1] + share_other(share[i - 1]) * row[2 * i - 1]);
}

/* Where the coefficients of a row or slab lie that box_part_seam has moved. */
static PetscInt before_parting(const GridBox *box, PetscInt d, PetscInt index)
{
  return has_seam(box, d) && index > box->cells[d] ? index - 1 : index;
}

/* Row j of slab k, halved along x. */
static void halve_row(const Level *fine, const PetscReal *row, const PetscInt at[DIM], Restricted which,
                      PetscReal *half)
{
  const GridBox *halved = &fine->halved[X];
  const PetscInt c = box_index(halved, halved->start[X], at[Y], at[Z]), width = owned_width(halved, X);
  const PetscInt red = (at[Y] + at[Z] + 2 * LEVEL_GHOST) % 2;

  if (which == ALL_CELLS || red == 0)
    halve_lower(width, fine->share[X][0] + c, row, half);
  if (which == ALL_CELLS)
    add_upper(width, fine->share[X][1] + c, row, half);
  else if (red == 1)
    halve_upper(width, fine->share[X][1] + c, row, half);
}

/* One halved row from the four rows around it, at the distance `stride`; shares at the row itself, `next`
   leads to the next one. */
ROUNDED_CLONES static void combine_rows(PetscInt count, const Share *restrict lower,
                                        const Share *restrict upper, PetscInt    next,
                                        const PetscReal *restrict rows, PetscInt stride,
                                        PetscReal *restrict sum)
{
  for (PetscInt i = 0; i < count; i++)
    sum[i] =
        SHARE_UNIT *
        ((share_other(upper[i - next]) * rows[i] + share_own(lower[i]) * rows[i + stride]) +
         (share_own(upper[i]) * rows[i + 2 * stride] + share_other(lower[i + next]) * rows[i + 3 * stride]));
}

ROUNDED_CLONES static void add_own(PetscInt count, const Share *restrict share, const PetscReal *restrict row,
                                   PetscReal *restrict sum)
{
  for (PetscInt i = 0; i < count; i++)
    sum[i] += SHARE_UNIT * share_own(share[i]) * row[i];
}

ROUNDED_CLONES static void add_other(PetscInt count, const Share *restrict share,
                                     const PetscReal *restrict row, PetscReal *restrict sum)
{
  for (PetscInt i = 0; i < count; i++)
    sum[i] += SHARE_UNIT * share_other(share[i]) * row[i];
}

/* Adds a row that is fine only across slabs to the coarse rows on either side. */
static void add_to_coarse(const Level *fine, const PetscReal *row, PetscInt J, PetscInt k, Level *coarse)
{
  const GridBox *box = &coarse->arrival_box;
  const PetscInt S = slab_direction(box), parent = half_of(k), child = k - 2 * parent;
  const PetscInt other = child ? parent + 1 : parent - 1, width = owned_width(box, X);
  const PetscInt c =
      S == Z ? box_index(box, box->start[X], J, parent) : box_index(box, box->start[X], parent, 0);
  const Share *share = fine->share[S][child] + c;

  if (parent >= box->start[S] && parent < box->end[S])
    add_own(width, share, row, coarse->arrival + c);
  if (other >= box->start[S] && other < box->end[S])
    add_other(width, share, row, coarse->arrival + c + (other - parent) * box->stride[S]);
}

void restrict_slab(const Level *fine, const PetscReal *residual, PetscInt k, Restricted which, Level *coarse,
                   PetscReal *scratch)
{
  const GridBox *box = &fine->box, *halved = &coarse->arrival_box;
  const PetscInt width = owned_width(halved, X), first = 2 * halved->start[Y] - 1;
  const PetscInt slab = before_parting(box, Z, k);

  if (box->dimension == 2) {
    halve_row(fine, residual + LEVEL_GHOST, (PetscInt[]){0, before_parting(box, Y, k), 0}, which, scratch);
    add_to_coarse(fine, scratch, 0, k, coarse);
    return;
  }
  for (PetscInt j = first; j <= 2 * halved->end[Y]; j++)
    halve_row(fine, residual + (j - box->start[Y] + LEVEL_GHOST) * box->stride[Y] + LEVEL_GHOST,
              (PetscInt[]){0, before_parting(box, Y, j), slab}, which, scratch + (j - first) * width);
  for (PetscInt J = halved->start[Y]; J < halved->end[Y]; J++) {
    const GridBox *shares = &fine->halved[Y];
    const PetscInt c = box_index(shares, shares->start[X], J, slab);
    PetscReal     *rows = scratch + 2 * (J - halved->start[Y]) * width;
    PetscReal     *row = scratch + (2 * owned_width(halved, Y) + 2) * width;

    combine_rows(width, fine->share[Y][0] + c, fine->share[Y][1] + c, shares->stride[Y], rows, width, row);
    add_to_coarse(fine, row, J, k, coarse);
  }
}

ROUNDED_CLONES static void blend(PetscInt count, const Share *restrict share,
                                 const PetscReal *restrict parent, const PetscReal *restrict other,
                                 PetscReal *restrict result)
{
  for (PetscInt i = 0; i < count; i++)
    result[i] = SHARE_UNIT * (share_own(share[i]) * parent[i] + share_other(share[i]) * other[i]);
}

void interpolate_slab(const Level *fine, const Level *coarse, PetscInt k, PetscReal *halved_slab)
{
  const GridBox *box = &coarse->arrival_box, *halved = &fine->halved[slab_direction(&fine->box)];
  const PetscInt S = slab_direction(box), parent = half_of(k), child = k - 2 * parent;
  const PetscInt other = (child ? 1 : -1) * box->stride[S], margin = LEVEL_GHOST - 1;
  const PetscInt count = owned_width(halved, X) + 2 * margin, first = halved->start[X] - margin;

  if (S == Y) {
    const PetscReal *from = coarse->departure + box_index(box, first, parent, 0);

    blend(count, fine->share[Y][child] + box_index(halved, first, parent, 0), from, from + other,
          halved_slab + 1);
    return;
  }
  for (PetscInt J = halved->start[Y] - margin; J < halved->end[Y] + margin; J++) {
    const PetscReal *from = coarse->departure + box_index(box, first, J, parent);

    blend(count, fine->share[Z][child] + box_index(halved, first, J, parent), from, from + other,
          halved_slab + (J - halved->start[Y] + LEVEL_GHOST) * halved->stride[Y] + 1);
  }
}

const PetscReal *interpolate_row(const Level *fine, const PetscReal *halved_slab, PetscInt j, PetscInt k,
                                 PetscReal *halved_row)
{
  const GridBox   *halved = &fine->halved[Y];
  const PetscInt   pitch = halved->stride[Y], parent = half_of(j), child = j - 2 * parent;
  const PetscReal *from = halved_slab + (parent - halved->start[Y] + LEVEL_GHOST) * pitch + 1;

  if (fine->box.dimension == 2)
    return halved_slab;
  blend(pitch - 2, fine->share[Y][child] + box_index(halved, halved->start[X] - LEVEL_GHOST + 1, parent, k),
        from, from + (child ? pitch : -pitch), halved_row + 1);
  return halved_row;
}
