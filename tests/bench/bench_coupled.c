/* The coupled solve against the plain Poisson solve of the same faces, in the same run: iterations and
   processor time (of the rank that took longest) of each solver for spheres in a box with an open top, and
   what the set-up of the mixed faces costs. The solve includes what it prepares for itself. */
#include <millrace/coupling.h>
#include <time.h>

enum { MOST_SPHERES = 200 };

typedef struct {
  PetscInt      cells, spheres;
  PetscReal     ratio; /* of densities */
  CouplingFaces faces;
  CouplingMass  mass;
} Case;

typedef struct {
  Team        team;
  MacGrid     grid;
  Vec         weights[DIM], start[DIM], velocity[DIM], impulse;
  PetscInt    count;
  CoupledBody bodies[MOST_SPHERES];
  Surface     surfaces[MOST_SPHERES];
} Tank;

/* Between 0 and 1, the same on any machine and number of ranks. */
static PetscReal noise(PetscInt64 n)
{
  uint64_t bits = (uint64_t)n + 1;

  for (PetscInt round = 0; round < 3; round++) {
    bits *= 0x9E3779B97F4A7C15u;
    bits ^= bits >> 29;
  }
  return (PetscReal)(bits >> 12) / (PetscReal)(1ull << 52);
}

static PetscBool overlaps(const Vector3 *centres, PetscInt count, Vector3 centre, PetscReal distance)
{
  for (PetscInt n = 0; n < count; n++)
    if (vector3_norm(vector3_subtract(centres[n], centre)) < distance)
      return PETSC_TRUE;
  return PETSC_FALSE;
}

/* Spheres of one size that fill an eighth of the box, at most. */
static PetscErrorCode AddSpheres(Tank *tank, const Case *c)
{
  const PetscReal radius = PetscMin(0.2, 0.31 / PetscPowReal(c->spheres, 1. / 3.)), h = 1. / c->cells;
  const PetscInt  segments = PetscMax(12, 4 * (PetscInt)PetscCeilReal(PETSC_PI * radius / (3. * h)));
  const Primitive sphere = {.kind = PRIMITIVE_SPHERE, .radius = radius, .rotation = {1., {{0., 0., 0.}}}};
  const PetscReal mass = c->ratio * 4. / 3. * PETSC_PI * radius * radius * radius;
  Vector3         centres[MOST_SPHERES];
  PetscInt64      seed = 1;

  PetscFunctionBegin;
  for (tank->count = 0; tank->count < c->spheres; seed += 3) {
    const Vector3 centre =
        vector3(radius + (1. - 2. * radius) * noise(seed), radius + (1. - 2. * radius) * noise(seed + 1),
                radius + (1. - 2. * radius) * noise(seed + 2));
    CoupledBody *body = &tank->bodies[tank->count];

    if (overlaps(centres, tank->count, centre, 2. * radius))
      continue;
    centres[tank->count] = centre;
    PetscCall(SurfaceCreatePrimitive(&sphere, segments, &tank->surfaces[tank->count]));
    *body = (CoupledBody){.surface = tank->surfaces[tank->count],
                          .position = centre,
                          .rotation = {1., {{0., 0., 0.}}},
                          .is_free = PETSC_TRUE,
                          .mass = mass};
    for (PetscInt d = 0; d < DIM; d++)
      body->inertia.at[d][d] = 0.4 * mass * radius * radius;
    tank->count++;
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode FillFaces(Tank *tank)
{
  const GridBox *box = grid_box(tank->grid);
  PetscReal     *weights[DIM], *start[DIM];

  PetscFunctionBegin;
  PetscCall(MacGridGetFaces(tank->grid, tank->weights, weights));
  PetscCall(MacGridGetFaces(tank->grid, tank->start, start));
  for (PetscInt d = 0; d < DIM; d++) {
    const GridRange faces = grid_faces(tank->grid, d);

    FOR_PLACES(&faces, at) {
      const PetscInt   f = box_index(box, at[X], at[Y], at[Z]);
      const PetscInt64 place = at[X] + 1024LL * (at[Y] + 1024LL * (at[Z] + 1024LL * d));

      weights[d][f] = at[d] > 0 && at[d] < box->cells[d] ? 1. : d == Z && at[d] > 0 ? 2. : 0.;
      start[d][f] = weights[d][f] > 0. ? noise(1000 + place) - 0.5 + (d == Z ? -0.1 : 0.) : 0.;
    }
  }
  PetscCall(MacGridRestoreFaces(tank->grid, tank->start, start));
  PetscCall(MacGridRestoreFaces(tank->grid, tank->weights, weights));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateTank(const Case *c, Tank *tank)
{
  const GridConfig config = {.dimension = 3, .size = vector3(1., 1., 1.), .resolution = c->cells};
  const TeamConfig team = {.solid_ranks = -1};

  PetscFunctionBegin;
  PetscCall(PetscMemzero(tank, sizeof(*tank)));
  PetscCall(TeamCreate(PETSC_COMM_WORLD, &team, WORK_BOTH, &tank->team));
  if (team_has_fluid(tank->team)) {
    PetscCall(MacGridCreate(team_fluid(tank->team), &config, &tank->grid));
    PetscCall(MacGridCreateFaceField(tank->grid, tank->weights));
    PetscCall(MacGridCreateFaceField(tank->grid, tank->start));
    PetscCall(MacGridCreateFaceField(tank->grid, tank->velocity));
    PetscCall(MacGridCreateField(tank->grid, &tank->impulse));
    PetscCall(FillFaces(tank));
  }
  PetscCall(AddSpheres(tank, c));
  PetscFunctionReturn(0);
}

static PetscErrorCode DestroyTank(Tank *tank)
{
  PetscFunctionBegin;
  for (PetscInt b = 0; b < tank->count; b++)
    PetscCall(SurfaceDestroy(&tank->surfaces[b]));
  if (tank->grid) {
    PetscCall(MacGridDestroyFaceField(tank->weights));
    PetscCall(MacGridDestroyFaceField(tank->start));
    PetscCall(MacGridDestroyFaceField(tank->velocity));
    PetscCall(VecDestroy(&tank->impulse));
    PetscCall(MacGridDestroy(&tank->grid));
  }
  PetscCall(TeamDestroy(&tank->team));
  PetscFunctionReturn(0);
}

typedef struct {
  PetscReal place, set, plain, solve; /* seconds, the best of a few */
  PetscInt  plain_iterations, iterations;
  PetscReal residual;
  PetscInt  mixed;
} Times;

static PetscReal processor_time(void)
{
  struct timespec now;

  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (PetscReal)now.tv_sec + 1e-9 * (PetscReal)now.tv_nsec;
}

static PetscErrorCode Restart(Tank *tank, PetscReal *twists, PetscReal *now)
{
  PetscFunctionBegin;
  for (PetscInt d = 0; d < DIM && tank->grid; d++)
    PetscCall(VecCopy(tank->start[d], tank->velocity[d]));
  if (tank->grid)
    PetscCall(VecSet(tank->impulse, 0.));
  for (PetscInt n = 0; n < 6 * tank->count; n++)
    twists[n] = n % 6 == 2 ? -0.1 : 0.;
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  *now = processor_time();
  PetscFunctionReturn(0);
}

static PetscErrorCode Stop(PetscReal start, PetscReal *best)
{
  PetscReal taken = processor_time() - start;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &taken, 1, MPIU_REAL, MPI_MAX, PETSC_COMM_WORLD));
  *best = PetscMin(*best, taken);
  PetscFunctionReturn(0);
}

static PetscErrorCode Measure(Tank *tank, Coupling coupling, Times *times)
{
  const FluidSystem fluid = {.density = 1., .weights = tank->weights};
  PetscReal         twists[6 * MOST_SPHERES], start;
  CouplingReport    report;

  PetscFunctionBegin;
  PetscCall(Restart(tank, twists, &start));
  PetscCall(CouplingPlace(coupling, tank->count, tank->bodies));
  PetscCall(Stop(start, &times->place));
  PetscCall(Restart(tank, twists, &start));
  PetscCall(CouplingSetFluid(coupling, &fluid));
  PetscCall(Stop(start, &times->set));
  PetscCall(Restart(tank, twists, &start));
  PetscCall(CouplingProject(coupling, tank->velocity, tank->impulse, twists, &report));
  PetscCall(Stop(start, &times->plain));
  times->plain_iterations = report.iterations;
  PetscCall(Restart(tank, twists, &start));
  PetscCall(CouplingSolve(coupling, tank->velocity, tank->impulse, twists, &report));
  PetscCall(Stop(start, &times->solve));
  times->iterations = report.reason > 0 ? report.iterations : -report.iterations;
  times->residual = report.residual;
  times->mixed = report.mixed_faces;
  PetscFunctionReturn(0);
}

static PetscErrorCode Print(const Case *c, CouplingSolver solver, const Times *times, PetscReal schur)
{
  PetscFunctionBegin;
  PetscCall(PetscPrintf(
      PETSC_COMM_WORLD,
      "| %4" PetscInt_FMT " | %7" PetscInt_FMT " | %6.0e | %6" PetscInt_FMT " | %-6s | %5" PetscInt_FMT
      " | %5" PetscInt_FMT " | %8.1e | %8.1f | %8.1f | %5.2f | %10.2f | %8.1f | %8.1f |\n",
      c->cells, c->spheres, (double)c->ratio, times->mixed, CouplingSolvers[solver], times->plain_iterations,
      times->iterations, (double)times->residual, (double)(1e3 * times->plain), (double)(1e3 * times->solve),
      (double)(times->solve / times->plain), (double)(times->solve / schur), (double)(1e3 * times->place),
      (double)(1e3 * times->set)));
  PetscFunctionReturn(0);
}

/* The solvers take turns: what else the machine does meets all of them. */
static PetscErrorCode RunCase(const Case *c, CouplingSolver last, PetscInt repeats)
{
  Coupling couplings[COUPLING_THESIS + 1];
  Times    times[COUPLING_THESIS + 1];
  Tank    *tank;

  PetscFunctionBegin;
  PetscCall(PetscNew(&tank));
  PetscCall(CreateTank(c, tank));
  for (CouplingSolver solver = COUPLING_MINRES; solver <= last; solver++) {
    const CouplingConfig config = {.solver = solver,
                                   .faces = c->faces,
                                   .mass = c->mass,
                                   .tolerance = 1e-8,
                                   .iterations = 500,
                                   .rounds = 1};

    times[solver] = (Times){PETSC_MAX_REAL, PETSC_MAX_REAL, PETSC_MAX_REAL, PETSC_MAX_REAL, 0, 0, 0., 0};
    PetscCall(CouplingCreate(tank->team, tank->grid, &config, &couplings[solver]));
  }
  for (PetscInt repeat = 0; repeat < repeats; repeat++)
    for (CouplingSolver solver = COUPLING_MINRES; solver <= last; solver++)
      if (solver != COUPLING_THESIS || repeat == 0)
        PetscCall(Measure(tank, couplings[solver], &times[solver]));
  for (CouplingSolver solver = COUPLING_MINRES; solver <= last; solver++) {
    PetscCall(Print(c, solver, &times[solver], times[COUPLING_SCHUR].solve));
    PetscCall(CouplingDestroy(&couplings[solver]));
  }
  PetscCall(DestroyTank(tank));
  PetscCall(PetscFree(tank));
  PetscFunctionReturn(0);
}

/* -size 96, -spheres 24, -ratio 1 measure these alone, -repeats times; -thesis also the thesis's solver;
   -faces tied and -mass diagonal as in a scene. */
int main(int argc, char **argv)
{
  static const PetscInt  sizes[] = {32, 64}, spheres[] = {1, 24, 200};
  static const PetscReal ratios[] = {1., 1e-3};
  PetscInt  only = 0, only_spheres = 0, repeats = 3, faces = COUPLING_CUT, mass = COUPLING_MASS_FULL;
  PetscReal only_ratio = 0.;
  PetscBool thesis = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-size", &only, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-spheres", &only_spheres, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-repeats", &repeats, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-ratio", &only_ratio, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-thesis", &thesis, NULL));
  PetscCall(PetscOptionsGetEList(NULL, NULL, "-faces", CouplingFaceKinds, 3, &faces, NULL));
  PetscCall(PetscOptionsGetEList(NULL, NULL, "-mass", CouplingMassKinds, 2, &mass, NULL));
  PetscCall(PetscPrintf(
      PETSC_COMM_WORLD,
      "|    n | spheres |  ratio |  mixed | solver | plain | iter. | residual | plain ms | solve ms | "
      "ratio | over schur | place ms |   set ms |\n"
      "|-----:|--------:|-------:|-------:|--------|------:|------:|---------:|---------:|---------:|"
      "------:|-----------:|---------:|---------:|\n"));
  for (size_t s = 0; s < (only ? 1 : PETSC_STATIC_ARRAY_LENGTH(sizes)); s++)
    for (size_t n = 0; n < PETSC_STATIC_ARRAY_LENGTH(spheres); n++)
      for (size_t r = 0; r < PETSC_STATIC_ARRAY_LENGTH(ratios); r++) {
        const Case c = {only ? only : sizes[s], spheres[n], ratios[r], (CouplingFaces)faces,
                        (CouplingMass)mass};

        if ((only_spheres && c.spheres != only_spheres) || (only_ratio > 0. && c.ratio != only_ratio))
          continue;
        PetscCall(RunCase(&c, thesis ? COUPLING_THESIS : COUPLING_SCHUR, repeats));
      }
  PetscCall(PetscFinalize());
  return 0;
}
