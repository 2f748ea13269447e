/* Forces of tetrahedra, material by material: exactness, symmetry, definiteness, momenta. */
#include "harness.h"
#include "solids.h"

#include "solid/force/force.h"

#include <millrace/mesh.h>
#include <millrace/tensor.h>

enum { SIDE = 3, MOST_POINTS = 343 };

static const PetscReal   young = 2e5, poisson = 0.35;
static const PetscReal   yield_stress = 8e3, hardening = 5e4;
static const char *const models[] = {
    "neo-hookean", "corotational", "st-venant-kirchhoff", "invertible", "hencky", "yielding", "linear", NULL};
enum { TURNING = 6 }; /* of them, the linear one may not turn */

static void take_material(SolidMaterialConfig *material, const char model[], Force *force)
{
  const PetscBool yields = strcmp(model, "yielding") ? PETSC_FALSE : PETSC_TRUE;

  *material = (SolidMaterialConfig){.young = young, .poisson = poisson, .density = 1000, .damping = 0.01};
  material->yield_stress = yields ? yield_stress : 0;
  material->hardening = yields ? hardening : 0;
  material->bending = 0.02;
  material->altitude = 0.5;
  force->kind = force_kind(yields ? "hencky" : model);
  assert_non_null(force->kind);
}

/* A unit cube of five tetrahedra per small one, whose inner vertices stand a little aside. */
typedef struct {
  Mesh                mesh;
  SolidMaterialConfig material;
  Force               force;
  PetscInt            count;
  Vector3             x[MOST_POINTS], f[MOST_POINTS];
} Block;

static PetscBool is_inner(const Vector3 *place)
{
  for (PetscInt d = 0; d < DIM; d++)
    if (!(place->at[d] > 0.01 && place->at[d] < 0.99))
      return PETSC_FALSE;
  return PETSC_TRUE;
}

static Block *new_ordered_block(const char model[], PetscInt order)
{
  const PetscInt cells[DIM] = {SIDE, SIDE, SIDE};
  uint64_t       seed = 3;
  Block         *block;
  ElementList    elements;

  assert_success(PetscNew(&block));
  assert_success(MeshCreateBox(vector3(0, 0, 0), vector3(1, 1, 1), cells, MESH_BOX_FIVE, &block->mesh));
  block->count = block->mesh->vertex_count;
  for (PetscInt p = 0; p < block->count; p++) {
    if (is_inner(&block->mesh->vertices[p]))
      block->mesh->vertices[p] =
          vector3_add(block->mesh->vertices[p], vector3_scale(0.05, random_direction(&seed)));
    block->x[p] = block->mesh->vertices[p];
  }
  take_material(&block->material, model, &block->force);
  if (order == 2) {
    Mesh linear = block->mesh;

    assert_success(MeshCreateQuadratic(linear, &block->mesh));
    assert_success(MeshDestroy(&linear));
    block->count = block->mesh->vertex_count;
    memcpy(block->x, block->mesh->vertices, (size_t)block->count * sizeof(*block->x));
  }
  assert_true(block->count <= MOST_POINTS);
  elements = (ElementList){
      .count = block->mesh->element_count, .nodes = block->mesh->nodes, .elements = block->mesh->elements};
  assert_success(
      block->force.kind->create(&block->material, &elements, block->mesh->vertices, &block->force.data));
  return block;
}

static Block *new_block(const char model[])
{
  return new_ordered_block(model, 1);
}

static void free_block(Block *block)
{
  assert_success(block->force.kind->destroy(&block->force.data));
  assert_success(MeshDestroy(&block->mesh));
  assert_success(PetscFree(block));
}

static void find_forces(Block *block)
{
  memset(block->f, 0, sizeof(block->f));
  block->force.kind->add_elastic(block->force.data, block->x, block->f);
}

static void apply_stiffness(const Block *block, DifferentialPart part, const Vector3 dx[], Vector3 df[])
{
  memset(df, 0, MOST_POINTS * sizeof(*df));
  block->force.kind->add_stiffness(block->force.data, part, dx, df);
}

static void apply_damping(const Block *block, const Vector3 v[], Vector3 f[])
{
  memset(f, 0, MOST_POINTS * sizeof(*f));
  block->force.kind->add_damping(block->force.data, v, f);
}

static void random_vectors(uint64_t *seed, PetscReal size, Vector3 v[])
{
  for (PetscInt p = 0; p < MOST_POINTS; p++)
    for (PetscInt d = 0; d < DIM; d++)
      v[p].at[d] = size * random_number(seed);
}

static void shake(Block *block, uint64_t seed, PetscReal size)
{
  Vector3 aside[MOST_POINTS];

  random_vectors(&seed, size, aside);
  for (PetscInt p = 0; p < block->count; p++)
    block->x[p] = vector3_add(block->mesh->vertices[p], aside[p]);
  find_forces(block);
}

static PetscReal dot(const Vector3 a[], const Vector3 b[])
{
  PetscReal sum = 0;

  for (PetscInt p = 0; p < MOST_POINTS; p++)
    sum += vector3_dot(a[p], b[p]);
  return sum;
}

static PetscReal norm(const Vector3 a[])
{
  return PetscSqrtReal(dot(a, a));
}

static Vector3 sum_of(const Vector3 f[])
{
  Vector3 sum = vector3(0, 0, 0);

  for (PetscInt p = 0; p < MOST_POINTS; p++)
    sum = vector3_add(sum, f[p]);
  return sum;
}

static Vector3 torque_of(const Vector3 x[], const Vector3 f[])
{
  Vector3 sum = vector3(0, 0, 0);

  for (PetscInt p = 0; p < MOST_POINTS; p++)
    sum = vector3_add(sum, vector3_cross(x[p], f[p]));
  return sum;
}

/* A uniform strain leaves no force inside. */
static void the_patch_test_is_passed(void **state)
{
  const Matrix3 strain = {{{1.2, 0.1, -0.05}, {0.02, 0.9, 0.1}, {-0.1, 0.07, 1.1}}};

  (void)state;
  for (PetscInt m = 0; models[m / 2]; m++) {
    Block *block = new_ordered_block(models[m / 2], 1 + m % 2);

    for (PetscInt p = 0; p < block->count; p++)
      block->x[p] = vector3_add(matrix3_apply(&strain, block->mesh->vertices[p]), vector3(3, -2, 1));
    find_forces(block);
    for (PetscInt p = 0; p < block->count; p++)
      if (is_inner(&block->mesh->vertices[p]))
        assert_near(vector3_norm(block->f[p]) / young, 0, 1e-12);
    assert_true(norm(block->f) > 1e-3 * young);
    free_block(block);
  }
}

static void rigid_motions_make_no_forces(void **state)
{
  const Quaternion turn = quaternion_from_rotation(vector3(1, -2, 0.5));

  (void)state;
  for (PetscInt m = 0; m < TURNING; m++) {
    Block *block = new_block(models[m]);

    for (PetscInt p = 0; p < block->count; p++)
      block->x[p] = vector3_add(quaternion_rotate(turn, block->mesh->vertices[p]), vector3(1, 2, 3));
    find_forces(block);
    assert_near(norm(block->f) / young, 0, 1e-12);
    assert_near(force_report(&block->force).energy / young, 0, 1e-12);
    free_block(block);
  }
}

/* Each strain of its own: C_1111 = lambda + 2 mu, C_1122 = lambda, C_1212 = mu. */
static void small_strains_follow_hooke(void **state)
{
  const PetscReal mu = young / (2 * (1 + poisson)), e = 1e-6;
  const PetscReal lambda = young * poisson / ((1 + poisson) * (1 - 2 * poisson));

  (void)state;
  for (PetscInt m = 0; models[m]; m++) {
    Block  *block = new_block(models[m]);
    Vector3 pulled = vector3(0, 0, 0), beside = vector3(0, 0, 0), sheared = vector3(0, 0, 0);

    for (PetscInt p = 0; p < block->count; p++)
      block->x[p].at[X] *= 1 + e;
    find_forces(block);
    for (PetscInt p = 0; p < block->count; p++) {
      if (block->mesh->vertices[p].at[X] > 0.99)
        pulled = vector3_add(pulled, block->f[p]);
      if (block->mesh->vertices[p].at[Y] > 0.99)
        beside = vector3_add(beside, block->f[p]);
    }
    assert_near(-pulled.at[X] / e / (lambda + 2 * mu), 1, 1e-5);
    assert_near(-beside.at[Y] / e / lambda, 1, 1e-5);
    for (PetscInt p = 0; p < block->count; p++)
      block->x[p] = vector3_add(block->mesh->vertices[p], vector3(e * block->mesh->vertices[p].at[Y], 0, 0));
    find_forces(block);
    for (PetscInt p = 0; p < block->count; p++)
      if (block->mesh->vertices[p].at[Y] > 0.99)
        sheared = vector3_add(sheared, block->f[p]);
    assert_near(-sheared.at[X] / e / mu, 1, 1e-5);
    free_block(block);
  }
}

/* With the plastic work of the step. */
static PetscReal energy_at(Block *block, const Vector3 dx[], PetscReal e)
{
  Vector3     kept[MOST_POINTS];
  ForceReport report;

  memcpy(kept, block->x, sizeof(kept));
  for (PetscInt p = 0; p < block->count; p++)
    block->x[p] = vector3_add(kept[p], vector3_scale(e, dx[p]));
  find_forces(block);
  memcpy(block->x, kept, sizeof(kept));
  report = force_report(&block->force);
  return report.energy + report.plastic;
}

static void forces_are_slopes_of_the_energy(void **state)
{
  const PetscReal e = 1e-5;

  (void)state;
  for (PetscInt m = 0; models[m]; m++) {
    Block    *block = new_block(models[m]);
    Vector3   dx[MOST_POINTS];
    uint64_t  seed = 17;
    PetscReal slope;

    shake(block, 5, 0.08);
    random_vectors(&seed, 1, dx);
    slope = (energy_at(block, dx, e) - energy_at(block, dx, -e)) / (2 * e);
    find_forces(block);
    assert_near(-dot(block->f, dx) / slope, 1, 1e-6);
    free_block(block);
  }
}

/* Also of elements that are turned inside out, where the material allows it. */
static void differentials_agree_with_differences(void **state)
{
  const PetscReal e = 1e-6, sizes[] = {0.08, 0.04, 0.35};

  (void)state;
  for (PetscInt m = 0; models[m]; m++)
    for (PetscInt s = 0; s < (m == 0 || !strcmp(models[m], "invertible") ? 3 : 2);
         s++) { /* the second: quadratic elements */
      Block   *block = new_ordered_block(models[m], s == 1 ? 2 : 1);
      Vector3  dx[MOST_POINTS], df[MOST_POINTS], difference[MOST_POINTS] = {{{0}}}, kept[MOST_POINTS];
      uint64_t seed = 23;

      shake(block, 7, sizes[s]);
      random_vectors(&seed, 1, dx);
      apply_stiffness(block, DIFFERENTIAL_EXACT, dx, df);
      memcpy(kept, block->x, sizeof(kept));
      for (PetscInt sign = -1; sign <= 1; sign += 2) {
        for (PetscInt p = 0; p < block->count; p++)
          block->x[p] = vector3_add(kept[p], vector3_scale((PetscReal)sign * e, dx[p]));
        find_forces(block);
        for (PetscInt p = 0; p < block->count; p++)
          difference[p] = vector3_add(sign < 0 ? vector3(0, 0, 0) : difference[p],
                                      vector3_scale((PetscReal)sign / (2 * e), block->f[p]));
      }
      for (PetscInt p = 0; p < block->count; p++)
        difference[p] = vector3_subtract(difference[p], df[p]);
      assert_near(norm(difference) / norm(df), 0, 1e-6);
      free_block(block);
    }
}

static void definite_differentials_have_no_positive_direction(void **state)
{
  (void)state;
  for (PetscInt m = 0; models[m]; m++) {
    Block    *block = new_block(models[m]);
    Vector3   u[MOST_POINTS], v[MOST_POINTS], ku[MOST_POINTS], kv[MOST_POINTS];
    uint64_t  seed = 29;
    PetscReal largest = 0;

    shake(block, 11, 0.3);
    for (PetscInt k = 0; k < 50; k++) {
      random_vectors(&seed, 1, u);
      random_vectors(&seed, 1, v);
      apply_stiffness(block, DIFFERENTIAL_DEFINITE, u, ku);
      apply_stiffness(block, DIFFERENTIAL_DEFINITE, v, kv);
      assert_near((dot(u, kv) - dot(v, ku)) / norm(ku), 0, 1e-10);
      largest = PetscMax(largest, dot(u, ku) / norm(ku));
    }
    assert_true(largest <= 1e-12);
    free_block(block);
  }
}

/* Under compression the exact one has a direction in which forces grow: the projection is not idle. */
static void compression_is_indefinite(void **state)
{
  Block  *block = new_block("neo-hookean");
  Vector3 u[MOST_POINTS] = {{{0}}}, exact[MOST_POINTS], definite[MOST_POINTS];

  (void)state;
  for (PetscInt p = 0; p < block->count; p++) {
    block->x[p].at[Z] *= 0.4;
    u[p] = vector3(0, 0, 0);
    if (is_inner(&block->mesh->vertices[p]))
      u[p] = vector3(PetscCosReal(9 * block->mesh->vertices[p].at[Z]), 0, 0);
  }
  find_forces(block);
  apply_stiffness(block, DIFFERENTIAL_EXACT, u, exact);
  apply_stiffness(block, DIFFERENTIAL_DEFINITE, u, definite);
  assert_true(dot(u, definite) < dot(u, exact) - 1e-3 * norm(definite));
  free_block(block);
}

static void forces_and_damping_keep_both_momenta(void **state)
{
  (void)state;
  for (PetscInt m = 0; models[m / 2]; m++) {
    Block   *block = new_ordered_block(models[m / 2], 1 + m % 2);
    Vector3  v[MOST_POINTS], drag[MOST_POINTS];
    uint64_t seed = 31;

    shake(block, 13, 0.15);
    random_vectors(&seed, 1, v);
    apply_damping(block, v, drag);
    assert_near(vector3_norm(sum_of(block->f)) / norm(block->f), 0, 1e-12);
    assert_near(vector3_norm(sum_of(drag)) / norm(drag), 0, 1e-12);
    if (m / 2 < TURNING)
      assert_near(vector3_norm(torque_of(block->x, block->f)) / norm(block->f), 0, 1e-12);
    assert_near(vector3_norm(torque_of(block->x, drag)) / norm(drag), 0, 1e-12);
    free_block(block);
  }
}

static void damping_takes_energy_but_not_from_rotation(void **state)
{
  Block   *block = new_block("neo-hookean");
  Vector3  u[MOST_POINTS], v[MOST_POINTS], du[MOST_POINTS], dv[MOST_POINTS];
  uint64_t seed = 37;

  (void)state;
  shake(block, 17, 0.15);
  random_vectors(&seed, 1, u);
  random_vectors(&seed, 1, v);
  apply_damping(block, u, du);
  apply_damping(block, v, dv);
  assert_true(dot(u, du) < 0);
  assert_near((dot(u, dv) - dot(v, du)) / norm(du), 0, 1e-11);
  for (PetscInt p = 0; p < block->count; p++)
    v[p] = vector3_add(vector3(1, 2, 3), vector3_cross(vector3(3, -1, 2), block->x[p]));
  apply_damping(block, v, dv);
  assert_near(norm(dv) / norm(du), 0, 1e-12);
  free_block(block);
}

/* Hooke's law of the block as it was made, and of the differential there. */
static void the_differential_at_rest_is_the_exact_one_there(void **state)
{
  (void)state;
  for (PetscInt m = 0; models[m]; m++) {
    Block   *block = new_block(models[m]);
    Vector3  u[MOST_POINTS], exact[MOST_POINTS], rest[MOST_POINTS];
    uint64_t seed = 43;

    random_vectors(&seed, 1, u);
    find_forces(block);
    apply_stiffness(block, DIFFERENTIAL_EXACT, u, exact);
    assert_near(block->force.kind->stiffening(block->force.data), 1, 1e-12);
    shake(block, 19, 0.1);
    apply_stiffness(block, DIFFERENTIAL_AT_REST, u, rest);
    for (PetscInt p = 0; p < block->count; p++)
      rest[p] = vector3_subtract(rest[p], exact[p]);
    assert_near(norm(rest) / norm(exact), 0, 1e-12);
    free_block(block);
  }
}

/* Triangles: a section of plane strain at z = 0, or a sheet that lies askew in space. */
static Block *new_warped_sheet(const char model[], ElementSection section, PetscInt order, PetscReal warp)
{
  const PetscInt cells[] = {4, 3};
  const Vector3  along = vector3(1, 0, section == SECTION_SHEET ? 0.3 : 0),
                across = vector3(0.1, 0.8, section == SECTION_SHEET ? -0.2 : 0);
  ElementList elements;
  Block      *block;

  assert_success(PetscNew(&block));
  assert_success(MeshCreateSheet(vector3(0, 0, 0), along, across, cells, &block->mesh));
  if (order == 2) {
    Mesh linear = block->mesh;

    assert_success(MeshCreateQuadratic(linear, &block->mesh));
    assert_success(MeshDestroy(&linear));
  }
  block->count = block->mesh->vertex_count;
  for (PetscInt p = 0; p < block->count; p++) {
    const Vector3 at = block->mesh->vertices[p];

    block->mesh->vertices[p].at[Z] += warp * (at.at[X] * at.at[X] + 0.5 * at.at[X] * at.at[Y]);
  }
  memcpy(block->x, block->mesh->vertices, (size_t)block->count * sizeof(*block->x));
  take_material(&block->material, model, &block->force);
  elements = (ElementList){.count = block->mesh->element_count,
                           .nodes = block->mesh->nodes,
                           .elements = block->mesh->elements,
                           .section = section,
                           .thickness = 0.01};
  assert_success(
      block->force.kind->create(&block->material, &elements, block->mesh->vertices, &block->force.data));
  return block;
}

static Block *new_sheet(const char model[], ElementSection section, PetscInt order)
{
  return new_warped_sheet(model, section, order, 0);
}

static void no_depth(PetscInt count, ElementSection section, Vector3 v[])
{
  for (PetscInt p = 0; p < count && section == SECTION_PLANE_STRAIN; p++)
    v[p].at[Z] = 0;
}

/* Differences, definiteness, momenta and damping of one block where it is. */
static void check_sheet(Block *block, ElementSection section)
{
  const PetscReal e = 1e-6;
  Vector3         dx[MOST_POINTS], df[MOST_POINTS], dv[MOST_POINTS], above[MOST_POINTS], below[MOST_POINTS];
  uint64_t        seed = 23;

  shake(block, 7, 0.03);
  no_depth(block->count, section, block->x);
  random_vectors(&seed, 1, dx);
  no_depth(MOST_POINTS, section, dx);
  find_forces(block);
  assert_near(vector3_norm(sum_of(block->f)) / norm(block->f), 0, 1e-12);
  assert_near(vector3_norm(torque_of(block->x, block->f)) / norm(block->f), 0, 1e-12);
  apply_stiffness(block, DIFFERENTIAL_DEFINITE, dx, df);
  assert_true(dot(dx, df) <= 1e-12 * norm(df));
  apply_damping(block, dx, dv);
  assert_true(dot(dx, dv) < 0);
  assert_near(vector3_norm(torque_of(block->x, dv)) / norm(dv), 0, 1e-12);
  apply_stiffness(block, DIFFERENTIAL_EXACT, dx, df);
  for (PetscInt p = 0; p < block->count; p++)
    block->x[p] = vector3_add(block->x[p], vector3_scale(e, dx[p]));
  find_forces(block);
  memcpy(above, block->f, sizeof(above));
  for (PetscInt p = 0; p < block->count; p++)
    block->x[p] = vector3_subtract(block->x[p], vector3_scale(2 * e, dx[p]));
  find_forces(block);
  for (PetscInt p = 0; p < MOST_POINTS; p++)
    below[p] = vector3_subtract(vector3_scale(1 / (2 * e), vector3_subtract(above[p], block->f[p])), df[p]);
  assert_near(norm(below) / norm(df), 0, 1e-6);
}

static void triangles_have_slopes_momenta_and_definite_parts(void **state)
{
  (void)state;
  for (PetscInt m = 0; m < TURNING; m++)
    for (PetscInt order = 1; order <= 2; order++)
      for (PetscInt section = SECTION_PLANE_STRAIN; section <= SECTION_SHEET; section++) {
        Block *block = new_sheet(models[m], (ElementSection)section, order);

        check_sheet(block, (ElementSection)section);
        free_block(block);
      }
}

/* Turned in space a sheet has neither forces nor damping; stretched by e it has E e per area of its section,
   without stress beside. */
static void sheets_turn_freely_and_stretch_by_young(void **state)
{
  const Quaternion turn = quaternion_from_rotation(vector3(1, -2, 0.5));

  (void)state;
  for (PetscInt m = 0; m < TURNING; m++) {
    Block    *block = new_sheet(models[m], SECTION_SHEET, 1);
    Vector3   v[MOST_POINTS] = {{{0}}}, drag[MOST_POINTS];
    PetscReal energy;

    for (PetscInt p = 0; p < block->count; p++) {
      block->x[p] = vector3_add(quaternion_rotate(turn, block->mesh->vertices[p]), vector3(1, 2, 3));
      v[p] = vector3_cross(vector3(3, -1, 2), block->x[p]);
    }
    find_forces(block);
    apply_damping(block, v, drag);
    assert_near(norm(block->f) / young, 0, 1e-12);
    assert_near(norm(drag) / young, 0, 1e-12);
    for (PetscInt p = 0; p < block->count;
         p++) /* the same strain in both directions: 2 e^2 E / (1 - nu) / 2 */
      block->x[p] = vector3_scale(1 + 1e-5, block->mesh->vertices[p]);
    find_forces(block);
    energy = force_report(&block->force).energy;
    assert_near(energy / (1e-10 * young / (1 - poisson) * 0.01 *
                          vector3_norm(vector3_cross(vector3(1, 0, 0.3), vector3(0.1, 0.8, -0.2)))),
                1, 1e-4);
    free_block(block);
  }
}

/* A chain askew in space. */
static Block *new_rope(void)
{
  Block      *block;
  ElementList elements;

  assert_success(PetscNew(&block));
  assert_success(MeshCreateLine(vector3(0, 0, 0), vector3(1, 0.5, 0.2), 8, &block->mesh));
  block->count = block->mesh->vertex_count;
  memcpy(block->x, block->mesh->vertices, (size_t)block->count * sizeof(*block->x));
  take_material(&block->material, "springs", &block->force);
  elements = (ElementList){.count = block->mesh->element_count,
                           .nodes = block->mesh->nodes,
                           .elements = block->mesh->elements,
                           .thickness = 1e-4};
  assert_success(
      block->force.kind->create(&block->material, &elements, block->mesh->vertices, &block->force.data));
  return block;
}

static Block *new_spring_block(PetscInt k)
{
  if (k == 0)
    return new_rope();
  if (k < 3)
    return new_block(k == 1 ? "springs" : "altitude");
  if (k < 6)
    return new_sheet(k == 3 ? "springs" : k == 4 ? "altitude" : "bending", SECTION_SHEET, 1);
  return new_warped_sheet("bending", SECTION_SHEET, 1, 0.4);
}
enum { SPRING_BLOCKS = 7 };

/* Along edges, from corners to sides, at hinges that are flat or bent at rest: nothing at rest or turned;
   both momenta; the slopes of energies and forces; definite parts. */
static void springs_have_slopes_momenta_and_definite_parts(void **state)
{
  const Quaternion turn = quaternion_from_rotation(vector3(1, -2, 0.5));

  (void)state;
  for (PetscInt k = 0; k < SPRING_BLOCKS; k++) {
    Block    *block = new_spring_block(k);
    Vector3   dx[MOST_POINTS], exact[MOST_POINTS], rest[MOST_POINTS];
    uint64_t  seed = 41;
    PetscReal slope, scale;

    random_vectors(&seed, 1, dx);
    find_forces(block);
    apply_stiffness(block, DIFFERENTIAL_EXACT, dx, exact);
    scale = norm(exact);
    assert_near(norm(block->f) / scale, 0, 1e-12);
    apply_stiffness(block, DIFFERENTIAL_AT_REST, dx, rest);
    for (PetscInt p = 0; p < MOST_POINTS; p++)
      rest[p] = vector3_subtract(rest[p], exact[p]);
    assert_near(norm(rest) / scale, 0, 1e-9);
    for (PetscInt p = 0; p < block->count; p++)
      block->x[p] = vector3_add(quaternion_rotate(turn, block->mesh->vertices[p]), vector3(1, 2, 3));
    find_forces(block);
    assert_near(norm(block->f) / scale, 0, 1e-12);
    shake(block, 5, 0.02);
    slope = (energy_at(block, dx, 1e-6) - energy_at(block, dx, -1e-6)) / 2e-6;
    find_forces(block);
    assert_near(-dot(block->f, dx) / slope, 1, 1e-6);
    check_sheet(block, SECTION_SOLID);
    free_block(block);
  }
}

/* Of linear and quadratic elements, everywhere in the block. */
static void fibres_have_slopes_momenta_and_definite_parts(void **state)
{
  char message[64] = "";

  (void)state;
  for (PetscInt order = 1; order <= 2; order++) {
    Block      *block = new_ordered_block("neo-hookean", order);
    FibreConfig fibres = {.direction = vector3(1, 2, -1)};
    ElementList elements = {.count = block->mesh->element_count,
                            .nodes = block->mesh->nodes,
                            .elements = block->mesh->elements,
                            .fibre_count = 1,
                            .fibres = &fibres};
    Vector3     dx[MOST_POINTS], df[MOST_POINTS], above[MOST_POINTS];
    uint64_t    seed = 51;
    PetscReal   slope;

    assert_success(FormulaCreate("3e4 + 1e4 * x", &fibres.stress, message, sizeof(message)));
    assert_success(block->force.kind->destroy(&block->force.data));
    block->force.kind = force_kind("fibres");
    assert_success(
        block->force.kind->create(&block->material, &elements, block->mesh->vertices, &block->force.data));
    shake(block, 5, 0.03);
    random_vectors(&seed, 1, dx);
    slope = (energy_at(block, dx, 1e-6) - energy_at(block, dx, -1e-6)) / 2e-6;
    find_forces(block);
    assert_near(-dot(block->f, dx) / slope, 1, 1e-6);
    assert_near(vector3_norm(sum_of(block->f)) / norm(block->f), 0, 1e-12);
    assert_near(vector3_norm(torque_of(block->x, block->f)) / norm(block->f), 0, 1e-12);
    apply_stiffness(block, DIFFERENTIAL_EXACT, dx, df);
    assert_true(dot(dx, df) < 0);
    for (PetscInt sign = 1; sign >= -1; sign -= 2) {
      for (PetscInt p = 0; p < block->count; p++)
        block->x[p] = vector3_add(block->x[p], vector3_scale(sign > 0 ? 1e-6 : -2e-6, dx[p]));
      find_forces(block);
      for (PetscInt p = 0; p < MOST_POINTS; p++)
        above[p] = vector3_add(sign > 0 ? vector3(0, 0, 0) : above[p],
                               vector3_scale((PetscReal)sign / 2e-6, block->f[p]));
    }
    for (PetscInt p = 0; p < MOST_POINTS; p++)
      above[p] = vector3_subtract(above[p], df[p]);
    assert_near(norm(above) / norm(df), 0, 1e-6);
    free_block(block);
    assert_success(FormulaDestroy(&fibres.stress));
  }
}

typedef struct {
  ElementList list;
  Vector3    *dx, *df;
} Products;

static void add_product(void *context, PetscInt element, const PetscReal matrix[])
{
  const Products *products = context;
  const PetscInt  width = DIM * products->list.nodes;

  for (PetscInt k = 0; k < width * width; k++) {
    const PetscInt *nodes = &products->list.elements[products->list.nodes * element];

    products->df[nodes[k / width / DIM]].at[k / width % DIM] -=
        matrix[k] * products->dx[nodes[k % width / DIM]].at[k % width % DIM];
  }
}

/* Matrices of elements do what differentials and damping do, to `bound`. */
static void assert_part(Block *block, DifferentialPart part, PetscReal bound)
{
  Vector3    dx[MOST_POINTS], df[MOST_POINTS], drag[MOST_POINTS], product[MOST_POINTS] = {{{0}}};
  uint64_t   seed = 47;
  Products   products = {block->force.kind->elements(block->force.data), dx, product};
  MatrixSink sink = {.stiffness = 2, .damping = 3, .part = part, .add = add_product, .context = &products};

  random_vectors(&seed, 1, dx);
  for (PetscInt p = block->count; p < MOST_POINTS; p++)
    dx[p] = vector3(0, 0, 0);
  apply_stiffness(block, part, dx, df);
  apply_damping(block, dx, drag);
  block->force.kind->assemble(block->force.data, &sink);
  for (PetscInt p = 0; p < MOST_POINTS; p++)
    product[p] =
        vector3_subtract(product[p], vector3_add(vector3_scale(2, df[p]), vector3_scale(3, drag[p])));
  assert_near(norm(product) / norm(df), 0, bound);
}

static void assert_matrices(Block *block)
{
  assert_part(block, DIFFERENTIAL_EXACT, 1e-12);
  assert_part(block, DIFFERENTIAL_DEFINITE, 1e-12);
}

static void matrices_are_those_of_the_forces(void **state)
{
  (void)state;
  for (PetscInt m = 0; models[m]; m++) {
    Block *block = new_block(models[m]);

    shake(block, 7, 0.05);
    if (block->force.kind->settle)
      block->force.kind->settle(block->force.data);
    shake(block, 9, 0.05);
    assert_matrices(block);
    free_block(block);
  }
  for (PetscInt k = 0; k < SPRING_BLOCKS; k++) {
    Block *block = new_spring_block(k);

    shake(block, 7, 0.03);
    assert_matrices(block);
    free_block(block);
  }
}

/* Where singular values are equal (at rest), of either sign, or vanish: one, or two. */
static void definite_matrices_are_those_of_any_strain(void **state)
{
  const PetscReal sizes[] = {0, 1e-9, 0.3, 0.05, 0.05};

  (void)state;
  for (PetscInt m = 0; models[m]; m++)
    for (PetscInt k = 0; k < (PetscInt)(sizeof(sizes) / sizeof(sizes[0])); k++) {
      Block *block = new_block(models[m]);

      shake(block, 7, sizes[k]);
      for (PetscInt p = 0; p < block->count && k > 2; p++) {
        block->x[p].at[Z] = 0.5 * block->x[p].at[X];
        if (k > 3)
          block->x[p].at[Y] = -2 * block->x[p].at[X];
      }
      find_forces(block);
      assert_part(block, DIFFERENTIAL_DEFINITE, 1e-9);
      free_block(block);
    }
}

/* Vertices within the rim go by so many times a random vector in their plane. */
static void shift_vertices(Mesh mesh, PetscReal size)
{
  uint64_t seed = 5;

  for (PetscInt p = 0; p < mesh->vertex_count; p++) {
    Vector3 *at = &mesh->vertices[p];

    for (PetscInt d = X; d <= Y; d++) {
      const PetscReal way = size * random_number(&seed);

      if (at->at[X] > 0.01 && at->at[X] < 0.99 && at->at[Y] > 0.01 && at->at[Y] < 0.99)
        at->at[d] += way;
    }
  }
}

/* Energy over D/2 times area and squared curvature of a square metre of cloth that is rolled up about an axis
   at this angle to y. */
static PetscReal rolled_energy(PetscInt across, PetscReal shift, PetscReal turn)
{
  const PetscReal     radius = 5;
  const PetscInt      cells[] = {across, across};
  SolidMaterialConfig material;
  Vector3            *x, *f;
  PetscReal           energy;
  ElementList         elements;
  Force               force;
  Mesh                mesh;

  assert_success(MeshCreateSheet(vector3(0, 0, 0), vector3(1, 0, 0), vector3(0, 1, 0), cells, &mesh));
  shift_vertices(mesh, shift / (PetscReal)across);
  take_material(&material, "bending", &force);
  elements = (ElementList){.count = mesh->element_count,
                           .nodes = mesh->nodes,
                           .elements = mesh->elements,
                           .section = SECTION_SHEET,
                           .thickness = 0.01};
  assert_success(force.kind->create(&material, &elements, mesh->vertices, &force.data));
  assert_success(PetscCalloc2(mesh->vertex_count, &x, mesh->vertex_count, &f));
  for (PetscInt p = 0; p < mesh->vertex_count; p++) {
    const Vector3   at = mesh->vertices[p];
    const PetscReal along = PetscCosReal(turn) * at.at[X] + PetscSinReal(turn) * at.at[Y];
    const PetscReal across_it = PetscCosReal(turn) * at.at[Y] - PetscSinReal(turn) * at.at[X];

    x[p] = vector3(radius * PetscSinReal(along / radius), across_it,
                   radius * (1 - PetscCosReal(along / radius)));
  }
  force.kind->add_elastic(force.data, x, f);
  energy = force_report(&force).energy / (0.5 * material.bending / (radius * radius));
  assert_success(PetscFree2(x, f));
  assert_success(force.kind->destroy(&force.data));
  assert_success(MeshDestroy(&mesh));
  return energy;
}

/* Whatever the triangles and the direction, but for a part at the rim that falls with their size. */
static void rolled_sheets_have_the_energy_of_bending(void **state)
{
  (void)state;
  for (PetscInt k = 0; k < 2; k++) /* halved squares, and any triangles */
    for (PetscInt degrees = 0; degrees < 180; degrees += 15) {
      const PetscReal turn = (PetscReal)degrees * PETSC_PI / 180;
      const PetscReal coarse = rolled_energy(20, 0.3 * (PetscReal)k, turn);
      const PetscReal fine = rolled_energy(40, 0.3 * (PetscReal)k, turn);

      assert_true(coarse > 0.94 && coarse < 0.96 && fine > 0.97 && fine < 1);
      if (k == 0)
        assert_near(2 * fine - coarse, 1, 1e-4);
    }
}

/* Force on the face at x = 1 or y = 1, which has the area 1 at rest. */
static PetscReal pull_on(const Block *block, PetscInt direction)
{
  PetscReal sum = 0;

  for (PetscInt p = 0; p < block->count; p++)
    if (block->mesh->vertices[p].at[direction] > 0.99)
      sum -= block->f[p].at[direction];
  return sum;
}

/* A logarithmic strain along x with the contraction that a bar has which has flown by `plastic`; the state
   follows. */
static void pull_bar(Block *block, PetscReal strain, PetscReal plastic)
{
  const PetscReal along = PetscExpReal(strain);
  const PetscReal across = PetscExpReal(-poisson * (strain - plastic) - 0.5 * plastic);

  for (PetscInt p = 0; p < block->count; p++) {
    const Vector3 x = block->mesh->vertices[p];

    block->x[p] = vector3(along * x.at[X], across * x.at[Y], across * x.at[Z]);
  }
  find_forces(block);
}

/* Pulled beyond its yield stress Y, tau = Y + H a and e = tau / E + a, in steps or at once; let go, a is what
   is left, and the bar yields again where it was let go, or 2 (Y + H a) below that. */
static void bars_yield_harden_and_keep_their_set(void **state)
{
  const PetscReal strain = 0.3, a = (young * strain - yield_stress) / (young + hardening);
  const PetscReal stress = yield_stress + hardening * a, back = a - 1.01 * stress / young;
  const PetscReal again = (stress - young * (a - back)) / (young + hardening); /* below 0: flow */

  (void)state;
  for (PetscInt order = 1; order <= 2; order++)
    for (PetscInt steps = 1; steps <= 20; steps += 19) {
      Block           *block = new_ordered_block("yielding", order);
      const ForceKind *kind = block->force.kind;
      PetscReal        work = 0;

      for (PetscInt k = 1; k <= steps; k++) {
        const PetscReal e = strain * (PetscReal)k / (PetscReal)steps;
        const PetscReal flow = PetscMax(0., (young * e - yield_stress) / (young + hardening));

        pull_bar(block, e, flow);
        assert_near(pull_on(block, X) * PetscExpReal(e) / (young * (e - flow)), 1, 1e-10);
        assert_near(pull_on(block, Y) / young, 0, 1e-10);
        assert_true(force_report(&block->force).plastic >= work);
        work = force_report(&block->force).plastic;
        kind->settle(block->force.data);
      }
      assert_near(work / (yield_stress * a + 0.5 * hardening * a * a), 1, 1e-10);
      pull_bar(block, a, a); /* let go */
      assert_near(norm(block->f) / young, 0, 1e-10);
      assert_near(force_report(&block->force).energy / young, 0, 1e-12);
      assert_near(force_report(&block->force).strain, a, 1e-12);
      kind->settle(block->force.data);
      pull_bar(block, back, a + again);
      assert_true(again < 0);
      assert_near(pull_on(block, X) * PetscExpReal(back) / (young * (back - a - again)), 1, 1e-9);
      assert_near(force_report(&block->force).strain, a - again, 1e-9);
      assert_true(force_report(&block->force).plastic > work);
      free_block(block);
    }
}

/* In a plastic state too: differences, definiteness and momenta. */
static void yielded_blocks_have_slopes_momenta_and_definite_parts(void **state)
{
  (void)state;
  for (PetscInt section = SECTION_PLANE_STRAIN; section <= SECTION_SHEET; section++) {
    Block *block = new_sheet("yielding", (ElementSection)section, 2);

    shake(block, 3, 0.02);
    no_depth(block->count, (ElementSection)section, block->x);
    find_forces(block);
    block->force.kind->settle(block->force.data);
    assert_true(force_report(&block->force).strain > 0.05);
    check_sheet(block, (ElementSection)section);
    free_block(block);
  }
}

TEST_MAIN(cmocka_unit_test(springs_have_slopes_momenta_and_definite_parts),
          cmocka_unit_test(fibres_have_slopes_momenta_and_definite_parts),
          cmocka_unit_test(matrices_are_those_of_the_forces),
          cmocka_unit_test(definite_matrices_are_those_of_any_strain),
          cmocka_unit_test(rolled_sheets_have_the_energy_of_bending),
          cmocka_unit_test(bars_yield_harden_and_keep_their_set),
          cmocka_unit_test(yielded_blocks_have_slopes_momenta_and_definite_parts),
          cmocka_unit_test(triangles_have_slopes_momenta_and_definite_parts),
          cmocka_unit_test(sheets_turn_freely_and_stretch_by_young),
          cmocka_unit_test(the_patch_test_is_passed), cmocka_unit_test(rigid_motions_make_no_forces),
          cmocka_unit_test(small_strains_follow_hooke), cmocka_unit_test(forces_are_slopes_of_the_energy),
          cmocka_unit_test(differentials_agree_with_differences),
          cmocka_unit_test(definite_differentials_have_no_positive_direction),
          cmocka_unit_test(compression_is_indefinite), cmocka_unit_test(forces_and_damping_keep_both_momenta),
          cmocka_unit_test(damping_takes_energy_but_not_from_rotation),
          cmocka_unit_test(the_differential_at_rest_is_the_exact_one_there))
