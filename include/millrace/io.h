/* Files: HDF5 archives that appear whole or not at all, checkpoints, the ledger, frames for ParaView, the
   run's directory. The room knows no physics. docs/output.md describes the files.

   A `message` is "" on success and otherwise a sentence for the user. It is the same on all ranks, and it is
   not an error code: error codes are for bugs and broken machines. `message_size` counts its bytes. */
#ifndef MILLRACE_IO_H
#define MILLRACE_IO_H

#include <millrace/api.h>
#include <millrace/base.h>

#include <stdio.h>

MILLRACE_API_BEGIN

/* A text that grows; the first appends, as printf would. Not collective. */
typedef struct {
  char  *data; /* null-terminated; null while empty */
  size_t length, capacity;
} Text;
PetscErrorCode TextAppend(Text *text, const char format[], ...) PETSC_ATTRIBUTE_FORMAT(2, 3);
PetscErrorCode TextDestroy(Text *text);

/* A rank's part of an array that is distributed over ranks. Slowest index first (z, y, x[, component]). */
enum { ARCHIVE_MAX_RANK = 4 };
typedef struct {
  PetscInt rank; /* number of indices */
  PetscInt global[ARCHIVE_MAX_RANK];
  PetscInt start[ARCHIVE_MAX_RANK];
  PetscInt count[ARCHIVE_MAX_RANK]; /* zero on a rank that has nothing of it */
} ArchivePart;

/* A file in HDF5, open for writing or for reading; or the same in memory. */
typedef struct _p_Archive *Archive;

/* Begins a file under a temporary name, which the commit replaces by `path`. Collective: comm. */
PetscErrorCode ArchiveCreate(MPI_Comm comm, const char path[], Archive *archive);

/* Gives the file its name and destroys the archive. A write that failed before (disk full) is an error here;
   the temporary file is then removed and a previous file of that name stays. Collective: the archive's comm.
 */
PetscErrorCode ArchiveCommit(Archive *archive);

/* The same, with the failure as a message. Collective: the archive's comm. */
PetscErrorCode ArchiveTryCommit(Archive *archive, char message[], size_t message_size);

/* Opens a file for reading. One that is missing, truncated or damaged gives a null archive and a message.
   Collective: comm. */
PetscErrorCode ArchiveOpen(MPI_Comm comm, const char path[], Archive *archive, char message[],
                           size_t message_size);

/* Begins an archive that is in no file: what ranks have written they read again, in other parts if they want,
   once it is turned from writing to reading. Collective: comm, the archive's comm. */
PetscErrorCode ArchiveCreateInMemory(MPI_Comm comm, Archive *archive);
PetscErrorCode ArchiveTurn(Archive archive);

/* Closes the archive, and deletes a file that has not been committed; accepts a null archive. Collective: the
   archive's comm. */
PetscErrorCode ArchiveDestroy(Archive *archive);

/* How arrays are stored from now on: precision, and compression from 0 (none) to 9. A new archive stores
   doubles without compression. Collective: the archive's comm. */
typedef enum { ARCHIVE_DOUBLE, ARCHIVE_SINGLE } ArchivePrecision;
PetscErrorCode ArchiveSetStorage(Archive archive, ArchivePrecision precision, PetscInt deflate);

/* Names below are relative to the group that was entered last and not left. Writing creates the group.
   Collective: the archive's comm. */
PetscErrorCode ArchiveEnter(Archive archive, const char group[]);
PetscErrorCode ArchiveLeave(Archive archive);

/* Whether there is such a dataset or group, and the shape of a dataset: sets `rank` and `global` of `part`.
   Collective: the archive's comm. */
PetscErrorCode ArchiveHas(Archive archive, const char name[], PetscBool *has);
PetscErrorCode ArchiveGetShape(Archive archive, const char name[], ArchivePart *part);

/* Single values and texts; those of the first rank are written. Collective: the archive's comm. */
PetscErrorCode ArchiveWriteReal(Archive archive, const char name[], PetscReal value);
PetscErrorCode ArchiveWriteInteger(Archive archive, const char name[], PetscInt64 value);
PetscErrorCode ArchiveWriteText(Archive archive, const char name[], const char text[]);

/* Distributed arrays: each rank writes its part. Collective: the archive's comm. */
PetscErrorCode ArchiveWritePart(Archive archive, const char name[], const ArchivePart *part,
                                const PetscReal values[]);
PetscErrorCode ArchiveWriteIntegers(Archive archive, const char name[], const ArchivePart *part,
                                    const PetscInt64 values[]);

/* A table of `rows` times `width` numbers that every rank holds whole; the first rank's is written.
   Collective: the archive's comm. */
PetscErrorCode ArchiveWriteShared(Archive archive, const char name[], PetscInt rows, PetscInt width,
                                  const PetscReal values[]);

/* Reading checks what it reads: a dataset that is missing, of another type or shape (`part->global`), shorter
   than its shape says, or that holds a number out of range or not finite is refused, on all ranks alike. A
   refusal is an error, which ends the reading; ArchiveTry makes a message of it. The digest of a file is no
   signature: the caller states the bounds of whatever it uses as an index or a size.

   A table into memory of the caller, or into new memory, allocated once the shape is known to be right and
   freed with PetscFree. Collective: the archive's comm. */
PetscErrorCode ArchiveReadShared(Archive archive, const char name[], PetscInt rows, PetscInt width,
                                 PetscReal values[]);
PetscErrorCode ArchiveReadTable(Archive archive, const char name[], PetscInt rows, PetscInt width,
                                PetscReal **values);

/* Single values, the same on all ranks: any finite number, or one between the bounds, which are allowed.
   Collective: the archive's comm. */
PetscErrorCode ArchiveReadReal(Archive archive, const char name[], PetscReal *value);
PetscErrorCode ArchiveReadRealWithin(Archive archive, const char name[], PetscReal low, PetscReal high,
                                     PetscReal *value);
PetscErrorCode ArchiveReadInteger(Archive archive, const char name[], PetscInt64 *value);
PetscErrorCode ArchiveReadCount(Archive archive, const char name[], PetscInt64 least, PetscInt64 most,
                                PetscInt64 *value);

/* A text in new memory, freed with PetscFree. Collective: the archive's comm. */
PetscErrorCode ArchiveReadText(Archive archive, const char name[], char **text);

/* Each rank's part of a distributed array. Collective: the archive's comm. */
PetscErrorCode ArchiveReadPart(Archive archive, const char name[], const ArchivePart *part,
                               PetscReal values[]);
PetscErrorCode ArchiveReadIntegers(Archive archive, const char name[], const ArchivePart *part,
                                   PetscInt64 values[]);

/* Real arrays that are read from now on may hold infinities and what is not a number. Not collective. */
PetscErrorCode ArchiveAllowNonFinite(Archive archive);

/* Refuses dataset `name` for a reason given as for printf. Collective: the archive's comm. */
PetscErrorCode ArchiveRefuse(Archive archive, const char name[], const char format[], ...)
    PETSC_ATTRIBUTE_FORMAT(3, 4);

/* Calls `read`; `message` becomes the reason of a refusal in it. Other errors are returned. Collective: the
   archive's comm. */
typedef PetscErrorCode (*ArchiveReader)(Archive archive, void *context);
PetscErrorCode ArchiveTry(Archive archive, ArchiveReader read, void *context, char message[],
                          size_t message_size);

/* Prints every dataset with its type, its shape and, if it is short, its value; the first rank prints.
   Collective: the archive's comm. */
PetscErrorCode ArchivePrint(Archive archive, FILE *stream);

/* The directory of a run. */
typedef struct _p_RunDirectory *RunDirectory;
typedef enum { RUN_NEW, RUN_RESTART, RUN_OVERWRITE } RunUse;

/* Creates or takes up the directory, locks it and deletes temporary files that a killed run has left.
   Refuses, with a message, a null directory and nothing written, one that another process works in and, for
   RUN_NEW, one that holds results. Collective: comm. */
PetscErrorCode RunDirectoryOpen(MPI_Comm comm, const char path[], RunUse use, RunDirectory *directory,
                                char message[], size_t message_size);

/* Deletes the results that RUN_OVERWRITE gives up; called when the new run is sure to begin. Does nothing for
   the other uses. The first rank works; not collective. */
PetscErrorCode RunDirectoryClear(RunDirectory directory);

/* Unlocks the directory; accepts a null one. Collective: the directory's comm. */
PetscErrorCode RunDirectoryClose(RunDirectory *directory);

const char *run_directory_path(RunDirectory directory);
PetscReal   run_directory_bytes(RunDirectory directory); /* of the results that are there now */

/* Begins the checkpoint of a step in a run's directory; the commit destroys the archive and keeps the two
   newest checkpoints. Collective: comm, which is that of the archive. */
PetscErrorCode CheckpointCreate(MPI_Comm comm, const char directory[], PetscInt64 step, Archive *archive);
PetscErrorCode CheckpointCommit(Archive *archive, char message[], size_t message_size);

/* Makes `file`, the checkpoint of `step`, the newest one of the directory, from which the run goes on. A file
   that lies elsewhere is copied there first. Later checkpoints are deleted, before any frame or row of the
   ledger that is later. Collective: comm. */
PetscErrorCode CheckpointAdopt(MPI_Comm comm, const char directory[], const char file[], PetscInt64 step,
                               char message[], size_t message_size);

/* The newest checkpoint that is whole, "" if there is none; `path` has PETSC_MAX_PATH_LEN bytes. `message`
   tells what is wrong with newer ones. Collective: comm. */
PetscErrorCode CheckpointFind(MPI_Comm comm, const char directory[], char path[], char message[],
                              size_t message_size);

/* The ledger: a table with a row per step. */
typedef struct _p_Ledger *Ledger;
typedef struct {
  const char *directory;
  const char
          *name; /* of its files without ending, perhaps behind one folder, which is made; null: "ledger" */
  PetscInt column_count;
  const char *const (*columns)[2]; /* name, unit */
  PetscInt64 rows; /* > 0: continues the table that is there, cut to so many rows when one is added */
} LedgerConfig;

/* A table that cannot be continued gives a null ledger and a message. `config` is copied. Collective: comm.
 */
PetscErrorCode LedgerCreate(MPI_Comm comm, const LedgerConfig *config, Ledger *ledger, char message[],
                            size_t message_size);

/* Adds a row: the first rank's `values`, one per column. Collective: the ledger's comm. */
PetscErrorCode LedgerAppend(Ledger ledger, const PetscReal values[]);

/* Brings all rows to the disk, before a frame or a checkpoint counts them. Collective: the ledger's comm. */
PetscErrorCode LedgerSync(Ledger ledger, char message[], size_t message_size);

/* The same, and brings ledger.h5 up to date. Collective: the ledger's comm. */
PetscErrorCode LedgerFinish(Ledger ledger, char message[], size_t message_size);

PetscInt64 ledger_rows(Ledger ledger);

/* Accepts a null ledger. Collective: the ledger's comm. */
PetscErrorCode LedgerDestroy(Ledger *ledger);

/* Frames for ParaView: a series of files and the list of them, run.xmf. */
typedef struct _p_FrameSeries *FrameSeries;
typedef struct {
  const char        *directory;
  PetscInt           first;               /* existing frames from this one on are dropped */
  PetscInt           dimension;           /* of the grid; 0: there is none */
  PetscInt           cells[MILLRACE_DIM]; /* of the grid */
  Vector3            origin;
  PetscReal          spacing;
  ArchivePrecision   precision;   /* of fields */
  PetscInt           field_count; /* fields on the grid that are written, */
  const char *const *fields;      /* by their names, borrowed; without any: all of them */
} FrameConfig;

/* A message for a frame that FrameSeriesCreate would drop although it is not later than `time`. Collective:
   comm. */
PetscErrorCode FrameSeriesCheck(MPI_Comm comm, const FrameConfig *config, PetscReal time, char message[],
                                size_t message_size);

/* A directory that cannot be written gives a null series and a message. `config` is copied. Collective: comm.
 */
PetscErrorCode FrameSeriesCreate(MPI_Comm comm, const FrameConfig *config, FrameSeries *series,
                                 char message[], size_t message_size);

/* Accepts a null series. Collective: the series' comm. */
PetscErrorCode FrameSeriesDestroy(FrameSeries *series);
MPI_Comm       frame_series_comm(FrameSeries series);
PetscBool      frame_series_has(FrameSeries series, const char field[]); /* or leaves it out */

/* Begins frame number `index`; the functions below write to it until FrameEnd, which commits it and adds it
   to the list. Collective: the series' comm. */
PetscErrorCode FrameBegin(FrameSeries series, PetscInt index, PetscReal time);
PetscErrorCode FrameEnd(FrameSeries series, char message[], size_t message_size);

/* Lends the archive of the frame, for step, title and scene. Not collective. */
PetscErrorCode FrameGetArchive(FrameSeries series, Archive *archive);

/* A field on the grid. `values` are those of the owned cells, which begin at `start`, x fastest; the 1 or 3
   components of a cell stand together. Collective: the series' comm. */
PetscErrorCode FrameWriteGridField(FrameSeries series, const char name[], PetscInt components,
                                   const PetscInt start[MILLRACE_DIM], const PetscInt count[MILLRACE_DIM],
                                   const PetscReal values[]);

/* A mesh whose parts lie on the ranks; each part numbers its own vertices from 0. Borrowed. */
typedef struct {
  const char     *name;
  PetscInt        vertex_count, cell_count;
  PetscInt        cell_size; /* vertices of a cell; 1: points, 2: segments, 3: triangles, 4: tetrahedra */
  const Vector3  *vertices;
  const PetscInt *cells; /* `cell_size` for each */
} FrameMesh;
typedef enum { FRAME_VERTEX, FRAME_CELL } FrameLocation;

/* Begins a mesh, writes a field with 1 or 3 components on its vertices or cells, ends it. Collective: the
   series' comm. */
PetscErrorCode FrameBeginMesh(FrameSeries series, const FrameMesh *mesh);
PetscErrorCode FrameWriteMeshField(FrameSeries series, const char name[], FrameLocation location,
                                   PetscInt components, const PetscReal values[]);
PetscErrorCode FrameEndMesh(FrameSeries series);

MILLRACE_API_END

#endif
