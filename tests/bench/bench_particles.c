/* What it costs to move markers around a sphere: ours, and PETSc's DMSwarm with the same velocity. */
#include <millrace/particles.h>
#include <millrace/sampling.h>
#include <petscdmswarm.h>
#include <time.h>

enum { PER_CELL = 16, STEPS = 3 };

typedef struct {
  MacGrid   grid;
  Vec       velocity[DIM];
  PetscReal dt; /* the fastest marker crosses 0.9 cells */
  Particles particles;
} Case;

static Vector3 flow_at(Vector3 p)
{
  const PetscReal x = PETSC_PI * p.at[X], y = PETSC_PI * p.at[Y], z = PETSC_PI * p.at[Z];

  return vector3(PetscSinReal(x) * PetscCosReal(y), -PetscCosReal(x) * PetscSinReal(y),
                 0.5 * PetscSinReal(z) * PetscCosReal(x));
}

static PetscErrorCode FillVelocity(Case *c)
{
  const GridBox *box = grid_box(c->grid);
  const PetscInt ghost = box->ghost;
  PetscReal     *u[DIM];

  PetscFunctionBegin;
  PetscCall(MacGridCreateFaceField(c->grid, c->velocity));
  PetscCall(MacGridGetFaces(c->grid, c->velocity, u));
  for (PetscInt d = 0; d < DIM; d++)
    for (PetscInt k = box->start[Z] - ghost; k < box->end[Z] + ghost; k++)
      for (PetscInt j = box->start[Y] - ghost; j < box->end[Y] + ghost; j++)
        for (PetscInt i = box->start[X] - ghost; i < box->end[X] + ghost; i++)
          u[d][box_index(box, i, j, k)] = flow_at(grid_face_centre(c->grid, d, i, j, k)).at[d];
  PetscCall(MacGridRestoreFaces(c->grid, c->velocity, u));
  PetscFunctionReturn(0);
}

static PetscErrorCode SeedCell(Case *c, const PetscInt at[DIM])
{
  const PetscReal  h = grid_spacing(c->grid), radius = 0.1 * h;
  const Vector3    centre = grid_cell_centre(c->grid, at[X], at[Y], at[Z]);
  const PetscInt64 cell = at[X] + 4096LL * (at[Y] + 4096LL * at[Z]);

  PetscFunctionBegin;
  if (PetscAbsReal(vector3_norm(vector3_subtract(centre, vector3(0.5, 0.5, 0.5))) - 0.3) > 3. * h)
    PetscFunctionReturn(0);
  for (PetscInt n = 0; n < PER_CELL; n++) {
    const PetscInt64 number = PER_CELL * cell + n;
    const uint64_t   key = hash_key((uint64_t)number, 0, 0, 0);
    Vector3          point = centre;

    for (PetscInt d = 0; d < DIM; d++)
      point.at[d] += (hash_real(key, d) - 0.5) * h;
    PetscCall(ParticlesAdd(c->particles, 1, &point, &radius, &number));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateCase(PetscInt n, Case *c)
{
  const GridConfig config = {.dimension = 3, .size = vector3(1., 1., 1.), .resolution = n};
  const GridBox   *box;

  PetscFunctionBegin;
  PetscCall(MacGridCreate(PETSC_COMM_WORLD, &config, &c->grid));
  c->dt = 0.9 / n;
  PetscCall(FillVelocity(c));
  PetscCall(ParticlesCreate(c->grid, 1, &c->particles));
  box = grid_box(c->grid);
  FOR_PLACES(box, at)
    PetscCall(SeedCell(c, at));
  PetscCall(ParticlesArrange(c->particles));
  PetscFunctionReturn(0);
}

static PetscErrorCode DestroyCase(Case *c)
{
  PetscFunctionBegin;
  PetscCall(ParticlesDestroy(&c->particles));
  PetscCall(MacGridDestroyFaceField(c->velocity));
  PetscCall(MacGridDestroy(&c->grid));
  PetscFunctionReturn(0);
}

/* Two ways to use DMSwarm: it finds the cells of a DMDA of vertices, sends and sorts; or we tell it the ranks
   and it only sends. */
typedef enum { SWARM_IN_CELLS, SWARM_PLAIN } SwarmKind;

typedef struct {
  SwarmKind   kind;
  DM          vertices, swarm;
  const char *coordinates; /* name of the field */
  PetscInt   *bounds;      /* start and end of every rank's part */
} Swarm;

static PetscErrorCode CreateVertices(const GridBox *box, DM *vertices)
{
  PetscFunctionBegin;
  PetscCall(DMDACreate3d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE,
                         DMDA_STENCIL_BOX, box->cells[X] + 1, box->cells[Y] + 1, box->cells[Z] + 1,
                         box->ranks[X], box->ranks[Y], box->ranks[Z], 1, 1, NULL, NULL, NULL, vertices));
  PetscCall(DMDASetElementType(*vertices, DMDA_ELEMENT_Q1));
  PetscCall(DMSetUp(*vertices));
  PetscCall(DMDASetUniformCoordinates(*vertices, 0., 1., 0., 1., 0., 1.));
  PetscFunctionReturn(0);
}

static PetscErrorCode FillSwarm(const Case *c, const Swarm *swarm)
{
  ParticleView view;
  PetscReal   *coordinates, *radii;
  PetscInt64  *identities;

  PetscFunctionBegin;
  PetscCall(ParticlesGetView(c->particles, &view));
  PetscCall(DMSwarmSetLocalSizes(swarm->swarm, view.count, view.count / 4));
  PetscCall(DMSwarmGetField(swarm->swarm, swarm->coordinates, NULL, NULL, (void **)&coordinates));
  PetscCall(DMSwarmGetField(swarm->swarm, DMSwarmField_pid, NULL, NULL, (void **)&identities));
  PetscCall(DMSwarmGetField(swarm->swarm, "radius", NULL, NULL, (void **)&radii));
  PetscCall(PetscArraycpy(coordinates, (PetscReal *)view.positions, DIM * view.count));
  PetscCall(PetscArraycpy(identities, view.numbers, view.count));
  PetscCall(PetscArraycpy(radii, view.values, view.count));
  PetscCall(DMSwarmRestoreField(swarm->swarm, "radius", NULL, NULL, (void **)&radii));
  PetscCall(DMSwarmRestoreField(swarm->swarm, DMSwarmField_pid, NULL, NULL, (void **)&identities));
  PetscCall(DMSwarmRestoreField(swarm->swarm, swarm->coordinates, NULL, NULL, (void **)&coordinates));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateSwarm(const Case *c, SwarmKind kind, Swarm *swarm)
{
  const GridBox *box = grid_box(c->grid);
  PetscInt       mine[2 * DIM];

  PetscFunctionBegin;
  *swarm = (Swarm){.kind = kind, .coordinates = kind == SWARM_PLAIN ? "place" : DMSwarmPICField_coor};
  PetscCall(DMCreate(PETSC_COMM_WORLD, &swarm->swarm));
  PetscCall(DMSetType(swarm->swarm, DMSWARM));
  PetscCall(DMSetDimension(swarm->swarm, DIM));
  PetscCall(DMSwarmSetType(swarm->swarm, kind == SWARM_PLAIN ? DMSWARM_BASIC : DMSWARM_PIC));
  if (kind == SWARM_IN_CELLS) {
    PetscCall(CreateVertices(box, &swarm->vertices));
    PetscCall(DMSwarmSetCellDM(swarm->swarm, swarm->vertices));
  } else {
    PetscCall(DMSwarmRegisterPetscDatatypeField(swarm->swarm, "place", DIM, PETSC_REAL));
  }
  PetscCall(DMSwarmRegisterPetscDatatypeField(swarm->swarm, "radius", 1, PETSC_REAL));
  PetscCall(DMSwarmFinalizeFieldRegister(swarm->swarm));
  PetscCall(PetscMalloc1(2 * DIM * box->ranks[X] * box->ranks[Y] * box->ranks[Z], &swarm->bounds));
  for (PetscInt d = 0; d < DIM; d++) {
    mine[d] = box->start[d];
    mine[DIM + d] = box->end[d];
  }
  PetscCallMPI(MPI_Allgather(mine, 2 * DIM, MPIU_INT, swarm->bounds, 2 * DIM, MPIU_INT, PETSC_COMM_WORLD));
  PetscCall(FillSwarm(c, swarm));
  PetscFunctionReturn(0);
}

static PetscErrorCode DestroySwarm(Swarm *swarm)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(swarm->bounds));
  PetscCall(DMDestroy(&swarm->swarm));
  PetscCall(DMDestroy(&swarm->vertices));
  PetscFunctionReturn(0);
}

static PetscInt rank_of(const PetscInt *bounds, PetscInt own, PetscReal h, const PetscReal *point)
{
  for (PetscInt r = own, next = 0;; r = next++) {
    const PetscInt *low = bounds + 2 * DIM * r, *high = low + DIM;

    if (point[X] >= h * low[X] && point[X] < h * high[X] && point[Y] >= h * low[Y] &&
        point[Y] < h * high[Y] && point[Z] >= h * low[Z] && point[Z] < h * high[Z])
      return r;
  }
}

static PetscErrorCode MigrateSwarm(const Case *c, const Swarm *swarm)
{
  const PetscReal h = grid_spacing(c->grid);
  PetscReal      *coordinates;
  PetscInt        count, *ranks;
  PetscMPIInt     own;

  PetscFunctionBegin;
  if (swarm->kind == SWARM_IN_CELLS) {
    PetscCall(DMSwarmMigrate(swarm->swarm, PETSC_TRUE));
    PetscCall(DMSwarmSortGetAccess(swarm->swarm)); /* which of them are in a cell */
    PetscCall(DMSwarmSortRestoreAccess(swarm->swarm));
    PetscFunctionReturn(0);
  }
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &own));
  PetscCall(DMSwarmGetLocalSize(swarm->swarm, &count));
  PetscCall(DMSwarmGetField(swarm->swarm, swarm->coordinates, NULL, NULL, (void **)&coordinates));
  PetscCall(DMSwarmGetField(swarm->swarm, DMSwarmField_rank, NULL, NULL, (void **)&ranks));
  for (PetscInt n = 0; n < count; n++)
    ranks[n] = rank_of(swarm->bounds, own, h, coordinates + DIM * n);
  PetscCall(DMSwarmRestoreField(swarm->swarm, DMSwarmField_rank, NULL, NULL, (void **)&ranks));
  PetscCall(DMSwarmRestoreField(swarm->swarm, swarm->coordinates, NULL, NULL, (void **)&coordinates));
  PetscCall(DMSwarmMigrate(swarm->swarm, PETSC_TRUE));
  PetscFunctionReturn(0);
}

static PetscReal processor_time(void)
{
  struct timespec now;

  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return now.tv_sec + 1e-9 * now.tv_nsec;
}

/* Processor seconds since `start`, of the rank that has taken longest. */
static PetscErrorCode Elapsed(PetscReal start, PetscReal *best)
{
  PetscReal seconds = processor_time() - start;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPIU_REAL, MPI_MAX, PETSC_COMM_WORLD));
  *best = PetscMin(*best, seconds);
  PetscFunctionReturn(0);
}

static PetscErrorCode Start(PetscReal *start)
{
  PetscFunctionBegin;
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  *start = processor_time();
  PetscFunctionReturn(0);
}

/* The midpoint rule particle by particle. */
static PetscErrorCode MoveOneByOne(const Case *c, PetscInt count, Vector3 *positions)
{
  const GridBox  *box = grid_box(c->grid);
  const Vector3   origin = grid_origin(c->grid);
  const PetscReal h = grid_spacing(c->grid);
  PetscReal      *u[DIM];

  PetscFunctionBegin;
  PetscCall(MacGridGetFaces(c->grid, (Vec *)c->velocity, u));
  for (PetscInt n = 0; n < count; n++) {
    const Vector3 first = sample_faces(box, origin, h, u, positions[n]);
    const Vector3 middle = vector3_add(positions[n], vector3_scale(0.5 * c->dt, first));

    positions[n] = vector3_add(positions[n], vector3_scale(c->dt, sample_faces(box, origin, h, u, middle)));
  }
  PetscCall(MacGridRestoreFaces(c->grid, (Vec *)c->velocity, u));
  PetscFunctionReturn(0);
}

typedef struct {
  PetscReal move, arrange, sum; /* seconds; sum of coordinates afterwards, for comparison */
} Result;

static PetscErrorCode RunOurs(const Case *c, Result *result)
{
  ParticleView view;
  PetscReal    start, all = PETSC_MAX_REAL;
  Particles    particles;

  PetscFunctionBegin;
  PetscCall(ParticlesCreate(c->grid, 1, &particles));
  PetscCall(ParticlesCopy(c->particles, particles));
  for (PetscInt step = 0; step < STEPS; step++) {
    PetscCall(Start(&start));
    PetscCall(ParticlesMove(particles, NULL, (Vec *)c->velocity, c->dt));
    PetscCall(Elapsed(start, &all));
  }
  result->sum = 0.;
  PetscCall(ParticlesGetView(particles, &view));
  for (PetscInt n = 0; n < view.count; n++)
    result->sum += view.positions[n].at[X] + view.positions[n].at[Z];
  result->arrange = PETSC_MAX_REAL;
  for (PetscInt step = 0; step < STEPS; step++) {
    PetscCall(ParticlesCopy(c->particles, particles));
    PetscCall(ParticlesGetView(particles, &view));
    PetscCall(MoveOneByOne(c, view.count, view.positions));
    PetscCall(Start(&start));
    PetscCall(ParticlesArrange(particles));
    PetscCall(Elapsed(start, &result->arrange));
  }
  result->move = all - result->arrange;
  PetscCall(ParticlesDestroy(&particles));
  PetscFunctionReturn(0);
}

static PetscErrorCode RunSwarm(const Case *c, SwarmKind kind, Result *result)
{
  Swarm     swarm;
  PetscReal start, *coordinates;
  PetscInt  count;

  PetscFunctionBegin;
  PetscCall(CreateSwarm(c, kind, &swarm));
  PetscCall(MigrateSwarm(c, &swarm));
  result->move = result->arrange = PETSC_MAX_REAL;
  for (PetscInt step = 0; step < STEPS; step++) {
    PetscCall(Start(&start));
    PetscCall(DMSwarmGetLocalSize(swarm.swarm, &count));
    PetscCall(DMSwarmGetField(swarm.swarm, swarm.coordinates, NULL, NULL, (void **)&coordinates));
    PetscCall(MoveOneByOne(c, count, (Vector3 *)coordinates));
    PetscCall(DMSwarmRestoreField(swarm.swarm, swarm.coordinates, NULL, NULL, (void **)&coordinates));
    PetscCall(Elapsed(start, &result->move));
    PetscCall(Start(&start));
    PetscCall(MigrateSwarm(c, &swarm));
    PetscCall(Elapsed(start, &result->arrange));
  }
  result->sum = 0.;
  PetscCall(DMSwarmGetLocalSize(swarm.swarm, &count));
  PetscCall(DMSwarmGetField(swarm.swarm, swarm.coordinates, NULL, NULL, (void **)&coordinates));
  for (PetscInt n = 0; n < count; n++)
    result->sum += coordinates[DIM * n] + coordinates[DIM * n + Z];
  PetscCall(DMSwarmRestoreField(swarm.swarm, swarm.coordinates, NULL, NULL, (void **)&coordinates));
  PetscCall(DestroySwarm(&swarm));
  PetscFunctionReturn(0);
}

static PetscErrorCode CheckSame(const Result *ours, const Result *theirs)
{
  PetscReal sums[2] = {ours->sum, theirs->sum};

  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPIU_REAL, MPI_SUM, PETSC_COMM_WORLD));
  PetscCheck(PetscAbsReal(sums[0] - sums[1]) < 1e-9 * sums[0], PETSC_COMM_WORLD, PETSC_ERR_PLIB,
             "The two have moved differently: %.15g and %.15g", (double)sums[0], (double)sums[1]);
  PetscFunctionReturn(0);
}

static PetscErrorCode RunSize(PetscInt n)
{
  Case       c;
  Result     ours, plain, cells;
  PetscInt64 total;

  PetscFunctionBegin;
  PetscCall(CreateCase(n, &c));
  PetscCall(ParticlesGetTotal(c.particles, &total));
  PetscCall(RunOurs(&c, &ours));
  PetscCall(RunSwarm(&c, SWARM_PLAIN, &plain));
  PetscCall(CheckSame(&ours, &plain));
  PetscCall(RunSwarm(&c, SWARM_IN_CELLS, &cells));
  PetscCall(CheckSame(&ours, &cells));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "| %4" PetscInt_FMT " | %7" PetscInt64_FMT
                        " | %5.1f | %7.1f | %10.1f | %12.1f | %12.1f | %5.1f |\n",
                        n, total, (double)(0.5e9 * ours.move / total), (double)(1e9 * ours.arrange / total),
                        (double)(0.5e9 * plain.move / total), (double)(1e9 * plain.arrange / total),
                        (double)(1e9 * cells.arrange / total),
                        (double)((cells.move + cells.arrange) / (ours.move + ours.arrange))));
  PetscCall(DestroyCase(&c));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  static const PetscInt sizes[] = {32, 64, 128};
  PetscInt              only = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-only", &only, NULL));
  PetscCall(PetscPrintf(
      PETSC_COMM_WORLD,
      "ns of processor time per marker: a stage of Runge-Kutta (ours, one by one); order and migration "
      "(ours),\n"
      "DMSwarm's migration alone, its migration and sort with cells; its step with cells over ours\n"
      "|    n | markers | stage | arrange | one by one | swarm, plain | swarm, cells | ratio |\n"
      "|-----:|--------:|------:|--------:|-----------:|-------------:|-------------:|------:|\n"));
  for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(sizes); s++)
    if (!only || only == sizes[s])
      PetscCall(RunSize(sizes[s]));
  PetscCall(PetscFinalize());
  return 0;
}
