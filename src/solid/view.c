/* The bodies as the other rooms see them. */
#include "solid_impl.h"

#include "contact/solve/contact_set.h"

PetscInt solid_body_count(Solid solid)
{
  return solid->body_count - solid->wall_count;
}

BodyView solid_body_view(Solid solid, PetscInt body)
{
  const BodyConfig *config = solid->bodies[body].config;
  const Vector3     count = config->copies.count;

  return (BodyView){.config = config,
                    .copy = count.at[X] * count.at[Y] * count.at[Z] > 1 ? solid->bodies[body].copy : -1,
                    .position = solid->placements[body].position,
                    .velocity = solid->twists[body].linear,
                    .spin = solid->twists[body].angular};
}

void solid_body_bounds(Solid solid, PetscInt body, Vector3 *low, Vector3 *high)
{
  const Bounds bounds = form_bounds(solid->bodies[body].form, &solid->placements[body]);

  *low = bounds.low;
  *high = bounds.high;
}

PetscBool solid_body_holds(Solid solid, PetscInt body, Vector3 point)
{
  Vector3 gradient;

  return form_distance(solid->bodies[body].form, rigid_apply_inverse(&solid->placements[body], point),
                       &gradient) <= 0.
             ? PETSC_TRUE
             : PETSC_FALSE;
}

PetscErrorCode SolidKeep(Solid solid)
{
  const PetscInt numbers = 3 * solid->particle_count + TWIST * solid->body_count;

  PetscFunctionBegin;
  if (!solid->kept_placements)
    PetscCall(PetscMalloc3(solid->body_count, &solid->kept_placements, numbers, &solid->kept_velocity,
                           solid->particle_count, &solid->kept_particles));
  PetscCall(PetscArraycpy(solid->kept_placements, solid->placements, solid->body_count));
  PetscCall(PetscArraycpy(solid->kept_velocity, solid->velocity, numbers));
  PetscCall(PetscArraycpy(solid->kept_particles, solid->particle_positions, solid->particle_count));
  PetscFunctionReturn(0);
}

/* The contacts are looked for anew; their impulses remain as a first guess. */
PetscErrorCode SolidReturn(Solid solid)
{
  const PetscInt numbers = 3 * solid->particle_count + TWIST * solid->body_count;

  PetscFunctionBegin;
  PetscCheck(solid->kept_placements, solid->comm, PETSC_ERR_ORDER, "There is no state to return to");
  PetscCall(PetscArraycpy(solid->placements, solid->kept_placements, solid->body_count));
  PetscCall(PetscArraycpy(solid->velocity, solid->kept_velocity, numbers));
  PetscCall(PetscArraycpy(solid->particle_positions, solid->kept_particles, solid->particle_count));
  solid->contacts->valid = PETSC_FALSE;
  solid_refresh_mobilities(solid);
  PetscFunctionReturn(0);
}
