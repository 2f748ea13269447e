/* How fast eight smooth fields of 128^3 go to an archive and back, beside a plain write and sync of the same
   bytes by one rank. bench_archive [directory] */
#include <millrace/io.h>
#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CELLS = 128, FIELDS = 8 };

static ArchivePart share_of_rank(MPI_Comm comm)
{
  ArchivePart part = {3, {CELLS, CELLS, CELLS}, {0}, {CELLS, CELLS, CELLS}};
  PetscMPIInt rank, ranks;

  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  part.start[0] = CELLS * rank / ranks;
  part.count[0] = CELLS * (rank + 1) / ranks - part.start[0];
  return part;
}

/* A plume: structure in a third of the box, exact zeros around it. */
static void fill(const ArchivePart *part, PetscInt field, double values[])
{
  for (PetscInt k = 0; k < part->count[0]; k++) {
    for (PetscInt j = 0; j < CELLS; j++) {
      for (PetscInt i = 0; i < CELLS; i++) {
        const double x = (i + 0.5) / CELLS, y = (j + 0.5) / CELLS, z = (k + part->start[0] + 0.5) / CELLS;
        const double distance = hypot(x - 0.5, y - 0.5) - 0.33;

        values[(k * CELLS + j) * CELLS + i] =
            distance < 0 || field < 5 ? sin(7 * x + field) * cos(9 * y) * sin(5 * z + 0.1 * field) : 0;
      }
    }
  }
}

static PetscErrorCode TimeArchive(const char path[], ArchivePrecision precision, PetscInt deflate,
                                  PetscReal plain)
{
  const double   megabytes = 8e-6 * FIELDS * CELLS * CELLS * CELLS;
  ArchivePart    part = share_of_rank(PETSC_COMM_WORLD);
  char           name[16], message[1024];
  PetscLogDouble start, written, read;
  struct stat    status;
  double        *values;
  Archive        archive;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(part.count[0] * CELLS * CELLS, &values));
  PetscCall(PetscTime(&start));
  PetscCall(ArchiveCreate(PETSC_COMM_WORLD, path, &archive));
  PetscCall(ArchiveSetStorage(archive, precision, deflate));
  written = 0;
  for (PetscInt field = 0; field < FIELDS; field++) {
    PetscLogDouble before, after;

    PetscCall(PetscTime(&before));
    fill(&part, field, values);
    PetscCall(PetscTime(&after));
    written -= after - before;
    PetscCall(PetscSNPrintf(name, sizeof(name), "field%" PetscInt_FMT, field));
    PetscCall(ArchiveWritePart(archive, name, &part, values));
  }
  PetscCall(ArchiveCommit(&archive));
  PetscCall(PetscTime(&read));
  written += read - start;
  PetscCall(PetscTime(&start));
  PetscCall(ArchiveOpen(PETSC_COMM_WORLD, path, &archive, message, sizeof(message)));
  PetscCheck(archive, PETSC_COMM_WORLD, PETSC_ERR_FILE_READ, "%s", message);
  for (PetscInt field = 0; field < FIELDS; field++) {
    PetscCall(PetscSNPrintf(name, sizeof(name), "field%" PetscInt_FMT, field));
    PetscCall(ArchiveReadPart(archive, name, &part, values));
  }
  PetscCall(ArchiveDestroy(&archive));
  PetscCall(PetscTime(&read));
  read -= start;
  stat(path, &status);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "%s, deflate %" PetscInt_FMT
                        ": write %6.0f MB/s (%.2f plain writes), read %6.0f MB/s, "
                        "%.2f of the size\n",
                        precision == ARCHIVE_DOUBLE ? "double" : "single", deflate, megabytes / written,
                        written / plain, megabytes / read, (double)status.st_size / (megabytes * 1e6)));
  PetscCall(PetscFree(values));
  PetscFunctionReturn(0);
}

/* Seconds for one rank to write and synchronise the same bytes. */
static PetscErrorCode TimePlain(const char path[], PetscReal *plain)
{
  const size_t   bytes = sizeof(double) * CELLS * CELLS * CELLS;
  PetscMPIInt    rank;
  PetscLogDouble start, end;
  double        *values;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCall(PetscCalloc1(CELLS * CELLS * CELLS, &values));
  PetscCall(PetscTime(&start));
  if (rank == 0) {
    const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);

    for (int field = 0; field < FIELDS; field++) {
      PetscCheck(write(file, values, bytes) == (ssize_t)bytes, PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE,
                 "%s cannot be written", path);
    }
    fsync(file);
    close(file);
  }
  PetscCall(PetscFree(values));
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  PetscCall(PetscTime(&end));
  *plain = end - start;
  PetscCallMPI(MPI_Bcast(plain, 1, MPIU_REAL, 0, PETSC_COMM_WORLD));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  char      path[PETSC_MAX_PATH_LEN];
  PetscReal plain;

  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PetscSNPrintf(path, sizeof(path), "%s/bench_archive.h5", argc > 1 ? argv[1] : "."));
  PetscCall(TimePlain(path, &plain));
  for (int precision = 0; precision < 2; precision++) {
    for (PetscInt deflate = 0; deflate < 2; deflate++) {
      PetscCall(TimeArchive(path, (ArchivePrecision)precision, deflate, plain));
    }
  }
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  unlink(path);
  PetscCall(PetscFinalize());
  return 0;
}
