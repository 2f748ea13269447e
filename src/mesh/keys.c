/* Words and keys of meshes. */
#include <millrace/mesh_config.h>

const char *const MeshUses[] = {"volume", "cloth", "planar", "rope", "cloud", NULL};
const char *const MeshFills[] = {"auto", "stuffed", "lattice", "five", "six", "bcc", NULL};

const char *const MeshKeeps[] = {"both", "front", "back", NULL};

static const char *const yes_or_no[] = {"false", "true", NULL}; /* index: PetscBool */

#define OF_REFINE(member) offsetof(MeshRefineConfig, member)
#define OF_CUT(member) offsetof(MeshCutConfig, member)
#define OF_SHEET(member) offsetof(MeshSheetConfig, member)
#define OF_PROFILE(member) offsetof(MeshProfileConfig, member)
#define OF_POINT(member) offsetof(MeshProfilePoint, member)

const SchemaKey MeshRefineKeys[] = {{.name = "inside",
                                     .kind = SCHEMA_SHAPE,
                                     .offset = OF_REFINE(inside),
                                     .help = "elements whose centre is in it, at rest"},
                                    {.name = "levels",
                                     .kind = SCHEMA_INTEGER,
                                     .offset = OF_REFINE(levels),
                                     .fallback = "1",
                                     .range = SCHEMA_BETWEEN,
                                     .lowest = 1,
                                     .highest = 10,
                                     .help = "how often each is divided into 2, 4 or 8"},
                                    {0}};

const SchemaKey MeshCutKeys[] = {
    {.name = "point", .kind = SCHEMA_VECTOR, .offset = OF_CUT(point), .unit = "m", .help = "of the plane"},
    {.name = "normal",
     .kind = SCHEMA_VECTOR,
     .offset = OF_CUT(normal),
     .help = "of the plane, of any length"},
    {.name = "count",
     .kind = SCHEMA_INTEGER,
     .offset = OF_CUT(count),
     .fallback = "1",
     .range = SCHEMA_BETWEEN,
     .lowest = 1,
     .highest = 1000,
     .help = "of parallel planes"},
    {.name = "step",
     .kind = SCHEMA_REAL,
     .offset = OF_CUT(step),
     .fallback = "0",
     .unit = "m",
     .help = "along the normal from one plane to the next"},
    {.name = "end_point",
     .kind = SCHEMA_VECTOR,
     .offset = OF_CUT(end_point),
     .fallback = "[0, 0, 0]",
     .unit = "m",
     .help = "of the plane where half planes end"},
    {.name = "end_normal",
     .kind = SCHEMA_VECTOR,
     .offset = OF_CUT(end_normal),
     .fallback = "[0, 0, 0]",
     .help =
         "not zero: half planes, which cut only where this normal points to; an element in which they end "
         "stays whole"},
    {.name = "keep",
     .kind = SCHEMA_CHOICE,
     .offset = OF_CUT(keep),
     .fallback = "both",
     .choices = MeshKeeps,
     .help = "of whole planes: both sides, or only the material to which the normal points (front) or the "
             "rest (back)"},
    {.name = "gap",
     .kind = SCHEMA_REAL,
     .offset = OF_CUT(gap),
     .fallback = "0",
     .unit = "m",
     .range = SCHEMA_NOT_NEGATIVE,
     .help = "between the surfaces of the two sides, which stand back while the material stays; with a "
             "contact_thickness a little below it they meet where the material does"},
    {0}};

const SchemaKey MeshSheetKeys[] = {
    {.name = "origin",
     .kind = SCHEMA_VECTOR,
     .offset = OF_SHEET(origin),
     .fallback = "[0, 0, 0]",
     .unit = "m",
     .help = "a corner, the centre of a disc, or where a tube or rope begins"},
    {.name = "along",
     .kind = SCHEMA_VECTOR,
     .offset = OF_SHEET(along),
     .fallback = "[0, 0, 0]",
     .unit = "m",
     .help = "from the origin to the next corner or to the end of a tube or rope"},
    {.name = "across",
     .kind = SCHEMA_VECTOR,
     .offset = OF_SHEET(across),
     .fallback = "[0, 0, 0]",
     .unit = "m",
     .help = "the other side of a parallelogram; its normal is along x across"},
    {.name = "normal",
     .kind = SCHEMA_VECTOR,
     .offset = OF_SHEET(normal),
     .fallback = "[0, 0, 1]",
     .help = "of a disc"},
    {.name = "radius",
     .kind = SCHEMA_REAL,
     .offset = OF_SHEET(radius),
     .fallback = "0",
     .range = SCHEMA_NOT_NEGATIVE,
     .unit = "m",
     .help = "more than 0: a disc, or with `along` a tube that is open at both ends"},
    {0}};

static const SchemaKey point_keys[] = {{.name = "radius",
                                        .kind = SCHEMA_REAL,
                                        .offset = OF_POINT(radius),
                                        .range = SCHEMA_NOT_NEGATIVE,
                                        .unit = "m",
                                        .help = "from the axis; 0 only at an end"},
                                       {.name = "height",
                                        .kind = SCHEMA_REAL,
                                        .offset = OF_POINT(height),
                                        .unit = "m",
                                        .help = "along the axis from the origin"},
                                       {0}};

const SchemaKey MeshProfileKeys[] = {
    {.name = "origin",
     .kind = SCHEMA_VECTOR,
     .offset = OF_PROFILE(origin),
     .fallback = "[0, 0, 0]",
     .unit = "m",
     .help = "a point of the axis"},
    {.name = "axis",
     .kind = SCHEMA_VECTOR,
     .offset = OF_PROFILE(axis),
     .fallback = "[0, 0, 1]",
     .help = "its direction"},
    {.name = "ring",
     .kind = SCHEMA_CHOICE,
     .offset = OF_PROFILE(ring),
     .fallback = "false",
     .choices = yes_or_no,
     .help = "whether the last point is joined with the first"},
    {.name = "points",
     .kind = SCHEMA_LIST,
     .offset = OF_PROFILE(points),
     .count = OF_PROFILE(point_count),
     .size = sizeof(MeshProfilePoint),
     .fallback = "",
     .keys = point_keys,
     .help = "of the curve that turns about the axis; upwards it faces outwards"},
    {0}};
