/* Particles carried along a velocity on faces:

     x' = x + dt u(x + dt/2 u(x)),  u linear between the faces of each component

   They go in runs of a fixed length, the last one filled up, so that each is computed by the same
   instructions wherever it stands: the result is the same to the last bit on any number of ranks. */
#include "particles_impl.h"

#include <millrace/sampling.h>

enum { RUN = 64 };

/* A field in the coordinates of the whole box. */
typedef struct {
  PetscInt  base; /* flat index of cell (0, 0, 0), which need not exist here */
  PetscInt  stride[DIM];
  Vector3   origin;
  PetscReal inverse; /* of the spacing */
} Frame;

static Frame frame_of(const GridBox *box, Vector3 origin, PetscReal spacing)
{
  return (Frame){.base = box_index(box, 0, 0, 0),
                 .stride = {box->stride[X], box->stride[Y], box->stride[Z]},
                 .origin = origin,
                 .inverse = 1. / spacing};
}

/* Places of a run relative to values at faces or, half a cell further, at centres. */
typedef struct {
  PetscInt  corner[RUN]; /* whole cells times the stride */
  PetscReal fraction[RUN];
} ParticlePlaces;

KERNEL void locate(const Frame *frame, PetscInt d, PetscReal shift, const PetscReal *restrict position,
                   ParticlePlaces *restrict places)
{
  for (PetscInt n = 0; n < RUN; n++) {
    const PetscReal place = (position[n] - frame->origin.at[d]) * frame->inverse - shift;
    const PetscInt  whole = whole_below(place);

    places->corner[n] = whole * frame->stride[d];
    places->fraction[n] = place - whole;
  }
}

/* Along x last, so that two neighbours go through the rest as one vector. */
KERNEL void sample_run(const Frame *frame, const PetscReal *field, const ParticlePlaces *const places[DIM],
                       PetscReal *restrict result, const PetscInt dimension)
{
  PetscReal pair[RUN][2];

  for (PetscInt n = 0; n < RUN; n++) {
    const PetscInt   plane = dimension == 3 ? places[Z]->corner[n] : 0;
    const PetscReal *low = field + (frame->base + places[X]->corner[n] + places[Y]->corner[n] + plane);
    const PetscReal *back = low + frame->stride[Y];
    const PetscReal  y = places[Y]->fraction[n];

    for (PetscInt side = 0; side < 2; side++) {
      pair[n][side] = linear_between(low[side], back[side], y);
      if (dimension == 3)
        pair[n][side] = linear_between(
            pair[n][side], linear_between(low[frame->stride[Z] + side], back[frame->stride[Z] + side], y),
            places[Z]->fraction[n]);
    }
  }
  for (PetscInt n = 0; n < RUN; n++)
    result[n] = linear_between(pair[n][0], pair[n][1], places[X]->fraction[n]);
}

typedef struct {
  Frame            frame;
  const PetscReal *faces[DIM];
  PetscReal        reach; /* m: what a whole step covers at most */
} Flow;

/* `moved` = `start` + dt u(`at`), by `reach` at most; not a number counts as too far. */
KERNEL void carry_run(const Flow *flow, PetscReal dt, PetscReal reach, PetscReal (*at)[RUN],
                      PetscReal (*start)[RUN], PetscReal (*moved)[RUN], const PetscInt dimension)
{
  ParticlePlaces on_face[DIM], on_centre[DIM];
  PetscReal      velocity[DIM][RUN];

  for (PetscInt d = 0; d < dimension; d++) {
    locate(&flow->frame, d, 0., at[d], &on_face[d]);
    locate(&flow->frame, d, 0.5, at[d], &on_centre[d]);
  }
  for (PetscInt d = 0; d < dimension; d++) {
    const ParticlePlaces *places[DIM] = {&on_centre[X], &on_centre[Y], &on_centre[Z]};

    places[d] = &on_face[d];
    sample_run(&flow->frame, flow->faces[d], places, velocity[d], dimension);
  }
  for (PetscInt d = 0; d < dimension; d++)
    for (PetscInt n = 0; n < RUN; n++) {
      PetscReal step = dt * velocity[d][n];

      step = step < reach ? step : reach;
      step = step > -reach ? step : -reach;
      moved[d][n] = start[d][n] + step;
    }
}

KERNEL void move_run(const Flow *flow, PetscReal dt, PetscInt count, Vector3 *positions,
                     const PetscInt dimension)
{
  PetscReal start[DIM][RUN], middle[DIM][RUN], end[DIM][RUN];

  for (PetscInt n = 0; n < RUN; n++)
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
  for (PetscInt n = 0; n < count; n += RUN)
    if (box->dimension == 2)
      move_run_2d(flow, dt, PetscMin(RUN, count - n), positions + n);
    else
      move_run_3d(flow, dt, PetscMin(RUN, count - n), positions + n);
}

PetscErrorCode ParticlesMove(Particles particles, const VisibilityMap *map, Vec velocity[DIM], PetscReal dt)
{
  const GridBox  *box = grid_box(particles->grid);
  const PetscReal spacing = grid_spacing(particles->grid);
  ParticleArrays *now = &particles->now;
  PetscReal      *faces[DIM];
  Passage         passage = {.map = map, .dt = dt, .reach = (2. - 1e-9) * spacing};
  Flow flow = {.frame = frame_of(box, grid_origin(particles->grid), spacing), .reach = passage.reach};

  PetscFunctionBegin;
  PetscCall(MacGridGetFaces(particles->grid, velocity, faces));
  for (PetscInt d = 0; d < DIM; d++)
    flow.faces[d] = passage.faces[d] = faces[d];
  PetscCall(PassageBegin(&passage, now));
  move_all(box, &flow, dt, now->count, now->positions);
  PetscCall(PassageEnd(&passage, now));
  for (PetscInt n = 0; n < now->count; n++)
    if (!is_inside(box, &flow, &now->positions[n]))
      leave_with_the_flow(box, &flow, dt, &now->positions[n]);
  PetscCall(MacGridRestoreFaces(particles->grid, velocity, faces));
  PetscCall(ParticlesArrange(particles));
  PetscFunctionReturn(0);
}
