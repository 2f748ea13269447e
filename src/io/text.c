/* Texts that grow, and paths. */
#include "io_impl.h"
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>

static PetscErrorCode MakeRoom(Text *text, size_t more)
{
  PetscFunctionBegin;
  if (text->length + more + 1 > text->capacity) {
    text->capacity = 2 * (text->length + more + 1);
    PetscCall(PetscRealloc(text->capacity, &text->data));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode TextAppend(Text *text, const char format[], ...)
{
  va_list arguments;
  int     length;

  PetscFunctionBegin;
  va_start(arguments, format);
  length = vsnprintf(NULL, 0, format, arguments);
  va_end(arguments);
  PetscCall(MakeRoom(text, (size_t)length));
  va_start(arguments, format);
  vsnprintf(text->data + text->length, (size_t)length + 1, format, arguments);
  va_end(arguments);
  text->length += (size_t)length;
  PetscFunctionReturn(0);
}

PetscErrorCode TextDestroy(Text *text)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(text->data));
  text->length = text->capacity = 0;
  PetscFunctionReturn(0);
}

PetscErrorCode TextRead(Text *text, const char path[])
{
  const int descriptor = open_regular(path, O_RDONLY);
  FILE     *file = descriptor < 0 ? NULL : fdopen(descriptor, "rb");
  size_t    got;

  PetscFunctionBegin;
  if (!file)
    PetscFunctionReturn(0);
  do {
    PetscCall(MakeRoom(text, 1 << 16));
    got = fread(text->data + text->length, 1, 1 << 16, file);
    text->length += got;
    text->data[text->length] = '\0';
  } while (got > 0);
  fclose(file);
  PetscFunctionReturn(0);
}

PetscErrorCode JoinPath(const char directory[], const char name[], char path[])
{
  PetscFunctionBegin;
  PetscCheck(strlen(directory) + strlen(name) + sizeof("/.tmp") <= PETSC_MAX_PATH_LEN, PETSC_COMM_SELF,
             PETSC_ERR_ARG_SIZ, "The path %s/%s is too long", directory, name);
  PetscCall(PetscSNPrintf(path, PETSC_MAX_PATH_LEN, "%s/%s", directory, name));
  PetscFunctionReturn(0);
}
