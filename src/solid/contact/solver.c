/* Steps III and V: contact with friction by projected Gauss-Seidel, pair by pair up the levels of the contact
   graph, starting from the impulses of the last step (numerics.md, 8). */
#include "row.h"

enum { SHOCK_ROUNDS = 10, SHOCK_ROUNDS_AT_REST = 20 };

/* The rows of one contact that take part in a solve. */
typedef struct Group {
  Contact  *contact; /* borrowed */
  PetscInt  a, b, first, count;
  PetscReal inverse[2]; /* of the masses */
  Vector3   rolling;
  PetscReal rolling_grip; /* angular impulse per relative spin that is sure to brake */
} Group;

static Vector3 any_tangent(Vector3 n)
{
  const Vector3 other = PetscAbsReal(n.at[X]) < 0.6 ? vector3(1, 0, 0) : vector3(0, 1, 0);
  const Vector3 tangent = vector3_cross(n, other);

  return vector3_scale(1 / vector3_norm(tangent), tangent);
}

Row make_row(Solid solid, const Contact *contact, ContactPlace *place)
{
  const PetscInt  a = contact->bodies[0], b = contact->bodies[1];
  const Mobility *at_a = &solid->mobilities[a], *at_b = &solid->mobilities[b];
  const Vector3   arms[2] = {vector3_subtract(place->touch.point, solid->placements[a].position),
                             vector3_subtract(place->touch.point, solid->placements[b].position)};
  const Vector3   tangent = any_tangent(place->touch.normal);
  PetscReal       xx, xy, yy;
  Row             row = {.place = place};

  row.normal = make_axis(place->touch.normal, arms, at_a, at_b);
  row.tangents[0] = make_axis(tangent, arms, at_a, at_b);
  row.tangents[1] = make_axis(vector3_cross(place->touch.normal, tangent), arms, at_a, at_b);
  xx = row.tangents[0].yield[0] + row.tangents[0].yield[1];
  yy = row.tangents[1].yield[0] + row.tangents[1].yield[1];
  xy = vector3_dot(row.tangents[0].turn[0], row.tangents[1].response[0]) +
       vector3_dot(row.tangents[0].turn[1], row.tangents[1].response[1]);
  /* over the larger eigenvalue of the 2x2 matrix, or the fixed point would not oppose sliding */
  row.hold = 1 / (row.normal.yield[0] + row.normal.yield[1]);
  row.grip = 1 / (0.5 * (xx + yy) + PetscSqrtReal(0.25 * (xx - yy) * (xx - yy) + xy * xy));
  return row;
}

static PetscBool takes_part(const Contact *contact, const ContactPlace *place, Phase phase,
                            PetscReal approach)
{
  if (phase == PHASE_POSITION)
    return place->touch.gap - approach <= contact->slack ? PETSC_TRUE : PETSC_FALSE;
  if (contact->rubbing.restitution > 0 && !contact->met)
    return PETSC_FALSE; /* bounces first */
  return place->touch.gap <= contact->slack ? PETSC_TRUE : PETSC_FALSE;
}

/* At which a gap may close; an overlap beyond the slack opens, a deep one in several steps. */
static PetscReal allowed_speed(const ContactSet set, const Contact *contact, const Touch *touch, PetscReal dt)
{
  const PetscReal gap = touch->gap >= 0 ? touch->gap : PetscMin(0., touch->gap + contact->slack);

  return PetscMax(gap, -0.05 * set->smallest) / dt;
}

KERNEL Partners meet(const Group *group, const Twist twists[])
{
  return (Partners){{twists[group->a], twists[group->b]}, {1, 1}, {group->inverse[0], group->inverse[1]}};
}

KERNEL void part(const Group *group, const Partners *partners, Twist twists[])
{
  twists[group->a] = partners->twists[0];
  twists[group->b] = partners->twists[1];
}

/* The impulses of the last step, as far as this step's normal and friction allow them. */
static void warm_start(Row *row, const Group *group, Phase phase, Partners *partners)
{
  const Vector3 last = row->place->impulses[phase];
  PetscReal     rub, limit;

  row->impulse = PetscMax(0., vector3_dot(last, row->normal.direction));
  for (PetscInt t = 0; t < 2; t++)
    row->rub[t] = vector3_dot(last, row->tangents[t].direction);
  rub = PetscSqrtReal(row->rub[0] * row->rub[0] + row->rub[1] * row->rub[1]);
  limit = group->contact->rubbing.friction * row->impulse;
  for (PetscInt t = 0; t < 2; t++) {
    if (rub > limit)
      row->rub[t] *= limit / rub;
    axis_push(&row->tangents[t], row->rub[t], partners);
  }
  axis_push(&row->normal, row->impulse, partners);
  row->last[0] = row->impulse;
  row->last[1] = row->rub[0];
  row->last[2] = row->rub[1];
}

static void start_rolling(Group *group, Solid solid, Phase phase, Twist twists[])
{
  const Matrix3 *a = &solid->mobilities[group->a].inverse_inertia;
  const Matrix3 *b = &solid->mobilities[group->b].inverse_inertia;
  PetscReal      largest = 0; /* row sum: no less than the largest eigenvalue */

  for (PetscInt i = 0; i < DIM; i++) {
    PetscReal sum = 0;

    for (PetscInt j = 0; j < DIM; j++)
      sum += PetscAbsReal(a->at[i][j] + b->at[i][j]);
    largest = PetscMax(largest, sum);
  }
  group->rolling_grip = 1 / largest;
  group->rolling = group->contact->rolling[phase];
  twists[group->a].angular = vector3_subtract(twists[group->a].angular, matrix3_apply(a, group->rolling));
  twists[group->b].angular = vector3_add(twists[group->b].angular, matrix3_apply(b, group->rolling));
}

static PetscErrorCode Reserve(ContactSet set)
{
  PetscFunctionBegin;
  if (set->row_capacity < set->now.place_count) {
    set->row_capacity = 2 * set->now.place_count;
    PetscCall(PetscFree(set->rows));
    PetscCall(PetscMalloc1(set->row_capacity, &set->rows));
  }
  if (set->group_capacity < set->now.count) {
    set->group_capacity = 2 * set->now.count;
    PetscCall(PetscFree(set->groups));
    PetscCall(PetscMalloc1(set->group_capacity, &set->groups));
  }
  PetscFunctionReturn(0);
}

/* Rows of all contacts, from the bottom level to the top; returns the number of groups. */
static PetscInt make_groups(ContactSet set, Solid solid, Phase phase, PetscReal dt, Twist twists[])
{
  PetscInt groups = 0, rows = 0;

  for (PetscInt k = 0; k < set->now.count; k++) {
    Contact *contact = &set->now.contacts[set->order[k]];
    Group   *group = &set->groups[groups];

    *group = (Group){.contact = contact, .a = contact->bodies[0], .b = contact->bodies[1], .first = rows};
    group->inverse[0] = solid->mobilities[group->a].inverse_mass;
    group->inverse[1] = solid->mobilities[group->b].inverse_mass;
    for (PetscInt p = 0; p < contact->count; p++) {
      ContactPlace *place = &set->now.places[contact->first + p];

      if (!takes_part(contact, place, phase, -dt * opening_speed(solid, contact, &place->touch, twists))) {
        place->impulses[phase] = vector3(0, 0, 0);
        continue;
      }
      set->rows[rows] = make_row(solid, contact, place);
      set->rows[rows++].bias = phase == PHASE_POSITION ? allowed_speed(set, contact, &place->touch, dt) : 0;
    }
    group->count = rows - group->first;
    if (group->count)
      groups++;
  }
  /* after all have been chosen by what moves them */
  for (PetscInt g = 0; g < groups; g++) {
    Partners partners = meet(&set->groups[g], twists);

    for (PetscInt r = 0; r < set->groups[g].count; r++)
      warm_start(&set->rows[set->groups[g].first + r], &set->groups[g], phase, &partners);
    part(&set->groups[g], &partners, twists);
    if (set->groups[g].contact->rubbing.rolling_friction > 0)
      start_rolling(&set->groups[g], solid, phase, twists);
  }
  return groups;
}

/* A torque against the relative spin, up to the lever of rolling friction times the pressing impulse. */
static void resist_rolling(Group *group, const Row rows[], Solid solid, Partners *partners)
{
  const PetscInt bodies[2] = {group->a, group->b};
  Twist         *twists = partners->twists;
  const Vector3  spin = vector3_subtract(twists[1].angular, twists[0].angular);
  Vector3        wanted = vector3_subtract(group->rolling, vector3_scale(group->rolling_grip, spin)), change;
  PetscReal      limit = 0;

  for (PetscInt r = 0; r < group->count; r++)
    limit += group->contact->rubbing.rolling_friction * rows[r].impulse;
  if (vector3_norm(wanted) > limit)
    wanted = vector3_scale(limit / vector3_norm(wanted), wanted);
  change = vector3_subtract(wanted, group->rolling);
  for (PetscInt side = 0; side < 2; side++) {
    const Vector3 answer = matrix3_apply(&solid->mobilities[bodies[side]].inverse_inertia, change);

    twists[side].angular = vector3_add(
        twists[side].angular, vector3_scale(side ? partners->gives[1] : -partners->gives[0], answer));
  }
  group->rolling = wanted;
}

/* For bodies of which one may be held; the trace bounds the larger eigenvalue. */
KERNEL PetscReal held_grip(const Row *row, const Partners *partners)
{
  return 1 / (axis_yield(&row->tangents[0], partners) + axis_yield(&row->tangents[1], partners));
}

/* Friction, rolling, then pressing, so that what presses is met best; returns the largest change of speed. */
KERNEL PetscReal visit(Group *group, Row rows[], Solid solid, const PetscBool held, Partners *partners)
{
  const PetscReal friction = group->contact->rubbing.friction;
  PetscReal       largest = 0, change;

  for (PetscInt r = 0; r < group->count; r++) {
    Row            *row = &rows[r];
    const PetscReal limit = friction * row->impulse;

    if (!(limit > 0) && row->rub[0] == 0 && row->rub[1] == 0)
      continue;
    change = row_rub(row, held ? held_grip(row, partners) : row->grip, limit, partners);
    largest = PetscMax(largest, change * (row->tangents[0].yield[0] + row->tangents[0].yield[1]));
  }
  if (group->contact->rubbing.rolling_friction > 0)
    resist_rolling(group, rows, solid, partners);
  for (PetscInt r = 0; r < group->count; r++) {
    Row *row = &rows[r];

    change = row_press(row, held ? 1 / axis_yield(&row->normal, partners) : row->hold, partners);
    largest = PetscMax(largest, change * (row->normal.yield[0] + row->normal.yield[1]));
  }
  return largest;
}

typedef enum { UPWARDS, DOWNWARDS } Direction;

/* All contacts, each visited twice while it is at hand; returns the largest change of speed in a first visit.
 */
VECTOR_CLONES static PetscReal sweep(ContactSet set, Solid solid, Direction direction, PetscInt group_count,
                                     Twist twists[])
{
  PetscReal largest = 0;

  for (PetscInt k = 0; k < group_count; k++) {
    Group    *group = &set->groups[direction == UPWARDS ? k : group_count - 1 - k];
    Row      *rows = &set->rows[group->first];
    Partners  partners = meet(group, twists);
    PetscReal change = visit(group, rows, solid, PETSC_FALSE, &partners);

    largest = PetscMax(largest, change);
    visit(group, rows, solid, PETSC_FALSE, &partners);
    part(group, &partners, twists);
  }
  return largest;
}

KERNEL void carry_on(Row *row, PetscReal beta, Partners *partners)
{
  const PetscReal value[3] = {row->impulse, row->rub[0], row->rub[1]};

  for (PetscInt k = 0; k < 3; k++) {
    const PetscReal further = beta * row->search[k];

    axis_push(k == 0 ? &row->normal : &row->tangents[k - 1], further, partners);
    row->search[k] = further + value[k] - row->last[k];
    row->last[k] = value[k] + further;
  }
  row->impulse = row->last[0];
  row->rub[0] = row->last[1];
  row->rub[1] = row->last[2];
}

/* Nonlinear conjugate gradients over sweeps, which are taken for steps down a gradient: the impulses are
   carried on along the last search direction, and the next sweep brings them back into their bounds. `square`
   is that of the last gradient. */
VECTOR_CLONES static void extrapolate(ContactSet set, PetscInt group_count, PetscReal *square, Twist twists[])
{
  PetscReal       now = 0, beta;
  const PetscReal before = *square;

  for (PetscInt g = 0; g < group_count; g++)
    for (PetscInt r = 0; r < set->groups[g].count; r++) {
      const Row *row = &set->rows[set->groups[g].first + r];

      now += PetscSqr(row->impulse - row->last[0]) + PetscSqr(row->rub[0] - row->last[1]) +
             PetscSqr(row->rub[1] - row->last[2]);
    }
  *square = now;
  beta = before > 0 && now <= before ? now / before : 0;
  for (PetscInt g = 0; g < group_count; g++) {
    const Group *group = &set->groups[g];
    Partners     partners = meet(group, twists);

    for (PetscInt r = 0; r < group->count; r++)
      carry_on(&set->rows[group->first + r], beta, &partners);
    part(group, &partners, twists);
  }
}

static PetscInt group_level(const ContactSet set, const Group *group)
{
  return PetscMax(set->levels[group->a], set->levels[group->b]);
}

VECTOR_CLONES static PetscReal visit_held(ContactSet set, Solid solid, Group *group, Twist twists[])
{
  const PetscInt level_a = set->levels[group->a], level_b = set->levels[group->b];
  Partners       partners = meet(group, twists);
  PetscReal      change;

  partners.gives[0] = level_a < level_b ? 0 : 1;
  partners.gives[1] = level_b < level_a ? 0 : 1;
  for (PetscInt side = 0; side < 2; side++)
    partners.inverse[side] *= partners.gives[side];
  if (!(set->grounded[group->a] && set->grounded[group->b]) ||
      !(partners.inverse[0] + partners.inverse[1] > 0))
    return 0;
  change = visit(group, &set->rows[group->first], solid, PETSC_TRUE, &partners);
  part(group, &partners, twists);
  return change;
}

/* Bodies of a level that shock propagation has made faster take back what the sweeps gave them: it may not
   put energy into velocities that stay. */
static void calm_level(ContactSet set, Solid solid, PetscInt first, PetscInt end, Twist twists[])
{
  for (PetscInt g = first; g < end; g++) {
    const PetscInt bodies[2] = {set->groups[g].a, set->groups[g].b};

    for (PetscInt side = 0; side < 2; side++) {
      const PetscInt b = bodies[side];

      if (solid_body_energy(solid, b, &twists[b]) > solid_body_energy(solid, b, &set->swept[b]))
        twists[b] = set->swept[b];
    }
  }
}

/* Shock propagation [32]: level by level upwards; the lower of two bodies does not give way any more. */
static void propagate(ContactSet set, Solid solid, const ContactSolve *solve, PetscReal enough,
                      PetscInt group_count, Twist twists[])
{
  /* far below what a step of gravity makes: worth being brought to rest */
  const PetscReal calm = 0.01 * solve->dt * vector3_norm(solid->config->gravity);

  memcpy(set->swept, twists, (size_t)solid->body_count * sizeof(*twists));
  for (PetscInt first = 0, end; first < group_count; first = end) {
    const PetscInt level = group_level(set, &set->groups[first]);
    PetscReal      change = PETSC_MAX_REAL;

    for (end = first; end < group_count && group_level(set, &set->groups[end]) == level;)
      end++;
    for (PetscInt round = 0; round < (change < calm ? SHOCK_ROUNDS_AT_REST : SHOCK_ROUNDS) && change > enough;
         round++) {
      change = 0;
      for (PetscInt g = first; g < end; g++) {
        const PetscReal changed = visit_held(set, solid, &set->groups[g], twists);

        change = PetscMax(change, changed);
      }
    }
    if (solve->phase == PHASE_VELOCITY)
      calm_level(set, solid, first, end, twists);
  }
}

static void keep_impulses(ContactSet set, PetscInt group_count, Phase phase)
{
  for (PetscInt g = 0; g < group_count; g++) {
    const Group *group = &set->groups[g];

    group->contact->rolling[phase] = group->rolling;
    for (PetscInt r = 0; r < group->count; r++) {
      const Row *row = &set->rows[group->first + r];
      Vector3    j = vector3_scale(row->impulse, row->normal.direction);

      for (PetscInt t = 0; t < 2; t++)
        j = vector3_add(j, vector3_scale(row->rub[t], row->tangents[t].direction));
      row->place->impulses[phase] = j;
    }
  }
}

PetscErrorCode ContactSetSolve(ContactSet set, Solid solid, const ContactSolve *solve, Twist twists[],
                               PetscInt *iterations)
{
  const PetscReal enough = 1e-5 * solid->config->tolerance * set->smallest / solve->dt; /* far more remains */
  /* joints know nothing of contact: the two take turns, and longer */
  const PetscInt limit = (solve->join ? 8 : 1) * solid->config->iterations;
  PetscInt       groups;
  PetscReal      change = 0, square = 0;

  PetscFunctionBegin;
  PetscCall(Reserve(set));
  groups = make_groups(set, solid, solve->phase, solve->dt, twists);
  *iterations = 0;
  while (groups && *iterations < limit) {
    change = sweep(set, solid, *iterations % 2 ? UPWARDS : DOWNWARDS, groups, twists);
    ++*iterations;
    if (solve->join)
      PetscCall(solve->join(solid, solve, twists));
    if (change <= enough)
      break;
    if (!solve->join && *iterations < limit)
      extrapolate(set, groups, &square, twists);
  }
  keep_impulses(set, groups, solve->phase);
  if (change > enough && !solve->join)
    propagate(set, solid, solve, enough, groups, twists);
  PetscFunctionReturn(0);
}
