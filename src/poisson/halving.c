/* One direction of a level halved, as if the cells were resistors in a row.

   The node of a parent lies half-way between its two children, which are joined by the weight w, so that each
   child is 1/(2w) away from it. With the weight f of the face to the next parent, whose children are joined
   by v, and a weight g to p = 0 along the same direction:

     link of the child to the other parent   L = 1 / (1/f + 1/(2v))
     its shares                              own = 1 / (1 + (L + g)/(2w)),  other = own L/(2w)
     weight between the parents              1 / (1/(2w) + 1/f + 1/(2v))
     weight of the parent to p = 0           sum over both children of 1 / (1/g + 1/(2w))

   In one dimension this is the exact elimination. Where w = 0 the child has no sibling that counts: the node
   is at the child if p = 0 takes the sibling's place (1/(2w) := 0), else where it would be without the wall
   (w := f). The two outer terms of the third line are taken from the sums over the rows that the next
   passes will add up: where weights scatter, currents find a way around. Weights across the direction add up,
   a part going to the other parent: the mean of the two cells' shares in it, or none where one of them has
   none. Nothing that was joined comes apart, and nothing is joined through a face without a weight. */
#include "halving_impl.h"

enum { LINE_ROWS = 5 }; /* weights and ground of a Line that make a loss */

/* A pass along one direction; rows start LEVEL_GHOST cells before the owned ones. */
typedef struct {
  Level            *level;
  PetscInt          direction;
  const GridBox    *box, *halved;
  const Conductors *from;          /* on `box`; null along x: the level itself */
  Conductors       *to;            /* on `halved` */
  float            *rows[2 * DIM]; /* weights and ground of one row of the level */
  float            *sums[LINE_ROWS];
  float            *loss; /* of the row `loss_of` and its siblings in the same slab */
  PetscInt          loss_of[DIM];
  const float      *zeros;
} HalvingPass;

/* Whether row (j, k) of the finest level has ground along e. */
static PetscBool may_touch_zero(const HalvingPass *pass, PetscInt e, PetscInt j, PetscInt k)
{
  const PetscInt index = e == Y ? j : k;

  if (pass->level->has_fixed || e == X)
    return PETSC_TRUE;
  return index <= 0 || index >= pass->box->cells[e] - 1 ? PETSC_TRUE : PETSC_FALSE;
}

static void part_row(const HalvingPass *pass, float *row)
{
  GridBox box = *pass->box;

  box.length = box.stride[Y];
  box_part_seam(&box, X, row, sizeof(*row));
}

static const float *weight_row(const HalvingPass *pass, PetscInt e, PetscInt j, PetscInt k)
{
  const GridBox  *box = pass->box;
  const Level    *level = pass->level;
  const PetscInt  c = box_index(box, box->start[X] - LEVEL_GHOST, j, k);
  const PetscBool mixed =
      !pass->from && !level->ground[X] && level->grounded[e] && may_touch_zero(pass, e, j, k);

  if (pass->from)
    return pass->from->weight[e] + c;
  if (!mixed && !has_seam(box, X) && c + box->stride[Y] < box->length) /* the last is read a cell further */
    return level->weight[e] + c;
  if (mixed)
    inner_faces(box->stride[Y] - 1, box->stride[e], level->weight[e] + c + 1, level->inverse + c + 1,
                pass->rows[e] + 1); /* nobody asks for the first, and it may be that of the array */
  else
    memcpy(pass->rows[e], level->weight[e] + c, box->stride[Y] * sizeof(float));
  part_row(pass, pass->rows[e]);
  return pass->rows[e];
}

/* Of owned cells and their next neighbours; zero beyond. */
static const float *ground_row(const HalvingPass *pass, PetscInt e, PetscInt j, PetscInt k)
{
  const GridBox *box = pass->box;
  const Level   *level = pass->level;
  const PetscInt c = box_index(box, box->start[X] - LEVEL_GHOST, j, k), count = owned_width(box, X) + 3;
  float         *row = pass->rows[DIM + e];

  if (!level->grounded[e])
    return pass->zeros;
  if (pass->from)
    return pass->from->ground[e] + c;
  if (j > box->end[Y] + 1 || (box->dimension == 3 && k > box->end[Z] + 1))
    return pass->zeros;
  if (level->ground[e] && !has_seam(box, X))
    return level->ground[e] + c;
  if (level->ground[e])
    memcpy(row, level->ground[e] + c, box->stride[Y] * sizeof(float));
  else if (may_touch_zero(pass, e, j, k))
    outer_faces(count, box->stride[e], level->weight[e] + c + 2, level->inverse + c + 2, row + 2);
  else
    return pass->zeros;
  part_row(pass, row);
  return row;
}

/* A child of row `at`, or along x the row itself, from its first owned cell on. */
static const float *child_row(const HalvingPass *pass, PetscInt e, const PetscInt at[DIM], PetscInt child)
{
  PetscInt where[DIM] = {0, at[Y], at[Z]};

  if (pass->direction != X)
    where[pass->direction] = 2 * at[pass->direction] + child;
  return weight_row(pass, e, where[Y], where[Z]) + LEVEL_GHOST;
}

static const float *child_ground(const HalvingPass *pass, PetscInt e, const PetscInt at[DIM], PetscInt child)
{
  PetscInt where[DIM] = {0, at[Y], at[Z]};

  if (pass->direction != X)
    where[pass->direction] = 2 * at[pass->direction] + child;
  return ground_row(pass, e, where[Y], where[Z]) + LEVEL_GHOST;
}

static Line line_at(const HalvingPass *pass, const PetscInt at[DIM])
{
  const PetscInt d = pass->direction;
  const float   *row = child_row(pass, d, at, 0), *ground = child_ground(pass, d, at, 0);
  const PetscInt step = d == X ? 1 : pass->box->stride[d];
  const PetscInt ground_step = d == X || pass->level->grounded[d] ? step : 0;

  return (Line){.before = row - step,
                .lower = row,
                .inner = row + step,
                .upper = row + 2 * step,
                .after = row + 3 * step,
                .ground_before = ground - ground_step,
                .ground_low = ground,
                .ground_high = ground + ground_step,
                .ground_after = ground + 2 * ground_step};
}

/* The second child of the last parent of an odd number of cells. */
static PetscBool lacks_child(const HalvingPass *pass, PetscInt parent)
{
  return 2 * parent + 1 >= pass->box->cells[pass->direction] ? PETSC_TRUE : PETSC_FALSE;
}

static void share_row(const HalvingPass *pass, const PetscInt at[DIM])
{
  const GridBox *halved = pass->halved;
  const PetscInt d = pass->direction, width = owned_width(halved, X);
  const PetscInt c = box_index(halved, halved->start[X], at[Y], at[Z]);
  const Line     line = line_at(pass, at);
  Share         *low = pass->level->share[d][0] + c, *high = pass->level->share[d][1] + c;

  if (d != X) {
    share_across(width, &line, low, high);
    if (lacks_child(pass, at[d]))
      memset(high, 0, width * sizeof(*high));
    return;
  }
  share_x(width, &line, low, high);
  clear_outside(width, pass->level->inverse + box_index(pass->box, pass->box->start[X], at[Y], at[Z]), low,
                high);
  if (lacks_child(pass, halved->end[X] - 1))
    high[width - 1] = 0;
}

/* Weights of row `at` across the direction, in direction e. */
static void sum_row(const HalvingPass *pass, PetscInt e, const PetscInt at[DIM], float *weight)
{
  const GridBox *halved = pass->halved;
  const PetscInt d = pass->direction, count = owned_width(halved, X) + 1;
  const PetscInt c = box_index(halved, halved->start[X], at[Y], at[Z]);
  const PetscInt step = d == X ? 1 : pass->box->stride[d];
  Faces          faces = {.low = pass->level->share[d][0] + c,
                          .high = pass->level->share[d][1] + c,
                          .next = halved->stride[d],
                          .below = halved->stride[e]};

  faces.lower = child_row(pass, e, at, 0);
  faces.before = faces.lower - step;
  faces.upper = faces.lower + step;
  faces.after = faces.lower + 2 * step;
  (d == X ? sum_faces_x : sum_faces_across)(count, &faces, weight);
}

/* The row or slab with the same parent, -1 steps or 1 away; 0 when there is none. */
static PetscInt sibling(const GridBox *box, PetscInt e, PetscInt index)
{
  const PetscInt n = box->cells[e];
  const PetscInt image = has_seam(box, e) ? (index % n + n) % n : index + 2 * LEVEL_GHOST;

  if (has_seam(box, e) && image == n - 1)
    return 0;
  return image % 2 ? -1 : 1;
}

static void add_row(const float *row, PetscInt count, PetscBool first, float *sum)
{
  if (first)
    memcpy(sum, row, count * sizeof(*sum));
  else
    add_to_row(count, row, sum);
}

/* Adds the row that becomes `at` to the sums. */
static void add_line_at(const HalvingPass *pass, const PetscInt at[DIM], PetscBool first)
{
  const PetscInt  d = pass->direction, width = owned_width(pass->halved, X);
  const PetscBool grounded = pass->level->grounded[d];
  const Line      line = line_at(pass, at);

  if (d == X) {
    const PetscInt count = PetscMin(2 * width + 3, pass->box->stride[Y] - LEVEL_GHOST + 1);

    add_row(line.before, count, first, pass->sums[0]);
    if (grounded)
      add_row(line.ground_before, count, first, pass->sums[3]);
    return;
  }
  add_row(line.before, width + 1, first, pass->sums[0]);
  add_row(line.lower, width + 1, first, pass->sums[1]);
  add_row(line.inner, width + 1, first, pass->sums[2]);
  if (grounded) {
    add_row(line.ground_before, width + 1, first, pass->sums[3]);
    add_row(line.ground_low, width + 1, first, pass->sums[4]);
  }
}

/* Sums over the rows that the passes to come will add up, in the same order for each of them. */
static void add_siblings(const HalvingPass *pass, const PetscInt at[DIM])
{
  PetscInt  low[DIM] = {0, at[Y], at[Z]}, high[DIM] = {0, at[Y], at[Z]};
  PetscBool first = PETSC_TRUE;

  for (PetscInt e = pass->direction + 1; e < pass->halved->dimension; e++) {
    const PetscInt step = sibling(pass->box, e, at[e]);

    low[e] = at[e] + PetscMin(step, 0);
    high[e] = at[e] + PetscMax(step, 0);
  }
  for (PetscInt k = low[Z]; k <= high[Z]; k++)
    for (PetscInt j = low[Y]; j <= high[Y]; j++, first = PETSC_FALSE)
      add_line_at(pass, (PetscInt[]){0, j, k}, first);
}

/* What the faces of a row lose by the ways to the nodes; siblings share it. */
static void find_loss(HalvingPass *pass, const PetscInt at[DIM])
{
  const PetscInt count = owned_width(pass->halved, X) + 1;
  const PetscInt first[DIM] = {
      1, pass->direction == X ? at[Y] + PetscMin(sibling(pass->box, Y, at[Y]), 0) : at[Y], at[Z]};
  float *const *sums = pass->sums;
  Line          line = {sums[0], sums[1], sums[2], NULL, NULL, sums[3], sums[4], NULL, NULL};

  if (!memcmp(first, pass->loss_of, sizeof(first)))
    return;
  memcpy(pass->loss_of, first, sizeof(first));
  add_siblings(pass, at);
  if (pass->direction == X) {
    line.lower = sums[0] + 1;
    line.inner = sums[0] + 2;
    line.ground_low = sums[3] + 1;
    loss_x(count, &line, pass->loss);
  } else
    loss_across(count, &line, pass->loss);
}

static void join_row(HalvingPass *pass, const PetscInt at[DIM], float *weight)
{
  const GridBox *halved = pass->halved;
  const PetscInt d = pass->direction, count = owned_width(halved, X) + 1;

  if (halved->periodic[d] && halved->cells[d] == 1) {
    memset(weight, 0, count * sizeof(*weight)); /* its own neighbour: no effect */
    return;
  }
  find_loss(pass, at);
  (d == X ? scale_x : scale_across)(count, child_row(pass, d, at, 0), pass->loss, weight);
}

static void halve_ground(const HalvingPass *pass, PetscInt e, const PetscInt at[DIM], float *ground)
{
  const PetscInt d = pass->direction, width = owned_width(pass->halved, X) + 1;

  if (e == d) {
    const Line line = line_at(pass, at);

    (d == X ? ground_x : ground_across)(width, &line, ground);
  } else if (d == X) {
    const float *row = ground_row(pass, e, at[Y], at[Z]) + LEVEL_GHOST;

    add_x(width, row, row + 1, ground);
  } else
    add_across(width, child_ground(pass, e, at, 0), child_ground(pass, e, at, 1), ground);
}

/* Rows of the halved box along d: where it is halved already, up to the upper faces of the owned cells; where
   it is still fine, as far as the passes to come look. */
static void range(const HalvingPass *pass, PetscInt d, PetscInt *low, PetscInt *high)
{
  const GridBox *halved = pass->halved;

  *low = halved->start[d];
  *high = halved->end[d] + 1;
  if (d >= halved->dimension)
    *high = halved->end[d];
  else if (d > pass->direction) {
    *low = halved->start[d] - 2;
    *high = 2 * ((halved->end[d] + 1) / 2) + 2;
    if (has_seam(halved, d) && halved->end[d] == halved->cells[d])
      *high = halved->end[d] + 2; /* box_part_seam moves them up by one */
  }
}

/* Beyond the owned rows of a direction that is halved, only the faces along it count. */
static PetscBool is_wanted(const HalvingPass *pass, PetscInt e, const PetscInt at[DIM])
{
  for (PetscInt d = Y; d <= pass->direction; d++)
    if (d != e && at[d] >= pass->halved->end[d])
      return PETSC_FALSE;
  return PETSC_TRUE;
}

static void halve_row(HalvingPass *pass, const PetscInt at[DIM])
{
  const GridBox *halved = pass->halved;
  const PetscInt c = box_index(halved, halved->start[X], at[Y], at[Z]);
  PetscBool      grounds = PETSC_TRUE;

  for (PetscInt d = Y; d < halved->dimension; d++)
    if (d <= pass->direction && at[d] >= halved->end[d])
      grounds = PETSC_FALSE;
  for (PetscInt e = 0; e < halved->dimension; e++) {
    if (is_wanted(pass, e, at)) {
      if (e == pass->direction)
        join_row(pass, at, pass->to->weight[e] + c);
      else
        sum_row(pass, e, at, pass->to->weight[e] + c);
    }
    if (grounds && pass->level->grounded[e])
      halve_ground(pass, e, at, pass->to->ground[e] + c);
  }
}

static void compute_shares(const HalvingPass *pass)
{
  const GridBox *halved = pass->halved;
  PetscInt       at[DIM] = {0, 0, 0};

  for (at[Z] = halved->start[Z]; at[Z] < halved->end[Z]; at[Z]++)
    for (at[Y] = halved->start[Y]; at[Y] < halved->end[Y]; at[Y]++)
      share_row(pass, at);
}

static void compute_weights(HalvingPass *pass)
{
  PetscInt at[DIM] = {0, 0, 0}, low[DIM], high[DIM];

  for (PetscInt d = 0; d < DIM; d++)
    range(pass, d, &low[d], &high[d]);
  for (at[Z] = low[Z]; at[Z] < high[Z]; at[Z]++)
    for (at[Y] = low[Y]; at[Y] < high[Y]; at[Y]++)
      halve_row(pass, at);
}

static void part_conductors(const HalvingPass *pass, PetscInt e)
{
  box_part_seam(pass->box, pass->direction, pass->from->weight[e], sizeof(float));
  if (pass->level->grounded[e])
    box_part_seam(pass->box, pass->direction, pass->from->ground[e], sizeof(float));
}

PetscErrorCode LevelHalve(Level *level, PetscInt direction, const Conductors *from, Conductors *to)
{
  const PetscInt pitch = level->box.stride[Y] + 2; /* the last row is read two cells further */
  float         *scratch;
  HalvingPass    pass = {.level = level, .direction = direction, .from = from, .to = to};

  PetscFunctionBegin;
  pass.box = from ? &level->halved[direction - 1] : &level->box;
  pass.halved = &level->halved[direction];
  PetscCall(PetscCalloc1((2 * DIM + LINE_ROWS + 2) * pitch, &scratch));
  for (PetscInt r = 0; r < 2 * DIM; r++)
    pass.rows[r] = scratch + r * pitch;
  for (PetscInt r = 0; r < LINE_ROWS; r++)
    pass.sums[r] = scratch + (2 * DIM + r) * pitch;
  pass.loss = scratch + (2 * DIM + LINE_ROWS) * pitch;
  pass.zeros = pass.loss + pitch;
  for (PetscInt d = 0; from && d < level->box.dimension; d++)
    part_conductors(&pass, d);
  compute_shares(&pass);
  PetscCall(BoxExchangeShares(pass.halved, level->share[direction]));
  compute_weights(&pass);
  PetscCall(PetscFree(scratch));
  PetscFunctionReturn(0);
}
