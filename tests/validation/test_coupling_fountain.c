/* The fountain of inputs/coupling (thesis, Fig. 5.7): bodies circulate and collide. */
#include "harness.h"
#include "liquid.h"

#include <math.h>

/* A body in the fountain: from where the jet takes it. */
typedef struct {
  PetscBool is_in_jet;
  PetscReal from;    /* the height at which it came in */
  PetscReal lifted;  /* most since then, m */
  PetscBool was_out; /* after it had been lifted */
} Visit;

/* The jet is 0.22 m wide; a body is in it that touches it, and out where the water falls back. */
static void follow(Visit *visit, Vector3 position)
{
  const PetscReal in = 0.16, out = 0.25, enough = 0.1;
  const PetscReal away = hypot(position.at[X] - 0.5, position.at[Z] - 0.5);

  if (away < in && !visit->is_in_jet) {
    visit->is_in_jet = PETSC_TRUE;
    visit->from = position.at[Y];
  }
  if (visit->is_in_jet)
    visit->lifted = PetscMax(visit->lifted, position.at[Y] - visit->from);
  if (away > out) {
    visit->is_in_jet = PETSC_FALSE;
    visit->was_out = visit->was_out || visit->lifted > enough ? PETSC_TRUE : PETSC_FALSE;
  }
}

/* Fig. 5.7: after 0.6 s, when all have fallen in. */
static void bodies_circulate_and_collide_in_the_fountain(void **state)
{
  const PetscReal fallen = 0.6, end = 2.5;
  PetscInt        collisions = 0, lifted = 0, out = 0, count;
  PetscReal       dt;
  Visit          *visits;
  Solid           solid;
  SceneRun        flow;

  (void)state;
  assert_success(SceneRunOpen(&flow, "coupling/fountain", 20, NULL));
  solid = simulation_solid(flow.simulation);
  count = solid_body_count(solid);
  assert_success(PetscCalloc1(count, &visits));
  while (simulation_time(flow.simulation) < end - 1e-9) {
    assert_success(SimulationGetTimeStep(flow.simulation, end, &dt));
    assert_success(SceneRunStep(&flow, 1, dt));
    if (simulation_time(flow.simulation) < fallen)
      continue;
    collisions += solid_report(solid).collisions;
    for (PetscInt b = 0; b < count; b++)
      follow(&visits[b], solid_body_view(solid, b).position);
  }
  for (PetscInt b = 0; b < count; b++) {
    lifted += visits[b].lifted > 0.1;
    out += visits[b].was_out;
  }
  note("fountain: the jet lifts %d of %d bodies, %d are out again; %d collisions", (int)lifted, (int)count,
       (int)out, (int)collisions);
  assert_on_all_ranks(lifted >= 5 && out >= 2);
  assert_on_all_ranks(collisions > 100);
  assert_success(PetscFree(visits));
  assert_success(SceneRunDestroy(&flow));
}

TEST_MAIN(cmocka_unit_test(bodies_circulate_and_collide_in_the_fountain))
