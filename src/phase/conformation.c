/* Upper-convected elasticity (docs/numerics.md, 13a): the conformation C, whose logarithm is what is kept,
   stretches with the flow and relaxes towards the identity in the way of each law. In the plane the direction
   across it takes no part. */
#include "elastic_law.h"

#include <millrace/tensor.h>

static Matrix3 stretch(const ElasticStep *step, const Matrix3 *gradient, const Matrix3 *state)
{
  const Matrix3 change = matrix_scaled(step->dt, gradient), f = matrix_exponential(&change);
  const Matrix3 transpose = matrix3_transpose(&f);
  Matrix3       c = matrix3_multiply(&f, state);

  c = matrix3_multiply(&c, &transpose);
  matrix_symmetrise(&c);
  return c;
}

static Matrix3 stress_of(const ElasticStep *step, PetscReal spring, const Matrix3 *state)
{
  const Matrix3 one = matrix_identity();
  Matrix3       stress = matrix_scaled(spring, state);

  matrix_add(&stress, -1., &one);
  return matrix_scaled(step->elasticity->modulus, &stress);
}

static Matrix3 dilute_stress(const ElasticStep *step, const Matrix3 *state)
{
  return stress_of(step, 1., state);
}

/* tr C - d - log det C, of which the first two may be left out */
static PetscReal strained(const ElasticStep *step, const Matrix3 *state, PetscReal stretched)
{
  return 0.5 * step->elasticity->modulus * (stretched - portable_log(matrix3_determinant(state)));
}

static PetscReal dilute_energy(const ElasticStep *step, const Matrix3 *state)
{
  return strained(step, state, matrix_trace(step->dimension, state) - (PetscReal)step->dimension);
}

static PetscReal size(const Matrix3 *kept)
{
  return 0.5 * matrix_norm(kept);
}

/* Half of C - 1 is the strain where that is small. */
static PetscReal load(const ElasticStep *step, const Matrix3 *state)
{
  const Matrix3 deviator = matrix_deviator(step->dimension, state);

  return 0.5 * matrix_norm(&deviator);
}

static Matrix3 towards_rest(PetscReal kept, PetscReal rest, const Matrix3 *state)
{
  const Matrix3 one = matrix_identity();
  Matrix3       result = matrix_scaled(kept, state);

  matrix_add(&result, (1. - kept) * rest, &one);
  return result;
}

/* C' = -(C - 1) / relaxation, beyond the yield point; exact. */
static Matrix3 relax_dilute(const ElasticStep *step, RelaxationHalf half, const Matrix3 *state)
{
  const Matrix3 deviator = matrix_deviator(step->dimension, state);

  (void)half;
  return towards_rest(part_of_load(step, 0.5 * matrix_norm(&deviator)), 1., state);
}

/* X' = -(X + a X^2) / relaxation with X = C - 1; exact. */
static Matrix3 relax_giesekus(const ElasticStep *step, RelaxationHalf half, const Matrix3 *state)
{
  const Matrix3 one = matrix_identity();
  Matrix3       excess = *state, resistance = one, inverse;

  (void)half;
  matrix_add(&excess, -1., &one);
  matrix_add(&resistance, step->elasticity->mobility * (1. - step->kept), &excess);
  inverse = matrix3_inverse(&resistance);
  excess = matrix3_multiply(&inverse, &excess);
  matrix_symmetrise(&excess);
  excess = matrix_scaled(step->kept, &excess);
  matrix_add(&excess, 1., &one);
  return excess;
}

/* The factor of the spring: without bound where tr C nears the square of the extensibility. What carrying has
   brought there or farther counts as a millionth before. */
static PetscReal spring(const ElasticStep *step, PetscReal trace)
{
  const PetscReal most = PetscSqr(step->elasticity->extensibility);

  return (most - (PetscReal)step->dimension) / PetscMax(most - trace, 1e-6 * most);
}

/* What the trace becomes in half a step with the spring of `end`, less `end`. */
static PetscReal trace_defect(const ElasticStep *step, PetscReal trace, PetscReal end)
{
  const PetscReal factor = spring(step, end), rest = (PetscReal)step->dimension / factor;

  return rest + (trace - rest) * portable_exp(-0.5 * step->dt * factor / step->elasticity->relaxation) - end;
}

/* The trace at the end of half a step that is the one its spring belongs to: between none and the most, by
   the Illinois variant of false position. */
static PetscReal trace_at_end(const ElasticStep *step, PetscReal trace)
{
  const PetscInt most_iterations = 100;
  PetscReal      low = 0., high = PetscSqr(step->elasticity->extensibility) * (1. - 1e-6), next = high;
  PetscReal      above = trace_defect(step, trace, low), below = trace_defect(step, trace, high);
  PetscInt       last = 0;

  for (PetscInt n = 0; n < most_iterations && below < 0. && high - low > 1e-14 * high; n++) {
    const PetscReal before = next;
    PetscReal       defect;

    next = (low * below - high * above) / (below - above);
    defect = trace_defect(step, trace, next);
    if (defect == 0. || next == before)
      break;
    if (defect > 0.) {
      low = next;
      above = defect;
      below *= last > 0 ? 0.5 : 1.;
      last = 1;
    } else {
      high = next;
      below = defect;
      above *= last < 0 ? 0.5 : 1.;
      last = -1;
    }
  }
  return next;
}

/* C' = -(f C - 1) / relaxation, with the spring's factor f of the outer end of the half. */
static Matrix3 relax_fene_p(const ElasticStep *step, RelaxationHalf half, const Matrix3 *state)
{
  const PetscReal trace = matrix_trace(step->dimension, state);
  const PetscReal factor = spring(step, half == HALF_FIRST ? trace : trace_at_end(step, trace));

  return towards_rest(portable_exp(-0.5 * step->dt * factor / step->elasticity->relaxation), 1. / factor,
                      state);
}

/* The largest stretch of all directions. */
static PetscReal stiffness(const ElasticStep *step, const Matrix3 *kept)
{
  return portable_exp(matrix_largest_value(step->dimension, kept));
}

static PetscReal fene_p_stiffness(const ElasticStep *step, const Matrix3 *kept)
{
  const Matrix3 state = symmetric3_exp(kept);

  return spring(step, matrix_trace(step->dimension, &state)) * stiffness(step, kept);
}

static Matrix3 fene_p_stress(const ElasticStep *step, const Matrix3 *state)
{
  return stress_of(step, spring(step, matrix_trace(step->dimension, state)), state);
}

static PetscReal fene_p_energy(const ElasticStep *step, const Matrix3 *state)
{
  const PetscReal most = PetscSqr(step->elasticity->extensibility) - (PetscReal)step->dimension;

  return strained(step, state, most * portable_log(spring(step, matrix_trace(step->dimension, state))));
}

const StrainLaw OldroydB = {symmetric3_exp, symmetric3_log, stretch,   relax_dilute, dilute_stress,
                            dilute_energy,  size,           stiffness, load};
const StrainLaw Giesekus = {symmetric3_exp, symmetric3_log, stretch,
                            relax_giesekus, dilute_stress,  dilute_energy,
                            size,           stiffness,      load};
const StrainLaw FeneP = {symmetric3_exp, symmetric3_log, stretch,          relax_fene_p, fene_p_stress,
                         fene_p_energy,  size,           fene_p_stiffness, load};
