/* What the discretisations of `coupling.faces` and `coupling.mass` cost and what they miss, in one run: the
   table of docs/numerics.md, section 14. Costs are ratios of processor time to that of cut faces. */
#include "coupling_case.h"
#include "harness.h"
#include "solids.h"
#include "towed.h"

#include <time.h>

typedef struct {
  CouplingFaces faces;
  CouplingMass  mass;
} Choice;

static const Choice choices[] = {{COUPLING_CUT, COUPLING_MASS_FULL},
                                 {COUPLING_TIED, COUPLING_MASS_FULL},
                                 {COUPLING_FACES_THESIS, COUPLING_MASS_FULL},
                                 {COUPLING_FACES_THESIS, COUPLING_MASS_DIAGONAL}};
enum { CHOICES = 4, SPHERES = 24, REPEATS = 3 };

static CouplingSetup setup_of(const Choice *choice, PetscInt dimension, PetscInt cells, PetscReal length)
{
  return (CouplingSetup){.dimension = dimension,
                         .cells = {cells, cells, dimension == 3 ? cells : 1},
                         .length = length,
                         .density = 1000.,
                         .solver = COUPLING_SCHUR,
                         .faces = choice->faces,
                         .mass = choice->mass,
                         .tolerance = 1e-8};
}

static PetscReal processor_time(void)
{
  struct timespec now;

  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (PetscReal)now.tv_sec + 1e-9 * (PetscReal)now.tv_nsec;
}

/* In a box of 1 m with an open top, apart from each other; an eighth of it together. */
static void add_spheres(CouplingCase *coupled, PetscReal ratio)
{
  const PetscReal radius = 0.31 / PetscPowReal(SPHERES, 1. / 3.);
  uint64_t        seed = 7;

  while (coupled->count < SPHERES) {
    PetscBool is_apart = PETSC_TRUE;
    Vector3   centre;

    for (PetscInt d = 0; d < DIM; d++)
      centre.at[d] = 0.5 + (0.5 - radius) * random_number(&seed);
    for (PetscInt b = 0; b < coupled->count; b++)
      is_apart =
          is_apart && vector3_norm(vector3_subtract(centre, coupled->bodies[b].position)) > 2. * radius;
    if (is_apart)
      coupling_case_add_ball(coupled, radius, 1000. * ratio, centre);
  }
}

static PetscReal noise(PetscInt d, Vector3 x)
{
  return PetscSinReal(1e3 * x.at[X] + 3e3 * x.at[Y] + 7e3 * x.at[Z] + d);
}

typedef struct {
  PetscInt  mixed, iterations;
  PetscReal set_up, solve; /* s, the best */
} Cost;

static Cost cost_of(const Choice *choice, PetscInt cells, PetscReal ratio)
{
  CouplingSetup setup = setup_of(choice, 3, cells, 1.);
  CouplingCase *coupled;
  Cost          cost = {.set_up = PETSC_MAX_REAL, .solve = PETSC_MAX_REAL};

  setup.is_open = PETSC_TRUE;
  coupled = coupling_case_new(PETSC_COMM_WORLD, &setup);
  add_spheres(coupled, ratio);
  for (PetscInt n = 0; n < REPEATS; n++) {
    PetscReal start = processor_time();

    coupling_case_start(coupled);
    cost.set_up = PetscMin(cost.set_up, processor_time() - start);
    coupling_case_fill(coupled, noise);
    if (coupled->grid)
      PetscCallAbort(PETSC_COMM_SELF, VecSet(coupled->impulse, 0.));
    PetscCallAbort(PETSC_COMM_SELF, PetscArrayzero(coupled->twists, 6 * SPHERES));
    start = processor_time();
    coupling_case_solve(coupled);
    cost.solve = PetscMin(cost.solve, processor_time() - start);
  }
  cost.mixed = coupled->report.mixed_faces;
  cost.iterations = coupled->report.iterations;
  coupling_case_free(coupled);
  return cost;
}

/* A ball of ratio 1/2, 1 m across in a box of 10 m, begins to rise: by how much its added mass is off. */
static PetscReal added_mass_error(const Choice *choice, PetscInt dimension, PetscInt cells)
{
  const CouplingSetup setup = setup_of(choice, dimension, cells, 10.);
  const PetscReal     exact = dimension == 2 ? 1. : 0.5;
  const PetscInt      up = dimension - 1;
  CouplingCase       *coupled = coupling_case_new(PETSC_COMM_WORLD, &setup);
  Vector3             centre = vector3(5. + 3.1 / cells, 5. + 1.7 / cells, 5. + 4.3 / cells);
  Vector3             gravity = vector3(0., 0., 0.);
  PetscReal           added;

  gravity.at[up] = -1.;
  if (dimension == 2)
    centre.at[Z] = 0.;
  coupling_case_add_ball(coupled, 0.5, 500., centre);
  coupling_case_start(coupled);
  coupling_case_accelerate(coupled, gravity);
  coupling_case_solve(coupled);
  added = 0.5 / coupled->twists[up] - 0.5;
  coupling_case_free(coupled);
  return added / exact - 1.;
}

typedef struct {
  PetscReal fall,
      spin; /* of a neutral body under gravity 1: acceleration, and that of its corners by its spin */
  PetscInt null_vectors;
} Still;

/* A turned box and a ball of the fluid's density in a closed tank. */
static Still stillness_of(const Choice *choice)
{
  CouplingSetup setup = setup_of(choice, 3, 20, 2.);
  CouplingCase *coupled;
  Still         still = {0};

  setup.tolerance = 1e-12;
  coupled = coupling_case_new(PETSC_COMM_WORLD, &setup);
  coupling_case_add(coupled, make_box(vector3(0.21, 0.33, 0.17)), 0., 1000., vector3(0.52, 0.61, 0.73),
                    vector3(0.3, 0.5, 0.2));
  coupling_case_add_ball(coupled, 0.31, 1000., vector3(1.43, 1.12, 0.79));
  coupling_case_start(coupled);
  coupling_case_accelerate(coupled, vector3(0., 0., -1.));
  coupling_case_solve(coupled);
  for (PetscInt n = 0; n < 12; n++)
    if (n % 6 < DIM)
      still.fall = PetscMax(still.fall, PetscAbsReal(coupled->twists[n]));
    else
      still.spin = PetscMax(still.spin, 0.3 * PetscAbsReal(coupled->twists[n]));
  still.null_vectors = coupled->report.null_vectors;
  coupling_case_free(coupled);
  return still;
}

/* By a moving and spinning box in a periodic tank, over its mass and speed. */
static PetscReal lost_momentum(const Choice *choice)
{
  CouplingSetup setup = setup_of(choice, 3, 20, 2.);
  CouplingCase *coupled;
  PetscReal     before[6], after[6], lost = 0.;

  for (PetscInt d = 0; d < DIM; d++)
    setup.periodic[d] = PETSC_TRUE;
  coupled = coupling_case_new(PETSC_COMM_WORLD, &setup);
  coupling_case_add(coupled, make_box(vector3(0.21, 0.33, 0.17)), 0., 2500., vector3(0.52, 0.61, 0.73),
                    vector3(0.3, 0.5, 0.2));
  coupling_case_start(coupled);
  for (PetscInt n = 0; n < 6; n++)
    coupled->twists[n] = PetscSinReal(1. + 3. * n);
  PetscCallAbort(PETSC_COMM_SELF,
                 CouplingGetMomentum(coupled->coupling, coupled->velocity, coupled->twists, before));
  coupling_case_solve(coupled);
  PetscCallAbort(PETSC_COMM_SELF,
                 CouplingGetMomentum(coupled->coupling, coupled->velocity, coupled->twists, after));
  for (PetscInt d = 0; d < DIM; d++)
    lost = PetscMax(lost, PetscAbsReal(after[d] - before[d]) / coupled->bodies[0].mass);
  coupling_case_free(coupled);
  return lost;
}

static PetscErrorCode PrintCosts(PetscInt cells)
{
  static const PetscReal ratios[] = {1., 1e-3};
  Cost                   first[2] = {{0}};

  PetscFunctionBegin;
  PetscCall(
      PetscPrintf(PETSC_COMM_WORLD,
                  "| faces | mass | mixed faces | iterations, ratio 1 | time over cut | iterations, ratio "
                  "1e-3 | time over cut | set-up over cut |\n|---|---|---|---|---|---|---|---|\n"));
  for (PetscInt c = 0; c < CHOICES; c++) {
    Cost cost[2];

    for (PetscInt r = 0; r < 2; r++) {
      cost[r] = cost_of(&choices[c], cells, ratios[r]);
      if (c == 0)
        first[r] = cost[r];
    }
    PetscCall(PetscPrintf(
        PETSC_COMM_WORLD,
        "| %s | %s | %" PetscInt_FMT " | %" PetscInt_FMT " | %.2f | %" PetscInt_FMT " | %.2f | %.2f |\n",
        CouplingFaceKinds[choices[c].faces], CouplingMassKinds[choices[c].mass], cost[0].mixed,
        cost[0].iterations, (double)(cost[0].solve / first[0].solve), cost[1].iterations,
        (double)(cost[1].solve / first[1].solve), (double)(cost[0].set_up / first[0].set_up)));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode PrintMisses(void)
{
  PetscFunctionBegin;
  PetscCall(PetscPrintf(
      PETSC_COMM_WORLD,
      "\n| faces | mass | added mass: cylinder 8, 16, 32 cells | sphere 6.4 cells | neutral body: "
      "a/g | its corners | null vectors | momentum lost | towed cylinder: drag | noise |\n"
      "|---|---|---|---|---|---|---|---|---|---|\n"));
  for (PetscInt c = 0; c < CHOICES; c++) {
    const Choice *choice = &choices[c];
    const Still   still = stillness_of(choice);
    char          keys[64];
    const Tow     tow = {{1.2, 1.}, 0.4, 0., 0.005, 0.2, 0.4, keys, TOWED_BODY};
    TowedDrag     drag;

    PetscCall(PetscSNPrintf(keys, sizeof(keys), "faces: %s, mass: %s", CouplingFaceKinds[choice->faces],
                            CouplingMassKinds[choice->mass]));
    PetscCall(TowCylinder(&tow, &drag));
    PetscCall(PetscPrintf(
        PETSC_COMM_WORLD,
        "| %s | %s | %+.1f, %+.1f, %+.1f %% | %+.0f %% | %.0e | %.0e | %" PetscInt_FMT
        " | %.0e | %.3f | %.1f %% |\n",
        CouplingFaceKinds[choice->faces], CouplingMassKinds[choice->mass],
        (double)(100. * added_mass_error(choice, 2, 80)), (double)(100. * added_mass_error(choice, 2, 160)),
        (double)(100. * added_mass_error(choice, 2, 320)), (double)(100. * added_mass_error(choice, 3, 64)),
        (double)still.fall, (double)still.spin, still.null_vectors, (double)lost_momentum(choice),
        (double)drag.mean, (double)(100. * drag.noise)));
  }
  PetscFunctionReturn(0);
}

/* -size 96: cells along the box of the 24 spheres. */
int main(int argc, char **argv)
{
  PetscInt cells = 48;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-size", &cells, NULL));
  PetscCall(PrintCosts(cells));
  PetscCall(PrintMisses());
  PetscCall(PetscFinalize());
  return 0;
}
