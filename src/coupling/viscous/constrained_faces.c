/* Which faces move with bodies as viscosity sees it, and how far others are from a surface
   (docs/numerics.md, section 15): constrained are faces of whose dual cell less than half is fluid, and those
   that a thin surface blocks. */
#include "../coupling_impl.h"

PetscErrorCode CouplingDropConstraints(Coupling coupling)
{
  ViscousConstraints *set = &coupling->viscous;

  PetscFunctionBegin;
  for (PetscInt d = 0; d < DIM; d++) {
    PetscCall(PetscFree(set->constrained[d]));
    PetscCall(PetscFree(set->wall_neighbours[d]));
    PetscCall(PetscFree(set->edge_pairs[d]));
    PetscCall(PetscFree(set->separated_pairs[d]));
  }
  PetscCall(MacGridDestroyFaceField(set->lent.open));
  PetscCall(MacGridDestroyFaceField(set->lent.surfaces));
  PetscCall(PetscFree2(set->blocks, set->masses));
  PetscCall(PetscFree(coupling->faces.fractions));
  PetscFunctionReturn(0);
}

static void describe_bodies(const PlacedSolids *solids, SolidBlock *blocks, PetscReal *masses)
{
  for (PetscInt b = 0; b < solids->count; b++) {
    const CoupledBody *body = &solids->bodies[b].body;
    PetscReal         *mass = &masses[TWIST * TWIST * b];

    blocks[b] = (SolidBlock){TWIST * b, TWIST, body->is_free, mass};
    for (PetscInt i = 0; i < DIM && body->is_free; i++) {
      mass[TWIST * i + i] = body->mass;
      for (PetscInt j = 0; j < DIM; j++)
        mass[TWIST * (DIM + i) + DIM + j] = body->inertia.at[i][j];
    }
  }
}

static void describe_vertices(const DeformingSolids *deforming, PetscInt first, SolidBlock *blocks,
                              PetscReal *masses)
{
  for (PetscInt v = 0; v < deforming->vertex_count; v++) {
    PetscReal *mass = &masses[DIM * DIM * v];

    blocks[v] =
        (SolidBlock){first + DIM * v, DIM, deforming->masses[v] > 0. ? PETSC_TRUE : PETSC_FALSE, mass};
    for (PetscInt d = 0; d < DIM; d++)
      mass[DIM * d + d] = deforming->masses[v];
  }
}

/* A block of six unknowns for each body, in their order, then one of three for each vertex of surfaces that
   deform. */
static PetscErrorCode DescribeSolids(Coupling coupling, PetscReal velocities[])
{
  const DeformingSolids *deforming = &coupling->deforming;
  ViscousConstraints    *set = &coupling->viscous;
  const PetscInt         bodies = coupling->solids.count, blocks = bodies + deforming->vertex_count,
                 numbers = TWIST * TWIST * bodies + DIM * DIM * deforming->vertex_count;

  PetscFunctionBegin;
  if (set->block_room < blocks || !set->blocks) {
    PetscCall(PetscFree2(set->blocks, set->masses));
    set->block_room = blocks;
    PetscCall(PetscMalloc2(blocks, &set->blocks, TWIST * TWIST * blocks, &set->masses));
  }
  PetscCall(PetscArrayzero(set->masses, numbers));
  describe_bodies(&coupling->solids, set->blocks, set->masses);
  describe_vertices(deforming, TWIST * bodies, set->blocks + bodies, set->masses + TWIST * TWIST * bodies);
  set->lent.unknown_count = TWIST * bodies + DIM * deforming->vertex_count;
  set->lent.rigid_count = bodies - deforming->total;
  set->lent.velocities = velocities;
  set->lent.block_count = blocks;
  set->lent.blocks = set->blocks;
  PetscFunctionReturn(0);
}

static PetscBool body_slips(const PlacedSolids *solids, PetscInt body)
{
  return solids->bodies[body].body.slips;
}

/* The fluid of the face has a pressure of its own. */
static PetscBool face_slips(const FaceMap *faces, PetscInt d, PetscInt c)
{
  const PetscInt kind = faces->kinds[d][c];

  return kind == COUPLED_FLUID || (kind >= 0 && faces->mixed[kind].open > 0.);
}

static PetscErrorCode ConstrainFace(Coupling coupling, PetscInt d, PetscInt c, PetscInt body,
                                    const SolidRow *row, PetscReal *bodies)
{
  ViscousConstraints   *set = &coupling->viscous;
  const ConstrainedFace constrained = {c, face_slips(&coupling->faces, d, c), *row};

  PetscFunctionBegin;
  bodies[c] = (PetscReal)(1 + body);
  PetscCall(AppendItem(&set->lent.constrained_count[d], &set->constrained_room[d], &set->constrained[d],
                       constrained));
  PetscFunctionReturn(0);
}

/* Faces with little fluid move with the body that has most of the dual cell. `best` is that of each face, by
   the number of its fraction, -1 at first and in the end. */
static PetscErrorCode ConstrainFullFaces(Coupling coupling, PetscInt d, const PetscReal *open,
                                         PetscReal *bodies, PetscInt *best)
{
  const SolidFraction *fractions = coupling->faces.fractions;

  PetscFunctionBegin;
  for (PetscInt n = 0; n < coupling->faces.fraction_count; n++) {
    const PetscInt c = fractions[n].face;

    if (fractions[n].direction == d && open[c] < CONSTRAINED_BELOW &&
        !body_slips(&coupling->solids, fractions[n].body) &&
        (best[c] < 0 || fractions[n].volume > fractions[best[c]].volume))
      best[c] = n;
  }
  for (PetscInt n = 0; n < coupling->faces.fraction_count; n++) {
    const PetscInt c = fractions[n].face, body = fractions[n].body;
    SolidRow       row;

    if (fractions[n].direction != d || best[c] != n)
      continue;
    row =
        coupling_deforms(coupling, body)
            ? coupling_nearest_row(coupling, d, fractions[n].at, body)
            : solid_row_of_body(TWIST * body, d,
                                vector3_add(fractions[n].arm, coupling->solids.offsets[DIM * body + d]), 1.);
    PetscCall(ConstrainFace(coupling, d, c, body, &row, bodies));
    best[c] = -1;
  }
  PetscFunctionReturn(0);
}

static SolidRow row_at(Coupling coupling, PetscInt d, const PetscInt at[DIM], PetscInt body)
{
  return coupling_deforms(coupling, body)
             ? coupling_nearest_row(coupling, d, at, body)
             : solid_row_of_body(TWIST * body, d, coupling_nearest_arm(coupling, d, at, body), 1.);
}

static PetscErrorCode ConstrainBlockedFaces(Coupling coupling, PetscInt d, PetscReal *bodies)
{
  const GridBox  *box = grid_box(coupling->grid);
  const PetscInt *solid = coupling->faces.solid, *marks = coupling->faces.marks[d], stride = box->stride[d];
  const GridRange faces = grid_faces(coupling->grid, d);

  PetscFunctionBegin;
  FOR_PLACES(&faces, at) {
    const PetscInt c = box_index(box, at[X], at[Y], at[Z]);

    if (marks[c] && !body_slips(&coupling->solids, marks[c] - 1) && !solid[c] && !solid[c - stride] &&
        bodies[c] == 0.) {
      const SolidRow row = row_at(coupling, d, at, marks[c] - 1);

      PetscCall(ConstrainFace(coupling, d, c, marks[c] - 1, &row, bodies));
    }
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode FindConstrained(Coupling coupling, PetscInt d, PetscInt *best)
{
  const PetscReal     least = 1e-9;
  ViscousConstraints *set = &coupling->viscous;
  PetscReal          *open, *bodies;

  PetscFunctionBegin;
  PetscCall(VecSet(set->lent.open[d], 1.));
  PetscCall(VecSet(set->lent.surfaces[d], 0.));
  PetscCall(VecGetArray(set->lent.open[d], &open));
  PetscCall(VecGetArray(set->lent.surfaces[d], &bodies));
  for (PetscInt n = 0; n < coupling->faces.fraction_count; n++)
    if (coupling->faces.fractions[n].direction == d)
      open[coupling->faces.fractions[n].face] -= coupling->faces.fractions[n].volume / coupling->volume;
  for (PetscInt n = 0; n < coupling->faces.fraction_count; n++) /* bodies that overlap, and round-off */
    if (coupling->faces.fractions[n].direction == d && open[coupling->faces.fractions[n].face] < least)
      open[coupling->faces.fractions[n].face] = 0.;
  PetscCall(ConstrainFullFaces(coupling, d, open, bodies, best));
  PetscCall(ConstrainBlockedFaces(coupling, d, bodies));
  PetscCall(VecRestoreArray(set->lent.surfaces[d], &bodies));
  PetscCall(VecRestoreArray(set->lent.open[d], &open));
  PetscFunctionReturn(0);
}

/* The constrained and the open parts of all components. */
typedef struct {
  PetscReal *open[DIM], *bodies[DIM];
} Parts;

/* Of a volume, not of what blocks a face. */
static inline PetscBool is_full(const Parts *parts, PetscInt d, PetscInt c)
{
  return parts->bodies[d][c] > 0. && parts->open[d][c] < CONSTRAINED_BELOW;
}

/* From an open face to the surface before a constrained one: exact for a plane that cuts the two dual cells
 * across.
 */
static inline PetscReal distance_between(const Parts *parts, PetscInt d, PetscInt face, PetscInt beyond)
{
  return PetscMin(parts->open[d][face] + parts->open[d][beyond] - 0.5, 1.);
}

/* The two faces of direction a at the edge between a wall neighbour of a body and its face beyond. */
static PetscErrorCode FindEdgePair(Coupling coupling, PetscInt d, PetscInt a, const PetscInt at[DIM],
                                   const Parts *parts, const WallNeighbour *neighbour)
{
  ViscousConstraints *set = &coupling->viscous;
  const GridBox      *box = grid_box(coupling->grid);
  const PetscInt      edge = PetscMax(neighbour->face, neighbour->beyond), below = edge - box->stride[d];
  PetscInt            place[DIM] = {at[X], at[Y], at[Z]}, beyond;
  const PetscInt      body = (PetscInt)parts->bodies[d][neighbour->beyond] - 1;
  EdgePair            edge_pair = {.face = neighbour->face, .across = a, .edge = edge};

  PetscFunctionBegin;
  if (!box->periodic[d] && (at[d] == 0 || at[d] == box->cells[d]))
    PetscFunctionReturn(0);
  if (parts->bodies[a][edge] == 0. && is_full(parts, a, below)) {
    edge_pair.other = edge;
    beyond = below;
  } else if (parts->bodies[a][below] == 0. && is_full(parts, a, edge)) {
    edge_pair.other = below;
    beyond = edge;
  } else
    PetscFunctionReturn(0);
  if ((PetscInt)parts->bodies[a][beyond] - 1 != body)
    PetscFunctionReturn(0);
  if (edge != neighbour->face)
    place[a]++;
  if (edge_pair.other == below)
    place[d]--;
  edge_pair.sign = (edge == neighbour->face) == (edge_pair.other == edge) ? 1. : -1.;
  edge_pair.distances[0] = neighbour->distance;
  edge_pair.distances[1] = distance_between(parts, a, edge_pair.other, beyond);
  edge_pair.rows[0] = neighbour->row;
  edge_pair.rows[1] = row_at(coupling, a, place, body);
  PetscCall(
      AppendItem(&set->lent.edge_pair_count[d], &set->edge_pair_room[d], &set->edge_pairs[d], edge_pair));
  PetscFunctionReturn(0);
}

static PetscErrorCode FindNeighboursOfFace(Coupling coupling, PetscInt d, const PetscInt at[DIM],
                                           const Parts *parts)
{
  ViscousConstraints *set = &coupling->viscous;
  const GridBox      *box = grid_box(coupling->grid);
  const PetscInt      c = box_index(box, at[X], at[Y], at[Z]);

  PetscFunctionBegin;
  for (PetscInt a = 0; a < box->dimension; a++)
    for (PetscInt step = -1; step <= 1; step += 2) {
      WallNeighbour neighbour = {
          .face = c, .beyond = c + step * box->stride[a], .slips = face_slips(&coupling->faces, d, c)};

      if (!is_full(parts, d, neighbour.beyond))
        continue;
      neighbour.distance = distance_between(parts, d, c, neighbour.beyond);
      neighbour.row = row_at(coupling, d, at, (PetscInt)parts->bodies[d][neighbour.beyond] - 1);
      PetscCall(AppendItem(&set->lent.neighbour_count[d], &set->neighbour_room[d], &set->wall_neighbours[d],
                           neighbour));
      if (a != d)
        PetscCall(FindEdgePair(coupling, d, a, at, parts, &neighbour));
    }
  PetscFunctionReturn(0);
}

static PetscErrorCode FindWallNeighbours(Coupling coupling, PetscInt d, const Parts *parts)
{
  const GridBox  *box = grid_box(coupling->grid);
  const GridRange faces = grid_faces(coupling->grid, d);

  PetscFunctionBegin;
  FOR_PLACES(&faces, at) {
    const PetscReal *b = parts->bodies[d] + box_index(box, at[X], at[Y], at[Z]);
    PetscReal        beside = 0.;

    for (PetscInt a = 0; a < box->dimension; a++)
      beside += b[box->stride[a]] + b[-box->stride[a]];
    if (b[0] == 0. && beside > 0.)
      PetscCall(FindNeighboursOfFace(coupling, d, at, parts));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode CouplingGetConstraints(Coupling coupling, PetscReal velocities[],
                                      const FaceConstraints **constraints)
{
  const GridBox      *box = grid_box(coupling->grid);
  ViscousConstraints *set = &coupling->viscous;
  PetscInt           *best;
  Parts               parts;

  PetscFunctionBegin;
  PetscCheck(coupling->is_ready, coupling->fluid, PETSC_ERR_ORDER,
             "Constrained faces need bodies and fluid: call CouplingPlace and CouplingSetFluid first");
  if (!set->lent.open[X]) {
    PetscCall(MacGridCreateFaceField(coupling->grid, set->lent.open));
    PetscCall(MacGridCreateFaceField(coupling->grid, set->lent.surfaces));
  }
  PetscCall(DescribeSolids(coupling, velocities));
  PetscCall(PetscMalloc1(box->length, &best));
  for (PetscInt c = 0; c < box->length; c++)
    best[c] = -1;
  for (PetscInt d = 0; d < box->dimension; d++) {
    set->lent.constrained_count[d] = set->lent.neighbour_count[d] = set->lent.edge_pair_count[d] =
        set->lent.separated_count[d] = 0;
    PetscCall(FindConstrained(coupling, d, best));
  }
  PetscCall(PetscFree(best));
  PetscCall(MacGridExchangeFaces(coupling->grid, set->lent.open));
  PetscCall(MacGridExchangeFaces(coupling->grid, set->lent.surfaces));
  PetscCall(MacGridGetFaces(coupling->grid, set->lent.open, parts.open));
  PetscCall(MacGridGetFaces(coupling->grid, set->lent.surfaces, parts.bodies));
  for (PetscInt d = 0; d < box->dimension; d++)
    PetscCall(FindWallNeighbours(coupling, d, &parts));
  PetscCall(MacGridRestoreFaces(coupling->grid, set->lent.surfaces, parts.bodies));
  PetscCall(MacGridRestoreFaces(coupling->grid, set->lent.open, parts.open));
  PetscCall(CouplingFindSeparatedPairs(coupling));
  for (PetscInt d = 0; d < box->dimension; d++) {
    set->lent.constrained[d] = set->constrained[d];
    set->lent.wall_neighbours[d] = set->wall_neighbours[d];
    set->lent.edge_pairs[d] = set->edge_pairs[d];
    set->lent.separated_pairs[d] = set->separated_pairs[d];
  }
  *constraints = &set->lent;
  PetscFunctionReturn(0);
}
