/* Cloth in a fluid: nothing passes through it, what flows into a chamber behind it is what it gives way, and
   it bulges as a membrane does. */
#include "scene_run.h"
#include "harness.h"

#include "simulation/coupled_impl.h"
#include "solid/deformable/points.h"

/* A box that a sheet divides at half its height, held along some of its edges; gas flows in from below for a
   second, and out at the top. */
typedef struct {
  const char *solver, *elasticity;
  PetscReal   deep, density, end; /* of the box, of the sheet, and until which y the side is held */
} Chambers;

static void open_chambers(SceneRun *flow, const Chambers *chambers)
{
  assert_success(SceneRunCreate(
      PETSC_COMM_WORLD, flow,
      "grid: {size: [1, %g, 1], resolution: 12}\n"
      "run: {end_time: 10, frame_interval: 1}\n"
      "fluid:\n"
      "  density: 1\n"
      "  scalars: [{name: smoke, initial: \"step(z - 0.52)\"}]\n"
      "  sides:\n"
      "    all: slip\n"
      "    z_low: {type: inflow, velocity: [0, 0, \"(1 - cos(2*pi*min(t, 1)))/15\"]}\n"
      "    z_high: open\n"
      "coupling: {tolerance: 1e-10, solver: %s}\n"
      "solids:\n"
      "  elasticity: %s\n"
      "  materials: [{name: skin, young: 1e5, poisson: 0, density: %g, damping: 0.02}]\n"
      "  meshes:\n"
      "    - name: sheet\n"
      "      type: cloth\n"
      "      sheet: {origin: [0, 0, 0.52], along: [1, 0, 0], across: [0, %g, 0]}\n"
      "      edge: 0.083\n"
      "      thickness: 0.001\n"
      "      material: skin\n"
      "      held:\n"
      "        - {inside: {box: {low: [-0.01, -1, 0], high: [0.01, 2, 1]}}}\n"
      "        - {inside: {box: {low: [0.99, -1, 0], high: [1.01, 2, 1]}}}\n"
      "        - {inside: {box: {low: [-1, -0.01, 0], high: [2, %g, 1]}}}\n"
      "        - {inside: {box: {low: [-1, %g, 0], high: [2, 2, 1]}}}\n",
      (double)chambers->deep, chambers->solver, chambers->elasticity, (double)chambers->density,
      (double)chambers->deep, (double)chambers->end, (double)(chambers->deep - chambers->end)));
}

/* The volume between the sheet and where it began. */
static PetscReal bulge_of(SceneRun *flow)
{
  const Points         *points = simulation_solid(flow->simulation)->points;
  const DeformableMesh *mesh = &points->meshes[0];
  PetscReal             sum = 0.;

  for (PetscInt t = 0; t < mesh->face_count; t++) {
    Vector3 corner[3], area;

    for (int c = 0; c < 3; c++)
      corner[c] = points->position[mesh->first + mesh->faces[t][c]];
    area = vector3_cross(vector3_subtract(corner[1], corner[0]), vector3_subtract(corner[2], corner[0]));
    sum += 0.5 * area.at[Z] * ((corner[0].at[Z] + corner[1].at[Z] + corner[2].at[Z]) / 3. - 0.52);
  }
  return sum;
}

static PetscReal time_of(SceneRun *flow)
{
  return simulation_time(flow->simulation);
}

/* Whether a cell is above the sheet: that of its nearest vertex, across. */
static PetscBool is_above(SceneRun *flow, Vector3 place)
{
  const Points         *points = simulation_solid(flow->simulation)->points;
  const DeformableMesh *mesh = &points->meshes[0];
  PetscReal             winding = 0.;

  for (PetscInt t = 0; t < mesh->face_count; t++) { /* the solid angle of it, of which above it has half */
    Vector3   r[3];
    PetscReal size[3], below;

    for (int c = 0; c < 3; c++) {
      r[c] = vector3_subtract(points->position[mesh->first + mesh->faces[t][c]], place);
      size[c] = vector3_norm(r[c]);
    }
    below = size[0] * size[1] * size[2] + vector3_dot(r[0], r[1]) * size[2] +
            vector3_dot(r[1], r[2]) * size[0] + vector3_dot(r[2], r[0]) * size[1];
    winding += 2. * atan2(vector3_dot(r[0], vector3_cross(r[1], r[2])), below);
  }
  return winding < 0. ? PETSC_TRUE : PETSC_FALSE;
}

/* Smoke was above, nothing below: the most that has gone astray. */
static PetscReal astray(SceneRun *flow)
{
  PetscReal  most = 0.;
  PetscReal *smoke;
  Vec       *scalars;

  if (flow->fluid) {
    const GridBox *box = grid_box(flow->grid);

    PetscCallAbort(PETSC_COMM_SELF, FluidGetScalars(flow->fluid, &scalars));
    PetscCallAbort(PETSC_COMM_SELF, VecGetArray(scalars[0], &smoke));
    FOR_CELLS(box, i, j, k) {
      const PetscBool above = is_above(flow, grid_cell_centre(flow->grid, i, j, k));

      most = PetscMax(most, PetscAbsReal(smoke[box_index(box, i, j, k)] - (above ? 1. : 0.)));
    }
    PetscCallAbort(PETSC_COMM_SELF, VecRestoreArray(scalars[0], &smoke));
  }
  (void)MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPIU_REAL, MPI_MAX, PETSC_COMM_WORLD);
  return most;
}

/* The side is held, so that all that moves is between its edges. What flows in is taken in the middle of the
   step. */
static void a_sheet_gives_way_to_what_flows_in(void **state)
{
  const Chambers  chambers = {"schur", "explicit", 1., 1000., 0.01};
  const PetscReal dt = 0.004;
  PetscReal       worst = 0., most = 0., in = 0., smoke;
  PetscInt        iterations = 0;
  SceneRun        flow;

  (void)state;
  open_chambers(&flow, &chambers);
  for (PetscInt n = 0; n < 100; n++) {
    const PetscReal before = bulge_of(&flow);

    in = dt * (1. - PetscCosReal(2. * PETSC_PI * (time_of(&flow) + 0.5 * dt))) / 15.;
    assert_success(SceneRunStep(&flow, 1, dt));
    worst = PetscMax(worst, PetscAbsReal(bulge_of(&flow) - before - in));
    most = PetscMax(most, solid_report(simulation_solid(flow.simulation)).chamber_correction / in);
    iterations = PetscMax(iterations, PetscMax(flow.simulation->coupled->half_iterations,
                                               flow.simulation->coupled->iterations));
  }
  smoke = astray(&flow);
  note("bulge %.8g m^3, in a step within %.2g m^3 of what flows in, %.3g m^3; corrected by up to %.2g of "
       "that; "
       "%d iterations; %.3g of smoke gone astray",
       (double)bulge_of(&flow), (double)worst, (double)in, (double)most, (int)iterations, (double)smoke);
  assert_true(bulge_of(&flow) > 0.02);
  assert_near(worst, 0., 1e-13); /* of half a cubic metre */
  assert_true(most < 0.01);
  assert_near(smoke, 0., 1e-12);
  assert_success(SceneRunDestroy(&flow));
}

TEST_MAIN(cmocka_unit_test(a_sheet_gives_way_to_what_flows_in))
