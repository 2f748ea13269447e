#ifndef MILLRACE_FLUID_IMPL_H
#define MILLRACE_FLUID_IMPL_H

#include <millrace/cell_map.h>
#include <millrace/fluid.h>
#include <millrace/fluid_step.h>
#include <millrace/sums.h>

/* An open face and, one cell across it, one inside an obstacle: the surface lies half-way. */
typedef struct {
  PetscInt face, inside; /* local indices */
} NoSlipPair;

typedef struct _p_Stress         *Stress;
typedef struct _p_ShellTransport *ShellTransport;

/* Neighbouring cells with a shell between them, from each side, in the order of cells. */
typedef struct {
  PetscInt cell, beyond; /* local indices; `cell` is owned */
} SeparatedCells;

typedef struct {
  PetscBool       is_known;
  PetscInt        count, room;
  SeparatedCells *list;
} SeparatedCellList;

/* Marks of cells, all null until needed, see near_surfaces.c. */
typedef struct {
  PetscBool      any;
  unsigned char *faces;     /* whose lower faces are carried along trajectories */
  unsigned char *looked_at; /* where these need values that were carried without a correction */
  unsigned char *traced;    /* where trajectories are known */
  unsigned char *scratch;
  Vec            carried; /* the values of `faces` */
} NearSurfaces;

/* Of a group of regions, carried on into the others. */
typedef struct {
  Vec velocity[DIM], earlier[DIM], next[DIM], advected[DIM], next_advected[DIM];
} GroupFlow;

struct _p_Fluid {
  MacGrid            grid;   /* borrowed */
  const FluidConfig *config; /* borrowed */

  InitialValue initial; /* null: what the configuration says everywhere */
  const void  *initial_context;

  PetscReal time;         /* of `velocity` */
  PetscReal earlier_time; /* of `earlier`; the same at the start */
  PetscInt  steps;

  Vec  velocity[DIM];         /* u^n, ghosts valid between steps */
  Vec  earlier[DIM];          /* u^{n-1}; during a step, the advection velocity */
  Vec  next[DIM];             /* during a step, the velocity on its way to u^{n+1} */
  Vec  pressure;              /* p^{n-1/2} without the hydrostatic part, ghosts valid between steps */
  Vec  feet[DIM], heads[DIM]; /* of this step's trajectories, see advection.c; null where a scheme has none */
  Vec *scalars;
  Vec *next_scalars;                   /* during a step, the scalars on their way */
  Vec  confinement[DIM];               /* acceleration of this step, see confinement.c; null without */
  Vec  scratch[2];                     /* cell or face values within one function */
  PetscInt     face_parts, cell_parts; /* of this step, in central advection */
  NearSurfaces near;                   /* where that gives way */

  /* Obstacles, all null when there are none. */
  Vec        solid;               /* 0 in fluid, 1 + number in other cells; ghosts valid */
  Vec        solid_velocity[DIM]; /* on closed faces */
  Vec        covered;             /* `solid` and the cells of bodies that are coupled; null without those */
  PetscInt   wall_count;
  PetscBool *wall_slips;
  PetscBool  any_slips;
  PetscInt   closed_count[DIM]; /* closed faces among the free ones of each direction, by local index */
  PetscInt  *closed[DIM];
  PetscInt no_slip_count[DIM]; /* open faces beside the surface of an obstacle that does not let them slip */
  NoSlipPair *no_slip_pairs[DIM];

  /* A mixture, all null without one. */
  const Mixture *mixture;           /* borrowed */
  PetscBool      mixture_is_new;    /* what follows does not yet belong to it */
  Vec            voids;             /* in cells: 1 where nothing is, neither fluid nor solid; ghosts valid */
  PetscBool      weights_are_old;   /* the solver's */
  PetscBool      has_prediction;    /* a step is under way: `earlier` holds the velocity of its middle */
  PetscReal      reference_density; /* weight of a face over its mobility */
  PetscBool      is_viscous;        /* anywhere */
  Vec            acceleration[DIM]; /* by forces and pressure in the last step; null without viscosity */
  Vec advected[DIM];        /* the velocity of the last step as it was carried along, before anything acted
                               on it; null without a mixture and where groups have theirs */
  PetscReal  advected_over; /* that step; 0: there was none */
  Vec        next_advected[DIM];
  PetscReal  next_advected_over; /* of the prediction */
  Stress     stress;
  PetscInt   group_count; /* of velocities; 0: all flows with one, or they are not yet asked for */
  GroupFlow *groups;

  /* With bodies that are coupled, null without. */
  Vec weights[DIM];               /* of the projection without bodies */
  Vec leak_proof_correction[DIM]; /* what is added to the velocity for advection along it */
  /* Bodies that viscosity holds on to. */
  const struct FaceConstraints *constraints;         /* borrowed; null: none */
  const PetscReal              *constrained_before;  /* their velocities at the start of the step; borrowed */
  PetscReal                    *constraint_impulses; /* of each body, by the last solve */
  const Visibility             *visibility;          /* borrowed; null: none */
  ShellTransport                shell_transport;     /* values near shells, shell_transport.c */
  SeparatedCellList             separated[2];        /* by StepMoment */

  Poisson     poisson;
  Vec         residual; /* of the diffusion; null until the first solve */
  PetscReal   share;    /* of the last extrapolation: earlier = (1 + share) u^n - share u^{n-1} */
  FluidReport report;   /* of the last step */
};

/* The faces of direction d that are unknown to the viscous and advective updates: not on a side that
   prescribes the normal velocity. Closed faces are still among them. */
GridRange free_faces(Fluid fluid, PetscInt d);
/* The same on another grid of the same box. */
GridRange free_faces_on(Fluid fluid, MacGrid grid, PetscInt d);

/* The owned places at one index along an axis, such as the faces on a side. */
GridRange layer_at(const GridBox *box, PetscInt axis, PetscInt index);

static inline PetscBool is_closed(const PetscReal *solid, const GridBox *box, PetscInt d, PetscInt c)
{
  return solid && (solid[c] > 0. || solid[c - box->stride[d]] > 0.);
}

/* Whether this rank has the outermost cells beside a side of the box. */
static inline PetscBool touches_side(const GridBox *box, PetscInt axis, PetscInt side)
{
  return !box->periodic[axis] && box->neighbour[axis][side] == MPI_PROC_NULL;
}

/* A face of direction d between two void cells: not part of the flow. */
static inline PetscBool is_void(const PetscReal *voids, const GridBox *box, PetscInt d, PetscInt c)
{
  return voids && voids[c] > 0. && voids[c - box->stride[d]] > 0.;
}

/* Whether sides that prescribe a value give theirs on the side, in all ghosts where the flow enters (fluxes
   take the value upstream), or zero (the linear part of an operator). */
typedef enum { SIDE_VALUES_GIVEN, SIDE_VALUES_UPSTREAM, SIDE_VALUES_ZERO } SideValues;

/* sides.c: ghosts between ranks and beyond the sides, at `time`. Collective: fluid. */
PetscErrorCode FluidFillVelocityGhosts(Fluid fluid, Vec faces[DIM], PetscReal time);
PetscErrorCode FluidFillComponentGhosts(Fluid fluid, PetscInt direction, Vec component, PetscReal time,
                                        SideValues values);
PetscErrorCode FluidFillScalarGhosts(Fluid fluid, PetscInt scalar, Vec field, PetscReal time,
                                     SideValues values);
PetscErrorCode FluidFillPressureGhosts(Fluid fluid, Vec field);
PetscReal      largest_side_speed(Fluid fluid, PetscInt d, PetscReal time);
/* Sets the faces on sides that prescribe the normal velocity. */
PetscErrorCode FluidSetSideFaces(Fluid fluid, PetscInt direction, Vec component, PetscReal time);

/* obstacles.c */
PetscErrorCode FluidSetClosedFaces(Fluid fluid, PetscInt direction, Vec component);
/* Whether the face one step along axis a from closed face c of direction d is an unknown somewhere. */
PetscBool has_free_neighbour(Fluid fluid, const PetscReal *solid, PetscInt d, PetscInt c, PetscInt a,
                             PetscInt step);
/* Obstacle that closes the face, or -1: a source feels no force. */
PetscInt       obstacle_at(Fluid fluid, const PetscReal *solid, PetscInt d, PetscInt c);
PetscErrorCode FluidUpdateWeights(Fluid fluid);
PetscErrorCode FluidSetSlips(Fluid fluid, PetscInt obstacles, const PetscBool slips[]);

/* advection.c: carries `field` (component `direction` of the velocity, or a scalar for CELL_VALUES) over `dt`
   along fluid->earlier. `fill` refreshes the ghosts of an intermediate field. */
enum { CELL_VALUES = -1, NO_SCALAR = -1 };
typedef struct {
  PetscInt             direction; /* of a velocity component, or CELL_VALUES */
  PetscInt             scalar;    /* NO_SCALAR: cell values that no side gives */
  PetscReal            dt;
  const unsigned char *marks; /* of the places along trajectories that are carried; null: all */
} AdvectedField;
/* Finds the step's trajectories along fluid->earlier; before any FluidAdvect. */
PetscErrorCode FluidTraceTrajectories(Fluid fluid, PetscReal dt, const unsigned char *marks);
PetscErrorCode FluidAdvect(Fluid fluid, const AdvectedField *carried,
                           Vec *field); /* may swap it for a scratch field */
PetscErrorCode FluidAdvectWeno(Fluid fluid, const AdvectedField *carried, Vec field);
/* near_surfaces.c: those of this step. */
PetscErrorCode FluidFindNearSurfaces(Fluid fluid);
PetscErrorCode FluidDestroyNearSurfaces(Fluid fluid);
/* central.c: the parts of the step, then each field. */
PetscErrorCode FluidCountParts(Fluid fluid, PetscReal dt);
/* acceleration -= u . grad u, of the velocity along the flow in `earlier`. */
PetscErrorCode FluidAddInertia(Fluid fluid, PetscInt d, Vec acceleration);
PetscErrorCode FluidAdvectCentrally(Fluid fluid, const AdvectedField *carried, Vec *field);
PetscErrorCode FluidFillCarriedGhosts(Fluid fluid, const AdvectedField *carried, Vec field, PetscReal time);
GridRange      carried_range(Fluid fluid, const AdvectedField *carried);

/* shell_transport.c: values near shells. Finds what each can see, before any of the following; without shells
   they do nothing. */
PetscErrorCode FluidTraceNearShells(Fluid fluid, PetscReal dt);
PetscErrorCode FluidDropShellTransport(Fluid fluid);
/* Places to which values of `original` (with ghosts) come past a shell, in `result`. */
PetscErrorCode FluidAdvectNearShells(Fluid fluid, const AdvectedField *carried, Vec original, Vec result);
/* Takes a correction away where it has looked at a shell. */
PetscErrorCode FluidDropCorrections(Fluid fluid, const AdvectedField *carried, Vec uncorrected, Vec result);

/* conjugate_gradients.c: a run of unknowns in an iteration. */
typedef struct {
  PetscReal *value, *residual, *search, *image; /* image: of the search direction under the operator */
} ConjugateRow;
/* value += length search, residual -= length image. */
void conjugate_advance(const ConjugateRow *row, PetscReal length, PetscInt count);
/* search = preconditioned + ratio search. */
void conjugate_turn(PetscReal *search, PetscReal ratio, const PetscReal *preconditioned, PetscInt count);
/* Adds the products of the unknowns of plane k, while they are in the cache. */
void conjugate_add_plane(ReproducibleSum *sum, const GridBox *box, const GridRange *range, PetscInt k,
                         const PetscReal *a, const PetscReal *b);

/* separated_cells.c: lent until the visibility changes; none without one. */
PetscErrorCode FluidGetSeparatedCells(Fluid fluid, StepMoment moment, const SeparatedCellList **separated);
PetscErrorCode FluidDropSeparatedCells(Fluid fluid);

/* forces.c: the largest acceleration at `time` that can move anything, on this rank. */
PetscErrorCode FluidUpdateConfinement(Fluid fluid); /* that of the present velocity; before what follows */
PetscErrorCode FluidGetLargestForce(Fluid fluid, PetscInt direction, PetscReal time, PetscReal *largest);
/* Adds dt (body force at `time` + buoyancy of `scalars`); takes off factor * grad potential, whose
 * ghosts are valid. */
PetscErrorCode FluidAddForces(Fluid fluid, PetscInt direction, const Vec scalars[], Vec component,
                              PetscReal time, PetscReal dt);
PetscErrorCode FluidSubtractGradient(Fluid fluid, PetscInt direction, Vec potential, PetscReal factor,
                                     Vec component);

/* diffusion.c: to = from + amount * laplacian(from) in every unknown, other places are left to be set; and
   (1 - amount laplacian) value = value. */
PetscErrorCode FluidDiffuseExplicitly(Fluid fluid, const AdvectedField *carried, PetscReal amount, Vec from,
                                      Vec to);
PetscErrorCode FluidDiffuse(Fluid fluid, const AdvectedField *carried, PetscReal amount, PetscReal time,
                            Vec value, PetscInt *iterations);

/* projection.c: `faces` becomes divergence-free and the pressure is brought up to date, unless the solve
 * fails. */
PetscErrorCode FluidMakeDivergenceFree(Fluid fluid, Vec faces[DIM], PetscReal time, PetscReal dt,
                                       PetscReal implicitness, PetscBool *good);

/* mixture.c: the step of a mixture. */
/* Brings what follows from mixture and obstacles up to date; before anything that reads `voids`. */
PetscErrorCode FluidRefreshMixture(Fluid fluid);
PetscErrorCode FluidCreateAdvected(Fluid fluid);
PetscErrorCode FluidClearVoidFaces(Fluid fluid, PetscInt direction, Vec component);
/* Only viscosity, on velocities that will feel the acceleration of the last step. */
PetscErrorCode FluidDiffuseAccelerated(Fluid fluid, PetscReal dt, PetscReal implicitness, Vec faces[DIM]);
/* Weights of the projection, with ghosts, and whether `any` cell is void. */
PetscErrorCode FluidWeighMixture(Fluid fluid, Vec weights[DIM], PetscBool *any);
/* `faces` becomes divergence-free and the pressure that of the step, unless the solve fails. */
PetscErrorCode FluidProjectMixture(Fluid fluid, Vec faces[DIM], PetscReal time, PetscReal dt, JumpUse jumps,
                                   PetscBool *good);
/* Keeps the acceleration of the step from `time`, with the scalars at its ends and the new pressure. */
PetscErrorCode FluidKeepAcceleration(Fluid fluid, PetscReal time, PetscReal dt, const Vec at_end[]);

/* group_velocities.c: the flow of a group takes the place of that of all, and back; all become one again. */
void           fluid_swap_group(Fluid fluid, PetscInt group);
PetscErrorCode FluidMergeGroups(Fluid fluid);
PetscErrorCode FluidCommitGroups(Fluid fluid);
void           fluid_swap_fields(Vec a[DIM], Vec b[DIM]);
PetscErrorCode FluidDestroyGroups(Fluid fluid);

/* constrained_faces.c: the unknowns' velocities, now * velocity + before * that at the start of the step, and
   the last impulses, now times. */
void fluid_blend_constraints(Fluid fluid, PetscReal before, PetscReal now);

/* stress.c: (density - dt div viscosity (grad + grad^T)) faces = density faces, in place. */
PetscErrorCode FluidDiffuseMixture(Fluid fluid, PetscReal dt, PetscReal time, Vec faces[DIM]);
PetscErrorCode StressDestroy(Stress *stress);
/* stress_given.c: what the stresses of the mixture do to faces, and to solids in the next viscous solve. */
PetscErrorCode FluidPullFaces(Fluid fluid, PetscReal dt, Vec faces[DIM]);
/* stress_forces.c: what the stresses do to each obstacle, added to DIM values for each, on this rank. */
PetscErrorCode FluidAddStressForces(Fluid fluid, PetscReal *forces);

/* scalar.c: `covered` cells hold no fluid; null: there are none. */
static inline Vec fluid_covered(Fluid fluid)
{
  return fluid->covered ? fluid->covered : fluid->solid;
}
PetscErrorCode FluidClearSolids(Fluid fluid, Vec field);
/* Values next to the fluid, and in sources those of `kept` (null: none). */
PetscErrorCode FluidExtendIntoSolids(Fluid fluid, Vec kept, Vec field);
/* Carries scalar to the end of the step, in next_scalars. */
PetscErrorCode FluidAdvanceScalar(Fluid fluid, PetscInt scalar, PetscReal dt, PetscReal implicitness);

#endif
