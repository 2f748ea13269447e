/* What makes a declaration part of the library's interface. */
#ifndef MILLRACE_API_H
#define MILLRACE_API_H

/* The library is compiled with hidden symbols; what stands between the two is visible to programs that link
   it, and has C linkage in C++. Every public header has its declarations between them, and its includes
   before. */
#ifdef __GNUC__
#define MILLRACE_VISIBLE _Pragma("GCC visibility push(default)")
#define MILLRACE_HIDDEN _Pragma("GCC visibility pop")
#else
#define MILLRACE_VISIBLE
#define MILLRACE_HIDDEN
#endif

#ifdef __cplusplus
#define MILLRACE_API_BEGIN                                                                                   \
  MILLRACE_VISIBLE extern "C"                                                                                \
  {
#define MILLRACE_API_END                                                                                     \
  }                                                                                                          \
  MILLRACE_HIDDEN
#else
#define MILLRACE_API_BEGIN MILLRACE_VISIBLE
#define MILLRACE_API_END MILLRACE_HIDDEN
#endif

#endif
