/* Private to src/solid/force: loops over batches of elements, compiled into the kernel of each law. */
#ifndef MILLRACE_SOLID_ELEMENT_KERNEL_H
#define MILLRACE_SOLID_ELEMENT_KERNEL_H

#include "element_set.h"

/* c = a b. */
KERNEL void lanes_multiply(const Lanes a[NINE], const Lanes b[NINE], Lanes c[NINE])
{
  for (int i = 0; i < DIM; i++)
    for (int j = 0; j < DIM; j++)
      c[DIM * i + j] = a[DIM * i] * b[j] + a[DIM * i + 1] * b[DIM + j] + a[DIM * i + 2] * b[2 * DIM + j];
}

/* c = a^T b. */
KERNEL void lanes_multiply_turned(const Lanes a[NINE], const Lanes b[NINE], Lanes c[NINE])
{
  for (int i = 0; i < DIM; i++)
    for (int j = 0; j < DIM; j++)
      c[DIM * i + j] = a[i] * b[j] + a[DIM + i] * b[DIM + j] + a[2 * DIM + i] * b[2 * DIM + j];
}

/* Component d of a vector at corner c. */
KERNEL void lanes_take(const TetrahedronBatch *batch, const Vector3 values[], int c, int d, Lanes *taken)
{
  const int *corner = batch->corners[c];

  *taken = (Lanes){values[corner[0]].at[d], values[corner[1]].at[d], values[corner[2]].at[d],
                   values[corner[3]].at[d]};
}

/* The gradient of a vector that is linear in the element: D D_m^-1. */
KERNEL void lanes_gradient(const TetrahedronBatch *batch, const Vector3 values[], Lanes gradient[NINE])
{
  Lanes edges[NINE];

  for (int d = 0; d < DIM; d++) {
    Lanes first, other;

    lanes_take(batch, values, 0, d, &first);
    for (int c = 0; c < DIM; c++) {
      lanes_take(batch, values, c + 1, d, &other);
      edges[DIM * d + c] = other - first;
    }
  }
  lanes_multiply(edges, batch->inverse, gradient);
}

/* Adds -V P D_m^-T to the corners. */
KERNEL void lanes_give(const TetrahedronBatch *batch, const Lanes stress[NINE], Vector3 f[])
{
  Lanes forces[4][DIM];

  for (int d = 0; d < DIM; d++) {
    for (int c = 0; c < DIM; c++)
      forces[c + 1][d] = -batch->volume * (stress[DIM * d] * batch->inverse[DIM * c] +
                                           stress[DIM * d + 1] * batch->inverse[DIM * c + 1] +
                                           stress[DIM * d + 2] * batch->inverse[DIM * c + 2]);
    forces[0][d] = -(forces[1][d] + forces[2][d] + forces[3][d]);
  }
  for (int l = 0; l < LANES; l++)
    for (int c = 0; c < 4; c++)
      for (int d = 0; d < DIM; d++)
        f[batch->corners[c][l]].at[d] += forces[c][d][l];
}

/* Of another element, whose nodes are the same for all lanes. */
KERNEL void batch_gradient(int nodes, const PointBatch *batch, const Vector3 values[], Lanes gradient[NINE])
{
  for (int i = 0; i < NINE; i++)
    gradient[i] = (Lanes){0., 0., 0., 0.};
  for (int a = 0; a < nodes; a++)
    for (int i = 0; i < NINE; i++)
      gradient[i] += values[batch->nodes[a]].at[i / DIM] * batch->slopes[a][i % DIM];
}

KERNEL void batch_give(int nodes, const PointBatch *batch, const Lanes stress[NINE], Vector3 f[])
{
  for (int a = 0; a < nodes; a++)
    for (int d = 0; d < DIM; d++) {
      const Lanes force =
          batch->volume * (stress[DIM * d] * batch->slopes[a][0] + stress[DIM * d + 1] * batch->slopes[a][1] +
                           stress[DIM * d + 2] * batch->slopes[a][2]);

      f[batch->nodes[a]].at[d] -= (force[0] + force[1]) + (force[2] + force[3]);
    }
}

typedef void (*LanesStress)(const Moduli *moduli, const Lanes gradient[NINE], Lanes stress[NINE]);

/* Elastic forces of all elements; `stress` is known where this is compiled. */
KERNEL void elements_add_elastic(ElementSet *set, const Vector3 x[], Vector3 f[], LanesStress stress)
{
  const Moduli moduli = set->moduli;
  const int    nodes = (int)set->list.nodes;

  for (PetscInt b = 0; b < set->batch_count && set->others; b++) {
    PointBatch *batch = &set->others[b];
    Lanes       gradient[NINE], p[NINE];

    batch_gradient(nodes, batch, x, gradient);
    if (set->list.section != SECTION_SOLID)
      elements_close(set, b, gradient);
    for (int i = 0; i < NINE; i++)
      batch->gradient[i] = gradient[i];
    stress(&moduli, gradient, p);
    batch_give(nodes, batch, p, f);
  }
  for (PetscInt b = 0; b < set->batch_count && set->batches; b++) {
    TetrahedronBatch *batch = &set->batches[b];
    Lanes             gradient[NINE], p[NINE];

    lanes_gradient(batch, x, gradient);
    for (int i = 0; i < NINE; i++)
      batch->gradient[i] = gradient[i];
    stress(&moduli, gradient, p);
    lanes_give(batch, p, f);
  }
}

#endif
