/* The shells among the bodies, where they stood at the last placing and where they stand now. */
#include "../coupling_impl.h"
#include "visibility_impl.h"

static PetscErrorCode DropShell(Shell *shell)
{
  PetscFunctionBegin;
  PetscCall(PetscFree2(shell->turns, shell->slopes));
  if (!shell->is_own)
    PetscFunctionReturn(0);
  if (shell->surfaces[STEP_START] != shell->surfaces[STEP_END])
    PetscCall(SurfaceDestroy(&shell->surfaces[STEP_START]));
  PetscCall(SurfaceDestroy(&shell->surfaces[STEP_END]));
  PetscFunctionReturn(0);
}

PetscErrorCode PlacedSolidsDropVisibility(PlacedSolids *solids)
{
  ShellVisibility *view = solids->visibility;

  PetscFunctionBegin;
  if (!view)
    PetscFunctionReturn(0);
  for (PetscInt s = 0; s < view->count; s++)
    PetscCall(DropShell(&view->shells[s]));
  PetscCall(VecDestroy(&view->visibility.near));
  PetscCall(PetscFree(view->shells));
  PetscCall(PetscFree(solids->visibility));
  PetscFunctionReturn(0);
}

PetscErrorCode PlacedSolidsRemember(PlacedSolids *solids)
{
  PetscFunctionBegin;
  PetscCall(PlacedSolidsDropVisibility(solids));
  PetscCall(PetscFree(solids->before));
  solids->before_count = solids->count;
  PetscCall(PetscMalloc1(solids->before_count, &solids->before));
  for (PetscInt b = 0; b < solids->before_count; b++) {
    const CoupledBody *body = &solids->bodies[b].body;

    solids->before[b] = (EarlierPlace){{body->position, body->rotation}, body->low, body->high};
  }
  PetscFunctionReturn(0);
}

/* Of one of `count` bodies: none if there were others. */
const EarlierPlace *place_before(const PlacedSolids *solids, PetscInt count, PetscInt body)
{
  return solids->before_count == count ? &solids->before[body] : NULL;
}

/* Bodies that were not there before have always been where they are. */
static RigidTransform transform_before(const PlacedSolids *solids, const ShellVisibility *view, PetscInt body)
{
  const CoupledBody  *now = &solids->bodies[body].body;
  const EarlierPlace *before = place_before(solids, solids->count, body);
  RigidTransform      place = {now->position, now->rotation};

  if (before)
    place = before->place;
  for (PetscInt d = 0; d < view->dimension; d++) /* it may have been put back by a period */
    place.position.at[d] += whole_periods(now->position.at[d] - place.position.at[d], view->period.at[d]);
  return place;
}

static Stand stand_at(Vector3 position, Quaternion rotation)
{
  Stand stand = {.position = position, .turn = matrix3_from_quaternion(rotation)};

  stand.back = matrix3_transpose(&stand.turn);
  return stand;
}

static PetscBool is_same(const Stand *a, const Stand *b)
{
  for (PetscInt d = 0; d < DIM; d++) {
    if (a->position.at[d] != b->position.at[d])
      return PETSC_FALSE;
    for (PetscInt e = 0; e < DIM; e++)
      if (a->turn.at[d][e] != b->turn.at[d][e])
        return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

/* The prism of now, about the body's position. */
static PetscErrorCode MakePrism(const Placed *placed, Surface *surface)
{
  const Prism *prism = &placed->prism;
  Vector3     *vertices;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(prism->vertex_count, &vertices));
  for (PetscInt v = 0; v < prism->vertex_count; v++)
    vertices[v] = vector3_subtract(prism->vertices[v], placed->body.position);
  PetscCall(SurfaceCreate(prism->vertex_count, vertices, prism->triangle_count,
                          (const PetscInt(*)[3])prism->triangles, surface));
  PetscCall(PetscFree(vertices));
  PetscFunctionReturn(0);
}

/* From one rotation to another, exactly none if they are the same. */
static Quaternion turn_between(Quaternion from, Quaternion to)
{
  if (from.scalar == to.scalar && from.vector.at[X] == to.vector.at[X] &&
      from.vector.at[Y] == to.vector.at[Y] && from.vector.at[Z] == to.vector.at[Z])
    return quaternion_from_rotation(vector3(0., 0., 0.));
  return quaternion_normalized(quaternion_multiply(to, quaternion_conjugate(from)));
}

/* The frame of a prism has the axes of the world now. */
static PetscErrorCode AddShell(Coupling coupling, PetscInt body)
{
  ShellVisibility     *view = coupling->solids.visibility;
  const CoupledBody   *now = &coupling->solids.bodies[body].body;
  const RigidTransform before = transform_before(&coupling->solids, view, body);
  Shell               *shell = &view->shells[view->count++];

  PetscFunctionBegin;
  *shell = (Shell){.surfaces = {now->surface, now->surface}};
  shell->stands[STEP_END] = stand_at(now->position, now->rotation);
  shell->stands[STEP_START] = stand_at(before.position, before.rotation);
  if (view->dimension == 2) {
    shell->is_own = PETSC_TRUE;
    PetscCall(MakePrism(&coupling->solids.bodies[body], &shell->surfaces[STEP_END]));
    shell->surfaces[STEP_START] = shell->surfaces[STEP_END];
    shell->stands[STEP_END] = stand_at(now->position, turn_between(now->rotation, now->rotation));
    shell->stands[STEP_START] = stand_at(before.position, turn_between(now->rotation, before.rotation));
  }
  shell->is_still = is_same(&shell->stands[STEP_START], &shell->stands[STEP_END]);
  PetscFunctionReturn(0);
}

/* Two axes along a triangle and one across, as rows; false if it has no area. */
static PetscBool find_frame(const Vector3 places[], const PetscInt triangle[3], Matrix3 *frame)
{
  const Vector3 along = vector3_subtract(places[triangle[1]], places[triangle[0]]),
                across = vector3_cross(along, vector3_subtract(places[triangle[2]], places[triangle[0]]));
  const PetscReal length = vector3_norm(along), area = vector3_norm(across);
  Vector3         axes[DIM];

  if (!(length > 0. && area > 0.))
    return PETSC_FALSE;
  axes[0] = vector3_scale(1. / length, along);
  axes[2] = vector3_scale(1. / area, across);
  axes[1] = vector3_cross(axes[2], axes[0]);
  for (PetscInt a = 0; a < DIM; a++)
    for (PetscInt d = 0; d < DIM; d++)
      frame->at[a][d] = axes[a].at[d];
  return PETSC_TRUE;
}

/* Axis times angle. */
static Vector3 rotation_of(const Matrix3 *turn)
{
  const Quaternion q = quaternion_from_matrix(turn);
  const PetscReal  size = vector3_norm(q.vector), sign = q.scalar < 0. ? -1. : 1.;

  return vector3_scale(size > 0. ? sign * 2. * atan2(size, sign * q.scalar) / size : 2. * sign, q.vector);
}

/* Of the way of a triangle's places: along it that of the corners, across it that of its turn. */
static Matrix3 slope_of(const Vector3 from[3], const Vector3 to[3], const Matrix3 *turn)
{
  const Vector3 area = vector3_cross(vector3_subtract(from[1], from[0]), vector3_subtract(from[2], from[0]));
  const PetscReal size = vector3_norm(area);
  const Vector3   normal = vector3_scale(1. / size, area),
                across = vector3_subtract(matrix3_apply(turn, normal), normal);
  Matrix3 slope;

  for (PetscInt a = 0; a < DIM; a++)
    for (PetscInt b = 0; b < DIM; b++)
      slope.at[a][b] = across.at[a] * normal.at[b];
  for (int c = 0; c < 3; c++) {
    const Vector3 gradient = vector3_scale(
        1. / size, vector3_cross(normal, vector3_subtract(from[(c + 2) % 3], from[(c + 1) % 3])));

    for (PetscInt a = 0; a < DIM; a++)
      for (PetscInt b = 0; b < DIM; b++)
        slope.at[a][b] += (to[c].at[a] - from[c].at[a]) * gradient.at[b];
  }
  return slope;
}

static void add_scaled(Matrix3 *sum, PetscReal scale, const Matrix3 *other)
{
  for (PetscInt a = 0; a < DIM; a++)
    for (PetscInt b = 0; b < DIM; b++)
      sum->at[a][b] += scale * other->at[a][b];
}

/* Adds those of a triangle to its vertices, times its area; one without any has none. */
static void add_turn(Shell *shell, const Vector3 *const places[2], const PetscInt triangle[3],
                     PetscReal areas[])
{
  Vector3   corner[2][3];
  Matrix3   frames[2], back, turn, slope;
  PetscReal area;

  if (!find_frame(places[0], triangle, &frames[0]) || !find_frame(places[1], triangle, &frames[1]))
    return;
  back = matrix3_transpose(&frames[1]);
  turn = matrix3_multiply(&back, &frames[0]);
  for (int n = 0; n < 6; n++)
    corner[n / 3][n % 3] = places[n / 3][triangle[n % 3]];
  area = vector3_norm(vector3_cross(vector3_subtract(corner[0][1], corner[0][0]),
                                    vector3_subtract(corner[0][2], corner[0][0])));
  slope = slope_of(corner[0], corner[1], &turn);
  for (int c = 0; c < 3; c++) {
    const PetscInt v = triangle[c];

    areas[v] += area;
    shell->turns[v] = vector3_add(shell->turns[v], vector3_scale(area, rotation_of(&turn)));
    add_scaled(&shell->slopes[v], area, &slope);
  }
}

/* The means of the triangles around each vertex, by their areas at the start of the step. */
static PetscErrorCode FindTurns(Shell *shell)
{
  const Vector3 *places[2];
  const PetscInt(*triangles)[3];
  PetscInt   vertex_count, triangle_count;
  PetscReal *areas;

  PetscFunctionBegin;
  for (int m = 0; m < 2; m++)
    PetscCall(SurfaceGet(shell->surfaces[m], &vertex_count, &places[m], &triangle_count, &triangles));
  PetscCall(PetscCalloc2(vertex_count, &shell->turns, vertex_count, &shell->slopes));
  PetscCall(PetscCalloc1(vertex_count, &areas));
  for (PetscInt t = 0; t < triangle_count; t++)
    add_turn(shell, places, triangles[t], areas);
  for (PetscInt v = 0; v < vertex_count; v++) {
    const PetscReal part = areas[v] > 0. ? 1. / areas[v] : 0.;
    const Matrix3   sum = shell->slopes[v];

    shell->turns[v] = vector3_scale(part, shell->turns[v]);
    shell->slopes[v] = (Matrix3){{{0.}}};
    add_scaled(&shell->slopes[v], part, &sum);
  }
  PetscCall(PetscFree(areas));
  PetscFunctionReturn(0);
}

/* Cloth has the axes of the world, and a surface at each moment. */
static PetscErrorCode AddCloth(Coupling coupling, const SolidPatch *patch)
{
  const Quaternion still = quaternion_from_rotation(vector3(0., 0., 0.));
  ShellVisibility *view = coupling->solids.visibility;
  Shell           *shell = &view->shells[view->count++];

  PetscFunctionBegin;
  *shell = (Shell){.is_own = PETSC_TRUE, .is_still = coupling->solids.is_still};
  for (PetscInt n = 0; n < patch->vertex_count && !shell->is_still; n++)
    if (memcmp(&patch->before[n], &patch->now[n], sizeof(Vector3)))
      break;
    else if (n + 1 == patch->vertex_count)
      shell->is_still = PETSC_TRUE;
  shell->stands[STEP_START] = shell->stands[STEP_END] = stand_at(vector3(0., 0., 0.), still);
  PetscCall(SurfaceCreate(patch->vertex_count, patch->now, patch->triangle_count, patch->triangles,
                          &shell->surfaces[STEP_END]));
  shell->surfaces[STEP_START] = shell->surfaces[STEP_END];
  if (!shell->is_still) {
    PetscCall(SurfaceCreate(patch->vertex_count, patch->before, patch->triangle_count, patch->triangles,
                            &shell->surfaces[STEP_START]));
    PetscCall(FindTurns(shell));
  }
  PetscFunctionReturn(0);
}

static void widen(Vector3 *low, Vector3 *high, Vector3 point)
{
  for (PetscInt d = 0; d < DIM; d++) {
    low->at[d] = PetscMin(low->at[d], point.at[d]);
    high->at[d] = PetscMax(high->at[d], point.at[d]);
  }
}

/* The farthest way of what is within reach of cloth. */
static PetscErrorCode FindWayOfCloth(ShellVisibility *view, Shell *shell)
{
  const Vector3 *places[2];
  PetscInt       count;

  PetscFunctionBegin;
  for (int m = 0; m < 2; m++)
    PetscCall(SurfaceGet(shell->surfaces[m], &count, &places[m], NULL, NULL));
  for (PetscInt v = 0; v < count; v++) {
    const PetscReal own = vector3_norm(vector3_subtract(places[1][v], places[0][v]));

    shell->way = PetscMax(shell->way, own);
    view->visibility.way = PetscMax(view->visibility.way,
                                    own + VISIBILITY_REACH * view->spacing * vector3_norm(shell->turns[v]));
  }
  PetscFunctionReturn(0);
}

/* Bounds at both moments, and the farthest way of what is within reach: of a corner of its box. */
static PetscErrorCode FindBounds(ShellVisibility *view, Shell *shell)
{
  const PetscReal reach = VISIBILITY_REACH * view->spacing;
  const Vector3  *vertices;
  PetscInt        count;
  Vector3         low, high;

  PetscFunctionBegin;
  for (int m = 0; m < 2; m++) {
    Stand *stand = &shell->stands[m];

    PetscCall(SurfaceGet(shell->surfaces[m], &count, &vertices, NULL, NULL));
    for (PetscInt v = 0; v < count; v++) {
      const Vector3 corner = vector3_add(stand->position, matrix3_apply(&stand->turn, vertices[v]));

      if (v == 0)
        stand->low = stand->high = corner;
      widen(&stand->low, &stand->high, corner);
    }
  }
  if (shell->turns) {
    PetscCall(FindWayOfCloth(view, shell));
    PetscFunctionReturn(0);
  }
  surface_bounds(shell->surfaces[STEP_END], &low, &high);
  for (int n = 0; n < 8 && !shell->is_still; n++) {
    Vector3 corner, place[2];

    for (PetscInt d = 0; d < DIM; d++)
      corner.at[d] = n >> d & 1 ? high.at[d] + reach : low.at[d] - reach;
    for (int m = 0; m < 2; m++)
      place[m] = vector3_add(shell->stands[m].position, matrix3_apply(&shell->stands[m].turn, corner));
    view->visibility.way = PetscMax(view->visibility.way, vector3_norm(vector3_subtract(place[1], place[0])));
  }
  PetscFunctionReturn(0);
}

/* A look at the cells of this rank, ghosts and all. */
typedef struct {
  const ShellVisibility *view;
  MacGrid                grid;
  Vector3                shift; /* of the image that is marked */
  PetscInt               start[DIM], end[DIM];
  PetscReal             *near;
} Marking;

/* The cells whose centres lie within reach of a box; false if none does. */
static PetscBool find_cells(Marking *marking, Vector3 low, Vector3 high)
{
  const GridBox  *box = grid_box(marking->grid);
  const PetscReal h = marking->view->spacing;

  for (PetscInt d = 0; d < DIM; d++) {
    const PetscInt  ghost = d < box->dimension ? box->ghost : 0;
    const PetscReal base = grid_origin(marking->grid).at[d] - marking->shift.at[d] + 0.5 * h;

    marking->start[d] = box->start[d] - ghost;
    marking->end[d] = box->end[d] + ghost;
    if (d >= box->dimension)
      continue;
    marking->start[d] = (PetscInt)PetscMax(PetscCeilReal((low.at[d] - base) / h - VISIBILITY_REACH),
                                           (PetscReal)marking->start[d]);
    marking->end[d] = (PetscInt)PetscMin(PetscFloorReal((high.at[d] - base) / h + VISIBILITY_REACH) + 1.,
                                         (PetscReal)marking->end[d]);
    if (marking->start[d] >= marking->end[d])
      return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

/* Limits on where a triangle is within reach: |normal . x - place| or normal . x - place, at most the reach.
 */
typedef struct {
  Vector3   normal;
  PetscReal place;
} TriangleLimit;

/* First its plane, then its edges, across and outwards. */
static void find_limits(const Vector3 corner[3], TriangleLimit limits[4])
{
  const Vector3 area =
      vector3_cross(vector3_subtract(corner[1], corner[0]), vector3_subtract(corner[2], corner[0]));
  const PetscReal size = vector3_norm(area);

  limits[0].normal = size > 0. ? vector3_scale(1. / size, area) : vector3(0., 0., 0.);
  limits[0].place = vector3_dot(limits[0].normal, corner[0]);
  for (int n = 0; n < 3; n++) {
    const Vector3 edge = vector3_subtract(corner[(n + 1) % 3], corner[n]),
                  across = vector3_cross(edge, limits[0].normal);
    const PetscReal length = vector3_norm(across);

    limits[n + 1].normal = length > 0. ? vector3_scale(1. / length, across) : vector3(0., 0., 0.);
    limits[n + 1].place = vector3_dot(limits[n + 1].normal, corner[n]);
  }
}

static void mark_row(const Marking *marking, const TriangleLimit limits[4], PetscInt j, PetscInt k)
{
  const PetscReal h = marking->view->spacing, reach = (VISIBILITY_REACH + 1e-9) * h;
  const PetscInt  i = marking->start[X], c = box_index(grid_box(marking->grid), i, j, k);
  const Vector3   centre = vector3_subtract(grid_cell_centre(marking->grid, i, j, k), marking->shift);
  PetscReal       away[4];

  for (int n = 0; n < 4; n++)
    away[n] = vector3_dot(centre, limits[n].normal) - limits[n].place;
  for (PetscInt m = 0; m < marking->end[X] - i; m++) {
    const PetscReal x = (PetscReal)m * h;
    PetscReal       most = PetscAbsReal(away[0] + x * limits[0].normal.at[X]);

    for (int n = 1; n < 4; n++)
      most = PetscMax(most, away[n] + x * limits[n].normal.at[X]);
    if (most <= reach)
      marking->near[c + m] = 1.;
  }
}

static void mark_triangle(Marking *marking, const Vector3 corner[3])
{
  Vector3       low = corner[0], high = corner[0];
  TriangleLimit limits[4];

  widen(&low, &high, corner[1]);
  widen(&low, &high, corner[2]);
  if (!find_cells(marking, low, high))
    return;
  find_limits(corner, limits);
  FOR_ROWS(marking, j, k)
    mark_row(marking, limits, j, k);
}

static PetscErrorCode MarkShell(Marking *marking, const Shell *shell, StepMoment moment)
{
  const Stand   *stand = &shell->stands[moment];
  const Vector3 *vertices;
  const PetscInt(*triangles)[3];
  PetscInt count;

  PetscFunctionBegin;
  if (!find_cells(marking, stand->low, stand->high))
    PetscFunctionReturn(0);
  PetscCall(SurfaceGet(shell->surfaces[moment], NULL, &vertices, &count, &triangles));
  for (PetscInt t = 0; t < count; t++) {
    Vector3 corner[3];

    for (int c = 0; c < 3; c++)
      corner[c] = vector3_add(stand->position, matrix3_apply(&stand->turn, vertices[triangles[t][c]]));
    mark_triangle(marking, corner);
  }
  PetscFunctionReturn(0);
}

/* All images that can matter: those of the box and of its ghosts. */
static PetscErrorCode MarkImages(Marking *marking, const Shell *shell, StepMoment moment)
{
  const GridBox *box = grid_box(marking->grid);
  const Stand   *stand = &shell->stands[moment];
  PetscInt       first[DIM] = {0, 0, 0}, last[DIM] = {0, 0, 0}, n[DIM];

  PetscFunctionBegin;
  for (PetscInt d = 0; d < box->dimension; d++) {
    const PetscReal period = marking->view->period.at[d], h = marking->view->spacing,
                    beyond = (PetscReal)(box->ghost + VISIBILITY_REACH),
                    low = grid_origin(marking->grid).at[d] + ((PetscReal)box->start[d] - beyond) * h,
                    high = grid_origin(marking->grid).at[d] + ((PetscReal)box->end[d] + beyond) * h;

    images_between(period, low, high, stand->low.at[d], stand->high.at[d], &first[d], &last[d]);
  }
  for (n[Z] = first[Z]; n[Z] <= last[Z]; n[Z]++)
    for (n[Y] = first[Y]; n[Y] <= last[Y]; n[Y]++)
      for (n[X] = first[X]; n[X] <= last[X]; n[X]++) {
        for (PetscInt d = 0; d < DIM; d++)
          marking->shift.at[d] = (PetscReal)n[d] * marking->view->period.at[d];
        PetscCall(MarkShell(marking, shell, moment));
      }
  PetscFunctionReturn(0);
}

static PetscErrorCode MarkNear(Coupling coupling, ShellVisibility *view)
{
  Marking marking = {.view = view, .grid = coupling->grid};

  PetscFunctionBegin;
  PetscCall(MacGridCreateField(coupling->grid, &view->visibility.near));
  PetscCall(VecGetArray(view->visibility.near, &marking.near));
  for (PetscInt s = 0; s < view->count; s++)
    for (StepMoment moment = STEP_START; moment <= STEP_END; moment++)
      if (moment == STEP_END || !view->shells[s].is_still)
        PetscCall(MarkImages(&marking, &view->shells[s], moment));
  PetscCall(VecRestoreArray(view->visibility.near, &marking.near));
  PetscFunctionReturn(0);
}

static PetscErrorCode BuildVisibility(Coupling coupling, PetscInt count)
{
  const GridBox   *box = grid_box(coupling->grid);
  ShellVisibility *view;

  PetscFunctionBegin;
  PetscCall(PetscNew(&view));
  coupling->solids.visibility = view;
  view->dimension = box->dimension;
  view->spacing = coupling->spacing;
  view->ground = grid_origin(coupling->grid).at[Z];
  for (PetscInt d = 0; d < box->dimension; d++)
    view->period.at[d] = box->periodic[d] ? (PetscReal)box->cells[d] * coupling->spacing : 0.;
  view->visibility = shell_visibility(view);
  PetscCall(PetscCalloc1(count, &view->shells));
  for (PetscInt n = 0; n < coupling->solids.near_count; n++)
    if (coupling->solids.bodies[coupling->solids.near[n]].body.thickness > 0. &&
        coupling->solids.near[n] < coupling->solids.count - coupling->deforming.total)
      PetscCall(AddShell(coupling, coupling->solids.near[n]));
  for (PetscInt p = 0; p < coupling->deforming.count; p++)
    if (coupling->deforming.received[p].thickness > 0.)
      PetscCall(AddCloth(coupling, &coupling->deforming.received[p]));
  for (PetscInt s = 0; s < view->count; s++)
    PetscCall(FindBounds(view, &view->shells[s]));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &view->visibility.way, 1, MPIU_REAL, MPIU_MAX, coupling->fluid));
  PetscCall(MarkNear(coupling, view));
  PetscFunctionReturn(0);
}

PetscErrorCode CouplingGetVisibility(Coupling coupling, ShellPlacing motion, PetscReal dt,
                                     const Visibility **visibility)
{
  PetscInt count = 0;

  PetscFunctionBegin;
  *visibility = NULL;
  if (motion == SHELLS_STILL) {
    PetscCall(PlacedSolidsRemember(&coupling->solids));
    coupling->solids.is_still = PETSC_TRUE;
  }
  for (PetscInt b = 0; b < coupling->solids.count; b++)
    count += coupling->solids.bodies[b].body.thickness > 0.; /* far ones too: all ranks see shells or none */
  if (!has_fluid(coupling) || !count)
    PetscFunctionReturn(0);
  if (!coupling->solids.visibility)
    PetscCall(BuildVisibility(coupling, count));
  coupling->solids.visibility->dt = motion == SHELLS_MOVED ? dt : 1.;
  *visibility = &coupling->solids.visibility->visibility;
  PetscFunctionReturn(0);
}
