/* Contact of points in a fluid, within (5.13) (docs/numerics.md, section 15). A contact with the normal n out
   of a body of velocity v_b that holds its point of velocity u gives it the impulse

     k (w - n . r) n - h (1 - n n^T) r                                    where friction can hold it,
     k (w - n . r) n - f s - f/|t| (1 - n n^T - s s^T) r                  where it slides, with r = u - v_b

   with the least speed w at which it may leave, and h = k so large beside C that what u lacks is next to
   nothing. t and s = t/|t| are velocity and direction of sliding, f Coulomb's impulse, of the solution
   before: Newton's method. What is linear in u belongs to C. A contact lets go where the impulse would pull,
   and takes hold where the point would come too near. */
#include "in_fluid.h"

static const PetscReal stiffer = 1e5; /* than C along the normal */

/* Without its part along a unit vector. */
static Vector3 across(Vector3 unit, Vector3 vector)
{
  return vector3_subtract(vector, vector3_scale(vector3_dot(unit, vector), unit));
}

static void hold(PointContact *contact, PetscBool held)
{
  contact->held = held;
  contact->sticks = held && contact->friction > 0. ? PETSC_TRUE : PETSC_FALSE;
  contact->has_slid = PETSC_FALSE;
  contact->bound = contact->turning = 0.;
}

/* What slides goes on, against an impulse that the first solution tells. */
static void begin_contact(PointContact *contact, Vector3 relative, PetscReal dt)
{
  const Vector3   aside = across(contact->normal, relative);
  const PetscReal speed = vector3_norm(aside);

  hold(contact, contact->gap + dt * vector3_dot(contact->normal, relative) < contact->slack ? PETSC_TRUE
                                                                                            : PETSC_FALSE);
  if (!contact->sticks || speed * dt <= contact->slack)
    return;
  contact->sticks = PETSC_FALSE;
  contact->sliding = vector3_scale(1. / speed, aside);
}

/* Where the velocities of the start lead to contact in the step, and then as it was in that: impulses of the
   whole step are twice those of the first half. */
void fluid_contacts_begin(Solid solid, PointContactPhase phase, PetscReal dt)
{
  const Points     *points = solid->points;
  const SolidMotion start = {points->velocity, solid->twists};

  for (PetscInt k = 0; k < points->contact_count; k++) {
    PointContact *contact = &points->contacts[k];

    contact->least = phase == POINTS_MOVE ? -contact->gap / dt : 0.;
    contact->may_hold = phase == POINTS_MOVE || contact->gap <= contact->slack ? PETSC_TRUE : PETSC_FALSE;
    if (phase == POINTS_MOVE)
      begin_contact(contact, point_contact_velocity(solid, contact, &start), dt);
    else if (!contact->may_hold)
      hold(contact, PETSC_FALSE);
    contact->bound *= 2.;
    contact->turning *= 2.;
    contact->has_slid = PETSC_FALSE;
  }
}

PetscInt fluid_contacts_held(Solid solid)
{
  PetscInt count = 0;

  for (PetscInt k = 0; k < solid->points->contact_count; k++)
    count += solid->points->contacts[k].held ? 1 : 0;
  return count;
}

PetscErrorCode FluidContactsAddTo(Solid solid, PointMatrix matrix)
{
  const Points *points = solid->points;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < points->contact_count; k++) {
    PointContact *contact = &points->contacts[k];

    contact->penalty = stiffer * point_matrix_along(matrix, solid, contact->point, contact->normal);
  }
  for (PetscInt k = 0; k < points->contact_count; k++) {
    const PointContact *contact = &points->contacts[k];
    const Vector3       n = contact->normal;
    Matrix3             block;

    for (PetscInt c = 0; c < DIM * DIM; c++) {
      const PetscReal along = n.at[c / DIM] * n.at[c % DIM], unit = c / DIM == c % DIM ? 1. : 0.,
                      slides = contact->sliding.at[c / DIM] * contact->sliding.at[c % DIM];

      block.at[c / DIM][c % DIM] =
          contact->penalty * along +
          (contact->sticks ? contact->penalty * (unit - along) : contact->turning * (unit - along - slides));
    }
    if (contact->held)
      PetscCall(PointMatrixAddContact(matrix, solid, contact, &block));
  }
  PetscFunctionReturn(0);
}

/* On the point, if it moved relative to the body with this velocity. */
static Vector3 impulse_at(const PointContact *contact, Vector3 relative)
{
  const PetscReal lacks = contact->least - vector3_dot(relative, contact->normal);
  const Vector3   press = vector3_scale(contact->penalty * lacks, contact->normal);
  Vector3         aside = across(contact->normal, relative);

  if (contact->sticks)
    return vector3_add(press, vector3_scale(-contact->penalty, aside));
  aside = vector3_scale(-contact->turning, across(contact->sliding, aside));
  return vector3_add(press, vector3_add(aside, vector3_scale(-contact->bound, contact->sliding)));
}

void fluid_contacts_push(Solid solid, Twist bodies[], Vector3 impulses[])
{
  const Points     *points = solid->points;
  const SolidMotion still = {points->search.points, bodies};

  memset(points->search.points, 0, (size_t)points->count * sizeof(*points->search.points));
  for (PetscInt k = 0; k < points->contact_count; k++) {
    const PointContact *contact = &points->contacts[k];
    Vector3            *at = &impulses[contact->point];

    if (contact->held)
      *at = vector3_add(*at, impulse_at(contact, point_contact_velocity(solid, contact, &still)));
  }
}

/* Coulomb's impulse against a velocity, or against another one's direction. */
static void slide(PointContact *contact, PetscReal most, Vector3 along, PetscReal speed)
{
  contact->sticks = PETSC_FALSE;
  contact->sliding = vector3_scale(1. / vector3_norm(along), along);
  contact->bound = most;
  contact->turning = PetscMin(most / speed, contact->penalty / stiffer);
}

/* What comes to slide back sticks again, once in a solve, and then the impulse becomes less. */
static PetscBool switch_friction(PointContact *contact, PetscReal press, Vector3 impulse, Vector3 velocity)
{
  const PetscReal enough = 0.05, speed = vector3_norm(velocity), most = contact->friction * press;
  const Vector3   before = contact->sliding;
  const PetscReal bound = contact->bound;

  if (contact->sticks) {
    if (vector3_norm(impulse) <= most)
      return PETSC_FALSE;
    slide(contact, most, vector3_scale(-1., impulse), speed);
    return PETSC_TRUE;
  }
  if (!(contact->friction > 0.) || !(speed > 0.))
    return PETSC_FALSE;
  if (vector3_dot(before, velocity) > 0.) {
    slide(contact, most, velocity, speed);
    return PetscAbsReal(most - bound) > enough * most ||
                   vector3_norm(vector3_subtract(contact->sliding, before)) > enough
               ? PETSC_TRUE
               : PETSC_FALSE;
  }
  contact->sticks = contact->has_slid ? PETSC_FALSE : PETSC_TRUE;
  contact->has_slid = PETSC_TRUE;
  contact->bound *= 0.5;
  return contact->sticks || contact->bound > enough * most ? PETSC_TRUE : PETSC_FALSE;
}

static PetscBool switch_held(PointContact *contact, Vector3 relative)
{
  const Vector3   impulse = impulse_at(contact, relative);
  const PetscReal press = vector3_dot(impulse, contact->normal);

  if (press >= 0.)
    return switch_friction(contact, press, across(contact->normal, impulse),
                           across(contact->normal, relative));
  hold(contact, PETSC_FALSE);
  return PETSC_TRUE;
}

PetscBool fluid_contacts_switch(Solid solid, const SolidMotion *motion)
{
  const Points *points = solid->points;
  PetscBool     any = PETSC_FALSE;

  for (PetscInt k = 0; k < points->contact_count; k++) {
    PointContact *contact = &points->contacts[k];
    const Vector3 relative = point_contact_velocity(solid, contact, motion);

    if (contact->held)
      any = switch_held(contact, relative) || any ? PETSC_TRUE : PETSC_FALSE;
    else if (contact->may_hold && vector3_dot(relative, contact->normal) < contact->least) {
      hold(contact, PETSC_TRUE);
      any = PETSC_TRUE;
    }
  }
  return any;
}

void fluid_contacts_sum(Solid solid, const SolidMotion *motion, PetscReal impulse[2 * DIM])
{
  const Points *points = solid->points;
  Vector3       linear = {{0., 0., 0.}}, angular = {{0., 0., 0.}};

  for (PetscInt k = 0; k < points->contact_count; k++) {
    const PointContact *contact = &points->contacts[k];
    const Vector3       push = impulse_at(contact, point_contact_velocity(solid, contact, motion));

    if (!contact->held)
      continue;
    linear = vector3_add(linear, push);
    angular = vector3_add(angular, vector3_cross(points->position[contact->point], push));
  }
  memcpy(impulse, linear.at, sizeof(linear.at));
  memcpy(impulse + DIM, angular.at, sizeof(angular.at));
}
