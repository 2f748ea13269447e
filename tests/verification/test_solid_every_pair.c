/* Every shape falls on every other, turned at random, and from there to the floor: none gains energy, sinks
   in or falls through. */
#include "harness.h"
#include "solids.h"
#include "solid_case.h"

#include "solid/solid_impl.h"

#define G 9.81

typedef enum { SPHERE, CAPSULE, BOX, CYLINDER, CONE, TORUS, HULL, RING, BOWL, DISC, PLATE_BOX, KINDS } Kind;

static const char *const names[KINDS] = {"sphere", "capsule", "box",  "cylinder", "cone",      "torus",
                                         "hull",   "ring",    "bowl", "disc",     "hollow box"};

static Surface make_bowl(PetscReal radius)
{
  enum { RINGS = 8 };
  PetscReal radii[RINGS], heights[RINGS];

  for (PetscInt k = 0; k < RINGS; k++) {
    radii[k] = radius * PetscSinReal(0.5 * PETSC_PI * (PetscReal)k / (RINGS - 1));
    heights[k] = -radius * PetscCosReal(0.5 * PETSC_PI * (PetscReal)k / (RINGS - 1));
  }
  return make_lathed(RINGS, radii, heights, 24);
}

static Shape make_simple(Kind kind)
{
  Shape shape = NULL;

  if (kind == SPHERE)
    assert_success(ShapeCreateSphere(vector3(0, 0, 0), 0.4, &shape));
  else if (kind == CAPSULE)
    assert_success(ShapeCreateCapsule(vector3(-0.3, 0, 0), vector3(0.3, 0, 0), 0.2, &shape));
  else if (kind == BOX)
    assert_success(ShapeCreateBox(vector3(-0.4, -0.3, -0.2), vector3(0.4, 0.3, 0.2), &shape));
  else if (kind == CYLINDER)
    assert_success(ShapeCreateCylinder(vector3(0, 0, -0.3), vector3(0, 0, 0.3), 0.3, &shape));
  else if (kind == CONE)
    assert_success(ShapeCreateCone(vector3(0, 0, -0.3), vector3(0, 0, 0.5), 0.4, &shape));
  else
    assert_success(ShapeCreateTorus(vector3(0, 0, 0), vector3(0, 0, 1), 0.35, 0.12, &shape));
  return shape;
}

/* Of about 0.8 across, about the origin; what has a thickness is a shell. */
static Shape make_kind(Kind kind, PetscReal *thickness)
{
  Surface surface;
  Shape   shape;

  *thickness = kind < BOWL ? 0 : 0.06;
  if (kind < HULL)
    return make_simple(kind);
  if (kind == HULL)
    surface = make_icosahedron(0.4);
  else if (kind == RING)
    surface = make_ring(0.35, 0.12, 16, 8);
  else if (kind == BOWL)
    surface = make_bowl(0.5);
  else
    surface = kind == DISC ? make_disc(0.5, 3, 16) : make_box(vector3(0.4, 0.3, 0.25));
  assert_success(ShapeCreateSurface(&surface, &shape));
  return shape;
}

static BodyConfig *add_turned(SolidCase *solids, Kind kind, Vector3 centre, uint64_t *seed)
{
  const Vector3 axis = random_direction(seed);
  const double  angle = 3 * random_number(seed);
  PetscReal     thickness;
  Shape         shape = make_kind(kind, &thickness), placed;
  BodyConfig   *body;

  assert_success(ShapeCreatePlaced(&shape, 1, vector3_scale(angle, axis), centre, &placed));
  body = solid_case_add(solids, placed);
  body->thickness = thickness;
  body->friction = 0.5;
  return body;
}

static PetscReal energy_of(SolidCase *solids)
{
  const SolidReport report = solid_report(solids->solid);

  return report.kinetic_energy + report.potential_energy;
}

typedef struct {
  PetscReal rise;  /* of the energy in a step, the largest: m that the weight would be lifted by */
  PetscReal depth; /* of the smaller size */
  PetscReal lost;  /* m, in all */
  PetscReal height;
} Fall;

/* How deep the corners of the one that falls lie in the other: not by what contact has found. */
static PetscReal corner_depth(SolidCase *solids)
{
  const Body           *bodies = solids->solid->bodies;
  const RigidTransform *placements = solids->solid->placements;
  PetscInt              count;
  const Vector3        *corners;
  PetscReal             depth = 0;
  Vector3               gradient;

  assert_success(SurfaceGet(bodies[2].form->surface, &count, &corners, NULL, NULL));
  for (PetscInt k = 0; k < count; k++) {
    const Vector3 corner = rigid_apply(&placements[2], corners[k]);

    depth = PetscMax(depth,
                     -form_distance(bodies[1].form, rigid_apply_inverse(&placements[1], corner), &gradient));
  }
  return depth;
}

static Fall let_fall(Kind below, Kind above, uint64_t seed)
{
  SolidCase *solids = solid_case_new(G);
  Fall       fall = {0};
  PetscReal  weight, size, before, now;

  solid_case_add_plane(solids, vector3(0, 0, 0), vector3(0, 0, 1))->friction = 0.5;
  add_turned(solids, below, vector3(0, 0, 1.2), &seed)->kind = BODY_STATIC;
  add_turned(solids, above, vector3(0.1 * random_number(&seed), 0, 2.4), &seed);
  solid_case_start(solids);
  weight = solids->solid->bodies[2].mass * G;
  size = PetscMin(solids->solid->bodies[1].form->size, solids->solid->bodies[2].form->size);
  before = energy_of(solids);
  fall.lost = before / weight;
  for (PetscInt k = 0; k < 360; k++) {
    solid_case_run(solids, 1. / 240, 1);
    now = energy_of(solids);
    fall.rise = PetscMax(fall.rise, (now - before) / weight);
    fall.depth = PetscMax(fall.depth, solid_report(solids->solid).largest_penetration / size);
    if (k % 5 == 0)
      fall.depth = PetscMax(fall.depth, corner_depth(solids) / size);
    before = now;
  }
  fall.lost -= now / weight;
  fall.height = solid_case_position(solids, 2).at[Z];
  solid_case_free(solids);
  return fall;
}

/* Over seven seeds 0.002 m and 0.011 of the size, that of a shell's thickness, were the worst. */
static void every_shape_falls_on_every_other(void **state)
{
  (void)state;
  for (Kind below = 0; below < KINDS; below++)
    for (Kind above = 0; above < KINDS; above++) {
      const Fall fall = let_fall(below, above, (uint64_t)(100 * below + above + 1));

      if (!(fall.rise < 0.005 && fall.depth < 0.02 && fall.lost > 0 && fall.height > 0.02))
        fail_msg("%s on %s: energy %g m, depth %g, lost %g m, at %g m", names[above], names[below],
                 (double)fall.rise, (double)fall.depth, (double)fall.lost, (double)fall.height);
    }
}

TEST_MAIN(cmocka_unit_test(every_shape_falls_on_every_other))
