/* A surface whose vertices are unknowns: it travels from the solid team to the ranks that it touches, and the
   fluid there meets it by rows of B. */
#include "scene_run.h"
#include "harness.h"
#include "fluid_case.h"
#include "coupling_case.h"
#include "solids.h"

#include "coupling/coupling_impl.h"

enum { FIRST_UNKNOWN = 6 }; /* as if a rigid body came before */

static const CouplingSetup tank = {.dimension = 3,
                                   .cells = {20, 18, 16},
                                   .length = 2.,
                                   .density = 1.,
                                   .solver = COUPLING_SCHUR,
                                   .tolerance = 1e-10};

/* Known to all ranks of the test; one of them holds it for the code. */
typedef struct {
  PetscInt  vertex_count, triangle_count, unknown_count;
  Vector3  *before, *now, *velocity;
  PetscInt *unknown;
  const PetscInt (*triangles)[3];
  Surface    surface;
  PetscReal  volume;
  SolidPatch whole;
} Flesh;

/* A ball out of shape, which has come from a little further left. */
static Flesh *flesh_new(Vector3 centre, PetscReal radius)
{
  Surface        ball = make_ball(radius, 9, 14);
  const Vector3 *vertices;
  Flesh         *flesh;

  PetscCallAbort(PETSC_COMM_SELF, PetscNew(&flesh));
  PetscCallAbort(PETSC_COMM_SELF, SurfaceGet(ball, &flesh->vertex_count, &vertices, &flesh->triangle_count,
                                             &flesh->triangles));
  PetscCallAbort(PETSC_COMM_SELF,
                 PetscMalloc4(flesh->vertex_count, &flesh->before, flesh->vertex_count, &flesh->now,
                              flesh->vertex_count, &flesh->velocity, flesh->vertex_count, &flesh->unknown));
  for (PetscInt v = 0; v < flesh->vertex_count; v++) {
    const PetscReal wave = 1. + 0.2 * PetscSinReal(9. * vertices[v].at[X] + 5. * vertices[v].at[Z]);

    flesh->now[v] = vector3_add(centre, vector3_scale(wave, vertices[v]));
    flesh->before[v] = vector3_add(flesh->now[v], vector3(-0.05, 0., 0.));
    flesh->velocity[v] = vector3(rough_at(vertices[v], 0), rough_at(vertices[v], 1), 0.3);
    flesh->unknown[v] = FIRST_UNKNOWN + 3 * (flesh->vertex_count - 1 - v);
  }
  flesh->unknown_count = FIRST_UNKNOWN + 3 * flesh->vertex_count;
  PetscCallAbort(PETSC_COMM_SELF, SurfaceCreate(flesh->vertex_count, flesh->now, flesh->triangle_count,
                                                flesh->triangles, &flesh->surface));
  PetscCallAbort(PETSC_COMM_SELF,
                 SurfaceGet(flesh->surface, NULL, NULL, NULL, &flesh->triangles)); /* the ball's go */
  PetscCallAbort(PETSC_COMM_SELF, SurfaceDestroy(&ball));
  flesh->volume = surface_volume(flesh->surface);
  flesh->whole = (SolidPatch){.surface = 4,
                              .is_closed = PETSC_TRUE,
                              .volume = flesh->volume,
                              .centre = centre,
                              .vertex_count = flesh->vertex_count,
                              .triangle_count = flesh->triangle_count,
                              .before = flesh->before,
                              .now = flesh->now,
                              .velocity = flesh->velocity,
                              .triangles = flesh->triangles,
                              .unknown = flesh->unknown};
  return flesh;
}

static void flesh_free(Flesh *flesh)
{
  PetscCallAbort(PETSC_COMM_SELF, PetscFree4(flesh->before, flesh->now, flesh->velocity, flesh->unknown));
  PetscCallAbort(PETSC_COMM_SELF, SurfaceDestroy(&flesh->surface));
  PetscCallAbort(PETSC_COMM_SELF, PetscFree(flesh));
}

static PetscBool holds_solids(CouplingCase *coupled)
{
  PetscMPIInt rank;

  (void)MPI_Comm_rank(team_world(coupled->team), &rank);
  return rank == team_first_solid_rank(coupled->team) ? PETSC_TRUE : PETSC_FALSE;
}

static PatchReach reach_of_rank(MacGrid grid)
{
  const GridBox  *box = grid_box(grid);
  const PetscReal h = grid_spacing(grid);
  PatchReach      reach = {.low = grid_origin(grid), .high = grid_origin(grid)};

  for (PetscInt d = 0; d < DIM; d++) {
    reach.low.at[d] += ((PetscReal)box->start[d] - 2.) * h;
    reach.high.at[d] += ((PetscReal)box->end[d] + 2.) * h;
    reach.period.at[d] = box->periodic[d] ? (PetscReal)box->cells[d] * h : 0.;
  }
  return reach;
}

static SolidPatches send(CouplingCase *coupled, const Flesh *flesh)
{
  const PetscBool holds = holds_solids(coupled);
  PatchReach      reach = {0};
  SolidPatches    patches;

  if (coupled->grid)
    reach = reach_of_rank(coupled->grid);
  assert_success(SolidPatchesCreate(team_world(coupled->team), holds ? 1 : 0, &flesh->whole,
                                    holds ? flesh->unknown_count : 0, coupled->grid ? &reach : NULL,
                                    &patches));
  return patches;
}

/* Whether a triangle comes within reach at one of the moments, by its box, or lies beside it on the left. */
static PetscBool is_met(const Flesh *flesh, PetscInt t, const PatchReach *reach)
{
  for (PetscInt d = 0; d < DIM; d++) {
    PetscReal low = PETSC_MAX_REAL, high = -PETSC_MAX_REAL;

    for (PetscInt c = 0; c < 3; c++)
      for (PetscInt m = 0; m < 2; m++) {
        const PetscReal place = (m ? flesh->now : flesh->before)[flesh->triangles[t][c]].at[d];

        low = PetscMin(low, place);
        high = PetscMax(high, place);
      }
    if (low > reach->high.at[d] || (d != X && high < reach->low.at[d]))
      return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

/* Each vertex that came, by its unknown, is the one that was sent. */
static PetscBool is_copy(const Flesh *flesh, const SolidPatch *patch, const PetscReal copies[])
{
  PetscBool good = patch->surface == 4 && patch->is_closed && patch->volume == flesh->volume;

  for (PetscInt v = 0; v < patch->vertex_count; v++) {
    const PetscInt number = (PetscInt)copies[patch->unknown[v]],
                   root = flesh->vertex_count - 1 - (number - FIRST_UNKNOWN) / 3;

    for (PetscInt d = 0; d < DIM; d++)
      good = good && copies[patch->unknown[v] + d] == (PetscReal)(number + d) &&
             patch->now[v].at[d] == flesh->now[root].at[d] &&
             patch->before[v].at[d] == flesh->before[root].at[d] &&
             patch->velocity[v].at[d] == flesh->velocity[root].at[d];
  }
  return good;
}

static void ranks_receive_the_triangles_that_they_meet(void **state)
{
  CouplingCase *coupled = coupling_case_new(PETSC_COMM_WORLD, &tank);

  (void)state;
  for (int outside = 0; outside < 2; outside++) {
    Flesh            *flesh = flesh_new(vector3(outside ? 4. : 0.7, 0.9, 0.8), 0.4);
    SolidPatches      patches = send(coupled, flesh);
    PetscInt          met = 0, count;
    const SolidPatch *received;
    PetscReal        *numbers, *copies;
    PetscBool         good;
    PatchReach        reach;

    PetscCallAbort(PETSC_COMM_SELF,
                   PetscMalloc2(flesh->unknown_count, &numbers, solid_patches_unknowns(patches), &copies));
    for (PetscInt n = 0; n < flesh->unknown_count; n++)
      numbers[n] = (PetscReal)n;
    if (coupled->grid)
      reach = reach_of_rank(coupled->grid);
    for (PetscInt t = 0; t < flesh->triangle_count && coupled->grid; t++)
      met += is_met(flesh, t, &reach);
    assert_success(SolidPatchesTell(patches, numbers, copies));
    assert_success(SolidPatchesGet(patches, &count, &received));
    good = count == (met > 0 ? 1 : 0);
    if (good && count)
      good = received->triangle_count == met && is_copy(flesh, received, copies);
    note("%d of %d triangles, %d copies", (int)met, (int)flesh->triangle_count,
         (int)solid_patches_unknowns(patches));
    assert_on_all_ranks(good);
    assert_on_all_ranks(!outside || count == 0);
    PetscCallAbort(PETSC_COMM_SELF, PetscFree2(numbers, copies));
    assert_success(SolidPatchesDestroy(&patches));
    flesh_free(flesh);
  }
  coupling_case_free(coupled);
}

/* B of the flesh and the unknowns that belong to it, on ranks with fluid. */
typedef struct {
  CouplingCase *coupled;
  Flesh        *flesh;
  SolidPatches  patches;
  CellRows      rows;
  PetscInt      cell_count;
  PetscReal    *copies, *cells, *unknowns;
} Meeting;

static PetscReal everywhere(Vector3 place)
{
  (void)place;
  return 1.;
}

/* Not deep inside the flesh. */
static PetscReal not_inside(Vector3 place)
{
  return vector3_norm(vector3_subtract(place, vector3(1., 0.9, 0.8))) > 0.2 ? 1. : 0.;
}

static PetscErrorCode AddRows(Meeting *meeting, CellFunction has_pressure)
{
  const GridBox    *box = grid_box(meeting->coupled->grid);
  const SolidPatch *received;
  PetscInt          at[DIM], count;
  char             *is_cell;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(box->length, &is_cell));
  for (at[Z] = box->start[Z] - 1; at[Z] <= box->end[Z]; at[Z]++)
    for (at[Y] = box->start[Y] - 1; at[Y] <= box->end[Y]; at[Y]++)
      for (at[X] = box->start[X] - 1; at[X] <= box->end[X]; at[X]++) {
        PetscBool is_in = PETSC_TRUE;

        for (PetscInt d = 0; d < DIM; d++)
          is_in = is_in && (box->periodic[d] || (at[d] >= 0 && at[d] < box->cells[d]));
        is_cell[box_index(box, at[X], at[Y], at[Z])] =
            is_in && has_pressure(grid_cell_centre(meeting->coupled->grid, at[X], at[Y], at[Z])) > 0.;
      }
  PetscCall(SolidPatchesGet(meeting->patches, &count, &received));
  for (PetscInt p = 0; p < count; p++)
    PetscCall(CouplingAddPatchRows(meeting->coupled->grid, &received[p], is_cell, &meeting->rows));
  PetscCall(PetscFree(is_cell));
  PetscFunctionReturn(0);
}

static Meeting meet(const CouplingSetup *setup, Vector3 centre, CellFunction has_pressure)
{
  Meeting meeting = {.coupled = coupling_case_new(PETSC_COMM_WORLD, setup), .flesh = flesh_new(centre, 0.45)};

  meeting.patches = send(meeting.coupled, meeting.flesh);
  if (meeting.coupled->grid) {
    PetscCallAbort(PETSC_COMM_SELF, AddRows(&meeting, has_pressure));
    meeting.cell_count = meeting.coupled->coupling->cell_count;
  }
  PetscCallAbort(PETSC_COMM_SELF,
                 PetscCalloc3(solid_patches_unknowns(meeting.patches), &meeting.copies, meeting.cell_count,
                              &meeting.cells, meeting.flesh->unknown_count, &meeting.unknowns));
  return meeting;
}

static void part(Meeting *meeting)
{
  PetscCallAbort(PETSC_COMM_SELF, PetscFree(meeting->rows.rows));
  PetscCallAbort(PETSC_COMM_SELF, PetscFree3(meeting->copies, meeting->cells, meeting->unknowns));
  assert_success(SolidPatchesDestroy(&meeting->patches));
  flesh_free(meeting->flesh);
  coupling_case_free(meeting->coupled);
}

/* cells = B V of a velocity that is a function of the place. */
typedef Vector3 (*VertexMotion)(Vector3 place);

static void move(Meeting *meeting, VertexMotion motion)
{
  for (PetscInt v = 0; v < meeting->flesh->vertex_count; v++)
    for (PetscInt d = 0; d < DIM; d++)
      meeting->unknowns[meeting->flesh->unknown[v] + d] = motion(meeting->flesh->now[v]).at[d];
  assert_success(SolidPatchesTell(meeting->patches, meeting->unknowns, meeting->copies));
  PetscCallAbort(PETSC_COMM_SELF, PetscArrayzero(meeting->cells, meeting->cell_count));
  cell_rows_multiply(&meeting->rows, meeting->copies, meeting->cells);
}

/* unknowns = B^T p of a pressure that is a function of the place; the same on all ranks. */
static void press(Meeting *meeting, CellFunction pressure)
{
  PetscInt number = 0;

  if (meeting->coupled->grid) {
    const GridBox *box = grid_box(meeting->coupled->grid);

    FOR_CELLS(box, i, j, k)
      meeting->cells[number++] = pressure(grid_cell_centre(meeting->coupled->grid, i, j, k));
  }
  for (PetscInt n = 0; n < solid_patches_unknowns(meeting->patches); n++)
    meeting->copies[n] = 0.;
  cell_rows_multiply_transpose(&meeting->rows, meeting->cells, meeting->copies);
  for (PetscInt n = 0; n < meeting->flesh->unknown_count; n++)
    meeting->unknowns[n] = 0.;
  assert_success(SolidPatchesSum(meeting->patches, meeting->copies, meeting->unknowns));
  (void)MPI_Bcast(meeting->unknowns, (PetscMPIInt)meeting->flesh->unknown_count, MPIU_REAL,
                  team_first_solid_rank(meeting->coupled->team), team_world(meeting->coupled->team));
}

static PetscReal sum_of_cells(Meeting *meeting)
{
  PetscReal sum = 0.;

  for (PetscInt c = 0; c < meeting->cell_count; c++)
    sum += meeting->cells[c];
  (void)MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPIU_REAL, MPI_SUM, PETSC_COMM_WORLD);
  return sum;
}

static Vector3 grow(Vector3 x)
{
  return x;
}

static Vector3 turn(Vector3 x)
{
  return vector3_add(vector3(0.3, -0.2, 0.7), vector3_cross(vector3(0.5, 0.3, -0.8), x));
}

static Vector3 shake(Vector3 x)
{
  return vector3(rough_at(x, 1) - 0.5, rough_at(x, 2) - 0.5, rough_at(x, 3) - 0.5);
}

/* div x = 3; nothing flows where the flesh keeps its shape; whatever cells have a pressure, and across seams.
 */
static void flow_into_cells_is_the_change_of_volume(void **state)
{
  for (int n = 0; n < 3; n++) {
    CouplingSetup setup = tank;
    Meeting       meeting;

    (void)state;
    setup.periodic[X] = setup.periodic[Z] = n == 2;
    meeting =
        meet(&setup, n == 2 ? vector3(0.1, 0.9, 1.5) : vector3(1., 0.9, 0.8), n ? not_inside : everywhere);
    move(&meeting, turn);
    assert_near(sum_of_cells(&meeting), 0., 1e-13);
    move(&meeting, grow);
    note("%g of %g", (double)sum_of_cells(&meeting), (double)(3. * meeting.flesh->volume));
    assert_near(sum_of_cells(&meeting), 3. * meeting.flesh->volume, 1e-13);
    part(&meeting);
  }
}

static PetscReal pressure_x(Vector3 place)
{
  return place.at[X];
}

static PetscReal pressure_y(Vector3 place)
{
  return place.at[Y];
}

static PetscReal pressure_z(Vector3 place)
{
  return place.at[Z];
}

static void hydrostatic_pressure_lifts_by_the_volume(void **state)
{
  const CellFunction pressures[DIM] = {pressure_x, pressure_y, pressure_z};
  Meeting            meeting = meet(&tank, vector3(1., 0.9, 0.8), everywhere);

  (void)state;
  for (PetscInt along = 0; along < DIM; along++) {
    press(&meeting, pressures[along]);
    for (PetscInt d = 0; d < DIM; d++) {
      PetscReal force = 0.;

      for (PetscInt v = 0; v < meeting.flesh->vertex_count; v++)
        force += meeting.unknowns[meeting.flesh->unknown[v] + d];
      assert_near(force, d == along ? meeting.flesh->volume : 0., 1e-13);
    }
  }
  part(&meeting);
}

static PetscReal rough_pressure(Vector3 place)
{
  return rough_at(place, 7) - 0.5;
}

/* p . B V = V . B^T p, over the ranks: what the fluid loses the solid gains. */
static void force_is_the_transpose_of_flow(void **state)
{
  Meeting      meeting = meet(&tank, vector3(1., 0.9, 0.8), not_inside);
  PetscReal    work = 0., power = 0., *flow;
  const Flesh *flesh = meeting.flesh;

  (void)state;
  move(&meeting, shake);
  PetscCallAbort(PETSC_COMM_SELF, PetscMalloc1(meeting.cell_count, &flow));
  PetscCallAbort(PETSC_COMM_SELF, PetscArraycpy(flow, meeting.cells, meeting.cell_count));
  press(&meeting, rough_pressure);
  for (PetscInt c = 0; c < meeting.cell_count; c++)
    power += flow[c] * meeting.cells[c];
  (void)MPI_Allreduce(MPI_IN_PLACE, &power, 1, MPIU_REAL, MPI_SUM, PETSC_COMM_WORLD);
  for (PetscInt v = 0; v < flesh->vertex_count; v++)
    for (PetscInt d = 0; d < DIM; d++)
      work += meeting.unknowns[flesh->unknown[v] + d] * shake(flesh->now[v]).at[d];
  note("%.15g %.15g", (double)power, (double)work);
  assert_on_all_ranks(PetscAbsReal(power) > 1e-4);
  assert_near(power, work, 1e-14);
  PetscCallAbort(PETSC_COMM_SELF, PetscFree(flow));
  part(&meeting);
}

/* The volumes of the flesh in the dual cells of one direction, of all faces of owned cells. */
static PetscReal *dual_volumes(Meeting *meeting, PetscInt d, Lattice *lattice)
{
  const GridBox  *box = grid_box(meeting->coupled->grid);
  const PetscReal h = grid_spacing(meeting->coupled->grid);
  const Triangles triangles = {meeting->flesh->vertex_count, meeting->flesh->triangle_count,
                               meeting->flesh->now, meeting->flesh->triangles};
  PetscReal      *area, *volume, *passing;
  PetscInt        size;

  *lattice = (Lattice){.origin = grid_origin(meeting->coupled->grid), .spacing = vector3(h, h, h)};
  lattice->origin.at[d] -= 0.5 * h;
  for (PetscInt e = 0; e < DIM; e++) {
    lattice->start[e] = box->start[e];
    lattice->end[e] = box->end[e] + (e == d ? 1 : 0);
  }
  size = lattice_size(lattice);
  PetscCallAbort(PETSC_COMM_SELF, PetscCalloc1(size, &area));
  PetscCallAbort(PETSC_COMM_SELF, PetscCalloc1(size, &volume));
  PetscCallAbort(PETSC_COMM_SELF, PetscCalloc1(size, &passing));
  lattice_cut(lattice, &triangles, area, NULL, volume, passing);
  lattice_fill(lattice, volume, passing);
  PetscCallAbort(PETSC_COMM_SELF, PetscFree(area));
  PetscCallAbort(PETSC_COMM_SELF, PetscFree(passing));
  return volume;
}

static Vector3 slide_x(Vector3 x)
{
  (void)x;
  return vector3(1., 0., 0.);
}

static Vector3 slide_y(Vector3 x)
{
  (void)x;
  return vector3(0., 1., 0.);
}

static Vector3 slide_z(Vector3 x)
{
  (void)x;
  return vector3(0., 0., 1.);
}

/* Cell by cell what cut faces of a rigid body have: h^2 (s_- - s_+). */
static void a_rigid_motion_flows_like_that_of_a_body(void **state)
{
  const VertexMotion motions[DIM] = {slide_x, slide_y, slide_z};
  Meeting            meeting = meet(&tank, vector3(1., 0.9, 0.8), everywhere);

  (void)state;
  for (PetscInt d = 0; d < DIM; d++) {
    PetscReal largest = 0., *volume;
    PetscInt  number = 0;
    Lattice   lattice;

    move(&meeting, motions[d]);
    if (meeting.coupled->grid) {
      const GridBox *box = grid_box(meeting.coupled->grid);

      volume = dual_volumes(&meeting, d, &lattice);
      FOR_PLACES(box, at) {
        const PetscReal
            below = volume[lattice_index(&lattice, at[X], at[Y], at[Z])],
            above = volume[lattice_index(&lattice, at[X] + (d == X), at[Y] + (d == Y), at[Z] + (d == Z))];

        const PetscReal error =
            PetscAbsReal(meeting.cells[number++] - (below - above) / grid_spacing(meeting.coupled->grid));

        largest = PetscMax(largest, error);
      }
      PetscCallAbort(PETSC_COMM_SELF, PetscFree(volume));
    }
    note("differs by %g", (double)largest);
    assert_on_all_ranks(largest < 1e-14);
  }
  part(&meeting);
}

TEST_MAIN(cmocka_unit_test(ranks_receive_the_triangles_that_they_meet),
          cmocka_unit_test(flow_into_cells_is_the_change_of_volume),
          cmocka_unit_test(hydrostatic_pressure_lifts_by_the_volume),
          cmocka_unit_test(force_is_the_transpose_of_flow),
          cmocka_unit_test(a_rigid_motion_flows_like_that_of_a_body))
