"""Reads the directory of a run, as docs/output.md describes it.

Run lists the frames that run.xmf names and opens one of them or the ledger; nothing here draws. Needs h5py and numpy
for the contents, neither for the list.
"""

import ast
import importlib.util
import math
import operator
import os
import re
import sys
import xml.etree.ElementTree as xml

AXES = "xyz"
UNITS = {"velocity": "m/s", "speed": "m/s", "pressure": "Pa", "vorticity": "1/s", "temperature": "K", "density of bodies": "kg/m³"}
PACKAGES = {
    "numpy": "python3-numpy",
    "h5py": "python3-h5py",
    "matplotlib": "python3-matplotlib",
    "PIL": "python3-pil",
    "pvbatch": "paraview and python3-paraview",
    "Xvfb": "xvfb",
    "ffmpeg": "ffmpeg",
}
SYSTEM_PYTHON = "/usr/bin/python3"


class Trouble(Exception):
    """What a user can get wrong; ends the program with exit code 2."""


def need_modules(*names):
    """Stops with the packages to install unless all modules are there; a python of the user's own that lacks
    them gives way to the system's first."""
    missing = [name for name in names if importlib.util.find_spec(name) is None]
    if not missing:
        return
    is_system = os.path.exists(SYSTEM_PYTHON) and os.path.samefile(sys.executable, SYSTEM_PYTHON)
    if os.path.exists(SYSTEM_PYTHON) and not is_system:
        os.execv(SYSTEM_PYTHON, [SYSTEM_PYTHON] + sys.argv)
    packages = " ".join(PACKAGES[name] for name in missing)
    raise Trouble(f"{sys.executable} has no {', '.join(missing)}: install {packages} (Debian), or load the module "
                  "of a python that has them")


def run_program(main):
    """Runs main(), turning what a user can get wrong into one line and exit code 2."""
    program = os.path.basename(sys.argv[0])
    try:
        main()
    except Trouble as trouble:
        sys.exit(complain(program, trouble))
    except BrokenPipeError:
        sys.exit(1)


def complain(program, trouble):
    print(f"{program}: error: {trouble}", file=sys.stderr)
    return 2


def unit_of(field):
    """The unit of a field or of one of its components; empty if the scene alone knows."""
    return UNITS.get(field) or UNITS.get(re.sub("_[xyz]$", "", field), "")


def label_of(field):
    unit = unit_of(field)
    return f"{field.replace('_', ' ')} [{unit}]" if unit else field.replace("_", " ")


OPERATIONS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
              ast.Pow: operator.pow, ast.UAdd: operator.pos, ast.USub: operator.neg}
FUNCTIONS = {name: getattr(math, name) for name in ("sin", "cos", "tan", "sqrt", "exp")}
LONGEST_NUMBER = 200


def value_of(node):
    """Of arithmetic in floats, which overflow where whole numbers would grow without end."""
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return float(node.value)
    if isinstance(node, ast.Name) and node.id == "pi":
        return math.pi
    if isinstance(node, ast.UnaryOp) and type(node.op) in OPERATIONS:
        return OPERATIONS[type(node.op)](value_of(node.operand))
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATIONS:
        return OPERATIONS[type(node.op)](value_of(node.left), value_of(node.right))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in FUNCTIONS:
        return FUNCTIONS[node.func.id](*[value_of(argument) for argument in node.args])
    raise ValueError("no arithmetic")


def number_of(text):
    """The value of a number of a scene, which may be arithmetic such as -9.81*cos(pi/9); 0 if it is not."""
    text = re.sub(r"^-\s+", "", text.strip()).strip("'\"").replace("^", "**")
    try:
        value = value_of(ast.parse(text, mode="eval").body) if len(text) <= LONGEST_NUMBER else 0.0
        return value if math.isfinite(value) else 0.0
    except (SyntaxError, TypeError, ArithmeticError, ValueError, RecursionError, MemoryError):
        return 0.0


class FrameEntry:
    """A frame as run.xmf lists it: its number, time and file, and the names of what it holds."""

    def __init__(self, directory, collection):
        self.number = int(collection.get("Name").rsplit("-", 1)[1])
        self.time = float(collection.find("Time").get("Value"))
        self.grids = {grid.get("Name"): grid for grid in collection.findall("Grid")}
        self.path = os.path.join(directory, "frames", f"frame-{self.number:06d}.h5")

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
        """Names of tetrahedra, surfaces and particle clouds, with the vertices of one cell: 4, 3 or 1."""
        sizes = {"polyvertex": 1, "triangle": 3, "tetrahedron": 4}
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
            raise Trouble("the run has no fluid, only bodies")
        if not self.has_field(name):
            raise Trouble(f"no field is called {name}; the frame has: " + ", ".join(sorted(self.fields())))


class Region:
    """A region of a scene: its number in the field `region`, its name and kind, and whether it takes what the others
    leave."""

    def __init__(self, number, text):
        """`text` is its item of the scene's list, with a blank instead of the dash."""
        lines = [line for line in text.split("\n") if line.strip()]
        depth = min(len(line) - len(line.lstrip()) for line in lines)
        keys = dict(re.findall(r"^ {%d}(\w+):[ ]*(.*)$" % depth, "\n".join(lines), re.MULTILINE))
        self.number = number
        self.name = keys.get("name", "").strip("'\"")
        self.kind = keys.get("type", "simulated").strip("'\"")
        self.is_background = "shape" not in keys
        self.distance, self.markers = f"distance_{self.name}", f"markers_{self.name}"


class BodyEntry:
    """A body of a scene, which may stand for many copies: its name and kind, and its density where the scene gives it."""

    def __init__(self, text):
        """As that of Region."""
        lines = [line for line in text.split("\n") if line.strip()]
        depth = min(len(line) - len(line.lstrip()) for line in lines)
        keys = dict(re.findall(r"^ {%d}(\w+):[ ]*(.*)$" % depth, "\n".join(lines), re.MULTILINE))
        count = re.search(r"^\s*count:\s*\[([^\]]*)\]", text, re.MULTILINE)
        self.name = keys.get("name", "").strip("'\"")
        self.kind = keys.get("type", "dynamic").strip("'\"")
        self.density = number_of(keys["density"]) if "density" in keys else None if "mass" in keys else 1000.0
        self.is_shell = number_of(keys.get("thickness", "0")) > 0
        self.copies = math.prod(int(number_of(n)) for n in count.group(1).split(",")) if count else 1


class Run:
    """A run's directory and the list of its frames."""

    def __init__(self, directory):
        self.directory = directory
        self.index = os.path.join(directory, "run.xmf")
        if not os.path.isdir(directory):
            raise Trouble(f"{directory}: no such directory")
        self._entries = None

    @property
    def entries(self):
        if self._entries is None:
            self._entries = self._read_index()
        return self._entries

    def _read_index(self):
        if not os.path.exists(self.index):
            raise Trouble(f"{self.directory} holds no run: it has no run.xmf (written with the first frame)")
        try:
            root = xml.parse(self.index).getroot()
            frames = [FrameEntry(self.directory, grid) for grid in root.iter("Grid")
                      if re.fullmatch(r"frame-\d+", grid.get("Name", ""))]
        except (xml.ParseError, AttributeError, ValueError) as problem:
            raise Trouble(f"{self.index} is not the index of a run: {problem}") from problem
        if not frames:
            raise Trouble(f"{self.index} lists no frame")
        for frame in frames:
            if not frame.grids:
                raise Trouble(f"{self.index}: frame {frame.number} has neither a grid nor bodies")
            if not os.path.exists(frame.path):
                raise Trouble(f"{self.index} lists {frame.path}, which does not exist")
        return sorted(frames, key=lambda frame: frame.number)

    def entry(self, number=None, time=None):
        """The frame of a number, or nearest to a time, or the last."""
        if number is not None:
            for entry in self.entries:
                if entry.number == number:
                    return entry
            known = f"{self.entries[0].number} to {self.entries[-1].number}"
            raise Trouble(f"{self.directory} has no frame {number}; it has {known}")
        if time is not None:
            return min(self.entries, key=lambda entry: abs(entry.time - time))
        return self.entries[-1]

    def frame(self, number=None, time=None):
        return Frame(self.entry(number, time))

    def ledger(self):
        return Ledger(os.path.join(self.directory, "ledger.csv"))


class Frame:
    """The contents of one frame. Arrays have three space dimensions, (z, y, x), also in 2-D; `dimension` is 0 where
    there are bodies and no fluid."""

    def __init__(self, entry):
        import h5py

        self.entry = entry
        try:
            self.file = h5py.File(entry.path, "r")
            self.time = float(self.file["time"][()])
            self.title = self.file["title"][()].decode()
            self.scene = self.file["scene"][()].decode()
            self.dimension = 0
            if entry.has_fluid():
                self.dimension = int(self.file["grid/dimension"][()])
                self.cells = [int(n) for n in self.file["grid/cells"][()]]
                self.origin = [float(x) for x in self.file["grid/origin"][()]]
                self.spacing = float(self.file["grid/spacing"][()])
        except (OSError, KeyError) as problem:
            raise Trouble(f"{entry.path} is not a frame: {problem}") from problem

    def fields(self):
        return sorted(self.file["grid/fields"])

    def field(self, name):
        """A stored field: (nz, ny, nx), or (nz, ny, nx, 3) for a vector."""
        self.entry.need_field(name)
        array = self.file["grid/fields"][name][()]
        return array[None] if self.dimension == 2 else array

    def scalar(self, name):
        """A stored scalar, a component (`velocity_x`), or the length of a vector (`velocity`, `speed`). In 2-D
        `vorticity` is its only component, with its sign."""
        import numpy

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
        import numpy

        stored = "solid" in self.file["grid/fields"]
        return self.field("solid") > 0.5 if stored else numpy.zeros(self.cells[::-1], bool)

    def centres(self, axis):
        import numpy

        return self.origin[axis] + self.spacing * (numpy.arange(self.cells[axis]) + 0.5)

    def bounds(self, axis):
        return self.origin[axis], self.origin[axis] + self.spacing * self.cells[axis]

    def mesh(self, name):
        """Vertices (n, 3) and cells (m, k)."""
        group = self.file["meshes"][name]
        return group["vertices"][()], group["cells"][()]

    def mesh_field(self, name, field):
        """A field of a mesh, of its vertices or its cells."""
        group = self.file["meshes"][name]
        for place in ("vertex_fields", "cell_fields"):
            if place in group and field in group[place]:
                return group[place][field][()]
        raise Trouble(f"the mesh {name} has no field {field}")

    def up(self):
        """The axis along which gravity acts; where the scene has none, y, or z without fluid."""
        for found in re.finditer(r"^\s*gravity:\s*((?:\[[^\]]*\])|(?:\n\s*-\s*\S+){3})", self.scene, re.MULTILINE):
            values = [number_of(text) for text in re.split(r"[,\n]", found.group(1).strip("[]")) if text.strip("- ")]
            if len(values) >= 2 and any(values):
                return max(range(len(values)), key=lambda axis: abs(values[axis]))
        return 1 if self.dimension else 2

    def regions(self):
        """The regions of the scene, in its order; none in a run without them."""
        block = re.search(r"^regions:[^\n]*\n((?:(?:[ \-][^\n]*)?(?:\n|$))*)", self.scene, re.MULTILINE)
        if not block or "region" not in self.fields():
            return []
        indent = re.match(" *", block.group(1)).group()
        items = re.split(f"^{indent}-", block.group(1), flags=re.MULTILINE)[1:]
        return [Region(number, f"{indent} {item}") for number, item in enumerate(items, start=1)]

    def bodies(self):
        """The bodies of the scene, copies one by one, as the field `body` numbers them; none in a run without them."""
        block = re.search(r"^solids:[^\n]*\n((?:(?: [^\n]*)?(?:\n|$))*)", self.scene, re.MULTILINE)
        found = block and re.search(r"^( +)bodies:[^\n]*\n((?:\1[ \-][^\n]*(?:\n|$))*)", block.group(1), re.MULTILINE)
        if not found or "bodies" not in self.entry.meshes():
            return []
        indent = re.match(" *", found.group(2)).group()
        items = [BodyEntry(f"{indent} {item}") for item in re.split(f"^{indent}-", found.group(2), flags=re.MULTILINE)[1:]]
        return [item for item in items for _ in range(item.copies)]

    def sample(self, name, points):
        """Values at points (n, 3), linear between the cell centres and beyond the outermost ones up to the sides
        of the box; not-a-number outside it."""
        import numpy

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


class Table:
    """Columns of numbers from a CSV file; lines that start with # are comments."""

    def __init__(self, path):
        import numpy

        self.path = path
        try:
            with open(path, encoding="utf-8") as stream:
                lines = stream.read().split("\n")
        except (OSError, UnicodeDecodeError) as problem:
            raise Trouble(f"{path}: {getattr(problem, 'strerror', None) or 'not a text file'}") from problem
        rows = [line for line in self.whole_lines(lines) if line.strip() and not line.startswith("#")]
        if not rows:
            raise Trouble(f"{path} holds no table")
        self.names = [name.strip() for name in rows[0].split(",")]
        try:
            values = numpy.array([[float(x) for x in row.split(",")] for row in rows[1:]])
        except ValueError as problem:
            raise Trouble(f"{path} is not a table of numbers: {problem}") from problem
        values = values.reshape(len(rows) - 1, -1)
        if len(rows) > 1 and values.shape[1] != len(self.names):
            raise Trouble(f"{path} has {len(self.names)} names and {values.shape[1]} columns")
        self.columns = dict(zip(self.names, values.T if len(rows) > 1 else [values[:, 0:0].ravel()] * len(self.names)))

    def whole_lines(self, lines):
        return lines

    def column(self, name):
        if name not in self.columns:
            raise Trouble(f"{self.path} has no column {name}; it has: " + ", ".join(self.names))
        return self.columns[name]


class Ledger(Table):
    """One row per step. The text is always up to date; the row of a step that is being written is left out."""

    def whole_lines(self, lines):
        return lines[:-1]

    def units(self):
        """Of the columns, from the table in HDF5; empty before the first frame."""
        import h5py

        try:
            with h5py.File(self.path[:-3] + "h5", "r") as file:
                names, units = (file[key][()].decode().split(",") for key in ("names", "units"))
        except (OSError, KeyError):
            return {}
        return dict(zip(names, units))
