/* Scenes with bodies: what one key of a body, a pair or a joint cannot tell, and the place of a mistake. */
#include "scene_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const PetscReal usual_density = 1000.; /* kg/m^3, that of water */
static const PetscReal most_bodies = 1e6;

PetscInt scene_dimension(Scene scene)
{
  return scene->has_fluid ? scene->config.grid.dimension : DIM;
}

PetscErrorCode SceneAddBlock(Scene scene, const char key[])
{
  Node *block;

  PetscFunctionBegin;
  if (node_find(scene->root, key))
    PetscFunctionReturn(0);
  PetscCall(NodeCreate(NODE_MAP, &block));
  PetscCall(NodeSetKey(block, key));
  node_append(scene->root, block);
  PetscFunctionReturn(0);
}

PetscErrorCode SceneExpandFluid(Scene scene)
{
  const Node *root = scene->root;

  PetscFunctionBegin;
  scene->has_fluid = !node_find(root, "solids") || node_find(root, "grid") || node_find(root, "fluid") ||
                     node_find(root, "regions") || node_find(root, "splash");
  if (scene->has_fluid) {
    PetscCall(SceneAddBlock(scene, "grid"));
    PetscCall(SceneAddBlock(scene, "fluid"));
  }
  PetscFunctionReturn(0);
}

static Node *list_of(Scene scene, const char key[])
{
  Node *list = node_find(node_find(scene->root, "solids"), key);

  return list && list->kind == NODE_LIST ? list : NULL;
}

static PetscReal copy_count(const CopiesConfig *copies)
{
  return copies->count.at[X] * copies->count.at[Y] * copies->count.at[Z];
}

static PetscBool is_zero(Vector3 v)
{
  return vector3_norm(v) == 0. ? PETSC_TRUE : PETSC_FALSE;
}

/* Of a body or an assembly. */
static PetscErrorCode CheckCopies(Scene scene, Node *item, const CopiesConfig *own)
{
  Node *copies = node_find(item, "copies"), *count = node_find(copies, "count");
  char  path[PATH_LENGTH];

  PetscFunctionBegin;
  if (!is_usable(copies))
    PetscFunctionReturn(0);
  node_path(count, path, sizeof(path));
  for (PetscInt d = 0; d < DIM; d++) {
    const PetscReal number = own->count.at[d];

    if (!(number >= 1.) || number != floor(number) || number > most_bodies)
      PetscCall(ProblemAdd(scene, node_item(count, d), PROBLEM_ERROR,
                           "%s must be whole numbers from 1 to %g, not %g", path, (double)most_bodies,
                           (double)number));
    else if (number > 1. && own->step.at[d] == 0.)
      PetscCall(ProblemAdd(scene, count, PROBLEM_ERROR,
                           "%s has %g bodies along %c but copies.step is 0 there: they would be at one place",
                           path, (double)number, "xyz"[d]));
  }
  if (copy_count(own) > most_bodies)
    PetscCall(ProblemAdd(scene, count, PROBLEM_ERROR, "%s makes %g bodies; there may be %g", path,
                         (double)copy_count(own), (double)most_bodies));
  PetscFunctionReturn(0);
}

/* Two entries are not to make twice as many. */
static PetscErrorCode CheckCopiesTogether(Scene scene, Node *bodies)
{
  const SolidConfig *config = &scene->config.solids;
  PetscReal          total = 0., largest = 0.;

  PetscFunctionBegin;
  for (PetscInt b = 0; b < config->body_count; b++)
    if (copy_count(&config->bodies[b].copies) > 1.) {
      total += copy_count(&config->bodies[b].copies);
      largest = PetscMax(largest, copy_count(&config->bodies[b].copies));
    }
  if (total > most_bodies && largest <= most_bodies)
    PetscCall(ProblemAddAtKey(scene, bodies, PROBLEM_ERROR,
                              "the copies in solids.bodies make %.10g bodies together; there may be %g",
                              (double)total, (double)most_bodies));
  PetscFunctionReturn(0);
}

/* Other than zero. */
static PetscBool acts(const Formula formulas[DIM])
{
  for (PetscInt d = 0; d < DIM; d++)
    if (formulas[d] &&
        !(formula_is_constant(formulas[d]) && formula_value(formulas[d], vector3(0, 0, 0), 0) == 0))
      return PETSC_TRUE;
  return PETSC_FALSE;
}

static PetscErrorCode CheckKind(Scene scene, Node *item, const BodyConfig *body)
{
  static const char *const forces[] = {"velocity", "spin", "force", "torque"};
  const PetscBool          given[] = {!is_zero(body->velocity), !is_zero(body->spin), acts(body->force),
                                      acts(body->torque)};
  Node                    *motion = node_find(item, "motion");
  const char              *kind = BodyKinds[body->kind];

  PetscFunctionBegin;
  if (body->kind == BODY_KINEMATIC && !motion)
    PetscCall(ProblemAdd(scene, node_find(item, "type"), PROBLEM_ERROR,
                         "body \"%s\" is kinematic and needs a motion: {velocity: [...]} or {keyframes: ...}",
                         body->name));
  if (body->kind != BODY_KINEMATIC && motion)
    PetscCall(ProblemAddAtKey(scene, motion, PROBLEM_ERROR,
                              "body \"%s\" is %s and takes no motion; make it kinematic", body->name, kind));
  if (body->kind == BODY_DYNAMIC && body->shape && shape_primitive(body->shape).kind == PRIMITIVE_PLANE)
    PetscCall(ProblemAddAtKey(scene, node_find(item, "shape"), PROBLEM_ERROR,
                              "body \"%s\" has no end and cannot be dynamic; make it static", body->name));
  for (PetscInt i = 0; i < 4 && body->kind != BODY_DYNAMIC; i++)
    if (given[i])
      PetscCall(ProblemAddAtKey(scene, node_find(item, forces[i]), PROBLEM_WARNING,
                                "%s of body \"%s\" has no effect: it is %s", forces[i], body->name, kind));
  PetscFunctionReturn(0);
}

/* A body of an assembly takes its copies. */
static PetscErrorCode JoinAssembly(Scene scene, Node *item, BodyConfig *body)
{
  const SolidConfig    *solids = &scene->config.solids;
  const AssemblyConfig *own = NULL;
  const char          **names, *near;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(solids->assembly_count + 1, &names));
  for (PetscInt a = 0; a < solids->assembly_count; a++) {
    names[a] = solids->assemblies[a].name ? solids->assemblies[a].name : "";
    if (!strcmp(names[a], body->assembly))
      own = &solids->assemblies[a];
  }
  near = closest_word(body->assembly, names);
  if (!own)
    PetscCall(ProblemAdd(scene, node_find(item, "assembly"), PROBLEM_ERROR,
                         "no assembly is called \"%.40s\"%s%s%s", body->assembly,
                         near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : ""));
  else if (copy_count(&body->copies) > 1. || body->copies.shift > 0. || body->copies.turn > 0.)
    PetscCall(ProblemAddAtKey(scene, node_find(item, "copies"), PROBLEM_ERROR,
                              "body \"%s\" is copied with its assembly and takes no copies of its own",
                              body->name));
  else
    body->copies = own->copies;
  PetscCall(PetscFree(names));
  PetscFunctionReturn(0);
}

static PetscErrorCode CheckBody(Scene scene, Node *item, BodyConfig *body)
{
  Node   *mass = node_find(item, "mass"), *density = node_find(item, "density");
  Vector3 low = vector3(0, 0, 0), high = low;

  PetscFunctionBegin;
  if (!body->name)
    PetscFunctionReturn(0);
  if (mass && density)
    PetscCall(ProblemAddAtKey(scene, mass, PROBLEM_ERROR,
                              "body \"%s\" has a mass as well as a density; keep one", body->name));
  if (!density)
    body->density = usual_density;
  if (is_usable(node_find(item, "type")))
    PetscCall(CheckKind(scene, item, body));
  PetscCall(CheckCopies(scene, item, &body->copies));
  if (body->assembly && body->assembly[0])
    PetscCall(JoinAssembly(scene, item, body));
  if (body->shape && body->kind == BODY_DYNAMIC)
    shape_bounds(body->shape, &low, &high);
  PetscCall(SceneCheckGivenVector(scene, node_find(item, "force"), body->force,
                                  vector3_scale(0.5, vector3_add(low, high)), PLACE_MOVES));
  PetscCall(SceneCheckGivenVector(scene, node_find(item, "torque"), body->torque,
                                  vector3_scale(0.5, vector3_add(low, high)), PLACE_MOVES));
  PetscFunctionReturn(0);
}

/* The body that a word such as "link.3" means; `*copy` is -1 without a number. Null: there is none. */
static const BodyConfig *find_body(Scene scene, const char word[], long *copy)
{
  const SolidConfig *solids = &scene->config.solids;
  const char        *dot = strrchr(word, '.');
  const size_t       length = dot ? (size_t)(dot - word) : strlen(word);
  char              *end;

  *copy = -1;
  if (dot) {
    *copy = strtol(dot + 1, &end, 10);
    if (!dot[1] || *end || strspn(dot + 1, "0123456789") != strlen(dot + 1))
      return NULL;
  }
  for (PetscInt b = 0; b < solids->body_count; b++)
    if (solids->bodies[b].name && strlen(solids->bodies[b].name) == length &&
        !strncmp(solids->bodies[b].name, word, length))
      return &solids->bodies[b];
  return NULL;
}

static PetscErrorCode ReportNoBody(Scene scene, Node *node, const char word[])
{
  const SolidConfig *solids = &scene->config.solids;
  const char       **names, *near;
  char               path[PATH_LENGTH];

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(solids->body_count + 1, &names));
  for (PetscInt b = 0; b < solids->body_count; b++)
    names[b] = solids->bodies[b].name ? solids->bodies[b].name : "";
  near = closest_word(word, names);
  node_path(node, path, sizeof(path));
  PetscCall(ProblemAdd(scene, node, PROBLEM_ERROR, "%s: no body is called \"%.40s\"%s%s%s", path, word,
                       near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : ""));
  PetscCall(PetscFree(names));
  PetscFunctionReturn(0);
}

/* `*body` is null where the name of a pair means no body, or a wall of the box. */
static PetscErrorCode CheckPairName(Scene scene, Node *node, const char word[], const BodyConfig **body)
{
  long copy;

  PetscFunctionBegin;
  *body = find_body(scene, word, &copy);
  if (!*body && scene_has_wall(scene, word))
    PetscFunctionReturn(0);
  if (!*body)
    PetscCall(ReportNoBody(scene, node, word));
  else if (copy >= 0) {
    *body = NULL;
    PetscCall(
        ProblemAdd(scene, node, PROBLEM_ERROR, "a pair is about all copies: leave out the \".%ld\"", copy));
  }
  PetscFunctionReturn(0);
}

/* A mesh and a body only say that they do not touch; `*is_mesh` if there is one. */
static PetscErrorCode CheckMeshPair(Scene scene, Node *item, const ContactPairConfig *pair,
                                    PetscBool *is_mesh)
{
  const PetscBool   first = scene_has_mesh(scene, pair->first), second = scene_has_mesh(scene, pair->second);
  const BodyConfig *body;

  PetscFunctionBegin;
  *is_mesh = first || second ? PETSC_TRUE : PETSC_FALSE;
  if (!*is_mesh)
    PetscFunctionReturn(0);
  if (first && second)
    PetscCall(
        ProblemAdd(scene, item, PROBLEM_ERROR,
                   "a pair of meshes has no contact of its own: give both a contact_thickness, or not"));
  else if (!pair->none)
    PetscCall(ProblemAdd(scene, item, PROBLEM_ERROR,
                         "a pair with a mesh can only say \"contact: none\": friction is what both say"));
  else
    PetscCall(CheckPairName(scene, node_find(item, first ? "second" : "first"),
                            first ? pair->second : pair->first, &body));
  PetscFunctionReturn(0);
}

/* As the bodies' contact takes it: smooth on rough is smooth. */
static PetscReal geometric_mean(PetscReal a, PetscReal b)
{
  return PetscSqrtReal(a * b);
}

/* What a pair does not say is the mean of what its bodies say. */
static PetscErrorCode CheckPair(Scene scene, Node *item, ContactPairConfig *pair)
{
  const BodyConfig *first, *second;
  PetscBool         has_mesh;

  PetscFunctionBegin;
  if (!pair->first || !pair->second)
    PetscFunctionReturn(0);
  PetscCall(CheckMeshPair(scene, item, pair, &has_mesh));
  if (has_mesh)
    PetscFunctionReturn(0);
  PetscCall(CheckPairName(scene, node_find(item, "first"), pair->first, &first));
  PetscCall(CheckPairName(scene, node_find(item, "second"), pair->second, &second));
  if (!first && !second)
    PetscFunctionReturn(0);
  first = first ? first : second; /* a wall is like the other */
  second = second ? second : first;
  if (!node_find(item, "friction"))
    pair->friction = geometric_mean(first->friction, second->friction);
  if (!node_find(item, "restitution"))
    pair->restitution = geometric_mean(first->restitution, second->restitution);
  if (!node_find(item, "rolling_friction"))
    pair->rolling_friction = geometric_mean(first->rolling_friction, second->rolling_friction);
  PetscFunctionReturn(0);
}

/* One end of a joint, and what holds a mesh, must be one body. */
PetscErrorCode SceneCheckBody(Scene scene, Node *node, const char word[])
{
  const BodyConfig *body;
  char              path[PATH_LENGTH];
  long              copy;

  PetscFunctionBegin;
  body = find_body(scene, word, &copy);
  if (!body) {
    PetscCall(ReportNoBody(scene, node, word));
    PetscFunctionReturn(0);
  }
  node_path(node, path, sizeof(path));
  if (copy < 0 && copy_count(&body->copies) > 1. && !(body->assembly && body->assembly[0]))
    PetscCall(ProblemAdd(scene, node, PROBLEM_ERROR,
                         "%s: there are %g of \"%s\"; say which, such as \"%s.0\"", path,
                         (double)copy_count(&body->copies), body->name, body->name));
  else if (copy >= (long)copy_count(&body->copies))
    PetscCall(ProblemAdd(scene, node, PROBLEM_ERROR, "%s: \"%s\" has copies 0 to %g, not %ld", path,
                         body->name, (double)copy_count(&body->copies) - 1., copy));
  PetscFunctionReturn(0);
}

static PetscErrorCode CheckLimits(Scene scene, Node *item, const JointConfig *joint)
{
  PetscFunctionBegin;
  if (!is_usable(node_find(item, "lower")) || !is_usable(node_find(item, "upper")))
    PetscFunctionReturn(0);
  if (joint->lower > joint->upper)
    PetscCall(ProblemAdd(scene, node_find(item, "lower"), PROBLEM_ERROR,
                         "joint \"%s\" can never be above its lower (%g) and below its upper limit (%g)",
                         joint->name, (double)joint->lower, (double)joint->upper));
  else if (joint->lower > 0. || joint->upper < 0.)
    PetscCall(ProblemAdd(scene, node_find(item, joint->lower > 0. ? "lower" : "upper"), PROBLEM_ERROR,
                         "joint \"%s\" stands at 0 at time zero, outside its limits", joint->name));
  if (is_usable(node_find(item, "swing")) && !(joint->swing > 0.))
    PetscCall(ProblemAdd(scene, node_find(item, "swing"), PROBLEM_ERROR,
                         "the swing of joint \"%s\" must be positive, not %g; use a twist joint for none",
                         joint->name, (double)joint->swing));
  PetscFunctionReturn(0);
}

static PetscErrorCode CheckTarget(Scene scene, Node *item, const JointConfig *joint)
{
  Node *target = node_find(item, "target");

  PetscFunctionBegin;
  if (!joint->target)
    PetscFunctionReturn(0);
  for (PetscInt d = 0; d < DIM; d++)
    if (formula_uses_direction(joint->target, d)) {
      PetscCall(ProblemAdd(scene, target, PROBLEM_ERROR, "the target of joint \"%s\" may depend on t alone",
                           joint->name));
      break;
    }
  if (joint->kind == JOINT_POINT || joint->kind == JOINT_RIGID)
    PetscCall(ProblemAddAtKey(scene, target, PROBLEM_ERROR,
                              "a %s joint has no angle to drive; a hinge, twist or prismatic joint has",
                              JointKinds[joint->kind]));
  PetscFunctionReturn(0);
}

/* Which copies of one assembly a copy of another is joined to nobody could tell. */
static PetscErrorCode CheckAssemblies(Scene scene, Node *item, const JointConfig *joint)
{
  long              copies[2];
  const BodyConfig *ends[2] = {find_body(scene, joint->parent, &copies[0]),
                               find_body(scene, joint->child, &copies[1])};

  PetscFunctionBegin;
  for (PetscInt side = 0; side < 2; side++)
    if (!ends[side] || copies[side] >= 0 || !ends[side]->assembly || !ends[side]->assembly[0])
      PetscFunctionReturn(0);
  if (strcmp(ends[0]->assembly, ends[1]->assembly))
    PetscCall(ProblemAdd(scene, node_find(item, "child"), PROBLEM_ERROR,
                         "joint \"%s\" joins two assemblies: say which copies, such as \"%s.0\" and \"%s.0\"",
                         joint->name, joint->parent, joint->child));
  PetscFunctionReturn(0);
}

/* A row of joints needs rows of bodies to go along. */
static PetscErrorCode CheckRow(Scene scene, Node *item, const JointConfig *joint)
{
  const char *const names[2] = {joint->parent, joint->child};
  Node             *copies = node_find(item, "copies"), *count = node_find(copies, "count");
  PetscBool         goes = PETSC_FALSE;

  PetscFunctionBegin;
  if (!is_usable(copies) || joint->copies < 2)
    PetscFunctionReturn(0);
  for (PetscInt end = 0; end < 2; end++) {
    long              copy = -1;
    const BodyConfig *body = names[end][0] ? find_body(scene, names[end], &copy) : NULL;
    const long        last = copy + (long)joint->copies - 1;

    if (!body || copy < 0)
      continue;
    goes = PETSC_TRUE;
    if (last >= (long)copy_count(&body->copies))
      PetscCall(ProblemAdd(scene, count ? count : copies, PROBLEM_ERROR,
                           "%ld copies of joint \"%s\" lead to \"%s.%ld\", and \"%s\" has copies 0 to %g",
                           (long)joint->copies, joint->name, body->name, last, body->name,
                           (double)copy_count(&body->copies) - 1.));
  }
  if (!goes)
    PetscCall(
        ProblemAdd(scene, count ? count : copies, PROBLEM_ERROR,
                   "copies of joint \"%s\" would all join the same bodies: say which copy of a body is the "
                   "first, such as \"%s.0\"",
                   joint->name, joint->child));
  PetscFunctionReturn(0);
}

static PetscErrorCode CheckJoint(Scene scene, Node *item, const JointConfig *joint)
{
  PetscFunctionBegin;
  if (!joint->name || !joint->parent || !joint->child)
    PetscFunctionReturn(0);
  if (joint->parent[0])
    PetscCall(SceneCheckBody(scene, node_find(item, "parent"), joint->parent));
  PetscCall(SceneCheckBody(scene, node_find(item, "child"), joint->child));
  PetscCall(CheckAssemblies(scene, item, joint));
  PetscCall(CheckRow(scene, item, joint));
  if (!strcmp(joint->parent, joint->child))
    PetscCall(ProblemAdd(scene, node_find(item, "child"), PROBLEM_ERROR,
                         "joint \"%s\" joins \"%s\" to itself", joint->name, joint->child));
  if (is_usable(node_find(item, "axis")) && is_zero(joint->axis))
    PetscCall(ProblemAdd(scene, node_find(item, "axis"), PROBLEM_ERROR,
                         "the axis of joint \"%s\" must not be zero", joint->name));
  PetscCall(CheckLimits(scene, item, joint));
  PetscCall(CheckTarget(scene, item, joint));
  PetscCall(SceneCheckGiven(scene, node_find(item, "target"), joint->target, vector3(0, 0, 0), PLACE_STAYS));
  PetscCall(SceneCheckGiven(scene, node_find(item, "motor"), joint->motor, vector3(0, 0, 0), PLACE_MOVES));
  PetscFunctionReturn(0);
}

/* Beside a fluid, and where there is none. */
static PetscErrorCode CheckCompany(Scene scene)
{
  static const char *const fluid_lists[] = {"obstacles", "inflows"};

  PetscFunctionBegin;
  for (PetscInt i = 0; i < 2 && !scene->has_fluid; i++)
    if (node_find(scene->root, fluid_lists[i]))
      PetscCall(ProblemAddAtKey(scene, node_find(scene->root, fluid_lists[i]), PROBLEM_ERROR,
                                "%s need a fluid: add grid and fluid, or make them bodies", fluid_lists[i]));
  scene->config.solids.planar =
      scene->has_fluid && scene->config.grid.dimension == 2 ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(0);
}

/* Bodies that consist of others, and flat ones. */
static PetscErrorCode ShapeBodies(Scene scene, Node *bodies)
{
  const SolidConfig *config = &scene->config.solids;

  PetscFunctionBegin;
  for (PetscInt b = 0; b < config->body_count; b++) {
    Node       *item = node_item(bodies, b);
    BodyConfig *body = &config->bodies[b];

    if (!is_usable(node_find(item, "shape")) || !body->name || !body->shape || scene->error_count)
      continue;
    PetscCall(SceneContourBody(scene, item, body));
    if (config->planar)
      PetscCall(SceneFlattenBody(scene, item, body));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode SceneCheckSolids(Scene scene)
{
  SolidConfig *config = &scene->config.solids;
  Node        *solids = node_find(scene->root, "solids"), *bodies = list_of(scene, "bodies");

  PetscFunctionBegin;
  if (!solids || solids->kind != NODE_MAP)
    PetscFunctionReturn(0);
  PetscCall(CheckCompany(scene));
  if (!node_find(solids, "gravity"))
    config->gravity = scene->config.fluid.gravity;
  if (bodies && !bodies->count)
    PetscCall(ProblemAddAtKey(scene, bodies, PROBLEM_ERROR, "solids.bodies must not be empty"));
  PetscCall(CheckNames(scene, bodies));
  PetscCall(CheckNames(scene, list_of(scene, "joints")));
  PetscCall(CheckNames(scene, list_of(scene, "assemblies")));
  PetscCall(SceneCheckMeshes(scene));
  PetscCall(SceneCheckBindings(scene));
  PetscCall(SceneBuildWalls(scene, bodies));
  for (PetscInt a = 0; a < config->assembly_count; a++)
    PetscCall(CheckCopies(scene, node_item(list_of(scene, "assemblies"), a), &config->assemblies[a].copies));
  for (PetscInt b = 0; b < config->body_count; b++)
    PetscCall(CheckBody(scene, node_item(bodies, b), &config->bodies[b]));
  PetscCall(CheckCopiesTogether(scene, bodies));
  PetscCall(ShapeBodies(scene, bodies));
  for (PetscInt p = 0; p < config->pair_count; p++)
    PetscCall(CheckPair(scene, node_item(list_of(scene, "pairs"), p), &config->pairs[p]));
  for (PetscInt j = 0; j < config->joint_count; j++)
    PetscCall(CheckJoint(scene, node_item(list_of(scene, "joints"), j), &config->joints[j]));
  PetscFunctionReturn(0);
}
