/* What advection reads on faces inside of solids that move (docs/numerics.md, section 15): linear
   continuation of the fluid beyond the surface, in place of the solid's own velocity, whose kink at the
   surface would be smeared on its way over the grid. */
#include "fluid_impl.h"

#include <millrace/constrained_faces.h>

PetscErrorCode FluidSetContinuation(Fluid fluid, const FaceContinuation *continuation)
{
  PetscFunctionBegin;
  fluid->continuation = continuation;
  PetscFunctionReturn(0);
}

PetscBool fluid_continues(Fluid fluid, const AdvectedField *carried)
{
  return fluid->continuation && carried->direction != CELL_VALUES && fluid->feet[X] && fluid->mixture &&
                 fluid->mixture->uniform
             ? PETSC_TRUE
             : PETSC_FALSE;
}

/* Cell Reynolds number of a solid with which half of the continuation counts: a layer that the grid does not
   see slips, as in a fluid without viscosity. */
static const PetscReal half_continued = 100.;

static PetscReal resolved_part(Fluid fluid, PetscReal speed)
{
  const PetscReal kinematic = fluid->config->viscosity / fluid->config->density;

  return kinematic > 0. ? kinematic / (kinematic + speed * grid_spacing(fluid->grid) / half_continued) : 0.;
}

/* `gain` is what the field has there besides the velocity, for the solid as for the fluid. */
static PetscReal continued_value(const ContinuedFace *continued, const PetscReal *u, PetscReal gain)
{
  PetscReal sum = 0.;

  for (PetscInt n = 0; n < continued->count; n++) {
    const PetscReal w = u[continued->from[n]] - continued->velocities[n] - gain;

    sum += continued->factor[n] * PetscMax(-continued->speed, PetscMin(w, continued->speed));
  }
  return continued->velocity + gain - sum;
}

PetscErrorCode FluidContinueFaces(Fluid fluid, const AdvectedField *carried, Vec field)
{
  const PetscInt       d = carried->direction;
  const ContinuedFace *faces = fluid->continuation->faces[d];
  const PetscReal     *plain, *velocity;
  PetscReal           *u;

  PetscFunctionBegin;
  if (!fluid->uncontinued)
    PetscCall(MacGridCreateField(fluid->grid, &fluid->uncontinued));
  PetscCall(VecCopy(field, fluid->uncontinued));
  PetscCall(VecGetArrayRead(fluid->uncontinued, &plain));
  PetscCall(VecGetArrayRead(fluid->velocity[d], &velocity));
  PetscCall(VecGetArray(field, &u));
  for (PetscInt n = 0; n < fluid->continuation->count[d]; n++) {
    const PetscInt  c = faces[n].face;
    const PetscReal value = continued_value(&faces[n], plain, plain[c] - velocity[c]);

    u[c] += resolved_part(fluid, faces[n].speed) * (value - plain[c]);
  }
  PetscCall(VecRestoreArray(field, &u));
  PetscCall(VecRestoreArrayRead(fluid->velocity[d], &velocity));
  PetscCall(VecRestoreArrayRead(fluid->uncontinued, &plain));
  PetscCall(FluidFillCarriedGhosts(fluid, carried, field, fluid->time));
  PetscFunctionReturn(0);
}
