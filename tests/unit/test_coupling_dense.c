/* The coupled system of a small box, assembled from its definitions as a dense matrix and eliminated. */
#include "coupling_case.h"
#include "harness.h"
#include "solids.h"

#include "coupling/coupling_impl.h"

static PetscReal swirl(PetscInt d, Vector3 x)
{
  return PetscSinReal(3.1 * x.at[(d + 1) % 3] + d) +
         0.5 * PetscCosReal(2.3 * x.at[d] - 1.7 * x.at[(d + 2) % 3]);
}

/* The whole system as a dense matrix, from the definitions: cells, then free bodies. */
typedef struct {
  PetscInt  n, cells;
  PetscReal matrix[256][257]; /* and the right side */
} Dense;

static void add_face(CouplingCase *coupled, Dense *dense, PetscInt d, const PetscInt at[DIM], PetscReal u)
{
  const Coupling coupling = coupled->coupling;
  const GridBox *box = grid_box(coupled->grid);
  const PetscInt c = box_index(box, at[X], at[Y], at[Z]), kind = coupling->faces.kinds[d][c],
                 width = box->cells[X];
  const PetscReal scale = 1. / coupled->setup.density, area = coupling->area;
  PetscInt        cell[2] = {-1, -1};
  PetscReal       open = kind >= 0               ? coupling->faces.mixed[kind].open
                         : kind == COUPLED_SOLID ? 0.
                                                 : 1.,
            weight = at[d] > 0 && at[d] < box->cells[d] ? 1.
                     : d == 1 && at[d] > 0              ? 2.
                                                        : 0.;

  for (PetscInt side = 0; side < 2; side++) {
    PetscInt place[2] = {at[X], at[Y]};

    place[d] += side - 1;
    if (place[d] >= 0 && place[d] < box->cells[d])
      cell[side] =
          coupling->system.labels[place[0] + width * place[1]] >= 0 ? place[0] + width * place[1] : -1;
  }
  for (PetscInt i = 0; i < 2; i++)
    for (PetscInt j = 0; j < 2; j++)
      if (cell[i] >= 0 && cell[j] >= 0)
        dense->matrix[cell[i]][cell[j]] += (i == j ? 1. : -1.) * weight * open;
  for (PetscInt i = 0; i < 2; i++)
    if (cell[i] >= 0)
      dense->matrix[cell[i]][dense->n] += (i ? 1. : -1.) * area * open * u;
  for (PetscInt s = 0; kind >= 0 && s < coupling->faces.mixed[kind].count; s++) {
    const MixedFace          *mixed = &coupling->faces.mixed[kind];
    const InterpolationEntry *entry = &coupling->faces.entries[mixed->first + s];
    const PetscInt            first = dense->cells + 6 * entry->body;
    const SolidRow            sparse = entry_row(d, entry, 0);
    PetscReal                 row[6] = {0.};

    solid_row_add_force(&sparse, 1., row);
    for (PetscInt n = 0; n < 6; n++) {
      for (PetscInt i = 0; i < 2; i++)
        if (cell[i] >= 0) {
          dense->matrix[cell[i]][first + n] -= (i ? 1. : -1.) * area * row[n];
          dense->matrix[first + n][cell[i]] -= (i ? 1. : -1.) * area * row[n];
        }
      dense->matrix[first + n][dense->n] -= scale * mixed->mass * row[n] * u;
      for (PetscInt m = 0; m < 6; m++)
        dense->matrix[first + n][first + m] -= scale * mixed->mass * row[n] * row[m];
    }
  }
}

static void solve_dense(Dense *dense)
{
  const PetscInt n = dense->n;

  for (PetscInt p = 0; p < n; p++) {
    PetscInt best = p;

    for (PetscInt i = p; i < n; i++)
      best = PetscAbsReal(dense->matrix[i][p]) > PetscAbsReal(dense->matrix[best][p]) ? i : best;
    for (PetscInt j = 0; j <= n; j++) {
      const PetscReal kept = dense->matrix[p][j];

      dense->matrix[p][j] = dense->matrix[best][j];
      dense->matrix[best][j] = kept;
    }
    for (PetscInt i = 0; i < n; i++) {
      const PetscReal factor = i == p ? 0. : dense->matrix[i][p] / dense->matrix[p][p];

      for (PetscInt j = p; j <= n && factor != 0.; j++)
        dense->matrix[i][j] -= factor * dense->matrix[p][j];
    }
  }
  for (PetscInt i = 0; i < n; i++)
    dense->matrix[i][n] /= dense->matrix[i][i];
}

static void fill_dense(CouplingCase *coupled, Dense *dense)
{
  const PetscReal scale = 1. / coupled->setup.density;
  const PetscInt *cells = coupled->setup.cells;
  PetscInt        at[DIM] = {0, 0, 0};

  dense->cells = cells[X] * cells[Y];
  dense->n = dense->cells + 6 * coupled->count;
  for (PetscInt d = 0; d < 2; d++)
    for (at[Y] = 0; at[Y] < cells[Y] + (d == 1); at[Y]++)
      for (at[X] = 0; at[X] < cells[X] + (d == 0); at[X]++) {
        const PetscBool is_wall = at[d] == 0 || (d == 0 && at[d] == cells[d]);

        add_face(coupled, dense, d, at,
                 is_wall ? 0. : swirl(d, grid_face_centre(coupled->grid, d, at[X], at[Y], 0)));
      }
  for (PetscInt b = 0; b < coupled->count; b++)
    for (PetscInt n = 0; n < 6; n++) {
      const PetscInt i = dense->cells + 6 * b + n;

      for (PetscInt m = 0; m < 6; m++) {
        const PetscReal own = n < 3 && m == n    ? coupled->bodies[b].mass
                              : n >= 3 && m >= 3 ? coupled->bodies[b].inertia.at[n - 3][m - 3]
                                                 : 0.;

        dense->matrix[i][dense->cells + 6 * b + m] -= scale * own;
        dense->matrix[i][dense->n] -= scale * own * coupled->twists[6 * b + m];
      }
    }
  for (PetscInt c = 0; c < dense->cells; c++)
    dense->matrix[c][c] += coupled->coupling->system.labels[c] < 0 ? 1. : 0.;
}

static void check(CouplingFaces faces)
{
  for (CouplingSolver solver = COUPLING_MINRES; solver <= COUPLING_SCHUR; solver++) {
    const CouplingSetup setup = {.dimension = 2,
                                 .cells = {16, 12, 1},
                                 .length = 1.6,
                                 .is_open = PETSC_TRUE,
                                 .density = 3.,
                                 .solver = solver,
                                 .faces = faces,
                                 .tolerance = 1e-13};
    CouplingCase       *coupled = coupling_case_new(PETSC_COMM_SELF, &setup);
    Dense              *dense;
    PetscReal          *q;

    coupling_case_add_ball(coupled, 0.23, 1., vector3(0.52, 0.57, 0.));
    coupling_case_add(coupled, make_box(vector3(0.17, 0.12, 0.5)), 0., 5., vector3(1.13, 0.73, 0.),
                      vector3(0., 0., 0.5));
    coupling_case_start(coupled);
    coupling_case_fill(coupled, swirl);
    coupled->twists[0] = 1.;
    coupled->twists[11] = 2.;
    assert_int_equal(coupled->coupling->system.contact_count, 0);
    assert_success(PetscNew(&dense));
    fill_dense(coupled, dense);
    solve_dense(dense);
    coupling_case_solve(coupled);
    assert_success(VecGetArray(coupled->impulse, &q));
    for (PetscInt c = 0; c < dense->cells; c++)
      assert_near(q[box_index(grid_box(coupled->grid), c % 16, c / 16, 0)] / setup.density,
                  dense->matrix[c][dense->n], 1e-10);
    assert_success(VecRestoreArray(coupled->impulse, &q));
    for (PetscInt n = 0; n < 12; n++)
      assert_near(coupled->twists[n], dense->matrix[dense->cells + n][dense->n], 1e-10);
    assert_success(PetscFree(dense));
    coupling_case_free(coupled);
  }
}

static void cut_faces_are_those_of_the_dense_system(void **state)
{
  (void)state;
  check(COUPLING_CUT);
}

static void tied_faces_are_those_of_the_dense_system(void **state)
{
  (void)state;
  check(COUPLING_TIED);
}

TEST_MAIN(cmocka_unit_test(cut_faces_are_those_of_the_dense_system),
          cmocka_unit_test(tied_faces_are_those_of_the_dense_system))
