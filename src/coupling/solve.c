/* A coupled solve from u* and V* to u and V, and what can be read from it. */
#include "coupling_impl.h"

/* Velocity that the bodies of the list give a mixed face. */
typedef enum { GIVEN_BODIES, ALL_BODIES } BodyChoice;

static PetscReal mixed_velocity(Coupling coupling, const MixedFace *mixed, const PetscReal *twists,
                                BodyChoice choice)
{
  PetscReal velocity = 0.;

  for (PetscInt s = mixed->first; s < mixed->first + mixed->count; s++) {
    const InterpolationEntry *entry = &coupling->faces.entries[s];
    const SolidRow            row = entry_row(mixed->direction, entry, TWIST * entry->body);

    if (choice == GIVEN_BODIES && coupling->solids.bodies[entry->body].free >= 0)
      continue;
    for (PetscInt n = 0; n < row.count; n++)
      velocity += row.weight[n] * twists[row.dof[n]];
  }
  return velocity;
}

/* Adds `change` of the flow upwards through a face to the owned cells beside it. */
static void change_flow(const GridBox *box, PetscInt d, const PetscInt face[DIM], PetscReal change,
                        PetscReal *flow)
{
  PetscInt at[DIM] = {face[X], face[Y], face[Z]};

  for (PetscInt side = 0; side < 2; side++) {
    PetscInt cell;

    at[d] = face[d] - 1 + side;
    cell = owned_cell_number(box, at);
    if (cell >= 0)
      flow[cell] += (side ? 1. : -1.) * change;
  }
}

/* Where bodies cover a part of a given face it moves with them. */
static void cover_given(Coupling coupling, PetscReal *const u[DIM], const PetscReal *twists, PetscReal *flow)
{
  for (PetscInt n = 0; n < coupling->faces.covered_count; n++) {
    const CoveredFace *covered = &coupling->faces.covered[n];
    const SolidRow     row =
        solid_row_of_body(TWIST * covered->body, covered->direction, covered->arm, covered->part);

    change_flow(grid_box(coupling->grid), covered->direction, covered->at,
                coupling->area *
                    (solid_row_velocity(&row, twists) - covered->part * u[covered->direction][covered->face]),
                flow);
  }
}

/* flow = V G^T u over fluid and given faces and V times the expansion, plus B V of the chosen bodies. */
static PetscErrorCode FindFlow(Coupling coupling, Vec velocity[DIM], const PetscReal *twists,
                               BodyChoice choice)
{
  const GridBox *box = grid_box(coupling->grid);
  PetscReal     *u[DIM], *flow, *moving;
  Vec            divergence;

  PetscFunctionBegin;
  PetscCall(MacGridExchangeFaces(coupling->grid, velocity));
  PetscCall(MacGridCreateField(coupling->grid, &divergence));
  PetscCall(MacGridDivergence(coupling->grid, velocity, divergence));
  if (coupling->expansion)
    PetscCall(VecAXPY(divergence, -1., coupling->expansion));
  PetscCall(MacGridToSolver(coupling->grid, divergence, coupling->system.flow));
  PetscCall(VecDestroy(&divergence));
  PetscCall(VecScale(coupling->system.flow, -coupling->volume));
  PetscCall(PetscMalloc1(TWIST * coupling->solids.count, &moving));
  for (PetscInt b = 0; b < coupling->solids.count; b++)
    for (PetscInt n = 0; n < TWIST; n++)
      moving[TWIST * coupling->solids.bodies[b].slot + n] =
          choice == ALL_BODIES || coupling->solids.bodies[b].free < 0 ? twists[TWIST * b + n] : 0.;
  PetscCall(VecGetArray(coupling->system.flow, &flow));
  PetscCall(MacGridGetFaces(coupling->grid, velocity, u));
  for (PetscInt m = 0; m < coupling->faces.mixed_count; m++) { /* the part of bodies counts through B */
    const MixedFace *mixed = &coupling->faces.mixed[m];

    change_flow(box, mixed->direction, mixed->at,
                -coupling->area * (1. - mixed->open) * u[mixed->direction][mixed->face], flow);
  }
  cover_given(coupling, u, twists, flow);
  coupling_matrix_multiply(&coupling->system.matrix, coupling->solids.count, moving, flow);
  if (choice == ALL_BODIES)
    cell_rows_multiply(&coupling->deforming.rows, coupling->deforming.motion, flow);
  PetscCall(MacGridRestoreFaces(coupling->grid, velocity, u));
  PetscCall(VecRestoreArray(coupling->system.flow, &flow));
  PetscCall(PetscFree(moving));
  PetscCall(PoissonClearOutside(coupling->system.poisson, coupling->system.flow));
  PetscFunctionReturn(0);
}

/* W^T M_F (u* - W_k V_k), scaled, of the owned faces. */
static PetscErrorCode AddFluidPush(Coupling coupling, Vec velocity[DIM], const PetscReal *twists,
                                   ReproducibleSum sums[])
{
  PetscReal *u[DIM];

  PetscFunctionBegin;
  PetscCall(MacGridGetFaces(coupling->grid, velocity, u));
  for (PetscInt m = 0; m < coupling->faces.mixed_count; m++) {
    const MixedFace *mixed = &coupling->faces.mixed[m];
    PetscReal        momentum;

    if (!mixed->is_owned)
      continue;
    momentum = coupling->scale * mixed->mass *
               (u[mixed->direction][mixed->face] - mixed_velocity(coupling, mixed, twists, GIVEN_BODIES));
    for (PetscInt s = mixed->first; s < mixed->first + mixed->count; s++) {
      const PetscInt free = coupling->solids.bodies[coupling->faces.entries[s].body].free;
      const SolidRow row = entry_row(mixed->direction, &coupling->faces.entries[s], TWIST * free);

      for (PetscInt n = 0; n < row.count && free >= 0; n++)
        sum_add(&sums[row.dof[n]], momentum * row.weight[n]);
    }
  }
  PetscCall(MacGridRestoreFaces(coupling->grid, velocity, u));
  PetscFunctionReturn(0);
}

/* push = M_S V* + W^T M_F (u* - W_k V_k), scaled; on all ranks. */
static PetscErrorCode FindPush(Coupling coupling, Vec velocity[DIM], const PetscReal *twists)
{
  PetscReal       *push = coupling->system.push;
  ReproducibleSum *sums;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(TWIST * coupling->solids.free_count, &sums));
  if (has_fluid(coupling))
    PetscCall(AddFluidPush(coupling, velocity, twists, sums));
  PetscCall(TeamAwaitFluid(coupling->team));
  PetscCall(SumOverRanks(coupling->world, TWIST * coupling->solids.free_count, sums, push));
  PetscCall(PetscFree(sums));
  for (PetscInt f = 0; f < coupling->solids.free_count; f++) {
    const CoupledBody *body = &coupling->solids.bodies[coupling->solids.by_slot[f]].body;
    const PetscReal   *twist = &twists[TWIST * coupling->solids.by_slot[f]];

    for (PetscInt i = 0; i < DIM; i++) {
      push[TWIST * f + i] += coupling->scale * body->mass * twist[i];
      for (PetscInt j = 0; j < DIM; j++)
        push[TWIST * f + DIM + i] += coupling->scale * body->inertia.at[i][j] * twist[DIM + j];
    }
  }
  PetscFunctionReturn(0);
}

/* Takes out what singular components cannot balance; `imbalance` is the largest inflow among that. */
static PetscErrorCode BalanceRightSide(Coupling coupling, PetscReal *imbalance)
{
  const PoissonComponents components = poisson_components(coupling->system.poisson);
  PetscReal              *before, *after;

  PetscFunctionBegin;
  *imbalance = 0.;
  if (!coupling->system.null_count)
    PetscFunctionReturn(0);
  PetscCall(PetscMalloc2(components.count, &before, components.count, &after));
  PetscCall(PoissonSumComponents(coupling->system.poisson, coupling->system.right_side, before));
  PetscCall(CoupledSystemUseNullSpace(&coupling->system, NULL_SPACE_REMOVE, coupling->system.right_side,
                                      coupling->system.right_side));
  PetscCall(PoissonSumComponents(coupling->system.poisson, coupling->system.right_side, after));
  for (PetscInt c = 0; c < components.count; c++)
    *imbalance = PetscMax(*imbalance, PetscAbsReal(before[c] - after[c]));
  PetscCall(PetscFree2(before, after));
  PetscFunctionReturn(0);
}

/* right_side = flow + B C^-1 push, balanced; `flow` takes the part of solids that deform. Where the two
   cancel, round-off is not to be solved for. */
static PetscErrorCode FindRightSide(Coupling coupling, PetscReal *imbalance)
{
  const PetscReal round_off = 1e-14;
  PetscReal      *values, *motion, whole;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(TWIST * coupling->solids.free_count, &motion));
  PetscCall(SolidSystemSolveLocal(coupling->system.solid, coupling->system.push, motion));
  PetscCall(CouplingAddDeformingPush(coupling, coupling->system.flow));
  PetscCall(VecCopy(coupling->system.flow, coupling->system.right_side));
  PetscCall(VecGetArray(coupling->system.right_side, &values));
  coupling_matrix_multiply(&coupling->system.matrix, coupling->solids.free_count, motion, values);
  PetscCall(VecRestoreArray(coupling->system.right_side, &values));
  PetscCall(PetscFree(motion));
  PetscCall(BalanceRightSide(coupling, imbalance));
  PetscCall(VecNorm(coupling->system.flow, NORM_2, &whole));
  PetscCall(VecNorm(coupling->system.right_side, NORM_2, &coupling->system.reference));
  coupling->system.reference =
      PetscMax(coupling->system.reference, round_off / coupling->config.tolerance * whole);
  PetscFunctionReturn(0);
}

static PetscReal solid_velocity(Coupling coupling, PetscInt d, const PetscInt at[DIM], PetscInt body,
                                const PetscReal *twists)
{
  const SolidRow row = solid_row_of_body(TWIST * body, d, coupling_nearest_arm(coupling, d, at, body), 1.);

  return solid_row_velocity(&row, twists);
}

/* u = u* - (1/rho) G p^ on fluid faces, the bodies' velocity on mixed and solid ones; q has ghosts. */
static PetscErrorCode UpdateVelocity(Coupling coupling, PetscInt d, const PetscReal *q,
                                     const PetscReal *twists, PetscReal *u)
{
  const GridBox   *box = grid_box(coupling->grid);
  const GridRange  faces = grid_faces(coupling->grid, d);
  const PetscReal *weights;

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(coupling->faces.weights[d], &weights));
  box_subtract_gradient(box, &faces, d, 1. / coupling->area, weights, q, u);
  FOR_CELLS(&faces, i, j, k) {
    const PetscInt c = box_index(box, i, j, k);

    if (coupling->faces.kinds[d][c] == COUPLED_SOLID)
      u[c] = solid_velocity(coupling, d, (PetscInt[DIM]){i, j, k}, coupling->faces.solid[c] - 1, twists);
  }
  for (PetscInt m = 0; m < coupling->faces.mixed_count; m++)
    if (coupling->faces.mixed[m].direction == d && coupling->faces.mixed[m].is_owned) {
      const MixedFace *mixed = &coupling->faces.mixed[m];
      const PetscInt   c = mixed->face;

      if (mixed->open > 0.) /* what its own weight has left out */
        u[c] -= (mixed->weight - weights[c]) / coupling->area * (q[c] - q[c - box->stride[d]]);
      else
        u[c] = mixed_velocity(coupling, mixed, twists, ALL_BODIES);
    }
  PetscCall(VecRestoreArrayRead(coupling->faces.weights[d], &weights));
  PetscFunctionReturn(0);
}

/* A body that weighs next to nothing can move and turn at any speed where little fluid holds it. Fluid that
   came into its place with that speed would have energy from nowhere. */
static PetscBool is_feather(Coupling coupling, PetscInt body)
{
  const Placed *placed = &coupling->solids.bodies[body];

  return placed->body.is_free && placed->body.mass < 0.1 * coupling->density * placed->volume ? PETSC_TRUE
                                                                                              : PETSC_FALSE;
}

/* The largest component of a velocity where fluid moves on its own, at least half of a face, on all ranks of
   the fluid. */
static PetscErrorCode FindFastest(Coupling coupling, PetscReal *const u[DIM], PetscReal *fastest)
{
  const GridBox *box = grid_box(coupling->grid);

  PetscFunctionBegin;
  *fastest = 0.;
  for (PetscInt d = 0; d < box->dimension; d++) {
    const GridRange faces = grid_faces(coupling->grid, d);

    FOR_PLACES(&faces, at) {
      const PetscInt c = box_index(box, at[X], at[Y], at[Z]), kind = coupling->faces.kinds[d][c];

      if (kind == COUPLED_FLUID || (kind >= 0 && coupling->faces.mixed[kind].open >= 0.5))
        *fastest = PetscMax(*fastest, PetscAbsReal(u[d][c]));
    }
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, fastest, 1, MPIU_REAL, MPI_MAX, coupling->fluid));
  PetscFunctionReturn(0);
}

/* No fluid moves with it, and there is such a body. */
static PetscBool is_hollow(Coupling coupling, const MixedFace *mixed)
{
  return !(mixed->mass > 0.) && mixed->owners[0] >= 0 ? is_feather(coupling, mixed->owners[0]) : PETSC_FALSE;
}

static PetscReal limited(PetscReal velocity, PetscReal most)
{
  return PetscMax(-most, PetscMin(velocity, most));
}

/* A face inside a body may be given where there is nothing but the body in nothing. */
static PetscErrorCode FillDirection(Coupling coupling, PetscInt d, const PetscReal *twists, PetscReal fastest,
                                    PetscReal *u)
{
  const GridBox  *box = grid_box(coupling->grid);
  const GridRange faces = grid_faces(coupling->grid, d);

  PetscFunctionBegin;
  FOR_PLACES(&faces, at) {
    const PetscInt c = box_index(box, at[X], at[Y], at[Z]), kind = coupling->faces.kinds[d][c];
    const PetscInt body = PetscMax(coupling->faces.solid[c], coupling->faces.solid[c - box->stride[d]]) - 1;

    if (kind == COUPLED_SOLID || (kind == COUPLED_GIVEN && body >= 0))
      u[c] = limited(solid_velocity(coupling, d, at, body, twists),
                     is_feather(coupling, body) ? fastest : PETSC_MAX_REAL);
    else if (kind >= 0 && coupling->faces.mixed[kind].open <= 0.)
      u[c] = limited(mixed_velocity(coupling, &coupling->faces.mixed[kind], twists, ALL_BODIES),
                     is_hollow(coupling, &coupling->faces.mixed[kind]) ? fastest : PETSC_MAX_REAL);
  }
  PetscFunctionReturn(0);
}

PetscErrorCode CouplingFillFaces(Coupling coupling, const PetscReal twists[], const PetscReal vertices[],
                                 FillLimit limit, Vec velocity[DIM])
{
  const PetscReal *motion = deforming_motion(&coupling->deforming, vertices);
  PetscReal       *u[DIM], fastest = PETSC_MAX_REAL;

  PetscFunctionBegin;
  PetscCall(MacGridGetFaces(coupling->grid, velocity, u));
  if (limit == FILL_LIMITED)
    PetscCall(FindFastest(coupling, u, &fastest));
  for (PetscInt d = 0; d < grid_box(coupling->grid)->dimension; d++) {
    PetscCall(FillDirection(coupling, d, twists, fastest, u[d]));
    deforming_fill_faces(&coupling->deforming, d, motion, u[d]);
  }
  PetscCall(MacGridRestoreFaces(coupling->grid, velocity, u));
  PetscFunctionReturn(0);
}

/* The feather that fills a face, or -1. */
static PetscInt feather_at(Coupling coupling, PetscInt d, PetscInt c)
{
  const PetscInt kind = coupling->faces.kinds[d][c], back = grid_box(coupling->grid)->stride[d];
  const PetscInt body = PetscMax(coupling->faces.solid[c], coupling->faces.solid[c - back]) - 1;

  if (kind == COUPLED_SOLID || (kind == COUPLED_GIVEN && body >= 0))
    return is_feather(coupling, body) ? body : -1;
  if (kind >= 0 && coupling->faces.mixed[kind].open <= 0. &&
      is_hollow(coupling, &coupling->faces.mixed[kind]))
    return coupling->faces.mixed[kind].owners[0];
  return -1;
}

PetscErrorCode CouplingCopyInFeathers(Coupling coupling, Vec from[DIM], Vec to[DIM])
{
  const GridBox *box = grid_box(coupling->grid);
  PetscReal     *u[DIM], *copy[DIM];

  PetscFunctionBegin;
  PetscCall(MacGridGetFaces(coupling->grid, from, u));
  PetscCall(MacGridGetFaces(coupling->grid, to, copy));
  for (PetscInt d = 0; d < box->dimension; d++) {
    const GridRange faces = grid_faces(coupling->grid, d);

    FOR_PLACES(&faces, at) {
      const PetscInt c = box_index(box, at[X], at[Y], at[Z]);

      if (feather_at(coupling, d, c) >= 0)
        copy[d][c] = u[d][c];
    }
  }
  PetscCall(MacGridRestoreFaces(coupling->grid, to, copy));
  PetscCall(MacGridRestoreFaces(coupling->grid, from, u));
  PetscFunctionReturn(0);
}

/* From the solution to the fields. */
static PetscErrorCode Finish(Coupling coupling, Vec velocity[DIM], Vec impulse, const PetscReal *twists)
{
  PetscReal       *u[DIM];
  const PetscReal *q;
  Vec              field;

  PetscFunctionBegin;
  PetscCall(MacGridCreateField(coupling->grid, &field)); /* zero, beyond open sides too */
  PetscCall(MacGridFromSolver(coupling->grid, coupling->system.solution, field));
  PetscCall(MacGridExchange(coupling->grid, field));
  PetscCall(VecGetArrayRead(field, &q));
  PetscCall(MacGridGetFaces(coupling->grid, velocity, u));
  for (PetscInt d = 0; d < grid_box(coupling->grid)->dimension; d++) {
    PetscCall(UpdateVelocity(coupling, d, q, twists, u[d]));
    deforming_fill_faces(&coupling->deforming, d, coupling->deforming.motion, u[d]);
  }
  PetscCall(MacGridRestoreFaces(coupling->grid, velocity, u));
  PetscCall(VecRestoreArrayRead(field, &q));
  PetscCall(VecDestroy(&field));
  PetscCall(VecScale(coupling->system.solution, 1. / coupling->scale));
  PetscCall(MacGridFromSolver(coupling->grid, coupling->system.solution, impulse));
  PetscFunctionReturn(0);
}

static PetscErrorCode TakeGuess(Coupling coupling, Vec impulse)
{
  PetscFunctionBegin;
  PetscCall(MacGridToSolver(coupling->grid, impulse, coupling->system.solution));
  PetscCall(PoissonClearOutside(coupling->system.poisson, coupling->system.solution));
  PetscCall(VecScale(coupling->system.solution, coupling->scale));
  PetscFunctionReturn(0);
}

/* One that is worse than none (a steady flow has no use for the pressure of its advection in S1) would only
   leave its round-off behind. */
static PetscErrorCode CheckGuess(Coupling coupling)
{
  PetscReal none;

  PetscFunctionBegin;
  PetscCall(VecNorm(coupling->system.right_side, NORM_2, &none));
  none /= coupling->system.reference > 0. ? coupling->system.reference : 1.;
  PetscCall(CouplingMeasure(coupling, coupling->system.solution, &coupling->system.guess_residual));
  if (coupling->system.guess_residual < none)
    PetscFunctionReturn(0);
  PetscCall(VecSet(coupling->system.solution, 0.));
  coupling->system.guess_residual = none;
  PetscFunctionReturn(0);
}

/* The first rank of the world has fluid and tells the others. */
static PetscErrorCode ShareReport(Coupling coupling, CouplingReport *report)
{
  PetscFunctionBegin;
  PetscCall(TeamAwaitFluid(coupling->team));
  PetscCallMPI(MPI_Bcast(report, (PetscMPIInt)sizeof(*report), MPI_BYTE, 0, coupling->world));
  PetscFunctionReturn(0);
}

/* The velocities of free bodies that belong to the solution, on all ranks. */
static PetscErrorCode TakeVelocities(Coupling coupling, PetscReal twists[])
{
  PetscReal *motion;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(TWIST * coupling->solids.free_count, &motion));
  if (has_fluid(coupling))
    PetscCall(CouplingEliminate(coupling, coupling->system.solution, motion));
  PetscCallMPI(
      MPI_Bcast(motion, (PetscMPIInt)(TWIST * coupling->solids.free_count), MPIU_REAL, 0, coupling->world));
  for (PetscInt f = 0; f < coupling->solids.free_count; f++)
    PetscCall(PetscArraycpy(&twists[TWIST * coupling->solids.by_slot[f]], &motion[TWIST * f], TWIST));
  PetscCall(PetscFree(motion));
  PetscFunctionReturn(0);
}

/* On the fluid team: the right side and a first guess. */
static PetscErrorCode StartSolve(Coupling coupling, Vec impulse, CouplingReport *report)
{
  PetscFunctionBegin;
  PetscCall(FindRightSide(coupling, &report->imbalance));
  PetscCall(TakeGuess(coupling, impulse));
  PetscCall(CheckGuess(coupling));
  PetscFunctionReturn(0);
}

/* On the fluid team: the residual, and the cause of a failure. */
static PetscErrorCode JudgeSolution(Coupling coupling, CouplingReport *report)
{
  const Vec solution = coupling->system.solution;

  PetscFunctionBegin;
  PetscCall(CoupledSystemUseNullSpace(&coupling->system, NULL_SPACE_REMOVE, solution, solution));
  if (report->residual < 0.)
    PetscCall(CouplingMeasure(coupling, solution, &report->residual));
  if (report->reason < 0)
    PetscCall(CouplingDiagnose(coupling, report));
  PetscFunctionReturn(0);
}

/* S q = right_side: in blocks on all ranks, or with the solids eliminated on those with fluid. */
static PetscErrorCode SolvePressure(Coupling coupling, Vec impulse, CouplingReport *report)
{
  const PetscBool in_blocks = coupling->config.solver != COUPLING_SCHUR && coupling->solids.free_count;

  PetscFunctionBegin;
  if (has_fluid(coupling))
    PetscCall(StartSolve(coupling, impulse, report));
  PetscCall(CouplingAnswer(coupling));
  if (in_blocks)
    PetscCall(CouplingSolveBlocks(coupling, report));
  else if (has_fluid(coupling))
    PetscCall(CouplingSolveSchur(coupling, report));
  if (has_fluid(coupling))
    PetscCall(JudgeSolution(coupling, report));
  PetscCall(CouplingAnswer(coupling));
  PetscFunctionReturn(0);
}

PetscErrorCode CouplingSolve(Coupling coupling, Vec velocity[DIM], Vec impulse, PetscReal twists[],
                             CouplingReport *report)
{
  PetscFunctionBegin;
  PetscCheck(coupling->is_ready, coupling->world, PETSC_ERR_ORDER,
             "CouplingPlace and CouplingSetFluid must come before CouplingSolve");
  if (!coupling->solids.free_count && !coupling->deforming.total) {
    PetscCall(CouplingProject(coupling, velocity, impulse, twists, report));
    PetscFunctionReturn(0);
  }
  *report = coupling->found;
  report->residual = -1.; /* not measured yet */
  if (has_fluid(coupling))
    PetscCall(FindFlow(coupling, velocity, twists, GIVEN_BODIES));
  PetscCall(FindPush(coupling, velocity, twists));
  PetscCall(CouplingPushDeforming(coupling, velocity));
  PetscCall(SolvePressure(coupling, impulse, report));
  PetscCall(ShareReport(coupling, report));
  if (report->reason < 0)
    PetscFunctionReturn(0);
  PetscCall(TakeVelocities(coupling, twists));
  PetscCall(CouplingFinishDeforming(coupling));
  if (has_fluid(coupling))
    PetscCall(Finish(coupling, velocity, impulse, twists));
  PetscFunctionReturn(0);
}

/* On the fluid team. */
static PetscErrorCode SolvePlain(Coupling coupling, Vec velocity[DIM], Vec impulse, const PetscReal twists[],
                                 CouplingReport *report)
{
  PoissonReport poisson;
  Vec           right_side, q;

  PetscFunctionBegin;
  PetscCall(FindFlow(coupling, velocity, twists, ALL_BODIES));
  PetscCall(VecCopy(coupling->system.flow, coupling->system.right_side));
  PetscCall(BalanceRightSide(coupling, &report->imbalance));
  PetscCall(TakeGuess(coupling, impulse));
  PetscCall(MacGridCreateField(coupling->grid, &right_side));
  PetscCall(MacGridCreateField(coupling->grid, &q));
  PetscCall(MacGridFromSolver(coupling->grid, coupling->system.right_side, right_side));
  PetscCall(MacGridFromSolver(coupling->grid, coupling->system.solution, q));
  PetscCall(PoissonSolve(coupling->system.poisson, right_side, q, &poisson));
  PetscCall(MacGridToSolver(coupling->grid, q, coupling->system.solution));
  PetscCall(VecDestroy(&right_side));
  PetscCall(VecDestroy(&q));
  report->reason = poisson.reason;
  report->iterations = poisson.iterations;
  report->residual = poisson.residual;
  report->null_vectors = poisson.null_vectors;
  report->moved = 0;
  PetscFunctionReturn(0);
}

PetscErrorCode CouplingProject(Coupling coupling, Vec velocity[DIM], Vec impulse, const PetscReal twists[],
                               CouplingReport *report)
{
  PetscFunctionBegin;
  PetscCheck(coupling->is_ready, coupling->world, PETSC_ERR_ORDER,
             "CouplingPlace and CouplingSetFluid must come before CouplingProject");
  *report = coupling->found;
  PetscCall(CouplingTellDeforming(coupling));
  if (has_fluid(coupling))
    PetscCall(SolvePlain(coupling, velocity, impulse, twists, report));
  PetscCall(ShareReport(coupling, report));
  if (report->reason > 0 && has_fluid(coupling))
    PetscCall(Finish(coupling, velocity, impulse, twists));
  PetscFunctionReturn(0);
}

PetscErrorCode CouplingGetDivergence(Coupling coupling, Vec velocity[DIM], const PetscReal twists[],
                                     PetscReal *largest)
{
  PetscFunctionBegin;
  PetscCall(FindFlow(coupling, velocity, twists, ALL_BODIES));
  PetscCall(VecNorm(coupling->system.flow, NORM_INFINITY, largest));
  *largest /= coupling->volume;
  PetscFunctionReturn(0);
}
