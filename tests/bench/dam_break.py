"""dam_break.py CELLS STEPS [alone]: what dam_break.sh prints, from the runs in the present directory.

Times are medians over the steps between the warm-up and the last, in which interFoam writes: of Millrace from its ledger, of
interFoam from the clock in front of the lines of its log. The front is where half of a cell is water, on the floor.
"""

import os
import re
import sys

import numpy

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.environ["MILLRACE_SOURCE"], "python"))
import millrace as reader

WARM_UP = 5
ROW = "{:<10} {:>12} {:>12} {:>11} {:>12} {:>13} {:>10}"


def front(share):
    """Largest x at which the share of water, (z, y, x) on the unit cube, falls through one half in the lowest cells."""
    cells, farthest = share.shape[2], 0.0
    for row in share[:, 0, :]:
        wet = numpy.nonzero(row >= 0.5)[0]
        if len(wet):
            last = wet[-1]
            beyond = row[last + 1] if last + 1 < cells else 0.5
            farthest = max(farthest, (last + 0.5 + (row[last] - 0.5) / max(row[last] - beyond, 1e-30)) / cells)
    return farthest


def processor_share(path):
    """Of one core, over the whole of a run: below one where the machine had other things to do."""
    wall, user, system = map(float, open(path, encoding="utf-8").read().split()[-3:])
    return (user + system) / wall


def millrace(steps):
    run = reader.Run("millrace")
    ledger, frame = run.ledger, run.frame()
    volume = ledger.column("volume_water")
    share = numpy.clip(0.5 - frame.scalar("distance_water") / frame.spacing, 0, 1)
    if ledger.column("step")[-1] != steps:
        sys.exit(f"dam_break: Millrace took {ledger.column('step')[-1]:.0f} steps, not {steps}")
    return {"seconds": numpy.median(ledger.column("wall_step")[WARM_UP + 1:-1]),
            "iterations": ledger.column("pressure_iterations")[WARM_UP + 1:].mean(),
            "busy": processor_share("millrace.time"), "front": front(share), "time": ledger.column("interface_time")[-1],
            "volume": volume[-1], "change": volume[-1] / volume[0] - 1}


def foam_field(path, cells):
    text = open(path, encoding="utf-8").read()
    values = re.search(r"internalField\s+nonuniform\s+List<scalar>\s+\d+\s*\(([^)]*)\)", text).group(1)
    return numpy.array(values.split(), float).reshape(cells, cells, cells)


def interfoam(cells, steps):
    log = [line.partition(" ")[::2] for line in open("interfoam.log", encoding="utf-8")]
    ends = [float(clock) for clock, text in log if text.startswith("ExecutionTime")]
    cycles = [int(text.split()[-1]) for _, text in log if "Solving for p_rgh" in text]
    volumes = [float(re.search(r"volume fraction = (\S+)", text).group(1)) for _, text in log if "Phase-1" in text]
    if len(ends) != steps:
        sys.exit(f"dam_break: interFoam took {len(ends)} steps, not {steps}")
    share = foam_field(f"interfoam/{steps * 0.002:.6g}/alpha.water", cells)
    began = foam_field("interfoam/0/alpha.water", cells).mean()
    return {"seconds": numpy.median(numpy.diff(ends)[WARM_UP - 1:-1]), "iterations": sum(cycles) / steps,
            "busy": processor_share("interfoam.time"), "front": front(share), "time": 0.002 * steps,
            "volume": volumes[-1], "change": volumes[-1] / began - 1}


def show(name, result, cells):
    print(ROW.format(name, f"{result['seconds'] / cells**3 * 1e6:.3f}", f"{result['iterations']:.1f}",
                     f"{100 * result['busy']:.0f} %", f"{result['front']:.4f}", f"{result['volume']:.8f}",
                     f"{result['change']:+.1e}") + f"   at {result['time']:.3f} s")


def main():
    cells, steps = map(int, sys.argv[1:3])
    print(f"== dam break, {cells}^3 cells, {steps} steps of 0.002 s")
    print(ROW.format("", "us/cell/step", "iterations", "of a core", "front x [m]", "volume [m^3]", "change"))
    ours = millrace(steps)
    show("millrace", ours, cells)
    if sys.argv[3:] == ["alone"]:
        return
    theirs = interfoam(cells, steps)
    show("interFoam", theirs, cells)
    ratio = ours["seconds"] / theirs["seconds"]
    print(f"time of millrace over that of interFoam: {ratio:.2f}; by processor time {ratio * ours['busy'] / theirs['busy']:.2f}")


main()
