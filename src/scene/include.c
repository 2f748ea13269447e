/* The files of a scene: the one that is run, and those that it includes, which are laid under it.

   A value that both have is that of the including file. Blocks are joined key by key, and lists of blocks
   (bodies, regions, ...) one after the other, the included ones first. Of several files that are included the
   later ones lie over the earlier ones. */
#include "scene_impl.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { LARGEST_FILE = 4 << 20 };

/* The whole file, or a message. */
static PetscErrorCode LoadFile(const char path[], char **text, char message[MESSAGE_LENGTH])
{
  FILE  *file = fopen(path, "rb");
  size_t length = 0;

  PetscFunctionBegin;
  *text = NULL;
  message[0] = '\0';
  if (!file) {
    snprintf(message, MESSAGE_LENGTH, "the file cannot be opened: %s", strerror(errno));
    PetscFunctionReturn(0);
  }
  PetscCall(PetscMalloc1(LARGEST_FILE + 1, text));
  length = fread(*text, 1, LARGEST_FILE + 1, file);
  if (ferror(file))
    snprintf(message, MESSAGE_LENGTH, "the file cannot be read: %s", strerror(errno));
  else if (length > LARGEST_FILE)
    snprintf(message, MESSAGE_LENGTH, "the file is larger than 4 MB; is it a scene?");
  else if (memchr(*text, '\0', length))
    snprintf(message, MESSAGE_LENGTH, "the file is binary; is it a scene?");
  fclose(file);
  if (message[0])
    PetscCall(PetscFree(*text));
  else
    (*text)[length] = '\0';
  PetscFunctionReturn(0);
}

/* What the first rank has; a null text stays null. */
static PetscErrorCode ShareText(MPI_Comm comm, const char text[], char **shared)
{
  PetscMPIInt rank, length = text ? (PetscMPIInt)strlen(text) : -1;

  PetscFunctionBegin;
  *shared = NULL;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Bcast(&length, 1, MPI_INT, 0, comm));
  if (length < 0)
    PetscFunctionReturn(0);
  PetscCall(PetscMalloc1(length + 1, shared));
  if (!rank)
    PetscCall(PetscArraycpy(*shared, text, length + 1));
  PetscCallMPI(MPI_Bcast(*shared, length + 1, MPI_CHAR, 0, comm));
  PetscFunctionReturn(0);
}

/* The directory of `path` in full, with its final slash. */
static PetscErrorCode GetDirectory(const char path[], char **directory)
{
  char        start[PETSC_MAX_PATH_LEN], full[PETSC_MAX_PATH_LEN];
  const char *slash = strrchr(path, '/');

  PetscFunctionBegin;
  snprintf(start, sizeof(start), "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
  PetscCall(PetscGetFullPath(start, full, sizeof(full) - 1));
  if (full[0] && full[strlen(full) - 1] != '/')
    strcat(full, "/");
  PetscCall(PetscStrallocpy(full, directory));
  PetscFunctionReturn(0);
}

/* Takes `text`. */
static PetscErrorCode AddFile(Scene scene, const char name[], const char path[], char **text)
{
  SceneFile *file = &scene->files[scene->file_count++];

  PetscFunctionBegin;
  file->includer = -1;
  file->text = *text;
  *text = NULL;
  PetscCall(PetscStrallocpy(name, &file->name));
  PetscCall(PetscStrallocpy(path, &file->path));
  PetscCall(GetDirectory(path, &file->directory));
  PetscFunctionReturn(0);
}

PetscErrorCode SceneAddText(Scene scene, const char text[])
{
  char *shared;

  PetscFunctionBegin;
  PetscCall(ShareText(scene->comm, text, &shared));
  PetscCheck(shared, scene->comm, PETSC_ERR_ARG_NULL, "The first rank has no text");
  PetscCall(AddFile(scene, scene->name, "./", &shared));
  PetscFunctionReturn(0);
}

/* The first rank's file for everybody, or a null text and the first rank's message. */
static PetscErrorCode LoadShared(MPI_Comm comm, const char path[], char **text, char message[MESSAGE_LENGTH])
{
  PetscMPIInt rank;
  char       *own = NULL;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  if (!rank && !message[0])
    PetscCall(LoadFile(path, &own, message));
  PetscCallMPI(MPI_Bcast(message, MESSAGE_LENGTH, MPI_CHAR, 0, comm));
  PetscCall(ShareText(comm, own, text));
  PetscCall(PetscFree(own));
  PetscFunctionReturn(0);
}

PetscErrorCode SceneAddFile(Scene scene, const char path[])
{
  char message[MESSAGE_LENGTH] = "", *text, *real, *full;

  PetscFunctionBegin;
  PetscCall(LoadShared(scene->comm, path, &text, message));
  if (!text) {
    PetscCall(ProblemAdd(scene, NULL, PROBLEM_ERROR, "%s", message));
    PetscFunctionReturn(0);
  }
  PetscCall(AddFile(scene, path, path, &text));
  real = realpath(path, NULL);
  PetscCall(ShareText(scene->comm, real ? real : path, &full));
  free(real);
  PetscCall(PetscFree(scene->files[0].path));
  scene->files[0].path = full;
  PetscFunctionReturn(0);
}

/* A list whose items are blocks can be made longer; one of numbers is a vector. */
static PetscBool is_list_of_blocks(const Node *node)
{
  return node->kind == NODE_LIST && node->first && node->first->kind == NODE_MAP ? PETSC_TRUE : PETSC_FALSE;
}

static void move_children(Node *from, Node *to)
{
  while (from->first) {
    Node *child = from->first;

    node_detach(child);
    node_append(to, child);
  }
}

/* What is missing in a joined block is missing in the including file's. */
static void take_place(Node *node, const Node *from)
{
  node->file = from->file;
  node->line = from->line;
  node->column = from->column;
  node->key_line = from->key_line;
  node->key_column = from->key_column;
}

/* Takes `over`. */
static PetscErrorCode LayOver(Node *base, Node *over)
{
  PetscFunctionBegin;
  take_place(base, over);
  while (over->first) {
    Node *child = over->first, *under = node_find(base, child->key);

    node_detach(child);
    if (!under)
      node_append(base, child);
    else if (under->kind == NODE_MAP && child->kind == NODE_MAP)
      PetscCall(LayOver(under, child));
    else if (is_list_of_blocks(under) && is_list_of_blocks(child)) {
      take_place(under, child);
      move_children(child, under);
      PetscCall(NodeDestroy(&child));
    } else {
      node_replace(under, child);
      PetscCall(NodeDestroy(&under));
    }
  }
  PetscCall(NodeDestroy(&over));
  PetscFunctionReturn(0);
}

/* Why the file cannot be included, in `message`; what is not there, and what never ends, is not opened. */
static PetscErrorCode FindIncluded(Scene scene, const Node *item, char **path, char message[MESSAGE_LENGTH])
{
  const SceneFile *from = &scene->files[item->file];
  char             joined[PETSC_MAX_PATH_LEN], *real;
  struct stat      status;

  PetscFunctionBegin;
  snprintf(joined, sizeof(joined), "%s%s", item->text[0] == '/' ? "" : from->directory, item->text);
  real = realpath(joined, NULL);
  if (!real || stat(real, &status))
    snprintf(message, MESSAGE_LENGTH, "there is no file %.300s", joined);
  else if (!S_ISREG(status.st_mode))
    snprintf(message, MESSAGE_LENGTH, "%.300s is not a file", joined);
  PetscCall(ShareText(scene->comm, real ? real : joined, path));
  free(real);
  PetscFunctionReturn(0);
}

static PetscErrorCode CheckCycle(Scene scene, const Node *item, const char path[], PetscBool *good)
{
  PetscFunctionBegin;
  *good = PETSC_TRUE;
  for (PetscInt f = item->file; f >= 0 && *good; f = scene->files[f].includer)
    if (!strcmp(scene->files[f].path, path)) {
      *good = PETSC_FALSE;
      PetscCall(ProblemAdd(scene, item, PROBLEM_ERROR, "%s includes itself%s; leave one of the two out",
                           scene->files[f].name, f == item->file ? "" : " by way of this file"));
    }
  if (*good && scene->file_count == MOST_FILES) {
    *good = PETSC_FALSE;
    PetscCall(ProblemAdd(scene, item, PROBLEM_ERROR, "a scene has at most %d files", (int)MOST_FILES));
  }
  PetscFunctionReturn(0);
}

/* As the user would call it: beside the name of the including file. */
static PetscErrorCode AddIncluded(Scene scene, const Node *item, const char path[], char **text)
{
  const char *from = scene->files[item->file].name, *slash = strrchr(from, '/');
  char        name[PETSC_MAX_PATH_LEN];

  PetscFunctionBegin;
  snprintf(name, sizeof(name), "%.*s%s", slash && item->text[0] != '/' ? (int)(slash - from) + 1 : 0, from,
           item->text);
  PetscCall(AddFile(scene, name, path, text));
  scene->files[scene->file_count - 1].includer = item->file;
  PetscFunctionReturn(0);
}

static PetscErrorCode ParseFile(Scene scene, PetscInt file, Node **root);

/* The tree of one included file, or null and a problem. */
static PetscErrorCode Include(Scene scene, Node *item, Node **tree)
{
  char      message[MESSAGE_LENGTH] = "", *path = NULL, *text = NULL;
  PetscBool good;

  PetscFunctionBegin;
  *tree = NULL;
  PetscCall(ExpectKind(scene, item, NODE_VALUE, "the name of a file, or a list of names", &good));
  if (!good)
    PetscFunctionReturn(0);
  PetscCall(FindIncluded(scene, item, &path, message));
  PetscCall(CheckCycle(scene, item, path, &good));
  if (good) {
    PetscCall(LoadShared(scene->comm, path, &text, message));
    if (text) {
      PetscCall(AddIncluded(scene, item, path, &text));
      PetscCall(ParseFile(scene, scene->file_count - 1, tree));
    } else
      PetscCall(ProblemAdd(scene, item, PROBLEM_ERROR,
                           "%s cannot be included: %s (names are relative to the including file)", item->text,
                           message));
  }
  PetscCall(PetscFree(path));
  PetscFunctionReturn(0);
}

/* A scene of which a part cannot be read is not judged further: it becomes null. */
static PetscErrorCode LayOverIncluded(Scene scene, Node **root)
{
  Node     *include = node_find(*root, "include"), *base = NULL;
  PetscBool whole = PETSC_TRUE;

  PetscFunctionBegin;
  if (!include)
    PetscFunctionReturn(0);
  node_detach(include);
  for (Node *item = include->kind == NODE_LIST ? include->first : include; item;
       item = include->kind == NODE_LIST ? item->next : NULL) {
    Node *tree;

    PetscCall(Include(scene, item, &tree));
    whole = whole && tree ? PETSC_TRUE : PETSC_FALSE;
    if (tree && base)
      PetscCall(LayOver(base, tree));
    else if (tree)
      base = tree;
  }
  PetscCall(NodeDestroy(&include));
  if (whole && base) {
    PetscCall(LayOver(base, *root));
    *root = base;
  } else if (!whole) {
    PetscCall(NodeDestroy(&base));
    PetscCall(NodeDestroy(root));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode ParseFile(Scene scene, PetscInt file, Node **root)
{
  static const char mark[] = "\xef\xbb\xbf"; /* editors of Windows begin a file with this */
  const char       *text = scene->files[file].text;
  const PetscInt    errors = scene->error_count;
  PetscBool         good;

  PetscFunctionBegin;
  scene->parsed = file;
  PetscCall(YamlParse(scene, text + (strncmp(text, mark, 3) ? 0 : 3), -1, root));
  if (!*root && scene->error_count == errors)
    PetscCall(ProblemAddAt(scene, -1, 1, 1, file ? "the file is empty" : "the scene is empty"));
  if (!*root)
    PetscFunctionReturn(0);
  PetscCall(ExpectKind(scene, *root, NODE_MAP, "a block of keys", &good));
  if (!good) {
    PetscCall(NodeDestroy(root));
    PetscFunctionReturn(0);
  }
  PetscCall(SceneMergeKeys(scene, *root));
  PetscCall(LayOverIncluded(scene, root));
  PetscFunctionReturn(0);
}

PetscErrorCode SceneParse(Scene scene)
{
  PetscFunctionBegin;
  PetscCall(ParseFile(scene, 0, &scene->root));
  scene->parsed = 0;
  PetscFunctionReturn(0);
}

const char *node_directory(Scene scene, const Node *node)
{
  return scene->files[node->file].directory;
}
