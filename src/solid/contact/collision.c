/* Step II: impacts with restitution, one pair at a time, by the velocities of time n (numerics.md, 8).

   A pair's approach is ended by impulses J with friction, then e times the normal part of J is given back,
   with friction bounded by the whole. The energy of the pair does not grow: the second part is cut if it
   would. */
#include "row.h"

enum { PRESS_SWEEPS = 100, ROUNDS = 2000 };

/* Ends the approach at all rows, with friction. */
static void compress(Row rows[], PetscInt count, PetscReal friction, PetscReal enough, Partners *partners)
{
  for (PetscInt sweep = 0; sweep < PRESS_SWEEPS; sweep++) {
    PetscReal change = 0;

    for (PetscInt k = 0; k < count; k++) {
      PetscReal pressed;

      if (friction > 0)
        row_rub(&rows[k], rows[k].grip, friction * rows[k].impulse, partners);
      pressed = row_press(&rows[k], rows[k].hold, partners) / rows[k].hold;
      change = PetscMax(change, pressed);
    }
    if (change <= enough || (count == 1 && !(friction > 0)))
      break;
  }
}

static void give_back(Row rows[], PetscInt count, const Rubbing *rubbing, Partners *partners)
{
  for (PetscInt k = 0; k < count; k++) {
    axis_push(&rows[k].normal, rubbing->restitution * rows[k].impulse, partners);
    rows[k].impulse *= 1 + rubbing->restitution;
  }
  if (rubbing->friction > 0)
    for (PetscInt k = 0; k < count; k++)
      row_rub(&rows[k], rows[k].grip, rubbing->friction * rows[k].impulse, partners);
}

static Twist twist_blend(const Twist *a, const Twist *b, PetscReal s)
{
  Twist blend;

  blend.linear = vector3_add(a->linear, vector3_scale(s, vector3_subtract(b->linear, a->linear)));
  blend.angular = vector3_add(a->angular, vector3_scale(s, vector3_subtract(b->angular, a->angular)));
  return blend;
}

static PetscReal pair_energy(Solid solid, const Contact *contact, const Twist twists[2])
{
  PetscReal energy = 0;

  for (PetscInt side = 0; side < 2; side++)
    energy += solid_body_energy(solid, contact->bodies[side], &twists[side]);
  return energy;
}

/* Cuts the way from `pressed` to `rebound` where the energy would exceed that of `before`. Energy is a convex
   parabola on the way, below its bound at the start, so the bound is passed once. */
static void bound_rebound(Solid solid, const Contact *contact, const Twist before[2], const Twist pressed[2],
                          Twist rebound[2])
{
  const PetscReal bound = pair_energy(solid, contact, before);
  const PetscReal start = pair_energy(solid, contact, pressed), end = pair_energy(solid, contact, rebound);
  Twist           middle[2];
  PetscReal       c2, c1, s;

  /* a kinematic body works on the other one: there is no bound */
  if (end <= bound * (1 + 1e-14) || solid->bodies[contact->bodies[0]].config->kind == BODY_KINEMATIC ||
      solid->bodies[contact->bodies[1]].config->kind == BODY_KINEMATIC)
    return;
  for (PetscInt side = 0; side < 2; side++)
    middle[side] = twist_blend(&pressed[side], &rebound[side], 0.5);
  c2 = 2 * (end + start - 2 * pair_energy(solid, contact, middle));
  c1 = end - start - c2;
  s = c2 > 0 ? (-c1 + PetscSqrtReal(PetscMax(0, c1 * c1 + 4 * c2 * (bound - start)))) / (2 * c2) : 0;
  s = PetscMax(0, PetscMin(1, s));
  for (PetscInt side = 0; side < 2; side++)
    rebound[side] = twist_blend(&pressed[side], &rebound[side], s);
}

/* Of an approach that needs no impact: what forces make in a step, and round-off. */
static PetscReal slow_speed(const Contact *contact, const Twist change[], const Twist twists[])
{
  const PetscInt a = contact->bodies[0], b = contact->bodies[1];

  return 2 * (vector3_norm(change[a].linear) + vector3_norm(change[b].linear)) +
         1e-12 * (vector3_norm(twists[a].linear) + vector3_norm(twists[b].linear));
}

/* The places that would be inside at the end of the step, with the speed at which inelastic ones may close
   their gap; none unless one of them approaches faster than forces bring bodies together in a step. */
static PetscInt approaching_places(ContactSet set, Solid solid, const Contact *contact, PetscReal dt,
                                   const Twist change[], const Twist twists[], PetscInt places[],
                                   PetscReal bias[])
{
  const PetscReal slow = slow_speed(contact, change, twists);
  PetscInt        count = 0;
  PetscBool       approaching = PETSC_FALSE;

  for (PetscInt k = contact->first; k < contact->first + contact->count; k++) {
    const Touch    *touch = &set->now.places[k].touch;
    const PetscReal speed = opening_speed(solid, contact, touch, twists);
    const PetscReal room = touch->gap / dt + opening_speed(solid, contact, touch, change);

    if (speed + room >= 0)
      continue;
    bias[count] = contact->rubbing.restitution > 0 ? 0 : PetscMax(0, room);
    if (speed + bias[count] < -slow)
      approaching = PETSC_TRUE;
    places[count++] = k;
  }
  return approaching ? count : 0;
}

static PetscBool collide_pair(ContactSet set, Solid solid, Contact *contact, PetscReal dt,
                              const Twist change[], Twist twists[])
{
  const PetscInt a = contact->bodies[0], b = contact->bodies[1];
  const Twist    before[2] = {twists[a], twists[b]};
  PetscInt       places[TOUCH_CAPACITY];
  PetscReal      bias[TOUCH_CAPACITY];
  const PetscInt count = approaching_places(set, solid, contact, dt, change, twists, places, bias);
  Partners       pressed, rebound;
  Row            rows[TOUCH_CAPACITY];

  if (count == 0)
    return PETSC_FALSE;
  for (PetscInt k = 0; k < count; k++) {
    rows[k] = make_row(solid, contact, &set->now.places[places[k]]);
    rows[k].bias = bias[k];
  }
  pressed = (Partners){
      {before[0], before[1]}, {1, 1}, {solid->mobilities[a].inverse_mass, solid->mobilities[b].inverse_mass}};
  compress(rows, count, contact->rubbing.friction, 0.01 * slow_speed(contact, change, twists), &pressed);
  rebound = pressed;
  give_back(rows, count, &contact->rubbing, &rebound);
  bound_rebound(solid, contact, before, pressed.twists, rebound.twists);
  twists[a] = rebound.twists[0];
  twists[b] = rebound.twists[1];
  contact->met = PETSC_TRUE;
  return PETSC_TRUE;
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

PetscInt collide(ContactSet set, Solid solid, PetscReal dt, const Twist change[], Twist twists[])
{
  PetscBool *hit = set->moves,
            *hit_before = set->fixed; /* lent: whether a body was hit in this round, the last */
  PetscInt impacts = 0;

  note_meetings(set);
  for (PetscInt b = 0; b < solid->body_count; b++)
    hit_before[b] = PETSC_TRUE;
  for (PetscInt round = 0; round < ROUNDS; round++) {
    const PetscInt impacts_before = impacts;

    memset(hit, 0, (size_t)solid->body_count * sizeof(*hit));
    for (PetscInt c = 0; c < set->now.count; c++) {
      Contact       *contact = &set->now.contacts[c];
      const PetscInt a = contact->bodies[0], b = contact->bodies[1];

      if (!(hit_before[a] || hit_before[b] || hit[a] || hit[b]))
        continue;
      if (!collide_pair(set, solid, contact, dt, change, twists))
        continue;
      hit[a] = hit[b] = PETSC_TRUE;
      impacts++;
    }
    if (impacts == impacts_before)
      break;
    memcpy(hit_before, hit, (size_t)solid->body_count * sizeof(*hit));
  }
  return impacts;
}
