/* One direction of a level halved, as if the cells were resistors in a row.

   The node of a parent lies half-way between its two children, which are joined by the weight w, so that each
   child is 1/(2w) away from it. With the weight f of the face to the next parent, whose children are joined by
   v, and a weight g to p = 0 along the same direction:

     link of the child to the other parent   L = 1 / (1/f + 1/(2v))
     its shares                              own = 1 / (1 + (L + g)/(2w)),  other = own L/(2w)
     weight between the parents              1 / (1/(2w) + 1/f + 1/(2v))
     weight of the parent to p = 0           sum over both children of 1 / (1/g + 1/(2w))

   In one dimension this is the exact elimination. Where w = 0 the child has no sibling that counts: the node
   is at the child if p = 0 takes the sibling's place (1/(2w) := 0), else where it would be without the wall
   (w := f). Weights across the direction add up, a part going to the
   other parent: the mean of the two cells' shares in it, or none where one of them has none. Nothing that was
   joined comes apart, and nothing is joined through a sealed face. */
#include "multigrid_impl.h"

/* Weights along the direction, from the face inside the parent before to the one inside the parent after;
   ground of both children and of the nearest cells on either side. */
typedef struct {
  const float *before, *lower, *inner, *upper, *after;
  const float *ground_before, *ground_low, *ground_high, *ground_after;
} Line;

/* From a child to the node of its parent: 1/(2w). */
KERNEL float half_way(float inner, float face, float ground)
{
  const float weight = inner > 0.f ? inner : face, half = inner > 0.f || !(ground > 0.f) ? 0.5f : 0.f;

  return (weight > 0.f ? half : 0.f) / (weight > 0.f ? weight : 1.f);
}

KERNEL Share child_share(float half, float link, float ground)
{
  const float own = 1.f / (1.f + half * (link + ground));
  const int   other = (int)(SHARE_ONE * (own * half * link) + 0.5f);
  const int   rounded = (int)(SHARE_ONE * own + 0.5f);

  return (Share)(ground > 0.f ? rounded : SHARE_ONE - other) | (Share)other << SHARE_BITS;
}

KERNEL void share_line(PetscInt count, PetscInt step, const Line *line, Share *restrict low,
                       Share *restrict high)
{
  const float *restrict before = line->before, *restrict lower = line->lower, *restrict inner = line->inner;
  const float *restrict upper = line->upper, *restrict after = line->after;
  const float *restrict ground_before = line->ground_before, *restrict ground_low = line->ground_low;
  const float *restrict ground_high = line->ground_high, *restrict ground_after = line->ground_after;

  for (PetscInt i = 0; i < count; i++) {
    const PetscInt f = step * i;
    const float    beyond_low = half_way(before[f], lower[f], ground_before[f]);
    const float    beyond_high = half_way(after[f], upper[f], ground_after[f]);

    low[i] = child_share(half_way(inner[f], lower[f], ground_low[f]),
                         lower[f] / (1.f + lower[f] * beyond_low), ground_low[f]);
    high[i] = child_share(half_way(inner[f], upper[f], ground_high[f]),
                          upper[f] / (1.f + upper[f] * beyond_high), ground_high[f]);
  }
}

ROUNDED_CLONES static void share_x(PetscInt count, const Line *line, Share *low, Share *high)
{
  share_line(count, 2, line, low, high);
}

ROUNDED_CLONES static void share_across(PetscInt count, const Line *line, Share *low, Share *high)
{
  share_line(count, 1, line, low, high);
}

KERNEL void join_line(PetscInt count, PetscInt step, const Line *line, float *restrict weight)
{
  const float *restrict before = line->before, *restrict lower = line->lower, *restrict inner = line->inner;
  const float *restrict ground_before = line->ground_before, *restrict ground_low = line->ground_low;

  for (PetscInt i = 0; i < count; i++) {
    const PetscInt f = step * i;
    const float    beyond = half_way(before[f], lower[f], ground_before[f]);
    const float    half = half_way(inner[f], lower[f], ground_low[f]);

    weight[i] = lower[f] / (1.f + lower[f] * (beyond + half));
  }
}

ROUNDED_CLONES static void join_x(PetscInt count, const Line *line, float *weight)
{
  join_line(count, 2, line, weight);
}

ROUNDED_CLONES static void join_across(PetscInt count, const Line *line, float *weight)
{
  join_line(count, 1, line, weight);
}

KERNEL void ground_line(PetscInt count, PetscInt step, const Line *line, float *restrict ground)
{
  const float *restrict inner = line->inner, *restrict low = line->ground_low,
              *restrict high = line->ground_high;

  for (PetscInt i = 0; i < count; i++) {
    const PetscInt f = step * i;
    const float    half = half_way(inner[f], 0.f, 0.f);

    ground[i] = low[f] / (1.f + low[f] * half) + high[f] / (1.f + high[f] * half);
  }
}

ROUNDED_CLONES static void ground_x(PetscInt count, const Line *line, float *ground)
{
  ground_line(count, 2, line, ground);
}

ROUNDED_CLONES static void ground_across(PetscInt count, const Line *line, float *ground)
{
  ground_line(count, 1, line, ground);
}

KERNEL void add_line(PetscInt count, PetscInt step, const float *restrict low, const float *restrict high,
                     float *restrict sum)
{
  for (PetscInt i = 0; i < count; i++)
    sum[i] = low[step * i] + high[step * i];
}

ROUNDED_CLONES static void add_x(PetscInt count, const float *low, const float *high, float *sum)
{
  add_line(count, 2, low, high, sum);
}

ROUNDED_CLONES static void add_across(PetscInt count, const float *low, const float *high, float *sum)
{
  add_line(count, 1, low, high, sum);
}

/* Faces across the direction: of the children and of the nearest cells on either side; shares of the cells
   above the faces, `next` to those of the next parent and `below` to those of the cells below. */
typedef struct {
  const float *before, *lower, *upper, *after;
  const Share *low, *high;
  PetscInt     next, below;
} Faces;

KERNEL float moved_part(Share a, Share b)
{
  const int other_a = (int)(a >> SHARE_BITS), other_b = (int)(b >> SHARE_BITS);

  return (float)(other_a > 0 && other_b > 0 ? other_a + other_b : 0) * (float)(0.5 * SHARE_UNIT);
}

KERNEL void sum_faces(PetscInt count, PetscInt step, const Faces *faces, float *restrict weight)
{
  const float *restrict before = faces->before, *restrict lower = faces->lower;
  const float *restrict upper = faces->upper, *restrict after = faces->after;
  const Share *restrict low = faces->low, *restrict high = faces->high;
  const PetscInt next = faces->next, below = faces->below;

  for (PetscInt i = 0; i < count; i++) {
    const PetscInt f = step * i;
    const float    kept = (1.f - moved_part(low[i], low[i - below])) * lower[f] +
                       (1.f - moved_part(high[i], high[i - below])) * upper[f];
    const float taken = moved_part(high[i - next], high[i - next - below]) * before[f] +
                        moved_part(low[i + next], low[i + next - below]) * after[f];

    weight[i] = kept + taken;
  }
}

ROUNDED_CLONES static void sum_faces_x(PetscInt count, const Faces *faces, float *weight)
{
  sum_faces(count, 2, faces, weight);
}

ROUNDED_CLONES static void sum_faces_across(PetscInt count, const Faces *faces, float *weight)
{
  sum_faces(count, 1, faces, weight);
}

/* Weights between unknowns: those of the finest level also lie on faces of cells that are none. */
ROUNDED_CLONES static void inner_faces(PetscInt count, PetscInt stride, const float *restrict weight,
                                      const float *restrict inverse, float *restrict inner)
{
  for (PetscInt i = 0; i < count; i++)
    inner[i] = inverse[i] > 0.f && inverse[i - stride] > 0.f ? weight[i] : 0.f;
}

ROUNDED_CLONES static void outer_faces(PetscInt count, PetscInt stride, const float *restrict weight,
                                      const float *restrict inverse, float *restrict ground)
{
  for (PetscInt i = 0; i < count; i++) {
    const float low = inverse[i - stride] > 0.f ? 0.f : weight[i];
    const float high = inverse[i + stride] > 0.f ? 0.f : weight[i + stride];

    ground[i] = inverse[i] > 0.f ? low + high : 0.f;
  }
}

ROUNDED_CLONES static void clear_outside(PetscInt count, const float *restrict inverse, Share *restrict low,
                                        Share *restrict high)
{
  for (PetscInt i = 0; i < count; i++) {
    low[i] = inverse[2 * i] > 0.f ? low[i] : 0;
    high[i] = inverse[2 * i + 1] > 0.f ? high[i] : 0;
  }
}

/* A pass along one direction; rows start LEVEL_GHOST cells before the owned ones. */
typedef struct {
  Level            *level;
  PetscInt          direction;
  const GridBox    *box, *halved;
  const Conductors *from; /* on `box`; null along x: the level itself */
  Conductors       *to;   /* on `halved` */
  float            *rows[2 * DIM]; /* weights and ground of one row of the level */
  const float      *zeros;
} Pass;

/* Whether row (j, k) of the finest level has ground along e. */
static PetscBool may_touch_zero(const Pass *pass, PetscInt e, PetscInt j, PetscInt k)
{
  const PetscInt index = e == Y ? j : k;

  if (pass->level->has_fixed || e == X)
    return PETSC_TRUE;
  return index <= 0 || index >= pass->box->cells[e] - 1 ? PETSC_TRUE : PETSC_FALSE;
}

static void part_row(const Pass *pass, float *row)
{
  GridBox box = *pass->box;

  box.length = box.stride[Y];
  box_part_seam(&box, X, row, sizeof(*row));
}

static const float *weight_row(const Pass *pass, PetscInt e, PetscInt j, PetscInt k)
{
  const GridBox  *box = pass->box;
  const Level    *level = pass->level;
  const PetscInt  c = box_index(box, box->start[X] - LEVEL_GHOST, j, k);
  const PetscBool mixed = !level->ground[X] && level->grounded[e] && may_touch_zero(pass, e, j, k);

  if (pass->from)
    return pass->from->weight[e] + c;
  if (!mixed && !has_seam(box, X))
    return level->weight[e] + c;
  if (mixed)
    inner_faces(box->stride[Y], box->stride[e], level->weight[e] + c, level->inverse + c, pass->rows[e]);
  else
    memcpy(pass->rows[e], level->weight[e] + c, box->stride[Y] * sizeof(float));
  part_row(pass, pass->rows[e]);
  return pass->rows[e];
}

/* Of owned cells and their next neighbours; zero beyond. */
static const float *ground_row(const Pass *pass, PetscInt e, PetscInt j, PetscInt k)
{
  const GridBox *box = pass->box;
  const Level   *level = pass->level;
  const PetscInt c = box_index(box, box->start[X] - LEVEL_GHOST, j, k), count = owned_width(box, X) + 3;
  float         *row = pass->rows[DIM + e];

  if (!level->grounded[e] || j > box->end[Y] + 1 || (box->dimension == 3 && k > box->end[Z] + 1))
    return pass->zeros;
  if (pass->from)
    return pass->from->ground[e] + c;
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

/* The rows of `box` that become row `at` of the halved one, from the `first` on. */
static const float *child_row(const Pass *pass, PetscInt e, const PetscInt at[DIM], PetscInt child)
{
  PetscInt where[DIM] = {0, at[Y], at[Z]};

  where[pass->direction] = 2 * at[pass->direction] + child;
  return weight_row(pass, e, where[Y], where[Z]) + LEVEL_GHOST;
}

static const float *child_ground(const Pass *pass, PetscInt e, const PetscInt at[DIM], PetscInt child)
{
  PetscInt where[DIM] = {0, at[Y], at[Z]};

  where[pass->direction] = 2 * at[pass->direction] + child;
  return ground_row(pass, e, where[Y], where[Z]) + LEVEL_GHOST;
}

static Line line_at(const Pass *pass, const PetscInt at[DIM])
{
  const PetscInt d = pass->direction;

  if (d == X) {
    const float *row = weight_row(pass, X, at[Y], at[Z]) + LEVEL_GHOST;
    const float *ground = ground_row(pass, X, at[Y], at[Z]) + LEVEL_GHOST;

    return (Line){row - 1, row, row + 1, row + 2, row + 3, ground - 1, ground, ground + 1, ground + 2};
  }
  return (Line){child_row(pass, d, at, -1),   child_row(pass, d, at, 0),   child_row(pass, d, at, 1),
                child_row(pass, d, at, 2),    child_row(pass, d, at, 3),   child_ground(pass, d, at, -1),
                child_ground(pass, d, at, 0), child_ground(pass, d, at, 1), child_ground(pass, d, at, 2)};
}

/* The second child of the last parent of an odd number of cells. */
static PetscBool lacks_child(const Pass *pass, PetscInt parent)
{
  return 2 * parent + 1 >= pass->box->cells[pass->direction] ? PETSC_TRUE : PETSC_FALSE;
}

static void share_row(const Pass *pass, const PetscInt at[DIM])
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
static void sum_row(const Pass *pass, PetscInt e, const PetscInt at[DIM], float *weight)
{
  const GridBox *halved = pass->halved;
  const PetscInt d = pass->direction, count = owned_width(halved, X) + 1;
  const PetscInt c = box_index(halved, halved->start[X], at[Y], at[Z]);
  Faces          faces = {.low = pass->level->share[d][0] + c,
                          .high = pass->level->share[d][1] + c,
                          .next = halved->stride[d],
                          .below = halved->stride[e]};

  if (d == X) {
    faces.lower = weight_row(pass, e, at[Y], at[Z]) + LEVEL_GHOST;
    faces.before = faces.lower - 1;
    faces.upper = faces.lower + 1;
    faces.after = faces.lower + 2;
    sum_faces_x(count, &faces, weight);
    return;
  }
  faces.before = child_row(pass, e, at, -1);
  faces.lower = child_row(pass, e, at, 0);
  faces.upper = child_row(pass, e, at, 1);
  faces.after = child_row(pass, e, at, 2);
  sum_faces_across(count, &faces, weight);
}

static void join_row(const Pass *pass, const PetscInt at[DIM], float *weight)
{
  const GridBox *halved = pass->halved;
  const PetscInt d = pass->direction, count = owned_width(halved, X) + 1;
  const Line     line = line_at(pass, at);

  if (halved->periodic[d] && halved->cells[d] == 1)
    memset(weight, 0, count * sizeof(*weight)); /* its own neighbour: no effect */
  else
    (d == X ? join_x : join_across)(count, &line, weight);
}

static void halve_ground(const Pass *pass, PetscInt e, const PetscInt at[DIM], float *ground)
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
static void range(const Pass *pass, PetscInt d, PetscInt *low, PetscInt *high)
{
  const GridBox *halved = pass->halved;

  *low = halved->start[d];
  *high = halved->end[d] + 1;
  if (d >= halved->dimension)
    *high = halved->end[d];
  else if (d > pass->direction) {
    *low = halved->start[d] - 1;
    *high = 2 * ((halved->end[d] + 1) / 2) + 2;
  }
}

/* Beyond the owned rows of a direction that is halved, only the faces along it count. */
static PetscBool is_wanted(const Pass *pass, PetscInt e, const PetscInt at[DIM])
{
  for (PetscInt d = Y; d <= pass->direction; d++)
    if (d != e && at[d] >= pass->halved->end[d])
      return PETSC_FALSE;
  return PETSC_TRUE;
}

static void halve_row(const Pass *pass, const PetscInt at[DIM])
{
  const GridBox *halved = pass->halved;
  const PetscInt c = box_index(halved, halved->start[X], at[Y], at[Z]);
  PetscBool      grounds = PETSC_TRUE;

  for (PetscInt d = Y; d < halved->dimension; d++)
    if (at[d] >= halved->end[d] + (d > pass->direction ? 2 : 0))
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

static void compute_shares(const Pass *pass)
{
  const GridBox *halved = pass->halved;
  PetscInt       at[DIM] = {0, 0, 0};

  for (at[Z] = halved->start[Z]; at[Z] < halved->end[Z]; at[Z]++)
    for (at[Y] = halved->start[Y]; at[Y] < halved->end[Y]; at[Y]++)
      share_row(pass, at);
}

static void compute_weights(const Pass *pass)
{
  PetscInt at[DIM] = {0, 0, 0}, low[DIM], high[DIM];

  for (PetscInt d = 0; d < DIM; d++)
    range(pass, d, &low[d], &high[d]);
  for (at[Z] = low[Z]; at[Z] < high[Z]; at[Z]++)
    for (at[Y] = low[Y]; at[Y] < high[Y]; at[Y]++)
      halve_row(pass, at);
}

static void part_conductors(const Pass *pass, PetscInt e)
{
  box_part_seam(pass->box, pass->direction, pass->from->weight[e], sizeof(float));
  if (pass->level->grounded[e])
    box_part_seam(pass->box, pass->direction, pass->from->ground[e], sizeof(float));
}

PetscErrorCode LevelHalve(Level *level, PetscInt direction, const Conductors *from, Conductors *to)
{
  const PetscInt pitch = level->box.stride[Y] + 2; /* the last row is read two cells further */
  float         *scratch;
  Pass           pass = {.level = level, .direction = direction, .from = from, .to = to};

  PetscFunctionBegin;
  pass.box = from ? &level->halved[direction - 1] : &level->box;
  pass.halved = &level->halved[direction];
  PetscCall(PetscCalloc1((2 * DIM + 1) * pitch, &scratch));
  for (PetscInt r = 0; r < 2 * DIM; r++)
    pass.rows[r] = scratch + r * pitch;
  pass.zeros = scratch + 2 * DIM * pitch;
  for (PetscInt d = 0; from && d < level->box.dimension; d++)
    part_conductors(&pass, d);
  compute_shares(&pass);
  PetscCall(BoxExchangeShares(pass.halved, level->share[direction]));
  compute_weights(&pass);
  PetscCall(PetscFree(scratch));
  PetscFunctionReturn(0);
}
