/* Partitions of graphs: by ParMETIS itself, which Debian's PETSc lacks; by PT-Scotch through PETSc; by
   numbers alone. */
#include <millrace/partition.h>

#include <petscmat.h>

#ifdef MILLRACE_HAVE_PARMETIS
#include <parmetis.h>
#endif

#ifdef MILLRACE_HAVE_PARMETIS
static const PetscBool has_parmetis = PETSC_TRUE;
#else
static const PetscBool has_parmetis = PETSC_FALSE;
#endif
#ifdef PETSC_HAVE_PTSCOTCH
static const PetscBool has_scotch = PETSC_TRUE;
#else
static const PetscBool has_scotch = PETSC_FALSE;
#endif

PetscBool partitioner_is_there(Partitioner partitioner)
{
  return partitioner == PARTITION_PARMETIS   ? has_parmetis
         : partitioner == PARTITION_PTSCOTCH ? has_scotch
                                             : PETSC_TRUE;
}

Partitioner partitioner_best(void)
{
  Partitioner best = PARTITION_PARMETIS;

  while (!partitioner_is_there(best))
    best++;
  return best;
}

#ifdef MILLRACE_HAVE_PARMETIS
static PetscErrorCode CreateIndices(PetscInt count, const PetscInt from[], idx_t **to)
{
  PetscFunctionBegin;
  PetscCall(PetscMalloc1(count + 1, to)); /* ParMETIS refuses null, also for nothing */
  for (PetscInt n = 0; n < count; n++)
    (*to)[n] = (idx_t)from[n];
  PetscFunctionReturn(0);
}

/* vtxdist: the first number of every rank. */
static PetscErrorCode FindStarts(MPI_Comm comm, PetscInt count, idx_t **starts)
{
  const idx_t own = (idx_t)count;
  PetscMPIInt size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(PetscMalloc1(size + 1, starts));
  PetscCallMPI(MPI_Allgather(&own, sizeof(own), MPI_BYTE, *starts + 1, sizeof(own), MPI_BYTE, comm));
  (*starts)[0] = 0;
  for (PetscMPIInt r = 0; r < size; r++)
    (*starts)[r + 1] += (*starts)[r];
  PetscFunctionReturn(0);
}

typedef enum { PARTITION_NEW, PARTITION_BETTER } PartitionTask;

/* On ranks that all have vertices. AdaptiveRepart is for two and more. */
static PetscErrorCode CallParMetis(MPI_Comm comm, PartitionTask task, const PartitionGraph *graph,
                                   PetscInt parts, PetscInt part[])
{
  idx_t  *starts, *first, *neighbours, *work, *found, flag = 2, none = 0, one = 1, count = (idx_t)parts, cut;
  idx_t   options[] = {task == PARTITION_BETTER ? 1 : 0, 0, 15, PARMETIS_PSR_UNCOUPLED};
  real_t *shares, imbalance = (real_t)1.03, move = (real_t)1000.;
  PetscMPIInt size;
  int         answer;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(FindStarts(comm, graph->count, &starts));
  PetscCall(CreateIndices(graph->count + 1, graph->first, &first));
  PetscCall(CreateIndices(graph->first[graph->count], graph->neighbours, &neighbours));
  PetscCall(CreateIndices(graph->count, graph->work, &work));
  PetscCall(PetscMalloc2(graph->count + 1, &found, parts, &shares));
  for (PetscInt k = 0; k < parts; k++)
    shares[k] = (real_t)1. / (real_t)parts;
  for (PetscInt n = 0; n < graph->count; n++)
    found[n] = (idx_t)part[n];
  if (task == PARTITION_BETTER && size > 1)
    answer = ParMETIS_V3_AdaptiveRepart(starts, first, neighbours, work, NULL, NULL, &flag, &none, &one,
                                        &count, shares, &imbalance, &move, options, &cut, found, &comm);
  else
    answer = ParMETIS_V3_PartKway(starts, first, neighbours, work, NULL, &flag, &none, &one, &count, shares,
                                  &imbalance, options, &cut, found, &comm);
  PetscCheck(answer == METIS_OK, PETSC_COMM_SELF, PETSC_ERR_LIB, "ParMETIS has failed with code %d", answer);
  for (PetscInt n = 0; n < graph->count; n++)
    part[n] = (PetscInt)found[n];
  PetscCall(PetscFree2(found, shares));
  PetscCall(PetscFree(starts));
  PetscCall(PetscFree(first));
  PetscCall(PetscFree(neighbours));
  PetscCall(PetscFree(work));
  PetscFunctionReturn(0);
}

/* It ends the program if a rank has no vertex. */
static PetscErrorCode CallWhereVerticesAre(MPI_Comm comm, PartitionTask task, const PartitionGraph *graph,
                                           PetscInt parts, PetscInt part[])
{
  MPI_Comm    busy;
  PetscMPIInt rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_split(comm, graph->count ? 0 : MPI_UNDEFINED, rank, &busy));
  if (busy != MPI_COMM_NULL) {
    PetscCall(CallParMetis(busy, task, graph, parts, part));
    PetscCallMPI(MPI_Comm_free(&busy));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode PartByParMetis(MPI_Comm comm, const PartitionGraph *graph, PetscInt parts,
                                     PetscInt part[])
{
  PetscFunctionBegin;
  PetscCall(PetscArrayzero(part, graph->count));
  PetscCall(CallWhereVerticesAre(comm, PARTITION_NEW, graph, parts, part));
  PetscFunctionReturn(0);
}
#endif

#ifdef PETSC_HAVE_PTSCOTCH
static PetscErrorCode CopyIndices(PetscInt count, const PetscInt from[], PetscInt **to)
{
  PetscFunctionBegin;
  PetscCall(PetscMalloc1(count + 1, to)); /* PT-Scotch refuses null on some of the ranks */
  PetscCall(PetscArraycpy(*to, from, count));
  PetscFunctionReturn(0);
}

/* PETSc owns what it is given. */
static PetscErrorCode PartByScotch(MPI_Comm comm, const PartitionGraph *graph, PetscInt parts,
                                   PetscInt part[])
{
  PetscInt        total = graph->count, *first, *neighbours, *work;
  const PetscInt *found;
  MatPartitioning partitioning;
  Mat             adjacency;
  IS              answer;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &total, 1, MPIU_INT, MPI_SUM, comm));
  PetscCall(CopyIndices(graph->count + 1, graph->first, &first));
  PetscCall(CopyIndices(graph->first[graph->count], graph->neighbours, &neighbours));
  PetscCall(CopyIndices(graph->count, graph->work, &work));
  PetscCall(MatCreateMPIAdj(comm, graph->count, total, first, neighbours, NULL, &adjacency));
  PetscCall(MatPartitioningCreate(comm, &partitioning));
  PetscCall(MatPartitioningSetAdjacency(partitioning, adjacency));
  PetscCall(MatPartitioningSetType(partitioning, MATPARTITIONINGPTSCOTCH));
  PetscCall(MatPartitioningSetNParts(partitioning, parts));
  PetscCall(MatPartitioningSetVertexWeights(partitioning, work));
  PetscCall(MatPartitioningApply(partitioning, &answer));
  PetscCall(ISGetIndices(answer, &found));
  PetscCall(PetscArraycpy(part, found, graph->count));
  PetscCall(ISRestoreIndices(answer, &found));
  PetscCall(ISDestroy(&answer));
  PetscCall(MatPartitioningDestroy(&partitioning));
  PetscCall(MatDestroy(&adjacency));
  PetscFunctionReturn(0);
}
#endif

/* A vertex belongs where the middle of its work falls. */
static PetscErrorCode PartBySlices(MPI_Comm comm, const PartitionGraph *graph, PetscInt parts,
                                   PetscInt part[])
{
  PetscInt64  own = 0, before = 0, total;
  PetscMPIInt rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  for (PetscInt n = 0; n < graph->count; n++)
    own += graph->work[n];
  PetscCallMPI(MPI_Allreduce(&own, &total, 1, MPIU_INT64, MPI_SUM, comm));
  PetscCallMPI(MPI_Exscan(&own, &before, 1, MPIU_INT64, MPI_SUM, comm));
  if (rank == 0)
    before = 0;
  for (PetscInt n = 0; n < graph->count; n++) {
    part[n] = total ? (PetscInt)PetscMin(parts - 1, (2 * before + graph->work[n]) * parts / (2 * total)) : 0;
    before += graph->work[n];
  }
  PetscFunctionReturn(0);
}

PetscErrorCode PartitionFind(MPI_Comm comm, Partitioner partitioner, const PartitionGraph *graph,
                             PetscInt parts, PetscInt part[])
{
  PetscErrorCode (*find)(MPI_Comm, const PartitionGraph *, PetscInt, PetscInt[]) = PartBySlices;

  PetscFunctionBegin;
  PetscCheck(partitioner_is_there(partitioner), comm, PETSC_ERR_SUP, "This partitioner is not in the build");
#ifdef MILLRACE_HAVE_PARMETIS
  if (partitioner == PARTITION_PARMETIS)
    find = PartByParMetis;
#endif
#ifdef PETSC_HAVE_PTSCOTCH
  if (partitioner == PARTITION_PTSCOTCH)
    find = PartByScotch;
#endif
  if (parts > 1)
    PetscCall(find(comm, graph, parts, part));
  else
    PetscCall(PetscArrayzero(part, graph->count));
  PetscFunctionReturn(0);
}

/* The new numbers of parts, of which `shared[parts * before + now]` says how much work they share with the
   old ones: those that share most first. */
static PetscErrorCode MatchParts(PetscInt parts, const PetscInt shared[], PetscInt number[])
{
  PetscInt  *order, *keys, count = 0, next = 0;
  PetscBool *taken;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(PetscSqr(parts), &order, PetscSqr(parts), &keys));
  PetscCall(PetscCalloc1(parts, &taken));
  for (PetscInt pair = 0; pair < PetscSqr(parts); pair++)
    if (shared[pair] > 0) {
      order[count] = pair;
      keys[count++] = -shared[pair];
    }
  PetscCall(PetscSortIntWithArray(count, keys, order));
  for (PetscInt now = 0; now < parts; now++)
    number[now] = -1;
  for (PetscInt n = 0; n < count; n++) {
    const PetscInt before = order[n] / parts, now = order[n] % parts;

    if (number[now] < 0 && !taken[before]) {
      number[now] = before;
      taken[before] = PETSC_TRUE;
    }
  }
  for (PetscInt now = 0; now < parts; now++)
    if (number[now] < 0) {
      while (taken[next])
        next++;
      number[now] = next++;
    }
  PetscCall(PetscFree(taken));
  PetscCall(PetscFree2(order, keys));
  PetscFunctionReturn(0);
}

/* Neither library numbers parts so that little has to move. */
static PetscErrorCode NumberAsBefore(MPI_Comm comm, const PartitionGraph *graph, PetscInt parts,
                                     const PetscInt before[], PetscInt part[])
{
  PetscInt   *shared, *number;
  PetscMPIInt pairs;

  PetscFunctionBegin;
  PetscCall(PetscMPIIntCast(PetscSqr(parts), &pairs));
  PetscCall(PetscCalloc2(PetscSqr(parts), &shared, parts, &number));
  for (PetscInt n = 0; n < graph->count; n++)
    shared[parts * before[n] + part[n]] += graph->work[n];
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, shared, pairs, MPIU_INT, MPI_SUM, comm));
  PetscCall(MatchParts(parts, shared, number));
  for (PetscInt n = 0; n < graph->count; n++)
    part[n] = number[part[n]];
  PetscCall(PetscFree2(shared, number));
  PetscFunctionReturn(0);
}

static PetscErrorCode PartAnew(MPI_Comm comm, Partitioner partitioner, const PartitionGraph *graph,
                               PetscInt parts, PetscInt part[])
{
  PetscFunctionBegin;
#ifdef MILLRACE_HAVE_PARMETIS
  if (partitioner == PARTITION_PARMETIS && parts > 1) {
    PetscCall(CallWhereVerticesAre(comm, PARTITION_BETTER, graph, parts, part));
    PetscFunctionReturn(0);
  }
#endif /* the others know nothing of what there was */
  PetscCall(PartitionFind(comm, partitioner, graph, parts, part));
  PetscFunctionReturn(0);
}

PetscErrorCode PartitionImprove(MPI_Comm comm, Partitioner partitioner, const PartitionGraph *graph,
                                PetscInt parts, PetscInt part[])
{
  PetscInt *before;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(graph->count, &before));
  PetscCall(PetscArraycpy(before, part, graph->count));
  PetscCall(PartAnew(comm, partitioner, graph, parts, part));
  PetscCall(NumberAsBefore(comm, graph, parts, before, part));
  PetscCall(PetscFree(before));
  PetscFunctionReturn(0);
}
