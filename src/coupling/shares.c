/* The parts that bodies have in mixed faces, by their areas in the dual cells; and for every body and
   direction what the masses of fluid have to add up to (docs/numerics.md, section 14, M_F). */
#include "coupling_impl.h"

/* The two coordinates across a direction, from the body's position. */
void places_across(PetscInt d, Vector3 arm, PetscReal across[3])
{
  across[0] = 1.;
  across[1] = arm.at[(d + 1) % DIM];
  across[2] = arm.at[(d + 2) % DIM];
}

static PetscErrorCode AddShare(Coupling coupling, Share share)
{
  PetscFunctionBegin;
  PetscCall(GrowList(coupling->share_count, &coupling->share_room, &coupling->shares));
  coupling->shares[coupling->share_count++] = share;
  PetscFunctionReturn(0);
}

typedef struct {
  PetscReal *const *densities; /* null: uniform */
  PetscReal *const *weights;
  Balance          *balances;
} Books;

/* What a body has in one dual cell. */
static PetscErrorCode Enter(Coupling coupling, const Books *books, PetscInt d, const PetscInt at[DIM],
                            Share share)
{
  const PetscInt  c = box_index(grid_box(coupling->grid), at[X], at[Y], at[Z]), kind = coupling->kinds[d][c];
  const PetscReal negligible = 1e-9 * coupling->volume;
  Balance        *balance = &books->balances[DIM * share.body + d];
  PetscReal       across[3], mass;
  PetscInt        end[DIM];

  PetscFunctionBegin;
  grid_face_end(coupling->grid, d, end);
  places_across(d, share.arm, across);
  if (at[d] < end[d]) {
    PetscCall(CouplingAddFilling(
        coupling, (Filling){d, c, share.body, {at[X], at[Y], at[Z]}, share.volume, share.arm}));
    for (PetscInt n = 0; n < 3; n++)
      balance->whole[n] += share.volume * across[n];
  }
  if (kind == COUPLED_GIVEN)
    PetscFunctionReturn(0);
  if (kind == COUPLED_FLUID && coupling->config.faces == COUPLING_CUT && share.volume > negligible)
    PetscCall(CouplingAddMixed(coupling, d, at, books->weights[d][c]));
  if (coupling->kinds[d][c] >= 0) {
    share.face = coupling->kinds[d][c];
    PetscCall(AddShare(coupling, share));
  }
  if (at[d] >= end[d])
    PetscFunctionReturn(0);
  mass = coupling_density(coupling, books->densities, d, c) * share.volume;
  balance->volume += share.volume;
  for (PetscInt n = 0; n < 3; n++) {
    balance->displaced[n] += mass * across[n];
    balance->missing[n] -= mass * across[n]; /* shares of mixed faces are put back by enter_mixed */
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode CutBody(Coupling coupling, const Books *books, PetscInt body, PetscInt d, Vector3 shift)
{
  const Placed   *placed = &coupling->bodies[body];
  const PetscReal thickness = placed->body.thickness, least = 1e-14 * coupling->volume;
  PetscReal      *area, *volume, *passing;
  PetscInt        at[DIM], size;
  Lattice         lattice;

  PetscFunctionBegin;
  if (!coupling_lattice(coupling, body, d, shift, &lattice))
    PetscFunctionReturn(0);
  size = lattice_size(&lattice);
  PetscCall(CouplingGetScratch(coupling, 3 * size, &area));
  volume = area + size;
  passing = volume + size;
  lattice_cut(&lattice, &placed->triangles, area, volume, passing);
  lattice_fill(&lattice, volume, passing);
  for (at[Z] = lattice.start[Z]; at[Z] < lattice.end[Z]; at[Z]++)
    for (at[Y] = lattice.start[Y]; at[Y] < lattice.end[Y]; at[Y]++)
      for (at[X] = lattice.start[X]; at[X] < lattice.end[X]; at[X]++) {
        const PetscInt n = lattice_index(&lattice, at[X], at[Y], at[Z]);
        Share          share = {.body = body, .area = area[n]};

        share.volume = thickness > 0. ? thickness * area[n] : volume[n];
        if (share.area == 0. && share.volume < least)
          continue;
        share.arm = coupling_arm(coupling, d, at, body, shift);
        PetscCall(Enter(coupling, books, d, at, share));
      }
  PetscFunctionReturn(0);
}

/* A solid face whose dual cell bodies do not fill: the fluid there has no pressure and moves with them. */
static PetscErrorCode AddGaps(Coupling coupling)
{
  const PetscReal full = coupling->volume * (1. - 1e-9);
  const PetscInt  first = coupling->mixed_count;
  PetscReal      *filled;

  PetscFunctionBegin;
  PetscCall(CouplingGetScratch(coupling, grid_box(coupling->grid)->length, &filled));
  for (PetscInt d = 0; d < grid_box(coupling->grid)->dimension; d++) {
    for (PetscInt n = 0; n < coupling->filling_count; n++)
      filled[coupling->fillings[n].face] = 0.;
    for (PetscInt n = 0; n < coupling->filling_count; n++)
      if (coupling->fillings[n].direction == d)
        filled[coupling->fillings[n].face] += coupling->fillings[n].volume;
    for (PetscInt n = 0; n < coupling->filling_count; n++) {
      const Filling *filling = &coupling->fillings[n];
      PetscInt      *kind = &coupling->kinds[d][filling->face];

      if (filling->direction != d || filled[filling->face] >= full)
        continue;
      if (*kind == COUPLED_SOLID)
        PetscCall(CouplingAddMixed(coupling, d, filling->at, 0.));
      if (*kind >= first)
        PetscCall(AddShare(
            coupling,
            (Share){.face = *kind, .body = filling->body, .volume = filling->volume, .arm = filling->arm}));
    }
  }
  PetscFunctionReturn(0);
}

/* Owners without a piece in the dual cell. */
static PetscErrorCode AddOwners(Coupling coupling)
{
  const PetscInt found = coupling->share_count;
  PetscBool     *has_owner;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(coupling->mixed_count, &has_owner));
  for (PetscInt s = 0; s < found; s++)
    if (coupling->shares[s].body == coupling->mixed[coupling->shares[s].face].owners[0])
      has_owner[coupling->shares[s].face] = PETSC_TRUE;
  for (PetscInt m = 0; m < coupling->mixed_count; m++) {
    const MixedFace *mixed = &coupling->mixed[m];

    if (!has_owner[m] && mixed->owners[0] >= 0)
      PetscCall(AddShare(coupling, (Share){.face = m,
                                           .body = mixed->owners[0],
                                           .arm = coupling_nearest_arm(coupling, mixed->direction, mixed->at,
                                                                       mixed->owners[0])}));
  }
  PetscCall(PetscFree(has_owner));
  PetscFunctionReturn(0);
}

/* Brings the shares of each face together. */
static PetscErrorCode SortShares(Coupling coupling)
{
  Share   *sorted;
  PetscInt total = 0;

  PetscFunctionBegin;
  for (PetscInt s = 0; s < coupling->share_count; s++)
    coupling->mixed[coupling->shares[s].face].count++;
  for (PetscInt m = 0; m < coupling->mixed_count; m++) {
    coupling->mixed[m].first = total;
    total += coupling->mixed[m].count;
    coupling->mixed[m].count = 0;
  }
  PetscCall(PetscMalloc1(total, &sorted));
  for (PetscInt s = 0; s < total; s++) {
    MixedFace *mixed = &coupling->mixed[coupling->shares[s].face];

    sorted[mixed->first + mixed->count++] = coupling->shares[s];
  }
  PetscCall(PetscFree(coupling->shares));
  coupling->shares = sorted;
  coupling->share_room = total;
  PetscFunctionReturn(0);
}

static PetscReal area_of_owner(const MixedFace *mixed, const Share *share)
{
  return share->body == mixed->owners[0] || share->body == mixed->owners[1] ? share->area : 0.;
}

/* By the areas of the owners; others have a volume in the dual cell and no part in its velocity. Without
   owners, by volume. */
static void weigh_shares(const MixedFace *mixed, PetscReal solid, Share *shares)
{
  PetscReal area = 0.;
  PetscBool is_given = PETSC_FALSE;

  for (PetscInt s = 0; s < mixed->count; s++)
    area += area_of_owner(mixed, &shares[s]);
  for (PetscInt s = 0; s < mixed->count; s++) {
    if (mixed->owners[0] < 0)
      shares[s].weight = shares[s].volume / solid;
    else if (area > 0.)
      shares[s].weight = area_of_owner(mixed, &shares[s]) / area;
    else
      shares[s].weight = shares[s].body == mixed->owners[0] && !is_given ? 1. : 0.;
    is_given = is_given || shares[s].weight > 0.;
  }
}

/* The part of a face whose fluid slips along the bodies: beside a fluid cell and a pressure on its other
   side, with no thin surface between them. */
static PetscReal open_part(Coupling coupling, const MixedFace *mixed, PetscReal solid)
{
  const PetscReal least = 1e-4, open = 1. - solid / coupling->volume;
  const PetscInt  c = mixed->face, lower = c - grid_box(coupling->grid)->stride[mixed->direction];
  const PetscBool upper_in = !coupling->solid[c], lower_in = !coupling->solid[lower];
  const int       common = coupling->active[c] & coupling->active[lower];

  if (coupling->config.faces == COUPLING_TIED || open < least)
    return 0.;
  if (!upper_in && !lower_in) /* two cells with fluid on the same side of them */
    return common ? open : 0.;
  if (upper_in && lower_in)
    return coupling->marks[mixed->direction][c] ? 0. : open;
  return coupling->active[upper_in ? lower : c] ? open : 0.;
}

static void enter_mixed(Coupling coupling, const Books *books, const MixedFace *mixed)
{
  const Share *shares = &coupling->shares[mixed->first];
  PetscReal    across[3];

  for (PetscInt s = 0; s < mixed->count; s++) {
    Balance        *balance = &books->balances[DIM * shares[s].body + mixed->direction];
    const PetscReal mass = shares[s].weight * mixed->mass,
                    wanted = shares[s].weight * mixed->density * coupling->volume;

    balance->faces += shares[s].weight > 0.;
    places_across(mixed->direction, shares[s].arm, across);
    for (PetscInt n = 0; n < 3; n++) /* a mixed face shall hold rho (v - V_s), and holds `mass` */
      balance->missing[n] += (wanted - mass) * across[n];
    for (PetscInt n = 0, m = 0; m < 3; m++)
      for (PetscInt l = m; l < 3; l++)
        balance->moments[n++] += mass * across[m] * across[l];
  }
}

static void finish_face(Coupling coupling, const Books *books, MixedFace *mixed)
{
  Share    *shares = &coupling->shares[mixed->first];
  PetscReal solid = 0.;

  for (PetscInt s = 0; s < mixed->count; s++)
    solid += shares[s].volume;
  mixed->density = coupling_density(coupling, books->densities, mixed->direction, mixed->face);
  mixed->open = open_part(coupling, mixed, solid);
  books->weights[mixed->direction][mixed->face] = mixed->weight * mixed->open;
  if (mixed->open > 0.) {
    mixed->mass = 0.;
    for (PetscInt s = 0; s < mixed->count; s++)
      shares[s].weight = shares[s].volume / coupling->volume;
  } else {
    mixed->mass = mixed->density * PetscMax(coupling->volume - solid, 0.);
    weigh_shares(mixed, solid, shares);
  }
  if (mixed->is_owned)
    enter_mixed(coupling, books, mixed);
}

/* Solid dual cells, in halves for the bodies of their two cells. */
static void enter_solid_faces(Coupling coupling, const Books *books, PetscInt d)
{
  const GridBox *box = grid_box(coupling->grid);
  PetscInt       at[DIM], end[DIM];

  grid_face_end(coupling->grid, d, end);
  for (at[Z] = box->start[Z]; at[Z] < end[Z]; at[Z]++)
    for (at[Y] = box->start[Y]; at[Y] < end[Y]; at[Y]++) {
      const PetscInt row = box_index(box, box->start[X], at[Y], at[Z]) - box->start[X];

      for (at[X] = box->start[X]; at[X] < end[X]; at[X]++) {
        const PetscInt c = row + at[X];

        if (coupling->kinds[d][c] != COUPLED_SOLID)
          continue;
        for (PetscInt side = 0; side < 2; side++) {
          const PetscInt  body = coupling->solid[side ? c : c - box->stride[d]] - 1;
          const PetscReal mass = 0.5 * coupling->volume * coupling_density(coupling, books->densities, d, c);
          PetscReal       across[3];

          places_across(d, coupling_nearest_arm(coupling, d, at, body), across);
          for (PetscInt n = 0; n < 3; n++)
            books->balances[DIM * body + d].missing[n] += mass * across[n];
        }
      }
    }
}

static PetscErrorCode CutImage(Coupling coupling, PetscInt body, Vector3 shift, const void *context)
{
  PetscFunctionBegin;
  for (PetscInt d = 0; d < grid_box(coupling->grid)->dimension; d++)
    PetscCall(CutBody(coupling, context, body, d, shift));
  PetscFunctionReturn(0);
}

PetscErrorCode CouplingFindShares(Coupling coupling, PetscReal *const densities[DIM], Balance balances[])
{
  PetscReal  *weights[DIM];
  const Books books = {densities, weights, balances};

  PetscFunctionBegin;
  PetscCall(MacGridGetFaces(coupling->grid, coupling->weights, weights));
  PetscCall(PetscArrayzero(coupling->offsets, DIM * coupling->body_count));
  coupling->share_count = coupling->filling_count = 0;
  PetscCall(CouplingVisitImages(coupling, CutImage, &books));
  if (coupling->config.faces == COUPLING_CUT)
    PetscCall(AddGaps(coupling));
  PetscCall(AddOwners(coupling));
  PetscCall(SortShares(coupling));
  for (PetscInt m = 0; m < coupling->mixed_count; m++)
    finish_face(coupling, &books, &coupling->mixed[m]);
  for (PetscInt d = 0; d < grid_box(coupling->grid)->dimension && coupling->config.faces == COUPLING_TIED;
       d++)
    enter_solid_faces(coupling, &books, d);
  PetscCall(MacGridRestoreFaces(coupling->grid, coupling->weights, weights));
  PetscFunctionReturn(0);
}
