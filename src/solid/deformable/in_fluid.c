/* Deformable solids in a fluid: the parts of a step between which the fluid acts, and C of (5.13). With the
   words of newmark.c

     S1   M u* = M v^n + dt/2 (f^n + M g),                       u from u* by (5.13) over dt/2, x^{n+1} = x^n
   + dt u S2   M v* = M v^n + dt/2 (f^n + f^{n+1}) + dt M g,          v^{n+1} from v* by (5.13) over dt

   C is M + a D + b K, with the masses of the fluid that moves with the surface in M, damping D and, where
   elasticity is implicit, stiffness K, both of where the forces were found last and definite,

     S1   a = dt/2, b = dt^2 (1 + 2 c) / 4           S2   a = dt, b = c dt^2

   and the algorithmic damping c. Damping in u* and v* would not do: it would act against the elastic forces
   that pressure is about to balance, and solids would be too soft. Every point is an unknown and a place of
   the surface, interior ones feel no force there; then come bones (fluid_bones.c). Points that others carry
   follow those; velocities of points that what is given carries are in `offset`. */
#include "in_fluid.h"

#include "../contact/mesh/mesh_contact.h"
#include "../step.h"

/* What the fluid iterates with has to be linear and symmetric far below its own tolerance. */
static const PetscReal solve_tolerance = 1e-13;

static PetscErrorCode Spread(void *context, const PetscReal unknowns[], PetscReal surface[])
{
  Solid       solid = context;
  SolidMotion motion = {(Vector3 *)surface, solid->points->trial.bodies};

  PetscFunctionBegin;
  PetscCall(PetscArraycpy(surface, unknowns, DIM * solid->points->count));
  bones_unpack(solid, unknowns, motion.bodies);
  points_follow_free(solid, &motion);
  PetscFunctionReturn(0);
}

static PetscErrorCode Collect(void *context, const PetscReal surface[], PetscReal unknowns[])
{
  Solid       solid = context;
  SolidMotion forces = solid->points->residual;

  PetscFunctionBegin;
  motion_clear(solid, &forces);
  PetscCall(PetscArraycpy((PetscReal *)forces.points, surface, DIM * solid->points->count));
  points_collect(solid, &forces);
  PetscCall(PetscArraycpy(unknowns, (const PetscReal *)forces.points, DIM * solid->points->count));
  bones_pack(solid, forces.bodies, unknowns);
  PetscFunctionReturn(0);
}

/* The velocities of C are those that `shown` names. */
static void show(Solid solid)
{
  struct PointsInFluid *fluid = solid->points->in_fluid;

  memcpy(fluid->velocity, fluid->shown.points, (size_t)solid->points->count * sizeof(Vector3));
  bones_pack(solid, fluid->shown.bodies, fluid->velocity);
}

/* And become these. */
static PetscErrorCode Keep(void *context)
{
  Solid                 solid = context;
  struct PointsInFluid *fluid = solid->points->in_fluid;

  PetscFunctionBegin;
  memcpy(fluid->shown.points, fluid->velocity, (size_t)solid->points->count * sizeof(Vector3));
  bones_unpack(solid, fluid->velocity, fluid->shown.bodies);
  points_follow_free(solid, &fluid->shown);
  bone_joints_found(solid);
  PetscFunctionReturn(0);
}

/* Until the next solve begins C is that of masses: what a resumed run knows of it. */
static PetscErrorCode Prepare(void *context, const PetscReal added[])
{
  const Points *points = ((Solid)context)->points;

  PetscFunctionBegin;
  points->in_fluid->weights = (MatrixWeights){.mass = 1., .part = DIFFERENTIAL_DEFINITE};
  points->in_fluid->joints.count = 0;
  points->in_fluid->contacts.rest = PETSC_TRUE;
  points->in_fluid->springs = 0.;
  PetscCall(PetscArraycpy(points->in_fluid->added, added, 3 * points->count));
  points->in_fluid->is_asked = PETSC_TRUE;
  points->in_fluid->is_set = PETSC_FALSE;
  PetscFunctionReturn(0);
}

static PetscErrorCode TakeAreas(void *context, const PetscReal areas[])
{
  const Points *points = ((Solid)context)->points;

  PetscFunctionBegin;
  PetscCall(PetscArraycpy(points->in_fluid->areas, areas, 3 * points->count));
  PetscFunctionReturn(0);
}

static void divide(const Points *points, const PetscReal from[], PetscReal to[])
{
  for (PetscInt n = 0; n < 3 * points->count; n++)
    to[n] =
        points->inverse_mass[n / 3] > 0. ? from[n] / (points->mass[n / 3] + points->in_fluid->added[n]) : 0.;
}

/* There are some tens of solves with each C. */
static ElasticSolver choose_solver(Solid solid)
{
  const MatrixWeights *weights = &solid->points->in_fluid->weights;

  return points_choose_solver_in_fluid(solid, weights->stiffness, weights->damping,
                                       fluid_contacts_held(solid) || solid->points->in_fluid->springs > 0. ||
                                               (solid->points->carrying_count && solid->config->joint_count)
                                           ? PETSC_TRUE
                                           : PETSC_FALSE,
                                       point_matrix_unknowns(solid->points->matrix));
}

/* Velocities of points that what is given carries, and zero of others. */
static void find_given(Solid solid, Vector3 velocity[])
{
  const Points *points = solid->points;

  memset(velocity, 0, (size_t)points->count * sizeof(*velocity));
  for (PetscInt k = 0; k < points->carried_count; k++) {
    const PetscInt p = points->carried[k], b = points->carrier[p];

    if (b >= 0 && !body_is_free(&solid->bodies[b]))
      velocity[p] = points->in_fluid->begun[p];
  }
}

static void take_given(Solid solid)
{
  struct PointsInFluid *fluid = solid->points->in_fluid;

  memset(fluid->offset, 0, (size_t)fluid->motion.unknown_count * sizeof(*fluid->offset));
  find_given(solid, (Vector3 *)fluid->offset);
}

static PetscErrorCode SetMatrix(Solid solid)
{
  Points               *points = solid->points;
  struct PointsInFluid *fluid = points->in_fluid;

  PetscFunctionBegin;
  PetscCall(FluidContactsCreateMatrix(solid, solve_tolerance, &points->matrix));
  PetscCall(PointMatrixSet(points->matrix, solid, &fluid->weights));
  point_matrix_add_masses(points->matrix, solid, fluid->added);
  PetscCall(FluidSpringsAddTo(solid, points->matrix));
  PetscCall(FluidContactsAddTo(solid, points->matrix));
  fluid->is_set = PETSC_TRUE;
  fluid->is_known = PETSC_FALSE;
  take_given(solid);
  PetscCall(BoneJointsSet(solid));
  PetscFunctionReturn(0);
}

/* C is not diagonal. */
static PetscBool has_terms(Solid solid)
{
  const MatrixWeights *weights = &solid->points->in_fluid->weights;

  return weights->stiffness > 0. || (weights->damping > 0. && solid->points->is_damped) ||
                 fluid_contacts_held(solid) || solid->points->in_fluid->springs > 0. ||
                 solid->points->carrying_count || solid->points->bindings.count
             ? PETSC_TRUE
             : PETSC_FALSE;
}

PetscErrorCode PointsSolveInFluid(Solid solid, const PetscReal from[], PetscReal to[])
{
  Points             *points = solid->points;
  const SolidMotion   given = {(Vector3 *)from, points->residual.bodies};
  SolidMotion         found = {(Vector3 *)to, points->trial.bodies};
  const ElasticSolver solver = choose_solver(solid);
  PetscInt            iterations;
  PetscBool           good;

  PetscFunctionBegin;
  bones_unpack(solid, from, given.bodies);
  PetscCall(PointMatrixSolve(points->matrix, solid, solver, &given, &found, &iterations, &good));
  bones_pack(solid, found.bodies, to);
  solid->report.elastic_solver = (PetscInt)solver + 1;
  solid->report.linear_iterations += iterations;
  if (!good) {
    solid->report.is_unsolved = PETSC_TRUE;
    PetscCall(PetscArrayzero(to, points->in_fluid->motion.unknown_count));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode Solve(void *context, const PetscReal from[], PetscReal to[])
{
  Solid solid = context;

  PetscFunctionBegin;
  if (!has_terms(solid)) {
    divide(solid->points, from, to);
    PetscFunctionReturn(0);
  }
  if (!solid->points->in_fluid->is_set)
    PetscCall(SetMatrix(solid));
  PetscCall(PointsSolveInFluid(solid, from, to));
  bone_joints_project(solid, to);
  PetscFunctionReturn(0);
}

static PetscErrorCode DropRows(struct PointsInFluid *fluid)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(fluid->rows.first));
  PetscCall(PetscFree(fluid->rows.numbers));
  PetscCall(PetscFree(fluid->rows.weights));
  fluid->rows.count = 0;
  fluid->is_known = PETSC_FALSE;
  PetscFunctionReturn(0);
}

static PetscErrorCode TakeRows(void *context, const SurfaceRows *rows)
{
  struct PointsInFluid *fluid = ((Solid)context)->points->in_fluid;
  const PetscInt        count = rows->first[rows->count];
  PetscInt             *first, *numbers;
  PetscReal            *weights;

  PetscFunctionBegin;
  PetscCall(DropRows(fluid));
  PetscCall(PetscMalloc1(rows->count + 1, &first));
  PetscCall(PetscMalloc1(count, &numbers));
  PetscCall(PetscMalloc1(count, &weights));
  PetscCall(PetscArraycpy(first, rows->first, rows->count + 1));
  PetscCall(PetscArraycpy(numbers, rows->numbers, count));
  PetscCall(PetscArraycpy(weights, rows->weights, count));
  fluid->rows = (SurfaceRows){rows->count, first, numbers, weights};
  PetscFunctionReturn(0);
}

/* Not of points that are heavy or stiff beside the fluid at the surface: what they add to S is little beside
   A. Joints are left out: C with them is stiffer still. */
static PetscErrorCode Stiffen(void *context, PetscBool *good)
{
  const PetscReal       least = 0.05;
  Solid                 solid = context;
  struct PointsInFluid *fluid = solid->points->in_fluid;

  PetscFunctionBegin;
  if (!fluid->is_set)
    PetscCall(SetMatrix(solid));
  if (!fluid->is_known) {
    fluid->is_known = PETSC_TRUE;
    fluid->is_stiffened = PETSC_FALSE;
    if (fluid->rows.count && points_may_factor(point_matrix_unknowns(solid->points->matrix)))
      PetscCall(PointMatrixStiffen(solid->points->matrix, solid, &fluid->rows, least, &fluid->is_stiffened));
  }
  *good = fluid->is_stiffened;
  PetscFunctionReturn(0);
}

static PetscErrorCode SolveStiffened(void *context, const PetscReal from[], PetscReal to[])
{
  Solid             solid = context;
  const SolidMotion given = {(Vector3 *)from, solid->points->residual.bodies};
  SolidMotion       found = {(Vector3 *)to, solid->points->trial.bodies};

  PetscFunctionBegin;
  bones_unpack(solid, from, given.bodies);
  PetscCall(PointMatrixSolveStiffened(solid->points->matrix, solid, &given, &found));
  bones_pack(solid, found.bodies, to);
  PetscFunctionReturn(0);
}

static PetscErrorCode Create(Solid solid)
{
  Points               *points = solid->points;
  struct PointsInFluid *fluid;

  PetscFunctionBegin;
  PetscCall(PetscNew(&points->in_fluid));
  fluid = points->in_fluid;
  PetscCall(PetscCalloc2(points->mesh_count, &fluid->surfaces, points->mesh_count, &fluid->walls));
  PetscCall(PetscCalloc3(points->count, &fluid->unknown, 3 * points->count, &fluid->added, points->count,
                         &fluid->begun));
  PetscCall(PetscCalloc3(points->count, &fluid->left, 3 * points->count, &fluid->areas, points->count,
                         &fluid->masses));
  for (PetscInt p = 0; p < points->count; p++) {
    fluid->unknown[p] = 3 * p;
    fluid->masses[p] = points->inverse_mass[p] > 0. ? points->mass[p] : 0.;
  }
  for (PetscInt m = 0; m < points->mesh_count; m++)
    PetscCall(FluidSurfaceCreate(points, m));
  PetscCall(BonesCreate(solid));
  fluid->shown = (SolidMotion){points->velocity, solid->twists};
  fluid->motion = (SolidOperator){.unknown_count = 3 * points->count + TWIST * points->carrying_count,
                                  .surface_count = 3 * points->count,
                                  .context = solid,
                                  .Spread = Spread,
                                  .Collect = Collect,
                                  .Prepare = Prepare,
                                  .Solve = Solve,
                                  .TakeAreas = TakeAreas,
                                  .TakeRows = TakeRows,
                                  .Stiffen = Stiffen,
                                  .SolveStiffened = SolveStiffened,
                                  .masses = fluid->masses,
                                  .right_side = fluid->right_side,
                                  .offset = fluid->offset,
                                  .velocity = fluid->velocity,
                                  .Keep = Keep};
  PetscFunctionReturn(0);
}

PetscErrorCode PointsInFluidDestroy(Points *points)
{
  PetscFunctionBegin;
  if (!points->in_fluid)
    PetscFunctionReturn(0);
  for (PetscInt m = 0; m < points->mesh_count; m++)
    PetscCall(FluidSurfaceDestroy(&points->in_fluid->walls[m]));
  PetscCall(FluidContactsForget(points));
  PetscCall(PetscFree2(points->in_fluid->surfaces, points->in_fluid->walls));
  PetscCall(PetscFree3(points->in_fluid->unknown, points->in_fluid->added, points->in_fluid->begun));
  PetscCall(PetscFree3(points->in_fluid->left, points->in_fluid->areas, points->in_fluid->masses));
  PetscCall(DropRows(points->in_fluid));
  PetscCall(BonesDestroy(points));
  PetscCall(PetscFree(points->in_fluid));
  PetscFunctionReturn(0);
}

PetscInt solid_deforming_count(Solid solid)
{
  return solid->points->mesh_count;
}

PetscErrorCode SolidGetDeforming(Solid solid, const SolidPatch **surfaces, const SolidOperator **motion)
{
  Points        *points = solid->points;
  const Vector3 *before = solid->kept_positions ? solid->kept_positions : points->position;

  PetscFunctionBegin;
  if (!points->in_fluid)
    PetscCall(Create(solid));
  show(solid);
  for (PetscInt m = 0; m < points->mesh_count; m++)
    fluid_surface_place(points, m, before);
  *surfaces = points->in_fluid->surfaces;
  *motion = &points->in_fluid->motion;
  PetscFunctionReturn(0);
}

/* Impulses of contact on what bears the points, which move like this. */
static SolidMotion contact_impulses(Solid solid, const SolidMotion *motion)
{
  SolidMotion push = solid->points->image;

  motion_clear(solid, &push);
  fluid_contacts_push(solid, motion, push.points);
  points_collect(solid, &push);
  return push;
}

/* To the right side, what belongs to points. */
static void push_right_side(Solid solid, const SolidMotion *push)
{
  const Points         *points = solid->points;
  struct PointsInFluid *fluid = points->in_fluid;

  for (PetscInt n = 0; n < DIM * points->count; n++)
    fluid->right_side[n] += push->points[n / DIM].at[n % DIM];
  for (PetscInt k = 0; k < points->carrying_count; k++)
    bone_push(&push->bodies[points->bodies[k]], fluid->right_side + DIM * points->count + TWIST * k);
}

/* Impulses that do not depend on what is solved for. */
static void push_contacts(Solid solid)
{
  const SolidMotion given = {solid->points->search.points, solid->points->in_fluid->shown.bodies};
  SolidMotion       push;

  find_given(solid, given.points);
  push = contact_impulses(solid, &given);
  push_right_side(solid, &push);
}

static void push_springs(Solid solid)
{
  const Points *points = solid->points;
  SolidMotion   push = points->image;

  if (!(points->in_fluid->springs > 0.))
    return;
  find_given(solid, points->search.points);
  motion_clear(solid, &push);
  fluid_springs_push(solid, points->search.points, push.points);
  points_collect(solid, &push);
  push_right_side(solid, &push);
}

/* What contact gives to all that moves freely, and its moment about the origin. */
static void sum_contacts(Solid solid, PetscReal impulse[2 * DIM])
{
  const Points     *points = solid->points;
  const SolidMotion push = contact_impulses(solid, &points->in_fluid->shown);
  Vector3           linear = {{0., 0., 0.}}, angular = {{0., 0., 0.}};

  for (PetscInt p = 0; p < points->count; p++)
    if (points->inverse_mass[p] > 0.) {
      linear = vector3_add(linear, push.points[p]);
      angular = vector3_add(angular, vector3_cross(points->position[p], push.points[p]));
    }
  for (PetscInt k = 0; k < points->carrying_count; k++) {
    const Twist on = bone_push_about(solid, points->bodies[k], push.bodies[points->bodies[k]]);

    linear = vector3_add(linear, on.linear);
    angular = vector3_add(angular, on.angular);
  }
  memcpy(impulse, linear.at, sizeof(linear.at));
  memcpy(impulse + DIM, angular.at, sizeof(angular.at));
}

/* With the contacts that hold now. */
static PetscErrorCode SetContacts(Solid solid)
{
  const Points         *points = solid->points;
  struct PointsInFluid *fluid = points->in_fluid;

  PetscFunctionBegin;
  PetscCall(PetscArrayzero(fluid->right_side, fluid->motion.unknown_count));
  for (PetscInt n = 0; n < 3 * points->count; n++)
    if (points->inverse_mass[n / 3] > 0.)
      fluid->right_side[n] = points->mass[n / 3] * fluid->begun[n / 3].at[n % 3];
  bones_fill(solid);
  push_springs(solid);
  fluid->is_set = PETSC_FALSE;
  if (fluid->is_asked && fluid_contacts_held(solid)) {
    PetscCall(SetMatrix(solid));
    push_contacts(solid);
  }
  PetscFunctionReturn(0);
}

/* From these velocities. */
static PetscErrorCode BeginSolve(Solid solid, const FluidSolve *solve, const SolidMotion *motion)
{
  const Points         *points = solid->points;
  struct PointsInFluid *fluid = points->in_fluid;

  PetscFunctionBegin;
  PetscCall(PetscArraycpy(fluid->begun, motion->points, points->count));
  bones_begin(solid, solve, motion->bodies);
  fluid->shown = *motion;
  show(solid);
  take_given(solid);
  bone_joints_begin(solid, solve);
  fluid->weights = (MatrixWeights){.mass = 1.,
                                   .stiffness = fluid->is_implicit ? solve->stiffness : 0.,
                                   .damping = solve->damping,
                                   .part = DIFFERENTIAL_DEFINITE};
  fluid->springs = points->springs.count ? solve->stiffness : 0.;
  PetscCall(FluidContactsBegin(solid, solve->phase, solve->dt));
  PetscCall(SetContacts(solid));
  PetscFunctionReturn(0);
}

/* What the fluid did to the unknowns in the last solution: right side less C V. */
static PetscErrorCode FindFluidImpulses(Solid solid, PetscReal impulses[])
{
  Points               *points = solid->points;
  struct PointsInFluid *fluid = points->in_fluid;
  SolidMotion           image = points->residual;

  PetscFunctionBegin;
  if (has_terms(solid)) {
    PetscCall(PointMatrixApply(points->matrix, solid, &fluid->shown, &image));
    PetscCall(PetscArraycpy(impulses, (const PetscReal *)image.points, DIM * points->count));
    bones_pack(solid, image.bodies, impulses);
  } else
    for (PetscInt n = 0; n < DIM * points->count; n++)
      impulses[n] = (points->mass[n / DIM] + fluid->added[n]) * fluid->shown.points[n / DIM].at[n % DIM];
  for (PetscInt n = 0; n < fluid->motion.unknown_count; n++)
    impulses[n] = fluid->right_side[n] - impulses[n];
  PetscFunctionReturn(0);
}

/* d . C d of a change of the unknowns. */
static PetscErrorCode FindCurvature(Solid solid, const PetscReal change[], PetscReal *curvature)
{
  const Points               *points = solid->points;
  const struct PointsInFluid *fluid = points->in_fluid;
  SolidMotion                 motion = {(Vector3 *)change, points->trial.bodies}, image = points->residual;

  PetscFunctionBegin;
  *curvature = 0.;
  if (!fluid->is_set) {
    for (PetscInt n = 0; n < DIM * points->count; n++)
      *curvature += (points->mass[n / DIM] + fluid->added[n]) * PetscSqr(change[n]);
    PetscFunctionReturn(0);
  }
  bones_unpack(solid, change, motion.bodies);
  PetscCall(PointMatrixApply(points->matrix, solid, &motion, &image));
  *curvature = motion_product(solid, &image, &motion);
  PetscFunctionReturn(0);
}

/* One step of Newton's method under the fluid's impulses of the last solution; `from` are the unknowns, and
   `largest` gets the largest change of one. */
static PetscErrorCode StepContacts(Solid solid, const PetscReal impulses[], PetscReal from[],
                                   PetscReal *largest, PetscBool *changed)
{
  struct PointsInFluid *fluid = solid->points->in_fluid;
  const PetscInt        count = fluid->motion.unknown_count;
  PetscReal            *change, curvature, part;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(count, &change));
  fluid_contacts_note(solid, &fluid->shown, CONTACT_FROM);
  PetscCall(SetContacts(solid));
  for (PetscInt n = 0; n < count; n++)
    change[n] = fluid->right_side[n] - impulses[n];
  PetscCall(Solve(solid, change, fluid->velocity));
  for (PetscInt n = 0; n < count; n++) {
    fluid->velocity[n] += fluid->offset[n];
    change[n] = fluid->velocity[n] - from[n];
  }
  PetscCall(Keep(solid));
  fluid_contacts_note(solid, &fluid->shown, CONTACT_TO);
  PetscCall(FindCurvature(solid, change, &curvature));
  part = fluid_contacts_part(solid, curvature);
  *changed = fluid_contacts_switch(solid, part);
  *largest = 0.;
  for (PetscInt n = 0; n < count; n++) {
    *largest = PetscMax(*largest, n < DIM * solid->points->count ? PetscAbsReal(change[n]) : 0.);
    fluid->velocity[n] = from[n] += part * change[n];
  }
  PetscCall(Keep(solid));
  PetscCall(PetscFree(change));
  PetscFunctionReturn(0);
}

/* Contact under the fluid's impulses of the last solution, which costs little beside another one. Friction
   follows what presses. */
static PetscErrorCode SettleContacts(Solid solid, const PetscReal impulses[], PetscReal unknowns[])
{
  enum { STEPS = 40, RUBS = 4 };
  const FluidContacts *contacts = &solid->points->in_fluid->contacts;
  const PetscReal      nothing = 1e-3;
  PetscInt             rubs = 0;
  PetscBool            changed = PETSC_TRUE;
  PetscReal            largest = PETSC_MAX_REAL;

  PetscFunctionBegin;
  fluid_contacts_drag(solid, &solid->points->in_fluid->shown);
  fluid_contacts_note(solid, &solid->points->in_fluid->shown, CONTACT_FROM);
  (void)fluid_contacts_switch(solid, 0.);
  for (PetscInt n = 0; n < STEPS && !solid->report.is_unsolved; n++) {
    PetscCall(StepContacts(solid, impulses, unknowns, &largest, &changed));
    if (changed && largest * contacts->dt > nothing * fluid_contacts_slack(solid))
      continue;
    PetscCall(FluidContactsFindNew(solid, &solid->points->in_fluid->shown, &changed));
    if (!changed && rubs++ < RUBS)
      changed = fluid_contacts_rub(solid, &solid->points->in_fluid->shown);
    if (!changed)
      break;
  }
  PetscFunctionReturn(0);
}

/* Another solution is due where contact under the fluid's impulses of this one moves points by more than a
   part of what counts as closed. */
PetscErrorCode SolidSwitchContacts(Solid solid, PetscBool *changed)
{
  const PetscReal       enough = 1e-3;
  struct PointsInFluid *fluid = solid->points->in_fluid;
  const PetscInt        count = fluid->motion.unknown_count;
  const Twist           bones = twist_add(fluid->bones_pushed, bone_joints_sum(solid));
  PetscReal            *impulses, *unknowns, *solved, *joints, largest = 0., fastest = 0.;

  PetscFunctionBegin;
  sum_contacts(solid, solid->report.pressed);
  bone_push(&bones, solid->report.pressed);
  *changed = PETSC_FALSE;
  if (!solid->points->surface && !fluid->contacts.count)
    PetscFunctionReturn(0);
  PetscCall(PetscMalloc4(count, &impulses, count, &unknowns, count, &solved, fluid->joints.count, &joints));
  PetscCall(FindFluidImpulses(solid, impulses));
  PetscCall(PetscArraycpy(unknowns, fluid->velocity, count));
  PetscCall(PetscArraycpy(solved, fluid->velocity, count));
  PetscCall(PetscArraycpy(joints, fluid->joints.impulses, fluid->joints.count));
  PetscCall(SettleContacts(solid, impulses, unknowns));
  for (PetscInt n = 0; n < DIM * solid->points->count; n++) {
    largest = PetscMax(largest, PetscAbsReal(unknowns[n] - solved[n]));
    fastest = PetscMax(fastest, PetscAbsReal(solved[n]));
  }
  *changed = largest > PetscMax(enough * fastest, fluid_contacts_slack(solid) / fluid->contacts.dt)
                 ? PETSC_TRUE
                 : PETSC_FALSE;
  PetscCall(PetscArraycpy(fluid->velocity, solved, count));
  PetscCall(Keep(solid));
  PetscCall(PetscArraycpy(fluid->joints.impulses, joints, fluid->joints.count));
  if (*changed)
    PetscCall(SetContacts(solid));
  PetscCall(PetscFree4(impulses, unknowns, solved, joints));
  PetscFunctionReturn(0);
}

PetscBool points_are_implicit_over(Solid solid, PetscReal dt)
{
  if (solid->config->elasticity == ELASTIC_AUTO)
    return dt > points_longest_step(solid) * (1. + 1e-9) ? PETSC_TRUE : PETSC_FALSE;
  return elastic_time_is_implicit(solid->config->elasticity);
}

PointsWeights points_weights_in_fluid(Solid solid, PetscReal dt)
{
  const PetscReal part = 0.25 + 0.5 * solid->config->algorithmic_damping;

  return (PointsWeights){.stiffness = part * PetscSqr(dt), .damping = 0.5 * dt};
}

PetscErrorCode SolidPredictPoints(Solid solid, PetscReal time, PetscReal dt, const PetscReal dragged[])
{
  const PointsWeights weights = points_weights_in_fluid(solid, dt);
  const FluidSolve    solve = {POINTS_MOVE, time, dt, weights.damping, weights.stiffness};
  SolidMotion         motion = {solid->points->half.points, solid->step->half};

  PetscFunctionBegin;
  solid->report.linear_iterations = solid->report.elastic_solver = 0;
  solid->report.is_unsolved = PETSC_FALSE;
  solid_clear_mesh_report(&solid->report);
  if (solid->points->surface)
    mesh_surface_remember(solid);
  points_set_time(solid, time);
  solid->points->in_fluid->is_implicit = points_are_implicit_over(solid, dt);
  PetscCall(PointsPushToMiddle(solid, dt, &motion));
  for (PetscInt n = 0; n < 3 * solid->points->count; n++)
    motion.points[n / 3].at[n % 3] += dragged[n];
  PetscCall(BeginSolve(solid, &solve, &motion));
  PetscFunctionReturn(0);
}

static PetscBool meets_free_body(Solid solid)
{
  for (PetscInt c = 0; c < solid->points->contact_count; c++)
    if (solid->points->contacts[c].gap < 0. && body_is_free(&solid->bodies[solid->points->contacts[c].body]))
      return PETSC_TRUE;
  return PETSC_FALSE;
}

/* What the solve has left of meshes that meet; the velocities of the move change like the ways. */
static PetscErrorCode SweepMeshes(Solid solid, PetscReal dt)
{
  Points     *points = solid->points;
  SolidMotion ways = {points->search.points, solid->step->half};
  Vector3    *planned = points->image.points;

  PetscFunctionBegin;
  if (!points->surface)
    PetscFunctionReturn(0);
  for (PetscInt p = 0; p < points->count; p++)
    planned[p] = ways.points[p] =
        vector3_scale(1. / dt, vector3_subtract(points->position[p], points->surface->began[p]));
  PetscCall(MeshContactsSweep(solid, dt, &ways));
  for (PetscInt p = 0; p < points->count; p++)
    points->half.points[p] =
        vector3_add(points->half.points[p], vector3_subtract(ways.points[p], planned[p]));
  show(solid);
  PetscFunctionReturn(0);
}

PetscErrorCode SolidMovePoints(Solid solid, PetscReal time, PetscReal dt)
{
  Points *points = solid->points;

  PetscFunctionBegin;
  PetscCall(PetscArraycpy(points->in_fluid->left, points->position, points->count));
  PetscCall(PointsMove(solid, dt));
  solid_keep_chambers(solid, dt);
  PetscCall(SweepMeshes(solid, dt));
  points_set_time(solid, time + dt);
  point_contacts_update(solid);
  solid->report.meets_body = meets_free_body(solid);
  if (points->surface)
    mesh_surface_remember(solid);
  point_contacts_separate(solid);
  if (points->surface) {
    PetscCall(MeshContactsKeepApart(solid));
    PetscCall(MeshSurfaceCountCrossings(solid, points->position, &solid->report.mesh_crossings));
  }
  solid_points_momentum(solid, solid->report.moved);
  PetscFunctionReturn(0);
}

void solid_points_momentum(Solid solid, PetscReal momentum[2 * DIM])
{
  const Points *points = solid->points;
  const Twist   bones = bones_momentum(solid, solid->twists);
  Vector3       linear = bones.linear, angular = bones.angular;

  for (PetscInt p = 0; p < points->count; p++) {
    const Vector3 part = vector3_scale(points->mass[p], points->velocity[p]);

    if (!(points->inverse_mass[p] > 0.))
      continue;
    linear = vector3_add(linear, part);
    angular = vector3_add(angular, vector3_cross(points->position[p], part));
  }
  memcpy(momentum, linear.at, sizeof(linear.at));
  memcpy(momentum + DIM, angular.at, sizeof(angular.at));
}

/* Velocities of the state that forces over dt, the mean of these, make of them. */
static PetscErrorCode Accelerate(Solid solid, PetscReal dt, const SolidMotion *before,
                                 const SolidMotion *after)
{
  const FluidSolve solve = {POINTS_REST, 0., dt, dt, solid->config->algorithmic_damping * PetscSqr(dt)};
  SolidMotion      motion = {solid->points->velocity, solid->twists};

  PetscFunctionBegin;
  points_follow_velocity(solid, motion.bodies, motion.points);
  points_accelerate(solid, 0.5 * dt, before, &motion);
  points_accelerate(solid, 0.5 * dt, after, &motion);
  points_fall(solid, dt, motion.points);
  solid_points_momentum(solid, solid->report.pushed);
  PetscCall(BeginSolve(solid, &solve, &motion));
  PetscFunctionReturn(0);
}

PetscErrorCode SolidAcceleratePoints(Solid solid, PetscReal dt)
{
  PetscFunctionBegin;
  points_find_forces(solid);
  PetscCall(Accelerate(solid, dt, &solid->points->earlier, &solid->points->forces));
  solid_find_inverted(solid);
  PetscFunctionReturn(0);
}

PetscErrorCode SolidAccelerateRestingPoints(Solid solid, PetscReal time, PetscReal dt)
{
  const SolidMotion motion = {solid->points->velocity, solid->twists};

  PetscFunctionBegin;
  points_set_time(solid, time);
  solid->points->in_fluid->is_implicit = points_are_implicit_over(solid, dt);
  points_find_forces(solid);
  PetscCall(FluidContactsForget(solid->points));
  PetscCall(PointContactsFind(solid, 0., &motion));
  PetscCall(Accelerate(solid, dt, &solid->points->forces, &solid->points->forces));
  PetscFunctionReturn(0);
}

void solid_show_points(Solid solid)
{
  if (!solid->points->in_fluid)
    return;
  solid->points->in_fluid->shown = (SolidMotion){solid->points->velocity, solid->twists};
  show(solid);
}

const SolidMeshConfig *solid_deforming_config(Solid solid, PetscInt mesh)
{
  return solid->points->meshes[mesh].config;
}

PetscInt solid_point_numbers(Solid solid)
{
  return 3 * solid->points->count;
}

void solid_sum_forces(Solid solid, PetscInt m, const PetscReal forces[], PetscReal sum[2 * DIM])
{
  const DeformableMesh *mesh = &solid->points->meshes[m];
  Vector3               force = {{0., 0., 0.}}, torque = {{0., 0., 0.}};

  for (PetscInt p = mesh->first; p < mesh->first + mesh->mesh->vertex_count; p++) {
    const Vector3 part = vector3(forces[3 * p], forces[3 * p + 1], forces[3 * p + 2]);

    force = vector3_add(force, part);
    torque = vector3_add(torque, vector3_cross(solid->points->position[p], part));
  }
  memcpy(sum, force.at, sizeof(force.at));
  memcpy(sum + DIM, torque.at, sizeof(torque.at));
}

PetscReal solid_points_mass(Solid solid)
{
  PetscReal sum = 0.;

  for (PetscInt p = 0; p < solid->points->count; p++)
    sum += solid->points->mass[p];
  return sum;
}

/* From rest the step is bounded by the fall, and by elasticity where that is always explicit. */
PetscReal solid_points_step(Solid solid, PetscReal path)
{
  const Points   *points = solid->points;
  const PetscReal fall = vector3_norm(solid->config->gravity);
  const PetscReal stable =
      solid->config->elasticity == ELASTIC_EXPLICIT ? points_longest_step(solid) : PETSC_MAX_REAL;
  PetscReal fastest = 0.;

  for (PetscInt p = 0; p < points->count; p++)
    fastest = PetscMax(fastest, vector3_norm(points->velocity[p]));
  return PetscMin(stable,
                  2. * path / (fastest + PetscSqrtReal(fastest * fastest + 4. * fall * path) + 1e-300));
}
