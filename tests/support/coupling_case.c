#include "coupling_case.h"

#include "coupling/coupling_impl.h"
#include "harness.h"
#include "solids.h"

static PetscReal weight_of(const CouplingSetup *setup, PetscInt d, PetscInt place)
{
  const PetscInt last = setup->dimension - 1;

  if (setup->periodic[d] || (place > 0 && place < setup->cells[d]))
    return 1.;
  return setup->is_open && d == last && place > 0 ? 2. : 0.;
}

typedef PetscReal (*FaceVisitor)(CouplingCase *coupled, PetscInt d, const PetscInt at[DIM], PetscReal value,
                                 void *context);

static void visit_faces(CouplingCase *coupled, Vec faces[DIM], FaceVisitor visit, void *context)
{
  const GridBox *box;
  PetscReal     *values[DIM];

  if (!coupled->grid)
    return;
  box = grid_box(coupled->grid);
  PetscCallAbort(PETSC_COMM_SELF, MacGridGetFaces(coupled->grid, faces, values));
  for (PetscInt d = 0; d < box->dimension; d++) {
    const GridRange owned = grid_faces(coupled->grid, d);

    FOR_PLACES(&owned, at) {
      const PetscInt c = box_index(box, at[X], at[Y], at[Z]);

      values[d][c] = visit(coupled, d, at, values[d][c], context);
    }
  }
  PetscCallAbort(PETSC_COMM_SELF, MacGridRestoreFaces(coupled->grid, faces, values));
}

static PetscReal set_weight(CouplingCase *coupled, PetscInt d, const PetscInt at[DIM], PetscReal value,
                            void *context)
{
  (void)value;
  (void)context;
  return weight_of(&coupled->setup, d, at[d]);
}

CouplingCase *coupling_case_new(MPI_Comm comm, const CouplingSetup *setup)
{
  const TeamConfig     team = {.solid_ranks = -1};
  const CouplingConfig config = {.solver = setup->solver,
                                 .faces = setup->faces,
                                 .mass = setup->mass,
                                 .tolerance = setup->tolerance,
                                 .iterations = 500,
                                 .rounds = 1};
  GridConfig           grid = {.dimension = setup->dimension, .resolution = setup->cells[X]};
  CouplingCase        *coupled;

  PetscCallAbort(PETSC_COMM_SELF, PetscNew(&coupled));
  coupled->setup = *setup;
  for (PetscInt d = 0; d < DIM; d++) {
    grid.periodic[d] = setup->periodic[d];
    grid.size.at[d] = setup->length / setup->cells[X] * setup->cells[d];
  }
  PetscCallAbort(PETSC_COMM_SELF, TeamCreate(comm, &team, WORK_BOTH, &coupled->team));
  if (team_has_fluid(coupled->team)) {
    PetscCallAbort(PETSC_COMM_SELF, MacGridCreate(team_fluid(coupled->team), &grid, &coupled->grid));
    PetscCallAbort(PETSC_COMM_SELF, MacGridCreateFaceField(coupled->grid, coupled->weights));
    PetscCallAbort(PETSC_COMM_SELF, MacGridCreateFaceField(coupled->grid, coupled->velocity));
    PetscCallAbort(PETSC_COMM_SELF, MacGridCreateField(coupled->grid, &coupled->impulse));
    visit_faces(coupled, coupled->weights, set_weight, NULL);
  }
  PetscCallAbort(PETSC_COMM_SELF, CouplingCreate(coupled->team, coupled->grid, &config, &coupled->coupling));
  return coupled;
}

void coupling_case_free(CouplingCase *coupled)
{
  PetscCallAbort(PETSC_COMM_SELF, CouplingDestroy(&coupled->coupling));
  for (PetscInt b = 0; b < coupled->count; b++)
    PetscCallAbort(PETSC_COMM_SELF, SurfaceDestroy(&coupled->bodies[b].surface));
  if (coupled->grid) {
    PetscCallAbort(PETSC_COMM_SELF, MacGridDestroyFaceField(coupled->weights));
    PetscCallAbort(PETSC_COMM_SELF, MacGridDestroyFaceField(coupled->velocity));
    PetscCallAbort(PETSC_COMM_SELF, VecDestroy(&coupled->impulse));
    PetscCallAbort(PETSC_COMM_SELF, MacGridDestroy(&coupled->grid));
  }
  PetscCallAbort(PETSC_COMM_SELF, TeamDestroy(&coupled->team));
  PetscCallAbort(PETSC_COMM_SELF, PetscFree(coupled));
}

CoupledBody *coupling_case_add(CouplingCase *coupled, Surface surface, PetscReal thickness, PetscReal density,
                               Vector3 position, Vector3 rotation)
{
  const Moments moments =
      thickness > 0. ? surface_shell_moments(surface, thickness) : surface_moments(surface);
  CoupledBody *body = &coupled->bodies[coupled->count++];
  Matrix3      own, turn, back;

  *body = (CoupledBody){.surface = surface,
                        .thickness = thickness,
                        .position = position,
                        .rotation = quaternion_from_rotation(rotation),
                        .is_free = density > 0. ? PETSC_TRUE : PETSC_FALSE,
                        .mass = density * moments.volume};
  for (PetscInt i = 0; i < DIM; i++)
    for (PetscInt j = 0; j < DIM; j++)
      own.at[i][j] = density * moments.inertia[i][j];
  turn = matrix3_from_quaternion(body->rotation);
  back = matrix3_transpose(&turn);
  own = matrix3_multiply(&turn, &own);
  body->inertia = matrix3_multiply(&own, &back);
  return body;
}

CoupledBody *coupling_case_add_ball(CouplingCase *coupled, PetscReal radius, PetscReal density,
                                    Vector3 position)
{
  const PetscReal h = coupled->setup.length / coupled->setup.cells[X];
  const PetscInt  sides = PetscMax(16, 4 * (PetscInt)(PETSC_PI * radius / h / 2.));
  Surface         surface =
      coupled->setup.dimension == 2 ? make_prism(radius, 0.5, sides) : make_ball(radius, sides / 2, sides);

  return coupling_case_add(coupled, surface, 0., density, position, vector3(0, 0, 0));
}

void coupling_case_start(CouplingCase *coupled)
{
  const FluidSystem fluid = {.density = coupled->setup.density, .weights = coupled->weights};

  PetscCallAbort(PETSC_COMM_SELF, CouplingPlace(coupled->coupling, coupled->count, coupled->bodies));
  PetscCallAbort(PETSC_COMM_SELF, CouplingSetFluid(coupled->coupling, &fluid));
}

static PetscReal set_velocity(CouplingCase *coupled, PetscInt d, const PetscInt at[DIM], PetscReal value,
                              void *context)
{
  const FaceFunction *function = context;

  (void)value;
  if (weight_of(&coupled->setup, d, at[d]) == 0.)
    return 0.;
  return (*function)(d, grid_face_centre(coupled->grid, d, at[X], at[Y], at[Z]));
}

void coupling_case_fill(CouplingCase *coupled, FaceFunction function)
{
  visit_faces(coupled, coupled->velocity, set_velocity, &function);
}

void coupling_case_fill_impulse(CouplingCase *coupled, CellFunction function)
{
  const GridBox *box;
  PetscReal     *values;

  if (!coupled->grid)
    return;
  box = grid_box(coupled->grid);
  PetscCallAbort(PETSC_COMM_SELF, VecGetArray(coupled->impulse, &values));
  FOR_CELLS(box, i, j, k)
    values[box_index(box, i, j, k)] = function(grid_cell_centre(coupled->grid, i, j, k));
  PetscCallAbort(PETSC_COMM_SELF, VecRestoreArray(coupled->impulse, &values));
}

static PetscReal add_velocity(CouplingCase *coupled, PetscInt d, const PetscInt at[DIM], PetscReal value,
                              void *context)
{
  const Vector3 *by = context;

  return weight_of(&coupled->setup, d, at[d]) == 0. ? value : value + by->at[d];
}

void coupling_case_accelerate(CouplingCase *coupled, Vector3 by)
{
  visit_faces(coupled, coupled->velocity, add_velocity, &by);
  for (PetscInt b = 0; b < coupled->count; b++)
    for (PetscInt d = 0; d < DIM && coupled->bodies[b].is_free; d++)
      coupled->twists[6 * b + d] += by.at[d];
}

void coupling_case_solve(CouplingCase *coupled)
{
  PetscCallAbort(PETSC_COMM_SELF, CouplingSolve(coupled->coupling, coupled->velocity, coupled->impulse,
                                                coupled->twists, &coupled->report));
  if (coupled->report.reason < 0 && harness_rank() == 0)
    fprintf(stderr, "# %s\n", coupled->report.message);
  assert_on_all_ranks(coupled->report.reason > 0);
}

static PetscReal look_at_speed(CouplingCase *coupled, PetscInt d, const PetscInt at[DIM], PetscReal value,
                               void *context)
{
  PetscReal *largest = context;

  (void)coupled;
  (void)d;
  (void)at;
  *largest = PetscMax(*largest, PetscAbsReal(value));
  return value;
}

PetscReal coupling_case_largest_speed(CouplingCase *coupled)
{
  PetscReal largest = 0.;

  visit_faces(coupled, coupled->velocity, look_at_speed, &largest);
  (void)MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPIU_REAL, MPIU_MAX, team_world(coupled->team));
  return largest;
}

/* What passes through a face: fluid where it is open, and bodies. */
static void set_passing(CouplingCase *coupled, PetscReal *passing[DIM])
{
  const Coupling coupling = coupled->coupling;

  for (PetscInt m = 0; m < coupling->faces.mixed_count; m++) {
    const MixedFace *mixed = &coupling->faces.mixed[m];
    PetscReal       *value = &passing[mixed->direction][mixed->face];

    *value *= mixed->open;
    for (PetscInt s = mixed->first; s < mixed->first + mixed->count; s++) {
      const SolidRow row =
          entry_row(mixed->direction, &coupling->faces.entries[s], 6 * coupling->faces.entries[s].body);

      *value += solid_row_velocity(&row, coupled->twists);
    }
  }
}

static PetscReal largest_in_fluid(CouplingCase *coupled, Vec field)
{
  const GridBox  *box = grid_box(coupled->grid);
  const PetscInt *labels = coupled->coupling->system.labels;
  PetscReal       largest = 0., *values;
  PetscInt        number = 0;

  PetscCallAbort(PETSC_COMM_SELF, VecGetArray(field, &values));
  FOR_CELLS(box, i, j, k)
    if (labels[number++] >= 0)
      largest = PetscMax(largest, PetscAbsReal(values[box_index(box, i, j, k)]));
  PetscCallAbort(PETSC_COMM_SELF, VecRestoreArray(field, &values));
  return largest;
}

PetscReal coupling_case_largest_divergence(CouplingCase *coupled)
{
  PetscReal largest = 0., *values[DIM];
  Vec       divergence, passing[DIM];

  if (coupled->grid) {
    PetscCallAbort(PETSC_COMM_SELF, MacGridCreateField(coupled->grid, &divergence));
    PetscCallAbort(PETSC_COMM_SELF, MacGridCreateFaceField(coupled->grid, passing));
    for (PetscInt d = 0; d < coupled->setup.dimension; d++)
      PetscCallAbort(PETSC_COMM_SELF, VecCopy(coupled->velocity[d], passing[d]));
    PetscCallAbort(PETSC_COMM_SELF, MacGridGetFaces(coupled->grid, passing, values));
    set_passing(coupled, values);
    PetscCallAbort(PETSC_COMM_SELF, MacGridRestoreFaces(coupled->grid, passing, values));
    PetscCallAbort(PETSC_COMM_SELF, MacGridExchangeFaces(coupled->grid, passing));
    PetscCallAbort(PETSC_COMM_SELF, MacGridDivergence(coupled->grid, passing, divergence));
    largest = largest_in_fluid(coupled, divergence);
    PetscCallAbort(PETSC_COMM_SELF, MacGridDestroyFaceField(passing));
    PetscCallAbort(PETSC_COMM_SELF, VecDestroy(&divergence));
  }
  (void)MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPIU_REAL, MPIU_MAX, team_world(coupled->team));
  return largest;
}
