/* Private to src/io: what an archive is, and the file system underneath. */
#ifndef MILLRACE_IO_IMPL_H
#define MILLRACE_IO_IMPL_H

#include <millrace/io.h>
/* HDF5 1.12 and later give H5Ovisit and H5O_info_t other arguments unless asked for those of 1.10. */
#define H5_USE_110_API
#include <hdf5.h>

enum { MESSAGE_SIZE = 1024, GROUP_SIZE = 512 };
/* More than HDF5 spends on a group, a dataset or the file itself. */
enum { ARCHIVE_OVERHEAD = 1 << 14 };

/* Parallel HDF5 does not survive a write that fails: ranks hang or crash. So room on the disk is reserved
   before each write, and lack of it is remembered and told by the commit; after it every write does nothing.
   Any other failure of HDF5 is an error at once. */
struct _p_Archive {
  MPI_Comm            comm; /* own copy */
  PetscMPIInt         rank;
  hid_t               file;      /* negative when not open */
  hid_t               transfer;  /* collective */
  PetscBool           in_memory; /* and in no file */
  struct StoredArray *stored;    /* there, the last first */
  PetscBool           writing;
  PetscBool           failed;
  PetscBool           refused;    /* while reading; `problem` says why */
  PetscBool           non_finite; /* is allowed in real arrays */
  PetscInt64          used;       /* bytes, at most, of what was written */
  PetscInt64          reserved;   /* bytes of the file that have room on the disk */
  ArchivePrecision    precision;
  PetscInt            deflate; /* 0: not compressed */
  char                path[PETSC_MAX_PATH_LEN];
  char                temporary[PETSC_MAX_PATH_LEN];
  char                group[GROUP_SIZE]; /* "" at the root, otherwise ends in a slash */
  char                problem[MESSAGE_SIZE];
};

#define CheckHDF5(archive, condition, name)                                                                  \
  PetscCheck(condition, PETSC_COMM_SELF, PETSC_ERR_LIB, "%s: \"%s%s\" cannot be %s: %s", (archive)->path,    \
             (archive)->group, name, (archive)->writing ? "written" : "read",                                \
             hdf5_complaint((char[MESSAGE_SIZE]){0}))

/* The innermost reason on HDF5's error stack; returns `text`, of MESSAGE_SIZE. */
const char *hdf5_complaint(char text[]);
const char *hdf5_class_name(H5T_class_t class);

/* Makes sure that `bytes` more can be written and counts them as used, or fails the archive. Collective. */
PetscErrorCode ArchiveReserve(Archive archive, PetscInt64 bytes);
PetscErrorCode ArchiveFullName(Archive archive, const char name[], char full[], size_t size);

/* The selections of this rank's part in the file and in memory; the caller closes both. */
void           select_part(const ArchivePart *part, hid_t *file_space, hid_t *memory_space);
size_t         part_values(const ArchivePart *part);
PetscErrorCode ArchiveCheckPart(Archive archive, const char name[], const ArchivePart *part);

/* Another part of an array of doubles that has been begun with ArchiveWritePart. */
PetscErrorCode ArchiveWriteMore(Archive archive, const char name[], const ArchivePart *part,
                                const PetscReal values[]);

/* memory.c: an archive in memory. `values` are of `type`, as those of a file; groups and arrays have names
   with all groups. Collective: the archive's comm. */
PetscErrorCode MemoryMakeGroup(Archive archive, const char group[]);
PetscErrorCode MemoryWrite(Archive archive, const char name[], const ArchivePart *part, hid_t type,
                           const void *values);
PetscErrorCode MemoryWriteMore(Archive archive, const char name[], const ArchivePart *part,
                               const void *values);
PetscErrorCode MemoryWriteSingle(Archive archive, const char name[], hid_t type, const void *value);
PetscErrorCode MemoryRead(Archive archive, const struct StoredArray *array, const ArchivePart *part,
                          void *values);
/* Of this rank alone; null if there is none of that name. */
struct StoredArray *memory_find(Archive archive, const char full[]);
PetscErrorCode      MemoryDescribe(const struct StoredArray *array, ArchivePart *part, H5T_class_t *kind,
                                   size_t *value_size);
PetscErrorCode      MemoryReadSingle(const struct StoredArray *array, void *value);
PetscErrorCode      MemoryDestroy(struct StoredArray **first);

/* The user block in front of an archive: its length and digest. */
enum { SEAL_SIZE = 512 };
/* Reads the finished file at `path` and seals it; `problem` is "" if all went well. Collective: comm. */
PetscErrorCode SealWrite(MPI_Comm comm, const char path[], char problem[], size_t size);
PetscErrorCode SealCheck(MPI_Comm comm, const char path[], char problem[], size_t size);

/* Files, for one rank. These return an errno, 0 if all went well. */
int make_directories(const char path[]);
int sync_directory_of(const char path[]);
int publish_file(const char temporary[], const char path[]); /* fsync, rename, fsync the directory */
int reserve_file(const char path[], long long start, long long length);
int write_file_atomically(const char path[], const char content[], size_t length);
int copy_file_atomically(const char from[], const char path[]);
int write_all_at(int file, const char content[], size_t length, long long offset);
/* Opens a regular file, and never waits for the other end of something else; negative, and errno, if not. */
int open_regular(const char path[], int flags);
/* N of a name START N END, in at least `digits` digits and with nothing else in between; -1 for others. */
long long number_in_name(const char name[], const char start[], int digits, const char end[]);

/* The whole file; `data` stays null if it cannot be read. */
PetscErrorCode TextRead(Text *text, const char path[]);

/* In the names of frames and checkpoints, at least. */
enum { FRAME_DIGITS = 6, CHECKPOINT_DIGITS = 8 };

/* "DIRECTORY/NAME", or an error if that is too long for PETSC_MAX_PATH_LEN. */
PetscErrorCode JoinPath(const char directory[], const char name[], char path[]);
/* Calls `visit` for each name in `directory` that starts and ends so; a missing directory is empty. */
typedef void (*NameVisitor)(const char directory[], const char name[], void *context);
void visit_names(const char directory[], const char start[], const char end[], NameVisitor visit,
                 void *context);

#endif
