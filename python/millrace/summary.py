"""What a run is, how far it has come, what it has lost and how to go on: `millrace info DIR`."""

import os
import re
import shlex
import socket

import numpy

from . import scenes
from .errors import Error
from .tables import Ledger

# Columns that should stay 0, and what it means where they do not: largest over the run, or its sum.
LOSSES = [("markers_dropped", "sum", "markers lost in sinks"), ("gas_failures", "max", "steps in which the gas could not be solved for"),
          ("coupled_unsettled", "count", "steps in which contact, joints and fluid did not agree within coupling.rounds"),
          ("inexact_bodies", "max", "bodies whose lift at rest is not exact")]


def plainly(text):
    """Without what a terminal would obey."""
    return "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in text)


def bytes_of(directory):
    return sum(os.path.getsize(os.path.join(folder, name)) for folder, _, names in os.walk(directory) for name in names
               if os.path.isfile(os.path.join(folder, name)))


def worker_of(directory):
    """Who works in the directory, as its lock says; None if nobody does, as far as one can tell from here."""
    try:
        with open(os.path.join(directory, "run.lock"), encoding="utf-8") as stream:
            found = re.fullmatch(r"process (\d+) on (\S+)\s*", stream.read(300))
    except (OSError, UnicodeDecodeError):
        return None
    if not found or (found.group(2) == socket.gethostname() and not os.path.exists(f"/proc/{found.group(1)}")):
        return None
    return found.group(0).strip()


def duration(seconds):
    """1:02:03, or seconds below a minute."""
    if not seconds < 60:
        whole = int(seconds)
        return (f"{whole // 3600}:" if whole >= 3600 else "") + f"{whole // 60 % 60:02d}:{whole % 60:02d}"
    return f"{seconds:.3g} s"


class Summary:
    """Facts about the run of a directory, which may have no frame or no ledger yet. lines() is what info prints."""

    def __init__(self, run):
        self.run, self.directory = run, run.directory
        self.checkpoints = run.checkpoints
        self.damaged = len(run.checkpoint_files()) - len([c for c in self.checkpoints if c.is_whole])
        self.ledger = Ledger(os.path.join(self.directory, "ledger.csv"))
        try:
            self.entries = run.entries
            with run.frame() as frame:
                self.frame_facts(frame)
        except Error:
            if not self.checkpoints:
                raise
            self.entries = []
            self.title, self.scene, self.kind = self.checkpoints[-1].title, self.checkpoints[-1].scene, ""
        self.worker = worker_of(self.directory)
        self.end = scenes.number_at(self.scene, "run", "end_time")
        self.time = float(self.ledger["time"][-1]) if len(self.ledger) else 0.0
        self.step = int(self.ledger["step"][-1]) if len(self.ledger) else 0

    def frame_facts(self, frame):
        self.title, self.scene = frame.title, frame.scene
        parts = []
        if frame.dimension:
            parts.append(f"{frame.dimension}-D, {' x '.join(str(n) for n in frame.cells[:frame.dimension])} cells of "
                         f"{frame.spacing:.4g} m")
        if frame.regions():
            parts.append("regions " + ", ".join(region.name for region in frame.regions()))
        if "liquid" in frame.meshes():
            parts.append("a splash")
        if frame.bodies():
            parts.append(f"{len(frame.bodies())} bodies" if len(frame.bodies()) > 1 else "1 body")
        if "deformables" in frame.meshes():
            parts.append("deformable solids")
        self.kind = "; ".join(parts)

    @property
    def is_steady(self):
        """Whether it ended because its flow became steady (run.steady), at a frame."""
        limit = scenes.number_at(self.scene, "run", "steady")
        if not limit or "unsteadiness" not in self.ledger or not len(self.ledger) or not self.entries:
            return False
        at_frame = abs(self.entries[-1].time - self.time) <= 1e-9 * max(abs(self.time), 1e-300)
        return at_frame and bool(self.ledger["unsteadiness"][-1] <= limit)

    @property
    def is_done(self):
        return (self.end is not None and self.time >= self.end * (1 - 1e-12)) or self.is_steady

    @property
    def state(self):
        if self.worker:
            return f"running: {self.worker}"
        return ("done: steady" if self.is_steady else "done") if self.is_done else "stopped before its end"

    @property
    def share(self):
        return min(self.time / self.end, 1.0) if self.end else None

    def wall(self):
        """Wall clock of all steps, and about how much is left at the rate of the last ones; nan where it is not known."""
        if "wall_step" not in self.ledger or len(self.ledger) < 2:
            return float("nan"), float("nan")
        wall, time = numpy.nan_to_num(self.ledger["wall_step"]), self.ledger["time"]
        last = max(0, len(time) - 21)
        gained = time[-1] - time[last]
        left = (self.end - self.time) * wall[last + 1:].sum() / gained if self.end and gained > 0 else float("nan")
        return float(wall.sum()), max(float(left), 0.0)

    def drifts(self):
        """Of what should stay: (name, first value, last value)."""
        steady = [name for name in self.ledger if name.startswith("volume_") or name in ("mass", "deformable_volume")]
        return [(name, float(self.ledger[name][0]), float(self.ledger[name][-1])) for name in steady if len(self.ledger)]

    def losses(self):
        """(amount, meaning) of what went wrong a little."""
        found = []
        for name, how, meaning in LOSSES:
            if name in self.ledger:
                values = numpy.nan_to_num(self.ledger[name])
                amount = {"sum": values.sum(), "max": values.max(initial=0), "count": (values > 0).sum()}[how]
                if amount > 0:
                    found.append((float(amount), meaning))
        return found

    def command(self):
        base = f"millrace run -o {shlex.quote(self.directory)} --restart latest"
        return base + (" --set run.steady=..." if self.is_steady else " --set run.end_time=..." if self.is_done else "")

    def lines(self):
        spent, left = self.wall()
        share = f" ({100 * self.share:.3g} %)" if self.share is not None else ""
        yield plainly(self.title or "(no title)")
        yield f"  directory    {plainly(self.directory)}, {bytes_of(self.directory) / 1e6:.3g} MB"
        if self.kind:
            yield f"  what         {plainly(self.kind)}"
        yield f"  state        {plainly(self.state)}"
        yield (f"  progress     t = {self.time:.6g}" + (f" of {self.end:.6g} s" if self.end is not None else " s") + share +
               f", step {self.step}, {len(self.entries)} frame{'' if len(self.entries) == 1 else 's'}")
        if spent == spent:
            ahead = f"; about {duration(left)} to its end" if left == left and not self.is_done else ""
            yield f"  wall clock   {duration(spent)} in steps{ahead}"
        for checkpoint in self.checkpoints:
            whole = "" if checkpoint.is_whole else ", NOT WHOLE"
            yield f"  checkpoint   {os.path.basename(checkpoint.path)}: step {checkpoint.step}, t = {checkpoint.time:.6g} s{whole}"
        if self.damaged:
            yield f"  checkpoint   {self.damaged} cannot be read or not be trusted: restart takes the newest one that is whole"
        for name, first, last in self.drifts():
            change = f"{(last - first) / first:+.2e} of it" if first else f"{last - first:+.3g}"
            yield f"  {name:12} {last:.6g}, changed by {change}"
        for amount, meaning in self.losses():
            yield f"  lost         {amount:.6g} {meaning}"
        if not self.worker and self.checkpoints:
            yield f"  {'further' if self.is_done else 'go on'}{' ' * (6 if self.is_done else 8)}{plainly(self.command())}"
        elif not self.worker:
            yield "  go on        not possible: it has no checkpoint"
