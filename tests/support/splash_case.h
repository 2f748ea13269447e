/* Splashing liquid in a box, without a scene. */
#ifndef MILLRACE_TESTS_SPLASH_CASE_H
#define MILLRACE_TESTS_SPLASH_CASE_H

#include <millrace/splash.h>

/* A box of water, per case: what the keys of a scene would say. */
typedef struct {
  GridConfig   grid;
  FluidConfig  fluid;
  SplashConfig config;
  SplashLiquid liquids[2];
  MacGrid      box;
  Splash       splash;
} SplashCase;

extern const PetscReal splash_case_gravity; /* m/s^2, downwards along y */

/* Water without blocks, tolerance 1e-10; then its blocks and sides, then begin. */
void         splash_case_prepare(PetscInt dimension, PetscInt resolution, Vector3 size, SplashCase *one);
void         splash_case_add_block(SplashCase *one, Vector3 low, Vector3 high);
void         splash_case_set_periodic(SplashCase *one, PetscInt d);
void         splash_case_begin(MPI_Comm comm, SplashCase *one);
void         splash_case_end(SplashCase *one);
ParticleView splash_case_view(SplashCase *one);
SplashTotals splash_case_totals(SplashCase *one);
void         splash_case_step(SplashCase *one, PetscReal dt);
/* Takes the step in which the fastest crosses so many cells, 0.02 s at most, halved while it fails, as a run
   does; returns its length. */
PetscReal splash_case_step_by(SplashCase *one, PetscReal cells);

#endif
