/* A damped block of tetrahedra that falls on a floor, its elements shared by the ranks that this is started
   on, and by rank 0 alone: processor time in steps without that of messages, which other ranks on the same
   cores do not lengthen but by what they take of caches; imbalance, copies and elements that two ranks
   compute. */
#include "scratch.h"

#include "solid/deformable/distribution.h"

#include <time.h>

typedef struct {
  SolidConfig         config;
  SolidMaterialConfig material;
  SolidMeshConfig     mesh;
  BodyConfig          floor;
  Solid               solid;
} Block;

static PetscReal processor_time(void)
{
  struct timespec now;

  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (PetscReal)now.tv_sec + 1e-9 * (PetscReal)now.tv_nsec;
}

/* `along` times across x across cubes of five tetrahedra, and what limits their steps. */
typedef struct {
  PetscInt    across;
  PetscReal   along;
  ElasticTime elasticity;
  PetscReal   step; /* of the longest explicit one */
} Case;

static PetscErrorCode BlockCreate(MPI_Comm comm, const Case *of, Block *block)
{
  const PetscInt  across = of->across;
  const PetscReal along = of->along;
  char            message[512];

  PetscFunctionBegin;
  *block =
      (Block){.material = {.name = "rubber", .young = 1e5, .poisson = 0.4, .density = 1000., .damping = 2e-4},
              .mesh = {.name = "block",
                       .material = "rubber",
                       .friction = 0.3,
                       .mesh = {.edge = 0.4 / (PetscReal)across, .order = 1},
                       .velocity = vector3(1., 0., -1.)},
              .floor = {.name = "floor", .kind = BODY_STATIC, .friction = 0.3}};
  PetscCall(ShapeCreateBox(vector3(0., 0., 0.), vector3(0.4 * along, 0.4, 0.4), &block->mesh.mesh.shape));
  PetscCall(ShapeCreatePlane(vector3(0., 0., -1e-3), vector3(0., 0., 1.), &block->floor.shape));
  block->config = (SolidConfig){.cfl = 0.5,
                                .elasticity = of->elasticity,
                                .solver = SOLVER_CG,
                                .newton = 10,
                                .iterations = 6,
                                .tolerance = 1e-4,
                                .gravity = vector3(0., 0., -9.81),
                                .body_count = 1,
                                .bodies = &block->floor,
                                .material_count = 1,
                                .mesh_count = 1,
                                .materials = &block->material,
                                .meshes = &block->mesh};
  PetscCall(SolidCreate(comm, &block->config, &block->solid, message, sizeof(message)));
  PetscCheck(block->solid, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s", message);
  PetscFunctionReturn(0);
}

static PetscErrorCode BlockDestroy(Block *block)
{
  PetscFunctionBegin;
  PetscCall(SolidDestroy(&block->solid));
  PetscCall(ShapeDestroy(&block->mesh.mesh.shape));
  PetscCall(ShapeDestroy(&block->floor.shape));
  PetscFunctionReturn(0);
}

enum { WARM = 2, STEPS = 12 };

/* Seconds of processor time of the steps and of what their ledger says; and of those, by the solid's own
   clocks, what was no message. */
static PetscErrorCode Run(Block *block, PetscReal dt, PetscReal *alone, SolidWork *work)
{
  SolidWork before = {0};
  PetscReal began = 0.;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < WARM + STEPS; k++) {
    if (k == WARM) {
      began = processor_time();
      (void)solid_work(block->solid, &before);
    }
    PetscCall(SolidStep(block->solid, k * dt, dt));
    (void)solid_report(block->solid);
  }
  *alone = processor_time() - began;
  if (solid_work(block->solid, work))
    work->seconds -= before.seconds;
  PetscFunctionReturn(0);
}

/* Least, mean and most of the ranks. */
static PetscErrorCode Spread(PetscReal value, PetscReal found[3])
{
  PetscMPIInt size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCallMPI(MPI_Allreduce(&value, &found[0], 1, MPIU_REAL, MPI_MIN, PETSC_COMM_WORLD));
  PetscCallMPI(MPI_Allreduce(&value, &found[1], 1, MPIU_REAL, MPI_SUM, PETSC_COMM_WORLD));
  PetscCallMPI(MPI_Allreduce(&value, &found[2], 1, MPIU_REAL, MPI_MAX, PETSC_COMM_WORLD));
  found[1] /= size;
  PetscFunctionReturn(0);
}

static PetscErrorCode Measure(Case of)
{
  PetscReal   alone = 0., shared, busy[3], points[3], copies[3], elements[3], dt = 0.;
  PetscInt    count, contacts;
  PetscMPIInt rank, size;
  SolidWork   work = {0};
  Block       block;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  if (rank == 0) {
    PetscCall(BlockCreate(PETSC_COMM_SELF, &of, &block));
    dt = of.step * solid_longest_substep(block.solid);
    PetscCall(Run(&block, dt, &alone, &work));
    PetscCall(BlockDestroy(&block));
  }
  PetscCallMPI(MPI_Bcast(&dt, 1, MPIU_REAL, 0, PETSC_COMM_WORLD));
  PetscCall(BlockCreate(PETSC_COMM_WORLD, &of, &block));
  PetscCall(Run(&block, dt, &shared, &work));
  count = solid_mesh_elements(block.solid, 0);
  contacts = solid_report(block.solid).point_contacts;
  if (work.points) {
    PetscCall(Spread(work.seconds, busy));
    PetscCall(Spread((PetscReal)work.points, points));
    PetscCall(Spread((PetscReal)work.copies, copies));
    PetscCall(Spread((PetscReal)work.elements, elements));
    PetscCall(PetscPrintf(
        PETSC_COMM_WORLD,
        "%7" PetscInt_FMT " tetrahedra, %" PetscInt_FMT
        " contacts, %d ranks: busy %.3f of one rank at most, most over mean %.3f (1.25 asked); copies "
        "%.1f %% of own points, %.1f %% of elements computed twice\n",
        count, contacts, size, (double)(busy[2] / alone), (double)(busy[2] / busy[1]),
        100. * (double)(copies[1] / points[1]), 100. * (double)(elements[1] * size / (PetscReal)count - 1.)));
  } else
    PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                          "%7" PetscInt_FMT " tetrahedra, %" PetscInt_FMT
                          " contacts, 1 rank: %.2f s, %.3f us per tetrahedron and substep, %d iterations\n",
                          count, contacts, (double)alone,
                          1e6 * (double)alone / (double)(count * STEPS * block.solid->report.substeps),
                          (int)block.solid->report.linear_iterations));
  PetscCall(BlockDestroy(&block));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(Measure((Case){17, 4., ELASTIC_EXPLICIT, 8.}));
  PetscCall(Measure((Case){27, 1., ELASTIC_EXPLICIT, 8.}));
  PetscCall(Measure((Case){17, 4., ELASTIC_NEWMARK, 10.}));
  PetscCall(Measure((Case){17, 4., ELASTIC_NEWMARK, 50.}));
  PetscCall(PetscFinalize());
  return 0;
}
