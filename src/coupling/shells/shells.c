/* The shells among the bodies, where they stood at the last placing and where they stand now. */
#include "../coupling_impl.h"
#include "visibility_impl.h"

PetscErrorCode PlacedSolidsDropVisibility(PlacedSolids *solids)
{
  ShellVisibility *view = solids->visibility;

  PetscFunctionBegin;
  if (!view)
    PetscFunctionReturn(0);
  for (PetscInt s = 0; s < view->count; s++)
    if (view->shells[s].is_own)
      PetscCall(SurfaceDestroy(&view->shells[s].surface));
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
  *shell = (Shell){.surface = now->surface};
  shell->stands[STEP_END] = stand_at(now->position, now->rotation);
  shell->stands[STEP_START] = stand_at(before.position, before.rotation);
  if (view->dimension == 2) {
    shell->is_own = PETSC_TRUE;
    PetscCall(MakePrism(&coupling->solids.bodies[body], &shell->surface));
    shell->stands[STEP_END] = stand_at(now->position, turn_between(now->rotation, now->rotation));
    shell->stands[STEP_START] = stand_at(before.position, turn_between(now->rotation, before.rotation));
  }
  shell->is_still = is_same(&shell->stands[STEP_START], &shell->stands[STEP_END]);
  PetscFunctionReturn(0);
}

static void widen(Vector3 *low, Vector3 *high, Vector3 point)
{
  for (PetscInt d = 0; d < DIM; d++) {
    low->at[d] = PetscMin(low->at[d], point.at[d]);
    high->at[d] = PetscMax(high->at[d], point.at[d]);
  }
}

/* Bounds at both moments, and the farthest way of what is within reach: of a corner of its box. */
static PetscErrorCode FindBounds(ShellVisibility *view, Shell *shell)
{
  const PetscReal reach = VISIBILITY_REACH * view->spacing;
  const Vector3  *vertices;
  PetscInt        count;
  Vector3         low, high;

  PetscFunctionBegin;
  PetscCall(SurfaceGet(shell->surface, &count, &vertices, NULL, NULL));
  for (int m = 0; m < 2; m++) {
    Stand *stand = &shell->stands[m];

    for (PetscInt v = 0; v < count; v++) {
      const Vector3 corner = vector3_add(stand->position, matrix3_apply(&stand->turn, vertices[v]));

      if (v == 0)
        stand->low = stand->high = corner;
      widen(&stand->low, &stand->high, corner);
    }
  }
  surface_bounds(shell->surface, &low, &high);
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
  PetscCall(SurfaceGet(shell->surface, NULL, &vertices, &count, &triangles));
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
    if (coupling->solids.bodies[coupling->solids.near[n]].body.thickness > 0.)
      PetscCall(AddShell(coupling, coupling->solids.near[n]));
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
  if (motion == SHELLS_STILL)
    PetscCall(PlacedSolidsRemember(&coupling->solids));
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
