#include "splash_case.h"

#include "harness.h"

#include <string.h>

const PetscReal splash_case_gravity = 9.81;

void splash_case_prepare(PetscInt dimension, PetscInt resolution, Vector3 size, SplashCase *one)
{
  memset(one, 0, sizeof(*one));
  one->grid = (GridConfig){.dimension = dimension, .size = size, .resolution = resolution};
  one->fluid.density = 1000.;
  one->fluid.gravity = vector3(0., -splash_case_gravity, 0.);
  assert_success(ConfigSetDefaults(SplashKeys, &one->config));
  one->config.tolerance = 1e-10;
  one->config.liquids = one->liquids;
}

void splash_case_add_block(SplashCase *one, Vector3 low, Vector3 high)
{
  assert_success(ShapeCreateBox(low, high, &one->liquids[one->config.liquid_count++].shape));
}

void splash_case_set_periodic(SplashCase *one, PetscInt d)
{
  one->grid.periodic[d] = PETSC_TRUE;
  one->fluid.sides[d][0].kind = one->fluid.sides[d][1].kind = SIDE_PERIODIC;
}

void splash_case_begin(MPI_Comm comm, SplashCase *one)
{
  assert_success(MacGridCreate(comm, &one->grid, &one->box));
  assert_success(SplashCreate(one->box, &one->config, &one->fluid, &one->splash));
  assert_success(SplashStart(one->splash));
}

void splash_case_end(SplashCase *one)
{
  assert_success(SplashDestroy(&one->splash));
  assert_success(MacGridDestroy(&one->box));
  for (PetscInt n = 0; n < one->config.liquid_count; n++)
    assert_success(ShapeDestroy(&one->liquids[n].shape));
}

ParticleView splash_case_view(SplashCase *one)
{
  Particles    particles;
  ParticleView view;

  PetscCallAbort(PETSC_COMM_SELF, SplashGetParticles(one->splash, &particles));
  PetscCallAbort(PETSC_COMM_SELF, ParticlesGetView(particles, &view));
  return view;
}

SplashTotals splash_case_totals(SplashCase *one)
{
  SplashTotals totals;

  PetscCallAbort(PETSC_COMM_SELF, SplashGetTotals(one->splash, &totals));
  return totals;
}

void splash_case_step(SplashCase *one, PetscReal dt)
{
  PetscBool good;

  assert_success(SplashStep(one->splash, 0., dt, &good));
  assert_on_all_ranks(good);
}

PetscReal splash_case_step_by(SplashCase *one, PetscReal cells)
{
  PetscReal dt;
  PetscBool good = PETSC_FALSE;

  PetscCallAbort(PETSC_COMM_SELF, SplashGetTimeStepLimit(one->splash, cells, &dt));
  dt = PetscMin(dt, 0.02);
  for (PetscInt tries = 0; tries < 5; tries++, dt *= 0.5) {
    PetscCallAbort(PETSC_COMM_SELF, SplashStep(one->splash, 0., dt, &good));
    if (good)
      return dt;
  }
  assert_on_all_ranks(good);
  return 0.;
}
