/* Commands that read the directory of a run are Python's, which has one reader of runs: the package millrace.
   The program becomes Python before MPI begins. */
#define _DEFAULT_SOURCE
#include "commands.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static PetscBool is_directory(const char path[])
{
  struct stat status;

  return path && !stat(path, &status) && S_ISDIR(status.st_mode) ? PETSC_TRUE : PETSC_FALSE;
}

/* compare, watch, and info of a directory. */
static PetscBool is_for_python(int argc, char **argv)
{
  if (argc < 2)
    return PETSC_FALSE;
  if (!strcmp(argv[1], "compare") || !strcmp(argv[1], "watch"))
    return PETSC_TRUE;
  return !strcmp(argv[1], "info") && argc > 2 && is_directory(argv[2]) ? PETSC_TRUE : PETSC_FALSE;
}

/* Under a launcher all but the first process have nothing to say. */
static PetscBool is_first_process(void)
{
  static const char *const ranks[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID", NULL};

  for (int r = 0; ranks[r]; r++) {
    const char *rank = getenv(ranks[r]);

    if (rank && rank[0])
      return strcmp(rank, "0") ? PETSC_FALSE : PETSC_TRUE;
  }
  return PETSC_TRUE;
}

/* The folder that holds the package: beside the program in the tree that it was built in, or where it is
   installed; "" if it is nowhere. */
static void find_package(char path[PETSC_MAX_PATH_LEN])
{
  static const char *const places[] = {"/python", "/../python", "/../share/millrace/python", NULL};
  char                     program[PETSC_MAX_PATH_LEN], file[PETSC_MAX_PATH_LEN + 64];
  const ssize_t            length = readlink("/proc/self/exe", program, sizeof(program) - 1);
  char                    *slash;

  program[PetscMax(length, 0)] = '\0';
  slash = strrchr(program, '/');
  if (slash)
    *slash = '\0';
  for (int p = 0; slash && places[p]; p++) {
    snprintf(path, PETSC_MAX_PATH_LEN, "%.*s%s", PETSC_MAX_PATH_LEN - 40, program, places[p]);
    snprintf(file, sizeof(file), "%s/__main__.py", path);
    if (!access(file, R_OK))
      return;
  }
  snprintf(path, PETSC_MAX_PATH_LEN, "%s", MILLRACE_PYTHON_DIR);
  snprintf(file, sizeof(file), "%s/__main__.py", path);
  if (access(file, R_OK))
    path[0] = '\0';
}

/* Replaces this process; returns only if that fails. */
static void become_python(const char interpreter[], char package[], int argc, char **argv)
{
  char **words = calloc((size_t)argc + 3, sizeof(*words));

  if (!words)
    return;
  words[0] = (char *)interpreter;
  words[1] = "-B"; /* nothing is written beside the package */
  words[2] = package;
  for (int n = 1; n < argc; n++)
    words[2 + n] = argv[n];
  execvp(interpreter, words);
  free(words);
}

int python_command(int argc, char **argv)
{
  const char *chosen = getenv("MILLRACE_PYTHON");
  const char *interpreter = chosen && chosen[0] ? chosen : MILLRACE_PYTHON[0] ? MILLRACE_PYTHON : "python3";
  char        package[PETSC_MAX_PATH_LEN];

  if (!is_for_python(argc, argv))
    return -1;
  if (!is_first_process())
    return EXIT_DONE;
  find_package(package);
  if (package[0])
    become_python(interpreter, package, argc, argv);
  fprintf(stderr,
          "millrace: error: %s needs Python with numpy and h5py, and %s cannot be started: install python3, "
          "python3-numpy and python3-h5py (Debian), or set MILLRACE_PYTHON\n",
          argv[1], package[0] ? interpreter : "the package that `make install` installs");
  return EXIT_BAD_INPUT;
}
