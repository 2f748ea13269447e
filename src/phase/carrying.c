/* What moves interfaces between liquids. The velocity u has one component on each face; between two liquids
   that slip along each other its normal component has a kink at the interface, of which level sets, that are
   carried by the means of cells, see too little: by

     div_s (h a [u_t]),   a(s) = (s - 1/2) w + w_0(s)/2 + 3 w_-1(s)/2,

   with the slip [u_t] of the first liquid along the second, the part s of the way between two centres that is
   in the first, its part w of both densities, and cubic interpolation's weights w_-1, w_0 of the last two
   centres in the first. That much the interface is slower than u says, along its normal from the first to the
   second. A divergence along the surface makes no volume. The more the densities differ, the more counts the
   mean u_c of the flows carried on past the interface, by their densities: it does not see what the lighter
   one does, but is not free of divergence. */
#include "phase_impl.h"
#include "crossing.h"

/* Cells: where a flow begins to count less in u_c, and where it no longer counts; how far kinks reach. */
static const PetscReal full_weight = 1.5, no_weight = 2.5, kinks_end = 3.;
enum { SLIP_LAYERS = 4 };

/* What the flows of groups are on faces, and what is around them. */
typedef struct {
  Crossings  crossings; /* of the phase */
  PetscReal *flow[REGIONS_MAX][DIM];
} GroupFlows;

static PetscErrorCode GetFlows(Phase phase, Vec *const groups[], GroupFlows *flows)
{
  PetscFunctionBegin;
  PetscCall(PhaseGetCrossings(phase, &flows->crossings));
  for (PetscInt g = 0; g < phase->mixture.groups.count; g++)
    PetscCall(MacGridGetFaces(phase->grid, groups[g], flows->flow[g]));
  PetscFunctionReturn(0);
}

static PetscErrorCode RestoreFlows(Phase phase, Vec *const groups[], GroupFlows *flows)
{
  PetscFunctionBegin;
  for (PetscInt g = 0; g < phase->mixture.groups.count; g++)
    PetscCall(MacGridRestoreFaces(phase->grid, groups[g], flows->flow[g]));
  PetscCall(PhaseRestoreCrossings(phase, &flows->crossings));
  PetscFunctionReturn(0);
}

/* Of a distance; zero where it is none. */
static Vector3 unit_normal(const GridBox *box, const PetscReal *distance, PetscInt c, PetscReal h)
{
  Vector3   n = vector3(0., 0., 0.);
  PetscReal norm;

  for (PetscInt d = 0; d < box->dimension; d++)
    n.at[d] = distance[c + box->stride[d]] - distance[c - box->stride[d]];
  norm = vector3_norm(n);
  return vector3_scale(norm > 0.5 * h ? 1. / norm : 0., n);
}

static PetscReal missing_part(PetscReal s, PetscReal density_part)
{
  const PetscReal here = 0.5 * (s + 1.) * (s - 1.) * (s - 2.), behind = -s * (s - 1.) * (s - 2.) / 6.;

  return (s - 0.5) * density_part + 0.5 * here + 1.5 * behind;
}

/* The group beyond one of the faces of a cell, NO_GROUP if that is the cell's own, and the part of the way.
 */
static PetscInt group_beyond(const Crossings *crossings, PetscInt c, PetscInt d, PetscInt side,
                             PetscReal *way)
{
  const Phase    phase = crossings->phase;
  const Crossing crossing = crossing_below(crossings, c + side * grid_box(phase->grid)->stride[d], d);
  const PetscInt group = phase->group_of[side ? crossing.upper : crossing.lower];

  *way = side ? crossing.theta : 1. - crossing.theta;
  return crossing.blocked || group == phase->group_of[phase->region[c]] ? NO_GROUP : group;
}

/* The mean of a over the crossings beside a cell, by the parts of the normal; the other group, or NO_GROUP.
 */
static PetscInt find_partner(const Crossings *crossings, PetscInt c, Vector3 n, PetscReal *part)
{
  const Phase    phase = crossings->phase;
  const PetscInt own = phase->group_of[phase->region[c]];
  PetscInt       partner = NO_GROUP;
  PetscReal      sum = 0., weight = 0., way;

  for (PetscInt m = 0; m < 2 * grid_box(phase->grid)->dimension; m++) {
    const PetscInt group = group_beyond(crossings, c, m / 2, m % 2, &way);

    if (group == NO_GROUP || (partner != NO_GROUP && group != partner))
      continue;
    partner = group;
    weight += PetscSqr(n.at[m / 2]);
    sum += PetscSqr(n.at[m / 2]) *
           missing_part(way, phase->group_density[own] /
                                 (phase->group_density[own] + phase->group_density[group]));
  }
  *part = weight > 0. ? sum / weight : 0.;
  return partner;
}

/* h a [u_t] in a cell, of the group with the smaller number along the other; false: none is beside it. */
static PetscBool slip_of_cell(const GroupFlows *flows, PetscInt c, Vector3 *slip)
{
  const Phase     phase = flows->crossings.phase;
  const GridBox  *box = grid_box(phase->grid);
  const PetscReal h = grid_spacing(phase->grid);
  const PetscInt  own = phase->group_of[phase->region[c]];
  Vector3         n;
  PetscInt        other;
  PetscReal       part;

  *slip = vector3(0., 0., 0.);
  if (own == NO_GROUP || is_near_shell(phase->visibility_map, c))
    return PETSC_FALSE;
  n = unit_normal(box, flows->crossings.distances[phase->region[c]], c, h);
  other = find_partner(&flows->crossings, c, n, &part);
  if (other == NO_GROUP)
    return PETSC_FALSE;
  for (PetscInt d = 0; d < box->dimension; d++) {
    const PetscReal *mine = flows->flow[own][d], *theirs = flows->flow[other][d];
    const PetscInt   next = c + box->stride[d];

    slip->at[d] = 0.5 * (mine[c] + mine[next] - theirs[c] - theirs[next]);
  }
  *slip = vector3_subtract(*slip, vector3_scale(vector3_dot(*slip, n), n));
  *slip = vector3_scale((own < other ? h : -h) * part, *slip);
  return PETSC_TRUE;
}

static PetscBool is_owned(const GridBox *box, PetscInt c)
{
  PetscInt at[DIM];

  box_at(box, c, at);
  for (PetscInt d = 0; d < DIM; d++)
    if (at[d] < box->start[d] || at[d] >= box->end[d])
      return PETSC_FALSE;
  return PETSC_TRUE;
}

/* In the cells beside other groups, which `known` marks; `away`: distance from the nearest interface. */
static PetscErrorCode FindSlips(Phase phase, const GroupFlows *flows, Vec away, Vec known, Vec slips[DIM])
{
  const GridBox *box = grid_box(phase->grid);
  PetscReal     *slip[DIM], *far, *mark;

  PetscFunctionBegin;
  PetscCall(VecSet(known, 0.));
  PetscCall(VecGetArray(away, &far));
  PetscCall(VecGetArray(known, &mark));
  PetscCall(MacGridGetFaces(phase->grid, slips, slip));
  for (PetscInt c = 0; c < box->length; c++)
    far[c] = PetscAbsReal(flows->crossings.distances[phase->region[c]][c]);
  for (PetscInt m = 0; m < phase->mixed_count; m++) {
    const PetscInt c = phase->mixed_cells[m];
    Vector3        value;

    if (!is_owned(box, c) || !slip_of_cell(flows, c, &value))
      continue;
    mark[c] = 1.;
    for (PetscInt d = 0; d < box->dimension; d++)
      slip[d][c] = value.at[d];
  }
  PetscCall(MacGridRestoreFaces(phase->grid, slips, slip));
  PetscCall(VecRestoreArray(known, &mark));
  PetscCall(VecRestoreArray(away, &far));
  PetscFunctionReturn(0);
}

/* A side mirrors it. */
static PetscReal slip_divergence(const GridBox *box, PetscReal *const slip[DIM], const PetscInt at[DIM],
                                 PetscInt c, PetscReal h)
{
  PetscReal sum = 0.;

  for (PetscInt d = 0; d < box->dimension; d++) {
    const PetscBool low = box->periodic[d] || at[d] > 0, high = box->periodic[d] || at[d] < box->cells[d] - 1;

    sum += (high ? slip[d][c + box->stride[d]] : -slip[d][c]) -
           (low ? slip[d][c - box->stride[d]] : -slip[d][c]);
  }
  return 0.5 * sum / h;
}

/* The group of the region that is nearest but one. */
static PetscInt next_group(Phase phase, PetscReal *const distances[], PetscInt c)
{
  PetscInt found = -1;

  for (PetscInt n = 0; n < phase->count; n++)
    if (n != phase->region[c] && (found < 0 || distances[n][c] < distances[found][c]))
      found = n;
  return phase->group_of[found];
}

/* What the slips take from the velocity, along the normal, in cells. */
static PetscErrorCode FindKinks(Phase phase, PetscReal *const distances[], Vec slips[DIM], Vec kinks[DIM])
{
  const GridBox  *box = grid_box(phase->grid);
  const PetscReal h = grid_spacing(phase->grid);
  PetscReal      *slip[DIM], *kink[DIM];

  PetscFunctionBegin;
  PetscCall(MacGridGetFaces(phase->grid, slips, slip));
  PetscCall(MacGridGetFaces(phase->grid, kinks, kink));
  FOR_CELLS(box, i, j, k) {
    const PetscInt at[DIM] = {i, j, k}, c = box_index(box, i, j, k), own = phase->group_of[phase->region[c]];
    const PetscReal *distance = distances[phase->region[c]];
    PetscReal        out;
    Vector3          n;

    if (PetscAbsReal(distance[c]) >= kinks_end * h || is_near_shell(phase->visibility_map, c))
      continue;
    n = unit_normal(box, distance, c, h);
    out = slip_divergence(box, slip, at, c, h) * (own < next_group(phase, distances, c) ? -1. : 1.);
    for (PetscInt d = 0; d < box->dimension; d++)
      kink[d][c] = out * n.at[d];
  }
  PetscCall(MacGridRestoreFaces(phase->grid, kinks, kink));
  PetscCall(MacGridRestoreFaces(phase->grid, slips, slip));
  PetscCall(MacGridExchangeFaces(phase->grid, kinks));
  PetscFunctionReturn(0);
}

/* Cells from the nearest place of each group to a face. */
static void find_places(const Crossings *crossings, PetscInt c, PetscInt back, PetscReal h, PetscReal away[])
{
  const Phase phase = crossings->phase;

  for (PetscInt g = 0; g < phase->mixture.groups.count; g++)
    away[g] = PETSC_MAX_REAL;
  for (PetscInt n = 0; n < phase->count; n++) {
    const PetscReal mean = 0.5 * (crossings->distances[n][c] + crossings->distances[n][c - back]) / h;

    if (phase->group_of[n] != NO_GROUP)
      away[phase->group_of[n]] = PetscMin(away[phase->group_of[n]], mean);
  }
}

/* The velocity of a face nearer to the mean of the groups by their densities, the more the more these differ:
   of two by the eighth power of their difference over their sum. */
static PetscReal blended(const GroupFlows *flows, PetscInt d, PetscInt c, PetscReal u, PetscReal h)
{
  const Phase phase = flows->crossings.phase;
  PetscReal   away[REGIONS_MAX], sum = 0., squares = 0., momentum = 0.;

  find_places(&flows->crossings, c, grid_box(phase->grid)->stride[d], h, away);
  for (PetscInt g = 0; g < phase->mixture.groups.count; g++) {
    const PetscReal near = (no_weight - away[g]) / (no_weight - full_weight);
    const PetscReal weight = phase->group_density[g] * PetscMax(0., PetscMin(near, 1.));

    sum += weight;
    squares += PetscSqr(weight);
    momentum += weight > 0. ? weight * flows->flow[g][d][c] : 0.;
  }
  if (!(sum > 0.))
    return u;
  return u + PetscPowRealInt(2. * squares / PetscSqr(sum) - 1., 4) * (momentum / sum - u);
}

/* Not on the sides of the box, where no kink is known. */
static PetscErrorCode MoveFaces(Phase phase, const GroupFlows *flows, PetscInt d, Vec kinks, Vec component)
{
  const GridBox   *box = grid_box(phase->grid);
  const PetscReal  h = grid_spacing(phase->grid);
  const GridRange  faces = grid_faces(phase->grid, d);
  const PetscReal *kink;
  PetscReal       *u;

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(kinks, &kink));
  PetscCall(VecGetArray(component, &u));
  FOR_CELLS(&faces, i, j, k) {
    const PetscInt at[DIM] = {i, j, k}, c = box_index(box, i, j, k);

    if (PetscAbsReal(flows->crossings.distances[phase->region[c]][c]) >= (kinks_end + 1.) * h)
      continue;
    if (box->periodic[d] || (at[d] > 0 && at[d] < box->cells[d]))
      u[c] += 0.5 * (kink[c] + kink[c - box->stride[d]]);
    u[c] = blended(flows, d, c, u[c], h);
  }
  PetscCall(VecRestoreArray(component, &u));
  PetscCall(VecRestoreArrayRead(kinks, &kink));
  PetscFunctionReturn(0);
}

PetscErrorCode PhaseFindCarrying(Phase phase, Vec *const groups[], Vec faces[DIM])
{
  const PetscInt dimension = grid_box(phase->grid)->dimension;
  const Vec      away = phase->scratch[0], known = phase->scratch[1];
  Vec            slips[DIM], kinks[DIM];
  GroupFlows     flows;

  PetscFunctionBegin;
  PetscCall(MacGridCreateFaceField(phase->grid, slips));
  PetscCall(MacGridCreateFaceField(phase->grid, kinks));
  PetscCall(GetFlows(phase, groups, &flows));
  PetscCall(FindSlips(phase, &flows, away, known, slips));
  PetscCall(ExtendCells(phase->grid, away, known, SLIP_LAYERS, dimension, slips));
  PetscCall(FindKinks(phase, flows.crossings.distances, slips, kinks));
  for (PetscInt d = 0; d < dimension; d++)
    PetscCall(MoveFaces(phase, &flows, d, kinks[d], faces[d]));
  PetscCall(RestoreFlows(phase, groups, &flows));
  PetscCall(PhaseCarryFronts(phase, groups, faces));
  PetscCall(MacGridDestroyFaceField(kinks));
  PetscCall(MacGridDestroyFaceField(slips));
  PetscFunctionReturn(0);
}
