/* Every shape in the whole step: rolling, standing, lying, holding others. */
#include "harness.h"
#include "solids.h"
#include "solid_case.h"

#define G 9.81

static SolidCase *new_floor(PetscReal friction)
{
  SolidCase *solids = solid_case_new(G);

  solid_case_add_plane(solids, vector3(0, 0, 0), vector3(0, 0, 1))->friction = friction;
  return solids;
}

static BodyConfig *add_shape(SolidCase *solids, Shape shape)
{
  BodyConfig *body = solid_case_add(solids, shape);

  body->friction = 0.5;
  return body;
}

static BodyConfig *add_surface(SolidCase *solids, Surface surface, Vector3 centre, Vector3 rotation)
{
  Shape shape, placed;

  assert_success(ShapeCreateSurface(&surface, &shape));
  assert_success(ShapeCreatePlaced(&shape, 1, rotation, centre, &placed));
  return add_shape(solids, placed);
}

/* Runs for a while; nothing may move then, nor have gone anywhere, nor leave and come back. */
static void assert_stays(SolidCase *solids, PetscReal size, PetscReal shift)
{
  PetscReal farthest = 0;
  Vector3   start[16];

  assert_true(solids->config.body_count <= 16);
  solid_case_start(solids);
  for (PetscInt b = 0; b < solids->config.body_count; b++)
    start[b] = solid_case_position(solids, b);
  for (PetscInt k = 0; k < 360; k++) {
    solid_case_run(solids, 1. / 120, 1);
    for (PetscInt b = 0; b < solids->config.body_count; b++)
      if (solids->bodies[b].kind == BODY_DYNAMIC)
        farthest =
            PetscMax(farthest, vector3_norm(vector3_subtract(solid_case_position(solids, b), start[b])));
  }
  assert_near(farthest, 0, shift);
  assert_near(solid_report(solids->solid).largest_speed, 0, 1e-4);
  assert_near(solid_report(solids->solid).largest_penetration, 0, 1e-3 * size);
  solid_case_free(solids);
}

/* Down a slope of 20 degrees that falls towards +x; the axis of the shape is y. */
static void roll(Shape shape, PetscReal expected, PetscReal tolerance)
{
  const PetscReal slope = PETSC_PI / 9;
  SolidCase      *solids = solid_case_new(G);
  Vector3         velocity;

  solid_case_add_plane(solids, vector3(0, 0, 0), vector3(PetscSinReal(slope), 0, PetscCosReal(slope)))
      ->friction = 0.5;
  add_shape(solids, shape);
  solid_case_start(solids);
  solid_case_run(solids, 1. / 200, 200);
  velocity = solid_case_velocity(solids, 1);
  assert_near((velocity.at[X] * PetscCosReal(slope) - velocity.at[Z] * PetscSinReal(slope)) /
                  (expected * G * PetscSinReal(slope)),
              1, tolerance);
  assert_near(velocity.at[Y], 0, 1e-3);
  assert_near(vector3_norm(velocity) / vector3_norm(solid_case_spin(solids, 1)), 0.5, 0.01);
  solid_case_free(solids);
}

static Vector3 above_slope(PetscReal height)
{
  return vector3(height * PetscSinReal(PETSC_PI / 9), 0, height * PetscCosReal(PETSC_PI / 9));
}

static void round_things_roll_down_a_slope(void **state)
{
  const Vector3 centre = above_slope(0.5), half = vector3(0, 0.5, 0);
  const double  major = 0.4, minor = 0.1, inertia = major * major + 0.75 * minor * minor;
  Shape         shape;

  (void)state;
  assert_success(ShapeCreateCylinder(vector3_subtract(centre, half), vector3_add(centre, half), 0.5, &shape));
  roll(shape, 2. / 3, 0.01);
  assert_success(ShapeCreateCapsule(vector3_subtract(centre, half), vector3_add(centre, half), 0.5, &shape));
  /* two half balls of volume 4/3 pi R^3 and a cylinder of length 2R: (8/15 + 1) / (4/3 + 2) = 0.46 */
  roll(shape, 1 / 1.46, 0.01);
  assert_success(ShapeCreateTorus(centre, vector3(0, 1, 0), major, minor, &shape));
  roll(shape, 1 / (1 + inertia / 0.25), 0.01);
}

static void a_cone_stands_on_its_base(void **state)
{
  SolidCase *solids = new_floor(0.5);
  Shape      cone;

  (void)state;
  assert_success(ShapeCreateCone(vector3(0, 0, 0), vector3(0, 0, 1), 0.5, &cone));
  add_shape(solids, cone);
  assert_stays(solids, 1, 1e-3);
}

static void a_cylinder_and_a_torus_stand(void **state)
{
  SolidCase *solids = new_floor(0.5);
  Shape      shape;

  (void)state;
  assert_success(ShapeCreateCylinder(vector3(0, 0, 0), vector3(0, 0, 2), 0.3, &shape));
  add_shape(solids, shape);
  assert_success(ShapeCreateTorus(vector3(3, 0, 0.2), vector3(0, 0, 1), 0.6, 0.2, &shape));
  add_shape(solids, shape);
  assert_success(ShapeCreateTorus(vector3(-3, 0, 0.8), vector3(0, 1, 0), 0.6, 0.2, &shape));
  add_shape(solids, shape);
  assert_stays(solids, 0.4, 1e-3);
}

static void capsules_and_cylinders_lie_still(void **state)
{
  SolidCase *solids = new_floor(0.5);
  Shape      shape;

  (void)state;
  assert_success(ShapeCreateCapsule(vector3(-0.5, 0, 0.2), vector3(0.5, 0.2, 0.2), 0.2, &shape));
  add_shape(solids, shape);
  assert_success(ShapeCreateCylinder(vector3(-0.5, 2, 0.3), vector3(0.5, 2.3, 0.3), 0.3, &shape));
  add_shape(solids, shape);
  assert_stays(solids, 0.4, 1e-3);
}

static void a_stack_of_mixed_shapes_stands(void **state)
{
  SolidCase *solids = new_floor(0.5);
  Shape      shape;

  (void)state;
  assert_success(ShapeCreateCylinder(vector3(0, 0, 0), vector3(0, 0, 0.5), 0.5, &shape));
  add_shape(solids, shape);
  assert_success(ShapeCreateTorus(vector3(0, 0, 0.65), vector3(0, 0, 1), 0.3, 0.15, &shape));
  add_shape(solids, shape);
  solid_case_add_box(solids, vector3(0, 0, 1), vector3(0.5, 0.5, 0.2), vector3(0, 0, 0))->friction = 0.5;
  assert_success(ShapeCreateCone(vector3(0, 0, 1.2), vector3(0, 0, 2), 0.4, &shape));
  add_shape(solids, shape);
  assert_stays(solids, 0.3, 2e-3);
}

/* The moments and the contact of a mesh of a box are those of a box: both take the same path. */
static void a_mesh_of_a_box_is_a_box(void **state)
{
  const Vector3 half = vector3(0.4, 0.3, 0.2), rotation = vector3(0.3, 0.5, 0.1), start = vector3(0, 0, 1.2);
  Vector3       ends[2];

  (void)state;
  for (PetscInt mesh = 0; mesh < 2; mesh++) {
    SolidCase *solids = new_floor(0.5);

    if (mesh)
      add_surface(solids, make_box(half), start, rotation);
    else
      solid_case_add_box(solids, start, half, rotation)->friction = 0.5;
    solid_case_start(solids);
    solid_case_run(solids, 1. / 240, 480);
    ends[mesh] = solid_case_position(solids, 1);
    solid_case_free(solids);
  }
  assert_near(vector3_norm(vector3_subtract(ends[0], ends[1])), 0, 1e-2);
  assert_near(ends[0].at[Z], 0.2, 1e-3);
}

static void meshes_of_boxes_stack(void **state)
{
  SolidCase *solids = new_floor(0.5);

  (void)state;
  for (PetscInt k = 0; k < 5; k++)
    add_surface(solids, make_box(vector3(0.5, 0.5, 0.25)), vector3(0, 0, 0.25 + 0.5 * (PetscReal)k),
                vector3(0, 0, 0));
  assert_stays(solids, 0.5, 5e-3);
}

/* A profile in the x-z plane, swept along y from -half to half; convex quadrilaterals make its ends. */
static Surface make_swept(PetscInt count, const PetscReal (*profile)[2], PetscInt quad_count,
                          const PetscInt (*quads)[4], PetscReal half)
{
  Vector3 vertices[32];
  PetscInt(*triangles)[3], n = 0;
  Surface surface;

  assert_success(PetscMalloc1(2 * count + 4 * quad_count, &triangles));
  for (PetscInt k = 0; k < count; k++) {
    vertices[k] = vector3(profile[k][0], -half, profile[k][1]);
    vertices[count + k] = vector3(profile[k][0], half, profile[k][1]);
  }
  for (PetscInt k = 0; k < count; k++) {
    const PetscInt next = (k + 1) % count,
                   sides[2][3] = {{k, count + k, count + next}, {k, count + next, next}};

    assert_success(PetscArraycpy(triangles[n], sides[0], 3));
    assert_success(PetscArraycpy(triangles[n + 1], sides[1], 3));
    n += 2;
  }
  for (PetscInt q = 0; q < quad_count; q++)
    for (PetscInt t = 0; t < 2; t++) {
      const PetscInt corners[3] = {quads[q][0], quads[q][1 + t], quads[q][2 + t]};

      for (PetscInt c = 0; c < 3; c++) {
        triangles[n][c] = corners[c];
        triangles[n + 1][c] = count + corners[2 - c];
      }
      n += 2;
    }
  assert_success(SurfaceCreate(2 * count, vertices, n, triangles, &surface));
  assert_success(PetscFree(triangles));
  assert_true(surface_volume(surface) > 0);
  return surface;
}

/* A trough: 1.2 wide, walls of 0.2, 0.8 high; its ends are open. Counterclockwise seen from -y. */
static Surface make_trough(PetscReal half_length)
{
  static const PetscReal profile[8][2] = {{-0.6, 0},  {0.6, 0},    {0.6, 0.8},  {0.4, 0.8},
                                          {0.4, 0.2}, {-0.4, 0.2}, {-0.4, 0.8}, {-0.6, 0.8}};
  static const PetscInt  quads[3][4] = {{0, 1, 4, 5}, {1, 2, 3, 4}, {0, 5, 6, 7}};

  return make_swept(8, profile, 3, quads, half_length);
}

static Surface make_angle(void)
{
  static const PetscReal profile[6][2] = {{0, 0}, {1, 0}, {1, 0.3}, {0.3, 0.3}, {0.3, 1}, {0, 1}};
  static const PetscInt  quads[2][4] = {{0, 1, 2, 3}, {0, 3, 4, 5}};

  return make_swept(6, profile, 2, quads, 0.3);
}

static void an_angle_rests_on_its_leg(void **state)
{
  SolidCase *solids = new_floor(0.5);

  (void)state;
  add_surface(solids, make_angle(), vector3(0, 0, 0), vector3(0, 0, 0));
  assert_stays(solids, 0.3, 2e-3);
}

static void a_trough_holds_a_ball(void **state)
{
  SolidCase *solids = new_floor(0.5);

  (void)state;
  add_surface(solids, make_trough(0.4), vector3(0, 0, 0), vector3(0, 0, 0));
  solid_case_add_sphere(solids, vector3(0, 0, 0.5), 0.3)->friction = 0.5;
  assert_stays(solids, 0.6, 5e-3);
}

/* The ball falls on the inside of a wall, rolls down and swings to rest: it must not leave. */
static void a_bowl_holds_a_ball(void **state)
{
  enum { RINGS = 8 };
  PetscReal   radii[RINGS], heights[RINGS];
  SolidCase  *solids = new_floor(0.5);
  BodyConfig *bowl;
  Vector3     between;

  (void)state;
  for (PetscInt k = 0; k < RINGS; k++) {
    radii[k] = PetscSinReal(0.5 * PETSC_PI * (PetscReal)k / (RINGS - 1));
    heights[k] = -PetscCosReal(0.5 * PETSC_PI * (PetscReal)k / (RINGS - 1));
  }
  bowl = add_surface(solids, make_lathed(RINGS, radii, heights, 24), vector3(0, 0, 1.03), vector3(0, 0, 0));
  bowl->thickness = 0.06;
  solid_case_add_sphere(solids, vector3(0.4, 0, 0.8), 0.2)->friction = 0.5;
  solid_case_start(solids);
  for (PetscInt k = 0; k < 720; k++) {
    solid_case_run(solids, 1. / 240, 1);
    between = vector3_subtract(solid_case_position(solids, 2), solid_case_position(solids, 1));
    assert_true(between.at[Z] > -0.9 && between.at[Z] < 0.3);
    assert_true(PetscSqrtReal(PetscSqr(between.at[X]) + PetscSqr(between.at[Y])) < 0.85);
    assert_true(solid_case_position(solids, 1).at[Z] > 0.4);
    assert_near(solid_report(solids->solid).largest_penetration, 0, 0.01 * 0.06);
  }
  solid_case_free(solids);
}

/* The i-th ring hangs in the one before, a quarter turned, with a little room. */
static void linked_rings_hang_together(void **state)
{
  const PetscReal major = 0.5, minor = 0.1, step = 2 * (major - minor) - 0.02;
  SolidCase      *solids = solid_case_new(G);
  PetscReal       deepest = 0;
  Shape           shape;

  (void)state;
  for (PetscInt k = 0; k < 5; k++) {
    const Vector3 axis = k % 2 ? vector3(1, 0, 0) : vector3(0, 1, 0);

    assert_success(ShapeCreateTorus(vector3(0, 0, -step * (PetscReal)k), axis, major, minor, &shape));
    add_shape(solids, shape);
  }
  solids->bodies[0].kind = BODY_STATIC;
  solid_case_start(solids);
  for (PetscInt k = 0; k < 480; k++) {
    solid_case_run(solids, 1. / 240, 1);
    deepest = PetscMax(deepest, solid_report(solids->solid).largest_penetration);
  }
  assert_near(deepest, 0, 0.01 * 2 * minor);
  for (PetscInt k = 1; k < 5; k++)
    assert_near(solid_case_position(solids, k).at[Z], -2 * (major - minor) * (PetscReal)k, 0.03);
  assert_near(solid_report(solids->solid).largest_speed, 0, 0.05);
  solid_case_free(solids);
}

TEST_MAIN(cmocka_unit_test(round_things_roll_down_a_slope), cmocka_unit_test(a_cone_stands_on_its_base),
          cmocka_unit_test(a_cylinder_and_a_torus_stand), cmocka_unit_test(capsules_and_cylinders_lie_still),
          cmocka_unit_test(a_stack_of_mixed_shapes_stands), cmocka_unit_test(a_mesh_of_a_box_is_a_box),
          cmocka_unit_test(meshes_of_boxes_stack), cmocka_unit_test(an_angle_rests_on_its_leg),
          cmocka_unit_test(a_trough_holds_a_ball), cmocka_unit_test(a_bowl_holds_a_ball),
          cmocka_unit_test(linked_rings_hang_together))
