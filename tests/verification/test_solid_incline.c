/* Blocks and balls on an inclined plane: C1 of the validation cases (incline_friction.csv). */
#include "harness.h"
#include "solid_case.h"

#define G 9.81

typedef struct {
  PetscReal angle, friction, block, ball, ball_spin; /* accelerations; spin times radius */
} Incline;

static const Incline table[] = {
    {10, 0.05, 1.2204404, 1.2204404, 1.2076205}, {10, 0.1, 0.73739222, 1.2167776, 1.2167776},
    {10, 0.2, 0, 1.2167776, 1.2167776},          {10, 0.5, 0, 1.2167776, 1.2167776},
    {10, 0.8, 0, 1.2167776, 1.2167776},          {30, 0.05, 4.4802145, 4.4802145, 1.0619637},
    {30, 0.1, 4.0554291, 4.0554291, 2.1239273},  {30, 0.2, 3.2058582, 3.5035714, 3.5035714},
    {30, 0.3, 2.3562872, 3.5035714, 3.5035714},  {30, 0.5, 0.65714539, 3.5035714, 3.5035714},
    {30, 0.8, 0, 3.5035714, 3.5035714}};
enum { CASES = sizeof(table) / sizeof(table[0]) };

/* Down the slope, which falls towards +x. */
static Vector3 downhill(PetscReal angle)
{
  return vector3(PetscCosReal(angle), 0, -PetscSinReal(angle));
}

typedef enum { BLOCK, BALL } Slider;

static SolidCase *new_slope(const Incline *incline, Slider slider)
{
  const PetscReal angle = incline->angle * PETSC_PI / 180;
  const Vector3   normal = vector3(PetscSinReal(angle), 0, PetscCosReal(angle));
  SolidCase      *solids = solid_case_new(G);
  BodyConfig     *body;

  solid_case_add_plane(solids, vector3(0, 0, 0), normal)->friction = incline->friction;
  if (slider == BALL)
    body = solid_case_add_sphere(solids, vector3_scale(0.25, normal), 0.25);
  else
    body = solid_case_add_box(solids, vector3_scale(0.25, normal), vector3(0.5, 0.5, 0.25),
                              vector3(0, angle, 0));
  body->friction = incline->friction;
  solid_case_start(solids);
  return solids;
}

static void blocks_slide_or_stick(void **state)
{
  (void)state;
  for (PetscInt k = 0; k < CASES; k++) {
    SolidCase      *solids = new_slope(&table[k], BLOCK);
    const PetscReal time = 1;
    PetscReal       speed;

    solid_case_run(solids, time / 200, 200);
    speed = vector3_dot(solid_case_velocity(solids, 1), downhill(table[k].angle * PETSC_PI / 180));
    if (table[k].block > 0)
      assert_near(speed / time / table[k].block, 1, 0.01);
    else
      assert_true(vector3_norm(solid_case_velocity(solids, 1)) < 1e-6);
    assert_true(solid_report(solids->solid).largest_penetration < 1e-6);
    solid_case_free(solids);
  }
}

static void balls_roll_or_slip(void **state)
{
  (void)state;
  for (PetscInt k = 0; k < CASES; k++) {
    SolidCase *solids = new_slope(&table[k], BALL);
    PetscReal  speed;

    solid_case_run(solids, 1. / 200, 200);
    speed = vector3_dot(solid_case_velocity(solids, 1), downhill(table[k].angle * PETSC_PI / 180));
    assert_near(speed / table[k].ball, 1, 0.01);
    assert_near(0.25 * solid_case_spin(solids, 1).at[Y] / table[k].ball_spin, 1, 0.01);
    solid_case_free(solids);
  }
}

/* The thesis's Fig. 3.9, where the path of a sliding block goes to the analytic one with the time step. A
   step follows a constant acceleration exactly; what is seen is where sweeps end. */
static PetscReal path_error(PetscInt steps)
{
  const Incline   incline = {30, 0.2, 0, 0, 0};
  SolidCase      *solids = new_slope(&incline, BLOCK);
  const Vector3   start = solid_case_position(solids, 1), down = downhill(PETSC_PI / 6);
  const PetscReal acceleration = G * (PetscSinReal(PETSC_PI / 6) - 0.2 * PetscCosReal(PETSC_PI / 6));
  PetscReal       path;

  solid_case_run(solids, 1. / (PetscReal)steps, steps);
  path = vector3_dot(vector3_subtract(solid_case_position(solids, 1), start), down);
  solid_case_free(solids);
  return PetscAbsReal(path - 0.5 * acceleration);
}

static void the_path_of_a_block_is_exact(void **state)
{
  (void)state;
  assert_near(path_error(50), 0, 1e-8);
  assert_near(path_error(200), 0, 1e-8);
}

TEST_MAIN(cmocka_unit_test(blocks_slide_or_stick), cmocka_unit_test(balls_roll_or_slip),
          cmocka_unit_test(the_path_of_a_block_is_exact))
