/* Given forces on meshes: each is spread evenly over the sides of elements that lie in its shape at rest, to
   their nodes by the integrals of the weights: of a straight side equal parts at linear corners; of a
   quadratic triangle thirds at the middles of its edges; of a quadratic edge 1/6, 4/6, 1/6. */
#include "points.h"

enum { MOST_SIDE_NODES = 6 };

typedef struct {
  PetscInt  count, nodes[MOST_SIDE_NODES];
  PetscReal parts[MOST_SIDE_NODES];
  PetscReal area; /* length, of an edge */
} LoadedSide;

static PetscInt middle_of(Mesh mesh, PetscInt a, PetscInt b)
{
  PetscInt k = 0;

  while (!(mesh_edge(mesh->kind, k)[0] == a && mesh_edge(mesh->kind, k)[1] == b) &&
         !(mesh_edge(mesh->kind, k)[0] == b && mesh_edge(mesh->kind, k)[1] == a))
    k++;
  return mesh_corners(mesh->kind) + k;
}

/* Opposite a corner of an element. */
static LoadedSide side_of(Mesh mesh, PetscInt element, PetscInt corner)
{
  const PetscInt *own = mesh_side(mesh->kind, corner), *nodes = &mesh->elements[mesh->nodes * element];
  const PetscInt  corners = mesh_corners(mesh->kind) - 1, edges = corners == 3 ? 3 : 1;
  const PetscReal at_corner = mesh->order == 1 ? 1. / (PetscReal)corners : corners == 3 ? 0. : 1. / 6.;
  const Vector3   a = mesh->vertices[nodes[own[0]]], b = mesh->vertices[nodes[own[1]]];
  LoadedSide      side = {.area = vector3_norm(vector3_subtract(b, a))};

  for (PetscInt c = 0; c < corners; c++) {
    side.parts[side.count] = at_corner;
    side.nodes[side.count++] = nodes[own[c]];
  }
  for (PetscInt k = 0; k < edges && mesh->order == 2; k++) {
    side.parts[side.count] = corners == 3 ? 1. / 3. : 4. / 6.;
    side.nodes[side.count++] = nodes[middle_of(mesh, own[k], own[(k + 1) % corners])];
  }
  if (corners == 3)
    side.area = 0.5 * vector3_norm(vector3_cross(vector3_subtract(b, a),
                                                 vector3_subtract(mesh->vertices[nodes[own[2]]], a)));
  return side;
}

static PetscBool is_side_inside(const DeformableMesh *mesh, const LoadedSide *side, Shape shape)
{
  for (PetscInt n = 0; n < side->count; n++)
    if (!shape_is_inside(shape, vertex_in_scene(mesh, side->nodes[n])))
      return PETSC_FALSE;
  return PETSC_TRUE;
}

/* The area of all sides in the shape; each takes `force` times its area. */
static PetscReal spread(Points *points, const DeformableMesh *mesh, const PetscInt neighbours[], Shape shape,
                        Vector3 force)
{
  const PetscInt corners = mesh_corners(mesh->mesh->kind);
  PetscReal      total = 0.;

  for (PetscInt k = 0; k < corners * mesh->mesh->element_count; k++) {
    LoadedSide side;

    if (neighbours[k] >= 0)
      continue;
    side = side_of(mesh->mesh, k / corners, k % corners);
    if (!is_side_inside(mesh, &side, shape))
      continue;
    total += side.area;
    for (PetscInt n = 0; n < side.count; n++) {
      Vector3 *load = &points->load[mesh->first + side.nodes[n]];

      *load = vector3_add(*load, vector3_scale(side.area * side.parts[n], force));
    }
  }
  return total;
}

PetscErrorCode MeshAddLoads(Points *points, const DeformableMesh *mesh, char message[], size_t size)
{
  const SolidMeshConfig *config = mesh->config;
  PetscInt              *neighbours;

  PetscFunctionBegin;
  if (!config->load_count)
    PetscFunctionReturn(0);
  PetscCall(MeshFindNeighbours(mesh->mesh, &neighbours));
  for (PetscInt k = 0; k < config->load_count && !message[0]; k++) {
    const LoadConfig *load = &config->loads[k];
    const PetscReal   area = spread(points, mesh, neighbours, load->inside, vector3(0, 0, 0));

    if (area > 0.)
      spread(points, mesh, neighbours, load->inside, vector3_scale(1. / area, load->force));
    else
      PetscCall(MessageAtKey(message, size, "solids.meshes", config->name,
                             "Mesh \"%s\" has no side of an element in the shape of load %" PetscInt_FMT
                             ": make the shape larger",
                             config->name, k));
  }
  PetscCall(PetscFree(neighbours));
  PetscFunctionReturn(0);
}
