/* Motions of obstacles and bodies: steady, or by keyframes. */
#include "scene_impl.h"

typedef struct {
  Vector3   pivot, velocity, spin;
  PetscInt  keyframe_count;
  Keyframe *keyframes;
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
     .kind = SCHEMA_VECTOR,
     .offset = offsetof(MotionMeasures, velocity),
     .fallback = "",
     .unit = "m/s",
     .help = "of the pivot, constant; not with keyframes"},
    {.name = "spin",
     .kind = SCHEMA_VECTOR,
     .offset = offsetof(MotionMeasures, spin),
     .fallback = "",
     .unit = "rad/s",
     .help = "axis times rate, constant; not with keyframes"},
    {.name = "keyframes",
     .kind = SCHEMA_LIST,
     .offset = offsetof(MotionMeasures, keyframes),
     .count = offsetof(MotionMeasures, keyframe_count),
     .size = sizeof(Keyframe),
     .fallback = "",
     .keys = keyframe_keys,
     .help = "place and turn at given times, at rest before the first and after the last"},
    {0}};

static PetscErrorCode CheckKeyframes(Scene scene, Node *node, const MotionMeasures *measures)
{
  Node *list = node_find(node, "keyframes");
  char  path[PATH_LENGTH];

  PetscFunctionBegin;
  node_path(node, path, sizeof(path));
  if (node_find(node, "velocity") || node_find(node, "spin"))
    PetscCall(ProblemAddAtKey(scene, list, PROBLEM_ERROR,
                              "%s has keyframes as well as velocity or spin; keep one", path));
  for (PetscInt i = 1; i < measures->keyframe_count; i++)
    if (!(measures->keyframes[i].time > measures->keyframes[i - 1].time))
      PetscCall(ProblemAdd(scene, node_find(node_item(list, i), "time"), PROBLEM_ERROR,
                           "%s.keyframes[%d].time must be later than %g", path, (int)i,
                           (double)measures->keyframes[i - 1].time));
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

PetscErrorCode ReadMotion(Scene scene, Node *node, Motion *motion)
{
  const PetscInt errors = scene->error_count;
  MotionMeasures measures = {0};
  PetscBool      good;

  PetscFunctionBegin;
  PetscCall(ExpectKind(scene, node, NODE_MAP, "a block with velocity and spin, or with keyframes", &good));
  if (!good)
    PetscFunctionReturn(0);
  PetscCall(ReadKeys(scene, node, MotionKeys, &measures));
  if (scene->error_count == errors && measures.keyframe_count)
    PetscCall(CheckKeyframes(scene, node, &measures));
  if (scene->error_count == errors)
    PetscCall(CheckPlane(scene, node, measures.velocity, measures.spin));
  for (PetscInt i = 0; scene->error_count == errors && i < measures.keyframe_count; i++)
    PetscCall(CheckPlane(scene, node, measures.keyframes[i].translation, measures.keyframes[i].rotation));
  if (scene->error_count == errors) {
    if (measures.keyframe_count)
      PetscCall(MotionCreateKeyframes(measures.pivot, measures.keyframe_count, measures.keyframes, motion));
    else
      PetscCall(MotionCreateSteady(measures.pivot, measures.velocity, measures.spin, motion));
  }
  PetscCall(DestroyKeys(MotionKeys, 0, &measures));
  PetscFunctionReturn(0);
}
