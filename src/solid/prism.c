/* In two dimensions a body is the prism of unit depth over its cross-section at z = 0: its volume, from which
   come mass and inertia, must be that of the prism, which is what the fluid meets. */
#include "solid_impl.h"

#include <millrace/solid_step.h>
#include <millrace/lattice.h>

#include <math.h>

/* What the outlines enclose, or the volume of a shell's walls. */
static PetscReal prism_volume(const Prism *prism, PetscReal thickness)
{
  PetscReal area = 0., length = 0.;

  for (PetscInt v = 0; v < prism->vertex_count; v += 4) { /* four for each piece of an outline */
    const Vector3 from = prism->vertices[v], to = prism->vertices[v + 1];

    area += 0.5 * (from.at[X] * to.at[Y] - from.at[Y] * to.at[X]);
    length += hypot(to.at[X] - from.at[X], to.at[Y] - from.at[Y]);
  }
  return thickness > 0. ? thickness * length : area;
}

static PetscErrorCode MeasurePrism(Solid solid, PetscInt b, PetscReal *volume)
{
  const Form     *form = solid->bodies[b].form;
  const Vector3   nowhere[2] = {{{0, 0, 0}}, {{0, 0, 0}}};
  const PetscReal finest = 0.;
  Surface         surface;
  PetscBool       lasts;
  Triangles       triangles;
  Vector3        *placed;
  Prism           prism;

  PetscFunctionBegin;
  PetscCall(SolidCreateBodySurface(solid, b, finest, nowhere, &surface, &lasts));
  PetscCall(SurfaceGet(surface, &triangles.vertex_count, &triangles.vertices, &triangles.triangle_count,
                       &triangles.triangles));
  PetscCall(PetscMalloc1(triangles.vertex_count, &placed));
  for (PetscInt v = 0; v < triangles.vertex_count; v++)
    placed[v] = rigid_apply(&solid->placements[b], triangles.vertices[v]);
  triangles.vertices = placed;
  PetscCall(TrianglesSlice(&triangles, 0., &prism));
  *volume = prism_volume(&prism, form->thickness);
  PetscCall(PetscFree2(prism.vertices, prism.triangles));
  PetscCall(PetscFree(placed));
  PetscCall(SurfaceDestroy(&surface));
  PetscFunctionReturn(0);
}

PetscErrorCode SolidCheckPrism(Solid solid, PetscInt body, char message[], size_t size)
{
  const PetscReal volume = solid->bodies[body].form->volume;
  PetscReal       found = 0.;

  PetscFunctionBegin;
  PetscCall(MeasurePrism(solid, body, &found));
  if (PetscAbsReal(found - volume) > 1e-6 * volume)
    PetscCall(
        MessageAtKey(message, size, "solids.bodies", solid->bodies[body].config->name,
                     "Body \"%s\" has a volume of %g m^3 and a cross-section at z = 0 of %g m^2: in two "
                     "dimensions a body must be a prism one metre deep, such as a cylinder or a box "
                     "from z = -1/2 to 1/2",
                     solid->bodies[body].config->name, (double)volume, (double)found));
  PetscFunctionReturn(0);
}
