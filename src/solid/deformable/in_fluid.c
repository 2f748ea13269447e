/* Deformable solids in a fluid: the parts of a step between which the fluid acts, and C of (5.13). With the
   words of newmark.c

     S1   M u* = M v^n + dt/2 (f^n + M g),                       u from u* by (5.13) over dt/2, x^{n+1} = x^n
   + dt u S2   M v* = M v^n + dt/2 (f^n + f^{n+1}) + dt M g,          v^{n+1} from v* by (5.13) over dt

   Elasticity is explicit and there is no damping, so that C is diagonal: masses of points, and of the fluid
   that moves with the surface. Damping in u* and v* would not do: it would act against the elastic forces
   that pressure is about to balance, and solids would be too soft. Points that are held stand still. Every
   point is an unknown and a place of the surface; interior ones feel no force there. */
#include "../contact/point_contact.h"
#include "../step.h"

#include <millrace/solid_step.h>

struct PointsInFluid {
  SolidOperator motion;
  SolidPatch   *surfaces; /* of the meshes */
  PetscInt     *unknown;  /* of every point */
  PetscReal    *right_side, *inverse;
};

static PetscErrorCode Copy(void *context, const PetscReal from[], PetscReal to[])
{
  const Points *points = ((Solid)context)->points;

  PetscFunctionBegin;
  PetscCall(PetscArraycpy(to, from, 3 * points->count));
  PetscFunctionReturn(0);
}

static PetscErrorCode Prepare(void *context, const PetscReal added[])
{
  const Points *points = ((Solid)context)->points;

  PetscFunctionBegin;
  for (PetscInt n = 0; n < 3 * points->count; n++)
    points->in_fluid->inverse[n] =
        points->inverse_mass[n / 3] > 0. ? 1. / (points->mass[n / 3] + added[n]) : 0.;
  PetscFunctionReturn(0);
}

static PetscErrorCode Divide(void *context, const PetscReal from[], PetscReal to[])
{
  const Points *points = ((Solid)context)->points;

  PetscFunctionBegin;
  for (PetscInt n = 0; n < 3 * points->count; n++)
    to[n] = points->in_fluid->inverse[n] * from[n];
  PetscFunctionReturn(0);
}

static PetscErrorCode Create(Solid solid)
{
  Points               *points = solid->points;
  struct PointsInFluid *fluid;

  PetscFunctionBegin;
  PetscCall(PetscNew(&points->in_fluid));
  fluid = points->in_fluid;
  PetscCall(PetscCalloc4(points->mesh_count, &fluid->surfaces, points->count, &fluid->unknown,
                         3 * points->count, &fluid->right_side, 3 * points->count, &fluid->inverse));
  for (PetscInt p = 0; p < points->count; p++)
    fluid->unknown[p] = 3 * p;
  fluid->motion = (SolidOperator){.unknown_count = 3 * points->count,
                                  .surface_count = 3 * points->count,
                                  .context = solid,
                                  .Spread = Copy,
                                  .Collect = Copy,
                                  .Prepare = Prepare,
                                  .Solve = Divide,
                                  .right_side = fluid->right_side,
                                  .velocity = (PetscReal *)points->velocity};
  PetscFunctionReturn(0);
}

PetscErrorCode PointsInFluidDestroy(Points *points)
{
  PetscFunctionBegin;
  if (points->in_fluid)
    PetscCall(PetscFree4(points->in_fluid->surfaces, points->in_fluid->unknown, points->in_fluid->right_side,
                         points->in_fluid->inverse));
  PetscCall(PetscFree(points->in_fluid));
  PetscFunctionReturn(0);
}

PetscInt solid_deforming_count(Solid solid)
{
  return solid->points->mesh_count;
}

/* Volume and centre from the tetrahedra between the origin and its triangles. */
static void measure(SolidPatch *surface)
{
  Vector3   sum = {{0., 0., 0.}};
  PetscReal volume = 0.;

  for (PetscInt t = 0; t < surface->triangle_count; t++) {
    const PetscInt *corners = surface->triangles[t];
    const Vector3   a = vector3_subtract(surface->now[corners[0]], surface->now[0]),
                  b = vector3_subtract(surface->now[corners[1]], surface->now[0]),
                  c = vector3_subtract(surface->now[corners[2]], surface->now[0]);
    const PetscReal part = vector3_dot(a, vector3_cross(b, c)) / 6.;

    volume += part;
    sum = vector3_add(sum, vector3_scale(0.25 * part, vector3_add(a, vector3_add(b, c))));
  }
  surface->volume = volume;
  surface->centre = vector3_add(surface->now[0], vector3_scale(1. / volume, sum));
}

PetscErrorCode SolidGetDeforming(Solid solid, const SolidPatch **surfaces, const SolidOperator **motion)
{
  Points        *points = solid->points;
  const Vector3 *before = solid->kept_positions ? solid->kept_positions : points->position;

  PetscFunctionBegin;
  if (!points->in_fluid)
    PetscCall(Create(solid));
  for (PetscInt m = 0; m < points->mesh_count; m++) {
    const DeformableMesh *mesh = &points->meshes[m];
    SolidPatch           *surface = &points->in_fluid->surfaces[m];

    *surface = (SolidPatch){.surface = m,
                            .is_closed = PETSC_TRUE,
                            .slips = PETSC_TRUE,
                            .vertex_count = mesh->mesh->vertex_count,
                            .triangle_count = mesh->face_count,
                            .before = before + mesh->first,
                            .now = points->position + mesh->first,
                            .velocity = points->velocity + mesh->first,
                            .triangles = (const PetscInt(*)[3])mesh->faces,
                            .unknown = points->in_fluid->unknown + mesh->first};
    measure(surface);
  }
  *surfaces = points->in_fluid->surfaces;
  *motion = &points->in_fluid->motion;
  PetscFunctionReturn(0);
}

/* (5.13) goes on from these velocities. */
static void begin_solve(Solid solid, Vector3 velocity[])
{
  const Points *points = solid->points;

  for (PetscInt n = 0; n < 3 * points->count; n++)
    points->in_fluid->right_side[n] = points->mass[n / 3] * velocity[n / 3].at[n % 3];
  points->in_fluid->motion.velocity = (PetscReal *)velocity;
}

PetscErrorCode SolidPredictPoints(Solid solid, PetscReal time, PetscReal dt)
{
  PetscFunctionBegin;
  points_set_time(solid, time);
  PetscCall(PointsPredict(solid, time, dt, solid->step->half));
  begin_solve(solid, solid->points->half.points);
  PetscFunctionReturn(0);
}

PetscErrorCode SolidMovePoints(Solid solid, PetscReal time, PetscReal dt)
{
  PetscFunctionBegin;
  points_move(solid, dt);
  points_set_time(solid, time + dt);
  point_contacts_update(solid);
  solid->report.meets_wall = PETSC_FALSE;
  for (PetscInt c = 0; c < solid->points->contact_count; c++)
    if (solid->points->contacts[c].gap < 0.)
      solid->report.meets_wall = PETSC_TRUE;
  PetscFunctionReturn(0);
}

PetscErrorCode SolidAcceleratePoints(Solid solid, PetscReal dt)
{
  PetscFunctionBegin;
  PetscCall(PointsAccelerate(solid, dt, solid->twists));
  solid_find_inverted(solid);
  begin_solve(solid, solid->points->velocity);
  PetscFunctionReturn(0);
}

PetscErrorCode SolidAccelerateRestingPoints(Solid solid, PetscReal time, PetscReal dt)
{
  Points       *points = solid->points;
  SolidMotion   motion = {points->velocity, solid->twists};
  const Vector3 fall = vector3_scale(dt, solid->config->gravity);

  PetscFunctionBegin;
  points_set_time(solid, time);
  points_find_forces(solid);
  points_accelerate(solid, dt, &points->forces, &motion);
  for (PetscInt p = 0; p < points->count; p++)
    if (points->inverse_mass[p] > 0.)
      points->velocity[p] = vector3_add(points->velocity[p], fall);
  begin_solve(solid, points->velocity);
  PetscFunctionReturn(0);
}

void points_show_state(Points *points)
{
  if (points->in_fluid)
    points->in_fluid->motion.velocity = (PetscReal *)points->velocity;
}

PetscReal solid_points_mass(Solid solid)
{
  PetscReal sum = 0.;

  for (PetscInt p = 0; p < solid->points->count; p++)
    sum += solid->points->mass[p];
  return sum;
}

/* From rest the step is bounded by the fall. */
PetscReal solid_points_step(Solid solid, PetscReal path)
{
  const Points   *points = solid->points;
  const PetscReal fall = vector3_norm(solid->config->gravity);
  PetscReal       fastest = 0.;

  for (PetscInt p = 0; p < points->count; p++)
    fastest = PetscMax(fastest, vector3_norm(points->velocity[p]));
  return PetscMin(points_longest_step(solid),
                  2. * path / (fastest + PetscSqrtReal(fastest * fastest + 4. * fall * path) + 1e-300));
}
