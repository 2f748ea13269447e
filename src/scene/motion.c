/* Motions of obstacles and bodies: steady, by formulas of time, or by keyframes. */
#include "scene_impl.h"

#include <math.h>

typedef enum { KEYFRAMES_LINEAR, KEYFRAMES_SMOOTH } KeyframeInterpolation;
static const char *const interpolations[] = {"linear", "smooth", NULL};

typedef struct {
  Vector3               pivot;
  PetscInt              keyframe_count;
  Keyframe             *keyframes;
  KeyframeInterpolation interpolation;
  Formula               velocity[DIM], spin[DIM], translation[DIM], rotation[DIM];
} MotionMeasures;

static const SchemaKey keyframe_keys[] = {{.name = "time",
                                           .kind = SCHEMA_REAL,
                                           .offset = offsetof(Keyframe, time),
                                           .unit = "s",
                                           .help = "later than that of the keyframe before"},
                                          {.name = "translation",
                                           .kind = SCHEMA_VECTOR,
                                           .offset = offsetof(Keyframe, translation),
                                           .fallback = "[0, 0, 0]",
                                           .unit = "m",
                                           .help = "from the place where the shape is given"},
                                          {.name = "rotation",
                                           .kind = SCHEMA_VECTOR,
                                           .offset = offsetof(Keyframe, rotation),
                                           .fallback = "[0, 0, 0]",
                                           .unit = "rad",
                                           .help = "about the pivot, axis times angle"},
                                          {0}};

const SchemaKey MotionKeys[] = {
    {.name = "pivot",
     .kind = SCHEMA_VECTOR,
     .offset = offsetof(MotionMeasures, pivot),
     .fallback = "[0, 0, 0]",
     .unit = "m",
     .help = "point about which it turns, where the shape is given"},
    {.name = "velocity",
     .kind = SCHEMA_FORMULAS,
     .offset = offsetof(MotionMeasures, velocity),
     .fallback = "",
     .unit = "m/s",
     .help = "of the pivot, three numbers or formulas of t; its integral is the translation"},
    {.name = "spin",
     .kind = SCHEMA_FORMULAS,
     .offset = offsetof(MotionMeasures, spin),
     .fallback = "",
     .unit = "rad/s",
     .help = "axis times rate, three numbers, or one formula of t among zeros"},
    {.name = "translation",
     .kind = SCHEMA_FORMULAS,
     .offset = offsetof(MotionMeasures, translation),
     .fallback = "",
     .unit = "m",
     .help = "of the pivot over time, three formulas of t; its derivative is the velocity"},
    {.name = "rotation",
     .kind = SCHEMA_FORMULAS,
     .offset = offsetof(MotionMeasures, rotation),
     .fallback = "",
     .unit = "rad",
     .help = "about the pivot over time, axis times angle, three formulas of t"},
    {.name = "keyframes",
     .kind = SCHEMA_LIST,
     .offset = offsetof(MotionMeasures, keyframes),
     .count = offsetof(MotionMeasures, keyframe_count),
     .size = sizeof(Keyframe),
     .fallback = "",
     .keys = keyframe_keys,
     .help = "place and turn at given times, at rest before the first and after the last"},
    {.name = "interpolation",
     .kind = SCHEMA_CHOICE,
     .offset = offsetof(MotionMeasures, interpolation),
     .fallback = "",
     .choices = interpolations,
     .help = "between keyframes. linear (left out): straight lines, so that velocities jump at keyframes; "
             "smooth: cubic splines, which begin and end at rest and may swing beyond the keyframes"},
    {0}};

/* Steady, formulas and keyframes exclude each other. */
static PetscErrorCode CheckKinds(Scene scene, Node *node)
{
  static const char *const kinds[][3] = {{"velocity", "spin"}, {"translation", "rotation"}, {"keyframes"}};
  Node                    *first = NULL;
  char                     path[PATH_LENGTH];

  PetscFunctionBegin;
  node_path(node, path, sizeof(path));
  for (PetscInt k = 0; k < 3; k++) {
    Node *found = NULL;

    for (PetscInt n = 0; kinds[k][n] && !found; n++)
      found = node_find(node, kinds[k][n]);
    if (found && first)
      PetscCall(ProblemAddAtKey(scene, found, PROBLEM_ERROR,
                                "%s has %s as well as %s; keep one: velocity and spin, translation and "
                                "rotation, or keyframes",
                                path, found->key, first->key));
    first = found ? found : first;
  }
  PetscFunctionReturn(0);
}

/* In two dimensions nothing leaves the plane. */
static PetscErrorCode CheckPlane(Scene scene, Node *node, Vector3 shift, Vector3 turn)
{
  char path[PATH_LENGTH];

  PetscFunctionBegin;
  if (scene_dimension(scene) == 3 || (shift.at[Z] == 0 && turn.at[X] == 0 && turn.at[Y] == 0))
    PetscFunctionReturn(0);
  node_path(node, path, sizeof(path));
  PetscCall(ProblemAddAtKey(scene, node, PROBLEM_ERROR,
                            "%s must stay in the plane: move along x and y, turn about z, such as [0, 0, 1]",
                            path));
  PetscFunctionReturn(0);
}

/* Of time alone. */
static PetscErrorCode CheckOfTime(Scene scene, Node *node, const char key[], const Formula formulas[DIM])
{
  PetscFunctionBegin;
  for (PetscInt f = 0; f < DIM; f++)
    for (PetscInt d = 0; d < DIM; d++)
      if (formula_uses_direction(formulas[f], d)) {
        char path[PATH_LENGTH];

        node_path(node, path, sizeof(path));
        PetscCall(ProblemAdd(scene, node_item(node_find(node, key), f), PROBLEM_ERROR,
                             "%s.%s depends on %c; a rigid motion is a formula of t alone", path, key,
                             "xyz"[d]));
        d = DIM;
      }
  PetscFunctionReturn(0);
}

/* Places and speeds are finite, and in the plane, at times that a run comes by. */
static PetscErrorCode CheckCourse(Scene scene, Node *node, Motion motion)
{
  const PetscInt errors = scene->error_count;
  char           path[PATH_LENGTH];

  PetscFunctionBegin;
  node_path(node, path, sizeof(path));
  for (PetscInt n = 0; n <= SCENE_TIMES && scene->error_count == errors; n++) {
    const PetscReal time = scene_time(scene, n);
    const Pose      pose = motion_pose(motion, time);

    if (!isfinite(vector3_norm(pose.translation)) || !isfinite(vector3_norm(pose.velocity)) ||
        !isfinite(vector3_norm(pose.spin)) || !isfinite(pose.rotation.scalar))
      PetscCall(ProblemAdd(scene, node, PROBLEM_ERROR, "%s has no finite place or velocity at t = %g s", path,
                           (double)time));
    else
      PetscCall(CheckPlane(scene, node, pose.translation, pose.spin));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode CheckKeyframes(Scene scene, Node *node, const MotionMeasures *measures)
{
  Node *list = node_find(node, "keyframes");
  char  path[PATH_LENGTH];

  PetscFunctionBegin;
  node_path(node, path, sizeof(path));
  for (PetscInt i = 1; i < measures->keyframe_count; i++)
    if (!(measures->keyframes[i].time > measures->keyframes[i - 1].time))
      PetscCall(ProblemAdd(scene, node_find(node_item(list, i), "time"), PROBLEM_ERROR,
                           "%s.keyframes[%d].time must be later than %g", path, (int)i,
                           (double)measures->keyframes[i - 1].time));
  PetscFunctionReturn(0);
}

static PetscBool all_constant(const Formula formulas[DIM])
{
  for (PetscInt d = 0; d < DIM; d++)
    if (formulas[d] && formula_uses_time(formulas[d]))
      return PETSC_FALSE;
  return PETSC_TRUE;
}

static Vector3 values_of(const Formula formulas[DIM])
{
  Vector3 values = vector3(0, 0, 0);

  for (PetscInt d = 0; d < DIM; d++)
    if (formulas[d])
      values.at[d] = formula_value(formulas[d], vector3(0, 0, 0), 0);
  return values;
}

/* About an axis that changes, the integral of the spin would be no rotation. */
static PetscErrorCode CheckSpin(Scene scene, Node *node, const Formula spin[DIM])
{
  PetscInt count = 0;
  char     path[PATH_LENGTH];

  PetscFunctionBegin;
  for (PetscInt d = 0; d < DIM; d++)
    count += spin[d] && (formula_uses_time(spin[d]) || formula_value(spin[d], vector3(0, 0, 0), 0) != 0);
  if (count < 2 || all_constant(spin))
    PetscFunctionReturn(0);
  node_path(node, path, sizeof(path));
  PetscCall(
      ProblemAdd(scene, node_find(node, "spin"), PROBLEM_ERROR,
                 "%s.spin changes over time about an axis that is not x, y or z; let one of the three be "
                 "a formula, or give rotation",
                 path));
  PetscFunctionReturn(0);
}

static PetscBool has_formulas(const Node *node)
{
  return node_find(node, "translation") || node_find(node, "rotation") ? PETSC_TRUE : PETSC_FALSE;
}

/* What is said about a motion by itself. */
static PetscErrorCode CheckMeasures(Scene scene, Node *node, const MotionMeasures *measures)
{
  PetscFunctionBegin;
  PetscCall(CheckKinds(scene, node));
  if (measures->keyframe_count)
    PetscCall(CheckKeyframes(scene, node, measures));
  else if (node_find(node, "interpolation"))
    PetscCall(ProblemAddAtKey(scene, node_find(node, "interpolation"), PROBLEM_ERROR,
                              "interpolation is between keyframes; add them, or leave it out"));
  PetscCall(CheckPlane(scene, node, values_of(measures->velocity), values_of(measures->spin)));
  for (PetscInt i = 0; i < measures->keyframe_count; i++)
    PetscCall(CheckPlane(scene, node, measures->keyframes[i].translation, measures->keyframes[i].rotation));
  PetscCall(CheckOfTime(scene, node, "velocity", measures->velocity));
  PetscCall(CheckOfTime(scene, node, "spin", measures->spin));
  PetscCall(CheckSpin(scene, node, measures->spin));
  PetscCall(CheckOfTime(scene, node, "translation", measures->translation));
  PetscCall(CheckOfTime(scene, node, "rotation", measures->rotation));
  PetscFunctionReturn(0);
}

PetscErrorCode ReadMotion(Scene scene, Node *node, Motion *motion)
{
  const PetscInt errors = scene->error_count;
  MotionMeasures measures = {0};
  PetscBool      good;

  PetscFunctionBegin;
  PetscCall(ExpectKind(scene, node, NODE_MAP,
                       "a block with velocity and spin, with translation and rotation, or with keyframes",
                       &good));
  if (!good)
    PetscFunctionReturn(0);
  PetscCall(ReadKeys(scene, node, MotionKeys, &measures));
  if (scene->error_count == errors)
    PetscCall(CheckMeasures(scene, node, &measures));
  if (scene->error_count == errors) {
    if (measures.keyframe_count && measures.interpolation == KEYFRAMES_SMOOTH)
      PetscCall(MotionCreateSpline(measures.pivot, measures.keyframe_count, measures.keyframes, motion));
    else if (measures.keyframe_count)
      PetscCall(MotionCreateKeyframes(measures.pivot, measures.keyframe_count, measures.keyframes, motion));
    else if (has_formulas(node)) {
      PetscCall(MotionCreateFormulas(measures.pivot, measures.translation, measures.rotation, motion));
      PetscCall(CheckCourse(scene, node, *motion));
    } else if (!all_constant(measures.velocity) || !all_constant(measures.spin)) {
      PetscCall(MotionCreateSpeeds(measures.pivot, measures.velocity, measures.spin, motion));
      PetscCall(CheckCourse(scene, node, *motion));
    } else
      PetscCall(
          MotionCreateSteady(measures.pivot, values_of(measures.velocity), values_of(measures.spin), motion));
  }
  PetscCall(DestroyKeys(MotionKeys, 0, &measures));
  PetscFunctionReturn(0);
}
