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
                                       fluid_contacts_held(solid) ||
                                               (solid->points->carrying_count && solid->config->joint_count)
                                           ? PETSC_TRUE
                                           : PETSC_FALSE,
                                       point_matrix_unknowns(solid->points->matrix));
}

/* Velocities of points that what is given carries. */
static void find_given(Solid solid)
{
  const Points         *points = solid->points;
  struct PointsInFluid *fluid = points->in_fluid;

  memset(fluid->offset, 0, (size_t)fluid->motion.unknown_count * sizeof(*fluid->offset));
  for (PetscInt k = 0; k < points->carried_count; k++) {
    const PetscInt p = points->carried[k], b = points->carrier[p];

    if (b >= 0 && !body_is_free(&solid->bodies[b]))
      memcpy(&fluid->offset[DIM * p], &fluid->begun[p], sizeof(Vector3));
  }
}

static PetscErrorCode SetMatrix(Solid solid)
{
  Points               *points = solid->points;
  struct PointsInFluid *fluid = points->in_fluid;

  PetscFunctionBegin;
  if (!points->matrix) {
    PetscCall(PointMatrixCreate(solid, MATRIX_WITH_ADDED, &points->matrix));
    point_matrix_set_tolerance(points->matrix, solve_tolerance);
  }
  PetscCall(PointMatrixSet(points->matrix, solid, &fluid->weights));
  PetscCall(PointMatrixAddMasses(points->matrix, solid, fluid->added));
  PetscCall(FluidContactsAddTo(solid, points->matrix));
  fluid->is_set = PETSC_TRUE;
  fluid->is_known = PETSC_FALSE;
  find_given(solid);
  PetscCall(BoneJointsSet(solid));
  PetscFunctionReturn(0);
}

/* C is not diagonal. */
static PetscBool has_terms(Solid solid)
{
  const MatrixWeights *weights = &solid->points->in_fluid->weights;

  return weights->stiffness > 0. || (weights->damping > 0. && solid->points->is_damped) ||
                 fluid_contacts_held(solid) || solid->points->carrying_count || solid->points->bindings.count
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

/* Of contact, on what bears the points. */
static void push_contacts(Solid solid)
{
  const Points         *points = solid->points;
  struct PointsInFluid *fluid = points->in_fluid;
  SolidMotion           push = points->image;

  motion_clear(solid, &push);
  fluid_contacts_push(solid, fluid->shown.bodies, push.points);
  points_collect(solid, &push);
  for (PetscInt n = 0; n < DIM * points->count; n++)
    fluid->right_side[n] += push.points[n / DIM].at[n % DIM];
  for (PetscInt k = 0; k < points->carrying_count; k++)
    bone_push(&push.bodies[points->bodies[k]], fluid->right_side + DIM * points->count + TWIST * k);
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
  find_given(solid);
  bone_joints_begin(solid, solve);
  fluid->weights = (MatrixWeights){.mass = 1.,
                                   .stiffness = fluid->is_implicit ? solve->stiffness : 0.,
                                   .damping = solve->damping,
                                   .part = DIFFERENTIAL_DEFINITE};
  fluid_contacts_begin(solid, solve->phase, solve->dt);
  PetscCall(SetContacts(solid));
  PetscFunctionReturn(0);
}

PetscErrorCode SolidSwitchContacts(Solid solid, PetscBool *changed)
{
  struct PointsInFluid *fluid = solid->points->in_fluid;
  const Twist           bones = twist_add(fluid->bones_pushed, bone_joints_sum(solid));

  PetscFunctionBegin;
  fluid_contacts_sum(solid, &fluid->shown, solid->report.pressed);
  bone_push(&bones, solid->report.pressed);
  *changed = fluid_contacts_switch(solid, &fluid->shown);
  if (*changed)
    PetscCall(SetContacts(solid));
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
  points_set_time(solid, time);
  solid->points->in_fluid->is_implicit = points_are_implicit_over(solid, dt);
  PetscCall(PointsPushToMiddle(solid, dt, &motion));
  for (PetscInt n = 0; n < 3 * solid->points->count; n++)
    motion.points[n / 3].at[n % 3] += dragged[n];
  PetscCall(BeginSolve(solid, &solve, &motion));
  PetscFunctionReturn(0);
}

PetscErrorCode SolidMovePoints(Solid solid, PetscReal time, PetscReal dt)
{
  PetscFunctionBegin;
  PetscCall(PetscArraycpy(solid->points->in_fluid->left, solid->points->position, solid->points->count));
  PetscCall(PointsMove(solid, dt));
  solid_keep_chambers(solid, dt);
  points_set_time(solid, time + dt);
  point_contacts_update(solid);
  solid->report.meets_body = PETSC_FALSE;
  for (PetscInt c = 0; c < solid->points->contact_count; c++)
    if (solid->points->contacts[c].gap < 0. && body_is_free(&solid->bodies[solid->points->contacts[c].body]))
      solid->report.meets_body = PETSC_TRUE;
  point_contacts_separate(solid);
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
  PetscCall(PointContactsFind(solid, 0., &motion));
  PetscCall(Accelerate(solid, dt, &solid->points->forces, &solid->points->forces));
  PetscFunctionReturn(0);
}

void points_show_state(Solid solid)
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
