/* From particles to the grid (Gerszewski 2014, 3.2.1): with the hat T, a product of 1 - |x|/h,

     m_f = m_p sum T(x_p - x_f),   u_f = m_p sum u_p T(x_p - x_f) / m_f,   density = m / h^d,

   for cells likewise, without velocity. With APIC (Jiang et al. 2015) u_p is u_p + C_p (x_f - x_p).

   Cells are gone through in the order of their indices, those of the halo included: every sum has the same
   order, and the same bits, on any number of ranks. */
#include "splash_impl.h"

/* u of the particle as the corner n of its stencil sees it. */
static inline PetscReal affine_velocity(const HatFrame *frame, const HatPlace *place, PetscInt direction,
                                        PetscInt n, const PetscReal *gradient)
{
  PetscReal sum = 0.;

  for (PetscInt d = 0; d < frame->dimension; d++) {
    const PetscReal fraction = place->fraction[d == direction ? ON_FACES : ON_CENTRES][d];

    sum += gradient[DIM * direction + d] * frame->spacing * ((n >> d & 1 ? 1. : 0.) - fraction);
  }
  return sum;
}

static void raster_faces(const HatFrame *frame, const HatPlace *place, const PetscReal *values,
                         PetscInt width, const RasterFields *fields)
{
  HatStencil stencil;

  for (PetscInt d = 0; d < frame->dimension; d++) {
    hat_stencil(frame, place, d, &stencil);
    for (PetscInt n = 0; n < frame->corners; n++)
      fields->faces[d][stencil.first + frame->corner[n]] += stencil.weight[n];
    if (!values)
      continue;
    for (PetscInt n = 0; n < frame->corners; n++) {
      PetscReal u = values[d];

      if (width > DIM)
        u += affine_velocity(frame, place, d, n, values + DIM);
      fields->momentum[d][stencil.first + frame->corner[n]] += stencil.weight[n] * u;
    }
  }
}

void raster_points(const HatFrame *frame, PetscInt count, const Vector3 positions[], const PetscReal values[],
                   PetscInt width, const RasterFields *fields)
{
  HatPlace   place;
  HatStencil stencil;

  for (PetscInt p = 0; p < count; p++) {
    hat_place(frame, &positions[p], &place);
    hat_stencil(frame, &place, CELL_CENTRES, &stencil);
    for (PetscInt n = 0; n < frame->corners; n++)
      fields->cells[stencil.first + frame->corner[n]] += stencil.weight[n];
    raster_faces(frame, &place, values ? values + p * width : NULL, width, fields);
  }
}

static PetscErrorCode RasterAll(Splash splash, const RasterFields *fields)
{
  const HatFrame frame = hat_frame(splash->grid);
  const PetscInt width = splash->width;
  ParticleView   own;
  HaloView       halo;
  PetscReal     *copies;

  PetscFunctionBegin;
  PetscCall(HaloBuild(splash->halo));
  PetscCall(HaloGetView(splash->halo, &halo));
  PetscCall(ParticlesGetView(splash->particles, &own));
  PetscCall(PetscMalloc1(halo.count * width, &copies));
  PetscCall(HaloShare(splash->halo, width, own.values, copies));
  for (PetscInt c = 0; c < halo.box->length; c++) {
    const PetscInt start = halo.start[c], copy = start - halo.own;

    if (!halo.length[c])
      continue;
    if (copy < 0)
      raster_points(&frame, halo.length[c], own.positions + start, own.values + start * width, width, fields);
    else
      raster_points(&frame, halo.length[c], halo.positions + copy, copies + copy * width, width, fields);
  }
  PetscCall(PetscFree(copies));
  PetscFunctionReturn(0);
}

/* Momentum over mass; no mass, no velocity. */
static void divide(PetscInt length, PetscReal share, PetscReal *mass, PetscReal *momentum)
{
  for (PetscInt c = 0; c < length; c++) {
    momentum[c] = mass[c] > 0. ? momentum[c] / mass[c] : 0.;
    mass[c] *= share;
  }
}

PetscErrorCode SplashRasterise(Splash splash)
{
  const GridBox  *box = grid_box(splash->grid);
  const PetscReal share = 1. / lattice_size(splash->config, box->dimension);
  RasterFields    fields;

  PetscFunctionBegin;
  PetscCall(VecSet(splash->density, 0.));
  for (PetscInt d = 0; d < box->dimension; d++) {
    PetscCall(VecSet(splash->face_density[d], 0.));
    PetscCall(VecSet(splash->old[d], 0.));
  }
  PetscCall(VecGetArray(splash->density, &fields.cells));
  PetscCall(MacGridGetFaces(splash->grid, splash->face_density, fields.faces));
  PetscCall(MacGridGetFaces(splash->grid, splash->old, fields.momentum));
  PetscCall(RasterAll(splash, &fields));
  for (PetscInt d = 0; d < box->dimension; d++)
    divide(box->length, share, fields.faces[d], fields.momentum[d]);
  for (PetscInt c = 0; c < box->length; c++)
    fields.cells[c] *= share;
  PetscCall(MacGridRestoreFaces(splash->grid, splash->old, fields.momentum));
  PetscCall(MacGridRestoreFaces(splash->grid, splash->face_density, fields.faces));
  PetscCall(VecRestoreArray(splash->density, &fields.cells));
  PetscCall(MacGridExchange(splash->grid, splash->density));
  PetscCall(MacGridExchangeFaces(splash->grid, splash->face_density));
  PetscCall(MacGridExchangeFaces(splash->grid, splash->old));
  PetscFunctionReturn(0);
}
