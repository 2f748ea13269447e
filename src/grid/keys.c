/* The keys of the box. */
#include <millrace/grid.h>

#define AT(member) offsetof(GridConfig, member)

const char *const GridFits[] = {"exact", "grow", "shrink", NULL};

/* `dimension` comes first: it decides how the vectors after it are read. */
const SchemaKey GridKeys[] = {
    {.name = "dimension",
     .kind = SCHEMA_INTEGER,
     .offset = AT(dimension),
     .fallback = "3",
     .range = SCHEMA_BETWEEN,
     .lowest = 2,
     .highest = 3,
     .help = "2 or 3; in two dimensions there is no motion along z and vectors may have two components"},
    {.name = "origin",
     .kind = SCHEMA_VECTOR,
     .offset = AT(origin),
     .fallback = "[0, 0, 0]",
     .unit = "m",
     .help = "lower corner of the box"},
    {.name = "size",
     .kind = SCHEMA_VECTOR,
     .offset = AT(size),
     .unit = "m",
     .range = SCHEMA_POSITIVE,
     .help = "size of the box, a whole number of cells in each direction (see fit)"},
    {.name = "resolution",
     .kind = SCHEMA_INTEGER,
     .offset = AT(resolution),
     .range = SCHEMA_BETWEEN,
     .lowest = 1,
     .highest = 65536,
     .unit = "cells",
     .help = "cells along x; the cells are cubes"},
    {.name = "fit",
     .kind = SCHEMA_CHOICE,
     .offset = AT(fit),
     .fallback = "exact",
     .choices = GridFits,
     .help = "where the size along y or z is no whole number of cells. exact: the scene is refused, with the "
             "nearest that is; grow, shrink: the box reaches to the end of the last cell, or of the last "
             "whole one"},
    {0}};
