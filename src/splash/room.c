/* What sides and obstacles leave for the liquid (Gerszewski 2014, 3.3): the largest density of a cell or face
   is that of a lattice of particles outside obstacles and inside the box, rasterised by the same hat. So a
   full lattice beside an obstacle has exactly the largest density, wherever the obstacle stands. Obstacles of
   whole cells leave all of a cell or nothing. */
#include "splash_impl.h"

PetscBool side_is_closed(const Splash splash, PetscInt direction, PetscInt side)
{
  const SideKind kind = splash->fluid->sides[direction][side].kind;

  return kind == SIDE_WALL || kind == SIDE_SLIP ? PETSC_TRUE : PETSC_FALSE;
}

PetscReal obstacle_distance(const Splash splash, Vector3 point)
{
  PetscReal least = PETSC_MAX_REAL;

  for (PetscInt n = 0; n < splash->obstacle_count; n++)
    least = PetscMin(least, shape_distance(splash->obstacles[n], point));
  return least;
}

PetscBool is_in_obstacle(const Splash splash, Vector3 point)
{
  for (PetscInt n = 0; n < splash->obstacle_count; n++)
    if (shape_is_inside(splash->obstacles[n], point))
      return PETSC_TRUE;
  return PETSC_FALSE;
}

Vector3 lattice_point(const Splash splash, const PetscInt at[DIM], PetscInt n)
{
  const PetscInt  along = splash->config->particles, dimension = grid_box(splash->grid)->dimension;
  const PetscReal h = grid_spacing(splash->grid);
  const PetscInt  place[DIM] = {n % along, n / along % along, n / (along * along)};
  Vector3         point = grid_origin(splash->grid);

  for (PetscInt d = 0; d < DIM; d++)
    point.at[d] = d < dimension ? point.at[d] + h * (at[d] + (place[d] + 0.5) / along) : 0.;
  return point;
}

/* The lattice of one cell, as far as it is free. */
static PetscInt free_lattice(const Splash splash, const PetscInt at[DIM], Vector3 points[])
{
  const PetscInt  dimension = grid_box(splash->grid)->dimension;
  const PetscReal h = grid_spacing(splash->grid);
  const Vector3   centre = grid_cell_centre(splash->grid, at[X], at[Y], at[Z]);
  const PetscReal distance = splash->obstacle_count ? obstacle_distance(splash, centre) : PETSC_MAX_REAL;
  PetscInt        count = 0;

  for (PetscInt n = 0; n < lattice_size(splash->config, dimension) && distance > -2. * h; n++) {
    const Vector3 point = lattice_point(splash, at, n);

    if (distance > h || !is_in_obstacle(splash, point))
      points[count++] = point;
  }
  return count;
}

PetscBool is_in_box(const GridBox *box, const PetscInt at[DIM])
{
  for (PetscInt d = 0; d < box->dimension; d++)
    if (!box->periodic[d] && (at[d] < 0 || at[d] >= box->cells[d]))
      return PETSC_FALSE;
  return PETSC_TRUE;
}

static PetscErrorCode RasterLattice(Splash splash, const RasterFields *fields)
{
  const GridBox  *box = grid_box(splash->grid);
  const GridRange range = box_grown(box, 1);
  Vector3        *points;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(lattice_size(splash->config, box->dimension), &points));
  FOR_PLACES(&range, at)
    if (is_in_box(box, at))
      raster_points(splash, free_lattice(splash, at, points), points, NULL, 0, fields);
  PetscCall(PetscFree(points));
  PetscFunctionReturn(0);
}

static PetscBool is_free(const Splash splash, const PetscInt at[DIM])
{
  return !is_in_box(grid_box(splash->grid), at) ||
                 !is_in_obstacle(splash, grid_cell_centre(splash->grid, at[X], at[Y], at[Z]))
             ? PETSC_TRUE
             : PETSC_FALSE;
}

/* Obstacles of whole cells, with sharp sides. */
static void fill_whole_cells(const Splash splash, const RasterFields *fields)
{
  const GridBox  *box = grid_box(splash->grid);
  const PetscReal full = (PetscReal)lattice_size(splash->config, box->dimension);

  FOR_CELLS(box, i, j, k)
    fields->cells[box_index(box, i, j, k)] = is_free(splash, (PetscInt[]){i, j, k}) ? full : 0.;
  for (PetscInt d = 0; d < box->dimension; d++) {
    const GridRange faces = grid_faces(splash->grid, d);

    FOR_CELLS(&faces, i, j, k) {
      const PetscInt  above[DIM] = {i, j, k};
      PetscInt        below[DIM] = {i, j, k};
      const PetscReal part = face_place(splash, d, above[d]) == FACE_INSIDE ? 1. : 0.5;

      below[d]--;
      fields->faces[d][2 * box_index(box, i, j, k)] =
          is_free(splash, above) && is_free(splash, below) ? part * full : 0.;
    }
  }
}

/* For all cells of the local arrays. */
static PetscErrorCode MarkObstacles(Splash splash)
{
  const GridBox  *box = grid_box(splash->grid);
  const GridRange range = box_grown(box, box->ghost);
  const PetscReal reach = 2. * grid_spacing(splash->grid); /* half a diagonal and some */
  PetscReal      *near, *solid;

  PetscFunctionBegin;
  PetscCall(VecGetArray(splash->near, &near));
  PetscCall(VecGetArray(splash->solid, &solid));
  FOR_CELLS(&range, i, j, k) {
    const PetscReal distance = splash->obstacle_count
                                   ? obstacle_distance(splash, grid_cell_centre(splash->grid, i, j, k))
                                   : PETSC_MAX_REAL;

    near[box_index(box, i, j, k)] = distance < reach ? 1. : 0.;
    solid[box_index(box, i, j, k)] = distance <= 0. ? 1. : 0.;
  }
  PetscCall(VecRestoreArray(splash->solid, &solid));
  PetscCall(VecRestoreArray(splash->near, &near));
  PetscFunctionReturn(0);
}

PetscErrorCode SplashFindRoom(Splash splash)
{
  RasterFields fields;

  PetscFunctionBegin;
  PetscCall(RasterBegin(splash, splash->room, &fields));
  if (splash->fluid->obstacles == OBSTACLES_VOXELS)
    fill_whole_cells(splash, &fields);
  else
    PetscCall(RasterLattice(splash, &fields));
  PetscCall(RasterEnd(splash, &fields, splash->room, splash->face_room, NULL));
  PetscCall(MarkObstacles(splash));
  PetscFunctionReturn(0);
}
