/* The velocity steps of points. With elastic forces f, gravity g and damping D, all of points and of the
   bodies that carry points,

     I    M u = M v^n + dt/2 (f^n + M g) + dt/2 D^n u
     IV   x^{n+1} = x^n + dt u'                          u' is u after collisions and contact
     V    M w = M v + dt/4 (f^n + f^{n+1}) + dt/2 M g + dt/4 (D^n u + D^{n+1} w),   v^{n+1} = 2 w - v

   Elastic forces are the mean of those at the ends, which keeps energies bounded, and each end is met once.
   Damping is split between the ends likewise: without contact both momenta stay to round-off, since forces of
   either end have no torque about the points there and half of each belongs to it. For linear forces w = u,
   and damping is the trapezoidal rule in the form of a backward step and an extrapolation (2.3.3). */
#include "../contact/point_contact.h"
#include "distribution.h"

void points_accelerate(Solid solid, PetscReal dt, const SolidMotion *forces, SolidMotion *motion)
{
  const Points *points = solid->points;

  FOR_POINTS(&points->here, p)
  for (PetscInt d = 0; d < DIM; d++)
    motion->points[p].at[d] += dt * points->inverse_mass[p] * forces->points[p].at[d];
  for (PetscInt k = 0; k < points->body_count; k++) {
    const PetscInt  b = points->bodies[k];
    const Mobility *mobility = &solid->mobilities[b];
    Twist          *twist = &motion->bodies[b];

    twist->linear =
        vector3_add(twist->linear, vector3_scale(dt * mobility->inverse_mass, forces->bodies[b].linear));
    twist->angular =
        vector3_add(twist->angular,
                    vector3_scale(dt, matrix3_apply(&mobility->inverse_inertia, forces->bodies[b].angular)));
  }
}

void points_fall(Solid solid, PetscReal dt, Vector3 velocity[])
{
  const Points *points = solid->points;
  const Vector3 change = vector3_scale(dt, solid->config->gravity);

  FOR_POINTS(&points->here, p)
  if (points->inverse_mass[p] > 0.)
    velocity[p] = vector3_add(velocity[p], change);
}

/* Gravity has acted on the bodies until the middle of the step; backward Euler takes it whole. */
static PetscErrorCode PredictImplicit(Solid solid, PetscReal time, PetscReal dt, SolidMotion *motion)
{
  Points              *points = solid->points;
  const ImplicitScheme scheme = implicit_scheme(solid->config->elasticity);

  PetscFunctionBegin;
  PetscCall(PointsFindForces(solid));
  points_settle(solid);
  PetscCall(PetscArraycpy(motion->points, points->velocity, points->count));
  points_fall(solid, scheme.gravity * dt, motion->points);
  points_follow_velocity(solid, motion->bodies, motion->points);
  PetscCall(PointContactsFind(solid, dt, motion));
  for (PetscInt k = 0; k < points->body_count && scheme.gravity > 0.5; k++) {
    const PetscInt b = points->bodies[k];

    motion->bodies[b] = twist_add(twist_scale(2., motion->bodies[b]), twist_scale(-1., solid->twists[b]));
  }
  points_follow_velocity(solid, motion->bodies, motion->points);
  PetscCall(PointsSolveStep(solid, time, dt, motion));
  PetscFunctionReturn(0);
}

PetscErrorCode PointsPushToMiddle(Solid solid, PetscReal dt, SolidMotion *motion)
{
  Points *points = solid->points;

  PetscFunctionBegin;
  PetscCall(PointsFindForces(solid));
  points_settle(solid);
  points_copy(points, points->velocity, motion->points);
  points_fall(solid, 0.5 * dt, motion->points);
  points_accelerate(solid, 0.5 * dt, &points->forces, motion);
  if (points->bindings.count) /* parents of points that may be in contact */
    PetscCall(PointsExchange(solid, motion->points));
  points_follow_velocity(solid, motion->bodies, motion->points);
  PetscCall(PointContactsFind(solid, dt, motion));
  PetscFunctionReturn(0);
}

/* `half` holds what gravity makes of the bodies until the middle of the step. Contacts are looked for on the
   way. */
PetscErrorCode PointsPredict(Solid solid, PetscReal time, PetscReal dt, Twist half[])
{
  Points     *points = solid->points;
  SolidMotion motion = {points->half.points, half};

  PetscFunctionBegin;
  if (elastic_time_is_implicit(solid->config->elasticity)) {
    PetscCall(PredictImplicit(solid, time, dt, &motion));
    PetscFunctionReturn(0);
  }
  PetscCall(PointsPushToMiddle(solid, dt, &motion));
  PetscCall(PointsDamp(solid, 0.5 * dt, dt, &motion, &points->drag));
  PetscCall(PointsKeepVolume(solid, dt, &motion, &points->drag));
  PetscFunctionReturn(0);
}

PetscErrorCode PointsMove(Solid solid, PetscReal dt)
{
  Points           *points = solid->points;
  const SolidMotion swap = points->earlier;

  PetscFunctionBegin;
  FOR_POINTS(&points->here, p)
  points->position[p] = vector3_add(points->position[p], vector3_scale(dt, points->half.points[p]));
  PetscCall(PointsExchange(solid, points->position));
  points_follow_position(solid);
  points->earlier = points->forces;
  points->forces = swap;
  points->has_forces = PETSC_FALSE;
  PetscFunctionReturn(0);
}

/* Of an implicit step, V is what the solve in I has found. */
static void finish_implicit(Solid solid)
{
  Points *points = solid->points;

  points_copy(points, points->drag.points, points->velocity);
  for (PetscInt k = 0; k < points->body_count; k++) {
    const PetscInt b = points->bodies[k];

    solid->twists[b] = twist_add(solid->twists[b], points->drag.bodies[b]);
  }
  points_follow_velocity(solid, solid->twists, points->velocity);
}

/* `before` are the twists that gravity has since led to those of the state. */
PetscErrorCode PointsAccelerate(Solid solid, PetscReal dt, const Twist before[])
{
  Points     *points = solid->points;
  SolidMotion motion = points->half;

  PetscFunctionBegin;
  if (elastic_time_is_implicit(solid->config->elasticity)) {
    finish_implicit(solid);
    PetscFunctionReturn(0);
  }
  PetscCall(PointsFindForces(solid));
  points_copy(points, points->velocity, motion.points);
  points_fall(solid, 0.5 * dt, motion.points);
  for (PetscInt b = 0; b < solid->body_count; b++)
    motion.bodies[b] = twist_scale(0.5, twist_add(before[b], solid->twists[b]));
  points_accelerate(solid, 0.25 * dt, &points->earlier, &motion);
  points_accelerate(solid, 0.25 * dt, &points->forces, &motion);
  points_accelerate(solid, 0.5, &points->drag, &motion);
  if (points->springs.count) {
    springs_finish(solid);
    points_accelerate(solid, 1., &points->springs.pull, &motion);
  }
  points_follow_middle(solid, &motion);
  PetscCall(PointsDamp(solid, 0.25 * dt, 0., &motion, &points->drag));
  FOR_POINTS(&points->here, p)
  if (points->inverse_mass[p] > 0.)
    points->velocity[p] = vector3_subtract(vector3_scale(2., motion.points[p]), points->velocity[p]);
  for (PetscInt k = 0; k < points->body_count; k++) {
    const PetscInt b = points->bodies[k];

    solid->twists[b] = twist_add(twist_scale(2., motion.bodies[b]), twist_scale(-1., before[b]));
  }
  points_follow_velocity(solid, solid->twists, points->velocity);
  if (points->springs.count) {
    SolidMotion last = {points->velocity, solid->twists};

    PetscCall(SpringsDamp(solid, dt, &last));
    points_follow_velocity(solid, solid->twists, points->velocity);
  }
  if (points->volumes) {
    SolidMotion last = {points->velocity, solid->twists};

    PetscCall(PointsProjectVolume(solid, dt, &last));
  }
  PetscFunctionReturn(0);
}
