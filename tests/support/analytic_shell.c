#include "analytic_shell.h"

static const PetscReal thickness = 1e-6; /* cells */

static Vector3 turned(Vector3 v, PetscReal angle)
{
  const PetscReal c = PetscCosReal(angle), s = PetscSinReal(angle);

  return vector3(c * v.at[X] - s * v.at[Y], s * v.at[X] + c * v.at[Y], v.at[Z]);
}

static Vector3 into_shell(const AnalyticShell *shell, StepMoment moment, Vector3 point)
{
  Vector3 v = vector3_subtract(point, shell->centre[moment]);

  if (grid_box(shell->grid)->dimension == 2)
    v.at[Z] = 0.;
  return turned(v, -shell->angle[moment]);
}

PetscReal analytic_shell_distance(const AnalyticShell *shell, StepMoment moment, Vector3 point)
{
  const Vector3 v = into_shell(shell, moment, point);

  return shell->form == ANALYTIC_SHELL_SHEET ? v.at[Y] : vector3_norm(v) - shell->size;
}

/* Of a point in the coordinates of the shell, without a sign. */
static PetscReal distance_to(const AnalyticShell *shell, Vector3 v)
{
  if (shell->form == ANALYTIC_SHELL_BOWL && v.at[Y] > 0.) {
    const PetscReal out = PetscSqrtReal(v.at[X] * v.at[X] + v.at[Z] * v.at[Z]) - shell->size;

    return PetscSqrtReal(out * out + v.at[Y] * v.at[Y]);
  }
  if (shell->form != ANALYTIC_SHELL_SHEET)
    return PetscAbsReal(vector3_norm(v) - shell->size);
  for (PetscInt d = 0; d < DIM; d++)
    v.at[d] -= d == Y ? 0. : PetscMax(-shell->size, PetscMin(v.at[d], shell->size));
  return vector3_norm(v);
}

static PetscBool ball_blocks(const AnalyticShell *shell, Vector3 a, Vector3 b)
{
  const PetscBool a_inside = vector3_norm(a) < shell->size, b_inside = vector3_norm(b) < shell->size;
  const Vector3   way = vector3_subtract(b, a);
  const PetscReal square = vector3_dot(way, way);
  PetscReal       part;

  if (a_inside != b_inside || a_inside)
    return a_inside != b_inside ? PETSC_TRUE : PETSC_FALSE;
  part = square > 0. ? PetscMax(0., PetscMin(-vector3_dot(a, way) / square, 1.)) : 0.;
  return vector3_norm(vector3_add(a, vector3_scale(part, way))) < shell->size ? PETSC_TRUE : PETSC_FALSE;
}

/* At one of the two places where the line meets the sphere. */
static PetscBool bowl_blocks(const AnalyticShell *shell, Vector3 a, Vector3 b)
{
  const Vector3   way = vector3_subtract(b, a);
  const PetscReal square = vector3_dot(way, way), half = vector3_dot(a, way);
  const PetscReal root = half * half - square * (vector3_dot(a, a) - shell->size * shell->size);

  for (PetscInt sign = -1; sign <= 1 && root >= 0. && square > 0.; sign += 2) {
    const PetscReal part = (-half + sign * PetscSqrtReal(root)) / square;

    if (part >= 0. && part <= 1. && a.at[Y] + part * way.at[Y] <= 0.)
      return PETSC_TRUE;
  }
  return PETSC_FALSE;
}

static PetscBool sheet_blocks(const AnalyticShell *shell, Vector3 a, Vector3 b)
{
  PetscReal part;

  if ((a.at[Y] < 0.) == (b.at[Y] < 0.))
    return PETSC_FALSE;
  part = a.at[Y] / (a.at[Y] - b.at[Y]);
  for (PetscInt d = 0; d < DIM; d++)
    if (d != Y && PetscAbsReal(a.at[d] + part * (b.at[d] - a.at[d])) > shell->size)
      return PETSC_FALSE;
  return PETSC_TRUE;
}

static PetscBool shell_blocks(const void *context, StepMoment moment, Vector3 from, Vector3 to)
{
  const AnalyticShell *shell = context;
  const Vector3        a = into_shell(shell, moment, from), b = into_shell(shell, moment, to);
  const PetscReal      thin = thickness * grid_spacing(shell->grid);

  if (distance_to(shell, a) < thin || distance_to(shell, b) < thin)
    return PETSC_TRUE;
  if (shell->form == ANALYTIC_SHELL_BOWL)
    return bowl_blocks(shell, a, b);
  return shell->form == ANALYTIC_SHELL_BALL ? ball_blocks(shell, a, b) : sheet_blocks(shell, a, b);
}

static Vector3 shell_carry(const void *context, StepMoment to, Vector3 point)
{
  const AnalyticShell *shell = context;
  const StepMoment     from = to == STEP_END ? STEP_START : STEP_END;
  const Vector3        v = into_shell(shell, from, point);
  Vector3              moved;

  if (distance_to(shell, v) > VISIBILITY_REACH * grid_spacing(shell->grid))
    return point;
  moved = vector3_add(shell->centre[to], turned(v, shell->angle[to]));
  if (grid_box(shell->grid)->dimension == 2)
    moved.at[Z] = point.at[Z];
  return moved;
}

/* Not around an edge. */
static PetscBool shell_crosses(const void *context, Vector3 from, Vector3 to)
{
  return shell_blocks(context, STEP_END, shell_carry(context, STEP_END, from), to);
}

static Vector3 shell_velocity(const void *context, Vector3 point)
{
  const AnalyticShell *shell = context;

  return vector3_scale(1. / shell->dt, vector3_subtract(shell_carry(shell, STEP_END, point), point));
}

static PetscErrorCode MarkNear(AnalyticShell *shell)
{
  const GridBox  *box = grid_box(shell->grid);
  const PetscReal reach = VISIBILITY_REACH * grid_spacing(shell->grid);
  PetscReal      *near;

  PetscFunctionBegin;
  PetscCall(VecGetArray(shell->visibility.near, &near));
  FOR_CELLS(box, i, j, k) {
    const Vector3 point = grid_cell_centre(shell->grid, i, j, k);

    near[box_index(box, i, j, k)] = distance_to(shell, into_shell(shell, STEP_START, point)) < reach ||
                                            distance_to(shell, into_shell(shell, STEP_END, point)) < reach
                                        ? 1.
                                        : 0.;
  }
  PetscCall(VecRestoreArray(shell->visibility.near, &near));
  PetscCall(MacGridExchange(shell->grid, shell->visibility.near));
  PetscFunctionReturn(0);
}

PetscErrorCode AnalyticShellStart(AnalyticShell *shell, MacGrid grid)
{
  PetscFunctionBegin;
  shell->grid = grid;
  shell->visibility = (Visibility){.context = shell,
                                   .blocks = shell_blocks,
                                   .carry = shell_carry,
                                   .crosses = shell_crosses,
                                   .velocity = shell_velocity};
  PetscCall(MacGridCreateField(grid, &shell->visibility.near));
  PetscCall(AnalyticShellMove(shell, shell->centre[STEP_END], shell->angle[STEP_END], 1.));
  PetscFunctionReturn(0);
}

PetscErrorCode AnalyticShellMove(AnalyticShell *shell, Vector3 centre, PetscReal angle, PetscReal dt)
{
  PetscFunctionBegin;
  shell->centre[STEP_START] = shell->centre[STEP_END];
  shell->angle[STEP_START] = shell->angle[STEP_END];
  shell->centre[STEP_END] = centre;
  shell->angle[STEP_END] = angle;
  shell->dt = dt;
  PetscCall(MarkNear(shell));
  PetscFunctionReturn(0);
}

PetscErrorCode AnalyticShellDestroy(AnalyticShell *shell)
{
  PetscFunctionBegin;
  PetscCall(VecDestroy(&shell->visibility.near));
  PetscFunctionReturn(0);
}
