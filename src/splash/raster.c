/* From particles to the grid (Gerszewski 2014, 3.2.1): with the hat T, a product of 1 - |x|/h,

     m_f = m_p sum T(x_p - x_f),   u_f = m_p sum u_p T(x_p - x_f) / m_f,   density = m / h^d,

   for cells likewise, without velocity. With APIC (Jiang et al. 2015) u_p is u_p + C_p (x_f - x_p).

   Cells are gone through in the order of their indices, those of the halo included: every sum has the same
   order, and the same bits, on any number of ranks. Mass and momentum of a face lie side by side, so that the
   two corners of a row are one vector of four. */
#include "splash_impl.h"

/* A particle as a component of its velocity sees it: at the corner of its stencil that is (n, s) cells up,
   the velocity is `velocity` + n . `change` along y and z, and along x by change[X] s. */
typedef struct {
  PetscReal velocity, change[DIM];
} AffineVelocity;

KERNEL AffineVelocity affine_velocity(const PetscReal *values, PetscInt component, PetscReal spacing,
                                      const PetscReal fraction[DIM], const PetscInt width,
                                      const PetscInt dimension)
{
  AffineVelocity u = {.velocity = values ? values[component] : 0.};

  for (PetscInt d = 0; d < dimension && width > DIM; d++) {
    u.change[d] = spacing * values[DIM * (component + 1) + d];
    u.velocity -= fraction[d] * u.change[d];
  }
  return u;
}

/* To the two (four) rows of corners around a centre. */
KERNEL void add_to_cells(const PointFrame *frame, const PetscReal fraction[DIM], PetscReal *corner,
                         const PetscInt dimension)
{
  for (PetscInt n = 0; n < (dimension == 3 ? 4 : 2); n++) {
    PetscReal *row = corner + (n & 1) * frame->stride[Y] + (n >> 1) * frame->stride[Z];
    PetscReal  weight = n & 1 ? fraction[Y] : 1. - fraction[Y];

    if (dimension == 3)
      weight *= n >> 1 ? fraction[Z] : 1. - fraction[Z];
    row[0] += weight * (1. - fraction[X]);
    row[1] += weight * fraction[X];
  }
}

KERNEL void add_to_faces(const PointFrame *frame, const PetscReal fraction[DIM], const AffineVelocity *u,
                         PetscReal *corner, const PetscInt width, const PetscInt dimension)
{
  for (PetscInt n = 0; n < (dimension == 3 ? 4 : 2); n++) {
    PetscReal      *row = corner + 2 * ((n & 1) * frame->stride[Y] + (n >> 1) * frame->stride[Z]);
    PetscReal       weight = n & 1 ? fraction[Y] : 1. - fraction[Y], left, right;
    const PetscReal there =
        width > DIM ? u->velocity + (n & 1 ? u->change[Y] : 0.) + (n >> 1 ? u->change[Z] : 0.) : u->velocity;

    if (dimension == 3)
      weight *= n >> 1 ? fraction[Z] : 1. - fraction[Z];
    left = weight * (1. - fraction[X]);
    right = weight * fraction[X];
    row[0] += left;
    row[1] += left * there;
    row[2] += right;
    row[3] += right * (width > DIM ? there + u->change[X] : there);
  }
}

KERNEL void raster_one(const PointFrame *frame, const PointRun *run, PetscInt n, const PetscReal *values,
                       const RasterFields *fields, const PetscInt width, const PetscInt dimension)
{
  const PetscReal spacing = 1. / frame->inverse;

  for (PetscInt component = CELL_CENTRES; component < dimension; component++) {
    PetscReal      fraction[DIM];
    PetscInt       corner = frame->base;
    AffineVelocity u;

    for (PetscInt d = 0; d < dimension; d++) {
      const RunPlaces *places = d == component ? &run->on_face[d] : &run->on_centre[d];

      corner += places->corner[n];
      fraction[d] = places->fraction[n];
    }
    if (component == CELL_CENTRES) {
      add_to_cells(frame, fraction, fields->cells + corner, dimension);
      continue;
    }
    u = affine_velocity(values, component, spacing, fraction, width, dimension);
    add_to_faces(frame, fraction, &u, fields->faces[component] + 2 * corner, width, dimension);
  }
}

/* `count` is at most that of a run. */
KERNEL void raster_run(const PointFrame *frame, PetscInt count, const Vector3 *positions,
                       const PetscReal *values, const RasterFields *fields, const PetscInt width,
                       const PetscInt dimension)
{
  PetscReal at[DIM][POINT_RUN];
  PointRun  run;

  for (PetscInt n = 0; n < POINT_RUN; n++)
    for (PetscInt d = 0; d < dimension; d++)
      at[d][n] = positions[n < count ? n : count - 1].at[d];
  run_locate(frame, at, &run, dimension);
  for (PetscInt n = 0; n < count; n++)
    raster_one(frame, &run, n, values ? values + n * width : NULL, fields, width, dimension);
}

#define RASTER(name, width, dimension)                                                                       \
  VECTOR_CLONES static void name(const PointFrame *frame, PetscInt count, const Vector3 *positions,          \
                                 const PetscReal *values, const RasterFields *fields)                        \
  {                                                                                                          \
    raster_run(frame, count, positions, values, fields, width, dimension);                                   \
  }
RASTER(raster_plane, DIM, 2)
RASTER(raster_space, DIM, 3)
RASTER(raster_affine_plane, DIM + AFFINE, 2)
RASTER(raster_affine_space, DIM + AFFINE, 3)

void raster_points(const Splash splash, PetscInt count, const Vector3 positions[], const PetscReal values[],
                   PetscInt width, const RasterFields *fields)
{
  void (*const kernels[2][2])(const PointFrame *, PetscInt, const Vector3 *, const PetscReal *,
                              const RasterFields *) = {{raster_plane, raster_space},
                                                       {raster_affine_plane, raster_affine_space}};
  const PetscInt   dimension = grid_box(splash->grid)->dimension;
  const PointFrame frame = point_frame(splash->grid);

  for (PetscInt n = 0; n < count; n += POINT_RUN)
    kernels[width > DIM][dimension - 2](&frame, PetscMin(POINT_RUN, count - n), positions + n,
                                        values ? values + n * width : NULL, fields);
}

PetscErrorCode RasterBegin(Splash splash, Vec cells, RasterFields *fields)
{
  const GridBox *box = grid_box(splash->grid);

  PetscFunctionBegin;
  PetscCall(VecSet(cells, 0.));
  PetscCall(VecGetArray(cells, &fields->cells));
  for (PetscInt d = 0; d < box->dimension; d++)
    PetscCall(PetscCalloc1(2 * box->length, &fields->faces[d]));
  PetscFunctionReturn(0);
}

/* What went beyond a closed side comes back to the layer inside: nothing of a particle is lost there, so that
   a wall is filled as closely as the middle of the box. `count` values of each place. */
static void fold_layer(const GridBox *box, PetscInt d, PetscInt side, PetscInt count, PetscReal *values)
{
  const PetscInt inner = side ? box->cells[d] - 1 : 0, beyond = side ? count : -count;
  PetscInt       low[DIM] = {0, 0, 0}, high[DIM] = {1, 1, 1};

  for (PetscInt e = 0; e < box->dimension; e++)
    high[e] = box->end[e] - box->start[e] + 2 * box->ghost;
  low[d] = inner - box->start[d] + box->ghost;
  high[d] = low[d] + 1;
  for (PetscInt k = low[Z]; k < high[Z]; k++)
    for (PetscInt j = low[Y]; j < high[Y]; j++)
      for (PetscInt i = low[X]; i < high[X]; i++) {
        PetscReal *at = values + count * (i + j * box->stride[Y] + k * box->stride[Z]);

        for (PetscInt n = 0; n < count; n++) {
          at[n] += at[beyond * box->stride[d] + n];
          at[beyond * box->stride[d] + n] = 0.;
        }
      }
}

void raster_fold_sides(const Splash splash, const RasterFields *fields)
{
  const GridBox *box = grid_box(splash->grid);

  for (PetscInt d = 0; d < box->dimension; d++)
    for (PetscInt side = 0; side < 2; side++) {
      if (box->neighbour[d][side] != MPI_PROC_NULL || !side_is_closed(splash, d, side))
        continue;
      fold_layer(box, d, side, 1, fields->cells);
      for (PetscInt component = 0; component < box->dimension; component++)
        if (component != d)
          fold_layer(box, d, side, 2, fields->faces[component]);
    }
}

/* Momentum over mass; no mass, no velocity. */
static PetscErrorCode Divide(PetscInt length, PetscReal share, const PetscReal *pairs, Vec density,
                             Vec velocity)
{
  PetscReal *mass, *u = NULL;

  PetscFunctionBegin;
  PetscCall(VecGetArray(density, &mass));
  for (PetscInt c = 0; c < length; c++)
    mass[c] = share * pairs[2 * c];
  PetscCall(VecRestoreArray(density, &mass));
  if (!velocity)
    PetscFunctionReturn(0);
  PetscCall(VecGetArray(velocity, &u));
  for (PetscInt c = 0; c < length; c++)
    u[c] = pairs[2 * c] > 0. ? pairs[2 * c + 1] / pairs[2 * c] : 0.;
  PetscCall(VecRestoreArray(velocity, &u));
  PetscFunctionReturn(0);
}

/* An open side has half of what a face has: as much again is beyond it. */
static PetscErrorCode DoubleOpenSides(Splash splash, Vec faces[DIM])
{
  const GridBox *box = grid_box(splash->grid);
  PetscReal     *values[DIM];

  PetscFunctionBegin;
  PetscCall(MacGridGetFaces(splash->grid, faces, values));
  for (PetscInt d = 0; d < box->dimension; d++)
    for (PetscInt side = 0; side < 2; side++) {
      GridRange layer = grid_faces(splash->grid, d);

      if (box->neighbour[d][side] != MPI_PROC_NULL ||
          face_place(splash, d, side ? box->cells[d] : 0) != FACE_OPEN)
        continue;
      layer.start[d] = side ? box->cells[d] : 0;
      layer.end[d] = layer.start[d] + 1;
      FOR_CELLS(&layer, i, j, k)
        values[d][box_index(box, i, j, k)] *= 2.;
    }
  PetscCall(MacGridRestoreFaces(splash->grid, faces, values));
  PetscFunctionReturn(0);
}

PetscErrorCode RasterEnd(Splash splash, RasterFields *fields, Vec cells, Vec faces[DIM], Vec velocity[DIM])
{
  const GridBox  *box = grid_box(splash->grid);
  const PetscReal share = 1. / lattice_size(splash->config, box->dimension);

  PetscFunctionBegin;
  raster_fold_sides(splash, fields);
  PetscCall(VecRestoreArray(cells, &fields->cells));
  PetscCall(VecScale(cells, share));
  for (PetscInt d = 0; d < box->dimension; d++) {
    PetscCall(Divide(box->length, share, fields->faces[d], faces[d], velocity ? velocity[d] : NULL));
    PetscCall(PetscFree(fields->faces[d]));
  }
  PetscCall(DoubleOpenSides(splash, faces));
  PetscCall(MacGridExchange(splash->grid, cells));
  PetscCall(MacGridExchangeFaces(splash->grid, faces));
  if (velocity)
    PetscCall(MacGridExchangeFaces(splash->grid, velocity));
  PetscFunctionReturn(0);
}

/* The cells from `c` on whose particles follow each other in memory: the first cell after them. */
static PetscInt end_of_cells(const HaloView *halo, PetscInt c, PetscInt *count)
{
  const PetscInt  start = halo->start[c];
  const PetscBool are_own = start < halo->own;

  for (*count = 0; c < halo->box->length && halo->start[c] == start + *count; c++) {
    if (are_own != (halo->start[c] < halo->own))
      break;
    *count += halo->length[c];
  }
  return c;
}

static PetscErrorCode RasterAll(Splash splash, const RasterFields *fields)
{
  const PetscInt width = splash->width;
  PetscInt       count;
  ParticleView   own;
  HaloView       halo;
  PetscReal     *copies;

  PetscFunctionBegin;
  PetscCall(HaloBuild(splash->halo));
  PetscCall(HaloGetView(splash->halo, &halo));
  PetscCall(ParticlesGetView(splash->particles, &own));
  PetscCall(PetscMalloc1(halo.count * width, &copies));
  PetscCall(HaloExchange(splash->halo, width, own.values, copies));
  for (PetscInt c = 0, end; c < halo.box->length; c = end) {
    const PetscInt start = halo.start[c], copy = start - halo.own;

    end = end_of_cells(&halo, c, &count);
    if (copy < 0)
      raster_points(splash, count, own.positions + start, own.values + start * width, width, fields);
    else
      raster_points(splash, count, halo.positions + copy, copies + copy * width, width, fields);
  }
  PetscCall(PetscFree(copies));
  PetscFunctionReturn(0);
}

PetscErrorCode SplashRasterise(Splash splash)
{
  RasterFields fields;

  PetscFunctionBegin;
  PetscCall(RasterBegin(splash, splash->density, &fields));
  PetscCall(RasterAll(splash, &fields));
  PetscCall(RasterEnd(splash, &fields, splash->density, splash->face_density, splash->old));
  PetscFunctionReturn(0);
}
