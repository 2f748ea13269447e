"""Reads runs of Millrace: frames, ledgers and checkpoints as NumPy arrays, and as xarray and pandas where they are installed.

    import millrace
    run = millrace.open("plume")
    run.ledger["time"], run.ledger["kinetic_energy"]
    run.frame(time=0.5)["pressure"]

docs/python.md describes it, docs/output.md what the arrays hold. Nothing here writes.
"""

from .comparison import Difference, differences
from .errors import Error
from .frames import AXES, Frame, FrameEntry, Mesh, label_of, unit_of
from .runs import Checkpoint, Run
from .runs import open_run as open
from .scenes import Body, Region
from .summary import Summary
from .tables import Ledger, Table

__version__ = "0.1"
__all__ = ["AXES", "Body", "Checkpoint", "Difference", "Error", "Frame", "FrameEntry", "Ledger", "Mesh", "Region", "Run", "Summary",
           "Table", "differences", "label_of", "open", "unit_of"]
