/* Soft bindings by springs of no length (2.3.2): f = -k d of the distance d = x_p - x_q between a point and
   its target, either of which others may carry. Elasticity is implicit in step I at the middle of the step,

     M u = M v - dt/2 k J^T ((1 - h) d^n + h d^{n+1}),   h = 1/2,   d^{n+1} = d^n + dt J u + c,

   with J u = u_p - u_q, and step V takes the same force, for half of the step at either end: the midpoint
   rule, stable at every step, which keeps both momenta. What c is of points on bodies, which turn, is found
   from where u leads them, and the linear system solved again until it stays. On bodies springs that the step
   does not resolve go to h = 1, as far as they are damped, and become the constraint d^{n+1} = 0 of RATTLE
   (Andersen 1983). Damping follows as a backward step (M + dt b J^T n n^T J) v' = M v along the springs, so
   that it has no torque. Both are solved by the matrix 1 + r J M^-1 J^T r of springs, r r = h k dt^2 / 2 or
   dt b n n^T (Sherman, Morrison, Woodbury): how stiff springs are does not matter. The same matrix takes what
   contact does to bodies on springs to those that these hold. */
#include "../contact/solve/contact_set.h"
#include "points.h"

#include <millrace/solid_system.h>

/* An unknown that an end of a spring hangs on. */
typedef struct {
  PetscInt  unknown; /* a point, or -1 - body */
  PetscInt  spring;
  PetscReal weight; /* negative: of the target */
  Vector3   arm;    /* on a body */
} Footing;

typedef struct {
  PetscInt count, room;
  Footing *list;
} Footings;

static PetscErrorCode AddFooting(Solid solid, Footings *footings, PetscInt spring, PetscInt point,
                                 PetscReal weight)
{
  const Points  *points = solid->points;
  const PetscInt carrier = points->carrier[point], k = points->bindings.index[point];

  PetscFunctionBegin;
  for (PetscInt n = k < 0 ? 0 : points->bindings.first[k]; k >= 0 && n < points->bindings.first[k + 1]; n++)
    PetscCall(AddFooting(solid, footings, spring, points->bindings.parents[n],
                         weight * points->bindings.weights[n]));
  if (k >= 0 || carrier == CARRIER_WORLD || (carrier >= 0 && !body_is_free(&solid->bodies[carrier])))
    PetscFunctionReturn(0);
  PetscCall(GrowList(footings->count, &footings->room, &footings->list));
  footings->list[footings->count++] =
      (Footing){carrier >= 0 ? -1 - carrier : point, spring, weight,
                carrier >= 0 ? vector3_subtract(points->position[point], solid->placements[carrier].position)
                             : vector3(0, 0, 0)};
  PetscFunctionReturn(0);
}

static int compare_footings(const void *x, const void *y)
{
  const Footing *a = x, *b = y;

  if (a->unknown != b->unknown)
    return a->unknown < b->unknown ? -1 : 1;
  return (a->spring > b->spring) - (a->spring < b->spring);
}

static Matrix3 cross_matrix(Vector3 r)
{
  return (Matrix3){{{0, -r.at[Z], r.at[Y]}, {r.at[Z], 0, -r.at[X]}, {-r.at[Y], r.at[X], 0}}};
}

/* Velocity at one footing for an impulse at another of the same unknown: 1/m, of a body 1/m - r x I^-1 r' x.
 */
static Matrix3 mobility_between(Solid solid, const Footing *a, const Footing *b)
{
  const PetscReal scale = a->weight * b->weight;
  Matrix3         result = {{{0}}};
  PetscReal       inverse;

  if (a->unknown < 0) {
    const Mobility *mobility = &solid->mobilities[-1 - a->unknown];
    const Matrix3   left = cross_matrix(a->arm), right = cross_matrix(b->arm);
    const Matrix3   turned = matrix3_multiply(&mobility->inverse_inertia, &right);

    result = matrix3_multiply(&left, &turned);
    inverse = mobility->inverse_mass;
  } else
    inverse = solid->points->inverse_mass[a->unknown];
  for (PetscInt i = 0; i < DIM; i++)
    for (PetscInt j = 0; j < DIM; j++)
      result.at[i][j] = scale * ((i == j ? inverse : 0.) - result.at[i][j]);
  return result;
}

static PetscErrorCode AddPair(BlockPairs *pairs, PetscInt s, PetscInt t, const Matrix3 *block)
{
  BlockPair *pair;

  PetscFunctionBegin;
  PetscCall(BlockPairsFind(pairs, s, t, &pair));
  for (PetscInt i = 0; i < DIM; i++)
    for (PetscInt j = 0; j < DIM; j++)
      pair->block[SOLID_BLOCK_LENGTH * i + j] += block->at[i][j];
  PetscFunctionReturn(0);
}

/* 1 + r J M^-1 J^T r; blocks have room for six numbers, of which springs need three. */
static PetscErrorCode AssemblePairs(Solid solid, const Footings *footings, BlockPairs *pairs)
{
  const Springs *springs = &solid->points->springs;

  PetscFunctionBegin;
  for (PetscInt s = 0; s < springs->count - springs->copy_count; s++) {
    BlockPair *pair;

    PetscCall(BlockPairsFind(pairs, s, s, &pair));
    for (PetscInt i = 0; i < SOLID_BLOCK_LENGTH; i++)
      pair->block[(SOLID_BLOCK_LENGTH + 1) * i] = 1.;
  }
  for (PetscInt first = 0, end = 0; first < footings->count; first = end) {
    while (end < footings->count && footings->list[end].unknown == footings->list[first].unknown)
      end++;
    for (PetscInt a = first; a < end; a++)
      for (PetscInt b = first; b < end; b++) {
        const PetscInt s = footings->list[a].spring, t = footings->list[b].spring;
        Matrix3        block;

        if (s > t)
          continue;
        block = mobility_between(solid, &footings->list[a], &footings->list[b]);
        block = matrix3_multiply(&block, &springs->roots[springs->copy_count + t]);
        block = matrix3_multiply(&springs->roots[springs->copy_count + s], &block);
        PetscCall(AddPair(pairs, s, t, &block));
      }
  }
  PetscCall(BlockPairsGather(pairs, PETSC_COMM_SELF));
  PetscFunctionReturn(0);
}

static PetscErrorCode Factor(Solid solid)
{
  Springs   *springs = &solid->points->springs;
  Footings   footings = {0};
  BlockPairs pairs = {0};
  PetscBool  is_regular;

  PetscFunctionBegin;
  if (springs->count == springs->copy_count)
    PetscFunctionReturn(0);
  for (PetscInt s = springs->copy_count; s < springs->count; s++) {
    PetscCall(AddFooting(solid, &footings, s - springs->copy_count, springs->list[s].point, 1.));
    PetscCall(AddFooting(solid, &footings, s - springs->copy_count, springs->list[s].target, -1.));
  }
  qsort(footings.list, (size_t)footings.count, sizeof(*footings.list), compare_footings);
  PetscCall(AssemblePairs(solid, &footings, &pairs));
  PetscCall(BlockFactorDestroy(&springs->factor));
  PetscCall(BlockFactorCreate(springs->count - springs->copy_count, pairs.count, pairs.pairs,
                              &springs->factor, &is_regular));
  PetscCheck(is_regular, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The matrix of binding springs is singular");
  PetscCall(PetscFree(footings.list));
  PetscCall(PetscFree(pairs.pairs));
  PetscFunctionReturn(0);
}

static Vector3 apart(const BindingSpring *spring, const Vector3 values[])
{
  return vector3_subtract(values[spring->point], values[spring->target]);
}

/* (omega dt / 2)^2 */
static PetscReal half_turn_squared(const BindingSpring *spring, PetscReal dt)
{
  return 0.25 * dt * dt * spring->stiffness * spring->inverse;
}

/* h: 1/2 but for what is damped, not resolved, and turns. */
static PetscReal share_of_end(const BindingSpring *spring, PetscReal dt)
{
  const PetscReal square = half_turn_squared(spring, dt);
  const PetscReal critical = 2. * PetscSqrtReal(spring->stiffness / PetscMax(spring->inverse, PETSC_SMALL));

  if (!spring->is_turning)
    return 0.5;
  return 0.5 + 0.5 * PetscMin(1., spring->damping / critical) * square / (1. + square);
}

PetscErrorCode SpringsStiffen(Solid solid, PetscReal dt)
{
  Springs *springs = &solid->points->springs;

  PetscFunctionBegin;
  for (PetscInt s = 0; s < springs->count; s++) {
    springs->list[s].ahead = share_of_end(&springs->list[s], dt);
    springs->list[s].turn = vector3(0, 0, 0);
  }
  for (PetscInt s = 0; s < springs->count; s++) {
    const PetscReal root = dt * PetscSqrtReal(0.5 * springs->list[s].ahead * springs->list[s].stiffness);

    springs->roots[s] = (Matrix3){{{root, 0, 0}, {0, root, 0}, {0, 0, root}}};
  }
  PetscCall(Factor(solid));
  if (springs->is_joining)
    PetscCall(ContactSetMarkJointed(solid->contacts, solid, dt));
  PetscFunctionReturn(0);
}

PetscErrorCode SpringsRelease(Solid solid, SolidMotion *impulse, SolidMotion *motion)
{
  Points      *points = solid->points;
  Springs     *springs = &points->springs;
  SolidMotion *answer = &springs->answer;

  const PetscInt first = springs->copy_count;

  PetscFunctionBegin;
  if (springs->count == first)
    PetscFunctionReturn(0);
  for (PetscInt s = 0; s < springs->count - first; s++) {
    const Vector3 value =
        matrix3_apply(&springs->roots[first + s], apart(&springs->list[first + s], motion->points));

    for (PetscInt d = 0; d < SOLID_BLOCK_LENGTH; d++)
      springs->from[SOLID_BLOCK_LENGTH * s + d] = d < DIM ? value.at[d] : 0.;
  }
  PetscCall(BlockFactorSolve(springs->factor, springs->from, springs->to));
  motion_clear(solid, answer);
  for (PetscInt s = first; s < springs->count; s++) {
    const PetscReal *to = &springs->to[SOLID_BLOCK_LENGTH * (s - first)];
    const Vector3    push = matrix3_apply(&springs->roots[s], vector3(to[X], to[Y], to[Z]));
    Vector3 *ends[2] = {&answer->points[springs->list[s].point], &answer->points[springs->list[s].target]};

    *ends[0] = vector3_subtract(*ends[0], push);
    *ends[1] = vector3_add(*ends[1], push);
  }
  points_collect(solid, answer);
  if (impulse)
    motion_combine(solid, 1., 1., answer, impulse);
  motion_yield(solid, answer, &springs->yielded);
  motion_combine(solid, 1., 1., &springs->yielded, motion);
  PetscFunctionReturn(0);
}

static void push_ends(SolidMotion *motion, const BindingSpring *spring, Vector3 push)
{
  motion->points[spring->point] = vector3_add(motion->points[spring->point], push);
  motion->points[spring->target] = vector3_subtract(motion->points[spring->target], push);
}

void springs_pull(Solid solid, PetscReal dt, SpringParts part, const SolidMotion *motion, SolidMotion *into)
{
  const Points   *points = solid->points;
  Springs        *springs = &solid->points->springs;
  const PetscReal start = part == SPRINGS_WHOLE ? 1. : 0.;

  motion_clear(solid, &springs->answer);
  for (PetscInt s = 0; s < springs->count; s++) {
    BindingSpring *spring = &springs->list[s];
    const Vector3  way =
        vector3_add(vector3_scale(start, spring->turn), vector3_scale(dt, apart(spring, motion->points)));
    const Vector3 middle =
        vector3_add(vector3_scale(start, apart(spring, points->position)), vector3_scale(spring->ahead, way));
    const Vector3 push = vector3_scale(-0.5 * dt * spring->stiffness, middle);

    if (part == SPRINGS_WHOLE)
      spring->push = push;
    push_ends(&springs->answer, spring, push);
  }
  points_collect(solid, &springs->answer);
  motion_combine(solid, 1., 1., &springs->answer, into);
}

void springs_finish(Solid solid)
{
  Springs *springs = &solid->points->springs;

  motion_clear(solid, &springs->answer);
  for (PetscInt s = 0; s < springs->count; s++)
    push_ends(&springs->answer, &springs->list[s], springs->list[s].push);
  points_collect(solid, &springs->answer);
  motion_combine(solid, 0.5, 0.5, &springs->answer, &springs->pull);
}

/* Where a motion leads a point in a step, from where it is. */
static Vector3 point_way(Solid solid, PetscInt point, PetscReal dt, const SolidMotion *motion)
{
  const Points  *points = solid->points;
  const PetscInt body = points->carrier[point];
  RigidTransform there;

  if (body < 0)
    return vector3_scale(dt, motion->points[point]);
  there = body_moved(&solid->bodies[body], &solid->placements[body], &motion->bodies[body], dt);
  return vector3_subtract(rigid_apply(&there, points->arm[point]), points->position[point]);
}

PetscBool springs_turn(Solid solid, PetscReal dt, const SolidMotion *motion, SolidMotion *into)
{
  const PetscReal enough = 1e-9; /* of the turn */
  Springs        *springs = &solid->points->springs;
  PetscReal       largest = 0., most = 0.;

  motion_clear(solid, &springs->answer);
  for (PetscInt s = 0; s < springs->count; s++) {
    BindingSpring *spring = &springs->list[s];
    Vector3        turn, change;

    if (!spring->is_turning)
      continue;
    turn = vector3_subtract(point_way(solid, spring->point, dt, motion),
                            point_way(solid, spring->target, dt, motion));
    turn = vector3_subtract(turn, vector3_scale(dt, apart(spring, motion->points)));
    change = vector3_subtract(turn, spring->turn);
    spring->turn = turn;
    push_ends(&springs->answer, spring, vector3_scale(-0.5 * dt * spring->stiffness * spring->ahead, change));
    largest = PetscMax(largest, vector3_norm(turn));
    most = PetscMax(most, vector3_norm(change));
  }
  points_collect(solid, &springs->answer);
  motion_combine(solid, 1., 1., &springs->answer, into);
  return most > enough * largest ? PETSC_TRUE : PETSC_FALSE;
}

/* Along the spring; where it has no length, and on free bodies, in every direction (2.5). */
static Matrix3 damping_root(const Points *points, const BindingSpring *spring, PetscReal dt)
{
  const Vector3   d = apart(spring, points->position);
  const PetscReal length = vector3_norm(d), root = PetscSqrtReal(dt * spring->damping);
  const PetscBool is_short =
      spring->is_turning || length <= 1e-9 * points->shortest ? PETSC_TRUE : PETSC_FALSE;
  Matrix3 result;

  for (PetscInt i = 0; i < DIM; i++)
    for (PetscInt j = 0; j < DIM; j++)
      result.at[i][j] = root * (is_short ? (i == j ? 1. : 0.) : d.at[i] * d.at[j] / (length * length));
  return result;
}

/* A copy against the material of its element where the copy is, which gets the opposite impulse: in every
   direction without a torque. Copies are lighter than what carries their targets: one after the other. */
static void damp_copy(const Points *points, PetscInt s, PetscReal factor, Vector3 velocity[])
{
  const SoftPoint *soft = &points->soft.list[s];
  PetscInt         corners[4];
  PetscReal        weights[4], inverse = points->inverse_mass[soft->copy];
  Vector3          closing = velocity[soft->copy], impulse;

  if (!(inverse > 0.) || !soft_point_place(points, soft, corners, weights))
    return;
  for (PetscInt n = 0; n < 4; n++) {
    closing = vector3_subtract(closing, vector3_scale(weights[n], points_mean(points, corners[n], velocity)));
    inverse += PetscSqr(weights[n]) * points_inverse_mass(points, corners[n]);
  }
  impulse = vector3_scale(-factor / (1. + factor * inverse), closing);
  points_push(points, soft->copy, impulse, velocity);
  for (PetscInt n = 0; n < 4; n++)
    points_push(points, corners[n], vector3_scale(-weights[n], impulse), velocity);
}

PetscErrorCode SpringsDamp(Solid solid, PetscReal dt, SolidMotion *velocity)
{
  Points   *points = solid->points;
  Springs  *springs = &points->springs;
  PetscReal most = 0.;

  PetscFunctionBegin;
  for (PetscInt s = 0; s < springs->count; s++) {
    springs->roots[s] = damping_root(points, &springs->list[s], dt);
    most = PetscMax(most, springs->list[s].damping);
  }
  if (!(most > 0.))
    PetscFunctionReturn(0);
  for (PetscInt s = 0; s < springs->copy_count; s++)
    damp_copy(points, s, dt * springs->list[s].damping, velocity->points);
  points_follow_velocity(solid, velocity->bodies, velocity->points);
  PetscCall(Factor(solid));
  PetscCall(SpringsRelease(solid, NULL, velocity));
  PetscFunctionReturn(0);
}

void springs_remember(Solid solid, const SolidMotion *motion)
{
  if (solid->points->springs.is_joining)
    motion_combine(solid, 0., 1., motion, &solid->points->springs.known);
}

/* Impulses M c of contact lead to (M + r r J^T J)^-1 M c instead of c. */
PetscErrorCode SpringsAnswer(Solid solid, SolidMotion *motion)
{
  Springs     *springs = &solid->points->springs;
  SolidMotion *change = &springs->known;

  PetscFunctionBegin;
  if (!springs->is_joining || !springs->factor)
    PetscFunctionReturn(0);
  motion_combine(solid, -1., 1., motion, change);
  motion_combine(solid, 1., -1., change, motion);
  points_follow_change(solid, change);
  PetscCall(SpringsRelease(solid, NULL, change));
  motion_combine(solid, 1., 1., change, motion);
  springs_remember(solid, motion);
  PetscFunctionReturn(0);
}

PetscErrorCode SpringsFollowTurns(Solid solid, PetscReal dt, SolidMotion *motion)
{
  Points      *points = solid->points;
  SolidMotion *impulse = &points->residual, *change = &points->trial;

  PetscFunctionBegin;
  if (!points->springs.is_joining || !points->springs.factor)
    PetscFunctionReturn(0);
  points_follow_velocity(solid, motion->bodies, motion->points);
  motion_clear(solid, impulse);
  for (PetscInt k = 0; k < MOST_TURNS && springs_turn(solid, dt, motion, impulse); k++) {
    motion_yield(solid, impulse, change);
    PetscCall(SpringsRelease(solid, NULL, change));
    motion_combine(solid, 1., 1., change, motion);
    motion_clear(solid, impulse);
  }
  springs_remember(solid, motion);
  PetscFunctionReturn(0);
}

void bindings_add_elastic(const Points *points, Vector3 forces[])
{
  for (PetscInt s = 0; s < points->springs.count; s++) {
    const BindingSpring *spring = &points->springs.list[s];
    const Vector3        force =
        vector3_scale(-spring->stiffness,
                      vector3_subtract(points->position[spring->point], points->position[spring->target]));

    forces[spring->point] = vector3_add(forces[spring->point], force);
    forces[spring->target] = vector3_subtract(forces[spring->target], force);
  }
}

PetscReal springs_energy(const Points *points)
{
  PetscReal sum = 0.;

  for (PetscInt s = 0; s < points->springs.count; s++) {
    const Vector3 d = apart(&points->springs.list[s], points->position);

    sum += 0.5 * points->springs.list[s].stiffness * vector3_dot(d, d);
  }
  return sum;
}

PetscReal springs_longest(const Points *points)
{
  PetscReal largest = 0.;

  for (PetscInt s = 0; s < points->springs.count; s++)
    largest = PetscMax(largest, vector3_norm(apart(&points->springs.list[s], points->position)));
  return largest;
}

/* 1/m of what a spring meets at both ends. */
static PetscReal inverse_mass(Solid solid, const BindingSpring *spring)
{
  const PetscInt ends[2] = {spring->point, spring->target};
  PetscReal      inverse = 0.;

  for (PetscInt e = 0; e < 2; e++) {
    const PetscInt carrier = solid->points->carrier[ends[e]];

    inverse +=
        carrier >= 0 ? solid->mobilities[carrier].inverse_mass : points_inverse_mass(solid->points, ends[e]);
  }
  return inverse;
}

/* What turns does not move along its velocity. */
static PetscBool hangs_on_body(Solid solid, PetscInt point)
{
  const PetscInt carrier = solid->points->carrier[point];

  return carrier >= 0 && body_is_free(&solid->bodies[carrier]) ? PETSC_TRUE : PETSC_FALSE;
}

void springs_mark_jointed(Solid solid, PetscReal dt, PetscBool jointed[])
{
  const Springs *springs = solid->points ? &solid->points->springs : NULL;

  for (PetscInt s = 0; springs && s < springs->count; s++) {
    const BindingSpring *spring = &springs->list[s];
    const PetscInt       ends[2] = {spring->point, spring->target};

    for (PetscInt e = 0; e < 2 && half_turn_squared(spring, dt) > 1.; e++)
      if (hangs_on_body(solid, ends[e]))
        jointed[solid->points->carrier[ends[e]]] = PETSC_TRUE;
  }
}

PetscErrorCode SpringsCreate(Solid solid)
{
  Springs       *springs = &solid->points->springs;
  const PetscInt numbers = SOLID_BLOCK_LENGTH * springs->count;

  PetscFunctionBegin;
  if (!springs->count)
    PetscFunctionReturn(0);
  PetscCall(PetscMalloc3(springs->count, &springs->roots, numbers, &springs->from, numbers, &springs->to));
  PetscCall(SolidMotionCreate(solid, &springs->answer));
  PetscCall(SolidMotionCreate(solid, &springs->yielded));
  PetscCall(SolidMotionCreate(solid, &springs->pull));
  PetscCall(SolidMotionCreate(solid, &springs->known));
  for (PetscInt s = 0; s < springs->count; s++) {
    BindingSpring *spring = &springs->list[s];

    spring->inverse = inverse_mass(solid, spring);
    spring->damping *= spring->inverse > 0. ? 2. * PetscSqrtReal(spring->stiffness / spring->inverse) : 0.;
    spring->is_turning = hangs_on_body(solid, spring->point) || hangs_on_body(solid, spring->target);
    springs->is_joining = springs->is_joining || spring->is_turning ? PETSC_TRUE : PETSC_FALSE;
  }
  PetscFunctionReturn(0);
}

PetscErrorCode SpringsDestroy(Solid solid)
{
  Springs *springs = &solid->points->springs;

  PetscFunctionBegin;
  PetscCall(PetscFree3(springs->roots, springs->from, springs->to));
  PetscCall(SolidMotionDestroy(&springs->answer));
  PetscCall(SolidMotionDestroy(&springs->yielded));
  PetscCall(SolidMotionDestroy(&springs->pull));
  PetscCall(SolidMotionDestroy(&springs->known));
  PetscCall(BlockFactorDestroy(&springs->factor));
  PetscCall(PetscFree(springs->list));
  PetscFunctionReturn(0);
}
