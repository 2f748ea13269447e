/* Body force, buoyancy and pressure gradient on the faces. */
#include "fluid_impl.h"

/* The scalars that push along `direction`, with their force per unit of value. */
typedef struct {
  PetscInt         count;
  const PetscReal *value[FLUID_MAX_SCALARS];
  PetscReal        factor[FLUID_MAX_SCALARS];
  PetscReal        reference[FLUID_MAX_SCALARS];
} Buoyancy;

static PetscErrorCode GetBuoyancy(Fluid fluid, const Vec scalars[], PetscInt direction, Buoyancy *buoyancy)
{
  PetscFunctionBegin;
  buoyancy->count = 0;
  for (PetscInt s = 0; s < fluid->config->scalar_count; s++) {
    const ScalarConfig *scalar = &fluid->config->scalars[s];
    const PetscReal     factor = -fluid->config->gravity.at[direction] * scalar->expansion;

    if (factor == 0.)
      continue;
    PetscCall(VecGetArrayRead(scalars[s], &buoyancy->value[buoyancy->count]));
    buoyancy->factor[buoyancy->count] = factor;
    buoyancy->reference[buoyancy->count++] = scalar->reference;
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode RestoreBuoyancy(Fluid fluid, const Vec scalars[], PetscInt direction,
                                      Buoyancy *buoyancy)
{
  PetscInt next = 0;

  PetscFunctionBegin;
  for (PetscInt s = 0; s < fluid->config->scalar_count; s++)
    if (fluid->config->gravity.at[direction] * fluid->config->scalars[s].expansion != 0.)
      PetscCall(VecRestoreArrayRead(scalars[s], &buoyancy->value[next++]));
  PetscFunctionReturn(0);
}

/* Whether there is a force along d at all: a constant zero is none. */
static Formula body_force(Fluid fluid, PetscInt d)
{
  const Formula force = fluid->config->body_force[d];

  if (force && formula_is_constant(force) && formula_value(force, vector3(0., 0., 0.), 0.) == 0.)
    return NULL;
  return force;
}

/* A single fluid floats in itself; a mixture feels all of gravity. */
static PetscReal weight(Fluid fluid, PetscInt d)
{
  return fluid->mixture ? fluid->config->gravity.at[d] : 0.;
}

/* What pressure holds at rest. */
static PetscReal held(Fluid fluid, PetscInt d)
{
  return fluid->mixture && fluid->mixture->uniform ? weight(fluid, d) : 0.;
}

static inline PetscReal face_acceleration(Fluid fluid, Formula force, const PetscReal *confinement,
                                          const Buoyancy *buoyancy, PetscInt d, const PetscInt at[DIM],
                                          PetscReal time)
{
  const PetscInt c = box_index(grid_box(fluid->grid), at[X], at[Y], at[Z]);
  const PetscInt back = c - grid_box(fluid->grid)->stride[d];
  PetscReal      result = weight(fluid, d);

  if (force)
    result += formula_value(force, grid_face_centre(fluid->grid, d, at[X], at[Y], at[Z]), time);
  if (confinement)
    result += confinement[c];
  for (PetscInt s = 0; s < buoyancy->count; s++)
    result += buoyancy->factor[s] *
              (0.5 * (buoyancy->value[s][c] + buoyancy->value[s][back]) - buoyancy->reference[s]);
  return result;
}

/* Adds dt * acceleration to `u` where it is not null; returns the largest acceleration that can move
   anything. */
static PetscErrorCode VisitForces(Fluid fluid, PetscInt d, const Vec scalars[], PetscReal *u, PetscReal time,
                                  PetscReal dt, PetscReal *largest)
{
  const GridBox   *box = grid_box(fluid->grid);
  const GridRange  range = free_faces(fluid, d);
  const Formula    force = body_force(fluid, d);
  const PetscReal *confinement = NULL;
  Buoyancy         buoyancy;

  PetscFunctionBegin;
  *largest = 0.;
  if (fluid->confinement[d])
    PetscCall(VecGetArrayRead(fluid->confinement[d], &confinement));
  PetscCall(GetBuoyancy(fluid, scalars, d, &buoyancy));
  if (force || confinement || buoyancy.count || weight(fluid, d) != 0.)
    FOR_PLACES(&range, at) {
      const PetscReal acceleration = face_acceleration(fluid, force, confinement, &buoyancy, d, at, time);

      if (u)
        u[box_index(box, at[X], at[Y], at[Z])] += dt * acceleration;
      *largest = PetscMax(*largest, PetscAbsReal(acceleration - held(fluid, d)));
    }
  PetscCall(RestoreBuoyancy(fluid, scalars, d, &buoyancy));
  if (confinement)
    PetscCall(VecRestoreArrayRead(fluid->confinement[d], &confinement));
  PetscFunctionReturn(0);
}

PetscErrorCode FluidGetLargestForce(Fluid fluid, PetscInt direction, PetscReal time, PetscReal *largest)
{
  PetscFunctionBegin;
  PetscCall(VisitForces(fluid, direction, fluid->scalars, NULL, time, 0., largest));
  PetscFunctionReturn(0);
}

PetscErrorCode FluidAddForces(Fluid fluid, PetscInt direction, const Vec scalars[], Vec component,
                              PetscReal time, PetscReal dt)
{
  PetscReal *u, largest;

  PetscFunctionBegin;
  PetscCall(VecGetArray(component, &u));
  PetscCall(VisitForces(fluid, direction, scalars, u, time, dt, &largest));
  PetscCall(VecRestoreArray(component, &u));
  PetscFunctionReturn(0);
}

PetscErrorCode FluidSubtractGradient(Fluid fluid, PetscInt direction, Vec potential, PetscReal factor,
                                     Vec component)
{
  const GridRange  range = free_faces(fluid, direction);
  const PetscReal  scaled = factor / grid_spacing(fluid->grid);
  const PetscReal *p;
  PetscReal       *u;

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(potential, &p));
  PetscCall(VecGetArray(component, &u));
  box_subtract_gradient(grid_box(fluid->grid), &range, direction, scaled, NULL, p, u);
  PetscCall(VecRestoreArray(component, &u));
  PetscCall(VecRestoreArrayRead(potential, &p));
  PetscCall(FluidSetClosedFaces(fluid, direction, component));
  PetscFunctionReturn(0);
}
