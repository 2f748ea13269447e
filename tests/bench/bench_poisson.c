/* The pressure solve in units of a plain sweep: how many times y = A x with constant coefficients could run
   on the same grid, in the same run, on the same ranks. */
#include <millrace/poisson.h>

enum { SPHERES = 24 };

typedef enum { TOP_CLOSED, TOP_OPEN } Top;

/* Where the first of two materials is; the box has walls all around. */
typedef enum { SOLIDS_ONLY, POOL, DAM, WAVES, BALL, BALLS, SHEET } Shape;

typedef struct {
  const char *name;
  Shape       shape;
  PetscReal   densities[2]; /* on its two sides; 0: empty, p = 0 */
} Scene;

static const Scene scenes[] = {
    {"pool under air", POOL, {1., 1e-3}},
    {"dam in air", DAM, {1., 1e-3}},
    {"waves under air", WAVES, {1., 1e-3}},
    {"drop in air", BALL, {1., 1e-3}},
    {"bubble in water", BALL, {1e-3, 1.}},
    {"24 heavy balls", BALLS, {1., 1e-3}},
    {"24 light balls", BALLS, {1e-3, 1.}},
    {"thin sheet in air", SHEET, {1., 1e-3}},
    {"pool", POOL, {1., 0.}},
    {"dam", DAM, {1., 0.}},
    {"waves", WAVES, {1., 0.}},
    {"24 drops", BALLS, {1., 0.}},
    {"24 empty bubbles", BALLS, {0., 1.}},
    {"thin sheet", SHEET, {1., 0.}},
};

typedef struct {
  MacGrid grid;
  Vec     weights[DIM], fixed, right_side, pressure;
} Case;

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

static PetscBool is_solid(Vector3 point)
{
  for (PetscInt s = 0; s < SPHERES; s++) {
    const Vector3   centre = vector3(noise(4 * s), noise(4 * s + 1), noise(4 * s + 2));
    const PetscReal radius = 0.04 + 0.08 * noise(4 * s + 3);

    if (vector3_norm(vector3_subtract(point, centre)) < radius)
      return PETSC_TRUE;
  }
  return PETSC_FALSE;
}

static PetscReal balls(Vector3 point)
{
  PetscReal nearest = 1.;

  for (PetscInt s = 0; s < SPHERES; s++) {
    const Vector3   centre = vector3(noise(4 * s), noise(4 * s + 1), noise(4 * s + 2));
    const PetscReal radius = 0.04 + 0.08 * noise(4 * s + 3);

    nearest = PetscMin(nearest, vector3_norm(vector3_subtract(point, centre)) - radius);
  }
  return nearest;
}

/* Negative in the first material; `h` is the size of a cell. */
static PetscReal distance(Shape shape, Vector3 point, PetscReal h)
{
  const PetscReal x = point.at[X], y = point.at[Y], z = point.at[Z];
  const PetscReal wave = 0.05 * PetscSinReal(7. * x) * PetscCosReal(5. * z);

  switch (shape) {
  case POOL:
    return y - 0.5 - 0.532 * h;
  case DAM:
    return PetscMax(x - 0.4, y - 0.5);
  case WAVES:
    return y - 0.5 - 2. * wave - 0.03 * PetscSinReal(20. * z + 25. * x);
  case BALL:
    return vector3_norm(vector3_subtract(point, vector3(0.48, 0.51, 0.53))) - 0.3;
  case BALLS:
    return balls(point);
  case SHEET:
    return PetscMin(PetscAbsReal(y - 0.55 - wave) - 1.3 * h, y - 0.2 - 0.4 * wave);
  default:
    return -1.;
  }
}

/* 1/density along the way between two centres; from the surface to the liquid where one side is empty. */
static PetscReal mixed_weight(const Scene *scene, PetscReal a, PetscReal b)
{
  const PetscReal smallest = 1e-3, density_a = scene->densities[a >= 0.],
                  density_b = scene->densities[b >= 0.];
  const PetscReal part = (a < 0.) == (b < 0.) ? 1. : PetscAbsReal(a) / (PetscAbsReal(a) + PetscAbsReal(b));

  if (density_a == 0. && density_b == 0.)
    return 0.;
  if (density_a == 0.)
    return 1. / (PetscMax(1. - part, smallest) * density_b);
  if (density_b == 0.)
    return 1. / (PetscMax(part, smallest) * density_a);
  return 1. / (part * density_a + (1. - part) * density_b);
}

/* The distance, with ghosts. */
static PetscErrorCode CreateDistance(MacGrid grid, Shape shape, Vec *field)
{
  const GridBox *box = grid_box(grid);
  PetscReal     *values;

  PetscFunctionBegin;
  PetscCall(MacGridCreateField(grid, field));
  PetscCall(VecGetArray(*field, &values));
  FOR_CELLS(box, i, j, k)
    values[box_index(box, i, j, k)] = distance(shape, grid_cell_centre(grid, i, j, k), grid_spacing(grid));
  PetscCall(VecRestoreArray(*field, &values));
  PetscCall(MacGridExchange(grid, *field));
  PetscFunctionReturn(0);
}

/* 1 in solid cells, with ghosts. */
static PetscErrorCode CreateSolids(MacGrid grid, Vec *solids)
{
  const GridBox *box = grid_box(grid);
  PetscReal     *values;

  PetscFunctionBegin;
  PetscCall(MacGridCreateField(grid, solids));
  PetscCall(VecGetArray(*solids, &values));
  FOR_CELLS(box, i, j, k)
    values[box_index(box, i, j, k)] = is_solid(grid_cell_centre(grid, i, j, k)) ? 1. : 0.;
  PetscCall(VecRestoreArray(*solids, &values));
  PetscCall(MacGridExchange(grid, *solids));
  PetscFunctionReturn(0);
}

static PetscReal face_weight(const GridBox *box, const PetscReal *solids, Top top, PetscInt d,
                             const PetscInt at[DIM])
{
  const PetscInt  c = box_index(box, at[X], at[Y], at[Z]);
  const PetscBool lower_solid = solids[c - box->stride[d]] > 0., upper_solid = solids[c] > 0.;

  if (d == Z && at[d] == box->cells[d] && top == TOP_OPEN)
    return lower_solid ? 0. : 2.;
  if (at[d] == 0 || at[d] == box->cells[d])
    return 0.;
  return lower_solid || upper_solid ? 0. : 1.;
}

static PetscErrorCode SetWeightsAndFlow(Case *c, Top top)
{
  const GridBox *box = grid_box(c->grid);
  PetscReal     *weights[DIM], *flow[DIM], *solid;
  Vec            velocity[DIM], solids;

  PetscFunctionBegin;
  PetscCall(CreateSolids(c->grid, &solids));
  PetscCall(MacGridCreateFaceField(c->grid, velocity));
  PetscCall(MacGridGetFaces(c->grid, c->weights, weights));
  PetscCall(MacGridGetFaces(c->grid, velocity, flow));
  PetscCall(VecGetArray(solids, &solid));
  for (PetscInt d = 0; d < DIM; d++) {
    const GridRange faces = grid_faces(c->grid, d);

    FOR_PLACES(&faces, at) {
      const PetscInt   f = box_index(box, at[X], at[Y], at[Z]);
      const PetscInt64 place = at[X] + 1024LL * (at[Y] + 1024LL * (at[Z] + 1024LL * d));

      weights[d][f] = face_weight(box, solid, top, d, at);
      flow[d][f] = weights[d][f] > 0. ? noise(1000 + place) - 0.5 : 0.;
    }
  }
  PetscCall(VecRestoreArray(solids, &solid));
  PetscCall(VecDestroy(&solids));
  PetscCall(MacGridRestoreFaces(c->grid, velocity, flow));
  PetscCall(MacGridRestoreFaces(c->grid, c->weights, weights));
  PetscCall(MacGridExchangeFaces(c->grid, velocity));
  PetscCall(MacGridDivergence(c->grid, velocity, c->right_side));
  PetscCall(MacGridDestroyFaceField(velocity));
  PetscFunctionReturn(0);
}

static PetscErrorCode SetFixed(Case *c, const Scene *scene, const PetscReal *phi)
{
  PetscReal *fixed;
  PetscInt   length;

  PetscFunctionBegin;
  if (scene->densities[0] * scene->densities[1] > 0.)
    PetscFunctionReturn(0);
  PetscCall(MacGridCreateField(c->grid, &c->fixed));
  PetscCall(VecGetLocalSize(c->fixed, &length));
  PetscCall(VecGetArray(c->fixed, &fixed));
  for (PetscInt i = 0; i < length; i++)
    fixed[i] = scene->densities[phi[i] >= 0.] == 0. ? 1. : 0.;
  PetscCall(VecRestoreArray(c->fixed, &fixed));
  PetscFunctionReturn(0);
}

/* Weights of two materials and the outflow of a random velocity. */
static PetscErrorCode SetScene(Case *c, const Scene *scene)
{
  const GridBox *box = grid_box(c->grid);
  PetscReal     *weights[DIM], *flow[DIM], *phi;
  Vec            velocity[DIM], field;

  PetscFunctionBegin;
  PetscCall(CreateDistance(c->grid, scene->shape, &field));
  PetscCall(MacGridCreateFaceField(c->grid, velocity));
  PetscCall(MacGridGetFaces(c->grid, c->weights, weights));
  PetscCall(MacGridGetFaces(c->grid, velocity, flow));
  PetscCall(VecGetArray(field, &phi));
  for (PetscInt d = 0; d < DIM; d++) {
    const GridRange faces = grid_faces(c->grid, d);

    FOR_PLACES(&faces, at) {
      const PetscInt   f = box_index(box, at[X], at[Y], at[Z]);
      const PetscInt64 place = at[X] + 1024LL * (at[Y] + 1024LL * (at[Z] + 1024LL * d));
      const PetscBool  inside = at[d] > 0 && at[d] < box->cells[d];

      weights[d][f] = inside ? mixed_weight(scene, phi[f - box->stride[d]], phi[f]) : 0.;
      flow[d][f] = weights[d][f] > 0. ? noise(1000 + place) - 0.5 : 0.;
    }
  }
  PetscCall(SetFixed(c, scene, phi));
  PetscCall(VecRestoreArray(field, &phi));
  PetscCall(VecDestroy(&field));
  PetscCall(MacGridRestoreFaces(c->grid, velocity, flow));
  PetscCall(MacGridRestoreFaces(c->grid, c->weights, weights));
  PetscCall(MacGridExchangeFaces(c->grid, velocity));
  PetscCall(MacGridDivergence(c->grid, velocity, c->right_side));
  PetscCall(MacGridDestroyFaceField(velocity));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateCase(PetscInt n, Top top, const Scene *scene, Case *c)
{
  const GridConfig config = {.dimension = 3, .size = vector3(1., 1., 1.), .resolution = n};

  PetscFunctionBegin;
  PetscCall(MacGridCreate(PETSC_COMM_WORLD, &config, &c->grid));
  PetscCall(MacGridCreateFaceField(c->grid, c->weights));
  PetscCall(MacGridCreateField(c->grid, &c->right_side));
  PetscCall(MacGridCreateField(c->grid, &c->pressure));
  c->fixed = NULL;
  if (scene)
    PetscCall(SetScene(c, scene));
  else
    PetscCall(SetWeightsAndFlow(c, top));
  PetscFunctionReturn(0);
}

static PetscErrorCode DestroyCase(Case *c)
{
  PetscFunctionBegin;
  PetscCall(VecDestroy(&c->fixed));
  PetscCall(VecDestroy(&c->pressure));
  PetscCall(VecDestroy(&c->right_side));
  PetscCall(MacGridDestroyFaceField(c->weights));
  PetscCall(MacGridDestroy(&c->grid));
  PetscFunctionReturn(0);
}

VECTOR_CLONES static void sweep(const GridBox *box, const PetscReal *restrict x, PetscReal *restrict y)
{
  const PetscInt row = box->stride[Y], plane = box->stride[Z], width = box->end[X] - box->start[X];

  FOR_ROWS(box, j, k) {
    const PetscInt first = box_index(box, box->start[X], j, k);

    for (PetscInt c = first; c < first + width; c++)
      y[c] = 6. * x[c] - (x[c - 1] + x[c + 1]) - (x[c - row] + x[c + row]) - (x[c - plane] + x[c + plane]);
  }
}

typedef struct {
  PetscReal sweep, setup, solve; /* seconds */
} Times;

/* Keeps the best of a few series, on all ranks together. */
static PetscErrorCode TimeSweeps(const Case *c, Vec x, Vec y, Times *best)
{
  enum { SERIES = 3, SWEEPS = 10 };
  PetscReal *from, *to;

  PetscFunctionBegin;
  PetscCall(VecGetArray(x, &from));
  PetscCall(VecGetArray(y, &to));
  for (PetscInt series = 0; series < SERIES; series++) {
    PetscReal start;

    PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
    start = MPI_Wtime();
    for (PetscInt s = 0; s < SWEEPS; s += 2) {
      sweep(grid_box(c->grid), from, to);
      sweep(grid_box(c->grid), to, from);
    }
    PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
    best->sweep = PetscMin(best->sweep, (MPI_Wtime() - start) / SWEEPS);
  }
  PetscCall(VecRestoreArray(x, &from));
  PetscCall(VecRestoreArray(y, &to));
  PetscFunctionReturn(0);
}

static PetscErrorCode TimeSolve(const Case *c, Poisson poisson, PoissonReport *report, Times *best)
{
  PetscReal start, between;

  PetscFunctionBegin;
  PetscCall(VecSet(c->pressure, 0.));
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  start = MPI_Wtime();
  PetscCall(PoissonSetWeights(poisson, (Vec *)c->weights, c->fixed));
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  between = MPI_Wtime();
  PetscCall(PoissonSolve(poisson, c->right_side, c->pressure, report));
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  best->setup = PetscMin(best->setup, between - start);
  best->solve = PetscMin(best->solve, MPI_Wtime() - between);
  PetscFunctionReturn(0);
}

/* Memory in use per cell, over all ranks. */
static PetscErrorCode BytesPerCell(PetscInt n, PetscReal *bytes)
{
  PetscLogDouble mine;

  PetscFunctionBegin;
  PetscCall(PetscMemoryGetCurrentUsage(&mine));
  *bytes = mine;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, bytes, 1, MPIU_REAL, MPI_SUM, PETSC_COMM_WORLD));
  *bytes /= (PetscReal)n * n * n;
  PetscFunctionReturn(0);
}

static PetscErrorCode RunCase(PetscInt n, Top top)
{
  enum { REPEATS = 5 };
  Case          c;
  Poisson       poisson;
  PoissonReport report = {0};
  Times         best = {PETSC_MAX_REAL, PETSC_MAX_REAL, PETSC_MAX_REAL};
  PetscReal     before, after;
  char          bytes[16] = "";
  Vec           x, y;

  PetscFunctionBegin;
  PetscCall(CreateCase(n, top, NULL, &c));
  PetscCall(MacGridCreateField(c.grid, &x));
  PetscCall(VecSet(x, 1.));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(VecSet(y, 1.));
  PetscCall(BytesPerCell(n, &before));
  PetscCall(PoissonCreate(c.grid, "pressure_", &poisson));
  for (PetscInt repeat = 0; repeat < REPEATS; repeat++) {
    PetscCall(TimeSweeps(&c, x, y, &best));
    PetscCall(TimeSolve(&c, poisson, &report, &best));
  }
  PetscCall(BytesPerCell(n, &after));
  if (top == TOP_CLOSED) /* the open case lives in the memory that this one frees */
    PetscCall(PetscSNPrintf(bytes, sizeof(bytes), "%.0f", (double)(after - before)));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "| %4" PetscInt_FMT " | %-6s | %10" PetscInt_FMT
                        " | %8.1e | %8.2f | %8.1f | %6.0f | %7.1f | %5s |\n",
                        n, top == TOP_OPEN ? "open" : "closed", report.iterations, (double)report.residual,
                        (double)(1e3 * best.sweep), (double)(1e3 * best.solve),
                        (double)(best.solve / best.sweep), (double)(100. * best.setup / best.solve), bytes));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(PoissonDestroy(&poisson));
  PetscCall(DestroyCase(&c));
  PetscFunctionReturn(0);
}

/* Two materials, against the closed box with spheres of the same run. */
static PetscErrorCode RunScenes(PetscInt n)
{
  enum { REPEATS = 3 };
  PetscReal plain = 0.;

  PetscFunctionBegin;
  for (PetscInt s = -1; s < (PetscInt)PETSC_STATIC_ARRAY_LENGTH(scenes); s++) {
    const Scene  *scene = s < 0 ? NULL : &scenes[s];
    Case          c;
    Poisson       poisson;
    PoissonReport report = {0};
    Times         best = {PETSC_MAX_REAL, PETSC_MAX_REAL, PETSC_MAX_REAL};

    PetscCall(CreateCase(n, TOP_CLOSED, scene, &c));
    PetscCall(PoissonCreate(c.grid, "pressure_", &poisson));
    for (PetscInt repeat = 0; repeat < REPEATS; repeat++)
      PetscCall(TimeSolve(&c, poisson, &report, &best));
    plain = s < 0 ? best.solve : plain;
    PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                          "| %4" PetscInt_FMT " | %-17s | %10s | %10" PetscInt_FMT
                          " | %8.1e | %8.2f | %7.1f |\n",
                          n, scene ? scene->name : "24 spheres",
                          c.fixed ? "empty"
                          : scene ? "1000 : 1"
                                  : "",
                          report.iterations, (double)report.residual, (double)(best.solve / plain),
                          (double)(100. * best.setup / best.solve)));
    PetscCall(PoissonDestroy(&poisson));
    PetscCall(DestroyCase(&c));
  }
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  static const PetscInt sizes[] = {32, 64, 96, 128}, scene_sizes[] = {64, 128};
  PetscInt              only = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-only", &only, NULL));
  PetscCall(PetscPrintf(
      PETSC_COMM_WORLD,
      "|    n | top    | iterations | residual | sweep ms | solve ms | sweeps | setup %% | bytes |\n"
      "|-----:|--------|-----------:|---------:|---------:|---------:|-------:|--------:|------:|\n"));
  for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(sizes); s++)
    for (Top top = TOP_CLOSED; top <= TOP_OPEN; top++)
      if (!only || only == sizes[s])
        PetscCall(RunCase(sizes[s], top));
  PetscCall(PetscPrintf(
      PETSC_COMM_WORLD,
      "\n|    n | materials         |    density | iterations | residual | of plain | setup %% |\n"
      "|-----:|-------------------|-----------:|-----------:|---------:|---------:|--------:|\n"));
  for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(scene_sizes); s++)
    if (!only || only == scene_sizes[s])
      PetscCall(RunScenes(scene_sizes[s]));
  PetscCall(PetscFinalize());
  return 0;
}
