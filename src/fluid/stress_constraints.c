/* What surfaces of bodies change in the viscous operator of a mixture (docs/numerics.md, section 15).

   With w = u - W V, the velocity of an open face beside the body's at the same place, and s the coefficient
   of the stress between two faces, the energy 1/2 s (du + dv)^2 of that stress becomes

     1/2 s [(du + dv)^2 + (1/theta - 1) w^2]                      between an open face and a constrained one,
     and +- s [1/(theta_u theta_v)^1/2 - 1] w_u w_v               where that is so for both components,
     1/2 s [(du + dv)^2 + sum (1/theta - 1) w^2 + 2 w_0 w_1]      between two open ones with a shell between:

   differences reach over theta to the surface, and what moves with the body feels nothing. */
#include "stress_impl.h"

#include <millrace/dense.h>

/* A surface does not come closer to an open face. */
static const PetscReal least_distance = 0.01;

/* Coefficients of a level, all at once. */
typedef struct {
  PetscReal *normal, *shear[DIM];
} Coefficients;

static PetscErrorCode GetCoefficients(const StressLevel *level, Coefficients *at)
{
  PetscFunctionBegin;
  PetscCall(VecGetArray(level->normal, &at->normal));
  for (PetscInt e = grid_box(level->grid)->dimension == 2 ? Z : X; e < DIM; e++)
    PetscCall(VecGetArray(level->shear[e], &at->shear[e]));
  PetscFunctionReturn(0);
}

static PetscErrorCode RestoreCoefficients(const StressLevel *level, Coefficients *at)
{
  PetscFunctionBegin;
  PetscCall(VecRestoreArray(level->normal, &at->normal));
  for (PetscInt e = grid_box(level->grid)->dimension == 2 ? Z : X; e < DIM; e++)
    PetscCall(VecRestoreArray(level->shear[e], &at->shear[e]));
  PetscFunctionReturn(0);
}

/* Of the stress between a face of direction d and its neighbour. */
static PetscReal between(const Coefficients *at, const GridBox *box, PetscInt d, PetscInt face, PetscInt next)
{
  PetscInt edge;

  if (PetscAbsInt(face - next) == box->stride[d])
    return at->normal[PetscMin(face, next)];
  return at->shear[no_slip_edge(box, d, (NoSlipPair){face, next}, &edge)][PetscMax(face, next)];
}

static PetscReal separated_extra(const SeparatedPair *separated, PetscInt side)
{
  return 1. / PetscMin(PetscMax(separated->distances[side], least_distance), 1. - least_distance) - 1.;
}

/* Where the factor of each block begins, and the block of each unknown. */
static PetscErrorCode NumberBlocks(SolidUnknowns *unknowns)
{
  PetscFunctionBegin;
  PetscCall(
      PetscCalloc2(unknowns->block_count + 1, &unknowns->first_factor, unknowns->count, &unknowns->block_of));
  for (PetscInt b = 0; b < unknowns->block_count; b++) {
    const SolidBlock *block = &unknowns->blocks[b];

    unknowns->first_factor[b + 1] = unknowns->first_factor[b] + PetscSqr(block->count);
    for (PetscInt n = 0; n < block->count; n++)
      unknowns->block_of[block->first + n] = b;
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateUnknowns(Fluid fluid)
{
  const FaceConstraints *constraints = fluid->constraints;
  SolidUnknowns         *unknowns = &fluid->stress->unknowns;

  PetscFunctionBegin;
  PetscCall(SolidUnknownsDestroy(unknowns));
  unknowns->count = constraints->unknown_count;
  unknowns->block_count = constraints->block_count;
  unknowns->blocks = constraints->blocks;
  PetscCall(NumberBlocks(unknowns));
  PetscCall(PetscCalloc4(unknowns->count, &unknowns->before, unknowns->count, &unknowns->residual,
                         unknowns->count, &unknowns->search, unknowns->count + 1, &unknowns->image));
  PetscCall(PetscCalloc2(unknowns->first_factor[unknowns->block_count], &unknowns->factor,
                         PetscMax(unknowns->first_factor[unknowns->block_count], unknowns->count + 1),
                         &unknowns->sums));
  for (PetscInt d = 0; d < grid_box(fluid->grid)->dimension; d++) {
    PetscCall(PetscCalloc2(constraints->neighbour_count[d], &unknowns->reach[d],
                           constraints->neighbour_count[d], &unknowns->loose[d]));
    PetscCall(PetscCalloc5(constraints->constrained_count[d], &unknowns->lags[d],
                           constraints->constrained_count[d], &unknowns->shares[d],
                           constraints->neighbour_count[d], &unknowns->wall_neighbours[d],
                           constraints->edge_pair_count[d], &unknowns->edge_pairs[d],
                           constraints->separated_count[d], &unknowns->separated_pairs[d]));
  }
  PetscCall(MacGridCreateFaceField(fluid->grid, unknowns->mass));
  PetscFunctionReturn(0);
}

PetscErrorCode SolidUnknownsDestroy(SolidUnknowns *unknowns)
{
  PetscFunctionBegin;
  PetscCall(PetscFree4(unknowns->before, unknowns->residual, unknowns->search, unknowns->image));
  PetscCall(SolidCycleDestroy(&unknowns->cycle));
  PetscCall(PetscFree2(unknowns->factor, unknowns->sums));
  PetscCall(PetscFree2(unknowns->first_factor, unknowns->block_of));
  for (PetscInt d = 0; d < DIM; d++) {
    PetscCall(PetscFree2(unknowns->reach[d], unknowns->loose[d]));
    PetscCall(PetscFree5(unknowns->lags[d], unknowns->shares[d], unknowns->wall_neighbours[d],
                         unknowns->edge_pairs[d], unknowns->separated_pairs[d]));
  }
  PetscCall(MacGridDestroyFaceField(unknowns->mass));
  PetscFunctionReturn(0);
}

/* Faces without fluid stay among the unknowns: the stresses on them pull at their bodies. */
VECTOR_CLONES static void open_row(const PetscReal *restrict open, PetscInt count, PetscReal *restrict mass)
{
  for (PetscInt n = 0; n < count; n++)
    mass[n] *= mass[n] > 0. ? PetscMax(open[n], PETSC_MACHINE_EPSILON) : 1.;
}

/* A layer of phi h beside a surface that moves takes the share s of the way to its velocity in a step:

     rho phi h s = dt mu / (phi h / 2) (1 - s)

   All of it where it is thin or thick as honey, nothing without viscosity. The rest of its mass stays loose.
 */
static void share_constrained(const FaceConstraints *constraints, PetscInt d, PetscInt stride,
                              const PetscReal *normal, const PetscReal *open, PetscReal *mass,
                              PetscReal *shares)
{
  for (PetscInt n = 0; n < constraints->constrained_count[d]; n++) {
    const ConstrainedFace *constrained = &constraints->constrained[d][n];
    const PetscInt         c = constrained->face;
    const PetscReal        reached = 0.5 * (normal[c] + normal[c - stride]), inert = mass[c] * open[c];

    shares[n] = constrained->slips && mass[c] > 0. && inert > 0. ? reached / (reached + inert) : 1.;
    if (mass[c] > 0.)
      mass[c] *= PetscMax(shares[n], PETSC_MACHINE_EPSILON);
  }
}

/* An open face whose centre is theta from a surface holds a layer of phi h, whose mean velocity is that at
   phi h / 2. It loses its momentum to the wall and to the next face as a finite volume does, not at the rate
   of its centre: which share of its mass takes part follows from

     1/T - 1/D,   T = 2 / phi + 2 / (1 + phi),   D = 1 / theta + 1.

   What is steady does not see it. With all of the mass a face would stop within one step when a surface comes
   near its centre, and the body would feel that as a force that grows with 1 / dt. */
static PetscReal slack(PetscReal open, PetscReal distance)
{
  return PetscMax(open * (1. + open) / (1. + 2. * open) - 2. * distance / (1. + distance), 0.);
}

/* Of the wall neighbours of one face the nearest counts, and the first one has its share. */
static void share_wall_neighbours(const FaceConstraints *constraints, PetscInt d, PetscInt stride,
                                  const PetscReal *normal, const PetscReal *open, PetscReal *mass,
                                  PetscReal *reach)
{
  const WallNeighbour *wall_neighbours = constraints->wall_neighbours[d];

  for (PetscInt n = 0, next; n < constraints->neighbour_count[d]; n = next) {
    const PetscInt  c = wall_neighbours[n].face;
    const PetscReal reached = 0.5 * (normal[c] + normal[c - stride]);
    PetscReal       distance = 1., inert;

    for (next = n; next < constraints->neighbour_count[d] && wall_neighbours[next].face == c; next++) {
      reach[next] = 1.;
      if (wall_neighbours[next].slips)
        distance = PetscMin(distance, wall_neighbours[next].distance);
    }
    inert = mass[c] * slack(open[c], distance);
    if (!(mass[c] > 0.) || !(inert > 0.))
      continue;
    reach[n] = PetscMax(reached / (reached + inert), PETSC_MACHINE_EPSILON);
    mass[c] *= reach[n];
  }
}

static void weigh_wall_neighbours(Fluid fluid, const Coefficients *at, PetscInt d)
{
  for (PetscInt n = 0; n < fluid->constraints->neighbour_count[d]; n++) {
    const WallNeighbour *neighbour = &fluid->constraints->wall_neighbours[d][n];

    fluid->stress->unknowns.wall_neighbours[d][n] =
        between(at, grid_box(fluid->grid), d, neighbour->face, neighbour->beyond) *
        (1. / PetscMax(neighbour->distance, least_distance) - 1.);
  }
}

/* Whether a face moves with a surface that deforms. */
static PetscBool deforms(const FaceConstraints *constraints, PetscReal surface)
{
  return surface > (PetscReal)constraints->rigid_count ? PETSC_TRUE : PETSC_FALSE;
}

/* What moves with a rigid body has no rate of strain. Where all faces around move with a surface that
   deforms, there is no fluid to be strained. */
static PetscErrorCode EmptyDeforming(Fluid fluid, const Coefficients *at)
{
  const GridBox         *box = grid_box(fluid->grid);
  const FaceConstraints *constraints = fluid->constraints;
  const GridRange        cells = box_grown(box, 1);
  const PetscReal       *surfaces[DIM];

  PetscFunctionBegin;
  for (PetscInt d = 0; d < box->dimension; d++)
    PetscCall(VecGetArrayRead(constraints->surfaces[d], &surfaces[d]));
  FOR_CELLS(&cells, i, j, k) {
    const PetscInt c = box_index(box, i, j, k);
    PetscBool      empty = PETSC_TRUE;

    for (PetscInt a = 0; a < box->dimension; a++) {
      if (!deforms(constraints, surfaces[a][c]) || !deforms(constraints, surfaces[a][c + box->stride[a]]))
        empty = PETSC_FALSE;
      for (PetscInt b = a + 1; b < box->dimension; b++)
        if (deforms(constraints, surfaces[a][c]) && deforms(constraints, surfaces[a][c - box->stride[b]]) &&
            deforms(constraints, surfaces[b][c]) && deforms(constraints, surfaces[b][c - box->stride[a]]))
          at->shear[X + Y + Z - a - b][c] = 0.;
    }
    if (empty)
      at->normal[c] = 0.;
  }
  for (PetscInt d = 0; d < box->dimension; d++)
    PetscCall(VecRestoreArrayRead(constraints->surfaces[d], &surfaces[d]));
  PetscFunctionReturn(0);
}

PetscErrorCode FluidWeighConstraints(Fluid fluid)
{
  const GridBox         *box = grid_box(fluid->grid);
  StressLevel           *level = &fluid->stress->levels[0];
  const FaceConstraints *constraints = fluid->constraints;
  Coefficients           at;

  PetscFunctionBegin;
  PetscCall(CreateUnknowns(fluid));
  PetscCall(GetCoefficients(level, &at));
  for (PetscInt d = 0; d < box->dimension; d++) {
    const PetscReal *open;
    PetscReal       *mass;

    PetscCall(VecGetArrayRead(constraints->open[d], &open));
    PetscCall(VecGetArray(level->mass[d], &mass));
    open_row(open, box->length, mass);
    share_constrained(constraints, d, box->stride[d], at.normal, open, mass,
                      fluid->stress->unknowns.shares[d]);
    share_wall_neighbours(constraints, d, box->stride[d], at.normal, open, mass,
                          fluid->stress->unknowns.reach[d]);
    PetscCall(VecRestoreArray(level->mass[d], &mass));
    PetscCall(VecRestoreArrayRead(constraints->open[d], &open));
    weigh_wall_neighbours(fluid, &at, d);
    for (PetscInt n = 0; n < constraints->edge_pair_count[d]; n++) {
      const EdgePair *edge_pair = &constraints->edge_pairs[d][n];

      fluid->stress->unknowns.edge_pairs[d][n] =
          edge_pair->sign * at.shear[X + Y + Z - d - edge_pair->across][edge_pair->edge] *
          (1. / PetscSqrtReal(PetscMax(edge_pair->distances[0], least_distance) *
                              PetscMax(edge_pair->distances[1], least_distance)) -
           1.);
    }
    for (PetscInt n = 0; n < constraints->separated_count[d]; n++)
      fluid->stress->unknowns.separated_pairs[d][n] =
          between(&at, box, d, constraints->separated_pairs[d][n].faces[0],
                  constraints->separated_pairs[d][n].faces[1]);
  }
  if (constraints->rigid_count < constraints->block_count)
    PetscCall(EmptyDeforming(fluid, &at));
  PetscCall(RestoreCoefficients(level, &at));
  PetscFunctionReturn(0);
}

PetscErrorCode FluidCloseConstraints(Fluid fluid)
{
  const FaceConstraints *constraints = fluid->constraints;
  SolidUnknowns         *unknowns = &fluid->stress->unknowns;
  StressLevel           *level = &fluid->stress->levels[0];
  PetscReal             *mass;

  PetscFunctionBegin;
  for (PetscInt d = 0; d < grid_box(fluid->grid)->dimension; d++) {
    PetscCall(VecCopy(level->mass[d], unknowns->mass[d]));
    PetscCall(VecGetArray(level->mass[d], &mass));
    for (PetscInt n = 0; n < constraints->constrained_count[d]; n++)
      if (mass[constraints->constrained[d][n].face] > 0.)
        mass[constraints->constrained[d][n].face] = -1.;
    for (PetscInt n = 0; n < constraints->neighbour_count[d]; n++)
      if (mass[constraints->wall_neighbours[d][n].face] > 0.)
        mass[constraints->wall_neighbours[d][n].face] += unknowns->wall_neighbours[d][n];
    for (PetscInt n = 0; n < constraints->separated_count[d]; n++)
      for (PetscInt side = 0; side < 2; side++) {
        const SeparatedPair *separated = &constraints->separated_pairs[d][n];

        if (separated->is_owned[side] && mass[separated->faces[side]] > 0.)
          mass[separated->faces[side]] += unknowns->separated_pairs[d][n] * separated_extra(separated, side);
      }
    PetscCall(VecRestoreArray(level->mass[d], &mass));
  }
  PetscFunctionReturn(0);
}

void unknowns_add_block(const SolidUnknowns *unknowns, PetscReal factor, const SolidRow *row)
{
  for (PetscInt i = 0; i < row->count; i++)
    for (PetscInt j = 0; j < row->count; j++) {
      const PetscInt    b = unknowns->block_of[row->dof[i]];
      const SolidBlock *block = &unknowns->blocks[b];

      if (unknowns->block_of[row->dof[j]] == b && row->dof[j] <= row->dof[i])
        sum_add(&unknowns->sums[unknowns->first_factor[b] + block->count * (row->dof[i] - block->first) +
                                row->dof[j] - block->first],
                factor * row->weight[i] * row->weight[j]);
    }
}

/* Stresses between a constrained face and those that do not move with its surface. */
static PetscReal held_by(const Coefficients *at, const GridBox *box, PetscInt d, PetscInt face,
                         const PetscReal *surfaces)
{
  PetscReal sum = 0.;

  for (PetscInt a = 0; a < box->dimension; a++)
    for (PetscInt step = -1; step <= 1; step += 2) {
      const PetscInt next = face + step * box->stride[a];

      if (surfaces[next] != surfaces[face])
        sum += between(at, box, d, face, next);
    }
  return sum;
}

/* Lower triangles of this rank's part of  W^T (M_F + stresses) W. */
static PetscErrorCode AddBlocks(Fluid fluid, PetscInt d, const Coefficients *at)
{
  const GridBox         *box = grid_box(fluid->grid);
  const FaceConstraints *constraints = fluid->constraints;
  const SolidUnknowns   *unknowns = &fluid->stress->unknowns;
  const PetscReal       *mass, *surfaces;

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(unknowns->mass[d], &mass));
  PetscCall(VecGetArrayRead(constraints->surfaces[d], &surfaces));
  for (PetscInt n = 0; n < constraints->constrained_count[d]; n++) {
    const ConstrainedFace *constrained = &constraints->constrained[d][n];

    if (mass[constrained->face] > 0.)
      unknowns_add_block(unknowns, mass[constrained->face] + held_by(at, box, d, constrained->face, surfaces),
                         &constrained->row);
  }
  for (PetscInt n = 0; n < constraints->neighbour_count[d]; n++)
    unknowns_add_block(unknowns, unknowns->wall_neighbours[d][n], &constraints->wall_neighbours[d][n].row);
  for (PetscInt n = 0; n < constraints->separated_count[d]; n++)
    for (PetscInt side = 0; side < 2; side++) {
      const SeparatedPair *separated = &constraints->separated_pairs[d][n];

      if (separated->is_owned[side])
        unknowns_add_block(unknowns,
                           unknowns->separated_pairs[d][n] * (1. + separated_extra(separated, side)),
                           &separated->rows[side]);
    }
  PetscCall(VecRestoreArrayRead(constraints->surfaces[d], &surfaces));
  PetscCall(VecRestoreArrayRead(unknowns->mass[d], &mass));
  PetscFunctionReturn(0);
}

PetscErrorCode FluidInvertConstraints(Fluid fluid)
{
  const GridBox  *box = grid_box(fluid->grid);
  const PetscReal volume = PetscPowRealInt(grid_spacing(fluid->grid), box->dimension);
  SolidUnknowns  *unknowns = &fluid->stress->unknowns;
  const PetscInt  numbers = unknowns->first_factor[unknowns->block_count];
  Coefficients    at;

  PetscFunctionBegin;
  PetscCall(PetscArrayzero(unknowns->sums, numbers));
  PetscCall(GetCoefficients(&fluid->stress->levels[0], &at));
  for (PetscInt d = 0; d < box->dimension; d++)
    PetscCall(AddBlocks(fluid, d, &at));
  PetscCall(RestoreCoefficients(&fluid->stress->levels[0], &at));
  PetscCall(SumOverRanks(box->comm, numbers, unknowns->sums, unknowns->factor));
  for (PetscInt b = 0; b < unknowns->block_count; b++) {
    const SolidBlock *block = &unknowns->blocks[b];
    PetscReal        *factor = &unknowns->factor[unknowns->first_factor[b]];

    for (PetscInt n = 0; n < PetscSqr(block->count) && block->is_free; n++)
      factor[n] += block->mass[n] / volume;
    dense_cholesky(block->count, block->count, factor);
  }
  PetscFunctionReturn(0);
}

/* One component and where its values are. */
typedef struct {
  PetscInt         d;
  Pull            *pull;
  const PetscReal *u, *mass;
  PetscReal       *image;
} Pulled;

static PetscReal slip_at(const Pulled *at, PetscInt face, const SolidRow *row)
{
  return at->u[face] - solid_row_velocity(row, at->pull->velocities);
}

void row_add_force(const SolidRow *row, PetscReal force, ReproducibleSum forces[])
{
  for (PetscInt n = 0; n < row->count; n++)
    sum_add(&forces[row->dof[n]], force * row->weight[n]);
}

static void press(const Pulled *at, PetscInt face, PetscReal force, PetscReal slip, const SolidRow *row)
{
  if (at->mass[face] > 0.)
    at->image[face] += at->pull->share * force;
  sum_add(&at->pull->product, at->pull->share * force * slip);
  row_add_force(row, -at->pull->share * force, at->pull->forces);
}

static void press_wall_neighbours(Fluid fluid, const Pulled *at)
{
  for (PetscInt n = 0; n < fluid->constraints->neighbour_count[at->d]; n++) {
    const WallNeighbour *neighbour = &fluid->constraints->wall_neighbours[at->d][n];
    const PetscReal      slip = slip_at(at, neighbour->face, &neighbour->row);

    press(at, neighbour->face, fluid->stress->unknowns.wall_neighbours[at->d][n] * slip, slip,
          &neighbour->row);
  }
}

static void press_edge_pairs(Fluid fluid, const Pulled *at, PetscReal *const u[DIM])
{
  for (PetscInt n = 0; n < fluid->constraints->edge_pair_count[at->d]; n++) {
    const EdgePair *edge_pair = &fluid->constraints->edge_pairs[at->d][n];
    const PetscReal other = u[edge_pair->across][edge_pair->other] -
                            solid_row_velocity(&edge_pair->rows[1], at->pull->velocities);

    press(at, edge_pair->face, fluid->stress->unknowns.edge_pairs[at->d][n] * other,
          slip_at(at, edge_pair->face, &edge_pair->rows[0]), &edge_pair->rows[0]);
  }
}

static void press_separated_pairs(Fluid fluid, const Pulled *at)
{
  for (PetscInt n = 0; n < fluid->constraints->separated_count[at->d]; n++) {
    const SeparatedPair *separated = &fluid->constraints->separated_pairs[at->d][n];
    const PetscReal      coefficient = fluid->stress->unknowns.separated_pairs[at->d][n];
    PetscReal            slip[2];

    for (PetscInt side = 0; side < 2; side++)
      slip[side] = slip_at(at, separated->faces[side], &separated->rows[side]);
    for (PetscInt side = 0; side < 2; side++)
      if (separated->is_owned[side])
        press(at, separated->faces[side],
              coefficient * (separated_extra(separated, side) * slip[side] + slip[1 - side]), slip[side],
              &separated->rows[side]);
  }
}

PetscErrorCode FluidPullConstraints(Fluid fluid, Pull *pull, Vec from[DIM], Vec image[DIM])
{
  PetscReal *u[DIM];

  PetscFunctionBegin;
  PetscCall(MacGridGetFaces(fluid->grid, from, u));
  for (PetscInt d = 0; d < grid_box(fluid->grid)->dimension; d++) {
    Pulled at = {.d = d, .pull = pull, .u = u[d]};

    PetscCall(VecGetArrayRead(fluid->stress->levels[0].mass[d], &at.mass));
    PetscCall(VecGetArray(image[d], &at.image));
    press_wall_neighbours(fluid, &at);
    press_edge_pairs(fluid, &at, u);
    press_separated_pairs(fluid, &at);
    for (PetscInt n = 0; n < fluid->constraints->constrained_count[d]; n++) {
      const ConstrainedFace *constrained = &fluid->constraints->constrained[d][n];

      row_add_force(&constrained->row, at.image[constrained->face], pull->forces);
      at.image[constrained->face] = 0.;
    }
    PetscCall(VecRestoreArray(image[d], &at.image));
    PetscCall(VecRestoreArrayRead(fluid->stress->levels[0].mass[d], &at.mass));
  }
  PetscCall(MacGridRestoreFaces(fluid->grid, from, u));
  PetscFunctionReturn(0);
}
