/* Linear interpolation in cell and face fields. */
#include <millrace/sampling.h>

PetscReal sample_linear(const GridBox *box, const PetscReal *field, const PetscReal place[DIM])
{
  PetscInt  corner = box_index(box, 0, 0, 0); /* which need not exist here */
  PetscReal fraction[DIM] = {0., 0., 0.};

  for (PetscInt d = 0; d < box->dimension; d++) {
    const PetscInt whole = whole_below(place[d]);

    corner += whole * box->stride[d];
    fraction[d] = place[d] - whole;
  }
  return box->dimension == 3 ? linear_above(field + corner, box->stride, fraction, 3)
                             : linear_above(field + corner, box->stride, fraction, 2);
}

PetscReal sample_cells(const GridBox *box, Vector3 origin, PetscReal spacing, const PetscReal *cells,
                       Vector3 point)
{
  const PetscReal inverse = 1. / spacing;
  PetscReal       place[DIM];

  for (PetscInt d = 0; d < DIM; d++)
    place[d] = (point.at[d] - origin.at[d]) * inverse - 0.5;
  return sample_linear(box, cells, place);
}

Vector3 sample_faces(const GridBox *box, Vector3 origin, PetscReal spacing, PetscReal *const faces[DIM],
                     Vector3 point)
{
  const PetscReal inverse = 1. / spacing;
  Vector3         value = vector3(0., 0., 0.);
  PetscReal       place[DIM];

  for (PetscInt c = 0; c < box->dimension; c++) {
    for (PetscInt d = 0; d < DIM; d++)
      place[d] = (point.at[d] - origin.at[d]) * inverse - (d == c ? 0. : 0.5);
    value.at[c] = sample_linear(box, faces[c], place);
  }
  return value;
}
