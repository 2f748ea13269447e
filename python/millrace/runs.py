"""The directory of a run, as docs/output.md describes it."""

import os
import re
import xml.etree.ElementTree as xml

import h5py

from .errors import Error, optional
from .frames import Frame, FrameEntry
from .tables import Ledger

SEAL = re.compile(rb"Millrace archive 1\nbytes (\d+)\n")


class Checkpoint:
    """Facts about a checkpoint: path, step, time, title, scene, how many frames and rows of the ledger it counts; `is_whole`
    tells whether the file has the length that it was written with."""

    def __init__(self, path):
        self.path = path
        try:
            with open(path, "rb") as stream:
                seal = SEAL.match(stream.read(512))
            self.is_whole = bool(seal) and int(seal.group(1)) == os.path.getsize(path)
            with h5py.File(path, "r") as file:
                self.step, self.frames, self.ledger_rows = (int(file[key][()]) for key in ("step", "frames", "ledger_rows"))
                self.time, self.dt = (float(file[key][()]) for key in ("time", "dt"))
                self.title, self.scene = (file[key][()].decode() for key in ("title", "scene"))
        except (OSError, KeyError, ValueError) as problem:
            raise Error(f"{path} is not a checkpoint, or not a whole one: {problem}") from problem

    def __repr__(self):
        return f"<millrace.Checkpoint after step {self.step}, t = {self.time:g} s: {self.path}>"


class Run:
    """A run's directory. `run.frame(time=0.5)` or `run[3]` is a frame, `for frame in run` all of them, `run.ledger["time"]` a
    column of its ledger."""

    def __init__(self, directory):
        self.directory = os.fspath(directory)
        self.index = os.path.join(self.directory, "run.xmf")
        if not os.path.isdir(self.directory):
            raise Error(f"{self.directory}: no such directory")
        self._entries = self._ledger = None

    @property
    def entries(self):
        """Of its frames, as run.xmf lists them; read once: see refresh()."""
        if self._entries is None:
            self._entries = self._read_index()
        return self._entries

    def refresh(self):
        """Looks again for what a run that goes on has written since."""
        self._entries = self._ledger = None
        return self

    def _read_index(self):
        if not os.path.exists(self.index):
            raise Error(f"{self.directory} holds no run: it has no run.xmf (written with the first frame)")
        try:
            root = xml.parse(self.index).getroot()
            frames = [FrameEntry(self.directory, grid) for grid in root.iter("Grid")
                      if re.fullmatch(r"frame-\d+", grid.get("Name", ""))]
        except (xml.ParseError, AttributeError, ValueError) as problem:
            raise Error(f"{self.index} is not the index of a run: {problem}") from problem
        if not frames:
            raise Error(f"{self.index} lists no frame")
        for frame in frames:
            if not frame.grids:
                raise Error(f"{self.index}: frame {frame.number} has neither a grid nor bodies")
            if not os.path.exists(frame.path):
                raise Error(f"{self.index} lists {frame.path}, which does not exist")
        return sorted(frames, key=lambda frame: frame.number)

    def entry(self, number=None, time=None):
        """The frame of a number, or nearest to a time, or the last."""
        if number is not None:
            for entry in self.entries:
                if entry.number == number:
                    return entry
            known = f"{self.entries[0].number} to {self.entries[-1].number}"
            raise Error(f"{self.directory} has no frame {number}; it has {known}")
        if time is not None:
            return min(self.entries, key=lambda entry: abs(entry.time - time))
        return self.entries[-1]

    def frame(self, number=None, time=None):
        """The frame of a number, or nearest to a time, or the last."""
        return Frame(self.entry(number, time))

    def __len__(self):
        return len(self.entries)

    def __getitem__(self, place):
        return Frame(self.entries[place])

    @property
    def times(self):
        """Of the frames, s."""
        return [entry.time for entry in self.entries]

    @property
    def title(self):
        with self.frame() as frame:
            return frame.title

    @property
    def scene(self):
        """The resolved scene, YAML."""
        with self.frame() as frame:
            return frame.scene

    @property
    def ledger(self):
        if self._ledger is None:
            self._ledger = Ledger(os.path.join(self.directory, "ledger.csv"))
        return self._ledger

    @property
    def outputs(self):
        """The tables of the groups of `output`, by their names."""
        folder = os.path.join(self.directory, "output")
        names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
        return {name[:-4]: Ledger(os.path.join(folder, name)) for name in names if re.fullmatch(r"[\w-]+\.csv", name)}

    def checkpoint_files(self):
        """Paths, the oldest first."""
        folder = os.path.join(self.directory, "checkpoints")
        names = os.listdir(folder) if os.path.isdir(folder) else []
        return [os.path.join(folder, name) for name in sorted(names) if re.fullmatch(r"checkpoint-\d{8}\.h5", name)]

    @property
    def checkpoints(self):
        """Facts about those that can be read, the oldest first."""
        found = []
        for path in self.checkpoint_files():
            try:
                found.append(Checkpoint(path))
            except Error:
                continue
        return found

    def to_xarray(self, *names):
        """A Dataset of fields, all if none is named, of all frames, with a first dimension `time`."""
        xarray = optional("xarray")

        parts = []
        for entry in self.entries:
            with Frame(entry) as frame:
                parts.append(frame.to_xarray(*names))
        return xarray.concat(parts, "time")

    def __repr__(self):
        return f"<millrace.Run {self.directory}: {len(self)} frames, t = {self.times[0]:g} to {self.times[-1]:g} s>"


def open_run(directory):
    """The run of a directory."""
    run = Run(directory)
    run.entries  # a directory without a run is told at once
    return run
