"""compare.py A B [TOLERANCE|state]: whether two runs are in the same state: their newest checkpoints and their ledgers but
for the wall clock, bit for bit or, with a tolerance, relative to the largest value of a field or of a group of
columns; `state` is the checkpoints alone, bit for bit. Says what differs and exits with 1.
compare.py --serve REQUESTS REPLIES: the same for all who ask through these two pipes."""

import csv
import glob
import os
import sys
import traceback

import h5py
import numpy as np

COUPLED = ("coupled_iterations", "half_iterations")
# Round-off over round-off: what a solve leaves behind has no digits to compare.
RESIDUES = ("pressure_residual", "coupled_residual", "coupled_disagreement", "divergence_max", "imbalance",
            "_complementarity")


def newest(directory):
    files = sorted(glob.glob(os.path.join(directory, "checkpoints", "checkpoint-*.h5")))
    if not files:
        sys.exit(f"{directory} has no checkpoint")
    return files[-1]


def state(directory):
    arrays = {}

    def take(name, item):
        if isinstance(item, h5py.Dataset) and item.dtype.kind in "fi" and not name.startswith("parts/"):
            arrays[name] = np.asarray(item[()])

    with h5py.File(newest(directory)) as checkpoint:
        checkpoint.visititems(take)
    return arrays


def ledger(directory):
    with open(os.path.join(directory, "ledger.csv"), encoding="utf-8", newline="") as text:
        rows = list(csv.reader(text))
    table = np.array(rows[1:], dtype=float)
    return {f"ledger {name}": table[:, column] for column, name in enumerate(rows[0]) if not name.startswith("wall_")}


def group(name):
    """momentum_x and momentum_y are measured by the same yardstick, and so are the parts of one balance."""
    name = name[:-2] if name[-2:] in ("_x", "_y", "_z") else name
    for part in ("advection", "forces", "viscosity", "pressure", "contact"):
        name = name.replace(f"ledger {part}_momentum", "ledger total_momentum")
        name = name.replace(f"ledger {part}_angular_momentum", "ledger total_angular_momentum")
    return name


def differences(first, second, tolerance):
    if first.keys() != second.keys():
        yield f"one alone has {sorted(first.keys() ^ second.keys())}"
    common = [name for name in first if name in second]
    scales = {}
    for name in common:
        largest = float(np.max(np.abs(first[name]), initial=0.0))
        scales[group(name)] = max(scales.get(group(name), 0.0), largest)
    # what mass misses is a difference of masses
    for name in scales:
        if name.startswith("ledger mass_imbalance"):
            scales[name] = max(scales[name], scales.get("ledger mass", 0.0))
    # in a closed box the momentum is a sum of round-off
    scales["ledger momentum"] = scales.get("ledger mass", 0.0) * scales.get("ledger speed_max", 0.0)
    # how deep bodies are in each other is a difference of positions
    far = max((scale for name, scale in scales.items() if name.startswith("ledger position_")), default=0.0)
    for name in ("ledger penetration_max", "ledger joint_error_max"):
        scales[name] = max(scales.get(name, 0.0), far)
    for name in scales:
        # a torque is a sum of forces times arms
        if "_torque_" in name:
            scales[name] = max(scales[name], far * scales.get(name.replace("_torque_", "_force_"), 0.0))
        # on a hinge a body turns and stays where it is
        elif name.startswith("ledger velocity_"):
            scales[name] = max(scales[name], scales.get("ledger solid_speed_max", 0.0))
        elif name == "ledger solid_momentum":
            scales[name] = max(scales[name], scales.get("ledger total_momentum", 0.0))
    for name in common:
        a, b = first[name], second[name]
        if a.shape != b.shape:
            yield f"{name} has shapes {a.shape} and {b.shape}"
        elif tolerance == 0:
            if a.tobytes() != b.tobytes():
                yield f"{name} differs by {np.max(np.abs(a - b)):.3g}"
        elif name.endswith("_iterations"):
            # those of a coupled step are of several solves
            if np.max(np.abs(a - b), initial=0.0) > (5 if name.split()[-1] in COUPLED else 1):
                yield f"{name} differs by {np.max(np.abs(a - b)):g}"
        elif name.endswith(("_cycles", "_set_ups")):
            # a set of free cells may be found one step earlier
            if np.max(np.abs(a - b), initial=0.0) > 3:
                yield f"{name} differs by {np.max(np.abs(a - b)):g}"
        elif not name.endswith(RESIDUES):
            difference = float(np.max(np.abs(a - b), initial=0.0)) / (scales[group(name)] or 1.0)
            measured.append((difference, name))
            if not difference <= tolerance:
                yield f"{name} differs by {difference:.3g}"


def compare(arguments):
    """What there is to say, and the exit code."""
    a, b = arguments[:2]
    alone = arguments[2:] == ["state"]
    tolerance = float(arguments[2]) if len(arguments) > 2 and not alone else 0.0
    measured.clear()
    parts = [{**state(run), **({} if alone else ledger(run))} for run in (a, b)]
    found = list(differences(*parts, tolerance))
    said = found + ["largest difference {:.3g} in {}".format(*max(measured))] if measured else found
    return "\n".join(said), 1 if found else 0


def serve(requests, replies):
    """Answers until it is killed: directory and arguments, one a line, through one pipe; code and text through the other."""
    while True:
        with open(requests, encoding="utf-8") as pipe:
            directory, *arguments = pipe.read().splitlines()
        try:
            os.chdir(directory)
            said, code = compare(arguments)
        except SystemExit as end:
            said, code = str(end), 1
        except Exception:  # a broken file is an answer, too
            said, code = traceback.format_exc(), 1
        with open(replies, "w", encoding="utf-8") as pipe:
            pipe.write(f"{code}\n{said}\n")


measured = []
if __name__ == "__main__":
    if sys.argv[1] == "--serve":
        serve(*sys.argv[2:4])
    text, status = compare(sys.argv[1:])
    print(text)
    sys.exit(status)
