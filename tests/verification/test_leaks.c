/* Whole runs with thin shells: what is inside stays inside, however the shell is shaken. */
#include "flow.h"
#include "harness.h"

#include <millrace/body.h>

#define SHAKEN                                                                                               \
  "motion: {pivot: [0.4, 0.5, 0], keyframes: [{time: 0}, "                                                   \
  "{time: 0.8, translation: [0.2, 0, 0], rotation: [0, 0, 1]}, "                                             \
  "{time: 1.6, translation: [0, 0.1, 0], rotation: [0, 0, -1]}, "                                            \
  "{time: 2.4, translation: [0.2, -0.1, 0], rotation: [0, 0, 1]}, "                                          \
  "{time: 3.2, translation: [0, 0, 0], rotation: [0, 0, 2]}, "                                               \
  "{time: 4.2, translation: [0.15, 0, 0]}, {time: 10, translation: [0.1, 0, 0]}]}"
#define BALL                                                                                                 \
  "solids: {walls: false, bodies: [{name: shell, type: kinematic, thickness: 0.01, shape: {cylinder: "       \
  "{from: [0.4, 0.5, -0.5], to: [0.4, 0.5, 0.5], radius: 0.25}}, " SHAKEN "}]}\n"
#define BOX                                                                                                  \
  "grid: {size: [1, 1, 1], dimension: 2, resolution: 32}\n"                                                  \
  "run: {end_time: 10, frame_interval: 1}\n"                                                                 \
  "coupling: {solver: schur}\n"

static const PetscReal radius = 0.25;

/* Extremes of a cell field inside and outside of the circle about the shell's center; cells that the circle
   cuts count for neither. */
typedef struct {
  PetscReal inside[2], outside[2]; /* lowest and highest */
} Extremes;

static PetscErrorCode FindExtremes(Flow *flow, Vec field, Extremes *found)
{
  const GridBox   *box = grid_box(flow->grid);
  const PetscReal  h = grid_spacing(flow->grid), far = PETSC_MAX_REAL;
  const Vector3    center = solid_body_view(simulation_solid(flow->simulation), 0).position;
  const PetscReal *value;
  PetscReal        ends[4] = {far, far, far, far}; /* lowest and minus highest, of both */

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(field, &value));
  for (PetscInt j = box->start[Y]; j < box->end[Y]; j++)
    for (PetscInt i = box->start[X]; i < box->end[X]; i++) {
      const Vector3   place = grid_cell_center(flow->grid, i, j, 0);
      const PetscReal away =
          PetscSqrtReal(PetscSqr(place.at[X] - center.at[X]) + PetscSqr(place.at[Y] - center.at[Y])) - radius;
      PetscReal *end = away > 0. ? ends + 2 : ends, here = value[box_index(box, i, j, 0)];

      if (PetscAbsReal(away) < 0.1 * h)
        continue;
      end[0] = PetscMin(end[0], here);
      end[1] = PetscMin(end[1], -here);
    }
  PetscCall(VecRestoreArrayRead(field, &value));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, ends, 4, MPIU_REAL, MPI_MIN, box->comm));
  *found = (Extremes){{ends[0], -ends[1]}, {ends[2], -ends[3]}};
  PetscFunctionReturn(0);
}

static void smoke_stays_in_a_shaken_shell(void **state)
{
  Extremes found = {{1., 1.}, {0., 0.}};
  Flow     flow;
  Vec     *scalars;

  (void)state;
  assert_success(FlowCreate(PETSC_COMM_WORLD, &flow, "%s",
                            BOX BALL "fluid: {density: 1, viscosity: 0.001, sides: {all: slip}, scalars: "
                                     "[{name: smoke, initial: \"((x-0.4)^2+(y-0.5)^2 < 0.25^2)\"}]}\n"));
  assert_success(FlowStep(&flow, 500, 0.008));
  if (flow.fluid) {
    assert_int_equal(FluidGetScalars(flow.fluid, &scalars), 0);
    assert_int_equal(FindExtremes(&flow, scalars[0], &found), 0);
    note("smoke inside %.15g to %.15g, outside %.3g to %.3g", (double)found.inside[0],
         (double)found.inside[1], (double)found.outside[0], (double)found.outside[1]);
  }
  assert_on_all_ranks(PetscAbsReal(found.inside[0] - 1.) < 1e-12 &&
                      PetscAbsReal(found.inside[1] - 1.) < 1e-12);
  assert_on_all_ranks(PetscAbsReal(found.outside[0]) < 1e-12 && PetscAbsReal(found.outside[1]) < 1e-12);
  assert_success(FlowDestroy(&flow));
}

/* Regions are 1 for water and 2 for air. */
static void water_stays_in_a_shaken_shell(void **state)
{
  Extremes  found = {{1., 2.}, {2., 2.}};
  PetscReal volume[2] = {1., 1.};
  Flow      flow;
  Vec       regions;

  (void)state;
  assert_success(FlowCreate(PETSC_COMM_WORLD, &flow, "%s",
                            BOX BALL
                            "fluid: {gravity: [0, -9.81, 0], sides: {all: slip}}\n"
                            "regions: [{name: water, density: 1000, viscosity: 0.01, shape: {intersection: "
                            "[{cylinder: {from: [0.4, 0.5, -1], to: [0.4, 0.5, 1], radius: 0.25}}, "
                            "{plane: {point: [0, 0.5, 0], normal: [0, 1, 0]}}]}}, {name: air, type: empty}]\n"
                            "interfaces: {volume: kept}\n"));
  if (flow.fluid)
    volume[0] = phase_report(simulation_phase(flow.simulation))->volume[0];
  assert_success(FlowStep(&flow, 500, 0.008));
  if (flow.fluid) {
    volume[1] = phase_report(simulation_phase(flow.simulation))->volume[0];
    assert_int_equal(PhaseGetRegions(simulation_phase(flow.simulation), &regions), 0);
    assert_int_equal(FindExtremes(&flow, regions, &found), 0);
    note("water %.4g m^2 before, %.4g after; outside the regions are %g to %g", (double)volume[0],
         (double)volume[1], (double)found.outside[0], (double)found.outside[1]);
  }
  assert_on_all_ranks(found.outside[0] == 2.);
  assert_on_all_ranks(found.inside[0] == 1. && found.inside[1] == 2.);
  assert_on_all_ranks(PetscAbsReal(volume[1] / volume[0] - 1.) < 0.05);
  assert_success(FlowDestroy(&flow));
}

TEST_MAIN(cmocka_unit_test(smoke_stays_in_a_shaken_shell), cmocka_unit_test(water_stays_in_a_shaken_shell))
