/* A directory of a test's own, the same on all ranks, and damage to what lies in it. */
#ifndef MILLRACE_TESTS_SCRATCH_H
#define MILLRACE_TESTS_SCRATCH_H

#include "harness.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct {
  char directory[256];
  char path[512]; /* the last one asked for */
} Scratch;

static inline void wait_for_all(void)
{
  if (MPI_Barrier(PETSC_COMM_WORLD))
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Collective: world. */
static inline void scratch_make(Scratch *scratch)
{
  const char *parent = getenv("TMPDIR");

  if (harness_rank() == 0) {
    snprintf(scratch->directory, sizeof(scratch->directory), "%.200s/millrace-XXXXXX",
             parent ? parent : "/tmp");
    if (!mkdtemp(scratch->directory))
      MPI_Abort(MPI_COMM_WORLD, 1);
  }
  if (MPI_Bcast(scratch->directory, sizeof(scratch->directory), MPI_CHAR, 0, PETSC_COMM_WORLD))
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static inline const char *scratch_path(Scratch *scratch, const char name[])
{
  snprintf(scratch->path, sizeof(scratch->path), "%s/%s", scratch->directory, name);
  return scratch->path;
}

/* Collective: world. */
static inline void scratch_remove(Scratch *scratch)
{
  char command[512];

  wait_for_all();
  snprintf(command, sizeof(command), "rm -rf '%s'", scratch->directory);
  if (harness_rank() == 0 && system(command))
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static inline PetscBool file_exists(const char path[])
{
  return access(path, F_OK) ? PETSC_FALSE : PETSC_TRUE;
}

static inline long file_size(const char path[])
{
  struct stat status;

  return stat(path, &status) ? -1 : (long)status.st_size;
}

/* Changes one byte by exclusive or with `bits`; twice restores it. Rank 0 acts, all wait. */
static inline void flip_byte(const char path[], long offset, int bits)
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

#endif
