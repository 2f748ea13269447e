/* Where bodies touch walls and each other there is no fluid cell whose pressure would balance that of the
   other side. These contact faces take the pressure of the fluid cells around (docs/numerics.md, section 14):
   B_b += sum over places of contact of D (x) w, the same w for both bodies, so that momentum is kept. */
#include "../coupling_impl.h"

static int compare(PetscInt64 a, PetscInt64 b)
{
  return (a > b) - (a < b);
}

static int compare_keys(const void *x, const void *y)
{
  const ContactFaces *a = x, *b = y;
  int                 order = compare(a->around[0], b->around[0]);

  order = order ? order : compare(a->around[1], b->around[1]);
  order = order ? order : compare(a->side, b->side);
  order = order ? order : compare(a->cell, b->cell);
  return order ? order : compare(a->body, b->body);
}

/* Equal keys become one. */
static PetscInt merge(PetscInt count, ContactFaces *list)
{
  PetscInt kept = 0;

  if (count)
    qsort(list, count, sizeof(*list), compare_keys);
  for (PetscInt t = 0; t < count; t++) {
    if (!kept || compare_keys(&list[kept - 1], &list[t])) {
      list[kept++] = list[t];
      continue;
    }
    list[kept - 1].count += list[t].count;
    list[kept - 1].place = vector3_add(list[kept - 1].place, list[t].place);
    for (PetscInt n = 0; n < TWIST; n++)
      list[kept - 1].row[n] += list[t].row[n];
  }
  return kept;
}

typedef struct {
  PetscInt      count, room;
  ContactFaces *list;
} Found;

static PetscErrorCode AddContactFaces(Found *found, const ContactFaces *contact)
{
  PetscFunctionBegin;
  if (found->count == found->room) {
    found->count = merge(found->count, found->list);
    found->room = 2 * found->count + 256;
    PetscCall(PetscRealloc(found->room * sizeof(ContactFaces), &found->list));
  }
  found->list[found->count++] = *contact;
  PetscFunctionReturn(0);
}

/* The face between `body`, in its upper or lower cell, and a wall or `other`; each of them feels it. */
static PetscErrorCode AddContact(Coupling coupling, Found *found, PetscInt d, const PetscInt at[DIM],
                                 const PetscInt pair[2], PetscBool is_upper)
{
  ContactFaces contact;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(&contact, sizeof(contact)));
  contact.around[0] = pair[0];
  contact.around[1] = pair[1];
  contact.side = 2 * d + (is_upper ? 0 : 1);
  contact.cell = -1;
  contact.count = 1.;
  contact.place = coupling_nearest_arm(coupling, d, at, pair[0]);
  for (PetscInt n = 0; n < 2 && pair[n] >= 0; n++) {
    const BodyShare share = {.weight =
                                 (n == 0) == (is_upper == PETSC_TRUE) ? -coupling->area : coupling->area,
                             .arm = coupling_nearest_arm(coupling, d, at, pair[n])};

    contact.body = pair[n];
    interpolation_row(d, &share, contact.row);
    PetscCall(AddContactFaces(found, &contact));
  }
  PetscFunctionReturn(0);
}

/* Whether the cell below or above a face is in the box. */
static PetscBool is_within(const GridBox *box, PetscInt d, PetscInt place)
{
  return box->periodic[d] || (place >= 0 && place < box->cells[d]) ? PETSC_TRUE : PETSC_FALSE;
}

/* Between two cells of bodies that have no pressure. */
static PetscBool is_pressed(Coupling coupling, PetscInt kind, PetscInt above, PetscInt below)
{
  return kind != COUPLED_GIVEN && coupling->faces.solid[above] && coupling->faces.solid[below] &&
                 !coupling->faces.active[above] && !coupling->faces.active[below]
             ? PETSC_TRUE
             : PETSC_FALSE;
}

static PetscErrorCode LookAtFace(Coupling coupling, Found *found, PetscInt d, const PetscInt at[DIM],
                                 const PetscReal *fixed)
{
  const GridBox *box = grid_box(coupling->grid);
  const PetscInt c = box_index(box, at[X], at[Y], at[Z]), kind = coupling->faces.kinds[d][c];
  const PetscInt lower = coupling->faces.solid[c - box->stride[d]] - 1, upper = coupling->faces.solid[c] - 1;

  PetscFunctionBegin;
  if (lower != upper && is_pressed(coupling, kind, c, c - box->stride[d]))
    PetscCall(AddContact(coupling, found, d, at,
                         (PetscInt[2]){PetscMin(lower, upper), PetscMax(lower, upper)},
                         upper < lower ? PETSC_TRUE : PETSC_FALSE));
  if (kind != COUPLED_GIVEN || (fixed && (fixed[c] > 0. || fixed[c - box->stride[d]] > 0.)))
    PetscFunctionReturn(0);
  if (upper >= 0 && !coupling->faces.active[c] && is_within(box, d, at[d]))
    PetscCall(AddContact(coupling, found, d, at, (PetscInt[2]){upper, -1}, PETSC_TRUE));
  if (lower >= 0 && !coupling->faces.active[c - box->stride[d]] && is_within(box, d, at[d] - 1))
    PetscCall(AddContact(coupling, found, d, at, (PetscInt[2]){lower, -1}, PETSC_FALSE));
  PetscFunctionReturn(0);
}

static PetscErrorCode LookAtFaces(Coupling coupling, const PetscReal *fixed, Found *found)
{
  const GridBox *box = grid_box(coupling->grid);
  PetscInt       at[DIM], end[DIM];

  PetscFunctionBegin;
  for (PetscInt d = 0; d < box->dimension; d++) {
    grid_face_end(coupling->grid, d, end);
    for (at[Z] = box->start[Z]; at[Z] < end[Z]; at[Z]++)
      for (at[Y] = box->start[Y]; at[Y] < end[Y]; at[Y]++) {
        const PetscInt row = box_index(box, box->start[X], at[Y], at[Z]) - box->start[X];

        for (at[X] = box->start[X]; at[X] < end[X]; at[X]++)
          if (coupling->faces.solid[row + at[X]] || coupling->faces.solid[row + at[X] - box->stride[d]])
            PetscCall(LookAtFace(coupling, found, d, at, fixed));
      }
  }
  PetscFunctionReturn(0);
}

/* A cell all of whose faces are mixed: what would be its row, for each body. */
static PetscErrorCode AddCell(Coupling coupling, Found *found, const PetscInt at[DIM])
{
  const GridBox *box = grid_box(coupling->grid);
  const PetscInt c = box_index(box, at[X], at[Y], at[Z]);
  ContactFaces   contact;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(&contact, sizeof(contact)));
  contact.around[0] = contact.around[1] = contact.side = -1;
  contact.cell = at[X] + box->cells[X] * (at[Y] + (PetscInt64)box->cells[Y] * at[Z]);
  contact.count = 1.;
  for (PetscInt d = 0; d < box->dimension; d++)
    for (PetscInt side = 0; side < 2; side++) {
      const PetscInt   kind = coupling->faces.kinds[d][side ? c + box->stride[d] : c];
      const MixedFace *mixed = &coupling->faces.mixed[PetscMax(kind, 0)];

      for (PetscInt s = mixed->first; kind >= 0 && s < mixed->first + mixed->count; s++) {
        BodyShare share = coupling->faces.shares[s];

        if (contact.around[0] < 0) { /* the same for all, so that all feel the same pressure */
          contact.around[0] = share.body;
          contact.place = coupling_nearest_arm(coupling, d, mixed->at, share.body);
          contact.place.at[d] += (side ? -0.5 : 0.5) * coupling->spacing;
        }
        contact.body = share.body;
        share.weight *= side ? -coupling->area : coupling->area;
        interpolation_row(d, &share, contact.row);
        PetscCall(AddContactFaces(found, &contact));
      }
    }
  PetscFunctionReturn(0);
}

static PetscErrorCode LookAtCells(Coupling coupling, const PetscReal *fixed, Found *found)
{
  const GridBox *box = grid_box(coupling->grid);
  PetscInt       at[DIM], number = 0;

  PetscFunctionBegin;
  for (at[Z] = box->start[Z]; at[Z] < box->end[Z]; at[Z]++)
    for (at[Y] = box->start[Y]; at[Y] < box->end[Y]; at[Y]++)
      for (at[X] = box->start[X]; at[X] < box->end[X]; at[X]++, number++) {
        const PetscInt c = box_index(box, at[X], at[Y], at[Z]);

        if (coupling->system.labels[number] < 0 && !coupling->faces.solid[c] && !(fixed && fixed[c] > 0.))
          PetscCall(AddCell(coupling, found, at));
      }
  PetscFunctionReturn(0);
}

/* Everybody's places of contact on every rank of the fluid team. */
static PetscErrorCode Gather(Coupling coupling, Found *found)
{
  PetscMPIInt   size, *counts, *offsets, mine = (PetscMPIInt)(found->count * sizeof(ContactFaces)), sum = 0;
  ContactFaces *all;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(coupling->fluid, &size));
  PetscCall(PetscMalloc2(size, &counts, size, &offsets));
  PetscCallMPI(MPI_Allgather(&mine, 1, MPI_INT, counts, 1, MPI_INT, coupling->fluid));
  for (PetscMPIInt r = 0; r < size; r++) {
    offsets[r] = sum;
    sum += counts[r];
  }
  PetscCall(PetscMalloc1(sum / sizeof(ContactFaces), &all));
  PetscCallMPI(MPI_Allgatherv(found->list, mine, MPI_BYTE, all, counts, offsets, MPI_BYTE, coupling->fluid));
  PetscCall(PetscFree(found->list));
  PetscCall(PetscFree2(counts, offsets));
  PetscCall(PetscFree(coupling->system.contacts));
  coupling->system.contacts = all;
  coupling->system.contact_count = merge((PetscInt)(sum / sizeof(ContactFaces)), all);
  for (PetscInt t = 0; t < coupling->system.contact_count; t++)
    all[t].place = vector3_scale(1. / all[t].count, all[t].place);
  PetscFunctionReturn(0);
}

PetscErrorCode CouplingFindContactFaces(Coupling coupling, Vec fixed)
{
  const PetscReal *values = NULL;
  Found            found = {0};

  PetscFunctionBegin;
  if (fixed)
    PetscCall(VecGetArrayRead(fixed, &values));
  PetscCall(LookAtFaces(coupling, values, &found));
  PetscCall(LookAtCells(coupling, values, &found));
  found.count = merge(found.count, found.list);
  if (fixed)
    PetscCall(VecRestoreArrayRead(fixed, &values));
  PetscCall(Gather(coupling, &found));
  PetscFunctionReturn(0);
}

/* The cells that the entries of each body lead to: first[slot] to first[slot + 1] of `cells`. */
typedef struct {
  PetscInt  *first;
  int       *cells;
  EntryList *list; /* that new entries are added to */
} BodyCells;

static PetscErrorCode SortCells(Coupling coupling, EntryList *list, BodyCells *near)
{
  PetscFunctionBegin;
  near->list = list;
  PetscCall(PetscCalloc1(coupling->solids.count + 2, &near->first));
  PetscCall(PetscMalloc1(list->count, &near->cells));
  for (PetscInt n = 0; n < list->count; n++)
    near->first[list->entries[n].into[0] / TWIST + 2]++;
  for (PetscInt b = 2; b < coupling->solids.count + 2; b++)
    near->first[b] += near->first[b - 1];
  for (PetscInt n = 0; n < list->count; n++)
    near->cells[near->first[list->entries[n].into[0] / TWIST + 1]++] = list->entries[n].cell;
  PetscFunctionReturn(0);
}

static PetscReal distance_to(Coupling coupling, const ContactFaces *contact, PetscInt cell)
{
  const GridBox *box = grid_box(coupling->grid);
  const PetscInt width = box->end[X] - box->start[X], depth = box->end[Y] - box->start[Y];
  Vector3        arm = vector3_subtract(
             grid_cell_centre(coupling->grid, box->start[X] + cell % width, box->start[Y] + cell / width % depth,
                              box->start[Z] + cell / width / depth),
             vector3_add(coupling->solids.bodies[contact->around[0]].body.position, contact->place));

  if (box->dimension == 2)
    arm.at[Z] = 0.;
  for (PetscInt d = 0; d < box->dimension; d++)
    if (box->periodic[d])
      arm.at[d] -= box->cells[d] * coupling->spacing *
                   PetscFloorReal(arm.at[d] / (box->cells[d] * coupling->spacing) + 0.5);
  return vector3_norm(arm);
}

static inline PetscReal weight_at(PetscReal distance, PetscReal reach)
{
  return distance < reach ? PetscSqr(1. - PetscSqr(distance / reach)) : 0.;
}

typedef enum { FIND_NEAREST, SUM_WEIGHTS, ADD_ROWS } ContactPass;

/* Goes through the cells around one place of contact, those of both bodies. */
static PetscErrorCode VisitCells(Coupling coupling, const ContactFaces *contact, ContactPass pass,
                                 const BodyCells *near, PetscReal *reach, PetscReal *sum)
{
  const PetscInt *bodies = contact->around;

  PetscFunctionBegin;
  for (PetscInt side = 0; side < 2 && bodies[side] >= 0; side++)
    for (PetscInt n = near->first[coupling->solids.bodies[bodies[side]].slot];
         n < near->first[coupling->solids.bodies[bodies[side]].slot + 1]; n++) {
      const PetscReal distance = distance_to(coupling, contact, near->cells[n]);
      PetscReal       weight, row[TWIST];

      if (pass == FIND_NEAREST) {
        *reach = PetscMin(*reach, distance + 2. * coupling->spacing);
        continue;
      }
      weight = weight_at(distance, *reach);
      if (pass == SUM_WEIGHTS)
        *sum += weight;
      if (pass == SUM_WEIGHTS || weight == 0.)
        continue;
      for (PetscInt r = 0; r < TWIST; r++)
        row[r] = weight / *sum * contact->row[r];
      PetscCall(CouplingAddRow(coupling, near->cells[n], contact->body, row, near->list));
    }
  PetscFunctionReturn(0);
}

PetscErrorCode CouplingAddContactFaces(Coupling coupling, EntryList *list)
{
  const PetscInt count = coupling->system.contact_count;
  PetscReal     *reach, *sum;
  BodyCells      near;

  PetscFunctionBegin;
  if (!count)
    PetscFunctionReturn(0);
  PetscCall(SortCells(coupling, list, &near));
  PetscCall(PetscMalloc1(count, &reach));
  PetscCall(PetscCalloc1(count, &sum));
  for (PetscInt t = 0; t < count; t++) {
    reach[t] = PETSC_MAX_REAL;
    PetscCall(VisitCells(coupling, &coupling->system.contacts[t], FIND_NEAREST, &near, &reach[t], NULL));
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, reach, (PetscMPIInt)count, MPIU_REAL, MPIU_MIN, coupling->fluid));
  for (PetscInt t = 0; t < count; t++)
    PetscCall(VisitCells(coupling, &coupling->system.contacts[t], SUM_WEIGHTS, &near, &reach[t], &sum[t]));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sum, (PetscMPIInt)count, MPIU_REAL, MPIU_SUM, coupling->fluid));
  for (PetscInt t = 0; t < count; t++)
    if (sum[t] > 0.)
      PetscCall(VisitCells(coupling, &coupling->system.contacts[t], ADD_ROWS, &near, &reach[t], &sum[t]));
  PetscCall(PetscFree(reach));
  PetscCall(PetscFree(sum));
  PetscCall(PetscFree(near.first));
  PetscCall(PetscFree(near.cells));
  PetscFunctionReturn(0);
}
