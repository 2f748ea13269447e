/* Momentum and incompressibility on the MAC grid: advection, forces, viscosity, sides, projection, scalars.
 */
#ifndef MILLRACE_FLUID_H
#define MILLRACE_FLUID_H

#include <millrace/grid.h>

typedef enum { SIDE_WALL, SIDE_SLIP, SIDE_INFLOW, SIDE_OPEN, SIDE_PERIODIC } SideKind;
extern const char *const SideKinds[];
typedef enum { ADVECT_SEMI_LAGRANGIAN, ADVECT_MACCORMACK, ADVECT_WENO5, ADVECT_NONE } AdvectionScheme;
extern const char *const AdvectionSchemes[];

typedef struct {
  SideKind kind;
  Formula  velocity[DIM]; /* of a moving wall or an inflow, m/s */
} SideConfig;

/* A quantity carried by the fluid: smoke, temperature, dye. */
typedef struct {
  char     *name;
  Formula   initial;
  PetscReal diffusivity; /* m^2/s */
  PetscReal expansion;   /* buoyancy: acceleration -gravity expansion (value - reference) */
  PetscReal reference;
  PetscReal decay;  /* 1/s towards the reference */
  Formula   inflow; /* value that enters through inflow and open sides */
} ScalarConfig;

typedef struct {
  PetscReal       density;   /* kg/m^3 */
  PetscReal       viscosity; /* dynamic, Pa s */
  Vector3         gravity;
  Formula         body_force[DIM]; /* acceleration, m/s^2 */
  Formula         initial_velocity[DIM];
  AdvectionScheme advection;
  PetscReal       cfl; /* cells per step */
  PetscReal       pressure_tolerance;
  PetscReal       viscosity_tolerance;
  SideConfig      sides[DIM][2];
  PetscInt        scalar_count;
  ScalarConfig   *scalars;
} FluidConfig;
extern const SchemaKey FluidKeys[];

#endif
