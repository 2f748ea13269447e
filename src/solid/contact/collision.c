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
        row_rub(&rows[k], friction * rows[k].impulse, PETSC_FALSE, partners);
      pressed = row_press(&rows[k], PETSC_FALSE, partners) / rows[k].hold;
      change = PetscMax(change, pressed);
    }
    if (change <= enough || (count == 1 && !(friction > 0)))
      break;
  }
}

static void give_back(Row rows[], PetscInt count, const Rubbing *rubbing, Partners *partners)
{
  for (PetscInt k = 0; k < count; k++) {
    axis_push(&rows[k].normal, rubbing->restitution * rows[k].impulse, PETSC_FALSE, partners);
    rows[k].impulse *= 1 + rubbing->restitution;
  }
  if (rubbing->friction > 0)
    for (PetscInt k = 0; k < count; k++)
      row_rub(&rows[k], rubbing->friction * rows[k].impulse, PETSC_FALSE, partners);
}

static void blend(const Partners *from, Partners *to, PetscReal part)
{
  for (PetscInt i = 0; i < PAIR; i++)
    to->at[i] = from->at[i] + part * (to->at[i] - from->at[i]);
}

static PetscReal twice_energy(const Partners *partners)
{
  PetscReal sum = 0;

  for (PetscInt i = 0; i < PAIR; i++)
    sum += partners->at[i] * partners->at[i];
  return sum;
}

/* Cuts the way from `pressed` to `rebound` where the energy would exceed that of `before`. Energy is a convex
   parabola on the way, below its bound at the start, so the bound is passed once. */
static void bound_rebound(const Partners *before, const Partners *pressed, Partners *rebound)
{
  const PetscReal bound = twice_energy(before), start = twice_energy(pressed), end = twice_energy(rebound);
  PetscReal       c2 = 0, c1, s;

  if (end <= bound * (1 + 1e-14))
    return;
  for (PetscInt i = 0; i < PAIR; i++)
    c2 += PetscSqr(rebound->at[i] - pressed->at[i]);
  c1 = end - start - c2;
  s = c2 > 0 ? (-c1 + PetscSqrtReal(PetscMax(0, c1 * c1 + 4 * c2 * (bound - start)))) / (2 * c2) : 0;
  blend(pressed, rebound, PetscMax(0, PetscMin(1, s)));
}

/* A kinematic body works on the other one: there is no bound. */
static PetscBool is_driven(Solid solid, const Contact *contact)
{
  return solid->bodies[contact->bodies[0]].config->kind == BODY_KINEMATIC ||
                 solid->bodies[contact->bodies[1]].config->kind == BODY_KINEMATIC
             ? PETSC_TRUE
             : PETSC_FALSE;
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

static Partners meet(const Contact *contact, const Scale scales[2], const Twist twists[])
{
  Partners partners;

  for (PetscInt side = 0; side < 2; side++) {
    const Freedoms y = scaled(&scales[side], &twists[contact->bodies[side]]);

    memcpy(&partners.at[side * FREEDOMS], y.at, sizeof(y.at));
  }
  return partners;
}

static void part(const Contact *contact, const Scale scales[2], const Partners *before, const Partners *after,
                 Twist twists[])
{
  for (PetscInt side = 0; side < 2; side++) {
    Twist    *twist = &twists[contact->bodies[side]], change;
    PetscReal y[FREEDOMS];

    for (PetscInt i = 0; i < FREEDOMS; i++)
      y[i] = after->at[side * FREEDOMS + i] - before->at[side * FREEDOMS + i];
    change = unscaled(&scales[side], y);
    twist->linear = vector3_add(twist->linear, change.linear);
    twist->angular = vector3_add(twist->angular, change.angular);
  }
}

static PetscBool collide_pair(ContactSet set, Solid solid, Contact *contact, PetscReal dt,
                              const Twist change[], Twist twists[])
{
  PetscInt       places[TOUCH_CAPACITY];
  PetscReal      bias[TOUCH_CAPACITY];
  const PetscInt count = approaching_places(set, solid, contact, dt, change, twists, places, bias);
  Scale          scales[2];
  Partners       before, pressed, rebound;
  Row            rows[TOUCH_CAPACITY];

  if (count == 0)
    return PETSC_FALSE;
  for (PetscInt side = 0; side < 2; side++)
    scales[side] = scale_of(&solid->mobilities[contact->bodies[side]]);
  for (PetscInt k = 0; k < count; k++) {
    rows[k] = make_row(solid, contact, &set->now.places[places[k]],
                       (const Scale *const[2]){&scales[0], &scales[1]}, twists);
    rows[k].bias += bias[k];
  }
  before = pressed = meet(contact, scales, twists);
  compress(rows, count, contact->rubbing.friction, 0.01 * slow_speed(contact, change, twists), &pressed);
  rebound = pressed;
  give_back(rows, count, &contact->rubbing, &rebound);
  if (!is_driven(solid, contact))
    bound_rebound(&before, &pressed, &rebound);
  part(contact, scales, &before, &rebound, twists);
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
