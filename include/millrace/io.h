/* Files: HDF5 archives that appear whole or not at all, checkpoints, the ledger, frames for ParaView, the
   run's directory. Knows no physics. docs/output.md describes the files.

   A `message` is "" when all went well, otherwise a sentence for the user; both are the same on all ranks
   and neither is an error code. All functions are collective on the communicator of their object. */
#ifndef MILLRACE_IO_H
#define MILLRACE_IO_H

#include <millrace/base.h>
#include <millrace/parallel.h>
#include <stdio.h>

/* A part of an array shared by ranks. Slowest index first (z, y, x[, component]). */
enum { ARCHIVE_MAX_RANK = 4 };
typedef struct {
  PetscInt rank;
  PetscInt global[ARCHIVE_MAX_RANK];
  PetscInt start[ARCHIVE_MAX_RANK];
  PetscInt count[ARCHIVE_MAX_RANK]; /* may be zero on a rank */
} ArchivePart;

typedef struct _p_Archive *Archive;

/* Writing goes to a temporary name until the commit. A write that fails (disk full) is told by the commit,
   which then removes the temporary and leaves the previous file as it was; ArchiveCommit makes it an error.
 */
PetscErrorCode ArchiveCreate(MPI_Comm comm, const char path[], Archive *archive);
PetscErrorCode ArchiveCommit(Archive *archive);
PetscErrorCode ArchiveTryCommit(Archive *archive, char message[], size_t message_size);
/* Reading. A file that is missing, truncated or damaged gives a null archive and a message. */
PetscErrorCode ArchiveOpen(MPI_Comm comm, const char path[], Archive *archive, char message[],
                           size_t message_size);
PetscErrorCode ArchiveDestroy(Archive *archive); /* drops an uncommitted file */

/* How later parts are stored; doubles compressed at level 1 (0 to 9) unless told. */
typedef enum { ARCHIVE_DOUBLE, ARCHIVE_SINGLE } ArchivePrecision;
PetscErrorCode ArchiveSetStorage(Archive archive, ArchivePrecision precision, PetscInt deflate);

PetscErrorCode ArchiveEnter(Archive archive, const char group[]);
PetscErrorCode ArchiveLeave(Archive archive);
PetscErrorCode ArchiveHas(Archive archive, const char name[], PetscBool *has);
/* Only rank and global are set. */
PetscErrorCode ArchiveGetShape(Archive archive, const char name[], ArchivePart *part);

/* Single values and texts are those of the first rank. */
PetscErrorCode ArchiveWriteReal(Archive archive, const char name[], PetscReal value);
PetscErrorCode ArchiveWriteInteger(Archive archive, const char name[], PetscInt64 value);
PetscErrorCode ArchiveWriteText(Archive archive, const char name[], const char text[]);
PetscErrorCode ArchiveWritePart(Archive archive, const char name[], const ArchivePart *part,
                                const PetscReal values[]);
PetscErrorCode ArchiveWriteIntegers(Archive archive, const char name[], const ArchivePart *part,
                                    const PetscInt64 values[]);
PetscErrorCode ArchiveReadReal(Archive archive, const char name[], PetscReal *value);
PetscErrorCode ArchiveReadInteger(Archive archive, const char name[], PetscInt64 *value);
PetscErrorCode ArchiveReadText(Archive archive, const char name[], char **text); /* PetscFree it */
/* `part->global` must equal what is stored. */
PetscErrorCode ArchiveReadPart(Archive archive, const char name[], const ArchivePart *part,
                               PetscReal values[]);
PetscErrorCode ArchiveReadIntegers(Archive archive, const char name[], const ArchivePart *part,
                                   PetscInt64 values[]);
/* Every dataset with its type, shape and, if it is short, its value; from the first rank. */
PetscErrorCode ArchivePrint(Archive archive, FILE *stream);

#endif
