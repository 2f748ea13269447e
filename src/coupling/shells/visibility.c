/* Shells as walls to every look, before and after a step (docs/numerics.md, section 15, Shells).

   A shell is its triangles, thickened by a margin, in the frame of its body, so that one tree serves both
   moments. A point within the margin is first put off the triangles, to its own side: that of the nearest
   place, or where the normal points if it lies on it. So each point has one side, the same at both moments,
   and a closed shell lets nothing through. */
#include "../coupling_impl.h"
#include "visibility_impl.h"

typedef struct {
  PetscInt first[DIM], last[DIM], at[DIM];
} ShellImages;

/* The images of a shell that meet a box; false if none does. */
static PetscBool images_start(const ShellVisibility *view, const Stand *stand, Vector3 low, Vector3 high,
                              ShellImages *images)
{
  for (PetscInt d = 0; d < view->dimension; d++) {
    if (!images_between(view->period.at[d], low.at[d], high.at[d], stand->low.at[d], stand->high.at[d],
                        &images->first[d], &images->last[d]))
      return PETSC_FALSE;
    images->at[d] = images->first[d];
  }
  return PETSC_TRUE;
}

static PetscBool images_next(const ShellVisibility *view, ShellImages *images)
{
  for (PetscInt d = 0; d < view->dimension; d++) {
    if (images->at[d]++ < images->last[d])
      return PETSC_TRUE;
    images->at[d] = images->first[d];
  }
  return PETSC_FALSE;
}

static Vector3 images_shift(const ShellVisibility *view, const ShellImages *images)
{
  Vector3 shift = {{0., 0., 0.}};

  for (PetscInt d = 0; d < view->dimension; d++)
    shift.at[d] = (PetscReal)images->at[d] * view->period.at[d];
  return shift;
}

static inline Vector3 into_frame(const Stand *stand, Vector3 shift, Vector3 point)
{
  return matrix3_apply(&stand->back, vector3_subtract(point, vector3_add(stand->position, shift)));
}

static inline Vector3 out_of_frame(const Stand *stand, Vector3 shift, Vector3 point)
{
  return vector3_add(matrix3_apply(&stand->turn, point), vector3_add(stand->position, shift));
}

/* The z at which prisms stand. */
static inline Vector3 flattened(const ShellVisibility *view, Vector3 point)
{
  if (view->dimension == 2)
    point.at[Z] = view->ground;
  return point;
}

/* Off the surface, on its own side; false where there is no room, such as within a margin of a fold. */
static PetscBool move_off_surface(Surface surface, PetscReal margin, Vector3 *point)
{
  enum { TRIES = 4 }; /* one for each wall of a corner */

  for (int n = 0; n < TRIES; n++) {
    Vector3         nearest, normal, arm, place;
    const PetscReal distance = surface_nearest(surface, *point, 2. * margin, &nearest, &normal);

    if (distance > margin)
      return PETSC_TRUE;
    arm = vector3_subtract(*point, nearest);
    if (vector3_norm(arm) > 1e-3 * margin) {
      place = vector3_add(nearest, vector3_scale(2. * margin / vector3_norm(arm), arm));
      if (surface_blocks(surface, *point, place, 0.))
        return PETSC_FALSE;
    } else
      place = vector3_add(nearest, vector3_scale(2. * margin, normal));
    *point = place;
  }
  return PETSC_FALSE;
}

static PetscBool shell_blocks(const Shell *shell, StepMoment moment, Vector3 from, Vector3 to,
                              PetscReal margin)
{
  const Surface surface = shell->surfaces[moment];
  PetscBool     from_is_on, to_is_on;

  if (!surface_blocks(surface, from, to, margin))
    return PETSC_FALSE;
  from_is_on = surface_blocks(surface, from, from, margin);
  to_is_on = surface_blocks(surface, to, to, margin);
  if (!from_is_on && !to_is_on)
    return PETSC_TRUE;
  if ((from_is_on && !move_off_surface(surface, margin, &from)) ||
      (to_is_on && !move_off_surface(surface, margin, &to)))
    return PETSC_TRUE;
  return surface_blocks(surface, from, to, margin);
}

static PetscBool visibility_blocks(const void *context, StepMoment moment, Vector3 from, Vector3 to)
{
  const ShellVisibility *view = context;
  const PetscReal        margin = LATTICE_MARGIN * view->spacing;
  Vector3                low, high;
  ShellImages            images;

  from = flattened(view, from);
  to = flattened(view, to);
  for (PetscInt d = 0; d < DIM; d++) {
    low.at[d] = PetscMin(from.at[d], to.at[d]) - margin;
    high.at[d] = PetscMax(from.at[d], to.at[d]) + margin;
  }
  for (PetscInt s = 0; s < view->count; s++) {
    const Shell *shell = &view->shells[s];
    const Stand *stand = &shell->stands[moment];

    if (!images_start(view, stand, low, high, &images))
      continue;
    do {
      const Vector3 shift = images_shift(view, &images);

      if (shell_blocks(shell, moment, into_frame(stand, shift, from), into_frame(stand, shift, to), margin))
        return PETSC_TRUE;
    } while (images_next(view, &images));
  }
  return PETSC_FALSE;
}

/* An image of a shell, at a distance from a point. */
typedef struct {
  const Shell *shell; /* null: none within reach */
  Vector3      shift;
  PetscReal    distance;
  PetscReal    margin; /* of the shell */
} Image;

static PetscReal distance_from_bounds(const ShellVisibility *view, const Stand *stand, Vector3 shift,
                                      Vector3 point)
{
  PetscReal square = 0.;

  for (PetscInt d = 0; d < view->dimension; d++) {
    const PetscReal place = point.at[d] - shift.at[d];

    square += PetscSqr(PetscMax(0., PetscMax(stand->low.at[d] - place, place - stand->high.at[d])));
  }
  return PetscSqrtReal(square);
}

static void box_around(const ShellVisibility *view, Vector3 point, Vector3 *low, Vector3 *high)
{
  const PetscReal reach = VISIBILITY_REACH * view->spacing;

  *low = vector3_subtract(point, vector3(reach, reach, reach));
  *high = vector3_add(point, vector3(reach, reach, reach));
}

static Image nearest_shell(const ShellVisibility *view, StepMoment moment, Vector3 point)
{
  const PetscReal margin = LATTICE_MARGIN * view->spacing;
  Image           found = {NULL, {{0., 0., 0.}}, VISIBILITY_REACH * view->spacing, margin};
  Vector3         low, high;
  ShellImages     images;

  box_around(view, point, &low, &high);
  for (PetscInt s = 0; s < view->count; s++) {
    const Stand *stand = &view->shells[s].stands[moment];

    if (!images_start(view, stand, low, high, &images))
      continue;
    do {
      const Vector3 shift = images_shift(view, &images);
      Vector3       nearest, normal;
      PetscReal     distance = distance_from_bounds(view, stand, shift, point);

      if (distance >= found.distance)
        continue;
      distance = surface_nearest(view->shells[s].surfaces[moment], into_frame(stand, shift, point),
                                 found.distance, &nearest, &normal);
      if (distance < found.distance)
        found = (Image){&view->shells[s], shift, distance, margin};
    } while (images_next(view, &images));
  }
  return found;
}

static PetscReal visibility_distance(const void *context, StepMoment moment, Vector3 point)
{
  const ShellVisibility *view = context;
  const Image            found = nearest_shell(view, moment, flattened(view, point));

  return found.shell ? found.distance : PETSC_INFINITY;
}

/* The place of cloth that is nearest to a point. */
typedef struct {
  const PetscInt *corners;
  PetscReal       weights[3];
  Vector3         foot;
} ClothPlace;

static ClothPlace find_place(const Shell *shell, StepMoment moment, Vector3 point)
{
  const PetscInt(*triangles)[3] = NULL;
  const Vector3 *places = NULL;
  ClothPlace     place;
  Vector3        corner[3];

  PetscCallAbort(PETSC_COMM_SELF, SurfaceGet(shell->surfaces[moment], NULL, &places, NULL, &triangles));
  place.corners = triangles[surface_nearest_triangle(shell->surfaces[moment], point, &place.foot)];
  for (int c = 0; c < 3; c++)
    corner[c] = places[place.corners[c]];
  triangle_weights(corner, place.foot, place.weights);
  return place;
}

static Vector3 mean_at(const ClothPlace *place, const Vector3 values[])
{
  Vector3 sum = {{0., 0., 0.}};

  for (int c = 0; c < 3; c++)
    sum = vector3_add(sum, vector3_scale(place->weights[c], values[place->corners[c]]));
  return sum;
}

/* With the nearest place of cloth, beside which it turns as the vertices do: continuous across edges. Where a
   fold has closed it comes nearer, until nothing of the cloth is in between. */
static Vector3 moved_with_cloth(const Shell *shell, StepMoment to, PetscReal margin, Vector3 point)
{
  enum { HALVINGS = 8 };
  const StepMoment from = to == STEP_START ? STEP_END : STEP_START;
  const ClothPlace place = find_place(shell, from, point);
  const Vector3    turn = vector3_scale(to == STEP_END ? 1. : -1., mean_at(&place, shell->turns));
  Vector3 arm = quaternion_rotate(quaternion_from_rotation(turn), vector3_subtract(point, place.foot)), foot;
  const Vector3  *places = NULL;
  const PetscReal length = vector3_norm(arm);

  PetscCallAbort(PETSC_COMM_SELF, SurfaceGet(shell->surfaces[to], NULL, &places, NULL, NULL));
  foot = mean_at(&place, places);
  for (int n = 0; n < HALVINGS && length > 4. * margin; n++) {
    const Vector3 beside = vector3_add(foot, vector3_scale(4. * margin / length, arm));

    if (!surface_blocks(shell->surfaces[to], beside, vector3_add(foot, arm), margin))
      break;
    arm = vector3_scale(0.5, arm);
  }
  return vector3_add(foot, arm);
}

static Vector3 moved_with(const Image *image, StepMoment to, Vector3 point)
{
  const StepMoment from = to == STEP_START ? STEP_END : STEP_START;

  if (image->shell->is_still)
    return point;
  if (image->shell->turns)
    return vector3_add(image->shift, moved_with_cloth(image->shell, to, image->margin,
                                                      vector3_subtract(point, image->shift)));
  return out_of_frame(&image->shell->stands[to], image->shift,
                      into_frame(&image->shell->stands[from], image->shift, point));
}

/* Nearer to its own shell, until another one is not between it and where that one would carry it. */
static Vector3 move_before_shell(const ShellVisibility *view, StepMoment to, const Image *own,
                                 const Image *other, Vector3 beside, Vector3 place)
{
  enum { HALVINGS = 8 };
  const PetscReal margin = LATTICE_MARGIN * view->spacing;
  const Stand    *stand = &other->shell->stands[to];
  const Vector3   seen = into_frame(stand, other->shift, beside);
  Vector3         foot, normal, trial = place;

  if (!shell_blocks(other->shell, to, into_frame(stand, other->shift, place), seen, margin))
    return place;
  (void)surface_nearest(own->shell->surfaces[to], into_frame(&own->shell->stands[to], own->shift, place),
                        PETSC_INFINITY, &foot, &normal);
  foot = out_of_frame(&own->shell->stands[to], own->shift, foot);
  for (int n = 0; n < HALVINGS; n++) {
    trial = vector3_scale(0.5, vector3_add(trial, foot));
    if (!shell_blocks(other->shell, to, into_frame(stand, other->shift, trial), seen, margin))
      return trial;
  }
  return place;
}

static Vector3 visibility_carry(const void *context, StepMoment to, Vector3 point)
{
  const ShellVisibility *view = context;
  const StepMoment       from = to == STEP_START ? STEP_END : STEP_START;
  const Vector3          start = flattened(view, point);
  const Image            own = nearest_shell(view, from, start);
  Vector3                place, low, high;
  ShellImages            images;

  if (!own.shell)
    return point;
  place = moved_with(&own, to, start);
  box_around(view, start, &low, &high);
  for (PetscInt s = 0; s < view->count; s++) {
    const Shell *shell = &view->shells[s];

    if (shell == own.shell || !images_start(view, &shell->stands[from], low, high, &images))
      continue;
    do {
      const Image other = {shell, images_shift(view, &images), 0., own.margin};

      place = move_before_shell(view, to, &own, &other, moved_with(&other, to, start), place);
    } while (images_next(view, &images));
  }
  if (view->dimension == 2)
    place.at[Z] = point.at[Z];
  return place;
}

/* In the frame of the shell, in which only cloth moves. */
static PetscBool visibility_crosses(const void *context, Vector3 from, Vector3 to)
{
  const ShellVisibility *view = context;
  PetscBool              crosses = PETSC_FALSE;
  Vector3                low, high;
  ShellImages            images;

  from = flattened(view, from);
  to = flattened(view, to);
  box_around(view, from, &low, &high);
  for (PetscInt s = 0; s < view->count; s++) {
    const Shell *shell = &view->shells[s];

    if (!images_start(view, &shell->stands[STEP_START], low, high, &images))
      continue;
    do {
      const Vector3 shift = images_shift(view, &images),
                    start = into_frame(&shell->stands[STEP_START], shift, from),
                    end = into_frame(&shell->stands[STEP_END], shift, to);

      if (surface_is_crossed(shell->surfaces[STEP_START], shell->surfaces[STEP_END], shell->way, start, end))
        crosses = PETSC_TRUE;
    } while (images_next(view, &images));
  }
  return crosses;
}

static Vector3 visibility_velocity(const void *context, Vector3 point)
{
  const ShellVisibility *view = context;
  const Vector3          start = flattened(view, point);
  const Image            own = nearest_shell(view, STEP_START, start);

  if (!own.shell)
    return vector3(0., 0., 0.);
  return vector3_scale(1. / view->dt, vector3_subtract(moved_with(&own, STEP_END, start), start));
}

/* That of the way over the step at the nearest place, divided by the step. */
static Matrix3 cloth_slope(const Shell *shell, Vector3 point, PetscReal dt)
{
  const ClothPlace place = find_place(shell, STEP_START, point);
  Matrix3          slope = {{{0.}}};

  for (int c = 0; c < 3; c++)
    for (PetscInt n = 0; n < DIM * DIM; n++)
      slope.at[n / DIM][n % DIM] +=
          place.weights[c] / dt * shell->slopes[place.corners[c]].at[n / DIM][n % DIM];
  return slope;
}

static ShellMotion visibility_motion(const void *context, Vector3 point)
{
  const ShellVisibility *view = context;
  const Vector3          start = flattened(view, point);
  const Image            own = nearest_shell(view, STEP_START, start);
  ShellMotion            motion = {.distance = own.shell ? own.distance : PETSC_INFINITY};

  if (!own.shell || own.shell->is_still)
    return motion;
  motion.velocity = vector3_scale(1. / view->dt, vector3_subtract(moved_with(&own, STEP_END, start), start));
  if (own.shell->turns) {
    motion.slope = cloth_slope(own.shell, vector3_subtract(start, own.shift), view->dt);
    return motion;
  }
  motion.slope = matrix3_multiply(&own.shell->stands[STEP_END].turn, &own.shell->stands[STEP_START].back);
  for (PetscInt a = 0; a < DIM; a++)
    for (PetscInt b = 0; b < DIM; b++)
      motion.slope.at[a][b] = (motion.slope.at[a][b] - (a == b ? 1. : 0.)) / view->dt;
  return motion;
}

Visibility shell_visibility(const ShellVisibility *view)
{
  return (Visibility){.context = view,
                      .blocks = visibility_blocks,
                      .distance = visibility_distance,
                      .carry = visibility_carry,
                      .crosses = visibility_crosses,
                      .velocity = visibility_velocity,
                      .motion = visibility_motion};
}
