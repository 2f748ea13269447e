/* Obstacles that move become kinematic bodies: there is one way for things that move in a fluid.

   A body needs triangles. Simple shapes and surfaces have them; combinations and formulas get those of their
   contour on a lattice of half a cell. */
#include "scene_impl.h"

#include <math.h>
#include <string.h>

enum { MOST_LATTICE_CELLS = 192, TIMES = 64 };

static PetscBool moves(const ObstacleConfig *obstacle)
{
  return motion_is_still(obstacle->motion) ? PETSC_FALSE : PETSC_TRUE;
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

/* Where the box lies in the frame in which the shape is given, at any time of the run. */
static void find_reach(Scene scene, Motion motion, Vector3 *low, Vector3 *high)
{
  const GridConfig *grid = &scene->config.grid;
  const PetscReal   end = scene->config.run.end_time, far = PETSC_MAX_REAL;

  *low = vector3(far, far, far);
  *high = vector3(-far, -far, -far);
  for (PetscInt n = 0; n <= TIMES; n++) {
    const Pose pose = motion_pose(motion, end * n / TIMES);

    for (PetscInt corner = 0; corner < 8; corner++) {
      Vector3 point = grid->origin;

      for (PetscInt d = 0; d < DIM; d++)
        point.at[d] += (corner >> d & 1 ? 1.1 : -0.1) * grid->size.at[d];
      point = pose_to_rest(&pose, point);
      for (PetscInt d = 0; d < DIM; d++) {
        low->at[d] = PetscMin(low->at[d], point.at[d]);
        high->at[d] = PetscMax(high->at[d], point.at[d]);
      }
    }
  }
}

static PetscErrorCode MakeContour(Scene scene, Motion motion, Shape *shape)
{
  const GridConfig *grid = &scene->config.grid;
  PetscReal         spacing = 0.5 * grid->size.at[X] / grid->resolution;
  Vector3           low, high, bounds[2];
  Surface           surface;

  PetscFunctionBegin;
  shape_bounds(*shape, &bounds[0], &bounds[1]);
  find_reach(scene, motion, &low, &high);
  for (PetscInt d = 0; d < DIM; d++) {
    low.at[d] = PetscMax(low.at[d], bounds[0].at[d]);
    high.at[d] = PetscMax(low.at[d], PetscMin(high.at[d], bounds[1].at[d]));
    if (d < grid->dimension)
      spacing = PetscMax(spacing, (high.at[d] - low.at[d]) / MOST_LATTICE_CELLS);
  }
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
  case PRIMITIVE_PLANE:
    return PetscAbsReal(axis.at[Z]) < round_off ? PETSC_TRUE : PETSC_FALSE;
  default:
    return PETSC_FALSE;
  }
}

/* Takes name, shape and motion of the obstacle; without a shape there is nothing of it in the box. */
static PetscErrorCode FillBody(Scene scene, Node *item, ObstacleConfig *obstacle, BodyConfig *body)
{
  const PetscBool planar = scene->config.grid.dimension == 2 ? PETSC_TRUE : PETSC_FALSE;

  PetscFunctionBegin;
  body->name = obstacle->name;
  body->shape = obstacle->shape;
  body->motion = obstacle->motion;
  body->surface = obstacle->surface == OBSTACLE_SLIP ? BODY_SLIP : BODY_NO_SLIP;
  *obstacle = (ObstacleConfig){0};
  if (planar ? !is_flat(body->shape) : shape_primitive(body->shape).kind == PRIMITIVE_NONE)
    PetscCall(MakeContour(scene, body->motion, &body->shape));
  else if (planar)
    PetscCall(SceneFlattenBody(scene, item, body));
  if (!body->shape)
    PetscCall(ProblemAddAtKey(scene, node_find(item, "shape"), PROBLEM_WARNING,
                              "obstacle \"%s\" never comes into the box and has no effect", body->name));
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

PetscErrorCode SceneMakeMoversBodies(Scene scene)
{
  SimulationConfig *config = &scene->config;
  const Node       *list = node_find(scene->root, "obstacles");
  SolidConfig       made = {.bodies = NULL};
  PetscInt          count = 0, kept = 0, taken = 0;

  PetscFunctionBegin;
  for (PetscInt o = 0; o < config->obstacle_count; o++)
    count += moves(&config->obstacles[o]) ? 1 : 0;
  if (!count || scene->error_count)
    PetscFunctionReturn(0);
  PetscCall(ReadDefaults(scene, count, &made));
  PetscCall(BeginSolids(scene, &made));
  for (PetscInt o = 0; o < config->obstacle_count; o++) {
    ObstacleConfig obstacle = config->obstacles[o];

    if (!moves(&obstacle)) {
      config->obstacles[kept++] = obstacle;
      continue;
    }
    PetscCall(CheckNamesake(scene, node_item(list, o), obstacle.name));
    PetscCall(FillBody(scene, node_item(list, o), &obstacle, &made.bodies[taken]));
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
