/* What materials remember beside the places of points: it is set by steps, kept, shared, saved and read as
   the rest of the state is. Forces at a place depend on what was remembered before the step that led there,
   and only the next step takes it over (`settle`): whoever has the places and the memory of that time finds
   the same forces to the last bit. */
#include "points.h"

/* The n-th memory of all; null: there are no more. */
static PetscReal *memory(const Points *points, PetscInt n, PetscInt *count, PetscInt *width, Force **force)
{
  for (PetscInt m = 0; m < points->mesh_count; m++)
    for (PetscInt k = 0; k < points->meshes[m].force_count; k++) {
      Force *const one = &points->meshes[m].forces[k];
      PetscReal   *numbers = one->kind->state ? one->kind->state(one->data, count, width) : NULL;

      if (numbers && !n--) {
        *force = one;
        return numbers;
      }
    }
  return NULL;
}

static PetscInt history_numbers(const Points *points)
{
  PetscInt total = 0, count, width;
  Force   *force;

  for (PetscInt n = 0; memory(points, n, &count, &width, &force); n++)
    total += count * width;
  return total;
}

void points_settle(Solid solid)
{
  const Points *points = solid->points;

  for (PetscInt m = 0; m < points->mesh_count; m++)
    for (PetscInt k = 0; k < points->meshes[m].force_count; k++)
      if (points->meshes[m].forces[k].kind->settle)
        points->meshes[m].forces[k].kind->settle(points->meshes[m].forces[k].data);
}

PetscErrorCode PointsKeepHistory(Points *points)
{
  PetscReal *numbers, *to;
  PetscInt   count, width;
  Force     *force;

  PetscFunctionBegin;
  if (!points->kept_history)
    PetscCall(PetscMalloc1(history_numbers(points), &points->kept_history));
  to = points->kept_history;
  for (PetscInt n = 0; (numbers = memory(points, n, &count, &width, &force)); n++, to += count * width)
    PetscCall(PetscArraycpy(to, numbers, count * width));
  PetscFunctionReturn(0);
}

PetscErrorCode PointsReturnHistory(Points *points)
{
  const PetscReal *from = points->kept_history;
  PetscReal       *numbers;
  PetscInt         count, width;
  Force           *force;

  PetscFunctionBegin;
  for (PetscInt n = 0; (numbers = memory(points, n, &count, &width, &force)); n++, from += count * width)
    PetscCall(PetscArraycpy(numbers, from, count * width));
  PetscFunctionReturn(0);
}

PetscErrorCode PointsBroadcastHistory(Points *points, MPI_Comm world, PetscMPIInt root)
{
  PetscReal *numbers;
  PetscInt   count, width;
  Force     *force;

  PetscFunctionBegin;
  for (PetscInt n = 0; (numbers = memory(points, n, &count, &width, &force)); n++)
    PetscCallMPI(MPI_Bcast(numbers, (PetscMPIInt)(count * width), MPIU_REAL, root, world));
  PetscFunctionReturn(0);
}

PetscErrorCode PointsSaveHistory(const Points *points, Archive archive)
{
  PetscReal *numbers;
  PetscInt   count, width;
  Force     *force;

  PetscFunctionBegin;
  for (PetscInt n = 0; (numbers = memory(points, n, &count, &width, &force)); n++) {
    char name[32];

    PetscCall(PetscSNPrintf(name, sizeof(name), "material_state_%" PetscInt_FMT, n));
    PetscCall(ArchiveWriteShared(archive, name, count, width, numbers));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode PointsLoadHistory(Points *points, Archive archive)
{
  PetscReal *numbers;
  PetscInt   count, width;
  Force     *force;

  PetscFunctionBegin;
  for (PetscInt n = 0; (numbers = memory(points, n, &count, &width, &force)); n++) {
    char        name[32];
    const char *fault;

    PetscCall(PetscSNPrintf(name, sizeof(name), "material_state_%" PetscInt_FMT, n));
    PetscCall(ArchiveReadShared(archive, name, count, width, numbers));
    fault = force->kind->fault(force->data);
    if (fault)
      PetscCall(ArchiveRefuse(archive, name, "%s", fault));
  }
  PetscFunctionReturn(0);
}
