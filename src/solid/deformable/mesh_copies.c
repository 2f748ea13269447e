/* Meshes of an assembly: one for each of its copies, turned and moved with the bodies. */
#include "points.h"

static const BodyConfig *find_body(const SolidConfig *config, const char name[])
{
  for (PetscInt b = 0; b < config->body_count; b++)
    if (!strcmp(config->bodies[b].name, name))
      return &config->bodies[b];
  return NULL;
}

static PetscInt find_assembly(const SolidConfig *config, const SolidMeshConfig *mesh)
{
  for (PetscInt a = 0; a < config->assembly_count && mesh->assembly && mesh->assembly[0]; a++)
    if (!strcmp(config->assemblies[a].name, mesh->assembly))
      return a;
  return -1;
}

static PetscInt count_copies(const SolidConfig *config, PetscInt assembly)
{
  const Vector3 count = assembly < 0 ? vector3(1, 1, 1) : config->assemblies[assembly].copies.count;

  return (PetscInt)count.at[X] * (PetscInt)count.at[Y] * (PetscInt)count.at[Z];
}

/* Of one copy alone the name is that of what it is a copy of. */
static PetscErrorCode NumberName(const char name[], PetscInt copy, PetscInt count, char **made)
{
  const size_t size = strlen(name) + 24;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(size, made));
  if (count > 1)
    PetscCall(PetscSNPrintf(*made, size, "%s.%" PetscInt_FMT, name, copy));
  else
    PetscCall(PetscStrncpy(*made, name, size));
  PetscFunctionReturn(0);
}

static PetscErrorCode CopyMesh(const SolidConfig *config, const SolidMeshConfig *own, PetscInt assembly,
                               PetscInt copy, SolidMeshConfig *made)
{
  const PetscInt  count = count_copies(config, assembly);
  RigidTransform *placed;

  PetscFunctionBegin;
  *made = *own;
  if (assembly < 0)
    PetscFunctionReturn(0);
  PetscCall(PetscNew(&placed));
  *placed = assembly_copy(config, assembly, copy);
  made->placed = placed;
  made->velocity = quaternion_rotate(placed->rotation, own->velocity);
  made->spin = quaternion_rotate(placed->rotation, own->spin);
  PetscCall(NumberName(own->name, copy, count, &made->name));
  PetscCall(PetscMalloc1(own->held_count, &made->held));
  for (PetscInt h = 0; h < own->held_count; h++) {
    const BodyConfig *holder = find_body(config, own->held[h].to);

    made->held[h] = own->held[h];
    PetscCall(NumberName(own->held[h].to, copy,
                         holder && solid_assembly(config, holder) == assembly ? count : 1,
                         &made->held[h].to));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode SolidCopyMeshes(SolidConfig *config)
{
  SolidMeshConfig *all;
  PetscInt         count = 0;
  PetscBool        any = PETSC_FALSE;

  PetscFunctionBegin;
  for (PetscInt m = 0; m < config->mesh_count; m++) {
    const PetscInt assembly = find_assembly(config, &config->meshes[m]);

    count += count_copies(config, assembly);
    any = any || assembly >= 0 ? PETSC_TRUE : PETSC_FALSE;
  }
  if (!any)
    PetscFunctionReturn(0);
  PetscCall(PetscMalloc1(count, &all));
  count = 0;
  for (PetscInt m = 0; m < config->mesh_count; m++) {
    const PetscInt assembly = find_assembly(config, &config->meshes[m]);

    for (PetscInt copy = 0; copy < count_copies(config, assembly); copy++)
      PetscCall(CopyMesh(config, &config->meshes[m], assembly, copy, &all[count++]));
  }
  config->copied = config->meshes;
  config->copied_count = config->mesh_count;
  config->meshes = all;
  config->mesh_count = count;
  PetscFunctionReturn(0);
}

PetscErrorCode SolidReturnMeshes(SolidConfig *config)
{
  PetscFunctionBegin;
  if (!config->copied)
    PetscFunctionReturn(0);
  for (PetscInt m = 0; m < config->mesh_count; m++) {
    SolidMeshConfig *made = &config->meshes[m];

    if (!made->placed)
      continue;
    for (PetscInt h = 0; h < made->held_count; h++)
      PetscCall(PetscFree(made->held[h].to));
    PetscCall(PetscFree(made->held));
    PetscCall(PetscFree(made->name));
    PetscCall(PetscFree(made->placed));
  }
  PetscCall(PetscFree(config->meshes));
  config->meshes = config->copied;
  config->mesh_count = config->copied_count;
  config->copied = NULL;
  PetscFunctionReturn(0);
}
