#ifndef MILLRACE_SPLASH_IMPL_H
#define MILLRACE_SPLASH_IMPL_H

#include <millrace/halo.h>
#include <millrace/splash.h>

enum { CORNERS = 8, AFFINE = DIM * DIM };

/* Densities are shares of that of the liquid, so that a full cell or face far from walls has 1. */
struct _p_Splash {
  MacGrid             grid;   /* borrowed */
  const SplashConfig *config; /* borrowed */
  const FluidConfig  *fluid;  /* borrowed */
  Particles           particles;
  Halo                halo;
  PetscInt            width; /* values of a particle: velocity, and with APIC its gradient by rows */
  PetscInt            obstacle_count;
  Shape              *obstacles; /* borrowed shapes */

  Vec room, face_room[DIM]; /* largest density: 1 less what sides and obstacles take */
  Vec near;                 /* 1 where particles may be in an obstacle */
  Vec solid;                /* 1 in cells with their centre in an obstacle */
  Vec density, face_density[DIM];
  Vec old[DIM];      /* velocity as rasterised */
  Vec velocity[DIM]; /* then with forces and pressure, extrapolated */
  Vec marks[DIM];    /* 1 where that is known */
  Vec offset[DIM];   /* m, by which the correction moves particles */
  Vec fixed, weights[DIM], right_side;
  Vec lower;              /* of the pressure; null: 0 everywhere */
  Vec potential, impulse; /* answers of the solves, y/h^2 and pressure dt^2/h^2 over density: first guesses */
  Vec pressure;           /* Pa */

  Bounded      bounded; /* null: incompressible FLIP */
  Poisson      poisson; /* null: unilateral */
  SplashReport report;
};

/* Where a point lies among faces (whole cells from the origin) and centres (half a cell less). */
typedef struct {
  PetscInt  whole[2][DIM];
  PetscReal fraction[2][DIM];
} HatPlace;
enum { ON_FACES, ON_CENTRES };

/* The fields of a box in the coordinates of the whole grid. */
typedef struct {
  PetscInt  base; /* flat index of cell (0, 0, 0), which need not exist here */
  PetscInt  stride[DIM], dimension, corners, corner[CORNERS];
  Vector3   origin;
  PetscReal spacing, inverse;
} HatFrame;

/* The values that a point takes part in: those at `first` + corner[n], by `weight` each. */
typedef struct {
  PetscInt  first;
  PetscReal weight[CORNERS];
} HatStencil;

static inline HatFrame hat_frame(MacGrid grid)
{
  const GridBox *box = grid_box(grid);
  HatFrame       frame = {.base = box_index(box, 0, 0, 0),
                          .dimension = box->dimension,
                          .corners = 1 << box->dimension,
                          .origin = grid_origin(grid),
                          .spacing = grid_spacing(grid),
                          .inverse = 1. / grid_spacing(grid)};

  for (PetscInt d = 0; d < box->dimension; d++)
    frame.stride[d] = box->stride[d];
  for (PetscInt n = 0; n < frame.corners; n++)
    for (PetscInt d = 0; d < box->dimension; d++)
      frame.corner[n] += n >> d & 1 ? box->stride[d] : 0;
  return frame;
}

static inline void hat_place(const HatFrame *frame, const Vector3 *point, HatPlace *place)
{
  for (PetscInt d = 0; d < frame->dimension; d++) {
    const PetscReal at = (point->at[d] - frame->origin.at[d]) * frame->inverse;

    for (PetscInt kind = ON_FACES; kind <= ON_CENTRES; kind++) {
      const PetscReal from = kind == ON_FACES ? at : at - 0.5;
      const PetscInt  whole = (PetscInt)(from + 8.) - 8; /* the largest not above, of what is above -8 */

      place->whole[kind][d] = whole;
      place->fraction[kind][d] = from - (PetscReal)whole;
    }
  }
}

/* Of faces across `direction`, or of cells if that is CELL_CENTRES. */
enum { CELL_CENTRES = -1 };
static inline void hat_stencil(const HatFrame *frame, const HatPlace *place, PetscInt direction,
                               HatStencil *stencil)
{
  PetscReal part[DIM][2] = {{0.}};

  stencil->first = frame->base;
  for (PetscInt d = 0; d < frame->dimension; d++) {
    const PetscInt kind = d == direction ? ON_FACES : ON_CENTRES;

    stencil->first += place->whole[kind][d] * frame->stride[d];
    part[d][1] = place->fraction[kind][d];
    part[d][0] = 1. - part[d][1];
  }
  for (PetscInt n = 0; n < 4; n++)
    stencil->weight[n] = part[X][n & 1] * part[Y][n >> 1];
  if (frame->dimension == 3)
    for (PetscInt n = 0; n < 4; n++) {
      stencil->weight[n + 4] = stencil->weight[n] * part[Z][1];
      stencil->weight[n] *= part[Z][0];
    }
}

static inline PetscReal hat_sample(const HatFrame *frame, const HatStencil *stencil, const PetscReal *field)
{
  PetscReal sum = 0.;

  for (PetscInt n = 0; n < frame->corners; n++)
    sum += stencil->weight[n] * field[stencil->first + frame->corner[n]];
  return sum;
}

static inline PetscInt lattice_size(const SplashConfig *config, PetscInt dimension)
{
  return config->particles * config->particles * (dimension == 3 ? config->particles : 1);
}

/* raster.c: what the `count` particles at `positions` give to cells and faces; velocities may be null. */
typedef struct {
  PetscReal *cells, *faces[DIM], *momentum[DIM];
} RasterFields;
void raster_points(const HatFrame *frame, PetscInt count, const Vector3 positions[], const PetscReal values[],
                   PetscInt width, const RasterFields *fields);

/* room.c */
PetscErrorCode SplashFindRoom(Splash splash);
/* The least over all obstacles; negative inside. */
PetscReal obstacle_distance(const Splash splash, Vector3 point);
Vector3   lattice_point(const Splash splash, const PetscInt at[DIM], PetscInt n);
/* Whether liquid cannot pass a side. */
PetscBool side_is_closed(const Splash splash, PetscInt direction, PetscInt side);

/* source.c: the velocity of sources; what has entered through them between two times (the same: all that is
   in them); bursts between these times */
PetscErrorCode SplashHoldSources(Splash splash, PetscReal time);
PetscErrorCode SplashAddSources(Splash splash, PetscReal before, PetscReal now);
PetscErrorCode SplashBurstBetween(Splash splash, PetscReal before, PetscReal now);
PetscReal      splash_source_speed(const Splash splash); /* the largest component */

/* sides.c: velocity on closed sides, unless it is what particles came with, and beyond all that are not
   periodic. */
typedef enum { SIDES_HELD, SIDES_AS_THEY_ARE } SideRule;
PetscErrorCode SplashFillSides(Splash splash, SideRule rule, Vec faces[DIM]);

/* unilateral.c, bilateral.c: from `old` and the densities to `velocity` on marked faces, and `offset` */
PetscErrorCode SplashCorrectDensity(Splash splash);
PetscErrorCode SplashProjectUnilateral(Splash splash, PetscReal dt);
PetscErrorCode SplashProjectBilateral(Splash splash, PetscReal dt);

/* extrapolate.c */
PetscErrorCode SplashExtrapolate(Splash splash);

/* move.c: velocities from the grid, then positions along it */
PetscErrorCode SplashGatherVelocity(Splash splash);
PetscErrorCode SplashMoveParticles(Splash splash, PetscReal dt);

#endif
