#include "cylinder.h"

#include "simulation/coupled_impl.h"

const char *const CylinderNames[CYLINDER_QUANTITIES] = {"cD", "cL", "pressure difference"};
const PetscReal   CylinderReference[CYLINDER_QUANTITIES] = {5.57953523384, 0.010618948146, 0.11752016697};

static const char *const holds[] = {[CYLINDER_STATIC] = "type: static", [CYLINDER_JOINED] = "density: 1"},
                         *const joints[] = {
                             [CYLINDER_STATIC] = "[]",
                             [CYLINDER_JOINED] =
                                 "[{name: pin, type: rigid, child: cylinder, anchor: [0.2, 0.2, 0]}]"};

static PetscErrorCode Start(CylinderHold hold, PetscInt per_diameter, PetscReal cfl, SceneRun *flow)
{
  char cells[64], solids[512];

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(cells, sizeof(cells), "fluid.cfl=%g", (double)cfl));
  PetscCall(
      PetscSNPrintf(solids, sizeof(solids),
                    "solids={bodies: [{name: cylinder, %s, shape: {sphere: {center: [0.2, 0.2], radius: "
                    "0.05}}}], joints: %s}",
                    holds[hold], joints[hold]));
  /* so many rounds that joint and fluid agree */
  PetscCall(SceneRunOpen(flow, "flow/channel-cylinder", 22 * per_diameter, cells, "obstacles=[]", solids,
                         "coupling.rounds=10", NULL));
  PetscFunctionReturn(0);
}

PetscErrorCode CylinderSurfacePressure(SceneRun *flow, PetscReal x, PetscReal outward, PetscReal *pressure)
{
  const PetscReal h = grid_spacing(flow->grid);
  PetscReal       near, far;

  PetscFunctionBegin;
  PetscCall(SceneRunSample(flow, FIELD_PRESSURE, vector3(x + 0.5 * outward * h, 0.2, 0.), &near));
  PetscCall(SceneRunSample(flow, FIELD_PRESSURE, vector3(x + 1.5 * outward * h, 0.2, 0.), &far));
  *pressure = 1.5 * near - 0.5 * far;
  PetscFunctionReturn(0);
}

PetscErrorCode CylinderRun(CylinderHold hold, PetscInt per_diameter, PetscReal cfl,
                           PetscReal results[CYLINDER_QUANTITIES])
{
  const PetscReal  scale = 2. / (0.2 * 0.2 * 0.1); /* mean velocity 0.2, diameter 0.1, density 1 */
  const PetscReal *force;
  PetscReal        front, rear;
  SceneRun         flow;

  PetscFunctionBegin;
  PetscCall(Start(hold, per_diameter, cfl, &flow));
  PetscCall(SceneRunUntil(&flow, 8.));
  force = flow.simulation->coupled->loads[LOAD_ALL];
  results[CYLINDER_DRAG] = scale * force[X];
  results[CYLINDER_LIFT] = scale * force[Y];
  results[CYLINDER_PRESSURE_DIFFERENCE] = 0.;
  if (flow.fluid) {
    PetscCall(CylinderSurfacePressure(&flow, 0.15, -1., &front));
    PetscCall(CylinderSurfacePressure(&flow, 0.25, 1., &rear));
    results[CYLINDER_PRESSURE_DIFFERENCE] = front - rear;
  }
  PetscCallMPI(MPI_Bcast(results, CYLINDER_QUANTITIES, MPIU_REAL, 0, PETSC_COMM_WORLD));
  PetscCall(SceneRunDestroy(&flow));
  PetscFunctionReturn(0);
}
