/* The simultaneous resolution of interpenetration, thesis (3.1)-(3.4).

   An outer body o takes an impulse j at its point and the central body takes -j, so that
     K j - G u = d   with   G u = translation + rotation x r
   for the motion u of the central body. Eliminating the impulses with the stiffness L = K^-1, or
   L = n n^T / (n^T K n) along normals, leaves (M + sum G^T L G) u = -sum G^T L d. With u = S y, where
   S S^T = M^-1, everything is measured by the central body's mass and M turns into the identity. Fixed
   bodies ask for G S y = -d instead: a QR and an SVD split the six degrees of freedom into those that they
   determine and the rest, in which the system is solved. See docs/numerics.md. */
#include "push_out.h"

enum { FREEDOMS = 2 * DIM };

/* Motions that fixed bodies could only resist a thousand times less than the one they resist most are free:
   resisting would turn small disagreements into large motions. */
static const PetscReal least_resistance = 1e-3;

/* S: the scaled freedoms y to the motion of the central body. */
typedef struct {
  PetscReal linear;
  Matrix3   angular;
} Scale;

/* G S: the scaled freedoms to the displacement of a point. */
typedef struct {
  PetscReal at[DIM][FREEDOMS];
} Lever;

/* What is known of y: matrix y = -right for the bodies that move, triangle y = known for the fixed ones. */
typedef struct {
  PetscReal matrix[FREEDOMS][FREEDOMS], right[FREEDOMS];
  PetscReal triangle[FREEDOMS][FREEDOMS], known[FREEDOMS];
  PetscBool any_fixed;
} System;

/* The lower Cholesky factor of a matrix that may be semidefinite. */
static Matrix3 cholesky3(const Matrix3 *m)
{
  const PetscReal least = PETSC_MACHINE_EPSILON * (m->at[X][X] + m->at[Y][Y] + m->at[Z][Z]);
  Matrix3         factor = {{{0}}};

  for (PetscInt j = 0; j < DIM; j++) {
    PetscReal pivot = m->at[j][j];

    for (PetscInt k = 0; k < j; k++)
      pivot -= factor.at[j][k] * factor.at[j][k];
    if (pivot <= least)
      continue;
    factor.at[j][j] = PetscSqrtReal(pivot);
    for (PetscInt i = j + 1; i < DIM; i++) {
      PetscReal sum = m->at[i][j];

      for (PetscInt k = 0; k < j; k++)
        sum -= factor.at[i][k] * factor.at[j][k];
      factor.at[i][j] = sum / factor.at[j][j];
    }
  }
  return factor;
}

static Lever lever_at(const Scale *scale, Vector3 arm)
{
  Lever lever = {{{0}}};

  for (PetscInt k = 0; k < DIM; k++) {
    const Vector3 turn = vector3(scale->angular.at[X][k], scale->angular.at[Y][k], scale->angular.at[Z][k]);
    const Vector3 moved = vector3_cross(turn, arm);

    lever.at[k][k] = scale->linear;
    for (PetscInt d = 0; d < DIM; d++)
      lever.at[d][DIM + k] = moved.at[d];
  }
  return lever;
}

/* K: what an impulse at the arm does to the point there. */
static Matrix3 compliance(const Mobility *mobility, Vector3 arm)
{
  Matrix3 k;

  for (PetscInt column = 0; column < DIM; column++) {
    const Vector3 unit = vector3(column == X, column == Y, column == Z);
    Twist         twist = {{{0}}, {{0}}};
    Vector3       moved;

    twist_push(&twist, mobility, arm, unit);
    moved = twist_at(&twist, arm);
    for (PetscInt row = 0; row < DIM; row++)
      k.at[row][column] = moved.at[row];
  }
  return k;
}

/* weight n n^T */
static Matrix3 along(Vector3 normal, PetscReal weight)
{
  Matrix3 m;

  for (PetscInt i = 0; i < DIM; i++)
    for (PetscInt j = 0; j < DIM; j++)
      m.at[i][j] = weight * normal.at[i] * normal.at[j];
  return m;
}

/* L: the impulse for a displacement of the point. */
static Matrix3 stiffness(PushMode mode, const Mobility *mobility, Vector3 arm, Vector3 normal)
{
  const Matrix3 k = compliance(mobility, arm);
  PetscReal     weight;

  if (mode == PUSH_FULLY)
    return matrix3_inverse_symmetric(&k);
  weight = vector3_dot(normal, matrix3_apply(&k, normal));
  return along(normal, weight > 0 ? 1 / weight : 0);
}

static void add_moving(System *system, const Lever *lever, const Matrix3 *l, Vector3 separation)
{
  const Vector3 impulse = matrix3_apply(l, separation);

  for (PetscInt i = 0; i < FREEDOMS; i++) {
    const Vector3 column = vector3(lever->at[X][i], lever->at[Y][i], lever->at[Z][i]);
    const Vector3 pushed = matrix3_apply(l, column);

    system->right[i] += vector3_dot(column, impulse);
    for (PetscInt j = 0; j <= i; j++)
      system->matrix[i][j] +=
          pushed.at[X] * lever->at[X][j] + pushed.at[Y] * lever->at[Y][j] + pushed.at[Z] * lever->at[Z][j];
  }
}

/* Rotates the equation row y = value into the triangle; what remains of it is the part of the value that no
   motion can satisfy. */
static void add_row(System *system, PetscReal row[FREEDOMS], PetscReal value)
{
  for (PetscInt i = 0; i < FREEDOMS; i++) {
    PetscReal      *pivot = system->triangle[i];
    const PetscReal length = PetscSqrtReal(pivot[i] * pivot[i] + row[i] * row[i]);
    const PetscReal c = length > 0 ? pivot[i] / length : 1, s = length > 0 ? row[i] / length : 0;
    const PetscReal known = system->known[i];

    for (PetscInt j = i; j < FREEDOMS; j++) {
      const PetscReal upper = pivot[j];

      pivot[j] = c * upper + s * row[j];
      row[j] = c * row[j] - s * upper;
    }
    system->known[i] = c * known + s * value;
    value = c * value - s * known;
  }
}

static void add_fixed(System *system, PushMode mode, const Lever *lever, const Outer *outer)
{
  const PetscInt rows = mode == PUSH_FULLY ? DIM : 1;

  system->any_fixed = PETSC_TRUE;
  for (PetscInt k = 0; k < rows; k++) {
    const Vector3 axis = mode == PUSH_FULLY ? vector3(k == X, k == Y, k == Z) : outer->normal;
    PetscReal     row[FREEDOMS];

    for (PetscInt i = 0; i < FREEDOMS; i++)
      row[i] = vector3_dot(axis, vector3(lever->at[X][i], lever->at[Y][i], lever->at[Z][i]));
    add_row(system, row, -vector3_dot(axis, outer->separation));
  }
}

/* Makes columns p and q of `w` orthogonal, and turns those of `v` alike; false if they are so already, as a
   column whose square is at most `negligible` is to any other. */
static PetscBool rotate_columns(PetscReal w[FREEDOMS][FREEDOMS], PetscReal v[FREEDOMS][FREEDOMS], PetscInt p,
                                PetscInt q, PetscReal negligible)
{
  PetscReal pp = 0, qq = 0, pq = 0, theta, t, c, s;

  for (PetscInt i = 0; i < FREEDOMS; i++) {
    pp += w[i][p] * w[i][p];
    qq += w[i][q] * w[i][q];
    pq += w[i][p] * w[i][q];
  }
  if (PetscMin(pp, qq) <= negligible || PetscAbsReal(pq) <= PETSC_MACHINE_EPSILON * PetscSqrtReal(pp * qq))
    return PETSC_FALSE;
  theta = 0.5 * (qq - pp) / pq;
  t = (theta < 0 ? -1 : 1) / (PetscAbsReal(theta) + PetscSqrtReal(theta * theta + 1));
  c = 1 / PetscSqrtReal(t * t + 1);
  s = t * c;
  for (PetscInt i = 0; i < FREEDOMS; i++) {
    const PetscReal a = w[i][p], b = w[i][q], e = v[i][p], f = v[i][q];

    w[i][p] = c * a - s * b;
    w[i][q] = s * a + c * b;
    v[i][p] = c * e - s * f;
    v[i][q] = s * e + c * f;
  }
  return PETSC_TRUE;
}

/* The singular vectors `v` of the matrix `w` (one-sided Jacobi), which turns into w v. */
static void orthogonalize(PetscReal w[FREEDOMS][FREEDOMS], PetscReal v[FREEDOMS][FREEDOMS])
{
  enum { SWEEPS = 16 }; /* the convergence is quadratic */
  const PetscReal round_off = 1e-14;
  PetscReal       sum = 0;
  PetscBool       turned = PETSC_TRUE;

  for (PetscInt i = 0; i < FREEDOMS; i++)
    for (PetscInt j = 0; j < FREEDOMS; j++) {
      v[i][j] = i == j;
      sum += w[i][j] * w[i][j];
    }
  for (PetscInt sweep = 0; turned && sweep < SWEEPS; sweep++) {
    turned = PETSC_FALSE;
    for (PetscInt p = 0; p < FREEDOMS; p++)
      for (PetscInt q = p + 1; q < FREEDOMS; q++)
        if (rotate_columns(w, v, p, q, round_off * round_off * sum))
          turned = PETSC_TRUE;
  }
}

/* What the fixed bodies determine goes to `y`; the orthonormal columns of `basis` span the rest, and their
   number is returned. */
static PetscInt split(System *system, PetscReal y[FREEDOMS], PetscReal basis[FREEDOMS][FREEDOMS])
{
  PetscReal v[FREEDOMS][FREEDOMS], squares[FREEDOMS] = {0}, values[FREEDOMS] = {0}, largest = 0;
  PetscInt  free_count = 0;

  orthogonalize(system->triangle, v);
  for (PetscInt k = 0; k < FREEDOMS; k++) {
    for (PetscInt i = 0; i < FREEDOMS; i++) {
      squares[k] += system->triangle[i][k] * system->triangle[i][k];
      values[k] += system->triangle[i][k] * system->known[i];
    }
    largest = PetscMax(largest, squares[k]);
  }
  for (PetscInt k = 0; k < FREEDOMS; k++) {
    const PetscBool determined = squares[k] > least_resistance * least_resistance * largest;

    for (PetscInt i = 0; i < FREEDOMS; i++)
      if (determined)
        y[i] += v[i][k] * values[k] / squares[k];
      else
        basis[i][free_count] = v[i][k];
    if (!determined)
      free_count++;
  }
  return free_count;
}

/* a x = b for a positive definite matrix, of which the lower half is given; both are overwritten. */
static void solve_definite(PetscInt n, PetscReal a[FREEDOMS][FREEDOMS], PetscReal b[FREEDOMS])
{
  for (PetscInt j = 0; j < n; j++) {
    for (PetscInt k = 0; k < j; k++)
      for (PetscInt i = j; i < n; i++)
        a[i][j] -= a[i][k] * a[j][k];
    for (PetscInt i = n - 1; i >= j; i--)
      a[i][j] /= PetscSqrtReal(a[j][j]);
  }
  for (PetscInt i = 0; i < n; i++) {
    for (PetscInt k = 0; k < i; k++)
      b[i] -= a[i][k] * b[k];
    b[i] /= a[i][i];
  }
  for (PetscInt i = n - 1; i >= 0; i--) {
    for (PetscInt k = i + 1; k < n; k++)
      b[i] -= a[k][i] * b[k];
    b[i] /= a[i][i];
  }
}

/* The system in the columns Z of the basis: Z^T A Z z = -Z^T (right + A y), then y + Z z. */
static void solve_in_basis(System *system, PetscInt count, PetscReal basis[FREEDOMS][FREEDOMS],
                           PetscReal y[FREEDOMS])
{
  PetscReal reduced[FREEDOMS][FREEDOMS] = {{0}}, z[FREEDOMS] = {0};

  for (PetscInt i = 0; i < FREEDOMS; i++) {
    PetscReal force = system->right[i], image[FREEDOMS] = {0};

    for (PetscInt j = 0; j < FREEDOMS; j++) {
      force += system->matrix[i][j] * y[j];
      for (PetscInt k = 0; k < count; k++)
        image[k] += system->matrix[i][j] * basis[j][k];
    }
    for (PetscInt k = 0; k < count; k++) {
      z[k] -= basis[i][k] * force;
      for (PetscInt l = 0; l <= k; l++)
        reduced[k][l] += basis[i][k] * image[l];
    }
  }
  solve_definite(count, reduced, z);
  for (PetscInt i = 0; i < FREEDOMS; i++)
    for (PetscInt k = 0; k < count; k++)
      y[i] += basis[i][k] * z[k];
}

static void solve(System *system, PetscReal y[FREEDOMS])
{
  PetscReal basis[FREEDOMS][FREEDOMS];

  for (PetscInt i = 0; i < FREEDOMS; i++) {
    y[i] = 0;
    system->matrix[i][i] += 1;
    for (PetscInt j = 0; j < i; j++)
      system->matrix[j][i] = system->matrix[i][j];
  }
  if (system->any_fixed) {
    solve_in_basis(system, split(system, y, basis), basis, y);
    return;
  }
  for (PetscInt i = 0; i < FREEDOMS; i++)
    y[i] = -system->right[i];
  solve_definite(FREEDOMS, system->matrix, y);
}

static PetscBool moves(const Mobility *mobility)
{
  return mobility->inverse_mass > 0 ? PETSC_TRUE : PETSC_FALSE;
}

static Twist central_motion(PushMode mode, const Vector3 centers[], const Mobility mobilities[],
                            PetscInt central, PetscInt count, const Outer outers[])
{
  const Mobility *mobility = &mobilities[central];
  const Scale     scale = {PetscSqrtReal(mobility->inverse_mass), cholesky3(&mobility->inverse_inertia)};
  System          system = {{{0}}, {0}, {{0}}, {0}, PETSC_FALSE};
  PetscReal       y[FREEDOMS];
  Twist           motion;

  for (PetscInt k = 0; k < count; k++) {
    const Outer   *outer = &outers[k];
    const Mobility other = mobilities[outer->body];
    const Lever    lever = lever_at(&scale, vector3_subtract(outer->point, centers[central]));

    if (moves(&other)) {
      const Vector3 arm = vector3_subtract(outer->point, centers[outer->body]);
      const Matrix3 l = stiffness(mode, &other, arm, outer->normal);

      add_moving(&system, &lever, &l, outer->separation);
    } else
      add_fixed(&system, mode, &lever, outer);
  }
  solve(&system, y);
  motion.linear = vector3_scale(scale.linear, vector3(y[0], y[1], y[2]));
  motion.angular = matrix3_apply(&scale.angular, vector3(y[3], y[4], y[5]));
  return motion;
}

void push_out(PushMode mode, const Vector3 centers[], const Mobility mobilities[], PetscInt central,
              PetscInt count, const Outer outers[], Twist *central_move, Twist outer_moves[])
{
  *central_move = (Twist){{{0}}, {{0}}};
  if (moves(&mobilities[central]))
    *central_move = central_motion(mode, centers, mobilities, central, count, outers);
  for (PetscInt k = 0; k < count; k++) {
    const Outer    *outer = &outers[k];
    const Mobility *mobility = &mobilities[outer->body];
    const Vector3   arm = vector3_subtract(outer->point, centers[outer->body]);
    const Vector3   central_arm = vector3_subtract(outer->point, centers[central]);

    outer_moves[k] = (Twist){{{0}}, {{0}}};
    if (moves(mobility)) {
      const Matrix3 l = stiffness(mode, mobility, arm, outer->normal);
      const Vector3 wanted = vector3_add(outer->separation, twist_at(central_move, central_arm));

      twist_push(&outer_moves[k], mobility, arm, matrix3_apply(&l, wanted));
    }
  }
}
