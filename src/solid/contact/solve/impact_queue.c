#include "impacts.h"

PetscErrorCode ImpactQueueStart(ImpactQueue *queue, PetscInt contacts)
{
  PetscFunctionBegin;
  if (contacts > queue->capacity) {
    PetscCall(PetscFree4(queue->times, queue->turns, queue->heap, queue->slots));
    queue->capacity = 2 * contacts;
    PetscCall(PetscMalloc4(queue->capacity, &queue->times, queue->capacity, &queue->turns, queue->capacity,
                           &queue->heap, queue->capacity, &queue->slots));
  }
  queue->count = queue->turn = 0;
  for (PetscInt c = 0; c < contacts; c++)
    queue->slots[c] = -1;
  PetscFunctionReturn(0);
}

PetscErrorCode ImpactQueueDestroy(ImpactQueue *queue)
{
  PetscFunctionBegin;
  PetscCall(PetscFree4(queue->times, queue->turns, queue->heap, queue->slots));
  *queue = (ImpactQueue){0};
  PetscFunctionReturn(0);
}

static PetscBool comes_before(const ImpactQueue *queue, PetscInt a, PetscInt b)
{
  if (queue->times[a] != queue->times[b])
    return queue->times[a] < queue->times[b] ? PETSC_TRUE : PETSC_FALSE;
  return queue->turns[a] < queue->turns[b] ? PETSC_TRUE : PETSC_FALSE;
}

static void set_slot(ImpactQueue *queue, PetscInt slot, PetscInt contact)
{
  queue->heap[slot] = contact;
  queue->slots[contact] = slot;
}

static void rise(ImpactQueue *queue, PetscInt slot)
{
  const PetscInt contact = queue->heap[slot];

  for (; slot > 0 && comes_before(queue, contact, queue->heap[(slot - 1) / 2]); slot = (slot - 1) / 2)
    set_slot(queue, slot, queue->heap[(slot - 1) / 2]);
  set_slot(queue, slot, contact);
}

static void sink(ImpactQueue *queue, PetscInt slot)
{
  const PetscInt contact = queue->heap[slot];

  for (PetscInt below = 2 * slot + 1; below < queue->count; below = 2 * slot + 1) {
    if (below + 1 < queue->count && comes_before(queue, queue->heap[below + 1], queue->heap[below]))
      below++;
    if (!comes_before(queue, queue->heap[below], contact))
      break;
    set_slot(queue, slot, queue->heap[below]);
    slot = below;
  }
  set_slot(queue, slot, contact);
}

static void take_out(ImpactQueue *queue, PetscInt contact)
{
  const PetscInt slot = queue->slots[contact], last = queue->heap[--queue->count];

  queue->slots[contact] = -1;
  if (last == contact)
    return;
  set_slot(queue, slot, last);
  rise(queue, slot);
  sink(queue, queue->slots[last]);
}

void queue_put(ImpactQueue *queue, PetscInt contact, PetscReal time)
{
  if (queue->slots[contact] >= 0)
    take_out(queue, contact);
  if (!(time < PETSC_INFINITY))
    return;
  queue->times[contact] = time;
  queue->turns[contact] = queue->turn++;
  set_slot(queue, queue->count++, contact);
  rise(queue, queue->slots[contact]);
}

PetscInt queue_first(const ImpactQueue *queue)
{
  return queue->count ? queue->heap[0] : -1;
}
