/* The joints of a configuration: from names to rows. */
#include "joint_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static PetscInt copies_of(Solid solid, const BodyConfig *config)
{
  PetscInt count = 0;

  for (PetscInt b = 0; b < solid->body_count; b++)
    count += solid->bodies[b].config == config;
  return count;
}

/* Why a name names no body, and what would be right. */
static PetscErrorCode ExplainName(Solid solid, const JointConfig *config, const char name[], char message[],
                                  size_t size)
{
  const PetscInt    count = solid->config->body_count;
  const size_t      length = strcspn(name, ".");
  const BodyConfig *meant = NULL;
  const char      **names;
  const char       *closest;

  PetscFunctionBegin;
  for (PetscInt b = 0; b < solid->body_count; b++)
    if (!strcmp(solid->bodies[b].config->name, name) ||
        (strlen(solid->bodies[b].config->name) == length &&
         !strncmp(solid->bodies[b].config->name, name, length)))
      meant = solid->bodies[b].config;
  if (meant) {
    const int copies = (int)copies_of(solid, meant);

    PetscCall(MessageAtKey(
        message, size, "solids.joints", config->name,
        "Joint \"%s\": \"%s\" is not one of the %d copies of \"%s\": write \"%s.0\" to \"%s.%d\"",
        config->name, name, copies, meant->name, meant->name, meant->name, copies - 1));
    PetscFunctionReturn(0);
  }
  PetscCall(PetscCalloc1(count + 1, &names));
  for (PetscInt b = 0; b < count; b++)
    names[b] = solid->config->bodies[b].name;
  closest = closest_word(name, names);
  PetscCall(MessageAtKey(message, size, "solids.joints", config->name,
                         "Joint \"%s\": no body is called \"%s\"%s%s%s", config->name, name,
                         closest ? "; did you mean \"" : "", closest ? closest : "", closest ? "\"?" : ""));
  PetscCall(PetscFree(names));
  PetscFunctionReturn(0);
}

static PetscBool is_limited(const JointConfig *config)
{
  return config->lower > PETSC_NINFINITY || config->upper < PETSC_INFINITY;
}

static PetscBool is_free(Solid solid, PetscInt body)
{
  return body >= 0 && solid->bodies[body].config->kind == BODY_DYNAMIC ? PETSC_TRUE : PETSC_FALSE;
}

/* What is wrong with the two bodies, or null. */
static const char *bodies_problem(Solid solid, const Joint *joint)
{
  if (joint->body[PARENT] == joint->body[CHILD])
    return "joins a body with itself: give another parent or child";
  if (!is_free(solid, joint->body[PARENT]) && !is_free(solid, joint->body[CHILD]))
    return "joins two bodies that are not free to move: make one of them dynamic";
  return NULL;
}

static const char *freedom_problem(const JointConfig *config)
{
  const PetscBool turns = config->kind != JOINT_PRISMATIC, swings = config->swing < PETSC_INFINITY;

  if (config->motor && (config->kind == JOINT_RIGID || config->kind == JOINT_POINT))
    return "has a motor and no axis to turn about or slide along: make it a hinge, twist or prismatic joint";
  if (config->kind == JOINT_RIGID && (is_limited(config) || config->target))
    return "is rigid and leaves nothing to limit or to control: remove lower, upper and target";
  if (config->kind != JOINT_POINT && swings)
    return "has no swing to limit: only a point joint has";
  if (!(vector3_norm(config->axis) > 0) && (is_limited(config) || swings || config->target ||
                                            (config->kind != JOINT_RIGID && config->kind != JOINT_POINT)))
    return "needs an axis that is not zero";
  if (config->lower > config->upper)
    return "has a lower limit above its upper limit";
  if (config->lower > 0 || config->upper < 0)
    return "has limits that exclude where it stands: it begins at 0, so lower <= 0 <= upper";
  if (turns && ((config->lower > PETSC_NINFINITY && config->lower <= -PETSC_PI) ||
                (config->upper < PETSC_INFINITY && config->upper >= PETSC_PI)))
    return "has limits beyond half a turn, which it cannot tell from a smaller angle: stay within 3.14 or "
           "leave them out";
  if (!(config->swing > 0))
    return "must have a positive swing: use a hinge or a rigid joint for none";
  if (config->target && !(config->stiffness >= 0 && config->damping >= 0))
    return "has a target and needs a stiffness and a damping that are not negative";
  if (config->target && config->stiffness == 0 && config->damping == 0)
    return "has a target and nothing that drives it there: give a stiffness, or a damping, or both";
  return NULL;
}

/* Rotation from z to the axis; any that does. */
static Quaternion frame_of_axis(Vector3 axis)
{
  const PetscReal length = vector3_norm(axis);
  Vector3         turn;
  PetscReal       sine, angle;

  if (!(length > 0))
    return (Quaternion){1, {{0, 0, 0}}};
  turn = vector3_cross(vector3(0, 0, 1), axis);
  sine = vector3_norm(turn);
  angle = PetscAtan2Real(sine, axis.at[Z]);
  if (sine < 1e-14 * length)
    return quaternion_from_rotation(vector3(angle, 0, 0));
  return quaternion_from_rotation(vector3_scale(angle / sine, turn));
}

/* `moved` takes the joint from where it is written to where its copy stands. */
static void place_joint(Solid solid, const RigidTransform *moved, Joint *joint)
{
  const Vector3    anchor = rigid_apply(moved, joint->config->anchor);
  const Quaternion frame = quaternion_multiply(moved->rotation, frame_of_axis(joint->config->axis));
  RigidTransform   at[SIDES];

  joint->moved = *moved;
  joint_placements(joint, solid->placements, at);
  joint->reach = PETSC_INFINITY;
  for (JointSide s = PARENT; s < SIDES; s++) {
    joint->anchor[s] = rigid_apply_inverse(&at[s], anchor);
    joint->frame[s] = quaternion_multiply(quaternion_conjugate(at[s].rotation), frame);
    if (is_free(solid, joint->body[s]))
      joint->reach = PetscMin(joint->reach, solid->bodies[joint->body[s]].form->reach);
  }
}

/* The first copy of the body of that name, if it belongs to an assembly; -1: it does not. */
static PetscInt find_in_assembly(Solid solid, const char name[])
{
  for (PetscInt b = 0; b < solid->body_count && name; b++)
    if (!strcmp(solid->bodies[b].config->name, name))
      return solid_assembly(solid->config, solid->bodies[b].config) >= 0 ? b : -1;
  return -1;
}

/* The assembly with which a joint is copied, -1: none; two of them are a mistake. */
static PetscErrorCode FindAssembly(Solid solid, const JointConfig *config, PetscInt *found, char message[],
                                   size_t size)
{
  const PetscInt ends[SIDES] = {find_in_assembly(solid, config->parent),
                                find_in_assembly(solid, config->child)};

  PetscFunctionBegin;
  *found = -1;
  for (JointSide s = PARENT; s < SIDES; s++) {
    const PetscInt assembly = ends[s] < 0 ? -1 : solid_assembly(solid->config, solid->bodies[ends[s]].config);

    if (*found >= 0 && assembly >= 0 && assembly != *found)
      PetscCall(
          MessageAtKey(message, size, "solids.joints", config->name,
                       "Joint \"%s\" joins two assemblies: say which copies, such as \"%s.0\" and \"%s.0\"",
                       config->name, config->parent, config->child));
    if (assembly >= 0)
      *found = assembly;
  }
  PetscFunctionReturn(0);
}

/* How many joints an entry of the configuration makes. */
static PetscInt joint_copies(Solid solid, const JointConfig *config, PetscInt assembly)
{
  const PetscInt child = find_in_assembly(solid, config->child);

  if (assembly < 0)
    return PetscMax(1, config->copies);
  return copies_of(solid, solid->bodies[child >= 0 ? child : find_in_assembly(solid, config->parent)].config);
}

/* An end at a numbered copy of a body goes along its row, any other stays: -1 if the row is too short. */
static PetscInt body_along(Solid solid, const char name[], PetscInt copy)
{
  const PetscInt first = solid_find_body(solid, name);

  if (first < 0 || !copy || !strchr(name, '.'))
    return first;
  if (first + copy >= solid->body_count || solid->bodies[first + copy].config != solid->bodies[first].config)
    return -1;
  return first + copy;
}

/* With bodies of an assembly, between those of the given copy. */
static PetscErrorCode CreateJoint(Solid solid, const JointConfig *config, PetscInt copy, Joint *joint,
                                  char message[], size_t size)
{
  const char *const names[SIDES] = {config->parent, config->child};
  PetscInt          assembly;
  RigidTransform    moved = {vector3(0, 0, 0), {1, vector3(0, 0, 0)}};
  const char       *problem;

  PetscFunctionBegin;
  joint->config = config;
  PetscCall(FindAssembly(solid, config, &assembly, message, size));
  if (assembly >= 0)
    moved = assembly_copy(solid->config, assembly, copy);
  else
    moved.position = vector3_scale(copy, config->step);
  for (JointSide s = PARENT; s < SIDES; s++) {
    joint->body[s] = -1;
    if (s == PARENT && (!names[s] || !names[s][0]))
      continue;
    joint->body[s] = find_in_assembly(solid, names[s]);
    if (joint->body[s] >= 0)
      joint->body[s] += copy;
    else
      joint->body[s] = body_along(solid, names[s], copy);
    if (joint->body[s] < 0) {
      PetscCall(ExplainName(solid, config, names[s], message, size));
      PetscFunctionReturn(0);
    }
  }
  problem = bodies_problem(solid, joint);
  if (!problem)
    problem = freedom_problem(config);
  if (problem)
    PetscCall(
        MessageAtKey(message, size, "solids.joints", config->name, "Joint \"%s\" %s", config->name, problem));
  else
    place_joint(solid, &moved, joint);
  PetscFunctionReturn(0);
}

/* All joints of all entries. */
static PetscErrorCode CreateJoints(JointSet joints, char message[], size_t size)
{
  const SolidConfig *config = joints->solid->config;
  PetscInt          *copies;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(config->joint_count, &copies));
  for (PetscInt j = 0; j < config->joint_count; j++) {
    PetscInt assembly;

    PetscCall(FindAssembly(joints->solid, &config->joints[j], &assembly, message, size));
    copies[j] = joint_copies(joints->solid, &config->joints[j], assembly);
    joints->count += copies[j];
  }
  PetscCall(PetscCalloc1(joints->count, &joints->joints));
  for (PetscInt j = 0, next = 0; j < config->joint_count; j++)
    for (PetscInt copy = 0; copy < copies[j] && !message[0]; copy++)
      PetscCall(CreateJoint(joints->solid, &config->joints[j], copy, &joints->joints[next++], message, size));
  PetscCall(PetscFree(copies));
  PetscFunctionReturn(0);
}

/* An end of a joint at a body that can move. */
typedef struct {
  PetscInt  body, joint;
  JointSide side;
} End;

static int compare_ends(const void *a, const void *b)
{
  const End *first = a, *second = b;

  return (first->body > second->body) - (first->body < second->body);
}

static int compare_pairs(const void *a, const void *b)
{
  const PetscInt *first = a, *second = b;
  const PetscInt  lead = (first[0] > second[0]) - (first[0] < second[0]);

  return (int)(lead ? lead : (first[1] > second[1]) - (first[1] < second[1]));
}

static PetscErrorCode CollectPairs(JointSet joints)
{
  PetscInt count = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(joints->count, &joints->pairs));
  for (PetscInt j = 0; j < joints->count; j++) {
    const PetscInt *body = joints->joints[j].body;

    joints->pairs[count][0] = PetscMin(body[PARENT], body[CHILD]);
    joints->pairs[count++][1] = PetscMax(body[PARENT], body[CHILD]);
  }
  if (count)
    qsort(joints->pairs, (size_t)count, sizeof(joints->pairs[0]), compare_pairs);
  for (PetscInt p = 0; p < count; p++)
    if (p == 0 || compare_pairs(joints->pairs[p - 1], joints->pairs[p]))
      memmove(joints->pairs[joints->pair_count++], joints->pairs[p], sizeof(joints->pairs[0]));
  PetscFunctionReturn(0);
}

/* The ends of all joints, sorted by body; those at the world are left out. */
static PetscErrorCode CollectEnds(JointSet joints, PetscInt *count, End **ends)
{
  PetscFunctionBegin;
  PetscCall(PetscMalloc1(SIDES * joints->count, ends));
  PetscCall(PetscMalloc1(SIDES * joints->count, &joints->bodies));
  *count = 0;
  for (PetscInt j = 0; j < joints->count; j++)
    for (JointSide s = PARENT; s < SIDES; s++)
      if (joints->joints[j].body[s] >= 0)
        (*ends)[(*count)++] = (End){joints->joints[j].body[s], j, s};
  if (*count)
    qsort(*ends, (size_t)*count, sizeof(End), compare_ends);
  for (PetscInt e = 0; e < *count; e++)
    if (e == 0 || (*ends)[e].body != (*ends)[e - 1].body)
      joints->bodies[joints->body_count++] = (*ends)[e].body;
  PetscFunctionReturn(0);
}

/* The upper block first. */
static void order_coupling(BlockMatrix matrix, JointPair *joint_pair)
{
  const JointPair given = *joint_pair;
  const PetscInt  first = block_matrix_precedes(matrix, given.joint[0], given.joint[1]) ? 0 : 1;

  for (PetscInt end = 0; end < 2; end++) {
    const PetscInt from = end ? 1 - first : first;

    joint_pair->joint[end] = given.joint[from];
    joint_pair->side[end] = given.side[from];
    joint_pair->block[end] = (Block *)block_matrix_at(matrix, given.joint[from], given.joint[1 - from]);
  }
}

/* Joints that share a body are coupled, unless the body cannot move. */
static PetscErrorCode FindJointPairs(JointSet joints)
{
  PetscInt   count = 0, capacity = 0, (*pairs)[2];
  End       *ends;
  JointPair *next;

  PetscFunctionBegin;
  PetscCall(CollectEnds(joints, &count, &ends));
  for (PetscInt pass = 0; pass < 2; pass++) {
    next = joints->joint_pairs;
    for (PetscInt a = 0; a < count; a++)
      for (PetscInt b = a + 1; b < count && ends[b].body == ends[a].body; b++) {
        if (!is_free(joints->solid, ends[a].body))
          break;
        if (pass)
          *next++ =
              (JointPair){ends[a].body, {ends[a].joint, ends[b].joint}, {ends[a].side, ends[b].side}, {0}};
        else
          capacity++;
      }
    if (!pass)
      PetscCall(PetscMalloc1(capacity, &joints->joint_pairs));
  }
  joints->joint_pair_count = capacity;
  PetscCall(PetscMalloc1(capacity, &pairs));
  for (PetscInt c = 0; c < capacity; c++)
    memcpy(pairs[c], joints->joint_pairs[c].joint, sizeof(pairs[c]));
  PetscCall(BlockMatrixCreate(joints->count, capacity, (const PetscInt(*)[2])pairs, &joints->matrix));
  for (PetscInt c = 0; c < capacity; c++)
    order_coupling(joints->matrix, &joints->joint_pairs[c]);
  PetscCall(PetscFree(pairs));
  PetscCall(PetscFree(ends));
  PetscFunctionReturn(0);
}

/* Shortens the way for the next who asks. */
static PetscInt first_of_group(Joint joints[], PetscInt j)
{
  while (joints[j].group != j)
    j = joints[j].group = joints[joints[j].group].group;
  return j;
}

static void group_joints(JointSet joints)
{
  for (PetscInt j = 0; j < joints->count; j++)
    joints->joints[j].group = j;
  for (PetscInt c = 0; c < joints->joint_pair_count; c++) {
    const PetscInt a = first_of_group(joints->joints, joints->joint_pairs[c].joint[0]);
    const PetscInt b = first_of_group(joints->joints, joints->joint_pairs[c].joint[1]);

    joints->joints[PetscMax(a, b)].group = PetscMin(a, b);
  }
  for (PetscInt j = 0; j < joints->count; j++)
    joints->joints[j].group = joints->joints[joints->joints[j].group].group;
}

static PetscErrorCode SetUp(JointSet joints)
{
  const PetscInt count = joints->count, bodies = joints->solid->body_count;

  PetscFunctionBegin;
  PetscCall(CollectPairs(joints));
  PetscCall(FindJointPairs(joints));
  group_joints(joints);
  PetscCall(PetscCalloc2(count, &joints->holds, bodies, &joints->factored_with));
  PetscCall(PetscCalloc7(count, &joints->kept, count, &joints->grips, count, &joints->rows, count,
                         &joints->ahead, count, &joints->scalings, count, &joints->sizes, count,
                         &joints->step));
  PetscCall(PetscCalloc7(count, &joints->impulses, count, &joints->spins, count, &joints->soft_spins, count,
                         &joints->leads, bodies, &joints->moved, bodies, &joints->turning, bodies,
                         &joints->saved));
  PetscCall(PetscCalloc7(bodies, &joints->softening, bodies, &joints->stiffness, bodies, &joints->lacking,
                         count, &joints->travels, count, &joints->mends, bodies, &joints->factored_at, count,
                         &joints->factored_for));
  PetscCall(PetscCalloc2(count, &joints->moving_loads, count, &joints->resting_loads));
  for (PetscInt j = 0; j < count; j++) {
    const JointConfig *config = joints->joints[j].config;

    if (is_limited(config) || config->swing < PETSC_INFINITY)
      joints->has_limits = PETSC_TRUE;
    if (config->target)
      joints->has_control = PETSC_TRUE;
  }
  PetscFunctionReturn(0);
}

PetscErrorCode JointSetCreate(Solid solid, JointSet *joints, char message[], size_t size)
{
  JointSet new;

  PetscFunctionBegin;
  message[0] = '\0';
  *joints = NULL;
  PetscCall(PetscNew(&new));
  new->solid = solid;
  PetscCall(CreateJoints(new, message, size));
  if (message[0]) {
    PetscCall(JointSetDestroy(&new));
    PetscFunctionReturn(0);
  }
  PetscCall(SetUp(new));
  *joints = new;
  PetscFunctionReturn(0);
}

PetscErrorCode JointSetDestroy(JointSet *joints)
{
  PetscFunctionBegin;
  if (!*joints)
    PetscFunctionReturn(0);
  PetscCall(BlockMatrixDestroy(&(*joints)->matrix));
  PetscCall(PetscFree7((*joints)->kept, (*joints)->grips, (*joints)->rows, (*joints)->ahead,
                       (*joints)->scalings, (*joints)->sizes, (*joints)->step));
  PetscCall(PetscFree7((*joints)->impulses, (*joints)->spins, (*joints)->soft_spins, (*joints)->leads,
                       (*joints)->moved, (*joints)->turning, (*joints)->saved));
  PetscCall(PetscFree7((*joints)->softening, (*joints)->stiffness, (*joints)->lacking, (*joints)->travels,
                       (*joints)->mends, (*joints)->factored_at, (*joints)->factored_for));
  PetscCall(PetscFree((*joints)->joint_pairs));
  PetscCall(PetscFree2((*joints)->moving_loads, (*joints)->resting_loads));
  PetscCall(PetscFree2((*joints)->holds, (*joints)->factored_with));
  PetscCall(PetscFree((*joints)->pairs));
  PetscCall(PetscFree((*joints)->bodies));
  PetscCall(PetscFree((*joints)->joints));
  PetscCall(PetscFree(*joints));
  PetscFunctionReturn(0);
}

PetscErrorCode JointSetGetPairs(JointSet joints, PetscInt *count, const PetscInt (**pairs)[2])
{
  PetscFunctionBegin;
  *count = joints->pair_count;
  *pairs = (const PetscInt(*)[2])joints->pairs;
  PetscFunctionReturn(0);
}

PetscReal joint_set_error(JointSet joints)
{
  PetscReal largest = 0;

  for (PetscInt j = 0; j < joints->count; j++) {
    const Joint   *joint = &joints->joints[j];
    RigidTransform at[SIDES];
    JointGeometry  geometry;
    Vector3        apart;

    joint_placements(joint, joints->solid->placements, at);
    geometry = joint_geometry(joint, at);
    apart = vector3_subtract(geometry.anchor[CHILD], geometry.anchor[PARENT]);
    if (joint->config->kind == JOINT_PRISMATIC)
      apart = vector3_subtract(apart, vector3_scale(joint_angle(joint, &geometry), geometry.axis));
    largest = PetscMax(largest, vector3_norm(apart));
  }
  return largest;
}
