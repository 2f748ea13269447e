/* What a rank pays for bodies that are far from its part of the box (docs/scaling.md): processor time of a
   placing, of what it sets up and of a coupled solve, with many bodies outside of the box and without them,
   divided by their number. */
#include <millrace/coupling.h>
#include <time.h>

enum { CELLS_ACROSS = 32, INSIDE = 8 };

typedef struct {
  SolidConfig config;
  BodyConfig  bodies[2];
  Solid       solid;
  Team        team;
  MacGrid     grid;
  Vec         weights[DIM], velocity[DIM], impulse;
  Coupling    coupling;
  PetscReal  *twists;
} Tank;

typedef struct {
  PetscReal place, set, constraints, solve; /* seconds, the best of a few */
  PetscInt  iterations;
} Times;

static PetscErrorCode AddSpheres(Tank *tank, const char name[], PetscReal radius, Vector3 first,
                                 CopiesConfig copies)
{
  BodyConfig *body = &tank->bodies[tank->config.body_count++];

  PetscFunctionBegin;
  *body = (BodyConfig){.kind = BODY_DYNAMIC, .density = 1., .copies = copies};
  PetscCall(PetscStrallocpy(name, &body->name));
  PetscCall(ShapeCreateSphere(first, radius, &body->shape));
  PetscFunctionReturn(0);
}

/* Eight spheres in the box, and `far` of eight cells' radius beside it. */
static PetscErrorCode CreateSolid(Tank *tank, PetscInt far)
{
  char message[256];

  PetscFunctionBegin;
  tank->config = (SolidConfig){.cfl = 0.5, .iterations = 10, .tolerance = 1e-3, .bodies = tank->bodies};
  PetscCall(AddSpheres(tank, "inside", 0.11, vector3(0.27, 0.26, 0.25),
                       (CopiesConfig){.count = vector3(2, 2, 2), .step = vector3(0.5, 0.5, 0.5)}));
  if (far)
    PetscCall(AddSpheres(tank, "outside", 8. / CELLS_ACROSS, vector3(3., 0.5, 0.5),
                         (CopiesConfig){.count = vector3((PetscReal)far, 1, 1), .step = vector3(0.6, 1, 1)}));
  PetscCall(SolidCreate(PETSC_COMM_SELF, &tank->config, &tank->solid, message, sizeof(message)));
  PetscCheck(tank->solid, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s", message);
  PetscFunctionReturn(0);
}

static PetscErrorCode SetWeights(Tank *tank)
{
  const GridBox *box = grid_box(tank->grid);
  PetscReal     *weights[DIM];

  PetscFunctionBegin;
  PetscCall(MacGridGetFaces(tank->grid, tank->weights, weights));
  for (PetscInt d = 0; d < DIM; d++) {
    const GridRange faces = grid_faces(tank->grid, d);

    FOR_PLACES(&faces, at)
      weights[d][box_index(box, at[X], at[Y], at[Z])] = at[d] > 0 && at[d] < box->cells[d] ? 1. : 0.;
  }
  PetscCall(MacGridRestoreFaces(tank->grid, tank->weights, weights));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateTank(PetscInt far, Tank *tank)
{
  const GridConfig     grid = {.dimension = 3, .size = vector3(1., 1., 1.), .resolution = CELLS_ACROSS};
  const TeamConfig     team = {.solid_ranks = -1};
  const CouplingConfig config = {.solver = COUPLING_SCHUR, .tolerance = 1e-8, .iterations = 500, .rounds = 1};

  PetscFunctionBegin;
  PetscCall(PetscMemzero(tank, sizeof(*tank)));
  PetscCall(CreateSolid(tank, far));
  PetscCall(TeamCreate(PETSC_COMM_SELF, &team, WORK_BOTH, &tank->team));
  PetscCall(MacGridCreate(team_fluid(tank->team), &grid, &tank->grid));
  PetscCall(MacGridCreateFaceField(tank->grid, tank->weights));
  PetscCall(MacGridCreateFaceField(tank->grid, tank->velocity));
  PetscCall(MacGridCreateField(tank->grid, &tank->impulse));
  PetscCall(SetWeights(tank));
  PetscCall(CouplingCreate(tank->team, tank->grid, &config, &tank->coupling));
  PetscCall(PetscMalloc1(6 * solid_body_count(tank->solid), &tank->twists));
  PetscFunctionReturn(0);
}

static PetscErrorCode DestroyTank(Tank *tank)
{
  PetscFunctionBegin;
  PetscCall(CouplingDestroy(&tank->coupling));
  PetscCall(MacGridDestroyFaceField(tank->weights));
  PetscCall(MacGridDestroyFaceField(tank->velocity));
  PetscCall(VecDestroy(&tank->impulse));
  PetscCall(MacGridDestroy(&tank->grid));
  PetscCall(TeamDestroy(&tank->team));
  PetscCall(SolidDestroy(&tank->solid));
  for (PetscInt b = 0; b < tank->config.body_count; b++) {
    PetscCall(PetscFree(tank->bodies[b].name));
    PetscCall(ShapeDestroy(&tank->bodies[b].shape));
  }
  PetscCall(PetscFree(tank->twists));
  PetscFunctionReturn(0);
}

static PetscReal processor_time(void)
{
  struct timespec now;

  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (PetscReal)now.tv_sec + 1e-9 * (PetscReal)now.tv_nsec;
}

static void keep_best(PetscReal *start, PetscReal *best)
{
  const PetscReal now = processor_time();

  *best = PetscMin(*best, now - *start);
  *start = processor_time();
}

/* Bodies in the box fall at their own speeds, the others rest. */
static PetscErrorCode Measure(Tank *tank, Times *times)
{
  const FluidSystem      fluid = {.density = 1., .weights = tank->weights};
  const FaceConstraints *constraints;
  CouplingReport         report;
  PetscReal              start;

  PetscFunctionBegin;
  for (PetscInt n = 0; n < 6 * solid_body_count(tank->solid); n++)
    tank->twists[n] = n < 6 * INSIDE ? 0.1 * ((n * 7) % 5) - 0.2 : 0.;
  PetscCall(VecSet(tank->impulse, 0.));
  for (PetscInt d = 0; d < DIM; d++)
    PetscCall(VecSet(tank->velocity[d], 0.));
  start = processor_time();
  PetscCall(CouplingPlaceSolid(tank->coupling, tank->solid));
  keep_best(&start, &times->place);
  PetscCall(CouplingSetFluid(tank->coupling, &fluid));
  keep_best(&start, &times->set);
  PetscCall(CouplingGetConstraints(tank->coupling, tank->twists, &constraints));
  keep_best(&start, &times->constraints);
  PetscCall(CouplingSolve(tank->coupling, tank->velocity, tank->impulse, tank->twists, &report));
  keep_best(&start, &times->solve);
  times->iterations = report.iterations;
  PetscFunctionReturn(0);
}

/* -bodies 2000: so many of them; -repeats 9. */
int main(int argc, char **argv)
{
  PetscInt bodies = 2000, repeats = 9;
  Tank     tanks[2];
  Times    times[2];

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-bodies", &bodies, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-repeats", &repeats, NULL));
  for (int n = 0; n < 2; n++) {
    times[n] = (Times){PETSC_MAX_REAL, PETSC_MAX_REAL, PETSC_MAX_REAL, PETSC_MAX_REAL, 0};
    PetscCall(CreateTank(n ? bodies : 0, &tanks[n]));
  }
  for (PetscInt repeat = 0; repeat < repeats; repeat++)
    for (int n = 0; n < 2; n++)
      PetscCall(Measure(&tanks[n], &times[n]));
  PetscCall(PetscPrintf(
      PETSC_COMM_WORLD,
      "us per body that is far away, of %" PetscInt_FMT
      ": place %.3f, set up %.3f, viscous constraints %.3f, solve of %" PetscInt_FMT " iterations %.3f\n",
      bodies, 1e6 * (double)(times[1].place - times[0].place) / (double)bodies,
      1e6 * (double)(times[1].set - times[0].set) / (double)bodies,
      1e6 * (double)(times[1].constraints - times[0].constraints) / (double)bodies, times[1].iterations,
      1e6 * (double)(times[1].solve - times[0].solve) / (double)bodies));
  for (int n = 0; n < 2; n++)
    PetscCall(DestroyTank(&tanks[n]));
  PetscCall(PetscFinalize());
  return 0;
}
