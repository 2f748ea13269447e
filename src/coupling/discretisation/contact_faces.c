/* Where bodies touch walls and each other there is no fluid cell whose pressure would balance that of the
   other side. These contact faces take the linear field p* that fits the pressures of the cells around best
   (docs/numerics.md, section 14): B_b += sum over places of contact of D (x) w, the same w for both bodies,
   so that momentum is kept. The half of a cell between its centre and a wall has no face of its own either; a
   body with the volume V_s there feels V_s grad p*. Constant and hydrostatic pressures are then felt exactly.
 */
#include "../coupling_impl.h"

#include <string.h>

static int compare(PetscInt64 a, PetscInt64 b)
{
  return (a > b) - (a < b);
}

/* One and what is summed of it, in no order: on other numbers of ranks faces come in another one. */
enum { CONTACT_SUMS = 1 + DIM + FIT_TERMS * TWIST };
typedef struct {
  ContactFaces    contact; /* its numbers: of all terms once they are gathered */
  ReproducibleSum sums[CONTACT_SUMS];
} FoundContact;

static int compare_keys(const void *x, const void *y)
{
  const ContactFaces *a = &((const FoundContact *)x)->contact, *b = &((const FoundContact *)y)->contact;
  int                 order = compare(a->around[0], b->around[0]);

  order = order ? order : compare(a->around[1], b->around[1]);
  order = order ? order : compare(a->side, b->side);
  order = order ? order : compare(a->cell, b->cell);
  return order ? order : compare(a->body, b->body);
}

/* Equal keys become one. */
static PetscInt merge(PetscInt count, FoundContact *list)
{
  PetscInt kept = 0;

  if (count)
    qsort(list, count, sizeof(*list), compare_keys);
  for (PetscInt t = 0; t < count; t++) {
    if (!kept || compare_keys(&list[kept - 1], &list[t])) {
      list[kept++] = list[t];
      continue;
    }
    for (PetscInt n = 0; n < CONTACT_SUMS; n++)
      sum_add_sum(&list[kept - 1].sums[n], &list[t].sums[n]);
  }
  return kept;
}

static void set_sums(FoundContact *found)
{
  const ContactFaces *contact = &found->contact;

  memset(found->sums, 0, sizeof(found->sums));
  sum_add(&found->sums[0], contact->count);
  for (PetscInt d = 0; d < DIM; d++)
    sum_add(&found->sums[1 + d], contact->place.at[d]);
  for (PetscInt n = 0; n < FIT_TERMS * TWIST; n++)
    sum_add(&found->sums[1 + DIM + n], contact->rows[n / TWIST][n % TWIST]);
}

static ContactFaces summed_contact(const FoundContact *found)
{
  ContactFaces contact = found->contact;

  contact.count = sum_value(&found->sums[0]);
  for (PetscInt d = 0; d < DIM; d++)
    contact.place.at[d] = sum_value(&found->sums[1 + d]);
  for (PetscInt n = 0; n < FIT_TERMS * TWIST; n++)
    contact.rows[n / TWIST][n % TWIST] = sum_value(&found->sums[1 + DIM + n]);
  return contact;
}

typedef struct {
  PetscInt      count, room;
  FoundContact *list;
} Found;

static PetscErrorCode AddContactFaces(Found *found, const ContactFaces *contact)
{
  PetscFunctionBegin;
  if (found->count == found->room) {
    found->count = merge(found->count, found->list);
    found->room = 2 * found->count + 256;
    PetscCall(PetscRealloc(found->room * sizeof(FoundContact), &found->list));
  }
  found->list[found->count].contact = *contact;
  set_sums(&found->list[found->count++]);
  PetscFunctionReturn(0);
}

/* Where a face is, from the body's position; its arm lies beside that by the offset of the body's arms. */
static Vector3 face_place(Coupling coupling, PetscInt d, const PetscInt at[DIM], PetscInt body)
{
  return vector3_subtract(coupling_nearest_arm(coupling, d, at, body),
                          coupling->solids.offsets[DIM * body + d]);
}

/* A row that feels p* at `contact->place`, until the places are replaced by their mean. */
static void set_value(ContactFaces *contact, const PetscReal row[TWIST])
{
  for (PetscInt n = 0; n < TWIST; n++) {
    contact->rows[0][n] = row[n];
    for (PetscInt d = 0; d < DIM; d++)
      contact->rows[1 + d][n] = row[n] * contact->place.at[d];
  }
}

static ContactFaces contact_around(PetscInt first, PetscInt second, PetscInt side, Vector3 place)
{
  ContactFaces contact;

  memset(&contact, 0, sizeof(contact)); /* with what lies between the members, as it is sent */
  contact.around[0] = first;
  contact.around[1] = second;
  contact.side = side;
  contact.cell = -1;
  contact.count = 1.;
  contact.place = place;
  return contact;
}

/* The face between `pair[0]`, in its upper or lower cell, and a wall or `pair[1]`; each of them feels it. The
   pressure is that of a cell's centre, the body's own or the lower one; from there on AddPart counts. */
static PetscErrorCode AddContact(Coupling coupling, Found *found, PetscInt d, const PetscInt at[DIM],
                                 const PetscInt pair[2], PetscBool is_upper)
{
  ContactFaces contact =
      contact_around(pair[0], pair[1], 2 * d + (is_upper ? 0 : 1), face_place(coupling, d, at, pair[0]));

  PetscFunctionBegin;
  contact.place.at[d] += (pair[1] < 0 && is_upper ? 0.5 : -0.5) * coupling->spacing;
  for (PetscInt n = 0; n < 2 && pair[n] >= 0; n++) {
    const InterpolationEntry entry = {.weight = (n == 0) == (is_upper == PETSC_TRUE) ? -coupling->area
                                                                                     : coupling->area,
                                      .arm = coupling_nearest_arm(coupling, d, at, pair[n])};
    PetscReal                row[TWIST];

    contact.body = pair[n];
    interpolation_row(d, &entry, row);
    set_value(&contact, row);
    PetscCall(AddContactFaces(found, &contact));
  }
  PetscFunctionReturn(0);
}

/* Pressures on its two sides have nothing to do with each other: no field fits both. */
static PetscBool is_shell(const PlacedSolids *solids, PetscInt body)
{
  return solids->bodies[body].body.thickness > 0. ? PETSC_TRUE : PETSC_FALSE;
}

/* `volume` of a body in the dual cell of a face feels the gradient of p* along its normal. */
static PetscErrorCode AddPart(Coupling coupling, Found *found, PetscInt d, const PetscInt at[DIM],
                              PetscInt body, PetscReal volume, ContactFaces *contact)
{
  const InterpolationEntry entry = {.weight = volume, .arm = coupling_nearest_arm(coupling, d, at, body)};

  PetscFunctionBegin;
  contact->body = body;
  interpolation_row(d, &entry, contact->rows[1 + d]);
  PetscCall(AddContactFaces(found, contact));
  PetscFunctionReturn(0);
}

/* The cell with a pressure beside a side of the box that bounds the dual cell of a part, as in solver
   vectors; -1: it has none, or the face is within the box. The rank of the face has it. */
static PetscInt cell_at_wall(Coupling coupling, const SolidFraction *fraction)
{
  const GridBox *box = grid_box(coupling->grid);
  const PetscInt d = fraction->direction;
  PetscInt       at[DIM] = {fraction->at[X], fraction->at[Y], fraction->at[Z]}, cell;

  if (at[d] > 0 && at[d] < box->cells[d])
    return -1;
  at[d] = PetscMin(at[d], box->cells[d] - 1);
  cell = owned_cell_number(box, at);
  return cell < 0 || coupling->system.labels[cell] < 0 ? -1 : cell;
}

/* In the half of a dual cell between the centre of a cell and a wall the gradient is that from the pressure
   of the cell to p* at the wall: V_s 2/h (p* - p) along the outward normal. */
static InterpolationEntry wall_entry(Coupling coupling, const SolidFraction *fraction)
{
  const PetscInt  d = fraction->direction;
  const PetscReal volume = PetscMin(fraction->volume, 0.5 * coupling->volume);

  return (InterpolationEntry){.weight = (fraction->at[d] ? 2. : -2.) / coupling->spacing * volume,
                              .arm = coupling_nearest_arm(coupling, d, fraction->at, fraction->body)};
}

/* p* at the wall, or its gradient if the cell has no pressure. */
static PetscErrorCode AddWallPart(Coupling coupling, Found *found, const SolidFraction *fraction)
{
  const PetscInt           d = fraction->direction;
  const Vector3            place = face_place(coupling, d, fraction->at, fraction->body);
  const InterpolationEntry entry = wall_entry(coupling, fraction);
  ContactFaces contact = contact_around(fraction->body, -1, 2 * d + (place.at[d] < 0. ? 0 : 1), place);
  PetscReal    row[TWIST];

  PetscFunctionBegin;
  if (cell_at_wall(coupling, fraction) < 0) {
    PetscCall(AddPart(coupling, found, d, fraction->at, fraction->body,
                      PetscMin(fraction->volume, 0.5 * coupling->volume), &contact));
    PetscFunctionReturn(0);
  }
  contact.body = fraction->body;
  interpolation_row(d, &entry, row);
  set_value(&contact, row);
  PetscCall(AddContactFaces(found, &contact));
  PetscFunctionReturn(0);
}

/* What one of two bodies feels in the dual cell of a face, the other does not. */
static PetscErrorCode AddExchange(Coupling coupling, Found *found, PetscInt d, const PetscInt at[DIM],
                                  PetscInt to, PetscInt from, PetscReal volume)
{
  const PetscInt first = PetscMin(to, from);
  ContactFaces contact = contact_around(first, PetscMax(to, from), 2 * d, face_place(coupling, d, at, first));

  PetscFunctionBegin;
  if (is_shell(&coupling->solids, to) || is_shell(&coupling->solids, from))
    PetscFunctionReturn(0);
  PetscCall(AddPart(coupling, found, d, at, to, volume, &contact));
  PetscCall(AddPart(coupling, found, d, at, from, -volume, &contact));
  PetscFunctionReturn(0);
}

/* A face that moves with bodies hands each the pressure on its weight's part of the dual cell; what is due is
   that on its volume, V_s, and on its weight's part of the fluid: w_s v = V_s + w_s (v - sum V) + (w_s sum V
   - V_s), of which the last goes to the others. */
static PetscErrorCode FindExchanges(Coupling coupling, const MixedFace *mixed, Found *found)
{
  const InterpolationEntry *entries = &coupling->faces.entries[mixed->first];

  PetscFunctionBegin;
  for (PetscInt s = 0; s < mixed->count; s++)
    for (PetscInt o = 0; o < mixed->count && entries[s].volume > 0.; o++)
      if (entries[o].weight > 0. && entries[o].body != entries[s].body)
        PetscCall(AddExchange(coupling, found, mixed->direction, mixed->at, entries[s].body, entries[o].body,
                              entries[o].weight * entries[s].volume));
  PetscFunctionReturn(0);
}

/* Whether the cell below or above a face is in the box. */
static PetscBool is_within(const GridBox *box, PetscInt d, PetscInt place)
{
  return box->periodic[d] || (place >= 0 && place < box->cells[d]) ? PETSC_TRUE : PETSC_FALSE;
}

/* Between two cells of bodies that have no pressure. */
static PetscBool is_pressed(const FaceMap *faces, PetscInt kind, PetscInt above, PetscInt below)
{
  return kind != COUPLED_GIVEN && faces->solid[above] && faces->solid[below] && !faces->active[above] &&
                 !faces->active[below]
             ? PETSC_TRUE
             : PETSC_FALSE;
}

/* Whether a part lies beside a wall, in the fluid; `fixed` as in FluidSystem. */
static PetscBool is_at_wall(Coupling coupling, const SolidFraction *fraction, const PetscReal *fixed)
{
  const PetscInt c = fraction->face, below = c - grid_box(coupling->grid)->stride[fraction->direction];

  return coupling->faces.kinds[fraction->direction][c] == COUPLED_GIVEN &&
                 !is_shell(&coupling->solids, fraction->body) &&
                 !(fixed && (fixed[c] > 0. || fixed[below] > 0.))
             ? PETSC_TRUE
             : PETSC_FALSE;
}

/* Contact between two bodies that leaves some fluid: the upper one carries it. */
static PetscBool is_between_bodies(Coupling coupling, const MixedFace *mixed)
{
  const PetscInt below = mixed->face - grid_box(coupling->grid)->stride[mixed->direction];

  return coupling->faces.solid[below] != coupling->faces.solid[mixed->face] &&
                 is_pressed(&coupling->faces, 0, mixed->face, below)
             ? PETSC_TRUE
             : PETSC_FALSE;
}

/* Parts of bodies in the dual cells of contact faces and walls. */
static PetscErrorCode LookAtParts(Coupling coupling, const PetscReal *fixed, Found *found)
{
  PetscFunctionBegin;
  for (PetscInt n = 0; n < coupling->faces.fraction_count; n++) {
    const SolidFraction *fraction = &coupling->faces.fractions[n];
    const PetscInt       c = fraction->face, d = fraction->direction;
    const PetscInt       below = c - grid_box(coupling->grid)->stride[d], kind = coupling->faces.kinds[d][c];
    const PetscInt       lower = coupling->faces.solid[below] - 1, upper = coupling->faces.solid[c] - 1;

    if (is_at_wall(coupling, fraction, fixed))
      PetscCall(AddWallPart(coupling, found, fraction));
    else if (fraction->body != upper &&
             (lower == upper ? kind == COUPLED_SOLID : is_pressed(&coupling->faces, kind, c, below)))
      PetscCall(AddExchange(coupling, found, d, fraction->at, fraction->body, upper,
                            PetscMin(fraction->volume, coupling->volume)));
  }
  for (PetscInt m = 0; m < coupling->faces.mixed_count && coupling->discretisation->open_neighbours; m++)
    if (coupling->faces.mixed[m].is_owned && coupling->faces.mixed[m].open == 0. &&
        !is_between_bodies(coupling, &coupling->faces.mixed[m]))
      PetscCall(FindExchanges(coupling, &coupling->faces.mixed[m], found));
  PetscFunctionReturn(0);
}

static PetscErrorCode LookAtFace(Coupling coupling, Found *found, PetscInt d, const PetscInt at[DIM],
                                 const PetscReal *fixed)
{
  const GridBox *box = grid_box(coupling->grid);
  const PetscInt c = box_index(box, at[X], at[Y], at[Z]), kind = coupling->faces.kinds[d][c];
  const PetscInt lower = coupling->faces.solid[c - box->stride[d]] - 1, upper = coupling->faces.solid[c] - 1;

  PetscFunctionBegin;
  if (lower != upper && is_pressed(&coupling->faces, kind, c, c - box->stride[d]))
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
  const GridBox  *box = grid_box(coupling->grid);
  const PetscInt *solid = coupling->faces.solid;

  PetscFunctionBegin;
  for (PetscInt d = 0; d < box->dimension; d++) {
    const GridRange faces = grid_faces(coupling->grid, d);

    FOR_PLACES(&faces, at) {
      const PetscInt c = box_index(box, at[X], at[Y], at[Z]);

      if (solid[c] || solid[c - box->stride[d]])
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
  ContactFaces   contact = contact_around(-1, -1, -1, vector3(0, 0, 0));

  PetscFunctionBegin;
  contact.cell = at[X] + box->cells[X] * (at[Y] + (PetscInt64)box->cells[Y] * at[Z]);
  for (PetscInt d = 0; d < box->dimension; d++)
    for (PetscInt side = 0; side < 2; side++) {
      const PetscInt   kind = coupling->faces.kinds[d][side ? c + box->stride[d] : c];
      const MixedFace *mixed = kind >= 0 ? &coupling->faces.mixed[kind] : NULL;

      for (PetscInt s = mixed ? mixed->first : 0; mixed && s < mixed->first + mixed->count; s++) {
        InterpolationEntry entry = coupling->faces.entries[s];
        PetscReal          row[TWIST];

        if (contact.around[0] < 0) { /* the same for all, so that all feel the same pressure */
          contact.around[0] = entry.body;
          contact.place = face_place(coupling, d, mixed->at, entry.body);
          contact.place.at[d] += (side ? -0.5 : 0.5) * coupling->spacing;
        }
        contact.body = entry.body;
        entry.weight *= side ? -coupling->area : coupling->area;
        interpolation_row(d, &entry, row);
        set_value(&contact, row);
        PetscCall(AddContactFaces(found, &contact));
      }
    }
  PetscFunctionReturn(0);
}

static PetscErrorCode LookAtCells(Coupling coupling, const PetscReal *fixed, Found *found)
{
  const GridBox *box = grid_box(coupling->grid);

  PetscFunctionBegin;
  FOR_NUMBERED_CELLS(box, number, i, j, k) {
    const PetscInt c = box_index(box, i, j, k);

    if (coupling->system.labels[number] < 0 && !coupling->faces.solid[c] && !(fixed && fixed[c] > 0.))
      PetscCall(AddCell(coupling, found, (const PetscInt[DIM]){i, j, k}));
  }
  PetscFunctionReturn(0);
}

/* From values of p* at their own places to p* and its gradient at their mean. */
static void take_mean_place(ContactFaces *contact)
{
  contact->place = vector3_scale(1. / contact->count, contact->place);
  for (PetscInt d = 0; d < DIM; d++)
    for (PetscInt n = 0; n < TWIST; n++)
      contact->rows[1 + d][n] -= contact->rows[0][n] * contact->place.at[d];
}

/* Everybody's places of contact on every rank of the fluid team. */
static PetscErrorCode Gather(Coupling coupling, Found *found)
{
  PetscMPIInt   size, *counts, *offsets, mine = (PetscMPIInt)(found->count * sizeof(FoundContact)), sum = 0;
  FoundContact *all;
  PetscInt      count;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(coupling->fluid, &size));
  PetscCall(PetscMalloc2(size, &counts, size, &offsets));
  PetscCallMPI(MPI_Allgather(&mine, 1, MPI_INT, counts, 1, MPI_INT, coupling->fluid));
  for (PetscMPIInt r = 0; r < size; r++) {
    offsets[r] = sum;
    sum += counts[r];
  }
  PetscCall(PetscMalloc1(sum / sizeof(FoundContact), &all));
  PetscCallMPI(MPI_Allgatherv(found->list, mine, MPI_BYTE, all, counts, offsets, MPI_BYTE, coupling->fluid));
  PetscCall(PetscFree(found->list));
  PetscCall(PetscFree2(counts, offsets));
  PetscCall(PetscFree(coupling->system.contacts));
  count = merge((PetscInt)(sum / sizeof(FoundContact)), all);
  PetscCall(PetscMalloc1(count, &coupling->system.contacts));
  coupling->system.contact_count = count;
  for (PetscInt t = 0; t < count; t++) {
    coupling->system.contacts[t] = summed_contact(&all[t]);
    take_mean_place(&coupling->system.contacts[t]);
  }
  PetscCall(PetscFree(all));
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
  PetscCall(LookAtParts(coupling, values, &found));
  PetscCall(LookAtCells(coupling, values, &found));
  found.count = merge(found.count, found.list);
  if (fixed)
    PetscCall(VecRestoreArrayRead(fixed, &values));
  PetscCall(Gather(coupling, &found));
  PetscFunctionReturn(0);
}

PetscErrorCode CouplingAddWallCells(Coupling coupling, CellRows *list)
{
  const PetscReal *fixed = NULL;

  PetscFunctionBegin;
  if (coupling->system.fixed)
    PetscCall(VecGetArrayRead(coupling->system.fixed, &fixed));
  for (PetscInt n = 0; n < coupling->faces.fraction_count; n++) {
    const SolidFraction *fraction = &coupling->faces.fractions[n];
    InterpolationEntry   entry;
    PetscReal            row[TWIST];

    if (!is_at_wall(coupling, fraction, fixed) || cell_at_wall(coupling, fraction) < 0)
      continue;
    entry = wall_entry(coupling, fraction);
    entry.weight = -entry.weight;
    interpolation_row(fraction->direction, &entry, row);
    PetscCall(
        PlacedSolidsAddRow(&coupling->solids, cell_at_wall(coupling, fraction), fraction->body, row, list));
  }
  if (coupling->system.fixed)
    PetscCall(VecRestoreArrayRead(coupling->system.fixed, &fixed));
  PetscFunctionReturn(0);
}
