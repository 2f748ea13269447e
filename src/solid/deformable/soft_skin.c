/* Soft bound copies of points of the surface (2.3): particles of their own, which contact meets, held to
   their targets by binding springs. So that they follow without being pulled, the elastic forces of the mesh
   act on them too:

     share      parents give a part of their mass to the copies, m' = m - W^T m_s, a = (m' + W^T m_s W)^-1 f
   is what all of them have together, and of f the copies get f_s = m_s W a, parents the rest. Nothing is
   lost: the rest acts where the copies are, f - W'^T f_s with the weights W' of their places in the elements
   as these are now. duplicate  copies have the effective mass of their targets besides, f_s = m_s W M^-1 f
   (the thesis): what they weigh is there twice, and their momentum with it. */
#include "points.h"

/* The part of its mass that a parent gives, at most. */
static const PetscReal given_part = 0.1;

PetscBool mesh_is_soft(const DeformableMesh *mesh)
{
  const SkinConfig *skin = &mesh->config->skin;

  return skin->stiffness > 0. || skin->coupling == SKIN_SYNCHRONISED ? PETSC_TRUE : PETSC_FALSE;
}

PetscErrorCode MeshAddCopies(Solid solid, DeformableMesh *mesh)
{
  Points     *points = solid->points;
  SoftPoints *soft = &points->soft;

  PetscFunctionBegin;
  if (!mesh_is_soft(mesh))
    PetscFunctionReturn(0);
  PetscCall(PetscMalloc1(mesh_vertices(mesh), &mesh->shown));
  for (PetscInt v = 0; v < mesh_vertices(mesh); v++)
    mesh->shown[v] = mesh->first + v;
  for (PetscInt k = 0; k < mesh->skin_count; k++) {
    const PetscInt copy = mesh->first_copy + k, target = mesh->skin[k];

    points->rest[copy] = points->position[copy] = points->rest[target];
    if (mesh->config->skin.inside &&
        !shape_is_inside(mesh->config->skin.inside, place_in_scene(mesh->config, points->rest[target]))) {
      points->carrier[copy] = CARRIER_WORLD; /* not in use */
      continue;
    }
    if (target - mesh->first < mesh_vertices(mesh))
      mesh->shown[target - mesh->first] = copy;
    mesh->skin[k] = copy;
    if (mesh->config->skin.coupling == SKIN_SYNCHRONISED) {
      PetscCall(PointSynchronise(points, copy, target));
      continue;
    }
    PetscCall(GrowList(soft->count, &soft->room, &soft->list));
    soft->list[soft->count++] =
        (SoftPoint){.copy = copy,
                    .target = target,
                    .element = mesh->skin_elements[k],
                    .mesh = (PetscInt)(mesh - points->meshes),
                    .is_shared = mesh->config->skin.mass == SKIN_SHARE ? PETSC_TRUE : PETSC_FALSE};
    PetscCall(GrowList(points->springs.count, &points->springs.room, &points->springs.list));
    points->springs.list[points->springs.count++] = (BindingSpring){.point = copy,
                                                                    .target = target,
                                                                    .stiffness = mesh->config->skin.stiffness,
                                                                    .damping = mesh->config->skin.damping};
    points->springs.copy_count++;
  }
  PetscFunctionReturn(0);
}

/* Calls for every point that carries the target and moves by itself. */
typedef void (*ParentVisitor)(Points *points, PetscInt parent, PetscReal weight, void *context);

static void visit_parents(Points *points, PetscInt target, ParentVisitor visit, void *context)
{
  const PetscInt k = points->bindings.index[target];

  if (k < 0 && points->carrier[target] == CARRIER_NONE)
    visit(points, target, 1., context);
  for (PetscInt n = k < 0 ? 0 : points->bindings.first[k]; k >= 0 && n < points->bindings.first[k + 1]; n++)
    if (points->carrier[points->bindings.parents[n]] == CARRIER_NONE)
      visit(points, points->bindings.parents[n], points->bindings.weights[n], context);
}

static void add_load(Points *points, PetscInt parent, PetscReal weight, void *context)
{
  (void)points;
  ((PetscReal *)context)[parent] += weight;
}

typedef struct {
  const PetscReal *loads;
  PetscReal        mass;
} Giving;

static void find_least(Points *points, PetscInt parent, PetscReal weight, void *context)
{
  Giving *giving = context;

  (void)weight;
  giving->mass = PetscMin(giving->mass, given_part * points->mass[parent] / giving->loads[parent]);
}

static void take_mass(Points *points, PetscInt parent, PetscReal weight, void *context)
{
  points->inverse_mass[parent] -= weight * ((Giving *)context)->mass; /* the mass, until all have given */
}

/* No parent gives more than its part: m_s <= part m_i / sum of weights, for each of its parents. */
PetscErrorCode SoftPointsWeigh(Solid solid)
{
  Points     *points = solid->points;
  SoftPoints *soft = &points->soft;
  PetscReal  *loads;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(points->count, &loads));
  for (PetscInt s = 0; s < soft->count; s++) {
    visit_parents(points, soft->list[s].target, add_load, loads);
    if (!soft->list[s].is_shared && points_inverse_mass(points, soft->list[s].target) > 0.)
      points->mass[soft->list[s].copy] = 1. / points_inverse_mass(points, soft->list[s].target);
  }
  for (PetscInt p = 0; p < points->count; p++)
    points->inverse_mass[p] = points->inverse_mass[p] > 0. ? points->mass[p] : 0.;
  for (PetscInt s = 0; s < soft->count; s++) {
    Giving giving = {loads, PETSC_MAX_REAL};

    if (!soft->list[s].is_shared)
      continue;
    visit_parents(points, soft->list[s].target, find_least, &giving);
    if (giving.mass < PETSC_MAX_REAL) {
      points->mass[soft->list[s].copy] = giving.mass;
      visit_parents(points, soft->list[s].target, take_mass, &giving);
    }
  }
  for (PetscInt p = 0; p < points->count; p++)
    if (points->inverse_mass[p] > 0.)
      points->mass[p] = points->inverse_mass[p];
  for (PetscInt s = 0; s < soft->count; s++)
    points->inverse_mass[soft->list[s].copy] = points->mass[soft->list[s].copy];
  for (PetscInt p = 0; p < points->count; p++)
    points->inverse_mass[p] = points->inverse_mass[p] > 0. ? 1. / points->mass[p] : 0.;
  PetscCall(PetscFree(loads));
  PetscCall(SolidMotionCreate(solid, &soft->acceleration));
  PetscCall(SolidMotionCreate(solid, &soft->rest));
  PetscCall(SolidMotionCreate(solid, &soft->search));
  PetscCall(SolidMotionCreate(solid, &soft->image));
  PetscFunctionReturn(0);
}

PetscErrorCode SoftPointsDestroy(Solid solid)
{
  SoftPoints *soft = &solid->points->soft;

  PetscFunctionBegin;
  PetscCall(SynchronisedDestroy(solid->points));
  PetscCall(SolidMotionDestroy(&soft->acceleration));
  PetscCall(SolidMotionDestroy(&soft->rest));
  PetscCall(SolidMotionDestroy(&soft->search));
  PetscCall(SolidMotionDestroy(&soft->image));
  PetscCall(PetscFree(soft->kept));
  PetscCall(PetscFree(soft->list));
  PetscFunctionReturn(0);
}

void soft_points_start(Points *points)
{
  for (PetscInt s = 0; s < points->soft.count; s++)
    points->velocity[points->soft.list[s].copy] = points->velocity[points->soft.list[s].target];
}

/* into += W^T m_s W of accelerations, of shared masses. */
static void add_inertia(Solid solid, const SolidMotion *motion, SolidMotion *into)
{
  const Points *points = solid->points;

  motion_clear(solid, &solid->points->soft.rest);
  for (PetscInt s = 0; s < points->soft.count; s++) {
    const SoftPoint *point = &points->soft.list[s];
    Vector3         *force = &points->soft.rest.points[point->target];

    if (point->is_shared)
      *force = vector3_add(*force, vector3_scale(points->mass[point->copy], motion->points[point->target]));
  }
  points_collect(solid, &solid->points->soft.rest);
  motion_combine(solid, 1., 1., &points->soft.rest, into);
}

/* a = (M' + W^T m_s W)^-1 f by conjugate gradients with M' as preconditioner, whose condition is 1.1. */
static void find_acceleration(Solid solid, const SolidMotion *forces)
{
  enum { ITERATIONS = 8 };
  SoftPoints  *soft = &solid->points->soft;
  SolidMotion *a = &soft->acceleration, *trial = &solid->points->trial, *residual = &solid->points->residual;
  PetscReal    square, first;

  motion_clear(solid, a);
  motion_clear(solid, residual);
  motion_combine(solid, 0., 1., forces, residual);
  motion_yield(solid, residual, trial);
  motion_combine(solid, 0., 1., residual, &soft->search);
  first = square = motion_product(solid, residual, trial);
  for (PetscInt k = 0; k < ITERATIONS && square > 1e-24 * first && square > 0.; k++) {
    PetscReal step, last = square;

    motion_combine(solid, 0., 1., &soft->search, &soft->image);
    add_inertia(solid, trial, &soft->image);
    step = square / motion_product(solid, &soft->image, trial);
    motion_combine(solid, 1., step, trial, a);
    motion_combine(solid, 1., -step, &soft->image, residual);
    motion_yield(solid, residual, &soft->image);
    square = motion_product(solid, residual, &soft->image);
    motion_combine(solid, square / last, 1., residual, &soft->search);
    motion_combine(solid, square / last, 1., &soft->image, trial);
  }
}

/* Weights of the corners of its element that give the place of a copy, as they are now; false: the element is
 * flat. */
static PetscBool find_weights(const Points *points, const PetscInt corners[4], Vector3 place,
                              PetscReal weights[4])
{
  Vector3   arm[4];
  PetscReal whole;

  for (PetscInt n = 1; n < 4; n++)
    arm[n] = vector3_subtract(points->position[corners[n]], points->position[corners[0]]);
  arm[0] = vector3_subtract(place, points->position[corners[0]]);
  whole = vector3_dot(arm[1], vector3_cross(arm[2], arm[3]));
  if (!(PetscAbsReal(whole) > 1e-6 * vector3_norm(arm[1]) * vector3_norm(arm[2]) * vector3_norm(arm[3])))
    return PETSC_FALSE;
  weights[0] = 1.;
  for (PetscInt n = 1; n < 4; n++) {
    weights[n] = vector3_dot(arm[0], vector3_cross(arm[n % 3 + 1], arm[(n + 1) % 3 + 1])) / whole;
    weights[0] -= weights[n];
  }
  return PETSC_TRUE;
}

PetscBool element_weights(const Points *points, const SoftPoint *point, Vector3 place, PetscReal weights[4])
{
  const DeformableMesh *mesh = &points->meshes[point->mesh];

  return find_weights(points, &mesh->elements[mesh->mesh->nodes * point->element], place, weights);
}

PetscBool soft_point_place(const Points *points, const SoftPoint *point, PetscInt corners[4],
                           PetscReal weights[4])
{
  const DeformableMesh *mesh = &points->meshes[point->mesh];

  for (PetscInt n = 0; n < 4; n++)
    corners[n] = mesh->elements[mesh->mesh->nodes * point->element + n];
  return element_weights(points, point, points->position[point->copy], weights);
}

static void give_back(Solid solid, const SoftPoint *point, Vector3 force, SolidMotion *forces)
{
  PetscInt  corners[4];
  PetscReal weights[4];

  if (soft_point_place(solid->points, point, corners, weights)) {
    for (PetscInt n = 0; n < 4; n++)
      forces->points[corners[n]] =
          vector3_subtract(forces->points[corners[n]], vector3_scale(weights[n], force));
  } else
    forces->points[point->target] = vector3_subtract(forces->points[point->target], force);
}

void soft_points_map(Solid solid, SolidMotion *forces)
{
  Points     *points = solid->points;
  SoftPoints *soft = &points->soft;

  if (!soft->count)
    return;
  find_acceleration(solid, forces);
  for (PetscInt s = 0; s < soft->count; s++) {
    const SoftPoint *point = &soft->list[s];
    const Vector3    force = vector3_scale(points->mass[point->copy],
                                           points_mean(points, point->target, soft->acceleration.points));

    if (!(points->inverse_mass[point->copy] > 0.))
      continue;
    forces->points[point->copy] = vector3_add(forces->points[point->copy], force);
    if (point->is_shared)
      give_back(solid, point, force, forces);
  }
  points_collect(solid, forces);
}

/* a = k dt^2 / 4 of a copy's spring. */
static PetscReal spring_mass(const Points *points, PetscInt s, PetscReal dt)
{
  return 0.5 * points->springs.list[s].ahead * points->springs.list[s].stiffness * dt * dt;
}

void soft_points_eliminate(Solid solid, PetscReal dt, const SolidMotion *motion, SolidMotion *impulse)
{
  Points *points = solid->points;

  for (PetscInt s = 0; s < points->soft.count; s++) {
    const SoftPoint *point = &points->soft.list[s];
    const PetscReal  mass = points->mass[point->copy], a = spring_mass(points, s, dt);
    const Vector3    own = vector3_scale(mass, motion->points[point->copy]);
    Vector3         *other = &impulse->points[point->target];

    if (mass > 0.)
      *other = vector3_add(*other, vector3_scale(a / (mass + a), own));
    points->soft.image.points[point->copy] = own;
    impulse->points[point->copy] = vector3(0, 0, 0);
  }
  points_collect(solid, impulse);
}

void soft_points_recover(Solid solid, PetscReal dt, SolidMotion *given, SolidMotion *motion)
{
  const Points *points = solid->points;

  for (PetscInt s = 0; s < points->soft.count; s++) {
    const SoftPoint *point = &points->soft.list[s];
    const PetscReal  mass = points->mass[point->copy], a = spring_mass(points, s, dt);
    Vector3         *own = &motion->points[point->copy];

    if (!(points->inverse_mass[point->copy] > 0.))
      continue;
    *own = vector3_scale(1. / (mass + a),
                         vector3_add(points->soft.image.points[point->copy],
                                     vector3_scale(a, points_mean(points, point->target, motion->points))));
    given->points[point->copy] = vector3_scale(mass, *own);
  }
}
