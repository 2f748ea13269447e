/* The keys of splashing liquid. */
#include <millrace/splash.h>

const char *const SplashTransfers[] = {"flip", "pic", "apic", NULL};
const char *const SplashPressures[] = {"unilateral", "bilateral", NULL};
const char *const SplashCorrections[] = {"unilateral", "none", NULL};
const char *const SplashIntegrations[] = {"trapezoid", "euler", NULL};

#define AT(member) offsetof(SplashConfig, member)

static const SchemaKey liquid_keys[] = {
    {.name = "shape",
     .kind = SCHEMA_SHAPE,
     .offset = offsetof(SplashLiquid, shape),
     .help =
         "filled with particles at the start, outside obstacles; where shapes overlap the first one counts"},
    {.name = "velocity",
     .kind = SCHEMA_FORMULAS,
     .offset = offsetof(SplashLiquid, velocity),
     .fallback = "[0, 0, 0]",
     .unit = "m/s",
     .help = "at the start"},
    {0}};

#define OF_SOURCE(member) offsetof(SplashSource, member)
static const SchemaKey source_keys[] = {{.name = "name",
                                         .kind = SCHEMA_TEXT,
                                         .offset = OF_SOURCE(name),
                                         .help = "unlike that of any other source: letters, digits, - and _"},
                                        {.name = "shape",
                                         .kind = SCHEMA_SHAPE,
                                         .offset = OF_SOURCE(shape),
                                         .help = "where liquid comes in; a few cells long in the direction "
                                                 "of the velocity, and without other liquid"},
                                        {.name = "velocity",
                                         .kind = SCHEMA_VECTOR,
                                         .offset = OF_SOURCE(velocity),
                                         .unit = "m/s",
                                         .help = "of all liquid in the shape"},
                                        {.name = "from",
                                         .kind = SCHEMA_REAL,
                                         .offset = OF_SOURCE(from),
                                         .fallback = "0",
                                         .range = SCHEMA_NOT_NEGATIVE,
                                         .unit = "s",
                                         .help = "when it begins"},
                                        {.name = "until",
                                         .kind = SCHEMA_REAL,
                                         .offset = OF_SOURCE(until),
                                         .fallback = "inf",
                                         .range = SCHEMA_ENDLESS,
                                         .unit = "s",
                                         .help = "when it ends"},
                                        {0}};

#define OF_BURST(member) offsetof(SplashBurst, member)
static const SchemaKey burst_keys[] = {
    {.name = "center",
     .kind = SCHEMA_VECTOR,
     .offset = OF_BURST(centre),
     .unit = "m",
     .help = "where it goes off"},
    {.name = "radius",
     .kind = SCHEMA_REAL,
     .offset = OF_BURST(radius),
     .range = SCHEMA_POSITIVE,
     .unit = "m",
     .help = "how far it reaches"},
    {.name = "time",
     .kind = SCHEMA_REAL,
     .offset = OF_BURST(time),
     .unit = "s",
     .range = SCHEMA_NOT_NEGATIVE,
     .help = "when"},
    {.name = "speed",
     .kind = SCHEMA_REAL,
     .offset = OF_BURST(speed),
     .range = SCHEMA_POSITIVE,
     .unit = "m/s",
     .help = "that it adds at the centre, away from it; falls to 0 at the radius"},
    {0}};

const SchemaKey SplashKeys[] = {
    {.name = "liquid",
     .kind = SCHEMA_LIST,
     .offset = AT(liquids),
     .count = AT(liquid_count),
     .size = sizeof(SplashLiquid),
     .fallback = "",
     .keys = liquid_keys,
     .help = "where there is liquid at the start"},
    {.name = "sources",
     .kind = SCHEMA_LIST,
     .offset = AT(sources),
     .count = AT(source_count),
     .size = sizeof(SplashSource),
     .fallback = "",
     .keys = source_keys,
     .help = "where liquid comes in"},
    {.name = "bursts",
     .kind = SCHEMA_LIST,
     .offset = AT(bursts),
     .count = AT(burst_count),
     .size = sizeof(SplashBurst),
     .fallback = "",
     .keys = burst_keys,
     .help = "explosions"},
    {.name = "particles",
     .kind = SCHEMA_INTEGER,
     .offset = AT(particles),
     .fallback = "2",
     .range = SCHEMA_BETWEEN,
     .lowest = 2,
     .highest = 8,
     .help = "of a full cell along each direction: 2 makes 8 in three dimensions"},
    {.name = "transfer",
     .kind = SCHEMA_CHOICE,
     .offset = AT(transfer),
     .fallback = "flip",
     .choices = SplashTransfers,
     .help = "from grid to particles: flip: the change of velocity, lively; pic: the velocity, viscous; "
             "apic: the "
             "velocity and its gradient, which keeps angular momentum"},
    {.name = "flip",
     .kind = SCHEMA_REAL,
     .offset = AT(flip),
     .fallback = "0.95",
     .range = SCHEMA_BETWEEN,
     .lowest = 0,
     .highest = 1,
     .help = "share of flip; the rest is pic"},
    {.name = "incompressibility",
     .kind = SCHEMA_CHOICE,
     .offset = AT(pressure),
     .fallback = "unilateral",
     .choices = SplashPressures,
     .help =
         "unilateral: pressure only pushes, and liquid parts where nothing presses; bilateral: no cell with "
         "particles has divergence (incompressible FLIP), which holds liquid together and lets it grow"},
    {.name = "solver",
     .kind = SCHEMA_CHOICE,
     .offset = AT(solver),
     .fallback = "mprgp",
     .choices = BoundedSolvers,
     .help =
         "of the two complementarity problems of a unilateral step: mprgp: by multigrid of the full cells; "
         "active-set: another way to the same; thesis: mprgp with incomplete Cholesky factors, for "
         "comparison: more iterations on finer grids"},
    {.name = "tolerance",
     .kind = SCHEMA_REAL,
     .offset = AT(tolerance),
     .fallback = "1e-4",
     .range = SCHEMA_BETWEEN,
     .lowest = 1e-14,
     .highest = 0.1,
     .help =
         "of the solves: error of the density, of all cells together, as a share of a full cell, and of what "
         "drives the solve"},
    {.name = "correction",
     .kind = SCHEMA_CHOICE,
     .offset = AT(correction),
     .fallback = "unilateral",
     .choices = SplashCorrections,
     .help = "unilateral: in every step particles are moved apart where they are too many for a cell; none: "
             "not; of no effect if bilateral"},
    {.name = "integration",
     .kind = SCHEMA_CHOICE,
     .offset = AT(integration),
     .fallback = "trapezoid",
     .choices = SplashIntegrations,
     .help = "of the paths of particles: second order, or first"},
    {.name = "suction_depth",
     .kind = SCHEMA_REAL,
     .offset = AT(suction_depth),
     .fallback = "inf",
     .range = SCHEMA_ENDLESS,
     .unit = "cells",
     .help =
         "from cells without liquid, beyond which pressure may pull as well, so that liquid sloshes; inf: it "
         "only pushes"},
    {.name = "surface",
     .kind = SCHEMA_INTEGER,
     .offset = AT(surface),
     .fallback = "0",
     .range = SCHEMA_BETWEEN,
     .lowest = 0,
     .highest = 8,
     .help =
         "frames hold the surface of the liquid as triangles, in three dimensions: of so many nodes along a "
         "cell; 2 is a good number; 0: none"},
    {0}};
