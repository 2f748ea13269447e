/* The keys of the division of labour. */
#include <millrace/parallel.h>

const SchemaKey TeamKeys[] = {{.name = "solid_ranks",
                               .kind = SCHEMA_INTEGER,
                               .offset = offsetof(TeamConfig, solid_ranks),
                               .fallback = "-1",
                               .range = SCHEMA_BETWEEN,
                               .lowest = -1,
                               .highest = 65536,
                               .unit = "ranks",
                               .help = "ranks of their own for the solids; 0: they live on the last fluid "
                                       "rank; -1: one where there are solids and several ranks"},
                              {0}};
