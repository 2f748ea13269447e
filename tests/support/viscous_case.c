#include "viscous_case.h"

#include "fluid/stress_impl.h"
#include "harness.h"

static PetscReal viscosity_of(const void *context, Vector3 point, PetscInt direction)
{
  (void)point;
  (void)direction;
  return ((const ViscousCase *)context)->viscosity;
}

static PetscReal density_of(const void *context, Vector3 point, PetscInt direction)
{
  (void)point;
  (void)direction;
  return ((const ViscousCase *)context)->coupled->setup.density;
}

ViscousCase *viscous_case_new(MPI_Comm comm, const CouplingSetup *setup, PetscReal viscosity)
{
  ViscousCase *tank;

  PetscCallAbort(PETSC_COMM_SELF, PetscNew(&tank));
  tank->coupled = coupling_case_new(comm, setup);
  tank->viscosity = viscosity;
  fluid_case_set_defaults(&tank->fluid_case, setup->dimension, setup->cells[X]);
  for (PetscInt d = 0; d < setup->dimension; d++) {
    tank->fluid_case.grid_config.size.at[d] = setup->length / setup->cells[X] * setup->cells[d];
    if (setup->periodic[d])
      fluid_case_make_periodic(&tank->fluid_case, d);
  }
  tank->fluid_case.functions =
      (FluidCaseFunctions){.context = tank, .density = density_of, .viscosity = viscosity_of};
  return tank;
}

void viscous_case_free(ViscousCase *tank)
{
  if (tank->coupled->grid)
    PetscCallAbort(PETSC_COMM_SELF, MacGridDestroyFaceField(tank->faces));
  PetscCallAbort(PETSC_COMM_SELF, FluidCaseDestroy(&tank->fluid_case));
  coupling_case_free(tank->coupled);
  PetscCallAbort(PETSC_COMM_SELF, PetscFree(tank));
}

void viscous_case_set_wall(ViscousCase *tank, PetscInt axis, PetscInt side, PetscInt direction,
                           const char formula[])
{
  PetscCallAbort(PETSC_COMM_SELF,
                 FluidCaseFormula(formula, &tank->fluid_case.config.sides[axis][side].velocity[direction]));
}

void viscous_case_start(ViscousCase *tank, FluidCaseFunction solids)
{
  const PetscBool slips[FLUID_CASE_OBSTACLES] = {PETSC_FALSE, PETSC_FALSE};

  coupling_case_start(tank->coupled);
  if (!tank->coupled->grid)
    return;
  PetscCallAbort(PETSC_COMM_SELF,
                 FluidCaseCreate(team_fluid(tank->coupled->team), solids, slips, &tank->fluid_case));
  PetscCallAbort(PETSC_COMM_SELF, MacGridCreateFaceField(tank->fluid_case.grid, tank->faces));
  PetscCallAbort(PETSC_COMM_SELF,
                 CouplingGetConstraints(tank->coupled->coupling, tank->coupled->twists, &tank->constraints));
  PetscCallAbort(PETSC_COMM_SELF, FluidSetConstraints(tank->fluid_case.fluid, tank->constraints, NULL));
}

/* Owned faces. */
typedef struct {
  PetscInt   d, at[DIM], index;
  PetscReal *value;
} FaceAt;
typedef void (*FaceVisit)(ViscousCase *tank, const FaceAt *face, void *context);

static void visit(ViscousCase *tank, FaceVisit visitor, void *context)
{
  const GridBox *box;
  PetscReal     *values[DIM];
  FaceAt         face;

  if (!tank->coupled->grid)
    return;
  box = grid_box(tank->fluid_case.grid);
  PetscCallAbort(PETSC_COMM_SELF, MacGridGetFaces(tank->fluid_case.grid, tank->faces, values));
  for (face.d = 0; face.d < box->dimension; face.d++) {
    const GridRange faces = grid_faces(tank->fluid_case.grid, face.d);

    for (face.at[Z] = box->start[Z]; face.at[Z] < faces.end[Z]; face.at[Z]++)
      for (face.at[Y] = box->start[Y]; face.at[Y] < faces.end[Y]; face.at[Y]++)
        for (face.at[X] = box->start[X]; face.at[X] < faces.end[X]; face.at[X]++) {
          face.index = box_index(box, face.at[X], face.at[Y], face.at[Z]);
          face.value = &values[face.d][face.index];
          visitor(tank, &face, context);
        }
  }
  PetscCallAbort(PETSC_COMM_SELF, MacGridRestoreFaces(tank->fluid_case.grid, tank->faces, values));
}

static Vector3 place_of(ViscousCase *tank, const FaceAt *face)
{
  return grid_face_centre(tank->fluid_case.grid, face->d, face->at[X], face->at[Y], face->at[Z]);
}

static PetscReal value_at(ViscousCase *tank, const FaceAt *face, FaceFunction function)
{
  return function(face->d, place_of(tank, face));
}

static void fill_face(ViscousCase *tank, const FaceAt *face, void *context)
{
  *face->value = value_at(tank, face, *(FaceFunction *)context);
}

void viscous_case_fill(ViscousCase *tank, FaceFunction function)
{
  visit(tank, fill_face, &function);
}

PetscInt viscous_case_diffuse(ViscousCase *tank, PetscReal dt)
{
  const MPI_Comm world = team_world(tank->coupled->team);
  const PetscInt count = 6 * tank->coupled->count;
  PetscInt       found[2] = {0, 1};

  if (tank->coupled->grid) {
    tank->fluid_case.fluid->report.diffusion_converged = PETSC_TRUE;
    PetscCallAbort(PETSC_COMM_SELF, FluidDiffuseMixture(tank->fluid_case.fluid, dt, 0., tank->faces));
    PetscCallAbort(PETSC_COMM_SELF, FluidGetConstraintImpulses(tank->fluid_case.fluid, tank->impulses));
    found[0] = fluid_report(tank->fluid_case.fluid)->viscosity_iterations;
    found[1] = fluid_report(tank->fluid_case.fluid)->diffusion_converged;
  }
  (void)MPI_Bcast(found, 2, MPIU_INT, 0, world);
  (void)MPI_Bcast(tank->impulses, (PetscMPIInt)count, MPIU_REAL, 0, world);
  (void)MPI_Bcast(tank->coupled->twists, (PetscMPIInt)count, MPIU_REAL, 0, world);
  assert_on_all_ranks(found[1]);
  return found[0];
}

static void add_momentum(ViscousCase *tank, const FaceAt *face, void *context)
{
  const PetscReal volume =
      PetscPowRealInt(grid_spacing(tank->fluid_case.grid), tank->coupled->setup.dimension);
  const Vector3    place = place_of(tank, face);
  const PetscInt   first = (face->d + 1) % DIM, second = (face->d + 2) % DIM;
  PetscReal       *sum = context, mass;
  const PetscReal *open;

  PetscCallAbort(PETSC_COMM_SELF, VecGetArrayRead(tank->constraints->open[face->d], &open));
  mass = tank->coupled->setup.density * volume * open[face->index];
  PetscCallAbort(PETSC_COMM_SELF, VecRestoreArrayRead(tank->constraints->open[face->d], &open));
  sum[face->d] += mass * *face->value;
  sum[DIM + first] += mass * *face->value * place.at[second];
  sum[DIM + second] -= mass * *face->value * place.at[first];
}

void viscous_case_get_momentum(ViscousCase *tank, PetscReal fluid[6], PetscReal bodies[6])
{
  for (PetscInt n = 0; n < 6; n++)
    fluid[n] = bodies[n] = 0.;
  visit(tank, add_momentum, fluid);
  (void)MPI_Allreduce(MPI_IN_PLACE, fluid, 6, MPIU_REAL, MPI_SUM, team_world(tank->coupled->team));
  for (PetscInt b = 0; b < tank->coupled->count; b++) {
    const CoupledBody *body = &tank->coupled->bodies[b];
    const PetscReal   *twist = &tank->coupled->twists[6 * b];
    Vector3            turning;

    for (PetscInt d = 0; d < DIM && body->is_free; d++) {
      bodies[d] += body->mass * twist[d];
      for (PetscInt e = 0; e < DIM; e++)
        bodies[DIM + d] += body->inertia.at[d][e] * twist[DIM + e];
    }
    turning = vector3_cross(body->position, vector3(twist[X], twist[Y], twist[Z]));
    for (PetscInt d = 0; d < DIM && body->is_free; d++)
      bodies[DIM + d] += body->mass * turning.at[d];
  }
}

typedef struct {
  FaceFunction      exact;
  PetscReal *const *other;
  PetscReal         largest;
} Compared;

static void compare(ViscousCase *tank, const FaceAt *face, void *context)
{
  Compared       *compared = context;
  const PetscReal value =
      compared->exact ? value_at(tank, face, compared->exact) : compared->other[face->d][face->index];

  compared->largest = PetscMax(compared->largest, PetscAbsReal(*face->value - value));
}

static PetscReal largest(ViscousCase *tank, Compared *compared)
{
  visit(tank, compare, compared);
  (void)MPI_Allreduce(MPI_IN_PLACE, &compared->largest, 1, MPIU_REAL, MPIU_MAX,
                      team_world(tank->coupled->team));
  return compared->largest;
}

PetscReal viscous_case_largest_error(ViscousCase *tank, FaceFunction exact)
{
  Compared compared = {.exact = exact};

  return largest(tank, &compared);
}

PetscReal viscous_case_largest_difference(ViscousCase *tank, ViscousCase *other)
{
  PetscReal *values[DIM] = {NULL};
  Compared   compared = {.other = values};
  PetscReal  result;

  if (other->coupled->grid)
    PetscCallAbort(PETSC_COMM_SELF, MacGridGetFaces(other->fluid_case.grid, other->faces, values));
  result = largest(tank, &compared);
  if (other->coupled->grid)
    PetscCallAbort(PETSC_COMM_SELF, MacGridRestoreFaces(other->fluid_case.grid, other->faces, values));
  return result;
}
