/* The keys of the coupling. */
#include "coupling_impl.h"

#define AT(member) offsetof(CouplingConfig, member)

const char *const CouplingSolvers[] = {"minres", "schur", "thesis", NULL};
const char *const CouplingFaceKinds[] = {"cut", "tied", "thesis", NULL};
const char *const CouplingMassKinds[] = {"full", "diagonal", NULL};

const SchemaKey CouplingKeys[] = {
    {.name = "solver",
     .kind = SCHEMA_CHOICE,
     .offset = AT(solver),
     .fallback = "minres",
     .choices = CouplingSolvers,
     .help =
         "of the coupled system: minres (the block matrix on all ranks), schur (bodies eliminated, on the "
         "fluid ranks; a little faster), thesis (incomplete Cholesky, for comparison)"},
    {.name = "faces",
     .kind = SCHEMA_CHOICE,
     .offset = AT(faces),
     .fallback = "cut",
     .choices = CouplingFaceKinds,
     .help =
         "at the surfaces of bodies: cut (the fluid beside them slips), tied (it moves with them between "
         "solid and fluid cells; first order), thesis (it does in every dual cell with fluid and solid; for "
         "comparison)"},
    {.name = "mass",
     .kind = SCHEMA_CHOICE,
     .offset = AT(mass),
     .fallback = "full",
     .choices = CouplingMassKinds,
     .help =
         "of the fluid that moves with bodies, in their matrix: full (momentum is kept), diagonal (lumped as "
         "in the thesis, for comparison; with faces: tied or thesis)"},
    {.name = "tolerance",
     .kind = SCHEMA_REAL,
     .offset = AT(tolerance),
     .fallback = "1e-8",
     .range = SCHEMA_BETWEEN,
     .lowest = 1e-14,
     .highest = 0.1,
     .help = "residual of the pressure equation at which the coupled solve ends, relative to its right side; "
             "where all bodies stand still fluid.pressure_tolerance counts"},
    {.name = "iterations",
     .kind = SCHEMA_INTEGER,
     .offset = AT(iterations),
     .fallback = "500",
     .range = SCHEMA_BETWEEN,
     .lowest = 1,
     .highest = 1000000,
     .help = "after which the coupled solve has failed"},
    {.name = "rounds",
     .kind = SCHEMA_INTEGER,
     .offset = AT(rounds),
     .fallback = "60",
     .range = SCHEMA_BETWEEN,
     .lowest = 1,
     .highest = 100,
     .help =
         "largest number of solves at the end of a step: where contact or joints change the velocities of "
         "bodies, the system of fluid and bodies is solved again, until both agree; without agreement the "
         "step is repeated with half its size"},
    {0}};
