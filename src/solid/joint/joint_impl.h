/* Private to src/solid/joint. */
#ifndef MILLRACE_SOLID_JOINT_IMPL_H
#define MILLRACE_SOLID_JOINT_IMPL_H

#include "joint.h"

enum { ROWS = TWIST }; /* of a joint, at most: two bodies have six relative freedoms */
typedef enum { PARENT, CHILD, SIDES } JointSide;

/* One scalar constraint: a wrench on the child and its opposite on the parent. */
typedef struct {
  Vector3 force;
  Vector3 torque[SIDES]; /* about the centres of the two bodies */
} JointRow;

typedef struct {
  PetscInt  count;
  JointRow  row[ROWS];
  PetscReal residual[ROWS]; /* C, m or rad */
} JointRows;

/* The rows at time n are scaled to a unit diagonal. */
typedef struct {
  PetscReal scale[ROWS];
  PetscReal lag[ROWS]; /* of the residual: what a move may leave of it */
} Scaling;

/* What the rows do as impulses: inverse inertia times torque. */
typedef Vector3 Spins[ROWS][SIDES];

/* What keeps an otherwise free angle or distance from moving. */
typedef enum { HOLD_NOTHING, HOLD_LOWER, HOLD_UPPER, HOLD_TARGET } Hold;

typedef struct {
  Hold      angle, swing; /* "angle" is the distance of a prismatic joint */
  PetscReal angle_before; /* at solid->placements, within half a turn */
  PetscReal swing_before;
  PetscReal aim;      /* where the angle shall be after the move */
  PetscReal due_rate; /* what the control asks of the velocities after the move */
} Grip;

/* The rows of what is held; they come last. */
static inline PetscInt grip_rows(const Grip *grip)
{
  return (grip->angle != HOLD_NOTHING) + (grip->swing != HOLD_NOTHING);
}

typedef struct {
  const JointConfig *config;        /* borrowed */
  PetscInt           body[SIDES];   /* the world is -1 */
  Vector3            anchor[SIDES]; /* in the frames of the bodies */
  Quaternion         frame[SIDES];  /* from the joint's axes to those of the bodies */
  RigidTransform     moved;         /* from where it is written to where this copy was at time zero */
  PetscReal          reach;         /* of the smaller body: what lengths are measured by */
  PetscInt           group;         /* of joints that share free bodies: its first one */
} Joint;

typedef struct {
  Vector3   velocity;
  PetscReal mass; /* infinite: bound to what is not free */
} Travel;

/* A joint where its two bodies are. */
typedef struct {
  Vector3    anchor[SIDES];
  Quaternion frame;            /* the parent's copy of the joint's axes */
  Quaternion rotation;         /* from there to the child's copy; scalar part not negative */
  Vector3    axis, child_axis; /* of the two copies */
} JointGeometry;

/* joint_rows.c: geometry of one joint. */
JointGeometry joint_geometry(const Joint *joint, const RigidTransform at[SIDES]);
PetscReal     joint_angle(const Joint *joint, const JointGeometry *geometry); /* or distance */
PetscReal     joint_swing(const JointGeometry *geometry);
/* As impulses both sides act at one point, half-way between anchors that are apart; as derivatives of the
   residuals each acts at its own, and so it does if they are far apart: the arms would turn the wrong way. */
typedef enum { ROWS_AS_IMPULSES, ROWS_AS_DERIVATIVES } RowUse;
void      joint_rows(const Joint *joint, const RigidTransform at[SIDES], const Grip *grip, RowUse use,
                     JointRows *rows);
PetscReal wrapped_angle(PetscReal angle); /* to half a turn either way */

/* blocks.c: a square matrix of blocks, symmetric in its pattern, that is factorised in place. */
typedef PetscReal              Block[ROWS][ROWS];
typedef struct _p_BlockMatrix *BlockMatrix;

PetscErrorCode BlockMatrixCreate(PetscInt count, PetscInt pair_count, const PetscInt (*pairs)[2],
                                 BlockMatrix *matrix);
PetscErrorCode BlockMatrixDestroy(BlockMatrix *matrix);
/* Sets all to zero; `sizes` are the rows of the blocks. */
void block_matrix_clear(BlockMatrix matrix, const PetscInt sizes[]);
/* Which of two blocks is eliminated first: (first, second) is then an upper block. */
PetscBool block_matrix_precedes(BlockMatrix matrix, PetscInt first, PetscInt second);
/* Of the rows of block i and the columns of block j: i = j or one of the pairs. */
PetscReal (*block_matrix_at(BlockMatrix matrix, PetscInt i, PetscInt j))[ROWS];
/* Rows with a pivot below `smallest` are left out, as are those whose `kept` is false already. */
typedef enum { BLOCKS_SYMMETRIC, BLOCKS_GENERAL } BlockSymmetry; /* symmetric: only `upper` blocks are read */
void block_matrix_factor(BlockMatrix matrix, BlockSymmetry symmetry, PetscReal smallest,
                         PetscBool kept[][ROWS]);
void block_matrix_solve(BlockMatrix matrix, PetscReal values[][ROWS]);

/* Two joints that share a body that can move. */
typedef struct {
  PetscInt  body, joint[2];
  JointSide side[2];
  Block    *block[2]; /* borrowed: (first, second), which is an upper one, and (second, first) */
} JointPair;

struct JointSet {
  Solid    solid; /* borrowed */
  PetscInt count;
  Joint   *joints;
  PetscInt pair_count, (*pairs)[2];
  PetscInt body_count, *bodies; /* that have a joint */

  PetscInt    joint_pair_count;
  JointPair  *joint_pairs;
  BlockMatrix matrix;
  PetscBool (*kept)[ROWS];       /* rows at time n that are not redundant */
  PetscBool       is_factored;   /* rows, spins and factors are those of time n, for: */
  RigidTransform *factored_at;   /* per body of the solid */
  Mobility       *factored_with; /* likewise: with added mass or without */
  Grip           *factored_for;

  Grip *grips;
  Hold (*holds)[2];                /* what the limits of angle and swing should do next */
  PetscReal  speed, spin, impulse; /* the largest, for round-off */
  PetscBool  has_limits, has_control, control_is_due;
  JointRows *rows, *ahead; /* at solid->placements, and where the bodies are going */
  Scaling   *scalings;
  Spins     *spins, *soft_spins; /* as they are, and with what the moving arms add to the inertia */
  Travel    *travels;            /* of the groups */
  PetscBool *mends;              /* whether a joint of the group has come apart */
  PetscReal *leads;              /* how far in the step the impulses act: 0 at its start, 1 at its end */
  PetscInt  *sizes;
  PetscReal (*step)[ROWS], (*impulses)[ROWS];

  JointLoad *moving_loads, *resting_loads; /* impulses so far: of moves, and of velocities as found last */
  PetscReal  load_span;                    /* s: of the step so far */

  /* per body of the solid */
  RigidTransform *moved;
  Matrix3        *turning;   /* how the rotation over dt follows the spin, transposed */
  Matrix3        *softening; /* how a spin falls short of what a torque would give with fixed arms */
  PetscReal      *stiffness; /* what tension adds to the inertia over dt, in parts of it */
  Twist          *saved, *lacking;
};

/* assemble.c: the system of all joints. */
void joint_set_measure(JointSet joints);   /* the grips' angles; lets go of all limits */
void joint_set_factorize(JointSet joints); /* at solid->placements, with the present grips */
/* The rows of `ahead` become derivatives by the velocities; then the factors of what `spins` do to them. */
void joint_set_differentiate(JointSet joints, PetscReal dt, const Twist twists[]);
void joint_set_factorize_ahead(JointSet joints, const Spins spins[]);
void joint_set_rates(JointSet joints, const JointRows rows[], const Twist twists[], PetscReal rates[][ROWS]);
void joint_set_push(JointSet joints, PetscReal factor, PetscReal impulses[][ROWS], const Spins spins[],
                    Twist twists[]);
/* Moves the bodies, sets `ahead`; the largest residual in parts of what is allowed. */
PetscReal joint_set_predict(JointSet joints, PetscReal dt, const Twist twists[]);
void      joint_placements(const Joint *joint, const RigidTransform placements[], RigidTransform at[SIDES]);

/* stabilize.c: with the holds of the grips left as they are, but for limits. */
void joint_set_stabilize_motion(JointSet joints, PetscReal dt, Twist twists[]);
void joint_set_stabilize_velocity(JointSet joints, Twist twists[]);

/* joint_tension.c: whether the impulses so far are so large that they must act later in the step; then the
   motion with that, from `twists` on: whether it was found. */
PetscBool joint_set_is_stiff(JointSet joints, PetscReal dt);
PetscBool joint_set_solve_stiff(JointSet joints, PetscReal dt, Twist twists[]);

/* joint_load.c: adds the impulses of the last solve. */
void joint_set_add_impulses(JointSet joints, JointLoad loads[]);

/* control.c: controlled joints hold their targets; what the laws ask for in a step, where the grips have been
   measured; the deviation and its rate after `dt` of e'' = -stiffness e - damping e'. */
void joint_set_hold_targets(JointSet joints);
void joint_set_plan(JointSet joints, PetscReal time, PetscReal dt, const Twist before[]);
void damped_oscillation(PetscReal stiffness, PetscReal damping, PetscReal dt, PetscReal *deviation,
                        PetscReal *rate);

#endif
