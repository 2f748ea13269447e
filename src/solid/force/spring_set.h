/* Private to src/solid/force: springs between weighted sums of points.

   With weights k whose sum is zero, s = sum k_a x_a, l = |s| and the length l_0 of s at rest,

     W = c/2 (l - l_0)^2,   f_a = -c (l - l_0) k_a s/l,   damping f_a = -b (s/l . sum k v) k_a s/l:

   an edge has the weights 1 and -1; the hinge of two triangles those of their angles (bending.c). W does not
   change with motions as a whole and s/l is along s, so both momenta stay. */
#ifndef MILLRACE_SOLID_SPRING_SET_H
#define MILLRACE_SOLID_SPRING_SET_H

#include "force.h"

enum { SPRING_MOST_NODES = 12, SPRING_MOST_RUN = 3 };

typedef struct {
  PetscReal stiffness; /* N/m: c */
  PetscReal length;    /* m: l_0 */
  Vector3   rest, now; /* s at rest, and where the forces were found last */
  Vector3   along;     /* unit, of the latter; zero where that is */
  PetscInt  run;       /* springs from this one on with the same points, none of them in another's run */
} WeightedSpring;

typedef struct {
  PetscInt        count, nodes;
  PetscInt       *elements; /* owned, `nodes` of each */
  PetscReal      *weights;  /* owned, of these: k */
  WeightedSpring *springs;  /* owned */
  ElementList     mesh;     /* whose springs they are */
  Vector3        *corners;  /* owned, of its elements where the forces were found last */
  PetscReal      *measures; /* owned, of its elements at rest: m, m^2 or m^3 */
  PetscReal       young, damping;
  PetscInt        leader; /* where the last run begins */
} SpringSet;

/* A side that elements of a mesh have: two of its points, by number, and one element; in triangles also the
   point opposite. */
typedef struct {
  PetscInt ends[2], element, opposite;
} ElementEdge;
/* Of all elements, sorted by ends and then by elements: what is common stands together. Owned by the caller.
 */
PetscErrorCode ElementEdgesFind(const ElementList *list, PetscInt *count, ElementEdge **edges);
/* Length, area or volume of an element. */
PetscReal element_measure(const ElementList *list, PetscInt element, const Vector3 x[]);

/* With room for `count` springs of `nodes` points; those are set by spring_set_add. */
PetscErrorCode SpringSetCreate(const SolidMaterialConfig *material, const ElementList *mesh,
                               const Vector3 rest[], PetscInt count, PetscInt nodes, SpringSet **set);
void spring_set_add(SpringSet *set, const PetscInt nodes[], const PetscReal weights[], PetscReal stiffness,
                    const Vector3 rest[]);
PetscErrorCode SpringSetDestroy(void **set);
ElementList    springs_list(const void *set);
void           springs_add_elastic(void *set, const Vector3 x[], Vector3 f[]);
void           springs_add_damping(const void *set, const Vector3 v[], Vector3 f[]);
void      springs_add_stiffness(const void *set, DifferentialPart part, const Vector3 dx[], Vector3 df[]);
void      springs_assemble(const void *set, const MatrixSink *sink);
ForceSums springs_sum_up(const void *set);
PetscReal springs_stiffening(const void *set);
/* Of the elements of the mesh: what they measure over that at rest, and the largest stress of an edge. */
void springs_measure(const void *set, PetscReal ratios[], PetscReal stresses[]);
void springs_no_strains(const void *set, PetscReal strains[]);

/* What all springs have in common of a ForceKind. */
#define SPRING_FORCE                                                                                         \
  .survives_inversion = PETSC_TRUE, .destroy = SpringSetDestroy, .elements = springs_list,                   \
  .add_elastic = springs_add_elastic, .add_damping = springs_add_damping,                                    \
  .add_stiffness = springs_add_stiffness, .assemble = springs_assemble, .sum_up = springs_sum_up,            \
  .stiffening = springs_stiffening, .measure = springs_measure, .plastic_strains = springs_no_strains

#endif
