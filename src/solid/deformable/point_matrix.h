/* Private to src/solid: the matrix of implicit elasticity, m M - k K - d D, assembled in blocks of three by
   three: one of each point that moves by itself, two of each free body that carries points, or that points
   touch. Points that others carry add to the blocks of those: W^T A W. Where ranks share the points, each has
   the rows of its own (point_matrix_impl.h). */
#ifndef MILLRACE_SOLID_POINT_MATRIX_H
#define MILLRACE_SOLID_POINT_MATRIX_H

#include "../contact/point_contact.h"

#include <millrace/solid_system.h>

#include <petscksp.h>

typedef struct _p_PointMatrix *PointMatrix;

/* Where a contact has its relative velocity: sum w v of points, less that of a body at an arm from its
   centre. */
enum { CONTACT_MOST_POINTS = 4 };
typedef struct {
  PetscInt  count, points[CONTACT_MOST_POINTS];
  PetscReal weights[CONTACT_MOST_POINTS];
  PetscInt  body; /* -1: there is none */
  Vector3   arm;
} RelativePlace;
static inline RelativePlace point_relative_place(const PointContact *contact)
{
  return (RelativePlace){
      .count = 1, .points = {contact->point}, .weights = {1.}, .body = contact->body, .arm = contact->arm};
}

/* The pattern follows from meshes, bindings and holds, and for touched bodies from the contacts there are;
   with masses that are added to bound points it has pairs of their parents. Destroy accepts null.
   Collective: the solid's comm, as all that begins with a capital. */
typedef enum { MATRIX_OF_CARRYING, MATRIX_WITH_TOUCHED, MATRIX_WITH_ADDED } MatrixBodies;
PetscErrorCode PointMatrixCreate(Solid solid, MatrixBodies which, PointMatrix *matrix);
/* The same with contacts between points that no element joins; whether the pattern is that. */
PetscErrorCode PointMatrixCreateWithContacts(Solid solid, MatrixBodies which, PetscInt count,
                                             const RelativePlace contacts[], PointMatrix *matrix);
PetscBool      point_matrix_is_of(PointMatrix matrix, PetscInt count, const RelativePlace contacts[]);
PetscErrorCode PointMatrixDestroy(PointMatrix *matrix);
void      point_matrix_set_tolerance(PointMatrix matrix, PetscReal tolerance); /* of iterations, else 1e-8 */
PetscBool point_matrix_fits(PointMatrix matrix, Solid solid); /* the contacts with free bodies */

/* Values where the forces were found last. Without mass, what no force meets has ones on the diagonal. */
typedef struct {
  PetscReal        mass, stiffness, damping;
  DifferentialPart part; /* of the stiffness */
} MatrixWeights;
PetscErrorCode PointMatrixSet(PointMatrix matrix, Solid solid, const MatrixWeights *weights);
/* Adds masses along the axes, three of each point: of a point that others carry to the blocks of those. */
void point_matrix_add_masses(PointMatrix matrix, Solid solid, const PetscReal masses[]);
/* Adds A of the relative velocity of a contact: of what carries its points, and of a free body. */
void point_matrix_add_contact(PointMatrix matrix, Solid solid, const RelativePlace *place,
                              const Matrix3 *curvature);
/* The entry n.A n of the block of a point that moves by itself, else of its first parent; 0: there is none;
   PETSC_MIN_REAL: another rank has it. And for each contact of a point, on every rank. */
PetscReal      point_matrix_along(PointMatrix matrix, Solid solid, PetscInt point, Vector3 direction);
PetscErrorCode PointMatrixFindAlong(PointMatrix matrix, Solid solid, PetscReal entries[]);

/* to = A^-1 from: `from` are impulses, `to` velocities, and points with a carrier follow it. `kind` is never
   SOLVER_AUTO. A matrix that is not definite, or iterations that do not end, leave `good` false. */
PetscErrorCode PointMatrixSolve(PointMatrix matrix, Solid solid, ElasticSolver kind, const SolidMotion *from,
                                SolidMotion *to, PetscInt *iterations, PetscBool *good);
/* image = A motion, of the values that were set last; at own points, from points that are here. */
PetscErrorCode PointMatrixApply(PointMatrix matrix, Solid solid, const SolidMotion *motion,
                                SolidMotion *image);

/* A + J^T J with rows over the velocities of points, three of each: its factor, `good` if there is one and J
   adds more than the part `least` to some entry of the diagonal of A; and a solve with it. */
PetscErrorCode PointMatrixStiffen(PointMatrix matrix, Solid solid, const SurfaceRows *rows, PetscReal least,
                                  PetscBool *good);
PetscErrorCode PointMatrixSolveStiffened(PointMatrix matrix, Solid solid, const SolidMotion *from,
                                         SolidMotion *to);

PetscInt point_matrix_unknowns(PointMatrix matrix);

#endif
