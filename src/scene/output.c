/* What a scene asks to be recorded must be there: bodies, joints, regions, places in the box. */
#include "scene_impl.h"

#include <millrace/elastic.h>

#include <string.h>

static PetscErrorCode Miss(Scene scene, Node *node, const char what[], const char name[],
                           const char *const names[])
{
  const char *near = closest_word(name, names);

  PetscFunctionBegin;
  if (is_usable(node))
    PetscCall(ProblemAdd(scene, node, PROBLEM_ERROR, "there is no %s \"%.40s\"%s%s%s", what, name,
                         near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : ""));
  PetscFunctionReturn(0);
}

static PetscErrorCode CheckRegion(Scene scene, Node *item, const char name[])
{
  const PhaseConfig *phases = &scene->config.phases;
  const char       **names;

  PetscFunctionBegin;
  if (!name)
    PetscFunctionReturn(0);
  PetscCall(PetscCalloc1(phases->region_count + 1, &names));
  for (PetscInt r = 0; r < phases->region_count; r++) {
    names[r] = phases->regions[r].name ? phases->regions[r].name : "";
    if (!strcmp(names[r], name)) {
      PetscCall(PetscFree(names));
      PetscFunctionReturn(0);
    }
  }
  PetscCall(Miss(scene, node_find(item, "region"), "region", name, names));
  PetscCall(PetscFree(names));
  PetscFunctionReturn(0);
}

static PetscErrorCode CheckPlace(Scene scene, Node *item, const char key[], Vector3 place, PetscInt except)
{
  const GridConfig *grid = &scene->config.grid;
  Node             *node = node_find(item, key);
  char              path[PATH_LENGTH];

  PetscFunctionBegin;
  if (!is_usable(node) || !is_usable(node_find(node_find(scene->root, "grid"), "size")))
    PetscFunctionReturn(0);
  node_path(node, path, sizeof(path));
  for (PetscInt d = 0; d < grid->dimension; d++)
    if (d != except &&
        (place.at[d] < grid->origin.at[d] || place.at[d] > grid->origin.at[d] + grid->size.at[d])) {
      PetscCall(ProblemAdd(
          scene, node, PROBLEM_ERROR, "%s is outside the box, which goes from %g to %g along %c", path,
          (double)grid->origin.at[d], (double)(grid->origin.at[d] + grid->size.at[d]), "xyz"[d]));
      PetscFunctionReturn(0);
    }
  PetscFunctionReturn(0);
}

static PetscInt body_copies(const BodyConfig *body)
{
  return (PetscInt)(body->copies.count.at[X] * body->copies.count.at[Y] * body->copies.count.at[Z]);
}

/* Whether a name is that of a body, or of one copy where there are several. */
static PetscBool is_body(const SolidConfig *solids, const char name[])
{
  for (PetscInt b = 0; b < solids->body_count; b++) {
    const BodyConfig *body = &solids->bodies[b];
    const size_t      length = body->name ? strlen(body->name) : 0;
    int               copy = -1, used = 0;

    if (!length || strncmp(body->name, name, length))
      continue;
    if (!name[length] && body_copies(body) == 1)
      return PETSC_TRUE;
    if (sscanf(name + length, ".%d%n", &copy, &used) == 1 && !name[length + used] && copy >= 0 &&
        copy < body_copies(body) && body_copies(body) > 1)
      return PETSC_TRUE;
  }
  return PETSC_FALSE;
}

/* Bodies by their names, and obstacles if they count. */
static PetscErrorCode CheckBody(Scene scene, Node *item, const char name[], PetscBool obstacles)
{
  const SimulationConfig *config = &scene->config;
  const PetscInt          count = config->solids.body_count + (obstacles ? config->obstacle_count : 0);
  const char            **names;
  PetscBool               found = !name || is_body(&config->solids, name) ? PETSC_TRUE : PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(count + 1, &names));
  for (PetscInt n = 0; n < count; n++) {
    const PetscInt o = n - config->solids.body_count;
    const char    *other = o < 0 ? config->solids.bodies[n].name : config->obstacles[o].name;

    names[n] = other ? other : "";
    if (o >= 0 && name && !strcmp(names[n], name))
      found = PETSC_TRUE;
  }
  if (!found)
    PetscCall(Miss(scene, node_find(item, "name"),
                   obstacles ? "obstacle or body" : "single body (a copy is NAME.0, NAME.1, ...)", name,
                   names));
  PetscCall(PetscFree(names));
  PetscFunctionReturn(0);
}

/* What the name of a joint, or of a copy of it (NAME.3), says: null if there is none. */
static const JointConfig *find_joint(const SolidConfig *solids, const char name[], long *copy)
{
  const size_t length = strcspn(name, ".");
  char        *end = NULL;

  *copy = name[length] ? strtol(name + length + 1, &end, 10) : -1;
  if (name[length] && (*end || *copy < 0 || !name[length + 1]))
    return NULL;
  for (PetscInt j = 0; j < solids->joint_count; j++) {
    const char *other = solids->joints[j].name;

    if (other && strlen(other) == length && !strncmp(other, name, length))
      return &solids->joints[j];
  }
  return NULL;
}

/* How many joints an entry makes: a row of its own, or one for each copy of the assembly of its bodies. */
static long joint_count(const SolidConfig *solids, const JointConfig *joint)
{
  const char *const ends[] = {joint->child, joint->parent};

  for (size_t end = 0; end < 2; end++)
    for (PetscInt b = 0; b < solids->body_count && ends[end]; b++) {
      const BodyConfig *body = &solids->bodies[b];

      if (body->name && body->assembly && body->assembly[0] && !strcmp(body->name, ends[end]))
        return (long)body_copies(body);
    }
  return PetscMax(1, (long)joint->copies);
}

static PetscErrorCode CheckJoint(Scene scene, Node *item, const char name[])
{
  const SolidConfig *solids = &scene->config.solids;
  Node              *node = node_find(item, "name");
  long               copy;
  const JointConfig *joint = name ? find_joint(solids, name, &copy) : NULL;
  const long         count = joint ? joint_count(solids, joint) : 0;
  const char       **names;

  PetscFunctionBegin;
  if (!joint && name) {
    PetscCall(PetscCalloc1(solids->joint_count + 1, &names));
    for (PetscInt j = 0; j < solids->joint_count; j++)
      names[j] = solids->joints[j].name ? solids->joints[j].name : "";
    PetscCall(Miss(scene, node, "joint", name, names));
    PetscCall(PetscFree(names));
  }
  if (!joint)
    PetscFunctionReturn(0);
  if (copy < 0 && count > 1)
    PetscCall(ProblemAdd(scene, node, PROBLEM_ERROR,
                         "there are %ld of \"%.40s\"; say which, such as \"%.40s.0\"", count, name, name));
  else if (copy >= count)
    PetscCall(ProblemAdd(scene, node, PROBLEM_ERROR, "\"%.40s\" has copies 0 to %ld, not %ld", joint->name,
                         count - 1, copy));
  PetscFunctionReturn(0);
}

/* Fields are those of a fluid on the grid. */
static PetscErrorCode NeedFluid(Scene scene, Node *group)
{
  static const char *const lists[] = {"probes",   "lines",        "planes", "gauges",
                                      "averages", "coefficients", "fields"};
  Node                    *splash = node_find(scene->root, "splash");

  PetscFunctionBegin;
  for (size_t n = 0; n < sizeof(lists) / sizeof(lists[0]); n++) {
    Node *list = node_find(group, lists[n]);

    if (list && list->first && (!scene->has_fluid || (splash && splash->first)))
      PetscCall(ProblemAddAtKey(scene, list, PROBLEM_ERROR, "%s need a fluid, and the scene has %s", lists[n],
                                scene->has_fluid ? "a splash instead" : "none"));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode CheckGauges(Scene scene, Node *node, const OutputConfig *group)
{
  const Vector3 gravity = scene->config.fluid.gravity;
  PetscInt      up = 0;

  PetscFunctionBegin;
  for (PetscInt d = 1; d < DIM; d++)
    if (PetscAbsReal(gravity.at[d]) > PetscAbsReal(gravity.at[up]))
      up = d;
  if (group->gauge_count && vector3_norm(gravity) == 0.)
    PetscCall(ProblemAddAtKey(scene, node_find(node, "gauges"), PROBLEM_ERROR,
                              "gauges measure heights against gravity, and fluid.gravity is 0"));
  for (PetscInt n = 0; n < group->gauge_count; n++) {
    Node *item = node_item(node_find(node, "gauges"), n);

    PetscCall(CheckPlace(scene, item, "at", group->gauges[n].at, up));
    PetscCall(CheckRegion(scene, item, group->gauges[n].region));
  }
  PetscFunctionReturn(0);
}

/* All four corners lie in the box, and not on one line. */
static PetscErrorCode CheckPlaneOf(Scene scene, Node *item, const PlaneConfig *plane)
{
  const Vector3 end = vector3_add(plane->origin, plane->along);

  PetscFunctionBegin;
  if (scene->config.grid.dimension == 2) {
    PetscCall(ProblemAdd(scene, item, PROBLEM_ERROR,
                         "a plane in two dimensions is a line: record it under lines instead"));
    PetscFunctionReturn(0);
  }
  PetscCall(CheckPlace(scene, item, "origin", plane->origin, -1));
  PetscCall(CheckPlace(scene, item, "along", end, -1));
  PetscCall(CheckPlace(scene, item, "across", vector3_add(plane->origin, plane->across), -1));
  PetscCall(CheckPlace(scene, item, "across", vector3_add(end, plane->across), -1));
  if (vector3_norm(vector3_cross(plane->along, plane->across)) <=
      1e-12 * vector3_norm(plane->along) * vector3_norm(plane->across))
    PetscCall(ProblemAdd(scene, node_find(item, "across"), PROBLEM_ERROR,
                         "along and across are on one line, so that there is no plane"));
  PetscFunctionReturn(0);
}

static PetscErrorCode CheckFields(Scene scene, Node *node, const OutputConfig *group)
{
  PetscFunctionBegin;
  for (PetscInt n = 0; n < group->probe_count; n++)
    PetscCall(
        CheckPlace(scene, node_item(node_find(node, "probes"), n), "point", group->probes[n].point, -1));
  for (PetscInt n = 0; n < group->line_count; n++) {
    Node *item = node_item(node_find(node, "lines"), n);

    PetscCall(CheckPlace(scene, item, "from", group->lines[n].from, -1));
    PetscCall(CheckPlace(scene, item, "to", group->lines[n].to, -1));
    if (is_usable(node_find(item, "to")) &&
        vector3_norm(vector3_subtract(group->lines[n].to, group->lines[n].from)) == 0.)
      PetscCall(ProblemAdd(scene, node_find(item, "to"), PROBLEM_ERROR,
                           "a line ends where it begins: record a point under probes instead"));
  }
  for (PetscInt n = 0; n < group->plane_count; n++)
    PetscCall(CheckPlaneOf(scene, node_item(node_find(node, "planes"), n), &group->planes[n]));
  PetscCall(CheckGauges(scene, node, group));
  for (PetscInt n = 0; n < group->average_count; n++) {
    Node *item = node_item(node_find(node, "averages"), n);

    PetscCall(SceneCheckShape(scene, item, group->averages[n].shape));
    if (group->averages[n].shape && scene_is_outside(scene, group->averages[n].shape))
      PetscCall(ProblemAddAtKey(scene, node_find(item, "shape"), PROBLEM_ERROR,
                                "averages[%" PetscInt_FMT "] lies outside the box", n));
    if (group->averages[n].region && group->averages[n].region[0])
      PetscCall(CheckRegion(scene, item, group->averages[n].region));
  }
  PetscFunctionReturn(0);
}

/* Directions must be some. */
static PetscErrorCode CheckDirection(Scene scene, Node *item, const char key[], Vector3 direction)
{
  PetscFunctionBegin;
  if (is_usable(node_find(item, key)) && vector3_norm(direction) == 0.)
    PetscCall(ProblemAdd(scene, node_find(item, key), PROBLEM_ERROR, "%s is no direction: it is 0", key));
  PetscFunctionReturn(0);
}

static PetscErrorCode CheckSolidsOf(Scene scene, Node *node, const OutputConfig *group)
{
  PetscFunctionBegin;
  for (PetscInt n = 0; n < group->body_count; n++)
    PetscCall(CheckBody(scene, node_item(node_find(node, "bodies"), n), group->bodies[n].name, PETSC_FALSE));
  for (PetscInt n = 0; n < group->joint_count; n++)
    PetscCall(CheckJoint(scene, node_item(node_find(node, "joints"), n), group->joints[n].name));
  for (PetscInt n = 0; n < group->coefficient_count; n++) {
    Node *item = node_item(node_find(node, "coefficients"), n);

    PetscCall(CheckBody(scene, item, group->coefficients[n].name, PETSC_TRUE));
    PetscCall(CheckDirection(scene, item, "flow", group->coefficients[n].flow));
    PetscCall(CheckDirection(scene, item, "lift", group->coefficients[n].lift));
  }
  PetscFunctionReturn(0);
}

/* All fields that frames of the scene may have, with a null behind them; the caller frees `names`, whose
   texts are in `texts`. */
static PetscErrorCode FieldNames(Scene scene, const char ***names, char **texts)
{
  static const char *const common[] = {"velocity", "vorticity", "pressure", "solid"};
  const FluidConfig       *fluid = &scene->config.fluid;
  const PhaseConfig       *phases = &scene->config.phases;
  enum { COMMON = sizeof(common) / sizeof(common[0]), LENGTH = 128 };
  PetscInt n = 0;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(COMMON + fluid->scalar_count + phases->region_count + 3, names));
  PetscCall(PetscCalloc1((PetscInt)LENGTH * phases->region_count + 1, texts));
  for (; n < COMMON; n++)
    (*names)[n] = common[n];
  for (PetscInt s = 0; s < fluid->scalar_count; s++)
    (*names)[n++] = fluid->scalars[s].name ? fluid->scalars[s].name : "";
  for (PetscInt r = 0; r < phases->region_count; r++) {
    char *text = *texts + r * LENGTH;

    snprintf(text, LENGTH, "distance_%.100s", phases->regions[r].name ? phases->regions[r].name : "");
    (*names)[n++] = text;
  }
  if (phases->region_count)
    (*names)[n++] = "region";
  if (phase_is_elastic(phases))
    (*names)[n] = "strain";
  PetscFunctionReturn(0);
}

static PetscErrorCode CheckChosenFields(Scene scene, Node *list, PetscInt count, const ChoiceConfig fields[])
{
  const char **names;
  char        *texts;

  PetscFunctionBegin;
  PetscCall(FieldNames(scene, &names, &texts));
  for (PetscInt f = 0; f < count; f++) {
    PetscInt n = 0;

    while (fields[f].name && names[n] && strcmp(names[n], fields[f].name))
      n++;
    if (fields[f].name && !names[n])
      PetscCall(Miss(scene, node_find(node_item(list, f), "name"), "field", fields[f].name, names));
  }
  PetscCall(PetscFree(names));
  PetscCall(PetscFree(texts));
  PetscFunctionReturn(0);
}

/* A frame for every step is never meant. */
static PetscErrorCode CheckFramesOf(Scene scene, Node *node, const OutputConfig *group)
{
  Node *fields = node_find(node, "fields");

  PetscFunctionBegin;
  PetscCall(CheckChosenFields(scene, fields, group->field_count, group->fields));
  if (!(group->probe_count + group->line_count + group->plane_count + group->gauge_count +
        group->average_count + group->body_count + group->joint_count + group->coefficient_count +
        group->field_count))
    PetscCall(ProblemAdd(scene, node, PROBLEM_ERROR,
                         "output %s records nothing: it has none of probes, lines, planes, gauges, averages, "
                         "bodies, joints, coefficients and fields",
                         group->name ? group->name : ""));
  if (group->field_count && group->interval <= 0.)
    PetscCall(ProblemAddAtKey(scene, fields, PROBLEM_ERROR,
                              "a group with fields writes a frame for each row and needs an interval"));
  PetscFunctionReturn(0);
}

PetscErrorCode SceneCheckOutput(Scene scene)
{
  Node                    *chosen = node_find(node_find(scene->root, "run"), "fields");
  static const char *const named[] = {"probes", "lines", "planes", "gauges", "averages"};
  Node                    *list = node_find(scene->root, "output");

  PetscFunctionBegin;
  PetscCall(CheckNames(scene, list));
  PetscCall(NeedFluid(scene, node_find(scene->root, "run")));
  PetscCall(CheckChosenFields(scene, chosen, scene->config.run.field_count, scene->config.run.fields));
  for (PetscInt n = 0; n < scene->config.output_count; n++) {
    const OutputConfig *group = &scene->config.outputs[n];
    Node               *node = node_item(list, n);
    const PetscInt      errors = scene->error_count;

    for (size_t m = 0; m < sizeof(named) / sizeof(named[0]); m++)
      PetscCall(CheckNames(scene, node_find(node, named[m])));
    PetscCall(NeedFluid(scene, node));
    if (scene->error_count > errors)
      continue;
    PetscCall(CheckFields(scene, node, group));
    PetscCall(CheckSolidsOf(scene, node, group));
    PetscCall(CheckFramesOf(scene, node, group));
  }
  PetscFunctionReturn(0);
}
