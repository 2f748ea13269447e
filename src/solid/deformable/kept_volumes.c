/* Solids that keep their volume ([41] of the thesis; docs/numerics.md, 17).
   One pressure y and one volume belong to each vertex, V_p = 1/4 sum of those of the tetrahedra at it: one
   for each tetrahedron would leave them no way to bend. With G = dV/dx and the velocity u of a step,

     I    V(x^n + dt u) = V at rest,    u = u* - M^-1 G(x^n)^T y        to 1e-6, by Newton's method
     V    G(x^{n+1}) v = 0,             v = v* - M^-1 G(x^{n+1})^T y

   where v* has the impulse of I in it: that is RATTLE (Andersen 1983), which keeps both momenta, since
   volumes do not change with rigid motions. The matrix G M^-1 G^T, within held contacts, is solved by
   conjugate gradients; its null vectors (chequered pressures) are not in the right side. */
#include "../contact/point_contact.h"

static const PetscReal volume_tolerance = 1e-6; /* of V_p, in a step */
static const PetscReal most_error = 0.1;        /* of V_p: what one step corrects */
enum { MOST_NEWTON = 5, MOST_ITERATIONS = 300 };

typedef struct {
  const PetscInt *corners;  /* of a tetrahedron, borrowed */
  Vector3         areas[4]; /* m^2: slopes of its volume */
} KeptTetrahedron;

struct _p_KeptVolumes {
  PetscInt         count, point_count;
  KeptTetrahedron *tetrahedra;
  /* Of every point; what no such tetrahedron has, has none. */
  PetscReal *rest;  /* m^3: V_p */
  PetscReal *error; /* m^3/s */
  PetscReal *diagonal, *pressure, *search, *image;
};

static Vector3 moved(const Points *points, PetscInt p, PetscReal dt, const Vector3 u[])
{
  return dt > 0. ? vector3_add(points->position[p], vector3_scale(dt, u[p])) : points->position[p];
}

/* dV/dx_c of a tetrahedron; their sum is zero. */
static void find_areas(const Vector3 x[4], Vector3 areas[4])
{
  const Vector3 a = vector3_subtract(x[1], x[0]), b = vector3_subtract(x[2], x[0]),
                c = vector3_subtract(x[3], x[0]);

  areas[1] = vector3_scale(1. / 6., vector3_cross(b, c));
  areas[2] = vector3_scale(1. / 6., vector3_cross(c, a));
  areas[3] = vector3_scale(1. / 6., vector3_cross(a, b));
  areas[0] = vector3_scale(-1., vector3_add(areas[1], vector3_add(areas[2], areas[3])));
}

static PetscReal volume_of(const Vector3 x[4])
{
  const Vector3 a = vector3_subtract(x[1], x[0]), b = vector3_subtract(x[2], x[0]),
                c = vector3_subtract(x[3], x[0]);

  return vector3_dot(a, vector3_cross(b, c)) / 6.;
}

static PetscInt kept_count(const DeformableMesh *mesh)
{
  return mesh->mesh->kind == MESH_TETRAHEDRA && mesh->material->volume == SOLID_VOLUME_KEPT
             ? mesh->mesh->element_count
             : 0;
}

static void measure_rest(KeptVolumes volumes, const Points *points)
{
  for (PetscInt t = 0; t < volumes->count; t++) {
    const PetscInt *corners = volumes->tetrahedra[t].corners;
    Vector3         x[4];

    for (PetscInt c = 0; c < 4; c++)
      x[c] = points->rest[corners[c]];
    for (PetscInt c = 0; c < 4; c++)
      volumes->rest[corners[c]] += 0.25 * volume_of(x);
  }
}

PetscErrorCode KeptVolumesCreate(Solid solid)
{
  Points     *points = solid->points;
  PetscInt    count = 0;
  KeptVolumes volumes;

  PetscFunctionBegin;
  for (PetscInt m = 0; m < points->mesh_count; m++)
    count += kept_count(&points->meshes[m]);
  if (!count)
    PetscFunctionReturn(0);
  PetscCall(PetscNew(&volumes));
  volumes->point_count = points->count;
  PetscCall(PetscMalloc1(count, &volumes->tetrahedra));
  for (PetscInt m = 0; m < points->mesh_count; m++)
    for (PetscInt e = 0; e < kept_count(&points->meshes[m]); e++)
      volumes->tetrahedra[volumes->count++].corners = &points->meshes[m].elements[4 * e];
  PetscCall(PetscCalloc3(points->count, &volumes->rest, points->count, &volumes->error, points->count,
                         &volumes->diagonal));
  PetscCall(PetscCalloc3(points->count, &volumes->pressure, points->count, &volumes->search, points->count,
                         &volumes->image));
  measure_rest(volumes, points);
  points->volumes = volumes;
  PetscFunctionReturn(0);
}

PetscErrorCode KeptVolumesDestroy(Points *points)
{
  KeptVolumes volumes = points->volumes;

  PetscFunctionBegin;
  if (!volumes)
    PetscFunctionReturn(0);
  PetscCall(PetscFree(volumes->tetrahedra));
  PetscCall(PetscFree3(volumes->rest, volumes->error, volumes->diagonal));
  PetscCall(PetscFree3(volumes->pressure, volumes->search, volumes->image));
  PetscCall(PetscFree(points->volumes));
  PetscFunctionReturn(0);
}

/* Areas where the points are, and about what the matrix has on its diagonal. */
static void take_areas(KeptVolumes volumes, const Points *points)
{
  for (PetscInt p = 0; p < volumes->point_count; p++)
    volumes->diagonal[p] = 0.;
  for (PetscInt t = 0; t < volumes->count; t++) {
    KeptTetrahedron *tetrahedron = &volumes->tetrahedra[t];
    PetscReal        sum = 0.;
    Vector3          x[4];

    for (PetscInt c = 0; c < 4; c++)
      x[c] = points->position[tetrahedron->corners[c]];
    find_areas(x, tetrahedron->areas);
    for (PetscInt c = 0; c < 4; c++)
      sum += vector3_dot(tetrahedron->areas[c], tetrahedron->areas[c]) *
             points_inverse_mass(points, tetrahedron->corners[c]);
    for (PetscInt c = 0; c < 4; c++)
      volumes->diagonal[tetrahedron->corners[c]] += sum;
  }
}

/* G^T y, collected. */
static void press(Solid solid, const PetscReal pressure[], SolidMotion *impulse)
{
  const KeptVolumes volumes = solid->points->volumes;

  motion_clear(solid, impulse);
  for (PetscInt t = 0; t < volumes->count; t++) {
    const KeptTetrahedron *tetrahedron = &volumes->tetrahedra[t];
    PetscReal              mean = 0.;

    for (PetscInt c = 0; c < 4; c++)
      mean += 0.25 * pressure[tetrahedron->corners[c]];
    for (PetscInt c = 0; c < 4; c++) {
      Vector3 *at = &impulse->points[tetrahedron->corners[c]];

      *at = vector3_add(*at, vector3_scale(mean, tetrahedron->areas[c]));
    }
  }
  points_collect(solid, impulse);
}

/* G u. */
static void find_rates(const Points *points, const Vector3 u[], PetscReal rates[])
{
  const KeptVolumes volumes = points->volumes;

  for (PetscInt p = 0; p < volumes->point_count; p++)
    rates[p] = 0.;
  for (PetscInt t = 0; t < volumes->count; t++) {
    const KeptTetrahedron *tetrahedron = &volumes->tetrahedra[t];
    PetscReal              rate = 0.;

    for (PetscInt c = 0; c < 4; c++)
      rate += vector3_dot(tetrahedron->areas[c], u[tetrahedron->corners[c]]);
    for (PetscInt c = 0; c < 4; c++)
      rates[tetrahedron->corners[c]] += 0.25 * rate;
  }
}

/* (V(x + dt u) - V at rest) / dt. */
static void find_errors(const Points *points, PetscReal dt, const Vector3 u[], PetscReal errors[])
{
  const KeptVolumes volumes = points->volumes;

  for (PetscInt p = 0; p < volumes->point_count; p++)
    errors[p] = -volumes->rest[p];
  for (PetscInt t = 0; t < volumes->count; t++) {
    const PetscInt *corners = volumes->tetrahedra[t].corners;
    Vector3         x[4];

    for (PetscInt c = 0; c < 4; c++)
      x[c] = moved(points, corners[c], dt, u);
    for (PetscInt c = 0; c < 4; c++)
      errors[corners[c]] += 0.25 * volume_of(x);
  }
  for (PetscInt p = 0; p < volumes->point_count; p++) {
    const PetscReal most = most_error * volumes->rest[p];

    errors[p] = PetscMax(-most, PetscMin(most, errors[p])) / dt;
  }
}

/* In parts of the volumes at rest, of a step. */
static PetscReal largest(const KeptVolumes volumes, PetscReal dt, const PetscReal errors[])
{
  PetscReal most = 0.;

  for (PetscInt p = 0; p < volumes->point_count; p++)
    if (volumes->rest[p] > 0.)
      most = PetscMax(most, PetscAbsReal(errors[p]) * dt / volumes->rest[p]);
  return most;
}

/* With motions that held contacts allow. */
static void project(Solid solid, PetscInt held, SolidMotion *motion)
{
  if (held) {
    point_contacts_project(solid, motion);
    points_follow_change(solid, motion);
  }
}

/* error . D^-1 error, with the diagonal D. */
static PetscReal error_square(const KeptVolumes volumes)
{
  PetscReal sum = 0.;

  for (PetscInt p = 0; p < volumes->point_count; p++)
    if (volumes->diagonal[p] > 0.)
      sum += PetscSqr(volumes->error[p]) / volumes->diagonal[p];
  return sum;
}

/* search = D^-1 error + scale search. */
static void turn_search(KeptVolumes volumes, PetscReal scale)
{
  for (PetscInt p = 0; p < volumes->point_count; p++)
    if (volumes->diagonal[p] > 0.)
      volumes->search[p] = volumes->error[p] / volumes->diagonal[p] + scale * volumes->search[p];
}

/* image = G M^-1 G^T search; returns their product. */
static PetscReal find_image(Solid solid, PetscInt held)
{
  Points           *points = solid->points;
  const KeptVolumes volumes = points->volumes;
  PetscReal         product = 0.;

  press(solid, volumes->search, &points->residual);
  motion_yield(solid, &points->residual, &points->trial);
  project(solid, held, &points->trial);
  find_rates(points, points->trial.points, volumes->image);
  for (PetscInt p = 0; p < volumes->point_count; p++)
    product += volumes->search[p] * volumes->image[p];
  return product;
}

/* pressure = (G M^-1 G^T)^-1 error, which becomes the residual. */
static void solve_pressure(Solid solid, PetscInt held, PetscReal dt)
{
  const KeptVolumes volumes = solid->points->volumes;
  PetscReal         square = error_square(volumes);

  for (PetscInt p = 0; p < volumes->point_count; p++)
    volumes->pressure[p] = 0.;
  turn_search(volumes, 0.);
  for (PetscInt k = 0; k < MOST_ITERATIONS && largest(volumes, dt, volumes->error) > 0.1 * volume_tolerance;
       k++) {
    const PetscReal product = find_image(solid, held), step = square / product, last = square;

    if (!(product > 0.))
      break;
    for (PetscInt p = 0; p < volumes->point_count; p++) {
      volumes->pressure[p] += step * volumes->search[p];
      volumes->error[p] -= step * volumes->image[p];
    }
    square = error_square(volumes);
    turn_search(volumes, square / last);
  }
}

/* motion -= M^-1 G^T pressure; the impulse is added to `impulse`, if it is wanted. */
static void apply_pressure(Solid solid, SolidMotion *motion, SolidMotion *impulse)
{
  Points *points = solid->points;

  press(solid, points->volumes->pressure, &points->residual);
  motion_combine(solid, -1., 0., &points->residual, &points->residual);
  motion_yield(solid, &points->residual, &points->trial);
  motion_combine(solid, 1., 1., &points->trial, motion);
  if (impulse)
    motion_combine(solid, 1., 1., &points->residual, impulse);
}

/* What held contacts leave of a motion. */
static PetscErrorCode TakeAllowed(Solid solid, PetscInt held, const SolidMotion *motion, SolidMotion *allowed)
{
  PetscFunctionBegin;
  PetscCall(PetscArraycpy(allowed->points, motion->points, solid->points->count));
  PetscCall(PetscArraycpy(allowed->bodies, motion->bodies, solid->body_count));
  if (held) {
    point_contacts_project(solid, allowed);
    points_follow_velocity(solid, allowed->bodies, allowed->points);
  }
  PetscFunctionReturn(0);
}

PetscErrorCode PointsKeepVolume(Solid solid, PetscReal dt, SolidMotion *motion, SolidMotion *impulse)
{
  Points        *points = solid->points;
  SolidMotion   *allowed = &points->damped;
  const PetscInt held = points->volumes ? point_contacts_hold(solid, motion) : 0;

  PetscFunctionBegin;
  if (!points->volumes)
    PetscFunctionReturn(0);
  take_areas(points->volumes, points);
  for (PetscInt k = 0; k < MOST_NEWTON; k++) {
    PetscCall(TakeAllowed(solid, held, motion, allowed));
    find_errors(points, dt, allowed->points, points->volumes->error);
    if (largest(points->volumes, dt, points->volumes->error) <= volume_tolerance)
      break;
    solve_pressure(solid, held, dt);
    apply_pressure(solid, motion, impulse);
  }
  PetscFunctionReturn(0);
}

PetscErrorCode PointsProjectVolume(Solid solid, PetscReal dt, SolidMotion *velocity)
{
  Points        *points = solid->points;
  SolidMotion   *allowed = &points->damped;
  const PetscInt held = points->volumes ? point_contacts_hold(solid, velocity) : 0;

  PetscFunctionBegin;
  if (!points->volumes)
    PetscFunctionReturn(0);
  take_areas(points->volumes, points);
  PetscCall(TakeAllowed(solid, held, velocity, allowed));
  find_rates(points, allowed->points, points->volumes->error);
  solve_pressure(solid, held, dt);
  apply_pressure(solid, velocity, NULL);
  PetscFunctionReturn(0);
}
