/* Private to src/solid: forces between points. A kind of force is a file of its own and a row of the table in
   force.c; nothing else knows it. */
#ifndef MILLRACE_SOLID_FORCE_H
#define MILLRACE_SOLID_FORCE_H

#include <millrace/solid.h>
#include <millrace/sums.h>

/* What triangles are a section of: nothing of tetrahedra; a body that does not stretch across them; a sheet
   without stress across it, in a plane or in space. */
typedef enum { SECTION_SOLID, SECTION_PLANE_STRAIN, SECTION_SHEET } ElementSection;

/* Elements of a mesh, by points of the solid: `nodes` each, corners and then the middles of edges (mesh.h).
 */
typedef struct {
  PetscInt         count, nodes;
  const PetscInt  *elements; /* borrowed */
  const PetscReal *filled;   /* the part of each that holds material; null: all */
  ElementSection   section;
  PetscReal        thickness; /* m, of triangles; of segments their section, m^2 */
  const PetscBool *counts;    /* of points: reports count elements whose first point is marked; null: all */

  PetscInt              fibre_count;
  const FibreConfig    *fibres; /* borrowed */
  const RigidTransform *placed; /* from the places and directions of fibres to those of elements; null: the
                                   same */
} ElementList;
static inline PetscBool element_counts(const ElementList *list, const PetscInt points[])
{
  return !list->counts || list->counts[points[0]] ? PETSC_TRUE : PETSC_FALSE;
}

/* More than any element of a force has. */
enum { FORCE_MOST_NODES = 12 };

/* Exact differentials are those that differences approach; definite ones have no positive eigenvalue; those
   at rest are the exact ones where nothing has moved yet. */
typedef enum { DIFFERENTIAL_EXACT, DIFFERENTIAL_DEFINITE, DIFFERENTIAL_AT_REST } DifferentialPart;

/* What elements of a rank do, as sums and extremes. */
typedef struct {
  ReproducibleSum energy;      /* J, elastic */
  ReproducibleSum plastic;     /* J: plastic work so far */
  ReproducibleSum volume;      /* m^3, of now */
  PetscReal       strain;      /* largest plastic one */
  PetscReal       least_ratio; /* of an element's volume now and at rest: det F */
  PetscInt        least;       /* that element */
} ForceSums;

/* The same in numbers. */
typedef struct {
  PetscReal energy, plastic, volume, strain, least_ratio;
} ForceReport;

/* A matrix of an element, 3 nodes x 3 nodes by rows, goes to `add`: stiffness times -K plus damping times
   -D. */
typedef struct {
  PetscReal        stiffness, damping;
  DifferentialPart part; /* of K */
  void (*add)(void *context, PetscInt element, const PetscReal matrix[]);
  void *context;
} MatrixSink;

typedef struct ForceKind ForceKind;
typedef struct {
  const ForceKind *kind;
  void            *data; /* owned, of the kind */
} Force;

/* Arrays hold one vector for each point of the solid; `x` are positions. */
struct ForceKind {
  const char *name; /* as solids.materials.model has it */
  PetscBool   survives_inversion;
  PetscBool   is_slow; /* it needs singular values */
  PetscErrorCode (*create)(const SolidMaterialConfig *material, const ElementList *elements,
                           const Vector3 rest[], void **data);
  PetscErrorCode (*destroy)(void **data);
  /* The elements that matrices are of. */
  ElementList (*elements)(const void *data);
  /* Adds the elastic forces at `x`; damping, differentials and report are those at the same `x` until the
     next call. */
  void (*add_elastic)(void *data, const Vector3 x[], Vector3 f[]);
  /* f += D v: linear, symmetric, takes energy and no momentum. */
  void (*add_damping)(const void *data, const Vector3 v[], Vector3 f[]);
  /* df += K dx. */
  void (*add_stiffness)(const void *data, DifferentialPart part, const Vector3 dx[], Vector3 df[]);
  /* All elements, one by one. */
  void (*assemble)(const void *data, const MatrixSink *sink);
  ForceSums (*sum_up)(const void *data);
  /* How much stiffer than at rest the stiffest element may be: of eigenvalues of the differential. */
  PetscReal (*stiffening)(const void *data);
  /* Of the material of a mesh, its first force: det F and von Mises' stress (Pa) of every element; and
     plastic strain. */
  void (*measure)(const void *data, PetscReal ratios[], PetscReal stresses[]);
  void (*plastic_strains)(const void *data, PetscReal strains[]);

  /* What the material remembers of earlier steps, count times width numbers; none: null. It follows to where
     the forces were found last when `settle` is called, and not before: forces at a place are those of a step
     that leads there. */
  PetscReal *(*state)(void *data, PetscInt *count, PetscInt *width);
  void (*settle)(void *data);
  /* Of what changes with time: forces are those then; null: none does. */
  void (*set_time)(void *data, PetscReal time);
  /* What is impossible about numbers that were read into it; null: nothing. */
  const char *(*fault)(const void *data);
};

ForceReport sums_report(const ForceSums *sums); /* of this rank */
ForceReport force_report(const Force *force);

/* Null: there is none of that name. */
const ForceKind *force_kind(const char name[]);

#endif
