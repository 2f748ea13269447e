#include <stdint.h>
#include "edge_map.h"

PetscErrorCode EdgeMapCreate(PetscInt expected, EdgeMap *map)
{
  PetscFunctionBegin;
  *map = (EdgeMap){.room = 64};
  while (map->room < 2 * expected)
    map->room *= 2;
  PetscCall(PetscMalloc1(map->room, &map->ends));
  PetscCall(PetscMalloc1(map->room, &map->value));
  for (PetscInt n = 0; n < map->room; n++)
    map->ends[n][0] = -1;
  PetscFunctionReturn(0);
}

PetscErrorCode EdgeMapDestroy(EdgeMap *map)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(map->ends));
  PetscCall(PetscFree(map->value));
  *map = (EdgeMap){0};
  PetscFunctionReturn(0);
}

/* Where the edge is, or where it would be. */
static PetscInt find_slot(const EdgeMap *map, PetscInt low, PetscInt high)
{
  const uint64_t key =
      (uint64_t)low * UINT64_C(0x9E3779B97F4A7C15) ^ (uint64_t)high * UINT64_C(0xC2B2AE3D27D4EB4F);
  PetscInt slot = (PetscInt)((key ^ key >> 29) & (uint64_t)(map->room - 1));

  while (map->ends[slot][0] >= 0 && (map->ends[slot][0] != low || map->ends[slot][1] != high))
    slot = (slot + 1) & (map->room - 1);
  return slot;
}

static PetscErrorCode Grow(EdgeMap *map)
{
  EdgeMap larger;

  PetscFunctionBegin;
  PetscCall(EdgeMapCreate(2 * map->room, &larger));
  for (PetscInt n = 0; n < map->room; n++) {
    if (map->ends[n][0] >= 0)
      PetscCall(EdgeMapAdd(&larger, map->ends[n][0], map->ends[n][1], map->value[n]));
  }
  PetscCall(EdgeMapDestroy(map));
  *map = larger;
  PetscFunctionReturn(0);
}

PetscErrorCode EdgeMapAdd(EdgeMap *map, PetscInt a, PetscInt b, PetscInt value)
{
  PetscInt slot;

  PetscFunctionBegin;
  if (2 * (map->count + 1) > map->room)
    PetscCall(Grow(map));
  slot = find_slot(map, PetscMin(a, b), PetscMax(a, b));
  map->ends[slot][0] = PetscMin(a, b);
  map->ends[slot][1] = PetscMax(a, b);
  map->value[slot] = value;
  map->count++;
  PetscFunctionReturn(0);
}

PetscInt edge_map_find(const EdgeMap *map, PetscInt a, PetscInt b)
{
  const PetscInt slot = find_slot(map, PetscMin(a, b), PetscMax(a, b));

  return map->ends[slot][0] < 0 ? -1 : map->value[slot];
}

PetscErrorCode EdgeMapCreateMiddles(Mesh mesh, EdgeMap *map)
{
  PetscFunctionBegin;
  PetscCall(EdgeMapCreate(mesh->vertex_count, map));
  for (PetscInt v = 0; mesh->parents && v < mesh->vertex_count; v++) {
    if (mesh->parents[v][0] >= 0)
      PetscCall(EdgeMapAdd(map, mesh->parents[v][0], mesh->parents[v][1], v));
  }
  PetscFunctionReturn(0);
}
