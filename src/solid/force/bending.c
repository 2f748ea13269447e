/* Bending of triangles at the edges that two of them share. With the edge from x_0 to x_1, the opposite
   corners x_2 and x_3 and the angles at rest at the ends of the edge, the weights

     k = (c_1 + c'_1, c_0 + c'_0, -c_0 - c_1, -c'_0 - c'_1),   c cotangents at x_0 and x_1 in either triangle,

   make s = sum k x zero of flat ones and as long as the edge times the angle between others (Bergou et al.
   2006; Wardetzky et al. 2007). With the rigidity D and the areas A the stiffness is D / (A + A'): bent to a
   cylinder, equilateral triangles have the energy D/2 per area and squared curvature in all directions,
   halved squares along their sides, and 3/2 of it along their diagonals. Where it is bent at rest, l_0 > 0.
 */
#include "element_set.h"
#include "spring_set.h"

/* Of the angle at `corner` between two others. */
static PetscReal cotangent(Vector3 corner, Vector3 first, Vector3 second)
{
  const Vector3 a = vector3_subtract(first, corner), b = vector3_subtract(second, corner);

  return vector3_dot(a, b) / vector3_norm(vector3_cross(a, b));
}

static void add_hinge(SpringSet *set, const ElementEdge *edge, PetscReal rigidity, const Vector3 rest[])
{
  const PetscInt  nodes[] = {edge[0].ends[0], edge[0].ends[1], edge[0].opposite, edge[1].opposite};
  const Vector3   x0 = rest[nodes[0]], x1 = rest[nodes[1]], x2 = rest[nodes[2]], x3 = rest[nodes[3]];
  const PetscReal at[] = {cotangent(x0, x1, x2), cotangent(x1, x0, x2), cotangent(x0, x1, x3),
                          cotangent(x1, x0, x3)};
  const PetscReal weights[] = {at[1] + at[3], at[0] + at[2], -at[0] - at[1], -at[2] - at[3]};
  const PetscReal areas = set->measures[edge[0].element] + set->measures[edge[1].element];

  spring_set_add(set, nodes, weights, rigidity / areas, rest);
}

static PetscErrorCode Create(const SolidMaterialConfig *material, const ElementList *list,
                             const Vector3 rest[], void **data)
{
  PetscInt     count;
  ElementEdge *edges;

  PetscFunctionBegin;
  PetscCall(ElementEdgesFind(list, &count, &edges));
  PetscCall(SpringSetCreate(material, list, rest, count / 2, SPRING_MOST_NODES, (SpringSet **)data));
  for (PetscInt n = 0; n + 1 < count; n++)
    if (edges[n].ends[0] == edges[n + 1].ends[0] && edges[n].ends[1] == edges[n + 1].ends[1])
      add_hinge(*data, &edges[n], material->bending, rest);
  PetscCall(PetscFree(edges));
  PetscFunctionReturn(0);
}

const ForceKind BendingForce = {.name = "bending", .create = Create, SPRING_FORCE};
