/* Solids that keep their volume: one-ring volumes, momenta, energy, contact, refusals. */
#include "harness.h"
#include "scene_run.h"
#include "solid_case.h"

#include "solid/deformable/points.h"

/* The largest change of a one-ring volume, in parts of it. */
static PetscReal volume_error(Solid solid)
{
  const Points         *points = solid->points;
  const DeformableMesh *mesh = &points->meshes[0];
  PetscReal             largest = 0;
  PetscReal            *volumes;

  assert_success(PetscCalloc1(2 * points->count, &volumes));
  for (PetscInt e = 0; e < mesh->mesh->element_count; e++)
    for (PetscInt now = 0; now < 2; now++) {
      const PetscInt *c = &mesh->elements[4 * e];
      const Vector3  *x = now ? points->position : points->rest;
      const Vector3   a = vector3_subtract(x[c[1]], x[c[0]]), b = vector3_subtract(x[c[2]], x[c[0]]);
      const PetscReal six = vector3_dot(vector3_cross(a, b), vector3_subtract(x[c[3]], x[c[0]]));

      for (PetscInt k = 0; k < 4; k++)
        volumes[2 * c[k] + now] += six;
    }
  for (PetscInt p = 0; p < mesh->mesh->vertex_count; p++)
    largest = PetscMax(largest, PetscAbsReal(volumes[2 * p + 1] / volumes[2 * p] - 1));
  assert_success(PetscFree(volumes));
  return largest;
}

/* A bar that turns, flies and is being stretched. */
static SolidCase *new_bar(SolidVolume volume)
{
  SolidCase           *solids = solid_case_new(0);
  SolidMaterialConfig *material =
      solid_case_add_mesh(solids, vector3(-0.3, -0.1, -0.1), vector3(0.3, 0.1, 0.1), 0.1);

  material->volume = volume;
  solids->meshes[0].velocity = vector3(1, 2, 3);
  solids->meshes[0].spin = vector3(2, 1, 4);
  return solids;
}

static void stretch(Solid solid)
{
  for (PetscInt p = 0; p < solid->points->count; p++)
    solid->points->velocity[p].at[X] += 3 * solid->points->rest[p].at[X];
}

static PetscReal part_of(Vector3 now, Vector3 then)
{
  return vector3_norm(vector3_subtract(now, then)) / vector3_norm(then);
}

/* The stretch is 20 % and more; a bar that does not keep its volume shows that the case asks for something.
 */
static void a_bar_in_flight_keeps_volumes_and_momenta(void **state)
{
  (void)state;
  for (PetscInt kept = 0; kept < 2; kept++) {
    SolidCase  *solids = new_bar(kept ? SOLID_VOLUME_KEPT : SOLID_VOLUME_FREE);
    SolidReport before, after;
    PetscReal   most = 0, energy = 0;

    solid_case_start(solids);
    stretch(solids->solid);
    before = solid_report(solids->solid);
    for (PetscInt k = 0; k < 20; k++) {
      solid_case_run(solids, 0.01, 1);
      most = PetscMax(most, volume_error(solids->solid));
      after = solid_report(solids->solid);
      if (!k)
        energy = after.kinetic_energy + after.elastic_energy;
      assert_near((after.kinetic_energy + after.elastic_energy) / energy, 1, 0.01);
    }
    note("volume %s: changes by %g at most", SolidVolumes[kept], (double)most);
    assert_true(kept ? most < 1e-5 : most > 0.03);
    assert_near(part_of(after.momentum, before.momentum), 0, 1e-12);
    assert_near(part_of(after.angular_momentum, before.angular_momentum), 0, 1e-12);
    solid_case_free(solids);
  }
}

/* A heavy box on a soft block without Poisson's ratio, at rest in the end. */
static void a_block_under_a_weight_bulges(void **state)
{
  (void)state;
  for (PetscInt kept = 0; kept < 2; kept++) {
    SolidCase           *solids = solid_case_new(9.81);
    SolidMaterialConfig *material;
    PetscReal            ratio;

    solid_case_add_plane(solids, vector3(0, 0, 0), vector3(0, 0, 1));
    solid_case_add_box(solids, vector3(0, 0, 0.2501), vector3(0.1, 0.1, 0.05), vector3(0, 0, 0));
    material = solid_case_add_mesh(solids, vector3(-0.1, -0.1, 0), vector3(0.1, 0.1, 0.2), 0.0667);
    material->young = 1e4;
    material->poisson = 0;
    material->density = 200;
    material->damping = 2e-2;
    material->volume = kept ? SOLID_VOLUME_KEPT : SOLID_VOLUME_FREE;
    solids->meshes[0].friction = 0;
    solid_case_start(solids);
    solid_case_run(solids, 0.05, 40);
    ratio = solid_report(solids->solid).least_ratio;
    note("volume %s: the smallest det F is %g, the largest change %g, the speed %g m/s", SolidVolumes[kept],
         (double)ratio, (double)volume_error(solids->solid),
         (double)solid_report(solids->solid).largest_speed);
    assert_true(kept ? volume_error(solids->solid) < 0.01 : volume_error(solids->solid) > 0.05);
    assert_true(solid_report(solids->solid).largest_speed < 0.05);
    solid_case_free(solids);
  }
}

static void what_cannot_keep_its_volume_is_refused(void **state)
{
  SolidCase *solids = new_bar(SOLID_VOLUME_KEPT);

  (void)state;
  solids->config.elasticity = ELASTIC_NEWMARK;
  solid_case_refuse(solids, "solids.elasticity: explicit");
  solids = new_bar(SOLID_VOLUME_KEPT);
  solids->meshes[0].mesh.order = 2;
  solid_case_refuse(solids, "order: 1");
}

TEST_MAIN(cmocka_unit_test(a_bar_in_flight_keeps_volumes_and_momenta),
          cmocka_unit_test(a_block_under_a_weight_bulges),
          cmocka_unit_test(what_cannot_keep_its_volume_is_refused))
