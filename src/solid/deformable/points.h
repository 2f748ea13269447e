/* Private to src/solid: the points of deformable solids, and the velocity solves of their time step. */
#ifndef MILLRACE_SOLID_POINTS_H
#define MILLRACE_SOLID_POINTS_H

#include "../force/force.h"
#include "../solid_impl.h"

#include <millrace/mesh.h>

/* What moves a point: itself, other points, the world, which holds it where it began, or the body of that
   number. */
enum { CARRIER_POINTS = -3, CARRIER_NONE, CARRIER_WORLD };

/* Points that are weighted means of others, which no other points carry. */
typedef struct {
  PetscInt   count;
  PetscInt  *points;
  PetscInt  *first; /* parents and weights of the n-th: from first[n] to first[n + 1] - 1 */
  PetscInt  *index; /* of every point of the solid: its binding, -1 without */
  PetscInt   parent_count, parent_room;
  PetscInt  *parents;
  PetscReal *weights; /* not negative; their sum is 1 */
  PetscBool *rests; /* of every point of the solid: it does not follow, since nothing is near it (contact/) */
  PetscInt   here_count, *here; /* bindings whose points this rank has; owned; null: all */
} PointBindings;

/* A binding of the configuration. */
typedef struct {
  const BindingConfig *config;   /* borrowed */
  PetscInt             mesh, to; /* -1: a body, or the world */
  PetscInt             count;    /* of points that are bound */
  PetscInt            *vertices; /* of the mesh; owned */
  PetscInt             first;    /* of the points that a soft one adds: targets, then that of a body */
  PetscBool            is_done;
} MeshBinding;

enum { MESH_MOST_FORCES = 4 };

/* A mesh of the configuration. Its points stand together, in the order of its vertices. */
typedef struct {
  const SolidMeshConfig     *config;   /* borrowed */
  const SolidMaterialConfig *material; /* borrowed */
  Mesh                       mesh;     /* owned; at rest */
  Vector3                   *given; /* of a copy: vertices of what it is a copy of; owned; null: the same */
  PetscInt first; /* of its points: its vertices, then those of an embedded surface, then those for contact */
  PetscInt  *elements;          /* points of each element, mesh->nodes of them; owned */
  PetscInt   part_count, *part; /* elements that this rank computes; owned, as the next; null: all */
  PetscInt  *part_elements;     /* points of each */
  PetscReal *part_filled;       /* what of each is filled */
  PetscInt  *holders;           /* the body of each of its holds; -1: the world; owned */
  PetscInt   skin_count, *skin; /* points of its surface, ascending; owned */
  PetscInt  *skin_elements;     /* that each of these moves with; owned */
  PetscInt   first_copy;        /* of the soft bound copies of the skin, if it has them */
  PetscInt  *shown; /* of its vertices and those of its surface, the points that are drawn; null: themselves;
                       owned */
  PetscInt *neighbours;               /* of elements, if targets drift in them; owned */
  PetscInt  face_count;               /* of its surface: the boundary, or what is embedded */
  PetscInt *behind;                   /* the element of each face; owned */
  PetscInt *face_points;              /* for contact between vertices: of a face from face_points[f] to
                                         face_points[f + 1] - 1; null: there are none; owned */
  PetscInt (*faces)[3];               /* counted from `first`; owned */
  PetscInt  force_count;              /* the first is its material's */
  Force     forces[MESH_MOST_FORCES]; /* owned */
  PetscBool is_planar;                /* its points stay in a plane of constant z */
  PetscReal edge;                     /* m: that it was made with; of a file the mean */
  PetscReal frequency;                /* 1/s: the largest at rest */
  PetscInt  group;                    /* the first mesh of those hard bound to each other */
  PetscBool is_shared;                /* a free body carries some of its points */
} DeformableMesh;

/* Of a copy, the place in what it is a copy of, where its shapes are; of a vertex without round-off. */
static inline Vector3 place_in_scene(const SolidMeshConfig *config, Vector3 place)
{
  return config->placed ? rigid_apply_inverse(config->placed, place) : place;
}
static inline Vector3 vertex_in_scene(const DeformableMesh *mesh, PetscInt vertex)
{
  return mesh->given ? mesh->given[vertex] : mesh->mesh->vertices[vertex];
}

/* Velocities, or impulses, of all points and bodies. */
typedef struct {
  Vector3 *points;
  Twist   *bodies;
} SolidMotion;

/* Springs of no length between points and their targets (spring.c). */
typedef struct {
  PetscInt  point, target;
  PetscReal stiffness;  /* N/m */
  PetscReal damping;    /* N s/m */
  PetscReal ahead;      /* in parts of the step: when its force is that of */
  PetscReal inverse;    /* 1/kg: velocity over impulse of both ends, where they do not turn */
  PetscBool is_turning; /* an end is on a free body */
  Vector3   turn;       /* m: of the distance at the end of the step, what the velocities do not lead to */
  Vector3   push;       /* N s: impulse on the point until the middle of the step */
} BindingSpring;

typedef struct {
  PetscInt       count, room;
  PetscInt       copy_count; /* the first are those of soft skins, in the order of SoftPoints */
  BindingSpring *list;
  Matrix3       *roots; /* of what each adds to the matrix that `factor` is of */
  PetscReal     *from, *to;
  SolidMotion    answer, yielded;
  SolidMotion    pull;       /* impulse until the middle of the step */
  PetscBool      is_joining; /* some hold free bodies together, which contact may meet */
  SolidMotion    known;      /* before contact changes it */

  struct _p_BlockFactor *factor;
} Springs;

/* Of solids that keep their volume (kept_volumes.c). */
typedef struct _p_KeptVolumes *KeptVolumes;

/* A soft bound copy of a point of a surface (soft_skin.c). */
typedef struct {
  PetscInt  copy, target;
  PetscInt  mesh, element; /* that the target moves with */
  PetscBool is_shared;     /* its mass is a part of that of its parents */
} SoftPoint;

typedef struct {
  PetscInt    count, room;
  SoftPoint  *list;
  PetscBool   is_drifting; /* targets of some move in the material */
  PetscReal  *kept;        /* their places; owned */
  SolidMotion acceleration, rest, search, image;
} SoftPoints;

/* A copy that is a particle for the time of a solve for contact (synchronise.c). */
typedef struct {
  PetscInt copy, binding;
  Vector3  start;   /* of its target */
  Vector3  impulse; /* of contact */
} BoundCopy;

typedef struct {
  PetscReal *loads; /* of parents, by the copies in contact; owned, as the next; null: there are no copies */
  PetscBool *is_copy; /* of every point */
  BoundCopy *bound;
  PetscInt   count; /* of those */
} Synchronised;

/* Stretches of points that follow each other. */
typedef struct {
  PetscInt first, end;
} PointStretch;
typedef struct {
  PetscInt      count;
  PointStretch *list; /* owned */
} PointStretches;
#define FOR_POINTS(runs, p)                                                                                  \
  for (const PointStretch *run = (runs)->list; run < (runs)->list + (runs)->count; run++)                    \
    for (PetscInt p = run->first; p < run->end; p++)

typedef struct Points {
  PetscInt   count;
  Vector3   *position, *velocity; /* the velocities are the first of the state vector */
  Vector3   *rest;
  PetscReal *mass, *inverse_mass;     /* inverse 0: another moves it */
  PetscInt  *carrier;                 /* CARRIER_POINTS, CARRIER_NONE, CARRIER_WORLD or a body */
  Vector3   *arm;                     /* in the carrier's frame; of the world: the position */
  PetscInt   carried_count, *carried; /* points that a body or the world carries */
  PetscInt   body_count, *bodies;     /* free bodies that carry points, then others that points touch */
  PetscInt   carrying_count;          /* of the first */

  PointBindings   bindings;
  PetscInt        near_count; /* points between the vertices of surfaces that follow */
  PetscInt        mesh_binding_count;
  MeshBinding    *mesh_bindings;
  Springs         springs;
  SoftPoints      soft;
  Synchronised    synchronised;
  KeptVolumes     volumes; /* null: none is kept */
  PetscInt        mesh_count;
  DeformableMesh *meshes;
  PetscBool       is_damped;
  Vector3        *stretched; /* workspace of Rayleigh's damping; null: there is none */
  Vector3        *load;      /* N: given forces */
  PetscReal       shortest;  /* m: edge at rest */

  struct _p_MeshSurface *surface; /* of meshes that meet each other; null: none do; contact/mesh/ */

  PointStretches   here;   /* points whose values this rank has: all, unless ranks share them */
  PointStretches   own;    /* those that move by themselves and that no other rank has as its own */
  const PetscBool *counts; /* of every point: it is own; borrowed; null: all are */

  struct _p_Distribution *distribution; /* distribution.h; null: every rank does everything */

  struct PointContact *contacts; /* with bodies, of this step; contact/point_contact.h */
  PetscInt             contact_count, contact_room;

  /* Workspace of a step. */
  PetscReal   time;            /* of the forces */
  PetscReal  *stiffening;      /* of the forces of each mesh */
  PetscBool   has_forces;      /* `forces` are those at `position` */
  SolidMotion forces, earlier; /* elastic, of free points and bodies: now, and at the start of the step */
  SolidMotion drag;            /* impulse of damping until the middle of the step */
  SolidMotion half, damped, residual, search, image, trial, given;

  PetscReal *kept_history; /* of SolidKeep; owned */

  struct PointsInFluid *in_fluid; /* null: not in one */

  struct _p_PointMatrix *matrix, *drag_matrix; /* of implicit elasticity; null: not yet needed */
} Points;

/* points.c: the meshes of the configuration, whose points are counted; then, with state vector and bodies
   there, the points at rest. */
PetscErrorCode SolidCreateMeshes(Solid solid, char message[], size_t size);
PetscErrorCode SolidCreatePoints(Solid solid, char message[], size_t size);
PetscErrorCode SolidDestroyPoints(Solid solid);
/* A mesh passes through the bodies that hold it. */
PetscBool mesh_is_held_by(const DeformableMesh *mesh, PetscInt body);
/* Places and velocities of points with a carrier, from where that is. */
void points_follow_position(Solid solid);
void points_follow_velocity(Solid solid, const Twist bodies[], Vector3 velocity[]);
/* Only those that free bodies or other points carry. */
void points_follow_free(Solid solid, SolidMotion *motion);
/* The same for a change of the motion, in which given motions have no part, */
void points_follow_change(Solid solid, SolidMotion *motion);
/* and for the middle of the step that leads from points->velocity to solid->twists. */
void points_follow_middle(Solid solid, SolidMotion *motion);
/* Forces on points with a carrier become forces and torques on it. */
void           points_collect(Solid solid, SolidMotion *forces);
PetscErrorCode PointsCollect(Solid solid, SolidMotion *forces); /* where ranks may share the points */
/* Forces from now on are those of a time. */
void points_set_time(Solid solid, PetscReal time);
/* Elastic forces at the positions, where they are not known. */
void           points_find_forces(Solid solid);
PetscErrorCode PointsFindForces(Solid solid); /* where ranks may share the elements */
/* history.c: what materials remember follows to where the forces were found last; the others are parts of the
   functions of the solid. */
void           points_settle(Solid solid);
PetscErrorCode PointsKeepHistory(Points *points);
PetscErrorCode PointsReturnHistory(Points *points);
PetscErrorCode PointsBroadcastHistory(Points *points, MPI_Comm world, PetscMPIInt root);
PetscErrorCode PointsSaveHistory(Solid solid, Archive archive);
PetscErrorCode PointsLoadHistory(Solid solid, Archive archive);
/* Of all elements, on every rank; and back, to the elements that are here then, which frees it. */
PetscErrorCode PointsGatherHistory(Solid solid, PetscReal **numbers);
PetscErrorCode PointsTakeHistory(Solid solid, PetscReal *numbers);
/* points.c: the forces of the elements that are here, instead of those that there are. */
PetscErrorCode PointsMakeForces(Solid solid);

/* Of all meshes, where the forces were found last; of the elements that count here. */
ForceReport points_report(Solid solid);
ForceSums   points_own_sums(Solid solid); /* of this rank */
/* Those that this rank computes. */
PetscInt mesh_own_elements(const DeformableMesh *mesh);
/* Of the given forces, from the origin to where the points are. */
PetscReal points_load_work(Solid solid);

/* binding.c: hard bindings. Of a mesh with hanging vertices, and of points for contact on its boundary. */
PetscErrorCode PointBindingsCreate(Points *points);
PetscErrorCode PointBindingsDestroy(Points *points);
PetscErrorCode MeshBindJunctions(Points *points, const DeformableMesh *mesh);
PetscErrorCode MeshBindSurface(Points *points, const DeformableMesh *mesh);
/* Points of the mesh that are its vertices or those of its surface, and where one is at rest. */
/* strain.c: of every element, the largest principal logarithmic strain of its corners. */
void     mesh_strains(const Points *points, const DeformableMesh *mesh, PetscReal strains[]);
PetscInt mesh_vertices(const DeformableMesh *mesh);
/* s: of what it damps by strains, against elasticity. */
static inline PetscReal material_damping(const SolidMaterialConfig *material)
{
  return material->damping + material->stiffness_damping;
}
Vector3        mesh_rest(const DeformableMesh *mesh, PetscInt vertex);
PetscInt       mesh_count_sprinkled(const DeformableMesh *mesh);
PetscErrorCode MeshSprinkle(Points *points, DeformableMesh *mesh);
void           points_share_masses(Points *points);
/* The value of a point that others may carry; its effective inverse mass; an impulse on it, in velocities of
   the points that carry it. */
Vector3   points_mean(const Points *points, PetscInt point, const Vector3 values[]);
PetscReal points_inverse_mass(const Points *points, PetscInt point);
void      points_push(const Points *points, PetscInt point, Vector3 impulse, Vector3 values[]);
/* All bound points follow their parents; forces on them become the parents'. */
void points_follow_parents(const Points *points, Vector3 values[]);
void points_collect_bound(const Points *points, Vector3 forces[]);

PetscErrorCode PointBind(Points *points, PetscInt point, PetscInt count, const PetscInt parents[],
                         const PetscReal weights[]);
PetscErrorCode PointBindToPlace(Points *points, PetscInt point, const DeformableMesh *mesh,
                                const MeshPlace *place);

/* cloud.c: weights of the nearest points of a cloud at a place, not negative, with the sum 1 and the place as
   their mean; false: it is not among them. */
enum { CLOUD_MOST = 32 };
typedef struct {
  PetscInt  count, points[CLOUD_MOST];
  PetscReal weights[CLOUD_MOST];
} CloudPlace;
PetscBool      cloud_find_place(const Mesh cloud, Vector3 place, PetscInt most, CloudPlace *found);
PetscErrorCode PointBindToCloud(Points *points, PetscInt point, const DeformableMesh *cloud,
                                const CloudPlace *place);

/* binding_set.c: bindings of the configuration. The points that they add are counted before the state vector
   is made; hard ones are bound before vertices are placed, soft ones after that. */
PetscErrorCode SolidCountBindings(Solid solid, char message[], size_t size);
PetscErrorCode SolidBindHard(Solid solid, char message[], size_t size);
PetscErrorCode SolidBindSoft(Solid solid, char message[], size_t size);
PetscErrorCode SolidDestroyBindings(Solid solid);

/* synchronise.c: a copy that is bound to its target but for contact. */
PetscErrorCode PointSynchronise(Points *points, PetscInt copy, PetscInt target);
PetscErrorCode SynchronisedDestroy(Points *points);

/* soft_skin.c. */
PetscBool      mesh_is_soft(const DeformableMesh *mesh);
PetscErrorCode MeshAddCopies(Solid solid, DeformableMesh *mesh);
PetscErrorCode SoftPointsWeigh(Solid solid); /* when all other masses are known */
PetscErrorCode SoftPointsDestroy(Solid solid);
void           soft_points_start(Points *points); /* velocities */
/* Where a copy is in its element as that is now, inside or not; false: the element is flat. */
PetscBool soft_point_place(const Points *points, const SoftPoint *point, PetscInt corners[4],
                           PetscReal weights[4]);
/* The weights of the corners of its element that give a place. */
PetscBool element_weights(const Points *points, const SoftPoint *point, Vector3 place, PetscReal weights[4]);
/* Of elastic forces, what the copies get and what is left. */
void soft_points_map(Solid solid, SolidMotion *forces);
/* Eliminates the copies from M + a J^T J: impulses on them, M times the motion, become impulses on their
   targets; then their motions follow from those of the targets, and `given` are impulses for that by M alone.
 */
void soft_points_eliminate(Solid solid, PetscReal dt, const SolidMotion *motion, SolidMotion *impulse);
void soft_points_recover(Solid solid, PetscReal dt, SolidMotion *given, SolidMotion *motion);

/* drift.c: targets that move in the material, at the end of a step; elements and weights of all, SOFT_PLACE
   numbers each, for files. */
enum { SOFT_PLACE = 5 };
PetscErrorCode SoftPointsPrepareDrift(Solid solid, char message[], size_t size);
void           soft_points_drift(Solid solid);
PetscInt       soft_point_numbers(const Points *points); /* of places; 0: none drifts */
void           soft_points_get_places(Solid solid, PetscReal numbers[]);
void           soft_points_set_places(Solid solid, const PetscReal numbers[]);

/* spring.c: when all masses are known. */
PetscErrorCode SpringsCreate(Solid solid);
PetscErrorCode SpringsDestroy(Solid solid);
/* The matrix of the elastic springs in a step; then M^-1 with them instead of without: what they take of a
   motion, as impulses (null: not wanted) and velocities. */
PetscErrorCode SpringsStiffen(Solid solid, PetscReal dt);
PetscErrorCode SpringsRelease(Solid solid, SolidMotion *impulse, SolidMotion *motion);
/* into += impulses of the springs until the middle of the step, where the points have this motion; or only
   the part that depends on it. */
typedef enum { SPRINGS_WHOLE, SPRINGS_OF_MOTION } SpringParts;
void springs_pull(Solid solid, PetscReal dt, SpringParts part, const SolidMotion *motion, SolidMotion *into);
/* What turning adds to the distances in a step of this motion, found in so many rounds at most: true if that
   is more than was known, and impulses of the difference go into `into`. */
enum { MOST_TURNS = 10 };
PetscBool springs_turn(Solid solid, PetscReal dt, const SolidMotion *motion, SolidMotion *into);
/* The impulse of the whole step, half of it at the places of its end. */
void           springs_finish(Solid solid);
PetscErrorCode SpringsDamp(Solid solid, PetscReal dt, SolidMotion *velocity);
/* Springs of free bodies answer to what contact and joints have changed since the motion was remembered, or
   answered last: with those of SpringsStiffen, or the damping of SpringsDamp. springs.yielded is their part.
 */
/* Free bodies on springs that steps of this length do not resolve. */
void           springs_mark_jointed(Solid solid, PetscReal dt, PetscBool jointed[]);
void           springs_remember(Solid solid, const SolidMotion *motion);
PetscErrorCode SpringsAnswer(Solid solid, SolidMotion *motion);
/* After that, in a step of the motion: to how bodies turn in it. */
PetscErrorCode SpringsFollowTurns(Solid solid, PetscReal dt, SolidMotion *motion);
/* In a fluid their forces are elastic ones among the others. */
void      bindings_add_elastic(const Points *points, Vector3 forces[]);
PetscReal springs_energy(const Points *points);
PetscReal springs_longest(const Points *points);

/* kept_volumes.c: when all masses are known. In a step of the motion, which is changed by the impulses that
   are added to `impulse`, volumes become those at rest; at the velocities in the end they do not change. */
PetscErrorCode KeptVolumesCreate(Solid solid);
PetscErrorCode KeptVolumesDestroy(Points *points);
PetscErrorCode PointsKeepVolume(Solid solid, PetscReal dt, SolidMotion *motion, SolidMotion *impulse);
PetscErrorCode PointsProjectVolume(Solid solid, PetscReal dt, SolidMotion *velocity);

/* load.c: given forces. */
PetscErrorCode MeshAddLoads(Points *points, const DeformableMesh *mesh, char message[], size_t size);

/* solid_motion.c: sums of motions. */
PetscErrorCode SolidMotionCreate(Solid solid, SolidMotion *motion);
PetscErrorCode SolidMotionDestroy(SolidMotion *motion);
void           motion_clear(Solid solid, SolidMotion *motion);
/* into = scale * into + factor * from. */
void motion_combine(Solid solid, PetscReal scale, PetscReal factor, const SolidMotion *from,
                    SolidMotion *into);
/* Of impulses and velocities, the same to the last bit on any number of ranks; that of own points alone. */
PetscErrorCode MotionProduct(Solid solid, const SolidMotion *impulse, const SolidMotion *motion,
                             PetscReal *product);
PetscReal      motion_product(Solid solid, const SolidMotion *impulse, const SolidMotion *motion);
/* Of the points that are here. */
void points_copy(const Points *points, const Vector3 from[], Vector3 to[]);
/* M^-1 times impulses; points with a carrier follow it. Those that the world or a given motion carries stand
   still. */
void motion_yield(Solid solid, const SolidMotion *impulse, SolidMotion *motion);

/* damping.c: from v to v + M^-1 `impulse`, where the impulse is factor D w with the solution w of
   (M - factor D) w = M v under held contacts, by conjugate gradients; D is that where the forces were found
   last. In a step of `spring_step` (0: without them) binding springs join in, and their impulse goes to
   springs.pull. Its sum and its torque are zero to round-off however few iterations there are. */
PetscErrorCode PointsDamp(Solid solid, PetscReal factor, PetscReal spring_step, SolidMotion *velocity,
                          SolidMotion *impulse);

/* implicit.c: parts of a step in which forces count, and the two solves. A step from the velocities that
   `motion` has to those which move the points; and the equilibrium, into which the points move. */
typedef struct {
  PetscReal start, end; /* elastic forces at its ends */
  PetscReal gravity, damping;
} ImplicitScheme;
ImplicitScheme implicit_scheme(ElasticTime time);
PetscErrorCode PointsSolveStep(Solid solid, PetscReal time, PetscReal dt, SolidMotion *motion);
PetscErrorCode PointsSolveStatic(Solid solid, PetscReal time);

/* solver_choice.c: by `solver`, of a matrix with so many unknowns; alone in steps of dt, and in a fluid. */
ElasticSolver points_choose_solver(Solid solid, PetscReal dt, PetscInt unknowns);
ElasticSolver points_choose_solver_in_fluid(Solid solid, PetscReal stiffness, PetscReal damping,
                                            PetscBool in_contact, PetscInt unknowns);
PetscBool     points_may_factor(PetscInt unknowns); /* memory allows it */

/* fluid_bones.c: in a fluid free bodies that hold points lie inside of meshes. */
PetscErrorCode SolidFindBones(Solid solid, char message[], size_t size);
/* Impulses of joints between bones in the move join the velocities of the state, as JointSetCarryImpulses;
   and those of the end of the step count for what joints do. */
void bone_joints_carry(Solid solid);
void bone_joints_rest(Solid solid);

/* in_fluid.c: whether elasticity is implicit in such a step; then how much of the differentials of elastic
   forces and of damping counts for the velocities that move the points. */
PetscBool points_are_implicit_over(Solid solid, PetscReal dt);
typedef struct {
  PetscReal stiffness, damping;
} PointsWeights;
PointsWeights  points_weights_in_fluid(Solid solid, PetscReal dt);
PetscErrorCode PointsInFluidDestroy(Points *points);

/* newmark.c: steps I, IV and V of points (docs/numerics.md). */
/* v + dt M^-1 f, of points that move by themselves and of bodies that carry others. */
void points_accelerate(Solid solid, PetscReal dt, const SolidMotion *forces, SolidMotion *motion);
/* v + dt g, of points that move by themselves. */
void points_fall(Solid solid, PetscReal dt, Vector3 velocity[]);
/* Velocities in the middle of an explicit step without damping; `motion` has those of bodies. Contacts are
   looked for on the way. */
PetscErrorCode PointsPushToMiddle(Solid solid, PetscReal dt, SolidMotion *motion);
/* limit.c: the largest frequency of a mesh at rest, the longest stable step, and the longest one that a step
   of solids alone is divided into. */
PetscErrorCode MeshFindFrequency(Solid solid, const DeformableMesh *mesh, PetscReal *frequency);
PetscReal      points_longest_step(Solid solid);
PetscReal      points_usual_step(Solid solid);
PetscErrorCode PointsFindUsualStep(Solid solid, PetscReal *dt); /* where ranks share the elements */

PetscErrorCode PointsPredict(Solid solid, PetscReal time, PetscReal dt, Twist half[]);
PetscErrorCode PointsMove(Solid solid, PetscReal dt);
PetscErrorCode PointsAccelerate(Solid solid, PetscReal dt, const Twist before[]);

#endif
