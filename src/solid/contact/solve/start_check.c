/* Bodies must not lie in each other when a run begins: contact would throw them apart. */
#include "contact_set.h"

#include "../../joint/joint.h"

static PetscBool is_jointed(PetscInt count, const PetscInt (*jointed)[2], const PetscInt pair[2])
{
  for (PetscInt j = 0; j < count; j++)
    if (jointed[j][0] == pair[0] && jointed[j][1] == pair[1])
      return PETSC_TRUE;
  return PETSC_FALSE;
}

/* Floor and walls meet, whichever way they are put. */
static PetscBool may_meet(Solid solid, const PetscInt pair[2])
{
  const Body *a = &solid->bodies[pair[0]], *b = &solid->bodies[pair[1]];

  return !body_is_free(a) && !body_is_free(b) && (a->form->kind == FORM_PLANE || b->form->kind == FORM_PLANE)
             ? PETSC_TRUE
             : PETSC_FALSE;
}

static PetscReal depth_of(Solid solid, const PetscInt pair[2])
{
  const PetscInt a = pair[0], b = pair[1];
  Touch          touches[TOUCH_CAPACITY];
  PetscReal      depth = 0;
  PetscInt       count;

  count = find_touches(solid->bodies[a].form, &solid->placements[a], solid->bodies[b].form,
                       &solid->placements[b], 0., touches);
  for (PetscInt k = 0; k < count; k++)
    depth = PetscMax(depth, -touches[k].gap);
  return depth;
}

static PetscErrorCode NameBody(Solid solid, PetscInt b, char name[], size_t size)
{
  const Vector3 count = solid->bodies[b].config->copies.count;

  PetscFunctionBegin;
  if (count.at[X] * count.at[Y] * count.at[Z] > 1)
    PetscCall(
        PetscSNPrintf(name, size, "%s.%" PetscInt_FMT, solid->bodies[b].config->name, solid->bodies[b].copy));
  else
    PetscCall(PetscSNPrintf(name, size, "%s", solid->bodies[b].config->name));
  PetscFunctionReturn(0);
}

static PetscErrorCode CheckPair(Solid solid, const PetscInt pair[2], char message[], size_t size)
{
  const PetscReal smallest = PetscMin(solid->bodies[pair[0]].form->size, solid->bodies[pair[1]].form->size);
  const PetscReal depth = depth_of(solid, pair);
  char            names[2][64];

  PetscFunctionBegin;
  if (depth <= 0.01 * smallest)
    PetscFunctionReturn(0);
  for (PetscInt i = 0; i < 2; i++)
    PetscCall(NameBody(solid, pair[i], names[i], sizeof(names[i])));
  if (is_barrier(solid, pair[1]))
    PetscCall(MessageAtKey(message, size, "solids.bodies", names[0],
                           "Body \"%s\" reaches %g m into the obstacle \"%s\" at the start: move it",
                           names[0], (double)depth, names[1]));
  else if (is_wall(solid, pair[1]))
    PetscCall(
        MessageAtKey(message, size, "solids.bodies", names[0],
                     "Body \"%s\" reaches %g m into the side %s of the box at the start: move it, or let "
                     "bodies pass all sides with solids.walls: false",
                     names[0], (double)depth, names[1] + strlen("wall_")));
  else
    PetscCall(MessageAtKey(message, size, "solids.bodies", names[0],
                           "Bodies \"%s\" and \"%s\" overlap by %g m at the start: move them apart, or list "
                           "the two under solids.pairs with contact: none",
                           names[0], names[1], (double)depth));
  PetscFunctionReturn(0);
}

PetscErrorCode ContactSetCheckStart(ContactSet set, Solid solid, char message[], size_t size)
{
  const PetscInt(*pairs)[2], (*jointed)[2] = NULL;
  PetscInt   pair_count, jointed_count = 0;
  ContactLaw law;

  PetscFunctionBegin;
  for (PetscInt b = 0; b < solid->body_count; b++) {
    set->moves[b] = PETSC_TRUE; /* pairs of static bodies too */
    set->boxes[b] = form_bounds(solid->bodies[b].form, &solid->placements[b]);
  }
  if (solid->joints)
    PetscCall(JointSetGetPairs(solid->joints, &jointed_count, &jointed));
  PetscCall(PairFinderFind(set->finder, set->boxes, set->moves, &pair_count, &pairs));
  for (PetscInt p = 0; p < pair_count && !message[0]; p++)
    if (!may_meet(solid, pairs[p]) && find_contact_law(solid, pairs[p][0], pairs[p][1], &law) &&
        !is_jointed(jointed_count, jointed, pairs[p]))
      PetscCall(CheckPair(solid, pairs[p], message, size));
  PetscFunctionReturn(0);
}
