/* Hard bindings (2.2): points whose place is a weighted mean of others, x = sum w x_i. A force f on one is
   the force w f on its parents (2.3), its mass is theirs by the same weights, and an impulse meets the
   effective mass 1 / m_e = sum w^2 / m (2.4). Vertices that hang on the side of a coarser element are bound,
   and points that are sprinkled over the surface for contact. */
#include "points.h"

/* Parents that are bound themselves are replaced by theirs: chains have one link. */
static PetscErrorCode AddParent(PointBindings *bindings, PetscInt parent, PetscReal weight)
{
  const PetscInt k = bindings->index[parent];

  PetscFunctionBegin;
  if (k >= 0) {
    for (PetscInt n = bindings->first[k]; n < bindings->first[k + 1]; n++)
      PetscCall(AddParent(bindings, bindings->parents[n], weight * bindings->weights[n]));
    PetscFunctionReturn(0);
  }
  if (bindings->parent_count == bindings->parent_room) {
    bindings->parent_room = 2 * bindings->parent_count + 64;
    PetscCall(PetscRealloc(sizeof(*bindings->parents) * (size_t)bindings->parent_room, &bindings->parents));
    PetscCall(PetscRealloc(sizeof(*bindings->weights) * (size_t)bindings->parent_room, &bindings->weights));
  }
  bindings->parents[bindings->parent_count] = parent;
  bindings->weights[bindings->parent_count++] = weight;
  PetscFunctionReturn(0);
}

PetscErrorCode PointBind(Points *points, PetscInt point, PetscInt count, const PetscInt parents[],
                         const PetscReal weights[])
{
  PointBindings *bindings = &points->bindings;
  const PetscInt k = bindings->count++;

  PetscFunctionBegin;
  bindings->points[k] = point;
  for (PetscInt n = 0; n < count; n++)
    PetscCall(AddParent(bindings, parents[n], weights[n]));
  bindings->first[k + 1] = bindings->parent_count;
  bindings->index[point] = k;
  points->carrier[point] = CARRIER_POINTS;
  PetscFunctionReturn(0);
}

PetscErrorCode PointBindingsCreate(Points *points)
{
  PointBindings *bindings = &points->bindings;

  PetscFunctionBegin;
  PetscCall(PetscCalloc3(points->count, &bindings->points, points->count + 1, &bindings->first, points->count,
                         &bindings->index));
  PetscCall(PetscCalloc1(points->count, &bindings->rests));
  for (PetscInt p = 0; p < points->count; p++)
    bindings->index[p] = -1;
  PetscFunctionReturn(0);
}

PetscErrorCode PointBindingsDestroy(Points *points)
{
  PointBindings *bindings = &points->bindings;

  PetscFunctionBegin;
  PetscCall(PetscFree3(bindings->points, bindings->first, bindings->index));
  PetscCall(PetscFree(bindings->parents));
  PetscCall(PetscFree(bindings->weights));
  PetscCall(PetscFree(bindings->rests));
  PetscFunctionReturn(0);
}

PetscErrorCode MeshBindJunctions(Points *points, const DeformableMesh *mesh)
{
  MeshJunctions junctions;
  PetscInt      parents[64];

  PetscFunctionBegin;
  if (!mesh->mesh->parents || mesh->config->junctions == JUNCTIONS_FREE)
    PetscFunctionReturn(0);
  PetscCall(MeshFindJunctions(mesh->mesh, &junctions));
  for (PetscInt n = 0; n < junctions.count; n++) {
    const PetscInt first = junctions.first[n], count = junctions.first[n + 1] - first;

    PetscCheck(count <= 64, PETSC_COMM_SELF, PETSC_ERR_PLIB, "A vertex hangs on %" PetscInt_FMT " others",
               count);
    for (PetscInt k = 0; k < count; k++)
      parents[k] = mesh->first + junctions.parents[first + k];
    PetscCall(
        PointBind(points, mesh->first + junctions.vertices[n], count, parents, &junctions.weights[first]));
  }
  PetscCall(MeshJunctionsDestroy(&junctions));
  PetscFunctionReturn(0);
}

PetscInt mesh_vertices(const DeformableMesh *mesh)
{
  return mesh->mesh->vertex_count + (mesh->mesh->surface ? mesh->mesh->surface->vertex_count : 0);
}

Vector3 mesh_rest(const DeformableMesh *mesh, PetscInt vertex)
{
  const PetscInt count = mesh->mesh->vertex_count;

  return vertex < count ? mesh->mesh->vertices[vertex] : mesh->mesh->surface->vertices[vertex - count];
}

/* Weights that are negative by round-off, at the sides of an element, are none. A place that drifts has all
 * corners. */
static PetscInt place_parents(const DeformableMesh *mesh, const MeshPlace *place,
                              PetscInt parents[MESH_MAX_CORNERS], PetscReal weights[MESH_MAX_CORNERS])
{
  const PetscInt *nodes = &mesh->mesh->elements[mesh->mesh->nodes * place->element];
  PetscReal       sum = 0.;
  PetscInt        count = 0;

  for (PetscInt c = 0; c < mesh_corners(mesh->mesh->kind); c++) {
    if (!(place->weights[c] > 1e-12) && !(mesh->config->skin.drift > 0.))
      continue;
    parents[count] = mesh->first + nodes[c];
    weights[count] = PetscMax(0., place->weights[c]);
    sum += weights[count++];
  }
  for (PetscInt n = 0; n < count; n++)
    weights[n] /= sum;
  return count;
}

PetscErrorCode PointBindToPlace(Points *points, PetscInt point, const DeformableMesh *mesh,
                                const MeshPlace *place)
{
  PetscInt       parents[MESH_MAX_CORNERS];
  PetscReal      weights[MESH_MAX_CORNERS];
  const PetscInt count = place_parents(mesh, place, parents, weights);

  PetscFunctionBegin;
  PetscCall(PointBind(points, point, count, parents, weights));
  PetscFunctionReturn(0);
}

PetscErrorCode PointBindToCloud(Points *points, PetscInt point, const DeformableMesh *cloud,
                                const CloudPlace *place)
{
  PetscInt  parents[CLOUD_MOST], count = 0;
  PetscReal weights[CLOUD_MOST], sum = 0.;

  PetscFunctionBegin;
  for (PetscInt n = 0; n < place->count; n++) {
    if (!(place->weights[n] > 1e-12))
      continue;
    parents[count] = cloud->first + place->points[n];
    weights[count++] = place->weights[n];
    sum += place->weights[n];
  }
  for (PetscInt n = 0; n < count; n++)
    weights[n] /= sum;
  PetscCall(PointBind(points, point, count, parents, weights));
  PetscFunctionReturn(0);
}

PetscErrorCode MeshBindSurface(Points *points, const DeformableMesh *mesh)
{
  const Mesh surface = mesh->mesh->surface;

  PetscFunctionBegin;
  for (PetscInt v = 0; surface && v < surface->vertex_count; v++) {
    const PetscInt point = mesh->first + mesh->mesh->vertex_count + v;

    points->rest[point] = points->position[point] = surface->vertices[v];
    PetscCall(PointBindToPlace(points, point, mesh, &mesh->mesh->places[v]));
  }
  PetscFunctionReturn(0);
}

/* Parts that the edges of a face are divided into. */
static PetscInt face_parts(const DeformableMesh *mesh, PetscInt face)
{
  const PetscInt *corners = mesh->faces[face];
  PetscReal       longest = 0.;

  for (PetscInt c = 0; c < 3; c++)
    longest = PetscMax(longest, vector3_norm(vector3_subtract(mesh_rest(mesh, corners[c]),
                                                              mesh_rest(mesh, corners[(c + 1) % 3]))));
  return (PetscInt)PetscMax(1., PetscCeilReal(longest / mesh->config->contact_spacing - 1e-9));
}

PetscInt mesh_count_sprinkled(const DeformableMesh *mesh)
{
  PetscInt count = 0;

  for (PetscInt f = 0; f < mesh->face_count && mesh->config->contact_spacing > 0.; f++)
    count += PetscSqr(face_parts(mesh, f));
  return count;
}

/* At the centres of the small triangles that a division of the edges makes: those of two faces never
 * coincide. */
PetscErrorCode MeshSprinkle(Points *points, DeformableMesh *mesh)
{
  const PetscInt first = mesh->first + mesh_vertices(mesh);
  PetscInt       next = first;

  PetscFunctionBegin;
  if (!(mesh->config->contact_spacing > 0.))
    PetscFunctionReturn(0);
  PetscCall(PetscCalloc1(mesh->face_count + 1, &mesh->face_points));
  for (PetscInt f = 0; f < mesh->face_count; f++) {
    const PetscInt *corners = mesh->faces[f], parts = face_parts(mesh, f);
    const PetscInt  parents[3] = {mesh->first + corners[0], mesh->first + corners[1],
                                  mesh->first + corners[2]};

    for (PetscInt i = 0; i < parts; i++)
      for (PetscInt j = 0; j < 2 * (parts - i) - 1; j++) { /* upright ones and those between them by turns */
        const PetscReal third = (1 + j % 2) / 3., a = i + third, b = j / 2 + third;
        const PetscReal weights[3] = {1. - (a + b) / (PetscReal)parts, a / (PetscReal)parts,
                                      b / (PetscReal)parts};

        points->rest[next] = vector3(0, 0, 0);
        for (PetscInt c = 0; c < 3; c++)
          points->rest[next] =
              vector3_add(points->rest[next], vector3_scale(weights[c], points->rest[parents[c]]));
        points->position[next] = points->rest[next];
        mesh->skin_elements[mesh->skin_count] = mesh->behind[f];
        mesh->skin[mesh->skin_count++] = next;
        PetscCall(PointBind(points, next++, 3, parents, weights));
      }
    mesh->face_points[f + 1] = next - first;
  }
  points->near_count += mesh_is_soft(mesh) ? 0 : next - first;
  PetscFunctionReturn(0);
}

/* m = W^T m. What would belong to parents that a body or the world carries goes to the others. */
void points_share_masses(Points *points)
{
  const PointBindings *bindings = &points->bindings;

  for (PetscInt k = 0; k < bindings->count; k++) {
    PetscReal *mass = &points->mass[bindings->points[k]], movable = 0.;

    for (PetscInt n = bindings->first[k]; n < bindings->first[k + 1]; n++)
      movable += points->carrier[bindings->parents[n]] == CARRIER_NONE ? bindings->weights[n] : 0.;
    for (PetscInt n = bindings->first[k]; n < bindings->first[k + 1]; n++)
      if (movable > 0. && points->carrier[bindings->parents[n]] == CARRIER_NONE)
        points->mass[bindings->parents[n]] += *mass * bindings->weights[n] / movable;
    *mass = 0.;
  }
}

Vector3 points_mean(const Points *points, PetscInt point, const Vector3 values[])
{
  const PointBindings *bindings = &points->bindings;
  const PetscInt       k = bindings->index[point];
  Vector3              mean = vector3(0, 0, 0);

  if (k < 0)
    return values[point];
  for (PetscInt n = bindings->first[k]; n < bindings->first[k + 1]; n++)
    mean = vector3_add(mean, vector3_scale(bindings->weights[n], values[bindings->parents[n]]));
  return mean;
}

PetscReal points_inverse_mass(const Points *points, PetscInt point)
{
  const PointBindings *bindings = &points->bindings;
  const PetscInt       k = bindings->index[point];
  PetscReal            sum = 0.;

  if (k < 0)
    return points->inverse_mass[point];
  for (PetscInt n = bindings->first[k]; n < bindings->first[k + 1]; n++)
    sum += PetscSqr(bindings->weights[n]) * points->inverse_mass[bindings->parents[n]];
  return sum;
}

void points_push(const Points *points, PetscInt point, Vector3 impulse, Vector3 values[])
{
  const PointBindings *bindings = &points->bindings;
  const PetscInt       k = bindings->index[point];

  if (k < 0)
    values[point] = vector3_add(values[point], vector3_scale(points->inverse_mass[point], impulse));
  for (PetscInt n = k < 0 ? 0 : bindings->first[k]; k >= 0 && n < bindings->first[k + 1]; n++) {
    Vector3 *value = &values[bindings->parents[n]];

    *value = vector3_add(
        *value, vector3_scale(bindings->weights[n] * points->inverse_mass[bindings->parents[n]], impulse));
  }
}

/* The n-th binding whose point is here. */
static PetscInt here(const PointBindings *bindings, PetscInt n)
{
  return bindings->here ? bindings->here[n] : n;
}

static PetscInt here_count(const PointBindings *bindings)
{
  return bindings->here ? bindings->here_count : bindings->count;
}

void points_follow_parents(const Points *points, Vector3 values[])
{
  for (PetscInt n = 0; n < here_count(&points->bindings); n++) {
    const PetscInt p = points->bindings.points[here(&points->bindings, n)];

    if (!points->bindings.rests[p])
      values[p] = points_mean(points, p, values);
  }
}

void points_collect_bound(const Points *points, Vector3 forces[])
{
  const PointBindings *bindings = &points->bindings;

  for (PetscInt b = 0; b < here_count(bindings); b++) {
    const PetscInt k = here(bindings, b);
    Vector3       *force = &forces[bindings->points[k]];

    for (PetscInt n = bindings->first[k]; n < bindings->first[k + 1]; n++)
      forces[bindings->parents[n]] =
          vector3_add(forces[bindings->parents[n]], vector3_scale(bindings->weights[n], *force));
    *force = vector3(0, 0, 0);
  }
}
