/* Forms of bodies on ranks outside the solid team.

   The solid team makes the forms. All other ranks get their measures (kind, bounds, volume, inertia), which
   are a few numbers each. The triangles lie on ranks with fluid, each surface on one of them: on one of the
   solid team if there is one, else in turn. From there whoever needs a surface, for a body near its part of
   the box or to draw it, fetches it; the solid team takes no part. */
#include "shared_forms.h"

#include <millrace/solid_step.h>

/* What travels of a form, and where its body stands at rest. */
struct FormOutline {
  Form           form; /* without what it points to */
  RigidTransform rest;
  PetscMPIInt    holder; /* of its triangles, in the readers' comm */
};

static PetscInt entry_of(Solid solid, PetscInt body)
{
  return (PetscInt)(solid->bodies[body].config - solid->config->bodies);
}

PetscErrorCode SolidTakeForm(Solid solid, PetscInt entry, RigidTransform *rest)
{
  PetscFunctionBegin;
  PetscCall(PetscNew(&solid->forms[entry]));
  *solid->forms[entry] = solid->outlines[entry].form;
  *rest = solid->outlines[entry].rest;
  PetscFunctionReturn(0);
}

static FormOutline outline_of(Solid solid, PetscInt entry)
{
  FormOutline outline = {.form = *solid->forms[entry], .rest = solid->form_places[entry]};

  outline.form.surface = NULL;
  outline.form.hull = NULL;
  outline.form.distances = NULL;
  outline.form.samples = NULL;
  return outline;
}

/* The readers with a form of their own, the lowest in their comm; their number: there is none. */
static PetscErrorCode FindWholeReader(Team team, MPI_Comm readers, PetscMPIInt *whole)
{
  PetscMPIInt rank, size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(readers, &rank));
  PetscCallMPI(MPI_Comm_size(readers, &size));
  *whole = team_has_solids(team) ? rank : size;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, whole, 1, MPI_INT, MPI_MIN, readers));
  PetscFunctionReturn(0);
}

/* Of all forms, on the ranks with fluid. */
static PetscErrorCode AssignHolders(Solid solid, Team team, FormOutline outlines[])
{
  PetscMPIInt size, whole;

  PetscFunctionBegin;
  solid->readers = team_fluid(team);
  if (!team_has_fluid(team))
    PetscFunctionReturn(0);
  PetscCallMPI(MPI_Comm_size(solid->readers, &size));
  PetscCall(FindWholeReader(team, solid->readers, &whole));
  for (PetscInt e = 0; e < solid->config->body_count; e++)
    outlines[e].holder = whole < size ? whole : (PetscMPIInt)(e % size);
  PetscFunctionReturn(0);
}

typedef struct {
  Vector3 *vertices;
  PetscInt (*triangles)[3];
} SurfaceArrays;

static PetscErrorCode ReceiveSurface(const Form *form, PetscMPIInt from, MPI_Comm comm, Surface *surface)
{
  SurfaceArrays arrays;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(form->vertex_count, &arrays.vertices, form->triangle_count, &arrays.triangles));
  PetscCallMPI(MPI_Recv(arrays.vertices, (PetscMPIInt)(DIM * form->vertex_count), MPIU_REAL, from, 0, comm,
                        MPI_STATUS_IGNORE));
  PetscCallMPI(MPI_Recv(arrays.triangles, (PetscMPIInt)(3 * form->triangle_count), MPIU_INT, from, 0, comm,
                        MPI_STATUS_IGNORE));
  PetscCall(SurfaceCreate(form->vertex_count, arrays.vertices, form->triangle_count,
                          (const PetscInt(*)[3])arrays.triangles, surface));
  PetscCall(PetscFree2(arrays.vertices, arrays.triangles));
  PetscFunctionReturn(0);
}

/* Two messages, not waited for. */
static PetscErrorCode SendSurface(const Form *form, PetscMPIInt to, MPI_Comm comm, MPI_Request requests[2])
{
  const Vector3 *vertices;
  const PetscInt(*triangles)[3];
  PetscInt vertex_count, triangle_count;

  PetscFunctionBegin;
  PetscCall(SurfaceGet(form->surface, &vertex_count, &vertices, &triangle_count, &triangles));
  PetscCallMPI(MPI_Isend(vertices, (PetscMPIInt)(DIM * vertex_count), MPIU_REAL, to, 0, comm, &requests[0]));
  PetscCallMPI(MPI_Isend(triangles, (PetscMPIInt)(3 * triangle_count), MPIU_INT, to, 0, comm, &requests[1]));
  PetscFunctionReturn(0);
}

/* From the first solid rank to the holders that are not of its team, in the order of entries. */
static PetscErrorCode HandOut(Solid solid, Team team, const PetscMPIInt holders[])
{
  const MPI_Comm    world = team_world(team);
  const PetscMPIInt root = team_first_solid_rank(team);
  PetscMPIInt       rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(world, &rank));
  for (PetscInt e = 0; e < solid->config->body_count; e++) {
    Form       *form = solid->forms[e];
    MPI_Request requests[2];

    if (!form->vertex_count || holders[e] < 0)
      continue;
    if (rank == root)
      PetscCall(SendSurface(form, holders[e], world, requests));
    if (rank == root)
      PetscCallMPI(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    else if (rank == holders[e])
      PetscCall(ReceiveSurface(form, root, world, &form->surface));
  }
  PetscFunctionReturn(0);
}

/* The world's ranks of the holders that have no form of their own; -1: it has one. The first rank of the
   world has fluid. */
static PetscErrorCode FindReceivers(Solid solid, Team team, PetscMPIInt receivers[])
{
  PetscMPIInt *ranks, rank, size;
  PetscInt     count = solid->config->body_count;

  PetscFunctionBegin;
  for (PetscInt e = 0; e < count; e++)
    receivers[e] = -1;
  if (team_has_fluid(team)) {
    PetscCallMPI(MPI_Comm_rank(team_world(team), &rank));
    PetscCallMPI(MPI_Comm_size(solid->readers, &size));
    PetscCall(PetscMalloc1(size, &ranks));
    rank = team_has_solids(team) ? -1 : rank;
    PetscCallMPI(MPI_Allgather(&rank, 1, MPI_INT, ranks, 1, MPI_INT, solid->readers));
    for (PetscInt e = 0; e < count; e++)
      receivers[e] = ranks[solid->outlines[e].holder];
    PetscCall(PetscFree(ranks));
  }
  PetscCallMPI(MPI_Bcast(receivers, (PetscMPIInt)count, MPI_INT, 0, team_world(team)));
  PetscFunctionReturn(0);
}

/* On all ranks, from the first of the solid team. */
static PetscErrorCode ShareOutlines(Solid solid, Team team, const SolidConfig *config, FormOutline outlines[])
{
  PetscFunctionBegin;
  for (PetscInt e = 0; solid && e < config->body_count; e++)
    outlines[e] = outline_of(solid, e);
  PetscCallMPI(MPI_Bcast(outlines, (PetscMPIInt)(config->body_count * (PetscInt)sizeof(*outlines)), MPI_BYTE,
                         team_first_solid_rank(team), team_world(team)));
  PetscFunctionReturn(0);
}

PetscErrorCode SolidCreateOnTeam(Team team, const SolidConfig *config, Solid *solid, char message[],
                                 size_t size)
{
  FormOutline *outlines;
  PetscMPIInt *receivers;

  PetscFunctionBegin;
  *solid = NULL;
  message[0] = '\0';
  if (team_has_solids(team))
    PetscCall(SolidCreate(team_solid(team), config, solid, message, size));
  PetscCallMPI(
      MPI_Bcast(message, (PetscMPIInt)size, MPI_CHAR, team_first_solid_rank(team), team_world(team)));
  if (message[0])
    PetscFunctionReturn(0);
  PetscCall(PetscMalloc1(config->body_count, &outlines));
  PetscCall(ShareOutlines(*solid, team, config, outlines));
  if (!*solid)
    PetscCall(SolidCreateFrom(outlines, config, solid, message, size));
  (*solid)->outlines = outlines;
  PetscCall(AssignHolders(*solid, team, outlines));
  PetscCall(PetscMalloc1(config->body_count, &receivers));
  PetscCall(FindReceivers(*solid, team, receivers));
  PetscCall(HandOut(*solid, team, receivers));
  PetscCall(PetscFree(receivers));
  PetscFunctionReturn(0);
}

PetscBool solid_has_surface(Solid solid, PetscInt body)
{
  const Form *form = solid->bodies[body].form;

  return form->surface || !(form->kind == FORM_HULL || form->kind == FORM_SURFACE || form->kind == FORM_SHELL)
             ? PETSC_TRUE
             : PETSC_FALSE;
}

PetscInt solid_surfaces_held(Solid solid)
{
  PetscInt count = 0;

  for (PetscInt e = 0; e < solid->config->body_count; e++)
    count += solid->forms[e]->surface ? 1 : 0;
  return count;
}

/* What all readers ask for: entries, one reader after the other. */
typedef struct {
  PetscMPIInt *counts, *starts;
  PetscInt    *entries;
} Wishes;

static PetscErrorCode GatherWishes(MPI_Comm comm, PetscInt count, const PetscInt entries[], Wishes *all)
{
  PetscMPIInt size, own = (PetscMPIInt)count;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(PetscMalloc2(size, &all->counts, size + 1, &all->starts));
  PetscCallMPI(MPI_Allgather(&own, 1, MPI_INT, all->counts, 1, MPI_INT, comm));
  all->starts[0] = 0;
  for (PetscMPIInt r = 0; r < size; r++)
    all->starts[r + 1] = all->starts[r] + all->counts[r];
  PetscCall(PetscMalloc1(all->starts[size], &all->entries));
  PetscCallMPI(
      MPI_Allgatherv(entries, own, MPIU_INT, all->entries, all->counts, all->starts, MPIU_INT, comm));
  PetscFunctionReturn(0);
}

/* Holders send, in the order in which each reader asks. */
static PetscErrorCode SendWishes(Solid solid, const Wishes *all, PetscInt *sent, MPI_Request requests[])
{
  PetscMPIInt rank, size;

  PetscFunctionBegin;
  *sent = 0;
  PetscCallMPI(MPI_Comm_rank(solid->readers, &rank));
  PetscCallMPI(MPI_Comm_size(solid->readers, &size));
  for (PetscMPIInt r = 0; r < size; r++)
    for (PetscMPIInt n = all->starts[r]; n < all->starts[r + 1]; n++)
      if (solid->outlines[all->entries[n]].holder == rank) {
        PetscCall(SendSurface(solid->forms[all->entries[n]], r, solid->readers, &requests[*sent]));
        *sent += 2;
      }
  PetscFunctionReturn(0);
}

static PetscErrorCode FetchEntries(Solid solid, PetscInt count, const PetscInt entries[], Surface surfaces[])
{
  MPI_Request *requests;
  PetscMPIInt  size;
  PetscInt     sent;
  Wishes       all;

  PetscFunctionBegin;
  PetscCall(GatherWishes(solid->readers, count, entries, &all));
  PetscCallMPI(MPI_Comm_size(solid->readers, &size));
  PetscCall(PetscMalloc1(2 * (PetscInt)all.starts[size], &requests));
  PetscCall(SendWishes(solid, &all, &sent, requests));
  for (PetscInt n = 0; n < count; n++)
    PetscCall(ReceiveSurface(solid->forms[entries[n]], solid->outlines[entries[n]].holder, solid->readers,
                             &surfaces[n]));
  PetscCallMPI(MPI_Waitall((PetscMPIInt)sent, requests, MPI_STATUSES_IGNORE));
  PetscCall(PetscFree(requests));
  PetscCall(PetscFree(all.entries));
  PetscCall(PetscFree2(all.counts, all.starts));
  PetscFunctionReturn(0);
}

PetscErrorCode SolidFetchSurfaces(Solid solid, PetscInt count, const PetscInt bodies[], Surface surfaces[])
{
  PetscInt *entries, most = count;

  PetscFunctionBegin;
  if (solid->readers == MPI_COMM_NULL)
    PetscFunctionReturn(0);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPIU_INT, MPI_MAX, solid->readers));
  if (!most)
    PetscFunctionReturn(0);
  PetscCall(PetscMalloc1(count, &entries));
  for (PetscInt n = 0; n < count; n++)
    entries[n] = entry_of(solid, bodies[n]);
  PetscCall(FetchEntries(solid, count, entries, surfaces));
  PetscCall(PetscFree(entries));
  PetscFunctionReturn(0);
}
