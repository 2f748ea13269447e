/* The bindings of a scene: vertices of a mesh, or a point of a body, that are bound to elements of another
   mesh, to a body or to the world. Hard ones become weighted means (binding.c), soft ones springs (spring.c).
 */
#include "points.h"

#include <string.h>

static PetscInt find_mesh(const Points *points, const char name[])
{
  for (PetscInt m = 0; m < points->mesh_count; m++)
    if (!strcmp(points->meshes[m].config->name, name))
      return m;
  return -1;
}

static PetscErrorCode Refuse(const BindingConfig *config, char message[], size_t size, const char problem[])
{
  PetscFunctionBegin;
  if (!message[0])
    PetscCall(MessageAtKey(message, size, "solids.bindings", config->name, "Binding \"%s\" %s", config->name,
                           problem));
  PetscFunctionReturn(0);
}

/* The vertices of the mesh that lie in the shape at rest. */
static PetscErrorCode FindVertices(const DeformableMesh *mesh, MeshBinding *binding)
{
  const Mesh vertices = mesh->mesh;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(vertices->vertex_count, &binding->vertices));
  for (PetscInt v = 0; v < vertices->vertex_count; v++)
    if (!binding->config->inside || shape_is_inside(binding->config->inside, vertex_in_scene(mesh, v)))
      binding->vertices[binding->count++] = v;
  PetscFunctionReturn(0);
}

/* Whether a mesh is hard bound to another, directly or by others. */
static PetscBool leads_to(const Points *points, PetscInt from, PetscInt to, PetscInt depth)
{
  if (from == to || depth > points->mesh_binding_count)
    return PETSC_TRUE;
  for (PetscInt b = 0; b < points->mesh_binding_count; b++) {
    const MeshBinding *binding = &points->mesh_bindings[b];

    if (binding->config->kind == BINDING_HARD && binding->mesh == from && binding->to >= 0 &&
        leads_to(points, binding->to, to, depth + 1))
      return PETSC_TRUE;
  }
  return PETSC_FALSE;
}

static PetscErrorCode CheckCircles(const Points *points, char message[], size_t size)
{
  PetscFunctionBegin;
  for (PetscInt b = 0; b < points->mesh_binding_count; b++) {
    const MeshBinding *binding = &points->mesh_bindings[b];

    if (binding->mesh >= 0 && binding->mesh == binding->to)
      PetscCall(Refuse(binding->config, message, size, "binds a mesh to itself: name another one"));
    else if (binding->config->kind == BINDING_HARD && binding->mesh >= 0 && binding->to >= 0 &&
             leads_to(points, binding->to, binding->mesh, 0))
      PetscCall(
          Refuse(binding->config, message, size, "closes a circle of hard bindings: make one of them soft"));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode SolidCountBindings(Solid solid, char message[], size_t size)
{
  const SolidConfig *config = solid->config;
  Points            *points = solid->points;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(config->binding_count, &points->mesh_bindings));
  for (PetscInt b = 0; b < config->binding_count; b++) {
    MeshBinding *binding = &points->mesh_bindings[points->mesh_binding_count++];

    *binding = (MeshBinding){.config = &config->bindings[b], .first = points->count};
    binding->mesh = find_mesh(points, binding->config->from);
    binding->to = find_mesh(points, binding->config->to);
    if (binding->mesh >= 0)
      PetscCall(FindVertices(&points->meshes[binding->mesh], binding));
    else
      binding->count = 1;
    if (!binding->count)
      PetscCall(
          Refuse(binding->config, message, size, "binds nothing: no vertex of its mesh lies in \"inside\""));
    if (binding->config->kind == BINDING_HARD && (binding->mesh < 0 || binding->to < 0))
      PetscCall(Refuse(
          binding->config, message, size,
          "is hard and does not join two meshes: give \"type: soft\", \"held\" of the mesh for bodies, "
          "or a joint between bodies"));
    if (binding->to >= 0 && points->meshes[binding->to].mesh->order > 1)
      PetscCall(
          Refuse(binding->config, message, size,
                 "is to a mesh of order 2: bind to linear elements, to a cloud, to a body or to the world"));
    if (binding->config->kind == BINDING_SOFT)
      points->count += binding->count + (binding->mesh < 0 ? 1 : 0);
  }
  PetscCall(CheckCircles(points, message, size));
  PetscFunctionReturn(0);
}

PetscErrorCode SolidDestroyBindings(Solid solid)
{
  Points *points = solid->points;

  PetscFunctionBegin;
  for (PetscInt b = 0; b < points->mesh_binding_count; b++)
    PetscCall(PetscFree(points->mesh_bindings[b].vertices));
  PetscCall(PetscFree(points->mesh_bindings));
  PetscFunctionReturn(0);
}

static Vector3 place_of(const Points *points, const MeshBinding *binding, PetscInt k)
{
  return binding->mesh < 0 ? binding->config->at
                           : points->meshes[binding->mesh].mesh->vertices[binding->vertices[k]];
}

/* Targets in the elements of the other mesh; one outside of it is refused. */
static PetscErrorCode BindToMesh(Points *points, const MeshBinding *binding, const PetscInt bound[],
                                 char message[], size_t size)
{
  const DeformableMesh *to = &points->meshes[binding->to];
  Vector3              *places;
  MeshPlace            *found;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(binding->count, &places, binding->count, &found));
  for (PetscInt k = 0; k < binding->count; k++)
    places[k] = place_of(points, binding, k);
  PetscCall(MeshFindPlaces(to->mesh, binding->count, places, found));
  for (PetscInt k = 0; k < binding->count && !message[0]; k++) {
    char problem[256];

    if (found[k].distance > 1e-6 * to->edge) {
      snprintf(problem, sizeof(problem),
               "has a target at (%g, %g, %g), %g m outside of mesh \"%s\": make \"inside\" smaller, or "
               "move the mesh",
               (double)places[k].at[X], (double)places[k].at[Y], (double)places[k].at[Z],
               (double)found[k].distance, to->config->name);
      PetscCall(Refuse(binding->config, message, size, problem));
    } else {
      points->rest[bound[k]] = points->position[bound[k]] = places[k];
      PetscCall(PointBindToPlace(points, bound[k], to, &found[k]));
    }
  }
  PetscCall(PetscFree2(places, found));
  PetscFunctionReturn(0);
}

/* Targets among the nearest points of a cloud. */
static PetscErrorCode BindToCloud(Points *points, const MeshBinding *binding, const PetscInt bound[],
                                  char message[], size_t size)
{
  const DeformableMesh *to = &points->meshes[binding->to];

  PetscFunctionBegin;
  for (PetscInt k = 0; k < binding->count && !message[0]; k++) {
    const Vector3 place = place_of(points, binding, k);
    CloudPlace    found;
    char          problem[256];

    points->rest[bound[k]] = points->position[bound[k]] = place;
    if (cloud_find_place(to->mesh, place, binding->config->neighbours, &found)) {
      PetscCall(PointBindToCloud(points, bound[k], to, &found));
      continue;
    }
    snprintf(problem, sizeof(problem),
             "has a target at (%g, %g, %g), which is not between its %" PetscInt_FMT
             " nearest points of cloud \"%s\": make the cloud larger or "
             "finer, or give more \"neighbours\"",
             (double)place.at[X], (double)place.at[Y], (double)place.at[Z], binding->config->neighbours,
             to->config->name);
    PetscCall(Refuse(binding->config, message, size, problem));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode BindToPoints(Points *points, const MeshBinding *binding, const PetscInt bound[],
                                   char message[], size_t size)
{
  PetscFunctionBegin;
  if (points->meshes[binding->to].mesh->kind == MESH_POINTS)
    PetscCall(BindToCloud(points, binding, bound, message, size));
  else
    PetscCall(BindToMesh(points, binding, bound, message, size));
  PetscFunctionReturn(0);
}

/* Those of the mesh it is bound to come first. */
static PetscErrorCode BindHard(Points *points, MeshBinding *binding, char message[], size_t size)
{
  PetscInt *bound;

  PetscFunctionBegin;
  if (binding->is_done || binding->config->kind != BINDING_HARD || message[0])
    PetscFunctionReturn(0);
  binding->is_done = PETSC_TRUE;
  for (PetscInt b = 0; b < points->mesh_binding_count; b++)
    if (points->mesh_bindings[b].mesh == binding->to)
      PetscCall(BindHard(points, &points->mesh_bindings[b], message, size));
  PetscCall(PetscMalloc1(binding->count, &bound));
  for (PetscInt k = 0; k < binding->count; k++)
    bound[k] = points->meshes[binding->mesh].first + binding->vertices[k];
  PetscCall(BindToPoints(points, binding, bound, message, size));
  PetscCall(PetscFree(bound));
  PetscFunctionReturn(0);
}

/* Meshes that are hard bound to each other have the number of the first of them. */
static void find_groups(Points *points)
{
  PetscBool changed = PETSC_TRUE;

  for (PetscInt m = 0; m < points->mesh_count; m++)
    points->meshes[m].group = m;
  while (changed) {
    changed = PETSC_FALSE;
    for (PetscInt b = 0; b < points->mesh_binding_count; b++) {
      const MeshBinding *binding = &points->mesh_bindings[b];
      PetscInt          *one, *other;

      if (binding->config->kind != BINDING_HARD || binding->mesh < 0 || binding->to < 0)
        continue;
      one = &points->meshes[binding->mesh].group;
      other = &points->meshes[binding->to].group;
      changed = *one != *other || changed ? PETSC_TRUE : PETSC_FALSE;
      *one = *other = PetscMin(*one, *other);
    }
  }
}

PetscErrorCode SolidBindHard(Solid solid, char message[], size_t size)
{
  PetscFunctionBegin;
  find_groups(solid->points);
  for (PetscInt b = 0; b < solid->points->mesh_binding_count; b++)
    PetscCall(BindHard(solid->points, &solid->points->mesh_bindings[b], message, size));
  PetscFunctionReturn(0);
}

/* A point of a body; of the world without a name. */
static PetscErrorCode CarryPoint(Solid solid, const MeshBinding *binding, const char name[], PetscInt point,
                                 Vector3 place, char message[], size_t size)
{
  Points        *points = solid->points;
  const PetscInt body = name[0] ? solid_find_body(solid, name) : CARRIER_WORLD;
  char           problem[256];

  PetscFunctionBegin;
  points->rest[point] = points->position[point] = place;
  points->carrier[point] = CARRIER_WORLD;
  if (name[0] && body < 0) {
    PetscCall(PetscSNPrintf(problem, sizeof(problem), "names \"%s\", which is no mesh and no body", name));
    PetscCall(Refuse(binding->config, message, size, problem));
    PetscFunctionReturn(0);
  }
  points->carrier[point] = body;
  points->arm[point] = body >= 0 ? rigid_apply_inverse(&solid->placements[body], place) : place;
  points->carried[points->carried_count++] = point;
  PetscFunctionReturn(0);
}

static PetscErrorCode BindSoft(Solid solid, const MeshBinding *binding, char message[], size_t size)
{
  Points   *points = solid->points;
  PetscInt *targets;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(binding->count, &targets));
  for (PetscInt k = 0; k < binding->count; k++)
    targets[k] = binding->first + k;
  if (binding->to >= 0)
    PetscCall(BindToPoints(points, binding, targets, message, size));
  for (PetscInt k = 0; k < binding->count && binding->to < 0; k++)
    PetscCall(CarryPoint(solid, binding, binding->config->to, targets[k], place_of(points, binding, k),
                         message, size));
  if (binding->mesh < 0)
    PetscCall(CarryPoint(solid, binding, binding->config->from, binding->first + 1, binding->config->at,
                         message, size));
  for (PetscInt k = 0; k < binding->count; k++) {
    const PetscInt point =
        binding->mesh < 0 ? binding->first + 1 : points->meshes[binding->mesh].first + binding->vertices[k];

    PetscCall(GrowList(points->springs.count, &points->springs.room, &points->springs.list));
    points->springs.list[points->springs.count++] = (BindingSpring){.point = point,
                                                                    .target = targets[k],
                                                                    .stiffness = binding->config->stiffness,
                                                                    .damping = binding->config->damping};
  }
  PetscCall(PetscFree(targets));
  PetscFunctionReturn(0);
}

PetscErrorCode SolidBindSoft(Solid solid, char message[], size_t size)
{
  PetscFunctionBegin;
  for (PetscInt b = 0; b < solid->points->mesh_binding_count && !message[0]; b++)
    if (solid->points->mesh_bindings[b].config->kind == BINDING_SOFT)
      PetscCall(BindSoft(solid, &solid->points->mesh_bindings[b], message, size));
  PetscFunctionReturn(0);
}
