/* Bodies and deformable solids in a run. The solid team advances them; every rank has a copy. */
#include "simulation_impl.h"

#include <millrace/solid_step.h>
#include <petsctime.h>

static PetscBool has_solids(const SimulationConfig *config)
{
  return config->solids.body_count + config->solids.mesh_count > 0;
}

static PetscErrorCode Create(Simulation simulation, char message[], size_t size)
{
  PetscFunctionBegin;
  PetscCall(
      SolidCreateOnTeam(simulation->team, &simulation->config->solids, &simulation->solid, message, size));
  PetscFunctionReturn(0);
}

static PetscErrorCode GetLimit(Simulation simulation, const StepBounds *bounds, PetscReal *limit)
{
  PetscFunctionBegin;
  PetscCall(
      SolidGetTimeStepLimit(simulation->solid, bounds->path, simulation_accelerations(simulation), limit));
  if (simulation->coupled && simulation->config->solids.mesh_count)
    *limit = PetscMin(*limit, solid_points_step(simulation->solid, bounds->path));
  PetscFunctionReturn(0);
}

static PetscErrorCode GetGivenLimit(Simulation simulation, const StepBounds *bounds, PetscReal dt,
                                    PetscReal *limit)
{
  PetscReal speed;

  PetscFunctionBegin;
  PetscCall(SolidGetGivenSpeed(simulation->solid, simulation->time, dt, &speed));
  if (speed > 0.)
    *limit = bounds->path / speed;
  PetscFunctionReturn(0);
}

static PetscErrorCode Keep(Simulation simulation)
{
  PetscFunctionBegin;
  if (!simulation->coupled)
    PetscCall(SolidBalance(simulation->solid));
  PetscCall(SolidKeep(simulation->solid));
  PetscFunctionReturn(0);
}

static PetscErrorCode Restore(Simulation simulation)
{
  PetscFunctionBegin;
  PetscCall(SolidReturn(simulation->solid));
  PetscFunctionReturn(0);
}

static PetscErrorCode Describe(Simulation simulation, Text *layout)
{
  const SolidConfig *config = &simulation->config->solids;

  PetscFunctionBegin;
  PetscCall(TextAppend(layout, "%s%" PetscInt_FMT " bodies", layout->length ? ", and " : "",
                       solid_body_count(simulation->solid)));
  for (PetscInt b = 0; b < config->body_count; b++)
    PetscCall(TextAppend(layout, "%s%s", b ? ", " : ": ", config->bodies[b].name));
  PetscCall(TextAppend(layout, " with %" PetscInt_FMT " joints", config->joint_count));
  for (PetscInt m = 0; m < config->mesh_count; m++)
    PetscCall(TextAppend(layout, "%smesh %s of %" PetscInt_FMT " elements", m ? ", " : ", and ",
                         config->meshes[m].name, solid_mesh_elements(simulation->solid, m)));
  if (config->mesh_count && elastic_time_is_implicit(config->elasticity))
    PetscCall(TextAppend(layout, ", elasticity %s by %s", ElasticTimes[config->elasticity],
                         ElasticSolvers[config->solver]));
  for (PetscInt side = 0; side < 2 * DIM; side++)
    if (config->held[side / 2][side % 2])
      PetscCall(TextAppend(layout, ", wall_%c_%s", "xyz"[side / 2], side % 2 ? "high" : "low"));
  PetscFunctionReturn(0);
}

static PetscErrorCode Save(Simulation simulation, Archive archive)
{
  PetscFunctionBegin;
  PetscCall(SolidSave(simulation->solid, archive));
  PetscFunctionReturn(0);
}

static PetscErrorCode Load(Simulation simulation, Archive archive)
{
  PetscFunctionBegin;
  PetscCall(SolidLoad(simulation->solid, simulation->time, archive));
  PetscFunctionReturn(0);
}

static PetscErrorCode ShareLoaded(Simulation simulation)
{
  PetscFunctionBegin;
  PetscCall(SolidBroadcast(simulation->solid, team_world(simulation->team), 0));
  PetscFunctionReturn(0);
}

void record_body_name(Simulation simulation, PetscInt body, char name[], size_t size)
{
  const BodyView view = solid_body_view(simulation->solid, body);

  if (view.copy >= 0)
    snprintf(name, size, "%s.%d", view.config->name, (int)view.copy);
  else
    snprintf(name, size, "%s", view.config->name);
}

PetscBool record_shows_body(Simulation simulation, PetscInt body)
{
  const PetscBool dynamic = solid_body_view(simulation->solid, body).config->kind == BODY_DYNAMIC;
  PetscInt        alike = 0;

  if (simulation_stands_still(simulation->config))
    return PETSC_TRUE;
  for (PetscInt b = 0; b < solid_body_count(simulation->solid) && alike <= MOST_BODIES; b++)
    alike += (solid_body_view(simulation->solid, b).config->kind == BODY_DYNAMIC) == dynamic;
  return alike <= MOST_BODIES;
}

static void put_bodies(Simulation simulation, Record *record)
{
  const PetscInt dimension = record_dimension(simulation->config);

  for (PetscInt b = 0; b < solid_body_count(simulation->solid); b++) {
    const BodyView body = solid_body_view(simulation->solid, b);
    char           name[RECORD_NAME_LENGTH - 16], column[RECORD_NAME_LENGTH];

    if (body.config->kind != BODY_DYNAMIC || !record_shows_body(simulation, b))
      continue;
    record_body_name(simulation, b, name, sizeof(name));
    snprintf(column, sizeof(column), "position_%s", name);
    record_put_vector(record, body.position.at, dimension, "m", column);
    snprintf(column, sizeof(column), "velocity_%s", name);
    record_put_vector(record, body.velocity.at, dimension, "m/s", column);
  }
}

static void put_elements(Record *record, const SolidReport *report)
{
  record_put(record, report->elastic_energy, "J", "elastic_energy");
  record_put(record, report->volume, "m^3", "deformable_volume");
  record_put(record, report->least_ratio, "1", "det_F_min");
  record_put(record, report->point_contacts, "1", "point_contacts");
  record_put(record, report->substeps, "1", "substeps");
  record_put(record, report->damping_iterations, "1", "damping_iterations");
  record_put(record, report->newton_iterations, "1", "newton_iterations");
  record_put(record, report->linear_iterations, "1", "elastic_iterations");
  record_put(record, report->elastic_solver, "1", "elastic_solver");
}

static void put_mesh_contact(Record *record, const SolidReport *report)
{
  record_put(record, report->mesh_pairs, "1", "mesh_pairs");
  record_put(record, report->mesh_impulses, "1", "mesh_impulses");
  record_put(record, report->mesh_zones, "1", "mesh_zones");
  record_put(record, report->mesh_clamped, "1", "mesh_clamped");
  record_put(record, report->mesh_crossings, "1", "mesh_crossings");
}

static PetscErrorCode RecordSolids(Simulation simulation, Record *record)
{
  const SolidReport report = solid_report(simulation->solid);
  const PetscInt    dimension = record_dimension(simulation->config);

  PetscFunctionBegin;
  if (simulation_stands_still(simulation->config))
    PetscFunctionReturn(0);
  record_put_vector(record, report.momentum.at, dimension, "kg m/s", "solid_momentum");
  record_put_turning(record, report.angular_momentum.at, dimension, "kg m^2/s", "solid_angular_momentum");
  record_put(record, report.kinetic_energy, "J", "solid_kinetic_energy");
  record_put(record, report.potential_energy, "J", "solid_potential_energy");
  record_put(record, report.kinetic_energy + report.potential_energy + report.elastic_energy, "J",
             "solid_energy");
  if (simulation->config->solids.mesh_count)
    put_elements(record, &report);
  if (simulation->config->solids.mesh_count && simulation_is_coupled(simulation->config))
    record_put(record, report.chamber_correction, "m^3", "chamber_correction");
  if (solid_meeting_triangles(simulation->solid))
    put_mesh_contact(record, &report);
  if (solid_can_yield(simulation->solid)) {
    record_put(record, report.plastic_work, "J", "plastic_work");
    record_put(record, report.plastic_strain, "1", "plastic_strain_max");
  }
  if (solid_has_near_points(simulation->solid))
    record_put(record, report.near_points, "1", "near_points");
  if (solid_has_springs(simulation->solid))
    record_put(record, report.longest_binding, "m", "binding_length_max");
  record_put(record, report.largest_speed, "m/s", "solid_speed_max");
  record_put(record, report.largest_penetration, "m", "penetration_max");
  record_put(record, report.largest_joint_error, "m", "joint_error_max");
  record_put(record, report.contacts, "1", "contacts");
  record_put(record, report.contact_points, "1", "contact_points");
  record_put(record, report.collisions, "1", "collisions");
  record_put(record, report.levels, "1", "contact_levels");
  record_put(record, report.position_iterations, "1", "position_iterations");
  record_put(record, report.velocity_iterations, "1", "velocity_iterations");
  record_put(record, report.push_outs, "1", "push_outs");
  put_bodies(simulation, record);
  PetscFunctionReturn(0);
}

/* In a fluid, timing.c knows it better. */
static PetscErrorCode RecordTimes(Simulation simulation, Record *record)
{
  PetscFunctionBegin;
  if (!simulation->coupled)
    record_put(record, simulation->wall_solids, "s", "wall_solids");
  PetscFunctionReturn(0);
}

static PetscErrorCode Destroy(Simulation simulation)
{
  PetscFunctionBegin;
  PetscCall(SolidDestroy(&simulation->solid));
  PetscFunctionReturn(0);
}

PetscErrorCode SimulationStepSolids(Simulation simulation, PetscReal dt, PetscBool *good)
{
  const Team     team = simulation->team;
  PetscLogDouble began, ended;
  SolidReport    report;

  PetscFunctionBegin;
  PetscCall(PetscTime(&began));
  if (team_has_solids(team))
    PetscCall(SolidStep(simulation->solid, simulation->time, dt));
  PetscCall(SolidBroadcast(simulation->solid, team_world(team), team_first_solid_rank(team)));
  report = solid_report(simulation->solid);
  *good = !report.is_unstable && !report.is_unsolved && !report.is_tangled && !report.mesh_crossings &&
          !report.inverted_mesh &&
          !PetscIsInfOrNanReal(report.kinetic_energy + report.potential_energy + report.elastic_energy);
  PetscCall(PetscTime(&ended));
  simulation->wall_solids = ended - began;
  PetscFunctionReturn(0);
}

static PetscErrorCode Check(Simulation simulation)
{
  PetscFunctionBegin;
  PetscCall(SolidCheck(simulation->solid));
  PetscFunctionReturn(0);
}

/* "41 contacts 8 it  0.2 m/s" */
static void describe_work(Simulation simulation, PetscReal rate, ProgressLine *line)
{
  const SolidReport report = solid_report(simulation->solid);

  (void)rate;
  if (simulation_stands_still(simulation->config))
    return;
  line_add(line, NEED_CONTACTS, "%" PetscInt_FMT " contact%s %" PetscInt_FMT " it", report.contacts,
           report.contacts == 1 ? "" : "s", report.position_iterations + report.velocity_iterations);
  line_add(line, NEED_SPEED, "%.3g m/s", (double)report.largest_speed);
}

/* Of all ranks, which all have a part in them where there is no fluid. */
PetscErrorCode SimulationPrintShares(Simulation simulation)
{
  enum { BUSY, WAITING, POINTS, COPIES, ELEMENTS, ROWS };
  static const char *const names[ROWS] = {"busy, s", "waiting, s", "own points", "copies", "elements"};

  const MPI_Comm world = team_world(simulation->team);
  PetscReal      least[ROWS], mean[ROWS], most[ROWS];
  PetscMPIInt    rank, size;
  SolidWork      work;

  PetscFunctionBegin;
  if (!simulation->solid || !solid_work(simulation->solid, &work))
    PetscFunctionReturn(0);
  PetscCallMPI(MPI_Comm_rank(world, &rank));
  PetscCallMPI(MPI_Comm_size(world, &size));
  least[BUSY] = work.seconds;
  least[WAITING] = work.waiting;
  least[POINTS] = (PetscReal)work.points;
  least[COPIES] = (PetscReal)work.copies;
  least[ELEMENTS] = (PetscReal)work.elements;
  PetscCall(PetscArraycpy(mean, least, ROWS));
  PetscCall(PetscArraycpy(most, least, ROWS));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, least, ROWS, MPIU_REAL, MPI_MIN, world));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, mean, ROWS, MPIU_REAL, MPI_SUM, world));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, most, ROWS, MPIU_REAL, MPI_MAX, world));
  for (PetscInt r = -1; r < ROWS && rank == 0; r++)
    if (r < 0)
      printf("%-12s%14s%14s%14s\n", "solids", "least", "mean", "most");
    else
      printf("%-12s%14.*f%14.*f%14.*f\n", names[r], r > WAITING ? 0 : 2, (double)least[r],
             r > WAITING ? 0 : 2, (double)(mean[r] / size), r > WAITING ? 0 : 2, (double)most[r]);
  if (rank == 0)
    printf("most over mean of busy %.2f, copies %.0f %% of own points, divided anew %" PetscInt_FMT
           " times\n",
           (double)(most[BUSY] * size / PetscMax(mean[BUSY], PETSC_SMALL)),
           100. * (double)(mean[COPIES] / PetscMax(mean[POINTS], 1.)), work.divisions);
  PetscFunctionReturn(0);
}

const Part SolidsPart = {.name = "solids",
                         .ranks = PART_ON_ALL,
                         .is_in = has_solids,
                         .create = Create,
                         .get_limit = GetLimit,
                         .get_given_limit = GetGivenLimit,
                         .keep = Keep,
                         .restore = Restore,
                         .describe = Describe,
                         .save = Save,
                         .load = Load,
                         .share = ShareLoaded,
                         .write_frame = SimulationWriteBodies,
                         .record = RecordSolids,
                         .record_times = RecordTimes,
                         .describe_work = describe_work,
                         .check = Check,
                         .destroy = Destroy};
