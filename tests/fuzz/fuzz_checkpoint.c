/* fuzz_checkpoint CASES SEED SCENE...: checkpoints whose datasets have been changed at random and whose
   digest is right again must be refused or run, with exit code 0, 2 or 3, and never crash, hang or print a
   trace. Each scene runs for a few steps; each case is a process of its own, a copy of one that has the scene
   set up, so that it costs no start of MPI. Prints the seed of every bad case, and exits with 1 if there is
   one. */
#define _GNU_SOURCE
#include <millrace/scene.h>

#include <fcntl.h>
#include <ftw.h>
#include <hdf5.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
  STEPS = 6,
  MORE_STEPS = 1,
  MOST_NAMES = 256,
  MOST_VALUES = 10000000,
  SECONDS = 30,
  SEAL = 512,
  TRACE = 99
};

typedef struct {
  hid_t    file;
  int      count; /* of datasets and groups */
  char     names[MOST_NAMES][128];
  uint64_t random;
} Target;

static uint64_t draw(Target *target, uint64_t below)
{
  target->random ^= target->random << 13;
  target->random ^= target->random >> 7;
  target->random ^= target->random << 17;
  return target->random % below;
}

static double odd_number(Target *target)
{
  static const double odd[] = {NAN,        INFINITY,     -INFINITY,  0.,  -1.,    1.,    1e300, -1e300,
                               1e9,        -1e9,         2147483647, 0.5, 1e-300, -1e-9, 1e15,  4294967297.,
                               2147483648, -2147483648., 1e18,       7.,  1e5,    -0.,   1e20,  3.};

  return odd[draw(target, sizeof(odd) / sizeof(odd[0]))];
}

static herr_t note_name(hid_t file, const char *name, const H5O_info_t *info, void *context)
{
  Target *target = context;

  (void)file;
  (void)info;
  if (strcmp(name, ".") && target->count < MOST_NAMES && strlen(name) < sizeof(target->names[0]))
    strcpy(target->names[target->count++], name);
  return 0;
}

/* A dataset as doubles, whatever it holds; null for texts and groups. */
typedef struct {
  int       rank;
  hsize_t   dims[H5S_MAX_RANK], count;
  double   *values;
  PetscBool whole_numbers;
} Content;

static Content read_content(Target *target, const char name[])
{
  Content     content = {0};
  const hid_t dataset = H5Dopen2(target->file, name, H5P_DEFAULT);
  hid_t       type, space;

  if (dataset < 0)
    return content;
  type = H5Dget_type(dataset);
  space = H5Dget_space(dataset);
  content.rank = H5Sget_simple_extent_ndims(space);
  content.count = (hsize_t)H5Sget_simple_extent_npoints(space);
  H5Sget_simple_extent_dims(space, content.dims, NULL);
  content.whole_numbers = H5Tget_class(type) == H5T_INTEGER ? PETSC_TRUE : PETSC_FALSE;
  if (H5Tget_class(type) != H5T_STRING && content.count < MOST_VALUES) { /* not what make_huge has left */
    content.values = calloc(content.count + 1, sizeof(double));
    H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, content.values);
  }
  H5Sclose(space);
  H5Tclose(type);
  H5Dclose(dataset);
  return content;
}

static void write_content(Target *target, const char name[], const Content *content, hid_t type)
{
  const hid_t space =
      content->rank ? H5Screate_simple(content->rank, content->dims, NULL) : H5Screate(H5S_SCALAR);
  hid_t dataset;

  H5Ldelete(target->file, name, H5P_DEFAULT);
  dataset = H5Dcreate2(target->file, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  if (dataset >= 0 && content->values)
    H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, content->values);
  H5Dclose(dataset);
  H5Sclose(space);
}

static void change_values(Target *target, Content *content)
{
  const double odd = odd_number(target), factors[] = {-1., 2., 1e3, 1e30, 1e-30, 0.};
  const double factor = factors[draw(target, 6)];
  uint64_t     bits;

  switch (draw(target, 6)) {
  case 0:
    for (hsize_t n = 0; n < content->count; n++)
      content->values[n] = odd;
    break;
  case 1:
    for (hsize_t n = 0; n < content->count; n++)
      content->values[n] *= factor;
    break;
  case 2:
    for (hsize_t n = 0; n < content->count / 2; n++) {
      const double kept = content->values[n];

      content->values[n] = content->values[content->count - 1 - n];
      content->values[content->count - 1 - n] = kept;
    }
    break;
  case 3:
    if (content->count) {
      double *value = &content->values[draw(target, content->count)];

      memcpy(&bits, value, sizeof(bits));
      bits ^= UINT64_C(1) << draw(target, 64);
      memcpy(value, &bits, sizeof(bits));
    }
    break;
  case 4:
    if (content->count)
      content->values[draw(target, content->count)] *= factor;
    break;
  default:
    if (content->count)
      content->values[draw(target, content->count)] = odd;
  }
}

/* The values that there are, in another shape; those that are not there are 0. */
static void change_shape(Target *target, Content *content)
{
  const hsize_t old = content->count;

  switch (draw(target, 5)) {
  case 0: /* a row less or more */
    if (content->rank)
      content->dims[0] += draw(target, 2) ? 1 : content->dims[0] ? (hsize_t)-1 : 0;
    break;
  case 1:
    if (content->rank == 2) {
      const hsize_t kept = content->dims[0];

      content->dims[0] = content->dims[1];
      content->dims[1] = kept;
    }
    break;
  case 2:
    content->rank = 1;
    content->dims[0] = draw(target, 1000);
    break;
  case 3:
    content->rank = content->rank > 3 ? 0 : content->rank + 1;
    content->dims[content->rank ? content->rank - 1 : 0] = 1;
    break;
  default:
    for (int d = 0; d < content->rank; d++)
      content->dims[d] = 0;
  }
  content->count = 1;
  for (int d = 0; d < content->rank; d++)
    content->count *= content->dims[d];
  content->values = realloc(content->values, (content->count + 1) * sizeof(double));
  for (hsize_t n = old; n < content->count; n++)
    content->values[n] = 0.;
}

/* An array as large as an index can name, without a byte of it. */
static void make_huge(Target *target, const char name[], const Content *content)
{
  const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
  hsize_t     dims[H5S_MAX_RANK], chunk[H5S_MAX_RANK];
  hid_t       space, dataset;

  for (int d = 0; d < content->rank; d++) {
    dims[d] = d ? content->dims[d] : 2000000000;
    chunk[d] = d && content->dims[d] ? content->dims[d] : 1;
  }
  if (content->rank) {
    H5Ldelete(target->file, name, H5P_DEFAULT);
    H5Pset_chunk(creation, content->rank, chunk);
    space = H5Screate_simple(content->rank, dims, NULL);
    dataset = H5Dcreate2(target->file, name, content->whole_numbers ? H5T_NATIVE_INT64 : H5T_NATIVE_DOUBLE,
                         space, H5P_DEFAULT, creation, H5P_DEFAULT);
    H5Dclose(dataset);
    H5Sclose(space);
  }
  H5Pclose(creation);
}

static void mutate(Target *target)
{
  const char    *name = target->names[draw(target, (uint64_t)target->count)];
  const char    *other = target->names[draw(target, (uint64_t)target->count)];
  Content        content = read_content(target, name);
  hid_t          type = content.whole_numbers ? H5T_NATIVE_INT64 : H5T_NATIVE_DOUBLE;
  const uint64_t what = draw(target, 16);

  fprintf(stderr, "change %d of %s\n", (int)what, name);
  fflush(stderr);
  if (what == 0) {
    H5Ldelete(target->file, name, H5P_DEFAULT);
  } else if (what == 1 && strcmp(name, other)) {
    H5Ldelete(target->file, name, H5P_DEFAULT);
    H5Ocopy(target->file, other, target->file, name, H5P_DEFAULT, H5P_DEFAULT);
  } else if (what == 2) {
    make_huge(target, name, &content);
  } else if (content.values) {
    if (what == 3)
      type = content.whole_numbers ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT32;
    if (what == 4)
      type = content.whole_numbers ? H5T_NATIVE_INT8 : H5T_NATIVE_FLOAT;
    if (what == 5 || what == 6)
      change_shape(target, &content);
    if (what > 6)
      change_values(target, &content);
    write_content(target, name, &content, type);
  }
  free(content.values);
}

static uint64_t mix(uint64_t state, uint64_t word)
{
  state = (state ^ word) * UINT64_C(0x9e3779b97f4a7c15);
  return state ^ (state >> 29);
}

/* As docs/output.md describes it. */
static uint64_t digest_of(const unsigned char content[], size_t bytes)
{
  uint64_t digest = 0;

  for (uint64_t number = 0, at = 0; at < bytes; number++, at += 1 << 20) {
    const size_t length = bytes - at < 1 << 20 ? bytes - at : 1 << 20;
    uint64_t     lane[4] = {number, 1, 2, 3}, word, block = length;

    for (size_t n = 0; n < length; n += sizeof(word)) {
      word = 0;
      memcpy(&word, content + at + n, length - n < sizeof(word) ? length - n : sizeof(word));
      lane[n / sizeof(word) % 4] = mix(lane[n / sizeof(word) % 4], word);
    }
    for (size_t n = (length + 7) / 8 * 8; n % 32; n += sizeof(word))
      lane[n / sizeof(word) % 4] = mix(lane[n / sizeof(word) % 4], 0);
    for (int i = 0; i < 4; i++)
      block = mix(block, lane[i]);
    digest ^= mix(block, number);
  }
  return digest;
}

static unsigned char *read_file(const char path[], size_t *length)
{
  FILE          *file = fopen(path, "rb");
  unsigned char *content;

  if (!file)
    abort();
  fseek(file, 0, SEEK_END);
  *length = (size_t)ftell(file);
  rewind(file);
  content = malloc(*length + 1);
  if (!content || fread(content, 1, *length, file) != *length)
    abort();
  fclose(file);
  return content;
}

static void write_file(const char path[], const unsigned char content[], size_t length)
{
  FILE *file = fopen(path, "wb");

  if (!file || fwrite(content, 1, length, file) != length || fclose(file))
    abort();
}

static void copy_file(const char from[], const char to[])
{
  size_t         length;
  unsigned char *content = read_file(from, &length);

  write_file(to, content, length);
  free(content);
}

static void seal(const char path[])
{
  size_t         length;
  unsigned char *content = read_file(path, &length);

  memset(content, 0, SEAL);
  snprintf((char *)content, SEAL, "Millrace archive 1\nbytes %020llu\ndigest %016llx\n",
           (unsigned long long)length, (unsigned long long)digest_of(content + SEAL, length - SEAL));
  write_file(path, content, length);
  free(content);
}

static void make_evil(const char path[], uint64_t seed)
{
  Target        *target = calloc(1, sizeof(*target));
  const uint64_t key = mix(mix(0, seed), 1);
  uint64_t       mutations;

  target->random = key ? key : 1;
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  target->file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
  H5Ovisit(target->file, H5_INDEX_NAME, H5_ITER_INC, note_name, target);
  mutations = 1 + (draw(target, 4) ? 0 : draw(target, 3));
  for (uint64_t n = 0; n < mutations; n++)
    mutate(target);
  H5Fclose(target->file);
  free(target);
  seal(path);
}

static int remove_one(const char *path, const struct stat *status, int flag, struct FTW *place)
{
  (void)status;
  (void)flag;
  (void)place;
  return remove(path);
}

/* In a process of its own: its exit code as the program's. */
static void run_case(Simulation simulation, const RunOptions *options, uint64_t seed)
{
  const struct rlimit limit = {SECONDS, SECONDS};
  RunEnding           ending = {0};
  char                message[1024] = "";

  setrlimit(RLIMIT_CPU, &limit);
  if (!freopen("/dev/null", "w", stdout) || !freopen("case/said", "w", stderr))
    _exit(TRACE);
  make_evil(options->checkpoint, seed);
  if (SimulationRun(simulation, options, &ending, message, sizeof(message)))
    _exit(TRACE);
  fflush(NULL);
  if (ending.outcome == RUN_DONE)
    _exit(message[0] ? 1 : 0);
  _exit(ending.outcome == RUN_REFUSED ? 2 : ending.outcome == RUN_FAILED ? 3 : 1);
}

static PetscBool is_bad(int status, uint64_t seed, const char scene[])
{
  size_t         length = 0;
  unsigned char *said;

  if (WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 2 || WEXITSTATUS(status) == 3))
    return PETSC_FALSE;
  printf("seed %llu, %s: %s %d\n", (unsigned long long)seed, scene,
         WIFEXITED(status) ? "exit code" : "signal",
         WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
  if (!access("case/said", R_OK)) {
    said = read_file("case/said", &length);
    printf("%.*s\n", (int)PetscMin(length, 3000), (char *)said);
    free(said);
  }
  return PETSC_TRUE;
}

/* The scene, run for some steps to a checkpoint in "base", and a simulation that can go on from it. */
static PetscErrorCode Prepare(const char path[], Scene *scene, Simulation *simulation)
{
  char        first[64], second[64], message[1024];
  const char *overrides[] = {first, "run.frame_interval=10", "run.end_time=100"};
  RunOptions  options = {.directory = "base"};
  RunEnding   ending = {0};

  PetscFunctionBegin;
  snprintf(first, sizeof(first), "run.step_limit=%d", STEPS);
  PetscCall(SceneRead(PETSC_COMM_WORLD, path, 3, overrides, scene));
  PetscCall(SceneReport(*scene, stderr));
  PetscCheck(scene_is_good(*scene), PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "%s is no scene", path);
  PetscCall(SimulationCreate(PETSC_COMM_WORLD, scene_config(*scene), simulation, message, sizeof(message)));
  PetscCheck(*simulation, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "%s", message);
  options.scene_text = scene_resolved_text(*scene);
  mkdir("base", 0777);
  PetscCall(SimulationRun(*simulation, &options, &ending, message, sizeof(message)));
  PetscCheck(!message[0], PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "%s", message);
  PetscCall(SimulationDestroy(simulation));
  PetscCall(SceneDestroy(scene));
  snprintf(second, sizeof(second), "run.step_limit=%d", STEPS + MORE_STEPS);
  overrides[0] = second;
  PetscCall(SceneRead(PETSC_COMM_WORLD, path, 3, overrides, scene));
  PetscCall(SimulationCreate(PETSC_COMM_WORLD, scene_config(*scene), simulation, message, sizeof(message)));
  PetscFunctionReturn(0);
}

static PetscErrorCode Fuzz(const char path[], uint64_t cases, uint64_t seed, PetscInt counts[5])
{
  RunOptions options = {.directory = "case", .checkpoint = "case/evil.h5"};
  char       checkpoint[128];
  Simulation simulation;
  Scene      scene;

  PetscFunctionBegin;
  PetscCall(Prepare(path, &scene, &simulation));
  options.scene_text = scene_resolved_text(scene);
  snprintf(checkpoint, sizeof(checkpoint), "base/checkpoints/checkpoint-%08d.h5", STEPS);
  for (uint64_t n = seed; n < seed + cases; n++) {
    pid_t child;
    int   status;

    mkdir("case", 0777);
    copy_file("base/ledger.csv", "case/ledger.csv");
    copy_file(checkpoint, options.checkpoint);
    fflush(NULL);
    child = fork();
    if (!child)
      run_case(simulation, &options, n);
    waitpid(child, &status, 0);
    if (is_bad(status, n, path))
      counts[4]++;
    else
      counts[WEXITSTATUS(status)]++;
    nftw("case", remove_one, 16, FTW_DEPTH | FTW_PHYS);
  }
  nftw("base", remove_one, 16, FTW_DEPTH | FTW_PHYS);
  PetscCall(SimulationDestroy(&simulation));
  PetscCall(SceneDestroy(&scene));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  const uint64_t cases = argc > 3 ? strtoull(argv[1], NULL, 10) : 0,
                 seed = argc > 3 ? strtoull(argv[2], NULL, 10) : 0;
  PetscInt counts[5] = {0};

  PetscCall(PetscInitializeNoArguments());
  PetscCall(PetscPopSignalHandler()); /* the sanitizers have better words for a crash */
  for (int n = 3; n < argc; n++)
    PetscCall(Fuzz(argv[n], cases / (uint64_t)(argc - 3), seed, counts));
  printf("%d cases: %d ran, %d refused, %d failed in the numerics, %d bad\n",
         (int)(counts[0] + counts[2] + counts[3] + counts[4]), (int)counts[0], (int)counts[2], (int)counts[3],
         (int)counts[4]);
  PetscCall(PetscFinalize());
  return counts[4] ? 1 : 0;
}
