/* Which solver the linear systems of elasticity get by `solver: auto`: conjugate gradients while the matrix
   is not far from the masses, else a factor as long as memory allows (docs/numerics.md). */
#include "points.h"

enum { MOST_FACTORED = 150000 };                  /* unknowns */
static const PetscReal resolved = 100.;           /* half the step times the largest frequency */
static const PetscReal most_apart_in_fluid = 64.; /* of the matrix and the masses */

static ElasticSolver factor_or_multigrid(PetscInt unknowns)
{
  return unknowns > MOST_FACTORED ? SOLVER_MULTIGRID : SOLVER_CHOLESKY;
}

PetscBool points_may_factor(PetscInt unknowns)
{
  return unknowns <= MOST_FACTORED ? PETSC_TRUE : PETSC_FALSE;
}

static PetscReal largest_frequency(const Points *points)
{
  PetscReal largest = 0.;

  for (PetscInt m = 0; m < points->mesh_count; m++)
    largest = PetscMax(largest, points->meshes[m].frequency);
  return largest;
}

/* The largest eigenvalue of what weights of stiffness and damping add to the masses, over these. */
static PetscReal largest_share(const Points *points, PetscReal stiffness, PetscReal damping)
{
  PetscReal largest = 0.;

  for (PetscInt m = 0; m < points->mesh_count; m++) {
    const DeformableMesh *mesh = &points->meshes[m];

    largest = PetscMax(largest,
                       PetscSqr(mesh->frequency) * (stiffness + damping * material_damping(mesh->material)));
  }
  return largest;
}

ElasticSolver points_choose_solver(Solid solid, PetscReal dt, PetscInt unknowns)
{
  if (solid->config->solver != SOLVER_AUTO)
    return solid->config->solver;
  if (solid->config->elasticity != ELASTIC_STATIC && 0.5 * largest_frequency(solid->points) * dt < resolved)
    return SOLVER_CG;
  return factor_or_multigrid(unknowns);
}

ElasticSolver points_choose_solver_in_fluid(Solid solid, PetscReal stiffness, PetscReal damping,
                                            PetscBool in_contact, PetscInt unknowns)
{
  if (solid->config->solver != SOLVER_AUTO)
    return solid->config->solver;
  if (!in_contact && largest_share(solid->points, stiffness, damping) < most_apart_in_fluid)
    return SOLVER_CG;
  return factor_or_multigrid(unknowns);
}

/* As many as a matrix has without bodies that only touch. */
static PetscInt count_unknowns(const Points *points)
{
  PetscInt blocks = 2 * points->carrying_count;

  for (PetscInt p = 0; p < points->count; p++)
    blocks += points->inverse_mass[p] > 0. ? 1 : 0;
  return DIM * blocks;
}

/* What decides: `value` and the limit below which conjugate gradients do. */
static PetscErrorCode Explain(ElasticSolver solver, const char what[], PetscReal value, PetscReal limit,
                              PetscInt unknowns, char text[], size_t size)
{
  PetscFunctionBegin;
  if (solver == SOLVER_CG)
    snprintf(text, size, "%s: %s is %.3g, below %.0f", ElasticSolvers[solver], what, (double)value,
             (double)limit);
  else
    snprintf(text, size, "%s: %s is %.3g, not below %.0f, with %" PetscInt_FMT " unknowns, %s %d",
             ElasticSolvers[solver], what, (double)value, (double)limit, unknowns,
             solver == SOLVER_MULTIGRID ? "above" : "at most", MOST_FACTORED);
  PetscFunctionReturn(0);
}

static PetscErrorCode ExplainInFluid(Solid solid, PetscReal dt, char text[], size_t size)
{
  const PetscInt unknowns = count_unknowns(solid->points);
  PointsWeights  weights = points_weights_in_fluid(solid, dt);

  PetscFunctionBegin;
  if (!points_are_implicit_over(solid, dt))
    weights.stiffness = 0.;
  if (!(weights.stiffness > 0.) && !solid->points->is_damped)
    PetscCall(PetscStrncpy(text, "none: elasticity is explicit in such steps, and nothing damps it", size));
  else
    PetscCall(Explain(
        points_choose_solver_in_fluid(solid, weights.stiffness, weights.damping, PETSC_FALSE, unknowns),
        "without contact, what elasticity and damping add to the masses, over these,",
        largest_share(solid->points, weights.stiffness, weights.damping), most_apart_in_fluid, unknowns, text,
        size));
  PetscFunctionReturn(0);
}

PetscErrorCode SolidExplainSolver(Solid solid, PetscReal dt, char text[], size_t size)
{
  const SolidConfig *config = solid->config;
  const PetscInt     unknowns = count_unknowns(solid->points);

  PetscFunctionBegin;
  text[0] = '\0';
  if (!solid->points->mesh_count)
    PetscFunctionReturn(0);
  if (!config->in_fluid && !elastic_time_is_implicit(config->elasticity))
    PetscCall(PetscStrncpy(text, "none: elasticity is explicit", size));
  else if (config->solver != SOLVER_AUTO)
    PetscCall(PetscSNPrintf(text, size, "%s: the scene says so", ElasticSolvers[config->solver]));
  else if (config->in_fluid)
    PetscCall(ExplainInFluid(solid, dt, text, size));
  else if (config->elasticity == ELASTIC_STATIC)
    PetscCall(PetscSNPrintf(text, size, "%s: equilibrium, with %" PetscInt_FMT " unknowns, %s %d",
                            ElasticSolvers[factor_or_multigrid(unknowns)], unknowns,
                            unknowns > MOST_FACTORED ? "above" : "at most", MOST_FACTORED));
  else
    PetscCall(Explain(points_choose_solver(solid, dt, unknowns), "half a step times the largest frequency",
                      0.5 * dt * largest_frequency(solid->points), resolved, unknowns, text, size));
  PetscFunctionReturn(0);
}
