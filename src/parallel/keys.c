/* The keys of the division of labour. */
#include <millrace/parallel.h>

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
                              {0}};
