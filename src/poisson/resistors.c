/* Rows of weights as resistors, in loops that the compiler turns into vectors; halving.c has the formulas.
   The functions with _x take every second value of a row, those with _across every value of several rows. */
#include "halving_impl.h"

/* Kernels keep their own flags when they are compiled into a loop, so the attributes of ROUNDED_CLONES are
   not enough; and comparisons that might trap are not turned into masks. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("fp-contract=off", "no-trapping-math")
#endif

/* Choices are products with 0 or 1: with branches a loop does not become one of vectors. */
KERNEL float is_positive(float value)
{
  return value > 0.f ? 1.f : 0.f;
}

/* From a child to the node of its parent: 2w, or 0 where both are in one place. */
KERNEL float half_way(float inner, float face, float ground)
{
  return 2.f * (inner + (1.f - is_positive(inner)) * (1.f - is_positive(ground)) * face);
}

/* A weight in series with the way to a node. */
KERNEL float in_series(float weight, float way)
{
  const float far = is_positive(way), way_or_one = way + (1.f - far);

  return weight * way_or_one / (far * weight + way_or_one);
}

KERNEL Share child_share(float way, float link, float ground)
{
  const float far = is_positive(way), way_or_one = way + (1.f - far);
  const float unit = SHARE_ONE / (far * (link + ground) + way_or_one);
  const int   other = (int)(far * link * unit + 0.5f), own = (int)(way_or_one * unit + 0.5f);
  const int   grounded = ground > 0.f;

  return (Share)(grounded * own + (1 - grounded) * (SHARE_ONE - other)) | (Share)other << SHARE_BITS;
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
    const float    link_low = in_series(lower[f], half_way(before[f], lower[f], ground_before[f]));
    const float    link_high = in_series(upper[f], half_way(after[f], upper[f], ground_after[f]));

    low[i] = child_share(half_way(inner[f], lower[f], ground_low[f]), link_low, ground_low[f]);
    high[i] = child_share(half_way(inner[f], upper[f], ground_high[f]), link_high, ground_high[f]);
  }
}

ROUNDED_CLONES void share_x(PetscInt count, const Line *line, Share *low, Share *high)
{
  share_line(count, 2, line, low, high);
}

ROUNDED_CLONES void share_across(PetscInt count, const Line *line, Share *low, Share *high)
{
  share_line(count, 1, line, low, high);
}

/* What a face loses by the ways to the nodes on either side. */
KERNEL void loss_line(PetscInt count, PetscInt step, const Line *line, float *restrict loss)
{
  const float *restrict before = line->before, *restrict lower = line->lower, *restrict inner = line->inner;
  const float *restrict ground_before = line->ground_before, *restrict ground_low = line->ground_low;

  for (PetscInt i = 0; i < count; i++) {
    const PetscInt f = step * i;
    const float    link = in_series(lower[f], half_way(before[f], lower[f], ground_before[f]));
    const float    joined = in_series(link, half_way(inner[f], lower[f], ground_low[f]));

    loss[i] = joined / (lower[f] + (1.f - is_positive(lower[f])));
  }
}

ROUNDED_CLONES void loss_x(PetscInt count, const Line *line, float *loss)
{
  loss_line(count, 2, line, loss);
}

ROUNDED_CLONES void loss_across(PetscInt count, const Line *line, float *loss)
{
  loss_line(count, 1, line, loss);
}

KERNEL void scale_line(PetscInt count, PetscInt step, const float *restrict face, const float *restrict loss,
                       float *restrict weight)
{
  for (PetscInt i = 0; i < count; i++)
    weight[i] = face[step * i] * loss[i];
}

ROUNDED_CLONES void scale_x(PetscInt count, const float *face, const float *loss, float *weight)
{
  scale_line(count, 2, face, loss, weight);
}

ROUNDED_CLONES void scale_across(PetscInt count, const float *face, const float *loss, float *weight)
{
  scale_line(count, 1, face, loss, weight);
}

ROUNDED_CLONES void add_to_row(PetscInt count, const float *restrict row, float *restrict sum)
{
  for (PetscInt i = 0; i < count; i++)
    sum[i] += row[i];
}

KERNEL void ground_line(PetscInt count, PetscInt step, const Line *line, float *restrict ground)
{
  const float *restrict inner = line->inner, *restrict low = line->ground_low,
                        *restrict high = line->ground_high;

  for (PetscInt i = 0; i < count; i++) {
    const PetscInt f = step * i;

    ground[i] = in_series(low[f], 2.f * inner[f]) + in_series(high[f], 2.f * inner[f]);
  }
}

ROUNDED_CLONES void ground_x(PetscInt count, const Line *line, float *ground)
{
  ground_line(count, 2, line, ground);
}

ROUNDED_CLONES void ground_across(PetscInt count, const Line *line, float *ground)
{
  ground_line(count, 1, line, ground);
}

KERNEL void add_line(PetscInt count, PetscInt step, const float *restrict low, const float *restrict high,
                     float *restrict sum)
{
  for (PetscInt i = 0; i < count; i++)
    sum[i] = low[step * i] + high[step * i];
}

ROUNDED_CLONES void add_x(PetscInt count, const float *low, const float *high, float *sum)
{
  add_line(count, 2, low, high, sum);
}

ROUNDED_CLONES void add_across(PetscInt count, const float *low, const float *high, float *sum)
{
  add_line(count, 1, low, high, sum);
}

KERNEL float moved_part(Share a, Share b)
{
  const int other_a = (int)(a >> SHARE_BITS), other_b = (int)(b >> SHARE_BITS);

  return (float)((other_a + other_b) * ((other_a > 0) & (other_b > 0))) * (float)(0.5 * SHARE_UNIT);
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

ROUNDED_CLONES void sum_faces_x(PetscInt count, const Faces *faces, float *weight)
{
  sum_faces(count, 2, faces, weight);
}

ROUNDED_CLONES void sum_faces_across(PetscInt count, const Faces *faces, float *weight)
{
  sum_faces(count, 1, faces, weight);
}

/* Weights between unknowns: those of the finest level also lie on faces of cells that are none. */
ROUNDED_CLONES void inner_faces(PetscInt count, PetscInt stride, const float *restrict weight,
                                const float *restrict inverse, float *restrict inner)
{
  for (PetscInt i = 0; i < count; i++)
    inner[i] = is_positive(inverse[i]) * is_positive(inverse[i - stride]) * weight[i];
}

ROUNDED_CLONES void outer_faces(PetscInt count, PetscInt stride, const float *restrict weight,
                                const float *restrict inverse, float *restrict ground)
{
  for (PetscInt i = 0; i < count; i++) {
    const float low = (1.f - is_positive(inverse[i - stride])) * weight[i];
    const float high = (1.f - is_positive(inverse[i + stride])) * weight[i + stride];

    ground[i] = is_positive(inverse[i]) * (low + high);
  }
}

ROUNDED_CLONES void clear_outside(PetscInt count, const float *restrict inverse, Share *restrict low,
                                  Share *restrict high)
{
  for (PetscInt i = 0; i < count; i++) {
    low[i] = inverse[2 * i] > 0.f ? low[i] : 0;
    high[i] = inverse[2 * i + 1] > 0.f ? high[i] : 0;
  }
}
