/* Which centres of a lattice lie inside a closed surface: by the crossings of the lines along x.

   Corners are rounded to whole numbers of 2^-16 spacings. Whether a line passes a triangle on the left or on
   the right of an edge is then exact in 64 bits; a line through an edge or a corner is shifted by an
   infinitesimal (e, e^2), so that it crosses exactly one of the triangles that meet there. */
#include "geometry_impl.h"

#include <millrace/lattice.h>

enum { UNITS = 65536 };

#define FARTHEST ((int64_t)1 << 29)

typedef struct {
  int64_t at[DIM];
} Whole;

typedef struct {
  Whole   corner[3];
  int64_t area;            /* twice, projected along x */
  int64_t low[2], high[2]; /* along y and z */
} Shadow;

static int64_t rounded(const Lattice *lattice, int d, PetscReal x)
{
  return (int64_t)floor((x - lattice->origin.at[d]) / lattice->spacing.at[d] * UNITS + 0.5);
}

/* Twice the area of a, b and the point, as seen along x. */
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

/* Where along x the line crosses the plane of the triangle. */
static PetscReal crossing_place(const Shadow *shadow, int64_t y, int64_t z)
{
  const Whole    *c = shadow->corner;
  const PetscReal b1 = (PetscReal)side_of(&c[2], &c[0], y, z) / (PetscReal)shadow->area;
  const PetscReal b2 = (PetscReal)side_of(&c[0], &c[1], y, z) / (PetscReal)shadow->area;

  return (PetscReal)c[0].at[X] + b1 * (PetscReal)(c[1].at[X] - c[0].at[X]) +
         b2 * (PetscReal)(c[2].at[X] - c[0].at[X]);
}

/* `reference` keeps the numbers small. */
static Shadow shadow_of(const Lattice *lattice, const Triangles *triangles, PetscInt t,
                        const Whole *reference)
{
  Shadow shadow;

  for (int c = 0; c < 3; c++)
    for (int d = 0; d < DIM; d++) {
      const int64_t place =
          rounded(lattice, d, triangles->vertices[triangles->triangles[t][c]].at[d]) - reference->at[d];

      shadow.corner[c].at[d] = PetscMax(-FARTHEST, PetscMin(FARTHEST, place));
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

static void add_shadow(const Lattice *lattice, const Shadow *shadow, const Whole *reference,
                       PetscInt winding[])
{
  PetscInt low[2], high[2];

  for (int d = 0; d < 2; d++) {
    low[d] = PetscMax(first_centre(shadow->low[d] + reference->at[d + 1]), lattice->start[d + 1]);
    high[d] = PetscMin(first_centre(shadow->high[d] + reference->at[d + 1]) + 1, lattice->end[d + 1]);
  }
  for (PetscInt k = low[1]; k < high[1]; k++)
    for (PetscInt j = low[0]; j < high[0]; j++) {
      const int64_t y = (int64_t)j * UNITS + UNITS / 2 - reference->at[Y],
                    z = (int64_t)k * UNITS + UNITS / 2 - reference->at[Z];
      PetscReal place;
      PetscInt  i;

      if (!is_crossed(shadow, y, z))
        continue;
      place = (crossing_place(shadow, y, z) + (PetscReal)reference->at[X] - UNITS / 2) / UNITS;
      i = (PetscInt)PetscMax(ceil(place), (PetscReal)lattice->start[X]);
      if (place <= (PetscReal)lattice->end[X] && i < lattice->end[X])
        winding[lattice_index(lattice, i, j, k)] -= shadow->area > 0 ? 1 : -1;
    }
}

void lattice_wind(const Lattice *lattice, const Triangles *triangles, PetscInt winding[])
{
  const PetscInt width = lattice->end[X] - lattice->start[X], size = lattice_size(lattice);
  Whole          reference;

  if (!triangles->triangle_count || !size)
    return;
  for (int d = 0; d < DIM; d++)
    reference.at[d] = rounded(lattice, d, triangles->vertices[0].at[d]);
  for (PetscInt t = 0; t < triangles->triangle_count; t++) {
    const Shadow shadow = shadow_of(lattice, triangles, t, &reference);

    if (shadow.area != 0)
      add_shadow(lattice, &shadow, &reference, winding);
  }
  for (PetscInt row = 0; row < size; row += width)
    for (PetscInt n = row + 1; n < row + width; n++)
      winding[n] += winding[n - 1];
}
