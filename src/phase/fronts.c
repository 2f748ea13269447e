/* Fronts (docs/numerics.md, 13b): a region turns into its product where the two touch, at the speed
   S = S_0 + S_1 kappa relative to it. With the normal n from the first to the product and s = rho_1 / rho_2,

     front velocity u_1.n - S,   u_2 - u_1 = (s - 1) S n,   p_2 - p_1 = -(rho_1 S)^2 (1/rho_2 - 1/rho_1).

   A face between a cell of each has the mean velocity of the line between the two centres, theta u_lower +
   (1 - theta) u_upper; each cell sees its own. So both expand together by leap / h, in parts that lie where
   the front crosses the line. */
#include "phase_impl.h"
#include "fronts.h"

#include <millrace/reaction.h>

static const PetscReal most_way = 0.3;        /* cells that a front goes in a step */
static const PetscReal smallest_radius = 0.1; /* of markers, in cells: farther out they have escaped */

static PetscInt region_named(const PhaseConfig *config, const char name[])
{
  PetscInt found = 0;

  while (strcmp(config->regions[found].name, name))
    found++;
  return found;
}

static void set_front(Phase phase, PetscInt f)
{
  const ReactionConfig *reaction = &phase->config->reactions[f % REACTIONS_MAX];
  ReactionFront        *front = &phase->fronts[f];
  PetscReal             before, after;

  front->first = region_named(phase->config, front_fuel(phase->config, f));
  front->product = region_named(phase->config, reaction->product);
  front->partner = -1;
  if (reaction->second)
    front->partner = region_named(phase->config, f < REACTIONS_MAX ? reaction->second : reaction->first);
  front->speed = f < REACTIONS_MAX ? reaction->speed : reaction->second_speed;
  front->curvature_speed = reaction->curvature_speed;
  before = region_density(phase, front->first);
  after = region_density(phase, front->product);
  if (!reaction_acts(reaction, phase->time) || before == 0. || after == 0.)
    return;
  front->leap = before / after - 1.;
  front->pressure = -before * front->leap;
  phase->any_front = PETSC_TRUE;
  phase->front_of[front->first][front->product] = (signed char)(1 + f);
  phase->front_of[front->product][front->first] = (signed char)(-1 - f);
}

PetscErrorCode PhaseSetFronts(Phase phase)
{
  PetscFunctionBegin;
  PetscCall(PetscArrayzero(&phase->front_of[0][0], REGIONS_MAX * REGIONS_MAX));
  phase->any_front = PETSC_FALSE;
  for (PetscInt f = 0; f < FRONTS_MAX; f++)
    if (front_fuel(phase->config, f))
      set_front(phase, f);
  PetscFunctionReturn(0);
}

PetscErrorCode PhaseDestroyFronts(Phase phase)
{
  PetscFunctionBegin;
  PetscCall(VecDestroy(&phase->burning));
  for (PetscInt r = 0; r < REACTIONS_MAX; r++) {
    PetscCall(VecDestroy(&phase->ignition[r]));
    PetscCall(VecDestroy(&phase->kept.ignition[r]));
  }
  PetscCall(PhaseDestroyPending(phase));
  PetscFunctionReturn(0);
}

PetscBool front_acts(Phase phase, PetscInt f)
{
  const ReactionFront *front = &phase->fronts[f];

  return phase->front_of[front->first][front->product] == 1 + f ? PETSC_TRUE : PETSC_FALSE;
}

PetscReal phase_front_limit(Phase phase, PetscReal h)
{
  PetscReal limit = pending_limit(phase);

  for (PetscInt f = 0; f < FRONTS_MAX; f++) {
    const PetscReal curvature = (grid_box(phase->grid)->dimension - 1) / h;
    const PetscReal speed = phase->fronts[f].speed + phase->fronts[f].curvature_speed * curvature;
    const PetscReal push = phase->report.front_area[f] > 0. ? 1. + phase->fronts[f].leap : 1.;
    const PetscReal fastest = speed * PetscMax(1., push); /* where it is, with the product at rest */

    if (front_acts(phase, f) && fastest > 0.)
      limit = PetscMin(limit, most_way * h / fastest);
  }
  return limit;
}

/* Between two open cells of the box. */
static PetscBool is_inner_face(Phase phase, PetscInt c, PetscInt d)
{
  const GridBox *box = grid_box(phase->grid);
  PetscInt       at[DIM];

  box_at(box, c, at);
  for (PetscInt a = 0; a < box->dimension; a++)
    if (!box->periodic[a] && (at[a] < (a == d ? 1 : 0) || at[a] >= box->cells[a]))
      return PETSC_FALSE;
  return is_open_cell(phase, c) && is_open_cell(phase, c - box->stride[d]) ? PETSC_TRUE : PETSC_FALSE;
}

/* That of the difference of both distances, which grows towards the product; across the line at the crossing.
 */
static PetscReal normal_part(const Crossings *crossings, const FrontFace *face, PetscInt c, PetscInt d)
{
  const GridBox   *box = grid_box(crossings->phase->grid);
  const PetscReal *in = crossings->distances[face->front->first],
                  *out = crossings->distances[face->front->product];
  const PetscInt  below = c - box->stride[d];
  const PetscReal along = (face->product_is_above ? 1. : -1.) * (in[c] - out[c] - in[below] + out[below]);
  PetscReal       square = PetscSqr(along);

  for (PetscInt a = 0; a < box->dimension; a++) {
    const PetscInt s = box->stride[a];

    if (a != d)
      square += PetscSqr(0.5 * face->theta * (in[c + s] - out[c + s] - in[c - s] + out[c - s]) +
                         0.5 * (1. - face->theta) *
                             (in[below + s] - out[below + s] - in[below - s] + out[below - s]));
  }
  return along > 0. ? along / PetscSqrtReal(square) : 0.;
}

PetscBool find_front(const Crossings *crossings, PetscInt c, PetscInt d, FrontFace *face)
{
  const Phase    phase = crossings->phase;
  const PetscInt below = c - grid_box(phase->grid)->stride[d];
  const PetscInt between = front_between(phase, phase->region[below], phase->region[c]);
  Crossing       crossing;

  if (!between || !is_inner_face(phase, c, d))
    return PETSC_FALSE;
  crossing = crossing_below(crossings, c, d);
  if (crossing.blocked)
    return PETSC_FALSE;
  face->number = PetscAbsInt(between) - 1;
  face->front = &phase->fronts[face->number];
  face->product_is_above = between > 0 ? PETSC_TRUE : PETSC_FALSE;
  face->theta = crossing.theta;
  face->part = normal_part(crossings, face, c, d);
  return PETSC_TRUE;
}

void add_front_value(const FrontValues *cells, PetscInt c, PetscReal part, PetscReal value)
{
  cells->value[c] += part * part * value;
  cells->weight[c] += part * part;
}

/* As much as it burns there; all of it without a temperature. */
static PetscReal burning_part(const PetscReal *ignition, PetscInt c, PetscInt below)
{
  return ignition ? 0.5 * (ignition[c] + ignition[below]) : 1.;
}

/* All of it up to a layer away from the partner, nothing from a cell farther on; all without one. */
static PetscReal part_beside_partner(const Crossings *crossings, const FrontFace *face, PetscInt c,
                                     PetscInt below)
{
  const Phase      phase = crossings->phase;
  const PetscReal  layer = phase->config->reactions[face->number % REACTIONS_MAX].layer;
  const PetscReal *distance = face->front->partner < 0 ? NULL : crossings->distances[face->front->partner];

  if (!distance)
    return 1.;
  return PetscMax(0., PetscMin(1. + layer -
                                   ((1. - face->theta) * distance[below] + face->theta * distance[c]) /
                                       grid_spacing(phase->grid),
                               1.));
}

static PetscErrorCode AddSpeeds(Phase phase, Crossings *crossings, PetscInt f, const FrontValues *cells)
{
  const PetscInt   r = f % REACTIONS_MAX;
  const GridBox   *box = grid_box(phase->grid);
  const PetscReal *ignition = NULL;
  FrontFace        face;

  PetscFunctionBegin;
  if (phase->ignition[r])
    PetscCall(VecGetArrayRead(phase->ignition[r], &ignition));
  for (PetscInt m = 0; m < phase->mixed_count; m++)
    for (PetscInt d = 0; d < box->dimension; d++) {
      const PetscInt c = phase->mixed_cells[m], below = c - box->stride[d];
      PetscReal      speed;

      if (!find_front(crossings, c, d, &face) || face.number != f)
        continue;
      speed = face.front->speed;
      if (crossings->curvature)
        speed += face.front->curvature_speed *
                 ((1. - face.theta) * crossings->curvature[below] + face.theta * crossings->curvature[c]);
      speed = PetscMax(0., speed) * burning_part(ignition, c, below) *
              part_beside_partner(crossings, &face, c, below);
      add_front_value(cells, c, face.part, speed);
      add_front_value(cells, below, face.part, speed);
    }
  if (phase->ignition[r])
    PetscCall(VecRestoreArrayRead(phase->ignition[r], &ignition));
  PetscFunctionReturn(0);
}

/* The curvature of the first region's surface, as the surface tension sees it. */
static PetscErrorCode AddCurvedSpeeds(Phase phase, PetscInt f, Vec pair, Vec curvature,
                                      const FrontValues *cells)
{
  const ReactionFront *front = &phase->fronts[f];
  Crossings            crossings;

  PetscFunctionBegin;
  if (front->curvature_speed > 0.) {
    PetscCall(VecWAXPY(pair, -1., phase->distances[front->product], phase->distances[front->first]));
    PetscCall(VecScale(pair, 0.5));
    PetscCall(DistanceGetCurvature(phase->grid, phase->visibility_map, pair, curvature));
    PetscCall(MacGridMirrorGhosts(phase->grid, curvature));
  }
  PetscCall(PhaseGetCrossings(phase, &crossings));
  if (front->curvature_speed > 0.)
    PetscCall(VecGetArrayRead(curvature, &crossings.curvature));
  PetscCall(AddSpeeds(phase, &crossings, f, cells));
  if (front->curvature_speed > 0.)
    PetscCall(VecRestoreArrayRead(curvature, &crossings.curvature));
  PetscCall(PhaseRestoreCrossings(phase, &crossings));
  PetscFunctionReturn(0);
}

PetscErrorCode PhaseExtendFromFronts(Phase phase, Vec weight, Vec values)
{
  const PetscInt length = grid_box(phase->grid)->length;
  const Vec      away = phase->scratch[0];
  PetscReal     *far, *known, *value, *distances[REGIONS_MAX];

  PetscFunctionBegin;
  PetscCall(PhaseGetDistances(phase, distances));
  PetscCall(VecGetArray(away, &far));
  PetscCall(VecGetArray(weight, &known));
  PetscCall(VecGetArray(values, &value));
  for (PetscInt c = 0; c < length; c++) {
    far[c] = PetscAbsReal(distances[phase->region[c]][c]);
    if (known[c] > 0.)
      value[c] /= known[c];
  }
  PetscCall(VecRestoreArray(values, &value));
  PetscCall(VecRestoreArray(weight, &known));
  PetscCall(VecRestoreArray(away, &far));
  PetscCall(PhaseRestoreDistances(phase, distances));
  PetscCall(ExtendCells(phase->grid, away, weight, BAND_CELLS, 1, &values));
  PetscFunctionReturn(0);
}

static PetscBool speeds_differ(Phase phase)
{
  for (PetscInt r = 0; r < phase->config->reaction_count; r++)
    if (phase->config->reactions[r].curvature_speed > 0. || phase->config->reactions[r].second ||
        reaction_ignites(&phase->config->reactions[r]))
      return PETSC_TRUE;
  return PETSC_FALSE;
}

static PetscErrorCode FindSpeeds(Phase phase)
{
  FrontValues cells;
  Vec         weight;

  PetscFunctionBegin;
  if (!speeds_differ(phase))
    PetscFunctionReturn(0);
  if (!phase->burning)
    PetscCall(MacGridCreateField(phase->grid, &phase->burning));
  PetscCall(MacGridCreateField(phase->grid, &weight));
  PetscCall(VecSet(phase->burning, 0.));
  PetscCall(VecGetArray(weight, &cells.weight));
  PetscCall(VecGetArray(phase->burning, &cells.value));
  for (PetscInt f = 0; f < FRONTS_MAX; f++)
    if (front_acts(phase, f))
      PetscCall(AddCurvedSpeeds(phase, f, phase->scratch[0], phase->scratch[1], &cells));
  PetscCall(VecRestoreArray(phase->burning, &cells.value));
  PetscCall(VecRestoreArray(weight, &cells.weight));
  PetscCall(PhaseExtendFromFronts(phase, weight, phase->burning));
  PetscCall(VecDestroy(&weight));
  PetscFunctionReturn(0);
}

/* Where fronts have an effect. */
typedef struct {
  PetscReal       *expansion, *jump[DIM];
  const PetscReal *speed; /* of cells; null: constants */
  ReproducibleSum  area[FRONTS_MAX], rate[FRONTS_MAX];
} FrontFields;

static PetscReal speed_at(const FrontFields *fields, const FrontFace *face, PetscInt c, PetscInt below)
{
  if (!fields->speed)
    return face->front->speed;
  return 0.5 * (fields->speed[c] + fields->speed[below]);
}

static void set_front_face(Phase phase, FrontFields *fields, const FrontFace *face, PetscInt m, PetscInt d)
{
  const GridBox        *box = grid_box(phase->grid);
  const VelocityGroups *groups = &phase->mixture.groups;
  const PetscReal       h = grid_spacing(phase->grid);
  const PetscInt        c = phase->mixed_cells[m], below = c - box->stride[d];
  const PetscReal       speed = speed_at(fields, face, c, below);
  const PetscReal       leap = face->front->leap * speed * face->part; /* of the upper cell over the lower */
  PetscInt              at[DIM];

  fields->expansion[c] += face->theta * leap / h;
  fields->expansion[below] += (1. - face->theta) * leap / h;
  fields->jump[d][c] += (face->product_is_above ? 1. : -1.) * face->front->pressure * speed * speed;
  if (groups->count > 1 && leap != 0.) {
    PetscReal *seen = groups->leap + (DIM * m + d) * groups->count;

    seen[phase->group_of[phase->region[c]]] = face->theta * leap;
    seen[phase->group_of[phase->region[below]]] = -(1. - face->theta) * leap;
  }
  box_at(box, c, at);
  for (PetscInt a = 0; a < DIM; a++)
    if (at[a] < box->start[a] || at[a] >= box->end[a])
      return;
  sum_add(&fields->area[face->number], face->part);
  sum_add(&fields->rate[face->number], face->part * speed);
}

static PetscErrorCode SetFaces(Phase phase, FrontFields *fields)
{
  Crossings crossings;
  FrontFace face;

  PetscFunctionBegin;
  PetscCall(PhaseGetCrossings(phase, &crossings));
  for (PetscInt m = 0; m < phase->mixed_count; m++)
    for (PetscInt d = 0; d < grid_box(phase->grid)->dimension; d++)
      if (find_front(&crossings, phase->mixed_cells[m], d, &face))
        set_front_face(phase, fields, &face, m, d);
  PetscCall(PhaseRestoreCrossings(phase, &crossings));
  PetscFunctionReturn(0);
}

static PetscErrorCode AddUpFronts(Phase phase, const FrontFields *fields)
{
  const GridBox  *box = grid_box(phase->grid);
  const PetscReal h = grid_spacing(phase->grid), area = box->dimension == 3 ? h * h : h;

  PetscFunctionBegin;
  PetscCall(SumOverRanks(box->comm, FRONTS_MAX, fields->area, phase->report.front_area));
  PetscCall(SumOverRanks(box->comm, FRONTS_MAX, fields->rate, phase->report.burning));
  for (PetscInt f = 0; f < FRONTS_MAX; f++) {
    phase->report.front_area[f] *= area;
    phase->report.burning[f] *= area;
  }
  PetscFunctionReturn(0);
}

PetscErrorCode PhaseUpdateFronts(Phase phase)
{
  const VelocityGroups *groups = &phase->mixture.groups;
  FrontFields           fields = {.speed = NULL};

  PetscFunctionBegin;
  if (!phase->config->reaction_count)
    PetscFunctionReturn(0);
  if (!phase->mixture.expansion)
    PetscCall(MacGridCreateField(phase->grid, &phase->mixture.expansion));
  PetscCall(VecSet(phase->mixture.expansion, 0.));
  if (groups->count > 1)
    PetscCall(PetscArrayzero(groups->leap, phase->mixed_count * DIM * groups->count));
  PetscCall(FindSpeeds(phase));
  PetscCall(VecGetArray(phase->mixture.expansion, &fields.expansion));
  PetscCall(MacGridGetFaces(phase->grid, phase->mixture.jump, fields.jump));
  if (phase->burning)
    PetscCall(VecGetArrayRead(phase->burning, &fields.speed));
  PetscCall(SetFaces(phase, &fields));
  if (phase->burning)
    PetscCall(VecRestoreArrayRead(phase->burning, &fields.speed));
  PetscCall(MacGridRestoreFaces(phase->grid, phase->mixture.jump, fields.jump));
  PetscCall(VecRestoreArray(phase->mixture.expansion, &fields.expansion));
  PetscCall(AddUpFronts(phase, &fields));
  PetscCall(PhaseExpandPending(phase, phase->mixture.expansion));
  PetscFunctionReturn(0);
}

PetscInt nearest_front(Phase phase, PetscReal *const distances[], PetscInt c, PetscInt *first,
                       PetscInt *product)
{
  const PetscReal inner = phase->band - MILLRACE_ROUND_OFF * grid_spacing(phase->grid);
  PetscInt        nearest = 0, next = -1, between;

  for (PetscInt n = 1; n < phase->count; n++)
    if (distances[n][c] < distances[nearest][c])
      nearest = n;
  for (PetscInt n = 0; n < phase->count; n++)
    if (n != nearest && (next < 0 || distances[n][c] < distances[next][c]))
      next = n;
  if (PetscAbsReal(distances[nearest][c]) >= inner || distances[next][c] >= inner)
    return 0;
  between = front_between(phase, nearest, next);
  *first = between > 0 ? nearest : next;
  *product = between > 0 ? next : nearest;
  return PetscAbsInt(between);
}

PetscErrorCode PhaseAddLeaps(Phase phase, PetscInt group, Vec faces[DIM])
{
  const VelocityGroups *groups = &phase->mixture.groups;
  PetscReal            *u[DIM];

  PetscFunctionBegin;
  if (!groups->leap || !phase->any_front)
    PetscFunctionReturn(0);
  PetscCall(MacGridGetFaces(phase->grid, faces, u));
  for (PetscInt m = 0; m < phase->mixed_count; m++)
    for (PetscInt d = 0; d < grid_box(phase->grid)->dimension; d++)
      u[d][phase->mixed_cells[m]] += groups->leap[(DIM * m + d) * groups->count + group];
  PetscCall(MacGridRestoreFaces(phase->grid, faces, u));
  PetscCall(MacGridExchangeFaces(phase->grid, faces));
  PetscFunctionReturn(0);
}

/* Through a front a product sees what burns, with its leap: what its flow brings is made there. */
typedef struct {
  Phase            phase;
  PetscInt         group; /* of products */
  PetscReal       *distances[REGIONS_MAX];
  const PetscReal *speed; /* of cells; null: constants */
} SeenFlow;

/* Of the normal of a front, at a face. */
static PetscReal normal_at_face(const SeenFlow *seen, const ReactionFront *front, PetscInt c, PetscInt d)
{
  const GridBox   *box = grid_box(seen->phase->grid);
  const PetscReal *in = seen->distances[front->first], *out = seen->distances[front->product];
  const PetscInt   below = c - box->stride[d];
  const PetscReal  along = in[c] - out[c] - in[below] + out[below];
  PetscReal        square = PetscSqr(along);

  for (PetscInt a = 0; a < box->dimension; a++) {
    const PetscInt s = box->stride[a];

    if (a != d)
      square += PetscSqr(0.25 * (in[c + s] - out[c + s] - in[c - s] + out[c - s] + in[below + s] -
                                 out[below + s] - in[below - s] + out[below - s]));
  }
  return square > 0. ? along / PetscSqrtReal(square) : 0.;
}

/* What is seen of the face below cell c along d more than it has; false: there is no front. */
static PetscBool leap_through(const SeenFlow *seen, PetscInt c, PetscInt d, PetscReal *leap)
{
  const Phase    phase = seen->phase;
  const PetscInt below = c - grid_box(phase->grid)->stride[d];
  PetscInt       first, product, r;
  PetscReal      speed;

  r = phase->region[c] == phase->region[below] ? nearest_front(phase, seen->distances, c, &first, &product)
                                               : 0;
  if (!r || first != phase->region[c] || phase->group_of[product] != seen->group ||
      phase->group_of[first] == seen->group)
    return PETSC_FALSE;
  speed = seen->speed ? 0.5 * (seen->speed[c] + seen->speed[below]) : phase->fronts[r - 1].speed;
  *leap = phase->fronts[r - 1].leap * speed * normal_at_face(seen, &phase->fronts[r - 1], c, d);
  return PETSC_TRUE;
}

PetscErrorCode PhaseSeeThroughFronts(Phase phase, PetscInt group, Vec from[DIM], Vec faces[DIM])
{
  const GridBox *box = grid_box(phase->grid);
  SeenFlow       seen = {.phase = phase, .group = group};
  PetscReal     *u[DIM], *before[DIM], leap;

  PetscFunctionBegin;
  PetscCall(PhaseGetDistances(phase, seen.distances));
  if (phase->burning)
    PetscCall(VecGetArrayRead(phase->burning, &seen.speed));
  PetscCall(MacGridGetFaces(phase->grid, from, before));
  PetscCall(MacGridGetFaces(phase->grid, faces, u));
  for (PetscInt d = 0; d < box->dimension; d++) {
    const GridRange range = grid_faces(phase->grid, d);

    FOR_CELLS(&range, i, j, k) {
      const PetscInt c = box_index(box, i, j, k);

      if (leap_through(&seen, c, d, &leap))
        u[d][c] = before[d][c] + leap;
    }
  }
  PetscCall(MacGridRestoreFaces(phase->grid, faces, u));
  PetscCall(MacGridRestoreFaces(phase->grid, from, before));
  if (phase->burning)
    PetscCall(VecRestoreArrayRead(phase->burning, &seen.speed));
  PetscCall(PhaseRestoreDistances(phase, seen.distances));
  PetscCall(MacGridExchangeFaces(phase->grid, faces));
  PetscFunctionReturn(0);
}

/* The group whose flow carries interfaces near a cell, or NO_GROUP. */
static PetscErrorCode FindCarryingGroups(Phase phase, unsigned char group[])
{
  PetscReal *distances[REGIONS_MAX];
  PetscInt   first, product;

  PetscFunctionBegin;
  PetscCall(PhaseGetDistances(phase, distances));
  for (PetscInt c = 0; c < grid_box(phase->grid)->length; c++)
    group[c] = nearest_front(phase, distances, c, &first, &product) ? phase->group_of[first] : NO_GROUP;
  PetscCall(PhaseRestoreDistances(phase, distances));
  PetscFunctionReturn(0);
}

PetscErrorCode PhaseCarryFronts(Phase phase, Vec *const groups[], Vec faces[DIM])
{
  const GridBox *box = grid_box(phase->grid);
  unsigned char *group;
  PetscReal     *u[DIM], *flow[REGIONS_MAX][DIM];

  PetscFunctionBegin;
  if (!phase->any_front)
    PetscFunctionReturn(0);
  PetscCall(PetscMalloc1(box->length, &group));
  PetscCall(FindCarryingGroups(phase, group));
  PetscCall(MacGridGetFaces(phase->grid, faces, u));
  for (PetscInt g = 0; g < phase->mixture.groups.count; g++)
    PetscCall(MacGridGetFaces(phase->grid, groups[g], flow[g]));
  for (PetscInt d = 0; d < box->dimension; d++) {
    const GridRange range = grid_faces(phase->grid, d);

    FOR_CELLS(&range, i, j, k) {
      const PetscInt c = box_index(box, i, j, k), below = c - box->stride[d];
      const PetscInt by = group[c] != NO_GROUP ? group[c] : group[below];

      if (by != NO_GROUP)
        u[d][c] = flow[by][d][c];
    }
  }
  for (PetscInt g = 0; g < phase->mixture.groups.count; g++)
    PetscCall(MacGridRestoreFaces(phase->grid, groups[g], flow[g]));
  PetscCall(MacGridRestoreFaces(phase->grid, faces, u));
  PetscCall(PetscFree(group));
  PetscFunctionReturn(0);
}

/* Distances to the moved fronts: those of Huygens' waves. */
static PetscErrorCode ShiftFronts(Phase phase, PetscReal dt)
{
  const PetscReal *speed = NULL;
  PetscReal       *distances[REGIONS_MAX];
  PetscInt         first, product;

  PetscFunctionBegin;
  if (phase->burning)
    PetscCall(VecGetArrayRead(phase->burning, &speed));
  PetscCall(PhaseGetDistances(phase, distances));
  for (PetscInt c = 0; c < grid_box(phase->grid)->length; c++) {
    const PetscInt r = nearest_front(phase, distances, c, &first, &product);

    if (!r)
      continue;
    distances[first][c] += dt * (speed ? speed[c] : phase->fronts[r - 1].speed);
    distances[product][c] -= dt * (speed ? speed[c] : phase->fronts[r - 1].speed);
  }
  PetscCall(PhaseRestoreDistances(phase, distances));
  if (phase->burning)
    PetscCall(VecRestoreArrayRead(phase->burning, &speed));
  PetscFunctionReturn(0);
}

/* The cells around fronts of one number, the distance to what burns there, and how far it has just burnt.
 */
typedef struct {
  Phase            phase;
  PetscReal       *distances[REGIONS_MAX];
  const PetscReal *speed; /* of cells; null: a constant */
  PetscReal        dt;
  PetscInt         number, first; /* of the front; what burns there */
} BurntPlaces;

static PetscBool is_near_front(const void *context, const PetscInt at[DIM])
{
  const BurntPlaces *places = context;
  const PetscInt     c = box_index(grid_box(places->phase->grid), at[X], at[Y], at[Z]);
  PetscInt           first, product;

  return nearest_front(places->phase, places->distances, c, &first, &product) == places->number + 1
             ? PETSC_TRUE
             : PETSC_FALSE;
}

/* Markers farther out have escaped: they are what is left of thin parts. */
static PetscBool is_burnt(const void *context, Vector3 point)
{
  const BurntPlaces *places = context;
  const Phase        phase = places->phase;
  const PetscInt     c = phase->visibility_map ? visibility_map_cell(phase->visibility_map, point) : 0;
  const PetscReal    distance = phase_sample(phase, places->distances[places->first], c, point, -phase->band);
  const PetscReal    speed =
      places->speed ? phase_sample(phase, places->speed, c, point, 0.) : phase->fronts[places->number].speed;

  return speed > 0. && distance > 0. &&
                 distance <= speed * places->dt + smallest_radius * grid_spacing(phase->grid)
             ? PETSC_TRUE
             : PETSC_FALSE;
}

static PetscErrorCode DropBurnt(Phase phase, PetscReal dt)
{
  BurntPlaces        places = {.phase = phase, .dt = dt};
  const ParticleTest test = {.cell = is_near_front, .place = is_burnt, .context = &places};
  PetscInt           dropped = 0;

  PetscFunctionBegin;
  if (!phase->config->interface.particles)
    PetscFunctionReturn(0);
  PetscCall(PhaseGetDistances(phase, places.distances));
  if (phase->burning)
    PetscCall(VecGetArrayRead(phase->burning, &places.speed));
  for (PetscInt f = 0; f < FRONTS_MAX; f++)
    if (front_acts(phase, f)) {
      places.number = f;
      places.first = phase->fronts[f].first;
      PetscCall(ParticlesDropWhere(phase->markers[places.first], &test, &dropped));
    }
  if (phase->burning)
    PetscCall(VecRestoreArrayRead(phase->burning, &places.speed));
  PetscCall(PhaseRestoreDistances(phase, places.distances));
  PetscFunctionReturn(0);
}

PetscErrorCode PhaseBurn(Phase phase, PetscReal dt, unsigned *changed)
{
  PetscFunctionBegin;
  if (!phase->any_front)
    PetscFunctionReturn(0);
  PetscCall(ShiftFronts(phase, dt));
  PetscCall(DropBurnt(phase, dt));
  *changed = ALL_REGIONS;
  for (PetscInt f = 0; f < FRONTS_MAX; f++) {
    const ReactionFront *front = &phase->fronts[f];
    const PetscReal      burnt = phase->report.burning[f] * dt; /* as the expansion has it */

    if (!front_acts(phase, f))
      continue;
    phase->report.burnt[f] += region_density(phase, front->first) * burnt;
    phase->targets[front->first] -= burnt;
    phase->targets[front->product] += (1. + front->leap) * burnt;
  }
  PetscFunctionReturn(0);
}

void find_imbalance(Phase phase)
{
  phase->report.imbalance = 0.;
  for (PetscInt n = 0; n < phase->count && phase->config->reaction_count; n++) {
    phase->report.excess[n] = region_density(phase, n) * (phase->report.volume[n] - phase->targets[n]);
    phase->report.imbalance += phase->report.excess[n];
  }
}
