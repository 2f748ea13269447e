/* From a sample to the deepest point near by.

   A point p of the surface with the other body ahead in direction n moves to the point of its own surface
   nearest to p + s n. That goes down the distance to the other body, and it stays where the two surfaces are
   parallel. Near such a place, with curvatures k of its own surface and l of the other, the way that is left
   shrinks by (1 - s l) / (1 + s k) at each step; the error of the gap by its square. Where that is slow, as
   for rods that are nearly parallel, the last three steps tell where the next ones lead (Anderson's mixing).
 */
#include "sampled_impl.h"

enum { STEPS = 24 };

void measure_gap(const SampleView *view, SurfacePoint *spot)
{
  Vector3   gradient;
  PetscReal distance = form_distance(view->to->form, view_apply(view, spot->point), &gradient);

  for (int i = 0; i < DIM; i++) {
    spot->ahead.at[i] = -(view->turn.at[X][i] * gradient.at[X] + view->turn.at[Y][i] * gradient.at[Y] +
                          view->turn.at[Z][i] * gradient.at[Z]);
  }
  spot->gap = distance - view->skin;
}

Touch surface_point_touch(const SampleView *view, const SurfacePoint *spot, PetscInt sample)
{
  const Vector3 ahead = placed_turn_out(view->from, spot->ahead);
  const Vector3 point = placed_to_world(view->from, spot->point);

  return (Touch){.point = vector3_along(point, view->skin + 0.5 * spot->gap, ahead),
                 .normal = view->side == 0 ? ahead : vector3_scale(-1, ahead),
                 .gap = spot->gap,
                 .feature = 1 + 2 * (uint32_t)sample + (uint32_t)view->side};
}

static PetscReal first_step(const Form *own, const Form *other)
{
  const PetscReal curvature_radius = own->radius > 0 ? own->radius : other->radius;

  if (own->kind == FORM_TORUS)
    return PetscMin(own->radius, own->major - own->radius);
  return curvature_radius > 0 ? curvature_radius : 0.5 * own->size;
}

/* The state of the slide. */
typedef struct {
  SurfacePoint spot;
  PetscReal    step;
  PetscReal    angle; /* between the two surfaces, about */
  Vector3      next;  /* where the step leads */
  Vector3      move;  /* from the spot to there */
} Slide;

/* Those before, the latest first. */
typedef struct {
  PetscInt count;
  Slide    slides[2];
} Past;

/* False if the other body is behind the surface. */
static PetscBool look_ahead(const Form *own, Slide *slide)
{
  const Vector3   pushed = vector3_along(slide->spot.point, slide->step, slide->spot.ahead);
  Vector3         outward;
  const PetscReal distance = form_distance(own, pushed, &outward);

  slide->next = vector3_along(pushed, -distance, outward);
  slide->move = vector3_subtract(slide->next, slide->spot.point);
  slide->angle = vector3_norm(slide->move) / slide->step;
  return distance > 0.3 * slide->step ? PETSC_TRUE : PETSC_FALSE;
}

/* The mixture of the last steps whose moves cancel best; the plain next point if they hardly differ. */
static Vector3 mix_steps(const Slide *now, const Past *past)
{
  const Vector3 first =
      past->count > 0 ? vector3_subtract(now->move, past->slides[0].move) : vector3(0, 0, 0);
  const Vector3 second =
      past->count > 1 ? vector3_subtract(past->slides[0].move, past->slides[1].move) : vector3(0, 0, 0);
  const PetscReal a = vector3_dot(first, first), b = vector3_dot(first, second),
                  c = vector3_dot(second, second);
  const PetscReal u = vector3_dot(first, now->move), v = vector3_dot(second, now->move),
                  determinant = a * c - b * b;
  Vector3   mixed = now->next;
  PetscReal x, y = 0;

  if (a <= 1e-4 * vector3_dot(now->move, now->move))
    return mixed;
  x = u / a;
  if (determinant > 1e-6 * a * c) {
    x = (c * u - b * v) / determinant;
    y = (a * v - b * u) / determinant;
    mixed = vector3_along(mixed, -y, vector3_subtract(past->slides[0].next, past->slides[1].next));
  }
  return vector3_along(mixed, -x, vector3_subtract(now->next, past->slides[0].next));
}

static void remember(Past *past, const Slide *slide)
{
  past->slides[1] = past->slides[0];
  past->slides[0] = *slide;
  past->count = PetscMin(past->count + 1, 2);
}

/* To a point of the own surface; false if that is no deeper. */
static PetscBool try_point(const SampleView *view, Vector3 point, const Slide *slide, Slide *next)
{
  const Form     *own = view->from->form;
  Vector3         outward;
  const PetscReal distance = form_distance(own, point, &outward);

  *next = (Slide){.spot = {.point = vector3_along(point, -distance, outward)}, .step = slide->step};
  measure_gap(view, &next->spot);
  return next->spot.gap < slide->spot.gap && look_ahead(own, next) ? PETSC_TRUE : PETSC_FALSE;
}

/* One step down, shorter if need be. False if there is none. */
static PetscBool go_down(const SampleView *view, Slide *slide, Past *past)
{
  Slide next;

  for (PetscInt n = 0; n < 6; n++) {
    if ((past->count > 0 && try_point(view, mix_steps(slide, past), slide, &next)) ||
        try_point(view, slide->next, slide, &next)) {
      remember(past, slide);
      *slide = next;
      return PETSC_TRUE;
    }
    past->count = 0;
    slide->step *= 0.5;
    (void)look_ahead(view->from->form, slide);
  }
  return PETSC_FALSE;
}

/* Returns the angle that is left between the two surfaces, about; infinite if they face away. */
static PetscReal slide_down(const SampleView *view, SurfacePoint *spot)
{
  const PetscReal farthest = view->from->form->samples->spacing;
  const Form     *own = view->from->form;
  Slide           slide = {.spot = *spot, .step = first_step(own, view->to->form)}, before;
  Past            past = {.count = 0};
  PetscInt        stalls = 0;

  if (!look_ahead(own, &slide))
    return PETSC_INFINITY;
  for (PetscInt n = 0; n < STEPS && slide.angle > 1e-6; n++) {
    before = slide;
    if (!go_down(view, &slide, &past))
      break;
    if (vector3_norm(vector3_subtract(slide.spot.point, spot->point)) > farthest) {
      slide = before;
      break;
    }
    /* an angle that stays is a slope: the bodies lie flat on each other, up to a tilt */
    stalls = slide.angle > 0.95 * before.angle ? stalls + 1 : 0;
    if (stalls == 2)
      break;
  }
  *spot = slide.spot;
  return slide.angle;
}

PetscReal settle_touch(const SampledPair *pair, Touch *touch)
{
  const PetscInt    sample = (PetscInt)(touch->feature - 1) / 2;
  const SampleView *view = &pair->views[(touch->feature - 1) % 2];
  const Form       *own = view->from->form;
  SurfacePoint      spot = {.point = own->samples->all[sample].point};
  PetscReal         angle;

  if (!form_is_exact(own))
    return 0;
  measure_gap(view, &spot);
  angle = slide_down(view, &spot);
  *touch = surface_point_touch(view, &spot, sample);
  return angle;
}
