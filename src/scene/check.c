/* What no single key can tell: keys that must fit each other. */
#include "scene_impl.h"

#include <math.h>
#include <string.h>

static Node *at(Scene scene, const char block[], const char key[])
{
  return node_find(node_find(scene->root, block), key);
}

static PetscReal whole_cells(PetscReal cells, GridFit fit)
{
  const PetscReal slack = 1e-6; /* a size that is whole but for round-off stays */

  if (fit == GRID_FIT_EXACT || PetscAbsReal(cells - round(cells)) < slack)
    return PetscMax(1, round(cells));
  return PetscMax(1, fit == GRID_FIT_GROW ? PetscCeilReal(cells) : PetscFloorReal(cells));
}

/* Makes the size along y and z a whole number of cells, also in the resolved scene. */
static PetscErrorCode FitGrid(Scene scene)
{
  GridConfig     *grid = &scene->config.grid;
  const PetscReal spacing = grid->size.at[X] / grid->resolution;
  Node           *size = at(scene, "grid", "size");
  char            text[32];

  PetscFunctionBegin;
  if (grid->fit == GRID_FIT_EXACT || !is_usable(size) || !is_usable(at(scene, "grid", "resolution")))
    PetscFunctionReturn(0);
  for (PetscInt d = 1; d < grid->dimension && d < size->count; d++) {
    const PetscReal fitted = whole_cells(grid->size.at[d] / spacing, grid->fit) * spacing;

    if (PetscAbsReal(fitted - grid->size.at[d]) <= 1e-6 * spacing)
      continue;
    grid->size.at[d] = fitted;
    snprintf(text, sizeof(text), "%.17g", (double)fitted);
    PetscCall(NodeSetText(node_item(size, d), text, strlen(text)));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode CheckGrid(Scene scene)
{
  const GridConfig *grid = &scene->config.grid;
  const PetscReal   spacing = grid->size.at[X] / grid->resolution;
  Node             *size = at(scene, "grid", "size");
  const PetscInt    errors = scene->error_count;
  char              message[MESSAGE_LENGTH];

  PetscFunctionBegin;
  if (!is_usable(size) || !is_usable(at(scene, "grid", "resolution")))
    PetscFunctionReturn(0);
  for (PetscInt d = 1; d < grid->dimension; d++) {
    const PetscReal cells = whole_cells(grid->size.at[d] / spacing, GRID_FIT_EXACT);

    if (PetscAbsReal(cells * spacing - grid->size.at[d]) > 1e-6 * spacing)
      PetscCall(ProblemAdd(scene, node_item(size, d), PROBLEM_ERROR,
                           "grid.size along %c must be a whole number of cells of %.10g (size along x / "
                           "resolution); the nearest is %.10g, or let grid.fit: grow or shrink find one",
                           "xyz"[d], (double)spacing, (double)(cells * spacing)));
  }
  if (grid->dimension == 2 && is_usable(at(scene, "grid", "origin")) && grid->origin.at[Z] != 0)
    PetscCall(ProblemAdd(scene, node_item(at(scene, "grid", "origin"), Z), PROBLEM_ERROR,
                         "grid.origin along z must be 0 in two dimensions"));
  if (scene->error_count > errors || !grid->dimension)
    PetscFunctionReturn(0);
  PetscCall(GridConfigCheck(grid, 1, message, sizeof(message)));
  if (message[0])
    PetscCall(ProblemAdd(scene, size, PROBLEM_ERROR, "%s", message));
  PetscFunctionReturn(0);
}

/* A run gives up below this share of the interval between frames. */
static const double SMALLEST_STEP = 2e-9;

static PetscBool has_splash(Scene scene)
{
  const Node *splash = node_find(scene->root, "splash");

  return splash && splash->first ? PETSC_TRUE : PETSC_FALSE;
}

static PetscErrorCode CheckRun(Scene scene)
{
  const RunConfig *run = &scene->config.run;

  PetscFunctionBegin;
  for (const SchemaKey *key = RunKeys; key->name; key++)
    if (key->kind != SCHEMA_LIST && !is_usable(at(scene, "run", key->name)))
      PetscFunctionReturn(0);
  if (run->frame_interval > run->end_time)
    PetscCall(ProblemAdd(scene, at(scene, "run", "frame_interval"), PROBLEM_WARNING,
                         "run.frame_interval is longer than the run; there will be one frame, at the start"));
  if (run->time_step > run->frame_interval)
    PetscCall(
        ProblemAdd(scene, at(scene, "run", "time_step"), PROBLEM_WARNING,
                   "run.time_step is longer than run.frame_interval; steps end at frames and are shorter"));
  if (run->time_step > 0 && run->largest_time_step > 0 && run->time_step > run->largest_time_step)
    PetscCall(ProblemAdd(scene, at(scene, "run", "time_step"), PROBLEM_ERROR,
                         "run.time_step must not exceed run.largest_time_step (%g)",
                         (double)run->largest_time_step));
  if (run->time_step > 0 && run->time_step < SMALLEST_STEP * run->frame_interval)
    PetscCall(ProblemAdd(scene, at(scene, "run", "time_step"), PROBLEM_ERROR,
                         "run.time_step is too small for run.frame_interval: at least %g",
                         SMALLEST_STEP * (double)run->frame_interval));
  if (run->largest_time_step > 0 && run->largest_time_step < SMALLEST_STEP * run->frame_interval)
    PetscCall(ProblemAdd(scene, at(scene, "run", "largest_time_step"), PROBLEM_ERROR,
                         "run.largest_time_step is too small for run.frame_interval: at least %g",
                         SMALLEST_STEP * (double)run->frame_interval));
  if (run->steady > 0 && (!scene->has_fluid || has_splash(scene)))
    PetscCall(ProblemAdd(scene, at(scene, "run", "steady"), PROBLEM_ERROR,
                         "run.steady judges the velocity of a fluid, and the scene has %s",
                         scene->has_fluid ? "a splash instead" : "none"));
  if (run->end_time / run->frame_interval > 1e6)
    PetscCall(ProblemAdd(scene, at(scene, "run", "frame_interval"), PROBLEM_ERROR,
                         "run.frame_interval gives more than a million frames"));
  PetscFunctionReturn(0);
}

static Node *name_of(const Node *item)
{
  Node *name = node_find(item, "name");

  return name && name->kind == NODE_VALUE ? name : NULL;
}

static PetscErrorCode CheckOneName(Scene scene, const Node *list, const Node *item)
{
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
  Node             *name = name_of(item), *other = NULL;
  char              path[PATH_LENGTH];

  PetscFunctionBegin;
  if (!name)
    PetscFunctionReturn(0);
  node_path(name, path, sizeof(path));
  if (!name->text[0] || strlen(name->text) > 40 || strspn(name->text, letters) != strlen(name->text))
    PetscCall(ProblemAdd(scene, name, PROBLEM_ERROR, "%s must be 1 to 40 letters, digits, - and _", path));
  for (const Node *before = list->first; before != item && !other; before = before->next)
    if (name_of(before) && !strcmp(name_of(before)->text, name->text))
      other = name_of(before);
  if (other) {
    Node *later = other->override > name->override ? other : name;

    node_path(later, path, sizeof(path));
    PetscCall(ProblemAdd(scene, later, PROBLEM_ERROR, "%s: there is another \"%.40s\"; names must differ",
                         path, name->text));
  }
  PetscFunctionReturn(0);
}

/* Names become those of fields and files, and are told in messages. */
PetscErrorCode CheckNames(Scene scene, const Node *list)
{
  PetscFunctionBegin;
  for (const Node *item = list && list->kind == NODE_LIST ? list->first : NULL; item; item = item->next)
    PetscCall(CheckOneName(scene, list, item));
  PetscFunctionReturn(0);
}

static PetscErrorCode CheckFluid(Scene scene)
{
  static const char *const taken[] = {"velocity", "pressure", "divergence", "vorticity",
                                      "solid",    "time",     "region",     NULL};
  const FluidConfig       *fluid = &scene->config.fluid;
  Node                    *list = at(scene, "fluid", "scalars"), *gravity = at(scene, "fluid", "gravity");

  PetscFunctionBegin;
  if (scene->config.grid.dimension == 2 && is_usable(gravity) && fluid->gravity.at[Z] != 0)
    PetscCall(ProblemAdd(scene, node_item(gravity, Z), PROBLEM_ERROR,
                         "fluid.gravity along z must be 0 in two dimensions"));
  for (PetscInt i = 0; i < fluid->scalar_count; i++) {
    Node *item = node_item(list, i);

    for (PetscInt j = 0; fluid->scalars[i].name && taken[j]; j++)
      if (!strcmp(fluid->scalars[i].name, taken[j]))
        PetscCall(ProblemAdd(scene, node_find(item, "name"), PROBLEM_ERROR,
                             "a scalar cannot be called \"%s\": that is a field of its own", taken[j]));
    if (fluid->scalars[i].cooling > 0. && !(fluid->scalars[i].hottest > fluid->scalars[i].reference))
      PetscCall(
          ProblemAdd(scene, node_item(list, i), PROBLEM_ERROR,
                     "fluid.scalars[%d].hottest must be above the reference, %g, for the cooling is that "
                     "of a value there",
                     (int)i, (double)fluid->scalars[i].reference));
    if (fluid->scalars[i].expansion != 0 && is_usable(gravity) && vector3_norm(fluid->gravity) == 0)
      PetscCall(ProblemAdd(scene, node_find(item, "expansion"), PROBLEM_WARNING,
                           "expansion has no effect without fluid.gravity"));
  }
  PetscFunctionReturn(0);
}

/* Whether no point of the shape can lie in the box. */
PetscBool scene_is_outside(Scene scene, Shape shape)
{
  const GridConfig *grid = &scene->config.grid;
  Vector3           low, high;

  if (!is_usable(at(scene, "grid", "size")) || !is_usable(at(scene, "grid", "origin")))
    return PETSC_FALSE;
  shape_bounds(shape, &low, &high);
  for (PetscInt d = 0; d < grid->dimension; d++)
    if (high.at[d] <= grid->origin.at[d] || low.at[d] >= grid->origin.at[d] + grid->size.at[d])
      return PETSC_TRUE;
  return PETSC_FALSE;
}

PetscErrorCode SceneCheckShape(Scene scene, const Node *item, Shape shape)
{
  enum { SAMPLES = 12 }; /* along each direction */
  const GridConfig *grid = &scene->config.grid;
  const PetscInt    layers = grid->dimension == 3 ? SAMPLES : 1;
  char              path[PATH_LENGTH];

  PetscFunctionBegin;
  if (!shape || !is_usable(at(scene, "grid", "size")) || !is_usable(at(scene, "grid", "origin")))
    PetscFunctionReturn(0);
  for (PetscInt n = 0; n < SAMPLES * SAMPLES * layers; n++) {
    const PetscInt place[DIM] = {n % SAMPLES, n / SAMPLES % SAMPLES, n / (SAMPLES * SAMPLES)};
    Vector3        point = grid->origin;

    for (PetscInt d = 0; d < grid->dimension; d++)
      point.at[d] += (place[d] + 0.5) / SAMPLES * grid->size.at[d];
    if (!isnan(shape_distance(shape, point)))
      PetscFunctionReturn(0);
  }
  node_path(node_find(item, "shape"), path, sizeof(path));
  PetscCall(ProblemAddAtKey(scene, node_find(item, "shape"), PROBLEM_ERROR,
                            "%s is a number nowhere in the box; look at its formula", path));
  PetscFunctionReturn(0);
}

static PetscErrorCode CheckObstacles(Scene scene)
{
  Node *list = node_find(scene->root, "obstacles");

  PetscFunctionBegin;
  for (PetscInt i = 0; i < scene->config.obstacle_count; i++) {
    const ObstacleConfig *obstacle = &scene->config.obstacles[i];
    Node                 *item = node_item(list, i);

    PetscCall(SceneCheckShape(scene, item, obstacle->shape));
    if (obstacle->shape && !node_find(item, "motion") && scene_is_outside(scene, obstacle->shape))
      PetscCall(ProblemAddAtKey(scene, node_find(item, "shape"), PROBLEM_WARNING,
                                "obstacles[%d] lies outside the box and has no effect", (int)i));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode CheckInflows(Scene scene)
{
  Node *list = node_find(scene->root, "inflows");

  PetscFunctionBegin;
  for (PetscInt i = 0; i < scene->config.inflow_count; i++) {
    const InflowConfig *inflow = &scene->config.inflows[i];
    Node               *item = node_item(list, i);

    PetscCall(SceneCheckShape(scene, item, inflow->shape));
    if (inflow->shape && scene_is_outside(scene, inflow->shape))
      PetscCall(ProblemAddAtKey(scene, node_find(item, "shape"), PROBLEM_ERROR,
                                "inflows[%d] lies outside the box", (int)i));
    if (is_usable(node_find(item, "from")) && is_usable(node_find(item, "until")) &&
        !(inflow->until > inflow->from))
      PetscCall(ProblemAdd(scene, node_find(item, "until"), PROBLEM_ERROR,
                           "inflows[%d].until must be later than \"from\" (%g)", (int)i,
                           (double)inflow->from));
    if (!node_find(item, "velocity") && !node_find(item, "scalars") && !node_find(item, "region"))
      PetscCall(ProblemAdd(scene, item, PROBLEM_WARNING,
                           "inflows[%d] has neither velocity nor scalars nor region and no effect", (int)i));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode CheckCoupling(Scene scene)
{
  const CouplingConfig *coupling = &scene->config.coupling;

  PetscFunctionBegin;
  if (is_usable(at(scene, "coupling", "faces")) && is_usable(at(scene, "coupling", "mass")) &&
      coupling->faces == COUPLING_CUT && coupling->mass == COUPLING_MASS_DIAGONAL)
    PetscCall(
        ProblemAdd(scene, at(scene, "coupling", "mass"), PROBLEM_ERROR,
                   "coupling.mass: diagonal is for fluid that moves with bodies, and with faces: cut it "
                   "slips; take faces: tied or thesis, or mass: full"));
  PetscFunctionReturn(0);
}

/* The path of a frame from the scene's folder on; the resolved scene, which may be read from elsewhere, has
   the full one. */
static PetscErrorCode CheckInitial(Scene scene)
{
  FluidConfig *fluid = &scene->config.fluid;
  Node        *frame = node_find(at(scene, "fluid", "initial"), "frame");
  char         path[PETSC_MAX_PATH_LEN];

  PetscFunctionBegin;
  if (!is_usable(frame) || !fluid->initial_frame || !fluid->initial_frame[0])
    PetscFunctionReturn(0);
  for (PetscInt d = 0; d < DIM; d++)
    if (formula_value(fluid->initial_velocity[d], vector3(0.3, 0.7, 0.9), 0.) != 0.) {
      PetscCall(
          ProblemAdd(scene, frame, PROBLEM_ERROR,
                     "fluid.initial has a velocity and a frame, which has one too: leave one of them out"));
      break;
    }
  if (fluid->initial_frame[0] == '/')
    PetscFunctionReturn(0);
  PetscCall(PetscSNPrintf(path, sizeof(path), "%s%s", node_directory(scene, frame), fluid->initial_frame));
  PetscCall(NodeSetText(frame, path, strlen(path)));
  PetscCall(PetscFree(fluid->initial_frame));
  PetscCall(PetscStrallocpy(path, &fluid->initial_frame));
  PetscFunctionReturn(0);
}

PetscErrorCode SceneCheck(Scene scene)
{
  PetscFunctionBegin;
  PetscCall(CheckNames(scene, at(scene, "fluid", "scalars")));
  PetscCall(CheckNames(scene, node_find(scene->root, "obstacles")));
  PetscCall(CheckNames(scene, node_find(scene->root, "inflows")));
  PetscCall(CheckRun(scene));
  if (scene->has_fluid) {
    PetscCall(FitGrid(scene));
    PetscCall(CheckGrid(scene));
    PetscCall(CheckFluid(scene));
    PetscCall(CheckInitial(scene));
    PetscCall(SceneCheckRegions(scene));
    PetscCall(SceneCheckSplash(scene));
    PetscCall(SceneCheckSides(scene));
    PetscCall(CheckObstacles(scene));
    PetscCall(CheckInflows(scene));
    PetscCall(CheckCoupling(scene));
  }
  PetscCall(SceneCheckSolids(scene));
  PetscCall(SceneMakeBarriers(scene));
  PetscCall(SceneMakeObstaclesBodies(scene));
  PetscCall(SceneCheckOutput(scene));
  PetscFunctionReturn(0);
}
