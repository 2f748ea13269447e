/* Faces that move with solids: `coupling` finds them, the viscosity of `fluid` holds on to them
   (docs/numerics.md, section 15). The second header of the room fluid. */
#ifndef MILLRACE_CONSTRAINED_FACES_H
#define MILLRACE_CONSTRAINED_FACES_H

#include <millrace/api.h>
#include <millrace/fluid.h>
#include <millrace/solid_row.h>

MILLRACE_API_BEGIN

/* A row is that of W at the centre of a face: the solid's velocity there, also outside of it. Faces are given
   by their local index, distances in cells. */

/* An owned face that moves with a solid. */
typedef struct {
  PetscInt  face;
  PetscBool slips; /* what fluid it has moves freely, but for viscosity */
  SolidRow  row;
} ConstrainedFace;

/* An owned face that is not constrained and, one cell along an axis, one that is: the difference between them
   reaches only to the surface. */
typedef struct {
  PetscInt  face, beyond;
  PetscBool slips;    /* as of a constrained face; wall neighbours of one face that do follow each other */
  PetscReal distance; /* from `face`, at most 1 */
  SolidRow  row;      /* at `face` */
} WallNeighbour;

/* Two faces of different components that meet at an edge, each with its constrained neighbour beyond it. */
typedef struct {
  PetscInt  face, other;  /* `face` is owned */
  PetscInt  across, edge; /* the direction of `other`, the index of the edge */
  PetscReal distances[2]; /* from `face` and from `other` */
  PetscReal sign;         /* -1 if one lies above the surface and the other below */
  SolidRow  rows[2];
} EdgePair;

/* Two neighbouring faces of one component, none of them constrained, with a shell or a thin body between
   them: neither feels the other, each feels the surface that it sees. */
typedef struct {
  PetscInt  faces[2]; /* the lower and the upper one; at least one face is owned */
  PetscBool is_owned[2];
  PetscReal distances[2]; /* add up to at most 1 */
  SolidRow  rows[2];
} SeparatedPair;

typedef struct FaceConstraints {
  PetscInt   unknown_count;
  PetscReal *velocities; /* of all unknowns, the same on all ranks of the fluid: changed by viscosity */
  PetscInt   block_count;
  const SolidBlock *blocks; /* each unknown is in one; masses are whole, not over a volume */
  PetscInt constrained_count[MILLRACE_DIM], neighbour_count[MILLRACE_DIM], edge_pair_count[MILLRACE_DIM],
      separated_count[MILLRACE_DIM];
  const ConstrainedFace
      *constrained[MILLRACE_DIM]; /* faces of which less than half is fluid, and those that a shell blocks */
  const WallNeighbour *wall_neighbours[MILLRACE_DIM];
  const EdgePair      *edge_pairs[MILLRACE_DIM];
  const SeparatedPair *separated_pairs[MILLRACE_DIM];
  Vec open[MILLRACE_DIM];     /* on faces, ghosts valid: the part of the dual cell that is fluid */
  Vec surfaces[MILLRACE_DIM]; /* on faces, ghosts valid: 1 + number of the surface that constrained ones move
                                 with, else 0 */
  PetscInt rigid_count; /* surfaces before this number keep their shape; fluid within others has no stress */
} FaceConstraints;

/* From now on, until the next call; null: none; `before` are the velocities at the start of the step (of
   other steps than those of FluidPredictViscosity: null); both are borrowed. Needs a mixture. Collective:
   fluid. */
PetscErrorCode FluidSetConstraints(Fluid fluid, const FaceConstraints *constraints, const PetscReal before[]);
/* The impulse that viscosity gave each unknown in the last solve (of a body and its moment about the body's
   position); zero before that. Collective: fluid. */
PetscErrorCode FluidGetConstraintImpulses(Fluid fluid, PetscReal impulses[]);

MILLRACE_API_END

#endif
