/* Messages about a configuration, with the place of the mistake as a path of keys. */
#include <millrace/base.h>

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

PetscErrorCode MessageAtKey(char message[], size_t size, const char path[], const char item[],
                            const char format[], ...)
{
  size_t  length;
  va_list values;

  PetscFunctionBegin;
  if (item)
    snprintf(message, size, "%s[%s]: ", path, item);
  else
    snprintf(message, size, "%s: ", path);
  length = strlen(message);
  va_start(values, format);
  vsnprintf(message + length, size - length, format, values);
  va_end(values);
  PetscFunctionReturn(0);
}

const char *message_text(const char message[])
{
  const char *at = message;

  while (islower((unsigned char)*at) || *at == '_' || *at == '.')
    at++;
  if (at > message && *at == '[')
    at += strcspn(at, "]\n") + 1;
  return at > message && at[0] == ':' && at[1] == ' ' ? at + 2 : message;
}
