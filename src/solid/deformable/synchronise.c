/* Soft bindings by synchronisation (2.3.1): copies of points of the surface that have the state of their
   targets but while contact acts on them. Then each is a particle of its own, which drifts; its increment dv
   goes to the parents of its target, dv_i = w_i (m_s / m_i) dv, and it takes the state of the target again.
   This is repeated until nothing drifts any more.

   With 1/m_s = sum w_i L_i / m_i, where L_i are the weights of all copies in contact that hang on the parent
   i, one alone has the effective mass of its target (2.4), and many that share parents do not move these too
   far: 1/m_s on the diagonal is never less than W M^-1 W^T (mass splitting: Tonge et al. 2012). What a body
   gives the copies their parents get, at the same places: both momenta stay. */
#include "synchronise.h"

PetscErrorCode PointSynchronise(Points *points, PetscInt copy, PetscInt target)
{
  Synchronised   *list = &points->synchronised;
  const PetscReal one = 1.;

  PetscFunctionBegin;
  if (!list->loads)
    PetscCall(PetscCalloc3(points->count, &list->loads, points->count, &list->is_copy, points->count,
                           &list->bound));
  PetscCall(PointBind(points, copy, 1, &target, &one));
  list->is_copy[copy] = PETSC_TRUE;
  PetscFunctionReturn(0);
}

PetscErrorCode SynchronisedDestroy(Points *points)
{
  PetscFunctionBegin;
  PetscCall(PetscFree3(points->synchronised.loads, points->synchronised.is_copy, points->synchronised.bound));
  PetscFunctionReturn(0);
}

/* Whether it is a copy, and still bound. */
static PetscBool is_bound_copy(const Points *points, PetscInt point)
{
  return points->synchronised.is_copy[point] && points->bindings.index[point] >= 0 ? PETSC_TRUE : PETSC_FALSE;
}

/* 1/m_s. */
static PetscReal split_inverse_mass(const Points *points, PetscInt binding)
{
  const PointBindings *bindings = &points->bindings;
  PetscReal            sum = 0.;

  for (PetscInt n = bindings->first[binding]; n < bindings->first[binding + 1]; n++)
    sum += bindings->weights[n] * points->synchronised.loads[bindings->parents[n]] *
           points->inverse_mass[bindings->parents[n]];
  return sum;
}

static void find_loads(Points *points)
{
  const PointBindings *bindings = &points->bindings;
  const Synchronised  *list = &points->synchronised;

  for (PetscInt pass = 0; pass < 2; pass++)
    for (PetscInt k = 0; k < list->count; k++) {
      const PetscInt binding = list->bound[k].binding;

      for (PetscInt n = bindings->first[binding]; n < bindings->first[binding + 1]; n++)
        list->loads[bindings->parents[n]] =
            pass ? list->loads[bindings->parents[n]] + bindings->weights[n] : 0.;
    }
}

void synchronised_release(Solid solid, const SolidMotion *motion)
{
  Points       *points = solid->points;
  Synchronised *list = &points->synchronised;

  list->count = 0;
  for (PetscInt k = 0; k < points->contact_count; k++) {
    const PetscInt copy = points->contacts[k].point;

    if (!points->contacts[k].is_loose || !is_bound_copy(points, copy))
      continue;
    motion->points[copy] = points_mean(points, copy, motion->points);
    list->bound[list->count++] =
        (BoundCopy){.copy = copy, .binding = points->bindings.index[copy], .start = motion->points[copy]};
    points->bindings.index[copy] = -1;
  }
  find_loads(points);
  for (PetscInt n = 0; n < list->count; n++)
    points->inverse_mass[list->bound[n].copy] = split_inverse_mass(points, list->bound[n].binding);
}

PetscReal synchronised_bind(Solid solid, SolidMotion *motion)
{
  Points       *points = solid->points;
  Synchronised *list = &points->synchronised;
  PetscReal     largest = 0.;

  for (PetscInt n = 0; n < list->count; n++) {
    const PetscInt copy = list->bound[n].copy;

    list->bound[n].impulse = vector3_scale(1. / points->inverse_mass[copy],
                                           vector3_subtract(motion->points[copy], list->bound[n].start));
    points->inverse_mass[copy] = 0.;
    points->bindings.index[copy] = list->bound[n].binding;
  }
  for (PetscInt n = 0; n < list->count; n++)
    points_push(points, list->bound[n].copy, list->bound[n].impulse, motion->points);
  for (PetscInt n = 0; n < list->count; n++) {
    const PetscInt copy = list->bound[n].copy;
    const Vector3  target = points_mean(points, copy, motion->points);

    largest = PetscMax(largest, vector3_norm(vector3_subtract(motion->points[copy], target)));
    motion->points[copy] = target;
  }
  return largest;
}
