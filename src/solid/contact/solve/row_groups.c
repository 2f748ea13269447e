#include "row_groups.h"

static PetscBool takes_part(const Contact *contact, const ContactPlace *place, SolvePhase phase,
                            PetscReal approach)
{
  if (phase == PHASE_POSITION)
    return place->touch.gap - approach <= contact->slack ? PETSC_TRUE : PETSC_FALSE;
  if (contact->law.restitution > 0 && !contact->met)
    return PETSC_FALSE; /* bounces first */
  return place->touch.gap <= contact->slack ? PETSC_TRUE : PETSC_FALSE;
}

/* At which a gap may close. Overlaps beyond the slack have been pushed out; only those of bodies with joints,
   which that leaves alone, open here, deep ones in several steps. */
static PetscReal allowed_speed(const ContactSet set, const Contact *contact, const Touch *touch, PetscReal dt)
{
  const PetscReal overlap = PetscMin(0., touch->gap + contact->slack);

  if (touch->gap >= 0)
    return touch->gap / dt;
  if (!set->jointed[contact->bodies[0]] && !set->jointed[contact->bodies[1]])
    return 0;
  return PetscMax(overlap, -0.05 * set->smallest) / dt;
}

/* The impulses of the last step, as far as this step's normal and friction allow them. */
static void warm_start(Row *row, PetscReal friction, SolvePhase phase, Partners *partners)
{
  const Vector3    last = row->place->impulses[phase];
  const Directions directions = place_directions(row->place);
  PetscReal        rub, limit;

  row->impulse = PetscMax(0., vector3_dot(last, directions.axes[0]));
  for (PetscInt t = 0; t < 2; t++)
    row->rub[t] = vector3_dot(last, directions.axes[1 + t]);
  rub = PetscSqrtReal(row->rub[0] * row->rub[0] + row->rub[1] * row->rub[1]);
  limit = friction * (row->impulse + row->squeeze);
  for (PetscInt t = 0; t < 2; t++) {
    if (rub > limit)
      row->rub[t] *= limit / rub;
    axis_push(&row->tangents[t], row->rub[t], PETSC_FALSE, partners);
  }
  axis_push(&row->normal, row->impulse, PETSC_FALSE, partners);
  row->last[0] = row->impulse;
  row->last[1] = row->rub[0];
  row->last[2] = row->rub[1];
}

void push_rolling(const ContactSet set, const Group *group, Vector3 impulse, const PetscReal gives[2],
                  Partners *partners)
{
  const PetscInt bodies[2] = {group->a, group->b};

  for (PetscInt side = 0; side < 2; side++) {
    const Vector3 turned = scale_turn(&set->scales[bodies[side]], impulse);

    for (PetscInt d = 0; d < DIM; d++)
      partners->at[side * TWIST + DIM + d] += (side ? gives[1] : -gives[0]) * turned.at[d];
  }
}

static void start_rolling(ContactSet set, const Group *group, Solid solid, SolvePhase phase,
                          const Twist twists[], Partners *partners)
{
  const Matrix3  *a = &solid->mobilities[group->a].inverse_inertia;
  const Matrix3  *b = &solid->mobilities[group->b].inverse_inertia;
  const PetscReal all[2] = {1, 1};
  PetscReal       largest = 0; /* row sum: no less than the largest eigenvalue */
  Rolling        *rolling = group->rolling;

  for (PetscInt i = 0; i < DIM; i++) {
    PetscReal sum = 0;

    for (PetscInt j = 0; j < DIM; j++)
      sum += PetscAbsReal(a->at[i][j] + b->at[i][j]);
    largest = PetscMax(largest, sum);
  }
  *rolling = (Rolling){.lever = group->contact->law.rolling_friction, .grip = 1 / largest};
  if (!(set->scales[group->a].linear > 0))
    rolling->drift = vector3_subtract(rolling->drift, twists[group->a].angular);
  if (!(set->scales[group->b].linear > 0))
    rolling->drift = vector3_add(rolling->drift, twists[group->b].angular);
  rolling->impulse = rolling->last = group->contact->rolling[phase];
  push_rolling(set, group, rolling->impulse, all, partners);
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
    PetscCall(PetscFree2(set->groups, set->rollings));
    PetscCall(PetscMalloc2(set->group_capacity, &set->groups, set->group_capacity, &set->rollings));
  }
  PetscFunctionReturn(0);
}

/* The rows of the contact's places that take part, from `first` on. */
static Group make_group(ContactSet set, Solid solid, Contact *contact, PetscInt first,
                        const ContactSolve *solve, const Twist twists[])
{
  const PetscInt     a = contact->bodies[0], b = contact->bodies[1];
  const Scale *const scales[2] = {&set->scales[a], &set->scales[b]};
  const SolvePhase   phase = solve->phase;
  Group group = {.contact = contact, .a = a, .b = b, .first = first, .friction = contact->law.friction};

  for (PetscInt p = 0; p < contact->count; p++) {
    ContactPlace *place = &set->now.places[contact->first + p];
    Row          *row = &set->rows[first + group.count];

    if (!takes_part(contact, place, phase,
                    -solve->dt * opening_speed(solid, contact, &place->touch, twists))) {
      place->impulses[phase] = vector3(0, 0, 0);
      continue;
    }
    *row = make_row(solid, contact, place, scales, twists);
    if (phase == PHASE_POSITION)
      row->bias += allowed_speed(set, contact, &place->touch, solve->dt);
    /* what push-out could not part is wedged in, and held by what would part it in a step */
    row->squeeze = row->hold * PetscMax(0., -place->touch.gap - contact->slack) / solve->dt;
    group.count++;
  }
  return group;
}

/* Returns the number of groups. */
static PetscInt make_groups(ContactSet set, Solid solid, const ContactSolve *solve, const Twist twists[])
{
  PetscInt groups = 0, rows = 0;

  for (PetscInt k = 0; k < set->now.count; k++) {
    Contact *contact = &set->now.contacts[set->order[k]];
    Group   *group = &set->groups[groups];

    *group = make_group(set, solid, contact, rows, solve, twists);
    if (!group->count)
      continue;
    group->rolling = contact->law.rolling_friction > 0 ? &set->rollings[groups] : NULL;
    rows += group->count;
    groups++;
  }
  return groups;
}

static void start_groups(ContactSet set, Solid solid, SolvePhase phase, PetscInt group_count,
                         const Twist twists[])
{
  for (PetscInt g = 0; g < group_count; g++) {
    const Group *group = &set->groups[g];
    Partners     partners;

    gather_partners(set, group, &partners);
    for (PetscInt r = 0; r < group->count; r++)
      warm_start(&set->rows[group->first + r], group->friction, phase, &partners);
    if (group->rolling)
      start_rolling(set, group, solid, phase, twists, &partners);
    scatter_partners(set, group, &partners);
  }
}

PetscErrorCode ContactSetMakeGroups(ContactSet set, Solid solid, const ContactSolve *solve,
                                    const Twist twists[], PetscInt *count)
{
  PetscFunctionBegin;
  PetscCall(Reserve(set));
  *count = make_groups(set, solid, solve, twists);
  start_groups(set, solid, solve->phase, *count, twists);
  PetscFunctionReturn(0);
}

void keep_impulses(ContactSet set, PetscInt group_count, SolvePhase phase)
{
  for (PetscInt g = 0; g < group_count; g++) {
    const Group *group = &set->groups[g];

    group->contact->rolling[phase] = group->rolling ? group->rolling->impulse : vector3(0, 0, 0);
    for (PetscInt r = 0; r < group->count; r++) {
      const Row       *row = &set->rows[group->first + r];
      const Directions directions = place_directions(row->place);
      Vector3          j = vector3_scale(row->impulse, directions.axes[0]);

      for (PetscInt t = 0; t < 2; t++)
        j = vector3_add(j, vector3_scale(row->rub[t], directions.axes[1 + t]));
      row->place->impulses[phase] = j;
    }
  }
}
