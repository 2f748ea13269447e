/* The words of the command line. */
#include "commands.h"

#include <stdlib.h>
#include <string.h>

/* The value that follows option number n, or null and a mistake. */
static const char *value_of(int argc, char **argv, int *n, Arguments *arguments)
{
  if (*n + 1 < argc)
    return argv[++*n];
  arguments->mistake = argv[*n];
  return NULL;
}

/* -1: the word is no number of ranks. */
static PetscInt rank_count(const char word[])
{
  char      *end;
  const long count = strtol(word, &end, 10);

  return end > word && !*end && count > 0 && count <= 100000000 ? (PetscInt)count : -1;
}

static PetscBool parse_own(int argc, char **argv, int *n, Arguments *arguments)
{
  const char *word = argv[*n];

  if (!strcmp(word, "-o") || !strcmp(word, "--output"))
    arguments->directory = value_of(argc, argv, n, arguments);
  else if (!strcmp(word, "--restart"))
    arguments->restart = value_of(argc, argv, n, arguments);
  else if (!strcmp(word, "--overwrite"))
    arguments->use = RUN_OVERWRITE;
  else if (!strcmp(word, "--allow-files"))
    arguments->reach = OPTIONS_MAY_REACH_OUT;
  else if (!strcmp(word, "--help") || !strcmp(word, "-h"))
    arguments->help = PETSC_TRUE;
  else if (!strcmp(word, "--version"))
    arguments->command = "version";
  else if (!strcmp(word, "--markdown"))
    arguments->markdown = PETSC_TRUE;
  else if (!strcmp(word, "--step"))
    arguments->step = PETSC_TRUE;
  else if (!strcmp(word, "--ranks")) {
    const char *count = value_of(argc, argv, n, arguments);

    if (count)
      arguments->ranks = rank_count(count);
  } else if (!strcmp(word, "--set")) {
    arguments->sets[arguments->set_count] = value_of(argc, argv, n, arguments);
    if (arguments->sets[arguments->set_count])
      arguments->set_count++;
  } else
    return PETSC_FALSE;
  return PETSC_TRUE;
}

/* PETSc's options begin with one dash and may have a value that does not. */
void arguments_parse(int argc, char **argv, Arguments *arguments)
{
  arguments->program = argv[0];
  arguments->petsc[arguments->petsc_count++] = argv[0];
  for (int n = 1; n < argc; n++) {
    if (parse_own(argc, argv, &n, arguments))
      continue;
    if (argv[n][0] == '-' && argv[n][1] == '-')
      arguments->mistake = argv[n];
    else if (argv[n][0] == '-') {
      arguments->petsc[arguments->petsc_count++] = argv[n];
      if (n + 1 < argc && (argv[n + 1][0] != '-' || (argv[n + 1][1] >= '0' && argv[n + 1][1] <= '9')))
        arguments->petsc[arguments->petsc_count++] = argv[++n];
    } else if (!arguments->command)
      arguments->command = argv[n];
    else if (!arguments->target)
      arguments->target = argv[n];
    else
      arguments->mistake = argv[n];
  }
  if (arguments->restart && arguments->use == RUN_NEW)
    arguments->use = RUN_RESTART;
}

/* The longest name below a run's directory has some 50 characters. */
static PetscBool is_too_long(const char path[])
{
  return path && strlen(path) > PETSC_MAX_PATH_LEN - 128 ? PETSC_TRUE : PETSC_FALSE;
}

const char *arguments_contradiction(const Arguments *arguments)
{
  if (is_too_long(arguments->target) || is_too_long(arguments->directory) || is_too_long(arguments->restart))
    return "a path is longer than this system allows";
  if (arguments->ranks < 0)
    return "--ranks wants a whole number of at least 1";
  if (arguments->restart && arguments->use == RUN_OVERWRITE)
    return "--restart goes on with a run, --overwrite deletes it: only one of the two is possible";
  return "";
}
