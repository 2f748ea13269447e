"""Tables of numbers: the ledger of a run, what its output groups write, reference data; all of them CSV files."""

import ast
import difflib
import operator
import os
import re

import numpy

from .errors import Error, optional


def like(name, names):
    """The names most like a wrong one, or the first of them, for a message."""
    near = difflib.get_close_matches(name, names, 3, 0.5)
    if near:
        return "did you mean " + " or ".join(near) + "?"
    shown = sorted(names)[:12]
    return "it has " + ", ".join(shown) + (f" and {len(names) - len(shown)} more" if len(names) > len(shown) else "")


OPERATIONS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
              ast.Pow: operator.pow, ast.UAdd: operator.pos, ast.USub: operator.neg}
FUNCTIONS = {"abs": abs, "sqrt": numpy.sqrt, "log": numpy.log, "exp": numpy.exp, "sin": numpy.sin, "cos": numpy.cos}


def evaluate(node, columns):
    """Arithmetic of columns and numbers, and nothing else."""
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return float(node.value)
    if isinstance(node, ast.Name) and node.id in columns:
        return columns[node.id]
    if isinstance(node, ast.UnaryOp) and type(node.op) in OPERATIONS:
        return OPERATIONS[type(node.op)](evaluate(node.operand, columns))
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATIONS:
        return OPERATIONS[type(node.op)](evaluate(node.left, columns), evaluate(node.right, columns))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in FUNCTIONS and len(node.args) == 1:
        return FUNCTIONS[node.func.id](evaluate(node.args[0], columns))
    if isinstance(node, (ast.Name, ast.Attribute)):
        raise NameError(ast.unparse(node))
    raise ValueError("no arithmetic")


class Table:
    """Columns of numbers from a CSV file; lines that start with # are comments. `table["time"]` is a column."""

    def __init__(self, path):
        self.path = path
        try:
            with open(path, encoding="utf-8") as stream:
                lines = stream.read().split("\n")
        except (OSError, UnicodeDecodeError) as problem:
            raise Error(f"{path}: {getattr(problem, 'strerror', None) or 'not a text file'}") from problem
        rows = [line for line in self.whole_lines(lines) if line.strip() and not line.startswith("#")]
        if not rows:
            raise Error(f"{path} holds no table")
        self.names = [name.strip() for name in rows[0].split(",")]
        try:
            values = numpy.array([[float(x) for x in row.split(",")] for row in rows[1:]])
        except ValueError as problem:
            raise Error(f"{path} is not a table of numbers: {problem}") from problem
        values = values.reshape(len(rows) - 1, -1)
        if len(rows) > 1 and values.shape[1] != len(self.names):
            raise Error(f"{path} has {len(self.names)} names and {values.shape[1]} columns")
        self.columns = dict(zip(self.names, values.T if len(rows) > 1 else [values[:, 0:0].ravel()] * len(self.names)))

    def whole_lines(self, lines):
        return lines

    def column(self, name):
        if name not in self.columns:
            raise Error(f"{self.path} has no column {name}: {like(name, self.names)}")
        return self.columns[name]

    def __getitem__(self, name):
        return self.column(name)

    def expression(self, text):
        """Arithmetic of columns, such as "pressure_force_ball_x + viscous_force_ball_x"; ^ is a power. A column of that very
        name comes first."""
        if text in self.columns:
            return self.columns[text]
        known, used = sorted(self.names, key=len, reverse=True), {}
        pattern = "|".join(rf"(?<![\w.]){re.escape(name)}(?![\w.])" for name in known)
        code = re.sub(pattern, lambda found: used.setdefault(found.group(), f"column_{len(used)}"), text).replace("^", "**")
        columns = {variable: self.columns[name] for name, variable in used.items()}
        try:
            values = evaluate(ast.parse(code.strip(), mode="eval").body, columns)
        except (SyntaxError, NameError, ValueError, ArithmeticError, RecursionError, MemoryError) as problem:
            word = str(problem) if isinstance(problem, NameError) else text
            if isinstance(problem, NameError) or re.fullmatch(r"[\w.]+", text):
                raise Error(f"{self.path} has no column {word}: {like(word, self.names)}") from problem
            raise Error(f'"{text}" is no arithmetic of columns of {self.path}, with + - * / ^ and '
                        + ", ".join(FUNCTIONS)) from problem
        return numpy.broadcast_to(values, (len(self),))

    def __contains__(self, name):
        return name in self.columns

    def __iter__(self):
        return iter(self.names)

    def __len__(self):
        """Its rows."""
        return len(self.columns[self.names[0]])

    def units(self):
        return {}

    def to_pandas(self):
        """A DataFrame with a column per name; its `attrs["units"]` are the units."""
        pandas = optional("pandas")

        frame = pandas.DataFrame(self.columns)
        frame.attrs["units"] = self.units()
        return frame

    def __repr__(self):
        return f"<millrace.{type(self).__name__} {self.path}: {len(self)} rows, {len(self.names)} columns>"


class Ledger(Table):
    """One row per step. The text is always up to date; the row of a step that is being written is left out."""

    def whole_lines(self, lines):
        return lines[:-1]

    def units(self):
        """Of the columns, from the table in HDF5; empty before the first frame."""
        import h5py

        try:
            with h5py.File(os.path.splitext(self.path)[0] + ".h5", "r") as file:
                names, units = (file[key][()].decode().split(",") for key in ("names", "units"))
        except (OSError, KeyError):
            return {}
        return dict(zip(names, units))
