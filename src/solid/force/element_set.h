/* Private to src/solid/force: elements of an elastic material, four linear tetrahedra or the points of one
   other element at a time.

   Of a linear tetrahedron with corners x_0..x_3: F = D_s D_m^-1, where the columns of D_s are x_c - x_0 and
   D_m is D_s at rest. With the first Piola-Kirchhoff stress P(F) and the volume V at rest, the forces on
   corners 1 to 3 are the columns of -V P D_m^-T, and corner 0 gets minus their sum ([42] of the thesis). They
   are added to points in the order of elements: the sums do not depend on who holds how many of them.

   Any other element has F = sum x_a (grad N_a)^T at the points of the rule of second order, with their parts
   of the volume, and the forces -sum_q V_q P_q grad N_a(q) on its nodes. Of a triangle with the unit normal N
   at rest, gradients are in its plane, and F has s n N^T added, with the unit normal n of now: s = 1 where
   strain is plane; in a sheet s is such that there is no stress across it.

   Damping is viscous in the rate of Green's strain E: P = F (2 mu' E' + lambda' tr E' 1) with E' = sym(F^T
   F'), whose moduli are those of the material times a relaxation time. It is zero for every rigid motion, and
   F^-1 P is symmetric: both momenta stay. */
#ifndef MILLRACE_SOLID_ELEMENT_SET_H
#define MILLRACE_SOLID_ELEMENT_SET_H

#include "force.h"

#include <millrace/tensor.h>

enum { LANES = 4, NINE = DIM * DIM, ELEMENT_MOST_NODES = 10 };

/* The same number of four elements, or of four points. */
typedef PetscReal Lanes __attribute__((vector_size(LANES * sizeof(PetscReal))));

/* Linear tetrahedra. Matrices are row by row. Lanes beyond the last element have volume zero. */
typedef struct {
  Lanes inverse[NINE];  /* D_m^-1 */
  Lanes gradient[NINE]; /* F where the forces were found last */
  Lanes volume;         /* at rest */
  int   corners[4][LANES];
} TetrahedronBatch;

/* Another element. A lane is a point of the rule; those beyond the last have volume zero. */
typedef struct {
  Lanes   slopes[ELEMENT_MOST_NODES][DIM]; /* of the nodes' weights, at rest */
  Lanes   gradient[NINE];
  Lanes   volume;
  Vector3 normal; /* N; zero of tetrahedra */
  int     nodes[ELEMENT_MOST_NODES];
} PointBatch;

/* Small-strain Lame moduli, what a law makes of them, and the viscous ones. */
typedef struct {
  PetscReal shear, lame; /* mu and lambda, Pa */
  PetscReal own[3];
  PetscReal viscous_shear, viscous_lame; /* Pa s */
  PetscReal yield, hardening;            /* Pa: at the plastic strain so far; infinite: none */
} Moduli;

/* An energy of the singular values s of F: p_i = dW/ds_i and the second derivatives. */
typedef struct {
  Vector3 slopes;
  Matrix3 curvatures;
} PrincipalLaw;

/* What a material is, point by point. */
typedef struct {
  PetscReal (*energy)(const Moduli *moduli, const Matrix3 *f); /* J/m^3 */
  Matrix3 (*stress)(const Moduli *moduli, const Matrix3 *f);   /* P */
  /* In any order of the values; null: Hooke's law of the displacement. */
  PrincipalLaw (*principal)(const Moduli *moduli, const Vector3 *values);
  /* No eigenvalue of dP/dF is larger, Pa. */
  PetscReal (*stiffness)(const Moduli *moduli, const Matrix3 *f);
  /* The plastic strain that a trial with these values leads to, and the factors by which it takes them back;
     null: it does not yield. */
  PetscReal (*flow)(const Moduli *moduli, const Vector3 *values, Vector3 *factors);
  /* matrix += factor B^T A B with the exact differential A, of an element with these slopes; null: by
   * singular values. */
  void (*add_exact)(const Moduli *moduli, const Matrix3 *f, PetscReal factor, PetscInt nodes,
                    const PetscReal slopes[][DIM], PetscReal matrix[]);
} ElasticLaw;

/* What a point of an element that yields remembers: F_p^-1, whose determinant is 1, and the plastic strain.
 */
typedef struct {
  Matrix3   inverse;
  PetscReal strain;
} PlasticState;
enum { PLASTIC_NUMBERS = NINE + 1 };

typedef struct {
  PetscInt          count, batch_count;
  PetscInt          points; /* of an element */
  ElementList       list;
  TetrahedronBatch *batches; /* owned, as the next; null for the other kind */
  PointBatch       *others;
  const ElasticLaw *law;
  Moduli            moduli;
  PlasticState     *plastic; /* owned, of each point at the start of the step; null: it does not yield */
  PetscReal         flat_lame, viscous_lame; /* of small strains; in a sheet 2 mu lambda / (lambda + 2 mu) */
  PetscReal         stiffness;               /* of the law at rest */
} ElementSet;

/* `set_own` fills the law's own moduli; null: it has none. */
PetscErrorCode ElementSetCreate(const ElasticLaw          *law, void (*set_own)(Moduli *moduli),
                                const SolidMaterialConfig *material, const ElementList *elements,
                                const Vector3 rest[], ElementSet **set);
PetscErrorCode ElementSetDestroy(void **set);
ElementList    elements_list(const void *set);
void           elements_add_damping(const void *set, const Vector3 v[], Vector3 f[]);
void      elements_add_stiffness(const void *set, DifferentialPart part, const Vector3 dx[], Vector3 df[]);
void      elements_assemble(const void *set, const MatrixSink *sink);
ForceSums elements_sum_up(const void *set);
PetscReal elements_stiffening(const void *set);
void      elements_measure(const void *set, PetscReal ratios[], PetscReal stresses[]);
void      elements_plastic_strains(const void *set, PetscReal strains[]);
/* The plastic states; they follow to where the forces were found last; whether they can be. */
PetscReal  *elements_state(void *set, PetscInt *count, PetscInt *width);
void        elements_settle(void *set);
const char *elements_fault(const void *set);
/* Elastic forces of laws without a kernel, point by point. */
void elements_add_elastic_each(ElementSet *set, const Vector3 x[], Vector3 f[]);
/* Of a triangle: F with what it has across. */
void elements_close(const ElementSet *set, PetscInt batch, Lanes gradient[NINE]);

/* Of a lane of a batch, its state; null: it cannot yield. And the moduli with the yield stress that it has
   hardened to. */
PlasticState *element_plastic(const ElementSet *set, PetscInt batch, PetscInt lane);
Moduli        element_moduli(const ElementSet *set, const PlasticState *plastic);

/* batch_matrix.c: of linear tetrahedra with a law of singular values. */
void elements_assemble_batches(const ElementSet *set, const MatrixSink *sink);

/* slopes.c: of an element with straight edges at rest: gradients of its nodes' weights and parts of its
   volume at the points of its rule, the number of which is returned. */
PetscInt element_slopes(const ElementList *list, PetscInt element, const Vector3 rest[], PointBatch *batch);

/* isotropic.c: the differential of P = U diag(p) V^T for an energy of the singular values ([82]; Smith,
   de Goes, Kim 2019), as a matrix of nine by nine numbers and of one direction. */
typedef struct {
  PetscReal at[NINE][NINE];
} Tangent;
void isotropic_tangent(const SignedSvd *svd, const PrincipalLaw *law, ElementSection section,
                       DifferentialPart part, Tangent *tangent);
/* matrix += factor B^T A B, where B takes values of nodes to the gradient by their slopes; of what is no
 * sheet. */
void isotropic_add_matrix(const SignedSvd *svd, const PrincipalLaw *law, DifferentialPart part,
                          PetscReal factor, PetscInt nodes, const PetscReal slopes[][DIM],
                          PetscReal matrix[]);
/* A symmetric matrix without its negative eigenvalues. */
Matrix3 isotropic_without_negative(const Matrix3 *m);
Matrix3 tangent_apply(const Tangent *tangent, const Matrix3 *df);
/* U diag(p) V^T. */
Matrix3 isotropic_compose(const SignedSvd *svd, Vector3 diagonal);
/* P = 2 mu sym G + lambda tr G 1. */
void hooke_tangent(PetscReal shear, PetscReal lame, Tangent *tangent);

/* What all laws of elements have in common of a ForceKind. */
#define ELEMENT_FORCE                                                                                        \
  .destroy = ElementSetDestroy, .elements = elements_list, .add_damping = elements_add_damping,              \
  .add_stiffness = elements_add_stiffness, .assemble = elements_assemble, .sum_up = elements_sum_up,         \
  .stiffening = elements_stiffening, .measure = elements_measure,                                            \
  .plastic_strains = elements_plastic_strains, .state = elements_state, .settle = elements_settle,           \
  .fault = elements_fault

#endif
