/* Boxes that fall into a pit: what a step costs, how that grows with their number, and both beside Bullet.

   Cubes of 1 m, turned at random, hang on a lattice, every second layer set off by half its spacing so that
   no columns form. What counts is the half second after the highest one has come down: the pile has landed
   and still moves. -boxes N: a pile of N alone, beside Bullet. */
#include "scratch.h"
#include "boxes.h"
#include "solid/solid_impl.h"
#include <millrace/schema.h>
#include <time.h>

enum { WALLS = 5, PARTS = 4, COUNTED_STEPS = 120 };

static const PetscReal time_step = 1. / 240., gravity = 9.81, friction = 0.5, spacing = 1.85;

typedef struct {
  PetscInt    boxes;
  PetscReal   width;        /* of the pit */
  PetscInt    first, steps; /* the first step that counts, and the last */
  SolidConfig config;
  BodyConfig  bodies[WALLS + PARTS];
} Pile;

typedef struct {
  PetscReal seconds;  /* of processor time for a step: the median */
  PetscReal sweeps;   /* over all contacts in a step, on average */
  Overlaps  overlaps; /* after all the steps that count */
  PetscInt  lost;     /* boxes outside of the pit in the end */
} Result;

/* As a scene has it that does not say. */
static PetscReal solid_default(const char name[])
{
  const SchemaKey *key = SolidKeys;

  while (strcmp(key->name, name))
    key++;
  return strtod(key->fallback, NULL);
}

static PetscErrorCode AddBody(Pile *pile, BodyKind kind, Vector3 centre, Vector3 half, BodyConfig **added)
{
  BodyConfig *body = &pile->bodies[pile->config.body_count++];
  char        name[32];

  PetscFunctionBegin;
  *body = (BodyConfig){.kind = kind, .density = 1000., .friction = friction};
  body->copies.count = vector3(1., 1., 1.);
  PetscCall(PetscSNPrintf(name, sizeof(name), "body-%d", (int)pile->config.body_count));
  PetscCall(PetscStrallocpy(name, &body->name));
  PetscCall(ShapeCreateBox(vector3_subtract(centre, half), vector3_add(centre, half), &body->shape));
  *added = body;
  PetscFunctionReturn(0);
}

static PetscErrorCode AddPit(Pile *pile, PetscReal height)
{
  const PetscReal thick = 5., far = pile->width / 2. + thick; /* centre of a wall */
  BodyConfig     *wall;

  PetscFunctionBegin;
  PetscCall(
      AddBody(pile, BODY_STATIC, vector3(0., 0., -thick), vector3(far + thick, far + thick, thick), &wall));
  for (PetscInt side = -1; side <= 1; side += 2) {
    PetscCall(AddBody(pile, BODY_STATIC, vector3(side * far, 0., height / 2.),
                      vector3(thick, far + thick, height / 2.), &wall));
    PetscCall(AddBody(pile, BODY_STATIC, vector3(0., side * far, height / 2.),
                      vector3(pile->width / 2., thick, height / 2.), &wall));
  }
  PetscFunctionReturn(0);
}

/* Part of the lattice: from row `row` of layer `layer` on, in every second layer. */
static PetscErrorCode AddBoxes(Pile *pile, PetscInt row, PetscInt layer, const PetscInt count[DIM])
{
  const PetscReal corner = (0.5 + 0.5 * (layer % 2)) * spacing - pile->width / 2.;
  BodyConfig     *body;

  PetscFunctionBegin;
  if (count[X] * count[Y] * count[Z] == 0)
    PetscFunctionReturn(0);
  PetscCall(AddBody(pile, BODY_DYNAMIC, vector3(corner, corner + row * spacing, (layer + 0.5) * spacing),
                    vector3(0.5, 0.5, 0.5), &body));
  body->copies = (CopiesConfig){.count = vector3(count[X], count[Y], count[Z]),
                                .step = vector3(spacing, spacing, 2. * spacing),
                                .shift = 0.05,
                                .turn = PETSC_PI,
                                .seed = pile->config.body_count};
  PetscFunctionReturn(0);
}

static PetscErrorCode PileCreate(PetscInt boxes, Pile *pile)
{
  const PetscInt  columns = PetscMax(1, (PetscInt)(PetscPowReal(boxes, 1. / 3.) + 0.5));
  const PetscInt  layers = boxes / (columns * columns), rest = boxes % (columns * columns);
  const PetscReal height = (layers + 1) * spacing;
  const PetscInt  even[] = {columns, columns, (layers + 1) / 2}, odd[] = {columns, columns, layers / 2};
  const PetscInt  rows[] = {columns, rest / columns, 1}, row[] = {rest % columns, 1, 1};

  PetscFunctionBegin;
  *pile = (Pile){.boxes = boxes, .width = (columns + 0.5) * spacing};
  pile->config.bodies = pile->bodies;
  pile->config.gravity = vector3(0., 0., -gravity);
  pile->config.cfl = solid_default("cfl");
  pile->config.iterations = (PetscInt)solid_default("iterations");
  pile->config.tolerance = solid_default("tolerance");
  PetscCall(AddPit(pile, height + 5.));
  PetscCall(AddBoxes(pile, 0, 0, even));
  PetscCall(AddBoxes(pile, 0, 1, odd));
  PetscCall(AddBoxes(pile, 0, layers, rows));
  PetscCall(AddBoxes(pile, rest / columns, layers, row));
  /* the settled pile fills the lower third */
  pile->first =
      (PetscInt)(PetscSqrtReal(2. * 0.75 * (rest ? layers + 1 : layers) * spacing / gravity) / time_step) + 1;
  pile->steps = pile->first + COUNTED_STEPS - 1;
  PetscFunctionReturn(0);
}

static PetscErrorCode PileDestroy(Pile *pile)
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < pile->config.body_count; i++) {
    PetscCall(PetscFree(pile->bodies[i].name));
    PetscCall(ShapeDestroy(&pile->bodies[i].shape));
  }
  PetscFunctionReturn(0);
}

static PetscInt count_lost(const Pile *pile, PetscInt count, const PlacedBox boxes[])
{
  PetscInt lost = 0;

  for (PetscInt i = 0; i < count; i++) {
    const Vector3   at = boxes[i].position;
    const PetscReal aside = PetscMax(PetscAbsReal(at.at[X]), PetscAbsReal(at.at[Y]));

    lost += boxes[i].moves && (aside > pile->width / 2. || !(at.at[Z] > 0.));
  }
  return lost;
}

static PetscReal processor_time(void)
{
  struct timespec now;

  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return now.tv_sec + 1e-9 * now.tv_nsec;
}

static PlacedBox body_box(Solid solid, PetscInt i)
{
  return (PlacedBox){solid->bodies[i].form->half, solid->placements[i].position,
                     solid->placements[i].rotation, solid->bodies[i].config->kind == BODY_DYNAMIC};
}

static PetscErrorCode StartSolid(const Pile *pile, Solid *solid)
{
  char message[256];

  PetscFunctionBegin;
  PetscCall(SolidCreate(PETSC_COMM_SELF, &pile->config, solid, message, sizeof(message)));
  PetscCheck(*solid, PETSC_COMM_SELF, PETSC_ERR_USER_INPUT, "The pile is bad: %s", message);
  PetscCheck((*solid)->body_count == pile->boxes + WALLS, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "%" PetscInt_FMT " bodies instead of %" PetscInt_FMT, (*solid)->body_count, pile->boxes + WALLS);
  PetscFunctionReturn(0);
}

static PetscErrorCode RunMillrace(const Pile *pile, Result *result)
{
  PetscReal  seconds[COUNTED_STEPS];
  PlacedBox *boxes;
  Solid      solid;

  PetscFunctionBegin;
  *result = (Result){.seconds = 0.};
  PetscCall(StartSolid(pile, &solid));
  PetscCall(PetscMalloc1(solid->body_count, &boxes));
  for (PetscInt n = 1; n <= pile->steps; n++) {
    const PetscReal began = processor_time();

    PetscCall(SolidStep(solid, (n - 1) * time_step, time_step));
    if (n < pile->first)
      continue;
    seconds[n - pile->first] = processor_time() - began;
    result->sweeps += solid_report(solid).position_iterations + solid_report(solid).velocity_iterations;
    for (PetscInt i = 0; i < solid->body_count; i++)
      boxes[i] = body_box(solid, i);
    PetscCall(OverlapsAdd(&result->overlaps, solid->body_count, boxes));
  }
  PetscCall(PetscSortReal(COUNTED_STEPS, seconds));
  result->seconds = seconds[COUNTED_STEPS / 2];
  result->sweeps /= COUNTED_STEPS;
  result->lost = count_lost(pile, solid->body_count, boxes);
  PetscCall(PetscFree(boxes));
  PetscCall(SolidDestroy(&solid));
  PetscFunctionReturn(0);
}

/* What bullet_pile reads; `boxes` gets the sizes that go with the poses it writes. */
static PetscErrorCode WriteBodies(const Pile *pile, const char path[], PlacedBox boxes[])
{
  FILE *file = fopen(path, "w");
  Solid solid;

  PetscFunctionBegin;
  PetscCheck(file, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "Cannot write %s", path);
  PetscCall(StartSolid(pile, &solid));
  fprintf(file, "%.17g %.17g %.17g %d %d\n", -gravity, friction, time_step, (int)pile->steps,
          (int)pile->first);
  for (PetscInt i = 0; i < solid->body_count; i++) {
    const PlacedBox box = boxes[i] = body_box(solid, i);
    const Vector3   half = box.half, at = box.position, turn = box.rotation.vector;

    fprintf(file, "%.17g %.17g %.17g %.17g ", half.at[X], half.at[Y], half.at[Z],
            box.moves ? solid->bodies[i].mass : 0.);
    fprintf(file, "%.17g %.17g %.17g ", at.at[X], at.at[Y], at.at[Z]);
    fprintf(file, "%.17g %.17g %.17g %.17g\n", box.rotation.scalar, turn.at[X], turn.at[Y], turn.at[Z]);
  }
  PetscCheck(fclose(file) == 0, PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE, "Cannot write %s", path);
  PetscCall(SolidDestroy(&solid));
  PetscFunctionReturn(0);
}

static PetscErrorCode JudgeBullet(const Pile *pile, const char path[], PlacedBox boxes[], Result *result)
{
  const PetscInt count = pile->boxes + WALLS;
  FILE          *file = fopen(path, "r");

  PetscFunctionBegin;
  PetscCheck(file, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "Cannot read %s", path);
  for (PetscInt n = 0; n < COUNTED_STEPS; n++) {
    for (PetscInt i = 0; i < count; i++) {
      PetscReal *at = boxes[i].position.at, *turn = boxes[i].rotation.vector.at;
      const int  read = fscanf(file, "%lf %lf %lf %lf %lf %lf %lf", &at[X], &at[Y], &at[Z],
                               &boxes[i].rotation.scalar, &turn[X], &turn[Y], &turn[Z]);

      PetscCheck(read == 7, PETSC_COMM_SELF, PETSC_ERR_FILE_READ, "Bullet's poses end too early");
    }
    PetscCall(OverlapsAdd(&result->overlaps, count, boxes));
  }
  fclose(file);
  result->lost = count_lost(pile, count, boxes);
  PetscFunctionReturn(0);
}

static PetscErrorCode RunBullet(const Pile *pile, const char program[], Result *result)
{
  char       bodies[sizeof(scratch.path)], poses[sizeof(scratch.path)], command[3 * PETSC_MAX_PATH_LEN];
  PlacedBox *boxes;
  FILE      *output;
  PetscBool  good;

  PetscFunctionBegin;
  *result = (Result){.seconds = 0.};
  (void)scratch_make(NULL);
  PetscCall(PetscStrncpy(bodies, scratch_path("bodies"), sizeof(bodies)));
  PetscCall(PetscStrncpy(poses, scratch_path("poses"), sizeof(poses)));
  PetscCall(PetscSNPrintf(command, sizeof(command), "'%s' '%s' '%s'", program, bodies, poses));
  PetscCall(PetscMalloc1(pile->boxes + WALLS, &boxes));
  PetscCall(WriteBodies(pile, bodies, boxes));
  output = popen(command, "r");
  good = output && fscanf(output, "%lf", &result->seconds) == 1 ? PETSC_TRUE : PETSC_FALSE;
  good = output && pclose(output) == 0 ? good : PETSC_FALSE;
  PetscCheck(good, PETSC_COMM_SELF, PETSC_ERR_LIB, "%s failed", command);
  PetscCall(JudgeBullet(pile, poses, boxes, result));
  PetscCall(PetscFree(boxes));
  (void)scratch_remove(NULL);
  PetscFunctionReturn(0);
}

static PetscErrorCode PrintResult(const Pile *pile, const char code[], const Result *result)
{
  const Overlaps *overlaps = &result->overlaps;

  PetscFunctionBegin;
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%5d boxes  %-8s  %8.3f ms per step  %6.2f us per body",
                        (int)pile->boxes, code, (double)(1e3 * result->seconds),
                        (double)(1e6 * result->seconds / pile->boxes)));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "  penetration %8.4f mm at most, %.5f mm on average of %.0f pairs",
                        (double)(1e3 * overlaps->largest),
                        (double)(1e3 * overlaps->sum / PetscMax(1, overlaps->pairs)),
                        (double)overlaps->pairs / COUNTED_STEPS));
  if (result->sweeps > 0.)
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "  %.1f sweeps", (double)result->sweeps));
  if (result->lost)
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "  %d BOXES OUTSIDE OF THE PIT", (int)result->lost));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "\n"));
  PetscFunctionReturn(0);
}

/* In turn, twice, and the faster one counts: the machine may have other work. */
static PetscErrorCode Compare(const Pile *pile, PetscReal *seconds)
{
  const char *build = getenv("MILLRACE_BUILD");
  char        program[PETSC_MAX_PATH_LEN];
  Result      mine, again, bullet;

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(program, sizeof(program), "%s/tests/bench/bullet_pile", build ? build : "."));
  PetscCall(RunMillrace(pile, &mine));
  *seconds = mine.seconds;
  if (access(program, X_OK) != 0) {
    PetscCall(PrintResult(pile, "Millrace", &mine));
    PetscCall(
        PetscPrintf(PETSC_COMM_SELF, "no comparison: configure found no Bullet (Debian: libbullet-dev)\n"));
    PetscFunctionReturn(0);
  }
  PetscCall(RunBullet(pile, program, &bullet));
  PetscCall(RunMillrace(pile, &again));
  mine.seconds = *seconds = PetscMin(mine.seconds, again.seconds);
  PetscCall(RunBullet(pile, program, &again));
  bullet.seconds = PetscMin(bullet.seconds, again.seconds);
  PetscCall(PrintResult(pile, "Millrace", &mine));
  PetscCall(PrintResult(pile, "Bullet", &bullet));
  PetscCall(PetscPrintf(PETSC_COMM_SELF,
                        "Millrace over Bullet: time %.2f (target <= 3, stretch 1), largest penetration %.4f "
                        "(target <= 0.1)\n",
                        (double)(mine.seconds / bullet.seconds),
                        (double)(mine.overlaps.largest / bullet.overlaps.largest)));
  PetscFunctionReturn(0);
}

static PetscErrorCode BenchGrowth(void)
{
  const PetscInt sizes[] = {100, 1000, 5000};
  PetscReal      seconds[3];

  PetscFunctionBegin;
  for (PetscInt i = 0; i < 3; i++) {
    Pile pile;

    PetscCall(PileCreate(sizes[i], &pile));
    if (sizes[i] == 1000) {
      PetscCall(Compare(&pile, &seconds[i]));
    } else {
      Result result;

      PetscCall(RunMillrace(&pile, &result));
      PetscCall(PrintResult(&pile, "Millrace", &result));
      seconds[i] = result.seconds;
    }
    PetscCall(PileDestroy(&pile));
  }
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "cost per body from 100 to 5000 boxes: %.2f times (target < 1.5)\n",
                        (double)(seconds[2] / seconds[0] * sizes[0] / sizes[2])));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  PetscMPIInt size;
  PetscInt    boxes = 0;

  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-boxes", &boxes, NULL));
  if (size > 1) {
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "the pile is measured on one rank\n"));
  } else if (boxes > 0) {
    PetscReal seconds;
    Pile      pile;

    PetscCall(PileCreate(boxes, &pile));
    PetscCall(Compare(&pile, &seconds));
    PetscCall(PileDestroy(&pile));
  } else {
    PetscCall(BenchGrowth());
  }
  PetscCall(PetscFinalize());
  return 0;
}
