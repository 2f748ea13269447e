/* Partitions of graphs. The linker leads calls of ParMETIS through a counter here. */
#include "harness.h"

#include <millrace/parallel.h>
#include <millrace/partition.h>

#ifdef MILLRACE_HAVE_PARMETIS
#include <parmetis.h>

static PetscInt calls_of_parmetis, calls_of_repart;

int __real_ParMETIS_V3_AdaptiveRepart(idx_t *, idx_t *, idx_t *, idx_t *, idx_t *, idx_t *, idx_t *, idx_t *,
                                      idx_t *, idx_t *, real_t *, real_t *, real_t *, idx_t *, idx_t *,
                                      idx_t *, MPI_Comm *);
int __wrap_ParMETIS_V3_AdaptiveRepart(idx_t *, idx_t *, idx_t *, idx_t *, idx_t *, idx_t *, idx_t *, idx_t *,
                                      idx_t *, idx_t *, real_t *, real_t *, real_t *, idx_t *, idx_t *,
                                      idx_t *, MPI_Comm *);

int __wrap_ParMETIS_V3_AdaptiveRepart(idx_t *starts, idx_t *first, idx_t *neighbours, idx_t *work,
                                      idx_t *sizes, idx_t *links, idx_t *flag, idx_t *base,
                                      idx_t *constraints, idx_t *parts, real_t *shares, real_t *imbalance,
                                      real_t *move, idx_t *options, idx_t *cut, idx_t *part, MPI_Comm *comm)
{
  calls_of_repart++;
  return __real_ParMETIS_V3_AdaptiveRepart(starts, first, neighbours, work, sizes, links, flag, base,
                                           constraints, parts, shares, imbalance, move, options, cut, part,
                                           comm);
}

int __real_ParMETIS_V3_PartKway(idx_t *, idx_t *, idx_t *, idx_t *, idx_t *, idx_t *, idx_t *, idx_t *,
                                idx_t *, real_t *, real_t *, idx_t *, idx_t *, idx_t *, MPI_Comm *);
int __wrap_ParMETIS_V3_PartKway(idx_t *, idx_t *, idx_t *, idx_t *, idx_t *, idx_t *, idx_t *, idx_t *,
                                idx_t *, real_t *, real_t *, idx_t *, idx_t *, idx_t *, MPI_Comm *);

int __wrap_ParMETIS_V3_PartKway(idx_t *starts, idx_t *first, idx_t *neighbours, idx_t *work, idx_t *links,
                                idx_t *flag, idx_t *base, idx_t *constraints, idx_t *parts, real_t *shares,
                                real_t *imbalance, idx_t *options, idx_t *cut, idx_t *part, MPI_Comm *comm)
{
  calls_of_parmetis++;
  return __real_ParMETIS_V3_PartKway(starts, first, neighbours, work, links, flag, base, constraints, parts,
                                     shares, imbalance, options, cut, part, comm);
}
#endif

enum { SIDE = 12, POINTS = SIDE * SIDE * SIDE };

/* A cube of points with those beside them as neighbours, in slices; its right half works three times as much.
 */
typedef struct {
  PartitionGraph graph;
  PetscInt       start, first[POINTS + 1], neighbours[6 * POINTS], work[POINTS], part[POINTS];
} Cube;

static PetscInt place(PetscInt n, PetscInt d)
{
  const PetscInt strides[] = {1, SIDE, SIDE * SIDE};

  return n / strides[d] % SIDE;
}

static PetscInt work_of(PetscInt n)
{
  return place(n, 0) < SIDE / 2 ? 1 : 3;
}

/* The last `idle` ranks have no vertices. */
static Cube *cube_new(PetscInt idle)
{
  const PetscInt strides[] = {1, SIDE, SIDE * SIDE};
  const PetscInt holders = PetscMax(1, harness_size() - idle), rank = PetscMin(harness_rank(), holders);
  const PetscInt start = POINTS * rank / holders,
                 end = rank < holders ? POINTS * (rank + 1) / holders : start;
  Cube *cube = calloc(1, sizeof(*cube));

  assert_non_null(cube);
  cube->start = start;
  cube->graph = (PartitionGraph){end - start, cube->first, cube->neighbours, cube->work};
  for (PetscInt n = start; n < end; n++) {
    cube->first[n - start + 1] = cube->first[n - start];
    cube->work[n - start] = work_of(n);
    for (PetscInt d = 0; d < 3; d++) {
      if (place(n, d) > 0)
        cube->neighbours[cube->first[n - start + 1]++] = n - strides[d];
      if (place(n, d) < SIDE - 1)
        cube->neighbours[cube->first[n - start + 1]++] = n + strides[d];
    }
  }
  return cube;
}

/* Largest work of a part over the mean, and edges between parts over all edges. */
static void judge(const Cube *cube, PetscInt parts, PetscReal *imbalance, PetscReal *cut)
{
  static PetscInt all[POINTS];
  PetscInt        work[64] = {0}, total = 0, most = 0, cuts = 0, edges = 0;

  memset(all, 0, sizeof(all));
  for (PetscInt n = 0; n < cube->graph.count; n++) {
    assert_true(cube->part[n] >= 0 && cube->part[n] < parts);
    all[cube->start + n] = cube->part[n];
  }
  assert_success(MPI_Allreduce(MPI_IN_PLACE, all, POINTS, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  for (PetscInt n = 0; n < POINTS; n++) {
    work[all[n]] += work_of(n);
    total += work_of(n);
    for (PetscInt d = 0, stride = 1; d < 3; d++, stride *= SIDE)
      if (place(n, d) < SIDE - 1) {
        edges++;
        cuts += all[n] != all[n + stride] ? 1 : 0;
      }
  }
  for (PetscInt k = 0; k < parts; k++)
    most = PetscMax(most, work[k]);
  *imbalance = (PetscReal)(most * parts) / (PetscReal)total;
  *cut = (PetscReal)cuts / (PetscReal)edges;
}

/* Planes through the cube would cut as many edges as it has points, SIDE^2 in each. */
static void every_partitioner_divides_work_and_cuts_little(void **state)
{
  const PetscReal plane = (PetscReal)(SIDE * SIDE) / (3. * SIDE * SIDE * (SIDE - 1));

  (void)state;
  for (Partitioner p = PARTITION_PARMETIS; p <= PARTITION_SLICES; p++)
    for (PetscInt parts = 1; parts <= 8 && partitioner_is_there(p); parts *= 2) {
      Cube     *cube = cube_new(0);
      PetscReal imbalance, cut;

      assert_success(PartitionFind(PETSC_COMM_WORLD, p, &cube->graph, parts, cube->part));
      judge(cube, parts, &imbalance, &cut);
      assert_on_all_ranks(imbalance < 1.15);
      assert_on_all_ranks(cut <= 1.6 * (PetscReal)(parts - 1) * plane);
      free(cube);
    }
}

static void ranks_without_vertices_are_no_trouble(void **state)
{
  (void)state;
  for (Partitioner by = PARTITION_PARMETIS; by <= PARTITION_PTSCOTCH; by++)
    for (PetscInt idle = 1; idle < harness_size() && partitioner_is_there(by); idle++) {
      Cube     *cube = cube_new(idle);
      PetscReal imbalance, cut;

      assert_success(PartitionFind(PETSC_COMM_WORLD, by, &cube->graph, harness_size(), cube->part));
      judge(cube, harness_size(), &imbalance, &cut);
      assert_on_all_ranks(imbalance < 1.15);
      free(cube);
    }
}

/* Slices of equal length, one half of which works three times as much: what moves is far less than all. Some
   ranks may have no vertices, or one have all. */
static void a_partition_is_improved(void **state)
{
  (void)state;
  for (PetscInt idle = 0; idle < harness_size(); idle++) {
    const PetscInt parts = 4;
    Cube          *cube = cube_new(idle);
    PetscReal      imbalance, cut;
    PetscInt       moved = 0;

    for (PetscInt n = 0; n < cube->graph.count; n++)
      cube->part[n] = parts * place(cube->start + n, 0) / SIDE;
    judge(cube, parts, &imbalance, &cut);
    assert_on_all_ranks(imbalance > 1.4);
#ifdef MILLRACE_HAVE_PARMETIS
    calls_of_repart = 0;
#endif
    assert_success(PartitionImprove(PETSC_COMM_WORLD, partitioner_best(), &cube->graph, parts, cube->part));
    judge(cube, parts, &imbalance, &cut);
    assert_on_all_ranks(imbalance < 1.15);
    for (PetscInt n = 0; n < cube->graph.count; n++)
      moved += cube->part[n] != parts * place(cube->start + n, 0) / SIDE;
    assert_success(MPI_Allreduce(MPI_IN_PLACE, &moved, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
#ifdef MILLRACE_HAVE_PARMETIS
    if (harness_size() - idle > 1) {
      assert_on_all_ranks(calls_of_repart == (cube->graph.count ? 1 : 0));
      assert_on_all_ranks(moved < 0.6 * POINTS);
    }
#endif
    free(cube);
  }
}

static void more_parts_than_vertices_leave_some_empty(void **state)
{
  PetscInt       first[] = {0, 0, 0}, work[] = {1, 1}, part[] = {-1, -1};
  PartitionGraph graph = {harness_rank() ? 0 : 2, first, first, work};

  (void)state;
  assert_success(PartitionFind(PETSC_COMM_WORLD, partitioner_best(), &graph, 7, part));
  for (PetscInt n = 0; n < graph.count; n++)
    assert_true(part[n] >= 0 && part[n] < 7);
}

static void parmetis_itself_is_called(void **state)
{
#ifdef MILLRACE_HAVE_PARMETIS
  Cube *cube = cube_new(0);

  (void)state;
  calls_of_parmetis = 0;
  assert_on_all_ranks(partitioner_best() == PARTITION_PARMETIS);
  assert_success(PartitionFind(PETSC_COMM_WORLD, partitioner_best(), &cube->graph, 4, cube->part));
  assert_on_all_ranks(calls_of_parmetis == 1);
  free(cube);
#else
  (void)state;
  skip();
#endif
}

TEST_MAIN(cmocka_unit_test(every_partitioner_divides_work_and_cuts_little),
          cmocka_unit_test(ranks_without_vertices_are_no_trouble), cmocka_unit_test(a_partition_is_improved),
          cmocka_unit_test(more_parts_than_vertices_leave_some_empty),
          cmocka_unit_test(parmetis_itself_is_called))
