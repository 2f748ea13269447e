/* Matrices of linear tetrahedra, four at a time: laws of singular values, and damping.

   With F = U diag(s) V^T, the rows g_a of slopes of nodes in principal axes, V^T grad N_a, and p and q half
   the sum and the difference of the eigenvalues on symmetric and on skew pairs (isotropic.c), the block
   between nodes a and b is U k U^T with

     k_ii = W_ii g_ai g_bi + sum_{j != i} p_ij g_aj g_bj,   k_ij = W_ij g_ai g_bj + q_ij g_aj g_bi.

   Blocks of corner 0 are minus the sums of the others. A definite matrix has the negative eigenvalues set to
   zero; which singular vectors it has been found with does not matter for that. */
#include "lanes_svd.h"

/* Sums of singular values in a pair, and differences, below it are replaced by their limits. */
static const PetscReal near_singular = 1e-6;

enum { CORNERS = 4, WIDTH = DIM * CORNERS };

/* In principal axes, of four elements. */
typedef struct {
  Lanes curvatures[NINE];    /* symmetric */
  Lanes even[DIM], odd[DIM]; /* of the pair without this index */
} LanesTangent;

typedef struct {
  Lanes volume, slopes[NINE];           /* of corners 1 to 3: of the elastic part */
  Lanes f[NINE];                        /* the elastic part */
  Lanes blocks[CORNERS][CORNERS][NINE]; /* a <= b */
} BatchMatrix;

static void take_lane(const SignedSvd *one, PetscInt lane, LanesSvd *svd)
{
  for (PetscInt i = 0; i < NINE; i++) {
    svd->u[i][lane] = one->u.at[i / DIM][i % DIM];
    svd->v[i][lane] = one->v.at[i / DIM][i % DIM];
  }
  for (PetscInt i = 0; i < DIM; i++)
    svd->values[i][lane] = one->values.at[i];
}

/* Of those that four sweeps of Jacobi's method have not decomposed. */
static void mend_svd(const Lanes f[NINE], LanesSvd *svd)
{
  for (PetscInt l = 0; l < LANES; l++)
    if (svd->bad[l]) {
      Matrix3   m;
      SignedSvd one;

      for (PetscInt i = 0; i < NINE; i++)
        m.at[i / DIM][i % DIM] = f[i][l];
      one = matrix3_svd(&m);
      take_lane(&one, l, svd);
    }
}

/* Slopes and curvatures of the law. */
static void find_law(const ElementSet *set, PetscInt batch, const LanesSvd *svd, Lanes slopes[DIM],
                     Lanes curvatures[NINE])
{
  for (PetscInt l = 0; l < LANES; l++) {
    const Moduli       moduli = element_moduli(set, element_plastic(set, batch, l));
    const Vector3      values = vector3(svd->values[0][l], svd->values[1][l], svd->values[2][l]);
    const PrincipalLaw law = set->law->principal(&moduli, &values);

    for (PetscInt i = 0; i < DIM; i++)
      slopes[i][l] = law.slopes.at[i];
    for (PetscInt i = 0; i < NINE; i++)
      curvatures[i][l] = law.curvatures.at[i / DIM][i % DIM];
  }
}

/* By Sylvester's criterion, in lanes; what is not definite, one by one. */
static void drop_negative(Lanes c[NINE])
{
  const Lanes minor = c[0] * c[4] - c[1] * c[3], none = {0.};
  const Lanes whole = c[0] * (c[4] * c[8] - c[5] * c[7]) - c[1] * (c[3] * c[8] - c[5] * c[6]) +
                      c[2] * (c[3] * c[7] - c[4] * c[6]);
  const LaneMasks good = (c[0] > none) & (minor > none) & (whole > none);

  for (PetscInt l = 0; l < LANES; l++)
    if (!good[l]) {
      Matrix3 m;

      for (PetscInt i = 0; i < NINE; i++)
        m.at[i / DIM][i % DIM] = c[i][l];
      m = isotropic_without_negative(&m);
      for (PetscInt i = 0; i < NINE; i++)
        c[i][l] = m.at[i / DIM][i % DIM];
    }
}

/* Eigenvalues on pairs; k is the index that is not in the pair. */
KERNEL void find_pairs(const LanesSvd *svd, const Lanes slopes[DIM], DifferentialPart part,
                       LanesTangent *tangent)
{
  const Lanes none = {0.}, least = none + near_singular;

  for (int k = 0; k < DIM; k++) {
    const int   i = (k + 1) % DIM, j = (k + 2) % DIM;
    const Lanes apart = svd->values[i] - svd->values[j], sum = svd->values[i] + svd->values[j];
    const Lanes limit = 0.5 * (tangent->curvatures[(DIM + 1) * i] + tangent->curvatures[(DIM + 1) * j]) -
                        tangent->curvatures[DIM * i + j];
    Lanes even = (slopes[i] - slopes[j]) / apart, odd;

    even = LANES_CHOOSE((apart < least) & (apart > -least), limit, even);
    odd = (slopes[i] + slopes[j]) / LANES_CHOOSE((sum < least) & (sum > -least), least, sum);
    if (part == DIFFERENTIAL_DEFINITE) {
      even = LANES_CHOOSE(even > none, even, none);
      odd = LANES_CHOOSE(odd > none, odd, none);
    }
    tangent->even[k] = even;
    tangent->odd[k] = odd;
  }
}

/* The block of a and b, before U. */
KERNEL void principal_block(const LanesTangent *tangent, const Lanes a[DIM], const Lanes b[DIM],
                            Lanes k[NINE])
{
  for (int i = 0; i < DIM; i++)
    k[(DIM + 1) * i] = tangent->curvatures[(DIM + 1) * i] * (a[i] * b[i]);
  for (int n = 0; n < DIM; n++) {
    const int   i = (n + 1) % DIM, j = (n + 2) % DIM;
    const Lanes w = tangent->curvatures[DIM * i + j];
    const Lanes p = 0.5 * (tangent->even[n] + tangent->odd[n]),
                q = 0.5 * (tangent->even[n] - tangent->odd[n]);
    const Lanes ij = a[i] * b[j], ji = a[j] * b[i];

    k[(DIM + 1) * i] += p * (a[j] * b[j]);
    k[(DIM + 1) * j] += p * (a[i] * b[i]);
    k[DIM * i + j] = w * ij + q * ji;
    k[DIM * j + i] = w * ji + q * ij;
  }
}

/* block += factor U k U^T. */
KERNEL void add_turned(const Lanes u[NINE], const Lanes *factor, const Lanes k[NINE], Lanes block[NINE])
{
  Lanes half[NINE];

  lanes_multiply(u, k, half);
  for (int i = 0; i < DIM; i++)
    for (int j = 0; j < DIM; j++)
      block[DIM * i + j] += *factor * (half[DIM * i] * u[DIM * j] + half[DIM * i + 1] * u[DIM * j + 1] +
                                       half[DIM * i + 2] * u[DIM * j + 2]);
}

VECTOR_CLONES static void add_elastic_blocks(const LanesSvd *svd, const LanesTangent *tangent,
                                             PetscReal weight, BatchMatrix *matrix)
{
  const Lanes factor = weight * matrix->volume;
  Lanes       g[CORNERS][DIM];

  for (int a = 1; a < CORNERS; a++)
    for (int i = 0; i < DIM; i++)
      g[a][i] = svd->v[i] * matrix->slopes[DIM * (a - 1)] +
                svd->v[DIM + i] * matrix->slopes[DIM * (a - 1) + 1] +
                svd->v[2 * DIM + i] * matrix->slopes[DIM * (a - 1) + 2];
  for (int a = 1; a < CORNERS; a++)
    for (int b = a; b < CORNERS; b++) {
      Lanes k[NINE];

      principal_block(tangent, g[a], g[b], k);
      add_turned(svd->u, &factor, k, matrix->blocks[a][b]);
    }
}

/* Of damping (element_set.h), with w_a = F grad N_a:
   mu' ((F F^T) (grad N_a . grad N_b) + w_b w_a^T) + lambda' w_a w_b^T. */
VECTOR_CLONES static void add_viscous_blocks(PetscReal shear, PetscReal lame, const Lanes f[NINE],
                                             const Lanes inverse[NINE], BatchMatrix *matrix)
{
  Lanes square[NINE], w[CORNERS][DIM];

  for (int i = 0; i < DIM; i++)
    for (int j = 0; j < DIM; j++)
      square[DIM * i + j] =
          matrix->volume * shear *
          (f[DIM * i] * f[DIM * j] + f[DIM * i + 1] * f[DIM * j + 1] + f[DIM * i + 2] * f[DIM * j + 2]);
  for (int a = 1; a < CORNERS; a++)
    for (int i = 0; i < DIM; i++)
      w[a][i] = f[DIM * i] * inverse[DIM * (a - 1)] + f[DIM * i + 1] * inverse[DIM * (a - 1) + 1] +
                f[DIM * i + 2] * inverse[DIM * (a - 1) + 2];
  for (int a = 1; a < CORNERS; a++)
    for (int b = a; b < CORNERS; b++) {
      const Lanes *g = &inverse[DIM * (a - 1)], *h = &inverse[DIM * (b - 1)];
      const Lanes  both = g[0] * h[0] + g[1] * h[1] + g[2] * h[2];

      for (int i = 0; i < DIM; i++)
        for (int j = 0; j < DIM; j++)
          matrix->blocks[a][b][DIM * i + j] +=
              square[DIM * i + j] * both +
              matrix->volume * (shear * (w[b][i] * w[a][j]) + lame * (w[a][i] * w[b][j]));
    }
}

/* Entry of the block between a and b, of which those with a <= b are there. */
KERNEL const Lanes *entry_of(const BatchMatrix *matrix, int row, int column)
{
  const int a = row / DIM, b = column / DIM, i = row % DIM, j = column % DIM;

  return a <= b ? &matrix->blocks[a][b][DIM * i + j] : &matrix->blocks[b][a][DIM * j + i];
}

/* Blocks of corner 0. */
KERNEL void close_blocks(BatchMatrix *matrix)
{
  for (int k = 0; k < NINE; k++)
    matrix->blocks[0][0][k] = (Lanes){0.};
  for (int b = 1; b < CORNERS; b++)
    for (int i = 0; i < DIM; i++)
      for (int j = 0; j < DIM; j++) {
        const Lanes sum = *entry_of(matrix, DIM + i, DIM * b + j) +
                          *entry_of(matrix, 2 * DIM + i, DIM * b + j) +
                          *entry_of(matrix, 3 * DIM + i, DIM * b + j);

        matrix->blocks[0][b][DIM * i + j] = -sum;
        matrix->blocks[0][0][DIM * i + j] += sum;
      }
}

/* Four numbers of each of four elements, from lanes of elements. */
KERNEL void turn_lanes(const Lanes *a, const Lanes *b, const Lanes *c, const Lanes *d, Lanes turned[LANES])
{
  const Lanes ab_low = __builtin_shufflevector(*a, *b, 0, 4, 2, 6);
  const Lanes ab_high = __builtin_shufflevector(*a, *b, 1, 5, 3, 7);
  const Lanes cd_low = __builtin_shufflevector(*c, *d, 0, 4, 2, 6);
  const Lanes cd_high = __builtin_shufflevector(*c, *d, 1, 5, 3, 7);

  turned[0] = __builtin_shufflevector(ab_low, cd_low, 0, 1, 4, 5);
  turned[1] = __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5);
  turned[2] = __builtin_shufflevector(ab_low, cd_low, 2, 3, 6, 7);
  turned[3] = __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7);
}

VECTOR_CLONES static void separate_elements(BatchMatrix *matrix, PetscReal elements[LANES][WIDTH * WIDTH])
{
  close_blocks(matrix);
  for (int row = 0; row < WIDTH; row++)
    for (int column = 0; column < WIDTH; column += LANES) {
      Lanes turned[LANES];

      turn_lanes(entry_of(matrix, row, column), entry_of(matrix, row, column + 1),
                 entry_of(matrix, row, column + 2), entry_of(matrix, row, column + 3), turned);
      for (int l = 0; l < LANES; l++)
        memcpy(&elements[l][WIDTH * row + column], &turned[l], sizeof(Lanes));
    }
}

/* F and slopes of the elastic part: F F_p^-1 and F_p^-T grad N. */
static void take_plastic(const ElementSet *set, PetscInt batch, BatchMatrix *matrix)
{
  Lanes inverse[NINE], f[NINE], slopes[NINE];

  for (PetscInt i = 0; i < NINE; i++)
    for (PetscInt l = 0; l < LANES; l++)
      inverse[i][l] = element_plastic(set, batch, l)->inverse.at[i / DIM][i % DIM];
  lanes_multiply(matrix->f, inverse, f);
  lanes_multiply(matrix->slopes, inverse, slopes);
  memcpy(matrix->f, f, sizeof(f));
  memcpy(matrix->slopes, slopes, sizeof(slopes));
}

VECTOR_CLONES static void decompose(const Lanes f[NINE], LanesSvd *svd)
{
  lanes_svd(f, svd);
}

VECTOR_CLONES static void find_eigenvalues(const LanesSvd *svd, const Lanes slopes[DIM],
                                           DifferentialPart part, LanesTangent *tangent)
{
  find_pairs(svd, slopes, part, tangent);
}

static void add_elastic(const ElementSet *set, const MatrixSink *sink, PetscInt batch, BatchMatrix *matrix)
{
  LanesSvd     svd;
  LanesTangent tangent;
  Lanes        slopes[DIM];

  if (set->plastic)
    take_plastic(set, batch, matrix);
  decompose(matrix->f, &svd);
  mend_svd(matrix->f, &svd);
  find_law(set, batch, &svd, slopes, tangent.curvatures);
  find_eigenvalues(&svd, slopes, sink->part, &tangent);
  if (sink->part == DIFFERENTIAL_DEFINITE)
    drop_negative(tangent.curvatures);
  add_elastic_blocks(&svd, &tangent, sink->stiffness, matrix);
}

void elements_assemble_batches(const ElementSet *set, const MatrixSink *sink)
{
  const PetscReal shear = sink->damping * set->moduli.viscous_shear, lame = sink->damping * set->viscous_lame;
  PetscReal       elements[LANES][WIDTH * WIDTH];

  for (PetscInt b = 0; b < set->batch_count; b++) {
    const TetrahedronBatch *batch = &set->batches[b];
    BatchMatrix             matrix = {.volume = batch->volume};

    memcpy(matrix.f, batch->gradient, sizeof(matrix.f));
    memcpy(matrix.slopes, batch->inverse, sizeof(matrix.slopes));
    if (sink->stiffness > 0.)
      add_elastic(set, sink, b, &matrix);
    if (shear > 0.)
      add_viscous_blocks(shear, lame, batch->gradient, batch->inverse, &matrix);
    separate_elements(&matrix, elements);
    for (PetscInt l = 0; l < LANES && LANES * b + l < set->count; l++)
      sink->add(sink->context, LANES * b + l, elements[l]);
  }
}
