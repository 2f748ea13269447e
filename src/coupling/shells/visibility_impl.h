/* Private to src/coupling: the shells as visibility.c looks at them. */
#ifndef MILLRACE_VISIBILITY_IMPL_H
#define MILLRACE_VISIBILITY_IMPL_H

#include <millrace/lattice.h>
#include <millrace/periodic.h>
#include <millrace/visibility.h>

/* Where a shell is at one moment: x -> position + turn x. */
typedef struct {
  Vector3 position;
  Matrix3 turn, back;
  Vector3 low, high; /* around it in the world */
} Stand;

typedef struct {
  Surface   surfaces[2]; /* by StepMoment, in its frame; in two dimensions a prism. The same but for cloth */
  PetscBool is_own;      /* and then to be destroyed */
  PetscBool is_still;
  PetscReal way;       /* of the vertices of cloth, at most */
  Stand     stands[2]; /* by StepMoment */
  /* Of the vertices of cloth over the step, else null, and owned: how they turn, axis times angle, and the
     slope of the way there. */
  Vector3 *turns;
  Matrix3 *slopes;
} Shell;

typedef struct ShellVisibility {
  Visibility visibility;
  PetscInt   dimension;
  PetscReal  spacing, ground; /* ground: z of a plane box */
  Vector3    period;          /* zero along directions that are not periodic */
  PetscReal  dt;
  PetscInt   count;
  Shell     *shells;
} ShellVisibility;

/* The answers of visibility.c about these shells; `near` and `way` are left to be set. */
Visibility shell_visibility(const ShellVisibility *view);

#endif
