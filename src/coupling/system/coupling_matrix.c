/* B = V G^T W: what the velocities of bodies bring into cells through mixed faces, entry by entry, with the
   products that the solvers need. */
#include "../coupling_impl.h"

PetscErrorCode EntryListAdd(EntryList *list, Entry entry)
{
  PetscFunctionBegin;
  PetscCall(GrowList(list->count, &list->room, &list->entries));
  list->entries[list->count++] = entry;
  PetscFunctionReturn(0);
}

PetscErrorCode CouplingAddRow(Coupling coupling, PetscInt cell, PetscInt body, const PetscReal row[TWIST])
{
  PetscFunctionBegin;
  for (PetscInt half = 0; half < TWIST; half += DIM) {
    const int first = (int)(TWIST * body + half);
    Entry     entry = {.cell = (int)cell, .into = {first, first + 1, first + 2}};

    for (PetscInt n = 0; n < DIM; n++)
      entry.by[n] = row[half + n];
    PetscCall(EntryListAdd(&coupling->all_entries, entry));
    for (PetscInt n = 0; n < DIM; n++)
      entry.into[n] += (int)(TWIST * (coupling->bodies[body].free - body));
    if (coupling->bodies[body].free >= 0)
      PetscCall(EntryListAdd(&coupling->free_entries, entry));
  }
  PetscFunctionReturn(0);
}

/* The number of a cell in solver vectors, or -1 if it is another rank's or not part of the problem. */
static PetscInt cell_number(Coupling coupling, const PetscInt at[DIM])
{
  const GridBox *box = grid_box(coupling->grid);
  PetscInt       number;

  for (PetscInt d = 0; d < DIM; d++)
    if (at[d] < box->start[d] || at[d] >= box->end[d])
      return -1;
  number = at[X] - box->start[X] +
           (box->end[X] - box->start[X]) *
               (at[Y] - box->start[Y] + (box->end[Y] - box->start[Y]) * (at[Z] - box->start[Z]));
  return coupling->labels[number] < 0 ? -1 : number;
}

/* The pressure of the upper cell pulls, that of the lower one pushes. */
static PetscErrorCode AddFace(Coupling coupling, const MixedFace *mixed)
{
  const PetscInt d = mixed->direction, first = (d + 1) % DIM, second = (d + 2) % DIM;
  PetscInt       at[DIM] = {mixed->at[X], mixed->at[Y], mixed->at[Z]};

  PetscFunctionBegin;
  for (PetscInt side = 0; side < 2; side++) {
    PetscInt cell;

    at[d] = mixed->at[d] - 1 + side;
    cell = cell_number(coupling, at);
    for (PetscInt s = mixed->first; s < mixed->first + mixed->count && cell >= 0; s++) {
      const Share    *share = &coupling->shares[s];
      const PetscReal flow = (side ? coupling->area : -coupling->area) * share->weight;
      const PetscInt  twist = TWIST * share->body,
                     shift = TWIST * (coupling->bodies[share->body].free - share->body);
      Entry entry = {(int)cell,
                     {(int)(twist + d), (int)(twist + DIM + first), (int)(twist + DIM + second)},
                     {flow, flow * share->arm.at[second], -flow * share->arm.at[first]}};

      if (share->weight == 0.)
        continue;
      PetscCall(EntryListAdd(&coupling->all_entries, entry));
      for (PetscInt n = 0; n < 3; n++)
        entry.into[n] += (int)shift;
      if (coupling->bodies[share->body].free >= 0)
        PetscCall(EntryListAdd(&coupling->free_entries, entry));
    }
  }
  PetscFunctionReturn(0);
}

PetscErrorCode CouplingFindRows(Coupling coupling)
{
  PetscFunctionBegin;
  coupling->free_entries.count = coupling->all_entries.count = 0;
  poisson_label_cells(coupling->poisson, coupling->labels);
  for (PetscInt m = 0; m < coupling->mixed_count; m++)
    PetscCall(AddFace(coupling, &coupling->mixed[m]));
  PetscFunctionReturn(0);
}

void entries_apply(const EntryList *list, const PetscReal *twists, PetscReal *cells)
{
  for (PetscInt n = 0; n < list->count; n++) {
    const Entry *entry = &list->entries[n];

    cells[entry->cell] += entry->by[0] * twists[entry->into[0]] + entry->by[1] * twists[entry->into[1]] +
                          entry->by[2] * twists[entry->into[2]];
  }
}

void entries_gather(const EntryList *list, const PetscReal *cells, PetscReal *twists)
{
  for (PetscInt n = 0; n < list->count; n++) {
    const Entry    *entry = &list->entries[n];
    const PetscReal value = cells[entry->cell];

    twists[entry->into[0]] += entry->by[0] * value;
    twists[entry->into[1]] += entry->by[1] * value;
    twists[entry->into[2]] += entry->by[2] * value;
  }
}
