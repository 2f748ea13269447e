/* What must hold of a mesh before a solid can be made of it. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include "mesh_impl.h"

static const PetscReal flat_quality = 1e-3;

static const char *const kind_names[] = {"point", "segment", "triangle", "tetrahedron"};

typedef struct {
  Mesh          mesh;
  MeshPlacement placement;
  MeshFault     fault;
  char         *message;
  size_t        message_size;
} MeshVerdict;

/* "tetrahedron 12 at (x, y, z) …"; the first fault counts. */
static void report_fault(MeshVerdict *verdict, MeshFault fault, PetscInt element, const char format[], ...)
    PETSC_ATTRIBUTE_FORMAT(4, 5);
static void report_fault(MeshVerdict *verdict, MeshFault fault, PetscInt element, const char format[], ...)
{
  const Mesh    mesh = verdict->mesh;
  const Vector3 place = mesh_element_centre(mesh, element);
  char          what[256];
  va_list       arguments;

  if (verdict->fault != MESH_SOUND)
    return;
  verdict->fault = fault;
  va_start(arguments, format);
  vsnprintf(what, sizeof what, format, arguments);
  va_end(arguments);
  snprintf(verdict->message, verdict->message_size, "%s %" PetscInt_FMT " at (%g, %g, %g) %s",
           kind_names[mesh->kind], mesh->numbers ? mesh->numbers[element] : element, (double)place.at[X],
           (double)place.at[Y], (double)place.at[Z], what);
}

static PetscInt shown(Mesh mesh, PetscInt element)
{
  return mesh->numbers ? mesh->numbers[element] : element;
}

static void report_vertex_fault(MeshVerdict *verdict, MeshFault fault, PetscInt vertex, const char what[])
{
  const Vector3 place = verdict->mesh->vertices[vertex];

  if (verdict->fault != MESH_SOUND)
    return;
  verdict->fault = fault;
  snprintf(verdict->message, verdict->message_size, "vertex %" PetscInt_FMT " at (%g, %g, %g) %s", vertex,
           (double)place.at[X], (double)place.at[Y], (double)place.at[Z], what);
}

static void check_vertices(MeshVerdict *verdict)
{
  for (PetscInt n = 0; n < verdict->mesh->vertex_count; n++) {
    for (int d = 0; d < DIM; d++) {
      if (!isfinite(verdict->mesh->vertices[n].at[d]))
        report_vertex_fault(verdict, MESH_BAD_VERTEX, n, "has a coordinate that is not a finite number");
    }
    if (verdict->placement == MESH_IN_PLANE && verdict->mesh->vertices[n].at[Z] != 0)
      report_vertex_fault(verdict, MESH_BAD_VERTEX, n, "is not in the plane z = 0, where a plane solid lies");
  }
}

static PetscBool has_vertex_twice(const PetscInt nodes[], PetscInt count)
{
  for (PetscInt a = 0; a < count; a++) {
    for (PetscInt b = 0; b < a; b++) {
      if (nodes[a] == nodes[b])
        return PETSC_TRUE;
    }
  }
  return PETSC_FALSE;
}

/* Whether some place of the element is turned inside out. */
static PetscBool is_inverted(const MeshVerdict *verdict, PetscInt element)
{
  const Mesh mesh = verdict->mesh;

  if (mesh->kind == MESH_TETRAHEDRA || (mesh->kind == MESH_TRIANGLES && verdict->placement == MESH_IN_PLANE))
    return mesh_smallest_stretch(mesh, element) > 0 ? PETSC_FALSE : PETSC_TRUE;
  return PETSC_FALSE;
}

static void check_element(MeshVerdict *verdict, PetscInt element)
{
  const Mesh      mesh = verdict->mesh;
  const PetscReal quality = mesh_element_quality(mesh, element);

  if (has_vertex_twice(mesh_element(mesh, element), mesh->nodes))
    report_fault(verdict, MESH_COLLAPSED, element, "has a vertex twice; leave it out");
  else if (PetscAbsReal(quality) < flat_quality)
    report_fault(verdict, MESH_FLAT, element,
                 "is flat: its quality is %.3g, and at least %g is needed; move or join its vertices",
                 (double)quality, (double)flat_quality);
  else if (is_inverted(verdict, element) && mesh->order == 1)
    report_fault(verdict, MESH_INVERTED, element, "is inverted: swap two of its corners");
  else if (is_inverted(verdict, element))
    report_fault(
        verdict, MESH_INVERTED, element,
        "is inverted at one of its nodes: straighten its edges, or swap two corners with their middles");
}

static PetscErrorCode CheckDangling(MeshVerdict *verdict)
{
  const Mesh mesh = verdict->mesh;
  PetscBool *used;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(mesh->vertex_count, &used));
  for (PetscInt n = 0; n < mesh->nodes * mesh->element_count; n++)
    used[mesh->elements[n]] = PETSC_TRUE;
  for (PetscInt n = 0; n < mesh->vertex_count; n++) {
    if (!used[n])
      report_vertex_fault(verdict, MESH_DANGLING, n, "dangles: no element has it; leave it out");
  }
  PetscCall(PetscFree(used));
  PetscFunctionReturn(0);
}

static PetscErrorCode CheckDuplicates(MeshVerdict *verdict)
{
  PetscInt   count;
  KeyedPart *parts;

  PetscFunctionBegin;
  PetscCall(MeshSortParts(verdict->mesh, PARTS_CORNERS, &count, &parts));
  for (PetscInt n = 1; n < count; n++) {
    if (same_key(&parts[n - 1], &parts[n]))
      report_fault(verdict, MESH_DUPLICATE, parts[n].element,
                   "has the same corners as element %" PetscInt_FMT,
                   shown(verdict->mesh, parts[n - 1].element));
  }
  PetscCall(PetscFree(parts));
  PetscFunctionReturn(0);
}

/* Whether the corners of the side, in their order along it, are an odd permutation of the sorted ones. */
static PetscBool is_odd(Mesh mesh, const KeyedPart *side)
{
  const PetscInt *nodes = mesh_element(mesh, side->element), *corners = mesh_side(mesh->kind, side->part);
  const PetscInt  width = mesh_corners(mesh->kind) - 1;
  PetscBool       odd = PETSC_FALSE;

  for (PetscInt a = 0; a < width; a++) {
    for (PetscInt b = 0; b < a; b++) {
      if (nodes[corners[b]] > nodes[corners[a]])
        odd = odd ? PETSC_FALSE : PETSC_TRUE;
    }
  }
  return odd;
}

/* Sides that meet have the same key and opposite senses. Segments may meet as they like. */
static PetscErrorCode CheckSides(MeshVerdict *verdict)
{
  const Mesh mesh = verdict->mesh;
  PetscInt   count;
  KeyedPart *sides;

  PetscFunctionBegin;
  PetscCall(MeshSortParts(mesh, PARTS_SIDES, &count, &sides));
  for (PetscInt n = 1; n < count; n++) {
    if (!same_key(&sides[n - 1], &sides[n]))
      continue;
    if (n > 1 && same_key(&sides[n - 2], &sides[n]))
      report_fault(verdict, MESH_NOT_MANIFOLD, sides[n].element,
                   "shares a side with elements %" PetscInt_FMT " and %" PetscInt_FMT
                   ": at most two may meet there",
                   shown(mesh, sides[n - 2].element), shown(mesh, sides[n - 1].element));
    else if (is_odd(mesh, &sides[n]) == is_odd(mesh, &sides[n - 1]))
      report_fault(verdict, MESH_TWISTED, sides[n].element,
                   mesh->kind == MESH_TETRAHEDRA
                       ? "lies on the same side of its face as element %" PetscInt_FMT ": they overlap"
                       : "is wrongly oriented: it faces the opposite way of element "
                         "%" PetscInt_FMT "; turn one of them round",
                   shown(mesh, sides[n - 1].element));
  }
  PetscCall(PetscFree(sides));
  PetscFunctionReturn(0);
}

PetscErrorCode MeshCheck(Mesh mesh, MeshPlacement placement, MeshFault *fault, char message[],
                         size_t message_size)
{
  MeshVerdict verdict = {mesh, placement, MESH_SOUND, message, message_size};

  PetscFunctionBegin;
  if (message_size)
    message[0] = '\0';
  check_vertices(&verdict);
  for (PetscInt n = 0; n < mesh->element_count; n++)
    check_element(&verdict, n);
  PetscCall(CheckDangling(&verdict));
  PetscCall(CheckDuplicates(&verdict));
  if (mesh->kind >= MESH_TRIANGLES)
    PetscCall(CheckSides(&verdict));
  *fault = verdict.fault;
  PetscFunctionReturn(0);
}
