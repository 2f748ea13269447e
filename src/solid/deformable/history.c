/* What materials remember beside the places of points: it is set by steps, kept, shared, saved and read as
   the rest of the state is. Forces at a place depend on what was remembered before the step that led there,
   and only the next step takes it over (`settle`): whoever has the places and the memory of that time finds
   the same forces to the last bit. */
#include "distribution.h"

/* The n-th memory of all, of the elements here; null: there are no more. */
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

/* A memory of all elements of its mesh. */
typedef struct {
  DeformableMesh *mesh;
  PetscInt        per_element, width;
  PetscReal      *own, *all;
} WholeMemory;

static PetscErrorCode WholeMemoryCreate(Solid solid, PetscInt n, PetscBool *found, WholeMemory *whole)
{
  Points   *points = solid->points;
  PetscInt  count, own;
  PetscReal numbers;
  Force    *force;

  PetscFunctionBegin;
  whole->own = memory(points, n, &count, &whole->width, &force);
  *found = whole->own ? PETSC_TRUE : PETSC_FALSE;
  if (!*found)
    PetscFunctionReturn(0);
  whole->mesh = points->meshes;
  while (force < whole->mesh->forces || force >= whole->mesh->forces + MESH_MOST_FORCES)
    whole->mesh++;
  own = mesh_own_elements(whole->mesh);
  numbers = own ? (PetscReal)(count / own * whole->width) : 0.; /* a rank without elements does not know */
  PetscCall(PointsLargest(solid, 1, &numbers));
  whole->per_element = (PetscInt)numbers;
  PetscCall(PetscMalloc1(whole->per_element * whole->mesh->mesh->element_count, &whole->all));
  PetscFunctionReturn(0);
}

PetscErrorCode PointsSaveHistory(Solid solid, Archive archive)
{
  WholeMemory whole;
  PetscBool   found;

  PetscFunctionBegin;
  for (PetscInt n = 0;; n++) {
    char name[32];

    PetscCall(WholeMemoryCreate(solid, n, &found, &whole));
    if (!found)
      break;
    PetscCall(PetscSNPrintf(name, sizeof(name), "material_state_%" PetscInt_FMT, n));
    PetscCall(MeshGatherElements(solid, whole.mesh, whole.per_element, whole.own, whole.all));
    PetscCall(ArchiveWriteShared(archive, name,
                                 whole.per_element / whole.width * whole.mesh->mesh->element_count,
                                 whole.width, whole.all));
    PetscCall(PetscFree(whole.all));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode PointsLoadHistory(Solid solid, Archive archive)
{
  WholeMemory whole;
  PetscBool   found;

  PetscFunctionBegin;
  for (PetscInt n = 0;; n++) {
    char        name[32];
    const char *fault;
    PetscInt    count, width;
    Force      *force;

    PetscCall(WholeMemoryCreate(solid, n, &found, &whole));
    if (!found)
      break;
    PetscCall(PetscSNPrintf(name, sizeof(name), "material_state_%" PetscInt_FMT, n));
    PetscCall(ArchiveReadShared(archive, name,
                                whole.per_element / whole.width * whole.mesh->mesh->element_count,
                                whole.width, whole.all));
    mesh_take_elements(whole.mesh, whole.per_element, whole.all, whole.own);
    PetscCall(PetscFree(whole.all));
    (void)memory(solid->points, n, &count, &width, &force);
    fault = force->kind->fault(force->data);
    if (fault)
      PetscCall(ArchiveRefuse(archive, name, "%s", fault));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode PointsGatherHistory(Solid solid, PetscReal **numbers)
{
  WholeMemory whole;
  PetscInt    total = 0;
  PetscBool   found;

  PetscFunctionBegin;
  *numbers = NULL;
  for (PetscInt n = 0;; n++) {
    PetscInt size;

    PetscCall(WholeMemoryCreate(solid, n, &found, &whole));
    if (!found)
      break;
    size = whole.per_element * whole.mesh->mesh->element_count;
    PetscCall(MeshGatherElements(solid, whole.mesh, whole.per_element, whole.own, whole.all));
    PetscCall(PetscRealloc(sizeof(**numbers) * (size_t)(total + size), numbers));
    PetscCall(PetscArraycpy(*numbers + total, whole.all, size));
    total += size;
    PetscCall(PetscFree(whole.all));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode PointsTakeHistory(Solid solid, PetscReal *numbers)
{
  const PetscReal *from = numbers;
  WholeMemory      whole;
  PetscBool        found;

  PetscFunctionBegin;
  for (PetscInt n = 0;; n++) {
    PetscCall(WholeMemoryCreate(solid, n, &found, &whole));
    if (!found)
      break;
    mesh_take_elements(whole.mesh, whole.per_element, from, whole.own);
    from += whole.per_element * whole.mesh->mesh->element_count;
    PetscCall(PetscFree(whole.all));
  }
  PetscCall(PetscFree(numbers));
  PetscCall(PetscFree(solid->points->kept_history)); /* of other elements */
  PetscFunctionReturn(0);
}
