"""Frames: the fields, surfaces and points of one instant."""

import os
import re

import h5py
import numpy

from . import scenes
from .errors import Error, optional
from .tables import like

AXES = "xyz"
UNITS = {"velocity": "m/s", "speed": "m/s", "pressure": "Pa", "vorticity": "1/s", "temperature": "K", "density of bodies": "kg/m³"}


def unit_of(field):
    """The unit of a field or of one of its components; empty if the scene alone knows."""
    return UNITS.get(field) or UNITS.get(re.sub("_[xyz]$", "", field), "m" if field.startswith("distance_") else "")


def label_of(field):
    unit = unit_of(field)
    return f"{field.replace('_', ' ')} [{unit}]" if unit else field.replace("_", " ")


class FrameEntry:
    """A frame as run.xmf lists it: its number, time and file, and the names of what it holds."""

    def __init__(self, directory, collection):
        self.number = int(collection.get("Name").rsplit("-", 1)[1])
        self.time = float(collection.find("Time").get("Value"))
        self.grids = {grid.get("Name"): grid for grid in collection.findall("Grid")}
        self.path = os.path.join(directory, "frames", f"frame-{self.number:06d}.h5")

    def __repr__(self):
        return f"<millrace.FrameEntry {self.number} at t = {self.time:g} s: {self.path}>"

    def has_fluid(self):
        return "fluid" in self.grids

    def is_plane(self):
        """A run in 2-D is one cell, two nodes, thick."""
        return self.has_fluid() and int(self.grids["fluid"].find("Topology").get("Dimensions").split()[0]) == 2

    def fields(self):
        """Names of the fields on the grid, with the number of their components."""
        kinds = {"Scalar": 1, "Vector": 3}
        if not self.has_fluid():
            return {}
        return {a.get("Name"): kinds.get(a.get("AttributeType"), 1) for a in self.grids["fluid"].findall("Attribute")}

    def meshes(self):
        """Names of tetrahedra, surfaces, ropes and particle clouds, with the vertices of one cell: 4, 3, 2 or 1."""
        sizes = {"polyvertex": 1, "polyline": 2, "triangle": 3, "tetrahedron": 4}
        return {name: sizes[grid.find("Topology").get("TopologyType").lower()]
                for name, grid in self.grids.items() if name != "fluid"}

    def has_field(self, name):
        """Also the names that Frame.scalar derives."""
        fields = self.fields()
        base, _, axis = name.rpartition("_")
        return (name in fields or (name == "speed" and "velocity" in fields)
                or (fields.get(base) == 3 and axis in list(AXES)))

    def need_field(self, name):
        if not self.has_fluid():
            raise Error("the run has no fluid, only bodies")
        if not self.has_field(name):
            raise Error(f"no field of the frame is called {name}: {like(name, list(self.fields()))}")


class Mesh:
    """Vertices (n, 3), cells (m, k) of vertex numbers (k = 4 tetrahedra, 3 triangles, 1 points); `mesh["velocity"]` is a field
    of its vertices or cells."""

    def __init__(self, group, name):
        self.name, self._group = name, group
        self.vertices, self.cells = group["vertices"][()], group["cells"][()]

    def fields(self):
        """Names, with the place of their values: vertex_fields or cell_fields."""
        return {name: place for place in ("vertex_fields", "cell_fields") for name in self._group.get(place, {})}

    def __getitem__(self, field):
        fields = self.fields()
        if field not in fields:
            raise Error(f"the mesh {self.name} has no field {field}: {like(field, list(fields))}")
        return self._group[fields[field]][field][()]

    def __repr__(self):
        return f"<millrace.Mesh {self.name}: {len(self.vertices)} vertices, {len(self.cells)} cells>"


class Frame:
    """The contents of one frame. `frame["pressure"]` is an array as the file has it, (nz, ny, nx), in 2-D (ny, nx), vectors
    with a last dimension of 3; field() and scalar() have three space dimensions in 2-D too. `dimension` is 0 where
    there are bodies and no fluid."""

    def __init__(self, entry):
        self.entry = entry
        try:
            self.file = h5py.File(entry.path, "r")
            self.time = float(self.file["time"][()])
            self.step = int(self.file["step"][()]) if "step" in self.file else -1
            self.title = self.file["title"][()].decode()
            self.scene = self.file["scene"][()].decode()
            self.dimension = 0
            if entry.has_fluid():
                self.dimension = int(self.file["grid/dimension"][()])
                self.cells = [int(n) for n in self.file["grid/cells"][()]]
                self.origin = [float(x) for x in self.file["grid/origin"][()]]
                self.spacing = float(self.file["grid/spacing"][()])
        except (OSError, KeyError) as problem:
            raise Error(f"{entry.path} is not a frame: {problem}") from problem

    @property
    def number(self):
        return self.entry.number

    def close(self):
        self.file.close()

    def __enter__(self):
        return self

    def __exit__(self, *problem):
        self.close()

    def __repr__(self):
        what = "x".join(str(n) for n in self.cells[:self.dimension]) + " cells" if self.dimension else "bodies"
        return f"<millrace.Frame {self.number} at t = {self.time:g} s: {what}>"

    def fields(self):
        """Names of the fields on the grid; none without a fluid."""
        return sorted(self.file["grid/fields"]) if self.dimension else []

    def meshes(self):
        """Names of the meshes: surfaces of bodies, tetrahedra, points."""
        return sorted(self.file["meshes"]) if "meshes" in self.file else []

    def __contains__(self, name):
        return self.entry.has_field(name)

    def __getitem__(self, name):
        """A stored field, a component (`velocity_x`) or `speed`, in the dimensions of the run."""
        stored = self.dimension and name in self.file["grid/fields"]
        array = self.field(name) if stored else self.scalar(name)
        return array[0] if self.dimension == 2 else array

    def field(self, name):
        """A stored field: (nz, ny, nx), or (nz, ny, nx, 3) for a vector; nz is 1 in 2-D."""
        self.entry.need_field(name)
        array = self.file["grid/fields"][name][()]
        return array[None] if self.dimension == 2 else array

    def scalar(self, name):
        """A stored scalar, a component (`velocity_x`), or the length of a vector (`velocity`, `speed`), (nz, ny, nx). In
        2-D `vorticity` is its only component, with its sign."""
        self.entry.need_field(name)
        if name == "vorticity" and self.dimension == 2:
            name = "vorticity_z"
        if name not in self.file["grid/fields"] and name != "speed":
            base, _, axis = name.rpartition("_")
            return self.field(base)[..., AXES.index(axis)]
        array = self.field("velocity" if name == "speed" else name)
        return numpy.sqrt((array.astype(float) ** 2).sum(axis=-1)) if array.ndim == 4 else array

    def solid(self):
        """True in the cells of obstacles."""
        stored = "solid" in self.file["grid/fields"]
        return self.field("solid") > 0.5 if stored else numpy.zeros(self.cells[::-1], bool)

    def centres(self, axis):
        """Coordinates of the cell centres along an axis, 0 to 2."""
        return self.origin[axis] + self.spacing * (numpy.arange(self.cells[axis]) + 0.5)

    def bounds(self, axis):
        return self.origin[axis], self.origin[axis] + self.spacing * self.cells[axis]

    def to_xarray(self, *names):
        """A Dataset of the fields named, all if none is, over the coordinates of the cell centres."""
        xarray = optional("xarray")

        axes = AXES[self.dimension - 1::-1] if self.dimension else ""
        variables = {}
        for name in names or self.fields():
            array = self[name]
            extra = ("component",) if array.ndim > self.dimension else ()
            variables[name] = (tuple(axes) + extra, array, {"units": unit_of(name)} if unit_of(name) else {})
        places = {axis: (axis, self.centres(AXES.index(axis)), {"units": "m"}) for axis in axes}
        if any(len(dims) > self.dimension for dims, *_ in variables.values()):
            places["component"] = list(AXES)
        return xarray.Dataset(variables, {**places, "time": self.time}, {"title": self.title, "step": self.step})

    def mesh(self, name):
        """A surface, tetrahedra or points, by name."""
        if name not in self.meshes():
            raise Error(f"no mesh of the frame is called {name}: {like(name, self.meshes())}")
        return Mesh(self.file["meshes"][name], name)

    def up(self):
        """The axis along which gravity acts; where the scene has none, y, or z without fluid."""
        axis = scenes.axis_of_gravity(self.scene)
        return (1 if self.dimension else 2) if axis is None else axis

    def regions(self):
        """The regions of the scene, in its order; none in a run without them."""
        return scenes.regions_of(self.scene) if "region" in self.fields() else []

    def bodies(self):
        """The bodies of the scene, copies one by one, as the field `body` numbers them; none in a run without them."""
        return scenes.bodies_of(self.scene) if "bodies" in self.entry.meshes() else []

    def sample(self, name, points):
        """Values at points (n, 3), linear between the cell centres and beyond the outermost ones up to the sides
        of the box; not-a-number outside it."""
        values = self.scalar(name).astype(float)
        points = numpy.asarray(points, float)
        lower, weight, inside = [], [], numpy.ones(len(points), bool)
        for axis in range(3):
            place = (points[:, axis] - self.origin[axis]) / self.spacing - 0.5
            if self.cells[axis] > 1 or self.dimension == 3:
                inside &= (place >= -0.5 - 1e-9) & (place <= self.cells[axis] - 0.5 + 1e-9)
            first = numpy.clip(numpy.floor(place), 0, max(self.cells[axis] - 2, 0)).astype(int)
            lower.append(first)
            weight.append(place - first if self.cells[axis] > 1 else numpy.zeros(len(points)))
        result = numpy.zeros(len(points))
        for corner in range(8):
            index, share = [], numpy.ones(len(points))
            for axis in range(3):
                upper = corner >> axis & 1
                index.append(numpy.minimum(lower[axis] + upper, self.cells[axis] - 1))
                share = share * (weight[axis] if upper else 1 - weight[axis])
            result += share * values[index[2], index[1], index[0]]
        return numpy.where(inside, result, numpy.nan)
