#!/usr/bin/env python3
"""synthetic_run.py plume|vortex|pool|bubble DIR: writes a run as docs/output.md describes it, with fields known in closed form.

plume   3-D, z up: a smoke ball of radius 0.15 rises at 0.2 m/s from (0.4, 0.5, 0.3); velocity (-y, x, 0) about the axis of
        the box; a solid sphere of radius 0.12 at (0.5, 0.5, 0.7), also as the surface `sphere`; 40 points `tracers`.
vortex  2-D: Taylor-Green vortices in a box of 2 pi, decaying as exp(-2 nu t) with nu = 0.1; 40 by 40 cells.
pool    3-D, y up, a unit cube of 24 cells: regions `pool`, y < 0.3, and `ball`, of radius 0.2 about (0.4, 0.6 + 0.1 t, 0.5), in
        empty `air`.
bubble  2-D, a unit square of 32 cells: regions `heavy`, below y = 0.45 + 0.1 x, and in it `bubble`, of radius 0.15 about
        (0.7, 0.25), under `light`; the markers of the bubble are 50 points on a circle.
"""

import os
import sys

import h5py
import numpy

FRAMES = 3


def plume(time):
    spacing, cells = 1.0 / 20, (20, 20, 30)
    z, y, x = numpy.meshgrid(*[spacing * (numpy.arange(n) + 0.5) for n in cells[::-1]], indexing="ij")
    distance = numpy.sqrt((x - 0.4) ** 2 + (y - 0.5) ** 2 + (z - 0.3 - 0.2 * time) ** 2)
    velocity = numpy.stack([0.5 - y, x - 0.5, 0 * z], axis=-1)
    fields = {
        "velocity": velocity,
        "vorticity": numpy.stack([0 * x, 0 * x, 2 + 0 * x], axis=-1),
        "pressure": x + 2 * y + 3 * z,
        "smoke": numpy.clip(1.5 - distance / 0.1, 0, 1),
        "solid": ((x - 0.5) ** 2 + (y - 0.5) ** 2 + (z - 0.7) ** 2 < 0.12**2).astype(float),
    }
    return 3, cells, spacing, fields, {"sphere": ball((0.5, 0.5, 0.7), 0.12), "tracers": cloud(time)}


def vortex(time):
    cells, decay = (40, 40, 1), numpy.exp(-0.2 * time)
    spacing = 2 * numpy.pi / cells[0]
    y, x = numpy.meshgrid(*[spacing * (numpy.arange(n) + 0.5) for n in cells[1::-1]], indexing="ij")
    u, v = numpy.sin(x) * numpy.cos(y) * decay, -numpy.cos(x) * numpy.sin(y) * decay
    fields = {
        "velocity": numpy.stack([u, v, 0 * u], axis=-1),
        "vorticity": numpy.stack([0 * u, 0 * u, 2 * numpy.sin(x) * numpy.sin(y) * decay], axis=-1),
        "pressure": (numpy.cos(2 * x) + numpy.cos(2 * y)) / 4 * decay**2,
    }
    return 2, cells, spacing, fields, {}


def by_depth(distances, band):
    """The fields of regions whose distances, but the last, are given: the last takes what they leave."""
    names = list(distances)
    distances[names[-1]] = -numpy.min([distances[name] for name in names[:-1]], axis=0)
    for place, name in enumerate(names[1:-1], start=1):
        distances[name] = numpy.max([distances[name]] + [-distances[other] for other in names[:place]], axis=0)
    fields = {f"distance_{name}": numpy.clip(values, -band, band) for name, values in distances.items()}
    return {"region": 1.0 + numpy.argmin(list(distances.values()), axis=0), **fields}


def pool(time):
    cells, spacing = (24, 24, 24), 1.0 / 24
    z, y, x = numpy.meshgrid(*[spacing * (numpy.arange(n) + 0.5) for n in cells[::-1]], indexing="ij")
    drop = numpy.sqrt((x - 0.4) ** 2 + (y - 0.6 - 0.1 * time) ** 2 + (z - 0.5) ** 2) - 0.2
    fields = {"velocity": numpy.stack([0 * x, 0.1 + 0 * x, 0 * x], axis=-1), "pressure": 1 - y}
    return 3, cells, spacing, {**fields, **by_depth({"pool": y - 0.3, "ball": drop, "air": None}, 6 * spacing)}, {}


def bubble(time):
    cells, spacing = (32, 32, 1), 1.0 / 32
    y, x = numpy.meshgrid(*[spacing * (numpy.arange(n) + 0.5) for n in cells[1::-1]], indexing="ij")
    hole = numpy.sqrt((x - 0.7) ** 2 + (y - 0.25) ** 2) - 0.15
    heavy = numpy.maximum((y - 0.45 - 0.1 * x) / numpy.sqrt(1.01), -hole)
    fields = {"velocity": numpy.stack([0.1 * time + 0 * x, 0 * x, 0 * x], axis=-1), "pressure": 1 - y}
    angle = 2 * numpy.pi * numpy.arange(50) / 50
    points = numpy.stack([0.7 + 0.14 * numpy.cos(angle), 0.25 + 0.14 * numpy.sin(angle), 0 * angle], axis=-1)
    regions = by_depth({"heavy": heavy, "bubble": hole, "light": None}, 6 * spacing)
    return 2, cells, spacing, {**fields, **regions}, {"markers_bubble": (points, numpy.arange(50)[:, None])}


# In both ways of writing a list, and with keys that are not a region's own.
SCENES = {
    "plume": "title: A synthetic run\nfluid:\n  gravity: [0, 0, -9.81]\n",
    "vortex": "title: x\n",
    "pool": """title: x
fluid:
  gravity: [0, -9.81, 0]
regions:
  -
    shape:
      box:
        name: no
        low: [0, 0, 0]
    name: "pool"
    type: simulated
  -
    name: ball
    type: simulated
    shape:
      union:
        -
          sphere:
            radius: 0.2
    density: 800
  -
    name: air
    type: empty
interfaces:
  advection: weno5
""",
    "bubble": """title: x
regions:
- name: heavy
  shape: {formula: {value: y - 0.45 - 0.1*x}}
- name: bubble
  shape: {sphere: {radius: 0.15}}
- name: light
""",
}


def ball(centre, radius, rings=12):
    """A closed surface of latitudes and longitudes, normals outwards."""
    latitude = numpy.linspace(-numpy.pi / 2, numpy.pi / 2, rings + 1)
    longitude = 2 * numpy.pi * numpy.arange(2 * rings) / (2 * rings)
    a, b = numpy.meshgrid(latitude, longitude, indexing="ij")
    vertices = numpy.stack([numpy.cos(a) * numpy.cos(b), numpy.cos(a) * numpy.sin(b), numpy.sin(a)], axis=-1)
    i, j = numpy.meshgrid(numpy.arange(rings), numpy.arange(2 * rings), indexing="ij")
    across = (j + 1) % (2 * rings)
    corner = [i * 2 * rings + j, i * 2 * rings + across, (i + 1) * 2 * rings + across, (i + 1) * 2 * rings + j]
    first = numpy.stack([corner[0], corner[1], corner[2]], axis=-1).reshape(-1, 3)
    second = numpy.stack([corner[0], corner[2], corner[3]], axis=-1).reshape(-1, 3)
    return numpy.array(centre) + radius * vertices.reshape(-1, 3), numpy.concatenate([first, second])


def cloud(time):
    generator = numpy.random.default_rng(1)
    vertices = generator.random((40, 3)) * (1, 1, 0.5) + (0, 0, 0.1 * time)
    return vertices, numpy.arange(40)[:, None]


def write_frame(path, number, time, state, scene):
    dimension, cells, spacing, fields, meshes = state
    with h5py.File(path, "w", userblock_size=512, libver="latest") as file:
        file["time"], file["frame"], file["step"] = time, number, 10 * number
        file["title"] = "A synthetic run"
        file["scene"] = scene
        file["grid/dimension"], file["grid/cells"] = dimension, numpy.array(cells)
        file["grid/origin"], file["grid/spacing"] = numpy.zeros(3), spacing
        for name, values in fields.items():
            file["grid/fields/" + name] = values.astype("f4")
        for name, (vertices, indices) in meshes.items():
            file[f"meshes/{name}/vertices"], file[f"meshes/{name}/cells"] = vertices, indices


def item(path, shape, kind, number):
    types = {"f4": 'NumberType="Float" Precision="4"', "f8": 'NumberType="Float" Precision="8"',
             "i8": 'NumberType="Int" Precision="8"'}
    size = " ".join(map(str, shape))
    return f'<DataItem Dimensions="{size}" {types[kind]} Format="HDF">frames/frame-{number:06d}.h5:{path}</DataItem>\n'


def fluid_xml(number, cells, spacing, fields):
    nodes = " ".join(str(n + 1) for n in cells[::-1])
    text = f'<Grid Name="fluid"><Topology TopologyType="3DCoRectMesh" Dimensions="{nodes}"/>\n'
    text += '<Geometry GeometryType="ORIGIN_DXDYDZ">'
    for values in ([0.0] * 3, [spacing] * 3):
        text += f'<DataItem Dimensions="3" Format="XML">{" ".join(map(repr, values))}</DataItem>'
    text += "</Geometry>\n"
    for name, values in fields.items():
        kind, shape = ("Vector", cells[::-1] + (3,)) if values.shape[-1] == 3 else ("Scalar", cells[::-1])
        text += f'<Attribute Name="{name}" AttributeType="{kind}" Center="Cell">'
        text += item(f"/grid/fields/{name}", shape, "f4", number) + "</Attribute>\n"
    return text + "</Grid>\n"


def mesh_xml(number, name, vertices, indices):
    kind = 'Polyvertex" NodesPerElement="1' if indices.shape[1] == 1 else "Triangle"
    text = f'<Grid Name="{name}"><Topology TopologyType="{kind}" NumberOfElements="{len(indices)}">'
    text += item(f"/meshes/{name}/cells", indices.shape, "i8", number) + '</Topology>\n<Geometry GeometryType="XYZ">'
    return text + item(f"/meshes/{name}/vertices", vertices.shape, "f8", number) + "</Geometry></Grid>\n"


def frame_xml(number, time, state):
    text = f'<Grid Name="frame-{number:06d}" GridType="Collection" CollectionType="Spatial"><Time Value="{time!r}"/>\n'
    text += fluid_xml(number, *state[1:4])
    return text + "".join(mesh_xml(number, name, *mesh) for name, mesh in state[4].items()) + "</Grid>\n"


def write_ledger(directory):
    """Forty steps of 0.05 s: energy exp(-0.4 t), iterations 5 + step mod 3; the last line is cut short, as by a kill."""
    with open(os.path.join(directory, "ledger.csv"), "w", encoding="utf-8") as stream:
        stream.write("step,time,dt,kinetic_energy,divergence_max,pressure_iterations,wall_step,wall_projection\n")
        for step in range(41):
            row = [step, 0.05 * step, 0.05, numpy.exp(-0.02 * step), 1e-9 * (1 + step), 5 + step % 3, 0.2, 0.1]
            stream.write(",".join(f"{float(x):.17g}" for x in row) + "\n")
        stream.write("41,2.05,0.0")


def main():
    kind, directory = sys.argv[1:]
    os.makedirs(os.path.join(directory, "frames"))
    text = ""
    for number in range(FRAMES):
        state = {"plume": plume, "vortex": vortex, "pool": pool, "bubble": bubble}[kind](float(number))
        write_frame(os.path.join(directory, "frames", f"frame-{number:06d}.h5"), number, float(number), state, SCENES[kind])
        text += frame_xml(number, float(number), state)
    with open(os.path.join(directory, "run.xmf"), "w", encoding="utf-8") as stream:
        stream.write('<?xml version="1.0"?>\n<Xdmf Version="3.0"><Domain>\n')
        stream.write('<Grid Name="run" GridType="Collection" CollectionType="Temporal">\n')
        stream.write(text + "</Grid></Domain></Xdmf>\n")
    write_ledger(directory)


main()
