/* Step II: the impact of one pair with restitution (numerics.md, 8).

   A pair's approach is ended by impulses J with friction, then e times the normal part of J is given back,
   with friction bounded by the whole. The energy of the pair does not grow: the second part is cut if it
   would. */
#include "impacts.h"
#include "contact_row.h"

enum { PRESS_SWEEPS = 100 };

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

static void give_back(Row rows[], PetscInt count, const ContactLaw *law, Partners *partners)
{
  for (PetscInt k = 0; k < count; k++) {
    axis_push(&rows[k].normal, law->restitution * rows[k].impulse, PETSC_FALSE, partners);
    rows[k].impulse *= 1 + law->restitution;
  }
  if (law->friction > 0)
    for (PetscInt k = 0; k < count; k++)
      row_rub(&rows[k], law->friction * rows[k].impulse, PETSC_FALSE, partners);
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

PetscInt approaching_places(const Flight *flight, const Contact *contact, PetscReal time, PetscInt places[],
                            PetscReal bias[])
{
  const PetscReal slow = slow_speed(flight, contact);
  PetscInt        count = 0;
  PetscBool       approaching = PETSC_FALSE;

  for (PetscInt k = contact->first; k < contact->first + contact->count; k++) {
    const Touch *touch = &flight->set->now.places[k].touch;
    PetscReal    speed, change, room;
    Vector3      arms[2];

    flight_arms(flight, contact, touch, time, arms);
    speed = flight_speed(contact, touch, arms, flight->twists);
    change = flight_speed(contact, touch, arms, flight->change);
    /* gap + time speed + time^2/dt change, over what is left of the step */
    room = (flight_gap(flight, contact, touch) + time * (speed + time / flight->dt * change)) /
               (flight->dt - time) +
           (1 + time / flight->dt) * change;
    if (speed + room >= 0)
      continue;
    bias[count] = contact->law.restitution > 0 ? 0 : PetscMax(0, room);
    if (speed + bias[count] < -slow)
      approaching = PETSC_TRUE;
    places[count++] = k;
  }
  return approaching ? count : 0;
}

static Partners partners_of(const Contact *contact, const Scale scales[2], const Twist twists[])
{
  Partners partners;

  for (PetscInt side = 0; side < 2; side++) {
    const Freedoms y = scaled(&scales[side], &twists[contact->bodies[side]]);

    memcpy(&partners.at[side * TWIST], y.at, sizeof(y.at));
  }
  return partners;
}

/* By how much impulses at the places change the velocities of the pair. */
static void rebound_pair(const Flight *flight, const Contact *contact, const Scale scales[2], PetscInt count,
                         Row rows[], Twist won[2])
{
  const Partners before = partners_of(contact, scales, flight->twists);
  Partners       pressed = before, rebound;

  compress(rows, count, contact->law.friction, 0.01 * slow_speed(flight, contact), &pressed);
  rebound = pressed;
  give_back(rows, count, &contact->law, &rebound);
  if (!is_driven(flight->solid, contact))
    bound_rebound(&before, &pressed, &rebound);
  for (PetscInt side = 0; side < 2; side++) {
    PetscReal y[TWIST];

    for (PetscInt i = 0; i < TWIST; i++)
      y[i] = rebound.at[side * TWIST + i] - before.at[side * TWIST + i];
    won[side] = unscaled(&scales[side], y);
  }
}

/* Puts the pair where it is at `time`, with the velocities it has there. */
static void advance_pair(const Flight *flight, const Contact *contact, PetscReal time)
{
  const PetscReal forces = 2 * time / flight->dt;

  for (PetscInt side = 0; side < 2; side++) {
    const PetscInt b = contact->bodies[side];
    Twist         *twist = &flight->twists[b];

    flight->solid->placements[b].position = flight_position(flight, b, time);
    twist->linear = vector3_add(twist->linear, vector3_scale(forces, flight->change[b].linear));
    twist->angular = vector3_add(twist->angular, vector3_scale(forces, flight->change[b].angular));
  }
}

void strike(const Flight *flight, Contact *contact, PetscReal time, PetscInt count, ContactPlace places[],
            const PetscReal bias[])
{
  const PetscInt  a = contact->bodies[0], b = contact->bodies[1];
  RigidTransform *placements = flight->solid->placements;
  const Scale scales[2] = {scale_of(&flight->solid->mobilities[a]), scale_of(&flight->solid->mobilities[b])};
  const Vector3 positions[2] = {placements[a].position, placements[b].position};
  const Twist   twists[2] = {flight->twists[a], flight->twists[b]};
  Row           rows[TOUCH_CAPACITY];
  Twist         won[2];

  advance_pair(flight, contact, time);
  for (PetscInt k = 0; k < count; k++) {
    rows[k] = make_row(flight->solid, contact, &places[k], (const Scale *const[2]){&scales[0], &scales[1]},
                       flight->twists);
    rows[k].bias += bias[k];
  }
  rebound_pair(flight, contact, scales, count, rows, won);
  for (PetscInt side = 0; side < 2; side++) {
    const PetscInt body = contact->bodies[side];

    placements[body].position = positions[side];
    flight->twists[body] = twist_add(twists[side], won[side]);
    flight->shifts[body] = vector3_subtract(flight->shifts[body], vector3_scale(time, won[side].linear));
  }
  contact->met = PETSC_TRUE;
}
