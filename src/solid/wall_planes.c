/* The sides of a box as planes that hold bodies in it, and barriers: static, the last of the bodies, and seen
   by contact alone. */
#include "solid_impl.h"

static const char *const wall_names[2 * DIM] = {"wall_x_low",  "wall_x_high", "wall_y_low",
                                                "wall_y_high", "wall_z_low",  "wall_z_high"};

void solid_name_walls(Solid solid)
{
  for (PetscInt side = 0; side < 2 * DIM; side++) {
    if (!solid->config->walls || !solid->config->held[side / 2][side % 2])
      continue;
    solid->walls[solid->wall_count++] = (BodyConfig){
        .name = (char *)wall_names[side], .kind = BODY_STATIC, .copies = {.count = vector3(1, 1, 1)}};
    solid->body_count++;
  }
  solid->wall_count += solid->config->barrier_count;
  solid->body_count += solid->config->barrier_count;
}

/* The side of the box that a wall stands at. */
static PetscErrorCode CreateForm(Solid solid, PetscInt side, Form **form, RigidTransform *rest)
{
  Vector3 normal = vector3(0, 0, 0);
  char    message[256];
  Shape   plane;

  PetscFunctionBegin;
  normal.at[side / 2] = side % 2 ? -1. : 1.;
  PetscCall(ShapeCreatePlane(side % 2 ? solid->config->box_high : solid->config->box_low, normal, &plane));
  PetscCall(FormCreate(plane, 0., form, rest, message, sizeof(message)));
  PetscCall(ShapeDestroy(&plane));
  PetscCheck(*form, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s", message);
  PetscFunctionReturn(0);
}

/* Behind the sides. */
static PetscErrorCode PlaceBarrier(Solid solid, PetscInt n)
{
  const BodyConfig *barrier = &solid->config->barriers[n];
  const PetscInt    wall = solid->wall_count - solid->config->barrier_count + n,
                 b = solid_body_count(solid) + wall;
  Form **form = &solid->forms[solid->config->body_count + wall];
  char   problem[512];

  PetscFunctionBegin;
  PetscCall(FormCreate(barrier->shape, 0., form, &solid->placements[b], problem, sizeof(problem)));
  PetscCheck(*form, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Obstacle \"%s\": %s", barrier->name, problem);
  solid->bodies[b] = (Body){.config = barrier, .form = *form, .rest = solid->placements[b]};
  PetscFunctionReturn(0);
}

PetscErrorCode SolidPlaceWalls(Solid solid)
{
  PetscInt wall = 0;

  PetscFunctionBegin;
  for (PetscInt n = 0; n < solid->config->barrier_count; n++)
    PetscCall(PlaceBarrier(solid, n));
  for (PetscInt side = 0; side < 2 * DIM && wall < solid->wall_count - solid->config->barrier_count; side++) {
    const PetscInt b = solid_body_count(solid) + wall;
    Form         **form = &solid->forms[solid->config->body_count + wall];

    if (!solid->config->held[side / 2][side % 2])
      continue;
    PetscCall(CreateForm(solid, side, form, &solid->placements[b]));
    solid->bodies[b] = (Body){.config = &solid->walls[wall++], .form = *form, .rest = solid->placements[b]};
  }
  PetscFunctionReturn(0);
}
