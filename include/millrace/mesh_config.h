/* A mesh as a scene describes it: what, of what size, from which shape or file. */
#ifndef MILLRACE_MESH_CONFIG_H
#define MILLRACE_MESH_CONFIG_H

#include <millrace/api.h>
#include <millrace/base.h>
#include <millrace/geometry.h>
#include <millrace/mesh.h>
#include <millrace/schema.h>

MILLRACE_API_BEGIN

/* VOLUME: tetrahedra; CLOTH: triangles in space; PLANAR: triangles in the plane z = 0; ROPE: segments; CLOUD:
   points. */
typedef enum { MESH_USE_VOLUME, MESH_USE_CLOTH, MESH_USE_PLANAR, MESH_USE_ROPE, MESH_USE_CLOUD } MeshUse;
extern const char *const MeshUses[]; /* words for them, null-terminated */

/* How a shape is filled with tetrahedra. AUTO: boxes as cubes of five, other shapes stuffed. The patterns of
   boxes are for boxes only. */
typedef enum {
  MESH_FILL_AUTO,
  MESH_FILL_STUFFED,
  MESH_FILL_LATTICE,
  MESH_FILL_FIVE,
  MESH_FILL_SIX,
  MESH_FILL_BCC
} MeshFill;
extern const char *const MeshFills[];

/* Elements with their centre in the shape are refined so often. */
typedef struct {
  Shape    inside;
  PetscInt levels;
} MeshRefineConfig;
extern const SchemaKey MeshRefineKeys[];

/* Parallel planes that cut the mesh. */
typedef struct {
  Vector3   point, normal; /* of the first */
  PetscInt  count;
  PetscReal step;                  /* m along the normal from one to the next */
  Vector3   end_point, end_normal; /* not zero: half planes, which cut only where this normal points to */
  MeshKeep  keep;
  PetscReal gap; /* m between the surfaces of the two sides */
} MeshCutConfig;
extern const SchemaKey MeshCutKeys[];

typedef struct {
  Vector3   origin, along, across; /* a sheet: all three; a rope: from origin to origin + along */
  Vector3   normal;                /* a disc: origin, normal, radius; a tube: origin, along, radius */
  PetscReal radius;
} MeshSheetConfig;
extern const SchemaKey MeshSheetKeys[];

typedef struct {
  Vector3           origin, axis;
  PetscBool         ring; /* the last point is joined with the first */
  PetscInt          point_count;
  MeshProfilePoint *points;
} MeshProfileConfig;
extern const SchemaKey MeshProfileKeys[];

/* Exactly one of shape, file, sheet (along or radius not zero) and profile (points) is given. */
typedef struct {
  MeshUse           use;
  Shape             shape; /* filled; of cloth its surface; borrowed */
  char             *file;  /* of Gmsh; with its directory; "" or null: none */
  MeshSheetConfig   sheet;
  MeshProfileConfig profile;
  PetscReal         edge;         /* m, of the elements, about; not of a file */
  PetscReal         surface_edge; /* m, of an embedded surface; 0: `edge` */
  MeshFill          fill;
  PetscInt          order; /* 1 or 2 */
  PetscInt          refine_count;
  MeshRefineConfig *refine;
  PetscInt          cut_count;
  MeshCutConfig    *cuts;
} MeshConfig;

/* The keys of a MeshConfig that is at byte `at` of a room's own struct, for the room's table. */
#define MILLRACE_MESH_KEYS(at)                                                                               \
  {.name = "type",                                                                                           \
   .kind = SCHEMA_CHOICE,                                                                                    \
   .offset = (at) + offsetof(MeshConfig, use),                                                               \
   .fallback = "volume",                                                                                     \
   .choices = MeshUses,                                                                                      \
   .help = "volume: tetrahedra; cloth: triangles in space; planar: triangles in the plane z = 0; rope: "     \
           "segments; cloud: points"},                                                                       \
      {.name = "shape",                                                                                      \
       .kind = SCHEMA_FORM,                                                                                  \
       .offset = (at) + offsetof(MeshConfig, shape),                                                         \
       .fallback = "",                                                                                       \
       .help = "filled where it is at time zero, without stress; of cloth and clouds: its surface, its "     \
               "inside"},                                                                                    \
      {.name = "file",                                                                                       \
       .kind = SCHEMA_TEXT,                                                                                  \
       .offset = (at) + offsetof(MeshConfig, file),                                                          \
       .fallback = "\"\"",                                                                                   \
       .help = "of Gmsh (.msh, version 2.2 or 4.1, text or binary), instead of a shape"},                    \
      {.name = "sheet",                                                                                      \
       .kind = SCHEMA_BLOCK,                                                                                 \
       .offset = (at) + offsetof(MeshConfig, sheet),                                                         \
       .fallback = "",                                                                                       \
       .keys = MeshSheetKeys,                                                                                \
       .help = "a parallelogram, disc or tube of cloth, or a straight rope, instead of a shape"},            \
      {.name = "profile",                                                                                    \
       .kind = SCHEMA_BLOCK,                                                                                 \
       .offset = (at) + offsetof(MeshConfig, profile),                                                       \
       .fallback = "",                                                                                       \
       .keys = MeshProfileKeys,                                                                              \
       .help = "cloth that is a surface of revolution, instead of a shape"},                                 \
      {.name = "edge",                                                                                       \
       .kind = SCHEMA_REAL,                                                                                  \
       .offset = (at) + offsetof(MeshConfig, edge),                                                          \
       .fallback = "0",                                                                                      \
       .range = SCHEMA_NOT_NEGATIVE,                                                                         \
       .unit = "m",                                                                                          \
       .help = "length of the edges of elements, about; not of a file"},                                     \
      {.name = "fill",                                                                                       \
       .kind = SCHEMA_CHOICE,                                                                                \
       .offset = (at) + offsetof(MeshConfig, fill),                                                          \
       .fallback = "auto",                                                                                   \
       .choices = MeshFills,                                                                                 \
       .help = "of volumes: stuffed: elements follow the surface; lattice: those of a lattice that cover "   \
               "the shape, whose surface is embedded in them; five, six, bcc: cubes of a box in so many "    \
               "tetrahedra or those of a body-centred "                                                      \
               "lattice; auto: five for boxes, else stuffed"},                                               \
      {.name = "surface_edge",                                                                               \
       .kind = SCHEMA_REAL,                                                                                  \
       .offset = (at) + offsetof(MeshConfig, surface_edge),                                                  \
       .fallback = "0",                                                                                      \
       .range = SCHEMA_NOT_NEGATIVE,                                                                         \
       .unit = "m",                                                                                          \
       .help = "of fill: lattice: length of the edges of the embedded surface, about; 0: as \"edge\""},      \
      {.name = "order",                                                                                      \
       .kind = SCHEMA_INTEGER,                                                                               \
       .offset = (at) + offsetof(MeshConfig, order),                                                         \
       .fallback = "1",                                                                                      \
       .range = SCHEMA_BETWEEN,                                                                              \
       .lowest = 1,                                                                                          \
       .highest = 2,                                                                                         \
       .help = "1: linear elements; 2: quadratic ones, with nodes in the middle of edges"},                  \
      {.name = "refine",                                                                                     \
       .kind = SCHEMA_LIST,                                                                                  \
       .offset = (at) + offsetof(MeshConfig, refine),                                                        \
       .count = (at) + offsetof(MeshConfig, refine_count),                                                   \
       .size = sizeof(MeshRefineConfig),                                                                     \
       .fallback = "",                                                                                       \
       .keys = MeshRefineKeys,                                                                               \
       .help = "where elements are divided; their neighbours stay whole"},                                   \
  {                                                                                                          \
    .name = "cuts", .kind = SCHEMA_LIST, .offset = (at) + offsetof(MeshConfig, cuts),                        \
    .count = (at) + offsetof(MeshConfig, cut_count), .size = sizeof(MeshCutConfig), .fallback = "",          \
    .keys = MeshCutKeys, .help = "planes that cut linear tetrahedra apart at time zero"                      \
  }

/* Makes the mesh and checks it. On a mistake `*mesh` is null and `message` says what, where and what helps;
   that is not an error code. The same on every rank if a file is. Not collective. */
PetscErrorCode MeshCreateFromConfig(const MeshConfig *config, Mesh *mesh, char message[],
                                    size_t message_size);
/* Whether what is said fits together, before anything is made; `message` is "" then. Not collective. */
PetscErrorCode MeshConfigCheck(const MeshConfig *config, char message[], size_t message_size);
/* How many elements a filled shape or surface will have, about; 0 where that is not known. */
PetscReal mesh_config_elements(const MeshConfig *config);

/* The skin of a shape, with this edge, is embedded in tetrahedra that cover it. On a mistake as above. Not
   collective. */
PetscErrorCode MeshEmbed(Shape shape, PetscReal edge, Mesh mesh, char message[], size_t message_size);

/* The triangles around a shape with edges of about `edge`, on its true surface and facing outwards; of a
   shape from a file the file's own. Of combinations and formulas second order in `edge`. On a mistake as
   above. Not collective. */
PetscErrorCode MeshCreateSkin(Shape shape, PetscReal edge, Mesh *mesh, char message[], size_t message_size);

MILLRACE_API_END

#endif
