#include "scratch.h"

struct Scratch scratch;

void wait_for_all(void)
{
  if (MPI_Barrier(PETSC_COMM_WORLD))
    MPI_Abort(MPI_COMM_WORLD, 1);
}

int scratch_make(void **state)
{
  const char *parent = getenv("TMPDIR");

  (void)state;
  if (harness_rank() == 0) {
    snprintf(scratch.directory, sizeof(scratch.directory), "%.200s/millrace-XXXXXX",
             parent ? parent : "/tmp");
    if (!mkdtemp(scratch.directory))
      MPI_Abort(MPI_COMM_WORLD, 1);
  }
  if (MPI_Bcast(scratch.directory, sizeof(scratch.directory), MPI_CHAR, 0, PETSC_COMM_WORLD))
    MPI_Abort(MPI_COMM_WORLD, 1);
  return 0;
}

int scratch_remove(void **state)
{
  char command[512];

  (void)state;
  wait_for_all();
  snprintf(command, sizeof(command), "rm -rf '%s'", scratch.directory);
  if (harness_rank() == 0 && system(command))
    MPI_Abort(MPI_COMM_WORLD, 1);
  return 0;
}

const char *scratch_path(const char name[])
{
  snprintf(scratch.path, sizeof(scratch.path), "%s/%s", scratch.directory, name);
  return scratch.path;
}

PetscBool file_exists(const char path[])
{
  return access(path, F_OK) ? PETSC_FALSE : PETSC_TRUE;
}

long file_size(const char path[])
{
  struct stat status;

  return stat(path, &status) ? -1 : (long)status.st_size;
}

void flip_byte(const char path[], long offset, int bits)
{
  if (harness_rank() == 0) {
    FILE *file = fopen(path, "r+b");
    int   byte;

    fseek(file, offset, SEEK_SET);
    byte = fgetc(file);
    fseek(file, offset, SEEK_SET);
    fputc(byte ^ bits, file);
    fclose(file);
  }
  wait_for_all();
}
