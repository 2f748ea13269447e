/* Bending of triangles, each with its neighbours. With an edge from x_0 to x_1, the opposite corners x_2 and
   x_3 and the angles at rest at the ends of the edge, the weights

     k = (c_1 + c'_1, c_0 + c'_0, -c_0 - c_1, -c'_0 - c'_1),   c cotangents at x_0 and x_1 in either triangle,

   make s = sum k x zero of what is flat and as long as the edge times the angle between others (Bergou et al.
   2006). Three such sums fit a quadratic surface over a triangle, unfolded with its neighbours, with the
   curvature K'; at the rim no moment, K_nn + nu K_tt = 0, takes the place of a sum. From its plane to a
   quadratic surface at the middle of an edge of length l a triangle turns by -a(K), its neighbour by -a'(K),
   l (a + a')(K) = s. So a triangle has the part

     r = w s + l (a - w (a + a'))((K' + K'')/2),   w = a . (a + a') / |a + a'|^2,

   of s, with the curvatures K' and K'' of both, and its neighbour the rest; and the curvature, with unit
   vectors n across its sides in its plane,

     K = (1/A) sum r n n^T,

   which is that of quadratic surfaces however the triangles lie. Parts make up the whole, so constant moments
   are in equilibrium in every mesh, as in the elements of Morley. At the rim no moment acts: that is taken
   out of K. The energy is that of a plate, D/2 ((1 - nu) K:K + nu tr^2 K) per area, which is D/2 |q|^2 with

     q = (sqrt((1 + nu)/2) (K_11 + K_22), sqrt((1 - nu)/2) (K_11 - K_22), sqrt(2 (1 - nu)) K_12):

   three springs of weights, whose lengths do not change where triangles keep theirs and turn. Where the sheet
   is bent at rest, axis 1 is one of its principal ones and l_0 > 0. */
#include "element_set.h"
#include "spring_set.h"

#include <millrace/tensor.h>

enum { CORNERS = 3, PATCH = 2 * CORNERS, PLANE = 2, TENSOR = 3 };

/* Of conditions that say nearly the same the least one counts as this much of the largest. */
static const PetscReal weakest = 0.01;

/* A triangle and, opposite to each corner, that of the neighbour. Axis 1 of its plane is along its first
   side. */
typedef struct {
  PetscInt  nodes[PATCH];        /* -1: no neighbour */
  PetscInt  neighbours[CORNERS]; /* across the side opposite to the corner */
  PetscInt  sides[CORNERS];      /* what that is of the neighbour */
  PetscReal area;
  PetscReal at[PATCH][PLANE];         /* at rest, unfolded */
  PetscReal hinges[CORNERS][PATCH];   /* weights of s at its sides; zero at the rim */
  PetscReal curvature[TENSOR][PATCH]; /* weights of K'_11, sqrt(2) K'_12, K'_22 */
} BentTriangle;

/* Of the angle at `corner` between two others. */
static PetscReal cotangent(Vector3 corner, Vector3 first, Vector3 second)
{
  const Vector3 a = vector3_subtract(first, corner), b = vector3_subtract(second, corner);

  return vector3_dot(a, b) / vector3_norm(vector3_cross(a, b));
}

/* The side opposite to corner k, along which the triangle is on the left. */
static void find_side(const BentTriangle *patch, PetscInt k, PetscReal side[PLANE])
{
  for (PetscInt i = 0; i < PLANE; i++)
    side[i] = patch->at[(k + 2) % CORNERS][i] - patch->at[(k + 1) % CORNERS][i];
}

static void place_neighbour(BentTriangle *patch, PetscInt k, const Vector3 rest[])
{
  const PetscInt   from = (k + 1) % CORNERS, to = (k + 2) % CORNERS;
  const Vector3    a = rest[patch->nodes[from]], edge = vector3_subtract(rest[patch->nodes[to]], a);
  const Vector3    way = vector3_subtract(rest[patch->nodes[CORNERS + k]], a);
  const PetscReal  square = vector3_dot(edge, edge), along = vector3_dot(way, edge) / square;
  const PetscReal  away = vector3_norm(vector3_cross(way, edge)) / square;
  const PetscReal *begin = patch->at[from];
  PetscReal        side[PLANE];

  find_side(patch, k, side);
  patch->at[CORNERS + k][X] = begin[X] + along * side[X] + away * side[Y];
  patch->at[CORNERS + k][Y] = begin[Y] + along * side[Y] - away * side[X];
}

static void weigh_hinge(BentTriangle *patch, PetscInt k, const Vector3 rest[])
{
  const PetscInt  from = (k + 1) % CORNERS, to = (k + 2) % CORNERS;
  const Vector3   x0 = rest[patch->nodes[from]], x1 = rest[patch->nodes[to]], x2 = rest[patch->nodes[k]];
  const Vector3   x3 = rest[patch->nodes[CORNERS + k]];
  const PetscReal at[] = {cotangent(x0, x1, x2), cotangent(x1, x0, x2), cotangent(x0, x1, x3),
                          cotangent(x1, x0, x3)};

  patch->hinges[k][from] = at[1] + at[3];
  patch->hinges[k][to] = at[0] + at[2];
  patch->hinges[k][k] = -at[0] - at[1];
  patch->hinges[k][CORNERS + k] = -at[2] - at[3];
}

/* `patch` has its nodes, the rest is zero. */
static void place_patch(BentTriangle *patch, const Vector3 rest[])
{
  const Vector3   origin = rest[patch->nodes[0]];
  const Vector3   first = vector3_subtract(rest[patch->nodes[1]], origin);
  const Vector3   second = vector3_subtract(rest[patch->nodes[2]], origin);
  const PetscReal length = vector3_norm(first);

  patch->at[1][X] = length;
  patch->at[2][X] = vector3_dot(first, second) / length;
  patch->at[2][Y] = vector3_norm(vector3_cross(first, second)) / length;
  patch->area = 0.5 * length * patch->at[2][Y];
  for (PetscInt k = 0; k < CORNERS; k++)
    if (patch->nodes[CORNERS + k] >= 0) {
      place_neighbour(patch, k, rest);
      weigh_hinge(patch, k, rest);
    }
}

/* q of K = n n^T across a side, which is the moment about it over D: a unit vector. */
static Vector3 across_side(const PetscReal side[PLANE], PetscReal poisson)
{
  const PetscReal x = side[X], y = side[Y];
  const PetscReal part = PetscSqrtReal((1. - poisson) / 2.) / (x * x + y * y);

  return vector3(PetscSqrtReal((1. + poisson) / 2.), part * (y * y - x * x), -part * 2. * x * y);
}

/* The sum of a surface z = x . K x / 2 at the side opposite to corner k, for each component of q. */
static Vector3 sum_quadratics(const BentTriangle *patch, PetscInt k, PetscReal poisson)
{
  PetscReal xx = 0., xy = 0., yy = 0.;

  for (PetscInt a = 0; a < PATCH; a++) {
    const PetscReal weight = patch->hinges[k][a], *at = patch->at[a];

    xx += 0.5 * weight * at[X] * at[X];
    xy += weight * at[X] * at[Y];
    yy += 0.5 * weight * at[Y] * at[Y];
  }
  return vector3((xx + yy) / PetscSqrtReal(2. * (1. + poisson)),
                 (xx - yy) / PetscSqrtReal(2. * (1. - poisson)), xy / PetscSqrtReal(2. * (1. - poisson)));
}

/* x = `solution` y of L x = y: L^T (L L^T)^-1. */
static Matrix3 solve_rows(const Matrix3 *rows)
{
  const Matrix3   across = matrix3_transpose(rows), product = matrix3_multiply(rows, &across);
  PrincipalAxes   axes = symmetric3_eigen(&product);
  const PetscReal most = axes.values.at[2];
  Matrix3         inverse;

  for (PetscInt i = 0; i < DIM; i++)
    axes.values.at[i] = 1. / PetscMax(axes.values.at[i], weakest * most);
  inverse = symmetric3_compose(&axes);
  return matrix3_multiply(&across, &inverse);
}

/* K' from the sums at its sides; all rows are unit vectors. */
static void fit_curvature(BentTriangle *patch, PetscReal poisson)
{
  const PetscReal sum = PetscSqrtReal((1. + poisson) / 2.), difference = PetscSqrtReal((1. - poisson) / 2.);
  PetscReal       sizes[CORNERS];
  Matrix3         rows, solution;

  for (PetscInt k = 0; k < CORNERS; k++) {
    const PetscBool is_rim = patch->nodes[CORNERS + k] < 0 ? PETSC_TRUE : PETSC_FALSE;
    PetscReal       side[PLANE];
    Vector3         row;

    find_side(patch, k, side);
    row = is_rim ? across_side(side, poisson) : sum_quadratics(patch, k, poisson);
    sizes[k] = vector3_norm(row);
    for (PetscInt m = 0; m < DIM; m++)
      rows.at[k][m] = row.at[m] / sizes[k];
  }
  solution = solve_rows(&rows);
  for (PetscInt a = 0; a < PATCH; a++) {
    Vector3 q = vector3(0, 0, 0);

    for (PetscInt k = 0; k < CORNERS; k++)
      for (PetscInt m = 0; m < DIM; m++)
        q.at[m] += solution.at[m][k] * patch->hinges[k][a] / sizes[k];
    patch->curvature[0][a] = 0.5 * (q.at[0] / sum + q.at[1] / difference);
    patch->curvature[1][a] = q.at[2] / (PetscSqrtReal(2.) * difference);
    patch->curvature[2][a] = 0.5 * (q.at[0] / sum - q.at[1] / difference);
  }
}

/* l a(K) at the side opposite to corner k for each of K_nn, sqrt(2) K_nt and K_tt, t along the side; those of
   the neighbour are the same, as both of its vectors point the other way. */
static Vector3 find_turn(const BentTriangle *patch, PetscInt k)
{
  const PetscReal *from = patch->at[(k + 1) % CORNERS], *to = patch->at[(k + 2) % CORNERS];
  PetscReal        side[PLANE], square, along, away;

  find_side(patch, k, side);
  square = side[X] * side[X] + side[Y] * side[Y];
  along = ((patch->at[k][X] - 0.5 * (from[X] + to[X])) * side[X] +
           (patch->at[k][Y] - 0.5 * (from[Y] + to[Y])) * side[Y]) /
          square;
  away = 2. * patch->area / square;
  return vector3(-0.5 * away * square, along * square / PetscSqrtReal(2.),
                 -0.5 * (along * along - 0.25) * square / away);
}

/* Weights of a few points; one that is named again has the sum. */
typedef struct {
  PetscInt  count, nodes[SPRING_MOST_NODES];
  PetscReal weights[SPRING_MOST_NODES][TENSOR];
} BendingWeights;

static void stencil_add(BendingWeights *stencil, PetscInt node, PetscReal weight, Vector3 q)
{
  PetscInt n = 0;

  while (n < stencil->count && stencil->nodes[n] != node)
    n++;
  if (n == stencil->count)
    stencil->nodes[stencil->count++] = node;
  for (PetscInt m = 0; m < TENSOR; m++)
    stencil->weights[n][m] += weight * q.at[m];
}

/* Half of l times the functional `rest` of K' of a patch, at one of its sides. */
static void add_rest(const BentTriangle *patch, PetscInt k, Vector3 rest, Vector3 q, BendingWeights *stencil)
{
  PetscReal side[PLANE], square, xx, xy, yy;

  find_side(patch, k, side);
  square = side[X] * side[X] + side[Y] * side[Y];
  xx = side[X] * side[X] / square;
  xy = side[X] * side[Y] / square;
  yy = side[Y] * side[Y] / square;
  for (PetscInt a = 0; a < PATCH; a++)
    if (patch->nodes[a] >= 0) {
      const PetscReal k11 = patch->curvature[0][a], k12 = patch->curvature[1][a] / PetscSqrtReal(2.);
      const PetscReal k22 = patch->curvature[2][a];
      const Vector3   turned = vector3(yy * k11 - 2. * xy * k12 + xx * k22,
                                       PetscSqrtReal(2.) * (xy * (k11 - k22) + (yy - xx) * k12),
                                       xx * k11 + 2. * xy * k12 + yy * k22);

      stencil_add(stencil, patch->nodes[a], 0.5 * vector3_dot(rest, turned), q);
    }
}

/* r n n^T / A at the side opposite to corner k. */
static void add_side(const BentTriangle patches[], PetscInt e, PetscInt k, Vector3 q, BendingWeights *stencil)
{
  const BentTriangle *mine = &patches[e], *other = &patches[mine->neighbours[k]];
  const Vector3       turn = find_turn(mine, k);
  const Vector3       both = vector3_add(turn, find_turn(other, mine->sides[k]));
  const PetscReal     part = vector3_dot(turn, both) / vector3_dot(both, both);
  const Vector3       rest = vector3_subtract(turn, vector3_scale(part, both));

  for (PetscInt a = 0; a < PATCH; a++)
    if (mine->nodes[a] >= 0)
      stencil_add(stencil, mine->nodes[a], part * mine->hinges[k][a], q);
  add_rest(mine, k, rest, q, stencil);
  add_rest(other, mine->sides[k], rest, q, stencil);
}

/* Takes out what lies along `moment` but not along `earlier`. */
static void take_out(Vector3 moment, const Vector3 *earlier, Vector3 q[CORNERS])
{
  if (earlier)
    moment = vector3_subtract(moment, vector3_scale(vector3_dot(moment, *earlier), *earlier));
  moment = vector3_scale(1. / vector3_norm(moment), moment);
  for (PetscInt k = 0; k < CORNERS; k++)
    q[k] = vector3_subtract(q[k], vector3_scale(vector3_dot(moment, q[k]), moment));
}

/* From axes along the first side to principal ones of the rest: q_3 is zero there. */
static void turn_axes(BendingWeights *stencil, Vector3 normal, const Vector3 rest[])
{
  PetscReal bent[PLANE] = {0.}, size;

  for (PetscInt n = 1; n < stencil->count; n++)
    for (PetscInt m = 0; m < PLANE; m++)
      bent[m] += stencil->weights[n][m + 1] *
                 vector3_dot(normal, vector3_subtract(rest[stencil->nodes[n]], rest[stencil->nodes[0]]));
  size = PetscSqrtReal(PetscSqr(bent[0]) + PetscSqr(bent[1]));
  for (PetscInt n = 0; n < stencil->count && size > 0.; n++) {
    const PetscReal q[] = {stencil->weights[n][1], stencil->weights[n][2]};

    stencil->weights[n][1] = (bent[0] * q[0] + bent[1] * q[1]) / size;
    stencil->weights[n][2] = (bent[0] * q[1] - bent[1] * q[0]) / size;
  }
}

static void add_springs(SpringSet *set, BendingWeights *stencil, PetscReal stiffness, const Vector3 rest[])
{
  PetscReal weights[SPRING_MOST_NODES];

  for (; stencil->count < SPRING_MOST_NODES; stencil->count++) /* any point, with the weight 0 */
    stencil->nodes[stencil->count] = stencil->nodes[0];
  for (PetscInt m = 0; m < TENSOR; m++) {
    for (PetscInt n = 0; n < SPRING_MOST_NODES; n++)
      weights[n] = stencil->weights[n][m];
    spring_set_add(set, stencil->nodes, weights, stiffness, rest);
  }
}

static void add_patch(SpringSet *set, const BentTriangle patches[], PetscInt e,
                      const SolidMaterialConfig *material, const Vector3 rest[])
{
  const BentTriangle *patch = &patches[e];
  const Vector3       origin = rest[patch->nodes[0]], *earlier = NULL;
  const Vector3       normal = vector3_cross(vector3_subtract(rest[patch->nodes[1]], origin),
                                             vector3_subtract(rest[patch->nodes[2]], origin));
  Vector3             moments[CORNERS], q[CORNERS];
  BendingWeights      stencil = {0};

  for (PetscInt k = 0; k < CORNERS; k++) {
    PetscReal side[PLANE];

    find_side(patch, k, side);
    q[k] = moments[k] = across_side(side, material->poisson);
  }
  for (PetscInt k = 0; k < CORNERS; k++)
    if (patch->nodes[CORNERS + k] < 0) {
      take_out(moments[k], earlier, q);
      earlier = &moments[k];
    }
  stencil_add(&stencil, patch->nodes[0], 0., vector3(0, 0, 0));
  for (PetscInt k = 0; k < CORNERS; k++)
    if (patch->nodes[CORNERS + k] >= 0)
      add_side(patches, e, k, vector3_scale(1. / patch->area, q[k]), &stencil);
  turn_axes(&stencil, normal, rest);
  add_springs(set, &stencil, material->bending * patch->area, rest);
}

static PetscInt corner_of(const BentTriangle *patch, PetscInt node)
{
  PetscInt c = 0;

  while (c + 1 < CORNERS && patch->nodes[c] != node)
    c++;
  return c;
}

static void join(const ElementEdge *one, const ElementEdge *other, BentTriangle patches[])
{
  BentTriangle  *patch = &patches[one->element];
  const PetscInt c = corner_of(patch, one->opposite);

  patch->nodes[CORNERS + c] = other->opposite;
  patch->neighbours[c] = other->element;
  patch->sides[c] = corner_of(&patches[other->element], other->opposite);
}

static PetscErrorCode CreatePatches(const ElementList *list, BentTriangle **patches)
{
  PetscInt     count;
  ElementEdge *edges;

  PetscFunctionBegin;
  PetscCall(ElementEdgesFind(list, &count, &edges));
  PetscCall(PetscCalloc1(list->count, patches));
  for (PetscInt e = 0; e < list->count; e++)
    for (PetscInt c = 0; c < CORNERS; c++) {
      (*patches)[e].nodes[c] = list->elements[list->nodes * e + c];
      (*patches)[e].nodes[CORNERS + c] = -1;
    }
  for (PetscInt n = 0; n + 1 < count; n++)
    if (edges[n].ends[0] == edges[n + 1].ends[0] && edges[n].ends[1] == edges[n + 1].ends[1]) {
      join(&edges[n], &edges[n + 1], *patches);
      join(&edges[n + 1], &edges[n], *patches);
    }
  PetscCall(PetscFree(edges));
  PetscFunctionReturn(0);
}

static PetscErrorCode Create(const SolidMaterialConfig *material, const ElementList *list,
                             const Vector3 rest[], void **data)
{
  BentTriangle *patches;

  PetscFunctionBegin;
  PetscCall(CreatePatches(list, &patches));
  for (PetscInt e = 0; e < list->count; e++) {
    place_patch(&patches[e], rest);
    fit_curvature(&patches[e], material->poisson);
  }
  PetscCall(
      SpringSetCreate(material, list, rest, TENSOR * list->count, SPRING_MOST_NODES, (SpringSet **)data));
  for (PetscInt e = 0; e < list->count; e++)
    add_patch(*data, patches, e, material, rest);
  PetscCall(PetscFree(patches));
  PetscFunctionReturn(0);
}

const ForceKind BendingForce = {.name = "bending", .create = Create, SPRING_FORCE};
