/* Shapes: one key names the kind, its block gives the measures. */
#include "scene_impl.h"

#include <math.h>
#include <string.h>
#include <sys/stat.h>

typedef struct {
  Vector3   center, axis, low, high, from, to, base, tip, point, normal, translate, rotate;
  PetscReal radius, major, minor, scale;
  char     *file;
  Formula   value;
  Shape     shape;
} Measures;

#define POSITION(member, meaning)                                                                            \
  {                                                                                                          \
    .name = #member, .kind = SCHEMA_VECTOR, .offset = offsetof(Measures, member), .unit = "m",               \
    .help = meaning                                                                                          \
  }
#define DIRECTION(member, meaning)                                                                           \
  {                                                                                                          \
    .name = #member, .kind = SCHEMA_VECTOR, .offset = offsetof(Measures, member), .help = meaning            \
  }
#define LENGTH(member, meaning)                                                                              \
  {                                                                                                          \
    .name = #member, .kind = SCHEMA_REAL, .offset = offsetof(Measures, member), .range = SCHEMA_POSITIVE,    \
    .unit = "m", .help = meaning                                                                             \
  }

#define PLACING(meaning)                                                                                     \
  {.name = "scale",                                                                                          \
   .kind = SCHEMA_REAL,                                                                                      \
   .offset = offsetof(Measures, scale),                                                                      \
   .fallback = "1",                                                                                          \
   .range = SCHEMA_POSITIVE,                                                                                 \
   .help = meaning},                                                                                         \
      {.name = "rotate",                                                                                     \
       .kind = SCHEMA_VECTOR,                                                                                \
       .offset = offsetof(Measures, rotate),                                                                 \
       .fallback = "[0, 0, 0]",                                                                              \
       .unit = "rad",                                                                                        \
       .help = "about the origin, axis times angle, applied second"},                                        \
  {                                                                                                          \
    .name = "translate", .kind = SCHEMA_VECTOR, .offset = offsetof(Measures, translate),                     \
    .fallback = "[0, 0, 0]", .unit = "m", .help = "applied last"                                             \
  }

static const SchemaKey sphere_keys[] = {POSITION(center, "its centre"), LENGTH(radius, "its radius"), {0}};
static const SchemaKey box_keys[] = {POSITION(low, "corner with the smallest coordinates"),
                                     POSITION(high, "corner with the largest coordinates"),
                                     {0}};
static const SchemaKey round_keys[] = {POSITION(from, "one end of the axis"),
                                       POSITION(to, "other end of the axis"),
                                       LENGTH(radius, "around the axis"),
                                       {0}};
static const SchemaKey cone_keys[] = {POSITION(base, "middle of its flat end"),
                                      POSITION(tip, "where it ends in a point"),
                                      LENGTH(radius, "of its flat end"),
                                      {0}};
static const SchemaKey torus_keys[] = {POSITION(center, "its centre"),
                                       DIRECTION(axis, "of symmetry, of any length"),
                                       LENGTH(major, "radius of the circle along the tube"),
                                       LENGTH(minor, "radius of the tube"),
                                       {0}};
static const SchemaKey plane_keys[] = {
    POSITION(point, "any point of the plane"), DIRECTION(normal, "away from the solid, of any length"), {0}};
static const SchemaKey surface_keys[] = {
    {.name = "file",
     .kind = SCHEMA_TEXT,
     .offset = offsetof(Measures, file),
     .help = "closed triangle surface (.obj, .ply, .stl), relative to the scene; of a body with a thickness "
             "it may be open"},
    PLACING("factor from the units of the file to metres, applied first"),
    {0}};

static const SchemaKey formula_keys[] = {{.name = "value",
                                          .kind = SCHEMA_FORMULA,
                                          .offset = offsetof(Measures, value),
                                          .help = "in x, y and z; negative inside, zero on the surface"},
                                         {0}};

static const SchemaKey placed_keys[] = {
    {.name = "shape", .kind = SCHEMA_SHAPE, .offset = offsetof(Measures, shape), .help = "what is placed"},
    PLACING("factor, applied first"),
    {0}};

enum {
  SPHERE,
  BOX,
  CYLINDER,
  CAPSULE,
  CONE,
  TORUS,
  PLANE,
  SURFACE,
  FORMULA,
  PLACED,
  UNION,
  INTERSECTION,
  DIFFERENCE
};

const ShapeKeys ShapeKinds[] = {
    [SPHERE] = {"sphere", sphere_keys, "a ball; in two dimensions a disc"},
    [BOX] = {"box", box_keys, "with faces along the axes"},
    [CYLINDER] = {"cylinder", round_keys, "with flat ends"},
    [CAPSULE] = {"capsule", round_keys, "a cylinder with round ends"},
    [CONE] = {"cone", cone_keys, "with a flat end and a point"},
    [TORUS] = {"torus", torus_keys, "a ring"},
    [PLANE] = {"plane", plane_keys, "everything below a plane"},
    [SURFACE] = {"surface", surface_keys, "the inside of a triangle surface"},
    [FORMULA] = {"formula", formula_keys, "everything where a formula is negative"},
    [PLACED] = {"placed", placed_keys, "another shape, scaled, turned and moved"},
    [UNION] = {"union", NULL, "all of a list of shapes"},
    [INTERSECTION] = {"intersection", NULL, "what a list of shapes has in common"},
    [DIFFERENCE] = {"difference", NULL, "the first of a list of shapes less the others"},
    {0}};

static PetscErrorCode Complain(Scene scene, Node *node, const char message[])
{
  char path[PATH_LENGTH];

  PetscFunctionBegin;
  node_path(node, path, sizeof(path));
  PetscCall(ProblemAdd(scene, node, PROBLEM_ERROR, "%s %s", path, message));
  PetscFunctionReturn(0);
}

static PetscErrorCode CheckMeasures(Scene scene, Node *node, PetscInt kind, const Measures *measures)
{
  /* a dimension that is wrong itself counts as three, as for the shape */
  const PetscInt dimension = scene->config.grid.dimension == 2 ? 2 : DIM;

  PetscFunctionBegin;
  for (PetscInt d = 0; kind == BOX && d < dimension; d++)
    if (!(measures->low.at[d] < measures->high.at[d])) {
      PetscCall(Complain(scene, node_find(node, "high"), "must be above \"low\" in every direction"));
      break;
    }
  if ((kind == CYLINDER || kind == CAPSULE) &&
      vector3_norm(vector3_subtract(measures->to, measures->from)) == 0)
    PetscCall(Complain(scene, node_find(node, "to"), "must differ from \"from\""));
  if (kind == CONE && vector3_norm(vector3_subtract(measures->tip, measures->base)) == 0)
    PetscCall(Complain(scene, node_find(node, "tip"), "must differ from \"base\""));
  if (kind == TORUS && vector3_norm(measures->axis) == 0)
    PetscCall(Complain(scene, node_find(node, "axis"), "must not be zero"));
  if (kind == TORUS && measures->minor >= measures->major)
    PetscCall(Complain(scene, node_find(node, "minor"), "must be smaller than \"major\""));
  if (kind == PLACED && dimension == 2 &&
      (measures->rotate.at[X] != 0 || measures->rotate.at[Y] != 0 || measures->translate.at[Z] != 0))
    PetscCall(Complain(scene, node, "must stay in the plane: turn about z, move along x and y"));
  if (kind == FORMULA && formula_uses_time(measures->value))
    PetscCall(Complain(scene, node_find(node, "value"), "must not depend on t"));
  if (kind == PLANE && vector3_norm(measures->normal) == 0)
    PetscCall(Complain(scene, node_find(node, "normal"), "must not be zero"));
  PetscFunctionReturn(0);
}

/* The first rank reads the file, so that all see the same surface or the same mistake. */
static PetscErrorCode ShareSurface(MPI_Comm comm, const char path[], SurfaceDemand demand, Surface *surface,
                                   char message[MESSAGE_LENGTH])
{
  struct stat    status;
  PetscMPIInt    rank;
  PetscInt       counts[2] = {0, 0};
  const Vector3 *vertices = NULL;
  const PetscInt(*triangles)[3] = NULL;
  Vector3 *shared_vertices;
  PetscInt(*shared_triangles)[3];

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  *surface = NULL;
  message[0] = '\0';
  if (!rank && !stat(path, &status) && !S_ISREG(status.st_mode))
    snprintf(message, MESSAGE_LENGTH, "%.400s is not a file", path);
  else if (!rank)
    PetscCall(SurfaceRead(path, demand, surface, message, MESSAGE_LENGTH));
  if (*surface)
    PetscCall(SurfaceGet(*surface, &counts[0], &vertices, &counts[1], &triangles));
  PetscCallMPI(MPI_Bcast(message, MESSAGE_LENGTH, MPI_CHAR, 0, comm));
  PetscCallMPI(MPI_Bcast(counts, 2, MPIU_INT, 0, comm));
  if (!counts[0])
    PetscFunctionReturn(0);
  PetscCall(PetscMalloc2(counts[0], &shared_vertices, counts[1], &shared_triangles));
  if (!rank) {
    PetscCall(PetscArraycpy(shared_vertices, vertices, counts[0]));
    PetscCall(PetscArraycpy(shared_triangles, triangles, counts[1]));
  }
  PetscCallMPI(MPI_Bcast(shared_vertices, DIM * (PetscMPIInt)counts[0], MPIU_REAL, 0, comm));
  PetscCallMPI(MPI_Bcast(shared_triangles, 3 * (PetscMPIInt)counts[1], MPIU_INT, 0, comm));
  if (rank)
    PetscCall(SurfaceCreate(counts[0], shared_vertices, counts[1], (const PetscInt(*)[3])shared_triangles,
                            surface));
  PetscCall(PetscFree2(shared_vertices, shared_triangles));
  PetscFunctionReturn(0);
}

/* Writes the full path into the tree: the resolved scene may be read from elsewhere. */
static PetscErrorCode ReadSurface(Scene scene, Node *node, SurfaceDemand demand, const Measures *measures,
                                  Shape *shape)
{
  Node   *file = node_find(node, "file");
  char    path[PETSC_MAX_PATH_LEN], message[MESSAGE_LENGTH], where[PATH_LENGTH];
  Surface surface;
  Shape   part;

  PetscFunctionBegin;
  snprintf(path, sizeof(path), "%s%s", measures->file[0] == '/' ? "" : node_directory(scene, file),
           measures->file);
  PetscCall(ShareSurface(scene->comm, path, demand, &surface, message));
  if (!surface) {
    node_path(file, where, sizeof(where));
    PetscCall(ProblemAdd(scene, file, PROBLEM_ERROR, "%s cannot be used: %s", where, message));
    PetscFunctionReturn(0);
  }
  PetscCall(NodeSetText(file, path, strlen(path)));
  PetscCall(ShapeCreateSurface(&surface, &part));
  PetscCall(ShapeCreatePlaced(&part, measures->scale, measures->rotate, measures->translate, shape));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateSimple(Scene scene, Node *node, SurfaceDemand demand, PetscInt kind,
                                   Measures *measures, Shape *shape)
{
  const PetscReal far = 1. + 1e3 * vector3_norm(scene->config.grid.size); /* the size may be wrong */

  PetscFunctionBegin;
  if (kind == BOX && scene->config.grid.dimension == 2) {
    /* a rectangle: the box reaches beyond the plane, so that its distance is that of its edges */
    measures->low.at[Z] = -far;
    measures->high.at[Z] = far;
  }
  if (kind == SPHERE)
    PetscCall(ShapeCreateSphere(measures->center, measures->radius, shape));
  if (kind == BOX)
    PetscCall(ShapeCreateBox(measures->low, measures->high, shape));
  if (kind == CYLINDER)
    PetscCall(ShapeCreateCylinder(measures->from, measures->to, measures->radius, shape));
  if (kind == CAPSULE)
    PetscCall(ShapeCreateCapsule(measures->from, measures->to, measures->radius, shape));
  if (kind == CONE)
    PetscCall(ShapeCreateCone(measures->base, measures->tip, measures->radius, shape));
  if (kind == TORUS)
    PetscCall(ShapeCreateTorus(measures->center, measures->axis, measures->major, measures->minor, shape));
  if (kind == PLANE)
    PetscCall(ShapeCreatePlane(measures->point, measures->normal, shape));
  if (kind == FORMULA)
    PetscCall(ShapeCreateFormula(&measures->value, shape));
  if (kind == SURFACE)
    PetscCall(ReadSurface(scene, node, demand, measures, shape));
  if (kind == PLACED)
    PetscCall(
        ShapeCreatePlaced(&measures->shape, measures->scale, measures->rotate, measures->translate, shape));
  PetscFunctionReturn(0);
}

static PetscErrorCode ReadSimple(Scene scene, Node *node, SurfaceDemand demand, PetscInt kind, Shape *shape)
{
  const PetscInt errors = scene->error_count;
  Measures       measures = {0};
  PetscBool      good;

  PetscFunctionBegin;
  PetscCall(ExpectKind(scene, node, NODE_MAP, "a block of keys", &good));
  if (!good)
    PetscFunctionReturn(0);
  PetscCall(ReadKeys(scene, node, ShapeKinds[kind].keys, &measures));
  if (scene->error_count == errors)
    PetscCall(CheckMeasures(scene, node, kind, &measures));
  if (scene->error_count == errors)
    PetscCall(CreateSimple(scene, node, demand, kind, &measures, shape));
  PetscCall(DestroyKeys(ShapeKinds[kind].keys, 0, &measures));
  PetscFunctionReturn(0);
}

static PetscErrorCode ReadCombination(Scene scene, Node *node, SurfaceDemand demand, PetscInt kind,
                                      Shape *shape)
{
  static const ShapeOperation operations[] = {
      [UNION] = SHAPE_UNION, [INTERSECTION] = SHAPE_INTERSECTION, [DIFFERENCE] = SHAPE_DIFFERENCE};
  const PetscInt errors = scene->error_count;
  Shape         *parts;
  PetscBool      good;

  PetscFunctionBegin;
  PetscCall(ExpectKind(scene, node, NODE_LIST, "a list of shapes", &good));
  if (good && !node->count)
    PetscCall(Complain(scene, node, "must not be empty"));
  if (!good || !node->count)
    PetscFunctionReturn(0);
  PetscCall(PetscCalloc1(node->count, &parts));
  for (PetscInt i = 0; i < node->count; i++)
    PetscCall(ReadShape(scene, node_item(node, i), demand, &parts[i]));
  if (scene->error_count == errors)
    PetscCall(ShapeCreateCombination(operations[kind], node->count, parts, shape));
  else
    for (PetscInt i = 0; i < node->count; i++)
      PetscCall(ShapeDestroy(&parts[i]));
  PetscCall(PetscFree(parts));
  PetscFunctionReturn(0);
}

PetscErrorCode ReadShape(Scene scene, Node *node, SurfaceDemand demand, Shape *shape)
{
  const char *names[sizeof(ShapeKinds) / sizeof(ShapeKinds[0])], *near;
  char        path[PATH_LENGTH];
  PetscInt    kind = 0;
  PetscBool   good;

  PetscFunctionBegin;
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
    names[i] = ShapeKinds[i].name;
  PetscCall(
      ExpectKind(scene, node, NODE_MAP, "a block such as {sphere: {center: [0, 0, 0], radius: 1}}", &good));
  if (!good)
    PetscFunctionReturn(0);
  node_path(node, path, sizeof(path));
  if (node->count != 1) {
    PetscCall(ProblemAddAtKey(
        scene, node, PROBLEM_ERROR,
        "%s must have one key, which names the kind of shape, not %d; join shapes by \"union\"", path,
        (int)node->count));
    PetscFunctionReturn(0);
  }
  while (names[kind] && strcmp(names[kind], node->first->key))
    kind++;
  near = closest_word(node->first->key, names);
  if (!names[kind])
    PetscCall(ProblemAddAtKey(scene, node->first, PROBLEM_ERROR,
                              "%s cannot be \"%.40s\"%s%s%s; there are sphere, box, cylinder, capsule, "
                              "cone, torus, plane, surface, formula, placed, union, intersection and "
                              "difference",
                              path, node->first->key, near ? "; did you mean \"" : "", near ? near : "",
                              near ? "\"?" : ""));
  else if (ShapeKinds[kind].keys)
    PetscCall(ReadSimple(scene, node->first, demand, kind, shape));
  else
    PetscCall(ReadCombination(scene, node->first, demand, kind, shape));
  PetscFunctionReturn(0);
}
