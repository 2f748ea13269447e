/* What the fluid does to every body in a step, by pressure and by viscosity, and how that was found. */
#include "coupled_impl.h"

PetscErrorCode SimulationTakeLoads(Simulation simulation, PetscReal dt, Vec solved[DIM])
{
  struct Coupled   *coupled = simulation->coupled;
  const SolvedFaces faces = {coupled->star, solved, coupled->solved};

  PetscFunctionBegin;
  PetscCall(SimulationTimeAs(simulation, WAIT_FOR_FLUID));
  PetscCall(CouplingGetImpulses(coupled->coupling, coupled->impulse, &faces, coupled->loads[LOAD_PRESSURE]));
  PetscCall(SimulationTimeAs(simulation, OWN_WORK));
  for (PetscInt n = 0; n < coupled->count; n++) {
    coupled->loads[LOAD_PRESSURE][n] /= dt;
    coupled->loads[LOAD_VISCOSITY][n] = coupled->viscous_impulses[n] / dt;
    coupled->loads[LOAD_ALL][n] = coupled->loads[LOAD_PRESSURE][n] + coupled->loads[LOAD_VISCOSITY][n];
  }
  PetscFunctionReturn(0);
}

static void put_solves(const struct Coupled *coupled, Record *record)
{
  const CouplingReport *report = &coupled->report;

  record_put(record, coupled->iterations, "1", "coupled_iterations");
  record_put(record, coupled->half_iterations, "1", "half_iterations");
  record_put(record, coupled->advecting_iterations, "1", "advecting_iterations");
  record_put(record, report->residual, "1", "coupled_residual");
  record_put(record, coupled->rounds, "1", "coupled_rounds");
  record_put(record, coupled->disagreement, "m/s", "coupled_disagreement");
  record_put(record, coupled->unsettled, "1", "coupled_unsettled");
  record_put(record, report->mixed_faces, "1", "mixed_faces");
  record_put(record, report->shared_faces, "1", "shared_faces");
  record_put(record, report->contact_faces, "1", "touching");
  record_put(record, report->components, "1", "components");
  record_put(record, report->null_vectors, "1", "null_vectors");
  record_put(record, report->imbalance, "m^3/s", "imbalance");
  record_put(record, report->unseen_bodies, "1", "unseen_bodies");
  record_put(record, report->inexact_bodies, "1", "inexact_bodies");
}

/* Of a fluid beside bodies that stand still. */
static void put_pressure(const struct Coupled *coupled, Record *record)
{
  const CouplingReport *report = &coupled->report;

  record_put(record, coupled->iterations, "1", "pressure_iterations");
  record_put(record, report->residual, "1", "pressure_residual");
  record_put(record, report->mixed_faces, "1", "mixed_faces");
  record_put(record, report->components, "1", "components");
  record_put(record, report->null_vectors, "1", "null_vectors");
  record_put(record, report->imbalance, "m^3/s", "imbalance");
  record_put(record, report->unseen_bodies, "1", "unseen_bodies");
}

/* On a body, or on the mesh behind all bodies. In two dimensions a torque is about z. */
static void put_load(Simulation simulation, Record *record, PetscInt body, Load load)
{
  static const char *const kinds[] = {"pressure", "viscous"};
  const PetscReal         *values = &simulation->coupled->loads[load][2 * DIM * body];
  const PetscInt dimension = simulation->config->grid.dimension, bodies = solid_body_count(simulation->solid);
  char           name[RECORD_NAME_LENGTH - 32], column[RECORD_NAME_LENGTH];

  if (body < bodies)
    record_body_name(simulation, body, name, sizeof(name));
  else
    snprintf(name, sizeof(name), "%s", solid_deforming_config(simulation->solid, body - bodies)->name);
  snprintf(column, sizeof(column), "%s_force_%s", kinds[load], name);
  record_put_vector(record, values, dimension, "N", column);
  snprintf(column, sizeof(column), "%s_torque_%s", kinds[load], name);
  record_put_turning(record, values + DIM, dimension, "N m", column);
}

PetscErrorCode SimulationRecordCoupled(Simulation simulation, Record *record)
{
  PetscFunctionBegin;
  record_put(record, simulation->coupled->divergence, "1/s", "divergence_max");
  if (simulation->coupled->stands_still)
    put_pressure(simulation->coupled, record);
  else {
    put_solves(simulation->coupled, record);
    record_put_momentum(simulation, record);
  }
  for (PetscInt b = 0; b < simulation->coupled->count / TWIST; b++)
    if (b >= solid_body_count(simulation->solid) || record_shows_body(simulation, b)) {
      put_load(simulation, record, b, LOAD_PRESSURE);
      put_load(simulation, record, b, LOAD_VISCOSITY);
    }
  PetscFunctionReturn(0);
}

PetscErrorCode SimulationWriteBodies(Simulation simulation, FrameSeries frames)
{
  const struct Coupled *coupled = simulation->coupled;
  BodyField fields[3] = {{.name = "pressure_force"}, {.name = "viscous_force"}, {.name = "torque"}};

  PetscFunctionBegin;
  if (coupled) {
    fields[0].values = coupled->loads[LOAD_PRESSURE];
    fields[1].values = coupled->loads[LOAD_VISCOSITY];
    fields[2].values = coupled->loads[LOAD_ALL] + DIM;
  }
  PetscCall(SolidWriteFrame(simulation->solid, frames, coupled ? 3 : 0, fields));
  PetscFunctionReturn(0);
}
