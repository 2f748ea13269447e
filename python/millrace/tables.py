"""Tables of numbers: the ledger of a run, what its output groups write, reference data; all of them CSV files."""

import difflib
import os

import numpy

from .errors import Error


def like(name, names):
    """The names most like a wrong one, or the first of them, for a message."""
    near = difflib.get_close_matches(name, names, 3, 0.5)
    if near:
        return "did you mean " + " or ".join(near) + "?"
    shown = sorted(names)[:12]
    return "it has " + ", ".join(shown) + (f" and {len(names) - len(shown)} more" if len(names) > len(shown) else "")


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
        import pandas

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
