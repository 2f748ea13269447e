/* The bodies as the other rooms see them. */
#include "contact/mesh/mesh_contact.h"
#include "contact/near_points.h"
#include "deformable/points.h"

#include "contact/solve/contact_set.h"

#include <millrace/solid_step.h>

PetscInt solid_body_count(Solid solid)
{
  return solid->body_count - solid->wall_count;
}

PetscBool solid_has_springs(Solid solid)
{
  return solid->points->springs.count > 0 ? PETSC_TRUE : PETSC_FALSE;
}

PetscInt solid_meeting_triangles(Solid solid)
{
  return solid->points->surface ? solid->points->surface->face_count : 0;
}

PetscBool solid_has_near_points(Solid solid)
{
  for (PetscInt m = 0; m < solid->points->mesh_count; m++)
    if (mesh_has_near_points(&solid->points->meshes[m]))
      return PETSC_TRUE;
  return PETSC_FALSE;
}

PetscBool solid_can_yield(Solid solid)
{
  for (PetscInt m = 0; m < solid->points->mesh_count; m++)
    if (solid->points->meshes[m].material->yield_stress > 0.)
      return PETSC_TRUE;
  return PETSC_FALSE;
}

PetscInt solid_mesh_elements(Solid solid, PetscInt mesh)
{
  return solid->points->meshes[mesh].mesh->element_count;
}

BodyView solid_body_view(Solid solid, PetscInt body)
{
  const BodyConfig *config = solid->bodies[body].config;
  const Vector3     count = config->copies.count;

  return (BodyView){.config = config,
                    .copy = count.at[X] * count.at[Y] * count.at[Z] > 1 ? solid->bodies[body].copy : -1,
                    .position = solid->placements[body].position,
                    .velocity = solid->twists[body].linear,
                    .spin = solid->twists[body].angular};
}

void solid_body_bounds(Solid solid, PetscInt body, Vector3 *low, Vector3 *high)
{
  const Bounds bounds = form_bounds(solid->bodies[body].form, &solid->placements[body]);

  *low = bounds.low;
  *high = bounds.high;
}

PetscBool solid_body_holds(Solid solid, PetscInt body, Vector3 point)
{
  Vector3 gradient;

  return form_distance(solid->bodies[body].form, rigid_apply_inverse(&solid->placements[body], point),
                       &gradient) <= 0.
             ? PETSC_TRUE
             : PETSC_FALSE;
}

RigidTransform solid_shape_place(Solid solid, PetscInt body)
{
  const RigidTransform *now = &solid->placements[body],
                       *written = &solid->form_places[solid->bodies[body].config - solid->config->bodies];
  RigidTransform place;

  place.rotation = quaternion_multiply(now->rotation, quaternion_conjugate(written->rotation));
  place.position = vector3_subtract(now->position, quaternion_rotate(place.rotation, written->position));
  return place;
}

PetscErrorCode SolidDescribeFailure(Solid solid, char reason[], size_t size)
{
  const SolidReport *report = &solid->report;

  PetscFunctionBegin;
  if (report->inverted_mesh) {
    const DeformableMesh *mesh = &solid->points->meshes[report->inverted_mesh - 1];
    const Vector3         place = mesh_element_centre(mesh->mesh, report->inverted_element);

    snprintf(reason, size,
             "element %" PetscInt_FMT " of mesh \"%s\", at rest about (%g, %g, %g), is turned inside "
             "out, which the material %s does not survive (neo-hookean, corotational and invertible do)",
             report->inverted_element, mesh->config->name, (double)place.at[X], (double)place.at[Y],
             (double)place.at[Z], MaterialModels[mesh->material->model]);
  } else if (report->meets_body)
    PetscCall(PetscSNPrintf(
        reason, size,
        "a mesh meets a free body, and contact between these in a fluid is not solved for yet"));
  else if (report->is_tangled || report->mesh_crossings)
    PetscCall(
        PetscSNPrintf(reason, size,
                      "meshes that different bodies hold are pressed into each other and could not be kept "
                      "apart: let the bodies leave %s between them",
                      "room for the contact_thickness"));
  else if (report->is_unstable)
    PetscCall(PetscSNPrintf(reason, size, "elements are strained so far that no substep is short enough"));
  else if (report->is_unsolved && !report->newton_iterations)
    PetscCall(PetscSNPrintf(reason, size,
                            "the matrix of meshes in the fluid was not solved with by %s: give "
                            "solids.solver: cholesky, or shorter steps",
                            ElasticSolvers[PetscMax(0, report->elastic_solver - 1)]));
  else if (report->is_unsolved)
    PetscCall(PetscSNPrintf(reason, size,
                            "%s elasticity was not solved in %" PetscInt_FMT
                            " iterations of Newton's method: meshes that nothing holds have no equilibrium; "
                            "else give shorter steps or more iterations (solids.newton)",
                            ElasticTimes[solid->config->elasticity], report->newton_iterations));
  PetscFunctionReturn(0);
}

PetscErrorCode SolidKeep(Solid solid)
{
  const PetscInt numbers = 3 * solid->points->count + TWIST * solid->body_count;

  PetscFunctionBegin;
  if (!solid->kept_velocity)
    PetscCall(PetscMalloc3(solid->body_count, &solid->kept_placements, numbers, &solid->kept_velocity,
                           solid->points->count, &solid->kept_positions));
  PetscCall(PetscArraycpy(solid->kept_placements, solid->placements, solid->body_count));
  PetscCall(PetscArraycpy(solid->kept_velocity, solid->velocity, numbers));
  PetscCall(PetscArraycpy(solid->kept_positions, solid->points->position, solid->points->count));
  solid->kept_substeps = solid->report.substeps;
  PetscCall(PointsKeepHistory(solid->points));
  if (!solid->points->soft.kept)
    PetscCall(PetscMalloc1(SOFT_PLACE * soft_point_numbers(solid->points), &solid->points->soft.kept));
  soft_points_get_places(solid, solid->points->soft.kept);
  PetscFunctionReturn(0);
}

/* The contacts are looked for anew; their impulses remain as a first guess. */
PetscErrorCode SolidReturn(Solid solid)
{
  const PetscInt numbers = 3 * solid->points->count + TWIST * solid->body_count;

  PetscFunctionBegin;
  PetscCheck(solid->kept_velocity, solid->comm, PETSC_ERR_ORDER, "There is no state to return to");
  PetscCall(PetscArraycpy(solid->placements, solid->kept_placements, solid->body_count));
  PetscCall(PetscArraycpy(solid->velocity, solid->kept_velocity, numbers));
  PetscCall(PetscArraycpy(solid->points->position, solid->kept_positions, solid->points->count));
  solid->report.substeps = solid->kept_substeps;
  PetscCall(PointsReturnHistory(solid->points));
  soft_points_set_places(solid, solid->points->soft.kept);
  mesh_surface_forget(solid->points);
  solid->contacts->valid = PETSC_FALSE;
  solid->points->has_forces = PETSC_FALSE;
  solid_show_points(solid);
  solid_refresh_mobilities(solid);
  PetscFunctionReturn(0);
}

/* Not finite numbers fail every comparison. */
static PetscBool is_finite(Vector3 v)
{
  return vector3_norm(v) <= PETSC_MAX_REAL ? PETSC_TRUE : PETSC_FALSE;
}

PetscErrorCode SolidCheck(Solid solid)
{
  const PetscReal drift = 1e-9; /* of a norm; every product is normalised */

  PetscFunctionBegin;
  for (PetscInt p = 0; p < solid->points->count; p++)
    PetscCheck(is_finite(solid->points->position[p]) && is_finite(solid->points->velocity[p]),
               PETSC_COMM_SELF, PETSC_ERR_PLIB, "Point %" PetscInt_FMT " has a state that is not finite", p);
  for (PetscInt b = 0; b < solid->body_count; b++) {
    const Quaternion q = solid->placements[b].rotation;
    const PetscReal  norm = PetscSqrtReal(q.scalar * q.scalar + vector3_dot(q.vector, q.vector));

    PetscCheck(is_finite(solid->placements[b].position) && is_finite(solid->twists[b].linear) &&
                   is_finite(solid->twists[b].angular),
               PETSC_COMM_SELF, PETSC_ERR_PLIB, "Body %" PetscInt_FMT " has a state that is not finite", b);
    PetscCheck(PetscAbsReal(norm - 1.) <= drift, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "The rotation of body %" PetscInt_FMT " has the norm %g", b, (double)norm);
  }
  if (solid->contacts)
    PetscCall(ContactSetCheck(solid->contacts, solid->body_count));
  PetscFunctionReturn(0);
}
