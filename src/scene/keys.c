/* All keys of a scene: the tables of the rooms joined, and told to the user. */
#define _POSIX_C_SOURCE 200809L
#include "scene_impl.h"

#include <ctype.h>
#include <string.h>

#define AT(member) offsetof(SimulationConfig, member)

/* `grid` comes before all that has vectors, `fluid` before the inflows of its scalars. Both are there unless
   the scene has nothing but solids. */
const SchemaKey SceneKeys[] = {
    {.name = "title",
     .kind = SCHEMA_TEXT,
     .offset = AT(title),
     .fallback = "\"\"",
     .help = "what the scene shows"},
    {.name = "grid",
     .kind = SCHEMA_BLOCK,
     .offset = AT(grid),
     .fallback = "",
     .keys = GridKeys,
     .help = "the box of cells of the fluid; with neither grid nor fluid a scene has solids alone"},
    {.name = "parallel",
     .kind = SCHEMA_BLOCK,
     .offset = AT(parallel),
     .keys = TeamKeys,
     .help = "how MPI ranks are shared between fluid and bodies"},
    {.name = "coupling",
     .kind = SCHEMA_BLOCK,
     .offset = AT(coupling),
     .keys = CouplingKeys,
     .help = "how bodies and fluid move together"},
    {.name = "run",
     .kind = SCHEMA_BLOCK,
     .offset = AT(run),
     .keys = RunKeys,
     .help = "how long, and what is written"},
    {.name = "fluid",
     .kind = SCHEMA_BLOCK,
     .offset = AT(fluid),
     .fallback = "",
     .keys = FluidKeys,
     .help = "the fluid and its sides"},
    {.name = "regions",
     .kind = SCHEMA_LIST,
     .offset = AT(phases.regions),
     .count = AT(phases.region_count),
     .size = sizeof(RegionConfig),
     .fallback = "",
     .keys = RegionKeys,
     .help = "liquids and gases with interfaces between them; without any, one fluid fills the box"},
    {.name = "interfaces",
     .kind = SCHEMA_BLOCK,
     .offset = AT(phases),
     .fallback = "",
     .keys = PhaseKeys,
     .help = "what happens where regions meet"},
    {.name = "obstacles",
     .kind = SCHEMA_LIST,
     .offset = AT(obstacles),
     .count = AT(obstacle_count),
     .size = sizeof(ObstacleConfig),
     .fallback = "",
     .keys = ObstacleKeys,
     .help = "what stands in the fluid, still or moving as given"},
    {.name = "inflows",
     .kind = SCHEMA_LIST,
     .offset = AT(inflows),
     .count = AT(inflow_count),
     .size = sizeof(InflowConfig),
     .fallback = "",
     .keys = InflowKeys,
     .help = "regions in which velocity and scalars are held"},
    {.name = "solids",
     .kind = SCHEMA_BLOCK,
     .offset = AT(solids),
     .fallback = "",
     .keys = SolidKeys,
     .help = "bodies that fall, collide, rub and hang together"},
    {.name = "splash",
     .kind = SCHEMA_BLOCK,
     .offset = AT(splash),
     .fallback = "",
     .keys = SplashKeys,
     .help = "splashing liquid: particles with mass in the place of the fluid, of which density, gravity, "
             "cfl and "
             "sides count"},
    {.name = "output",
     .kind = SCHEMA_LIST,
     .offset = AT(outputs),
     .count = AT(output_count),
     .size = sizeof(OutputConfig),
     .fallback = "",
     .keys = OutputKeys,
     .help = "what is recorded besides frames and ledger, in tables of their own: output/NAME.csv"},
    {.name = "petsc",
     .kind = SCHEMA_OPTIONS,
     .fallback = "",
     .help =
         "options of PETSc's solvers without the leading dash, such as {pressure_pc_type: gamg}; those that "
         "write files or run programs work only if the command line has --allow-files"},
    {0}};

static const char *const kind_names[] = {
    [SCHEMA_REAL] = "number",         [SCHEMA_INTEGER] = "whole number", [SCHEMA_TEXT] = "text",
    [SCHEMA_CHOICE] = "word",         [SCHEMA_VECTOR] = "vector",        [SCHEMA_FORMULA] = "formula",
    [SCHEMA_FORMULAS] = "3 formulas", [SCHEMA_BLOCK] = "block",          [SCHEMA_BRIEF] = "block or word",
    [SCHEMA_LIST] = "list",           [SCHEMA_SHAPE] = "shape",          [SCHEMA_FORM] = "shape",
    [SCHEMA_MOTION] = "motion",       [SCHEMA_NAMED] = "block",          [SCHEMA_OPTIONS] = "block"};

/* "number > 0", "wall, slip or open": what a value may be. */
static void describe_type(const SchemaKey *key, char text[], size_t size)
{
  size_t used = 0;

  if (key->choices)
    for (PetscInt i = 0; key->choices[i] && used < size; i++)
      used += snprintf(text + used, size - used, "%s%s", i ? ", " : "", key->choices[i]);
  else if (key->range == SCHEMA_POSITIVE)
    snprintf(text, size, "%s > 0", kind_names[key->kind]);
  else if (key->range == SCHEMA_NOT_NEGATIVE)
    snprintf(text, size, "%s >= 0", kind_names[key->kind]);
  else if (key->range == SCHEMA_BETWEEN)
    snprintf(text, size, "%s, %g to %g%s%s", kind_names[key->kind], (double)key->lowest, (double)key->highest,
             key->automatic ? ", or " : "", key->automatic ? key->automatic : "");
  else
    snprintf(text, size, "%s%s", kind_names[key->kind], key->range == SCHEMA_ENDLESS ? " or inf" : "");
}

static const char *describe_default(const SchemaKey *key)
{
  if (key->fallback)
    return key->fallback[0] ? key->fallback : "none";
  return key->kind == SCHEMA_BLOCK ? "" : "required";
}

static PetscBool is_block(const SchemaKey *key)
{
  return key->kind == SCHEMA_BLOCK || key->kind == SCHEMA_BRIEF || key->kind == SCHEMA_LIST ? PETSC_TRUE
                                                                                            : PETSC_FALSE;
}

typedef struct {
  const char *pattern;     /* null: all keys */
  PetscBool   in_meanings; /* it is looked for there instead of in paths */
  FILE       *file;
  PetscInt    count; /* of keys printed so far */
} Listing;

/* Large letters are as small ones, and a space of the pattern as "_". */
static PetscBool begins_with(const char text[], const char pattern[])
{
  for (; *pattern; text++, pattern++)
    if (tolower((unsigned char)*text) != tolower((unsigned char)*pattern) &&
        (*pattern != ' ' || *text != '_'))
      return PETSC_FALSE;
  return PETSC_TRUE;
}

static PetscBool is_wanted(const Listing *listing, const char path[], const char help[])
{
  const char *text = listing->in_meanings ? help : path;

  if (!listing->pattern)
    return PETSC_TRUE;
  for (; *text; text++)
    if (begins_with(text, listing->pattern))
      return PETSC_TRUE;
  return PETSC_FALSE;
}

static void print_keys(Listing *listing, const char path[], const SchemaKey keys[])
{
  for (const SchemaKey *key = keys; key->name; key++) {
    char name[PATH_LENGTH], inner[PATH_LENGTH + 2], type[PATH_LENGTH];

    snprintf(name, sizeof(name), "%s%s%s", path, path[0] ? "." : "", key->name);
    describe_type(key, type, sizeof(type));
    if (is_wanted(listing, name, key->help)) {
      fprintf(listing->file, "%s\n    %s%s%s%s; default: %s\n    %s\n", name, type, key->unit ? " [" : "",
              key->unit ? key->unit : "", key->unit ? "]" : "",
              describe_default(key)[0] ? describe_default(key) : "its keys'", key->help);
      listing->count++;
    }
    snprintf(inner, sizeof(inner), "%s%s", name, key->kind == SCHEMA_LIST ? "[]" : "");
    if (is_block(key))
      print_keys(listing, inner, key->keys);
  }
}

static void print_shapes(Listing *listing)
{
  for (const ShapeKeys *kind = ShapeKinds; kind->name; kind++) {
    char name[PATH_LENGTH];

    snprintf(name, sizeof(name), "shape.%s", kind->name);
    if (is_wanted(listing, name, kind->help)) {
      fprintf(listing->file, "%s\n    %s\n    %s\n", name, kind->keys ? "block" : "list of shapes",
              kind->help);
      listing->count++;
    }
    if (kind->keys)
      print_keys(listing, name, kind->keys);
  }
}

PetscErrorCode SceneKeysPrint(const char pattern[], FILE *file)
{
  Listing listing = {pattern, PETSC_FALSE, file, 0};

  PetscFunctionBegin;
  for (PetscInt turn = 0; turn < 2 && !listing.count; turn++) {
    listing.in_meanings = turn ? PETSC_TRUE : PETSC_FALSE;
    print_keys(&listing, "", SceneKeys);
    print_shapes(&listing);
    print_keys(&listing, "motion", MotionKeys);
  }
  PetscFunctionReturn(0);
}

static void print_cell(const char text[], FILE *file)
{
  for (; *text; text++) {
    if (*text == '|')
      fputc('\\', file);
    fputc(*text, file);
  }
}

static void print_table(const SchemaKey keys[], FILE *file)
{
  fprintf(file, "| key | value | unit | default | meaning |\n|---|---|---|---|---|\n");
  for (const SchemaKey *key = keys; key->name; key++) {
    char        type[PATH_LENGTH];
    const char *fallback = describe_default(key);

    describe_type(key, type, sizeof(type));
    fprintf(file, "| `%s` | ", key->name);
    print_cell(type, file);
    fprintf(file, " | %s | ", key->unit ? key->unit : "");
    if (key->fallback && key->fallback[0])
      fprintf(file, "`%s`", fallback);
    else
      fputs(fallback, file);
    fputs(" | ", file);
    print_cell(key->help, file);
    fputs(" |\n", file);
  }
  fputc('\n', file);
}

/* Up to the next space outside of backticks. */
static size_t word_length(const char text[])
{
  size_t    length = 0;
  PetscBool code = PETSC_FALSE;

  for (; text[length] && (code || text[length] != ' '); length++)
    if (text[length] == '`')
      code = code ? PETSC_FALSE : PETSC_TRUE;
  return length;
}

void print_paragraph(const char text[], FILE *file)
{
  enum { WIDTH = 118 };
  size_t column = 0;

  for (size_t length; (length = word_length(text)) > 0; text += length + (text[length] == ' ')) {
    if (column && column + 1 + length > WIDTH) {
      fputc('\n', file);
      column = 0;
    }
    fprintf(file, "%s%.*s", column ? " " : "", (int)length, text);
    column += length + (column ? 1 : 0);
  }
  fputs("\n\n", file);
}

/* As a sentence of its own. */
static void print_help(const char help[], const char more[], FILE *file)
{
  char sentence[1024];

  snprintf(sentence, sizeof(sentence), "%c%s.%s", toupper((unsigned char)help[0]), help + 1, more);
  print_paragraph(sentence, file);
}

static void print_sections(const char path[], const SchemaKey keys[], FILE *file)
{
  const SchemaKey *told = NULL; /* the sides share one table */

  for (const SchemaKey *key = keys; key->name; key++) {
    char        name[PATH_LENGTH];
    const char *help;

    if (!is_block(key) || key->keys == told)
      continue;
    told = key->keys;
    snprintf(name, sizeof(name), "%s%s%s%s", path, path[0] ? "." : "",
             key->kind == SCHEMA_BRIEF ? "SIDE" : key->name, key->kind == SCHEMA_LIST ? "[]" : "");
    help = key->kind == SCHEMA_BRIEF ? "one side; a bare word is its type" : key->help;
    fprintf(file, "## %s\n\n", name);
    print_help(help, "", file);
    print_table(key->keys, file);
    print_sections(name, key->keys, file);
  }
}

PetscErrorCode SceneInputsMarkdown(FILE *file)
{
  PetscFunctionBegin;
  fputs("# Scenes\n\n"
        "<!-- Written by `make inputs-doc` from the tables of keys in src/; a test compares the two. -->\n\n",
        file);
  print_paragraph(
      "A scene is a YAML file. `millrace check SCENE` reports every mistake in it; `--set KEY=VALUE` "
      "overrides "
      "any key, items of lists by number or name (`--set obstacles.0.shape.sphere.radius=0.2`). Units are "
      "SI. A "
      "vector is a list of three numbers; in two dimensions two suffice. Where a number is expected, "
      "arithmetic "
      "such as `2*pi` will do. A formula may use `x y z t pi`, `+ - * / ^`, comparisons, and `sin cos tan "
      "exp "
      "log sqrt abs min max pow floor tanh sinh cosh atan2 sign step if(c,a,b)`; put it in quotes where it "
      "holds a comma or begins with `*`. File names are relative to the file they stand in.",
      file);
  print_paragraph(
      "`let` gives names to values, `let: {radius: 0.1, speed: \"min(t, 1)\", near: 2*radius}`, which "
      "numbers "
      "and formulas below may use (`--set let.radius=0.2` changes them all). Anchors and merge keys of YAML "
      "work (`<<: *name`), and a block of the scene whose name begins with `x-` is not read: a place for "
      "anchors. `include: common.yaml`, or a list of files, takes the keys of other scenes, or parts of "
      "scenes, "
      "where this one has none: blocks are joined key by key, lists of blocks (`bodies`, `regions`) begin "
      "with "
      "the included ones, and of several files the later ones count more. None of the four is left in the "
      "resolved scene.",
      file);
  fputs("## The scene\n\n", file);
  print_table(SceneKeys, file);
  print_sections("", SceneKeys, file);
  print_substances(file);
  fputs(
      "## Shapes\n\nA shape is a block with one key, such as `{sphere: {center: [0, 0, 0], radius: 1}}`.\n\n",
      file);
  for (const ShapeKeys *kind = ShapeKinds; kind->name; kind++) {
    fprintf(file, "### %s\n\n", kind->name);
    print_help(kind->help, kind->keys ? "" : " Its value is a list of shapes.", file);
    if (kind->keys)
      print_table(kind->keys, file);
  }
  fputs("## Motion\n\nVelocity and spin, or translation and rotation, or keyframes.\n\n", file);
  print_table(MotionKeys, file);
  print_sections("motion", MotionKeys, file);
  PetscFunctionReturn(0);
}
