/* The surface of the liquid for pictures (Zhu and Bridson 2005): around the particles the blended distance

     distance(x) = |x - m(x)| - r,   m = sum k x_p / sum k,   k = (1 - |x - x_p|^2 / R^2)^3 within R,

   on a lattice finer than the grid, less what obstacles, bodies and the outside of the box take. R is two
   spacings of the particles of a full cell, and r such that the surface of a lattice of them lies half a
   spacing beyond its last layer, where the liquid ends. Behind closed sides stand mirror images of the
   particles, and within a spacing of obstacles and bodies the distance is less by what is left of it: liquid
   that touches a wall has no gap to it. Particles are gone through in the order of unwrapped
   cells: values have the same bits on any number of ranks. */
#include "splash_impl.h"

static const PetscReal reach_in_spacings = 2.;

typedef struct {
  const Splash          splash;
  const ContourLattice *lattice;
  PetscInt              along;         /* nodes along a cell */
  PetscReal             reach, offset; /* R and r */
  HaloView              halo;
  const Vector3        *own;
  const PetscReal      *near;
} SurfaceFinder;

/* Sums of k and of k (x_p - x). */
typedef struct {
  PetscReal weight;
  Vector3   way;
} Blend;

static inline void add_to_blend(Blend *blend, PetscReal reach, Vector3 way)
{
  const PetscReal rest = 1. - vector3_dot(way, way) / PetscSqr(reach),
                  weight = rest > 0. ? rest * rest * rest : 0.;

  blend->weight += weight;
  for (PetscInt d = 0; d < DIM; d++)
    blend->way.at[d] += weight * way.at[d];
}

/* How far half a spacing above a lattice of spacing 1 the mean lies below, on the average over places. */
static PetscReal flat_offset(void)
{
  enum { PLACES = 8, LAYERS = 2 };
  PetscReal sum = 0.;

  for (PetscInt place = 0; place < PLACES * PLACES; place++) {
    const PetscReal x = (place % PLACES + 0.5) / PLACES, y = (place / PLACES + 0.5) / PLACES;
    Blend           blend = {0};

    for (PetscInt i = -LAYERS; i <= LAYERS; i++)
      for (PetscInt j = -LAYERS; j <= LAYERS; j++)
        for (PetscInt layer = 0; layer < LAYERS; layer++)
          add_to_blend(&blend, reach_in_spacings, vector3(i - x, j - y, -0.5 - layer));
    sum += vector3_norm(blend.way) / blend.weight;
  }
  return sum / (PLACES * PLACES);
}

/* The particles of a cell or, beyond a closed side, the images of those inside. */
static void blend_cell(const SurfaceFinder *finder, Vector3 point, const PetscInt cell[DIM], Blend *blend)
{
  const HaloView *halo = &finder->halo;
  const Splash    splash = finder->splash;
  const Vector3   origin = grid_origin(splash->grid);
  PetscInt        inside[DIM], c;
  PetscReal       sign[DIM], twice[DIM];

  for (PetscInt d = 0; d < DIM; d++) {
    const PetscInt  cells = halo->box->cells[d];
    const PetscBool beyond = !halo->box->periodic[d] && (cell[d] < 0 || cell[d] >= cells);

    if (beyond && !side_is_closed(splash, d, cell[d] < 0 ? 0 : 1))
      return;
    inside[d] = beyond ? (cell[d] < 0 ? 0 : cells - 1) : cell[d];
    sign[d] = beyond ? -1. : 1.;
    twice[d] = beyond
                   ? 2. * (origin.at[d] + (cell[d] < 0 ? 0. : grid_spacing(splash->grid) * (PetscReal)cells))
                   : 0.;
  }
  c = box_index(halo->box, inside[X], inside[Y], inside[Z]);
  for (PetscInt n = halo->start[c]; n < halo->start[c] + halo->length[c]; n++) {
    Vector3 place = n < halo->own ? finder->own[n] : halo->positions[n - halo->own];

    for (PetscInt d = 0; d < DIM; d++)
      place.at[d] = twice[d] + sign[d] * place.at[d];
    add_to_blend(blend, finder->reach, vector3_subtract(place, point));
  }
}

/* Infinite where no particle is in reach. */
static PetscReal blended_distance(const SurfaceFinder *finder, const PetscInt node[DIM], Vector3 point)
{
  const GridBox *box = finder->halo.box;
  PetscInt       low[DIM], high[DIM];
  Blend          blend = {0};

  for (PetscInt d = 0; d < DIM; d++) { /* the reach is a cell at most */
    low[d] = PetscMax(whole_below((PetscReal)(node[d] - finder->along) / finder->along), box->start[d] - 1);
    high[d] = PetscMin(whole_below((PetscReal)(node[d] + finder->along - 1) / finder->along), box->end[d]);
  }
  for (PetscInt k = low[Z]; k <= high[Z]; k++)
    for (PetscInt j = low[Y]; j <= high[Y]; j++)
      for (PetscInt i = low[X]; i <= high[X]; i++)
        blend_cell(finder, point, (PetscInt[]){i, j, k}, &blend);
  return blend.weight > 0. ? vector3_norm(blend.way) / blend.weight - finder->offset : PETSC_INFINITY;
}

static PetscBool may_be_solid(const SurfaceFinder *finder, const PetscInt node[DIM])
{
  const GridBox *box = grid_box(finder->splash->grid);
  PetscInt       cell[DIM];

  for (PetscInt d = 0; d < DIM; d++)
    cell[d] = PetscMin(whole_below((PetscReal)node[d] / finder->along), box->end[d] - 1);
  return finder->near[box_index(box, cell[X], cell[Y], cell[Z])] > 0. ? PETSC_TRUE : PETSC_FALSE;
}

/* Far outside where no liquid is near or the box has ended, so that the surface ends at the last node within.
 */
static PetscReal value_at(const SurfaceFinder *finder, const PetscInt node[DIM])
{
  const GridBox  *box = grid_box(finder->splash->grid);
  const PetscReal spacing = finder->lattice->spacing, far = 1e6 * spacing;
  Vector3         point = finder->lattice->origin;
  PetscReal       distance;
  PetscInt        body;

  for (PetscInt d = 0; d < DIM; d++) {
    if (!box->periodic[d] && (node[d] < 0 || node[d] > finder->along * box->cells[d]))
      return far;
    point.at[d] += spacing * (PetscReal)node[d];
  }
  distance = blended_distance(finder, node, point);
  if (distance >= far)
    return 0.5 * finder->reach;
  if (distance < finder->reach && may_be_solid(finder, node)) {
    const PetscReal solid = solid_distance(finder->splash, point, &body),
                    gap = finder->reach / reach_in_spacings;

    distance = PetscMax(distance - PetscMin(PetscMax(gap - solid, 0.), gap), -solid);
  }
  return distance;
}

static PetscErrorCode FillLayer(void *context, PetscInt layer, PetscReal values[])
{
  const SurfaceFinder  *finder = (const SurfaceFinder *)context;
  const ContourLattice *lattice = finder->lattice;

  PetscFunctionBegin;
  for (PetscInt j = 0; j < lattice->nodes[Y]; j++)
    for (PetscInt i = 0; i < lattice->nodes[X]; i++)
      *values++ = value_at(
          finder, (PetscInt[]){lattice->first[X] + i, lattice->first[Y] + j, lattice->first[Z] + layer});
  PetscFunctionReturn(0);
}

/* The nodes of this rank's cells, and one more beyond sides that are not periodic. */
static ContourLattice find_lattice(const Splash splash, PetscInt along)
{
  const GridBox *box = grid_box(splash->grid);
  ContourLattice lattice = {.origin = grid_origin(splash->grid),
                            .spacing = grid_spacing(splash->grid) / along};

  for (PetscInt d = 0; d < DIM; d++) {
    const PetscInt before = !box->periodic[d] && box->start[d] == 0 ? 1 : 0;
    const PetscInt after = !box->periodic[d] && box->end[d] == box->cells[d] ? 1 : 0;

    lattice.first[d] = along * box->start[d] - before;
    lattice.nodes[d] = along * (box->end[d] - box->start[d]) + 1 + before + after;
  }
  return lattice;
}

PetscErrorCode SplashFindSurface(Splash splash, PetscInt nodes, ContourMesh *mesh)
{
  const PetscReal      spacing = grid_spacing(splash->grid) / splash->config->particles;
  const ContourLattice lattice = find_lattice(splash, nodes);
  SurfaceFinder        finder = {.splash = splash,
                                 .lattice = &lattice,
                                 .along = nodes,
                                 .reach = reach_in_spacings * spacing,
                                 .offset = flat_offset() * spacing};
  ParticleView         view;

  PetscFunctionBegin;
  PetscCall(HaloBuild(splash->halo));
  PetscCall(HaloGetView(splash->halo, &finder.halo));
  PetscCall(ParticlesGetView(splash->particles, &view));
  finder.own = view.positions;
  PetscCall(VecGetArrayRead(splash->near, &finder.near));
  PetscCall(ContourCreateOfValues(&lattice, FillLayer, &finder, mesh));
  PetscCall(VecRestoreArrayRead(splash->near, &finder.near));
  PetscFunctionReturn(0);
}
