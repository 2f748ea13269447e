/* The points of deformable solids: particles and the vertices of meshes. */
#include "../contact/mesh/mesh_contact.h"
#include "distribution.h"
#include "point_matrix.h"

/* Volumes, ropes, sheets in space and in the plane have forces. */
static PetscErrorCode CheckUse(const SolidMeshConfig *config, Vector3 gravity, char problem[], size_t size)
{
  const MeshUse     use = config->mesh.use;
  const SkinConfig *skin = &config->skin;

  PetscFunctionBegin;
  if (skin->coupling == SKIN_SYNCHRONISED && (skin->stiffness > 0. || skin->drift > 0.))
    PetscCall(PetscSNPrintf(problem, size,
                            "a skin that is synchronised has no springs: leave out skin.%s, or give "
                            "skin.coupling: springs",
                            skin->stiffness > 0. ? "stiffness" : "drift"));
  else if (use == MESH_USE_CLOUD && !(config->mesh.edge > 0.))
    PetscCall(PetscSNPrintf(problem, size, "a cloud needs an \"edge\", by which its points have masses"));
  else if ((use == MESH_USE_CLOTH || use == MESH_USE_ROPE) && !(config->thickness > 0.))
    PetscCall(PetscSNPrintf(problem, size, "%s needs a \"thickness\", in m",
                            use == MESH_USE_CLOTH ? "cloth" : "a rope"));
  else if (use == MESH_USE_ROPE && config->load_count)
    PetscCall(
        PetscSNPrintf(problem, size, "a rope has no sides that \"loads\" could act on: hang a body on it"));
  else if (use == MESH_USE_PLANAR && gravity.at[Z] != 0.)
    PetscCall(PetscSNPrintf(problem, size,
                            "it is planar and cannot fall along z: give solids.gravity along x and y"));
  else if (use != MESH_USE_VOLUME &&
           (config->contact_spacing > 0. || skin->stiffness > 0. || skin->coupling == SKIN_SYNCHRONISED))
    PetscCall(PetscSNPrintf(problem, size, "\"contact_spacing\" and \"skin\" are for \"type: volume\""));
  else if (config->contact_thickness > 0. && use != MESH_USE_VOLUME && use != MESH_USE_CLOTH)
    PetscCall(PetscSNPrintf(
        problem, size, "\"contact_thickness\" is for \"type: volume\" and \"type: cloth\": leave it out"));
  PetscFunctionReturn(0);
}

/* Springs and hinges are of linear elements. */
static PetscErrorCode CheckMaterialUse(const SolidMeshConfig *config, const SolidMaterialConfig *material,
                                       char problem[], size_t size)
{
  const MeshUse   use = config->mesh.use;
  const PetscBool is_spring = material->model == MATERIAL_SPRINGS ? PETSC_TRUE : PETSC_FALSE;

  PetscFunctionBegin;
  if (use == MESH_USE_ROPE && !is_spring)
    PetscCall(PetscSNPrintf(problem, size,
                            "a rope is made of springs: give \"model: springs\" to the material \"%s\"",
                            material->name));
  else if (is_spring && config->mesh.order > 1)
    PetscCall(
        PetscSNPrintf(problem, size, "springs are along the edges of linear elements: give \"order: 1\""));
  else if (material->bending > 0. && (use != MESH_USE_CLOTH || config->mesh.order > 1))
    PetscCall(PetscSNPrintf(problem, size, "\"bending\" of the material \"%s\" is for cloth of \"order: 1\"",
                            material->name));
  else if (config->fibre_count && use != MESH_USE_VOLUME)
    PetscCall(PetscSNPrintf(problem, size, "\"fibres\" are for \"type: volume\""));
  else if (material->altitude > 0. && (!is_spring || use == MESH_USE_ROPE))
    PetscCall(PetscSNPrintf(
        problem, size, "\"altitude\" of the material \"%s\" is for cloth and volumes with \"model: springs\"",
        material->name));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateMesh(const SolidMeshConfig *config, const SolidMaterialConfig *material,
                                 Vector3 gravity, Mesh *mesh, char message[], size_t size)
{
  char problem[512] = "";

  PetscFunctionBegin;
  PetscCall(CheckUse(config, gravity, problem, sizeof(problem)));
  if (!problem[0])
    PetscCall(CheckMaterialUse(config, material, problem, sizeof(problem)));
  if (!problem[0])
    PetscCall(MeshCreateFromConfig(&config->mesh, mesh, problem, sizeof(problem)));
  if (!problem[0] && config->skin.refine_count && ((*mesh)->surface || (*mesh)->order > 1))
    PetscCall(
        PetscSNPrintf(problem, sizeof(problem),
                      "the skin of linear elements that are neither cut nor a lattice can be refined: leave "
                      "out skin.refine"));
  if (problem[0])
    PetscCall(
        MessageAtKey(message, size, "solids.meshes", config->name, "Mesh \"%s\": %s", config->name, problem));
  PetscFunctionReturn(0);
}

/* Triangles are their own surface. */
static PetscErrorCode TakeTriangles(DeformableMesh *mesh)
{
  PetscFunctionBegin;
  mesh->face_count = mesh->mesh->element_count;
  PetscCall(PetscMalloc1(mesh->face_count, &mesh->faces));
  PetscCall(PetscMalloc1(mesh->face_count, &mesh->behind));
  for (PetscInt f = 0; f < mesh->face_count; f++) {
    mesh->behind[f] = f;
    for (PetscInt c = 0; c < 3; c++)
      mesh->faces[f][c] = mesh->mesh->elements[mesh->mesh->nodes * f + c];
  }
  PetscFunctionReturn(0);
}

/* Ropes and clouds meet bodies with all their vertices. */
static PetscBool has_triangles(MeshKind kind)
{
  return kind == MESH_TRIANGLES || kind == MESH_TETRAHEDRA ? PETSC_TRUE : PETSC_FALSE;
}

/* The triangles of the surface: those of the boundary, or those that are embedded. */
static PetscErrorCode FindFaces(DeformableMesh *mesh)
{
  const Mesh   surface = mesh->mesh->surface;
  MeshBoundary boundary = {0};

  PetscFunctionBegin;
  if (mesh->mesh->kind == MESH_TRIANGLES) {
    PetscCall(TakeTriangles(mesh));
    PetscFunctionReturn(0);
  }
  if (!has_triangles(mesh->mesh->kind))
    PetscFunctionReturn(0);
  if (!surface)
    PetscCall(MeshFindBoundary(mesh->mesh, &boundary));
  mesh->face_count = surface ? surface->element_count : boundary.count;
  PetscCall(PetscMalloc1(mesh->face_count, &mesh->faces));
  for (PetscInt k = 0; k < 3 * mesh->face_count; k++)
    mesh->faces[k / 3][k % 3] = surface ? mesh->mesh->vertex_count + surface->elements[k] : boundary.faces[k];
  PetscCall(PetscMalloc1(mesh->face_count, &mesh->behind));
  for (PetscInt f = 0; f < mesh->face_count; f++)
    mesh->behind[f] = surface ? mesh->mesh->places[surface->elements[3 * f]].element : boundary.elements[f];
  PetscCall(MeshBoundaryDestroy(&boundary));
  PetscFunctionReturn(0);
}

static PetscErrorCode TakeVertices(DeformableMesh *mesh)
{
  const Mesh own = mesh->mesh;

  PetscFunctionBegin;
  mesh->skin_count = own->vertex_count;
  PetscCall(PetscMalloc1(mesh->skin_count, &mesh->skin));
  PetscCall(PetscMalloc1(mesh->skin_count, &mesh->skin_elements));
  for (PetscInt v = 0; v < own->vertex_count; v++)
    mesh->skin[v] = mesh->first + v;
  for (PetscInt k = 0; k < own->nodes * own->element_count; k++)
    mesh->skin_elements[own->elements[k]] = k / own->nodes;
  PetscFunctionReturn(0);
}

/* Vertices of the surface, once each, and an element at each, with room for points between them. */
static PetscErrorCode FindSkin(DeformableMesh *mesh)
{
  const PetscInt count = 3 * mesh->face_count, most = count + mesh_count_sprinkled(mesh);

  PetscFunctionBegin;
  if (!has_triangles(mesh->mesh->kind)) {
    PetscCall(TakeVertices(mesh));
    PetscFunctionReturn(0);
  }
  PetscCall(PetscMalloc1(most, &mesh->skin));
  PetscCall(PetscMalloc1(most, &mesh->skin_elements));
  PetscCall(PetscArraycpy(mesh->skin, (const PetscInt *)mesh->faces, count));
  mesh->skin_count = count;
  PetscCall(PetscSortRemoveDupsInt(&mesh->skin_count, mesh->skin));
  for (PetscInt f = 0; f < mesh->face_count; f++)
    for (PetscInt c = 0; c < 3; c++) {
      PetscInt k;

      PetscCall(PetscFindInt(mesh->faces[f][c], mesh->skin_count, mesh->skin, &k));
      mesh->skin_elements[k] = mesh->behind[f];
    }
  for (PetscInt k = 0; k < mesh->skin_count; k++)
    mesh->skin[k] += mesh->first;
  PetscFunctionReturn(0);
}

/* The boundary as a mesh of triangles of its own. */
static PetscErrorCode CreateBoundary(Mesh mesh, Mesh *surface)
{
  MeshBoundary boundary;
  PetscInt    *numbers, count = 0;
  Vector3     *vertices;

  PetscFunctionBegin;
  PetscCall(MeshFindBoundary(mesh, &boundary));
  PetscCall(PetscMalloc2(mesh->vertex_count, &numbers, mesh->vertex_count, &vertices));
  for (PetscInt v = 0; v < mesh->vertex_count; v++)
    numbers[v] = -1;
  for (PetscInt k = 0; k < 3 * boundary.count; k++) {
    const PetscInt v = boundary.faces[k];

    if (numbers[v] < 0) {
      vertices[count] = mesh->vertices[v];
      numbers[v] = count++;
    }
    boundary.faces[k] = numbers[v];
  }
  PetscCall(MeshCreate(MESH_TRIANGLES, 1, count, vertices, boundary.count, boundary.faces, surface));
  PetscCall(PetscFree2(numbers, vertices));
  PetscCall(MeshBoundaryDestroy(&boundary));
  PetscFunctionReturn(0);
}

/* The surface with smaller triangles, embedded in the elements behind it. */
static PetscErrorCode RefineSurface(const SkinConfig *skin, Mesh mesh)
{
  Mesh surface;

  PetscFunctionBegin;
  PetscCall(CreateBoundary(mesh, &surface));
  for (PetscInt n = 0; n < skin->refine_count; n++)
    for (PetscInt level = 0; level < skin->refine[n].levels; level++) {
      PetscBool *marks;
      Mesh       finer;

      PetscCall(PetscMalloc1(surface->element_count, &marks));
      for (PetscInt e = 0; e < surface->element_count; e++)
        marks[e] = shape_is_inside(skin->refine[n].inside, mesh_element_centre(surface, e));
      PetscCall(MeshRefine(surface, marks, &finer, NULL));
      PetscCall(PetscFree(marks));
      PetscCall(MeshDestroy(&surface));
      surface = finer;
    }
  mesh->surface = surface;
  PetscCall(PetscMalloc1(surface->vertex_count, &mesh->places));
  PetscCall(MeshFindPlaces(mesh, surface->vertex_count, surface->vertices, mesh->places));
  PetscFunctionReturn(0);
}

static void place_vertices_of(const RigidTransform *placed, Mesh mesh)
{
  for (PetscInt v = 0; v < mesh->vertex_count; v++)
    mesh->vertices[v] = rigid_apply(placed, mesh->vertices[v]);
}

static PetscErrorCode PlaceCopy(DeformableMesh *deformable)
{
  const Mesh            mesh = deformable->mesh;
  const RigidTransform *placed = deformable->config->placed;

  PetscFunctionBegin;
  if (!placed)
    PetscFunctionReturn(0);
  PetscCall(PetscMalloc1(mesh->vertex_count, &deformable->given));
  PetscCall(PetscArraycpy(deformable->given, mesh->vertices, mesh->vertex_count));
  place_vertices_of(placed, mesh);
  if (mesh->surface)
    place_vertices_of(placed, mesh->surface);
  PetscFunctionReturn(0);
}

PetscErrorCode SolidCreateMeshes(Solid solid, char message[], size_t size)
{
  const SolidConfig *config = solid->config;
  Points            *points;

  PetscFunctionBegin;
  PetscCall(PetscNew(&solid->points));
  points = solid->points;
  PetscCall(PetscCalloc1(config->mesh_count, &points->meshes));
  points->count = config->particle_count;
  for (PetscInt m = 0; m < config->mesh_count && !message[0]; m++) {
    DeformableMesh *mesh = &points->meshes[points->mesh_count++];

    mesh->config = &config->meshes[m];
    mesh->material = solid_find_material(config, mesh->config->material);
    mesh->first = points->count;
    if (!mesh->material)
      PetscCall(MessageAtKey(message, size, "solids.meshes", mesh->config->name,
                             "Mesh \"%s\" is of \"%s\", which solids.materials does not have",
                             mesh->config->name, mesh->config->material));
    else
      PetscCall(CreateMesh(mesh->config, mesh->material, config->gravity, &mesh->mesh, message, size));
    if (!message[0] && mesh->config->mesh.use == MESH_USE_CLOTH && mesh->material->model == MATERIAL_LINEAR)
      PetscCall(MessageAtKey(message, size, "solids.meshes", mesh->config->name,
                             "Mesh \"%s\" is cloth, which turns: its material cannot be linear; give it "
                             "neo-hookean",
                             mesh->config->name));
    if (message[0])
      break;
    if (mesh->config->skin.refine_count)
      PetscCall(RefineSurface(&mesh->config->skin, mesh->mesh));
    PetscCall(PlaceCopy(mesh));
    mesh->is_planar = mesh->config->mesh.use == MESH_USE_PLANAR ? PETSC_TRUE : PETSC_FALSE;
    PetscCall(FindFaces(mesh));
    PetscCall(FindSkin(mesh));
    mesh->first_copy = points->count + mesh_vertices(mesh) + mesh_count_sprinkled(mesh);
    points->count =
        mesh->first_copy + (mesh_is_soft(mesh) ? mesh->skin_count + mesh_count_sprinkled(mesh) : 0);
  }
  if (!message[0])
    PetscCall(SolidCountBindings(solid, message, size));
  PetscFunctionReturn(0);
}

enum { MOTIONS = 10 };

static SolidMotion *motion_of(Points *points, PetscInt k)
{
  SolidMotion *const all[MOTIONS] = {&points->forces,   &points->earlier, &points->drag,  &points->half,
                                     &points->residual, &points->search,  &points->image, &points->trial,
                                     &points->damped,   &points->given};

  return all[k];
}

static PetscErrorCode CreateArrays(Solid solid)
{
  Points *points = solid->points;

  PetscFunctionBegin;
  PetscCall(PetscCalloc7(points->count, &points->position, points->count, &points->rest, points->count,
                         &points->mass, points->count, &points->inverse_mass, points->count, &points->carrier,
                         points->count, &points->arm, points->count, &points->carried));
  PetscCall(PetscCalloc1(solid->body_count, &points->bodies));
  PetscCall(PetscCalloc1(points->count, &points->load));
  PetscCall(PetscCalloc1(MESH_MOST_FORCES * points->mesh_count, &points->stiffening));
  for (PetscInt k = 0; k < MOTIONS; k++)
    PetscCall(SolidMotionCreate(solid, motion_of(points, k)));
  for (PetscInt p = 0; p < points->count; p++)
    points->carrier[p] = CARRIER_NONE;
  PetscFunctionReturn(0);
}

static void place_particles(Solid solid)
{
  Points *points = solid->points;

  for (PetscInt p = 0; p < solid->config->particle_count; p++) {
    const ParticleConfig *particle = &solid->config->particles[p];

    points->position[p] = points->rest[p] = particle->position;
    points->velocity[p] = particle->velocity;
    points->mass[p] = particle->mass;
    points->inverse_mass[p] = 1. / particle->mass;
  }
}

/* The first that holds a place; none: CARRIER_NONE. */
static PetscInt find_carrier(const DeformableMesh *mesh, Vector3 place)
{
  for (PetscInt h = 0; h < mesh->config->held_count; h++)
    if (shape_is_inside(mesh->config->held[h].inside, place))
      return mesh->holders[h];
  return CARRIER_NONE;
}

static void place_vertices(Solid solid, DeformableMesh *mesh)
{
  Points *points = solid->points;
  Vector3 low, high, centre;

  mesh_bounds(mesh->mesh, &low, &high);
  centre = vector3_scale(0.5, vector3_add(low, high));
  for (PetscInt v = 0; v < mesh->mesh->vertex_count; v++) {
    const PetscInt p = mesh->first + v;
    const Vector3  place = mesh->mesh->vertices[v];

    points->position[p] = points->rest[p] = place;
    if (points->carrier[p] == CARRIER_POINTS)
      continue;
    points->carrier[p] = find_carrier(mesh, vertex_in_scene(mesh, v));
    if (points->carrier[p] == CARRIER_NONE)
      points->velocity[p] = vector3_add(mesh->config->velocity,
                                        vector3_cross(mesh->config->spin, vector3_subtract(place, centre)));
    else
      points->carried[points->carried_count++] = p;
    if (points->carrier[p] >= 0 && body_is_free(&solid->bodies[points->carrier[p]]))
      mesh->is_shared = PETSC_TRUE;
    points->arm[p] =
        points->carrier[p] >= 0 ? rigid_apply_inverse(&solid->placements[points->carrier[p]], place) : place;
  }
}

/* Of triangles: their thickness, 1 m of a plane problem without one; of segments the area of their section;
   of the points of a cloud, two to each cube of a body-centred lattice, the volume. */
static PetscReal mesh_depth(const DeformableMesh *mesh)
{
  if (mesh->mesh->kind == MESH_SEGMENTS)
    return 0.25 * PETSC_PI * PetscSqr(mesh->config->thickness);
  if (mesh->mesh->kind == MESH_POINTS)
    return 0.5 * PetscPowRealInt(mesh->config->mesh.edge, 3);
  if (mesh->mesh->kind != MESH_TRIANGLES)
    return 1.;
  return mesh->config->thickness > 0. ? mesh->config->thickness : 1.;
}

static ElementSection mesh_section(const DeformableMesh *mesh)
{
  if (mesh->mesh->kind != MESH_TRIANGLES)
    return SECTION_SOLID;
  return mesh->is_planar && mesh->config->stress == PLANE_STRAIN ? SECTION_PLANE_STRAIN : SECTION_SHEET;
}

/* Of a node in the mass of its element: by the diagonal of the mass matrix (Hinton, Rock, Zienkiewicz), since
   its row sums at corners of quadratic elements are negative. */
static PetscReal mass_share(Mesh mesh, PetscInt node)
{
  if (mesh->kind == MESH_TRIANGLES && mesh->order == 2)
    return node < 3 ? 1. / 19. : 16. / 57.;
  if (mesh->order == 1)
    return 1. / (PetscReal)mesh->nodes;
  return node < 4 ? 1. / 36. : 4. / 27.;
}

/* What an element that holds little material has: of its nodes far from that some would weigh nearly
   nothing, and no step would be short enough. */
static const PetscReal least_filled = 0.05;

static PetscReal filled_part(Mesh mesh, PetscInt element)
{
  return mesh->filled ? PetscMax(mesh->filled[element], least_filled) : 1.;
}

/* The mass of an element goes to its nodes that move by themselves or with other points: a body with points
   keeps its own. */
static void add_masses(Points *points, const DeformableMesh *mesh)
{
  const PetscInt nodes = mesh->mesh->nodes;

  for (PetscInt e = 0; e < mesh->mesh->element_count; e++) {
    const PetscInt *element = &mesh->elements[nodes * e];
    const PetscReal mass = mesh_depth(mesh) * mesh->material->density * filled_part(mesh->mesh, e) *
                           mesh_element_measure(mesh->mesh, e);
    PetscReal movable = 0.;

    for (PetscInt c = 0; c < nodes; c++)
      movable += points->carrier[element[c]] <= CARRIER_NONE ? mass_share(mesh->mesh, c) : 0.;
    for (PetscInt c = 0; c < nodes; c++)
      if (points->carrier[element[c]] <= CARRIER_NONE)
        points->mass[element[c]] += mass * mass_share(mesh->mesh, c) / movable;
  }
}

static PetscErrorCode FindHolders(Solid solid, DeformableMesh *mesh)
{
  PetscFunctionBegin;
  PetscCall(PetscMalloc1(mesh->config->held_count, &mesh->holders));
  for (PetscInt h = 0; h < mesh->config->held_count; h++)
    mesh->holders[h] =
        mesh->config->held[h].to[0] ? solid_find_body(solid, mesh->config->held[h].to) : CARRIER_WORLD;
  PetscFunctionReturn(0);
}

/* The shortest edge of all, and the length by which gaps of the mesh are measured: the one that it was made
   with, of a file the mean. */
static void measure_edges(Points *points, DeformableMesh *deformable)
{
  const Mesh mesh = deformable->mesh;
  PetscReal  sum = 0.;

  for (PetscInt e = 0; e < mesh->element_count; e++)
    for (PetscInt k = 0; k < mesh_edges(mesh->kind); k++) {
      const PetscInt *ends = mesh_edge(mesh->kind, k), *nodes = &mesh->elements[mesh->nodes * e];
      const PetscReal length =
          vector3_norm(vector3_subtract(mesh->vertices[nodes[ends[0]]], mesh->vertices[nodes[ends[1]]]));

      sum += length;
      points->shortest = points->shortest > 0. ? PetscMin(points->shortest, length) : length;
    }
  deformable->edge = deformable->config->mesh.edge > 0.
                         ? deformable->config->mesh.edge
                         : sum / (PetscReal)(mesh->element_count * mesh_edges(mesh->kind));
}

static PetscErrorCode AddForce(Points *points, DeformableMesh *mesh, const char name[],
                               const ElementList *elements)
{
  Force *force = &mesh->forces[mesh->force_count++];

  PetscFunctionBegin;
  force->kind = force_kind(name);
  PetscCheck(force->kind, PETSC_COMM_SELF, PETSC_ERR_PLIB, "No force is called %s", name);
  PetscCall(force->kind->create(mesh->material, elements, points->rest, &force->data));
  PetscFunctionReturn(0);
}

static PetscErrorCode FinishMesh(Solid solid, DeformableMesh *mesh)
{
  Points        *points = solid->points;
  const PetscInt count = mesh->mesh->element_count;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(count * mesh->mesh->nodes, &mesh->elements));
  for (PetscInt k = 0; k < count * mesh->mesh->nodes; k++)
    mesh->elements[k] = mesh->first + mesh->mesh->elements[k];
  for (PetscInt e = 0; mesh->mesh->filled && e < count; e++)
    mesh->mesh->filled[e] = filled_part(mesh->mesh, e);
  PetscCall(FindHolders(solid, mesh));
  PetscCall(MeshBindSurface(points, mesh));
  place_vertices(solid, mesh);
  add_masses(points, mesh);
  PetscCall(MeshSprinkle(points, mesh));
  PetscCall(MeshAddCopies(solid, mesh));
  PetscFunctionReturn(0);
}

PetscInt mesh_own_elements(const DeformableMesh *mesh)
{
  return mesh->part ? mesh->part_count : mesh->mesh->element_count;
}

/* Of the elements that this rank computes. */
static PetscErrorCode AddForces(Points *points, DeformableMesh *mesh)
{
  ElementList elements = {.count = mesh_own_elements(mesh),
                          .nodes = mesh->mesh->nodes,
                          .elements = mesh->part ? mesh->part_elements : mesh->elements,
                          .counts = points->counts,
                          .section = mesh_section(mesh),
                          .thickness = mesh_depth(mesh)};

  PetscFunctionBegin;
  if (mesh->mesh->kind == MESH_POINTS) /* others give them their forces */
    PetscFunctionReturn(0);
  if (mesh->mesh->filled)
    elements.filled = mesh->part ? mesh->part_filled : mesh->mesh->filled;
  PetscCall(AddForce(points, mesh, MaterialModels[mesh->material->model], &elements));
  if (mesh->material->bending > 0.)
    PetscCall(AddForce(points, mesh, "bending", &elements));
  if (mesh->material->altitude > 0.)
    PetscCall(AddForce(points, mesh, "altitude", &elements));
  elements.fibre_count = mesh->config->fibre_count;
  elements.fibres = mesh->config->fibres;
  elements.placed = mesh->config->placed;
  if (elements.fibre_count)
    PetscCall(AddForce(points, mesh, "fibres", &elements));
  if (material_damping(mesh->material) > 0. || mesh->material->mass_damping > 0.)
    points->is_damped = PETSC_TRUE;
  if (mesh->material->stiffness_damping > 0. && !points->stretched)
    PetscCall(PetscCalloc1(points->count, &points->stretched));
  PetscFunctionReturn(0);
}

PetscErrorCode PointsMakeForces(Solid solid)
{
  Points *points = solid->points;

  PetscFunctionBegin;
  for (PetscInt m = 0; m < points->mesh_count; m++) {
    DeformableMesh *mesh = &points->meshes[m];

    for (PetscInt k = 0; k < mesh->force_count; k++)
      PetscCall(mesh->forces[k].kind->destroy(&mesh->forces[k].data));
    mesh->force_count = 0;
    PetscCall(AddForces(points, mesh));
    for (PetscInt k = 0; k < mesh->force_count; k++)
      if (mesh->forces[k].kind->set_time)
        mesh->forces[k].kind->set_time(mesh->forces[k].data, points->time);
  }
  points->has_forces = PETSC_FALSE;
  PetscFunctionReturn(0);
}

static void weigh(Solid solid)
{
  Points *points = solid->points;

  for (PetscInt p = 0; p < points->count; p++)
    points->inverse_mass[p] =
        points->carrier[p] == CARRIER_NONE && points->mass[p] > 0. ? 1. / points->mass[p] : 0.;
  for (PetscInt b = 0; b < solid->body_count; b++) {
    PetscBool carries = PETSC_FALSE;

    for (PetscInt k = 0; k < points->carried_count && !carries; k++)
      carries = points->carrier[points->carried[k]] == b ? PETSC_TRUE : PETSC_FALSE;
    if (carries && body_is_free(&solid->bodies[b]))
      points->bodies[points->body_count++] = b;
  }
  points->carrying_count = points->body_count;
}

/* The bodies that hold meshes must be there. */
static PetscErrorCode CheckHolds(Solid solid, const SolidMeshConfig *config, char message[], size_t size)
{
  PetscFunctionBegin;
  for (PetscInt h = 0; h < config->held_count; h++)
    if (config->held[h].to[0] && solid_find_body(solid, config->held[h].to) < 0)
      PetscCall(MessageAtKey(message, size, "solids.meshes", config->name,
                             "Mesh \"%s\" is held to \"%s\", which is no body", config->name,
                             config->held[h].to));
  PetscFunctionReturn(0);
}

/* Vertices that stand still or move as given: three that span a plane, two of a plane mesh. */
static PetscBool is_held_fast(Solid solid, const DeformableMesh *mesh)
{
  const Points *points = solid->points;
  Vector3       first = vector3(0, 0, 0), along = vector3(0, 0, 0);
  PetscInt      found = 0;

  for (PetscInt p = mesh->first; p < mesh->first + mesh->mesh->vertex_count; p++) {
    const PetscInt  carrier = points->carrier[p];
    const Vector3   arm = vector3_subtract(points->rest[p], first);
    const PetscReal size = points->shortest;

    if (carrier < CARRIER_WORLD || (carrier >= 0 && body_is_free(&solid->bodies[carrier])))
      continue;
    if (!found++)
      first = points->rest[p];
    else if (mesh->is_planar)
      return PETSC_TRUE;
    else if (vector3_norm(along) == 0.)
      along = arm;
    else if (vector3_norm(vector3_cross(along, arm)) > 1e-6 * size * size)
      return PETSC_TRUE;
  }
  return PETSC_FALSE;
}

PetscBool mesh_is_held_by(const DeformableMesh *mesh, PetscInt body)
{
  for (PetscInt h = 0; h < mesh->config->held_count; h++)
    if (mesh->holders[h] == body)
      return PETSC_TRUE;
  return PETSC_FALSE;
}

/* Implicit steps have friction with what does not give way, in as many linearisations as it takes. */
static PetscErrorCode CheckFriction(Solid solid, const DeformableMesh *mesh, char message[], size_t size)
{
  const char *name = mesh->config->name;

  PetscFunctionBegin;
  if (!(mesh->config->friction > 0.) || solid->body_count <= mesh->config->held_count ||
      solid->config->in_fluid)
    PetscFunctionReturn(0);
  if (solid->config->newton == 1)
    PetscCall(MessageAtKey(message, size, "solids.meshes", name,
                           "Mesh \"%s\" has friction, which one linearisation cannot find: give "
                           "solids.newton more than 1, or the mesh friction: 0",
                           name));
  PetscFunctionReturn(0);
}

/* Equilibrium is looked for where rigid motions and bodies have no part in it. */
static PetscErrorCode CheckElasticity(Solid solid, const DeformableMesh *mesh, char message[], size_t size)
{
  const char *name = mesh->config->name;

  PetscFunctionBegin;
  if (message[0] || !elastic_time_is_implicit(solid->config->elasticity))
    PetscFunctionReturn(0);
  if (mesh->config->contact_thickness > 0. && !solid->config->in_fluid) {
    PetscCall(
        MessageAtKey(message, size, "solids.meshes", name,
                     "Mesh \"%s\" has a contact_thickness, and meshes do not meet in implicit and static "
                     "elasticity: leave it out, or give solids.elasticity: explicit",
                     name));
    PetscFunctionReturn(0);
  }
  for (PetscInt k = 0; k < solid->config->binding_count && !message[0]; k++)
    if (solid->config->bindings[k].kind == BINDING_SOFT && !solid->config->in_fluid)
      PetscCall(MessageAtKey(message, size, "solids.bindings", solid->config->bindings[k].name,
                             "Binding \"%s\" is soft, which implicit and static elasticity do not know: make "
                             "it hard, or give solids.elasticity: explicit",
                             solid->config->bindings[k].name));
  if (message[0])
    PetscFunctionReturn(0);
  if (mesh_is_soft(mesh)) {
    PetscCall(MessageAtKey(message, size, "solids.meshes", name,
                           "Mesh \"%s\" has a soft bound skin, which implicit and static elasticity do not "
                           "know: give solids.elasticity: explicit",
                           name));
    PetscFunctionReturn(0);
  }
  if (solid->config->elasticity != ELASTIC_STATIC) {
    PetscCall(CheckFriction(solid, mesh, message, size));
    PetscFunctionReturn(0);
  }
  if (mesh->is_shared)
    PetscCall(MessageAtKey(message, size, "solids.meshes", name,
                           "Mesh \"%s\" is held to a dynamic body, which has no equilibrium with "
                           "solids.elasticity: static; make the body static or kinematic",
                           name));
  else if (!is_held_fast(solid, mesh))
    PetscCall(MessageAtKey(message, size, "solids.meshes", name,
                           "Mesh \"%s\" is not held so that it cannot move or turn as a whole, and has no "
                           "equilibrium with solids.elasticity: static; hold it",
                           name));
  PetscFunctionReturn(0);
}

/* Volumes are those of linear tetrahedra, and projections those of explicit steps. */
static PetscErrorCode CheckVolume(Solid solid, const DeformableMesh *mesh, char message[], size_t size)
{
  const char *name = mesh->config->name;

  PetscFunctionBegin;
  if (message[0] || mesh->mesh->kind == MESH_POINTS || mesh->material->volume == SOLID_VOLUME_FREE)
    PetscFunctionReturn(0);
  if (mesh->mesh->kind != MESH_TETRAHEDRA || mesh->mesh->nodes != 4)
    PetscCall(MessageAtKey(message, size, "solids.meshes", name,
                           "Mesh \"%s\" is not of linear tetrahedra, which alone keep their volume: give it "
                           "type: volume and order: 1, or another material",
                           name));
  else if (elastic_time_is_implicit(solid->config->elasticity))
    PetscCall(MessageAtKey(message, size, "solids.meshes", name,
                           "Mesh \"%s\" keeps its volume, which implicit and static elasticity do not know: "
                           "give solids.elasticity: explicit",
                           name));
  PetscFunctionReturn(0);
}

/* Every bundle of fibres is somewhere. */
static PetscErrorCode CheckBundles(const DeformableMesh *mesh, char message[], size_t size)
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < mesh->config->fibre_count && !message[0]; k++) {
    const Shape inside = mesh->config->fibres[k].inside;
    PetscBool   found = inside ? PETSC_FALSE : PETSC_TRUE;

    for (PetscInt e = 0; e < mesh->mesh->element_count && !found; e++)
      found = shape_is_inside(inside, place_in_scene(mesh->config, mesh_element_centre(mesh->mesh, e)));
    if (!found)
      PetscCall(
          MessageAtKey(message, size, "solids.meshes", mesh->config->name,
                       "Mesh \"%s\" has no element whose middle is in the shape of fibres %" PetscInt_FMT
                       ": make the shape larger or the edge shorter",
                       mesh->config->name, k));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode SolidCreatePoints(Solid solid, char message[], size_t size)
{
  Points *points = solid->points;

  PetscFunctionBegin;
  for (PetscInt m = 0; m < points->mesh_count && !message[0]; m++)
    PetscCall(CheckHolds(solid, points->meshes[m].config, message, size));
  if (message[0])
    PetscFunctionReturn(0);
  points->velocity = (Vector3 *)solid->velocity;
  PetscCall(CreateArrays(solid));
  PetscCall(PointBindingsCreate(points));
  place_particles(solid);
  for (PetscInt m = 0; m < points->mesh_count; m++) {
    measure_edges(points, &points->meshes[m]);
    PetscCall(MeshBindJunctions(points, &points->meshes[m]));
  }
  PetscCall(SolidBindHard(solid, message, size));
  for (PetscInt m = 0; m < points->mesh_count; m++)
    PetscCall(FinishMesh(solid, &points->meshes[m]));
  PetscCall(SolidBindSoft(solid, message, size));
  PetscCall(SoftPointsPrepareDrift(solid, message, size));
  for (PetscInt m = 0; m < points->mesh_count && !message[0]; m++) {
    PetscCall(CheckBundles(&points->meshes[m], message, size));
    PetscCall(CheckVolume(solid, &points->meshes[m], message, size));
    PetscCall(MeshAddLoads(points, &points->meshes[m], message, size));
    PetscCall(CheckElasticity(solid, &points->meshes[m], message, size));
  }
  if (message[0])
    PetscFunctionReturn(0);
  points_share_masses(points);
  weigh(solid);
  PetscCall(SolidFindBones(solid, message, size));
  if (message[0])
    PetscFunctionReturn(0);
  PetscCall(PointsDistribute(solid));
  PetscCall(PointsMakeForces(solid));
  for (PetscInt m = 0; m < points->mesh_count; m++)
    PetscCall(MeshFindFrequency(solid, &points->meshes[m], &points->meshes[m].frequency));
  if (points->soft.count)
    PetscCall(SoftPointsWeigh(solid));
  PetscCall(PointsFindOwn(points));
  PetscCall(SpringsCreate(solid));
  PetscCall(KeptVolumesCreate(solid));
  points_follow_velocity(solid, solid->twists, points->velocity);
  soft_points_start(points);
  PetscCall(PointsComplete(solid));
  PetscFunctionReturn(0);
}

static PetscErrorCode MeshDestroyParts(DeformableMesh *mesh)
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < mesh->force_count; k++)
    PetscCall(mesh->forces[k].kind->destroy(&mesh->forces[k].data));
  PetscCall(PetscFree(mesh->given));
  PetscCall(PetscFree(mesh->faces));
  PetscCall(PetscFree(mesh->neighbours));
  PetscCall(PetscFree(mesh->behind));
  PetscCall(PetscFree(mesh->face_points));
  PetscCall(PetscFree(mesh->elements));
  PetscCall(PetscFree(mesh->holders));
  PetscCall(PetscFree(mesh->skin));
  PetscCall(PetscFree(mesh->skin_elements));
  PetscCall(PetscFree(mesh->shown));
  PetscCall(MeshDestroy(&mesh->mesh));
  PetscFunctionReturn(0);
}

PetscErrorCode SolidDestroyPoints(Solid solid)
{
  Points *points = solid->points;

  PetscFunctionBegin;
  if (!points)
    PetscFunctionReturn(0);
  for (PetscInt m = 0; m < points->mesh_count; m++)
    PetscCall(MeshDestroyParts(&points->meshes[m]));
  PetscCall(MeshSurfaceDestroy(points));
  PetscCall(DistributionDestroy(points));
  PetscCall(KeptVolumesDestroy(points));
  PetscCall(PetscFree(points->meshes));
  PetscCall(PetscFree(points->contacts));
  PetscCall(SpringsDestroy(solid));
  PetscCall(SoftPointsDestroy(solid));
  PetscCall(PointsInFluidDestroy(points));
  PetscCall(SolidDestroyBindings(solid));
  PetscCall(PointBindingsDestroy(points));
  PetscCall(PetscFree7(points->position, points->rest, points->mass, points->inverse_mass, points->carrier,
                       points->arm, points->carried));
  PetscCall(PetscFree(points->bodies));
  PetscCall(PetscFree(points->load));
  PetscCall(PetscFree(points->stretched));
  PetscCall(PetscFree(points->stiffening));
  PetscCall(PetscFree(points->kept_history));
  PetscCall(PointMatrixDestroy(&points->matrix));
  PetscCall(PointMatrixDestroy(&points->drag_matrix));
  for (PetscInt k = 0; k < MOTIONS; k++)
    PetscCall(SolidMotionDestroy(motion_of(points, k)));
  PetscCall(PetscFree(solid->points));
  PetscFunctionReturn(0);
}

/* From the centre of the body that carries the point. */
static Vector3 world_arm(Solid solid, PetscInt p)
{
  return vector3_subtract(solid->points->position[p], solid->placements[solid->points->carrier[p]].position);
}

void points_follow_position(Solid solid)
{
  Points *points = solid->points;

  for (PetscInt k = 0; k < points->carried_count; k++) {
    const PetscInt p = points->carried[k], b = points->carrier[p];

    points->position[p] = b >= 0 ? rigid_apply(&solid->placements[b], points->arm[p]) : points->arm[p];
  }
  points_follow_parents(points, points->position);
}

void points_follow_velocity(Solid solid, const Twist bodies[], Vector3 velocity[])
{
  const Points *points = solid->points;

  for (PetscInt k = 0; k < points->carried_count; k++) {
    const PetscInt p = points->carried[k], b = points->carrier[p];

    velocity[p] = b >= 0 ? twist_at(&bodies[b], world_arm(solid, p)) : vector3(0, 0, 0);
  }
  points_follow_parents(points, velocity);
}

void points_follow_free(Solid solid, SolidMotion *motion)
{
  const Points *points = solid->points;

  for (PetscInt k = 0; k < points->carried_count; k++) {
    const PetscInt p = points->carried[k], b = points->carrier[p];

    if (b >= 0 && body_is_free(&solid->bodies[b]))
      motion->points[p] = twist_at(&motion->bodies[b], world_arm(solid, p));
  }
  points_follow_parents(points, motion->points);
}

void points_follow_change(Solid solid, SolidMotion *motion)
{
  const Points *points = solid->points;

  for (PetscInt k = 0; k < points->carried_count; k++) {
    const PetscInt p = points->carried[k], b = points->carrier[p];

    motion->points[p] = b >= 0 && body_is_free(&solid->bodies[b])
                            ? twist_at(&motion->bodies[b], world_arm(solid, p))
                            : vector3(0, 0, 0);
  }
  points_follow_parents(points, motion->points);
}

/* Of a body whose motion is given the mean of what it is and was. */
void points_follow_middle(Solid solid, SolidMotion *motion)
{
  const Points *points = solid->points;

  for (PetscInt k = 0; k < points->carried_count; k++) {
    const PetscInt p = points->carried[k], b = points->carrier[p];

    if (b >= 0 && body_is_free(&solid->bodies[b]))
      motion->points[p] = twist_at(&motion->bodies[b], world_arm(solid, p));
    else if (b >= 0)
      motion->points[p] = vector3_scale(
          0.5, vector3_add(points->velocity[p], twist_at(&solid->twists[b], world_arm(solid, p))));
    else
      motion->points[p] = vector3(0, 0, 0);
  }
  points_follow_parents(points, motion->points);
}

static void collect_carried(Solid solid, SolidMotion *forces)
{
  const Points *points = solid->points;

  for (PetscInt k = 0; k < points->carried_count; k++) {
    const PetscInt p = points->carried[k], b = points->carrier[p];
    const Vector3  force = forces->points[p];

    forces->points[p] = vector3(0, 0, 0);
    if (b < 0 || !body_is_free(&solid->bodies[b]))
      continue;
    forces->bodies[b].linear = vector3_add(forces->bodies[b].linear, force);
    forces->bodies[b].angular =
        vector3_add(forces->bodies[b].angular, vector3_cross(world_arm(solid, p), force));
  }
}

void points_collect(Solid solid, SolidMotion *forces)
{
  points_collect_bound(solid->points, forces->points);
  collect_carried(solid, forces);
}

PetscErrorCode PointsCollect(Solid solid, SolidMotion *forces)
{
  PetscFunctionBegin;
  points_collect_bound(solid->points, forces->points);
  PetscCall(PointsGatherCarried(solid, forces->points));
  collect_carried(solid, forces);
  PetscFunctionReturn(0);
}

void points_set_time(Solid solid, PetscReal time)
{
  Points *points = solid->points;

  for (PetscInt m = 0; m < points->mesh_count && points->time != time; m++)
    for (PetscInt k = 0; k < points->meshes[m].force_count; k++) {
      Force *force = &points->meshes[m].forces[k];

      if (!force->kind->set_time)
        continue;
      force->kind->set_time(force->data, time);
      points->has_forces = PETSC_FALSE;
    }
  points->time = time;
}

/* As points have them, before those that others carry pass them on. */
static void add_elastic(Solid solid)
{
  Points *points = solid->points;

  points_copy(points, points->load, points->forces.points);
  for (PetscInt k = 0; k < points->body_count; k++)
    points->forces.bodies[points->bodies[k]] = (Twist){0};
  for (PetscInt m = 0; m < points->mesh_count; m++) {
    const DeformableMesh *mesh = &points->meshes[m];

    for (PetscInt k = 0; k < mesh->force_count; k++)
      mesh->forces[k].kind->add_elastic(mesh->forces[k].data, points->position, points->forces.points);
  }
}

void points_find_forces(Solid solid)
{
  Points *points = solid->points;

  if (points->has_forces)
    return;
  add_elastic(solid);
  if (solid->config->in_fluid)
    bindings_add_elastic(points, points->forces.points);
  points_collect(solid, &points->forces);
  soft_points_map(solid, &points->forces);
  points->has_forces = PETSC_TRUE;
}

PetscErrorCode PointsFindForces(Solid solid)
{
  Points *points = solid->points;

  PetscFunctionBegin;
  if (!points->distribution)
    points_find_forces(solid);
  if (points->has_forces)
    PetscFunctionReturn(0);
  add_elastic(solid);
  PetscCall(PointsCollect(solid, &points->forces));
  points->has_forces = PETSC_TRUE;
  PetscFunctionReturn(0);
}

ForceSums points_own_sums(Solid solid)
{
  const Points *points = solid->points;
  ForceSums     all = {.least_ratio = PETSC_MAX_REAL};

  for (PetscInt m = 0; m < points->mesh_count; m++) {
    const DeformableMesh *mesh = &points->meshes[m];

    for (PetscInt k = 0; k < mesh->force_count; k++) {
      const ForceSums one = mesh->forces[k].kind->sum_up(mesh->forces[k].data);

      sum_add_sum(&all.energy, &one.energy);
      sum_add_sum(&all.volume, &one.volume);
      sum_add_sum(&all.plastic, &one.plastic);
      all.strain = PetscMax(all.strain, one.strain);
      if (one.least_ratio < all.least_ratio) {
        all.least_ratio = one.least_ratio;
        all.least = one.least;
      }
    }
  }
  return all;
}

ForceReport points_report(Solid solid)
{
  ForceSums sums;

  if (solid->points->distribution)
    return distribution_report(solid->points);
  sums = points_own_sums(solid);
  return sums_report(&sums);
}

PetscReal points_load_work(Solid solid)
{
  const Points *points = solid->points;
  PetscReal     work = 0.;

  for (PetscInt p = 0; p < points->count; p++)
    work += vector3_dot(points->load[p], points->position[p]);
  return work;
}
