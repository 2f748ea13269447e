#include "boxes.h"

static Vector3 column(const Matrix3 *m, PetscInt i)
{
  return vector3(m->at[X][i], m->at[Y][i], m->at[Z][i]);
}

/* Half the length of the box's shadow on a line. */
static PetscReal box_shadow(const Matrix3 *axes, Vector3 half, Vector3 direction)
{
  PetscReal shadow = 0.;

  for (PetscInt i = 0; i < DIM; i++)
    shadow += half.at[i] * PetscAbsReal(vector3_dot(column(axes, i), direction));
  return shadow;
}

/* The normals of both boxes' faces, then those of the planes that two edges span; returns their number.
   Edges that are parallel to round-off span none, and need none. */
static PetscInt separating_axes(const Matrix3 *a, const Matrix3 *b, Vector3 axes[15])
{
  PetscInt count = 0;

  for (PetscInt i = 0; i < DIM; i++) {
    axes[count++] = column(a, i);
    axes[count++] = column(b, i);
  }
  for (PetscInt i = 0; i < DIM; i++)
    for (PetscInt j = 0; j < DIM; j++) {
      const Vector3   across = vector3_cross(column(a, i), column(b, j));
      const PetscReal length = vector3_norm(across);

      if (length > 1e-9)
        axes[count++] = vector3_scale(1. / length, across);
    }
  return count;
}

PetscReal box_depth(const PlacedBox *a, const PlacedBox *b)
{
  const Matrix3  axes_a = matrix3_from_quaternion(a->rotation), axes_b = matrix3_from_quaternion(b->rotation);
  const Vector3  apart = vector3_subtract(b->position, a->position);
  Vector3        axes[15];
  const PetscInt count = separating_axes(&axes_a, &axes_b, axes);
  PetscReal      depth = PETSC_MAX_REAL;

  for (PetscInt i = 0; i < count; i++) {
    const PetscReal reach = box_shadow(&axes_a, a->half, axes[i]) + box_shadow(&axes_b, b->half, axes[i]);

    depth = PetscMin(depth, reach - PetscAbsReal(vector3_dot(apart, axes[i])));
  }
  return depth;
}

typedef struct {
  PetscReal        low, high; /* along x */
  const PlacedBox *box;
} Span;

static int compare_spans(const void *a, const void *b)
{
  const PetscReal one = ((const Span *)a)->low, other = ((const Span *)b)->low;

  return (one > other) - (one < other);
}

static PetscBool are_near(const PlacedBox *a, const PlacedBox *b)
{
  const PetscReal reach = vector3_norm(a->half) + vector3_norm(b->half);

  return vector3_norm(vector3_subtract(a->position, b->position)) < reach ? PETSC_TRUE : PETSC_FALSE;
}

static void overlaps_add_pair(Overlaps *overlaps, const PlacedBox *a, const PlacedBox *b)
{
  PetscReal depth;

  if (!(a->moves || b->moves) || !are_near(a, b))
    return;
  depth = box_depth(a, b);
  if (depth <= 0.)
    return;
  overlaps->largest = PetscMax(overlaps->largest, depth);
  overlaps->sum += depth;
  overlaps->pairs++;
}

PetscErrorCode OverlapsAdd(Overlaps *overlaps, PetscInt count, const PlacedBox boxes[])
{
  Span *spans;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(count, &spans));
  for (PetscInt i = 0; i < count; i++) {
    const Matrix3   axes = matrix3_from_quaternion(boxes[i].rotation);
    const PetscReal shadow = box_shadow(&axes, boxes[i].half, vector3(1., 0., 0.));

    spans[i] = (Span){boxes[i].position.at[X] - shadow, boxes[i].position.at[X] + shadow, &boxes[i]};
  }
  qsort(spans, count, sizeof(*spans), compare_spans);
  for (PetscInt i = 0; i < count; i++)
    for (PetscInt j = i + 1; j < count && spans[j].low < spans[i].high; j++)
      overlaps_add_pair(overlaps, spans[i].box, spans[j].box);
  PetscCall(PetscFree(spans));
  PetscFunctionReturn(0);
}
