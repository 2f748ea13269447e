/* A solid whose surface deforms, in the coupled solve: C and the unknowns are the solid's, the fluid knows
   copies of its surface. */
#include "scene_run.h"
#include "harness.h"
#include "coupling_case.h"
#include "solids.h"

#include "coupling/coupling_impl.h"

static const CouplingSetup tank = {.dimension = 3,
                                   .cells = {20, 18, 16},
                                   .length = 2.,
                                   .density = 1000.,
                                   .solver = COUPLING_SCHUR,
                                   .tolerance = 1e-13};

/* How vertices move with unknowns: on their own, or with a body of three or six. */
typedef enum { BOUND_TO_NOTHING, BOUND_TO_VELOCITY, BOUND_TO_BODY } Binding;

/* A ball of points. Known to all ranks of the test; the first of the solid team holds it for the code. */
typedef struct {
  Binding       binding;
  Vector3       centre;
  PetscReal     volume;
  PetscInt      vertex_count;
  Vector3      *places, *still;
  PetscInt     *unknown;
  PetscReal     masses[6]; /* of a body: along the axes and about them */
  PetscReal    *mass;      /* of points */
  PetscReal    *right_side, *velocity, *added;
  Surface       surface;
  SolidPatch    whole;
  SolidOperator operator;
} Ball;

static Vector3 arm_of(const Ball *ball, PetscInt v)
{
  return vector3_subtract(ball->places[v], ball->centre);
}

static PetscErrorCode Spread(void *context, const PetscReal unknowns[], PetscReal surface[])
{
  const Ball *ball = context;

  PetscFunctionBegin;
  for (PetscInt n = 0; n < 3 * ball->vertex_count; n++)
    surface[n] = unknowns[ball->binding == BOUND_TO_NOTHING ? n : n % 3];
  for (PetscInt v = 0; v < ball->vertex_count && ball->binding == BOUND_TO_BODY; v++) {
    const Vector3 turned = vector3_cross(vector3(unknowns[3], unknowns[4], unknowns[5]), arm_of(ball, v));

    for (PetscInt d = 0; d < DIM; d++)
      surface[3 * v + d] += turned.at[d];
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode Collect(void *context, const PetscReal surface[], PetscReal unknowns[])
{
  const Ball *ball = context;

  PetscFunctionBegin;
  PetscCall(PetscArrayzero(unknowns, ball->operator.unknown_count));
  for (PetscInt n = 0; n < 3 * ball->vertex_count; n++)
    unknowns[ball->binding == BOUND_TO_NOTHING ? n : n % 3] += surface[n];
  for (PetscInt v = 0; v < ball->vertex_count && ball->binding == BOUND_TO_BODY; v++) {
    const Vector3 force = vector3(surface[3 * v], surface[3 * v + 1], surface[3 * v + 2]),
                  torque = vector3_cross(arm_of(ball, v), force);

    for (PetscInt d = 0; d < DIM; d++)
      unknowns[3 + d] += torque.at[d];
  }
  PetscFunctionReturn(0);
}

static PetscReal mass_of(const Ball *ball, PetscInt n)
{
  return ball->binding == BOUND_TO_NOTHING ? ball->mass[n / 3] : ball->masses[n];
}

/* The sum of the added masses along each axis; about the axes the diagonal will do here. */
static PetscErrorCode Prepare(void *context, const PetscReal added[])
{
  Ball *ball = context;

  PetscFunctionBegin;
  PetscCall(PetscArrayzero(ball->added, ball->operator.unknown_count));
  for (PetscInt n = 0; n < 3 * ball->vertex_count; n++)
    ball->added[ball->binding == BOUND_TO_NOTHING ? n : n % 3] += added[n];
  for (PetscInt n = 0; n < 3 * ball->vertex_count && ball->binding == BOUND_TO_BODY; n++) {
    const Vector3  arm = arm_of(ball, n / 3);
    const PetscInt next = (n + 1) % 3, last = (n + 2) % 3;

    ball->added[3 + next] += added[n] * PetscSqr(arm.at[last]);
    ball->added[3 + last] += added[n] * PetscSqr(arm.at[next]);
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode Solve(void *context, const PetscReal from[], PetscReal to[])
{
  const Ball *ball = context;

  PetscFunctionBegin;
  for (PetscInt n = 0; n < ball->operator.unknown_count; n++)
    to[n] = from[n] / (mass_of(ball, n) + ball->added[n]);
  PetscFunctionReturn(0);
}

static PetscBool holds(CouplingCase *coupled)
{
  PetscMPIInt rank;

  (void)MPI_Comm_rank(team_world(coupled->team), &rank);
  return rank == team_first_solid_rank(coupled->team) ? PETSC_TRUE : PETSC_FALSE;
}

/* With the density times its volume for a mass; points have equal parts of it. */
static Ball *ball_new(CouplingCase *coupled, Surface surface, Vector3 centre, Binding binding,
                      PetscReal density)
{
  const Moments  moments = surface_moments(surface);
  const Vector3 *vertices;
  const PetscInt(*triangles)[3];
  PetscInt triangle_count, unknowns;
  Ball    *ball;

  PetscCallAbort(PETSC_COMM_SELF, PetscNew(&ball));
  ball->binding = binding;
  ball->centre = centre;
  ball->surface = surface;
  ball->volume = moments.volume;
  PetscCallAbort(PETSC_COMM_SELF,
                 SurfaceGet(surface, &ball->vertex_count, &vertices, &triangle_count, &triangles));
  unknowns = binding == BOUND_TO_NOTHING ? 3 * ball->vertex_count : binding == BOUND_TO_VELOCITY ? 3 : 6;
  PetscCallAbort(PETSC_COMM_SELF,
                 PetscCalloc7(ball->vertex_count, &ball->places, ball->vertex_count, &ball->still,
                              ball->vertex_count, &ball->unknown, ball->vertex_count, &ball->mass, unknowns,
                              &ball->right_side, unknowns, &ball->velocity, unknowns, &ball->added));
  for (PetscInt v = 0; v < ball->vertex_count; v++) {
    ball->places[v] = vector3_add(centre, vertices[v]);
    ball->unknown[v] = 3 * v;
    ball->mass[v] = density * moments.volume / (PetscReal)ball->vertex_count;
  }
  for (PetscInt n = 0; n < 6; n++)
    ball->masses[n] = density * (n < 3 ? moments.volume : moments.inertia[n - 3][n - 3]);
  ball->whole = (SolidPatch){.is_closed = PETSC_TRUE,
                             .volume = moments.volume,
                             .centre = centre,
                             .vertex_count = ball->vertex_count,
                             .triangle_count = triangle_count,
                             .before = ball->places,
                             .now = ball->places,
                             .velocity = ball->still,
                             .triangles = triangles,
                             .unknown = ball->unknown};
  ball->operator=(SolidOperator){.unknown_count = unknowns,
                                 .surface_count = 3 * ball->vertex_count,
                                 .context = ball,
                                 .Spread = Spread,
                                 .Collect = Collect,
                                 .Prepare = Prepare,
                                 .Solve = Solve,
                                 .right_side = ball->right_side,
                                 .velocity = ball->velocity};
  assert_success(CouplingSetDeforming(coupled->coupling, 1, holds(coupled) ? 1 : 0, &ball->whole,
                                      holds(coupled) ? &ball->operator : NULL));
  return ball;
}

static void ball_free(Ball *ball)
{
  PetscCallAbort(PETSC_COMM_SELF, PetscFree7(ball->places, ball->still, ball->unknown, ball->mass,
                                             ball->right_side, ball->velocity, ball->added));
  PetscCallAbort(PETSC_COMM_SELF, SurfaceDestroy(&ball->surface));
  PetscCallAbort(PETSC_COMM_SELF, PetscFree(ball));
}

/* A second of the acceleration. */
static void ball_accelerate(Ball *ball, Vector3 by)
{
  for (PetscInt n = 0; n < ball->operator.unknown_count; n++)
    if (ball->binding != BOUND_TO_BODY || n < 3)
      ball->right_side[n] += mass_of(ball, n) * by.at[n % 3];
}

/* The velocity that the solid team has found, on all ranks. */
static void ball_share(CouplingCase *coupled, Ball *ball)
{
  (void)MPI_Bcast(ball->velocity, (PetscMPIInt)ball->operator.unknown_count, MPIU_REAL,
                  team_first_solid_rank(coupled->team), team_world(coupled->team));
}

/* What the fluid gave it, in all: M V less what it began with. */
static Vector3 impulse_of(const Ball *ball)
{
  Vector3 sum = {{0., 0., 0.}};

  for (PetscInt n = 0; n < ball->operator.unknown_count; n++)
    if (ball->binding != BOUND_TO_BODY || n < 3)
      sum.at[n % 3] += mass_of(ball, n) * ball->velocity[n] - ball->right_side[n];
  return sum;
}

/* Points that hardly move: the water stays at rest, and lifts them by the weight of what they displace. */
static void points_feel_archimedes(void **state)
{
  const Vector3 gravity = vector3(1., -2., -9.81);

  (void)state;
  for (int is_open = 0; is_open < 2; is_open++) {
    CouplingSetup setup = tank;
    CouplingCase *coupled;
    Ball         *ball;
    Vector3       impulse;

    setup.is_open = is_open ? PETSC_TRUE : PETSC_FALSE;
    coupled = coupling_case_new(PETSC_COMM_WORLD, &setup);
    ball = ball_new(coupled, make_ball(0.43, 10, 16), vector3(1.02, 0.91, 0.78), BOUND_TO_NOTHING, 1e16);
    coupling_case_start(coupled);
    coupling_case_accelerate(coupled, is_open ? vector3(0., 0., -9.81) : gravity);
    coupling_case_solve(coupled);
    ball_share(coupled, ball);
    impulse = impulse_of(ball);
    for (PetscInt d = 0; d < DIM; d++) {
      const PetscReal weight = tank.density * ball->volume * (is_open && d < Z ? 0. : gravity.at[d]);

      note("%s: %.12g of %.12g, %.1g of it", is_open ? "open" : "closed", (double)impulse.at[d],
           (double)-weight,
           (double)PetscAbsReal(impulse.at[d] + weight) / (tank.density * ball->volume * 9.81));
      assert_near(impulse.at[d], -weight, 1e-12 * tank.density * ball->volume * 9.81);
    }
    assert_near(coupling_case_largest_speed(coupled), 0., 1e-10);
    assert_int_equal(coupled->report.moved, is_open ? 0 : 1);
    ball_free(ball);
    coupling_case_free(coupled);
  }
}

/* A ring of the water's density that keeps its shape floats where it is; one that can turn does so by the
   error of the pressure's place across faces. */
static void a_ring_of_water_stays_at_rest(void **state)
{
  const Vector3 gravity = vector3(1., -2., -9.81);

  (void)state;
  for (Binding binding = BOUND_TO_VELOCITY; binding <= BOUND_TO_BODY; binding++) {
    CouplingCase *coupled = coupling_case_new(PETSC_COMM_WORLD, &tank);
    Ball *ball = ball_new(coupled, make_ring(0.36, 0.22, 20, 12), vector3(1.02, 0.91, 0.78), binding, 1000.);
    PetscReal largest = 0.;

    coupling_case_start(coupled);
    coupling_case_accelerate(coupled, gravity);
    ball_accelerate(ball, gravity);
    coupling_case_solve(coupled);
    ball_share(coupled, ball);
    assert_int_equal(coupled->report.null_vectors, 1);
    for (PetscInt n = 0; n < ball->operator.unknown_count; n++)
      largest = PetscMax(largest, PetscAbsReal(ball->velocity[n]));
    note("with %d unknowns it moves by %g", (int)ball->operator.unknown_count, (double)largest);
    assert_near(largest, 0., binding == BOUND_TO_VELOCITY ? 1e-10 : 1e-3);
    ball_free(ball);
    coupling_case_free(coupled);
  }
}

static PetscReal swirl(PetscInt d, Vector3 x)
{
  return PetscSinReal(3.1 * x.at[(d + 1) % 3] + d) + 0.5 * PetscCosReal(2.3 * x.at[d]);
}

/* A solid in a swirl, as a rigid body or as points that are bound to one. */
static void solve_ball(CouplingCase *coupled, Surface surface, PetscBool is_bound, Binding binding,
                       PetscReal density, PetscReal twist[6])
{
  const Vector3 centre = vector3(1.02, 0.91, 0.78), gravity = vector3(0., 0., -9.81);
  Ball         *ball = NULL;
  CoupledBody  *body;

  if (is_bound)
    ball = ball_new(coupled, surface, centre, binding, density);
  else {
    body = coupling_case_add(coupled, surface, 0., density, centre, vector3(0., 0., 0.));
    for (PetscInt n = 0; n < 9 && binding == BOUND_TO_VELOCITY; n++) /* does not turn */
      body->inertia.at[n / 3][n % 3] *= 1e14;
  }
  coupling_case_start(coupled);
  coupling_case_fill(coupled, swirl);
  coupling_case_accelerate(coupled, gravity);
  if (ball)
    ball_accelerate(ball, gravity);
  coupling_case_solve(coupled);
  for (PetscInt n = 0; n < 6; n++)
    twist[n] = ball ? 0. : coupled->twists[n];
  if (ball) {
    ball_share(coupled, ball);
    for (PetscInt n = 0; n < ball->operator.unknown_count; n++)
      twist[n] = ball->velocity[n];
    ball_free(ball);
  }
}

/* The largest difference of the velocities of a solid that is rigid and of one that is bound. */
static PetscReal apart(PetscBool is_box, Binding binding, PetscReal density)
{
  const PetscInt count = binding == BOUND_TO_VELOCITY ? 3 : 6;
  PetscReal      twists[2][6], largest = 0.;

  for (int c = 0; c < 2; c++) {
    CouplingCase *coupled = coupling_case_new(PETSC_COMM_WORLD, &tank);

    solve_ball(coupled, is_box ? make_box(vector3(0.317, 0.284, 0.423)) : make_ball(0.43, 10, 16), c == 1,
               binding, density, twists[c]);
    note("%s of density %g, %s: %d iterations", is_box ? "box" : "ball", (double)density,
         c ? "bound" : "rigid", (int)coupled->report.iterations);
    coupling_case_free(coupled);
  }
  for (PetscInt i = 0; i < count; i++)
    largest = PetscMax(largest, PetscAbsReal(twists[0][i] - twists[1][i]));
  note("velocities differ by %.3g of %.3g", (double)largest, (double)PetscAbsReal(twists[0][2]));
  return largest;
}

/* Without spin both have the same matrix. With spin the body takes the velocity of faces at their centres,
   the surface that of each of its places. */
static void a_bound_solid_moves_like_a_rigid_one(void **state)
{
  const PetscReal densities[] = {300., 4000.};

  (void)state;
  for (int n = 0; n < 2; n++) {
    assert_near(apart(PETSC_TRUE, BOUND_TO_VELOCITY, densities[n]), 0., 1e-10);
    assert_near(apart(PETSC_FALSE, BOUND_TO_VELOCITY, densities[n]), 0., 1e-10);
    assert_near(apart(PETSC_FALSE, BOUND_TO_BODY, densities[n]), 0., 0.02);
  }
}

/* x . S y = y . S x, x . S x > 0, over all ranks, with a rigid body beside the points. */
static void the_operator_is_symmetric(void **state)
{
  CouplingCase *coupled = coupling_case_new(PETSC_COMM_WORLD, &tank);
  Ball *ball = ball_new(coupled, make_ball(0.33, 10, 16), vector3(0.62, 0.91, 0.78), BOUND_TO_NOTHING, 500.);
  PetscReal products[3] = {0., 0., 0.};

  (void)state;
  coupling_case_add_ball(coupled, 0.27, 800., vector3(1.43, 1.12, 0.79));
  coupling_case_start(coupled);
  if (coupled->grid) {
    const Coupling coupling = coupled->coupling;
    Vec            x[2], y;

    PetscCallAbort(PETSC_COMM_SELF, VecDuplicate(coupling->system.flow, &y));
    for (int n = 0; n < 2; n++) {
      PetscReal *values;

      PetscCallAbort(PETSC_COMM_SELF, VecDuplicate(y, &x[n]));
      PetscCallAbort(PETSC_COMM_SELF, VecGetArray(x[n], &values));
      for (PetscInt c = 0; c < coupling->cell_count; c++)
        values[c] = coupling->system.labels[c] >= 0 ? PetscSinReal(1. + 7.3 * c + n * c * c) : 0.;
      PetscCallAbort(PETSC_COMM_SELF, VecRestoreArray(x[n], &values));
    }
    PetscCallAbort(PETSC_COMM_SELF, CouplingApplySchur(coupling, x[0], y));
    PetscCallAbort(PETSC_COMM_SELF, VecDot(x[0], y, &products[0]));
    PetscCallAbort(PETSC_COMM_SELF, VecDot(x[1], y, &products[1]));
    PetscCallAbort(PETSC_COMM_SELF, CouplingApplySchur(coupling, x[1], y));
    PetscCallAbort(PETSC_COMM_SELF, VecDot(x[0], y, &products[2]));
    for (int n = 0; n < 2; n++)
      PetscCallAbort(PETSC_COMM_SELF, VecDestroy(&x[n]));
    PetscCallAbort(PETSC_COMM_SELF, VecDestroy(&y));
  }
  PetscCallAbort(PETSC_COMM_SELF, CouplingAnswer(coupled->coupling));
  (void)MPI_Bcast(products, 3, MPIU_REAL, 0, PETSC_COMM_WORLD);
  note("x.Sx %g, x.Sy %.15g, y.Sx %.15g", (double)products[0], (double)products[1], (double)products[2]);
  assert_on_all_ranks(products[0] > 0.);
  assert_near(products[1], products[2], 1e-13 * products[0]);
  ball_free(ball);
  coupling_case_free(coupled);
}

/* Points, and a body beside them, with each of the solvers; on all ranks and on one. */
static void solvers_agree(void **state)
{
  PetscReal first[3] = {0., 0., 0.};

  (void)state;
  for (CouplingSolver solver = COUPLING_MINRES; solver <= COUPLING_THESIS; solver++) {
    CouplingSetup setup = tank;
    CouplingCase *coupled;
    Vector3       impulse;
    Ball         *ball;

    setup.solver = solver;
    setup.tolerance = 1e-11;
    coupled = coupling_case_new(PETSC_COMM_WORLD, &setup);
    ball = ball_new(coupled, make_ball(0.33, 10, 16), vector3(0.62, 0.91, 0.78), BOUND_TO_NOTHING, 700.);
    coupling_case_add_ball(coupled, 0.27, 800., vector3(1.43, 1.12, 0.79));
    coupling_case_start(coupled);
    coupling_case_fill(coupled, swirl);
    coupling_case_accelerate(coupled, vector3(0., 0., -9.81));
    ball_accelerate(ball, vector3(0., 0., -9.81));
    coupling_case_solve(coupled);
    ball_share(coupled, ball);
    impulse = impulse_of(ball);
    note("%s: %d iterations, the body moves by %.12g, the points get %.12g", CouplingSolvers[solver],
         (int)coupled->report.iterations, (double)coupled->twists[Z], (double)impulse.at[Z]);
    for (PetscInt n = 0; n < 3; n++) {
      const PetscReal value = n == 0 ? coupled->twists[Z] : n == 1 ? impulse.at[Z] : ball->velocity[100];

      if (solver == COUPLING_MINRES)
        first[n] = value;
      assert_near(value, first[n], 1e-8 * PetscAbsReal(first[n]));
    }
    ball_free(ball);
    coupling_case_free(coupled);
  }
}

/* Fluid, a body and points in a box without walls, each across a seam of it. */
static void momentum_is_kept(void **state)
{
  CouplingSetup setup = tank;
  PetscReal     before[6], after[6], scale = 0.;
  CouplingCase *coupled;
  Ball         *ball;

  (void)state;
  for (PetscInt d = 0; d < DIM; d++)
    setup.periodic[d] = PETSC_TRUE;
  coupled = coupling_case_new(PETSC_COMM_WORLD, &setup);
  ball = ball_new(coupled, make_ball(0.33, 10, 16), vector3(0.12, 0.91, 0.78), BOUND_TO_NOTHING, 300.);
  coupling_case_add_ball(coupled, 0.27, 800., vector3(1.13, 1.12, 1.49));
  coupling_case_start(coupled);
  coupling_case_fill(coupled, swirl);
  ball_accelerate(ball, vector3(1., 2., 3.));
  assert_success(CouplingGetMomentum(coupled->coupling, coupled->velocity, coupled->twists, before));
  for (PetscInt n = 0; n < ball->operator.unknown_count; n++)
    before[n % 3] += ball->right_side[n];
  coupling_case_solve(coupled);
  ball_share(coupled, ball);
  assert_success(CouplingGetMomentum(coupled->coupling, coupled->velocity, coupled->twists, after));
  for (PetscInt n = 0; n < ball->operator.unknown_count; n++) {
    after[n % 3] += mass_of(ball, n) * ball->velocity[n];
    scale += PetscAbsReal(mass_of(ball, n) * ball->velocity[n]);
  }
  for (PetscInt d = 0; d < DIM; d++) {
    note("%.12g becomes %.12g kg m/s", (double)before[d], (double)after[d]);
    assert_near(after[d], before[d], 1e-11 * scale);
  }
  ball_free(ball);
  coupling_case_free(coupled);
}

/* The change of the volume that velocities of points make. */
static PetscReal swelling(const Ball *ball)
{
  PetscReal sum = 0.;

  for (PetscInt t = 0; t < ball->whole.triangle_count; t++) {
    const PetscInt *c = ball->whole.triangles[t];
    const Vector3   normal =
        vector3_scale(1. / 6., vector3_cross(vector3_subtract(ball->places[c[1]], ball->places[c[0]]),
                                             vector3_subtract(ball->places[c[2]], ball->places[c[0]])));

    for (PetscInt n = 0; n < 9; n++)
      sum += normal.at[n % 3] * ball->velocity[3 * c[n / 3] + n % 3];
  }
  return sum;
}

/* Free points in a closed box: the water leaves them no other volume; and the same on all ranks as on one. */
static void points_keep_the_volume_of_water(void **state)
{
  const MPI_Comm comms[2] = {PETSC_COMM_SELF, PETSC_COMM_WORLD};
  CouplingCase  *coupled[2];
  Ball          *balls[2];
  PetscReal      largest = 0., fastest = 0.;

  (void)state;
  for (int n = 0; n < 2; n++) {
    coupled[n] = coupling_case_new(comms[n], &tank);
    balls[n] =
        ball_new(coupled[n], make_ball(0.43, 10, 16), vector3(1.02, 0.91, 0.78), BOUND_TO_NOTHING, 300.);
    coupling_case_start(coupled[n]);
    coupling_case_fill(coupled[n], swirl);
    ball_accelerate(balls[n], vector3(0., 0., -9.81));
    coupling_case_solve(coupled[n]);
    ball_share(coupled[n], balls[n]);
    note("the volume changes by %g m^3/s, %d iterations", (double)swelling(balls[n]),
         (int)coupled[n]->report.iterations);
    assert_near(swelling(balls[n]), 0., 1e-11);
    assert_int_equal(coupled[n]->report.null_vectors, 0);
  }
  for (PetscInt n = 0; n < 3 * balls[0]->vertex_count; n++) {
    largest = PetscMax(largest, PetscAbsReal(balls[0]->velocity[n] - balls[1]->velocity[n]));
    fastest = PetscMax(fastest, PetscAbsReal(balls[0]->velocity[n]));
  }
  note("differs by %g of %g from one rank", (double)largest, (double)fastest);
  assert_near(largest, 0., 1e-10 * fastest);
  for (int n = 0; n < 2; n++) {
    ball_free(balls[n]);
    coupling_case_free(coupled[n]);
  }
}

TEST_MAIN(cmocka_unit_test(the_operator_is_symmetric), cmocka_unit_test(points_feel_archimedes),
          cmocka_unit_test(a_ring_of_water_stays_at_rest),
          cmocka_unit_test(a_bound_solid_moves_like_a_rigid_one), cmocka_unit_test(solvers_agree),
          cmocka_unit_test(momentum_is_kept), cmocka_unit_test(points_keep_the_volume_of_water))
