/* What a rank with fluid gets of the solids: parts of their surfaces, as triangles at two moments, and with
   which unknowns of the solids they move.

   A surface whose vertices move on their own is held by the solid team. Ranks with fluid receive the
   triangles that they meet, and copies of the unknowns of their vertices; forces on the copies go back and
   are summed. Rigid bodies need none of it: a rank makes or fetches their surface once and places it
   (solid_step.h). */
#ifndef MILLRACE_SOLID_PATCH_H
#define MILLRACE_SOLID_PATCH_H

#include <millrace/api.h>
#include <millrace/base.h>

MILLRACE_API_BEGIN

/* Of one surface; whole where it is held. All arrays are borrowed. */
typedef struct {
  PetscInt  surface;   /* its number */
  PetscReal thickness; /* m; > 0: a shell, its triangles in the middle */
  PetscBool is_closed; /* faces outwards and has an inside; only of what is no shell */
  PetscBool slips;     /* viscosity does not act between it and the fluid */
  PetscReal volume;    /* that the whole surface displaces, now */
  Vector3   centre;    /* of that, in the world */
  PetscInt  vertex_count, triangle_count;

  const Vector3 *before, *now, *velocity; /* of the vertices, at the placing before and at this one */
  const PetscInt (*triangles)[3];
  /* Of each vertex: the first of the three numbers of its velocity among the unknowns of the rank. A vertex
     that is bound to others is an unknown here; the solid team applies its binding. */
  const PetscInt *unknown;
} SolidPatch;

/* Where a rank meets surfaces: its part of the box, with what it sees beyond. */
typedef struct {
  Vector3 low, high;
  Vector3 period; /* of the whole box; zero along directions that are not periodic */
} PatchReach;

typedef struct _p_SolidPatches *SolidPatches;

/* Sends of the `count` surfaces that this rank holds, `own` unknowns in all, to every rank of `comm` the
   triangles that come within its `reach` (null: it meets none) at one of the moments. Of closed surfaces it
   gets those, too, that lie beside its reach along x: what is inside follows from all crossings on the left
   of a place (lattice.h). Shells go to all of them, whole. Destroy accepts null. Collective: comm. */
PetscErrorCode SolidPatchesCreate(MPI_Comm comm, PetscInt count, const SolidPatch whole[], PetscInt own,
                                  const PatchReach *reach, SolidPatches *patches);
PetscErrorCode SolidPatchesDestroy(SolidPatches *patches);
/* The parts that have come to this rank, by surfaces; lent. Not collective. */
PetscErrorCode SolidPatchesGet(SolidPatches patches, PetscInt *count, const SolidPatch **received);
/* How many copies of unknowns they have. */
PetscInt solid_patches_unknowns(SolidPatches patches);

/* From the unknowns to all copies, and the sums of what copies have, added to the unknowns: each the
   transpose of the other. Collective: comm. */
PetscErrorCode SolidPatchesTell(SolidPatches patches, const PetscReal unknowns[], PetscReal copies[]);
PetscErrorCode SolidPatchesSum(SolidPatches patches, const PetscReal copies[], PetscReal unknowns[]);

MILLRACE_API_END

#endif
