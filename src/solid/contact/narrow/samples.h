/* Points of a form's surface, with a tree of balls around them. */
#ifndef MILLRACE_SOLID_SAMPLES_H
#define MILLRACE_SOLID_SAMPLES_H

#include "touch.h"

typedef struct {
  Vector3   centre; /* of a ball around the points below */
  PetscReal radius;
  PetscInt  first, count; /* points */
  PetscInt  second;       /* the second child; the first one is the next node; 0: a leaf */
} SampleNode;

/* A body can only be touched at a sample from a direction in which its surface faces there. */
typedef struct {
  Vector3   point;  /* in the body's frame */
  Vector3   normal; /* mean of the triangles about it */
  PetscReal cosine; /* between that and the direction, at least; -1 if open */
} Sample;

enum { SAMPLE_DEPTH = 64 }; /* of the tree, at most */

struct _p_Samples {
  PetscInt    count;
  Sample     *all; /* in the order of the leaves */
  PetscInt    node_count;
  SampleNode *nodes;
  PetscReal   spacing; /* of neighbours along an edge, at most */
  PetscReal   sagitta; /* how far the true surface rises above a triangle, about */
};

/* The vertices of the form's surface, and points inside its long edges unless they lie in a plane. On the
   true surface, if the form is round. */
PetscErrorCode SamplesCreate(const Form *form, Samples *samples);
PetscErrorCode SamplesDestroy(Samples *samples);

/* Whether the kind knows its distance exactly everywhere, not by a grid. */
static inline PetscBool form_is_exact(const Form *form)
{
  return form->kind != FORM_SURFACE && form->kind != FORM_SHELL ? PETSC_TRUE : PETSC_FALSE;
}

#endif
