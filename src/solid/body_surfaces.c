/* The surfaces of bodies as the fluid meets them. */
#include "solid_impl.h"

#include <millrace/solid_step.h>

enum { FEWEST_SEGMENTS = 12, MOST_SEGMENTS = 96 };

CoupledBody solid_coupled_body(Solid solid, PetscInt body)
{
  const Body *the = &solid->bodies[body];
  CoupledBody resistance = {.position = solid->placements[body].position,
                            .slips = the->config->surface == BODY_SLIP ? PETSC_TRUE : PETSC_FALSE,
                            .is_free = body_is_free(the),
                            .is_enclosed = solid_is_bone(solid, body),
                            .thickness = the->form->thickness,
                            .rotation = solid->placements[body].rotation};

  if (resistance.is_free) {
    resistance.mass = the->mass;
    resistance.inertia = matrix3_turned_diagonal(resistance.rotation, the->inertia);
  }
  solid_body_bounds(solid, body, &resistance.low, &resistance.high);
  return resistance;
}

/* Moved and stretched across z. */
typedef struct {
  PetscReal across;
  Vector3   shift;
} Stretch;

static Vector3 stretched(const void *context, Vector3 point)
{
  const Stretch *stretch = context;

  return vector3_add(vector3(stretch->across * point.at[X], stretch->across * point.at[Y], point.at[Z]),
                     stretch->shift);
}

/* The volume of a polyhedron grows with the square of its width. Simple forms keep the axes of their
   primitive, so that their frame is only moved to the centre of mass. */
static PetscErrorCode CreateSimple(const Body *body, PetscReal edge, Surface *surface)
{
  const Primitive primitive = shape_primitive(body->config->shape);
  const Moments   moments = primitive_moments(&primitive);
  const PetscReal widest = primitive.radius + (primitive.kind == PRIMITIVE_TORUS ? primitive.reach : 0.),
                  wanted = PetscMin(2. * PETSC_PI * widest / edge, MOST_SEGMENTS);
  const PetscInt segments = PetscMax(FEWEST_SEGMENTS, 4 * (PetscInt)PetscCeilReal(0.25 * wanted));
  Stretch        stretch = {.shift = vector3_scale(-1., moments.centre)};

  PetscFunctionBegin;
  PetscCall(SurfaceCreatePrimitive(&primitive, segments, surface));
  stretch.across = PetscSqrtReal(moments.volume / surface_volume(*surface));
  PetscCall(SurfaceTransform(surface, stretched, &stretch));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateCopy(Surface given, Surface *surface)
{
  PetscInt       vertex_count, triangle_count;
  const Vector3 *vertices;
  const PetscInt(*triangles)[3];

  PetscFunctionBegin;
  PetscCall(SurfaceGet(given, &vertex_count, &vertices, &triangle_count, &triangles));
  PetscCall(SurfaceCreate(vertex_count, vertices, triangle_count, triangles, surface));
  PetscFunctionReturn(0);
}

static PetscBool reaches_into(const RigidTransform *plane, const Vector3 bounds[2])
{
  const PetscReal negligible = 1e-9 * vector3_norm(vector3_subtract(bounds[1], bounds[0]));

  for (PetscInt c = 0; c < 8; c++)
    if (rigid_apply_inverse(plane,
                            vector3(bounds[c & 1].at[X], bounds[c >> 1 & 1].at[Y], bounds[c >> 2].at[Z]))
            .at[Z] < -negligible)
      return PETSC_TRUE;
  return PETSC_FALSE;
}

static PetscErrorCode CreateBlock(const RigidTransform *plane, const Vector3 bounds[2], Surface *surface)
{
  const Vector3   middle = rigid_apply_inverse(plane, vector3_scale(0.5, vector3_add(bounds[0], bounds[1])));
  const PetscReal reach = vector3_norm(vector3_subtract(bounds[1], bounds[0])),
                  depth = 0.5 * (PetscAbsReal(middle.at[Z]) + reach);
  const Primitive block = {.kind = PRIMITIVE_BOX, .half = vector3(reach, reach, depth)};
  const Stretch   stretch = {1., vector3(middle.at[X], middle.at[Y], -depth)};

  PetscFunctionBegin;
  PetscCall(SurfaceCreatePrimitive(&block, 4, surface));
  PetscCall(SurfaceTransform(surface, stretched, &stretch));
  PetscFunctionReturn(0);
}

PetscErrorCode SolidCreateBodySurface(Solid solid, PetscInt body, PetscReal edge, const Vector3 bounds[2],
                                      Surface *surface, PetscBool *lasts)
{
  const Form *form = solid->bodies[body].form;

  PetscFunctionBegin;
  *lasts = form->kind != FORM_PLANE;
  *surface = NULL;
  if (form->kind == FORM_PLANE && !reaches_into(&solid->placements[body], bounds))
    PetscFunctionReturn(0);
  if (form->kind == FORM_PLANE)
    PetscCall(CreateBlock(&solid->placements[body], bounds, surface));
  else if (form->kind == FORM_HULL || form->kind == FORM_SURFACE || form->kind == FORM_SHELL) {
    PetscCheck(form->surface, PETSC_COMM_SELF, PETSC_ERR_ORDER,
               "The surface of body %" PetscInt_FMT " is on another rank: SolidFetchSurfaces", body);
    PetscCall(CreateCopy(form->surface, surface));
  } else
    PetscCall(CreateSimple(&solid->bodies[body], edge, surface));
  PetscFunctionReturn(0);
}
