/* A cylinder that oscillates along x in a fluid at rest, Reynolds number 100, Keulegan-Carpenter number 5
   (Duetsch, Durst, Becker and Lienhart 1998): its force over the third period, fitted by Morison's equation

     F = -1/2 rho d c_D |v| v - 1/4 pi rho d^2 c_A a.

   Reference: c_D 2.09, c_A 1.45, their computation. 8 and 16 cells per diameter, a box of 16 by 12 diameters.
   The boundary layer is then one cell and a half: c_D is of first order, and what it tends to is asked for.
 */
#include "scene_run.h"
#include "harness.h"

#include "simulation/coupled_impl.h"

enum { STEPS_MAX = 200, PERIODS = 3 };
static const PetscReal period = 5.; /* diameter and largest speed are one */

/* Cells per diameter, steps per period. */
typedef struct {
  PetscInt cells, steps;
} Fineness;

static PetscReal phase_of(const Fineness *fineness, PetscReal step)
{
  return 2. * PETSC_PI * step / fineness->steps;
}

/* Keyframes half-way between the steps: velocities at the steps are then differences about them. */
static PetscErrorCode AddKeyframes(const Fineness *fineness, char text[], size_t size)
{
  const PetscReal amplitude = period / (2. * PETSC_PI), dt = period / fineness->steps;
  size_t          used;

  PetscFunctionBegin;
  for (PetscInt n = -1; n <= PERIODS * fineness->steps; n++) {
    const PetscReal step = n < 0 ? 0. : n + 0.5;

    PetscCall(PetscStrlen(text, &used));
    PetscCall(PetscSNPrintf(text + used, size - used, "          - {time: %.12g, translation: [%.12g, 0]}\n",
                            (double)(step * dt),
                            (double)(-amplitude * PetscSinReal(phase_of(fineness, step)))));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode Start(const Fineness *fineness, SceneRun *flow)
{
  const size_t size = 80 * (PERIODS * STEPS_MAX + 20);
  char        *text;

  PetscFunctionBegin;
  *flow = (SceneRun){0};
  PetscCall(PetscMalloc1(size, &text));
  PetscCall(PetscSNPrintf(text, size,
                          "grid: {dimension: 2, size: [16, 12], resolution: %d}\n"
                          "run: {end_time: 15, frame_interval: 15}\n"
                          "fluid: {density: 1, viscosity: 0.01, sides: {all: slip}}\n"
                          "coupling: {solver: schur}\n"
                          "solids:\n"
                          "  walls: false\n"
                          "  bodies:\n"
                          "    - name: cylinder\n"
                          "      type: kinematic\n"
                          "      shape: {sphere: {center: [8, 6], radius: 0.5}}\n"
                          "      motion:\n"
                          "        keyframes:\n",
                          (int)(16 * fineness->cells)));
  PetscCall(AddKeyframes(fineness, text, size));
  PetscCall(SceneReadText(PETSC_COMM_WORLD, "oscillation", text, 0, NULL, &flow->scene));
  PetscCall(SceneRunStart(PETSC_COMM_WORLD, flow));
  PetscCall(PetscFree(text));
  PetscFunctionReturn(0);
}

enum { DRAG, ADDED_MASS, COEFFICIENTS };

/* By least squares. A force is the mean over its step, whose middle it belongs to. */
static void fit(const Fineness *fineness, const PetscReal force[], PetscReal coefficients[COEFFICIENTS])
{
  PetscReal normal[3] = {0.}, right[COEFFICIENTS] = {0.}, determinant;

  for (PetscInt n = 0; n < fineness->steps; n++) {
    const PetscReal v = -PetscCosReal(phase_of(fineness, n + 0.5)),
                    a = 2. * PETSC_PI / period * PetscSinReal(phase_of(fineness, n + 0.5)),
                    drag = -0.5 * PetscAbsReal(v) * v, inertia = -0.25 * PETSC_PI * a;

    right[DRAG] += drag * force[n];
    right[ADDED_MASS] += inertia * force[n];
    normal[0] += drag * drag;
    normal[1] += drag * inertia;
    normal[2] += inertia * inertia;
  }
  determinant = normal[0] * normal[2] - normal[1] * normal[1];
  coefficients[DRAG] = (right[DRAG] * normal[2] - right[ADDED_MASS] * normal[1]) / determinant;
  coefficients[ADDED_MASS] = (right[ADDED_MASS] * normal[0] - right[DRAG] * normal[1]) / determinant;
}

static const PetscReal reference[COEFFICIENTS] = {2.09, 1.45};

static void oscillate(const Fineness *fineness, PetscReal coefficients[COEFFICIENTS])
{
  PetscReal force[STEPS_MAX] = {0.};
  SceneRun  flow;

  assert_success(Start(fineness, &flow));
  for (PetscInt n = 0; n < PERIODS * fineness->steps; n++) {
    assert_success(SceneRunStep(&flow, 1, period / fineness->steps));
    force[n % fineness->steps] = flow.simulation->coupled->loads[LOAD_ALL][X];
  }
  fit(fineness, force, coefficients);
  note("%d cells: c_D %.4f (%+.2f %%), c_A %.4f (%+.2f %%)", (int)fineness->cells, (double)coefficients[DRAG],
       100. * (double)(coefficients[DRAG] / reference[DRAG] - 1.), (double)coefficients[ADDED_MASS],
       100. * (double)(coefficients[ADDED_MASS] / reference[ADDED_MASS] - 1.));
  assert_success(SceneRunDestroy(&flow));
}

static void morisons_coefficients_tend_to_those_of_duetsch(void **state)
{
  static const Fineness levels[2] = {{8, 100}, {16, STEPS_MAX}};
  PetscReal             coarse[COEFFICIENTS], fine[COEFFICIENTS], limit;

  (void)state;
  oscillate(&levels[0], coarse);
  oscillate(&levels[1], fine);
  limit = 2. * fine[DRAG] - coarse[DRAG];
  note("c_D tends to %.4f (%+.2f %%)", (double)limit, 100. * (double)(limit / reference[DRAG] - 1.));
  assert_near(fine[ADDED_MASS], reference[ADDED_MASS], 0.05 * reference[ADDED_MASS]);
  assert_near(fine[DRAG], reference[DRAG], 0.12 * reference[DRAG]);
  assert_near(limit, reference[DRAG], 0.05 * reference[DRAG]);
}

TEST_MAIN(cmocka_unit_test(morisons_coefficients_tend_to_those_of_duetsch))
