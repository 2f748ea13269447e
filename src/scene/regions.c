/* Scenes with regions: what one key of a region, a tension or an inflow cannot tell. */
#include "scene_impl.h"

#include <millrace/elastic.h>
#include <millrace/reaction.h>

#include <string.h>

static Node *list_of(Scene scene)
{
  Node *list = node_find(scene->root, "regions");

  return list && list->kind == NODE_LIST ? list : NULL;
}

/* What a change leaves out is as before; a one-way gas is refused any. */
static PetscErrorCode ExpandChanges(Node *region)
{
  static const char *const keys[] = {"type", "density", "viscosity", "elasticity"};
  Node                    *list = node_find(region, "changes"), *copy;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < (PetscInt)PETSC_STATIC_ARRAY_LENGTH(keys); k++) {
    const Node *before = node_find(region, keys[k]);

    if (before && before->text && !strcmp(before->text, RegionKinds[REGION_ONE_WAY]))
      continue;

    for (Node *item = list && list->kind == NODE_LIST ? list->first : NULL; item; item = item->next) {
      if (item->kind == NODE_MAP && before && !node_find(item, keys[k])) {
        PetscCall(NodeCopy(before, &copy));
        node_append(item, copy);
      }
      before = node_find(item, keys[k]) ? node_find(item, keys[k]) : before;
    }
  }
  PetscFunctionReturn(0);
}

/* With regions there is a block `interfaces`, so that its defaults count. */
PetscErrorCode SceneExpandRegions(Scene scene)
{
  Node *list = list_of(scene);

  PetscFunctionBegin;
  if (node_find(scene->root, "regions"))
    PetscCall(SceneAddBlock(scene, "interfaces"));
  for (Node *item = list ? list->first : NULL; item; item = item->next)
    PetscCall(ExpandChanges(item));
  PetscFunctionReturn(0);
}

static PetscBool is_region(Scene scene, const char name[])
{
  const PhaseConfig *phases = &scene->config.phases;

  for (PetscInt r = 0; r < phases->region_count; r++)
    if (phases->regions[r].name && !strcmp(phases->regions[r].name, name))
      return PETSC_TRUE;
  return PETSC_FALSE;
}

/* Refuses the name of a region that there is not. */
static PetscErrorCode CheckRegionName(Scene scene, Node *node, const char name[])
{
  const PhaseConfig *phases = &scene->config.phases;
  const char        *names[REGIONS_MAX + 1] = {NULL}, *near;
  char               path[PATH_LENGTH];

  PetscFunctionBegin;
  if (!name || is_region(scene, name))
    PetscFunctionReturn(0);
  for (PetscInt r = 0; r < PetscMin(phases->region_count, REGIONS_MAX); r++)
    names[r] = phases->regions[r].name ? phases->regions[r].name : "";
  near = closest_word(name, names);
  node_path(node, path, sizeof(path));
  PetscCall(ProblemAdd(scene, node, PROBLEM_ERROR, "%s: no region is called \"%.40s\"%s%s%s", path, name,
                       near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : ""));
  PetscFunctionReturn(0);
}

static PetscBool has_shells(const SimulationConfig *config)
{
  for (PetscInt b = 0; b < config->solids.body_count; b++)
    if (config->solids.bodies[b].thickness > 0.)
      return PETSC_TRUE;
  return PETSC_FALSE;
}

/* Of a region, or of one of its changes. */
static PetscErrorCode CheckElasticity(Scene scene, Node *item, const RegionConfig *region,
                                      const RegionElasticity *elasticity)
{
  const SimulationConfig *config = &scene->config;
  Node                   *node = node_find(item, "elasticity");
  char                    path[PATH_LENGTH];

  PetscFunctionBegin;
  if (!is_usable(node) || node->kind != NODE_MAP || elasticity->model == ELASTICITY_NONE)
    PetscFunctionReturn(0);
  node_path(node, path, sizeof(path));
  for (const Node *key = node->first; key; key = key->next)
    if (key->bad)
      PetscFunctionReturn(0);
  if (elasticity_fault(elasticity))
    PetscCall(ProblemAdd(scene, node, PROBLEM_ERROR, "%s.%s", path, elasticity_fault(elasticity)));
  if (elasticity->yield > 0. && PetscIsInfReal(elasticity->relaxation))
    PetscCall(ProblemAdd(scene, node_find(node, "yield"), PROBLEM_WARNING,
                         "%s.yield has no effect without a finite relaxation time", path));
  if (region->kind == REGION_ONE_WAY || !region_is_ever(region, REGION_SIMULATED))
    PetscCall(ProblemAddAtKey(scene, node, PROBLEM_ERROR,
                              "%s: this region is %s; only a simulated one can be elastic", path,
                              RegionKinds[region->kind]));
  if (config->solids.mesh_count || has_shells(config))
    PetscCall(
        ProblemAddAtKey(scene, node, PROBLEM_ERROR,
                        "%s: elastic regions do not act on meshes or on shells (bodies with a thickness); "
                        "remove these, or make the region viscous",
                        path));
  PetscFunctionReturn(0);
}

static PetscErrorCode CheckChange(Scene scene, const RegionConfig *region, Node *item, PetscInt number)
{
  const RegionChange  *change = &region->changes[number];
  const RegionMaterial before = region_material(region, number ? change[-1].time : 0.);
  char                 path[PATH_LENGTH];

  PetscFunctionBegin;
  node_path(item, path, sizeof(path));
  if (!is_usable(node_find(item, "time")) || !is_usable(node_find(item, "density")))
    PetscFunctionReturn(0);
  if (number && change->time <= change[-1].time)
    PetscCall(ProblemAdd(scene, node_find(item, "time"), PROBLEM_ERROR,
                         "%s.time is %g s, not later than the change before it, at %g s: put the changes in "
                         "the order of time",
                         path, (double)change->time, (double)change[-1].time));
  else if (change->material.kind == REGION_SIMULATED && change->material.density == 0.)
    PetscCall(ProblemAdd(scene, item, PROBLEM_ERROR,
                         "%s.density is missing (kg/m^3): what was empty has no density that it could keep",
                         path));
  else if (change->material.kind == before.kind && change->material.density == before.density &&
           change->material.viscosity == before.viscosity &&
           !memcmp(&change->material.elasticity, &before.elasticity, sizeof(before.elasticity)))
    PetscCall(ProblemAdd(scene, item, PROBLEM_WARNING,
                         "%s changes nothing: give a type, density, viscosity or elasticity other than "
                         "before",
                         path));
  if (change->time >= scene->config.run.end_time)
    PetscCall(ProblemAdd(scene, node_find(item, "time"), PROBLEM_WARNING,
                         "%s.time is %g s, but the run ends at %g s (run.end_time)", path,
                         (double)change->time, (double)scene->config.run.end_time));
  PetscFunctionReturn(0);
}

static PetscErrorCode CheckChanges(Scene scene, Node *region_node, PetscInt number)
{
  const RegionConfig *region = &scene->config.phases.regions[number];
  Node               *list = node_find(region_node, "changes");
  char                path[PATH_LENGTH];

  PetscFunctionBegin;
  if (!list || list->kind != NODE_LIST)
    PetscFunctionReturn(0);
  node_path(list, path, sizeof(path));
  if (region->change_count && region->kind == REGION_ONE_WAY) {
    PetscCall(ProblemAddAtKey(scene, list, PROBLEM_ERROR,
                              "%s: a one-way gas stays what it is; remove the changes, or make the region "
                              "simulated or empty",
                              path));
    PetscFunctionReturn(0);
  }
  for (PetscInt n = 0; n < region->change_count; n++) {
    const RegionElasticity *now = &region->changes[n].material.elasticity,
                           *before = n ? &region->changes[n - 1].material.elasticity : &region->elasticity;

    PetscCall(CheckChange(scene, region, node_item(list, n), n));
    if (memcmp(now, before, sizeof(*now)))
      PetscCall(CheckElasticity(scene, node_item(list, n), region, now));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode CheckRegion(Scene scene, Node *item, PetscInt number)
{
  const RegionConfig *region = &scene->config.phases.regions[number];
  char                path[PATH_LENGTH];

  PetscFunctionBegin;
  node_path(item, path, sizeof(path));
  if (is_usable(node_find(item, "density")) && region->kind != REGION_EMPTY && region->density == 0.)
    PetscCall(ProblemAdd(scene, item, PROBLEM_ERROR,
                         "%s.density is missing (kg/m^3, mass per volume); only an empty region has none",
                         path));
  if (region->kind == REGION_EMPTY && (region->density > 0. || region->viscosity > 0.))
    PetscCall(ProblemAddAtKey(scene, node_find(item, region->density > 0. ? "density" : "viscosity"),
                              PROBLEM_WARNING, "%s is empty: its density and viscosity have no effect",
                              path));
  if (region->kind == REGION_EMPTY && region->velocity[X])
    PetscCall(ProblemAddAtKey(scene, node_find(item, "velocity"), PROBLEM_ERROR,
                              "%s is empty: nothing in it could have a velocity", path));
  PetscCall(SceneCheckShape(scene, item, region->shape));
  PetscCall(CheckChanges(scene, item, number));
  PetscCall(CheckElasticity(scene, item, region, &region->elasticity));
  for (PetscInt other = 0; other < number; other++) {
    const RegionConfig *before = &scene->config.phases.regions[other];

    if (!node_find(item, "shape") && !node_find(node_item(list_of(scene), other), "shape"))
      PetscCall(ProblemAdd(scene, item, PROBLEM_ERROR,
                           "%s has no shape, as regions[%d]: one region at most takes all that the others "
                           "leave",
                           path, (int)other));
    if (region->kind == REGION_ONE_WAY && before->kind == REGION_ONE_WAY)
      PetscCall(ProblemAdd(scene, node_find(item, "type"), PROBLEM_ERROR,
                           "%s is one-way, as regions[%d]: there may be one such gas", path, (int)other));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode CheckTensions(Scene scene)
{
  const PhaseConfig *phases = &scene->config.phases;
  Node              *list = node_find(node_find(scene->root, "interfaces"), "tensions");

  PetscFunctionBegin;
  for (PetscInt t = 0; t < phases->tension_count; t++) {
    const TensionConfig *tension = &phases->tensions[t];
    Node                *item = node_item(list, t);

    PetscCall(CheckRegionName(scene, node_find(item, "first"), tension->first));
    PetscCall(CheckRegionName(scene, node_find(item, "second"), tension->second));
    if (tension->first && tension->second && !strcmp(tension->first, tension->second))
      PetscCall(ProblemAdd(scene, node_find(item, "second"), PROBLEM_ERROR,
                           "a surface tension is between two regions, not \"%.40s\" and itself",
                           tension->first));
    if (is_usable(node_find(item, "until")) && is_usable(node_find(item, "from")) &&
        !(tension->until > tension->from))
      PetscCall(ProblemAdd(scene, node_find(item, "until"), PROBLEM_ERROR,
                           "interfaces.tensions[%d].until is %g s, not later than its `from`, %g s", (int)t,
                           (double)tension->until, (double)tension->from));
  }
  PetscFunctionReturn(0);
}

/* A front in cells of the scene's own size. */
static PetscErrorCode CheckFrontSpeed(Scene scene, Node *item, PetscInt number)
{
  const SimulationConfig *config = &scene->config;
  const ReactionConfig   *reaction = &config->phases.reactions[number];
  const PetscReal h = config->grid.resolution > 0. ? config->grid.size.at[X] / config->grid.resolution : 0.;

  PetscFunctionBegin;
  for (PetscInt n = 0; n < 2; n++) {
    const char     *key = n ? "second_speed" : "speed";
    const PetscReal speed = n ? reaction->second_speed : reaction->speed;

    if (is_usable(node_find(item, key)) && h > 0. && speed * config->run.time_step > h)
      PetscCall(
          ProblemAddAtKey(scene, node_find(item, key), PROBLEM_ERROR,
                          "interfaces.reactions[%d].%s: a front of %g m/s burns more than a cell, %g m, "
                          "in a step of %g s: make run.time_step smaller, or leave it out",
                          (int)number, key, (double)speed, (double)h, (double)config->run.time_step));
  }
  PetscFunctionReturn(0);
}

/* What two regions need that react with each other. */
static PetscErrorCode CheckSecond(Scene scene, Node *item, PetscInt number)
{
  const ReactionConfig *reaction = &scene->config.phases.reactions[number];
  char                  path[PATH_LENGTH];

  PetscFunctionBegin;
  node_path(item, path, sizeof(path));
  if (!reaction->second && reaction->second_speed > 0.)
    PetscCall(ProblemAdd(scene, node_find(item, "second_speed"), PROBLEM_ERROR,
                         "%s.second is missing: which region does the second front burn?", path));
  else if (reaction->second &&
           (!strcmp(reaction->second, reaction->first) || !strcmp(reaction->second, reaction->product)))
    PetscCall(
        ProblemAdd(scene, node_find(item, "second"), PROBLEM_ERROR,
                   "%s.second: \"%.40s\" reacts with another region than itself and its product; name it, "
                   "or leave `second` out",
                   path, reaction->second));
  else if (reaction->second && reaction->ignition > 0.)
    PetscCall(ProblemAdd(scene, node_find(item, "ignition"), PROBLEM_ERROR,
                         "%s.ignition: two regions react wherever they meet; remove `ignition` or `second`",
                         path));
  else if (reaction->second && reaction_release(reaction, 1.) == 0.)
    PetscCall(ProblemAdd(
        scene, item, PROBLEM_ERROR,
        "%s.release must be positive where neither front burns by itself (speed, second_speed)", path));
  PetscFunctionReturn(0);
}

/* The temperature that a reaction needs. */
static PetscErrorCode CheckTemperature(Scene scene, Node *item, PetscInt number)
{
  const SimulationConfig *config = &scene->config;
  const ReactionConfig   *reaction = &config->phases.reactions[number];
  PetscBool               found = PETSC_FALSE, gas = PETSC_FALSE;
  char                    path[PATH_LENGTH];

  PetscFunctionBegin;
  node_path(item, path, sizeof(path));
  for (PetscInt n = 0; n < config->phases.region_count; n++)
    if (config->phases.regions[n].kind == REGION_ONE_WAY)
      gas = PETSC_TRUE;
  for (PetscInt s = 0; s < config->fluid.scalar_count && reaction->scalar; s++)
    if (config->fluid.scalars[s].name && !strcmp(config->fluid.scalars[s].name, reaction->scalar))
      found = PETSC_TRUE;
  if (!reaction->scalar && (reaction->ignition > 0. || reaction->temperature > 0.))
    PetscCall(ProblemAdd(
        scene, item, PROBLEM_ERROR,
        "%s.scalar is missing: one of fluid.scalars must be the temperature that is asked for", path));
  else if (reaction->scalar && !found)
    PetscCall(ProblemAdd(scene, node_find(item, "scalar"), PROBLEM_ERROR,
                         "%s.scalar: no scalar of the fluid is called \"%.40s\"; add it to fluid.scalars",
                         path, reaction->scalar));
  else if (found && gas)
    PetscCall(
        ProblemAdd(scene, node_find(item, "scalar"), PROBLEM_ERROR,
                   "%s.scalar: beside a one-way gas, which has the scalars, nothing can be ignited; make "
                   "that region simulated",
                   path));
  PetscFunctionReturn(0);
}

/* Between two regions that there are. */
static PetscErrorCode CheckReaction(Scene scene, Node *item, PetscInt number)
{
  const PhaseConfig    *phases = &scene->config.phases;
  const ReactionConfig *reaction = &phases->reactions[number];
  const char           *idle = reaction_idle_region(phases, reaction);
  const PetscInt        other = reaction_with_same_regions(phases, number);
  char                  path[PATH_LENGTH];

  PetscFunctionBegin;
  node_path(item, path, sizeof(path));
  if (!strcmp(reaction->first, reaction->product))
    PetscCall(ProblemAdd(scene, node_find(item, "product"), PROBLEM_ERROR,
                         "%s: \"%.40s\" cannot be its own product; name the region that it turns into", path,
                         reaction->first));
  else if (!(reaction->until > reaction->from))
    PetscCall(ProblemAdd(scene, node_find(item, "until"), PROBLEM_ERROR,
                         "%s.until is %g s, not later than its `from`, %g s", path, (double)reaction->until,
                         (double)reaction->from));
  else if (idle)
    PetscCall(
        ProblemAdd(scene, item, PROBLEM_ERROR,
                   "%s: \"%.40s\" is not simulated as long as the reaction acts; make it type: simulated, "
                   "or let the reaction begin or end (from, until) with that",
                   path, idle));
  else if (other >= 0)
    PetscCall(ProblemAdd(
        scene, item, PROBLEM_ERROR,
        "%s: interfaces.reactions[%d] is between the same regions at the same time; remove one, or "
        "let one begin when the other ends (from, until)",
        path, (int)other));
  PetscCall(CheckFrontSpeed(scene, item, number));
  PetscCall(CheckSecond(scene, item, number));
  PetscCall(CheckTemperature(scene, item, number));
  PetscFunctionReturn(0);
}

static PetscErrorCode CheckReactions(Scene scene)
{
  const SimulationConfig *config = &scene->config;
  const PhaseConfig      *phases = &config->phases;
  Node                   *list = node_find(node_find(scene->root, "interfaces"), "reactions");

  PetscFunctionBegin;
  if (phases->reaction_count > REACTIONS_MAX) {
    PetscCall(ProblemAddAtKey(scene, list, PROBLEM_ERROR, "interfaces.reactions can be %d at most, not %d",
                              REACTIONS_MAX, (int)phases->reaction_count));
    PetscFunctionReturn(0);
  }
  for (PetscInt r = 0; r < phases->reaction_count; r++) {
    const ReactionConfig *reaction = &phases->reactions[r];
    Node                 *item = node_item(list, r);

    PetscCall(CheckRegionName(scene, node_find(item, "first"), reaction->first));
    PetscCall(CheckRegionName(scene, node_find(item, "product"), reaction->product));
    if (reaction->second)
      PetscCall(CheckRegionName(scene, node_find(item, "second"), reaction->second));
    if (reaction->first && reaction->product && is_region(scene, reaction->first) &&
        is_region(scene, reaction->product) && (!reaction->second || is_region(scene, reaction->second)))
      PetscCall(CheckReaction(scene, item, r));
  }
  if (phases->reaction_count && config->solids.mesh_count)
    PetscCall(ProblemAddAtKey(
        scene, list, PROBLEM_ERROR,
        "interfaces.reactions: fronts do not burn beside meshes; remove the one or the other"));
  PetscFunctionReturn(0);
}

static PetscErrorCode CheckContacts(Scene scene)
{
  const PhaseConfig *phases = &scene->config.phases;
  Node              *list = node_find(node_find(scene->root, "interfaces"), "contact_angles");

  PetscFunctionBegin;
  for (PetscInt t = 0; t < phases->contact_count; t++) {
    const ContactConfig *contact = &phases->contacts[t];
    Node                *item = node_item(list, t);

    PetscCall(CheckRegionName(scene, node_find(item, "first"), contact->first));
    PetscCall(CheckRegionName(scene, node_find(item, "second"), contact->second));
    if (contact->first && contact->second && !strcmp(contact->first, contact->second))
      PetscCall(ProblemAdd(scene, node_find(item, "second"), PROBLEM_ERROR,
                           "a contact angle is between two regions, not \"%.40s\" and itself",
                           contact->first));
    if (contact_place(&scene->config, contact->on) == CONTACT_NOWHERE)
      PetscCall(ProblemAdd(scene, node_find(item, "on"), PROBLEM_ERROR,
                           "no side, obstacle or body is called \"%.40s\"; sides are x_low, x_high, y_low, "
                           "y_high, z_low and z_high",
                           contact->on));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode CheckCount(Scene scene, Node *list)
{
  const PhaseConfig *phases = &scene->config.phases;
  PetscFunctionBegin;
  if (phases->region_count < 2 || phases->region_count > REGIONS_MAX)
    PetscCall(ProblemAdd(scene, list, PROBLEM_ERROR,
                         "regions must be 2 to %d, not %d; without any, one fluid fills the box", REGIONS_MAX,
                         (int)phases->region_count));
  if (phases->region_count && phase_first_void(phases) == 0.)
    PetscCall(ProblemAdd(scene, list, PROBLEM_ERROR, "regions: one of them must be simulated"));
  else if (phases->region_count && phase_first_void(phases) < PETSC_MAX_REAL)
    PetscCall(ProblemAdd(scene, list, PROBLEM_ERROR,
                         "regions: one of them must be simulated at any time; from %g s on all are empty",
                         (double)phase_first_void(phases)));
  PetscFunctionReturn(0);
}

/* Density and viscosity belong to the one fluid, or else to the regions. */
static PetscErrorCode CheckFluid(Scene scene)
{
  FluidConfig *fluid = &scene->config.fluid;
  Node        *block = node_find(scene->root, "fluid"), *density = node_find(block, "density");

  PetscFunctionBegin;
  if (!list_of(scene)) {
    if (block && block->kind == NODE_MAP && !density)
      PetscCall(
          ProblemAddAtKey(scene, block, PROBLEM_ERROR, "fluid.density is missing (kg/m^3, mass per volume)"));
    PetscFunctionReturn(0);
  }
  if (density)
    PetscCall(ProblemAddAtKey(scene, density, PROBLEM_ERROR,
                              "fluid.density has no meaning beside regions: each has a density of its own"));
  if (fluid->viscosity > 0.)
    PetscCall(
        ProblemAddAtKey(scene, node_find(block, "viscosity"), PROBLEM_ERROR,
                        "fluid.viscosity has no meaning beside regions: each has a viscosity of its own"));
  PetscFunctionReturn(0);
}

/* Whether what lies beyond a side has a weight. */
static PetscBool has_weight(Scene scene, const char region[])
{
  const PhaseConfig *phases = &scene->config.phases;

  for (PetscInt r = 0; r < phases->region_count; r++)
    if (phases->regions[r].kind != REGION_SIMULATED &&
        (!region || (phases->regions[r].name && !strcmp(region, phases->regions[r].name))))
      return PETSC_FALSE;
  return vector3_norm(scene->config.fluid.gravity) > 0. ? PETSC_TRUE : PETSC_FALSE;
}

static PetscErrorCode CheckOuterRegion(Scene scene, Node *side, const SideConfig *config)
{
  Node     *region = node_find(side, "region"), *level = node_find(side, "level");
  PetscBool has_level = level && side_has_level(config) ? PETSC_TRUE : PETSC_FALSE;
  char      path[PATH_LENGTH];

  PetscFunctionBegin;
  if (!is_usable(node_find(side, "type")) || (level && !is_usable(level)) || (!config->region && !has_level))
    PetscFunctionReturn(0);
  node_path(config->region ? region : level, path, sizeof(path));
  if (config->kind != SIDE_OPEN)
    PetscCall(
        ProblemAddAtKey(scene, config->region ? region : level, PROBLEM_ERROR,
                        "%s: this side is %s; only beyond an open one lies a region. Remove it, or make "
                        "the side open",
                        path, SideKinds[config->kind]));
  else if (!list_of(scene))
    PetscCall(ProblemAddAtKey(
        scene, config->region ? region : level, PROBLEM_ERROR,
        "%s has no meaning without regions, where the same fluid lies beyond: remove it", path));
  else {
    PetscCall(CheckRegionName(scene, region, config->region));
    if (has_level && !has_weight(scene, config->region) &&
        (!config->region || is_region(scene, config->region)))
      PetscCall(
          ProblemAddAtKey(scene, level, PROBLEM_ERROR,
                          "a level needs gravity and a region with a weight: remove it, or name one, as in "
                          "{type: open, region: water, level: 0.5}"));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode CheckOuterRegions(Scene scene)
{
  static const char *const names[DIM][2] = {{"x_low", "x_high"}, {"y_low", "y_high"}, {"z_low", "z_high"}};
  Node                    *sides = node_find(node_find(scene->root, "fluid"), "sides");

  PetscFunctionBegin;
  for (PetscInt n = 0; n < 2 * DIM; n++)
    PetscCall(CheckOuterRegion(scene, node_find(sides, names[n / 2][n % 2]),
                               &scene->config.fluid.sides[n / 2][n % 2]));
  PetscFunctionReturn(0);
}

PetscErrorCode SceneCheckRegions(Scene scene)
{
  Node *list = list_of(scene), *inflows = node_find(scene->root, "inflows");

  PetscFunctionBegin;
  PetscCall(CheckFluid(scene));
  PetscCall(CheckOuterRegions(scene));
  for (PetscInt n = 0; n < scene->config.inflow_count; n++)
    PetscCall(
        CheckRegionName(scene, node_find(node_item(inflows, n), "region"), scene->config.inflows[n].region));
  if (node_find(scene->root, "interfaces") && !list)
    PetscCall(ProblemAddAtKey(scene, node_find(scene->root, "interfaces"), PROBLEM_ERROR,
                              "interfaces has no meaning without regions"));
  if (!list)
    PetscFunctionReturn(0);
  PetscCall(CheckNames(scene, list));
  PetscCall(CheckCount(scene, list));
  for (PetscInt r = 0; r < scene->config.phases.region_count; r++)
    PetscCall(CheckRegion(scene, node_item(list, r), r));
  PetscCall(CheckTensions(scene));
  PetscCall(CheckContacts(scene));
  PetscCall(CheckReactions(scene));
  PetscFunctionReturn(0);
}
