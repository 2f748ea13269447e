#include "contact_row.h"

static Vector3 any_tangent(Vector3 n)
{
  const Vector3 other = PetscAbsReal(n.at[X]) < 0.6 ? vector3(1, 0, 0) : vector3(0, 1, 0);
  const Vector3 tangent = vector3_cross(n, other);

  return vector3_scale(1 / vector3_norm(tangent), tangent);
}

Directions place_directions(const ContactPlace *place)
{
  const Vector3 normal = place->touch.normal, tangent = any_tangent(normal);

  return (Directions){{normal, tangent, vector3_cross(normal, tangent)}};
}

KERNEL void fill_side(PetscReal at[TWIST], const Scale *scale, PetscReal sign, Vector3 arm, Vector3 direction)
{
  const Vector3 turn = scale_turn(scale, vector3_cross(arm, direction));

  for (PetscInt d = 0; d < DIM; d++) {
    at[d] = sign * scale->linear * direction.at[d];
    at[DIM + d] = sign * turn.at[d];
  }
}

KERNEL PetscReal axis_product(const Axis *a, const Axis *b)
{
  PetscReal sum = 0;

  for (PetscInt i = 0; i < PAIR; i++)
    sum += a->at[i] * b->at[i];
  return sum;
}

Row make_row(Solid solid, const Contact *contact, ContactPlace *place, const Scale *const scales[2],
             const Twist twists[])
{
  const Directions directions = place_directions(place);
  Row              row = {.place = place};
  Axis            *axes[3] = {&row.normal, &row.tangents[0], &row.tangents[1]};
  PetscReal       *drifts[3] = {&row.bias, &row.drift[0], &row.drift[1]};
  PetscReal        xx, xy, yy;

  for (PetscInt side = 0; side < 2; side++) {
    const PetscInt  body = contact->bodies[side];
    const PetscReal sign = side ? 1 : -1;
    const Vector3   arm = vector3_subtract(place->touch.point, solid->placements[body].position);

    for (PetscInt k = 0; k < 3; k++)
      fill_side(&axes[k]->at[side * TWIST], scales[side], sign, arm, directions.axes[k]);
    if (scales[side]->linear > 0)
      continue;
    for (PetscInt k = 0; k < 3; k++)
      *drifts[k] += sign * vector3_dot(directions.axes[k], twist_at(&twists[body], arm));
  }
  xx = axis_product(&row.tangents[0], &row.tangents[0]);
  yy = axis_product(&row.tangents[1], &row.tangents[1]);
  xy = axis_product(&row.tangents[0], &row.tangents[1]);
  row.hold = 1 / axis_product(&row.normal, &row.normal);
  /* over the larger eigenvalue of the 2x2 matrix, or the fixed point would not oppose sliding */
  row.grip = 1 / (0.5 * (xx + yy) + PetscSqrtReal(0.25 * (xx - yy) * (xx - yy) + xy * xy));
  return row;
}
