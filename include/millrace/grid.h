/* A box of cubic cells with staggered (MAC) unknowns, shared by the fluid ranks.

   Every field is a ghosted local vector over a rank's part of one DMDA, so that one flat index serves them
   all: at index c a cell field holds the centre of cell c, and component d of a face field the lower face of
   c in direction d. The upper faces of the box sit in the first ghost layer beyond it and belong to the rank
   that touches it. In two dimensions there is one cell in z and no stride along it. */
#ifndef MILLRACE_GRID_H
#define MILLRACE_GRID_H

#include <millrace/api.h>
#include <millrace/base.h>
#include <millrace/grid_box.h>
#include <millrace/io.h>
#include <millrace/schema.h>
#include <petscdmda.h>

MILLRACE_API_BEGIN

enum { GHOST_WIDTH = 3 };
enum {
  MOST_CELLS_PER_STEP = 2
}; /* along an axis: trajectories and their interpolation end within the ghosts */

/* What becomes of a size that is no whole number of cells: told, or made one, when a scene is read. */
typedef enum { GRID_FIT_EXACT, GRID_FIT_GROW, GRID_FIT_SHRINK } GridFit;
extern const char *const GridFits[];

typedef struct {
  PetscInt  dimension;  /* 2 or 3 */
  Vector3   origin;     /* lower corner of the box, m */
  Vector3   size;       /* of the box, m; z is ignored in two dimensions */
  PetscInt  resolution; /* cells along x */
  GridFit   fit;        /* only while a scene is read */
  PetscBool periodic[MILLRACE_DIM];
} GridConfig;
extern const SchemaKey GridKeys[];

typedef struct _p_MacGrid *MacGrid;
/* Cells of the box along each direction; one along z in two dimensions. */
void grid_config_cells(const GridConfig *config, PetscInt cells[MILLRACE_DIM]);
/* Says in `message` why a configuration cannot be used, with what would be right; "" when it can. Not
   collective. */
PetscErrorCode GridConfigCheck(const GridConfig *config, PetscMPIInt ranks, char message[], size_t size);

/* Lifetime. Collective: comm. */
PetscErrorCode MacGridCreate(MPI_Comm comm, const GridConfig *config, MacGrid *grid);
/* The same with given parts (a copy is taken); null: about equal ones. Destroy accepts a null grid.
   Collective: comm. */
PetscErrorCode MacGridCreateDivided(MPI_Comm comm, const GridConfig *config, const GridPartition *partition,
                                    MacGrid *grid);
PetscErrorCode MacGridDestroy(MacGrid *grid);

const GridBox *grid_box(MacGrid grid);
PetscReal      grid_spacing(MacGrid grid);
Vector3        grid_origin(MacGrid grid);
DM             grid_cell_dm(MacGrid grid); /* one value per cell: solver vectors and matrices */
Vector3        grid_cell_centre(MacGrid grid, PetscInt i, PetscInt j, PetscInt k);
Vector3        grid_face_centre(MacGrid grid, PetscInt direction, PetscInt i, PetscInt j, PetscInt k);
/* The owned faces of component `direction`, the upper side of the box included. */
GridRange grid_faces(MacGrid grid, PetscInt direction);

/* Fields; the caller destroys them. Collective: fluid. */
PetscErrorCode MacGridCreateField(MacGrid grid, Vec *field);
PetscErrorCode MacGridCreateFaceField(MacGrid grid, Vec faces[MILLRACE_DIM]);
PetscErrorCode MacGridDestroyFaceField(Vec faces[MILLRACE_DIM]);
/* The arrays of all components at once; null along z in two dimensions. Not collective. */
PetscErrorCode MacGridGetFaces(MacGrid grid, Vec faces[MILLRACE_DIM], PetscReal *values[MILLRACE_DIM]);
PetscErrorCode MacGridRestoreFaces(MacGrid grid, Vec faces[MILLRACE_DIM], PetscReal *values[MILLRACE_DIM]);
/* Fills the ghost layers that other ranks (or the periodic images) own, corners included; layers beyond a
   side keep what they hold. Collective: fluid. */
PetscErrorCode MacGridExchange(MacGrid grid, Vec field);
PetscErrorCode MacGridExchangeFaces(MacGrid grid, Vec faces[MILLRACE_DIM]);
/* The same for a cell field with the mirror image beyond the sides: interfaces meet walls at right angles.
   Collective: fluid. */
PetscErrorCode MacGridMirrorGhosts(MacGrid grid, Vec field);
/* A field with valid ghosts has finite values, and on all ranks the same ones; an error that calls it `name`
   otherwise. Collective: fluid. */
PetscErrorCode MacGridCheckField(MacGrid grid, Vec field, const char name[]);
/* The way back: owners combine their values with those that other ranks (or periodic images) hold for them in
   ghosts, by MPI_MIN, MPI_MAX or MPI_SUM; the ghosts are then out of date. Collective: fluid. */
PetscErrorCode MacGridReduceGhosts(MacGrid grid, Vec field, MPI_Op operation);

/* Between a field (local, ghosted) and a solver vector (global). Collective: fluid. */
PetscErrorCode MacGridToSolver(MacGrid grid, Vec field, Vec solver);
PetscErrorCode MacGridFromSolver(MacGrid grid, Vec solver, Vec field);
/* Cell by cell, the net outflow of `faces` per unit volume; `faces` needs valid upper faces. Collective:
   fluid. */
PetscErrorCode MacGridDivergence(MacGrid grid, Vec faces[MILLRACE_DIM], Vec divergence);

/* Owned cells of a field, to and from an archive, and to a frame. Collective: fluid. */
PetscErrorCode MacGridSaveField(MacGrid grid, const char name[], Vec field, Archive archive);
PetscErrorCode MacGridLoadField(MacGrid grid, const char name[], Vec field, Archive archive);
PetscErrorCode MacGridWriteFrame(MacGrid grid, FrameSeries frames, const char name[], Vec field);
/* Face fields to and from an archive, upper side faces included. Collective: fluid. */
PetscErrorCode MacGridSaveFaces(MacGrid grid, const char name[], Vec faces[MILLRACE_DIM], Archive archive);
PetscErrorCode MacGridLoadFaces(MacGrid grid, const char name[], Vec faces[MILLRACE_DIM], Archive archive);

MILLRACE_API_END

#endif
