/* Private to src/solid/force: singular values of four matrices at a time, for matrices of implicit steps.

   Cyclic Jacobi rotations of F^T F give V; the columns of F V, the longest first, give U by Gram and Schmidt
   (McAdams et al. 2011). It needs a fifth of the time of matrix3_svd, whose precision it has where F is of
   moderate condition; lanes that are not, or have not converged, are said. Rotations that have nothing left
   to turn change no bit, and no lane sees another. */
#ifndef MILLRACE_SOLID_LANES_SVD_H
#define MILLRACE_SOLID_LANES_SVD_H

#include "element_kernel.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

typedef int64_t LaneMasks __attribute__((vector_size(LANES * sizeof(int64_t))));

/* Lane by lane, a where the mask is set, else b. */
#define LANES_CHOOSE(mask, a, b) ((Lanes)(((mask) & (LaneMasks)(a)) | (~(mask) & (LaneMasks)(b))))

/* F = u diag(values) v^T with rotations u and v, the last value alone may be negative. */
typedef struct {
  Lanes     u[NINE], v[NINE], values[DIM];
  LaneMasks bad; /* lanes to be decomposed otherwise */
} LanesSvd;

/* The C library's roots, which may set an error number, would be found one by one. */
KERNEL void lanes_root(const Lanes *square, Lanes *root)
{
#ifdef __SSE2__
  const __m128d low = _mm_sqrt_pd((__m128d){(*square)[0], (*square)[1]});
  const __m128d high = _mm_sqrt_pd((__m128d){(*square)[2], (*square)[3]});

  *root = (Lanes){low[0], low[1], high[0], high[1]};
#else
  for (int l = 0; l < LANES; l++)
    (*root)[l] = PetscSqrtReal((*square)[l]);
#endif
}

/* Cosine and sine, at most 45 degrees, of the rotation that takes the entry `off` of a symmetric matrix to
   zero between diagonal entries that differ by `apart`. */
KERNEL void find_turn(const Lanes *apart, const Lanes *off, Lanes *cosine, Lanes *sine)
{
  const Lanes     twice = *off + *off, square = *apart * *apart + twice * twice, none = {0.};
  const LaneMasks is_some = square > none;
  Lanes           size, inverse, half;

  lanes_root(&square, &size);
  inverse = 1. / LANES_CHOOSE(is_some, size, none + 1.);
  inverse = LANES_CHOOSE(*apart < none, -inverse, inverse);
  half = 0.5 + 0.5 * LANES_CHOOSE(is_some, *apart * inverse, none + 1.);
  lanes_root(&half, cosine);
  *sine = *off * inverse / *cosine;
}

KERNEL void turn_two(const Lanes *cosine, const Lanes *sine, Lanes *a, Lanes *b)
{
  const Lanes first = *a, second = *b;

  *a = *cosine * first + *sine * second;
  *b = *cosine * second - *sine * first;
}

/* The entry p, q of the symmetric matrix vanishes; r is the third index. */
KERNEL void turn_axes(Lanes s[NINE], Lanes v[NINE], int p, int q, int r)
{
  Lanes *other_p = &s[p < r ? DIM * p + r : DIM * r + p], *other_q = &s[q < r ? DIM * q + r : DIM * r + q];
  const Lanes apart = s[(DIM + 1) * p] - s[(DIM + 1) * q], off = s[DIM * p + q];
  Lanes       cosine, sine, change;

  find_turn(&apart, &off, &cosine, &sine);
  change = sine * (2. * cosine * off - sine * apart);
  s[(DIM + 1) * p] += change;
  s[(DIM + 1) * q] -= change;
  s[DIM * p + q] = (Lanes){0.};
  turn_two(&cosine, &sine, other_p, other_q);
  for (int i = 0; i < DIM; i++)
    turn_two(&cosine, &sine, &v[DIM * i + p], &v[DIM * i + q]);
}

/* The longer of two columns of the image first; v stays a rotation. */
KERNEL void sort_two(Lanes image[NINE], Lanes v[NINE], Lanes squares[DIM], int p, int q)
{
  const LaneMasks wrong = squares[p] < squares[q];
  const Lanes     first = squares[p];

  squares[p] = LANES_CHOOSE(wrong, squares[q], first);
  squares[q] = LANES_CHOOSE(wrong, first, squares[q]);
  for (int i = 0; i < DIM; i++) {
    const Lanes a = image[DIM * i + p], b = image[DIM * i + q], c = v[DIM * i + p], d = v[DIM * i + q];

    image[DIM * i + p] = LANES_CHOOSE(wrong, b, a);
    image[DIM * i + q] = LANES_CHOOSE(wrong, -a, b);
    v[DIM * i + p] = LANES_CHOOSE(wrong, d, c);
    v[DIM * i + q] = LANES_CHOOSE(wrong, -c, d);
  }
}

/* u and the values from images that fall in length. */
KERNEL void name_columns(const Lanes image[NINE], Lanes u[NINE], Lanes values[DIM])
{
  Lanes square = image[0] * image[0] + image[3] * image[3] + image[6] * image[6], length, along, across[DIM];

  lanes_root(&square, &length);
  for (int i = 0; i < DIM; i++)
    u[DIM * i] = image[DIM * i] / length;
  along = u[0] * image[1] + u[3] * image[4] + u[6] * image[7];
  for (int i = 0; i < DIM; i++)
    across[i] = image[DIM * i + 1] - along * u[DIM * i];
  square = across[0] * across[0] + across[1] * across[1] + across[2] * across[2];
  lanes_root(&square, &length);
  for (int i = 0; i < DIM; i++)
    u[DIM * i + 1] = across[i] / length;
  for (int i = 0; i < DIM; i++) {
    const int j = (i + 1) % DIM, k = (i + 2) % DIM;

    u[DIM * i + 2] = u[DIM * j] * u[DIM * k + 1] - u[DIM * k] * u[DIM * j + 1];
  }
  for (int c = 0; c < DIM; c++)
    values[c] = u[c] * image[c] + u[DIM + c] * image[DIM + c] + u[2 * DIM + c] * image[2 * DIM + c];
}

KERNEL void lanes_svd(const Lanes f[NINE], LanesSvd *svd)
{
  enum { SWEEPS = 4 };
  const Lanes least = {1e-8, 1e-8, 1e-8, 1e-8}, small = {1e-28, 1e-28, 1e-28, 1e-28};
  Lanes       s[NINE], image[NINE], squares[DIM], off;

  for (int i = 0; i < NINE; i++)
    svd->v[i] = (Lanes){0.} + (i % (DIM + 1) ? 0. : 1.);
  lanes_multiply_turned(f, f, s);
  for (int sweep = 0; sweep < SWEEPS; sweep++) {
    turn_axes(s, svd->v, 0, 1, 2);
    turn_axes(s, svd->v, 0, 2, 1);
    turn_axes(s, svd->v, 1, 2, 0);
  }
  off = s[1] * s[1] + s[2] * s[2];
  lanes_multiply(f, svd->v, image);
  for (int c = 0; c < DIM; c++)
    squares[c] =
        image[c] * image[c] + image[DIM + c] * image[DIM + c] + image[2 * DIM + c] * image[2 * DIM + c];
  sort_two(image, svd->v, squares, 0, 1);
  sort_two(image, svd->v, squares, 1, 2);
  sort_two(image, svd->v, squares, 0, 1);
  svd->bad = ~((off <= small * squares[0] * squares[0]) & (squares[1] > least * squares[0]));
  name_columns(image, svd->u, svd->values);
}

#endif
