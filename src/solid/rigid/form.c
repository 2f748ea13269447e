/* From a shape to a form: the frame of the centre of mass and the principal axes, and what each kind needs.

   Simple shapes keep their own axes. A surface takes those of its inertia, unless its own are principal up to
   round-off: a cube from a file is not turned. */
#include "../contact/narrow/hull.h"
#include "../contact/narrow/samples.h"
#include "distance_grid.h"

#include <math.h>
#include <stdio.h>

enum {
  PICTURE_SEGMENTS = 24, /* of a circle in the triangles of a simple form */
  SHELL_SEGMENTS = 64,   /* in those of a shell, which are its mass too */
  GRID_CELLS = 48
};

/* What FormCreate works on. */
typedef struct {
  Primitive      primitive;
  PetscReal      thickness;
  char          *message;
  size_t         message_size;
  Form          *form; /* null after a mistake */
  RigidTransform own;  /* the body's frame in that of the primitive */
} Making;

static void refuse(Making *making, const char format[], ...) PETSC_ATTRIBUTE_FORMAT(2, 3);
static void refuse(Making *making, const char format[], ...)
{
  va_list arguments;

  va_start(arguments, format);
  vsnprintf(making->message, making->message_size, format, arguments);
  va_end(arguments);
}

static PetscBool is_refused(const Making *making)
{
  return making->message[0] != '\0' ? PETSC_TRUE : PETSC_FALSE;
}

static void take_moments(Making *making, const Moments *moments)
{
  const PetscReal negligible = 1e-10;
  Matrix3         inertia;
  PetscReal       largest = 0, trace = 0;

  making->own = (RigidTransform){moments->centre, {1, vector3(0, 0, 0)}};
  making->form->volume = moments->volume;
  for (int i = 0; i < DIM; i++) {
    trace += moments->inertia[i][i];
    making->form->inertia.at[i] = moments->inertia[i][i];
    for (int j = 0; j < DIM; j++) {
      inertia.at[i][j] = moments->inertia[i][j];
      if (i != j)
        largest = PetscMax(largest, PetscAbsReal(inertia.at[i][j]));
    }
  }
  if (largest > negligible * trace)
    matrix3_principal_axes(&inertia, &making->own.rotation, &making->form->inertia);
}

/* Seen from the body's frame. */
static Vector3 to_body(const void *own, Vector3 point)
{
  return rigid_apply_inverse(own, point);
}

static PetscErrorCode MeasureSurface(Form *form)
{
  const PetscReal half = 0.5 * form->thickness;
  PetscInt        count;
  const Vector3  *vertices;

  PetscFunctionBegin;
  PetscCall(SurfaceGet(form->surface, &count, &vertices, NULL, NULL));
  for (PetscInt n = 0; n < count; n++)
    form->reach = PetscMax(form->reach, vector3_norm(vertices[n]) + half);
  surface_bounds(form->surface, &form->low, &form->high);
  for (int d = 0; d < DIM; d++) {
    form->low.at[d] -= half;
    form->high.at[d] += half;
  }
  PetscFunctionReturn(0);
}

static void measure_round(Form *form, PetscReal across, PetscReal low, PetscReal high)
{
  form->low = vector3(-across, -across, low);
  form->high = vector3(across, across, high);
}

static void measure_simple(Making *making)
{
  Form           *form = making->form;
  const PetscReal r = making->primitive.radius, h = making->primitive.reach;

  form->radius = r;
  form->reach = hypot(r, h);
  switch (making->primitive.kind) {
  case PRIMITIVE_SPHERE:
    form->kind = FORM_SPHERE;
    form->reach = r;
    measure_round(form, r, -r, r);
    break;
  case PRIMITIVE_CAPSULE:
    form->kind = FORM_CAPSULE;
    form->half.at[Z] = h;
    form->reach = r + h;
    measure_round(form, r, -r - h, r + h);
    break;
  case PRIMITIVE_CYLINDER:
    form->kind = FORM_CYLINDER;
    form->half.at[Z] = h;
    measure_round(form, r, -h, h);
    break;
  case PRIMITIVE_CONE:
    form->kind = FORM_CONE;
    form->base = -h / 2;
    form->tip = 3 * h / 2;
    form->reach = PetscMax(form->tip, hypot(r, form->base));
    measure_round(form, r, form->base, form->tip);
    break;
  case PRIMITIVE_TORUS:
    form->kind = FORM_TORUS;
    form->major = h;
    form->reach = r + h;
    measure_round(form, r + h, -r, r);
    break;
  default:
    form->kind = FORM_BOX;
    form->half = making->primitive.half;
    form->reach = vector3_norm(form->half);
    form->low = vector3_scale(-1, form->half);
    form->high = form->half;
  }
}

static PetscErrorCode MakeSimple(Making *making)
{
  const Moments moments = primitive_moments(&making->primitive);
  Form         *form = making->form;

  PetscFunctionBegin;
  take_moments(making, &moments);
  measure_simple(making);
  PetscCall(SurfaceCreatePrimitive(&making->primitive, PICTURE_SEGMENTS, &form->surface));
  PetscCall(SurfaceTransform(&form->surface, to_body, &making->own));
  if (form->kind == FORM_BOX)
    PetscCall(HullCreate(form->surface, &form->hull));
  PetscFunctionReturn(0);
}

static void make_plane(Making *making)
{
  const PetscReal far = PETSC_INFINITY;
  Form           *form = making->form;

  if (making->thickness > 0)
    refuse(making, "a plane cannot be a shell: leave out its thickness");
  making->own = (RigidTransform){vector3(0, 0, 0), {1, vector3(0, 0, 0)}};
  form->kind = FORM_PLANE;
  form->reach = far;
  form->low = vector3(-far, -far, -far);
  form->high = vector3(far, far, 0);
}

/* Far above round-off, and far below what anyone would call a body. */
static PetscReal least_volume(Surface surface)
{
  return 1e-12 * PetscPowRealInt(surface_extent(surface), DIM);
}

static PetscErrorCode MakeShell(Making *making)
{
  Form   *form = making->form;
  Moments moments;

  PetscFunctionBegin;
  PetscCall(SurfaceCreatePrimitive(&making->primitive, SHELL_SEGMENTS, &form->surface));
  moments = surface_shell_moments(form->surface, making->thickness);
  if (!(moments.volume * surface_extent(form->surface) > least_volume(form->surface) * making->thickness)) {
    refuse(making, "its surface has no area: all of its points lie on a line");
    PetscFunctionReturn(0);
  }
  form->kind = FORM_SHELL;
  form->thickness = making->thickness;
  take_moments(making, &moments);
  PetscCall(SurfaceTransform(&form->surface, to_body, &making->own));
  PetscCall(MeasureSurface(form));
  PetscCall(DistanceGridCreate(form->surface, DISTANCE_UNSIGNED, GRID_CELLS, &form->distances));
  PetscFunctionReturn(0);
}

static PetscErrorCode CheckSolid(Making *making, const Moments *moments)
{
  static const char *const what[] = {
      [SURFACE_OPEN] =
          "its surface is open and encloses nothing: set \"thickness\" to make it a shell, or close "
          "its holes in a mesh editor",
      [SURFACE_BRANCHED] =
          "its surface has an edge with more than two triangles and is not the boundary of a "
          "solid: separate the parts in a mesh editor, or set \"thickness\" to make it a shell",
      [SURFACE_TWISTED] =
          "two neighbours among the triangles of its surface face opposite sides: recalculate "
          "the normals in a mesh editor, or set \"thickness\" to make it a shell"};
  const PetscReal least = least_volume(making->form->surface);
  SurfaceFault    fault;

  PetscFunctionBegin;
  PetscCall(SurfaceFindFault(making->form->surface, &fault));
  if (fault != SURFACE_SOUND)
    refuse(making, "%s", what[fault]);
  else if (moments->volume < -least)
    refuse(making, "its surface is inside out: it encloses %g m^3; flip the normals in a mesh editor",
           (double)moments->volume);
  else if (!(moments->volume > least))
    refuse(making, "its surface encloses no volume: set \"thickness\" to make it a shell");
  PetscFunctionReturn(0);
}

static PetscErrorCode MakeSolid(Making *making)
{
  const Moments moments = primitive_moments(&making->primitive);
  Form         *form = making->form;

  PetscFunctionBegin;
  PetscCall(SurfaceCreatePrimitive(&making->primitive, PICTURE_SEGMENTS, &form->surface));
  PetscCall(CheckSolid(making, &moments));
  if (is_refused(making))
    PetscFunctionReturn(0);
  take_moments(making, &moments);
  PetscCall(SurfaceTransform(&form->surface, to_body, &making->own));
  PetscCall(MeasureSurface(form));
  PetscCall(HullCreate(form->surface, &form->hull));
  form->kind = form->hull ? FORM_HULL : FORM_SURFACE;
  if (!form->hull)
    PetscCall(DistanceGridCreate(form->surface, DISTANCE_SIGNED, GRID_CELLS, &form->distances));
  PetscFunctionReturn(0);
}

/* Before anything is made: what the measures alone tell. */
static void check_measures(Making *making, Shape shape)
{
  const PetscReal smallest = 1e-9,
                  largest = 1e9; /* m: beyond, the fifth powers of inertia lose their digits */
  PetscReal longest = 0;
  Vector3   low, high;

  shape_bounds(shape, &low, &high);
  for (int d = 0; d < DIM; d++)
    longest = PetscMax(longest, high.at[d] - low.at[d]);
  if (making->primitive.kind == PRIMITIVE_NONE)
    refuse(making, "a union, intersection, difference or formula has no triangles: make it a surface by "
                   "SurfaceCreateContour");
  else if (!(making->thickness >= 0 && making->thickness <= largest))
    refuse(making, "its thickness must be 0 or more, not %g", (double)making->thickness);
  else if (making->primitive.kind != PRIMITIVE_PLANE && !(longest >= smallest && longest <= largest))
    refuse(making, "its longest side must be between %g m and %g m, not %g m", (double)smallest,
           (double)largest, (double)longest);
}

static void finish(Making *making, RigidTransform *rest)
{
  const RigidTransform frame = {making->primitive.centre, making->primitive.rotation};
  Form                *form = making->form;

  rest->position = rigid_apply(&frame, making->own.position);
  rest->rotation = quaternion_multiply(frame.rotation, making->own.rotation);
  form->size = PETSC_INFINITY;
  for (int d = 0; d < DIM && form->kind != FORM_PLANE; d++)
    form->size = PetscMin(form->size, form->high.at[d] - form->low.at[d]);
  if (form->kind == FORM_SHELL)
    form->size = form->thickness;
  for (int d = 0; d < DIM && form->kind != FORM_PLANE; d++) {
    if (!(form->inertia.at[d] > 0 && isfinite(form->inertia.at[d])))
      refuse(making, "its surface gives the moment of inertia %g: parts of it are inside out",
             (double)form->inertia.at[d]);
  }
}

PetscErrorCode FormCreate(Shape shape, PetscReal thickness, Form **form, RigidTransform *rest, char message[],
                          size_t message_size)
{
  Making making = {.primitive = shape_primitive(shape), .thickness = thickness};

  PetscFunctionBegin;
  *form = NULL;
  making.message = message;
  making.message_size = message_size;
  message[0] = '\0';
  PetscCheck(making.primitive.kind != PRIMITIVE_SURFACE || making.primitive.surface, PETSC_COMM_SELF,
             PETSC_ERR_ORDER, "The triangles of this shape have been given back");
  check_measures(&making, shape);
  if (is_refused(&making))
    PetscFunctionReturn(0);
  PetscCall(PetscNew(&making.form));
  if (making.primitive.kind == PRIMITIVE_PLANE)
    make_plane(&making);
  else if (thickness > 0)
    PetscCall(MakeShell(&making));
  else if (making.primitive.kind == PRIMITIVE_SURFACE)
    PetscCall(MakeSolid(&making));
  else
    PetscCall(MakeSimple(&making));
  if (!is_refused(&making))
    finish(&making, rest);
  if (!is_refused(&making) && making.form->surface) {
    PetscCall(SurfaceGet(making.form->surface, &making.form->vertex_count, NULL, &making.form->triangle_count,
                         NULL));
    PetscCall(SamplesCreate(making.form, &making.form->samples));
  }
  if (is_refused(&making))
    PetscCall(FormDestroy(&making.form));
  *form = making.form;
  PetscFunctionReturn(0);
}

PetscErrorCode FormDestroy(Form **form)
{
  PetscFunctionBegin;
  if (!*form)
    PetscFunctionReturn(0);
  PetscCall(SamplesDestroy(&(*form)->samples));
  PetscCall(DistanceGridDestroy(&(*form)->distances));
  PetscCall(HullDestroy(&(*form)->hull));
  PetscCall(SurfaceDestroy(&(*form)->surface));
  PetscCall(PetscFree(*form));
  PetscFunctionReturn(0);
}
