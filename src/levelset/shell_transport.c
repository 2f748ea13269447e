/* Transport of cells near shells, whatever the scheme elsewhere. With K the motion of the nearest shell over
   the step and x the centre of a cell,

     phi(x, t + dt) = phi(foot),  foot = x - dt u(x - dt/2 u(x)),

   u and phi as seen from K^-1 x, where the cell was relative to the shell. If the way from there to the foot
   meets a shell, the foot stays before it. */
#include "interpolant.h"

#include <millrace/trajectory.h>

typedef struct {
  const VisibilityMap *map;
  PetscReal *const    *flow;
  const PetscReal     *from;
  PetscReal            dt, h, reach; /* m: what a whole step covers at most in each direction */
} Transport;

static Vector3 find_foot(const Transport *transport, Vector3 centre, Vector3 eye)
{
  const Vector3 foot =
      visible_trajectory(transport->map, transport->flow, eye, centre, -transport->dt, transport->reach);

  return last_visible(transport->map->visibility, STEP_START, eye, foot);
}

/* Whether all values that a foot can reach are the same, as they are away from interfaces. */
static PetscBool is_uniform(const GridBox *box, const PetscReal *value)
{
  const PetscInt deep = box->dimension == 3 ? 3 : 0;

  for (PetscInt k = -deep; k <= deep; k++)
    for (PetscInt j = -3; j <= 3; j++)
      for (PetscInt i = -3; i <= 3; i++)
        if (value[i + j * box->stride[Y] + (deep ? k * box->stride[Z] : 0)] != value[0])
          return PETSC_FALSE;
  return PETSC_TRUE;
}

static Vector3 centre_of(const VisibilityMap *map, PetscInt c)
{
  PetscInt at[DIM];

  box_at(grid_box(map->grid), c, at);
  return grid_cell_centre(map->grid, at[X], at[Y], at[Z]);
}

static PetscReal carried_value(const Transport *transport, PetscInt c)
{
  const VisibilityMap *map = transport->map;
  const GridBox       *box = grid_box(map->grid);
  Vector3              centre, eye, foot;
  VisibleStencil       stencil;

  if (is_uniform(box, transport->from + c))
    return transport->from[c];
  centre = centre_of(map, c);
  eye = map->visibility->carry(map->visibility->context, STEP_START, centre);
  for (PetscInt d = 0; d < box->dimension; d++)
    eye.at[d] = centre.at[d] + limited_shift(eye.at[d] - centre.at[d], transport->reach);
  foot = find_foot(transport, centre, eye);
  if (!visible_stencil_at_point(map, STEP_START, foot, transport->from, &stencil) &&
      !visible_stencil_at_point(map, STEP_START, eye, transport->from, &stencil))
    return transport->from[c];
  return box->dimension == 2
             ? interpolate(stencil.value + stencil.centre, stencil.stride, stencil.fraction, 2).value
             : interpolate(stencil.value + stencil.centre, stencil.stride, stencil.fraction, 3).value;
}

PetscErrorCode LevelSetAdvectNearShells(LevelSet level_set, PetscReal *const flow[DIM], PetscReal dt,
                                        const PetscReal from[], PetscReal **results)
{
  const PetscReal h = grid_spacing(level_set->grid);
  const Transport transport = {level_set->visibility_map, flow, from, dt, h, (2. - 1e-9) * h};

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(level_set->visibility_map->count, results));
  for (PetscInt n = 0; n < level_set->visibility_map->count; n++)
    (*results)[n] = carried_value(&transport, level_set->visibility_map->cells[n]);
  PetscFunctionReturn(0);
}
