/* Private to src/solid: the state that all its parts work on. */
#ifndef MILLRACE_SOLID_IMPL_H
#define MILLRACE_SOLID_IMPL_H

#include <millrace/solid.h>

#include "rigid/form.h"

/* deformable/fluid_bones.c: a free body in flesh, which a fluid does not meet. */
PetscBool solid_is_bone(Solid solid, PetscInt body);

/* The resistance of a body to impulses, in the world's axes; zero for what is not dynamic. */
typedef struct {
  PetscReal inverse_mass;
  Matrix3   inverse_inertia;
} Mobility;

typedef struct {
  const BodyConfig *config; /* borrowed */
  PetscInt          copy;   /* which one of the configuration's copies */
  const Form       *form;   /* borrowed: shared by the copies */
  PetscReal         mass;
  Vector3           inertia; /* about the principal axes, which are those of the body's frame */
  RigidTransform    rest;    /* at time zero */
} Body;

struct _p_Solid {
  MPI_Comm           comm;   /* borrowed */
  const SolidConfig *config; /* borrowed */

  PetscInt   body_count; /* with the walls, which are the last */
  PetscInt   wall_count; /* with the barriers, which are the last of them */
  BodyConfig walls[2 * DIM];
  PetscReal *velocity; /* 3 per point, then a Twist per body */
  Twist     *twists;   /* the bodies' part of `velocity` */

  struct Points *points; /* of what is not rigid; deformable/points.h */

  Form              **forms;       /* owned; one per entry of the configuration, then of the walls */
  RigidTransform     *form_places; /* where they stand in the world as they are written */
  struct FormOutline *outlines;    /* owned; null unless ranks share them, see shared_forms.c */
  MPI_Comm            readers;     /* borrowed; of the ranks with fluid, that fetch surfaces */
  Body               *bodies;
  RigidTransform     *placements;
  Mobility           *mobilities; /* at `placements` */

  RigidTransform *kept_placements; /* this and what follows: of SolidKeep, null before it */
  PetscReal      *kept_velocity;
  Vector3        *kept_positions; /* of points */
  PetscInt        kept_substeps;  /* of the step before, which a step is divided like */

  struct ContactSet *contacts;
  struct JointSet   *joints;
  struct Step       *step;   /* workspace */
  SolidReport        report; /* of the last step; solid_report() adds the state's */
};

/* What an impulse `j` at `arm` from the centre of mass does to the body's velocity. */
static inline void twist_push(Twist *twist, const Mobility *mobility, Vector3 arm, Vector3 j)
{
  const Vector3 turned = matrix3_apply(&mobility->inverse_inertia, vector3_cross(arm, j));

  twist->linear = vector3_add(twist->linear, vector3_scale(mobility->inverse_mass, j));
  twist->angular = vector3_add(twist->angular, turned);
}

/* rigid/body.c */
PetscBool      body_is_free(const Body *body);
Mobility       body_mobility(const Body *body, const RigidTransform *placement);
Vector3        body_angular_momentum(const Body *body, const RigidTransform *placement, Vector3 spin);
Vector3        body_spin(const Body *body, const RigidTransform *placement, Vector3 angular_momentum);
RigidTransform body_moved(const Body *body, const RigidTransform *from, const Twist *twist,
                          PetscReal dt); /* 3.4.1 */
/* rigid/body_load.c: force and torque that the scene gives it, in the world's axes. */
typedef struct {
  Vector3 force, torque; /* N at the centre of mass, N m */
} BodyLoad;
BodyLoad  body_load(const Body *body, const RigidTransform *placement, PetscReal time);
BodyLoad  body_load_mean(const BodyLoad *a, const BodyLoad *b);
PetscBool body_load_is_constant(const Body *body); /* and in the world's axes */
/* Of a kinematic body: where it is and how it moves at a time. */
RigidTransform body_prescribed(const Body *body, PetscReal time);
Twist          body_prescribed_twist(const Body *body, PetscReal time);

/* prism.c: why a body is not what two dimensions make of it; left alone if it is. */
PetscErrorCode SolidCheckPrism(Solid solid, PetscInt body, char message[], size_t size);

/* wall_planes.c: what the sides of the box are as bodies, and where they stand. */
void                    solid_name_walls(Solid solid);
PetscErrorCode          SolidPlaceWalls(Solid solid);
static inline PetscBool is_wall(Solid solid, PetscInt body)
{
  return body >= solid->body_count - solid->wall_count ? PETSC_TRUE : PETSC_FALSE;
}
static inline PetscBool is_barrier(Solid solid, PetscInt body)
{
  return body >= solid->body_count - solid->config->barrier_count ? PETSC_TRUE : PETSC_FALSE;
}

/* body_set.c: the bodies of the configuration with all copies, at rest. */
/* Of the assembly that a body belongs to; -1: none. */
PetscInt solid_assembly(const SolidConfig *config, const BodyConfig *body);
/* Takes the assembly as it is written to where one of its copies stands. */
RigidTransform assembly_copy(const SolidConfig *config, PetscInt assembly, PetscInt copy);
PetscErrorCode SolidCreateBodies(Solid solid, char message[], size_t size);
PetscErrorCode SolidDestroyBodies(Solid solid);
/* The body of a name such as "link" or "link.3"; -1: there is none. */
PetscInt solid_find_body(Solid solid, const char name[]);
void     solid_refresh_mobility(Solid solid, PetscInt b); /* of a free body */
void     solid_refresh_mobilities(Solid solid);
/* Kinetic energy of a body where it is, if it had these velocities; zero for what is not free. */
PetscReal solid_body_energy(Solid solid, PetscInt body, const Twist *twist);

#endif
