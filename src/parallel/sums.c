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

enum { BITS = 32, LOWEST = -896, BINS = 56, BLOCK = 4096, LANES = 8 };
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

/* The terms a_n b_n, or a_n without b, of rows that lie a stride apart. */
typedef struct {
  const PetscReal *a, *b;
  PetscInt         count, rows, stride;
} Terms;

/* What bins hold of terms; if `largest` is too large for the bins, they are worth nothing. */
typedef struct {
  PetscReal largest, part[REPRODUCIBLE_BINS];
} BinParts;

/* The same in lanes, which are independent, so that no sum waits for itself. */
typedef struct {
  PetscReal largest[LANES], part[REPRODUCIBLE_BINS][LANES];
} LaneParts;

/* Splits a term for each lane from the bin of the first unit downwards: sums of multiples of a unit are
 * exact.
 */
KERNEL void split_lanes(const PetscReal *a, const PetscReal *b, const PetscReal units[REPRODUCIBLE_BINS],
                        LaneParts *lanes)
{
  for (PetscInt lane = 0; lane < LANES; lane++) {
    PetscReal       term = b ? a[lane] * b[lane] : a[lane];
    const PetscReal size = PetscAbsReal(term);

    lanes->largest[lane] = size > lanes->largest[lane] ? size : lanes->largest[lane];
    for (PetscInt n = 0; n < REPRODUCIBLE_BINS; n++) {
      const PetscReal shift = 0x1.8p52 * units[n]; /* numbers of this size are multiples of the unit */
      const PetscReal part = (term + shift) - shift;

      term -= part;
      lanes->part[n][lane] += part;
    }
  }
}

/* The end of a row, filled up with zeros. */
KERNEL void split_rest(PetscInt rest, const PetscReal *a, const PetscReal *b,
                       const PetscReal units[REPRODUCIBLE_BINS], LaneParts *lanes)
{
  PetscReal last[2][LANES] = {{0.}};

  for (PetscInt n = 0; n < rest; n++) {
    last[0][n] = a[n];
    last[1][n] = b ? b[n] : 0.;
  }
  split_lanes(last[0], b ? last[1] : NULL, units, lanes);
}

KERNEL void split(Terms terms, const PetscReal units[REPRODUCIBLE_BINS], BinParts *parts)
{
  const PetscInt rest = terms.count % LANES, whole = terms.count - rest;
  LaneParts      lanes = {{0.}, {{0.}}};

  for (PetscInt row = 0; row < terms.rows; row++) {
    const PetscReal *a = terms.a + row * terms.stride, *b = terms.b ? terms.b + row * terms.stride : NULL;

    for (PetscInt n = 0; n < whole; n += LANES)
      split_lanes(a + n, b ? b + n : NULL, units, &lanes);
    if (rest)
      split_rest(rest, a + whole, b ? b + whole : NULL, units, &lanes);
  }
  *parts = (BinParts){0., {0.}};
  for (PetscInt lane = 0; lane < LANES; lane++) {
    parts->largest = PetscMax(parts->largest, lanes.largest[lane]);
    for (PetscInt n = 0; n < REPRODUCIBLE_BINS; n++)
      parts->part[n] += lanes.part[n][lane];
  }
}

VECTOR_CLONES static void split_values(const Terms *terms, const PetscReal units[REPRODUCIBLE_BINS],
                                       BinParts *parts)
{
  split((Terms){terms->a, NULL, terms->count, terms->rows, terms->stride}, units, parts);
}

VECTOR_CLONES static void split_products(const Terms *terms, const PetscReal units[REPRODUCIBLE_BINS],
                                         BinParts *parts)
{
  split(*terms, units, parts);
}

static void split_for(const ReproducibleSum *sum, const Terms *terms, BinParts *parts)
{
  PetscReal units[REPRODUCIBLE_BINS];

  for (PetscInt n = 0; n < REPRODUCIBLE_BINS; n++)
    units[n] = unit_of(sum->top - 1 - n);
  if (terms->b)
    split_products(terms, units, parts);
  else
    split_values(terms, units, parts);
}

/* Adds at most 2^22 terms. Most need no higher bin than those before them. */
static void add_terms(ReproducibleSum *sum, const Terms *terms)
{
  BinParts parts = {0., {0.}};

  if (sum->top < WILD)
    split_for(sum, terms, &parts);
  if (sum->top < top_of(parts.largest)) {
    raise_top(sum, top_of(parts.largest));
    if (sum->top < WILD)
      split_for(sum, terms, &parts);
  }
  for (PetscInt n = 0; n < REPRODUCIBLE_BINS && sum->top < WILD; n++)
    if (PetscIsInfOrNanReal(parts.part[n])) /* which is no largest term */
      raise_top(sum, WILD);
    else
      sum->units[n] += (PetscInt64)(parts.part[n] * one_over_unit(sum->top - 1 - n));
}

void sum_add_values(ReproducibleSum *sum, const PetscReal values[], PetscInt count)
{
  for (PetscInt first = 0; first < count; first += BLOCK)
    add_terms(sum, &(Terms){values + first, NULL, PetscMin(BLOCK, count - first), 1, 0});
}

void sum_add_products(ReproducibleSum *sum, const PetscReal a[], const PetscReal b[], PetscInt count)
{
  for (PetscInt first = 0; first < count; first += BLOCK)
    add_terms(sum, &(Terms){a + first, b + first, PetscMin(BLOCK, count - first), 1, 0});
}

void sum_add_product_rows(ReproducibleSum *sum, const PetscReal a[], const PetscReal b[], PetscInt count,
                          PetscInt rows, PetscInt stride)
{
  const PetscInt together = PetscMax(1, (1 << 22) / PetscMax(count, 1));

  for (PetscInt row = 0; row < rows; row += together)
    add_terms(sum,
              &(Terms){a + row * stride, b + row * stride, count, PetscMin(together, rows - row), stride});
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
