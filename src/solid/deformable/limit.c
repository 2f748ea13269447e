/* The longest steps of explicit elasticity: of 2 / w with the largest frequency w of K y = w^2 M y, at rest
   and stiffened as elements are where they are. */
#include "distribution.h"

/* What is left is for stiffening within the steps for which the limit holds; and what keeps the energy of a
   solid that nothing damps, which strays by the square of the step, within a hundredth. */
static const PetscReal stable_part = 0.9, undamped_part = 0.3;

/* Nothing that a mode could be orthogonal to. */
static void start_search(const DeformableMesh *mesh, Vector3 forces[])
{
  for (PetscInt v = 0; v < mesh->mesh->vertex_count; v++)
    for (PetscInt d = 0; d < DIM; d++)
      forces[mesh->first + v].at[d] = ((v * 7 + d * 3) % 11 - 5.) + 0.3 * ((v * 5 + d) % 7);
}

/* Power iterations come from below: the margin covers what they leave. Meshes that are hard bound to each
   other have common masses and one largest frequency. */
PetscErrorCode MeshFindFrequency(Solid solid, const DeformableMesh *mesh, PetscReal *frequency)
{
  enum { ITERATIONS = 60 };
  const PetscReal margin = 1.05;
  Points         *points = solid->points;
  SolidMotion    *motion = &points->trial, *forces = &points->residual;
  PetscReal       square = 0.;

  PetscFunctionBegin;
  *frequency = 0.;
  motion_clear(solid, forces);
  for (PetscInt m = 0; m < points->mesh_count; m++)
    if (points->meshes[m].group == mesh->group)
      start_search(&points->meshes[m], forces->points);
  for (PetscInt k = 0; k < ITERATIONS; k++) {
    PetscReal size;

    motion_yield(solid, forces, motion);
    PetscCall(MotionProduct(solid, forces, motion, &size));
    if (!(size > 0.))
      PetscFunctionReturn(0);
    motion_combine(solid, 0., 1. / PetscSqrtReal(size), motion, motion);
    PetscCall(PointsExchange(solid, motion->points));
    points_follow_parents(points, motion->points);
    motion_clear(solid, forces);
    for (PetscInt m = 0; m < points->mesh_count; m++) {
      const DeformableMesh *other = &points->meshes[m];

      for (PetscInt n = 0; n < other->force_count && other->group == mesh->group; n++)
        other->forces[n].kind->add_stiffness(other->forces[n].data, DIFFERENTIAL_AT_REST, motion->points,
                                             forces->points);
    }
    PetscCall(PointsCollect(solid, forces));
    PetscCall(MotionProduct(solid, forces, motion, &square));
  }
  *frequency = margin * PetscSqrtReal(PetscMax(-square, 0.));
  PetscFunctionReturn(0);
}

/* Of the elements here. */
static void find_stiffening(Solid solid)
{
  const Points *points = solid->points;

  points_find_forces(solid);
  for (PetscInt m = 0; m < points->mesh_count; m++)
    for (PetscInt k = 0; k < points->meshes[m].force_count; k++) {
      const Force *force = &points->meshes[m].forces[k];

      points->stiffening[MESH_MOST_FORCES * m + k] = force->kind->stiffening(force->data);
    }
}

/* In parts of 2 / w, of what is damped and of what is not. Meshes on one body add up. */
static PetscReal find_step(Solid solid, PetscReal damped, PetscReal undamped)
{
  const Points *points = solid->points;
  PetscReal     largest = 0., shared = 0.;

  for (PetscInt m = 0; m < points->mesh_count; m++) {
    const DeformableMesh *mesh = &points->meshes[m];
    PetscReal             square, stiffer = 1.;

    for (PetscInt k = 0; k < mesh->force_count; k++)
      stiffer += PetscMax(0., points->stiffening[MESH_MOST_FORCES * m + k] - 1.);
    square =
        stiffer * PetscSqr(mesh->frequency / (material_damping(mesh->material) > 0. ? damped : undamped));
    largest = PetscMax(largest, square);
    shared += mesh->is_shared ? square : 0.;
  }
  largest = PetscMax(largest, shared);
  return largest > 0. ? 2. / PetscSqrtReal(largest) : PETSC_MAX_REAL;
}

PetscReal points_longest_step(Solid solid)
{
  find_stiffening(solid);
  return find_step(solid, stable_part, stable_part);
}

PetscReal points_usual_step(Solid solid)
{
  find_stiffening(solid);
  return find_step(solid, stable_part, undamped_part);
}

PetscErrorCode PointsFindUsualStep(Solid solid, PetscReal *dt)
{
  const Points *points = solid->points;

  PetscFunctionBegin;
  PetscCall(PointsFindForces(solid));
  find_stiffening(solid);
  PetscCall(PointsLargest(solid, MESH_MOST_FORCES * points->mesh_count, points->stiffening));
  *dt = find_step(solid, stable_part, undamped_part);
  PetscFunctionReturn(0);
}
