/* Surfaces of a cut that stand back from it, so that contact with a thickness finds them apart.

   A vertex of the surface nearer to a plane than half of the gap moves away from it, to the side of its
   pieces; where it is near several planes, by projections in turn. Only the surface moves: the material and
   what it weighs stay, and its faces touch where their surfaces are a gap apart. Where a half plane ends,
   both sides have the same vertices, which stay. */
#include "cutting.h"

#include <stdlib.h>

static int compare_uses(const void *a, const void *b)
{
  const CutUse *x = a, *y = b;

  if (x->vertex != y->vertex)
    return x->vertex < y->vertex ? -1 : 1;
  return x->piece < y->piece ? -1 : x->piece > y->piece;
}

/* The side of the plane on which all pieces with the vertex are; NO_SIDE if they differ. */
static PetscInt common_side(const CutSurface *surface, PetscInt count, const CutUse uses[], PetscInt plane)
{
  const PetscInt side = surface->sides[surface->plane_count * uses[0].piece + plane];

  for (PetscInt n = 1; n < count; n++)
    if (surface->sides[surface->plane_count * uses[n].piece + plane] != side)
      return NO_SIDE;
  return side;
}

static Vector3 stand_back(const CutSurface *surface, PetscInt count, const CutUse uses[], Vector3 point)
{
  enum { MOST_TURNS = 1000 };
  PetscBool is_done = PETSC_FALSE;

  for (PetscInt turn = 0; turn < MOST_TURNS && !is_done; turn++) {
    is_done = PETSC_TRUE;
    for (PetscInt p = 0; p < surface->plane_count; p++) {
      const MeshPlane *plane = &surface->planes[p];
      const PetscReal  side = (PetscReal)common_side(surface, count, uses, p);
      const Vector3    out = vector3_scale(side / vector3_norm(plane->normal), plane->normal);
      const PetscReal  lack = 0.5 * plane->gap - vector3_dot(out, vector3_subtract(point, plane->point));

      if (side == 0. || lack <= 1e-13 * plane->gap)
        continue;
      point = vector3_add(point, vector3_scale(lack, out));
      is_done = lack <= 1e-13 * surface->size ? is_done : PETSC_FALSE;
    }
  }
  return point;
}

static PetscReal least_weight(const MeshPlace *place)
{
  return PetscMin(PetscMin(place->weights[0], place->weights[1]),
                  PetscMin(place->weights[2], place->weights[3]));
}

/* In the element around the vertex that holds it best. */
static MeshPlace find_place(Mesh mesh, PetscInt count, const CutUse uses[], Vector3 point)
{
  MeshPlace best = cut_place(mesh, uses[0].element, point);

  for (PetscInt n = 1; n < count; n++) {
    const MeshPlace place = cut_place(mesh, uses[n].element, point);

    if (least_weight(&place) > least_weight(&best) + 1e-12)
      best = place;
  }
  return best;
}

void cut_stand_back(CutSurface *surface, MeshCut *result)
{
  PetscInt  end = 0;
  PetscReal widest = 0.;

  for (PetscInt p = 0; p < surface->plane_count; p++)
    widest = PetscMax(widest, surface->planes[p].gap);
  if (!(widest > 0.))
    return;
  qsort(surface->uses, (size_t)surface->use_count, sizeof(*surface->uses), compare_uses);
  for (PetscInt first = 0; first < surface->use_count; first = end) {
    const CutUse *uses = &surface->uses[first];
    Vector3      *at = &result->surface->vertices[uses->vertex];

    while (end < surface->use_count && surface->uses[end].vertex == uses->vertex)
      end++;
    *at = stand_back(surface, end - first, uses, *at);
    result->places[uses->vertex] = find_place(result->mesh, end - first, uses, *at);
  }
}
