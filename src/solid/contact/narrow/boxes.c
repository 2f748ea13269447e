/* Touches of boxes.

   Two boxes are apart by at least the largest gap over 15 directions: their face normals and the crossed
   edges (Gottschalk 1996); inside each other, leaving along that direction takes the shortest way. If it is a
   face, the facing face of the other box is clipped to it and its corners are the touches, each with its own
   gap; if it is a pair of edges they touch where they pass each other. Faces are preferred: they give up to
   four points and do not flicker. Boxes that are apart corner to corner or corner to edge have their
   nearest points along none of the 15 directions: then the edges are searched.

   All is computed in the frame of one of the boxes, the reference; the other is the incident box. */
#include "box_pair.h"

#define FACE_TIE 1e-4    /* in parts of the smallest half side: which face is the reference */
#define EDGE_COSINE 0.99 /* an edge direction as near as this to a face normal adds nothing to that face */
#define EDGE_GAIN 0.02   /* otherwise an edge direction must leave less overlap by this part of it */
#define SLIM 1e-6        /* sine below which edges are parallel */

enum { NONE = -1 };

/* Two boxes crossed edge to edge. */
typedef struct {
  PetscReal gap;
  PetscInt  first, second; /* axis of each box */
  Vector3   normal;        /* in the frame of the first box, unit, to the second */
} EdgeAxis;

/* Everything known of two boxes once no direction keeps them apart beyond reach. */
typedef struct {
  const PlacedForm *boxes[2];
  BoxPair           pair; /* the first box is the reference */
  PetscReal         abs_turn[DIM][DIM];
  Vector3           apart_second; /* centre of the first box in the frame of the second */
  PetscReal         gaps[2][DIM]; /* from the faces of either box to the other */
  PetscInt          widest[2];    /* the face with the largest one */
  EdgeAxis          edges;        /* better than the faces, or NONE */
} Meeting;

/* The distance is at least that of the boxes about one of them along the axes of the other. */
static PetscBool is_beyond(const PetscReal gaps[DIM], PetscReal reach)
{
  PetscReal square = 0;

  for (PetscInt d = X; d < DIM; d++)
    square += gaps[d] > 0 ? gaps[d] * gaps[d] : 0;
  return square > 0 && square > reach * reach ? PETSC_TRUE : PETSC_FALSE;
}

static PetscInt widest_of(const PetscReal gaps[DIM])
{
  const PetscInt first = gaps[Y] > gaps[X] ? Y : X;

  return gaps[Z] > gaps[first] ? Z : first;
}

/* Looks along the face normals of the first box, most promising first; false if that ends the search. */
static PetscBool look_along_first(Meeting *m, PetscReal reach)
{
  const PlacedForm *a = m->boxes[0], *b = m->boxes[1];
  const Vector3     half = a->form->half, other = b->form->half;
  PetscReal         excess[DIM];
  PetscInt          start;

  m->pair.half[0] = half;
  m->pair.half[1] = other;
  m->pair.apart = placed_to_local(a, b->position);
  for (PetscInt d = X; d < DIM; d++)
    excess[d] = PetscAbsReal(m->pair.apart.at[d]) - half.at[d];
  start = widest_of(excess);
  for (PetscInt k = 0; k < DIM; k++) {
    const PetscInt i = (start + k) % DIM;

    m->gaps[0][i] = excess[i];
    for (PetscInt j = X; j < DIM; j++) {
      m->pair.turn[i][j] = vector3_dot(a->axes[i], b->axes[j]);
      m->abs_turn[i][j] = PetscAbsReal(m->pair.turn[i][j]);
      m->gaps[0][i] -= m->abs_turn[i][j] * other.at[j];
    }
    if (m->gaps[0][i] > reach)
      return PETSC_FALSE;
  }
  m->widest[0] = widest_of(m->gaps[0]);
  return is_beyond(m->gaps[0], reach) ? PETSC_FALSE : PETSC_TRUE;
}

/* The same along those of the second box. */
static PetscBool look_along_second(Meeting *m, PetscReal reach)
{
  const Vector3 half = m->pair.half[0], apart = m->pair.apart;

  for (PetscInt j = X; j < DIM; j++) {
    PetscReal along = 0, extent = m->pair.half[1].at[j];

    for (PetscInt i = X; i < DIM; i++) {
      along -= m->pair.turn[i][j] * apart.at[i];
      extent += m->abs_turn[i][j] * half.at[i];
    }
    m->apart_second.at[j] = along;
    m->gaps[1][j] = PetscAbsReal(along) - extent;
    if (m->gaps[1][j] > reach)
      return PETSC_FALSE;
  }
  m->widest[1] = widest_of(m->gaps[1]);
  return is_beyond(m->gaps[1], reach) ? PETSC_FALSE : PETSC_TRUE;
}

/* Crosses axis i of the first box with axis j of the second. */
static void try_edges(Meeting *m, PetscInt i, PetscInt j)
{
  const PetscInt  p = (i + 1) % DIM, q = (i + 2) % DIM, r = (j + 1) % DIM, s = (j + 2) % DIM;
  const Vector3   half = m->pair.half[0], other = m->pair.half[1];
  const PetscReal across =
      m->pair.apart.at[q] * m->pair.turn[p][j] - m->pair.apart.at[p] * m->pair.turn[q][j];
  const PetscReal slack = PetscAbsReal(across) - half.at[p] * m->abs_turn[q][j] -
                          half.at[q] * m->abs_turn[p][j] - other.at[r] * m->abs_turn[i][s] -
                          other.at[s] * m->abs_turn[i][r];
  PetscReal sine, sign;

  /* dividing by the sine makes an overlap only deeper */
  if (slack < 0 && slack <= m->edges.gap)
    return;
  sine = PetscSqrtReal(m->pair.turn[p][j] * m->pair.turn[p][j] + m->pair.turn[q][j] * m->pair.turn[q][j]);
  if (sine < SLIM || slack <= m->edges.gap * sine)
    return;
  sign = (across < 0 ? -1 : 1) / sine;
  m->edges.gap = slack / sine;
  m->edges.first = i;
  m->edges.second = j;
  m->edges.normal.at[i] = 0;
  m->edges.normal.at[p] = -sign * m->pair.turn[q][j];
  m->edges.normal.at[q] = sign * m->pair.turn[p][j];
}

/* And along the crossed edges. */
static PetscBool look_across_edges(Meeting *m, PetscReal reach)
{
  m->edges.gap = PetscMax(m->gaps[0][m->widest[0]], m->gaps[1][m->widest[1]]);
  m->edges.first = NONE;
  for (PetscInt i = X; i < DIM; i++)
    for (PetscInt j = X; j < DIM; j++)
      try_edges(m, i, j);
  return m->edges.gap <= reach ? PETSC_TRUE : PETSC_FALSE;
}

/* Where the two edges pass each other, if they do. */
static PetscInt touch_edges(const Meeting *m, Touch *touch)
{
  const PlacedForm *reference = m->boxes[0];
  const BoxPair    *pair = &m->pair;
  const EdgeAxis   *edges = &m->edges;
  const PetscInt    i = edges->first, j = edges->second;
  const PetscReal   cosine = pair->turn[i][j];
  Vector3           from = edges->normal, to = pair->apart, between;
  PetscReal         along, other;
  uint32_t          sides = 0;

  for (PetscInt d = X; d < DIM; d++) {
    from.at[d] = d == i ? 0 : edges->normal.at[d] < 0 ? -pair->half[0].at[d] : pair->half[0].at[d];
    sides = 2 * sides + (from.at[d] < 0);
  }
  for (PetscInt k = X; k < DIM; k++) {
    const Vector3   axis = vector3(pair->turn[X][k], pair->turn[Y][k], pair->turn[Z][k]);
    const PetscReal side = vector3_dot(axis, edges->normal) < 0 ? 1 : -1;

    sides = 2 * sides + (k != j && side < 0);
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

/* How the first box lies in the frame of the second. */
static BoxPair reversed_pair(const Meeting *m)
{
  BoxPair reversed = {{m->pair.half[1], m->pair.half[0]}, .apart = m->apart_second};

  for (PetscInt i = X; i < DIM; i++)
    for (PetscInt j = X; j < DIM; j++)
      reversed.turn[i][j] = m->pair.turn[j][i];
  return reversed;
}

static PetscInt touch_widest_face(const Meeting *m, int reference, PetscReal reach, Touch touches[])
{
  BoxPair  reversed;
  PetscInt count;

  if (reference == 0)
    return touch_face(m->boxes[0], &m->pair, m->widest[0], reach, touches);
  reversed = reversed_pair(m);
  count = touch_face(m->boxes[1], &reversed, m->widest[1], reach, touches);
  for (PetscInt k = 0; k < count; k++) {
    touches[k].normal = vector3_scale(-1, touches[k].normal);
    touches[k].feature |= FEATURE_OTHER_FACE;
  }
  return count;
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

/* The box whose face is farther from the other box or, if that is about equal, larger. */
static int reference_box(const Meeting *m, PetscReal tie)
{
  const PetscReal gain = m->gaps[1][m->widest[1]] - m->gaps[0][m->widest[0]];
  const PetscReal first = face_area(m->pair.half[0], m->widest[0]);
  const PetscReal second = face_area(m->pair.half[1], m->widest[1]);

  return gain > (second > first * (1 + 1e-9) ? -tie : tie);
}

/* Whether the edges rather than the face of box `reference` should carry the touch. */
static PetscBool edges_win(const Meeting *m, int reference)
{
  const PetscInt  k = m->widest[reference];
  const PetscReal gap = m->gaps[reference][k], (*turn)[DIM] = m->pair.turn;
  const Vector3   normal =
      reference ? vector3(turn[X][k], turn[Y][k], turn[Z][k]) : vector3(k == X, k == Y, k == Z);

  if (m->edges.first == NONE || PetscAbsReal(vector3_dot(m->edges.normal, normal)) > EDGE_COSINE)
    return PETSC_FALSE;
  return m->edges.gap > gap + EDGE_GAIN * PetscAbsReal(gap) ? PETSC_TRUE : PETSC_FALSE;
}

/* The edge k of a box: its low end, in the box's frame. */
static Vector3 edge_start(Vector3 half, PetscInt k)
{
  const PetscInt i = k / 4, p = (i + 1) % DIM, q = (i + 2) % DIM;
  Vector3        from;

  from.at[i] = -half.at[i];
  from.at[p] = k & 1 ? half.at[p] : -half.at[p];
  from.at[q] = k & 2 ? half.at[q] : -half.at[q];
  return from;
}

/* Whether edge k of the first box can be nearest: where the other box is beyond a face, only the edges of
   that face can, unless this leaves just a corner, which is the end of any edge there. */
static PetscBool may_be_nearest(const Meeting *m, PetscInt k)
{
  const Vector3  from = edge_start(m->pair.half[0], k);
  const PetscInt along = k / 4;

  for (PetscInt d = X; d < DIM; d++)
    if (m->gaps[0][d] > 0 && (d == along ? m->gaps[0][X] <= 0 || m->gaps[0][Y] <= 0 || m->gaps[0][Z] <= 0
                                         : from.at[d] * m->pair.apart.at[d] < 0))
      return PETSC_FALSE;
  return PETSC_TRUE;
}

/* Boxes that are apart with a corner of one nearest to an edge or a corner of the other. Then an edge of the
   first box has the nearest point. */
static PetscInt touch_apart(const Meeting *m, PetscReal reach, Touch *touch)
{
  const PlacedForm *a = m->boxes[0], *b = m->boxes[1];
  PetscReal         least = PETSC_INFINITY;
  Vector3           point = vector3(0, 0, 0), outside = point;

  for (PetscInt k = 0; k < 12; k++) {
    const Vector3   axis = a->axes[k / 4], from = placed_to_world(a, edge_start(m->pair.half[0], k));
    const PetscReal length = 2 * m->pair.half[0].at[k / 4];
    Vector3         apart;
    PetscReal       s, distance;

    if (!may_be_nearest(m, k))
      continue;
    s = segment_nearest_to_box(placed_to_local(b, from), vector3_scale(length, placed_turn_in(b, axis)),
                               m->pair.half[1], &apart);
    distance = vector3_norm(apart);
    if (distance < least) {
      least = distance;
      outside = apart;
      point = vector3_along(from, length * s, axis);
    }
  }
  if (least > reach || least == 0)
    return 0;
  touch->gap = least;
  touch->normal = placed_turn_out(b, vector3_scale(-1 / least, outside));
  touch->point = vector3_along(point, 0.5 * least, touch->normal);
  touch->feature = 0;
  return 1;
}

static PetscInt touch_best(const Meeting *m, PetscReal reach, Touch touches[])
{
  const PetscReal bound = m->edges.gap, tie = FACE_TIE * smallest_half(&m->pair);
  const int       reference = reference_box(m, tie);
  PetscReal       least = PETSC_INFINITY;
  PetscInt        count = 0;
  Touch           nearer;

  if (edges_win(m, reference))
    count = touch_edges(m, touches);
  if (count == 0)
    count = touch_widest_face(m, reference, reach, touches);
  if (count == 0 && m->edges.first != NONE)
    count = touch_edges(m, touches);
  for (PetscInt k = 0; k < count; k++)
    least = PetscMin(least, touches[k].gap);
  /* apart, and farther than the bound: a corner may be nearer */
  if (bound > 0 && least > bound + tie && touch_apart(m, reach, &nearer) && nearer.gap < least - tie) {
    touches[0] = nearer;
    count = 1;
  }
  return count;
}

PetscInt touch_boxes(const Form *a, const RigidTransform *at_a, const Form *b, const RigidTransform *at_b,
                     PetscReal reach, Touch touches[])
{
  const PlacedForm first = place(a, at_a), second = place(b, at_b);
  Meeting          meeting;

  meeting.boxes[0] = &first;
  meeting.boxes[1] = &second;
  if (!look_along_first(&meeting, reach) || !look_along_second(&meeting, reach) ||
      !look_across_edges(&meeting, reach))
    return 0;
  return touch_best(&meeting, reach, touches);
}

PetscInt touch_box_plane(const Form *a, const RigidTransform *at_a, const Form *b, const RigidTransform *at_b,
                         PetscReal reach, Touch touches[])
{
  const PlacedForm box = place(a, at_a), plane = place(b, at_b);
  const Vector3    up = plane.axes[Z], tilt = placed_turn_in(&box, up);
  const PetscReal  height = vector3_dot(vector3_subtract(box.position, plane.position), up);
  PetscInt         down = X, p, q, count = 0;

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
