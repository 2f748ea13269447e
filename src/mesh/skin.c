/* The triangles around a shape. */
#include <millrace/mesh_config.h>
#include <stdio.h>
#include "mesh_impl.h"

/* The outside of a box of cubes. */
static PetscErrorCode CreateBoxSkin(Vector3 half, PetscReal edge, Mesh *mesh)
{
  MeshDraft    draft = {.corners = 3};
  MeshBoundary boundary;
  PetscInt     cells[DIM];
  Mesh         solid;

  PetscFunctionBegin;
  for (int d = 0; d < DIM; d++)
    cells[d] = (PetscInt)pieces_of(2 * half.at[d], edge);
  PetscCall(MeshCreateBox(vector3_scale(-1, half), half, cells, MESH_BOX_FIVE, &solid));
  PetscCall(MeshFindBoundary(solid, &boundary));
  for (PetscInt v = 0; v < solid->vertex_count; v++)
    PetscCall(MeshDraftAddVertex(&draft, solid->vertices[v]));
  for (PetscInt n = 0; n < boundary.count; n++)
    PetscCall(MeshDraftAddElement(&draft, boundary.faces + 3 * n));
  PetscCall(MeshDraftFinish(&draft, DRAFT_COMPACT, mesh));
  PetscCall(MeshBoundaryDestroy(&boundary));
  PetscCall(MeshDestroy(&solid));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateFromSurface(Surface surface, PetscReal scale, Mesh *mesh)
{
  PetscInt       vertex_count, triangle_count;
  const Vector3 *vertices;
  const PetscInt(*triangles)[3];

  PetscFunctionBegin;
  PetscCall(SurfaceGet(surface, &vertex_count, &vertices, &triangle_count, &triangles));
  PetscCall(MeshCreate(MESH_TRIANGLES, 1, vertex_count, vertices, triangle_count, triangles[0], mesh));
  for (PetscInt v = 0; v < vertex_count; v++)
    (*mesh)->vertices[v] = vector3_scale(scale, (*mesh)->vertices[v]);
  PetscFunctionReturn(0);
}

/* In the shape's own frame. */
static PetscErrorCode CreatePrimitiveSkin(const Primitive *primitive, PetscReal edge, Mesh *mesh)
{
  const PetscReal        radius = primitive->radius, reach = primitive->reach;
  const Vector3          zero = vector3(0, 0, 0), up = vector3(0, 0, 1);
  const MeshProfilePoint rod[] = {{0, -reach}, {radius, -reach}, {radius, reach}, {0, reach}};
  const MeshProfilePoint cone[] = {{0, -reach}, {radius, -reach}, {0, reach}};

  PetscFunctionBegin;
  switch (primitive->kind) {
  case PRIMITIVE_SPHERE:
    PetscCall(MeshCreateBall(zero, radius, edge, mesh));
    break;
  case PRIMITIVE_BOX:
    PetscCall(CreateBoxSkin(primitive->half, edge, mesh));
    break;
  case PRIMITIVE_CYLINDER:
    PetscCall(MeshCreateRevolution(zero, up, MESH_PROFILE_PATH, 4, rod, edge, mesh));
    break;
  case PRIMITIVE_CAPSULE:
    PetscCall(MeshCreateCapsule(vector3(0, 0, -reach), vector3(0, 0, reach), radius, edge, mesh));
    break;
  case PRIMITIVE_CONE:
    PetscCall(MeshCreateRevolution(zero, up, MESH_PROFILE_PATH, 3, cone, edge, mesh));
    break;
  case PRIMITIVE_TORUS:
    PetscCall(MeshCreateTorus(zero, up, reach, radius, edge, mesh));
    break;
  default:
    PetscCall(CreateFromSurface(primitive->surface, primitive->scale, mesh));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateContourSkin(Shape shape, PetscReal edge, Mesh *mesh, char message[],
                                        size_t message_size)
{
  Vector3 low, high;
  Surface surface;

  PetscFunctionBegin;
  shape_bounds(shape, &low, &high);
  for (int d = 0; d < DIM; d++) {
    if (low.at[d] <= -PETSC_INFINITY || high.at[d] >= PETSC_INFINITY) {
      snprintf(message, message_size, "the shape has no end, so it has no skin: intersect it with a box");
      PetscFunctionReturn(0);
    }
  }
  PetscCall(SurfaceCreateContour(shape, CONTOUR_SPACE, low, high, edge, &surface));
  if (!surface) {
    snprintf(message, message_size, "the shape is empty");
    PetscFunctionReturn(0);
  }
  PetscCall(CreateFromSurface(surface, 1, mesh));
  PetscCall(SurfaceDestroy(&surface));
  PetscFunctionReturn(0);
}

PetscErrorCode MeshCreateSkin(Shape shape, PetscReal edge, Mesh *mesh, char message[], size_t message_size)
{
  const Primitive      primitive = shape_primitive(shape);
  const RigidTransform frame = {primitive.centre, primitive.rotation};

  PetscFunctionBegin;
  *mesh = NULL;
  message[0] = '\0';
  if (primitive.kind == PRIMITIVE_NONE || primitive.kind == PRIMITIVE_PLANE) {
    PetscCall(CreateContourSkin(shape, edge, mesh, message, message_size));
    PetscFunctionReturn(0);
  }
  PetscCall(CreatePrimitiveSkin(&primitive, edge, mesh));
  for (PetscInt v = 0; v < (*mesh)->vertex_count; v++)
    (*mesh)->vertices[v] = rigid_apply(&frame, (*mesh)->vertices[v]);
  PetscFunctionReturn(0);
}
