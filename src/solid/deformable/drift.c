/* Targets of soft bound copies that drift in the material (2.4, Fig. 2.8): where a spring is longer than the
   skin's `drift` d, its target moves in the element, as that is now, towards the copy until the length is d
   again, and with it the weights by which the target is bound: what is left of the length is plastic. A
   target goes as far as the side of its element, and on in the neighbour in the next step; it does not leave
   the material. */
#include "points.h"

/* Elements on the other side of the four sides of each. */
static PetscErrorCode FindNeighbours(DeformableMesh *mesh)
{
  PetscFunctionBegin;
  if (mesh->config->skin.drift > 0.)
    PetscCall(MeshFindNeighbours(mesh->mesh, &mesh->neighbours));
  PetscFunctionReturn(0);
}

/* The weights of a target stand in the order of the corners of its element. */
static PetscBool has_own_corners(const Points *points, const SoftPoint *soft)
{
  const DeformableMesh *mesh = &points->meshes[soft->mesh];
  const PetscInt        k = points->bindings.index[soft->target];

  if (k < 0 || points->bindings.first[k + 1] - points->bindings.first[k] != 4)
    return PETSC_FALSE;
  for (PetscInt n = 0; n < 4; n++)
    if (points->bindings.parents[points->bindings.first[k] + n] !=
        mesh->elements[mesh->mesh->nodes * soft->element + n])
      return PETSC_FALSE;
  return PETSC_TRUE;
}

/* That a vertex of the surface is bound in; that behind its faces may be another. */
static void take_element(const Points *points, SoftPoint *soft)
{
  const DeformableMesh *mesh = &points->meshes[soft->mesh];
  const PetscInt        vertex = soft->target - mesh->first - mesh->mesh->vertex_count;

  if (mesh->mesh->surface && vertex >= 0 && vertex < mesh->mesh->surface->vertex_count)
    soft->element = mesh->mesh->places[vertex].element;
}

PetscErrorCode SoftPointsPrepareDrift(Solid solid, char message[], size_t size)
{
  Points *points = solid->points;

  PetscFunctionBegin;
  for (PetscInt m = 0; m < points->mesh_count; m++)
    PetscCall(FindNeighbours(&points->meshes[m]));
  for (PetscInt s = 0; s < points->soft.count && !message[0]; s++) {
    const DeformableMesh *mesh = &points->meshes[points->soft.list[s].mesh];

    if (mesh->config->skin.drift > 0.)
      take_element(points, &points->soft.list[s]);
    if (mesh->config->skin.drift > 0. && !has_own_corners(points, &points->soft.list[s]))
      PetscCall(MessageAtKey(
          message, size, "solids.meshes", mesh->config->name,
          "Mesh \"%s\" has a skin with drift, whose vertices must be embedded in linear elements of "
          "their own: give skin.refine, without contact_spacing, refine, order: 2 and hard bindings of the "
          "mesh",
          mesh->config->name));
    points->soft.is_drifting = mesh->config->skin.drift > 0. ? PETSC_TRUE : points->soft.is_drifting;
  }
  PetscFunctionReturn(0);
}

static PetscReal *target_weights(Points *points, const SoftPoint *soft)
{
  return &points->bindings.weights[points->bindings.first[points->bindings.index[soft->target]]];
}

static void take_corners(Points *points, const SoftPoint *soft)
{
  const DeformableMesh *mesh = &points->meshes[soft->mesh];
  PetscInt *parents = &points->bindings.parents[points->bindings.first[points->bindings.index[soft->target]]];

  for (PetscInt n = 0; n < 4; n++)
    parents[n] = mesh->elements[mesh->mesh->nodes * soft->element + n];
}

/* The part of the way from weights that are not negative to others at which the first becomes zero; `side` is
   its corner, -1: none does. */
static PetscReal way_to_side(const PetscReal from[4], const PetscReal to[4], PetscInt *side)
{
  PetscReal least = 1.;

  *side = -1;
  for (PetscInt n = 0; n < 4; n++)
    if (to[n] < 0. && from[n] <= least * (from[n] - to[n])) {
      least = from[n] / (from[n] - to[n]);
      *side = n;
    }
  return least;
}

static void set_weights(const PetscReal from[4], const PetscReal to[4], PetscReal part, PetscInt side,
                        PetscReal weights[4])
{
  PetscReal sum = 0.;

  for (PetscInt n = 0; n < 4; n++) {
    weights[n] = n == side ? 0. : PetscMax(0., from[n] + part * (to[n] - from[n]));
    sum += weights[n];
  }
  for (PetscInt n = 0; n < 4; n++)
    weights[n] /= sum;
}

/* Into the element across a side, with the same place. */
static void cross_side(Points *points, SoftPoint *soft, PetscInt side, PetscReal weights[4])
{
  const DeformableMesh *mesh = &points->meshes[soft->mesh];
  const PetscInt        next = mesh->neighbours[4 * soft->element + side], nodes = mesh->mesh->nodes;
  const PetscInt       *here = &mesh->elements[nodes * soft->element];
  PetscReal             there[4] = {0};

  if (next < 0)
    return;
  for (PetscInt n = 0; n < 4; n++)
    for (PetscInt k = 0; k < 4; k++)
      if (mesh->elements[nodes * next + n] == here[k])
        there[n] = weights[k];
  soft->element = next;
  take_corners(points, soft);
  for (PetscInt n = 0; n < 4; n++)
    weights[n] = there[n];
}

static PetscBool drift(Points *points, SoftPoint *soft)
{
  const PetscReal longest = points->meshes[soft->mesh].config->skin.drift;
  const Vector3   target = points_mean(points, soft->target, points->position);
  const Vector3   apart = vector3_subtract(points->position[soft->copy], target);
  const PetscReal length = vector3_norm(apart);
  PetscReal      *weights, from[4], to[4], part;
  PetscInt        side;

  if (!(longest > 0. && length > longest * (1. + 1e-9)))
    return PETSC_FALSE;
  if (!element_weights(points, soft, vector3_add(target, vector3_scale(1. - longest / length, apart)), to))
    return PETSC_FALSE;
  weights = target_weights(points, soft);
  for (PetscInt n = 0; n < 4; n++)
    from[n] = weights[n];
  part = way_to_side(from, to, &side);
  set_weights(from, to, part, side, weights);
  if (side >= 0)
    cross_side(points, soft, side, weights);
  return PETSC_TRUE;
}

void soft_points_drift(Solid solid)
{
  Points   *points = solid->points;
  PetscBool moved = PETSC_FALSE;

  if (!points->soft.is_drifting)
    return;
  for (PetscInt s = 0; s < points->soft.count; s++)
    moved = drift(points, &points->soft.list[s]) || moved ? PETSC_TRUE : PETSC_FALSE;
  if (!moved)
    return;
  points_follow_parents(points, points->position);
  points_follow_parents(points, points->velocity);
  points->has_forces = PETSC_FALSE;
}

PetscInt soft_point_numbers(const Points *points)
{
  return points->soft.is_drifting ? points->soft.count : 0;
}

void soft_points_get_places(Solid solid, PetscReal numbers[])
{
  Points *points = solid->points;

  for (PetscInt s = 0; s < soft_point_numbers(points); s++) {
    const SoftPoint *soft = &points->soft.list[s];
    const PetscReal *weights =
        points->meshes[soft->mesh].config->skin.drift > 0. ? target_weights(points, soft) : NULL;

    numbers[SOFT_PLACE * s] = (PetscReal)soft->element;
    for (PetscInt n = 0; n < 4; n++)
      numbers[SOFT_PLACE * s + 1 + n] = weights ? weights[n] : 0.25;
  }
}

void soft_points_set_places(Solid solid, const PetscReal numbers[])
{
  Points *points = solid->points;

  for (PetscInt s = 0; s < soft_point_numbers(points); s++) {
    SoftPoint *soft = &points->soft.list[s];

    if (!(points->meshes[soft->mesh].config->skin.drift > 0.))
      continue;
    soft->element = (PetscInt)numbers[SOFT_PLACE * s];
    take_corners(points, soft);
    for (PetscInt n = 0; n < 4; n++)
      target_weights(points, soft)[n] = numbers[SOFT_PLACE * s + 1 + n];
  }
}
