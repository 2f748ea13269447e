/* The operators of a step, seen from outside. The projection P of the start is self-adjoint and leaves alone
   what it has projected just when the gradient is minus the transposed divergence; a first Stokes step is P S
   P with S the solution of the diffusion, and is self-adjoint just when S is. Rough fields, two inner
   products. */
#include "scene_run.h"
#include "harness.h"

#define ROUGH_U "sin(97*x + 31*y*y + 17*x*y)"
#define ROUGH_V "cos(89*x*x + 41*y)"
#define ROUGH_W "sin(23*x + 71*y + 57*z*z)"
#define OTHER_U "cos(61*x - 77*y + 3*x*y)"
#define OTHER_V "sin(37*x*y + 59*y)"
#define OTHER_W "cos(43*x*z - 29*y + 19*z)"

static const char *const rough[2][DIM] = {{ROUGH_U, ROUGH_V, ROUGH_W}, {OTHER_U, OTHER_V, OTHER_W}};

typedef struct {
  PetscInt    dimension;
  const char *sides;
  const char *bodies;
} Place;

static const Place places[] = {
    {2, "all: wall", ""},
    {2, "all: slip, y_high: open",
     "obstacles: [{name: a, shape: {sphere: {center: [0.4, 0.5], radius: 0.2}}}]"},
    {2, "all: periodic, y_low: wall, y_high: slip",
     "obstacles: [{name: a, surface: slip, shape: {box: {low: [0.3, 0.1], high: [0.6, 0.5]}}}]"},
    {3, "all: wall, x_low: periodic, x_high: periodic",
     "obstacles: [{name: a, shape: {torus: {center: [0.5, 0.5, 0.4], axis: [0, 1, 1], major: 0.2, minor: "
     "0.12}}}]"}};

static PetscErrorCode StartRough(const Place *place, PetscInt which, SceneRun *flow)
{
  PetscFunctionBegin;
  PetscCall(SceneRunCreate(PETSC_COMM_WORLD, flow,
                           "grid: {dimension: %d, size: [1, 0.9%s], resolution: 10}\n"
                           "fluid:\n"
                           "  density: 1.7\n"
                           "  viscosity: 0.3\n"
                           "  advection: none\n"
                           "  pressure_tolerance: 1e-13\n"
                           "  viscosity_tolerance: 1e-13\n"
                           "  initial: {velocity: [%s, %s, %s]}\n"
                           "  sides: {%s}\n"
                           "  obstacles: voxels\n"
                           "%s\n",
                           (int)place->dimension, place->dimension == 3 ? ", 0.8" : "", rough[which][X],
                           rough[which][Y], place->dimension == 3 ? rough[which][Z] : "0", place->sides,
                           place->bodies));
  PetscFunctionReturn(0);
}

/* Of an unknown face, in cells; that of a face on an open side is half a cell. Others have none. */
static PetscReal volume_of(SceneRun *flow, const PetscReal *solid, PetscInt d, const PetscInt at[DIM])
{
  const GridBox    *box = grid_box(flow->grid);
  const SideConfig *sides = scene_config(flow->scene)->fluid.sides[d];
  const PetscInt    c = box_index(box, at[X], at[Y], at[Z]);

  if (!box->periodic[d] && at[d] == 0)
    return sides[0].kind == SIDE_OPEN && (!solid || solid[c] <= 0.) ? 0.5 : 0.;
  if (!box->periodic[d] && at[d] == box->cells[d])
    return sides[1].kind == SIDE_OPEN && (!solid || solid[c - box->stride[d]] <= 0.) ? 0.5 : 0.;
  return !solid || (solid[c] <= 0. && solid[c - box->stride[d]] <= 0.) ? 1. : 0.;
}

/* Integral of the flow's velocity times formulas (null: times itself). */
static PetscErrorCode InnerProduct(SceneRun *flow, const char *const formulas[DIM], PetscReal *product)
{
  const GridBox *box = grid_box(flow->grid);
  PetscReal     *solid = NULL;
  Vec            solids;
  char           message[128];

  PetscFunctionBegin;
  *product = 0.;
  PetscCall(FluidGetSolid(flow->fluid, &solids));
  if (solids)
    PetscCall(VecGetArray(solids, &solid));
  for (PetscInt d = 0; d < box->dimension; d++) {
    Formula    formula = NULL;
    PetscReal *u;
    Vec        component;

    if (formulas)
      PetscCall(FormulaCreate(formulas[d], &formula, message, sizeof(message)));
    PetscCall(SceneRunGetField(flow, d, &component));
    PetscCall(VecGetArray(component, &u));
    const GridRange faces = grid_faces(flow->grid, d);

    FOR_PLACES(&faces, at) {
      const PetscReal value = u[box_index(box, at[X], at[Y], at[Z])];
      const Vector3   point = grid_face_centre(flow->grid, d, at[X], at[Y], at[Z]);

      *product +=
          volume_of(flow, solid, d, at) * value * (formula ? formula_value(formula, point, 0.) : value);
    }
    PetscCall(VecRestoreArray(component, &u));
    PetscCall(FormulaDestroy(&formula));
  }
  if (solids)
    PetscCall(VecRestoreArray(solids, &solid));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, product, 1, MPIU_REAL, MPI_SUM, box->comm));
  PetscFunctionReturn(0);
}

/* <M a, b> and <a, M b>, where M is the start followed by `steps` steps. */
static void assert_self_adjoint(const Place *place, PetscInt steps)
{
  PetscReal products[2];

  for (PetscInt which = 0; which < 2; which++) {
    SceneRun flow;

    assert_success(StartRough(place, which, &flow));
    assert_success(SceneRunStep(&flow, steps, 0.01));
    assert_success(InnerProduct(&flow, rough[1 - which], &products[which]));
    assert_success(SceneRunDestroy(&flow));
  }
  assert_on_all_ranks(PetscAbsReal(products[0]) > 1e-3);
  assert_near(products[0], products[1], 1e-10);
}

static void gradient_is_minus_the_transposed_divergence(void **state)
{
  (void)state;
  for (size_t p = 0; p < PETSC_STATIC_ARRAY_LENGTH(places); p++)
    assert_self_adjoint(&places[p], 0);
}

static void viscosity_is_symmetric(void **state)
{
  (void)state;
  for (size_t p = 0; p < PETSC_STATIC_ARRAY_LENGTH(places); p++)
    if (!strstr(places[p].sides, "open")) /* there viscosity weighs faces as whole ones, the projection not */
      assert_self_adjoint(&places[p], 1);
}

/* A projection takes away what is orthogonal to the rest: <P a, P a> = <P a, a>. */
static void projection_is_orthogonal(void **state)
{
  (void)state;
  for (size_t p = 0; p < PETSC_STATIC_ARRAY_LENGTH(places); p++) {
    SceneRun    flow;
    FluidTotals totals;
    PetscReal   square, product;

    assert_success(StartRough(&places[p], 0, &flow));
    assert_success(InnerProduct(&flow, NULL, &square));
    assert_success(InnerProduct(&flow, rough[0], &product));
    assert_success(FluidGetTotals(flow.fluid, &totals));
    assert_on_all_ranks(square > 1.);
    assert_near(square, product, 1e-10);
    assert_near(totals.largest_divergence, 0., 1e-9);
    assert_success(SceneRunDestroy(&flow));
  }
}

TEST_MAIN(cmocka_unit_test(gradient_is_minus_the_transposed_divergence),
          cmocka_unit_test(viscosity_is_symmetric), cmocka_unit_test(projection_is_orthogonal))
