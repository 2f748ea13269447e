/* The progress line: rewritten in place on a terminal, one line per frame in a log. */
#include "coupled_impl.h"

#include <petsctime.h>
#include <unistd.h>

enum { TEXT_LENGTH = 32 };

/* 75 -> 1:15, 4000 -> 1:06:40. */
static void write_duration(PetscReal seconds, char text[TEXT_LENGTH])
{
  const long whole = seconds > 0. && seconds < 1e9 ? (long)(seconds + 0.5) : 0;

  if (whole < 3600)
    snprintf(text, TEXT_LENGTH, "%ld:%02ld", whole / 60, whole % 60);
  else
    snprintf(text, TEXT_LENGTH, "%ld:%02ld:%02ld", whole / 3600, whole / 60 % 60, whole % 60);
}

/* Open MPI gives every rank a terminal of its own, so under mpiexec its own output decides. */
static PetscBool writes_to_terminal(void)
{
  char    link[64], target[64];
  ssize_t length;

  if (!isatty(STDOUT_FILENO))
    return PETSC_FALSE;
  if (!getenv("OMPI_COMM_WORLD_SIZE"))
    return PETSC_TRUE;
  snprintf(link, sizeof(link), "/proc/%ld/fd/1", (long)getppid());
  length = readlink(link, target, sizeof(target) - 1);
  if (length < 0)
    return PETSC_FALSE;
  target[length] = '\0';
  return strncmp(target, "/dev/pts/", 9) == 0 || strncmp(target, "/dev/tty", 8) == 0 ? PETSC_TRUE
                                                                                     : PETSC_FALSE;
}

static PetscBool speaks(Simulation simulation)
{
  PetscMPIInt rank;

  MPI_Comm_rank(team_world(simulation->team), &rank);
  return rank == 0 ? PETSC_TRUE : PETSC_FALSE;
}

/* "64 x 64 x 1 cells, 12 bodies" */
static void describe_size(Simulation simulation, const PetscInt cells[DIM], char text[], size_t size)
{
  size_t used = 0;

  text[0] = '\0';
  if (simulation->fluid)
    used = (size_t)snprintf(text, size, "%" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT " cells%s",
                            cells[X], cells[Y], cells[Z], simulation->solid ? ", " : "");
  if (simulation->solid)
    snprintf(text + used, size - used, "%" PetscInt_FMT " bodies", solid_body_count(simulation->solid));
}

PetscErrorCode ProgressBegin(Simulation simulation, Progress *progress)
{
  const RunConfig *run = &simulation->config->run;
  PetscInt         cells[DIM] = {0, 0, 0};
  char             sizes[4 * TEXT_LENGTH];

  PetscFunctionBegin;
  if (simulation->fluid)
    grid_config_cells(&simulation->config->grid, cells);
  PetscCall(PetscTime(&progress->began));
  progress->began_time = simulation->time;
  progress->began_step = simulation->step;
  progress->terminal = writes_to_terminal();
  progress->cells = (PetscInt64)cells[X] * cells[Y] * cells[Z];
  progress->frames = (PetscInt64)PetscCeilReal(run->end_time / run->frame_interval * (1. - 1e-9));
  describe_size(simulation, cells, sizes, sizeof(sizes));
  if (speaks(simulation))
    printf("%s: %s, from t = %g s to %g s\n", simulation->config->title, sizes, (double)simulation->time,
           (double)run->end_time);
  PetscFunctionReturn(0);
}

/* What the solvers did, "coupled" with bodies: "  pressure 12 it  3.1 Mcells/s  41 contacts 8 it". */
static void describe_work(Simulation simulation, PetscReal cells_per_second, char text[], size_t size)
{
  size_t used = 0;

  text[0] = '\0';
  if (simulation->fluid)
    used = (size_t)snprintf(text, size, "  %s %" PetscInt_FMT " it  %.3g Mcells/s",
                            simulation->coupled ? "coupled" : "pressure",
                            simulation->coupled ? simulation->coupled->iterations
                                                : fluid_report(simulation->fluid)->pressure.iterations,
                            1e-6 * (double)cells_per_second);
  if (simulation->solid) {
    const SolidReport report = solid_report(simulation->solid);

    snprintf(text + used, size - used, "  %" PetscInt_FMT " contacts %" PetscInt_FMT " it  %.3g m/s",
             report.contacts, report.position_iterations + report.velocity_iterations,
             (double)report.largest_speed);
  }
}

PetscErrorCode ProgressShow(Simulation simulation, Progress *progress, PetscInt frame, ProgressMoment moment)
{
  const PetscInt  steps = simulation->step - progress->began_step;
  const PetscReal done = simulation->time - progress->began_time;
  PetscLogDouble  now;
  char            elapsed[TEXT_LENGTH], left[TEXT_LENGTH], work[4 * TEXT_LENGTH];

  PetscFunctionBegin;
  if (!speaks(simulation) || (!progress->terminal && moment == PROGRESS_STEP))
    PetscFunctionReturn(0);
  PetscCall(PetscTime(&now));
  write_duration(now - progress->began, elapsed);
  write_duration(
      done > 0. ? (now - progress->began) * (simulation->config->run.end_time - simulation->time) / done : 0.,
      left);
  describe_work(simulation, (PetscReal)progress->cells * steps / (now - progress->began), work, sizeof(work));
  printf("%sframe %" PetscInt_FMT "/%lld  t %.4g s  step %" PetscInt_FMT "  dt %.3g s%s  %s gone  %s left%s",
         progress->terminal ? "\r\033[K" : "", frame, (long long)progress->frames, (double)simulation->time,
         simulation->step, (double)simulation->dt, work, elapsed, left, progress->terminal ? "" : "\n");
  fflush(stdout);
  PetscFunctionReturn(0);
}

/* A region that is gone, or a gas that stood still, is no failure but must be known. */
void progress_warn(Simulation simulation, const Progress *progress, PetscInt gas_failures_before)
{
  const PetscInt vanished = simulation->phase ? phase_report(simulation->phase)->vanished : 0;
  const char    *newline = progress->terminal ? "\n" : "";

  if (!speaks(simulation))
    return;
  if (vanished)
    fprintf(stderr, "%smillrace: warning: at t = %g s region \"%s\" has vanished\n", newline,
            (double)simulation->time, simulation->config->phases.regions[vanished - 1].name);
  if (simulation->gas_failures > gas_failures_before)
    fprintf(stderr,
            "%smillrace: warning: at t = %g s the pressure solve of the one-way gas ended with %s; it stood "
            "still for a step\n",
            newline, (double)simulation->time,
            KSPConvergedReasons[fluid_report(simulation->gas)->pressure.reason]);
}

PetscErrorCode ProgressEnd(Simulation simulation, Progress *progress)
{
  PetscLogDouble now;
  char           elapsed[TEXT_LENGTH];

  PetscFunctionBegin;
  if (!speaks(simulation))
    PetscFunctionReturn(0);
  PetscCall(PetscTime(&now));
  write_duration(now - progress->began, elapsed);
  printf("%s%" PetscInt_FMT " steps to t = %g s in %s\n", progress->terminal ? "\n" : "",
         simulation->step - progress->began_step, (double)simulation->time, elapsed);
  PetscFunctionReturn(0);
}
