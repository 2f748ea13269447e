/* The seal of an archive: length and digest of the whole file, in the user block in front of HDF5's part.

   The file behind the user block is cut into blocks of 1 MiB. A block's digest runs four lanes over its
   64-bit words; the file's is the exclusive or of the mixed block digests, so that the ranks share the work
   and the answer does not depend on their number. Every step is a bijection of what it mixes: damage
   confined to one word is always seen, any other all but certainly. */
#include "io_impl.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK_SIZE = 1 << 20, LANES = 4 };

static const char seal_format[] = "Millrace archive 1\nbytes %020" PRIu64 "\ndigest %016" PRIx64 "\n";

static inline uint64_t mix(uint64_t state, uint64_t word)
{
  state = (state ^ word) * UINT64_C(0x9e3779b97f4a7c15);
  return state ^ (state >> 29);
}

/* `length` bytes, followed by zeros up to a multiple of 32. */
static uint64_t block_digest(const unsigned char block[], size_t length, uint64_t number)
{
  uint64_t lane[LANES] = {number, 1, 2, 3}, word, digest = length;

  for (size_t at = 0; at < length; at += LANES * sizeof(word)) {
    for (int i = 0; i < LANES; i++) {
      memcpy(&word, block + at + (size_t)i * sizeof(word), sizeof(word));
      lane[i] = mix(lane[i], word);
    }
  }
  for (int i = 0; i < LANES; i++)
    digest = mix(digest, lane[i]);
  return mix(digest, number);
}

static int read_block(int file, unsigned char block[], size_t length, off_t offset)
{
  size_t done = 0;

  while (done < length) {
    const ssize_t got = pread(file, block + done, length - done, offset + (off_t)done);

    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return errno;
    if (got == 0)
      return EIO; /* shorter than it was a moment ago */
    done += (size_t)got;
  }
  memset(block + length, 0, BLOCK_SIZE - length);
  return 0;
}

/* Of this rank's share of the blocks. */
static int digest_share(const char path[], uint64_t bytes, int rank, int ranks, uint64_t *digest)
{
  const uint64_t blocks = (bytes - SEAL_SIZE + BLOCK_SIZE - 1) / BLOCK_SIZE;
  const uint64_t first = blocks * (uint64_t)rank / (uint64_t)ranks;
  const uint64_t last = blocks * (uint64_t)(rank + 1) / (uint64_t)ranks;
  unsigned char *block;
  int            file, problem = 0;

  *digest = 0;
  if (first == last)
    return 0;
  if (!(block = malloc(BLOCK_SIZE)))
    return ENOMEM;
  file = open_regular(path, O_RDONLY);
  if (file < 0)
    problem = errno;
  for (uint64_t b = first; b < last && !problem; b++) {
    const uint64_t offset = SEAL_SIZE + b * BLOCK_SIZE;
    const size_t   length = bytes - offset < BLOCK_SIZE ? (size_t)(bytes - offset) : BLOCK_SIZE;

    problem = read_block(file, block, length, (off_t)offset);
    if (!problem)
      *digest ^= block_digest(block, length, b);
  }
  if (file >= 0)
    close(file);
  free(block);
  return problem;
}

/* `*problem` is an errno, the same on all ranks. */
static PetscErrorCode FileDigest(MPI_Comm comm, const char path[], uint64_t bytes, uint64_t *digest,
                                 int *problem)
{
  PetscMPIInt rank, ranks;
  uint64_t    share;
  int         mine;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &ranks));
  mine = digest_share(path, bytes, rank, ranks, &share);
  PetscCallMPI(MPI_Allreduce(&share, digest, 1, MPI_UINT64_T, MPI_BXOR, comm));
  PetscCallMPI(MPI_Allreduce(&mine, problem, 1, MPI_INT, MPI_MAX, comm));
  PetscFunctionReturn(0);
}

static int write_seal(const char path[], uint64_t bytes, uint64_t digest)
{
  char      seal[SEAL_SIZE] = {0};
  const int file = open(path, O_WRONLY | O_CLOEXEC);
  int       problem = 0;

  if (file < 0)
    return errno;
  snprintf(seal, sizeof(seal), seal_format, bytes, digest);
  if (pwrite(file, seal, sizeof(seal), 0) != SEAL_SIZE)
    problem = errno ? errno : EIO;
  if (close(file) && !problem)
    problem = errno;
  return problem;
}

PetscErrorCode SealWrite(MPI_Comm comm, const char path[], char problem[], size_t size)
{
  PetscMPIInt rank;
  struct stat status;
  uint64_t    bytes = 0, digest;
  int         number = 0;

  PetscFunctionBegin;
  problem[0] = '\0';
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  if (rank == 0)
    bytes = stat(path, &status) ? 0 : (uint64_t)status.st_size;
  PetscCallMPI(MPI_Bcast(&bytes, 1, MPI_UINT64_T, 0, comm));
  if (bytes <= SEAL_SIZE)
    number = EIO;
  else
    PetscCall(FileDigest(comm, path, bytes, &digest, &number));
  if (rank == 0 && !number)
    number = write_seal(path, bytes, digest);
  PetscCallMPI(MPI_Bcast(&number, 1, MPI_INT, 0, comm));
  if (number)
    snprintf(problem, size, "%s cannot be sealed: %s", path, strerror(number));
  PetscFunctionReturn(0);
}

/* On rank 0: the seal read and its length compared; what it promises in `bytes` and `digest`. */
static void read_seal(const char path[], uint64_t *bytes, uint64_t *digest, char problem[], size_t size)
{
  char        seal[SEAL_SIZE + 1] = {0}, again[SEAL_SIZE + 1] = {0};
  const int   file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* who writes to a pipe may never come */
  struct stat status = {0};
  ssize_t     got = 0;

  if (file < 0) {
    snprintf(problem, size, "%s cannot be opened: %s", path, strerror(errno));
    return;
  }
  if (fstat(file, &status) || !S_ISREG(status.st_mode) || (got = pread(file, seal, SEAL_SIZE, 0)) < 0) {
    snprintf(problem, size, "%s cannot be read: it is not a file", path);
  } else if (sscanf(seal, "Millrace archive 1 bytes %20" SCNu64 " digest %16" SCNx64, bytes, digest) != 2) {
    snprintf(problem, size, "%s is not a complete Millrace archive: its first bytes are not a seal", path);
  } else if ((uint64_t)status.st_size != *bytes || *bytes <= SEAL_SIZE) {
    snprintf(problem, size, "%s is truncated or damaged: it has %" PRIu64 " bytes and should have %" PRIu64,
             path, (uint64_t)status.st_size, *bytes);
  } else {
    snprintf(again, SEAL_SIZE, seal_format, *bytes, *digest);
    if (memcmp(seal, again, SEAL_SIZE))
      snprintf(problem, size, "%s is damaged: its seal is broken", path);
  }
  close(file);
}

PetscErrorCode SealCheck(MPI_Comm comm, const char path[], char problem[], size_t size)
{
  PetscMPIInt rank;
  uint64_t    promised[2] = {0, 0}, digest = 0;
  int         number;

  PetscFunctionBegin;
  problem[0] = '\0';
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  if (rank == 0)
    read_seal(path, &promised[0], &promised[1], problem, size);
  PetscCallMPI(MPI_Bcast(problem, (PetscMPIInt)size, MPI_CHAR, 0, comm));
  if (problem[0])
    PetscFunctionReturn(0);
  PetscCallMPI(MPI_Bcast(promised, 2, MPI_UINT64_T, 0, comm));
  PetscCall(FileDigest(comm, path, promised[0], &digest, &number));
  if (number) {
    PetscCall(PetscSNPrintf(problem, size, "%s cannot be read: %s", path, strerror(number)));
  } else if (digest != promised[1]) {
    snprintf(problem, size, "%s is damaged: its digest is %016" PRIx64 " and should be %016" PRIx64, path,
             digest, promised[1]);
  }
  PetscFunctionReturn(0);
}
