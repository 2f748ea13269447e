#include <string.h>
#include "mesh.h"

void assert_is_sound(Mesh mesh, MeshPlacement placement)
{
  char      message[512];
  MeshFault fault;

  assert_success(MeshCheck(mesh, placement, &fault, message, sizeof message));
  if (fault != MESH_SOUND)
    fail_msg("%s", message);
  assert_string_equal(message, "");
}

/* The boundary as a mesh of its own, with all vertices of the whole. */
static Mesh boundary_mesh(Mesh mesh)
{
  MeshBoundary boundary;
  Mesh         surface;

  assert_success(MeshFindBoundary(mesh, &boundary));
  assert_int_equal(boundary.corners, (int)mesh->kind);
  assert_success(MeshCreate((MeshKind)(mesh->kind - 1), 1, mesh->vertex_count, mesh->vertices, boundary.count,
                            boundary.faces, &surface));
  assert_success(MeshBoundaryDestroy(&boundary));
  return surface;
}

static void assert_closed_curve(Mesh curve)
{
  PetscInt *sum;

  assert_success(PetscCalloc1(curve->vertex_count, &sum));
  for (PetscInt n = 0; n < 2 * curve->element_count; n++)
    sum[curve->elements[n]] += n % 2 ? 1 : -1;
  for (PetscInt n = 0; n < curve->vertex_count; n++)
    assert_int_equal(sum[n], 0);
  assert_success(PetscFree(sum));
}

/* How often a directed edge occurs among the triangles, by brute force over those of its first vertex. */
static void assert_closed_surface(Mesh surface)
{
  PetscInt *first, *elements;

  assert_success(MeshFindElementsOfVertices(surface, &first, &elements));
  for (PetscInt n = 0; n < 3 * surface->element_count; n++) {
    const PetscInt *nodes = surface->elements + n / 3 * 3;
    const PetscInt  a = nodes[n % 3], b = nodes[(n + 1) % 3];
    PetscInt        balance = 0;

    for (PetscInt m = first[a]; m < first[a + 1]; m++) {
      const PetscInt *others = surface->elements + 3 * elements[m];

      for (int c = 0; c < 3; c++) {
        balance += others[c] == a && others[(c + 1) % 3] == b;
        balance -= others[c] == b && others[(c + 1) % 3] == a;
      }
    }
    assert_int_equal(balance, 0);
  }
  assert_success(PetscFree(first));
  assert_success(PetscFree(elements));
}

void assert_boundary_is_closed(Mesh mesh)
{
  Mesh boundary = boundary_mesh(mesh);

  if (boundary->kind == MESH_SEGMENTS)
    assert_closed_curve(boundary);
  else if (boundary->kind == MESH_TRIANGLES)
    assert_closed_surface(boundary);
  assert_success(MeshDestroy(&boundary));
}

PetscReal measure_within_boundary(Mesh mesh)
{
  Mesh      boundary = boundary_mesh(mesh);
  PetscReal sum = 0;

  for (PetscInt n = 0; n < boundary->element_count; n++) {
    const PetscInt *nodes = boundary->elements + n * boundary->nodes;
    const Vector3  *v = boundary->vertices;

    if (boundary->kind == MESH_TRIANGLES)
      sum += vector3_dot(v[nodes[0]], vector3_cross(v[nodes[1]], v[nodes[2]])) / 6;
    else
      sum += vector3_cross(v[nodes[0]], v[nodes[1]]).at[Z] / 2;
  }
  assert_success(MeshDestroy(&boundary));
  return sum;
}

static PetscInt used_vertices(Mesh mesh)
{
  PetscInt *first, *elements, used = 0;

  assert_success(MeshFindElementsOfVertices(mesh, &first, &elements));
  for (PetscInt n = 0; n < mesh->vertex_count; n++)
    used += first[n + 1] > first[n];
  assert_success(PetscFree(first));
  assert_success(PetscFree(elements));
  return used;
}

static PetscInt edge_count(Mesh mesh)
{
  PetscInt count;
  PetscInt(*edges)[2];

  assert_success(MeshFindEdges(mesh, &count, &edges));
  assert_success(PetscFree(edges));
  return count;
}

/* Sides of tetrahedra, each once. */
static PetscInt face_count(Mesh mesh)
{
  PetscInt *neighbours, twice = 0;

  assert_success(MeshFindNeighbours(mesh, &neighbours));
  for (PetscInt n = 0; n < 4 * mesh->element_count; n++)
    twice += neighbours[n] < 0 ? 2 : 1;
  assert_success(PetscFree(neighbours));
  return twice / 2;
}

PetscInt euler_characteristic(Mesh mesh)
{
  const PetscInt flat = used_vertices(mesh) - edge_count(mesh);

  if (mesh->kind == MESH_TETRAHEDRA)
    return flat + face_count(mesh) - mesh->element_count;
  return mesh->kind == MESH_TRIANGLES ? flat + mesh->element_count : flat;
}

PetscInt boundary_euler_characteristic(Mesh mesh)
{
  Mesh           boundary = boundary_mesh(mesh);
  const PetscInt found = euler_characteristic(boundary);

  assert_success(MeshDestroy(&boundary));
  return found;
}

PetscBool are_equal_meshes(Mesh a, Mesh b)
{
  if (a->kind != b->kind || a->order != b->order || a->vertex_count != b->vertex_count ||
      a->element_count != b->element_count)
    return PETSC_FALSE;
  return memcmp(a->vertices, b->vertices, (size_t)a->vertex_count * sizeof *a->vertices) == 0 &&
                 memcmp(a->elements, b->elements,
                        (size_t)(a->nodes * a->element_count) * sizeof *a->elements) == 0
             ? PETSC_TRUE
             : PETSC_FALSE;
}

void extreme_dihedral_angles(Mesh mesh, PetscReal *smallest, PetscReal *largest)
{
  *smallest = 180;
  *largest = 0;
  for (PetscInt n = 0; n < mesh->element_count; n++) {
    PetscReal low, high;

    mesh_dihedral_angles(mesh, n, &low, &high);
    *smallest = PetscMin(*smallest, low * 180 / PETSC_PI);
    *largest = PetscMax(*largest, high * 180 / PETSC_PI);
  }
}
