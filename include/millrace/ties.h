/* Faces that move with bodies: `coupling` finds them, the viscosity of `fluid` holds on to them
   (docs/numerics.md, section 15). The second header of the room fluid. */
#ifndef MILLRACE_TIES_H
#define MILLRACE_TIES_H

#include <millrace/fluid.h>

/* An owned face whose velocity is row . twist of a body. */
typedef struct {
  PetscInt  face, body; /* the face by its local index */
  PetscReal row[2 * DIM];
} Tie;

/* Two neighbouring faces of one component with a shell between them: neither feels the other, both feel the
   shell, each at its distance. The body's velocity there is row . twist. */
typedef struct {
  PetscInt  lower, upper, body; /* local indices; at least one of the two is owned */
  PetscReal below, above;       /* distance from the shell to each, in cells; they add up to 1 */
  PetscReal row[2 * DIM];
} Screen;

typedef struct {
  PetscInt         body_count;
  const PetscBool *is_free;    /* else its velocity is given */
  const PetscReal *resistance; /* mass and inertia of each body, 6 x 6; zero of those that are not free */
  PetscReal       *twists;     /* of all bodies, the same on all ranks of the fluid: changed by viscosity */
  PetscInt         tie_count[DIM], screen_count[DIM];
  const Tie       *ties[DIM]; /* faces of which less than half is fluid, and those that a shell blocks */
  const Screen    *screens[DIM];
  Vec              open[DIM]; /* on faces, ghosts valid: the part of the dual cell that is fluid */
} Ties;

/* From now on, until the next call; borrowed; null: none. Needs a mixture. Collective: fluid. */
PetscErrorCode FluidSetTies(Fluid fluid, const Ties *ties);
/* Impulse and its moment (about the body's position) that viscosity gave each body in the last solve: 6 for
   each. Collective: fluid. */
PetscErrorCode FluidGetTieImpulses(Fluid fluid, PetscReal impulses[]);

#endif
