/* A directory of a test's own, the same on all ranks, and damage to what lies in it. */
#ifndef MILLRACE_TESTS_SCRATCH_H
#define MILLRACE_TESTS_SCRATCH_H

#include "harness.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* For TEST_MAIN: a test with a new directory, which is removed after it. */
#define in_scratch(test) cmocka_unit_test_setup_teardown(test, scratch_make, scratch_remove)

/* That of the test that runs. */
extern struct Scratch {
  char directory[256];
  char path[512]; /* the last one asked for */
} scratch;

int scratch_make(void **state);
int scratch_remove(void **state);

/* Of a file in the directory; valid until the next call. */
const char *scratch_path(const char name[]);

void      wait_for_all(void);
PetscBool file_exists(const char path[]);
long      file_size(const char path[]);

/* Changes one byte by exclusive or with `bits`; twice restores it. Rank 0 acts, all wait. */
void flip_byte(const char path[], long offset, int bits);

#endif
