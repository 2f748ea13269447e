/* Overlapping bodies, shared by the tests of the push-out. */
#ifndef MILLRACE_TESTS_PUSH_OUT_PROBLEM_H
#define MILLRACE_TESTS_PUSH_OUT_PROBLEM_H

#include "harness.h"

#include "solid/contact/solve/push_out.h"

enum { CENTRAL, FIRST, BODIES = 7, OUTERS = BODIES - 1 };

/* Body 0 is the central one; outer k of a random problem is body k + 1. */
typedef struct {
  Vector3  centres[BODIES];
  Mobility mobilities[BODIES];
  Outer    outers[OUTERS];
  PetscInt count;
  Twist    central, moves[OUTERS];
} Problem;

static inline PetscReal random_between(uint64_t *seed, PetscReal low, PetscReal high)
{
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  return low + (high - low) * (PetscReal)(*seed >> 11) / (PetscReal)(1ull << 53);
}

static inline Vector3 random_vector(uint64_t *seed, PetscReal size)
{
  Vector3 v;

  for (PetscInt d = 0; d < DIM; d++)
    v.at[d] = random_between(seed, -size, size);
  return v;
}

static inline Mobility mobility_of(PetscReal mass, Vector3 gyration, Quaternion rotation)
{
  Vector3 inverse;

  for (PetscInt d = 0; d < DIM; d++)
    inverse.at[d] = 1 / (mass * gyration.at[d] * gyration.at[d]);
  return (Mobility){1 / mass, matrix3_turned_diagonal(rotation, inverse)};
}

static inline Mobility ball(PetscReal mass)
{
  return mobility_of(mass, vector3(0.6, 0.6, 0.6), quaternion_from_rotation(vector3(0, 0, 0)));
}

static inline Problem random_problem(uint64_t seed, PetscInt count)
{
  Problem p = {.count = count};

  for (PetscInt b = 0; b < BODIES; b++) {
    const PetscReal mass = random_between(&seed, 0.5, 5);
    const Vector3   turn = random_vector(&seed, 2);
    Vector3         gyration;

    for (PetscInt d = 0; d < DIM; d++)
      gyration.at[d] = random_between(&seed, 0.3, 1);
    p.centres[b] = random_vector(&seed, 3);
    p.mobilities[b] = mobility_of(mass, gyration, quaternion_from_rotation(turn));
  }
  for (PetscInt k = 0; k < OUTERS; k++) {
    p.outers[k].body = FIRST + k;
    p.outers[k].point = vector3_add(p.centres[CENTRAL], random_vector(&seed, 1));
    p.outers[k].separation = random_vector(&seed, 0.1);
    p.outers[k].normal =
        quaternion_rotate(quaternion_from_rotation(random_vector(&seed, 2)), vector3(0, 0, 1));
  }
  return p;
}

static inline void fix(Problem *p, PetscInt body)
{
  p->mobilities[body] = (Mobility){0};
}

static inline void push(Problem *p, PushMode mode)
{
  push_out(mode, p->centres, p->mobilities, CENTRAL, p->count, p->outers, &p->central, p->moves);
}

static inline Vector3 arm_of(const Problem *p, PetscInt k, PetscInt body)
{
  return vector3_subtract(p->outers[k].point, p->centres[body]);
}

/* What outer k still lacks of its separation. */
static inline Vector3 lack(const Problem *p, PetscInt k)
{
  const Vector3 outer = twist_at(&p->moves[k], arm_of(p, k, p->outers[k].body));
  const Vector3 central = twist_at(&p->central, arm_of(p, k, CENTRAL));

  return vector3_subtract(p->outers[k].separation, vector3_subtract(outer, central));
}

/* The impulse on the body of outer k, from its move. */
static inline Vector3 impulse(const Problem *p, PetscInt k)
{
  return vector3_scale(1 / p->mobilities[p->outers[k].body].inverse_mass, p->moves[k].linear);
}

/* Mass times motion of the central body, and the moment about its centre. */
static inline Twist central_momentum(const Problem *p)
{
  const Mobility *m = &p->mobilities[CENTRAL];
  const Matrix3   inertia = matrix3_inverse(&m->inverse_inertia);

  return (Twist){vector3_scale(1 / m->inverse_mass, p->central.linear),
                 matrix3_apply(&inertia, p->central.angular)};
}

/* Of all bodies, about the centre of the central one; the outer bodies' share by their inertia. */
static inline Twist total_momentum(const Problem *p)
{
  Twist sum = central_momentum(p);

  for (PetscInt k = 0; k < p->count; k++) {
    const PetscInt body = p->outers[k].body;
    const Matrix3  inertia = matrix3_inverse(&p->mobilities[body].inverse_inertia);
    const Vector3  away = vector3_subtract(p->centres[body], p->centres[CENTRAL]), linear = impulse(p, k);

    if (k > 0 && p->outers[k - 1].body == body) /* another point of the same body */
      continue;
    sum.linear = vector3_add(sum.linear, linear);
    sum.angular = vector3_add(sum.angular, matrix3_apply(&inertia, p->moves[k].angular));
    sum.angular = vector3_add(sum.angular, vector3_cross(away, linear));
  }
  return sum;
}

static inline void assert_zero(Vector3 v, PetscReal tolerance)
{
  for (PetscInt d = 0; d < DIM; d++)
    assert_near(v.at[d], 0, tolerance);
}

#endif
