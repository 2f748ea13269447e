/* The masses of fluid in mixed dual cells, M_F <- M_F (1 + l_0 + l.x), such that their sum and their first
   moments across each direction are those that Archimedes needs (docs/numerics.md, section 14). */
#include "coupling_impl.h"

#define LARGEST_CHANGE 0.9

/* Solves the symmetric system by elimination; what a vanishing pivot leaves undetermined is zero. */
static void solve_moments(const PetscReal moments[6], const PetscReal missing[3], PetscReal change[3])
{
  PetscReal a[3][4];

  for (PetscInt n = 0, i = 0; i < 3; i++)
    for (PetscInt j = i; j < 3; j++)
      a[i][j] = a[j][i] = moments[n++];
  for (PetscInt i = 0; i < 3; i++)
    a[i][3] = missing[i];
  for (PetscInt p = 0; p < 3; p++) {
    const PetscReal whole = p == 0 ? moments[0] : p == 1 ? moments[3] : moments[5];

    if (a[p][p] <= 1e-6 * whole || whole <= 0.) {
      for (PetscInt i = 0; i < 3; i++)
        a[i][p] = a[p][i] = 0.;
      a[p][p] = 1.;
      a[p][3] = 0.;
    }
    for (PetscInt i = p + 1; i < 3; i++)
      for (PetscInt j = 3; j >= p; j--)
        a[i][j] -= a[i][p] / a[p][p] * a[p][j];
  }
  for (PetscInt p = 2; p >= 0; p--) {
    change[p] = a[p][3];
    for (PetscInt j = p + 1; j < 3; j++)
      change[p] -= a[p][j] * change[j];
    change[p] /= a[p][p];
  }
}

/* The coefficients l of a body along a direction; false if the sums cannot be met. */
static PetscBool find_change(Coupling coupling, const Placed *placed, PetscInt d, Balance *balance,
                             PetscReal change[3])
{
  PetscReal center[3], farthest[3] = {1., 0., 0.}, largest = 0.;

  places_across(d, placed->center, center);
  if (PetscAbsReal(balance->volume - placed->volume) <= 1e-9 * placed->volume) /* all of it is here */
    for (PetscInt n = 1; n < 3; n++)
      balance->missing[n] += balance->displaced[n] - center[n] * balance->displaced[0];
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

static void change_masses(Coupling coupling, const PetscReal changes[])
{
  PetscReal across[3];

  for (PetscInt m = 0; m < coupling->mixed_count; m++) {
    MixedFace *mixed = &coupling->mixed[m];
    PetscReal  factor = 0.;

    for (PetscInt s = mixed->first; s < mixed->first + mixed->count; s++) {
      const Share     *share = &coupling->shares[s];
      const PetscReal *change = &changes[3 * (DIM * share->body + mixed->direction)];

      places_across(mixed->direction, share->arm, across);
      factor += share->weight * (1. + change[0] * across[0] + change[1] * across[1] + change[2] * across[2]);
    }
    mixed->mass *= factor;
  }
}

/* Moves the arms of a body's faces along one direction together, across it, until the solid volumes in the
   dual cells have their center where the body has it: then hydrostatic pressure has no torque. Dry ones
   count too: what is wet of an upright box is moved as far as the whole of it. */
static void find_offset(Coupling coupling, PetscInt body, PetscInt d, const Balance *balance)
{
  const Placed *placed = &coupling->bodies[body];
  PetscReal     center[3];

  places_across(d, placed->center, center);
  if (PetscAbsReal(balance->whole[0] - placed->volume) > 1e-9 * placed->volume || placed->volume <= 0.)
    return; /* not all of it is in the box */
  for (PetscInt n = 1; n < 3; n++)
    coupling->offsets[DIM * body + d].at[(d + n) % DIM] = center[n] - balance->whole[n] / balance->whole[0];
}

static void move_arms(Coupling coupling)
{
  for (PetscInt m = 0; m < coupling->mixed_count; m++)
    for (PetscInt s = coupling->mixed[m].first; s < coupling->mixed[m].first + coupling->mixed[m].count;
         s++) {
      Share *share = &coupling->shares[s];

      share->arm =
          vector3_add(share->arm, coupling->offsets[DIM * share->body + coupling->mixed[m].direction]);
    }
}

/* In two dimensions the middle of a body is in the plane. */
static void flatten(Coupling coupling, Placed *placed)
{
  if (grid_box(coupling->grid)->dimension == 2)
    placed->center.at[Z] = 0.;
}

/* `displaced`: the mass of the fluid in the place of each body. */
PetscErrorCode CouplingBalanceMass(Coupling coupling, Balance balances[], PetscReal displaced[])
{
  const PetscInt dimension = grid_box(coupling->grid)->dimension;
  PetscReal     *changes;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, balances,
                             (PetscMPIInt)(DIM * coupling->body_count * sizeof(Balance) / sizeof(PetscReal)),
                             MPIU_REAL, MPI_SUM, coupling->fluid));
  PetscCall(PetscCalloc1(3 * DIM * coupling->body_count, &changes));
  coupling->found.unseen_bodies = coupling->found.inexact_bodies = 0;
  for (PetscInt b = 0; b < coupling->body_count; b++) {
    PetscBool is_seen = PETSC_FALSE, is_exact = PETSC_TRUE;

    flatten(coupling, &coupling->bodies[b]);
    for (PetscInt d = 0; d < dimension; d++) {
      Balance *balance = &balances[DIM * b + d];

      is_seen = is_seen || balance->faces > 0.;
      displaced[b] += balance->displaced[0] / (PetscReal)dimension;
      if (coupling->config.faces == COUPLING_CUT)
        find_offset(coupling, b, d, balance);
      if (balance->moments[0] <= 0. || coupling->config.faces == COUPLING_CUT) /* which needs no balance */
        continue;
      if (!find_change(coupling, &coupling->bodies[b], d, balance, &changes[3 * (DIM * b + d)]))
        is_exact = PETSC_FALSE;
    }
    coupling->found.unseen_bodies += !is_seen;
    coupling->found.inexact_bodies += is_seen && !is_exact;
  }
  change_masses(coupling, changes);
  move_arms(coupling);
  PetscCall(PetscFree(changes));
  PetscFunctionReturn(0);
}
