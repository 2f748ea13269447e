/* Impulses of the pressure on bodies, and the momentum of all that the coupled system moves. */
#include "coupling_impl.h"

static PetscErrorCode AddPressure(Coupling coupling, Vec impulse, PetscReal impulses[])
{
  const PetscReal *values;

  PetscFunctionBegin;
  PetscCall(MacGridToSolver(coupling->grid, impulse, coupling->work));
  PetscCall(VecScale(coupling->work, -1.));
  PetscCall(VecGetArrayRead(coupling->work, &values));
  entries_gather(&coupling->all_entries, values, impulses);
  PetscCall(VecRestoreArrayRead(coupling->work, &values));
  PetscFunctionReturn(0);
}

/* W^T M_F (u* - u): the fluid that moves with bodies resists them. */
static PetscErrorCode AddCarried(Coupling coupling, const SolvedFaces *faces, PetscReal impulses[])
{
  PetscReal *before[DIM], *after[DIM], row[TWIST];

  PetscFunctionBegin;
  PetscCall(MacGridGetFaces(coupling->grid, faces->before, before));
  PetscCall(MacGridGetFaces(coupling->grid, faces->after, after));
  for (PetscInt m = 0; m < coupling->mixed_count; m++) {
    const MixedFace *mixed = &coupling->mixed[m];
    const PetscReal  lost =
        mixed->is_owned
             ? mixed->mass * (before[mixed->direction][mixed->face] - after[mixed->direction][mixed->face])
             : 0.;

    for (PetscInt s = mixed->first; s < mixed->first + mixed->count && lost != 0.; s++) {
      share_row(mixed->direction, &coupling->shares[s], row);
      for (PetscInt n = 0; n < TWIST; n++)
        impulses[TWIST * coupling->shares[s].body + n] += lost * row[n];
    }
  }
  PetscCall(MacGridRestoreFaces(coupling->grid, faces->after, after));
  PetscCall(MacGridRestoreFaces(coupling->grid, faces->before, before));
  PetscFunctionReturn(0);
}

PetscErrorCode CouplingGetImpulses(Coupling coupling, Vec impulse, const SolvedFaces *faces,
                                   PetscReal impulses[])
{
  const PetscInt count = TWIST * coupling->body_count;

  PetscFunctionBegin;
  PetscCall(PetscArrayzero(impulses, count));
  if (coupling->grid)
    PetscCall(AddPressure(coupling, impulse, impulses));
  if (coupling->grid && faces)
    PetscCall(AddCarried(coupling, faces, impulses));
  PetscCallMPI(
      MPI_Allreduce(MPI_IN_PLACE, impulses, (PetscMPIInt)count, MPIU_REAL, MPI_SUM, coupling->world));
  PetscFunctionReturn(0);
}

static void add_momentum(PetscInt d, Vector3 place, PetscReal amount, PetscReal momentum[2 * DIM])
{
  const PetscInt first = (d + 1) % DIM, second = (d + 2) % DIM;

  momentum[d] += amount;
  momentum[DIM + first] += place.at[second] * amount;
  momentum[DIM + second] -= place.at[first] * amount;
}

/* The mass of a fluid face is what its weight says: rho_0 v / weight. */
static void add_fluid(Coupling coupling, PetscInt d, const PetscReal *weights, const PetscReal *u,
                      PetscReal momentum[2 * DIM])
{
  const GridBox *box = grid_box(coupling->grid);
  PetscInt       at[DIM], end[DIM];

  grid_face_end(coupling->grid, d, end);
  for (at[Z] = box->start[Z]; at[Z] < end[Z]; at[Z]++)
    for (at[Y] = box->start[Y]; at[Y] < end[Y]; at[Y]++)
      for (at[X] = box->start[X]; at[X] < end[X]; at[X]++) {
        const PetscInt c = box_index(box, at[X], at[Y], at[Z]);

        if (weights[c] > 0. && coupling->kinds[d][c] < 0)
          add_momentum(d, grid_face_center(coupling->grid, d, at[X], at[Y], at[Z]),
                       coupling->density * coupling->volume / weights[c] * u[c], momentum);
      }
}

/* Of all fluid in the dual cell. */
static PetscReal mixed_mass(Coupling coupling, const MixedFace *mixed)
{
  return mixed->mass +
         (mixed->open > 0. ? mixed->open * coupling->density * coupling->volume / mixed->weight : 0.);
}

static void add_bodies(Coupling coupling, const PetscReal *twists, PetscReal momentum[2 * DIM])
{
  for (PetscInt f = 0; f < coupling->free_count; f++) {
    const CoupledBody *body = &coupling->bodies[coupling->free_bodies[f]].body;
    const PetscReal   *twist = &twists[TWIST * coupling->free_bodies[f]];
    const Vector3      spin = matrix3_apply(&body->inertia, vector3(twist[3], twist[4], twist[5]));

    for (PetscInt d = 0; d < DIM; d++) {
      add_momentum(d, body->position, body->mass * twist[d], momentum);
      momentum[DIM + d] += spin.at[d];
    }
  }
}

PetscErrorCode CouplingGetMomentum(Coupling coupling, Vec velocity[DIM], const PetscReal twists[],
                                   PetscReal momentum[2 * DIM])
{
  PetscReal *weights[DIM], *u[DIM];

  PetscFunctionBegin;
  PetscCall(PetscArrayzero(momentum, 2 * DIM));
  if (coupling->grid) {
    PetscCall(MacGridGetFaces(coupling->grid, velocity, u));
    PetscCall(MacGridGetFaces(coupling->grid, coupling->weights, weights));
    for (PetscInt d = 0; d < grid_box(coupling->grid)->dimension; d++)
      add_fluid(coupling, d, weights[d], u[d], momentum);
    for (PetscInt m = 0; m < coupling->mixed_count; m++) {
      const MixedFace *mixed = &coupling->mixed[m];

      if (mixed->is_owned)
        add_momentum(
            mixed->direction,
            grid_face_center(coupling->grid, mixed->direction, mixed->at[X], mixed->at[Y], mixed->at[Z]),
            mixed_mass(coupling, mixed) * u[mixed->direction][mixed->face], momentum);
    }
    PetscCall(MacGridRestoreFaces(coupling->grid, coupling->weights, weights));
    PetscCall(MacGridRestoreFaces(coupling->grid, velocity, u));
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, momentum, 2 * DIM, MPIU_REAL, MPI_SUM, coupling->world));
  add_bodies(coupling, twists, momentum);
  PetscFunctionReturn(0);
}
