/* Triangles for shapes with closed formulas. All but the box are solids of revolution: a profile in the plane
   of (distance from the axis, height), from the lowest point to the highest, or a loop, is turned about z. */
#include "geometry_impl.h"

enum { MAX_PROFILE = 4096 };

typedef struct {
  PetscInt  count;
  PetscReal away[MAX_PROFILE], height[MAX_PROFILE];
  PetscBool is_loop;
} Profile;

static void add_point(Profile *profile, PetscReal away, PetscReal height)
{
  profile->away[profile->count] = away;
  profile->height[profile->count++] = height;
}

/* Both ends included, angles from the equator; the poles lie on the axis exactly. */
static void add_arc(Profile *profile, PetscReal radius, PetscReal middle, int from, int to, PetscInt steps)
{
  for (PetscInt n = 0; n <= steps; n++) {
    const PetscReal quarters = (PetscReal)from + (PetscReal)((to - from) * n) / (PetscReal)steps;
    const PetscBool is_pole = PetscAbsReal(quarters) == 1 ? PETSC_TRUE : PETSC_FALSE;

    add_point(profile, is_pole ? 0 : radius * PetscCosReal(quarters * PETSC_PI / 2),
              middle + radius * PetscSinReal(quarters * PETSC_PI / 2));
  }
}

static void fill_profile(const Primitive *primitive, PetscInt segments, Profile *profile)
{
  const PetscReal r = primitive->radius, h = primitive->reach;
  const PetscInt  quarter = PetscMax(1, segments / 4), tube = PetscMax(3, segments / 2);

  profile->count = 0;
  profile->is_loop = primitive->kind == PRIMITIVE_TORUS ? PETSC_TRUE : PETSC_FALSE;
  if (primitive->kind == PRIMITIVE_SPHERE)
    add_arc(profile, r, 0, -1, 1, 2 * quarter);
  if (primitive->kind == PRIMITIVE_CAPSULE) {
    add_arc(profile, r, -h, -1, 0, quarter);
    add_arc(profile, r, h, 0, 1, quarter);
  }
  if (primitive->kind == PRIMITIVE_CYLINDER || primitive->kind == PRIMITIVE_CONE) {
    add_point(profile, 0, -h);
    add_point(profile, r, -h);
    if (primitive->kind == PRIMITIVE_CYLINDER)
      add_point(profile, r, h);
    add_point(profile, 0, h);
  }
  for (PetscInt n = 0; n < tube && profile->is_loop; n++) {
    const PetscReal angle = 2 * PETSC_PI * (PetscReal)n / (PetscReal)tube;

    add_point(profile, h + r * PetscCosReal(angle), r * PetscSinReal(angle));
  }
}

/* One vertex on the axis, else a ring of them; `first` is where each begins. */
static PetscErrorCode AddRings(const Profile *profile, PetscInt segments, TriangleList *mesh,
                               PetscInt first[])
{
  PetscFunctionBegin;
  for (PetscInt n = 0; n < profile->count; n++) {
    const PetscInt count = profile->away[n] > 0 ? segments : 1;

    first[n] = mesh->vertex_count;
    for (PetscInt k = 0; k < count; k++) {
      const PetscReal angle = 2 * PETSC_PI * (PetscReal)k / (PetscReal)segments;

      PetscCall(
          TriangleListAddVertex(mesh, vector3(profile->away[n] * PetscCosReal(angle),
                                              profile->away[n] * PetscSinReal(angle), profile->height[n])));
    }
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode AddBands(const Profile *profile, PetscInt segments, const PetscInt first[],
                               TriangleList *mesh)
{
  const PetscInt bands = profile->is_loop ? profile->count : profile->count - 1;

  PetscFunctionBegin;
  for (PetscInt n = 0; n < bands * segments; n++) {
    const PetscInt below = n / segments, above = (below + 1) % profile->count;
    const PetscInt k = n % segments, next = (k + 1) % segments;
    const PetscInt a = first[below] + (profile->away[below] > 0 ? k : 0);
    const PetscInt b = first[below] + (profile->away[below] > 0 ? next : 0);
    const PetscInt c = first[above] + (profile->away[above] > 0 ? next : 0);
    const PetscInt d = first[above] + (profile->away[above] > 0 ? k : 0);

    if (a != b)
      PetscCall(TriangleListAddTriangle(mesh, a, b, c, 0));
    if (c != d)
      PetscCall(TriangleListAddTriangle(mesh, a, c, d, 0));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode AddRound(const Primitive *primitive, PetscInt segments, TriangleList *mesh)
{
  Profile  *profile;
  PetscInt *first;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(1, &profile, MAX_PROFILE, &first));
  fill_profile(primitive, segments, profile);
  PetscCall(AddRings(profile, segments, mesh, first));
  PetscCall(AddBands(profile, segments, first, mesh));
  PetscCall(PetscFree2(profile, first));
  PetscFunctionReturn(0);
}

/* Corner n is at the upper end of the directions whose bits are set in n. */
static PetscErrorCode AddBox(Vector3 half, TriangleList *mesh)
{
  static const PetscInt faces[6][4] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4},
                                       {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};

  PetscFunctionBegin;
  for (int n = 0; n < 8; n++) {
    PetscCall(TriangleListAddVertex(mesh, vector3(n & 1 ? half.at[X] : -half.at[X],
                                                  n & 2 ? half.at[Y] : -half.at[Y],
                                                  n & 4 ? half.at[Z] : -half.at[Z])));
  }
  for (int n = 0; n < 6; n++) {
    PetscCall(TriangleListAddTriangle(mesh, faces[n][0], faces[n][1], faces[n][2], 0));
    PetscCall(TriangleListAddTriangle(mesh, faces[n][0], faces[n][2], faces[n][3], 0));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode AddScaled(const Primitive *primitive, TriangleList *mesh)
{
  PetscInt       vertex_count, triangle_count;
  const Vector3 *vertices;
  const PetscInt(*triangles)[3];

  PetscFunctionBegin;
  PetscCall(SurfaceGet(primitive->surface, &vertex_count, &vertices, &triangle_count, &triangles));
  for (PetscInt n = 0; n < vertex_count; n++)
    PetscCall(TriangleListAddVertex(mesh, vector3_scale(primitive->scale, vertices[n])));
  for (PetscInt n = 0; n < triangle_count; n++)
    PetscCall(TriangleListAddTriangle(mesh, triangles[n][0], triangles[n][1], triangles[n][2], 0));
  PetscFunctionReturn(0);
}

PetscErrorCode SurfaceCreatePrimitive(const Primitive *primitive, PetscInt segments, Surface *surface)
{
  TriangleList mesh = {0};

  PetscFunctionBegin;
  *surface = NULL;
  PetscCheck(segments >= 3 && segments <= MAX_PROFILE / 2, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "A circle is cut into 3 to %d segments, not %" PetscInt_FMT, MAX_PROFILE / 2, segments);
  PetscCheck(primitive->kind != PRIMITIVE_PLANE && primitive->kind != PRIMITIVE_NONE, PETSC_COMM_SELF,
             PETSC_ERR_SUP, "A plane or a combination of shapes has no triangles");
  if (primitive->kind == PRIMITIVE_BOX)
    PetscCall(AddBox(primitive->half, &mesh));
  else if (primitive->kind == PRIMITIVE_SURFACE)
    PetscCall(AddScaled(primitive, &mesh));
  else
    PetscCall(AddRound(primitive, segments, &mesh));
  PetscCall(SurfaceCreate(mesh.vertex_count, mesh.vertices, mesh.triangle_count,
                          (const PetscInt(*)[3])mesh.triangles, surface));
  PetscCall(TriangleListDestroy(&mesh));
  PetscFunctionReturn(0);
}
