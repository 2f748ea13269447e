/* The preconditioner of S = A + B C^-1 B^T where bodies are light, that is B C^-1 B^T far above A.

   Z holds six pressures for each light body, those that its six velocities call forth in the fluid around it:
   Z ~ A^-1 B, kept near the body. With D = B^T Z and F the part of Z^T A Z that is each body's own,

     E = F + D^T C^-1 D,   Pi = I - Z E^-1 D^T C^-1 B^T,   P = Pi M Pi^T + Z E^-1 Z^T

   is positive definite for any positive definite M ~ A^-1 (a multigrid cycle), and for C -> 0 all iterates
   have B^T p = 0, where S is A: the eigenvalues of P S are bounded however light a body is, by the angle
   between Z and A^-1 B. Nothing is divided by C: with the quasi-definite matrix

     [ F  D^T ] [ x ]   [ t ]
     [ D  -C  ] [ l ] = [ u ]       u = 0: x = E^-1 t, l = C^-1 D x;   t = 0: x = E^-1 D^T C^-1 u

   an application takes two solves with its sparse factor: bodies meet in it where their mixed faces do. */
#include "coupling_impl.h"

struct Following {
  PetscInt     count;           /* of light bodies */
  PetscInt    *bodies, *number; /* their free numbers; the light number of a free body, or -1 */
  PetscInt     cell_count;
  int         *cells, *owners; /* owned cells, and their light bodies */
  PetscReal   *fields;         /* Z: six for each of these cells */
  SparseFactor factor;
  PetscReal   *from, *to, *inner; /* scratch: twelve for each light body; six */
  Vec          rest;
};

typedef struct Following Following;

/* Lighter than half of the fluid in a ball around it: then the fluid that follows it, which is no more than
   half of that, may outweigh it. */
static PetscBool is_light(Coupling coupling, PetscInt free)
{
  const Placed  *placed = &coupling->bodies[coupling->free_bodies[free]];
  const PetscInt dimension = grid_box(coupling->grid)->dimension;
  PetscReal      radius = 0.;

  for (PetscInt d = 0; d < dimension; d++)
    radius = PetscMax(radius, 0.5 * (placed->high.at[d] - placed->low.at[d]));
  return placed->body.mass < 0.5 * coupling->density * PETSC_PI * PetscSqr(radius) *
                                 (dimension == 3 ? 4. / 3. * radius : 1.)
             ? PETSC_TRUE
             : PETSC_FALSE;
}

/* Neighbours push each other in all combinations of directions. */
static PetscReal sign_of(PetscInt body)
{
  return ((uint32_t)body * 2654435761u) >> 31 ? -1. : 1.;
}

/* One cycle for a velocity of all light bodies at once. */
static PetscErrorCode Respond(Coupling coupling, PetscInt velocity, Vec pushed, Vec response)
{
  const Following *following = coupling->following;
  PetscReal       *values;

  PetscFunctionBegin;
  PetscCall(PetscArrayzero(coupling->motion, TWIST * coupling->free_count));
  for (PetscInt l = 0; l < following->count; l++)
    coupling->motion[TWIST * following->bodies[l] + velocity] = sign_of(following->bodies[l]);
  PetscCall(VecSet(pushed, 0.));
  PetscCall(VecGetArray(pushed, &values));
  rows_apply(&coupling->rows, coupling->motion, values);
  PetscCall(VecRestoreArray(pushed, &values));
  PetscCall(PoissonCycle(coupling->poisson, pushed, response));
  PetscFunctionReturn(0);
}

/* The mean beside each body: what its neighbours add to all of its cells exerts no force. */
static PetscErrorCode FindMeans(Coupling coupling, const Territory *territory, const PetscReal *response,
                                PetscReal *means)
{
  const Following *following = coupling->following;
  const PetscInt   count = following->count;

  PetscFunctionBegin;
  PetscCall(PetscArrayzero(means, 2 * count));
  for (PetscInt n = 0; n < following->cell_count; n++)
    if (territory->is_mixed[following->cells[n]]) {
      means[following->owners[n]] += response[following->cells[n]];
      means[count + following->owners[n]] += 1.;
    }
  PetscCallMPI(
      MPI_Allreduce(MPI_IN_PLACE, means, (PetscMPIInt)(2 * count), MPIU_REAL, MPI_SUM, coupling->fluid));
  for (PetscInt l = 0; l < count; l++)
    means[l] /= PetscMax(means[count + l], 1.);
  PetscFunctionReturn(0);
}

/* The cells of territories, in the order of solver vectors and on the grid's box. */
static PetscErrorCode ListCells(Coupling coupling, const Territory *territory, PetscInt **places)
{
  const GridBox *box = grid_box(coupling->grid);
  Following     *following = coupling->following;
  PetscInt       number = 0, count = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(coupling->cell_count, places));
  PetscCall(PetscMalloc2(coupling->cell_count, &following->cells, coupling->cell_count, &following->owners));
  for (PetscInt k = box->start[Z]; k < box->end[Z]; k++)
    for (PetscInt j = box->start[Y]; j < box->end[Y]; j++)
      for (PetscInt i = box->start[X]; i < box->end[X]; i++, number++) {
        const PetscInt c = box_index(box, i, j, k);

        if (territory->owner[c] < 0)
          continue;
        following->cells[count] = (int)number;
        following->owners[count] = (int)following->number[territory->owner[c]];
        (*places)[count++] = c;
      }
  following->cell_count = count;
  PetscCall(PetscCalloc1(TWIST * count, &following->fields));
  PetscFunctionReturn(0);
}

/* Z, and as fields with ghosts. */
static PetscErrorCode FindFields(Coupling coupling, const Territory *territory, const PetscInt *places,
                                 Vec fields[TWIST])
{
  Following       *following = coupling->following;
  const PetscReal *values;
  PetscReal       *field, *means;
  Vec              response;

  PetscFunctionBegin;
  PetscCall(VecDuplicate(coupling->flow, &response));
  PetscCall(PetscMalloc1(2 * following->count, &means));
  for (PetscInt n = 0; n < TWIST; n++) {
    PetscCall(MacGridCreateField(coupling->grid, &fields[n]));
    PetscCall(VecSet(fields[n], 0.));
    if (grid_box(coupling->grid)->dimension == 2 && n != X && n != Y && n != DIM + Z)
      continue;
    PetscCall(Respond(coupling, n, following->rest, response));
    PetscCall(VecGetArrayRead(response, &values));
    PetscCall(VecGetArray(fields[n], &field));
    PetscCall(FindMeans(coupling, territory, values, means));
    for (PetscInt i = 0; i < following->cell_count; i++)
      following->fields[TWIST * i + n] = field[places[i]] =
          territory->part[places[i]] * sign_of(following->bodies[following->owners[i]]) *
          (values[following->cells[i]] - means[following->owners[i]]);
    PetscCall(VecRestoreArray(fields[n], &field));
    PetscCall(VecRestoreArrayRead(response, &values));
    PetscCall(MacGridExchange(coupling->grid, fields[n]));
  }
  PetscCall(PetscFree(means));
  PetscCall(VecDestroy(&response));
  PetscFunctionReturn(0);
}

/* A z of one cell, with what belongs to other bodies left out. */
static void cell_flow(Coupling coupling, PetscReal *const weights[DIM], const PetscInt *owner,
                      const PetscReal *const z[TWIST], PetscInt c, PetscReal flow[TWIST])
{
  const GridBox *box = grid_box(coupling->grid);

  for (PetscInt n = 0; n < TWIST; n++)
    flow[n] = 0.;
  for (PetscInt d = 0; d < box->dimension; d++)
    for (PetscInt side = 0; side < 2; side++) {
      const PetscInt  beyond = side ? c + box->stride[d] : c - box->stride[d];
      const PetscReal weight = weights[d][side ? beyond : c], kept = owner[beyond] == owner[c] ? 1. : 0.;

      for (PetscInt n = 0; n < TWIST; n++)
        flow[n] += weight * (z[n][c] - kept * z[n][beyond]);
    }
}

/* F, a block for each light body. */
static PetscErrorCode FindEnergies(Coupling coupling, const Territory *territory, const PetscInt *places,
                                   Vec fields[TWIST], PetscReal *energies)
{
  const Following *following = coupling->following;
  const PetscReal *z[TWIST];
  PetscReal       *weights[DIM], flow[TWIST];

  PetscFunctionBegin;
  PetscCall(MacGridGetFaces(coupling->grid, coupling->weights, weights));
  for (PetscInt n = 0; n < TWIST; n++)
    PetscCall(VecGetArrayRead(fields[n], &z[n]));
  for (PetscInt c = 0; c < following->cell_count; c++) {
    PetscReal *block = &energies[TWIST * TWIST * following->owners[c]];

    cell_flow(coupling, weights, territory->owner, z, places[c], flow);
    for (PetscInt n = 0; n < TWIST * TWIST; n++)
      block[n] += following->fields[TWIST * c + n / TWIST] * flow[n % TWIST];
  }
  for (PetscInt n = 0; n < TWIST; n++)
    PetscCall(VecRestoreArrayRead(fields[n], &z[n]));
  PetscCall(MacGridRestoreFaces(coupling->grid, coupling->weights, weights));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, energies, (PetscMPIInt)(TWIST * TWIST * following->count),
                             MPIU_REAL, MPI_SUM, coupling->fluid));
  PetscFunctionReturn(0);
}

/* D: rows of l below, columns of x above, as in the matrix. */
static PetscErrorCode FindForces(Coupling coupling, PairList *list)
{
  const Following  *following = coupling->following;
  const MergedRows *rows = &coupling->rows;
  BodyPair         *pair;
  int              *place;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(coupling->cell_count, &place));
  for (PetscInt c = 0; c < coupling->cell_count; c++)
    place[c] = -1;
  for (PetscInt n = 0; n < following->cell_count; n++)
    place[following->cells[n]] = (int)n;
  for (PetscInt l = 0; l < following->count; l++)
    for (PetscInt r = rows->first[following->bodies[l]]; r < rows->first[following->bodies[l] + 1]; r++) {
      const PetscInt n = place[rows->cells[r]];

      if (n < 0)
        continue;
      PetscCall(PairListFind(list, 2 * l + 1, 2 * following->owners[n], &pair));
      for (PetscInt i = 0; i < TWIST; i++)
        for (PetscInt j = 0; j < TWIST; j++)
          pair->block[TWIST * i + j] += rows->by[TWIST * r + i] * following->fields[TWIST * n + j];
    }
  PetscCall(PairListGather(list, coupling->fluid));
  PetscCall(PetscFree(place));
  PetscFunctionReturn(0);
}

/* Adds -C, with what light bodies have in common: it may be all that one of them has. */
static PetscErrorCode AddMass(Coupling coupling, PairList *list)
{
  const Following  *following = coupling->following;
  const MassMatrix *mass = &coupling->mass;
  BodyPair         *pair;

  PetscFunctionBegin;
  for (PetscInt l = 0; l < following->count; l++) {
    PetscCall(PairListFind(list, 2 * l + 1, 2 * l + 1, &pair));
    for (PetscInt n = 0; n < TWIST * TWIST; n++)
      pair->block[n] = -mass->diagonal[TWIST * TWIST * following->bodies[l] + n];
  }
  for (PetscInt p = 0; p < mass->pairs.count; p++) {
    const PetscInt a = following->number[mass->pairs.pairs[p].a],
                   b = following->number[mass->pairs.pairs[p].b];

    if (a < 0 || b < 0)
      continue;
    PetscCall(PairListFind(list, 2 * a + 1, 2 * b + 1, &pair));
    for (PetscInt n = 0; n < TWIST * TWIST; n++)
      pair->block[n] = -mass->pairs.pairs[p].block[n];
  }
  PetscFunctionReturn(0);
}

/* Adds F. */
static PetscErrorCode AddEnergies(Coupling coupling, const PetscReal *energies, PairList *list)
{
  const Following *following = coupling->following;
  const PetscReal  least = 1e-9; /* of the diagonal: fields that depend on each other */
  BodyPair        *pair;

  PetscFunctionBegin;
  for (PetscInt l = 0; l < following->count; l++) {
    PetscCall(PairListFind(list, 2 * l, 2 * l, &pair));
    PetscCall(PetscArraycpy(pair->block, &energies[TWIST * TWIST * l], TWIST * TWIST));
    for (PetscInt i = 0; i < TWIST; i++) {
      PetscReal *entry = &pair->block[TWIST * i + i];

      *entry = *entry > 0. ? (1. + least) * *entry : 1.; /* no such velocity, or no cells */
    }
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode Build(Coupling coupling, const char *light)
{
  Following     *following = coupling->following;
  const PetscInt length = grid_box(coupling->grid)->length;
  Territory      territory;
  PairList       list = {0};
  PetscReal     *energies;
  PetscInt      *places;
  PetscBool      is_regular;
  Vec            fields[TWIST];

  PetscFunctionBegin;
  PetscCall(PetscCalloc4(length, &territory.owner, length, &territory.part, coupling->cell_count,
                         &territory.is_mixed, TWIST * TWIST * following->count, &energies));
  PetscCall(CouplingFindTerritory(coupling, light, &territory));
  PetscCall(ListCells(coupling, &territory, &places));
  PetscCall(FindFields(coupling, &territory, places, fields));
  PetscCall(FindEnergies(coupling, &territory, places, fields, energies));
  PetscCall(FindForces(coupling, &list));
  PetscCall(AddEnergies(coupling, energies, &list));
  PetscCall(AddMass(coupling, &list));
  PetscCall(
      SparseFactorCreate(2 * following->count, list.count, list.pairs, &following->factor, &is_regular));
  if (!is_regular) /* do without */
    following->count = 0;
  for (PetscInt n = 0; n < TWIST; n++)
    PetscCall(VecDestroy(&fields[n]));
  PetscCall(PetscFree(list.pairs));
  PetscCall(PetscFree(places));
  PetscCall(PetscFree4(territory.owner, territory.part, territory.is_mixed, energies));
  PetscFunctionReturn(0);
}

PetscErrorCode CouplingFindFollowing(Coupling coupling)
{
  const PetscInt count = coupling->free_count;
  Following     *following;
  char          *light;

  PetscFunctionBegin;
  PetscCall(PetscNew(&following));
  coupling->following = following;
  PetscCall(PetscMalloc2(count, &following->bodies, count, &following->number));
  PetscCall(PetscCalloc1(count, &light));
  for (PetscInt f = 0; f < count; f++) {
    light[f] = (char)is_light(coupling, f);
    following->number[f] = light[f] ? following->count : -1;
    if (light[f])
      following->bodies[following->count++] = f;
  }
  PetscCall(PetscMalloc3(2 * TWIST * following->count, &following->from, 2 * TWIST * following->count,
                         &following->to, TWIST * following->count, &following->inner));
  PetscCall(VecDuplicate(coupling->flow, &following->rest));
  if (following->count)
    PetscCall(Build(coupling, light));
  PetscCall(PetscFree(light));
  PetscFunctionReturn(0);
}

PetscErrorCode CouplingDropFollowing(Coupling coupling)
{
  Following *following = coupling->following;

  PetscFunctionBegin;
  if (!following)
    PetscFunctionReturn(0);
  PetscCall(PetscFree2(following->bodies, following->number));
  PetscCall(PetscFree2(following->cells, following->owners));
  PetscCall(PetscFree(following->fields));
  PetscCall(PetscFree3(following->from, following->to, following->inner));
  PetscCall(SparseFactorDestroy(&following->factor));
  PetscCall(VecDestroy(&following->rest));
  PetscCall(PetscFree(coupling->following));
  PetscFunctionReturn(0);
}

VECTOR_CLONES static void gather_fields(const Following *following, const PetscReal *restrict values,
                                        PetscReal *restrict sums)
{
  for (PetscInt c = 0; c < following->cell_count; c++) {
    const PetscReal value = values[following->cells[c]], *z = &following->fields[TWIST * c];
    PetscReal      *sum = &sums[TWIST * following->owners[c]];

    for (PetscInt n = 0; n < TWIST; n++)
      sum[n] += z[n] * value;
  }
}

VECTOR_CLONES static void add_fields(const Following *following, const PetscReal *restrict parts,
                                     PetscReal *restrict values)
{
  for (PetscInt c = 0; c < following->cell_count; c++) {
    const PetscReal *part = &parts[2 * TWIST * following->owners[c]], *z = &following->fields[TWIST * c];

    values[following->cells[c]] += (z[0] * part[0] + z[1] * part[1] + z[2] * part[2]) +
                                   (z[3] * part[3] + z[4] * part[4] + z[5] * part[5]);
  }
}

/* t = Z^T x into the upper rows, zero into the lower ones. */
static PetscErrorCode TakeInner(Coupling coupling, Vec x)
{
  Following       *following = coupling->following;
  const PetscInt   count = TWIST * following->count;
  const PetscReal *values;

  PetscFunctionBegin;
  PetscCall(PetscArrayzero(following->inner, count));
  PetscCall(VecGetArrayRead(x, &values));
  gather_fields(following, values, following->inner);
  PetscCall(VecRestoreArrayRead(x, &values));
  PetscCallMPI(
      MPI_Allreduce(MPI_IN_PLACE, following->inner, (PetscMPIInt)count, MPIU_REAL, MPI_SUM, coupling->fluid));
  for (PetscInt n = 0; n < count; n++) {
    following->from[2 * TWIST * (n / TWIST) + n % TWIST] = following->inner[n];
    following->from[2 * TWIST * (n / TWIST) + TWIST + n % TWIST] = 0.;
  }
  PetscFunctionReturn(0);
}

/* rest = x - B l */
static PetscErrorCode TakeRest(Coupling coupling, Vec x)
{
  const Following *following = coupling->following;
  PetscReal       *values;

  PetscFunctionBegin;
  PetscCall(PetscArrayzero(coupling->motion, TWIST * coupling->free_count));
  for (PetscInt n = 0; n < TWIST * following->count; n++)
    coupling->motion[TWIST * following->bodies[n / TWIST] + n % TWIST] =
        -following->to[2 * TWIST * (n / TWIST) + TWIST + n % TWIST];
  PetscCall(VecCopy(x, following->rest));
  PetscCall(VecGetArray(following->rest, &values));
  rows_apply(&coupling->rows, coupling->motion, values);
  PetscCall(VecRestoreArray(following->rest, &values));
  PetscFunctionReturn(0);
}

PetscErrorCode CouplingPrecondition(Coupling coupling, Vec x, Vec y)
{
  Following *following;
  PetscReal *values;

  PetscFunctionBegin;
  if (!coupling->following)
    PetscCall(CouplingFindFollowing(coupling));
  following = coupling->following;
  if (!following->count) {
    PetscCall(CouplingCycle(coupling, x, y));
    PetscFunctionReturn(0);
  }
  PetscCall(TakeInner(coupling, x));
  PetscCall(SparseFactorSolve(following->factor, following->from, following->to));
  PetscCall(TakeRest(coupling, x));
  PetscCall(CouplingCycle(coupling, following->rest, y));
  PetscCall(CouplingGather(coupling, y));
  for (PetscInt n = 0; n < TWIST * following->count; n++)
    following->from[2 * TWIST * (n / TWIST) + TWIST + n % TWIST] =
        -coupling->pull[TWIST * following->bodies[n / TWIST] + n % TWIST];
  PetscCall(SparseFactorSolve(following->factor, following->from, following->to));
  PetscCall(VecGetArray(y, &values));
  add_fields(following, following->to, values);
  PetscCall(VecRestoreArray(y, &values));
  PetscFunctionReturn(0);
}
