/* What a checkpoint holds of a run. */
#include "simulation_impl.h"

/* Adds words about the fluid to `text`. */
static PetscErrorCode DescribeFluid(Simulation simulation, char text[], size_t size)
{
  const FluidConfig *fluid = &simulation->config->fluid;
  const GridBox     *box = grid_box(simulation->grid);
  const Vector3      origin = grid_origin(simulation->grid);
  size_t             length;

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(text, size,
                          "%" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT " cells (%" PetscInt_FMT
                          "-D) of %.10g m from [%.10g, %.10g, %.10g]",
                          box->cells[X], box->cells[Y], box->cells[Z], box->dimension,
                          (double)grid_spacing(simulation->grid), (double)origin.at[X], (double)origin.at[Y],
                          (double)origin.at[Z]));
  for (PetscInt d = 0; d < box->dimension; d++) {
    PetscCall(PetscStrlen(text, &length));
    if (box->periodic[d])
      PetscCall(PetscSNPrintf(text + length, size - length, ", periodic along %c", "xyz"[d]));
  }
  for (PetscInt r = 0; r < simulation->config->phases.region_count; r++) {
    PetscCall(PetscStrlen(text, &length));
    PetscCall(PetscSNPrintf(text + length, size - length, "%s%s", r ? ", " : " of ",
                            simulation->config->phases.regions[r].name));
  }
  for (PetscInt s = 0; s < fluid->scalar_count; s++) {
    PetscCall(PetscStrlen(text, &length));
    PetscCall(
        PetscSNPrintf(text + length, size - length, "%s%s", s ? ", " : " with ", fluid->scalars[s].name));
  }
  PetscFunctionReturn(0);
}

/* Adds words about the bodies. */
static PetscErrorCode DescribeSolids(Simulation simulation, char text[], size_t size)
{
  const SolidConfig *config = &simulation->config->solids;
  size_t             length;

  PetscFunctionBegin;
  PetscCall(PetscStrlen(text, &length));
  PetscCall(PetscSNPrintf(text + length, size - length, "%s%" PetscInt_FMT " bodies", length ? ", and " : "",
                          solid_body_count(simulation->solid)));
  for (PetscInt b = 0; b < config->body_count; b++) {
    PetscCall(PetscStrlen(text, &length));
    PetscCall(PetscSNPrintf(text + length, size - length, "%s%s", b ? ", " : ": ", config->bodies[b].name));
  }
  PetscCall(PetscStrlen(text, &length));
  PetscCall(
      PetscSNPrintf(text + length, size - length, " with %" PetscInt_FMT " joints", config->joint_count));
  for (PetscInt side = 0; side < 2 * DIM; side++)
    if (config->held[side / 2][side % 2]) {
      PetscCall(PetscStrlen(text, &length));
      PetscCall(PetscSNPrintf(text + length, size - length, ", wall_%c_%s", "xyz"[side / 2],
                              side % 2 ? "high" : "low"));
    }
  PetscFunctionReturn(0);
}

/* What two states must have in common to be exchanged, in words. */
static PetscErrorCode DescribeLayout(Simulation simulation, char text[], size_t size)
{
  PetscFunctionBegin;
  text[0] = '\0';
  if (simulation->fluid)
    PetscCall(DescribeFluid(simulation, text, size));
  if (simulation->solid)
    PetscCall(DescribeSolids(simulation, text, size));
  PetscFunctionReturn(0);
}

enum { LAYOUT_LENGTH = 1024 };

PetscErrorCode SimulationSave(Simulation simulation, Archive archive)
{
  char layout[LAYOUT_LENGTH];

  PetscFunctionBegin;
  PetscCall(DescribeLayout(simulation, layout, sizeof(layout)));
  PetscCall(ArchiveWriteText(archive, "layout", layout));
  PetscCall(ArchiveWriteReal(archive, "time", simulation->time));
  PetscCall(ArchiveWriteInteger(archive, "step", simulation->step));
  PetscCall(ArchiveWriteReal(archive, "dt", simulation->dt));
  if (simulation->fluid)
    PetscCall(FluidSave(simulation->fluid, archive));
  if (simulation->phase)
    PetscCall(PhaseSave(simulation->phase, archive));
  if (simulation->gas)
    PetscCall(SimulationSaveGas(simulation, archive));
  if (simulation->solid)
    PetscCall(SolidSave(simulation->solid, archive));
  if (simulation->coupled)
    PetscCall(SimulationSaveCoupled(simulation, archive));
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

static PetscErrorCode CheckFluidClock(Simulation simulation, Archive archive)
{
  const PetscReal time = fluid_time(simulation->fluid);

  PetscFunctionBegin;
  if (!(PetscAbsReal(time - simulation->time) <= 1e-9 * simulation->time))
    PetscCall(ArchiveRefuse(archive, "fluid/time", "is %.17g, not the %.17g of the run", (double)time,
                            (double)simulation->time));
  PetscFunctionReturn(0);
}

PetscErrorCode SimulationLoad(Simulation simulation, Archive archive)
{
  PetscFunctionBegin;
  PetscCall(LoadClock(simulation, archive));
  if (simulation->solid)
    PetscCall(SolidLoad(simulation->solid, archive));
  if (simulation->fluid) {
    PetscCall(SimulationPlaceObstacles(simulation, simulation->time));
    PetscCall(SimulationLoadCoupled(simulation, archive));
    PetscCall(SimulationLoadRegions(simulation, archive));
    PetscCall(FluidLoad(simulation->fluid, archive));
    PetscCall(CheckFluidClock(simulation, archive));
    PetscCall(SimulationExtendVelocity(simulation));
    PetscCall(SimulationLoadGas(simulation, archive));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode SimulationCheckArchive(Simulation simulation, Archive archive, char message[],
                                      size_t message_size)
{
  char      layout[LAYOUT_LENGTH], *saved;
  PetscBool has, same;

  PetscFunctionBegin;
  message[0] = '\0';
  PetscCall(ArchiveHas(archive, "layout", &has));
  if (!has) {
    PetscCall(PetscSNPrintf(message, message_size, "the file is no checkpoint"));
    PetscFunctionReturn(0);
  }
  PetscCall(DescribeLayout(simulation, layout, sizeof(layout)));
  PetscCall(ArchiveReadText(archive, "layout", &saved));
  PetscCall(PetscStrcmp(layout, saved, &same));
  for (char *c = saved; *c; c++)
    if ((unsigned char)*c < ' ' || *c == 0x7f)
      *c = '?'; /* a terminal would obey it */
  if (!same)
    PetscCall(PetscSNPrintf(message, message_size,
                            "the checkpoint has %s but the scene %s: a run goes on with the grid, the "
                            "regions, the scalars and the bodies it began with",
                            saved, layout));
  PetscCall(PetscFree(saved));
  PetscFunctionReturn(0);
}
