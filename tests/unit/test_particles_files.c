#include "particle_set.h"

/* Written by all, read by each alone; and by all again. The file is the same as that of one rank. */
static void sets_are_saved_and_loaded_on_any_number_of_ranks(void **state)
{
  char message[256];

  (void)state;
  FOR_ALL_CONFIGS(config)
  {
    Set               all, alone;
    Archive           archive;
    ParticleView      view, view_alone;
    uint64_t          sum, expected;
    static PetscInt64 numbers[16 * 12 * 9 * PER_CELL * 4];
    ArchivePart       part = {0};
    const char *const path = "particles.h5";
    MPI_Comm          comms[2] = {PETSC_COMM_WORLD, PETSC_COMM_SELF};

    assert_success(SetCreate(PETSC_COMM_WORLD, config, swirl, &all));
    assert_success(SetCreate(PETSC_COMM_SELF, config, swirl, &alone));
    assert_success(Seed(all.grid, all.particles));
    assert_success(ParticlesMove(all.particles, NULL, all.velocity, 0.11));
    assert_success(Checksum(all.particles, PETSC_COMM_WORLD, &expected));
    assert_success(ArchiveCreate(PETSC_COMM_WORLD, scratch_path(path), &archive));
    assert_success(ParticlesSave(all.particles, "markers", archive));
    assert_success(ArchiveCommit(&archive));
    for (PetscInt c = 0; c < 2; c++) {
      Set *set = c ? &alone : &all;

      assert_success(ArchiveOpen(comms[c], scratch_path(path), &archive, message, sizeof(message)));
      assert_on_all_ranks(archive != NULL);
      assert_success(ParticlesLoad(set->particles, "markers", archive));
      assert_success(Checksum(set->particles, comms[c], &sum));
      assert_on_all_ranks(sum == expected);
      assert_success(ParticlesGetView(set->particles, &view));
      assert_on_all_ranks(is_in_order(set->grid, &view));
      if (!c)
        assert_success(ArchiveDestroy(&archive));
    }
    assert_success(ArchiveEnter(archive, "markers"));
    assert_success(ArchiveGetShape(archive, "numbers", &part));
    part.count[0] = part.global[0];
    part.count[1] = part.global[1];
    assert_success(ParticlesGetView(alone.particles, &view_alone));
    assert_on_all_ranks(part.global[0] == view_alone.count && part.global[1] == 1);
    assert_success(ArchiveReadIntegers(archive, "numbers", &part, numbers));
    assert_on_all_ranks(memcmp(numbers, view_alone.numbers, view_alone.count * sizeof(*numbers)) == 0);
    assert_success(ArchiveDestroy(&archive));
    assert_success(SetDestroy(&alone));
    assert_success(SetDestroy(&all));
  }
}

static void empty_sets_and_wrong_widths(void **state)
{
  MacGrid    grid;
  Particles  empty, wide;
  Archive    archive;
  char       message[256];
  PetscInt64 total;

  (void)state;
  assert_success(MacGridCreate(PETSC_COMM_WORLD, &configs[0], &grid));
  assert_success(ParticlesCreate(grid, 1, &empty));
  assert_success(ParticlesCreate(grid, 2, &wide));
  assert_success(ArchiveCreate(PETSC_COMM_WORLD, scratch_path("empty.h5"), &archive));
  assert_success(ParticlesSave(empty, "none", archive));
  assert_success(ArchiveCommit(&archive));
  assert_success(ArchiveOpen(PETSC_COMM_WORLD, scratch_path("empty.h5"), &archive, message, sizeof(message)));
  assert_success(ParticlesLoad(empty, "none", archive));
  assert_success(ParticlesGetTotal(empty, &total));
  assert_on_all_ranks(total == 0);
  assert_refused(ParticlesLoad(wide, "none", archive));
  assert_refused(ParticlesCopy(wide, empty));
  assert_success(ArchiveDestroy(&archive));
  assert_success(ParticlesDestroy(&wide));
  assert_success(ParticlesDestroy(&empty));
  assert_success(MacGridDestroy(&grid));
}

static void frames_show_the_points(void **state)
{
  const FrameConfig frame = {.directory = scratch.directory, .precision = ARCHIVE_DOUBLE};
  Set               set;
  FrameSeries       series;
  Archive           archive;
  ArchivePart       part;
  PetscInt64        total;
  char              message[256];

  (void)state;
  assert_success(SetCreate(PETSC_COMM_WORLD, &configs[2], swirl, &set));
  assert_success(Seed(set.grid, set.particles));
  assert_success(ParticlesGetTotal(set.particles, &total));
  assert_success(FrameSeriesCreate(PETSC_COMM_WORLD, &frame, &series, message, sizeof(message)));
  assert_success(FrameBegin(series, 0, 0.));
  assert_success(ParticlesWriteFrame(set.particles, "markers", "radius", series));
  assert_success(FrameEnd(series, message, sizeof(message)));
  assert_on_all_ranks(message[0] == '\0');
  assert_success(FrameSeriesDestroy(&series));
  assert_success(ArchiveOpen(PETSC_COMM_WORLD, scratch_path("frames/frame-000000.h5"), &archive, message,
                             sizeof(message)));
  assert_success(ArchiveGetShape(archive, "meshes/markers/vertices", &part));
  assert_on_all_ranks(part.rank == 2 && part.global[0] == total && part.global[1] == DIM);
  assert_success(ArchiveGetShape(archive, "meshes/markers/vertex_fields/radius", &part));
  assert_on_all_ranks(part.rank == 1 && part.global[0] == total);
  assert_success(ArchiveDestroy(&archive));
  assert_success(SetDestroy(&set));
}

TEST_MAIN(in_scratch(sets_are_saved_and_loaded_on_any_number_of_ranks),
          in_scratch(empty_sets_and_wrong_widths), in_scratch(frames_show_the_points))
