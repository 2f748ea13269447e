/* What elasticity makes of strain in one cell. A law knows a state that is opened from what is kept and
   carried, and closed again: the conformation C from its logarithm, or the strain as it is. */
#ifndef MILLRACE_ELASTIC_LAW_H
#define MILLRACE_ELASTIC_LAW_H

#include <millrace/phase.h>

typedef struct {
  const RegionElasticity *elasticity;
  PetscInt                dimension;
  PetscReal               dt;
  PetscReal               kept; /* of a stress that relaxes freely, after half of dt */
} ElasticStep;

/* Relaxation over half a step is taken before and after the stretching; the last half is the first one's
   adjoint, so that both are of second order. */
typedef enum { HALF_FIRST, HALF_LAST } RelaxationHalf;

typedef struct {
  Matrix3 (*open)(const Matrix3 *kept);
  Matrix3 (*close)(const Matrix3 *state);
  /* `gradient` at [d][a] is that of velocity component d along a; turns as well. */
  Matrix3 (*stretch)(const ElasticStep *step, const Matrix3 *gradient, const Matrix3 *state);
  Matrix3 (*relax)(const ElasticStep *step, RelaxationHalf half, const Matrix3 *state);
  Matrix3 (*stress)(const ElasticStep *step, const Matrix3 *state);   /* Pa */
  PetscReal (*energy)(const ElasticStep *step, const Matrix3 *state); /* J/m^3 */
  PetscReal (*size)(const Matrix3 *kept);                             /* the norm of the strain */
  /* The most that a stress answers to a small strain, over the modulus: 1 at rest. */
  PetscReal (*stiffness)(const ElasticStep *step, const Matrix3 *kept);
  PetscReal (*load)(const ElasticStep *step, const Matrix3 *state); /* that reaches `yield` where it yields */
} StrainLaw;

/* Null without elasticity. */
const StrainLaw *elastic_law(ElasticityModel model);
ElasticStep      elastic_step(const RegionElasticity *elasticity, PetscInt dimension, PetscReal dt);
/* One step of a state, by a velocity gradient. */
Matrix3 advanced_state(const StrainLaw *law, const ElasticStep *step, const Matrix3 *gradient,
                       const Matrix3 *state);

/* elastic_law.c */
Matrix3   matrix_exponential(const Matrix3 *m);
Matrix3   matrix_scaled(PetscReal factor, const Matrix3 *m);
void      matrix_add(Matrix3 *sum, PetscReal factor, const Matrix3 *m);
Matrix3   matrix_identity(void);
void      matrix_symmetrise(Matrix3 *m); /* round-off is not symmetric */
PetscReal matrix_trace(PetscInt dimension, const Matrix3 *m);
/* m less its mean pressure (in the plane zero across it), and the root of the sum of squares of that. */
Matrix3   matrix_deviator(PetscInt dimension, const Matrix3 *m);
PetscReal matrix_norm(const Matrix3 *m);
PetscReal matrix_largest_value(PetscInt dimension, const Matrix3 *m); /* eigenvalue; in space a bound */
/* What relaxation keeps of a load beyond the yield point, in half a step. */
PetscReal part_of_load(const ElasticStep *step, PetscReal load);

/* conformation.c, rotated_strain.c */
extern const StrainLaw OldroydB, Giesekus, FeneP, RotatedStrain;

#endif
