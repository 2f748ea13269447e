/* Areas and volumes of a triangle surface in the boxes of a lattice.

   A triangle is cut by the planes across z, then y, then x into convex pieces. By the divergence theorem a
   piece with the normal n in box i puts  -n_x (x_{i+1} - x) dA  into its own box and  -n_x dx dA  into all
   that follow along x. Sums over boxes equal the whole to round-off, because nothing else is decided than in
   which box a piece lies, and there both answers give the same sum. A triangle is cut plane by plane from the
   first of the whole lattice on, also where a rank looks at a later part: its pieces have the same bits. */
#include "geometry_impl.h"
#include "polygon.h"

#include <millrace/lattice.h>

typedef struct {
  const Lattice *lattice;
  PetscReal     *area;
  Vector3       *moment; /* null: not asked for */
  PetscReal     *volume, *passing;
} Cutting;

/* Of a plane piece with the area vector `whole`, in the same coordinates. */
static Vector3 centroid(const Polygon *piece, Vector3 whole)
{
  const Vector3  *corner = piece->corner;
  const PetscReal square = vector3_dot(whole, whole);
  Vector3         sum = corner[0];

  for (int c = 2; c < piece->count && square > 0.; c++) {
    const Vector3 one = vector3_subtract(corner[c - 1], corner[0]),
                  other = vector3_subtract(corner[c], corner[0]);
    const PetscReal part = 0.5 * vector3_dot(vector3_cross(one, other), whole) / square;

    sum = vector3_add(sum, vector3_scale(part / 3., vector3_add(one, other)));
  }
  return sum;
}

/* The area of a piece and, where it is asked for, its moment in the world. */
static void add_area(const Cutting *cutting, PetscInt n, const Polygon *piece, Vector3 whole)
{
  const Vector3   size = cutting->lattice->spacing;
  const PetscReal area =
      vector3_norm(vector3(whole.at[X] * size.at[Y] * size.at[Z], whole.at[Y] * size.at[Z] * size.at[X],
                           whole.at[Z] * size.at[X] * size.at[Y]));
  Vector3 place;

  cutting->area[n] += area;
  if (!cutting->moment)
    return;
  place = centroid(piece, whole);
  for (int d = 0; d < DIM; d++)
    cutting->moment[n].at[d] += area * (cutting->lattice->origin.at[d] + place.at[d] * size.at[d]);
}

/* A piece within one box; coordinates count boxes. */
static void add_piece(const Cutting *cutting, const PetscInt at[DIM], const Polygon *piece)
{
  const Lattice *lattice = cutting->lattice;
  const Vector3  size = lattice->spacing;
  const PetscInt i = PetscMax(at[X], lattice->start[X]), n = lattice_index(lattice, i, at[Y], at[Z]);
  Vector3        sum = vector3(0, 0, 0);
  PetscReal      lever = 0;

  if (at[X] >= lattice->end[X])
    return;
  for (int c = 2; c < piece->count; c++) {
    const Vector3 *corner = piece->corner;
    const Vector3  cross =
        vector3_cross(vector3_subtract(corner[c - 1], corner[0]), vector3_subtract(corner[c], corner[0]));
    const PetscReal middle = (corner[0].at[X] + corner[c - 1].at[X] + corner[c].at[X]) / 3;

    sum = vector3_add(sum, vector3_scale(0.5, cross));
    lever += 0.5 * cross.at[X] * (at[X] < i ? 1 : (PetscReal)(i + 1) - middle);
  }
  cutting->volume[n] -= lever * size.at[X] * size.at[Y] * size.at[Z];
  cutting->passing[n] -= sum.at[X] * size.at[X] * size.at[Y] * size.at[Z];
  if (at[X] == i)
    add_area(cutting, n, piece, sum);
}

static void cut_along(const Cutting *cutting, int d, PetscInt at[DIM], const Polygon *polygon);

/* What lies in one layer of boxes across d. */
static void cut_layer(const Cutting *cutting, int d, PetscInt at[DIM], const Polygon *polygon)
{
  const Lattice *lattice = cutting->lattice;

  if (polygon->count < 3)
    return;
  if (d == X)
    add_piece(cutting, at, polygon);
  else if (at[d] >= lattice->start[d] && at[d] < lattice->end[d])
    cut_along(cutting, d - 1, at, polygon);
}

static void cut_along(const Cutting *cutting, int d, PetscInt at[DIM], const Polygon *polygon)
{
  const Lattice *lattice = cutting->lattice;
  const Polygon *rest = polygon;
  Polygon        below, above[2];
  PetscReal      low, high;
  PetscInt       last;

  polygon_extent(polygon, d, &low, &high);
  if ((high < (PetscReal)lattice->start[d] && d != X) || low > (PetscReal)lattice->end[d])
    return;
  at[d] = lattice_first_cut(lattice, d, low);
  last = PetscMax(at[d], (PetscInt)PetscMin(floor(high), (PetscReal)lattice->end[d]));
  for (; at[d] < last && rest->count > 2; at[d]++) {
    Polygon *next = &above[at[d] & 1];

    polygon_split(rest, d, (PetscReal)(at[d] + 1), &below, next);
    cut_layer(cutting, d, at, &below);
    rest = next;
  }
  cut_layer(cutting, d, at, rest);
}

void lattice_cut(const Lattice *lattice, const Triangles *triangles, PetscReal area[], Vector3 moment[],
                 PetscReal volume[], PetscReal passing[])
{
  const Cutting cutting = {lattice, area, moment, volume, passing};

  for (PetscInt t = 0; t < triangles->triangle_count; t++) {
    Polygon  polygon = {.count = 3};
    PetscInt at[DIM];

    for (int c = 0; c < 3; c++)
      for (int d = 0; d < DIM; d++)
        polygon.corner[c].at[d] =
            (triangles->vertices[triangles->triangles[t][c]].at[d] - lattice->origin.at[d]) /
            lattice->spacing.at[d];
    cut_along(&cutting, Z, at, &polygon);
  }
}

void lattice_fill(const Lattice *lattice, PetscReal volume[], const PetscReal passing[])
{
  const PetscInt width = lattice->end[X] - lattice->start[X], size = lattice_size(lattice);

  for (PetscInt row = 0; row < size; row += width) {
    PetscReal sum = 0;

    for (PetscInt n = row; n < row + width; n++) {
      volume[n] += sum;
      sum += passing[n];
    }
  }
}

void box_cut(Vector3 low, Vector3 high, const Triangles *triangles, PetscReal *area, PetscReal *volume)
{
  const Lattice lattice = {.origin = low, .spacing = vector3_subtract(high, low), .end = {1, 1, 1}};
  PetscReal     passing = 0;

  *area = *volume = 0;
  lattice_cut(&lattice, triangles, area, NULL, volume, &passing);
}
