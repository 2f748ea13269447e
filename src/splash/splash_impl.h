#ifndef MILLRACE_SPLASH_IMPL_H
#define MILLRACE_SPLASH_IMPL_H

#include <millrace/halo.h>
#include <millrace/point_run.h>
#include <millrace/splash.h>

enum { AFFINE = DIM * DIM };

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

/* Of faces across a direction, or of cells. */
enum { CELL_CENTRES = -1 };

static inline PetscInt lattice_size(const SplashConfig *config, PetscInt dimension)
{
  return config->particles * config->particles * (dimension == 3 ? config->particles : 1);
}

/* raster.c: what particles give to cells and faces, which have their mass and momentum side by side: [2 c]
   and [2 c + 1]. */
typedef struct {
  PetscReal *cells, *faces[DIM];
} RasterFields;
PetscErrorCode RasterBegin(Splash splash, Vec cells, RasterFields *fields);
/* `width` values of each, null: without momentum */
void raster_points(const Splash splash, PetscInt count, const Vector3 positions[], const PetscReal values[],
                   PetscInt width, const RasterFields *fields);
/* `cells` and `faces` become densities, `velocity` (null: none) momentum over mass; ghosts valid. */
PetscErrorCode RasterEnd(Splash splash, RasterFields *fields, Vec cells, Vec faces[DIM], Vec velocity[DIM]);

/* room.c */
PetscErrorCode SplashFindRoom(Splash splash);
/* The least over all obstacles; negative inside. */
PetscReal obstacle_distance(const Splash splash, Vector3 point);
Vector3   lattice_point(const Splash splash, const PetscInt at[DIM], PetscInt n);
/* Whether liquid cannot pass a side. */
PetscBool side_is_closed(const Splash splash, PetscInt direction, PetscInt side);

/* sources.c: the velocity of sources; what has entered through them between two times (the same: all that is
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

/* move.c: velocities from the grid, positions along it */
PetscErrorCode SplashMoveParticles(Splash splash, PetscReal dt);

#endif
