/* The simultaneous resolution of interpenetration, thesis (3.1)-(3.4).

   A motion u of a body is u = S y with S S^T = M^-1, which measures it by the body's mass, and displaces a
   point at the arm r by G u = translation + rotation x r. At its points an outer body shall move by d
   relative to the central one: G_o S_o x = d + G_c S_c y (or n^T times that). Solved for x with the least
   |x|, this is x = a + X y; its impulses on the central body are -X^T x, so that the sum over all outer
   bodies gives (1 + sum X^T X) y = -sum X^T a, which is (3.2). Fixed bodies ask for G_c S_c y = -d instead:
   that determines some of the six degrees of freedom, and the system is solved in the rest. See
   docs/numerics.md. */
#include "push_out.h"

#include <millrace/dense.h>
#include "scale.h"

enum { SIDES = 1 + TWIST };

/* Motions that the points of a body resist a thousand times less than the one they resist most are free:
   resisting would turn small disagreements into large motions. */
static const PetscReal least_resistance = 1e-3;

/* G S: the scaled freedoms of a body to the displacement of a point. */
typedef struct {
  PetscReal at[DIM][TWIST];
} Lever;

/* rows x = right: demands on the scaled freedoms x of a body. The first right side is a number, the others,
   if there are any, multiply the freedoms of the central body. */
typedef struct {
  PetscInt  count, sides;
  PetscBool triangular; /* as soon as there would be more rows than freedoms */
  PetscReal rows[TWIST][TWIST];
  PetscReal right[TWIST][SIDES];
} Demands;

/* matrix y = -force */
typedef struct {
  PetscReal matrix[TWIST][TWIST], force[TWIST];
} System;

typedef struct {
  PushMode        mode;
  const Vector3  *centres;
  const Mobility *mobilities;
  PetscInt        central, count;
  const Outer    *outers;
} Problem;

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

static void component(const Lever *lever, Vector3 axis, PetscReal row[TWIST])
{
  for (PetscInt i = 0; i < TWIST; i++)
    row[i] = vector3_dot(axis, vector3(lever->at[X][i], lever->at[Y][i], lever->at[Z][i]));
}

/* (a, b) -> (c a + s b, c b - s a), component by component. */
static void rotate(PetscInt n, PetscReal c, PetscReal s, PetscReal a[], PetscReal b[])
{
  for (PetscInt i = 0; i < n; i++) {
    const PetscReal old = a[i];

    a[i] = c * old + s * b[i];
    b[i] = c * b[i] - s * old;
  }
}

/* Rotates a row into the triangle of rows. What remains of its right side, no motion can satisfy. */
static void rotate_into(Demands *demands, PetscReal row[TWIST], PetscReal right[SIDES])
{
  for (PetscInt i = 0; i < TWIST; i++) {
    PetscReal      *pivot = demands->rows[i];
    const PetscReal length = PetscSqrtReal(pivot[i] * pivot[i] + row[i] * row[i]);
    const PetscReal c = length > 0 ? pivot[i] / length : 1, s = length > 0 ? row[i] / length : 0;

    rotate(TWIST - i, c, s, pivot + i, row + i);
    rotate(demands->sides, c, s, demands->right[i], right);
  }
}

static void add_row(Demands *demands, PetscReal row[TWIST], PetscReal right[SIDES])
{
  if (demands->count < TWIST) {
    for (PetscInt i = 0; i < TWIST; i++)
      demands->rows[demands->count][i] = row[i];
    for (PetscInt i = 0; i < demands->sides; i++)
      demands->right[demands->count][i] = right[i];
    demands->count++;
    return;
  }
  if (!demands->triangular) {
    Demands old = *demands;

    *demands = (Demands){.count = old.count, .sides = old.sides, .triangular = PETSC_TRUE};
    for (PetscInt k = 0; k < TWIST; k++)
      rotate_into(demands, old.rows[k], old.right[k]);
  }
  rotate_into(demands, row, right);
}

/* `moved` (of the body that shall obey) = `separation` + `follows` (the central body; may be null). */
static void add_point(Demands *demands, const Problem *problem, const Outer *outer, Vector3 separation,
                      const Lever *moved, const Lever *follows)
{
  const PetscInt rows = problem->mode == PUSH_FULLY ? DIM : 1;

  for (PetscInt k = 0; k < rows; k++) {
    const Vector3 axis = problem->mode == PUSH_FULLY ? vector3(k == X, k == Y, k == Z) : outer->normal;
    PetscReal     row[TWIST], right[SIDES] = {vector3_dot(axis, separation)};

    component(moved, axis, row);
    if (follows)
      component(follows, axis, right + 1);
    add_row(demands, row, right);
  }
}

static PetscReal row_product(const Demands *demands, PetscInt p, PetscInt q)
{
  PetscReal sum = 0;

  for (PetscInt i = 0; i < TWIST; i++)
    sum += demands->rows[p][i] * demands->rows[q][i];
  return sum;
}

/* Makes two rows orthogonal; false if they are so already. */
static PetscBool rotate_rows(Demands *demands, PetscInt p, PetscInt q)
{
  const PetscReal pp = row_product(demands, p, p), qq = row_product(demands, q, q);
  const PetscReal pq = row_product(demands, p, q);
  PetscReal       theta, t, c, s;

  if (PetscAbsReal(pq) <= PETSC_MACHINE_EPSILON * PetscSqrtReal(pp * qq))
    return PETSC_FALSE;
  theta = 0.5 * (qq - pp) / pq;
  t = (theta < 0 ? -1 : 1) / (PetscAbsReal(theta) + PetscSqrtReal(theta * theta + 1));
  c = 1 / PetscSqrtReal(t * t + 1);
  s = t * c;
  rotate(TWIST, c, -s, demands->rows[p], demands->rows[q]);
  rotate(demands->sides, c, -s, demands->right[p], demands->right[q]);
  return PETSC_TRUE;
}

/* Keeps the rows that are longer than a part of the longest one. */
static void drop_rows(Demands *demands, PetscReal part)
{
  PetscReal squares[TWIST], largest = 0;
  PetscInt  kept = 0;

  for (PetscInt k = 0; k < demands->count; k++) {
    squares[k] = row_product(demands, k, k);
    largest = PetscMax(largest, squares[k]);
  }
  for (PetscInt k = 0; k < demands->count; k++)
    if (squares[k] > part * part * largest) {
      for (PetscInt i = 0; i < TWIST; i++)
        demands->rows[kept][i] = demands->rows[k][i];
      for (PetscInt i = 0; i < demands->sides; i++)
        demands->right[kept][i] = demands->right[k][i];
      kept++;
    }
  demands->count = kept;
}

/* The same demands on an orthonormal basis of the motions that they determine (a singular value decomposition
   by one-sided Jacobi): x = sum of rows times right sides. */
static void reduce(Demands *demands)
{
  enum { SWEEPS = 16 }; /* the convergence is quadratic */
  const PetscReal round_off = 1e-14;
  PetscBool       turned = PETSC_TRUE;

  for (PetscInt sweep = 0; turned && sweep < SWEEPS; sweep++) {
    turned = PETSC_FALSE;
    drop_rows(demands, round_off);
    for (PetscInt p = 0; p < demands->count; p++)
      for (PetscInt q = p + 1; q < demands->count; q++)
        if (rotate_rows(demands, p, q))
          turned = PETSC_TRUE;
  }
  drop_rows(demands, least_resistance);
  for (PetscInt k = 0; k < demands->count; k++) {
    const PetscReal length = PetscSqrtReal(row_product(demands, k, k));

    for (PetscInt i = 0; i < TWIST; i++)
      demands->rows[k][i] /= length;
    for (PetscInt i = 0; i < demands->sides; i++)
      demands->right[k][i] /= length;
  }
}

/* The motion of the first right sides. */
static void determined(const Demands *demands, PetscReal x[TWIST])
{
  for (PetscInt i = 0; i < TWIST; i++) {
    x[i] = 0;
    for (PetscInt k = 0; k < demands->count; k++)
      x[i] += demands->rows[k][i] * demands->right[k][0];
  }
}

/* X^T X and X^T a of a body that moves. */
static void add_body(System *system, const Demands *demands)
{
  for (PetscInt k = 0; k < demands->count; k++) {
    const PetscReal *follows = demands->right[k] + 1;

    for (PetscInt i = 0; i < TWIST; i++) {
      system->force[i] += follows[i] * demands->right[k][0];
      for (PetscInt j = 0; j < TWIST; j++)
        system->matrix[i][j] += follows[i] * follows[j];
    }
  }
}

/* Orthonormal columns for what the demands leave free, and their number: the Cholesky factor, with the
   largest pivot first, of the projection onto it. */
static PetscInt complement(const Demands *demands, PetscReal basis[TWIST][TWIST])
{
  const PetscInt count = TWIST - demands->count;
  PetscReal      projection[TWIST][TWIST];

  for (PetscInt i = 0; i < TWIST; i++)
    for (PetscInt j = 0; j < TWIST; j++) {
      projection[i][j] = i == j;
      for (PetscInt k = 0; k < demands->count; k++)
        projection[i][j] -= demands->rows[k][i] * demands->rows[k][j];
    }
  for (PetscInt k = 0; k < count; k++) {
    PetscInt  pivot = 0;
    PetscReal root;

    for (PetscInt i = 1; i < TWIST; i++)
      if (projection[i][i] > projection[pivot][pivot])
        pivot = i;
    root = PetscSqrtReal(projection[pivot][pivot]);
    for (PetscInt i = 0; i < TWIST; i++)
      basis[i][k] = projection[i][pivot] / root;
    for (PetscInt i = 0; i < TWIST; i++)
      for (PetscInt j = 0; j < TWIST; j++)
        projection[i][j] -= basis[i][k] * basis[j][k];
  }
  return count;
}

/* With y from the fixed bodies and the columns Z of what they leave free:
   Z^T A Z z = -Z^T (force + A y), then y + Z z. */
static void solve(const System *system, const Demands *fixed, PetscReal y[TWIST])
{
  PetscReal      basis[TWIST][TWIST], reduced[TWIST][TWIST] = {{0}}, z[TWIST] = {0};
  const PetscInt count = complement(fixed, basis);

  determined(fixed, y);
  for (PetscInt i = 0; i < TWIST; i++) {
    PetscReal force = system->force[i], image[TWIST] = {0};

    for (PetscInt j = 0; j < TWIST; j++) {
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
  dense_cholesky(count, TWIST, &reduced[0][0]);
  dense_cholesky_solve(count, TWIST, &reduced[0][0], z);
  for (PetscInt i = 0; i < TWIST; i++)
    for (PetscInt k = 0; k < count; k++)
      y[i] += basis[i][k] * z[k];
}

static PetscBool moves(const Problem *problem, PetscInt body)
{
  return problem->mobilities[body].inverse_mass > 0 ? PETSC_TRUE : PETSC_FALSE;
}

static Vector3 arm_of(const Problem *problem, const Outer *outer, PetscInt body)
{
  return vector3_subtract(outer->point, problem->centres[body]);
}

/* One after the last entry of the body that has entry `begin`. */
static PetscInt end_of_body(const Problem *problem, PetscInt begin)
{
  PetscInt end = begin + 1;

  while (end < problem->count && problem->outers[end].body == problem->outers[begin].body)
    end++;
  return end;
}

static Twist central_motion(const Problem *problem)
{
  const Scale scale = scale_of(&problem->mobilities[problem->central]);
  Demands     fixed = {.sides = 1};
  System      system = {{{0}}, {0}};
  PetscReal   y[TWIST];

  for (PetscInt i = 0; i < TWIST; i++)
    system.matrix[i][i] = 1;
  for (PetscInt begin = 0, end; begin < problem->count; begin = end) {
    const PetscInt  body = problem->outers[begin].body;
    const PetscBool free = moves(problem, body);
    const Scale     outer_scale = scale_of(&problem->mobilities[body]);
    Demands         demands = {.sides = SIDES};

    end = end_of_body(problem, begin);
    for (PetscInt k = begin; k < end; k++) {
      const Outer *outer = &problem->outers[k];
      const Lever  central = lever_at(&scale, arm_of(problem, outer, problem->central));
      const Lever  lever = lever_at(&outer_scale, arm_of(problem, outer, body));

      if (free)
        add_point(&demands, problem, outer, outer->separation, &lever, &central);
      else
        add_point(&fixed, problem, outer, vector3_scale(-1, outer->separation), &central, NULL);
    }
    reduce(&demands);
    add_body(&system, &demands);
  }
  reduce(&fixed);
  solve(&system, &fixed, y);
  return unscaled(&scale, y);
}

/* Of the body of the entries from `begin` to `end`, after the central one. */
static Twist outer_motion(const Problem *problem, PetscInt begin, PetscInt end, const Twist *central)
{
  const PetscInt body = problem->outers[begin].body;
  const Scale    scale = scale_of(&problem->mobilities[body]);
  Demands        demands = {.sides = 1};
  PetscReal      x[TWIST];

  for (PetscInt k = begin; k < end; k++) {
    const Outer  *outer = &problem->outers[k];
    const Lever   lever = lever_at(&scale, arm_of(problem, outer, body));
    const Vector3 moved = twist_at(central, arm_of(problem, outer, problem->central));

    add_point(&demands, problem, outer, vector3_add(outer->separation, moved), &lever, NULL);
  }
  reduce(&demands);
  determined(&demands, x);
  return unscaled(&scale, x);
}

void push_out(PushMode mode, const Vector3 centres[], const Mobility mobilities[], PetscInt central,
              PetscInt count, const Outer outers[], Twist *central_move, Twist outer_moves[])
{
  const Problem problem = {mode, centres, mobilities, central, count, outers};

  *central_move = (Twist){{{0}}, {{0}}};
  if (moves(&problem, central))
    *central_move = central_motion(&problem);
  for (PetscInt begin = 0, end; begin < count; begin = end) {
    Twist motion = {{{0}}, {{0}}};

    end = end_of_body(&problem, begin);
    if (moves(&problem, outers[begin].body))
      motion = outer_motion(&problem, begin, end, central_move);
    for (PetscInt k = begin; k < end; k++)
      outer_moves[k] = motion;
  }
}
