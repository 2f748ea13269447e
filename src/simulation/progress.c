/* The progress line: rewritten in place on a terminal, one line per frame in a log. */
#include "coupled_impl.h"

#include <fcntl.h>
#include <petsctime.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TEXT_LENGTH = 32, USUAL_WIDTH = 80 };

enum { MOST_PARTS = NEED_SHARE + 1 };
struct ProgressLine {
  int count;
  struct {
    Need need;
    char text[2 * TEXT_LENGTH];
  } parts[MOST_PARTS]; /* in the order of the line */
};

void line_add(ProgressLine *line, Need need, const char format[], ...)
{
  va_list arguments;

  va_start(arguments, format);
  line->parts[line->count].need = need;
  vsnprintf(line->parts[line->count++].text, 2 * TEXT_LENGTH, format, arguments);
  va_end(arguments);
}

/* With two spaces between the parts, of which those below `least` are left out; the length. */
static int line_write(const ProgressLine *line, Need least, char text[], size_t size)
{
  int used = 0;

  text[0] = '\0';
  for (int p = 0; p < line->count; p++)
    if (line->parts[p].need >= least)
      used += snprintf(text + used, size - (size_t)used, "%s%s", used ? "  " : "", line->parts[p].text);
  return used;
}

/* 75 -> 1:15, 4000 -> 1:06:40. */
static void write_duration(PetscReal seconds, char text[TEXT_LENGTH])
{
  const long whole = seconds > 0. && seconds < 1e9 ? (long)(seconds + 0.5) : 0;

  if (whole < 3600)
    snprintf(text, TEXT_LENGTH, "%ld:%02ld", whole / 60, whole % 60);
  else
    snprintf(text, TEXT_LENGTH, "%ld:%02ld:%02ld", whole / 3600, whole / 60 % 60, whole % 60);
}

static long parent_of(long process)
{
  char  path[TEXT_LENGTH];
  long  parent = 0;
  FILE *file;

  snprintf(path, sizeof(path), "/proc/%ld/stat", process);
  file = fopen(path, "r");
  if (!file)
    return 0;
  if (fscanf(file, "%*d (%*[^)]) %*c %ld", &parent) != 1)
    parent = 0;
  fclose(file);
  return parent;
}

/* The mpiexec that shows what this rank prints: Open MPI gives every rank a terminal of its own, MPICH's
   Hydra a pipe to a proxy, whose parent is mpiexec. 0: none is known. */
static long find_launcher(void)
{
  struct stat status;

  if (isatty(STDOUT_FILENO))
    return getenv("OMPI_COMM_WORLD_SIZE") ? (long)getppid() : 0;
  if (getenv("PMI_SIZE") && !fstat(STDOUT_FILENO, &status) && S_ISFIFO(status.st_mode))
    return parent_of((long)getppid());
  return 0;
}

/* The file that is the user's terminal; "" if there is none. Under mpiexec its own output decides. */
static void find_terminal(char path[2 * TEXT_LENGTH])
{
  const long launcher = find_launcher();
  char       link[2 * TEXT_LENGTH];
  ssize_t    length;

  path[0] = '\0';
  if (!launcher && isatty(STDOUT_FILENO))
    snprintf(path, 2 * TEXT_LENGTH, "/dev/stdout");
  if (!launcher)
    return;
  snprintf(link, sizeof(link), "/proc/%ld/fd/1", launcher);
  length = readlink(link, path, 2 * TEXT_LENGTH - 1);
  path[length > 0 ? length : 0] = '\0';
  if (strncmp(path, "/dev/pts/", 9) && strncmp(path, "/dev/tty", 8))
    path[0] = '\0';
}

/* Columns of the terminal, which the user may change at any time. */
static int terminal_width(const char path[])
{
  const int      file = open(path, O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
  struct winsize window = {0};

  if (file >= 0) {
    if (ioctl(file, TIOCGWINSZ, &window))
      window.ws_col = 0;
    close(file);
  }
  return window.ws_col ? window.ws_col : USUAL_WIDTH;
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
  size_t   used = 0;
  PetscInt elements = 0;

  text[0] = '\0';
  if (simulation->grid)
    used = (size_t)snprintf(text, size, "%" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT " cells%s",
                            cells[X], cells[Y], cells[Z], simulation->solid ? ", " : "");
  if (simulation->solid && solid_body_count(simulation->solid))
    used += (size_t)snprintf(text + used, size - used, "%" PetscInt_FMT " %s%s",
                             solid_body_count(simulation->solid),
                             solid_body_count(simulation->solid) == 1 ? "body" : "bodies",
                             simulation->config->solids.mesh_count ? ", " : "");
  for (PetscInt m = 0; m < simulation->config->solids.mesh_count; m++)
    elements += solid_mesh_elements(simulation->solid, m);
  if (elements)
    snprintf(text + used, size - used, "%" PetscInt_FMT " elements", elements);
}

/* Of two ranks the solids have none of their own unless the scene gives them one: that is to be known. */
static PetscErrorCode TellSharing(Simulation simulation)
{
  PetscMPIInt size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(team_world(simulation->team), &size));
  if (simulation->fluid && simulation->solid && size == 2 && simulation->config->parallel.solid_ranks < 0 &&
      simulation_config_work(simulation->config) == WORK_BOTH)
    printf("the solids share the last of 2 ranks with the fluid; of 3 or more they have one of their own\n");
  PetscFunctionReturn(0);
}

PetscErrorCode ProgressBegin(Simulation simulation, Progress *progress)
{
  const RunConfig *run = &simulation->config->run;
  PetscInt         cells[DIM] = {0, 0, 0};
  char             sizes[4 * TEXT_LENGTH];

  PetscFunctionBegin;
  if (simulation->grid)
    grid_config_cells(&simulation->config->grid, cells);
  PetscCall(PetscTime(&progress->began));
  progress->began_time = simulation->time;
  progress->began_step = simulation->step;
  find_terminal(progress->terminal);
  progress->cells = (PetscInt64)cells[X] * cells[Y] * cells[Z];
  progress->frames = (PetscInt64)PetscCeilReal(run->end_time / run->frame_interval * (1. - 1e-9));
  describe_size(simulation, cells, sizes, sizeof(sizes));
  if (speaks(simulation)) {
    const char *title = simulation->config->title;

    printf("%s%s%s, from t = %g s to %g s\n", title, title[0] ? ": " : "", sizes, (double)simulation->time,
           (double)run->end_time);
    PetscCall(TellSharing(simulation));
  }
  PetscFunctionReturn(0);
}

static void describe_progress(Simulation simulation, const Progress *progress, PetscInt frame,
                              PetscReal elapsed, ProgressLine *line)
{
  const PetscReal end = simulation->config->run.end_time, done = simulation->time - progress->began_time;
  const PetscInt  steps = simulation->step - progress->began_step;
  char            gone[TEXT_LENGTH], left[TEXT_LENGTH];

  write_duration(elapsed, gone);
  write_duration(done > 0. ? elapsed * (end - simulation->time) / done : 0., left);
  line_add(line, NEED_FRAME, "frame %" PetscInt_FMT "/%lld", frame, (long long)progress->frames);
  line_add(line, NEED_SHARE, "%.3g %%", PetscMin(100., PetscFloorReal(1000. * simulation->time / end) / 10.));
  line_add(line, NEED_TIME, "t %.4g s", (double)simulation->time);
  line_add(line, NEED_STEP, "step %" PetscInt_FMT, simulation->step);
  line_add(line, NEED_STEP_SIZE, "dt %.3g s", (double)simulation->dt);
  parts_describe_work(simulation, (PetscReal)progress->cells * steps / elapsed, line);
  line_add(line, NEED_ELAPSED, "%s gone", gone);
  line_add(line, NEED_LEFT, "%s left", left);
}

PetscErrorCode ProgressShow(Simulation simulation, Progress *progress, PetscInt frame, ProgressMoment moment)
{
  ProgressLine   line = {0};
  char           text[MOST_PARTS * 2 * TEXT_LENGTH];
  PetscLogDouble now;
  Need           least = NEED_RATE;
  int            width;

  PetscFunctionBegin;
  if (!speaks(simulation) || (!progress->terminal[0] && moment == PROGRESS_STEP))
    PetscFunctionReturn(0);
  PetscCall(PetscTime(&now));
  describe_progress(simulation, progress, frame, now - progress->began, &line);
  if (progress->terminal[0]) {
    /* a line that fills the last column may wrap, and then cannot be written over */
    width = PetscMax(terminal_width(progress->terminal) - 1, 1);
    while (line_write(&line, least, text, sizeof(text)) > width && least < NEED_SHARE)
      least++;
    printf("\r\033[K%.*s", width, text);
  } else {
    line_write(&line, least, text, sizeof(text));
    printf("%s\n", text);
  }
  fflush(stdout);
  PetscFunctionReturn(0);
}

/* Once in a run: the ledger knows the rest. */
static void warn_of_disagreement(Simulation simulation, Progress *progress)
{
  const struct Coupled *coupled = simulation->coupled;

  if (!coupled || !coupled->unsettled || progress->told_of_disagreement)
    return;
  progress->told_of_disagreement = PETSC_TRUE;
  fprintf(stderr,
          "%smillrace: warning: at t = %g s contact and fluid did not agree in %" PetscInt_FMT
          " rounds, and the step was repeated with half its size%s; see coupled_unsettled in the ledger\n",
          progress->terminal[0] ? "\n" : "", (double)simulation->time, simulation->config->coupling.rounds,
          coupled->unsettled > 1 ? ", in which they did not either but almost" : "");
}

/* A region that is gone, or a gas that stood still, is no failure but must be known. */
void progress_warn(Simulation simulation, Progress *progress, PetscInt gas_failures_before)
{
  const PetscInt vanished = simulation->phase ? phase_report(simulation->phase)->vanished : 0;
  const char    *newline = progress->terminal[0] ? "\n" : "";

  if (!speaks(simulation))
    return;
  warn_of_disagreement(simulation, progress);
  if (vanished)
    fprintf(stderr, "%smillrace: warning: at t = %g s region \"%s\" has vanished\n", newline,
            (double)simulation->time, simulation->config->phases.regions[vanished - 1].name);
  if (simulation->is_first_cut)
    fprintf(stderr,
            "%smillrace: warning: at t = %g s a step of run.time_step = %g s is too long for what moves: it "
            "is cut "
            "to %g s, and others that are too long likewise\n",
            newline, (double)(simulation->time - simulation->dt), (double)simulation->config->run.time_step,
            (double)simulation->dt);
  if (simulation->gas_failures > gas_failures_before)
    fprintf(stderr,
            "%smillrace: warning: at t = %g s the pressure solve of the one-way gas ended with %s; it stood "
            "still for a step\n",
            newline, (double)simulation->time,
            KSPConvergedReasons[fluid_report(simulation->gas)->pressure.reason]);
}

PetscErrorCode ProgressEnd(Simulation simulation, Progress *progress)
{
  const PetscInt steps = simulation->step - progress->began_step;
  PetscLogDouble now;
  char           elapsed[TEXT_LENGTH];

  PetscFunctionBegin;
  if (!speaks(simulation))
    PetscFunctionReturn(0);
  PetscCall(PetscTime(&now));
  write_duration(now - progress->began, elapsed);
  printf("%s%" PetscInt_FMT " step%s to t = %g s in %s\n", progress->terminal[0] && steps ? "\n" : "", steps,
         steps == 1 ? "" : "s", (double)simulation->time, elapsed);
  PetscFunctionReturn(0);
}
