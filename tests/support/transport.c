#include "transport.h"

#include "harness.h"

void transport_start(Transport *transport, MPI_Comm comm, const CouplingSetup *setup, Surface surface)
{
  static char names[2][8] = {"smoke", "dye"};

  transport->coupled = coupling_case_new(comm, setup);
  coupling_case_add(transport->coupled, surface, 0.01, 1.,
                    vector3_add(vector3(0.5 * h * setup->cells[X], 0.5 * h * setup->cells[Y],
                                        setup->dimension == 3 ? 0.5 * h * setup->cells[Z] : 0.),
                                transport->offset),
                    vector3(0., 0., 0.3));
  transport->config.density = 1.;
  transport->config.cfl = 1.;
  transport->config.pressure_tolerance = transport->config.viscosity_tolerance = 1e-10;
  transport->config.scalar_count = 2;
  transport->config.scalars = transport->scalars;
  transport->scalars[0].name = names[0];
  transport->scalars[1].name = names[1];
  for (PetscInt d = 0; d < DIM; d++)
    for (int side = 0; side < 2; side++)
      transport->config.sides[d][side].kind = setup->periodic[d] ? SIDE_PERIODIC : SIDE_WALL;
  if (transport->coupled->grid)
    PetscCallAbort(PETSC_COMM_SELF,
                   FluidCreate(transport->coupled->grid, &transport->config, &transport->fluid));
  PetscCallAbort(PETSC_COMM_SELF, CouplingPlace(transport->coupled->coupling, 1, transport->coupled->bodies));
}

void transport_finish(Transport *transport)
{
  PetscCallAbort(PETSC_COMM_SELF, FluidDestroy(&transport->fluid));
  coupling_case_free(transport->coupled);
}

Vector3 transport_place_in_body(const Transport *transport, Vector3 place)
{
  const CouplingSetup *setup = &transport->coupled->setup;
  const CoupledBody   *body = &transport->coupled->bodies[0];
  Vector3              arm = vector3_subtract(place, body->position);

  for (PetscInt d = 0; d < setup->dimension; d++)
    if (setup->periodic[d])
      arm.at[d] -= setup->cells[d] * h * PetscFloorReal(arm.at[d] / (setup->cells[d] * h) + 0.5);
  return quaternion_rotate(quaternion_conjugate(body->rotation), arm);
}

PetscReal transport_smoke(const Transport *transport, Vector3 place)
{
  return surface_is_inside(transport->coupled->bodies[0].surface, transport_place_in_body(transport, place))
             ? 1.
             : 0.;
}

PetscReal transport_dye(const Transport *transport, Vector3 place)
{
  (void)transport;
  return PetscSinReal(3. * place.at[X]) * PetscCosReal(2. * place.at[Y] + place.at[Z]);
}

void transport_fill(Transport *transport, PetscInt scalar, ScalarFunction function)
{
  const GridBox *box = grid_box(transport->coupled->grid);
  PetscReal     *values;
  Vec           *fields;

  PetscCallAbort(PETSC_COMM_SELF, FluidGetScalars(transport->fluid, &fields));
  PetscCallAbort(PETSC_COMM_SELF, VecGetArray(fields[scalar], &values));
  FOR_CELLS(box, i, j, k)
    values[box_index(box, i, j, k)] =
        function(transport, grid_cell_centre(transport->coupled->grid, i, j, k));
  PetscCallAbort(PETSC_COMM_SELF, VecRestoreArray(fields[scalar], &values));
  PetscCallAbort(PETSC_COMM_SELF, FluidRefreshScalars(transport->fluid));
}

PetscReal transport_rigid(const Transport *transport, PetscInt d, Vector3 place)
{
  const CoupledBody *body = &transport->coupled->bodies[0];
  const Vector3      arm = vector3_subtract(place, body->position);
  const Quaternion   turn = quaternion_from_rotation(vector3_scale(step, transport->spin));

  return transport->velocity.at[d] + vector3_subtract(quaternion_rotate(turn, arm), arm).at[d] / step;
}

PetscReal transport_swirl(const Transport *transport, PetscInt d, Vector3 place)
{
  return cfl * h / step * PetscSinReal(5. * place.at[(d + 1) % 2] + 2. * d + 3. * transport->time);
}

void transport_go(Transport *transport, FlowFunction flow)
{
  CouplingCase     *coupled = transport->coupled;
  CoupledBody      *body = &coupled->bodies[0];
  const GridBox    *box;
  const Visibility *visibility;
  PetscReal        *u;
  Vec              *faces, *scalars, *carried;

  if (transport->fluid) {
    box = grid_box(coupled->grid);
    PetscCallAbort(PETSC_COMM_SELF, FluidGetVelocity(transport->fluid, &faces));
    for (PetscInt d = 0; d < box->dimension; d++) {
      const GridRange owned = grid_faces(coupled->grid, d);

      PetscCallAbort(PETSC_COMM_SELF, VecGetArray(faces[d], &u));
      FOR_CELLS(&owned, i, j, k)
        u[box_index(box, i, j, k)] = flow(transport, d, grid_face_centre(coupled->grid, d, i, j, k));
      PetscCallAbort(PETSC_COMM_SELF, VecRestoreArray(faces[d], &u));
    }
    PetscCallAbort(PETSC_COMM_SELF, FluidRefreshVelocity(transport->fluid));
  }
  body->position = vector3_add(body->position, vector3_scale(step, transport->velocity));
  body->rotation = quaternion_normalized(
      quaternion_multiply(quaternion_from_rotation(vector3_scale(step, transport->spin)), body->rotation));
  transport->time += step;
  PetscCallAbort(PETSC_COMM_SELF, CouplingPlace(coupled->coupling, 1, coupled->bodies));
  PetscCallAbort(PETSC_COMM_SELF, CouplingGetVisibility(coupled->coupling, SHELLS_MOVED, step, &visibility));
  if (!transport->fluid)
    return;
  PetscCallAbort(PETSC_COMM_SELF, FluidSetVisibility(transport->fluid, visibility));
  PetscCallAbort(PETSC_COMM_SELF, FluidPredict(transport->fluid, step));
  PetscCallAbort(PETSC_COMM_SELF, FluidGetScalars(transport->fluid, &scalars));
  PetscCallAbort(PETSC_COMM_SELF, FluidGetPrediction(transport->fluid, &faces, &carried));
  for (PetscInt s = 0; s < 2; s++)
    PetscCallAbort(PETSC_COMM_SELF, VecCopy(carried[s], scalars[s]));
  PetscCallAbort(PETSC_COMM_SELF, FluidRefreshScalars(transport->fluid));
}

PetscReal transport_difference(Transport *transport, PetscInt scalar, ScalarFunction function)
{
  const GridBox   *box;
  const PetscReal *values;
  PetscReal        largest = 0.;
  Vec             *fields;

  if (!transport->fluid)
    return 0.;
  box = grid_box(transport->coupled->grid);
  PetscCallAbort(PETSC_COMM_SELF, FluidGetScalars(transport->fluid, &fields));
  PetscCallAbort(PETSC_COMM_SELF, VecGetArrayRead(fields[scalar], &values));
  FOR_CELLS(box, i, j, k)
    largest = PetscMax(
        largest, PetscAbsReal(values[box_index(box, i, j, k)] -
                              function(transport, grid_cell_centre(transport->coupled->grid, i, j, k))));
  PetscCallAbort(PETSC_COMM_SELF, VecRestoreArrayRead(fields[scalar], &values));
  return largest;
}

void transport_set_motion(Transport *transport, PetscReal radius)
{
  const PetscInt  dimension = transport->coupled->setup.dimension;
  const PetscReal speed = cfl * h / step;

  transport->velocity = vector3(0.5 * speed, 0.31 * speed, dimension == 3 ? -0.27 * speed : 0.);
  transport->spin = dimension == 3
                        ? vector3(0.13 * speed / radius, -0.2 * speed / radius, 0.18 * speed / radius)
                        : vector3(0., 0., 0.35 * speed / radius);
}
