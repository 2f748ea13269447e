/* Thin shells that are known by formulas, and what can be seen past them. */
#ifndef MILLRACE_TESTS_ANALYTIC_SHELL_H
#define MILLRACE_TESTS_ANALYTIC_SHELL_H

#include <millrace/visibility.h>

/* A sphere (circle), the part of one that lies below the middle along its own y, or a rectangle across that.
 */
typedef enum { ANALYTIC_SHELL_BALL, ANALYTIC_SHELL_BOWL, ANALYTIC_SHELL_SHEET } AnalyticShellForm;

typedef struct {
  AnalyticShellForm form;
  PetscReal         size;      /* radius, or half the length along its own x and, in three dimensions, z; m */
  Vector3           centre[2]; /* by moment */
  PetscReal         angle[2];  /* about z */
  PetscReal         dt;        /* between the moments, s */
  MacGrid           grid;      /* borrowed */
  Visibility        visibility;
} AnalyticShell;

/* Form, size, and centre and angle of STEP_END are to be set before. Collective: fluid, as all that
 * follows. */
PetscErrorCode AnalyticShellStart(AnalyticShell *shell, MacGrid grid);
/* The end of the last step becomes the start of the next. */
PetscErrorCode AnalyticShellMove(AnalyticShell *shell, Vector3 centre, PetscReal angle, PetscReal dt);
PetscErrorCode AnalyticShellDestroy(AnalyticShell *shell);

/* Signed distance in the sense of the form: from the surface of a ball or of all of it, negative inside; from
 * the plane of a sheet. */
PetscReal analytic_shell_distance(const AnalyticShell *shell, StepMoment moment, Vector3 point);

#endif
