/* The force on a body does not depend on who moves: a cylinder that is towed through a fluid at rest and one
   that stands in a stream, both from an impulsive start, in a periodic box with slip sides. The towed one
   passes all places among the cells: it is compared with the mean over four places of the other. With the
   body's own velocity read by advection inside of it, the towed one has 4.2 and 4.3 % more. */
#include "harness.h"
#include "scene_run.h"

#include "simulation/coupled_impl.h"

typedef enum { TOWED, STANDING } Frame;
enum { PLACES = 4 };

/* Diameter and speed are one. */
static PetscErrorCode Open(MPI_Comm comm, Frame frame, PetscInt cells, PetscReal place, SceneRun *flow)
{
  const char *towed =
      ", motion: {keyframes: [{time: 0, translation: [0, 0]}, {time: 4, translation: [-4, 0]}]}";

  PetscFunctionBegin;
  PetscCall(SceneRunCreate(comm, flow,
                           "grid: {dimension: 2, size: [6, 4], resolution: %d}\n"
                           "run: {end_time: 2, frame_interval: 2}\n"
                           "fluid: {density: 1, viscosity: 0.01, initial: {velocity: [%d, 0]},\n"
                           "        sides: {x_low: periodic, x_high: periodic, y_low: slip, y_high: slip}}\n"
                           "coupling: {solver: schur}\n"
                           "solids: {walls: false, bodies: [{name: cylinder, type: %s,\n"
                           "         shape: {sphere: {center: [%g, 2], radius: 0.5}}%s}]}\n",
                           (int)(6 * cells), frame == TOWED ? 0 : 1, frame == TOWED ? "kinematic" : "static",
                           (double)(3. + place / (PetscReal)cells), frame == TOWED ? towed : ""));
  PetscFunctionReturn(0);
}

/* The mean drag coefficient over the second half of 1.6 s. */
static PetscErrorCode Drag(Frame frame, PetscInt cells, PetscReal place, PetscReal *drag)
{
  const PetscInt half = 2 * cells;
  SceneRun       flow;

  PetscFunctionBegin;
  PetscCall(Open(PETSC_COMM_WORLD, frame, cells, place, &flow));
  PetscCall(SceneRunStep(&flow, half, 0.4 / (PetscReal)cells));
  *drag = 0.;
  for (PetscInt n = 0; n < half; n++) {
    PetscCall(SceneRunStep(&flow, 1, 0.4 / (PetscReal)cells));
    *drag += 2. * flow.simulation->coupled->loads[LOAD_ALL][X] / (PetscReal)half;
  }
  PetscCall(SceneRunDestroy(&flow));
  PetscFunctionReturn(0);
}

static PetscReal excess(PetscInt cells)
{
  PetscReal towed, standing = 0.;

  assert_success(Drag(TOWED, cells, 0., &towed));
  for (PetscInt n = 0; n < PLACES; n++) {
    PetscReal one;

    assert_success(Drag(STANDING, cells, (PetscReal)n / PLACES, &one));
    standing += one / PLACES;
  }
  note("%d cells: towed %.4f, standing %.4f (%+.2f %%)", (int)cells, (double)towed, (double)standing,
       100. * (double)(towed / standing - 1.));
  return towed / standing - 1.;
}

static void a_towed_body_feels_what_one_in_a_stream_does(void **state)
{
  (void)state;
  assert_near(excess(8), 0., 0.02);
  assert_near(excess(16), 0., 0.01);
}

/* Faces of the body, and those that they are continued from, lie on both sides of the seam. */
static void a_towed_body_does_not_see_the_ranks(void **state)
{
  FieldDifference difference;
  SceneRun        flow, serial;

  (void)state;
  assert_success(Open(PETSC_COMM_WORLD, TOWED, 8, 0.3, &flow));
  assert_success(Open(PETSC_COMM_SELF, TOWED, 8, 0.3, &serial));
  assert_success(SceneRunStep(&flow, 12, 0.05));
  assert_success(SceneRunStep(&serial, 12, 0.05));
  for (PetscInt field = X; field <= Y; field++) {
    assert_success(SceneRunCompareWithSerial(&flow, &serial, field, &difference));
    assert_near(difference.largest, 0., 1e-13);
  }
  assert_success(SceneRunDestroy(&serial));
  assert_success(SceneRunDestroy(&flow));
}

TEST_MAIN(cmocka_unit_test(a_towed_body_feels_what_one_in_a_stream_does),
          cmocka_unit_test(a_towed_body_does_not_see_the_ranks))
