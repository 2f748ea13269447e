/* Bodies as triangles in the world, near this rank, with their periodic images. Position, mass and bounds of
   all bodies are on every rank, triangles only of those whose bounds reach its part of the box. */
#include "coupling_impl.h"

#include <millrace/solid_step.h>

PetscErrorCode PlacedSolidsDropBodies(PlacedSolids *solids)
{
  PetscFunctionBegin;
  for (PetscInt b = 0; b < solids->count; b++) {
    PetscCall(PetscFree(solids->bodies[b].vertices));
    PetscCall(PetscFree2(solids->bodies[b].prism.vertices, solids->bodies[b].prism.triangles));
  }
  PetscCall(PetscFree(solids->bodies));
  PetscCall(PetscFree3(solids->by_slot, solids->near, solids->offsets));
  solids->count = solids->free_count = solids->near_count = 0;
  PetscFunctionReturn(0);
}

static void widen(Vector3 *low, Vector3 *high, Vector3 point)
{
  for (PetscInt d = 0; d < DIM; d++) {
    low->at[d] = PetscMin(low->at[d], point.at[d]);
    high->at[d] = PetscMax(high->at[d], point.at[d]);
  }
}

static void find_bounds(Placed *placed)
{
  const PetscReal far = PETSC_MAX_REAL;

  if (!placed->triangles.vertex_count)
    return;
  placed->low = vector3(far, far, far);
  placed->high = vector3(-far, -far, -far);
  for (PetscInt v = 0; v < placed->triangles.vertex_count; v++)
    widen(&placed->low, &placed->high, placed->triangles.vertices[v]);
}

static inline Vector3 placed_vertex(const CoupledBody *body, Vector3 vertex)
{
  return vector3_add(body->position, quaternion_rotate(body->rotation, vertex));
}

/* Whether bounds, or an image of them, come within so many cells of this rank's part of the box. */
static PetscBool reach_rank(MacGrid grid, Vector3 low, Vector3 high, PetscReal cells)
{
  const GridBox  *box = grid_box(grid);
  const PetscReal h = grid_spacing(grid);
  PetscInt        first, last;

  for (PetscInt d = 0; d < box->dimension; d++) {
    const PetscReal slack = 0.1 * (high.at[d] - low.at[d]),
                    period = box->periodic[d] ? box->cells[d] * h : 0.,
                    start = grid_origin(grid).at[d] + ((PetscReal)box->start[d] - cells) * h - slack,
                    end = grid_origin(grid).at[d] + ((PetscReal)box->end[d] + cells) * h + slack;

    if (!images_between(period, start, end, low.at[d], high.at[d], &first, &last))
      return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

/* A shell is seen from as far as queries reach beyond the ghosts, at both moments. */
PetscBool coupling_is_near(Coupling coupling, const CoupledBody *body, const EarlierPlace *before)
{
  const PetscInt  ghosts = grid_box(coupling->grid)->ghost;
  const PetscReal cells = body->thickness > 0. ? (PetscReal)(ghosts + VISIBILITY_REACH + 1) : 3.;

  return reach_rank(coupling->grid, body->low, body->high, cells) ||
         (body->thickness > 0. && before && reach_rank(coupling->grid, before->low, before->high, cells));
}

/* By the divergence theorem along x, which needs no ends of a prism: V = int x n_x, and x/2, y, z times that
   for the moments, exact at the middles of edges. */
static void add_solid(const Vector3 corner[3], PetscReal *volume, Vector3 *moment)
{
  const PetscReal area =
      0.5 *
      vector3_cross(vector3_subtract(corner[1], corner[0]), vector3_subtract(corner[2], corner[0])).at[X];

  for (PetscInt n = 0; n < 3; n++) {
    const Vector3   middle = vector3_scale(0.5, vector3_add(corner[n], corner[(n + 1) % 3]));
    const PetscReal part = area / 3. * middle.at[X];

    *volume += part;
    *moment =
        vector3_add(*moment, vector3(0.5 * part * middle.at[X], part * middle.at[Y], part * middle.at[Z]));
  }
}

static void add_shell(const Vector3 corner[3], PetscReal thickness, PetscReal *volume, Vector3 *moment)
{
  const PetscReal part = 0.5 * thickness *
                         vector3_norm(vector3_cross(vector3_subtract(corner[1], corner[0]),
                                                    vector3_subtract(corner[2], corner[0])));
  const Vector3 sum = vector3_add(corner[0], vector3_add(corner[1], corner[2]));

  *volume += part;
  *moment = vector3_add(*moment, vector3_scale(part / 3., sum));
}

static void find_displaced(Placed *placed)
{
  const Triangles *triangles = &placed->triangles;
  Vector3          moment = vector3(0, 0, 0), corner[3];

  placed->volume = 0.;
  for (PetscInt t = 0; t < triangles->triangle_count; t++) {
    for (PetscInt c = 0; c < 3; c++)
      corner[c] = vector3_subtract(triangles->vertices[triangles->triangles[t][c]], placed->body.position);
    if (placed->body.thickness > 0.)
      add_shell(corner, placed->body.thickness, &placed->volume, &moment);
    else
      add_solid(corner, &placed->volume, &moment);
  }
  placed->centre = placed->volume > 0. ? vector3_scale(1. / placed->volume, moment) : vector3(0, 0, 0);
}

static PetscErrorCode MakeTriangles(Coupling coupling, Placed *placed)
{
  PetscInt       vertex_count, triangle_count;
  const Vector3 *vertices;
  const PetscInt(*triangles)[3];

  PetscFunctionBegin;
  PetscCall(SurfaceGet(placed->body.surface, &vertex_count, &vertices, &triangle_count, &triangles));
  PetscCall(PetscMalloc1(vertex_count, &placed->vertices));
  for (PetscInt v = 0; v < vertex_count; v++)
    placed->vertices[v] = placed_vertex(&placed->body, vertices[v]);
  placed->triangles = (Triangles){vertex_count, triangle_count, placed->vertices, triangles};
  if (grid_box(coupling->grid)->dimension == 2) {
    PetscCall(TrianglesSlice(&placed->triangles, grid_origin(coupling->grid).at[Z], &placed->prism));
    PetscCall(PetscFree(placed->vertices));
    placed->triangles = (Triangles){placed->prism.vertex_count, placed->prism.triangle_count,
                                    placed->prism.vertices, (const PetscInt(*)[3])placed->prism.triangles};
  }
  find_bounds(placed);
  find_displaced(placed);
  if (grid_box(coupling->grid)->dimension == 2)
    placed->centre.at[Z] = 0.; /* in the plane */
  PetscFunctionReturn(0);
}

static PetscErrorCode DropTriangles(Placed *placed)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(placed->vertices));
  PetscCall(PetscFree2(placed->prism.vertices, placed->prism.triangles));
  placed->triangles = (Triangles){0};
  PetscFunctionReturn(0);
}

static PetscBool has_bounds(const CoupledBody *body)
{
  for (PetscInt d = 0; d < DIM; d++)
    if (body->low.at[d] != body->high.at[d])
      return PETSC_TRUE;
  return PETSC_FALSE;
}

/* The triangles of a body if it is near; one that does not say where it is has them made to find out. */
static PetscErrorCode TakeTriangles(Coupling coupling, Placed *placed, const EarlierPlace *before)
{
  const PetscBool is_known = has_bounds(&placed->body);

  PetscFunctionBegin;
  if (!is_known) {
    PetscCall(MakeTriangles(coupling, placed));
    placed->body.low = placed->low;
    placed->body.high = placed->high;
  }
  if (!coupling_is_near(coupling, &placed->body, before))
    PetscCall(DropTriangles(placed));
  else if (is_known)
    PetscCall(MakeTriangles(coupling, placed));
  PetscFunctionReturn(0);
}

/* A body without a surface is not near. */
static PetscErrorCode TakeNear(Coupling coupling)
{
  PlacedSolids *solids = &coupling->solids;

  PetscFunctionBegin;
  for (PetscInt b = 0; b < solids->count; b++) {
    Placed *placed = &solids->bodies[b];

    if (placed->body.surface)
      PetscCall(TakeTriangles(coupling, placed, place_before(solids, solids->count, b)));
    if (placed->triangles.triangle_count)
      solids->near[solids->near_count++] = b;
  }
  PetscFunctionReturn(0);
}

/* Free bodies have theirs; the others follow. */
static void number_slots(PlacedSolids *solids)
{
  PetscInt next = solids->free_count;

  for (PetscInt b = 0; b < solids->count; b++) {
    solids->bodies[b].slot = solids->bodies[b].free >= 0 ? solids->bodies[b].free : next++;
    solids->by_slot[solids->bodies[b].slot] = b;
  }
}

PetscErrorCode CouplingTakeBodies(Coupling coupling, PetscInt count, const CoupledBody bodies[])
{
  PetscFunctionBegin;
  PetscCall(PlacedSolidsDropBodies(&coupling->solids));
  PetscCall(PetscCalloc1(count, &coupling->solids.bodies));
  PetscCall(PetscCalloc3(count, &coupling->solids.by_slot, count, &coupling->solids.near, DIM * count,
                         &coupling->solids.offsets));
  coupling->solids.count = count;
  for (PetscInt b = 0; b < count; b++) {
    Placed *placed = &coupling->solids.bodies[b];

    placed->body = bodies[b];
    placed->body.is_free = bodies[b].is_free && !bodies[b].is_enclosed ? PETSC_TRUE : PETSC_FALSE;
    placed->free = -1;
    PetscCheck(!bodies[b].is_free || bodies[b].mass > 0., coupling->world, PETSC_ERR_ARG_OUTOFRANGE,
               "Body %" PetscInt_FMT " is free and needs a positive mass, not %g", b, (double)bodies[b].mass);
    if (placed->body.is_free) {
      placed->free = coupling->solids.free_count;
      coupling->solids.by_slot[coupling->solids.free_count++] = b;
    }
  }
  number_slots(&coupling->solids);
  if (has_fluid(coupling))
    PetscCall(TakeNear(coupling));
  PetscFunctionReturn(0);
}

SurfaceImages surface_images(MacGrid grid, Vector3 surface_low, Vector3 surface_high)
{
  const GridBox  *box = grid_box(grid);
  const Vector3   origin = grid_origin(grid);
  const PetscReal h = grid_spacing(grid);
  SurfaceImages   images = {{0, 0, 0}, {0, 0, 0}, {{0, 0, 0}}};

  for (PetscInt d = 0; d < box->dimension; d++) {
    const PetscReal low = origin.at[d] + (box->start[d] - 2) * h, high = origin.at[d] + (box->end[d] + 2) * h;

    images.period.at[d] = box->cells[d] * h;
    images_between(box->periodic[d] ? images.period.at[d] : 0., low, high, surface_low.at[d],
                   surface_high.at[d], &images.first[d], &images.last[d]);
    if (surface_low.at[d] <= origin.at[d] - 2 * h &&
        surface_high.at[d] >= origin.at[d] + (box->cells[d] + 2) * h) /* a floor has no images */
      images.first[d] = images.last[d] = 0;
  }
  return images;
}

PetscErrorCode CouplingVisitImages(Coupling coupling, ImageVisitor visit, const void *context)
{
  PetscFunctionBegin;
  for (PetscInt m = 0; m < coupling->solids.near_count; m++) {
    const PetscInt      b = coupling->solids.near[m];
    const SurfaceImages images =
        surface_images(coupling->grid, coupling->solids.bodies[b].low, coupling->solids.bodies[b].high);
    PetscInt n[DIM];

    for (n[Z] = images.first[Z]; n[Z] <= images.last[Z]; n[Z]++)
      for (n[Y] = images.first[Y]; n[Y] <= images.last[Y]; n[Y]++)
        for (n[X] = images.first[X]; n[X] <= images.last[X]; n[X]++)
          PetscCall(visit(
              coupling, b,
              vector3(n[X] * images.period.at[X], n[Y] * images.period.at[Y], n[Z] * images.period.at[Z]),
              context));
  }
  PetscFunctionReturn(0);
}

/* Cells with two ghost layers; faces of all owned cells. The lattice is shifted instead of the body. */
PetscBool coupling_lattice(Coupling coupling, PetscInt body, PetscInt direction, Vector3 shift,
                           Lattice *lattice)
{
  const GridBox  *box = grid_box(coupling->grid);
  const Placed   *placed = &coupling->solids.bodies[body];
  const PetscReal h = coupling->spacing;

  lattice->origin = vector3_subtract(grid_origin(coupling->grid), shift);
  lattice->spacing = vector3(h, h, h);
  if (direction != CELLS)
    lattice->origin.at[direction] -= 0.5 * h;
  for (PetscInt d = 0; d < DIM; d++) {
    const PetscReal low = (placed->low.at[d] - lattice->origin.at[d]) / h,
                    high = (placed->high.at[d] - lattice->origin.at[d]) / h;
    const PetscInt before = direction == CELLS ? 2 : 0, after = direction == CELLS ? 2
                                                                : direction == d   ? 1
                                                                                   : 0;

    lattice->first[d] = (PetscInt)PetscMax(PetscFloorReal(low) - 1., -before);
    lattice->start[d] = PetscMax(lattice->first[d], box->start[d] - before);
    lattice->end[d] = (PetscInt)PetscMin(PetscFloorReal(high) + 2., box->end[d] + after);
  }
  if (box->dimension == 2) {
    lattice->origin.at[Z] -= 0.5;
    lattice->spacing.at[Z] = 1.;
    lattice->first[Z] = lattice->start[Z] = 0;
    lattice->end[Z] = 1;
  }
  return lattice_size(lattice) > 0 ? PETSC_TRUE : PETSC_FALSE;
}

Vector3 coupling_arm(Coupling coupling, PetscInt direction, const PetscInt at[DIM], PetscInt body,
                     Vector3 shift)
{
  Vector3 arm = vector3_subtract(grid_face_centre(coupling->grid, direction, at[X], at[Y], at[Z]),
                                 vector3_add(coupling->solids.bodies[body].body.position, shift));

  if (grid_box(coupling->grid)->dimension == 2)
    arm.at[Z] = 0.;
  return vector3_add(arm, coupling->solids.offsets[DIM * body + direction]);
}

Vector3 coupling_nearest_arm(Coupling coupling, PetscInt direction, const PetscInt at[DIM], PetscInt body)
{
  const GridBox *box = grid_box(coupling->grid);
  Vector3        arm = coupling_arm(coupling, direction, at, body, vector3(0, 0, 0));

  for (PetscInt d = 0; d < box->dimension; d++)
    if (box->periodic[d])
      arm.at[d] = nearest_image(arm.at[d], box->cells[d] * coupling->spacing);
  return arm;
}
