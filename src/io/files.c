/* Atomic files on one rank: a name appears only when its content is on the disk. */
#define _GNU_SOURCE
#include "io_impl.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

int make_directories(const char path[])
{
  char        part[PETSC_MAX_PATH_LEN];
  struct stat status;

  if (strlen(path) >= sizeof(part))
    return ENAMETOOLONG;
  strcpy(part, path);
  for (char *c = part + 1;; c++) {
    const char kept = *c;

    if (kept != '/' && kept != '\0')
      continue;
    *c = '\0';
    if (mkdir(part, 0777) && errno != EEXIST)
      return errno;
    if (kept == '\0')
      break;
    *c = kept;
  }
  if (stat(path, &status))
    return errno;
  return S_ISDIR(status.st_mode) ? 0 : ENOTDIR;
}

int sync_directory_of(const char path[])
{
  char        directory[PETSC_MAX_PATH_LEN];
  const char *slash = strrchr(path, '/');
  int         file, problem = 0;

  if (!slash)
    strcpy(directory, ".");
  else
    snprintf(directory, sizeof(directory), "%.*s", (int)(slash - path) + 1, path);
  file = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0)
    return errno;
  /* some file systems cannot synchronise a directory and say so */
  if (fsync(file) && errno != EINVAL && errno != ENOTSUP)
    problem = errno;
  close(file);
  return problem;
}

int publish_file(const char temporary[], const char path[])
{
  const int file = open(temporary, O_RDWR | O_CLOEXEC);
  int       problem = 0;

  if (file < 0)
    return errno;
  if (fsync(file))
    problem = errno;
  if (close(file) && !problem)
    problem = errno;
  if (!problem && rename(temporary, path))
    problem = errno;
  return problem ? problem : sync_directory_of(path);
}

int reserve_file(const char path[], long long start, long long length)
{
  const int      file = open(path, O_WRONLY | O_CLOEXEC);
  struct statvfs status;
  int            problem = 0;

  if (file < 0)
    return errno;
  if (fallocate(file, 0, start, length))
    problem = errno;
  /* where the file system cannot reserve, there is at least room now */
  if (problem == EOPNOTSUPP || problem == ENOSYS) {
    problem = 0;
    if (!fstatvfs(file, &status) && (long long)(status.f_bavail * status.f_frsize) < length)
      problem = ENOSPC;
  }
  close(file);
  return problem;
}

int open_regular(const char path[], int flags)
{
  const int   file = open(path, flags | O_NONBLOCK | O_CLOEXEC, 0666);
  struct stat status;

  if (file < 0)
    return file;
  if (fstat(file, &status) || !S_ISREG(status.st_mode)) {
    close(file);
    errno = EINVAL;
    return -1;
  }
  return file;
}

int write_all_at(int file, const char content[], size_t length, long long offset)
{
  while (length > 0) {
    const ssize_t done = pwrite(file, content, length, offset);

    if (done < 0 && errno == EINTR)
      continue;
    if (done < 0)
      return errno;
    content += done;
    offset += done;
    length -= (size_t)done;
  }
  return 0;
}

/* Closes what was written, with `problem` or 0, and gives it its name. */
static int finish_file(int file, int problem, const char temporary[], const char path[])
{
  if (close(file) && !problem)
    problem = errno;
  if (!problem)
    problem = publish_file(temporary, path);
  if (problem)
    unlink(temporary);
  return problem;
}

int write_file_atomically(const char path[], const char content[], size_t length)
{
  char temporary[PETSC_MAX_PATH_LEN];
  int  file;

  if (strlen(path) + sizeof(".tmp") > sizeof(temporary))
    return ENAMETOOLONG;
  strcpy(temporary, path);
  strcat(temporary, ".tmp");
  file = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (file < 0)
    return errno;
  return finish_file(file, write_all_at(file, content, length, 0), temporary, path);
}

static int copy_content(int from, int to)
{
  static const size_t piece = 1 << 20;
  char               *buffer = malloc(piece);
  long long           offset = 0;
  ssize_t             got = 0;
  int                 problem = buffer ? 0 : ENOMEM;

  while (!problem && (got = pread(from, buffer, piece, offset)) != 0) {
    problem = got < 0 ? errno : write_all_at(to, buffer, (size_t)got, offset);
    offset += got;
  }
  free(buffer);
  return problem;
}

int copy_file_atomically(const char from[], const char path[])
{
  char temporary[PETSC_MAX_PATH_LEN];
  int  source, file, problem;

  if (strlen(path) + sizeof(".tmp") > sizeof(temporary))
    return ENAMETOOLONG;
  strcpy(temporary, path);
  strcat(temporary, ".tmp");
  source = open_regular(from, O_RDONLY);
  if (source < 0)
    return errno;
  file = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
  problem = file < 0 ? errno : copy_content(source, file);
  close(source);
  return file < 0 ? problem : finish_file(file, problem, temporary, path);
}

long long number_in_name(const char name[], const char start[], int digits, const char end[])
{
  const size_t head = strlen(start), count = strlen(name) < head ? 0 : strspn(name + head, "0123456789");

  if (strncmp(name, start, head) || count < (size_t)digits || count > 18 || strcmp(name + head + count, end))
    return -1;
  return strtoll(name + head, NULL, 10);
}

void visit_names(const char directory[], const char start[], const char end[], NameVisitor visit,
                 void *context)
{
  DIR           *listing = opendir(directory);
  struct dirent *entry;

  if (!listing)
    return;
  while ((entry = readdir(listing))) {
    const size_t length = strlen(entry->d_name), end_length = strlen(end);

    if (strncmp(entry->d_name, start, strlen(start)) || length < end_length)
      continue;
    if (!strcmp(entry->d_name + length - end_length, end))
      visit(directory, entry->d_name, context);
  }
  closedir(listing);
}
