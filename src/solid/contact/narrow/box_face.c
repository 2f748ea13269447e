/* What two faces of boxes have in common: the face of the incident box is projected on the one of the
   reference box, its edges are cut at the border, and the corners of the outcome are the touches. */
#include "box_pair.h"

#define BORDER 1e-6 /* in parts of the half side: what is on the border of a face */

enum { CORNER_CAPACITY = 12 }; /* two for each edge and the corners of the reference face */

/* A corner of what the two faces have in common, in the plane of the reference face. */
typedef struct {
  PetscReal at[2], gap;
  uint32_t  name;
} Corner;

/* The incident face in that plane: all points centre + s along + t across with s and t from -1 to 1; the last
   number of each is the height above the reference face. */
typedef struct {
  PetscReal centre[3], along[3], across[3];
  uint32_t  name;
} Patch;

/* The face of the incident box that looks most against `sign` times `axis` of the reference. */
static Patch incident_face(const BoxPair *pair, PetscInt axis, PetscReal sign)
{
  const PetscInt order[DIM] = {(axis + 1) % DIM, (axis + 2) % DIM, axis};
  const PetscReal(*turn)[DIM] = pair->turn, *other = pair->half[1].at;
  PetscInt  facing = X, p, q;
  PetscReal way;
  Patch     patch;

  for (PetscInt j = Y; j < DIM; j++)
    if (PetscAbsReal(turn[axis][j]) > PetscAbsReal(turn[axis][facing]))
      facing = j;
  p = (facing + 1) % DIM;
  q = (facing + 2) % DIM;
  way = (sign * turn[axis][facing] < 0 ? 1 : -1) * other[facing];
  for (PetscInt k = 0; k < DIM; k++) {
    const PetscInt  d = order[k];
    const PetscReal flip = d == axis ? sign : 1;

    patch.centre[k] = flip * (pair->apart.at[d] + way * turn[d][facing]);
    patch.along[k] = flip * other[p] * turn[d][p];
    patch.across[k] = flip * other[q] * turn[d][q];
  }
  patch.centre[2] -= pair->half[0].at[axis];
  patch.name = (uint32_t)(2 * facing + (way < 0));
  return patch;
}

/* Cuts from the stretch of s, where x + s slope is an edge, what is beyond -half and half by more than the
   border. `sides` names the cuts: 0 for none. */
static inline void cut_stretch(PetscReal x, PetscReal slope, PetscReal half, uint32_t side,
                               PetscReal stretch[2], uint32_t sides[2])
{
  const PetscReal inverse = 1 / slope, middle = -x * inverse, reach = half * PetscAbsReal(inverse);

  if (slope == 0) {
    if (PetscAbsReal(x) > half * (1 + BORDER))
      stretch[1] = -PETSC_INFINITY;
    return;
  }
  if (middle - (1 + BORDER) * reach > stretch[0]) {
    stretch[0] = middle - reach;
    sides[0] = side + (slope > 0);
  }
  if (middle + (1 + BORDER) * reach < stretch[1]) {
    stretch[1] = middle + reach;
    sides[1] = side + (slope < 0);
  }
}

/* The part of an edge of the incident face above the reference face: `centre` + s `along`. Its first end
   counts if it is a corner, its last one only if it is cut: there the next edge begins. */
static PetscInt clip_edge(const PetscReal centre[3], const PetscReal along[3], const PetscReal half[2],
                          uint32_t name, Corner corners[])
{
  PetscReal stretch[2] = {-1, 1};
  uint32_t  sides[2] = {0, 0};
  PetscInt  count = 0;

  cut_stretch(centre[0], along[0], half[0], 1, stretch, sides);
  cut_stretch(centre[1], along[1], half[1], 3, stretch, sides);
  if (stretch[0] > stretch[1])
    return 0;
  for (PetscInt end = 0; end < 2; end++)
    if (end == 0 || sides[end]) {
      const PetscReal s = stretch[end];
      const PetscReal u = centre[0] + s * along[0], v = centre[1] + s * along[1];

      corners[count++] =
          (Corner){{PetscMax(PetscMin(u, half[0]), -half[0]), PetscMax(PetscMin(v, half[1]), -half[1])},
                   centre[2] + s * along[2],
                   8 * name + sides[end]};
    }
  return count;
}

/* The corners of the reference face that are below the incident one. */
static PetscInt covered_corners(const Patch *patch, const PetscReal half[2], Corner corners[])
{
  const PetscReal *along = patch->along, *across = patch->across;
  const PetscReal  area = along[0] * across[1] - along[1] * across[0], inside = 1 - BORDER;
  const PetscReal  inverse = 1 / area;
  PetscInt         count = 0;

  if (area == 0)
    return 0;
  for (uint32_t k = 0; k < 4; k++) {
    const PetscReal x = k & 1 ? half[0] : -half[0], y = k & 2 ? half[1] : -half[1];
    const PetscReal u = x - patch->centre[0], v = y - patch->centre[1];
    const PetscReal s = (u * across[1] - v * across[0]) * inverse;
    const PetscReal t = (along[0] * v - along[1] * u) * inverse;

    if (PetscAbsReal(s) < inside && PetscAbsReal(t) < inside)
      corners[count++] = (Corner){{x, y}, patch->centre[2] + s * along[2] + t * across[2], 40 + k};
  }
  return count;
}

/* All corners of what the faces have in common. What is on the border up to round-off is inside for the
   incident edges, so it is counted once and keeps its name. */
static PetscInt common_corners(const Patch *patch, const PetscReal half[2], Corner corners[])
{
  PetscInt count = 0;

  for (uint32_t edge = 0; edge < 4; edge++) {
    const PetscReal *side = edge & 1 ? patch->along : patch->across;
    const PetscReal *run = edge & 1 ? patch->across : patch->along;
    const PetscReal  way = edge == 0 || edge == 3 ? -1 : 1, turn = edge < 2 ? 1 : -1;
    PetscReal        centre[3], along[3];

    for (PetscInt d = 0; d < 3; d++) {
      centre[d] = patch->centre[d] + way * side[d];
      along[d] = turn * run[d];
    }
    count += clip_edge(centre, along, half, edge, corners + count);
  }
  return count + covered_corners(patch, half, corners + count);
}

static PetscReal corner_area(const Corner *a, const Corner *b, const Corner *c)
{
  return (b->at[0] - a->at[0]) * (c->at[1] - a->at[1]) - (b->at[1] - a->at[1]) * (c->at[0] - a->at[0]);
}

/* The corner with the highest score, if that is positive, is moved to the place `kept`, which is returned
   one higher. Of equal ones it is the first, whatever the round-off. */
static PetscInt keep_best(PetscInt count, const PetscReal score[], PetscInt kept, Corner corners[])
{
  PetscInt best = kept;
  Corner   corner;

  for (PetscInt k = kept; k < count; k++)
    if (score[k] > score[best] * (1 + 1e-9))
      best = k;
  if (score[best] <= 0)
    return kept;
  corner = corners[best];
  corners[best] = corners[kept];
  corners[kept] = corner;
  return kept + 1;
}

/* Moves to the front the deepest corner, the one farthest from it, the one that spans most with these and
   the one that adds most to this triangle. Of nearly equally deep ones always the same is taken. */
static PetscInt keep_four(PetscInt count, Corner corners[])
{
  PetscReal score[CORNER_CAPACITY], highest = -PETSC_INFINITY, scale = 0;
  PetscInt  kept;

  for (PetscInt k = 0; k < count; k++) {
    highest = PetscMax(highest, corners[k].gap);
    scale = PetscMax(scale, PetscAbsReal(corners[k].at[0]) + PetscAbsReal(corners[k].at[1]));
  }
  for (PetscInt k = 0; k < count; k++)
    score[k] = scale + highest - corners[k].gap + 1e-5 * (corners[k].at[0] + 0.5 * corners[k].at[1]);
  kept = keep_best(count, score, 0, corners);
  for (PetscInt k = kept; k < count; k++) {
    const PetscReal u = corners[k].at[0] - corners[0].at[0], v = corners[k].at[1] - corners[0].at[1];

    score[k] = u * u + v * v;
  }
  kept = keep_best(count, score, kept, corners);
  for (PetscInt k = kept; k < count; k++)
    score[k] = PetscAbsReal(corner_area(corners, corners + 1, corners + k));
  kept = keep_best(count, score, kept, corners);
  for (PetscInt k = kept; k < count; k++) {
    const PetscReal turn = corner_area(corners, corners + 1, corners + 2) < 0 ? 1 : -1;

    score[k] = turn * corner_area(corners, corners + 1, corners + k);
    score[k] = PetscMax(score[k], turn * corner_area(corners + 1, corners + 2, corners + k));
    score[k] = PetscMax(score[k], turn * corner_area(corners + 2, corners, corners + k));
  }
  return keep_best(count, score, kept, corners);
}

PetscInt touch_face(const PlacedForm *reference, const BoxPair *pair, PetscInt axis, PetscReal reach,
                    Touch touches[])
{
  const PetscInt  u = (axis + 1) % DIM, v = (axis + 2) % DIM;
  const PetscReal sign = pair->apart.at[axis] < 0 ? -1 : 1, *half = pair->half[0].at;
  const Vector3   normal = vector3_scale(sign, reference->axes[axis]);
  const Patch     patch = incident_face(pair, axis, sign);
  const uint32_t  faces = 8 * patch.name + (uint32_t)(2 * axis + (sign < 0));
  Corner          corners[CORNER_CAPACITY];
  const PetscInt  count = common_corners(&patch, (PetscReal[2]){half[u], half[v]}, corners);
  PetscInt        near = 0;

  for (PetscInt k = 0; k < count; k++)
    if (corners[k].gap <= reach)
      corners[near++] = corners[k];
  if (near > 4)
    near = keep_four(near, corners);
  for (PetscInt k = 0; k < near; k++) {
    Vector3 local;

    local.at[axis] = sign * (half[axis] + 0.5 * corners[k].gap);
    local.at[u] = corners[k].at[0];
    local.at[v] = corners[k].at[1];
    touches[k] = (Touch){placed_to_world(reference, local), normal, corners[k].gap,
                         FEATURE_FACE + 64 * faces + corners[k].name};
  }
  return near;
}
