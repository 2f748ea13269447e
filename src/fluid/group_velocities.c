/* Groups of regions, each of which is advected along its own flow, carried on into the others, and does not
   see theirs: one field for all would hand the speed of a gas to a liquid with a thousand times its momentum.
   On a face they become one again with the mean of their momenta: a flow never hands over more than its own.
   Pressure and viscosity act on all together. */
#include "fluid_impl.h"

PetscInt fluid_group_count(Fluid fluid)
{
  return fluid->mixture && fluid->mixture->groups.count > 1 ? fluid->mixture->groups.count : 0;
}

PetscErrorCode FluidGetGroupVelocity(Fluid fluid, PetscInt group, Vec **faces)
{
  PetscFunctionBegin;
  if (!fluid->groups) {
    fluid->group_count = fluid_group_count(fluid);
    PetscCall(PetscCalloc1(fluid->group_count, &fluid->groups));
    for (PetscInt g = 0; g < fluid->group_count; g++) {
      PetscCall(MacGridCreateFaceField(fluid->grid, fluid->groups[g].velocity));
      PetscCall(MacGridCreateFaceField(fluid->grid, fluid->groups[g].earlier));
      PetscCall(MacGridCreateFaceField(fluid->grid, fluid->groups[g].next));
      PetscCall(MacGridCreateFaceField(fluid->grid, fluid->groups[g].advected));
      PetscCall(MacGridCreateFaceField(fluid->grid, fluid->groups[g].next_advected));
    }
  }
  *faces = fluid->groups[group].velocity;
  PetscFunctionReturn(0);
}

PetscErrorCode FluidDestroyGroups(Fluid fluid)
{
  PetscFunctionBegin;
  for (PetscInt g = 0; g < fluid->group_count; g++) {
    PetscCall(MacGridDestroyFaceField(fluid->groups[g].velocity));
    PetscCall(MacGridDestroyFaceField(fluid->groups[g].earlier));
    PetscCall(MacGridDestroyFaceField(fluid->groups[g].next));
    PetscCall(MacGridDestroyFaceField(fluid->groups[g].advected));
    PetscCall(MacGridDestroyFaceField(fluid->groups[g].next_advected));
  }
  PetscCall(PetscFree(fluid->groups));
  PetscFunctionReturn(0);
}

void fluid_swap_fields(Vec a[DIM], Vec b[DIM])
{
  for (PetscInt d = 0; d < DIM; d++) {
    const Vec spare = a[d];

    a[d] = b[d];
    b[d] = spare;
  }
}

void fluid_swap_group(Fluid fluid, PetscInt group)
{
  GroupFlow *flow = &fluid->groups[group];

  fluid_swap_fields(fluid->velocity, flow->velocity);
  fluid_swap_fields(fluid->earlier, flow->earlier);
  fluid_swap_fields(fluid->next, flow->next);
  fluid_swap_fields(fluid->advected, flow->advected);
  fluid_swap_fields(fluid->next_advected, flow->next_advected);
}

/* What were the flows of the groups are now the earlier ones. */
PetscErrorCode FluidCommitGroups(Fluid fluid)
{
  PetscFunctionBegin;
  for (PetscInt g = 0; g < fluid->group_count; g++) {
    fluid_swap_fields(fluid->groups[g].velocity, fluid->groups[g].earlier);
    fluid_swap_fields(fluid->groups[g].advected, fluid->groups[g].next_advected);
  }
  PetscFunctionReturn(0);
}

static PetscBool is_within(const GridRange *range, const PetscInt at[DIM])
{
  for (PetscInt d = 0; d < DIM; d++)
    if (at[d] < range->start[d] || at[d] >= range->end[d])
      return PETSC_FALSE;
  return PETSC_TRUE;
}

/* The components of one direction: of all, of each group before and after its advection. */
typedef struct {
  const PetscReal *all, **before, **after;
} FaceFlows;

static void take_pure(Fluid fluid, PetscInt d, const FaceFlows *flows, PetscReal *u)
{
  const GridBox       *box = grid_box(fluid->grid);
  const unsigned char *group = fluid->mixture->groups.of_cell;
  const GridRange      range = free_faces(fluid, d);

  FOR_CELLS(&range, i, j, k) {
    const PetscInt c = box_index(box, i, j, k);

    if (group[c] != NO_GROUP)
      u[c] = flows->after[group[c]][c];
  }
}

/* What was there has the velocity of the face and the change of its group's, what has come that of its group.
   Where groups see a face with leaps, what was there has its group's too: that is what it saw. */
static PetscReal group_momentum(const VelocityGroups *groups, const FaceFlows *flows, PetscInt number,
                                PetscInt g, PetscInt c)
{
  const PetscInt n = number * groups->count + g;

  if (groups->leap)
    return groups->masses[n] * (flows->after[g][c] - groups->leap[n]);
  return groups->masses[n] * flows->after[g][c] + groups->kept[n] * (flows->all[c] - flows->before[g][c]);
}

static void take_means(Fluid fluid, PetscInt d, const FaceFlows *flows, PetscReal *u)
{
  const GridBox        *box = grid_box(fluid->grid);
  const VelocityGroups *groups = &fluid->mixture->groups;
  const GridRange       range = free_faces(fluid, d);

  for (PetscInt m = 0; m < groups->mixed_count; m++) {
    const PetscReal *mass = groups->masses + (DIM * m + d) * groups->count;
    const PetscInt   c = groups->mixed_cells[m];
    PetscReal        momentum = 0., sum = 0.;
    PetscInt         at[DIM];

    box_at(box, c, at);
    if (!is_within(&range, at))
      continue;
    for (PetscInt g = 0; g < groups->count; g++) {
      sum += mass[g];
      momentum += group_momentum(groups, flows, DIM * m + d, g, c);
    }
    if (sum > 0.)
      u[c] = momentum / sum;
  }
}

static PetscErrorCode MergeComponent(Fluid fluid, PetscInt d, FaceFlows *flows)
{
  PetscReal *u;

  PetscFunctionBegin;
  for (PetscInt g = 0; g < fluid->group_count; g++) {
    PetscCall(VecGetArrayRead(fluid->groups[g].velocity[d], &flows->before[g]));
    PetscCall(VecGetArrayRead(fluid->groups[g].next[d], &flows->after[g]));
  }
  PetscCall(VecGetArrayRead(fluid->velocity[d], &flows->all));
  PetscCall(VecGetArray(fluid->next[d], &u));
  take_pure(fluid, d, flows, u);
  take_means(fluid, d, flows, u);
  PetscCall(VecRestoreArray(fluid->next[d], &u));
  PetscCall(VecRestoreArrayRead(fluid->velocity[d], &flows->all));
  for (PetscInt g = 0; g < fluid->group_count; g++) {
    PetscCall(VecRestoreArrayRead(fluid->groups[g].next[d], &flows->after[g]));
    PetscCall(VecRestoreArrayRead(fluid->groups[g].velocity[d], &flows->before[g]));
  }
  PetscFunctionReturn(0);
}

/* Faces that belong to no group keep what they have. */
PetscErrorCode FluidMergeGroups(Fluid fluid)
{
  FaceFlows flows;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(fluid->group_count, &flows.before, fluid->group_count, &flows.after));
  for (PetscInt d = 0; d < grid_box(fluid->grid)->dimension; d++)
    PetscCall(MergeComponent(fluid, d, &flows));
  PetscCall(PetscFree2(flows.before, flows.after));
  PetscFunctionReturn(0);
}
