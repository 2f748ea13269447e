/* The tree of a scene and what is read from it. */
#ifndef MILLRACE_SCENE_IMPL_H
#define MILLRACE_SCENE_IMPL_H

#include <millrace/scene.h>

enum { PATH_LENGTH = 256, MESSAGE_LENGTH = 512, MOST_FILES = 64 };

typedef enum { NODE_VALUE, NODE_LIST, NODE_MAP } NodeKind;

/* A value, a list or a map of the scene. Children form a chain; those of a map have keys. */
typedef struct Node Node;
struct Node {
  NodeKind  kind;
  PetscInt  file;                 /* of the scene's files */
  PetscInt  line, column;         /* of the value, from 1; 0: not written by the user */
  PetscInt  key_line, key_column; /* of the key, where there is one */
  PetscInt  override;             /* index of the override it comes from, or -1 */
  PetscBool quoted;
  PetscBool copied; /* from an alias or from `all`: its mistakes are told once */
  PetscBool bad;    /* a mistake was found in it */
  char     *key;
  char     *text; /* of a value */
  PetscInt  count;
  Node     *first, *last, *next; /* owned */
  Node     *parent;              /* borrowed */
};

/* A name of `let` and what stands for it. */
typedef struct {
  char *name, *text;
} NamedValue;

/* The scene itself, or what it includes. */
typedef struct {
  char    *name;      /* in messages */
  char    *path;      /* in full; "./": there is only a text */
  char    *directory; /* where relative file names start */
  char    *text;      /* as written by the user */
  PetscInt includer;  /* file that includes it; -1: none */
} SceneFile;

struct _p_Scene {
  MPI_Comm         comm;
  char            *name; /* of the scene, in messages without a place */
  PetscInt         file_count;
  SceneFile        files[MOST_FILES];
  PetscInt         parsed; /* file that is being parsed */
  PetscInt         override_count;
  char           **overrides;
  Node            *root;
  char            *resolved;
  PetscInt         named_count;
  NamedValue      *named;
  PetscBool        has_fluid; /* the scene speaks of one, or has no solids */
  SimulationConfig config;
  PetscInt         problem_count, problem_capacity;
  PetscInt         error_count;
  SceneProblem    *problems;
};

/* Tree. */
PetscErrorCode NodeCreate(NodeKind kind, Node **node);
PetscErrorCode NodeDestroy(Node **node); /* with all below */
PetscErrorCode NodeSetText(Node *node, const char text[], size_t length);
PetscErrorCode NodeSetKey(Node *node, const char key[]);
PetscErrorCode NodeCopy(const Node *node, Node **copy);
void           node_append(Node *parent, Node *child);
void           node_detach(Node *child);
void           node_replace(Node *old, Node *new); /* `old` is left without a parent */
Node          *node_find(const Node *map, const char key[]);
PetscBool      is_usable(const Node *node); /* there, and without a mistake */
Node          *node_item(const Node *list, PetscInt index);
void           node_path(const Node *node, char path[], size_t size); /* such as obstacles[0].shape.sphere */
const char    *node_kind_name(const Node *node);

/* Refuses what libfyaml must not see, as a problem. */
PetscErrorCode CheckText(Scene scene, const char text[], PetscInt override, PetscBool *good);
/* libfyaml lives behind this: syntax errors become problems and leave `*root` null. */
PetscErrorCode YamlParse(Scene scene, const char text[], PetscInt override, Node **root);
PetscErrorCode NodeEmit(const Node *root, char **text);

/* include.c: the scene's own file or text, shared by the first rank; a file that cannot be read is a problem
   and adds none. SceneParse: the tree of it and all that it includes. */
PetscErrorCode SceneAddFile(Scene scene, const char path[]);
PetscErrorCode SceneAddText(Scene scene, const char text[]);
PetscErrorCode SceneParse(Scene scene);
const char    *node_directory(Scene scene, const Node *node); /* where file names in it start */

PetscErrorCode SceneApplyOverrides(Scene scene);

/* expand.c: merge keys, before overrides; after them, blocks that are not read and the values of names, which
   the text of a number or formula is then written with, and a whole number becomes. */
PetscErrorCode SceneMergeKeys(Scene scene, Node *node);
PetscErrorCode SceneExpand(Scene scene);
PetscErrorCode ExpandNames(Scene scene, Node *node);
PetscErrorCode ExpandWhole(Scene scene, Node *node);

/* `node` may be null: no place. */
PetscErrorCode ProblemAdd(Scene scene, const Node *node, ProblemSeverity severity, const char format[], ...)
    PETSC_ATTRIBUTE_FORMAT(4, 5);
/* The same at the key of `node` rather than at its value. */
PetscErrorCode ProblemAddAtKey(Scene scene, const Node *node, ProblemSeverity severity, const char format[],
                               ...) PETSC_ATTRIBUTE_FORMAT(4, 5);
PetscErrorCode ProblemAddAt(Scene scene, PetscInt override, PetscInt line, PetscInt column,
                            const char message[]);

/* Fills the struct at `base` from a map, adding to the map what was left out. */
PetscErrorCode ReadKeys(Scene scene, Node *map, const SchemaKey keys[], void *base);
PetscErrorCode DestroyKeys(const SchemaKey keys[], PetscInt scalar_count, void *base);
/* The one value, or the list of three (two in two dimensions), behind a node. */
PetscErrorCode ReadReal(Scene scene, Node *node, const SchemaKey *key, PetscReal *value);
PetscErrorCode ReadInteger(Scene scene, Node *node, const SchemaKey *key, PetscInt *value);
PetscErrorCode ReadChoice(Scene scene, Node *node, const SchemaKey *key, int *value);
PetscErrorCode ReadText(Scene scene, Node *node, const SchemaKey *key, char **value);
PetscErrorCode ReadVector(Scene scene, Node *node, const SchemaKey *key, Vector3 *value);
PetscErrorCode ReadFormula(Scene scene, Node *node, const SchemaKey *key, Formula *value);
PetscErrorCode ReadFormulas(Scene scene, Node *node, const SchemaKey *key, Formula value[DIM]);
/* `demand` of the files of its surfaces. */
PetscErrorCode ReadShape(Scene scene, Node *node, SurfaceDemand demand, Shape *shape);
PetscErrorCode ReadMotion(Scene scene, Node *node, Motion *motion);
PetscErrorCode ReadNamed(Scene scene, Node *node, Formula **values);
PetscErrorCode ReadOptions(Scene scene, Node *node);
const char    *option_name(const char name[]); /* without dashes */
PetscErrorCode OptionIsOnCommandLine(const char name[], PetscBool *given);
PetscBool      option_is_of_program(const char name[]); /* read by PETSc itself as it starts or ends */
PetscErrorCode ExpectKind(Scene scene, Node *node, NodeKind kind, const char what[], PetscBool *good);

/* given.c: times from the start to the end of the run, n from 0 to SCENE_TIMES, at which what is given over
   time is looked at; a formula that is not finite at a place becomes a problem. A place that moves with what
   the formula acts on is known at the first time only. */
enum { SCENE_TIMES = 32 };
typedef enum { PLACE_STAYS, PLACE_MOVES } PlaceMotion;
PetscReal      scene_time(Scene scene, PetscInt n);
PetscErrorCode SceneCheckGiven(Scene scene, Node *node, Formula formula, Vector3 place, PlaceMotion motion);
PetscErrorCode SceneCheckGivenVector(Scene scene, Node *node, const Formula formulas[DIM], Vector3 place,
                                     PlaceMotion motion);

/* check.c: whether none of the shape is in the fluid's box. */
PetscBool scene_is_outside(Scene scene, Shape shape);

/* What no single key can tell. */
PetscErrorCode SceneCheck(Scene scene);
PetscErrorCode SceneCheckOutput(Scene scene); /* output.c */
PetscErrorCode SceneCheckSides(Scene scene);  /* also tells the grid which are periodic */
/* Copies `all` to the sides that are not named, and makes a bare word a map. */
PetscErrorCode SceneExpandSides(Scene scene);
/* Finds out whether there is fluid, and then makes sure of its blocks. */
PetscErrorCode SceneExpandFluid(Scene scene);
/* An empty block unless it is there. */
PetscErrorCode SceneAddBlock(Scene scene, const char key[]);
PetscErrorCode SceneExpandRegions(Scene scene);
/* substance.c: densities and viscosities of materials by name. */
PetscErrorCode SceneExpandMaterials(Scene scene);
void           print_substances(FILE *file);
void           print_paragraph(const char text[], FILE *file); /* in lines of at most 118 bytes */
PetscErrorCode SceneCheckRegions(Scene scene);
PetscErrorCode SceneCheckSplash(Scene scene);
/* Bodies, pairs and joints; gives them what they leave to each other. */
PetscErrorCode SceneCheckSolids(Scene scene);
/* A word such as "link.3" must name one body. */
PetscErrorCode SceneCheckBody(Scene scene, Node *node, const char word[]);
/* deformables.c: its part about deformable solids. */
PetscErrorCode SceneCheckMeshes(Scene scene);
PetscErrorCode SceneCheckBindings(Scene scene);
PetscBool      scene_has_mesh(Scene scene, const char name[]);
/* obstacles.c: once all else is checked. */
PetscErrorCode SceneMakeObstaclesBodies(Scene scene);
/* body_shape.c: gives a body the surface of its union, intersection, difference or formula. */
PetscErrorCode SceneContourBody(Scene scene, Node *item, BodyConfig *body);
/* The same, before it: still obstacles of a splash as barriers for free bodies. */
PetscErrorCode SceneMakeBarriers(Scene scene);
PetscErrorCode SceneDestroyBarriers(Scene scene);
/* Makes the shape of a body in two dimensions a prism of unit depth. */
PetscErrorCode SceneFlattenBody(Scene scene, Node *item, BodyConfig *body);
/* walls.c: which sides of the box hold bodies; none of the list may have their names. */
PetscErrorCode SceneBuildWalls(Scene scene, const Node *bodies);
PetscBool      scene_has_wall(Scene scene, const char name[]);
PetscErrorCode CheckNames(Scene scene, const Node *list);
/* Refuses a shape whose formula is a number nowhere in the box. */
PetscErrorCode SceneCheckShape(Scene scene, const Node *item, Shape shape);
PetscInt       scene_dimension(Scene scene); /* 0 where it is in doubt */

typedef struct {
  const char      *name;
  const SchemaKey *keys; /* null: a list of shapes */
  const char      *help;
} ShapeKeys;

extern const ShapeKeys ShapeKinds[]; /* ended by a null name */
extern const SchemaKey SceneKeys[], MotionKeys[];

#endif
