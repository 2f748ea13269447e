/* Solids that are no rigid bodies, through the same interfaces: unknowns and weights. */
#include "scene_run.h"
#include "harness.h"
#include "solids.h"
#include "viscous_case.h"

#include "fluid/stress_impl.h"

static const CouplingSetup ring = {.dimension = 3,
                                   .cells = {20, 18, 16},
                                   .length = 2.,
                                   .periodic = {PETSC_TRUE, PETSC_TRUE, PETSC_TRUE},
                                   .density = 3.,
                                   .solver = COUPLING_SCHUR,
                                   .tolerance = 1e-10};

/* Particles, of three unknowns and a mass each; faces move with three of them. */
enum { PARTICLES = 7 };
static const PetscReal masses[PARTICLES] = {0.3, 0.1, 0.7, 0.2, 0.4, 0.9, 0.25};

typedef struct {
  FaceConstraints constraints;
  SolidBlock      blocks[PARTICLES];
  PetscReal       mass[PARTICLES][9], velocities[3 * PARTICLES];
} Flesh;

/* The same for all copies of a face; the weights add up to one. */
static SolidRow row_of_face(const GridBox *box, PetscInt d, PetscInt c)
{
  SolidRow row = {.count = 3};
  Vector3  place;

  for (PetscInt e = DIM - 1; e >= 0; e--) {
    const PetscInt at = c / box->stride[e] - box->ghost + box->start[e];

    place.at[e] = (PetscReal)((at + box->cells[e]) % box->cells[e]);
    c %= box->stride[e];
  }
  for (PetscInt n = 0; n < 3; n++)
    row.dof[n] = 3 * ((PetscInt)(PARTICLES * rough_at(place, 3) + n) % PARTICLES) + d;
  row.weight[0] = rough_at(place, 5 + d);
  row.weight[1] = 0.5 * rough_at(place, 11 + d);
  row.weight[2] = 1. - row.weight[0] - row.weight[1];
  return row;
}

/* The faces of bodies, held by particles instead. */
static PetscErrorCode MakeFlesh(const GridBox *box, const FaceConstraints *bodies, Flesh *flesh)
{
  PetscFunctionBegin;
  flesh->constraints = *bodies;
  flesh->constraints.unknown_count = 3 * PARTICLES;
  flesh->constraints.velocities = flesh->velocities;
  flesh->constraints.block_count = PARTICLES;
  flesh->constraints.blocks = flesh->blocks;
  for (PetscInt p = 0; p < PARTICLES; p++) {
    flesh->blocks[p] = (SolidBlock){3 * p, 3, PETSC_TRUE, flesh->mass[p]};
    for (PetscInt n = 0; n < 9; n++)
      flesh->mass[p][n] = n % 4 ? 0. : masses[p];
    for (PetscInt d = 0; d < DIM; d++)
      flesh->velocities[3 * p + d] = rough_at(vector3((PetscReal)p, 0.3, 0.2), d) - 0.5;
  }
  for (PetscInt d = 0; d < DIM; d++) { /* the lists belong to this test's coupling alone */
    for (PetscInt n = 0; n < bodies->constrained_count[d]; n++)
      ((ConstrainedFace *)bodies->constrained[d])[n].row =
          row_of_face(box, d, bodies->constrained[d][n].face);
    for (PetscInt n = 0; n < bodies->neighbour_count[d]; n++)
      ((WallNeighbour *)bodies->wall_neighbours[d])[n].row =
          row_of_face(box, d, bodies->wall_neighbours[d][n].face);
    for (PetscInt n = 0; n < bodies->edge_pair_count[d]; n++) {
      EdgePair *pair = &((EdgePair *)bodies->edge_pairs[d])[n];

      pair->rows[0] = row_of_face(box, d, pair->face);
      pair->rows[1] = row_of_face(box, pair->across, pair->other);
    }
    for (PetscInt n = 0; n < bodies->separated_count[d]; n++)
      for (PetscInt side = 0; side < 2; side++)
        ((SeparatedPair *)bodies->separated_pairs[d])[n].rows[side] =
            row_of_face(box, d, bodies->separated_pairs[d][n].faces[side]);
  }
  PetscFunctionReturn(0);
}

static PetscReal rough(PetscInt d, Vector3 x)
{
  return rough_at(x, d) - 0.5;
}

static ViscousCase *make_tank(Flesh *flesh)
{
  ViscousCase *tank = viscous_case_new(PETSC_COMM_WORLD, &ring, 0.7);

  coupling_case_add(tank->coupled, make_box(vector3(0.31, 0.33, 0.27)), 0., 2., vector3(0.62, 0.61, 0.73),
                    vector3(0.3, 0.5, 0.2));
  coupling_case_add(tank->coupled, make_box(vector3(0.35, 0.3, 0.25)), 0.01, 5., vector3(1.4, 0.43, 1.1),
                    vector3(0.7, 0.3, 0.2));
  viscous_case_start(tank, NULL);
  viscous_case_fill(tank, rough);
  if (tank->coupled->grid) {
    PetscCallAbort(PETSC_COMM_SELF, MakeFlesh(grid_box(tank->coupled->grid), tank->constraints, flesh));
    PetscCallAbort(PETSC_COMM_SELF, FluidSetConstraints(tank->fluid_case.fluid, &flesh->constraints, NULL));
  }
  return tank;
}

/* What the fluid loses, particles gain, each its mass times its change. */
static void viscosity_keeps_the_momentum_of_fluid_and_particles(void **state)
{
  PetscReal    fluid[2][6], none[6], impulses[3 * PARTICLES], taken[DIM] = {0., 0., 0.}, error = 0.;
  Flesh        flesh, before;
  ViscousCase *tank = make_tank(&flesh);

  (void)state;
  before = flesh;
  viscous_case_get_momentum(tank, fluid[0], none);
  tank->fluid_case.config.viscosity_tolerance = 1e-13;
  if (tank->coupled->grid) {
    PetscCallAbort(PETSC_COMM_SELF, FluidDiffuseMixture(tank->fluid_case.fluid, 1e-1, 0., tank->faces));
    PetscCallAbort(PETSC_COMM_SELF, FluidGetConstraintImpulses(tank->fluid_case.fluid, impulses));
    for (PetscInt n = 0; n < 3 * PARTICLES; n++) {
      taken[n % 3] += masses[n / 3] * (flesh.velocities[n] - before.velocities[n]);
      error = PetscMax(
          error, PetscAbsReal(impulses[n] - masses[n / 3] * (flesh.velocities[n] - before.velocities[n])));
    }
  }
  (void)MPI_Bcast(taken, DIM, MPIU_REAL, 0, PETSC_COMM_WORLD); /* the first rank has fluid */
  viscous_case_get_momentum(tank, fluid[1], none);
  assert_on_all_ranks(error < 1e-14);
  for (PetscInt d = 0; d < DIM; d++) {
    note("fluid loses %g, rest %g", (double)(fluid[0][d] - fluid[1][d]),
         (double)(fluid[0][d] - fluid[1][d] - taken[d]));
    assert_on_all_ranks(PetscAbsReal(taken[d]) > 1e-4);
    assert_near(fluid[0][d] - fluid[1][d], taken[d], 1e-12);
  }
  viscous_case_free(tank);
}

TEST_MAIN(cmocka_unit_test(viscosity_keeps_the_momentum_of_fluid_and_particles))
