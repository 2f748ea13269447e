/* The version that a program runs with. */
#include <millrace/version.h>

const char *millrace_version(void)
{
  return MILLRACE_VERSION;
}
