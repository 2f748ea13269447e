/* Velocities and impulses of points and of the bodies that carry points, as vectors of one space. */
#include "distribution.h"

PetscErrorCode SolidMotionCreate(Solid solid, SolidMotion *motion)
{
  PetscFunctionBegin;
  PetscCall(PetscCalloc2(solid->points->count, &motion->points, solid->body_count, &motion->bodies));
  PetscFunctionReturn(0);
}

PetscErrorCode SolidMotionDestroy(SolidMotion *motion)
{
  PetscFunctionBegin;
  PetscCall(PetscFree2(motion->points, motion->bodies));
  PetscFunctionReturn(0);
}

void motion_clear(Solid solid, SolidMotion *motion)
{
  const Points *points = solid->points;

  for (const PointStretch *run = points->here.list; run < points->here.list + points->here.count; run++)
    memset(&motion->points[run->first], 0, (size_t)(run->end - run->first) * sizeof(*motion->points));
  for (PetscInt k = 0; k < points->body_count; k++)
    motion->bodies[points->bodies[k]] = (Twist){0};
}

/* M^-1 times impulses; points with a carrier follow it. Those that the world or a given motion carries stand
   still. */
void motion_yield(Solid solid, const SolidMotion *impulse, SolidMotion *motion)
{
  const Points *points = solid->points;

  FOR_POINTS(&points->here, p)
  for (PetscInt d = 0; d < DIM; d++)
    motion->points[p].at[d] = points->inverse_mass[p] * impulse->points[p].at[d];
  for (PetscInt k = 0; k < points->body_count; k++) {
    const PetscInt  b = points->bodies[k];
    const Mobility *mobility = &solid->mobilities[b];

    motion->bodies[b].linear = vector3_scale(mobility->inverse_mass, impulse->bodies[b].linear);
    motion->bodies[b].angular = matrix3_apply(&mobility->inverse_inertia, impulse->bodies[b].angular);
  }
  points_follow_change(solid, motion);
}

void points_copy(const Points *points, const Vector3 from[], Vector3 to[])
{
  for (const PointStretch *run = points->here.list; run < points->here.list + points->here.count; run++)
    memcpy(&to[run->first], &from[run->first], (size_t)(run->end - run->first) * sizeof(*to));
}

/* Short stretches are put together: each call of a sum has its cost, and its terms may come in any order. */
static ReproducibleSum points_product(const Points *points, const SolidMotion *impulse,
                                      const SolidMotion *motion)
{
  enum { TOGETHER = 256 };
  Vector3         a[TOGETHER], b[TOGETHER];
  PetscInt        waiting = 0;
  ReproducibleSum sum = {0};

  for (PetscInt r = 0; r < points->own.count; r++) {
    const PetscInt first = points->own.list[r].first, count = points->own.list[r].end - first;

    if (waiting + PetscMin(count, TOGETHER) > TOGETHER) {
      sum_add_products(&sum, a[0].at, b[0].at, DIM * waiting);
      waiting = 0;
    }
    if (count >= TOGETHER) {
      sum_add_products(&sum, impulse->points[first].at, motion->points[first].at, DIM * count);
      continue;
    }
    memcpy(&a[waiting], &impulse->points[first], (size_t)count * sizeof(*a));
    memcpy(&b[waiting], &motion->points[first], (size_t)count * sizeof(*b));
    waiting += count;
  }
  sum_add_products(&sum, a[0].at, b[0].at, DIM * waiting);
  return sum;
}

/* Which all ranks have alike. */
static PetscReal bodies_product(Solid solid, const SolidMotion *impulse, const SolidMotion *motion)
{
  const Points *points = solid->points;
  PetscReal     sum = 0.;

  for (PetscInt k = 0; k < points->body_count; k++) {
    const PetscInt b = points->bodies[k];

    sum += vector3_dot(impulse->bodies[b].linear, motion->bodies[b].linear) +
           vector3_dot(impulse->bodies[b].angular, motion->bodies[b].angular);
  }
  return sum;
}

PetscReal motion_product(Solid solid, const SolidMotion *impulse, const SolidMotion *motion)
{
  const ReproducibleSum sum = points_product(solid->points, impulse, motion);

  return sum_value(&sum) + bodies_product(solid, impulse, motion);
}

PetscErrorCode MotionProduct(Solid solid, const SolidMotion *impulse, const SolidMotion *motion,
                             PetscReal *product)
{
  const ReproducibleSum sum = points_product(solid->points, impulse, motion);

  PetscFunctionBegin;
  PetscCall(PointsSums(solid, 1, &sum, product));
  *product += bodies_product(solid, impulse, motion);
  PetscFunctionReturn(0);
}

/* Of numbers in a row, which may be the same ones. */
VECTOR_CLONES static void combine(PetscInt count, PetscReal scale, PetscReal factor, const PetscReal from[],
                                  PetscReal into[])
{
  for (PetscInt n = 0; n < count; n++)
    into[n] = scale * into[n] + factor * from[n];
}

/* into = scale * into + factor * from. */
void motion_combine(Solid solid, PetscReal scale, PetscReal factor, const SolidMotion *from,
                    SolidMotion *into)
{
  const Points *points = solid->points;

  for (const PointStretch *run = points->here.list; run < points->here.list + points->here.count; run++)
    combine(DIM * (run->end - run->first), scale, factor, from->points[run->first].at,
            into->points[run->first].at);
  for (PetscInt k = 0; k < points->body_count; k++) {
    const PetscInt b = points->bodies[k];

    into->bodies[b] = twist_add(twist_scale(scale, into->bodies[b]), twist_scale(factor, from->bodies[b]));
  }
}
