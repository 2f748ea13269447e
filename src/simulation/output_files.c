/* The tables of the groups of `output`: output/NAME.csv and output/NAME.h5, written as the ledger is; and
   frames of their own, output/NAME/run.xmf, one for each row.

   A group has a row for the start and for the first step that ends at or beyond each whole multiple of its
   interval. Whether a step does follows from its own time and size, so that a run that is resumed has the
   same rows. */
#include "output_impl.h"

static void group_name(const OutputConfig *group, const char format[], char name[], size_t size)
{
  snprintf(name, size, format, group->name);
}

/* Of a group that has begun to write frames; any other begins with the first. */
static PetscErrorCode LoadFrameCount(OutputTables *tables, Simulation simulation, Archive archive, PetscInt n)
{
  PetscBool  has;
  PetscInt64 frames;
  char       name[64];

  PetscFunctionBegin;
  group_name(&simulation->config->outputs[n], "output_frames_%.40s", name, sizeof(name));
  PetscCall(ArchiveHas(archive, name, &has));
  if (!has)
    PetscFunctionReturn(0);
  PetscCall(ArchiveReadCount(archive, name, 0, (PetscInt64)simulation->step + 1, &frames));
  tables->frames[n] = (PetscInt)frames;
  PetscFunctionReturn(0);
}

PetscErrorCode OutputTablesLoad(OutputTables *tables, Simulation simulation, Archive archive)
{
  const SimulationConfig *config = simulation->config;

  PetscFunctionBegin;
  for (PetscInt n = 0; n < config->output_count; n++) {
    PetscBool has;
    char      name[64];

    group_name(&config->outputs[n], "output_rows_%.40s", name, sizeof(name));
    PetscCall(ArchiveHas(archive, name, &has));
    if (has)
      PetscCall(ArchiveReadCount(archive, name, 0, (PetscInt64)simulation->step + 1, &tables->rows[n]));
    PetscCall(LoadFrameCount(tables, simulation, archive, n));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode OutputTablesSave(OutputTables *tables, Simulation simulation, Archive archive)
{
  const SimulationConfig *config = simulation->config;

  PetscFunctionBegin;
  for (PetscInt n = 0; n < config->output_count; n++) {
    char name[64];

    group_name(&config->outputs[n], "output_rows_%.40s", name, sizeof(name));
    PetscCall(ArchiveWriteInteger(archive, name, ledger_rows(tables->tables[n])));
    if (!tables->series[n])
      continue;
    group_name(&config->outputs[n], "output_frames_%.40s", name, sizeof(name));
    PetscCall(ArchiveWriteInteger(archive, name, tables->frames[n]));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode OutputTablesCreate(Simulation simulation, OutputTables *tables)
{
  const PetscInt count = simulation->config->output_count;

  PetscFunctionBegin;
  PetscCall(PetscCalloc5(count, &tables->tables, count, &tables->rows, count, &tables->series, count,
                         &tables->frames, count, &tables->names));
  PetscFunctionReturn(0);
}

/* In a folder of its own, as the frames of a run are in the run's. */
static PetscErrorCode OpenFrames(OutputTables *tables, Simulation simulation, PetscInt n,
                                 const char directory[], char message[], size_t size)
{
  const OutputConfig *group = &simulation->config->outputs[n];
  FrameConfig         config;
  char                name[64], path[PETSC_MAX_PATH_LEN];

  PetscFunctionBegin;
  if (!group->field_count || message[0])
    PetscFunctionReturn(0);
  group_name(group, "output/%.40s", name, sizeof(name));
  PetscCall(PetscSNPrintf(path, sizeof(path), "%s/%s", directory, name));
  PetscCall(PetscMalloc1(group->field_count, &tables->names[n]));
  config =
      frame_config(simulation, path, tables->frames[n], group->field_count, group->fields, tables->names[n]);
  PetscCall(FrameSeriesCreate(simulation_writers(simulation), &config, &tables->series[n], message, size));
  PetscFunctionReturn(0);
}

PetscErrorCode OutputTablesOpen(OutputTables *tables, Simulation simulation, const char directory[],
                                char message[], size_t size)
{
  const SimulationConfig *config = simulation->config;
  Record                 *record;

  PetscFunctionBegin;
  PetscCall(PetscNew(&record));
  for (PetscInt n = 0; n < config->output_count && !message[0]; n++) {
    LedgerConfig ledger = {.directory = directory, .rows = tables->rows[n]};
    char         name[64];

    group_name(&config->outputs[n], "output/%.40s", name, sizeof(name));
    ledger.name = name;
    PetscCall(SimulationMeasureOutput(simulation, &config->outputs[n], OUTPUT_NAMES, record));
    ledger.column_count = record->count;
    ledger.columns = (const char *const(*)[2])record->columns;
    PetscCall(LedgerCreate(simulation_writers(simulation), &ledger, &tables->tables[n], message, size));
    PetscCall(OpenFrames(tables, simulation, n, directory, message, size));
  }
  PetscCall(PetscFree(record));
  PetscFunctionReturn(0);
}

/* Whether the last step has reached a multiple of the interval; without one, every step is meant. */
static PetscBool is_due(Simulation simulation, const OutputConfig *group)
{
  const PetscReal interval = group->interval, now = simulation->time, before = now - simulation->dt;

  if (interval <= 0. || simulation->step == 0)
    return PETSC_TRUE;
  return PetscFloorReal(now / interval + 1e-9) > PetscFloorReal(before / interval + 1e-9) ? PETSC_TRUE
                                                                                          : PETSC_FALSE;
}

PetscErrorCode OutputTablesAppend(OutputTables *tables, Simulation simulation, const char scene_text[],
                                  char message[], size_t size)
{
  const SimulationConfig *config = simulation->config;
  Record                 *record;

  PetscFunctionBegin;
  PetscCall(PetscNew(&record));
  for (PetscInt n = 0; n < config->output_count; n++) {
    if (!is_due(simulation, &config->outputs[n]))
      continue;
    PetscCall(SimulationMeasureOutput(simulation, &config->outputs[n], OUTPUT_VALUES, record));
    PetscCall(LedgerAppend(tables->tables[n], record->values));
    if (tables->series[n] && !message[0])
      PetscCall(SimulationWriteFrame(simulation, tables->series[n], tables->frames[n]++, scene_text, message,
                                     size));
  }
  PetscCall(PetscFree(record));
  PetscFunctionReturn(0);
}

PetscErrorCode OutputTablesSync(OutputTables *tables, Simulation simulation, OutputMoment moment,
                                char message[], size_t size)
{
  PetscFunctionBegin;
  for (PetscInt n = 0; n < simulation->config->output_count && !message[0]; n++)
    PetscCall(moment == OUTPUT_END ? LedgerFinish(tables->tables[n], message, size)
                                   : LedgerSync(tables->tables[n], message, size));
  PetscFunctionReturn(0);
}

PetscErrorCode OutputTablesDestroy(OutputTables *tables, Simulation simulation)
{
  PetscFunctionBegin;
  for (PetscInt n = 0; tables->tables && n < simulation->config->output_count; n++) {
    PetscCall(LedgerDestroy(&tables->tables[n]));
    PetscCall(FrameSeriesDestroy(&tables->series[n]));
    PetscCall(PetscFree(tables->names[n]));
  }
  PetscCall(PetscFree5(tables->tables, tables->rows, tables->series, tables->frames, tables->names));
  PetscFunctionReturn(0);
}
