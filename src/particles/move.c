/* Particles carried along a velocity on faces:

     x' = x + dt u(x + dt/2 u(x)),  u linear between the faces of each component,

   in runs of points. */
#include "particles_impl.h"

#include <millrace/point_run.h>
#include <millrace/trajectory.h>

typedef struct {
  PointFrame       frame;
  const PetscReal *faces[DIM];
  PetscReal        reach; /* m: what a whole step covers at most */
} Flow;

/* `moved` = `start` + dt u(`at`), by `reach` at most. */
KERNEL void carry_run(const Flow *flow, PetscReal dt, PetscReal reach, PetscReal (*at)[POINT_RUN],
                      PetscReal (*start)[POINT_RUN], PetscReal (*moved)[POINT_RUN], const PetscInt dimension)
{
  PointRun  run;
  PetscReal velocity[DIM][POINT_RUN];

  run_locate(&flow->frame, at, &run, dimension);
  run_sample_faces(&flow->frame, flow->faces, &run, velocity, dimension);
  for (PetscInt d = 0; d < dimension; d++)
    for (PetscInt n = 0; n < POINT_RUN; n++)
      moved[d][n] = start[d][n] + limited_shift(dt * velocity[d][n], reach);
}

KERNEL void move_run(const Flow *flow, PetscReal dt, PetscInt count, Vector3 *positions,
                     const PetscInt dimension)
{
  PetscReal start[DIM][POINT_RUN], middle[DIM][POINT_RUN], end[DIM][POINT_RUN];

  for (PetscInt n = 0; n < POINT_RUN; n++)
    for (PetscInt d = 0; d < dimension; d++)
      start[d][n] = positions[n < count ? n : count - 1].at[d];
  carry_run(flow, 0.5 * dt, 0.5 * flow->reach, start, start, middle, dimension);
  carry_run(flow, dt, flow->reach, middle, start, end, dimension);
  for (PetscInt n = 0; n < count; n++)
    for (PetscInt d = 0; d < dimension; d++)
      positions[n].at[d] = end[d][n];
}

VECTOR_CLONES static void move_run_2d(const Flow *flow, PetscReal dt, PetscInt count, Vector3 *positions)
{
  move_run(flow, dt, count, positions, 2);
}
VECTOR_CLONES static void move_run_3d(const Flow *flow, PetscReal dt, PetscInt count, Vector3 *positions)
{
  move_run(flow, dt, count, positions, 3);
}

/* A particle that has gone through a side leaves for good where the flow goes out through that side too: it
   is put so far away that the next order drops it. Otherwise it was an error of interpolation. */
static void leave_with_the_flow(const GridBox *box, const Flow *flow, PetscReal dt, Vector3 *position)
{
  const PetscReal negligible = 1e-6; /* cells */
  PetscReal       at[DIM];

  for (PetscInt d = 0; d < box->dimension; d++)
    at[d] = (position->at[d] - flow->frame.origin.at[d]) * flow->frame.inverse;
  for (PetscInt d = 0; d < box->dimension; d++) {
    const PetscReal cells = (PetscReal)box->cells[d], side = at[d] < 0. ? 0. : cells;
    PetscReal       place[DIM], out;

    if (box->periodic[d] || (at[d] >= 0. && at[d] < cells))
      continue;
    for (PetscInt e = 0; e < box->dimension; e++)
      place[e] = e == d ? side : at[e] - 0.5;
    out = dt * flow->frame.inverse * sample_linear(box, flow->faces[d], place);
    if ((side == 0. ? -out : out) > negligible)
      position->at[d] = PETSC_MAX_REAL;
  }
}

/* True when no coordinate lies beyond a side. */
static inline PetscBool is_inside(const GridBox *box, const Flow *flow, const Vector3 *position)
{
  for (PetscInt d = 0; d < box->dimension; d++) {
    const PetscReal place = (position->at[d] - flow->frame.origin.at[d]) * flow->frame.inverse;

    if (!(place >= 0. && place < box->cells[d]))
      return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

static void move_all(const GridBox *box, const Flow *flow, PetscReal dt, PetscInt count, Vector3 *positions)
{
  for (PetscInt n = 0; n < count; n += POINT_RUN)
    if (box->dimension == 2)
      move_run_2d(flow, dt, PetscMin(POINT_RUN, count - n), positions + n);
    else
      move_run_3d(flow, dt, PetscMin(POINT_RUN, count - n), positions + n);
}

PetscInt particles_crossed(Particles particles)
{
  return particles->crossed;
}

PetscErrorCode ParticlesMove(Particles particles, const VisibilityMap *map, Vec velocity[DIM], PetscReal dt)
{
  const GridBox  *box = grid_box(particles->grid);
  const PetscReal spacing = grid_spacing(particles->grid);
  ParticleArrays *now = &particles->now;
  PetscReal      *faces[DIM];
  Passage         passage = {.map = map, .dt = dt, .reach = (2. - 1e-9) * spacing};
  Flow            flow = {.frame = point_frame(particles->grid), .reach = passage.reach};

  PetscFunctionBegin;
  PetscCall(MacGridGetFaces(particles->grid, velocity, faces));
  for (PetscInt d = 0; d < DIM; d++)
    flow.faces[d] = passage.faces[d] = faces[d];
  PetscCall(PassageBegin(&passage, now));
  move_all(box, &flow, dt, now->count, now->positions);
  PetscCall(PassageEnd(&passage, now));
  particles->crossed = passage.crossed;
  for (PetscInt n = 0; n < now->count; n++)
    if (!is_inside(box, &flow, &now->positions[n]))
      leave_with_the_flow(box, &flow, dt, &now->positions[n]);
  PetscCall(MacGridRestoreFaces(particles->grid, velocity, faces));
  PetscCall(ParticlesArrange(particles));
  PetscFunctionReturn(0);
}
