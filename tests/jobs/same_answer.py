"""same_answer.py A B: whether two runs gave the same, bit for bit: the ledgers but for their wall clocks, and all
arrays of the last frame. Says what differs and exits with 1."""

import csv
import glob
import os
import sys

import h5py


def ledger(directory):
    with open(os.path.join(directory, "ledger.csv"), encoding="utf-8", newline="") as text:
        return [{name: value for name, value in row.items() if not name.startswith("wall_")}
                for row in csv.DictReader(text)]


def last_frame(directory):
    frames = sorted(glob.glob(os.path.join(directory, "frames", "frame-*.h5")))
    arrays = {}

    def take(name, item):
        if isinstance(item, h5py.Dataset) and name != "scene":
            arrays[name] = (item.dtype.str, item.shape, item[()].tobytes() if item.shape else repr(item[()]))

    if not frames:
        sys.exit(f"{directory} has no frame")
    with h5py.File(frames[-1]) as frame:
        frame.visititems(take)
    return os.path.basename(frames[-1]), arrays


def differences(a, b):
    rows_a, rows_b = ledger(a), ledger(b)
    if len(rows_a) != len(rows_b):
        yield f"ledgers of {len(rows_a)} and {len(rows_b)} rows"
    for row_a, row_b in zip(rows_a, rows_b):
        for name in row_a:
            if row_a[name] != row_b.get(name):
                yield f"step {row_a['step']}: {name} is {row_a[name]} and {row_b.get(name)}"
                return
    name_a, frame_a = last_frame(a)
    name_b, frame_b = last_frame(b)
    if name_a != name_b:
        yield f"last frames {name_a} and {name_b}"
    if "grid/fields/velocity" not in frame_a:
        yield f"no velocity in {name_a}"
    for name in sorted(set(frame_a) | set(frame_b)):
        if frame_a.get(name) != frame_b.get(name):
            yield f"{name} of the last frame differs"


found = list(differences(*sys.argv[1:3]))
print(*found, sep="\n")
sys.exit(1 if found else 0)
