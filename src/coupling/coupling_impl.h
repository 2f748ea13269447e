/* Private to src/coupling. */
#ifndef MILLRACE_COUPLING_IMPL_H
#define MILLRACE_COUPLING_IMPL_H

#include <millrace/sums.h>
#include <millrace/lattice.h>
#include <millrace/periodic.h>
#include <millrace/coupling.h>
#include <millrace/poisson.h>
#include <millrace/solid_patch.h>
#include <millrace/solid_system.h>

/* A body of CouplingPlace as triangles of the world. */
typedef struct {
  CoupledBody body;
  PetscInt    free;      /* its number among the free bodies; -1: its velocity is given */
  PetscInt    slot;      /* its number where free bodies come first, and then the others */
  Vector3    *vertices;  /* owned; null in two dimensions and far from this rank */
  Prism       prism;     /* owned; in two dimensions */
  Triangles   triangles; /* of one of the two; none far from this rank */
  Vector3     low, high; /* around these triangles */
  PetscReal   volume;    /* what it displaces; not far from this rank */
  Vector3     centre;    /* of that, from the body's position; not far from this rank */
  AddedMass   added;     /* zero unless it is free */
} Placed;

/* An entry of W: the part of a body in the velocity of a mixed face. */
typedef struct {
  PetscInt  face; /* number of the mixed face */
  PetscInt  body;
  PetscReal weight;       /* of its velocity in that of the face */
  PetscReal area, volume; /* in the dual cell */
  Vector3   arm;     /* from the body's position to where its velocity is taken: the centre of the face */
  Vector3   surface; /* the same to the centroid of `area`; zero unless the discretisation needs it */
} InterpolationEntry;

typedef struct {
  PetscInt  face; /* local index */
  PetscInt  direction;
  PetscInt  at[DIM];
  PetscBool is_owned;
  PetscInt  owners[2];    /* the bodies that make it mixed; mostly one, then the second is -1 */
  PetscReal density;      /* of the fluid there */
  PetscReal mass;         /* of the fluid that moves with the bodies */
  PetscReal weight;       /* of the face without bodies */
  PetscReal open;         /* part of the face whose fluid moves freely; zero: it moves with the bodies */
  PetscInt  first, count; /* interpolation entries */
} MixedFace;

/* A face of given velocity a part of which a body covers. */
typedef struct {
  PetscInt  direction, face; /* local index */
  PetscInt  at[DIM];
  PetscInt  body;
  PetscReal part;
  Vector3   arm; /* as in InterpolationEntry */
} CoveredFace;

/* What unknowns of solids bring into an owned cell: a piece of B. */
typedef struct {
  int      cell; /* in the order of solver vectors */
  SolidRow row;
} CellRow;

/* In any order; a cell may have many. Those of bodies count the unknowns by their slots. */
typedef struct {
  PetscInt count, room;
  CellRow *rows;
} CellRows;

/* B of rigid bodies, body by body in the order of slots. */
typedef struct {
  PetscInt  *first; /* row of each body, and one past the last */
  int       *cells;
  PetscReal *values; /* six for each row */
} CouplingMatrix;

/* Where a body meets no fluid cell that is part of the problem but a wall, another body, or a cell all of
   whose faces are mixed: what it feels of the linear field p*(x) = p*(place) + x.grad p* that contact_fit.c
   puts through the pressures around. */
enum { FIT_TERMS = 1 + DIM };
typedef struct {
  PetscInt   around[2]; /* bodies around whose contact the pressure is taken; the second may be -1 */
  PetscInt   side;      /* direction and sign of the contact faces; -1 for a cell */
  PetscInt   body;      /* that feels it */
  PetscInt64 cell;      /* counted through the whole box; -1 for contact faces */
  PetscReal  count;
  Vector3    place; /* from the position of the first body: sum of the centres, later their mean */
  PetscReal  rows[FIT_TERMS][TWIST]; /* forces and torques of p*(place) and of each component of grad p* */
} ContactFaces;

/* What a body has in the dual cell of an owned face. */
typedef struct {
  PetscInt  direction, face, body; /* the face by its local index */
  PetscInt  at[DIM];
  PetscReal area, volume;
  Vector3   arm, surface; /* as in InterpolationEntry, without the offset of the body's arms */
} SolidFraction;

typedef struct {
  FaceConstraints  lent;
  PetscInt         constrained_room[DIM], neighbour_room[DIM], edge_pair_room[DIM], separated_room[DIM];
  ConstrainedFace *constrained[DIM];
  WallNeighbour   *wall_neighbours[DIM];
  EdgePair        *edge_pairs[DIM];
  SeparatedPair   *separated_pairs[DIM];
  PetscInt         block_room;
  SolidBlock      *blocks; /* of all bodies */
  PetscReal       *masses;
} ViscousConstraints;

/* A surface that is kept between placings. */
typedef struct {
  const void *form; /* of which bodies; null: it does not last */
  Surface     surface;
  PetscInt    unused; /* placings since a body with it was near */
} KeptSurface;

/* Sums over the dual cells of one direction that hold a part of a body. */
typedef struct {
  PetscReal faces;        /* number of mixed faces with its velocity */
  PetscReal whole[3];     /* its volume in all dual cells, with its two moments across, at their centres */
  PetscReal volume;       /* without the faces of given velocity */
  PetscReal displaced[3]; /* fluid mass in its place there, with its two moments across */
} BodySums;

/* Which faces are mixed. */
typedef enum {
  MIXED_BETWEEN_CELLS, /* those between a solid and a fluid cell, and those that a surface blocks */
  MIXED_BY_VOLUME      /* also all others whose dual cell holds fluid and solid */
} MixedRule;

/* How fluid and bodies share a dual cell: one row for each value of coupling.faces. What all have in common
   is in cells.c, faces.c and interpolation.c. */
typedef struct {
  MixedRule mixed;
  PetscBool needs_centroids; /* of the surfaces in dual cells */
  /* Takes back marks of surfaces between two fluid cells that are no walls. Null: all are. */
  void (*unblock)(Coupling coupling, PetscInt direction);
  /* The fluid neighbours of a solid cell (bit 2 d + side) that make it have a pressure; 0: it has none. Null:
     no solid cell has. */
  int (*open_neighbours)(Coupling coupling, PetscReal *const weights[DIM], PetscInt cell);
  /* `weight` of each entry (the row of W), `open` and `mass` of a mixed face with the volume `solid` of
     bodies in its dual cell. */
  void (*interpolate)(Coupling coupling, PetscReal solid, MixedFace *mixed, InterpolationEntry entries[]);
  /* Corrects arms or masses of all mixed faces, for the force and torque of hydrostatic pressure; `sums` are
     those of all ranks, DIM for each body, `densities` those of faces (null: uniform). Null: nothing to
     correct. Collective: fluid. */
  PetscErrorCode (*CorrectBuoyancy)(Coupling coupling, PetscReal *const densities[DIM],
                                    const BodySums sums[]);
} Discretisation;

/* Where a body was at the placing before. */
typedef struct {
  RigidTransform place;
  Vector3        low, high; /* as in CoupledBody */
} EarlierPlace;

/* The bodies of the last placing, on every rank, and what of earlier ones is still of use. */
typedef struct {
  PetscInt  count, free_count;
  Placed   *bodies;
  PetscInt  near_count;
  PetscInt *near;    /* the bodies with triangles: those that may reach this rank's part of the box */
  PetscInt *by_slot; /* the free bodies, and then the others */
  Vector3  *offsets; /* of the arms of each body and direction, see discretisation/cut.c */

  PetscInt     surface_count, surface_room;
  KeptSurface *surfaces;

  PetscInt                before_count;
  EarlierPlace           *before;     /* of the bodies */
  PetscBool               is_still;   /* shells are as if they had not moved to this placing */
  struct ShellVisibility *visibility; /* null until someone asks */
} PlacedSolids;

/* What cells and faces are, and how bodies and fluid share the dual cells of mixed faces. On the fluid team.
 */
typedef struct {
  PetscInt  *solid;  /* on the grid's box: 0 or 1 + body; two ghost layers valid */
  char      *active; /* fluid neighbours of solid cells that have a pressure, else 0; one ghost layer valid */
  PetscInt  *marks[DIM];   /* 1 + body whose surface is between the centres */
  PetscInt  *seconds[DIM]; /* 1 + another such body */
  PetscInt  *kinds[DIM];   /* of faces */
  Vec        weights[DIM]; /* of fluid faces, zero on all others */
  PetscInt   mixed_count, mixed_room;
  MixedFace *mixed;
  PetscInt   entry_count, entry_room;
  InterpolationEntry *entries;
  PetscInt            fraction_count, fraction_room;
  SolidFraction      *fractions;
  PetscInt            covered_count, covered_room;
  CoveredFace        *covered;
} FaceMap;

/* An owned face that moves with a deforming surface. */
typedef struct {
  PetscInt  direction, face; /* local index */
  PetscReal mass;            /* of fluid that moves with the surface there */
  SolidRow  row;             /* of the copies of unknowns, times the part of the surface in the face */
} FaceRow;

/* Surfaces that deform, see deforming.c. */
typedef struct {
  const SolidOperator *solid;   /* borrowed; null on ranks without it */
  SolidPatches         patches; /* null: there are none */
  PetscInt             total;   /* on all ranks; the last bodies of a placing */
  PetscInt             count;   /* that have come to this rank */
  const SolidPatch    *received;
  Surface             *surfaces;     /* of those where they are now */
  PetscInt            *patch_of;     /* of all surfaces; -1: has not come */
  PetscReal           *thickness;    /* of all; 0: closed */
  PetscInt             vertex_count; /* of all ranks, with three velocities each; 0: viscosity does not act */
  PetscReal           *masses;       /* of all vertices */
  PetscInt            *numbers;      /* of copies: of the vertices' velocities */
  CellRows             rows;         /* B of the copies of their unknowns */
  char                *has_pressure; /* cells, on the grid's box; one ghost layer valid */
  PetscInt             face_count, face_room;
  FaceRow             *faces;
  PetscInt             copy_count;
  PetscReal           *copies, *motion; /* scratch, and the last velocity */
  PetscReal           *surface;         /* of the solid's own numbers; scratch */
  PetscReal           *push;            /* W^T M_F u* of the solid's unknowns */
  PetscReal           *areas;           /* of copies of shells that close a chamber, see SolidOperator */
  PetscMPIInt          holder;   /* the one rank that has the solid and can stiffen it; -1: there is none */
  Vec                  sweep;    /* T of soft_surfaces.c; on the fluid team */
  PetscBool            is_asked; /* `is_stiffened` is that of this solve */
  PetscBool            is_stiffened;
} DeformingSolids;

/* (5.13): A is that of the Poisson problem. C and the right side of its rows are on every rank, all else on
   the fluid team. */
typedef struct {
  Poisson        poisson;
  PetscInt      *labels; /* component of each owned cell */
  CouplingMatrix matrix; /* B */
  SolidSystem    solid;  /* C */
  PetscInt       contact_count;
  ContactFaces  *contacts;

  /* Singular components; z = sum of modes x (1_c / root of its cells) are eigenvectors of Z^T S Z. */
  PetscInt   singular_count, null_count; /* the first `null_count` modes are null vectors */
  PetscInt  *singular;                   /* their numbers */
  PetscReal *modes;                      /* singular_count x singular_count, mode by mode */
  PetscReal *stiffness;

  Vec        flow;                 /* b1: V G^T u*, with the given bodies */
  Vec        right_side, solution; /* of S q = right_side; solver vectors of the fluid team */
  Vec        fixed;                /* copy; null: none */
  PetscReal  reference;            /* what the residual is relative to */
  PetscReal  guess_residual;       /* of the first guess, relative */
  PetscReal *push;                 /* b2, scaled */

  KSP                 schur;
  Mat                 schur_operator;
  struct Deflation   *deflation; /* deflation.c; null until it is needed */
  struct BlockSystem *blocks;    /* minres.c; null with COUPLING_SCHUR */
} CoupledSystem;

struct _p_Coupling {
  Team                  team; /* borrowed */
  MacGrid               grid; /* borrowed; null outside the fluid team */
  CouplingConfig        config;
  const Discretisation *discretisation; /* borrowed */
  MPI_Comm              world, fluid;   /* borrowed */

  PetscReal spacing, area, volume; /* of a cell and its dual cells, per metre of depth in two dimensions */
  PetscReal scale;                 /* from p^ to the unknown of the Poisson problem */
  PetscReal density;
  Vec       expansion;  /* of the fluid, borrowed; null: none */
  PetscInt  cell_count; /* owned */

  PlacedSolids       solids;
  DeformingSolids    deforming;
  FaceMap            faces;
  CoupledSystem      system;
  ViscousConstraints viscous;

  PetscBool      is_ready;
  CouplingReport found; /* what CouplingSetFluid counted */
};

/* Whether this rank is of the fluid team: it has a grid, faces and the pressure rows. */
static inline PetscBool has_fluid(Coupling coupling)
{
  return team_has_fluid(coupling->team);
}

/* placed_bodies.c */
PetscErrorCode CouplingTakeBodies(Coupling coupling, PetscInt count, const CoupledBody bodies[]);
/* Whether a body may have to do with this rank's part of the box; `before`: where it was, null: as now. */
PetscBool      coupling_is_near(Coupling coupling, const CoupledBody *body, const EarlierPlace *before);
PetscErrorCode PlacedSolidsDropBodies(PlacedSolids *solids);

/* The cells, or for a direction the dual cells of its faces, where the image of a body may be. */
enum { CELLS = -1 };
PetscBool coupling_lattice(Coupling coupling, PetscInt body, PetscInt direction, Vector3 shift,
                           Lattice *lattice);

/* The images of a surface that reach this rank: shifts by whole periods, first <= n <= last. */
typedef struct {
  PetscInt first[DIM], last[DIM];
  Vector3  period;
} SurfaceImages;
SurfaceImages surface_images(MacGrid grid, Vector3 surface_low, Vector3 surface_high);

typedef PetscErrorCode (*ImageVisitor)(Coupling coupling, PetscInt body, Vector3 shift, const void *context);
PetscErrorCode CouplingVisitImages(Coupling coupling, ImageVisitor visit, const void *context);
/* From the position of a body, or of its image `shift` away, to a face; flat in two dimensions. */
Vector3 coupling_arm(Coupling coupling, PetscInt direction, const PetscInt at[DIM], PetscInt body,
                     Vector3 shift);
Vector3 coupling_nearest_arm(Coupling coupling, PetscInt direction, const PetscInt at[DIM], PetscInt body);

/* body_surfaces.c */
PetscErrorCode PlacedSolidsDropSurfaces(PlacedSolids *solids);

/* coupling.c: after PlacedSolidsRemember */
PetscErrorCode CouplingPlaceBodies(Coupling coupling, PetscInt count, const CoupledBody bodies[]);

/* deforming.c: adds surfaces that have come to this rank to the near bodies of a placing; their rows and
   faces. On the fluid team. */
PetscErrorCode DeformingClear(DeformingSolids *deforming);
PetscErrorCode CouplingPlaceDeforming(Coupling coupling);
PetscErrorCode CouplingBuildDeforming(Coupling coupling);
/* Adds B_d C^-1 B_d^T x; cleanly: without round-off of forces that cancel; of the push: B_d C^-1 b. On the
   fluid team, while other ranks answer. */
PetscErrorCode CouplingAddDeforming(Coupling coupling, Vec x, Vec y);
PetscErrorCode CouplingAddDeformingCleanly(Coupling coupling, Vec x, Vec y);
PetscErrorCode CouplingAddDeformingPush(Coupling coupling, Vec y);
/* Whether there is C_s of soft_surfaces.c in this solve; adds B_d R C_s^-1 R^T B_d^T x. */
PetscErrorCode CouplingAskStiffened(Coupling coupling, PetscBool *is_stiffened);
PetscErrorCode CouplingAddStiffened(Coupling coupling, Vec x, Vec y);
/* The fluid that moves with the surfaces: its mass, for C, and what it gives to the right side. Collective:
   world. */
PetscErrorCode CouplingPrepareDeforming(Coupling coupling);
PetscErrorCode CouplingPushDeforming(Coupling coupling, Vec velocity[DIM]);
/* Ranks without fluid answer until the others come here, too. Collective: world. */
PetscErrorCode CouplingAnswer(Coupling coupling);
/* The velocity that belongs to the solution; that which the solid has. Collective: world. */
PetscErrorCode CouplingFinishDeforming(Coupling coupling);
/* Which cells have a pressure, by their labels; nothing without such surfaces. Collective: fluid. */
PetscErrorCode CouplingMarkPressures(Coupling coupling);
/* What closed surfaces, whose pieces have rows of their own, leave to those that own a face between two
   pressures that has no open part; 1 for other faces. */
PetscReal coupling_rest_of_face(Coupling coupling, PetscInt d, const PetscInt at[DIM]);
/* The part of a surface, body number `body`, in the velocity of a face that has none of its own. */
PetscReal coupling_part_in_face(Coupling coupling, PetscInt d, const PetscInt at[DIM], PetscInt body);
/* How a face moves with the nearest place of such a surface, by numbers of the viscous solve. */
PetscBool coupling_deforms(Coupling coupling, PetscInt body);
SolidRow  coupling_nearest_row(Coupling coupling, PetscInt d, const PetscInt at[DIM], PetscInt body);
/* B_d^T x, whole, and its moment about the origin, of every surface as of a body. */
PetscErrorCode CouplingAddDeformingPressure(Coupling coupling, const PetscReal x[], ReproducibleSum sums[]);
/* What `vertices` have by their numbers, at the copies of this rank until the next use of `copies`; null: the
   velocities of the solution. */
const PetscReal *deforming_motion(DeformingSolids *deforming, const PetscReal vertices[]);
void             deforming_fill_faces(const DeformingSolids *deforming, PetscInt d, const PetscReal motion[],
                                      PetscReal *u);

/* shells.c: before a placing */
PetscErrorCode      PlacedSolidsRemember(PlacedSolids *solids);
const EarlierPlace *place_before(const PlacedSolids *solids, PetscInt count, PetscInt body); /* or null */
PetscErrorCode      PlacedSolidsDropVisibility(PlacedSolids *solids);

/* cells.c */
PetscErrorCode CouplingFindCells(Coupling coupling);

/* faces.c: kinds, weights and the list of mixed faces */
PetscErrorCode CouplingAddMixed(Coupling coupling, PetscInt d, const PetscInt at[DIM], PetscReal weight);
PetscErrorCode CouplingFindFaces(Coupling coupling, const FluidSystem *fluid);
PetscReal      coupling_density(Coupling coupling, PetscReal *const densities[DIM], PetscInt d, PetscInt c);

/* interpolation.c: entries of mixed faces, the fluid mass `displaced` by each body, and how many bodies are
 * seen */
PetscErrorCode CouplingInterpolate(Coupling coupling, PetscReal *const densities[DIM], PetscReal displaced[]);
/* By the areas of the bodies that own the face, without owners by volume. */
void weigh_by_owners(const MixedFace *mixed, PetscReal solid, InterpolationEntry entries[]);
/* The coordinates 1, x, y across a direction. */
void places_across(PetscInt direction, Vector3 arm, PetscReal across[3]);

/* constrained_faces.c */
#define CONSTRAINED_BELOW                                                                                    \
  (0.5 + 1e-9) /* the open part of a face; one half, as of voxels, is constrained on all ranks */
PetscErrorCode CouplingDropConstraints(Coupling coupling);

/* separated_pairs.c: pairs of faces with a surface between them */
PetscErrorCode CouplingFindSeparatedPairs(Coupling coupling);

/* summed_pairs.c: blocks of TWIST x TWIST between two bodies, summed in no order. The block of a pair, a new
   one zero; not collective. Gather: those of all ranks on all ranks, sorted, each once; the list is used up.
   Collective: comm. */
typedef struct {
  PetscInt              count, room;
  struct _p_SummedPair *pairs;
} SummedPairs;
PetscErrorCode SummedPairsFind(SummedPairs *list, PetscInt a, PetscInt b, ReproducibleSum **block);
PetscErrorCode SummedPairsGather(SummedPairs *list, MPI_Comm comm, BlockPairs *all);

/* solid_matrix.c: C of the bodies and the fluid that moves with them, on every rank. Collective: world. */
PetscErrorCode CouplingSetSolidSystem(Coupling coupling);

/* deflation_support.c, on the fluid team: the free number of the light body whose fields a cell belongs to,
   or -1, on the grid's box with one ghost layer, and how much of them it keeps. */
typedef struct {
  PetscInt  *owner;
  PetscReal *part;
  char      *is_mixed; /* whether the body's own mixed faces are there; owned cells */
} DeflationSupport;
PetscErrorCode CouplingFindDeflationSupport(Coupling coupling, const char *is_light,
                                            DeflationSupport *support);
/* Colours 1 to COLOURS for some free bodies, such that neighbours differ where they can. */
enum { COLOURS = 2 };
PetscErrorCode CouplingColour(Coupling coupling, PetscInt count, const PetscInt bodies[], char colours[]);

/* deflation.c, on the fluid team: built by the first solve after CouplingSetFluid */
PetscErrorCode CouplingBuildDeflation(Coupling coupling);
PetscErrorCode CoupledSystemDropDeflation(CoupledSystem *system);
PetscErrorCode CouplingPrecondition(Coupling coupling, Vec x, Vec y); /* y = P x */

/* soft_surfaces.c: who holds the solid; rows of B for its C_s. Collective: world. And the cycle on A as that
   of S, on the fluid team. */
PetscErrorCode CouplingFindHolder(Coupling coupling);
PetscErrorCode CouplingTellSurfaceRows(Coupling coupling);
PetscErrorCode CouplingCycleWithSurfaces(Coupling coupling, Vec x, Vec y);

/* contact_faces.c */
PetscErrorCode CouplingFindContactFaces(Coupling coupling, Vec fixed);
/* The pressures of cells at walls, to which those of contact faces have a difference. */
PetscErrorCode CouplingAddWallCells(Coupling coupling, CellRows *list);

/* contact_fit.c: what bodies feel at contact faces of the pressures around */
PetscErrorCode CouplingAddContactFaces(Coupling coupling, CellRows *list);

/* patch_rows.c: adds B of a closed surface with unknowns of its own; `has_pressure` of cells on the grid's
   box, one ghost layer valid. Not collective. */
void triangle_weights(const Vector3 corner[3], Vector3 point, PetscReal weights[3]); /* barycentric */
PetscErrorCode CouplingAddPatchRows(MacGrid grid, const SolidPatch *patch, const char *has_pressure,
                                    CellRows *rows);

/* shell_rows.c: adds B of a shell with unknowns of its own, body number `body` of the placing, and to `areas`
   the flow through faces of this rank along its normal. Not collective. */
PetscErrorCode CouplingAddShellRows(Coupling coupling, const SolidPatch *patch, PetscInt body,
                                    const char *has_pressure, CellRows *rows, PetscReal areas[]);
/* Whether it has no edge, or none but on sides of the box. Not collective. */
PetscErrorCode CouplingFindEnds(Coupling coupling, const SolidPatch *patch, PetscBool *closes);

/* coupling_matrix.c: B of mixed and contact faces. `fixed` as in FluidSystem. */
PetscErrorCode CouplingBuildMatrix(Coupling coupling, Vec fixed);
PetscErrorCode PlacedSolidsAddRow(const PlacedSolids *solids, PetscInt cell, PetscInt body,
                                  const PetscReal row[TWIST], CellRows *list);
PetscErrorCode CellRowsAdd(CellRows *list, PetscInt cell, const SolidRow *row);
/* Adds B V and B^T p of rows as they are. */
void           cell_rows_multiply(const CellRows *list, const PetscReal *velocities, PetscReal *cells);
void           cell_rows_multiply_transpose(const CellRows *list, const PetscReal *cells, PetscReal *forces);
PetscErrorCode CouplingMatrixClear(CouplingMatrix *matrix);
/* Adds B V and B^T p of the first `bodies`: the free ones, or all. */
void coupling_matrix_multiply(const CouplingMatrix *matrix, PetscInt bodies, const PetscReal *restrict twists,
                              PetscReal *restrict cells);
void coupling_matrix_multiply_transpose(const CouplingMatrix *matrix, PetscInt bodies, const PetscReal *cells,
                                        ReproducibleSum *twists);
/* The number of a cell among the owned ones, as in solver vectors; -1: it is another rank's. */
static inline PetscInt owned_cell_number(const GridBox *box, const PetscInt at[DIM])
{
  for (PetscInt d = 0; d < DIM; d++)
    if (at[d] < box->start[d] || at[d] >= box->end[d])
      return -1;
  return box_owned_number(box, at[X], at[Y], at[Z]);
}
/* An entry as a row of W, of a body whose unknowns begin at `first`. */
static inline SolidRow entry_row(PetscInt direction, const InterpolationEntry *entry, PetscInt first)
{
  return solid_row_of_body(first, direction, entry->arm, entry->weight);
}
/* The same as all six numbers of the body. */
static inline void interpolation_row(PetscInt direction, const InterpolationEntry *entry,
                                     PetscReal row[TWIST])
{
  const SolidRow part = entry_row(direction, entry, 0);

  for (PetscInt n = 0; n < TWIST; n++)
    row[n] = 0.;
  solid_row_add_force(&part, 1., row);
}
/* The diagonal of the lumped mass of a body, per unit of fluid mass in the dual cell. */
void interpolation_lump(const SolidRow *row, const InterpolationEntry *entry,
                        PetscReal diagonal[SOLID_ROW_LENGTH]);

/* added_mass.c. Collective: world. */
PetscErrorCode CouplingFindAdded(Coupling coupling, const PetscReal displaced[]);

/* null_space.c */
PetscErrorCode CouplingFindNullSpace(Coupling coupling);
typedef enum { NULL_SPACE_REMOVE, NULL_SPACE_LIFT } NullSpaceUse;
/* Takes null vectors out of `to`, or adds what the other modes make of `from`: Z (Z^T S Z)^-1 Z^T. */
PetscErrorCode CoupledSystemUseNullSpace(const CoupledSystem *system, NullSpaceUse use, Vec from, Vec to);

/* schur_operator.c */
/* On the fluid team. */
PetscErrorCode CouplingApplySchur(Coupling coupling, Vec x, Vec y);
/* B^T x of the free bodies, on all ranks. */
PetscErrorCode CouplingGather(Coupling coupling, Vec x, PetscReal pull[]);
PetscErrorCode CouplingCycle(Coupling coupling, Vec x, Vec y); /* the inverse of A, roughly */
/* right_side - S q, and its norm relative to the reference. */
PetscErrorCode CouplingFindResidual(Coupling coupling, Vec q, Vec residual);
PetscErrorCode CouplingMeasure(Coupling coupling, Vec q, PetscReal *residual);
/* V = C^-1 (b2 - B^T q), on all ranks of the fluid team. */
PetscErrorCode CouplingEliminate(Coupling coupling, Vec q, PetscReal *twists);

/* schur.c, minres.c: solve S q = right_side, with the number of iterations and the reason */
PetscErrorCode CouplingSolveSchur(Coupling coupling, CouplingReport *report);
PetscErrorCode CouplingSolveBlocks(Coupling coupling, CouplingReport *report);
PetscErrorCode CouplingCreateBlocks(Coupling coupling); /* reads PETSc's options */
PetscErrorCode CoupledSystemDropBlocks(CoupledSystem *system);
void           coupled_system_outdate_blocks(CoupledSystem *system); /* bodies or fluid have changed */

/* block_minres.c: a KSP for a MATNEST of two by two blocks */
#define COUPLING_BLOCK_MINRES "blockminres"
/* Whose ranks without fluid sleep before its sums; nothing for a solver of another type. */
PetscErrorCode CouplingSetSolverTeam(KSP ksp, Team team);

/* incomplete_cholesky.c: A with its entries, and its incomplete Cholesky factor, on the fluid team */
PetscErrorCode CouplingAssemble(Coupling coupling, Mat *matrix);
PetscErrorCode CouplingCreateCholesky(Coupling coupling, PC *pc);

/* diagnosis.c: of the solution of a solve that failed */
PetscErrorCode CouplingDiagnose(Coupling coupling, CouplingReport *report);

#endif
