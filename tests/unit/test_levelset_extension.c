#include "harness.h"
#include "interface.h"

static PetscInt  dimension;
static const int cells = 32;

static PetscReal ball(Vector3 point)
{
  return vector3_norm(vector3_subtract(point, vector3(0.51, 0.48, dimension == 3 ? 0.5 : 0.))) - 0.27;
}

/* Many small ones, some of them beside each boundary between ranks. */
static PetscReal drops(Vector3 point)
{
  return 0.1 * (0.4 - PetscSinReal(33. * point.at[X] + 1.) * PetscSinReal(29. * point.at[Y] + 2.) *
                          PetscCosReal(31. * point.at[Z]));
}

static PetscReal slab(Vector3 point)
{
  return PetscAbsReal(point.at[Y] - 0.5) - 0.13;
}

/* A corner: the distance of two walls, smaller one counts. */
static PetscReal corner(Vector3 point)
{
  return PetscMax(point.at[X] - 0.4, point.at[Y] - 0.3);
}

static PetscReal one(Vector3 point)
{
  (void)point;
  return 1.;
}

static PetscReal along_slab(Vector3 point)
{
  return 1. + point.at[X] + PetscSqr(point.at[Z]);
}

/* Of the direction from the ball's centre alone. */
static PetscReal around_ball(Vector3 point)
{
  const Vector3 away = vector3_subtract(point, vector3(0.51, 0.48, dimension == 3 ? 0.5 : 0.));

  return 1. + (away.at[X] - 0.5 * away.at[Y] + away.at[Z]) / vector3_norm(away);
}

typedef struct {
  GridConfig config;
  MacGrid    grid;
  Vec        distance, known, field, faces[DIM];
} Case;

/* Known where the distance is negative; elsewhere the field holds -7. */
static PetscErrorCode CreateCase(MPI_Comm comm, PetscInt periodic, DistanceFunction distance,
                                 DistanceFunction values, Case *test)
{
  PetscReal *known, *field;

  PetscFunctionBegin;
  test->config = cube_grid(dimension, cells, 1.);
  test->config.periodic[X] = periodic ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(MacGridCreate(comm, &test->config, &test->grid));
  PetscCall(MacGridCreateField(test->grid, &test->distance));
  PetscCall(MacGridCreateField(test->grid, &test->known));
  PetscCall(MacGridCreateField(test->grid, &test->field));
  PetscCall(MacGridCreateFaceField(test->grid, test->faces));
  PetscCall(InterfaceFill(test->grid, distance, test->distance));
  PetscCall(MacGridMirrorGhosts(test->grid, test->distance));
  PetscCall(VecSet(test->known, 1.)); /* also where nobody may look: beyond the sides */
  PetscCall(VecSet(test->field, -7.));
  PetscCall(InterfaceFill(test->grid, distance, test->known));
  PetscCall(InterfaceFill(test->grid, values, test->field));
  PetscCall(VecGetArray(test->known, &known));
  PetscCall(VecGetArray(test->field, &field));
  for (PetscInt c = 0; c < grid_box(test->grid)->length; c++) {
    known[c] = known[c] == 1. || known[c] < 0. ? 1. : 0.;
    if (known[c] == 0.)
      field[c] = -7.;
  }
  PetscCall(VecRestoreArray(test->field, &field));
  PetscCall(VecRestoreArray(test->known, &known));
  PetscFunctionReturn(0);
}

static PetscErrorCode DestroyCase(Case *test)
{
  PetscFunctionBegin;
  PetscCall(MacGridDestroyFaceField(test->faces));
  PetscCall(VecDestroy(&test->field));
  PetscCall(VecDestroy(&test->known));
  PetscCall(VecDestroy(&test->distance));
  PetscCall(MacGridDestroy(&test->grid));
  PetscFunctionReturn(0);
}

/* Faces that touch a known cell from `values`, -7 elsewhere. */
static PetscErrorCode SetFaces(Case *test, DistanceFunction values)
{
  const GridBox   *box = grid_box(test->grid);
  const PetscReal *known;
  PetscReal       *faces[DIM];

  PetscFunctionBegin;
  PetscCall(MacGridExchange(test->grid, test->known));
  PetscCall(VecGetArrayRead(test->known, &known));
  PetscCall(MacGridGetFaces(test->grid, test->faces, faces));
  for (PetscInt d = 0; d < box->dimension; d++) {
    const GridRange owned = grid_faces(test->grid, d);

    for (PetscInt c = 0; c < box->length; c++)
      faces[d][c] = -7.;
    FOR_CELLS(&owned, i, j, k) {
      const PetscInt  at[DIM] = {i, j, k}, c = box_index(box, i, j, k);
      const PetscBool above = box->periodic[d] || at[d] < box->cells[d],
                      below = box->periodic[d] || at[d] > 0;

      if ((above && known[c] > 0.) || (below && known[c - box->stride[d]] > 0.))
        faces[d][c] = values(grid_face_centre(test->grid, d, i, j, k));
    }
  }
  PetscCall(MacGridRestoreFaces(test->grid, test->faces, faces));
  PetscCall(VecRestoreArrayRead(test->known, &known));
  PetscFunctionReturn(0);
}

static void values_are_constant_along_the_normal(void **state)
{
  FieldError error;
  Case       test;

  (void)state;
  for (dimension = 2; dimension <= 3; dimension++) {
    assert_success(CreateCase(PETSC_COMM_WORLD, 0, slab, along_slab, &test));
    assert_success(ExtendCells(test.grid, test.distance, test.known, 5, 1, &test.field));
    assert_success(InterfaceCompare(test.grid, test.field, along_slab, slab, 4.4 / cells, &error));
    assert_near(error.largest, 0., 1e-13);
    assert_success(DestroyCase(&test));
    assert_success(CreateCase(PETSC_COMM_WORLD, 0, ball, around_ball, &test));
    assert_success(ExtendCells(test.grid, test.distance, test.known, 5, 1, &test.field));
    assert_success(InterfaceCompare(test.grid, test.field, around_ball, ball, 2. / cells, &error));
    assert_on_all_ranks(error.largest < 0.12 && error.mean < 0.02); /* a cell's turn is 0.12 */
    assert_success(DestroyCase(&test));
  }
}

/* How many owned cells hold neither `a` nor `b`, and how many hold `b`. */
static PetscErrorCode CountValues(MacGrid grid, Vec field, PetscReal a, PetscReal b, PetscReal counts[2])
{
  const GridBox   *box = grid_box(grid);
  const PetscReal *value;

  PetscFunctionBegin;
  counts[0] = counts[1] = 0.;
  PetscCall(VecGetArrayRead(field, &value));
  FOR_CELLS(box, i, j, k) {
    const PetscReal v = value[box_index(box, i, j, k)];

    counts[0] += PetscAbsReal(v - a) > 1e-14 && v != b;
    counts[1] += v == b;
  }
  PetscCall(VecRestoreArrayRead(field, &value));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, counts, 2, MPIU_REAL, MPIU_SUM, box->comm));
  PetscFunctionReturn(0);
}

/* Around the corner of 13 x 10 known cells each layer adds two arms and one more cell of the diagonal. */
static void corners_are_filled_layer_by_layer(void **state)
{
  (void)state;
  dimension = 2;
  for (PetscInt layers = 0; layers <= 7; layers++) {
    PetscReal counts[2], filled = 13. * 10.;
    Case      test;

    for (PetscInt n = 1; n <= layers; n++)
      filled += 13. + 10. + (n - 1.);
    assert_success(CreateCase(PETSC_COMM_WORLD, 0, corner, one, &test));
    assert_success(ExtendCells(test.grid, test.distance, test.known, layers, 1, &test.field));
    assert_success(CountValues(test.grid, test.field, 1., -7., counts));
    assert_near(counts[0], 0., 0.);
    assert_near(cells * cells - counts[1], filled, 0.);
    assert_success(DestroyCase(&test));
  }
}

static void compare_faces(DistanceFunction distance, PetscInt layers)
{
  for (dimension = 2; dimension <= 3; dimension++)
    for (PetscInt periodic = 0; periodic < 2; periodic++) {
      Case      together, alone;
      PetscReal sum[2];

      assert_success(CreateCase(PETSC_COMM_WORLD, periodic, distance, around_ball, &together));
      assert_success(CreateCase(PETSC_COMM_SELF, periodic, distance, around_ball, &alone));
      assert_success(SetFaces(&together, around_ball));
      assert_success(SetFaces(&alone, around_ball));
      assert_success(ExtendFaces(together.grid, NULL, together.distance, together.known, 1, &layers,
                                 (Vec *[]){together.faces}));
      assert_success(
          ExtendFaces(alone.grid, NULL, alone.distance, alone.known, 1, &layers, (Vec *[]){alone.faces}));
      for (PetscInt d = 0; d < dimension; d++) {
        assert_success(InterfaceChecksum(together.grid, together.faces[d], &sum[0]));
        assert_success(InterfaceChecksum(alone.grid, alone.faces[d], &sum[1]));
        assert_near(sum[0] / sum[1], 1., 1e-13);
      }
      assert_success(DestroyCase(&together));
      assert_success(DestroyCase(&alone));
    }
}

static void faces_are_as_on_one_rank(void **state)
{
  const PetscInt layers[] = {1, 2, 9};

  (void)state;
  for (PetscInt n = 0; n < 3; n++) {
    compare_faces(ball, layers[n]);
    compare_faces(drops, layers[n]);
  }
}

TEST_MAIN(cmocka_unit_test(values_are_constant_along_the_normal),
          cmocka_unit_test(corners_are_filled_layer_by_layer), cmocka_unit_test(faces_are_as_on_one_rank))
