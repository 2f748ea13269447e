/* Contact with Coulomb friction in the solve of an implicit step (docs/numerics.md, 17). A point has the
   velocity u against the body, w along its surface, and the gap g. Pressing is a stiff penalty of the overlap
   at the end of the step, friction an active set:

     p = h max(0, -n.u - g/dt),     f = -h w, |f| <= mu p (sticks)     or     f = -mu p w/|w| (slides)

   Between two updates friction has a convex potential. What sticks has h/2 |w|^2; what slides has
   s t.w + k/2 |w - t t.w|^2 with t = w/|w|, s = mu p and k = s/|w| of the update, whose slope and curvature
   there are those of s |w|. A contact that sticks with more than mu p begins to slide, one that slides
   backwards sticks (Hüeber, Stadler, Wohlmuth 2008). */
#include "implicit_contact.h"

/* h, of the diagonal of the matrix. */
static const PetscReal contact_stiffness = 1e6;

static PetscBool gives_way(Solid solid, const PointContact *contact)
{
  return body_is_free(&solid->bodies[contact->body]);
}

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

    if (!(contact->friction > 0.) || gives_way(trial->solid, contact))
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
    if (solid->points->contacts[k].friction > 0. && !gives_way(solid, &solid->points->contacts[k]))
      return PETSC_TRUE;
  return PETSC_FALSE;
}

void implicit_contacts_push(const ContactTrial *trial, Vector3 impulses[])
{
  const Points *points = trial->solid->points;

  for (PetscInt k = 0; k < points->contact_count; k++) {
    const PointContact *contact = &points->contacts[k];
    Vector3            *impulse = &impulses[contact->point];

    if (gives_way(trial->solid, contact))
      continue;
    *impulse = vector3_add(*impulse, vector3_scale(pressing(trial, contact), contact->normal));
    *impulse = vector3_add(*impulse, rubbing(trial, contact));
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

    if (!gives_way(trial->solid, contact))
      sum +=
          0.5 * contact->hold * PetscSqr(closing_speed(trial, contact)) + friction_potential(trial, contact);
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
  Points *points = trial->solid->points;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < points->contact_count && is_first; k++) {
    PointContact *contact = &points->contacts[k];

    if (!gives_way(trial->solid, contact))
      contact->hold =
          contact_stiffness * point_matrix_along(matrix, trial->solid, contact->point, contact->normal);
  }
  for (PetscInt k = 0; k < points->contact_count; k++) {
    const PointContact *contact = &points->contacts[k];
    const Matrix3       curvature = contact_curvature(trial, contact);

    if (!gives_way(trial->solid, contact))
      PetscCall(PointMatrixAddBlock(matrix, trial->solid, contact->point, &curvature));
  }
  PetscFunctionReturn(0);
}

void implicit_contacts_keep(const ContactTrial *trial)
{
  Points *points = trial->solid->points;

  for (PetscInt k = 0; k < points->contact_count; k++) {
    PointContact *contact = &points->contacts[k];

    if (gives_way(trial->solid, contact))
      continue;
    contact->press = pressing(trial, contact);
    contact->rub = rubbing(trial, contact);
    contact->hold = point_contact_hold(trial->solid, contact);
  }
}

void implicit_contacts_end(const ContactTrial *trial, Vector3 end[])
{
  const Points *points = trial->solid->points;

  for (PetscInt k = 0; k < points->contact_count; k++) {
    const PointContact *contact = &points->contacts[k];
    const PetscInt      p = contact->point;
    Vector3             change = vector3_subtract(trial->motion->points[p], end[p]);

    if (gives_way(trial->solid, contact) || !(contact->press > 0.) || !(points->inverse_mass[p] > 0.))
      continue;
    if (!contact->sticks)
      change = vector3_scale(vector3_dot(change, contact->normal), contact->normal);
    end[p] = vector3_add(end[p], change);
  }
}

PetscReal implicit_contacts_square(const ContactTrial *trial)
{
  const Points *points = trial->solid->points;
  PetscReal     sum = 0.;

  for (PetscInt k = 0; k < points->contact_count; k++) {
    const PointContact *contact = &points->contacts[k];
    const Vector3       speed = twist_at(&trial->motion->bodies[contact->body], contact->arm);

    if (!gives_way(trial->solid, contact))
      sum += points->mass[contact->point] * vector3_dot(speed, speed);
  }
  return sum;
}
