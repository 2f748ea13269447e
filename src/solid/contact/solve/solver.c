/* Steps III and V: contact with friction by projected Gauss-Seidel, pair by pair up the levels of the contact
   graph, starting from the impulses of the last step (numerics.md, 8). */
#include "row_groups.h"

enum { SHOCK_ROUNDS = 10, SHOCK_ROUNDS_AT_REST = 20, CALM_SWEEPS = 4 };

static void start_motions(ContactSet set, Solid solid, const Twist twists[])
{
  for (PetscInt b = 0; b < solid->body_count; b++)
    set->motions[b] = set->known[b] = scaled(&set->scales[b], &twists[b]);
}

/* Bodies that nothing has pushed keep their velocities to the last digit. */
static void tell_twists(const ContactSet set, Solid solid, Twist twists[])
{
  for (PetscInt b = 0; b < solid->body_count; b++) {
    PetscReal y[TWIST];
    Twist     change;

    for (PetscInt i = 0; i < TWIST; i++)
      y[i] = set->motions[b].at[i] - set->known[b].at[i];
    change = unscaled(&set->scales[b], y);
    twists[b].linear = vector3_add(twists[b].linear, change.linear);
    twists[b].angular = vector3_add(twists[b].angular, change.angular);
  }
}

/* Up to the lever of rolling friction times the pressing impulse. */
static void resist_rolling(const ContactSet set, const Group *group, const Row rows[],
                           const PetscReal gives[2], Partners *partners)
{
  Rolling      *rolling = group->rolling;
  const Twist   first = unscaled(&set->scales[group->a], &partners->at[0]);
  const Twist   second = unscaled(&set->scales[group->b], &partners->at[TWIST]);
  const Vector3 spin = vector3_add(rolling->drift, vector3_subtract(second.angular, first.angular));
  Vector3       wanted = vector3_subtract(rolling->impulse, vector3_scale(rolling->grip, spin));
  PetscReal     limit = 0;

  for (PetscInt r = 0; r < group->count; r++)
    limit += rolling->lever * rows[r].impulse;
  if (vector3_norm(wanted) > limit)
    wanted = vector3_scale(limit / vector3_norm(wanted), wanted);
  push_rolling(set, group, vector3_subtract(wanted, rolling->impulse), gives, partners);
  rolling->impulse = wanted;
}

/* Friction, rolling, then pressing, so that what presses is met best; returns the largest change of speed. */
KERNEL PetscReal visit(const ContactSet set, const Group *group, Row rows[], const PetscBool held,
                       Partners *partners)
{
  const PetscReal all[2] = {1, 1};
  PetscReal       largest = 0, change;

  for (PetscInt r = 0; r < group->count; r++) {
    Row            *row = &rows[r];
    const PetscReal limit = group->friction * (row->impulse + row->squeeze);

    if (!(limit > 0) && row->rub[0] == 0 && row->rub[1] == 0)
      continue;
    change = row_rub(row, limit, held, partners);
    largest = PetscMax(largest, change / row->grip);
  }
  if (group->rolling) {
    Partners copy = *partners; /* the other stays in registers */

    resist_rolling(set, group, rows, held ? group->gives : all, &copy);
    *partners = copy;
  }
  for (PetscInt r = 0; r < group->count; r++) {
    change = row_press(&rows[r], held, partners);
    largest = PetscMax(largest, change / rows[r].hold);
  }
  return largest;
}

/* The impulses follow the velocities, which extrapolate() has carried on by `beta` times the search. */
KERNEL void carry_on(Row *row, PetscReal beta)
{
  PetscReal *values[3] = {&row->impulse, &row->rub[0], &row->rub[1]};

  for (PetscInt k = 0; k < 3; k++) {
    const PetscReal further = beta * row->search[k];

    row->search[k] = further + *values[k] - row->last[k];
    row->last[k] = *values[k] += further;
  }
}

static void carry_rolling_on(Rolling *rolling, PetscReal beta)
{
  const Vector3 further = vector3_scale(beta, rolling->search);

  rolling->search = vector3_add(further, vector3_subtract(rolling->impulse, rolling->last));
  rolling->last = rolling->impulse = vector3_add(rolling->impulse, further);
}

KERNEL PetscReal changed_square(const Row *row)
{
  return PetscSqr(row->impulse - row->last[0]) + PetscSqr(row->rub[0] - row->last[1]) +
         PetscSqr(row->rub[1] - row->last[2]);
}

typedef enum { UPWARDS, DOWNWARDS } Direction;

/* What a sweep has changed. */
typedef struct {
  PetscReal speed;  /* the most, by first visits */
  PetscReal square; /* of the impulses */
} SweepChange;

/* All contacts, each visited twice while it is at hand. Memory is read once. */
VECTOR_CLONES static SweepChange sweep(ContactSet set, Direction direction, PetscInt group_count,
                                       PetscReal beta)
{
  SweepChange all = {0, 0};

  for (PetscInt k = 0; k < group_count; k++) {
    const Group *group = &set->groups[direction == UPWARDS ? k : group_count - 1 - k];
    Row         *rows = &set->rows[group->first];
    Partners     partners;
    PetscReal    speed;

    gather_partners(set, group, &partners);
    for (PetscInt r = 0; r < group->count; r++)
      carry_on(&rows[r], beta);
    if (group->rolling)
      carry_rolling_on(group->rolling, beta);
    speed = visit(set, group, rows, PETSC_FALSE, &partners);
    all.speed = PetscMax(all.speed, speed);
    visit(set, group, rows, PETSC_FALSE, &partners);
    scatter_partners(set, group, &partners);
    for (PetscInt r = 0; r < group->count; r++)
      all.square += changed_square(&rows[r]);
  }
  return all;
}

/* Nonlinear conjugate gradients over sweeps, which are taken for steps down a gradient: velocities are
   carried on along the last search direction, their impulses in the next sweep, which brings them back into
   their bounds. */
VECTOR_CLONES static void extrapolate(ContactSet set, PetscInt body_count, PetscReal beta)
{
  for (PetscInt b = 0; b < body_count; b++)
    for (PetscInt i = 0; i < TWIST; i++) {
      const PetscReal further = beta * set->search[b].at[i], now = set->motions[b].at[i];

      set->search[b].at[i] = further + now - set->last[b].at[i];
      set->last[b].at[i] = set->motions[b].at[i] = now + further;
    }
}

static PetscInt group_level(const ContactSet set, const Group *group)
{
  return PetscMax(set->levels[group->a], set->levels[group->b]);
}

/* The lower of two bodies does not give way; neither does where nothing leads to a fixed body. */
static void hold_lower(ContactSet set, Group *group)
{
  const PetscInt  level_a = set->levels[group->a], level_b = set->levels[group->b];
  const PetscReal grounded = set->grounded[group->a] && set->grounded[group->b] ? 1 : 0;

  group->gives[0] = level_a < level_b ? 0 : grounded;
  group->gives[1] = level_b < level_a ? 0 : grounded;
  for (PetscInt r = 0; r < group->count; r++) {
    Row            *row = &set->rows[group->first + r];
    const PetscReal yield = axis_yield(&row->normal, group->gives);

    row->hold = yield > 0 ? 1 / yield : 0;
    /* the trace bounds the larger eigenvalue */
    row->grip =
        1 / (axis_yield(&row->tangents[0], group->gives) + axis_yield(&row->tangents[1], group->gives));
    if (!(yield > 0))
      group->gives[0] = group->gives[1] = 0;
  }
}

VECTOR_CLONES static PetscReal visit_held(ContactSet set, PetscInt first, PetscInt end)
{
  PetscReal largest = 0;

  for (PetscInt g = first; g < end; g++) {
    const Group    *group = &set->groups[g];
    const PetscReal a = group->gives[0], b = group->gives[1];
    Partners        partners = {.gives = {{a, a, a, a}, {a, a, b, b}, {b, b, b, b}}};
    PetscReal       change;

    if (!(group->gives[0] + group->gives[1] > 0))
      continue;
    gather_partners(set, group, &partners);
    change = visit(set, group, &set->rows[group->first], PETSC_TRUE, &partners);
    largest = PetscMax(largest, change);
    scatter_partners(set, group, &partners);
  }
  return largest;
}

static PetscReal twice_energy(const Freedoms *motion)
{
  PetscReal sum = 0;

  for (PetscInt i = 0; i < TWIST; i++)
    sum += motion->at[i] * motion->at[i];
  return sum;
}

/* Bodies of a level that shock propagation has made faster take back what the sweeps gave them: it may not
   put energy into velocities that stay. */
static void calm_level(ContactSet set, PetscInt first, PetscInt end)
{
  for (PetscInt g = first; g < end; g++) {
    const PetscInt bodies[2] = {set->groups[g].a, set->groups[g].b};

    for (PetscInt side = 0; side < 2; side++) {
      const PetscInt b = bodies[side];

      if (twice_energy(&set->motions[b]) > twice_energy(&set->swept[b]))
        set->motions[b] = set->swept[b];
    }
  }
}

/* Shock propagation [32]: level by level upwards; the lower of two bodies does not give way any more. */
static void propagate(ContactSet set, Solid solid, const ContactSolve *solve, PetscReal enough,
                      PetscInt group_count)
{
  /* far below what a step of gravity makes: worth being brought to rest */
  const PetscReal calm = 0.01 * solve->dt * vector3_norm(solid->config->gravity);

  memcpy(set->swept, set->motions, (size_t)solid->body_count * sizeof(*set->swept));
  for (PetscInt first = 0, end; first < group_count; first = end) {
    const PetscInt level = group_level(set, &set->groups[first]);
    PetscReal      change = PETSC_MAX_REAL;

    for (end = first; end < group_count && group_level(set, &set->groups[end]) == level; end++)
      hold_lower(set, &set->groups[end]);
    for (PetscInt round = 0; round < (change < calm ? SHOCK_ROUNDS_AT_REST : SHOCK_ROUNDS) && change > enough;
         round++)
      change = visit_held(set, first, end);
    if (solve->phase == PHASE_VELOCITY)
      calm_level(set, first, end);
  }
}

static PetscErrorCode Join(ContactSet set, Solid solid, const ContactSolve *solve, Twist twists[])
{
  PetscFunctionBegin;
  tell_twists(set, solid, twists);
  PetscCall(solve->join(solid, solve, twists));
  start_motions(set, solid, twists);
  PetscFunctionReturn(0);
}

/* Whether nothing moves faster than gravity makes it in two steps: more sweeps then find the forces that keep
   it so, and the next steps start from them. */
static PetscBool is_calm(Solid solid, PetscReal dt, const Twist twists[])
{
  const PetscReal slow = 2 * dt * vector3_norm(solid->config->gravity);

  for (PetscInt b = 0; b < solid->body_count; b++)
    if (vector3_norm(twists[b].linear) > slow)
      return PETSC_FALSE;
  return PETSC_TRUE;
}

/* Joints know nothing of contact: the two take turns, and longer. */
static PetscInt sweep_limit(Solid solid, const ContactSolve *solve, const Twist twists[])
{
  if (solve->join)
    return 8 * solid->config->iterations;
  return (is_calm(solid, solve->dt, twists) ? CALM_SWEEPS : 1) * solid->config->iterations;
}

/* Sweeps until they change no speed by more than `enough`; `rest` is what the last one changed. */
static PetscErrorCode Sweep(ContactSet set, Solid solid, const ContactSolve *solve, PetscReal enough,
                            PetscInt groups, Twist twists[], PetscInt *iterations, PetscReal *rest)
{
  const PetscInt limit = sweep_limit(solid, solve, twists);
  PetscReal      beta = 0, square = 0;

  PetscFunctionBegin;
  memcpy(set->last, set->motions, (size_t)solid->body_count * sizeof(*set->last));
  memset(set->search, 0, (size_t)solid->body_count * sizeof(*set->search));
  for (*iterations = 0; *iterations < limit;) {
    const SweepChange change = sweep(set, *iterations % 2 ? UPWARDS : DOWNWARDS, groups, beta);

    ++*iterations;
    *rest = change.speed;
    if (solve->join)
      PetscCall(Join(set, solid, solve, twists));
    if (change.speed <= enough)
      break;
    if (solve->join || *iterations == limit)
      continue;
    beta = square > 0 && change.square <= square ? change.square / square : 0;
    square = change.square;
    extrapolate(set, solid->body_count, beta);
  }
  PetscFunctionReturn(0);
}

PetscErrorCode ContactSetSolve(ContactSet set, Solid solid, const ContactSolve *solve, Twist twists[],
                               PetscInt *iterations)
{
  const PetscReal enough = 1e-5 * solid->config->tolerance * set->smallest / solve->dt; /* far more remains */
  PetscInt        groups;
  PetscReal       rest = 0;

  PetscFunctionBegin;
  *iterations = 0;
  for (PetscInt b = 0; b < solid->body_count; b++)
    set->scales[b] = scale_of(&solid->mobilities[b]);
  start_motions(set, solid, twists);
  PetscCall(ContactSetMakeGroups(set, solid, solve, twists, &groups));
  if (!groups)
    PetscFunctionReturn(0);
  PetscCall(Sweep(set, solid, solve, enough, groups, twists, iterations, &rest));
  keep_impulses(set, groups, solve->phase);
  if (rest > enough && !solve->join)
    propagate(set, solid, solve, enough, groups);
  tell_twists(set, solid, twists);
  PetscFunctionReturn(0);
}
