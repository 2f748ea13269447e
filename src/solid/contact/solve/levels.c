/* Which body rests on which, and the order from the ground upwards. */
#include "contact_set.h"

#include "../../joint/joint.h"

/* Of the way of a fall and of the arms: what lies beside another body falls along it, and must not rest on it
   by round-off. */
static const PetscReal negligible = 1e-9;

/* Whether a touch is deep in after a fall at this velocity. */
static PetscBool falls_inside(const Touch *touch, PetscReal dt, Vector3 velocity, PetscReal size)
{
  const PetscReal slack = negligible * (dt * vector3_norm(velocity) + size);

  return touch->gap + dt * vector3_dot(touch->normal, velocity) < -slack ? PETSC_TRUE : PETSC_FALSE;
}

/* b rests on a if it would come inside by falling while a stays as it was, and the other way round. */
static void add_edges(ContactSet set, Solid solid, const Contact *contact, PetscReal dt, const Twist still[],
                      const Twist falling[])
{
  const PetscInt a = contact->bodies[0], b = contact->bodies[1];
  PetscBool      on_a = PETSC_FALSE, on_b = PETSC_FALSE;

  for (PetscInt k = 0; k < contact->count; k++) {
    const Touch    *touch = &set->now.places[contact->first + k].touch;
    const Vector3   arm_a = vector3_subtract(touch->point, solid->placements[a].position);
    const Vector3   arm_b = vector3_subtract(touch->point, solid->placements[b].position);
    const Vector3   a_falls = vector3_subtract(twist_at(&still[b], arm_b), twist_at(&falling[a], arm_a));
    const Vector3   b_falls = vector3_subtract(twist_at(&falling[b], arm_b), twist_at(&still[a], arm_a));
    const PetscReal size = PetscMin(vector3_norm(arm_a), vector3_norm(arm_b));

    on_a = on_a || falls_inside(touch, dt, b_falls, size);
    on_b = on_b || falls_inside(touch, dt, a_falls, size);
  }
  if (on_a) {
    set->edges[set->edge_count][0] = a;
    set->edges[set->edge_count++][1] = b;
  }
  if (on_b) {
    set->edges[set->edge_count][0] = b;
    set->edges[set->edge_count++][1] = a;
  }
}

static PetscInt root_of(PetscInt parents[], PetscInt b)
{
  while (parents[b] != b) {
    parents[b] = parents[parents[b]];
    b = parents[b];
  }
  return b;
}

static PetscBool is_fixed(const ContactSet set, PetscInt b)
{
  return b < 0 || set->fixed[b] ? PETSC_TRUE : PETSC_FALSE; /* negative: the world */
}

static void unite(ContactSet set, PetscInt count, const PetscInt (*pairs)[2])
{
  for (PetscInt k = 0; k < count; k++)
    if (!is_fixed(set, pairs[k][0]) && !is_fixed(set, pairs[k][1]))
      set->parents[root_of(set->parents, pairs[k][0])] = root_of(set->parents, pairs[k][1]);
}

static void ground(ContactSet set, PetscInt count, const PetscInt (*pairs)[2])
{
  for (PetscInt k = 0; k < count; k++)
    for (PetscInt side = 0; side < 2; side++)
      if (is_fixed(set, pairs[k][1 - side]) && !is_fixed(set, pairs[k][side]))
        set->grounded[root_of(set->parents, pairs[k][side])] = PETSC_TRUE;
}

/* Which bodies hang together with a fixed one: momentum goes there. Others keep theirs among themselves. */
static PetscErrorCode FindGrounded(ContactSet set, Solid solid)
{
  const PetscInt(*touching)[2] = (const PetscInt(*)[2])set->pairs, (*jointed)[2] = NULL;
  PetscInt count = 0;

  PetscFunctionBegin;
  if (solid->joints)
    PetscCall(JointSetGetPairs(solid->joints, &count, &jointed));
  for (PetscInt b = 0; b < solid->body_count; b++) {
    set->parents[b] = b;
    set->grounded[b] = set->fixed[b];
  }
  unite(set, set->now.count, touching);
  unite(set, count, jointed);
  ground(set, set->now.count, touching);
  ground(set, count, jointed);
  for (PetscInt b = 0; b < solid->body_count; b++)
    if (!set->fixed[b])
      set->grounded[b] = set->grounded[root_of(set->parents, b)];
  PetscFunctionReturn(0);
}

PetscErrorCode ContactSetReserveEdges(ContactSet set, PetscInt contacts)
{
  PetscFunctionBegin;
  if (contacts > set->pair_capacity) {
    set->pair_capacity = 2 * contacts;
    PetscCall(PetscFree2(set->pairs, set->edges));
    PetscCall(PetscMalloc2(set->pair_capacity, &set->pairs, 2 * set->pair_capacity, &set->edges));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode ContactSetSort(ContactSet set, Solid solid)
{
  PetscFunctionBegin;
  for (PetscInt c = 0; c < set->now.count; c++) {
    set->pairs[c][0] = set->now.contacts[c].bodies[0];
    set->pairs[c][1] = set->now.contacts[c].bodies[1];
  }
  for (PetscInt b = 0; b < solid->body_count; b++)
    set->fixed[b] = body_is_free(&solid->bodies[b]) ? PETSC_FALSE : PETSC_TRUE;
  PetscCall(FindGrounded(set, solid));
  PetscCall(ContactGraphSort(set->graph, set->fixed, set->edge_count, (const PetscInt(*)[2])set->edges,
                             &set->level_count, &set->levels));
  PetscCall(ContactGraphOrder(set->graph, set->now.count, (const PetscInt(*)[2])set->pairs, &set->order));
  PetscFunctionReturn(0);
}

PetscErrorCode ContactSetLevel(ContactSet set, Solid solid, PetscReal dt, const Twist still[],
                               const Twist falling[])
{
  PetscFunctionBegin;
  PetscCall(ContactSetReserveEdges(set, set->now.count));
  set->edge_count = 0;
  for (PetscInt c = 0; c < set->now.count; c++)
    add_edges(set, solid, &set->now.contacts[c], dt, still, falling);
  PetscCall(ContactSetSort(set, solid));
  PetscFunctionReturn(0);
}
