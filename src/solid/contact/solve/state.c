/* Contacts in checkpoints: a run that goes on starts its solves from the same impulses. Whole numbers are
   stored as reals, which hold them exactly. */
#include "contact_set.h"

enum { CONTACT_WIDTH = 15, PLACE_WIDTH = 17 };

static PetscReal *put(PetscReal *at, Vector3 v)
{
  memcpy(at, v.at, sizeof(v.at));
  return at + DIM;
}

static Vector3 get(const PetscReal at[])
{
  return vector3(at[X], at[Y], at[Z]);
}

static void pack_contact(const Contact *contact, PetscReal *row)
{
  row[0] = (PetscReal)contact->bodies[0];
  row[1] = (PetscReal)contact->bodies[1];
  row[2] = (PetscReal)contact->first;
  row[3] = (PetscReal)contact->count;
  row[4] = contact->met;
  row[5] = contact->law.friction;
  row[6] = contact->law.restitution;
  row[7] = contact->law.rolling_friction;
  row[8] = contact->slack;
  put(put(row + 9, contact->rolling[PHASE_POSITION]), contact->rolling[PHASE_VELOCITY]);
}

static Contact unpack_contact(const PetscReal *row)
{
  return (Contact){.bodies = {(PetscInt)row[0], (PetscInt)row[1]},
                   .first = (PetscInt)row[2],
                   .count = (PetscInt)row[3],
                   .met = row[4] != 0 ? PETSC_TRUE : PETSC_FALSE,
                   .law = {row[5], row[6], row[7]},
                   .slack = row[8],
                   .rolling = {get(row + 9), get(row + 12)}};
}

static void pack_place(const ContactPlace *place, PetscReal *row)
{
  row = put(put(row, place->touch.point), place->touch.normal);
  *row++ = place->touch.gap;
  *row++ = (PetscReal)place->touch.feature;
  put(put(put(row, place->arm), place->impulses[PHASE_POSITION]), place->impulses[PHASE_VELOCITY]);
}

static ContactPlace unpack_place(const PetscReal *row)
{
  return (ContactPlace){.touch = {get(row), get(row + 3), row[6], (uint32_t)row[7]},
                        .arm = get(row + 8),
                        .impulses = {get(row + 11), get(row + 14)}};
}

/* What rests on what; the levels follow from it. */
static PetscErrorCode SaveEdges(ContactSet set, Archive archive)
{
  PetscReal *edges;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(2 * set->edge_count, &edges));
  for (PetscInt e = 0; e < 2 * set->edge_count; e++)
    edges[e] = (PetscReal)set->edges[e / 2][e % 2];
  PetscCall(ArchiveWriteInteger(archive, "edge_count", set->edge_count));
  PetscCall(ArchiveWriteShared(archive, "edges", set->edge_count, 2, edges));
  PetscCall(PetscFree(edges));
  PetscFunctionReturn(0);
}

/* Whether a real is a whole number from 0 to below `end`. */
static PetscBool is_index(PetscReal value, PetscReal end)
{
  return value >= 0. && value < end && value == PetscFloorReal(value) ? PETSC_TRUE : PETSC_FALSE;
}

/* A contact gives one edge for each direction at most. */
static PetscErrorCode LoadEdges(ContactSet set, Solid solid, Archive archive)
{
  PetscInt64 count;
  PetscReal *edges;

  PetscFunctionBegin;
  PetscCall(ArchiveReadCount(archive, "edge_count", 0, 2 * (PetscInt64)set->now.count, &count));
  PetscCall(ArchiveReadTable(archive, "edges", (PetscInt)count, 2, &edges));
  for (PetscInt e = 0; e < 2 * (PetscInt)count; e++)
    if (!is_index(edges[e], solid->body_count))
      PetscCall(ArchiveRefuse(archive, "edges", "names body %g of %" PetscInt_FMT, (double)edges[e],
                              solid->body_count));
  PetscCall(ContactSetReserveEdges(set, set->now.count));
  set->edge_count = (PetscInt)count;
  for (PetscInt e = 0; e < 2 * set->edge_count; e++)
    set->edges[e / 2][e % 2] = (PetscInt)edges[e];
  PetscCall(PetscFree(edges));
  PetscCall(ContactSetSort(set, solid));
  PetscFunctionReturn(0);
}

PetscErrorCode ContactSetSave(ContactSet set, Solid solid, Archive archive)
{
  const ContactList *now = &set->now;
  PetscReal         *contacts, *places;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(CONTACT_WIDTH * now->count, &contacts, PLACE_WIDTH * now->place_count, &places));
  for (PetscInt c = 0; c < now->count; c++)
    pack_contact(&now->contacts[c], contacts + CONTACT_WIDTH * c);
  for (PetscInt p = 0; p < now->place_count; p++)
    pack_place(&now->places[p], places + PLACE_WIDTH * p);
  PetscCall(ArchiveWriteInteger(archive, "contact_count", now->count));
  PetscCall(ArchiveWriteInteger(archive, "place_count", now->place_count));
  PetscCall(ArchiveWriteInteger(archive, "contacts_valid", set->valid));
  PetscCall(ArchiveWriteShared(archive, "contacts", now->count, CONTACT_WIDTH, contacts));
  PetscCall(ArchiveWriteShared(archive, "places", now->place_count, PLACE_WIDTH, places));
  PetscCall(ArchiveWriteShared(archive, "reaches", solid->body_count, 1, set->reaches));
  PetscCall(SaveEdges(set, archive));
  PetscCall(PetscFree2(contacts, places));
  PetscFunctionReturn(0);
}

/* Pairs of bodies in ascending order; the places of one contact follow those of the one before it. */
static PetscErrorCode CheckContacts(Archive archive, Solid solid, PetscInt count, PetscInt place_count,
                                    const PetscReal contacts[])
{
  PetscReal first = 0., last[2] = {-1., -1.};

  PetscFunctionBegin;
  for (PetscInt c = 0; c < count; c++) {
    const PetscReal *row = contacts + CONTACT_WIDTH * c;

    if (!is_index(row[0], solid->body_count) || !is_index(row[1], solid->body_count) || row[0] == row[1])
      PetscCall(ArchiveRefuse(archive, "contacts", "has bodies %g and %g of %" PetscInt_FMT " touch",
                              (double)row[0], (double)row[1], solid->body_count));
    if (row[0] < last[0] || (row[0] == last[0] && row[1] <= last[1]))
      PetscCall(ArchiveRefuse(archive, "contacts", "is not in order in row %" PetscInt_FMT, c));
    if (row[2] != first || !is_index(row[3], TOUCH_CAPACITY + 1.) || first + row[3] > place_count)
      PetscCall(ArchiveRefuse(archive, "contacts", "has %g places from %g on, of %" PetscInt_FMT,
                              (double)row[3], (double)row[2], place_count));
    for (PetscInt n = 5; n < 9; n++)
      if (!(row[n] >= 0.))
        PetscCall(ArchiveRefuse(archive, "contacts", "has a negative friction, restitution or slack"));
    first += row[3];
    last[0] = row[0];
    last[1] = row[1];
  }
  if (first != place_count)
    PetscCall(
        ArchiveRefuse(archive, "contacts", "has %g places of %" PetscInt_FMT, (double)first, place_count));
  PetscFunctionReturn(0);
}

static PetscErrorCode CheckPlaces(Archive archive, PetscInt count, const PetscReal places[])
{
  PetscFunctionBegin;
  for (PetscInt p = 0; p < count; p++)
    if (!is_index(places[PLACE_WIDTH * p + 7], UINT32_MAX + 1.))
      PetscCall(ArchiveRefuse(archive, "places", "names feature %g", (double)places[PLACE_WIDTH * p + 7]));
  PetscFunctionReturn(0);
}

static PetscErrorCode LoadReaches(ContactSet set, Solid solid, Archive archive)
{
  PetscFunctionBegin;
  PetscCall(ArchiveReadShared(archive, "reaches", solid->body_count, 1, set->reaches));
  for (PetscInt b = 0; b < solid->body_count; b++)
    if (!(set->reaches[b] >= 0.))
      PetscCall(ArchiveRefuse(archive, "reaches", "is negative for body %" PetscInt_FMT, b));
  PetscFunctionReturn(0);
}

PetscErrorCode ContactSetLoad(ContactSet set, Solid solid, Archive archive)
{
  const PetscInt most = PETSC_MAX_INT / (2 * PLACE_WIDTH); /* lists double when they grow */
  ContactList   *now = &set->now;
  PetscInt64     contact_count, place_count, valid;
  PetscReal     *contacts, *places;

  PetscFunctionBegin;
  PetscCall(ArchiveReadCount(archive, "contact_count", 0, most, &contact_count));
  PetscCall(ArchiveReadCount(archive, "place_count", 0, most, &place_count));
  PetscCall(ArchiveReadCount(archive, "contacts_valid", 0, 1, &valid));
  PetscCall(ArchiveReadTable(archive, "contacts", (PetscInt)contact_count, CONTACT_WIDTH, &contacts));
  PetscCall(ArchiveReadTable(archive, "places", (PetscInt)place_count, PLACE_WIDTH, &places));
  PetscCall(CheckContacts(archive, solid, (PetscInt)contact_count, (PetscInt)place_count, contacts));
  PetscCall(CheckPlaces(archive, (PetscInt)place_count, places));
  PetscCall(LoadReaches(set, solid, archive));
  PetscCall(ContactListReserve(now, (PetscInt)contact_count, (PetscInt)place_count));
  now->count = (PetscInt)contact_count;
  now->place_count = (PetscInt)place_count;
  set->valid = valid ? PETSC_TRUE : PETSC_FALSE;
  for (PetscInt c = 0; c < now->count; c++)
    now->contacts[c] = unpack_contact(contacts + CONTACT_WIDTH * c);
  for (PetscInt p = 0; p < now->place_count; p++)
    now->places[p] = unpack_place(places + PLACE_WIDTH * p);
  PetscCall(LoadEdges(set, solid, archive));
  PetscCall(PetscFree(contacts));
  PetscCall(PetscFree(places));
  PetscFunctionReturn(0);
}
