/* A density that cannot exceed what there is room for (Gerszewski 2014, 3.1; Narain et al. 2010). With shares
   v of the faces, densities as shares of the liquid's, P = p dt^2 / (h^2 density) and sums over the faces of
   a cell, both solves are sum v (P - P_n) >= r, P >= 0, one of the two with equality:

     correction: r = density - room;   density -= sum v (Y - Y_n),   offset of particles = -h v dY / face
   density velocity:   r = density - room - dt/h sum (face density u*);    u = u* - h/dt v dP / face density

   Cells with next to no liquid hold P = 0, unless an obstacle has most of them; faces with next to none are
   closed. */
#include "splash_impl.h"

/* Shares of a full cell or face. */
static const PetscReal least_liquid = 0.05, least_face = 1e-3;
static const PetscReal least_room = 0.2;      /* a cell with less can be overfull by what comes in a step */
static const PetscReal least_moved = 0.1;     /* a face with less of its share is moved as if it had that */
static const PetscReal farthest_offset = 0.5; /* cells */
static const PetscReal round_off = 1e-13;     /* of a cell's share, that no solve needs to mend */

/* The liquid on a face, but enough of it to be moved. */
static inline PetscReal moved_density(PetscReal weight, PetscReal density)
{
  return PetscMax(density, least_moved * PetscMin(weight, 1.));
}

PetscReal splash_pressed_share(PetscReal weight, PetscReal density)
{
  return weight > 0. ? weight * density / moved_density(weight, density) : 0.;
}

static PetscErrorCode SetWeights(Splash splash)
{
  const GridBox *box = grid_box(splash->grid);
  PetscReal     *weights[DIM], *room[DIM], *density[DIM];

  PetscFunctionBegin;
  PetscCall(MacGridGetFaces(splash->grid, splash->weights, weights));
  PetscCall(MacGridGetFaces(splash->grid, splash->face_room, room));
  PetscCall(MacGridGetFaces(splash->grid, splash->face_density, density));
  for (PetscInt d = 0; d < box->dimension; d++) {
    const GridRange faces = grid_faces(splash->grid, d);

    FOR_CELLS(&faces, i, j, k) {
      const PetscInt  c = box_index(box, i, j, k);
      const FacePlace place = face_place(splash, d, d == X ? i : d == Y ? j : k);

      weights[d][c] = density[d][c] < least_face || place == FACE_CLOSED ? 0. : room[d][c];
      if (place == FACE_OPEN)
        weights[d][c] *= 2.; /* half a cell to p = 0 */
    }
  }
  PetscCall(MacGridRestoreFaces(splash->grid, splash->face_density, density));
  PetscCall(MacGridRestoreFaces(splash->grid, splash->face_room, room));
  PetscCall(MacGridRestoreFaces(splash->grid, splash->weights, weights));
  PetscFunctionReturn(0);
}

static PetscErrorCode SetProblem(Splash splash)
{
  const GridBox   *box = grid_box(splash->grid);
  const PetscReal *density, *room;
  PetscReal       *fixed;

  PetscFunctionBegin;
  PetscCall(SetWeights(splash));
  PetscCall(VecGetArrayRead(splash->density, &density));
  PetscCall(VecGetArrayRead(splash->room, &room));
  PetscCall(VecGetArray(splash->fixed, &fixed));
  FOR_CELLS(box, i, j, k) {
    const PetscInt c = box_index(box, i, j, k);

    fixed[c] = density[c] < least_liquid * room[c] && room[c] > least_room ? 1. : 0.;
  }
  PetscCall(VecRestoreArray(splash->fixed, &fixed));
  PetscCall(VecRestoreArrayRead(splash->room, &room));
  PetscCall(VecRestoreArrayRead(splash->density, &density));
  PetscCall(MacGridExchange(splash->grid, splash->fixed));
  PetscCall(MacGridExchangeFaces(splash->grid, splash->weights));
  PetscCall(BoundedSetWeights(splash->bounded, splash->weights, splash->fixed));
  PetscFunctionReturn(0);
}

static PetscBool has_weights(const GridBox *box, PetscReal *const weights[DIM], PetscInt c)
{
  for (PetscInt d = 0; d < box->dimension; d++)
    if (weights[d][c] > 0. || weights[d][c + box->stride[d]] > 0.)
      return PETSC_TRUE;
  return PETSC_FALSE;
}

/* 1 + the largest excess of the density over the room, in cells of the problem: what a hat reaches beyond
   the surface of an obstacle has no way out. */
static PetscErrorCode MeasureDensity(Splash splash, PetscReal *largest)
{
  const GridBox   *box = grid_box(splash->grid);
  const PetscReal *density, *room;
  PetscReal       *weights[DIM];

  PetscFunctionBegin;
  *largest = 0.;
  PetscCall(MacGridGetFaces(splash->grid, splash->weights, weights));
  PetscCall(VecGetArrayRead(splash->density, &density));
  PetscCall(VecGetArrayRead(splash->room, &room));
  FOR_CELLS(box, i, j, k) {
    const PetscInt c = box_index(box, i, j, k);

    if (has_weights(box, weights, c))
      *largest = PetscMax(*largest, 1. + density[c] - room[c]);
  }
  PetscCall(VecRestoreArrayRead(splash->room, &room));
  PetscCall(VecRestoreArrayRead(splash->density, &density));
  PetscCall(MacGridRestoreFaces(splash->grid, splash->weights, weights));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, largest, 1, MPIU_REAL, MPI_MAX, grid_box(splash->grid)->comm));
  PetscFunctionReturn(0);
}

static PetscErrorCode Solve(Splash splash, Vec lower, Vec answer, BoundedReport *report)
{
  const GridBox  *box = grid_box(splash->grid);
  const PetscReal tolerance = splash->config->tolerance;
  const PetscReal cells = (PetscReal)box->cells[X] * (PetscReal)box->cells[Y] * (PetscReal)box->cells[Z];
  const BoundedTolerance aim = {
      .relative = tolerance, .absolute = tolerance, .least = round_off * PetscSqrtReal(cells)};

  PetscFunctionBegin;
  PetscCall(BoundedSolve(splash->bounded, splash->right_side, lower, aim, answer, report));
  PetscCall(MacGridExchange(splash->grid, answer));
  PetscFunctionReturn(0);
}

/* Mass that leaves a cell through its upper face across d, for v dY. */
static inline PetscReal drop(const PetscReal *weight, const PetscReal *y, PetscInt c, PetscInt stride)
{
  return weight[c] * (y[c] - y[c - stride]);
}

/* The change of density in every owned cell, in `right_side`. */
static PetscErrorCode FindChange(Splash splash)
{
  const GridBox   *box = grid_box(splash->grid);
  const PetscReal *y;
  PetscReal       *weights[DIM], *change;

  PetscFunctionBegin;
  PetscCall(MacGridGetFaces(splash->grid, splash->weights, weights));
  PetscCall(VecGetArrayRead(splash->potential, &y));
  PetscCall(VecGetArray(splash->right_side, &change));
  FOR_CELLS(box, i, j, k) {
    const PetscInt c = box_index(box, i, j, k);

    change[c] = 0.;
    for (PetscInt d = 0; d < box->dimension; d++)
      change[c] +=
          drop(weights[d], y, c + box->stride[d], box->stride[d]) - drop(weights[d], y, c, box->stride[d]);
  }
  PetscCall(VecRestoreArray(splash->right_side, &change));
  PetscCall(VecRestoreArrayRead(splash->potential, &y));
  PetscCall(MacGridRestoreFaces(splash->grid, splash->weights, weights));
  PetscCall(MacGridExchange(splash->grid, splash->right_side));
  PetscFunctionReturn(0);
}

/* The densities, and by how much particles move. */
static PetscErrorCode ApplyChange(Splash splash)
{
  const GridBox   *box = grid_box(splash->grid);
  const PetscReal *y, h = grid_spacing(splash->grid);
  PetscReal       *weights[DIM], *face_density[DIM], *offset[DIM], *change;

  PetscFunctionBegin;
  PetscCall(VecAXPY(splash->density, 1., splash->right_side));
  PetscCall(MacGridGetFaces(splash->grid, splash->weights, weights));
  PetscCall(MacGridGetFaces(splash->grid, splash->face_density, face_density));
  PetscCall(MacGridGetFaces(splash->grid, splash->offset, offset));
  PetscCall(VecGetArrayRead(splash->potential, &y));
  PetscCall(VecGetArray(splash->right_side, &change));
  for (PetscInt d = 0; d < box->dimension; d++) {
    const GridRange faces = grid_faces(splash->grid, d);

    FOR_CELLS(&faces, i, j, k) {
      const PetscInt c = box_index(box, i, j, k);
      const PetscInt at = d == X ? i : d == Y ? j : k, stride = box->stride[d];

      offset[d][c] = 0.;
      if (face_place(splash, d, at) != FACE_INSIDE)
        continue;
      face_density[d][c] = PetscMax(face_density[d][c] + 0.5 * (change[c] + change[c - stride]), 0.);
      if (weights[d][c] == 0.)
        continue;
      offset[d][c] = -drop(weights[d], y, c, stride) / moved_density(weights[d][c], face_density[d][c]);
      offset[d][c] = h * PetscMin(PetscMax(offset[d][c], -farthest_offset), farthest_offset);
    }
  }
  PetscCall(VecRestoreArray(splash->right_side, &change));
  PetscCall(VecRestoreArrayRead(splash->potential, &y));
  PetscCall(MacGridRestoreFaces(splash->grid, splash->offset, offset));
  PetscCall(MacGridRestoreFaces(splash->grid, splash->face_density, face_density));
  PetscCall(MacGridRestoreFaces(splash->grid, splash->weights, weights));
  PetscFunctionReturn(0);
}

PetscErrorCode SplashCorrectDensity(Splash splash)
{
  SplashReport *report = &splash->report;

  PetscFunctionBegin;
  PetscCall(SetProblem(splash));
  PetscCall(MeasureDensity(splash, &report->largest_density));
  report->corrected_density = report->largest_density;
  report->correction = (BoundedReport){.converged = PETSC_TRUE};
  if (splash->config->correction == CORRECT_NONE)
    PetscFunctionReturn(0);
  PetscCall(VecWAXPY(splash->right_side, -1., splash->room, splash->density));
  PetscCall(Solve(splash, NULL, splash->potential, &report->correction));
  PetscCall(FindChange(splash));
  PetscCall(ApplyChange(splash));
  PetscCall(MeasureDensity(splash, &report->corrected_density));
  PetscCall(MacGridExchange(splash->grid, splash->density));
  PetscCall(MacGridExchangeFaces(splash->grid, splash->face_density));
  PetscCall(SplashFillSides(splash, SIDES_HELD, splash->offset));
  PetscFunctionReturn(0);
}

/* u* on all faces that the liquid reaches, which are marked. */
static PetscErrorCode Accelerate(Splash splash, PetscReal dt)
{
  const GridBox *box = grid_box(splash->grid);
  PetscReal     *old[DIM], *u[DIM], *marks[DIM], *density[DIM], *room[DIM];

  PetscFunctionBegin;
  PetscCall(MacGridGetFaces(splash->grid, splash->old, old));
  PetscCall(MacGridGetFaces(splash->grid, splash->velocity, u));
  PetscCall(MacGridGetFaces(splash->grid, splash->marks, marks));
  PetscCall(MacGridGetFaces(splash->grid, splash->face_density, density));
  PetscCall(MacGridGetFaces(splash->grid, splash->face_room, room));
  for (PetscInt d = 0; d < box->dimension; d++) {
    const GridRange faces = grid_faces(splash->grid, d);

    FOR_CELLS(&faces, i, j, k) {
      const PetscInt  c = box_index(box, i, j, k);
      const PetscBool has_liquid = density[d][c] > 0.;

      marks[d][c] = has_liquid && room[d][c] >= least_face ? 1. : 0.;
      u[d][c] = has_liquid ? old[d][c] + dt * splash->fluid->gravity.at[d] : 0.;
    }
  }
  PetscCall(MacGridRestoreFaces(splash->grid, splash->face_room, room));
  PetscCall(MacGridRestoreFaces(splash->grid, splash->face_density, density));
  PetscCall(MacGridRestoreFaces(splash->grid, splash->marks, marks));
  PetscCall(MacGridRestoreFaces(splash->grid, splash->velocity, u));
  PetscCall(MacGridRestoreFaces(splash->grid, splash->old, old));
  PetscCall(MacGridExchangeFaces(splash->grid, splash->velocity));
  PetscFunctionReturn(0);
}

/* One more layer of cells is within reach of the surface: marks 1 spread from cell to cell. */
static PetscErrorCode SpreadMarks(Splash splash, Vec marks)
{
  const GridBox *box = grid_box(splash->grid);
  PetscReal     *mark;

  PetscFunctionBegin;
  PetscCall(MacGridExchange(splash->grid, marks));
  PetscCall(VecGetArray(marks, &mark));
  FOR_CELLS(box, i, j, k) {
    const PetscInt c = box_index(box, i, j, k);

    for (PetscInt d = 0; d < box->dimension && mark[c] == 0.; d++)
      if (mark[c - box->stride[d]] == 1. || mark[c + box->stride[d]] == 1.)
        mark[c] = 2.;
  }
  FOR_CELLS(box, i, j, k) {
    const PetscInt c = box_index(box, i, j, k);

    if (mark[c] == 2.)
      mark[c] = 1.;
  }
  PetscCall(VecRestoreArray(marks, &mark));
  PetscFunctionReturn(0);
}

/* Pressure has no bound in cells that are farther from cells without liquid than the suction depth. */
static PetscErrorCode FindSuction(Splash splash)
{
  const GridBox *box = grid_box(splash->grid);
  PetscReal     *lower;

  PetscFunctionBegin;
  PetscCall(VecCopy(splash->fixed, splash->lower));
  for (PetscInt n = 0; n < splash->config->suction_depth; n++)
    PetscCall(SpreadMarks(splash, splash->lower));
  PetscCall(VecGetArray(splash->lower, &lower));
  FOR_CELLS(box, i, j, k) {
    const PetscInt c = box_index(box, i, j, k);

    lower[c] = lower[c] > 0. ? 0. : PETSC_NINFINITY;
  }
  PetscCall(VecRestoreArray(splash->lower, &lower));
  PetscFunctionReturn(0);
}

/* What goes through a face, as a share of a cell per cell of way. */
static inline PetscReal face_flux(const Splash splash, PetscInt d, PetscInt at, PetscReal density,
                                  PetscReal u)
{
  return face_place(splash, d, at) == FACE_CLOSED ? 0. : density * u;
}

static PetscErrorCode SetRightSide(Splash splash, PetscReal dt)
{
  const GridBox   *box = grid_box(splash->grid);
  const PetscReal  rate = dt / grid_spacing(splash->grid);
  const PetscReal *density, *room, *lower = NULL;
  PetscReal       *right_side, *u[DIM], *face_density[DIM];

  PetscFunctionBegin;
  if (splash->lower)
    PetscCall(VecGetArrayRead(splash->lower, &lower));
  PetscCall(MacGridGetFaces(splash->grid, splash->velocity, u));
  PetscCall(MacGridGetFaces(splash->grid, splash->face_density, face_density));
  PetscCall(VecGetArrayRead(splash->density, &density));
  PetscCall(VecGetArrayRead(splash->room, &room));
  PetscCall(VecGetArray(splash->right_side, &right_side));
  FOR_CELLS(box, i, j, k) {
    const PetscInt c = box_index(box, i, j, k);
    const PetscInt at[DIM] = {i, j, k};
    PetscReal      out = 0.;

    for (PetscInt d = 0; d < box->dimension; d++) {
      const PetscInt up = c + box->stride[d];

      out += face_flux(splash, d, at[d] + 1, face_density[d][up], u[d][up]) -
             face_flux(splash, d, at[d], face_density[d][c], u[d][c]);
    }
    right_side[c] = density[c] - room[c];
    if (lower && lower[c] < 0.) /* it is held together, and need not be filled */
      right_side[c] = PetscMax(right_side[c], 0.);
    right_side[c] -= rate * out;
  }
  PetscCall(VecRestoreArray(splash->right_side, &right_side));
  PetscCall(VecRestoreArrayRead(splash->room, &room));
  PetscCall(VecRestoreArrayRead(splash->density, &density));
  PetscCall(MacGridRestoreFaces(splash->grid, splash->face_density, face_density));
  PetscCall(MacGridRestoreFaces(splash->grid, splash->velocity, u));
  if (splash->lower)
    PetscCall(VecRestoreArrayRead(splash->lower, &lower));
  PetscFunctionReturn(0);
}

/* The change of each face's velocity, and its sum with the masses of the faces. */
static PetscErrorCode ApplyPressure(Splash splash, PetscReal dt)
{
  const GridBox   *box = grid_box(splash->grid);
  const PetscReal  h = grid_spacing(splash->grid), rate = h / dt;
  ReproducibleSum  sums[DIM] = {{0}};
  const PetscReal *p;
  PetscReal       *u[DIM], *weights[DIM], *density[DIM];

  PetscFunctionBegin;
  PetscCall(MacGridGetFaces(splash->grid, splash->velocity, u));
  PetscCall(MacGridGetFaces(splash->grid, splash->weights, weights));
  PetscCall(MacGridGetFaces(splash->grid, splash->face_density, density));
  PetscCall(VecGetArrayRead(splash->impulse, &p));
  for (PetscInt d = 0; d < box->dimension; d++) {
    const GridRange faces = grid_faces(splash->grid, d);

    FOR_CELLS(&faces, i, j, k) {
      const PetscInt  c = box_index(box, i, j, k);
      const PetscReal flux = rate * drop(weights[d], p, c, box->stride[d]);

      if (flux == 0.)
        continue;
      u[d][c] -= flux / moved_density(weights[d][c], density[d][c]);
      sum_add(&sums[d], -flux * density[d][c] / moved_density(weights[d][c], density[d][c]));
    }
  }
  PetscCall(VecRestoreArrayRead(splash->impulse, &p));
  PetscCall(MacGridRestoreFaces(splash->grid, splash->face_density, density));
  PetscCall(MacGridRestoreFaces(splash->grid, splash->weights, weights));
  PetscCall(MacGridRestoreFaces(splash->grid, splash->velocity, u));
  PetscCall(SumOverRanks(box->comm, DIM, sums, splash->report.impulse));
  for (PetscInt d = 0; d < DIM; d++)
    splash->report.impulse[d] *= splash->fluid->density * PetscPowRealInt(h, box->dimension);
  PetscFunctionReturn(0);
}

PetscErrorCode SplashProjectUnilateral(Splash splash, PetscReal dt)
{
  const PetscReal scale = splash->fluid->density * PetscSqr(grid_spacing(splash->grid) / dt);

  PetscFunctionBegin;
  PetscCall(Accelerate(splash, dt));
  if (splash->lower)
    PetscCall(FindSuction(splash));
  PetscCall(SetRightSide(splash, dt));
  if (splash->body_count) {
    splash->columns = (BodyColumns){splash->body_count, splash->row_count, splash->rows,
                                    (const PetscReal(*)[TWIST][TWIST])splash->blocks};
    PetscCall(SplashFindRows(splash));
    PetscCall(SplashAddBodyFlux(splash, dt));
    PetscCall(BoundedSetBodies(splash->bounded, &splash->columns));
  }
  PetscCall(VecCopy(splash->pressure, splash->impulse));
  PetscCall(VecScale(splash->impulse, 1. / scale));
  PetscCall(Solve(splash, splash->lower, splash->impulse, &splash->report.velocity));
  PetscCall(ApplyPressure(splash, dt));
  if (splash->body_count)
    PetscCall(SplashPushBodies(splash, dt));
  PetscCall(VecCopy(splash->impulse, splash->pressure));
  PetscCall(VecScale(splash->pressure, scale));
  PetscFunctionReturn(0);
}
