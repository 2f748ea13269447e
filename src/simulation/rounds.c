/* The rounds of S2: the fluid answers to the impulses of contact and joints, and these to the fluid, until
   both stay as they are (docs/numerics.md, section 15).

   w is V* with all impulses so far, V(w) what (5.13) makes of it. Contact and joints are solved for anew in
   every round, from V(w) less what they did to w: an impulse that was too large is taken back. What they
   change of V is zero where both agree, and Anderson's method looks for that place: of the last rounds it
   finds the combination that would have left the least, and goes on from there. All bodies have the same
   coefficients, so impulses between two remain opposite. */
#include "coupled_impl.h"

enum { COLUMNS = 12 };

typedef struct {
  PetscReal *move, *change; /* of w between two rounds, of what was left */
} Column;

/* A body and what follows it. */
typedef struct {
  PetscReal mass;
  Matrix3   inertia;
  PetscReal linear; /* how much heavier it is with that: M^-1 (M + M_a) */
  Matrix3   angular;
} Weighed;

struct Rounds {
  PetscInt   count;       /* of numbers in the twists of all bodies */
  PetscInt   round, used; /* the last columns that hold something */
  Weighed   *bodies;
  AddedMass *added;                               /* zero for what is not free */
  PetscReal *start, *weights;                     /* V*; these masses, and moments of inertia */
  PetscReal *left;                                /* what contact and joints change of V(w) */
  PetscReal *answer;                              /* V(w) */
  PetscReal *before, *left_before;                /* w in the round before, and what was left */
  Column     columns[COLUMNS], straight[COLUMNS]; /* round after round; newest first, orthonormal */
};

static void weigh(Rounds rounds, PetscInt b, const AddedMass *added)
{
  Weighed *body = &rounds->bodies[b];

  rounds->added[b] = *added;
  body->linear = 1. + added->mass / body->mass;
  body->angular = matrix3_inverse(&body->inertia);
  body->angular = matrix3_multiply(&body->angular, &added->inertia);
  for (PetscInt d = 0; d < DIM; d++) {
    body->angular.at[d][d] += 1.;
    rounds->weights[TWIST * b + d] = body->mass + added->mass;
    rounds->weights[TWIST * b + DIM + d] = body->inertia.at[d][d] + added->inertia.at[d][d];
  }
}

/* Contact weighs each body with about what follows it when it moves. Were it the body alone, next to nothing
   would arrive of a change of a light one; as it is, rounds are few at any density. */
static void weigh_all(Simulation simulation, Rounds rounds)
{
  for (PetscInt b = 0; b < rounds->count / TWIST; b++) {
    const CoupledBody body = solid_coupled_body(simulation->solid, b);
    const AddedMass   added = coupling_added_mass(simulation->coupled->coupling, b);

    rounds->bodies[b] = (Weighed){body.mass, body.inertia, 1., {{{1., 0., 0.}, {0., 1., 0.}, {0., 0., 1.}}}};
    if (body.is_free)
      weigh(rounds, b, &added);
  }
}

PetscErrorCode RoundsCreate(Simulation simulation, const PetscReal start[], Rounds *rounds)
{
  const PetscInt count = TWIST * solid_body_count(simulation->solid);
  Rounds         r;

  PetscFunctionBegin;
  PetscCall(PetscNew(&r));
  r->count = count;
  PetscCall(PetscCalloc6(count, &r->start, count, &r->weights, count, &r->before, count, &r->left, count,
                         &r->left_before, count / TWIST, &r->bodies));
  PetscCall(PetscCalloc2(count / TWIST, &r->added, count, &r->answer));
  PetscCall(PetscArraycpy(r->start, start, count));
  weigh_all(simulation, r);
  *rounds = r;
  PetscFunctionReturn(0);
}

static PetscErrorCode DropColumns(Column columns[COLUMNS])
{
  PetscFunctionBegin;
  for (PetscInt c = 0; c < COLUMNS; c++)
    PetscCall(PetscFree2(columns[c].move, columns[c].change));
  PetscFunctionReturn(0);
}

PetscErrorCode RoundsDestroy(Rounds *rounds)
{
  PetscFunctionBegin;
  if (!*rounds)
    PetscFunctionReturn(0);
  PetscCall(DropColumns((*rounds)->columns));
  PetscCall(DropColumns((*rounds)->straight));
  PetscCall(PetscFree6((*rounds)->start, (*rounds)->weights, (*rounds)->before, (*rounds)->left,
                       (*rounds)->left_before, (*rounds)->bodies));
  PetscCall(PetscFree2((*rounds)->added, (*rounds)->answer));
  PetscCall(PetscFree(*rounds));
  PetscFunctionReturn(0);
}

const AddedMass *rounds_added(Rounds rounds)
{
  return rounds->added;
}

/* Adds `scale` M^-1 (M + M_a) of what contact changed: what the same impulses change in w. */
static void add_impulses(Rounds rounds, PetscReal scale, const PetscReal changed[], PetscReal wanted[])
{
  for (PetscInt b = 0; b < rounds->count / TWIST; b++) {
    const PetscReal *by = &changed[TWIST * b];
    const Vector3    turn = matrix3_apply(&rounds->bodies[b].angular, vector3(by[3], by[4], by[5]));

    for (PetscInt d = 0; d < DIM; d++) {
      wanted[TWIST * b + d] += scale * rounds->bodies[b].linear * by[d];
      wanted[TWIST * b + DIM + d] += scale * turn.at[d];
    }
  }
}

/* How much more than contact takes it for an impulse has moved a body, from the last round to this one. */
static PetscReal excess(Rounds rounds, PetscInt b, const PetscReal wanted[], const PetscReal answer[])
{
  const Weighed *body = &rounds->bodies[b];
  const Matrix3  lighter = matrix3_inverse(&body->angular);
  PetscReal      by[TWIST], moved[TWIST], expected = 0., found = 0.;
  Vector3        torque, turn;

  for (PetscInt n = 0; n < TWIST; n++) {
    by[n] = wanted[TWIST * b + n] - rounds->before[TWIST * b + n];
    moved[n] = answer[TWIST * b + n] - rounds->answer[TWIST * b + n];
  }
  torque = matrix3_apply(&body->inertia, vector3(by[3], by[4], by[5]));
  turn = matrix3_apply(&lighter, vector3(by[3], by[4], by[5]));
  for (PetscInt d = 0; d < DIM; d++) {
    expected += body->mass * by[d] * by[d] / body->linear + torque.at[d] * turn.at[d];
    found += body->mass * by[d] * moved[d] + torque.at[d] * moved[DIM + d];
  }
  return expected > 0. ? found / expected : 0.;
}

/* A body that is all but out of the fluid has less to follow it than the fluid in its place. Contact would
   push it too hard, take all of that back, and so on; so it learns. */
static void learn(Rounds rounds, const PetscReal wanted[], const PetscReal answer[])
{
  const PetscReal too_much = 5.;

  for (PetscInt b = 0; b < rounds->count / TWIST; b++) {
    const Weighed  *body = &rounds->bodies[b];
    const PetscReal by = body->linear > 1. ? excess(rounds, b, wanted, answer) : 0.;
    AddedMass       added = rounds->added[b];
    PetscReal       part;

    if (!(by > too_much))
      continue;
    part = PetscMax(0., (body->linear / by - 1.) / (body->linear - 1.));
    added.mass *= part;
    for (PetscInt n = 0; n < DIM * DIM; n++)
      added.inertia.at[n / DIM][n % DIM] *= part;
    weigh(rounds, b, &added);
    rounds->round = rounds->used = 0; /* rounds with other masses tell nothing */
  }
}

void rounds_release(Rounds rounds, const PetscReal wanted[], PetscReal twists[])
{
  if (rounds->round)
    learn(rounds, wanted, twists);
  for (PetscInt n = 0; n < rounds->count; n++)
    rounds->answer[n] = twists[n];
  for (PetscInt b = 0; b < rounds->count / TWIST; b++) {
    const Matrix3    lighter = matrix3_inverse(&rounds->bodies[b].angular);
    const PetscReal *now = &wanted[TWIST * b], *before = &rounds->start[TWIST * b];
    const Vector3    turn =
        matrix3_apply(&lighter, vector3(now[3] - before[3], now[4] - before[4], now[5] - before[5]));

    for (PetscInt d = 0; d < DIM; d++) {
      twists[TWIST * b + d] -= (now[d] - before[d]) / rounds->bodies[b].linear;
      twists[TWIST * b + DIM + d] -= turn.at[d];
    }
  }
}

static PetscErrorCode Reserve(Rounds rounds, Column *column)
{
  PetscFunctionBegin;
  if (!column->move)
    PetscCall(PetscMalloc2(rounds->count, &column->move, rounds->count, &column->change));
  PetscFunctionReturn(0);
}

/* What changed between the last round and this one, over the oldest column. */
static PetscErrorCode Remember(Rounds rounds, const PetscReal wanted[])
{
  Column *column = &rounds->columns[(rounds->round - 1) % COLUMNS];

  PetscFunctionBegin;
  PetscCall(Reserve(rounds, column));
  for (PetscInt n = 0; n < rounds->count; n++) {
    column->move[n] = wanted[n] - rounds->before[n];
    column->change[n] = rounds->left[n] - rounds->left_before[n];
  }
  rounds->used = PetscMin(rounds->round, COLUMNS);
  PetscFunctionReturn(0);
}

static PetscReal product(Rounds rounds, const PetscReal a[], const PetscReal b[])
{
  PetscReal sum = 0.;

  for (PetscInt n = 0; n < rounds->count; n++)
    sum += rounds->weights[n] * a[n] * b[n];
  return sum;
}

static void add_column(PetscInt count, PetscReal factor, const Column *from, Column *to)
{
  for (PetscInt n = 0; n < count; n++) {
    to->move[n] += factor * from->move[n];
    to->change[n] += factor * from->change[n];
  }
}

/* The columns, newest first, by Gram and Schmidt. One that is nearly a combination of newer ones is noise of
   the solves, or from before a contact opened. */
static PetscErrorCode Straighten(Rounds rounds, PetscInt *count)
{
  const PetscReal least = 1e-3;

  PetscFunctionBegin;
  *count = 0;
  for (PetscInt k = 0; k < rounds->used; k++) {
    const Column *column = &rounds->columns[(rounds->round - 1 - k) % COLUMNS];
    Column       *straight = &rounds->straight[*count];
    PetscReal     whole, rest;

    PetscCall(Reserve(rounds, straight));
    PetscCall(PetscArraycpy(straight->move, column->move, rounds->count));
    PetscCall(PetscArraycpy(straight->change, column->change, rounds->count));
    whole = product(rounds, column->change, column->change);
    for (PetscInt c = 0; c < *count; c++)
      add_column(rounds->count, -product(rounds, rounds->straight[c].change, straight->change),
                 &rounds->straight[c], straight);
    rest = product(rounds, straight->change, straight->change);
    if (!(rest > PetscSqr(least) * whole))
      continue;
    for (PetscInt n = 0; n < rounds->count; n++) {
      straight->move[n] /= PetscSqrtReal(rest);
      straight->change[n] /= PetscSqrtReal(rest);
    }
    ++*count;
  }
  PetscFunctionReturn(0);
}

PetscErrorCode RoundsJoin(Rounds rounds, PetscReal wanted[])
{
  PetscInt columns = 0;

  PetscFunctionBegin;
  if (rounds->round)
    PetscCall(Remember(rounds, wanted));
  PetscCall(Straighten(rounds, &columns));
  PetscCall(PetscArraycpy(rounds->before, wanted, rounds->count));
  PetscCall(PetscArraycpy(rounds->left_before, rounds->left, rounds->count));
  add_impulses(rounds, 1., rounds->left, wanted);
  for (PetscInt c = 0; c < columns; c++) {
    const PetscReal share = product(rounds, rounds->straight[c].change, rounds->left);

    for (PetscInt n = 0; n < rounds->count; n++)
      wanted[n] -= share * rounds->straight[c].move[n];
    add_impulses(rounds, -share, rounds->straight[c].change, wanted);
  }
  rounds->round++;
  PetscFunctionReturn(0);
}

static PetscReal largest_speed(Rounds rounds, const PetscReal twists[])
{
  PetscReal largest = 0.;

  for (PetscInt n = 0; n < rounds->count; n++) {
    const PetscReal mass = rounds->weights[n - n % TWIST];

    if (mass > 0.)
      largest = PetscMax(largest, PetscAbsReal(twists[n]) * PetscSqrtReal(rounds->weights[n] / mass));
  }
  return largest;
}

PetscReal rounds_disagreement(Rounds rounds, const PetscReal solved[], const PetscReal twists[])
{
  for (PetscInt n = 0; n < rounds->count; n++)
    rounds->left[n] = twists[n] - solved[n];
  return largest_speed(rounds, rounds->left);
}

PetscReal rounds_speed(Rounds rounds, const PetscReal twists[])
{
  return PetscMax(largest_speed(rounds, rounds->start), largest_speed(rounds, twists));
}

/* A step in which contact and fluid do not agree is repeated with half its size. If they still do not, it
   counts where bodies and fluid pass through each other by a thousandth of a cell at most. */
PetscErrorCode SimulationJudgeDisagreement(Simulation simulation, PetscReal dt, PetscBool *good)
{
  struct Coupled *coupled = simulation->coupled;
  const PetscReal most = 1e-3 * simulation_spacing(simulation) / dt;

  PetscFunctionBegin;
  coupled->unsettled++;
  if (coupled->unsettled > 1 && coupled->disagreement <= most)
    PetscFunctionReturn(0);
  *good = PETSC_FALSE;
  snprintf(coupled->report.message, sizeof(coupled->report.message),
           "after %" PetscInt_FMT
           " rounds contact and joints still change velocities that the fluid has answered to, "
           "by %.2g m/s; more coupling.rounds may help",
           coupled->rounds, (double)coupled->disagreement);
  PetscFunctionReturn(0);
}

/* What contact and joints do to the velocities that (5.13) has found. */
static PetscErrorCode Constrain(Simulation simulation, PetscReal dt, PetscReal *twists, Rounds rounds)
{
  struct Coupled *coupled = simulation->coupled;

  PetscFunctionBegin;
  PetscCall(PetscArraycpy(coupled->solved, twists, coupled->count));
  rounds_release(rounds, coupled->wanted, twists);
  if (team_has_solids(simulation->team)) {
    PetscCall(SimulationTimeAs(simulation, WORK_ON_SOLIDS));
    PetscCall(SolidConstrainVelocity(simulation->solid, simulation->time, dt, rounds_added(rounds)));
  }
  PetscCall(SimulationBroadcastFromSolids(simulation, twists, coupled->count, MPIU_REAL));
  coupled->rounds++;
  coupled->disagreement = rounds_disagreement(rounds, coupled->solved, twists);
  PetscFunctionReturn(0);
}

static PetscBool has_operator(Simulation simulation)
{
  PetscMPIInt rank;

  return MPI_Comm_rank(team_world(simulation->team), &rank) == MPI_SUCCESS &&
                 rank == team_first_solid_rank(simulation->team)
             ? PETSC_TRUE
             : PETSC_FALSE;
}

/* Contacts of meshes are within the solve; with other contacts another one is due. */
static PetscErrorCode SwitchContacts(Simulation simulation, PetscBool *changed)
{
  PetscFunctionBegin;
  *changed = PETSC_FALSE;
  if (!solid_deforming_count(simulation->solid))
    PetscFunctionReturn(0);
  if (has_operator(simulation))
    PetscCall(SolidSwitchContacts(simulation->solid, changed));
  PetscCall(SimulationBroadcastFromSolids(simulation, changed, 1, MPIU_BOOL));
  PetscFunctionReturn(0);
}

/* Bones go with C of the flesh, from V* to V. */
static PetscErrorCode SolveWithBones(Simulation simulation, Vec next[DIM], PetscReal *twists, PetscBool *good)
{
  const PetscBool mine = solid_bone_count(simulation->solid) && has_operator(simulation);

  PetscFunctionBegin;
  if (mine)
    PetscCall(SolidBeginBones(simulation->solid, twists));
  PetscCall(SimulationSolveSystem(simulation, next, twists, good));
  if (mine && *good)
    PetscCall(SolidTakeBones(simulation->solid, twists));
  PetscCall(SimulationShareBones(simulation, twists));
  PetscFunctionReturn(0);
}

PetscErrorCode SimulationShareBones(Simulation simulation, PetscReal twists[])
{
  PetscFunctionBegin;
  if (solid_bone_count(simulation->solid))
    PetscCall(SimulationBroadcastFromSolids(simulation, twists, TWIST * solid_body_count(simulation->solid),
                                            MPIU_REAL));
  PetscFunctionReturn(0);
}

/* The fluid's answer to V* with what contact and joints have done so far. */
static PetscErrorCode AnswerOnce(Simulation simulation, RoundsOf of, Vec next[DIM], PetscReal *twists,
                                 PetscBool *good)
{
  struct Coupled *coupled = simulation->coupled;

  PetscFunctionBegin;
  if (next && of == ROUNDS_OF_STEP)
    PetscCall(SimulationPushMomentum(simulation, coupled->begun, coupled->wanted));
  PetscCall(PetscArraycpy(coupled->begun, coupled->wanted, coupled->count));
  PetscCall(PetscArraycpy(twists, coupled->wanted, coupled->count));
  PetscCall(SolveWithBones(simulation, next, twists, good));
  coupled->iterations += coupled->report.iterations;
  PetscFunctionReturn(0);
}

static PetscErrorCode Answer(Simulation simulation, RoundsOf of, Vec next[DIM], PetscReal *twists,
                             PetscBool *good)
{
  const PetscInt  most = 12; /* then the move takes care of what is left */
  struct Coupled *coupled = simulation->coupled;
  PetscBool       again = coupled->rounds > 0 ? PETSC_TRUE : PETSC_FALSE;

  PetscFunctionBegin;
  for (PetscInt n = 0; n < most && (n == 0 || (again && *good)); n++) {
    if (next && again)
      PetscCall(SimulationCopyFaces(simulation, coupled->star, next));
    PetscCall(AnswerOnce(simulation, of, next, twists, good));
    if (*good)
      PetscCall(SwitchContacts(simulation, &again));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode SimulationSolveOnce(Simulation simulation, Vec next[DIM], PetscReal *twists, PetscBool *good)
{
  struct Coupled *coupled = simulation->coupled;

  PetscFunctionBegin;
  PetscCall(PetscArraycpy(coupled->wanted, twists, coupled->count));
  coupled->iterations = coupled->rounds = 0;
  PetscCall(Answer(simulation, ROUNDS_OF_HALF, next, twists, good));
  PetscFunctionReturn(0);
}

/* Positions need not agree as well as velocities. */
static PetscReal agreement(Simulation simulation, RoundsOf of)
{
  return of == ROUNDS_OF_HALF ? 1e-4 : PetscMax(1e-6, simulation->config->coupling.tolerance);
}

static PetscInt most_rounds(Simulation simulation, RoundsOf of)
{
  const PetscInt enough = 12; /* what is left then, contact of the move takes */

  return of == ROUNDS_OF_HALF ? PetscMin(enough, simulation->config->coupling.rounds)
                              : simulation->config->coupling.rounds;
}

/* The rounds end when both agree to a part of the fastest body's speed that the solves are good for, or when
   what is left moves nothing; the larger of the two is `allowed`. */
PetscErrorCode SimulationSolveInRounds(Simulation simulation, RoundsOf of, PetscReal dt, Vec next[DIM],
                                       PetscReal *twists, PetscReal *allowed, PetscBool *good)
{
  struct Coupled *coupled = simulation->coupled;
  const PetscReal enough = agreement(simulation, of), nothing = 1e-7 * simulation_spacing(simulation) / dt;
  Rounds          rounds;

  PetscFunctionBegin;
  *allowed = 0.;
  PetscCall(PetscArraycpy(coupled->begun, twists, coupled->count));
  PetscCall(PetscArraycpy(coupled->wanted, twists, coupled->count));
  coupled->iterations = coupled->rounds = 0;
  PetscCall(RoundsCreate(simulation, twists, &rounds));
  PetscCall(Answer(simulation, of, next, twists, good));
  if (*good)
    PetscCall(Constrain(simulation, dt, twists, rounds));
  while (*good &&
         coupled->disagreement > (*allowed = PetscMax(enough * rounds_speed(rounds, twists), nothing)) &&
         coupled->rounds < most_rounds(simulation, of)) {
    PetscCall(RoundsJoin(rounds, coupled->wanted));
    PetscCall(Answer(simulation, of, next, twists, good));
    if (*good)
      PetscCall(Constrain(simulation, dt, twists, rounds));
  }
  PetscCall(RoundsDestroy(&rounds));
  PetscFunctionReturn(0);
}
