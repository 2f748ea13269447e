/* From the description of a mesh to the mesh. */
#include <millrace/mesh_config.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>
#include "mesh_impl.h"

/* Of a linear tetrahedron and its part of the points, in explicit steps: others need more. */
static const PetscReal bytes_per_element = 400;

/* What the memory of this machine has room for, or what the limits of the process leave of it. */
static PetscReal most_elements(void)
{
  const PetscReal numbered = 5e7; /* four corners each, in 32 bits */
  PetscReal       bytes = (PetscReal)sysconf(_SC_PHYS_PAGES) * (PetscReal)sysconf(_SC_PAGESIZE);
  struct rlimit   limit;

  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    bytes = PetscMin(bytes, (PetscReal)limit.rlim_cur);
  return PetscMin(numbered, bytes / bytes_per_element);
}

typedef struct {
  const MeshConfig *config;
  char             *message;
  size_t            size;
} MeshOrder;

static void refuse(const MeshOrder *order, const char format[], ...) PETSC_ATTRIBUTE_FORMAT(2, 3);
static void refuse(const MeshOrder *order, const char format[], ...)
{
  va_list arguments;

  if (order->message[0])
    return;
  va_start(arguments, format);
  vsnprintf(order->message, order->size, format, arguments);
  va_end(arguments);
}

static PetscBool has_file(const MeshConfig *config)
{
  return config->file && config->file[0] ? PETSC_TRUE : PETSC_FALSE;
}

static PetscBool has_sheet(const MeshConfig *config)
{
  return vector3_norm(config->sheet.along) > 0 || config->sheet.radius > 0 ? PETSC_TRUE : PETSC_FALSE;
}

static PetscBool is_box(const MeshConfig *config)
{
  return config->shape && shape_primitive(config->shape).kind == PRIMITIVE_BOX ? PETSC_TRUE : PETSC_FALSE;
}

/* Tetrahedra around an embedded surface. */
static PetscBool is_lattice(const MeshConfig *config)
{
  return config->shape && config->fill == MESH_FILL_LATTICE && config->use == MESH_USE_VOLUME ? PETSC_TRUE
                                                                                              : PETSC_FALSE;
}

static PetscReal shape_room(Shape shape)
{
  Vector3 low, high;

  shape_bounds(shape, &low, &high);
  return (high.at[X] - low.at[X]) * (high.at[Y] - low.at[Y]) * (high.at[Z] - low.at[Z]);
}

static PetscReal sheet_area(const MeshSheetConfig *sheet)
{
  const PetscReal length = vector3_norm(sheet->along);

  if (sheet->radius > 0)
    return PETSC_PI * sheet->radius * (length > 0 ? 2 * length : sheet->radius);
  return vector3_norm(vector3_cross(sheet->along, sheet->across));
}

static PetscReal profile_area(const MeshProfileConfig *profile)
{
  PetscReal sum = 0;

  for (PetscInt n = 1; n < profile->point_count; n++) {
    const MeshProfilePoint a = profile->points[n - 1], b = profile->points[n];

    sum += PETSC_PI * (a.radius + b.radius) * hypot(a.radius - b.radius, a.height - b.height);
  }
  return sum;
}

PetscReal mesh_config_elements(const MeshConfig *config)
{
  const PetscReal edge = config->edge, triangle = PetscSqrtReal(3) / 4 * edge * edge;
  const PetscReal patterns[] = {12, 12, 12, 5, 6, 12}; /* per cube */

  if (has_file(config) || !(edge > 0))
    return 0;
  if (config->profile.point_count > 0)
    return profile_area(&config->profile) / triangle;
  if (has_sheet(config) && config->use == MESH_USE_ROPE)
    return vector3_norm(config->sheet.along) / edge;
  if (has_sheet(config))
    return sheet_area(&config->sheet) / triangle;
  if (!config->shape || config->use == MESH_USE_CLOTH)
    return 0;
  if (is_box(config) && config->fill == MESH_FILL_AUTO)
    return 5 * shape_room(config->shape) / (edge * edge * edge);
  return patterns[config->fill] * shape_room(config->shape) / (edge * edge * edge);
}

/* What is said must fit together. */
static void check_config(const MeshOrder *order)
{
  const MeshConfig *config = order->config;
  const int         given =
      (config->shape ? 1 : 0) + has_file(config) + has_sheet(config) + (config->profile.point_count > 0);

  if (given != 1)
    refuse(order, "%s: give one of shape, file, sheet and profile",
           given ? "it is described more than once" : "nothing says what it is");
  else if (!has_file(config) && !(config->edge > 0))
    refuse(order, "the length of its elements is missing: give \"edge\", which must be positive");
  else if (!has_file(config) && config->use == MESH_USE_VOLUME && !config->shape)
    refuse(order, "a volume is a shape or a file; give \"type: cloth\" to a sheet or profile");
  else if (!has_file(config) && config->use == MESH_USE_ROPE && !has_sheet(config))
    refuse(order, "a rope needs \"sheet: {origin, along}\" or a file");
  else if (config->use == MESH_USE_CLOUD && !config->shape && !has_file(config))
    refuse(order, "a cloud of points needs a shape or a file");
  else if (config->fill >= MESH_FILL_FIVE && !is_box(config))
    refuse(order, "\"fill: %s\" is for boxes; give \"stuffed\" or \"lattice\"", MeshFills[config->fill]);
  else if (config->order > 1 && config->refine_count > 0)
    refuse(order, "it has elements of order 2, which cannot be refined in places, where vertices hang on the "
                  "sides of larger ones: give it a shorter edge or \"order: 1\"");
  else if (config->order > 1 && config->fill == MESH_FILL_LATTICE)
    refuse(order, "surfaces are embedded in linear tetrahedra: give \"order: 1\" or \"fill: stuffed\"");
  else if (config->cut_count > 0 && (config->use != MESH_USE_VOLUME || config->order > 1 ||
                                     config->refine_count > 0 || config->fill == MESH_FILL_LATTICE))
    refuse(order,
           "only linear tetrahedra can be cut that are not refined and not a lattice around an embedded "
           "surface: give \"type: volume\", \"order: 1\", another \"fill\" and no \"refine\"");
  else if (config->surface_edge > 0 && !is_lattice(config))
    refuse(order, "\"surface_edge\" is for an embedded surface: give \"fill: lattice\" to a shape, or leave "
                  "it out");
  else if (config->surface_edge > 0 &&
           shape_room(config->shape) / pow(config->surface_edge, 3) > most_elements())
    refuse(order, "its surface would have too many triangles: make its surface_edge of %g m longer",
           (double)config->surface_edge);
  else if (mesh_config_elements(config) > most_elements())
    refuse(order,
           "it would have about %.2g elements, more than the %.2g that the memory here has room for: make "
           "its edge of %g m longer",
           (double)mesh_config_elements(config), (double)most_elements(), (double)config->edge);
}

static void check_cuts(const MeshOrder *order)
{
  for (PetscInt n = 0; n < order->config->cut_count; n++) {
    const MeshCutConfig *cut = &order->config->cuts[n];

    if (!(vector3_norm(cut->normal) > 0))
      refuse(order, "cut %" PetscInt_FMT " needs a normal that is not zero", n);
    if (cut->count > 1 && cut->step == 0)
      refuse(order, "cut %" PetscInt_FMT " has %" PetscInt_FMT " planes in one place: give it a \"step\"", n,
             cut->count);
    if (cut->gap > 0 &&
        (cut->keep != MESH_KEEP_BOTH || (cut->count > 1 && cut->gap >= PetscAbsReal(cut->step))))
      refuse(order, "cut %" PetscInt_FMT " has a \"gap\" %s", n,
             cut->keep != MESH_KEEP_BOTH ? "to a side that is left out: leave it at 0"
                                         : "as wide as its \"step\": make it smaller");
    if (cut->keep != MESH_KEEP_BOTH && vector3_norm(cut->end_normal) > 0)
      refuse(order,
             "cut %" PetscInt_FMT " is a half plane, which parts nothing that could be left out: "
             "give \"keep: both\" or no \"end_normal\"",
             n);
  }
}

PetscErrorCode MeshConfigCheck(const MeshConfig *config, char message[], size_t message_size)
{
  const MeshOrder order = {config, message, message_size};

  PetscFunctionBegin;
  message[0] = '\0';
  check_config(&order);
  check_cuts(&order);
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateBoxVolume(const MeshConfig *config, Mesh *mesh)
{
  const Primitive      box = shape_primitive(config->shape);
  const RigidTransform frame = {box.centre, box.rotation};
  const MeshBoxPattern pattern =
      config->fill == MESH_FILL_AUTO ? MESH_BOX_FIVE : (MeshBoxPattern)(config->fill - MESH_FILL_FIVE);
  PetscInt cells[DIM];

  PetscFunctionBegin;
  for (int d = 0; d < DIM; d++)
    cells[d] = (PetscInt)PetscMax(1, round(2 * box.half.at[d] / config->edge));
  PetscCall(MeshCreateBox(vector3_scale(-1, box.half), box.half, cells, pattern, mesh));
  for (PetscInt v = 0; v < (*mesh)->vertex_count; v++)
    (*mesh)->vertices[v] = rigid_apply(&frame, (*mesh)->vertices[v]);
  PetscFunctionReturn(0);
}

/* The vertices of a lattice that are inside. */
static PetscErrorCode CreateCloud(const MeshOrder *order, Mesh *mesh)
{
  const MeshConfig *config = order->config;
  MeshDraft         draft = {.corners = 1};
  Mesh              lattice;

  PetscFunctionBegin;
  PetscCall(MeshCreateCovering(config->shape, config->edge, &lattice, order->message, order->size));
  if (!lattice)
    PetscFunctionReturn(0);
  for (PetscInt v = 0; v < lattice->vertex_count; v++) {
    const PetscInt number = draft.vertex_count;

    if (!shape_is_inside(config->shape, lattice->vertices[v]))
      continue;
    PetscCall(MeshDraftAddVertex(&draft, lattice->vertices[v]));
    PetscCall(MeshDraftAddElement(&draft, &number));
  }
  PetscCall(MeshDraftFinish(&draft, DRAFT_WHOLE, mesh));
  PetscCall(MeshDestroy(&lattice));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateVolume(const MeshOrder *order, Mesh *mesh)
{
  const MeshConfig *config = order->config;

  PetscFunctionBegin;
  if (config->fill >= MESH_FILL_FIVE || (config->fill == MESH_FILL_AUTO && is_box(config)))
    PetscCall(CreateBoxVolume(config, mesh));
  else if (config->fill == MESH_FILL_LATTICE)
    PetscCall(MeshCreateCovering(config->shape, config->edge, mesh, order->message, order->size));
  else
    PetscCall(MeshCreateStuffed(config->shape, config->edge, mesh, order->message, order->size));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateSheet(const MeshConfig *config, Mesh *mesh)
{
  const MeshSheetConfig *sheet = &config->sheet;
  const Vector3          end = vector3_add(sheet->origin, sheet->along);
  const PetscInt         cells[2] = {(PetscInt)PetscMax(1, round(vector3_norm(sheet->along) / config->edge)),
                                     (PetscInt)PetscMax(1, round(vector3_norm(sheet->across) / config->edge))};

  PetscFunctionBegin;
  if (config->use == MESH_USE_ROPE)
    PetscCall(MeshCreateLine(sheet->origin, end, cells[0], mesh));
  else if (sheet->radius > 0 && vector3_norm(sheet->along) > 0)
    PetscCall(MeshCreateTube(sheet->origin, end, sheet->radius, config->edge, mesh));
  else if (sheet->radius > 0)
    PetscCall(MeshCreateDisc(sheet->origin, sheet->normal, sheet->radius, config->edge, mesh));
  else
    PetscCall(MeshCreateSheet(sheet->origin, sheet->along, sheet->across, cells, mesh));
  PetscFunctionReturn(0);
}

/* Mistakes in a profile are found here, so that the room below need not refuse them by an error. */
static void check_profile(const MeshOrder *order)
{
  const MeshProfileConfig *profile = &order->config->profile;

  if (profile->point_count < (profile->ring ? 3 : 2) || !(vector3_norm(profile->axis) > 0))
    refuse(order, "a profile needs an axis and at least %d points", profile->ring ? 3 : 2);
  for (PetscInt n = 0; n < profile->point_count; n++) {
    const MeshProfilePoint a = profile->points[n], b = profile->points[(n + 1) % profile->point_count];
    const PetscBool        is_end =
        !profile->ring && (n == 0 || n == profile->point_count - 1) ? PETSC_TRUE : PETSC_FALSE;

    if (!(a.radius > 0) && !is_end)
      refuse(order, "point %" PetscInt_FMT " of the profile lies on the axis, where only its ends may lie",
             n);
    if (a.radius == b.radius && a.height == b.height && (profile->ring || n < profile->point_count - 1))
      refuse(order, "point %" PetscInt_FMT " of the profile is the same as the next", n);
  }
}

static PetscErrorCode CreateProfile(const MeshOrder *order, Mesh *mesh)
{
  const MeshProfileConfig *profile = &order->config->profile;

  PetscFunctionBegin;
  check_profile(order);
  if (!order->message[0])
    PetscCall(MeshCreateRevolution(profile->origin, profile->axis,
                                   profile->ring ? MESH_PROFILE_RING : MESH_PROFILE_PATH,
                                   profile->point_count, profile->points, order->config->edge, mesh));
  PetscFunctionReturn(0);
}

static MeshKind use_kind(MeshUse use)
{
  static const MeshKind kinds[] = {MESH_TETRAHEDRA, MESH_TRIANGLES, MESH_TRIANGLES, MESH_SEGMENTS,
                                   MESH_POINTS};

  return kinds[use];
}

/* Elements of the right kind from what is given. */
static PetscErrorCode CreateRaw(const MeshOrder *order, Mesh *mesh)
{
  const MeshConfig *config = order->config;

  PetscFunctionBegin;
  if (has_file(config))
    PetscCall(MeshReadGmsh(config->file, use_kind(config->use), mesh, order->message, order->size));
  else if (config->profile.point_count > 0)
    PetscCall(CreateProfile(order, mesh));
  else if (has_sheet(config))
    PetscCall(CreateSheet(config, mesh));
  else if (config->use == MESH_USE_CLOTH)
    PetscCall(MeshCreateSkin(config->shape, config->edge, mesh, order->message, order->size));
  else if (config->use == MESH_USE_VOLUME)
    PetscCall(CreateVolume(order, mesh));
  else if (config->use == MESH_USE_CLOUD)
    PetscCall(CreateCloud(order, mesh));
  else
    refuse(order, "\"type: %s\" needs a sheet or a file, not a shape", MeshUses[config->use]);
  PetscFunctionReturn(0);
}

static PetscErrorCode RefineOnce(const MeshOrder *order, Shape inside, Mesh *mesh)
{
  PetscBool *marks;
  PetscInt   marked = 0;
  Mesh       refined;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1((*mesh)->element_count, &marks));
  for (PetscInt n = 0; n < (*mesh)->element_count; n++) {
    marks[n] = shape_is_inside(inside, mesh_element_centre(*mesh, n));
    marked += marks[n] ? 1 : 0;
  }
  if ((PetscReal)(*mesh)->element_count + 7 * (PetscReal)marked > most_elements()) {
    refuse(
        order,
        "refined, it would have more than %.2g elements, for which the memory here has no room: refine less",
        (double)most_elements());
  } else {
    PetscCall(MeshRefine(*mesh, marks, &refined, NULL));
    PetscCall(MeshDestroy(mesh));
    *mesh = refined;
  }
  PetscCall(PetscFree(marks));
  PetscFunctionReturn(0);
}

static PetscErrorCode RefineAndRaise(const MeshOrder *order, Mesh *mesh)
{
  const MeshConfig *config = order->config;
  Mesh              quadratic;

  PetscFunctionBegin;
  if ((*mesh)->order > 1 && (config->refine_count > 0 || config->order == 1))
    refuse(order, "the file has quadratic elements: give \"order: 2\", and no refinement");
  for (PetscInt n = 0; n < config->refine_count; n++) {
    for (PetscInt level = 0; level < config->refine[n].levels && !order->message[0]; level++)
      PetscCall(RefineOnce(order, config->refine[n].inside, mesh));
  }
  if (order->message[0] || config->order == 1 || (*mesh)->order > 1)
    PetscFunctionReturn(0);
  PetscCall(MeshCreateQuadratic(*mesh, &quadratic));
  PetscCall(MeshDestroy(mesh));
  *mesh = quadratic;
  PetscFunctionReturn(0);
}

/* Refined meshes have sides that only look open; so the check comes before. */
static PetscErrorCode CheckRaw(const MeshOrder *order, Mesh mesh)
{
  MeshFault fault;

  PetscFunctionBegin;
  if (mesh->element_count == 0) {
    refuse(order, "it has no element: make its edge of %g m shorter", (double)order->config->edge);
    PetscFunctionReturn(0);
  }
  PetscCall(MeshCheck(mesh, order->config->use == MESH_USE_PLANAR ? MESH_IN_PLANE : MESH_IN_SPACE, &fault,
                      order->message, order->size));
  PetscFunctionReturn(0);
}

static MeshPlane cut_plane(const MeshCutConfig *cut, PetscInt k)
{
  const Vector3 unit = vector3_scale(1. / vector3_norm(cut->normal), cut->normal);

  return (MeshPlane){.point = vector3_add(cut->point, vector3_scale((PetscReal)k * cut->step, unit)),
                     .normal = unit,
                     .end_point = cut->end_point,
                     .end_normal = cut->end_normal,
                     .keep = cut->keep,
                     .gap = cut->gap};
}

/* Whether it has vertices on both sides. */
static PetscBool meets(Mesh mesh, const MeshPlane *plane)
{
  PetscBool front = PETSC_FALSE, back = PETSC_FALSE;

  for (PetscInt v = 0; v < mesh->vertex_count && !(front && back); v++) {
    const PetscReal height = vector3_dot(plane->normal, vector3_subtract(mesh->vertices[v], plane->point));

    front = front || height > 0 ? PETSC_TRUE : PETSC_FALSE;
    back = back || height < 0 ? PETSC_TRUE : PETSC_FALSE;
  }
  return front && back ? PETSC_TRUE : PETSC_FALSE;
}

static PetscErrorCode CutAll(const MeshOrder *order, Mesh *mesh)
{
  const MeshConfig *config = order->config;
  PetscInt          count = 0;
  MeshPlane        *planes;

  PetscFunctionBegin;
  for (PetscInt n = 0; n < config->cut_count; n++)
    count += config->cuts[n].count;
  if (!count)
    PetscFunctionReturn(0);
  PetscCall(PetscMalloc1(count, &planes));
  count = 0;
  for (PetscInt n = 0; n < config->cut_count; n++) {
    PetscBool met = PETSC_FALSE;

    for (PetscInt k = 0; k < config->cuts[n].count; k++) {
      planes[count] = cut_plane(&config->cuts[n], k);
      met = meets(*mesh, &planes[count++]) || met ? PETSC_TRUE : PETSC_FALSE;
    }
    if (!met && config->cuts[n].keep == MESH_KEEP_BOTH)
      refuse(order, "cut %" PetscInt_FMT " passes beside it: move its \"point\"", n);
  }
  if (!order->message[0])
    PetscCall(MeshCutApart(mesh, count, planes));
  if ((*mesh)->element_count == 0)
    refuse(order, "its cuts leave nothing of it: change which side they keep");
  PetscCall(PetscFree(planes));
  PetscFunctionReturn(0);
}

PetscErrorCode MeshCreateFromConfig(const MeshConfig *config, Mesh *mesh, char message[], size_t message_size)
{
  const MeshOrder order = {config, message, message_size};

  PetscFunctionBegin;
  *mesh = NULL;
  PetscCall(MeshConfigCheck(config, message, message_size));
  if (!message[0])
    PetscCall(CreateRaw(&order, mesh));
  if (!message[0])
    PetscCall(CheckRaw(&order, *mesh));
  if (!message[0])
    PetscCall(RefineAndRaise(&order, mesh));
  if (!message[0] && is_lattice(config)) {
    PetscCall(MeshDropOutside(config->shape, *mesh));
    PetscCall(MeshEmbed(config->shape, config->surface_edge > 0 ? config->surface_edge : config->edge, *mesh,
                        message, message_size));
  }
  if (!message[0])
    PetscCall(CutAll(&order, mesh));
  if (message[0])
    PetscCall(MeshDestroy(mesh));
  PetscFunctionReturn(0);
}
