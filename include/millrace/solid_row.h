/* How a place of a solid moves with the unknowns of the solid: unknowns and weights, a piece of the
   interpolation W and of the coupling matrix B (docs/numerics.md, section 14).

   A rigid body has six unknowns, its velocity and its spin; along one axis a place of it moves with three of
   them. A place in a triangle whose vertices are unknowns moves with three, too: that component of each. */
#ifndef MILLRACE_SOLID_ROW_H
#define MILLRACE_SOLID_ROW_H

#include <millrace/api.h>
#include <millrace/base.h>

MILLRACE_API_BEGIN

enum { SOLID_ROW_LENGTH = 3 };

/* One component of the velocity at a place: sum of weight V[dof]. */
typedef struct {
  PetscInt  count; /* at most SOLID_ROW_LENGTH */
  PetscInt  dof[SOLID_ROW_LENGTH];
  PetscReal weight[SOLID_ROW_LENGTH];
} SolidRow;

/* Of a rigid body whose six unknowns begin at `first`, `arm` from its centre of mass, along `direction`:
   v_d + (omega x arm)_d, times `weight`. By ascending unknowns. */
static inline SolidRow solid_row_of_body(PetscInt first, PetscInt direction, Vector3 arm, PetscReal weight)
{
  const PetscInt next = (direction + 1) % MILLRACE_DIM, last = (direction + 2) % MILLRACE_DIM;
  const PetscInt low = next < last ? next : last, high = next < last ? last : next;
  SolidRow       row;

  row.count = 3;
  row.dof[0] = first + direction;
  row.dof[1] = first + MILLRACE_DIM + low;
  row.dof[2] = first + MILLRACE_DIM + high;
  row.weight[0] = weight;
  row.weight[1] = low == next ? weight * arm.at[last] : -weight * arm.at[next];
  row.weight[2] = high == next ? weight * arm.at[last] : -weight * arm.at[next];
  return row;
}

static inline PetscReal solid_row_velocity(const SolidRow *row, const PetscReal velocities[])
{
  PetscReal sum = 0.;

  for (PetscInt n = 0; n < row->count; n++)
    sum += row->weight[n] * velocities[row->dof[n]];
  return sum;
}

/* What a force along that component is to the unknowns: the transpose. */
static inline void solid_row_add_force(const SolidRow *row, PetscReal force, PetscReal forces[])
{
  for (PetscInt n = 0; n < row->count; n++)
    forces[row->dof[n]] += force * row->weight[n];
}

/* Unknowns that belong together: six of a rigid body, three of a particle. */
enum { SOLID_BLOCK_LENGTH = 6 };
typedef struct {
  PetscInt         first, count; /* of the unknowns; at most SOLID_BLOCK_LENGTH */
  PetscBool        is_free;      /* else their velocities are given */
  const PetscReal *mass;         /* count x count; borrowed; zero unless it is free */
} SolidBlock;

MILLRACE_API_END

#endif
