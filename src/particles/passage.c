/* Particles near shells that move. With K the motion of the nearest shell over the step, a particle at x has

     x' = x + dt u(x + dt/2 u(x)),  u as seen from x,

   if the way from x to K^-1 x' meets no shell at the start of the step, and the one from K x to x' none at
   its end. Otherwise it goes only so far along the way from x to K^-1 x' as is free, and on with the shell.
 */
#include "particles_impl.h"

static const PetscReal clearance = 1e-3; /* cells that a way must be free beyond its end */
enum { HALVINGS = 5 };                   /* of a way that is not free */

PetscErrorCode PassageBegin(Passage *passage, const ParticleArrays *arrays)
{
  PetscFunctionBegin;
  passage->count = passage->crossed = 0;
  passage->which = NULL;
  passage->starts = NULL;
  if (!passage->map)
    PetscFunctionReturn(0);
  for (PetscInt n = 0; n < arrays->count; n++)
    passage->count += is_near_shell(passage->map, visibility_map_cell(passage->map, arrays->positions[n]));
  PetscCall(PetscMalloc2(passage->count, &passage->which, passage->count, &passage->starts));
  passage->count = 0;
  for (PetscInt n = 0; n < arrays->count; n++)
    if (is_near_shell(passage->map, visibility_map_cell(passage->map, arrays->positions[n]))) {
      passage->which[passage->count] = n;
      passage->starts[passage->count++] = arrays->positions[n];
    }
  PetscFunctionReturn(0);
}

static PetscBool is_free(const Passage *passage, StepMoment moment, Vector3 from, Vector3 to)
{
  const Visibility *visibility = passage->map->visibility;
  const Vector3     way = vector3_subtract(to, from);
  const PetscReal   length = vector3_norm(way);

  if (length > 0.)
    to = vector3_add(to, vector3_scale(clearance * grid_spacing(passage->map->grid) / length, way));
  return visibility->blocks(visibility->context, moment, from, to) ? PETSC_FALSE : PETSC_TRUE;
}

static Vector3 end_of_passage(const Passage *passage, Vector3 start)
{
  const VisibilityMap *map = passage->map;
  const Visibility    *visibility = map->visibility;
  const Vector3        on = visibility->carry(visibility->context, STEP_END, start);
  Vector3       end = visible_trajectory(map, passage->faces, start, start, passage->dt, passage->reach);
  const Vector3 back = visibility->carry(visibility->context, STEP_START, end);
  PetscReal     part = 1.;

  for (PetscInt n = 0; n <= HALVINGS; n++, part *= 0.5) {
    const Vector3 before = vector3_add(start, vector3_scale(part, vector3_subtract(back, start)));

    if (n > 0)
      end = visibility->carry(visibility->context, STEP_END, before);
    if (is_free(passage, STEP_START, start, before) && is_free(passage, STEP_END, on, end))
      return end;
  }
  return on;
}

PetscErrorCode PassageEnd(Passage *passage, ParticleArrays *arrays)
{
  PetscFunctionBegin;
  for (PetscInt n = 0; n < passage->count; n++) {
    const Vector3     start = passage->starts[n], end = end_of_passage(passage, start);
    const Visibility *visibility = passage->map->visibility;

    arrays->positions[passage->which[n]] = end;
    passage->crossed += visibility->crosses(visibility->context, start, end);
  }
  PetscCall(PetscFree2(passage->which, passage->starts));
  PetscFunctionReturn(0);
}
