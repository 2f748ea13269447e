/* The velocity of some regions carried on into the others, linearly along the normal:

     u(x) = u_0 + g (distance(x) - distance_0),   g = n . grad u,

   where u_0, g and distance_0 are values at faces that are known, each carried on constantly. With u_0 alone
   an interface between its two nearest faces would be too slow by a quarter of a cell times the gradient, a
   first-order error. Differences point into the known side; of two behind each other a limiter makes one.
   Nothing is carried on through a shell. */
#include "phase_impl.h"

static const PetscReal farthest = 1.5; /* cells beyond which u stays what it is */

typedef struct {
  Phase            phase;
  SlopeLimiter     limiter;
  const GridBox   *box;
  PetscInt         back; /* from a face to the other cell */
  const PetscReal *distance, *known, *u;
} Continued;

static inline PetscReal face_distance(const Continued *from, PetscInt c)
{
  return 0.5 * (from->distance[c] + from->distance[c - from->back]);
}

static inline PetscBool is_known(const Continued *from, PetscInt c)
{
  return from->known[c] > 0. || from->known[c - from->back] > 0. ? PETSC_TRUE : PETSC_FALSE;
}

/* Whether no shell lies between the cells of a face and those two cells further along a. */
static PetscBool is_seen(const Continued *from, PetscInt c, PetscInt a, PetscInt side)
{
  const VisibilityMap *map = from->phase->visibility_map;

  if (!is_near_shell(map, c))
    return PETSC_TRUE;
  for (PetscInt n = 0; n < 2; n++) {
    const PetscInt cell = c + n * side * from->box->stride[a];

    if (face_is_blocked(map, STEP_END, cell, a, side) ||
        face_is_blocked(map, STEP_END, cell - from->back, a, side))
      return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

PetscReal smaller_slope(PetscReal near, PetscReal next)
{
  if (near * next <= 0.)
    return 0.;
  return PetscAbsReal(near) < PetscAbsReal(next) ? near : next;
}

PetscReal slope_at_end(PetscReal near, PetscReal next)
{
  const PetscReal slope = near + 0.5 * (near - next), most = 2. * smaller_slope(near, next);

  return near > 0. ? PetscMax(0., PetscMin(slope, most)) : PetscMin(0., PetscMax(slope, most));
}

/* n . grad u, times the width of a cell. */
static PetscReal outward_slope(const Continued *from, PetscInt c, PetscReal h)
{
  PetscReal slope = 0., square = 0.;

  for (PetscInt a = 0; a < from->box->dimension; a++) {
    const PetscInt  stride = from->box->stride[a];
    const PetscReal rise = face_distance(from, c + stride) - face_distance(from, c - stride);
    const PetscInt  inward = rise > 0. ? -stride : stride;

    square += rise * rise;
    if (is_known(from, c + inward) && is_known(from, c + 2 * inward) &&
        is_seen(from, c, a, rise > 0. ? -1 : 1))
      slope += PetscAbsReal(rise) *
               from->limiter(from->u[c] - from->u[c + inward], from->u[c + inward] - from->u[c + 2 * inward]);
  }
  return square > PetscSqr(MILLRACE_ROUND_OFF * h) ? slope / PetscSqrtReal(square) : 0.;
}

/* Faces near the interface, where slopes and distances are needed. */
static inline PetscBool is_near(const Continued *from, PetscInt c, PetscReal h)
{
  return PetscAbsReal(face_distance(from, c)) < (3. - MILLRACE_ROUND_OFF) * h ? PETSC_TRUE : PETSC_FALSE;
}

typedef void (*FaceWork)(const Continued *from, PetscInt c, PetscReal h, PetscReal *slope, PetscReal *place);

static void take_slope(const Continued *from, PetscInt c, PetscReal h, PetscReal *slope, PetscReal *place)
{
  const PetscBool wanted = is_near(from, c, h) && is_known(from, c) ? PETSC_TRUE : PETSC_FALSE;

  slope[c] = wanted ? outward_slope(from, c, h) / h : 0.;
  place[c] = face_distance(from, c);
}

static void add_slope(const Continued *from, PetscInt c, PetscReal h, PetscReal *slope, PetscReal *place)
{
  const PetscReal way = face_distance(from, c) - place[c];

  if (is_near(from, c, h) && !is_known(from, c))
    ((PetscReal *)from->u)[c] += slope[c] * PetscMax(0., PetscMin(way, farthest * h));
}

static PetscErrorCode VisitFaces(Phase phase, PetscInt d, Continued *from, FaceWork work, PetscReal *slope,
                                 PetscReal *place)
{
  const PetscReal h = grid_spacing(phase->grid);
  const GridRange faces = grid_faces(phase->grid, d);

  PetscFunctionBegin;
  FOR_CELLS(&faces, i, j, k)
    work(from, box_index(from->box, i, j, k), h, slope, place);
  PetscFunctionReturn(0);
}

/* One pass over the faces of all directions with the fields behind the arrays. */
static PetscErrorCode Visit(Continued from, Vec distance, Vec known, Vec faces[DIM], Vec slopes[DIM],
                            Vec places[DIM], FaceWork work)
{
  const Phase phase = from.phase;
  PetscReal  *u[DIM], *slope[DIM], *place[DIM];

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(distance, &from.distance));
  PetscCall(VecGetArrayRead(known, &from.known));
  PetscCall(MacGridGetFaces(phase->grid, faces, u));
  PetscCall(MacGridGetFaces(phase->grid, slopes, slope));
  PetscCall(MacGridGetFaces(phase->grid, places, place));
  for (PetscInt d = 0; d < from.box->dimension; d++) {
    from.back = from.box->stride[d];
    from.u = u[d];
    PetscCall(VisitFaces(phase, d, &from, work, slope[d], place[d]));
  }
  PetscCall(MacGridRestoreFaces(phase->grid, places, place));
  PetscCall(MacGridRestoreFaces(phase->grid, slopes, slope));
  PetscCall(MacGridRestoreFaces(phase->grid, faces, u));
  PetscCall(VecRestoreArrayRead(known, &from.known));
  PetscCall(VecRestoreArrayRead(distance, &from.distance));
  PetscFunctionReturn(0);
}

PetscErrorCode PhaseContinue(Phase phase, Vec distance, Vec known, SlopeLimiter limiter, Vec faces[DIM])
{
  const Continued from = {.phase = phase, .limiter = limiter, .box = grid_box(phase->grid)};
  const PetscInt  layers[] = {BAND_CELLS, (PetscInt)farthest + 1, (PetscInt)farthest + 1};
  Vec             slopes[DIM], places[DIM];
  Vec *const      together[] = {faces, slopes, places};

  PetscFunctionBegin;
  PetscCall(MacGridCreateFaceField(phase->grid, slopes));
  PetscCall(MacGridCreateFaceField(phase->grid, places));
  PetscCall(Visit(from, distance, known, faces, slopes, places, take_slope));
  PetscCall(ExtendFaces(phase->grid, phase->visibility_map, distance, known, 3, layers, together));
  PetscCall(Visit(from, distance, known, faces, slopes, places, add_slope));
  PetscCall(MacGridExchangeFaces(phase->grid, faces));
  PetscCall(MacGridDestroyFaceField(places));
  PetscCall(MacGridDestroyFaceField(slopes));
  PetscFunctionReturn(0);
}
