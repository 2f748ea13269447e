#include "scene_run.h"

#include <stdarg.h>
#include <string.h>

PetscErrorCode SceneRunStart(MPI_Comm comm, SceneRun *flow)
{
  char message[1024];

  PetscFunctionBegin;
  PetscCall(SceneReport(flow->scene, stderr));
  PetscCheck(scene_is_good(flow->scene), comm, PETSC_ERR_USER_INPUT, "The scene of the test is not good");
  PetscCall(SimulationCreate(comm, scene_config(flow->scene), &flow->simulation, message, sizeof(message)));
  PetscCheck(flow->simulation, comm, PETSC_ERR_USER_INPUT, "%s", message);
  PetscCall(SimulationStart(flow->simulation));
  flow->grid = simulation_grid(flow->simulation);
  flow->fluid = simulation_fluid(flow->simulation);
  PetscFunctionReturn(0);
}

PetscErrorCode SceneRunCreate(MPI_Comm comm, SceneRun *flow, const char format[], ...)
{
  char    text[4096];
  int     length;
  va_list arguments;

  PetscFunctionBegin;
  va_start(arguments, format);
  length = vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  PetscCheck(length >= 0 && (size_t)length < sizeof(text), comm, PETSC_ERR_ARG_SIZ,
             "The text of the scene is too long");
  if (!strstr(text, "run:"))
    PetscCall(PetscStrlcat(text, "run: {end_time: 1, frame_interval: 1}\n", sizeof(text)));
  *flow = (SceneRun){0};
  PetscCall(SceneReadText(comm, "test", text, 0, NULL, &flow->scene));
  PetscCall(SceneRunStart(comm, flow));
  PetscFunctionReturn(0);
}

PetscErrorCode SceneRunOpen(SceneRun *flow, const char scene[], PetscInt cells, ...)
{
  enum { MOST_OVERRIDES = 8 };
  const char *source = getenv("MILLRACE_SOURCE"), *overrides[MOST_OVERRIDES], *next;
  char        path[PETSC_MAX_PATH_LEN], resolution[64];
  PetscInt    count = 0;
  va_list     further;

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(path, sizeof(path), "%s/inputs/%s.yaml", source ? source : ".", scene));
  PetscCall(PetscSNPrintf(resolution, sizeof(resolution), "grid.resolution=%d", (int)cells));
  if (cells > 0)
    overrides[count++] = resolution;
  va_start(further, cells);
  while ((next = va_arg(further, const char *)) && count < MOST_OVERRIDES)
    overrides[count++] = next;
  va_end(further);
  PetscCheck(!next, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "Too many overrides");
  *flow = (SceneRun){0};
  PetscCall(SceneRead(PETSC_COMM_WORLD, path, count, overrides, &flow->scene));
  PetscCall(SceneRunStart(PETSC_COMM_WORLD, flow));
  PetscFunctionReturn(0);
}

PetscErrorCode SceneRunDestroy(SceneRun *flow)
{
  PetscFunctionBegin;
  PetscCall(SimulationDestroy(&flow->simulation));
  PetscCall(SceneDestroy(&flow->scene));
  PetscFunctionReturn(0);
}

PetscErrorCode SceneRunStep(SceneRun *flow, PetscInt count, PetscReal dt)
{
  PetscBool good;

  PetscFunctionBegin;
  for (PetscInt n = 0; n < count; n++) {
    PetscReal taken = dt;

    PetscCall(SimulationTryStep(flow->simulation, &taken, &good));
    PetscCheck(good && (count == 1 || taken == dt), PETSC_COMM_SELF, PETSC_ERR_NOT_CONVERGED,
               "Step %" PetscInt_FMT " failed", simulation_step(flow->simulation) + 1);
  }
  PetscFunctionReturn(0);
}

PetscErrorCode SceneRunUntil(SceneRun *flow, PetscReal time)
{
  PetscReal dt;

  PetscFunctionBegin;
  while (simulation_time(flow->simulation) < time * (1. - 1e-12)) {
    PetscCall(SimulationGetTimeStep(flow->simulation, time, &dt));
    PetscCall(SceneRunStep(flow, 1, dt));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode SceneRunGetField(SceneRun *flow, PetscInt field, Vec *values)
{
  Vec *several;

  PetscFunctionBegin;
  if (field < DIM) {
    PetscCall(FluidGetVelocity(flow->fluid, &several));
    *values = several[field];
  } else if (field == FIELD_PRESSURE) {
    PetscCall(FluidGetPressure(flow->fluid, values));
  } else {
    PetscCall(FluidGetScalars(flow->fluid, &several));
    *values = several[field - FIELD_SCALAR];
  }
  PetscFunctionReturn(0);
}

/* What a value is compared with. */
typedef struct {
  Formula          formula;
  PetscReal        time;
  const GridBox   *box; /* of the other flow, with its values */
  const PetscReal *values;
} Expected;

static PetscReal expected_value(const Expected *expected, MacGrid grid, PetscInt field,
                                const PetscInt at[DIM])
{
  if (expected->values)
    return expected->values[box_index(expected->box, at[X], at[Y], at[Z])];
  if (field < DIM)
    return formula_value(expected->formula, grid_face_centre(grid, field, at[X], at[Y], at[Z]),
                         expected->time);
  return formula_value(expected->formula, grid_cell_centre(grid, at[X], at[Y], at[Z]), expected->time);
}

/* Places that belong to the fluid: of faces, those between two fluid cells. */
static PetscBool is_in_fluid(const GridBox *box, const PetscReal *solid, PetscInt field, PetscInt c)
{
  if (!solid)
    return PETSC_TRUE;
  return solid[c] <= 0. && (field >= DIM || solid[c - box->stride[field]] <= 0.);
}

/* count, sum, sum of squares, smallest and largest of the differences */
enum { COUNT, SUM, SQUARES, LEAST, MOST, STATISTICS };

static PetscErrorCode Gather(SceneRun *flow, PetscInt field, const Expected *expected,
                             PetscReal statistics[STATISTICS])
{
  const GridBox   *box = grid_box(flow->grid);
  const GridRange  owned = field < DIM ? grid_faces(flow->grid, field) : box_grown(box, 0);
  const PetscReal *value, *solid = NULL;
  Vec              values, solids;

  PetscFunctionBegin;
  PetscCall(SceneRunGetField(flow, field, &values));
  PetscCall(FluidGetSolid(flow->fluid, &solids));
  if (solids)
    PetscCall(VecGetArrayRead(solids, &solid));
  PetscCall(VecGetArrayRead(values, &value));
  FOR_PLACES(&owned, at) {
    const PetscInt  c = box_index(box, at[X], at[Y], at[Z]);
    const PetscReal difference = value[c] - expected_value(expected, flow->grid, field, at);

    if (!is_in_fluid(box, solid, field, c))
      continue;
    statistics[COUNT] += 1.;
    statistics[SUM] += difference;
    statistics[SQUARES] += difference * difference;
    statistics[LEAST] = PetscMin(statistics[LEAST], difference);
    statistics[MOST] = PetscMax(statistics[MOST], difference);
  }
  PetscCall(VecRestoreArrayRead(values, &value));
  if (solids)
    PetscCall(VecRestoreArrayRead(solids, &solid));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, statistics, LEAST, MPIU_REAL, MPI_SUM, box->comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &statistics[LEAST], 1, MPIU_REAL, MPI_MIN, box->comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &statistics[MOST], 1, MPIU_REAL, MPI_MAX, box->comm));
  PetscFunctionReturn(0);
}

static PetscErrorCode CompareWith(SceneRun *flow, PetscInt field, const Expected *expected,
                                  FieldDifference *difference)
{
  PetscReal statistics[STATISTICS] = {0., 0., 0., PETSC_MAX_REAL, PETSC_MIN_REAL}, mean = 0.;

  PetscFunctionBegin;
  *difference = (FieldDifference){0., 0.};
  if (!flow->fluid)
    PetscFunctionReturn(0);
  PetscCall(Gather(flow, field, expected, statistics));
  if (field == FIELD_PRESSURE)
    mean = statistics[SUM] / statistics[COUNT];
  difference->mean_square =
      PetscSqrtReal(PetscMax(statistics[SQUARES] / statistics[COUNT] - mean * mean, 0.));
  difference->largest = PetscMax(statistics[MOST] - mean, mean - statistics[LEAST]);
  PetscFunctionReturn(0);
}

PetscErrorCode SceneRunCompare(SceneRun *flow, PetscInt field, const char formula[], PetscReal time,
                               FieldDifference *difference)
{
  Expected expected = {.time = time};
  char     message[256];

  PetscFunctionBegin;
  PetscCall(FormulaCreate(formula, &expected.formula, message, sizeof(message)));
  PetscCheck(expected.formula, PETSC_COMM_SELF, PETSC_ERR_USER_INPUT, "%s", message);
  PetscCall(CompareWith(flow, field, &expected, difference));
  PetscCall(FormulaDestroy(&expected.formula));
  PetscFunctionReturn(0);
}

PetscErrorCode SceneRunCompareWithSerial(SceneRun *flow, SceneRun *other, PetscInt field,
                                         FieldDifference *difference)
{
  Expected expected = {.box = grid_box(other->grid)};
  Vec      values;

  PetscFunctionBegin;
  PetscCall(SceneRunGetField(other, field, &values));
  PetscCall(VecGetArrayRead(values, &expected.values));
  PetscCall(CompareWith(flow, field, &expected, difference));
  PetscCall(VecRestoreArrayRead(values, &expected.values));
  PetscFunctionReturn(0);
}

PetscErrorCode SceneRunSample(SceneRun *flow, PetscInt field, Vector3 point, PetscReal *value)
{
  const GridBox   *box = grid_box(flow->grid);
  const PetscReal  h = grid_spacing(flow->grid);
  PetscInt         cell[DIM] = {0}, c;
  PetscReal        fraction[DIM] = {0.};
  PetscBool        mine = PETSC_TRUE;
  const PetscReal *values;
  Vec              vector;

  PetscFunctionBegin;
  for (PetscInt d = 0; d < box->dimension; d++) {
    const PetscReal place = (point.at[d] - grid_origin(flow->grid).at[d]) / h;
    const PetscReal shifted = place - (field == d ? 0. : 0.5);
    /* the cell of the point decides who answers; the first value of the stencil may be a ghost */
    const PetscInt owner = PetscMin((PetscInt)PetscFloorReal(place), box->cells[d] - 1);

    if (owner < box->start[d] || owner >= box->end[d])
      mine = PETSC_FALSE;
    cell[d] = (PetscInt)PetscFloorReal(shifted);
    fraction[d] = shifted - cell[d];
  }
  *value = 0.;
  PetscCall(SceneRunGetField(flow, field, &vector));
  PetscCall(VecGetArrayRead(vector, &values));
  c = mine ? box_index(box, cell[X], cell[Y], cell[Z]) : 0;
  for (PetscInt corner = 0; mine && corner < (box->dimension == 2 ? 4 : 8); corner++) {
    PetscReal weight = 1.;
    PetscInt  at = c;

    for (PetscInt d = 0; d < box->dimension; d++) {
      weight *= corner >> d & 1 ? fraction[d] : 1. - fraction[d];
      at += (corner >> d & 1) * box->stride[d];
    }
    *value += weight > 0. ? weight * values[at] : 0.;
  }
  PetscCall(VecRestoreArrayRead(vector, &values));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, value, 1, MPIU_REAL, MPI_SUM, box->comm));
  PetscFunctionReturn(0);
}

PetscReal order_between(PetscReal coarse, PetscReal fine)
{
  return PetscLogReal(coarse / fine) / PetscLogReal(2.);
}

void note(const char format[], ...)
{
  va_list arguments;

  va_start(arguments, format);
  printf("# ");
  vprintf(format, arguments);
  printf("\n");
  va_end(arguments);
}
