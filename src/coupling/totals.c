/* Impulses of the pressure on bodies, and the momentum of all that the coupled system moves. */
#include "coupling_impl.h"

/* B^T p of all bodies and surfaces. */
static PetscErrorCode AddPressure(Coupling coupling, Vec impulse, ReproducibleSum impulses[])
{
  const PetscReal *values;
  ReproducibleSum *pull;
  Vec              pressure;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(TWIST * coupling->solids.count, &pull));
  PetscCall(DMGetGlobalVector(grid_cell_dm(coupling->grid), &pressure));
  PetscCall(MacGridToSolver(coupling->grid, impulse, pressure));
  PetscCall(VecGetArrayRead(pressure, &values));
  coupling_matrix_multiply_transpose(&coupling->system.matrix, coupling->solids.count, values, pull);
  PetscCall(CouplingAddDeformingPressure(coupling, values, impulses));
  PetscCall(VecRestoreArrayRead(pressure, &values));
  PetscCall(DMRestoreGlobalVector(grid_cell_dm(coupling->grid), &pressure));
  for (PetscInt n = 0; n < TWIST * coupling->solids.count; n++) {
    const PetscInt body = coupling->solids.by_slot[n / TWIST];

    if (!coupling_deforms(coupling, body)) /* has rows of its own */
      impulses[TWIST * body + n % TWIST] = pull[n];
  }
  PetscCall(PetscFree(pull));
  PetscFunctionReturn(0);
}

/* Less the impulse that the fluid of a mixed face gives a body as it comes to move with it. */
static void add_carried(Coupling coupling, const MixedFace *mixed, const InterpolationEntry *entry,
                        const PetscReal speeds[2], const PetscReal *twist, ReproducibleSum impulse[TWIST])
{
  const SolidRow row = entry_row(mixed->direction, entry, 0);
  PetscReal      diagonal[SOLID_ROW_LENGTH];

  interpolation_lump(&row, entry, diagonal);
  for (PetscInt n = 0; n < row.count; n++)
    sum_add(&impulse[row.dof[n]],
            coupling->config.mass == COUPLING_MASS_FULL
                ? mixed->mass * (speeds[1] - speeds[0]) * row.weight[n]
                : mixed->mass * (diagonal[n] * twist[row.dof[n]] - speeds[0] * row.weight[n]));
}

/* Less W^T M_F (u* - u), or with the lumped mass W^T M_F u* - lump V: the fluid that moves with bodies
 * resists them. */
static PetscErrorCode AddCarried(Coupling coupling, const SolvedFaces *faces, ReproducibleSum impulses[])
{
  PetscReal *before[DIM], *after[DIM];

  PetscFunctionBegin;
  PetscCall(MacGridGetFaces(coupling->grid, faces->before, before));
  PetscCall(MacGridGetFaces(coupling->grid, faces->after, after));
  for (PetscInt m = 0; m < coupling->faces.mixed_count; m++) {
    const MixedFace *mixed = &coupling->faces.mixed[m];
    const PetscReal speeds[2] = {before[mixed->direction][mixed->face], after[mixed->direction][mixed->face]};

    for (PetscInt s = mixed->first; s < mixed->first + mixed->count && mixed->is_owned && mixed->mass > 0.;
         s++) {
      const PetscInt body = coupling->faces.entries[s].body;

      add_carried(coupling, mixed, &coupling->faces.entries[s], speeds, &faces->twists[TWIST * body],
                  &impulses[TWIST * body]);
    }
  }
  PetscCall(MacGridRestoreFaces(coupling->grid, faces->after, after));
  PetscCall(MacGridRestoreFaces(coupling->grid, faces->before, before));
  PetscFunctionReturn(0);
}

PetscErrorCode CouplingGetImpulses(Coupling coupling, Vec impulse, const SolvedFaces *faces,
                                   PetscReal impulses[])
{
  const PetscInt   count = TWIST * coupling->solids.count;
  ReproducibleSum *sums;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(count, &sums));
  if (has_fluid(coupling))
    PetscCall(AddPressure(coupling, impulse, sums));
  if (has_fluid(coupling) && faces)
    PetscCall(AddCarried(coupling, faces, sums));
  PetscCall(TeamAwaitFluid(coupling->team));
  PetscCall(SumOverRanks(coupling->world, count, sums, impulses));
  for (PetscInt n = 0; n < count; n++)
    impulses[n] = -impulses[n];
  PetscCall(PetscFree(sums));
  PetscFunctionReturn(0);
}

/* Momentum along d with its moments: the sum of places times amounts. */
static void add_momentum(PetscInt d, PetscReal amount, Vector3 moment, PetscReal momentum[2 * DIM])
{
  const PetscInt first = (d + 1) % DIM, second = (d + 2) % DIM;

  momentum[d] += amount;
  momentum[DIM + first] += moment.at[second];
  momentum[DIM + second] -= moment.at[first];
}

/* The mass of a fluid face is what its weight says, rho_0 v / weight: the sum of u / weight over fluid faces,
   and the same times their places in the row. Four partial sums of each. */
VECTOR_CLONES static void sum_row(const PetscReal *weights, const PetscInt *kinds, const PetscReal *u,
                                  PetscInt count, PetscReal sums[2])
{
  PetscReal amount[4] = {0., 0., 0., 0.}, moment[4] = {0., 0., 0., 0.};

  for (PetscInt n = 0; n < count; n += 4)
    for (PetscInt lane = 0; lane < PetscMin(4, count - n); lane++) {
      const PetscInt  i = n + lane;
      const PetscBool counts = weights[i] > 0. && kinds[i] < 0;
      const PetscReal part = counts ? u[i] / weights[i] : 0.;

      amount[lane] += part;
      moment[lane] += part * i;
    }
  sums[0] = (amount[0] + amount[1]) + (amount[2] + amount[3]);
  sums[1] = (moment[0] + moment[1]) + (moment[2] + moment[3]);
}

static void add_fluid(Coupling coupling, PetscInt d, const PetscReal *weights, const PetscReal *u,
                      PetscReal momentum[2 * DIM])
{
  const GridBox  *box = grid_box(coupling->grid);
  const PetscReal unit = coupling->density * coupling->volume;
  const GridRange faces = grid_faces(coupling->grid, d);

  FOR_ROWS(&faces, j, k) {
    const PetscInt first = box_index(box, box->start[X], j, k);
    PetscReal      sums[2];
    Vector3        moment;

    sum_row(weights + first, coupling->faces.kinds[d] + first, u + first, faces.end[X] - box->start[X], sums);
    moment = vector3_scale(unit * sums[0], grid_face_centre(coupling->grid, d, box->start[X], j, k));
    moment.at[X] += unit * coupling->spacing * sums[1];
    add_momentum(d, unit * sums[0], moment, momentum);
  }
}

/* Of all fluid in the dual cell. */
static PetscReal mixed_mass(Coupling coupling, const MixedFace *mixed)
{
  return mixed->mass +
         (mixed->open > 0. ? mixed->open * coupling->density * coupling->volume / mixed->weight : 0.);
}

static void add_bodies(const PlacedSolids *solids, const PetscReal *twists, PetscReal momentum[2 * DIM])
{
  for (PetscInt f = 0; f < solids->free_count; f++) {
    const CoupledBody *body = &solids->bodies[solids->by_slot[f]].body;
    const PetscReal   *twist = &twists[TWIST * solids->by_slot[f]];
    const Vector3      spin = matrix3_apply(&body->inertia, vector3(twist[3], twist[4], twist[5]));

    for (PetscInt d = 0; d < DIM; d++) {
      add_momentum(d, body->mass * twist[d], vector3_scale(body->mass * twist[d], body->position), momentum);
      momentum[DIM + d] += spin.at[d];
    }
  }
}

PetscErrorCode CouplingAddMomentum(Coupling coupling, Vec velocity[DIM], const PetscReal twists[],
                                   PetscReal momentum[2 * DIM])
{
  PetscReal  *weights[DIM], *u[DIM];
  PetscMPIInt rank;

  PetscFunctionBegin;
  if (has_fluid(coupling) && velocity) {
    PetscCall(MacGridGetFaces(coupling->grid, velocity, u));
    PetscCall(MacGridGetFaces(coupling->grid, coupling->faces.weights, weights));
    for (PetscInt d = 0; d < grid_box(coupling->grid)->dimension; d++)
      add_fluid(coupling, d, weights[d], u[d], momentum);
    for (PetscInt m = 0; m < coupling->faces.mixed_count; m++) {
      const MixedFace *mixed = &coupling->faces.mixed[m];
      const PetscInt   d = mixed->direction;
      const PetscReal  amount = mixed->is_owned ? mixed_mass(coupling, mixed) * u[d][mixed->face] : 0.;

      if (mixed->is_owned)
        add_momentum(d, amount,
                     vector3_scale(amount, grid_face_centre(coupling->grid, d, mixed->at[X], mixed->at[Y],
                                                            mixed->at[Z])),
                     momentum);
    }
    PetscCall(MacGridRestoreFaces(coupling->grid, coupling->faces.weights, weights));
    PetscCall(MacGridRestoreFaces(coupling->grid, velocity, u));
  }
  PetscCallMPI(MPI_Comm_rank(coupling->world, &rank));
  if (rank == 0)
    add_bodies(&coupling->solids, twists, momentum);
  PetscFunctionReturn(0);
}

PetscErrorCode CouplingGetMomentum(Coupling coupling, Vec velocity[DIM], const PetscReal twists[],
                                   PetscReal momentum[2 * DIM])
{
  PetscFunctionBegin;
  PetscCall(PetscArrayzero(momentum, 2 * DIM));
  PetscCall(CouplingAddMomentum(coupling, velocity, twists, momentum));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, momentum, 2 * DIM, MPIU_REAL, MPI_SUM, coupling->world));
  PetscFunctionReturn(0);
}
