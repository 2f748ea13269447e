/* Files: HDF5 archives that appear whole or not at all, checkpoints, the ledger, frames for ParaView, the
   run's directory. Knows no physics. docs/output.md describes the files.

   A `message` is "" when all went well, otherwise a sentence for the user; both are the same on all ranks
   and neither is an error code. Functions are collective on the communicator of their object. */
#ifndef MILLRACE_IO_H
#define MILLRACE_IO_H

#include <millrace/api.h>
#include <millrace/base.h>
#include <millrace/parallel.h>
#include <stdio.h>

MILLRACE_API_BEGIN

/* A part of an array shared by ranks. Slowest index first (z, y, x[, component]). */
enum { ARCHIVE_MAX_RANK = 4 };
typedef struct {
  PetscInt rank, global[ARCHIVE_MAX_RANK];
  PetscInt start[ARCHIVE_MAX_RANK], count[ARCHIVE_MAX_RANK]; /* a count may be zero on a rank */
} ArchivePart;

typedef struct _p_Archive *Archive;

/* Writing goes to a temporary name until the commit. A write that fails (disk full) is told by the commit,
   which then removes the temporary and leaves the previous file; ArchiveCommit makes that an error. */
PetscErrorCode ArchiveCreate(MPI_Comm, const char path[], Archive *archive);
PetscErrorCode ArchiveCommit(Archive *archive);
PetscErrorCode ArchiveTryCommit(Archive *archive, char message[], size_t size);
/* Reading. A file that is missing, truncated or damaged gives a null archive and a message. */
PetscErrorCode ArchiveOpen(MPI_Comm, const char path[], Archive *archive, char message[], size_t size);
PetscErrorCode ArchiveDestroy(Archive *archive); /* drops an uncommitted file */

/* How later parts are stored: as doubles and not compressed (0, at most 9) unless told. */
typedef enum { ARCHIVE_DOUBLE, ARCHIVE_SINGLE } ArchivePrecision;
PetscErrorCode ArchiveSetStorage(Archive, ArchivePrecision precision, PetscInt deflate);

PetscErrorCode ArchiveEnter(Archive, const char group[]);
PetscErrorCode ArchiveLeave(Archive archive);
PetscErrorCode ArchiveHas(Archive, const char name[], PetscBool *has);
PetscErrorCode ArchiveGetShape(Archive, const char name[], ArchivePart *part); /* sets rank and global */

/* Single values and texts are those of the first rank; a shared table is held whole by every rank. */
PetscErrorCode ArchiveWriteReal(Archive, const char name[], PetscReal value);
PetscErrorCode ArchiveWriteInteger(Archive, const char name[], PetscInt64 value);
PetscErrorCode ArchiveWriteText(Archive, const char name[], const char text[]);
PetscErrorCode ArchiveWritePart(Archive, const char name[], const ArchivePart *part, const PetscReal[]);
PetscErrorCode ArchiveWriteIntegers(Archive, const char name[], const ArchivePart *part, const PetscInt64[]);
PetscErrorCode ArchiveWriteShared(Archive, const char[], PetscInt rows, PetscInt width, const PetscReal[]);

/* What is read is checked: a dataset that is missing, of another type or shape (`part->global`), shorter than
   its shape says, or holds a number out of range or not finite is refused, on all ranks alike. A refusal is
   an error, which ends the reading; ArchiveTry makes a message of it. A digest is no signature: whoever
   reads states the bounds of what it uses as an index or a size. */
PetscErrorCode ArchiveReadShared(Archive, const char[], PetscInt rows, PetscInt width, PetscReal[]);
/* The same, allocated once the shape is known to be right; PetscFree it. */
PetscErrorCode ArchiveReadTable(Archive, const char[], PetscInt rows, PetscInt width, PetscReal **values);
PetscErrorCode ArchiveReadReal(Archive, const char name[], PetscReal *value);
PetscErrorCode ArchiveReadRealWithin(Archive, const char[], PetscReal low, PetscReal high, PetscReal *value);
PetscErrorCode ArchiveReadInteger(Archive, const char name[], PetscInt64 *value);
PetscErrorCode ArchiveReadCount(Archive, const char name[], PetscInt64 least, PetscInt64 most, PetscInt64 *);
PetscErrorCode ArchiveReadText(Archive, const char name[], char **text); /* PetscFree it */
PetscErrorCode ArchiveReadPart(Archive, const char name[], const ArchivePart *part, PetscReal values[]);
PetscErrorCode ArchiveReadIntegers(Archive, const char name[], const ArchivePart *part, PetscInt64 values[]);
/* Real arrays that are read from now on may hold what is not finite. */
PetscErrorCode ArchiveAllowNonFinite(Archive archive);
/* Refuses `name` for the reason that is given. Every rank calls it. */
PetscErrorCode ArchiveRefuse(Archive, const char name[], const char format[], ...)
    PETSC_ATTRIBUTE_FORMAT(3, 4);
/* Calls `read`; its message is what the archive has been refused for, else "". */
typedef PetscErrorCode (*ArchiveReader)(Archive archive, void *context);
PetscErrorCode ArchiveTry(Archive, ArchiveReader read, void *context, char message[], size_t size);
/* Every dataset with its type, shape and, if it is short, its value; from the first rank. */
PetscErrorCode ArchivePrint(Archive archive, FILE *stream);

/* A run's own directory. Refuses, having written nothing, one in which another process works and, unless told
   so, one that holds results; deletes the temporaries of a dead run. */
typedef enum { RUN_NEW, RUN_RESTART, RUN_OVERWRITE } RunUse;
typedef struct _p_RunDirectory *RunDirectory;
PetscErrorCode RunDirectoryOpen(MPI_Comm, const char path[], RunUse use, RunDirectory *directory,
                                char message[], size_t size);
/* Deletes the results that RUN_OVERWRITE gives up, once the new run is sure to begin; else nothing. The first
   rank does so on its own. */
PetscErrorCode RunDirectoryClear(RunDirectory directory);
PetscErrorCode RunDirectoryClose(RunDirectory *directory);
const char    *run_directory_path(RunDirectory directory);
PetscReal      run_directory_bytes(RunDirectory directory); /* of the results that are there now */

/* Checkpoints in a run's directory; the commit keeps the two newest. */
PetscErrorCode CheckpointCreate(MPI_Comm, const char directory[], PetscInt64 step, Archive *archive);
PetscErrorCode CheckpointCommit(Archive *archive, char message[], size_t size);
/* Makes `file`, of `step`, the newest checkpoint of the directory: from there the run goes on. Copies it
   there first if it lies elsewhere; later ones belong to a future that is dropped and are deleted, before
   anything of that future is. */
PetscErrorCode CheckpointAdopt(MPI_Comm, const char directory[], const char file[], PetscInt64 step,
                               char message[], size_t size);
/* The newest one that is whole, "" if there is none; `path` has PETSC_MAX_PATH_LEN bytes. The message tells
   what is wrong with newer ones. */
PetscErrorCode CheckpointFind(MPI_Comm, const char directory[], char path[], char message[], size_t size);

/* A table with a row per step. */
typedef struct _p_Ledger *Ledger;
typedef struct {
  const char *directory;
  PetscInt    column_count;
  const char *const (*columns)[2]; /* name, unit */
  PetscInt64 rows; /* > 0: takes up the table that is there, cut to so many when one is added */
} LedgerConfig;
PetscErrorCode LedgerCreate(MPI_Comm, const LedgerConfig *, Ledger *ledger, char message[], size_t size);
PetscErrorCode LedgerAppend(Ledger, const PetscReal values[]); /* those of the first rank */
/* Before a frame or checkpoint counts the rows: they are on the disk then. */
PetscErrorCode LedgerSync(Ledger, char message[], size_t size);
PetscErrorCode LedgerFinish(Ledger, char message[], size_t size); /* also ledger.h5 is up to date then */
PetscInt64     ledger_rows(Ledger ledger);
PetscErrorCode LedgerDestroy(Ledger *ledger);

/* Frames for ParaView. */
typedef struct _p_FrameSeries *FrameSeries;
typedef struct {
  const char      *directory;
  PetscInt         first; /* frames from here on that are there already are dropped */
  PetscInt         dimension, cells[MILLRACE_DIM]; /* of the grid; dimension 0: none */
  Vector3          origin;
  PetscReal        spacing;
  ArchivePrecision precision; /* of fields */
} FrameConfig;
/* Tells of a frame that creating the series would drop although it is not later than `time`. */
PetscErrorCode FrameSeriesCheck(MPI_Comm, const FrameConfig *, PetscReal time, char message[], size_t size);
PetscErrorCode FrameSeriesCreate(MPI_Comm, const FrameConfig *, FrameSeries *, char message[], size_t size);
PetscErrorCode FrameSeriesDestroy(FrameSeries *series);
MPI_Comm       frame_series_comm(FrameSeries series);
PetscErrorCode FrameBegin(FrameSeries, PetscInt index, PetscReal time);
PetscErrorCode FrameGetArchive(FrameSeries, Archive *archive); /* for step, title and scene */
/* `values`: of the owned cells from `start`, x fastest, the 1 or 3 components of a cell together. */
PetscErrorCode FrameWriteGridField(FrameSeries, const char name[], PetscInt components,
                                   const PetscInt start[MILLRACE_DIM], const PetscInt count[MILLRACE_DIM],
                                   const PetscReal values[]);
/* A mesh whose parts lie on the ranks; a part numbers its own vertices from 0. */
typedef struct {
  const char     *name;
  PetscInt        vertex_count, cell_count, cell_size; /* cells of 3 vertices: triangles, 1: points */
  const Vector3  *vertices;
  const PetscInt *cells;
} FrameMesh;
typedef enum { FRAME_VERTEX, FRAME_CELL } FrameLocation;
PetscErrorCode FrameBeginMesh(FrameSeries, const FrameMesh *mesh);
PetscErrorCode FrameWriteMeshField(FrameSeries, const char name[], FrameLocation, PetscInt components,
                                   const PetscReal values[]);
PetscErrorCode FrameEndMesh(FrameSeries series);
PetscErrorCode FrameEnd(FrameSeries, char message[], size_t size); /* commits, lists it */

MILLRACE_API_END

#endif
