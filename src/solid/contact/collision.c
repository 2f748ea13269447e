/* Step II: impacts with restitution, one pair at a time, by the velocities of time n (numerics.md, 8).

   A pair's approach is ended by impulses J with friction, then e times the normal part of J is given back,
   with friction bounded by the whole. The energy of the pair does not grow: the second part is cut if it
   would. */
#include "row.h"

enum { PRESS_SWEEPS = 100, ROUNDS = 2000 };

typedef struct {
  Twist a, b;
} TwoTwists;

static PetscReal largest_speed(const TwoTwists *v)
{
  return vector3_norm(v->a.linear) + vector3_norm(v->b.linear);
}

/* Ends the approach at all rows, with friction. */
static void compress(Row rows[], PetscInt count, PetscReal friction, const PetscReal inverse[2], TwoTwists *v)
{
  const PetscReal small = 1e-14 * largest_speed(v);

  for (PetscInt sweep = 0; sweep < PRESS_SWEEPS; sweep++) {
    PetscReal change = 0;

    for (PetscInt k = 0; k < count; k++) {
      PetscReal pressed;

      if (friction > 0)
        row_rub(&rows[k], friction * rows[k].impulse, inverse[0], inverse[1], &v->a, &v->b);
      pressed = row_press(&rows[k], inverse[0], inverse[1], &v->a, &v->b);
      change = PetscMax(change, pressed);
    }
    if (change <= small || (count == 1 && !(friction > 0)))
      break;
  }
}

static void give_back(Row rows[], PetscInt count, const Rubbing *rubbing, const PetscReal inverse[2],
                      TwoTwists *v)
{
  for (PetscInt k = 0; k < count; k++) {
    axis_push(&rows[k].normal, rubbing->restitution * rows[k].impulse, inverse[0], inverse[1], &v->a, &v->b);
    rows[k].impulse *= 1 + rubbing->restitution;
  }
  if (rubbing->friction > 0)
    for (PetscInt k = 0; k < count; k++)
      row_rub(&rows[k], rubbing->friction * rows[k].impulse, inverse[0], inverse[1], &v->a, &v->b);
}

static PetscReal body_energy(const Body *body, const Placement *placement, const Twist *twist)
{
  if (!body_is_free(body))
    return 0;
  return 0.5 * body->mass * vector3_dot(twist->linear, twist->linear) +
         0.5 * vector3_dot(twist->angular, body_angular_momentum(body, placement, twist->angular));
}

static Twist twist_blend(const Twist *a, const Twist *b, PetscReal s)
{
  Twist blend;

  blend.linear = vector3_add(a->linear, vector3_scale(s, vector3_subtract(b->linear, a->linear)));
  blend.angular = vector3_add(a->angular, vector3_scale(s, vector3_subtract(b->angular, a->angular)));
  return blend;
}

static PetscReal pair_energy(Solid solid, const Contact *contact, const TwoTwists *v)
{
  const PetscInt a = contact->bodies[0], b = contact->bodies[1];

  return body_energy(&solid->bodies[a], &solid->placements[a], &v->a) +
         body_energy(&solid->bodies[b], &solid->placements[b], &v->b);
}

/* Of the way from `pressed` to `rebound`, as much as leaves the energy below that of `before`. Energy is a
   convex parabola on the way, below its bound at the start, so the bound is passed once. */
static TwoTwists bounded_rebound(Solid solid, const Contact *contact, const TwoTwists *before,
                                 const TwoTwists *pressed, const TwoTwists *rebound)
{
  const PetscReal bound = pair_energy(solid, contact, before);
  const PetscReal start = pair_energy(solid, contact, pressed), end = pair_energy(solid, contact, rebound);
  TwoTwists middle = {twist_blend(&pressed->a, &rebound->a, 0.5), twist_blend(&pressed->b, &rebound->b, 0.5)};
  PetscReal half, c2, c1, s;

  /* a kinematic body works on the other one: there is no bound */
  if (end <= bound * (1 + 1e-14) || solid->bodies[contact->bodies[0]].config->kind == BODY_KINEMATIC ||
      solid->bodies[contact->bodies[1]].config->kind == BODY_KINEMATIC)
    return *rebound;
  half = pair_energy(solid, contact, &middle);
  c2 = 2 * (end + start - 2 * half);
  c1 = end - start - c2;
  s = c2 > 0 ? (-c1 + PetscSqrtReal(PetscMax(0, c1 * c1 + 4 * c2 * (bound - start)))) / (2 * c2) : 0;
  s = PetscMax(0, PetscMin(1, s));
  return (TwoTwists){twist_blend(&pressed->a, &rebound->a, s), twist_blend(&pressed->b, &rebound->b, s)};
}

/* The places that would be inside at the end of the step, if one of them approaches by `twists` faster than
   forces bring bodies together in a step. Inelastic ones may close their gap. */
static PetscInt approaching_rows(ContactSet set, Solid solid, const Contact *contact, PetscReal dt,
                                 const Twist change[], const Twist twists[], Row rows[])
{
  const PetscInt  a = contact->bodies[0], b = contact->bodies[1];
  const PetscReal slow = 2 * (vector3_norm(change[a].linear) + vector3_norm(change[b].linear)) +
                         1e-12 * (vector3_norm(twists[a].linear) + vector3_norm(twists[b].linear));
  PetscInt  count = 0;
  PetscBool approaching = PETSC_FALSE;

  for (PetscInt k = 0; k < contact->count; k++) {
    ContactPlace   *place = &set->now.places[contact->first + k];
    Row             row = make_row(solid, contact, place);
    const PetscReal speed = axis_speed(&row.normal, &twists[a], &twists[b]);
    const PetscReal room = place->touch.gap / dt + axis_speed(&row.normal, &change[a], &change[b]);

    if (speed + room >= 0)
      continue;
    if (!(contact->rubbing.restitution > 0))
      row.bias = PetscMax(0, room);
    if (speed + row.bias < -slow)
      approaching = PETSC_TRUE;
    rows[count++] = row;
  }
  return approaching ? count : 0;
}

static PetscBool collide_pair(ContactSet set, Solid solid, Contact *contact, PetscReal dt,
                              const Twist change[], Twist twists[])
{
  const PetscInt  a = contact->bodies[0], b = contact->bodies[1];
  const PetscReal inverse[2] = {solid->mobilities[a].inverse_mass, solid->mobilities[b].inverse_mass};
  Row             rows[TOUCH_CAPACITY];
  const PetscInt  count = approaching_rows(set, solid, contact, dt, change, twists, rows);
  TwoTwists       before = {twists[a], twists[b]}, pressed, rebound;

  if (count == 0)
    return PETSC_FALSE;
  pressed = before;
  compress(rows, count, contact->rubbing.friction, inverse, &pressed);
  rebound = pressed;
  give_back(rows, count, &contact->rubbing, inverse, &rebound);
  rebound = bounded_rebound(solid, contact, &before, &pressed, &rebound);
  twists[a] = rebound.a;
  twists[b] = rebound.b;
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
