/* Where lines through the centres of a lattice cross a closed surface, and by those along x which centres lie
   inside.

   Corners are rounded to whole numbers of 2^-16 spacings. Whether a line passes a triangle on the left or on
   the right of an edge is then exact in 64 bits; a line through an edge or a corner is shifted by an
   infinitesimal (e, e^2), so that it crosses exactly one of the triangles that meet there. Numbers of a
   Shadow are along the line, X, and along the two axes that follow it cyclically. */
#include "geometry_impl.h"

#include <millrace/lattice.h>

enum { UNITS = 65536 };

#define FARTHEST ((int64_t)1 << 29)

typedef struct {
  int64_t at[DIM];
} Whole;

typedef struct {
  Whole   corner[3];
  int64_t area;            /* twice, projected along the line */
  int64_t low[2], high[2]; /* across it */
} Shadow;

static int64_t rounded(const Lattice *lattice, int d, PetscReal x)
{
  return (int64_t)floor((x - lattice->origin.at[d]) / lattice->spacing.at[d] * UNITS + 0.5);
}

/* Twice the area of a, b and the point, as seen along the line. */
static int64_t side_of(const Whole *a, const Whole *b, int64_t y, int64_t z)
{
  return (b->at[Y] - a->at[Y]) * (z - a->at[Z]) - (b->at[Z] - a->at[Z]) * (y - a->at[Y]);
}

/* The same sign for the shifted point, never zero for an edge that is seen as one. */
static int sign_of(const Whole *a, const Whole *b, int64_t y, int64_t z)
{
  const int64_t side = side_of(a, b, y, z), rise = a->at[Z] - b->at[Z], run = b->at[Y] - a->at[Y];

  if (side != 0)
    return side > 0 ? 1 : -1;
  if (rise != 0)
    return rise > 0 ? 1 : -1;
  return run > 0 ? 1 : -1;
}

static PetscBool is_crossed(const Shadow *shadow, int64_t y, int64_t z)
{
  const int wanted = shadow->area > 0 ? 1 : -1;

  for (int n = 0; n < 3; n++) {
    if (sign_of(&shadow->corner[n], &shadow->corner[(n + 1) % 3], y, z) != wanted)
      return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

/* Where the line crosses the plane of the triangle. */
static PetscReal crossing_place(const Shadow *shadow, int64_t y, int64_t z)
{
  const Whole    *c = shadow->corner;
  const PetscReal b1 = (PetscReal)side_of(&c[2], &c[0], y, z) / (PetscReal)shadow->area;
  const PetscReal b2 = (PetscReal)side_of(&c[0], &c[1], y, z) / (PetscReal)shadow->area;

  return (PetscReal)c[0].at[X] + b1 * (PetscReal)(c[1].at[X] - c[0].at[X]) +
         b2 * (PetscReal)(c[2].at[X] - c[0].at[X]);
}

/* Lines along an axis, and what is done where one crosses. */
typedef struct LineCrossings {
  const Lattice *lattice;
  int            axis[DIM]; /* that of the lines, and the two that follow */
  Whole          reference; /* keeps the numbers small; in these axes */
  PetscInt      *counts;
  void (*cross)(const struct LineCrossings *crossings, PetscReal place, PetscInt row, PetscInt sign);
} LineCrossings;

static Shadow shadow_of(const LineCrossings *crossings, const Triangles *triangles, PetscInt t)
{
  Shadow shadow;

  for (int c = 0; c < 3; c++)
    for (int n = 0; n < DIM; n++) {
      const int     d = crossings->axis[n];
      const int64_t place =
          rounded(crossings->lattice, d, triangles->vertices[triangles->triangles[t][c]].at[d]) -
          crossings->reference.at[n];

      shadow.corner[c].at[n] = PetscMax(-FARTHEST, PetscMin(FARTHEST, place));
    }
  shadow.area = side_of(&shadow.corner[0], &shadow.corner[1], shadow.corner[2].at[Y], shadow.corner[2].at[Z]);
  for (int d = 0; d < 2; d++) {
    const int64_t a = shadow.corner[0].at[d + 1], b = shadow.corner[1].at[d + 1],
                  c = shadow.corner[2].at[d + 1];

    shadow.low[d] = PetscMin(a, PetscMin(b, c));
    shadow.high[d] = PetscMax(a, PetscMax(b, c));
  }
  return shadow;
}

/* First box whose centre is not below a place. */
static PetscInt first_centre(int64_t place)
{
  const PetscReal boxes = ((PetscReal)place - UNITS / 2) / UNITS;

  return (PetscInt)ceil(boxes);
}

/* Crosses lines (j, k), counted along the two axes across. */
static void cross_shadow(const LineCrossings *crossings, const Shadow *shadow)
{
  const Lattice *lattice = crossings->lattice;
  const int64_t *reference = crossings->reference.at;
  PetscInt       low[2], high[2], at[DIM];

  for (int n = 0; n < 2; n++) {
    const int d = crossings->axis[n + 1];

    low[n] = PetscMax(first_centre(shadow->low[n] + reference[n + 1]), lattice->start[d]);
    high[n] = PetscMin(first_centre(shadow->high[n] + reference[n + 1]) + 1, lattice->end[d]);
  }
  at[crossings->axis[0]] = lattice->start[crossings->axis[0]];
  for (PetscInt k = low[1]; k < high[1]; k++)
    for (PetscInt j = low[0]; j < high[0]; j++) {
      const int64_t y = (int64_t)j * UNITS + UNITS / 2 - reference[Y],
                    z = (int64_t)k * UNITS + UNITS / 2 - reference[Z];

      if (!is_crossed(shadow, y, z))
        continue;
      at[crossings->axis[1]] = j;
      at[crossings->axis[2]] = k;
      crossings->cross(crossings,
                       (crossing_place(shadow, y, z) + (PetscReal)reference[X] - UNITS / 2) / UNITS,
                       lattice_index(lattice, at[X], at[Y], at[Z]), shadow->area > 0 ? 1 : -1);
    }
}

static void cross_lines(LineCrossings *crossings, const Triangles *triangles, PetscInt direction)
{
  if (!triangles->triangle_count || !lattice_size(crossings->lattice))
    return;
  for (int n = 0; n < DIM; n++) {
    crossings->axis[n] = (int)(direction + n) % DIM;
    crossings->reference.at[n] =
        rounded(crossings->lattice, crossings->axis[n], triangles->vertices[0].at[crossings->axis[n]]);
  }
  for (PetscInt t = 0; t < triangles->triangle_count; t++) {
    const Shadow shadow = shadow_of(crossings, triangles, t);

    if (shadow.area != 0)
      cross_shadow(crossings, &shadow);
  }
}

/* All centres beyond the place count it; those before the lattice its first one. */
static void wind(const LineCrossings *crossings, PetscReal place, PetscInt row, PetscInt sign)
{
  const PetscInt start = crossings->lattice->start[X], end = crossings->lattice->end[X];
  const PetscInt i = (PetscInt)PetscMax(PetscMin(ceil(place), (PetscReal)end), (PetscReal)start);

  if (i < end)
    crossings->counts[row + i - start] -= sign;
}

void lattice_wind(const Lattice *lattice, const Triangles *triangles, PetscInt winding[])
{
  const PetscInt width = lattice->end[X] - lattice->start[X], size = lattice_size(lattice);
  LineCrossings  crossings = {.lattice = lattice, .counts = winding, .cross = wind};

  cross_lines(&crossings, triangles, X);
  for (PetscInt row = 0; row < size; row += width)
    for (PetscInt n = row + 1; n < row + width; n++)
      winding[n] += winding[n - 1];
}

/* Segment i, from centre i - 1 to centre i, has the places from above i - 1 to i. */
static void count(const LineCrossings *crossings, PetscReal place, PetscInt row, PetscInt sign)
{
  const Lattice  *lattice = crossings->lattice;
  const int       d = crossings->axis[0];
  const PetscReal i = ceil(place);
  PetscInt        stride = 1;

  (void)sign;
  for (int n = 0; n < d; n++)
    stride *= lattice->end[n] - lattice->start[n];
  if (i >= (PetscReal)lattice->start[d] && i < (PetscReal)lattice->end[d])
    crossings->counts[row + ((PetscInt)i - lattice->start[d]) * stride]++;
}

void lattice_count_crossings(const Lattice *lattice, const Triangles *triangles, PetscInt direction,
                             PetscInt counts[])
{
  LineCrossings crossings = {.lattice = lattice, .counts = counts, .cross = count};

  cross_lines(&crossings, triangles, direction);
}
