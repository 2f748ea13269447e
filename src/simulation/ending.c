/* The last line of a run: whether it is done, stopped or has failed, why, where its results are and how to go
   on. */
#include "simulation_impl.h"

#include <string.h>

enum { COMMAND_LENGTH = 2 * PETSC_MAX_PATH_LEN };

/* As a shell takes it for one word. */
static void quote(const char word[], char text[], size_t size)
{
  static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,:/@%";

  if (word[0] && strspn(word, plain) == strlen(word))
    snprintf(text, size, "%s", word);
  else if (!strchr(word, '\''))
    snprintf(text, size, "'%s'", word);
  else
    snprintf(text, size, "DIR");
}

/* "millrace run -o plume --restart latest" */
static void write_command(const RunOptions *options, char text[COMMAND_LENGTH])
{
  char directory[PETSC_MAX_PATH_LEN];

  quote(options->directory, directory, sizeof(directory));
  snprintf(text, COMMAND_LENGTH, "%s run -o %s --restart latest",
           options->program ? options->program : "millrace", directory);
}

static void print_done(Simulation simulation, const RunOptions *options, const RunEnding *ending,
                       const char command[])
{
  const RunConfig *run = &simulation->config->run;
  const PetscBool  is_whole = simulation->time >= run->end_time * (1. - 1e-12) ? PETSC_TRUE : PETSC_FALSE;
  const PetscReal  bytes = options->results ? run_directory_bytes(options->results) : 0.;

  if (!ending->steps && options->checkpoint) {
    printf("done: the run in %s was complete at t = %g s; to a later end with: %s --set run.end_time=...\n",
           options->directory, (double)simulation->time, command);
    return;
  }
  if (ending->steady)
    printf("done: steady at t = %g of %g s", (double)simulation->time, (double)run->end_time);
  else if (!is_whole)
    printf("done with run.step_limit at t = %g of %g s", (double)simulation->time, (double)run->end_time);
  else
    printf("done");
  printf(": results in %s (%" PetscInt_FMT " frame%s, %.3g MB); ", options->directory, ending->frames,
         ending->frames == 1 ? "" : "s", (double)bytes / 1e6);
  if (ending->steady)
    printf("go on with: %s --set run.steady=...\n", command);
  else if (!is_whole)
    printf("go on with: %s --set run.step_limit=0\n", command);
  else
    printf("open %s/run.xmf with ParaView, or draw it with postproc/picture\n", options->directory);
}

void print_ending(Simulation simulation, const RunOptions *options, const RunEnding *ending)
{
  const PetscReal end = simulation->config->run.end_time, time = simulation->time;
  char            command[COMMAND_LENGTH];

  write_command(options, command);
  if (ending->outcome == RUN_DONE && !ending->trouble)
    print_done(simulation, options, ending, command);
  else if (ending->outcome == RUN_STOPPED && !ending->trouble)
    printf("stopped at t = %g of %g s (%s): checkpoint-%08" PetscInt_FMT ".h5; go on with: %s\n",
           (double)time, (double)end, ending->reason, simulation->step, command);
  else if (ending->saved)
    printf("failed at t = %g of %g s: checkpoint-%08" PetscInt_FMT
           ".h5 is the last good step; after a change go on with: %s\n",
           (double)time, (double)end, simulation->step, command);
  else if (ending->frames || options->checkpoint)
    printf("failed at t = %g of %g s: no checkpoint of this step; those of before, if any, go on with: %s\n",
           (double)time, (double)end, command);
  else
    printf("failed at the start: no results were written\n");
}
