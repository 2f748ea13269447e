/* Whether a coupled run has more energy than anything could have given it.

   Where nothing but gravity drives fluid and bodies, their kinetic energy is at most what they began with and
   what they have released by sinking, with an allowance for the inaccuracy of transport, a part of what all
   of their mass would release on its way down the box, M g L. A state beyond that is not to be trusted,
   however finite it is: bodies that weigh next to nothing at a free surface came to it. */
#include "coupled_impl.h"

static const PetscReal inaccuracy = 0.02; /* of M g L */

/* Other than the number zero. */
static PetscBool acts(Formula formula)
{
  return formula && !(formula_is_constant(formula) && formula_value(formula, vector3(0., 0., 0.), 0.) == 0.)
             ? PETSC_TRUE
             : PETSC_FALSE;
}

static PetscBool sides_drive(const FluidConfig *config)
{
  for (PetscInt n = 0; n < 2 * DIM; n++)
    for (PetscInt d = 0; d < DIM; d++)
      if (acts(config->sides[n / 2][n % 2].velocity[d]))
        return PETSC_TRUE;
  return PETSC_FALSE;
}

static PetscBool fluid_is_driven(const FluidConfig *config)
{
  for (PetscInt d = 0; d < DIM; d++)
    if (acts(config->body_force[d]))
      return PETSC_TRUE;
  for (PetscInt s = 0; s < config->scalar_count; s++)
    if (config->scalars[s].expansion != 0.)
      return PETSC_TRUE;
  return sides_drive(config);
}

static PetscBool solids_are_driven(const SolidConfig *config)
{
  for (PetscInt b = 0; b < config->body_count; b++) {
    const BodyConfig *body = &config->bodies[b];

    if (body->kind == BODY_KINEMATIC)
      return PETSC_TRUE;
    for (PetscInt d = 0; d < DIM; d++)
      if (acts(body->force[d]) || acts(body->torque[d]))
        return PETSC_TRUE;
  }
  for (PetscInt j = 0; j < config->joint_count; j++)
    if (config->joints[j].target || config->joints[j].motor)
      return PETSC_TRUE;
  for (PetscInt m = 0; m < config->mesh_count; m++)
    if (config->meshes[m].load_count || config->meshes[m].fibre_count)
      return PETSC_TRUE;
  return PETSC_FALSE;
}

/* Of surface tension there is more than of gravity in small drops. */
static PetscBool only_gravity_drives(const SimulationConfig *config)
{
  return !config->inflow_count && !config->phases.tension_count &&
                 phase_next_change(&config->phases, 0.) == PETSC_MAX_REAL &&
                 !fluid_is_driven(&config->fluid) && !solids_are_driven(&config->solids) &&
                 vector3_norm(config->fluid.gravity) > 0.
             ? PETSC_TRUE
             : PETSC_FALSE;
}

static PetscReal mass_of_bodies(Solid solid)
{
  PetscReal sum = solid_points_mass(solid);

  for (PetscInt b = 0; b < solid_body_count(solid); b++)
    sum += solid_coupled_body(solid, b).mass;
  return sum;
}

/* How far anything can fall in the box. */
static PetscReal deepest_fall(const SimulationConfig *config)
{
  PetscReal sum = 0.;

  for (PetscInt d = 0; d < DIM; d++)
    sum += PetscAbsReal(config->fluid.gravity.at[d]) * config->grid.size.at[d];
  return sum / vector3_norm(config->fluid.gravity);
}

/* Through which fluid comes and goes. */
static PetscBool has_open_side(const SimulationConfig *config)
{
  for (PetscInt n = 0; n < 2 * config->grid.dimension; n++)
    if (config->fluid.sides[n / 2][n % 2].kind == SIDE_OPEN)
      return PETSC_TRUE;
  return PETSC_FALSE;
}

/* Of gravity, for the fluid's mass as it began: what transport loses or gains of it has not fallen; and of
   elasticity. */
static PetscReal potential_energy(Simulation simulation, const FluidTotals *totals)
{
  const PetscReal  *gravity = simulation->config->fluid.gravity.at;
  const SolidReport solid = solid_report(simulation->solid);
  PetscReal         sum = solid.potential_energy + solid.elastic_energy;

  for (PetscInt d = 0; d < simulation->config->grid.dimension && totals->mass > 0.; d++)
    sum -= simulation->coupled->first.mass * gravity[d] * totals->moment[d] / totals->mass;
  return sum;
}

/* The most kinetic energy that there can be, J. */
static PetscReal largest_energy(Simulation simulation, const FluidTotals *totals)
{
  const SimulationConfig *config = simulation->config;
  const EnergyStart      *first = &simulation->coupled->first;
  const PetscReal         all = (totals->mass + mass_of_bodies(simulation->solid)) *
                        vector3_norm(config->fluid.gravity) * deepest_fall(config);
  const PetscReal released = first->potential - potential_energy(simulation, totals);

  if (has_open_side(config))
    return first->kinetic + all;
  return first->kinetic + PetscMin(all, PetscMax(0., released) + inaccuracy * all);
}

PetscErrorCode SimulationCheckEnergy(Simulation simulation, char message[], size_t size)
{
  EnergyStart *first = simulation->coupled ? &simulation->coupled->first : NULL;
  FluidTotals  totals;
  PetscReal    energy, most;

  PetscFunctionBegin;
  if (!first || !simulation->fluid || !only_gravity_drives(simulation->config))
    PetscFunctionReturn(0);
  PetscCall(FluidGetTotals(simulation->fluid, &totals));
  energy = totals.kinetic_energy + solid_report(simulation->solid).kinetic_energy;
  if (!first->is_known) {
    *first = (EnergyStart){PETSC_TRUE, totals.mass, energy, 0.};
    first->potential = potential_energy(simulation, &totals);
  }
  most = largest_energy(simulation, &totals);
  if (!(energy <= most))
    snprintf(message, size,
             "At t = %g s fluid and bodies have %.3g J, more than the %.3g J that gravity can "
             "have given them. Look at the last frame; bodies that are very light beside the "
             "fluid need a larger density, a finer grid or a smaller run.largest_time_step",
             (double)simulation->time, (double)energy, (double)most);
  PetscFunctionReturn(0);
}
