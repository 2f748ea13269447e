/* Regions in checkpoints and frames. Whatever follows from the distances is computed again. */
#include "phase_impl.h"

enum { REPORT_NUMBERS = 6, TAIL_NUMBERS = 4 }; /* of a region; of the report as a whole */

typedef enum { SAVE, LOAD } Transfer;

static PetscErrorCode TransferRegion(Phase phase, PetscInt n, Archive archive, Transfer way)
{
  char name[32];

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(name, sizeof(name), "distance_%" PetscInt_FMT, n));
  if (way == SAVE)
    PetscCall(LevelSetSave(phase->level_sets[n], name, archive));
  else
    PetscCall(LevelSetLoad(phase->level_sets[n], name, archive));
  PetscCall(PetscSNPrintf(name, sizeof(name), "markers_%" PetscInt_FMT, n));
  if (way == SAVE)
    PetscCall(ParticlesSave(phase->markers[n], name, archive));
  else
    PetscCall(ParticlesLoad(phase->markers[n], name, archive));
  PetscFunctionReturn(0);
}

static void pack_report(const PhaseReport *report, PetscInt n, PetscReal row[REPORT_NUMBERS])
{
  row[0] = report->volume[n];
  row[1] = report->surface[n];
  row[2] = (PetscReal)report->particles[n];
  for (PetscInt d = 0; d < DIM; d++)
    row[3 + d] = report->centre[n].at[d];
}

static void unpack_report(const PetscReal row[REPORT_NUMBERS], PetscInt n, PhaseReport *report)
{
  report->volume[n] = row[0];
  report->surface[n] = row[1];
  report->particles[n] = (PetscInt64)row[2];
  for (PetscInt d = 0; d < DIM; d++)
    report->centre[n].at[d] = row[3 + d];
}

/* Where something flows in: what distances find beyond the sides follows from it. */
static PetscErrorCode LoadSideMarks(Phase phase, Archive archive)
{
  const PetscReal  most = side_bit(SIDE_MARKS, 0, 0) - 1.;
  const GridBox   *box = grid_box(phase->grid);
  const PetscReal *value;
  PetscInt         wrong = 0;

  PetscFunctionBegin;
  PetscCall(MacGridLoadField(phase->grid, "side_marks", phase->side_marks, archive));
  PetscCall(VecGetArrayRead(phase->side_marks, &value));
  FOR_CELLS(box, i, j, k) {
    const PetscReal marks = value[box_index(box, i, j, k)];

    wrong += !(marks >= 0. && marks <= most && marks == PetscFloorReal(marks));
  }
  PetscCall(VecRestoreArrayRead(phase->side_marks, &value));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPIU_INT, MPI_SUM, box->comm));
  if (wrong)
    PetscCall(ArchiveRefuse(archive, "side_marks", "names sides that there are not"));
  PetscCall(MacGridMirrorGhosts(phase->grid, phase->side_marks));
  PetscFunctionReturn(0);
}

PetscErrorCode PhaseSave(Phase phase, Archive archive)
{
  const PetscReal tail[TAIL_NUMBERS] = {(PetscReal)phase->report.escaped, (PetscReal)phase->report.dropped,
                                        (PetscReal)phase->report.crossed, (PetscReal)phase->report.vanished};
  PetscReal       rows[REGIONS_MAX][REPORT_NUMBERS];

  PetscFunctionBegin;
  PetscCall(ArchiveEnter(archive, "regions"));
  if (phase->side_marks)
    PetscCall(MacGridSaveField(phase->grid, "side_marks", phase->side_marks, archive));
  PetscCall(PhaseSaveContacts(phase, archive));
  for (PetscInt n = 0; n < phase->count; n++) {
    PetscCall(TransferRegion(phase, n, archive, SAVE));
    pack_report(&phase->report, n, rows[n]);
  }
  PetscCall(PhaseSaveElastic(phase, archive));
  PetscCall(PhaseSaveIgnition(phase, archive));
  PetscCall(PhaseSavePending(phase, archive));
  PetscCall(ArchiveWriteInteger(archive, "steps", phase->steps));
  PetscCall(ArchiveWriteInteger(archive, "seedings", phase->seedings));
  PetscCall(ArchiveWriteShared(archive, "targets", phase->count, 1, phase->targets));
  PetscCall(ArchiveWriteShared(archive, "losses", phase->count, 1, phase->losses));
  PetscCall(ArchiveWriteShared(archive, "report", phase->count, REPORT_NUMBERS, rows[0]));
  if (phase->config->reaction_count)
    PetscCall(ArchiveWriteShared(archive, "burnt", phase->config->reaction_count, 1, phase->report.burnt));
  PetscCall(ArchiveWriteShared(archive, "counts", 1, TAIL_NUMBERS, tail));
  PetscCall(ArchiveLeave(archive));
  PetscFunctionReturn(0);
}

/* Reals that are to become integers. */
static PetscErrorCode CheckCounts(Archive archive, const char name[], PetscInt count,
                                  const PetscReal values[], PetscReal most)
{
  PetscFunctionBegin;
  for (PetscInt n = 0; n < count; n++)
    if (!(values[n] >= 0. && values[n] <= most))
      PetscCall(ArchiveRefuse(archive, name, "counts %g of something", (double)values[n]));
  PetscFunctionReturn(0);
}

PetscErrorCode PhaseLoad(Phase phase, Archive archive)
{
  PetscReal tail[TAIL_NUMBERS], rows[REGIONS_MAX][REPORT_NUMBERS];

  PetscFunctionBegin;
  PetscCall(ArchiveEnter(archive, "regions"));
  if (phase->side_marks)
    PetscCall(LoadSideMarks(phase, archive));
  PetscCall(PhaseLoadContacts(phase, archive));
  for (PetscInt n = 0; n < phase->count; n++)
    PetscCall(TransferRegion(phase, n, archive, LOAD));
  PetscCall(PhaseLoadElastic(phase, archive));
  PetscCall(PhaseLoadIgnition(phase, archive));
  PetscCall(PhaseLoadPending(phase, archive));
  PetscCall(ArchiveReadCount(archive, "steps", 0, PETSC_MAX_INT - 1, &phase->steps));
  PetscCall(ArchiveReadCount(archive, "seedings", 0, level_set_most_seedings(phase->level_sets[0]),
                             &phase->seedings));
  PetscCall(ArchiveReadShared(archive, "targets", phase->count, 1, phase->targets));
  PetscCall(ArchiveReadShared(archive, "losses", phase->count, 1, phase->losses));
  PetscCall(ArchiveReadShared(archive, "report", phase->count, REPORT_NUMBERS, rows[0]));
  for (PetscInt n = 0; n < phase->count; n++) {
    PetscCall(CheckCounts(archive, "report", 1, &rows[n][2], 1e15));
    unpack_report(rows[n], n, &phase->report);
  }
  if (phase->config->reaction_count)
    PetscCall(ArchiveReadShared(archive, "burnt", phase->config->reaction_count, 1, phase->report.burnt));
  PetscCall(ArchiveReadShared(archive, "counts", 1, TAIL_NUMBERS, tail));
  PetscCall(CheckCounts(archive, "counts", TAIL_NUMBERS - 1, tail, 1e15));
  PetscCall(CheckCounts(archive, "counts", 1, &tail[3], phase->count));
  PetscCall(ArchiveLeave(archive));
  phase->report.escaped = (PetscInt64)tail[0];
  phase->report.dropped = (PetscInt64)tail[1];
  phase->report.crossed = (PetscInt64)tail[2];
  phase->report.vanished = (PetscInt)tail[3];
  PetscCall(PhaseFindRegions(phase));
  PetscCall(PhaseUpdateMixture(phase));
  find_imbalance(phase);
  PetscFunctionReturn(0);
}

PetscErrorCode PhaseWriteFrame(Phase phase, FrameSeries frames)
{
  char name[PETSC_MAX_PATH_LEN];

  PetscFunctionBegin;
  PetscCall(MacGridWriteFrame(phase->grid, frames, "region", phase->regions));
  for (PetscInt n = 0; n < phase->count; n++) {
    PetscCall(PetscSNPrintf(name, sizeof(name), "distance_%s", phase->config->regions[n].name));
    PetscCall(MacGridWriteFrame(phase->grid, frames, name, phase->distances[n]));
  }
  PetscCall(PhaseWriteElastic(phase, frames));
  for (PetscInt n = 0; n < phase->count && phase->config->markers == MARKERS_WRITTEN; n++) {
    PetscCall(PetscSNPrintf(name, sizeof(name), "markers_%s", phase->config->regions[n].name));
    PetscCall(ParticlesWriteFrame(phase->markers[n], name, "radius", frames));
  }
  PetscFunctionReturn(0);
}
