/* Forces and torques that a scene gives to bodies: formulas F(t, x), T(t, x) with x the centre of mass, in
   the world's axes or in those that turn with the body, R(t) F.

   A step moves bodies by v + dt/2 a(t), and adds dt times the mean of the loads at its two ends to the
   velocity, the second with the body in its new place: second order, and for a force of place alone the
   scheme of Verlet. A constant load in the world's axes is the same at both. */
#include "../solid_impl.h"

static Vector3 load_value(const Formula formulas[DIM], Vector3 place, PetscReal time)
{
  Vector3 value;

  for (PetscInt d = 0; d < DIM; d++)
    value.at[d] = formulas[d] ? formula_value(formulas[d], place, time) : 0.;
  return value;
}

static PetscBool is_constant(const Formula formulas[DIM])
{
  for (PetscInt d = 0; d < DIM; d++)
    if (formulas[d] && !formula_is_constant(formulas[d]))
      return PETSC_FALSE;
  return PETSC_TRUE;
}

PetscBool body_load_is_constant(const Body *body)
{
  const BodyConfig *config = body->config;

  return config->load_axes == LOAD_AXES_WORLD && is_constant(config->force) && is_constant(config->torque)
             ? PETSC_TRUE
             : PETSC_FALSE;
}

BodyLoad body_load(const Body *body, const RigidTransform *placement, PetscReal time)
{
  const BodyConfig *config = body->config;
  BodyLoad          load = {load_value(config->force, placement->position, time),
                            load_value(config->torque, placement->position, time)};

  if (config->load_axes == LOAD_AXES_BODY) {
    const Quaternion turned =
        quaternion_multiply(placement->rotation, quaternion_conjugate(body->rest.rotation));

    load.force = quaternion_rotate(turned, load.force);
    load.torque = quaternion_rotate(turned, load.torque);
  }
  return load;
}

BodyLoad body_load_mean(const BodyLoad *a, const BodyLoad *b)
{
  return (BodyLoad){vector3_scale(0.5, vector3_add(a->force, b->force)),
                    vector3_scale(0.5, vector3_add(a->torque, b->torque))};
}
