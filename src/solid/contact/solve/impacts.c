/* Which impact of a step comes next, and what the contact of step III is to know of them all.

   Bodies fly on parabolas from impact to impact. The impacts of balls that bounce happen when and where they
   touch: the rest of their flight starts there, and the next impact is the one that comes first. Others count
   from the beginning of the step and are taken in rounds: those without restitution and of bodies with
   joints, which contact and joints bring together in the step, and those of forms whose turn within it
   matters. */
#include "impacts.h"

enum { ROUNDS = 2000, SEARCHES = 20, NEWTON_STEPS = 50 };

PetscErrorCode ImpactsCreate(PetscInt bodies, struct Impacts **impacts)
{
  Impacts *s;

  PetscFunctionBegin;
  PetscCall(PetscNew(&s));
  PetscCall(PetscCalloc5(bodies + 1, &s->starts, bodies, &s->shifts, bodies, &s->paths, bodies, &s->hit,
                         bodies, &s->kept));
  PetscCall(PetscCalloc3(bodies, &s->struck, bodies, &s->struck_before, bodies, &s->since));
  *impacts = s;
  PetscFunctionReturn(0);
}

PetscErrorCode ImpactsDestroy(struct Impacts **impacts)
{
  Impacts *s = *impacts;

  PetscFunctionBegin;
  if (!s)
    PetscFunctionReturn(0);
  PetscCall(ImpactQueueDestroy(&s->queue));
  PetscCall(PetscFree(s->touching));
  PetscCall(PetscFree3(s->struck, s->struck_before, s->since));
  PetscCall(PetscFree5(s->starts, s->shifts, s->paths, s->hit, s->kept));
  PetscCall(PetscFree(*impacts));
  PetscFunctionReturn(0);
}

/* A ball, or a simple form that no impact turns. */
static PetscBool is_simple(const Body *body)
{
  return body->form->kind == FORM_SPHERE || (!body_is_free(body) && body->form->kind <= FORM_PLANE)
             ? PETSC_TRUE
             : PETSC_FALSE;
}

/* Whether an impact counts from the time it happens at: of a ball and another simple form, if it bounces. */
static PetscBool is_timed(const Flight *flight, const Contact *contact)
{
  const PetscInt a = contact->bodies[0], b = contact->bodies[1];

  return contact->law.restitution > 0 && is_simple(&flight->solid->bodies[a]) &&
                 is_simple(&flight->solid->bodies[b]) && !flight->set->jointed[a] && !flight->set->jointed[b]
             ? PETSC_TRUE
             : PETSC_FALSE;
}

static RigidTransform flight_placement(const Flight *flight, PetscInt b, PetscReal t)
{
  const RigidTransform *start = &flight->solid->placements[b];
  Twist                 twist = flight->twists[b];
  RigidTransform        there = *start;

  if (flight->solid->bodies[b].form->kind != FORM_SPHERE && vector3_norm(twist.angular) > 0)
    there = rigid_moved(start, vector3(0, 0, 0), vector3_scale(t, twist.angular));
  there.position = flight_position(flight, b, t);
  return there;
}

static Touch timed_touch(const Flight *flight, const Contact *contact, PetscReal t)
{
  const PetscInt       a = contact->bodies[0], b = contact->bodies[1];
  const RigidTransform at_a = flight_placement(flight, a, t), at_b = flight_placement(flight, b, t);
  Touch                touches[TOUCH_CAPACITY];

  find_touches(flight->solid->bodies[a].form, &at_a, flight->solid->bodies[b].form, &at_b, PETSC_MAX_REAL,
               touches);
  return touches[0];
}

/* How fast the gap of a touch opens at `t`; `force`: the part of the forces in it. */
static PetscReal timed_speed(const Flight *flight, const Contact *contact, const Touch *touch, PetscReal t,
                             PetscReal *force)
{
  PetscReal speed = 0;

  *force = 0;
  for (PetscInt side = 0; side < 2; side++) {
    const PetscInt  b = contact->bodies[side];
    const PetscReal sign = side ? 1 : -1;
    const Vector3   arm = vector3_subtract(touch->point, flight_position(flight, b, t));

    speed += sign * vector3_dot(touch->normal, twist_at(&flight->twists[b], arm));
    *force += sign * 2 * t / flight->dt * vector3_dot(touch->normal, twist_at(&flight->change[b], arm));
  }
  return speed + *force;
}

/* A gap that cannot be told from none where the two bodies are. */
static PetscReal gap_round_off(const Flight *flight, const Contact *contact)
{
  PetscReal far = 0;

  for (PetscInt side = 0; side < 2; side++)
    far += vector3_norm(flight->solid->placements[contact->bodies[side]].position);
  return PetscMax(1e-10 * contact->slack, 16 * PETSC_MACHINE_EPSILON * far);
}

/* Newton's method from `now` on: the distance of two balls that fly straight on is convex in time, so that it
   comes to the first root from below, or finds that they pass each other. Where forces bend the way, it may
   go beyond the root and come back, but not beyond a time at which they part again. */
static PetscReal first_touching(const Flight *flight, const Contact *contact, PetscReal now)
{
  const PetscReal enough = gap_round_off(flight, contact), slow = slow_speed(flight, contact);
  PetscReal       t = now, apart = now;

  for (PetscInt k = 0; k < NEWTON_STEPS; k++) {
    const Touch     touch = timed_touch(flight, contact, t);
    PetscReal       force;
    const PetscReal speed = timed_speed(flight, contact, &touch, t, &force);

    if (speed >= 0 && (touch.gap > 0 || t == now))
      return PETSC_INFINITY;
    if (PetscAbsReal(touch.gap) <= enough || (touch.gap < 0 && t == now) || k == NEWTON_STEPS - 1)
      return t < flight->dt && speed - force < -slow ? t : PETSC_INFINITY;
    if (touch.gap > 0 && t >= flight->dt)
      return PETSC_INFINITY;
    if (touch.gap > 0)
      apart = t;
    t = speed < 0 ? PetscMin(t - touch.gap / speed, flight->dt) : 0.5 * (apart + t);
    t = PetscMax(t, apart);
  }
  return PETSC_INFINITY;
}

/* Of a contact whose impacts are timed; infinite if there is none in this step. */
static PetscReal impact_time(const Flight *flight, const Contact *contact, PetscReal now)
{
  const PetscBool *hit = flight->set->impacts->hit;
  PetscInt         places[TOUCH_CAPACITY];
  PetscReal        bias[TOUCH_CAPACITY];

  if (hit[contact->bodies[0]] || hit[contact->bodies[1]] ||
      approaching_places(flight, contact, now, places, bias))
    return first_touching(flight, contact, now);
  return PETSC_INFINITY;
}

/* A place that has followed the two bodies until `t`. */
static ContactPlace moved_place(const Flight *flight, const Contact *contact, const ContactPlace *place,
                                PetscReal t)
{
  ContactPlace moved = *place;

  for (PetscInt side = 0; side < 2; side++) {
    const PetscInt b = contact->bodies[side];
    const Vector3  way =
        vector3_subtract(flight_position(flight, b, t), flight->solid->placements[b].position);

    moved.touch.point = vector3_add(moved.touch.point, vector3_scale(0.5, way));
  }
  return moved;
}

static void strike_timed(const Flight *flight, Contact *contact, PetscReal time)
{
  const PetscReal bias = 0;
  ContactPlace    place = flight->set->now.places[contact->first];

  place.touch = timed_touch(flight, contact, time);
  strike(flight, contact, time, 1, &place, &bias);
}

/* The time from which on both bodies of a contact fly as they do now. */
static PetscReal flying_since(const Flight *flight, const Contact *contact)
{
  const PetscReal *since = flight->set->impacts->since;

  return PetscMax(since[contact->bodies[0]], since[contact->bodies[1]]);
}

/* False if the contact needs no impact. */
static PetscBool strike_untimed(const Flight *flight, Contact *contact)
{
  const PetscReal time = flying_since(flight, contact);
  PetscInt        places[TOUCH_CAPACITY];
  PetscReal       bias[TOUCH_CAPACITY];
  ContactPlace    moved[TOUCH_CAPACITY];
  const PetscInt  count = approaching_places(flight, contact, time, places, bias);

  for (PetscInt k = 0; k < count; k++)
    moved[k] = moved_place(flight, contact, &flight->set->now.places[places[k]], time);
  if (count)
    strike(flight, contact, time, count, moved, bias);
  return count ? PETSC_TRUE : PETSC_FALSE;
}

static PetscErrorCode SortByBody(const Flight *flight)
{
  const ContactList *now = &flight->set->now;
  const PetscInt     n = flight->solid->body_count;
  Impacts           *s = flight->set->impacts;

  PetscFunctionBegin;
  if (2 * now->count > s->capacity) {
    s->capacity = 4 * now->count;
    PetscCall(PetscFree(s->touching));
    PetscCall(PetscMalloc1(s->capacity, &s->touching));
  }
  PetscCall(PetscArrayzero(s->starts, n + 1));
  for (PetscInt c = 0; c < 2 * now->count; c++)
    s->starts[now->contacts[c / 2].bodies[c % 2]]++;
  for (PetscInt b = 0, sum = 0; b <= n; b++) {
    sum += s->starts[b];
    s->starts[b] = sum;
  }
  for (PetscInt c = 2 * now->count - 1; c >= 0; c--)
    s->touching[--s->starts[now->contacts[c / 2].bodies[c % 2]]] = c / 2;
  PetscFunctionReturn(0);
}

/* What an impact at `time` means for the contacts of its bodies whose order counts. */
static void follow_impact(const Flight *flight, const Contact *contact, PetscReal time)
{
  Impacts *s = flight->set->impacts;

  for (PetscInt side = 0; side < 2; side++) {
    const PetscInt b = contact->bodies[side];

    if (!body_is_free(&flight->solid->bodies[b]))
      continue;
    s->hit[b] = s->struck[b] = PETSC_TRUE;
    if (is_timed(flight, contact)) {
      const Twist half = twist_add(flight->twists[b], flight->change[b]);

      s->since[b] = time;
      s->paths[b] = PetscMax(s->paths[b], body_path(&flight->solid->bodies[b], &half, flight->dt));
    }
    for (PetscInt k = s->starts[b]; k < s->starts[b + 1]; k++) {
      const Contact *other = &flight->set->now.contacts[s->touching[k]];

      if (is_timed(flight, other))
        queue_put(&s->queue, s->touching[k], impact_time(flight, other, time));
    }
  }
}

/* All impacts whose order counts, one after the other; returns their number. */
static PetscInt strike_in_order(const Flight *flight, PetscInt limit)
{
  Impacts *s = flight->set->impacts;
  PetscInt impacts = 0;

  for (; s->queue.count && impacts < limit; impacts++) {
    const PetscInt  c = queue_first(&s->queue);
    const PetscReal time = s->queue.times[c];

    strike_timed(flight, &flight->set->now.contacts[c], time);
    follow_impact(flight, &flight->set->now.contacts[c], time);
  }
  return impacts;
}

/* One round over the other contacts, as far as their bodies were struck since the last one, by whatever;
   returns the number of impacts. */
static PetscInt strike_round(const Flight *flight)
{
  Impacts *s = flight->set->impacts;
  PetscInt impacts = 0;

  for (PetscInt b = 0; b < flight->solid->body_count; b++) {
    s->struck_before[b] = s->struck[b];
    s->struck[b] = PETSC_FALSE;
  }
  for (PetscInt c = 0; c < flight->set->now.count; c++) {
    Contact       *contact = &flight->set->now.contacts[c];
    const PetscInt a = contact->bodies[0], b = contact->bodies[1];

    if (!(s->struck_before[a] || s->struck_before[b] || s->struck[a] || s->struck[b]))
      continue;
    if (is_timed(flight, contact) || !strike_untimed(flight, contact))
      continue;
    follow_impact(flight, contact, flying_since(flight, contact));
    impacts++;
  }
  return impacts;
}

/* From the velocities of time n; returns the number of impacts. */
static PetscErrorCode Strike(const Flight *flight, PetscInt *impacts)
{
  const PetscInt count = flight->set->now.count;
  Impacts       *s = flight->set->impacts;
  PetscInt       more = 1;

  PetscFunctionBegin;
  *impacts = 0;
  PetscCall(PetscArrayzero(s->shifts, flight->solid->body_count));
  PetscCall(PetscArrayzero(s->paths, flight->solid->body_count));
  PetscCall(PetscArrayzero(s->since, flight->solid->body_count));
  PetscCall(PetscArrayzero(s->hit, flight->solid->body_count));
  PetscCall(ImpactQueueStart(&s->queue, count));
  PetscCall(SortByBody(flight));
  for (PetscInt b = 0; b < flight->solid->body_count; b++)
    s->struck[b] = PETSC_TRUE;
  for (PetscInt c = 0; c < count; c++)
    if (is_timed(flight, &flight->set->now.contacts[c]))
      queue_put(&s->queue, c, impact_time(flight, &flight->set->now.contacts[c], 0));
  for (PetscInt round = 0; round < ROUNDS && more; round++) {
    *impacts += strike_in_order(flight, ROUNDS * count);
    more = strike_round(flight);
    *impacts += more;
  }
  PetscFunctionReturn(0);
}

/* Whether impacts have sent no body farther than contacts were looked for. */
static PetscBool is_covered(const Flight *flight)
{
  for (PetscInt b = 0; b < flight->solid->body_count; b++)
    if (flight->set->impacts->paths[b] > flight->set->reaches[b])
      return PETSC_FALSE;
  return PETSC_TRUE;
}

/* Looks again as far as the bodies have turned out to go. */
static PetscErrorCode LookFarther(const Flight *flight, Twist falling[])
{
  const PetscInt   n = flight->solid->body_count;
  const PetscReal *paths = flight->set->impacts->paths;
  Twist           *far;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n, &far));
  for (PetscInt b = 0; b < n; b++) {
    far[b] = falling[b];
    if (2 * paths[b] > body_path(&flight->solid->bodies[b], &falling[b], flight->dt))
      far[b] = (Twist){vector3(2 * paths[b] / flight->dt, 0, 0), vector3(0, 0, 0)};
  }
  PetscCall(ContactSetFind(flight->set, flight->solid, flight->dt, far));
  PetscCall(ContactSetLevel(flight->set, flight->solid, flight->dt, flight->twists, falling));
  PetscCall(PetscFree(far));
  PetscFunctionReturn(0);
}

/* A gap that closed and opened again in the step is open for step III, not an overlap. */
static PetscReal gap_of_flight(PetscReal found, PetscReal flown)
{
  return flown >= 0 ? flown : PetscMin(found, 0);
}

/* Gaps and points as they would be had the bodies flown as they do now from the beginning. */
static void shift_touches(const Flight *flight, Contact *contact)
{
  for (PetscInt k = contact->first; k < contact->first + contact->count; k++) {
    ContactPlace   *place = &flight->set->now.places[k];
    const PetscReal gap = flight_gap(flight, contact, &place->touch);

    place->touch = moved_place(flight, contact, place, 0).touch;
    place->touch.gap = gap_of_flight(place->touch.gap, gap);
  }
}

/* The touch of the step's end, moved back: where a ball passes another one, or has left it in another
   direction than it came from, the normal of its beginning says nothing. */
static void turn_touch(const Flight *flight, Contact *contact, const Twist half[])
{
  Touch          *touch = &flight->set->now.places[contact->first].touch;
  const PetscReal found = touch->gap;
  Vector3         velocity = vector3(0, 0, 0);
  Touch           end = timed_touch(flight, contact, flight->dt);

  for (PetscInt side = 0; side < 2; side++)
    velocity = vector3_add(velocity, vector3_scale(0.5, half[contact->bodies[side]].linear));
  end.point = vector3_subtract(end.point, vector3_scale(flight->dt, velocity));
  end.gap -= flight->dt * opening_speed(flight->solid, contact, &end, half);
  end.gap = gap_of_flight(found, end.gap);
  *touch = end;
}

/* Whether a place that is closed at the end of the step still closes then, faster than by forces: such a pair
   bounces in the next step, and contact must not end its approach before. */
static PetscBool will_bounce(const Flight *flight, const Contact *contact, const Twist half[])
{
  const PetscReal slow = slow_speed(flight, contact);

  for (PetscInt k = contact->first; k < contact->first + contact->count; k++) {
    const Touch    *touch = &flight->set->now.places[k].touch;
    const PetscReal end = touch->gap + flight->dt * opening_speed(flight->solid, contact, touch, half);

    if (end <= contact->slack && opening_speed(flight->solid, contact, touch, flight->twists) < -slow)
      return PETSC_TRUE;
  }
  return PETSC_FALSE;
}

/* Puts the bodies where the rest of their flight would have begun, and contacts with them. */
static void adopt_flight(const Flight *flight, Twist half[])
{
  const ContactList *now = &flight->set->now;
  const PetscBool   *hit = flight->set->impacts->hit;
  PetscInt           places[TOUCH_CAPACITY];
  PetscReal          bias[TOUCH_CAPACITY];

  for (PetscInt c = 0; c < now->count; c++) {
    Contact *contact = &now->contacts[c];

    contact->turned = is_timed(flight, contact) && (hit[contact->bodies[0]] || hit[contact->bodies[1]] ||
                                                    approaching_places(flight, contact, 0, places, bias));
    if (!contact->turned && (hit[contact->bodies[0]] || hit[contact->bodies[1]]))
      shift_touches(flight, contact);
  }
  for (PetscInt b = 0; b < flight->solid->body_count; b++) {
    Vector3 *position = &flight->solid->placements[b].position;

    half[b].linear = vector3_add(flight->twists[b].linear, flight->change[b].linear);
    half[b].angular = vector3_add(flight->twists[b].angular, flight->change[b].angular);
    *position = vector3_add(*position, flight->shifts[b]);
    flight->shifts[b] = vector3(0, 0, 0);
  }
  for (PetscInt c = 0; c < now->count; c++) {
    Contact *contact = &now->contacts[c];

    if (contact->turned)
      turn_touch(flight, contact, half);
    if (contact->met && contact->law.restitution > 0 && will_bounce(flight, contact, half))
      contact->met = PETSC_FALSE;
  }
}

/* Whether each pair touches as the step begins. */
static void note_meetings(ContactSet set)
{
  for (PetscInt c = 0; c < set->now.count; c++) {
    Contact *contact = &set->now.contacts[c];

    contact->met = PETSC_FALSE;
    for (PetscInt k = 0; k < contact->count; k++)
      if (set->now.places[contact->first + k].touch.gap <= contact->slack)
        contact->met = PETSC_TRUE;
  }
}

PetscErrorCode ContactSetCollide(ContactSet set, Solid solid, PetscReal dt, const Twist change[],
                                 Twist half[], PetscInt *impacts)
{
  const Flight flight = {set, solid, dt, change, solid->twists, set->impacts->shifts};

  PetscFunctionBegin;
  PetscCall(PetscArraycpy(set->impacts->kept, solid->twists, solid->body_count));
  note_meetings(set);
  PetscCall(Strike(&flight, impacts));
  for (PetscInt search = 1; search < SEARCHES && !is_covered(&flight); search++) {
    PetscCall(PetscArraycpy(solid->twists, set->impacts->kept, solid->body_count));
    PetscCall(LookFarther(&flight, half));
    note_meetings(set);
    PetscCall(Strike(&flight, impacts));
  }
  adopt_flight(&flight, half);
  PetscFunctionReturn(0);
}
