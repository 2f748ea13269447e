/* Sums over ranks that have the same bits however their terms are shared among the ranks and in whatever
   order they come, so that runs do not depend on the number of ranks by round-off. */
#ifndef MILLRACE_SUMS_H
#define MILLRACE_SUMS_H

#include <petscvec.h>

#include <millrace/api.h>

MILLRACE_API_BEGIN

/* A sum of this rank's terms; all zero: that of none. */
enum { REPRODUCIBLE_BINS = 3 };
typedef struct {
  PetscInt64 top;                      /* 1 + the bin of the largest term so far; 0: there was none */
  PetscInt64 units[REPRODUCIBLE_BINS]; /* from the top bin downwards */
} ReproducibleSum;

/* Not collective. Terms are added as they are rounded, also the products. */
void sum_add(ReproducibleSum *sum, PetscReal term);
void sum_add_values(ReproducibleSum *sum, const PetscReal values[], PetscInt count);
void sum_add_products(ReproducibleSum *sum, const PetscReal a[], const PetscReal b[], PetscInt count);
/* Of `rows` rows of `count` terms, the first ones of which lie `stride` apart. */
void sum_add_product_rows(ReproducibleSum *sum, const PetscReal a[], const PetscReal b[], PetscInt count,
                          PetscInt rows, PetscInt stride);
/* All terms of another sum. */
void sum_add_sum(ReproducibleSum *sum, const ReproducibleSum *other);
/* Of this rank's terms alone. */
PetscReal sum_value(const ReproducibleSum *sum);

/* The values of `count` sums over all ranks of `comm`; the sums stay as they are. Collective: comm. */
PetscErrorCode SumOverRanks(MPI_Comm comm, PetscInt count, const ReproducibleSum sums[], PetscReal values[]);

/* From now on, inner products and Euclidean norms of the vector and of its duplicates are such sums.
   Collective: the vector's ranks. */
PetscErrorCode VecSumReproducibly(Vec vector);

MILLRACE_API_END

#endif
