/* The tables from which scenes are read, checked and documented: a room keeps one of its own keys. */
#ifndef MILLRACE_SCHEMA_H
#define MILLRACE_SCHEMA_H

#include <millrace/api.h>
#include <millrace/base.h>

MILLRACE_API_BEGIN

/* What the value of a scene key is, and the C type behind it. */
typedef enum {
  SCHEMA_REAL,
  SCHEMA_INTEGER,  /* PetscInt */
  SCHEMA_TEXT,     /* char *, owned */
  SCHEMA_CHOICE,   /* an enumeration: index into `choices` */
  SCHEMA_VECTOR,   /* Vector3 */
  SCHEMA_FORMULA,  /* Formula, owned */
  SCHEMA_FORMULAS, /* Formula[MILLRACE_DIM], owned */
  SCHEMA_BLOCK,    /* the struct that `keys` describe */
  SCHEMA_BRIEF,    /* a block of which a bare value gives the first key */
  SCHEMA_LIST,     /* PetscInt count at `count`, pointer to an array of blocks of `size` at `offset` */
  SCHEMA_SHAPE,    /* the rest is read by scene/: a Shape, */
  SCHEMA_FORM,     /* a Shape that may be an open surface, */
  SCHEMA_MOTION,   /* a Motion, */
  SCHEMA_NAMED,    /* Formula *, one per scalar of the fluid, */
  SCHEMA_OPTIONS   /* and options that are handed to PETSc */
} SchemaKind;

typedef enum {
  SCHEMA_FINITE,
  SCHEMA_POSITIVE,
  SCHEMA_NOT_NEGATIVE,
  SCHEMA_BETWEEN,
  SCHEMA_ENDLESS
} SchemaRange;

/* One key of a scene. A room keeps a table of its own, ended by a null name. */
typedef struct SchemaKey SchemaKey;
struct SchemaKey {
  const char        *name;
  SchemaKind         kind;
  size_t             offset;   /* in the room's config struct */
  const char        *fallback; /* as one would write it; null: required; "": may be left out */
  const char        *help;
  const char        *unit;
  SchemaRange        range;
  PetscReal          lowest, highest; /* of SCHEMA_BETWEEN, both allowed; ENDLESS admits inf */
  const char *const *choices;         /* null-terminated */
  const char        *automatic;       /* of SCHEMA_INTEGER: the word for -1, where the program decides */
  const SchemaKey   *keys;
  size_t             size, count;
};

/* Gives every key of the table that has a default its value in `config`, a zeroed struct of the table's room,
   exactly as a scene that leaves the key out would. Keys that a scene must have, lists, shapes, motions and
   blocks that may be left out stay as they are. Texts and formulas are allocated; ConfigDestroyDefaults frees
   those of the struct, also ones that the caller has put in their place. Not collective. */
PetscErrorCode ConfigSetDefaults(const SchemaKey keys[], void *config);
PetscErrorCode ConfigDestroyDefaults(const SchemaKey keys[], void *config);

MILLRACE_API_END

#endif
