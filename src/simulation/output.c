/* What the groups of `output` measure (docs/output.md): fields at points and along lines, heights of
   surfaces, means over shapes, bodies, joints, and forces as coefficients.

   Values between cells are (bi-, tri-) linear: of the velocity between faces, of what lives at cell centres
   between those, constant beyond the outermost. Every place is one rank's, so its value has the same bits on
   any number of ranks; means are sums in no order. Nothing here changes the state. */
#include "output_impl.h"

#include "coupled_impl.h"

#include <millrace/sampling.h>
#include <millrace/solid_step.h>
#include <millrace/sums.h>
#include <string.h>

/* Copies of fields, with ghosts. */
typedef struct {
  Vec      faces[DIM];
  PetscInt count;
  Vec     *cells; /* pressure, then scalars */
} FieldCopies;

static PetscErrorCode CopyCells(MacGrid grid, Vec field, Vec *copy)
{
  PetscFunctionBegin;
  PetscCall(MacGridCreateField(grid, copy));
  PetscCall(VecCopy(field, *copy));
  PetscCall(MacGridExchange(grid, *copy));
  PetscFunctionReturn(0);
}

static PetscErrorCode CopyVelocity(Simulation simulation, Vec copy[DIM])
{
  Vec *velocity;

  PetscFunctionBegin;
  PetscCall(MacGridCreateFaceField(simulation->grid, copy));
  PetscCall(FluidGetVelocity(simulation->fluid, &velocity));
  if (simulation->gas)
    PetscCall(SimulationJoinVelocities(simulation, copy));
  else
    for (PetscInt d = 0; d < DIM; d++)
      if (copy[d])
        PetscCall(VecCopy(velocity[d], copy[d]));
  PetscCall(MacGridExchangeFaces(simulation->grid, copy));
  PetscFunctionReturn(0);
}

static PetscErrorCode CopyFields(Simulation simulation, FieldCopies *copies)
{
  Vec pressure, *scalars;

  PetscFunctionBegin;
  copies->count = 1 + simulation->config->fluid.scalar_count;
  PetscCall(PetscMalloc1(copies->count, &copies->cells));
  PetscCall(CopyVelocity(simulation, copies->faces));
  PetscCall(FluidGetPressure(simulation->fluid, &pressure));
  PetscCall(CopyCells(simulation->grid, pressure, &copies->cells[0]));
  PetscCall(FluidGetScalars(simulation_carrier(simulation), &scalars));
  for (PetscInt s = 1; s < copies->count; s++)
    PetscCall(CopyCells(simulation->grid, scalars[s - 1], &copies->cells[s]));
  PetscFunctionReturn(0);
}

static PetscErrorCode DestroyCopies(FieldCopies *copies)
{
  PetscFunctionBegin;
  PetscCall(MacGridDestroyFaceField(copies->faces));
  for (PetscInt s = 0; s < copies->count; s++)
    PetscCall(VecDestroy(&copies->cells[s]));
  PetscCall(PetscFree(copies->cells));
  PetscFunctionReturn(0);
}

/* Whether the cell around a point, or the one nearest to it, is this rank's. */
static PetscBool owns_point(MacGrid grid, Vector3 point)
{
  const GridBox *box = grid_box(grid);
  const Vector3  origin = grid_origin(grid);

  for (PetscInt d = 0; d < box->dimension; d++) {
    const PetscReal place = PetscFloorReal((point.at[d] - origin.at[d]) / grid_spacing(grid));
    const PetscInt  cell = (PetscInt)PetscMax(0., PetscMin(place, box->cells[d] - 1.));

    if (cell < box->start[d] || cell >= box->end[d])
      return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

/* The nearest point with cell centres around it. */
static Vector3 among_centres(MacGrid grid, Vector3 point)
{
  const GridBox  *box = grid_box(grid);
  const Vector3   origin = grid_origin(grid);
  const PetscReal h = grid_spacing(grid);

  for (PetscInt d = 0; d < box->dimension; d++)
    if (!box->periodic[d])
      point.at[d] =
          PetscMax(origin.at[d] + 0.5 * h, PetscMin(point.at[d], origin.at[d] + (box->cells[d] - 0.5) * h));
  return point;
}

/* A field of cells at points; zero at those of other ranks. */
static PetscErrorCode SampleCells(MacGrid grid, Vec field, PetscInt count, const Vector3 points[],
                                  PetscInt stride, PetscReal values[])
{
  const PetscReal *cells;

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(field, &cells));
  for (PetscInt n = 0; n < count; n++)
    values[n * stride] = owns_point(grid, points[n])
                             ? sample_cells(grid_box(grid), grid_origin(grid), grid_spacing(grid), cells,
                                            among_centres(grid, points[n]))
                             : 0.;
  PetscCall(VecRestoreArrayRead(field, &cells));
  PetscFunctionReturn(0);
}

/* Velocity, pressure and scalars of every point, on all fluid ranks; `width` numbers each. */
static PetscErrorCode SamplePoints(Simulation simulation, FieldCopies *copies, PetscInt count,
                                   const Vector3 points[], PetscReal values[])
{
  const MacGrid  grid = simulation->grid;
  const GridBox *box = grid_box(grid);
  const PetscInt width = DIM + copies->count;
  PetscReal     *faces[DIM];

  PetscFunctionBegin;
  PetscCall(MacGridGetFaces(grid, copies->faces, faces));
  for (PetscInt n = 0; n < count; n++)
    if (owns_point(grid, points[n])) {
      const Vector3 velocity = sample_faces(box, grid_origin(grid), grid_spacing(grid), faces, points[n]);

      for (PetscInt d = 0; d < box->dimension; d++)
        values[n * width + d] = velocity.at[d];
    }
  PetscCall(MacGridRestoreFaces(grid, copies->faces, faces));
  for (PetscInt s = 0; s < copies->count; s++)
    PetscCall(SampleCells(grid, copies->cells[s], count, points, width, values + DIM + s));
  PetscCallMPI(
      MPI_Allreduce(MPI_IN_PLACE, values, (PetscMPIInt)(count * width), MPIU_REAL, MPI_SUM, box->comm));
  PetscFunctionReturn(0);
}

/* velocity_NAME_x, ..., pressure_NAME, SCALAR_NAME */
static void put_fields(const SimulationConfig *config, const PetscReal values[], const char name[],
                       Record *record)
{
  char column[RECORD_NAME_LENGTH];

  snprintf(column, sizeof(column), "velocity_%s", name);
  record_put_vector(record, values, config->grid.dimension, "m/s", column);
  record_put(record, values[DIM], "Pa", "pressure_%s", name);
  for (PetscInt s = 0; s < config->fluid.scalar_count; s++)
    record_put(record, values[DIM + 1 + s], "1", "%s_%s", config->fluid.scalars[s].name, name);
}

/* The points of probes, then of lines, then of planes. */
static PetscInt point_count(const OutputConfig *group)
{
  PetscInt count = group->probe_count;

  for (PetscInt n = 0; n < group->line_count; n++)
    count += group->lines[n].points;
  for (PetscInt n = 0; n < group->plane_count; n++)
    count += group->planes[n].along_points * group->planes[n].across_points;
  return count;
}

/* In the middle of the parts of a plane, the first side fastest. */
static Vector3 *fill_plane(const PlaneConfig *plane, Vector3 *points)
{
  for (PetscInt j = 0; j < plane->across_points; j++)
    for (PetscInt i = 0; i < plane->along_points; i++) {
      const Vector3 along = vector3_scale((i + 0.5) / plane->along_points, plane->along);
      const Vector3 across = vector3_scale((j + 0.5) / plane->across_points, plane->across);

      *points++ = vector3_add(plane->origin, vector3_add(along, across));
    }
  return points;
}

static void fill_points(const OutputConfig *group, Vector3 points[])
{
  for (PetscInt n = 0; n < group->probe_count; n++)
    *points++ = group->probes[n].point;
  for (PetscInt n = 0; n < group->line_count; n++) {
    const LineConfig *line = &group->lines[n];

    for (PetscInt p = 0; p < line->points; p++)
      *points++ = vector3_add(line->from, vector3_scale((PetscReal)p / (line->points - 1),
                                                        vector3_subtract(line->to, line->from)));
  }
  for (PetscInt n = 0; n < group->plane_count; n++)
    points = fill_plane(&group->planes[n], points);
}

/* The fields of its points, and the flow through it by the midpoint rule; returns the values behind. */
static const PetscReal *put_plane(const SimulationConfig *config, const PlaneConfig *plane,
                                  const PetscReal *values, Record *record)
{
  const PetscInt width = DIM + 1 + config->fluid.scalar_count;
  const PetscInt parts = plane->along_points * plane->across_points;
  const Vector3  area = vector3_scale(1. / parts, vector3_cross(plane->along, plane->across));
  PetscReal      flow = 0.;
  char           name[64];

  for (PetscInt p = 0; p < parts; p++)
    flow += vector3_dot(area, vector3(values[p * width], values[p * width + 1], values[p * width + 2]));
  record_put(record, flow, "m^3/s", "flow_%s", plane->name);
  for (PetscInt p = 0; p < parts; p++, values += width) {
    snprintf(name, sizeof(name), "%.40s.%d.%d", plane->name, (int)(p % plane->along_points),
             (int)(p / plane->along_points));
    put_fields(config, values, name, record);
  }
  return values;
}

static void put_points(const SimulationConfig *config, const OutputConfig *group, const PetscReal *values,
                       Record *record)
{
  const PetscInt width = DIM + 1 + config->fluid.scalar_count;
  char           name[64];

  for (PetscInt n = 0; n < group->probe_count; n++, values += width)
    put_fields(config, values, group->probes[n].name, record);
  for (PetscInt n = 0; n < group->line_count; n++)
    for (PetscInt p = 0; p < group->lines[n].points; p++, values += width) {
      snprintf(name, sizeof(name), "%.40s.%d", group->lines[n].name, (int)p);
      put_fields(config, values, name, record);
    }
  for (PetscInt n = 0; n < group->plane_count; n++)
    values = put_plane(config, &group->planes[n], values, record);
}

static PetscErrorCode PutPoints(Simulation simulation, const OutputConfig *group, FieldCopies *copies,
                                Record *record)
{
  const SimulationConfig *config = simulation->config;
  const PetscInt          count = point_count(group);
  Vector3                *points;
  PetscReal              *values;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(count, &points));
  PetscCall(PetscCalloc1(count * (DIM + 1 + config->fluid.scalar_count), &values));
  fill_points(group, points);
  if (copies)
    PetscCall(SamplePoints(simulation, copies, count, points, values));
  put_points(config, group, values, record);
  PetscCall(PetscFree(values));
  PetscCall(PetscFree(points));
  PetscFunctionReturn(0);
}

static PetscInt region_called(const SimulationConfig *config, const char name[])
{
  PetscInt r = 0;

  while (r < config->phases.region_count && strcmp(config->phases.regions[r].name, name))
    r++;
  return r;
}

PetscInt output_up_axis(const SimulationConfig *config)
{
  PetscInt up = 0;

  for (PetscInt d = 1; d < config->grid.dimension; d++)
    if (PetscAbsReal(config->fluid.gravity.at[d]) > PetscAbsReal(config->fluid.gravity.at[up]))
      up = d;
  return up;
}

/* Where the distance, from the highest cell downwards, changes its sign: linear between two centres; an end
   of the column where it does not. `top` is the highest centre, `step` from one to the next. */
static PetscReal surface_height(const PetscReal distance[], PetscInt count, PetscReal top, PetscReal step)
{
  PetscInt n = 0;

  while (n < count && distance[n] > 0.)
    n++;
  if (n == 0)
    return top - 0.5 * step;
  if (n == count)
    return top + (count - 0.5) * step;
  return top + (n - 1 + distance[n - 1] / (distance[n - 1] - distance[n])) * step;
}

static PetscErrorCode GetHeight(Simulation simulation, const GaugeConfig *gauge, PetscReal *height)
{
  const MacGrid   grid = simulation->grid;
  const PetscInt  up = output_up_axis(simulation->config), count = grid_box(grid)->cells[up];
  const PetscReal h = grid_spacing(grid), low = grid_origin(grid).at[up];
  const PetscBool down = simulation->config->fluid.gravity.at[up] < 0. ? PETSC_TRUE : PETSC_FALSE;
  const PetscReal top = down ? low + (count - 0.5) * h : low + 0.5 * h, step = down ? -h : h;
  Vec             distance, copy;
  Vector3        *points;
  PetscReal      *values;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(count, &points, count, &values));
  for (PetscInt n = 0; n < count; n++) {
    points[n] = gauge->at;
    points[n].at[up] = top + n * step;
  }
  PetscCall(PhaseGetDistance(simulation->phase, region_called(simulation->config, gauge->region), &distance));
  PetscCall(CopyCells(grid, distance, &copy));
  PetscCall(SampleCells(grid, copy, count, points, 1, values));
  PetscCall(VecDestroy(&copy));
  PetscCallMPI(
      MPI_Allreduce(MPI_IN_PLACE, values, (PetscMPIInt)count, MPIU_REAL, MPI_SUM, grid_box(grid)->comm));
  *height = surface_height(values, count, top, step);
  PetscCall(PetscFree2(points, values));
  PetscFunctionReturn(0);
}

/* Which cells a mean is over. */
typedef struct {
  const AverageConfig *config;
  const PetscReal     *covered, *regions; /* null: nothing is covered; whatever the region */
  PetscInt             region;            /* 1 + its number */
} Selection;

static PetscBool is_selected(MacGrid grid, const Selection *selection, const PetscInt at[DIM])
{
  const PetscInt c = box_index(grid_box(grid), at[X], at[Y], at[Z]);

  if (selection->covered && cell_cover(selection->covered[c]).kind == CELL_WALL)
    return PETSC_FALSE;
  if (selection->regions && (PetscInt)selection->regions[c] != selection->region)
    return PETSC_FALSE;
  return shape_is_inside(selection->config->shape, grid_cell_centre(grid, at[X], at[Y], at[Z]));
}

/* Sums of the cells of this rank: velocity, pressure, scalars, and their number. */
static PetscErrorCode SumCells(Simulation simulation, FieldCopies *copies, const Selection *selection,
                               ReproducibleSum sums[])
{
  const GridBox *box = grid_box(simulation->grid);
  const PetscInt width = DIM + copies->count;
  PetscReal     *faces[DIM];
  Vector3        low, high;
  GridRange      range;

  PetscFunctionBegin;
  shape_bounds(selection->config->shape, &low, &high);
  range = cells_within(simulation->grid, low, high);
  PetscCall(MacGridGetFaces(simulation->grid, copies->faces, faces));
  for (PetscInt k = range.start[Z]; k < range.end[Z]; k++)
    for (PetscInt j = range.start[Y]; j < range.end[Y]; j++)
      for (PetscInt i = range.start[X]; i < range.end[X]; i++) {
        const PetscInt at[DIM] = {i, j, k}, c = box_index(box, i, j, k);

        if (!is_selected(simulation->grid, selection, at))
          continue;
        for (PetscInt d = 0; d < box->dimension; d++)
          sum_add(&sums[d], 0.5 * (faces[d][c] + faces[d][c + box->stride[d]]));
        for (PetscInt s = 0; s < copies->count; s++) {
          const PetscReal *cells;

          PetscCall(VecGetArrayRead(copies->cells[s], &cells));
          sum_add(&sums[DIM + s], cells[c]);
          PetscCall(VecRestoreArrayRead(copies->cells[s], &cells));
        }
        sum_add(&sums[width], 1.);
      }
  PetscCall(MacGridRestoreFaces(simulation->grid, copies->faces, faces));
  PetscFunctionReturn(0);
}

static PetscErrorCode GetMeans(Simulation simulation, const AverageConfig *config, FieldCopies *copies,
                               PetscReal values[])
{
  const PetscInt   width = DIM + copies->count;
  const Vec        covered = simulation_covered(simulation);
  Selection        selection = {.config = config};
  ReproducibleSum *sums;
  Vec              regions = NULL;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(width + 1, &sums));
  if (covered)
    PetscCall(VecGetArrayRead(covered, &selection.covered));
  if (config->region[0]) {
    PetscCall(PhaseGetRegions(simulation->phase, &regions));
    PetscCall(VecGetArrayRead(regions, &selection.regions));
    selection.region = 1 + region_called(simulation->config, config->region);
  }
  PetscCall(SumCells(simulation, copies, &selection, sums));
  if (covered)
    PetscCall(VecRestoreArrayRead(covered, &selection.covered));
  if (regions)
    PetscCall(VecRestoreArrayRead(regions, &selection.regions));
  PetscCall(SumOverRanks(grid_box(simulation->grid)->comm, width + 1, sums, values));
  for (PetscInt s = 0; s < width; s++)
    values[s] /= values[width]; /* not a number without a cell */
  PetscCall(PetscFree(sums));
  PetscFunctionReturn(0);
}

static PetscErrorCode PutMeans(Simulation simulation, const AverageConfig *average, FieldCopies *copies,
                               Record *record)
{
  const PetscInt width = DIM + 1 + simulation->config->fluid.scalar_count;
  PetscReal     *values;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(width + 1, &values));
  if (copies)
    PetscCall(GetMeans(simulation, average, copies, values));
  put_fields(simulation->config, values, average->name, record);
  record_put(record, values[width], "1", "cells_%s", average->name);
  PetscCall(PetscFree(values));
  PetscFunctionReturn(0);
}

/* Number of the body, or of that copy of it ("link.3"); their count if there is none. */
static PetscInt body_called(Simulation simulation, const char name[])
{
  const PetscInt count = solid_body_count(simulation->solid);
  PetscInt       b = 0;
  char           other[RECORD_NAME_LENGTH];

  for (; b < count; b++) {
    record_body_name(simulation, b, other, sizeof(other));
    if (!strcmp(other, name))
      break;
  }
  return b;
}

/* How a body has turned since time zero. */
static Quaternion turn_of(Simulation simulation, PetscInt body)
{
  return quaternion_multiply(solid_coupled_body(simulation->solid, body).rotation,
                             quaternion_conjugate(simulation->output->starts[body].rotation));
}

/* Axis times angle, which is at most pi. */
static Vector3 rotation_vector(Quaternion q)
{
  const PetscReal sign = q.scalar < 0. ? -1. : 1., size = vector3_norm(q.vector);
  const PetscReal angle = 2. * PetscAtan2Real(size, sign * q.scalar);

  return vector3_scale(size > 0. ? sign * angle / size : 0., q.vector);
}

/* Angles about x, y and z of the turns R = R_z R_y R_x: roll, pitch, which is at most pi/2, and yaw. */
static Vector3 euler_angles(Quaternion q)
{
  const Vector3 x = quaternion_rotate(q, vector3(1., 0., 0.)), y = quaternion_rotate(q, vector3(0., 1., 0.)),
                z = quaternion_rotate(q, vector3(0., 0., 1.));
  const PetscReal level = PetscSqrtReal(PetscSqr(x.at[X]) + PetscSqr(x.at[Y]));

  if (level < 1e-12) /* upright: roll and yaw are about one axis, and all of it is yaw */
    return vector3(0., PetscAtan2Real(-x.at[Z], level), PetscAtan2Real(-y.at[X], y.at[Y]));
  return vector3(PetscAtan2Real(y.at[Z], z.at[Z]), PetscAtan2Real(-x.at[Z], level),
                 PetscAtan2Real(x.at[Y], x.at[X]));
}

/* Around an axis, between -pi and pi. */
static PetscReal twist_angle(Quaternion q, Vector3 axis)
{
  const PetscReal sign = q.scalar < 0. ? -1. : 1.;

  return 2. * PetscAtan2Real(sign * vector3_dot(q.vector, axis), sign * q.scalar);
}

static void put_turning(const SimulationConfig *config, Vector3 value, const char unit[], const char what[],
                        const char name[], Record *record)
{
  char column[RECORD_NAME_LENGTH];

  snprintf(column, sizeof(column), "%s_%s", what, name);
  record_put_turning(record, value.at, record_dimension(config), unit, column);
}

static void put_in_plane(const SimulationConfig *config, const PetscReal value[], const char unit[],
                         const char what[], const char name[], Record *record)
{
  char column[RECORD_NAME_LENGTH];

  snprintf(column, sizeof(column), "%s_%s", what, name);
  record_put_vector(record, value, record_dimension(config), unit, column);
}

static void put_body(Simulation simulation, const char name[], Record *record)
{
  const SimulationConfig *config = simulation->config;
  const PetscInt          b = body_called(simulation, name);
  const BodyView          body = solid_body_view(simulation->solid, b);

  put_in_plane(config, body.position.at, "m", "position", name, record);
  put_in_plane(config, body.velocity.at, "m/s", "velocity", name, record);
  put_turning(config, rotation_vector(turn_of(simulation, b)), "rad", "rotation", name, record);
  if (config->grid.dimension != 2)
    put_turning(config, euler_angles(turn_of(simulation, b)), "rad", "euler", name, record);
  put_turning(config, body.spin, "rad/s", "spin", name, record);
  if (simulation->coupled) {
    PetscReal *const *loads = simulation->coupled->loads;
    Vector3           torque;

    memcpy(torque.at, &loads[LOAD_ALL][TWIST * b + DIM], sizeof(torque.at));
    put_in_plane(config, &loads[LOAD_PRESSURE][TWIST * b], "N", "pressure_force", name, record);
    put_in_plane(config, &loads[LOAD_VISCOSITY][TWIST * b], "N", "viscous_force", name, record);
    put_turning(config, torque, "N m", "torque", name, record);
  }
}

/* One end of a joint: where its anchor is, how fast, and how its body has turned. */
typedef struct {
  Vector3    anchor, velocity, spin;
  Quaternion turn;
} JointEnd;

static JointEnd joint_end(Simulation simulation, PetscInt body, Vector3 anchor)
{
  JointEnd end = {.anchor = anchor, .turn = {.scalar = 1.}};

  if (body >= 0) {
    const BodyView view = solid_body_view(simulation->solid, body);
    const Twist    twist = {view.velocity, view.spin};
    Vector3        arm;

    end.turn = turn_of(simulation, body);
    arm = quaternion_rotate(end.turn, vector3_subtract(anchor, simulation->output->starts[body].position));
    end.anchor = vector3_add(view.position, arm);
    end.velocity = twist_at(&twist, arm);
    end.spin = view.spin;
  }
  return end;
}

/* A joint, or a copy of it, by its name in the scene. */
typedef struct {
  const char        *name;
  const JointConfig *config;
  PetscInt           copy;
} JointChoice;

static JointChoice joint_called(const SimulationConfig *config, const char name[])
{
  const size_t length = strcspn(name, ".");
  PetscInt     n = 0;

  while (strlen(config->solids.joints[n].name) != length ||
         strncmp(config->solids.joints[n].name, name, length) != 0)
    n++; /* the scene has been checked: it is there */
  return (JointChoice){name, &config->solids.joints[n], name[length] ? atoi(name + length + 1) : 0};
}

/* What it did in the last step. */
static void put_joint_load(Simulation simulation, const JointChoice *choice, Record *record)
{
  const JointConfig *joint = choice->config;
  const JointLoad    load = solid_joint_load(simulation->solid, joint, choice->copy);

  put_in_plane(simulation->config, load.force.at, "N", "joint_force", choice->name, record);
  put_turning(simulation->config, load.torque, "N m", "joint_torque", choice->name, record);
  if (joint->kind != JOINT_POINT && joint->kind != JOINT_RIGID)
    record_put(record, load.drive, joint->kind == JOINT_PRISMATIC ? "N" : "N m", "drive_%s", choice->name);
}

/* Along or about the axis as the parent carries it; without an axis, how far the child is turned. */
static void put_joint(Simulation simulation, const JointChoice *choice, Record *record)
{
  const JointConfig *joint = choice->config;
  const JointPlace   at = solid_joint_place(simulation->solid, joint, choice->copy);
  const JointEnd     parent = joint_end(simulation, at.parent, at.anchor),
                 child = joint_end(simulation, at.child, at.anchor);
  const Vector3    apart = vector3_subtract(child.anchor, parent.anchor);
  const Vector3    carried = quaternion_rotate(parent.turn, at.axis);
  const Quaternion relative = quaternion_multiply(quaternion_conjugate(parent.turn), child.turn);
  PetscReal        place = 0., rate = 0.;

  if (joint->kind == JOINT_PRISMATIC) {
    place = vector3_dot(apart, carried);
    rate = vector3_dot(vector3_subtract(child.velocity, parent.velocity), carried);
    record_put(record, place, "m", "distance_%s", choice->name);
    record_put(record, rate, "m/s", "rate_%s", choice->name);
  } else if (joint->kind == JOINT_HINGE || joint->kind == JOINT_TWIST) {
    place = twist_angle(relative, at.axis);
    rate = vector3_dot(vector3_subtract(child.spin, parent.spin), carried);
    record_put(record, place, "rad", "angle_%s", choice->name);
    record_put(record, rate, "rad/s", "rate_%s", choice->name);
  } else
    record_put(record, vector3_norm(rotation_vector(relative)), "rad", "angle_%s", choice->name);
  if (joint->motor)
    record_put(record, formula_value(joint->motor, vector3(place, rate, 0.), simulation->time),
               joint->kind == JOINT_PRISMATIC ? "N" : "N m", "motor_%s", choice->name);
  put_joint_load(simulation, choice, record);
}

/* Of the fluid on an obstacle, or on a body, by pressure and viscosity. Collective: fluid. */
static PetscErrorCode GetForce(Simulation simulation, const char name[], Vector3 *force)
{
  const SimulationConfig *config = simulation->config;
  Vector3                *pressure, *viscous;
  PetscInt                o = 0;

  PetscFunctionBegin;
  while (o < config->obstacle_count && strcmp(config->obstacles[o].name, name))
    o++;
  if (o == config->obstacle_count) {
    memcpy(force->at, &simulation->coupled->loads[LOAD_ALL][TWIST * body_called(simulation, name)],
           sizeof(force->at));
    PetscFunctionReturn(0);
  }
  PetscCall(PetscCalloc2(simulation->wall_count, &pressure, simulation->wall_count, &viscous));
  PetscCall(FluidGetForces(simulation->fluid, pressure, viscous));
  *force = vector3_add(pressure[o], viscous[o]);
  PetscCall(PetscFree2(pressure, viscous));
  PetscFunctionReturn(0);
}

/* Force over density speed^2 area / 2, along the flow and along the direction of lift. */
static PetscErrorCode PutCoefficients(Simulation simulation, const CoefficientConfig *config, OutputMode mode,
                                      Record *record)
{
  const PetscReal scale = 0.5 * config->density * PetscSqr(config->speed) * config->area;
  Vector3         force = {{0., 0., 0.}};

  PetscFunctionBegin;
  if (mode == OUTPUT_VALUES)
    PetscCall(GetForce(simulation, config->name, &force));
  record_put(record, vector3_dot(force, config->flow) / (scale * vector3_norm(config->flow)), "1",
             "drag_coefficient_%s", config->name);
  record_put(record, vector3_dot(force, config->lift) / (scale * vector3_norm(config->lift)), "1",
             "lift_coefficient_%s", config->name);
  PetscFunctionReturn(0);
}

static PetscErrorCode PutGauges(Simulation simulation, const OutputConfig *group, OutputMode mode,
                                Record *record)
{
  PetscFunctionBegin;
  for (PetscInt n = 0; n < group->gauge_count; n++) {
    PetscReal height = 0.;

    if (mode == OUTPUT_VALUES)
      PetscCall(GetHeight(simulation, &group->gauges[n], &height));
    record_put(record, height, "m", "height_%s", group->gauges[n].name);
  }
  PetscFunctionReturn(0);
}

PetscErrorCode SimulationMeasureOutput(Simulation simulation, const OutputConfig *group, OutputMode mode,
                                       Record *record)
{
  const PetscBool fields =
      group->probe_count + group->line_count + group->plane_count + group->average_count > 0;
  FieldCopies copies = {.count = 0}, *used = fields && mode == OUTPUT_VALUES ? &copies : NULL;

  PetscFunctionBegin;
  record->count = 0;
  record_put(record, simulation->step, "1", "step");
  record_put(record, simulation->time, "s", "time");
  if (used)
    PetscCall(CopyFields(simulation, used));
  PetscCall(PutPoints(simulation, group, used, record));
  PetscCall(PutGauges(simulation, group, mode, record));
  for (PetscInt n = 0; n < group->average_count; n++)
    PetscCall(PutMeans(simulation, &group->averages[n], used, record));
  for (PetscInt n = 0; n < group->body_count; n++)
    put_body(simulation, group->bodies[n].name, record);
  for (PetscInt n = 0; n < group->joint_count; n++) {
    const JointChoice choice = joint_called(simulation->config, group->joints[n].name);

    put_joint(simulation, &choice, record);
  }
  for (PetscInt n = 0; n < group->coefficient_count; n++)
    PetscCall(PutCoefficients(simulation, &group->coefficients[n], mode, record));
  if (used)
    PetscCall(DestroyCopies(used));
  PetscFunctionReturn(0);
}

static PetscBool has_output(const SimulationConfig *config)
{
  return config->output_count > 0;
}

/* Two columns of one name would be one in the file. */
static void check_columns(const OutputConfig *group, const Record *record, char message[], size_t size)
{
  for (PetscInt a = 0; a < record->count && !message[0]; a++)
    for (PetscInt b = 0; b < a && !message[0]; b++)
      if (!strcmp(record->names[a], record->names[b]))
        snprintf(message, size, "output %s has two columns %s: what it measures needs different names",
                 group->name, record->names[a]);
  if (record->count == RECORD_CAPACITY)
    snprintf(message, size,
             "output %s has more than %d columns: divide it, or take fewer points on its lines and planes",
             group->name, RECORD_CAPACITY - 1);
}

/* Before a state is loaded: bodies are where they are at time zero. */
static PetscErrorCode Create(Simulation simulation, char message[], size_t size)
{
  const SimulationConfig *config = simulation->config;
  const PetscInt          bodies = simulation->solid ? solid_body_count(simulation->solid) : 0;
  Record                 *record;

  PetscFunctionBegin;
  PetscCall(PetscNew(&simulation->output));
  PetscCall(PetscMalloc1(bodies, &simulation->output->starts));
  for (PetscInt b = 0; b < bodies; b++) {
    const CoupledBody body = solid_coupled_body(simulation->solid, b);

    simulation->output->starts[b] = (RigidTransform){body.position, body.rotation};
  }
  PetscCall(PetscNew(&record));
  for (PetscInt n = 0; n < config->output_count && !message[0]; n++) {
    PetscCall(SimulationMeasureOutput(simulation, &config->outputs[n], OUTPUT_NAMES, record));
    check_columns(&config->outputs[n], record, message, size);
  }
  PetscCall(PetscFree(record));
  PetscFunctionReturn(0);
}

static PetscErrorCode Destroy(Simulation simulation)
{
  PetscFunctionBegin;
  if (simulation->output)
    PetscCall(PetscFree(simulation->output->starts));
  PetscCall(PetscFree(simulation->output));
  PetscFunctionReturn(0);
}

const Part OutputPart = {
    .name = "output", .ranks = PART_ON_ALL, .is_in = has_output, .create = Create, .destroy = Destroy};
