/* Solids whose surfaces deform (docs/numerics.md, section 14). With B of their unknowns from patch_rows.c and
   C of the solid they add to (5.13) what bodies do; eliminated,

     S = A + B_r C_r^-1 B_r^T + B_d R C^-1 R^T B_d^T,

   where R takes the unknowns of the solid to the velocities of its surface. C is on the solid team, and all
   else is with the fluid, so that ranks without fluid answer requests while the fluid team solves: forces on
   the surface come to them, are divided by C, and go back as velocities.

   To all that knows bodies such a surface is one at rest: it covers cells, makes faces mixed and closes them,
   and what it brings into cells comes through its own rows. The fluid of a closed face moves with the nearest
   place of the surface, its mass is lumped to the vertices: where the pressure of a piece of the surface in a
   dual cell is taken at one of its ends, the weight of that fluid is what is missing to Archimedes' force.
   Sums over ranks of forces on copies are those of a star forest, in an order that depends on the ranks. */
#include "coupling_impl.h"

typedef enum {
  REQUEST_END,
  REQUEST_SOLVE, /* velocities that forces on the surface make: R C^-1 R^T f */
  REQUEST_STIFF, /* the same with C_s of soft_surfaces.c */
  REQUEST_KNOW,  /* whether there is C_s */
  REQUEST_CLEAN, /* the same, without what is round-off of a sum of forces that cancel */
  REQUEST_PUSH,  /* those of the right side alone: R C^-1 b */
  REQUEST_FINISH /* those of both: V = C^-1 (b - R^T f), which the solid keeps */
} Request;

static PatchReach reach_of(MacGrid grid)
{
  const GridBox  *box = grid_box(grid);
  const PetscReal h = grid_spacing(grid), cells = 3.;
  PatchReach      reach = {.low = grid_origin(grid), .high = grid_origin(grid)};

  for (PetscInt d = 0; d < DIM; d++) {
    reach.low.at[d] += ((PetscReal)box->start[d] - cells) * h;
    reach.high.at[d] += ((PetscReal)box->end[d] + cells) * h;
    reach.period.at[d] = box->periodic[d] ? (PetscReal)box->cells[d] * h : 0.;
  }
  if (box->dimension == 2) { /* prisms of unit depth */
    reach.low.at[Z] -= 1.;
    reach.high.at[Z] += 1.;
  }
  return reach;
}

PetscErrorCode DeformingClear(DeformingSolids *deforming)
{
  PetscFunctionBegin;
  PetscCall(SolidPatchesDestroy(&deforming->patches));
  PetscCall(PetscFree(deforming->rows.rows));
  PetscCall(PetscFree(deforming->has_pressure));
  PetscCall(VecDestroy(&deforming->sweep));
  PetscCall(PetscFree(deforming->faces));
  for (PetscInt p = 0; p < deforming->count && deforming->surfaces; p++)
    PetscCall(SurfaceDestroy(&deforming->surfaces[p]));
  PetscCall(PetscFree4(deforming->thickness, deforming->areas, deforming->patch_of, deforming->surfaces));
  PetscCall(PetscFree2(deforming->masses, deforming->numbers));
  PetscCall(PetscFree4(deforming->copies, deforming->motion, deforming->surface, deforming->push));
  *deforming = (DeformingSolids){0};
  PetscFunctionReturn(0);
}

/* Vertices are numbered through all ranks; everybody has their masses. */
static PetscErrorCode NumberVertices(Coupling coupling)
{
  DeformingSolids     *deforming = &coupling->deforming;
  const SolidOperator *solid = deforming->solid;
  const PetscInt       own = solid && solid->masses ? solid->surface_count / DIM : 0;
  PetscMPIInt          size, rank, own_count = (PetscMPIInt)own, *counts, *firsts, sum = 0;
  PetscReal           *numbers, *copies;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(coupling->world, &size));
  PetscCallMPI(MPI_Comm_rank(coupling->world, &rank));
  PetscCall(PetscMalloc2(size, &counts, size, &firsts));
  PetscCallMPI(MPI_Allgather(&own_count, 1, MPI_INT, counts, 1, MPI_INT, coupling->world));
  for (PetscMPIInt r = 0; r < size; sum += counts[r++])
    firsts[r] = sum;
  deforming->vertex_count = sum;
  PetscCall(PetscMalloc2(sum, &deforming->masses, deforming->copy_count, &deforming->numbers));
  PetscCallMPI(MPI_Allgatherv(own ? solid->masses : NULL, own_count, MPIU_REAL, deforming->masses, counts,
                              firsts, MPIU_REAL, coupling->world));
  PetscCall(PetscMalloc2(solid ? solid->surface_count : 0, &numbers, deforming->copy_count, &copies));
  for (PetscInt n = 0; solid && n < solid->surface_count; n++)
    numbers[n] = (PetscReal)(DIM * firsts[rank] + n);
  PetscCall(SolidPatchesTell(deforming->patches, numbers, copies));
  for (PetscInt n = 0; n < deforming->copy_count; n++)
    deforming->numbers[n] = (PetscInt)copies[n];
  PetscCall(PetscFree2(numbers, copies));
  PetscCall(PetscFree2(counts, firsts));
  PetscFunctionReturn(0);
}

PetscInt coupling_vertex_velocities(Coupling coupling)
{
  return DIM * coupling->deforming.vertex_count;
}

PetscErrorCode CouplingSetDeforming(Coupling coupling, PetscInt total, PetscInt count,
                                    const SolidPatch whole[], const SolidOperator *solid)
{
  DeformingSolids *deforming = &coupling->deforming;
  const PetscInt   own = solid ? solid->surface_count : 0;
  PatchReach       reach = {0};

  PetscFunctionBegin;
  PetscCheck(!total || coupling->config.faces == COUPLING_CUT, coupling->world, PETSC_ERR_SUP,
             "Surfaces that deform need cut faces");
  PetscCall(DeformingClear(deforming));
  if (!total)
    PetscFunctionReturn(0);
  if (has_fluid(coupling))
    reach = reach_of(coupling->grid);
  PetscCall(SolidPatchesCreate(coupling->world, count, whole, own, has_fluid(coupling) ? &reach : NULL,
                               &deforming->patches));
  PetscCall(SolidPatchesGet(deforming->patches, &deforming->count, &deforming->received));
  deforming->total = total;
  deforming->copy_count = solid_patches_unknowns(deforming->patches);
  PetscCall(PetscCalloc4(total, &deforming->thickness, deforming->copy_count, &deforming->areas, total,
                         &deforming->patch_of, deforming->count, &deforming->surfaces));
  for (PetscInt p = 0; p < count; p++) /* all ranks know which are shells */
    deforming->thickness[whole[p].surface] = whole[p].thickness;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, deforming->thickness, (PetscMPIInt)total, MPIU_REAL, MPIU_MAX,
                             coupling->world));
  deforming->solid = solid;
  PetscCall(CouplingFindHolder(coupling));
  PetscCall(NumberVertices(coupling));
  PetscCall(PetscCalloc4(deforming->copy_count, &deforming->copies, deforming->copy_count, &deforming->motion,
                         own, &deforming->surface, solid ? solid->unknown_count : 0, &deforming->push));
  PetscCall(CouplingTellDeforming(coupling));
  PetscFunctionReturn(0);
}

/* What lies inside does so by crossings on the left of it: a part that ends before this rank may still cover
   all of it. */
static void place_patch(const SolidPatch *patch, const PatchReach *reach, Placed *placed)
{
  placed->triangles = (Triangles){patch->vertex_count, patch->triangle_count, patch->now, patch->triangles};
  placed->low = placed->high = patch->now[0];
  for (PetscInt v = 1; v < patch->vertex_count; v++)
    for (PetscInt d = 0; d < DIM; d++) {
      placed->low.at[d] = PetscMin(placed->low.at[d], patch->now[v].at[d]);
      placed->high.at[d] = PetscMax(placed->high.at[d], patch->now[v].at[d]);
    }
  if (!(reach->period.at[X] > 0.) && !(patch->thickness > 0.))
    placed->high.at[X] = PetscMax(placed->high.at[X], reach->high.at[X]);
  placed->body.slips = patch->slips;
  placed->volume = patch->volume;
  placed->centre = vector3_subtract(patch->centre, placed->body.position);
  placed->body.low = placed->low;
  placed->body.high = placed->high;
}

PetscErrorCode CouplingPlaceDeforming(Coupling coupling)
{
  const DeformingSolids *deforming = &coupling->deforming;
  PlacedSolids          *solids = &coupling->solids;
  const PetscInt         first = solids->count - deforming->total;
  const PatchReach       reach = reach_of(coupling->grid);

  PetscFunctionBegin;
  for (PetscInt s = 0; s < deforming->total; s++)
    deforming->patch_of[s] = -1;
  for (PetscInt p = 0; p < deforming->count; p++) {
    const SolidPatch *patch = &deforming->received[p];
    const PetscInt    body = first + patch->surface;

    PetscCheck(body >= first && body < solids->count, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
               "Surfaces that deform are numbered from 0 to %" PetscInt_FMT ", not %" PetscInt_FMT,
               deforming->total - 1, patch->surface);
    place_patch(patch, &reach, &solids->bodies[body]);
    solids->near[solids->near_count++] = body;
    deforming->patch_of[patch->surface] = p;
    if (!deforming->surfaces[p])
      PetscCall(SurfaceCreate(patch->vertex_count, patch->now, patch->triangle_count, patch->triangles,
                              &deforming->surfaces[p]));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode CouplingMarkPressures(Coupling coupling)
{
  DeformingSolids *deforming = &coupling->deforming;
  const GridBox   *box = grid_box(coupling->grid);
  const GridRange  range = box_grown(box, 1);
  Vec              field, owned;
  PetscReal       *values;

  PetscFunctionBegin;
  if (!deforming->patches)
    PetscFunctionReturn(0);
  if (!deforming->has_pressure)
    PetscCall(PetscCalloc1(box->length, &deforming->has_pressure));
  PetscCall(MacGridCreateField(coupling->grid, &field));
  PetscCall(VecDuplicate(coupling->system.flow, &owned));
  PetscCall(VecGetArray(owned, &values));
  for (PetscInt c = 0; c < coupling->cell_count; c++)
    values[c] = coupling->system.labels[c] >= 0 ? 1. : 0.;
  PetscCall(VecRestoreArray(owned, &values));
  PetscCall(MacGridFromSolver(coupling->grid, owned, field));
  PetscCall(MacGridExchange(coupling->grid, field));
  PetscCall(VecGetArray(field, &values));
  FOR_CELLS(&range, i, j, k) {
    const PetscInt c = box_index(box, i, j, k);

    deforming->has_pressure[c] = values[c] > 0. ? 1 : 0;
  }
  PetscCall(VecRestoreArray(field, &values));
  PetscCall(VecDestroy(&owned));
  PetscCall(VecDestroy(&field));
  PetscFunctionReturn(0);
}

/* The place of the image of a face that is nearest to a surface. */
static Vector3 image_near(Coupling coupling, const SolidPatch *patch, Vector3 place)
{
  const GridBox *box = grid_box(coupling->grid);

  for (PetscInt e = 0; e < DIM; e++) {
    const PetscReal period = box->cells[e] * coupling->spacing;

    if (box->periodic[e])
      place.at[e] -= period * PetscFloorReal((place.at[e] - patch->centre.at[e]) / period + 0.5);
  }
  return place;
}

/* A face that moves with a surface, by `part` of it, does so with the place that is nearest. */
static SolidRow face_row(Coupling coupling, PetscInt p, PetscInt d, const PetscInt at[DIM], PetscReal part)
{
  const SolidPatch *patch = &coupling->deforming.received[p];
  const Vector3 place = image_near(coupling, patch, grid_face_centre(coupling->grid, d, at[X], at[Y], at[Z]));
  SolidRow      row = {.count = 3};
  Vector3       corner[3], nearest;
  const PetscInt *corners =
      patch->triangles[surface_nearest_triangle(coupling->deforming.surfaces[p], place, &nearest)];

  for (PetscInt n = 0; n < 3; n++) {
    corner[n] = patch->now[corners[n]];
    row.dof[n] = patch->unknown[corners[n]] + d;
  }
  triangle_weights(corner, nearest, row.weight);
  for (PetscInt n = 0; n < 3; n++)
    row.weight[n] *= part;
  return row;
}

PetscBool coupling_deforms(Coupling coupling, PetscInt body)
{
  return body >= coupling->solids.count - coupling->deforming.total ? PETSC_TRUE : PETSC_FALSE;
}

SolidRow coupling_nearest_row(Coupling coupling, PetscInt d, const PetscInt at[DIM], PetscInt body)
{
  const DeformingSolids *deforming = &coupling->deforming;
  const PetscInt         surface = body - (coupling->solids.count - deforming->total);
  SolidRow               row = face_row(coupling, deforming->patch_of[surface], d, at, 1.);

  for (PetscInt n = 0; n < row.count; n++)
    row.dof[n] = TWIST * coupling->solids.count + deforming->numbers[row.dof[n]];
  return row;
}

PetscReal coupling_part_in_face(Coupling coupling, PetscInt d, const PetscInt at[DIM], PetscInt body)
{
  const FaceMap *faces = &coupling->faces;
  const PetscInt c = box_index(grid_box(coupling->grid), at[X], at[Y], at[Z]), kind = faces->kinds[d][c];
  PetscReal      part = 0.;

  if (kind == COUPLED_SOLID)
    return faces->solid[c] - 1 == body ? 1. : 0.;
  if (kind < 0 || faces->mixed[kind].open > 0.)
    return 0.;
  for (PetscInt s = 0; s < faces->mixed[kind].count; s++) {
    const InterpolationEntry *entry = &faces->entries[faces->mixed[kind].first + s];

    part += entry->body == body ? entry->weight : 0.;
  }
  return part;
}

PetscReal coupling_rest_of_face(Coupling coupling, PetscInt d, const PetscInt at[DIM])
{
  const DeformingSolids *deforming = &coupling->deforming;
  const GridBox         *box = grid_box(coupling->grid);
  const PetscInt         c = box_index(box, at[X], at[Y], at[Z]), kind = coupling->faces.kinds[d][c];
  PetscReal              rest = 1.;

  if (!deforming->patches || kind < 0 || coupling->faces.mixed[kind].open > 0. ||
      !deforming->has_pressure[c] || !deforming->has_pressure[c - box->stride[d]])
    return 1.;
  for (PetscInt s = 0; s < coupling->faces.mixed[kind].count; s++) {
    const InterpolationEntry *entry = &coupling->faces.entries[coupling->faces.mixed[kind].first + s];

    if (coupling_deforms(coupling, entry->body) &&
        !(coupling->solids.bodies[entry->body].body.thickness > 0.))
      rest -= entry->volume / coupling->volume;
  }
  return PetscMax(rest, 0.);
}

/* What the pieces of closed surfaces leave between two pressures is pushed by their difference, too: of a
   shell on faces that it does not block. */
static PetscErrorCode AddRest(Coupling coupling, PetscInt d, const PetscInt at[DIM], const SolidRow *row)
{
  const GridBox  *box = grid_box(coupling->grid);
  const PetscReal rest = coupling_rest_of_face(coupling, d, at);

  PetscFunctionBegin;
  for (PetscInt side = 0; side < 2 && rest > 0.; side++) {
    PetscInt place[DIM] = {at[X], at[Y], at[Z]}, cell;
    SolidRow flow = *row;

    place[d] += side - 1;
    cell = owned_cell_number(box, place);
    for (PetscInt n = 0; n < flow.count; n++)
      flow.weight[n] *= (side ? 1. : -1.) * coupling->area * rest;
    if (cell >= 0)
      PetscCall(CellRowsAdd(&coupling->deforming.rows, cell, &flow));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode AddFace(Coupling coupling, PetscInt d, const PetscInt at[DIM], const SolidRow *row,
                              PetscInt body)
{
  const GridBox   *box = grid_box(coupling->grid);
  DeformingSolids *deforming = &coupling->deforming;
  const PetscInt   c = box_index(box, at[X], at[Y], at[Z]), kind = coupling->faces.kinds[d][c];
  const PetscBool  is_blocked =
      coupling->faces.marks[d][c] == 1 + body || coupling->faces.seconds[d][c] == 1 + body ? PETSC_TRUE
                                                                                            : PETSC_FALSE;

  PetscFunctionBegin;
  if (!(coupling->solids.bodies[body].body.thickness > 0. && is_blocked) && kind >= 0 &&
      deforming->has_pressure[c] && deforming->has_pressure[c - box->stride[d]])
    PetscCall(AddRest(coupling, d, at, row));
  if (at[d] >= grid_faces(coupling->grid, d).end[d])
    PetscFunctionReturn(0); /* another rank's */
  PetscCall(GrowList(deforming->face_count, &deforming->face_room, &deforming->faces));
  deforming->faces[deforming->face_count++] =
      (FaceRow){d, c, kind >= 0 ? coupling->faces.mixed[kind].mass : 0., *row};
  PetscFunctionReturn(0);
}

/* Faces of owned cells, upper ones included. */
static PetscErrorCode FindFaces(Coupling coupling, PetscInt p)
{
  const SolidPatch *patch = &coupling->deforming.received[p];
  const PetscInt    body = coupling->solids.count - coupling->deforming.total + patch->surface;
  const GridBox    *box = grid_box(coupling->grid);

  PetscFunctionBegin;
  for (PetscInt d = 0; d < box->dimension; d++) {
    const GridRange range = box_faces(box, d);

    FOR_CELLS(&range, i, j, k) {
      const PetscInt  at[DIM] = {i, j, k};
      const PetscReal part = coupling_part_in_face(coupling, d, at, body);

      if (part > 0.) {
        const SolidRow row = face_row(coupling, p, d, at, part);

        PetscCall(AddFace(coupling, d, at, &row, body));
      }
    }
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode BuildShell(Coupling coupling, const SolidPatch *patch, PetscInt body)
{
  DeformingSolids *deforming = &coupling->deforming;
  PetscBool        closes;

  PetscFunctionBegin;
  PetscCall(CouplingAddShellRows(coupling, patch, body, deforming->has_pressure, &deforming->rows,
                                 deforming->areas));
  PetscCall(CouplingFindEnds(coupling, patch, &closes));
  for (PetscInt n = 0; n < 3 * patch->vertex_count && !closes; n++)
    deforming->areas[patch->unknown[n / 3] + n % 3] = 0.;
  PetscFunctionReturn(0);
}

PetscErrorCode CouplingBuildDeforming(Coupling coupling)
{
  DeformingSolids *deforming = &coupling->deforming;
  const PetscInt   first = coupling->solids.count - deforming->total;

  PetscFunctionBegin;
  deforming->rows.count = deforming->face_count = 0;
  PetscCall(PetscArrayzero(deforming->areas, deforming->copy_count));
  for (PetscInt p = 0; p < deforming->count; p++) {
    const SolidPatch *patch = &deforming->received[p];

    PetscCheck(!(patch->thickness > 0.) || grid_box(coupling->grid)->dimension == DIM, PETSC_COMM_SELF,
               PETSC_ERR_SUP, "Shells that deform need three dimensions");
    if (patch->thickness > 0.)
      PetscCall(BuildShell(coupling, patch, first + patch->surface));
    else
      PetscCall(CouplingAddPatchRows(coupling->grid, patch, deforming->has_pressure, &deforming->rows));
    PetscCall(FindFaces(coupling, p));
  }
  PetscFunctionReturn(0);
}

/* Forces that cancel in their sum, on a shell those of both sides: what is left of them is round-off of their
   sizes, which come instead of the forces on the surface. */
static PetscErrorCode Clean(const SolidOperator *solid, const PetscReal sizes[], PetscReal forces[])
{
  const PetscReal negligible = 1e-10;
  PetscReal       most = 0., *collected;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(solid->unknown_count, &collected));
  PetscCall(solid->Collect(solid->context, sizes, collected));
  for (PetscInt n = 0; n < solid->unknown_count; n++)
    most = PetscMax(most, PetscAbsReal(collected[n]));
  for (PetscInt n = 0; n < solid->unknown_count; n++)
    if (PetscAbsReal(forces[n]) <= negligible * most)
      forces[n] = 0.;
  PetscCall(PetscFree(collected));
  PetscFunctionReturn(0);
}

static PetscBool takes_push(Request request)
{
  return request == REQUEST_PUSH || request == REQUEST_FINISH ? PETSC_TRUE : PETSC_FALSE;
}

/* On a rank that holds the solid: from forces on the surface to velocities of it. Pressures, and with them
   forces, are scaled, C and the right side are not. */
static PetscErrorCode SolveSolid(const SolidOperator *solid, PetscReal scale, const PetscReal push[],
                                 const PetscReal sizes[], Request request, PetscReal surface[])
{
  PetscReal *forces, *velocities;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(solid->unknown_count, &forces, solid->unknown_count, &velocities));
  PetscCall(solid->Collect(solid->context, surface, forces));
  if (request == REQUEST_CLEAN)
    PetscCall(Clean(solid, sizes, forces));
  for (PetscInt n = 0; n < solid->unknown_count; n++)
    forces[n] = request == REQUEST_PUSH     ? solid->right_side[n] + push[n]
                : request == REQUEST_FINISH ? solid->right_side[n] + push[n] - forces[n] / scale
                                            : forces[n] / scale;
  PetscCall(
      (request == REQUEST_STIFF ? solid->SolveStiffened : solid->Solve)(solid->context, forces, velocities));
  for (PetscInt n = 0; n < solid->unknown_count && solid->offset && takes_push(request); n++)
    velocities[n] += solid->offset[n];
  if (request == REQUEST_FINISH)
    PetscCall(PetscArraycpy(solid->velocity, velocities, solid->unknown_count));
  if (request == REQUEST_FINISH && solid->Keep)
    PetscCall(solid->Keep(solid->context));
  PetscCall(solid->Spread(solid->context, velocities, surface));
  PetscCall(PetscFree2(forces, velocities));
  PetscFunctionReturn(0);
}

/* Collective: world. */
static PetscErrorCode KnowStiffened(Coupling coupling)
{
  DeformingSolids *deforming = &coupling->deforming;

  PetscFunctionBegin;
  if (deforming->solid)
    PetscCall(deforming->solid->Stiffen(deforming->solid->context, &deforming->is_stiffened));
  PetscCallMPI(MPI_Bcast(&deforming->is_stiffened, 1, MPIU_BOOL, deforming->holder, coupling->world));
  PetscFunctionReturn(0);
}

/* The forces in `copies`, of these sizes where they are to be cleaned, become velocities, in `result`.
   Collective: world. */
static PetscErrorCode Respond(Coupling coupling, Request request, const PetscReal copied_sizes[],
                              PetscReal result[])
{
  DeformingSolids     *deforming = &coupling->deforming;
  const SolidOperator *solid = deforming->solid;
  PetscReal           *sizes = NULL;

  PetscFunctionBegin;
  if (request == REQUEST_CLEAN) {
    PetscCall(PetscCalloc1(solid ? solid->surface_count : 0, &sizes));
    PetscCall(SolidPatchesSum(deforming->patches, copied_sizes, sizes));
  }
  if (solid)
    PetscCall(PetscArrayzero(deforming->surface, solid->surface_count));
  PetscCall(SolidPatchesSum(deforming->patches, deforming->copies, deforming->surface));
  if (solid)
    PetscCall(SolveSolid(solid, coupling->scale, deforming->push, sizes, request, deforming->surface));
  PetscCall(SolidPatchesTell(deforming->patches, deforming->surface, result));
  PetscCall(PetscFree(sizes));
  PetscFunctionReturn(0);
}

/* The first rank of the world has fluid. */
static PetscErrorCode Agree(Coupling coupling, Request *request)
{
  PetscMPIInt number = (PetscMPIInt)*request;

  PetscFunctionBegin;
  PetscCall(TeamAwaitFluid(coupling->team));
  PetscCallMPI(MPI_Bcast(&number, 1, MPI_INT, 0, coupling->world));
  *request = (Request)number;
  PetscFunctionReturn(0);
}

/* Of the forces that add up to B^T p. */
static void add_sizes(const CellRows *rows, const PetscReal *pressures, PetscReal *sizes)
{
  for (PetscInt r = 0; r < rows->count; r++)
    for (PetscInt n = 0; n < rows->rows[r].row.count; n++)
      sizes[rows->rows[r].row.dof[n]] +=
          PetscAbsReal(rows->rows[r].row.weight[n] * pressures[rows->rows[r].cell]);
}

/* On the fluid team: adds B_d times the velocities that are asked for to `cells`; forces are those of the
   pressures `from`, null: none. */
static PetscErrorCode AskSolid(Coupling coupling, Request request, Vec from, Vec cells)
{
  DeformingSolids *deforming = &coupling->deforming;
  const PetscReal *pressures;
  PetscReal       *values, *sizes = NULL;

  PetscFunctionBegin;
  PetscCall(PetscArrayzero(deforming->copies, deforming->copy_count));
  if (from) {
    PetscCall(VecGetArrayRead(from, &pressures));
    cell_rows_multiply_transpose(&deforming->rows, pressures, deforming->copies);
    if (request == REQUEST_CLEAN) {
      PetscCall(PetscCalloc1(deforming->copy_count, &sizes));
      add_sizes(&deforming->rows, pressures, sizes);
    }
    PetscCall(VecRestoreArrayRead(from, &pressures));
  }
  PetscCall(Agree(coupling, &request));
  PetscCall(Respond(coupling, request, sizes, deforming->copies));
  PetscCall(PetscFree(sizes));
  PetscCall(VecGetArray(cells, &values));
  cell_rows_multiply(&deforming->rows, deforming->copies, values);
  PetscCall(VecRestoreArray(cells, &values));
  PetscFunctionReturn(0);
}

PetscErrorCode CouplingAddDeforming(Coupling coupling, Vec x, Vec y)
{
  PetscFunctionBegin;
  if (coupling->deforming.patches)
    PetscCall(AskSolid(coupling, REQUEST_SOLVE, x, y));
  PetscFunctionReturn(0);
}

PetscErrorCode CouplingAddDeformingCleanly(Coupling coupling, Vec x, Vec y)
{
  PetscFunctionBegin;
  if (coupling->deforming.patches)
    PetscCall(AskSolid(coupling, REQUEST_CLEAN, x, y));
  PetscFunctionReturn(0);
}

PetscErrorCode CouplingAddDeformingPush(Coupling coupling, Vec y)
{
  PetscFunctionBegin;
  if (coupling->deforming.patches)
    PetscCall(AskSolid(coupling, REQUEST_PUSH, NULL, y));
  PetscFunctionReturn(0);
}

PetscErrorCode CouplingAddStiffened(Coupling coupling, Vec x, Vec y)
{
  PetscFunctionBegin;
  PetscCall(AskSolid(coupling, REQUEST_STIFF, x, y));
  PetscFunctionReturn(0);
}

PetscErrorCode CouplingAskStiffened(Coupling coupling, PetscBool *is_stiffened)
{
  DeformingSolids *deforming = &coupling->deforming;
  Request          request = REQUEST_KNOW;

  PetscFunctionBegin;
  *is_stiffened = PETSC_FALSE;
  if (!deforming->patches || deforming->holder < 0)
    PetscFunctionReturn(0);
  if (!deforming->is_asked) {
    PetscCall(Agree(coupling, &request));
    PetscCall(KnowStiffened(coupling));
    deforming->is_asked = PETSC_TRUE;
  }
  *is_stiffened = deforming->is_stiffened;
  PetscFunctionReturn(0);
}

PetscErrorCode CouplingAnswer(Coupling coupling)
{
  Request request = REQUEST_END;

  PetscFunctionBegin;
  if (!coupling->deforming.patches)
    PetscFunctionReturn(0);
  do {
    PetscCall(Agree(coupling, &request));
    if (!has_fluid(coupling) && request == REQUEST_KNOW)
      PetscCall(KnowStiffened(coupling));
    else if (!has_fluid(coupling) && request != REQUEST_END)
      PetscCall(Respond(coupling, request, NULL, coupling->deforming.copies));
  } while (request != REQUEST_END);
  PetscFunctionReturn(0);
}

PetscErrorCode CouplingFinishDeforming(Coupling coupling)
{
  DeformingSolids *deforming = &coupling->deforming;
  const PetscReal *pressures;

  PetscFunctionBegin;
  if (!deforming->patches)
    PetscFunctionReturn(0);
  PetscCall(PetscArrayzero(deforming->copies, deforming->copy_count));
  if (has_fluid(coupling)) {
    PetscCall(VecGetArrayRead(coupling->system.solution, &pressures));
    cell_rows_multiply_transpose(&deforming->rows, pressures, deforming->copies);
    PetscCall(VecRestoreArrayRead(coupling->system.solution, &pressures));
  }
  PetscCall(Respond(coupling, REQUEST_FINISH, NULL, deforming->motion));
  PetscFunctionReturn(0);
}

PetscErrorCode CouplingTellDeforming(Coupling coupling)
{
  DeformingSolids     *deforming = &coupling->deforming;
  const SolidOperator *solid = deforming->solid;

  PetscFunctionBegin;
  if (!deforming->patches)
    PetscFunctionReturn(0);
  if (solid)
    PetscCall(solid->Spread(solid->context, solid->velocity, deforming->surface));
  PetscCall(SolidPatchesTell(deforming->patches, deforming->surface, deforming->motion));
  PetscFunctionReturn(0);
}

PetscErrorCode CouplingAddDeformingPressure(Coupling coupling, const PetscReal x[], ReproducibleSum sums[])
{
  DeformingSolids *deforming = &coupling->deforming;
  const PetscInt   first = coupling->solids.count - deforming->total;

  PetscFunctionBegin;
  PetscCall(PetscArrayzero(deforming->copies, deforming->copy_count));
  cell_rows_multiply_transpose(&deforming->rows, x, deforming->copies);
  for (PetscInt p = 0; p < deforming->count; p++) {
    const SolidPatch *patch = &deforming->received[p];
    ReproducibleSum  *sum = &sums[TWIST * (first + patch->surface)];

    for (PetscInt v = 0; v < patch->vertex_count; v++) {
      const PetscReal *force = &deforming->copies[patch->unknown[v]];
      const Vector3    torque = vector3_cross(patch->now[v], vector3(force[X], force[Y], force[Z]));

      for (PetscInt d = 0; d < DIM; d++) {
        sum_add(&sum[d], force[d]);
        sum_add(&sum[DIM + d], torque.at[d]);
      }
    }
  }
  PetscFunctionReturn(0);
}

/* Numbers of faces to those of the solid's surface, by the transpose of W. */
static PetscErrorCode SumFaces(DeformingSolids *deforming)
{
  PetscFunctionBegin;
  if (deforming->solid)
    PetscCall(PetscArrayzero(deforming->surface, deforming->solid->surface_count));
  PetscCall(SolidPatchesSum(deforming->patches, deforming->copies, deforming->surface));
  PetscFunctionReturn(0);
}

PetscErrorCode CouplingPrepareDeforming(Coupling coupling)
{
  DeformingSolids *deforming = &coupling->deforming;

  PetscFunctionBegin;
  if (!deforming->patches)
    PetscFunctionReturn(0);
  PetscCall(PetscArrayzero(deforming->copies, deforming->copy_count));
  for (PetscInt f = 0; f < deforming->face_count; f++)
    solid_row_add_force(&deforming->faces[f].row, deforming->faces[f].mass, deforming->copies);
  PetscCall(SumFaces(deforming));
  if (deforming->solid)
    PetscCall(deforming->solid->Prepare(deforming->solid->context, deforming->surface));
  PetscCall(PetscArraycpy(deforming->copies, deforming->areas, deforming->copy_count));
  PetscCall(SumFaces(deforming));
  if (deforming->solid && deforming->solid->TakeAreas)
    PetscCall(deforming->solid->TakeAreas(deforming->solid->context, deforming->surface));
  PetscCall(CouplingTellSurfaceRows(coupling));
  PetscFunctionReturn(0);
}

PetscErrorCode CouplingPushDeforming(Coupling coupling, Vec velocity[DIM])
{
  DeformingSolids *deforming = &coupling->deforming;
  PetscReal       *u[DIM];

  PetscFunctionBegin;
  if (!deforming->patches)
    PetscFunctionReturn(0);
  deforming->is_asked = PETSC_FALSE;
  PetscCall(PetscArrayzero(deforming->copies, deforming->copy_count));
  if (has_fluid(coupling)) {
    PetscCall(MacGridGetFaces(coupling->grid, velocity, u));
    for (PetscInt f = 0; f < deforming->face_count; f++) {
      const FaceRow *face = &deforming->faces[f];

      solid_row_add_force(&face->row, face->mass * u[face->direction][face->face], deforming->copies);
    }
    PetscCall(MacGridRestoreFaces(coupling->grid, velocity, u));
  }
  PetscCall(SumFaces(deforming));
  if (deforming->solid)
    PetscCall(deforming->solid->Collect(deforming->solid->context, deforming->surface, deforming->push));
  PetscFunctionReturn(0);
}

void deforming_fill_faces(const DeformingSolids *deforming, PetscInt d, const PetscReal motion[],
                          PetscReal *u)
{
  for (PetscInt f = 0; f < deforming->face_count; f++)
    if (deforming->faces[f].direction == d)
      u[deforming->faces[f].face] += solid_row_velocity(&deforming->faces[f].row, motion);
}

const PetscReal *deforming_motion(DeformingSolids *deforming, const PetscReal vertices[])
{
  if (!vertices)
    return deforming->motion;
  for (PetscInt n = 0; n < deforming->copy_count; n++)
    deforming->copies[n] = vertices[deforming->numbers[n]];
  return deforming->copies;
}
