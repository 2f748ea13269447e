/* Contact with Coulomb friction in the solve of an implicit step (docs/numerics.md, 17). A point has the
   velocity u against the body, w along its surface, and the gap g. Pressing is a stiff penalty of the overlap
   at the end of the step, friction an active set:

     p = h max(0, -n.u - g/dt),     f = -h w, |f| <= mu p (sticks)     or     f = -mu p w/|w| (slides)

   Between two updates friction has a convex potential. What sticks has h/2 |w|^2; what slides has
   s t.w + k/2 |w - t t.w|^2 with t = w/|w|, s = mu p and k = s/|w| of the update, whose slope and curvature
   there are those of s |w|. A contact that sticks with more than mu p begins to slide, one that slides
   backwards sticks (Hüeber, Stadler, Wohlmuth 2008). */
#include "implicit_contact.h"

#include <millrace/dense.h>

/* h, of the diagonal of the matrix. */
static const PetscReal contact_stiffness = 1e6;

static Vector3 relative_velocity(const ContactTrial *trial, const PointContact *contact)
{
  return vector3_subtract(points_mean(trial->solid->points, contact->point, trial->motion->points),
                          twist_at(&trial->motion->bodies[contact->body], contact->arm));
}

static Vector3 without(Vector3 a, Vector3 direction)
{
  return vector3_subtract(a, vector3_scale(vector3_dot(a, direction), direction));
}

/* Along the surface. */
static Vector3 sliding_velocity(const ContactTrial *trial, const PointContact *contact)
{
  return without(relative_velocity(trial, contact), contact->normal);
}

/* Beyond what the gap leaves; 0 where it does not close. */
static PetscReal closing_speed(const ContactTrial *trial, const PointContact *contact)
{
  const PetscReal opening = vector3_dot(contact->normal, relative_velocity(trial, contact));

  return PetscMax(0., -opening - contact->gap / trial->dt);
}

/* p. */
static PetscReal pressing(const ContactTrial *trial, const PointContact *contact)
{
  return contact->hold * closing_speed(trial, contact);
}

/* f. */
static Vector3 rubbing(const ContactTrial *trial, const PointContact *contact)
{
  const Vector3 w = sliding_velocity(trial, contact);

  if (contact->sticks)
    return vector3_scale(-contact->hold, w);
  return vector3_add(vector3_scale(-contact->bound, contact->sliding),
                     vector3_scale(-contact->turning, without(w, contact->sliding)));
}

/* A guess: what slid by more than a small part of the velocity that the step adds to the point goes on,
   without friction until p is known. */
static PetscBool begins_to_stick(const ContactTrial *trial, const PointContact *contact)
{
  const PetscReal    small = 1e-3;
  Points            *points = trial->solid->points;
  const SolidMotion  before = {points->velocity, trial->motion->bodies};
  const ContactTrial last = {trial->solid, trial->dt, &before};
  const Vector3      now = points_mean(points, contact->point, trial->motion->points);
  const Vector3      then = points_mean(points, contact->point, points->velocity);
  const PetscReal    change = vector3_norm(vector3_subtract(now, then));

  return contact->friction > 0. && closing_speed(trial, contact) > 0. &&
                 vector3_norm(sliding_velocity(&last, contact)) <= small * change
             ? PETSC_TRUE
             : PETSC_FALSE;
}

void implicit_contacts_start(const ContactTrial *trial)
{
  Points *points = trial->solid->points;

  for (PetscInt k = 0; k < points->contact_count; k++) {
    PointContact *contact = &points->contacts[k];

    contact->sticks = begins_to_stick(trial, contact);
    contact->sliding = vector3(0, 0, 0);
    contact->bound = contact->turning = 0.;
  }
}

static void slide(PointContact *contact, Vector3 w, PetscReal bound)
{
  const PetscReal speed = vector3_norm(w);

  contact->sticks = PETSC_FALSE;
  contact->bound = bound;
  contact->sliding = speed > 0. ? vector3_scale(1. / speed, w) : vector3(0, 0, 0);
  contact->turning = speed > 0. ? bound / speed : 0.;
}

/* It slides against its friction, which has turned it round. */
static PetscBool is_reversed(const PointContact *contact, Vector3 w, PetscReal bound)
{
  return !contact->sticks && bound > 0. && vector3_dot(w, contact->sliding) < 0. ? PETSC_TRUE : PETSC_FALSE;
}

void implicit_contacts_update(const ContactTrial *trial)
{
  Points *points = trial->solid->points;

  for (PetscInt k = 0; k < points->contact_count; k++) {
    PointContact   *contact = &points->contacts[k];
    const Vector3   w = sliding_velocity(trial, contact);
    const PetscReal bound = contact->friction * pressing(trial, contact);

    if (!(contact->friction > 0.))
      continue;
    if (contact->hold * vector3_norm(w) <= bound || is_reversed(contact, w, bound))
      contact->sticks = PETSC_TRUE;
    else
      slide(contact, w, bound);
  }
}

PetscBool implicit_contacts_rub(Solid solid)
{
  for (PetscInt k = 0; k < solid->points->contact_count; k++)
    if (solid->points->contacts[k].friction > 0.)
      return PETSC_TRUE;
  return PETSC_FALSE;
}

void implicit_contacts_push(const ContactTrial *trial, SolidMotion *impulses)
{
  const Points *points = trial->solid->points;

  for (PetscInt k = 0; k < points->contact_count; k++) {
    const PointContact *contact = &points->contacts[k];
    const Vector3       normal = vector3_scale(pressing(trial, contact), contact->normal);
    const Vector3       j = vector3_add(normal, rubbing(trial, contact));
    Vector3            *point = &impulses->points[contact->point];
    Twist              *body = &impulses->bodies[contact->body];

    *point = vector3_add(*point, j);
    if (!body_is_free(&trial->solid->bodies[contact->body]))
      continue;
    body->linear = vector3_subtract(body->linear, j);
    body->angular = vector3_subtract(body->angular, vector3_cross(contact->arm, j));
  }
}

static PetscReal friction_potential(const ContactTrial *trial, const PointContact *contact)
{
  const Vector3   w = sliding_velocity(trial, contact);
  const Vector3   aside = without(w, contact->sliding);
  const PetscReal along = vector3_dot(w, contact->sliding);

  if (contact->sticks)
    return 0.5 * contact->hold * vector3_dot(w, w);
  return contact->bound * along + 0.5 * contact->turning * vector3_dot(aside, aside);
}

PetscReal implicit_contacts_potential(const ContactTrial *trial)
{
  const Points *points = trial->solid->points;
  PetscReal     sum = 0.;

  for (PetscInt k = 0; k < points->contact_count; k++) {
    const PointContact *contact = &points->contacts[k];

    sum += 0.5 * contact->hold * PetscSqr(closing_speed(trial, contact)) + friction_potential(trial, contact);
  }
  return sum;
}

/* h n n^T where it presses, h (1 - n n^T) where it sticks, k (1 - n n^T - t t^T) where it slides. */
static Matrix3 contact_curvature(const ContactTrial *trial, const PointContact *contact)
{
  const PetscReal press = closing_speed(trial, contact) > 0. ? contact->hold : 0.;
  const PetscReal across = contact->sticks ? contact->hold : contact->turning;
  const PetscReal along = contact->sticks ? 0. : contact->turning; /* less than across */
  const Vector3   n = contact->normal, t = contact->sliding;
  Matrix3         sum;

  for (PetscInt i = 0; i < DIM; i++)
    for (PetscInt j = 0; j < DIM; j++)
      sum.at[i][j] = (press - across) * n.at[i] * n.at[j] + across * (i == j) - along * t.at[i] * t.at[j];
  return sum;
}

PetscErrorCode ImplicitContactsAddTo(const ContactTrial *trial, PetscBool is_first, PointMatrix matrix)
{
  Points    *points = trial->solid->points;
  PetscReal *along;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(points->contact_count, &along));
  if (is_first)
    PetscCall(PointMatrixFindAlong(matrix, trial->solid, along));
  for (PetscInt k = 0; k < points->contact_count && is_first; k++)
    points->contacts[k].hold = contact_stiffness * along[k];
  PetscCall(PetscFree(along));
  for (PetscInt k = 0; k < points->contact_count; k++) {
    const RelativePlace place = point_relative_place(&points->contacts[k]);
    const Matrix3       curvature = contact_curvature(trial, &points->contacts[k]);

    point_matrix_add_contact(matrix, trial->solid, &place, &curvature);
  }
  PetscFunctionReturn(0);
}

void implicit_contacts_keep(const ContactTrial *trial)
{
  Points *points = trial->solid->points;

  for (PetscInt k = 0; k < points->contact_count; k++) {
    PointContact *contact = &points->contacts[k];

    contact->press = pressing(trial, contact);
    contact->rub = rubbing(trial, contact);
    contact->hold = point_contact_hold(trial->solid, contact);
  }
}

/* What the relative velocity at the end lacks of that in the solve, where contact decides about it: along the
   normal where it presses, in all directions where it sticks. */
static Vector3 missing_velocity(const ContactTrial *trial, const PointContact *contact,
                                const SolidMotion *end)
{
  const ContactTrial last = {trial->solid, trial->dt, end};
  const Vector3 lack = vector3_subtract(relative_velocity(trial, contact), relative_velocity(&last, contact));

  if (contact->sticks)
    return lack;
  return vector3_scale(vector3_dot(lack, contact->normal), contact->normal);
}

/* The solve has decided about the velocity at the end, of a point that others do not carry. */
static PetscBool is_decided(const Points *points, const PointContact *contact, PetscInt body)
{
  return contact->body == body && contact->press > 0. && points->inverse_mass[contact->point] > 0.
             ? PETSC_TRUE
             : PETSC_FALSE;
}

/* Adds J^T m L J of a contact, and -J^T m L d to the right side: J takes a body's twist to its velocity at
   the arm, L is n n^T or 1. */
static void add_to_body(const PointContact *contact, PetscReal mass, Vector3 lack,
                        PetscReal matrix[TWIST * TWIST], PetscReal right[TWIST])
{
  const PetscInt count = contact->sticks ? DIM : 1;

  for (PetscInt c = 0; c < count; c++) {
    const Vector3 direction = contact->sticks ? vector3(c == X, c == Y, c == Z) : contact->normal;
    const Vector3 turn = vector3_cross(contact->arm, direction);

    for (PetscInt i = 0; i < TWIST; i++) {
      const PetscReal by = mass * (i < DIM ? direction.at[i] : turn.at[i - DIM]);

      right[i] -= by * vector3_dot(direction, lack);
      for (PetscInt j = 0; j < TWIST; j++)
        matrix[TWIST * i + j] += by * (j < DIM ? direction.at[j] : turn.at[j - DIM]);
    }
  }
}

/* How a free body's twist changes if impulses between it and each of its points give all of them the relative
   velocities d that they lack: (M + sum J^T m L J) change = -sum J^T m L d. */
static Twist body_answer(const ContactTrial *trial, PetscInt body, const SolidMotion *end)
{
  const Points   *points = trial->solid->points;
  const Mobility *mobility = &trial->solid->mobilities[body];
  const Matrix3   inertia = matrix3_inverse(&mobility->inverse_inertia);
  PetscReal       matrix[TWIST * TWIST] = {0}, change[TWIST] = {0};

  for (PetscInt i = 0; i < DIM; i++) {
    matrix[(TWIST + 1) * i] = 1. / mobility->inverse_mass;
    for (PetscInt j = 0; j < DIM; j++)
      matrix[TWIST * (DIM + i) + DIM + j] = inertia.at[i][j];
  }
  for (PetscInt k = 0; k < points->contact_count; k++) {
    const PointContact *contact = &points->contacts[k];

    if (is_decided(points, contact, body))
      add_to_body(contact, points->mass[contact->point], missing_velocity(trial, contact, end), matrix,
                  change);
  }
  dense_cholesky(TWIST, TWIST, matrix);
  dense_cholesky_solve(TWIST, TWIST, matrix, change);
  return (Twist){vector3(change[0], change[1], change[2]), vector3(change[3], change[4], change[5])};
}

/* Its points get what they lack; it takes that of them. */
static void end_on_body(const ContactTrial *trial, PetscInt body, SolidMotion *end)
{
  const Points   *points = trial->solid->points;
  const PetscBool is_free = body_is_free(&trial->solid->bodies[body]);
  const Twist     start = end->bodies[body];
  Twist           taken = start;

  if (is_free)
    end->bodies[body] = twist_add(start, body_answer(trial, body, end));
  for (PetscInt k = 0; k < points->contact_count; k++) {
    const PointContact *contact = &points->contacts[k];
    Vector3             change;

    if (!is_decided(points, contact, body))
      continue;
    change = missing_velocity(trial, contact, end);
    end->points[contact->point] = vector3_add(end->points[contact->point], change);
    twist_push(&taken, &trial->solid->mobilities[body], contact->arm,
               vector3_scale(-points->mass[contact->point], change));
  }
  end->bodies[body] = taken;
}

void implicit_contacts_end(const ContactTrial *trial, SolidMotion *end)
{
  Solid         solid = trial->solid;
  const Points *points = solid->points;

  for (PetscInt b = 0; b < solid->body_count; b++)
    if (!body_is_free(&solid->bodies[b]))
      end_on_body(trial, b, end);
  for (PetscInt k = 0; k < points->body_count; k++)
    end_on_body(trial, points->bodies[k], end);
}

PetscReal implicit_contacts_square(const ContactTrial *trial)
{
  const Points *points = trial->solid->points;
  PetscReal     sum = 0.;

  for (PetscInt k = 0; k < points->contact_count; k++) {
    const PointContact *contact = &points->contacts[k];
    const Vector3       speed = twist_at(&trial->motion->bodies[contact->body], contact->arm);

    sum += points->mass[contact->point] * vector3_dot(speed, speed);
  }
  return sum;
}
