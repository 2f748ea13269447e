/* Private to src/solid: contact of the surfaces of meshes with each other and with themselves
   (docs/numerics.md, 17). */
#ifndef MILLRACE_SOLID_MESH_CONTACT_H
#define MILLRACE_SOLID_MESH_CONTACT_H

#include "../../deformable/points.h"

#include <millrace/moving_triangles.h>

/* A point and a triangle, or two edges, that may come near each other. */
typedef struct {
  uint64_t    key; /* by which pairs are ordered */
  FeatureKind kind;
  PetscInt    points[4];
  PetscReal   thickness, friction;
  PetscBool   is_close_at_rest; /* nearer than the thickness: they only may not meet */
  PetscReal   clear_until;      /* of MeshSurface.path: until then nothing acts between them */
} MeshPair;

/* What a rank has found of a pair that meets, from which all ranks make the same contact: weights and places
   of the nearest points, and what MeshContact says. */
typedef struct {
  uint64_t  key;
  PetscInt  points[4];
  PetscReal weights[4];
  Vector3   normal;
  PetscReal gap, target, friction, thickness;
} MeshMeeting;

/* What carries a point of a pair, or a part of it. */
typedef struct {
  PetscInt  point, body; /* the body is -1 where the point moves by itself, or stands still */
  PetscReal weight;      /* of it in the difference of the nearest places */
  Vector3   arm;         /* from the centre of the body */
} MeshRoot;

/* Places of two features that press each other apart along a direction. */
typedef struct {
  uint64_t  key;          /* of the pair */
  PetscInt  first, count; /* roots */
  Vector3   normal;       /* unit, from the second feature to the first */
  PetscReal gap;          /* m: distance less the thickness */
  PetscReal target;       /* m/s: least speed of opening */
  PetscReal hold;         /* kg: impulse over change of speed, where every root has its share of mass */
  PetscReal press, least; /* N s: impulse so far, and its lower bound */
  PetscReal friction;
  Vector3   rub; /* N s: of friction, on the first feature */
  PetscBool is_active;
} MeshContact;

/* The impulse that has parted a pair in the first half of a step. */
typedef struct {
  uint64_t  key;
  PetscReal press;
} MeshPress;

/* The surfaces of all meshes that meet others, and the pairs of their features that are near. */
typedef struct _p_MeshSurface {
  PetscInt face_count;
  PetscInt (*faces)[3]; /* points of the solid */
  PetscInt *face_mesh;
  PetscInt (*face_edges)[3]; /* from each corner to the next */
  PetscInt (*owned)[2];      /* bits: which corners and which edges the face is the first of */
  PetscInt  edge_count, (*edges)[2];
  PetscInt  point_count, *points; /* of the faces, ascending */
  PetscInt *point_mesh;           /* of every point of the solid */

  PetscReal *margins; /* of faces, for the tree */
  MovingTree tree, judge;
  PetscBool *is_mine;   /* of faces: this rank looks for what they meet; owned; null: all */
  Vector3   *from, *to; /* ways that the pairs were found for, of every point, against the middle of all */
  PetscReal *stray;     /* m: how far points of each mesh may be from these ways */
  PetscBool  is_found;  /* there are pairs */
  Vector3   *seen;      /* where the points were last */
  Vector3    seen_middle;
  PetscReal  path; /* m: the longest way of a point from each such place to the next, summed */
  PetscReal found_path, near_until; /* of path: when the pairs were found; until when the near ones are all */
  PetscReal least_thickness, least_stray;
  PetscInt  pair_count, pair_room;
  MeshPair *pairs;                        /* in the order of keys */
  PetscInt  near_count, near_room, *near; /* of the pairs; ascending */
  PetscInt *visits, searches;             /* of each point: pairs measured, in so many searches */

  PetscInt     meeting_count, meeting_room; /* in the order of keys, as the next */
  MeshMeeting *meetings;
  PetscInt     contact_count, contact_room, root_count, root_room;
  MeshContact *contacts;
  MeshRoot    *roots;
  PetscInt     press_count, press_room;
  MeshPress   *presses; /* in the order of keys */

  Vector3        *began;  /* where the points were when the step began; before they left bodies */
  RigidTransform *placed; /* and the bodies */
  Vector3        *ahead;  /* where they would go */
  Vector3        *push;   /* N s: on points, of a pass; zero between passes */
  Twist          *turn;   /* on bodies */
  PetscInt       *shares, *body_shares;
  PetscInt *zone; /* of points, bodies and the world: the next of what moves as one; itself at the end */
} * MeshSurface;

/* Null if no mesh meets others. A mesh that touches itself or another at the start is refused. */
PetscErrorCode MeshSurfaceCreate(Solid solid, char message[], size_t size);
PetscErrorCode MeshSurfaceDestroy(Points *points);
/* The points are elsewhere, not by a step. */
void mesh_surface_forget(Points *points);

/* mesh_pairs.c: all pairs that may come nearer than their thickness while points go from `from` to `to` are
   among the near ones. `moved`: the longest of these ways against the middle of all. */
PetscErrorCode MeshPairsFind(Solid solid, const Vector3 from[], const Vector3 to[], PetscReal *moved);
/* Their distance where points are seen now. */
PetscReal mesh_pair_measure(MeshSurface surface, MeshPair *pair, PetscReal weights[4]);
/* Whether features that are as far apart as this one's do not act on each other, or do not come near meeting,
   before points have gone so far. */
PetscBool mesh_pair_is_clear(const struct _p_MeshSurface *surface, const MeshPair *pair, PetscReal moved);
PetscBool mesh_pair_stays_apart(const struct _p_MeshSurface *surface, const MeshPair *pair, PetscReal moved);
/* Pairs of triangles that intersect where the points are now. */
PetscErrorCode MeshSurfaceCountCrossings(Solid solid, const Vector3 at[], PetscInt *count);

/* How far the farthest point of the surfaces is from where it was. */
PetscReal mesh_surface_moved(const Points *points, const Vector3 from[], const Vector3 to[]);

/* mesh_contact.c: impulses between what comes nearer than the thickness in a step by `half`, on the
   velocities of its start and on `half` alike; then on those of its end. */
PetscErrorCode MeshContactsPress(Solid solid, PetscReal dt, SolidMotion *half);
PetscErrorCode MeshContactsRest(Solid solid, PetscReal dt);
/* At which features part that are nearer than their thickness: a tenth of what is missing in a step. */
static inline PetscReal mesh_parting_speed(PetscReal gap, PetscReal dt)
{
  return -0.1 * gap / dt;
}
/* What is nearer than its thickness where it is or where this motion leads in a step, in the order of keys.
 */
PetscErrorCode MeshMeetingsFind(Solid solid, PetscReal dt, const Vector3 velocity[]);
/* The meetings that all ranks have found come to every rank, and to an empty list; then the contacts of
   these, where points are at `at`. */
PetscErrorCode MeshMeetingsGather(Solid solid);
PetscErrorCode MeshContactsSet(Solid solid, const Vector3 at[]);
/* Points of the surfaces that others carry follow them, also where these are not here. */
void mesh_surface_follow_position(Solid solid);
void mesh_surface_follow_velocity(Solid solid, const Twist bodies[], Vector3 velocity[]);
/* Passes over all contacts. Impulses act on `motion`, whose openings they bring to their targets, and on
   `also`. Without bodies in `motion`, these have moved already and points go with them as it says. */
void mesh_contacts_solve(Solid solid, SolidMotion *motion, SolidMotion *also);

/* mesh_sweep.c: where features would meet on the way that the points have gone in the step, that way is
   changed, first by impulses and then so that what would meet moves as one; velocities change alike. */
PetscErrorCode MeshContactsSweep(Solid solid, PetscReal dt, SolidMotion *half);
/* Between the two, points and bodies are moved without a velocity: the same for that. */
void           mesh_surface_remember(Solid solid);
PetscErrorCode MeshContactsKeepApart(Solid solid);

#endif
