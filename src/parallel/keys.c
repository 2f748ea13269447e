/* The keys of the division of labour. */
#include <millrace/parallel.h>

const char *const FluidParts[] = {"balanced", "even", NULL};

const SchemaKey TeamKeys[] = {{.name = "solid_ranks",
                               .kind = SCHEMA_INTEGER,
                               .offset = offsetof(TeamConfig, solid_ranks),
                               .fallback = "auto",
                               .range = SCHEMA_BETWEEN,
                               .lowest = 0,
                               .highest = 65536,
                               .automatic = "auto",
                               .unit = "ranks",
                               .help = "ranks of their own for the solids; 0: they live on the last fluid "
                                       "rank; auto: one of three ranks or more, with fewer 0"},
                              {.name = "fluid_parts",
                               .kind = SCHEMA_CHOICE,
                               .offset = offsetof(TeamConfig, fluid_parts),
                               .fallback = "balanced",
                               .choices = FluidParts,
                               .help =
                                   "how the box is divided among the fluid ranks. even: in parts of about "
                                   "equal size; balanced: anew in parts with about as much to do, whenever "
                                   "one has a quarter more than the mean"},
                              {0}};
