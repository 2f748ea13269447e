/* What the interfaces of a step cost: five regions beside two with the same surface, and level sets and
   markers beside a pressure solve; and what a step costs whose regions burn, beside one whose do not; and of
   gel beside a viscous liquid. */
#include "regions.h"
#include "scene_run.h"
#include <millrace/poisson.h>
#include <time.h>

enum { LAYERS = 5, WARM_UP = 2, STEPS = 5, SOLVES = 2 };

static Vector3 swirling(Vector3 point)
{
  const PetscReal x = PETSC_PI * point.at[X], y = PETSC_PI * point.at[Y];

  return vector3(-PetscSqr(PetscSinReal(x)) * PetscSinReal(2. * y),
                 PetscSqr(PetscSinReal(y)) * PetscSinReal(2. * x), 0.);
}

/* Layers l of the box, l = first, first + every, …, in one shape. */
static PetscErrorCode CreateLayers(PetscInt first, PetscInt every, Shape *shape)
{
  Shape    parts[LAYERS];
  PetscInt count = 0;

  PetscFunctionBegin;
  for (PetscInt l = first; l < LAYERS; l += every) {
    const PetscReal low = l ? l / (PetscReal)LAYERS : -1., high = l < LAYERS - 1 ? (l + 1.) / LAYERS : 2.;

    PetscCall(ShapeCreateBox(vector3(-1., low, -1.), vector3(2., high, 2.), &parts[count++]));
  }
  PetscCall(ShapeCreateCombination(SHAPE_UNION, count, parts, shape));
  PetscFunctionReturn(0);
}

static PetscErrorCode Start(Regions *regions)
{
  char message[512];

  PetscFunctionBegin;
  regions->config.interface.particles = 16;
  PetscCall(RegionsStart(PETSC_COMM_WORLD, regions, message, sizeof(message)));
  PetscCheck(!message[0], PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "%s", message);
  PetscCall(RegionsSetVelocity(regions, swirling));
  PetscFunctionReturn(0);
}

/* Of the busiest processor, which is the wall's on a quiet machine. */
static PetscErrorCode GetTime(PetscReal *seconds)
{
  PetscFunctionBegin;
  *seconds = clock() / (PetscReal)CLOCKS_PER_SEC;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, seconds, 1, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
  PetscFunctionReturn(0);
}

/* Mean time of a step of half a cell. */
static PetscErrorCode TimeSteps(Regions *regions, PetscReal *seconds)
{
  PetscReal began = 0., ended;

  PetscFunctionBegin;
  for (PetscInt s = 0; s < WARM_UP + STEPS; s++) {
    if (s == WARM_UP) {
      PetscCall(GetTime(&began));
    }
    PetscCall(PhaseAdvance(regions->phase, regions->velocity, NULL, 0.5 * grid_spacing(regions->grid)));
  }
  PetscCall(GetTime(&ended));
  *seconds = (ended - began) / STEPS;
  PetscFunctionReturn(0);
}

/* The layers as `count` regions in turn. */
static PetscErrorCode BenchLayers(PetscInt n, PetscInt count, PetscReal *seconds)
{
  Regions regions;
  Shape   shape;

  PetscFunctionBegin;
  regions_prepare(3, n, &regions);
  for (PetscInt r = 0; r < count - 1; r++) {
    PetscCall(CreateLayers(r, count, &shape));
    (void)regions_add(&regions, &shape);
  }
  (void)regions_add(&regions, NULL);
  PetscCall(Start(&regions));
  PetscCall(TimeSteps(&regions, seconds));
  PetscCall(RegionsDestroy(&regions));
  PetscFunctionReturn(0);
}

/* Divergence as a first step has it: that of the flow where it meets the surface, here a rough field. */
static PetscErrorCode FillRightSide(MacGrid grid, Vec right_side)
{
  const GridBox *box = grid_box(grid);
  PetscReal     *value;

  PetscFunctionBegin;
  PetscCall(VecGetArray(right_side, &value));
  FOR_CELLS(box, i, j, k)
    value[box_index(box, i, j, k)] = hash_real(hash_key(i, j, k, 0), 0) - 0.5;
  PetscCall(VecRestoreArray(right_side, &value));
  PetscFunctionReturn(0);
}

static PetscErrorCode TimeSolve(Regions *regions, PetscReal *seconds, PetscInt *iterations)
{
  const Mixture *mixture;
  PetscReal      began, ended;
  PoissonReport  report;
  Poisson        poisson;
  Vec            right_side, pressure, weights[DIM];

  PetscFunctionBegin;
  PetscCall(PhaseGetMixture(regions->phase, &mixture));
  PetscCall(MacGridCreateField(regions->grid, &right_side));
  PetscCall(MacGridCreateField(regions->grid, &pressure));
  for (PetscInt d = 0; d < DIM; d++)
    weights[d] = mixture->mobility[d];
  PetscCall(PoissonCreate(regions->grid, "bench_", &poisson));
  PetscCall(PoissonSetTolerance(poisson, 1e-7));
  for (PetscInt s = 0; s < SOLVES; s++) {
    PetscCall(FillRightSide(regions->grid, right_side));
    PetscCall(VecSet(pressure, 0.));
    PetscCall(GetTime(&began));
    PetscCall(PoissonSetWeights(poisson, weights, mixture->empty));
    PetscCall(PoissonSolve(poisson, right_side, pressure, &report));
    PetscCall(GetTime(&ended));
    *seconds = ended - began;
  }
  *iterations = report.iterations;
  PetscCall(PoissonDestroy(&poisson));
  PetscCall(VecDestroy(&right_side));
  PetscCall(VecDestroy(&pressure));
  PetscFunctionReturn(0);
}

/* A column of liquid (x < 0.4, y < 0.5) in another of `density`: the start of a dam break. */
static PetscErrorCode BenchDam(PetscInt n, PetscReal density)
{
  Regions   regions;
  Shape     shape;
  PetscReal step, solve = 0.;
  PetscInt  iterations = 0;

  PetscFunctionBegin;
  regions_prepare(3, n, &regions);
  PetscCall(ShapeCreateBox(vector3(-1., -1., -1.), vector3(0.4, 0.5, 2.), &shape));
  regions_add(&regions, &shape)->density = 1.;
  regions_add(&regions, NULL)->density = density;
  PetscCall(Start(&regions));
  PetscCall(TimeSteps(&regions, &step));
  PetscCall(TimeSolve(&regions, &solve, &iterations));
  PetscCall(PetscPrintf(
      PETSC_COMM_WORLD,
      "%4d^3  density ratio %g: interfaces %.2f s, pressure %.2f s (%d iterations), ratio %.2f (target "
      "<= 1.5), %lld markers\n",
      (int)n, (double)(1. / density), (double)step, (double)solve, (int)iterations, (double)(step / solve),
      (long long)(phase_report(regions.phase)->particles[0] + phase_report(regions.phase)->particles[1])));
  PetscCall(RegionsDestroy(&regions));
  PetscFunctionReturn(0);
}

/* Mean time of a whole step of a ball in a swirling liquid, each of a density and more keys, and the most
   iterations of its viscous solve. */
typedef struct {
  PetscReal seconds;
  PetscInt  iterations;
} BallCost;

static PetscErrorCode TimeBall(PetscInt n, const char ball[], const char liquid[], const char reactions[],
                               BallCost *cost)
{
  SceneRun  flow;
  PetscReal began, ended;

  PetscFunctionBegin;
  PetscCall(SceneRunCreate(PETSC_COMM_WORLD, &flow,
                           "grid: {size: [1, 1, 1], resolution: %d}\n"
                           "run: {end_time: 1, frame_interval: 1}\n"
                           "fluid:\n"
                           "  sides: {all: open}\n"
                           "  initial: {velocity: [0.3*sin(2*pi*y), 0.3*sin(2*pi*z), 0.3*sin(2*pi*x)]}\n"
                           "regions:\n"
                           "  - {name: ball, shape: {sphere: {center: [0.5, 0.5, 0.5], radius: 0.3}}, %s}\n"
                           "  - {name: liquid, %s}\n"
                           "interfaces: {reactions: %s}\n",
                           (int)n, ball, liquid, reactions));
  cost->iterations = 0;
  PetscCall(SceneRunStep(&flow, WARM_UP, 0.2 / n));
  PetscCall(GetTime(&began));
  for (PetscInt s = 0; s < STEPS; s++) {
    PetscCall(SceneRunStep(&flow, 1, 0.2 / n));
    if (flow.fluid)
      cost->iterations = PetscMax(cost->iterations, fluid_report(flow.fluid)->viscosity_iterations);
  }
  PetscCall(GetTime(&ended));
  cost->seconds = (ended - began) / STEPS;
  PetscCall(SceneRunDestroy(&flow));
  PetscFunctionReturn(0);
}

static PetscErrorCode BenchFronts(PetscInt n)
{
  BallCost plain, burning;

  PetscFunctionBegin;
  PetscCall(TimeBall(n, "density: 0.2", "density: 1", "[]", &plain));
  PetscCall(
      TimeBall(n, "density: 0.2", "density: 1", "[{first: liquid, product: ball, speed: 0.1}]", &burning));
  PetscCall(PetscPrintf(
      PETSC_COMM_WORLD, "%4d^3  a step without a front %.2f s, with one %.2f s, ratio %.2f (target <= 1.5)\n",
      (int)n, (double)plain.seconds, (double)burning.seconds, (double)(burning.seconds / plain.seconds)));
  PetscFunctionReturn(0);
}

/* A ball of gel, as one of a viscous liquid alone. */
static PetscErrorCode BenchElastic(PetscInt n)
{
  BallCost plain, elastic;

  PetscFunctionBegin;
  PetscCall(TimeBall(n, "density: 1100, viscosity: 1", "density: 1000, viscosity: 1", "[]", &plain));
  PetscCall(TimeBall(n, "density: 1100, viscosity: 1, elasticity: {modulus: 1000, relaxation: 1}",
                     "density: 1000, viscosity: 1", "[]", &elastic));
  PetscCall(PetscPrintf(
      PETSC_COMM_WORLD,
      "%4d^3  a viscous step %.2f s, %d iterations, an elastic one %.2f s, %d; ratios %.2f, "
      "%.2f (targets <= 1.4, 2)\n",
      (int)n, (double)plain.seconds, (int)plain.iterations, (double)elastic.seconds, (int)elastic.iterations,
      (double)(elastic.seconds / plain.seconds), (double)elastic.iterations / (double)plain.iterations));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  const PetscInt n = argc > 1 ? atoi(argv[1]) : 128;
  PetscReal      two, five;

  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(BenchLayers(n, 2, &two));
  PetscCall(BenchLayers(n, LAYERS, &five));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "%4d^3  four surfaces: two regions %.2f s, five %.2f s, ratio %.2f (target <= 1.6)\n",
                        (int)n, (double)two, (double)five, (double)(five / two)));
  PetscCall(BenchDam(n, 1.));
  PetscCall(BenchDam(n, 1e-3));
  PetscCall(BenchFronts(n / 2));
  PetscCall(BenchElastic(n / 2));
  PetscCall(PetscFinalize());
  return 0;
}
