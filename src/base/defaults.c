/* The defaults of a table of keys, for programs that fill a config struct in C: the same texts, read by the
   same rules, as those that the reader of scenes adds where a scene leaves a key out. */
#include <millrace/schema.h>

#include <stdlib.h>
#include <string.h>

enum { DEFAULT_LENGTH = 256 };

static PetscErrorCode SetReal(const SchemaKey *key, const char text[], PetscReal *value)
{
  const PetscBool negative = text[0] == '-' ? PETSC_TRUE : PETSC_FALSE;
  Formula         formula;
  char            message[DEFAULT_LENGTH];

  PetscFunctionBegin;
  if (!strcmp(text + (negative ? 1 : 0), "inf")) {
    *value = negative ? -PETSC_INFINITY : PETSC_INFINITY;
    PetscFunctionReturn(0);
  }
  PetscCall(FormulaCreate(text, &formula, message, sizeof(message)));
  PetscCheck(formula, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The default of %s is no number: %s", key->name,
             message);
  *value = formula_value(formula, vector3(0, 0, 0), 0);
  PetscCall(FormulaDestroy(&formula));
  PetscFunctionReturn(0);
}

static PetscErrorCode SetFormula(const SchemaKey *key, const char text[], Formula *value)
{
  char message[DEFAULT_LENGTH];

  PetscFunctionBegin;
  PetscCall(FormulaCreate(text, value, message, sizeof(message)));
  PetscCheck(*value, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The default of %s is no formula: %s", key->name,
             message);
  PetscFunctionReturn(0);
}

static PetscErrorCode SetChoice(const SchemaKey *key, const char text[], int *value)
{
  PetscFunctionBegin;
  *value = 0;
  while (key->choices[*value] && strcmp(key->choices[*value], text))
    ++*value;
  PetscCheck(key->choices[*value], PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "The default of %s is none of its words: %s", key->name, text);
  PetscFunctionReturn(0);
}

/* A text in quotes without them. */
static PetscErrorCode SetText(const char text[], char **value)
{
  const size_t quoted = text[0] == '"' ? 1 : 0;

  PetscFunctionBegin;
  PetscCall(PetscStrallocpy(text + quoted, value));
  if (quoted)
    (*value)[strlen(*value) - 1] = '\0';
  PetscFunctionReturn(0);
}

/* One key from the text of a value that is no list. */
static PetscErrorCode SetValue(const SchemaKey *key, const char text[], char *value)
{
  PetscFunctionBegin;
  if (key->kind == SCHEMA_REAL)
    PetscCall(SetReal(key, text, (PetscReal *)value));
  else if (key->kind == SCHEMA_INTEGER)
    *(PetscInt *)value =
        key->automatic && !strcmp(text, key->automatic) ? -1 : (PetscInt)strtol(text, NULL, 10);
  else if (key->kind == SCHEMA_TEXT)
    PetscCall(SetText(text, (char **)value));
  else if (key->kind == SCHEMA_CHOICE)
    PetscCall(SetChoice(key, text, (int *)value));
  else if (key->kind == SCHEMA_FORMULA)
    PetscCall(SetFormula(key, text, (Formula *)value));
  PetscFunctionReturn(0);
}

/* "[0, 0, 1]" for a vector or for three formulas. */
static PetscErrorCode SetComponents(const SchemaKey *key, char *value)
{
  char        text[DEFAULT_LENGTH];
  const char *rest = key->fallback + 1;

  PetscFunctionBegin;
  for (PetscInt d = 0; d < DIM && *rest && *rest != ']'; d++) {
    const size_t length = strcspn(rest, ",]");

    PetscCheck(length < sizeof(text), PETSC_COMM_SELF, PETSC_ERR_PLIB, "The default of %s is too long",
               key->name);
    memcpy(text, rest, length);
    text[length] = '\0';
    if (key->kind == SCHEMA_VECTOR)
      PetscCall(SetReal(key, text, &((Vector3 *)value)->at[d]));
    else
      PetscCall(SetFormula(key, text, &((Formula *)value)[d]));
    rest += length;
    rest += strspn(rest, ", ");
  }
  PetscFunctionReturn(0);
}

PetscErrorCode ConfigSetDefaults(const SchemaKey keys[], void *config)
{
  PetscFunctionBegin;
  for (const SchemaKey *key = keys; key->name; key++) {
    char *const value = (char *)config + key->offset;

    if ((key->kind == SCHEMA_BLOCK && !key->fallback) || (key->kind == SCHEMA_BRIEF && key->fallback))
      PetscCall(ConfigSetDefaults(key->keys, value));
    if (!key->fallback || !key->fallback[0])
      continue;
    if (key->kind == SCHEMA_BRIEF)
      PetscCall(SetValue(&key->keys[0], key->fallback, value + key->keys[0].offset));
    else if (key->kind == SCHEMA_VECTOR || key->kind == SCHEMA_FORMULAS)
      PetscCall(SetComponents(key, value));
    else
      PetscCall(SetValue(key, key->fallback, value));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode ConfigDestroyDefaults(const SchemaKey keys[], void *config)
{
  PetscFunctionBegin;
  for (const SchemaKey *key = keys; key->name; key++) {
    char *const    value = (char *)config + key->offset;
    const PetscInt formulas = key->kind == SCHEMA_FORMULA ? 1 : key->kind == SCHEMA_FORMULAS ? DIM : 0;

    for (PetscInt f = 0; f < formulas; f++)
      PetscCall(FormulaDestroy(&((Formula *)value)[f]));
    if (key->kind == SCHEMA_TEXT)
      PetscCall(PetscFree(*(char **)value));
    if (key->kind == SCHEMA_BLOCK || key->kind == SCHEMA_BRIEF)
      PetscCall(ConfigDestroyDefaults(key->keys, value));
  }
  PetscFunctionReturn(0);
}
