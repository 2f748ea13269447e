/* The parts that bodies have in dual cells, and what the discretisation makes of them: W, the open part and
   the fluid mass of every mixed face (docs/numerics.md, section 14). */
#include "../coupling_impl.h"

/* The two coordinates across a direction, from the body's position. */
void places_across(PetscInt d, Vector3 arm, PetscReal across[3])
{
  across[0] = 1.;
  across[1] = arm.at[(d + 1) % DIM];
  across[2] = arm.at[(d + 2) % DIM];
}

static PetscErrorCode AddEntry(FaceMap *faces, InterpolationEntry entry)
{
  PetscFunctionBegin;
  PetscCall(AppendItem(&faces->entry_count, &faces->entry_room, &faces->entries, entry));
  PetscFunctionReturn(0);
}

/* The part of a face of given velocity that a body covers: of one on a side of the box, that of the next
   face inside, since beyond the side a body may end. */
static PetscErrorCode AddCovered(Coupling coupling, PetscInt d, const PetscInt at[DIM],
                                 const InterpolationEntry *entry)
{
  const GridBox *box = grid_box(coupling->grid);
  const PetscInt c = box_index(box, at[X], at[Y], at[Z]), last = box->cells[d];
  CoveredFace covered = {d,         c, {at[X], at[Y], at[Z]}, entry->body, entry->volume / coupling->volume,
                         entry->arm};

  PetscFunctionBegin;
  if (coupling->faces.kinds[d][c] == COUPLED_GIVEN && (box->periodic[d] || (at[d] > 0 && at[d] < last)))
    PetscCall(AppendItem(&coupling->faces.covered_count, &coupling->faces.covered_room,
                         &coupling->faces.covered, covered));
  for (PetscInt side = 0; side < 2 && !box->periodic[d]; side++) {
    if (at[d] != (side ? last - 1 : 1))
      continue;
    covered.at[d] = side ? last : 0;
    covered.face = c + (side ? 1 : -1) * box->stride[d];
    if (coupling->faces.kinds[d][covered.face] == COUPLED_GIVEN)
      PetscCall(AppendItem(&coupling->faces.covered_count, &coupling->faces.covered_room,
                           &coupling->faces.covered, covered));
  }
  PetscFunctionReturn(0);
}

/* What a body has in one dual cell. */
static PetscErrorCode AddPart(Coupling coupling, PetscReal *const weights[DIM], PetscInt d,
                              const PetscInt at[DIM], InterpolationEntry entry)
{
  FaceMap       *map = &coupling->faces;
  const PetscInt c = box_index(grid_box(coupling->grid), at[X], at[Y], at[Z]),
                 kind = coupling->faces.kinds[d][c];
  const PetscReal negligible = 1e-9 * coupling->volume;
  const GridRange faces = grid_faces(coupling->grid, d);

  PetscFunctionBegin;
  if (at[d] < faces.end[d])
    PetscCall(AppendItem(
        &map->fraction_count, &map->fraction_room, &map->fractions,
        (SolidFraction){
            d, c, entry.body, {at[X], at[Y], at[Z]}, entry.area, entry.volume, entry.arm, entry.surface}));
  if (coupling->solids.bodies[entry.body].free < 0)
    PetscCall(AddCovered(coupling, d, at, &entry));
  if (kind == COUPLED_GIVEN)
    PetscFunctionReturn(0);
  if (kind == COUPLED_FLUID && coupling->discretisation->mixed == MIXED_BY_VOLUME &&
      entry.volume > negligible)
    PetscCall(CouplingAddMixed(coupling, d, at, weights[d][c]));
  if (coupling->faces.kinds[d][c] >= 0) {
    entry.face = coupling->faces.kinds[d][c];
    PetscCall(AddEntry(&coupling->faces, entry));
  }
  PetscFunctionReturn(0);
}

/* To the centroid of an area; the lattice is shifted to the body, not the body to its image. */
static Vector3 surface_arm(Coupling coupling, PetscInt body, PetscReal area, Vector3 moment)
{
  Vector3 arm =
      vector3_subtract(vector3_scale(1. / area, moment), coupling->solids.bodies[body].body.position);

  if (grid_box(coupling->grid)->dimension == 2)
    arm.at[Z] = 0.;
  return arm;
}

static PetscErrorCode CutBody(Coupling coupling, PetscReal *const weights[DIM], PetscInt body, PetscInt d,
                              Vector3 shift)
{
  const Placed   *placed = &coupling->solids.bodies[body];
  const PetscReal thickness = placed->body.thickness, least = 1e-14 * coupling->volume;
  PetscReal      *area, *volume, *passing;
  Vector3        *moment;
  PetscInt        size;
  Lattice         part, lattice;

  PetscFunctionBegin;
  if (!coupling_lattice(coupling, body, d, shift, &part))
    PetscFunctionReturn(0);
  lattice = part;
  lattice.start[X] = part.first[X]; /* along rows the same is summed on any rank */
  size = lattice_size(&lattice);
  PetscCall(PetscCalloc4(size, &area, size, &volume, size, &passing,
                         coupling->discretisation->needs_centroids ? size : 0, &moment));
  lattice_cut(&lattice, &placed->triangles, area, coupling->discretisation->needs_centroids ? moment : NULL,
              volume, passing);
  lattice_fill(&lattice, volume, passing);
  FOR_PLACES(&part, at) {
    const PetscInt     n = lattice_index(&lattice, at[X], at[Y], at[Z]);
    InterpolationEntry entry = {.body = body, .area = area[n]};

    entry.volume = thickness > 0. ? thickness * area[n] : volume[n];
    if (entry.area == 0. && entry.volume < least)
      continue;
    entry.arm = coupling_arm(coupling, d, at, body, shift);
    if (coupling->discretisation->needs_centroids && area[n] > 0.)
      entry.surface = surface_arm(coupling, body, area[n], moment[n]);
    PetscCall(AddPart(coupling, weights, d, at, entry));
  }
  PetscCall(PetscFree4(area, volume, passing, moment));
  PetscFunctionReturn(0);
}

/* A solid face whose dual cell bodies do not fill: the fluid there has no pressure and moves with them. */
static PetscErrorCode AddGaps(Coupling coupling)
{
  const PetscReal full = coupling->volume * (1. - 1e-9);
  const PetscInt  first = coupling->faces.mixed_count;
  PetscReal      *filled;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(grid_box(coupling->grid)->length, &filled));
  for (PetscInt d = 0; d < grid_box(coupling->grid)->dimension; d++) {
    for (PetscInt n = 0; n < coupling->faces.fraction_count; n++)
      filled[coupling->faces.fractions[n].face] = 0.;
    for (PetscInt n = 0; n < coupling->faces.fraction_count; n++)
      if (coupling->faces.fractions[n].direction == d)
        filled[coupling->faces.fractions[n].face] += coupling->faces.fractions[n].volume;
    for (PetscInt n = 0; n < coupling->faces.fraction_count; n++) {
      const SolidFraction *fraction = &coupling->faces.fractions[n];
      PetscInt            *kind = &coupling->faces.kinds[d][fraction->face];

      if (fraction->direction != d || filled[fraction->face] >= full)
        continue;
      if (*kind == COUPLED_SOLID)
        PetscCall(CouplingAddMixed(coupling, d, fraction->at, 0.));
      if (*kind >= first)
        PetscCall(AddEntry(&coupling->faces, (InterpolationEntry){.face = *kind,
                                                                  .body = fraction->body,
                                                                  .area = fraction->area,
                                                                  .volume = fraction->volume,
                                                                  .arm = fraction->arm,
                                                                  .surface = fraction->surface}));
    }
  }
  PetscCall(PetscFree(filled));
  PetscFunctionReturn(0);
}

/* Owners without a piece in the dual cell. */
static PetscErrorCode AddOwners(Coupling coupling)
{
  const PetscInt found = coupling->faces.entry_count;
  PetscBool     *has_owner;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(coupling->faces.mixed_count, &has_owner));
  for (PetscInt s = 0; s < found; s++)
    if (coupling->faces.entries[s].body == coupling->faces.mixed[coupling->faces.entries[s].face].owners[0])
      has_owner[coupling->faces.entries[s].face] = PETSC_TRUE;
  for (PetscInt m = 0; m < coupling->faces.mixed_count; m++) {
    const MixedFace *mixed = &coupling->faces.mixed[m];

    if (!has_owner[m] && mixed->owners[0] >= 0)
      PetscCall(AddEntry(&coupling->faces,
                         (InterpolationEntry){.face = m,
                                              .body = mixed->owners[0],
                                              .arm = coupling_nearest_arm(coupling, mixed->direction,
                                                                          mixed->at, mixed->owners[0])}));
  }
  PetscCall(PetscFree(has_owner));
  PetscFunctionReturn(0);
}

/* Brings the entries of each face together. */
static PetscErrorCode SortEntries(FaceMap *faces)
{
  InterpolationEntry *sorted;
  PetscInt            total = 0;

  PetscFunctionBegin;
  for (PetscInt s = 0; s < faces->entry_count; s++)
    faces->mixed[faces->entries[s].face].count++;
  for (PetscInt m = 0; m < faces->mixed_count; m++) {
    faces->mixed[m].first = total;
    total += faces->mixed[m].count;
    faces->mixed[m].count = 0;
  }
  PetscCall(PetscMalloc1(total, &sorted));
  for (PetscInt s = 0; s < total; s++) {
    MixedFace *mixed = &faces->mixed[faces->entries[s].face];

    sorted[mixed->first + mixed->count++] = faces->entries[s];
  }
  PetscCall(PetscFree(faces->entries));
  faces->entries = sorted;
  faces->entry_room = total;
  PetscFunctionReturn(0);
}

static PetscReal area_of_owner(const MixedFace *mixed, const InterpolationEntry *entry)
{
  return entry->body == mixed->owners[0] || entry->body == mixed->owners[1] ? entry->area : 0.;
}

/* Bodies that do not own the face have a volume in the dual cell and no part in its velocity. */
void weigh_by_owners(const MixedFace *mixed, PetscReal solid, InterpolationEntry entries[])
{
  PetscReal area = 0.;
  PetscBool is_given = PETSC_FALSE;

  for (PetscInt s = 0; s < mixed->count; s++)
    area += area_of_owner(mixed, &entries[s]);
  for (PetscInt s = 0; s < mixed->count; s++) {
    if (mixed->owners[0] < 0)
      entries[s].weight = entries[s].volume / solid;
    else if (area > 0.)
      entries[s].weight = area_of_owner(mixed, &entries[s]) / area;
    else
      entries[s].weight = entries[s].body == mixed->owners[0] && !is_given ? 1. : 0.;
    is_given = is_given || entries[s].weight > 0.;
  }
}

static void finish_face(Coupling coupling, PetscReal *const densities[DIM], PetscReal *const weights[DIM],
                        MixedFace *mixed)
{
  InterpolationEntry *entries = &coupling->faces.entries[mixed->first];
  PetscReal           solid = 0.;

  for (PetscInt s = 0; s < mixed->count; s++)
    solid += entries[s].volume;
  mixed->density = coupling_density(coupling, densities, mixed->direction, mixed->face);
  coupling->discretisation->interpolate(coupling, solid, mixed, entries);
  weights[mixed->direction][mixed->face] = mixed->weight * mixed->open;
}

static PetscErrorCode CutImage(Coupling coupling, PetscInt body, Vector3 shift, const void *context)
{
  PetscFunctionBegin;
  for (PetscInt d = 0; d < grid_box(coupling->grid)->dimension; d++)
    PetscCall(CutBody(coupling, context, body, d, shift));
  PetscFunctionReturn(0);
}

/* The numbers of BodySums, one after the other. */
enum { FACES, WHOLE, VOLUME = WHOLE + 3, DISPLACED, NUMBERS = DISPLACED + 3 };

static void add_sums(Coupling coupling, PetscReal *const densities[DIM], ReproducibleSum sums[])
{
  PetscReal across[3];

  for (PetscInt n = 0; n < coupling->faces.fraction_count; n++) {
    const SolidFraction *fraction = &coupling->faces.fractions[n];
    const PetscInt       d = fraction->direction;
    const PetscReal      mass = coupling_density(coupling, densities, d, fraction->face) * fraction->volume;
    ReproducibleSum     *sum = &sums[NUMBERS * (DIM * fraction->body + d)];
    const PetscBool      counts = coupling->faces.kinds[d][fraction->face] != COUPLED_GIVEN;

    places_across(d, fraction->arm, across);
    sum_add(&sum[VOLUME], counts ? fraction->volume : 0.);
    for (PetscInt i = 0; i < 3; i++) {
      sum_add(&sum[WHOLE + i], fraction->volume * across[i]);
      sum_add(&sum[DISPLACED + i], counts ? mass * across[i] : 0.);
    }
  }
  for (PetscInt m = 0; m < coupling->faces.mixed_count; m++)
    for (PetscInt s = coupling->faces.mixed[m].first;
         s < coupling->faces.mixed[m].first + coupling->faces.mixed[m].count; s++)
      if (coupling->faces.mixed[m].is_owned)
        sum_add(&sums[NUMBERS * (DIM * coupling->faces.entries[s].body + coupling->faces.mixed[m].direction) +
                      FACES],
                coupling->faces.entries[s].weight > 0.);
}

/* Of all ranks; and what of them the report and the bodies keep. */
static PetscErrorCode FindSums(Coupling coupling, PetscReal *const densities[DIM], BodySums sums[],
                               PetscReal displaced[])
{
  const PetscInt dimension = grid_box(coupling->grid)->dimension,
                 numbers = NUMBERS * DIM * coupling->solids.count;
  ReproducibleSum *parts;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(numbers, &parts));
  add_sums(coupling, densities, parts);
  PetscCall(SumOverRanks(coupling->fluid, numbers, parts, (PetscReal *)sums));
  PetscCall(PetscFree(parts));
  coupling->found.unseen_bodies = coupling->found.inexact_bodies = 0;
  for (PetscInt b = 0; b < coupling->solids.count; b++) {
    PetscBool is_seen = PETSC_FALSE;

    for (PetscInt d = 0; d < dimension; d++) {
      is_seen = is_seen || sums[DIM * b + d].faces > 0.;
      displaced[b] += sums[DIM * b + d].displaced[0] / (PetscReal)dimension;
    }
    coupling->found.unseen_bodies += !is_seen;
  }
  PetscFunctionReturn(0);
}

PetscErrorCode CouplingInterpolate(Coupling coupling, PetscReal *const densities[DIM], PetscReal displaced[])
{
  const Discretisation *row = coupling->discretisation;
  PetscReal            *weights[DIM];
  BodySums             *sums;

  PetscFunctionBegin;
  PetscCall(MacGridGetFaces(coupling->grid, coupling->faces.weights, weights));
  PetscCall(PetscArrayzero(coupling->solids.offsets, DIM * coupling->solids.count));
  coupling->faces.entry_count = coupling->faces.fraction_count = coupling->faces.covered_count = 0;
  PetscCall(CouplingVisitImages(coupling, CutImage, weights));
  if (row->mixed == MIXED_BY_VOLUME)
    PetscCall(AddGaps(coupling));
  PetscCall(AddOwners(coupling));
  PetscCall(SortEntries(&coupling->faces));
  for (PetscInt m = 0; m < coupling->faces.mixed_count; m++)
    finish_face(coupling, densities, weights, &coupling->faces.mixed[m]);
  PetscCall(MacGridRestoreFaces(coupling->grid, coupling->faces.weights, weights));
  PetscCall(PetscCalloc1(DIM * coupling->solids.count, &sums));
  PetscCall(FindSums(coupling, densities, sums, displaced));
  if (row->CorrectBuoyancy)
    PetscCall(row->CorrectBuoyancy(coupling, densities, sums));
  PetscCall(PetscFree(sums));
  PetscFunctionReturn(0);
}
