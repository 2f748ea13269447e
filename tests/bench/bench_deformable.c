/* A free bar of tetrahedra: what a substep costs, its force kernel beside what memory allows, and the same
   bar under Bullet where configure finds that.

   The bar rings, damped so that its highest mode loses about its critical damping. Processor time of one
   rank. The bandwidth is that of a copy of 256 MB, which no cache holds, in the same run: bytes that the
   kernel must move (batches read, their F written, positions read, forces read and written) over it are the
   bound. */
#include "scratch.h"

#include "solid/deformable/point_matrix.h"
#include "solid/force/element_set.h"

#include <time.h>
#include <unistd.h>

static PetscReal processor_time(void)
{
  struct timespec now;

  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (PetscReal)now.tv_sec + 1e-9 * (PetscReal)now.tv_nsec;
}

typedef struct {
  SolidConfig         config;
  SolidMaterialConfig material;
  SolidMeshConfig     mesh;
  Solid               solid;
} Bar;

/* 4 a x a x a cubes. */
static PetscErrorCode BarCreate(PetscInt across, PetscReal damping, Bar *bar)
{
  const PetscReal edge = 0.4 / (PetscReal)across;
  char            message[512];

  PetscFunctionBegin;
  *bar = (Bar){
      .material = {.name = "rubber", .young = 1e5, .poisson = 0.4, .density = 1000., .damping = damping},
      .mesh = {.name = "bar",
               .material = "rubber",
               .mesh = {.edge = edge, .order = 1},
               .spin = vector3(1., 2., 3.)}};
  PetscCall(ShapeCreateBox(vector3(0., 0., 0.), vector3(1.6, 0.4, 0.4), &bar->mesh.mesh.shape));
  bar->config = (SolidConfig){.cfl = 0.5,
                              .iterations = 6,
                              .tolerance = 1e-4,
                              .material_count = 1,
                              .mesh_count = 1,
                              .materials = &bar->material,
                              .meshes = &bar->mesh};
  PetscCall(SolidCreate(PETSC_COMM_SELF, &bar->config, &bar->solid, message, sizeof(message)));
  PetscCheck(bar->solid, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s", message);
  for (PetscInt p = 0; p < bar->solid->points->count; p++)
    bar->solid->points->velocity[p].at[X] += 3. * PetscSinReal(4. * bar->solid->points->rest[p].at[X]);
  PetscFunctionReturn(0);
}

static PetscErrorCode BarDestroy(Bar *bar)
{
  PetscFunctionBegin;
  PetscCall(SolidDestroy(&bar->solid));
  PetscCall(ShapeDestroy(&bar->mesh.mesh.shape));
  PetscFunctionReturn(0);
}

/* Bytes per second of reading and writing, of arrays of so many bytes together. */
static PetscErrorCode MeasureCopy(size_t bytes, PetscReal *bandwidth)
{
  const size_t count = bytes / sizeof(PetscReal) / 2;
  PetscReal   *from, *to, best = PETSC_MAX_REAL;

  PetscFunctionBegin;
  PetscCall(PetscCalloc2(count, &from, count, &to));
  for (PetscInt k = 0; k < 20; k++) {
    const PetscReal began = processor_time();

    for (size_t i = 0; i < count; i++)
      to[i] = from[i] + (PetscReal)k;
    from[k] = to[count - 1 - (size_t)k];
    best = PetscMin(best, processor_time() - began);
  }
  *bandwidth = (PetscReal)(2 * count * sizeof(PetscReal)) / best;
  PetscCall(PetscFree2(from, to));
  PetscFunctionReturn(0);
}

typedef struct {
  PetscReal substep, forces, drag, bound, iterations;
} Cost; /* ns per tetrahedron */

static PetscErrorCode Measure(PetscInt across, PetscReal relative_damping, PetscInt *tetrahedra, Cost *cost)
{
  enum { SUBSTEPS = 40, ROUNDS = 10 };
  Bar       bar;
  Points   *points;
  PetscReal dt, began, bandwidth = 1., best[2] = {PETSC_MAX_REAL, PETSC_MAX_REAL};
  PetscReal bytes;

  PetscFunctionBegin;
  PetscCall(BarCreate(across, 0., &bar));
  dt = solid_longest_substep(bar.solid);
  PetscCall(BarDestroy(&bar));
  PetscCall(BarCreate(across, relative_damping * dt, &bar));
  points = bar.solid->points;
  *tetrahedra = solid_mesh_elements(bar.solid, 0);
  PetscCall(SolidStep(bar.solid, 0., 8. * dt));
  began = processor_time();
  PetscCall(SolidStep(bar.solid, 0., SUBSTEPS * dt));
  cost->substep = (processor_time() - began) / (PetscReal)bar.solid->report.substeps;
  cost->iterations = (PetscReal)bar.solid->report.damping_iterations / (PetscReal)bar.solid->report.substeps;
  for (PetscInt k = 0; k < ROUNDS; k++) {
    const Force *force = &points->meshes[0].forces[0];

    began = processor_time();
    force->kind->add_elastic(force->data, points->position, points->forces.points);
    best[0] = PetscMin(best[0], processor_time() - began);
    began = processor_time();
    force->kind->add_damping(force->data, points->velocity, points->forces.points);
    best[1] = PetscMin(best[1], processor_time() - began);
  }
  cost->forces = best[0];
  cost->drag = best[1];
  /* F is fetched before it is written */
  bytes = (PetscReal)*tetrahedra * (sizeof(TetrahedronBatch) + 9. * sizeof(Lanes)) / LANES +
          (PetscReal)points->count * 3. * sizeof(Vector3);
  PetscCall(MeasureCopy(256000000, &bandwidth));
  cost->bound = bytes / bandwidth;
  PetscCall(BarDestroy(&bar));
  PetscFunctionReturn(0);
}

/* The matrix of an implicit step, where the bar is strained: seconds by its exact and its definite
 * differential. */
static PetscErrorCode MeasureAssembly(PetscInt across, PetscInt *tetrahedra, PetscReal cost[2])
{
  enum { ROUNDS = 5 };
  Bar         bar;
  PointMatrix matrix;
  PetscReal   dt;

  PetscFunctionBegin;
  PetscCall(BarCreate(across, 0., &bar));
  dt = solid_longest_substep(bar.solid);
  *tetrahedra = solid_mesh_elements(bar.solid, 0);
  PetscCall(SolidStep(bar.solid, 0., 40. * dt));
  points_find_forces(bar.solid);
  PetscCall(PointMatrixCreate(bar.solid, MATRIX_OF_CARRYING, &matrix));
  for (PetscInt k = 0; k < 2 * ROUNDS; k++) {
    const MatrixWeights weights = {
        .mass = 1., .stiffness = dt * dt, .part = k % 2 ? DIFFERENTIAL_DEFINITE : DIFFERENTIAL_EXACT};
    const PetscReal began = processor_time();

    PetscCall(PointMatrixSet(matrix, bar.solid, &weights));
    cost[k % 2] = PetscMin(k < 2 ? PETSC_MAX_REAL : cost[k % 2], processor_time() - began);
  }
  PetscCall(PointMatrixDestroy(&matrix));
  PetscCall(BarDestroy(&bar));
  PetscFunctionReturn(0);
}

static PetscErrorCode PrintAssembly(void)
{
  const PetscInt across[] = {5, 14};

  PetscFunctionBegin;
  for (size_t k = 0; k < sizeof(across) / sizeof(across[0]); k++) {
    PetscInt  tetrahedra = 0;
    PetscReal cost[2] = {0};

    PetscCall(MeasureAssembly(across[k], &tetrahedra, cost));
    PetscCall(PetscPrintf(
        PETSC_COMM_WORLD,
        "%7" PetscInt_FMT " tetrahedra, matrix of an implicit step: %.3f us per tetrahedron with the "
        "exact, %.3f with the definite differential (0.4 asked)\n",
        tetrahedra, 1e6 * (double)cost[0] / (double)tetrahedra, 1e6 * (double)cost[1] / (double)tetrahedra));
  }
  PetscFunctionReturn(0);
}

/* Two sheets of which one lies on the other, 150 x 150 squares together: seconds per triangle and substep,
   without and with contact. */
static PetscErrorCode MeasureCloth(PetscReal thickness, PetscInt *triangles, PetscReal *cost)
{
  enum { SUBSTEPS = 20 };
  const PetscReal     edge = 1. / 150., gap = 0.2 * edge;
  SolidMaterialConfig material = {
      .name = "silk", .young = 2e4, .poisson = 0.3, .density = 200., .damping = 1e-4, .bending = 1e-6};
  SolidMeshConfig meshes[2];
  SolidConfig     config = {.cfl = 0.5,
                            .iterations = 6,
                            .tolerance = 1e-4,
                            .gravity = vector3(0., 0., -9.81),
                            .material_count = 1,
                            .mesh_count = 2,
                            .materials = &material,
                            .meshes = meshes};
  char            message[512];
  Solid           solid;
  PetscReal       dt, began;

  PetscFunctionBegin;
  for (PetscInt m = 0; m < 2; m++)
    meshes[m] = (SolidMeshConfig){.name = m ? "upper" : "lower",
                                  .material = "silk",
                                  .mesh = {.use = MESH_USE_CLOTH,
                                           .edge = edge,
                                           .order = 1,
                                           .sheet = {.origin = vector3(m * 0.3 * edge, 0., m * gap),
                                                     .along = vector3(1., 0., 0.),
                                                     .across = vector3(0., 0.5, 0.)}},
                                  .velocity = vector3(0., 0., m ? -0.5 : 0.5),
                                  .friction = 0.3,
                                  .thickness = 1e-3,
                                  .self_contact = PETSC_TRUE,
                                  .contact_thickness = thickness * gap};
  PetscCall(SolidCreate(PETSC_COMM_SELF, &config, &solid, message, sizeof(message)));
  PetscCheck(solid, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s", message);
  dt = solid_longest_substep(solid);
  PetscCall(SolidStep(solid, 0., 4. * dt));
  began = processor_time();
  PetscCall(SolidStep(solid, 4. * dt, SUBSTEPS * dt));
  *triangles = solid_mesh_elements(solid, 0) + solid_mesh_elements(solid, 1);
  *cost = (processor_time() - began) / (PetscReal)(solid->report.substeps * *triangles);
  if (thickness > 0.)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%7" PetscInt_FMT " pairs touch\n", solid->report.mesh_pairs));
  PetscCall(SolidDestroy(&solid));
  PetscFunctionReturn(0);
}

static PetscErrorCode PrintCloth(void)
{
  PetscInt  triangles = 0;
  PetscReal cost[2] = {0};

  PetscFunctionBegin;
  for (PetscInt k = 0; k < 2; k++)
    PetscCall(MeasureCloth((PetscReal)k, &triangles, &cost[k]));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "%7" PetscInt_FMT
                        " triangles of cloth on cloth: %.2f us per triangle and substep, %.2f "
                        "without contact (3 asked)\n",
                        triangles, 1e6 * (double)cost[1], 1e6 * (double)cost[0]));
  PetscFunctionReturn(0);
}

/* What bullet_bar reads. */
static PetscErrorCode WriteBar(const Bar *bar, PetscReal dt, PetscInt steps, const char path[])
{
  const Points   *points = bar->solid->points;
  const Mesh      mesh = points->meshes[0].mesh;
  const PetscReal young = bar->material.young, poisson = bar->material.poisson;
  const PetscReal shear = young / (2. * (1. + poisson)),
                  other = young * poisson / ((1. + poisson) * (1. - 2. * poisson));
  FILE *file = fopen(path, "w");

  PetscFunctionBegin;
  PetscCheck(file, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "Cannot write %s", path);
  fprintf(file, "%d %d %.17g %.17g %.17g %.17g %d\n", (int)points->count, (int)mesh->element_count,
          4. / 3. * shear, other + 5. / 6. * shear, bar->material.damping, dt, (int)steps);
  for (PetscInt p = 0; p < points->count; p++) {
    const PetscReal *at = points->position[p].at, *v = points->velocity[p].at;

    fprintf(file, "%.17g %.17g %.17g %.17g %.17g %.17g %.17g\n", points->mass[p], at[X], at[Y], at[Z], v[X],
            v[Y], v[Z]);
  }
  for (PetscInt e = 0; e < mesh->element_count; e++) {
    const PetscInt *corner = &mesh->elements[4 * e];

    fprintf(file, "%d %d %d %d\n", (int)corner[0], (int)corner[1], (int)corner[2], (int)corner[3]);
  }
  PetscCheck(fclose(file) == 0, PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE, "Cannot write %s", path);
  PetscFunctionReturn(0);
}

static PetscErrorCode RunBullet(const char program[], const Bar *bar, PetscReal dt, PetscInt steps,
                                PetscReal *seconds, PetscReal *energy)
{
  char  command[2 * PETSC_MAX_PATH_LEN];
  FILE *output;
  int   found;

  PetscFunctionBegin;
  (void)scratch_make(NULL);
  PetscCall(WriteBar(bar, dt, steps, scratch_path("bar")));
  PetscCall(PetscSNPrintf(command, sizeof(command), "'%s' '%s'", program, scratch_path("bar")));
  output = popen(command, "r");
  found = output ? fscanf(output, "%lf %lf", seconds, energy) : 0;
  PetscCheck(output && pclose(output) == 0 && found == 2, PETSC_COMM_SELF, PETSC_ERR_LIB, "%s failed",
             command);
  (void)scratch_remove(NULL);
  PetscFunctionReturn(0);
}

/* The damped bar, the same steps under both, on one rank. */
static PetscErrorCode CompareWithBullet(PetscInt across)
{
  enum { SUBSTEPS = 40 };
  const char *build = getenv("MILLRACE_BUILD");
  char        program[PETSC_MAX_PATH_LEN];
  Bar         bar;
  PetscMPIInt ranks;
  PetscReal   dt, began, mine, bullet = 0., energy = 0., count;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
  if (ranks > 1)
    PetscFunctionReturn(0);
  PetscCall(PetscSNPrintf(program, sizeof(program), "%s/tests/bench/bullet_bar", build ? build : "."));
  if (access(program, X_OK) != 0) {
    PetscCall(
        PetscPrintf(PETSC_COMM_WORLD, "no comparison: configure found no Bullet (Debian: libbullet-dev)\n"));
    PetscFunctionReturn(0);
  }
  PetscCall(BarCreate(across, 0., &bar));
  dt = solid_longest_substep(bar.solid);
  PetscCall(BarDestroy(&bar));
  PetscCall(BarCreate(across, 0.5 * dt, &bar));
  count = (PetscReal)solid_mesh_elements(bar.solid, 0);
  PetscCall(RunBullet(program, &bar, dt, SUBSTEPS, &bullet, &energy));
  began = processor_time();
  PetscCall(SolidStep(bar.solid, 0., SUBSTEPS * dt));
  mine = (processor_time() - began) / (PetscReal)bar.solid->report.substeps;
  PetscCall(
      PetscPrintf(PETSC_COMM_WORLD,
                  "%7.0f tetrahedra: %.3f us per tetrahedron and substep, under Bullet %.2f: %.3f of its "
                  "time; kinetic energy %.4f J and %.4f J\n",
                  (double)count, 1e6 * (double)(mine / count), 1e6 * (double)(bullet / count),
                  (double)(mine / bullet), (double)solid_report(bar.solid).kinetic_energy, (double)energy));
  PetscCall(BarDestroy(&bar));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  const PetscInt across[] = {5, 9, 14, 27};

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PrintAssembly());
  PetscCall(PrintCloth());
  PetscCall(CompareWithBullet(8));
  for (size_t k = 0; k < 2 * sizeof(across) / sizeof(across[0]); k++) {
    const PetscReal damping = k % 2 ? 0.5 : 0.;
    PetscInt        tetrahedra = 0;
    Cost            cost = {0};

    PetscCall(Measure(across[k / 2], damping, &tetrahedra, &cost));
    PetscCall(PetscPrintf(
        PETSC_COMM_WORLD,
        "%7" PetscInt_FMT " tetrahedra, damping %g of the step: %6.1f ns per tetrahedron and "
        "substep, %4.1f iterations; forces %5.1f, damping %5.1f, bound %5.1f ns: %.2f times\n",
        tetrahedra, (double)damping, 1e9 * (double)cost.substep / (double)tetrahedra, (double)cost.iterations,
        1e9 * (double)cost.forces / (double)tetrahedra, 1e9 * (double)cost.drag / (double)tetrahedra,
        1e9 * (double)cost.bound / (double)tetrahedra, (double)(cost.forces / cost.bound)));
  }
  PetscCall(PetscFinalize());
  return 0;
}
