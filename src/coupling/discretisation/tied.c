/* Tied faces (docs/numerics.md, section 14): faces between a solid and a fluid cell move with the body of the
   solid cell, as in the thesis's (5.6) and (5.12). All others are fluid or solid, so some of a body lies in
   fluid dual cells and some fluid in solid ones; the masses of fluid in mixed dual cells, M_F <- M_F (1 + l_0
   + l.x), make up for it: their sum and their first moments across each direction become those that
   Archimedes' law needs. */
#include "../coupling_impl.h"

#include <millrace/dense.h>

#define LARGEST_CHANGE 0.9

/* What the masses of a body's mixed faces along one direction have to add up to. */
typedef struct {
  PetscReal missing[3]; /* fluid mass that should be there and is not, with its two moments across */
  PetscReal moments[6]; /* of the fluid mass that is there: 1, x, y, xx, xy, yy */
} BuoyancySums;
/* Its numbers, one after the other. */
enum { MISSING, MOMENTS = MISSING + 3, NUMBERS = MOMENTS + 6 };

static void interpolate(Coupling coupling, PetscReal solid, MixedFace *mixed, InterpolationEntry entries[])
{
  mixed->open = 0.;
  mixed->mass = mixed->density * PetscMax(coupling->volume - solid, 0.);
  weigh_by_owners(mixed, solid, entries);
}

/* What a vanishing pivot leaves undetermined is zero. */
static void solve_moments(const PetscReal moments[6], const PetscReal missing[3], PetscReal change[3])
{
  PetscReal a[3][3], work[3];

  for (PetscInt n = 0, i = 0; i < 3; i++)
    for (PetscInt j = i; j < 3; j++)
      a[j][i] = moments[n++];
  for (PetscInt i = 0; i < 3; i++)
    change[i] = missing[i];
  dense_ldl(3, 3, &a[0][0], 1e-6, work);
  dense_ldl_solve(3, 3, &a[0][0], change);
}

/* The coefficients l of a body along a direction; false if the sums cannot be met. */
static PetscBool find_change(Coupling coupling, const Placed *placed, PetscInt d, const BodySums *sums,
                             BuoyancySums *balance, PetscReal change[3])
{
  PetscReal centre[3], farthest[3] = {1., 0., 0.}, largest = 0.;

  places_across(d, placed->centre, centre);
  if (PetscAbsReal(sums->volume - placed->volume) <= 1e-9 * placed->volume) /* all of it is here */
    for (PetscInt n = 1; n < 3; n++)
      balance->missing[n] += sums->displaced[n] - centre[n] * sums->displaced[0];
  solve_moments(balance->moments, balance->missing, change);
  for (PetscInt n = 1; n < 3; n++) {
    const PetscInt a = (d + n) % DIM;

    farthest[n] = coupling->spacing + PetscMax(placed->high.at[a] - placed->body.position.at[a],
                                               placed->body.position.at[a] - placed->low.at[a]);
  }
  for (PetscInt n = 0; n < 3; n++)
    largest += PetscAbsReal(change[n]) * farthest[n];
  if (largest <= LARGEST_CHANGE)
    return PETSC_TRUE;
  change[1] = change[2] = 0.;
  change[0] = balance->moments[0] > 0. ? balance->missing[0] / balance->moments[0] : 0.;
  if (PetscAbsReal(change[0]) <= LARGEST_CHANGE)
    return PETSC_TRUE;
  change[0] = change[0] > 0. ? LARGEST_CHANGE : -LARGEST_CHANGE;
  return PETSC_FALSE;
}

static void change_masses(FaceMap *faces, const PetscReal changes[])
{
  PetscReal across[3];

  for (PetscInt m = 0; m < faces->mixed_count; m++) {
    MixedFace *mixed = &faces->mixed[m];
    PetscReal  factor = 0.;

    for (PetscInt s = mixed->first; s < mixed->first + mixed->count; s++) {
      const InterpolationEntry *entry = &faces->entries[s];
      const PetscReal          *change = &changes[3 * (DIM * entry->body + mixed->direction)];

      places_across(mixed->direction, entry->arm, across);
      factor += entry->weight * (1. + change[0] * across[0] + change[1] * across[1] + change[2] * across[2]);
    }
    mixed->mass *= factor;
  }
}

/* The fluid that a body displaces; the part in mixed dual cells is put back by add_mixed_face. */
static void add_displaced(Coupling coupling, PetscReal *const densities[DIM], ReproducibleSum balances[])
{
  PetscReal across[3];

  for (PetscInt n = 0; n < coupling->faces.fraction_count; n++) {
    const SolidFraction *fraction = &coupling->faces.fractions[n];
    const PetscInt       d = fraction->direction;
    const PetscReal      mass = coupling_density(coupling, densities, d, fraction->face) * fraction->volume;

    if (coupling->faces.kinds[d][fraction->face] == COUPLED_GIVEN)
      continue;
    places_across(d, fraction->arm, across);
    for (PetscInt i = 0; i < 3; i++)
      sum_add(&balances[NUMBERS * (DIM * fraction->body + d) + MISSING + i], -mass * across[i]);
  }
}

/* A mixed face shall hold rho (v - V_s), and holds `mass`. */
static void add_mixed_face(Coupling coupling, const MixedFace *mixed, ReproducibleSum balances[])
{
  const InterpolationEntry *entries = &coupling->faces.entries[mixed->first];
  PetscReal                 across[3];

  for (PetscInt s = 0; s < mixed->count; s++) {
    ReproducibleSum *balance = &balances[NUMBERS * (DIM * entries[s].body + mixed->direction)];
    const PetscReal  mass = entries[s].weight * mixed->mass,
                    wanted = entries[s].weight * mixed->density * coupling->volume;

    places_across(mixed->direction, entries[s].arm, across);
    for (PetscInt n = 0; n < 3; n++)
      sum_add(&balance[MISSING + n], (wanted - mass) * across[n]);
    for (PetscInt n = 0, m = 0; m < 3; m++)
      for (PetscInt l = m; l < 3; l++)
        sum_add(&balance[MOMENTS + n++], mass * across[m] * across[l]);
  }
}

/* Solid dual cells, in halves for the bodies of their two cells. */
static void add_solid_faces(Coupling coupling, PetscReal *const densities[DIM], PetscInt d,
                            ReproducibleSum balances[])
{
  const GridBox  *box = grid_box(coupling->grid);
  const GridRange faces = grid_faces(coupling->grid, d);

  FOR_PLACES(&faces, at) {
    const PetscInt c = box_index(box, at[X], at[Y], at[Z]);

    if (coupling->faces.kinds[d][c] != COUPLED_SOLID)
      continue;
    for (PetscInt side = 0; side < 2; side++) {
      const PetscInt  body = coupling->faces.solid[side ? c : c - box->stride[d]] - 1;
      const PetscReal mass = 0.5 * coupling->volume * coupling_density(coupling, densities, d, c);
      PetscReal       across[3];

      places_across(d, coupling_nearest_arm(coupling, d, at, body), across);
      for (PetscInt n = 0; n < 3; n++)
        sum_add(&balances[NUMBERS * (DIM * body + d) + MISSING + n], mass * across[n]);
    }
  }
}

static PetscErrorCode SumBuoyancy(Coupling coupling, PetscReal *const densities[DIM], BuoyancySums balances[])
{
  const PetscInt   count = NUMBERS * DIM * coupling->solids.count;
  ReproducibleSum *sums;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(count, &sums));
  add_displaced(coupling, densities, sums);
  for (PetscInt m = 0; m < coupling->faces.mixed_count; m++)
    if (coupling->faces.mixed[m].is_owned)
      add_mixed_face(coupling, &coupling->faces.mixed[m], sums);
  for (PetscInt d = 0; d < grid_box(coupling->grid)->dimension; d++)
    add_solid_faces(coupling, densities, d, sums);
  PetscCall(SumOverRanks(coupling->fluid, count, sums, (PetscReal *)balances));
  PetscCall(PetscFree(sums));
  PetscFunctionReturn(0);
}

/* Bodies that some rank, near to them, found to be inexact. */
static PetscErrorCode CountInexact(Coupling coupling, PetscBool is_inexact[])
{
  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, is_inexact, (PetscMPIInt)coupling->solids.count, MPIU_BOOL,
                             MPI_LOR, coupling->fluid));
  for (PetscInt b = 0; b < coupling->solids.count; b++)
    coupling->found.inexact_bodies += is_inexact[b];
  PetscFunctionReturn(0);
}

static PetscErrorCode BalanceMasses(Coupling coupling, PetscReal *const densities[DIM], const BodySums sums[])
{
  BuoyancySums *balances;
  PetscReal    *changes;
  PetscBool    *is_inexact;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(coupling->solids.count, &is_inexact));
  PetscCall(PetscCalloc1(DIM * coupling->solids.count, &balances));
  PetscCall(PetscCalloc1(3 * DIM * coupling->solids.count, &changes));
  PetscCall(SumBuoyancy(coupling, densities, balances));
  for (PetscInt m = 0; m < coupling->solids.near_count; m++)
    for (PetscInt d = 0; d < grid_box(coupling->grid)->dimension; d++) {
      const PetscInt b = coupling->solids.near[m], n = DIM * b + d;

      if (balances[n].moments[0] > 0. &&
          !find_change(coupling, &coupling->solids.bodies[b], d, &sums[n], &balances[n], &changes[3 * n]))
        is_inexact[b] = PETSC_TRUE;
    }
  PetscCall(CountInexact(coupling, is_inexact));
  change_masses(&coupling->faces, changes);
  PetscCall(PetscFree(is_inexact));
  PetscCall(PetscFree(changes));
  PetscCall(PetscFree(balances));
  PetscFunctionReturn(0);
}

const Discretisation TiedDiscretisation = {
    .mixed = MIXED_BETWEEN_CELLS, .interpolate = interpolate, .CorrectBuoyancy = BalanceMasses};
