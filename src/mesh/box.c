/* Boxes of cubes in tetrahedra. The corners of cube (i, j, k) are numbered by bits: 1 for x, 2 for y, 4 for
 * z.
 */
#include "mesh_impl.h"

const char *const MeshBoxPatterns[] = {"five", "six", "bcc", NULL};

enum { FIVE = 5, SIX = 6 };

/* One regular tetrahedron and four corners. The mirrored cube has the other diagonals, so that neighbours
   agree. */
static const PetscInt five[2][FIVE][4] = {
    {{0, 1, 2, 4}, {3, 2, 1, 7}, {5, 1, 4, 7}, {6, 4, 2, 7}, {1, 2, 4, 7}},
    {{1, 0, 5, 3}, {2, 0, 3, 6}, {4, 0, 6, 5}, {7, 3, 5, 6}, {0, 5, 3, 6}}};

/* One per order of the three directions, from corner 0 to corner 7 (Kuhn). */
static const PetscInt six[SIX][4] = {{0, 1, 3, 7}, {0, 2, 6, 7}, {0, 4, 5, 7},
                                     {0, 3, 2, 7}, {0, 6, 4, 7}, {0, 5, 1, 7}};

typedef struct {
  PetscInt cells[DIM];
  Vector3  low, high;
  Mesh     mesh;
  PetscInt filled; /* elements so far */
} BoxPlan;

static PetscInt corner_number(const BoxPlan *plan, const PetscInt at[DIM])
{
  return (at[Z] * (plan->cells[Y] + 1) + at[Y]) * (plan->cells[X] + 1) + at[X];
}

/* The centres come after the corners. */
static PetscInt centre_number(const BoxPlan *plan, const PetscInt cell[DIM])
{
  const PetscInt corners = (plan->cells[X] + 1) * (plan->cells[Y] + 1) * (plan->cells[Z] + 1);

  return corners + (cell[Z] * plan->cells[Y] + cell[Y]) * plan->cells[X] + cell[X];
}

static PetscInt cell_corner(const BoxPlan *plan, const PetscInt cell[DIM], PetscInt bits)
{
  const PetscInt at[DIM] = {cell[X] + (bits & 1), cell[Y] + (bits >> 1 & 1), cell[Z] + (bits >> 2 & 1)};

  return corner_number(plan, at);
}

/* Exactly `high` at the end. */
static Vector3 place_in_box(const BoxPlan *plan, const PetscInt twice[DIM])
{
  Vector3 place;

  for (int d = 0; d < DIM; d++) {
    const PetscReal fraction = (PetscReal)twice[d] / (PetscReal)(2 * plan->cells[d]);

    place.at[d] = (1 - fraction) * plan->low.at[d] + fraction * plan->high.at[d];
  }
  return place;
}

static void add_tetrahedron(BoxPlan *plan, PetscInt a, PetscInt b, PetscInt c, PetscInt d)
{
  PetscInt *nodes = plan->mesh->elements + 4 * plan->filled++;

  nodes[0] = a;
  nodes[1] = b;
  nodes[2] = c;
  nodes[3] = d;
}

static void add_cube(BoxPlan *plan, const PetscInt cell[DIM], PetscInt count, const PetscInt table[][4])
{
  for (PetscInt n = 0; n < count; n++)
    add_tetrahedron(plan, cell_corner(plan, cell, table[n][0]), cell_corner(plan, cell, table[n][1]),
                    cell_corner(plan, cell, table[n][2]), cell_corner(plan, cell, table[n][3]));
}

/* The four corners of a cube's upper (or lower) face in direction d, counter-clockwise seen along +d from
   above. */
static void face_corners(const BoxPlan *plan, const PetscInt cell[DIM], int d, PetscInt upper,
                         PetscInt out[4])
{
  const PetscInt u = 1 << (d + 1) % DIM, v = 1 << (d + 2) % DIM, w = upper ? 1 << d : 0;

  out[0] = cell_corner(plan, cell, w);
  out[1] = cell_corner(plan, cell, w + u);
  out[2] = cell_corner(plan, cell, w + u + v);
  out[3] = cell_corner(plan, cell, w + v);
}

/* Four tetrahedra around the line from this cube's centre to the next one's. */
static void add_inner_face(BoxPlan *plan, const PetscInt cell[DIM], int d)
{
  PetscInt       face[4], next[DIM] = {cell[X], cell[Y], cell[Z]};
  const PetscInt here = centre_number(plan, cell);

  next[d]++;
  face_corners(plan, cell, d, 1, face);
  for (int n = 0; n < 4; n++)
    add_tetrahedron(plan, here, face[n], face[(n + 1) % 4], centre_number(plan, next));
}

/* Two half-pyramids; the diagonal alternates like a chessboard. */
static void add_outer_face(BoxPlan *plan, const PetscInt cell[DIM], int d, PetscInt upper)
{
  PetscInt       face[4];
  const PetscInt odd = (cell[X] + cell[Y] + cell[Z] + upper) & 1, centre = centre_number(plan, cell);

  face_corners(plan, cell, d, upper, face);
  for (int n = 0; n < 2; n++) {
    const PetscInt a = face[odd], b = face[odd + 1 + n], c = face[(odd + 2 + n) % 4];

    add_tetrahedron(plan, centre, a, upper ? b : c, upper ? c : b);
  }
}

static void add_bcc(BoxPlan *plan, const PetscInt cell[DIM])
{
  for (int d = 0; d < DIM; d++) {
    if (cell[d] == 0)
      add_outer_face(plan, cell, d, 0);
    if (cell[d] + 1 < plan->cells[d])
      add_inner_face(plan, cell, d);
    else
      add_outer_face(plan, cell, d, 1);
  }
}

static void add_cell(BoxPlan *plan, MeshBoxPattern pattern, const PetscInt cell[DIM])
{
  if (pattern == MESH_BOX_FIVE)
    add_cube(plan, cell, FIVE, five[(cell[X] + cell[Y] + cell[Z]) & 1]);
  else if (pattern == MESH_BOX_SIX)
    add_cube(plan, cell, SIX, six);
  else
    add_bcc(plan, cell);
}

static PetscReal bcc_elements(const PetscReal n[DIM])
{
  PetscReal count = 0;

  for (int d = 0; d < DIM; d++) {
    const PetscReal across = n[(d + 1) % DIM] * n[(d + 2) % DIM];

    count += across * (4 * (n[d] - 1) + 4);
  }
  return count;
}

static PetscErrorCode PlanBox(BoxPlan *plan, MeshBoxPattern pattern)
{
  const PetscReal n[DIM] = {(PetscReal)plan->cells[X], (PetscReal)plan->cells[Y], (PetscReal)plan->cells[Z]};
  const PetscReal cubes = n[X] * n[Y] * n[Z];
  const PetscReal corners = (n[X] + 1) * (n[Y] + 1) * (n[Z] + 1);
  const PetscReal vertices = corners + (pattern == MESH_BOX_BCC ? cubes : 0);
  const PetscReal elements =
      pattern == MESH_BOX_BCC ? bcc_elements(n) : cubes * (pattern == MESH_BOX_FIVE ? FIVE : SIX);

  PetscFunctionBegin;
  PetscCheck(vertices < MAX_COUNT && elements < MAX_COUNT, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "A box of %g cubes has more elements than can be counted", (double)cubes);
  PetscCall(MeshAllocate(MESH_TETRAHEDRA, 1, (PetscInt)vertices, (PetscInt)elements, &plan->mesh));
  PetscFunctionReturn(0);
}

static void place_vertices(BoxPlan *plan, MeshBoxPattern pattern)
{
  PetscInt at[DIM], filled = 0;

  for (PetscInt centres = 0; centres < (pattern == MESH_BOX_BCC ? 2 : 1); centres++) {
    const PetscInt more = centres ? 0 : 1;

    for (at[Z] = 0; at[Z] < plan->cells[Z] + more; at[Z]++)
      for (at[Y] = 0; at[Y] < plan->cells[Y] + more; at[Y]++)
        for (at[X] = 0; at[X] < plan->cells[X] + more; at[X]++) {
          const PetscInt twice[DIM] = {2 * at[X] + centres, 2 * at[Y] + centres, 2 * at[Z] + centres};

          plan->mesh->vertices[filled++] = place_in_box(plan, twice);
        }
  }
}

PetscErrorCode MeshCreateBox(Vector3 low, Vector3 high, const PetscInt cells[DIM], MeshBoxPattern pattern,
                             Mesh *mesh)
{
  BoxPlan  plan = {.low = low, .high = high};
  PetscInt at[DIM];

  PetscFunctionBegin;
  for (int d = 0; d < DIM; d++) {
    PetscCheck(cells[d] > 0 && high.at[d] > low.at[d], PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
               "A box from %g to %g in %" PetscInt_FMT " cells holds nothing", (double)low.at[d],
               (double)high.at[d], cells[d]);
    plan.cells[d] = cells[d];
  }
  PetscCall(PlanBox(&plan, pattern));
  place_vertices(&plan, pattern);
  for (at[Z] = 0; at[Z] < cells[Z]; at[Z]++)
    for (at[Y] = 0; at[Y] < cells[Y]; at[Y]++)
      for (at[X] = 0; at[X] < cells[X]; at[X]++)
        add_cell(&plan, pattern, at);
  *mesh = plan.mesh;
  PetscFunctionReturn(0);
}
