/* A few bodies, joined or not, without a scene. */
#ifndef MILLRACE_TESTS_SOLID_CASE_H
#define MILLRACE_TESTS_SOLID_CASE_H

#include <millrace/solid.h>

enum { SOLID_CASE_BODIES = 512, SOLID_CASE_MESHES = 8 };

typedef struct {
  SolidConfig config;
  BodyConfig  bodies[SOLID_CASE_BODIES];
  JointConfig joints[SOLID_CASE_BODIES];
  char        names[SOLID_CASE_BODIES][16];

  SolidMaterialConfig materials[SOLID_CASE_MESHES]; /* one for each mesh */
  SolidMeshConfig     meshes[SOLID_CASE_MESHES];
  HoldConfig          holds[SOLID_CASE_MESHES][SOLID_CASE_MESHES];
  LoadConfig          loads[SOLID_CASE_MESHES][SOLID_CASE_MESHES];
  MeshRefineConfig    refinements[SOLID_CASE_MESHES][SOLID_CASE_MESHES];

  BindingConfig bindings[SOLID_CASE_MESHES];

  PetscReal time;
  Solid     solid;
} SolidCase;

/* Empty, gravity downwards along z; aborts the test on trouble, as everything here. */
SolidCase *solid_case_new(PetscReal gravity);
void       solid_case_free(SolidCase *solids);

/* Dynamic with density 1000, no friction, no restitution; takes the shape. */
BodyConfig *solid_case_add(SolidCase *solids, Shape shape);
BodyConfig *solid_case_add_sphere(SolidCase *solids, Vector3 centre, PetscReal radius);
BodyConfig *solid_case_add_box(SolidCase *solids, Vector3 centre, Vector3 half, Vector3 rotation);
BodyConfig *solid_case_add_plane(SolidCase *solids, Vector3 point, Vector3 normal); /* static */
/* `child` to `parent`, or to the world if that is -1. */
JointConfig *solid_case_add_joint(SolidCase *solids, JointKind kind, PetscInt parent, PetscInt child,
                                  Vector3 anchor, Vector3 axis);

/* A box of tetrahedra with a neo-Hookean material of its own: 1e5 Pa, 0.3, 1000 kg/m^3, no damping. */
SolidMaterialConfig *solid_case_add_mesh(SolidCase *solids, Vector3 low, Vector3 high, PetscReal edge);
/* Fixes what of the last mesh lies in a box to a body, or to the world if that is -1. */
void solid_case_hold(SolidCase *solids, Vector3 low, Vector3 high, PetscInt body);
/* A force on the sides of the last mesh that lie in a box. */
void solid_case_load(SolidCase *solids, Vector3 low, Vector3 high, Vector3 force);
/* Halves what of the last mesh lies in a box. */
void solid_case_refine(SolidCase *solids, Vector3 low, Vector3 high);

/* Softly, all vertices of mesh `from` in a box to mesh `to`. */
BindingConfig *solid_case_bind(SolidCase *solids, PetscInt from, Vector3 low, Vector3 high, PetscInt to);

/* After the last addition. */
void solid_case_start(SolidCase *solids);
/* Asserts that it cannot be started, for a reason with these words, and frees it. */
void solid_case_refuse(SolidCase *solids, const char words[]);
void solid_case_run(SolidCase *solids, PetscReal dt, PetscInt steps);

Vector3    solid_case_position(SolidCase *solids, PetscInt body);
Vector3    solid_case_velocity(SolidCase *solids, PetscInt body);
Vector3    solid_case_spin(SolidCase *solids, PetscInt body);
Quaternion solid_case_rotation(SolidCase *solids, PetscInt body);
Vector3    points_mean_velocity(Solid solid); /* of all its points, by mass */

#endif
