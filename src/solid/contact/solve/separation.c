/* Step IV, second half: what still overlaps after the bodies have moved is pushed apart, a body at a time
   with all its neighbours (3.6.1), from the ground upwards. */
#include "contact_set.h"
#include "push_out.h"

enum { ROUNDS = 10, OUTERS = 64 };

/* Contacts by body, in the form of rows: those of body b are items[starts[b]] to items[starts[b + 1]]. */
typedef struct {
  PetscInt  *starts, *items, *bodies; /* `bodies`: from the lowest level to the highest */
  PetscReal *excess;                  /* of contacts: their depth over their slack */
} Neighbours;

/* Zero for bodies with joints or springs that act as such, which a push would tear apart: III moves them. */
static PetscReal contact_depth(const ContactSet set, const Contact *contact, PetscInt *deepest)
{
  PetscReal depth = 0;

  if (set->jointed[contact->bodies[0]] || set->jointed[contact->bodies[1]])
    return 0;
  for (PetscInt k = contact->first; k < contact->first + contact->count; k++)
    if (-set->now.places[k].touch.gap > depth) {
      depth = -set->now.places[k].touch.gap;
      *deepest = k;
    }
  return depth;
}

static PetscReal contact_excess(const ContactSet set, const Contact *contact)
{
  PetscInt k;

  return contact_depth(set, contact, &k) / contact->slack;
}

static PetscBool is_clear(const ContactSet set, const PetscReal excess[])
{
  for (PetscInt c = 0; c < set->now.count; c++)
    if (excess[c] > 1)
      return PETSC_FALSE;
  return PETSC_TRUE;
}

static PetscErrorCode NeighboursCreate(const ContactSet set, Solid solid, Neighbours *neighbours)
{
  PetscInt  *starts, *items, *filled, *bodies, *counts;
  PetscReal *excess;

  PetscFunctionBegin;
  PetscCall(PetscCalloc4(solid->body_count + 1, &starts, 2 * set->now.count, &items, solid->body_count,
                         &bodies, set->now.count, &excess));
  PetscCall(PetscCalloc2(solid->body_count, &filled, set->level_count + 1, &counts));
  for (PetscInt c = 0; c < set->now.count; c++) {
    excess[c] = contact_excess(set, &set->now.contacts[c]);
    for (PetscInt side = 0; side < 2; side++)
      starts[set->now.contacts[c].bodies[side] + 1]++;
  }
  for (PetscInt b = 0; b < solid->body_count; b++) {
    starts[b + 1] += starts[b];
    counts[set->levels[b] + 1]++;
  }
  for (PetscInt c = 0; c < set->now.count; c++)
    for (PetscInt side = 0; side < 2; side++) {
      const PetscInt b = set->now.contacts[c].bodies[side];

      items[starts[b] + filled[b]++] = c;
    }
  for (PetscInt level = 0; level < set->level_count; level++)
    counts[level + 1] += counts[level];
  for (PetscInt b = 0; b < solid->body_count; b++)
    bodies[counts[set->levels[b]]++] = b;
  PetscCall(PetscFree2(filled, counts));
  *neighbours = (Neighbours){starts, items, bodies, excess};
  PetscFunctionReturn(0);
}

/* The gaps of a body's contacts after it has moved a little. */
static void follow(ContactSet set, Solid solid, const Neighbours *neighbours, PetscInt body,
                   const Twist *move)
{
  for (PetscInt n = neighbours->starts[body]; n < neighbours->starts[body + 1]; n++) {
    const Contact  *contact = &set->now.contacts[neighbours->items[n]];
    const PetscReal sign = contact->bodies[1] == body ? 1 : -1;

    for (PetscInt k = contact->first; k < contact->first + contact->count; k++) {
      Touch        *touch = &set->now.places[k].touch;
      const Vector3 arm = vector3_subtract(touch->point, solid->placements[body].position);

      touch->gap += sign * vector3_dot(touch->normal, twist_at(move, arm));
    }
    neighbours->excess[neighbours->items[n]] = contact_excess(set, contact);
  }
}

/* A body that is put elsewhere keeps its velocity. Unless it hangs together with what cannot move, it also
   keeps its angular momentum about any fixed point, by its spin; a ball that slides along a wall would turn.
 */
static void apply_move(ContactSet set, Solid solid, const Neighbours *neighbours, PetscInt b,
                       const Twist *move)
{
  const Body *body = &solid->bodies[b];
  Twist      *twist = &solid->twists[b];
  Vector3     spinning;

  if (!body_is_free(body))
    return;
  follow(set, solid, neighbours, b, move);
  spinning = body_angular_momentum(body, &solid->placements[b], twist->angular);
  if (!set->grounded[b])
    spinning =
        vector3_subtract(spinning, vector3_scale(body->mass, vector3_cross(move->linear, twist->linear)));
  solid->placements[b] = rigid_moved(&solid->placements[b], move->linear, move->angular);
  solid_refresh_mobility(solid, b);
  set->centres[b] = solid->placements[b].position;
  twist->angular = body_spin(body, &solid->placements[b], spinning);
}

/* Everything that overlaps `central`, at its deepest place. */
static PetscInt collect_outers(const ContactSet set, const Neighbours *neighbours, PetscInt central,
                               Outer outers[])
{
  PetscInt count = 0;

  for (PetscInt n = neighbours->starts[central]; n < neighbours->starts[central + 1] && count < OUTERS; n++) {
    const Contact *contact = &set->now.contacts[neighbours->items[n]];
    const PetscInt side = contact->bodies[0] == central ? 1 : 0;
    PetscReal      depth;
    PetscInt       k = 0;
    Vector3        normal;

    if (neighbours->excess[neighbours->items[n]] <= 0.5)
      continue;
    depth = contact_depth(set, contact, &k);
    normal = vector3_scale(side == 1 ? 1 : -1, set->now.places[k].touch.normal);
    outers[count++] = (Outer){.body = contact->bodies[side],
                              .point = set->now.places[k].touch.point,
                              .separation = vector3_scale(depth, normal),
                              .normal = normal};
  }
  return count;
}

static PetscBool separate_from(ContactSet set, Solid solid, const Neighbours *neighbours, PetscInt central)
{
  Outer          outers[OUTERS];
  Twist          moves[OUTERS], central_move;
  const PetscInt count = collect_outers(set, neighbours, central, outers);

  if (!count)
    return PETSC_FALSE;
  push_out(PUSH_ALONG_NORMALS, set->centres, solid->mobilities, central, count, outers, &central_move, moves);
  apply_move(set, solid, neighbours, central, &central_move);
  for (PetscInt o = 0; o < count; o++)
    apply_move(set, solid, neighbours, outers[o].body, &moves[o]);
  return PETSC_TRUE;
}

PetscErrorCode ContactSetSeparate(ContactSet set, Solid solid, PetscInt *push_outs)
{
  Neighbours neighbours;
  PetscInt   c = 0;

  PetscFunctionBegin;
  *push_outs = 0;
  while (c < set->now.count && contact_excess(set, &set->now.contacts[c]) <= 1)
    c++;
  if (c == set->now.count)
    PetscFunctionReturn(0);
  PetscCall(NeighboursCreate(set, solid, &neighbours));
  for (PetscInt b = 0; b < solid->body_count; b++)
    set->centres[b] = solid->placements[b].position;
  for (PetscInt round = 0; round < ROUNDS && !is_clear(set, neighbours.excess); round++)
    for (PetscInt b = 0; b < solid->body_count; b++)
      if (separate_from(set, solid, &neighbours, neighbours.bodies[b]))
        ++*push_outs;
  PetscCall(PetscFree4(neighbours.starts, neighbours.items, neighbours.bodies, neighbours.excess));
  PetscFunctionReturn(0);
}
