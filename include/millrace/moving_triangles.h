/* Triangles whose corners move: distances between their features, the time until features come near each
   other, which triangles may meet, and whether they intersect. */
#ifndef MILLRACE_MOVING_TRIANGLES_H
#define MILLRACE_MOVING_TRIANGLES_H

#include <millrace/api.h>
#include <millrace/base.h>

MILLRACE_API_BEGIN

/* Four points: a point and the corners of a triangle, or the ends of two edges. */
typedef enum { FEATURES_POINT_TRIANGLE, FEATURES_EDGE_EDGE } FeatureKind;

/* The distance of the two features, collapsed ones too. The nearest places differ by sum weights[n] at[n];
   weights of the first feature are not negative and have the sum 1, those of the second the same with the
   other sign. */
PetscReal features_distance(FeatureKind kind, const Vector3 at[4], PetscReal weights[4]);
/* Of a motion along straight lines from time 0 to 1: a time until which the features stay farther apart than
   `separation`, or than half their first distance if that is smaller; 1 if that is all of it. Found by
   additive advancement: never too late; 0 for features that touch. */
PetscReal features_free_time(FeatureKind kind, const Vector3 from[4], const Vector3 to[4],
                             PetscReal separation);

/* Whether they have a point in common, within round-off. Collapsed triangles are their edges. */
PetscBool segment_meets_triangle(const Vector3 ends[2], const Vector3 corners[3]);
/* Likewise of two triangles, of which corners with the same number in `a` and `b` are one. Two that share an
   edge do not meet. */
PetscBool triangles_meet(const Vector3 at[], const PetscInt a[3], const PetscInt b[3]);

/* A tree of boxes around triangles and the ways of their corners. */
typedef struct _p_MovingTree *MovingTree;
/* `triangles` are borrowed; there is at least one. Destroy accepts a null tree. Not collective. */
PetscErrorCode MovingTreeCreate(PetscInt count, const PetscInt (*triangles)[3], MovingTree *tree);
PetscErrorCode MovingTreeDestroy(MovingTree *tree);
/* Boxes around both places of each triangle, larger by its margin on every side. Not collective. */
PetscErrorCode MovingTreePlace(MovingTree tree, const Vector3 from[], const Vector3 to[],
                               const PetscReal margins[]);
/* From now on pairs are found whose lower number is marked; of all if nothing is (null). The marks are
   borrowed. Not collective. */
PetscErrorCode MovingTreeWant(MovingTree tree, const PetscBool marks[]);
/* All pairs whose boxes have a point in common, the lower number first, in no order; to be freed by
   PetscFree. Not collective. */
PetscErrorCode MovingTreeFindPairs(MovingTree tree, PetscInt *count, PetscInt (**pairs)[2]);

MILLRACE_API_END

#endif
