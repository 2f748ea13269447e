/* Which bodies touch or may touch in the next step, and what is known of them from the last one. */
#include "contact_set.h"

#include "../../deformable/points.h"
#include "../../joint/joint.h"

PetscErrorCode ContactSetMarkJointed(ContactSet set, Solid solid, PetscReal dt)
{
  const PetscInt(*pairs)[2];
  PetscInt count;

  PetscFunctionBegin;
  PetscCall(PetscArrayzero(set->jointed, solid->body_count));
  PetscCall(JointSetGetPairs(solid->joints, &count, &pairs));
  for (PetscInt p = 0; p < count; p++)
    for (PetscInt side = 0; side < 2; side++)
      if (pairs[p][side] >= 0)
        set->jointed[pairs[p][side]] = PETSC_TRUE;
  springs_mark_jointed(solid, dt, set->jointed);
  PetscFunctionReturn(0);
}

PetscErrorCode ContactSetCreate(Solid solid, ContactSet *set)
{
  const PetscInt n = solid->body_count;
  ContactSet     s;

  PetscFunctionBegin;
  PetscCall(PetscNew(&s));
  PetscCall(PairFinderCreate(n, &s->finder));
  PetscCall(ContactGraphCreate(n, &s->graph));
  PetscCall(PetscCalloc3(n, &s->jointed, n, &s->grounded, n, &s->parents));
  PetscCall(ContactSetMarkJointed(s, solid, 0.));
  PetscCall(PetscCalloc5(n, &s->reaches, n, &s->boxes, n, &s->moves, n, &s->fixed, n, &s->centres));
  PetscCall(
      PetscMalloc6(n, &s->scales, n, &s->motions, n, &s->known, n, &s->last, n, &s->search, n, &s->swept));
  PetscCall(ImpactsCreate(n, &s->impacts));
  s->smallest = PETSC_MAX_REAL;
  for (PetscInt b = 0; b < n; b++)
    if (body_is_free(&solid->bodies[b]))
      s->smallest = PetscMin(s->smallest, solid->bodies[b].form->size);
  *set = s;
  PetscFunctionReturn(0);
}

static PetscErrorCode ListDestroy(ContactList *list)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(list->contacts));
  PetscCall(PetscFree(list->places));
  PetscFunctionReturn(0);
}

PetscErrorCode ContactSetDestroy(ContactSet *set)
{
  ContactSet s = *set;

  PetscFunctionBegin;
  if (!s)
    PetscFunctionReturn(0);
  PetscCall(PairFinderDestroy(&s->finder));
  PetscCall(ContactGraphDestroy(&s->graph));
  PetscCall(ListDestroy(&s->now));
  PetscCall(ListDestroy(&s->before));
  PetscCall(PetscFree3(s->jointed, s->grounded, s->parents));
  PetscCall(PetscFree5(s->reaches, s->boxes, s->moves, s->fixed, s->centres));
  PetscCall(PetscFree2(s->pairs, s->edges));
  PetscCall(PetscFree6(s->scales, s->motions, s->known, s->last, s->search, s->swept));
  PetscCall(ImpactsDestroy(&s->impacts));
  PetscCall(PetscFree(s->rows));
  PetscCall(PetscFree2(s->groups, s->rollings));
  PetscCall(PetscFree(*set));
  PetscFunctionReturn(0);
}

static PetscReal mean(PetscReal a, PetscReal b)
{
  return PetscSqrtReal(a * b);
}

static PetscBool names_match(const ContactPairConfig *pair, const char first[], const char second[])
{
  return (!strcmp(pair->first, first) && !strcmp(pair->second, second)) ||
                 (!strcmp(pair->first, second) && !strcmp(pair->second, first))
             ? PETSC_TRUE
             : PETSC_FALSE;
}

PetscBool find_contact_law(Solid solid, PetscInt a, PetscInt b, ContactLaw *law)
{
  const BodyConfig *first = solid->bodies[a].config, *second = solid->bodies[b].config;

  for (PetscInt p = 0; p < solid->config->pair_count; p++) {
    const ContactPairConfig *pair = &solid->config->pairs[p];

    if (!names_match(pair, first->name, second->name))
      continue;
    *law = (ContactLaw){pair->friction, pair->restitution, pair->rolling_friction};
    return pair->none ? PETSC_FALSE : PETSC_TRUE;
  }
  if (is_wall(solid, b)) /* what a wall is like nobody says */
    second = first;
  *law = (ContactLaw){mean(first->friction, second->friction), mean(first->restitution, second->restitution),
                      mean(first->rolling_friction, second->rolling_friction)};
  return PETSC_TRUE;
}

PetscErrorCode ContactListReserve(ContactList *list, PetscInt contacts, PetscInt places)
{
  PetscFunctionBegin;
  if (contacts > list->capacity) {
    list->capacity = 2 * contacts;
    PetscCall(PetscRealloc((size_t)list->capacity * sizeof(*list->contacts), &list->contacts));
  }
  if (places > list->place_capacity) {
    list->place_capacity = 2 * places;
    PetscCall(PetscRealloc((size_t)list->place_capacity * sizeof(*list->places), &list->places));
  }
  PetscFunctionReturn(0);
}

static int compare_pairs(const PetscInt a[2], const PetscInt b[2])
{
  if (a[0] != b[0])
    return a[0] < b[0] ? -1 : 1;
  return a[1] < b[1] ? -1 : a[1] > b[1];
}

/* Seen from the one of the two bodies that moves, a place stays where it is from step to step. */
static Vector3 place_arm(Solid solid, const PetscInt pair[2], const Touch *touch)
{
  const PetscInt carrier = body_is_free(&solid->bodies[pair[0]]) ? pair[0] : pair[1];

  return vector3_subtract(touch->point, solid->placements[carrier].position);
}

/* The impulses of the nearest place of the last step, if it is near enough to be the same; each is taken
 * once. */
static void recall_place(ContactList *before, const Contact *old, PetscReal size, ContactPlace *place)
{
  PetscReal     nearest = PetscSqr(0.1 * size);
  ContactPlace *same = NULL;

  for (PetscInt k = 0; k < old->count; k++) {
    ContactPlace   *known = &before->places[old->first + k];
    const Vector3   way = vector3_subtract(known->arm, place->arm);
    const PetscReal distance = vector3_dot(way, way);

    if (known->taken || distance >= nearest)
      continue;
    nearest = distance;
    same = known;
  }
  if (!same)
    return;
  same->taken = PETSC_TRUE;
  memcpy(place->impulses, same->impulses, sizeof(place->impulses));
}

/* Takes up the pair's touches, with what is remembered of it in `old` (or null). */
static PetscErrorCode AddContact(ContactSet set, Solid solid, const PetscInt pair[2], const Contact *old,
                                 PetscInt count, const Touch touches[])
{
  ContactList    *now = &set->now;
  const PetscReal size = PetscMin(solid->bodies[pair[0]].form->size, solid->bodies[pair[1]].form->size);
  Contact        *contact;
  ContactLaw      law;

  PetscFunctionBegin;
  if (old)
    law = old->law;
  else if (!find_contact_law(solid, pair[0], pair[1], &law))
    PetscFunctionReturn(0);
  PetscCall(ContactListReserve(now, now->count + 1, now->place_count + count));
  contact = &now->contacts[now->count++];
  *contact = (Contact){.bodies = {pair[0], pair[1]}, .first = now->place_count, .count = count, .law = law};
  contact->slack = solid->config->tolerance * size;
  if (old) {
    contact->met = old->met;
    memcpy(contact->rolling, old->rolling, sizeof(contact->rolling));
  }
  for (PetscInt k = 0; k < count; k++) {
    ContactPlace *place = &now->places[now->place_count++];

    *place = (ContactPlace){.touch = touches[k], .arm = place_arm(solid, pair, &touches[k])};
    if (old)
      recall_place(&set->before, old, size, place);
  }
  PetscFunctionReturn(0);
}

PetscReal body_path(const Body *body, const Twist *twist, PetscReal dt)
{
  const PetscReal spin = vector3_norm(twist->angular);

  return dt * (vector3_norm(twist->linear) + (spin > 0 ? spin * body->form->reach : 0));
}

static void set_boxes(ContactSet set, Solid solid, PetscReal dt, const Twist twists[])
{
  for (PetscInt b = 0; b < solid->body_count; b++) {
    const Body     *body = &solid->bodies[b];
    const PetscReal rest = body_is_free(body) ? 0.02 * body->form->size : 0;

    set->moves[b] = body_is_free(body);
    set->reaches[b] = body->form->kind == FORM_PLANE ? 0 : rest + 1.1 * body_path(body, &twists[b], dt);
    set->boxes[b] = form_bounds(body->form, &solid->placements[b]);
    for (PetscInt d = 0; d < DIM; d++) {
      set->boxes[b].low.at[d] -= set->reaches[b];
      set->boxes[b].high.at[d] += set->reaches[b];
    }
  }
}

PetscBool contact_set_covers(ContactSet set, Solid solid, PetscReal dt, const Twist twists[])
{
  if (!set->valid)
    return PETSC_FALSE;
  for (PetscInt b = 0; b < solid->body_count; b++)
    if (solid->bodies[b].form->kind != FORM_PLANE &&
        body_path(&solid->bodies[b], &twists[b], dt) > set->reaches[b])
      return PETSC_FALSE;
  return PETSC_TRUE;
}

/* Walks the sorted pairs and, beside them, the sorted contacts of the last step and the jointed pairs. */
PetscErrorCode ContactSetFind(ContactSet set, Solid solid, PetscReal dt, const Twist twists[])
{
  const PetscInt(*pairs)[2], (*jointed)[2] = NULL;
  PetscInt          pair_count, jointed_count = 0, joint = 0, old = 0;
  const ContactList last = set->before;
  Touch             touches[TOUCH_CAPACITY];

  PetscFunctionBegin;
  set->before = set->now;
  set->now = last;
  set->now.count = set->now.place_count = 0;
  set_boxes(set, solid, dt, twists);
  if (solid->joints)
    PetscCall(JointSetGetPairs(solid->joints, &jointed_count, &jointed));
  PetscCall(PairFinderFind(set->finder, set->boxes, set->moves, &pair_count, &pairs));
  for (PetscInt p = 0; p < pair_count; p++) {
    const PetscInt a = pairs[p][0], b = pairs[p][1];
    PetscInt       count;
    PetscBool      known;

    while (joint < jointed_count && compare_pairs(jointed[joint], pairs[p]) < 0)
      joint++;
    if (joint < jointed_count && !compare_pairs(jointed[joint], pairs[p]))
      continue;
    count = find_touches(solid->bodies[a].form, &solid->placements[a], solid->bodies[b].form,
                         &solid->placements[b], set->reaches[a] + set->reaches[b], touches);
    if (!count)
      continue;
    while (old < set->before.count && compare_pairs(set->before.contacts[old].bodies, pairs[p]) < 0)
      old++;
    known = old < set->before.count && !compare_pairs(set->before.contacts[old].bodies, pairs[p]);
    PetscCall(AddContact(set, solid, pairs[p], known ? &set->before.contacts[old] : NULL, count, touches));
  }
  set->valid = PETSC_TRUE;
  PetscFunctionReturn(0);
}

/* Whether a place of it touches, and neither opens nor closes by more than its slack. */
static PetscBool rests(const ContactSet set, Solid solid, const Contact *contact, PetscReal dt)
{
  for (PetscInt k = 0; k < contact->count; k++) {
    const Touch    *touch = &set->now.places[contact->first + k].touch;
    const PetscReal way = dt * opening_speed(solid, contact, touch, solid->twists);

    if (touch->gap <= contact->slack && PetscAbsReal(way) <= contact->slack)
      return PETSC_TRUE;
  }
  return PETSC_FALSE;
}

PetscErrorCode ContactSetKeepResting(ContactSet set, Solid solid, PetscReal dt)
{
  PetscInt kept = 0;

  PetscFunctionBegin;
  for (PetscInt c = 0; c < set->now.count; c++) {
    if (!rests(set, solid, &set->now.contacts[c], dt))
      continue;
    set->now.contacts[kept] = set->now.contacts[c];
    set->now.contacts[kept++].met = PETSC_TRUE;
  }
  set->now.count = kept;
  set->valid = PETSC_FALSE;
  PetscFunctionReturn(0);
}

PetscReal contact_set_penetration(ContactSet set)
{
  PetscReal deepest = 0;

  for (PetscInt k = 0; k < set->now.place_count; k++)
    deepest = PetscMax(deepest, -set->now.places[k].touch.gap);
  return deepest;
}

PetscErrorCode ContactSetBroadcast(ContactSet set, Solid solid, MPI_Comm world, PetscMPIInt root)
{
  ContactList *now = &set->now;
  PetscInt     counts[4] = {now->count, now->place_count, set->edge_count, set->valid};
  PetscMPIInt  rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(world, &rank));
  PetscCallMPI(MPI_Bcast(counts, 4, MPIU_INT, root, world));
  PetscCall(ContactListReserve(now, counts[0], counts[1]));
  PetscCall(ContactSetReserveEdges(set, counts[0]));
  now->count = counts[0];
  now->place_count = counts[1];
  set->edge_count = counts[2];
  set->valid = counts[3] ? PETSC_TRUE : PETSC_FALSE;
  PetscCallMPI(MPI_Bcast(now->contacts, (PetscMPIInt)((size_t)now->count * sizeof(*now->contacts)), MPI_BYTE,
                         root, world));
  PetscCallMPI(MPI_Bcast(now->places, (PetscMPIInt)((size_t)now->place_count * sizeof(*now->places)),
                         MPI_BYTE, root, world));
  PetscCallMPI(MPI_Bcast(set->edges, (PetscMPIInt)(2 * set->edge_count), MPIU_INT, root, world));
  PetscCallMPI(MPI_Bcast(set->reaches, (PetscMPIInt)solid->body_count, MPIU_REAL, root, world));
  if (rank != root)
    PetscCall(ContactSetSort(set, solid));
  PetscFunctionReturn(0);
}

static PetscErrorCode CheckContact(const ContactList *list, const Contact *contact, PetscInt body_count)
{
  PetscFunctionBegin;
  for (PetscInt side = 0; side < 2; side++)
    PetscCheck(contact->bodies[side] >= 0 && contact->bodies[side] < body_count, PETSC_COMM_SELF,
               PETSC_ERR_PLIB, "A contact has the body %" PetscInt_FMT, contact->bodies[side]);
  PetscCheck(contact->first >= 0 && contact->count >= 0 &&
                 contact->first + contact->count <= list->place_count,
             PETSC_COMM_SELF, PETSC_ERR_PLIB, "A contact has places that are not there");
  for (PetscInt p = contact->first; p < contact->first + contact->count; p++)
    PetscCheck(PetscAbsReal(vector3_norm(list->places[p].touch.normal) - 1.) < 1e-9, PETSC_COMM_SELF,
               PETSC_ERR_PLIB, "The normal of a contact has the length %g",
               (double)vector3_norm(list->places[p].touch.normal));
  PetscFunctionReturn(0);
}

PetscErrorCode ContactSetCheck(ContactSet set, PetscInt body_count)
{
  PetscFunctionBegin;
  for (PetscInt c = 0; c < set->now.count; c++)
    PetscCall(CheckContact(&set->now, &set->now.contacts[c], body_count));
  PetscFunctionReturn(0);
}
