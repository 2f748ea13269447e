/* The keys of moving interfaces. */
#include <millrace/levelset.h>

const char *const InterfaceSchemes[] = {"semi-lagrangian", "weno5", NULL};

#define AT(member) offsetof(InterfaceConfig, member)

const SchemaKey InterfaceKeys[] = {
    {.name = "advection",
     .kind = SCHEMA_CHOICE,
     .offset = AT(advection),
     .fallback = "weno5",
     .choices = InterfaceSchemes,
     .help = "how level sets are carried: semi-lagrangian: cubic along trajectories, any step up to two "
             "cells; weno5: fifth-order upwind differences, in several parts where the step is long"},
    {.name = "particles",
     .kind = SCHEMA_INTEGER,
     .offset = AT(particles),
     .fallback = "16",
     .range = SCHEMA_BETWEEN,
     .lowest = 0,
     .highest = 1024,
     .help = "markers in every cell beside an interface, on either side, that keep thin parts from being "
             "lost; 0: none"},
    {0}};
