/* Rows of weights when one direction is halved: between halving.c and resistors.c. */
#ifndef MILLRACE_HALVING_IMPL_H
#define MILLRACE_HALVING_IMPL_H

#include "multigrid_impl.h"

/* Weights along the direction, from the face inside the parent before to the one inside the parent after;
   ground of both children and of the nearest cells on either side. */
typedef struct {
  const float *before, *lower, *inner, *upper, *after;
  const float *ground_before, *ground_low, *ground_high, *ground_after;
} Line;

/* Faces across the direction: of the children and of the nearest cells on either side; shares of the cells
   above the faces, `next` to those of the next parent and `below` to those of the cells below. */
typedef struct {
  const float *before, *lower, *upper, *after;
  const Share *low, *high;
  PetscInt     next, below;
} Faces;

void share_x(PetscInt count, const Line *line, Share *low, Share *high);
void share_across(PetscInt count, const Line *line, Share *low, Share *high);
void loss_x(PetscInt count, const Line *line, float *loss);
void loss_across(PetscInt count, const Line *line, float *loss);
void scale_x(PetscInt count, const float *face, const float *loss, float *weight);
void scale_across(PetscInt count, const float *face, const float *loss, float *weight);
void add_to_row(PetscInt count, const float *restrict row, float *restrict sum);
void ground_x(PetscInt count, const Line *line, float *ground);
void ground_across(PetscInt count, const Line *line, float *ground);
void add_x(PetscInt count, const float *low, const float *high, float *sum);
void add_across(PetscInt count, const float *low, const float *high, float *sum);
void sum_faces_x(PetscInt count, const Faces *faces, float *weight);
void sum_faces_across(PetscInt count, const Faces *faces, float *weight);
void inner_faces(PetscInt count, PetscInt stride, const float *restrict weight, const float *restrict inverse,
                 float *restrict inner);
void outer_faces(PetscInt count, PetscInt stride, const float *restrict weight, const float *restrict inverse,
                 float *restrict ground);
void clear_outside(PetscInt count, const float *restrict inverse, Share *restrict low, Share *restrict high);

#endif
