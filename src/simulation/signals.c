/* Signals that end a run with a checkpoint: those of batch systems, Ctrl-C and the end of a terminal. */
#include "simulation_impl.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

static const struct {
  int         number;
  const char *name;
} heeded[] = {{SIGUSR1, "USR1"}, {SIGTERM, "TERM"}, {SIGINT, "INT"}, {SIGHUP, "HUP"}};
enum { HEEDED = sizeof(heeded) / sizeof(heeded[0]) };

/* Set by signals, read once a step; a signal handler can reach nothing else. */
static volatile sig_atomic_t stop_asked;

static void ask_to_stop(int number)
{
  static const char answer[] = "\nmillrace: stopping with a checkpoint after this step; Ctrl-C again ends "
                               "the run at once\n";
  const int         before = errno;

  stop_asked = number;
  if (number == SIGINT && isatty(STDERR_FILENO) && write(STDERR_FILENO, answer, sizeof(answer) - 1) < 0)
    errno = 0; /* nobody is there to read it */
  errno = before;
}

static PetscBool is_ignored[HEEDED], is_noted;

void simulation_note_ignored(void)
{
  struct sigaction now;

  for (int s = 0; s < HEEDED && !is_noted; s++)
    is_ignored[s] =
        !sigaction(heeded[s].number, NULL, &now) && now.sa_handler == SIG_IGN ? PETSC_TRUE : PETSC_FALSE;
  is_noted = PETSC_TRUE;
}

void simulation_listen(void)
{
  simulation_note_ignored();
  for (int s = 0; s < HEEDED && !stop_asked; s++) {
    struct sigaction action = {.sa_handler = is_ignored[s] ? SIG_IGN : ask_to_stop, .sa_flags = SA_RESTART};

    sigemptyset(&action.sa_mask);
    if (heeded[s].number == SIGINT && !is_ignored[s])
      action.sa_flags |= (int)SA_RESETHAND;
    sigaction(heeded[s].number, &action, NULL);
  }
}

int simulation_stop_signal(void)
{
  return stop_asked;
}

const char *signal_name(int number)
{
  for (int s = 0; s < HEEDED; s++)
    if (heeded[s].number == number)
      return heeded[s].name;
  return "";
}
