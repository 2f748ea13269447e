/* The state of the fluid and the order of its step (docs/numerics.md, sections 2 and 13). */
#include "fluid_impl.h"

#include <millrace/fluid_step.h>

#include <petsctime.h>

enum { DAMPED_STEPS = 4 }; /* fully implicit ones at the start */

PetscErrorCode FluidCreate(MacGrid grid, const FluidConfig *config, Fluid *fluid)
{
  Fluid f;

  PetscFunctionBegin;
  PetscCheck(config->scalar_count <= FLUID_MAX_SCALARS, grid_box(grid)->comm, PETSC_ERR_USER_INPUT,
             "A fluid carries at most %d scalars, not %" PetscInt_FMT, FLUID_MAX_SCALARS,
             config->scalar_count);
  PetscCall(PetscNew(&f));
  f->grid = grid;
  f->config = config;
  PetscCall(MacGridCreateFaceField(grid, f->velocity));
  PetscCall(MacGridCreateFaceField(grid, f->earlier));
  PetscCall(MacGridCreateFaceField(grid, f->next));
  if (config->advection == ADVECT_SEMI_LAGRANGIAN || config->advection == ADVECT_MACCORMACK)
    PetscCall(MacGridCreateFaceField(grid, f->feet));
  if (config->advection == ADVECT_MACCORMACK)
    PetscCall(MacGridCreateFaceField(grid, f->heads));
  PetscCall(MacGridCreateField(grid, &f->pressure));
  for (PetscInt s = 0; s < 2; s++)
    PetscCall(MacGridCreateField(grid, &f->scratch[s]));
  PetscCall(PetscCalloc1(config->scalar_count, &f->scalars));
  PetscCall(PetscCalloc1(config->scalar_count, &f->next_scalars));
  for (PetscInt s = 0; s < config->scalar_count; s++) {
    PetscCall(MacGridCreateField(grid, &f->scalars[s]));
    PetscCall(MacGridCreateField(grid, &f->next_scalars[s]));
  }
  PetscCall(PoissonCreate(grid, "pressure_", &f->poisson));
  PetscCall(PoissonSetTolerance(f->poisson, config->pressure_tolerance));
  PetscCall(FluidUpdateWeights(f));
  *fluid = f;
  PetscFunctionReturn(0);
}

PetscErrorCode FluidDestroy(Fluid *fluid)
{
  Fluid f = *fluid;

  PetscFunctionBegin;
  if (!f)
    PetscFunctionReturn(0);
  PetscCall(MacGridDestroyFaceField(f->velocity));
  PetscCall(MacGridDestroyFaceField(f->earlier));
  PetscCall(MacGridDestroyFaceField(f->next));
  PetscCall(MacGridDestroyFaceField(f->feet));
  PetscCall(MacGridDestroyFaceField(f->heads));
  PetscCall(MacGridDestroyFaceField(f->solid_velocity));
  PetscCall(MacGridDestroyFaceField(f->confinement));
  PetscCall(MacGridDestroyFaceField(f->weights));
  PetscCall(MacGridDestroyFaceField(f->leak_proof_correction));
  PetscCall(VecDestroy(&f->pressure));
  PetscCall(VecDestroy(&f->solid));
  PetscCall(VecDestroy(&f->covered));
  for (PetscInt s = 0; s < 2; s++)
    PetscCall(VecDestroy(&f->scratch[s]));
  for (PetscInt s = 0; s < f->config->scalar_count; s++) {
    PetscCall(VecDestroy(&f->scalars[s]));
    PetscCall(VecDestroy(&f->next_scalars[s]));
  }
  PetscCall(FluidDestroyNearSurfaces(f));
  PetscCall(PetscFree(f->scalars));
  PetscCall(PetscFree(f->next_scalars));
  PetscCall(PetscFree(f->wall_slips));
  for (PetscInt d = 0; d < DIM; d++) {
    PetscCall(PetscFree(f->closed[d]));
    PetscCall(PetscFree(f->no_slip_pairs[d]));
  }
  PetscCall(PoissonDestroy(&f->poisson));
  PetscCall(VecDestroy(&f->residual));
  PetscCall(VecDestroy(&f->voids));
  PetscCall(MacGridDestroyFaceField(f->acceleration));
  PetscCall(MacGridDestroyFaceField(f->advected));
  PetscCall(MacGridDestroyFaceField(f->next_advected));
  PetscCall(StressDestroy(&f->stress));
  PetscCall(PetscFree(f->constraint_impulses));
  PetscCall(FluidDestroyGroups(f));
  PetscCall(FluidDropShellTransport(f));
  PetscCall(PetscFree(*fluid));
  PetscFunctionReturn(0);
}

PetscErrorCode FluidSetInitialValues(Fluid fluid, InitialValue initial, const void *context)
{
  PetscFunctionBegin;
  fluid->initial = initial;
  fluid->initial_context = context;
  PetscFunctionReturn(0);
}

static PetscReal initial_value(Fluid fluid, PetscInt field, Vector3 point)
{
  PetscReal value;

  if (fluid->initial && fluid->initial(fluid->initial_context, field, point, &value))
    return value;
  return formula_value(field < DIM ? fluid->config->initial_velocity[field]
                                   : fluid->config->scalars[field - DIM].initial,
                       point, 0.);
}

static PetscErrorCode SetInitialComponent(Fluid fluid, PetscInt d)
{
  const GridBox  *box = grid_box(fluid->grid);
  PetscReal      *u;
  const GridRange faces = grid_faces(fluid->grid, d);

  PetscFunctionBegin;
  PetscCall(VecGetArray(fluid->velocity[d], &u));
  FOR_CELLS(&faces, i, j, k)
    u[box_index(box, i, j, k)] = initial_value(fluid, d, grid_face_centre(fluid->grid, d, i, j, k));
  PetscCall(VecRestoreArray(fluid->velocity[d], &u));
  PetscFunctionReturn(0);
}

static PetscErrorCode SetInitialScalar(Fluid fluid, PetscInt s)
{
  const GridBox      *box = grid_box(fluid->grid);
  const AdvectedField carried = {.direction = CELL_VALUES, .scalar = s};
  PetscReal          *value;

  PetscFunctionBegin;
  PetscCall(VecGetArray(fluid->scalars[s], &value));
  FOR_CELLS(box, i, j, k)
    value[box_index(box, i, j, k)] = initial_value(fluid, DIM + s, grid_cell_centre(fluid->grid, i, j, k));
  PetscCall(VecRestoreArray(fluid->scalars[s], &value));
  PetscCall(FluidFillCarriedGhosts(fluid, &carried, fluid->scalars[s], 0.));
  PetscFunctionReturn(0);
}

/* The pressure that holds forces and inertia of the start: without it the first step would shear what is at
   rest and take Dt^2 |grad p|^2 / (4 rho) from the energy of what moves. */
static PetscErrorCode BalanceForces(Fluid fluid, PetscBool *good)
{
  const GridBox *box = grid_box(fluid->grid);
  PetscReal      largest = 0., force;

  PetscFunctionBegin;
  PetscCall(FluidUpdateConfinement(fluid));
  for (PetscInt d = 0; d < box->dimension; d++) {
    PetscCall(VecSet(fluid->next[d], 0.));
    PetscCall(FluidAddForces(fluid, d, fluid->scalars, fluid->next[d], 0., 1.));
    if (!fluid->mixture && fluid->config->advection != ADVECT_NONE)
      PetscCall(FluidAddInertia(fluid, d, fluid->next[d]));
    PetscCall(VecNorm(fluid->next[d], NORM_INFINITY, &force));
    largest = PetscMax(largest, force);
    PetscCall(VecAXPY(fluid->next[d], 1., fluid->velocity[d]));
  }
  if (fluid->mixture) {
    PetscCall(FluidProjectMixture(fluid, fluid->next, 0., 1., JUMPS_ACT, good));
    if (*good)
      PetscCall(FluidKeepAcceleration(fluid, 0., 0., fluid->scalars));
    PetscFunctionReturn(0);
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPIU_REAL, MPI_MAX, box->comm));
  if (largest == 0.)
    PetscFunctionReturn(0);
  PetscCall(FluidMakeDivergenceFree(fluid, fluid->next, 0., 1., 0., good));
  PetscFunctionReturn(0);
}

PetscErrorCode FluidBegin(Fluid fluid)
{
  PetscFunctionBegin;
  fluid->report.diffusion_converged = PETSC_TRUE; /* nothing has diffused that could have failed to */
  for (PetscInt d = 0; d < grid_box(fluid->grid)->dimension; d++)
    PetscCall(SetInitialComponent(fluid, d));
  for (PetscInt s = 0; s < fluid->config->scalar_count; s++)
    PetscCall(SetInitialScalar(fluid, s));
  PetscFunctionReturn(0);
}

PetscErrorCode FluidStart(Fluid fluid, PetscBool *good)
{
  const PetscInt dimension = grid_box(fluid->grid)->dimension;

  PetscFunctionBegin;
  PetscCall(FluidBegin(fluid));
  if (fluid->mixture)
    PetscCall(FluidProjectMixture(fluid, fluid->velocity, 0., 1., JUMPS_LEFT_OUT, good));
  else
    PetscCall(FluidMakeDivergenceFree(fluid, fluid->velocity, 0., 1., 0., good));
  if (!*good)
    PetscFunctionReturn(0);
  PetscCall(VecSet(fluid->pressure, 0.)); /* what the projection found is no pressure of the flow */
  for (PetscInt d = 0; d < dimension; d++)
    PetscCall(VecCopy(fluid->velocity[d], fluid->earlier[d]));
  PetscCall(BalanceForces(fluid, good));
  PetscFunctionReturn(0);
}

static PetscReal implicitness(Fluid fluid)
{
  return fluid->steps < DAMPED_STEPS ? 1. : 0.5;
}

/* What acted in the last step, for a while. */
static PetscErrorCode AddGain(Fluid fluid, PetscInt d, PetscReal time)
{
  const PetscReal share = fluid->advected[d] && fluid->advected_over > 0. ? time / fluid->advected_over : 0.;

  PetscFunctionBegin;
  if (share != 0.) {
    PetscCall(VecAXPY(fluid->next[d], share, fluid->velocity[d]));
    PetscCall(VecAXPY(fluid->next[d], -share, fluid->advected[d]));
  }
  PetscFunctionReturn(0);
}

/* Step 2: what acts at the start of the trajectories. In a mixture all acts at their end; of what acted in
   the last step half is carried along, and taken off again there. */
static PetscErrorCode ExplicitHalf(Fluid fluid, PetscInt d, PetscReal dt)
{
  const AdvectedField carried = {.direction = d, .dt = dt};
  const PetscReal     kinematic = fluid->config->viscosity / fluid->config->density;
  const PetscReal     amount = (1. - implicitness(fluid)) * dt * kinematic;

  PetscFunctionBegin;
  if (fluid->mixture) {
    PetscCall(VecCopy(fluid->velocity[d], fluid->next[d]));
    PetscCall(AddGain(fluid, d, 0.5 * dt));
    PetscFunctionReturn(0);
  }
  if (amount > 0.)
    PetscCall(FluidDiffuseExplicitly(fluid, &carried, amount, fluid->velocity[d], fluid->next[d]));
  else
    PetscCall(VecCopy(fluid->velocity[d], fluid->next[d]));
  PetscCall(FluidAddForces(fluid, d, fluid->scalars, fluid->next[d], fluid->time, 0.5 * dt));
  PetscCall(
      FluidSubtractGradient(fluid, d, fluid->pressure, 0.5 * dt / fluid->config->density, fluid->next[d]));
  PetscFunctionReturn(0);
}

/* Step 1: turns u^{n-1} into the velocity at the middle of the step. */
static PetscErrorCode ExtrapolateFlow(Fluid fluid, PetscReal dt)
{
  const PetscReal before = fluid->time - fluid->earlier_time;

  PetscFunctionBegin;
  fluid->share = before > 0. ? 0.5 * dt / before : 0.;
  fluid->has_prediction = PETSC_TRUE;
  for (PetscInt d = 0; d < grid_box(fluid->grid)->dimension; d++) {
    PetscCall(VecAXPBY(fluid->earlier[d], 1. + fluid->share, -fluid->share, fluid->velocity[d]));
    if (fluid->leak_proof_correction[d])
      PetscCall(VecAXPY(fluid->earlier[d], 1., fluid->leak_proof_correction[d]));
  }
  PetscFunctionReturn(0);
}

/* The opposite. */
static PetscErrorCode RecoverEarlier(Fluid fluid)
{
  PetscFunctionBegin;
  for (PetscInt d = 0; d < grid_box(fluid->grid)->dimension; d++) {
    if (fluid->leak_proof_correction[d])
      PetscCall(VecAXPY(fluid->earlier[d], -1., fluid->leak_proof_correction[d]));
    if (fluid->share > 0.)
      PetscCall(VecAXPBY(fluid->earlier[d], (1. + fluid->share) / fluid->share, -1. / fluid->share,
                         fluid->velocity[d]));
    else
      PetscCall(VecCopy(fluid->velocity[d], fluid->earlier[d]));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode FluidForgetPrediction(Fluid fluid)
{
  PetscFunctionBegin;
  if (!fluid->has_prediction)
    PetscFunctionReturn(0);
  fluid->has_prediction = PETSC_FALSE;
  fluid->report.travel = 0.;
  PetscCall(RecoverEarlier(fluid));
  for (PetscInt g = 0; g < fluid->group_count; g++) {
    fluid_swap_group(fluid, g);
    PetscCall(RecoverEarlier(fluid));
    fluid_swap_group(fluid, g);
  }
  PetscFunctionReturn(0);
}

/* Step 4: what acts at the end of the trajectories. */
static PetscErrorCode ImplicitHalf(Fluid fluid, PetscInt d, PetscReal dt)
{
  const AdvectedField carried = {.direction = d, .dt = dt};
  const PetscReal     kinematic = fluid->config->viscosity / fluid->config->density;
  const PetscReal     amount = implicitness(fluid) * dt * kinematic;
  PetscInt            iterations;

  PetscFunctionBegin;
  PetscCall(FluidAddForces(fluid, d, fluid->next_scalars, fluid->next[d], fluid->time + dt, 0.5 * dt));
  PetscCall(
      FluidSubtractGradient(fluid, d, fluid->pressure, 0.5 * dt / fluid->config->density, fluid->next[d]));
  if (amount == 0.)
    PetscFunctionReturn(0);
  PetscCall(FluidDiffuse(fluid, &carried, amount, fluid->time + dt, fluid->next[d], &iterations));
  fluid->report.viscosity_iterations = PetscMax(fluid->report.viscosity_iterations, iterations);
  PetscFunctionReturn(0);
}

/* Steps 1 and 2. */
static PetscErrorCode PrepareAdvection(Fluid fluid, PetscReal dt)
{
  PetscFunctionBegin;
  for (PetscInt d = 0; d < grid_box(fluid->grid)->dimension; d++)
    PetscCall(ExplicitHalf(fluid, d, dt));
  PetscCall(ExtrapolateFlow(fluid, dt));
  PetscFunctionReturn(0);
}

static PetscErrorCode AdvectVelocity(Fluid fluid, PetscReal dt)
{
  PetscFunctionBegin;
  for (PetscInt d = 0; d < grid_box(fluid->grid)->dimension; d++) {
    const AdvectedField carried = {.direction = d, .dt = dt};

    PetscCall(FluidAdvect(fluid, &carried, &fluid->next[d]));
    PetscCall(AddGain(fluid, d, -0.5 * dt));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode KeepAdvected(Fluid fluid, PetscReal dt)
{
  PetscFunctionBegin;
  for (PetscInt d = 0; d < grid_box(fluid->grid)->dimension && fluid->advected[X]; d++) {
    PetscCall(VecCopy(fluid->next[d], fluid->next_advected[d]));
    PetscCall(FluidSetSideFaces(fluid, d, fluid->next_advected[d], fluid->time + dt));
    PetscCall(FluidSetClosedFaces(fluid, d, fluid->next_advected[d]));
  }
  PetscFunctionReturn(0);
}

/* The flows of groups, each by itself. */
static PetscErrorCode AdvectGroups(Fluid fluid, PetscReal dt)
{
  PetscFunctionBegin;
  for (PetscInt g = 0; g < fluid->group_count; g++) {
    fluid_swap_group(fluid, g);
    PetscCall(PrepareAdvection(fluid, dt));
    PetscCall(FluidTraceTrajectories(fluid, dt, NULL));
    PetscCall(AdvectVelocity(fluid, dt));
    PetscCall(KeepAdvected(fluid, dt));
    fluid_swap_group(fluid, g);
  }
  PetscFunctionReturn(0);
}

PetscErrorCode FluidPredictAdvection(Fluid fluid, PetscReal dt)
{
  PetscLogDouble begin, end;

  PetscFunctionBegin;
  PetscCall(PetscTime(&begin));
  PetscCall(FluidRefreshMixture(fluid));
  PetscCall(FluidUpdateConfinement(fluid));
  fluid->report.viscosity_iterations = 0;
  fluid->report.diffusion_converged = PETSC_TRUE;
  PetscCall(AdvectGroups(fluid, dt));
  PetscCall(PrepareAdvection(fluid, dt));
  if (!fluid->group_count || fluid->config->scalar_count)
    PetscCall(FluidTraceTrajectories(fluid, dt, NULL));
  if (fluid->config->advection != ADVECT_NONE)
    PetscCall(FluidGetTravel(fluid, fluid->earlier, dt, &fluid->report.travel));
  for (PetscInt s = 0; s < fluid->config->scalar_count; s++)
    PetscCall(FluidAdvanceScalar(fluid, s, dt, implicitness(fluid)));
  if (fluid->group_count)
    PetscCall(FluidMergeGroups(fluid));
  else
    PetscCall(AdvectVelocity(fluid, dt));
  PetscCall(KeepAdvected(fluid, dt));
  fluid->next_advected_over = fluid->mixture ? dt : 0.;
  PetscCall(PetscTime(&end));
  fluid->report.wall_advection = end - begin;
  PetscFunctionReturn(0);
}

/* Second order, but what surfaces and thick liquids make ring dies away in some steps: it exceeds one half by
   four times the part of the box that is crossed in the step, and by the part of the slowest shear that
   decays. Elastic stresses are those of the end. */
static PetscReal mixture_implicitness(Fluid fluid, PetscReal dt)
{
  const GridBox  *box = grid_box(fluid->grid);
  const PetscReal h = grid_spacing(fluid->grid);
  PetscReal       length = 0., more;

  if (fluid->mixture->stress[X])
    return 1.;
  for (PetscInt d = 0; d < box->dimension; d++)
    length = PetscMax(length, box->cells[d] * h);
  more = 4. * fluid->report.travel * h / length +
         PetscSqr(PETSC_PI / length) * fluid->mixture->largest_diffusivity * dt;
  return PetscMin(1., implicitness(fluid) + more);
}

PetscErrorCode FluidPredictViscosity(Fluid fluid, PetscReal dt)
{
  PetscLogDouble begin, end;

  PetscFunctionBegin;
  PetscCall(PetscTime(&begin));
  PetscCall(FluidDiffuseAccelerated(fluid, dt, mixture_implicitness(fluid, dt), fluid->next));
  PetscCall(PetscTime(&end));
  fluid->report.wall_viscosity = end - begin;
  PetscFunctionReturn(0);
}

PetscErrorCode FluidPredictForces(Fluid fluid, PetscReal dt)
{
  PetscFunctionBegin;
  for (PetscInt d = 0; d < grid_box(fluid->grid)->dimension; d++) {
    PetscCall(FluidAddForces(fluid, d, fluid->scalars, fluid->next[d], fluid->time, 0.5 * dt));
    PetscCall(FluidAddForces(fluid, d, fluid->next_scalars, fluid->next[d], fluid->time + dt, 0.5 * dt));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode FluidPredict(Fluid fluid, PetscReal dt)
{
  PetscLogDouble begin, end;

  PetscFunctionBegin;
  PetscCall(FluidPredictAdvection(fluid, dt));
  if (fluid->mixture) {
    PetscCall(FluidPredictViscosity(fluid, dt));
    PetscCall(FluidPredictForces(fluid, dt));
    PetscFunctionReturn(0);
  }
  PetscCall(PetscTime(&begin));
  for (PetscInt d = 0; d < grid_box(fluid->grid)->dimension; d++)
    PetscCall(ImplicitHalf(fluid, d, dt));
  PetscCall(PetscTime(&end));
  fluid->report.wall_viscosity = end - begin;
  PetscFunctionReturn(0);
}

/* The prediction becomes the state. */
static PetscErrorCode Commit(Fluid fluid, PetscReal dt)
{
  Vec spare;

  PetscFunctionBegin;
  fluid->has_prediction = PETSC_FALSE;
  for (PetscInt d = 0; d < DIM; d++) {
    spare = fluid->earlier[d];
    fluid->earlier[d] = fluid->velocity[d];
    fluid->velocity[d] = fluid->next[d];
    fluid->next[d] = spare;
  }
  fluid_swap_fields(fluid->advected, fluid->next_advected);
  fluid->advected_over = fluid->next_advected_over;
  PetscCall(FluidCommitGroups(fluid));
  fluid->earlier_time = fluid->time;
  fluid->time += dt;
  fluid->steps++;
  for (PetscInt s = 0; s < fluid->config->scalar_count; s++) {
    spare = fluid->scalars[s];
    fluid->scalars[s] = fluid->next_scalars[s];
    fluid->next_scalars[s] = spare;
  }
  PetscCall(FluidRefreshScalars(fluid));
  PetscFunctionReturn(0);
}

PetscErrorCode FluidProjectPrediction(Fluid fluid, PetscReal dt, PetscReal farthest, PetscBool *good)
{
  PetscLogDouble begin, end;
  PetscReal      travel;

  PetscFunctionBegin;
  PetscCall(PetscTime(&begin));
  *good = fluid->report.diffusion_converged;
  if (*good && fluid->mixture)
    PetscCall(FluidProjectMixture(fluid, fluid->next, fluid->time + dt, dt, JUMPS_ACT, good));
  else if (*good)
    PetscCall(FluidMakeDivergenceFree(fluid, fluid->next, fluid->time + dt, dt, implicitness(fluid), good));
  if (*good) {
    PetscCall(FluidGetTravel(fluid, fluid->next, dt, &travel));
    *good = travel <= farthest ? PETSC_TRUE : PETSC_FALSE;
  }
  if (*good && fluid->mixture)
    PetscCall(FluidKeepAcceleration(fluid, fluid->time, dt, fluid->next_scalars));
  if (*good)
    PetscCall(Commit(fluid, dt));
  PetscCall(PetscTime(&end));
  fluid->report.wall_projection = end - begin;
  PetscFunctionReturn(0);
}

PetscErrorCode FluidTakeStart(Fluid fluid)
{
  PetscFunctionBegin;
  PetscCall(FluidKeepAcceleration(fluid, 0., 0., fluid->scalars));
  for (PetscInt d = 0; d < grid_box(fluid->grid)->dimension; d++)
    PetscCall(VecCopy(fluid->velocity[d], fluid->earlier[d]));
  PetscFunctionReturn(0);
}

PetscErrorCode FluidTakePrediction(Fluid fluid, PetscReal dt)
{
  PetscFunctionBegin;
  for (PetscInt d = 0; d < grid_box(fluid->grid)->dimension; d++)
    PetscCall(FluidClearVoidFaces(fluid, d, fluid->next[d]));
  PetscCall(FluidKeepAcceleration(fluid, fluid->time, dt, fluid->next_scalars));
  PetscCall(Commit(fluid, dt));
  PetscFunctionReturn(0);
}
