/* Points for contact between the vertices of a surface come and go (2.2, Fig. 2.3): they follow their parents
   only while a body is near, within two spacings and what both go in the step, and else take no time. They
   are always at the same places of the triangles and have no mass: what is near depends on where things are
   alone, and contact is the same as if all were there. */
#include "near_points.h"

Bounds bounds_empty(void)
{
  return (Bounds){{{PETSC_MAX_REAL, PETSC_MAX_REAL, PETSC_MAX_REAL}},
                  {{-PETSC_MAX_REAL, -PETSC_MAX_REAL, -PETSC_MAX_REAL}}};
}

void bounds_include(Bounds *box, Vector3 point)
{
  for (PetscInt d = 0; d < DIM; d++) {
    box->low.at[d] = PetscMin(box->low.at[d], point.at[d]);
    box->high.at[d] = PetscMax(box->high.at[d], point.at[d]);
  }
}

PetscBool boxes_meet(const Bounds *a, const Bounds *b, PetscReal margin)
{
  for (PetscInt d = 0; d < DIM; d++)
    if (a->low.at[d] > b->high.at[d] + margin || b->low.at[d] > a->high.at[d] + margin)
      return PETSC_FALSE;
  return PETSC_TRUE;
}

PetscBool mesh_has_near_points(const DeformableMesh *mesh)
{
  return mesh->face_points && !mesh_is_soft(mesh) ? PETSC_TRUE : PETSC_FALSE;
}

PetscReal near_points_reach(const DeformableMesh *mesh)
{
  return 2. * mesh->config->contact_spacing;
}

void near_points_rest(Points *points, const DeformableMesh *mesh, const SolidMotion *motion)
{
  const PetscInt first = mesh->first + mesh_vertices(mesh);

  for (PetscInt p = first; p < first + mesh->face_points[mesh->face_count]; p++) {
    points->near_count -= points->bindings.rests[p] ? 0 : 1;
    points->bindings.rests[p] = PETSC_TRUE;
    points->position[p] = points->rest[p]; /* of all: a file may have brought others */
    points->velocity[p] = motion->points[p] = vector3(0, 0, 0);
  }
}

/* Where the corners of a face are and go. */
static Bounds face_bounds(const Points *points, const DeformableMesh *mesh, PetscInt face, PetscReal dt,
                          const SolidMotion *motion)
{
  Bounds box = bounds_empty();

  for (PetscInt c = 0; c < 3; c++) {
    const PetscInt p = mesh->first + mesh->faces[face][c];

    bounds_include(&box, points->position[p]);
    bounds_include(&box, vector3_add(points->position[p], vector3_scale(dt, motion->points[p])));
  }
  return box;
}

/* Where it is and goes, if that may lead to the body. */
static void wake_point(Solid solid, const DeformableMesh *mesh, PetscInt p, PetscInt body, PetscReal dt,
                       const SolidMotion *motion)
{
  Points         *points = solid->points;
  const Vector3   place = points_mean(points, p, points->position);
  const Vector3   velocity = points_mean(points, p, motion->points);
  const Vector3   arm = vector3_subtract(place, solid->placements[body].position);
  const PetscReal path = vector3_norm(vector3_subtract(velocity, twist_at(&motion->bodies[body], arm)));
  Vector3         gradient;

  if (form_distance(solid->bodies[body].form, rigid_apply_inverse(&solid->placements[body], place),
                    &gradient) > near_points_reach(mesh) + dt * path)
    return;
  points->bindings.rests[p] = PETSC_FALSE;
  points->position[p] = place;
  points->velocity[p] = points_mean(points, p, points->velocity);
  motion->points[p] = velocity;
  points->near_count++;
}

void near_points_wake(Solid solid, const DeformableMesh *mesh, PetscInt body, PetscReal margin, PetscReal dt,
                      const SolidMotion *motion)
{
  const Bounds   box = form_bounds(solid->bodies[body].form, &solid->placements[body]);
  const PetscInt first = mesh->first + mesh_vertices(mesh);

  for (PetscInt f = 0; f < mesh->face_count; f++) {
    const Bounds face = face_bounds(solid->points, mesh, f, dt, motion);

    for (PetscInt k = mesh->face_points[f]; k < mesh->face_points[f + 1] && boxes_meet(&face, &box, margin);
         k++)
      if (solid->points->bindings.rests[first + k])
        wake_point(solid, mesh, first + k, body, dt, motion);
  }
}
