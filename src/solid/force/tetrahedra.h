/* Private to src/solid/force: tetrahedra, four linear ones or the four points of a quadratic one at a time.

   Of an element with corners x_0..x_3: F = D_s D_m^-1, where the columns of D_s are x_c - x_0 and D_m is D_s
   at rest. With the first Piola-Kirchhoff stress P(F) and the volume V at rest, the forces on corners 1 to 3
   are the columns of -V P D_m^-T, and corner 0 gets minus their sum ([42] of the thesis). They are added to
   points in the order of elements: the sums do not depend on who holds how many of them.

   A quadratic element has F = sum x_a (grad N_a)^T at the four points of the rule of second order, each with
   a quarter of the volume, and the forces -sum_q V_q P_q grad N_a(q) on its nodes.

   Damping is viscous in the rate of Green's strain E: P = F (2 mu' E' + lambda' tr E' 1) with E' = sym(F^T
   F'), whose moduli are those of the material times a relaxation time. It is zero for every rigid motion, and
   F^-1 P is symmetric: both momenta stay. */
#ifndef MILLRACE_SOLID_TETRAHEDRA_H
#define MILLRACE_SOLID_TETRAHEDRA_H

#include "force.h"

#include <millrace/tensor.h>

enum { LANES = 4, NINE = DIM * DIM, QUADRATIC_NODES = 10 };

/* The same number of four elements. */
typedef PetscReal Lanes __attribute__((vector_size(LANES * sizeof(PetscReal))));

/* Matrices are row by row. Lanes beyond the last element have volume zero. */
typedef struct {
  Lanes inverse[NINE];  /* D_m^-1 */
  Lanes gradient[NINE]; /* F where the forces were found last */
  Lanes volume;         /* at rest */
  int   corners[4][LANES];
} TetrahedronBatch;

/* A lane is a point of the rule. */
typedef struct {
  Lanes slopes[QUADRATIC_NODES][DIM]; /* of the nodes' weights, at rest */
  Lanes gradient[NINE];
  Lanes volume;
  int   nodes[QUADRATIC_NODES];
} QuadraticBatch;

/* Small-strain Lame moduli, what a law makes of them, and the viscous ones. */
typedef struct {
  PetscReal shear, lame; /* mu and lambda, Pa */
  PetscReal own[3];
  PetscReal viscous_shear, viscous_lame; /* Pa s */
} Moduli;

/* What a material is, element by element. */
typedef struct {
  PetscReal (*energy)(const Moduli *moduli, const Matrix3 *f); /* J/m^3 */
  Matrix3 (*stress)(const Moduli *moduli, const Matrix3 *f);   /* P */
  Matrix3 (*differential)(const Moduli *moduli, DifferentialPart part, const Matrix3 *f, const Matrix3 *df);
  /* No eigenvalue of dP/dF is larger, Pa. */
  PetscReal (*stiffness)(const Moduli *moduli, const Matrix3 *f);
} ElasticLaw;

typedef struct {
  PetscInt          count, batch_count;
  TetrahedronBatch *batches; /* owned, as the next; null for the other kind */
  QuadraticBatch   *quadratic;
  const ElasticLaw *law;
  Moduli            moduli;
  PetscReal         stiffness; /* of the law at rest */
} TetrahedronSet;

/* `set_own` fills the law's own moduli; null: it has none. */
PetscErrorCode TetrahedronSetCreate(const ElasticLaw          *law, void (*set_own)(Moduli *moduli),
                                    const SolidMaterialConfig *material, const Tetrahedra *elements,
                                    const Vector3 rest[], TetrahedronSet **set);
PetscErrorCode TetrahedronSetDestroy(void **set);
void           tetrahedra_add_damping(const void *set, const Vector3 v[], Vector3 f[]);
void tetrahedra_add_stiffness(const void *set, DifferentialPart part, const Vector3 dx[], Vector3 df[]);
ForceReport tetrahedra_report(const void *set);
PetscReal   tetrahedra_stiffening(const void *set);
void        tetrahedra_measure(const void *set, PetscReal ratios[], PetscReal stresses[]);

/* isotropic.c: the differential of P = U diag(p) V^T for an energy of the singular values s of F, from
   p_i = dW/ds_i and the matrix of second derivatives ([82]; Smith, de Goes, Kim 2019). */
typedef struct {
  Vector3 slopes;
  Matrix3 curvatures;
} PrincipalLaw;
Matrix3 isotropic_differential(const SignedSvd *svd, const PrincipalLaw *law, DifferentialPart part,
                               const Matrix3 *df);
/* U diag(p) V^T. */
Matrix3 isotropic_compose(const SignedSvd *svd, Vector3 diagonal);

extern const ForceKind NeoHookeanForce, CorotationalForce, StVenantKirchhoffForce, LinearForce;

/* What all laws of tetrahedra have in common of a ForceKind. */
#define TETRAHEDRON_FORCE                                                                                    \
  .destroy = TetrahedronSetDestroy, .add_damping = tetrahedra_add_damping,                                   \
  .add_stiffness = tetrahedra_add_stiffness, .report = tetrahedra_report,                                    \
  .stiffening = tetrahedra_stiffening, .measure = tetrahedra_measure

#endif
