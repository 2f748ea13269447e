/* What every room speaks: 3-vectors, rotations, rigid maps and motions, 3x3 matrices, formulas of space and
   time. */
#ifndef MILLRACE_BASE_H
#define MILLRACE_BASE_H

#include <millrace/api.h>

#include <petscksp.h>
#include <stdint.h>

MILLRACE_API_BEGIN

/* The directions of space, as indices. */
enum { MILLRACE_X, MILLRACE_Y, MILLRACE_Z, MILLRACE_DIM };

/* A function that its callers compile in, so that their clones for wider vectors (below) have it too. */
#ifdef __GNUC__
#define MILLRACE_KERNEL static inline __attribute__((always_inline))
#else
#define MILLRACE_KERNEL static inline
#endif

/* Short names, for Millrace's own sources and for programs that define MILLRACE_SHORT_NAMES: other libraries,
   PETSc among them, use X and DIM too, and are included first. */
#ifdef MILLRACE_SHORT_NAMES
enum { X = MILLRACE_X, Y = MILLRACE_Y, Z = MILLRACE_Z, DIM = MILLRACE_DIM };

#define KERNEL MILLRACE_KERNEL

/* The hot loops are compiled for wider vectors too and chosen when the program starts. */
#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__) &&                 \
    !defined(__SANITIZE_ADDRESS__)
#define VECTOR_CLONES                                                                                        \
  __attribute__((optimize("O3", "fp-contract=off"), target_clones("arch=x86-64-v3", "default")))
#else
#define VECTOR_CLONES
#endif

/* Makes room for one more item after the `count` of a list: twice as much when it is full. */
#define GrowList(count, room, list)                                                                          \
  ((count) < *(room) ? 0 : (*(room) = 2 * (count) + 64, PetscRealloc(*(room) * sizeof(**(list)), list)))
/* Adds an item to a list: pointers to its count, to the items that it has room for and to the list. */
#define AppendItem(count, room, list, ...)                                                                   \
  (GrowList(*(count), room, list) ? PETSC_ERR_MEM : ((*(list))[(*(count))++] = __VA_ARGS__, 0))

/* Loops over the places start <= (i, j, k) < end of `range`, a pointer to a GridRange, a GridBox (its owned
   cells), a Lattice or another struct with both, x fastest: row by row along x; place by place; with a
   running number, from 0; with an array of the three indices. */
#define FOR_ROWS(range, j, k)                                                                                \
  for (PetscInt k = (range)->start[Z]; k < (range)->end[Z]; k++)                                             \
    for (PetscInt j = (range)->start[Y]; j < (range)->end[Y]; j++)
#define FOR_CELLS(range, i, j, k)                                                                            \
  FOR_ROWS(range, j, k)                                                                                      \
    for (PetscInt i = (range)->start[X]; i < (range)->end[X]; i++)
#define FOR_NUMBERED_CELLS(range, number, i, j, k)                                                           \
  for (PetscInt number = 0, k = (range)->start[Z]; k < (range)->end[Z]; k++)                                 \
    for (PetscInt j = (range)->start[Y]; j < (range)->end[Y]; j++)                                           \
      for (PetscInt i = (range)->start[X]; i < (range)->end[X]; i++, number++)
#define FOR_PLACES(range, at)                                                                                \
  for (PetscInt at[DIM] = {0, 0, (range)->start[Z]}; at[Z] < (range)->end[Z]; at[Z]++)                       \
    for (at[Y] = (range)->start[Y]; at[Y] < (range)->end[Y]; at[Y]++)                                        \
      for (at[X] = (range)->start[X]; at[X] < (range)->end[X]; at[X]++)
#endif

typedef struct {
  PetscReal at[MILLRACE_DIM];
} Vector3;

static inline Vector3 vector3(PetscReal x, PetscReal y, PetscReal z)
{
  return (Vector3){{x, y, z}};
}
static inline Vector3 vector3_add(Vector3 a, Vector3 b)
{
  return vector3(a.at[0] + b.at[0], a.at[1] + b.at[1], a.at[2] + b.at[2]);
}
static inline Vector3 vector3_subtract(Vector3 a, Vector3 b)
{
  return vector3(a.at[0] - b.at[0], a.at[1] - b.at[1], a.at[2] - b.at[2]);
}
static inline Vector3 vector3_scale(PetscReal s, Vector3 a)
{
  return vector3(s * a.at[0], s * a.at[1], s * a.at[2]);
}
static inline PetscReal vector3_dot(Vector3 a, Vector3 b)
{
  return a.at[0] * b.at[0] + a.at[1] * b.at[1] + a.at[2] * b.at[2];
}
static inline Vector3 vector3_cross(Vector3 a, Vector3 b)
{
  return vector3(a.at[1] * b.at[2] - a.at[2] * b.at[1], a.at[2] * b.at[0] - a.at[0] * b.at[2],
                 a.at[0] * b.at[1] - a.at[1] * b.at[0]);
}
static inline PetscReal vector3_norm(Vector3 a)
{
  return PetscSqrtReal(vector3_dot(a, a));
}
/* A unit vector at right angles to a unit vector. */
static inline Vector3 vector3_perpendicular(Vector3 unit)
{
  PetscInt smallest = 0;
  Vector3  across;

  for (PetscInt d = 1; d < MILLRACE_DIM; d++)
    if (PetscAbsReal(unit.at[d]) < PetscAbsReal(unit.at[smallest]))
      smallest = d;
  across = vector3_cross(unit, vector3(smallest == 0, smallest == 1, smallest == 2));
  return vector3_scale(1 / vector3_norm(across), across);
}

/* A unit quaternion: `scalar` + `vector`. */
typedef struct {
  PetscReal scalar;
  Vector3   vector;
} Quaternion;

Quaternion quaternion_from_rotation(Vector3 rotation); /* axis times angle in radians */
Quaternion quaternion_multiply(Quaternion a, Quaternion b);
Quaternion quaternion_conjugate(Quaternion q);
Quaternion quaternion_normalized(Quaternion q); /* against the drift of many products */
Quaternion quaternion_slerp(Quaternion a, Quaternion b, PetscReal fraction);
Vector3    quaternion_rotate(Quaternion q, Vector3 v);

/* A rigid map x -> position + rotation x: from a body's frame to the world, say. */
typedef struct {
  Vector3    position;
  Quaternion rotation;
} RigidTransform;

static inline Vector3 rigid_apply(const RigidTransform *transform, Vector3 local)
{
  return vector3_add(transform->position, quaternion_rotate(transform->rotation, local));
}
static inline Vector3 rigid_apply_inverse(const RigidTransform *transform, Vector3 point)
{
  return quaternion_rotate(quaternion_conjugate(transform->rotation),
                           vector3_subtract(point, transform->position));
}
/* Turned by `rotation` (axis times angle) about its position, and shifted. */
RigidTransform rigid_moved(const RigidTransform *from, Vector3 translation, Vector3 rotation);

/* Velocity of a body's centre of mass, and spin. */
typedef struct {
  Vector3 linear, angular;
} Twist;

enum { TWIST = 2 * MILLRACE_DIM }; /* numbers of a twist */

/* The velocity at `arm` from the centre. */
static inline Vector3 twist_at(const Twist *twist, Vector3 arm)
{
  return vector3_add(twist->linear, vector3_cross(twist->angular, arm));
}
static inline Twist twist_add(Twist a, Twist b)
{
  return (Twist){vector3_add(a.linear, b.linear), vector3_add(a.angular, b.angular)};
}
static inline Twist twist_scale(PetscReal s, Twist a)
{
  return (Twist){vector3_scale(s, a.linear), vector3_scale(s, a.angular)};
}
/* The constant twist that takes one place to the other in `dt`, the short way round. */
Twist twist_between(const RigidTransform *from, const RigidTransform *to, PetscReal dt);

/* A formula in x, y, z and t such as "4*0.3*y*(0.41-y)/0.41^2". A null Formula is zero everywhere. */
typedef struct _p_Formula *Formula;

/* On a mistake `*formula` is null and `message` says what and where; that is not an error code. Not
   collective. */
PetscErrorCode FormulaCreate(const char text[], Formula *formula, char message[], size_t message_size);
PetscErrorCode FormulaDestroy(Formula *formula);
PetscReal      formula_value(Formula formula, Vector3 point, PetscReal time);
/* Its derivative in time, exact; where it has none, that of one side. */
PetscReal formula_slope(Formula formula, Vector3 point, PetscReal time);
/* Whether formulas have a variable, constant or function of this name. */
PetscBool   formula_word_is_taken(const char word[]);
PetscBool   formula_uses_time(Formula formula);
PetscBool   formula_uses_direction(Formula formula, PetscInt direction);
PetscBool   formula_is_constant(Formula formula);
const char *formula_text(Formula formula);

/* Random numbers that depend on nothing but the key: the same on any number of ranks and after a restart. */
uint64_t  hash_key(uint64_t a, uint64_t b, uint64_t c, uint64_t d);
PetscReal hash_real(uint64_t key, PetscInt index); /* 0 <= result < 1, the `index`-th of that key */

/* The word of a null-terminated list that was probably meant, or null. */
const char *closest_word(const char word[], const char *const words[]);

/* A mistake in a configuration: `message` becomes "PATH[ITEM]: TEXT" with the path of keys to it in a scene,
   such as solids.bodies[ball]; `item` is the name of one of a list, or null. message_text is what follows the
   path, all of a message without one. Not collective. */
PetscErrorCode MessageAtKey(char message[], size_t size, const char path[], const char item[],
                            const char format[], ...) PETSC_ATTRIBUTE_FORMAT(5, 6);
const char    *message_text(const char message[]);

/* Row by row. */
typedef struct {
  PetscReal at[MILLRACE_DIM][MILLRACE_DIM];
} Matrix3;

static inline Vector3 matrix3_apply(const Matrix3 *m, Vector3 v)
{
  return vector3(m->at[0][0] * v.at[0] + m->at[0][1] * v.at[1] + m->at[0][2] * v.at[2],
                 m->at[1][0] * v.at[0] + m->at[1][1] * v.at[1] + m->at[1][2] * v.at[2],
                 m->at[2][0] * v.at[0] + m->at[2][1] * v.at[1] + m->at[2][2] * v.at[2]);
}
Matrix3    matrix3_from_quaternion(Quaternion q);
Quaternion quaternion_from_matrix(const Matrix3 *m);
Matrix3    matrix3_multiply(const Matrix3 *a, const Matrix3 *b);
Matrix3    matrix3_transpose(const Matrix3 *m);
Matrix3    matrix3_inverse(const Matrix3 *m); /* of a regular one */
/* R diag(d) R^T for the rotation R. */
Matrix3 matrix3_turned_diagonal(Quaternion rotation, Vector3 diagonal);
/* The rotation to the principal axes of a symmetric matrix and its values there, smallest first (tensor.h).
 */
void matrix3_principal_axes(const Matrix3 *m, Quaternion *rotation, Vector3 *values);

MILLRACE_API_END

#endif
