/* Central advection that keeps kinetic energy (docs/numerics.md, section 3):

     dw/dt = -1/h sum_e [ U+ (w(+e) - w)/2 + U- (w - w(-e))/2 ],   U+, U-: means of two faces of u_adv

   is skew-symmetric where u_adv is free of divergence (Harlow and Welch 1965; Verstappen and Veldman 2003).
   Three stages w0 + dt/3 L, w0 + dt/2 L, w0 + dt L (Wicker and Skamarock 2002) never amplify it while z =
   dt/h sum_e |U| < 1.73. Upwinding that can only take energy away acts where the values zigzag. Scalars have
   fluxes, limited after van Leer, so that their total is kept. */
#include "fluid_impl.h"

#include <millrace/trajectory.h>

/* Of z in one part of the step; scalars stay within bounds while what leaves a cell in a stage is below half
   of what it holds. */
static const PetscReal most_in_a_part = 1.5, most_out_of_a_cell = 0.5;
/* Share of the full upwinding where values zigzag. */
static const PetscReal zigzag_upwinding = 0.25;

enum { MOST_PARTS = 64 }; /* longer steps are refused anyway */

typedef struct {
  const GridBox   *box;
  PetscInt         back;  /* stride from a face to the one before it in its direction; 0 for cell values */
  PetscReal        kept;  /* share of the start in the result */
  PetscReal        ratio; /* of the stage's time to the spacing */
  PetscReal       *flow[DIM];
  const PetscReal *start, *now;
  PetscReal       *after;
} Stage;

/* Without branches, so that loops become vectors: the positive part, the smaller of two, the sign of b. */
KERNEL PetscReal positive(PetscReal a)
{
  return 0.5 * (a + PetscAbsReal(a));
}

KERNEL PetscReal smaller(PetscReal a, PetscReal b)
{
  return 0.5 * (a + b - PetscAbsReal(a - b));
}

KERNEL PetscReal signed_as(PetscReal a, PetscReal b)
{
  return __builtin_copysign(a, b);
}

/* What upwinding takes from difference d, given its neighbours: between 0 and d, and no more than a neighbour
   of the other sign has, so that it sets in without a jump. */
KERNEL PetscReal upwinded(PetscReal before, PetscReal d, PetscReal behind)
{
  const PetscReal sign = signed_as(1., d), size = PetscAbsReal(d), a = sign * before, b = sign * behind;
  const PetscReal opposite = positive(-smaller(a, b)), curved = 0.5 * size - 0.25 * (a + b);

  return zigzag_upwinding * sign * positive(smaller(curved, smaller(size, opposite)));
}

KERNEL void add_rates_along(const Stage *stage, PetscInt e, PetscInt first, PetscInt count, PetscReal *rate)
{
  const PetscInt   s = stage->box->stride[e], back = stage->back;
  const PetscReal *w = stage->now + first, *u = stage->flow[e] + first;

  for (PetscInt n = 0; n < count; n++) {
    const PetscReal low = 0.5 * (u[n] + u[n - back]), high = 0.5 * (u[n + s] + u[n + s - back]);
    const PetscReal d_low = w[n] - w[n - s], d_high = w[n + s] - w[n];
    const PetscReal taken_low = upwinded(w[n - s] - w[n - 2 * s], d_low, d_high),
                    taken_high = upwinded(d_low, d_high, w[n + 2 * s] - w[n + s]);

    rate[n] +=
        0.5 * (PetscAbsReal(high) * taken_high - PetscAbsReal(low) * taken_low - high * d_high - low * d_low);
  }
}

/* Half a difference, limited (van Leer): a b / (a + b) where a and b have one sign, else 0. */
KERNEL PetscReal limited_half(PetscReal a, PetscReal b)
{
  const PetscReal least = 1e-300; /* 0 / 0 is 0 */

  return signed_as(positive(a * b) / (PetscAbsReal(a + b) + least), a);
}

/* Flux through a face before cell w: the value upstream and half a limited difference further. */
KERNEL PetscReal scalar_flux(const PetscReal *w, PetscInt s, PetscReal u)
{
  const PetscReal before = w[-s] - w[-2 * s], d = w[0] - w[-s], behind = w[s] - w[0];

  return positive(u) * (w[-s] + limited_half(before, d)) - positive(-u) * (w[0] - limited_half(behind, d));
}

KERNEL void add_fluxes_along(const Stage *stage, PetscInt e, PetscInt first, PetscInt count, PetscReal *rate)
{
  const PetscInt   s = stage->box->stride[e];
  const PetscReal *w = stage->now + first, *u = stage->flow[e] + first;

  for (PetscInt n = 0; n < count; n++)
    rate[n] += scalar_flux(w + n, s, u[n]) - scalar_flux(w + n + s, s, u[n + s]);
}

/* after = share of start + rest of now + ratio * rate(now), in a run. */
KERNEL void advance(const Stage *stage, PetscInt first, PetscInt count, const PetscBool is_scalar,
                    const PetscInt dimension)
{
  const PetscReal *start = stage->start + first, *now = stage->now + first;
  PetscReal       *after = stage->after + first, rate[SHIFT_RUN] = {0.};

  for (PetscInt e = 0; e < dimension; e++)
    if (is_scalar)
      add_fluxes_along(stage, e, first, count, rate);
    else
      add_rates_along(stage, e, first, count, rate);
  for (PetscInt n = 0; n < count; n++)
    after[n] = stage->kept * start[n] + (1. - stage->kept) * now[n] + stage->ratio * rate[n];
}

VECTOR_CLONES static void advance_faces(const Stage *stage, PetscInt first, PetscInt count)
{
  if (stage->box->dimension == 2)
    advance(stage, first, count, PETSC_FALSE, 2);
  else
    advance(stage, first, count, PETSC_FALSE, 3);
}

VECTOR_CLONES static void advance_cells(const Stage *stage, PetscInt first, PetscInt count)
{
  if (stage->box->dimension == 2)
    advance(stage, first, count, PETSC_TRUE, 2);
  else
    advance(stage, first, count, PETSC_TRUE, 3);
}

static void visit_runs(const Stage *stage, const GridRange *range, PetscBool is_scalar)
{
  FOR_ROWS(range, j, k)
    for (PetscInt i = range->start[X]; i < range->end[X]; i += SHIFT_RUN) {
      const PetscInt first = box_index(stage->box, i, j, k), count = PetscMin(SHIFT_RUN, range->end[X] - i);

      if (is_scalar)
        advance_cells(stage, first, count);
      else
        advance_faces(stage, first, count);
    }
}

/* The stages of a part of the step: what is kept of its start, the time that passes and the time of what the
   stage starts from, in parts. */
typedef struct {
  PetscInt  count;
  PetscReal kept[3], passes[3], begins[3];
} Stages;

static const Stages face_stages = {3, {1., 1., 1.}, {1. / 3., 0.5, 1.}, {0., 1. / 3., 0.5}},
                    cell_stages = {2, {1., 0.5}, {1., 0.5}, {0., 1.}};

static PetscErrorCode AdvanceStage(Fluid fluid, const AdvectedField *carried, Stage *stage, Vec start,
                                   Vec now, Vec after)
{
  const GridRange range = carried_range(fluid, carried);
  const PetscBool is_scalar = carried->direction == CELL_VALUES ? PETSC_TRUE : PETSC_FALSE;

  PetscFunctionBegin;
  stage->box = grid_box(fluid->grid);
  stage->back = is_scalar ? 0 : stage->box->stride[carried->direction];
  PetscCall(MacGridGetFaces(fluid->grid, fluid->earlier, stage->flow));
  PetscCall(VecGetArray(after, &stage->after)); /* may be that of `start` */
  PetscCall(VecGetArrayRead(start, &stage->start));
  PetscCall(VecGetArrayRead(now, &stage->now));
  visit_runs(stage, &range, is_scalar);
  PetscCall(VecRestoreArray(after, &stage->after));
  PetscCall(VecRestoreArrayRead(now, &stage->now));
  PetscCall(VecRestoreArrayRead(start, &stage->start));
  PetscCall(MacGridRestoreFaces(fluid->grid, fluid->earlier, stage->flow));
  PetscFunctionReturn(0);
}

PetscErrorCode FluidAddInertia(Fluid fluid, PetscInt d, Vec acceleration)
{
  const AdvectedField carried = {.direction = d};
  Stage               stage = {.kept = 1., .ratio = 1. / grid_spacing(fluid->grid)};

  PetscFunctionBegin;
  PetscCall(AdvanceStage(fluid, &carried, &stage, acceleration, fluid->velocity[d], acceleration));
  PetscFunctionReturn(0);
}

/* One part of the step: field takes its values at the end, with the help of both scratch fields. */
static PetscErrorCode AdvancePart(Fluid fluid, const AdvectedField *carried, PetscReal begin, PetscReal dt,
                                  Vec *field)
{
  const Stages *stages = carried->direction == CELL_VALUES ? &cell_stages : &face_stages;
  Vec           now = *field;

  PetscFunctionBegin;
  for (PetscInt s = 0; s < stages->count; s++) {
    Stage     stage = {.kept = stages->kept[s], .ratio = stages->passes[s] * dt / grid_spacing(fluid->grid)};
    const Vec after = fluid->scratch[s % 2];

    if (s > 0 || begin > fluid->time)
      PetscCall(FluidFillCarriedGhosts(fluid, carried, now, begin + stages->begins[s] * dt));
    PetscCall(AdvanceStage(fluid, carried, &stage, *field, now, after));
    PetscCall(FluidAdvectNearShells(fluid, carried, *field, after)); /* no stage looks through a shell */
    now = after;
  }
  fluid->scratch[(stages->count - 1) % 2] = *field;
  *field = now;
  PetscFunctionReturn(0);
}

/* Largest dt/h sum |u| over the axes of a cell, and of what leaves it. */
static void measure_flow(const GridBox *box, PetscReal *const flow[DIM], PetscReal ratio,
                         PetscReal largest[2])
{
  FOR_CELLS(box, i, j, k) {
    const PetscInt c = box_index(box, i, j, k);
    PetscReal      sum = 0., out = 0.;

    for (PetscInt e = 0; e < box->dimension; e++) {
      const PetscReal low = flow[e][c], high = flow[e][c + box->stride[e]];

      sum += PetscMax(PetscAbsReal(low), PetscAbsReal(high));
      out += PetscMax(high, 0.) + PetscMax(-low, 0.);
    }
    largest[0] = PetscMax(largest[0], ratio * sum);
    largest[1] = PetscMax(largest[1], ratio * out);
  }
}

PetscErrorCode FluidCountParts(Fluid fluid, PetscReal dt)
{
  const GridBox *box = grid_box(fluid->grid);
  PetscReal      largest[2] = {0.}, *flow[DIM];

  PetscFunctionBegin;
  PetscCall(MacGridGetFaces(fluid->grid, fluid->earlier, flow));
  measure_flow(box, flow, dt / grid_spacing(fluid->grid), largest);
  PetscCall(MacGridRestoreFaces(fluid->grid, fluid->earlier, flow));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, largest, 2, MPIU_REAL, MPI_MAX, box->comm));
  fluid->face_parts = 1 + (PetscInt)PetscMin(largest[0] / most_in_a_part, MOST_PARTS);
  fluid->cell_parts = 1 + (PetscInt)PetscMin(largest[1] / most_out_of_a_cell, MOST_PARTS);
  PetscFunctionReturn(0);
}

PetscErrorCode FluidAdvectCentrally(Fluid fluid, const AdvectedField *carried, Vec *field)
{
  const PetscInt  parts = carried->direction == CELL_VALUES ? fluid->cell_parts : fluid->face_parts;
  const PetscReal dt = carried->dt / parts;

  PetscFunctionBegin;
  for (PetscInt part = 0; part < parts; part++)
    PetscCall(AdvancePart(fluid, carried, fluid->time + part * dt, dt, field));
  PetscFunctionReturn(0);
}
