#include "solid_case.h"

#include "harness.h"
#include "solid/deformable/points.h"
#include "solid/solid_impl.h"

SolidCase *solid_case_new(PetscReal gravity)
{
  SolidCase *solids;

  assert_success(PetscNew(&solids));
  solids->config = (SolidConfig){.gravity = vector3(0, 0, -gravity),
                                 .cfl = 0.5,
                                 .iterations = 6,
                                 .newton = 50,
                                 .tolerance = 1e-4,
                                 .bodies = solids->bodies,
                                 .joints = solids->joints,
                                 .materials = solids->materials,
                                 .meshes = solids->meshes,
                                 .bindings = solids->bindings};
  return solids;
}

void solid_case_free(SolidCase *solids)
{
  assert_success(SolidDestroy(&solids->solid));
  for (PetscInt b = 0; b < solids->config.body_count; b++) {
    assert_success(ShapeDestroy(&solids->bodies[b].shape));
    assert_success(MotionDestroy(&solids->bodies[b].motion));
  }
  for (PetscInt j = 0; j < solids->config.joint_count; j++)
    assert_success(FormulaDestroy(&solids->joints[j].target));
  for (PetscInt m = 0; m < solids->config.mesh_count; m++) {
    assert_success(ShapeDestroy(&solids->meshes[m].mesh.shape));
    for (PetscInt h = 0; h < solids->meshes[m].held_count; h++)
      assert_success(ShapeDestroy(&solids->holds[m][h].inside));
    for (PetscInt k = 0; k < solids->meshes[m].load_count; k++)
      assert_success(ShapeDestroy(&solids->loads[m][k].inside));
    for (PetscInt r = 0; r < solids->meshes[m].mesh.refine_count; r++)
      assert_success(ShapeDestroy(&solids->refinements[m][r].inside));
  }
  for (PetscInt b = 0; b < solids->config.binding_count; b++)
    assert_success(ShapeDestroy(&solids->bindings[b].inside));
  assert_success(PetscFree(solids));
}

BodyConfig *solid_case_add(SolidCase *solids, Shape shape)
{
  const PetscInt b = solids->config.body_count++;

  assert_true(b < SOLID_CASE_BODIES);
  assert_success(PetscSNPrintf(solids->names[b], sizeof(solids->names[b]), "body%" PetscInt_FMT, b));
  solids->bodies[b] = (BodyConfig){
      .name = solids->names[b], .shape = shape, .density = 1000, .copies = {.count = vector3(1, 1, 1)}};
  return &solids->bodies[b];
}

BodyConfig *solid_case_add_sphere(SolidCase *solids, Vector3 centre, PetscReal radius)
{
  Shape shape;

  assert_success(ShapeCreateSphere(centre, radius, &shape));
  return solid_case_add(solids, shape);
}

BodyConfig *solid_case_add_box(SolidCase *solids, Vector3 centre, Vector3 half, Vector3 rotation)
{
  Shape box, placed;

  assert_success(ShapeCreateBox(vector3_scale(-1, half), half, &box));
  assert_success(ShapeCreatePlaced(&box, 1, rotation, centre, &placed));
  return solid_case_add(solids, placed);
}

BodyConfig *solid_case_add_plane(SolidCase *solids, Vector3 point, Vector3 normal)
{
  Shape       shape;
  BodyConfig *body;

  assert_success(ShapeCreatePlane(point, normal, &shape));
  body = solid_case_add(solids, shape);
  body->kind = BODY_STATIC;
  return body;
}

JointConfig *solid_case_add_joint(SolidCase *solids, JointKind kind, PetscInt parent, PetscInt child,
                                  Vector3 anchor, Vector3 axis)
{
  const PetscInt j = solids->config.joint_count++;

  assert_true(j < SOLID_CASE_BODIES);
  solids->joints[j] = (JointConfig){.name = "joint",
                                    .kind = kind,
                                    .parent = parent < 0 ? "" : solids->names[parent],
                                    .child = solids->names[child],
                                    .anchor = anchor,
                                    .axis = axis,
                                    .lower = -PETSC_INFINITY,
                                    .upper = PETSC_INFINITY,
                                    .swing = PETSC_INFINITY};
  return &solids->joints[j];
}

SolidMaterialConfig *solid_case_add_mesh(SolidCase *solids, Vector3 low, Vector3 high, PetscReal edge)
{
  static char *const names[SOLID_CASE_MESHES] = {"m0", "m1", "m2", "m3", "m4", "m5", "m6", "m7"};
  const PetscInt     m = solids->config.mesh_count++;

  assert_true(m < SOLID_CASE_MESHES);
  solids->config.material_count++;
  solids->materials[m] =
      (SolidMaterialConfig){.name = names[m], .young = 1e5, .poisson = 0.3, .density = 1000};
  solids->meshes[m] = (SolidMeshConfig){.name = names[m],
                                        .material = names[m],
                                        .mesh = {.edge = edge, .order = 1, .refine = solids->refinements[m]},
                                        .held = solids->holds[m],
                                        .loads = solids->loads[m]};
  assert_success(ShapeCreateBox(low, high, &solids->meshes[m].mesh.shape));
  return &solids->materials[m];
}

void solid_case_hold(SolidCase *solids, Vector3 low, Vector3 high, PetscInt body)
{
  const PetscInt m = solids->config.mesh_count - 1, h = solids->meshes[m].held_count++;

  assert_true(h < SOLID_CASE_MESHES);
  solids->holds[m][h].to = body < 0 ? "" : solids->names[body];
  assert_success(ShapeCreateBox(low, high, &solids->holds[m][h].inside));
}

void solid_case_load(SolidCase *solids, Vector3 low, Vector3 high, Vector3 force)
{
  const PetscInt m = solids->config.mesh_count - 1, k = solids->meshes[m].load_count++;

  assert_true(k < SOLID_CASE_MESHES);
  solids->loads[m][k].force = force;
  assert_success(ShapeCreateBox(low, high, &solids->loads[m][k].inside));
}

void solid_case_refine(SolidCase *solids, Vector3 low, Vector3 high)
{
  const PetscInt m = solids->config.mesh_count - 1, r = solids->meshes[m].mesh.refine_count++;

  assert_true(r < SOLID_CASE_MESHES);
  solids->refinements[m][r].levels = 1;
  assert_success(ShapeCreateBox(low, high, &solids->refinements[m][r].inside));
}

BindingConfig *solid_case_bind(SolidCase *solids, PetscInt from, Vector3 low, Vector3 high, PetscInt to)
{
  static char *const names[SOLID_CASE_MESHES] = {"b0", "b1", "b2", "b3", "b4", "b5", "b6", "b7"};
  const PetscInt     b = solids->config.binding_count++;

  assert_true(b < SOLID_CASE_MESHES);
  solids->bindings[b] = (BindingConfig){.name = names[b],
                                        .from = solids->meshes[from].name,
                                        .to = solids->meshes[to].name,
                                        .stiffness = 1e6,
                                        .damping = 1};
  assert_success(ShapeCreateBox(low, high, &solids->bindings[b].inside));
  return &solids->bindings[b];
}

void solid_case_start(SolidCase *solids)
{
  char message[1024];

  assert_success(SolidCreate(PETSC_COMM_WORLD, &solids->config, &solids->solid, message, sizeof(message)));
  if (message[0])
    print_error("%s\n", message);
  assert_non_null(solids->solid);
}

void solid_case_run(SolidCase *solids, PetscReal dt, PetscInt steps)
{
  for (PetscInt k = 0; k < steps; k++) {
    assert_success(SolidStep(solids->solid, solids->time, dt));
    solids->time += dt;
  }
}

Vector3 solid_case_position(SolidCase *solids, PetscInt body)
{
  return solids->solid->placements[body].position;
}

Vector3 solid_case_velocity(SolidCase *solids, PetscInt body)
{
  return solids->solid->twists[body].linear;
}

Vector3 solid_case_spin(SolidCase *solids, PetscInt body)
{
  return solids->solid->twists[body].angular;
}

Quaternion solid_case_rotation(SolidCase *solids, PetscInt body)
{
  return solids->solid->placements[body].rotation;
}

void solid_case_refuse(SolidCase *solids, const char words[])
{
  char message[1024];

  assert_success(SolidCreate(PETSC_COMM_WORLD, &solids->config, &solids->solid, message, sizeof(message)));
  assert_null(solids->solid);
  assert_non_null(strstr(message, words));
  solid_case_free(solids);
}

Vector3 points_mean_velocity(Solid solid)
{
  Vector3   sum = vector3(0, 0, 0);
  PetscReal mass = 0;

  for (PetscInt p = 0; p < solid->points->count; p++) {
    sum = vector3_add(sum, vector3_scale(solid->points->mass[p], solid->points->velocity[p]));
    mass += solid->points->mass[p];
  }
  return vector3_scale(1 / mass, sum);
}
