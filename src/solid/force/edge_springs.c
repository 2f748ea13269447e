/* Solids of springs along the edges of their elements. A rope is a chain of bars, c = E A / l_0 with its
   section A. In cloth and volumes c = E sum V / l_0^2 over the elements at the edge, V their volumes (Van
   Gelder 1998): sheets of equilateral triangles have Young's modulus E and Poisson's ratio 1/3, whatever is
   given. */
#include "element_set.h"
#include "spring_set.h"

static PetscErrorCode Create(const SolidMaterialConfig *material, const ElementList *list,
                             const Vector3 rest[], void **data)
{
  static const PetscReal weights[] = {1., -1.};
  PetscInt               count;
  ElementEdge           *edges;

  PetscFunctionBegin;
  PetscCall(ElementEdgesFind(list, &count, &edges));
  PetscCall(SpringSetCreate(material, list, rest, count, 2, (SpringSet **)data));
  for (PetscInt n = 0, next = 0; n < count; n = next) {
    const PetscReal length = vector3_norm(vector3_subtract(rest[edges[n].ends[0]], rest[edges[n].ends[1]]));
    PetscReal       volume = 0.;

    for (next = n;
         next < count && edges[next].ends[0] == edges[n].ends[0] && edges[next].ends[1] == edges[n].ends[1];
         next++)
      volume += (list->thickness > 0. ? list->thickness : 1.) *
                (list->filled ? list->filled[edges[next].element] : 1.) *
                element_measure(list, edges[next].element, rest);
    spring_set_add(*data, edges[n].ends, weights, material->young * volume / PetscSqr(length), rest);
  }
  PetscCall(PetscFree(edges));
  PetscFunctionReturn(0);
}

/* With what the elements measure now. */
static ForceSums sum_up(const void *data)
{
  const SpringSet *set = data;
  ForceSums        sums = springs_sum_up(data);
  PetscReal       *ratios, *stresses;

  PetscCallAbort(PETSC_COMM_SELF, PetscMalloc2(set->mesh.count, &ratios, set->mesh.count, &stresses));
  springs_measure(data, ratios, stresses);
  for (PetscInt e = 0; e < set->mesh.count; e++) {
    if (element_counts(&set->mesh, &set->mesh.elements[set->mesh.nodes * e]))
      sum_add(&sums.volume,
              (set->mesh.thickness > 0. ? set->mesh.thickness : 1.) * ratios[e] * set->measures[e]);
    if (ratios[e] < sums.least_ratio) {
      sums.least_ratio = ratios[e];
      sums.least = e;
    }
  }
  PetscCallAbort(PETSC_COMM_SELF, PetscFree2(ratios, stresses));
  return sums;
}

const ForceKind EdgeSpringForce = {.name = "springs",
                                   .create = Create,
                                   .survives_inversion = PETSC_TRUE,
                                   .destroy = SpringSetDestroy,
                                   .elements = springs_list,
                                   .add_elastic = springs_add_elastic,
                                   .add_damping = springs_add_damping,
                                   .add_stiffness = springs_add_stiffness,
                                   .assemble = springs_assemble,
                                   .sum_up = sum_up,
                                   .stiffening = springs_stiffening,
                                   .measure = springs_measure,
                                   .plastic_strains = springs_no_strains};
