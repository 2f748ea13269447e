/* What every room speaks: 3-vectors, formulas of space and time, and the tables of scene keys. */
#ifndef MILLRACE_BASE_H
#define MILLRACE_BASE_H

#include <petscksp.h> /* has a parameter called X, so it comes before ours */

enum { X, Y, Z, DIM };

/* The hot loops are compiled for wider vectors too and chosen when the program starts. */
#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__) &&                 \
    !defined(__SANITIZE_ADDRESS__)
#define VECTOR_CLONES __attribute__((optimize("O3"), target_clones("arch=x86-64-v3", "default")))
#else
#define VECTOR_CLONES
#endif

typedef struct {
  PetscReal at[DIM];
} Vector3;

static inline Vector3 vector3(PetscReal x, PetscReal y, PetscReal z)
{
  return (Vector3){{x, y, z}};
}
static inline Vector3 vector3_add(Vector3 a, Vector3 b)
{
  return vector3(a.at[X] + b.at[X], a.at[Y] + b.at[Y], a.at[Z] + b.at[Z]);
}
static inline Vector3 vector3_subtract(Vector3 a, Vector3 b)
{
  return vector3(a.at[X] - b.at[X], a.at[Y] - b.at[Y], a.at[Z] - b.at[Z]);
}
static inline Vector3 vector3_scale(PetscReal s, Vector3 a)
{
  return vector3(s * a.at[X], s * a.at[Y], s * a.at[Z]);
}
static inline PetscReal vector3_dot(Vector3 a, Vector3 b)
{
  return a.at[X] * b.at[X] + a.at[Y] * b.at[Y] + a.at[Z] * b.at[Z];
}
static inline Vector3 vector3_cross(Vector3 a, Vector3 b)
{
  return vector3(a.at[Y] * b.at[Z] - a.at[Z] * b.at[Y], a.at[Z] * b.at[X] - a.at[X] * b.at[Z],
                 a.at[X] * b.at[Y] - a.at[Y] * b.at[X]);
}
static inline PetscReal vector3_norm(Vector3 a)
{
  return PetscSqrtReal(vector3_dot(a, a));
}

/* A unit quaternion: `scalar` + `vector`. */
typedef struct {
  PetscReal scalar;
  Vector3   vector;
} Quaternion;

Quaternion quaternion_from_rotation(Vector3 rotation); /* axis times angle in radians */
Quaternion quaternion_multiply(Quaternion a, Quaternion b);
Quaternion quaternion_conjugate(Quaternion q);
Quaternion quaternion_slerp(Quaternion a, Quaternion b, PetscReal fraction);
Vector3    quaternion_rotate(Quaternion q, Vector3 v);

/* A formula in x, y, z and t such as "4*0.3*y*(0.41-y)/0.41^2". A null Formula is zero everywhere. */
typedef struct _p_Formula *Formula;

/* On a mistake `*formula` is null and `message` says what and where; that is not an error code. */
PetscErrorCode FormulaCreate(const char text[], Formula *formula, char message[], size_t message_size);
PetscErrorCode FormulaDestroy(Formula *formula);
PetscReal      formula_value(Formula formula, Vector3 point, PetscReal time);
PetscBool      formula_uses_time(Formula formula);
PetscBool      formula_uses_direction(Formula formula, PetscInt direction);
PetscBool      formula_is_constant(Formula formula);
const char    *formula_text(Formula formula);

/* The word of a null-terminated list that was probably meant, or null. */
const char *closest_word(const char word[], const char *const words[]);

/* What the value of a scene key is, and the C type behind it. */
typedef enum {
  SCHEMA_REAL,
  SCHEMA_INTEGER,  /* PetscInt */
  SCHEMA_TEXT,     /* char *, owned */
  SCHEMA_CHOICE,   /* an enumeration: index into `choices` */
  SCHEMA_VECTOR,   /* Vector3 */
  SCHEMA_FORMULA,  /* Formula, owned */
  SCHEMA_FORMULAS, /* Formula[DIM], owned */
  SCHEMA_BLOCK,    /* the struct that `keys` describe */
  SCHEMA_BRIEF,    /* a block of which a bare value gives the first key */
  SCHEMA_LIST,     /* PetscInt count at `count`, pointer to an array of blocks of `size` at `offset` */
  SCHEMA_SHAPE,    /* the rest is read by scene/: a Shape, */
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
  const SchemaKey   *keys;
  size_t             size, count;
};

#endif
