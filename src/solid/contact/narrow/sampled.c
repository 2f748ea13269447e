/* Contact by points: those of each body against the distance from the other.

   The balls of a body's tree that come near the other one lead to its points there. These are sorted into
   patches of like normals, each reduced to four touches. A point of an exact form slides along its surface to
   where it is deepest (settle.c), so round bodies touch smoothly and not in facets.

   A shell has a distance without a sign: it pushes a point of the other body to the side on which that point
   is now; its own points, in the middle of its thickness, are pushed out of the other body like any others.
 */
#include "sampled_impl.h"

enum { CANDIDATES = 256, PATCHES = 8 };

/* Normals of one patch are within 26 degrees of that of its deepest point. */
#define PATCH_COSINE 0.9

typedef struct {
  PetscInt count;
  Touch    touches[CANDIDATES];
} Candidates;

static SampleView make_sight(const PlacedForm *from, const PlacedForm *to, PetscInt side)
{
  SampleView view = {.from = from, .to = to, .side = side};

  for (int i = 0; i < DIM; i++) {
    for (int j = 0; j < DIM; j++)
      view.turn.at[i][j] = vector3_dot(to->axes[i], from->axes[j]);
  }
  view.shift = placed_to_local(to, from->position);
  view.skin = 0.5 * from->form->thickness;
  return view;
}

/* The deepest comes first, then all with a normal like its own; returns their number. */
static PetscInt gather_patch(PetscInt count, Touch touches[])
{
  PetscInt deepest = 0, members = 1;
  Touch    moved;

  for (PetscInt n = 1; n < count; n++)
    deepest = touches[n].gap < touches[deepest].gap ? n : deepest;
  moved = touches[0];
  touches[0] = touches[deepest];
  touches[deepest] = moved;
  for (PetscInt n = 1; n < count; n++) {
    if (vector3_dot(touches[n].normal, touches[0].normal) <= PATCH_COSINE)
      continue;
    moved = touches[n];
    touches[n] = touches[members];
    touches[members++] = moved;
  }
  return members;
}

/* Makes room: four for each patch are left. */
static void thin_out(Candidates *candidates)
{
  PetscInt kept = 0, next = 0;

  for (PetscInt patch = 0; patch < PATCHES && next < candidates->count; patch++) {
    Touch         *touches = candidates->touches + next;
    const PetscInt members = gather_patch(candidates->count - next, touches);
    const PetscInt left = reduce_touches(members, touches);

    for (PetscInt n = 0; n < left; n++)
      candidates->touches[kept++] = touches[n];
    next += members;
  }
  candidates->count = kept;
}

/* Exact forms are asked for the same when the touch settles. */
static PetscBool faces_ahead(const Form *own, const Sample *sample, Vector3 ahead)
{
  const PetscReal cosine = vector3_dot(sample->normal, ahead);

  if (form_is_exact(own))
    return PETSC_TRUE;
  return (own->kind == FORM_SHELL ? PetscAbsReal(cosine) : cosine) >= sample->cosine ? PETSC_TRUE
                                                                                     : PETSC_FALSE;
}

/* Points beside a sharp edge of the other body see it from aside: as touches they would hold a body that
   slides along. */
static void add_candidate(const SampleView *view, PetscInt index, PetscReal limit, Candidates *candidates)
{
  const Sample *sample = &view->from->form->samples->all[index];
  SurfacePoint  spot = {.point = sample->point};

  measure_gap(view, &spot);
  if (spot.gap > limit || !faces_ahead(view->from->form, sample, spot.ahead))
    return;
  if (candidates->count == CANDIDATES)
    thin_out(candidates);
  candidates->touches[candidates->count++] = surface_point_touch(view, &spot, index);
}

/* Whether the ball about a point of the other's frame may come nearer to the other than `limit`. */
static PetscBool is_near(const Form *form, Vector3 centre, PetscReal limit)
{
  PetscReal square = 0;
  Vector3   gradient;

  for (int d = 0; d < DIM; d++) {
    const PetscReal beyond =
        PetscMax(PetscMax(form->low.at[d] - centre.at[d], centre.at[d] - form->high.at[d]), 0);

    square += beyond * beyond;
  }
  if (square > limit * limit && limit < PETSC_INFINITY)
    return PETSC_FALSE;
  /* a grid may exaggerate outside of it, and is not much cheaper than the points */
  if (square > 0 && !form_is_exact(form))
    return PETSC_TRUE;
  return form_distance(form, centre, &gradient) <= limit ? PETSC_TRUE : PETSC_FALSE;
}

static void collect(const SampleView *view, PetscReal limit, Candidates *candidates)
{
  const Samples samples = view->from->form->samples;
  PetscInt      stack[SAMPLE_DEPTH], height = 0;

  stack[height++] = 0;
  while (height > 0) {
    const PetscInt    at = stack[--height];
    const SampleNode *node = &samples->nodes[at];
    const PetscReal   slack = form_is_exact(view->to->form) ? 0 : 0.02 * view->to->form->reach;

    if (!is_near(view->to->form, view_apply(view, node->centre), limit + node->radius + view->skin + slack))
      continue;
    if (node->second > 0) {
      stack[height++] = node->second;
      stack[height++] = at + 1;
      continue;
    }
    for (PetscInt n = node->first; n < node->first + node->count; n++)
      add_candidate(view, n, limit, candidates);
  }
}

/* Not so if the same place was found from the other body or from a point that slid there too, or if there are
   four of like normals. */
static PetscBool is_wanted(const Touch *touch, PetscInt count, const Touch touches[], PetscReal distance)
{
  PetscInt alike = 0;

  for (PetscInt n = 0; n < count; n++) {
    const Vector3 apart = vector3_subtract(touch->point, touches[n].point);

    if (vector3_dot(touch->normal, touches[n].normal) <= PATCH_COSINE)
      continue;
    alike++;
    if (alike == 4 || vector3_dot(apart, apart) < distance * distance)
      return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

/* What the patches have given so far. */
typedef struct {
  PetscInt count, doubt_count;
  Touch   *touches;
  Touch    doubts[PATCHES]; /* the deepest of each patch that overlaps but where the bodies are not nearest */
} Findings;

/* Touches of one patch, the deepest first. Those above `level` are too far to touch even if a point between
   the samples is deeper; if all are, the deepest has a chance. */
static void add_patch(const SampledPair *pair, PetscInt members, Touch patch[], Findings *findings)
{
  /* three degrees, or thirty where a grid knows the direction only roughly */
  const PetscReal parallel = pair->is_exact ? 0.05 : 0.5;
  PetscInt        low = 1;
  PetscReal       depth = 0;

  for (PetscInt n = 1; n < members; n++) {
    if (patch[n].gap <= pair->level)
      patch[low++] = patch[n];
  }
  low = reduce_touches(low, patch);
  for (PetscInt n = 0; n < low && findings->count < TOUCH_CAPACITY; n++) {
    const PetscReal angle = settle_touch(pair, &patch[n]);

    if (angle > parallel && patch[n].gap < -depth) {
      depth = -patch[n].gap;
      findings->doubts[findings->doubt_count] = patch[n];
    }
    if (angle <= parallel && patch[n].gap <= pair->reach &&
        is_wanted(&patch[n], findings->count, findings->touches, pair->apart))
      findings->touches[findings->count++] = patch[n];
  }
  findings->doubt_count += depth > 0;
}

/* Where edges have gone into each other no point is nearest. But a doubt that is near another touch, or has a
   normal within 45 degrees of it, is only a point on its way there. */
static void add_doubts(PetscReal distance, Findings *findings)
{
  for (PetscInt n = 0; n < findings->doubt_count && findings->count < TOUCH_CAPACITY; n++) {
    PetscBool is_alone = PETSC_TRUE;

    for (PetscInt m = 0; m < findings->count && is_alone; m++) {
      const Vector3 apart = vector3_subtract(findings->doubts[n].point, findings->touches[m].point);

      is_alone = vector3_norm(apart) > distance &&
                         vector3_dot(findings->doubts[n].normal, findings->touches[m].normal) < 0.7
                     ? PETSC_TRUE
                     : PETSC_FALSE;
    }
    if (is_alone)
      findings->touches[findings->count++] = findings->doubts[n];
  }
}

PetscInt touch_sampled(const Form *a, const RigidTransform *at_a, const Form *b, const RigidTransform *at_b,
                       PetscReal reach, Touch touches[TOUCH_CAPACITY])
{
  const PlacedForm placed[2] = {place(a, at_a), place(b, at_b)};
  SampledPair pair = {.views = {make_sight(&placed[0], &placed[1], 0), make_sight(&placed[1], &placed[0], 1)},
                      .reach = reach,
                      .level = reach,
                      .is_exact = form_is_exact(a) && form_is_exact(b)};
  Candidates  candidates;
  Findings    findings = {.touches = touches};
  PetscInt    next = 0;

  candidates.count = 0;
  pair.level += (form_is_exact(a) ? a->samples->sagitta : 0) + (form_is_exact(b) ? b->samples->sagitta : 0);
  pair.apart = 0.2 * PetscMin(a->samples->spacing, b->samples->spacing);
  for (int k = 0; k < 2; k++) {
    const Samples samples = placed[k].form->samples;

    /* how far the deepest point may be from the nearest sample, which is nearly that much higher at worst */
    collect(&pair.views[k], pair.is_exact ? pair.level + 0.6 * samples->spacing : pair.level, &candidates);
  }
  for (PetscInt patch = 0; patch < PATCHES && next < candidates.count; patch++) {
    const PetscInt members = gather_patch(candidates.count - next, candidates.touches + next);

    add_patch(&pair, members, candidates.touches + next, &findings);
    next += members;
  }
  add_doubts(PetscMax(a->samples->spacing, b->samples->spacing), &findings);
  if (findings.count == 1)
    touches[0].feature = 0;
  return findings.count;
}
