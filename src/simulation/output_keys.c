/* The keys of `output`. */
#include <millrace/simulation.h>

#define OF_GROUP(member) offsetof(OutputConfig, member)
#define OF_COEFFICIENT(member) offsetof(CoefficientConfig, member)

static const SchemaKey probe_keys[] = {
    {.name = "name",
     .kind = SCHEMA_TEXT,
     .offset = offsetof(ProbeConfig, name),
     .help = "of its columns: velocity_NAME_x, pressure_NAME and each scalar"},
    {.name = "point",
     .kind = SCHEMA_VECTOR,
     .offset = offsetof(ProbeConfig, point),
     .unit = "m",
     .help = "where, in the box"},
    {0}};

static const SchemaKey line_keys[] = {{.name = "name",
                                       .kind = SCHEMA_TEXT,
                                       .offset = offsetof(LineConfig, name),
                                       .help = "of its columns: those of a probe NAME.0, NAME.1 and so on"},
                                      {.name = "from",
                                       .kind = SCHEMA_VECTOR,
                                       .offset = offsetof(LineConfig, from),
                                       .unit = "m",
                                       .help = "its first point"},
                                      {.name = "to",
                                       .kind = SCHEMA_VECTOR,
                                       .offset = offsetof(LineConfig, to),
                                       .unit = "m",
                                       .help = "its last point"},
                                      {.name = "points",
                                       .kind = SCHEMA_INTEGER,
                                       .offset = offsetof(LineConfig, points),
                                       .range = SCHEMA_BETWEEN,
                                       .lowest = 2,
                                       .highest = 250,
                                       .fallback = "11",
                                       .help = "how many, equally far apart"},
                                      {0}};

#define OF_PLANE(member) offsetof(PlaneConfig, member)
static const SchemaKey plane_keys[] = {
    {.name = "name",
     .kind = SCHEMA_TEXT,
     .offset = OF_PLANE(name),
     .help = "of its columns: flow_NAME, and those of probes NAME.0.0, NAME.1.0 and so on, the first number "
             "along the first side"},
    {.name = "origin", .kind = SCHEMA_VECTOR, .offset = OF_PLANE(origin), .unit = "m", .help = "a corner"},
    {.name = "along",
     .kind = SCHEMA_VECTOR,
     .offset = OF_PLANE(along),
     .unit = "m",
     .help = "its first side, from the corner"},
    {.name = "across",
     .kind = SCHEMA_VECTOR,
     .offset = OF_PLANE(across),
     .unit = "m",
     .help = "its second side; the flow through it counts in the direction of along x across"},
    {.name = "along_points",
     .kind = SCHEMA_INTEGER,
     .offset = OF_PLANE(along_points),
     .range = SCHEMA_BETWEEN,
     .lowest = 1,
     .highest = 250,
     .fallback = "8",
     .help = "equal parts along the first side, with a point in the middle of each"},
    {.name = "across_points",
     .kind = SCHEMA_INTEGER,
     .offset = OF_PLANE(across_points),
     .range = SCHEMA_BETWEEN,
     .lowest = 1,
     .highest = 250,
     .fallback = "8",
     .help = "likewise of the second"},
    {0}};

static const SchemaKey gauge_keys[] = {
    {.name = "name",
     .kind = SCHEMA_TEXT,
     .offset = offsetof(GaugeConfig, name),
     .help = "of its column height_NAME"},
    {.name = "at",
     .kind = SCHEMA_VECTOR,
     .offset = offsetof(GaugeConfig, at),
     .unit = "m",
     .help = "place over which the surface is looked for; its coordinate along gravity does not count"},
    {.name = "region",
     .kind = SCHEMA_TEXT,
     .offset = offsetof(GaugeConfig, region),
     .help = "whose surface, the highest there"},
    {0}};

static const SchemaKey average_keys[] = {
    {.name = "name",
     .kind = SCHEMA_TEXT,
     .offset = offsetof(AverageConfig, name),
     .help = "of its columns: those of a probe, and cells_NAME, their number"},
    {.name = "shape",
     .kind = SCHEMA_SHAPE,
     .offset = offsetof(AverageConfig, shape),
     .help = "the mean is over the cells whose centres are in it and in no solid"},
    {.name = "region",
     .kind = SCHEMA_TEXT,
     .offset = offsetof(AverageConfig, region),
     .fallback = "\"\"",
     .help = "only over cells of this region; empty: all"},
    {0}};

static const SchemaKey body_keys[] = {
    {.name = "name",
     .kind = SCHEMA_TEXT,
     .offset = offsetof(ChoiceConfig, name),
     .help = "of a body, link.3 for its fourth copy: position, velocity, rotation since the start, spin, and "
             "in a fluid the forces on it"},
    {0}};

static const SchemaKey joint_keys[] = {
    {.name = "name",
     .kind = SCHEMA_TEXT,
     .offset = offsetof(ChoiceConfig, name),
     .help = "of a joint, pin.3 for its fourth copy: angle_NAME (prismatic: distance_NAME) and rate_NAME, of "
             "the child against the parent; "
             "what it does to the child: joint_force_NAME, joint_torque_NAME and, by control and limits, "
             "drive_NAME"},
    {0}};

static const SchemaKey field_keys[] = {
    {.name = "name",
     .kind = SCHEMA_TEXT,
     .offset = offsetof(ChoiceConfig, name),
     .help = "of a field of frames: velocity, pressure, vorticity, solid, a scalar, region, distance_NAME"},
    {0}};

static const SchemaKey coefficient_keys[] = {
    {.name = "name",
     .kind = SCHEMA_TEXT,
     .offset = OF_COEFFICIENT(name),
     .help = "of an obstacle or a body: drag_coefficient_NAME, lift_coefficient_NAME"},
    {.name = "density",
     .kind = SCHEMA_REAL,
     .offset = OF_COEFFICIENT(density),
     .range = SCHEMA_POSITIVE,
     .unit = "kg/m^3",
     .help = "of the reference: coefficient = force / (density speed^2 area / 2)"},
    {.name = "speed",
     .kind = SCHEMA_REAL,
     .offset = OF_COEFFICIENT(speed),
     .range = SCHEMA_POSITIVE,
     .unit = "m/s",
     .help = "of the reference"},
    {.name = "area",
     .kind = SCHEMA_REAL,
     .offset = OF_COEFFICIENT(area),
     .range = SCHEMA_POSITIVE,
     .unit = "m^2",
     .help = "of the reference; in 2-D a length in m"},
    {.name = "flow",
     .kind = SCHEMA_VECTOR,
     .offset = OF_COEFFICIENT(flow),
     .fallback = "[1, 0, 0]",
     .help = "direction of drag; its length does not count"},
    {.name = "lift",
     .kind = SCHEMA_VECTOR,
     .offset = OF_COEFFICIENT(lift),
     .fallback = "[0, 1, 0]",
     .help = "direction of lift"},
    {0}};

#define LIST(key, member, count_member, type, table, text)                                                   \
  {                                                                                                          \
    .name = key, .kind = SCHEMA_LIST, .offset = OF_GROUP(member), .count = OF_GROUP(count_member),           \
    .size = sizeof(type), .fallback = "", .keys = table, .help = text                                        \
  }

const SchemaKey OutputKeys[] = {
    {.name = "name",
     .kind = SCHEMA_TEXT,
     .offset = OF_GROUP(name),
     .help = "of its files output/NAME.csv and output/NAME.h5: letters, digits, - and _"},
    {.name = "interval",
     .kind = SCHEMA_REAL,
     .offset = OF_GROUP(interval),
     .fallback = "0",
     .range = SCHEMA_NOT_NEGATIVE,
     .unit = "s",
     .help = "simulated time between two rows, each after the first step that reaches it; 0: every step"},
    LIST("probes", probes, probe_count, ProbeConfig, probe_keys, "points at which fields are recorded"),
    LIST("lines", lines, line_count, LineConfig, line_keys, "rows of such points"),
    LIST("planes", planes, plane_count, PlaneConfig, plane_keys,
         "parallelograms of such points, and the flow through them; in three dimensions"),
    LIST("gauges", gauges, gauge_count, GaugeConfig, gauge_keys, "heights of the surface of a region"),
    LIST("averages", averages, average_count, AverageConfig, average_keys, "means of fields over a shape"),
    LIST("bodies", bodies, body_count, ChoiceConfig, body_keys,
         "bodies that are recorded, however many there are"),
    LIST("joints", joints, joint_count, ChoiceConfig, joint_keys, "joints that are recorded"),
    LIST("fields", fields, field_count, ChoiceConfig, field_keys,
         "fields of frames of its own, one for each row: output/NAME/run.xmf; needs an interval"),
    LIST("coefficients", coefficients, coefficient_count, CoefficientConfig, coefficient_keys,
         "drag and lift as numbers without a unit"),
    {0}};
