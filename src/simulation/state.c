/* Checkpoints: the state of a run in an archive, and whether an archive fits a run. */
#include "simulation_impl.h"

#include <stdarg.h>

PetscErrorCode SimulationSave(Simulation simulation, Archive archive)
{
  Text layout = {NULL, 0, 0};

  PetscFunctionBegin;
  PetscCall(PartsDescribe(simulation, &layout));
  PetscCall(ArchiveWriteText(archive, "layout", layout.data));
  PetscCall(TextDestroy(&layout));
  PetscCall(SimulationSaveParts(simulation, archive));
  PetscCall(ArchiveWriteReal(archive, "time", simulation->time));
  PetscCall(ArchiveWriteInteger(archive, "step", simulation->step));
  PetscCall(ArchiveWriteReal(archive, "dt", simulation->dt));
  PetscCall(PartsSave(simulation, archive));
  PetscFunctionReturn(0);
}

/* The last step has ended at `time` and began at 0 at the earliest. */
static PetscErrorCode LoadClock(Simulation simulation, Archive archive)
{
  const PetscReal round_off = 1. + 1e-9;
  PetscInt64      step;

  PetscFunctionBegin;
  PetscCall(ArchiveReadRealWithin(archive, "time", 0., PETSC_MAX_REAL, &simulation->time));
  PetscCall(ArchiveReadCount(archive, "step", 0, PETSC_MAX_INT - 1, &step));
  PetscCall(ArchiveReadRealWithin(archive, "dt", 0., simulation->time * round_off, &simulation->dt));
  simulation->step = (PetscInt)step;
  PetscFunctionReturn(0);
}

/* Control characters would be obeyed by a terminal; of a long text the beginning will do. */
static void make_printable(char text[])
{
  const size_t most = 400;

  for (size_t n = 0; text[n]; n++)
    if (n == most)
      strcpy(text + n - 3, "...");
    else if ((unsigned char)text[n] < ' ' || text[n] == 0x7f)
      text[n] = '?';
}

static PetscErrorCode CheckLayout(Simulation simulation, Archive archive)
{
  Text      layout = {NULL, 0, 0};
  char     *saved;
  PetscBool same;

  PetscFunctionBegin;
  PetscCall(PartsDescribe(simulation, &layout));
  PetscCall(ArchiveReadText(archive, "layout", &saved));
  same = !strcmp(layout.data, saved);
  make_printable(saved);
  make_printable(layout.data);
  if (!same)
    PetscCall(ArchiveRefuse(archive, "layout",
                            "is that of %s, but the scene has %s: a run goes on with the grid, the regions, "
                            "the scalars and the bodies it began with",
                            saved, layout.data));
  PetscCall(PetscFree(saved));
  PetscCall(TextDestroy(&layout));
  PetscFunctionReturn(0);
}

static PetscErrorCode LoadSolids(Archive archive, void *context)
{
  const Simulation simulation = context;
  PetscBool        has;

  PetscFunctionBegin;
  PetscCall(ArchiveHas(archive, "layout", &has));
  if (!has)
    PetscCall(ArchiveRefuse(archive, "layout", "is missing: the file is no checkpoint"));
  PetscCall(CheckLayout(simulation, archive));
  PetscCall(LoadClock(simulation, archive));
  PetscCall(PartsLoad(simulation, LOAD_SOLIDS, archive));
  PetscFunctionReturn(0);
}

static PetscErrorCode LoadRest(Archive archive, void *context)
{
  PetscFunctionBegin;
  PetscCall(PartsLoad(context, LOAD_REST, archive));
  PetscFunctionReturn(0);
}

static PetscErrorCode ShareClock(Simulation simulation)
{
  const MPI_Comm world = team_world(simulation->team);

  PetscFunctionBegin;
  PetscCallMPI(MPI_Bcast(&simulation->time, 1, MPIU_REAL, 0, world));
  PetscCallMPI(MPI_Bcast(&simulation->dt, 1, MPIU_REAL, 0, world));
  PetscCallMPI(MPI_Bcast(&simulation->step, 1, MPIU_INT, 0, world));
  PetscFunctionReturn(0);
}

/* On the writers, who have the archive; its message is everybody's. */
static PetscErrorCode TryToLoad(Simulation simulation, ArchiveReader read, Archive archive, char message[],
                                size_t size)
{
  PetscFunctionBegin;
  message[0] = '\0';
  if (archive)
    PetscCall(ArchiveTry(archive, read, simulation, message, size));
  PetscCallMPI(MPI_Bcast(message, (PetscMPIInt)size, MPI_CHAR, 0, team_world(simulation->team)));
  PetscFunctionReturn(0);
}

PetscErrorCode SimulationLoad(Simulation simulation, Archive archive, char message[], size_t size)
{
  PetscFunctionBegin;
  PetscCall(SimulationTakeParts(simulation, archive, message, size));
  if (!message[0])
    PetscCall(SimulationLoadState(simulation, archive, message, size));
  PetscFunctionReturn(0);
}

PetscErrorCode SimulationLoadState(Simulation simulation, Archive archive, char message[], size_t size)
{
  PetscFunctionBegin;
  PetscCall(TryToLoad(simulation, LoadSolids, archive, message, size));
  if (message[0])
    PetscFunctionReturn(0);
  PetscCall(ShareClock(simulation));
  PetscCall(PartsShare(simulation, LOAD_SOLIDS));
  if (simulation->coupled) /* regions and flow are loaded around them */
    PetscCall(SimulationPlaceBodies(simulation, SHELLS_STILL, 0.));
  PetscCall(TryToLoad(simulation, LoadRest, archive, message, size));
  if (message[0])
    PetscFunctionReturn(0);
  PetscCall(PartsShare(simulation, LOAD_REST));
  PetscCall(PartsDerive(simulation));
  PetscFunctionReturn(0);
}
