#ifndef MILLRACE_SPLASH_IMPL_H
#define MILLRACE_SPLASH_IMPL_H

#include <millrace/halo.h>
#include <millrace/point_run.h>
#include <millrace/splash.h>
#include <millrace/sums.h>

enum { AFFINE = DIM * DIM };

/* Mass and momentum of a face are side by side: [2 c] and [2 c + 1]. */
typedef struct {
  PetscReal *cells, *faces[DIM];
} RasterFields;

/* A cell of this rank with the shares that one body has of its lower and upper faces, but for closed sides.
 */
typedef struct {
  PetscInt  body, at[DIM];
  PetscInt  place, tight; /* in fields, and among owned cells */
  PetscReal shares[DIM][2];
} BodyCell;

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

  PetscInt    body_count;
  SplashBody *bodies;
  PetscReal (*blocks)[TWIST][TWIST]; /* of each body: density h^dimension over its mass, and inertia */
  PetscInt         row_count;
  BodyCell        *cells;   /* those that bodies close faces of */
  BodyRow         *rows;    /* of B (bounded.h), for each of them */
  BodyColumns      columns; /* of these, as the solve takes them */
  ReproducibleSum *hits;    /* impulses of particles on each body, so far */
  RasterFields     shares;  /* of one body at a time; zero in between */

  Vec free_room, free_face_room[DIM]; /* `room` without bodies; null unless there are some */
  Vec free_near, free_solid;          /* and what follows it */
  Vec room, face_room[DIM];           /* largest density: 1 less what sides and obstacles take */
  Vec near;                           /* 1 where particles may be in an obstacle */
  Vec solid;                          /* 1 in cells with their centre in an obstacle */
  Vec held; /* 1 + the source that a cell has its centre in, or 0; null if unilateral */
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

/* splash.c: the same of all particles. */
PetscReal splash_particle_mass(const Splash splash);

/* raster.c: what particles give to cells and faces. */
PetscErrorCode RasterBegin(Splash splash, Vec cells, RasterFields *fields);
/* `width` values of each, null: without momentum */
void raster_points(const Splash splash, PetscInt count, const Vector3 positions[], const PetscReal values[],
                   PetscInt width, const RasterFields *fields);
/* What lies beyond closed sides is added to what is inside. */
void raster_fold_sides(const Splash splash, const RasterFields *fields);
/* The same, then `cells` and `faces` become densities, `velocity` (null: none) momentum over mass; ghosts
 * valid. */
PetscErrorCode RasterEnd(Splash splash, RasterFields *fields, Vec cells, Vec faces[DIM], Vec velocity[DIM]);

/* room.c */
PetscErrorCode SplashFindRoom(Splash splash);
/* The least over all obstacles; negative inside. */
PetscReal obstacle_distance(const Splash splash, Vector3 point);
PetscBool is_in_obstacle(const Splash splash, Vector3 point);    /* its sign, which takes less */
PetscBool is_in_box(const GridBox *box, const PetscInt at[DIM]); /* or beyond a periodic side */
Vector3   lattice_point(const Splash splash, const PetscInt at[DIM], PetscInt n);
/* Whether liquid cannot pass a side; and where index `at` of a face lies on one. */
PetscBool side_is_closed(const Splash splash, PetscInt direction, PetscInt side);
typedef enum { FACE_INSIDE, FACE_CLOSED, FACE_OPEN } FacePlace;
static inline FacePlace face_place(const Splash splash, PetscInt direction, PetscInt at)
{
  const GridBox *box = grid_box(splash->grid);

  if (box->periodic[direction] || (at > 0 && at < box->cells[direction]))
    return FACE_INSIDE;
  return side_is_closed(splash, direction, at ? 1 : 0) ? FACE_CLOSED : FACE_OPEN;
}

/* bodies.c */
/* The least over obstacles and bodies, and which body it is; -1: an obstacle. At most about two cells. */
PetscReal solid_distance(const Splash splash, Vector3 point, PetscInt *body);
/* The rows of B, once the densities of the step are known; then right_side -= dt/h B V. */
PetscErrorCode SplashFindRows(Splash splash);
PetscErrorCode SplashAddBodyFlux(Splash splash, PetscReal dt);
/* What the impulse does to the bodies. */
PetscErrorCode SplashPushBodies(Splash splash, PetscReal dt);
/* An impulse (kg m/s) at a point, of this rank; then those of all ranks. */
void           splash_hit_body(Splash splash, PetscInt body, Vector3 point, Vector3 impulse);
PetscErrorCode SplashSumHits(Splash splash);

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

/* unilateral.c: what of the pressure across a face, of which liquid has this weight and density, it takes. */
PetscReal splash_pressed_share(PetscReal weight, PetscReal density);
/* unilateral.c, bilateral.c: from `old` and the densities to `velocity` on marked faces, and `offset` */
PetscErrorCode SplashCorrectDensity(Splash splash);
PetscErrorCode SplashProjectUnilateral(Splash splash, PetscReal dt);
PetscErrorCode SplashProjectBilateral(Splash splash, PetscReal dt);

/* extrapolate.c */
PetscErrorCode SplashExtrapolate(Splash splash);

/* move.c: velocities from the grid, positions along it; out of what has come to where particles are */
PetscErrorCode SplashMoveParticles(Splash splash, PetscReal dt);
PetscErrorCode SplashClearBodies(Splash splash);

#endif
