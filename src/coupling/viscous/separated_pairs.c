/* Pairs of neighbouring faces of one component with a surface between them that constrains none of the two,
   as a shell does, or only by blocking one: how far each is from it. */
#include "../coupling_impl.h"

/* What a body has between the upper face and the one before. */
typedef struct {
  PetscInt  face, at[DIM], body;
  Vector3   shift; /* of its image */
  PetscReal first, last;
} Hit;

typedef struct {
  PetscInt         d, a; /* faces of direction d, one behind the other along a */
  const PetscReal *open, *bodies;
  GridRange        owned; /* faces */
  PetscInt        *count, *room;
  Hit            **hits;
} PairSearch;

static PetscErrorCode AddHit(const PairSearch *search, const Hit *hit)
{
  PetscFunctionBegin;
  PetscCall(AppendItem(search->count, search->room, search->hits, *hit));
  PetscFunctionReturn(0);
}

/* Whether a pair is in the box, and a volume does not constrain one of its faces. */
static PetscBool is_pair(const GridBox *box, const PairSearch *search, const PetscInt at[DIM], PetscInt c)
{
  const PetscInt a = search->a, lower = c - box->stride[a], faces = a == search->d ? 1 : 0;

  if (!box->periodic[a] && (at[a] < 1 || at[a] >= box->cells[a] + faces))
    return PETSC_FALSE;
  for (PetscInt e = 0; e < box->dimension; e++)
    if (e != a && at[e] >= search->owned.end[e])
      return PETSC_FALSE;
  return (search->bodies[c] == 0. || search->open[c] >= CONSTRAINED_BELOW) &&
                 (search->bodies[lower] == 0. || search->open[lower] >= CONSTRAINED_BELOW) &&
                 (search->bodies[c] == 0. || search->bodies[lower] == 0.)
             ? PETSC_TRUE
             : PETSC_FALSE;
}

static PetscErrorCode HitImage(Coupling coupling, PetscInt body, Vector3 shift, const void *context)
{
  const PairSearch *search = context;
  const GridBox    *box = grid_box(coupling->grid);
  const PetscInt    a = search->a;
  PetscReal        *first, *last;
  PetscInt          size;
  Lattice           lattice;

  PetscFunctionBegin;
  (void)coupling_lattice(coupling, body, search->d, shift, &lattice);
  lattice.end[a] = (PetscInt)PetscMin(
      PetscFloorReal((coupling->solids.bodies[body].high.at[a] - lattice.origin.at[a]) / coupling->spacing) +
          2.,
      box->end[a] + 1);
  size = lattice_size(&lattice);
  if (!size)
    PetscFunctionReturn(0);
  PetscCall(PetscCalloc2(size, &first, size, &last));
  for (PetscInt n = 0; n < size; n++)
    first[n] = 2.;
  if (!coupling->solids.bodies[body].body.slips)
    lattice_hit(&lattice, &coupling->solids.bodies[body].triangles, a, LATTICE_MARGIN, first, last);
  FOR_PLACES(&lattice, at) {
    const PetscInt n = lattice_index(&lattice, at[X], at[Y], at[Z]), c = box_index(box, at[X], at[Y], at[Z]);
    const Hit      hit = {c, {at[X], at[Y], at[Z]}, body, shift, first[n], last[n]};

    if (first[n] <= 1. && is_pair(box, search, at, c))
      PetscCall(AddHit(search, &hit));
  }
  PetscCall(PetscFree2(first, last));
  PetscFunctionReturn(0);
}

static int compare_hits(const void *x, const void *y)
{
  const Hit *a = x, *b = y;

  if (a->face != b->face)
    return a->face < b->face ? -1 : 1;
  return (a->body > b->body) - (a->body < b->body);
}

static SolidRow row_of(Coupling coupling, PetscInt d, const PetscInt at[DIM], const Hit *hit)
{
  return coupling_deforms(coupling, hit->body)
             ? coupling_nearest_row(coupling, d, at, hit->body)
             : solid_row_of_body(TWIST * hit->body, d, coupling_arm(coupling, d, at, hit->body, hit->shift),
                                 1.);
}

/* `low` is the first surface above the lower face, `high` the last one below the upper face. */
static PetscErrorCode AddPair(Coupling coupling, const PairSearch *search, const Hit *low, const Hit *high)
{
  ViscousConstraints *set = &coupling->viscous;
  const GridBox      *box = grid_box(coupling->grid);
  const PetscInt      d = search->d, a = search->a, lower = low->face - box->stride[a];
  const Hit          *seen[2] = {low, high};
  SeparatedPair       separated = {.faces = {lower, low->face}, .distances = {low->first, 1. - high->last}};
  PetscInt            at[DIM] = {low->at[X], low->at[Y], low->at[Z]};

  PetscFunctionBegin;
  separated.is_owned[1] = at[a] < search->owned.end[a] ? PETSC_TRUE : PETSC_FALSE;
  separated.is_owned[0] = at[a] > box->start[a] ? PETSC_TRUE : PETSC_FALSE;
  for (PetscInt side = 0; side < 2; side++) {
    at[a] = low->at[a] - 1 + side;
    separated.rows[side] = row_of(coupling, d, at, seen[side]);
  }
  if (search->bodies[lower] == 0. && search->bodies[low->face] == 0.) {
    PetscCall(AppendItem(&set->lent.separated_count[d], &set->separated_room[d], &set->separated_pairs[d],
                         separated));
    PetscFunctionReturn(0);
  }
  for (PetscInt side = 0; side < 2; side++) { /* the other one is blocked */
    const WallNeighbour neighbour = {.face = separated.faces[side],
                                     .beyond = separated.faces[1 - side],
                                     .distance = separated.distances[side],
                                     .row = separated.rows[side]};

    if (separated.is_owned[side] && search->bodies[neighbour.face] == 0.)
      PetscCall(AppendItem(&set->lent.neighbour_count[d], &set->neighbour_room[d], &set->wall_neighbours[d],
                           neighbour));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode AddPairs(Coupling coupling, const PairSearch *search)
{
  const PetscInt count = *search->count;
  const Hit     *hits;

  PetscFunctionBegin;
  if (count)
    qsort(*search->hits, count, sizeof(Hit), compare_hits);
  hits = *search->hits;
  for (PetscInt first = 0, next; first < count; first = next) {
    const Hit *low = &hits[first], *high = low;

    for (next = first + 1; next < count && hits[next].face == hits[first].face; next++) {
      if (hits[next].first < low->first)
        low = &hits[next];
      if (hits[next].last > high->last)
        high = &hits[next];
    }
    PetscCall(AddPair(coupling, search, low, high));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode CouplingFindSeparatedPairs(Coupling coupling)
{
  const PetscInt dimension = grid_box(coupling->grid)->dimension;
  PetscInt       count, room = 0;
  Hit           *hits = NULL;

  PetscFunctionBegin;
  for (PetscInt d = 0; d < dimension; d++) {
    PairSearch search = {
        .d = d, .owned = grid_faces(coupling->grid, d), .count = &count, .room = &room, .hits = &hits};

    PetscCall(VecGetArrayRead(coupling->viscous.lent.open[d], &search.open));
    PetscCall(VecGetArrayRead(coupling->viscous.lent.surfaces[d], &search.bodies));
    for (search.a = 0; search.a < dimension; search.a++) {
      count = 0;
      PetscCall(CouplingVisitImages(coupling, HitImage, &search));
      PetscCall(AddPairs(coupling, &search));
    }
    PetscCall(VecRestoreArrayRead(coupling->viscous.lent.surfaces[d], &search.bodies));
    PetscCall(VecRestoreArrayRead(coupling->viscous.lent.open[d], &search.open));
  }
  PetscCall(PetscFree(hits));
  PetscFunctionReturn(0);
}
