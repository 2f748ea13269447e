/* A file in memory, its words and numbers, and the message about its first mistake. */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "geometry_impl.h"

static PetscErrorCode ReadAll(FILE *file, Source *source)
{
  size_t capacity = 1 << 16, got;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(capacity, &source->bytes));
  while ((got = fread(source->bytes + source->size, 1, capacity - source->size - 1, file)) > 0) {
    source->size += got;
    if (source->size + 1 < capacity)
      continue;
    capacity *= 2;
    PetscCall(PetscRealloc(capacity, &source->bytes));
  }
  source->bytes[source->size] = '\0';
  if (ferror(file))
    source_fail(source, 0, "cannot be read: %s", strerror(errno));
  PetscFunctionReturn(0);
}

PetscErrorCode SourceOpen(const char path[], char message[], size_t message_size, Source *source)
{
  FILE *file;

  PetscFunctionBegin;
  *source = (Source){.path = path, .line = 1, .message = message, .message_size = message_size};
  file = fopen(path, "rb");
  if (!file) {
    source_fail(source, 0, "cannot be opened: %s", strerror(errno));
    PetscFunctionReturn(0);
  }
  PetscCall(ReadAll(file, source));
  fclose(file);
  PetscFunctionReturn(0);
}

PetscErrorCode SourceClose(Source *source)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(source->bytes));
  PetscFunctionReturn(0);
}

void source_fail(Source *source, PetscInt origin, const char format[], ...)
{
  char    where[64] = "", what[512];
  va_list arguments;

  if (source->failed)
    return;
  source->failed = PETSC_TRUE;
  va_start(arguments, format);
  vsnprintf(what, sizeof what, format, arguments);
  va_end(arguments);
  if (origin > 0 && source->part) {
    snprintf(where, sizeof where, " %s %" PetscInt_FMT ":", source->part, origin);
  } else if (origin > 0) {
    snprintf(where, sizeof where, "%" PetscInt_FMT ":", origin);
  }
  snprintf(source->message, source->message_size, "%s:%s %s", source->path, where, what);
}

static PetscBool is_blank(char c)
{
  return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f' ? PETSC_TRUE : PETSC_FALSE;
}

/* Past blanks, and past line ends that a backslash takes away. */
static void skip_blanks(Source *source)
{
  while (source->at < source->size) {
    const char *here = source->bytes + source->at; /* a zero follows the last byte */
    const int   escaped = here[0] != '\\'                      ? 0
                          : here[1] == '\n'                    ? 2
                          : here[1] == '\r' && here[2] == '\n' ? 3
                                                               : 0;

    if (!escaped && !is_blank(here[0]))
      return;
    source->at += escaped ? (size_t)escaped : 1;
    if (escaped)
      source->line++;
  }
}

PetscBool source_word(Source *source, Word *word)
{
  size_t length = 0;

  skip_blanks(source);
  word->is_odd = PETSC_FALSE;
  for (; source->at < source->size; source->at++) {
    const char c = source->bytes[source->at];

    if (c == '\n' || is_blank(c))
      break;
    if (length + 1 < sizeof word->text && c != '\0')
      word->text[length++] = c;
    else
      word->is_odd = PETSC_TRUE;
  }
  word->text[length] = '\0';
  return length > 0 || word->is_odd ? PETSC_TRUE : PETSC_FALSE;
}

void source_skip_line(Source *source)
{
  const char *start = source->bytes + source->at;
  const char *end = source->at < source->size ? memchr(start, '\n', source->size - source->at) : NULL;

  if (end)
    source->line++;
  source->at = end ? (size_t)(end - source->bytes) + 1 : source->size;
}

void source_settle(Source *source)
{
  skip_blanks(source);
  while (source->at < source->size && source->bytes[source->at] == '\n') {
    source_skip_line(source);
    skip_blanks(source);
  }
}

PetscBool source_word_any_line(Source *source, Word *word)
{
  source_settle(source);
  return source_word(source, word);
}

PetscBool word_is(const Word *word, const char text[])
{
  return !word->is_odd && strcasecmp(word->text, text) == 0 ? PETSC_TRUE : PETSC_FALSE;
}

PetscBool word_is_real(const Word *word, PetscReal *value)
{
  char *end;

  *value = strtod(word->text, &end);
  return !word->is_odd && end != word->text && *end == '\0' ? PETSC_TRUE : PETSC_FALSE;
}

/* What of the word can be shown in a message. */
static Word printable(const Word *word)
{
  Word shown = *word;

  for (char *c = shown.text; *c; c++) {
    if (!isprint((unsigned char)*c))
      *c = '?';
  }
  return shown;
}

PetscBool source_coordinate(Source *source, const Word *word, PetscReal *value)
{
  if (word_is_real(word, value) && coordinate_is_usable(*value))
    return PETSC_TRUE;
  source_fail(source, source->line, "expected a finite number up to %g, not \"%s\"", MILLRACE_MAX_COORDINATE,
              printable(word).text);
  return PETSC_FALSE;
}

PetscBool source_integer(Source *source, const Word *word, PetscInt *value)
{
  char           *end;
  const long long number = strtoll(word->text, &end, 10);

  if (!word->is_odd && end != word->text && *end == '\0' && number >= -(long long)PETSC_MAX_INT &&
      number <= (long long)PETSC_MAX_INT) {
    *value = (PetscInt)number;
    return PETSC_TRUE;
  }
  source_fail(source, source->line, "expected a whole number up to %" PetscInt_FMT ", not \"%s\"",
              PETSC_MAX_INT, printable(word).text);
  return PETSC_FALSE;
}

PetscBool source_point(Source *source, Vector3 *point)
{
  for (int d = 0; d < DIM; d++) {
    Word word;

    if (!source_word_any_line(source, &word)) {
      source_fail(source, source->line, "the file ends inside a vertex: it seems to be cut short");
      return PETSC_FALSE;
    }
    if (!source_coordinate(source, &word, &point->at[d]))
      return PETSC_FALSE;
  }
  return PETSC_TRUE;
}
