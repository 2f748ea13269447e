/* What a run will need, worked out from its scene alone. */
#include "simulation_impl.h"

#include <petsctime.h>
#include <sys/resource.h>

/* Measured, see docs/performance.md. */
static const PetscReal bytes_to_write = 10e6;        /* of a process that opens its first file */
static const PetscReal solver_bytes_per_cell = 102.; /* of the pressure: multigrid and conjugate gradients */
static const PetscReal written_bytes_per_cell = 36.; /* of a frame's vector field, in chunks on their way */

/* Values of a field over cells, for a rank's part of about equal sides. */
static PetscReal ghosted_share(const SimulationEstimate *estimate, PetscInt dimension)
{
  const PetscReal side =
      PetscPowReal((PetscReal)estimate->cell_count / estimate->fluid_ranks, 1. / dimension);
  PetscReal share = 1.;

  for (PetscInt d = 0; d < dimension; d++)
    share *= 1. + 2. * GHOST_WIDTH /
                      (estimate->fluid_ranks == 1 ? estimate->cells[d] : PetscMin(side, estimate->cells[d]));
  return share;
}

/* Markers lie in a layer on either side of interfaces; they are kept, moved and sorted. */
static PetscReal marker_bytes(const SimulationConfig *config, PetscReal surface)
{
  const PetscReal h = config->grid.size.at[X] / config->grid.resolution;
  const PetscReal cells = 2.5 * surface / PetscPowRealInt(h, config->grid.dimension - 1);

  return 3. * (sizeof(Vector3) + 16.) * config->phases.interface.particles * cells;
}

/* This process has read the scene with its surfaces, made the bodies and started MPI and PETSc, as each rank
   of the solid team will, and no other rank needs more; then come the fields, a frame's buffer of a vector
   field among them. */
static PetscReal peak_bytes(const SimulationConfig *config, const SimulationEstimate *estimate,
                            PetscReal resident)
{
  const PetscInt ranks = estimate->fluid_ranks + estimate->solid_ranks;
  PetscReal      bytes = ranks * (resident + bytes_to_write);

  if (estimate->cell_count)
    bytes += estimate->cell_count *
             (8. * ghosted_share(estimate, config->grid.dimension) * (parts_count_fields(config) + DIM) +
              solver_bytes_per_cell + written_bytes_per_cell);
  return bytes;
}

/* Counts the bodies; `solid` is the caller's. */
static PetscErrorCode EstimateSolids(const SimulationConfig *config, SimulationEstimate *estimate,
                                     Solid *solid, char message[], size_t size)
{
  PetscFunctionBegin;
  *solid = NULL;
  if (!config->solids.body_count && !config->solids.mesh_count)
    PetscFunctionReturn(0);
  PetscCall(SolidCreate(PETSC_COMM_SELF, &config->solids, solid, message, size));
  if (message[0])
    PetscFunctionReturn(0);
  estimate->bodies = solid_body_count(*solid);
  estimate->joints = config->solids.joint_count;
  for (PetscInt m = 0; m < config->solids.mesh_count; m++)
    estimate->tetrahedra += solid_mesh_elements(*solid, m);
  estimate->meeting_triangles = solid_meeting_triangles(*solid);
  estimate->substep = config->grid.dimension ? solid_longest_substep(*solid) : solid_usual_substep(*solid);
  PetscFunctionReturn(0);
}

static void count_cells(const SimulationConfig *config, SimulationEstimate *estimate)
{
  grid_config_cells(&config->grid, estimate->cells);
  estimate->cell_count = (PetscInt64)estimate->cells[X] * estimate->cells[Y] * estimate->cells[Z];
}

enum { MOST_CELLS_TO_TRY = 1 << 21 };

/* Whether regions can begin, on the grid of the scene or, where that is large, on one with half its cells in
   each direction, as often as these are even. */
static PetscErrorCode TryRegions(const SimulationConfig *config, const SimulationEstimate *estimate,
                                 PetscReal *surface, Forecast *forecast, char message[], size_t size)
{
  PhaseConfig phases = config->phases;
  GridConfig  grid = config->grid;
  PetscInt64  cells = estimate->cell_count, half = 1;
  MacGrid     box;
  Phase       phase;

  PetscFunctionBegin;
  *surface = 0.; /* of all regions */
  if (!phases.region_count)
    PetscFunctionReturn(0);
  for (; cells > MOST_CELLS_TO_TRY && grid.resolution % 2 == 0; cells >>= grid.dimension, half *= 2) {
    for (PetscInt d = 0; d < grid.dimension; d++)
      if (estimate->cells[d] % (2 * half))
        PetscFunctionReturn(0); /* the run itself will tell */
    grid.resolution /= 2;
  }
  phases.interface.particles = 0;
  phases.contact_count = 0; /* walls and bodies are not there to meet */
  PetscCall(MacGridCreate(PETSC_COMM_SELF, &grid, &box));
  PetscCall(PhaseCreate(box, &phases, &phase));
  PetscCall(PhaseStart(phase, NULL, message, size));
  for (PetscInt r = 0; r < phases.region_count; r++)
    *surface += phase_report(phase)->surface[r];
  forecast_regions(config, phase, forecast);
  PetscCall(PhaseDestroy(&phase));
  PetscCall(MacGridDestroy(&box));
  PetscFunctionReturn(0);
}

PetscErrorCode SimulationConfigEstimate(const SimulationConfig *config, PetscMPIInt ranks,
                                        SimulationEstimate *estimate, char message[], size_t size)
{
  const TeamWork work = simulation_config_work(config);
  Forecast       forecast = {.waves = PETSC_MAX_REAL};
  PetscReal      resident, surface = 0.;
  struct rusage  own;
  Solid          solid;

  PetscFunctionBegin;
  message[0] = '\0';
  *estimate = (SimulationEstimate){0};
  estimate->solid_ranks = team_config_solid_ranks(&config->parallel, work, ranks);
  estimate->fluid_ranks = ranks - estimate->solid_ranks;
  PetscCall(SimulationCheckInitialFrame(config, message, size));
  if (message[0])
    PetscFunctionReturn(0);
  PetscCall(EstimateSolids(config, estimate, &solid, message, size));
  if (message[0])
    PetscFunctionReturn(0);
  if (solid)
    forecast_solids(config, solid, &forecast);
  getrusage(RUSAGE_SELF, &own);
  resident = 1024. * own.ru_maxrss; /* before regions are tried */
  if (work != WORK_SOLIDS) {
    count_cells(config, estimate);
    PetscCall(TryRegions(config, estimate, &surface, &forecast, message, size));
  }
  estimate->bytes = peak_bytes(config, estimate, resident);
  if (config->phases.region_count)
    estimate->bytes += marker_bytes(config, surface);
  parts_estimate(config, estimate);
  forecast_steps(config, &forecast, estimate);
  if (solid)
    PetscCall(SolidExplainSolver(solid, estimate->time_step, estimate->solver, sizeof(estimate->solver)));
  PetscCall(SolidDestroy(&solid));
  PetscFunctionReturn(0);
}

PetscErrorCode SimulationConfigCheckRanks(const SimulationConfig *config, PetscMPIInt ranks, char message[],
                                          size_t size)
{
  const TeamWork work = simulation_config_work(config);
  const PetscInt solid_ranks = team_config_solid_ranks(&config->parallel, work, ranks);

  PetscFunctionBegin;
  message[0] = '\0';
  if (work == WORK_SOLIDS)
    PetscFunctionReturn(0);
  if (solid_ranks >= ranks)
    PetscCall(PetscSNPrintf(
        message, size, "parallel.solid_ranks is %" PetscInt_FMT " of %d ranks and leaves none for the fluid",
        solid_ranks, ranks));
  else
    PetscCall(GridConfigCheck(&config->grid, ranks - (PetscMPIInt)solid_ranks, message, size));
  PetscFunctionReturn(0);
}

void print_estimate(const SimulationConfig *config, const SimulationEstimate *estimate, FILE *file)
{
  fprintf(file, "%s\n", config->title);
  if (estimate->cell_count)
    fprintf(file, "cells      %" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT " = %lld\n",
            estimate->cells[X], estimate->cells[Y], estimate->cells[Z], (long long)estimate->cell_count);
  if (estimate->particles > 0.)
    fprintf(file, "particles  about %.3g at the start\n", (double)estimate->particles);
  if (estimate->bodies)
    fprintf(file, "bodies     %" PetscInt_FMT ", %" PetscInt_FMT " joint%s\n", estimate->bodies,
            estimate->joints, estimate->joints == 1 ? "" : "s");
  if (estimate->tetrahedra && (elastic_time_is_implicit(config->solids.elasticity) || estimate->cell_count))
    fprintf(file, "elements   %" PetscInt_FMT ", %s steps\n", estimate->tetrahedra,
            ElasticTimes[config->solids.elasticity]);
  else if (estimate->tetrahedra)
    fprintf(file, "elements   %" PetscInt_FMT ", substeps of %.3g s at rest\n", estimate->tetrahedra,
            (double)estimate->substep);
  if (estimate->meeting_triangles)
    fprintf(file, "surfaces   %" PetscInt_FMT " triangles of meshes that meet\n",
            estimate->meeting_triangles);
  fprintf(file, "ranks      %" PetscInt_FMT " fluid, %" PetscInt_FMT " solid\n", estimate->fluid_ranks,
          estimate->solid_ranks);
  fprintf(file, "memory     %.0f MB at the peak, all ranks together\n", (double)estimate->bytes / 1e6);
  fprintf(file, "time step  about %.3g s on the average: %.0f steps to t = %g s\n",
          (double)estimate->time_step, (double)estimate->steps, (double)config->run.end_time);
  if (estimate->solver[0])
    fprintf(file, "solver     %s\n", estimate->solver);
}

PetscErrorCode SimulationMeasureStep(Simulation simulation, PetscReal *seconds, char message[], size_t size)
{
  const RunConfig *run = &simulation->config->run;
  PetscLogDouble   began, ended;
  PetscReal        dt;
  PetscBool        good;

  PetscFunctionBegin;
  message[0] = '\0';
  *seconds = 0.;
  PetscCall(SimulationTryStart(simulation, &good));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &good, 1, MPIU_BOOL, MPI_LAND, team_world(simulation->team)));
  if (good) {
    PetscCall(PetscTime(&began));
    PetscCall(SimulationGetTimeStep(simulation, PetscMin(run->frame_interval, run->end_time), &dt));
    PetscCall(SimulationTryStep(simulation, &dt, &good));
    PetscCall(PetscTime(&ended));
    *seconds = ended - began;
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, seconds, 1, MPIU_REAL, MPI_MAX, team_world(simulation->team)));
  if (!good)
    PetscCall(PetscStrncpy(message, "The first step of this scene fails: run it to see why", size));
  PetscFunctionReturn(0);
}
