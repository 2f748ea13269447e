/* Files that are read whole and then from front to back, as text or bytes, with the place of a mistake. */
#ifndef MILLRACE_SOURCE_H
#define MILLRACE_SOURCE_H

#include <millrace/api.h>
#include <millrace/base.h>

MILLRACE_API_BEGIN

/* Beyond this the volume of a triangle's tetrahedron could overflow. */
#define MILLRACE_MAX_COORDINATE 1e30

static inline PetscBool coordinate_is_usable(PetscReal x)
{
  return PetscAbsReal(x) <= MILLRACE_MAX_COORDINATE ? PETSC_TRUE : PETSC_FALSE; /* false for nan */
}

typedef struct {
  const char *path;  /* borrowed */
  char       *bytes; /* with a zero behind the last */
  size_t      size, at;
  PetscInt    line;
  const char *part;        /* what an origin counts in a file that is not a text: "facet"; null in a text */
  PetscInt    first_index; /* how the format numbers its first vertex */
  PetscBool   failed;
  char       *message; /* borrowed; what failed first */
  size_t      message_size;
} Source;

/* A file that cannot be read has failed. Not collective. */
PetscErrorCode SourceOpen(const char path[], char message[], size_t message_size, Source *source);
PetscErrorCode SourceClose(Source *source);
/* Notes the mistake: `origin` is a line of a text, else the number of a part; 0 for the whole file. */
void source_fail(Source *source, PetscInt origin, const char format[], ...) PETSC_ATTRIBUTE_FORMAT(3, 4);

/* A word of a text; one that is too long or holds a zero byte is never a number. */
typedef struct {
  char      text[80];
  PetscBool is_odd;
} Word;

PetscBool source_word(Source *source, Word *word);          /* false at the end of the line */
PetscBool source_word_any_line(Source *source, Word *word); /* false at the end of the file */
void      source_skip_line(Source *source);
void      source_settle(Source *source);                /* onto the next word, whatever its line */
PetscBool word_is(const Word *word, const char text[]); /* in upper or lower case */
PetscBool word_is_real(const Word *word, PetscReal *value);
/* False, with the failure noted, unless the word is a usable coordinate, or an integer within PetscInt. */
PetscBool source_coordinate(Source *source, const Word *word, PetscReal *value);
PetscBool source_integer(Source *source, const Word *word, PetscInt *value);
/* Three coordinates, on this line or the following ones. */
PetscBool source_point(Source *source, Vector3 *point);

MILLRACE_API_END

#endif
