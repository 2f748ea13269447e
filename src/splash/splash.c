/* Splashing liquid: its life, and the order of its step (docs/numerics.md). */
#include "splash_impl.h"

#include <petsctime.h>

enum { CELL_FIELDS = 9, FACE_FIELDS = 7 };

/* Those that every splash has. */
static void list_fields(Splash splash, Vec *cells[CELL_FIELDS], Vec *faces[FACE_FIELDS])
{
  Vec *const on_cells[CELL_FIELDS] = {&splash->room,      &splash->near,    &splash->solid,
                                      &splash->density,   &splash->fixed,   &splash->right_side,
                                      &splash->potential, &splash->impulse, &splash->pressure};
  Vec *const on_faces[FACE_FIELDS] = {splash->face_room, splash->face_density, splash->old,
                                      splash->velocity,  splash->marks,        splash->offset,
                                      splash->weights};

  for (PetscInt n = 0; n < CELL_FIELDS; n++)
    cells[n] = on_cells[n];
  for (PetscInt n = 0; n < FACE_FIELDS; n++)
    faces[n] = on_faces[n];
}

static PetscErrorCode CreateFields(Splash splash)
{
  Vec *cells[CELL_FIELDS], *faces[FACE_FIELDS];

  PetscFunctionBegin;
  list_fields(splash, cells, faces);
  for (PetscInt n = 0; n < CELL_FIELDS; n++)
    PetscCall(MacGridCreateField(splash->grid, cells[n]));
  for (PetscInt n = 0; n < FACE_FIELDS; n++)
    PetscCall(MacGridCreateFaceField(splash->grid, faces[n]));
  PetscFunctionReturn(0);
}

PetscErrorCode SplashCreate(MacGrid grid, const SplashConfig *config, const FluidConfig *fluid,
                            Splash *splash)
{
  PetscFunctionBegin;
  PetscCall(PetscNew(splash));
  (*splash)->grid = grid;
  (*splash)->config = config;
  (*splash)->fluid = fluid;
  (*splash)->width = config->transfer == TRANSFER_APIC ? DIM + AFFINE : DIM;
  PetscCall(CreateFields(*splash));
  PetscCall(ParticlesCreate(grid, (*splash)->width, &(*splash)->particles));
  PetscCall(HaloCreate((*splash)->particles, &(*splash)->halo));
  if (config->pressure == SPLASH_UNILATERAL)
    PetscCall(BoundedCreate(grid, "splash_", config->solver, &(*splash)->bounded));
  else
    PetscCall(PoissonCreate(grid, "splash_", &(*splash)->poisson));
  if (config->pressure == SPLASH_BILATERAL)
    PetscCall(MacGridCreateField(grid, &(*splash)->held));
  if (config->suction_depth < PETSC_INFINITY)
    PetscCall(MacGridCreateField(grid, &(*splash)->lower));
  PetscCall(SplashFindRoom(*splash));
  PetscFunctionReturn(0);
}

static PetscErrorCode DestroyFields(Splash splash)
{
  Vec *cells[CELL_FIELDS], *faces[FACE_FIELDS];

  PetscFunctionBegin;
  list_fields(splash, cells, faces);
  for (PetscInt n = 0; n < CELL_FIELDS; n++)
    PetscCall(VecDestroy(cells[n]));
  for (PetscInt n = 0; n < FACE_FIELDS; n++)
    PetscCall(MacGridDestroyFaceField(faces[n]));
  PetscFunctionReturn(0);
}

static PetscErrorCode DestroyBodies(Splash splash)
{
  PetscFunctionBegin;
  PetscCall(VecDestroy(&splash->free_room));
  PetscCall(VecDestroy(&splash->free_near));
  PetscCall(VecDestroy(&splash->free_solid));
  PetscCall(MacGridDestroyFaceField(splash->free_face_room));
  PetscCall(PetscFree(splash->shares.cells));
  for (PetscInt d = 0; d < DIM; d++)
    PetscCall(PetscFree(splash->shares.faces[d]));
  PetscCall(PetscFree3(splash->bodies, splash->blocks, splash->hits));
  PetscCall(PetscFree(splash->rows));
  PetscCall(PetscFree(splash->cells));
  PetscFunctionReturn(0);
}

PetscErrorCode SplashDestroy(Splash *splash)
{
  PetscFunctionBegin;
  if (!*splash)
    PetscFunctionReturn(0);
  PetscCall(DestroyFields(*splash));
  PetscCall(VecDestroy(&(*splash)->lower));
  PetscCall(VecDestroy(&(*splash)->held));
  PetscCall(DestroyBodies(*splash));
  PetscCall(HaloDestroy(&(*splash)->halo));
  PetscCall(ParticlesDestroy(&(*splash)->particles));
  PetscCall(BoundedDestroy(&(*splash)->bounded));
  PetscCall(PoissonDestroy(&(*splash)->poisson));
  PetscCall(PetscFree((*splash)->obstacles));
  PetscCall(PetscFree(*splash));
  PetscFunctionReturn(0);
}

PetscErrorCode SplashSetObstacles(Splash splash, PetscInt count, const Shape shapes[])
{
  PetscFunctionBegin;
  PetscCall(PetscFree(splash->obstacles));
  PetscCall(PetscMalloc1(count, &splash->obstacles));
  PetscCall(PetscArraycpy(splash->obstacles, shapes, count));
  splash->obstacle_count = count;
  PetscCall(SplashFindRoom(splash));
  PetscFunctionReturn(0);
}

/* Wall clock since the last call. */
static PetscErrorCode Lap(PetscLogDouble *last, PetscReal *seconds)
{
  PetscLogDouble now;

  PetscFunctionBegin;
  PetscCall(PetscTime(&now));
  *seconds = now - *last;
  *last = now;
  PetscFunctionReturn(0);
}

/* Over the faces that belong to the liquid. */
static PetscErrorCode MeasureTravel(Splash splash, PetscReal dt, PetscReal *cells)
{
  const GridBox *box = grid_box(splash->grid);
  PetscReal     *u[DIM], fastest = 0.;

  PetscFunctionBegin;
  PetscCall(MacGridGetFaces(splash->grid, splash->velocity, u));
  for (PetscInt d = 0; d < box->dimension; d++) {
    const GridRange faces = grid_faces(splash->grid, d);

    FOR_CELLS(&faces, i, j, k) {
      const PetscReal speed = PetscAbsReal(u[d][box_index(box, i, j, k)]);

      fastest = speed <= fastest ? fastest : speed; /* not a number, too */
    }
  }
  PetscCall(MacGridRestoreFaces(splash->grid, splash->velocity, u));
  *cells = fastest * dt / grid_spacing(splash->grid);
  if (!(*cells < 1e9))
    *cells = 1e9;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, cells, 1, MPIU_REAL, MPI_MAX, box->comm));
  PetscFunctionReturn(0);
}

PetscBool splash_has_converged(Splash splash)
{
  const SplashReport *report = &splash->report;

  if (splash->poisson)
    return report->poisson.reason >= 0 ? PETSC_TRUE : PETSC_FALSE;
  return report->correction.converged && report->velocity.converged ? PETSC_TRUE : PETSC_FALSE;
}

static PetscErrorCode Project(Splash splash, PetscReal dt)
{
  PetscReal least;

  PetscFunctionBegin;
  if (splash->bounded) {
    PetscCall(SplashCorrectDensity(splash));
    PetscCall(SplashProjectUnilateral(splash, dt));
  } else
    PetscCall(SplashProjectBilateral(splash, dt));
  PetscCall(VecMin(splash->pressure, NULL, &least));
  PetscCallMPI(MPI_Allreduce(&least, &splash->report.smallest_pressure, 1, MPIU_REAL, MPI_MIN,
                             grid_box(splash->grid)->comm));
  PetscFunctionReturn(0);
}

PetscErrorCode SplashStep(Splash splash, PetscReal time, PetscReal dt, PetscBool *good)
{
  SplashReport  *report = &splash->report;
  PetscLogDouble last;
  PetscReal      more;

  PetscFunctionBegin;
  PetscCall(PetscTime(&last));
  PetscCall(SplashHoldSources(splash, time));
  PetscCall(SplashRasterise(splash));
  PetscCall(Lap(&last, &report->wall_raster));
  PetscCall(Project(splash, dt));
  PetscCall(Lap(&last, &report->wall_solve));
  PetscCall(SplashExtrapolate(splash));
  PetscCall(SplashFillSides(splash, SIDES_HELD, splash->velocity));
  PetscCall(MeasureTravel(splash, dt, &report->travel));
  PetscCall(Lap(&last, &report->wall_extrapolate));
  *good = splash_has_converged(splash) && report->travel <= MOST_CELLS_PER_STEP;
  if (!*good)
    PetscFunctionReturn(0);
  PetscCall(SplashMoveParticles(splash, dt));
  PetscCall(SplashAddSources(splash, time, time + dt));
  PetscCall(SplashBurstBetween(splash, time, time + dt));
  PetscCall(Lap(&last, &more));
  report->wall_move = more;
  PetscFunctionReturn(0);
}

const SplashReport *splash_report(Splash splash)
{
  return &splash->report;
}

PetscReal splash_particle_mass(const Splash splash)
{
  const PetscInt  dimension = grid_box(splash->grid)->dimension;
  const PetscReal h = grid_spacing(splash->grid);

  return splash->fluid->density * PetscPowRealInt(h, dimension) / lattice_size(splash->config, dimension);
}

/* Sums and maxima over the particles of a rank; sums for each unit of mass. */
typedef struct {
  PetscReal velocity[DIM], place[DIM], square[DIM], fastest[DIM], highest[DIM];
} ParticleSums;

static ParticleSums sum_particles(const ParticleView *view, PetscInt width)
{
  ParticleSums sums = {.highest = {PETSC_MIN_REAL, PETSC_MIN_REAL, PETSC_MIN_REAL}};

  for (PetscInt n = 0; n < view->count; n++)
    for (PetscInt d = 0; d < DIM; d++) {
      const PetscReal u = view->values[n * width + d], x = view->positions[n].at[d];

      sums.velocity[d] += u;
      sums.place[d] += x;
      sums.square[d] += u * u;
      sums.fastest[d] = PetscAbsReal(u) > sums.fastest[d] ? PetscAbsReal(u) : sums.fastest[d];
      sums.highest[d] = x > sums.highest[d] ? x : sums.highest[d];
    }
  return sums;
}

PetscErrorCode SplashGetTotals(Splash splash, SplashTotals *totals)
{
  const MPI_Comm  comm = grid_box(splash->grid)->comm;
  const PetscReal mass = splash_particle_mass(splash);
  ParticleSums    sums;
  ParticleView    view;

  PetscFunctionBegin;
  PetscCall(ParticlesGetView(splash->particles, &view));
  sums = sum_particles(&view, splash->width);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sums.velocity, 3 * DIM, MPIU_REAL, MPI_SUM, comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sums.fastest, 2 * DIM, MPIU_REAL, MPI_MAX, comm));
  *totals = (SplashTotals){.largest_speed = 0.};
  for (PetscInt d = 0; d < DIM; d++) {
    totals->momentum[d] = mass * sums.velocity[d];
    totals->moment[d] = mass * sums.place[d];
    totals->kinetic_energy += 0.5 * mass * sums.square[d];
    totals->largest_speed = PetscMax(totals->largest_speed, sums.fastest[d]);
    totals->highest[d] = sums.highest[d];
  }
  PetscCall(ParticlesGetTotal(splash->particles, &totals->particles));
  totals->mass = mass * (PetscReal)totals->particles;
  PetscFunctionReturn(0);
}

/* u dt + g dt^2 = cells h. */
PetscErrorCode SplashGetTimeStepLimit(Splash splash, PetscReal cells, PetscReal *limit)
{
  const PetscReal way = cells * grid_spacing(splash->grid), g = vector3_norm(splash->fluid->gravity);
  SplashTotals    totals;
  PetscReal       u;

  PetscFunctionBegin;
  PetscCall(SplashGetTotals(splash, &totals));
  u = PetscMax(totals.largest_speed, splash_source_speed(splash));
  *limit = u + g > 0. ? 2. * way / (u + PetscSqrtReal(u * u + 4. * g * way)) : PETSC_MAX_REAL;
  PetscFunctionReturn(0);
}

PetscErrorCode SplashGetParticles(Splash splash, Particles *particles)
{
  PetscFunctionBegin;
  *particles = splash->particles;
  PetscFunctionReturn(0);
}

PetscErrorCode SplashGetFields(Splash splash, Vec *density, Vec *room, Vec *pressure, Vec **velocity)
{
  PetscFunctionBegin;
  *density = splash->density;
  *room = splash->room;
  *pressure = splash->pressure;
  *velocity = splash->velocity;
  PetscFunctionReturn(0);
}
