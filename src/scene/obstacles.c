/* Obstacles become bodies, static ones or kinematic ones: there is one way to block fluid. Voxels remain on
   request, for splashing liquid, and beside regions, scalars and deformable solids. Those of splashing liquid
   are barriers for the bodies in it.

   A body needs triangles. Simple shapes and closed surfaces have them; planes, combinations, formulas and
   surfaces with holes get those of their contour on a lattice of half a cell; what is there for contact alone
   does with a whole one, where that misses no part. */
#include "scene_impl.h"

#include <math.h>
#include <string.h>

enum { MOST_CELLS_IN_SPACE = 384, MOST_CELLS_IN_PLANE = 4096, TIMES = 64 };

/* Why obstacles that stand still are voxels though nobody asks for them; null: they are not. */
static const char *reason_for_voxels(const SimulationConfig *config)
{
  if (config->solids.mesh_count && config->fluid.obstacles != OBSTACLES_VOXELS)
    return "beside deformable solids";
  if (config->phases.region_count && config->fluid.obstacles == OBSTACLES_AUTO)
    return "beside regions; \"fluid.obstacles: cut\" makes bodies of them";
  return NULL;
}

/* What moves is a body in any case. Beside scalars voxels keep their totals, so these are what auto means
   there. */
static PetscBool becomes_body(const SimulationConfig *config, const ObstacleConfig *obstacle)
{
  if (!motion_is_still(obstacle->motion))
    return PETSC_TRUE;
  if (config->fluid.obstacles == OBSTACLES_AUTO && config->fluid.scalar_count)
    return PETSC_FALSE;
  return config->fluid.obstacles != OBSTACLES_VOXELS && !config->splash.particles &&
                 !reason_for_voxels(config)
             ? PETSC_TRUE
             : PETSC_FALSE;
}

/* `kept` obstacles become no bodies. */
static PetscErrorCode WarnOfVoxels(Scene scene, const Node *list, PetscInt kept)
{
  const char *reason = reason_for_voxels(&scene->config);

  PetscFunctionBegin;
  if (kept && reason && !scene->config.splash.particles)
    PetscCall(
        ProblemAddAtKey(scene, list, PROBLEM_WARNING, "obstacles that stand still are voxels %s", reason));
  PetscFunctionReturn(0);
}

/* All that a scene does not say of a body, by the tables of keys. */
static PetscErrorCode ReadDefaults(Scene scene, PetscInt count, SolidConfig *solids)
{
  static const char body[] =
      "  - {name: mover, type: kinematic, shape: {sphere: {center: [0, 0, 0], radius: 1}}}\n";
  const size_t size = 16 + (size_t)count * sizeof(body);
  char        *text;
  Node        *node;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(size, &text));
  strcpy(text, "bodies:\n");
  for (PetscInt n = 0; n < count; n++)
    strcat(text, body);
  PetscCall(YamlParse(scene, text, -1, &node));
  PetscCall(ReadKeys(scene, node, SolidKeys, solids));
  PetscCall(NodeDestroy(&node));
  PetscCall(PetscFree(text));
  for (PetscInt n = 0; n < count; n++) {
    PetscCall(PetscFree(solids->bodies[n].name));
    PetscCall(ShapeDestroy(&solids->bodies[n].shape));
    solids->bodies[n].density = 1000.; /* which nobody asks for */
  }
  PetscFunctionReturn(0);
}

/* Beyond sides, farther than any ghost. */
static PetscReal margin(const GridConfig *grid)
{
  return 4. * grid->size.at[X] / grid->resolution;
}

/* Where the box lies in the frame in which the shape is given, at any time of the run. */
static void find_reach(Scene scene, Motion motion, Vector3 *low, Vector3 *high)
{
  const GridConfig *grid = &scene->config.grid;
  const PetscReal   end = scene->config.run.end_time, far = PETSC_MAX_REAL;
  const PetscInt    times = motion ? TIMES : 0;

  *low = vector3(far, far, far);
  *high = vector3(-far, -far, -far);
  for (PetscInt n = 0; n <= times; n++) {
    const Pose pose = motion_pose(motion, end * n / TIMES);

    for (PetscInt corner = 0; corner < 8; corner++) {
      Vector3 point = grid->origin;

      for (PetscInt d = 0; d < DIM; d++)
        point.at[d] += (corner >> d & 1 ? grid->size.at[d] : 0.) +
                       (corner >> d & 1 ? 1 : -1) * PetscMax(0.1 * grid->size.at[d], margin(grid));
      point = pose_to_rest(&pose, point);
      for (PetscInt d = 0; d < DIM; d++) {
        low->at[d] = PetscMin(low->at[d], point.at[d]);
        high->at[d] = PetscMax(high->at[d], point.at[d]);
      }
    }
  }
}

/* Fluid is cut by the triangles, and so as fine as it is; contact is not. */
typedef enum { USE_FLUID, USE_CONTACT } ContourUse;

static PetscErrorCode MakeContour(Scene scene, Motion motion, ContourUse use, Shape *shape)
{
  const GridConfig *grid = &scene->config.grid;
  const PetscInt    most = grid->dimension == 2 ? MOST_CELLS_IN_PLANE : MOST_CELLS_IN_SPACE;
  PetscReal         spacing = 0.5 * grid->size.at[X] / grid->resolution;
  PetscBool         misses = PETSC_TRUE;
  Vector3           low, high, bounds[2];
  Surface           surface;

  PetscFunctionBegin;
  shape_bounds(*shape, &bounds[0], &bounds[1]);
  find_reach(scene, motion, &low, &high);
  for (PetscInt d = 0; d < DIM; d++) {
    low.at[d] = PetscMax(low.at[d], bounds[0].at[d]);
    high.at[d] = PetscMax(low.at[d], PetscMin(high.at[d], bounds[1].at[d]));
    if (d < grid->dimension)
      spacing = PetscMax(spacing, (high.at[d] - low.at[d]) / most);
  }
  if (use == USE_CONTACT && grid->dimension == 3)
    PetscCall(ContourMissesPart(*shape, low, high, 2. * spacing, &misses));
  if (!misses)
    spacing *= 2.;
  PetscCall(SurfaceCreateContour(*shape, grid->dimension == 2 ? CONTOUR_PRISM : CONTOUR_SPACE, low, high,
                                 spacing, &surface));
  PetscCall(ShapeDestroy(shape));
  if (surface)
    PetscCall(ShapeCreateSurface(&surface, shape));
  PetscFunctionReturn(0);
}

/* Whether a body of its own kind has the same cross-section at z = 0. */
static PetscBool is_flat(Shape shape)
{
  const Primitive primitive = shape_primitive(shape);
  const Vector3   axis = quaternion_rotate(primitive.rotation, vector3(0, 0, 1));
  const PetscReal round_off = 1e-12;

  switch (primitive.kind) {
  case PRIMITIVE_SPHERE:
    return primitive.centre.at[Z] == 0. ? PETSC_TRUE : PETSC_FALSE;
  case PRIMITIVE_BOX:
  case PRIMITIVE_CYLINDER:
    return hypot(axis.at[X], axis.at[Y]) < round_off ? PETSC_TRUE : PETSC_FALSE;
  default:
    return PETSC_FALSE;
  }
}

/* Whether the surface of a shape in space has to be made: a body of its own kind has none, or one that a
   solid cannot have. */
static PetscErrorCode NeedsSurface(Shape shape, PetscBool *needs)
{
  const Primitive primitive = shape_primitive(shape);
  SurfaceFault    fault = SURFACE_SOUND;

  PetscFunctionBegin;
  if (primitive.kind == PRIMITIVE_SURFACE)
    PetscCall(SurfaceFindFault(primitive.surface, &fault));
  *needs = primitive.kind == PRIMITIVE_NONE || primitive.kind == PRIMITIVE_PLANE || fault != SURFACE_SOUND
               ? PETSC_TRUE
               : PETSC_FALSE;
  PetscFunctionReturn(0);
}

/* What reaches around a periodic box goes on without an end. Its images must not lie in each other: a box
   becomes longer, of others that do not go on beyond the ghosts nobody knows how they would. */
static PetscErrorCode GoOnBeyondPeriods(Scene scene, Node *item, ObstacleConfig *obstacle)
{
  const GridConfig *grid = &scene->config.grid;
  const Primitive   primitive = shape_primitive(obstacle->shape);
  PetscBool         is_longer = PETSC_FALSE;
  Vector3           low, high;

  PetscFunctionBegin;
  shape_bounds(obstacle->shape, &low, &high);
  for (PetscInt d = 0; d < grid->dimension; d++) {
    const PetscReal first = grid->origin.at[d], last = first + grid->size.at[d];

    if (!grid->periodic[d] || high.at[d] - low.at[d] <= (1. + 1e-9) * grid->size.at[d] ||
        (low.at[d] <= first - 0.75 * margin(grid) && high.at[d] >= last + 0.75 * margin(grid)))
      continue;
    if (primitive.kind != PRIMITIVE_BOX || PetscAbsReal(primitive.rotation.scalar) < 1.)
      PetscCall(ProblemAddAtKey(scene, node_find(item, "shape"), PROBLEM_ERROR,
                                "obstacle \"%s\" overlaps its own periodic image along %c: let it end within "
                                "the box, or go on for four cells beyond both sides",
                                obstacle->name, "xyz"[d]));
    low.at[d] = PetscMin(low.at[d], first - margin(grid));
    high.at[d] = PetscMax(high.at[d], last + margin(grid));
    is_longer = PETSC_TRUE;
  }
  if (!is_longer || scene->error_count)
    PetscFunctionReturn(0);
  PetscCall(ShapeDestroy(&obstacle->shape));
  PetscCall(ShapeCreateBox(low, high, &obstacle->shape));
  PetscFunctionReturn(0);
}

/* Takes name, shape and motion of the obstacle; without a shape there is nothing of it in the box. */
static PetscErrorCode FillBody(Scene scene, Node *item, ContourUse use, ObstacleConfig *obstacle,
                               BodyConfig *body)
{
  const PetscBool planar = scene->config.grid.dimension == 2 ? PETSC_TRUE : PETSC_FALSE;
  PetscBool       needs_surface = planar && !is_flat(obstacle->shape);

  PetscFunctionBegin;
  if (motion_is_still(obstacle->motion)) {
    PetscCall(MotionDestroy(&obstacle->motion));
    PetscCall(GoOnBeyondPeriods(scene, item, obstacle));
    body->kind = BODY_STATIC;
  }
  if (!planar)
    PetscCall(NeedsSurface(obstacle->shape, &needs_surface));
  body->name = obstacle->name;
  body->shape = obstacle->shape;
  body->motion = obstacle->motion;
  body->surface = obstacle->surface == OBSTACLE_SLIP ? BODY_SLIP : BODY_NO_SLIP;
  *obstacle = (ObstacleConfig){0};
  if (needs_surface)
    PetscCall(MakeContour(scene, body->motion, use, &body->shape));
  else if (planar)
    PetscCall(SceneFlattenBody(scene, item, body));
  if (!body->shape)
    PetscCall(ProblemAddAtKey(scene, node_find(item, "shape"), PROBLEM_WARNING,
                              "obstacle \"%s\" is nowhere in the box and has no effect", body->name));
  PetscFunctionReturn(0);
}

/* Their columns in the ledger would have the same names. */
static PetscErrorCode CheckNamesake(Scene scene, const Node *item, const char name[])
{
  PetscFunctionBegin;
  for (PetscInt b = 0; b < scene->config.solids.body_count; b++)
    if (!strcmp(scene->config.solids.bodies[b].name, name))
      PetscCall(ProblemAdd(scene, node_find(item, "name"), PROBLEM_ERROR,
                           "there is a body called \"%.40s\" as well; names must differ", name));
  PetscFunctionReturn(0);
}

/* Makes the solids of a scene without any; what they are there for follows. */
static PetscErrorCode BeginSolids(Scene scene, const SolidConfig *defaults)
{
  SolidConfig *solids = &scene->config.solids;

  PetscFunctionBegin;
  if (node_find(scene->root, "solids"))
    PetscFunctionReturn(0);
  *solids = *defaults;
  solids->bodies = NULL;
  solids->body_count = 0;
  solids->gravity = scene->config.fluid.gravity;
  solids->planar = scene->config.grid.dimension == 2 ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(SceneBuildWalls(scene, NULL));
  PetscFunctionReturn(0);
}

/* Behind the bodies that there are. */
static PetscErrorCode AppendBodies(SolidConfig *solids, PetscInt count, const BodyConfig bodies[])
{
  BodyConfig *joined;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(solids->body_count + count, &joined));
  PetscCall(PetscArraycpy(joined, solids->bodies, solids->body_count));
  PetscCall(PetscArraycpy(joined + solids->body_count, bodies, count));
  PetscCall(PetscFree(solids->bodies));
  solids->bodies = joined;
  solids->body_count += count;
  PetscFunctionReturn(0);
}

/* The same shape for the bodies in a splash. */
static PetscErrorCode FillBarrier(Scene scene, Node *item, const ObstacleConfig *obstacle,
                                  BodyConfig *barrier)
{
  ObstacleConfig twin = {.surface = obstacle->surface};

  PetscFunctionBegin;
  PetscCall(PetscStrallocpy(obstacle->name, &twin.name));
  PetscCall(ReadShape(scene, node_find(item, "shape"), SURFACE_CLOSED, &twin.shape));
  PetscCall(FillBody(scene, item, USE_CONTACT, &twin, barrier));
  PetscFunctionReturn(0);
}

PetscErrorCode SceneMakeBarriers(Scene scene)
{
  SimulationConfig *config = &scene->config;
  SolidConfig      *solids = &config->solids;
  const Node       *list = node_find(scene->root, "obstacles");
  PetscBool         any = PETSC_FALSE;

  PetscFunctionBegin;
  for (PetscInt b = 0; b < solids->body_count; b++)
    any = any || solids->bodies[b].kind == BODY_DYNAMIC;
  if (!any || !config->splash.particles || scene->error_count)
    PetscFunctionReturn(0);
  PetscCall(PetscCalloc1(config->obstacle_count, &solids->barriers));
  for (PetscInt o = 0; o < config->obstacle_count && !scene->error_count; o++) {
    BodyConfig *barrier = &solids->barriers[solids->barrier_count];

    if (!motion_is_still(config->obstacles[o].motion))
      continue;
    PetscCall(CheckNamesake(scene, node_item(list, o), config->obstacles[o].name));
    PetscCall(FillBarrier(scene, node_item(list, o), &config->obstacles[o], barrier));
    barrier->copies.count = vector3(1., 1., 1.);
    if (barrier->shape)
      solids->barrier_count++;
    else
      PetscCall(PetscFree(barrier->name));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode SceneDestroyBarriers(Scene scene)
{
  SolidConfig *solids = &scene->config.solids;

  PetscFunctionBegin;
  for (PetscInt n = 0; n < solids->barrier_count; n++) {
    PetscCall(PetscFree(solids->barriers[n].name));
    PetscCall(ShapeDestroy(&solids->barriers[n].shape));
  }
  PetscCall(PetscFree(solids->barriers));
  PetscFunctionReturn(0);
}

PetscErrorCode SceneMakeObstaclesBodies(Scene scene)
{
  SimulationConfig *config = &scene->config;
  const Node       *list = node_find(scene->root, "obstacles");
  SolidConfig       made = {.bodies = NULL};
  PetscInt          count = 0, kept = 0, taken = 0;

  PetscFunctionBegin;
  for (PetscInt o = 0; o < config->obstacle_count; o++)
    count += becomes_body(config, &config->obstacles[o]) ? 1 : 0;
  if (scene->error_count)
    PetscFunctionReturn(0);
  PetscCall(WarnOfVoxels(scene, list, config->obstacle_count - count));
  if (!count)
    PetscFunctionReturn(0);
  PetscCall(ReadDefaults(scene, count, &made));
  PetscCall(BeginSolids(scene, &made));
  for (PetscInt o = 0; o < config->obstacle_count; o++) {
    ObstacleConfig obstacle = config->obstacles[o];

    if (!becomes_body(config, &obstacle)) {
      config->obstacles[kept++] = obstacle;
      continue;
    }
    PetscCall(CheckNamesake(scene, node_item(list, o), obstacle.name));
    PetscCall(FillBody(scene, node_item(list, o), USE_FLUID, &obstacle, &made.bodies[taken]));
    if (made.bodies[taken].shape)
      taken++;
    else {
      PetscCall(PetscFree(made.bodies[taken].name));
      PetscCall(MotionDestroy(&made.bodies[taken].motion));
    }
  }
  config->obstacle_count = kept;
  PetscCall(AppendBodies(&config->solids, taken, made.bodies));
  PetscCall(PetscFree(made.bodies));
  PetscFunctionReturn(0);
}
