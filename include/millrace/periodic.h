/* Images of things in a periodic box, direction by direction. A period of zero: the direction is not
   periodic, and there is one image. */
#ifndef MILLRACE_PERIODIC_H
#define MILLRACE_PERIODIC_H

#include <millrace/api.h>
#include <millrace/base.h>

MILLRACE_API_BEGIN

/* The whole periods in a way, as a length: what is left is the way to the nearest image. */
static inline PetscReal whole_periods(PetscReal way, PetscReal period)
{
  return period > 0. ? period * PetscFloorReal(way / period + 0.5) : 0.;
}
static inline PetscReal nearest_image(PetscReal way, PetscReal period)
{
  return way - whole_periods(way, period);
}

/* The first and the last image, in periods, of what lies between `low` and `high` that can meet the space
   between `start` and `end`; false if none does. */
static inline PetscBool images_between(PetscReal period, PetscReal start, PetscReal end, PetscReal low,
                                       PetscReal high, PetscInt *first, PetscInt *last)
{
  *first = *last = 0;
  if (period <= 0.)
    return start <= high && end >= low ? PETSC_TRUE : PETSC_FALSE;
  *first = (PetscInt)PetscCeilReal((start - high) / period);
  *last = (PetscInt)PetscFloorReal((end - low) / period);
  return *first <= *last ? PETSC_TRUE : PETSC_FALSE;
}

MILLRACE_API_END

#endif
