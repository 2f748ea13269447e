/* Faces that move with bodies: `coupling` finds them, the viscosity of `fluid` holds on to them
   (docs/numerics.md, section 15). The second header of the room fluid. */
#ifndef MILLRACE_CONSTRAINED_FACES_H
#define MILLRACE_CONSTRAINED_FACES_H

#include <millrace/api.h>
#include <millrace/fluid.h>

MILLRACE_API_BEGIN

/* A row is that of W at the centre of a face: row . twist is the body's velocity there, also outside of it.
   Faces are given by their local index, distances in cells. */

/* An owned face that moves with a body. */
typedef struct {
  PetscInt  face, body;
  PetscBool slips; /* what fluid it has moves freely, but for viscosity */
  PetscReal row[TWIST];
} ConstrainedFace;

/* An owned face that is not constrained and, one cell along an axis, one that is: the difference between them
   reaches only to the surface. */
typedef struct {
  PetscInt  face, beyond, body;
  PetscBool slips;      /* as of a constrained face; wall neighbours of one face that do follow each other */
  PetscReal distance;   /* from `face`, at most 1 */
  PetscReal row[TWIST]; /* at `face` */
} WallNeighbour;

/* Two faces of different components that meet at an edge, each with its constrained neighbour beyond it. */
typedef struct {
  PetscInt  face, other, body; /* `face` is owned */
  PetscInt  across, edge;      /* the direction of `other`, the index of the edge */
  PetscReal distances[2];      /* from `face` and from `other` */
  PetscReal sign;              /* -1 if one lies above the surface and the other below */
  PetscReal rows[2][TWIST];
} EdgePair;

/* Two neighbouring faces of one component, none of them constrained, with a shell or a thin body between
   them: neither feels the other, each feels the surface that it sees. */
typedef struct {
  PetscInt  faces[2], bodies[2]; /* the lower and the upper one; at least one face is owned */
  PetscBool is_owned[2];
  PetscReal distances[2]; /* add up to at most 1 */
  PetscReal rows[2][TWIST];
} SeparatedPair;

typedef struct FaceConstraints {
  PetscInt         body_count;
  const PetscBool *is_free;    /* else its velocity is given */
  const PetscReal *resistance; /* mass and inertia of each body, 6 x 6; zero of those that are not free */
  PetscReal       *twists;     /* of all bodies, the same on all ranks of the fluid: changed by viscosity */
  PetscInt constrained_count[MILLRACE_DIM], neighbour_count[MILLRACE_DIM], edge_pair_count[MILLRACE_DIM],
      separated_count[MILLRACE_DIM];
  const ConstrainedFace
      *constrained[MILLRACE_DIM]; /* faces of which less than half is fluid, and those that a shell blocks */
  const WallNeighbour *wall_neighbours[MILLRACE_DIM];
  const EdgePair      *edge_pairs[MILLRACE_DIM];
  const SeparatedPair *separated_pairs[MILLRACE_DIM];
  Vec open[MILLRACE_DIM];   /* on faces, ghosts valid: the part of the dual cell that is fluid */
  Vec bodies[MILLRACE_DIM]; /* on faces, ghosts valid: 1 + body of those that are constrained, else 0 */
} FaceConstraints;

/* From now on, until the next call; borrowed; null: none. Needs a mixture. Collective: fluid. */
PetscErrorCode FluidSetConstraints(Fluid fluid, const FaceConstraints *constraints);
/* Impulse and its moment (about the body's position) that viscosity gave each body in the last solve: 6 for
   each; zero before that. Collective: fluid. */
PetscErrorCode FluidGetConstraintImpulses(Fluid fluid, PetscReal impulses[]);

MILLRACE_API_END

#endif
