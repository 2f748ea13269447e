/* Files: HDF5 archives that appear whole or not at all, the ledger, XDMF for ParaView, the run's directory.
   Knows no physics. */
#ifndef MILLRACE_IO_H
#define MILLRACE_IO_H

#include <millrace/base.h>
#include <millrace/parallel.h>

/* A part of an array shared by ranks. Slowest index first (z, y, x[, component]). */
enum { ARCHIVE_MAX_RANK = 4 };
typedef struct {
  PetscInt rank;
  PetscInt global[ARCHIVE_MAX_RANK];
  PetscInt start[ARCHIVE_MAX_RANK];
  PetscInt count[ARCHIVE_MAX_RANK]; /* may be zero on a rank */
} ArchivePart;

typedef struct _p_Archive *Archive;

/* Writing goes to a temporary name until ArchiveCommit. Collective: comm. */
PetscErrorCode ArchiveCreate(MPI_Comm comm, const char path[], Archive *archive);
PetscErrorCode ArchiveCommit(Archive *archive);
/* Reading. A file that is missing, truncated or damaged gives a null archive and a message. Collective: comm.
 */
PetscErrorCode ArchiveOpen(MPI_Comm comm, const char path[], Archive *archive, char message[],
                           size_t message_size);
PetscErrorCode ArchiveDestroy(Archive *archive); /* drops an uncommitted file */

PetscErrorCode ArchiveEnter(Archive archive, const char group[]);
PetscErrorCode ArchiveLeave(Archive archive);
PetscErrorCode ArchiveHas(Archive archive, const char name[], PetscBool *has);

PetscErrorCode ArchiveWriteReal(Archive archive, const char name[], PetscReal value);
PetscErrorCode ArchiveWriteInteger(Archive archive, const char name[], PetscInt64 value);
PetscErrorCode ArchiveWriteText(Archive archive, const char name[], const char text[]);
PetscErrorCode ArchiveWritePart(Archive archive, const char name[], const ArchivePart *part,
                                const PetscReal values[]);
PetscErrorCode ArchiveReadReal(Archive archive, const char name[], PetscReal *value);
PetscErrorCode ArchiveReadInteger(Archive archive, const char name[], PetscInt64 *value);
PetscErrorCode ArchiveReadText(Archive archive, const char name[], char **text); /* PetscFree it */
/* `part->global` must equal what is stored. */
PetscErrorCode ArchiveReadPart(Archive archive, const char name[], const ArchivePart *part,
                               PetscReal values[]);

#endif
