/* Sheets that lie on each other in `-folds` layers (4), together of 150 x 150 squares (`-squares`), and
   slide: processor time per triangle and substep, with contact and without. */
#include "scratch.h"

#include <millrace/solid_step.h>

#include "solid/solid_impl.h"

#include <time.h>

enum { MOST_FOLDS = 16 };

typedef struct {
  SolidConfig         config;
  SolidMaterialConfig material;
  SolidMeshConfig     meshes[MOST_FOLDS];
  char                names[MOST_FOLDS][8];
  Solid               solid;
} Pile;

static PetscReal processor_time(void)
{
  struct timespec now;

  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (PetscReal)now.tv_sec + 1e-9 * (PetscReal)now.tv_nsec;
}

static PetscErrorCode PileCreate(PetscInt squares, PetscInt folds, PetscReal thickness, Pile *pile)
{
  const PetscReal edge = 0.01, gap = 0.01, side = edge * (PetscReal)squares / PetscSqrtReal((PetscReal)folds);
  char            message[512];

  PetscFunctionBegin;
  *pile = (Pile){
      .material = {
          .name = "fabric", .young = 5e4, .poisson = 0.3, .density = 200, .damping = 1e-3, .bending = 1e-5}};
  for (PetscInt k = 0; k < folds; k++) {
    PetscCall(PetscSNPrintf(pile->names[k], sizeof(pile->names[k]), "fold%d", (int)k));
    pile->meshes[k] = (SolidMeshConfig){.name = pile->names[k],
                                        .material = pile->material.name,
                                        .friction = 0.3,
                                        .thickness = 1e-3,
                                        .contact_thickness = thickness,
                                        .self_contact = PETSC_TRUE,
                                        .velocity = vector3(k % 2 ? -0.2 : 0.2, 0.05 * (PetscReal)k, 0.),
                                        .mesh = {.use = MESH_USE_CLOTH, .edge = edge, .order = 1}};
    pile->meshes[k].mesh.sheet.origin =
        vector3(0.003 * (PetscReal)k, 0.004 * (PetscReal)k, gap * (PetscReal)k);
    pile->meshes[k].mesh.sheet.along = vector3(side, 0., 0.);
    pile->meshes[k].mesh.sheet.across = vector3(0., side, 0.);
  }
  pile->config = (SolidConfig){.cfl = 0.5,
                               .iterations = 6,
                               .tolerance = 1e-4,
                               .material_count = 1,
                               .materials = &pile->material,
                               .mesh_count = folds,
                               .meshes = pile->meshes};
  PetscCall(SolidCreate(PETSC_COMM_SELF, &pile->config, &pile->solid, message, sizeof(message)));
  PetscCheck(pile->solid, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s", message);
  PetscFunctionReturn(0);
}

/* The search is paid for once at the start, which the mean of two steps holds. */
static PetscErrorCode Measure(PetscInt squares, PetscInt folds, PetscReal thickness)
{
  enum { STEPS = 2, SUBSTEPS = 10 };
  PetscInt  triangles = 0, substeps = 0, pairs = 0;
  PetscReal began, taken;
  Pile      pile;

  PetscFunctionBegin;
  PetscCall(PileCreate(squares, folds, thickness, &pile));
  for (PetscInt m = 0; m < folds; m++)
    triangles += solid_mesh_elements(pile.solid, m);
  began = processor_time();
  for (PetscInt k = 0; k < STEPS; k++) {
    const PetscReal dt = SUBSTEPS * solid_longest_substep(pile.solid);

    PetscCall(SolidStep(pile.solid, (PetscReal)k * dt, dt));
    substeps += pile.solid->report.substeps;
    pairs = PetscMax(pairs, pile.solid->report.mesh_pairs);
  }
  taken = processor_time() - began;
  PetscCall(PetscPrintf(PETSC_COMM_SELF,
                        "%7" PetscInt_FMT " triangles, %s, %7" PetscInt_FMT
                        " pairs nearer than the thickness: "
                        "%.2f us per triangle and substep (target 3)\n",
                        triangles, thickness > 0. ? "with contact   " : "without contact", pairs,
                        1e6 * (double)taken / (double)(triangles * substeps)));
  PetscCall(SolidDestroy(&pile.solid));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  PetscInt squares = 150, folds = 4;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-squares", &squares, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-folds", &folds, NULL));
  PetscCheck(folds > 0 && folds <= MOST_FOLDS, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "1 to %d folds",
             (int)MOST_FOLDS);
  PetscCall(Measure(squares, folds, 0.));
  PetscCall(Measure(squares, folds, 0.0105));
  PetscCall(PetscFinalize());
  return 0;
}
