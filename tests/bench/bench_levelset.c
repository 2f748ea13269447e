/* Cost of everything a level set does in a step: a sphere that fills a third of the box, with markers on both
   sides. Seconds, and nanoseconds per cell of the band or per marker. */
#include "interface.h"

#include <time.h>

static PetscReal sphere(Vector3 point)
{
  return vector3_norm(vector3_subtract(point, vector3(0.5, 0.5, 0.5))) - 0.3;
}

static Vector3 vortex(Vector3 point, PetscReal time)
{
  const PetscReal x = PETSC_PI * point.at[X], y = PETSC_PI * point.at[Y], z = PETSC_PI * point.at[Z];

  (void)time;
  return vector3(2. * PetscSqr(PetscSinReal(x)) * PetscSinReal(2. * y) * PetscSinReal(2. * z),
                 -PetscSqr(PetscSinReal(y)) * PetscSinReal(2. * x) * PetscSinReal(2. * z),
                 -PetscSqr(PetscSinReal(z)) * PetscSinReal(2. * x) * PetscSinReal(2. * y));
}

typedef struct {
  Interface  interface;
  Vec        curvature, known;
  PetscReal  dt;
  PetscInt64 seeded;
} Case;

typedef PetscErrorCode (*Operation)(Case *bench);

static PetscErrorCode Refresh(Case *bench)
{
  return LevelSetRefresh(bench->interface.level_set);
}
static PetscErrorCode Advect(Case *bench)
{
  bench->dt = -bench->dt; /* to and fro */
  return LevelSetAdvect(bench->interface.level_set, bench->interface.velocity, bench->dt);
}
static PetscErrorCode Redistance(Case *bench)
{
  return LevelSetRedistance(bench->interface.level_set);
}
static PetscErrorCode Curvature(Case *bench)
{
  Vec field;

  PetscFunctionBegin;
  PetscCall(LevelSetGetField(bench->interface.level_set, &field));
  PetscCall(DistanceGetCurvature(bench->interface.grid, NULL, field, bench->curvature));
  PetscFunctionReturn(0);
}
static PetscErrorCode Volume(Case *bench)
{
  PetscReal volume;

  return LevelSetGetVolume(bench->interface.level_set, NULL, &volume);
}
static PetscErrorCode Extend(Case *bench)
{
  const PetscInt layers = 3;
  Vec            field;

  PetscFunctionBegin;
  PetscCall(LevelSetGetField(bench->interface.level_set, &field));
  PetscCall(ExtendFaces(bench->interface.grid, NULL, field, bench->known, 1, &layers,
                        (Vec *[]){bench->interface.velocity}));
  PetscFunctionReturn(0);
}
static PetscErrorCode Move(Case *bench)
{
  bench->dt = -bench->dt;
  return ParticlesMove(bench->interface.markers[0], NULL, bench->interface.velocity, bench->dt);
}
static PetscErrorCode Correct(Case *bench)
{
  return LevelSetCorrect(bench->interface.level_set, 2, bench->interface.markers, 0);
}
static PetscErrorCode AdjustRadii(Case *bench)
{
  return LevelSetAdjustRadii(bench->interface.level_set, bench->interface.markers[0]);
}
static PetscErrorCode Seed(Case *bench)
{
  return LevelSetSeed(bench->interface.level_set, bench->interface.markers[0], 0, ++bench->seeded);
}

/* Best of three, wall and processor time of rank 0: the latter also counts on a machine that others use. */
static PetscErrorCode Time(Case *bench, const char name[], Operation operation, PetscReal count)
{
  PetscReal best = PETSC_MAX_REAL;
  double    least = PETSC_MAX_REAL;

  PetscFunctionBegin;
  for (PetscInt n = 0; n < 3; n++) {
    clock_t   before;
    PetscReal start;
    double    spent;

    PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
    start = MPI_Wtime();
    before = clock();
    PetscCall(operation(bench));
    spent = (double)(clock() - before) / CLOCKS_PER_SEC;
    PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
    best = PetscMin(best, MPI_Wtime() - start);
    least = PetscMin(least, spent);
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%-22s %8.4f s wall %8.4f s processor %8.1f ns\n", name,
                        (double)best, least, 1e9 * least / (double)count));
  PetscFunctionReturn(0);
}

static PetscErrorCode SetKnown(Case *bench)
{
  PetscReal *known;
  Vec        field;

  PetscFunctionBegin;
  PetscCall(LevelSetGetField(bench->interface.level_set, &field));
  PetscCall(VecCopy(field, bench->known));
  PetscCall(VecGetArray(bench->known, &known));
  for (PetscInt c = 0; c < grid_box(bench->interface.grid)->length; c++)
    known[c] = known[c] < 0.;
  PetscCall(VecRestoreArray(bench->known, &known));
  PetscFunctionReturn(0);
}

static PetscErrorCode RunCase(PetscInt n)
{
  const InterfaceConfig config = {.advection = INTERFACE_WENO5, .particles = 16};
  const PetscReal       band = 4. * PETSC_PI * PetscSqr(0.3 * n) * 2. * BAND_CELLS;
  const GridConfig      grid = cube_grid(3, n, 1.);
  Case                  bench = {.dt = 0.25 / n};
  PetscInt64            markers[2];

  PetscFunctionBegin;
  PetscCall(InterfaceCreate(PETSC_COMM_WORLD, &grid, &config, &bench.interface));
  PetscCall(MacGridCreateField(bench.interface.grid, &bench.curvature));
  PetscCall(MacGridCreateField(bench.interface.grid, &bench.known));
  PetscCall(InterfaceSet(&bench.interface, sphere));
  PetscCall(InterfaceSetVelocity(&bench.interface, vortex, 0.));
  PetscCall(LevelSetRedistance(bench.interface.level_set));
  PetscCall(SetKnown(&bench));
  PetscCall(InterfaceSeed(&bench.interface));
  for (PetscInt s = 0; s < 2; s++)
    PetscCall(ParticlesGetTotal(bench.interface.markers[s], &markers[s]));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%d^3 cells, %.0f in the band, %.0f + %.0f markers\n", (int)n,
                        (double)band, (double)markers[0], (double)markers[1]));
  PetscCall(Time(&bench, "refresh", Refresh, band));
  PetscCall(Time(&bench, "advect, weno5", Advect, band));
  bench.interface.config.advection = INTERFACE_SEMI_LAGRANGIAN;
  PetscCall(Time(&bench, "advect, semi-lagrangian", Advect, band));
  PetscCall(Time(&bench, "redistance", Redistance, band));
  PetscCall(Time(&bench, "curvature", Curvature, band));
  PetscCall(Time(&bench, "volume", Volume, band));
  PetscCall(Time(&bench, "extend faces", Extend, band));
  PetscCall(Time(&bench, "move markers inside", Move, (PetscReal)markers[0]));
  PetscCall(Time(&bench, "correct", Correct, (PetscReal)(markers[0] + markers[1])));
  PetscCall(Time(&bench, "adjust radii inside", AdjustRadii, (PetscReal)markers[0]));
  PetscCall(Time(&bench, "seed inside", Seed, (PetscReal)markers[0]));
  PetscCall(VecDestroy(&bench.known));
  PetscCall(VecDestroy(&bench.curvature));
  PetscCall(InterfaceDestroy(&bench.interface));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  PetscInt  sizes[8] = {64, 128}, count = 8;
  PetscBool given;

  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-cells", sizes, &count, &given));
  if (!given)
    count = 2;
  for (PetscInt s = 0; s < count; s++)
    PetscCall(RunCase(sizes[s]));
  PetscCall(PetscFinalize());
  return 0;
}
