/* Reproducible sums (Demmel and Nguyen, IEEE Trans. Computers 64, 2015; Ahrens, Demmel and Nguyen, ACM TOMS
   46, 2020). The numbers have bins of 32 bits, that of bin b in units of

     u_b = 2^(32 b - 896).

   From the top bin downwards a term is split: q_b = t rounded to a multiple of u_b, t <- t - q_b, both exact.
   The top bin of a sum is that of its largest term, |t| <= u_{b+1} / 2, and three bins are kept, at least 64
   bits below that term. Smaller terms have q_b = 0 in bins above their own; what a bin holds of a term thus
   depends on the term alone, and whole numbers of units add up to the same in any order. */
#include <petsc/private/vecimpl.h>

#include <math.h>
#include <millrace/base.h>
#include <millrace/sums.h>

enum { BITS = 32, LOWEST = -896, BINS = 56, BLOCK = 512, LANES = 4 };
enum { WILD = BINS + 1 }; /* top of a sum with terms that are not finite, or beyond 10^269 */

/* 2^exponent, of a normal number. */
KERNEL PetscReal power_of_two(PetscInt64 exponent)
{
  const PetscInt64 bits = (exponent + 1023) << 52;
  PetscReal        power;

  memcpy(&power, &bits, sizeof(power));
  return power;
}

KERNEL PetscReal unit_of(PetscInt64 bin)
{
  return power_of_two(BITS * bin + LOWEST);
}

KERNEL PetscReal one_over_unit(PetscInt64 bin)
{
  return power_of_two(-BITS * bin - LOWEST);
}

/* 1 + the smallest bin with size < u_{bin+1} / 2. */
KERNEL PetscInt64 top_of(PetscReal size)
{
  PetscInt64 bits;

  memcpy(&bits, &size, sizeof(bits)); /* size < 2^((bits >> 52) - 1022) */
  return PetscMin(1 + PetscMax((bits >> 52) - 1022 - LOWEST, 0) / BITS, WILD);
}

/* Makes room for larger terms: the lowest bins are no longer needed. */
static void raise_top(ReproducibleSum *sum, PetscInt64 top)
{
  const PetscInt64 steps = top - sum->top;

  if (steps <= 0)
    return;
  for (PetscInt n = REPRODUCIBLE_BINS - 1; n >= 0; n--)
    sum->units[n] = n >= steps ? sum->units[n - steps] : 0;
  sum->top = top;
}

VECTOR_CLONES static PetscReal largest_of(PetscInt count, const PetscReal *terms)
{
  PetscReal largest[LANES] = {0.};

  for (PetscInt n = 0; n < count; n += LANES)
    for (PetscInt lane = 0; lane < LANES; lane++) {
      const PetscReal size = PetscAbsReal(terms[n + lane]);

      largest[lane] = size > largest[lane] ? size : largest[lane];
    }
  for (PetscInt lane = 1; lane < LANES; lane++)
    largest[0] = largest[lane] > largest[0] ? largest[lane] : largest[0];
  return largest[0];
}

/* Takes from the terms what one bin holds of them, multiples of its unit; the sum of it is exact. */
VECTOR_CLONES static PetscReal take_bin(PetscInt count, PetscReal unit, PetscReal *restrict terms)
{
  const PetscReal shift = 0x1.8p52 * unit; /* numbers of this size are such multiples */
  PetscReal       sum[LANES] = {0.};

  for (PetscInt n = 0; n < count; n += LANES)
    for (PetscInt lane = 0; lane < LANES; lane++) {
      const PetscReal part = (terms[n + lane] + shift) - shift;

      terms[n + lane] -= part;
      sum[lane] += part;
    }
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* Adds a block of terms, which are used up; their number is a multiple of the lanes. */
static void add_block(ReproducibleSum *sum, PetscInt count, PetscReal *terms)
{
  const PetscInt64 top = top_of(largest_of(count, terms));

  raise_top(sum, top);
  for (PetscInt64 n = sum->top - top; n < REPRODUCIBLE_BINS && sum->top < WILD; n++) {
    const PetscInt64 bin = sum->top - 1 - n;
    const PetscReal  part = take_bin(count, unit_of(bin), terms);

    if (PetscIsInfOrNanReal(part)) /* which is no largest term */
      raise_top(sum, WILD);
    else
      sum->units[n] += (PetscInt64)(part * one_over_unit(bin));
  }
}

/* Zero terms up to the next multiple of the lanes. */
static PetscInt fill_lanes(PetscInt count, PetscReal *terms)
{
  for (; count % LANES; count++)
    terms[count] = 0.;
  return count;
}

void sum_add_values(ReproducibleSum *sum, const PetscReal values[], PetscInt count)
{
  PetscReal terms[BLOCK];

  for (PetscInt first = 0; first < count; first += BLOCK) {
    const PetscInt number = PetscMin(BLOCK, count - first);

    memcpy(terms, values + first, number * sizeof(*terms));
    add_block(sum, fill_lanes(number, terms), terms);
  }
}

void sum_add(ReproducibleSum *sum, PetscReal term)
{
  raise_top(sum, top_of(PetscAbsReal(term)));
  for (PetscInt n = 0; n < REPRODUCIBLE_BINS && sum->top < WILD; n++) {
    const PetscInt64 bin = sum->top - 1 - n;
    const PetscReal  shift = 0x1.8p52 * unit_of(bin), part = (term + shift) - shift;

    term -= part;
    sum->units[n] += (PetscInt64)(part * one_over_unit(bin));
  }
}

VECTOR_CLONES static void multiply(PetscInt count, const PetscReal *restrict a, const PetscReal *restrict b,
                                   PetscReal *restrict terms)
{
  for (PetscInt n = 0; n < count; n++)
    terms[n] = a[n] * b[n];
}

void sum_add_products(ReproducibleSum *sum, const PetscReal a[], const PetscReal b[], PetscInt count)
{
  PetscReal terms[BLOCK];

  for (PetscInt first = 0; first < count; first += BLOCK) {
    const PetscInt number = PetscMin(BLOCK, count - first);

    multiply(number, a + first, b + first, terms);
    add_block(sum, fill_lanes(number, terms), terms);
  }
}

PetscReal sum_value(const ReproducibleSum *sum)
{
  PetscReal value = 0.;

  if (sum->top >= WILD)
    return (PetscReal)NAN;
  for (PetscInt n = REPRODUCIBLE_BINS - 1; n >= 0; n--)
    if (sum->units[n])
      value += (PetscReal)sum->units[n] * unit_of(sum->top - 1 - n);
  return value;
}

void sum_add_sum(ReproducibleSum *sum, const ReproducibleSum *other)
{
  raise_top(sum, other->top);
  for (PetscInt64 n = sum->top - other->top, m = 0; n < REPRODUCIBLE_BINS; n++, m++)
    sum->units[n] += other->units[m];
}

/* both += one, for MPI. */
static void MPIAPI merge(void *one, void *both, PetscMPIInt *count, MPI_Datatype *type)
{
  const ReproducibleSum *from = one;
  ReproducibleSum       *to = both;

  (void)type;
  for (PetscMPIInt s = 0; s < *count; s++)
    sum_add_sum(to + s, from + s);
}

PetscErrorCode SumOverRanks(MPI_Comm comm, PetscInt count, const ReproducibleSum sums[], PetscReal values[])
{
  ReproducibleSum *totals;
  MPI_Datatype     type;
  MPI_Op           operation;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(count, &totals));
  PetscCallMPI(MPI_Type_contiguous(sizeof(*totals) / sizeof(PetscInt64), MPIU_INT64, &type));
  PetscCallMPI(MPI_Type_commit(&type));
  PetscCallMPI(MPI_Op_create(merge, 1, &operation));
  PetscCallMPI(MPI_Allreduce(sums, totals, (PetscMPIInt)count, type, operation, comm));
  PetscCallMPI(MPI_Op_free(&operation));
  PetscCallMPI(MPI_Type_free(&type));
  for (PetscInt s = 0; s < count; s++)
    values[s] = sum_value(totals + s);
  PetscCall(PetscFree(totals));
  PetscFunctionReturn(0);
}

static PetscErrorCode Dot(Vec a, Vec b, PetscScalar *product)
{
  const PetscReal *first, *second;
  ReproducibleSum  sum = {0};
  PetscInt         count;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(a, &count));
  PetscCall(VecGetArrayRead(a, &first));
  PetscCall(VecGetArrayRead(b, &second));
  sum_add_products(&sum, first, second, count);
  PetscCall(VecRestoreArrayRead(b, &second));
  PetscCall(VecRestoreArrayRead(a, &first));
  PetscCall(SumOverRanks(PetscObjectComm((PetscObject)a), 1, &sum, product));
  PetscFunctionReturn(0);
}

/* Others than the Euclidean one do not depend on ranks, or are not asked for. */
static PetscErrorCode Norm(Vec vector, NormType type, PetscReal *norm)
{
  PetscErrorCode (*plain)(Vec, NormType, PetscReal *) = NULL;

  PetscFunctionBegin;
  if (type == NORM_2) {
    PetscCall(Dot(vector, vector, norm));
    *norm = PetscSqrtReal(*norm);
    PetscFunctionReturn(0);
  }
  PetscCall(PetscObjectQueryFunction((PetscObject)vector, "MillraceNorm", &plain));
  PetscCall(plain(vector, type, norm));
  PetscFunctionReturn(0);
}

static PetscErrorCode Duplicate(Vec vector, Vec *copy)
{
  PetscErrorCode (*plain)(Vec, Vec *) = NULL;

  PetscFunctionBegin;
  PetscCall(PetscObjectQueryFunction((PetscObject)vector, "MillraceDuplicate", &plain));
  PetscCall(plain(vector, copy));
  PetscCall(VecSumReproducibly(*copy));
  PetscFunctionReturn(0);
}

PetscErrorCode VecSumReproducibly(Vec vector)
{
  PetscFunctionBegin;
  if (vector->ops->dot == Dot && vector->ops->duplicate == Duplicate)
    PetscFunctionReturn(0);
  PetscCall(PetscObjectComposeFunction((PetscObject)vector, "MillraceNorm", vector->ops->norm));
  PetscCall(PetscObjectComposeFunction((PetscObject)vector, "MillraceDuplicate", vector->ops->duplicate));
  vector->ops->dot = vector->ops->tdot = Dot;
  vector->ops->norm = Norm;
  vector->ops->duplicate = Duplicate;
  PetscFunctionReturn(0);
}
