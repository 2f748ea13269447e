/* What surfaces of bodies change in the viscous operator of a mixture (docs/numerics.md, section 15).

   With w = u - W V, the velocity of an open face beside the body's at the same place, and s the coefficient
   of the stress between two faces, the energy 1/2 s (du + dv)^2 of that stress becomes

     1/2 s [(du + dv)^2 + (1/theta - 1) w^2]                      between an open face and a tied one,
     and +- s [1/(theta_u theta_v)^1/2 - 1] w_u w_v               where that is so for both components,
     1/2 s [(du + dv)^2 + sum (1/theta - 1) w^2 + 2 w_0 w_1]      between two open ones with a shell between:

   differences reach over theta to the surface, and what moves with the body feels nothing. */
#include "stress_impl.h"

#include <millrace/dense.h>

/* A surface does not come closer to an open face. */
static const PetscReal least_distance = 0.01;

static inline PetscReal row_velocity(const PetscReal row[TWIST], const PetscReal *twist)
{
  PetscReal sum = 0.;

  for (PetscInt n = 0; n < TWIST; n++)
    sum += row[n] * twist[n];
  return sum;
}

static inline void add_force(PetscReal force, const PetscReal row[TWIST], PetscReal *forces)
{
  for (PetscInt n = 0; n < TWIST; n++)
    forces[n] += force * row[n];
}

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
  return at->shear[rubbing_edge(box, d, (Rubbing){face, next}, &edge)][PetscMax(face, next)];
}

static PetscReal screen_extra(const Screen *screen, PetscInt side)
{
  return 1. / PetscMin(PetscMax(screen->distances[side], least_distance), 1. - least_distance) - 1.;
}

static PetscErrorCode CreateTied(Fluid fluid)
{
  const Ties *ties = fluid->ties;
  Tied       *tied = &fluid->stress->tied;

  PetscFunctionBegin;
  PetscCall(TiedDestroy(tied));
  tied->count = ties->body_count;
  PetscCall(PetscCalloc4(TWIST * tied->count, &tied->before, TWIST * tied->count, &tied->residual,
                         TWIST * tied->count, &tied->search, TWIST * tied->count, &tied->image));
  PetscCall(
      PetscCalloc2(TWIST * TWIST * tied->count, &tied->factor, TWIST * TWIST * tied->count + 1, &tied->sums));
  for (PetscInt d = 0; d < grid_box(fluid->grid)->dimension; d++) {
    PetscCall(PetscCalloc2(ties->brush_count[d], &tied->reach[d], ties->brush_count[d], &tied->loose[d]));
    PetscCall(PetscCalloc5(ties->tie_count[d], &tied->lags[d], ties->tie_count[d], &tied->shares[d],
                           ties->brush_count[d], &tied->brushes[d], ties->corner_count[d], &tied->corners[d],
                           ties->screen_count[d], &tied->screens[d]));
  }
  PetscCall(MacGridCreateFaceField(fluid->grid, tied->mass));
  PetscFunctionReturn(0);
}

PetscErrorCode TiedDestroy(Tied *tied)
{
  PetscFunctionBegin;
  PetscCall(PetscFree4(tied->before, tied->residual, tied->search, tied->image));
  PetscCall(PetscFree2(tied->factor, tied->sums));
  for (PetscInt d = 0; d < DIM; d++) {
    PetscCall(PetscFree2(tied->reach[d], tied->loose[d]));
    PetscCall(
        PetscFree5(tied->lags[d], tied->shares[d], tied->brushes[d], tied->corners[d], tied->screens[d]));
  }
  PetscCall(MacGridDestroyFaceField(tied->mass));
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
static void share_ties(const Ties *ties, PetscInt d, PetscInt stride, const PetscReal *normal,
                       const PetscReal *open, PetscReal *mass, PetscReal *shares)
{
  for (PetscInt n = 0; n < ties->tie_count[d]; n++) {
    const Tie      *tie = &ties->ties[d][n];
    const PetscInt  c = tie->face;
    const PetscReal reached = 0.5 * (normal[c] + normal[c - stride]), inert = mass[c] * open[c];

    shares[n] = tie->slips && mass[c] > 0. && inert > 0. ? reached / (reached + inert) : 1.;
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

/* Of the brushes of one face the nearest counts, and the first one has its share. */
static void share_brushes(const Ties *ties, PetscInt d, PetscInt stride, const PetscReal *normal,
                          const PetscReal *open, PetscReal *mass, PetscReal *reach)
{
  const Brush *brushes = ties->brushes[d];

  for (PetscInt n = 0, next; n < ties->brush_count[d]; n = next) {
    const PetscInt  c = brushes[n].face;
    const PetscReal reached = 0.5 * (normal[c] + normal[c - stride]);
    PetscReal       distance = 1., inert;

    for (next = n; next < ties->brush_count[d] && brushes[next].face == c; next++) {
      reach[next] = 1.;
      if (brushes[next].slips)
        distance = PetscMin(distance, brushes[next].distance);
    }
    inert = mass[c] * slack(open[c], distance);
    if (!(mass[c] > 0.) || !(inert > 0.))
      continue;
    reach[n] = PetscMax(reached / (reached + inert), PETSC_MACHINE_EPSILON);
    mass[c] *= reach[n];
  }
}

static void weigh_brushes(Fluid fluid, const Coefficients *at, PetscInt d)
{
  for (PetscInt n = 0; n < fluid->ties->brush_count[d]; n++) {
    const Brush *brush = &fluid->ties->brushes[d][n];

    fluid->stress->tied.brushes[d][n] = between(at, grid_box(fluid->grid), d, brush->face, brush->beyond) *
                                        (1. / PetscMax(brush->distance, least_distance) - 1.);
  }
}

PetscErrorCode FluidWeighTies(Fluid fluid)
{
  const GridBox *box = grid_box(fluid->grid);
  StressLevel   *level = &fluid->stress->levels[0];
  const Ties    *ties = fluid->ties;
  Coefficients   at;

  PetscFunctionBegin;
  PetscCall(CreateTied(fluid));
  PetscCall(GetCoefficients(level, &at));
  for (PetscInt d = 0; d < box->dimension; d++) {
    const PetscReal *open;
    PetscReal       *mass;

    PetscCall(VecGetArrayRead(ties->open[d], &open));
    PetscCall(VecGetArray(level->mass[d], &mass));
    open_row(open, box->length, mass);
    share_ties(ties, d, box->stride[d], at.normal, open, mass, fluid->stress->tied.shares[d]);
    share_brushes(ties, d, box->stride[d], at.normal, open, mass, fluid->stress->tied.reach[d]);
    PetscCall(VecRestoreArray(level->mass[d], &mass));
    PetscCall(VecRestoreArrayRead(ties->open[d], &open));
    weigh_brushes(fluid, &at, d);
    for (PetscInt n = 0; n < ties->corner_count[d]; n++) {
      const Corner *corner = &ties->corners[d][n];

      fluid->stress->tied.corners[d][n] =
          corner->sign * at.shear[X + Y + Z - d - corner->across][corner->edge] *
          (1. / PetscSqrtReal(PetscMax(corner->distances[0], least_distance) *
                              PetscMax(corner->distances[1], least_distance)) -
           1.);
    }
    for (PetscInt n = 0; n < ties->screen_count[d]; n++)
      fluid->stress->tied.screens[d][n] =
          between(&at, box, d, ties->screens[d][n].faces[0], ties->screens[d][n].faces[1]);
  }
  PetscCall(RestoreCoefficients(level, &at));
  PetscFunctionReturn(0);
}

PetscErrorCode FluidCloseTies(Fluid fluid)
{
  const Ties  *ties = fluid->ties;
  Tied        *tied = &fluid->stress->tied;
  StressLevel *level = &fluid->stress->levels[0];
  PetscReal   *mass;

  PetscFunctionBegin;
  for (PetscInt d = 0; d < grid_box(fluid->grid)->dimension; d++) {
    PetscCall(VecCopy(level->mass[d], tied->mass[d]));
    PetscCall(VecGetArray(level->mass[d], &mass));
    for (PetscInt n = 0; n < ties->tie_count[d]; n++)
      if (mass[ties->ties[d][n].face] > 0.)
        mass[ties->ties[d][n].face] = -1.;
    for (PetscInt n = 0; n < ties->brush_count[d]; n++)
      if (mass[ties->brushes[d][n].face] > 0.)
        mass[ties->brushes[d][n].face] += tied->brushes[d][n];
    for (PetscInt n = 0; n < ties->screen_count[d]; n++)
      for (PetscInt side = 0; side < 2; side++) {
        const Screen *screen = &ties->screens[d][n];

        if (screen->is_owned[side] && mass[screen->faces[side]] > 0.)
          mass[screen->faces[side]] += tied->screens[d][n] * screen_extra(screen, side);
      }
    PetscCall(VecRestoreArray(level->mass[d], &mass));
  }
  PetscFunctionReturn(0);
}

static void add_block(PetscReal factor, const PetscReal row[TWIST], PetscReal *block)
{
  for (PetscInt i = 0; i < TWIST; i++)
    for (PetscInt j = 0; j <= i; j++)
      block[TWIST * i + j] += factor * row[i] * row[j];
}

/* Stresses between a tied face and those that do not move with its body. */
static PetscReal held_by(const Coefficients *at, const GridBox *box, PetscInt d, PetscInt face,
                         const PetscReal *bodies)
{
  PetscReal sum = 0.;

  for (PetscInt a = 0; a < box->dimension; a++)
    for (PetscInt step = -1; step <= 1; step += 2) {
      const PetscInt next = face + step * box->stride[a];

      if (bodies[next] != bodies[face])
        sum += between(at, box, d, face, next);
    }
  return sum;
}

/* Lower triangles of this rank's part of  W^T (M_F + stresses) W. */
static PetscErrorCode AddBlocks(Fluid fluid, PetscInt d, const Coefficients *at, PetscReal *blocks)
{
  const GridBox   *box = grid_box(fluid->grid);
  const Ties      *ties = fluid->ties;
  const Tied      *tied = &fluid->stress->tied;
  const PetscReal *mass, *bodies;

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(tied->mass[d], &mass));
  PetscCall(VecGetArrayRead(ties->bodies[d], &bodies));
  for (PetscInt n = 0; n < ties->tie_count[d]; n++) {
    const Tie *tie = &ties->ties[d][n];

    if (mass[tie->face] > 0.)
      add_block(mass[tie->face] + held_by(at, box, d, tie->face, bodies), tie->row,
                &blocks[TWIST * TWIST * tie->body]);
  }
  for (PetscInt n = 0; n < ties->brush_count[d]; n++)
    add_block(tied->brushes[d][n], ties->brushes[d][n].row,
              &blocks[TWIST * TWIST * ties->brushes[d][n].body]);
  for (PetscInt n = 0; n < ties->screen_count[d]; n++)
    for (PetscInt side = 0; side < 2; side++) {
      const Screen *screen = &ties->screens[d][n];

      if (screen->is_owned[side])
        add_block(tied->screens[d][n] * (1. + screen_extra(screen, side)), screen->rows[side],
                  &blocks[TWIST * TWIST * screen->bodies[side]]);
    }
  PetscCall(VecRestoreArrayRead(ties->bodies[d], &bodies));
  PetscCall(VecRestoreArrayRead(tied->mass[d], &mass));
  PetscFunctionReturn(0);
}

PetscErrorCode FluidInvertTies(Fluid fluid)
{
  const GridBox  *box = grid_box(fluid->grid);
  const PetscReal volume = PetscPowRealInt(grid_spacing(fluid->grid), box->dimension);
  const Ties     *ties = fluid->ties;
  Tied           *tied = &fluid->stress->tied;
  Coefficients    at;

  PetscFunctionBegin;
  PetscCall(PetscArrayzero(tied->factor, TWIST * TWIST * tied->count));
  PetscCall(GetCoefficients(&fluid->stress->levels[0], &at));
  for (PetscInt d = 0; d < box->dimension; d++)
    PetscCall(AddBlocks(fluid, d, &at, tied->factor));
  PetscCall(RestoreCoefficients(&fluid->stress->levels[0], &at));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, tied->factor, (PetscMPIInt)(TWIST * TWIST * tied->count),
                             MPIU_REAL, MPI_SUM, box->comm));
  for (PetscInt b = 0; b < tied->count; b++) {
    PetscReal *block = &tied->factor[TWIST * TWIST * b];

    for (PetscInt n = 0; n < TWIST * TWIST; n++)
      block[n] += ties->resistance[TWIST * TWIST * b + n] / volume;
    dense_cholesky(TWIST, TWIST, block);
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

static PetscReal slip_at(const Pulled *at, PetscInt face, PetscInt body, const PetscReal row[TWIST])
{
  return at->u[face] - row_velocity(row, &at->pull->twists[TWIST * body]);
}

static void press(const Pulled *at, PetscInt face, PetscReal force, PetscReal slip, PetscInt body,
                  const PetscReal row[TWIST])
{
  if (at->mass[face] > 0.)
    at->image[face] += at->pull->share * force;
  at->pull->product += at->pull->share * force * slip;
  add_force(-at->pull->share * force, row, &at->pull->forces[TWIST * body]);
}

static void press_brushes(Fluid fluid, const Pulled *at)
{
  for (PetscInt n = 0; n < fluid->ties->brush_count[at->d]; n++) {
    const Brush    *brush = &fluid->ties->brushes[at->d][n];
    const PetscReal slip = slip_at(at, brush->face, brush->body, brush->row);

    press(at, brush->face, fluid->stress->tied.brushes[at->d][n] * slip, slip, brush->body, brush->row);
  }
}

static void press_corners(Fluid fluid, const Pulled *at, PetscReal *const u[DIM])
{
  for (PetscInt n = 0; n < fluid->ties->corner_count[at->d]; n++) {
    const Corner    *corner = &fluid->ties->corners[at->d][n];
    const PetscReal *twist = &at->pull->twists[TWIST * corner->body];
    const PetscReal  other = u[corner->across][corner->other] - row_velocity(corner->rows[1], twist);

    press(at, corner->face, fluid->stress->tied.corners[at->d][n] * other,
          slip_at(at, corner->face, corner->body, corner->rows[0]), corner->body, corner->rows[0]);
  }
}

static void press_screens(Fluid fluid, const Pulled *at)
{
  for (PetscInt n = 0; n < fluid->ties->screen_count[at->d]; n++) {
    const Screen   *screen = &fluid->ties->screens[at->d][n];
    const PetscReal coefficient = fluid->stress->tied.screens[at->d][n];
    PetscReal       slip[2];

    for (PetscInt side = 0; side < 2; side++)
      slip[side] = slip_at(at, screen->faces[side], screen->bodies[side], screen->rows[side]);
    for (PetscInt side = 0; side < 2; side++)
      if (screen->is_owned[side])
        press(at, screen->faces[side],
              coefficient * (screen_extra(screen, side) * slip[side] + slip[1 - side]), slip[side],
              screen->bodies[side], screen->rows[side]);
  }
}

PetscErrorCode FluidPullTies(Fluid fluid, Pull *pull, Vec from[DIM], Vec image[DIM])
{
  PetscReal *u[DIM];

  PetscFunctionBegin;
  PetscCall(MacGridGetFaces(fluid->grid, from, u));
  for (PetscInt d = 0; d < grid_box(fluid->grid)->dimension; d++) {
    Pulled at = {.d = d, .pull = pull, .u = u[d]};

    PetscCall(VecGetArrayRead(fluid->stress->levels[0].mass[d], &at.mass));
    PetscCall(VecGetArray(image[d], &at.image));
    press_brushes(fluid, &at);
    press_corners(fluid, &at, u);
    press_screens(fluid, &at);
    for (PetscInt n = 0; n < fluid->ties->tie_count[d]; n++) {
      const Tie *tie = &fluid->ties->ties[d][n];

      add_force(at.image[tie->face], tie->row, &pull->forces[TWIST * tie->body]);
      at.image[tie->face] = 0.;
    }
    PetscCall(VecRestoreArray(image[d], &at.image));
    PetscCall(VecRestoreArrayRead(fluid->stress->levels[0].mass[d], &at.mass));
  }
  PetscCall(MacGridRestoreFaces(fluid->grid, from, u));
  PetscFunctionReturn(0);
}
