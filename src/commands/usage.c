/* What the program can do: one table of commands and one of options, from which its help, its manual page and
   the completion of words come. */
#define _POSIX_C_SOURCE 200809L
#include "commands.h"

#include <millrace/version.h>

#include <stdlib.h>
#include <string.h>

typedef struct {
  const char *name, *argument; /* argument: "" if it takes none */
  const char *help;
} UsageEntry;

static const UsageEntry command_table[] = {
    {"run", "SCENE", "run a scene; what it computes goes to SCENE-run or where -o says"},
    {"run --restart latest -o", "DIR",
     "go on with the run of a directory, by the scene that its checkpoint holds"},
    {"run --restart", "FILE", "the same from a certain checkpoint"},
    {"check", "SCENE", "validate a scene, count cells, bodies and memory, estimate the steps"},
    {"info", "FILE", "what a checkpoint or frame holds"},
    {"info", "DIR", "what a run is, how far it has come, what it lost, how to go on"},
    {"compare", "A B", "how two runs differ: 0 equal, 1 not; also --frames last, --all"},
    {"watch", "DIR", "serve a page about a run to this machine: --port N, --every S, --log FILE"},
    {"keys", "[PATTERN]", "every key of a scene with unit, default and meaning"},
    {"version", "", "its version, and those of PETSc and MPI"},
    {"help", "[COMMAND]", "this text, or what there is to say of a command"},
    {"manual", "", "this text and all keys as a page for man"},
    {"completion", "", "commands, options and keys as a script for bash"},
    {0}};

/* The help of an option begins with the commands that take it. */
static const UsageEntry option_table[] = {
    {"-o", "DIR", "run: the directory of the results; also --output"},
    {"--restart", "latest|FILE", "run: go on from a checkpoint"},
    {"--overwrite", "", "run: delete the results that the directory holds"},
    {"--allow-files", "", "run, check: PETSc options of the scene may write files"},
    {"--set", "KEY=VALUE", "run, check: override a key of the scene; any number of times"},
    {"--ranks", "N", "check: for so many ranks, not for those that are there"},
    {"--step", "", "check: take one step as well, to tell how long the run will take"},
    {"--markdown", "", "keys: as docs/inputs.md"},
    {"--tolerance", "X", "compare: largest difference, as a share of the largest value [0]"},
    {0}};

static const UsageEntry remark_table[] = {
    {"run", "",
     "Results go to DIR, or to SCENE-run in the present directory, SCENE without its folder and .yaml. "
     "Ctrl-C, a "
     "closed terminal, TERM and USR1 end the run after the step it is in, with a checkpoint; a second Ctrl-C "
     "at "
     "once."},
    {"run, check", "",
     "--set takes the keys that `millrace keys` lists and values as in YAML: --set run.end_time=2, --set "
     "\"fluid.gravity=[0, -9.81]\". Items of lists go by their name or number, the next number makes a new "
     "one: "
     "--set solids.bodies.ball.density=500, --set obstacles.0.shape.sphere.radius=0.2."},
    {"keys", "",
     "PATTERN is a part of a key's path, such as grid. or \"time step\", large letters as small ones; if no "
     "path "
     "has it, the meanings are searched."},
    {0}};

static const struct {
  const char *code, *meaning;
} exit_codes[] = {{"0", "done"},
                  {"2", "bad input"},
                  {"3", "the numerics failed"},
                  {"85", "stopped with a checkpoint"},
                  {"1", "anything else"},
                  {NULL, NULL}};

/* Whether a list of words, apart by commas or a space and ended by a colon, holds the command; null: all do.
 */
static PetscBool is_about(const char list[], const char command[])
{
  const size_t length = command ? strlen(command) : 0;

  if (!command)
    return PETSC_TRUE;
  while (*list && *list != ':') {
    const size_t word = strcspn(list, ",: ");

    if (word == length && !strncmp(list, command, length))
      return PETSC_TRUE;
    list += word;
    if (*list == ' ')
      break;
    list += strspn(list, ", ");
  }
  return PETSC_FALSE;
}

static void print_entries(const char prefix[], const UsageEntry entries[], const char command[], FILE *file)
{
  enum { COLUMN = 40 };

  for (const UsageEntry *entry = entries; entry->name; entry++)
    if (is_about(prefix[0] ? entry->name : entry->help, command)) {
      const int used =
          fprintf(file, "  %s%s%s%s", prefix, entry->name, entry->argument[0] ? " " : "", entry->argument);

      fprintf(file, "%*s%s\n", PetscMax(COLUMN - used, 1), "", entry->help);
    }
}

/* A paragraph of at most 100 columns. */
static void print_filled(const char text[], FILE *file)
{
  enum { COLUMNS = 100 };
  size_t used = 0;

  while (*text) {
    const size_t length = strcspn(text, " ");

    used += length + 1;
    if (used > COLUMNS + 1)
      used = length + 1;
    fprintf(file, "%s%.*s", used > length + 1 ? " " : "\n", (int)length, text);
    text += length + (text[length] == ' ');
  }
  fputc('\n', file);
}

const char *usage_command(const char word[])
{
  for (const UsageEntry *entry = command_table; entry->name; entry++)
    if (!strcmp(entry->name, word))
      return entry->name;
  return NULL;
}

const char *usage_closest_command(const char word[])
{
  const char *names[sizeof(command_table) / sizeof(command_table[0])];
  PetscInt    count = 0;

  for (const UsageEntry *entry = command_table; entry->name; entry++)
    if (!strchr(entry->name, ' '))
      names[count++] = entry->name;
  names[count] = NULL;
  return closest_word(word, names);
}

void print_usage(const char command[], FILE *file)
{
  if (!command)
    fputs("millrace COMMAND [ARGUMENT]... [PETSc options]\n\n", file);
  print_entries("millrace ", command_table, command, file);
  fputs("\n", file);
  print_entries("", option_table, command, file);
  for (const UsageEntry *remark = remark_table; command && remark->name; remark++)
    if (is_about(remark->name, command))
      print_filled(remark->help, file);
  fputs("\nUnder MPI: mpiexec -n N millrace run ... or srun millrace run ...\nExit codes:", file);
  for (PetscInt n = 0; exit_codes[n].code; n++)
    fprintf(file, "%s %s %s", n ? "," : "", exit_codes[n].code, exit_codes[n].meaning);
  fputs(".\n", file);
}

/* The listing of all keys; free() it. */
static PetscErrorCode CreateListing(char **text)
{
  size_t length = 0;
  FILE  *memory = open_memstream(text, &length);

  PetscFunctionBegin;
  PetscCheck(memory, PETSC_COMM_SELF, PETSC_ERR_MEM, "No memory for the list of keys");
  PetscCall(SceneKeysPrint(NULL, memory));
  fclose(memory);
  PetscFunctionReturn(0);
}

/* A dash that is one, and nothing that troff takes for its own. */
static void print_escaped(const char text[], size_t length, FILE *file)
{
  if (length && (text[0] == '.' || text[0] == '\''))
    fputs("\\&", file);
  for (size_t n = 0; n < length; n++) {
    if (text[n] == '\\')
      fputs("\\e", file);
    else if (text[n] == '-')
      fputs("\\-", file);
    else
      fputc(text[n], file);
  }
  fputc('\n', file);
}

static void print_manual_entries(const UsageEntry entries[], FILE *file)
{
  for (const UsageEntry *entry = entries; entry->name; entry++) {
    fputs(".TP\n.B ", file);
    print_escaped(entry->name, strlen(entry->name), file);
    if (entry->argument[0]) {
      fputs(".I ", file);
      print_escaped(entry->argument, strlen(entry->argument), file);
    }
    fputs(".br\n", file);
    print_escaped(entry->help, strlen(entry->help), file);
  }
}

/* The listing has a key in the first column of a line and what there is to say of it, indented, below. */
static void print_manual_keys(const char text[], FILE *file)
{
  enum { INDENT = 4 };

  while (*text) {
    const size_t length = strcspn(text, "\n");

    if (text[0] != ' ') {
      fputs(".TP\n.B ", file);
      print_escaped(text, length, file);
    } else {
      print_escaped(text + INDENT, length - INDENT, file);
      fputs(".br\n", file);
    }
    text += length + (text[length] == '\n');
  }
}

PetscErrorCode PrintManual(FILE *file)
{
  char *keys = NULL;

  PetscFunctionBegin;
  PetscCall(CreateListing(&keys));
  fprintf(
      file,
      ".TH MILLRACE 1 \"\" \"millrace %s\" \"User Commands\"\n.SH NAME\nmillrace \\- rigid bodies, shells, "
      "liquids and gases that act on each other\n.SH SYNOPSIS\n.B millrace\n.I "
      "COMMAND\n[\\fIARGUMENT\\fR]... "
      "[\\fIPETSc options\\fR]\n.PP\n.B mpiexec \\-n\n.I N\n.B millrace run\n.I SCENE\n.SH COMMANDS\n",
      MILLRACE_VERSION);
  print_manual_entries(command_table, file);
  fputs(".SH OPTIONS\n", file);
  print_manual_entries(option_table, file);
  for (const UsageEntry *remark = remark_table; remark->name; remark++) {
    fputs(".PP\n", file);
    print_escaped(remark->help, strlen(remark->help), file);
  }
  fputs(".SH EXIT STATUS\n", file);
  for (PetscInt n = 0; exit_codes[n].code; n++)
    fprintf(file, ".TP\n.B %s\n%s\n", exit_codes[n].code, exit_codes[n].meaning);
  fputs(".SH KEYS OF A SCENE\n", file);
  print_manual_keys(keys, file);
  free(keys);
  PetscFunctionReturn(0);
}

static void print_words(const char variable[], const UsageEntry entries[], FILE *file)
{
  fprintf(file, "  local %s=\"", variable);
  for (const UsageEntry *entry = entries; entry->name; entry++)
    if (!strchr(entry->name, ' '))
      fprintf(file, "%s%s", entry > entries ? " " : "", entry->name);
  fputs("\"\n", file);
}

static void print_key_words(const char text[], FILE *file)
{
  fputs("  local keys=\"", file);
  while (*text) {
    const size_t length = strcspn(text, "\n");

    if (text[0] != ' ' && !memchr(text, '[', length))
      fprintf(file, "%.*s ", (int)length, text);
    text += length + (text[length] == '\n');
  }
  fputs("\"\n", file);
}

PetscErrorCode PrintCompletion(FILE *file)
{
  char *keys = NULL;

  PetscFunctionBegin;
  PetscCall(CreateListing(&keys));
  fputs("# Completion of millrace's commands, options and keys for bash. Written by `millrace completion`.\n"
        "_millrace() {\n"
        "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}\n",
        file);
  print_words("commands", command_table, file);
  print_words("options", option_table, file);
  print_key_words(keys, file);
  fputs("  COMPREPLY=()\n"
        "  if [ \"$COMP_CWORD\" = 1 ]; then\n"
        "    COMPREPLY=($(compgen -W \"$commands\" -- \"$word\"))\n"
        "  elif [ \"$before\" = --set ]; then\n"
        "    compopt -o nospace 2> /dev/null\n"
        "    COMPREPLY=($(compgen -S = -W \"$keys\" -- \"$word\"))\n"
        "  elif [ \"${COMP_WORDS[1]}\" = keys ] && [ \"${word#-}\" = \"$word\" ]; then\n"
        "    COMPREPLY=($(compgen -W \"$keys\" -- \"$word\"))\n"
        "  elif [ \"${word#-}\" != \"$word\" ]; then\n"
        "    COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
        "  elif [ \"$before\" = --restart ]; then\n"
        "    COMPREPLY=($(compgen -W latest -- \"$word\") $(compgen -f -- \"$word\"))\n"
        "  fi\n"
        "}\n"
        "complete -o default -F _millrace millrace\n",
        file);
  free(keys);
  PetscFunctionReturn(0);
}
