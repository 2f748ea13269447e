"""xdmf_plain.py DIRECTORY FRAMES: follow run.xmf with an XML parser and h5py and compare every value."""
import os
import sys
import xml.etree.ElementTree as tree

import h5py
import numpy as np

directory, expected = sys.argv[1], int(sys.argv[2])


def dataset(item):
    """The values a DataItem stands for, in the shape and type it promises."""
    shape = tuple(int(n) for n in item.get("Dimensions").split())
    if item.get("Format") == "XML":
        return np.array([float(n) for n in item.text.split()]).reshape(shape)
    path, name = item.text.strip().split(":")
    assert not os.path.isabs(path), path
    with h5py.File(os.path.join(directory, path), "r") as file:
        values = file[name][()]
        assert file[name].fletcher32, name
    assert values.shape == shape or (1,) + values.shape == shape, (name, values.shape, shape)
    assert values.dtype.itemsize == int(item.get("Precision")), name
    return values.reshape(shape)


def check_fluid(grid, time):
    points = [int(n) for n in grid.find("Topology").get("Dimensions").split()]
    origin, spacing = (dataset(item) for item in grid.find("Geometry"))
    axes = [o + s * (np.arange(n - 1) + 0.5) for o, s, n in zip(origin, spacing, points)]
    z, y, x = np.meshgrid(*axes, indexing="ij")
    if points[0] == 2:  # a run in 2-D
        z = 0 * z
    fields = {a.get("Name"): dataset(a.find("DataItem")) for a in grid.findall("Attribute")}
    assert np.allclose(fields["density"], x + 10 * y + 100 * z + 1000 * time, rtol=1e-6), "density"
    assert np.allclose(fields["velocity"], np.stack([x, y, time + 0 * x], axis=-1), rtol=1e-6), "velocity"


def check_mesh(grid, time):
    cells = dataset(grid.find("Topology/DataItem"))
    vertices = dataset(grid.find("Geometry/DataItem"))
    assert cells.min() == 0 and cells.max() == len(vertices) - 1, "cells"
    fields = {a.get("Name"): dataset(a.find("DataItem")) for a in grid.findall("Attribute")}
    if grid.get("Name") == "strip":
        a, b, c = (vertices[cells[:, i]] for i in range(3))
        area = 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1)
        assert np.allclose(area, fields["area"]) and np.all(vertices[:, 2] == time), "strip"
        assert np.all(fields["height"] == time), "height"
    elif grid.get("Name") == "wedge":
        edges = vertices[cells[:, 1:]] - vertices[cells[:, :1]]
        assert grid.find("Topology").get("TopologyType") == "Tetrahedron"
        assert np.allclose(np.linalg.det(edges) / 6, fields["volume"]), "wedge"
    else:
        assert len(cells) == round(12 * time) and np.array_equal(fields["velocity"][:, 2], vertices[:, 0])


run = tree.parse(os.path.join(directory, "run.xmf")).find("Domain/Grid")
assert run.get("CollectionType") == "Temporal"
frames = run.findall("Grid")
assert len(frames) == expected, len(frames)
for number, frame in enumerate(frames):
    time = float(frame.find("Time").get("Value"))
    assert time == 0.25 * number
    names = [grid.get("Name") for grid in frame.findall("Grid")]
    assert names == ["fluid", "strip", "wedge"] + (["particles"] if number else []), names
    for grid in frame.findall("Grid"):
        (check_fluid if grid.get("Name") == "fluid" else check_mesh)(grid, time)
listed = {f"frame-{n:06}.h5" for n in range(expected)}
assert set(os.listdir(os.path.join(directory, "frames"))) == listed
