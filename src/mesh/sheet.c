/* Sheets, lines and geodesic spheres. */
#include "mesh_impl.h"

PetscErrorCode MeshCreateLine(Vector3 from, Vector3 to, PetscInt count, Mesh *mesh)
{
  PetscFunctionBegin;
  PetscCheck(count > 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "A line needs at least one segment");
  PetscCall(MeshAllocate(MESH_SEGMENTS, 1, count + 1, count, mesh));
  for (PetscInt n = 0; n <= count; n++) {
    const PetscReal fraction = (PetscReal)n / (PetscReal)count;

    (*mesh)->vertices[n] = vector3_add(vector3_scale(1 - fraction, from), vector3_scale(fraction, to));
  }
  for (PetscInt n = 0; n < 2 * count; n++)
    (*mesh)->elements[n] = n / 2 + n % 2;
  PetscFunctionReturn(0);
}

/* The two triangles of a parallelogram; diagonals meet at every second vertex. */
static void halve_cell(PetscInt row, const PetscInt cells[2], PetscInt column, PetscInt triangles[6])
{
  const PetscInt wide = cells[0] + 1, a = row * wide + column, b = a + 1, c = b + wide, d = a + wide;
  const PetscInt even[] = {a, b, c, a, c, d}, odd[] = {a, b, d, b, c, d};

  for (int n = 0; n < 6; n++)
    triangles[n] = (row + column) % 2 ? odd[n] : even[n];
}

PetscErrorCode MeshCreateSheet(Vector3 corner, Vector3 along, Vector3 across, const PetscInt cells[2],
                               Mesh *mesh)
{
  const PetscInt wide = cells[0] + 1, high = cells[1] + 1;

  PetscFunctionBegin;
  PetscCheck(cells[0] > 0 && cells[1] > 0 && (PetscReal)wide * (PetscReal)high < MAX_COUNT / 2,
             PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "A sheet cannot have %" PetscInt_FMT " x %" PetscInt_FMT " cells", cells[0], cells[1]);
  PetscCall(MeshAllocate(MESH_TRIANGLES, 1, wide * high, 2 * cells[0] * cells[1], mesh));
  for (PetscInt n = 0; n < wide * high; n++) {
    const PetscReal u = (PetscReal)(n % wide) / (PetscReal)cells[0];
    const PetscReal v = (PetscReal)(n / wide) / (PetscReal)cells[1];

    (*mesh)->vertices[n] =
        vector3_add(corner, vector3_add(vector3_scale(u, along), vector3_scale(v, across)));
  }
  for (PetscInt n = 0; n < cells[0] * cells[1]; n++)
    halve_cell(n / cells[0], cells, n % cells[0], (*mesh)->elements + 6 * n);
  PetscFunctionReturn(0);
}

/* Outwards, around the axis through the first and last vertex. */
static const PetscInt icosahedron[20][3] = {{0, 2, 1},  {0, 3, 2},  {0, 4, 3},  {0, 5, 4},   {0, 1, 5},
                                            {1, 2, 6},  {2, 7, 6},  {2, 3, 7},  {3, 8, 7},   {3, 4, 8},
                                            {4, 9, 8},  {4, 5, 9},  {5, 10, 9}, {5, 1, 10},  {1, 6, 10},
                                            {6, 7, 11}, {7, 8, 11}, {8, 9, 11}, {9, 10, 11}, {10, 6, 11}};

static Vector3 icosahedron_vertex(PetscInt n)
{
  const PetscReal height = 1 / PetscSqrtReal(5);
  const PetscReal angle = 2 * PETSC_PI / 5 * (n < 6 ? (PetscReal)(n - 1) : (PetscReal)(n - 6) + 0.5);
  const PetscReal sign = n < 6 ? -1 : 1;

  if (n == 0 || n == 11)
    return vector3(0, 0, sign);
  return vector3(2 * height * PetscCosReal(angle), 2 * height * PetscSinReal(angle), sign * height);
}

/* The icosahedron itself has its edges by MeshFindEdges, sorted: vertices on them, then within the faces,
   come after the twelve. */
typedef struct {
  PetscInt n;
  PetscInt (*edges)[2];
  PetscInt edge_count;
} Geodesic;

static PetscInt vertex_on_edge(const Geodesic *geodesic, PetscInt a, PetscInt b, PetscInt from_a)
{
  PetscInt e = 0;

  if (from_a == 0)
    return a;
  if (from_a == geodesic->n)
    return b;
  while (geodesic->edges[e][0] != PetscMin(a, b) || geodesic->edges[e][1] != PetscMax(a, b))
    e++;
  return 12 + e * (geodesic->n - 1) + (a < b ? from_a : geodesic->n - from_a) - 1;
}

/* The vertex of a face at barycentric (n - i - j, i, j) / n. */
static PetscInt vertex_on_face(const Geodesic *geodesic, PetscInt face, PetscInt i, PetscInt j)
{
  const PetscInt *corner = icosahedron[face], n = geodesic->n, inner = (n - 1) * (n - 2) / 2;

  if (j == 0)
    return vertex_on_edge(geodesic, corner[0], corner[1], i);
  if (i == 0)
    return vertex_on_edge(geodesic, corner[0], corner[2], j);
  if (i + j == n)
    return vertex_on_edge(geodesic, corner[1], corner[2], j);
  /* row j - 1 of the inner ones begins after rows of n - 2, n - 3, … */
  return 12 + geodesic->edge_count * (n - 1) + face * inner + (j - 1) * (n - 2) - (j - 1) * (j - 2) / 2 + i -
         1;
}

static void place_on_sphere(const Geodesic *geodesic, PetscInt face, Vector3 centre, PetscReal radius,
                            Mesh mesh)
{
  const PetscReal n = (PetscReal)geodesic->n;

  for (PetscInt j = 0; j <= geodesic->n; j++) {
    for (PetscInt i = 0; i + j <= geodesic->n; i++) {
      const PetscReal weights[] = {(PetscReal)(geodesic->n - i - j) / n, (PetscReal)i / n, (PetscReal)j / n};
      Vector3         sum = vector3(0, 0, 0);

      for (int c = 0; c < 3; c++)
        sum = vector3_add(sum, vector3_scale(weights[c], icosahedron_vertex(icosahedron[face][c])));
      mesh->vertices[vertex_on_face(geodesic, face, i, j)] =
          vector3_add(centre, vector3_scale(radius / vector3_norm(sum), sum));
    }
  }
}

static void divide_face(const Geodesic *geodesic, PetscInt face, PetscInt *at)
{
  for (PetscInt j = 0; j < geodesic->n; j++) {
    for (PetscInt i = 0; i + j < geodesic->n; i++) {
      const PetscInt a = vertex_on_face(geodesic, face, i, j), b = vertex_on_face(geodesic, face, i + 1, j);
      const PetscInt c = vertex_on_face(geodesic, face, i, j + 1);

      *at++ = a;
      *at++ = b;
      *at++ = c;
      if (i + j + 1 == geodesic->n)
        continue;
      *at++ = b;
      *at++ = vertex_on_face(geodesic, face, i + 1, j + 1);
      *at++ = c;
    }
  }
}

PetscErrorCode MeshCreateBall(Vector3 centre, PetscReal radius, PetscReal edge, Mesh *mesh)
{
  const PetscReal side = radius / PetscSinReal(0.4 * PETSC_PI); /* of the icosahedron */
  const PetscReal pieces = pieces_of(side, edge);
  Geodesic        geodesic = {.n = (PetscInt)PetscMin(pieces, 1e6)};
  Vector3         twelve[12];
  Mesh            plain;

  PetscFunctionBegin;
  PetscCheck(radius > 0 && edge > 0 && 20 * pieces * pieces < MAX_COUNT, PETSC_COMM_SELF,
             PETSC_ERR_ARG_OUTOFRANGE, "A ball of radius %g m cannot have edges of %g m", (double)radius,
             (double)edge);
  for (PetscInt n = 0; n < 12; n++)
    twelve[n] = icosahedron_vertex(n);
  PetscCall(MeshCreate(MESH_TRIANGLES, 1, 12, twelve, 20, icosahedron[0], &plain));
  PetscCall(MeshFindEdges(plain, &geodesic.edge_count, &geodesic.edges));
  PetscCall(
      MeshAllocate(MESH_TRIANGLES, 1, 10 * geodesic.n * geodesic.n + 2, 20 * geodesic.n * geodesic.n, mesh));
  for (PetscInt face = 0; face < 20; face++) {
    place_on_sphere(&geodesic, face, centre, radius, *mesh);
    divide_face(&geodesic, face, (*mesh)->elements + 3 * face * geodesic.n * geodesic.n);
  }
  PetscCall(PetscFree(geodesic.edges));
  PetscCall(MeshDestroy(&plain));
  PetscFunctionReturn(0);
}
