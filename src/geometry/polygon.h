/* Private to src/geometry: convex polygons, cut by planes across an axis. */
#ifndef MILLRACE_GEOMETRY_POLYGON_H
#define MILLRACE_GEOMETRY_POLYGON_H

#include <millrace/base.h>

enum { CORNERS_MAX = 12 };

typedef struct {
  int     count;
  Vector3 corner[CORNERS_MAX];
} Polygon;

static inline Vector3 polygon_crossing(Vector3 a, Vector3 b, int d, PetscReal plane)
{
  const PetscReal part = (plane - a.at[d]) / (b.at[d] - a.at[d]);
  Vector3         point = vector3_add(a, vector3_scale(part, vector3_subtract(b, a)));

  point.at[d] = plane;
  return point;
}

/* A convex polygon into what is below and above a plane. */
static inline void polygon_split(const Polygon *polygon, int d, PetscReal plane, Polygon *below,
                                 Polygon *above)
{
  Vector3 from = polygon->corner[polygon->count - 1];

  below->count = above->count = 0;
  for (int n = 0; n < polygon->count; n++) {
    const Vector3 to = polygon->corner[n];

    if ((from.at[d] < plane && to.at[d] > plane) || (from.at[d] > plane && to.at[d] < plane)) {
      const Vector3 middle =
          from.at[d] < plane ? polygon_crossing(from, to, d, plane) : polygon_crossing(to, from, d, plane);

      below->corner[below->count++] = middle;
      above->corner[above->count++] = middle;
    }
    if (to.at[d] <= plane)
      below->corner[below->count++] = to;
    if (to.at[d] >= plane)
      above->corner[above->count++] = to;
    from = to;
  }
}

static inline void polygon_extent(const Polygon *polygon, int d, PetscReal *low, PetscReal *high)
{
  *low = *high = polygon->corner[0].at[d];
  for (int n = 1; n < polygon->count; n++) {
    *low = PetscMin(*low, polygon->corner[n].at[d]);
    *high = PetscMax(*high, polygon->corner[n].at[d]);
  }
}

#endif
