/* Solids: rigid bodies that fall, collide, rub, stack and hang together by joints, and deformable ones of
   tetrahedra.

   All ranks that know the solids hold the whole state; the solid team advances it and the others copy. */
#ifndef MILLRACE_SOLID_H
#define MILLRACE_SOLID_H

#include <millrace/api.h>
#include <millrace/base.h>
#include <millrace/geometry.h>
#include <millrace/io.h>
#include <millrace/mesh_config.h>
#include <millrace/motion.h>
#include <millrace/parallel.h>
#include <millrace/schema.h>

MILLRACE_API_BEGIN

typedef enum { BODY_DYNAMIC, BODY_STATIC, BODY_KINEMATIC } BodyKind;
extern const char *const BodyKinds[];
typedef enum { BODY_NO_SLIP, BODY_SLIP } BodySurface; /* for a fluid along it */
extern const char *const BodySurfaces[];
/* Copies of a body on a lattice; they share its geometry. */
typedef struct {
  Vector3   count, step; /* whole numbers; m between neighbours */
  PetscReal shift;       /* m, largest random offset along each axis */
  PetscReal turn;        /* rad, largest random rotation about a random axis */
  PetscInt  seed;
} CopiesConfig;

/* Bodies, and the joints between them, that are copied as a whole. */
typedef struct {
  char        *name;
  Vector3      pivot; /* m: copies are turned about it, at time zero */
  CopiesConfig copies;
} AssemblyConfig;

typedef enum { LOAD_AXES_WORLD, LOAD_AXES_BODY } LoadAxes;
extern const char *const LoadAxesNames[];

typedef struct {
  char       *name;
  char       *assembly; /* that it belongs to, whose copies it takes; null or "": none */
  BodyKind    kind;
  Shape       shape; /* where it is at time zero */
  BodySurface surface;
  PetscInt    contour; /* of a scene, where shapes without triangles get some: cells along the longest side */
  PetscReal   thickness; /* m; > 0: a shell of that thickness, its surface in the middle, open or closed */
  char       *material;  /* only while a scene is read */
  PetscReal   density;   /* kg/m^3 */
  PetscReal   mass;      /* kg; > 0: instead of the density */
  Vector3     velocity;  /* m/s, of the centre of mass at time zero */
  Vector3     spin;      /* rad/s */
  Formula   force[MILLRACE_DIM];  /* N, at the centre of mass, of time and of the place of that; null: none */
  Formula   torque[MILLRACE_DIM]; /* N m, likewise */
  LoadAxes  load_axes;            /* of both */
  PetscReal friction;
  PetscReal restitution;
  PetscReal rolling_friction; /* m: lever of the resisting torque */
  Motion    motion;           /* of a kinematic body */
  CopiesConfig copies;        /* the same as those of its assembly, if it has one */
} BodyConfig;

/* How two bodies touch, where that is not the geometric mean of what they say. */
typedef struct {
  char     *first, *second; /* names of bodies; all copies are meant */
  PetscReal friction, restitution, rolling_friction;
  PetscBool none; /* they pass through each other */
} ContactPairConfig;
typedef enum { JOINT_POINT, JOINT_RIGID, JOINT_HINGE, JOINT_TWIST, JOINT_PRISMATIC } JointKind;
extern const char *const JointKinds[];
/* All given in the world at time zero. */
typedef struct {
  char     *name;
  JointKind kind;
  char     *parent, *child; /* names of bodies, "link.3" for the fourth copy; parent "": the world. A body of
                               an assembly without a number: one joint for each copy, turned with it */
  Vector3   anchor;
  Vector3   axis;         /* of a hinge, twist or prismatic joint; of the twist of a point joint */
  PetscReal lower, upper; /* rad, or m for a prismatic joint; infinite: free */
  PetscReal swing;        /* rad, largest angle between the two axes of a point joint; infinite: free */
  Formula   target; /* angle (rad) or distance (m) over time that the control aims at; null: no control */
  PetscReal stiffness, damping; /* 1/s^2, 1/s; of the control */
  Formula   motor; /* torque about the axis (N m), or force along it (N), on the child: of t, of the angle or
                      distance x and its rate y; null: none */
  PetscInt copies; /* along a row of copies of bodies; 0 is 1 */
  Vector3  step;   /* m from the anchor of one to that of the next */
} JointConfig;

/* What a joint did to its child in the last step, on the average; its parent got the opposite. Not numbers
   before the first step. */
typedef struct {
  Vector3   force, torque; /* N, N m about the anchor, in the world's axes; without the motor */
  PetscReal drive;         /* the part that control and limits had: N m about the axis, or N along it */
} JointLoad;

typedef struct {
  PetscReal mass; /* kg */
  Vector3   position, velocity;
} ParticleConfig;

/* How stress follows from strain. */
typedef enum {
  MATERIAL_NEO_HOOKEAN,
  MATERIAL_COROTATIONAL,
  MATERIAL_ST_VENANT_KIRCHHOFF,
  MATERIAL_LINEAR,
  MATERIAL_HENCKY,
  MATERIAL_SPRINGS,
  MATERIAL_INVERTIBLE
} MaterialModel;
extern const char *const MaterialModels[];
/* Whether the volume around each vertex stays what it is at rest. */
typedef enum { SOLID_VOLUME_FREE, SOLID_VOLUME_KEPT } SolidVolume;
extern const char *const SolidVolumes[];
typedef struct {
  char         *name;
  MaterialModel model;
  PetscReal     young;                           /* Pa */
  PetscReal     poisson;                         /* from -1 to less than 0.5 */
  PetscReal     density;                         /* kg/m^3 */
  PetscReal     damping;                         /* s: viscous moduli over elastic ones */
  PetscReal     mass_damping, stiffness_damping; /* 1/s, s: Rayleigh's D = a M - b K, K the definite one */
  PetscReal     bending;                         /* N m: rigidity of cloth */
  PetscReal     altitude; /* of MATERIAL_SPRINGS: stiffness of altitude springs over that of edges */
  PetscReal     yield_stress, hardening; /* Pa, of MATERIAL_HENCKY; 0: it does not yield, nor harden */
  SolidVolume   volume;
} SolidMaterialConfig;

/* How elasticity goes through time: in explicit substeps, in whole implicit steps of either kind, or from
   equilibrium to equilibrium. Auto: explicit, and in a fluid ELASTIC_NEWMARK in steps too long for that. */
typedef enum {
  ELASTIC_EXPLICIT,
  ELASTIC_NEWMARK,
  ELASTIC_BACKWARD_EULER,
  ELASTIC_STATIC,
  ELASTIC_AUTO
} ElasticTime;
extern const char *const ElasticTimes[];
static inline PetscBool  elastic_time_is_implicit(ElasticTime time)
{
  return time == ELASTIC_EXPLICIT || time == ELASTIC_AUTO ? PETSC_FALSE : PETSC_TRUE;
}
/* Of its linear systems: conjugate gradients with an incomplete factor, a sparse factor, multigrid. */
typedef enum { SOLVER_AUTO, SOLVER_CG, SOLVER_CHOLESKY, SOLVER_MULTIGRID } ElasticSolver;
extern const char *const ElasticSolvers[];

/* Where a deformable solid does not move by itself. */
typedef struct {
  Shape inside; /* vertices in it, at time zero */
  char *to;     /* name of the body that they move with, "link.3" for the fourth copy; "": the world */
} HoldConfig;

/* Of vertices that hang on the side of a larger element. */
typedef enum { JUNCTIONS_BOUND, JUNCTIONS_FREE } MeshJunctionKind;
extern const char *const MeshJunctionKinds[];

/* What of the surface of a deformable solid is bound softly to it. */
typedef enum { SKIN_SHARE, SKIN_DUPLICATE } SkinMass;
extern const char *const SkinMasses[];
/* Copies of its points are held by springs, or are what they are copies of but while contact acts. */
typedef enum { SKIN_SPRINGS, SKIN_SYNCHRONISED } SkinCoupling;
extern const char *const SkinCouplings[];
typedef struct {
  SkinCoupling      coupling;
  PetscReal         stiffness; /* N/m, of the spring at each vertex; 0: contact meets the surface itself */
  PetscReal         damping;   /* parts of critical damping */
  SkinMass          mass;
  PetscReal         drift;  /* m: length of springs beyond which their targets move; 0: they stay */
  Shape             inside; /* vertices of the surface in it, at time zero; null: all */
  PetscInt          refine_count;
  MeshRefineConfig *refine; /* of the triangles of the surface */
} SkinConfig;

/* Of plane meshes: without strain, or without stress, across the plane. */
typedef enum { PLANE_STRAIN, PLANE_STRESS } PlaneKind;
extern const char *const PlaneKinds[];

/* A given force on the sides of elements. */
typedef struct {
  Shape   inside; /* sides with all their nodes in it, at time zero */
  Vector3 force;  /* N, of all of them together */
} LoadConfig;

/* Fibres in a deformable solid that pull. */
typedef struct {
  Shape   inside;    /* elements whose middles are in it, at time zero; null: all */
  Vector3 direction; /* at time zero, of any length */
  Formula stress;    /* Pa, of time and of the place at time zero */
} FibreConfig;

/* A deformable solid. */
typedef struct {
  char                 *name;
  MeshConfig            mesh;     /* where it is at time zero, at rest */
  char                 *assembly; /* its name; null or "": none */
  const RigidTransform *placed;   /* of a copy: from there to where it is, with its shapes; null: there */
  char                 *material; /* its name */
  Vector3               velocity; /* m/s, at time zero */
  Vector3               spin;     /* rad/s, about the middle of its bounds */
  PetscReal             friction; /* Coulomb's coefficient against bodies */
  BodySurface           surface;  /* in a fluid */
  PetscReal contact_thickness; /* m; > 0: surfaces of meshes keep the mean of theirs between them; 0: this one
                                  passes through other meshes and itself */
  PetscBool  self_contact;     /* with a thickness: it meets itself too */
  PetscReal  contact_spacing;  /* m; > 0: points that are bound to its surface for contact, so far apart */
  SkinConfig skin;

  MeshJunctionKind junctions;

  PetscInt     held_count;
  HoldConfig  *held;
  PetscInt     load_count;
  LoadConfig  *loads;
  PetscInt     fibre_count;
  FibreConfig *fibres;
  PetscReal    thickness; /* m, of triangles; 0: 1 m of a plane mesh */
  PlaneKind    stress;
} SolidMeshConfig;

/* What binds points of one solid to another. */
typedef enum { BINDING_SOFT, BINDING_HARD } BindingKind;
extern const char *const BindingKinds[];
typedef struct {
  char       *name;
  BindingKind kind;
  char       *from;       /* name of a mesh, or of a body */
  Shape       inside;     /* of a mesh: its vertices in it, at time zero; null: all */
  Vector3     at;         /* m: of a body, the point at time zero */
  char       *to;         /* name of another mesh or body; "": the world */
  PetscReal   stiffness;  /* N/m, of the spring at each point; soft */
  PetscReal   damping;    /* parts of critical damping; soft */
  PetscInt    neighbours; /* points of a cloud that a target is bound to */
} BindingConfig;

typedef struct {
  Vector3            gravity;
  PetscReal          cfl;        /* the fastest body moves this part of the smallest one's size in a step */
  PetscInt           iterations; /* of contact, at most */
  PetscReal          tolerance;  /* of contact: penetration left over, in parts of the smallest body's size */
  PetscBool          planar;     /* bodies move along x and y and turn about z only */
  PetscBool          in_fluid;   /* a fluid acts on all of it */
  PetscBool          walls;      /* the sides of a fluid's box hold free bodies in it, as far as */
  PetscBool          held[MILLRACE_DIM][2]; /* those do; contact alone sees them */
  Vector3            box_low, box_high;
  PetscInt           particle_count, body_count;
  ParticleConfig    *particles; /* of what is not rigid; no keys of their own */
  BodyConfig        *bodies;
  PetscInt           barrier_count;
  BodyConfig        *barriers; /* static, and seen by contact alone as the sides are; no keys of their own */
  PetscInt           pair_count, joint_count, assembly_count;
  ContactPairConfig *pairs;
  JointConfig       *joints;
  AssemblyConfig    *assemblies;

  ElasticTime   elasticity;
  ElasticSolver solver;
  PetscInt      newton;              /* iterations of a step, at most */
  PetscReal     algorithmic_damping; /* of implicit steps in a fluid: damping over stiffness, in steps */

  PetscInt             material_count, mesh_count;
  SolidMaterialConfig *materials;
  SolidMeshConfig     *meshes;
  PetscInt             copied_count; /* of meshes that SolidCopyMeshes has made copies of */
  SolidMeshConfig     *copied;       /* null: it has not */
  PetscInt             binding_count;
  BindingConfig       *bindings;
} SolidConfig;
extern const SchemaKey SolidKeys[];
/* Meshes of assemblies become one for each copy, "NAME.3", held by the bodies of that copy; and back. They
   share what is not their own with the meshes that they are copies of. Not collective. */
PetscErrorCode SolidCopyMeshes(SolidConfig *config);
PetscErrorCode SolidReturnMeshes(SolidConfig *config);
/* A material by its name: of the configuration, else of the usual ones (rubber, steel, …); null: there is
   none. And the usual ones by their number from 0 on; null: there are no more. */
const SolidMaterialConfig *solid_find_material(const SolidConfig *config, const char name[]);
const SolidMaterialConfig *solid_named_material(PetscInt number);
typedef struct _p_Solid   *Solid;

/* Copy number `copy` of a joint of the configuration: what it does, and where it was at time zero. */
JointLoad solid_joint_load(Solid solid, const JointConfig *joint, PetscInt copy);
typedef struct {
  PetscInt parent, child; /* numbers of bodies; -1: the world */
  Vector3  anchor, axis;  /* the axis has length 1, or 0 if there is none */
} JointPlace;
JointPlace solid_joint_place(Solid solid, const JointConfig *joint, PetscInt copy);

/* `config` must outlive the solid. Bodies, joints or meshes that are impossible give a null solid and the
   reason in `message`, which is "" otherwise. Destroy accepts a null solid. Collective: comm. */
PetscErrorCode SolidCreate(MPI_Comm comm, const SolidConfig *config, Solid *solid, char message[],
                           size_t size);
/* The same for all ranks of a team. Those of its solid team make the forms of bodies and check that they can
   be; the others get the forms' measures, and ranks with fluid some of their surfaces, from which
   SolidFetchSurfaces serves all. The message is everybody's. Collective: world. */
PetscErrorCode SolidCreateOnTeam(Team team, const SolidConfig *config, Solid *solid, char message[],
                                 size_t size);
PetscErrorCode SolidDestroy(Solid *solid);
/* Steps I to V of a time step (docs/numerics.md). Collective: comm. */
PetscErrorCode SolidStep(Solid solid, PetscReal time, PetscReal dt);
/* Of the explicit substeps that deformable solids need where they are; PETSC_MAX_REAL without them. */
PetscReal solid_longest_substep(Solid solid);
/* The longest that SolidStep takes: shorter where nothing damps a mesh, for its energy. */
PetscReal solid_usual_substep(Solid solid);
/* The solver of linear systems of elasticity that starts steps of `dt` at rest and without contact, and why;
   "" without deformable solids. Not collective. */
PetscErrorCode SolidExplainSolver(Solid solid, PetscReal dt, char text[], size_t size);
/* How far bodies may go in a step by `cfl`; PETSC_MAX_REAL when none is free. */
PetscReal solid_longest_path(Solid solid);
/* No body goes farther than `path`, with accelerations (6 numbers each; null: that of gravity). Not
   collective. */
PetscErrorCode SolidGetTimeStepLimit(Solid solid, PetscReal path, const PetscReal accelerations[],
                                     PetscReal *dt);
/* The speed that is given to bodies within a step of `dt`: the motion of kinematic ones, targets of joints.
   Not collective. */
PetscErrorCode SolidGetGivenSpeed(Solid solid, PetscReal time, PetscReal dt, PetscReal *speed);
/* The same at a time of the scene, whatever the bodies do now. */
PetscReal solid_prescribed_speed(Solid solid, PetscReal time);
/* The state of `root` to all others of `world`, who each hold a solid of the same configuration. Collective:
   world. */
PetscErrorCode SolidBroadcast(Solid solid, MPI_Comm world, PetscMPIInt root);

/* State, contacts and what the solvers remember of them. Collective: the archive's comm. */
PetscErrorCode SolidSave(Solid solid, Archive archive);
/* The same of a file; places that bodies cannot have come to in `time` are refused. Collective: the archive's
   comm. */
PetscErrorCode SolidLoad(Solid solid, PetscReal time, Archive archive);

/* The state vector: 3 numbers for every particle, then velocity and spin of every body. Not collective. */
PetscErrorCode SolidGetState(Solid solid, PetscInt *count, PetscReal **velocity);

typedef struct {
  Vector3   momentum, angular_momentum; /* of what moves freely, about the origin */
  PetscReal kinetic_energy, potential_energy, largest_speed;
  PetscReal largest_penetration, largest_joint_error; /* m */
  PetscInt  contacts, contact_points, collisions, levels;
  PetscInt  position_iterations, velocity_iterations, push_outs;

  /* Of deformable solids; zero without them. */
  PetscReal elastic_energy, volume; /* the energy with that of binding springs */
  PetscReal plastic_work;           /* J, so far */
  PetscReal plastic_strain;         /* the largest */
  PetscReal longest_binding;        /* m: spring of a soft binding */
  PetscReal least_ratio;            /* smallest det F of an element */
  PetscInt  point_contacts;         /* points that touch bodies or are about to */
  PetscInt  near_points;            /* between the vertices of surfaces, near bodies */
  PetscInt  substeps, damping_iterations;
  PetscInt  newton_iterations, linear_iterations; /* of implicit and static solves */
  PetscInt  elastic_solver;                       /* of the last: 1 + ElasticSolver; 0: none */
  /* Momentum and angular momentum of points in a fluid, in the last step: at its end with the velocities of
     its start, with those that forces have made of them, and what contact gave them after that. */
  PetscReal moved[2 * MILLRACE_DIM], pushed[2 * MILLRACE_DIM], pressed[2 * MILLRACE_DIM];
  PetscReal
      chamber_correction; /* m^3: by which cloth that closes a chamber of fluid was put right, at most */
  PetscBool is_unsolved;  /* the last step was given up: Newton's method, or iterations with C, did not end */
  PetscBool meets_body;   /* the last step was given up: a mesh in a fluid has come to a free body */
  PetscInt  mesh_pairs;   /* of features of meshes that touched, at most in a substep */
  PetscInt  mesh_passes, mesh_impulses, mesh_zones,
      mesh_clamped;         /* over them; collisions met by impulses, by
                               zones, and by zones that something carries */
  PetscInt  mesh_crossings; /* pairs of triangles that intersect at the end of the step: none may */
  PetscBool is_tangled;     /* the last step was given up: meshes could not be kept apart */
  PetscBool is_unstable;    /* the last step was given up: elements are too stiff for any step */
  PetscInt  inverted_mesh, inverted_element; /* mesh from 1; 0: no element is turned inside out whose material
                                                does not survive that */
} SolidReport;
SolidReport solid_report(Solid solid);
/* What a rank has to do with deformable solids that ranks share; false: all ranks do the same. */
typedef struct {
  PetscReal seconds;                  /* of the processor, in steps, without what is sent */
  PetscReal waiting;                  /* s of the wall: for others, and for what is sent */
  PetscInt  divisions;                /* of points among the ranks after the first */
  PetscInt  points, copies, elements; /* own points, those of others here, elements that it computes */
} SolidWork;
PetscBool solid_work(Solid solid, SolidWork *work);
/* Between steps: where a rank has had a quarter more to do than the mean in 50 steps, the points are divided
   anew, by the work that contact took where it was. No result shows it. Collective: the solid's comm. */
PetscErrorCode SolidBalance(Solid solid);
/* Whether meshes meet each other or themselves, and with how many triangles. */
PetscInt solid_meeting_triangles(Solid solid);
/* Why the last step cannot be trusted, in words; left alone where it can. Not collective. */
PetscErrorCode SolidDescribeFailure(Solid solid, char reason[], size_t size);
/* A body, copies one by one, as others see it. */
typedef struct {
  const BodyConfig *config; /* borrowed */
  PetscInt          copy;   /* from 0; -1: there is only one */
  Vector3           position, velocity, spin;
} BodyView;
PetscInt  solid_body_count(Solid solid);
PetscBool solid_has_springs(Solid solid);                  /* of soft bindings */
PetscBool solid_has_near_points(Solid solid);              /* one of its meshes */
PetscBool solid_can_yield(Solid solid);                    /* one of its meshes */
PetscInt  solid_mesh_elements(Solid solid, PetscInt mesh); /* of a mesh of the configuration */
BodyView  solid_body_view(Solid solid, PetscInt body);
void      solid_body_bounds(Solid solid, PetscInt body, Vector3 *low, Vector3 *high); /* may be infinite */
PetscBool solid_body_holds(Solid solid, PetscInt body, Vector3 point);

/* Positions and velocities are finite, and rotations are unit quaternions to round-off; an error otherwise.
   Not collective. */
PetscErrorCode SolidCheck(Solid solid);

/* Remembers the state, and returns to it after a step that has failed. Not collective. */
PetscErrorCode SolidKeep(Solid solid);
PetscErrorCode SolidReturn(Solid solid);

MILLRACE_API_END

#endif
