/* The keys of regions and of what happens between them. */
#include <millrace/reaction.h>

#include <ctype.h>

const char *const InterfaceSchemes[] = {"semi-lagrangian", "weno5", NULL};
const char *const RegionKinds[] = {"simulated", "empty", "one-way", NULL};
const char *const RegionOverlaps[] = {"refuse", "project", NULL};
const char *const VolumeCorrections[] = {"free", "kept", NULL};
const char *const MarkerOutputs[] = {"hidden", "written", NULL};

const char *const ElasticityModels[] = {"none", "oldroyd-b", "rotated-strain", "giesekus", "fene-p", NULL};
static const char *const ChangeKinds[] = {"simulated", "empty", NULL}; /* the first of RegionKinds */

#define OF_ELASTICITY(member) offsetof(RegionElasticity, member)
#define OF_CHANGE(member) offsetof(RegionChange, member)
#define OF_REGION(member) offsetof(RegionConfig, member)
#define OF_TENSION(member) offsetof(TensionConfig, member)
#define OF_CONTACT(member) offsetof(ContactConfig, member)
#define OF_REACTION(member) offsetof(ReactionConfig, member)
#define AT(member) offsetof(PhaseConfig, member)

static const SchemaKey ElasticityKeys[] = {
    {.name = "model",
     .kind = SCHEMA_CHOICE,
     .offset = OF_ELASTICITY(model),
     .fallback = "oldroyd-b",
     .choices = ElasticityModels,
     .help =
         "beside the region's viscosity; none; oldroyd-b: upper-convected, a dilute polymer solution, with "
         "an infinite relaxation time a soft solid (neo-Hookean); rotated-strain: the strain of the thesis "
         "(4.3.3), turned by the flow; giesekus: thinned by shear through the mobility; fene-p: molecules "
         "that cannot be stretched beyond their extensibility"},
    {.name = "modulus",
     .kind = SCHEMA_REAL,
     .offset = OF_ELASTICITY(modulus),
     .fallback = "0",
     .range = SCHEMA_NOT_NEGATIVE,
     .unit = "Pa",
     .help = "of shear; must be positive unless the model is none"},
    {.name = "relaxation",
     .kind = SCHEMA_REAL,
     .offset = OF_ELASTICITY(relaxation),
     .fallback = "inf",
     .range = SCHEMA_ENDLESS,
     .unit = "s",
     .help = "time in which the stress falls to 1/e of what it was where nothing moves; > 0"},
    {.name = "yield",
     .kind = SCHEMA_REAL,
     .offset = OF_ELASTICITY(yield),
     .fallback = "0",
     .range = SCHEMA_NOT_NEGATIVE,
     .unit = "1",
     .help = "of oldroyd-b and rotated-strain: strain (the root of the sum of squares of its deviator) below "
             "which nothing relaxes; in shear it is reached at a stress of 1.414 times this and the modulus"},
    {.name = "mobility",
     .kind = SCHEMA_REAL,
     .offset = OF_ELASTICITY(mobility),
     .fallback = "0",
     .range = SCHEMA_BETWEEN,
     .lowest = 0,
     .highest = 1,
     .unit = "1",
     .help = "of giesekus: how much easier molecules move along those around them; 0: oldroyd-b"},
    {.name = "extensibility",
     .kind = SCHEMA_REAL,
     .offset = OF_ELASTICITY(extensibility),
     .fallback = "0",
     .range = SCHEMA_NOT_NEGATIVE,
     .unit = "1",
     .help = "of fene-p: length of a molecule that is drawn out over its length at rest along one axis; > 2"},
    {0}};

static const SchemaKey ChangeKeys[] = {
    {.name = "time",
     .kind = SCHEMA_REAL,
     .offset = OF_CHANGE(time),
     .range = SCHEMA_POSITIVE,
     .unit = "s",
     .help =
         "a step ends there, and the next one has the new material; later than that of the change before"},
    {.name = "type",
     .kind = SCHEMA_CHOICE,
     .offset = OF_CHANGE(material.kind),
     .fallback = "simulated",
     .choices = ChangeKinds,
     .help = "left out: as before, as what follows"},
    {.name = "density",
     .kind = SCHEMA_REAL,
     .offset = OF_CHANGE(material.density),
     .fallback = "0",
     .range = SCHEMA_NOT_NEGATIVE,
     .unit = "kg/m^3",
     .help = "must be positive unless the region is empty"},
    {.name = "viscosity",
     .kind = SCHEMA_REAL,
     .offset = OF_CHANGE(material.viscosity),
     .fallback = "0",
     .range = SCHEMA_NOT_NEGATIVE,
     .unit = "Pa s",
     .help = "dynamic viscosity"},
    {.name = "elasticity",
     .kind = SCHEMA_BLOCK,
     .offset = OF_CHANGE(material.elasticity),
     .fallback = "",
     .keys = ElasticityKeys,
     .help = "a whole block, of which nothing is as before; the strain is forgotten with another model"},
    {0}};

const SchemaKey RegionKeys[] = {
    {.name = "name",
     .kind = SCHEMA_TEXT,
     .offset = OF_REGION(name),
     .help = "unlike that of any other region: letters, digits, - and _"},
    {.name = "type",
     .kind = SCHEMA_CHOICE,
     .offset = OF_REGION(kind),
     .fallback = "simulated",
     .choices = RegionKinds,
     .help = "simulated: a liquid or gas; empty: nothing is there and the pressure is zero; one-way: a "
             "passive gas, driven by the liquids, that exerts no force on them"},
    {.name = "shape",
     .kind = SCHEMA_SHAPE,
     .offset = OF_REGION(shape),
     .fallback = "",
     .help = "at the start; the one region without a shape takes all that the others leave"},
    {.name = "material",
     .kind = SCHEMA_TEXT,
     .offset = OF_REGION(material),
     .fallback = "",
     .help = "by name, such as water@20C: density and viscosity where they are not given (Materials, below)"},
    {.name = "density",
     .kind = SCHEMA_REAL,
     .offset = OF_REGION(density),
     .fallback = "0",
     .range = SCHEMA_NOT_NEGATIVE,
     .unit = "kg/m^3",
     .help = "mass per volume; must be positive unless the region is empty"},
    {.name = "viscosity",
     .kind = SCHEMA_REAL,
     .offset = OF_REGION(viscosity),
     .fallback = "0",
     .range = SCHEMA_NOT_NEGATIVE,
     .unit = "Pa s",
     .help = "dynamic viscosity"},
    {.name = "velocity",
     .kind = SCHEMA_FORMULAS,
     .offset = OF_REGION(velocity),
     .fallback = "",
     .unit = "m/s",
     .help = "at the start, made divergence-free with that of the others; left out: fluid.initial.velocity"},
    {.name = "elasticity",
     .kind = SCHEMA_BLOCK,
     .offset = OF_REGION(elasticity),
     .fallback = "",
     .keys = ElasticityKeys,
     .help = "stress that remembers how the region was strained; at the start it is not"},
    {.name = "changes",
     .kind = SCHEMA_LIST,
     .offset = OF_REGION(changes),
     .count = OF_REGION(change_count),
     .size = sizeof(RegionChange),
     .fallback = "",
     .keys = ChangeKeys,
     .help = "what the region is made of later, in the order of time; not of a one-way gas"},
    {0}};

const SchemaKey TensionKeys[] = {
    {.name = "first", .kind = SCHEMA_TEXT, .offset = OF_TENSION(first), .help = "name of a region"},
    {.name = "second", .kind = SCHEMA_TEXT, .offset = OF_TENSION(second), .help = "name of another region"},
    {.name = "tension",
     .kind = SCHEMA_REAL,
     .offset = OF_TENSION(tension),
     .range = SCHEMA_NOT_NEGATIVE,
     .unit = "N/m",
     .help = "surface tension where the two meet; 0 between regions that are not named"},
    {.name = "from",
     .kind = SCHEMA_REAL,
     .offset = OF_TENSION(from),
     .fallback = "0",
     .range = SCHEMA_NOT_NEGATIVE,
     .unit = "s",
     .help = "it acts from then on; a step ends there"},
    {.name = "until",
     .kind = SCHEMA_REAL,
     .offset = OF_TENSION(until),
     .fallback = "inf",
     .range = SCHEMA_ENDLESS,
     .unit = "s",
     .help = "and no longer than to that time, which is later; a step ends there"},
    {0}};

const SchemaKey ContactKeys[] = {
    {.name = "first", .kind = SCHEMA_TEXT, .offset = OF_CONTACT(first), .help = "name of a region"},
    {.name = "second", .kind = SCHEMA_TEXT, .offset = OF_CONTACT(second), .help = "name of another region"},
    {.name = "angle",
     .kind = SCHEMA_REAL,
     .offset = OF_CONTACT(angle),
     .range = SCHEMA_BETWEEN,
     .lowest = 0,
     .highest = 180,
     .unit = "deg",
     .help = "at which the interface meets the wall, inside of the first region: below 90 the first one wets "
             "the wall"},
    {.name = "on",
     .kind = SCHEMA_TEXT,
     .offset = OF_CONTACT(on),
     .fallback = "",
     .help =
         "one wall only: x_low to z_high, or the name of an obstacle or a body; left out: every wall that "
         "no other angle of the two regions names"},
    {0}};

const SchemaKey ReactionKeys[] = {
    {.name = "first",
     .kind = SCHEMA_TEXT,
     .offset = OF_REACTION(first),
     .help = "the region that burns, by name"},
    {.name = "product",
     .kind = SCHEMA_TEXT,
     .offset = OF_REACTION(product),
     .help = "the region that it turns into where the two touch"},
    {.name = "speed",
     .kind = SCHEMA_REAL,
     .offset = OF_REACTION(speed),
     .range = SCHEMA_NOT_NEGATIVE,
     .unit = "m/s",
     .help = "at which the front goes into the first region, relative to it"},
    {.name = "second",
     .kind = SCHEMA_TEXT,
     .offset = OF_REACTION(second),
     .fallback = "",
     .help =
         "a region that the first one needs to react: both turn into the product, which comes between them "
         "where they meet; left out: the first one burns wherever it touches the product"},
    {.name = "second_speed",
     .kind = SCHEMA_REAL,
     .offset = OF_REACTION(second_speed),
     .fallback = "0",
     .range = SCHEMA_NOT_NEGATIVE,
     .unit = "m/s",
     .help = "at which a front goes into the second region"},
    {.name = "layer",
     .kind = SCHEMA_REAL,
     .offset = OF_REACTION(layer),
     .fallback = "3",
     .range = SCHEMA_BETWEEN,
     .lowest = 1,
     .highest = 4,
     .unit = "1",
     .help = "cells of product that come between the first and the second region where they meet; the fronts "
             "burn until they are a cell farther apart"},
    {.name = "release",
     .kind = SCHEMA_REAL,
     .offset = OF_REACTION(release),
     .fallback = "0",
     .range = SCHEMA_NOT_NEGATIVE,
     .unit = "s",
     .help = "in which the mass of what such a layer has replaced becomes product, but for 1/e of it; 0: the "
             "time in which a front goes through half of the layer"},
    {.name = "curvature_speed",
     .kind = SCHEMA_REAL,
     .offset = OF_REACTION(curvature_speed),
     .fallback = "0",
     .range = SCHEMA_NOT_NEGATIVE,
     .unit = "m^2/s",
     .help = "times the curvature of the first region's surface (1/R of a drop of it, -1/R around a ball of "
             "the product) it adds to the speed, which is never negative: what keeps fronts smooth"},
    {.name = "scalar",
     .kind = SCHEMA_TEXT,
     .offset = OF_REACTION(scalar),
     .fallback = "",
     .help = "one of fluid.scalars that is the temperature, for the three keys that follow"},
    {.name = "ignition",
     .kind = SCHEMA_REAL,
     .offset = OF_REACTION(ignition),
     .fallback = "0",
     .range = SCHEMA_NOT_NEGATIVE,
     .help = "temperature above which the front burns; 0: it always does"},
    {.name = "ramp",
     .kind = SCHEMA_REAL,
     .offset = OF_REACTION(ramp),
     .fallback = "0",
     .range = SCHEMA_NOT_NEGATIVE,
     .help = "it burns at full speed where it is hotter than that by so much, slower below"},
    {.name = "temperature",
     .kind = SCHEMA_REAL,
     .offset = OF_REACTION(temperature),
     .fallback = "0",
     .range = SCHEMA_NOT_NEGATIVE,
     .help = "of what has just burnt, within two cells of the front; 0: it is not held"},
    {.name = "from",
     .kind = SCHEMA_REAL,
     .offset = OF_REACTION(from),
     .fallback = "0",
     .range = SCHEMA_NOT_NEGATIVE,
     .unit = "s",
     .help = "it burns from then on; a step ends there"},
    {.name = "until",
     .kind = SCHEMA_REAL,
     .offset = OF_REACTION(until),
     .fallback = "inf",
     .range = SCHEMA_ENDLESS,
     .unit = "s",
     .help = "and no longer than to that time, which is later; a step ends there"},
    {0}};

const SchemaKey PhaseKeys[] = {
    {.name = "advection",
     .kind = SCHEMA_CHOICE,
     .offset = AT(interface.advection),
     .fallback = "weno5",
     .choices = InterfaceSchemes,
     .help = "how level sets are carried: semi-lagrangian: cubic along trajectories, any step up to two "
             "cells; weno5: fifth-order upwind differences, in several parts where the step is long"},
    {.name = "particles",
     .kind = SCHEMA_INTEGER,
     .offset = AT(interface.particles),
     .fallback = "16",
     .range = SCHEMA_BETWEEN,
     .lowest = 0,
     .highest = 1024,
     .help = "markers in every cell beside an interface, on either side, that keep thin parts from being "
             "lost; 0: none"},
    {.name = "tensions",
     .kind = SCHEMA_LIST,
     .offset = AT(tensions),
     .count = AT(tension_count),
     .size = sizeof(TensionConfig),
     .fallback = "",
     .keys = TensionKeys,
     .help = "surface tension of pairs of regions"},
    {.name = "contact_angles",
     .kind = SCHEMA_LIST,
     .offset = AT(contacts),
     .count = AT(contact_count),
     .size = sizeof(ContactConfig),
     .fallback = "",
     .keys = ContactKeys,
     .help = "between interfaces and walls; without one an interface meets a side of the box at right angles "
             "and goes into an obstacle or a body as it comes"},
    {.name = "reactions",
     .kind = SCHEMA_LIST,
     .offset = AT(reactions),
     .count = AT(reaction_count),
     .size = sizeof(ReactionConfig),
     .fallback = "",
     .keys = ReactionKeys,
     .help = "regions that turn into others where they touch them: flames, surfaces that boil or melt"},
    {.name = "overlap",
     .kind = SCHEMA_CHOICE,
     .offset = AT(overlap),
     .fallback = "refuse",
     .choices = RegionOverlaps,
     .help = "where shapes overlap or leave a void at the start by more than half a cell: refuse the scene, "
             "or project: give the place to the region that is deepest or nearest"},
    {.name = "volume",
     .kind = SCHEMA_CHOICE,
     .offset = AT(volume),
     .fallback = "free",
     .choices = VolumeCorrections,
     .help = "kept: interfaces are shifted by a small part of a cell per step so that simulated regions keep "
             "their volumes"},
    {.name = "markers",
     .kind = SCHEMA_CHOICE,
     .offset = AT(markers),
     .fallback = "hidden",
     .choices = MarkerOutputs,
     .help = "written: frames show the markers of each region as points"},
    {0}};

/* Names become names of fields in files. */
static PetscBool is_name(const char text[])
{
  if (!text || !text[0])
    return PETSC_FALSE;
  for (; *text; text++)
    if (!isalnum((unsigned char)*text) && *text != '-' && *text != '_')
      return PETSC_FALSE;
  return PETSC_TRUE;
}

static PetscInt region_named(const PhaseConfig *config, const char name[])
{
  for (PetscInt r = 0; r < config->region_count; r++)
    if (name && !strcmp(config->regions[r].name, name))
      return r;
  return -1;
}

static PetscErrorCode CheckRegion(const PhaseConfig *config, PetscInt r, char message[], size_t size)
{
  const RegionConfig *region = &config->regions[r];

  PetscFunctionBegin;
  if (!is_name(region->name))
    PetscCall(PetscSNPrintf(message, size,
                            "the name of region %" PetscInt_FMT " must be made of letters, "
                            "digits, - and _",
                            r + 1));
  else if (region_named(config, region->name) != r)
    PetscCall(PetscSNPrintf(message, size, "two regions are called \"%s\"", region->name));
  else if (region->kind != REGION_EMPTY && region->density <= 0.)
    PetscCall(
        PetscSNPrintf(message, size, "region \"%s\" needs a density > 0, or type: empty", region->name));
  else
    for (PetscInt other = 0; other < r; other++)
      if (!region->shape && !config->regions[other].shape)
        PetscCall(PetscSNPrintf(message, size,
                                "regions \"%s\" and \"%s\" have no shape; only one can take all that the "
                                "others leave",
                                config->regions[other].name, region->name));
  PetscFunctionReturn(0);
}

/* What is wrong with a block; null: nothing. */
const char *elasticity_fault(const RegionElasticity *elasticity)
{
  const PetscBool yields =
      elasticity->model == ELASTICITY_OLDROYD_B || elasticity->model == ELASTICITY_ROTATED_STRAIN
          ? PETSC_TRUE
          : PETSC_FALSE;

  if (elasticity->model == ELASTICITY_NONE)
    return NULL;
  if (!(elasticity->modulus > 0.))
    return "modulus is missing (Pa, of shear); without any, say model: none";
  if (!(elasticity->relaxation > 0.))
    return "relaxation must be positive; inf: the stress stays";
  if (elasticity->yield > 0. && !yields)
    return "yield belongs to oldroyd-b and rotated-strain: remove it, or take one of these";
  if (elasticity->mobility > 0. && elasticity->model != ELASTICITY_GIESEKUS)
    return "mobility belongs to giesekus: remove it, or say model: giesekus";
  if (elasticity->extensibility > 0. && elasticity->model != ELASTICITY_FENE_P)
    return "extensibility belongs to fene-p: remove it, or say model: fene-p";
  if (elasticity->model == ELASTICITY_FENE_P && !(elasticity->extensibility > 2.))
    return "extensibility must be more than 2 (how long a molecule may be over its length at rest)";
  return NULL;
}

static PetscErrorCode CheckElasticity(const RegionConfig *region, char message[], size_t size)
{
  const char *fault = elasticity_fault(&region->elasticity);

  PetscFunctionBegin;
  if (!region_is_ever_elastic(region))
    PetscFunctionReturn(0);
  for (PetscInt n = 0; n < region->change_count && !fault; n++)
    fault = elasticity_fault(&region->changes[n].material.elasticity);
  if (fault)
    PetscCall(PetscSNPrintf(message, size, "the elasticity of region \"%s\": %s", region->name, fault));
  else if (region->kind == REGION_ONE_WAY || !region_is_ever(region, REGION_SIMULATED))
    PetscCall(PetscSNPrintf(message, size, "region \"%s\" is elastic and must be simulated", region->name));
  PetscFunctionReturn(0);
}

static PetscErrorCode CheckChanges(const RegionConfig *region, char message[], size_t size)
{
  PetscReal before = 0.;

  PetscFunctionBegin;
  for (PetscInt n = 0; n < region->change_count && !message[0]; n++) {
    const RegionChange *change = &region->changes[n];

    if (!(change->time > before))
      PetscCall(PetscSNPrintf(message, size,
                              "the changes of region \"%s\" must come in the order of time, after 0",
                              region->name));
    else if (region->kind == REGION_ONE_WAY || change->material.kind == REGION_ONE_WAY)
      PetscCall(
          PetscSNPrintf(message, size, "region \"%s\" cannot change to or from type: one-way", region->name));
    else if (change->material.kind != REGION_EMPTY && change->material.density <= 0.)
      snprintf(message, size, "the change of region \"%s\" at %g s needs a density > 0, or type: empty",
               region->name, (double)change->time);
    before = change->time;
  }
  PetscFunctionReturn(0);
}

/* The first time at which no region is simulated; PETSC_MAX_REAL: there is none. */
PetscReal phase_first_void(const PhaseConfig *config)
{
  for (PetscReal time = 0.; time < PETSC_MAX_REAL; time = phase_next_change(config, time)) {
    PetscBool simulated = PETSC_FALSE;

    for (PetscInt r = 0; r < config->region_count; r++)
      if (region_material(&config->regions[r], time).kind == REGION_SIMULATED)
        simulated = PETSC_TRUE;
    if (!simulated)
      return time;
  }
  return PETSC_MAX_REAL;
}

static PetscErrorCode CheckTension(const PhaseConfig *config, PetscInt t, char message[], size_t size)
{
  const TensionConfig *tension = &config->tensions[t];
  const PetscInt first = region_named(config, tension->first), second = region_named(config, tension->second);

  PetscFunctionBegin;
  if (first < 0 || second < 0)
    PetscCall(PetscSNPrintf(message, size,
                            "a surface tension is given for \"%s\" and \"%s\", but no region is "
                            "called \"%s\"",
                            tension->first, tension->second, first < 0 ? tension->first : tension->second));
  else if (first == second)
    PetscCall(PetscSNPrintf(message, size, "a surface tension needs two regions, not \"%s\" twice",
                            tension->first));
  else if (!(tension->until > tension->from))
    snprintf(message, size,
             "the tension between \"%s\" and \"%s\" must act until later than from %g s, not %g",
             tension->first, tension->second, (double)tension->from, (double)tension->until);
  PetscFunctionReturn(0);
}

static PetscErrorCode CheckReaction(const PhaseConfig *config, PetscInt r, char message[], size_t size)
{
  const ReactionConfig *reaction = &config->reactions[r];
  const PetscInt        first = region_named(config, reaction->first);
  const PetscInt        product = region_named(config, reaction->product);
  const PetscInt        second = region_named(config, reaction->second);
  const char           *idle;

  PetscFunctionBegin;
  if (first < 0 || product < 0)
    PetscCall(
        PetscSNPrintf(message, size, "a reaction turns \"%s\" into \"%s\", but no region is called \"%s\"",
                      reaction->first, reaction->product, first < 0 ? reaction->first : reaction->product));
  else if (first == product)
    PetscCall(PetscSNPrintf(message, size, "a reaction cannot turn \"%s\" into itself", reaction->first));
  else if (reaction->second && (second < 0 || second == first || second == product))
    PetscCall(PetscSNPrintf(message, size, "\"%s\" cannot react with \"%s\" to \"%s\"", reaction->first,
                            reaction->second, reaction->product));
  else if (reaction->second && (!(reaction->layer >= 1. && reaction->layer <= 4.) ||
                                reaction_release(reaction, 1.) == 0. || reaction_ignites(reaction)))
    PetscCall(PetscSNPrintf(message, size,
                            "the reaction of \"%s\" with \"%s\" needs a layer of 1 to 4 cells, a speed or a "
                            "time of release, and no ignition",
                            reaction->first, reaction->second));
  else if (!(reaction->until > reaction->from))
    snprintf(message, size, "the reaction of \"%s\" must act until later than from %g s, not %g",
             reaction->first, (double)reaction->from, (double)reaction->until);
  else if ((idle = reaction_idle_region(config, reaction)))
    PetscCall(PetscSNPrintf(message, size,
                            "the reaction of \"%s\" to \"%s\" needs them simulated as long as it acts; "
                            "\"%s\" is not",
                            reaction->first, reaction->product, idle));
  else if (reaction_with_same_regions(config, r) >= 0)
    PetscCall(PetscSNPrintf(message, size, "two reactions act between \"%s\" and \"%s\" at the same time",
                            reaction->first, reaction->product));
  PetscFunctionReturn(0);
}

PetscErrorCode PhaseConfigCheck(const PhaseConfig *config, char message[], size_t size)
{
  PetscFunctionBegin;
  message[0] = 0;
  if (config->region_count < 2 || config->region_count > REGIONS_MAX) {
    PetscCall(PetscSNPrintf(message, size, "2 to %d regions are possible, not %" PetscInt_FMT, REGIONS_MAX,
                            config->region_count));
    PetscFunctionReturn(0);
  }
  for (PetscInt r = 0; r < config->region_count && !message[0]; r++) {
    PetscCall(CheckRegion(config, r, message, size));
    if (!message[0])
      PetscCall(CheckChanges(&config->regions[r], message, size));
    if (!message[0])
      PetscCall(CheckElasticity(&config->regions[r], message, size));
  }
  for (PetscInt t = 0; t < config->tension_count && !message[0]; t++)
    PetscCall(CheckTension(config, t, message, size));
  if (config->reaction_count > REACTIONS_MAX)
    PetscCall(PetscSNPrintf(message, size, "%d reactions are possible, not %" PetscInt_FMT, REACTIONS_MAX,
                            config->reaction_count));
  for (PetscInt r = 0; r < config->reaction_count && !message[0]; r++)
    PetscCall(CheckReaction(config, r, message, size));
  if (!message[0] && phase_first_void(config) < PETSC_MAX_REAL)
    snprintf(message, size, "at least one region must be simulated, also at %g s",
             (double)phase_first_void(config));
  PetscFunctionReturn(0);
}
