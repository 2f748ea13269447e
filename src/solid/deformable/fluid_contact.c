/* Contact of points in a fluid, within (5.13) (docs/numerics.md, section 15). A contact with the normal n out
   of a body of velocity v_b that holds its point of velocity u gives it the impulse

     k (w - n . r) n - h (1 - n n^T) r                                    where friction can hold it,
     k (w - n . r) n - f s - f/|t| (1 - n n^T - s s^T) r                  where it slides, with r = u - v_b

   with the least speed w at which it may leave, and h = k so large beside C that what u lacks is next to
   nothing. t and s = t/|t| are velocity and direction of sliding, f Coulomb's impulse, of the solution
   before: Newton's method. What is linear in u belongs to C. A contact lets go where the impulse would pull,
   and takes hold where the point would come too near.

   Between meshes, u is the difference sum w v of the nearest places of two features, less their thickness is
   the gap, and there is no body. Contacts are those of the velocities at the start of the solve, and what
   later velocities lead to. */
#include "../contact/mesh/mesh_contact.h"
#include "in_fluid.h"

#include <stdlib.h>

enum { MOST_RUBS = 8, MOST_DRAGS = 4 }; /* friction is found anew so often in a solve */
static const PetscReal stiffer = 1e5;   /* than C along the normal */
static const PetscReal closed = 1e-3;   /* of the thickness between meshes: gaps below it */

/* Without its part along a unit vector. */
static Vector3 across(Vector3 unit, Vector3 vector)
{
  return vector3_subtract(vector, vector3_scale(vector3_dot(unit, vector), unit));
}

static Vector3 relative_velocity(Solid solid, const FluidContact *contact, const SolidMotion *motion)
{
  const RelativePlace *at = &contact->at;
  Vector3              sum = vector3(0, 0, 0);

  for (PetscInt n = 0; n < at->count; n++)
    sum = vector3_add(
        sum, vector3_scale(at->weights[n], points_mean(solid->points, at->points[n], motion->points)));
  return at->body < 0 ? sum : vector3_subtract(sum, twist_at(&motion->bodies[at->body], at->arm));
}

/* Friction follows when it is known what presses. */
static void hold(FluidContact *contact, PetscBool held)
{
  contact->held = held;
  contact->sticks = contact->has_slid = PETSC_FALSE;
  contact->sliding = vector3(0, 0, 0);
  contact->bound = contact->turning = 0.;
}

/* What slides goes on, against an impulse that the first solution tells. */
static void begin_contact(FluidContact *contact, Vector3 relative, PetscReal dt)
{
  const Vector3   aside = across(contact->normal, relative);
  const PetscReal speed = vector3_norm(aside);

  hold(contact, vector3_dot(contact->normal, relative) < contact->least + contact->slack / dt ? PETSC_TRUE
                                                                                              : PETSC_FALSE);
  if (!contact->held || !(contact->friction > 0.) || contact->at.body < 0)
    return;
  contact->sticks = speed * dt <= contact->slack ? PETSC_TRUE : PETSC_FALSE;
  if (!contact->sticks)
    contact->sliding = vector3_scale(1. / speed, aside);
}

static FluidContact of_point(const PointContact *contact, PointContactPhase phase, PetscReal dt)
{
  return (FluidContact){.at = point_relative_place(contact),
                        .normal = contact->normal,
                        .friction = contact->friction,
                        .slack = contact->slack,
                        .may_hold =
                            phase == POINTS_MOVE || contact->gap <= contact->slack ? PETSC_TRUE : PETSC_FALSE,
                        .least = phase == POINTS_MOVE ? -contact->gap / dt : 0.};
}

/* What is nearer than the thickness parts in the move, and slowly. */
static FluidContact of_meeting(const MeshMeeting *meeting, PointContactPhase phase, PetscReal dt)
{
  FluidContact contact = {.key = meeting->key,
                          .at = {.body = -1},
                          .normal = meeting->normal,
                          .friction = meeting->friction,
                          .slack = closed * meeting->thickness,
                          .may_hold = PETSC_TRUE,
                          .least = -PetscMax(meeting->gap, 0.) / dt};

  if (phase == POINTS_MOVE && meeting->gap < 0.)
    contact.least = mesh_parting_speed(meeting->gap, dt);
  for (PetscInt n = 0; n < CONTACT_MOST_POINTS; n++)
    if (meeting->weights[n] != 0.) {
      contact.at.points[contact.at.count] = meeting->points[n];
      contact.at.weights[contact.at.count++] = meeting->weights[n];
    }
  return contact;
}

static int compare_keys(const void *a, const void *b)
{
  const uint64_t x = ((const FluidContact *)a)->key, y = ((const FluidContact *)b)->key;

  return x < y ? -1 : x > y ? 1 : 0;
}

/* Of meshes, in the order of keys. */
static FluidContact *find_contact(const FluidContacts *contacts, uint64_t key)
{
  const FluidContact wanted = {.key = key};
  FluidContact      *first = contacts->list + contacts->of_bodies;

  return contacts->count > contacts->of_bodies
             ? bsearch(&wanted, first, (size_t)(contacts->count - contacts->of_bodies), sizeof(*first),
                       compare_keys)
             : NULL;
}

/* With the state that it had in the solve for the move: impulses of the whole step are twice those of the
   first half. */
static void go_on(const FluidContact *before, FluidContact *contact)
{
  const Vector3   aside = across(contact->normal, before->sliding);
  const PetscReal length = vector3_norm(aside);

  contact->held = before->held;
  contact->sticks = before->sticks;
  if (contact->at.body >= 0 && !(length > 0.5)) /* the normal has turned, or nothing slid */
    return;
  if (length > 0.5)
    contact->sliding = vector3_scale(1. / length, aside);
  contact->bound = 2. * before->bound;
  contact->turning = 2. * before->turning;
}

static PetscErrorCode Append(FluidContacts *contacts, const FluidContact *contact)
{
  PetscFunctionBegin;
  PetscCall(AppendItem(&contacts->count, &contacts->room, &contacts->list, *contact));
  PetscFunctionReturn(0);
}

static PetscErrorCode TakePoints(Solid solid, PointContactPhase phase, PetscReal dt,
                                 const FluidContacts *before, FluidContacts *contacts)
{
  const Points     *points = solid->points;
  const SolidMotion start = {points->velocity, solid->twists};

  PetscFunctionBegin;
  for (PetscInt k = 0; k < points->contact_count; k++) {
    FluidContact contact = of_point(&points->contacts[k], phase, dt);

    if (phase == POINTS_MOVE)
      begin_contact(&contact, relative_velocity(solid, &contact, &start), dt);
    else if (contact.may_hold && k < before->of_bodies)
      go_on(&before->list[k], &contact);
    PetscCall(Append(contacts, &contact));
  }
  contacts->of_bodies = contacts->count;
  PetscFunctionReturn(0);
}

static PetscErrorCode TakeMeetings(Solid solid, PointContactPhase phase, PetscReal dt,
                                   const FluidContacts *before, FluidContacts *contacts)
{
  const Points     *points = solid->points;
  const SolidMotion start = {points->velocity, solid->twists};

  PetscFunctionBegin;
  if (!points->surface)
    PetscFunctionReturn(0);
  PetscCall(MeshMeetingsFind(solid, dt, points->velocity));
  for (PetscInt k = 0; k < points->surface->meeting_count; k++) {
    FluidContact        contact = of_meeting(&points->surface->meetings[k], phase, dt);
    const FluidContact *old = find_contact(before, contact.key);

    if (phase == POINTS_MOVE)
      begin_contact(&contact, relative_velocity(solid, &contact, &start), dt);
    else if (old)
      go_on(old, &contact);
    PetscCall(Append(contacts, &contact));
  }
  PetscFunctionReturn(0);
}

/* Where the velocities of the start lead to contact in the step, and then as it was in that. */
PetscErrorCode FluidContactsBegin(Solid solid, PointContactPhase phase, PetscReal dt)
{
  FluidContacts *contacts = &solid->points->in_fluid->contacts;
  FluidContacts  before = *contacts;

  PetscFunctionBegin;
  *contacts = (FluidContacts){.phase = phase, .dt = dt};
  PetscCall(TakePoints(solid, phase, dt, &before, contacts));
  PetscCall(TakeMeetings(solid, phase, dt, &before, contacts));
  PetscCall(PetscFree(before.list));
  PetscFunctionReturn(0);
}

PetscErrorCode FluidContactsForget(Points *points)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(points->in_fluid->contacts.list));
  points->in_fluid->contacts = (FluidContacts){0};
  PetscFunctionReturn(0);
}

PetscInt fluid_contacts_held(Solid solid)
{
  const FluidContacts *contacts = &solid->points->in_fluid->contacts;
  PetscInt             count = 0;

  for (PetscInt k = 0; k < contacts->count && !contacts->rest; k++)
    count += contacts->list[k].held ? 1 : 0;
  return count;
}

/* The ends of a soft binding. */
static RelativePlace spring_place(const BindingSpring *spring)
{
  return (RelativePlace){
      .count = 2, .points = {spring->point, spring->target}, .weights = {1., -1.}, .body = -1};
}

/* The matrix has entries between points that springs join, and that meet. */
PetscErrorCode FluidContactsCreateMatrix(Solid solid, PetscReal tolerance, PointMatrix *matrix)
{
  const FluidContacts *contacts = &solid->points->in_fluid->contacts;
  const Springs       *springs = &solid->points->springs;
  const PetscInt       meetings = contacts->rest ? 0 : contacts->count - contacts->of_bodies;
  const PetscInt       count = springs->count + meetings;
  RelativePlace       *places;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(count, &places));
  for (PetscInt s = 0; s < springs->count; s++)
    places[s] = spring_place(&springs->list[s]);
  for (PetscInt k = 0; k < meetings; k++)
    places[springs->count + k] = contacts->list[contacts->of_bodies + k].at;
  if (*matrix && !point_matrix_is_of(*matrix, count, places))
    PetscCall(PointMatrixDestroy(matrix));
  if (!*matrix) {
    PetscCall(PointMatrixCreateWithContacts(solid, MATRIX_WITH_ADDED, count, places, matrix));
    point_matrix_set_tolerance(*matrix, tolerance);
  }
  PetscCall(PetscFree(places));
  PetscFunctionReturn(0);
}

/* By what a spring adds to C in every direction. */
static PetscReal spring_weight(const struct PointsInFluid *fluid, const BindingSpring *spring)
{
  return fluid->springs * spring->stiffness + fluid->weights.damping * spring->damping;
}

PetscErrorCode FluidSpringsAddTo(Solid solid, PointMatrix matrix)
{
  const Springs *springs = &solid->points->springs;

  PetscFunctionBegin;
  for (PetscInt s = 0; s < springs->count; s++) {
    const RelativePlace place = spring_place(&springs->list[s]);
    const PetscReal     weight = spring_weight(solid->points->in_fluid, &springs->list[s]);
    const Matrix3       block = {{{weight, 0., 0.}, {0., weight, 0.}, {0., 0., weight}}};

    if (weight > 0.)
      point_matrix_add_contact(matrix, solid, &place, &block);
  }
  PetscFunctionReturn(0);
}

void fluid_springs_push(Solid solid, const Vector3 velocity[], Vector3 impulses[])
{
  const Points *points = solid->points;

  for (PetscInt s = 0; s < points->springs.count; s++) {
    const BindingSpring *spring = &points->springs.list[s];
    const Vector3        relative = vector3_subtract(points_mean(points, spring->point, velocity),
                                                     points_mean(points, spring->target, velocity));
    const Vector3        push = vector3_scale(-spring_weight(points->in_fluid, spring), relative);

    impulses[spring->point] = vector3_add(impulses[spring->point], push);
    impulses[spring->target] = vector3_subtract(impulses[spring->target], push);
  }
}

/* Of the solids, against an impulse of the contact, by the diagonal. */
static PetscReal resistance(Solid solid, PointMatrix matrix, const FluidContact *contact)
{
  PetscReal yields = 0.;

  for (PetscInt n = 0; n < contact->at.count; n++) {
    const PetscReal along = point_matrix_along(matrix, solid, contact->at.points[n], contact->normal);

    yields += along > 0. ? PetscSqr(contact->at.weights[n]) / along : 0.;
  }
  return yields > 0. ? 1. / yields : 0.;
}

PetscErrorCode FluidContactsAddTo(Solid solid, PointMatrix matrix)
{
  const FluidContacts *contacts = &solid->points->in_fluid->contacts;

  PetscFunctionBegin;
  if (contacts->rest)
    PetscFunctionReturn(0);
  for (PetscInt k = 0; k < contacts->count; k++)
    contacts->list[k].penalty = stiffer * resistance(solid, matrix, &contacts->list[k]);
  for (PetscInt k = 0; k < contacts->count; k++) {
    const FluidContact *contact = &contacts->list[k];
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
      point_matrix_add_contact(matrix, solid, &contact->at, &block);
  }
  PetscFunctionReturn(0);
}

/* On the point, if it moved relative to the body with this velocity. */
static Vector3 impulse_at(const FluidContact *contact, Vector3 relative)
{
  const PetscReal lacks = contact->least - vector3_dot(relative, contact->normal);
  const Vector3   press = vector3_scale(contact->penalty * lacks, contact->normal);
  Vector3         aside = across(contact->normal, relative);

  if (contact->sticks)
    return vector3_add(press, vector3_scale(-contact->penalty, aside));
  aside = vector3_scale(-contact->turning, across(contact->sliding, aside));
  return vector3_add(press, vector3_add(aside, vector3_scale(-contact->bound, contact->sliding)));
}

void fluid_contacts_push(Solid solid, const SolidMotion *motion, Vector3 impulses[])
{
  const FluidContacts *contacts = &solid->points->in_fluid->contacts;

  for (PetscInt k = 0; k < contacts->count; k++) {
    const FluidContact *contact = &contacts->list[k];
    Vector3             impulse;

    if (!contact->held)
      continue;
    impulse = impulse_at(contact, relative_velocity(solid, contact, motion));
    for (PetscInt n = 0; n < contact->at.count; n++) {
      Vector3 *at = &impulses[contact->at.points[n]];

      *at = vector3_add(*at, vector3_scale(contact->at.weights[n], impulse));
    }
  }
}

/* Coulomb's impulse against a velocity, or against another one's direction. */
static void slide(FluidContact *contact, PetscReal most, Vector3 along, PetscReal speed)
{
  contact->sticks = PETSC_FALSE;
  contact->sliding = vector3_scale(1. / vector3_norm(along), along);
  contact->bound = most;
  contact->turning = PetscMin(most / speed, contact->penalty / stiffer);
}

/* What comes to slide back sticks again, once in a solve, and then the impulse becomes less. */
static PetscBool switch_friction(FluidContact *contact, PetscReal dt, PetscReal press, Vector3 impulse,
                                 Vector3 velocity)
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
  if (!(vector3_norm(before) > 0.)) {
    contact->sticks = speed * dt <= contact->slack ? PETSC_TRUE : PETSC_FALSE;
    if (!contact->sticks)
      slide(contact, most, velocity, speed);
    return PETSC_TRUE;
  }
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

void fluid_contacts_note(Solid solid, const SolidMotion *motion, ContactEnd end)
{
  FluidContacts *contacts = &solid->points->in_fluid->contacts;

  for (PetscInt k = 0; k < contacts->count; k++)
    contacts->list[k].opening[end] =
        vector3_dot(contacts->list[k].normal, relative_velocity(solid, &contacts->list[k], motion));
}

static PetscReal opening_at(const FluidContact *contact, PetscReal part)
{
  return (1. - part) * contact->opening[CONTACT_FROM] + part * contact->opening[CONTACT_TO];
}

/* The slope at a part of the way, of what is to be least: a parabola for the contacts that are held, with the
   curvature of C, and what these pull and others press. */
static PetscReal slope_at(const FluidContacts *contacts, PetscReal curvature, PetscReal part)
{
  PetscReal slope = -(1. - part) * curvature;

  for (PetscInt k = 0; k < contacts->count; k++) {
    const FluidContact *contact = &contacts->list[k];
    const PetscReal     lacks = contact->least - opening_at(contact, part),
                    more = contact->held ? PetscMax(0., -lacks) : PetscMax(0., lacks);

    if (contact->may_hold)
      slope -= contact->penalty * more * (contact->opening[CONTACT_TO] - contact->opening[CONTACT_FROM]);
  }
  return slope;
}

PetscReal fluid_contacts_part(Solid solid, PetscReal curvature)
{
  enum { HALVINGS = 40 };
  const FluidContacts *contacts = &solid->points->in_fluid->contacts;
  PetscReal            low = 0., high = 1.;

  if (!(slope_at(contacts, curvature, 1.) > 0.))
    return 1.;
  for (int n = 0; n < HALVINGS; n++) {
    const PetscReal middle = 0.5 * (low + high);

    if (slope_at(contacts, curvature, middle) > 0.)
      high = middle;
    else
      low = middle;
  }
  return low;
}

PetscBool fluid_contacts_switch(Solid solid, PetscReal part)
{
  FluidContacts *contacts = &solid->points->in_fluid->contacts;
  PetscBool      any = PETSC_FALSE;

  for (PetscInt k = 0; k < contacts->count; k++) {
    FluidContact   *contact = &contacts->list[k];
    const PetscBool presses =
        contact->may_hold && opening_at(contact, part) < contact->least ? PETSC_TRUE : PETSC_FALSE;

    if (presses == contact->held)
      continue;
    hold(contact, presses);
    any = PETSC_TRUE;
  }
  return any;
}

PetscBool fluid_contacts_rub(Solid solid, const SolidMotion *motion)
{
  FluidContacts *contacts = &solid->points->in_fluid->contacts;
  PetscBool      any = PETSC_FALSE;

  if (contacts->rubs++ >= MOST_RUBS)
    return PETSC_FALSE;
  for (PetscInt k = 0; k < contacts->of_bodies; k++) {
    FluidContact   *contact = &contacts->list[k];
    const Vector3   relative = relative_velocity(solid, contact, motion);
    const Vector3   impulse = impulse_at(contact, relative);
    const PetscReal press = PetscMax(0., vector3_dot(impulse, contact->normal));

    if (contact->held && switch_friction(contact, contacts->dt, press, across(contact->normal, impulse),
                                         across(contact->normal, relative)))
      any = PETSC_TRUE;
  }
  return any;
}

void fluid_contacts_drag(Solid solid, const SolidMotion *motion)
{
  FluidContacts *contacts = &solid->points->in_fluid->contacts;

  if (contacts->drags++ >= MOST_DRAGS)
    return;
  for (PetscInt k = contacts->of_bodies; k < contacts->count; k++) {
    FluidContact   *contact = &contacts->list[k];
    const Vector3   relative = relative_velocity(solid, contact, motion);
    const PetscReal lacks = contact->least - vector3_dot(contact->normal, relative),
                    slow = contact->slack / contacts->dt;

    if (contact->held)
      contact->turning =
          PetscMin(contact->penalty, contact->friction * contact->penalty * PetscMax(0., lacks) /
                                         PetscMax(slow, vector3_norm(across(contact->normal, relative))));
  }
}

PetscReal fluid_contacts_slack(Solid solid)
{
  const FluidContacts *contacts = &solid->points->in_fluid->contacts;
  PetscReal            least = PETSC_MAX_REAL;

  for (PetscInt k = 0; k < contacts->count; k++)
    least = PetscMin(least, contacts->list[k].slack);
  return least;
}

/* What comes nearer than its thickness by velocities that were not known before. */
PetscErrorCode FluidContactsFindNew(Solid solid, const SolidMotion *motion, PetscBool *found)
{
  const MeshSurface surface = solid->points->surface;
  FluidContacts    *contacts = &solid->points->in_fluid->contacts;
  const PetscInt    known = contacts->count;

  PetscFunctionBegin;
  *found = PETSC_FALSE;
  if (!surface)
    PetscFunctionReturn(0);
  PetscCall(MeshMeetingsFind(solid, contacts->dt, motion->points));
  for (PetscInt k = 0; k < surface->meeting_count; k++) {
    FluidContact        contact = of_meeting(&surface->meetings[k], contacts->phase, contacts->dt);
    const FluidContacts old = {.count = known, .of_bodies = contacts->of_bodies, .list = contacts->list};
    const PetscReal     opening = vector3_dot(contact.normal, relative_velocity(solid, &contact, motion));

    if (opening >= contact.least - contact.slack / contacts->dt || find_contact(&old, contact.key))
      continue;
    hold(&contact, PETSC_TRUE);
    PetscCall(Append(contacts, &contact));
  }
  if (contacts->count == known)
    PetscFunctionReturn(0);
  qsort(contacts->list + contacts->of_bodies, (size_t)(contacts->count - contacts->of_bodies),
        sizeof(*contacts->list), compare_keys);
  *found = PETSC_TRUE;
  PetscFunctionReturn(0);
}
