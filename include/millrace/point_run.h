/* Fields of the grid at many points, linearly between their values.

   Points go in runs of a fixed length, the last one filled up, so that each is computed by the same
   instructions wherever it stands: the result is the same to the last bit on any number of ranks. */
#ifndef MILLRACE_POINT_RUN_H
#define MILLRACE_POINT_RUN_H

#include <millrace/api.h>
#include <millrace/base.h>
#include <millrace/grid.h>
#include <millrace/grid_box.h>
#include <millrace/sampling.h>

MILLRACE_API_BEGIN

enum { POINT_RUN = 64 };

/* A field in the coordinates of the whole box. */
typedef struct {
  PetscInt  base; /* flat index of cell (0, 0, 0), which need not exist here */
  PetscInt  stride[MILLRACE_DIM];
  Vector3   origin;
  PetscReal inverse; /* of the spacing */
} PointFrame;

static inline PointFrame point_frame(MacGrid grid)
{
  const GridBox *box = grid_box(grid);
  PointFrame     frame;

  frame.base = box_index(box, 0, 0, 0);
  for (PetscInt d = 0; d < MILLRACE_DIM; d++)
    frame.stride[d] = box->stride[d];
  frame.origin = grid_origin(grid);
  frame.inverse = 1. / grid_spacing(grid);
  return frame;
}

/* Places of a run along one direction. */
typedef struct {
  PetscInt  corner[POINT_RUN]; /* whole cells times the stride */
  PetscReal fraction[POINT_RUN];
} RunPlaces;

/* Among faces across each direction and, half a cell further, among centres. */
typedef struct {
  RunPlaces on_face[MILLRACE_DIM], on_centre[MILLRACE_DIM];
} PointRun;

/* Points are within one cell of this rank's part. */
MILLRACE_KERNEL void run_locate_along(const PointFrame *frame, PetscInt d, PetscReal shift,
                                      const PetscReal *PETSC_RESTRICT position,
                                      RunPlaces *PETSC_RESTRICT       places)
{
  for (PetscInt n = 0; n < POINT_RUN; n++) {
    const PetscReal place = (position[n] - frame->origin.at[d]) * frame->inverse - shift;
    const PetscInt  whole = whole_below(place);

    places->corner[n] = whole * frame->stride[d];
    places->fraction[n] = place - whole;
  }
}

MILLRACE_KERNEL void run_locate(const PointFrame *frame, PetscReal (*at)[POINT_RUN], PointRun *run,
                                const PetscInt dimension)
{
  for (PetscInt d = 0; d < dimension; d++) {
    run_locate_along(frame, d, 0., at[d], &run->on_face[d]);
    run_locate_along(frame, d, 0.5, at[d], &run->on_centre[d]);
  }
}

/* Along x last, so that two neighbours go through the rest as one vector. */
MILLRACE_KERNEL void run_sample(const PointFrame *frame, const PetscReal *field,
                                const RunPlaces *const places[MILLRACE_DIM], PetscReal *PETSC_RESTRICT result,
                                const PetscInt dimension)
{
  PetscReal pair[POINT_RUN][2];

  for (PetscInt n = 0; n < POINT_RUN; n++) {
    const PetscInt   plane = dimension == 3 ? places[2]->corner[n] : 0;
    const PetscReal *low = field + (frame->base + places[0]->corner[n] + places[1]->corner[n] + plane);
    const PetscReal  z = dimension == 3 ? places[2]->fraction[n] : 0.;

    linear_pair_across(low, frame->stride, places[1]->fraction[n], z, pair[n], dimension);
  }
  for (PetscInt n = 0; n < POINT_RUN; n++)
    result[n] = linear_between(pair[n][0], pair[n][1], places[0]->fraction[n]);
}

/* Each component of a field on faces. */
MILLRACE_KERNEL void run_sample_faces(const PointFrame *frame, const PetscReal *const faces[MILLRACE_DIM],
                                      const PointRun *run, PetscReal (*result)[POINT_RUN],
                                      const PetscInt  dimension)
{
  for (PetscInt d = 0; d < dimension; d++) {
    const RunPlaces *places[MILLRACE_DIM] = {&run->on_centre[0], &run->on_centre[1], &run->on_centre[2]};

    places[d] = &run->on_face[d];
    run_sample(frame, faces[d], places, result[d], dimension);
  }
}

MILLRACE_API_END

#endif
