/* Regions in a run (docs/numerics.md, 12 and 13): they move half a step ahead of the velocity, inflows pour
   into them, and what they make of density, viscosity and pressure jumps is the fluid's mixture. */
#include "simulation_impl.h"

#include <millrace/elastic.h>
#include <millrace/fluid_step.h>
#include <millrace/reaction.h>
#include <millrace/sums.h>

#include <petsctime.h>

/* The velocity of the region that a point is deepest in, or else of the one that takes what the others leave.
 */
static const Formula *velocity_of_region(const PhaseConfig *phases, Vector3 point)
{
  const RegionConfig *found = NULL;
  PetscReal           deepest = 0.;

  for (PetscInt r = 0; r < phases->region_count; r++) {
    const RegionConfig *region = &phases->regions[r];
    const PetscReal     distance = region->shape ? shape_distance(region->shape, point) : 0.;

    if (region->shape ? distance < deepest : !found) {
      found = region;
      deepest = PetscMin(deepest, distance);
    }
  }
  return found && found->velocity[X] ? found->velocity : NULL;
}

static PetscBool initial_value(const void *context, PetscInt field, Vector3 point, PetscReal *value)
{
  const struct _p_Simulation *simulation = context;
  const Formula *formulas = field < DIM ? velocity_of_region(&simulation->config->phases, point) : NULL;

  if (!formulas)
    return simulation->initial_frame ? initial_frame_value(simulation->initial_frame, field, point, value)
                                     : PETSC_FALSE;
  *value = formula_value(formulas[field], point, 0.);
  return PETSC_TRUE;
}

PetscErrorCode SimulationSetInitialValues(Simulation simulation, Fluid fluid)
{
  const PhaseConfig *phases = &simulation->config->phases;
  PetscBool          needed = simulation->initial_frame ? PETSC_TRUE : PETSC_FALSE;

  PetscFunctionBegin;
  for (PetscInt r = 0; r < phases->region_count; r++)
    if (phases->regions[r].velocity[X])
      needed = PETSC_TRUE;
  if (needed)
    PetscCall(FluidSetInitialValues(fluid, initial_value, simulation));
  PetscFunctionReturn(0);
}

static PetscInt region_named(const PhaseConfig *config, const char name[])
{
  for (PetscInt r = 0; r < config->region_count; r++)
    if (!strcmp(config->regions[r].name, name))
      return r;
  return -1;
}

/* The first one that is not simulated, else the lightest. */
static PetscInt airy_region(const PhaseConfig *config)
{
  PetscInt lightest = 0;

  for (PetscInt r = 0; r < config->region_count; r++) {
    if (config->regions[r].kind != REGION_SIMULATED)
      return r;
    if (config->regions[r].density < config->regions[lightest].density)
      lightest = r;
  }
  return lightest;
}

/* What lies beyond a side. */
static OuterRegion outer_region(const SimulationConfig *config, PetscInt d, PetscInt side)
{
  const SideConfig *beyond = &config->fluid.sides[d][side];
  const PetscInt    airy = airy_region(&config->phases);

  if (d >= config->grid.dimension || beyond->kind != SIDE_OPEN)
    return (OuterRegion){NO_OUTER_REGION, NO_OUTER_REGION, 0.};
  return (OuterRegion){beyond->region ? region_named(&config->phases, beyond->region) : airy, airy,
                       beyond->level};
}

PetscInt contact_place(const SimulationConfig *config, const char name[])
{
  static const char *const sides[] = {"x_low", "x_high", "y_low", "y_high", "z_low", "z_high"};
  const PetscInt           obstacles = config->obstacle_count, bodies = config->solids.body_count;

  if (!name)
    return CONTACT_EVERYWHERE;
  for (PetscInt n = 0; n < 2 * config->grid.dimension; n++)
    if (!strcmp(sides[n], name))
      return n;
  for (PetscInt o = 0; o < obstacles; o++)
    if (config->obstacles[o].name && !strcmp(config->obstacles[o].name, name))
      return CONTACT_WALLS + o;
  for (PetscInt b = 0; b < bodies; b++)
    if (config->solids.bodies[b].name && !strcmp(config->solids.bodies[b].name, name))
      return CONTACT_WALLS + obstacles + b;
  return CONTACT_NOWHERE;
}

static PetscErrorCode SetContacts(Simulation simulation)
{
  const PhaseConfig *phases = &simulation->config->phases;
  PetscInt          *places;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(phases->contact_count, &places));
  for (PetscInt t = 0; t < phases->contact_count; t++)
    places[t] = contact_place(simulation->config, phases->contacts[t].on);
  PetscCall(PhaseSetContacts(simulation->phase, places));
  PetscCall(PetscFree(places));
  PetscFunctionReturn(0);
}

static PetscErrorCode SetSides(Simulation simulation)
{
  const Vector3   gravity = simulation->config->fluid.gravity;
  const PetscReal strength = vector3_norm(gravity);
  OuterRegions    outer;

  PetscFunctionBegin;
  for (PetscInt n = 0; n < 2 * DIM; n++)
    outer[n / 2][n % 2] = outer_region(simulation->config, n / 2, n % 2);
  PetscCall(PhaseSetSides(simulation->phase, (const OuterRegion(*)[2])outer,
                          vector3_scale(strength > 0. ? -1. / strength : 0., gravity)));
  PetscFunctionReturn(0);
}

static PetscReal outer_density(Phase phase, PetscInt region)
{
  if (region == NO_OUTER_REGION || phase_material(phase, region).kind != REGION_SIMULATED)
    return 0.;
  return phase_material(phase, region).density;
}

/* The pressure of what lies beyond open sides. */
static PetscErrorCode BalanceSides(Simulation simulation, const Mixture *mixture)
{
  const Phase    phase = simulation->phase;
  OuterDensities densities;

  PetscFunctionBegin;
  for (PetscInt n = 0; n < 2 * DIM; n++) {
    const OuterRegion outer = outer_region(simulation->config, n / 2, n % 2);

    densities[n / 2][n % 2] =
        (OuterDensity){outer_density(phase, outer.region), outer_density(phase, outer.above)};
  }
  PetscCall(FluidBalanceOpenSides(simulation->fluid, (const OuterDensity(*)[2])densities, INFLOW_COSTS_HEAD,
                                  (Vec *)mixture->jump));
  PetscFunctionReturn(0);
}

/* The fluid learns what it is made of now. */
static PetscErrorCode MixFluid(Simulation simulation)
{
  const Mixture *mixture;

  PetscFunctionBegin;
  PetscCall(PhaseGetMixture(simulation->phase, &mixture));
  PetscCall(BalanceSides(simulation, mixture));
  PetscCall(FluidSetMixture(simulation->fluid, mixture));
  PetscFunctionReturn(0);
}

/* What is closed to the regions: obstacles and bodies, but not sources, which are full of what they let out.
   Null: nothing. */
static PetscErrorCode FindObstructed(Simulation simulation, Vec *obstructed)
{
  const PetscInt   length = grid_box(simulation->grid)->length;
  const PetscReal *closed;
  PetscReal       *mark;

  PetscFunctionBegin;
  *obstructed = NULL;
  if (!simulation_covered(simulation) || !simulation->wall_count)
    PetscFunctionReturn(0);
  if (!simulation->obstructed)
    PetscCall(MacGridCreateField(simulation->grid, &simulation->obstructed));
  PetscCall(VecGetArrayRead(simulation_covered(simulation), &closed));
  PetscCall(VecGetArray(simulation->obstructed, &mark));
  for (PetscInt c = 0; c < length; c++)
    mark[c] = cell_cover(closed[c]).kind == CELL_WALL ? closed[c] : 0.;
  PetscCall(VecRestoreArray(simulation->obstructed, &mark));
  PetscCall(VecRestoreArrayRead(simulation_covered(simulation), &closed));
  *obstructed = simulation->obstructed;
  PetscFunctionReturn(0);
}

static PetscErrorCode PourInflows(Simulation simulation, PetscReal time)
{
  const SimulationConfig *config = simulation->config;
  Vec                     closed;

  PetscFunctionBegin;
  PetscCall(FindObstructed(simulation, &closed));
  for (PetscInt n = 0; n < config->inflow_count; n++) {
    const InflowConfig *inflow = &config->inflows[n];

    if (inflow->region && inflow_is_active(config, inflow, time))
      PetscCall(
          PhasePour(simulation->phase, region_named(&config->phases, inflow->region), inflow->shape, closed));
  }
  PetscFunctionReturn(0);
}

/* What sources that bring regions have let into the box within `dt`. */
static PetscErrorCode TakeIn(Simulation simulation, Vec velocity[], PetscReal dt)
{
  const SimulationConfig *config = simulation->config;
  const GridBox          *box = grid_box(simulation->grid);
  const PetscReal         h = grid_spacing(simulation->grid), area = PetscPowRealInt(h, box->dimension - 1);
  const PetscReal        *closed;
  PetscReal              *u[DIM], volume[REGIONS_MAX];
  ReproducibleSum         sums[REGIONS_MAX] = {{0}};

  PetscFunctionBegin;
  if (!config->inflow_count || !simulation_covered(simulation))
    PetscFunctionReturn(0);
  PetscCall(VecGetArrayRead(simulation_covered(simulation), &closed));
  PetscCall(MacGridGetFaces(simulation->grid, velocity, u));
  FOR_CELLS(box, i, j, k) {
    const PetscInt  c = box_index(box, i, j, k);
    const CellCover cover = cell_cover(closed[c]);

    if (cover.kind != CELL_SOURCE || !config->inflows[cover.index].region)
      continue;
    for (PetscInt d = 0; d < box->dimension; d++)
      sum_add(&sums[region_named(&config->phases, config->inflows[cover.index].region)],
              u[d][c + box->stride[d]] - u[d][c]);
  }
  PetscCall(MacGridRestoreFaces(simulation->grid, velocity, u));
  PetscCall(VecRestoreArrayRead(simulation_covered(simulation), &closed));
  PetscCall(SumOverRanks(box->comm, REGIONS_MAX, sums, volume));
  for (PetscInt r = 0; r < config->phases.region_count; r++)
    phase_take_in(simulation->phase, r, dt * area * volume[r]);
  PetscFunctionReturn(0);
}

static PetscBool has_regions(const SimulationConfig *config)
{
  return config->phases.region_count > 0;
}

static PetscErrorCode Create(Simulation simulation, char message[], size_t size)
{
  Vec closed;

  PetscFunctionBegin;
  PetscCall(PhaseCreate(simulation->grid, &simulation->config->phases, &simulation->phase));
  PetscCall(SetSides(simulation));
  PetscCall(SetContacts(simulation));
  PetscCall(SimulationShowShells(simulation, SHELLS_STILL, 0.));
  phase_set_free_parts(simulation->phase, simulation_free_parts(simulation, PARTS_OF_INTERFACES));
  PetscCall(FindObstructed(simulation, &closed));
  PetscCall(PhaseStart(simulation->phase, closed, message, size));
  if (message[0])
    PetscFunctionReturn(0);
  PetscCall(PourInflows(simulation, 0.));
  PetscCall(MixFluid(simulation));
  PetscFunctionReturn(0);
}

static PetscInt scalar_named(const FluidConfig *fluid, const char name[])
{
  PetscInt found = 0;

  while (strcmp(fluid->scalars[found].name, name))
    found++;
  return found;
}

/* Fronts burn where they are hot at the start of the step. */
static PetscErrorCode Ignite(Simulation simulation)
{
  const SimulationConfig *config = simulation->config;
  Vec                    *scalars;

  PetscFunctionBegin;
  PetscCall(FluidGetScalars(simulation->fluid, &scalars));
  for (PetscInt r = 0; r < config->phases.reaction_count; r++)
    if (reaction_ignites(&config->phases.reactions[r]))
      PetscCall(PhaseIgnite(simulation->phase, r,
                            scalars[scalar_named(&config->fluid, config->phases.reactions[r].scalar)]));
  PetscFunctionReturn(0);
}

PetscErrorCode SimulationHoldFlames(Simulation simulation, Vec scalars[])
{
  const SimulationConfig *config = simulation->config;

  PetscFunctionBegin;
  for (PetscInt r = 0; r < config->phases.reaction_count; r++)
    if (reaction_heats(&config->phases.reactions[r])) {
      const PetscInt s = scalar_named(&config->fluid, config->phases.reactions[r].scalar);

      PetscCall(PhaseHoldTemperature(simulation->phase, r, config->fluid.scalars[s].reference, scalars[s]));
    }
  PetscFunctionReturn(0);
}

/* The velocity of interfaces: what carries the fluid, near them with what the groups tell. */
static PetscErrorCode GetCarrying(Simulation simulation, Vec **faces)
{
  const PetscInt count = fluid_group_count(simulation->fluid);
  Vec           *velocity, *advecting, *groups[REGIONS_MAX];

  PetscFunctionBegin;
  PetscCall(SimulationGetAdvecting(simulation, faces));
  if (!count)
    PetscFunctionReturn(0);
  advecting = *faces;
  *faces = simulation->carrying;
  if (!simulation->carrying[X])
    PetscCall(MacGridCreateFaceField(simulation->grid, simulation->carrying));
  PetscCall(FluidGetVelocity(simulation->fluid, &velocity));
  for (PetscInt g = 0; g < count; g++)
    PetscCall(FluidGetGroupVelocity(simulation->fluid, g, &groups[g]));
  PetscCall(SimulationCopyFaces(simulation, velocity, *faces));
  PetscCall(PhaseFindCarrying(simulation->phase, groups, *faces));
  for (PetscInt d = 0; d < grid_box(simulation->grid)->dimension && advecting != velocity; d++) {
    PetscCall(VecAXPY((*faces)[d], 1., advecting[d]));
    PetscCall(VecAXPY((*faces)[d], -1., velocity[d]));
  }
  PetscCall(FluidFinishFaces(simulation->fluid, simulation->time, *faces));
  PetscFunctionReturn(0);
}

static PetscReal total_burning(Phase phase)
{
  PetscReal sum = 0.;

  for (PetscInt f = 0; f < FRONTS_MAX; f++)
    sum += phase_report(phase)->burning[f];
  return sum;
}

/* Where fronts go out, the pressure of their expansion is no guess: all of it would be residual. */
static PetscErrorCode ForgetBurning(Simulation simulation, PetscReal before)
{
  Vec pressure;

  PetscFunctionBegin;
  if (total_burning(simulation->phase) < 0.1 * before) {
    PetscCall(FluidGetPressure(simulation->fluid, &pressure));
    PetscCall(VecSet(pressure, 0.));
  }
  PetscFunctionReturn(0);
}

/* From the middle of the last step to that of this one; with shells as long as these move, which must not run
   away from what they hold. */
PetscErrorCode SimulationMoveRegions(Simulation simulation, PetscReal dt)
{
  const PetscReal drift = simulation_has_shells(simulation) ? dt : 0.5 * (simulation->dt + dt);
  PetscLogDouble  begin, end;
  PetscReal       burning;
  Vec            *velocity, closed;

  PetscFunctionBegin;
  if (!simulation->phase)
    PetscFunctionReturn(0);
  burning = total_burning(simulation->phase);
  PetscCall(PetscTime(&begin));
  PetscCall(FindObstructed(simulation, &closed));
  PetscCall(Ignite(simulation));
  PetscCall(FluidGetVelocity(simulation->fluid, &velocity));
  PetscCall(FluidGetTravel(simulation->fluid, velocity, drift, &simulation->travel));
  PetscCall(GetCarrying(simulation, &velocity));
  PetscCall(PhaseSetElasticStep(simulation->phase, dt));
  PetscCall(PhaseAdvance(simulation->phase, velocity, closed, drift));
  PetscCall(TakeIn(simulation, velocity, drift));
  PetscCall(PourInflows(simulation, simulation->time + dt));
  PetscCall(ForgetBurning(simulation, burning));
  PetscCall(MixFluid(simulation));
  PetscCall(PetscTime(&end));
  simulation->wall_regions = end - begin;
  PetscFunctionReturn(0);
}

/* How far the surfaces are behind the velocity. With reactions they are left there: a front also burns. */
static PetscReal surface_delay(Simulation simulation)
{
  return simulation_has_shells(simulation) ? 0. : 0.5 * simulation->dt;
}

PetscErrorCode SimulationLookAhead(Simulation simulation, PetscBool *looks)
{
  Vec *velocity, closed;

  PetscFunctionBegin;
  *looks = simulation->phase && surface_delay(simulation) > 0. &&
                   !simulation->config->phases.reaction_count && !phase_looks_ahead(simulation->phase)
               ? PETSC_TRUE
               : PETSC_FALSE;
  if (!*looks)
    PetscFunctionReturn(0);
  PetscCall(FindObstructed(simulation, &closed));
  PetscCall(FluidGetVelocity(simulation->fluid, &velocity));
  phase_set_free_parts(simulation->phase, simulation_free_parts(simulation, PARTS_OF_BODIES));
  PetscCall(PhaseLookAhead(simulation->phase, velocity, closed, surface_delay(simulation)));
  PetscFunctionReturn(0);
}

PetscErrorCode SimulationLookBack(Simulation simulation, PetscBool looks)
{
  PetscFunctionBegin;
  if (!looks)
    PetscFunctionReturn(0);
  PetscCall(PhaseLookBack(simulation->phase));
  phase_set_free_parts(simulation->phase, simulation_free_parts(simulation, PARTS_OF_INTERFACES));
  PetscFunctionReturn(0);
}

static PetscBool is_elastic(Simulation simulation)
{
  return simulation->phase && phase_is_elastic(&simulation->config->phases) ? PETSC_TRUE : PETSC_FALSE;
}

static PetscErrorCode FindStress(Simulation simulation, PetscReal dt)
{
  PetscBool *slips;
  Vec       *velocity;

  PetscFunctionBegin;
  PetscCall(FluidGetVelocity(simulation->fluid, &velocity));
  PetscCall(SimulationGetSlips(simulation, simulation->wall_count, &slips));
  PetscCall(PhaseFindStress(simulation->phase, velocity, slips, dt));
  PetscCall(PetscFree(slips));
  PetscFunctionReturn(0);
}

/* Before the regions have moved, and of a resumed run too, whose regions know no walls yet. */
PetscErrorCode SimulationFindStress(Simulation simulation, PetscReal dt)
{
  Vec closed;

  PetscFunctionBegin;
  if (!is_elastic(simulation))
    PetscFunctionReturn(0);
  PetscCall(FindObstructed(simulation, &closed));
  PetscCall(PhaseSetClosed(simulation->phase, closed));
  PetscCall(FindStress(simulation, dt));
  PetscFunctionReturn(0);
}

PetscErrorCode SimulationPullElastically(Simulation simulation, PetscReal dt)
{
  const unsigned char *marks;
  PetscInt             count;
  Vec                 *fields;

  PetscFunctionBegin;
  if (!is_elastic(simulation))
    PetscFunctionReturn(0);
  PetscCall(PhaseGetStrains(simulation->phase, &count, &fields));
  PetscCall(PhaseMarkStrains(simulation->phase, &marks));
  PetscCall(FluidCarryCells(simulation->fluid, dt, marks, count, fields));
  PetscCall(FindStress(simulation, dt));
  PetscCall(FluidPredictStress(simulation->fluid, dt));
  PetscFunctionReturn(0);
}

PetscErrorCode SimulationStretchRegions(Simulation simulation, PetscReal dt)
{
  PetscBool *slips;
  Vec       *velocity;

  PetscFunctionBegin;
  if (!is_elastic(simulation))
    PetscFunctionReturn(0);
  PetscCall(FluidGetVelocity(simulation->fluid, &velocity));
  PetscCall(SimulationGetSlips(simulation, simulation->wall_count, &slips));
  PetscCall(PhaseStretch(simulation->phase, velocity, slips, dt));
  PetscCall(PetscFree(slips));
  PetscFunctionReturn(0);
}

static PetscErrorCode ExtendGroups(Simulation simulation, Vec velocity[DIM])
{
  Vec *faces;

  PetscFunctionBegin;
  for (PetscInt g = 0; g < fluid_group_count(simulation->fluid); g++) {
    PetscCall(FluidGetGroupVelocity(simulation->fluid, g, &faces));
    PetscCall(SimulationCopyFaces(simulation, velocity, faces));
    PetscCall(PhaseExtendGroupVelocity(simulation->phase, g, faces));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode SimulationExtendVelocity(Simulation simulation)
{
  PetscLogDouble begin, end;
  const Mixture *mixture;
  Vec           *velocity;

  PetscFunctionBegin;
  if (!simulation->phase)
    PetscFunctionReturn(0);
  PetscCall(PetscTime(&begin));
  PetscCall(FluidGetVelocity(simulation->fluid, &velocity));
  PetscCall(PhaseExtendVelocity(simulation->phase, velocity));
  PetscCall(ExtendGroups(simulation, velocity));
  PetscCall(FluidRefreshVelocity(simulation->fluid));
  PetscCall(PhaseGetMixture(simulation->phase, &mixture));
  PetscCall(BalanceSides(simulation, mixture)); /* as a resumed run would */
  PetscCall(PetscTime(&end));
  simulation->wall_regions += end - begin;
  PetscFunctionReturn(0);
}

PetscReal simulation_next_change(Simulation simulation)
{
  const SimulationConfig *config = simulation->config;

  return phase_next_change(&config->phases, simulation->time + simulation_time_tolerance(config));
}

/* Those of the last step that began before, or of the start. */
static PetscReal time_of_materials(Simulation simulation)
{
  return PetscMax(0., simulation->time - simulation->dt) + simulation_time_tolerance(simulation->config);
}

PetscErrorCode SimulationChangeMaterials(Simulation simulation)
{
  const PhaseConfig *phases = &simulation->config->phases;
  const PetscReal    now = simulation->time + simulation_time_tolerance(simulation->config);
  Vec                pressure;

  PetscFunctionBegin;
  if (simulation->materials_of == simulation->step + 1)
    PetscFunctionReturn(0);
  simulation->materials_of = simulation->step + 1;
  if (phase_next_change(phases, time_of_materials(simulation)) > now)
    PetscFunctionReturn(0);
  if (simulation->phase) {
    PetscCall(PhaseChangeMaterials(simulation->phase, now));
    PetscCall(MixFluid(simulation));
    PetscCall(FluidGetPressure(simulation->fluid, &pressure));
    PetscCall(VecSet(pressure, 0.)); /* that of the old materials is no guess: all of it would be residual */
  }
  PetscCall(PartsDerive(simulation));
  PetscFunctionReturn(0);
}

/* They go from the middle of the last step to that of this one. */
static PetscReal drift_limit(Simulation simulation)
{
  const PetscReal farthest = MOST_CELLS_PER_STEP * grid_spacing(simulation->grid);
  const PetscReal speed = fluid_report(simulation->fluid)->largest_speed;

  if (speed <= 0.)
    return PETSC_MAX_REAL;
  return simulation_has_shells(simulation) ? farthest / speed : 2. * farthest / speed - simulation->dt;
}

static PetscErrorCode GetLimit(Simulation simulation, const StepBounds *bounds, PetscReal *limit)
{
  PetscFunctionBegin;
  if (bounds->carries)
    *limit = PetscMin(PetscMin(phase_wave_limit(simulation->phase, simulation->config->fluid.gravity,
                                                grid_spacing(simulation->grid)),
                               phase_front_limit(simulation->phase, grid_spacing(simulation->grid))),
                      drift_limit(simulation));
  PetscFunctionReturn(0);
}

static PetscErrorCode Keep(Simulation simulation)
{
  PetscFunctionBegin;
  PetscCall(PhaseKeep(simulation->phase));
  PetscFunctionReturn(0);
}

static PetscErrorCode Restore(Simulation simulation)
{
  PetscFunctionBegin;
  PetscCall(PhaseReturn(simulation->phase));
  PetscCall(MixFluid(simulation));
  PetscFunctionReturn(0);
}

static PetscErrorCode Describe(Simulation simulation, Text *layout)
{
  const PhaseConfig *config = &simulation->config->phases;

  PetscFunctionBegin;
  for (PetscInt r = 0; r < config->region_count; r++)
    PetscCall(TextAppend(layout, "%s%s", r ? ", " : layout->length ? ", and " : "", config->regions[r].name));
  PetscFunctionReturn(0);
}

static PetscErrorCode Save(Simulation simulation, Archive archive)
{
  PetscFunctionBegin;
  PetscCall(PhaseSave(simulation->phase, archive));
  PetscFunctionReturn(0);
}

static PetscErrorCode Load(Simulation simulation, Archive archive)
{
  PetscFunctionBegin;
  PetscCall(PhaseSetTime(simulation->phase, time_of_materials(simulation)));
  PetscCall(PhaseSetElasticStep(simulation->phase, simulation->dt));
  PetscCall(PhaseLoad(simulation->phase, archive));
  PetscCall(MixFluid(simulation));
  PetscFunctionReturn(0);
}

static PetscErrorCode WriteFrame(Simulation simulation, FrameSeries frames)
{
  PetscFunctionBegin;
  PetscCall(PhaseWriteFrame(simulation->phase, frames));
  PetscFunctionReturn(0);
}

static PetscErrorCode RecordElastic(Simulation simulation, Record *record)
{
  const PhaseConfig *config = &simulation->config->phases;
  const PetscInt     dimension = simulation->config->grid.dimension;
  ElasticReport      reports[REGIONS_MAX];

  PetscFunctionBegin;
  if (!phase_is_elastic(config))
    PetscFunctionReturn(0);
  PetscCall(PhaseMeasureElastic(simulation->phase, reports));
  for (PetscInt r = 0; r < config->region_count; r++)
    if (region_is_ever_elastic(&config->regions[r])) {
      record_put(record, reports[r].energy, "J", "elastic_energy_%s", config->regions[r].name);
      record_put(record, reports[r].largest_strain, "1", "strain_max_%s", config->regions[r].name);
      record_put(record, reports[r].yielded, dimension == 3 ? "m^3" : "m^2", "yielded_volume_%s",
                 config->regions[r].name);
    }
  PetscFunctionReturn(0);
}

static PetscErrorCode RecordFronts(Simulation simulation, Record *record)
{
  const PhaseConfig *config = &simulation->config->phases;
  const PhaseReport *report = phase_report(simulation->phase);
  const PetscInt     dimension = grid_box(simulation->grid)->dimension;

  PetscFunctionBegin;
  if (!config->reaction_count)
    PetscFunctionReturn(0);
  for (PetscInt r = 0; r < config->region_count; r++)
    if (region_is_ever(&config->regions[r], REGION_SIMULATED)) {
      record_put(record, report->volume[r] * phase_material(simulation->phase, r).density, "kg", "mass_%s",
                 config->regions[r].name);
      record_put(record, report->excess[r], "kg", "mass_imbalance_%s", config->regions[r].name);
    }
  for (PetscInt f = 0; f < FRONTS_MAX; f++) {
    const char *fuel = front_fuel(config, f), *product = config->reactions[f % REACTIONS_MAX].product;

    if (fuel) {
      record_put(record, report->front_area[f], dimension == 3 ? "m^2" : "m", "front_%s_%s", fuel, product);
      record_put(record, report->burnt[f], "kg", "burnt_%s_%s", fuel, product);
    }
  }
  for (PetscInt r = 0; r < config->reaction_count; r++)
    if (config->reactions[r].second)
      record_put(record, report->pending[r], "kg", "pending_%s_%s", config->reactions[r].first,
                 config->reactions[r].second);
  record_put(record, report->imbalance, "kg", "mass_imbalance");
  PetscFunctionReturn(0);
}

static PetscErrorCode RecordRegions(Simulation simulation, Record *record)
{
  const PhaseConfig *config = &simulation->config->phases;
  const PhaseReport *report = phase_report(simulation->phase);
  const PetscInt     dimension = grid_box(simulation->grid)->dimension;
  char               name[RECORD_NAME_LENGTH];

  PetscFunctionBegin;
  record_put(record, simulation->time - (config->reaction_count ? surface_delay(simulation) : 0.), "s",
             "interface_time");
  for (PetscInt r = 0; r < config->region_count; r++) {
    record_put(record, report->volume[r], dimension == 3 ? "m^3" : "m^2", "volume_%s",
               config->regions[r].name);
    snprintf(name, sizeof(name), "center_%s", config->regions[r].name);
    record_put_vector(record, report->centre[r].at, dimension, "m", name);
    snprintf(name, sizeof(name), "lowest_%s", config->regions[r].name);
    record_put_vector(record, report->lowest[r].at, dimension, "m", name);
    snprintf(name, sizeof(name), "highest_%s", config->regions[r].name);
    record_put_vector(record, report->highest[r].at, dimension, "m", name);
    record_put(record, report->surface[r], dimension == 3 ? "m^2" : "m", "surface_%s",
               config->regions[r].name);
    record_put(record, report->particles[r], "1", "markers_%s", config->regions[r].name);
  }
  PetscCall(RecordElastic(simulation, record));
  PetscCall(RecordFronts(simulation, record));
  record_put(record, report->escaped, "1", "markers_escaped");
  record_put(record, report->dropped, "1", "markers_dropped");
  record_put(record, report->crossed, "1", "markers_crossed");
  record_put(record, report->vanished, "1", "vanished_region");
  PetscFunctionReturn(0);
}

static PetscErrorCode RecordTimes(Simulation simulation, Record *record)
{
  PetscFunctionBegin;
  record_put(record, simulation->wall_regions, "s", "wall_regions");
  PetscFunctionReturn(0);
}

/* A mixture beside its level sets. */
static PetscReal mixture_fields(const SimulationConfig *config)
{
  const PetscInt dimension = config->grid.dimension, edges = dimension == 2 ? 1 : DIM;
  const PetscInt groups = phase_group_count(&config->phases);
  PetscReal      viscosity = 0., fields;
  PetscBool      empty = PETSC_FALSE;

  for (PetscInt r = 0; r < config->phases.region_count; r++) {
    const RegionConfig *region = &config->phases.regions[r];

    if (region_is_ever(region, REGION_EMPTY) || region_is_ever(region, REGION_ONE_WAY))
      empty = PETSC_TRUE;
    viscosity = PetscMax(viscosity, region_most_viscosity(region));
    if (region_is_ever_elastic(region))
      viscosity = PetscMax(viscosity, 1.); /* that of the implicit step */
  }
  fields = 3 * dimension + edges + 2 + 5;              /* the mixture; maps of regions */
  fields += dimension + 1;                             /* exact weights */
  fields += dimension * (empty || groups > 1 ? 2 : 1); /* velocities carried on, or weights under way */
  if (groups > 1)
    fields += (5 * groups + 1) * dimension; /* the flows of groups; what carries interfaces */
  else
    fields += 2 * dimension; /* what was advected */
  if (config->phases.reaction_count)
    fields += 2 + 2 * config->phases.reaction_count; /* expansion, speeds; where it burns, and did before */
  fields += 2 * phase_strain_count(&config->phases, dimension); /* with their values before the step */
  if (phase_is_elastic(&config->phases))
    fields += 2 * (dimension == 3 ? 6 : 3) + 1; /* stresses of a region and of the mixture; where it is */
  if (viscosity > 0.)
    fields += 7 * dimension + edges + 1 + 3; /* acceleration; stresses with their coarser levels */
  return fields;
}

static PetscBool has_open_side(const SimulationConfig *config)
{
  for (PetscInt n = 0; n < 2 * DIM; n++)
    if (outer_region(config, n / 2, n % 2).region != NO_OUTER_REGION)
      return PETSC_TRUE;
  return PETSC_FALSE;
}

/* Level sets with their values before the step, the mixture, and where something flows in. */
static PetscReal count_fields(const SimulationConfig *config)
{
  return mixture_fields(config) + 4.25 * config->phases.region_count + (has_open_side(config) ? 1 : 0);
}

static PetscErrorCode Destroy(Simulation simulation)
{
  PetscFunctionBegin;
  PetscCall(PhaseDestroy(&simulation->phase));
  PetscCall(VecDestroy(&simulation->obstructed));
  PetscCall(MacGridDestroyFaceField(simulation->carrying));
  PetscFunctionReturn(0);
}

static PetscErrorCode Check(Simulation simulation)
{
  PetscFunctionBegin;
  PetscCall(PhaseCheck(simulation->phase));
  PetscFunctionReturn(0);
}

/* Level sets and markers, in the cells next to a surface. */
static PetscErrorCode AddWork(Simulation simulation, PetscReal work[])
{
  const GridBox  *box = grid_box(simulation->grid);
  const GridRange owned = box_grown(box, 0);

  PetscFunctionBegin;
  for (PetscInt n = 0; n < simulation->config->phases.region_count; n++) {
    const PetscReal *distance;
    Vec              field;

    PetscCall(PhaseGetDistance(simulation->phase, n, &field));
    PetscCall(VecGetArrayRead(field, &distance));
    FOR_CELLS(&owned, i, j, k)
      if (PetscAbsReal(distance[box_index(box, i, j, k)]) < grid_spacing(simulation->grid))
        work[box_index(box, i, j, k)] += WORK_AT_INTERFACE;
    PetscCall(VecRestoreArrayRead(field, &distance));
  }
  PetscFunctionReturn(0);
}

const Part RegionsPart = {.name = "regions",
                          .ranks = PART_ON_FLUID,
                          .is_in = has_regions,
                          .create = Create,
                          .get_limit = GetLimit,
                          .keep = Keep,
                          .restore = Restore,
                          .add_work = AddWork,
                          .describe = Describe,
                          .save = Save,
                          .load = Load,
                          .write_frame = WriteFrame,
                          .record = RecordRegions,
                          .record_times = RecordTimes,
                          .count_fields = count_fields,
                          .check = Check,
                          .destroy = Destroy};
