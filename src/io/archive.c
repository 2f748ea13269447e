/* The life of an archive: created under a temporary name, sealed, renamed; or checked and opened. */
#include "io_impl.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static herr_t keep_first_complaint(unsigned depth, const H5E_error2_t *error, void *context)
{
  char *text = context;

  if (depth == 0 && error->desc)
    snprintf(text, MESSAGE_SIZE, "%s", error->desc);
  return 0;
}

const char *hdf5_complaint(char text[])
{
  snprintf(text, MESSAGE_SIZE, "HDF5 gives no reason");
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_first_complaint, text);
  return text;
}

PetscErrorCode ArchiveReserve(Archive archive, PetscInt64 bytes)
{
  PetscInt64 length;
  int        number = 0;

  PetscFunctionBegin;
  if (archive->failed)
    PetscFunctionReturn(0);
  archive->used += bytes;
  length = archive->used - archive->reserved;
  if (length <= 0)
    PetscFunctionReturn(0);
  length = PetscMax(length, 1 << 20);
  if (archive->rank == 0)
    number = reserve_file(archive->temporary, archive->reserved, length);
  PetscCallMPI(MPI_Bcast(&number, 1, MPI_INT, 0, archive->comm));
  archive->reserved += length;
  if (number) {
    archive->failed = PETSC_TRUE;
    snprintf(archive->problem, MESSAGE_SIZE, "%.400s cannot be written: no room for %.1f MB more: %s",
             archive->path, (double)length / 1e6, strerror(number));
  }
  PetscFunctionReturn(0);
}

/* The same settings for both directions: files of format 1.8, one reader of metadata for all ranks. */
static hid_t file_access(MPI_Comm comm)
{
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);

  H5Pset_fapl_mpio(access, comm, MPI_INFO_NULL);
  H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_V18);
  H5Pset_coll_metadata_write(access, 1);
  H5Pset_all_coll_metadata_ops(access, 1);
  H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
  return access;
}

static PetscErrorCode Prepare(MPI_Comm comm, const char path[], Archive *archive)
{
  Archive a;

  PetscFunctionBegin;
  PetscCall(PetscNew(archive));
  a = *archive;
  PetscCheck(strlen(path) + sizeof(".tmp") <= sizeof(a->path), comm, PETSC_ERR_ARG_SIZ,
             "A path of %zu bytes is too long", strlen(path));
  PetscCallMPI(MPI_Comm_dup(comm, &a->comm));
  PetscCallMPI(MPI_Comm_rank(a->comm, &a->rank));
  a->file = H5I_INVALID_HID;
  strcpy(a->path, path);
  strcpy(a->temporary, path);
  strcat(a->temporary, ".tmp");
  /* reasons are taken from the stack and told once, not printed by every rank */
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  a->transfer = H5Pcreate(H5P_DATASET_XFER);
  H5Pset_dxpl_mpio(a->transfer, H5FD_MPIO_COLLECTIVE);
  PetscFunctionReturn(0);
}

PetscErrorCode ArchiveCreate(MPI_Comm comm, const char path[], Archive *archive)
{
  Archive a;
  hid_t   access, creation;
  int     number = 0;

  PetscFunctionBegin;
  PetscCall(Prepare(comm, path, archive));
  a = *archive;
  a->writing = PETSC_TRUE;
  /* the system's own words for a directory that is not there or not ours */
  if (a->rank == 0) {
    const int probe = open(a->temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);

    if (probe < 0)
      number = errno;
    else
      close(probe);
  }
  PetscCallMPI(MPI_Bcast(&number, 1, MPI_INT, 0, a->comm));
  if (number) {
    a->failed = PETSC_TRUE;
    snprintf(a->problem, MESSAGE_SIZE, "%.400s cannot be created: %s", a->temporary, strerror(number));
    PetscFunctionReturn(0);
  }
  PetscCall(ArchiveReserve(a, ARCHIVE_OVERHEAD));
  if (a->failed)
    PetscFunctionReturn(0);
  /* there is room; HDF5 empties the file and gives it back, so it is taken once more below */
  access = file_access(a->comm);
  creation = H5Pcreate(H5P_FILE_CREATE);
  H5Pset_userblock(creation, SEAL_SIZE);
  a->file = H5Fcreate(a->temporary, H5F_ACC_TRUNC, creation, access);
  H5Pclose(creation);
  H5Pclose(access);
  CheckHDF5(a, a->file >= 0, "");
  a->used = a->reserved = 0;
  PetscCall(ArchiveReserve(a, ARCHIVE_OVERHEAD));
  PetscFunctionReturn(0);
}

PetscErrorCode ArchiveCreateInMemory(MPI_Comm comm, Archive *archive)
{
  PetscFunctionBegin;
  PetscCall(Prepare(comm, "memory", archive));
  (*archive)->writing = (*archive)->in_memory = PETSC_TRUE;
  PetscFunctionReturn(0);
}

PetscErrorCode ArchiveTurn(Archive archive)
{
  PetscFunctionBegin;
  PetscCheck(archive->in_memory && archive->writing, archive->comm, PETSC_ERR_ORDER,
             "%s is no archive in memory that is written", archive->path);
  archive->writing = PETSC_FALSE;
  PetscFunctionReturn(0);
}

PetscErrorCode ArchiveOpen(MPI_Comm comm, const char path[], Archive *archive, char message[],
                           size_t message_size)
{
  Archive a;
  hid_t   access;
  int     good;

  PetscFunctionBegin;
  *archive = NULL;
  PetscCall(SealCheck(comm, path, message, message_size));
  if (message[0])
    PetscFunctionReturn(0);
  PetscCall(Prepare(comm, path, &a));
  access = file_access(a->comm);
  a->file = H5Fopen(path, H5F_ACC_RDONLY, access);
  H5Pclose(access);
  good = a->file >= 0;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &good, 1, MPI_INT, MPI_MIN, a->comm));
  if (good) {
    *archive = a;
  } else {
    PetscCall(PetscSNPrintf(message, message_size, "%.400s is not an HDF5 file: %s", path,
                            hdf5_complaint((char[MESSAGE_SIZE]){0})));
    PetscCall(ArchiveDestroy(&a));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode CloseFile(Archive archive)
{
  herr_t status = 0;

  PetscFunctionBegin;
  if (archive->writing)
    status = H5Fflush(archive->file, H5F_SCOPE_GLOBAL);
  status = H5Fclose(archive->file) < 0 ? -1 : status;
  archive->file = H5I_INVALID_HID;
  /* what is dropped anyway may be lost */
  CheckHDF5(archive, status >= 0 || archive->failed, "");
  PetscFunctionReturn(0);
}

PetscErrorCode ArchiveTryCommit(Archive *archive, char message[], size_t message_size)
{
  Archive a = *archive;
  int     number = 0;

  PetscFunctionBegin;
  PetscCheck(a->writing, a->comm, PETSC_ERR_ORDER, "%s is open for reading, not to be committed", a->path);
  if (a->file >= 0)
    PetscCall(CloseFile(a));
  if (!a->failed) {
    PetscCall(SealWrite(a->comm, a->temporary, a->problem, MESSAGE_SIZE));
    a->failed = a->problem[0] ? PETSC_TRUE : PETSC_FALSE;
  }
  if (!a->failed) {
    if (a->rank == 0)
      number = publish_file(a->temporary, a->path);
    PetscCallMPI(MPI_Bcast(&number, 1, MPI_INT, 0, a->comm));
    a->failed = number ? PETSC_TRUE : PETSC_FALSE;
    if (number)
      snprintf(a->problem, MESSAGE_SIZE, "%.400s cannot be put in place: %s", a->path, strerror(number));
  }
  PetscCall(PetscStrncpy(message, a->problem, message_size));
  PetscCall(ArchiveDestroy(archive));
  PetscFunctionReturn(0);
}

PetscErrorCode ArchiveCommit(Archive *archive)
{
  char     message[MESSAGE_SIZE];
  MPI_Comm comm;

  PetscFunctionBegin;
  PetscCall(PetscCommDuplicate((*archive)->comm, &comm, NULL));
  PetscCall(ArchiveTryCommit(archive, message, sizeof(message)));
  PetscCheck(!message[0], comm, PETSC_ERR_FILE_WRITE, "%s", message);
  PetscCall(PetscCommDestroy(&comm));
  PetscFunctionReturn(0);
}

PetscErrorCode ArchiveDestroy(Archive *archive)
{
  Archive a = *archive;

  PetscFunctionBegin;
  if (!a)
    PetscFunctionReturn(0);
  if (a->file >= 0)
    PetscCall(CloseFile(a));
  /* after a commit there is no temporary any more */
  if (a->writing && !a->in_memory && a->rank == 0)
    unlink(a->temporary);
  PetscCall(MemoryDestroy(&a->stored));
  H5Pclose(a->transfer);
  PetscCallMPI(MPI_Comm_free(&a->comm));
  PetscCall(PetscFree(*archive));
  PetscFunctionReturn(0);
}

PetscErrorCode ArchiveSetStorage(Archive archive, ArchivePrecision precision, PetscInt deflate)
{
  PetscFunctionBegin;
  PetscCheck(deflate >= 0 && deflate <= 9, archive->comm, PETSC_ERR_ARG_OUTOFRANGE,
             "The level of compression must be 0 to 9, not %" PetscInt_FMT, deflate);
  archive->precision = precision;
  archive->deflate = deflate;
  PetscFunctionReturn(0);
}
