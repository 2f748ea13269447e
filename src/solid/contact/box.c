/* Touches of boxes.

   Two boxes are apart by at least the largest gap over 15 directions: their face normals and the crossed
   edges (Gottschalk 1996); inside each other, leaving along that direction takes the shortest way. If it is a
   face, the facing face of the other box is clipped to it and its corners are the touches, each with its own
   gap; if it is a pair of edges they touch where they pass each other. Faces are preferred: they give up to
   four points and do not flicker. Boxes that are apart corner to corner or corner to edge have their
   nearest points along none of the 15 directions: then the edges are searched.

   All is computed in the frame of one of the boxes, the reference; the other is the incident box. */
#include "touch.h"

#define FACE_TIE 1e-4    /* in parts of the smallest half side: which face is the reference */
#define EDGE_COSINE 0.99 /* an edge direction as near as this to a face normal adds nothing to that face */
#define EDGE_GAIN 0.02   /* otherwise an edge direction must leave less overlap by this part of it */
#define SLIM 1e-6        /* sine below which edges are parallel */

typedef struct {
  Vector3   half[2];        /* of the reference and the incident box */
  PetscReal turn[DIM][DIM]; /* column j: axis j of the incident box in the reference frame */
  PetscReal abs_turn[DIM][DIM];
  Vector3   apart; /* center of the incident box in the reference frame */
} BoxPair;

typedef struct {
  PetscReal gap;
  PetscInt  axis;
} FaceAxis;

typedef struct {
  PetscReal gap;
  PetscInt  first, second; /* axis of each box */
  Vector3   normal;        /* in the reference frame, unit, to the incident box */
} EdgeAxis;

/* A corner of the incident face as it is clipped. */
typedef struct {
  PetscReal at[2], gap;
  uint32_t  edge; /* that leaves it: 0 to 3 of the incident face, 4 to 7 sides of the reference face */
} Corner;

/* Names of touches: which sort, then the faces or edges it is made of. */
enum { FEATURE_FACE = 1 << 16, FEATURE_EDGES = 1 << 17, FEATURE_OTHER_FACE = 1 << 18 };

enum { NONE = -1 };
enum { CORNER_CAPACITY = 20 }; /* four and what four clips could add */

static BoxPair pair_boxes(const Placed *a, const Placed *b)
{
  BoxPair pair;

  pair.half[0] = a->form->half;
  pair.half[1] = b->form->half;
  pair.apart = placed_to_local(a, b->position);
  for (PetscInt i = X; i < DIM; i++)
    for (PetscInt j = X; j < DIM; j++) {
      pair.turn[i][j] = vector3_dot(a->axes[i], b->axes[j]);
      pair.abs_turn[i][j] = PetscAbsReal(pair.turn[i][j]);
    }
  return pair;
}

/* The same pair seen from the incident box. */
static BoxPair pair_reversed(const BoxPair *pair)
{
  BoxPair reversed;

  for (PetscInt i = X; i < DIM; i++) {
    for (PetscInt j = X; j < DIM; j++) {
      reversed.turn[i][j] = pair->turn[j][i];
      reversed.abs_turn[i][j] = pair->abs_turn[j][i];
    }
    reversed.apart.at[i] = -(pair->turn[X][i] * pair->apart.at[X] + pair->turn[Y][i] * pair->apart.at[Y] +
                             pair->turn[Z][i] * pair->apart.at[Z]);
  }
  reversed.half[0] = pair->half[1];
  reversed.half[1] = pair->half[0];
  return reversed;
}

/* The face of the reference box that is farthest from the incident one. */
static FaceAxis widest_face(const BoxPair *pair)
{
  FaceAxis widest = {-PETSC_INFINITY, X};

  for (PetscInt i = X; i < DIM; i++) {
    const PetscReal extent = pair->abs_turn[i][X] * pair->half[1].at[X] +
                             pair->abs_turn[i][Y] * pair->half[1].at[Y] +
                             pair->abs_turn[i][Z] * pair->half[1].at[Z];
    const PetscReal gap = PetscAbsReal(pair->apart.at[i]) - pair->half[0].at[i] - extent;

    if (gap > widest.gap)
      widest = (FaceAxis){gap, i};
  }
  return widest;
}

/* Crosses axis i of the reference box with axis j of the incident one. */
static void try_edges(const BoxPair *pair, PetscInt i, PetscInt j, EdgeAxis *widest)
{
  const PetscInt  p = (i + 1) % DIM, q = (i + 2) % DIM, r = (j + 1) % DIM, s = (j + 2) % DIM;
  const Vector3   half = pair->half[0], other = pair->half[1];
  const PetscReal across = pair->apart.at[q] * pair->turn[p][j] - pair->apart.at[p] * pair->turn[q][j];
  const PetscReal slack = PetscAbsReal(across) - half.at[p] * pair->abs_turn[q][j] -
                          half.at[q] * pair->abs_turn[p][j] - other.at[r] * pair->abs_turn[i][s] -
                          other.at[s] * pair->abs_turn[i][r];
  PetscReal sine, sign;

  /* dividing by the sine makes an overlap only deeper */
  if (slack < 0 && slack <= widest->gap)
    return;
  sine = PetscSqrtReal(pair->turn[p][j] * pair->turn[p][j] + pair->turn[q][j] * pair->turn[q][j]);
  if (sine < SLIM || slack <= widest->gap * sine)
    return;
  sign = (across < 0 ? -1 : 1) / sine;
  widest->gap = slack / sine;
  widest->first = i;
  widest->second = j;
  widest->normal.at[i] = 0;
  widest->normal.at[p] = -sign * pair->turn[q][j];
  widest->normal.at[q] = sign * pair->turn[p][j];
}

/* The part of a polygon with sign * at[axis] <= limit. */
static PetscInt clip(PetscInt count, const Corner in[], PetscInt axis, PetscReal sign, PetscReal limit,
                     Corner out[])
{
  const uint32_t edge = (uint32_t)(4 + 2 * axis + (sign < 0));
  PetscInt       kept = 0;

  for (PetscInt k = 0; k < count; k++) {
    const Corner   *from = in + k, *to = in + (k + 1 < count ? k + 1 : 0);
    const PetscReal above = sign * from->at[axis] - limit, next = sign * to->at[axis] - limit;

    if (above <= 0)
      out[kept++] = *from;
    if ((above <= 0) != (next <= 0)) {
      const PetscReal s = above / (above - next);

      out[kept].at[0] = from->at[0] + s * (to->at[0] - from->at[0]);
      out[kept].at[1] = from->at[1] + s * (to->at[1] - from->at[1]);
      out[kept].gap = from->gap + s * (to->gap - from->gap);
      out[kept++].edge = above <= 0 ? edge : from->edge;
    }
  }
  return kept;
}

/* The face of the incident box that looks most against `sign` times `axis` of the reference, with the heights
   of its corners above the reference face as gaps. Returns a name of the face. */
static uint32_t incident_face(const BoxPair *pair, PetscInt axis, PetscReal sign, Corner corners[4])
{
  const PetscInt u = (axis + 1) % DIM, v = (axis + 2) % DIM;
  const PetscReal(*turn)[DIM] = pair->turn, *other = pair->half[1].at;
  PetscInt  facing = X, p, q;
  PetscReal way;

  for (PetscInt j = Y; j < DIM; j++)
    if (pair->abs_turn[axis][j] > pair->abs_turn[axis][facing])
      facing = j;
  p = (facing + 1) % DIM;
  q = (facing + 2) % DIM;
  way = (sign * turn[axis][facing] < 0 ? 1 : -1) * other[facing];
  for (uint32_t k = 0; k < 4; k++) {
    const PetscReal along = k == 0 || k == 3 ? other[p] : -other[p], across = k < 2 ? other[q] : -other[q];
    PetscReal       local[DIM];

    for (PetscInt d = X; d < DIM; d++)
      local[d] = pair->apart.at[d] + way * turn[d][facing] + along * turn[d][p] + across * turn[d][q];
    corners[k] = (Corner){{local[u], local[v]}, sign * local[axis] - pair->half[0].at[axis], k};
  }
  return (uint32_t)(2 * facing + (way < 0));
}

static PetscReal corner_area(const Corner *a, const Corner *b, const Corner *c)
{
  return (b->at[0] - a->at[0]) * (c->at[1] - a->at[1]) - (b->at[1] - a->at[1]) * (c->at[0] - a->at[0]);
}

/* The corner with the highest score, if that is positive, is moved to the place `kept`, which is returned
   one higher. */
static PetscInt keep_best(PetscInt count, const PetscReal score[], PetscInt kept, Corner corners[])
{
  PetscInt best = kept;
  Corner   corner;

  for (PetscInt k = kept; k < count; k++)
    if (score[k] > score[best])
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
  PetscReal score[CORNER_CAPACITY], deepest = PETSC_INFINITY;
  PetscInt  kept;

  for (PetscInt k = 0; k < count; k++) {
    score[k] = 1e-5 * (corners[k].at[0] + 0.5 * corners[k].at[1]) - corners[k].gap;
    deepest = PetscMin(deepest, score[k]);
  }
  for (PetscInt k = 0; k < count; k++)
    score[k] += 1 - deepest;
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

/* The touches above face `axis` of the reference box, normals out of it. */
static PetscInt touch_face(const Placed *reference, const BoxPair *pair, PetscInt axis, PetscReal reach,
                           Touch touches[])
{
  const PetscInt  u = (axis + 1) % DIM, v = (axis + 2) % DIM;
  const PetscReal sign = pair->apart.at[axis] < 0 ? -1 : 1, *half = pair->half[0].at;
  const Vector3   normal = vector3_scale(sign, reference->axes[axis]);
  Corner          corners[CORNER_CAPACITY], clipped[CORNER_CAPACITY];
  PetscInt        count = 4, near = 0;
  uint32_t        faces = incident_face(pair, axis, sign, corners);

  faces = 8 * faces + (uint32_t)(2 * axis + (sign < 0));
  count = clip(count, corners, 0, 1, half[u], clipped);
  count = clip(count, clipped, 0, -1, half[u], corners);
  count = clip(count, corners, 1, 1, half[v], clipped);
  count = clip(count, clipped, 1, -1, half[v], corners);
  for (PetscInt k = 0; k < count; k++)
    if (corners[k].gap <= reach) {
      const uint32_t before = corners[k > 0 ? k - 1 : count - 1].edge;

      clipped[near] = corners[k];
      clipped[near++].edge = 8 * before + corners[k].edge;
    }
  if (near > 4)
    near = keep_four(near, clipped);
  for (PetscInt k = 0; k < near; k++) {
    Vector3 local;

    local.at[axis] = sign * (half[axis] + 0.5 * clipped[k].gap);
    local.at[u] = clipped[k].at[0];
    local.at[v] = clipped[k].at[1];
    touches[k] = (Touch){placed_to_world(reference, local), normal, clipped[k].gap,
                         FEATURE_FACE + 64 * faces + clipped[k].edge};
  }
  return near;
}

/* Where the two edges pass each other, if they do. */
static PetscInt touch_edges(const Placed *reference, const BoxPair *pair, const EdgeAxis *edges, Touch *touch)
{
  const PetscInt  i = edges->first, j = edges->second;
  const PetscReal cosine = pair->turn[i][j];
  Vector3         from = edges->normal, to = pair->apart, between;
  PetscReal       along, other;
  uint32_t        sides = 0;

  for (PetscInt d = X; d < DIM; d++) {
    from.at[d] = d == i ? 0 : edges->normal.at[d] < 0 ? -pair->half[0].at[d] : pair->half[0].at[d];
    sides = 2 * sides + (from.at[d] < 0);
  }
  for (PetscInt k = X; k < DIM; k++) {
    const Vector3   axis = vector3(pair->turn[X][k], pair->turn[Y][k], pair->turn[Z][k]);
    const PetscReal side = vector3_dot(axis, edges->normal) < 0 ? 1 : -1;

    sides = 2 * sides + (side < 0);
    if (k != j)
      to = vector3_along(to, side * pair->half[1].at[k], axis);
  }
  between = vector3_subtract(to, from);
  along = between.at[i];
  other = vector3_dot(between, vector3(pair->turn[X][j], pair->turn[Y][j], pair->turn[Z][j]));
  from.at[i] = (along - cosine * other) / (1 - cosine * cosine);
  other = cosine * from.at[i] - other;
  if (PetscAbsReal(from.at[i]) > pair->half[0].at[i] || PetscAbsReal(other) > pair->half[1].at[j])
    return 0;
  touch->point = placed_to_world(reference, vector3_along(from, 0.5 * edges->gap, edges->normal));
  touch->normal = placed_turn_out(reference, edges->normal);
  touch->gap = edges->gap;
  touch->feature = FEATURE_EDGES + 64 * (uint32_t)(DIM * i + j) + sides;
  return 1;
}

static PetscReal smallest_half(const BoxPair *pair)
{
  PetscReal smallest = PETSC_INFINITY;

  for (PetscInt d = X; d < DIM; d++)
    smallest = PetscMin(smallest, PetscMin(pair->half[0].at[d], pair->half[1].at[d]));
  return smallest;
}

static PetscReal face_area(Vector3 half, PetscInt axis)
{
  return half.at[(axis + 1) % DIM] * half.at[(axis + 2) % DIM];
}

/* Whether the second of two faces is the better reference: farther apart or, if about equal, larger. */
static PetscBool second_is_reference(const BoxPair *pair, FaceAxis first, FaceAxis second)
{
  const PetscReal tie = FACE_TIE * smallest_half(pair);
  const PetscBool larger =
      face_area(pair->half[1], second.axis) > face_area(pair->half[0], first.axis) * (1 + 1e-9) ? PETSC_TRUE
                                                                                                : PETSC_FALSE;

  return second.gap > first.gap + (larger ? -tie : tie) ? PETSC_TRUE : PETSC_FALSE;
}

/* Boxes that are apart with a corner of one nearest: to an edge or a corner of the other. Then an edge of
   the reference box has the nearest point. */
static PetscInt touch_apart(const Placed *reference, const Placed *incident, PetscReal reach, Touch *touch)
{
  const Vector3 half = reference->form->half;
  PetscReal     least = PETSC_INFINITY;
  Vector3       point = vector3(0, 0, 0), outside = point;

  for (PetscInt k = 0; k < 12; k++) {
    const PetscInt i = k / 4, p = (i + 1) % DIM, q = (i + 2) % DIM;
    Vector3        from, apart;
    PetscReal      s, distance;

    from.at[i] = -half.at[i];
    from.at[p] = k & 1 ? half.at[p] : -half.at[p];
    from.at[q] = k & 2 ? half.at[q] : -half.at[q];
    from = placed_to_world(reference, from);
    s = segment_nearest_to_box(placed_to_local(incident, from),
                               vector3_scale(2 * half.at[i], placed_turn_in(incident, reference->axes[i])),
                               incident->form->half, &apart);
    distance = vector3_norm(apart);
    if (distance < least) {
      least = distance;
      outside = apart;
      point = vector3_along(from, 2 * half.at[i] * s, reference->axes[i]);
    }
  }
  if (least > reach || least == 0)
    return 0;
  touch->gap = least;
  touch->normal = placed_turn_out(incident, vector3_scale(-1 / least, outside));
  touch->point = vector3_along(point, 0.5 * least, touch->normal);
  touch->feature = 0;
  return 1;
}

/* Everything known of two boxes once no direction keeps them apart beyond reach. */
typedef struct {
  const Placed  *boxes[2];
  const BoxPair *pairs[2]; /* with either box as the reference */
  FaceAxis       faces[2]; /* of either box */
  EdgeAxis       edges;    /* of the first pair; better than the faces, or NONE */
} Candidates;

static PetscInt touch_best_face(const Candidates *found, int reference, PetscReal reach, Touch touches[])
{
  const PetscInt count = touch_face(found->boxes[reference], found->pairs[reference],
                                    found->faces[reference].axis, reach, touches);

  if (reference == 1)
    for (PetscInt k = 0; k < count; k++) {
      touches[k].normal = vector3_scale(-1, touches[k].normal);
      touches[k].feature |= FEATURE_OTHER_FACE;
    }
  return count;
}

/* Whether the edges rather than the face of box `reference` should carry the touch. */
static PetscBool edges_win(const Candidates *found, int reference)
{
  const FaceAxis  face = found->faces[reference];
  const EdgeAxis *edges = &found->edges;
  const PetscReal(*turn)[DIM] = found->pairs[0]->turn;
  const PetscInt k = face.axis;
  const Vector3  normal =
      reference ? vector3(turn[X][k], turn[Y][k], turn[Z][k]) : vector3(k == X, k == Y, k == Z);

  if (edges->first == NONE || PetscAbsReal(vector3_dot(edges->normal, normal)) > EDGE_COSINE)
    return PETSC_FALSE;
  return edges->gap > face.gap + EDGE_GAIN * PetscAbsReal(face.gap) ? PETSC_TRUE : PETSC_FALSE;
}

static PetscInt touch_best(const Candidates *found, PetscReal reach, Touch touches[])
{
  const int       reference = second_is_reference(found->pairs[0], found->faces[0], found->faces[1]);
  const PetscReal bound = found->edges.gap, tie = FACE_TIE * smallest_half(found->pairs[0]);
  PetscReal       least = PETSC_INFINITY;
  PetscInt        count = 0;

  if (edges_win(found, reference))
    count = touch_edges(found->boxes[0], found->pairs[0], &found->edges, touches);
  if (count == 0)
    count = touch_best_face(found, reference, reach, touches);
  if (count == 0 && found->edges.first != NONE)
    count = touch_edges(found->boxes[0], found->pairs[0], &found->edges, touches);
  for (PetscInt k = 0; k < count; k++)
    least = PetscMin(least, touches[k].gap);
  /* apart, and farther than the bound: a corner may be nearer */
  if (bound > 0 && least > bound + tie) {
    Touch nearer;

    if (touch_apart(found->boxes[0], found->boxes[1], reach, &nearer) && nearer.gap < least - tie) {
      touches[0] = nearer;
      count = 1;
    }
  }
  return count;
}

PetscInt touch_boxes(const Form *a, const Placement *at_a, const Form *b, const Placement *at_b,
                     PetscReal reach, Touch touches[])
{
  const Placed   first = place(a, at_a), second = place(b, at_b);
  const BoxPair  pair = pair_boxes(&first, &second);
  const FaceAxis face = widest_face(&pair);
  BoxPair        reversed;
  FaceAxis       other;
  EdgeAxis       edges;

  if (face.gap > reach)
    return 0;
  reversed = pair_reversed(&pair);
  other = widest_face(&reversed);
  if (other.gap > reach)
    return 0;
  edges = (EdgeAxis){PetscMax(face.gap, other.gap), NONE, NONE, vector3(0, 0, 0)};
  for (PetscInt i = X; i < DIM; i++)
    for (PetscInt j = X; j < DIM; j++)
      try_edges(&pair, i, j, &edges);
  if (edges.gap > reach)
    return 0;
  return touch_best(&(Candidates){{&first, &second}, {&pair, &reversed}, {face, other}, edges}, reach,
                    touches);
}

PetscInt touch_box_plane(const Form *a, const Placement *at_a, const Form *b, const Placement *at_b,
                         PetscReal reach, Touch touches[])
{
  const Placed    box = place(a, at_a), plane = place(b, at_b);
  const Vector3   up = plane.axes[Z], tilt = placed_turn_in(&box, up);
  const PetscReal height = vector3_dot(vector3_subtract(box.position, plane.position), up);
  PetscInt        down = X, p, q, count = 0;

  for (PetscInt d = Y; d < DIM; d++)
    if (PetscAbsReal(tilt.at[d]) > PetscAbsReal(tilt.at[down]))
      down = d;
  p = (down + 1) % DIM;
  q = (down + 2) % DIM;
  for (uint32_t k = 0; k < 4; k++) {
    Vector3   corner;
    PetscReal gap;

    corner.at[down] = tilt.at[down] > 0 ? -a->half.at[down] : a->half.at[down];
    corner.at[p] = k & 1 ? a->half.at[p] : -a->half.at[p];
    corner.at[q] = k & 2 ? a->half.at[q] : -a->half.at[q];
    gap = height + vector3_dot(tilt, corner);
    if (gap <= reach) {
      const uint32_t sides = (uint32_t)((corner.at[X] < 0) + 2 * (corner.at[Y] < 0) + 4 * (corner.at[Z] < 0));

      corner = vector3_along(placed_to_world(&box, corner), -0.5 * gap, up);
      touches[count++] = (Touch){corner, vector3_scale(-1, up), gap, 1 + sides};
    }
  }
  return count;
}
